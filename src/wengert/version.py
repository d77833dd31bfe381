"""Layer 0 · base: versions, of PyTorch as it is followed, of the package, and of what it uses.

Programs print them, and ask them what there is: there is no GPU.
"""

from __future__ import annotations

from wengert import __version__ as wengert
from wengert.torch_version import TorchVersion

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "wengert"]

__version__ = TorchVersion(f"2.13.0+wengert.{wengert}")
"""The version of PyTorch whose names and behaviour the package has, and that of the package."""
cuda: str | None = None
"""The version of CUDA; None, since there is no GPU backend."""
hip: str | None = None
"""The version of ROCm; None, since there is no GPU backend."""
debug = False
"""Whether this is a build for finding errors in the package."""
git_version = "Unknown"
"""The revision of the source that a build was made of; it is not noted."""
