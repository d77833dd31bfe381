"""Layer 9 · compat: how Keras's models are compiled, fitted and evaluated.

The loops are those that a program would write: for each batch `train_step`, which subclasses may
replace, and after each epoch one line about it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.tensorflow import operations
from wengert.compat.tensorflow.functions.values import constant_of, numbers_of
from wengert.compat.tensorflow.keras import losses as _losses
from wengert.compat.tensorflow.keras import metrics as _metrics
from wengert.compat.tensorflow.keras import optimizers
from wengert.compat.tensorflow.keras.batches import (
    batches,
    count_of,
    cut,
    packed,
    size_of,
    unpacked,
    validation_parts,
    weighted,
)
from wengert.compat.tensorflow.keras.callbacks import CallbackList, History
from wengert.compat.tensorflow.tape import GradientTape

__all__ = ["Trainer"]


class Trainer:
    """What a model can do beyond a layer."""

    optimizer: Any = None
    loss: Any = None
    _loss: Any = None
    _watched: Any = ()
    _tracker: Any = None
    stop_training: bool = False
    _compiled: Any = None

    def compile(
        self,
        optimizer="rmsprop",
        loss=None,
        loss_weights=None,
        metrics=None,
        weighted_metrics=None,
        run_eagerly: bool = False,
        steps_per_execution: int = 1,
        jit_compile="auto",
        auto_scale_loss: bool = True,
    ) -> None:
        """Say how the model is trained.

        Parameters
        ----------
        optimizer : Optimizer or str. What takes the steps.
        loss : Loss, callable or str, optional. A function of targets and predictions.
        metrics : sequence of Metric, callable or str, optional. What else is counted.
        run_eagerly, steps_per_execution, jit_compile, auto_scale_loss: Accepted, and of no effect.
        loss_weights, weighted_metrics: Not offered.

        Raises
        ------
        ValueError: If something is asked for that is not offered.
        """
        if loss_weights is not None or weighted_metrics is not None:
            raise ValueError(
                "loss_weights and weighted_metrics are not offered here: combine the losses in "
                "one function"
            )
        if isinstance(loss, list | dict):
            raise ValueError("several losses are not offered here: combine them in one function")
        self._compiled = {"optimizer": optimizer, "loss": loss, "metrics": metrics}
        self.optimizer = self._compiled["optimizer"] = optimizers.get(optimizer)
        self.loss = loss
        self._loss = _losses.get(loss)
        given = metrics if isinstance(metrics, list | tuple) else [metrics] if metrics else []
        self._watched = [_metric(metric) for metric in given]
        self._tracker = _metrics.Mean(name="loss")

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training: bool = True
    ) -> Any:
        """The loss of a batch, and what weights and layers add to it.

        Raises
        ------
        ValueError: If there is no loss at all.
        """
        parts = list(self.losses)  # type: ignore[attr-defined]
        if self._loss is not None:
            parts.insert(0, _called(self._loss, y, y_pred, sample_weight))
        if not parts:
            raise ValueError(
                "No loss to compute. Provide a `loss` argument in `compile()`, or call "
                "`self.add_loss()` in the model."
            )
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def compute_metrics(self, x, y, y_pred, sample_weight=None) -> Any:
        """Count a batch, and say what has been counted so far."""
        for metric in self._watched:
            _resolved(metric, y, y_pred).update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, Any]:
        """What has been counted so far, by name."""
        return {metric.name: metric.result() for metric in self.metrics}

    @property
    def metrics(self) -> list[Any]:
        """What is counted: the loss, what `compile` was given, and metrics among the attributes."""
        own = super().metrics  # type: ignore[misc]
        first = [] if self._tracker is None or self._loss is None else [self._tracker]
        rest = [m.inner if isinstance(m, _Chosen) and m.inner else m for m in self._watched]
        found = [*first, *rest]
        return found + [metric for metric in own if not any(metric is other for other in found)]

    @property
    def metrics_names(self) -> list[str]:
        """The names of what is counted."""
        return [metric.name for metric in self.metrics]

    def reset_metrics(self) -> None:
        """Begin to count again."""
        for metric in self.metrics:
            metric.reset_state()

    # -- one batch --------------------------------------------------------------------------------

    def train_step(self, data) -> dict[str, Any]:
        """Learn from one batch; what has been counted so far is the result."""
        x, y, weight = unpacked(data)
        with GradientTape() as tape:
            y_pred = self(x, training=True)  # type: ignore[operator]
            loss = self.compute_loss(x, y, y_pred, weight)
        variables = self.trainable_variables  # type: ignore[attr-defined]
        self.optimizer.apply(tape.gradient(loss, variables), variables)
        self._tracker.update_state(loss, sample_weight=size_of(x))
        return self.compute_metrics(x, y, y_pred, weight)

    def test_step(self, data) -> dict[str, Any]:
        """Count one batch without learning from it."""
        x, y, weight = unpacked(data)
        y_pred = self(x, training=False)  # type: ignore[operator]
        if self._loss is not None or self.losses:  # type: ignore[attr-defined]
            loss = self.compute_loss(x, y, y_pred, weight, training=False)
            self._tracker.update_state(loss, sample_weight=size_of(x))
        return self.compute_metrics(x, y, y_pred, weight)

    def predict_step(self, data) -> Any:
        """The predictions for one batch."""
        return self(unpacked(data)[0], training=False)  # type: ignore[operator]

    def train_on_batch(self, x, y=None, sample_weight=None, return_dict: bool = False) -> Any:
        """Learn from one batch, and say its loss and what else is counted."""
        self._check_compiled()
        self.reset_metrics()
        return _listed(self.train_step(packed(x, y, sample_weight)), return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict: bool = False) -> Any:
        """The loss of one batch and what else is counted."""
        self._check_compiled()
        self.reset_metrics()
        return _listed(self.test_step(packed(x, y, sample_weight)), return_dict)

    def predict_on_batch(self, x) -> Any:
        """The predictions for one batch, as arrays."""
        return _arrays(self.predict_step(packed(x, None, None)))

    # -- many batches -----------------------------------------------------------------------------

    def fit(
        self,
        x=None,
        y=None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose="auto",
        callbacks=None,
        validation_split: float = 0.0,
        validation_data=None,
        shuffle: bool = True,
        class_weight=None,
        sample_weight=None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: int = 1,
    ) -> History:
        """Train the model.

        Parameters
        ----------
        x, y : array or Tensor, or Dataset. Inputs and targets; or a dataset of batches of both.
        batch_size : int, optional. 32 by default.
        epochs, initial_epoch : int. The number of the last epoch, and of the first.
        verbose : int or str. 0 prints nothing, anything else one line for each epoch.
        validation_split : float. The share of the examples, from the end, that is only counted.
        validation_data : tuple or Dataset, optional. What is only counted after each epoch.
        shuffle : bool. Whether examples are taken in another order in each epoch.
        sample_weight : array, optional. How much each example counts.
        steps_per_epoch, validation_steps : int, optional. How many batches to take.
        validation_batch_size : int, optional. As `batch_size`.
        validation_freq : int. After how many epochs to look at them.
        class_weight : dict, optional. How much the examples of each class count.
        callbacks : Callback or list of them, optional. What is called meanwhile.

        Returns
        -------
        History: Whose ``history`` has the values after each epoch.

        Raises
        ------
        ValueError: If the model has not been compiled.
        """
        self._check_compiled()
        if validation_split:
            x, y, sample_weight, validation_data = cut(x, y, sample_weight, validation_split)
        steps = count_of(x, batch_size, steps_per_epoch)
        told = self._told(callbacks, verbose=_shown(verbose), epochs=epochs, steps=steps)
        self.stop_training = False
        told.on_train_begin()
        logs: dict[str, Any] = {}
        for epoch in range(initial_epoch, epochs):
            self.reset_metrics()
            told.on_epoch_begin(epoch)
            found = batches(x, y, sample_weight, batch_size, shuffle, steps_per_epoch)
            data = weighted(found, class_weight)
            logs = self._walked("train", data, self.train_step, told)
            if validation_data is not None and (epoch + 1) % validation_freq == 0:
                parts = validation_parts(validation_data)
                size = validation_batch_size or batch_size
                counted = self._counted(*parts, size, validation_steps, told)
                logs |= {f"val_{key}": value for key, value in counted.items()}
            told.on_epoch_end(epoch, logs)
            if self.stop_training:
                break
        told.on_train_end(logs)
        return told.history

    def _told(self, callbacks, **params) -> Any:
        """Callbacks in one list, with what is always among them."""
        if isinstance(callbacks, CallbackList):
            return callbacks
        fits = params["epochs"] is not None
        return CallbackList(callbacks, fits, True, self, **params)

    def _walked(self, phase: str, data, step, told) -> dict[str, Any]:
        """Take a step for each batch; what the last one counted is the result."""
        logs: dict[str, Any] = {}
        for number, batch in enumerate(data):
            getattr(told, f"on_{phase}_batch_begin")(number)
            logs = _floats(step(batch))
            getattr(told, f"on_{phase}_batch_end")(number, logs)
            if self.stop_training and phase == "train":
                break
        return dict(logs)

    def _counted(self, x, y, weight, size, steps, told) -> dict[str, float]:
        told.on_test_begin()
        self.reset_metrics()
        data = batches(x, y, weight, size, False, steps)
        logs = self._walked("test", data, self.test_step, told)
        told.on_test_end(logs)
        return logs

    def evaluate(
        self,
        x=None,
        y=None,
        batch_size: int | None = None,
        verbose="auto",
        sample_weight=None,
        steps: int | None = None,
        callbacks=None,
        return_dict: bool = False,
        **kwargs,
    ) -> Any:
        """The loss and what else is counted, over all examples; arguments as for `fit`.

        Returns
        -------
        float, list of float, or dict: One number if only the loss is counted; by name if
            `return_dict` says so.
        """
        self._check_compiled()
        count = count_of(x, batch_size, steps)
        told = self._told(callbacks, verbose=_shown(verbose), epochs=None, steps=count)
        numbers = self._counted(x, y, sample_weight, batch_size, steps, told)
        if return_dict:
            return numbers
        values = list(numbers.values())
        return values[0] if len(values) == 1 else values

    def predict(
        self,
        x,
        batch_size: int | None = None,
        verbose="auto",
        steps: int | None = None,
        callbacks=None,
    ) -> Any:
        """The predictions for all examples, as an array."""
        count = count_of(x, batch_size, steps)
        told = self._told(callbacks, verbose=0, epochs=None, steps=count)
        told.on_predict_begin()
        parts = []
        for number, data in enumerate(batches(x, None, None, batch_size, False, steps)):
            told.on_predict_batch_begin(number)
            parts.append(_arrays(self.predict_step(data)))
            told.on_predict_batch_end(number, {"outputs": parts[-1]})
        told.on_predict_end()
        if isinstance(parts[0], list):
            return [np.concatenate(part) for part in zip(*parts, strict=True)]
        return np.concatenate(parts)

    def _check_compiled(self) -> None:
        if self.optimizer is None:
            raise ValueError(
                "You must call `compile()` before calling `fit()`, `evaluate()` or their like."
            )


def _shown(verbose) -> int:
    return 1 if verbose == "auto" else int(verbose)


# -- losses and metrics ----------------------------------------------------------------------------


def _called(loss, y, y_pred, weight) -> Any:
    if isinstance(loss, _losses.Loss):
        return loss(y, y_pred, sample_weight=weight)
    each = loss(y, y_pred)
    mask = getattr(y_pred, "_keras_mask", None)
    if mask is not None:
        weight = _losses.seen(mask, each, weight, "mean")
    if weight is not None:
        each = each * operations.cast(weight, each.dtype)
    return operations.reduce_mean(each)


class _Chosen:
    """``"accuracy"``: which one it is depends on the shapes of targets and predictions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inner: Any = None

    def reset_state(self) -> None:
        if self.inner is not None:
            self.inner.reset_state()

    def result(self) -> Any:
        return constant_of(np.float32(0)) if self.inner is None else self.inner.result()


def _metric(metric) -> Any:
    if metric in ("accuracy", "acc"):
        return _Chosen(metric)
    if isinstance(metric, _metrics.Metric):
        return metric
    if isinstance(metric, str | type):
        return _metrics.get(metric)
    return _metrics.MeanMetricWrapper(metric)


def _resolved(metric, y, y_pred) -> Any:
    if not isinstance(metric, _Chosen):
        return metric
    if metric.inner is None:
        targets, predictions = np.shape(y), tuple(y_pred.shape)
        if predictions[-1:] == (1,):
            kind = _metrics.BinaryAccuracy
        elif len(targets) < len(predictions) or targets[-1:] == (1,):
            kind = _metrics.SparseCategoricalAccuracy
        else:
            kind = _metrics.CategoricalAccuracy
        metric.inner = kind(name=metric.name)
    return metric.inner


def _floats(logs: dict[str, Any]) -> dict[str, float]:
    return {key: float(np.asarray(numbers_of(value))) for key, value in logs.items()}


def _listed(logs: dict[str, Any], by_name: bool) -> Any:
    numbers = _floats(logs)
    if by_name:
        return numbers
    values = list(numbers.values())
    return values[0] if len(values) == 1 else values


def _arrays(value) -> Any:
    if isinstance(value, list | tuple):
        return [np.asarray(numbers_of(part)) for part in value]
    return np.asarray(numbers_of(value))


fill_sections(globals())
