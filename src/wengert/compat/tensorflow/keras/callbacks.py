"""Layer 9 · compat: ``tf.keras.callbacks``: hooks that are called while models are fitted.

>>> seen = []
>>> notice = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(epoch))
>>> model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
>>> model.compile("sgd", "mse")
>>> _ = model.fit(tf.ones([4, 1]), tf.ones([4, 1]), epochs=2, verbose=0, callbacks=[notice])
>>> seen
[0, 1]
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from wengert.compat.kit.arguments import Given, arguments
from wengert.compat.tensorflow import nest
from wengert.compat.tensorflow.functions.values import numbers_of
from wengert.compat.tensorflow.words import public, refusal
from wengert.tape.sites import warn

_PHASES = ("train", "test", "predict")
_EVENTS = (
    "epoch_begin",
    "epoch_end",
    *(f"{phase}_{event}" for phase in _PHASES for event in ("begin", "end")),
    *(f"{phase}_batch_{event}" for phase in _PHASES for event in ("begin", "end")),
)


class Callback(Given):
    """Base class for callbacks; `fit`, `evaluate` and `predict` call its methods.

    Attributes
    ----------
    model: The model that is fitted.
    params: A dictionary of ``verbose``, ``epochs`` and ``steps``.
    """

    model: Any = None
    params: Any = None

    def set_params(self, params: dict[str, Any]) -> None:
        """Store the parameters of `fit`."""
        self.params = params

    def set_model(self, model) -> None:
        """Store the model."""
        self.model = model

    def on_batch_begin(self, batch: int, logs=None) -> None:
        """Called before each batch of training."""

    def on_batch_end(self, batch: int, logs=None) -> None:
        """Called after each batch of training."""

    def on_train_batch_begin(self, batch: int, logs=None) -> None:
        """Called before each batch of training."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: int, logs=None) -> None:
        """Called after each batch of training."""
        self.on_batch_end(batch, logs=logs)


def _ignored(event: str) -> Callable[..., None]:
    def method(self, *args, **kwargs) -> None:
        return None

    when = event.replace("_begin", " begins").replace("_end", " ends").replace("_", " ")
    method.__doc__ = f"Called when a {when}."
    method.__name__ = f"on_{event}"
    return method


for _event in _EVENTS:
    if not hasattr(Callback, f"on_{_event}"):
        setattr(Callback, f"on_{_event}", _ignored(_event))


class History(Callback):
    """The result of `fit`: ``history`` maps each quantity to its values after the epochs."""

    def __init__(self) -> None:
        self.history: dict[str, list[Any]] = {}

    def on_train_begin(self, logs=None) -> None:
        self.epoch: list[int] = []

    def on_epoch_end(self, epoch: int, logs=None) -> None:
        self.epoch.append(epoch)
        for key, value in (logs or {}).items():
            self.history.setdefault(key, []).append(value)
        self.model.history = self


class ProgbarLogger(Callback):
    """Prints one line per epoch."""

    def on_epoch_begin(self, epoch: int, logs=None) -> None:
        self._count = 0
        if self.params["verbose"]:
            print(f"Epoch {epoch + 1}/{self.params['epochs']}")

    def on_train_batch_end(self, batch: int, logs=None) -> None:
        self._count = batch + 1

    def on_epoch_end(self, epoch: int, logs=None) -> None:
        if self.params["verbose"]:
            print(f"{self._count}/{self._count} - {shown_numbers(logs)}")

    def on_test_end(self, logs=None) -> None:
        if self.params["verbose"] and self.params["epochs"] is None:
            print(shown_numbers(logs))


def shown_numbers(logs) -> str:
    """Format quantities on one line."""
    return " - ".join(f"{key}: {value:.4f}" for key, value in logs.items())


class CallbackList(Callback):
    """A sequence of callbacks.

    Parameters
    ----------
    callbacks : Callback, or list of them. Nested or not.
    add_history, add_progbar : bool. Whether to append a `History` or a `ProgbarLogger`, if missing.
    model: The model.
    **params: The parameters passed to the callbacks.
    """

    def __init__(
        self, callbacks=None, add_history=False, add_progbar=False, model=None, **params
    ) -> None:
        self.callbacks = nest.flatten(callbacks) if callbacks else []
        for kind, wanted in ((History, add_history), (ProgbarLogger, add_progbar)):
            if wanted and not any(isinstance(one, kind) for one in self.callbacks):
                self.callbacks.append(kind())
        self.history = next((one for one in self.callbacks if isinstance(one, History)), None)
        self.params = params
        for callback in self.callbacks:
            if model is not None:
                callback.set_model(model)
            if params:
                callback.set_params(params)
        if model is not None and self.history is not None:
            model.history = self.history


def _passed_on(event: str) -> Callable[..., None]:
    counted = "batch" in event or "epoch" in event

    def method(self, *args, logs=None) -> None:
        numbers, rest = args[:counted], args[counted:]
        # a callback may add to its dictionary; only the callbacks after it see the addition
        shared = dict(logs or (rest and rest[0]) or {})
        for callback in self.callbacks:
            getattr(callback, f"on_{event}")(*numbers, shared)

    method.__doc__ = f"Call `on_{event}` of each."
    method.__name__ = f"on_{event}"
    return method


for _event in (*_EVENTS, "batch_begin", "batch_end"):
    setattr(CallbackList, f"on_{_event}", _passed_on(_event))


# -- what looks at one quantity --------------------------------------------------------------------

_GROWING = ("accuracy", "precision", "recall", "auc", "cosine")
_FALLING = ("loss", "error", "entropy", "hinge", "poisson", "divergence", "logcosh", "mse", "mae")


@arguments("monitor='val_loss', mode='auto', min_delta=0")
class _Monitor(Callback):
    """Base class for callbacks that monitor one quantity and compare its values."""

    def _prepare(self: Any) -> None:
        self.best: Any = None
        if self.mode not in ("auto", "min", "max"):
            warn(f"{type(self).__name__} mode '{self.mode}' is unknown, fallback to auto mode.")
            self.mode = "auto"
        self.min_delta = abs(self.min_delta)

    def _better(self, value, than) -> bool:
        if than is None:
            return True
        if self._grows():
            return bool(value - self.min_delta > than)
        return bool(value + self.min_delta < than)

    def _grows(self) -> bool:
        if self.mode != "auto":
            return self.mode == "max"
        name = self.monitor.removeprefix("val_")
        held = [one for m in self.model.metrics for one in getattr(m, "metrics", [m])]
        kinds = [type(m).__name__ for m in held if m.name == name]
        said = " ".join([name, *kinds]).lower()
        if name == "loss" or (kinds and any(word in said for word in _FALLING)):
            return False
        if kinds and any(word in said for word in _GROWING):
            return True
        raise refusal(ValueError, "{} callback received", type(self).__name__, self.monitor)

    def _value(self, logs, words: str) -> Any:
        self._grows()
        value = (logs or {}).get(self.monitor)
        if value is None:
            warn(refusal(str, "{} metric `{}`", words, self.monitor, ",".join(logs or ())))
        return value

    def _say(self, text: str) -> None:
        if self.verbose:
            print(text)


@arguments(
    "monitor='val_loss', min_delta=0, patience=0, verbose=0, mode='auto', baseline=None, "
    "restore_best_weights=False, start_from_epoch=0"
)
class EarlyStopping(_Monitor):
    """Stops training when a quantity has stopped improving.

    Parameters
    ----------
    monitor : str. The quantity to monitor.
    min_delta : float. The smallest change that counts as an improvement.
    patience : int. The number of epochs to wait for an improvement.
    verbose : int. Whether to print a message.
    mode : {"auto", "min", "max"}. Whether smaller or larger values are better.
    baseline : float, optional. A value that the quantity must improve on.
    restore_best_weights : bool. Whether to restore the weights of the best epoch.
    start_from_epoch : int. The first epoch that counts.
    """

    def _prepare(self: Any) -> None:
        super()._prepare()
        self.on_train_begin()

    def on_train_begin(self, logs=None) -> None:
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = None
        self.best_weights: Any = None

    def on_epoch_end(self, epoch: int, logs=None) -> None:
        value = self._value(logs, "Early stopping conditioned on")
        if value is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self._better(value, self.best):
            self.best, self.best_epoch = value, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self._better(value, self.baseline):
                self.wait = 0
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs=None) -> None:
        if self.stopped_epoch:
            self._say(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            self._say(
                f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}."
            )
            self.model.set_weights(self.best_weights)


@arguments(
    "filepath, monitor='val_loss', verbose=0, save_best_only=False, save_weights_only=False, "
    "mode='auto', save_freq='epoch', initial_value_threshold=None"
)
class ModelCheckpoint(_Monitor):
    """Saves the model, or its weights, after each epoch or every few batches.

    Parameters
    ----------
    filepath : str or path. The file; a format string that may use the names of quantities,
        ``epoch`` and ``batch``. It ends in ``.keras``, or in ``.weights.h5`` for weights alone.
    monitor, mode: See `EarlyStopping`.
    save_best_only : bool. Whether to save only if the quantity has improved.
    save_weights_only : bool. Whether to save only the weights.
    save_freq : int or str. The number of batches between files, or ``"epoch"``.
    initial_value_threshold : float, optional. A value that the first model must improve on.
    verbose : int. Whether to print a message.

    Raises
    ------
    ValueError: If the suffix of `filepath`, or `save_freq`, is not supported.
    """

    without = ("min_delta",)

    def _prepare(self: Any) -> None:
        super()._prepare()
        self.filepath = os.fspath(self.filepath)
        self.best = self.initial_value_threshold
        self._epoch = self._batches = 0
        if self.save_freq != "epoch" and not isinstance(self.save_freq, int):
            raise refusal(ValueError, "Unrecognized save_freq: {}.", self.save_freq)
        if self.save_weights_only and not self.filepath.endswith(".weights.h5"):
            raise refusal(ValueError, "When using `save_weights_only=True`", self.filepath)
        if not self.save_weights_only and not self.filepath.endswith((".keras", ".h5")):
            raise refusal(ValueError, "The filepath provided must end in `.keras`", self.filepath)

    def on_epoch_begin(self, epoch: int, logs=None) -> None:
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs=None) -> None:
        if self.save_freq == "epoch":
            return
        self._batches += 1
        if self._batches >= self.save_freq:
            self._batches = 0
            self._save(self._epoch, {"batch": batch + 1, **(logs or {})})

    def on_epoch_end(self, epoch: int, logs=None) -> None:
        if self.save_freq == "epoch":
            self._save(epoch, logs or {})

    def _save(self, epoch: int, logs) -> None:
        try:
            path = self.filepath.format(**{"epoch": epoch + 1, **logs})
        except KeyError as error:
            raise refusal(KeyError, "Failed to format", self.filepath, error) from None
        if not self._wanted(epoch, logs, path):
            return
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write = self.model.save_weights if self.save_weights_only else self.model.save
        write(path, overwrite=True)
        self._say(f"\nEpoch {epoch + 1}: finished saving model to {path}")

    def _wanted(self, epoch: int, logs, path: str) -> bool:
        if not self.save_best_only:
            self._say(f"\nEpoch {epoch + 1}: saving model to {path}")
            return True
        value = logs.get(self.monitor)
        if value is None:
            warn(f"Can save best model only with {self.monitor} available.")
            return True
        before = "None" if self.best is None else f"{self.best:.5f}"
        if not self._better(value, self.best):
            self._say(f"\nEpoch {epoch + 1}: {self.monitor} did not improve from {before}")
            return False
        self._say(
            f"\nEpoch {epoch + 1}: {self.monitor} improved from {before} to {value:.5f}, saving "
            f"model to {path}"
        )
        self.best = value
        return True


@arguments(
    "monitor='val_loss', factor=0.1, patience=10, verbose=0, mode='auto', min_delta=1e-4, "
    "cooldown=0, min_lr=0.0"
)
class ReduceLROnPlateau(_Monitor):
    """Reduces the learning rate when a quantity has stopped improving.

    Parameters
    ----------
    monitor, mode, min_delta: See `EarlyStopping`.
    factor : float. The factor of the learning rate, less than 1.
    patience : int. The number of epochs to wait for an improvement.
    cooldown : int. The number of epochs to ignore after a reduction.
    min_lr : float. The minimum learning rate.
    verbose : int. Whether to print a message.

    Raises
    ------
    ValueError: If `factor` is 1 or more.
    """

    def _prepare(self: Any) -> None:
        super()._prepare()
        if self.factor >= 1.0:
            raise refusal(ValueError, "ReduceLROnPlateau does not", self.factor)
        self.on_train_begin()

    def on_train_begin(self, logs=None) -> None:
        self.best = None
        self.cooldown_counter = self.wait = 0

    def on_epoch_end(self, epoch: int, logs=None) -> None:
        logs["learning_rate"] = rate = float(numbers_of(self.model.optimizer.learning_rate))
        value = self._value(logs, "Learning rate reduction is conditioned on")
        if value is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._better(value, self.best):
            self.best, self.wait = value, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience and rate > np.float32(self.min_lr):
                new = max(rate * self.factor, self.min_lr)
                self.model.optimizer.learning_rate = new
                self._say(
                    f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {new}."
                )
                self.cooldown_counter, self.wait = self.cooldown, 0

    def in_cooldown(self) -> bool:
        """Return whether a reduction is recent enough to ignore changes."""
        return self.cooldown_counter > 0


# -- others ----------------------------------------------------------------------------------------


@arguments("schedule, verbose=0")
class LearningRateScheduler(Callback):
    """Sets the learning rate before each epoch to a function of the epoch.

    Parameters
    ----------
    schedule : callable. A function of the epoch, and of the current rate if it takes two arguments.
    verbose : int. Whether to print a message.

    Raises
    ------
    ValueError: If the function does not return a float.
    """

    def on_epoch_begin(self, epoch: int, logs=None) -> None:
        try:
            rate = self.schedule(epoch, float(numbers_of(self.model.optimizer.learning_rate)))
        except TypeError:
            rate = self.schedule(epoch)
        if not isinstance(rate, float | np.floating):
            raise refusal(ValueError, "The output of", rate)
        self.model.optimizer.learning_rate = rate
        if self.verbose:
            print(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {rate}.")

    def on_epoch_end(self, epoch: int, logs=None) -> None:
        logs["learning_rate"] = float(numbers_of(self.model.optimizer.learning_rate))


@arguments("filename, separator=',', append=False")
class CSVLogger(Callback):
    """Writes a line of a CSV file after each epoch.

    Parameters
    ----------
    filename : str or path. The file.
    separator : str. The separator between values.
    append : bool. Whether to append to an existing file.
    """

    def _prepare(self: Any) -> None:
        self.filename, self.sep = os.fspath(self.filename), self.separator
        self._keys: list[str] | None = None

    def on_train_begin(self, logs=None) -> None:
        path = Path(self.filename)
        self._keys = None
        self._headed = self.append and path.exists() and path.stat().st_size > 0
        if not self.append:
            path.write_text("", encoding="utf-8")

    def on_epoch_end(self, epoch: int, logs=None) -> None:
        logs = logs or {}
        if self._keys is None:
            self._keys = sorted(logs)
            if not any(key.startswith("val_") for key in self._keys):
                self._keys += [f"val_{key}" for key in self._keys]
        with open(self.filename, "a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=self.sep)
            if not self._headed:
                writer.writerow(["epoch", *self._keys])
                self._headed = True
            writer.writerow([epoch, *(logs.get(key, "NA") for key in self._keys)])


class LambdaCallback(Callback):
    """A callback made of functions: ``on_epoch_end=lambda epoch, logs: ...`` and so on."""

    def __init__(
        self,
        on_epoch_begin=None,
        on_epoch_end=None,
        on_train_begin=None,
        on_train_end=None,
        on_train_batch_begin=None,
        on_train_batch_end=None,
        **kwargs,
    ) -> None:
        given = {key: value for key, value in locals().items() if key.startswith("on_")}
        vars(self).update(kwargs)
        vars(self).update({key: value for key, value in given.items() if value is not None})


@arguments("raise_error=False")
class TerminateOnNaN(Callback):
    """Stops training when the loss is infinite or NaN.

    Parameters
    ----------
    raise_error : bool. Whether to raise a RuntimeError instead.
    """

    def on_batch_end(self, batch: int, logs=None) -> None:
        loss = (logs or {}).get("loss")
        if loss is None or np.isfinite(loss):
            return
        if self.raise_error:
            raise refusal(RuntimeError, "NaN or Inf", batch, loss)
        print(f"Batch {batch}: Invalid loss, terminating training")
        self.model.stop_training = True


class TensorBoard(Callback):
    """Not offered: nothing here writes TensorBoard's files of graphs and summaries.

    Programs import it at their top, so the class is here.

    Raises
    ------
    NotImplementedError: Always.
    """

    def __init__(self, log_dir="logs", *args, **kwargs) -> None:
        raise refusal(NotImplementedError, "tf.keras.callbacks.TensorBoard is not")


__all__ = public(globals(), without="shown_numbers")
