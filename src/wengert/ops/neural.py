"""Layer 5 · ops: `softmax` and its logarithm."""

# the arguments have PyTorch's names

from __future__ import annotations

from typing import Any

from wengert.base.dtypes import as_dtype
from wengert.ops.checks import dim_or_axis, one_dim, real_input
from wengert.ops.coerce import operand
from wengert.tape.lift import cast
from wengert.tape.record import T

__all__ = ["log_softmax", "softmax"]


def softmax(input: Any, dim: Any = None, dtype: Any = None, *, axis: Any = None) -> Any:
    """Exponentials of the elements, scaled so that they add up to 1 along a dimension.

    Parameters
    ----------
    input : Tensor
        Of a real floating dtype, unless `dtype` is given.
    dim : int
        The dimension along which the results add up to 1.
    axis : int, optional
        NumPy's name of `dim`.
    dtype : dtype, optional
        A real floating dtype to convert the input to first.

    Returns
    -------
    Tensor
        Of the input's shape; differentiable. It does not overflow.

    Raises
    ------
    IndexError
        If the dimension is out of range.
    NotImplementedError
        If the dtype is no real floating dtype.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.softmax(wg.tensor([[1.0, 1.0], [0.0, 1000.0]]), dim=1)
    tensor([[0.5000, 0.5000],
            [0.0000, 1.0000]])
    """
    dim = dim_or_axis(dim, axis, "softmax")
    return _normalised("softmax", input, dim, dtype)


def log_softmax(input: Any, dim: Any = None, dtype: Any = None, *, axis: Any = None) -> Any:
    """The logarithm of `softmax`, computed without a detour that could over- or underflow.

    Parameters
    ----------
    input : Tensor
        Of a real floating dtype, unless `dtype` is given.
    dim : int
        The dimension along which the exponentials of the results add up to 1.
    axis : int, optional
        NumPy's name of `dim`.
    dtype : dtype, optional
        A real floating dtype to convert the input to first.

    Returns
    -------
    Tensor
        Of the input's shape; differentiable.

    Raises
    ------
    IndexError
        If the dimension is out of range.
    NotImplementedError
        If the dtype is no real floating dtype.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.log_softmax(wg.tensor([0.0, 1000.0]), dim=0)
    tensor([-1000.,     0.])
    """
    dim = dim_or_axis(dim, axis, "log_softmax")
    return _normalised("log_softmax", input, dim, dtype)


def _normalised(name: str, input: Any, dim: Any, dtype: Any) -> Any:
    input = operand(input, name)
    if dtype is not None:
        input = cast(input, as_dtype(dtype).dtype)
    payload = input.payload
    dim = one_dim(dim, payload.ndim, name)
    if payload.dtype.kind in "biuc":
        last = "lastdim_" if dim == max(payload.ndim - 1, 0) else ""
        real_input(input, name, f"{name}_{last}kernel_impl", floating=True)
    return getattr(T, name)(input, dim=(dim,) if payload.ndim else ())
