"""Layer 9 · compat: MXNet's error, and the translation of this library's errors."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from wengert.compat.kit import namespaces
from wengert.compat.kit.words import cures, refusals

__all__ = ["MXNetError", "absence", "absent", "public", "converted", "refusal", "reraise"]

refusal = refusals("wengert.compat.mxnet")


class MXNetError(RuntimeError):
    """The error for operations that cannot be computed or differentiated.

    Examples
    --------
    >>> issubclass(mx.MXNetError, RuntimeError)
    True
    """


_KEPT = (MXNetError, NotImplementedError, RecursionError, UnicodeError)


def converted(error: BaseException) -> MXNetError:
    """Convert `error` to MXNet's error."""
    text = str(error)
    if "leaf Variable that requires grad" in text:
        text = (
            "Check failed: AGInfo: :IsNone(*output): Assigning to NDArrays that are already in a "
            "computational graph will cause undefined behavior when evaluating gradients. This "
            "array has a gradient attached: write to it outside of autograd.record(), or inside "
            "of autograd.pause(), or compute a new array (x = x + 1)."
        )
    return MXNetError(text)


def reraise(error: BaseException) -> NoReturn:
    """Raise an error that is being handled: MXNet's, where MXNet has its own."""
    if isinstance(error, _KEPT):
        raise
    raise converted(error) from error


def absent(module: str, name: str) -> AttributeError:
    """Return the error for a name that is not offered, with a replacement."""
    cure = cures("wengert.compat.mxnet").get(
        f"{module}.{name}".removeprefix("wengert.compat.mxnet.")
    )
    why = "" if cure is None else f": MXNet has it, but it is not offered here: {cure}"
    return AttributeError(f"module {module!r} has no attribute {name!r}{why}")


def absence(module: str, modules: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module, which suggests replacements for missing names.

    Submodules in `modules`, each with the path to it, are imported on first use.
    """

    def getattribute(name: str) -> Any:
        if modules is not None and name in modules:
            return importlib.import_module(modules[name])
        raise absent(module, name)

    return getattribute


_SHORT = {"initializer": "init", "ndarray": "nd", "numpy_extension": "npx", "numpy": "np"}


def public(namespace: dict[str, Any], more="", without="", modules="") -> list[str]:
    """List the names of a module (see `kit.namespaces.defined`), and refuse others.

    It is the last line of a module that is public in MXNet, too. Submodules in `modules` are
    imported on first use.
    """
    paths = {name: f"{namespace['__name__']}.{name}" for name in modules.split()}
    home = namespace["__name__"]
    for word, short in _SHORT.items():
        home = home.replace(f".{word}", f".{short}")
    namespace["__getattr__"] = absence(home, paths)
    return namespaces.defined(namespace, more, without)


def shown(value) -> str:
    """Return a type's name, for messages."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
