"""Layer 6 · tensor: overrides: functions that classes override by ``__torch_function__``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from wengert.base.names import shows
from wengert.base.sections import fill_sections
from wengert.tape.base import TensorBase
from wengert.tensor.overrides import DisableTorchFunctionSubclass
from wengert.tensor.tensor import Tensor

__all__ = [
    "DisableTorchFunctionSubclass",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]
__dir__ = shows(__all__)

_PLAIN = Tensor.__dict__["__torch_function__"].__func__


def _overrides(value: Any) -> bool:
    """Whether the class of a value has a ``__torch_function__`` of its own."""
    kind = type(value)
    found = getattr(kind, "__torch_function__", None)
    if found is None or kind is Tensor:
        return False
    function = getattr(found, "__func__", found)
    return function is not _PLAIN and getattr(function, "__name__", "") != "disabled_torch_function"


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of some values has a class that overrides functions.

    Examples
    --------
    >>> wg.overrides.has_torch_function((wg.ones(1), 2.0)), wg.overrides.is_tensor_like(2.0)
    (False, False)
    """
    return any(map(_overrides, relevant_args))


def has_torch_function_unary(obj: Any) -> bool:
    """Whether the class of a value overrides functions."""
    return _overrides(obj)


def has_torch_function_variadic(*args: Any) -> bool:
    """Whether one of the arguments has a class that overrides functions."""
    return has_torch_function(args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """What the first class that overrides a function makes of its arguments.

    Subclasses come before their parents, else the first argument first.

    Raises
    ------
    TypeError: If all of them return NotImplemented.

    Examples
    --------
    >>> class Other:
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
    ...         return f"{func.__name__} of {len(args)}"
    >>> wg.overrides.handle_torch_function(wg.add, (Other(),), Other(), 1)
    'add of 2'
    """
    found: list[Any] = []
    for value in relevant_args:
        kind = type(value)
        if not _overrides(value) or any(type(one) is kind for one in found):
            continue
        at = next((i for i, one in enumerate(found) if issubclass(kind, type(one))), len(found))
        found.insert(at, value)
    kinds = tuple(map(type, found))
    for value in found:
        result = type(value).__torch_function__(public_api, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(
        f"no implementation found for '{name}' on types that implement __torch_function__: "
        f"{list(kinds)}"
    )


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """The decorator of functions that classes may override.

    Parameters
    ----------
    dispatcher : callable. Gives, of the function's arguments, those whose classes are asked.
    """

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether a value is a tensor, or has a class that overrides functions of tensors."""
    return isinstance(inp, TensorBase) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function is a method of tensors, or what reads one of their attributes."""
    name = getattr(func, "__name__", "")
    return name == "__get__" or getattr(Tensor, name, None) is func


def resolve_name(f: Any) -> str | None:
    """Where a function is found: ``torch.add``, ``torch.Tensor.add``; None if it is not known."""
    name = getattr(f, "__name__", None)
    if name is None:
        return None
    if getattr(Tensor, name, None) is f:
        return f"torch.Tensor.{name}"
    module = str(getattr(f, "__module__", "")).removeprefix("wengert")
    place = "torch.nn.functional" if module.startswith(".nn.functional") else "torch"
    return f"{place}.{name}"


fill_sections(globals())
