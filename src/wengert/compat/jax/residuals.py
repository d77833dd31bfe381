"""Layer 9 · compat: what a backward pass keeps: `print_saved_residuals`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.autograd.graph import saved_tensors_hooks
from wengert.base.sections import fill_sections
from wengert.compat.jax.policies import operation_of
from wengert.compat.jax.reverse import vjp
from wengert.compat.jax.tracing import short
from wengert.compat.jax.trees import tree_leaves


def print_saved_residuals(f: Callable[..., Any], *args, **kwargs) -> None:
    """Print what the backward pass of a function keeps, and which operations made it.

    Parameters
    ----------
    f : callable. Takes and returns pytrees of arrays.
    *args, **kwargs: What it is called with.

    Examples
    --------
    >>> jax.ad_checkpoint.print_saved_residuals(lambda x: jax.numpy.exp(x).sum(), 1.0)
    float32[] output of exp
    """
    kept: list[Any] = []
    known: list[Any] = []

    def called(*given) -> Any:
        known.extend(leaf.payload for leaf in tree_leaves(given))

        def pack(tensor) -> Any:
            kept.append(tensor)
            return tensor

        with saved_tensors_hooks(pack, lambda tensor: tensor):
            return f(*given, **kwargs)

    vjp(called, *args)
    seen: list[Any] = []
    for tensor in kept:
        if any(tensor.payload is payload for payload in seen):
            continue
        seen.append(tensor.payload)
        prim = operation_of(tensor)
        if any(tensor.payload is payload for payload in known):
            origin = "from an argument"
        else:
            origin = "from a constant" if prim is None else f"output of {prim.name}"
        print(short(tensor), origin)


fill_sections(globals())
