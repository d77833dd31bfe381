"""Layer 8 · nn: normalisation over layers, groups of channels, and neighbouring channels."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from wengert.base.dtypes import dtype
from wengert.nn import functional as F
from wengert.nn.modules.making import Sizes, new_parameter, ones_and_zeros
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter
from wengert.types import Device, Tensor


def _shape(normalized_shape: Any) -> tuple[int, ...]:
    if isinstance(normalized_shape, Iterable):
        return tuple(normalized_shape)
    return (operator.index(normalized_shape),)


class LayerNorm(Module):
    """`functional.layer_norm` with its own scale and shift.

    Parameters
    ----------
    normalized_shape : int or sequence of int. The sizes of the last dimensions, which share a mean
        and a variance.
    %(eps_of_quotients)s
    elementwise_affine : bool. Whether each element has a learned scale and shift.
    bias : bool. Whether there is a shift in addition to the scale.
    %(of_the_parameters)s

    Attributes
    ----------
    weight, bias : Parameter or None. The scale, initially 1, and the shift, initially 0; of shape
        `normalized_shape`.

    Examples
    --------
    >>> layer = wg.nn.LayerNorm(3)
    >>> layer
    LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)
    >>> layer(wg.tensor([[1.0, 2.0, 3.0]])).detach()
    tensor([[-1.2247,  0.0000,  1.2247]])
    """

    _shows = "normalized_shape eps= elementwise_affine= bias="

    weight: Parameter
    bias: Parameter

    def __init__(
        self,
        normalized_shape: Sizes | list[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        wants = {"weight": elementwise_affine, "bias": elementwise_affine and bias}
        for name, wanted in wants.items():
            self.register_parameter(name, new_parameter(shape, device, dtype) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scale to 1 and the shift to 0."""
        ones_and_zeros(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """`functional.rms_norm` with its own scale.

    Parameters
    ----------
    normalized_shape : int or sequence of int. The sizes of the last dimensions, which share a mean.
    eps : float, optional. Keeps quotients finite; default: the machine epsilon of the input's
        dtype.
    elementwise_affine : bool. Whether each element has a learned scale.
    device, dtype : optional. The device and dtype of the parameter.

    Examples
    --------
    >>> wg.nn.RMSNorm(2)(wg.tensor([[3.0, 4.0]])).detach()
    tensor([[0.8485, 1.1314]])
    """

    _shows = "normalized_shape eps= elementwise_affine="

    weight: Parameter

    def __init__(
        self,
        normalized_shape: Sizes | list[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter(
            "weight", new_parameter(shape, device, dtype) if elementwise_affine else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scale to 1."""
        ones_and_zeros(self.weight, None)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)


class GroupNorm(Module):
    """`functional.group_norm` with its own scale and shift.

    Parameters
    ----------
    num_groups, num_channels : int. The number of groups, and of the channels divided into them.
    %(eps_of_quotients)s
    affine : bool. Whether each channel has a learned scale and shift.
    %(of_the_parameters)s
    bias : bool. Whether there is a shift in addition to the scale.

    Raises
    ------
    ValueError: If the channels cannot be divided into the groups.

    Examples
    --------
    >>> wg.nn.GroupNorm(2, 4)(wg.tensor([[1.0, 3.0, 0.0, 10.0]])).detach()
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """

    _shows = "num_groups num_channels eps= affine= bias="

    weight: Parameter
    bias: Parameter

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Device = None,
        dtype: dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_groups <= 0 or num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(
                name, new_parameter((num_channels,), device, dtype) if wanted else None
            )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scale to 1 and the shift to 0."""
        ones_and_zeros(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, normalised over groups of channels."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class LocalResponseNorm(Module):
    """`functional.local_response_norm` as a module.

    Parameters
    ----------
    size : int. The number of neighbouring channels.
    alpha, beta, k : float. The factor, the exponent and the added constant of the formula.

    Examples
    --------
    >>> wg.nn.LocalResponseNorm(2, alpha=1.0)(wg.ones(1, 3, 1))
    tensor([[[0.7378],
             [0.5946],
             [0.5946]]])
    """

    _shows = "size alpha= beta= k="

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, normalised across neighbouring channels."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)


class CrossMapLRN2d(LocalResponseNorm):
    """`LocalResponseNorm` of images, as Torch computed it.

    Windows have odd sizes, their sums are divided by `size`, and the first channel stays in every
    later sum.

    Examples
    --------
    >>> wg.nn.CrossMapLRN2d(2)
    CrossMapLRN2d(2, alpha=0.0001, beta=0.75, k=1.0)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, normalised across neighbouring channels."""
        square = input * input
        side = min((self.size + 1) // 2, input.shape[1])
        padded = F.pad(square, (0, 0, 0, 0, side - 1, side - 1))
        pooled = F.avg_pool3d(padded[:, None], (2 * side - 1, 1, 1), stride=1)[:, 0]
        first = F.pad(square[:, :1].expand_as(square[:, side:]), (0, 0, 0, 0, side, 0))
        sums = pooled * (2 * side - 1) + first
        return input * (sums * (self.alpha / self.size) + self.k) ** -self.beta
