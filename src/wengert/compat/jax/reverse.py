"""Layer 9 · compat: reverse mode under JAX's names: `grad`, `value_and_grad`, `vjp`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import wengert.func as func
from wengert.compat.jax import tracing
from wengert.compat.jax.array import Array, asarray
from wengert.compat.jax.closures import Derivative
from wengert.compat.jax.dtypes import canonical_dtype, float0
from wengert.compat.jax.orders import Reverse
from wengert.compat.jax.tree_util import Partial
from wengert.compat.jax.trees import tree_flatten, tree_map
from wengert.compat.jax.values import innermost
from wengert.compat.jax.words import refusal
from wengert.func.forward import linearized
from wengert.func.inputs import replaced
from wengert.func.jacobians import by_columns, by_rows
from wengert.ops.like import ones_like
from wengert.tape.modes import current_mode


def numbers_of(args: Sequence[Any], argnums) -> tuple[tuple[int, ...], bool]:
    """Return the positions that `argnums` names, and whether they were given as a sequence.

    Raises
    ------
    TypeError: If it is neither an int nor a sequence of ints, or names an argument that was not
        passed.
    """
    several = not hasattr(argnums, "__index__")
    try:
        numbers = [operator.index(n) for n in (argnums if several else (argnums,))]
    except TypeError:
        raise refusal(TypeError, "argnums must be an integer", argnums) from None
    most = max([n + 1 if n >= 0 else -n for n in numbers], default=0)
    if most > len(args):
        raise refusal(TypeError, "differentiating with respect", argnums, most, len(args))
    return tuple(n % len(args) for n in numbers), several


_OTHERWISE = (
    "For holomorphic differentiation, pass holomorphic=True. For differentiation of "
    "non-holomorphic functions involving complex"
)
_HINTS = {
    "inputs of grad": (
        "If you want to use Boolean- or integer-valued inputs, use vjp or set allow_int to True. "
        "If fractions are meant, write 3.0, not 3."
    ),
    "inputs of jacfwd": f"{_OTHERWISE} inputs or integer inputs, use jax.jvp directly.",
    "complex outputs": f"{_OTHERWISE} outputs, use jax.vjp directly.",
    "integer outputs": (
        "For differentiation of functions with integer outputs, use jax.vjp directly."
    ),
}
"""What to write instead of what is refused."""


def _check(
    name: str, side: str, arrays: Sequence[Any], kinds: str, hint: str, holomorphic: bool
) -> None:
    """Refuse arrays of other kinds of dtype than `kinds`, or than complex if `holomorphic`."""
    for x in arrays:
        dtype = x._payload.dtype
        if holomorphic and dtype.kind != "c":
            raise refusal(TypeError, "{} with holomorphic=True", name, side, dtype)
        if not holomorphic and dtype.kind not in kinds:
            what, of = ("real-valued", "floating") if "c" not in kinds else _ANY
            raise TypeError(
                f"{name} requires {what} {side}s ({side} dtype that is a sub-dtype of np.{of}), "
                f"but got {dtype.name}. {_HINTS[hint]}"
            )


_ANY = ("real- or complex-valued", "inexact")


def check_inputs(name: str, arrays: Sequence[Any], holomorphic: bool, allow_int: bool) -> None:
    """Refuse inputs with respect to which reverse mode cannot differentiate.

    Raises
    ------
    TypeError: For integers, unless they are allowed, and for real numbers if `holomorphic`.
    """
    kinds = "fcVbiu" if allow_int else "fcV"
    _check(name, "input", arrays, kinds, "inputs of grad", holomorphic)


def check_outputs(name: str, arrays: Sequence[Any], holomorphic: bool) -> None:
    """Refuse outputs that reverse mode has no gradient of.

    Raises
    ------
    TypeError: For integers, and for complex numbers unless `holomorphic`.
    """
    for x in arrays:
        hint = "complex outputs" if x._payload.dtype.kind == "c" else "integer outputs"
        _check(name, "output", [x], "fV", hint, holomorphic)


def _scalar(output, holomorphic: bool) -> Any:
    """Return the output of a function to differentiate as a 0-d array."""
    if isinstance(output, list | tuple | dict) or output is None:
        raise refusal(TypeError, "Gradient only defined", f"was {output!r}.")
    array = tracing.argument(output)
    if array._payload.ndim:
        raise refusal(
            TypeError, "Gradient only defined", f"had shape: {tuple(array._payload.shape)}."
        )
    check_outputs("grad", [array], holomorphic)
    return array


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux=False,
    holomorphic=False,
    allow_int=False,
    reduce_axes: Sequence[Any] = (),
) -> Callable[..., Any]:
    """Return a function that computes `fun` and its gradient.

    Parameters
    ----------
    fun, argnums, has_aux, holomorphic, allow_int: As in `grad`.

    Returns
    -------
    callable: Returns ``(value, gradient)``, or with `has_aux` ``((value, aux), gradient)``.

    Examples
    --------
    >>> jax.value_and_grad(lambda x: x**2)(3.0)
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    tracing.check_callable(fun)

    @tracing.wraps(fun)
    def value_and_gradient(*args, **kwargs) -> Any:
        numbers, several = numbers_of(args, argnums)
        leaves = tracing.Leaves([args[n] for n in numbers])
        check_inputs("grad", leaves.arrays, holomorphic, allow_int)
        classes: list[type] = []
        beside = tracing.Results()
        order = Reverse()

        def call(*tensors) -> Any:
            own = leaves.with_tensors(order.inputs(tensors))
            given = replaced(args, numbers, own)
            output, aux = tracing.two_parts(fun(*given, **kwargs), has_aux)
            array = _scalar(output, holomorphic)
            classes.append(array.__class__)
            _, others = beside.take(aux)
            return array, others

        found: Sequence[Any] = ()
        tensors = leaves.tensors
        if tensors and holomorphic:
            value, pull, others = func.vjp(call, *tensors, has_aux=True)
            found = order.run(pull, ones_like(value))
        elif tensors:
            transformed = func.grad_and_value(call, tuple(range(len(tensors))), has_aux=True)
            found, (value, others) = order.run(transformed, *tensors)
        else:
            value, others = call()
        grads = leaves.derivatives([tracing.conjugated(grad) for grad in found])
        aux = beside.give((), others)
        value = tracing.labelled(value, classes[0])
        return (value, aux) if has_aux else value, grads if several else grads[0]

    return value_and_gradient


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux=False,
    holomorphic=False,
    allow_int=False,
    reduce_axes: Sequence[Any] = (),
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `fun`.

    Parameters
    ----------
    fun : callable. Returns a real number; with `has_aux`, a pair of it and auxiliary data.
    argnums : int or sequence of int. The positional arguments to differentiate with respect to;
        each may be a pytree.
    has_aux : bool. Whether `fun` also returns auxiliary data.
    holomorphic : bool. Whether `fun` is holomorphic, to compute its complex derivative.
    allow_int : bool. Whether to allow integer inputs; their gradients have dtype `float0`.

    Returns
    -------
    callable: Takes the arguments of `fun`, and returns the gradient in the structure of the
        argument (a tuple for several), or with `has_aux` the pair ``(gradient, aux)``.

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
    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int)

    @tracing.wraps(fun)
    def gradient(*args, **kwargs) -> Any:
        value, grads = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return gradient


def _of_tensors(
    fun, leaves: tracing.Leaves, has_aux: bool, order: Reverse | None = None
) -> tuple[Callable[..., Any], tracing.Results, tracing.Results]:
    """Return `fun` as a function of the tensors of its arguments."""
    results, beside = tracing.Results(), tracing.Results()

    def call(*tensors) -> Any:
        given = tensors if order is None else order.inputs(tensors)
        output, aux = tracing.two_parts(fun(*leaves.with_tensors(given)), has_aux)
        outputs, whole = results.take(output, "Output")
        _, others = beside.take(aux)
        # transforms want at least one output that has a derivative
        return outputs or [*tensors[:1]], (whole, others)

    return call, results, beside


def vjp(
    fun: Callable[..., Any], *primals, has_aux=False, reduce_axes: Sequence[Any] = ()
) -> tuple[Any, ...]:
    """Return the value of `fun`, and the function that computes vector-Jacobian products.

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
    return _with_derivative(_pulled, fun, primals, has_aux)


def _with_derivative(
    transform: Callable[..., Any], fun: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool
) -> tuple[Any, ...]:
    """Return the value of a function, its derivative as a pytree, and auxiliary data if asked."""
    tracing.check_callable(fun)
    leaves = tracing.Leaves(primals)
    value, made, aux = transform(fun, leaves, has_aux)

    def again(fun: Callable[..., Any], *primals) -> Any:
        return transform(fun, tracing.Leaves(primals), has_aux)[1]

    derivative = Derivative((transform, has_aux), again, fun, leaves, made).function
    return (value, derivative, aux) if has_aux else (value, derivative)


def _pulled(fun: Callable[..., Any], leaves: tracing.Leaves, has_aux: bool) -> tuple[Any, ...]:
    order = Reverse()
    call, results, beside = _of_tensors(fun, leaves, has_aux, order)
    tensors = leaves.tensors
    if tensors:
        outputs, pull, (whole, others) = func.vjp(call, *tensors, has_aux=True)
    else:
        outputs, (whole, others) = call()
        pull = None
    expected = list(results.leaves)
    metadata = [tracing.argument(leaf).aval for leaf in expected]
    results.let_go()

    def vjp_fun(*cotangents) -> tuple[Any, ...]:
        """Return the cotangents of the primals for a cotangent of the output."""
        if len(cotangents) != 1:
            name = tracing.name_of(fun)
            raise refusal(TypeError, "The function returned by `jax.vjp`", name, len(cotangents))
        given = _cotangents(cotangents[0], results, metadata, fun)
        if pull is None:
            return tuple(leaves.derivatives(()))
        found = order.run(pull, [tracing.conjugated(ct) for ct in given] or [tensors[0] * 0])
        return tuple(leaves.derivatives([tracing.conjugated(grad) for grad in found]))

    value = results.give(outputs, whole)
    results.let_go()
    return value, vjp_fun, beside.give((), others)


def _cotangents(cotangent, results: tracing.Results, metadata: list[Any], fun) -> list[Any]:
    """Return the cotangents of the differentiable outputs, checked."""
    leaves, structure = tree_flatten(cotangent)
    if structure != results.structure:
        raise refusal(
            ValueError, "unexpected tree structure", tracing.name_of(fun), results, structure
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
        array = tracing.argument(leaf)
        if tuple(array._payload.shape) != aval.shape or array._payload.dtype != aval.dtype:
            wanted = aval.str_short().removeprefix("~")
            raise refusal(ValueError, "unexpected JAX type", tracing.short(array), wanted)
        found.append(array)
    return found


def fwd_and_bwd(
    fun: Callable[..., Any], argnums: int | Sequence[int], has_aux=False, jitted=True
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the forward and the backward pass of a function, as two functions.

    Parameters
    ----------
    fun, argnums, has_aux: As in `grad`, but `fun` may return any pytree of arrays.

    Returns
    -------
    fwd : callable. Takes the arguments of `fun`, and returns its output and residuals, and with
        `has_aux` auxiliary data.
    bwd : callable. Takes the residuals and a cotangent of the output, and returns the cotangents
        of the arguments that `argnums` names: a tuple for several.

    Examples
    --------
    >>> fwd, bwd = jax.fwd_and_bwd(lambda x, y: x * y, argnums=0)
    >>> output, residuals = fwd(2.0, 5.0)
    >>> bwd(residuals, 1.0)
    Array(5., dtype=float32, weak_type=True)
    """
    tracing.check_callable(fun)
    several = not hasattr(argnums, "__index__")

    @tracing.wraps(fun)
    def fwd(*args, **kwargs) -> Any:
        numbers, _ = numbers_of(args, argnums)

        def of_chosen(*chosen) -> Any:
            given = replaced(args, numbers, chosen)
            return fun(*given, **kwargs)

        return vjp(of_chosen, *[args[n] for n in numbers], has_aux=has_aux)

    def bwd(residuals, cotangent) -> Any:
        grads = residuals(cotangent)
        return grads if several else grads[0]

    return fwd, bwd


def linear_transpose(
    fun: Callable[..., Any], *primals, reduce_axes: Sequence[Any] = ()
) -> Callable[..., Any]:
    """Return the transpose of a linear function.

    Parameters
    ----------
    fun : callable. A linear function.
    *primals: Values with the shapes and dtypes of its arguments.

    Returns
    -------
    callable: Takes a cotangent of the output, and returns a tuple of cotangents of the arguments.

    Examples
    --------
    >>> jax.linear_transpose(lambda x: 2 * x, 1.0)(3.0)
    (Array(6., dtype=float32, weak_type=True),)
    """
    tracing.check_callable(fun)
    if current_mode() is None:
        _check_linear(fun, primals)
    return transposed_at_zero(fun, primals)


def _check_linear(fun: Callable[..., Any], primals: tuple[Any, ...]) -> None:
    """Refuse a function that is not linear, up to a constant; at other places it may still be."""

    def at(scale: int) -> list[Any]:
        given = tree_map(lambda x: asarray(scale * _pattern(x.shape), x.dtype), primals)
        return [np.asarray(innermost(tracing.argument(x))) for x in tree_flatten(fun(*given))[0]]

    primals = tree_map(_zeros, primals)
    for start, once, twice in zip(at(0), at(4), at(-8), strict=True):
        if start.dtype.kind in "fc":
            error, size = twice - start + 2 * (once - start), np.abs(once) + np.abs(start)
            if np.max(np.abs(error), initial=0) > 0.01 * np.max(size, initial=0):
                raise refusal(NotImplementedError, "Transpose rule", tracing.name_of(fun))


def _pattern(shape: tuple[int, ...]) -> Any:
    return np.sin(np.arange(1, math.prod(shape) + 1)).reshape(shape)


def transposed_at_zero(fun: Callable[..., Any], primals: tuple[Any, ...]) -> Callable[..., Any]:
    """Return the transpose of the derivative at zero, which is that of a linear function."""
    leaves, structure = tree_flatten(primals)
    zeros = [_zeros(leaf) for leaf in leaves]
    output, pull = vjp(fun, *structure.unflatten(zeros))
    outputs, wanted = tree_flatten(output)
    known = _types(outputs)  # without the arrays, which would be leaves
    if len({tracing.is_inexact(tracing.argument(x)) for x in (*zeros, *outputs)}) > 1:
        raise refusal(TypeError, "linear_transpose only supports", _types(zeros), known)

    def transposed(pull, cotangent) -> Any:
        """Return the cotangents of the arguments for a cotangent of the output."""
        given, structure = tree_flatten(cotangent)
        if structure != wanted:
            raise refusal(TypeError, "cotangent tree does not", wanted, structure)
        if known != _types(given):
            raise refusal(TypeError, "cotangent type does not", known, _types(given))
        return pull(cotangent)

    return Partial(transposed, pull)


def _types(arrays: Sequence[Any]) -> list[str]:
    return [tracing.short(tracing.argument(x)) for x in arrays]


def _zeros(like) -> Any:
    if isinstance(like, Array | bool | int | float | complex):
        return asarray(like) * 0
    return asarray(np.zeros(tuple(like.shape), canonical_dtype(like.dtype)))


# -- forward mode under JAX's names: `jvp` and `linearize` -----------------------------------------


def _tangents(leaves: tracing.Leaves, tangents, name: str) -> list[Any]:
    """Return the tangents of the differentiable primals, checked."""
    given, structure = tree_flatten(tuple(tangents))
    if structure != leaves.structure:
        raise refusal(TypeError, "primal and tangent arguments to {} must", name, leaves, structure)
    found = []
    for primal, tangent in zip(leaves.arrays, given, strict=True):
        wanted = primal._payload.dtype if tracing.is_inexact(primal) else float0
        if getattr(tangent, "dtype", None) == float0:
            got, shape = float0, tuple(tangent.shape)
        else:
            tangent = tracing.argument(tangent)
            got, shape = tangent._payload.dtype, tuple(tangent._payload.shape)
        if got != wanted:
            kinds = primal._payload.dtype.name, _shown(wanted), _shown(got)
            raise refusal(TypeError, "primal and tangent arguments to {0}", name, *kinds)
        if shape != tuple(primal._payload.shape):
            raise refusal(ValueError, "jvp called with different", primal, shape)
        if tracing.is_inexact(primal):
            found.append(tangent)
    return found


def _shown(dtype) -> str:
    return "float0" if dtype == float0 else str(np.dtype(dtype).name)


def _slopes(results: tracing.Results, slopes) -> Any:
    shapes = [tuple(getattr(leaf, "shape", ())) for leaf in results.leaves]
    return results.derivatives(slopes, lambda place: np.zeros(shapes[place], float0))


def jvp(fun: Callable[..., Any], primals, tangents, has_aux=False) -> tuple[Any, ...]:
    """Return the value of `fun` and its derivative in a direction, in one pass.

    Parameters
    ----------
    fun : callable. Takes `primals`, and returns a pytree of arrays.
    primals : tuple or list. The arguments: pytrees.
    tangents : tuple or list. The direction, with the structure, shapes and dtypes of `primals`.
    has_aux : bool. Whether `fun` returns a pair of its output and auxiliary data.

    Returns
    -------
    primals_out, tangents_out: The result of `fun`, and its derivative in the same structure.
    aux: With `has_aux`.

    Raises
    ------
    TypeError, ValueError: If the tangents do not match the primals.

    Examples
    --------
    >>> jax.jvp(lambda x: x**2, (3.0,), (1.0,))
    (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    tracing.check_callable(fun)
    kinds = type(primals), type(tangents)
    if not isinstance(primals, list | tuple) or not isinstance(tangents, list | tuple):
        raise refusal(TypeError, "primal and tangent arguments to jax.jvp must be", *kinds)
    if type(primals) is not type(tangents):
        raise refusal(TypeError, "primal and tangent arguments to jax.jvp must have", *kinds)
    leaves = tracing.Leaves(primals)
    directions = _tangents(leaves, tangents, "jax.jvp")
    call, results, beside = _of_tensors(fun, leaves, has_aux)
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


def linearize(fun: Callable[..., Any], *primals, has_aux=False) -> Any:
    """Return the value of `fun`, and its derivative as a function of the direction.

    `fun` is called once, so its branches are decided once.

    Parameters
    ----------
    %(primals)s
    jvp_fun : callable. Takes tangents of the primals, and returns the tangent of the output.
    aux: With `has_aux`.

    Examples
    --------
    >>> output, slope = jax.linearize(lambda x: x**2, 3.0)
    >>> slope(1.0), slope(2.0)
    (Array(6., dtype=float32, weak_type=True), Array(12., dtype=float32, weak_type=True))
    """
    return _with_derivative(_pushed, fun, primals, has_aux)


def _pushed(fun: Callable[..., Any], leaves: tracing.Leaves, has_aux: bool) -> tuple[Any, ...]:
    order = Reverse()
    both, results, beside = _of_tensors(fun, leaves, has_aux, order)
    if leaves.tensors:
        outputs, slope, (whole, others) = order.run(linearized, both, tuple(leaves.tensors), True)
    else:
        outputs, (whole, others) = both()
        slope = None
    value = results.give(outputs, whole)
    zeros = [0 * x for x in outputs] if slope is None else []

    def jvp_fun(*tangents) -> Any:
        """Return the tangent of the output in a direction."""
        try:
            directions = _tangents(leaves, tangents, "the linearized function")
        except (TypeError, ValueError) as error:
            raise refusal(ValueError, "linearized function called", error) from None
        return _slopes(results, zeros if slope is None else slope(*directions))

    return value, jvp_fun, beside.give((), others)


# -- `jacfwd`, `jacrev` and `hessian` under JAX's names --------------------------------------------


def _jacobian(
    fun: Callable[..., Any],
    argnums,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    forward: bool,
) -> Callable[..., Any]:
    tracing.check_callable(fun)

    @tracing.wraps(fun)
    def jacobian_of(*args, **kwargs) -> Any:
        numbers, several = numbers_of(args, argnums)
        leaves = tracing.Leaves([args[n] for n in numbers])
        if forward:
            _check("jacfwd", "input", leaves.arrays, "fV", "inputs of jacfwd", holomorphic)
        else:
            check_inputs("jacrev", leaves.arrays, holomorphic, allow_int)
        results, beside = tracing.Results(), tracing.Results()
        order = Reverse()

        def call(*tensors) -> Any:
            own = tensors if forward else order.inputs(tensors)
            given = replaced(args, numbers, leaves.with_tensors(own))
            output, aux = tracing.two_parts(fun(*given, **kwargs), has_aux)
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
            way = by_columns if forward else by_rows
            transformed = way(call, tuple(range(len(tensors))), has_aux=True)
            rows, others = order.run(transformed, *tensors)
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


def _blocks(
    leaves: tracing.Leaves, results: tracing.Results, place: int, row, forward: bool
) -> Any:
    """Return the derivatives of one output, in the structure of the arguments: a tuple."""
    shape = tuple(results.leaves[place]._payload.shape)
    blocks: list[Any] = [
        np.zeros((*shape, *tuple(x._payload.shape)), float0) for x in leaves.arrays
    ]
    if row is not None:
        for at, block in zip(leaves.places, row, strict=True):
            cls = results.classes[place] if forward else leaves.arrays[at].__class__
            blocks[at] = tracing.labelled(block if forward else tracing.conjugated(block), cls)
    return leaves.structure.unflatten(blocks)


def jacfwd(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux=False, holomorphic=False
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `fun` by columns, in forward mode.

    Parameters
    ----------
    fun : callable. Returns a pytree of arrays; with `has_aux`, a pair of it and auxiliary data.
    argnums, has_aux, holomorphic: As in `grad`.

    Returns
    -------
    callable: Returns a Jacobian for each pair of an output array and an argument array, nested in
        the structure of the output, then of the argument. The shape of each is the shape of the
        output followed by that of the argument.

    Raises
    ------
    TypeError: If inputs are not floating-point numbers.

    Examples
    --------
    >>> jax.jacfwd(lambda x: x * x)(jax.numpy.array([1.0, 2.0]))
    Array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    return _jacobian(fun, argnums, has_aux, holomorphic, False, True)


def jacrev(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux=False,
    holomorphic=False,
    allow_int=False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `fun` by rows, in reverse mode.

    Parameters
    ----------
    fun, holomorphic, has_aux, argnums: As in `jacfwd`.
    allow_int : bool. Whether to allow integer inputs.

    Returns
    -------
    callable: Returns the Jacobians, and raises a TypeError, as in `jacfwd`.

    Examples
    --------
    >>> jax.jacrev(lambda x: x.sum())(jax.numpy.array([1.0, 2.0]))
    Array([1., 1.], dtype=float32)
    """
    return _jacobian(fun, argnums, has_aux, holomorphic, allow_int, False)


jacobian = jacrev


def hessian(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux=False, holomorphic=False
) -> Callable[..., Any]:
    """Return a function that computes the Hessian of `fun`, by forward over reverse mode.

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
