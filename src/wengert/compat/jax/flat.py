"""Layer 9 · compat: functions of flat lists, and partial evaluation of them.

NOTE [known and unknown]
JAX's partial evaluation traces the part of a function that depends on unknown values. Here the
function is called within a `vmap` over one element, the unknown arguments: a result that is part of
the batch depends on them, and every other result is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from wengert.compat.jax.array import asarray
from wengert.compat.jax.batching import vmap
from wengert.compat.jax.staging import example
from wengert.compat.jax.tracing import argument
from wengert.compat.jax.trees import PyTreeDef, tree_flatten
from wengert.compat.jax.values import differs
from wengert.tape.base import TensorBase


class WrappedFun:
    """A function as `wrap_init` returns it."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = self.call_wrapped = f


def wrap_init(f: Callable[..., Any], params=None, *, debug_info=None) -> WrappedFun:
    """Wrap a function for consumers of flat functions."""
    return WrappedFun(lambda *args: f(*args, **(params or {})))


def _flattened(call: Callable[[Any], Any]) -> tuple[WrappedFun, Any]:
    found: list[PyTreeDef] = []

    def flat(*leaves) -> list[Any]:
        values, structure = tree_flatten(call(leaves))
        found[:] = [structure]
        return values

    return WrappedFun(flat), lambda: found[0]


def flatten_fun(f: WrappedFun, in_tree: PyTreeDef) -> tuple[WrappedFun, Any]:
    """Return a flat function of leaves, and a thunk for the structure of its result."""

    def call(leaves) -> Any:
        args, kwargs = in_tree.unflatten(leaves)
        return f.f(*args, **kwargs) if kwargs else f.f(*args)

    return _flattened(call)


def flatten_fun_nokwargs(f: WrappedFun, in_tree: PyTreeDef) -> tuple[WrappedFun, Any]:
    """Like `flatten_fun`, but for positional arguments only."""
    return _flattened(lambda leaves: f.f(*in_tree.unflatten(leaves)))


class PartialVal(NamedTuple):
    """A known value, or the shape and dtype of an unknown one."""

    pval: Any
    const: Any

    @classmethod
    def unknown(cls, aval) -> PartialVal:
        """Build an unknown value."""
        return cls(aval, None)

    @classmethod
    def known(cls, const) -> PartialVal:
        """Build a known value."""
        return cls(None, const)


def trace_to_jaxpr_nounits(
    fun: WrappedFun, pvals: Sequence[PartialVal], instantiate=False
) -> tuple[None, list[PartialVal], list[Any]]:
    """Determine which results of a function are known when some arguments are not."""
    results: list[PartialVal] = []
    unknown = [pval for pval, _ in pvals if pval is not None]

    def call(_, *values) -> Any:
        given = iter(values)
        args = [const if pval is None else next(given) for pval, const in pvals]
        for out in fun.call_wrapped(*args):
            if isinstance(out, TensorBase) and differs(out._payload):
                results.append(PartialVal.unknown(argument(out).aval))
            else:
                results.append(PartialVal.known(out))
        return ()

    batch = [example(aval)[None] for aval in unknown]
    vmap(call)(asarray([0]), *batch)
    return None, results, []
