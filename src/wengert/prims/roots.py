"""Layer 2 · prims: roots that NumPy has and PyTorch lacks."""

from wengert.kernels import roots as kernels
from wengert.prims.families import elementwise
from wengert.prims.record import not_implemented

elementwise(
    "cbrt",
    kernels.cbrt,
    lin=lambda F, g, result: g / (3.0 * (result * result)),
    domain="positive",
    refuses=not_implemented("cbrt"),
    doc="the real cube root",
    cycles=12,
    numpy="cbrt",
    fused="elements",
)
