"""Layer 8 · nn: affine and bilinear layers."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

import math
from typing import Any

from wengert.base.dtypes import dtype
from wengert.base.elsewhere import elsewhere
from wengert.nn import functional as F
from wengert.nn import init
from wengert.nn.modules.making import new_parameter
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter
from wengert.types import Device, Tensor

__all__ = ["Bilinear", "Identity", "Linear", "NonDynamicallyQuantizableLinear"]

__getattr__ = elsewhere(__name__)  # PyTorch has more here


class Identity(Module):
    """The identity; arguments of the constructor are ignored.

    Examples
    --------
    >>> wg.nn.Identity(54, unused=True)(wg.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """An affine layer, ``input @ weight.T + bias``, with its own parameters.

    Parameters
    ----------
    in_features, out_features : int. The sizes of the last dimension of the input and of the output.
    %(bias_and_dtype)s

    Attributes
    ----------
    weight : Parameter. Of shape (out_features, in_features), initially uniform between
        ``-1 / sqrt(in_features)`` and ``1 / sqrt(in_features)``.
    bias : Parameter or None. Of shape (out_features,), from the same distribution.

    Examples
    --------
    >>> layer = wg.nn.Linear(3, 2)
    >>> layer
    Linear(in_features=3, out_features=2, bias=True)
    >>> layer(wg.ones(5, 3)).shape
    torch.Size([5, 2])
    """

    _shows = "in_features= out_features= bias="

    weight: Parameter
    bias: Parameter

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = new_parameter((out_features, in_features), device, dtype)
        self.register_parameter(
            "bias", new_parameter((out_features,), device, dtype) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer to the last dimension of the input."""
        return F.linear(input, self.weight, self.bias)


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear` under the name that PyTorch prints for the output layer of attention.

    Examples
    --------
    >>> wg.nn.modules.linear.NonDynamicallyQuantizableLinear(3, 2)
    NonDynamicallyQuantizableLinear(in_features=3, out_features=2, bias=True)
    """


class Bilinear(Module):
    """`functional.bilinear` of two inputs, with its own parameters.

    Parameters
    ----------
    in1_features, in2_features, out_features : int. The sizes of the last dimension of the inputs
        and of the output.
    %(bias_and_dtype)s

    Raises
    ------
    ValueError: If `in1_features` is not positive.

    Examples
    --------
    >>> layer = wg.nn.Bilinear(2, 3, 4)
    >>> layer(wg.ones(5, 2), wg.ones(5, 3)).shape
    torch.Size([5, 4])
    """

    _shows = "in1_features= in2_features= out_features= bias="

    weight: Parameter
    bias: Parameter

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = new_parameter((out_features, in1_features, in2_features), device, dtype)
        self.register_parameter(
            "bias", new_parameter((out_features,), device, dtype) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters again."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Apply the layer to the last dimensions of two inputs."""
        return F.bilinear(input1, input2, self.weight, self.bias)
