"""Layer 9 · compat: ``tf.keras.losses``: functions of targets and predictions, and their classes.

>>> print(tf.keras.losses.MeanSquaredError()([1.0, 2.0], [1.0, 4.0]).numpy())
2.0
"""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import gathered
from wengert.compat.tensorflow.configs import Configured, getter
from wengert.compat.tensorflow.functions.values import (
    constant_of,
    converted,
    made,
    numbers_of,
    operation,
    tensor_of,
)
from wengert.compat.tensorflow.keras import loss_functions as each
from wengert.compat.tensorflow.keras.backend import float_type
from wengert.compat.tensorflow.keras.pairs import same_rank
from wengert.compat.tensorflow.refusal import refusal

__all__ = [
    *gathered(
        globals(),
        "wengert.compat.tensorflow",
        """
        keras.loss_functions: KLD MAE MAPE MSE MSLE binary_crossentropy categorical_crossentropy
            categorical_hinge cosine_similarity hinge huber kld kullback_leibler_divergence log_cosh
            logcosh mae mape mean_absolute_error mean_absolute_percentage_error mean_squared_error
            mean_squared_logarithmic_error mse msle poisson sparse_categorical_crossentropy
            squared_hinge
        """,
    ),
    "BinaryCrossentropy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "CosineSimilarity",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "Reduction",
    "SparseCategoricalCrossentropy",
    "SquaredHinge",
    "get",
]


class Reduction:
    """Names of what is done with the losses of the examples."""

    AUTO = "sum_over_batch_size"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"


class Loss(Configured):
    """A loss: called with targets, predictions and, perhaps, weights of the examples.

    Parameters
    ----------
    name : str, optional. Its name.
    reduction : str or None. ``"sum_over_batch_size"``, their mean; ``"sum"``; ``"none"`` or None,
        one for each example.
    dtype : DType, optional. What it is computed in; float32 by default.

    Raises
    ------
    ValueError: If `reduction` is another one.
    """

    def __init__(
        self, name: str | None = None, reduction: Any = "sum_over_batch_size", dtype: Any = None
    ) -> None:
        known = ("sum_over_batch_size", "mean", "sum", "none", None, "mean_with_sample_weight")
        if reduction == "auto":
            reduction = "sum_over_batch_size"
        if reduction not in known:
            raise ValueError(
                "Invalid value for argument `reduction`. Expected one of "
                f"{{'sum_over_batch_size', 'sum', 'mean', None, 'none'}}. Received: {reduction}"
            )
        self.name = name or type(self).__name__.lower()
        self.reduction = reduction
        self._dtype = dtype

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The losses of the examples."""
        raise NotImplementedError("Loss subclasses must implement the `call()` method.")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return {"name": self.name, "reduction": self.reduction}

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss."""
        kind = float_type(self._dtype)
        p = made(converted(tensor_of(y_pred), kind))
        target = tensor_of(y_true)
        if target.payload.dtype.kind != "c" and not self._takes_numbers:
            target = converted(target, kind)
        losses = tensor_of(self.call(made(target), p))
        mask = getattr(y_pred, "_keras_mask", None)
        if mask is not None:
            sample_weight = seen(mask, losses, sample_weight, self.reduction)
        return _reduced(losses, sample_weight, self.reduction)

    _takes_numbers = False


def seen(mask: Any, losses: Any, weight: Any, reduction: Any) -> Any:
    """Weights that leave out what is masked; a mean is one of what is left."""
    kept = np.asarray(numbers_of(mask)).astype(losses.payload.dtype)
    kept = kept.reshape(*kept.shape, *(1,) * (losses.payload.ndim - kept.ndim))
    kept = np.broadcast_to(kept, losses.payload.shape)
    if reduction not in ("none", None, "sum"):
        kept = kept * np.asarray(kept.size / (kept.sum() + 1e-7), kept.dtype)
    if weight is not None:
        given = numbers_of(weight).astype(kept.dtype)
        kept = kept * given.reshape(*given.shape, *(1,) * (kept.ndim - given.ndim))
    return constant_of(kept)


@operation("Mean")
def _reduced(losses: Any, sample_weight: Any, reduction: Any) -> Any:
    losses = tensor_of(losses)
    if sample_weight is not None:
        weight = converted(tensor_of(sample_weight), losses.payload.dtype)
        losses, weight = same_rank(losses, weight)
        losses = wg.mul(losses, weight)
    if reduction in ("none", None):
        return losses
    if reduction == "sum":
        return wg.sum(losses)
    if reduction == "mean_with_sample_weight" and sample_weight is not None:
        return wg.div(wg.sum(losses), wg.sum(weight))
    return wg.mean(losses)


_CLASS_DOC = """The loss `{function}`; {default}reduced as `Loss` says.

Examples
--------
>>> import wengert.compat.tensorflow as tf
>>> loss = tf.keras.losses.{name}()
>>> loss({true}, [[0.25, 0.75]]).shape
TensorShape([])
"""


def _class(name: str, function: Any, label: str, defaults: dict[str, Any] | None = None) -> Any:
    """The class of a loss that is a function with these further arguments."""
    options = defaults or {}
    sparse = name.startswith("Sparse")

    def __init__(
        self: Any, *args: Any, reduction: Any = "sum_over_batch_size", **kwargs: Any
    ) -> None:
        names = [*options, "reduction", "name", "dtype"]
        if len(args) > len(names):
            raise TypeError(f"{name}() takes at most {len(names)} arguments, got {len(args)}")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        for key in given:
            if key not in names:
                raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")
        self.options = {key: given.pop(key, value) for key, value in options.items()}
        Loss.__init__(
            self,
            given.get("name") or label,
            given.get("reduction", reduction),
            given.get("dtype"),
        )
        for key, value in self.options.items():
            setattr(self, key, value)

    def call(self: Any, y_true: Any, y_pred: Any) -> Any:
        return function(y_true, y_pred, **self.options)

    def get_config(self: Any) -> dict[str, Any]:
        return {**Loss.get_config(self), **self.options}

    keys = ", ".join(f"{key}={value!r}" for key, value in options.items())
    doc = _CLASS_DOC.format(
        function=getattr(function, "__name__", name),
        name=name,
        default=f"with {keys} by default, " if keys else "",
        true="[1]" if sparse else "[[0.0, 1.0]]",
    )
    body = {
        "__init__": __init__,
        "call": call,
        "get_config": get_config,
        "__doc__": doc,
        "__module__": __name__,
        "_takes_numbers": sparse,
    }
    return type(name, (Loss,), body)


MeanSquaredError = _class("MeanSquaredError", each.mean_squared_error, "mean_squared_error")
MeanAbsoluteError = _class("MeanAbsoluteError", each.mean_absolute_error, "mean_absolute_error")
MeanAbsolutePercentageError = _class(
    "MeanAbsolutePercentageError",
    each.mean_absolute_percentage_error,
    "mean_absolute_percentage_error",
)
MeanSquaredLogarithmicError = _class(
    "MeanSquaredLogarithmicError",
    each.mean_squared_logarithmic_error,
    "mean_squared_logarithmic_error",
)
Hinge = _class("Hinge", each.hinge, "hinge")
SquaredHinge = _class("SquaredHinge", each.squared_hinge, "squared_hinge")
CategoricalHinge = _class("CategoricalHinge", each.categorical_hinge, "categorical_hinge")
KLDivergence = _class("KLDivergence", each.kullback_leibler_divergence, "kl_divergence")
LogCosh = _class("LogCosh", each.log_cosh, "log_cosh")
Poisson = _class("Poisson", each.poisson, "poisson")
Huber = _class("Huber", each.huber, "huber_loss", {"delta": 1.0})
CosineSimilarity = _class(
    "CosineSimilarity", each.cosine_similarity, "cosine_similarity", {"axis": -1}
)
BinaryCrossentropy = _class(
    "BinaryCrossentropy",
    each.binary_crossentropy,
    "binary_crossentropy",
    {"from_logits": False, "label_smoothing": 0.0, "axis": -1},
)
CategoricalCrossentropy = _class(
    "CategoricalCrossentropy",
    each.categorical_crossentropy,
    "categorical_crossentropy",
    {"from_logits": False, "label_smoothing": 0.0, "axis": -1},
)
SparseCategoricalCrossentropy = _class(
    "SparseCategoricalCrossentropy",
    each.sparse_categorical_crossentropy,
    "sparse_categorical_crossentropy",
    {"from_logits": False, "ignore_class": None},
)


get = getter("loss", globals(), Loss, {name: getattr(each, name) for name in each.__all__})


def __getattr__(name: str) -> Any:
    raise refusal("keras.losses", name)


fill_sections(globals())
