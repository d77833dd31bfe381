"""Layer 6 · tensor: in-place forms of operations that cannot write while they compute.

`computed` computes on a copy of the tensor and writes the result to it. `written` has the primitive
itself write. `reshaped` gives the tensor another shape over the same memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base import errors
from wengert.base.dtypes import category, is_differentiable
from wengert.kernels.create import copy_into
from wengert.ops.signatures import HandsOn
from wengert.prims.table import TABLE
from wengert.tape.base import LEAF, new_tensor
from wengert.tape.inplace import bump, is_plain, write, write_result
from wengert.tape.inplace import written as noted
from wengert.tape.modes import MODE, changed, current_mode, is_recording
from wengert.tape.node import Unrecorded
from wengert.tape.views import keep_views, move_edge, recorded_as
from wengert.tape.write_checks import check_mode, check_writable


def computed(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Make the method that writes the result of `operation` to its tensor."""
    name = f"{operation.__name__}_"

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_plain(self):
            # the old values need no copy, since nothing refers to them
            memory = self._payload
            result = operation(new_tensor(memory), *args, **kwargs)
            found = result._payload
            fits = found.__class__ is np.ndarray and found.dtype is memory.dtype
            if fits and found.shape == memory.shape and result._edge is None:
                copy_into(memory, found)
                noted(self, name)
                return self
        check_writable(self, is_recording() and self._edge is not None)
        memory = self._array()
        before = new_tensor(memory.copy(), self._edge)
        result = operation(before, *args, **kwargs)
        if category(result._payload.dtype) > category(memory.dtype):
            raise errors.cannot_cast(result._payload.dtype, memory.dtype)
        return write_result(self, result, before, name)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Write the result of `{operation.__name__}` to this tensor, and return it."
    method.__wrapped__ = HandsOn(operation)  # type: ignore[attr-defined]
    return method


def written(operation: Callable[..., Any], form: Callable[..., Any]) -> Callable[..., Any]:
    """Make the method that writes the result of `operation`; `form` gives its primitive call."""
    name = f"{operation.__name__}_"

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        primitive, others, params = form(self, *args, **kwargs)
        return write(TABLE[primitive], self, others, params, name)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Write the result of `{operation.__name__}` to this tensor, and return it."
    method.__wrapped__ = HandsOn(operation)  # type: ignore[attr-defined]
    return method


def reshaped(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Make the method that gives its tensor the shape of the view that `operation` returns."""
    name = f"{operation.__name__}_"

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        recorded = is_recording() and self._edge is not None
        if recorded and is_differentiable(self._payload.dtype):
            # no element is written, so overlapping memory is allowed
            check_writable(self, recorded, may_overlap=True)
        check_mode(self)
        before = new_tensor(self._array(), self._edge, self._share_version())
        own = self._ext
        if own is not None:
            before._extra().base, before._ext.chain = own.base, own.chain
        # without recording, a tensor keeps its history, adapted to the new shape
        edge = None if recorded else self._edge
        kept = edge is not None and edge is not LEAF and edge.__class__ is not Unrecorded
        token = MODE.set(changed(current_mode(), grad=True, inference=None)) if kept else None
        try:
            after = operation(before, *args, **kwargs)
        finally:
            if token is not None:
                MODE.reset(token)
        if own is not None and own.base is not None:
            own.chain = after._ext.chain
            if after._edge.__class__ is Unrecorded:
                after._edge.was = recorded_as(self)
        if own is not None and own.retains and own.grad is not None:
            # later passes add gradients of the new shape
            own.grad = operation(own.grad, *args, **kwargs)
        self._payload = after._payload
        if self._edge is not LEAF:
            move_edge(self, after._edge)
        bump(self, name)
        if own is not None and own.base is None and own.views and after._ext is not None:
            keep_views(self, after._ext.chain[-1])
        return self

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Reshape this tensor in place by `{operation.__name__}`, and return it."
    method.__wrapped__ = HandsOn(operation)  # type: ignore[attr-defined]
    return method
