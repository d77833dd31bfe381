"""Layer 7 · autograd: Jacobians, Hessians and products with them, of functions of tensors.

`func` takes and returns tensors or tuples of tensors. Results have the matching structure: a tensor
for a tensor, a tuple for a tuple, and for Jacobians tuples of tuples, indexed by output first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from wengert.autograd.functional_blocks import (
    _construct_standard_basis_for as _construct_standard_basis_for,
)
from wengert.autograd.functional_blocks import by_columns, by_rows, refused
from wengert.autograd.functional_checks import (
    CONSTANT_GRADIENT,
    CONSTANT_JACOBIAN,
    NO_PATH,
    NO_PATH_BACK,
    NO_PATH_SECOND,
    NO_PATH_SECOND_BACK,
    called,
    check_outputs,
    check_vectors,
    filled,
    gradients,
    inputs_of,
    prepared_inputs,
    shown,
    single_output,
    unpacked,
    vector_of_inputs,
)
from wengert.autograd.functional_checks import nested_shown as _grad_postprocess  # noqa: F401
from wengert.autograd.functional_checks import nested_unpacked as _tuple_postprocess  # noqa: F401
from wengert.autograd.functional_checks import tuple_of as _as_tuple  # noqa: F401  for packages
from wengert.base.names import shows
from wengert.func.inputs import fresh
from wengert.ops.like import ones_like
from wengert.tape.levels import leads_outside
from wengert.tape.modes import enable_grad, is_recording
from wengert.types import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
__dir__ = shows(__all__)

_STRATEGIES = ("forward-mode", "reverse-mode")


def vjp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the value of `func` and the vector-Jacobian product.

    Parameters
    ----------
    %(several, differentiated)s
    v : Tensor or tuple of Tensor, optional. The vector, of the shapes of the outputs; a single
        output of one element needs none.
    %(create_graph)s
    strict : bool. Raise, instead of returning zeros, if no output depends on some input.

    Returns
    -------
    outputs : Tensor or tuple of Tensor. What `func` returned.
    vjp : Tensor or tuple of Tensor. The product, of the shapes and dtypes of the inputs.

    Raises
    ------
    TypeError: If inputs, outputs or `v` are not tensors, or lists of them in place of tuples.
    RuntimeError: If `v` is missing or of another size; if `func` writes to an input in place; in
        inference mode; and for what `strict` refuses.

    Examples
    --------
    >>> x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> wg.autograd.functional.vjp(lambda x: x.sum(dim=1), x, wg.tensor([1.0, 10.0]))
    (tensor([3., 7.]), tensor([[ 1.,  1.],
            [10., 10.]]))
    """
    with enable_grad():
        several_in, at = prepared_inputs(inputs, "vjp", create_graph)
        several_out, outputs = called(func, at, "vjp", strict)
        if v is not None:
            v = check_vectors(v, outputs, several_out, "vjp", create_graph)
        elif len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single "
                "Tensor with a single element. Give one tensor of the shape of each output."
            )
        grads = gradients(outputs, at, v, create_graph)
        product = filled(grads, at, strict, create_graph, NO_PATH)
    return (
        unpacked(shown(outputs, create_graph), several_out),
        unpacked(shown(product, create_graph), several_in),
    )


def jvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the value of `func` and the Jacobian-vector product.

    As in PyTorch, the product is computed by differentiating a backward pass: `func` may run
    backward passes itself, and its operations must be twice differentiable. `wengert.func.jvp`,
    which uses forward mode, is quicker.

    Parameters
    ----------
    func : callable. Takes the inputs, as many arguments, and returns a tensor or a tuple of
        tensors, floating or complex.
    %(differentiated, vector, create_graph)s
    strict : bool. Raise, instead of giving zeros, if some output depends on no input.

    Returns
    -------
    outputs : Tensor or tuple of Tensor. What `func` returned.
    jvp : Tensor or tuple of Tensor. The product, of the shapes and dtypes of the outputs.

    Raises
    ------
    TypeError: If inputs, outputs or `v` are not tensors, or lists of them in place of tuples.
    RuntimeError: If `v` is missing or of another size; if `func` writes to an input in place; if an
        output is neither floating nor complex; in inference mode; and for what `strict` refuses.

    Examples
    --------
    >>> x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> wg.autograd.functional.jvp(lambda x: (x * x).sum(dim=1), x, wg.ones(2, 2))
    (tensor([ 5., 25.]), tensor([ 6., 14.]))
    """
    with enable_grad():
        several_in, at = prepared_inputs(inputs, "jvp", create_graph)
        v = vector_of_inputs(v, at, several_in, "jvp", create_graph)
        several_out, outputs = called(func, at, "jvp", strict)
        # a function linear in `u` has the same derivative everywhere; masks would hide a zero
        u = tuple(ones_like(output, requires_grad=True) for output in outputs)
        transposed = gradients(outputs, at, u, create_graph=True)
        if strict:
            check_outputs(transposed, CONSTANT_GRADIENT)
        grads = gradients(transposed, u, v, create_graph)
        product = filled(grads, outputs, strict, create_graph, NO_PATH_BACK)
    return (
        unpacked(shown(outputs, create_graph), several_out),
        unpacked(shown(product, create_graph), several_out),
    )


@overload
def jacobian(
    func: Callable[[Tensor], Tensor],
    inputs: Tensor,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Tensor: ...
@overload
def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any: ...
def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the Jacobian of `func`: the derivatives of all output elements.

    Parameters
    ----------
    %(several, differentiated)s
    create_graph : bool. Make the result differentiable, with respect to the inputs and to other
        tensors that `func` uses and that require a gradient.
    strict : bool. Raise, instead of returning zeros, if some output does not depend on some input.
    vectorize : bool. Compute all rows or columns in one pass, under `vmap`, rather than one by one;
        required for forward mode and for complex outputs.
    strategy : {"reverse-mode", "forward-mode"}. Compute the Jacobian by rows, or by columns, which
        is quicker if there are more outputs than inputs. As in PyTorch, columns are differentiable
        without `create_graph`, and they have the dtype of the outputs, while rows have that of the
        inputs.

    Returns
    -------
    Tensor, or tuple of Tensor, or tuple of tuples of Tensor: ``jacobian[i][j]`` is the Jacobian of
        output ``i`` with respect to input ``j``, with the shape of the output followed by that of
        the input; there is no index for inputs or outputs that are not tuples.

    Raises
    ------
    AssertionError: If `strategy` is neither of the two.
    NotImplementedError: For forward mode with `create_graph` or without `vectorize`.
    TypeError: If inputs or outputs are not tensors, or lists of them in place of tuples.
    RuntimeError: If `strict` is used with `vectorize` or forward mode; for complex outputs without
        `vectorize`; if `func` writes to an input in place; in inference mode; and for what `strict`
        refuses.

    Examples
    --------
    >>> x, y = wg.tensor([1.0, 2.0]), wg.tensor(3.0)
    >>> wg.autograd.functional.jacobian(lambda x, y: x * x * y, (x, y))
    (tensor([[ 6.,  0.],
            [ 0., 12.]]), tensor([1., 4.]))
    """
    _check_strategy(strategy)
    if strategy == "forward-mode":
        return by_columns(func, inputs, create_graph, strict, vectorize)
    with enable_grad():
        several_in, at = prepared_inputs(inputs, "jacobian", create_graph)
        several_out, outputs = called(func, at, "jacobian", strict)
        if strict and vectorize:
            raise RuntimeError(refused("strict=True", "vectorized=True"))
        blocks = by_rows(outputs, at, create_graph, strict, vectorize)
    return unpacked(tuple(unpacked(block, several_in) for block in blocks), several_out)


def _check_strategy(strategy: str) -> None:
    if strategy not in _STRATEGIES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode", but got '
            f"{strategy!r}. Forward mode is the quicker one where there are more outputs than "
            "inputs."
        )


@overload
def hessian(
    func: Callable[[Tensor], Tensor],
    inputs: Tensor,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Tensor: ...
@overload
def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any: ...
def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the Hessian of `func`, whose output has one element.

    Parameters
    ----------
    %(one_element, differentiated)s
    create_graph : bool. Make the result differentiable, with respect to the inputs and other
        tensors that `func` uses and that require a gradient.
    strict : bool. Raise instead of giving zeros if the gradient of some input does not depend on
        some input.
    vectorize : bool. As in `jacobian`.
    outer_jacobian_strategy : {"reverse-mode", "forward-mode"}. How the Jacobian of the gradient is
        computed; see `jacobian`.

    Returns
    -------
    Tensor or tuple of tuples of Tensor: ``hessian[i][j]`` is the Jacobian, with respect to input
        ``j``, of the gradient with respect to input ``i``; without indices for a single input that
        is not a tuple.

    Raises
    ------
    AssertionError, NotImplementedError, TypeError: As `jacobian` does.
    RuntimeError: If `func` returns several tensors or not one element; and as `jacobian` does.

    Examples
    --------
    >>> wg.autograd.functional.hessian(lambda x: (x**3).sum(), wg.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    _check_strategy(outer_jacobian_strategy)
    several, tensors = inputs_of(inputs, "hessian")

    forward = outer_jacobian_strategy == "forward-mode"
    recording = is_recording()

    def gradient(*arguments: Any) -> tuple[Any, ...]:
        with enable_grad():
            at = tuple(
                fresh(argument, "hessian") if forward else argument.view_as(argument)
                for argument in arguments
            )
            output = single_output(*called(func, at, "hessian", strict), "hessian")
            keep = not forward or (recording and leads_outside((output,), at))
            grads = gradients((output,), at, create_graph=keep)
        result = filled(grads, at, False, False, NO_PATH)
        if strict:
            check_outputs(result, CONSTANT_JACOBIAN)
        return result

    result = jacobian(gradient, tensors, create_graph, strict, vectorize, outer_jacobian_strategy)
    return result if several else result[0][0]


def vhp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the value of `func`, which has one element, and the vector-Hessian product.

    Parameters
    ----------
    %(one_element, differentiated, vector, create_graph, strictly)s
    vhp : Tensor or tuple of Tensor. The product, of the shapes and dtypes of the inputs.

    Raises
    ------
    TypeError, RuntimeError: As `vjp` does; and RuntimeError if `func` returns several tensors, or
        not one element.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0])
    >>> wg.autograd.functional.vhp(lambda x: (x**3).sum(), x, wg.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        several, at = prepared_inputs(inputs, "vhp", create_graph)
        v = vector_of_inputs(v, at, several, "vhp", create_graph)
        output = single_output(*called(func, at, "vhp", strict), "vhp")
        gradient = gradients((output,), at, create_graph=True)
        if strict:
            check_outputs(gradient, CONSTANT_JACOBIAN)
        grads = gradients(gradient, at, v, create_graph)
        product = filled(grads, at, strict, create_graph, NO_PATH_SECOND)
    (output,) = shown((output,), create_graph)
    return output, unpacked(shown(product, create_graph), several)


def hvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the value of `func`, which has one element, and the Hessian-vector product.

    The product is `jvp` of the gradient. For a twice continuously differentiable function the
    Hessian is symmetric, and `vhp` gives the same result at a lower cost.

    Parameters
    ----------
    %(one_element, differentiated, vector, create_graph, strictly)s
    hvp : Tensor or tuple of Tensor. The product, of the shapes and dtypes of the inputs.

    Raises
    ------
    TypeError, RuntimeError: As `vhp` does.

    Examples
    --------
    >>> x, y = wg.tensor([1.0, 2.0]), wg.tensor(3.0)
    >>> f = lambda x, y: (x * x).sum() * y
    >>> wg.autograd.functional.hvp(f, (x, y), (wg.ones(2), wg.tensor(0.0)))
    (tensor(15.), (tensor([6., 6.]), tensor(6.)))
    """
    with enable_grad():
        several, at = prepared_inputs(inputs, "hvp", create_graph)
        v = vector_of_inputs(v, at, several, "hvp", create_graph)
        output = single_output(*called(func, at, "hvp", strict), "hvp")
        gradient = gradients((output,), at, create_graph=True)
        if strict:
            check_outputs(gradient, CONSTANT_JACOBIAN)
        # as in `jvp`
        u = tuple(ones_like(tensor, requires_grad=True) for tensor in at)
        transposed = gradients(gradient, at, u, create_graph=True)
        grads = gradients(transposed, u, v, create_graph)
        product = filled(grads, at, strict, create_graph, NO_PATH_SECOND_BACK)
    (output,) = shown((output,), create_graph)
    return output, unpacked(shown(product, create_graph), several)
