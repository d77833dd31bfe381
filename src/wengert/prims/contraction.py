"""Layer 2 · prims: sums of products of two tensors over some of their dimensions.

See NOTE [labels] in `wengert.kernels.contraction`.
"""

from wengert.kernels import contraction as kernels
from wengert.prims.families import bilinear
from wengert.prims.record import case

bilinear(
    "contract",
    kernels.contract,
    vjp=(
        lambda F, g, other, a, b, out: F.contract(g, other, a=out, b=b, out=a),
        lambda F, g, self, a, b, out: F.contract(g, self, a=out, b=a, out=b),
    ),
    promote=None,
    cases=(
        case((2, 3), (3, 4), a=(0, 1), b=(1, 2), out=(0, 2)),
        case((3, 2), (3, 4), a=(1, 0), b=(1, 2), out=(2, 0)),
        case((2, 3), (3,), a=(0, 1), b=(1,), out=(0,)),
        case((3,), (3,), a=(0,), b=(0,), out=()),
        case((2,), (3,), a=(0,), b=(1,), out=(1, 0)),
        case((2, 3), (3, 2), a=(0, 1), b=(1, 0), out=(0, 1)),
        case((2, 3, 2), (2, 2, 3), a=(0, 1, 2), b=(2, 0, 1), out=(0,)),
        case((2, 3, 2), (2, 2, 4), a=(0, 1, 2), b=(0, 2, 3), out=(0, 3, 1)),
        case((2, 3, 2, 1), (2, 2, 4), a=(0, 1, 2, 4), b=(0, 2, 3), out=(1, 0, 3, 4)),
        case((2, 3, 4), (4, 3, 2), a=(0, 1, 2), b=(2, 1, 3), out=(0, 3)),
        case((), (), a=(), b=(), out=()),
        case((2, 0), (0, 3), a=(0, 1), b=(1, 2), out=(0, 2)),
        case((0, 2), (0, 2), a=(0, 1), b=(0, 1), out=(0,)),
    ),
    doc="the sums of products of two tensors over the dimensions that the result lacks",
    autocast="lower",
    sparsity="contraction",
)
