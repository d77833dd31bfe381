"""Layer 9 · compat: arguments of Keras's classes as lines of the class.

NOTE [settings]
The arguments of a layer or an optimizer are its attributes, and make its configuration. So they are
written once, as annotated lines of the class in the order of the arguments, and `settings` makes
``__init__`` of them: arguments that the class above takes go there, with all others by name; the
rest become attributes, and names of activations, initializers, regularizers and constraints what
they stand for. `_prepare` then checks them, or brings them into another form. Keywords in `ignored`
have no effect. A class whose arguments stand among those of the class above says behind which, in
`places`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from wengert.compat.tensorflow import initializers
from wengert.compat.tensorflow.keras import activations, constraints, regularizers

__all__ = ["settings"]

_MEANT: dict[str, Callable[[Any], Any]] = {
    "activation": activations.get,
    "constraint": constraints.get,
    "initializer": initializers.get,
    "regularizer": regularizers.get,
}
"""What an argument stands for, by the last word of its name."""


def settings(kind) -> Any:
    """Decorate a class whose arguments are its annotated lines (see NOTE [settings])."""
    passed = inspect.signature(kind.__init__).parameters
    ignored = getattr(kind, "ignored", ())
    own = [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=vars(kind).get(name, inspect.Parameter.empty),
            annotation=annotation,
        )
        for name, annotation in inspect.get_annotations(kind).items()
        if not str(annotation).startswith("ClassVar")
    ]
    places = vars(kind).get("places", {})
    shown = [one for one in passed.values() if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    ordered = shown[1:] if places else []
    for parameter in own:
        before = [one.name for one in ordered]
        place = places.get(parameter.name)
        ordered.insert(len(before) if place is None else before.index(place) + 1, parameter)
    signature = inspect.Signature(
        [
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *ordered,
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
            meant = _MEANT.get(name.rpartition("_")[2])
            setattr(self, name, value if meant is None else meant(value))
        prepare = vars(kind).get("_prepare")
        if prepare is not None:
            prepare(self)

    for parameter in own:
        if parameter.name in vars(kind):
            delattr(kind, parameter.name)  # it might hide a property of the class above
    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{kind.__qualname__}.__init__"
    kind.__init__ = __init__
    return kind
