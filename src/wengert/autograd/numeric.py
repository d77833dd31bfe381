"""Layer 7 · autograd: derivatives by finite differences, the reference of `gradcheck`.

NOTE [perturbing an input]
The function under test may close over its inputs or compute gradients with respect to them, so it
must see a perturbed value in the very tensor that was passed in. The tensor's payload is replaced
by a perturbed copy and restored afterwards: the user's memory is never written to, no version
changes, and an exception leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from wengert.base.dtypes import is_differentiable
from wengert.tape.base import TensorBase

Evaluator = Callable[[], list[Any]]


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return a tuple unchanged, a list as a tuple, and any other value as a tuple of one."""
    if isinstance(value, tuple):
        return value
    return tuple(value) if isinstance(value, list) else (value,)


def evaluator(func: Callable[..., Any], inputs: Sequence[Any], eps: float) -> Evaluator:
    """Return a function that computes `func` on the current values of the inputs.

    It returns a copy of each output, None for one without derivative (integers, non-tensors), and
    refuses outputs whose number, shape or dtype changes between calls.
    """
    first: list[Any] = []

    def evaluate() -> list[Any]:
        outputs = [
            np.array(out._payload)
            if isinstance(out, TensorBase) and is_differentiable(out._payload.dtype)
            else None
            for out in as_tuple(func(*inputs))
        ]
        met = [None if out is None else (out.shape, out.dtype) for out in outputs]
        first[:] = first or [met]
        if met != first[0]:
            raise AssertionError(_changed(first[0], met, eps))
        return outputs

    return evaluate


def _changed(before: list[Any], after: list[Any], eps: float) -> str:
    """Return the message for outputs that changed in number, shape or dtype (None: no tensor)."""
    what, was, now = "number", str(len(before)), str(len(after))
    if len(before) == len(after):
        a, b = next(pair for pair in zip(before, after, strict=True) if pair[0] != pair[1])
        if a is None or b is None:
            what, was, now = "kind", *("no tensor" if x is None else "a tensor" for x in (a, b))
        else:
            i = int(a[0] == b[0])
            what, was, now = ("shape", "dtype")[i], str(a[i]), str(b[i])
    return (
        f"Expected `func` to return outputs with the same {what} when inputs are perturbed by "
        f"{eps}, but got: {what}s {was} and {now}."
    )


@contextmanager
def _holding(tensor: Any, value: Any) -> Iterator[None]:
    """Give `tensor` another value within the context (see NOTE [perturbing an input])."""
    original = tensor._payload
    tensor._payload = value
    try:
        yield
    finally:
        tensor._payload = original


def along(evaluate: Evaluator, tensor: Any, direction: Any, eps: float) -> list[Any]:
    """Return the flattened derivative of every output along `direction`, by central differences."""
    original = tensor._payload
    step = (direction * eps).astype(original.dtype)
    with _holding(tensor, original - step):
        below = evaluate()
    with _holding(tensor, original + step):
        above = evaluate()
    return [
        None if b is None else ((b - a) / (2 * eps)).reshape(-1)
        for a, b in zip(below, above, strict=True)
    ]


def one_sided(
    evaluate: Evaluator,
    tensor: Any,
    row: int,
    index: int,
    column: int,
    part: Callable[[Any], Any],
    step: float,
) -> tuple[float, float]:
    """Return the slopes of an output element by a `tensor` element, below and above its value."""
    original = tensor._payload
    values = []
    for move in (-step, 0.0, step):
        moved = original.copy().reshape(-1)
        moved[row] += move
        with _holding(tensor, moved.reshape(original.shape)):
            values.append(float(part(evaluate()[index].reshape(-1)[column])))
    return (values[1] - values[0]) / step, (values[2] - values[1]) / step


def columns(
    evaluate: Evaluator, tensor: Any, eps: float, push: Callable[..., list[Any]] = along
) -> list[Any]:
    """Return each output's Jacobian with respect to `tensor`, a row for each element of `tensor`.

    `push` returns the derivatives along a direction; default: finite differences.

    For a complex tensor, the row of ``x + iy`` is the pair of the derivatives with respect to ``x``
    and ``y``: the result has another, last dimension of size 2.
    """
    shape, size = tensor._payload.shape, tensor._payload.size
    units = (1, 1j) if tensor._payload.dtype.kind == "c" else (1,)
    direction = np.zeros(size, tensor._payload.dtype)
    rows: list[list[Any]] = []
    for i in range(size):
        for unit in units:
            direction[i] = unit
            rows.append(push(evaluate, tensor, direction.reshape(shape), eps))
        direction[i] = 0
    outputs = rows[0] if rows else evaluate()
    jacobians: list[Any] = []
    for k, out in enumerate(outputs):
        if out is None:
            jacobians.append(None)
            continue
        stacked = np.array([row[k] for row in rows]).reshape(size, len(units), out.size)
        jacobians.append(np.moveaxis(stacked, 1, 2))
    return jacobians
