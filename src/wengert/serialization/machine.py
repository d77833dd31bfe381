"""Layer 9 · serialization: the machine that reads pickles, with a closed list of callables.

NOTE [pickles without code]
The standard library describes the instructions of pickles and reads their arguments
(`pickletools`). This machine knows those of the protocol that PyTorch writes, as in its
``weights_only=True``: numbers, text, containers, a memo, and calls of what `find` returns (see NOTE
[what a checkpoint may name]). No more memory is allocated than the file fills, and keys are flat,
since hashing a tuple of shared tuples could take forever.
"""

from __future__ import annotations

import pickletools
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from pickle import UnpicklingError
from typing import Any, BinaryIO, Protocol

_SCALARS = (str, int, float, complex, bool, bytes, type(None))
_MAPPINGS = (dict, OrderedDict, Counter)
_MEMO_LIMIT = 1 << 32
_CODES = {described.code.encode("latin-1"): described for described in pickletools.opcodes}


class Names(Protocol):
    """The objects that a pickle may name, and the operations allowed on them."""

    def find(self, path: str) -> Any:
        """Return the object at a path; raise if the path is not in the list."""

    def call(self, value: Any) -> Callable[..., Any] | None:
        """Return the function to call for `value`, or None if it must not be called."""

    def new(self, kind: Any) -> Callable[..., Any] | None:
        """Return the constructor of a class, or None if it is not allowed."""

    def build(self, kind: type) -> Callable[[Any, Any], Any] | None:
        """Return the function that sets the state of objects, or None if not allowed."""

    def storage(self, key: Any) -> Any:
        """Return the object for a persistent id."""


def checked_key(key: Any) -> Any:
    """Return `key` if it is flat, so that hashing is cheap; raise otherwise."""
    if isinstance(key, _SCALARS):
        return key
    if isinstance(key, tuple) and all(isinstance(part, _SCALARS) for part in key):
        return key
    raise UnpicklingError(
        f"Weights only load failed. A key of type {type(key).__qualname__} cannot be loaded: "
        "keys are text, numbers, None, or tuples of these"
    )


def names_in(file: BinaryIO) -> list[str]:
    """Return the paths of all classes and functions that the next pickle of `file` names."""
    instructions = _instructions(file)
    return [_path(argument) for name, argument in instructions if name == "GLOBAL"]


def run(file: BinaryIO, names: Names, encoding: str = "utf-8") -> Any:
    """Build the object in the next pickle of `file`.

    Parameters
    ----------
    file: The open file, which is left at the end of the pickle.
    names: The objects that it may name.
    encoding: The encoding of text that Python 2 wrote; ``"bytes"`` does not decode it.

    Raises
    ------
    UnpicklingError: If it contains anything else.
    EOFError: If it ends before its end.
    """
    machine = _Machine(names, encoding)
    for name, argument in _instructions(file):
        _STEPS[name](machine, argument)
    return machine.stack[-1]


def _instructions(file: BinaryIO) -> Iterator[tuple[str, Any]]:
    """Yield the instructions of the next pickle, and their arguments."""
    while True:
        code = file.read(1)
        if not code:
            raise EOFError("it ends early")
        known = _CODES.get(code)
        if known is None or known.name not in _STEPS:
            raise _refused(f"Unsupported operand {code!r} ({known.name if known else 'unknown'})")
        try:
            argument = None if known.arg is None else known.arg.reader(file)
        except (ValueError, OverflowError) as error:
            raise _refused(f"The pickle is damaged: {error}") from error
        yield known.name, argument
        if known.name == "STOP":
            return


def _path(argument: str) -> str:
    """Join a module and a name to a path; Python 2 had another name for the builtins module."""
    module, _, name = argument.partition(" ")
    return f"{'builtins' if module == '__builtin__' else module}.{name}"


class _Machine:
    """The stack machine of a pickle that is being read.

    Attributes
    ----------
    stack: The values; `marked` has the stacks below marks.
    memo: The memoized objects, by number.
    """

    def __init__(self, names: Names, encoding: str) -> None:
        self.stack: list[Any] = []
        self.marked: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.names = names
        self.encoding = encoding

    def pop_mark(self) -> list[Any]:
        items = self.stack
        self.stack = self.marked.pop()
        return items


def _refused(text: str) -> UnpicklingError:
    return UnpicklingError(f"Weights only load failed. {text}")


def _push(machine: _Machine, value: Any) -> None:
    machine.stack.append(value)


def _constant(value: Any) -> Callable[[_Machine, Any], None]:
    return lambda machine, _: machine.stack.append(value)


def _empty(kind: Callable[[], Any]) -> Callable[[_Machine, Any], None]:
    return lambda machine, _: machine.stack.append(kind())


def _ignored(machine: _Machine, _: Any) -> None:
    """Ignore an instruction that does not affect the object."""


def _text(machine: _Machine, value: str) -> None:
    raw = value.encode("latin-1")
    machine.stack.append(raw if machine.encoding == "bytes" else raw.decode(machine.encoding))


def _mark(machine: _Machine, _: Any) -> None:
    machine.marked.append(machine.stack)
    machine.stack = []


def _tuple(machine: _Machine, _: Any) -> None:
    items = tuple(machine.pop_mark())
    machine.stack.append(items)


def _small_tuple(count: int) -> Callable[[_Machine, Any], None]:
    def step(machine: _Machine, _: Any) -> None:
        if len(machine.stack) < count:
            raise IndexError("the stack is empty")
        machine.stack[-count:] = [tuple(machine.stack[-count:])]

    return step


def _append(machine: _Machine, _: Any) -> None:
    _extend(machine, [machine.stack.pop()])


def _appends(machine: _Machine, _: Any) -> None:
    _extend(machine, machine.pop_mark())


def _extend(machine: _Machine, items: list[Any]) -> None:
    target = machine.stack[-1]
    if type(target) is not list:
        raise _refused(f"Can only append to lists, but got {type(target)}")
    target.extend(items)


def _set_item(machine: _Machine, _: Any) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    _update(machine, [key, value])


def _set_items(machine: _Machine, _: Any) -> None:
    _update(machine, machine.pop_mark())


def _update(machine: _Machine, items: list[Any]) -> None:
    target = machine.stack[-1]
    if type(target) not in _MAPPINGS:
        raise _refused(f"Can only set items of dictionaries, but got {type(target)}")
    for key, value in zip(items[::2], items[1::2], strict=True):
        target[checked_key(key)] = value


def _put(machine: _Machine, number: int) -> None:
    if not 0 <= number < _MEMO_LIMIT:
        raise _refused(f"No memo has the number {number}")
    machine.memo[number] = machine.stack[-1]


def _get(machine: _Machine, number: int) -> None:
    machine.stack.append(machine.memo[number])


def _global(machine: _Machine, argument: str) -> None:
    machine.stack.append(machine.names.find(_path(argument)))


def _reduce(machine: _Machine, _: Any) -> None:
    arguments, function = machine.stack.pop(), machine.stack.pop()
    apply = machine.names.call(function)
    if apply is None or type(arguments) is not tuple:
        raise _refused(f"Trying to call reduce for unrecognized function {function}")
    machine.stack.append(apply(*arguments))


def _new(machine: _Machine, _: Any) -> None:
    arguments, kind = machine.stack.pop(), machine.stack.pop()
    make = machine.names.new(kind)
    if make is None or type(arguments) is not tuple:
        raise _refused(
            "Can only create new object for nn.Parameter or classes allowlisted via "
            f"`add_safe_globals` but got {kind}"
        )
    machine.stack.append(make(*arguments))


def _build(machine: _Machine, _: Any) -> None:
    state, target = machine.stack.pop(), machine.stack[-1]
    build = machine.names.build(type(target))
    if build is None:
        raise _refused(
            "Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
            f"`add_safe_globals`, but got {type(target)}"
        )
    build(target, state)


def _persistent(machine: _Machine, _: Any) -> None:
    machine.stack.append(machine.names.storage(machine.stack.pop()))


_STEPS: dict[str, Callable[[_Machine, Any], None]] = {
    **dict.fromkeys(("PROTO", "STOP"), _ignored),
    **dict.fromkeys(("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE"), _push),
    **dict.fromkeys(("BINPUT", "LONG_BINPUT"), _put),
    **dict.fromkeys(("BINGET", "LONG_BINGET"), _get),
    "NONE": _constant(None),
    "NEWTRUE": _constant(True),
    "NEWFALSE": _constant(False),
    "EMPTY_TUPLE": _constant(()),
    "EMPTY_LIST": _empty(list),
    "EMPTY_DICT": _empty(dict),
    "EMPTY_SET": _empty(set),
    "SHORT_BINSTRING": _text,
    "MARK": _mark,
    "TUPLE": _tuple,
    "TUPLE1": _small_tuple(1),
    "TUPLE2": _small_tuple(2),
    "TUPLE3": _small_tuple(3),
    "APPEND": _append,
    "APPENDS": _appends,
    "SETITEM": _set_item,
    "SETITEMS": _set_items,
    "GLOBAL": _global,
    "REDUCE": _reduce,
    "NEWOBJ": _new,
    "BUILD": _build,
    "BINPERSID": _persistent,
}
"""The handlers of the instructions, by their names in the standard library."""
