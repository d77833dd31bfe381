"""Layer 9 · compat: forward mode under JAX's names: `jvp` and `linearize`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert.func as func
from wengert.base.sections import fill_sections
from wengert.compat.jax.dtypes import float0
from wengert.compat.jax.tracing import (
    Leaves,
    Results,
    argument,
    check_callable,
    is_inexact,
    two_parts,
)
from wengert.compat.jax.trees import tree_flatten


def _tangents(leaves: Leaves, tangents, name: str) -> list[Any]:
    """The tangents of those primals that have derivatives, checked."""
    given, structure = tree_flatten(tuple(tangents))
    if structure != leaves.structure:
        raise TypeError(
            f"primal and tangent arguments to {name} must have the same tree structure; primals "
            f"have tree structure {leaves.structure} whereas tangents have tree structure "
            f"{structure}."
        )
    found = []
    for primal, tangent in zip(leaves.arrays, given, strict=True):
        wanted = primal.payload.dtype if is_inexact(primal) else float0
        if getattr(tangent, "dtype", None) == float0:
            got, shape = float0, tuple(tangent.shape)
        else:
            tangent = argument(tangent)
            got, shape = tangent.payload.dtype, tuple(tangent.payload.shape)
        if got != wanted:
            raise TypeError(
                f"primal and tangent arguments to {name} do not match; dtypes must be equal, or in "
                "case of int/bool primal dtype the tangent dtype must be float0. Got primal dtype "
                f"{primal.payload.dtype.name} and so expected tangent dtype "
                f"{_shown(wanted)}, but got tangent dtype {_shown(got)} instead."
            )
        if shape != tuple(primal.payload.shape):
            raise ValueError(
                f"jvp called with different primal and tangent shapes; Got primal shape "
                f"{tuple(primal.payload.shape)} and tangent shape as {shape}"
            )
        if is_inexact(primal):
            found.append(tangent)
    return found


def _shown(dtype) -> str:
    return "float0" if dtype == float0 else str(np.dtype(dtype).name)


def _slopes(results: Results, slopes) -> Any:
    shapes = [tuple(getattr(leaf, "shape", ())) for leaf in results.leaves]
    return results.derivatives(slopes, lambda place: np.zeros(shapes[place], float0))


def jvp(fun: Callable[..., Any], primals, tangents, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of `fun` and its derivative in a direction, in one pass.

    Parameters
    ----------
    fun : callable. Takes `primals`, and returns a pytree of arrays.
    primals : tuple or list. The arguments: pytrees.
    tangents : tuple or list. The direction: of the structure, shapes and dtypes of `primals`.
    has_aux : bool. Whether `fun` returns a pair of its output and of anything else.

    Returns
    -------
    primals_out, tangents_out: What `fun` returned, and its derivative, of the same structure.
    aux: With `has_aux`.

    Raises
    ------
    TypeError, ValueError: If the tangents do not match the primals.

    Examples
    --------
    >>> jax.jvp(lambda x: x**2, (3.0,), (1.0,))
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    check_callable(fun)
    if not isinstance(primals, list | tuple) or not isinstance(tangents, list | tuple):
        raise TypeError(
            "primal and tangent arguments to jax.jvp must be tuples or lists; found "
            f"{type(primals).__name__} and {type(tangents).__name__}."
        )
    if type(primals) is not type(tangents):
        raise TypeError(
            "primal and tangent arguments to jax.jvp must have the same tree structure; primals "
            f"are a {type(primals).__name__}, and tangents a {type(tangents).__name__}."
        )
    leaves = Leaves(primals)
    directions = _tangents(leaves, tangents, "jax.jvp")
    results, beside = Results(), Results()

    def call(*tensors) -> Any:
        output, aux = two_parts(fun(*leaves.with_tensors(tensors)), has_aux)
        outputs, whole = results.take(output, "Output")
        _, others = beside.take(aux)
        return outputs, (whole, others)

    tensors = leaves.tensors
    if tensors:
        outputs, slopes, (whole, others) = func.jvp(
            call, tuple(tensors), tuple(directions), has_aux=True
        )
    else:
        outputs, (whole, others) = call()
        slopes = [x * 0 for x in outputs]
    value = results.give(outputs, whole)
    found = _slopes(results, slopes)
    return (value, found, beside.give((), others)) if has_aux else (value, found)


def linearize(fun: Callable[..., Any], *primals, has_aux: bool = False) -> Any:
    """The value of `fun`, and its derivative as a function of the direction.

    `fun` is called once, and none of its decisions is made again.

    Parameters
    ----------
    %(primals)s
    jvp_fun : callable. Takes tangents of the primals, and returns that of the output.
    aux: With `has_aux`.

    Examples
    --------
    >>> output, slope = jax.linearize(lambda x: x**2, 3.0)
    >>> slope(1.0), slope(2.0)
    (Array(6., dtype=float32, weak_type=True), Array(12., dtype=float32, weak_type=True))
    """
    check_callable(fun)
    leaves = Leaves(primals)
    results, beside = Results(), Results()
    kept: list[Any] = []

    def call(*tensors) -> Any:
        output, aux = two_parts(fun(*leaves.with_tensors(tensors)), has_aux)
        outputs, whole = results.take(output, "Output")
        _, others = beside.take(aux)
        kept[:] = whole, others
        return outputs

    tensors = leaves.tensors
    if tensors:
        outputs, slope = func.linearize(call, *tensors)
    else:
        outputs, slope = call(), None
    whole, others = kept
    value = results.give(outputs, whole)
    zeros = [0 * x for x in outputs] if slope is None else []

    def jvp_fun(*tangents) -> Any:
        """The tangent of the output in a direction."""
        directions = _tangents(leaves, tangents, "the linearized function")
        return _slopes(results, zeros if slope is None else slope(*directions))

    return (value, jvp_fun, beside.give((), others)) if has_aux else (value, jvp_fun)


fill_sections(globals())
