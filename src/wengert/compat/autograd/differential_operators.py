"""Layer 9 · compat: `grad` and the other operators that map functions to their derivatives."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as _np

import wengert.compat.autograd.numpy as np
from wengert.base.containers import field_names, flatten
from wengert.compat.autograd.boxes import isbox, released
from wengert.compat.autograd.tracing import make_jvp as _make_jvp
from wengert.compat.autograd.tracing import make_vjp as _make_vjp
from wengert.compat.autograd.tracing import rows, shown, traced
from wengert.compat.autograd.vspaces import vspace
from wengert.compat.autograd.words import refusal
from wengert.compat.autograd.wrap_util import unary_to_nary
from wengert.compat.kit.namespaces import defined
from wengert.tape.sites import warn
from wengert.utils.checkpoint import checkpoint as _checkpoint

Function = Callable[..., Any]

make_vjp = unary_to_nary(_make_vjp)
make_jvp = unary_to_nary(_make_jvp)


def _gradient(fun: Function, x, name: str) -> tuple[Any, Any]:
    """Return the value of a function that returns one real number, and its gradient."""
    vjp, answer = traced(fun, x)
    if isbox(answer):
        payload = answer._payload
        real = payload.size == 1 and payload.dtype.kind != "c"
    else:
        real = vspace(answer).size == 1
    if not real:
        value = shown(answer)
        shape = f"dtype {value.dtype} and shape {value.shape}" if hasattr(value, "shape") else ""
        shown_as = shape or f"type {type(value).__name__}"
        raise refusal(TypeError, "{} only applies to real", name, shown_as)
    return answer, vjp.ones() if isbox(answer) else vjp(vspace(answer).ones())


@unary_to_nary
def grad(fun: Function, x) -> Any:
    """Return a function that computes the gradient of `fun` with respect to one argument.

    Parameters
    ----------
    fun : callable. Returns one real number.
    argnum : int, tuple or list of int. The position of the argument; several positions give a tuple
        of gradients. It may be a float, an array, or a nested list, tuple or dict of these.

    Returns
    -------
    callable: Takes what `fun` takes, and returns a gradient of the argument's structure and shapes.

    Raises
    ------
    TypeError: If the result of `fun` is not one real number, or the argument cannot be
        differentiated with respect to.

    Examples
    --------
    >>> grad(np.tanh)(1.0).round(12)
    np.float64(0.419974341614)
    >>> grad(lambda p, x: np.sum(p["w"] * x) + p["b"])({"w": np.zeros(2), "b": 0.0}, np.arange(2.0))
    {'w': array([0., 1.]), 'b': np.float64(1.0)}
    """
    return _gradient(fun, x, "Grad")[1]


@unary_to_nary
def value_and_grad(fun: Function, x) -> Any:
    """Return a function that computes `fun` and its gradient, as `scipy.optimize` takes it.

    Examples
    --------
    >>> from wengert.compat.autograd import value_and_grad
    >>> value_and_grad(lambda x: x**2)(3.0)
    (np.float64(9.0), np.float64(6.0))
    """
    answer, gradient = _gradient(fun, x, "value_and_grad")
    return shown(answer), gradient


@unary_to_nary
def grad_and_aux(fun: Function, x) -> Any:
    """Return a function that computes the gradient of the first output of `fun`, and the second
    output.

    Examples
    --------
    >>> from wengert.compat.autograd import grad_and_aux
    >>> grad_and_aux(lambda x: (x**2, {"twice": 2 * x}))(3.0)
    (np.float64(6.0), {'twice': np.float64(6.0)})
    """
    extra: list[Any] = []

    def first(x) -> Any:
        answer, aux = fun(x)
        extra.append(aux)
        return answer

    vjp, answer = traced(first, x)
    gradient = vjp(vspace(answer).ones())
    return gradient, shown(_aside(extra[0], gradient))


def _aside(aux, gradient) -> Any:
    """Return a function's auxiliary output, with boxes detached unless an outer transform is
    active.
    """
    if any(isbox(leaf) for leaf in flatten(gradient)[0]):
        return aux
    leaves, rebuild = flatten(aux)
    return rebuild([leaf.detach() if isbox(leaf) else leaf for leaf in leaves])


@unary_to_nary
def elementwise_grad(fun: Function, x) -> Any:
    """Return a function that computes the column sums of the Jacobian of `fun` in one pass.

    If each element of the result depends on the same element of the argument only, these are the
    derivatives of the elements. This is not checked, as in HIPS autograd.

    Examples
    --------
    >>> from wengert.compat.autograd import elementwise_grad as egrad
    >>> egrad(egrad(np.sin))(np.array([0.0, np.pi / 2]))
    array([-0., -1.])
    """
    vjp, answer = traced(fun, x)
    space = vspace(answer)
    if space.iscomplex:
        raise refusal(TypeError, "Elementwise_grad only applies")
    return vjp.ones() if isbox(answer) else vjp(space.ones())


@unary_to_nary
def deriv(fun: Function, x) -> Any:
    """Return a function that computes the derivative of `fun` in direction ones, by forward mode.

    Examples
    --------
    >>> from wengert.compat.autograd import deriv
    >>> deriv(deriv(np.sin))(1.0).round(12)
    np.float64(-0.841470984808)
    """
    return _make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun: Function, x) -> Any:
    """Return a function that computes the Jacobian of `fun`, row by row.

    Parameters
    ----------
    fun : callable. Returns a real array.
    argnum : int. The position of the argument, which is a number or an array.

    Returns
    -------
    callable: Returns an array with the dimensions of the result of `fun` and then those of the
        argument.

    Raises
    ------
    TypeError: If `fun` returns complex numbers or a container, or the argument is a container.

    Examples
    --------
    >>> from wengert.compat.autograd import jacobian
    >>> jacobian(lambda x: x[::-1] ** 2)(np.array([1.0, 2.0]))
    array([[0., 4.],
           [2., 0.]])
    """
    if isinstance(x, list | tuple | dict) or field_names(x) is not None:
        raise refusal(TypeError, "jacobian takes derivatives")
    vjp, answer = traced(fun, x)
    space = vspace(answer)
    if not hasattr(space, "dtype"):
        raise refusal(TypeError, "jacobian applies to", type(answer).__name__)
    if space.iscomplex:
        raise refusal(TypeError, "jacobian only applies")
    if not isbox(answer):
        return _np.zeros(space.shape + vspace(x).shape)
    return released(rows(vjp))


@unary_to_nary
def holomorphic_grad(fun: Function, x) -> Any:
    """Return a function that computes the complex derivative of `fun`.

    Examples
    --------
    >>> from wengert.compat.autograd import holomorphic_grad
    >>> holomorphic_grad(lambda z: z**2)(1.0 + 2.0j)
    np.complex128(2+4j)
    """
    if not vspace(x).iscomplex:
        warn("Input to holomorphic_grad is not complex")
    return grad(lambda x: np.real(fun(x)))(x)


def grad_named(fun: Function, argname: str) -> Function:
    """Like `grad`, but for an argument given by name, which is not in ``*args`` or ``**kwargs``.

    Examples
    --------
    >>> from wengert.compat.autograd import grad_named
    >>> grad_named(lambda a, b: a * b**2, "b")(1.0, 3.0)
    np.float64(6.0)
    """
    names = inspect.getfullargspec(fun).args
    if argname not in names:
        raise ValueError(f"{argname!r} is not in list: the arguments of the function are {names}")
    return grad(fun, names.index(argname))


@unary_to_nary
def hessian(fun: Function, x) -> Any:
    """Return a function that computes the Hessian of `fun`.

    Examples
    --------
    >>> from wengert.compat.autograd import hessian
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def make_hvp(fun: Function, x) -> Any:
    """Return a function that computes Hessian-vector products of `fun` at a point, and the
    gradient.

    Examples
    --------
    >>> from wengert.compat.autograd import make_hvp
    >>> hvp, gradient = make_hvp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    >>> gradient, hvp(np.array([1.0, 1.0]))
    (array([ 3., 12.]), array([ 6., 12.]))
    """
    return _make_vjp(grad(fun), x)


def hessian_tensor_product(fun: Function, argnum: int = 0) -> Function:
    """Return a function of ``(*args, tensor)`` that computes the Hessian of `fun` times the tensor.

    Examples
    --------
    >>> from wengert.compat.autograd import hessian_vector_product
    >>> hessian_vector_product(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    gradient = grad(fun, argnum)

    def vector_dot_grad(*given, **kwargs) -> Any:
        *args, vector = given
        return np.tensordot(gradient(*args, **kwargs), vector, np.ndim(vector))

    return grad(vector_dot_grad, argnum)


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun: Function, argnum: int = 0) -> Function:
    """Return a function of ``(*args, tensor)`` that computes the tensor times the Jacobian of
    `fun`.

    Examples
    --------
    >>> from wengert.compat.autograd import vector_jacobian_product
    >>> vector_jacobian_product(lambda x: x**2)(np.array([1.0, 2.0]), np.array([1.0, 10.0]))
    array([ 2., 40.])
    """

    def vector_dot_fun(*given, **kwargs) -> Any:
        *args, vector = given
        return np.tensordot(vector, fun(*args, **kwargs), axes=np.ndim(vector))

    return jacobian(vector_dot_fun, argnum)


vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: Function, x) -> Any:
    """Return a function that computes Jacobian-vector products at a point, by transposing twice.

    Examples
    --------
    >>> from wengert.compat.autograd.differential_operators import make_jvp_reversemode
    >>> make_jvp_reversemode(np.sin)(0.0)(2.0)
    np.float64(2.0)
    """
    vjp, y = _make_vjp(fun, x)
    transposed, _ = _make_vjp(vjp, vspace(y).zeros())
    return transposed


def _half_square(x) -> Any:
    return 0.5 * np.sum(x**2, axis=-1)


def make_ggnvp(f: Function, g: Function = _half_square, f_argnum: int = 0) -> Function:
    """Return a function that builds the Gauss-Newton vector product of ``g(f(x))`` at a point.

    Examples
    --------
    >>> from wengert.compat.autograd import make_ggnvp
    >>> make_ggnvp(lambda x: x**2)(np.array([1.0, 2.0]))(np.array([1.0, 1.0]))
    array([ 4., 16.])
    """

    @unary_to_nary
    def ggnvp_maker(f: Function, x) -> Function:
        f_vjp, f_x = _make_vjp(f, x)
        g_hvp, grad_g_x = _make_vjp(grad(g), f_x)
        f_jvp, _ = _make_vjp(f_vjp, vspace(grad_g_x).zeros())
        return lambda v: f_vjp(g_hvp(f_jvp(v)))

    return ggnvp_maker(f, f_argnum)


def multigrad_dict(fun: Function) -> Function:
    """Return a function that computes the gradients of all arguments, as a dict by name.

    Examples
    --------
    >>> from wengert.compat.autograd import multigrad_dict
    >>> dict(multigrad_dict(lambda a, b=2.0: a * b)(3.0))
    {'a': np.float64(2.0), 'b': np.float64(3.0)}
    """
    signature = inspect.signature(fun)

    def gradients(*args, **kwargs) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def of_arguments(values: dict[str, Any]) -> Any:
            again = inspect.BoundArguments(signature, OrderedDict(values))
            return fun(*again.args, **again.kwargs)

        return OrderedDict(grad(of_arguments)(dict(bound.arguments)))

    return gradients


def checkpoint(fun: Function) -> Function:
    """Wrap `fun` to keep only its arguments for the backward pass, which calls it again.

    Examples
    --------
    >>> from wengert.compat.autograd import checkpoint, grad
    >>> grad(checkpoint(lambda x: np.sin(x) ** 2))(0.0)
    np.float64(0.0)
    """

    def wrapped(*args, **kwargs) -> Any:
        return _checkpoint(fun, *args, use_reentrant=False, **kwargs)

    return wrapped


__all__ = defined(globals(), "hessian_vector_product make_jvp make_vjp vector_jacobian_product")
