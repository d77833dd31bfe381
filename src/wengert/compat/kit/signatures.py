"""Layer 9 · compat: functions whose parameters are written as text.

NOTE [signatures as text]
A function made for a row of a table has the parameters that the original documents:
``a, axis=None, *, where=None``. The text is parsed once, as Python parses it, into the signature
that `inspect.signature`, editors and `help` show. A call binds its arguments to these names; if
they do not match, the error is Python's own TypeError.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["arguments_of", "named", "signature_of", "signed"]

_EMPTY = inspect.Parameter.empty


def named(function: Any, name: str, doc: str | None = None) -> Any:
    """Set the name of a function made for a row of a table, and its docstring; return it."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = function.__doc__ if doc is None else doc
    return function


def signature_of(text: str) -> inspect.Signature:
    """Return the signature of a parameter list: ``x, /, axis=-1, *, dtype=int``."""
    (header,) = ast.parse(f"def _({text}): ...").body
    given = header.args  # type: ignore[attr-defined]
    first, second = given.posonlyargs, given.args
    kinds: list[Any] = [inspect.Parameter.POSITIONAL_ONLY] * len(first)
    kinds += [inspect.Parameter.POSITIONAL_OR_KEYWORD] * len(second)
    kinds += [inspect.Parameter.KEYWORD_ONLY] * len(given.kwonlyargs)
    names = [one.arg for one in (*first, *second, *given.kwonlyargs)]
    missing = len(first) + len(second) - len(given.defaults)
    defaults = [*[None] * missing, *given.defaults, *given.kw_defaults]

    def default(node: Any) -> Any:
        if node is None:
            return _EMPTY
        if isinstance(node, ast.Name):
            return getattr(builtins, node.id)
        return ast.literal_eval(node)

    parameters = [
        inspect.Parameter(name, kind, default=default(node))
        for name, kind, node in zip(names, kinds, defaults, strict=True)
    ]
    return inspect.Signature(parameters)


def arguments_of(signature: inspect.Signature) -> Callable[[tuple[Any, ...], Any], dict[str, Any]]:
    """Return a function that binds the arguments of a call to parameter names, with defaults."""
    parameters = signature.parameters
    named_only = inspect.Parameter.KEYWORD_ONLY
    places = tuple(name for name, one in parameters.items() if one.kind is not named_only)
    named = {name for name, one in parameters.items() if one.kind is not one.POSITIONAL_ONLY}
    defaults = {name: one.default for name, one in parameters.items() if one.default is not _EMPTY}
    count, most = len(parameters), len(places)

    def sorted_(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        found = {**defaults, **dict(zip(places, args, strict=False)), **kwargs}
        doubtful = kwargs and (not kwargs.keys() <= named or kwargs.keys() & {*places[: len(args)]})
        if doubtful or len(found) < count or len(args) > most:
            signature.bind(*args, **kwargs)  # raises
        return found

    return sorted_


def signed(
    name: str, text: str, compute: Callable[[dict[str, Any]], Any], doc=""
) -> Callable[..., Any]:
    """Decorate a function with parameters written as text (see NOTE [signatures as text]).

    Parameters
    ----------
    name, doc : str
        Its name and its docstring.
    text : str
        Its parameters, as Python writes them.
    compute : callable
        Takes the arguments by name.
    """
    signature = signature_of(text)
    arguments = arguments_of(signature)

    def function(*args, **kwargs) -> Any:
        try:
            given = arguments(args, kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        return compute(given)

    made: Any = named(function, name, doc)
    made.__signature__ = signature
    return made
