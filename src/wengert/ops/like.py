"""Layer 5 · ops · creation: tensors with the shape and dtype, or only the dtype, of another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.export import export
from wengert.base.memory_format import check_memory_format, empty_in_format, preserve_format
from wengert.base.sections import named
from wengert.base.settings import unwritten
from wengert.interp.levels import Lifted
from wengert.kernels.create import dense_order
from wengert.ops.convert import to_array
from wengert.ops.create import COPY_CONSTRUCT, copied, empty, filled, full, ones, zeros
from wengert.ops.options import beside, check_strided, input_tensor, made, number, type_of
from wengert.ops.strided import empty_strided
from wengert.tape.base import TensorBase
from wengert.tape.detachments import note
from wengert.tape.sites import warn


def memory_like(function: str, input: Any, dtype: Any, memory_format: Any = None) -> Any:
    """Return uninitialised memory with the layout of a tensor's, or in another order."""
    payload = input_tensor(function, input)._payload
    kind = payload.dtype if dtype is None else type_of(dtype)
    if isinstance(payload, Lifted) and payload.traced:
        payload = payload.array
    if memory_format is not None and memory_format is not preserve_format:
        order = check_memory_format(memory_format, function, payload.ndim)
        return empty_in_format(payload.shape, kind, order)
    if isinstance(payload, np.ndarray):
        return np.empty_like(payload, kind, order=dense_order(payload))
    return np.empty(payload.shape, kind)


@export("wengert")
def zeros_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """Return zeros with the shape and dtype of a tensor.

    Parameters
    ----------
    input : Tensor. The tensor whose shape and dtype to use; not recorded.
    %(other_dtype, device, requires_grad, returns_leaf)s

    Examples
    --------
    >>> wg.zeros_like(wg.tensor([1, 2]))
    tensor([0, 0])
    """
    array = memory_like("zeros_like", input, dtype, memory_format)
    array.fill(0)
    return made(array, beside(device, input), requires_grad, layout)


@export("wengert")
def ones_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """Return ones with the shape and dtype of a tensor; arguments as for `zeros_like`.

    Examples
    --------
    >>> wg.ones_like(wg.tensor([0.5, 2.0]))
    tensor([1., 1.])
    """
    if layout is not None:
        check_strided(layout, "ones_like")
    array = memory_like("ones_like", input, dtype, memory_format)
    array.fill(1)
    return made(array, beside(device, input), requires_grad)


@export("wengert")
def empty_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """Return unset memory of the shape and dtype of a tensor; arguments as for `zeros_like`.

    Examples
    --------
    >>> wg.empty_like(wg.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    array = unwritten(memory_like("empty_like", input, dtype, memory_format))
    if layout is not None:
        array[...] = 0  # a sparse tensor holds no elements
    return made(array, beside(device, input), requires_grad, layout)


@export("wengert")
def full_like(
    input: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """Return a tensor of another's shape and dtype with one value; arguments as for `zeros_like`.

    Parameters
    ----------
    fill_value : number. The value of every element.

    Examples
    --------
    >>> wg.full_like(wg.ones(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    if layout is not None:
        check_strided(layout, "full_like")
    array = filled(memory_like("full_like", input, dtype, memory_format), number(fill_value))
    return made(array, beside(device, input), requires_grad)


# -- of another tensor's dtype --------------------------------------------------------------------


def _kind_of(input: Any, dtype: Any) -> np.dtype[Any]:
    return input._payload.dtype if dtype is None else type_of(dtype)


def _like(input: Any, dtype: Any, layout: Any, device: Any, requires_grad: bool) -> dict[str, Any]:
    """Return the options of a tensor that is like `input`, unless specified otherwise."""
    options = {"dtype": _kind_of(input, dtype), "device": beside(device, input)}
    return {**options, "layout": layout, "requires_grad": requires_grad}


def _new(make: Callable[..., Any], what: str, example: str, shown: str) -> Callable[..., Any]:
    def function(
        input: Any,
        *shape: Any,
        size: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: Any = None,
        requires_grad: bool = False,
    ) -> Any:
        """Return {what} of any shape and of a tensor's dtype.

        Examples
        --------
        >>> wg.{example}
        {shown}
        """
        return make(*shape, size=size, **_like(input, dtype, layout, device, requires_grad))

    return named(function, f"new_{make.__name__}", what=what, example=example, shown=shown)


new_zeros = _new(
    zeros,
    "zeros",
    "ones(1, dtype=wg.float64).new_zeros(2)",
    "tensor([0., 0.], dtype=torch.float64)",
)
new_ones = _new(ones, "ones", "ones(1, dtype=wg.int64).new_ones((2,))", "tensor([1, 1])")
new_empty = _new(
    empty, "uninitialised memory", "ones(1).new_empty(2, 3).shape", "torch.Size([2, 3])"
)
export("Tensor")(new_zeros, new_ones, new_empty)


@export("Tensor")
def new_empty_strided(
    input: Any,
    size: Any,
    stride: Any,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return an uninitialised tensor of this tensor's dtype with these strides.

    Examples
    --------
    >>> wg.ones(1).new_empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    return empty_strided(
        size,
        stride,
        dtype=_kind_of(input, dtype),
        device=beside(device, input),
        requires_grad=requires_grad,
    )


@export("Tensor")
def new_full(
    input: Any,
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return a tensor of any shape filled with one value, in this tensor's dtype.

    Examples
    --------
    >>> wg.ones(1).new_full((2,), 3)
    tensor([3., 3.])
    """
    return full(size, fill_value, **_like(input, dtype, layout, device, requires_grad))


@export("Tensor")
def new_tensor(
    input: Any,
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Any:
    """Return a copy of `data` in a tensor's dtype: the method ``input.new_tensor(data)``.

    Examples
    --------
    >>> wg.ones(1).new_tensor([1, 2])
    tensor([1., 2.])
    """
    kind = _kind_of(input, dtype)
    if isinstance(data, TensorBase):
        warn(COPY_CONSTRUCT.format("tensor.new_tensor"), UserWarning)
        if data._edge is not None:
            note(".new_tensor(t)", data)
        return made(copied(data, kind), beside(device, input), requires_grad)
    return made(to_array(data, kind), beside(device, input), requires_grad)
