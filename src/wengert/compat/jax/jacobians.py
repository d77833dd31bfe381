"""Layer 9 · compat: `jacfwd`, `jacrev` and `hessian` under JAX's names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import wengert.func as func
from wengert.base.sections import fill_sections
from wengert.compat.jax.dtypes import float0
from wengert.compat.jax.reverse import check_inputs, check_outputs, numbers_of
from wengert.compat.jax.tracing import (
    Leaves,
    Results,
    check_callable,
    conjugated,
    labelled,
    two_parts,
)


def _check_forward(arrays: Sequence[Any], holomorphic: bool) -> None:
    for x in arrays:
        dtype = x.payload.dtype
        if holomorphic and dtype.kind != "c":
            raise TypeError(
                "jacfwd with holomorphic=True requires inputs with complex dtype, but got "
                f"{dtype.name}."
            )
        if not holomorphic and dtype.kind not in "fV":
            raise TypeError(
                "jacfwd requires real-valued inputs (input dtype that is a sub-dtype of "
                f"np.floating), but got {dtype.name}. For holomorphic differentiation, pass "
                "holomorphic=True. For differentiation of non-holomorphic functions involving "
                "complex inputs or integer inputs, use jax.jvp directly."
            )


def _jacobian(
    fun: Callable[..., Any],
    argnums,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    forward: bool,
) -> Callable[..., Any]:
    check_callable(fun)

    @functools.wraps(fun)
    def jacobian_of(*args, **kwargs) -> Any:
        numbers, several = numbers_of(args, argnums)
        leaves = Leaves([args[n] for n in numbers])
        if forward:
            _check_forward(leaves.arrays, holomorphic)
        else:
            check_inputs("jacrev", leaves.arrays, holomorphic, allow_int)
        results, beside = Results(), Results()

        def call(*tensors) -> Any:
            given = list(args)
            for number, value in zip(numbers, leaves.with_tensors(tensors), strict=True):
                given[number] = value
            output, aux = two_parts(fun(*given, **kwargs), has_aux)
            outputs, whole = results.take(output, "Output")
            if not forward:
                check_outputs("jacrev", [*outputs, *whole], holomorphic)
            elif holomorphic:
                check_outputs("jacfwd", [*outputs, *whole], True)
            return outputs, beside.take(aux)[1]

        tensors = leaves.tensors
        rows: list[Any] = []
        others: Any = []
        if tensors:
            way = func.jacfwd if forward else func.jacrev
            transformed = way(call, tuple(range(len(tensors))), has_aux=True)
            rows, others = transformed(*tensors)
        else:
            _, others = call()
            rows = [() for _ in results.places]
        by_place = dict(zip(results.places, rows, strict=True))
        made: list[Any] = []
        for place in range(len(results.classes)):
            parts = _blocks(leaves, results, place, by_place.get(place), forward)
            made.append(parts if several else parts[0])
        jacobian = results.structure.unflatten(made)
        return (jacobian, beside.give((), others)) if has_aux else jacobian

    return jacobian_of


def _blocks(leaves: Leaves, results: Results, place: int, row, forward: bool) -> Any:
    """The derivatives of one output, in the structure of the arguments: a tuple."""
    shape = tuple(results.leaves[place].payload.shape)
    blocks: list[Any] = [np.zeros((*shape, *tuple(x.payload.shape)), float0) for x in leaves.arrays]
    if row is not None:
        for at, block in zip(leaves.places, row, strict=True):
            cls = results.classes[place] if forward else leaves.arrays[at].__class__
            blocks[at] = labelled(block if forward else conjugated(block), cls)
    return leaves.structure.unflatten(blocks)


_TEXT = """The function that computes the Jacobian of `fun` by {ways}, in {mode} mode.

    Parameters
    ----------
    fun : callable
        Returns a pytree of arrays; with `has_aux` a pair of one and of anything else.
    argnums : int or sequence of int
        Which positional arguments to differentiate by; each may be a pytree.
    has_aux : bool
        Whether `fun` returns something beside its output.
    holomorphic : bool
        Whether `fun` is holomorphic, and its complex derivative wanted.{more}

    Returns
    -------
    callable
        Returns, in the structure of the output, for each of its arrays the Jacobians by the
        argument, in its structure; each has the shape of the output and then of the argument.

    Raises
    ------
    TypeError
        If inputs are not floating numbers.

    Examples
    --------
    >>> from wengert.compat import jax
    >>> jax.{name}(lambda x: x * x)(jax.numpy.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]], dtype=float32)
    """


def jacfwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """By columns."""  # the whole text is below
    return _jacobian(fun, argnums, has_aux, holomorphic, False, True)


def jacrev(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """By rows."""  # the whole text is below
    return _jacobian(fun, argnums, has_aux, holomorphic, allow_int, False)


_INTEGERS = """
    allow_int : bool
        Whether there may be integers among the inputs."""
jacfwd.__doc__ = _TEXT.format(name="jacfwd", ways="columns", mode="forward", more="")
jacrev.__doc__ = _TEXT.format(name="jacrev", ways="rows", mode="reverse", more=_INTEGERS)
jacobian = jacrev


def hessian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """The function that computes the Hessian of `fun`: forward over reverse mode.

    Parameters
    ----------
    fun, argnums, has_aux, holomorphic: As in `jacfwd`.

    Returns
    -------
    callable: Returns the second derivatives, in the structure of the output, then of the argument,
        then of the argument again.

    Examples
    --------
    >>> jax.hessian(lambda x: (x**3).sum())(jax.numpy.array([1.0, 2.0]))
    Array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    inner = jacrev(fun, argnums, has_aux, holomorphic)
    return jacfwd(inner, argnums, has_aux, holomorphic)


fill_sections(globals())
