"""Layer 2 · prims: pooling over the last one, two or three dimensions.

The gradient of a maximum goes to its position, which is found only in the backward pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.kernels import fractional, mean_pooling
from wengert.kernels import pooling as kernels
from wengert.prims.families import constant, general, linear
from wengert.prims.record import case, not_implemented

Shape = tuple[int, ...]
_WINDOW = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")


def _windowed(dims: int, **more: Any) -> tuple[Any, ...]:
    """Return cases: plain, overlapping with padding, uneven with dilation, without a plane."""
    plain = ((2,) * dims, (2,) * dims, (0,) * dims, (1,) * dims, False)
    wide = ((3,) * dims, (2,) * dims, (1,) * dims, (1,) * dims, True)
    gaps = ((2,) * dims, (1,) * dims, (0,) * dims, (2,) * dims, True)
    shapes = ((1, *(4,) * dims), (2, 1, 5, *(3,) * (dims - 1)), (1, *(4,) * dims))
    names = _WINDOW if "dilation" in more else (*_WINDOW[:3], "ceil_mode")
    more.pop("dilation", None)
    found = []
    for shape, values in zip((*shapes, (0, *(4,) * dims)), (plain, wide, gaps, plain), strict=True):
        params = dict(zip(_WINDOW, values, strict=True))
        found.append(case(shape, **{name: params[name] for name in names}, **more))
    return tuple(found)


def _places(count: int, *shape: int) -> Callable[[Any], Any]:
    """Return distinct positions in a plane of `count` elements."""
    return lambda rng: np.stack(
        [rng.permutation(count)[: int(np.prod(shape[1:]))] for _ in range(shape[0])]
    ).reshape(shape)


# -- elements by their positions ------------------------------------------------------------------

_PICKED = (
    case((2, 4), _places(4, 2, 2), dims=1),
    case((2, 2, 3), _places(6, 2, 2, 2), dims=2),
    case((1, 2, 2, 2), _places(8, 1, 1, 3, 1), dims=3),
    case((0, 3), lambda rng: np.zeros((0, 2), np.int64), dims=1),
)
_PUT = (
    case((2, 2), _places(4, 2, 2), shape=(4,)),
    case((2, 2, 2), _places(6, 2, 2, 2), shape=(2, 3)),
    case((1, 1, 3, 1), _places(8, 1, 1, 3, 1), shape=(2, 2, 2)),
    case((0, 2), lambda rng: np.zeros((0, 2), np.int64), shape=(3,)),
)


_BINNED = ("suggested", "contiguous")
"""The layouts of bins and of means; PyTorch's kernels for volumes ignore channels last."""


def _pick(name: str, doc: str, layout: str = "suggested", node: str | None = None) -> None:
    linear(
        name,
        kernels.pool_pick,
        vjp=(
            lambda F, g, indices, self_shape, dims: F.pool_scatter(
                g, indices, shape=self_shape[len(self_shape) - dims :]
            ),
            None,
        ),
        node=node,
        layout=layout,
        cases=_PICKED,
        flat=True,
        doc=doc,
        batching="leading",
        sparsity="planes",
    )


_pick("pool_pick", "the elements at places of each plane")
for _dims in (1, 2, 3):
    _pick(
        f"max_pool{_dims}d_with_indices",
        "the largest element of each window, which a search has found",
    )
    _pick(
        f"adaptive_max_pool{_dims}d_with_indices",
        "the largest element of each bin, which a search has found",
        _BINNED[_dims == 3],
        node=f"AdaptiveMaxPool{_dims}DBackward0",
    )
    if _dims > 1:
        _pick(
            f"fractional_max_pool{_dims}d_with_indices",
            "the largest element of each window at random, which a search has found",
            "contiguous",
            node=f"FractionalMaxPool{_dims}DBackward0",
        )

linear(
    "pool_scatter",
    kernels.pool_scatter,
    vjp=(lambda F, g, indices, shape: F.pool_pick(g, indices, dims=len(shape)), None),
    layout="suggested",
    cases=(*_PUT, case((2, 3), lambda rng: np.array([[1, 1, 0], [2, 0, 2]]), shape=(3,))),
    doc="zeros to which elements are added at places of each plane",
    batching="leading",
)
for _dims in (1, 2, 3):
    linear(
        f"max_unpool{_dims}d",
        kernels.pool_put,
        vjp=(lambda F, g, indices, shape: F.pool_pick(g, indices, dims=len(shape)), None),
        layout="suggested",
        cases=_PUT[_dims - 1 : _dims + 1],
        doc="zeros with elements at places of each plane",
        autocast="float32" if _dims > 1 else "",
        batching="leading",
    )

# -- max pooling ----------------------------------------------------------------------------------


def _slope_of_max(F: Any, g: Any, self: Any, self_shape: Shape, **window: Any) -> Any:
    places = F.max_pool_indices(self, **window)
    dims = len(window["kernel_size"])
    return F.pool_scatter(g, places, shape=self_shape[len(self_shape) - dims :])


def _slope_of_adaptive_max(F: Any, g: Any, self: Any, self_shape: Shape, output_size: Shape) -> Any:
    places = F.adaptive_max_pool_indices(self, output_size=output_size)
    return F.pool_scatter(g, places, shape=self_shape[len(self_shape) - len(output_size) :])


_ADAPTED = (
    case((2, 6), output_size=(3,)),
    case((1, 5), output_size=(3,)),
    case((2, 4, 5), output_size=(2, 3)),
    case((3, 2, 3), output_size=(1, 1)),
    case((1, 2, 3), output_size=(4, 2)),
    case((1, 3, 2, 4), output_size=(2, 2, 2)),
    case((0, 4, 4), output_size=(2, 3)),
)


def _adapted(dims: int) -> tuple[Any, ...]:
    return tuple(c for c in _ADAPTED if len(c.params["output_size"]) == dims)


for _dims in (1, 2, 3):
    general(
        f"max_pool{_dims}d",
        kernels.max_pool,
        vjp=(_slope_of_max,),
        node=f"MaxPool{_dims}DWithIndicesBackward0",
        layout="suggested",
        refuses=(
            not_implemented("max_pool1d_impl", "bic")
            if _dims == 1
            else not_implemented(f"max_pool{_dims}d", "bc")
        ),
        cases=_windowed(_dims, dilation=True),
        raises=False,
        flat=True,
        doc="the largest element of each window",
        autocast="float32" if _dims == 3 else "",
        batching="leading",
        tangents="pooled",
        sparsity="planes",
    )
    _refusing = f"adaptive_max_pool{max(_dims, 2)}d{'_cpu' * (_dims == 3)}"
    general(
        f"adaptive_max_pool{_dims}d",
        kernels.adaptive_max_pool,
        vjp=(_slope_of_adaptive_max,),
        layout=_BINNED[_dims == 3],
        refuses=not_implemented(_refusing, "bic"),
        cases=_adapted(_dims),
        raises=False,
        flat=True,
        doc="the largest element of each bin",
        batching="leading",
        tangents="pooled",
        sparsity="planes",
    )

constant(
    "max_pool_indices",
    kernels.max_pool_indices,
    refuses=not_implemented("max_pool2d"),
    cases=_windowed(2, dilation=True),
    layout="suggested",
    doc="where the largest element of each window is",
    raises=False,
    batching="leading",
)
constant(
    "adaptive_max_pool_indices",
    kernels.adaptive_max_pool_indices,
    refuses=not_implemented("adaptive_max_pool2d"),
    cases=_ADAPTED,
    layout="suggested",
    doc="where the largest element of each bin is",
    raises=False,
    batching="leading",
)
constant(
    "fractional_max_pool_indices",
    fractional.fractional_max_pool_indices,
    args=("self", "samples"),
    refuses=not_implemented("fractional_max_pool2d"),
    cases=(
        case(
            (2, 1, 5, 6), lambda rng: rng.random((2, 1, 2)), kernel_size=(2, 2), output_size=(3, 2)
        ),
        case(
            (1, 2, 3, 4, 5),
            lambda rng: rng.random((1, 2, 3)),
            kernel_size=(1, 2, 2),
            output_size=(2, 3, 1),
        ),
    ),
    layout="suggested",
    doc="where the largest element of each window is, the windows placed by random numbers",
    batching="leading",
)

# -- means ----------------------------------------------------------------------------------------


def _slope_of_means(F: Any, g: Any, self_shape: Shape, **window: Any) -> Any:
    dims = len(window["kernel_size"])
    return F.avg_pool_backward(g, shape=self_shape[len(self_shape) - dims :], **window)


for _dims in (1, 2, 3):
    linear(
        f"avg_pool{_dims}d",
        mean_pooling.avg_pool,
        vjp=_slope_of_means,
        layout=_BINNED[_dims == 3],
        refuses=not_implemented(f"avg_pool{'2d' if _dims < 3 else '3d_out_frame'}", "bc"),
        cases=(
            *_windowed(_dims, count_include_pad=True, divisor_override=None),
            *_windowed(_dims, count_include_pad=False, divisor_override=None),
            *_windowed(_dims, count_include_pad=True, divisor_override=-3)[:1],
        ),
        flat=True,
        doc="the mean of each window",
        autocast="float32" if _dims == 3 else "",
        batching="leading",
        sparsity="mean_pool",
    )


def _slope_of_spread(F: Any, g: Any, shape: Shape, **window: Any) -> Any:
    return getattr(F, f"avg_pool{len(shape)}d")(g, **window)


def _spread(given: Shape, shape: Shape, kernel: int, stride: int, padding: int) -> Any:
    dims = len(shape)
    return case(
        given,
        shape=shape,
        kernel_size=(kernel,) * dims,
        stride=(stride,) * dims,
        padding=(padding,) * dims,
        ceil_mode=False,
        count_include_pad=False,
        divisor_override=None,
    )


linear(
    "avg_pool_backward",
    mean_pooling.avg_pool_backward,
    vjp=_slope_of_spread,
    refuses=not_implemented("avg_pool2d"),
    cases=(
        _spread((2, 3), (5,), 3, 2, 1),
        _spread((1, 2, 2), (4, 4), 2, 2, 0),
        _spread((0, 1, 2, 2, 1), (3, 3, 2), 2, 1, 0),
    ),
    doc="the transpose of avg_pool",
    batching="leading",
)
