"""Layer 9 · compat: SciPy's functions, of NumPy's own arrays and of boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.extras import scipy_module
from wengert.compat.autograd.boxes import boxed, holds_box
from wengert.compat.autograd.numpy.dispatch import no_derivative
from wengert.compat.kit.namespaces import defined, lazy


def paired(
    name: str, place: str, scipys: Callable[[], Any], formula: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Combine SciPy's function for NumPy's own arrays with a formula for boxes.

    Parameters
    ----------
    name, place: The name of the function, and its module in SciPy.
    scipys: Returns SciPy's function.
    formula: Takes the arguments of SciPy's function; None if it does not accept boxes.
    """

    def function(*args, **kwargs) -> Any:
        if not holds_box((args, kwargs)):
            return scipys()(*args, **kwargs)
        if formula is None:
            raise no_derivative(name, args, place)
        return boxed(formula(*args, **kwargs))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Compute `{place}.{name}`" + (
        "." if formula is None else "; differentiable in arguments that are boxes."
    )
    return function


def found(
    module: str, part: str, own: str, name: str, formulas: dict[str, Callable[..., Any]]
) -> Any:
    """Return the counterpart of ``scipy.<part>.<own>.<name>`` for a module of this package.

    Raises
    ------
    AttributeError: If SciPy does not have it.
    """
    place = f"scipy.{part}.{own}".rstrip(".")

    def home() -> Any:
        scipys = scipy_module(part, f"{place}.{name}")
        return getattr(scipys, own) if own else scipys

    value = None if name.startswith("_") else getattr(home(), name, None)
    if value is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}: {place} has none")
    if not callable(value) or isinstance(value, type):
        return value
    return paired(name, place, lambda: value, formulas.get(name))


def named_by(
    namespace: dict[str, Any], part: str, own: str, formulas: dict[str, Callable[..., Any]]
) -> Any:
    """Return ``__getattr__`` and ``__dir__`` for the module that mirrors ``scipy.<part>.<own>``."""

    def listed() -> Any:
        scipys = scipy_module(part, f"scipy.{part}")
        theirs = getattr(scipys, own) if own else scipys
        return (name for name in dir(theirs) if getattr(theirs, name, None) is not None)

    return lazy(
        namespace, lambda name: found(namespace["__name__"], part, own, name, formulas), listed
    )


__all__ = defined(globals())
