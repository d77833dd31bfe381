"""Layer 5 · ops · pointwise: logarithms, the gamma function, and others of the core."""

# the functions have PyTorch's names

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.dtypes import FLOATING, category, promote
from wengert.base.errors import not_implemented, wrong_type
from wengert.base.export import export
from wengert.ops.coerce import integer, number, operand
from wengert.ops.elementwise import binary, unary
from wengert.ops.out import into
from wengert.prims import bessel as bessel
from wengert.prims import gamma as gamma
from wengert.prims import logarithms as logarithms
from wengert.prims import normal as normal
from wengert.tape.record import T

lgamma = unary("lgamma", "[0.5, 3.0]", "tensor([0.5724, 0.6931])")
digamma = unary("digamma", "[0.5, 3.0]", "tensor([-1.9635,  0.9228])")
erfinv = unary("erfinv", "[0.0, 0.5]", "tensor([0.0000, 0.4769])")
i0 = unary("i0", "[0.0, 1.0]", "tensor([1.0000, 1.2661])")
sinc = unary("sinc", "[0.0, 0.5]", "tensor([1.0000, 0.6366])")
xlogy = binary(
    "xlogy",
    ("[0.0, 2.0]", "[0.0, 3.0]"),
    "tensor([0.0000, 2.1972])",
    note="differentiable, to any order; where it is 0 because `input` is, an infinite derivative "
    "counts as 0",
)
logaddexp = binary(
    "logaddexp",
    ("[0.0, 1000.0]", "[0.0, 1000.0]"),
    "tensor([6.9315e-01, 1.0007e+03])",
    numbers=False,
    note="differentiable, to any order; equal arguments, infinite ones as well, share the gradient",
)
logaddexp2 = binary(
    "logaddexp2",
    ("[0.0, 3.0]", "[0.0, 3.0]"),
    "tensor([1., 4.])",
    numbers=False,
    note="differentiable, to any order; equal arguments, infinite ones as well, share the gradient",
)

_INCOMPLETE = (
    "differentiable with respect to `other`, to any order. The derivative with respect to\n        "
    "`input` is not known: going backward to it raises NotImplementedError"
)


def _floating(name: str) -> Callable[[Any, Any], None]:
    def check(input: Any, other: Any) -> None:
        dtype = promote([input._payload, other._payload], [])
        if category(dtype) != FLOATING:
            raise not_implemented(
                f"{name}_cpu", dtype, "convert the tensors to a real floating dtype"
            )

    return check


igamma = binary(
    "igamma",
    ("[1.0, 2.0]", "[1.0, 1.0]"),
    "tensor([0.6321, 0.2642])",
    numbers=False,
    check=_floating("igamma"),
    note=_INCOMPLETE,
)
igammac = binary(
    "igammac",
    ("[1.0, 2.0]", "[1.0, 1.0]"),
    "tensor([0.3679, 0.7358])",
    numbers=False,
    check=_floating("igammac"),
    note=_INCOMPLETE,
)
export("wengert", "Tensor", "Tensor_")(lgamma, digamma, erfinv, i0, sinc, xlogy, igamma, igammac)
export("wengert", "Tensor")(logaddexp, logaddexp2)


@export("wengert", "Tensor", "Tensor_")
def logit(input: Any, eps: float | None = None, *, out: Any = None) -> Any:
    """Return ``log(input / (1 - input))``, the inverse of `sigmoid`, element by element.

    Parameters
    ----------
    input : Tensor. Real; outside of [0, 1] the result is NaN, unless `eps` is given.
    eps : float, optional. Keep the input within [eps, 1 - eps] first.

    Returns
    -------
    Tensor: Differentiable, to any order; the derivative is 0 where `eps` changed the input.

    %(raises_complex)s

    Examples
    --------
    >>> wg.logit(wg.tensor([0.5, 0.0]), eps=0.1)
    tensor([ 0.0000, -2.1972])
    """
    eps = None if eps is None else number(eps, "logit", "eps", "float", 2)
    if isinstance(eps, complex):
        raise wrong_type("logit", "eps", "float", eps, 2)
    made = T.logit(input, eps=eps)
    return made if out is None else into(out, made, "logit")


@export("wengert")
def polygamma(n: int, input: Any, *, out: Any = None) -> Any:
    """Return the derivative of order `n` of `digamma`, element by element.

    Parameters
    ----------
    n : int. The order, at least 0.
    input : Tensor. Real.

    Returns
    -------
    Tensor: Differentiable with respect to `input`, to any order.

    Raises
    ------
    RuntimeError: If the order is negative.

    Examples
    --------
    >>> wg.polygamma(1, wg.tensor([1.0, 2.0]))
    tensor([1.6449, 0.6449])
    """
    n = integer(n, "polygamma", "n", 1)
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n.: n is {n}")
    made = T.polygamma(input, n=n)
    return made if out is None else into(out, made, "polygamma")


@export("wengert", "Tensor", "Tensor_")
def mvlgamma(input: Any, p: int, *, out: Any = None) -> Any:
    """Return the logarithm of the multivariate gamma function of dimension `p`, element by element.

    It is ``p (p - 1) / 4 log(pi)`` plus the sum of ``lgamma(input - i / 2)`` for i from 0 to p - 1.

    Parameters
    ----------
    input : Tensor. Real, above ``(p - 1) / 2``.
    p : int. The dimension, at least 1.

    %(returns_smooth)s

    Raises
    ------
    RuntimeError: If `p` is less than 1, or the input consists of bools.

    Examples
    --------
    >>> wg.mvlgamma(wg.tensor([2.0, 3.0]), 2)
    tensor([0.4516, 1.5502])
    """
    x = operand(input, "mvlgamma")
    p = integer(p, "mvlgamma", "p", 2)
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1: it is {p}")
    if x._payload.dtype.kind == "b":
        raise RuntimeError(
            "The input tensor may not be a boolean tensor.: convert it to a floating dtype"
        )
    made = T.mvlgamma(x, p=p)
    return made if out is None else into(out, made, "mvlgamma")
