"""Layer 5 · ops · activations: `softmax` and its logarithm."""

# the arguments have PyTorch's names

from __future__ import annotations

from typing import Any

from wengert.base.dtypes import as_dtype
from wengert.base.export import export
from wengert.ops.checks import dim_or_axis, one_dim, real_input
from wengert.ops.coerce import operand
from wengert.ops.out import into
from wengert.prims import neural as neural
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tape.sites import warn


@export("wengert", "Tensor")
def softmax(
    input: Any, dim: Any = None, dtype: Any = None, *, axis: Any = None, out: Any = None
) -> Any:
    """Return exponentials of the elements, scaled so that they add up to 1 along a dimension.

    Parameters
    ----------
    %(converted_input, probability_dim, axis, real_dtype_first, out)s

    Returns
    -------
    Tensor: Of the input's shape; differentiable. It does not overflow.

    %(raises_dim, error_floating)s

    Examples
    --------
    >>> wg.softmax(wg.tensor([[1.0, 1.0], [0.0, 1000.0]]), dim=1)
    tensor([[0.5000, 0.5000],
            [0.0000, 1.0000]])
    """
    dim = dim_or_axis(dim, axis, "softmax")
    result = _normalised("softmax", input, dim, dtype)
    return result if out is None else into(out, result, "softmax")


@export("wengert", "Tensor")
def log_softmax(
    input: Any, dim: Any = None, dtype: Any = None, *, axis: Any = None, out: Any = None
) -> Any:
    """Return the logarithm of `softmax`, without overflow or underflow.

    Parameters
    ----------
    %(converted_input)s
    dim : int. The dimension along which the exponentials of the results add up to 1.
    %(axis, real_dtype_first, out, returns_of_the_shape, raises_dim, error_floating)s

    Examples
    --------
    >>> wg.log_softmax(wg.tensor([0.0, 1000.0]), dim=0)
    tensor([-1000.,     0.])
    """
    dim = dim_or_axis(dim, axis, "log_softmax")
    result = _normalised("log_softmax", input, dim, dtype)
    return result if out is None else into(out, result, "log_softmax")


def _normalised(name: str, input: Any, dim: Any, dtype: Any) -> Any:
    input = operand(input, name)
    if dtype is not None:
        input = cast(input, as_dtype(dtype).dtype)
    payload = input._payload
    dim = one_dim(dim, payload.ndim, name)
    if payload.dtype.kind in "biuc":
        last = "lastdim_" if dim == max(payload.ndim - 1, 0) else ""
        real_input(input, name, f"{name}_{last}kernel_impl", floating=True)
    return getattr(T, name)(input, dim=(dim,) if payload.ndim else ())


def chosen_dim(name: str, input: Any, dim: int | None) -> int:
    """Return `dim`, or with a warning the dimension that PyTorch once chose by default."""
    if dim is not None:
        return dim
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument.",
    )
    return 0 if operand(input, name)._payload.ndim in (0, 1, 3) else 1
