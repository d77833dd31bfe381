"""Layer 5 · ops: helpers of linear algebra: PyTorch's checks, and parts of results."""

from __future__ import annotations

from typing import Any

from wengert.base.errors import not_implemented
from wengert.base.shapes import broadcast
from wengert.ops.coerce import dtype_name, wide
from wengert.prims import factors as factors
from wengert.tape.record import T

LAPACK = "fdFD"
"""NumPy's characters for the dtypes of LAPACK; a dtype's name takes microseconds."""


def matrices_of(
    value: Any, op: str, name: str, arg: str = "A", position: int = 1, letter: str = "A"
) -> Any:
    """Return `value` as a tensor of matrices; errors name `op` or, as PyTorch's, `name`."""
    x = wide(value, op, arg, position)
    if x._payload.ndim < 2:
        raise RuntimeError(
            f"{name}: The input tensor {letter} must have at least 2 dimensions. Its shape is "
            f"{list(x._payload.shape)}; the last two dimensions are rows and columns"
        )
    return x


def square_of(value: Any, op: str, name: str, arg: str = "A", position: int = 1) -> Any:
    """Return `value` as a tensor of square matrices."""
    x = matrices_of(value, op, name, arg, position)
    rows, columns = x._payload.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {rows} by {columns} "
            "matrices"
        )
    return x


def check_floating(x: Any, name: str, low: str = "") -> None:
    """Refuse integers and half precision; `low` names the kernel where that has other words."""
    dtype = x._payload.dtype
    if dtype.char in LAPACK:
        return
    if dtype.kind in "biu":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got "
            f"{dtype_name(x._payload)}; convert it with .to(dtype)"
        )
    if low:
        check_lapack(x, low)
    raise RuntimeError(
        f"{name}: Low precision dtypes not supported. Got {dtype_name(x._payload)}; convert it "
        "with .to(dtype)"
    )


def check_lapack(x: Any, kernel: str) -> None:
    """Refuse the dtypes for which there is no LAPACK, in the words of PyTorch's `kernel`."""
    if x._payload.dtype.char not in LAPACK:
        raise not_implemented(kernel, x._payload.dtype, "convert the input with .to(dtype)")


def check_same_dtype(x: Any, y: Any, message: str) -> None:
    """Refuse two dtypes, with {} and {} in `message` for their names."""
    if x._payload.dtype != y._payload.dtype:
        raise RuntimeError(
            message.format(dtype_name(x._payload), dtype_name(y._payload))
            + ": convert one of them with .to(dtype)"
        )


def check_system(a: Any, b: Any, left: bool, name: str) -> None:
    """Refuse shapes that do not fit in ``A @ X = B`` or, not `left`, in ``X @ A = B``."""
    if len(b) < 2:
        raise RuntimeError(
            f"{name}: The input tensor B must have at least 2 dimensions. Its shape is {list(b)}"
        )
    if b[-2 if left else -1] != a[-1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX' if left else 'XA'} = B ({a[-2]}x{a[-1]} and {b[-2]}x{b[-1]})"
        )
    if a[:-2] != b[:-2]:
        broadcast(a[:-2], b[:-2])


def transposed(x: Any) -> Any:
    """Transpose matrices."""
    n = x._payload.ndim
    return T.transpose(x, dim0=n - 2, dim1=n - 1)


def adjoint_of(x: Any) -> Any:
    """Transpose matrices and, if complex, conjugate them."""
    turned = transposed(x)
    return T.conj(turned) if x._payload.dtype.kind == "c" else turned


def expand_batch(x: Any, batch: tuple[int, ...], own: int = 2) -> Any:
    """Expand all but the last `own` dimensions of a tensor to `batch`."""
    shape = x._payload.shape
    kept = shape[len(shape) - own :]
    return x if shape == (*batch, *kept) else T.expand(x, shape=(*batch, *kept))


def triangles(LU: Any) -> tuple[Any, Any]:
    """Return L and U."""
    n, (rows, columns) = LU._payload.ndim, LU._payload.shape[-2:]
    k = min(rows, columns)
    lower = LU if k == columns else T.slice(LU, dim=n - 1, start=0, end=k, step=1)
    upper = LU if k == rows else T.slice(LU, dim=n - 2, start=0, end=k, step=1)
    return T.unit_lower(lower), T.triu(upper, diagonal=0)
