"""Layer 9 · compat: MXNet's error, and how errors of this library become it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.sections import fill_sections

__all__ = ["MXNetError", "absence", "absent", "converted", "is_own"]


class MXNetError(RuntimeError):
    """The error for operations that cannot be computed or differentiated.

    Examples
    --------
    >>> issubclass(mx.MXNetError, RuntimeError)
    True
    """


_KEPT = (MXNetError, NotImplementedError, RecursionError, UnicodeError)


def is_own(error: BaseException) -> bool:
    """Whether MXNet would raise an `MXNetError` in place of `error`."""
    return isinstance(error, RuntimeError | ValueError) and not isinstance(error, _KEPT)


def converted(error: BaseException) -> MXNetError:
    """`error` as MXNet's."""
    text = str(error)
    if "leaf Variable that requires grad" in text:
        text = (
            "Check failed: AGInfo: :IsNone(*output): Assigning to NDArrays that are already in a "
            "computational graph will cause undefined behavior when evaluating gradients. This "
            "array has a gradient attached: write to it outside of autograd.record(), or inside "
            "of autograd.pause(), or compute a new array (x = x + 1)."
        )
    return MXNetError(text)


def absent(module: str, name: str, cures: dict[str, str]) -> AttributeError:
    """The error that says that a name is not offered, and what to write instead."""
    cure = cures.get(name)
    why = "" if cure is None else f": MXNet has it, but it is not offered here: {cure}"
    return AttributeError(f"module {module!r} has no attribute {name!r}{why}")


def absence(module: str, cures: dict[str, str] | None = None) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module, which says what to write for names of MXNet's it has not."""

    def getattribute(name: str) -> Any:
        raise absent(module, name, cures or {})

    return getattribute


def shown(value) -> str:
    """A type's name, for messages."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


fill_sections(globals())
