"""Layer 9 · compat: functions of `jax.numpy` that report dtypes, and arrays as texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.jax.array import Array
from wengert.compat.jax.array import result_type as joined
from wengert.compat.jax.classes import array_repr as shown
from wengert.compat.jax.dtypes import canonical_dtype, issubdtype
from wengert.compat.kit.namespaces import functions_of


def result_type(*args) -> Any:
    """The dtype that values have together.

    Examples
    --------
    >>> jnp.result_type(jnp.int8, 1.0), jnp.result_type(1, 2)
    (dtype('float32'), dtype('int32'))
    """
    if not args:
        raise ValueError("at least one array or dtype is required")
    return joined(*args)[0]


def promote_types(a, b) -> Any:
    """The dtype that two dtypes have together."""
    return result_type(canonical_dtype(a), canonical_dtype(b))


def can_cast(from_, to, casting="safe") -> bool:
    """Whether a dtype may be converted to another (see `numpy.can_cast`)."""
    return bool(np.can_cast(np.dtype(getattr(from_, "dtype", from_)), np.dtype(to), casting))


def isdtype(dtype, kind) -> bool:
    """Whether a dtype is of a kind (see `numpy.isdtype`)."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    known = ["bool", "signed integer", "unsigned integer", "integral", "real floating"]
    known += ["complex floating", "numeric"]
    named = tuple(k if k in known else np.dtype(k) for k in kinds)
    return bool(np.isdtype(np.dtype(dtype), named))


def isscalar(element) -> bool:
    """Whether something is a number, or an array without dimensions."""
    return np.isscalar(element) or (hasattr(element, "dtype") and not element.ndim)


def iterable(y) -> bool:
    """Whether something can be gone through."""
    return np.iterable(y) and not (hasattr(y, "ndim") and not y.ndim)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None) -> str:
    """An array as text: ``Array([0., 1.], dtype=float32)``."""
    if not isinstance(arr, Array):
        return np.array_repr(arr, max_line_width, precision, suppress_small)
    with np.printoptions(**_options(precision, suppress_small)):
        return shown(arr)


def array_str(a, max_line_width=None, precision=None, suppress_small=None) -> str:
    """The values of an array as text."""
    return np.array_str(np.asarray(a), max_line_width, precision, suppress_small)


def _options(precision, suppress) -> dict[str, Any]:
    given = {"precision": precision, "suppress": suppress}
    return {key: value for key, value in given.items() if value is not None}


ABOUT: dict[str, Callable[..., Any]] = {
    **functions_of(globals()),
    "issubdtype": issubdtype,
}

fill_sections(globals())
