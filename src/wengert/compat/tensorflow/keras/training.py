"""Layer 9 · compat: compiling, fitting and evaluating Keras's models.

The loops are plain Python: they call `train_step`, which subclasses may override, for each batch,
and print one line after each epoch.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import nest
from wengert.compat.tensorflow.configs import snake_case
from wengert.compat.tensorflow.functions.drawing import stream_of
from wengert.compat.tensorflow.functions.values import constant_of, numbers_of
from wengert.compat.tensorflow.keras import losses as _losses
from wengert.compat.tensorflow.keras import metrics as _metrics
from wengert.compat.tensorflow.keras import optimizers
from wengert.compat.tensorflow.keras.callbacks import CallbackList, History
from wengert.compat.tensorflow.tape import GradientTape
from wengert.compat.tensorflow.words import refusal
from wengert.tape.sites import warn


def size_of(x) -> Any:
    """Return the number of examples in a batch."""
    return np.float32(len(_first(x)))


def packed(x, y=None, sample_weight=None) -> Any:
    """Pack inputs, targets and weights as datasets yield them."""
    if sample_weight is not None:
        return x, y, sample_weight
    if y is not None:
        return x, y
    return (x,) if isinstance(x, list | tuple) else x


def unpacked(data) -> tuple[Any, Any, Any]:
    """Unpack an element of a dataset into inputs, targets and weights."""
    if not isinstance(data, tuple):
        return data, None, None
    x, y, weight = (*data, None, None)[:3]
    return x, y, weight


def count_of(x, batch_size: int | None, steps: int | None) -> int | None:
    """Return the number of batches, or None if unknown."""
    if steps is not None:
        return steps
    if _is_data(x) or isinstance(x, list):
        return -(-len(_first(x)) // (batch_size or 32))
    try:
        return len(x)
    except TypeError:
        return None


def weighted(data: Iterator[Any], class_weight) -> Iterator[Any]:
    """Yield batches with example weights from class weights."""
    for batch in data:
        x, y, weight = unpacked(batch)
        if not class_weight:
            yield batch
            continue
        if weight is not None:
            raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
        labels = np.asarray(numbers_of(y))
        if labels.ndim > 1:
            labels = labels[..., 0] if labels.shape[-1] == 1 else labels.argmax(-1)
        found = [class_weight.get(int(label), 1.0) for label in labels.ravel()]
        yield x, y, constant_of(np.asarray(found, np.float32).reshape(labels.shape))


def validation_parts(data) -> tuple[Any, Any, Any]:
    """Unpack ``validation_data=`` into inputs, targets and weights."""
    return unpacked(data) if isinstance(data, tuple) else (data, None, None)


def _mapped(function, value) -> Any:
    return nest.map_structure(lambda part: None if part is None else function(part), value)


def _first(value) -> Any:
    while isinstance(value, list | tuple | dict):
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    return value


def _is_data(value) -> bool:
    """Return whether `value` contains arrays or tensors of examples."""
    return hasattr(_first(value), "shape") or not hasattr(value, "__iter__")


def _array(value) -> Any:
    array = np.asarray(numbers_of(value))
    return array.astype(np.float32) if array.dtype == np.float64 else array


def batches(
    x, y, weight, batch_size: int | None, shuffle: bool, steps: int | None
) -> Iterator[Any]:
    """Yield batches of examples, shuffled on request."""
    if not _is_data(x) and not isinstance(x, list):
        yield from itertools.islice(x, steps)
        return
    x, y, weight = (_mapped(_array, part) for part in (x, y, weight))
    count = len(_first(x))
    for part in (y, weight):
        if part is not None and len(_first(part)) != count:
            raise refusal(ValueError, "Data cardinality is", count, len(_first(part)))
    order = stream_of(None).permutation(count) if shuffle else np.arange(count)
    size = batch_size or 32
    for number, start in enumerate(range(0, count, size)):
        if steps is not None and number >= steps:
            return
        chosen = order[start : start + size]
        parts = [
            _mapped(lambda array, chosen=chosen: constant_of(array[chosen]), part)
            for part in (x, y, weight)
        ]
        yield packed(*parts)


def epochs_of(begin: Callable[[], Iterator[Any]], steps: int | None) -> Iterator[Iterator[Any]]:
    """Yield the batches of each epoch; with `steps`, epochs continue where the last one ended."""
    while steps is None:
        yield begin()
    data = begin()
    while True:
        yield itertools.islice(data, steps)
        after = list(itertools.islice(data, 1))
        data = itertools.chain(after, data) if after else begin()


def cut(x, y, weight, share: float) -> tuple[Any, Any, Any, Any]:
    """Split off the last `share` of the examples, and return both parts."""
    x, y, weight = (_mapped(_array, part) for part in (x, y, weight))
    place = int(np.floor(len(_first(x)) * (1 - share)))
    before = [_mapped(lambda array: array[:place], part) for part in (x, y, weight)]
    after = tuple(_mapped(lambda array: array[place:], part) for part in (x, y, weight))
    return before[0], before[1], before[2], after


class Trainer:
    """The methods of a model beyond those of a layer."""

    optimizer: Any = None
    loss: Any = None
    _counted: Any = None
    stop_training: bool = False
    _compiled: Any = None

    def compile(
        self,
        optimizer="rmsprop",
        loss=None,
        loss_weights=None,
        metrics=None,
        weighted_metrics=None,
        run_eagerly=False,
        steps_per_execution=1,
        jit_compile="auto",
        auto_scale_loss=True,
    ) -> None:
        """Configure training.

        Parameters
        ----------
        optimizer : Optimizer or str. The optimizer, or its name.
        loss : Loss, callable or str, optional. A function of targets and predictions.
        metrics : sequence of Metric, callable or str, optional. Further quantities to report.
        run_eagerly, steps_per_execution, jit_compile: Accepted, and of no effect.
        auto_scale_loss : bool. Whether the optimizer of a model whose policy is ``mixed_float16``
            becomes the inner one of a `LossScaleOptimizer`.
        loss_weights : list or dict, optional. The weights of the losses of several outputs.
        weighted_metrics : optional. Metrics that are weighted by ``sample_weight``.

        For a model of several outputs, losses and metrics are lists, or dictionaries by name of
        output.
        """
        found = optimizers.get(optimizer)
        half = self.dtype_policy.name == "mixed_float16"  # type: ignore[attr-defined]
        if half and auto_scale_loss and not isinstance(found, optimizers.LossScaleOptimizer):
            found = optimizers.LossScaleOptimizer(found, name="loss_scale_optimizer")
        self._compiled = {
            "optimizer": found,
            "loss": loss,
            "loss_weights": loss_weights,
            "metrics": metrics,
            "weighted_metrics": weighted_metrics,
        }
        self.optimizer, self.loss = found, loss
        self._counted = _Counted(loss, loss_weights, metrics, weighted_metrics)
        self._counted.begin(getattr(self, "_outputs", None), None)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True) -> Any:
        """Return the loss of a batch, with the terms that weights and layers add.

        Raises
        ------
        ValueError: If the model has no loss.
        """
        parts = list(self.losses)  # type: ignore[attr-defined]
        if self._counted is not None:
            self._counted.begin(getattr(self, "_outputs", None), y_pred)
            parts = self._counted.losses(y, y_pred, sample_weight) + parts
        if not parts:
            raise refusal(ValueError, "No loss to")
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def compute_metrics(self, x, y, y_pred, sample_weight=None) -> Any:
        """Add a batch to the metrics, and return their values so far."""
        if self._counted is not None:
            self._counted.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, Any]:
        """Return the results of the metrics so far, by name."""
        found: dict[str, Any] = {}
        for metric in self.metrics:
            result = metric.result()
            found |= result if isinstance(result, dict) else {metric.name: result}
        return found

    @property
    def metrics(self) -> list[Any]:
        """The metrics: the loss, those given to `compile`, and those among the attributes."""
        own = super().metrics  # type: ignore[misc]
        counted = self._counted
        if counted is None:
            return own
        given = {id(metric) for metric in counted.metrics}
        return counted.parts() + [metric for metric in own if id(metric) not in given]

    @property
    def metrics_names(self) -> list[str]:
        """The names of the metrics."""
        return [metric.name for metric in self.metrics]

    def reset_metrics(self) -> None:
        """Reset the metrics."""
        for metric in self.metrics:
            metric.reset_state()

    # -- one batch --------------------------------------------------------------------------------

    def train_step(self, data) -> dict[str, Any]:
        """Train on one batch, and return the metrics so far."""
        x, y, weight = unpacked(data)
        with GradientTape() as tape:
            y_pred = self(x, training=True)  # type: ignore[operator]
            loss = self.compute_loss(x, y, y_pred, weight)
            scaled = self.optimizer.scale_loss(loss)
        variables = self.trainable_variables  # type: ignore[attr-defined]
        if variables:
            self.optimizer.apply(tape.gradient(scaled, variables), variables)
        else:
            warn("The model does not have any trainable weights.")
        self._counted.tracker.update_state(loss, sample_weight=size_of(x))
        return self.compute_metrics(x, y, y_pred, weight)

    def test_step(self, data) -> dict[str, Any]:
        """Evaluate one batch, and return the metrics so far."""
        x, y, weight = unpacked(data)
        y_pred = self(x, training=False)  # type: ignore[operator]
        loss = self.compute_loss(x, y, y_pred, weight, training=False)
        self._counted.tracker.update_state(loss, sample_weight=size_of(x))
        return self.compute_metrics(x, y, y_pred, weight)

    def predict_step(self, data) -> Any:
        """Return the predictions for one batch."""
        return self(unpacked(data)[0], training=False)  # type: ignore[operator]

    def train_on_batch(self, x, y=None, sample_weight=None, return_dict=False) -> Any:
        """Train on one batch, and return its loss and metrics."""
        self._check_compiled()
        self.reset_metrics()
        return _listed(self.train_step(packed(x, y, sample_weight)), return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False) -> Any:
        """Evaluate one batch, and return its loss and metrics."""
        self._check_compiled()
        self.reset_metrics()
        return _listed(self.test_step(packed(x, y, sample_weight)), return_dict)

    def predict_on_batch(self, x) -> Any:
        """Return the predictions for one batch, as arrays."""
        return _arrays(self.predict_step(packed(x, None, None)))

    # -- many batches -----------------------------------------------------------------------------

    def fit(
        self,
        x=None,
        y=None,
        batch_size: int | None = None,
        epochs=1,
        verbose="auto",
        callbacks=None,
        validation_split=0.0,
        validation_data=None,
        shuffle=True,
        class_weight=None,
        sample_weight=None,
        initial_epoch=0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq=1,
    ) -> History:
        """Train the model.

        Parameters
        ----------
        x, y : array or Tensor, or Dataset. The inputs and targets, or a dataset of batches of both.
        batch_size : int, optional. 32 by default.
        epochs, initial_epoch : int. The index after the last epoch, and that of the first.
        verbose : int or str. 0 prints nothing; other values print one line per epoch.
        validation_split : float. The fraction of the examples, from the end, to use for validation.
        validation_data : tuple or Dataset, optional. The data to evaluate after each epoch.
        shuffle : bool. Whether to shuffle the examples in each epoch.
        sample_weight : array, optional. The weight of each example.
        steps_per_epoch, validation_steps : int, optional. The number of batches per epoch.
        validation_batch_size : int, optional. The batch size of validation; by default
            `batch_size`.
        validation_freq : int. The number of epochs between validations.
        class_weight : dict, optional. The weight of the examples of each class.
        callbacks : Callback or list of them, optional. The callbacks of training.

        Returns
        -------
        History: Its ``history`` contains the values after each epoch.

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

        def begin() -> Iterator[Any]:
            return batches(x, y, sample_weight, batch_size, shuffle, None)

        turns = epochs_of(begin, steps_per_epoch)
        told.on_train_begin()
        logs: dict[str, Any] = {}
        for epoch in range(initial_epoch, epochs):
            self.reset_metrics()
            told.on_epoch_begin(epoch)
            data = weighted(next(turns), class_weight)
            logs = self._walked("train", data, self.train_step, told)
            if validation_data is not None and (epoch + 1) % validation_freq == 0:
                parts = validation_parts(validation_data)
                size = validation_batch_size or batch_size
                counted = self._tested(*parts, size, validation_steps, told)
                logs |= {f"val_{key}": value for key, value in counted.items()}
            told.on_epoch_end(epoch, _ordered(logs))
            if self.stop_training:
                break
        if initial_epoch < epochs and isinstance(self.optimizer, optimizers.Optimizer):
            self.optimizer.finalize_variable_values(self.trainable_variables)  # type: ignore[attr-defined]
        told.on_train_end(logs)
        return told.history

    def _told(self, callbacks, **params) -> Any:
        """Combine callbacks with the default ones in one list."""
        if isinstance(callbacks, CallbackList):
            return callbacks
        fits = params["epochs"] is not None
        return CallbackList(callbacks, fits, True, self, **params)

    def _walked(self, phase: str, data, step, told) -> dict[str, Any]:
        """Run a step for each batch, and return the last metrics."""
        logs: dict[str, Any] = {}
        for number, batch in enumerate(data):
            getattr(told, f"on_{phase}_batch_begin")(number)
            logs = _floats(step(batch))
            getattr(told, f"on_{phase}_batch_end")(number, logs)
            if self.stop_training and phase == "train":
                break
        return dict(logs)

    def _tested(self, x, y, weight, size, steps, told) -> dict[str, float]:
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
        return_dict=False,
        **kwargs,
    ) -> Any:
        """Return the loss and the metrics over all examples; for the arguments see `fit`.

        Returns
        -------
        float, list of float, or dict: The loss, if there are no metrics; else a list, or a dict if
            `return_dict`.
        """
        self._check_compiled()
        count = count_of(x, batch_size, steps)
        told = self._told(callbacks, verbose=_shown(verbose), epochs=None, steps=count)
        numbers = self._tested(x, y, sample_weight, batch_size, steps, told)
        return _listed(numbers, return_dict)

    def predict(
        self,
        x,
        batch_size: int | None = None,
        verbose="auto",
        steps: int | None = None,
        callbacks=None,
    ) -> Any:
        """Return the predictions for all examples, as an array."""
        count = count_of(x, batch_size, steps)
        told = self._told(callbacks, verbose=0, epochs=None, steps=count)
        told.on_predict_begin()
        parts = []
        for number, data in enumerate(batches(x, None, None, batch_size, False, steps)):
            told.on_predict_batch_begin(number)
            parts.append(_arrays(self.predict_step(data)))
            told.on_predict_batch_end(number, {"outputs": parts[-1]})
        told.on_predict_end()
        return nest.map_structure(lambda *part: np.concatenate(part), *parts)

    def _check_compiled(self) -> None:
        if self.optimizer is None:
            raise refusal(ValueError, "You must call `compile()`")


def _shown(verbose) -> int:
    return 1 if verbose == "auto" else int(verbose)


# -- losses and metrics ----------------------------------------------------------------------------


def _called(loss, y, y_pred, weight) -> Any:
    if isinstance(loss, _losses.Loss):
        return loss(y, y_pred, sample_weight=weight)
    mask = getattr(y_pred, "_keras_mask", None)
    return _losses.reduced(loss(y, y_pred), weight, mask, "mean")


class _Counted:
    """The losses and metrics of a model, for each of its outputs."""

    name = "compile_metrics"

    def __init__(self, loss, loss_weights, metrics, weighted) -> None:
        self._given = (loss, loss_weights, metrics, weighted)
        self._names: list[str] = []
        self.tracker = _metrics.Mean(name="loss")
        self._losses: list[Any] = []
        self._factors: list[Any] = []
        self._parts: dict[str, Any] = {}
        self._watched: list[tuple[int, bool, Any]] = []

    def begin(self, outputs, y_pred) -> None:
        """Create the losses and metrics once the number of outputs is known."""
        seen = outputs if y_pred is None else y_pred
        names = list(seen) if isinstance(seen, dict) else [""]
        if isinstance(seen, list | tuple):
            drawn = isinstance(outputs, list | tuple)
            names = [
                outputs[i].origin[0].name if drawn else f"output_{i + 1}" for i in range(len(seen))
            ]
        if names == self._names:
            return
        self._names = names
        factors = self._given[1]
        if seen is not None and isinstance(factors, list | dict) and len(factors) != len(names):
            raise refusal(ValueError, "`loss_weights` must match", len(names), len(factors))
        loss, factors, *metrics = (self._for_each(given) for given in self._given)
        self._losses = [_losses.get(one) for one in loss]
        self._factors = [1.0 if one is None else one for one in factors]
        given = [name for name, one in zip(names, self._losses, strict=True) if one is not None]
        alone = len(given) < 2
        self._parts = {} if alone else {n: _metrics.Mean(name=f"{n}_loss") for n in given}
        self._watched = [
            (place, weighted, _metric(one))
            for weighted, kinds in zip((False, True), metrics, strict=True)
            for place, given in enumerate(kinds)
            for one in (given if isinstance(given, list | tuple) else [given] if given else [])
        ]

    def _for_each(self, given) -> list[Any]:
        """Return the setting for each output: given by name, in order, or one for all."""
        if isinstance(given, dict):
            alone = list(given.values()) if len(self._names) == len(given) == 1 else []
            return alone or [given.get(name) for name in self._names]
        if isinstance(given, list | tuple) and len(self._names) > 1:
            return list(given)
        return [given] * len(self._names)

    def parts(self) -> list[Any]:
        """Return the means of the loss and of that of each output, and all metrics as one."""
        return [self.tracker, *self._parts.values(), *([self] if any(self._given[2:]) else [])]

    @property
    def metrics(self) -> list[Any]:
        """The metrics given to `compile`."""
        return [metric for _, metric in self.named()]

    def result(self) -> dict[str, Any]:
        """Return the results of the metrics, by name."""
        return {name: metric.result() for name, metric in self.named()}

    def reset_state(self) -> None:
        """Reset the metrics."""
        for metric in self.metrics:
            metric.reset_state()

    def named(self) -> list[tuple[str, Any]]:
        """Return the names of the metrics given to `compile`, with the metrics."""
        found: list[tuple[str, Any]] = []
        met: dict[str, int] = {}
        for place, weighted, metric in self._watched:
            output = f"{self._names[place]}_" if len(self._names) > 1 else ""
            name = output + metric.name
            if weighted and name in met:
                name = f"{output}weighted_{metric.name}"
            met[name] = count = met.get(name, -1) + 1
            inner = metric.inner or metric if isinstance(metric, _Chosen) else metric
            found.append((f"{name}_{count}" if count else name, inner))
        return found

    def losses(self, y, y_pred, weight) -> list[Any]:
        """Return the losses of a batch, one for each output."""
        found = []
        parts = (self._for_each(part) for part in (y, y_pred, weight))
        for place, (target, predicted, amount) in enumerate(zip(*parts, strict=True)):
            if self._losses[place] is None:
                continue
            loss = _called(self._losses[place], target, predicted, amount)
            if self._parts:
                self._parts[self._names[place]].update_state(loss)
            factor = self._factors[place]
            found.append(loss if factor == 1.0 else loss * factor)
        return found

    def update_state(self, y_true, y_pred, sample_weight=None) -> None:
        """Add a batch; only the weighted metrics take its weights."""
        targets, predicted, amounts = map(self._for_each, (y_true, y_pred, sample_weight))
        for place, weighted, metric in self._watched:
            pair = targets[place], predicted[place]
            _resolved(metric, *pair).update_state(*pair, amounts[place] if weighted else None)


class _Chosen:
    """The metric ``"accuracy"``, chosen by the shapes of targets and predictions."""

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
        found = _metrics.get(metric)
        found.name = metric if isinstance(metric, str) else found.name
        return found
    name: Any = getattr(metric, "name", None) or getattr(metric, "__name__", "metric")
    return _metrics.MeanMetricWrapper(metric, snake_case(name))


def _resolved(metric, y, y_pred) -> Any:
    if not isinstance(metric, _Chosen):
        return metric
    if metric.inner is None:
        targets, predictions = np.shape(y), tuple(y_pred.shape)
        kind: Any
        if predictions[-1:] == (1,):
            kind = _metrics.BinaryAccuracy
        elif len(targets) < len(predictions) or targets[-1:] == (1,):
            kind = _metrics.SparseCategoricalAccuracy
        else:
            kind = _metrics.CategoricalAccuracy
        metric.inner = kind(name=metric.name)
    return metric.inner


def _floats(logs: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for key, value in logs.items():
        if isinstance(value, dict):
            found |= _floats(value)
        else:
            found[key] = float(np.asarray(numbers_of(value)))
    return found


def _listed(logs: dict[str, Any], by_name: bool) -> Any:
    numbers = _floats(logs)
    if by_name:
        return dict(sorted(numbers.items()))
    values = list(numbers.values())
    return values[0] if len(values) == 1 else values


def _ordered(logs: dict[str, Any]) -> dict[str, Any]:
    """Return metrics by name, with those of validation last."""
    return dict(sorted(logs.items(), key=lambda pair: (pair[0].startswith("val_"), pair[0])))


def _arrays(value) -> Any:
    return nest.map_structure(lambda part: np.asarray(numbers_of(part)), value)


__all__ = defined(globals())
