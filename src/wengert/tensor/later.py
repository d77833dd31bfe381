"""Layer 6 · tensor: methods whose modules are imported when they are first used."""

from __future__ import annotations

import importlib
from typing import Any

from wengert.ops.later import IN_PLACE, METHODS
from wengert.tensor import rewrite
from wengert.tensor.methods import TensorMethods

__all__ = ["install"]


class _Later:
    """Stands in a class for a method, and gives way to it when it is asked for.

    Parameters
    ----------
    name
        The method's name.
    module, function
        Where the function is found that the method is, or whose result it writes.
    """

    __slots__ = ("function", "module", "name")

    def __init__(self, name: str, module: str, function: str) -> None:
        self.name = name
        self.module = module
        self.function = function

    def __get__(self, instance: Any, owner: Any) -> Any:
        found = getattr(importlib.import_module(f"wengert.ops.{self.module}"), self.function)
        method = found if self.name == self.function else rewrite.computed(found)
        # two threads may both come here: they set the same
        setattr(TensorMethods, self.name, method)
        return method if instance is None else method.__get__(instance, owner)


def install() -> None:
    """Put the methods that `wengert.ops.later` lists into the class of methods."""
    for name, module in METHODS.items():
        setattr(TensorMethods, name, _Later(name, module, name))
    for name, module in IN_PLACE.items():
        setattr(TensorMethods, f"{name}_", _Later(f"{name}_", module, name))


install()
