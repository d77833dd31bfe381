"""Layer 9 · compat: reverse mode under JAX's names: `grad`, `value_and_grad`, `vjp`."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import wengert.func as func
from wengert.base.sections import fill_sections
from wengert.compat.jax.array import Array, asarray
from wengert.compat.jax.dtypes import canonical_dtype, float0
from wengert.compat.jax.tracing import (
    Leaves,
    Results,
    argument,
    check_callable,
    conjugated,
    labelled,
    name_of,
    short,
    two_parts,
)
from wengert.compat.jax.trees import tree_flatten
from wengert.ops.like import ones_like


def numbers_of(args: Sequence[Any], argnums) -> tuple[tuple[int, ...], bool]:
    """The positions that `argnums` names, and whether as a tuple.

    Raises
    ------
    TypeError: If it is neither an int nor a sequence of such, or names an argument that was not
        passed.
    """
    several = not hasattr(argnums, "__index__")
    try:
        numbers = [operator.index(n) for n in (argnums if several else (argnums,))]
    except TypeError:
        raise TypeError(
            f"argnums must be an integer or a sequence of integers, but got {argnums!r}"
        ) from None
    most = max([n + 1 if n >= 0 else -n for n in numbers], default=0)
    if most > len(args):
        raise TypeError(
            f"differentiating with respect to {argnums=} requires at least {most} positional "
            f"arguments to be passed by the caller, but got only {len(args)} positional arguments."
        )
    return tuple(n % len(args) for n in numbers), several


def check_inputs(name: str, arrays: Sequence[Any], holomorphic: bool, allow_int: bool) -> None:
    """Refuse inputs that reverse mode cannot differentiate by.

    Raises
    ------
    TypeError: For integers, unless they are allowed, and for real numbers if `holomorphic`.
    """
    for x in arrays:
        dtype = x.payload.dtype
        if holomorphic and dtype.kind != "c":
            raise TypeError(
                f"{name} with holomorphic=True requires inputs with complex dtype, but got "
                f"{dtype.name}."
            )
        if dtype.kind in "biu" and not allow_int:
            raise TypeError(
                f"{name} requires real- or complex-valued inputs (input dtype that is a sub-dtype "
                f"of np.inexact), but got {dtype.name}. If you want to use Boolean- or "
                "integer-valued inputs, use vjp or set allow_int to True. If fractions are meant, "
                "write 3.0, not 3."
            )


def check_outputs(name: str, arrays: Sequence[Any], holomorphic: bool) -> None:
    """Refuse outputs that reverse mode has no gradient of.

    Raises
    ------
    TypeError: For integers, and for complex numbers unless `holomorphic`.
    """
    for x in arrays:
        dtype = x.payload.dtype
        if holomorphic:
            if dtype.kind != "c":
                raise TypeError(
                    f"{name} with holomorphic=True requires outputs with complex dtype, but got "
                    f"{dtype.name}."
                )
        elif dtype.kind == "c":
            raise TypeError(
                f"{name} requires real-valued outputs (output dtype that is a sub-dtype of "
                f"np.floating), but got {dtype.name}. For holomorphic differentiation, pass "
                "holomorphic=True. For differentiation of non-holomorphic functions involving "
                "complex outputs, use jax.vjp directly."
            )
        elif dtype.kind in "biu":
            raise TypeError(
                f"{name} requires real-valued outputs (output dtype that is a sub-dtype of "
                f"np.floating), but got {dtype.name}. For differentiation of functions with "
                "integer outputs, use jax.vjp directly."
            )


def _scalar(output, holomorphic: bool) -> Any:
    """The output of a function whose gradient is wanted, as an array without dimensions."""
    if isinstance(output, list | tuple | dict) or output is None:
        raise TypeError(
            f"Gradient only defined for scalar-output functions. Output was {output!r}."
        )
    array = argument(output)
    if array.payload.ndim:
        raise TypeError(
            "Gradient only defined for scalar-output functions. Output had shape: "
            f"{tuple(array.payload.shape)}."
        )
    check_outputs("grad", [array], holomorphic)
    return array


def _differentiated(
    fun: Callable[..., Any],
    argnums,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, Any, Any]:
    """The value of a function, what it has to say beside, and its gradients."""
    numbers, several = numbers_of(args, argnums)
    leaves = Leaves([args[n] for n in numbers])
    check_inputs("grad", leaves.arrays, holomorphic, allow_int)
    classes: list[type] = []
    beside = Results()

    def call(*tensors) -> Any:
        given = list(args)
        for number, value in zip(numbers, leaves.with_tensors(tensors), strict=True):
            given[number] = value
        output, aux = two_parts(fun(*given, **kwargs), has_aux)
        array = _scalar(output, holomorphic)
        classes.append(array.__class__)
        _, others = beside.take(aux)
        return array, others

    found: Sequence[Any] = ()
    tensors = leaves.tensors
    if tensors and holomorphic:
        value, pull, others = func.vjp(call, *tensors, has_aux=True)
        found = pull(ones_like(value))
    elif tensors:
        transformed = func.grad_and_value(call, tuple(range(len(tensors))), has_aux=True)
        found, (value, others) = transformed(*tensors)
    else:
        value, others = call()
    grads = leaves.derivatives([conjugated(grad) for grad in found])
    aux = beside.give((), others)
    return labelled(value, classes[0]), aux, grads if several else grads[0]


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> Callable[..., Any]:
    """The function that computes the value of `fun` and its gradient.

    Parameters
    ----------
    fun, argnums, has_aux, holomorphic, allow_int: As in `grad`.

    Returns
    -------
    callable: Returns ``(value, gradient)``, with `has_aux` ``((value, aux), gradient)``.

    Examples
    --------
    >>> jax.value_and_grad(lambda x: x**2)(3.0)
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    check_callable(fun)

    @functools.wraps(fun)
    def value_and_gradient(*args, **kwargs) -> Any:
        value, aux, grads = _differentiated(
            fun, argnums, has_aux, holomorphic, allow_int, args, kwargs
        )
        return ((value, aux), grads) if has_aux else (value, grads)

    return value_and_gradient


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> Callable[..., Any]:
    """The function that computes the gradient of `fun`.

    Parameters
    ----------
    fun : callable. Returns a real number; with `has_aux` a pair of one and of anything else.
    argnums : int or sequence of int. Which positional arguments to differentiate by; each may be a
        pytree.
    has_aux : bool. Whether `fun` returns something beside its value.
    holomorphic : bool. Whether `fun` is holomorphic, and its complex derivative wanted.
    allow_int : bool. Whether there may be integers among the inputs; their gradients are of dtype
        `float0`.

    Returns
    -------
    callable: Takes what `fun` takes, and returns the gradient in the structure of the argument (a
        tuple for several), with `has_aux` a pair ``(gradient, aux)``.

    Raises
    ------
    TypeError: If `fun` returns anything but one real number, or an input is not a floating or
        complex number.

    Examples
    --------
    >>> jax.grad(lambda p: p["a"] ** 2 * p["b"])({"a": 3.0, "b": 2.0})["a"]
    Array(12., dtype=float32, weak_type=True)
    >>> jax.grad(jax.grad(lambda x: x**3))(2.0)
    Array(12., dtype=float32, weak_type=True)
    """
    check_callable(fun)

    @functools.wraps(fun)
    def gradient(*args, **kwargs) -> Any:
        _, aux, grads = _differentiated(fun, argnums, has_aux, holomorphic, allow_int, args, kwargs)
        return (grads, aux) if has_aux else grads

    return gradient


def vjp(
    fun: Callable[..., Any], *primals, has_aux: bool = False, reduce_axes: Sequence[Any] = ()
) -> tuple[Any, ...]:
    """The value of `fun`, and the function that multiplies its transposed Jacobian.

    Parameters
    ----------
    %(primals)s
    vjp_fun : callable. Takes a cotangent of the structure, shapes and dtypes of `output`, and
        returns a tuple of cotangents of the primals. It may be called again, and mapped by `vmap`.
    aux: With `has_aux`.

    Raises
    ------
    ValueError: By `vjp_fun`, if the cotangent does not match.

    Examples
    --------
    >>> output, pull = jax.vjp(lambda x, y: x * y, 2.0, 5.0)
    >>> pull(1.0)
    (Array(5., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    check_callable(fun)
    leaves = Leaves(primals)
    results, beside = Results(), Results()

    def call(*tensors) -> Any:
        output, aux = two_parts(fun(*leaves.with_tensors(tensors)), has_aux)
        outputs, whole = results.take(output, "Output")
        _, others = beside.take(aux)
        return outputs, (whole, others)

    tensors = leaves.tensors
    if tensors:
        outputs, pull, (whole, others) = func.vjp(call, *tensors, has_aux=True)
    else:
        outputs, (whole, others) = call()
        pull = None
    expected = list(results.leaves)
    metadata = [argument(leaf).aval for leaf in expected]
    results.let_go()

    def vjp_fun(cotangent) -> tuple[Any, ...]:
        """The cotangents of the primals from the cotangent of the output."""
        given = _cotangents(cotangent, results, metadata, fun)
        if pull is None:
            return tuple(leaves.derivatives(()))
        found = pull([conjugated(ct) for ct in given])
        return tuple(leaves.derivatives([conjugated(grad) for grad in found]))

    value = results.give(outputs, whole)
    results.let_go()
    return (value, vjp_fun, beside.give((), others)) if has_aux else (value, vjp_fun)


def _cotangents(cotangent, results: Results, metadata: list[Any], fun) -> list[Any]:
    """The cotangents of those outputs that have derivatives, checked."""
    leaves, structure = tree_flatten(cotangent)
    if structure != results.structure:
        raise ValueError(
            "unexpected tree structure.\n\nThe argument to a VJP function returned by `jax.vjp` "
            "must match the pytree structure of the differentiated function "
            f"{name_of(fun)}.\n\nBut the tree structures differ: the output has structure "
            f"{results.structure}, the argument {structure}."
        )
    found = []
    for place, (leaf, aval) in enumerate(zip(leaves, metadata, strict=True)):
        if place not in results.places:
            if getattr(leaf, "dtype", None) != float0:
                raise ValueError(
                    "unexpected JAX type (e.g. shape/dtype) for argument to VJP function: the "
                    f"output there is {aval.str_short()}, which has no derivative: pass "
                    "np.zeros(shape, jax.dtypes.float0)"
                )
            continue
        array = argument(leaf)
        if tuple(array.payload.shape) != aval.shape or array.payload.dtype != aval.dtype:
            wanted = aval.str_short().removeprefix("~")
            raise ValueError(
                "unexpected JAX type (e.g. shape/dtype) for argument to VJP function: got "
                f"{short(array)}, but expected {wanted} because the corresponding output of the "
                f"differentiated function had JAX type {wanted}"
            )
        found.append(array)
    return found


def linear_transpose(
    fun: Callable[..., Any], *primals, reduce_axes: Sequence[Any] = ()
) -> Callable[..., Any]:
    """The transpose of a linear function.

    Parameters
    ----------
    fun : callable. A linear function.
    *primals: Anything with the shapes and dtypes of its arguments.

    Returns
    -------
    callable: Takes a cotangent of the output, and returns a tuple of those of the arguments.

    Examples
    --------
    >>> jax.linear_transpose(lambda x: 2 * x, 1.0)(3.0)
    (Array(6., dtype=float32, weak_type=True),)
    """
    check_callable(fun)
    leaves, structure = tree_flatten(tuple(primals))
    zeros = [_zeros(leaf) for leaf in leaves]
    return vjp(fun, *structure.unflatten(zeros))[1]


def _zeros(like) -> Any:
    if isinstance(like, Array | bool | int | float | complex):
        return asarray(like) * 0
    return asarray(np.zeros(tuple(like.shape), canonical_dtype(like.dtype)))


fill_sections(globals())
