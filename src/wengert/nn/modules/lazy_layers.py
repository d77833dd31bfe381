"""Layer 8 · nn: layers that take the size of their input from their first input."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from typing import Any, ClassVar

from wengert.base.dtypes import dtype
from wengert.nn.lazy import UninitializedBuffer, UninitializedParameter
from wengert.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from wengert.nn.modules.conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from wengert.nn.modules.instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from wengert.nn.modules.lazy import LazyModuleMixin
from wengert.nn.modules.linear import Linear
from wengert.nn.modules.making import Sizes
from wengert.ops.create import tensor
from wengert.tape.modes import no_grad
from wengert.types import Device


class _Lazy(LazyModuleMixin):
    """The common base of lazy layers: no values are drawn before the shapes are known."""

    _size: ClassVar[str]
    """The attribute that is set from the first input; 0 before."""

    def reset_parameters(self) -> None:
        """Draw the parameters again, if their shapes are known."""
        if getattr(self, self._size) and not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]

    def _make_lazy(self, names: tuple[str, ...], device: Any, dtype: Any) -> None:
        for name in names:
            setattr(self, name, UninitializedParameter(device=device, dtype=dtype))


# -- affine ---------------------------------------------------------------------------------------


class LazyLinear(_Lazy, Linear):
    """A `Linear` that takes `in_features` from its first input.

    Parameters
    ----------
    out_features, bias, device, dtype: As for `Linear`, which it becomes.

    Examples
    --------
    >>> layer = wg.nn.LazyLinear(2)
    >>> layer
    LazyLinear(in_features=0, out_features=2, bias=True)
    >>> layer(wg.ones(5, 3)).shape
    torch.Size([5, 2])
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    """

    cls_to_become = Linear
    _size = "in_features"

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__(0, 0, False, device, dtype)
        self.out_features = out_features
        self._make_lazy(("weight", "bias") if bias else ("weight",), device, dtype)

    def initialize_parameters(self: Any, input: Any) -> None:
        size = input.shape[-1]
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = size
                self.weight.materialize((self.out_features, size), input.device)
                if self.bias is not None:
                    self.bias.materialize((self.out_features,), input.device)
                self.reset_parameters()
        if self.in_features == 0:
            # a loaded state has set the shapes
            if size != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {size} is not equal to in_features from "
                    f"self.weight: {self.weight.shape[-1]}"
                )
            self.in_features = size


# -- convolutions ---------------------------------------------------------------------------------


class _LazyConvolution(_Lazy):
    _size = "in_channels"

    def initialize_parameters(self: Any, input: Any, *args: Any, **kwargs: Any) -> None:
        if not self.has_uninitialized_params():
            return
        dims = self._dims
        if input.dim() not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        channels = input.shape[-dims - 1]
        if channels % self.groups:
            raise ValueError(
                f"in_channels must be divisible by groups, but in_channels={channels} and "
                f"groups={self.groups}"
            )
        self.in_channels = channels
        self.weight.materialize(self._weight_shape(), input.device)
        if self.bias is not None:
            self.bias.materialize((self.out_channels,), input.device)
        self.reset_parameters()


class _LazyConv(_LazyConvolution):
    def __init__(
        self: Any,
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
        options = (kernel_size, stride, padding, dilation, groups, False, padding_mode)
        super().__init__(0, 0, *options, device, dtype)
        self.out_channels = out_channels
        self._make_lazy(("weight", "bias") if bias else ("weight",), device, dtype)


class _LazyConvTranspose(_LazyConvolution):
    def __init__(
        self: Any,
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
        options = (kernel_size, stride, padding, output_padding, groups, False)
        super().__init__(0, 0, *options, dilation, padding_mode, device, dtype)
        self.out_channels = out_channels
        self._make_lazy(("weight", "bias") if bias else ("weight",), device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A `Conv1d` that takes `in_channels` from its first input; see there for the rest.

    Examples
    --------
    >>> layer = wg.nn.LazyConv1d(6, 3)
    >>> layer(wg.ones(5, 4, 9)).shape
    torch.Size([5, 6, 7])
    >>> layer
    Conv1d(4, 6, kernel_size=(3,), stride=(1,))
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A `Conv2d` that takes `in_channels` from its first input; see there for the rest.

    Examples
    --------
    >>> wg.nn.LazyConv2d(6, 3)(wg.ones(5, 4, 9, 9)).shape
    torch.Size([5, 6, 7, 7])
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A `Conv3d` that takes `in_channels` from its first input; see there for the rest.

    Examples
    --------
    >>> wg.nn.LazyConv3d(6, 3)(wg.ones(5, 4, 5, 5, 5)).shape
    torch.Size([5, 6, 3, 3, 3])
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A `ConvTranspose1d` that takes `in_channels` from its first input; see there for the rest.

    Examples
    --------
    >>> wg.nn.LazyConvTranspose1d(4, 3)(wg.ones(5, 6, 7)).shape
    torch.Size([5, 4, 9])
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A `ConvTranspose2d` that takes `in_channels` from its first input; see there for the rest.

    Examples
    --------
    >>> wg.nn.LazyConvTranspose2d(4, 3)(wg.ones(5, 6, 7, 7)).shape
    torch.Size([5, 4, 9, 9])
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A `ConvTranspose3d` that takes `in_channels` from its first input; see there for the rest.

    Examples
    --------
    >>> wg.nn.LazyConvTranspose3d(4, 2)(wg.ones(5, 6, 3, 3, 3)).shape
    torch.Size([5, 4, 4, 4, 4])
    """

    cls_to_become = ConvTranspose3d


# -- norms ----------------------------------------------------------------------------------------


class _LazyNorm(_Lazy):
    _size = "num_features"

    def __init__(
        self: Any,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device = None,
        dtype: dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = tensor(0, device=device)
        names = ("weight", "bias") if bias else ("weight",)
        self._make_lazy(names if affine else (), device, dtype)

    def initialize_parameters(self: Any, input: Any) -> None:
        """Give parameters and buffers the shapes that fit the input."""
        if self.has_uninitialized_params():
            self._check_input_dim(input)
            self.num_features = input.shape[1]
            for name in ("weight", "bias", "running_mean", "running_var"):
                held = getattr(self, name)
                if held is not None:
                    held.materialize((self.num_features,), input.device)
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """A `BatchNorm1d` that takes `num_features` from its first input; other arguments are the same.

    Examples
    --------
    >>> layer = wg.nn.LazyBatchNorm1d()
    >>> layer(wg.randn(5, 3)).shape
    torch.Size([5, 3])
    >>> layer
    BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """A `BatchNorm2d` that takes `num_features` from its first input; other arguments are the same.

    Examples
    --------
    >>> wg.nn.LazyBatchNorm2d()(wg.randn(5, 3, 2, 2)).shape
    torch.Size([5, 3, 2, 2])
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """A `BatchNorm3d` that takes `num_features` from its first input; other arguments are the same.

    Examples
    --------
    >>> wg.nn.LazyBatchNorm3d()(wg.randn(5, 3, 2, 2, 2)).shape
    torch.Size([5, 3, 2, 2, 2])
    """

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """An `InstanceNorm1d` that takes `num_features` from its first input, which is batched.

    Other arguments are the same, but scale, shift and running statistics are on by default.

    Examples
    --------
    >>> wg.nn.LazyInstanceNorm1d()(wg.randn(5, 3, 4)).shape
    torch.Size([5, 3, 4])
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """An `InstanceNorm2d` that takes `num_features` from its first input, which is batched.

    Other arguments are as for `LazyInstanceNorm1d`.

    Examples
    --------
    >>> wg.nn.LazyInstanceNorm2d()(wg.randn(5, 3, 4, 4)).shape
    torch.Size([5, 3, 4, 4])
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """An `InstanceNorm3d` that takes `num_features` from its first input, which is batched.

    Other arguments are as for `LazyInstanceNorm1d`.

    Examples
    --------
    >>> wg.nn.LazyInstanceNorm3d()(wg.randn(5, 3, 2, 2, 2)).shape
    torch.Size([5, 3, 2, 2, 2])
    """

    cls_to_become = InstanceNorm3d
