"""Layer 9 · compat: the symbolic tensors of Keras's functional models.

NOTE [symbols of Keras]
`Input` returns a `Symbol`, a shape and a dtype. A layer that is called with symbols runs on zeros,
to build its weights and to infer the shape of its result, and returns a symbol that records the
layer and its inputs. It runs twice, with other sizes for unknown dimensions: sizes that differ are
unknown. These are so large that windows fit into them, and that no usual number of poolings makes
them equal. What such a run changes (moving averages, seeds) is restored.
A functional model walks back from its outputs to its inputs, and runs the layers in topological
order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from wengert.base.names import defined
from wengert.compat.tensorflow import nest
from wengert.compat.tensorflow.functions.drawing import SeedGenerator
from wengert.compat.tensorflow.functions.values import constant_of, dtype_of
from wengert.compat.tensorflow.keras.weights import CREATED
from wengert.compat.tensorflow.shapes import TensorShape
from wengert.compat.tensorflow.words import refusal


class Symbol:
    """A tensor without a value: its shape, dtype and origin."""

    def __init__(self, shape, dtype="float32", origin=None, name: str | None = None) -> None:
        self.shape = tuple(shape)
        self.dtype = str(dtype_of(dtype))
        self.origin = origin
        self.name = name or "keras_tensor"

    def __repr__(self) -> str:
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype}, name={self.name}>"

    def __iter__(self) -> Any:
        raise TypeError("a tensor of a functional model is not iterated over: its parts are x[i]")


OPERATORS = {
    **{name: name for name in ("add", "sub", "mul", "truediv", "floordiv", "matmul", "pow", "mod")},
    **{f"r{name}": name for name in ("add", "sub", "mul", "truediv", "matmul", "pow")},
    **{name: name for name in ("neg", "abs", "getitem", "lt", "le", "gt", "ge")},
}
"""Operators between symbols: Python's method names, and functions of `operator`."""


def example(value, size: int) -> Any:
    """Replace symbols by zeros, with `size` examples, and more for other unknown dimensions."""

    def zeros(part) -> Any:
        if not isinstance(part, Symbol):
            return part
        sizes = [size * (64 if i else 1) if n is None else n for i, n in enumerate(part.shape)]
        return constant_of(np.zeros(sizes, part.dtype))

    return nest.map_structure(zeros, value)


def symbolic(layer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return symbols for the results of a layer called with symbols."""
    with _restored(layer):
        results = [layer(*example(args, size), **example(kwargs, size)) for size in (2, 3)]
    origin = (layer, args, kwargs)
    pairs = zip(*map(nest.flatten, results), strict=True)
    parts = [_symbol(a, b, (*origin, place)) for place, (a, b) in enumerate(pairs)]
    return nest.pack_sequence_as(results[0], parts)


@contextmanager
def _restored(layer) -> Iterator[None]:
    """Restore weights, those created in the block too, and seeds of a layer after the block."""
    found = layer._flatten_layers() if hasattr(layer, "_flatten_layers") else ()
    seeds = [
        part for one in found for part in vars(one).values() if isinstance(part, SeedGenerator)
    ]
    draws = [list(seed._state) for seed in seeds]
    values = [(weight, weight.numpy()) for weight in getattr(layer, "variables", ())]
    token = CREATED.set(values)
    try:
        yield
    finally:
        CREATED.reset(token)
        for seed, state in zip(seeds, draws, strict=True):
            seed._state[:] = state
        for weight, value in values:
            weight.assign(value)


def _symbol(a, b, origin) -> Symbol:
    shape = [m if m == n else None for m, n in zip(tuple(a.shape), tuple(b.shape), strict=True)]
    return Symbol(TensorShape(shape), a.dtype.name, origin)


def inner(value) -> list[Any]:
    """Return the symbols in a structure."""
    return [part for part in nest.flatten(value) if isinstance(part, Symbol)]


def order_of(outputs, inputs) -> tuple[list[Symbol], dict[int, int]]:
    """Return the symbols from `inputs` to `outputs` in topological order, and the turns in which a
    depth-first search from the outputs reaches the layers and the inputs, by identity.

    Raises
    ------
    ValueError: If an output depends on another input.
    """
    known = {id(symbol) for symbol in inner(inputs)}
    turns: dict[int, int] = {}
    done: list[Symbol] = []
    stack: list[tuple[Symbol, bool]] = [(symbol, False) for symbol in reversed(inner(outputs))]
    while stack:
        symbol, ready = stack.pop()
        if id(symbol) in known:
            turns.setdefault(id(symbol), len(turns))
            continue
        if symbol.origin is None:
            raise refusal(ValueError, "`inputs` not connected", symbol)
        if ready:
            known.add(id(symbol))
            done.append(symbol)
            continue
        turns.setdefault(id(symbol.origin[0]), len(turns))
        stack.append((symbol, True))
        stack += [(part, False) for part in reversed(_needed(symbol))]
    return done, turns


def _needed(symbol: Symbol) -> list[Symbol]:
    return inner(symbol.origin[1]) + inner(symbol.origin[2])


def layers_of(
    order: list[Symbol], turns: dict[int, int], entries: list[tuple[Symbol, Any]]
) -> list[Any]:
    """Return the layers of a graph as Keras lists them, which is the order of their weights.

    The layers farthest from the outputs come first, and of equally far ones those that
    `order_of` reaches first.
    """
    calls: dict[int, int] = {}
    found = {id(symbol): entry for symbol, entry in entries}
    far: dict[int, int] = {}
    for symbol in reversed(order):
        layer, args, _, _ = symbol.origin
        found[id(layer)] = layer
        depth = max(calls.get(id(args), 0), far.get(id(layer), 0))
        calls[id(args)] = far[id(layer)] = depth
        for part in _needed(symbol):
            held = far if id(part) in found else calls
            key = id(part if held is far else part.origin[1])
            held[key] = max(depth + 1, held.get(key, 0))
    turn = {key: (-far.get(key, 0), turns.get(key, -1)) for key in found}
    return [found[key] for key in sorted(found, key=turn.__getitem__)]


def evaluated(outputs, order: list[Symbol], values: dict[int, Any]) -> Any:
    """Return the values of `outputs`, given the values of input symbols by identity."""
    results: dict[int, Any] = {}
    for symbol in order:
        layer, args, kwargs, place = symbol.origin
        key = id(args)
        if key not in results:
            given = _filled(args, values), _filled(kwargs, values)
            masks = [(x, x._keras_mask) for x in nest.flatten(given) if hasattr(x, "_keras_mask")]
            results[key] = nest.flatten(layer(*given[0], **given[1]))
            for x, mask in masks:  # of a graph, attention takes none away
                x._keras_mask = mask
        values[id(symbol)] = results[key][place]
    return _filled(outputs, values)


def _filled(value, values: dict[int, Any]) -> Any:
    return nest.map_structure(lambda x: values[id(x)] if isinstance(x, Symbol) else x, value)


__all__ = defined(globals(), "OPERATORS")
