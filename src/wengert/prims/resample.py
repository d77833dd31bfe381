"""Layer 2 · prims: interpolation and adaptive means, which are linear.

The parameter ``kind`` of the general record selects how a dimension is resampled; PyTorch has one
operation, and so one node, for each kind and number of dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from wengert.kernels import resample as kernels
from wengert.prims.families import linear
from wengert.prims.record import case, not_implemented

Shape = tuple[int, ...]
Scales = tuple[float | None, ...]


def _shown(kind: str, dims: int) -> dict[str, Any]:
    """Return PyTorch's names for the saved parameters: one scale for each dimension."""
    shown: dict[str, Any] = {"scales": None}
    if not kind.startswith(("linear", "cubic", "lanczos")):
        shown["align_corners"] = None
    if kind == "bins":
        return {**shown, "output_size": None}
    if dims == 1:
        return {**shown, "scales": lambda scales: scales[0]}
    axes = {
        "scales_d": lambda scales: scales[-3],
        "scales_h": lambda scales: scales[-2],
        "scales_w": lambda scales: scales[-1],
    }
    return {**shown, **dict(list(axes.items())[-dims:])}


_PARAMS = ("output_size", "align_corners", "scales")


def _returning(kind: str) -> Callable[..., Any]:
    def rule(F: Any, g: Any, self_shape: Shape, output_size: Shape, **how: Any) -> Any:
        shape = self_shape[len(self_shape) - len(output_size) :]
        return F.resample_backward(g, kind=kind, shape=shape, **how)

    return rule


_GIVEN: dict[int, tuple[tuple[Shape, Shape, Scales], ...]] = {
    1: (((1, 2, 4), (7,), (None,)), ((2, 5), (2,), (0.45,)), ((0, 3), (6,), (None,))),
    2: (
        ((1, 3, 4), (5, 3), (None, None)),
        ((2, 2, 3), (4, 6), (2.0, 2.0)),
        ((1, 4, 6), (2, 2), (0.5, None)),
    ),
    3: (((1, 2, 3, 2), (3, 2, 4), (None, None, None)),),
}


def _cases(dims: int, aligned: bool, **more: Any) -> tuple[Any, ...]:
    return tuple(
        case(shape, output_size=size, align_corners=align, scales=scales, **more)
        for shape, size, scales in _GIVEN[dims]
        for align in ((False, True) if aligned else (False,))
    )


KINDS: dict[tuple[str, int], str] = {}
"""The record of each kind and number of dimensions."""
# the name, and the operation in its errors about dtypes
for _kind, _dims, _name, _words in (
    ("nearest", 1, "upsample_nearest1d", "compute_indices_weights_nearest"),
    ("nearest", 2, "upsample_nearest2d", "upsample_nearest2d_channels_last"),
    ("nearest", 3, "upsample_nearest3d", "upsample_nearest3d_channels_last"),
    ("nearest-exact", 1, "upsample_nearest_exact1d", "compute_indices_weights_nearest"),
    ("nearest-exact", 2, "upsample_nearest_exact2d", "upsample_nearest2d_channels_last"),
    ("nearest-exact", 3, "upsample_nearest_exact3d", "upsample_nearest3d_channels_last"),
    ("linear", 1, "upsample_linear1d", "compute_indices_weights_linear"),
    ("linear", 2, "upsample_bilinear2d", "upsample_bilinear2d_channels_last"),
    ("linear", 3, "upsample_trilinear3d", "compute_indices_weights_linear"),
    ("cubic", 2, "upsample_bicubic2d", "compute_indices_weights_cubic"),
    ("linear aa", 2, "upsample_bilinear2d_aa", "compute_index_ranges_weights"),
    ("cubic aa", 2, "upsample_bicubic2d_aa", "compute_index_ranges_weights"),
    ("lanczos aa", 2, "upsample_lanczos2d_aa", "compute_index_ranges_weights"),
    ("bins", 1, "adaptive_avg_pool1d", "adaptive_avg_pool2d"),
    ("bins", 2, "adaptive_avg_pool2d", "adaptive_avg_pool2d"),
    ("bins", 3, "adaptive_avg_pool3d", "adaptive_avg_pool3d_cpu"),
):
    KINDS[_kind, _dims] = _name
    linear(
        _name,
        partial(kernels.resample, kind=_kind),
        params=_PARAMS,
        vjp=_returning(_kind),
        shows=_shown(_kind, _dims),
        # the last three dimensions of means have no other order in PyTorch
        layout="contiguous" if (_kind, _dims) == ("bins", 3) else "suggested",
        refuses=not_implemented(_words, "bc"),
        cases=_cases(_dims, _kind in ("linear", "cubic", "linear aa")),
        autocast="float32" if (_kind, _dims) == ("bins", 3) else "",
        doc="the mean of each bin" if _kind == "bins" else f"interpolation ({_kind})",
        sparsity="planes" if _kind == "bins" else "moved",
        flat=_kind == "bins",
        batching="leading",
    )

linear(
    "resample",
    kernels.resample,
    vjp=lambda F, g, self_shape, output_size, **how: F.resample_backward(
        g, shape=self_shape[len(self_shape) - len(output_size) :], **how
    ),
    refuses=not_implemented("resample"),
    cases=_cases(2, False, kind="cubic"),
    doc="the last dimensions in other sizes",
    batching="leading",
)
linear(
    "resample_backward",
    kernels.resample_backward,
    vjp=lambda F, g, self_shape, shape, **how: F.resample(
        g, output_size=self_shape[len(self_shape) - len(shape) :], **how
    ),
    refuses=not_implemented("resample"),
    cases=(
        case((1, 5, 3), kind="linear", shape=(2, 4), align_corners=False, scales=(None, None)),
        case((2, 7), kind="bins", shape=(4,), align_corners=False, scales=(None,)),
        case((0, 2, 2), kind="nearest", shape=(3, 4), align_corners=False, scales=(None, 0.5)),
        case((1, 4, 3), kind="nearest", shape=(2, 3), align_corners=False, scales=(2.0, None)),
    ),
    doc="the transpose of resample",
    batching="leading",
)
