"""Calls of NumPy's functions with generated arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Array", "Call", "cx", "ints", "mask", "pos", "rising", "spd", "sym", "unit", "x"]


class Array:
    """An array argument of a sample, drawn when it is asked for.

    Attributes
    ----------
    kind
        ``"normal"``, ``"positive"``, ``"unit"`` (within -1 and 1), ``"complex"``, ``"definite"``
        (symmetric positive definite), ``"hermitian"``, ``"ordered"``, ``"integer"`` or ``"mask"``.
    shape
        Its shape.
    """

    __slots__ = ("kind", "shape")

    def __init__(self, kind: str, shape: tuple[int, ...]) -> None:
        self.kind = kind
        self.shape = shape

    @property
    def differentiable(self) -> bool:
        """Whether its elements have gradients."""
        return self.kind not in ("integer", "mask")

    def draw(self, rng: np.random.Generator) -> Any:
        """An array of it."""
        shape = self.shape
        made: Any = rng.standard_normal(shape)
        if self.kind == "positive":
            made = rng.uniform(0.4, 1.8, shape)
        elif self.kind == "unit":
            made = rng.uniform(-0.8, 0.8, shape)
        elif self.kind == "complex":
            made = made + 1j * rng.standard_normal(shape)
        elif self.kind == "definite":
            made = made @ np.swapaxes(made, -2, -1) + shape[-1] * np.eye(shape[-1])
        elif self.kind == "hermitian":
            made = made + np.swapaxes(made, -2, -1)
        elif self.kind == "ordered":
            made = np.cumsum(rng.uniform(0.4, 1.8, shape), -1)
        elif self.kind == "integer":
            made = rng.integers(0, 3, shape)
        elif self.kind == "mask":
            made = rng.uniform(0, 1, shape) > 0.4
            if made.ndim:
                made.reshape(-1)[:1] = True
        return np.asarray(made)


class Call:
    """Arguments of a function: values, arrays to draw, and lists of these.

    Parameters
    ----------
    via
        ``via(function, *args)`` calls the function, for results that are not unique (signs of
        eigenvectors) or arguments that are not free (symmetric matrices).
    """

    __slots__ = ("args", "kwargs", "via")

    def __init__(self, *args: Any, via: Callable[..., Any] | None = None, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs
        self.via = via

    def arrays(self, seed: int = 0) -> list[Any]:
        """The arrays with a gradient, drawn."""
        rng = np.random.default_rng(seed)
        found: list[Any] = []

        def draw(array: Array) -> Any:
            made = array.draw(rng)
            if array.differentiable:
                found.append(made)

        self._mapped(draw)
        return found

    def run(self, function: Callable[..., Any], arrays: list[Any], seed: int = 0) -> Any:
        """Call `function`, with `arrays` in place of those with a gradient."""
        rng = np.random.default_rng(seed)
        left = iter(arrays)

        def place(array: Array) -> Any:
            made = array.draw(rng)
            return next(left) if array.differentiable else made

        args, kwargs = self._mapped(place)
        if self.via is not None:
            return self.via(function, *args, **kwargs)
        return function(*args, **kwargs)

    def _mapped(self, change: Callable[[Array], Any]) -> tuple[Any, Any]:
        def mapped(value: Any) -> Any:
            if isinstance(value, Array):
                return change(value)
            if isinstance(value, list | tuple):
                return type(value)([mapped(part) for part in value])
            return value

        return mapped(list(self.args)), {k: mapped(v) for k, v in self.kwargs.items()}

    def __repr__(self) -> str:
        def shown(value: Any) -> str:
            if isinstance(value, Array):
                return f"{value.kind}{list(value.shape)}"
            if isinstance(value, list):
                return f"[{', '.join(map(shown, value))}]"
            if isinstance(value, tuple):
                return f"({', '.join(map(shown, value))}{',' * (len(value) == 1)})"
            return getattr(value, "__name__", None) or repr(value)

        parts = [*map(shown, self.args), *[f"{k}={shown(v)}" for k, v in self.kwargs.items()]]
        return ", ".join(parts)


def _kind(kind: str) -> Callable[..., Array]:
    return lambda *shape: Array(kind, shape)


x = _kind("normal")
pos = _kind("positive")
unit = _kind("unit")
cx = _kind("complex")
spd = _kind("definite")
sym = _kind("hermitian")
rising = _kind("ordered")
ints = _kind("integer")
mask = _kind("mask")
