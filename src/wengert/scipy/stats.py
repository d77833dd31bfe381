"""Layer 8 · scipy: the distributions of `scipy.stats`, with derivatives.

Each has SciPy's ``logpdf``, ``pdf`` (``logpmf``, ``pmf`` for integers), ``cdf``, ``logcdf``,
``sf``, ``logsf``, ``ppf`` and ``isf``. They take numbers, arrays and tensors, and compute in double
precision unless all arrays have another precision. Values are SciPy's, also where an argument is
NaN or no parameter of the distribution. Derivatives of any order follow from the table of
`wengert.scipy.densities`: by the value, ``loc`` and ``scale`` for each density that it has, by the
shape parameters where it has a formula of the distribution function, too. A derivative that is not
known raises `NotImplementedError`.

>>> import wengert.scipy.stats as stats
>>> x = wg.tensor([0.5, 1.5], dtype=wg.float64, requires_grad=True)
>>> stats.gamma.logpdf(x, 2.0, scale=0.5).sum().backward()
>>> x.grad
tensor([ 0.0000, -1.3333], dtype=torch.float64)
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from wengert.autograd.elements import without_tangent
from wengert.autograd.function import Function
from wengert.base.extras import scipy_module
from wengert.func.reverse import vjp
from wengert.scipy.densities import TABLE as ROWS
from wengert.scipy.densities import Functions
from wengert.scipy.operands import idiom_of, of_idiom, operands, plain
from wengert.tape.base import new_tensor

_SHARES = ("cdf", "sf", "logcdf", "logsf")
_QUANTILES = ("ppf", "isf")


class Distribution(SimpleNamespace):
    """A distribution of `scipy.stats`, with the functions that have derivatives here."""

    def __getattr__(self, name: str) -> Any:
        own = vars(self)
        raise AttributeError(
            f"{own['name']} has no {name} here: it has "
            f"{', '.join(sorted(key for key in own if key != 'name'))}"
        )


class _Special:
    """SciPy's special functions, which handle tensors by NumPy's protocol."""

    def __getattr__(self, name: str) -> Any:
        return getattr(scipy_module("special", f"scipy.special.{name}"), name)


_F = Functions(np, _Special(), operands)


def _scipys(name: str) -> Any:
    return getattr(scipy_module("stats", f"scipy.stats.{name}"), name)


def _density(name: str, y: Any, own: list[Any]) -> Any:
    """Return the logarithm of a density, or of probabilities, of standard values."""
    row, scipys = ROWS.get(name), _scipys(name)
    if row is None:
        return _Known.apply(name, "logpdf" if hasattr(scipys, "logpdf") else "logpmf", y, *own)
    found = row.density(_F, y, *own)
    # outside of all supports, and where an argument is NaN or outside of its range
    known = y == y
    if own:
        given = np.broadcast_arrays(*[v.detach() for v in own])
        known = known & (_Known.apply(name, "_argcheck", *given) != 0)
    return np.where(known & np.isfinite(y), found, np.where(known, -np.inf, np.nan))


def _below(name: str, key: str, y: Any, own: list[Any]) -> Any:
    """Return the distribution function, for its derivatives by shape parameters."""
    row = ROWS.get(name)
    if row is not None and "cdf" in row.rules:
        return row.rules["cdf"](_F, y, *own)
    first = np.min(_scipys(name).support(*[np.asarray(without_tangent(v)) for v in own])[0])
    if row is None or not row.whole or not np.isfinite(first):
        raise NotImplementedError(
            f"the derivative for '{name}.{key}: {_scipys(name).shapes}' is not implemented. "
            "It is known for x, loc and scale only: detach() the others."
        )
    last = np.asarray(without_tangent(y)).max(initial=first, where=np.isfinite(y.detach()))
    counts = np.arange(first, last + 1).reshape(-1, *[1] * y.ndim)
    return (np.exp(_density(name, counts + 0 * y, own)) * (counts <= y)).sum(0)


class _Known(Function):
    """A function of a distribution of standard values, of arguments of one shape.

    Its derivative by the value is that of a distribution function, the density, or of its inverse.
    By a shape parameter p, that of a quantile is ``-(dF/dp) / density``.
    """

    @staticmethod
    def forward(ctx: Any, name: str, key: str, y: Any, *own: Any) -> Any:
        """Compute SciPy's function."""
        values = [np.asarray(without_tangent(v)._payload) for v in (y, *own)]
        with np.errstate(all="ignore"):
            found = getattr(_scipys(name), key)(*values)
        result = new_tensor(np.asarray(found, values[0].dtype))
        ctx.name, ctx.key = name, key
        ctx.set_materialize_grads(False)  # constants are None among the tangents
        ctx.save_for_backward(result, y, *own)
        ctx.save_for_forward(result, y, *own)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Multiply by the derivatives of each element."""
        if grad is None:
            return (None,) * len(ctx.needs_input_grad)
        slopes = _Known._slopes(ctx, ctx.needs_input_grad[2:])
        return None, None, *[None if slope is None else grad * slope for slope in slopes]

    @staticmethod
    def jvp(ctx: Any, _: Any, __: Any, *tangents: Any) -> Any:
        """Add the tangents' parts."""
        slopes = _Known._slopes(ctx, [t is not None for t in tangents])
        pairs = zip(slopes, tangents, strict=True)
        return sum((s * t for s, t in pairs if s is not None), 0 * ctx.saved_tensors[0])

    @staticmethod
    def vmap(info: Any, in_dims: Any, name: str, key: str, *args: Any) -> Any:
        """Compute the whole batch."""
        rows = [
            x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)
            for x, dim in zip(args, in_dims[2:], strict=True)
        ]
        return _Known.apply(name, key, *rows), 0

    @staticmethod
    def _slopes(ctx: Any, wanted: Any) -> list[Any]:
        result, y, *own = ctx.saved_tensors
        name, key = ctx.name, ctx.key
        if key not in _SHARES + _QUANTILES:
            raise NotImplementedError(
                f"the derivative for '{name}.{key}' is not implemented: write the density with "
                "NumPy's functions, or use wengert.distributions"
            )
        at = result if key in _QUANTILES else y
        whole = not hasattr(_scipys(name), "logpdf")
        # a quantile of integers does not move; with a small step of the value, nor does its share
        steps: list[Any] = [np.zeros_like(y) if whole else None] * (1 + len(own))
        sign = -1.0 if key in ("sf", "logsf", "isf") else 1.0
        logs: Any = None if whole else _density(name, at, own)
        # where nothing is, the derivatives of its logarithm are 0
        there = result == result if at is result else result > -np.inf
        if wanted[0] and not whole:
            scale = -logs if at is result else logs - result if key.startswith("log") else logs
            steps[0] = sign * np.exp(np.where(there, scale, -np.inf))
        places = [i for i, want in enumerate(wanted[1:]) if want]
        if places and not (whole and at is result):

            def moved(*some: Any) -> Any:
                given = dict(zip(places, some, strict=True))
                return _below(name, key, at, [given.get(i, v) for i, v in enumerate(own)])

            if at is result:
                weight = -np.exp(-logs)
            else:
                weight = -result if key.startswith("log") else np.zeros_like(y)
                weight = sign * np.exp(np.where(there, weight, -np.inf))
            _, pull = vjp(moved, *[own[i] for i in places])
            for i, slope in zip(places, pull(weight), strict=True):
                steps[1 + i] = slope
        return steps


def _function(name: str, key: str) -> Callable[..., Any]:
    dist, row = _scipys(name), ROWS.get(name)
    whole = not hasattr(dist, "logpdf")
    names = [part.strip() for part in (dist.shapes or "").split(",") if part.strip()]
    names += ["loc"] if whole else ["loc", "scale"]
    defaults = {"loc": 0.0, "scale": 1.0}
    quantile, density = key in _QUANTILES, key in ("logpdf", "pdf", "logpmf", "pmf")
    # what is quick and right at all places without SciPy
    rule = row.rules.get(key) if row is not None and not row.own and key in _SHARES else None

    # a density of 0 has the logarithm -inf without a warning
    @np.errstate(all="ignore")
    def function(x: Any, *args: Any, **given: Any) -> Any:
        values = dict(zip(names, args, strict=False))
        if len(args) > len(names) or values.keys() & given or given.keys() - names:
            raise TypeError(f"{name}.{key}() takes x, {', '.join(names)}")
        values |= given
        if lacking := [part for part in names if part not in defaults and part not in values]:
            raise TypeError(f"{name}.{key}() lacks the parameters {', '.join(lacking)}")
        kind = idiom_of((x, *values.values()))
        arrays = operands(f"{name}.{key}", x, *[(defaults | values)[part] for part in names])
        x, *own = map(plain, arrays)
        scale: Any = None if whole else own.pop()
        loc = own.pop()
        placed, scaled = "loc" in values, "scale" in values
        y = x if quantile else x - loc if placed else x
        y = y if quantile or not scaled else y / scale
        if density:
            found = _density(name, y, own)
            found = found - np.log(scale) if scaled else found
            found = found if key.startswith("log") else np.exp(found)
        elif rule is not None:
            found = rule(_F, y)
        else:
            y, *own = np.broadcast_arrays(y, *own)
            found = _Known.apply(name, key, y, *own)
        if quantile:
            found = found * scale if scaled else found
            found = found + loc if placed else found
        if scaled:
            found = np.where(scale > 0, found, np.nan)
        return of_idiom(kind, found)

    function.__name__ = function.__qualname__ = key
    function.__doc__ = f"Compute ``{key}`` of the distribution `{name}` (see `scipy.stats.{name}`)."
    return function


def __getattr__(name: str) -> Any:
    """Make a distribution when it is first used."""
    if name not in __dir__():
        raise AttributeError(
            f"module 'wengert.scipy.stats' has no attribute {name!r}: it has "
            f"{', '.join(__dir__())}; wengert.distributions has more, under PyTorch's names"
        )
    keys = ("logpdf", "pdf") if hasattr(_scipys(name), "logpdf") else ("logpmf", "pmf")
    made = {key: _function(name, key) for key in (*keys, *_SHARES, *_QUANTILES)}
    return globals().setdefault(name, Distribution(name=name, **made))


def __dir__() -> list[str]:
    stats = scipy_module("stats", "scipy.stats")
    kinds = (stats.rv_continuous, stats.rv_discrete)
    found = {name for name, value in vars(stats).items() if isinstance(value, kinds)}
    return sorted(found - {"poisson_binom"})  # whose one parameter is an array
