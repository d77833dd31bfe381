"""Layer 0 · base: the messages of errors that several layers raise, in one place.

Where PyTorch has such an error, the message starts with its words, since programs match on them and
people search for them. The rest says what was found and what to do.
"""

from __future__ import annotations

from typing import Any

from wengert.base.names import INSTALLED


def kind_of(value: Any) -> str:
    """Return a value's type for messages: another library's ``Tensor`` with its module."""
    # a stand-in for a number in a trace reports the class of the number
    kind = value.__class__
    name, home = kind.__name__, kind.__module__.partition(".")[0]
    foreign = name in ("Tensor", "Parameter") and home not in ("wengert", *INSTALLED)
    return f"{kind.__module__}.{name}" if foreign else name


def wrong_type(op: str, arg: str, wanted: str, value: Any, position: int = 0) -> TypeError:
    """Return the error for an argument `value` that is not what the function `op` takes."""
    place = f" (position {position})" if position else ""
    return TypeError(f"{op}(): argument '{arg}'{place} must be {wanted}, not {kind_of(value)}")


def describe(array: Any) -> str:
    """Describe a tensor or array by type and shape, as ``float32 [3, 4]``."""
    return f"{getattr(array, 'dtype', type(array).__name__)} {list(getattr(array, 'shape', ()))}"


_TWICE = "Trying to backward through the graph a second time"
_MODIFIED = (
    "one of the variables needed for gradient computation has been modified by an inplace operation"
)


def is_spent(error: Exception) -> bool:
    """Return whether an error says that a graph's saved values were freed or modified."""
    return str(error).startswith((_TWICE, _MODIFIED))


def backward_twice(node: str, recorded_at: str = "") -> RuntimeError:
    """Return the error for a second walk over a graph whose saved values are freed."""
    at = f", recorded at {recorded_at}" if recorded_at else ""
    return RuntimeError(
        f"{_TWICE} (or directly access saved tensors after they have already been freed). Saved "
        "intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if "
        "you need to access saved tensors after calling backward.\n"
        f"  The values are gone that {node} had saved{at}. Usual causes: a value computed before a "
        "loop is used again in it (compute it inside, or detach() it); two losses share a part "
        "(call (loss1 + loss2).backward() once)."
    )


def modified_in_place(
    array: Any,
    origin: str,
    cell: Any,
    expected: int,
    node: str,
    name: str,
    saved_at: str = "",
    written_at: str = "",
) -> RuntimeError:
    """Return the error for a saved value modified between the forward and the backward pass."""
    origin = f", which is {origin}," if origin else ""
    kind = f"torch.{long_name(array.dtype)}Tensor {list(array.shape)}"
    advice = "Use an operation that is not in place, or clone() the tensor before changing it."
    if cell[1] == "step":
        advice = "Call backward() before step(), or compute the loss again after it."
    return RuntimeError(
        f"{_MODIFIED}: [{kind}]{origin} is at version {cell[0]}; expected version "
        f"{expected} instead.\n"
        f"  needed by {node}, as its '{name}'{f': {saved_at}' if saved_at else ''}\n"
        f"  changed by {cell[1] or 'an in-place operation'}"
        f"{f': {written_at}' if written_at else ''}\n  {advice}"
    )


def modified_unseen(array: Any) -> RuntimeError:
    """Return the error for a saved value modified where no version counts it."""
    kind = f"torch.{long_name(array.dtype)}Tensor {list(array.shape)}"
    return RuntimeError(
        f"{_MODIFIED}: [{kind}], in which a result of a compiled function lies.\n"
        "  changed by a write through .data or an array of NumPy\n"
        "  clone() the result before changing it."
    )


def no_gradient(index: int, array: Any, recording: bool, cuts: list[str]) -> RuntimeError:
    """Return the error for `backward` of a tensor without history.

    Parameters
    ----------
    index, array: The number of the tensor among several, and its payload.
    recording: Whether operations are recorded where the error is raised.
    cuts: Lines that show where graphs were recently cut.
    """
    first = f"element {index} of tensors does not require grad and does not have a grad_fn\n"
    if array.dtype.kind in "iub":
        kind = "boolean" if array.dtype.kind == "b" else "integer"
        return RuntimeError(
            f"{first}  {describe(array)}: {kind} values carry no gradient. Use a tensor of a "
            "floating dtype from before the conversion, comparison or argmax that gave them."
        )
    lines = [f"{first}  {describe(array)}: nothing was recorded for it."]
    if not recording:
        lines[0] += " Recording is switched off here, which backward() does not need."
    if cuts:
        lines.append(CUTS_BEFORE)
        lines += [f"    {line}" for line in cuts]
        lines.append("  If none of them is the cause, no input had requires_grad=True.")
    else:
        lines.append(
            "  Either no input had requires_grad=True, or the graph was cut on the way (no_grad, "
            "detach(), .data, numpy(), item(), an integer dtype)."
        )
    lines.append(f"  {HIDES}")
    return RuntimeError("\n".join(lines))


CUTS_BEFORE = (
    "  Where values that need a gradient left the graph in this thread, or recording was switched "
    "off; the last first:"
)
WRITTEN_ELSEWHERE = (
    "the memory of this tensor was modified by an inplace operation that was recorded on the other "
    "side of a transform or of make_dual() or unpack_dual(), where this tensor has no part in the "
    "history: use the tensor that was written to, or write to a clone() of it"
)
HIDES = "Setting requires_grad=True on it hides this error and trains nothing."


def not_a_scalar(shape: tuple[int, ...]) -> RuntimeError:
    """Return the error for `backward` without a gradient from a result that is not a scalar."""
    return RuntimeError(
        f"grad can be implicitly created only for scalar outputs, but got shape {list(shape)}\n"
        "  Use y.sum().backward(), or y.backward(gradient=v) with v of y's shape."
    )


def gradient_shape(leaf: Any, grad: Any) -> RuntimeError:
    """Return the error for a gradient of a wrong shape: some derivative rule is wrong."""
    return RuntimeError(
        f"a gradient of shape {list(grad.shape)} arrived at a leaf of shape {list(leaf.shape)}: "
        "the derivative rule of an operation that was applied to it is wrong"
    )


class NoHistory(RuntimeError, AssertionError):
    """A tensor without history where hooks for several gradients are registered.

    PyTorch asserts that it has one; users see the error of `register_hook`.
    """


def hook_shape(hook: Any, before: Any, after: Any) -> RuntimeError:
    """Return the error for a hook that returned a gradient of another shape."""
    return RuntimeError(
        f"hook '{getattr(hook, '__name__', hook)}' has changed the size of value: the gradient is "
        f"{describe(before)}, the hook returned {describe(after)}"
    )


_LONG_NAMES = {
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "bool": "Bool",
    "bfloat16": "BFloat16",
}


def long_name(dtype: Any) -> str:
    """Return the name that PyTorch's messages give to a dtype: ``Float`` for float32."""
    return _LONG_NAMES.get(dtype.name, dtype.name)


_C_NAMES = {
    "bool": "bool",
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def c_name(dtype: Any) -> str:
    """Return the name that some of PyTorch's messages give to a dtype: ``long int`` for int64."""
    return _C_NAMES.get(dtype.name, dtype.name)


def not_implemented(kernel: str, dtype: Any, advice: str) -> NotImplementedError:
    """Return the error of an operation that refuses a dtype, by the name of PyTorch's kernel."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{long_name(dtype)}': {advice}")


def overflow(dtype: Any, what: Any) -> RuntimeError:
    """Return the error for a number that does not fit into a tensor's dtype."""
    short = {"float16": "at::Half", "bfloat16": "at::BFloat16", "int32": "int"}
    name = f"{dtype.name}_t" if dtype.kind in "iu" else c_name(dtype)
    return RuntimeError(
        f"value cannot be converted to type {short.get(dtype.name, name)} without overflow: {what}"
    )


def cannot_cast(result: Any, have: Any) -> RuntimeError:
    """Return the error for an in-place operation whose result type its tensor cannot hold."""
    return RuntimeError(
        f"result type {long_name(result)} can't be cast to the desired output type "
        f"{long_name(have)}: use the operation that is not in place, or convert the tensor first"
    )


def view_refused(kind: str, label: str | None, index: int, changed: bool) -> RuntimeError:
    """Return the error for a write to a view that cannot follow it, or to its memory before.

    Parameters
    ----------
    kind
        The reason: it is one of ``"several"`` outputs, or was made in a ``"function"``, in
        ``"no_grad"`` mode or in ``"inference"`` mode.
    label, index: The node that recorded the view, and the output's number; None if none did.
    changed: Whether its memory has already been written to, rather than is about to be.
    """
    what = (
        "its base or another view of its base has been modified inplace"
        if changed
        else "is being modified inplace"
    )
    name = (label or "").removesuffix("Backward0").removesuffix("Backward")
    output = f"Output {index} of {name} is a view"
    # PyTorch's words for a view that was not recorded
    unrecorded = f"A view was created in no_grad mode and {what} with grad mode enabled"
    written = f"{output} and {what}" if label is not None else unrecorded
    if kind == "several":
        return RuntimeError(
            f"{written}. This view is the output of a function that returns multiple "
            "views. Such functions do not allow the output views to be modified inplace. You "
            "should replace the inplace operation by an out-of-place one."
        )
    if kind == "function":
        return RuntimeError(
            f"{written}. This view was created inside a custom Function (or because an "
            "input was returned as-is) and the autograd logic to handle view+inplace would "
            "override the custom backward associated with the custom Function, leading to "
            "incorrect gradients. This behavior is forbidden. You can fix this by cloning the "
            "output of the custom Function."
        )
    if kind == "part":
        return RuntimeError(
            f"what unpack_dual() took of a tensor {what} by what has a history, of which the whole "
            "would not know: clone() it first, or write to the whole"
        )
    where = "with grad mode enabled" if kind == "no_grad" else "in normal mode"
    block = kind if kind == "no_grad" else "inference_mode"
    start = "A view was" if label is None else f"{output} of a view which was"
    return RuntimeError(
        f"{start} created in {kind} mode and {what} {where}. Given that this use case is ambiguous "
        "and error-prone, it is forbidden. You can clarify your code by moving both the view and "
        f"the inplace either both inside the {block} block (if you don't want the inplace to be "
        "tracked) or both outside (if you want the inplace to be tracked)."
    )
