"""Layer 5 · ops · reductions: norms outside of `linalg`, and related functions."""

from __future__ import annotations

from typing import Any

from wengert.base.errors import long_name, wrong_type
from wengert.base.export import export
from wengert.base.shapes import normal_dim
from wengert.ops.checks import numpy_names
from wengert.ops.coerce import integer, operand
from wengert.ops.matrix_norms import matrix_norm
from wengert.ops.moments import check_norm_dtype, vector_norm
from wengert.ops.options import number
from wengert.ops.out import into
from wengert.ops.select import clamp_min
from wengert.prims import distances as distances
from wengert.tape.operands import is_number
from wengert.tape.record import T


@export("wengert", "Tensor")
def norm(
    input: Any,
    p: float | str | None = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Any = None,
    dtype: Any = None,
) -> Any:
    """Return the norm of the elements as a vector, overall or along dimensions.

    Parameters
    ----------
    %(inexact_input)s
    p : number, "fro" or "nuc". The power, as ``ord`` of `linalg.vector_norm`; "fro" and None stand
        for 2. "nuc" is the sum of the singular values, of matrices only.
    dim : int or tuple of int, optional. The dimensions to combine; all by default. For "nuc" two.
    %(keepdims, to_dtype)s

    Returns
    -------
    Tensor: The norms, real; differentiable, with the gradient 0 where a norm has no derivative.

    Raises
    ------
    RuntimeError: For another string, for dimensions that do not fit, for an integer dtype or bool,
        or for an infinite norm of no elements.
    %(error_dims)s

    Examples
    --------
    >>> x = wg.tensor([3.0, 4.0], requires_grad=True)
    >>> x.norm().backward()
    >>> x.grad
    tensor([0.6000, 0.8000])
    """
    several = isinstance(dim, tuple | list)
    if not isinstance(p, str) or (p == "fro" and not (several and len(dim) > 2)):
        power = 2 if p is None or p == "fro" else p
        return vector_norm(input, power, dim, keepdim, dtype=dtype, out=out)
    x = operand(input, "norm")
    if p not in ("fro", "nuc"):
        raise RuntimeError(
            f"linalg.matrix_norm: Order {p} not supported. Give a number, 'fro' or 'nuc'."
        )
    if dim is None:
        dim = tuple(range(x._payload.ndim))
    elif not several:
        dim = (dim,)
    return matrix_norm(x, p, dim, keepdim, dtype=dtype, out=out)


@export("wengert", "Tensor")
def dist(input: Any, other: Any, p: float = 2) -> Any:
    """Return the norm of the difference of two tensors, as vectors.

    Parameters
    ----------
    input, other : Tensor. Of floating or complex dtype; they broadcast against each other.
    p : number. The power of the norm, as ``ord`` of `linalg.vector_norm`.

    Returns
    -------
    Tensor: Without dimensions, real. Differentiable with respect to both, to any order; where the
        norm has no derivative, as for tensors that are the same, the gradient is 0.

    Raises
    ------
    RuntimeError: If the shapes do not broadcast, or both are of an integer dtype or bool.

    Examples
    --------
    >>> wg.dist(wg.tensor([1.0, 2.0]), wg.tensor([4.0, 6.0]))
    tensor(5.)
    """
    x, y = operand(input, "dist"), operand(other, "dist", "other", 2)
    if x._payload.dtype.kind in "biu" and y._payload.dtype.kind in "biu":
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{long_name(x._payload.dtype)} instead."
        )
    return vector_norm(T.sub(x, y), p)


@export("wengert", "Tensor", "Tensor_")
@numpy_names
def renorm(input: Any, p: float, dim: int, maxnorm: float, *, out: Any = None) -> Any:
    """Return a copy with slices that are too long scaled down.

    Parameters
    ----------
    input : Tensor. Of floating or complex dtype, with at least two dimensions.
    p : number. The power of the norm; positive.
    dim : int. The dimension whose positions are the parts.
    maxnorm : number. The largest norm that a part keeps.
    %(out)s

    %(returns_alike)s

    Raises
    ------
    RuntimeError: If there are less than two dimensions, or `p` or `maxnorm` is out of range.

    Examples
    --------
    >>> wg.renorm(wg.tensor([[3.0, 4.0], [0.1, 0.2]]), 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.1000, 0.2000]])
    """
    x = operand(input, "renorm")
    power, most = number(p), number(maxnorm)
    for name, value in (("p", power), ("maxnorm", most)):
        if not is_number(value):
            raise wrong_type("renorm", name, "Number", value)
        if isinstance(value, complex):
            raise RuntimeError(f"renorm: {name} must be real-valued")
    if not power > 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported: p is {power}")
    if not most >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {most}")
    array = x._payload
    if array.ndim < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {array.ndim} dimensions"
        )
    axis = normal_dim(integer(dim, "renorm", "dim"), array.ndim)
    check_norm_dtype(x)
    others = tuple([d for d in range(array.ndim) if d != axis])
    return into(out, T.renorm(x, p=power, dim=others, maxnorm=most), "renorm")


@export("nn.functional")
def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Any:
    """Return the input over its norm along a dimension, which becomes 1.

    Parameters
    ----------
    %(inexact_input)s
    p : float. The exponent of the norm.
    dim : int or tuple of int. The dimensions along which the norm is taken.
    eps : float. The least divisor.

    %(returns_of_the_shape, raises_dim)s
    RuntimeError: If the dtype is neither floating nor complex.

    Examples
    --------
    >>> wg.nn.functional.normalize(wg.tensor([[3.0, 4.0], [0.0, 0.0]]))
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """
    x = operand(input, "normalize")
    length = clamp_min(norm(x, p, dim, keepdim=True), eps)
    return into(out, T.div(x, length), "div")
