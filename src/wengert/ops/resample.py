"""Layer 5 · ops · resampling: interpolation, `interpolate` and its former names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base.errors import not_implemented
from wengert.base.export import export
from wengert.base.shapes import whole
from wengert.ops.adaptive_pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
)
from wengert.ops.coerce import operand
from wengert.prims.resample import KINDS
from wengert.tape.record import T
from wengert.tape.sites import warn

_PLAIN = ("nearest", "area", "nearest-exact")
# the kind in the record, and the numbers of dimensions of the input
_MODES = {
    "nearest": ("nearest", (3, 4, 5)),
    "nearest-exact": ("nearest-exact", (3, 4, 5)),
    "area": ("bins", (3, 4, 5)),
    "linear": ("linear", (3,)),
    "bilinear": ("linear", (4,)),
    "trilinear": ("linear", (5,)),
    "bicubic": ("cubic", (4,)),
    "lanczos": ("lanczos", (4,)),
}
_MEANS = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)


@export("nn.functional")
def interpolate(
    input: Any,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """Resize the dimensions after the first two, by interpolation.

    Parameters
    ----------
    input : Tensor. Of shape (N, C, L), (N, C, H, W) or (N, C, D, H, W), floating; also uint8,
        except for "linear", "trilinear", "lanczos" and "area".
    size : int or tuple of int, optional. The new sizes.
    scale_factor : float or tuple of float, optional. What to multiply the sizes by; either this or
        `size`.
    mode : str. "nearest", "nearest-exact" (which measures from the middle of the elements), "area"
        (means), "linear" for three dimensions, "bilinear", "bicubic" or "lanczos" for four,
        "trilinear" for five.
    align_corners : bool, optional. For the linear and cubic modes: whether the middles of the outer
        elements stay where they are, rather than their outer edges.
    recompute_scale_factor : bool, optional. Whether the scale is that of the sizes, which are whole
        numbers, instead of `scale_factor`.
    antialias : bool. For "bilinear", "bicubic" and "lanczos" (which needs it): whether to widen the
        filter when sizes get smaller.

    Returns
    -------
    Tensor: Of shape (N, C, *size); linear in the input, and differentiable to any order.

    Raises
    ------
    ValueError: If not exactly one of `size` and `scale_factor` is given, or an option is not the
        mode's.
    NotImplementedError: If the mode does not go with the number of dimensions, or with the dtype.
    RuntimeError: If a size is 0.

    References
    ----------
    R. Keys, Cubic convolution interpolation for digital image processing, IEEE Transactions on
    Acoustics, Speech, and Signal Processing 29 (1981); with a = -0.75, with antialiasing -0.5.

    Examples
    --------
    >>> x = wg.tensor([[[1.0, 2.0]]])
    >>> wg.nn.functional.interpolate(x, size=4)
    tensor([[[1., 1., 2., 2.]]])
    >>> wg.nn.functional.interpolate(x, scale_factor=2, mode="linear")
    tensor([[[1.0000, 1.2500, 1.7500, 2.0000]]])
    """
    x = operand(input, "interpolate")
    shape = x._payload.shape
    dims = max(len(shape) - 2, 0)
    if mode in _PLAIN and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            f"| bicubic | trilinear; the mode is {mode!r}"
        )
    sizes, scales = _sizes(x, dims, size, scale_factor, mode, bool(recompute_scale_factor))
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and dims == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            f"a 4-D tensor as input; the mode is {mode!r}, the input has {len(shape)} dimensions"
        )
    kind, counts = _MODES.get(mode, ("", ()))
    if len(shape) not in counts:
        raise _unfit(mode, len(shape), counts)
    if kind == "bins":
        return _MEANS[dims - 1](x, sizes)
    if kind == "lanczos":
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
    if antialias:
        kind += " aa"
    _check(x._payload, sizes, dims, kind)
    return getattr(T, KINDS[kind, dims])(
        x, output_size=sizes, align_corners=bool(align_corners), scales=scales
    )


def _unfit(mode: str, ndim: int, counts: tuple[int, ...]) -> NotImplementedError:
    if len(counts) == 1 and mode.endswith("linear") and 3 <= ndim <= 5:
        return NotImplementedError(
            f"Got {ndim}D input, but {mode} mode needs {counts[0]}D input: the input's dimensions "
            "are the batch's, the channels', and those to interpolate"
        )
    return NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the modes: "
        "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact "
        f"(got {mode})"
    )


def _sizes(
    x: Any, dims: int, size: Any, scale_factor: Any, mode: str, recompute: bool
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """Return the new sizes, and the scales to compute with."""
    if (size is None) == (scale_factor is None):
        if size is None:
            raise ValueError("either size or scale_factor should be defined")
        raise ValueError("only one of size or scale_factor should be defined")
    spatial = x._payload.shape[2:]
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        return _whole(size, dims, spatial), (None,) * dims
    if isinstance(scale_factor, tuple | list):
        if len(scale_factor) != dims:
            raise ValueError(
                "Input and scale_factor must have the same number of spatial dimensions, but got "
                f"input with spatial dimensions of {list(spatial)} and scale_factor of shape "
                f"{scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                "scale_factor in (s1, s2, ...,sK) format."
            )
        factors = tuple(scale_factor)
    else:
        factors = (scale_factor,) * dims
    try:
        scales = tuple([float(factor) for factor in factors])
    except (TypeError, ValueError):
        raise TypeError(
            "interpolate(): argument 'scale_factor' must be a number or a tuple of numbers, not "
            f"{scale_factor!r}"
        ) from None
    sizes = tuple([int(n * scale) for n, scale in zip(spatial, scales, strict=True)])
    if max(map(abs, sizes), default=0) >= 1 << 63:
        raise RuntimeError(
            f"value cannot be converted to type int64_t without overflow: a size of {max(sizes)}"
        )
    return sizes, (None,) * dims if recompute or mode == "area" else scales


def _whole(size: Any, dims: int, spatial: tuple[int, ...]) -> tuple[int, ...]:
    several = size if isinstance(size, tuple | list) else (size,) * dims
    if len(several) != dims:
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(spatial)} and output size of {size}. Please provide "
            "input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) "
            "format."
        )
    try:
        return tuple([whole(n) for n in several])
    except TypeError:
        raise TypeError(
            "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, "
            f"int], but got size with types {[type(n) for n in several]}"
        ) from None


def _spelled(sizes: tuple[int, ...]) -> str:
    letters = "DHW"[-len(sizes) :]
    return ", ".join([f"{letter}: {n}" for letter, n in zip(letters, sizes, strict=True)])


def _check(array: Any, sizes: tuple[int, ...], dims: int, kind: str) -> None:
    shape = array.shape
    if 0 in shape[2:] or min(sizes) <= 0:
        raise RuntimeError(
            "Input and output sizes should be greater than 0, but got input "
            f"({_spelled(shape[2:])}) output ({_spelled(sizes)})"
        )
    if shape[1] == 0:
        raise RuntimeError(
            f"Non-empty {dims + 2}D data tensor expected but got a tensor with sizes {list(shape)}"
        )
    if array.dtype.kind in "iu" and not (
        array.dtype == np.uint8 and (kind.startswith("nearest") or dims == 2)
    ):
        words = {
            "n": f"upsample_nearest{dims}d_channels_last",
            "c": "compute_indices_weights_cubic",
        }
        name = words.get(kind[0], "compute_indices_weights_linear")
        if kind.endswith("aa"):
            name = "compute_index_ranges_weights"
        elif kind == "linear" and dims == 2:
            name = "upsample_bilinear2d_channels_last"
        raise not_implemented(name, array.dtype, "convert the input to a floating dtype")


# -- former names ---------------------------------------------------------------------------------


def _deprecated(name: str) -> None:
    warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
    )


@export("nn.functional")
def upsample(
    input: Any,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Any:
    """Return a former name of `interpolate`, which warns.

    Examples
    --------
    %(without_warnings)s
    ...     wg.nn.functional.upsample(wg.tensor([[[1.0, 2.0]]]), 4)
    tensor([[[1., 1., 2., 2.]]])
    """
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@export("nn.functional")
def upsample_nearest(
    input: Any,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Any:
    """Return a former name of `interpolate` with ``mode="nearest"``, which warns.

    Examples
    --------
    %(without_warnings)s
    ...     wg.nn.functional.upsample_nearest(wg.tensor([[[1.0, 2.0]]]), 4)
    tensor([[[1., 1., 2., 2.]]])
    """
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


@export("nn.functional")
def upsample_bilinear(
    input: Any,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Any:
    """Return a former name of `interpolate` with bilinear mode and aligned corners, which warns.

    Examples
    --------
    %(without_warnings)s
    ...     wg.nn.functional.upsample_bilinear(wg.tensor([[[[1.0, 2.0]]]]), (1, 3))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
