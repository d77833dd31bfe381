"""Layer 9 · testing: `assert_close`, which reports how two results differ, and `make_tensor`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from wengert.base.containers import by_name
from wengert.base.dtypes import FLOATING, as_dtype, category
from wengert.base.layout import sparse_coo
from wengert.interp.levels import device_of, is_elsewhere
from wengert.ops.make_tensor import make_tensor
from wengert.sparse.tensors import SparseBase
from wengert.tape.base import TensorBase
from wengert.tape.sites import warn

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
"""Relative and absolute tolerances by the name of a dtype; other dtypes must be equal."""

_ATTRIBUTE = "The values for attribute '{}' do not match: {} != {}."
_PARTS = {
    "COO": ("_indices", "_values"),
    **dict.fromkeys(("CSR", "BSR"), ("crow_indices", "col_indices", "values")),
    **dict.fromkeys(("CSC", "BSC"), ("ccol_indices", "row_indices", "values")),
}
"""What is compared of a sparse tensor, by the end of its layout's name."""


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise unless two tensors, numbers, or containers of them are close to each other.

    Elements are close if they differ by no more than ``atol + rtol * abs(expected)``.

    Parameters
    ----------
    actual, expected : Tensor, array, number, sequence, mapping or dataclass. Of one structure.
    allow_subclasses : bool. Whether tensors of different classes may be compared.
    rtol, atol : float, optional. Both or neither; by default they follow from the dtype, and
        integers must be equal.
    equal_nan : bool. Whether two NaNs are equal.
    check_dtype, check_stride, check_layout : bool. Whether dtypes, strides and layouts must agree;
        sparse tensors of one layout agree if their indices do, and their values are close.
    check_device : bool. Whether tensors on different devices differ.
    msg : str or callable, optional. The message, or a function that makes it from the default one.

    Raises
    ------
    AssertionError: If they are not close.
    ValueError: If only one of `rtol` and `atol` is given.
    TypeError: If the two cannot be compared.

    Examples
    --------
    >>> from wengert.testing import assert_close
    >>> assert_close(wg.ones(2), wg.ones(2) + 1e-7)
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
        )
    tolerances = None if rtol is None or atol is None else (float(rtol), float(atol))
    settings = (
        *(tolerances, equal_nan, check_dtype, check_stride, allow_subclasses, check_layout),
        check_device,
    )
    found = _difference(actual, expected, settings, "")
    if found is not None:
        if callable(msg):
            found = msg(found)
        raise AssertionError(found if msg is None or callable(msg) else msg)


def _difference(actual: Any, expected: Any, settings: tuple[Any, ...], place: str) -> str | None:
    """Return a description of the difference, or None."""
    if type(actual) is type(expected):
        actual, expected = by_name(actual), by_name(expected)
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            return (
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(expected.keys() - actual.keys())}\n"
                "Additional keys in the actual mapping: "
                f"{sorted(actual.keys() - expected.keys())}{_where(place)}"
            )
        pairs = [(key, actual[key], expected[key]) for key in expected]
        return _first(pairs, settings, place)
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return (
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
                f"{_where(place)}"
            )
        rows = zip(range(len(actual)), actual, expected, strict=True)
        return _first(list(rows), settings, place)
    if _is_number(actual) and _is_number(expected):
        return _of_numbers(actual, expected, settings, place)
    if actual is None or expected is None:
        return None if actual is expected else f"None mismatch: {actual} is not {expected}"
    related = settings[4] or type(actual) is type(expected)
    if not (_is_array(actual) and _is_array(expected) and related):
        raise TypeError(
            "No comparison pair was able to handle inputs of type "
            f"{type(actual)} and {type(expected)}.{_where(place)}"
        )
    if isinstance(actual, SparseBase) or isinstance(expected, SparseBase):
        return _of_sparse(actual, expected, settings, place)
    return _of_arrays(actual, expected, settings, place)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """Call `assert_close` without checking dtypes, and with equal NaNs; an old name.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     wg.testing.assert_allclose(wg.ones(2, dtype=wg.float64), wg.ones(2))
    """
    warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a "
        "future release. Please use `torch.testing.assert_close()` instead.",
        FutureWarning,
    )
    both = [value if _is_array(value) else np.asarray(value) for value in (actual, expected)]
    assert_close(
        *both, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None
    )


def _first(pairs: list[tuple[Any, ...]], settings: tuple[Any, ...], place: str) -> str | None:
    found = (_difference(a, b, settings, f"{place}[{key!r}]") for key, a, b in pairs)
    return next((text for text in found if text is not None), None)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex)


def _is_array(value: Any) -> bool:
    return isinstance(value, TensorBase | SparseBase | np.ndarray | np.generic)


def _where(place: str) -> str:
    return f"\n\nThe failure occurred for item {place}" if place else ""


def _limits(tolerances: Any, *kinds: np.dtype[Any]) -> tuple[float, float]:
    """Return the given tolerances, or the larger of those of two dtypes."""
    if tolerances is not None:
        return float(tolerances[0]), float(tolerances[1])
    own = [_TOLERANCES.get(kind.name, (0.0, 0.0)) for kind in kinds]
    return max(rtol for rtol, _ in own), max(atol for _, atol in own)


def _close(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    wide = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
    if category(a.dtype) < FLOATING and category(b.dtype) < FLOATING and not (rtol or atol):
        return a == b
    return np.isclose(a.astype(wide), b.astype(wide), rtol, atol, equal_nan)


def _of_numbers(a: Any, b: Any, settings: tuple[Any, ...], place: str) -> str | None:
    tolerances, equal_nan, check_dtype = settings[:3]
    if check_dtype and type(a) is not type(b):
        return f"The (d)types do not match: {type(a)} != {type(b)}.{_where(place)}"
    x, y = np.asarray(a), np.asarray(b)
    rtol, atol = _limits(tolerances, x.dtype, y.dtype)
    if _close(x, y, rtol, atol, equal_nan):
        return None
    apart = abs(a - b)
    relative = apart / abs(b) if b else float("inf")
    allowed = [f" (up to {limit} allowed)" if rtol or atol else "" for limit in (atol, rtol)]
    return (
        f"Scalars are not {'close' if rtol or atol else 'equal'}!\n\nExpected {b} but got {a}.\n"
        f"Absolute difference: {apart}{allowed[0]}\nRelative difference: {relative}{allowed[1]}"
        f"{_where(place)}"
    )


def _of_arrays(actual: Any, expected: Any, settings: tuple[Any, ...], place: str) -> str | None:
    tolerances, equal_nan, check_dtype, check_stride = settings[:4]
    said = _ATTRIBUTE + _where(place)
    places = [device_of(getattr(value, "_payload", None)) for value in (actual, expected)]
    a, b = _payload(actual), _payload(expected)
    if a.shape != b.shape:
        return said.format("shape", f"torch.Size({list(a.shape)})", f"torch.Size({list(b.shape)})")
    if settings[6] and places[0] != places[1]:
        return said.format("device", *places)
    if check_dtype and a.dtype != b.dtype:
        return said.format("dtype", repr(as_dtype(a.dtype)), repr(as_dtype(b.dtype)))
    if check_stride and a.strides != b.strides:
        return said.format("stride()", a.strides, b.strides)
    rtol, atol = _limits(tolerances, a.dtype, b.dtype)
    bad = ~np.asarray(_close(a, b, rtol, atol, equal_nan))
    if not bad.any():
        return None
    if not a.ndim:
        return _of_numbers(a.item(), b.item(), ((rtol, atol), equal_nan, False), place)
    return _table(a, b, bad, rtol, atol) + _where(place)


def _of_sparse(a: Any, b: Any, settings: tuple[Any, ...], place: str) -> str | None:
    if not (isinstance(a, SparseBase) and isinstance(b, SparseBase) and a.layout is b.layout):
        if settings[5]:
            return _ATTRIBUTE.format("layout", a.layout, b.layout) + _where(place)
        return _of_arrays(a.to_dense(), b.to_dense(), settings, place)
    if tuple(a.shape) != tuple(b.shape):
        return _ATTRIBUTE.format("shape", a.shape, b.shape) + _where(place)
    kind = str(a.layout).rpartition("_")[2].upper()
    counts = {"specified values": (a._nnz(), b._nnz())}
    if a.layout is sparse_coo:
        counts = {"sparse dimensions": (a.sparse_dim(), b.sparse_dim()), **counts}
    for what, (one, other) in counts.items():
        if one != other:
            return (
                f"The number of {what} in sparse {kind} tensors does not match: "
                f"{one} != {other}{_where(place)}"
            )
    for name in _PARTS[kind]:
        found = _of_arrays(getattr(a, name)(), getattr(b, name)(), settings, place)
        if found is not None:
            return found.replace("Tensor-likes", f"Sparse {kind} {name.strip('_')}")
    return None


def _payload(value: Any) -> Any:
    if not isinstance(value, TensorBase):
        return np.asarray(value)
    held = value._payload
    return np.array(held.tolist(), held.dtype) if is_elsewhere(held) else np.asarray(held)


def _table(a: Any, b: Any, bad: Any, rtol: float, atol: float) -> str:
    """Describe how many elements differ, and the largest differences."""
    kind = np.result_type(a.dtype, b.dtype)
    whole = category(kind) < FLOATING
    x, y = (value.astype(np.int64 if whole else kind) for value in (a, b))
    with np.errstate(all="ignore"):
        apart = np.where(bad, np.abs(x - y), 0)
        relative = np.divide(apart, np.abs(y), dtype=np.float32 if whole else None)
        relative = np.where(bad, relative, 0)
    lines = [
        f"Tensor-likes are not {'close' if rtol or atol else 'equal'}!",
        "",
        f"Mismatched elements: {bad.sum()} / {bad.size} ({100 * bad.mean():.1f}%)",
    ]
    for what, values, limit in (("absolute", apart, atol), ("relative", relative, rtol)):
        at = tuple(int(i) for i in np.unravel_index(np.argmax(values), values.shape))
        allowed = f" (up to {limit} allowed)" if rtol or atol else ""
        index = f" at index {at}" if at else ""
        lines.append(f"Greatest {what} difference: {values[at].item()}{index}{allowed}")
    return "\n".join(lines)
