"""Layer 6 · tensor: methods whose modules are imported when they are first used (see NOTE [lazy
exports])."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from wengert.base.patches import put
from wengert.ops.exports import EXPORTS
from wengert.ops.written import FORMS
from wengert.tensor import assign, rewrite
from wengert.tensor.methods import TensorMethods

_FORMS: dict[str, Callable[..., Any]] = {
    "Tensor_": rewrite.computed,
    "Tensor_ drawn": assign.random_in_place,
    "Tensor_ drawn each": partial(assign.random_in_place, each=True),
    "Tensor_ reshaped": rewrite.reshaped,
    "Tensor_ written": lambda function: rewrite.written(function, FORMS[function.__name__]),
}
"""The makers of in-place forms, by the surface that exports the function."""


class _Lazy:
    """A descriptor that imports a method on first access and replaces itself by it.

    Parameters
    ----------
    name: The name of the function that is the method, or whose in-place form it is.
    module: The module of the function.
    form: The maker of the in-place form; None for the function itself.
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
        # two threads may both get here: they set the same value
        put(TensorMethods, name, found)
        return found if instance is None else found.__get__(instance, owner)


def _in_place(name: str) -> str:
    return f"{name.removeprefix('draw_')}_"


def install() -> None:
    """Add the exported methods to `TensorMethods`."""
    for name, module in EXPORTS["Tensor"].items():
        setattr(TensorMethods, name, _Lazy(name, module, None))
    for surface, form in _FORMS.items():
        for name, module in EXPORTS[surface].items():
            setattr(TensorMethods, _in_place(name), _Lazy(name, module, form))


install()
