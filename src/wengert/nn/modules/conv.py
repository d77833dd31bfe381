"""Layer 8 · nn: convolutions and transposed convolutions."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from wengert.base.dtypes import dtype
from wengert.base.elsewhere import elsewhere
from wengert.nn import functional as F
from wengert.nn import init
from wengert.nn.classes import classes_in
from wengert.nn.modules.making import Sizes, new_parameter, repeated
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter
from wengert.types import Device, Tensor

__all__ = classes_in(__name__)

__getattr__ = elsewhere(__name__)  # PyTorch has more here

_PADDINGS = ("same", "valid")
_MODES = ("zeros", "reflect", "replicate", "circular")


def _check_padding(padding: Any, stride: tuple[int, ...], padding_mode: str) -> None:
    if isinstance(padding, str):
        if padding not in _PADDINGS:
            raise ValueError(
                f"Invalid padding string {padding!r}, should be one of {set(_PADDINGS)}"
            )
        if padding == "same" and any(step != 1 for step in stride):
            raise ValueError(
                f"padding='same' is not supported for strided convolutions: the stride is {stride}"
            )
    if padding_mode not in _MODES:
        raise ValueError(
            f"padding_mode must be one of {set(_MODES)}, but got padding_mode='{padding_mode}'"
        )


class _ConvNd(Module):
    """The common base of convolutions: sizes, parameters and representation."""

    _dims: ClassVar[int]
    """The number of spatial dimensions."""
    _function: ClassVar[str]
    """The name of the function in ``nn.functional``."""

    # None with bias=False, but typed as a tensor, so that programs need no check
    weight: Parameter
    bias: Parameter

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError(f"groups must be a positive integer, not {groups}")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(
                    f"{name} must be divisible by groups, but {name}={channels} and groups={groups}"
                )
        _check_padding(padding, stride, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self.weight = new_parameter(self._weight_shape(), device, dtype)
        self.register_parameter(
            "bias", new_parameter((out_channels,), device, dtype) if bias else None
        )
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        ways = self.out_channels, self.in_channels
        outer, inner = reversed(ways) if self.transposed else ways
        return (outer, inner // self.groups, *self.kernel_size)

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight.shape[1:])
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        shown = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        defaults: dict[str, Any] = {
            "padding": (0,) * self._dims,
            "dilation": (1,) * self._dims,
            "output_padding": (0,) * self._dims,
            "groups": 1,
        }
        for name, default in defaults.items():
            if (value := getattr(self, name)) != default:
                shown += f", {name}={value}"
        bias: Any = self.bias
        if bias is None:
            shown += ", bias=False"
        return shown + (
            f", padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else ""
        )


# -- convolutions ---------------------------------------------------------------------------------


class _Conv(_ConvNd):
    """The constructor and the forward pass of convolutions."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: str | Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        dims = self._dims
        size, step, apart = (repeated(one, dims) for one in (kernel_size, stride, dilation))
        around = padding if isinstance(padding, str) else repeated(padding, dims)
        rest = groups, bias, padding_mode, device, dtype
        none = (0,) * dims
        super().__init__(in_channels, out_channels, size, step, around, apart, False, none, *rest)

    def _margins(self) -> list[int]:
        """Return the padding for `functional.pad`: a pair per dimension, last dimension first."""
        margins = []
        for i in reversed(range(self._dims)):
            if not isinstance(self.padding, str):
                margins += [self.padding[i]] * 2
                continue
            total = self.dilation[i] * (self.kernel_size[i] - 1) if self.padding == "same" else 0
            margins += [total // 2, total - total // 2]
        return margins

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        function = getattr(F, self._function)
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._margins(), mode=self.padding_mode), 0
        return function(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        """Return the convolution of the input, batched or not, with the layer's kernels."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """A convolution along one dimension: `functional.conv1d` with its own parameters.

    Parameters
    ----------
    in_channels, out_channels : int. The sizes of the channel dimension of the input and of the
        output.
    kernel_size, stride, dilation : int or tuple of int. The size of the kernels, the step from one
        position to the next, and the distance between kernel elements.
    padding : int, tuple of int, "same" or "valid". The number of elements added on both sides;
        "same" keeps the input's size.
    groups : int. The number of groups of channels that are convolved independently.
    bias : bool. Whether to add a bias.
    padding_mode : {"zeros", "reflect", "replicate", "circular"}. The values of the padding.
    %(of_the_parameters)s

    Attributes
    ----------
    weight : Parameter. Of shape (out_channels, in_channels // groups, *kernel_size), initially
        uniform between ``-1 / sqrt(n)`` and ``1 / sqrt(n)`` for kernels of n elements.
    bias : Parameter or None. Of shape (out_channels,), from the same distribution.

    Raises
    ------
    ValueError: If the channels cannot be divided into the groups, or the padding is unknown.

    Examples
    --------
    >>> layer = wg.nn.Conv1d(4, 6, 3, stride=2)
    >>> layer
    Conv1d(4, 6, kernel_size=(3,), stride=(2,))
    >>> layer(wg.ones(5, 4, 9)).shape
    torch.Size([5, 6, 4])
    """

    _dims, _function = 1, "conv1d"


class Conv2d(_Conv):
    """A convolution of images: `functional.conv2d` with parameters; arguments as for `Conv1d`.

    Examples
    --------
    >>> layer = wg.nn.Conv2d(4, 6, 3, padding="same")
    >>> layer(wg.ones(5, 4, 8, 9)).shape
    torch.Size([5, 6, 8, 9])
    """

    _dims, _function = 2, "conv2d"


class Conv3d(_Conv):
    """A convolution of volumes: `functional.conv3d` with parameters; arguments as for `Conv1d`.

    Examples
    --------
    >>> layer = wg.nn.Conv3d(4, 6, (3, 1, 1), padding=(1, 0, 0))
    >>> layer(wg.ones(5, 4, 7, 8, 9)).shape
    torch.Size([5, 6, 7, 8, 9])
    """

    _dims, _function = 3, "conv3d"


# -- transposed convolutions ----------------------------------------------------------------------


class _ConvTransposeNd(_ConvNd):
    """The constructor and the forward pass of transposed convolutions."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {type(self).__name__}, not '
                f"{padding_mode!r}"
            )
        dims = self._dims
        given = kernel_size, stride, padding, dilation, output_padding
        size, step, around, apart, margin = (repeated(one, dims) for one in given)
        rest = groups, bias, padding_mode, device, dtype
        super().__init__(in_channels, out_channels, size, step, around, apart, True, margin, *rest)

    def _output_padding(
        self: Any,
        input: Any,
        output_size: Sequence[int] | None,
        stride: Sequence[int],
        padding: Any,
        kernel_size: Sequence[int],
        num_spatial_dims: int,
        dilation: Sequence[int] | None = None,
    ) -> Sequence[int]:
        """Return the output padding for which the output has the requested size."""
        if output_size is None:
            return self.output_padding
        dims, others = num_spatial_dims, input.dim() - num_spatial_dims
        asked = list(output_size)
        if len(asked) == others + dims:
            asked = asked[others:]
        if len(asked) != dims:
            raise ValueError(
                f"ConvTranspose{dims}D: for {input.dim()}D input, output_size must have {dims} or "
                f"{others + dims} elements (got {len(asked)})"
            )
        dilation = (1,) * dims if dilation is None else dilation
        sizes = zip(input.shape[others:], stride, padding, dilation, kernel_size, strict=True)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in sizes]
        most = [size + step - 1 for size, step in zip(least, stride, strict=True)]
        if any(not a <= size <= b for a, size, b in zip(least, asked, most, strict=True)):
            raise ValueError(
                f"requested an output size of {asked}, but valid sizes range from {least} to "
                f"{most} (for an input of {input.shape[others:]})"
            )
        return [size - a for a, size in zip(least, asked, strict=True)]

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Return the transposed convolution of the input, batched or not, with the layer's kernels.

        Where the stride allows several sizes of the output, `output_size` chooses one.
        """
        stride, padding, sizes = self.stride, self.padding, self.kernel_size
        more = self._output_padding(
            input, output_size, stride, padding, sizes, self._dims, self.dilation
        )
        return getattr(F, self._function)(
            input,
            self.weight,
            self.bias,
            stride,
            padding,
            more,
            self.groups,
            self.dilation,
        )


class ConvTranspose1d(_ConvTransposeNd):
    """`functional.conv_transpose1d` with its own parameters: the transpose of `Conv1d`.

    Parameters
    ----------
    in_channels, out_channels : int. The sizes of the channel dimension of the input and of the
        output.
    kernel_size, stride, padding, dilation : int or tuple of int. As for the convolution that this
        one transposes.
    output_padding : int or tuple of int. The size added to one side of the output.
    groups : int. The number of groups of channels that are convolved independently.
    bias : bool. Whether to add a bias.
    padding_mode : {"zeros"}. Only zeros are supported.
    %(of_the_parameters)s

    Raises
    ------
    ValueError: If the channels cannot be divided into the groups, or the padding mode is unknown.

    Examples
    --------
    >>> layer = wg.nn.ConvTranspose1d(6, 4, 3, stride=2)
    >>> layer(wg.ones(5, 6, 4)).shape
    torch.Size([5, 4, 9])
    >>> layer(wg.ones(5, 6, 4), output_size=[10]).shape
    torch.Size([5, 4, 10])
    """

    _dims, _function = 1, "conv_transpose1d"


class ConvTranspose2d(_ConvTransposeNd):
    """`functional.conv_transpose2d` with parameters; arguments as for `ConvTranspose1d`.

    Examples
    --------
    >>> wg.nn.ConvTranspose2d(6, 4, 3, stride=2, padding=1)(wg.ones(5, 6, 4, 4)).shape
    torch.Size([5, 4, 7, 7])
    """

    _dims, _function = 2, "conv_transpose2d"


class ConvTranspose3d(_ConvTransposeNd):
    """`functional.conv_transpose3d` with parameters; arguments as for `ConvTranspose1d`.

    Examples
    --------
    >>> wg.nn.ConvTranspose3d(6, 4, 2)(wg.ones(5, 6, 3, 3, 3)).shape
    torch.Size([5, 4, 4, 4, 4])
    """

    _dims, _function = 3, "conv_transpose3d"
