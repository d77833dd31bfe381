"""Layer 5 · ops · transforms: the frequencies of Fourier transforms, and shifts."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.shapes import normal_dims
from wengert.ops.checks import numpy_names
from wengert.ops.coerce import integer, operand
from wengert.ops.options import float_type, made
from wengert.ops.out import into
from wengert.tape.record import T

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def _frequencies(
    name: str, n: Any, d: float, out: Any, dtype: Any, device: Any, requires_grad: bool
) -> Any:
    n = integer(n, f"fft_{name}", "n", 1)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    kind = float_type(dtype)
    if kind.kind not in "fc":
        raise RuntimeError(
            f"{name} requires a floating point or complex dtype, but got {kind.name}"
        )
    steps = np.arange(n // 2 + 1 if name == "rfftfreq" else n, dtype=kind)
    if name == "fftfreq":
        steps[(n + 1) // 2 :] -= n
    with np.errstate(divide="ignore", invalid="ignore"):
        steps *= kind.type(np.float64(1.0) / np.float64(n * d))
    return into(out, made(steps, device, requires_grad), name)


def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return the frequencies of what `fft` returns: 0, the positive and then the negative ones.

    Parameters
    ----------
    n : int. The length of the signal.
    d : number. The time from one of its values to the next.
    dtype : dtype, optional. A floating or complex dtype; the default floating dtype unless given.
    layout: Has no effect.
    %(device, requires_grad)s

    Returns
    -------
    Tensor: Of shape (n,).

    Raises
    ------
    RuntimeError: If `n` is negative, or the dtype is an integer dtype or bool.

    Examples
    --------
    >>> wg.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return _frequencies("fftfreq", n, d, out, dtype, device, requires_grad)


def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Return the frequencies of what `rfft` returns, from 0 up; arguments as for `fftfreq`.

    Examples
    --------
    >>> wg.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    return _frequencies("rfftfreq", n, d, out, dtype, device, requires_grad)


# -- shifts ----------------------------------------------------------------------------------------


def _shifted(name: str, input: Any, dim: Any, forward: bool) -> Any:
    x = operand(input, f"fft_{name}")
    shape = x._payload.shape
    dims = normal_dims(dim, len(shape))
    if not dims:
        raise RuntimeError(f"`shifts` required: {name}() needs at least one dimension")
    by = tuple([shape[d] // 2 if forward else (shape[d] + 1) // 2 for d in dims])
    return T.roll(x, shifts=by, dims=dims)


@numpy_names
def fftshift(input: Any, dim: Any = None) -> Any:
    """Frequencies in ascending order: the second half, of negative ones, before the first.

    Parameters
    ----------
    input : Tensor. Of any dtype.
    dim : int or sequence of int, optional. The dimensions; all by default.

    Returns
    -------
    Tensor: Of the same shape. Differentiable.

    %(raises_no_dim)s

    Examples
    --------
    >>> wg.fft.fftshift(wg.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    return _shifted("fftshift", input, dim, True)


@numpy_names
def ifftshift(input: Any, dim: Any = None) -> Any:
    """Return the inverse of `fftshift`; arguments as for `fftshift`.

    Examples
    --------
    >>> wg.fft.ifftshift(wg.arange(5))
    tensor([2, 3, 4, 0, 1])
    """
    return _shifted("ifftshift", input, dim, False)
