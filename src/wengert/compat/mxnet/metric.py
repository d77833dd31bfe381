"""Layer 9 · compat: ``mxnet.metric``: accuracies and errors over batches.

>>> acc = mx.metric.Accuracy()
>>> acc.update(mx.np.array([0, 1]), mx.np.array([[0.9, 0.1], [0.8, 0.2]]))
>>> acc.get()
('accuracy', 0.5)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.mxnet.base import absence

__all__ = ["MAE", "MSE", "Accuracy", "EvalMetric", "Loss"]


def _listed(value) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _plain(value) -> Any:
    return value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)


class EvalMetric:
    """A mean over all that `update` was given since `reset`."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name or type(self).__name__.lower()
        self.reset()

    def reset(self) -> None:
        """Forget what was given."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def update(self, labels, preds) -> None:
        """Take a batch into account."""
        for label, pred in zip(_listed(labels), _listed(preds), strict=True):
            total, count = self._measure(_plain(label), _plain(pred))
            self.sum_metric += float(total)
            self.num_inst += int(count)

    def _measure(self, label, pred) -> tuple[Any, int]:
        raise NotImplementedError

    def get(self) -> tuple[str, float]:
        """The name, and the mean (NaN if there is nothing)."""
        return self.name, self.sum_metric / self.num_inst if self.num_inst else float("nan")


class Accuracy(EvalMetric):
    """How many of the largest predictions are where the labels say."""

    def __init__(self, axis: int = 1, name: str = "accuracy") -> None:
        self.axis = axis
        super().__init__(name)

    def _measure(self, label, pred) -> tuple[Any, int]:
        if pred.ndim > label.ndim:
            pred = pred.argmax(self.axis)
        same = pred.astype(np.int64).ravel() == label.astype(np.int64).ravel()
        return same.sum(), same.size


class MSE(EvalMetric):
    """The mean of the squares of errors, for each batch."""

    def _measure(self, label, pred) -> tuple[Any, int]:
        return ((label.reshape(pred.shape) - pred) ** 2).mean(), 1


class MAE(EvalMetric):
    """The mean size of errors, for each batch."""

    def _measure(self, label, pred) -> tuple[Any, int]:
        return np.abs(label.reshape(pred.shape) - pred).mean(), 1


class Loss(EvalMetric):
    """The mean of losses; labels are ignored."""

    def update(self, labels, preds) -> None:
        """Take a batch of losses into account."""
        for pred in map(_plain, _listed(preds)):
            self.sum_metric += float(pred.sum())
            self.num_inst += pred.size


__getattr__ = absence("wengert.compat.mxnet.metric")


fill_sections(globals())
