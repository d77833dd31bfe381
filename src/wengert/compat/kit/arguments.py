"""Layer 9 · compat: arguments of classes, written as text.

NOTE [arguments as text]
The arguments of a layer, a loss or an optimizer are also its attributes. They are written once, as
the original documents them: ``units, activation=None, use_bias=True`` (NOTE [signatures as text]),
and `arguments` builds ``__init__`` from them. A name ``_units`` is the argument ``units``, for
originals whose attribute has an underscore.

Arguments of the base class, and unknown keywords, are passed to its ``__init__``. If the base class
has its arguments from text too, those not in `without` follow the arguments of the class; an
argument that is written ``axis/momentum=0.9`` follows `axis` instead, and of those in `without`
``name=None`` is None. The others become attributes.
`_prepare` then checks them, or computes further attributes: it runs once, when the arguments of
all base classes are known. Attributes in `early` are set before others. Keywords in
`ignored` have no effect.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from wengert.compat.kit.signatures import signature_of

__all__ = ["Given", "arguments", "lines_of"]


def _nothing() -> None: ...


class Given:
    """An object with the attributes that `arguments` sets."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def lines_of(kind: type) -> list[str]:
    """Return the names of the attributes that hold the arguments of a class."""
    return [*getattr(kind.__init__, "lines", {}).values()]  # type: ignore[misc]


def arguments(
    text: str, meant: Mapping[str, Callable[[Any], Any]] | None = None
) -> Callable[[Any], Any]:
    """Decorate a class to build its ``__init__`` from text (see NOTE [arguments as text]).

    Parameters
    ----------
    text : str
        The arguments, as Python writes parameters.
    meant : dict, optional
        Conversions and checks of arguments, by their names or the last words of them; for example,
        a function that returns the initializer of a given name.
    """
    places: dict[str, str] = {}
    told = meant or {}

    def placed(match: re.Match[str]) -> str:
        places[match[2].lstrip("_")] = match[1]
        return match[2]

    plain = re.sub(r"([a-z]\w*)/(\w+)", placed, text)
    held = signature_of(plain).parameters
    lines = {line.lstrip("_"): line for line in held}
    own = {name: held[line].replace(name=name) for name, line in lines.items()}

    def decorate(kind) -> Any:
        passed = inspect.signature(kind.__init__).parameters
        above = getattr(kind.__init__, "lines", {})
        ignored, left_out = getattr(kind, "ignored", ()), vars(kind).get("without", ())
        without = [name.removesuffix("=None") for name in left_out]
        nothing = {name: None for name in without if f"{name}=None" in left_out}
        ordered = [name for name in own if name not in places]
        ordered += [name for name in passed if name in above and name not in {*own, *without}]
        for name, before in places.items():
            ordered.insert(ordered.index(before) + 1, name)
        parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        parameters += [own.get(name) or passed[name] for name in ordered]
        if kind.__init__ is not object.__init__:
            parameters.append(inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD))
        signature = inspect.Signature(parameters)

        def __init__(self, *args, **kwargs) -> None:
            try:
                bound = signature.bind(self, *args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{kind.__name__}.__init__(): {error}") from None
            bound.apply_defaults()
            given = bound.arguments
            rest = given.pop("kwargs", {})
            del given["self"]
            for name in ignored:
                rest.pop(name, None)
            rest |= {name: given.pop(name) for name in list(given) if name in passed}
            rest |= nothing
            super(kind, self).__init__(**rest)
            early = getattr(self, "early", ())
            for name, value in sorted(given.items(), key=lambda pair: pair[0] not in early):
                understood = told.get(name) or told.get(name.rpartition("_")[2])
                setattr(self, lines[name], value if understood is None else understood(value))
            if (
                next(c for c in type(self).__mro__ if hasattr(vars(c).get("__init__"), "lines"))
                is kind
            ):
                getattr(self, "_prepare", _nothing)()

        made: Any = __init__
        made.__signature__ = signature
        made.__qualname__ = f"{kind.__qualname__}.__init__"
        made.lines = {name: lines.get(name, above.get(name)) for name in ordered}
        kind.__init__ = made
        return kind

    return decorate
