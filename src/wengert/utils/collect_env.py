"""Layer 8 · utils: a report of the system and of installed packages, for bug reports."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from typing import NamedTuple

from wengert.version import __version__, wengert

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main"]

_PACKAGES = ("numpy", "scipy", "llvmlite", "ml_dtypes", "safetensors", "dask", "wengert")


class SystemEnv(NamedTuple):
    """The parts of the report."""

    torch_version: str
    wengert_version: str
    python_version: str
    python_platform: str
    os: str
    cpu_info: str
    is_cuda_available: str
    pip_packages: str


def get_env_info() -> SystemEnv:
    """Return the parts of the report."""
    found = []
    for name in _PACKAGES:
        try:
            found.append(f"[pip3] {name}=={importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return SystemEnv(
        torch_version=str(__version__),
        wengert_version=wengert,
        python_version=sys.version.replace("\n", " "),
        python_platform=platform.platform(),
        os=f"{platform.system()} {platform.release()}",
        cpu_info=f"{platform.machine()}, {os.cpu_count()} cores",
        is_cuda_available="False",
        pip_packages="\n".join(found),
    )


def get_pretty_env_info() -> str:
    """Return the report as text.

    Examples
    --------
    >>> from wengert.utils.collect_env import get_pretty_env_info
    >>> get_pretty_env_info().splitlines()[0].startswith("PyTorch version that is followed: 2.")
    True
    """
    env = get_env_info()
    return "\n".join(
        [
            f"PyTorch version that is followed: {env.torch_version}",
            f"wengert version: {env.wengert_version}",
            f"OS: {env.os}",
            f"Python version: {env.python_version}",
            f"Python platform: {env.python_platform}",
            f"CPU: {env.cpu_info}",
            f"Is CUDA available: {env.is_cuda_available}",
            "",
            "Versions of relevant libraries:",
            env.pip_packages,
        ]
    )


def main() -> None:
    """Print the report."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
