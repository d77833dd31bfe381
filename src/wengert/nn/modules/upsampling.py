"""Layer 8 · nn: resampling of images and signals."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from wengert.nn import functional as F
from wengert.nn.modules.making import Sizes
from wengert.nn.modules.module import Module
from wengert.types import Tensor

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """`functional.interpolate` as a module, to a given size or by a factor.

    Parameters
    ----------
    size : int or tuple of int, optional. The size of the output.
    scale_factor : float or tuple of float, optional. The factor by which the input grows.
    mode : str. The interpolation: "nearest", "linear", "bilinear", "bicubic", "trilinear", ...
    align_corners : bool, optional. Whether the centres of the corner elements are aligned, rather
        than the outer edges.
    recompute_scale_factor : bool, optional. Whether to interpolate by the ratio of the sizes,
        rather than by the factor.

    Examples
    --------
    >>> wg.nn.Upsample(scale_factor=2)(wg.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    def __init__(
        self,
        size: Sizes | None = None,
        scale_factor: float | tuple[float, ...] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor: float | tuple[float, ...] | None
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return the input at its new size."""
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        """Return the text that `repr` shows: the factor or the size, and the interpolation."""
        by = "size" if self.scale_factor is None else "scale_factor"
        return f"{by}={getattr(self, by)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` of images by nearest-neighbour interpolation.

    Parameters
    ----------
    size, scale_factor: As for `Upsample`.

    Examples
    --------
    >>> wg.nn.UpsamplingNearest2d(scale_factor=2)(wg.arange(2.0).view(1, 1, 1, 2))
    tensor([[[[0., 0., 1., 1.],
              [0., 0., 1., 1.]]]])
    """

    def __init__(
        self,
        size: Sizes | None = None,
        scale_factor: float | tuple[float, ...] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of images by bilinear interpolation with aligned corners.

    Parameters
    ----------
    size, scale_factor: As for `Upsample`.

    Examples
    --------
    >>> wg.nn.UpsamplingBilinear2d(size=(1, 3))(wg.arange(2.0).view(1, 1, 1, 2))
    tensor([[[[0.0000, 0.5000, 1.0000]]]])
    """

    def __init__(
        self,
        size: Sizes | None = None,
        scale_factor: float | tuple[float, ...] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
