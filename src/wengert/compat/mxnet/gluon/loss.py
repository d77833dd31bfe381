"""Layer 9 · compat: ``gluon.loss``: losses, one number for each example.

>>> from wengert.compat.mxnet import gluon, np, npx
>>> npx.set_np()
>>> gluon.loss.L2Loss()(np.array([1.0, 2.0]), np.array([0.0, 0.0]))
array([0.5, 2. ])
"""

from __future__ import annotations

import math
from typing import Any

from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import absence, shown
from wengert.compat.mxnet.gluon.block import HybridBlock
from wengert.compat.mxnet.neural import FUNCTIONS as NEURAL
from wengert.compat.mxnet.results import computed
from wengert.nn import functional as F
from wengert.ops.reduce import mean
from wengert.ops.reduce import sum as total
from wengert.ops.select import where
from wengert.ops.shape import reshape
from wengert.tape.base import new_tensor
from wengert.tape.record import T


def _fitting(label, pred) -> Any:
    """`label` in the shape and dtype of `pred`."""
    if label._payload.dtype != pred._payload.dtype:
        label = T.to_copy(label, dtype=pred._payload.dtype)
    if label._payload.size != pred._payload.size:
        raise ValueError(
            f"label has shape {tuple(label._payload.shape)}, and pred {tuple(pred._payload.shape)}"
        )
    return reshape(label, tuple(pred._payload.shape))


class Loss(HybridBlock):
    """What the losses have in common: a weight, and the axis along which the examples are.

    A loss of one's own defines ``hybrid_forward(F, pred, label)``, or `forward`.

    Parameters
    ----------
    weight : float, optional. A factor of the loss.
    batch_axis : int
    """

    def __init__(self, weight: float | None, batch_axis: int, **kwargs) -> None:
        super().__init__(**kwargs)
        self._weight, self._batch_axis = weight, batch_axis

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"


class _Given(Loss):
    """The losses that are there: a number for each element, and a mean over those of an example."""

    def forward(self, pred, label, sample_weight=None, *more) -> Any:
        """The losses of examples, each the mean over what belongs to one.

        Parameters
        ----------
        pred, label : NDArray
        sample_weight : NDArray, optional. Factors that are broadcast to the losses of elements.

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


class L2Loss(_Given):
    """Half the square of the difference."""

    def __init__(self, weight: float = 1.0, batch_axis: int = 0, **kwargs) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def _factor(self) -> float:
        return super()._factor() / 2

    def _elements(self, pred, label, *more) -> Any:
        difference = _fitting(label, pred) - pred
        return difference * difference


class L1Loss(_Given):
    """The size of the difference."""

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def _elements(self, pred, label, *more) -> Any:
        return T.abs(_fitting(label, pred) - pred)


class HuberLoss(_Given):
    """A parabola for differences below `rho`, and a straight line beyond."""

    def __init__(
        self, rho: float = 1.0, weight: float | None = None, batch_axis: int = 0, **kwargs
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def _elements(self, pred, label, *more) -> Any:
        size = T.abs(_fitting(label, pred) - pred)
        far = new_tensor(size._payload > self._rho)
        return where(far, size - 0.5 * self._rho, (0.5 / self._rho) * size * size)


class HingeLoss(_Given):
    """max(0, margin - pred * label), for labels -1 and 1."""

    def __init__(
        self, margin: float = 1.0, weight: float | None = None, batch_axis: int = 0, **kwargs
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def _elements(self, pred, label, *more) -> Any:
        return F.relu(self._margin - pred * _fitting(label, pred))


class LogisticLoss(_Given):
    """ln(1 + exp(-pred * label)), for labels -1 and 1, or 0 and 1 (``"binary"``)."""

    def __init__(
        self,
        weight: float | None = None,
        batch_axis: int = 0,
        label_format: str = "signed",
        **kwargs,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ("signed", "binary"):
            raise ValueError(f"label_format can only be signed or binary, received {label_format}.")
        self._signed = label_format == "signed"

    def _elements(self, pred, label, *more) -> Any:
        y = _fitting(label, pred)
        y = (y + 1.0) / 2.0 if self._signed else y
        return F.relu(pred) - pred * y + F.softplus(-T.abs(pred), 1, math.inf)


class SigmoidBinaryCrossEntropyLoss(_Given):
    """The cross entropy of sigmoid(pred) to labels between 0 and 1.

    Parameters
    ----------
    from_sigmoid : bool. Whether `pred` is a probability already.
    """

    def __init__(
        self, from_sigmoid: bool = False, weight: float | None = None, batch_axis: int = 0, **kwargs
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def _elements(self, pred, label, *more) -> Any:
        y = _fitting(label, pred)
        factor = more[0] if more else None
        if not self._from_sigmoid:
            if factor is None:
                return F.relu(pred) - pred * y + F.softplus(-T.abs(pred), 1, math.inf)
            rising = 1 + (factor - 1) * y
            near = F.softplus(-T.abs(pred), 1, math.inf) + F.relu(-pred)
            return pred - pred * y + rising * near
        eps = 1e-12
        first = T.log(pred + eps) * y
        return -((first if factor is None else first * factor) + T.log(1 - pred + eps) * (1 - y))


class SoftmaxCrossEntropyLoss(_Given):
    """The cross entropy of softmax(pred) to classes.

    Parameters
    ----------
    axis : int. Along which the classes are.
    sparse_label : bool. Whether labels are numbers of classes; else probabilities.
    from_logits : bool. Whether `pred` is the logarithm of probabilities already.
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis, self._sparse, self._from_logits = axis, sparse_label, from_logits

    def _elements(self, pred, label, *more) -> Any:
        if not self._from_logits:
            pred = F.log_softmax(pred, dim=self._axis)
        if self._sparse:
            return -NEURAL["pick"](pred, label, self._axis, keepdims=True)
        return -total(pred * _fitting(label, pred), self._axis, True)


class KLDivLoss(_Given):
    """The divergence of probabilities `label` from those whose logarithm is `pred`."""

    def __init__(
        self,
        from_logits: bool = True,
        axis: int = -1,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis, self._from_logits = axis, from_logits

    def _elements(self, pred, label, *more) -> Any:
        if not self._from_logits:
            pred = F.log_softmax(pred, dim=self._axis)
        y = _fitting(label, pred)
        return y * (T.log(y + 1e-12) - pred)

    def _over(self, losses, axes) -> Any:
        return total(losses, axes)


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss
SoftmaxCELoss = SoftmaxCrossEntropyLoss


__getattr__ = absence("wengert.compat.mxnet.gluon.loss", {"CTCLoss": "use wengert.nn.functional"})


__all__ = defined(globals())
fill_sections(globals())
