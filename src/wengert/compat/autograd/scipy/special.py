"""Layer 9 · compat: ``autograd.scipy.special``: every function of SciPy's, by name.

The tables of `wengert.special` and of NumPy's protocols list the functions that are differentiable,
and in which arguments; the others raise NotImplementedError on boxes.

>>> from wengert.compat.autograd.scipy.special import gammaln, logsumexp
>>> grad(gammaln)(1.0).round(12)
np.float64(-0.577215664902)
>>> grad(logsumexp)(np.zeros(2))
array([0.5, 0.5])
"""

from __future__ import annotations

from typing import Any

import numpy as _np

import wengert.compat.autograd.numpy as np
from wengert.base.extras import scipy_module
from wengert.compat.autograd.boxes import boxed, getval, holds_box
from wengert.compat.autograd.numpy.dispatch import no_derivative
from wengert.compat.autograd.scipy.dispatch import found
from wengert.compat.kit.namespaces import lazy
from wengert.ops.transcendental import polygamma as _polygamma


def logsumexp_of(a, axis=None, b=None, keepdims=False, return_sign=False) -> Any:
    """Compute ``log(sum(b * exp(a)))`` of boxes (see `scipy.special.logsumexp`)."""
    largest = _np.max(getval(a), axis=axis, keepdims=True)
    largest = _np.where(_np.isfinite(largest), largest, 0.0)
    terms = np.exp(a - largest)
    total = np.sum(terms if b is None else b * terms, axis=axis, keepdims=keepdims)
    shift = largest if keepdims else _np.squeeze(largest, axis=axis)
    if return_sign:
        return np.log(np.abs(total)) + shift, _np.sign(getval(total))
    return np.log(total) + shift


def softmax_of(x, axis=None) -> Any:
    """Compute `scipy.special.softmax` of boxes."""
    return np.exp(log_softmax_of(x, axis))


def log_softmax_of(x, axis=None) -> Any:
    """Compute `scipy.special.log_softmax` of boxes."""
    return x - logsumexp_of(x, axis, keepdims=True)


def multigammaln_of(a, d: int) -> Any:
    """Compute `scipy.special.multigammaln` of boxes."""
    parts = scipy_module("special", "multigammaln").gammaln(
        np.expand_dims(a, -1) - _np.arange(d) / 2.0
    )
    return d * (d - 1) / 4.0 * _np.log(_np.pi) + np.sum(parts, -1)


def polygamma_of(n, x) -> Any:
    """Compute `scipy.special.polygamma` of boxes, differentiable in `x` only."""
    order = _np.asarray(getval(n))
    if holds_box(n) or order.size != 1:
        raise no_derivative("polygamma", (n,), "scipy.special")
    return boxed(_polygamma(int(order.reshape(())), x))


_FORMULAS: dict[str, Any] = {
    "log_softmax": log_softmax_of,
    "logsumexp": logsumexp_of,
    "multigammaln": multigammaln_of,
    "polygamma": polygamma_of,
    "softmax": softmax_of,
}


def _of_ufunc(name: str, ufunc) -> Any:
    def function(*args, **kwargs) -> Any:
        return ufunc(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Compute `scipy.special.{name}` of NumPy's own arrays and of boxes."
    return function


def _find(name: str) -> Any:
    value = getattr(scipy_module("special", f"scipy.special.{name}"), name, None)
    if isinstance(value, _np.ufunc):
        # NumPy's protocol dispatches it to the boxes
        return _of_ufunc(name, value)
    return found(__name__, "special", "", name, _FORMULAS)


__getattr__, __dir__ = lazy(globals(), _find, lambda: dir(scipy_module("special", "scipy.special")))
