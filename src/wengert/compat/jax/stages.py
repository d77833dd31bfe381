"""Layer 9 · compat: the stages of `jit`: traced, lowered and compiled functions.

Programs are compiled by calls, so these stages compile nothing in advance: they show the listing of
`make_jaxpr`, and compile to the jitted function, restricted to arguments of these shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.compat.jax.listing import make_jaxpr
from wengert.compat.jax.staging import eval_shape, example
from wengert.compat.jax.tracing import argument, short
from wengert.compat.jax.trees import tree_flatten, tree_map
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import defined


class Traced:
    """The result of ``jit(f).trace(*args)``: a function and the shapes of its arguments.

    Parameters
    ----------
    function: Takes the dynamic arguments, as a list and a dictionary.
    call: The jitted function.
    name: The name of the function.
    args, kwargs: The dynamic arguments: pytrees of arrays, or of `ShapeDtypeStruct`.

    Attributes
    ----------
    jaxpr: The operations.
    out_info: The shapes and dtypes of the results.
    fun_name: The name of the function.
    """

    def __init__(
        self,
        function: Callable[[list[Any], dict[str, Any]], Any],
        call: Callable[..., Any],
        name: str,
        args: list[Any],
        kwargs: dict[str, Any],
    ) -> None:
        self.fun_name = name
        self._call = call
        self._given = tree_map(example, (args, kwargs))
        self.jaxpr = make_jaxpr(function)(*self._given)
        self.out_info = eval_shape(function, *self._given)

    def lower(self) -> Lowered:
        """Return the lowered function."""
        return Lowered(self)


class Lowered:
    """The result of ``jit(f).lower(*args)``.

    Attributes
    ----------
    out_info: The shapes and dtypes of the results.
    """

    def __init__(self, traced: Traced) -> None:
        self._traced = traced
        self.out_info = traced.out_info

    def as_text(self, dialect: str | None = None) -> str:
        """Return the operations as text, in the only dialect."""
        return repr(self._traced.jaxpr)

    def compile(self, compiler_options=None) -> Compiled:
        """Return the function for arguments of these shapes."""
        return Compiled(self._traced)


class Compiled(Lowered):
    """The result of ``jit(f).lower(*args).compile()``: a function of arguments of the same types.

    Static arguments are left out.

    Attributes
    ----------
    out_info: The shapes and dtypes of the results.
    """

    def __call__(self, *args, **kwargs) -> Any:
        """Call the function, and return its result.

        Raises
        ------
        TypeError: If the arguments have another structure, other shapes or other dtypes.
        """
        leaves, structure = tree_flatten((list(args), kwargs))
        known, wanted = tree_flatten(self._traced._given)
        if structure != wanted:
            raise refusal(TypeError, "Function compiled with", self, wanted, structure)
        arrays = [argument(leaf) for leaf in leaves]
        for k, (array, like) in enumerate(zip(arrays, known, strict=True)):
            if short(array) != short(like):
                raise refusal(TypeError, "Argument types differ from", k, short(like), short(array))
        return self._traced._call(*structure.unflatten(arrays))


__all__ = defined(globals())
