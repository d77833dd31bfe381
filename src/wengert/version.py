"""Layer 0 · base: versions: of PyTorch as followed, of the package, and of what it uses.

Programs print them, and check them for a GPU, of which there is none.
"""

from __future__ import annotations

from wengert import __version__ as wengert
from wengert.torch_version import TorchVersion

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "wengert", "xpu"]

__version__ = TorchVersion(f"2.13.0+wengert.{wengert}")
"""The version of PyTorch that the package follows, and that of the package."""
cuda: str | None = None
"""The version of CUDA; None, since there is no GPU backend."""
hip: str | None = None
"""The version of ROCm; None, since there is no GPU backend."""
xpu: str | None = None
"""The version of Intel's GPU library; None, since there is no GPU backend."""
debug = False
"""Whether this is a debug build."""
git_version = "Unknown"
"""The revision of the source that was built; it is not recorded."""
