"""Layer 0 · base: the element types, their promotion, and the default floating type.

Promotion follows PyTorch: a Python number is weaker than a 0-d tensor, which is weaker than a
tensor with dimensions, as long as all of them are of one *category* (bool < integer < floating <
complex). The higher category always wins.
"""

from __future__ import annotations

import sys
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

BOOL, INTEGER, FLOATING, COMPLEX = range(4)
_CATEGORY = {"b": BOOL, "i": INTEGER, "u": INTEGER, "f": FLOATING, "c": COMPLEX}


class dtype:
    """The element type of a tensor.

    There is one object per type, so ``is`` compares them. Its repr is PyTorch's, since it appears
    in printed tensors; :attr:`numpy` is NumPy's type, and NumPy accepts this object itself
    wherever it takes a type.

    Examples
    --------
    >>> wg.float32
    torch.float32
    >>> wg.float32.is_floating_point, wg.float32.itemsize
    (True, 4)
    >>> np.zeros(2, dtype=wg.float32).dtype
    dtype('float32')
    """

    __slots__ = ("category", "dtype", "name")

    def __init__(self, name: str, numpy: np.dtype[Any]) -> None:
        self.name = name
        self.dtype = numpy
        self.category = category(numpy)

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, name):
            raise AttributeError(f"attribute {name!r} of 'torch.dtype' objects is not writable")
        object.__setattr__(self, name, value)

    @property
    def numpy(self) -> np.dtype[Any]:
        """NumPy's dtype object.

        Examples
        --------
        >>> wg.float32.numpy
        dtype('float32')
        """
        return self.dtype

    @property
    def type(self) -> type[np.generic]:
        """The class of NumPy's scalars of this type, with which SciPy makes its results.

        Examples
        --------
        >>> wg.float32.type(0.5)
        np.float32(0.5)
        """
        return self.dtype.type

    @property
    def is_floating_point(self) -> bool:
        """Whether the type is a real floating-point type.

        Examples
        --------
        >>> wg.float64.is_floating_point, wg.int64.is_floating_point, wg.complex64.is_floating_point
        (True, False, False)
        """
        return self.category == FLOATING

    @property
    def is_complex(self) -> bool:
        """Whether the type is complex.

        Examples
        --------
        >>> wg.complex64.is_complex, wg.float32.is_complex
        (True, False)
        """
        return self.category == COMPLEX

    @property
    def is_signed(self) -> bool:
        """Whether the type can represent negative numbers.

        Examples
        --------
        >>> wg.int8.is_signed, wg.uint8.is_signed
        (True, False)
        """
        return self.category >= FLOATING or self.dtype.kind == "i"

    @property
    def itemsize(self) -> int:
        """The number of bytes per element.

        Examples
        --------
        >>> wg.float64.itemsize
        8
        """
        return self.dtype.itemsize

    def to_real(self) -> dtype:
        """Return the real type of a complex type's parts; any other type unchanged.

        Examples
        --------
        >>> wg.complex128.to_real()
        torch.float64
        """
        return from_numpy_dtype(real_of(self.dtype))

    def to_complex(self) -> dtype:
        """Return the complex type whose parts are of this floating type.

        Examples
        --------
        >>> wg.float32.to_complex()
        torch.complex64
        """
        if self.category < FLOATING:
            raise RuntimeError(f"Unknown Complex ScalarType for {self!r}")
        return from_numpy_dtype(complex_of(self.dtype))

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, dtype):
            return other is self
        # `wengert.numpy`, the namespace of tensors, has NumPy's classes of numbers for dtypes
        return other is self.dtype.type if isinstance(other, type) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.dtype.type)

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


class _NamedOnly(dtype):
    """A type that can be named, compared and printed; any other use raises an explanation."""

    __slots__ = ("_size", "_why")

    def __init__(self, name: str, kind: int, size: int, why: Exception) -> None:
        self.name, self.category, self._size, self._why = name, kind, size, why

    def __getattr__(self, name: str) -> Any:
        if name == "dtype":
            raise type(self._why)(*self._why.args)
        raise AttributeError(f"'torch.dtype' object has no attribute {name!r}")

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def itemsize(self) -> int:
        """The number of bytes per element."""
        return self._size

    @property
    def is_signed(self) -> bool:
        """Whether the type can represent negative numbers."""
        return self.category >= FLOATING or (self.name[0] not in "bu" and self.name[:2] != "qu")

    def __reduce__(self) -> tuple[Any, ...]:
        return named_only, (self.name,)


_BYTES = (
    "bits8 bits1x8 bits2x4 bits4x2 float4_e2m1fn_x2 float8_e4m3fn float8_e4m3fnuz float8_e5m2 "
    "float8_e5m2fnuz float8_e8m0fnu qint8 quint2x4 quint4x2 quint8"
)
_SIZES = {
    **dict.fromkeys(_BYTES.split(), 1),
    **{f"{sign}int{bits}": 1 for sign in ("", "u") for bits in range(1, 8)},
    **{"bfloat16": 2, "bits16": 2, "chalf": 4, "complex32": 4, "qint32": 4},
}
NAMED_ONLY = frozenset(_SIZES)
"""PyTorch's types that NumPy cannot represent; programs may list them among the others."""


@cache
def named_only(name: str, why: Exception | None = None) -> dtype:
    """Return a type that can only be named; using it raises `why`."""
    if name == "chalf":
        return named_only("complex32")
    kind = COMPLEX if name[0] == "c" else FLOATING if name[:5] in ("float", "bfloa") else INTEGER
    reason = why or TypeError(
        f"NumPy has no numbers of the type torch.{name}, which can only be named here: compute in "
        f"{'complex64' if kind == COMPLEX else 'float32' if kind == FLOATING else 'int8'}"
    )
    return _NamedOnly(name, kind, _SIZES[name], reason)


def category(numpy: np.dtype[Any]) -> int:
    """Return 0 for bool, 1 for integer, 2 for floating (also bfloat16) and 3 for complex."""
    return _CATEGORY.get(numpy.kind, FLOATING)


def _known() -> dict[str, dtype]:
    names = (
        "float16 float32 float64 complex64 complex128 uint8 int8 int16 int32 int64 "
        "uint16 uint32 uint64 bool"
    )
    return {name: dtype(name, np.dtype(name)) for name in names.split()}


DTYPES = _known()
_BY_NUMPY: dict[np.dtype[Any], dtype] = {d.dtype: d for d in DTYPES.values()}
_ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "cfloat": "complex64",
    "cdouble": "complex128",
}
_PYTHON = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
_default: np.dtype[Any] = np.dtype("float32")


def is_half(numpy: np.dtype[Any]) -> bool:
    """Return whether a dtype is a floating type of two bytes: float16 or bfloat16."""
    return numpy.itemsize == 2 and numpy.kind in "fV"


def from_numpy_dtype(numpy: np.dtype[Any]) -> dtype:
    """Return the library's dtype for a NumPy dtype."""
    known = _BY_NUMPY.get(numpy)
    if known is not None:
        return known
    if numpy.name == "bfloat16":
        made = _BY_NUMPY[numpy] = DTYPES["bfloat16"] = dtype("bfloat16", numpy)
        return made
    native = _BY_NUMPY.get(numpy.newbyteorder("="))
    if native is not None:
        return native
    raise TypeError(
        f"can't convert np.ndarray of type numpy.{numpy.type.__name__}. "
        "The only supported types are: " + ", ".join(DTYPES) + "."
    )


def as_dtype(value: Any) -> dtype:
    """Return the dtype that `value` names: ours, NumPy's, Python's (``float``), or a string."""
    if isinstance(value, dtype):
        return value
    if isinstance(value, type) and value in _PYTHON:
        return DTYPES[_PYTHON[value]]
    if isinstance(value, str):
        name = value.removeprefix("torch.")
        name = _ALIASES.get(name, name)
        if name in DTYPES:
            return DTYPES[name]
    try:
        return from_numpy_dtype(np.dtype(value))
    except TypeError:
        raise TypeError(f"dtype must be a data type such as float32, not {value!r}") from None


def get_default_dtype() -> dtype:
    """Return the floating type that Python floats become (float32 unless changed).

    Examples
    --------
    >>> wg.get_default_dtype()
    torch.float32
    """
    return from_numpy_dtype(_default)


def set_default_dtype(d: Any, /) -> None:
    """Set the floating type that Python floats become, for the whole process.

    Raises
    ------
    TypeError: If `d` is not a real floating type.

    Examples
    --------
    >>> wg.set_default_dtype(wg.float64)
    >>> wg.tensor(1.5).dtype
    torch.float64
    >>> wg.set_default_dtype(wg.float32)
    """
    global _default
    chosen = as_dtype(d)
    if not chosen.is_floating_point:
        raise TypeError(
            f"only floating-point types are supported as the default type, but got {chosen!r}"
        )
    _default = chosen.dtype


def default_float() -> np.dtype[Any]:
    """Return NumPy's dtype object for the default floating type."""
    return _default


def default_complex() -> np.dtype[Any]:
    """Return the complex type whose parts are of the default floating type."""
    return complex_of(_default)


def real_of(numpy: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of a complex type's parts; any other type unchanged."""
    return np.dtype(f"f{numpy.itemsize // 2}") if numpy.kind == "c" else numpy


def complex_of(numpy: np.dtype[Any]) -> np.dtype[Any]:
    """Return the complex type with parts of a floating type (at least single precision)."""
    return numpy if numpy.kind == "c" else np.dtype(f"c{max(2 * numpy.itemsize, 8)}")


def is_differentiable(numpy: np.dtype[Any]) -> bool:
    """Return whether tensors of the type can require a gradient: floating and complex types can."""
    return numpy.kind not in "biu"


def _of_scalar(value: Any) -> np.dtype[Any]:
    if isinstance(value, bool | np.bool_):
        return np.dtype(bool)
    if isinstance(value, int | np.integer):
        return np.dtype("int64")
    if isinstance(value, float | np.floating):
        return _default
    return default_complex()


def promote(arrays: list[Any], scalars: list[Any], floating: bool = False) -> np.dtype[Any]:
    """Return the common type of arrays (anything with ``dtype`` and ``ndim``) and Python numbers.

    Parameters
    ----------
    arrays: Tensors' payloads. Those with dimensions outrank those without, within a category.
    scalars: Python numbers, weaker than any array.
    floating: Whether the operation has floating results: bools and integers become the default
        float.
    """
    dims: np.dtype[Any] | None = None
    zero: np.dtype[Any] | None = None
    for array in arrays:
        kind = array.dtype
        if array.ndim:
            dims = kind if dims is None else joined(dims, kind)
        else:
            zero = kind if zero is None else joined(zero, kind)
    result = _stronger(dims, zero)
    for value in scalars:
        result = _stronger(result, _of_scalar(value))
    assert result is not None
    if floating and category(result) < FLOATING:
        return _default
    return result


def joined(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """Return the common type of two of equal rank: the higher category's, or NumPy's within one."""
    if a == b:
        return a
    rank_a, rank_b = category(a), category(b)
    if rank_a != rank_b:
        low, high = (a, b) if rank_a < rank_b else (b, a)
        if category(high) == COMPLEX and category(low) == FLOATING:
            return np.result_type(low, high)
        return high
    if rank_a == FLOATING and "V" in (a.kind, b.kind) and a.itemsize == b.itemsize:
        return np.dtype(np.float32)  # NumPy has no common type of bfloat16 and float16
    return np.result_type(a, b)


def _stronger(strong: np.dtype[Any] | None, weak: np.dtype[Any] | None) -> np.dtype[Any] | None:
    """Return `strong`, unless `weak` is of a higher category."""
    if strong is None or weak is None:
        return weak if strong is None else strong
    if category(weak) <= category(strong):
        return strong
    if category(weak) == COMPLEX and category(strong) == FLOATING:
        return complex_of(strong)
    return weak


def _limits(bits: int, eps: float, most: float, normal: float, digits: float) -> SimpleNamespace:
    return SimpleNamespace(
        bits=bits, eps=eps, max=most, min=-most, smallest_normal=normal, resolution=digits
    )


_LIMITS = {
    "bfloat16": _limits(16, 2.0**-7, (2 - 2.0**-7) * 2.0**127, 2.0**-126, 0.01),
    "float8_e4m3fn": _limits(8, 0.125, 448.0, 2.0**-6, 1.0),
    "float8_e4m3fnuz": _limits(8, 0.125, 240.0, 2.0**-7, 1.0),
    "float8_e5m2": _limits(8, 0.25, 57344.0, 2.0**-14, 1.0),
    "float8_e5m2fnuz": _limits(8, 0.125, 57344.0, 2.0**-15, 1.0),
}
"""The limits of dtypes that NumPy does not know."""


def limits(kind: np.dtype[Any]) -> Any:
    """Return NumPy's limits of a dtype of integers or floats."""
    if kind.kind in "iu":
        return np.iinfo(kind)
    # the package that defines bfloat16 knows its limits
    return sys.modules["ml_dtypes"].finfo(kind) if kind.kind == "V" else np.finfo(kind)


class _Limits:
    """Numeric limits, which are equal for equal types."""

    dtype: str

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)


class finfo(_Limits):
    """The numeric limits of a floating type: `bits`, `eps`, `max`, `min`, `tiny`.

    Examples
    --------
    >>> wg.finfo(wg.float64).eps
    2.220446049250313e-16
    """

    def __init__(self, type: Any = None) -> None:
        chosen = get_default_dtype() if type is None else as_dtype(type)
        if chosen.category < FLOATING:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                f"'{chosen!r}'"
            )
        self.dtype = chosen.name if chosen.name in _LIMITS else chosen.to_real().name
        limits = _LIMITS.get(self.dtype) or np.finfo(chosen.dtype)
        self.bits = int(limits.bits)
        self.eps, self.max, self.min = float(limits.eps), float(limits.max), float(limits.min)
        self.tiny = self.smallest_normal = float(limits.smallest_normal)
        self.resolution = float(str(limits.resolution))

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo(_Limits):
    """The numeric limits of an integer type: `bits`, `max`, `min`.

    Examples
    --------
    >>> wg.iinfo(wg.int8).max
    127
    """

    def __init__(self, type: Any) -> None:
        chosen = as_dtype(type)
        if chosen.category != INTEGER:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                f"'{chosen!r}'"
            )
        limits = np.iinfo(chosen.dtype)
        self.bits, self.max, self.min = int(limits.bits), int(limits.max), int(limits.min)
        self.dtype = chosen.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
