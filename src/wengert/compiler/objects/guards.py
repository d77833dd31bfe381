"""Layer 8 · compiler: guards as one generated Python function, and their comparison."""

from __future__ import annotations

import functools
import math
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compiler.objects.contents import Filled, content_of
from wengert.compiler.objects.walker import VALUES
from wengert.interp.levels import Lifted
from wengert.tape.base import LEAF
from wengert.tape.masked import REPORT
from wengert.tape.versions import InferenceCell

Matcher = Callable[[tuple[Any, ...], dict[str, Any]], tuple[list[Any], list[Any]] | None]


_variable = getattr(getattr(getattr(np, "_core", None), "umath", None), "_extobj_contextvar", None)
error_state: Callable[[], Any] = object if _variable is None else _variable.get
"""Return NumPy's error state object, which each change replaces; or a new object each time."""
_USUAL = frozenset(
    {"grad", "linked", "root", "views", "level", "accumulator", "watchpoint", "ended", "stale"}
)
"""The rare attributes of a tensor (`Extra`) that do not matter, or have conditions of their own.

A write makes views stale, also one of the function itself.
"""
VIEWED = _USUAL | {"base", "chain"}
"""Those of a view, whose base has conditions of its own."""
UNSEEN: list[Any] = [None]
"""The last error state for which `shows_errors` returned False."""


def shows_errors() -> bool:
    """Return whether floating-point errors raise, print or call: native code does not do so."""
    state = error_state()
    shows = np.geterrcall() is not REPORT and not {"ignore", "warn"}.issuperset(
        np.geterr().values()
    )
    if not shows:
        UNSEEN[0] = state
    return shows


_format = getattr(sys.modules.get("numpy._core.printoptions"), "format_options", None)
_formats: Callable[[], Any] = object if _format is None else _format.get
"""Return NumPy's print options object, which each change replaces, or a new object each time."""


def _memory(tensor: Any) -> Any:
    """Return the payload of a tensor as an array."""
    array = tensor._array()
    if isinstance(array, Lifted):
        raise AttributeError("a tensor that another thread traces, or of a transform or a device")
    return array


class Conditions:
    """Guard statements that find tensors and arrays, and return None where a condition fails.

    Attributes
    ----------
    met, arrays: The tensors and arrays that the statements find, each once.
    compared: The content of each array that is guarded by content, by its index in `arrays`.
    refusal: Why no guard is possible, or None.
    kept: The objects that conditions compare with, kept alive.
    """

    met: list[Any]
    arrays: list[Any]
    compared: dict[int, Any]

    def __init__(self) -> None:
        self.refusal: str | None = None
        self._contents: list[Any] = []
        self.kept: list[Any] = []
        self._plain: list[Any] = []
        self._lines: list[str] = []
        self._scope: dict[str, Any] = {
            "LEAF": LEAF,
            "USUAL": _USUAL,
            "VIEWED": VIEWED,
            "InferenceCell": InferenceCell,
            "ndarray": np.ndarray,
            "memory": _memory,
            "copysign": math.copysign,
            "is_": operator.is_,
            "np": np,
        }
        self._count = self._tools = 0
        self._computes = False
        self._errors = np.geterr()
        self._settings = error_state()
        self._format, self._shown = _formats(), np.get_printoptions()

    def settings(self) -> Any:
        """Return a context with NumPy's handling of errors when the conditions were found."""
        return np.errstate(**self._errors)

    def noted(self) -> Conditions:
        """Return a copy of the conditions, for `equals`."""
        made = Conditions()
        made._lines, made._plain = [*self._lines], [*self._plain]
        made._contents, made.refusal = [*self._contents], self.refusal
        made.met, made.arrays = [*self.met], [*self.arrays]
        return made

    def equals(self, other: Conditions) -> bool:
        """Return whether the conditions are those of `other`, written for the same call."""
        return (
            self._lines == other._lines
            and self.refusal == other.refusal
            and self._contents == other._contents
            and _are(self.met, other.met)
            and _are(self.arrays, other.arrays)
            and len(self._plain) == len(other._plain)
            and all(map(_is_same, self._plain, other._plain))
        )

    def caches(self) -> list[Filled]:
        """Return the miss counts and sizes of functions' caches."""
        return [value for value in self._plain if value.__class__ is Filled]

    def matcher(self) -> Matcher:
        """Return the function that checks the conditions."""
        tensors = [f"t{i}" for i in range(len(self.met))]
        arrays = [f"n{i}" for i in range(len(self.arrays))]
        source = "\n".join(
            [
                "def match(args, kwargs):",
                "    try:",
                *[f"        {line}" for line in self.lines()],
                "    except (AttributeError, LookupError, TypeError, ValueError):",
                "        return None",
                f"    return [{', '.join(tensors)}], [{', '.join(arrays)}]",
            ]
        )
        scope = dict(self._scope)
        exec(compiled(source, "<wengert conditions>"), scope)
        return scope["match"]

    def lines(self) -> list[str]:
        """Return the conditions as statements, each of which returns None if it fails.

        They assign the tensors to ``t0``, ..., arrays to ``n0``, ..., and payloads to ``p0``, ...
        """
        lines = [*self._lines]
        for letter, count in (("t", len(self.met)), ("n", len(self.arrays))):
            # one tensor in two places is a different program from two tensors
            if count == 2:
                lines.append(f"if {letter}0 is {letter}1: return None")
            elif count > 2:
                ids = ", ".join(f"id({letter}{i})" for i in range(count))
                lines.append(f"if len({{{ids}}}) != {count}: return None")
        if self._computes or self.compared:
            # NumPy's error state: whether it raises, warns or ignores
            lines.append(
                f"if {self._tool(error_state)}() is not {self._tool(self._settings)} "
                f"and {self._tool(np.geterr)}() != {self._tool(self._errors)}: return None"
            )
            lines.append(
                f"if {self._tool(_formats)}() is not {self._tool(self._format)} "
                f"and {self._tool(np.get_printoptions)}() != {self._tool(self._shown)}: return None"
            )
        content = self._tool(content_of)
        for i, known in self.compared.items():
            lines.append(f"if {content}(n{i}) != {self._tool(known)}: return None")
        return lines

    def scope(self) -> dict[str, Any]:
        """Return the namespace of the statements."""
        return dict(self._scope)

    # -- conditions --------------------------------------------------------------------------------

    def _line(self, text: str) -> None:
        self._lines.append(text)

    def _require(self, condition: str) -> None:
        self._line(f"if not ({condition}): return None")

    def _constant(self, value: Any) -> str:
        """Return a name for an object that conditions compare with."""
        name = f"k{len(self.kept)}"
        self.kept.append(value)
        self._plain.append(value)
        self._scope[name] = value
        return name

    def _tool(self, value: Any) -> str:
        """Return a name for a helper of the statements, which conditions do not compare with."""
        if value.__class__ is list:
            # a list of keys, which is compared
            return self._constant(value)
        name = f"h{self._tools}"
        self._tools += 1
        self._scope[name] = value
        return name

    def _local(self, path: str) -> str:
        """Assign the value of `path` to a new variable, and return its name."""
        name = f"v{self._count}"
        self._count += 1
        self._line(f"{name} = {path}")
        return name

    def _refuse(self, why: str) -> None:
        if self.refusal is None:
            self.refusal = why


@functools.lru_cache(256)
def compiled(source: str, name: str) -> types.CodeType:
    """Compile generated statements. Calls of one kind have the same ones, in other namespaces."""
    return compile(source, name, "exec")


def _are(mine: list[Any], yours: list[Any]) -> bool:
    return len(mine) == len(yours) and all(map(operator.is_, mine, yours))


def _is_same(mine: Any, yours: Any) -> bool:
    """Return whether two environments' conditions compare with the same value."""
    if mine is yours:
        # a NumPy scalar may be NaN, which equals nothing
        return not isinstance(mine, np.generic | complex) or bool(mine == mine)
    kind = type(mine)
    if kind is not type(yours):
        return False
    if kind in (list, tuple, Filled):
        return len(mine) == len(yours) and all(map(_is_same, mine, yours))
    return (kind in VALUES or isinstance(mine, np.dtype | np.generic)) and bool(mine == yours)
