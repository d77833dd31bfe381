"""Layer 5 · ops: one operation on each tensor of a list, under PyTorch's names ``_foreach_*``.

Each calls the method of the same name on every tensor, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.ports import PORTS
from wengert.base.sections import fill_sections
from wengert.tape.base import TensorBase


def foreach(name: str) -> Callable[..., Any] | None:
    """The function `name`, in place if it ends with an underscore; None if there is no such method.

    Arguments after the first are one for all tensors, or a list with one for each.

    Examples
    --------
    >>> wg._foreach_add([wg.ones(1), wg.ones(2)], [1.0, 2.0])
    [tensor([2.]), tensor([3., 3.])]
    """
    method = name.removeprefix("_foreach_")
    if not hasattr(PORTS.tensor, method):
        return None
    written = method.endswith("_")

    def function(self: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = _listed(name, self)
        each = [_parts(value, len(tensors)) for value in args]
        named = {key: _parts(value, len(tensors)) for key, value in kwargs.items()}
        made = [
            getattr(tensor, method)(
                *(part[i] for part in each), **{key: part[i] for key, part in named.items()}
            )
            for i, tensor in enumerate(tensors)
        ]
        return None if written else made

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{method}` of each tensor of a list{', written into it' * written}."
    return function


def _listed(name: str, tensors: Any) -> list[Any]:
    if isinstance(tensors, TensorBase) or not all(isinstance(t, TensorBase) for t in tensors):
        raise TypeError(f"{name}(): argument 'self' (position 1) must be tuple of Tensors")
    if not len(tensors):
        raise RuntimeError("Tensor list must have at least one tensor.")
    return list(tensors)


def _parts(value: Any, count: int) -> list[Any]:
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise RuntimeError(
            f"Tensor lists must have the same number of tensors, got {count} and {len(value)}"
        )
    return list(value)


fill_sections(globals())
