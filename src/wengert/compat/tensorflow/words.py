"""Layer 9 · compat: the errors of the TensorFlow idiom, also for names that are not offered.

See NOTE [words of errors].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.compat.kit import namespaces
from wengert.compat.kit.words import cures, refusals

__all__ = ["public", "missing", "refusal", "refusing"]

refusal = refusals("wengert.compat.tensorflow")


def missing(module: str, name: str) -> AttributeError:
    """Return the error for a name that ``tf.<module>``, or `tf`, does not have here."""
    home = f"tensorflow.{module}".strip(".")
    full = f"{module}.{name}".strip(".")
    instead = cures("wengert.compat.tensorflow").get(full)
    if instead is None and name.startswith("LinearOperator"):
        instead = "use the matrix itself, and tf.linalg.matmul, solve, ..."
    if instead is None and "sparse" in name:
        instead = "use tf.sparse, or dense tensors"
    hint = f"; {instead}" if instead else ""
    return AttributeError(
        f"module {home!r} has no attribute {name!r}: wengert.compat.tensorflow does "
        f"not offer tf.{full}{hint}"
    )


def refusing(module: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of ``tf.<module>``, which suggests what to use instead."""

    def getattribute(name: str) -> Any:
        raise missing(module, name)

    return getattribute


def public(namespace: dict[str, Any], more="", without="") -> list[str]:
    """List the names of a module (see `kit.namespaces.defined`), and refuse others.

    It is the last line of a module that is public in TensorFlow, too.
    """
    home = namespace["__name__"].removeprefix("wengert.compat.tensorflow.")
    namespace["__getattr__"] = refusing(home)
    return namespaces.defined(namespace, more, without)
