"""Layer 7 · func: reverse mode: `grad`, `grad_and_value`, `value_and_grad` and `vjp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, overload

from wengert.base.containers import flatten
from wengert.func.inputs import (
    Transformed,
    chosen,
    fresh,
    shown,
    tensors_like,
    tensors_of,
    tensors_only,
    with_aux,
)
from wengert.ops.like import zeros_like
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, TensorBase
from wengert.tape.levels import leads_outside
from wengert.tape.modes import enable_grad, is_recording
from wengert.tape.write_checks import REVERSE

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def _value_and_grad(
    func: Callable[..., Any], argnums: Any, has_aux: bool, args: Any, kwargs: Any
) -> tuple[Any, Any, Any]:
    name = "grad_and_value(f)(*args)"
    numbers, several = chosen(args, argnums)
    outside = is_recording()
    with enable_grad():
        flat: list[Any] = []
        parts: list[tuple[Any, int]] = []
        given = list(args)
        for number in numbers:
            tensors, rebuild = tensors_of(given[number], name, "inputs")
            own = [fresh(tensor, name) for tensor in tensors]
            flat += own
            given[number] = rebuild(own)
            parts.append((rebuild, len(flat)))
        output, aux = with_aux(_run(func, given, kwargs), has_aux, name)
        if not isinstance(output, TensorBase):
            raise RuntimeError(f"{name}: Expected f(*args) to return a Tensor, got {type(output)}")
        if output._payload.ndim:
            raise RuntimeError(
                f"{name}: Expected f(*args) to return a scalar Tensor, got tensor with "
                f"{output._payload.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs "
                "instead?"
            )
        # paths to the outside are rare, and may also lead through the rules
        graph = outside and leads_outside([output], flat, True)
        keep = graph and leads_outside([output], flat)
        keeps_aux = keep or (has_aux and outside and _leads(aux, flat))
        if keeps_aux or graph:
            _end(flat)
        found: list[Any] = [None] * len(flat)
        if output._edge is not None:
            found = run_grad([output], flat, [None], graph, graph, closed=outside and not graph)
    filled = [zeros_like(flat[i]) if g is None else g for i, g in enumerate(found)]
    if graph:
        # the gradient need not depend on everything that the output depends on
        filled = shown(filled, leads_outside(filled, ()))
    made, start = [], 0
    for rebuild, end in parts:
        made.append(rebuild(filled[start:end]))
        start = end
    if has_aux:
        aux = shown(aux, keeps_aux)
    return shown(output, keep), tuple(made) if several else made[0], aux


def _run(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function to differentiate, which may not write to the tensors that it closes over."""
    token = REVERSE.set(True)
    try:
        return func(*args, **kwargs)
    finally:
        REVERSE.reset(token)


def _end(inputs: list[Any]) -> None:
    """Mark the inputs of a transform as ends of the graph for the transforms outside it."""
    for tensor in inputs:
        if tensor._edge is LEAF:
            tensor._extra().ended = True


def _leads(value: Any, inputs: list[Any]) -> bool:
    leaves, _ = flatten(value)
    return leads_outside([leaf for leaf in leaves if isinstance(leaf, TensorBase)], inputs)


@overload
def grad(
    func: Callable[Concatenate[T, P], Any], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> Callable[Concatenate[T, P], T]: ...
@overload
def grad(
    func: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]: ...
def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function that computes the gradient of `func`.

    Parameters
    ----------
    func : callable. Returns a scalar tensor; with `has_aux` a tuple of one and of anything else.
    argnums : int or tuple of int. The positions of the arguments to differentiate with respect to;
        each may be a nested container of tensors.
    has_aux : bool. Whether `func` also returns auxiliary data.

    Returns
    -------
    callable: Takes the arguments of `func`, and returns gradients in the structure of the arguments
        that `argnums` names (a tuple of them for a tuple); with `has_aux` it returns ``(gradient,
        aux)``. They can be differentiated with respect to anything that requires a gradient or
        belongs to an outer transform.

    Raises
    ------
    RuntimeError: If `func` returns no tensor or one with dimensions; if `argnums` names no
        argument.

    Examples
    --------
    >>> wg.func.grad(wg.sin)(wg.tensor(0.0))
    tensor(1.)
    >>> wg.func.grad(wg.func.grad(lambda x: x**3))(wg.tensor(2.0))
    tensor(12.)
    """

    def gradient(*args: Any, **kwargs: Any) -> Any:
        _, grads, aux = _value_and_grad(func, argnums, has_aux, args, kwargs)
        return (grads, aux) if has_aux else grads

    return Transformed(gradient, grad, func, {"argnums": argnums, "has_aux": has_aux})


@overload
def grad_and_value(
    func: Callable[Concatenate[T, P], R], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> Callable[Concatenate[T, P], tuple[T, R]]: ...
@overload
def grad_and_value(
    func: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]: ...
def grad_and_value(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `func` and its value, in this order.

    Parameters
    ----------
    func, argnums, has_aux: As in `grad`.

    Returns
    -------
    callable: Returns ``(gradient, value)``, with `has_aux` ``(gradient, (value, aux))``.

    Examples
    --------
    >>> wg.func.grad_and_value(lambda x: x**2)(wg.tensor(3.0))
    (tensor(6.), tensor(9.))
    """

    def both(*args: Any, **kwargs: Any) -> Any:
        value, grads, aux = _value_and_grad(func, argnums, has_aux, args, kwargs)
        return (grads, (value, aux)) if has_aux else (grads, value)

    return Transformed(both, grad_and_value, func, {"argnums": argnums, "has_aux": has_aux})


@overload
def value_and_grad(
    func: Callable[Concatenate[T, P], R], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> Callable[Concatenate[T, P], tuple[R, T]]: ...
@overload
def value_and_grad(
    func: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]: ...
def value_and_grad(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the value of `func` and its gradient, in JAX's order.

    Parameters
    ----------
    func, argnums, has_aux: As in `grad`.

    Returns
    -------
    callable: Returns ``(value, gradient)``, with `has_aux` ``((value, aux), gradient)``.

    Examples
    --------
    >>> wg.func.value_and_grad(lambda x: x**2)(wg.tensor(3.0))
    (tensor(9.), tensor(6.))
    """

    def both(*args: Any, **kwargs: Any) -> Any:
        value, grads, aux = _value_and_grad(func, argnums, has_aux, args, kwargs)
        return ((value, aux), grads) if has_aux else (value, grads)

    return Transformed(both, value_and_grad, func, {"argnums": argnums, "has_aux": has_aux})


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Return the value of `func` and a function that computes vector-Jacobian products.

    Parameters
    ----------
    func : callable. Takes `primals`, and returns a tensor or a nested container of tensors.
    primals : Tensor or nested containers of them. Where to differentiate.
    has_aux : bool. Whether `func` returns ``(output, aux)``.

    Returns
    -------
    output: What `func` returned.
    vjp_fn : callable. Takes cotangents, with the structure of `output` and the shapes and dtypes of
        its tensors, and returns a tuple with one gradient for each primal. It may be called
        repeatedly, and mapped by `vmap`.
    aux: With `has_aux`.

    Raises
    ------
    RuntimeError: If `func` returns anything but tensors, or cotangents do not match them.

    Examples
    --------
    >>> output, pull = wg.func.vjp(lambda x: x * x, wg.tensor([1.0, 2.0]))
    >>> output
    tensor([1., 4.])
    >>> pull(wg.tensor([1.0, 10.0]))
    (tensor([ 2., 40.]),)
    """
    results, _ = pullback(func, primals, has_aux)
    return results


def pullback(
    func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool
) -> tuple[tuple[Any, ...], list[Any]]:
    """Return the result of `vjp`, and the tensors that stand for the primals."""
    name = "vjp(f, *primals)"
    parts = [tensors_of(primal, name, "primals") for primal in primals]
    outside = is_recording()
    with enable_grad():
        inputs = [[fresh(tensor, name) for tensor in tensors] for tensors, _ in parts]
        values = [rebuild(own) for own, (_, rebuild) in zip(inputs, parts, strict=True)]
        output, aux = with_aux(_run(func, values, {}), has_aux, name)
    outputs, rebuild_output = tensors_only(output, name)
    flat = [tensor for own in inputs for tensor in own]
    keep = outside and leads_outside(outputs, flat)
    # the products are recorded where they are computed, whether or not the value was
    rules = keep or leads_outside(outputs, flat, True)
    _end(flat)

    def pulled(
        *cotangents: Any, retain_graph: bool = True, create_graph: Any = None, fill: bool = True
    ) -> Any:
        """Return the gradients of the primals from the cotangents of the output.

        With `fill`, a primal that the output does not depend on gets zeros, otherwise None.
        """
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        if len(cotangents) != 1 and not isinstance(output, tuple):
            raise RuntimeError(f"{name}: expected one cotangent, of the output's structure")
        said = (
            f"{name}: Expected pytree structure of cotangents to be the same as pytree structure "
            "of outputs to the function"
        )
        grads = tensors_like(given, output, said, name, "cotangents")
        graph = create_graph
        if graph is None:
            graph = is_recording() and (rules or any(g._edge is not None for g in grads))
        pairs = [
            (out, grad) for out, grad in zip(outputs, grads, strict=True) if out._edge is not None
        ]
        found: list[Any] = [None] * len(flat)
        if pairs:
            outs, seeds = zip(*pairs, strict=True)
            found = run_grad(outs, flat, seeds, retain_graph or graph, graph)
        filled = [
            zeros_like(t) if g is None and fill else g for t, g in zip(flat, found, strict=True)
        ]
        if graph and create_graph is None:
            filled = shown(filled, leads_outside(filled, ()))
        if not fill:
            return tuple(filled)
        made = iter(filled)
        return tuple(
            rebuild([next(made) for _ in own])
            for own, (_, rebuild) in zip(inputs, parts, strict=True)
        )

    results = (rebuild_output([shown(out, keep) for out in outputs]), pulled)
    return ((*results, shown(aux, keep)) if has_aux else results), flat
