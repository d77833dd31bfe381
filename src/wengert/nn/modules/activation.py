"""Layer 8 · nn: smooth activations and shrinking ones."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from wengert.base.elsewhere import elsewhere
from wengert.nn import functional as F
from wengert.nn.classes import classes_in
from wengert.nn.modules import rectifiers, softmax
from wengert.nn.modules.module import Module
from wengert.types import Tensor

__all__ = classes_in(__name__)

__getattr__ = elsewhere(__name__)  # PyTorch has more here


class Sigmoid(Module):
    """`functional.sigmoid` as a module.

    Examples
    --------
    >>> wg.nn.Sigmoid()(wg.tensor([0.0, 1.0]))
    tensor([0.5000, 0.7311])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class Tanh(Module):
    """`functional.tanh` as a module.

    Examples
    --------
    >>> wg.nn.Tanh()(wg.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class LogSigmoid(Module):
    """`functional.logsigmoid` as a module.

    Examples
    --------
    >>> wg.nn.LogSigmoid()(wg.tensor([-1000.0, 2.0]))
    tensor([-1.0000e+03, -1.2693e-01])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softsign(Module):
    """`functional.softsign` as a module.

    Examples
    --------
    >>> wg.nn.Softsign()(wg.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    """`functional.tanhshrink` as a module.

    Examples
    --------
    >>> wg.nn.Tanhshrink()(wg.tensor([-1.0, 2.0]))
    tensor([-0.2384,  1.0360])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class Softplus(Module):
    """`functional.softplus` as a module.

    Parameters
    ----------
    beta : float. The steepness.
    threshold : float. Where ``beta * input`` exceeds it, the result is the input itself.

    Examples
    --------
    >>> wg.nn.Softplus()(wg.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """

    _shows = "beta= threshold="

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class _Shrinks(Module):
    """The option of `Hardshrink` and `Softshrink`."""

    _shows = "lambd"

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd


class Hardshrink(_Shrinks):
    """`functional.hardshrink` as a module.

    Parameters
    ----------
    lambd : float. The threshold.

    Examples
    --------
    >>> wg.nn.Hardshrink()(wg.tensor([-1.0, 0.3, 2.0]))
    tensor([-1.,  0.,  2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrinks):
    """`functional.softshrink` as a module; arguments as for `Hardshrink`.

    Examples
    --------
    >>> wg.nn.Softshrink()(wg.tensor([-1.0, 0.3, 2.0]))
    tensor([-0.5000,  0.0000,  1.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


for _file in rectifiers, softmax:  # programs look the activations up in `vars()` of this module
    globals().update({name: vars(_file)[name] for name in classes_in(_file.__name__)})
