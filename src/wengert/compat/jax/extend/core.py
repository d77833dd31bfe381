"""Layer 9 · compat: `jax.extend.core`: operations of one's own, by what computes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.sections import fill_sections
from wengert.compat.jax.core import Tracer
from wengert.compat.jax.listing import Listing
from wengert.compat.jax.trees import tree_leaves

__all__ = ["ClosedJaxpr", "Jaxpr", "Literal", "Primitive", "Var", "get_opaque_trace_state"]

ClosedJaxpr = Jaxpr = Listing


class Var:
    """The class of a jaxpr's variables, of which there are none."""


class Literal:
    """The class of a jaxpr's constants, of which there are none."""


class Primitive:
    """An operation by name: calls its function, and refuses what a transform follows.

    Parameters
    ----------
    name : str. The name.

    Examples
    --------
    >>> double = jax.extend.core.Primitive("double")
    >>> _ = double.def_impl(lambda x: 2 * x)
    >>> double.bind(3)
    6
    """

    multiple_results = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.impl: Callable[..., Any] | None = None

    def def_impl(self, impl: Callable[..., Any]) -> Callable[..., Any]:
        """Say what computes it."""
        self.impl = impl
        return impl

    def def_abstract_eval(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Take a rule that no trace asks for."""
        return rule

    def_effectful_abstract_eval = def_abstract_eval

    def bind(self, *args: Any, **params: Any) -> Any:
        """Compute it.

        Raises
        ------
        NotImplementedError: If it has no function, or if a transform follows an argument.
        """
        if self.impl is None or any(isinstance(leaf, Tracer) for leaf in tree_leaves(args)):
            raise NotImplementedError(
                f"the primitive {self.name!r} computes known values only: rules of primitives are "
                "not asked for, write jax.custom_jvp, jax.custom_vjp or custom_vmap"
            )
        return self.impl(*args, **params)

    def __repr__(self) -> str:
        return self.name


def get_opaque_trace_state(convention: Any = None) -> Any:
    """What tells transforms that are under way apart: nothing that is compared by value."""
    return _STATE


_STATE = object()

fill_sections(globals())
