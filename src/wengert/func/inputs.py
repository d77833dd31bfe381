"""Layer 7 · func: the arguments and results of transformed functions."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from types import CellType, FunctionType
from typing import Any

import numpy as np

from wengert.autograd import levels as levels
from wengert.autograd.reach import held_outside
from wengert.base.containers import aligned, flatten, paths
from wengert.base.dtypes import is_differentiable
from wengert.interp import batching_rules as batching_rules
from wengert.interp import tangents as tangents
from wengert.interp.levels import Level
from wengert.ops.create import tensor as new
from wengert.prims import whole as whole  # any operation may be called
from wengert.tape import forward as forward
from wengert.tape.base import LEAF, TensorBase, alike, new_tensor
from wengert.tape.level_writes import end, left, put_back
from wengert.tape.levels import brought
from wengert.tape.modes import MODE, changed, current_mode
from wengert.tape.record import T
from wengert.tape.sites import OURS
from wengert.tape.write_checks import written_outside

# a graph may be walked after its levels have ended, while others are active
next_number = itertools.count(1).__next__


class Entered:
    """A context in which a new level is active.

    Parameters
    ----------
    size: The size of the batch, for `vmap`.
    randomness: How `vmap` treats random operations.
    function, arguments: The call that runs in it, if it must not write to tensors from outside.
    """

    def __init__(
        self,
        size: int | None = None,
        randomness: str = "error",
        function: Callable[..., Any] | None = None,
        arguments: Any = (),
    ) -> None:
        self.before = current_mode()
        self._runs = function, arguments
        self.level = Level(next_number(), size, randomness)

    def __enter__(self) -> Level:
        known = () if self.before is None else self.before.levels
        MODE.set(changed(self.before, levels=(*known, self.level)))
        return self.level

    def __exit__(self, *exc: object) -> None:
        level = self.level
        if level.leaves or level.written:
            written = left(level)
            end(level)
            if written:
                self._refuse(written, exc[0] is not None)
        MODE.set(self.before)

    def _refuse(self, written: dict[int, tuple[Any, Any, Any]], failed: bool) -> None:
        """Undo the function's writes to tensors from outside the level, and raise."""
        function, arguments = self._runs
        found = [] if function is None else held_outside(_users(function), arguments, written)
        for place in written if failed and function is not None else found:
            put_back(*written[place])
        if not found or failed:
            return
        MODE.set(self.before)
        tensor = written[found[0]][0]
        raise written_outside(tensor, self.level.size is not None, ", which is as it was before")


class Transformed:
    """A function made by a transform; it can be pickled if the original function can.

    Parameters
    ----------
    call: The implementation.
    maker, func, options: The transform, the function it was applied to, and its other arguments.
    """

    __slots__ = ("__dict__", "__weakref__", "_call", "_made")
    determined_by = ("_call",)

    def __init__(
        self,
        call: Callable[..., Any],
        maker: Callable[..., Any],
        func: Callable[..., Any],
        options: dict[str, Any],
    ) -> None:
        functools.update_wrapper(self, func, functools.WRAPPER_ASSIGNMENTS, ())
        self._call = call
        self._made = maker, func, options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the transformed function."""
        return self._call(*args, **kwargs)

    @property
    def func(self) -> Callable[..., Any]:
        """The function that the transform was applied to."""
        return self._made[1]

    def of(self, func: Callable[..., Any]) -> Transformed:
        """Apply the same transform to another function."""
        maker, _, options = self._made
        return maker(func, **options)

    def __repr__(self) -> str:
        maker, func, options = self._made
        named = "".join(f", {name}={value!r}" for name, value in options.items())
        return f"{maker.__name__}({getattr(func, '__name__', func)}{named})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, self._made


def _users(function: Any) -> list[Any]:
    """Return the user's functions among `function` and those that it calls."""
    found: list[Any] = []
    waiting, seen = [function], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        # a function may close over itself
        seen.add(id(one))
        if isinstance(one, Transformed):
            waiting.append(one.func)
        elif not isinstance(one, FunctionType) or not OURS[one.__code__.co_filename]:
            found.append(one)
        else:
            cells = [cell for cell in one.__closure__ or () if cell != CellType()]
            waiting += [cell.cell_contents for cell in cells if callable(cell.cell_contents)]
    return found


def _made_again(maker: Callable[..., Any], func: Any, options: dict[str, Any]) -> Any:
    return maker(func, **options)


def as_tensor(value: Any, function: str, what: str) -> Any:
    """Convert a tensor, an array or a number to a tensor."""
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, np.ndarray | np.generic | int | float | complex):
        return new(value)
    raise ValueError(
        f"{function}: Expected all {what} to be Tensors, or arrays or numbers to make them of, but "
        f"got {type(value).__name__}"
    )


def tensors_like(value: Any, like: Any, said: str, function: str, what: str) -> list[Any]:
    """Return the tensors of a container in the order of those of another one, `like`.

    Raises
    ------
    RuntimeError: That starts with `said`, if their structures differ.
    """
    leaves = aligned(value, like)
    if leaves is None:
        given, wanted = (", ".join(paths(tree, what)) or "nothing" for tree in (value, like))
        raise RuntimeError(f"{said}: expected {wanted}, but got {given}")
    return [as_tensor(leaf, function, what) for leaf in leaves]


def tensors_of(value: Any, function: str, what: str) -> tuple[list[Any], Callable[..., Any]]:
    """Return the tensors of a nested container, and a function that rebuilds it."""
    rebuild: Callable[..., Any] = _only
    if isinstance(value, TensorBase):
        tensors = [value]
    else:
        leaves, rebuild = flatten(value)
        tensors = [as_tensor(leaf, function, what) for leaf in leaves]
    if not any(tensor._stays for tensor in tensors):
        return tensors, rebuild

    def rebuilt(values: list[Any]) -> Any:
        """Rebuild the container of gradients, or of other values, in the classes of `tensors`."""
        pairs = zip(values, tensors, strict=True)
        return rebuild([v if v is None or v._stays else alike(T.alias(v), t) for v, t in pairs])

    return tensors, rebuilt


def _only(values: list[Any]) -> Any:
    (value,) = values
    return value


def chosen(args: Sequence[Any], argnums: Any) -> tuple[tuple[int, ...], bool]:
    """Return the positions that `argnums` names, and whether it is a tuple."""
    if argnums.__class__ is int and 0 <= argnums < len(args):
        return (argnums,), False
    several = isinstance(argnums, tuple | list)
    numbers = tuple(argnums) if several else (argnums,)
    if several and not numbers:
        raise RuntimeError(f"argnums must be non-empty, got {argnums!r}")
    made = []
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool):
            raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {argnums!r}")
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"Got argnum={number}, but only {len(args)} positional inputs")
        made.append(number % len(args))
    if len(set(made)) != len(made):
        raise RuntimeError(f"argnums elements must be unique, got {argnums!r}")
    return tuple(made), several


def replaced(args: Sequence[Any], numbers: Sequence[int], values: Sequence[Any]) -> list[Any]:
    """Return `args` with `values` at some positions."""
    made = list(args)
    for number, value in zip(numbers, values, strict=True):
        made[number] = value
    return made


def fresh(tensor: Any, function: str, differentiable: bool = True) -> Any:
    """Return `tensor` as a new input for which a gradient is to be computed.

    It belongs to all active levels, so everything recorded from it does, too.
    """
    if differentiable and not is_differentiable(tensor._payload.dtype):
        raise RuntimeError(
            "only Tensors of floating point dtype can require gradients, but an input of "
            f"{function} has dtype {tensor._payload.dtype}: convert it, for example with .float()"
        )
    mode = current_mode()
    if mode is not None and mode.levels:
        tensor = brought(tensor, mode.levels)
    if tensor._edge is not None:
        return alike(T.alias(tensor), tensor)
    return alike(new_tensor(tensor._payload, LEAF, tensor._share_version()), tensor)


def shown(value: Any, keep: bool) -> Any:
    """Return a result for the outside of a transform, without the transform's own history."""
    if keep:
        return value
    if isinstance(value, TensorBase):
        return value if value._edge is None else _cut(value)
    leaves, rebuild = flatten(value)
    return rebuild(
        [
            _cut(leaf) if isinstance(leaf, TensorBase) and leaf._edge is not None else leaf
            for leaf in leaves
        ]
    )


def _cut(tensor: Any) -> Any:
    return alike(new_tensor(tensor._payload, None, tensor._share_version()), tensor)


def with_aux(output: Any, has_aux: bool, function: str) -> tuple[Any, Any]:
    """Split a function's result into its output and its auxiliary data."""
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(
            f"{function}: output of function f should be a tuple: (output, aux) if has_aux is "
            f"True, got {type(output).__name__}"
        )
    return output


def tensors_only(output: Any, function: str) -> tuple[list[Any], Callable[..., Any]]:
    """Return the tensors of a function's output, at least one, and a function that rebuilds it."""
    outputs, rebuild = flatten(output)
    if not outputs or output is None:
        raise RuntimeError(
            f"{function}: Expected f to be a function that has non-empty output (got output = "
            f"{output})"
        )
    for out in outputs:
        if not isinstance(out, TensorBase):
            raise RuntimeError(
                f"{function}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(out).__name__}"
            )
    return outputs, rebuild
