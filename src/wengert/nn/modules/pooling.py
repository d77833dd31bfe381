"""Layer 8 · nn: pooling and unpooling."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from typing import Any, ClassVar

from wengert.base.elsewhere import elsewhere
from wengert.nn import functional as F
from wengert.nn.classes import classes_in
from wengert.nn.modules.making import OfOneInput, Sizes, repeated
from wengert.nn.modules.module import Module
from wengert.types import Tensor

__all__ = classes_in(__name__)

__getattr__ = elsewhere(__name__)  # PyTorch has more here

# -- maxima ---------------------------------------------------------------------------------------


class _MaxPoolNd(OfOneInput, Module):
    _shows = "kernel_size= stride= padding= dilation= ceil_mode="
    _options = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode


class MaxPool1d(_MaxPoolNd):
    """`functional.max_pool1d` as a module.

    Parameters
    ----------
    %(windows)s
    padding, dilation : int or tuple of int. The padding on both sides, and the distance between
        the elements of a window.
    return_indices : bool. Whether to return the indices of the maxima, too.
    ceil_mode : bool. Whether the last window may extend beyond the input.

    Examples
    --------
    >>> wg.nn.MaxPool1d(2)(wg.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[3., 2.]])
    """

    _function = "max_pool1d"


class MaxPool2d(_MaxPoolNd):
    """`functional.max_pool2d` as a module; arguments as for `MaxPool1d`.

    Examples
    --------
    >>> wg.nn.MaxPool2d(2)(wg.arange(16.0).view(1, 4, 4))
    tensor([[[ 5.,  7.],
             [13., 15.]]])
    """

    _function = "max_pool2d"


class MaxPool3d(_MaxPoolNd):
    """`functional.max_pool3d` as a module; arguments as for `MaxPool1d`.

    Examples
    --------
    >>> wg.nn.MaxPool3d(2)(wg.arange(8.0).view(1, 2, 2, 2))
    tensor([[[[7.]]]])
    """

    _function = "max_pool3d"


class _MaxUnpoolNd(Module):
    _shows = "kernel_size= stride= padding="
    _dims: ClassVar[int]
    _function: ClassVar[str]

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, self._dims)
        self.stride = repeated(stride if stride is not None else kernel_size, self._dims)
        self.padding = repeated(padding, self._dims)

    def forward(self, input: Tensor, indices: Any, output_size: Any = None) -> Tensor:
        return getattr(F, self._function)(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool1d(_MaxUnpoolNd):
    """`functional.max_unpool1d` as a module: put maxima back in their places, among zeros.

    Parameters
    ----------
    kernel_size, stride, padding : int or tuple of int. As for the `MaxPool1d` that it undoes.

    Examples
    --------
    >>> maxima, places = wg.nn.MaxPool1d(2, return_indices=True)(wg.tensor([[1.0, 3.0, 2.0, 0.0]]))
    >>> wg.nn.MaxUnpool1d(2)(maxima, places)
    tensor([[0., 3., 2., 0.]])
    """

    _dims, _function = 1, "max_unpool1d"


class MaxUnpool2d(_MaxUnpoolNd):
    """`functional.max_unpool2d` as a module; arguments as for `MaxUnpool1d`.

    Examples
    --------
    >>> pooled = wg.nn.MaxPool2d(2, return_indices=True)(wg.arange(4.0).view(1, 2, 2))
    >>> wg.nn.MaxUnpool2d(2)(*pooled)
    tensor([[[0., 0.],
             [0., 3.]]])
    """

    _dims, _function = 2, "max_unpool2d"


class MaxUnpool3d(_MaxUnpoolNd):
    """`functional.max_unpool3d` as a module; arguments as for `MaxUnpool1d`.

    Examples
    --------
    >>> pooled = wg.nn.MaxPool3d(2, return_indices=True)(wg.arange(8.0).view(1, 2, 2, 2))
    >>> wg.nn.MaxUnpool3d(2)(*pooled).sum()
    tensor(7.)
    """

    _dims, _function = 3, "max_unpool3d"


# -- means ----------------------------------------------------------------------------------------


class _AvgPoolNd(OfOneInput, Module):
    _shows = "kernel_size= stride= padding="

    _options: tuple[str, ...] = (
        *("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"),
    )
    kernel_size: Sizes
    stride: Sizes
    padding: Sizes


class AvgPool1d(_AvgPoolNd):
    """`functional.avg_pool1d` as a module.

    Parameters
    ----------
    %(windows)s
    padding : int or tuple of int. The number of zeros added on both sides.
    ceil_mode : bool. Whether the last window may extend beyond the input.
    count_include_pad : bool. Whether means include the zeros of the padding.

    Examples
    --------
    >>> wg.nn.AvgPool1d(2)(wg.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[2., 1.]])
    """

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, 1)
        self.stride = repeated(stride if stride is not None else kernel_size, 1)
        self.padding = repeated(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    _function = "avg_pool1d"


class _AvgPoolWithDivisor(_AvgPoolNd):
    _options = (*_AvgPoolNd._options, "divisor_override")

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override


class AvgPool2d(_AvgPoolWithDivisor):
    """`functional.avg_pool2d` as a module; arguments as for `AvgPool1d`, and one more.

    Parameters
    ----------
    divisor_override : int, optional. The divisor of the sums; default: the number of elements.

    Examples
    --------
    >>> wg.nn.AvgPool2d(2)(wg.arange(16.0).view(1, 4, 4))
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])
    """

    _function = "avg_pool2d"


class AvgPool3d(_AvgPoolWithDivisor):
    """`functional.avg_pool3d` as a module; arguments as for `AvgPool2d`.

    Examples
    --------
    >>> wg.nn.AvgPool3d(2)(wg.arange(8.0).view(1, 2, 2, 2))
    tensor([[[[3.5000]]]])
    """

    _function = "avg_pool3d"


# -- norms ----------------------------------------------------------------------------------------


class _LPPoolNd(OfOneInput, Module):
    _shows = "norm_type= kernel_size= stride= ceil_mode="
    _options = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(
        self,
        norm_type: float,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode


class LPPool1d(_LPPoolNd):
    """`functional.lp_pool1d` as a module.

    Parameters
    ----------
    norm_type : float. The exponent of the norm.
    %(windows)s
    ceil_mode : bool. Whether the last window may extend beyond the input.

    Examples
    --------
    >>> wg.nn.LPPool1d(2, 2)(wg.tensor([[3.0, 4.0, 6.0, 8.0]]))
    tensor([[ 5., 10.]])
    """

    _function = "lp_pool1d"


class LPPool2d(_LPPoolNd):
    """`functional.lp_pool2d` as a module; arguments as for `LPPool1d`.

    Examples
    --------
    >>> wg.nn.LPPool2d(2, 2)(wg.ones(1, 1, 4, 4)).shape
    torch.Size([1, 1, 2, 2])
    """

    _function = "lp_pool2d"


class LPPool3d(_LPPoolNd):
    """`functional.lp_pool3d` as a module; arguments as for `LPPool1d`.

    Examples
    --------
    >>> wg.nn.LPPool3d(1, 2)(wg.ones(1, 1, 2, 2, 2))
    tensor([[[[[8.]]]]])
    """

    _function = "lp_pool3d"
