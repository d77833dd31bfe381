"""Layer 5 · ops · creation: tensors that follow a pattern: ranges, diagonals, pairs of parts."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from wengert.base.dtypes import as_dtype, default_complex, default_float
from wengert.base.errors import long_name
from wengert.base.export import export
from wengert.kernels import fused
from wengert.ops.coerce import integer, operand, wide
from wengert.ops.options import check_strided, float_type, made, number, type_of
from wengert.ops.out import asked, created, into
from wengert.prims import parts as parts
from wengert.tape.base import TensorBase
from wengert.tape.record import T
from wengert.tape.sites import warn


@export("wengert")
def arange(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return the numbers from `start` to `end`, exclusive, in steps of `step`.

    Parameters
    ----------
    start : number. The first; with one argument alone that is `end`, and the first is 0.
    end : number. The end, exclusive.
    step : number. The difference of neighbours, not 0, in the direction from `start` to `end`.
    dtype : dtype, optional. int64 if all three are integers, else the default floating dtype.
    %(ignored_layout, device, requires_grad)s

    Returns
    -------
    Tensor: A leaf of one dimension.

    Raises
    ------
    RuntimeError: If `step` is 0 or leads away from `end`, or a bound is not finite.

    Examples
    --------
    >>> wg.arange(5), wg.arange(1, 2.5, 0.5)
    (tensor([0, 1, 2, 3, 4]), tensor([1.0000, 1.5000, 2.0000]))
    """
    if layout is not None:
        check_strided(layout, "arange")
    if end is None:
        start, end = 0, start
    start, end, step = (_real("arange", value) for value in (start, end, step))
    whole = isinstance(start, int) and isinstance(end, int) and isinstance(step, int)
    implied = np.dtype(np.int64) if whole else default_float()
    dtype = asked(dtype, out)
    kind = implied if dtype is None else type_of(dtype)
    if kind.kind in "bc":
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{as_dtype(kind)!r}'")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    count = math.ceil(_length(start, end, step, kind))
    if kind.kind in "iu":
        # as in PyTorch: only in int64 do the integer bounds determine the count
        start, end, step = int(start), int(end), int(step)
        if step == 0:
            raise RuntimeError("step must be nonzero: it is cut to 0 in an integer dtype")
        if kind == np.int64:
            count = max(-((start - end) // step), 0)
        array = (start + step * np.arange(count, dtype=np.int64)).astype(kind, copy=False)
    else:
        array = fused.progression(start, step, count, kind)
    return created(array, device, requires_grad, out, "arange")


def _length(start: Any, end: Any, step: Any, kind: np.dtype[Any]) -> float:
    """Return the number of steps, not rounded, if an array of `kind` can have as many elements."""
    if step == 0:
        raise RuntimeError("step must be nonzero")
    length: float = (end - start) / step
    where = f"from {start} to {end} in steps of {step}"
    if length < 0:
        raise RuntimeError(f"upper bound and lower bound inconsistent with step sign: {where}")
    # NumPy makes an empty array where the count overflows
    if not length * kind.itemsize < 2**63:
        raise RuntimeError(f"invalid size, possible overflow? The range is {where}")
    return length


def _real(function: str, value: Any) -> Any:
    """Return a bound of a range: a real number."""
    if type(value) is int or type(value) is float:
        return value
    if isinstance(value, TensorBase) and value._payload.ndim:
        raise TypeError(
            f"{function}() only supports 0-dimensional bounds, but got a tensor of shape "
            f"{list(value._payload.shape)}"
        )
    plain = number(value)
    if isinstance(plain, builtins.complex):
        raise RuntimeError(
            f"value cannot be converted to type double without overflow: {plain} is complex"
        )
    if not isinstance(plain, int | float):
        raise TypeError(f"{function}(): bounds must be numbers, not {type(value).__name__}")
    return plain


def _spaced(
    function: str, start: Any, end: Any, steps: Any, dtype: Any
) -> tuple[Any, Any, int, np.dtype[Any]]:
    """Return the checked arguments of `linspace` and `logspace`."""
    ndims = [v._payload.ndim if isinstance(v, TensorBase) else 0 for v in (start, end)]
    if any(ndims):
        raise RuntimeError(
            f"{function} only supports 0-dimensional start and end tensors, but got start with "
            f"{ndims[0]} dimension(s) and end with {ndims[1]} dimension(s)."
        )
    # the series is a leaf, also where a bound requires a gradient
    start, end = (
        number(v.detach() if isinstance(v, TensorBase) else v)  # type: ignore[attr-defined]
        for v in (start, end)
    )
    count = integer(steps, function, "steps")
    if count < 0:
        raise RuntimeError(f"number of steps must be non-negative, but got {count}")
    kind = float_type(dtype)
    if isinstance(start, builtins.complex) or isinstance(end, builtins.complex):
        if dtype is None:
            kind = default_complex()
        elif kind.kind != "c":
            raise RuntimeError(
                f"torch.{function}(): inferred dtype {as_dtype(default_complex())!r} can't be "
                f"safely cast to passed dtype {as_dtype(kind)!r}"
            )
    if kind.kind == "b":
        raise NotImplementedError(f"\"{function}_cpu\" not implemented for 'Bool'")
    return start, end, count, kind


@export("wengert")
def linspace(
    start: Any,
    end: Any,
    steps: Any,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return evenly spaced numbers from `start` to `end`, both included.

    Parameters
    ----------
    start, end : number. The first and the last.
    steps : int. The number of values.
    out, layout, device, pin_memory, requires_grad: As for `arange`.
    dtype : dtype, optional. The default floating dtype, or complex if a bound is.

    Returns
    -------
    Tensor: A leaf of one dimension.

    Raises
    ------
    RuntimeError: If `steps` is negative.

    Examples
    --------
    >>> wg.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    if layout is not None:
        check_strided(layout, "linspace")
    array = fused.linspace(*_spaced("linspace", start, end, steps, asked(dtype, out)))
    return created(array, device, requires_grad, out, "linspace")


@export("wengert")
def logspace(
    start: Any,
    end: Any,
    steps: Any,
    base: float = 10.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return powers of `base`, whose exponents are evenly spaced from `start` to `end`.

    Parameters
    ----------
    start, end : number. The first and the last exponent.
    steps : int. The number of values.
    base : float. The base of the powers.
    out, dtype, layout, device, pin_memory, requires_grad: As for `linspace`.

    Returns
    -------
    Tensor: A leaf of one dimension.

    Raises
    ------
    RuntimeError: If `steps` is negative.

    Examples
    --------
    >>> wg.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    if layout is not None:
        check_strided(layout, "logspace")
    first, last, count, kind = _spaced("logspace", start, end, steps, asked(dtype, out))
    if kind.kind in "iu":
        # PyTorch converts the exponents first
        first, last = int(first), int(last)
    array = fused.logspace(first, last, count, base, kind)
    return created(array, device, requires_grad, out, "logspace")


@export("wengert")
def eye(
    n: Any,
    m: Any = None,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return ones on the diagonal of a matrix, zeros elsewhere.

    Parameters
    ----------
    n, m : int. The numbers of rows and of columns; as many columns as rows if `m` is None.
    out, layout, device, pin_memory, requires_grad: As for `arange`.
    dtype : dtype, optional. The default floating dtype unless given.

    Returns
    -------
    Tensor: A leaf of shape (n, m).

    Raises
    ------
    RuntimeError: If `n` or `m` is negative.

    Examples
    --------
    >>> wg.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    if layout is not None:
        check_strided(layout, "eye")
    rows = integer(n, "eye", "n")
    columns = rows if m is None else integer(m, "eye", "m")
    for name, value in (("n", rows), ("m", columns)):
        if value < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {value}")
    array = np.eye(rows, columns, dtype=float_type(asked(dtype, out)))
    return created(array, device, requires_grad, out, "eye")


def _triangle(function: str, mask: Any, row: int, col: int, dtype: Any, device: Any) -> Any:
    for name, value in (("row", row), ("col", col)):
        if value < 0:
            raise RuntimeError(f"{function}: {name} must be non-negative, got {value}")
    kind = np.dtype(np.int64) if dtype is None else type_of(dtype)
    return made(np.stack(np.nonzero(mask)).astype(kind), device)


@export("wengert")
def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
) -> Any:
    """Return the rows and columns of a matrix's elements on and below a diagonal, in row order.

    Parameters
    ----------
    row, col : int. The shape of the matrix.
    offset : int. The diagonal: 0 the main one, above it positive.
    dtype : dtype, optional. int64 unless given.
    %(device)s
    layout: Has no effect.

    Returns
    -------
    Tensor: Of shape (2, number of elements).

    Examples
    --------
    >>> wg.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    if layout is not None:
        check_strided(layout, "tril_indices")
    row, col = integer(row, "tril_indices", "row"), integer(col, "tril_indices", "col")
    mask = np.tri(max(row, 0), max(col, 0), offset, bool)
    return _triangle("tril_indices", mask, row, col, dtype, device)


@export("wengert")
def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: Any = None,
    device: Any = None,
    layout: Any = None,
) -> Any:
    """Return the row and column indices on and above a diagonal; arguments as for `tril_indices`.

    Examples
    --------
    >>> wg.triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    if layout is not None:
        check_strided(layout, "triu_indices")
    row, col = integer(row, "triu_indices", "row"), integer(col, "triu_indices", "col")
    mask = ~np.tri(max(row, 0), max(col, 0), offset - 1, bool)
    return _triangle("triu_indices", mask, row, col, dtype, device)


def _of_parts(function: str, names: tuple[str, str], parts: tuple[Any, Any], out: Any) -> Any:
    """Return a complex tensor of two checked parts."""
    first, second = (
        (wide if function == "polar" else operand)(part, function, name, i + 1)
        for i, (name, part) in enumerate(zip(names, parts, strict=True))
    )
    a, b = first._payload.dtype, second._payload.dtype
    takes = f"{function}() takes two tensors of float32 or two of float64"
    if a.kind != "f" or b.kind != "f":
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{long_name(a)} and {long_name(b)}: {takes}"
        )
    if a != b:
        raise RuntimeError(
            f"Expected object of scalar type {long_name(a)} but got scalar type {long_name(b)} "
            f"for second argument: {takes}"
        )
    if a.itemsize < 4:
        raise NotImplementedError(f"complex32 is not supported, since NumPy has no such: {takes}")
    made_of = getattr(T, function)(first, second)
    if out is None:
        return made_of
    if isinstance(out, TensorBase) and out._payload.dtype != made_of._payload.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {long_name(made_of._payload.dtype)} but got scalar "
            f"type {long_name(out._payload.dtype)} for argument 'out'"
        )
    return into(out, made_of, function)


@export("wengert")
def complex(real: Any, imag: Any, *, out: Any = None) -> Any:
    """Return the complex tensor with these real and imaginary parts.

    Parameters
    ----------
    real, imag : Tensor. Both float32 or both float64, of shapes that broadcast.

    Returns
    -------
    Tensor: complex64 or complex128. Differentiable to any order in both arguments.

    Raises
    ------
    RuntimeError: If the dtypes differ or are not floating.

    Examples
    --------
    >>> wg.complex(wg.tensor([1.0]), wg.tensor([2.0]))
    tensor([1.+2.j])
    """
    return _of_parts("complex", ("real", "imag"), (real, imag), out)


@export("wengert")
def polar(abs: Any, angle: Any, *, out: Any = None) -> Any:
    """Return the complex tensor with these lengths and angles (in radians).

    Parameters
    ----------
    abs, angle : Tensor. Both float32 or both float64, of shapes that broadcast.

    Returns
    -------
    Tensor: complex64 or complex128. Differentiable to any order in both arguments.

    Raises
    ------
    RuntimeError: If the dtypes differ or are not floating.

    Examples
    --------
    >>> wg.polar(wg.tensor([2.0]), wg.tensor([0.0]))
    tensor([2.+0.j])
    """
    return _of_parts("polar", ("abs", "angle"), (abs, angle), out)


@export("wengert")
def range(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return numbers from `start` up to and with `end`, in steps of `step`; write `arange` instead.

    Parameters
    ----------
    start, end, step : number. The first one, the last one if the steps lead there, and the steps.
    out : Tensor, optional. The tensor to write to.
    dtype : dtype, optional. Default: the default floating dtype.
    %(ignored_layout, device, requires_grad)s

    Examples
    --------
    %(without_warnings)s
    ...     x = wg.range(1, 3)
    >>> x
    tensor([1., 2., 3.])
    """
    if layout is not None:
        check_strided(layout, "range")
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior "
        "is inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        UserWarning,
    )
    if end is None:
        start, end = 0, start
    kind = float_type(asked(dtype, out))
    count = math.floor(_length(start, end, step, kind)) + 1
    values = (start + step * np.arange(count, dtype=np.float64)).astype(kind)
    return created(values, device, requires_grad, out, "range")
