"""Layer 9 · viz: reading a recorded node without running it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from wengert.autograd.function import FunctionNode
from wengert.tape.base import FREED, TensorBase, version_of, version_then
from wengert.tape.inplace import CopySlices
from wengert.tape.node import edge_of
from wengert.tape.saving import Packed

_SAVED = "_saved_"


def operation_of(node: Any) -> str:
    """Return the name of the operation that recorded `node`, which is that of its function."""
    if isinstance(node, FunctionNode):
        return node.function.__name__
    if isinstance(node, CopySlices):
        inner = "" if node.inner is None else f": {operation_of(node.inner)}"
        return f"write through a view{inner}"
    return _named(node.label)


@cache
def _named(label: str) -> str:
    label = re.sub(r"(Backwards?\d*)?$", "", label)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", label).lower()


def attributes(node: Any) -> dict[str, Any]:
    """Return the saved values of `node`, by PyTorch's names after ``_saved_``.

    Empty if the graph has been freed, and for custom Functions, which have `saved_tensors`.
    """
    prim = getattr(type(node), "prim", None)
    if prim is None or _freed(node):
        return {}
    names = sorted(n.removeprefix(_SAVED) for n in dir(node) if n.startswith(_SAVED))
    return {name: getattr(node, f"{_SAVED}{name}") for name in names}


def _freed(node: Any) -> bool:
    prim = node.prim
    held = [getattr(node, f"s_{name}") for name in prim.saved_args]
    if "result" in prim.saved:
        held.append(node.result)
    return any(saved is FREED for saved in held)


def saved_tensors_of(node: Any) -> tuple[Any, ...] | None:
    """Return the `saved_tensors` of a custom Function's node; None for any other, or if freed."""
    if not isinstance(node, FunctionNode) or node._saved is None:
        return None
    return node.saved_tensors


def has_hooks(node: Any) -> bool:
    """Return whether a backward pass through `node` runs hooks."""
    ext = node._ext
    return ext is not None and bool(ext.tensor_hooks or ext.prehooks or ext.posthooks)


def held_values(node: Any) -> Iterator[tuple[str, Any, Any, int | None]]:
    """Yield the arrays that `node` saves for the backward pass and that are unmodified.

    Yields
    ------
    name, payload, edge, index
        `edge` leads to the node that made the array, or is None for a constant; for an output of
        the node itself, `index` is its number.
    """
    if isinstance(node, CopySlices):
        if node.inner is not None:
            yield from held_values(node.inner)
        return
    if isinstance(node, FunctionNode):
        yield from _held_by_function(node)
        return
    prim = getattr(type(node), "prim", None)
    if prim is None:
        return
    for place, name in enumerate(prim.saved_args):
        saved = getattr(node, f"s_{name}")
        if isinstance(saved, tuple):
            for i, (one, edge) in enumerate(zip(saved, node.edges, strict=False)):
                if _usable(one):
                    yield f"{name}[{i}]", one._payload, edge, None
        elif _usable(saved) and version_of(saved) == version_then(node, place):
            yield name, saved._payload, node.edges[prim.args.index(name)], None
    if "result" in prim.saved:
        result = node.result
        if isinstance(result, np.ndarray | np.generic) and node.result_vc[0] == node.result_at:
            yield "result", result, None, 0


def _held_by_function(node: Any) -> Iterator[tuple[str, Any, Any, int | None]]:
    for i, entry in enumerate(node._saved or ()):
        if entry is None or len(entry) == 3:
            continue  # packed by hooks, which may have side effects
        source, index, payload, cell, version = entry
        have = version_of(source) if source is not None else cell[0]
        if have == version and isinstance(payload, np.ndarray | np.generic):
            own = index if source is None else None
            edge = None if source is None or source._edge is None else edge_of(source)
            yield f"saved_tensors[{i}]", payload, edge, own


def _usable(saved: Any) -> bool:
    return isinstance(saved, TensorBase) and isinstance(saved._payload, np.ndarray | np.generic)


def is_packed(node: Any) -> bool:
    """Return whether hooks have packed the saved tensors of `node`."""
    prim = getattr(type(node), "prim", None)
    if isinstance(node, FunctionNode):
        return any(entry is not None and len(entry) == 3 for entry in node._saved or ())
    held = () if prim is None else [getattr(node, f"s_{name}") for name in prim.saved_args]
    kept = getattr(node, "result", None) if prim is not None and "result" in prim.saved else None
    return any(isinstance(saved, Packed) for saved in (*held, kept))


def shapes_of_arguments(node: Any) -> list[Any]:
    """Return the shape of the argument of each edge of `node`; None where it is unknown."""
    unknown: list[Any] = [None] * len(node.edges)
    if isinstance(node, FunctionNode):
        return [meta[0] for meta in node._inputs_meta]
    prim = getattr(type(node), "prim", None)
    if prim is None:
        return unknown
    if prim.broadcasts and node.shapes is not None:
        return list(node.shapes)
    for i, name in enumerate(prim.args):
        known = f"{name}_shape"
        if known in prim.saved:
            shape = getattr(node, known)
            if prim.variadic:
                return list(shape)
            unknown[i] = tuple(shape)
    return unknown
