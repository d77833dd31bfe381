"""Layer 9 · compat: arguments of classes as lines of the class.

NOTE [arguments as lines]
The arguments of a layer, a loss or an optimizer are also its attributes. They are written once, as
annotated lines of the class in the order of the arguments, and `arguments` builds ``__init__`` from
them. A line ``_units: int`` declares the argument ``units``, for originals whose attribute has an
underscore.

Arguments of the base class, and unknown keywords, are passed to its ``__init__``. If the base class
declares its arguments as lines too, those not in `without` follow the arguments of the class; an
argument in `places` follows the one that is named there. The others become attributes. `_prepare`
then checks them, or computes further attributes. Keywords in `ignored` have no effect.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["arguments", "lines_of"]

_KIND = inspect.Parameter.POSITIONAL_OR_KEYWORD


def lines_of(kind: type) -> list[str]:
    """Return the names of the attributes that hold the arguments of a class."""
    return [*getattr(kind.__init__, "lines", {}).values()]  # type: ignore[misc]


def arguments(kind, meant: Mapping[str, Callable[[Any], Any]] | None = None) -> Any:
    """Build ``__init__`` from the annotated lines of a class (see NOTE [arguments as lines]).

    Parameters
    ----------
    kind : type
        The class.
    meant : dict, optional
        Conversions of arguments, by the last word of their names; for example, a function that
        returns the initializer of a given name.
    """
    own = {
        line.lstrip("_"): inspect.Parameter(
            line.lstrip("_"),
            _KIND,
            default=vars(kind).get(line, inspect.Parameter.empty),
            annotation=annotation,
        )
        for line, annotation in inspect.get_annotations(kind).items()
        if not str(annotation).startswith("ClassVar")
    }
    lines = {line.lstrip("_"): line for line in inspect.get_annotations(kind)}
    passed = inspect.signature(kind.__init__).parameters
    above = getattr(kind.__init__, "lines", {})
    places, without = vars(kind).get("places", {}), vars(kind).get("without", ())
    ignored = getattr(kind, "ignored", ())
    ordered = [name for name in own if name not in places]
    ordered += [name for name in passed if name in above and name not in {*own, *without}]
    for name, before in places.items():
        ordered.insert(ordered.index(before) + 1, name)
    parameters = [own.get(name, passed.get(name)) for name in ordered]
    signature = inspect.Signature(
        [
            inspect.Parameter("self", _KIND),
            *(one for one in parameters if one is not None),
            inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
        ]
    )

    def __init__(self, *args, **kwargs) -> None:
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{kind.__name__}.__init__(): {error}") from None
        bound.apply_defaults()
        given = bound.arguments
        rest = given.pop("kwargs")
        del given["self"]
        for name in ignored:
            rest.pop(name, None)
        rest |= {name: given.pop(name) for name in list(given) if name in passed}
        super(kind, self).__init__(**rest)
        for name, value in given.items():
            understood = (meant or {}).get(name.rpartition("_")[2])
            setattr(self, lines[name], value if understood is None else understood(value))
        prepare = vars(kind).get("_prepare")
        if prepare is not None:
            prepare(self)

    for name in own:
        if lines[name] in vars(kind):
            delattr(kind, lines[name])  # it might hide a property of the base class
    made: Any = __init__
    made.__signature__ = signature
    made.__qualname__ = f"{kind.__qualname__}.__init__"
    made.lines = {name: lines.get(name, above.get(name)) for name in ordered}
    kind.__init__ = made
    return kind
