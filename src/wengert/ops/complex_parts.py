"""Layer 5 · ops · pointwise: angles of complex numbers, and eager conjugation.

PyTorch conjugates lazily, by a flag of the tensor. Here `conj` conjugates at once: no tensor has
the flag, and the functions that handle it have nothing to do.
"""

from __future__ import annotations

from typing import Any

from wengert.base.export import export
from wengert.ops.coerce import operand
from wengert.ops.out import into
from wengert.prims import complex_parts as complex_parts
from wengert.tape.record import T


@export("wengert", "Tensor")
def angle(input: Any, *, out: Any = None) -> Any:
    """Return the angle of complex numbers, from -pi to pi; for real ones 0, or pi if negative.

    Parameters
    ----------
    input : Tensor. Of any shape; integers become floating.
    %(out)s

    Returns
    -------
    Tensor: Real, of the same shape. Differentiable, to any order; at 0, where there is no
        derivative, the gradient is 0, as it is for real numbers.

    Raises
    ------
    TypeError: If `input` is not a tensor.

    Examples
    --------
    >>> wg.angle(wg.tensor([1 + 1j, -2 + 0j]))
    tensor([0.7854, 3.1416])
    """
    return into(out, T.angle(operand(input, "angle")), "angle")


@export("wengert", "Tensor", "Tensor_")
def conj_physical(input: Any, *, out: Any = None) -> Any:
    """Return the complex conjugate as a copy; a real tensor itself.

    Parameters
    ----------
    %(input)s
    %(out)s

    Returns
    -------
    Tensor: Of the same dtype and shape. Differentiable, to any order.

    Raises
    ------
    TypeError: If `input` is not a tensor.

    Examples
    --------
    >>> wg.conj_physical(wg.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    x = operand(input, "conj_physical")
    return into(out, T.conj(x) if x._payload.dtype.kind == "c" else x, "conj_physical")


@export("wengert", "Tensor")
def resolve_conj(input: Any) -> Any:
    """Return the tensor itself: conjugation is never lazy here.

    Examples
    --------
    >>> wg.resolve_conj(wg.tensor([1 + 2j]).conj())
    tensor([1.-2.j])
    """
    return operand(input, "resolve_conj")


@export("wengert", "Tensor")
def resolve_neg(input: Any) -> Any:
    """Return the tensor itself: negation is never lazy here.

    Examples
    --------
    >>> wg.resolve_neg(wg.tensor([1.0]))
    tensor([1.])
    """
    return operand(input, "resolve_neg")


@export("wengert", "Tensor")
def is_conj(input: Any) -> bool:
    """Return False: conjugation is never lazy.

    Examples
    --------
    >>> wg.tensor([1 + 2j]).conj().is_conj()
    False
    """
    operand(input, "is_conj")
    return False


@export("wengert", "Tensor")
def is_neg(input: Any) -> bool:
    """Return False: negation is never lazy.

    Examples
    --------
    >>> wg.tensor([1.0]).is_neg()
    False
    """
    operand(input, "is_neg")
    return False
