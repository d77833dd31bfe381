"""Layer 5 · ops: checks and branches as functions, for programs written for a compiler.

Numbers and shapes are concrete, so PyTorch's functions for symbols are Python's own here.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

from wengert.base.containers import flatten, paths
from wengert.base.export import export
from wengert.interp.levels import batch_of
from wengert.ops.select import where
from wengert.tape.base import TensorBase

Message = Callable[[], object] | str | None


def _assert(condition: Any, message: object) -> Any:
    """``assert condition, message`` as a function; a tensor of one element is a condition, too."""
    kind: Any = type(condition)
    if not isinstance(condition, TensorBase) and hasattr(kind, "__torch_function__"):
        return kind.__torch_function__(_assert, (kind,), (condition, message))
    assert condition, message
    return None


def _assert_async(input: Any, assert_msg: str | None = None) -> None:
    """Raise unless a tensor of one element is nonzero."""
    if not bool(input):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def _check_with(error_type: type[Exception], cond: Any, message: Message) -> None:
    """Raise an error of a type, with a message that is made when it is needed, unless `cond`."""
    if isinstance(cond, TensorBase):
        raise TypeError("cond must be a bool, but got a tensor: use _check_tensor_all")
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        raise error_type(
            "Expected cond to be True, but got False. (Could this error message be improved? If "
            "so, please report an enhancement request.)"
        )
    raise error_type(str(message() if callable(message) else message))


def _check(cond: Any, message: Message = None) -> None:
    """Raise a RuntimeError unless `cond`."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Message = None) -> None:
    """Raise an IndexError unless `cond`."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Message = None) -> None:
    """Raise a ValueError unless `cond`."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Message = None) -> None:
    """Raise a TypeError unless `cond`."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Message = None) -> None:
    """Raise a NotImplementedError unless `cond`."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: Any, message: Message = None, *, max: Any = None) -> None:
    """Raise a RuntimeError unless `i` is from 0 to `max`."""
    _check(bool(i >= 0 and (max is None or i <= max)), message)


def _check_tensor_all(cond: Any, message: Message = None) -> None:
    """Raise a RuntimeError unless all elements of a tensor of booleans are True."""
    if not isinstance(cond, TensorBase):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    whole: Any = cond
    if whole.dtype.name != "bool":
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {whole.dtype}")
    _check_with(RuntimeError, bool(whole.all()), message)


@export("wengert")
def cond(
    pred: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: Sequence[Any] = (),
) -> Any:
    """Return the result of one of two functions. Differentiable if that function is.

    Parameters
    ----------
    pred : bool or Tensor. The condition; a tensor of one element.
    true_fn, false_fn : callable. The functions, of which only one is called; both if `pred` differs
        from one element of a `vmap` to the next, whose elements then get the result of one or the
        other.
    operands : tuple. The arguments of the function.

    Returns
    -------
    object: The result.

    Raises
    ------
    RuntimeError: If both functions are called, and their results differ in structure or dtypes.

    Examples
    --------
    >>> wg.cond(wg.tensor(True), wg.neg, wg.cos, (wg.full((1,), 61.0),))
    tensor([-61.])
    """
    branches: tuple[Any, Any] = true_fn, false_fn
    if not all(map(callable, branches)):
        raise RuntimeError("Expect both branches to be callable.")
    if isinstance(pred, TensorBase) and batch_of(pred._payload) is not None:
        return _of_each(pred, true_fn(*operands), false_fn(*operands))
    return true_fn(*operands) if pred else false_fn(*operands)


def _of_each(pred: Any, *results: Any) -> Any:
    """Return a result whose elements are those of one or the other of two."""
    if pred.numel() != 1:
        raise RuntimeError(
            f"Expected pred to be bool or single-element tensor, but got shape {list(pred.shape)}"
        )
    (yes, rebuild), (no, _) = map(flatten, results)
    kinds = [
        [(path, *_kind(leaf)) for path, leaf in zip(paths(result), leaves, strict=True)]
        for result, leaves in zip(results, (yes, no), strict=True)
    ]
    if kinds[0] != kinds[1]:
        raise RuntimeError(
            "cond: under vmap, true_fn and false_fn must return containers of one structure, of "
            f"tensors of the same shapes and dtypes, but they return {kinds[0]} and {kinds[1]}"
        )
    return rebuild([where(pred.reshape(()), a, b) for a, b in zip(yes, no, strict=True)])


def _kind(leaf: Any) -> tuple[Any, ...]:
    payload = getattr(leaf, "_payload", None)
    return (type(leaf),) if payload is None else (tuple(payload.shape), payload.dtype)


@export("wengert")
def sym_int(a: float) -> int:
    """Return `a` as an integer, rounded towards 0.

    Examples
    --------
    >>> wg.sym_int(2.5), wg.sym_float(2), wg.sym_max(1, 2), wg.sym_min(1, 2.0), wg.sym_not(True)
    (2, 2.0, 2, 1.0, False)
    """
    return int(a)


@export("wengert")
def sym_float(a: float) -> float:
    """Return `a` as a floating point number; see `sym_int` for an example.

    Examples
    --------
    >>> wg.sym_float(17)
    17.0
    """
    return float(a)


@export("wengert")
def sym_max(a: float, b: float) -> float:
    """Return the larger one of two numbers, floating point if one of them is.

    Examples
    --------
    >>> wg.sym_max(1.5, 23)
    23.0
    """
    return _of_both(builtins.max, a, b)


@export("wengert")
def sym_min(a: float, b: float) -> float:
    """Return the smaller one of two numbers, floating point if one of them is.

    Examples
    --------
    >>> wg.sym_min(-29, 1.5)
    -29.0
    """
    return _of_both(builtins.min, a, b)


def _of_both(choose: Callable[..., Any], a: float, b: float) -> float:
    return type(a + b)(choose(a, b))


@export("wengert")
def sym_not(a: object) -> bool:
    """Return whether `a` is false.

    Examples
    --------
    >>> wg.sym_not(False), wg.sym_not(3)
    (True, False)
    """
    return not a


@export("wengert")
def sym_ite(b: bool, t: object, f: object) -> object:
    """Return `t` if `b`, else `f`.

    Examples
    --------
    >>> wg.sym_ite(True, 31, 37)
    31
    """
    return t if b else f


@export("wengert")
def sym_sum(args: Sequence[float]) -> float:
    """Return the sum of numbers.

    Examples
    --------
    >>> wg.sym_sum([1, 2, 38])
    41
    """
    return builtins.sum(args)


@export("wengert")
def sym_sqrt(a: float) -> float:
    """Return the square root of a number.

    Examples
    --------
    >>> wg.sym_sqrt(1849)
    43.0
    """
    return math.sqrt(a)
