"""Layer 8 · nn: losses with a margin."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.nn import functional as F
from wengert.nn.modules.distance import PairwiseDistance
from wengert.nn.modules.loss import _Loss, _WeightedLoss


def _check_margin(loss: object, margin: float) -> None:
    if margin <= 0:
        raise ValueError(
            f"{type(loss).__name__}: expected margin to be greater than 0, got {margin} instead"
        )


# -- one input ------------------------------------------------------------------------------------


class HingeEmbeddingLoss(_Loss):
    """`functional.hinge_embedding_loss` as a module.

    Parameters
    ----------
    margin : float. The distance from which on a dissimilar pair costs nothing.
    %(loss_reduction)s

    Examples
    --------
    >>> wg.nn.HingeEmbeddingLoss()(wg.tensor([0.5, 0.2]), wg.tensor([1.0, -1.0]))
    tensor(0.6500)
    """

    _options = ("margin",)

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Any, target: Any) -> Any:
        """Return the loss of distances, given which pairs are similar."""
        return self._loss(F.hinge_embedding_loss, input, target)


class SoftMarginLoss(_Loss):
    """`functional.soft_margin_loss` as a module.

    Parameters
    ----------
    %(loss_reduction)s

    Examples
    --------
    >>> wg.nn.SoftMarginLoss()(wg.tensor([0.5, 0.2]), wg.tensor([1.0, -1.0]))
    tensor(0.6361)
    """

    def forward(self, input: Any, target: Any) -> Any:
        return self._loss(F.soft_margin_loss, input, target)


class MultiLabelMarginLoss(_Loss):
    """`functional.multilabel_margin_loss` as a module; arguments as for `SoftMarginLoss`.

    Examples
    --------
    >>> wg.nn.MultiLabelMarginLoss()(wg.tensor([[0.1, 0.2, 0.8]]), wg.tensor([[2, -1, 0]]))
    tensor(0.2333)
    """

    def forward(self, input: Any, target: Any) -> Any:
        """Return the loss of a prediction, given the labels, which -1 ends."""
        return self._loss(F.multilabel_margin_loss, input, target)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """`functional.multilabel_soft_margin_loss` as a module.

    Parameters
    ----------
    %(class_weight, loss_reduction)s

    Examples
    --------
    >>> wg.nn.MultiLabelSoftMarginLoss()(wg.tensor([[0.1, 0.8]]), wg.tensor([[0.0, 1.0]]))
    tensor(0.5577)
    """

    def forward(self, input: Any, target: Any) -> Any:
        return self._loss(F.multilabel_soft_margin_loss, input, target)


class MultiMarginLoss(_WeightedLoss):
    """`functional.multi_margin_loss` as a module.

    Parameters
    ----------
    p : {1, 2}. The exponent of the differences.
    margin : float. The margin by which the right class should score higher.
    %(class_weight, loss_reduction)s

    Raises
    ------
    ValueError: If `p` is neither 1 nor 2, or the weights are not a vector.

    Examples
    --------
    >>> wg.nn.MultiMarginLoss()(wg.tensor([[0.1, 0.2, 0.8]]), wg.tensor([2]))
    tensor(0.2333)
    """

    _options = ("p", "margin", "weight")

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Any = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"only p == 1 and p == 2 supported, not {p}")
        if weight is not None and weight.dim() != 1:
            raise ValueError(
                "MultiMarginLoss: expected weight to be None or 1D tensor, got "
                f"{weight.dim()}D instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Any, target: Any) -> Any:
        """Return the loss of a prediction, given the classes."""
        return self._loss(F.multi_margin_loss, input, target)


# -- two inputs -----------------------------------------------------------------------------------


class _ComparisonLoss(_Loss):
    _options = ("margin",)

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MarginRankingLoss(_ComparisonLoss):
    """`functional.margin_ranking_loss` as a module.

    Parameters
    ----------
    margin : float. The margin by which one input should exceed the other.
    %(loss_reduction)s

    Examples
    --------
    >>> wg.nn.MarginRankingLoss(0.5)(wg.tensor([1.0]), wg.tensor([0.8]), wg.tensor([1.0]))
    tensor(0.3000)
    """

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        """Return the loss of two rankings; the target is 1 if the first should be higher, or -1."""
        return self._loss(F.margin_ranking_loss, input1, input2, target)


class CosineEmbeddingLoss(_ComparisonLoss):
    """`functional.cosine_embedding_loss` as a module; arguments as for `MarginRankingLoss`.

    Examples
    --------
    >>> x, y = wg.tensor([[1.0, 0.0]]), wg.tensor([[3.0, 4.0]])
    >>> wg.nn.CosineEmbeddingLoss()(x, y, wg.tensor([1.0]))
    tensor(0.4000)
    """

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        """Return the loss of pairs of vectors, given which are similar."""
        return self._loss(F.cosine_embedding_loss, input1, input2, target)


# -- three inputs ---------------------------------------------------------------------------------


class TripletMarginLoss(_Loss):
    """`functional.triplet_margin_loss` as a module.

    Parameters
    ----------
    margin : float. The margin by which the negative should be farther away than the positive.
    p : float. The norm of the distances.
    eps : float. Added to the differences.
    swap : bool. Whether to use the distance from positive to negative where it is smaller.
    %(loss_reduction)s

    Raises
    ------
    ValueError: If the margin is not positive.

    Examples
    --------
    >>> anchor, near, far = wg.zeros(1, 2), wg.ones(1, 2), wg.tensor([[3.0, 4.0]])
    >>> wg.nn.TripletMarginLoss(margin=5.0)(anchor, near, far)
    tensor(1.4142)
    """

    _options = ("margin", "p", "eps", "swap")

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        _check_margin(self, margin)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        return self._loss(F.triplet_margin_loss, anchor, positive, negative)


class TripletMarginWithDistanceLoss(_Loss):
    """`functional.triplet_margin_with_distance_loss` as a module.

    Parameters
    ----------
    distance_function : callable, optional. Computes the distances of two batches of vectors;
        default: a `PairwiseDistance`.
    margin, swap, reduction: As for `TripletMarginLoss`.

    Raises
    ------
    ValueError: If the margin is not positive.

    Examples
    --------
    >>> loss = wg.nn.TripletMarginWithDistanceLoss(margin=5.0)
    >>> loss(wg.zeros(1, 2), wg.ones(1, 2), wg.tensor([[3.0, 4.0]]))
    tensor(1.4142)
    """

    _options = ("distance_function", "margin", "swap")

    def __init__(
        self,
        *,
        distance_function: Callable[[Any, Any], Any] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        _check_margin(self, margin)
        self.distance_function = (
            PairwiseDistance() if distance_function is None else distance_function
        )
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        return self._loss(F.triplet_margin_with_distance_loss, anchor, positive, negative)
