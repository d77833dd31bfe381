"""Layer 9 · backends: settings of PyTorch's libraries, stored here without effect.

Programs that need reproducible results set them and read them back. NumPy's results are
reproducible anyway.
"""

from wengert.backends import cuda, cudnn, mkl, mkldnn, mps, openmp
from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
__dir__ = shows(__all__)
__getattr__ = elsewhere(__name__)
