"""Layer 9 · compat: ``tf.keras.metrics``: what is counted over many batches."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import initializers
from wengert.compat.tensorflow.configs import Configured, getter, snake_case
from wengert.compat.tensorflow.functions.values import constant_of, numbers_of
from wengert.compat.tensorflow.keras import losses as _losses
from wengert.compat.tensorflow.keras.backend import float_type
from wengert.compat.tensorflow.refusal import refusal
from wengert.compat.tensorflow.variable import Variable


class Metric(Configured):
    """Something that is counted: `update_state` for each batch, `result`, `reset_state`.

    Numbers that a subclass adds up are kept in plain attributes or in variables.
    """

    def __init__(self, dtype=None, name: str | None = None) -> None:
        self.name = name or snake_case(type(self).__name__)
        self._kind = float_type(dtype)
        self._start: dict[str, Any] = {}
        self._variables: list[Any] = []

    def add_variable(self, shape, initializer, dtype=None, name: str | None = None) -> Any:
        """A variable that `reset_state` sets to zeros."""
        value = initializers.get(initializer)(shape, dtype or str(self._kind))
        self._variables.append(Variable(value, trainable=False, name=name or "variable"))
        return self._variables[-1]

    def add_weight(self, shape=(), initializer="zeros", dtype=None, name: str | None = None) -> Any:
        """As `add_variable`."""
        if isinstance(shape, str):
            shape, name = (), shape
        return self.add_variable(shape, initializer, dtype, name)

    @property
    def variables(self) -> list[Any]:
        """What `add_variable` made."""
        return list(self._variables)

    def update_state(self, *args, **kwargs) -> Any:
        """Count one batch."""
        raise NotImplementedError("Metric subclasses must implement `update_state`.")

    def result(self) -> Any:
        """What has been counted so far."""
        raise NotImplementedError("Metric subclasses must implement `result`.")

    def reset_state(self) -> None:
        """Begin again."""
        for variable in self._variables:
            variable.assign(np.zeros(tuple(variable.shape), variable.dtype.as_numpy_dtype))

    def reset_states(self) -> None:
        """As `reset_state`."""
        self.reset_state()

    def __call__(self, *args, **kwargs) -> Any:
        """Count one batch; the result is what has been counted so far."""
        self.update_state(*args, **kwargs)
        return self.result()

    def _tensor(self, number) -> Any:
        return constant_of(np.asarray(number).astype(self._kind))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return {**super().get_config(), "name": self.name, "dtype": str(self._kind)}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}>"


class _Average(Metric):
    """Sums with a number by which they are divided."""

    def __init__(self, name: str | None = None, dtype=None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.reset_state()

    def reset_state(self) -> None:
        super().reset_state()
        self._total = 0.0
        self._count = 0.0

    def _add(self, values, sample_weight) -> None:
        numbers = np.asarray(values, np.float64)
        if sample_weight is None:
            self._total += float(numbers.sum())
            self._count += float(numbers.size)
            return
        weights = np.asarray(numbers_of(sample_weight), np.float64)
        if weights.ndim == numbers.ndim + 1 and weights.shape[-1] == 1:
            weights = weights[..., 0]
        elif weights.ndim < numbers.ndim:
            weights = weights.reshape(*weights.shape, *(1,) * (numbers.ndim - weights.ndim))
        weights = np.broadcast_to(weights, numbers.shape)
        self._total += float((numbers * weights).sum())
        self._count += float(weights.sum())

    def result(self) -> Any:
        return self._tensor(self._total / self._count if self._count else 0.0)


class Mean(_Average):
    """The mean of all values.

    Examples
    --------
    >>> m = tf.keras.metrics.Mean()
    >>> m.update_state([1.0, 3.0])
    >>> float(m.result())
    2.0
    """

    def update_state(self, values, sample_weight=None) -> None:
        self._add(numbers_of(values), sample_weight)


class Sum(_Average):
    """The sum of all values.

    Examples
    --------
    >>> float(tf.keras.metrics.Sum()([1.0, 3.0]))
    4.0
    """

    def update_state(self, values, sample_weight=None) -> None:
        self._add(numbers_of(values), sample_weight)

    def result(self) -> Any:
        return self._tensor(self._total)


class MeanMetricWrapper(_Average):
    """The mean of what a function of targets and predictions gives."""

    def __init__(self, fn, name: str | None = None, dtype=None, **kwargs) -> None:
        super().__init__(name=name or getattr(fn, "__name__", None), dtype=dtype)
        self._fn = fn
        self._options = kwargs

    def update_state(self, y_true, y_pred, sample_weight=None) -> None:
        self._add(numbers_of(self._fn(y_true, y_pred, **self._options)), sample_weight)


# -- accuracies ------------------------------------------------------------------------------------


def _numbers(y_true, y_pred) -> tuple[Any, Any]:
    y, p = numbers_of(y_true), numbers_of(y_pred)
    if y.ndim == p.ndim + 1 and y.shape[-1] == 1:
        y = y[..., 0]
    elif p.ndim == y.ndim + 1 and p.shape[-1] == 1:
        p = p[..., 0]
    return y, p


def _equal(y_true, y_pred) -> Any:
    y, p = _numbers(y_true, y_pred)
    return constant_of((y == p).astype(np.float32))


def binary_accuracy(y_true, y_pred, threshold: float = 0.5) -> Any:
    """Whether each prediction is on the right side of a threshold.

    Examples
    --------
    >>> print(tf.keras.metrics.binary_accuracy([1.0, 0.0], [0.7, 0.8]).numpy())
    [1. 0.]
    """
    y, p = _numbers(y_true, y_pred)
    return constant_of((y == (p > threshold)).astype(np.float32))


def categorical_accuracy(y_true, y_pred) -> Any:
    """Whether the greatest prediction is where the greatest target is.

    Examples
    --------
    >>> print(tf.keras.metrics.categorical_accuracy([[0.0, 1.0]], [[0.4, 0.6]]).numpy())
    [1.]
    """
    y, p = numbers_of(y_true), numbers_of(y_pred)
    return constant_of((y.argmax(-1) == p.argmax(-1)).astype(np.float32))


def sparse_categorical_accuracy(y_true, y_pred) -> Any:
    """Whether the greatest prediction is at the number of the right class.

    Examples
    --------
    >>> print(tf.keras.metrics.sparse_categorical_accuracy([1], [[0.4, 0.6]]).numpy())
    [1.]
    """
    y, p = numbers_of(y_true), numbers_of(y_pred)
    if y.ndim == p.ndim and y.shape[-1] == 1:
        y = y[..., 0]
    return constant_of((y == p.argmax(-1)).astype(np.float32))


def sparse_top_k_categorical_accuracy(y_true, y_pred, k: int = 5) -> Any:
    """Whether the right class is among the `k` greatest predictions."""
    y, p = numbers_of(y_true).astype(np.int64), numbers_of(y_pred)
    own = np.take_along_axis(p, y.reshape(-1, 1), 1)
    return constant_of(((p > own).sum(1) < k).astype(np.float32))


def top_k_categorical_accuracy(y_true, y_pred, k: int = 5) -> Any:
    """Whether the place of the greatest target is among the `k` greatest predictions.

    Examples
    --------
    >>> y, p = [[0.0, 0.0, 1.0]], [[0.5, 0.2, 0.3]]
    >>> print(tf.keras.metrics.top_k_categorical_accuracy(y, p, k=2).numpy())
    [1.]
    """
    return sparse_top_k_categorical_accuracy(numbers_of(y_true).argmax(-1), y_pred, k)


_WRAPPED = """The mean of {what} over all batches.

Examples
--------
>>> import wengert.compat.tensorflow as tf
>>> tf.keras.metrics.{name}().name
{label!r}
"""


def _wrapped(name: str, function, label: str, **options) -> Any:
    """The metric that averages a function with these further arguments."""

    def __init__(self, *args, name: str = label, dtype=None, **kwargs) -> None:
        names = [*options] if options else []
        order = [*(["k"] if "k" in names else []), "name", "dtype", *(n for n in names if n != "k")]
        given = {"name": name, "dtype": dtype, **dict(zip(order, args, strict=False)), **kwargs}
        for key in given:
            if key not in order:
                raise TypeError(f"{type(self).__name__}() got an unexpected argument {key!r}")
        chosen = {key: given.get(key, value) for key, value in options.items()}
        MeanMetricWrapper.__init__(self, function, given["name"], given["dtype"], **chosen)

    what = getattr(function, "__name__", name).strip("_")
    body = {
        "__init__": __init__,
        "__doc__": _WRAPPED.format(what=f"`{what}`", name=name, label=label),
        "__module__": __name__,
    }
    return type(name, (MeanMetricWrapper,), body)


Accuracy = _wrapped("Accuracy", _equal, "accuracy")
BinaryAccuracy = _wrapped("BinaryAccuracy", binary_accuracy, "binary_accuracy", threshold=0.5)
CategoricalAccuracy = _wrapped("CategoricalAccuracy", categorical_accuracy, "categorical_accuracy")
SparseCategoricalAccuracy = _wrapped(
    "SparseCategoricalAccuracy", sparse_categorical_accuracy, "sparse_categorical_accuracy"
)
TopKCategoricalAccuracy = _wrapped(
    "TopKCategoricalAccuracy", top_k_categorical_accuracy, "top_k_categorical_accuracy", k=5
)
SparseTopKCategoricalAccuracy = _wrapped(
    "SparseTopKCategoricalAccuracy",
    sparse_top_k_categorical_accuracy,
    "sparse_top_k_categorical_accuracy",
    k=5,
)
MeanSquaredError = _wrapped("MeanSquaredError", _losses.mean_squared_error, "mean_squared_error")
MeanAbsoluteError = _wrapped(
    "MeanAbsoluteError", _losses.mean_absolute_error, "mean_absolute_error"
)
KLDivergence = _wrapped("KLDivergence", _losses.kullback_leibler_divergence, "kl_divergence")


def _similarity(y_true, y_pred, axis: int = -1) -> Any:
    return -_losses.cosine_similarity(y_true, y_pred, axis)


CosineSimilarity = _wrapped("CosineSimilarity", _similarity, "cosine_similarity", axis=-1)
BinaryCrossentropy = _wrapped(
    "BinaryCrossentropy",
    _losses.binary_crossentropy,
    "binary_crossentropy",
    from_logits=False,
    label_smoothing=0.0,
)
CategoricalCrossentropy = _wrapped(
    "CategoricalCrossentropy",
    _losses.categorical_crossentropy,
    "categorical_crossentropy",
    from_logits=False,
    label_smoothing=0.0,
    axis=-1,
)
SparseCategoricalCrossentropy = _wrapped(
    "SparseCategoricalCrossentropy",
    _losses.sparse_categorical_crossentropy,
    "sparse_categorical_crossentropy",
    from_logits=False,
    axis=-1,
)


class RootMeanSquaredError(_Average):
    """The root of the mean of the squared errors.

    Examples
    --------
    >>> float(tf.keras.metrics.RootMeanSquaredError()([0.0, 0.0], [3.0, 3.0]))
    3.0
    """

    def __init__(self, name: str = "root_mean_squared_error", dtype=None) -> None:
        super().__init__(name=name, dtype=dtype)

    def update_state(self, y_true, y_pred, sample_weight=None) -> None:
        y, p = _numbers(y_true, y_pred)
        self._add((p.astype(np.float64) - y) ** 2, sample_weight)

    def result(self) -> Any:
        return self._tensor(np.sqrt(self._total / self._count if self._count else 0.0))


class _Share(_Average):
    """The share of true positives among something."""

    def __init__(
        self, thresholds: float | None = None, name: str | None = None, dtype=None
    ) -> None:
        super().__init__(name=name or type(self).__name__.lower(), dtype=dtype)
        self.thresholds = 0.5 if thresholds is None else float(thresholds)

    def _among(self, y, p) -> Any:
        raise NotImplementedError

    def update_state(self, y_true, y_pred, sample_weight=None) -> None:
        y, p = _numbers(y_true, y_pred)
        right, said = y.astype(bool), p > self.thresholds
        places = self._among(right, said)
        weights = (
            None
            if sample_weight is None
            else np.broadcast_to(numbers_of(sample_weight), y.shape)[places]
        )
        self._add((right & said)[places], weights)


class Precision(_Share):
    """The share of what is right among what was said to be.

    Examples
    --------
    >>> float(tf.keras.metrics.Precision()([1, 0, 1], [1.0, 1.0, 0.0]))
    0.5
    """

    def _among(self, y, p) -> Any:
        return p


class Recall(_Share):
    """The share of what was said to be right among what is.

    Examples
    --------
    >>> float(tf.keras.metrics.Recall()([1, 0, 1], [1.0, 1.0, 0.0]))
    0.5
    """

    def _among(self, y, p) -> Any:
        return y


_SHORT = {
    name: functools.partial(kind, name=name)
    for kind, names in (
        (MeanSquaredError, ("mse", "MSE")),
        (MeanAbsoluteError, ("mae", "MAE")),
        (KLDivergence, ("kld",)),
    )
    for name in names
}


get = getter("metric", globals(), Metric, _SHORT)


def __getattr__(name: str) -> Any:
    raise refusal("keras.metrics", name)


__all__ = defined(globals())
fill_sections(globals())
