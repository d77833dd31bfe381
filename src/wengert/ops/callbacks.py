"""Layer 5 · ops: methods that call Python for each element, share memory, or load a state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.export import export
from wengert.base.shapes import expanded
from wengert.interp.levels import is_elsewhere, memory_of
from wengert.kernels.shared import in_shared_memory, shared_memory_of
from wengert.ops.create import from_numpy
from wengert.tape.modes import no_grad, untraced
from wengert.tape.views import has_views


@export("Tensor")
def apply_(input: Any, callable: Callable[[Any], Any]) -> Any:
    """Replace each element by a function of it, which Python calls for each: it is slow.

    Parameters
    ----------
    callable : callable. Takes and gives a number.

    Raises
    ------
    TypeError: If the tensor requires a gradient, which would be lost.

    Examples
    --------
    >>> wg.tensor([1.0, 72.0]).apply_(lambda x: x + 1)
    tensor([ 2., 73.])
    """
    return _called("apply_", input, (), callable)


@export("Tensor")
def map_(input: Any, tensor: Any, callable: Callable[[Any, Any], Any]) -> Any:
    """Replace each element by a function of it and of the element of another tensor.

    Parameters
    ----------
    tensor : Tensor. Of a shape that broadcasts to this one's.
    callable : callable. Takes two numbers and gives one.

    Raises
    ------
    TypeError: If one of the tensors requires a gradient.

    Examples
    --------
    >>> wg.tensor([1.0, 67.0]).map_(wg.tensor([71.0, 4.0]), max)
    tensor([71., 67.])
    """
    return _called("map_", input, (tensor,), callable)


@export("Tensor")
def map2_(input: Any, x: Any, y: Any, callable: Callable[[Any, Any, Any], Any]) -> Any:
    """Replace each element by a function of it and of the elements of two other tensors.

    Parameters
    ----------
    x, y : Tensor. Of shapes that broadcast to this one's.
    callable : callable. Takes three numbers and gives one.

    Examples
    --------
    >>> seven = wg.full((1,), 7.0)
    >>> seven.clone().map2_(seven, seven, lambda a, b, c: a + b * c)
    tensor([56.])
    """
    return _called("map2_", input, (x, y), callable)


def _called(name: str, input: Any, others: tuple[Any, ...], function: Callable[..., Any]) -> Any:
    untraced(f"{name} calls a function for each element")
    if any(tensor._edge is not None for tensor in (input, *others)):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad: the gradient would be lost. "
            f"Use tensor.detach().{name}() instead."
        )
    own = memory_of(input._array())
    for other in others:
        expanded(other._payload.shape, own.shape)
    arrays = [own, *(np.broadcast_to(memory_of(other._array()), own.shape) for other in others)]
    rows = zip(*(array.ravel().tolist() for array in arrays), strict=True)
    values = [function(*row) for row in rows]
    for value in values:
        if isinstance(value, str | bytes):  # which NumPy would read
            raise TypeError(f"must be real number, not {type(value).__name__}")
    made = np.array(values, own.dtype).reshape(own.shape)
    with no_grad():
        input.copy_(from_numpy(made))
    return input


@export("Tensor")
def module_load(input: Any, other: Any, assign: bool = False) -> Any:
    """Return what replaces this tensor where `load_state_dict` loads `other` and swaps tensors.

    Classes with ``__torch_function__`` override it; it must return neither of the two.

    Parameters
    ----------
    assign : bool. Whether `other` is taken, rather than copied into this tensor.

    Examples
    --------
    >>> wg.zeros(2).module_load(wg.ones(2))
    tensor([1., 1.])
    """
    return other.detach() if assign else input.copy_(other).detach()


@export("Tensor")
def share_memory_(input: Any) -> Any:
    """Move the elements to memory that other processes see, and that they may write to.

    Processes that are forked have the tensor; through ``wengert.multiprocessing`` it also
    reaches those that are spawned, or that get it from a queue. Arrays and tensors that lay in
    the same memory stay where they are, and so do tensors on a GPU.

    Raises
    ------
    RuntimeError: If the tensor is a view, or has views.

    Examples
    --------
    >>> weight = wg.zeros(2).share_memory_()
    >>> weight.is_shared()
    True
    """
    untraced("it moves memory")
    if is_elsewhere(input._payload):
        return input
    own = memory_of(input._array())
    if shared_memory_of(own) is None:
        if (input._ext is not None and input._ext.base is not None) or has_views(input):
            raise RuntimeError(
                "share_memory_(): the tensor is a view or has views, which would stay in "
                "memory of their own: share a clone()"
            )
        input._payload = in_shared_memory(own)
    return input


@export("Tensor")
def is_shared(input: Any) -> bool:
    """Return whether the memory is shared with other processes; see `share_memory_`."""
    untraced("it asks where its memory lies")
    array = input._array()
    return is_elsewhere(array) or shared_memory_of(memory_of(array)) is not None
