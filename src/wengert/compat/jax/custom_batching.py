"""Layer 9 · compat: `jax.custom_batching`: functions with custom batching rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.compat.jax.array import asarray, made
from wengert.compat.jax.custom import Rule
from wengert.compat.jax.lax_control import NAMES as LAX
from wengert.compat.jax.tracing import argument, name_of
from wengert.compat.jax.trees import tree_flatten, tree_map
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import defined
from wengert.interp.dual import Dual
from wengert.interp.levels import Level, batch_of, levels_of
from wengert.tape.levels import move
from wengert.tape.modes import outside_of


class custom_vmap(Rule):
    """Decorate a function to give it a batching rule for `vmap`.

    Parameters
    ----------
    fun : callable. Takes and returns pytrees of arrays.

    Examples
    --------
    >>> @jax.custom_batching.custom_vmap
    ... def f(x, y):
    ...     return x + y
    >>> @f.def_vmap
    ... def rule(axis_size, in_batched, x, y):
    ...     return x * y, True
    >>> x = jax.numpy.arange(3.0)
    >>> f(2.0, 3.0), jax.vmap(f)(x, x)
    (5.0, Array([0., 1., 4.], dtype=float32))
    """

    _kind = "custom_vmap"
    vmap_rule: Callable[..., Any] | None = None

    def def_vmap(self, vmap_rule: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule.

        Parameters
        ----------
        vmap_rule : callable. Takes the size of the axis, flags for the arguments that have it in
            front, and the arguments. Returns the output, and flags for the parts of it that have
            the axis.
        """
        self.vmap_rule = vmap_rule
        return vmap_rule

    def __call__(self, *args, **kwargs) -> Any:
        """Compute the function."""
        args = self._positional(args, kwargs)
        if self.vmap_rule is None:
            raise refusal(AttributeError, "No batching rule defined", name_of(self.fun))
        leaves, structure = tree_flatten(args)
        arrays = [argument(leaf) for leaf in leaves]
        level = batch_of(*[x._payload for x in arrays])
        if level is None:
            return self.fun(*args)
        batched = [_is_batched(x._payload, level) for x in arrays]
        marks = list(structure.unflatten(batched))
        if not any(batched):  # only tangents differ within the batch, or only primals
            return _pair(self.vmap_rule(level.size, marks, *args))[0]
        whole = [
            made(move("unwrap", x, level, True), x.weak_type) if inside else x
            for x, inside in zip(arrays, batched, strict=True)
        ]
        with outside_of(level):
            found = self.vmap_rule(level.size, marks, *structure.unflatten(whole))
        output, out_batched = _pair(found)
        results, shape = tree_flatten(output)
        if isinstance(out_batched, bool):
            ends = [out_batched] * len(results)
        else:
            try:
                ends = shape.flatten_up_to(out_batched)
            except ValueError as error:
                raise ValueError(
                    "structure of output value and output batching specification returned by "
                    f"custom vmap rule ({name_of(self.vmap_rule)}) do not match: {error}"
                ) from None
        return shape.unflatten(
            [
                made(move("wrap", asarray(x), level, True), asarray(x).weak_type) if inside else x
                for x, inside in zip(results, ends, strict=True)
            ]
        )


def _is_batched(payload, level: Level) -> bool:
    """Return whether a value differs within a batch, and its tangents as well, if it has some."""
    if isinstance(payload, Dual):
        return _is_batched(payload.primal, level) and _is_batched(payload.tangent, level)
    return level.number in levels_of(payload)


def _pair(found) -> Any:
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise TypeError(f"a rule of custom_vmap must return (output, out_batched), got {found!r}")
    return found


def sequential_vmap(f: Callable[..., Any]) -> custom_vmap:
    """Make `vmap` call the function for each element in turn."""
    mapped = custom_vmap(f)

    @mapped.def_vmap
    def rule(axis_size: int, in_batched: list[Any], *args) -> Any:
        leaves, structure = tree_flatten(args)
        batched = structure.flatten_up_to(tuple(in_batched))
        moving = [x for x, inside in zip(leaves, batched, strict=True) if inside]

        def one(parts: list[Any]) -> Any:
            new = iter(parts)
            given = [next(new) if inside else x for x, inside in zip(leaves, batched, strict=True)]
            return f(*structure.unflatten(given))

        output = LAX["map"](one, moving)
        return output, tree_map(lambda _: True, output)

    return mapped


__all__ = defined(globals())
