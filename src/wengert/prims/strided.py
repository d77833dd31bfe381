"""Layer 2 · prims: views by strides, and complex numbers as pairs of real ones.

See NOTE [geometry] in `wengert.kernels.strided`.
"""

from wengert.kernels import strided as kernels
from wengert.prims.families import linear, view
from wengert.prims.record import case

view(
    "as_strided",
    kernels.as_strided,
    vjp=lambda F, g, self_shape, **place: F.as_strided_backward(g, shape=self_shape, **place),
    shows={
        "layout": None,
        "self_sym_sizes": None,
        # the offset of self, unless another one is given
        "storage_offset": lambda storage_offset, layout: (
            None if storage_offset == layout[1] else storage_offset
        ),
    },
    cases=(
        case((6,), size=(2, 2), stride=(3, 1), storage_offset=1, layout=((1,), 0)),
        case((2, 3), size=(4,), stride=(1,), storage_offset=3, layout=((3, 1), 1)),
        case((6,), size=(4, 3), stride=(1, 1), storage_offset=0, layout=((1,), 0)),
        case((4,), size=(2, 2), stride=(0, 2), storage_offset=1, layout=((1,), 0)),
        case((4,), size=(3,), stride=(2,), storage_offset=0, layout=((2,), 2)),
        case((3, 2), size=(4,), stride=(1,), storage_offset=0, layout=((1, 1), 0)),
        case((), size=(), stride=(), storage_offset=0, layout=((), 0)),
        case((3,), size=(0,), stride=(1,), storage_offset=2, layout=((1,), 0)),
    ),
    doc="the elements at other places of the memory that self is part of",
)
linear(
    "as_strided_backward",
    kernels.as_strided_backward,
    vjp=lambda F, g, size, stride, storage_offset, layout: F.as_strided(
        g, size=size, stride=stride, storage_offset=storage_offset, layout=layout
    ),
    cases=(
        case((2, 2), shape=(6,), size=(2, 2), stride=(3, 1), storage_offset=1, layout=((1,), 0)),
        case((2, 2), shape=(4,), size=(2, 2), stride=(0, 1), storage_offset=0, layout=((1,), 1)),
        case((4,), shape=(3, 2), size=(4,), stride=(1,), storage_offset=0, layout=((1, 1), 0)),
    ),
    doc="what arrives at places of memory, for the tensor that is there",
)
view(
    "unfold",
    kernels.unfold,
    vjp=lambda F, g, self_shape, **windows: F.unfold_backward(g, shape=self_shape, **windows),
    cases=(
        case((5,), dimension=0, size=2, step=1),
        case((2, 5), dimension=1, size=2, step=3),
        case((4, 2), dimension=0, size=3, step=1),
        case((3,), dimension=0, size=0, step=1),
        case((), dimension=0, size=1, step=1),
    ),
    doc="windows of a dimension, each along a new last dimension",
)
linear(
    "unfold_backward",
    kernels.unfold_backward,
    vjp=lambda F, g, dimension, size, step: F.unfold(g, dimension=dimension, size=size, step=step),
    cases=(
        case((4, 2), shape=(5,), dimension=0, size=2, step=1),
        case((2, 2, 2), shape=(2, 5), dimension=1, size=2, step=3),
    ),
    doc="zeros to which windows of a dimension are added",
)
view(
    "view_as_real",
    kernels.view_as_real,
    vjp=lambda F, g: F.view_as_complex(g),
    conj="explicit",
    domain="complex",
    cases=(case(()), case((2, 3)), case((0,))),
    doc="complex numbers as pairs of real ones, along a new last dimension",
    batching="leading",
    rearranges="kind",
    sparsity="as_real",
)
view(
    "view_as_complex",
    kernels.view_as_complex,
    vjp=lambda F, g: F.view_as_real(g),
    conj="explicit",
    cases=(case((2,)), case((3, 2)), case((0, 2))),
    refuses={"c": "view_as_complex is only supported for half, float and double tensors"},
    doc="pairs of real numbers along the last dimension as complex numbers",
    lacks="half",
    batching="leading",
    rearranges="kind",
    sparsity="as_complex",
)
