"""Layer 6 · tensor: overrides: functions that classes override by ``__torch_function__``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from itertools import chain
from typing import Any

from wengert.base.names import shows
from wengert.tape.base import TensorBase
from wengert.tape.compiled import FUNCTIONS
from wengert.tensor.overrides import (
    MODES,
    DisableTorchFunctionSubclass,
    TorchFunctionMode,
    handled,
    is_enabled,
    is_in_mode,
    overloads,
    overrides,
    own_attribute,
)
from wengert.tensor.overrides import (
    get_default_nowrap_functions as get_default_nowrap_functions,
)
from wengert.tensor.tensor import Tensor

__all__ = [
    "DisableTorchFunctionSubclass",
    "TorchFunctionMode",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
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


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Return whether a mode sees calls, or any of some values has a class that overrides functions.

    Examples
    --------
    >>> wg.overrides.has_torch_function((wg.ones(1), 2.0)), wg.overrides.is_tensor_like(2.0)
    (False, False)
    """
    if not isinstance(relevant_args, Iterable):
        raise TypeError(f"expected a sequence, not {type(relevant_args).__name__}")
    return is_in_mode() or (is_enabled() and any(map(overrides, relevant_args)))


def has_torch_function_unary(obj: Any) -> bool:
    """Return whether the class of a value overrides functions."""
    return has_torch_function((obj,))


def has_torch_function_variadic(*args: Any) -> bool:
    """Return whether any of the arguments has a class that overrides functions."""
    return has_torch_function(args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Return the result of the mode, or the first class that overrides a function for arguments.

    Subclasses come before their parents, otherwise the order of the arguments counts.

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
    asked = overloads(relevant_args)
    result = handled(public_api, asked, args, kwargs)
    if result is not NotImplemented:
        return result
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(
        f"no implementation found for '{name}' on types that implement __torch_function__: "
        f"{list(map(type, asked))}"
    )


def _get_current_function_mode_stack() -> list[Any]:
    """Return the active modes, the innermost last."""
    return list(MODES.get())


def _get_current_function_mode() -> Any:
    """Return the innermost active mode, or None."""
    return next(reversed(MODES.get()), None)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[..., Any]:
    """Return a decorator of functions that classes may override.

    Parameters
    ----------
    dispatcher : callable. Returns the arguments whose classes are asked, from all arguments.
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


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that runs the functions that it sees."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Return ``func(*args, **kwargs)``."""
        return func(*args, **(kwargs or {}))


def is_tensor_like(inp: Any) -> bool:
    """Return whether a value is a tensor, or has a class that overrides functions of tensors."""
    return isinstance(inp, TensorBase) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Return whether a function is a method of tensors, or the getter of an attribute."""
    name = getattr(func, "__name__", "")
    return name == "__get__" or getattr(Tensor, name, None) is func


def resolve_name(f: Any) -> str | None:
    """Return the path of a function: ``torch.add``, ``torch.Tensor.add``; None if unknown."""
    name = getattr(f, "__name__", None)
    if name == "__get__":
        own = f.__self__
        found = (key for key in dir(Tensor) if key[0] != "_" and own_attribute(key) is own)
        return next((f"torch.Tensor.{key}.__get__" for key in found), None)
    for path, place in _places().items():
        if name is not None and getattr(place, name, None) is f:
            return f"{path}.{name}"
    return None


_IGNORED = (
    "arange as_strided as_tensor asarray bartlett_window blackman_window broadcast_shapes can_cast "
    "compile cond empty empty_permuted empty_strided eye fftfreq fill finfo from_numpy frombuffer "
    "full get_default_device get_default_dtype get_num_threads get_rng_state hamming_window "
    "hann_window iinfo initial_seed is_autocast_enabled is_grad_enabled is_inference_mode_enabled "
    "is_storage is_tensor kaiser_window linspace load logspace manual_seed normal ones "
    "promote_types rand rand_like randint randint_like randn randn_like randperm range "
    "result_type rfftfreq save scalar_tensor seed set_autocast_enabled set_default_device "
    "set_default_dtype set_default_tensor_type set_num_threads set_printoptions set_rng_state "
    "tensor tril_indices triu_indices typename upsample upsample_bilinear upsample_nearest "
    "vander vmap zeros"
)
"""Functions that no class can override: most do not take a tensor."""


def _places() -> dict[str, Any]:
    """Return the modules and classes of overridable functions, by PyTorch's names."""
    return {
        "torch": sys.modules["wengert"],
        "torch.Tensor": Tensor,
        **{
            f"torch.{name}": importlib.import_module(f"wengert.{name}")
            for name in ("nn.functional", "linalg", "fft", "special")
        },
    }


def _public(place: Any) -> dict[str, Any]:
    # the package may be installed under another name
    own = ("wengert", sys.modules["wengert"].__name__)
    found = {name: getattr(place, name) for name in dir(place) if not name.startswith("_")}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, FUNCTIONS) and value.__module__.split(".")[0] in own
    }


def get_ignored_functions() -> set[Callable[..., Any]]:
    """Return the public functions that no class can override.

    Examples
    --------
    >>> wg.zeros in wg.overrides.get_ignored_functions()
    True
    """
    ignored = _IGNORED.split()
    return {
        value
        for place in _places().values()
        for name, value in _public(place).items()
        if name in ignored
    }


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """Return the functions that classes can override, by the module or class that has them.

    Examples
    --------
    >>> wg.add in wg.overrides.get_overridable_functions()[wg]
    True
    """
    ignored = _IGNORED.split()
    return {
        place: [value for name, value in _public(place).items() if name not in ignored]
        for place in _places().values()
    }


def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return a function with the same arguments that returns -1, for each overridable function."""

    def stand_in(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def made(*args: Any, **kwargs: Any) -> int:
            return -1

        return made

    functions = chain.from_iterable(get_overridable_functions().values())
    return {function: stand_in(function) for function in functions}
