"""Layer 7 · autograd: checks and results shared by `wengert.autograd.functional`.

It checks inputs and vectors, enforces strict mode, and prepares the results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.ops.like import zeros_like
from wengert.tape.backward import run_grad
from wengert.tape.base import TensorBase, alike
from wengert.tape.inference import is_inference_mode_enabled

_STRICT = "This is not allowed in strict mode"

NO_PATH = (
    "The output of the user-provided function is independent of input {i}. "
    f"{_STRICT}; with strict=False the result is zeros."
)
NO_PATH_BACK = (
    "The gradient with respect to the input is independent of entry {i} in the grad_outputs, "
    f"which the jvp is taken by. {_STRICT}."
)
NO_PATH_FROM = (
    "Output {number} of the user-provided function is independent of input {{i}}. "
    f"{_STRICT}; with strict=False the result is zeros."
)
NO_PATH_SECOND = (
    "The jacobian of the user-provided function is independent of input {i}. "
    f"{_STRICT}; with strict=False the result is zeros."
)
NO_PATH_SECOND_BACK = (
    "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian, "
    f"which the product is taken by. {_STRICT}; with strict=False the result is zeros."
)
CONSTANT_GRADIENT = (
    "The gradient with respect to input {i} is independent of the inputs of the user-provided "
    f"function. {_STRICT}."
)
CONSTANT_JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with "
    f"respect to input {{i}} is independent of the input. {_STRICT}: the function must not be "
    "linear, and must be differentiable twice."
)
_NO_GRADIENT = (
    "Output {i} of the user-provided function does not require gradients. "
    f"{_STRICT}: compute it from the inputs by differentiable operations."
)


# -- arguments -----------------------------------------------------------------------------------


def as_tuple(value: Any, what: str, function: str) -> tuple[bool, tuple[Any, ...]]:
    """Return whether `value` is a tuple, and its tensors as a tuple."""
    several = isinstance(value, tuple)
    values = value if several else (value,)
    for i, item in enumerate(values):
        if not isinstance(item, TensorBase):
            which = f"value at index {i}" if several else f"given {what}"
            hint = ". Make a tuple of the list" if isinstance(item, list) else ""
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but "
                f"the {which} has type {type(item)}{hint}."
            )
    return several, values


def prepared(tensors: Sequence[Any], connect: bool, track: bool) -> tuple[Any, ...]:
    """Return new tensors over the memory of `tensors`.

    They are new to distinguish an input from the same tensor that the function closes over.

    Parameters
    ----------
    tensors: Inputs or vectors.
    connect: Whether results should have derivatives with respect to those of `tensors` that require
        a gradient.
    track: Whether the others should require a gradient, too.
    """
    return tuple(
        tensor.view_as(tensor)
        if connect and tensor.requires_grad
        else tensor.detach().requires_grad_(track)
        for tensor in tensors
    )


def inputs_of(inputs: Any, function: str) -> tuple[bool, tuple[Any, ...]]:
    """Return whether `inputs` is a tuple, and its checked tensors."""
    several, tensors = as_tuple(inputs, "inputs", function)
    if not tensors:
        raise RuntimeError(
            f"`inputs` argument to `{function}()` cannot be empty: give a Tensor or a tuple of them"
        )
    if is_inference_mode_enabled():
        # the function would run unrecorded, and every derivative would seem to be zero
        raise RuntimeError(
            f"{function} needs to record the function, which inference mode does not do. Leave it "
            "first: with inference_mode(False)"
        )
    return several, tensors


def prepared_inputs(inputs: Any, function: str, connect: bool) -> tuple[bool, tuple[Any, ...]]:
    """Return whether `inputs` is a tuple, and new tensors in its place that require a gradient."""
    several, tensors = inputs_of(inputs, function)
    return several, prepared(tensors, connect, track=True)


def called(
    func: Callable[..., Any], inputs: tuple[Any, ...], function: str, strict: bool
) -> tuple[bool, tuple[Any, ...]]:
    """Call `func`; return whether its result is a tuple, and the result."""
    before = [tensor._edge for tensor in inputs]
    several, outputs = as_tuple(func(*inputs), "outputs of the user-provided function", function)
    for i, (tensor, edge) in enumerate(zip(inputs, before, strict=True)):
        if tensor._edge is not edge and tensor._edge is not None:
            # its gradient would now be that of the value after the write
            raise RuntimeError(
                f"Input {i} of the function given to {function} was written to in place by the "
                "function, so derivatives with respect to its old value are lost. Let the "
                "function write to a copy: x = x.clone()"
            )
    if strict:
        check_outputs(outputs, _NO_GRADIENT)
    return several, outputs


def single_output(several: bool, outputs: tuple[Any, ...], function: str) -> Any:
    """Return the only output of a function, of one element, as Hessians require."""
    if several:
        raise RuntimeError(
            f"The function given to {function} should return a single Tensor, but it returned a "
            f"tuple of {len(outputs)}"
        )
    (output,) = outputs
    if output.numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {function} should contain a single "
            f"element, but its shape is {tuple(output.shape)}"
        )
    return output


def check_vectors(
    v: Any, others: tuple[Any, ...], several: bool, function: str, connect: bool
) -> tuple[Any, ...]:
    """Return the checked vector of a product: tensors of the sizes of `others`."""
    _, given = as_tuple(v, "v", function)
    if len(given) != len(others):
        if several:
            raise RuntimeError(
                f"v is a tuple of invalid length: should be {len(others)} but got {len(given)}."
            )
        raise RuntimeError(
            f"The given v should contain a single Tensor, but it has {len(given)} of them."
        )
    for i, (vector, other) in enumerate(zip(given, others, strict=True)):
        if vector.shape != other.shape:
            entry = f"Entry {i} in " if several else ""
            raise RuntimeError(
                f"{entry}v has invalid size: should be {other.shape} but got {vector.shape}."
            )
    return prepared(given, connect, track=False)


def vector_of_inputs(
    v: Any, at: tuple[Any, ...], several: bool, function: str, create_graph: bool
) -> tuple[Any, ...] | None:
    """Return the vector of a product with a Jacobian or Hessian; None if it is not needed."""
    if v is not None:
        return check_vectors(v, at, several, function, create_graph)
    if len(at) != 1 or at[0].numel() != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single "
            "Tensor with a single element. Give one tensor of the shape of each input."
        )
    return None


# -- gradients and strict mode ---------------------------------------------------------------------


def gradients(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    vectors: Sequence[Any] | None = None,
    create_graph: bool = False,
    keep: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of `outputs` with respect to `inputs`; None where there is no path.

    None and tensors without history among `outputs` contribute nothing.
    """
    vectors = [None] * len(outputs) if vectors is None else vectors
    pairs = [
        (output, vector)
        for output, vector in zip(outputs, vectors, strict=True)
        if output is not None and output.requires_grad
    ]
    if not pairs or not inputs:
        return (None,) * len(inputs)
    sources, seeds = zip(*pairs, strict=True)
    return tuple(run_grad(sources, inputs, seeds, keep or create_graph, create_graph))


def check_outputs(tensors: Sequence[Any], message: str) -> None:
    """Refuse tensors that do not depend on the inputs, for strict mode."""
    for i, tensor in enumerate(tensors):
        if tensor is None:
            raise RuntimeError(NO_PATH.format(i=i))
        if not tensor.requires_grad:
            raise RuntimeError(message.format(i=i))


def filled(
    grads: Sequence[Any], like: Sequence[Any], strict: bool, create_graph: bool, missing: str
) -> tuple[Any, ...]:
    """Return `grads` with zeros in place of None, or raise `missing` in strict mode."""
    if strict:
        for i, grad in enumerate(grads):
            if grad is None:
                raise RuntimeError(missing.format(i=i))
            if create_graph and not grad.requires_grad:
                what = "hessian" if missing in (NO_PATH_SECOND, NO_PATH_SECOND_BACK) else "jacobian"
                raise RuntimeError(
                    f"The {what} of the user-provided function is independent of input {i}. "
                    f"{_STRICT} when create_graph=True."
                )
    return tuple(
        zeros_like(other) if grad is None else alike(grad, other)
        for grad, other in zip(grads, like, strict=True)
    )


# -- results -------------------------------------------------------------------------------------


def shown(tensors: Sequence[Any], create_graph: bool) -> tuple[Any, ...]:
    """Return results for the user, without history unless `create_graph` is true."""
    return tuple(tensors) if create_graph else tuple(tensor.detach() for tensor in tensors)


def unpacked(values: tuple[Any, ...], several: bool) -> Any:
    """Return the only value, or the tuple if there may be `several`."""
    return values if several else values[0]


def tuple_of(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> Any:
    """As `as_tuple`; without names the tuple alone, of anything."""
    if arg_name is not None and fn_name is not None:
        return as_tuple(inp, arg_name, fn_name)
    return tuple(inp) if isinstance(inp, tuple | list) else (inp,)


def nested_shown(tensors: Any, create_graph: bool) -> Any:
    """As `shown`, of tuples of results too."""
    if isinstance(tensors[0], TensorBase):
        return shown(tensors, create_graph)
    return tuple(shown(part, create_graph) for part in tensors)


def nested_unpacked(values: Any, several: Any) -> Any:
    """As `unpacked`; a pair of flags is for tuples of tuples."""
    if not isinstance(several, tuple):
        return unpacked(values, several)
    return unpacked(tuple(unpacked(part, several[1]) for part in values), several[0])
