"""Layer 9 · compat: ``gluon.loss``: losses, one number per example.

>>> from wengert.compat.mxnet import gluon, np, npx
>>> npx.set_np()
>>> gluon.loss.L2Loss()(np.array([1.0, 2.0]), np.array([0.0, 0.0]))
array([0.5, 2. ])
"""

from __future__ import annotations

import math
from typing import Any

from wengert.compat.kit.arguments import arguments
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import public, refusal, shown
from wengert.compat.mxnet.gluon.block import HybridBlock
from wengert.compat.mxnet.neural import FUNCTIONS as NEURAL
from wengert.compat.mxnet.results import computed
from wengert.nn import functional as F
from wengert.ops.permute import movedim
from wengert.ops.reduce import mean
from wengert.ops.reduce import sum as total
from wengert.ops.select import where
from wengert.ops.shape import reshape
from wengert.tape.base import new_tensor
from wengert.tape.record import T


def _fitting(label, pred) -> Any:
    """Convert `label` to the shape and dtype of `pred`."""
    if label._payload.dtype != pred._payload.dtype:
        label = T.to_copy(label, dtype=pred._payload.dtype)
    if label._payload.size != pred._payload.size:
        raise ValueError(
            f"label has shape {tuple(label._payload.shape)}, and pred {tuple(pred._payload.shape)}"
        )
    return reshape(label, tuple(pred._payload.shape))


@arguments("_weight, _batch_axis")
class Loss(HybridBlock):
    """Base class for losses, with a weight and a batch axis.

    A subclass defines ``hybrid_forward(F, pred, label)`` or `forward`.

    Parameters
    ----------
    weight : float, optional. The factor of the loss.
    batch_axis : int
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"


@arguments("_weight=None, _batch_axis=0")
class _Given(Loss):
    """Base class for the losses here: elementwise, averaged over each example."""

    def forward(self, pred, label, sample_weight=None, *more) -> Any:
        """Return the loss of each example, averaged over its elements.

        Parameters
        ----------
        pred, label : NDArray
        sample_weight : NDArray, optional. Factors that broadcast to the losses of elements.

        Raises
        ------
        TypeError: If `pred` or `label` is not an array.
        """
        for name, value in (("pred", pred), ("label", label)):
            if not isinstance(value, NDArray):
                raise TypeError(f"{name} must be an NDArray, got {shown(value)}")
        args = (pred, label, sample_weight, *more)
        return computed(type(pred), self._loss, args, {})

    def _loss(self, pred, label, sample_weight, *more) -> Any:
        losses = self._elements(pred, label, *more)
        if sample_weight is not None:
            losses = losses * sample_weight
        if self._weight is not None:
            losses = losses * self._factor()
        axes = [i for i in range(losses._payload.ndim) if i != self._batch_axis]
        return self._over(losses, axes) if axes else losses

    def _over(self, losses, axes) -> Any:
        return mean(losses, axes)

    def _factor(self) -> float:
        return 1.0 if self._weight is None else self._weight

    def _elements(self, pred, label, *more) -> Any:
        raise NotImplementedError


@arguments("_weight=1.0")
class L2Loss(_Given):
    """Half the squared difference."""

    def _factor(self) -> float:
        return super()._factor() / 2

    def _elements(self, pred, label, *more) -> Any:
        difference = _fitting(label, pred) - pred
        return difference * difference


class L1Loss(_Given):
    """The absolute difference."""

    def _elements(self, pred, label, *more) -> Any:
        return T.abs(_fitting(label, pred) - pred)


@arguments("_rho=1.0")
class HuberLoss(_Given):
    """Quadratic for differences below `rho`, linear beyond."""

    def _elements(self, pred, label, *more) -> Any:
        return F.smooth_l1_loss(pred, _fitting(label, pred), reduction="none", beta=self._rho)


@arguments("_margin=1.0")
class HingeLoss(_Given):
    """max(0, margin - pred * label), for labels -1 and 1."""

    def _elements(self, pred, label, *more) -> Any:
        return F.relu(self._margin - pred * _fitting(label, pred))


@arguments("batch_axis/_label_format='signed'")
class LogisticLoss(_Given):
    """ln(1 + exp(-pred * label)), for labels -1 and 1, or 0 and 1 (``"binary"``)."""

    def _prepare(self: Any) -> None:
        if self._label_format not in ("signed", "binary"):
            raise refusal(ValueError, "label_format can only", self._label_format)

    def _elements(self, pred, label, *more) -> Any:
        y = _fitting(label, pred)
        y = (y + 1.0) / 2.0 if self._label_format == "signed" else y
        return F.binary_cross_entropy_with_logits(pred, y, reduction="none")


@arguments("_from_sigmoid=False")
class SigmoidBinaryCrossEntropyLoss(_Given):
    """The cross entropy of sigmoid(pred) with labels between 0 and 1.

    Parameters
    ----------
    from_sigmoid : bool. Whether `pred` is a probability.
    """

    def _elements(self, pred, label, *more) -> Any:
        y = _fitting(label, pred)
        factor = more[0] if more else None
        if not self._from_sigmoid:
            options: dict[str, Any] = {"reduction": "none", "pos_weight": factor}
            return F.binary_cross_entropy_with_logits(pred, y, **options)
        eps = 1e-12
        first = T.log(pred + eps) * y
        return -((first if factor is None else first * factor) + T.log(1 - pred + eps) * (1 - y))


@arguments("_axis=-1, _sparse_label=True, _from_logits=False")
class SoftmaxCrossEntropyLoss(_Given):
    """The cross entropy of softmax(pred) with classes.

    Parameters
    ----------
    axis : int. The axis of the classes.
    sparse_label : bool. Whether labels are class indices rather than probabilities.
    from_logits : bool. Whether `pred` is the logarithm of probabilities.
    """

    def _elements(self, pred, label, *more) -> Any:
        if not self._from_logits:
            pred = F.log_softmax(pred, dim=self._axis)
        if self._sparse_label:
            return -NEURAL["pick"](pred, label, self._axis, keepdims=True)
        return -total(pred * _fitting(label, pred), self._axis, True)


@arguments("_from_logits=True, _axis=-1")
class KLDivLoss(_Given):
    """The KL divergence of the probabilities `label` from those whose logarithms are `pred`."""

    def _elements(self, pred, label, *more) -> Any:
        if not self._from_logits:
            pred = F.log_softmax(pred, dim=self._axis)
        y = _fitting(label, pred)
        return y * (T.log(y + 1e-12) - pred)

    def _over(self, losses, axes) -> Any:
        return total(losses, axes)


@arguments("")
class SquaredHingeLoss(HingeLoss):
    """The square of max(0, margin - pred * label), for labels -1 and 1."""

    def _elements(self, pred, label, *more) -> Any:
        missing = super()._elements(pred, label)
        return missing * missing


@arguments("_weight=None, _from_logits=True, _batch_axis=0, _compute_full=False")
class PoissonNLLLoss(_Given):
    """The negative log-likelihood of `label` under a Poisson distribution, averaged over all
    elements.

    Parameters
    ----------
    from_logits : bool. Whether `pred` is the logarithm of the mean.
    compute_full : bool. Whether to add Stirling's approximation of the factorial.
    """

    def _elements(self, pred, label, *more) -> Any:
        y = _fitting(label, pred)
        eps = more[0] if more else 1e-8
        losses = T.exp(pred) - y * pred if self._from_logits else pred - y * T.log(pred + eps)
        if self._compute_full:
            stirling = y * T.log(y + eps) - y + 0.5 * T.log((y + eps) * (2 * math.pi))
            losses = losses + where(new_tensor(y._payload > 1), stirling, stirling * 0.0)
        return losses

    def _loss(self, pred, label, sample_weight, *more) -> Any:
        return mean(super()._loss(pred, label, sample_weight, *more))


@arguments("_margin=1.0")
class TripletLoss(_Given):
    """The triplet loss: how far the negative fails to be farther than the positive by `margin`."""

    def _elements(self, pred, label, *more) -> Any:
        near, far = _fitting(label, pred) - pred, _fitting(more[0], pred) - pred
        axes = list(range(1, pred._payload.ndim))
        return F.relu(total(near * near - far * far, axes) + self._margin)

    def forward(  # type: ignore[override]
        self, pred, positive, negative, sample_weight=None
    ) -> Any:
        """Return the loss of each example, given a positive and a negative example."""
        return super().forward(pred, positive, sample_weight, negative)


@arguments("_weight=None, _batch_axis=0, _margin=0.0")
class CosineEmbeddingLoss(_Given):
    """1 minus the cosine for labels 1; the cosine above `margin` for labels -1."""

    def _elements(self, pred, label, *more) -> Any:
        cosine: Any = F.cosine_similarity(pred, _fitting(more[1], pred), -1)
        cosine = reshape(cosine, (-1, 1))
        alike = new_tensor(more[0]._payload.reshape(cosine._payload.shape) == 1)
        return where(alike, 1.0 - cosine, F.relu(cosine - self._margin))

    def _over(self, losses, axes) -> Any:
        return losses

    def forward(  # type: ignore[override]
        self, input1, input2, label, sample_weight=None
    ) -> Any:
        """Return the loss of each pair, whose label is 1 or -1."""
        return super().forward(input1, label, sample_weight, label, input2)


@arguments("_layout='NTC', _label_layout='NT', _weight=None")
class CTCLoss(_Given):
    """The CTC loss (Graves and others 2006); the last class is the blank label.

    Parameters
    ----------
    layout : {'NTC', 'TNC'}. The order of batch, steps and classes in predictions.
    label_layout : {'NT', 'TN'}
    """

    without = ("batch_axis",)

    def forward(  # type: ignore[override]
        self, pred, label, pred_lengths=None, label_lengths=None, sample_weight=None
    ) -> Any:
        """Return the loss of each sequence; labels end at -1, or at their lengths."""
        args = (pred, label, pred_lengths, label_lengths, sample_weight)
        return computed(type(pred), self._sequences, args, {})

    def _sequences(self, pred, label, pred_lengths, label_lengths, sample_weight) -> Any:
        pred = pred if self._layout == "TNC" else movedim(pred, 0, 1)
        label = label if self._label_layout == "NT" else movedim(label, 0, 1)
        given = pred_lengths is not None, label_lengths is not None
        losses = NEURAL["ctc_loss"](pred, label, pred_lengths, label_lengths, *given, "last")
        losses = losses if sample_weight is None else losses * sample_weight
        return losses if self._weight is None else losses * self._weight


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss
SoftmaxCELoss = SoftmaxCrossEntropyLoss


__all__ = public(globals())
