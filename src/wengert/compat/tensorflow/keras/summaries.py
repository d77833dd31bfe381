"""Layer 9 · compat: the table that `Model.summary` prints, as Keras prints it."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Any

from wengert.compat.tensorflow import nest
from wengert.compat.tensorflow.keras.layers import InputLayer
from wengert.compat.tensorflow.keras.symbols import Symbol


def summary_of(
    model: Any, line_length: int | None, positions: Any, nested: bool, trainable: bool
) -> str:
    """Return the table of the layers of a model, and the numbers of its parameters."""
    layers = getattr(model, "_graph", None) or model.layers
    symbols = {id(one): layer for layer in layers for one in _results(layer)}
    linked = hasattr(model, "_graph") and not _is_chain(layers)
    titles = ["Layer (type)", "Output Shape", "Param #", *["Connected to"] * linked]
    places, most = ([0.3, 0.56, 0.74, 1.0], 108) if linked else ([0.45, 0.80, 1.0], 88)
    places = positions or places
    if trainable:
        places, most = [*(0.9 * place for place in places), 1.0], most + 12
        titles.append("Trainable")
    width = line_length or min(most, shutil.get_terminal_size().columns - 4)
    ends = [0, *(int(place * width) for place in places)]
    widths = _fitted([right - left + 2 for left, right in pairwise(ends)], width)
    rows = []
    for level, layer in _listed(layers, nested):
        kind = type(layer).__name__
        kind = "Functional" if kind == "Model" else kind
        row = ["   " * level + "└ " * (level > 0) + f"{layer.name} ({kind})"]
        ready = layer.built or isinstance(layer, InputLayer)
        row += [_shape_of(layer), f"{layer.count_params():,}" if ready else "0 (unbuilt)"]
        if linked:
            names = [symbols[id(one)].name for one in _inputs(layer) if id(one) in symbols]
            row.append(", ".join(f"{name}[0][0]" for name in names) or "-")
        if trainable:
            row.append("-" if not layer.weights else "Y" if layer.trainable else "N")
        rows.append(row)
    lines = [f'Model: "{model.name}"', *_table(titles, rows, widths), *_totals(model)]
    return "\n".join([*lines, ""])


def _results(layer: Any) -> list[Any]:
    node = vars(layer).get("_node")
    return [one for one in nest.flatten(node[1]) if isinstance(one, Symbol)] if node else []


def _inputs(layer: Any) -> list[Any]:
    node = vars(layer).get("_node")
    if node is None or node[0] == (node[1],):  # an input
        return []
    return [one for one in nest.flatten(node[0]) if isinstance(one, Symbol)]


def _is_chain(layers: Sequence[Any]) -> bool:
    """Return whether each layer takes the result of the one before only."""
    before: list[Any] = []
    for layer in layers:
        given = _inputs(layer)
        if len(given) > 1 or [id(one) for one in given] != [id(one) for one in before]:
            return False
        before = _results(layer)
    return True


def _listed(layers: Sequence[Any], nested: bool, level=0) -> Iterator[tuple[int, Any]]:
    for layer in layers:
        yield level, layer
        if nested:
            yield from _listed(getattr(layer, "layers", ()), nested, level + 1)


def _shape_of(layer: Any) -> str:
    found, built = vars(layer).get("_node", (None, None))[1], vars(layer).get("_built_for")
    if found is None and not isinstance(built, tuple):
        return "?"
    if found is None:
        found = layer.compute_output_shape((None, *built[1:]))
    text = _written(found)
    parts = nest.flatten(text)
    return parts[0] if len(parts) == 1 else str(text).replace("'", "")


def _written(found: Any) -> Any:
    """Return the shapes of results, in the same containers, as texts."""
    if isinstance(found, dict):
        return {key: _written(part) for key, part in found.items()}
    shape = getattr(found, "shape", found)
    if all(size is None or isinstance(size, int) for size in shape):
        return f"({', '.join(map(str, shape))})"
    return type(found)(map(_written, found))


def _fitted(widths: list[int], line: int) -> list[int]:
    """Narrow columns so that the table fits, each by an equal part of what is left to take away."""
    excess = sum(widths) + len(widths) + 1 - line
    for place in range(len(widths)):
        part = round(excess / (len(widths) - place))
        widths[place] -= part
        excess -= part
    return widths


def _table(titles: list[str], rows: list[list[str]], widths: list[int]) -> Iterator[str]:
    def ruled(left: str, line: str, cross: str, right: str) -> str:
        return left + cross.join(line * width for width in widths) + right

    def shown(row: list[str], bar: str) -> Iterator[str]:
        sizes = [width - 2 for width in widths]
        wrapped = [textwrap.wrap(c, n) or [""] for c, n in zip(row, sizes, strict=True)]
        for parts in zip_longest(*wrapped, fillvalue=""):
            cells = [
                part.rjust(n) if title == "Param #" else part.ljust(n)
                for part, n, title in zip(parts, sizes, titles, strict=True)
            ]
            yield f"{bar} {f' {bar} '.join(cells)} {bar}"

    yield ruled("┏", "━", "┳", "┓")
    yield from shown(titles, "┃")
    yield ruled("┡", "━", "╇", "┩")
    for number, row in enumerate(rows):
        if number:
            yield ruled("├", "─", "┼", "┤")
        yield from shown(row, "│")
    yield ruled("└", "─", "┴", "┘")


def _totals(model: Any) -> Iterator[str]:
    groups = {"Trainable": model.trainable_weights, "Non-trainable": model.non_trainable_weights}
    optimizer: Any = getattr(model, "optimizer", None)
    if getattr(optimizer, "built", False):
        groups["Optimizer"] = optimizer.variables
    every = [one for group in groups.values() for one in group]
    for name, group in {"Total": every, **groups}.items():
        counts = [(one.shape.num_elements(), one.dtype.size) for one in group]
        size = float(sum(count * each for count, each in counts))
        units = iter(("B", "KB", "MB", "GB", "TB", "PB"))
        unit = next(units)
        while size >= 1024:
            size, unit = size / 1024, next(units)
        yield f" {name} params: {sum(count for count, _ in counts):,} ({size:.2f} {unit})"
