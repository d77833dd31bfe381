"""The package as it is in Python and the package compiled, side by side in one process.

Both have the same names, and modules that are imported when they are first needed. So each build
has modules of its own, which stand in `sys.modules` while it is set up and are put away again; an
import at any other time would take a module of neither, and is refused.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from _measure import COMPILED, OURS

__all__ = ["BUILDS", "Build"]

_SWITCH = "WENGERT_NATIVE"


def _put_away() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name.partition(".")[0] == "wengert"]
    return {name: sys.modules.pop(name) for name in names}


class _Refusal:
    """A finder of modules that finds none of ours."""

    is_active = True

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> None:
        if self.is_active and name.partition(".")[0] == "wengert":
            raise RuntimeError(
                f"{name} is imported at a time when no build is set up: run the "
                "program once inside `Build.set_up()` before it is measured"
            )


_refusal = _Refusal()


class Build:
    """One copy of the package.

    Parameters
    ----------
    native
        Whether with compiled modules; None: as the environment says.
    """

    def __init__(self, native: bool | None = None):
        self._modules: dict[str, ModuleType] = {}
        before = os.environ.get(_SWITCH)
        if native is not None:
            os.environ[_SWITCH] = str(int(native))
        try:
            self.package: Any = self.load("wengert")
        finally:
            if native is not None:
                del os.environ[_SWITCH]
                if before is not None:
                    os.environ[_SWITCH] = before

    @property
    def is_compiled(self) -> bool:
        return bool(self.load("wengert.tape.compiled").IS_COMPILED)

    @contextmanager
    def set_up(self) -> Iterator[None]:
        """Within it, imports are those of this build."""
        others = _put_away()
        sys.modules.update(self._modules)
        was_active, _refusal.is_active = _refusal.is_active, False
        try:
            yield
        finally:
            _refusal.is_active = was_active
            self._modules = _put_away()
            sys.modules.update(others)

    def load(self, name: str) -> Any:
        """The module `name` of this build."""
        with self.set_up():
            return importlib.import_module(name)


def _builds() -> dict[str, Build]:
    """All that there are, unless the environment asks for one."""
    sys.meta_path.insert(0, _refusal)
    first = Build()
    if os.environ.get(_SWITCH) is not None or not first.is_compiled:
        return {OURS: first}
    return {OURS: Build(native=False), COMPILED: first}


BUILDS = _builds()
"""By the name of the contestant. If there is only one, its name says nothing of what it is."""
