"""Layer 9 · compat: Keras's metrics that are computed from confusion counts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import of_rows
from wengert.compat.tensorflow.configs import snake_case
from wengert.compat.tensorflow.functions.values import numbers_of
from wengert.compat.tensorflow.keras.globals import epsilon, name_for
from wengert.compat.tensorflow.keras.means import Metric, same_rank
from wengert.compat.tensorflow.keras.settings import settings

_COUNTS = ("true_positives", "false_positives", "true_negatives", "false_negatives")


def share(part, whole) -> Any:
    """Divide; the quotient is 0 where the divisor is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole != 0)


def _points(count: int, inner=None, margin: float = 0) -> Any:
    """Return evenly spaced thresholds from 0 to 1, or a margin more to both sides."""
    between = np.arange(1, count - 1) / (count - 1) if inner is None else np.sort(inner)
    return np.asarray([-margin, *between, 1 + margin])


def _is_even(limits) -> bool:
    even = np.linspace(0, 1, limits.size)
    return limits.size > 2 and np.allclose(limits, even, atol=2 * epsilon())


@settings("thresholds=None, name=None, dtype=None")
class _Counting(Metric):
    """Base class that counts true and false positives and negatives for each threshold."""

    wanted: ClassVar[tuple[str, ...]] = _COUNTS
    """The counts that the metric needs."""
    top_k: Any = None
    class_id: Any = None
    from_logits = False
    multi_label = False
    num_labels: Any = None
    label_weights: Any = None

    def _prepare(self: Any) -> None:
        self.name = self.name or name_for(type(self).__name__)
        usual = 0.5 if self.top_k is None else -np.inf
        given = usual if self.thresholds is None else self.thresholds
        self._begin(np.atleast_1d(np.asarray(given, np.float64)))

    def _begin(self, limits) -> None:
        # even thresholds number the intervals that predictions, held to [0, 1], are in
        self._steps = limits.size - 1 if _is_even(limits) else 0
        if self._steps:
            limits = np.where(limits < 0, -1, np.arange(limits.size))
        self._limits = limits.astype(self._kind)
        if not self.multi_label:
            self._create(limits.shape)
        elif self.num_labels is not None:
            self._create((*limits.shape, self.num_labels))

    def _create(self, shape) -> None:
        alone = len(self.wanted) == 1
        for count in self.wanted:
            name = "accumulator" if alone else count
            setattr(self, name, self.add_variable(shape, "zeros", name=name))

    def update_state(self, y_true, y_pred, sample_weight=None) -> None:
        """Count a batch."""
        y, p = same_rank(y_true, y_pred)
        p = p.astype(self._kind)
        p = 1 / (1 + np.exp(-p)) if self.from_logits else p
        if self.top_k is not None:
            # of equal predictions the first ones
            ranks = np.argsort(-p, -1, kind="stable").argsort(-1)
            p = np.where(ranks < self.top_k, p, -np.inf)
        p = np.clip(p, 0, 1) * p.dtype.type(self._steps) if self._steps else p
        weight = np.ones(()) if sample_weight is None else numbers_of(sample_weight)
        weight = weight.reshape(weight.shape + (1,) * (y.ndim - weight.ndim))
        weight = np.broadcast_to(weight, y.shape).astype(np.float64)
        if self.class_id is not None:
            y, p, weight = (part[..., self.class_id] for part in (y, p, weight))
        if self.label_weights is not None and not self.multi_label:
            weight = weight * np.asarray(self.label_weights)
        shape = (1, -1)
        if self.multi_label:
            # one group of counts for each label
            y, p, weight, shape = y.T, p.T, weight.T, y.shape[::-1]
            if not self._variables:
                self._create((self._limits.size, shape[0]))
        rights, amounts = y.astype(bool).reshape(shape), weight.reshape(shape)
        said = [one > self._limits[:, None] for one in p.reshape(shape)]
        for count, variable in zip(self.wanted, self._variables, strict=True):
            found = [
                ((says == count.endswith("positives")) & agrees).astype(np.float64) @ amount
                for says, agrees, amount in zip(
                    said,
                    rights == (count in ("true_positives", "false_negatives")),
                    amounts,
                    strict=True,
                )
            ]
            variable.assign_add(np.stack(found, -1) if self.multi_label else found[0])

    def _counts(self) -> dict[str, Any]:
        numbers = [variable.numpy().astype(np.float64) for variable in self._variables]
        return dict(zip(self.wanted, numbers, strict=True))

    def _shown(self, numbers) -> Any:
        return self._tensor(numbers[0] if len(numbers) == 1 else numbers)

    def result(self) -> Any:
        """Return the count so far, or a ratio of counts."""
        part, *rest = self._counts().values()
        return self._shown(share(part, part + rest[0]) if rest else part)


def _counter(kind: str, wanted: str, words: str) -> Any:
    doc = (
        f"{words}.\n\nExamples\n--------\n>>> float(tf.keras.metrics.{kind}()([1, 0], [0.9, 0.2]))"
    )
    told = f"{doc}\n{'0.0' if kind.startswith('False') else '1.0'}\n"
    body = {"wanted": tuple(wanted.split()), "__doc__": told, "__module__": __name__}
    return type(kind, (_Counting,), body)


of_rows(
    globals(),
    _counter,
    """
    TruePositives | true_positives | The weighted number of true positives
    FalsePositives | false_positives | The weighted number of false positives
    TrueNegatives | true_negatives | The weighted number of true negatives
    FalseNegatives | false_negatives | The weighted number of false negatives
    """,
)


@settings("thresholds=None, top_k=None, class_id=None")
class _OfClasses(_Counting): ...


class Precision(_OfClasses):
    """The fraction of positive predictions that are right.

    Parameters
    ----------
    thresholds : float or list of float, optional. The value above which a prediction is positive;
        0.5 by default.
    top_k : int, optional. If given, the `top_k` largest predictions are positive instead.
    class_id : int, optional. The only class to count.

    Examples
    --------
    >>> float(tf.keras.metrics.Precision()([1, 0, 1], [1.0, 1.0, 0.0]))
    0.5
    """

    wanted = ("true_positives", "false_positives")


class Recall(_OfClasses):
    """The fraction of positive labels that are predicted.

    Parameters
    ----------
    thresholds, top_k, class_id: See `Precision`.

    Examples
    --------
    >>> float(tf.keras.metrics.Recall()([1, 0, 1], [1.0, 1.0, 0.0]))
    0.5
    """

    wanted = ("true_positives", "false_negatives")


@settings(
    "num_thresholds=200, curve='ROC', summation_method='interpolation', name=None, dtype=None, "
    "thresholds=None, multi_label=False, num_labels=None, label_weights=None, from_logits=False"
)
class AUC(_Counting):
    """The area under the ROC curve, or under the precision-recall curve.

    Parameters
    ----------
    num_thresholds : int. The number of points of the curve.
    curve : {"ROC", "PR"}. The curve: true by false positive rate, or precision by recall.
    summation_method : {"interpolation", "minoring", "majoring"}. The rule between two points.
    thresholds : list of float, optional. Explicit thresholds between 0 and 1, which replace
        `num_thresholds`.
    multi_label : bool. Whether each label has an area of its own, of which the mean is taken.
    num_labels : int, optional. The number of labels.
    label_weights : list of float, optional. The weight of each label.
    from_logits : bool. Whether predictions are logits.

    Examples
    --------
    >>> float(tf.keras.metrics.AUC()([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9]))
    0.75
    """

    def _prepare(self: Any) -> None:
        self.name = self.name or name_for("AUC")
        self._begin(_points(self.num_thresholds, self.thresholds, 1e-7))

    def result(self) -> Any:
        """Return the area."""
        n = self._counts()
        tp, fp = n["true_positives"], n["false_positives"]
        recall = share(tp, tp + n["false_negatives"])
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self._area(self._interpolated(tp, fp, n["false_negatives"]))
        x, y = (share(fp, fp + n["true_negatives"]), recall)
        if self.curve == "PR":
            x, y = recall, share(tp, tp + fp)
        between = {"minoring": np.minimum, "majoring": np.maximum}.get(self.summation_method)
        height = (y[:-1] + y[1:]) / 2 if between is None else between(y[:-1], y[1:])
        return self._area((x[:-1] - x[1:]) * height)

    def _area(self, parts) -> Any:
        """Add the parts of the area; take the mean over the labels, if they are apart."""
        areas = parts.sum(0)
        if not self.multi_label:
            return self._tensor(areas)
        weights = np.ones(areas.shape) if self.label_weights is None else self.label_weights
        return self._tensor(share(np.dot(areas, weights), np.sum(weights)))

    def _interpolated(self, tp, fp, fn) -> Any:
        """Return the parts of the area under the precision-recall curve, interpolated by Davis and
        Goadrich (2006).
        """
        said = tp + fp
        step, change = tp[:-1] - tp[1:], said[:-1] - said[1:]
        slope = share(step, np.maximum(change, 0))
        start = tp[1:] - slope * said[1:]
        both = (said[:-1] > 0) & (said[1:] > 0)
        ratio = np.where(both, share(said[:-1], np.where(both, said[1:], 1)), 1.0)
        return share(slope * (step + start * np.log(ratio)), np.maximum(tp + fn, 0)[1:])


@settings("num_thresholds=200, class_id=None, name=None, dtype=None")
class _At(_Counting):
    """Base class for the best value of one ratio where another has a lower bound."""

    bound: ClassVar[tuple[str, str]]
    best: ClassVar[tuple[str, str]]
    given: ClassVar[str]
    """The name of the argument that is the lower bound."""
    without = ("thresholds",)

    def _prepare(self: Any) -> None:
        self.name = self.name or name_for(type(self).__name__)
        self._begin(_points(self.num_thresholds))

    def result(self) -> Any:
        """Return the best value."""
        n = self._counts()
        held, best = (share(n[a], n[a] + n[b]) for a, b in (self.bound, self.best))
        return self._tensor(best[held >= getattr(self, self.given)].max(initial=0.0))


def _bounded(kind: str, given: str, bound: str, best: str) -> Any:
    """Return the metric of the best ratio `best` where the ratio `bound` has a lower bound."""
    words = f"The best {snake_case(kind).split('_')[0]} over all thresholds where the {given}"
    body = {
        "__doc__": f"{words} has a lower bound.\n\nParameters\n----------\n{given} : float\n",
        "given": given,
        "bound": tuple(bound.split()),
        "best": tuple(best.split()),
    }
    return settings(given)(type(kind, (_At,), body))


of_rows(
    globals(),
    _bounded,
    """
    SensitivityAtSpecificity | specificity | true_negatives false_positives
        | true_positives false_negatives
    SpecificityAtSensitivity | sensitivity | true_positives false_negatives
        | true_negatives false_positives
    PrecisionAtRecall | recall | true_positives false_negatives | true_positives false_positives
    RecallAtPrecision | precision | true_positives false_positives | true_positives false_negatives
    """,
)


__all__ = defined(globals(), without="share")
