"""Layer 9 · compat: ``tf.autodiff``: `ForwardAccumulator`, forward mode in TensorFlow's way."""

from __future__ import annotations

import logging
from typing import Any

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import nest
from wengert.compat.tensorflow.recording import TangentLift, lifts_now, set_context
from wengert.compat.tensorflow.tape import UnconnectedGradients
from wengert.compat.tensorflow.tensor import converted, made
from wengert.compat.tensorflow.words import refusal
from wengert.func.inputs import Entered
from wengert.ops.like import zeros_like
from wengert.tape.base import TensorBase
from wengert.tape.modes import change_mode, full_mode

_LOG = logging.getLogger("tensorflow")


class ForwardAccumulator:
    """Computes Jacobian-vector products along with the primals.

    Inside the ``with`` block every operation on a value that depends on `primals` also computes its
    derivative in the direction of `tangents`. Accumulators and tapes nest in any order.

    Parameters
    ----------
    primals : Tensor, Variable, or nested lists, tuples or dicts of them. The values to
        differentiate with respect to.
    tangents: The direction, with the structure, shapes and dtypes of `primals`.

    Raises
    ------
    ValueError: If a primal occurs twice or is not a tensor or variable, or the shape of a tangent
        differs from its primal's.

    Examples
    --------
    >>> x = tf.constant([1.0, 2.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = x * x * 3
    >>> acc.jvp(y)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([6., 0.], dtype=float32)>
    """

    def __init__(self, primals, tangents) -> None:
        self._entered: Entered | None = None
        self._lift: TangentLift | None = None
        # primals, which live as long as the accumulator
        self._primals: list[Any] = []
        self._pending: list[tuple[Any, Any]] = []
        self._recording = False
        self._watch(primals, tangents)

    def _watch(self, primals, tangents) -> None:
        nest.assert_same_structure(primals, tangents)
        for primal, tangent in zip(nest.flatten(primals), nest.flatten(tangents), strict=True):
            if not (isinstance(primal, TensorBase) or hasattr(primal, "_as_tensor")):
                raise refusal(ValueError, "primals must be", primal, type(primal).__name__)
            if not (primal.dtype.is_floating or primal.dtype.is_complex):
                _LOG.warning(
                    "The dtype of the watched primal must be floating (e.g. tf.float32), got %r",
                    primal.dtype,
                )
                continue
            if any(primal is other for other in self._primals):
                raise refusal(ValueError, "the same tensor", primal)
            direction = converted(tangent, primal.dtype.dtype)
            if direction.shape != primal.shape:
                raise refusal(ValueError, "Expected a tangent", primal.shape, direction.shape)
            self._primals.append(primal)
            self._pending.append((primal, direction))

    def __enter__(self) -> ForwardAccumulator:
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        if self._lift is None:
            self._entered = Entered()
            level = self._entered.__enter__()
            self._lift = TangentLift(level)
            for primal, tangent in self._pending:
                self._lift.tangents.put(getattr(primal, "handle", primal), tangent)
            self._pending.clear()
        else:
            levels = full_mode().levels
            change_mode(levels=(*levels, self._lift.level))
        set_context(stack=(*lifts_now(), self._lift))
        self._recording = True
        return self

    def __exit__(self, *exc: object) -> None:
        if not self._recording or self._lift is None:
            return
        lift = self._lift
        change_mode(levels=tuple(one for one in full_mode().levels if one is not lift.level))
        set_context(stack=tuple(one for one in lifts_now() if one is not lift))
        self._recording = False

    def jvp(self, primals, unconnected_gradients=UnconnectedGradients.NONE) -> Any:
        """Return the tangents of `primals` in the accumulator's direction.

        Parameters
        ----------
        primals : Tensor, Variable, or nested lists, tuples or dicts of them. Values that were
            computed while the accumulator was active.
        unconnected_gradients : UnconnectedGradients. The value to return for a tensor that does not
            depend on the accumulator's primals.

        Returns
        -------
        Tensor, or structure of Tensor or None: Of the structure of `primals`.

        Raises
        ------
        ValueError: If the accumulator has not been entered, or for an unknown
            `unconnected_gradients`.
        """
        missing = UnconnectedGradients(unconnected_gradients)
        if self._lift is None:
            raise ValueError("Called jvp() without first tracing anything.")
        tangents = self._lift.tangents

        def found(primal) -> Any:
            tangent = tangents.get(getattr(primal, "handle", primal))
            if tangent is None and missing is UnconnectedGradients.ZERO:
                value = primal._as_tensor() if hasattr(primal, "_as_tensor") else primal
                return made(zeros_like(value))
            return tangent

        return nest.map_structure(found, primals)


__all__ = defined(globals())
