"""Layer 4 · tape: the checks before an operation writes into a tensor."""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.base import __file__ as _BASE
from wengert.base import errors
from wengert.base.arrays import plain_array
from wengert.base.dtypes import category, promote
from wengert.base.errors import describe, wrong_type
from wengert.base.shapes import broadcast
from wengert.prims.record import Primitive
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.modes import current_mode
from wengert.tape.node import is_leaf_edge
from wengert.tape.operands import cast, is_number
from wengert.tape.sites import OURS
from wengert.tape.versions import InferenceCell, refuse_inference_write
from wengert.tape.views import elsewhere, write_refused

_REAL = frozenset({bool, int, float})
_TRANSFORMS = os.path.join(os.path.dirname(os.path.dirname(_BASE)), "func", "")
REVERSE: ContextVar[bool] = ContextVar("reverse", default=False)
"""Whether a function runs whose gradient, or vector-Jacobian product, a transform computes."""


def check_cast(prim: Primitive, tensor: Any, scalars: list[Any], *arrays: Any) -> None:
    """Refuse an in-place operation whose result has a wider kind of dtype than `tensor`."""
    have = tensor._payload.dtype
    if have.kind == "f" and not arrays and _REAL.issuperset(map(type, scalars)):
        return
    result = promote([tensor._payload, *arrays], scalars, prim.promote == "float")
    if category(result) > category(have):
        raise errors.cannot_cast(result, have)


def other_operands(prim: Primitive, tensor: Any, others: tuple[Any, ...]) -> list[Any]:
    """Return the other arguments as tensors of the dtype of `tensor`, except masks and indices."""
    dtype = tensor._payload.dtype
    operands: list[Any] = []
    for i, (arg, value) in enumerate(zip(prim.args[1:], others, strict=True)):
        if is_number(value):
            check_cast(prim, tensor, [value])
            operands.append(new_tensor(np.asarray(value).astype(dtype)[()]))
            continue
        if isinstance(value, np.ndarray | np.generic):
            value = new_tensor(plain_array(value) if isinstance(value, np.ndarray) else value)
        elif not isinstance(value, TensorBase):
            raise wrong_type(f"{prim.name}_", arg, "Tensor", value, i + 1)
        if arg not in prim.fixed and prim.promote is not None:
            check_cast(prim, tensor, [], value._payload)
            value = cast(value, dtype)
        elif arg not in prim.fixed and prim.broadcasts:
            value = cast(value, dtype)
        operands.append(value)
    return operands


def check_shape(payload: Any, others: list[Any]) -> None:
    """Refuse values whose shape does not broadcast to the target's."""
    shapes = [other.shape for other in others if other.ndim and other.shape != payload.shape]
    if not shapes:
        return
    common = broadcast(payload.shape, *shapes)
    if common != payload.shape:
        raise RuntimeError(
            f"output with shape {list(payload.shape)} doesn't match the broadcast shape "
            f"{list(common)}: an in-place operation cannot enlarge the tensor that it writes to"
        )


def check_sources(prim: Primitive, target: Any, payloads: list[Any]) -> None:
    """Refuse values, the rest of `payloads` after the first, that `target` cannot take."""
    if prim.broadcasts:
        if "aliased" not in prim.writes:
            for source in payloads[1:]:
                check_overlap(target, source)
        check_shape(target, payloads[1:])
    elif "scattered" in prim.writes:
        for source in payloads[1:]:
            check_apart(target, source)


def check_overlap(target: Any, source: Any) -> None:
    """Refuse, as PyTorch does, to read an array that shares some but not all of the memory."""
    if (
        target is source
        or not (isinstance(source, np.ndarray) and isinstance(target, np.ndarray))
        or not np.may_share_memory(target, source)
        or not (is_dense(target) and is_dense(source))
    ):
        return
    if target.ctypes.data != source.ctypes.data or _steps(target) != _steps(source):
        raise _overlapping()


def _steps(array: Any) -> list[int]:
    """Return the strides that tell where elements lie: those of dimensions of several."""
    return [step for n, step in zip(array.shape, array.strides, strict=True) if n > 1]


def check_apart(target: Any, source: Any) -> None:
    """Refuse to read values for some elements of an array from the array itself."""
    if (
        isinstance(source, np.ndarray)
        and isinstance(target, np.ndarray)
        and source.size
        and target.size
        and np.may_share_memory(target, source)
        and is_dense(target)
        and is_dense(source)
    ):
        raise _overlapping()


def _overlapping() -> RuntimeError:
    return RuntimeError(
        "unsupported operation: some elements of the input tensor and the written-to tensor "
        "refer to a single memory location. Please clone() the tensor before performing the "
        "operation."
    )


def is_dense(array: Any) -> bool:
    """Return whether the elements of an array are contiguous, in order."""
    return bool(array.flags.c_contiguous or array.flags.f_contiguous)


def check_writable(tensor: Any, recording: bool, may_overlap: bool = False) -> None:
    """Refuse a write that PyTorch refuses.

    Parameters
    ----------
    recording: Whether the write would be part of the graph.
    may_overlap: Whether the operation may write to one element several times.
    """
    if recording:
        check_recordable(tensor)
    payload = tensor._array()
    if 0 in payload.strides and not may_overlap:
        check_distinct(payload)
    if not payload.flags.writeable:
        raise RuntimeError(
            "the tensor shares the memory of a NumPy array that is read-only: clone() it first"
        )
    check_mode(tensor)


def may_repeat(prim: Primitive, recording: bool) -> bool:
    """Return whether `prim` may write to an array whose elements share memory."""
    return "overlapping" in prim.writes or ("partial" in prim.writes and not recording)


def check_distinct(payload: Any) -> None:
    """Refuse to write to an array, or to a value of a transform, whose elements share memory."""
    if repeats(payload):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )


def check_mode(tensor: Any) -> None:
    """Refuse to change an inference tensor outside of inference mode."""
    if tensor._vc.__class__ is InferenceCell and not len(tensor._vc):
        mode = current_mode()
        if mode is None or mode.inference is None:
            raise refuse_inference_write()


def check_recordable(tensor: Any) -> None:
    """Refuse to record a write to a leaf, a view that cannot follow one, or a captured tensor."""
    if REVERSE.get():
        refuse_outside(tensor, False)
    ext = tensor._ext
    whole = tensor if ext is None or ext.base is None else ext.base
    own = whole._ext
    if own is not None:
        if own.base is None and own.no_write is not None:
            raise write_refused(whole)
        for one in elsewhere(whole) if own.linked else ():
            if one._edge is LEAF:
                check_recordable(one)
    if ext is not None and ext.base is not None:
        if ext.no_write is not None:
            raise write_refused(tensor)
        if tensor._edge is not None and is_leaf_edge(ext.base._edge):
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place "
                "operation.\n  To update a parameter, write under no_grad(); to differentiate "
                "through the write, clone() the leaf first."
            )
    if tensor._edge is LEAF:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation.\n"
            "  To update a parameter, write under no_grad():  with no_grad(): w -= lr * w.grad\n"
            "  To differentiate through the write, clone() the leaf first."
        )


def refuse_outside(tensor: Any, mapped: bool) -> None:
    """Refuse a write of a transform's values to a tensor that its function closes over."""
    base = tensor if tensor._ext is None or tensor._ext.base is None else tensor._ext.base
    frame: Any = sys._getframe(1)
    users: Any = None
    while frame is not None and not frame.f_code.co_filename.startswith(_TRANSFORMS):
        users = users if OURS[frame.f_code.co_filename] else frame
        frame = frame.f_back
    if frame is None or users is None:
        return
    code = users.f_code
    around = [users.f_locals.get(variable) for variable in code.co_freevars]
    around += [users.f_globals.get(variable) for variable in code.co_names]
    if any(value is tensor or value is base for value in around):
        raise written_outside(tensor, mapped, "")


def written_outside(tensor: Any, mapped: bool, undone: str) -> RuntimeError:
    """Return the error of a write of a transform's values to a tensor that is not its own."""
    outside = f"one {describe(tensor)} from outside{undone}"
    if mapped:
        return RuntimeError(
            "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a "
            "Tensor `other` in extra_args that has more elements than `self`. This happened due to "
            "`other` being vmapped over but `self` not being vmapped over in a vmap: a value for "
            f"each element of the batch would be written to {outside}. Return the values instead, "
            "and combine them after vmap."
        )
    return RuntimeError(
        "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call "
        "in-place operation that would mutate a captured Tensor. This is not supported; please "
        "rewrite the function being transformed to explicitly accept the mutated Tensor(s) as "
        f"inputs. It is {outside}."
    )


def repeats(payload: Any) -> bool:
    """Return whether several elements of an array, or of what stands for one, share one address."""
    array = getattr(payload, "array", payload)
    # the strides of an empty array are meaningless
    return (
        0 in array.strides
        and array.size > 0
        and any(step == 0 and n > 1 for step, n in zip(array.strides, array.shape, strict=True))
    )
