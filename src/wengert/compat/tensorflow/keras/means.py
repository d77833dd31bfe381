"""Layer 9 · compat: Keras's base class of metrics, and metrics that are means."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np

from wengert.compat.kit.arguments import arguments
from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import of_rows
from wengert.compat.kit.signatures import signature_of
from wengert.compat.tensorflow import initializers
from wengert.compat.tensorflow.configs import Configured, snake_case
from wengert.compat.tensorflow.functions.ordering import argmax, in_top_k
from wengert.compat.tensorflow.functions.values import constant_of, numbers_of, tensor_of
from wengert.compat.tensorflow.keras import losses as _losses
from wengert.compat.tensorflow.keras.globals import float_type, name_for
from wengert.compat.tensorflow.keras.weights import Weight


class Metric(Configured):
    """A metric that accumulates over batches: `update_state`, `result` and `reset_state`.

    A subclass may accumulate in plain attributes or in variables.
    """

    def __init__(self, dtype=None, name: str | None = None) -> None:
        self.name = name or name_for(type(self).__name__)
        self._kind = float_type(dtype)
        self._start: dict[str, Any] = {}
        self._variables: list[Any] = []

    def add_variable(self, shape, initializer, dtype=None, name: str | None = None) -> Any:
        """Add a variable that `reset_state` resets to zeros."""
        value = initializers.get(initializer)(shape, dtype or str(self._kind))
        self._variables.append(Weight(value, self.name, name or "variable", trainable=False))
        return self._variables[-1]

    def add_weight(self, shape=(), initializer="zeros", dtype=None, name: str | None = None) -> Any:
        """Add a variable; same as `add_variable`."""
        if isinstance(shape, str):
            shape, name = (), shape
        return self.add_variable(shape, initializer, dtype, name)

    @property
    def variables(self) -> list[Any]:
        """The variables that `add_variable` made."""
        return list(self._variables)

    def update_state(self, *args, **kwargs) -> Any:
        """Add a batch."""
        raise NotImplementedError("Metric subclasses must implement `update_state`.")

    def result(self) -> Any:
        """Return the value of the metric so far."""
        raise NotImplementedError("Metric subclasses must implement `result`.")

    def reset_state(self) -> None:
        """Reset the metric."""
        for variable in self._variables:
            variable.assign(np.zeros(tuple(variable.shape), variable.dtype.as_numpy_dtype))

    def reset_states(self) -> None:
        """Reset the metric; same as `reset_state`."""
        self.reset_state()

    def __call__(self, *args, **kwargs) -> Any:
        """Add a batch, and return the value so far."""
        self.update_state(*args, **kwargs)
        return self.result()

    def _tensor(self, number) -> Any:
        return constant_of(np.asarray(number).astype(self._kind))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that create an equal object."""
        return {**super().get_config(), "name": self.name, "dtype": str(self._kind)}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


class _Average(Metric):
    """A weighted sum and its divisor."""

    _called: ClassVar[str | None] = None
    _kept: ClassVar[tuple[str, ...]] = ("total", "count")

    def __init__(self, name: str | None = None, dtype=None) -> None:
        super().__init__(name=name or self._called, dtype=dtype)
        self._sums = [self.add_variable((), "zeros", name=name) for name in self._kept]

    def _added(self, total, count) -> None:
        for variable, number in zip(self._sums, (total, count), strict=False):
            variable.assign_add(variable.dtype.as_numpy_dtype(number))

    def _mean(self) -> float:
        total, count = (float(variable.numpy()) for variable in self._sums)
        return total / count if count else 0.0

    def _add(self, values, sample_weight, reduce=np.mean) -> None:
        """Add a batch, in which each example counts once, however many elements it has."""

        def of_examples(array, first=1) -> Any:
            axes = tuple(range(first, array.ndim))
            return reduce(array, axis=axes) if axes else array

        numbers = np.asarray(values, np.float64)
        weights: Any = np.float64(1.0)
        if sample_weight is not None:
            numbers, weights = same_rank(numbers, sample_weight)
            numbers = of_examples(numbers, weights.ndim)
            weights = np.broadcast_to(weights, numbers.shape)
        numbers = of_examples(numbers * weights)
        count = numbers.size if sample_weight is None else of_examples(weights).sum()
        self._added(numbers.sum(), count)

    def result(self) -> Any:
        return self._tensor(self._mean())


class Mean(_Average):
    """The mean of all values.

    Examples
    --------
    >>> m = tf.keras.metrics.Mean()
    >>> m.update_state([1.0, 3.0])
    >>> float(m.result())
    2.0
    """

    _called = "mean"

    def update_state(self, values, sample_weight=None) -> None:
        self._add(numbers_of(values), sample_weight)


class Sum(_Average):
    """The sum of all values.

    Examples
    --------
    >>> float(tf.keras.metrics.Sum()([1.0, 3.0]))
    4.0
    """

    _called, _kept = "sum", ("total",)

    def update_state(self, values, sample_weight=None) -> None:
        self._add(numbers_of(values), sample_weight, np.sum)

    def result(self) -> Any:
        return self._tensor(self._sums[0].numpy())


class _OfPairs(_Average):
    """Base class for means over the elements that the predictions' mask shows."""

    def _values(self, y_true, y_pred) -> Any:
        raise NotImplementedError

    def update_state(self, y_true, y_pred, sample_weight=None) -> None:
        """Add a batch."""
        values = tensor_of(self._values(y_true, y_pred))
        mask = getattr(y_pred, "_keras_mask", None)
        if mask is not None:
            sample_weight = _losses.seen(mask, sample_weight, values._payload.dtype, "sum")
        self._add(numbers_of(values), sample_weight)


class MeanMetricWrapper(_OfPairs):
    """The mean of a function of targets and predictions."""

    def __init__(self, fn, name: str | None = None, dtype=None, **kwargs) -> None:
        super().__init__(name=name or getattr(fn, "__name__", None), dtype=dtype)
        self._fn = fn
        self._options = kwargs

    def _values(self, y_true, y_pred) -> Any:
        return self._fn(y_true, y_pred, **self._options)


# -- accuracies ------------------------------------------------------------------------------------


def same_rank(y_true, y_pred) -> tuple[Any, Any]:
    y, p = numbers_of(y_true), numbers_of(y_pred)
    if y.ndim == p.ndim + 1 and y.shape[-1] == 1:
        y = y[..., 0]
    elif p.ndim == y.ndim + 1 and p.shape[-1] == 1:
        p = p[..., 0]
    return y, p


def _equal(y_true, y_pred) -> Any:
    y, p = same_rank(y_true, y_pred)
    return constant_of((y == p).astype(np.float32))


def binary_accuracy(y_true, y_pred, threshold=0.5) -> Any:
    """Return whether each prediction is on the right side of a threshold.

    Examples
    --------
    >>> print(tf.keras.metrics.binary_accuracy([1.0, 0.0], [0.7, 0.8]).numpy())
    [1. 0.]
    """
    y, p = same_rank(y_true, y_pred)
    return constant_of((y == (p > threshold)).astype(np.float32))


def categorical_accuracy(y_true, y_pred) -> Any:
    """Return whether the largest prediction is at the largest target.

    Examples
    --------
    >>> print(tf.keras.metrics.categorical_accuracy([[0.0, 1.0]], [[0.4, 0.6]]).numpy())
    [1.]
    """
    return _equal(argmax(y_true, -1), argmax(y_pred, -1))


def sparse_categorical_accuracy(y_true, y_pred) -> Any:
    """Return whether the largest prediction is at the index of the right class.

    Examples
    --------
    >>> print(tf.keras.metrics.sparse_categorical_accuracy([1], [[0.4, 0.6]]).numpy())
    [1.]
    """
    y, p = numbers_of(y_true), numbers_of(y_pred)
    if y.ndim == p.ndim and y.shape[-1] == 1:
        y = y[..., 0]
    return _equal(y, argmax(p, -1))


def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5) -> Any:
    """Return whether the right class is among the `k` largest predictions, as `tf.math.in_top_k`.

    Examples
    --------
    >>> m = tf.keras.metrics.sparse_top_k_categorical_accuracy
    >>> float(m([0], [[np.nan, 0.2, 0.3]], k=3)[0])
    0.0
    """
    y, p = numbers_of(y_true).astype(np.int32), numbers_of(y_pred)
    found = numbers_of(in_top_k(y.reshape(-1), p.reshape(-1, p.shape[-1]), k))
    return constant_of(found.astype(np.float32).reshape(y.shape))


def top_k_categorical_accuracy(y_true, y_pred, k=5) -> Any:
    """Return whether the largest target is among the `k` largest predictions.

    Examples
    --------
    >>> y, p = [[0.0, 0.0, 1.0]], [[0.5, 0.2, 0.3]]
    >>> print(tf.keras.metrics.top_k_categorical_accuracy(y, p, k=2).numpy())
    [1.]
    """
    return sparse_top_k_categorical_accuracy(argmax(y_true, -1), y_pred, k)


class _Wrapped(_OfPairs):
    """Base class for means of a function that may have further arguments."""

    function: ClassVar[Any]
    options: ClassVar[tuple[str, ...]] = ()

    def _values(self, y_true, y_pred) -> Any:
        return self.function(y_true, y_pred, **{name: getattr(self, name) for name in self.options})


def _wrapped(kind: str, options="") -> Any:
    """Return the metric that averages the function of its name, which has further arguments."""
    label = "logcosh" if kind == "LogCoshError" else snake_case(kind)
    function = _OWN.get(label) or globals().get(label) or getattr(_losses, label)
    own = f"name={label!r}, dtype=None"
    text = f"{options}, {own}" if options.startswith("k=") else f"{own}, {options}"
    doc = f"The mean of `{function.__name__.strip('_')}` over all batches.\n\n"
    doc += f"Examples\n--------\n>>> tf.keras.metrics.{kind}().name\n{label!r}\n"
    body = {
        "__doc__": doc,
        "function": staticmethod(function),
        "options": tuple(signature_of(options).parameters),
    }
    return arguments(text)(type(kind, (_Wrapped,), body))


def _similarity(y_true, y_pred, axis=-1) -> Any:
    return -_losses.cosine_similarity(y_true, y_pred, axis)


_OWN = {"accuracy": _equal, "cosine_similarity": _similarity}
of_rows(
    globals(),
    _wrapped,
    """
    Accuracy
    BinaryAccuracy | threshold=0.5
    CategoricalAccuracy
    SparseCategoricalAccuracy
    TopKCategoricalAccuracy | k=5
    SparseTopKCategoricalAccuracy | k=5
    MeanSquaredError
    MeanAbsoluteError
    MeanAbsolutePercentageError
    MeanSquaredLogarithmicError
    Hinge
    SquaredHinge
    CategoricalHinge
    Poisson
    LogCoshError
    KLDivergence
    CosineSimilarity | axis=-1
    BinaryCrossentropy | from_logits=False, label_smoothing=0.0
    CategoricalCrossentropy | from_logits=False, label_smoothing=0.0, axis=-1
    SparseCategoricalCrossentropy | from_logits=False, axis=-1
    """,
)


class RootMeanSquaredError(_Average):
    """The root of the mean squared error.

    Examples
    --------
    >>> float(tf.keras.metrics.RootMeanSquaredError()([0.0, 0.0], [3.0, 3.0]))
    3.0
    """

    def __init__(self, name="root_mean_squared_error", dtype=None) -> None:
        super().__init__(name=name, dtype=dtype)

    def update_state(self, y_true, y_pred, sample_weight=None) -> None:
        y, p = same_rank(y_true, y_pred)
        self._add((p.astype(np.float64) - y) ** 2, sample_weight)

    def result(self) -> Any:
        return self._tensor(np.sqrt(self._mean()))


SHORT = {
    name: functools.partial(globals()[kind], name=name)
    for kind, names in (
        ("MeanSquaredError", ("mse", "MSE")),
        ("MeanAbsoluteError", ("mae", "MAE")),
        ("MeanAbsolutePercentageError", ("mape", "MAPE")),
        ("MeanSquaredLogarithmicError", ("msle", "MSLE")),
        ("KLDivergence", ("kld",)),
    )
    for name in names
}
__all__ = defined(globals(), without="same_rank")
