"""Layer 9 · compat: families of functions as rows of a table.

NOTE [functions of rows]
The functions of a family differ only in the operation they call, the dtypes they accept, a line of
documentation and an example. Each is a row, ``path | argument | argument ...``: the arguments of
the factory of the family. A cell is text, except ``=wg.cos``, an expression that begins with a name
of the module or with `wg`. A line that is indented, or begins with ``|``, continues the row above.
The factory defines one function with the docstring of the family, and `shaped` fills in each
function's name, parameters and words.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert.compat.kit.signatures import arguments_of, signature_of

__all__ = ["cells_of", "of_rows", "shaped", "told"]


def of_rows(
    namespace: dict[str, Any], make: Callable[..., Any], text: str, **values: Any
) -> list[str]:
    """Define one function for each row of a table, and return their names.

    Parameters
    ----------
    namespace : dict
        The ``globals()`` of a module, which receives the functions. Names in cells are looked up
        there, and in the module of `make`.
    make : callable
        The factory: returns a function, given the cells of a row.
    text : str
        The rows (see NOTE [functions of rows]).
    **values
        Further names that cells may use.
    """
    known = {"wg": wg} | make.__globals__ | namespace | values
    names = []
    for cells in cells_of(text):
        made = make(*(_value(cell, known) for cell in cells))
        made.__module__ = namespace["__name__"]
        namespace[made.__name__] = made
        names.append(made.__name__)
    return names


def cells_of(text: str) -> list[list[str]]:
    """Return the cells of each row of a table."""
    joined = re.sub(r"\n(?=\|)|\n +", " ", inspect.cleandoc(text))
    return [[cell.strip() for cell in line.split(" | ")] for line in joined.splitlines()]


def _value(cell: str, known: dict[str, Any]) -> Any:
    if not cell.startswith("="):
        return cell
    first, *rest = cell[1:].split(".")
    return functools.reduce(getattr, rest, known[first])


def told(template: Any, *names: str, **words: Any) -> str:
    """Return the docstring of a function or class, formatted with the words of one row."""
    return inspect.cleandoc(template.__doc__ or "").format(*names, **words)


def shaped(function: Any, path: str, **words: Any) -> Any:
    """Set the name, the parameters and the docstring of a function made for a row.

    Parameters
    ----------
    function : callable
        The function, which may be wrapped by a decorator.
    path : str
        Its public path, and its first parameters if they are to be renamed:
        ``"math.igamma(a, x)"``, ``"nn.conv1d(input, filters, stride, data_format='NWC')"``. Later
        parameters keep their names. In the docstring ``{path}`` and ``{name}`` are replaced by the
        path and the name, ``{0}``, ``{1}`` by the parameters.
    **words
        The replacements of ``{word}`` in the docstring.
    """
    path, _, parameters = path.partition("(")
    name = path.rpartition(".")[2]
    given = list(inspect.signature(function).parameters.values())
    if parameters:
        first = list(signature_of(parameters[:-1]).parameters.values())
        if all(one.default is one.empty for one in first):
            pairs = zip(first, given, strict=False)
            first = [one.replace(default=before.default) for one, before in pairs]
        function = _renamed(function, given, first + given[len(first) :])
        given = list(inspect.signature(function).parameters.values())
    doc = told(function, *[one.name for one in given], path=path, name=name, **words)
    for one in (function, getattr(function, "__wrapped__", function)):
        one.__name__ = one.__qualname__ = name
        one.__doc__ = doc
    return function


def _renamed(function: Any, before: list[inspect.Parameter], now: list[inspect.Parameter]) -> Any:
    """Return a function with renamed parameters and their defaults."""
    result = inspect.signature(function).return_annotation
    signature = inspect.Signature(now, return_annotation=result)
    arguments = arguments_of(signature)
    named = {
        one.name: old.name
        for one, old in zip(now, before, strict=True)
        if one.kind is one.KEYWORD_ONLY
    }
    places = [one.name for one in now if one.name not in named]

    @functools.wraps(function)
    def called(*args, **kwargs) -> Any:
        given = arguments(args, kwargs)
        options = {old: given[name] for name, old in named.items()}
        return function(*[given[name] for name in places], **options)

    made: Any = called
    made.__signature__ = signature
    return made
