"""Layer 5 · ops · resampling: sampling at the points of a grid, and grids from affine maps."""

from __future__ import annotations

from typing import Any

from wengert.base.dtypes import FLOATING, category, from_numpy_dtype
from wengert.base.export import export
from wengert.ops.coerce import dtype_name, operand, sizes_of
from wengert.prims import grids as grids
from wengert.tape.record import T
from wengert.tape.sites import warn

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@export("nn.functional")
def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """Return the planes or volumes of the input at the points of a grid.

    Parameters
    ----------
    input : Tensor. Of shape (N, C, H, W) or (N, C, D, H, W), floating.
    grid : Tensor. The points, of shape (N, ..., 2) or (N, ..., 3) with as many dimensions and the
        same dtype; the last dimension has x, y (and z), which go from -1 to 1.
    mode : {"bilinear", "nearest", "bicubic"}. How to interpolate; "bilinear" is trilinear for
        volumes, which have no "bicubic".
    padding_mode : {"zeros", "border", "reflection"}. What is outside: zeros, the nearest element of
        the border, or the reflected plane.
    align_corners : bool, optional. Whether -1 and 1 are the middles of the outer elements, or their
        outer edges (as by default, with a warning).

    Returns
    -------
    Tensor: Of shape (N, C, ...). Differentiable with respect to both arguments, to any order. A
        coordinate that is not a number makes the sample NaN, or zero for "nearest". Where the
        padding keeps the point within, it is on the side of -1.

    Raises
    ------
    ValueError: For another mode.
    RuntimeError: If the shapes or dtypes do not fit.

    References
    ----------
    M. Jaderberg and others, Spatial transformer networks, arXiv:1506.02025 (2015).

    Examples
    --------
    >>> x = wg.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> points = wg.tensor([[[[-1.0, -1.0], [0.0, 0.0], [1.0, 0.0]]]])
    >>> wg.nn.functional.grid_sample(x, points, align_corners=True)
    tensor([[[[1.0000, 2.5000, 3.0000]]]])
    """
    if mode not in _MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    if align_corners is None:
        _warn("grid_sample")
    x, points = operand(input, "grid_sampler"), operand(grid, "grid_sampler", "grid", 2)
    _check(x._payload, points._payload, mode)
    record = T.grid_sampler_2d if x._payload.ndim == 4 else T.grid_sampler_3d
    return record(
        x, points, mode=mode, padding_mode=padding_mode, align_corners=bool(align_corners)
    )


def _warn(name: str) -> None:
    warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
        "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
        f"documentation of {name} for details.",
    )


def _check(x: Any, points: Any, mode: str) -> None:
    shape, grid = x.shape, points.shape
    if not shape or not grid or shape[0] != grid[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with "
            f"sizes {list(shape)} and grid with sizes {list(grid)}"
        )
    if grid[-1] != len(shape) - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {len(shape) - 2} in last dimension, but "
            f"got grid with sizes {list(grid)}"
        )
    for dim in range(2, len(shape)):
        if shape[dim] == 0:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input "
                f"has sizes {list(shape)} with dimension {dim} being empty"
            )
    if len(shape) not in (4, 5) or len(grid) != len(shape):
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, "
            f"but got input with sizes {list(shape)} and grid with sizes {list(grid)}"
        )
    if len(shape) == 5 and mode == "bicubic":
        raise RuntimeError(
            f"grid_sampler(): bicubic interpolation only supports 4D input, but got {len(shape)}D"
        )
    if x.dtype.kind == "f" and x.dtype != points.dtype:
        raise RuntimeError(
            f"expected scalar type {dtype_name(x)} but found {dtype_name(points)}: convert the "
            "grid with .to(input.dtype)"
        )


@export("wengert")
def grid_sampler(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """`grid_sample` with numbers for the modes, in the order of its list.

    Examples
    --------
    >>> x = wg.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> wg.grid_sampler(x, wg.zeros(1, 1, 1, 2), 0, 0, True)
    tensor([[[[2.5000]]]])
    """
    mode, padding = _MODES[interpolation_mode], _PADDINGS[padding_mode]
    return grid_sample(input, grid, mode, padding, bool(align_corners))


@export("wengert")
def grid_sampler_2d(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """`grid_sampler` of planes.

    Examples
    --------
    >>> x = wg.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> wg.grid_sampler_2d(x, wg.zeros(1, 1, 1, 2), 0, 0, True)
    tensor([[[[2.5000]]]])
    """
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@export("wengert")
def grid_sampler_3d(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """`grid_sampler` of volumes.

    Examples
    --------
    >>> x = wg.arange(8.0).reshape(1, 1, 2, 2, 2)
    >>> wg.grid_sampler_3d(x, wg.zeros(1, 1, 1, 1, 3), 0, 0, True)
    tensor([[[[[3.5000]]]]])
    """
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@export("nn.functional")
def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """Return the points of planes or volumes, moved by affine maps.

    Parameters
    ----------
    theta : Tensor. The maps, of shape (N, 2, 3) for planes or (N, 3, 4) for volumes, floating.
    size : tuple of int. The shape of the planes, (N, C, H, W) or (N, C, D, H, W).
    align_corners : bool, optional. As in `grid_sample`.

    Returns
    -------
    Tensor: Of shape (N, H, W, 2) or (N, D, H, W, 3), for `grid_sample`; linear in `theta`.

    Raises
    ------
    ValueError: If `theta` does not go with `size`, is not floating, or a size is not positive.
    NotImplementedError: If `size` has neither four nor five entries.

    Examples
    --------
    >>> same = wg.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> wg.nn.functional.affine_grid(same, (1, 1, 1, 2), align_corners=False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    maps = operand(theta, "affine_grid", "theta")
    sizes = sizes_of((size,), "affine_grid")
    if align_corners is None:
        _warn("affine_grid")
    _check_maps(maps._payload, sizes, bool(align_corners))
    return T.affine_grid_generator(maps, size=sizes, align_corners=bool(align_corners))


@export("wengert")
def affine_grid_generator(theta: Any, size: Any, align_corners: bool) -> Any:
    """`affine_grid`, with no default for `align_corners`.

    Examples
    --------
    >>> same = wg.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> wg.affine_grid_generator(same, (1, 1, 1, 2), False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    return affine_grid(theta, size, bool(align_corners))


def _check_maps(array: Any, sizes: tuple[int, ...], align_corners: bool) -> None:
    if category(array.dtype) != FLOATING:
        raise ValueError(
            f"Expected theta to have floating point type, but got {from_numpy_dtype(array.dtype)!r}"
        )
    if len(sizes) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {sizes}."
        )
    dims = len(sizes) - 2
    if array.ndim != 3 or array.shape[1:] != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size "
            f"{sizes}. Got {list(array.shape)}."
        )
    if align_corners and min(sizes[2:]) == 1:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details.",
        )
    elif min(sizes) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {sizes}")
    if sizes[0] != array.shape[0]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{sizes[0]}, {dims + 1}] but got: [{array.shape[0]}, {dims + 1}]."
        )
