"""Layer 2 · prims: sampling at the points of a grid.

With x the planes and S the weights of the elements around the points, the sample is S x. The
gradients are S' g with respect to the planes, and g' S_i x with respect to the i-th coordinate,
where S_i holds the derivatives of the weights. The former is the transpose of sampling. The
derivatives of the latter are composed of the elements themselves (`corner_pick`) and their weights,
which are polynomials in the positions and differentiable, too: so derivatives of every order exist.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from wengert.kernels import corners
from wengert.kernels import grids as kernels
from wengert.kernels.points import powers
from wengert.prims.families import constant, elementwise, general, linear
from wengert.prims.record import case, not_implemented

Shape = tuple[int, ...]
_PARAMS = ("mode", "padding_mode", "align_corners")

# -- samples --------------------------------------------------------------------------------------


def _points(*shape: int, reach: float = 1.3) -> Callable[[Any], Any]:
    """Return points within the planes and around them."""
    return lambda rng: rng.uniform(-reach, reach, shape)


_MODES = tuple(
    itertools.product(
        ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)
    )
)


def _cases(make: Callable[..., Any]) -> tuple[Any, ...]:
    """Return cases of every mode in two dimensions, and of some in three."""
    found = [
        make((1, 2, 2, 3), (1, 1, 2, 2), mode=mode, padding_mode=padding, align_corners=align)
        for mode, padding, align in _MODES
    ]
    three = {"mode": "bilinear", "padding_mode": "reflection", "align_corners": False}
    more = {"mode": "bilinear", "padding_mode": "zeros", "align_corners": True}
    return (
        *found,
        make((2, 1, 2, 3, 2), (2, 1, 1, 1, 3), **three),
        make((1, 0, 2, 2), (1, 1, 2, 2), **more),
        make((1, 1, 9, 9), (1, 1, 2, 2), **more),
    )


# -- the parts ------------------------------------------------------------------------------------

_GRIDS = tuple(
    case(_points(1, 2, 2), sizes=(3, 4), mode=mode, padding_mode=padding, align_corners=align)
    for mode, padding, align in _MODES
)

constant(
    "grid_turn",
    corners.grid_turn,
    cases=_GRIDS,
    doc="the derivatives of the positions of a grid's points with respect to its numbers",
    lacks="complex",
    batching="pointwise",
)
elementwise(
    "grid_position",
    corners.grid_position,
    lin=lambda F, g, self, sizes, mode, padding_mode, align_corners: (
        g
        * F.grid_turn(
            self,
            sizes=sizes,
            mode=mode,
            padding_mode=padding_mode,
            align_corners=align_corners,
        )
    ),
    refuses=not_implemented("grid_sampler_2d_cpu_kernel_impl"),
    cases=_GRIDS,
    doc="the positions of a grid's points in planes, with what the padding makes of them",
    pointwise=False,
)
constant(
    "grid_corners",
    corners.grid_corners,
    cases=_GRIDS,
    doc="where the elements around each point of a grid are",
    lacks="complex",
    batching="fold",
)


def _corners(rng: Any) -> Any:
    return rng.integers(-1, 6, (2, 3, 4))


linear(
    "corner_pick",
    corners.corner_pick,
    vjp=(
        lambda F, g, index, self_shape: F.corner_scatter(g, index, shape=self_shape[2:]),
        None,
    ),
    cases=(case((2, 2, 2, 3), _corners),),
    doc="the elements of planes at places, several for each point",
    batching="fold",
)
linear(
    "corner_scatter",
    corners.corner_scatter,
    vjp=(lambda F, g, index: F.corner_pick(g, index), None),
    cases=(case((2, 1, 3, 4), _corners, shape=(2, 3)),),
    doc="the transpose of corner_pick",
    batching="fold",
)

# -- derivatives with respect to the grid ---------------------------------------------------------


class _Around:
    """The data of a grid's points that a rule needs, in the namespace of the rule."""

    def __init__(self, F: Any, grid: Any, shape: Shape, sizes: Shape, **params: Any) -> None:
        self.F = F
        self.mode = params["mode"]
        self.dims = len(sizes)
        self.shape = shape
        self.turns = self.columns(F.grid_turn(grid, sizes=sizes, **params))
        places = self.columns(F.grid_position(grid, sizes=sizes, **params))
        self.rests = [place - F.floor(place) for place in places]
        self.index = F.grid_corners(grid, sizes=sizes, **params)

    def columns(self, grid: Any) -> list[Any]:
        """Return a grid's numbers as (N, P), one array for each dimension of the planes."""
        count = 1
        for n in self.shape[1:-1]:
            count *= n
        flat = self.F.unsafe_view(grid, shape=(self.shape[0], count, self.dims))
        return [self.F.select(flat, dim=2, index=self.dims - 1 - d) for d in range(self.dims)]

    def _polynomial(self, coefficients: Any, rest: Any) -> Any:
        total = None
        for c in reversed(coefficients):
            total = c if total is None else total * rest + c
        return total if any(coefficients) else None

    def weights(self, orders: Shape) -> list[Any]:
        """Return the weight of each element, like `Points.weights`; None for 0."""
        each = [
            [self._polynomial(p, rest) for p in powers(self.mode, order)]
            for rest, order in zip(self.rests, orders, strict=True)
        ]
        found = []
        for factors in itertools.product(*each):
            total: Any = None
            if not any(factor is None for factor in factors):
                for factor in factors:
                    total = factor if total is None else total * factor
            found.append(total)
        return found

    def along(self, u: Any) -> list[Any]:
        """Return the weights' derivatives along a direction, given as a grid's columns."""
        return self._sums(
            [
                (tuple([int(e == d) for e in range(self.dims)]), u[d] * self.turns[d])
                for d in range(self.dims)
            ]
        )

    def twice(self, u: Any, d: int) -> list[Any]:
        """Return the derivatives with respect to dimension `d` of those along a direction."""
        return self._sums(
            [
                (
                    tuple([int(e == d) + int(e == b) for e in range(self.dims)]),
                    u[b] * self.turns[b] * self.turns[d],
                )
                for b in range(self.dims)
            ]
        )

    def _sums(self, terms: list[Any]) -> list[Any]:
        totals: list[Any] = [None] * len(powers(self.mode, 0)) ** self.dims
        for orders, factor in terms:
            for k, weight in enumerate(self.weights(orders)):
                if weight is not None:
                    term = factor * weight
                    totals[k] = term if totals[k] is None else totals[k] + term
        nothing = self.turns[0] * 0
        return [nothing if total is None else total for total in totals]

    def stacked(self, weights: list[Any]) -> Any:
        """Stack the weights of the elements: (N, 1, K, P)."""
        return self.F.unsqueeze(self.F.stack(*weights, dim=1), dim=1)


def _flat(F: Any, g: Any, shape: Shape) -> Any:
    """Reshape samples (N, C, ...) to (N, C, 1, P)."""
    count = 1
    for n in shape[2:]:
        count *= n
    return F.unsafe_view(g, shape=(shape[0], shape[1], 1, count))


def _slope_by_output(
    F: Any,
    g: Any,
    input: Any,
    grid: Any,
    self_shape: Shape,
    self_dtype: Any,
    input_shape: Shape,
    grid_shape: Shape,
    **params: Any,
) -> Any:
    if params["mode"] == "nearest":
        return F.zeros(shape=self_shape, dtype=self_dtype)
    around = _Around(F, grid, grid_shape, input_shape[2:], **params)
    weights = around.stacked(around.along(around.columns(g)))
    sums = F.sum_dim(F.corner_pick(input, around.index) * weights, dim=(2,), keepdim=False)
    return F.unsafe_view(sums, shape=self_shape)


def _slope_by_input(
    F: Any,
    g: Any,
    self: Any,
    grid: Any,
    self_shape: Shape,
    input_shape: Shape,
    input_dtype: Any,
    grid_shape: Shape,
    **params: Any,
) -> Any:
    if params["mode"] == "nearest":
        return F.zeros(shape=input_shape, dtype=input_dtype)
    around = _Around(F, grid, grid_shape, input_shape[2:], **params)
    weights = around.stacked(around.along(around.columns(g)))
    spread = _flat(F, self, self_shape) * weights
    return F.corner_scatter(spread, around.index, shape=input_shape[2:])


def _slope_by_grid(
    F: Any,
    g: Any,
    self: Any,
    input: Any,
    grid: Any,
    self_shape: Shape,
    input_shape: Shape,
    grid_shape: Shape,
    **params: Any,
) -> Any:
    if params["mode"] == "nearest":
        return F.zeros_like(g)
    around = _Around(F, grid, grid_shape, input_shape[2:], **params)
    u = around.columns(g)
    picked = F.corner_pick(input, around.index) * _flat(F, self, self_shape)
    sums = F.sum_dim(picked, dim=(1,), keepdim=False)
    parts = []
    for d in reversed(range(around.dims)):
        weights = F.stack(*around.twice(u, d), dim=1)
        parts.append(F.sum_dim(sums * weights, dim=(1,), keepdim=False))
    return F.unsafe_view(F.stack(*parts, dim=2), shape=grid_shape)


_REFUSED = not_implemented("grid_sampler_2d_cpu_kernel_impl", "bci")


def _slope_cases(planes: Shape, grid: Shape, **params: Any) -> Any:
    return case((*planes[:2], *grid[1:-1]), planes, _points(*grid), **params)


def _back_cases(planes: Shape, grid: Shape, **params: Any) -> Any:
    return case((*planes[:2], *grid[1:-1]), _points(*grid), shape=planes[2:], **params)


general(
    "grid_sample_slope",
    kernels.grid_sample_slope,
    vjp=(_slope_by_output, _slope_by_input, _slope_by_grid),
    refuses=_REFUSED,
    cases=_cases(_slope_cases)[::2],
    doc="the derivative of the sum of self times the sampled input with respect to a grid",
    batching="fold",
    fused="kernel",
)


for _dims in (2, 3):
    general(
        f"grid_sampler_{_dims}d",
        kernels.grid_sample,
        vjp=(
            lambda F, g, grid, self_shape, **params: F.grid_sample_backward(
                g, grid, shape=self_shape[2:], **params
            ),
            lambda F, g, self, grid, **params: F.grid_sample_slope(g, self, grid, **params),
        ),
        refuses=_REFUSED,
        cases=tuple(
            c
            for c in _cases(lambda planes, grid, **params: case(planes, _points(*grid), **params))
            if len(c.shapes[0]) == _dims + 2
        ),
        doc="planes at the points of a grid",
        autocast="float32",
        batching="fold",
        fused="kernel" if _dims == 2 else "",
    )


def _transposed_by_self(
    F: Any,
    g: Any,
    grid: Any,
    grid_shape: Shape,
    mode: str,
    padding_mode: str,
    align_corners: bool,
) -> Any:
    sample = F.grid_sampler_2d if len(grid_shape) == 4 else F.grid_sampler_3d
    return sample(g, grid, mode=mode, padding_mode=padding_mode, align_corners=align_corners)


general(
    "grid_sample_backward",
    kernels.grid_sample_backward,
    vjp=(
        _transposed_by_self,
        lambda F, g, self, grid, mode, padding_mode, align_corners: F.grid_sample_slope(
            self, g, grid, mode=mode, padding_mode=padding_mode, align_corners=align_corners
        ),
    ),
    refuses=_REFUSED,
    cases=_cases(_back_cases),
    doc="the transpose of sampling planes at the points of a grid",
    batching="fold",
    fused="kernel",
)

# -- grids of affine maps -------------------------------------------------------------------------


def _by(name: str) -> Callable[..., Any]:
    return lambda F, g, size, align_corners: getattr(F, name)(
        g, size=size, align_corners=align_corners
    )


for _name, _other, _shapes in (
    ("affine_grid_generator", "affine_grid_backward", ((2, 2, 3), (1, 3, 4))),
    ("affine_grid_backward", "affine_grid_generator", ((2, 3, 4, 2), (1, 2, 1, 3, 3))),
):
    linear(
        _name,
        getattr(kernels, _name),
        vjp=_by(_other),
        cases=(
            case(_shapes[0], size=(2, 1, 3, 4), align_corners=False),
            case(_shapes[1], size=(1, 1, 2, 1, 3), align_corners=True),
        ),
        doc="points moved by affine maps" if _name[-1] == "r" else f"the transpose of {_other}",
        batching="leading",
    )
