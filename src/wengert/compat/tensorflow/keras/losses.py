"""Layer 9 · compat: ``tf.keras.losses``: loss functions and loss classes.

>>> print(tf.keras.losses.MeanSquaredError()([1.0, 2.0], [1.0, 4.0]).numpy())
2.0
"""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert.compat.kit.arguments import arguments
from wengert.compat.kit.rows import of_rows, told
from wengert.compat.kit.signatures import signature_of
from wengert.compat.tensorflow.configs import Configured, getter, snake_case
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.binary import divide_no_nan
from wengert.compat.tensorflow.keras import loss_functions as each
from wengert.compat.tensorflow.keras.globals import float_type
from wengert.compat.tensorflow.keras.loss_functions import *  # noqa: F403
from wengert.compat.tensorflow.keras.loss_functions import same_rank
from wengert.compat.tensorflow.words import public, refusal

_FUNCTIONS = each.__all__


class Reduction:
    """Names of the reductions over example losses."""

    AUTO = "sum_over_batch_size"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"


class Loss(Configured):
    """A loss, called with targets, predictions and optional example weights.

    Parameters
    ----------
    name : str, optional. The name of the loss.
    reduction : str or None. The reduction over examples: ``"sum_over_batch_size"``, the mean;
        ``"sum"``; ``"none"`` or None, one loss per example.
    dtype : DType, optional. The dtype of the computation; float32 by default.

    Raises
    ------
    ValueError: If `reduction` is unknown.
    """

    def __init__(
        self, name: str | None = None, reduction="sum_over_batch_size", dtype=None
    ) -> None:
        known = ("sum_over_batch_size", "mean", "sum", "none", None, "mean_with_sample_weight")
        if reduction == "auto":
            reduction = "sum_over_batch_size"
        if reduction not in known:
            raise refusal(ValueError, "Invalid value for argument `red", reduction)
        self.name = name or type(self).__name__.lower()
        self.reduction = reduction
        self._dtype = dtype

    def call(self, y_true, y_pred) -> Any:
        """Return the losses of the examples."""
        raise NotImplementedError("Loss subclasses must implement the `call()` method.")

    def get_config(self) -> dict[str, Any]:
        """Return the arguments that create an equal object."""
        return {"name": self.name, "reduction": self.reduction}

    def __call__(self, y_true, y_pred, sample_weight=None) -> Any:
        """Return the loss."""
        kind = float_type(self._dtype)
        p = V.made(V.converted(V.tensor_of(y_pred), kind))
        target = V.tensor_of(y_true)
        if target._payload.dtype.kind != "c" and not self._takes_numbers:
            target = V.converted(target, kind)
        losses = V.tensor_of(self.call(V.made(target), p))
        mask = getattr(y_pred, "_keras_mask", None)
        skipped = getattr(self, "ignore_class", None)
        if skipped is not None:
            known = V.numbers_of(target).reshape(losses._payload.shape) != skipped
            mask = known if mask is None else known & V.numbers_of(mask)
        return reduced(losses, sample_weight, mask, self.reduction)

    _takes_numbers = False


@V.operation("Mul")
def seen(mask, weight, kind, reduction) -> Any:
    """Return weights that exclude masked elements; a mean is over the other elements."""
    kept = V.numbers_of(mask).astype(kind)
    if reduction in ("sum_over_batch_size", "mean") and kept.any():
        kept *= kept.size / kept.sum()
    if weight is None:
        return V.constant_of(kept)
    return wg.mul(*same_rank(V.converted(V.tensor_of(weight), kind), V.constant_of(kept)))


@V.operation("Mean")
def reduced(losses, weight, mask, reduction) -> Any:
    """Return the losses of examples, reduced to one, with weights and a mask."""
    losses = V.tensor_of(losses)
    kind = losses._payload.dtype
    if mask is not None:
        weight = seen(mask, weight, kind, reduction)
    if weight is not None:
        losses, weight = same_rank(losses, V.converted(V.tensor_of(weight), kind))
        losses = wg.mul(losses, weight)
    if reduction in ("none", None) or losses._payload.shape in ((), (0,)):
        return losses
    if reduction == "mean_with_sample_weight" and weight is not None:
        return divide_no_nan(wg.sum(losses), wg.sum(weight))
    if reduction == "sum" or not losses._payload.size:
        return wg.sum(losses)
    return wg.mean(losses)


def _class(name: str, options="", label="") -> Any:
    """Return the class of the loss function of its name, which has further arguments."""
    label = label or snake_case(name)
    function = getattr(each, label.removesuffix("_loss"))
    options = options.replace("name,", f"name={label!r},")
    given = signature_of(options).parameters
    more = [one for one in given if one not in ("name", "reduction")]
    own = f"name={label!r}, dtype=None" if "name" not in given else "dtype=None"
    if "reduction" not in given:
        own = f"reduction='sum_over_batch_size', {own}"
    sparse = name.startswith("Sparse")

    def chosen(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in more}

    def call(self, y_true, y_pred) -> Any:
        """Compute the loss `{function}`; {default}reduced as in `Loss`.

        Examples
        --------
        >>> loss = tf.keras.losses.{name}()
        >>> loss({true}, [[0.25, 0.75]]).shape
        TensorShape([])
        """
        return function(y_true, y_pred, **chosen(self))

    def get_config(self) -> dict[str, Any]:
        return {**Loss.get_config(self), **chosen(self)}

    doc = told(
        call,
        function=function.__name__,
        name=name,
        default=f"with {options} by default, " if options else "",
        true="[1]" if sparse else "[[0.0, 1.0]]",
    )
    call.__doc__ = Loss.call.__doc__
    body = {"__doc__": doc, "_takes_numbers": sparse, "call": call, "get_config": get_config}
    return arguments(f"{options}, {own}" if options else own)(type(name, (Loss,), body))


of_rows(
    globals(),
    _class,
    """
    MeanSquaredError
    MeanAbsoluteError
    MeanAbsolutePercentageError
    MeanSquaredLogarithmicError
    Hinge
    SquaredHinge
    CategoricalHinge
    KLDivergence
    LogCosh
    Poisson
    Huber | delta=1.0 | huber_loss
    CosineSimilarity | axis=-1
    BinaryFocalCrossentropy
        | apply_class_balancing=False, alpha=0.25, gamma=2.0, from_logits=False,
          label_smoothing=0.0, axis=-1
    CategoricalFocalCrossentropy
        | alpha=0.25, gamma=2.0, from_logits=False, label_smoothing=0.0, axis=-1
    Dice | reduction='sum_over_batch_size', name, axis=None
    Tversky | alpha=0.5, beta=0.5, reduction='sum_over_batch_size', name, axis=None
    BinaryCrossentropy | from_logits=False, label_smoothing=0.0, axis=-1
    CategoricalCrossentropy | from_logits=False, label_smoothing=0.0, axis=-1
    SparseCategoricalCrossentropy
        | from_logits=False, ignore_class=None, reduction='sum_over_batch_size', axis=-1
    """,
)


get = getter("loss", globals(), Loss, {name: getattr(each, name) for name in _FUNCTIONS})


__all__ = public(globals(), " ".join(_FUNCTIONS))
