"""Layer 9 · optim: steps of a group on arrays, prepared once and repeated.

NOTE [tracks]
The update of a small parameter takes a few microseconds, and so would its preparation. A `Track`
holds the result of the preparation, and every step only checks that it is still valid: the same
parameters with the same memory, the same state, and gradients for the same parameters. Otherwise
the track is rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from wengert.base import errors
from wengert.optim.blocks import Plan
from wengert.tape.base import TensorBase
from wengert.tape.inplace import count
from wengert.tape.sites import place
from wengert.tape.views import refresh_views


class Row(NamedTuple):
    """A parameter that has a gradient, and its state.

    Attributes
    ----------
    param: The parameter.
    state: Its state, by name.
    numbers, arrays: The tensors in the state.
    first: Whether they have just been made.
    """

    param: Any
    state: dict[str, Any]
    numbers: list[Any]
    arrays: list[Any]
    first: bool


class Track:
    """The prepared steps of one group.

    Parameters
    ----------
    params: All parameters of the group.
    states: The optimiser's state.
    numbers, names: The names of the numbers and of the arrays in the state.
    rows: The parameters that have a gradient.
    """

    def __init__(
        self,
        params: Sequence[Any],
        states: Any,
        numbers: tuple[str, ...],
        names: tuple[str, ...],
        rows: Sequence[Row],
    ) -> None:
        self._params = list(params)
        self._states = states
        self._names = names
        present = {id(row.param) for row in rows}
        self._absent = [param for param in params if id(param) not in present]
        self._entries = [
            (
                row.param,
                row.param._payload,
                row.state,
                [
                    (name, tensor, tensor._payload)
                    for name, tensor in zip(names, row.arrays, strict=True)
                ],
            )
            for row in rows
        ]
        self._number_names = numbers
        self._numbers = [row.numbers for row in rows]
        self._values = [tuple(number._payload[()] for number in row.numbers) for row in rows]
        self._written = [tensor for row in rows for tensor in (row.param, *row.arrays)]
        self._firsts = [row.first for row in rows]
        known: dict[Any, int] = {}
        self._keys = [
            known.setdefault(key, len(known))
            for key in zip(self._firsts, self._values, strict=True)
        ]
        self._plan = Plan(
            [[row.param._payload, *[tensor._payload for tensor in row.arrays]] for row in rows],
            self._keys,
        )

    def gradients(
        self, params: Sequence[Any], states: Any, names: tuple[str, ...]
    ) -> list[Any] | None:
        """Return the gradients if the track is still valid; otherwise None."""
        if (
            states is not self._states
            or names != self._names
            or len(params) != len(self._params)
            or not all(map(is_, params, self._params))
        ):
            return None
        for param in self._absent:
            if param._ext is not None and param._ext.grad is not None:
                return None
        grads = []
        has_state = bool(self._number_names or names)
        for param, x, state, kept in self._entries:
            grad = param._ext.grad
            if grad is None:
                return None
            g = getattr(grad, "_payload", None)
            if (
                g.__class__ is not np.ndarray
                or param._payload is not x
                or g.dtype is not x.dtype
                or g.shape != x.shape
                or not x.flags.writeable
                or (has_state and states.get(param) is not state)
            ):
                return None
            for name, tensor, array in kept:
                if tensor._payload is not array or state.get(name) is not tensor:
                    return None
            grads.append(g)
        for entry, numbers, values in zip(self._entries, self._numbers, self._values, strict=True):
            state = entry[2]
            for name, number, value in zip(self._number_names, numbers, values, strict=True):
                payload = number._payload
                if state.get(name) is not number or (payload is not value and payload != value):
                    return None
        return grads

    def run(
        self,
        rule: Callable[..., Any],
        coefficients: Callable[..., Any],
        options: dict[str, Any],
        grads: Sequence[Any],
    ) -> None:
        """Update the parameters and their state."""
        after: list[Any] = []
        numbers: list[Any] = []
        for key, first, values in zip(self._keys, self._firsts, self._values, strict=True):
            if key == len(after):
                new, c = coefficients(options, first, *values)
                after.append(
                    tuple(value.dtype.type(n) for value, n in zip(values, new, strict=True))
                )
                numbers.append(c)
        self._plan.run(rule, options, grads, numbers)
        where = place()
        for i, (key, tensors) in enumerate(zip(self._keys, self._numbers, strict=True)):
            values = self._values[i] = after[key]
            for tensor, value in zip(tensors, values, strict=True):
                if tensor._payload.__class__ is np.ndarray:
                    tensor._payload[...] = value
                else:
                    tensor._payload = value
                count(tensor._share_version(), "step", where)
        for tensor in self._written:
            count(tensor._share_version(), "step", where)
        for param, _, _, _ in self._entries:
            ext = param._ext
            if ext.views is not None or ext.base is not None:
                refresh_views(param, None)
        if True in self._firsts:
            # they are no longer new, and may have other coefficients
            self._states = None


def check_kept(param: Any, state: dict[str, Any], names: Sequence[str]) -> None:
    """Raise an error for state arrays that belong to another parameter."""
    x = param._payload
    for name in names:
        tensor = state.get(name)
        if tensor is None:
            continue
        if not isinstance(tensor, TensorBase):
            raise TypeError(
                f"the state {name!r} of a parameter must be a Tensor, not {type(tensor).__name__}"
            )
        y = tensor._payload
        if tuple(y.shape) != tuple(x.shape) or y.dtype != x.dtype:
            raise RuntimeError(
                f"the state {name!r} of a parameter that is {errors.describe(x)} is "
                f"{errors.describe(y)}: it belongs to another parameter"
            )
