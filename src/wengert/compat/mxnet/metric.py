"""Layer 9 · compat: ``mxnet.metric``: accuracies and errors over batches.

>>> acc = mx.metric.Accuracy()
>>> acc.update(mx.np.array([0, 1]), mx.np.array([[0.9, 0.1], [0.8, 0.2]]))
>>> acc.get()
('accuracy', 0.5)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.kit.arguments import Given, arguments
from wengert.compat.kit.namespaces import functions_of
from wengert.compat.mxnet.base import public
from wengert.compat.mxnet.results import array_of


def _listed(value) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


class EvalMetric(Given):
    """Base class for metrics: a mean over all batches since `reset`."""

    def __init__(
        self, name: str | None = None, output_names=None, label_names=None, **kwargs
    ) -> None:
        self.name = name or type(self).__name__.lower()
        self.output_names, self.label_names = output_names, label_names
        self.reset()

    def __repr__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"

    def update_dict(self, label: dict[str, Any], pred: dict[str, Any]) -> None:
        """Add a batch given by name."""
        given = ((self.label_names, label), (self.output_names, pred))
        self.update(*(list(d.values()) if n is None else [d[i] for i in n] for n, d in given))

    def get_name_value(self) -> list[tuple[str, float]]:
        """Return pairs of names and values."""
        names, values = self.get()
        return list(zip(_listed(names), _listed(values), strict=True))

    def reset(self) -> None:
        """Forget all batches."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def update(self, labels, preds) -> None:
        """Add a batch."""
        for label, pred in zip(_listed(labels), _listed(preds), strict=True):
            total, count = self._measure(array_of(label), array_of(pred))
            self.sum_metric += float(total)
            self.num_inst += int(count)

    def _measure(self, label, pred) -> tuple[Any, int]:
        raise NotImplementedError

    def get(self) -> tuple[str, float]:
        """Return the name and the mean, which is NaN without batches."""
        return self.name, self.sum_metric / self.num_inst if self.num_inst else float("nan")


@arguments("axis=1, name='accuracy', output_names=None, label_names=None")
class Accuracy(EvalMetric):
    """The fraction of predictions whose largest entry is at the label."""

    def _measure(self, label, pred) -> tuple[Any, int]:
        if pred.shape != label.shape:
            pred = pred.argmax(self.axis)
        same = pred.astype(np.int64).ravel() == label.astype(np.int64).ravel()
        return same.sum(), same.size


@arguments("top_k=1, name='top_k_accuracy', output_names=None, label_names=None")
class TopKAccuracy(EvalMetric):
    """The fraction of labels among the `top_k` largest predictions."""

    def _prepare(self) -> None:
        self.name += f"_{self.top_k}"

    def _measure(self, label, pred) -> tuple[Any, int]:
        largest = np.argsort(pred, -1)[:, -self.top_k :]
        return (largest == label.astype(np.int64).reshape(-1, 1)).sum(), len(pred)


@arguments("name='f1', average='macro', output_names=None, label_names=None")
class F1(EvalMetric):
    """The harmonic mean of precision and recall for two classes.

    With `average` ``"macro"`` it is the mean of the scores of the batches, with ``"micro"`` the
    score of all examples.
    """

    def reset(self) -> None:
        """Forget all batches."""
        super().reset()
        self._counts = np.zeros(4)

    def _score(self) -> float:
        both, said, right, _ = self._counts
        return float(2 * both / (said + right)) if said + right else 0.0

    def update(self, labels, preds) -> None:
        """Add a batch."""
        counted = self.num_inst
        super().update(labels, preds)
        score = self._score()
        if self.average == "macro":
            self.sum_metric, self.num_inst = self.sum_metric + score, counted + 1
            self._counts = np.zeros(4)
        else:
            self.sum_metric = score * self.num_inst

    def _measure(self, label, pred) -> tuple[Any, int]:
        said = pred.argmax(1) if pred.ndim > 1 else pred > 0.5
        right, said = label.ravel().astype(bool), said.astype(bool)
        self._counts += [(right & said).sum(), said.sum(), right.sum(), len(right)]
        return 0, len(right)


def _column(values) -> Any:
    return values[:, None] if values.ndim == 1 else values


def _error(kind: str, words: str, measure: Callable[[Any, Any], Any]) -> Any:
    """Make a metric that averages an error over batches."""
    body = {
        "__doc__": f"The {words} of errors, for each batch.",
        "_measure": lambda self, label, pred: (measure(_column(label), _column(pred)), 1),
        "__module__": __name__,
    }
    return type(kind, (EvalMetric,), body)


MSE = _error("MSE", "mean of the squares", lambda y, p: ((y - p) ** 2).mean())
MAE = _error("MAE", "mean size", lambda y, p: np.abs(y - p).mean())
RMSE = _error("RMSE", "root of the mean of the squares", lambda y, p: ((y - p) ** 2).mean() ** 0.5)


@arguments("eps=1e-12, name='cross-entropy', output_names=None, label_names=None")
class CrossEntropy(EvalMetric):
    """The negative mean logarithm of the predictions for the labels."""

    def _measure(self, label, pred) -> tuple[Any, int]:
        rows = pred.reshape(-1, pred.shape[-1])
        own = rows[np.arange(len(rows)), label.ravel().astype(np.int64)]
        return -np.log(own + self.eps).sum(), len(rows)


@arguments("eps=1e-12, name='nll-loss', output_names=None, label_names=None")
class NegativeLogLikelihood(CrossEntropy):
    """The negative mean logarithm of the predictions for the labels."""


@arguments("name='pearsonr', output_names=None, label_names=None, average='macro'")
class PearsonCorrelation(EvalMetric):
    """The correlation of labels and predictions, averaged over batches (``"macro"``) or of all."""

    def reset(self) -> None:
        """Forget all batches."""
        super().reset()
        self._seen: list[Any] = []

    def _measure(self, label, pred) -> tuple[Any, int]:
        pair = np.stack([pred.ravel(), label.ravel()]).astype(np.float64)
        if self.average == "macro":
            return np.asarray(np.corrcoef(pair))[0, 1], 1
        self._seen.append(pair)
        every = np.asarray(np.corrcoef(np.concatenate(self._seen, 1)))[0, 1]
        return every * (self.num_inst + 1) - self.sum_metric, 1


@arguments("name='mcc', output_names=None, label_names=None, average='macro'")
class MCC(F1):
    """Matthews' correlation of two classes; see `F1` for `average`."""

    def _score(self) -> float:
        both, said, right, count = self._counts
        under = math.sqrt(said * right * (count - said) * (count - right))
        return float((both * count - said * right) / (under or 1.0))


class CustomMetric(EvalMetric):
    """The mean over batches of a function of labels and predictions."""

    def __init__(self, feval, name: str | None = None, *names, **kwargs) -> None:
        self._function = feval
        super().__init__(name or f"custom({feval.__name__})", *names)

    def _measure(self, label, pred) -> tuple[Any, int]:
        found = self._function(label, pred)
        return found if isinstance(found, tuple) else (found, 1)


@arguments("ignore_label=None, axis=-1, name='perplexity', output_names=None, label_names=None")
class Perplexity(CrossEntropy):
    """The exponential of the cross entropy; the label `ignore_label` is skipped."""

    without = ("eps",)

    def _prepare(self) -> None:
        self.eps = 1e-10

    def _measure(self, label, pred) -> tuple[Any, int]:
        kept = label.ravel() != self.ignore_label
        return super()._measure(label.ravel()[kept], pred.reshape(-1, pred.shape[-1])[kept])

    def get(self) -> tuple[str, float]:
        """Return the name and the exponential of the mean."""
        name, value = super().get()
        return name, float(np.exp(value))


class Loss(EvalMetric):
    """The mean of losses; labels are ignored."""

    def update(self, labels, preds) -> None:
        """Add a batch of losses."""
        for pred in map(array_of, _listed(preds)):
            self.sum_metric += float(pred.sum())
            self.num_inst += pred.size


class CompositeEvalMetric(EvalMetric):
    """Several metrics over the same batches."""

    def __init__(self, metrics=(), name="composite") -> None:
        self.metrics = [create(metric) for metric in metrics]
        super().__init__(name)

    def add(self, metric) -> None:
        """Append a metric."""
        self.metrics.append(create(metric))

    def reset(self) -> None:
        """Forget all batches."""
        for metric in self.metrics:
            metric.reset()

    def update(self, labels, preds) -> None:
        """Add a batch."""
        for metric in self.metrics:
            metric.update(labels, preds)

    def get(self) -> Any:
        """Return the names and the means."""
        names, values = zip(*[metric.get() for metric in self.metrics], strict=True)
        return list(names), list(values)


_SHORT = {
    "acc": "accuracy",
    "ce": "crossentropy",
    "nll_loss": "negativeloglikelihood",
    "pearsonr": "pearsoncorrelation",
    "top_k_acc": "topkaccuracy",
}


def create(metric, *args, **kwargs) -> Any:
    """Return a metric by name, several metrics from a list, or the given metric.

    Raises
    ------
    ValueError: If there is no metric of this name.
    """
    if isinstance(metric, list):
        return CompositeEvalMetric(metric)
    if isinstance(metric, EvalMetric):
        return metric
    kinds = {name.lower(): kind for name, kind in functions_of(globals(), "create").items()}
    name = str(metric).lower().replace("_", "").replace("-", "")
    found = kinds.get(_SHORT.get(str(metric).lower(), name))
    if found is None:
        raise ValueError(f"Cannot find metric {metric}: there are {', '.join(sorted(kinds))}")
    return found(*args, **kwargs)


__all__ = public(globals())
