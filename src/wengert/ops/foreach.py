"""Layer 5 · ops: one operation on each tensor of a list, under PyTorch's names ``_foreach_*``.

Each calls the method of the same name on every tensor, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.dtypes import dtype
from wengert.base.errors import cannot_cast
from wengert.base.ports import PORTS
from wengert.prims.table import TABLE
from wengert.tape.base import TensorBase
from wengert.tape.modes import is_recording
from wengert.tape.operands import is_number
from wengert.tape.write_checks import check_recordable

_OPERANDS = ("tensors1", "tensor1", "tensor2", "other", "exponent", "scalar", "scalars", "weights")
"""The parameters after the list of tensors, in their order, that no method has."""


def foreach(name: str) -> Callable[..., Any] | None:
    """The function `name`, in place if it ends with an underscore; None if there is no such method.

    Arguments after the first are one for all tensors, or a list with one for each.

    Examples
    --------
    >>> wg._foreach_add([wg.ones(1), wg.ones(2)], [1.0, 2.0])
    (tensor([2.]), tensor([3., 3.]))
    """
    method = name.removeprefix("_foreach_")
    written = method.endswith("_")
    copied = written and not hasattr(PORTS.tensor, method)
    if copied:
        # some operations have no method in place
        method = method.rstrip("_")
    if not hasattr(PORTS.tensor, method):
        return None
    prim = TABLE.get(method.rstrip("_"))

    def function(self: Any, *args: Any, **kwargs: Any) -> Any:
        called = method
        if is_number(self) and args:
            self, called, args = args[0], f"__r{method}__", (self, *args[1:])
        tensors = _listed(name, self)
        if args and isinstance(args[-1], dtype):
            kwargs, args = {**kwargs, "dtype": args[-1]}, args[:-1]
        # operands have one name in each method, and another one here
        args = (*args, *(kwargs.pop(key) for key in _OPERANDS if key in kwargs))
        if prim is not None and prim.params and not prim.variadic:
            operands = len(prim.args) - 1
            for numbers in args[operands:]:
                kwargs[prim.params[0]] = _unpacked(numbers)
            args = args[:operands]
        if "ord" in kwargs:  # of `norm`
            kwargs["p"] = kwargs.pop("ord")
        each = [_parts(value, len(tensors)) for value in args]
        named = {key: _parts(value, len(tensors)) for key, value in kwargs.items()}
        for tensor in tensors if written and is_recording() else ():
            check_recordable(tensor)  # of all, before the first is written to
        made = [
            getattr(tensor, called)(
                *(part[i] for part in each), **{key: part[i] for key, part in named.items()}
            )
            for i, tensor in enumerate(tensors)
        ]
        for tensor, result in zip(tensors, made, strict=True) if copied else ():
            if result._payload.dtype != tensor._payload.dtype:
                raise cannot_cast(result._payload.dtype, tensor._payload.dtype)
            tensor.copy_(result)
        return self if written else tuple(made)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{method}` of each tensor of a list{', written into it' * written}."
    return function


def _listed(name: str, tensors: Any) -> list[Any]:
    if isinstance(tensors, TensorBase) or not all(isinstance(t, TensorBase) for t in tensors):
        raise TypeError(f"{name}(): argument 'self' (position 1) must be tuple of Tensors")
    if not len(tensors):
        raise RuntimeError("Tensor list must have at least one tensor.")
    return list(tensors)


def _unpacked(numbers: Any) -> Any:
    """Return the numbers that a tensor of them holds, one for each tensor of a list."""
    if not isinstance(numbers, TensorBase):
        return numbers
    if numbers._payload.ndim != 1:
        raise RuntimeError(
            "Expected packed scalar Tensor to be of dimension 1. Got "
            f"{numbers._payload.ndim} instead."
        )
    return numbers._payload.tolist()


def _parts(value: Any, count: int) -> list[Any]:
    if isinstance(value, TensorBase) and value._payload.ndim:
        raise RuntimeError(
            f"scalar tensor expected to be 0 dim but it has {value._payload.ndim} dimensions and "
            f"{value._payload.size} elements."
        )
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise RuntimeError(
            f"Tensor lists must have the same number of tensors, got {count} and {len(value)}"
            if any(isinstance(one, TensorBase) for one in value)
            else "Tensor list must have same number of elements as scalar list."
        )
    return list(value)
