"""Layer 9 · compat: the operands of Keras's operations (NOTE [Keras's operations])."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert.compat.kit.namespaces import rows_of
from wengert.compat.kit.signatures import signed
from wengert.compat.tensorflow.conversion import is_tensor
from wengert.compat.tensorflow.functions.values import dtype_of, tensor_of
from wengert.compat.tensorflow.keras.globals import floatx
from wengert.compat.tensorflow.keras.symbols import inner, symbolic

__all__ = ["none", "of_families", "one", "promoted", "several", "two"]


def _floating(tensor: Any) -> Any:
    whole = tensor._payload.dtype.kind in "biu"
    return tensor.to(dtype_of(floatx())) if whole else tensor


def _plain(value: Any) -> Any:
    return tensor_of(value) if is_tensor(value) or hasattr(value, "_as_tensor") else value


def promoted(values: Any, floating=False) -> list[Any]:
    """Convert operands to one dtype; numbers stay numbers beside tensors."""
    plain = (bool, int, float, complex)
    given: list[Any] = [value if isinstance(value, plain) else tensor_of(value) for value in values]
    if all(isinstance(value, plain) for value in given):
        given = [tensor_of(value) for value in given]
    kind = functools.reduce(_common, given)
    kind = _floating(kind) if floating else kind
    return [x if isinstance(x, plain) else x.to(kind.dtype) for x in given]


def _common(a: Any, b: Any) -> Any:
    return wg.empty(1, dtype=wg.result_type(a, b))


def one(value: Any, *rest: Any, floating=False) -> tuple[Any, ...]:
    """Return the arguments of a function of one array."""
    tensor = tensor_of(value)
    return _floating(tensor) if floating else tensor, *map(_plain, rest)


def two(a: Any, b: Any, *rest: Any, floating=False) -> tuple[Any, ...]:
    """Return the arguments of a function of two arrays."""
    return *promoted([a, b], floating), *rest


def several(values: Any, *rest: Any) -> tuple[Any, ...]:
    """Return the arguments of a function of a list of arrays."""
    return promoted(values), *rest


def none(*args: Any) -> tuple[Any, ...]:
    """Return the arguments of a function of numbers."""
    return args


def of_families(namespace: dict[str, Any], text: str, **modules: Any) -> None:
    """Make the functions of rows, ``(parameters): name=function module.name ...``.

    Each calls a function of the module with the parameters in this order, by its own name or
    another. Arguments may be symbols of functional models. A line that ends with a comma goes on in
    the next one.
    """
    known = namespace | modules
    for parameters, functions in rows_of(re.sub(r",\n +", ", ", text)):
        for each in functions:
            name, _, path = each.rpartition("=")
            first, *rest = path.split(".")
            made = _function(
                name or rest[-1], parameters[1:-1], functools.reduce(getattr, rest, known[first])
            )
            made.__module__ = namespace["__name__"]
            namespace[made.__name__] = made


def _function(name: str, parameters: str, function: Callable[..., Any]) -> Any:
    def compute(given: dict[str, Any]) -> Any:
        values = tuple([given[each] for each in own.__signature__.parameters])
        return symbolic(own, values, {}) if inner(values) else function(*values)

    own_words = function.__name__[0] == "_"
    doc = function.__doc__ or "" if own_words else f"Return `tf.{function.__name__}` of these."
    own: Any = signed(name, parameters, compute, doc)
    return own
