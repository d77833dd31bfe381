"""Layer 6 · tensor: methods that change a tensor's shape or storage in place.

The version of the old memory counts such a change as a write, so that a graph that saved the tensor
raises. Views of the tensor are defined by its old shape, so they are invalidated (see NOTE
[invalidated views]).
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from wengert.base import errors
from wengert.base.errors import wrong_type
from wengert.base.memory_format import (
    check_memory_format,
    contiguous_format,
    is_in_format,
    preserve_format,
    suggested_format,
)
from wengert.base.settings import unwritten
from wengert.base.shapes import check_size
from wengert.interp.levels import Lifted, is_elsewhere, levels_of
from wengert.kernels.strided import owner_of
from wengert.ops.options import shape_of
from wengert.tape.accumulate import is_sole
from wengert.tape.base import LEAF, TensorBase
from wengert.tape.inplace import bump, count
from wengert.tape.invalidated import invalidate
from wengert.tape.modes import is_recording, untraced
from wengert.tape.versions import InferenceCell
from wengert.tape.views import placed_in, root_of
from wengert.tape.write_checks import check_mode, check_recordable, is_dense
from wengert.tensor.storage import (
    Storage,
    TypedStorage,
    UntypedStorage,
    flat_memory,
    storage_over,
)


def resize_(self: Any, *sizes: Any, memory_format: Any = None) -> Any:
    """Resize the tensor in place; elements keep their order in memory.

    If the memory is too small, new memory is allocated, and the added elements are zeros.

    Raises
    ------
    RuntimeError: If the tensor requires a gradient, or needs to grow shared memory.

    Examples
    --------
    >>> x = wg.arange(6)
    >>> x.resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    shape = shape_of("resize_", sizes)
    order = check_memory_format(memory_format or contiguous_format, "resize_", len(shape))
    if order is preserve_format:
        raise RuntimeError("Unsupported memory format: resize_() has none to preserve")
    if self._edge is not None and self._vc.__class__ is not InferenceCell:
        raise RuntimeError("cannot resize variables that require grad")
    axes = order.axes
    if shape == self._payload.shape and (axes is None or is_in_format(self._array(), order)):
        return self
    count = math.prod(shape)
    if count >= 2**63:
        raise RuntimeError(f"numel: integer multiplication overflow: sizes={list(shape)}")
    check_size(shape, self._payload.dtype.itemsize)
    if axes is not None:
        shape = tuple(shape[axis] for axis in axes)
    check_mode(self)
    _check_payload(self._payload, "resize_")
    if self._is_view():
        # it stays one, of the same base
        steps = tuple([math.prod(shape[i + 1 :]) for i in range(len(shape))])
        back = range(len(shape)) if axes is None else np.argsort(axes)
        return self.as_strided_([shape[i] for i in back], [steps[i] for i in back])
    memory = self._array()
    owner = owner_of(memory)
    low, high = np.lib.array_utils.byte_bounds(owner)
    start = memory.ctypes.data - low
    if is_dense(owner) and start + count * memory.itemsize <= high - low:
        rows = owner if owner.flags.c_contiguous else owner.T
        payload: Any = np.ndarray(shape, memory.dtype, rows, start)
    else:
        # another reference would make it count as shared
        del memory, owner
        payload = _grown(self, shape)
    if axes is not None:
        payload = payload.transpose(np.argsort(axes))
    _move(self, payload, "resize_")
    bump(self, "resize_")
    return self


def resize_as_(self: Any, the_template: Any, *, memory_format: Any = None) -> Any:
    """Resize the tensor in place to the shape of another tensor."""
    if memory_format is preserve_format:
        memory_format = suggested_format(the_template._array())
    return resize_(self, tuple(the_template._payload.shape), memory_format=memory_format)


def set_(
    self: Any, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None
) -> Any:
    """Point the tensor at other memory: a tensor's, in its shape, or a storage's.

    Parameters
    ----------
    source : Tensor or storage, optional. The owner of the memory; default: an empty tensor.
    storage_offset : int. The position in the storage where the tensor begins.
    size : sequence of int, optional. The shape; default: one dimension with all elements of the
        storage.
    stride : sequence of int, optional. The strides in elements; default: contiguous.

    Raises
    ------
    RuntimeError: If the tensor is a leaf and operations are recorded, if it or `source` has a
        history, if the tensor is a view, if dtypes differ, or if it would reach beyond the storage.

    Examples
    --------
    >>> x = wg.zeros(1)
    >>> y = wg.ones(2, 3)
    >>> x.set_(y).shape, x.data_ptr() == y.data_ptr()
    (torch.Size([2, 3]), True)
    >>> x.set_(wg.arange(6.0).untyped_storage(), 1, (2, 2))
    tensor([[1., 2.],
            [3., 4.]])
    """
    if not isinstance(source, TensorBase | Storage | None):
        raise wrong_type("set_", "source", "Tensor or a storage", source)
    if is_recording():
        check_recordable(self)
    untraced("set_() gives a tensor other memory")
    _check(self, "set_")
    history = getattr(source, "_edge", None)
    if self._edge not in (None, LEAF) or (history is not None and is_recording()):
        raise NotImplementedError(
            "the derivative for 'set_' is not implemented: use detach(), or write with copy_()"
        )
    kind = self._payload.dtype
    if source is None:
        source = UntypedStorage()
    if isinstance(source, TensorBase):
        payload: Any = source._array()
        _check_payload(payload, "set_")
        cell = source._share_version()
        if size is not None:
            source = storage_over(owner_of(payload), None, cell)
    if isinstance(source, Storage):
        cell = source._cell
        if isinstance(source, TypedStorage):
            source.elements_as(kind)  # which must be of this dtype
        payload = _shown(source, kind, storage_offset, size, stride)
    if payload.dtype != kind:
        raise RuntimeError(
            f"Could not set tensor of type {errors.long_name(payload.dtype)} to a tensor of type "
            f"{errors.long_name(kind)}: convert the source first"
        )
    bump(self, "set_")
    had = self._share_version()
    if InferenceCell not in (had.__class__, cell.__class__):
        # a graph that saved the old or the new memory must not use one in place of the other
        cell[0] = max(cell[0], had[0])
        count(cell, "set_")
    _move(self, payload, "set_")
    self._vc = cell
    if isinstance(source, Storage):
        return placed_in(source._values.view(np.uint8), self)
    self._extra().root = root_of(source)
    return self


def _shown(storage: Any, kind: Any, offset: int, size: Any, stride: Any) -> Any:
    """Return an array of dtype `kind` over a storage."""
    memory = storage._values.view(np.uint8)
    held = len(memory) // kind.itemsize
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    shape = (max(held - offset, 0),) if size is None else shape_of("set_", (tuple(size),))
    rows = tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
    steps = rows if stride is None else tuple(map(int, stride))
    if len(steps) != len(shape):
        raise RuntimeError(f"unequal size length ({len(shape)}) and stride length ({len(steps)})")
    if any(step < 0 for step in steps):
        raise RuntimeError(f"setStorage: strides {list(steps)} must not be negative")
    if 0 in shape:
        return np.empty(shape, kind)
    last = offset + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
    if last >= held:
        raise RuntimeError(
            f"setStorage: sizes {list(shape)}, strides {list(steps)}, storage offset {offset}, and "
            f"itemsize {kind.itemsize} requiring a storage size of {(last + 1) * kind.itemsize} "
            f"are out of bounds for storage of size {len(memory)}"
        )
    strides = tuple(step * kind.itemsize for step in steps)
    return np.ndarray(shape, kind, memory, offset * kind.itemsize, strides)


def _check(tensor: Any, name: str) -> None:
    check_mode(tensor)
    if tensor._is_view():
        raise RuntimeError(
            f"{name}() is not supported for a view, whose elements are those of another tensor: "
            "use clone() first"
        )
    _check_payload(tensor._payload, name)


def _check_payload(payload: Any, name: str) -> None:
    traced = isinstance(payload, Lifted) and payload.traced and not levels_of(payload)
    if isinstance(payload, Lifted) and not (traced and name == "set_"):
        where = "in a compiled function" if payload.traced else "under a transform"
        where += ", where a tensor stands for many values"
        if is_elsewhere(payload):
            where = f"for tensors on '{payload.device}'"
        raise RuntimeError(f"{name}() is not supported {where}: use reshape(), x[:n], or copy_()")


def _grown(tensor: Any, shape: tuple[int, ...]) -> Any:
    """Return new memory of `shape` that begins with the elements of `tensor`'s memory."""
    alone = _references(tensor) <= _ALONE
    if not alone or not (tensor._payload.base is None or is_sole(tensor._payload)):
        raise RuntimeError(
            f"resize_() to {list(shape)} needs more memory than the tensor has, and that is shared "
            "with other tensors or arrays, which cannot follow: use clone() first"
        )
    memory = tensor._payload
    kind, owner = memory.dtype, owner_of(memory)
    # all of the former memory, in its order: a tensor that was made smaller may grow again
    old = flat_memory(owner, kind)
    start = (memory.ctypes.data - np.lib.array_utils.byte_bounds(owner)[0]) // kind.itemsize
    made = unwritten(np.zeros(start + math.prod(shape), kind))
    made[: len(old)] = old
    return made[start:].reshape(shape)


def _move(tensor: Any, payload: Any, name: str) -> None:
    ext = tensor._ext
    for reference in (ext.views or ()) if ext is not None else ():
        view = reference()
        if view is not None:
            invalidate(
                view,
                f"a view of a tensor that {name}() has given another shape or other memory since: "
                "take the view again",
                (None, 0),
            )
    if ext is not None:
        ext.views = None
    tensor._payload = payload


def _references(tensor: Any) -> int:
    return sys.getrefcount(tensor._payload)


class _One:
    _payload = np.empty(1)


# measured by the same function, since interpreters count differently
_ALONE = _references(_One)
