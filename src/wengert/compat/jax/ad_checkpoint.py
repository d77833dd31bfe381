"""Layer 9 · compat: `jax.ad_checkpoint`: rematerialized functions, and the values that they keep.

A policy is called for each value that the backward pass needs, with the operation that made it. All
products are named ``dot_general``, as in JAX; other operations have wengert's names.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from wengert.autograd.graph import saved_tensors_hooks
from wengert.compat.jax.array import asarray
from wengert.compat.jax.effects import Once
from wengert.compat.jax.reverse import vjp
from wengert.compat.jax.tracing import argument, check_callable, short, wraps
from wengert.compat.jax.trees import tree_leaves, tree_map
from wengert.compat.kit.namespaces import defined
from wengert.tape.base import TensorBase
from wengert.tape.modes import is_grad_enabled
from wengert.tape.record import T
from wengert.utils.recompute import Region

NAMED: ContextVar[list[tuple[Any, str]] | None] = ContextVar("named", default=None)
"""The values named inside the active checkpoint."""

_BATCHED = frozenset({"bmm", "baddbmm", "einsum", "convolution"})
_PRODUCTS = _BATCHED | {"mm", "mv", "dot", "addmm", "matmul", "vdot", "inner", "tensordot"}


class Operation(NamedTuple):
    """The operation that a policy decides about."""

    name: str
    batched: bool = False

    def __str__(self) -> str:
        return self.name


def checkpoint_name(x, name: str) -> Any:
    """Return the same value under a name that policies see."""
    return tree_map(lambda leaf: _named(argument(leaf), name), x)


def _named(x, name: str) -> Any:
    named = NAMED.get()
    if named is None:
        return x
    result = T.alias(x)
    result.__class__ = x.__class__
    named.append((result._payload, name))
    return result


def operation_of(tensor) -> Any:
    """Return the operation whose result a tensor is, or None if it was not recorded."""
    edge = tensor._edge
    found = getattr(edge, "prim", None)
    return getattr(getattr(edge, "node", None), "prim", None) if found is None else found


def keeper(policy: Callable[..., Any], arguments: list[Any]) -> Callable[[Any], bool]:
    """Return a function that decides whether to keep a saved tensor; arguments are always kept."""
    given = [x._payload for x in arguments if isinstance(x, TensorBase)]

    def keeps(tensor) -> bool:
        for payload, name in NAMED.get() or ():
            if payload is tensor._payload:
                return bool(policy(Operation("name"), name=name))
        if any(payload is tensor._payload for payload in given):
            return True
        made_by = operation_of(tensor)
        if made_by is None:
            return bool(policy(Operation("constant")))
        product = made_by.name in _PRODUCTS
        shown = "dot_general" if product else made_by.name
        return bool(policy(Operation(shown, made_by.name in _BATCHED)))

    return keeps


def _dots(prim, *_, **params) -> bool:
    return str(prim) == "dot_general"


def _plain_dots(prim, *_, **params) -> bool:
    return _dots(prim) and not prim.batched


def _by_name(*saved: bool | None) -> Callable[..., Any]:
    """Build a policy by whether a value has one of some names: None is for values without one."""

    def of_names(*names: str) -> Callable[..., Any]:
        def policy(prim, *_, **params) -> bool:
            return (params["name"] in names if str(prim) == "name" else None) in saved

        return policy

    return of_names


checkpoint_policies = types.SimpleNamespace(
    everything_saveable=lambda prim, *_, **params: True,
    nothing_saveable=lambda prim, *_, **params: False,
    dots_saveable=_dots,
    checkpoint_dots=_dots,
    dots_with_no_batch_dims_saveable=_plain_dots,
    checkpoint_dots_with_no_batch_dims=_plain_dots,
    save_only_these_names=_by_name(True),
    save_any_names_but_these=_by_name(False),
    save_anything_except_these_names=_by_name(False, None),
    save_from_both_policies=lambda first, second: (
        lambda *args, **params: bool(first(*args, **params) or second(*args, **params))
    ),
)


# -- `print_saved_residuals` -----------------------------------------------------------------------


def print_saved_residuals(f: Callable[..., Any], *args, **kwargs) -> None:
    """Print the tensors that a function's backward pass keeps, and the operations that made them.

    Parameters
    ----------
    f : callable. Takes and returns pytrees of arrays.
    *args, **kwargs: The arguments to call it with.

    Examples
    --------
    >>> jax.ad_checkpoint.print_saved_residuals(lambda x: jax.numpy.exp(x).sum(), 1.0)
    float32[] output of exp
    """
    kept: list[Any] = []
    known: list[Any] = []

    def called(*given) -> Any:
        known.extend(leaf._payload for leaf in tree_leaves(given))

        def pack(tensor) -> Any:
            kept.append(tensor)
            return tensor

        with saved_tensors_hooks(pack, lambda tensor: tensor):
            return f(*given, **kwargs)

    vjp(called, *args)
    seen: list[Any] = []
    for tensor in kept:
        if any(tensor._payload is payload for payload in seen):
            continue
        seen.append(tensor._payload)
        prim = operation_of(tensor)
        if any(tensor._payload is payload for payload in known):
            origin = "from an argument"
        else:
            origin = "from a constant" if prim is None else f"output of {prim.name}"
        print(short(tensor), origin)


def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse=True,
    policy=None,
    static_argnums: int | Sequence[int] = (),
    concrete=False,
) -> Any:
    """Make the backward pass recompute a function's intermediate values instead of keeping them.

    Parameters
    ----------
    fun : callable, optional. Takes and returns pytrees of arrays. If omitted, return a decorator.
    policy : callable, optional. Chooses the values to keep: one of `jax.checkpoint_policies`.
    static_argnums : int or sequence of int. Arguments that are passed on unchanged.

    Examples
    --------
    >>> jax.grad(jax.checkpoint(lambda x: x**2))(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    if fun is None:
        return functools.partial(checkpoint, policy=policy, static_argnums=static_argnums)
    check_callable(fun)
    statics = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    @wraps(fun)
    def checkpointed(*args, **kwargs) -> Any:
        given, named = tree_map(_array_or_same, (list(args), kwargs))
        for place in statics:
            given[place] = args[place]
        if not is_grad_enabled():
            return fun(*given, **named)
        once = Once(fun)

        @wraps(fun)
        def computed(*args, **kwargs) -> Any:
            token = NAMED.set([])
            try:
                return once(*args, **kwargs)
            finally:
                NAMED.reset(token)

        keeps = None if policy is None else keeper(policy, tree_leaves((given, named)))
        region = Region(computed, tuple(given), named, keeps=keeps, preserve_rng_state=False)
        with saved_tensors_hooks(region.pack, region.unpack):
            result = computed(*given, **named)
            region.complete = True
        return result

    return checkpointed


remat = checkpoint


def _array_or_same(value) -> Any:
    numbers = np.ndarray | np.generic | bool | int | float | complex
    return asarray(value) if isinstance(value, numbers) else value


__all__ = defined(globals(), "checkpoint_policies remat", "Operation keeper operation_of")
