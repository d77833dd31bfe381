"""Layer 8 · nn: pooling to a given size, with adaptive or random windows."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from typing import Any, ClassVar

from wengert.nn.modules.making import OfOneInput, Sizes, repeated
from wengert.nn.modules.module import Module

# -- adaptive windows -----------------------------------------------------------------------------


class _AdaptivePoolNd(OfOneInput, Module):
    _shows = "output_size="
    _options: tuple[str, ...] = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size


class _AdaptiveAvgPoolNd(_AdaptivePoolNd):
    """The base of adaptive average pooling."""


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """`functional.adaptive_avg_pool1d` to a given size.

    Parameters
    ----------
    output_size : int or tuple of int. The size of the pooled dimensions; with several of them, None
        keeps the input's size.

    Examples
    --------
    >>> wg.nn.AdaptiveAvgPool1d(2)(wg.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[2., 1.]])
    """

    _function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """`functional.adaptive_avg_pool2d` to a given size; arguments as for `AdaptiveAvgPool1d`.

    Examples
    --------
    >>> wg.nn.AdaptiveAvgPool2d((1, None))(wg.arange(6.0).view(1, 2, 3))
    tensor([[[1.5000, 2.5000, 3.5000]]])
    """

    _function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """`functional.adaptive_avg_pool3d` to a given size; arguments as for `AdaptiveAvgPool1d`.

    Examples
    --------
    >>> wg.nn.AdaptiveAvgPool3d(1)(wg.arange(8.0).view(1, 2, 2, 2))
    tensor([[[[3.5000]]]])
    """

    _function = "adaptive_avg_pool3d"


class _AdaptiveMaxPoolNd(_AdaptivePoolNd):
    _options = ("output_size", "return_indices")

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """`functional.adaptive_max_pool1d` to a given size.

    Parameters
    ----------
    output_size : int or tuple of int. The size of the pooled dimensions; with several of them, None
        keeps the input's size.
    return_indices : bool. Whether to return the indices of the maxima, too.

    Examples
    --------
    >>> wg.nn.AdaptiveMaxPool1d(2)(wg.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[3., 2.]])
    """

    _function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """`functional.adaptive_max_pool2d` to a given size; arguments as for `AdaptiveMaxPool1d`.

    Examples
    --------
    >>> wg.nn.AdaptiveMaxPool2d((1, None))(wg.arange(6.0).view(1, 2, 3))
    tensor([[[3., 4., 5.]]])
    """

    _function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """`functional.adaptive_max_pool3d` to a given size; arguments as for `AdaptiveMaxPool1d`.

    Examples
    --------
    >>> wg.nn.AdaptiveMaxPool3d(1)(wg.arange(8.0).view(1, 2, 2, 2))
    tensor([[[[7.]]]])
    """

    _function = "adaptive_max_pool3d"


# -- random windows -------------------------------------------------------------------------------


class _FractionalMaxPoolNd(OfOneInput, Module):
    _options = ("kernel_size", "output_size", "output_ratio", "return_indices", "_random_samples")
    _dims: ClassVar[int]

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        name, dims = type(self).__name__, self._dims
        sizes = repeated(kernel_size, dims)
        if any(size <= 0 for size in sizes):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError(
                "only one of output_size and output_ratio may be specified, but they are "
                f"{output_size} and {output_ratio}"
            )
        ratios = None if output_ratio is None else repeated(output_ratio, dims)
        if ratios is not None and not all(0 < ratio < 1 for ratio in ratios):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
        self.kernel_size = sizes
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else repeated(output_size, dims)
        self.output_ratio = ratios


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """`functional.fractional_max_pool2d`: maxima over randomly placed windows.

    Parameters
    ----------
    kernel_size : int or tuple of int. The size of the windows.
    output_size : int or tuple of int, optional. The number of windows along each dimension.
    output_ratio : float or tuple of float, optional. The output size as a fraction of the input
        size, between 0 and 1.
    return_indices : bool. Whether to return the indices of the maxima, too.

    Raises
    ------
    ValueError: If not exactly one of `output_size` and `output_ratio` is given, or a number is out
        of range.

    Examples
    --------
    >>> wg.nn.FractionalMaxPool2d(2, output_ratio=0.5)(wg.ones(1, 6, 8)).shape
    torch.Size([1, 3, 4])
    """

    _dims = 2

    _function = "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """`functional.fractional_max_pool3d`; arguments as for `FractionalMaxPool2d`.

    Examples
    --------
    >>> wg.nn.FractionalMaxPool3d(2, output_size=2)(wg.ones(1, 5, 6, 7)).shape
    torch.Size([1, 2, 2, 2])
    """

    _dims = 3

    _function = "fractional_max_pool3d"
