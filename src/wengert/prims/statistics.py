"""Layer 2 · prims: sums that ignore NaNs."""

from wengert.kernels import statistics as kernels
from wengert.prims.families import reduction
from wengert.prims.reduce import spread

reduction(
    "nansum",
    kernels.nansum,
    vjp=lambda F, g, self, self_shape, dim, keepdim: F.where(
        self == self, spread(F, g, self_shape, dim, keepdim), 0
    ),
    refuses={"c": "nansum on CPU does not support complex inputs"},
    layout="contiguous",
    masks="numbers",
    shows={"dim": lambda self, dim: None if len(dim) == self.ndim else dim},
    doc="the sum along dimensions of what is not NaN",
    casts=True,
)
