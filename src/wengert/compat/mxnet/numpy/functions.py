"""Layer 9 · compat: the functions of ``mxnet.np``: NumPy's, with MXNet's dtypes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import numpy as wnp
from wengert.base.sections import fill_sections
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.operators import whole_number
from wengert.compat.mxnet.results import CLASSES, computed
from wengert.compat.mxnet.signatures import showing
from wengert.compat.mxnet.state import RECORDING
from wengert.tape.base import TensorBase
from wengert.tape.sites import warn

__all__ = ["TIED", "function_of"]

_UNARY = """
    arccos arccosh arcsin arcsinh arctan arctanh cbrt cos cosh deg2rad degrees exp expm1 log log10
    log1p log2 rad2deg radians reciprocal sin sinh sqrt tan tanh
    """
_OF_FLOATS = frozenset(_UNARY.split())
"""Functions with floating-point results, which MXNet truncates for integer arguments."""
_TWO = "add subtract multiply mod remainder power maximum minimum fmod floor_divide"
_OF_TWO = frozenset(_TWO.split())
_KEEPING = frozenset({"sum", "prod", "cumsum", "nansum", "nanprod"})
"""Sums, whose dtype is that of the argument (int64 for booleans)."""
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


def _kept(result, given: tuple[Any, ...], name: str) -> Any:
    """Return the result in the dtype of the argument if that is an integer dtype."""
    x = given[0] if given else None
    if not isinstance(x, TensorBase) or x._payload.dtype.kind not in "iu":
        return result
    if not isinstance(result, NDArray) or result._payload.dtype == x._payload.dtype:
        return result
    if name in _OF_FLOATS:
        warn(
            f"np.{name} of an array of {x._payload.dtype}: as in MXNet the result has that dtype, "
            f"too, and no fractions. Write np.{name}(x.astype('float32')) if they are meant.",
        )
    return result.astype(x._payload.dtype)


def _first(compare: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `plain` to pass the gradient to the first of two equal arguments, as in MXNet."""

    def choose(a, b, **kwargs) -> Any:
        if kwargs or not RECORDING.get():
            return plain(a, b, **kwargs)
        first = np.asarray(compare(_values(a), _values(b))) | np.isnan(_values(a))
        return wnp.where(first, a, b)

    return choose


def _values(x) -> Any:
    return x._payload if isinstance(x, TensorBase) else x


TIED = {
    "maximum": _first(np.greater_equal, wnp.maximum),
    "minimum": _first(np.less_equal, wnp.minimum),
}
"""Functions of two arguments with a rule for ties."""


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
    for part in _SPELLED.get(name, name).split("."):
        below = getattr(below, part)
    below = TIED.get(name, below)
    short = name.rpartition(".")[2]
    plain: Any = getattr(np, short, None)
    ufunc = isinstance(plain, np.ufunc)
    keeps = name in _OF_FLOATS or name in _KEEPING

    def function(*args, **kwargs) -> Any:
        kwargs.pop("ctx", None)
        if ufunc and not any(isinstance(value, TensorBase | np.ndarray | list) for value in args):
            return plain(*args, **kwargs).item()  # a number if all arguments are numbers
        if name in _OF_TWO and len(args) == 2:
            a, b = args
            if isinstance(a, TensorBase):
                b = whole_number(a, b)
            elif isinstance(b, TensorBase):
                a = whole_number(b, a)
            args = (a, b)
        result = computed(CLASSES["np"], below, args, kwargs)
        if name in _NEAR:
            return bool(result)
        if keeps and kwargs.get("dtype") is None and kwargs.get("out") is None:
            return _kept(result, args, name)
        return result

    function.__name__ = function.__qualname__ = short
    function.__module__ = f"wengert.compat.mxnet.np.{name}".rpartition(".")[0]
    function.__doc__ = (
        f"NumPy's `{short}` on arrays of MXNet's, recorded inside of ``autograd.record()``.\n\n"
        f"float32 stays float32, and float64 comes of float64 only. See `numpy.{name}`."
    )
    return showing(function, below, _ARRAYS.get(plain.nin, ()) if ufunc else ())


fill_sections(globals())
