"""Layer 9 · compat: custom derivatives: `custom_gradient` and functions built on it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NoReturn

from wengert.autograd.function import Function
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import nest, recording
from wengert.compat.tensorflow.conversion import convert_to_tensor, identity
from wengert.compat.tensorflow.functions.creation import zeros_like
from wengert.compat.tensorflow.tape import GradientTape, UnconnectedGradients
from wengert.compat.tensorflow.tensor import made, tensor_of
from wengert.compat.tensorflow.variable import READERS
from wengert.compat.tensorflow.words import refusal
from wengert.tape.base import new_tensor


class _Custom(Function):
    """The node of a call of a function with a custom gradient."""

    @staticmethod
    def forward(ctx, call: _Call, *inputs) -> Any:
        """Return the results, which have already been computed."""
        ctx.call = call
        return tuple([new_tensor(value._payload) for value in call.values])

    @staticmethod
    def backward(ctx, *cotangents) -> Any:
        """Return the user's gradients."""
        return (None, *ctx.call.gradients(cotangents))


class _Call:
    """One call of a function with a custom gradient."""

    def __init__(
        self,
        name: str,
        values: list[Any],
        grad_fn: Callable[..., Any],
        count: int,
        variables: list[Any],
    ) -> None:
        self.name = name
        self.values = values
        self.grad_fn = grad_fn
        self.count = count
        self.variables = variables

    def gradients(self, cotangents: tuple[Any, ...]) -> list[Any]:
        """Return the gradients of the arguments and of the variables, as operands."""
        upstream = [made(new_tensor(g._payload, g._edge, g._vc)) for g in cotangents]
        if self.variables:
            both = self.grad_fn(*upstream, variables=self.variables)
            if not isinstance(both, list | tuple) or len(both) != 2:
                raise refusal(ValueError, "the gradient function", self.name)
            grads, of_variables = both
            of_variables = list(of_variables) if of_variables is not None else []
            if len(of_variables) != len(self.variables):
                raise ValueError(
                    "Must return gradient for each variable from @custom_gradient grad_fn: "
                    f"{self.name} uses {len(self.variables)}, and {len(of_variables)} came."
                )
        else:
            grads, of_variables = self.grad_fn(*upstream), []
        flat = nest.flatten(grads)
        if len(flat) != self.count:
            raise refusal(
                ValueError, "custom_gradient function expected", self.count, len(flat), self.name
            )
        return [None if g is None else tensor_of(g) for g in (*flat, *of_variables)]


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorate a function that returns ``(result, grad_fn)`` to use `grad_fn` as its gradient.

    Parameters
    ----------
    f : callable. The function `grad_fn` that it returns takes one cotangent for each result, and
        returns one gradient for each argument. If `f` reads trainable variables that are not
        arguments, `grad_fn` must take a keyword ``variables`` and return a pair: the gradients of
        the arguments, and a list of the gradients of the variables.

    Returns
    -------
    callable: Returns only the first result of `f`. Outer tapes record the operations of `grad_fn`,
        so higher derivatives are the derivatives of `grad_fn`.

    Raises
    ------
    TypeError: From a call, if `f` reads variables and `grad_fn` has no keyword ``variables``.
    ValueError: From a gradient, if `grad_fn` does not return one gradient for each argument.

    Examples
    --------
    >>> @tf.custom_gradient
    ... def clipped(x):
    ...     return x, lambda upstream: tf.clip_by_value(upstream, -1.0, 1.0)
    >>> x = tf.Variable(2.0)
    >>> with tf.GradientTape() as tape:
    ...     y = 5.0 * clipped(x)
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=1.0>
    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args, **kwargs) -> Any:
        readers: list[Any] = []
        token = READERS.set((*READERS.get(), readers))
        try:
            returned = f(*args, **kwargs)
        finally:
            READERS.reset(token)
        if not (isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1])):
            raise refusal(TypeError, "{} must return", _name(f), type(returned).__name__)
        result, grad_fn = returned
        flat = nest.flatten(args)
        given = [*flat, *nest.flatten(kwargs)]
        variables: list[Any] = []
        for variable in readers:
            if not any(_same(variable, other) for other in [*given, *variables]):
                variables.append(variable)
        if variables and not _takes_variables(grad_fn):
            raise refusal(TypeError, "@tf.custom_gradient grad_fn must", variables)
        values = [convert_to_tensor(value) for value in nest.flatten(result)]
        call = _Call(_name(f), values, grad_fn, len(flat), variables)
        return nest.pack_sequence_as(result, _applied(call, [*flat, *variables]))

    return decorated


def _applied(call: _Call, inputs: list[Any]) -> list[Any]:
    """Return the user's view of the results, recorded as one operation.

    Forward accumulators differentiate the operations inside the function, as in TensorFlow; only
    the reverse mode uses the user's gradient. Where they saw no operations, tangents are computed
    by the transpose of the user's gradient.
    """
    lifts = recording.lifts_now()
    batches = tuple(lift for lift in lifts if isinstance(lift, recording.BatchLift))
    with recording.within(stack=batches):
        operands = [tensor_of(value) for value in inputs]
        node: Any
        outputs, node = _Custom._applied((call, *operands))
        results = [made(output) for output in outputs]
    if node._recorded:
        # the gradients are values of these levels: the engine must not unwrap them
        node._inputs_levels = [*node._inputs_levels, *(lift.level for lift in lifts)]
    else:
        # no tape follows an argument: values that the function closes over count, as in TensorFlow
        results = [identity(value) for value in call.values]
    for lift in [one for one in lifts if isinstance(one, recording.TangentLift)]:
        tangents = lift.tangents
        found = [tangents.get(value) for value in call.values]
        if all(tangent is None for tangent in found):
            with recording.within(stack=tuple(one for one in lifts if one is not lift)):
                found = _transposed(call, [tangents.get(getattr(x, "handle", x)) for x in inputs])
        for result, tangent in zip(results, found, strict=True):
            if tangent is not None:
                tangents.put(result, tangent)
    return results


def _transposed(call: _Call, directions: list[Any]) -> list[Any]:
    """Map the tangents of the arguments to those of the results, by the user's gradient."""
    seeds = [zeros_like(value) for value in call.values]
    if all(direction is None for direction in directions):
        return [None] * len(seeds)
    with GradientTape() as tape:
        tape.watch(seeds)
        both = zip(call.gradients(tuple(seeds)), directions, strict=True)
    pairs = [(g, d) for g, d in both if g is not None and d is not None]
    grads, given = ([pair[i] for pair in pairs] for i in (0, 1))
    return list(tape.gradient(grads, seeds, output_gradients=given))


def _name(f) -> str:
    return getattr(f, "__name__", type(f).__name__)


def _same(a, b) -> bool:
    return a is b or getattr(a, "_cell", a) is getattr(b, "_cell", b)


def _takes_variables(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.kind is p.VAR_KEYWORD or p.name == "variables" for p in parameters)


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `f` to save no intermediate values; its gradient calls `f` again.

    Parameters
    ----------
    f : callable. Takes and returns tensors or nested structures of them; may read variables.

    Examples
    --------
    >>> f = tf.recompute_grad(lambda x: tf.sin(tf.sin(x)))
    >>> x = tf.Variable(0.0)
    >>> with tf.GradientTape() as tape:
    ...     y = f(x)
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=1.0>
    """

    @custom_gradient
    @functools.wraps(f)
    def inner(*args, **kwargs) -> Any:
        with recording.within(tapes=()):
            result = f(*args, **kwargs)

        def gradient(*upstream, variables=None) -> Any:
            """Return the gradients, from a second computation."""
            own = [] if variables is None else list(variables)
            with GradientTape() as tape:
                again = nest.map_structure(
                    lambda arg: identity(arg) if _is_differentiable(arg) else arg, args
                )
                sources = [arg for arg in nest.flatten(again) if _is_differentiable(arg)]
                tape.watch(sources)
                tape.watch(own)
                output = f(*again, **kwargs)
                found = tape.gradient(
                    nest.flatten(output),
                    [*sources, *own],
                    output_gradients=list(upstream),
                    unconnected_gradients=UnconnectedGradients.ZERO,
                )
            grads = iter(found)
            by_args = [
                next(grads) if _is_differentiable(arg) else None for arg in nest.flatten(again)
            ]
            return (by_args, list(grads)) if variables is not None else by_args

        return result, gradient

    return inner


def _is_differentiable(value) -> bool:
    dtype = getattr(value, "dtype", None)
    return getattr(dtype, "is_floating", False) or getattr(dtype, "is_complex", False)


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `f` so that its gradient is the gradient of the identity.

    Examples
    --------
    >>> x = tf.Variable(1.5)
    >>> with tf.GradientTape() as tape:
    ...     y = tf.grad_pass_through(tf.round)(x)
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=1.0>
    """

    @custom_gradient
    @functools.wraps(f)
    def passing(*args, **kwargs) -> Any:
        def gradient(*upstream, variables=None) -> Any:
            """Return the cotangents unchanged; variables get none."""
            if variables is not None:
                return upstream, [None] * len(variables)
            return upstream

        return f(*args, **kwargs), gradient

    return passing


def gradients(*args, **kwargs) -> NoReturn:
    """Raise an error, as in eager TensorFlow.

    Raises
    ------
    RuntimeError: Always.
    """
    raise refusal(RuntimeError, "tf.gradients is not")


def hessians(*args, **kwargs) -> NoReturn:
    """Raise an error; compute a Hessian with two nested tapes and ``jacobian``.

    Raises
    ------
    RuntimeError: Always.
    """
    raise refusal(RuntimeError, "tf.hessians is not")


def no_gradient(op_type) -> NoReturn:
    """Raise an error: operations have no registered names here.

    Raises
    ------
    NotImplementedError: Always.
    """
    raise refusal(NotImplementedError, "tf.no_gradient names an")


class RegisterGradient:
    """Raise an error: operations have no registered names here."""

    def __init__(self, op_type: str) -> None:
        raise refusal(NotImplementedError, "tf.RegisterGradient names an")


__all__ = defined(globals())
