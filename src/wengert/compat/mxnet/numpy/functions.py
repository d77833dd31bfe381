"""Layer 9 · compat: the functions of ``mxnet.np``: NumPy's, with MXNet's dtypes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import numpy as wnp
from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import refusal
from wengert.compat.mxnet.operators import modulus, whole_number
from wengert.compat.mxnet.results import CLASSES, EXTREMES, computed
from wengert.compat.mxnet.signatures import showing
from wengert.compat.mxnet.state import RECORDING
from wengert.tape.base import TensorBase
from wengert.tape.sites import warn

_KEEPING = frozenset(["average", "cumsum", "nanprod", "nansum", "prod", "std", "sum", "var"])
"""Reductions whose dtype is that of the argument (int64 for booleans)."""
_NEAR = frozenset({"allclose", "array_equal", "array_equiv", "may_share_memory", "shares_memory"})
"""Functions that return a Python bool."""
_SPELLED = {
    "abs": "absolute",
    "alltrue": "all",
    "bitwise_not": "invert",
    "fix": "trunc",
    "product": "prod",
    "round_": "round",
    "sometrue": "any",
    "true_divide": "divide",
}


def whole_numbers(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Truncate a number beside an array of integers, as MXNet does."""
    if len(args) != 2:
        return args
    a, b = args
    if isinstance(a, TensorBase):
        return a, whole_number(a, b)
    return (whole_number(b, a), b) if isinstance(b, TensorBase) else args


def kept(result, given: tuple[Any, ...], name: str) -> Any:
    """Return numbers computed from arrays of integers in the dtype of the first of them."""
    kinds = [x._payload.dtype for x in given if isinstance(x, TensorBase)]
    if not isinstance(result, NDArray) or not kinds or any(k.kind not in "iu" for k in kinds):
        return result
    made = result._payload.dtype
    if made == kinds[0] or made.kind not in "iuf" or (len(kinds) > 1 and made.kind != "f"):
        return result
    if made.kind == "f":
        warn(refusal(str, "{} of an", name, kinds[0], name))
    return result.astype(kinds[0])


def _first(compare: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `plain` to pass the gradient to the first of two equal arrays, as in MXNet."""

    def choose(a, b, **kwargs) -> Any:
        if not isinstance(a, TensorBase):
            a, b = b, a
        if kwargs or not RECORDING.get():
            return plain(a, b, **kwargs)
        first = np.asarray(compare(_values(a), _values(b))) | np.isnan(_values(a))
        return wnp.where(first, a, b)

    return choose


def _values(x) -> Any:
    return x._payload if isinstance(x, TensorBase) else x


def _sign(x, **kwargs) -> Any:
    """Return the sign, which is 0 for NaN."""
    return (
        wnp.where(np.isnan(_values(x)), 0.0, wnp.sign(x, **kwargs)) if _floats(x) else wnp.sign(x)
    )


def _rint(x) -> Any:
    """Round to the nearest integer, halves down."""
    below = wnp.floor(x)
    return wnp.where(_values(x) - _values(below) > 0.5, below + 1.0, below) if _floats(x) else x


def _floats(x) -> bool:
    return bool(np.asarray(_values(x)).dtype.kind == "f")


def _stable(a, axis=-1, **kwargs) -> Any:
    """Return the indices that sort `a`; equal elements keep their order."""
    return wnp.argsort(a, axis=axis, stable=True)


TIED: dict[str, Callable[..., Any]] = {
    **EXTREMES,
    **dict.fromkeys(("mod", "remainder"), modulus),
    "argsort": _stable,
    "rint": _rint,
    "sign": _sign,
    "maximum": _first(np.greater_equal, wnp.maximum),
    "minimum": _first(np.less_equal, wnp.minimum),
}
"""Functions with a rule of MXNet's for ties, or for NaN."""


_ARRAYS = {1: ("x",), 2: ("x1", "x2")}


@functools.cache
def function_of(name: str) -> Callable[..., Any]:
    """Return the function of ``mxnet.np`` with a given name.

    Raises
    ------
    AttributeError
        If ``wengert.numpy`` has no such function.
    """
    below: Any = wnp
    own = _SPELLED.get(name, name)
    for part in own.split("."):
        below = getattr(below, part)
    below = TIED.get(name, below)
    short = name.rpartition(".")[2]
    plain: Any = getattr(np, short, None)
    ufunc = isinstance(plain, np.ufunc)
    keeps = (ufunc and short not in ("divide", "true_divide")) or own in _KEEPING

    def function(*args, **kwargs) -> Any:
        kwargs.pop("ctx", None)
        if ufunc and not any(isinstance(value, TensorBase | np.ndarray | list) for value in args):
            return plain(*args, **kwargs).item()  # a number if all arguments are numbers
        if ufunc and keeps:
            args = whole_numbers(args)
        result = computed(CLASSES["np"], below, args, kwargs)
        if name in _NEAR:
            return bool(result)
        if keeps and kwargs.get("dtype") is None and kwargs.get("out") is None:
            return kept(result, args, f"np.{name}")
        return result

    function.__name__ = function.__qualname__ = short
    function.__module__ = f"wengert.compat.mxnet.np.{name}".rpartition(".")[0]
    function.__doc__ = (
        f"NumPy's `{short}` on MXNet's arrays, recorded inside ``autograd.record()``.\n\n"
        f"float32 stays float32, and only float64 gives float64. See `numpy.{name}`."
    )
    return showing(function, below, _ARRAYS.get(plain.nin, ()) if ufunc else ())


__all__ = defined(globals())
