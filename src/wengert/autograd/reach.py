"""Layer 7 · autograd: the numbers, arrays and tensors that Python objects hold.

NOTE [what a function reaches]
Besides its arguments, a function can use variables of enclosing functions, the globals that it
names, and attributes of its class. From these, and from the attributes of a ctx, `walk` follows
containers, attributes, closures, bound methods and partial functions.
"""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from wengert.base.dtypes import is_differentiable
from wengert.interp.levels import Lifted
from wengert.tape.base import LEAF, NodeBase, TensorBase, version_of
from wengert.tape.sites import OURS

_NUMBERS = (float, complex, Fraction, Decimal)
_OPAQUE = (int, str, bytes, type, types.ModuleType, np.dtype, NodeBase)
_METHODS = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)
_LISTS = (list, tuple, set, frozenset, deque)
_MOST = 10_000
"""The maximum number of objects visited: a closure may lead to a whole program."""
_SMALL = 1 << 20
"""The bytes up to which memory outside of a function is compared and restored."""


def may_hold(value: Any) -> bool:
    """Return whether `value` is or may hold something differentiable: not an integer or a mask."""
    if value is None or isinstance(value, _OPAQUE):
        return False
    if isinstance(value, TensorBase):
        # the history of a parameter is in the graph
        return value._edge is not LEAF and is_differentiable(value._payload.dtype)
    if isinstance(value, np.ndarray | np.generic):
        return is_differentiable(value.dtype) or value.dtype == object
    return True


def is_leaf(value: Any) -> bool:
    """Return whether `value` is a tensor, an array or a number, not a container of these."""
    if isinstance(value, np.ndarray):
        return value.dtype != object
    return isinstance(value, (TensorBase, np.generic, *_NUMBERS))


def is_open(value: Any) -> bool:
    """Return whether `value` is, or may hold, a tensor of any kind."""
    return value is not None and not isinstance(value, (*_OPAQUE, np.generic))


def walk(
    roots: dict[str, Any], holds: Callable[[Any], bool] = may_hold
) -> Iterator[tuple[str, str, Any]]:
    """Yield all values reached from `roots`: the name of the root, the path, and the value."""
    met: set[int] = set()
    waiting = deque((name, name, value) for name, value in roots.items())
    while waiting:
        root, path, value = waiting.popleft()
        if not holds(value):
            continue
        if is_leaf(value):
            yield root, path, value
        elif id(value) not in met:
            met.add(id(value))
            yield root, path, value
            waiting.extend((root, path + step, part) for step, part in parts(value))


def parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values that `value` holds, each with the step that leads to it."""
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", part) for key, part in list(value.items()))
    elif isinstance(value, _LISTS):
        yield from ((f"[{i}]", part) for i, part in enumerate(list(value)))
    elif isinstance(value, np.ndarray):
        yield from ((f"[{i}]", part) for i, part in enumerate(value.flat))
    elif isinstance(value, functools.partial):
        yield from (("", part) for part in (value.func, *value.args, value.keywords))
    elif isinstance(value, _METHODS):
        yield "", value.__self__
    elif isinstance(value, types.FunctionType):
        yield from ((f": {name}", cell) for name, cell in _contents(value))
        yield from (("", part) for part in value.__defaults__ or ())
    for name, part in _own(value, "__dict__", {}).items():
        yield f".{name}", part
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            part = _own(value, name, _UNSET)
            if name not in ("__dict__", "__weakref__") and part is not _UNSET:
                yield f".{name}", part


_UNSET = object()


def _own(value: Any, name: str, default: Any) -> Any:
    """Return an attribute that `value` has; its class may make up others."""
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return default


def _contents(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if cell != types.CellType():
            yield name, cell.cell_contents


@functools.lru_cache(maxsize=512)
def _names(code: types.CodeType) -> frozenset[str]:
    inner = [_names(c) for c in code.co_consts if isinstance(c, types.CodeType)]
    return frozenset(code.co_names).union(*inner)


def outside(function: Any, owner: Any, holds: Callable[[Any], bool] = may_hold) -> dict[str, Any]:
    """Return the values that `function`, a method of `owner`, closes over, by name."""
    found: dict[str, Any] = {}
    if isinstance(function, types.FunctionType):
        found.update(_contents(function))
        scope = function.__globals__
        named = {name: scope[name] for name in _names(function.__code__) if name in scope}
        # functions of a module are shared, and hold no values of a call
        found.update((n, v) for n, v in named.items() if not isinstance(v, types.FunctionType))
    for name, value in vars(owner).items():
        if not name.startswith("__") and not isinstance(value, _DEFINED):
            found[f"{owner.__name__}.{name}"] = value
    return {name: value for name, value in found.items() if holds(value)}


_DEFINED = (types.FunctionType, staticmethod, classmethod, property)


def held_outside(functions: Any, arguments: Any, tensors: dict[int, Any]) -> list[int]:
    """Return the ids among `tensors` that `functions` reach by closure or in `arguments`."""
    found: list[int] = []
    met: set[Any] = set()
    waiting: deque[dict[str, Any]] = deque([{"": (functions, arguments)}])
    while waiting and len(met) < _MOST:
        for _, _, value in islice(walk(waiting.popleft(), is_open), _MOST):
            if isinstance(value, TensorBase):
                base = value if value._ext is None or value._ext.base is None else value._ext.base
                if id(base) in tensors and id(base) not in found:
                    found.append(id(base))
            elif isinstance(value, types.FunctionType):
                if value not in met:
                    met.add(value)
                    waiting.append(outside(value, object, is_open) | _functions(value))
            elif type(value) not in met:
                # its methods may have written
                met.add(type(value))
                defined = vars(type(value)).items()
                waiting.append({k: f for k, f in defined if isinstance(f, types.FunctionType)})
    return found


def _functions(function: types.FunctionType) -> dict[str, Any]:
    """Return the functions of its module that `function` names, except the library's."""
    scope = function.__globals__
    named = {name: scope[name] for name in _names(function.__code__) if name in scope}
    return {
        name: value
        for name, value in named.items()
        if isinstance(value, types.FunctionType) and not OURS[value.__code__.co_filename]
    }


class State:
    """A snapshot of the values that `outside` found, to restore after a function has run again.

    Large arrays are not copied: rerunning the function on the same arguments leaves in them
    the same values.
    """

    def __init__(self, function: Any, owner: Any, arguments: Iterable[Any] = ()) -> None:
        self._of = function, owner
        self._undo: list[Callable[[], Any]] = []
        self.values: dict[str, tuple[str, Any, Any]] = {}
        if isinstance(function, types.FunctionType):
            for cell in function.__closure__ or ():
                if cell != types.CellType():
                    self._undo.append(functools.partial(setattr, cell, *_held(cell)))
            scope = function.__globals__
            for name in _names(function.__code__) & scope.keys():
                self._undo.append(functools.partial(scope.__setitem__, name, scope[name]))
        for name, value in vars(owner).items():
            if not name.startswith("__") and not isinstance(value, _DEFINED):
                self._undo.append(functools.partial(setattr, owner, name, value))
        for root, path, value in islice(walk(outside(function, owner)), _MOST):
            if is_leaf(value):
                self.values[path] = root, value, _copied(value)
            self._undo += _undoing(value)
        # its arguments are restored, too
        given = {str(i): value for i, value in enumerate(arguments)}
        for _, _, value in islice(walk(given), _MOST):
            self._undo += _undoing(value)

    def again(self) -> State:
        """Take a new snapshot."""
        return State(*self._of)

    def put_back(self) -> None:
        """Restore the snapshot."""
        for undo in self._undo:
            undo()


def _held(cell: Any) -> tuple[str, Any]:
    return "cell_contents", cell.cell_contents


def arrays_of(value: Any) -> list[Any]:
    """Return the arrays that a tensor, an array or a number consists of."""
    value = getattr(value, "_payload", value)
    if isinstance(value, Lifted):
        return [array for part in value.contents() for array in arrays_of(part)]
    return [np.asarray(value)]


def _copied(value: Any) -> list[Any]:
    """Return a copy of a leaf's values; for a large leaf, only its id and version."""
    arrays = arrays_of(value)
    if any(array.nbytes > _SMALL for array in arrays):
        return [np.array([id(value), version_of(value) if isinstance(value, TensorBase) else 0])]
    return [array.copy() for array in arrays]


def _undoing(value: Any) -> list[Callable[[], Any]]:
    if isinstance(value, dict):
        return [value.clear, functools.partial(value.update, dict(value))]
    if isinstance(value, list | deque):
        return [value.clear, functools.partial(value.extend, list(value))]
    if isinstance(value, set):
        return [value.clear, functools.partial(value.update, set(value))]
    array = _own(value, "_payload", value)
    if isinstance(array, np.ndarray):
        if array.nbytes > _SMALL or not array.flags.writeable or array.dtype == object:
            return []
        return [functools.partial(np.copyto, array, array.copy())]
    held = _own(value, "__dict__", None)
    if not isinstance(held, dict) or isinstance(value, types.FunctionType):
        return []
    return [held.clear, functools.partial(held.update, dict(held))]
