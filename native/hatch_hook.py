"""Build wheels with compiled modules if ``WENGERT_BUILD_NATIVE=1`` is in the environment."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeBuildHook(BuildHookInterface):
    """Runs build.py before a wheel is made, and marks the wheel as one for this platform."""

    def _wanted(self) -> bool:
        wheel = self.target_name == "wheel"
        return wheel and os.environ.get("WENGERT_BUILD_NATIVE") == "1"

    def dependencies(self) -> list[str]:
        """Return the build requirements in addition to hatchling."""
        return ["cython>=3.1", "numpy>=2.0", "setuptools>=75"] if self._wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, unless the installation is editable."""
        if version == "editable" or not self._wanted():
            return
        # not in the source: wheels for several Pythons are made from one folder at the same time
        self._folder = tempfile.TemporaryDirectory()
        command = [sys.executable, os.path.join("native", "build.py"), "--into", self._folder.name]
        subprocess.run(command, check=True, cwd=self.root)
        build_data["force_include"][self._folder.name] = "wengert/native"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled: the wheel holds it."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()
