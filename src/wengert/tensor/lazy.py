"""Layer 6 · tensor: methods whose modules are imported when they are first used (see NOTE [lazy
exports])."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from wengert.ops.exports import EXPORTS
from wengert.ops.written import FORMS
from wengert.tensor import assign, rewrite
from wengert.tensor.methods import TensorMethods

_FORMS: dict[str, Callable[..., Any]] = {
    "Tensor_": rewrite.computed,
    "Tensor_ apart": partial(rewrite.computed, apart=True),
    "Tensor_ drawn": assign.random_in_place,
    "Tensor_ reshaped": rewrite.reshaped,
    "Tensor_ written": lambda function: rewrite.written(function, FORMS[function.__name__]),
}
"""How a form in place is made of the function."""


class _Lazy:
    """Stands in a class for a method, and gives way to it when it is asked for.

    Parameters
    ----------
    name: The function that the method is, or of which it is a form in place.
    module: Where that is found.
    form: Makes the form in place of it; None for the function itself.
    """

    __slots__ = ("form", "module", "name")

    def __init__(self, name: str, module: str, form: Callable[..., Any] | None) -> None:
        self.name = name
        self.module = module
        self.form = form

    def __get__(self, instance: Any, owner: Any) -> Any:
        found = getattr(importlib.import_module(f"wengert.ops.{self.module}"), self.name)
        name = self.name
        if self.form is not None:
            found, name = self.form(found), _in_place(name)
        # two threads may both come here: they set the same
        setattr(TensorMethods, name, found)
        return found if instance is None else found.__get__(instance, owner)


def _in_place(name: str) -> str:
    return f"{name.removeprefix('draw_')}_"


def install() -> None:
    """Put the methods that are exported into the class of methods."""
    for name, module in EXPORTS["Tensor"].items():
        setattr(TensorMethods, name, _Lazy(name, module, None))
    for surface, form in _FORMS.items():
        for name, module in EXPORTS[surface].items():
            setattr(TensorMethods, _in_place(name), _Lazy(name, module, form))


install()
