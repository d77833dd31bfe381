"""Layer 9 · compat: families of functions as rows of a table.

NOTE [functions of rows]
Functions of a family differ in a few words: which operation they call, which dtypes they take, a
line of documentation, an example. Each is a row, ``path | argument | argument ...``, of what the
maker of the family takes. A cell is text, but for ``=wg.cos``, which begins with a name of the
module or with `wg`. A line that begins with ``|``, or further in, goes on with the row above it.
The maker has a function with the docstring of them all, and `shaped` gives each its name,
parameters and words.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert.compat.kit.signatures import arguments_of, signature_of

__all__ = ["of_rows", "options", "shaped", "told"]


def of_rows(
    namespace: dict[str, Any], make: Callable[..., Any], text: str, **values: Any
) -> list[str]:
    """Put a function into a namespace for each row, and return their names.

    Parameters
    ----------
    namespace : dict
        The ``globals()`` of a module. What cells name is looked up there, and where `make` is.
    make : callable
        What makes a function of the cells of a row.
    text : str
        The rows (see NOTE [functions of rows]).
    **values
        What else cells name.
    """
    known = {"wg": wg} | make.__globals__ | namespace | values
    joined = re.sub(r"\n(?=\|)|\n +", " ", inspect.cleandoc(text))
    names = []
    for line in joined.splitlines():
        made = make(*(_value(cell.strip(), known) for cell in line.split(" | ")))
        made.__module__ = namespace["__name__"]
        namespace[made.__name__] = made
        names.append(made.__name__)
    return names


def _value(cell: str, known: dict[str, Any]) -> Any:
    if not cell.startswith("="):
        return cell
    first, *rest = cell[1:].split(".")
    return functools.reduce(getattr, rest, known[first])


def options(text: str) -> dict[str, Any]:
    """Return the default arguments in a cell: ``axis=-1, from_logits=False``."""
    return {name: one.default for name, one in signature_of(text).parameters.items()}


def told(template: Any, *names: str, **words: Any) -> str:
    """Return the docstring of a function or class with the words of one row filled in."""
    return inspect.cleandoc(template.__doc__ or "").format(*names, **words)


def shaped(function: Any, path: str, **words: Any) -> Any:
    """Give a function made for a row its name, parameters and docstring.

    Parameters
    ----------
    function : callable
        The function, which a decorator may have wrapped. No function in it uses its parameters.
    path : str
        Where users find it, and its parameters, if they are others than it was written with:
        ``"math.igamma(a, x)"``, ``"nn.conv1d(input, filters, stride, data_format='NWC')"``. Those
        behind them stay. ``{path}`` and ``{name}`` stand for it in the docstring, ``{0}``, ``{1}``
        for the parameters.
    **words
        What stands for ``{word}`` in the docstring.
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
