"""Layer 9 · numpy: special functions under the names of ``scipy.special``.

They are the SciPy functions that have a derivative here. Where SciPy follows the array API standard
(``SCIPY_ARRAY_API=1``), its own functions look for them here.

>>> x = np.array([0.5, 1.5]).requires_grad_()
>>> np.sum(np.special.gammaln(x)).backward()
>>> x.grad
tensor([-1.9635,  0.0365], dtype=torch.float64)
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as _np

from wengert.base.extras import scipy_module
from wengert.numpy.arrays import array_of, lasting, made
from wengert.numpy.functions import Ufunc
from wengert.tensor.numpy import ufuncs as _ufuncs
from wengert.tensor.numpy.counterparts import all_axes, floating, late
from wengert.tensor.numpy.dispatch import kind_of
from wengert.tensor.numpy.special import RULES, rule_of


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """Compute the logarithm of a sum of exponentials (see `scipy.special.logsumexp`).

    Parameters
    ----------
    a : array_like.
    axis : int or tuple of int, optional. The axes to sum along; None means all.
    b : array_like, optional. Factors of the exponentials.
    keepdims : bool. Whether to keep the axes, as ones of size 1.
    return_sign : bool. Whether to return the logarithm of the absolute value, and the sign.

    Returns
    -------
    ndarray: Differentiable; NaN where the sum is negative, without `return_sign`.

    Examples
    --------
    >>> np.special.logsumexp([1000.0, 1000.0])
    tensor(1000.6931, dtype=torch.float64)
    """
    (x,) = floating(*lasting((a,)))
    if b is None and not return_sign:
        return made(late("logsumexp")(x, all_axes(axis, x.ndim), keepdims))
    (b,) = lasting((array_of(1.0 if b is None else b),))
    # the largest exponent that counts; a factor may be negative, and so has no logarithm
    largest = _np.max(_np.where(b == 0, -_np.inf, _np.real(x.detach())), axis, keepdims=True)
    largest = _np.where(_np.isfinite(largest), largest, 0.0)
    over, most = x - largest, _np.log(_np.finfo(x.dtype).max) - 1
    over = _np.where(_np.real(over) > most, most, over)  # only factors of 0 leave these
    total = _np.sum(b * _np.exp(over), axis, keepdims=keepdims)
    shift = largest if keepdims else _np.squeeze(largest, axis)
    found = made(_np.log(_np.abs(total) if return_sign else total) + shift)
    return (found, made(_np.sign(total))) if return_sign else found


def softmax(x: Any, axis: Any = None) -> Any:
    """Divide exponentials by their sum (see `scipy.special.softmax`).

    Examples
    --------
    >>> np.special.softmax([0.0, 0.0])
    tensor([0.5000, 0.5000], dtype=torch.float64)
    """
    return _np.exp(log_softmax(x, axis))


def log_softmax(x: Any, axis: Any = None) -> Any:
    """Compute the logarithm of `softmax` (see `scipy.special.log_softmax`).

    Examples
    --------
    >>> np.special.log_softmax([0.0, 0.0])
    tensor([-0.6931, -0.6931], dtype=torch.float64)
    """
    (x,) = floating(*lasting((x,)))
    return made(x - logsumexp(x, axis, keepdims=True))


def _scipys(name: str) -> Any:
    """Return SciPy's function of this name, without the wrapper that dispatches to ours."""
    found = getattr(scipy_module("special", "wengert.numpy.special"), name, None)
    return None if found is None else inspect.unwrap(found)


def _function_of(name: str, scipys: Any) -> Any:
    if isinstance(scipys, _np.ufunc):
        return Ufunc(scipys, _ufuncs.one_primitive(scipys))
    ours = rule_of(name)
    assert ours is not None

    def function(*args: Any) -> Any:
        return made(ours(*floating(*lasting(args))))

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = (
        f"Compute SciPy's `{name}` on arrays; differentiable (see `scipy.special.{name}`)."
    )
    return function


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and kind_of(f"special.{name}") in ("rule", "constant"):
        scipys = _scipys(name)
        if scipys is not None:
            return globals().setdefault(name, _function_of(name, scipys))
    raise AttributeError(f"module 'wengert.numpy.special' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(name for name in RULES if not name.startswith("_") and _scipys(name) is not None)
