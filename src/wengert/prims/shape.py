"""Layer 2 · prims: operations that move elements without computing.

Primitives get non-negative dimensions and complete shapes: the public functions normalise them.
"""

from __future__ import annotations

from typing import Any

from wengert.kernels import shape as kernels
from wengert.prims.families import linear, view
from wengert.prims.record import case

Shape = tuple[int, ...]


def _as_self(F: Any, g: Any, self_shape: Shape) -> Any:
    return F.view(g, shape=self_shape)


# -- views -----------------------------------------------------------------------------------------

view(
    "view",
    lambda self, shape: self.reshape(shape),
    vjp=_as_self,
    cases=(
        case((2, 3), shape=(3, 2)),
        case((2, 3), shape=(6,)),
        case((1,), shape=()),
        case((), shape=(1, 1)),
        case((0, 3), shape=(3, 0)),
    ),
    doc="the same elements in another shape",
    rearranges="shape",
    numpy_views="ravel reshape",
)
view(
    "expand",
    kernels.expand,
    vjp=lambda F, g, self_shape: F.sum_to(g, shape=self_shape),
    cases=(
        case((3,), shape=(2, 3)),
        case((2, 1), shape=(2, 3)),
        case((), shape=(2,)),
        case((), shape=()),
        case((1, 3), shape=(0, 3)),
    ),
    doc="repeated along dimensions of size 1, without a copy",
    numpy_views="broadcast_arrays broadcast_to",
)
view(
    "alias",
    kernels.alias,
    vjp=lambda F, g: g,
    cases=(case(()), case((2, 3))),
    doc="the same elements, in another tensor",
    batching="leading",
    rearranges="shape",
    numpy_views="asanyarray asarray ascontiguousarray asfortranarray",
)
view(
    "permute",
    lambda self, dims: self.transpose(dims),
    vjp=lambda F, g, dims: F.permute(
        g, dims=dims if dims == (1, 0) else tuple([dims.index(d) for d in range(len(dims))])
    ),
    cases=(case((2, 3, 4), dims=(2, 0, 1)), case((), dims=()), case((0, 3), dims=(1, 0))),
    doc="the dimensions in another order",
    rearranges="order",
    numpy_views="moveaxis permute_dims rollaxis transpose",
)
view(
    "transpose",
    lambda self, dim0, dim1: self.swapaxes(dim0, dim1),
    overload="int",
    vjp=lambda F, g, dim0, dim1: F.transpose(g, dim0=dim0, dim1=dim1),
    cases=(case((2, 3), dim0=0, dim1=1), case((2, 3, 4), dim0=2, dim1=1)),
    doc="two dimensions exchanged",
    rearranges="order",
    numpy_views="matrix_transpose swapaxes",
)
view(
    "t",
    lambda self: self.T,
    vjp=lambda F, g: F.t(g),
    cases=(case((2, 3)), case((3,)), case(())),
    doc="the transpose of a matrix; vectors and scalars as they are",
    rearranges="order",
)
view(
    "squeeze",
    lambda self: self.squeeze(),
    vjp=_as_self,
    cases=(case((1, 3, 1)), case((1, 1)), case(()), case((2, 3))),
    doc="without the dimensions of size 1",
    rearranges="shape",
    numpy_views="squeeze",
)
view(
    "squeeze_dim",
    kernels.squeeze_dim,
    vjp=_as_self,
    node="SqueezeBackward1",
    cases=(case((1, 3), dim=0), case((1,), dim=0), case((2, 3), dim=1), case((), dim=0)),
    doc="without a dimension of size 1",
    rearranges="shape",
)
view(
    "squeeze_dims",
    kernels.squeeze_dims,
    vjp=_as_self,
    node="SqueezeBackward2",
    cases=(case((1, 3, 1), dim=(0, 2)), case((1, 3), dim=(0, 1)), case((2,), dim=())),
    doc="without those of the given dimensions whose size is 1",
    rearranges="shape",
)
linear(
    "squeeze_dim_",
    kernels.squeeze_dim,
    vjp=_as_self,
    node="SqueezeBackward4",
    cases=(case((1, 3), dim=0), case((2, 3), dim=1)),
    doc="without a dimension of size 1 that a computation had added for a while",
    rearranges="shape",
    sparsity="viewed",
    keeps_nan=True,
)
view(
    "unsqueeze",
    kernels.unsqueeze,
    vjp=lambda F, g, dim: F.squeeze_dim(g, dim=dim),
    cases=(case((2, 3), dim=1), case((), dim=0), case((3,), dim=1)),
    doc="with a new dimension of size 1",
    rearranges="shape",
    numpy_views="atleast_1d atleast_2d atleast_3d expand_dims",
)
view(
    "select",
    kernels.select,
    overload="int",
    vjp=lambda F, g, self_shape, dim, index: F.select_backward(
        g, shape=self_shape, dim=dim, index=index
    ),
    cases=(
        case((3,), dim=0, index=1),
        case((2, 3), dim=1, index=2),
        case((2, 0, 3), dim=0, index=1),
    ),
    doc="one position of a dimension",
)
_OPEN_END = 2**63 - 1
"""The end that PyTorch saves for a slice without one."""

view(
    "slice",
    kernels.slice_,
    overload="Tensor",
    vjp=lambda F, g, self_shape, dim, start, end, step: F.slice_backward(
        g, shape=self_shape, dim=dim, start=start, end=end, step=step
    ),
    cases=(
        case((5,), dim=0, start=1, end=4, step=2),
        case((2, 3), dim=1, start=0, end=2, step=1),
        case((2, 3), dim=0, start=1, end=1, step=1),
    ),
    shows={
        "end": lambda end, dim, self_shape: _OPEN_END if end == self_shape[dim] else end,
    },
    doc="a range of positions of a dimension",
    numpy_views="array_split dsplit flip fliplr flipud hsplit rot90 split vsplit",
)
view(
    "diagonal",
    kernels.diagonal,
    vjp=lambda F, g, self_shape, offset, dim1, dim2: F.diagonal_backward(
        g, shape=self_shape, offset=offset, dim1=dim1, dim2=dim2
    ),
    cases=(
        case((3, 3), offset=0, dim1=0, dim2=1),
        case((2, 4), offset=1, dim1=0, dim2=1),
        case((2, 3, 4), offset=-1, dim1=2, dim2=0),
        case((2, 2), offset=5, dim1=0, dim2=1),
    ),
    doc="a diagonal of two dimensions, as the last dimension",
    numpy_views="diagonal",
)
view(
    "unbind",
    kernels.unbind,
    overload="int",
    outputs=None,
    vjp=lambda F, g, dim: F.stack(*g, dim=dim),
    cases=(case((3,), dim=0), case((2, 3), dim=1), case((2, 0), dim=0)),
    doc="all positions of a dimension, one by one",
    numpy_views="unstack",
)
for _name in ("split", "split_with_sizes"):
    view(
        _name,
        kernels.split,
        overload="Tensor" if _name == "split" else "default",
        outputs=None,
        vjp=lambda F, g, dim: F.cat(*g, dim=dim),
        cases=(
            case((5,), sizes=(2, 2, 1), dim=0),
            case((2, 3), sizes=(1, 2), dim=1),
            case((3,), sizes=(3, 0), dim=0),
        ),
        doc="consecutive ranges of a dimension",
    )

# -- transposes of views ---------------------------------------------------------------------------

linear(
    "select_backward",
    kernels.select_backward,
    vjp=lambda F, g, dim, index: F.select(g, dim=dim, index=index),
    cases=(case((), shape=(3,), dim=0, index=1), case((2,), shape=(2, 3), dim=1, index=0)),
    doc="zeros with self at one position of a dimension",
    batching="dims",
    keeps_nan=True,
)
linear(
    "slice_backward",
    kernels.slice_backward,
    vjp=lambda F, g, dim, start, end, step: F.slice(g, dim=dim, start=start, end=end, step=step),
    cases=(
        case((2,), shape=(5,), dim=0, start=1, end=4, step=2),
        case((2, 1), shape=(2, 3), dim=1, start=1, end=2, step=1),
    ),
    doc="zeros with self in a range of a dimension",
    batching="dims",
    keeps_nan=True,
)
linear(
    "diagonal_backward",
    kernels.diagonal_backward,
    vjp=lambda F, g, offset, dim1, dim2: F.diagonal(g, offset=offset, dim1=dim1, dim2=dim2),
    cases=(
        case((3,), shape=(3, 3), offset=0, dim1=0, dim2=1),
        case((3, 2), shape=(2, 3, 4), offset=-1, dim1=2, dim2=0),
    ),
    doc="zeros with self on a diagonal",
    batching="dims",
)

# -- copies ----------------------------------------------------------------------------------------

linear(
    "contiguous",
    kernels.contiguous,
    vjp=lambda F, g: g,
    node="CloneBackward0",
    cases=(case((2, 3)), case(())),
    doc="a copy in C order",
    batching="pointwise",
    keeps_nan=True,
)
linear(
    "unsafe_view",
    lambda self, shape: self.reshape(shape),
    vjp=_as_self,
    cases=(case((2, 3), shape=(6,)), case((4,), shape=(2, 2))),
    doc="the elements of a value that nobody else holds, in another shape",
    batching="dims",
    rearranges="shape",
    sparsity="viewed",
    keeps_nan=True,
)
linear(
    "flip",
    kernels.flip,
    vjp=lambda F, g, dims: F.flip(g, dims=dims),
    cases=(case((3,), dims=(0,)), case((2, 3), dims=(0, 1)), case((), dims=())),
    layout="same",
    doc="the elements of some dimensions in reverse order",
    batching="dims",
)
linear(
    "roll",
    kernels.roll,
    vjp=lambda F, g, shifts, dims: F.roll(g, shifts=tuple([-s for s in shifts]), dims=dims),
    cases=(
        case((2, 3), shifts=(1,), dims=()),
        case((2, 3), shifts=(1, -5), dims=(0, 1)),
        case((0,), shifts=(1,), dims=(0,)),
    ),
    layout="contiguous",
    doc="the elements moved along dimensions, those at the end to the front",
)


def _sum_of_copies(F: Any, g: Any, self_shape: Shape, repeats: Shape) -> Any:
    lead = len(repeats) - len(self_shape)
    shape: tuple[int, ...] = repeats[:lead]
    copies = tuple(range(lead))
    for count, size in zip(repeats[lead:], self_shape, strict=True):
        copies += (len(shape),)
        shape += (count, size)
    return F.sum_dim(F.view(g, shape=shape), dim=copies, keepdim=False) if copies else g


linear(
    "repeat",
    kernels.repeat,
    vjp=_sum_of_copies,
    cases=(
        case((3,), repeats=(2,)),
        case((2, 3), repeats=(2, 1, 3)),
        case((), repeats=(2, 2)),
        case((2,), repeats=(0,)),
        case((), repeats=()),
    ),
    layout="contiguous",
    doc="copies of self side by side",
)
_TRIANGLES = (
    case((3, 3), diagonal=0),
    case((2, 3, 4), diagonal=1),
    case((3, 2), diagonal=-2),
    case((0, 3), diagonal=0),
)
linear(
    "tril",
    kernels.tril,
    vjp=lambda F, g, diagonal: F.tril(g, diagonal=diagonal),
    cases=_TRIANGLES,
    layout="contiguous",
    doc="the lower triangle of the last two dimensions, zeros elsewhere",
    batching="leading",
)
linear(
    "triu",
    kernels.triu,
    vjp=lambda F, g, diagonal: F.triu(g, diagonal=diagonal),
    cases=_TRIANGLES,
    layout="contiguous",
    doc="the upper triangle of the last two dimensions, zeros elsewhere",
    batching="leading",
)
linear(
    "diag_embed",
    kernels.diag_embed,
    vjp=lambda F, g, offset, dim1, dim2: F.diagonal(g, offset=offset, dim1=dim1, dim2=dim2),
    cases=(
        case((3,), offset=0, dim1=0, dim2=1),
        case((2, 3), offset=-1, dim1=0, dim2=2),
        case((2,), offset=2, dim1=1, dim2=0),
    ),
    layout="contiguous",
    doc="zeros with the last dimension of self on a diagonal of two dimensions",
    batching="dims",
)
linear(
    "diagonal_copy",
    lambda self, offset, dim1, dim2: kernels.diagonal(self, offset, dim1, dim2).copy(),
    vjp=lambda F, g, self_shape, offset, dim1, dim2: F.diagonal_backward(
        g, shape=self_shape, offset=offset, dim1=dim1, dim2=dim2
    ),
    node="DiagonalBackward0_copy",
    cases=(case((3, 3), offset=0, dim1=0, dim2=1), case((2, 4), offset=1, dim1=0, dim2=1)),
    doc="a copy of a diagonal",
    batching="dims",
)
