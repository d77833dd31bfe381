"""Layer 8 · nn: losses between predictions and targets: distances and likelihoods.

``size_average`` and ``reduce`` are PyTorch's deprecated forms of ``reduction`` (see NOTE
[reduction]).
"""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.nn import functional as F
from wengert.nn.classes import classes_in
from wengert.nn.modules.making import WithOptions
from wengert.nn.modules.module import Module
from wengert.ops.losses import reduction_of
from wengert.types import Tensor

__all__ = classes_in(__name__)

__getattr__ = elsewhere(__name__)  # PyTorch has more here


class _Loss(WithOptions, Module):
    """The base of all losses, with a reduction."""

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        given: Any = (size_average, reduce)
        if any(isinstance(one, Tensor) for one in given):
            raise RuntimeError(
                "Boolean value of Tensor with more than one value is ambiguous: "
                f"{type(self).__name__}() takes settings. Call what it returns with the tensors: "
                f"{type(self).__name__}()(input, target)"
            )
        if size_average is not None or reduce is not None:
            reduction = reduction_of(reduction, size_average, reduce)
        self.reduction = reduction

    def _loss(self, function: Callable[..., Tensor], *inputs: Any) -> Tensor:
        return function(*inputs, reduction=self.reduction, **self._given())


class _WeightedLoss(_Loss):
    """A loss whose weights are a buffer."""

    _options: tuple[str, ...] = ("weight",)
    weight: Tensor | None

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


# -- distances ------------------------------------------------------------------------------------


class L1Loss(_Loss):
    """`functional.l1_loss`, the absolute differences, as a module.

    Parameters
    ----------
    %(loss_reduction)s

    Examples
    --------
    >>> wg.nn.L1Loss()(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 4.0]))
    tensor(1.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(F.l1_loss, input, target)


class MSELoss(_Loss):
    """`functional.mse_loss`, the squared differences, as a module; arguments as for `L1Loss`.

    Examples
    --------
    >>> wg.nn.MSELoss()(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 4.0]))
    tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(F.mse_loss, input, target)


class SmoothL1Loss(_Loss):
    """`functional.smooth_l1_loss` as a module; arguments as for `L1Loss`, and one more.

    Parameters
    ----------
    beta : float. The difference at which the loss changes from squared to absolute.

    Examples
    --------
    >>> wg.nn.SmoothL1Loss()(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 4.0]))
    tensor(0.7500)
    """

    _options = ("beta",)

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(F.smooth_l1_loss, input, target)


class HuberLoss(_Loss):
    """`functional.huber_loss` as a module.

    Parameters
    ----------
    %(single_reduction)s
    delta : float. The difference at which the loss changes from squared to absolute.

    Raises
    ------
    TypeError: If `delta` is not a number.

    Examples
    --------
    >>> wg.nn.HuberLoss(delta=0.5)(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 4.0]))
    tensor(0.4375)
    """

    _options = ("delta",)

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, float | int):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(F.huber_loss, input, target)


# -- classes --------------------------------------------------------------------------------------


class NLLLoss(_WeightedLoss):
    """`functional.nll_loss`, the negative log-probability of the class, as a module.

    Parameters
    ----------
    %(class_weight)s
    size_average, reduce : bool, optional. Deprecated forms of `reduction`.
    ignore_index : int. The target value to ignore.
    %(single_reduction)s

    Examples
    --------
    >>> wg.nn.NLLLoss()(wg.tensor([[-0.5, -1.0], [-2.0, -0.1]]), wg.tensor([0, 1]))
    tensor(0.3000)
    """

    _options = ("weight", "ignore_index")

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(F.nll_loss, input, target)


class CrossEntropyLoss(_WeightedLoss):
    """`functional.cross_entropy` of logits as a module; arguments as for `NLLLoss`, and one more.

    Parameters
    ----------
    label_smoothing : float. The fraction of the target that is spread over all classes.

    Examples
    --------
    >>> wg.nn.CrossEntropyLoss()(wg.tensor([[1.0, 2.0, 3.0]]), wg.tensor([2]))
    tensor(0.4076)
    """

    _options = ("weight", "ignore_index", "label_smoothing")

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits, given the classes or their probabilities."""
        return self._loss(F.cross_entropy, input, target)


class BCELoss(_WeightedLoss):
    """`functional.binary_cross_entropy` of probabilities as a module.

    Parameters
    ----------
    weight : Tensor, optional. A weight for each element.
    %(loss_reduction)s

    Examples
    --------
    >>> wg.nn.BCELoss()(wg.tensor([0.5, 0.9]), wg.tensor([0.0, 1.0]))
    tensor(0.3993)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(F.binary_cross_entropy, input, target)


class BCEWithLogitsLoss(_WeightedLoss):
    """`functional.binary_cross_entropy_with_logits` as a module; arguments as for `BCELoss`.

    Parameters
    ----------
    pos_weight : Tensor, optional. The weight of positive targets.

    Examples
    --------
    >>> wg.nn.BCEWithLogitsLoss()(wg.tensor([0.0, 2.0]), wg.tensor([0.0, 1.0]))
    tensor(0.4100)
    """

    pos_weight: Tensor | None
    _options = ("weight", "pos_weight")

    def __init__(
        self,
        weight: Any = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Any = None,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits, given the target."""
        return self._loss(F.binary_cross_entropy_with_logits, input, target)


# -- distributions --------------------------------------------------------------------------------


class KLDivLoss(_Loss):
    """`functional.kl_div` of log-probabilities; arguments as for `L1Loss`, and one more.

    Parameters
    ----------
    log_target : bool. Whether the target is given as log-probabilities, too.

    Examples
    --------
    >>> p = wg.tensor([[0.25, 0.75]])
    >>> wg.nn.KLDivLoss(reduction="sum")(wg.tensor([[0.5, 0.5]]).log(), p)
    tensor(0.1308)
    """

    _options = ("log_target",)

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._loss(F.kl_div, input, target)


class PoissonNLLLoss(_Loss):
    """`functional.poisson_nll_loss` as a module.

    Parameters
    ----------
    log_input : bool. Whether the input is the logarithm of the mean.
    full : bool. Whether to add Stirling's approximation of the constant.
    size_average, reduce : bool, optional. Deprecated forms of `reduction`.
    eps : float. Keeps logarithms finite.
    %(single_reduction)s

    Examples
    --------
    >>> wg.nn.PoissonNLLLoss()(wg.tensor([0.0, 1.0]), wg.tensor([1.0, 2.0]))
    tensor(0.8591)
    """

    _options = ("log_input", "full", "eps")

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return self._loss(F.poisson_nll_loss, log_input, target)


class GaussianNLLLoss(_Loss):
    """`functional.gaussian_nll_loss` as a module.

    Parameters
    ----------
    full : bool. Whether to add the constant term.
    eps : float. The lower bound of the variance.
    %(single_reduction)s

    Examples
    --------
    >>> loss = wg.nn.GaussianNLLLoss()
    >>> loss(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 4.0]), wg.tensor([1.0, 4.0]))
    tensor(0.5966)
    """

    _options = ("full", "eps")

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor) -> Tensor:
        """Return the loss of a predicted mean and variance, given the target."""
        return self._loss(F.gaussian_nll_loss, input, target, var)


class CTCLoss(_Loss):
    """`functional.ctc_loss`, for sequences without an alignment, as a module.

    Parameters
    ----------
    blank : int. The class of the blank label.
    %(single_reduction)s
    zero_infinity : bool. Whether the infinite loss of a target that is too long becomes 0.

    Examples
    --------
    >>> steps = wg.zeros(4, 1, 3).log_softmax(2)
    >>> wg.nn.CTCLoss()(steps, wg.tensor([[1, 2]]), wg.tensor([4]), wg.tensor([2]))
    tensor(0.8432)
    """

    _options = ("blank", "zero_infinity")

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        """Return the loss of the log-probabilities at each step, given the sequences of labels."""
        return self._loss(F.ctc_loss, log_probs, targets, input_lengths, target_lengths)
