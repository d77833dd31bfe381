"""Layer 9 · compat: functions apart: the arrays that they close over, and what is fixed.

NOTE [functions as trees]
In JAX, a function that is traced becomes a program without a closure: the arrays that it closed
over are the program's constants, and those that a derivative needs are the leaves of the functions
that `vjp` and `linearize` return. Here a function is taken apart instead: a `Closure` holds the
arrays inside it, in an order that depends on its structure alone, and rebuilds it with others. So a
derivative computes with the leaves that it has: with those that it was made with it uses its graph,
with others it is the derivative of the rebuilt function at the new primals.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert.compat.jax.array import Array
from wengert.compat.jax.tracing import Leaves
from wengert.compat.jax.tree_util import Partial
from wengert.compat.jax.trees import children_of
from wengert.tape.modes import Mode, full_mode

_Maker = Callable[[Iterator[Any], dict[int, Any]], Any]
_OURS = __name__.partition(".")[0]
_WRITTEN = frozenset({list, dict, OrderedDict, defaultdict})
"""Containers that may be written to: one that is found twice is one."""


class Holder:
    """Base class for objects that hold functions, which may close over arrays."""

    __slots__ = ()

    def held(self) -> tuple[Any, ...]:
        """Return what the object holds."""
        raise NotImplementedError

    def holding(self, parts: Sequence[Any]) -> Any:
        """Return an object like this one that holds other parts."""
        raise NotImplementedError


class Apart:
    """Base class for functions that get the arrays which they close over as arguments."""

    __slots__ = ()


class Closure:
    """A value apart: the arrays in its containers and in what its functions close over.

    Parameters
    ----------
    value: A function, or a pytree of arrays and functions.
    bound : bool. Whether all variables are read now, so that it changes nothing that they are bound
        again later; if not, functions write to the variables that hold no array.

    Attributes
    ----------
    leaves : list of Array. The arrays, each as often as it is there.
    fixed : list. Everything else, in the order in which it was found.
    """

    def __init__(self, value, bound: bool) -> None:
        self._is_bound = bound
        self.leaves: list[Array] = []
        self.fixed: list[Any] = []
        self._known: dict[int, _Maker] = {}
        self._cells: dict[int, tuple[list[Any], _Maker | None]] = {}
        self._again = self._bound = 0
        self._value, self._make = value, self._opened(value)

    def rebuilt(self, leaves: Sequence[Any]) -> Any:
        """Return the value with other arrays."""
        return self._value if self._make is None else self._make(iter(leaves), {})

    def hidden(self) -> list[Array]:
        """Return the arrays in the attributes of other objects, which stay what they are."""
        found, seen = [], set()
        waiting = list(self.fixed)
        while waiting:
            value = waiting.pop()
            attributes = None if isinstance(value, Apart) else getattr(value, "__dict__", None)
            if isinstance(attributes, dict) and id(attributes) not in seen:
                seen.add(id(attributes))
                inside = Closure(attributes, bound=False)
                found += inside.leaves
                waiting += inside.fixed
        return found

    def is_like(self, other: Closure) -> bool:
        """Return whether another closure differs in its arrays only."""
        same = len(self.leaves) == len(other.leaves) and len(self.fixed) == len(other.fixed)
        return same and all(map(_are_equal, self.fixed, other.fixed))

    def _opened(self, value) -> _Maker | None:
        """Return what rebuilds a part; None if it holds nothing that changes."""
        if isinstance(value, Array):
            self.leaves.append(value)
            return lambda new, done: next(new)
        if isinstance(value, types.FunctionType):
            return self._opened_function(value)
        container = children_of(value) if type(value) is not Partial else None
        if container is not None:
            parts, data, kind = container
            return self._opened_parts(value, (kind, data), parts, lambda p: kind.together(data, p))
        cls = type(value)
        if cls is functools.partial or cls is Partial:
            parts = [value.func, value.args, value.keywords]
            return self._opened_parts(value, cls, parts, lambda p: cls(p[0], *p[1], **p[2]))
        if cls is types.MethodType:
            bind = lambda p: types.MethodType(value.__func__, p[0])  # noqa: E731
            return self._opened_parts(value, value.__func__, [value.__self__], bind)
        if isinstance(value, Holder):
            return self._opened_parts(value, cls, value.held(), value.holding)
        self.fixed.append(value)
        return None

    def _opened_parts(
        self, value, fixed, parts: Sequence[Any], together: Callable[[list[Any]], Any]
    ) -> _Maker | None:
        if id(value) in self._known:
            return self._found_again(value)
        before = self._changes(value)
        self.fixed.append(fixed)
        makers = [self._opened(part) for part in parts]
        if self._changes(value) == before:
            return None
        if type(value) not in _WRITTEN:
            return lambda new, done: together(_made(makers, parts, new, done))

        def make(new: Iterator[Any], done: dict[int, Any]) -> Any:
            if id(value) not in done:
                done[id(value)] = together(_made(makers, parts, new, done))
            return done[id(value)]

        self._known[id(value)] = make
        return make

    def _found_again(self, value) -> _Maker:
        self._again += 1
        self.fixed.append(list(self._known).index(id(value)))
        return self._known[id(value)]

    def _changes(self, value) -> tuple[int, ...]:
        """Return how much was found that changes; for what is compiled, variables are no reason."""
        bound = 0 if isinstance(value, Holder) else self._bound
        return len(self.leaves), self._again, bound

    def _opened_function(self, value: types.FunctionType) -> _Maker | None:
        if id(value) in self._known:
            return self._found_again(value)
        cells = value.__closure__ or ()
        others = [value.__defaults__, value.__kwdefaults__, value.__dict__]
        self.fixed.append(value.__code__)
        if not cells and not any(others):
            return None
        before = self._changes(value)
        makers: list[_Maker | None] = []

        def make(new: Iterator[Any], done: dict[int, Any]) -> Any:
            if id(value) in done:
                return done[id(value)]
            own = tuple([done.setdefault(id(cell), self._own(cell)) for cell in cells])
            made = types.FunctionType(value.__code__, value.__globals__, value.__name__, None, own)
            done[id(value)] = made  # a function may close over itself
            for cell in cells:
                if ~id(cell) not in done:
                    done[~id(cell)] = True  # it is filled once, where it was found first
                    contents, maker = self._cells[id(cell)]
                    if done[id(cell)] is not cell and contents:
                        (done[id(cell)].cell_contents,) = _made([maker], contents, new, done)
            made.__defaults__, made.__kwdefaults__, attributes = _made(makers, others, new, done)
            made.__dict__.update(attributes)
            return made

        self._known[id(value)] = make
        for cell in cells:
            if id(cell) not in self._cells:
                self._cells[id(cell)] = contents, _ = [], None
                with contextlib.suppress(ValueError):  # the variable is not bound yet
                    contents.append(cell.cell_contents)
                    self._cells[id(cell)] = contents, self._opened(contents[0])
        makers += [self._opened(part) for part in others]
        ours = str(value.__globals__.get("__name__")).partition(".")[0] == _OURS
        if (ours or not self._is_bound) and self._changes(value) == before:
            return None
        self._bound += 1
        return make

    def _own(self, cell: types.CellType) -> types.CellType:
        """Return the cell of a rebuilt function: the same one, if only it may be written to."""
        is_kept = not self._is_bound and self._cells[id(cell)][1] is None
        return cell if is_kept else types.CellType()


def _made(
    makers: Sequence[_Maker | None], parts: Sequence[Any], new: Iterator[Any], done: dict[int, Any]
) -> list[Any]:
    return [
        part if maker is None else maker(new, done)
        for maker, part in zip(makers, parts, strict=True)
    ]


def _are_equal(a, b) -> bool:
    if a is b:
        return True
    if isinstance(a, np.ndarray):
        return type(a) is type(b) and a.dtype == b.dtype and np.array_equal(a, b)
    with contextlib.suppress(Exception):  # objects may refuse to be compared
        return type(a) is type(b) and bool(a == b)
    return False


_KEPT = 4
"""How many derivatives at other leaves are kept."""


def _are_same(a, b) -> bool:
    """Return whether an array is another one: in value, history, and kind."""
    return a is b or (
        a._payload is b._payload and a._edge is b._edge and a.__class__ is b.__class__
    )


def _serves(made_in: Mode, mode: Mode) -> bool:
    """Return whether what was made in a mode is the same in another: maybe inside more levels."""
    if made_in is mode:
        return True
    for name, value in made_in.fields().items():
        now = getattr(mode, name)
        if name == "levels":
            if not set(value) <= set(now):
                return False
        elif name != "sides" and now is not value and now != value:
            return False
    return True


def _holds_nothing(fun) -> bool:
    plain = isinstance(fun, types.FunctionType) and not fun.__closure__ and not fun.__dict__
    return plain and not fun.__defaults__ and not fun.__kwdefaults__


class Derivative(Apart):
    """A derivative of a function at some place: NOTE [functions as trees].

    Parameters
    ----------
    kind: What it is compared by, beside the function.
    again : callable. Takes the function and primals, and returns the derivative.
    fun, leaves: The function and the primals.
    made : callable. The derivative.
    """

    def __init__(
        self, kind, again: Callable[..., Any], fun, leaves: Leaves, made: Callable[..., Any]
    ) -> None:
        self._kind, self._again, self._fun, self._primals = kind, again, fun, leaves
        # a function that holds nothing is not taken apart before that is needed
        self._leaves = leaves.arrays if _holds_nothing(fun) else self._closure.leaves
        self._made = made
        self._others: list[Any] = []

    @functools.cached_property
    def _closure(self) -> Closure:
        arrays = self._primals.structure.unflatten(self._primals.arrays)
        return Closure((self._fun, *arrays), bound=True)

    @property
    def function(self) -> Partial:
        """The derivative as a function whose leaves are the arrays that it depends on."""
        return Partial(self, *self._leaves)

    def __call__(self, *given) -> Any:
        count = len(self._leaves)
        return self._at(given[:count])(*given[count:])

    def _at(self, leaves: Sequence[Any]) -> Callable[..., Any]:
        if all(map(_are_same, leaves, self._leaves)):
            return self._made
        mode = full_mode()
        for made_in, known, function in self._others:
            if _serves(made_in, mode) and all(map(_are_same, leaves, known)):
                return function
        made: Callable[..., Any] = self._again(*self._closure.rebuilt(leaves))
        self._others = [(mode, leaves, made), *self._others[: _KEPT - 1]]
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Derivative):
            return NotImplemented
        return self is other or (
            self._kind == other._kind and self._closure.is_like(other._closure)
        )

    def __hash__(self) -> int:
        return hash(self._kind)
