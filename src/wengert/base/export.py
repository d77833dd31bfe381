"""Layer 0 · base: `export`, the decorator that declares where a function is public.

NOTE [lazy exports]
`export` marks a function with the names of the surfaces that it belongs to. From these marks
``stubs/exports.py`` writes the index that `wengert.ops.exports` reads: the module of every name. So
the package, ``nn.functional`` and the class of tensors import a module when one of its functions is
first used. No other list of names exists.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

V = TypeVar("V")

SURFACES = {
    "wengert": "functions of the package",
    "nn.functional": "functions of networks",
    "Tensor": "methods, whose first parameter is the tensor",
    "Tensor_": "methods that write what the function gives over their tensor",
    "Tensor_ drawn": "methods that write what is drawn: ``uniform_`` of ``draw_uniform``",
    "Tensor_ drawn each": "such that their parameter may be a tensor",
    "Tensor_ reshaped": "methods that give their tensor the shape of the view that is returned",
    "Tensor_ written": "methods whose primitive itself writes, see `wengert.ops.written`",
}


class _Mark(Protocol):
    def __call__(self, function: V, /, *others: Any) -> V: ...


def export(*surfaces: str) -> _Mark:
    """Return the decorator of functions that belong to `surfaces`."""

    def mark(function: V, /, *others: Any) -> V:
        for one in (function, *others):
            one.__exports__ = surfaces
        return function

    return mark
