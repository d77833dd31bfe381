"""Layer 8 · compiler: check that users' code in a backward pass is pure.

NOTE [code of backward passes]
A backward pass is traced together with the function, even if it is never requested. That runs
users' code in it (``backward`` of a Function, hooks that unpack saved tensors), so this code must
be pure: it may use its arguments and values computed from them, constants, pure library functions,
and other functions that are pure in this sense. If it uses any other global or closed-over object,
or sets attributes or variables that are not its own, the function runs uncompiled.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Iterator
from typing import Any

from wengert.base.dtypes import dtype
from wengert.compiler.objects.bytecode import instructions_of
from wengert.compiler.objects.libraries import is_library_module, is_of_library, is_pure, is_trusted
from wengert.compiler.objects.names import names_of
from wengert.compiler.objects.walker import slots_of
from wengert.tape.saving import Packed

_SETS = frozenset({"STORE_ATTR", "DELETE_ATTR", "STORE_DEREF", "DELETE_DEREF", "IMPORT_NAME"})
_DRAWS = re.compile(
    r"(log_)?normal_?|(bernoulli|uniform|exponential|geometric|cauchy|random)_?"
    r"|\w*(rand|dropout|poisson|binomial|multinomial|gumbel|rrelu|fractional)\w*"
)
"""Names of functions that draw random numbers."""
_CONSTANTS = (int, float, complex, str, bytes, type(None), dtype)


def does_more(nodes: Iterable[Any]) -> str | None:
    """Return a message's words for the first impure function in a backward pass, or None."""
    for node in nodes:
        for code in _code_of(node):
            if not _computes(code, set()):
                return f"{code.__qualname__}(), which its backward pass runs,"
    return None


def _code_of(node: Any) -> Iterator[Any]:
    """Yield the users' functions that a node runs in a backward pass."""
    function = getattr(type(node), "function", None)
    if function is not None:
        yield function.backward
    for slot in slots_of(type(node)):
        held = getattr(node, slot, None)
        for saved in held if type(held) is tuple else (held,):
            if type(saved) is Packed:
                yield saved.unpack


def _computes(function: Any, known: set[Any]) -> bool:
    """Return whether a Python function is pure."""
    if not isinstance(function, types.FunctionType):
        return False
    if function in known or (is_trusted(function) and function.__closure__ is None):
        return True
    known.add(function)
    names = names_of(function.__code__)
    space: dict[str, Any] = function.__globals__
    if names.written or any(map(_DRAWS.fullmatch, names.attributes)):
        return False
    if any(step.opname in _SETS for step in instructions_of(function.__code__)[0]):
        return False
    for name in names.read:
        if name not in space and not is_pure("builtins", name):
            return False
        if name in space and not _is_harmless(space[name], names.read[name], known):
            return False
    held = [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]
    held += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return all(_is_harmless(value, ((),), known) for value in held)


def _is_harmless(value: Any, chains: Iterable[tuple[str, ...]], known: set[Any]) -> bool:
    """Return whether uses of a global or closed-over object, by attribute `chains`, are pure."""
    if isinstance(value, types.ModuleType):
        names = {name for chain in chains for name in chain}
        return is_library_module(value) and all(is_pure(value.__name__, name) for name in names)
    if isinstance(value, type) and not is_of_library(value):
        # an autograd Function
        applied = all(chain == ("apply",) for chain in chains)
        both = (getattr(value, name, None) for name in ("forward", "backward"))
        return applied and all(_computes(one, known) for one in both)
    if isinstance(value, types.FunctionType):
        return _computes(value, known)
    if isinstance(value, type | types.BuiltinFunctionType):
        return is_pure(value.__module__, value.__name__)
    return isinstance(value, _CONSTANTS)
