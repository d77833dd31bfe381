"""Layer 9 · compat: Keras's scores: intersections over unions, F scores, and R squared."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions.ordering import argmax
from wengert.compat.tensorflow.functions.values import numbers_of
from wengert.compat.tensorflow.keras.confusion import share
from wengert.compat.tensorflow.keras.globals import epsilon
from wengert.compat.tensorflow.keras.means import Metric
from wengert.compat.tensorflow.keras.settings import settings
from wengert.compat.tensorflow.words import refusal
from wengert.tape.sites import warn


def _weights(sample_weight) -> Any:
    return 1.0 if sample_weight is None else numbers_of(sample_weight).astype(np.float64)


# -- intersection over union -----------------------------------------------------------------------


class _Overlap(Metric):
    """Base class of intersections over unions of labels and predictions."""

    threshold: float | None = None
    target_class_ids: Any = None

    def _prepare(self: Any) -> None:
        count, chosen = self.num_classes, self.target_class_ids
        if chosen is not None and max(chosen) >= count:
            raise ValueError(f"Target class id {max(chosen)} is out of range [0, {count}).")
        self.add_variable((count, count), "zeros", name="total_confusion_matrix")

    def _labels(self: Any, values, sparse: bool) -> Any:
        labels = numbers_of(values if sparse else argmax(values, self.axis))
        return np.ravel(labels).astype(np.int64)

    def update_state(self: Any, y_true, y_pred, sample_weight=None) -> None:
        """Count a batch: labels outside of the classes, and `ignore_class`, do not count."""
        if self.threshold is not None:
            y_pred = numbers_of(y_pred) >= self.threshold
        y, p = self._labels(y_true, self.sparse_y_true), self._labels(y_pred, self.sparse_y_pred)
        counts = (np.minimum(y, p) >= 0) & (np.maximum(y, p) < self.num_classes)
        counts &= y != (-1 if self.ignore_class is None else self.ignore_class)
        amount = np.broadcast_to(np.ravel(_weights(sample_weight)), y.shape)[counts]
        found = np.zeros((self.num_classes,) * 2)
        np.add.at(found, (y[counts], p[counts]), amount)
        self._variables[0].assign_add(found)

    def result(self) -> Any:
        """Return the mean over classes that occur."""
        matrix = self._variables[0].numpy().astype(np.float64)
        shared = np.diagonal(matrix)
        either = matrix.sum(0) + matrix.sum(1) - shared
        if self.target_class_ids is not None:
            chosen = list(self.target_class_ids)
            shared, either = shared[chosen], either[chosen]
        return self._tensor(share(shared, either).sum() / max((either > 0).sum(), 1))


@settings(
    "num_classes, target_class_ids, name=None, dtype=None, ignore_class=None, sparse_y_true=True, "
    "sparse_y_pred=True, axis=-1"
)
class IoU(_Overlap):
    """The mean over some classes of intersection over union of labels and predictions.

    Parameters
    ----------
    num_classes : int. The number of classes.
    target_class_ids : list of int. The classes that count.
    ignore_class : int, optional. A label that does not count.
    sparse_y_true, sparse_y_pred : bool. Whether they are labels; otherwise the largest element
        along `axis` tells the label.

    Examples
    --------
    >>> float(tf.keras.metrics.IoU(num_classes=2, target_class_ids=[1])([0, 1, 1], [0, 1, 0]))
    0.5
    """


@settings(
    "num_classes, name=None, dtype=None, ignore_class=None, sparse_y_true=True, "
    "sparse_y_pred=True, axis=-1"
)
class MeanIoU(_Overlap):
    """The mean over all classes of intersection over union (see `IoU`).

    Examples
    --------
    >>> m = tf.keras.metrics.MeanIoU(num_classes=2)
    >>> print(f"{m([0, 0, 1, 1], [0, 1, 0, 1]).numpy():.3f}")
    0.333
    """


@settings("target_class_ids=(0, 1), threshold=0.5, name=None, dtype=None")
class BinaryIoU(_Overlap):
    """The intersection over union of two classes; predictions from `threshold` on are class 1."""

    num_classes, ignore_class, sparse_y_true, sparse_y_pred = 2, None, True, True


class _OfOutputs(Metric):
    """Base class for sums over examples, one for each output."""

    def _outputs(self, y_true, y_pred) -> Any:
        y, p = (numbers_of(value).astype(np.float64) for value in (y_true, y_pred))
        if y.ndim != 2 or p.ndim != 2:
            raise refusal(ValueError, "{} expects 2D", type(self).__name__, p.shape, y.shape)
        return y, p

    def _count(self, sums: dict[str, Any]) -> None:
        if not self._variables:
            for name, part in sums.items():
                self.add_variable(np.shape(part), "zeros", name=name)
        for variable, part in zip(self._variables, sums.values(), strict=True):
            variable.assign_add(part)


@settings("average=None, beta=1.0, threshold=None, name='fbeta_score', dtype=None")
class FBetaScore(_OfOutputs):
    """The weighted harmonic mean of precision and recall of each class.

    Parameters
    ----------
    average : str, optional. ``"micro"``, ``"macro"`` or ``"weighted"``, for one score.
    beta : float. The weight of recall.
    threshold : float, optional. The value above which a prediction is positive; by default the
        largest of an example is.

    Examples
    --------
    >>> m = tf.keras.metrics.FBetaScore(beta=2.0, threshold=0.5)
    >>> print(m([[1, 1], [1, 0]], [[0.6, 0.2], [0.6, 0.6]]).numpy().round(3))
    [1. 0.]
    """

    beta = 1.0

    def _prepare(self: Any) -> None:
        if not (isinstance(self.beta, float) and self.beta > 0):
            raise ValueError("Invalid `beta` argument value. It should be a float > 0.")

    def update_state(self: Any, y_true, y_pred, sample_weight=None) -> None:
        """Count the examples of a batch."""
        y, p = self._outputs(y_true, y_pred)
        if self.threshold is None:
            said = (p >= p.max(-1, keepdims=True)) & (abs(p) > 1e-9)
        else:
            said = p > self.threshold
        weight = np.reshape(_weights(sample_weight), (-1, 1))
        counted = {
            "true_positives": said * y,
            "false_positives": said * (1 - y),
            "false_negatives": (1 - said) * y,
            "intermediate_weights": y,
        }
        self._count({name: (each * weight).sum(0) for name, each in counted.items()})

    def result(self) -> Any:
        """Return the score of each class, or their mean."""
        right, extra, missed, weight = (v.numpy().astype(np.float64) for v in self._variables)
        if self.average == "micro":
            right, extra, missed = right.sum(), extra.sum(), missed.sum()
        small = epsilon()
        precision, recall = right / (right + extra + small), right / (right + missed + small)
        square = self.beta**2
        score = (1 + square) * precision * recall / (square * precision + recall + small)
        if self.average == "weighted":
            return self._tensor((score * weight).sum() / (weight.sum() + small))
        return self._tensor(score if self.average is None else np.mean(score))


@settings("average=None, threshold=None, name='f1_score', dtype=None")
class F1Score(FBetaScore):
    """The harmonic mean of precision and recall of each class (see `FBetaScore`)."""

    without = ("beta",)


@settings("class_aggregation='uniform_average', num_regressors=0, name='r2_score', dtype=None")
class R2Score(_OfOutputs):
    """The coefficient of determination: one minus the squared errors over the squared deviations.

    Parameters
    ----------
    class_aggregation : {"uniform_average", "variance_weighted_average"} or None. The mean over the
        outputs.
    num_regressors : int. The number of regressors, for the adjusted coefficient.

    Examples
    --------
    >>> m = tf.keras.metrics.R2Score()
    >>> print(f"{m([[1.0], [4.0], [3.0]], [[2.0], [4.0], [4.0]]).numpy():.3f}")
    0.571
    """

    def _prepare(self: Any) -> None:
        if self.class_aggregation not in (None, "uniform_average", "variance_weighted_average"):
            raise refusal(ValueError, "Invalid value for argument `cl", self.class_aggregation)
        if self.num_regressors < 0:
            raise refusal(ValueError, "Invalid value for argument `num", self.num_regressors)

    def update_state(self: Any, y_true, y_pred, sample_weight=None) -> None:
        """Add the examples of a batch."""
        y, p = self._outputs(y_true, y_pred)
        weight = np.asarray(_weights(sample_weight))
        weight = np.broadcast_to(weight[:, None] if weight.ndim == 1 else weight, y.shape)
        sums = {"squared_sum": y**2, "sum": y, "residual": (y - p) ** 2, "count": 1.0}
        found = {name: (weight * part).sum(0) for name, part in sums.items()}
        self._count({"num_samples": y.size, **found})

    def result(self: Any) -> Any:
        """Return the score, or the score of each output."""
        n, squares, total, missed, count = (v.numpy().astype(np.float64) for v in self._variables)
        with np.errstate(all="ignore"):
            spread = squares - total * (total / count)
            score = 1 - missed / spread
            score = np.where(np.isinf(score), 0.0, score)
            if self.class_aggregation == "uniform_average":
                score = np.mean(score)
            elif self.class_aggregation is not None:
                score = np.sum(spread * score) / np.sum(spread)
        left = n - self.num_regressors - 1
        if self.num_regressors and left > 0:
            score = 1 - (1 - score) * (n - 1) / left
        elif self.num_regressors:
            warn(refusal(str, "More independent predictors"))
        return self._tensor(score)


__all__ = defined(globals())
