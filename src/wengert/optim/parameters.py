"""Layer 9 · optim: parameters with gradients, the options of their groups, and their state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base import errors
from wengert.base.dtypes import default_float
from wengert.ops.options import placed
from wengert.tape.base import SparseValue, TensorBase, new_tensor
from wengert.tape.modes import untraced
from wengert.tape.versions import InferenceCell


def with_sparse(params: Sequence[Any]) -> list[Any]:
    """Return the parameters whose gradient is sparse."""
    return [p for p in params if p._ext is not None and isinstance(p._ext.grad, SparseValue)]


def with_gradients(params: Sequence[Any], refusal: str | None = None) -> list[Any]:
    """Return the parameters that have a gradient, after checking it.

    Those with a sparse gradient are left out, or refused with the message `refusal`.
    """
    present = []
    for param in params:
        ext = param._ext
        if ext is None or ext.grad is None:
            continue
        if isinstance(ext.grad, SparseValue):
            if refusal is not None:
                raise RuntimeError(refusal)
            continue
        x, g = param._payload, ext.grad._payload
        if x.dtype != g.dtype or tuple(x.shape) != tuple(g.shape):
            raise RuntimeError(
                f"the gradient of a parameter that is {errors.describe(x)} is "
                f"{errors.describe(g)}: set .grad to None, and run backward() again"
            )
        present.append(param)
    return present


def is_plain(param: Any) -> bool:
    """Return whether parameter and gradient are plain arrays."""
    x = param._payload
    if x.__class__ is not np.ndarray:
        if not isinstance(x, np.generic):
            return False
        x = param._array()
    grad = param._ext.grad
    if grad._payload.__class__ is not np.ndarray:
        if not isinstance(grad._payload, np.generic):
            return False
        grad._array()
    if param._vc.__class__ is InferenceCell:
        return False
    return bool(x.flags.writeable) and (not x.size or 0 not in x.strides)


def options_of(group: dict[str, Any], plain: bool) -> dict[str, Any]:
    """Return the options of a group without its parameters.

    Tensors among them become numbers; if not `plain`, tensors without dimensions.
    """
    return {name: _option(value, plain) for name, value in group.items() if name != "params"}


def _option(value: Any, plain: bool) -> Any:
    if isinstance(value, TensorBase):
        return value.item() if plain else value.reshape(())  # type: ignore[attr-defined]
    if isinstance(value, tuple):
        return tuple(_option(part, plain) for part in value)
    return value


# -- state -----------------------------------------------------------------------------------------


def making_state() -> None:
    """Mark, for a trace under way, that later runs will find the state about to be made."""
    untraced("it makes the state of an optimiser", "keep")


def kept_number(value: Any) -> Any:
    """Return a number of the state as a tensor; old states hold plain numbers."""
    return new_tensor(np.array(value, np.float64 if default_float() == np.float64 else np.float32))


def as_kept(value: Any) -> Any:
    """Return a number in the precision of new state, for any precision of the old one.

    A loaded state may hold numbers in the dtype of their parameter.
    """
    return value if isinstance(value, TensorBase) else float(kept_number(value)._payload)


def number(value: Any) -> Any:
    """Return a number of the state in double precision."""
    return value.double() if isinstance(value, TensorBase) else float(value)  # type: ignore[attr-defined]


def filled(param: Any, value: complex) -> Any:
    """Return a tensor like a parameter, filled with one value."""
    x = param._payload
    if x.dtype.kind != "c":
        value = value.real
    if isinstance(x, np.ndarray):
        return new_tensor(np.full_like(x, value, subok=False))
    return placed(param, np.full(x.shape, value, x.dtype))
