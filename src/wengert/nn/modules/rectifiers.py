"""Layer 8 · nn: rectifiers: activations that pass positive values."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from wengert.base.dtypes import dtype
from wengert.nn import functional as F
from wengert.nn import init as initial
from wengert.nn.modules.making import new_parameter
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter
from wengert.tape.sites import warn
from wengert.types import Device, Tensor

# -- with no option but `inplace` -----------------------------------------------------------------


class _InPlace(Module):
    """The common base of activations whose only option is `inplace`."""

    _shows = "inplace?"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class ReLU(_InPlace):
    """`functional.relu` as a module.

    Parameters
    ----------
    %(inplace)s

    Examples
    --------
    >>> wg.nn.ReLU()(wg.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class SiLU(_InPlace):
    """`functional.silu` as a module; arguments as for `ReLU`.

    Examples
    --------
    >>> wg.nn.SiLU()(wg.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(_InPlace):
    """`functional.mish` as a module; arguments as for `ReLU`.

    Examples
    --------
    >>> wg.nn.Mish()(wg.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class SELU(_InPlace):
    """`functional.selu` as a module; arguments as for `ReLU`.

    Examples
    --------
    >>> wg.nn.SELU()(wg.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class Hardsigmoid(_InPlace):
    """`functional.hardsigmoid` as a module; arguments as for `ReLU`.

    Examples
    --------
    >>> wg.nn.Hardsigmoid()(wg.tensor([-4.0, 0.0, 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """

    _shows = ""

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Hardswish(_InPlace):
    """`functional.hardswish` as a module; arguments as for `ReLU`.

    Examples
    --------
    >>> wg.nn.Hardswish()(wg.tensor([-4.0, 1.0, 4.0]))
    tensor([-0.0000, 0.6667, 4.0000])
    """

    _shows = ""

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


# -- with options ---------------------------------------------------------------------------------


class Hardtanh(Module):
    """`functional.hardtanh` as a module.

    Parameters
    ----------
    min_val, max_val : float. The bounds.
    min_value, max_value : float, optional. Deprecated names of the bounds.

    Raises
    ------
    AssertionError: If the upper bound is not above the lower one.

    Warns
    -----
    FutureWarning: If a deprecated name is used.

    Examples
    --------
    >>> wg.nn.Hardtanh()(wg.tensor([-2.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """

    _shows = "min_val= max_val= inplace?"

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        for old, new, value in (
            ("min_value", "min_val", min_value),
            ("max_value", "max_val", max_value),
        ):
            if value is not None:
                warn(
                    f"keyword argument `{old}` is deprecated and renamed to `{new}`",
                    FutureWarning,
                )
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})"
            )

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """`functional.relu6` as a module.

    Parameters
    ----------
    %(inplace)s

    Examples
    --------
    >>> wg.nn.ReLU6()(wg.tensor([-1.0, 3.0, 8.0]))
    tensor([0., 3., 6.])
    """

    _shows = "inplace?"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class Threshold(Module):
    """`functional.threshold` as a module.

    Parameters
    ----------
    threshold, value : float. The threshold, and the value of elements that do not exceed it.

    Examples
    --------
    >>> wg.nn.Threshold(0.5, 9.0)(wg.tensor([-1.0, 2.0]))
    tensor([9., 2.])
    """

    _shows = "threshold= value= inplace?"

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


class LeakyReLU(Module):
    """`functional.leaky_relu` as a module.

    Parameters
    ----------
    negative_slope : float. The slope below zero.

    Examples
    --------
    >>> wg.nn.LeakyReLU(0.1)(wg.tensor([-1.0, 2.0]))
    tensor([-0.1000,  2.0000])
    """

    _shows = "negative_slope= inplace?"

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class RReLU(Module):
    """`functional.rrelu` as a module, with random slopes in training.

    Parameters
    ----------
    lower, upper : float. The range of the slopes; in evaluation, the slope is its midpoint.

    Examples
    --------
    >>> wg.nn.RReLU().eval()(wg.tensor([-48.0, 2.0]))
    tensor([-11.,   2.])
    """

    _shows = "lower= upper= inplace?"

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class PReLU(Module):
    """`functional.prelu` with learned slopes.

    Parameters
    ----------
    num_parameters : int. The number of slopes: one, or one for each channel.
    init : float. The initial value of the slopes.
    device, dtype : optional. The device and dtype of the slopes.

    Examples
    --------
    >>> wg.nn.PReLU()(wg.tensor([-1.0, 2.0])).detach()
    tensor([-0.2500,  2.0000])
    """

    _shows = "num_parameters="

    weight: Parameter

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = new_parameter((num_parameters,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to their initial value."""
        initial.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)


class _WithAlpha(Module):
    """The options of `ELU` and `CELU`."""

    _shows = "alpha= inplace?"

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace


class ELU(_WithAlpha):
    """`functional.elu` as a module.

    Parameters
    ----------
    %(lower_limit, inplace)s

    Examples
    --------
    >>> wg.nn.ELU()(wg.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class CELU(_WithAlpha):
    """`functional.celu` as a module; arguments as for `ELU`.

    Examples
    --------
    >>> wg.nn.CELU(2.0)(wg.tensor([-1.0, 2.0]))
    tensor([-0.7869,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class GELU(Module):
    """`functional.gelu` as a module.

    Parameters
    ----------
    approximate : {"none", "tanh"}. Whether to approximate the normal distribution by tanh.

    Examples
    --------
    >>> wg.nn.GELU()(wg.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Return the text that `repr` shows: the approximation."""
        return f"approximate={self.approximate!r}"
