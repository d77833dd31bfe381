"""Layer 9 · compat: ``autograd.scipy.integrate``: `odeint`.

>>> from wengert.compat.autograd.scipy.integrate import odeint
>>> times = np.linspace(0.0, 1.0, 2)
>>> grad(lambda a: odeint(lambda y, t, a: -a * y, np.ones(1), times, (a,))[-1, 0])(2.0).round(6)
np.float64(-0.135335)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert.compat.autograd.numpy as np
from wengert.base.containers import flatten
from wengert.base.extras import scipy_module
from wengert.compat.autograd.boxes import TRACING, boxed, holds_box, isbox
from wengert.compat.autograd.words import refusal
from wengert.compat.kit.namespaces import defined
from wengert.integrate.solvers import odeint as _odeint

_NAMES = {"h0": "first_step", "hmax": "max_step", "hmin": "min_step"}
_UNUSED = frozenset(("Dfun", "col_deriv", "ml", "mu", "mxhnil", "mxordn", "mxords", "mxstep"))


class _Followed(Exception):
    """The error for equations that hold boxes although no argument does."""


def odeint(func: Callable[..., Any], y0, t, args=(), **kwargs) -> Any:
    """Integrate ``dy/dt = func(y, t, *args)`` (see `scipy.integrate.odeint`).

    The result is differentiable with respect to `y0`, `t`, `args`, which may be nested containers,
    and boxes that `func` closes over. Derivatives are computed by integrating the adjoint equation.

    Parameters
    ----------
    func : callable. The equations, written with ``autograd.numpy``.
    y0 : array. The state at ``t[0]``.
    t : array. The times at which to return the state.
    args : tuple. Further arguments of `func`.
    **kwargs: Options of SciPy's: ``rtol``, ``atol``, ``tfirst``, ``h0``, ``hmax`` and ``hmin``. The
        options of SciPy's own solver are only accepted if nothing is differentiated.

    Returns
    -------
    array: The states, one row for each time.

    Raises
    ------
    NotImplementedError: For an option without a counterpart, if derivatives are computed.
    """
    args = args if isinstance(args, tuple) else (args,)
    if not holds_box((y0, t, args)):
        try:
            return _scipys(func, y0, t, args, kwargs)
        except _Followed:
            pass
    options = {_NAMES.get(name, name): value for name, value in kwargs.items() if value}
    options = {name: value for name, value in options.items() if name not in _UNUSED}
    unknown = options.keys() - {"rtol", "atol", "tfirst", *_NAMES.values()}
    if unknown:
        raise refusal(NotImplementedError, "odeint of boxes", ", ".join(sorted(unknown)))

    def equations(*given) -> Any:
        return _array(func(*map(_boxes, given)))

    made = _odeint(equations, _array(y0), t, args, method="LSODA", **options)
    return boxed(made)


def _boxes(value) -> Any:
    leaves, rebuild = flatten(value)
    return rebuild([boxed(leaf) for leaf in leaves])


def _array(value) -> Any:
    return value if isbox(value) else np.array(value, dtype=float)


def _scipys(func, y0, t, args, kwargs: dict[str, Any]) -> Any:
    scipys = scipy_module("integrate", "scipy.integrate.odeint").odeint
    if TRACING.get() is None:
        return scipys(func, y0, t, args, **kwargs)

    def plainly(*given) -> Any:
        slope = func(*given)
        if holds_box(slope):
            raise _Followed
        return slope

    return scipys(plainly, y0, t, args, **kwargs)


__all__ = defined(globals())
