"""Layer 9 · compat: ``mxnet.test_utils``: comparisons, settings and random data for tests.

As in MXNet, a star import of this module also imports `mx`, `np` and `nd`.
"""

# ruff: noqa: F401  some names are for users

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

from wengert.autograd.numeric import columns, evaluator
from wengert.compat import mxnet as mx
from wengert.compat.mxnet import autograd
from wengert.compat.mxnet import ndarray as nd
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import public
from wengert.compat.mxnet.context import Context, current_context
from wengert.compat.mxnet.numpy.creation import made
from wengert.compat.mxnet.results import array_of
from wengert.compat.mxnet.util import use_np

_TOLERANCES = {"float16": (1e-2, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-7)}


def _near(a, b, rtol, atol) -> tuple[float, float]:
    """Return the given tolerances, or those of the less precise dtype."""
    kinds = [_TOLERANCES.get(str(x.dtype), (0.0, 0.0)) for x in (a, b)]
    return (
        max(k[0] for k in kinds) if rtol is None else rtol,
        max(k[1] for k in kinds) if atol is None else atol,
    )


def same(a, b) -> bool:
    """Return whether all elements are equal."""
    return bool(np.array_equal(array_of(a), array_of(b)))


def almost_equal(a, b, rtol=None, atol=None, equal_nan=False, **options) -> bool:
    """Return whether all elements are close, with tolerances from the dtypes by default."""
    x, y = array_of(a), array_of(b)
    rtol, atol = _near(x, y, rtol, atol)
    return bool(np.allclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan))


def assert_almost_equal(
    a, b, rtol=None, atol=None, names: tuple[str, str] = ("a", "b"), equal_nan=False, **options
) -> None:
    """Raise an AssertionError that shows the largest difference, unless all elements are close.

    Examples
    --------
    >>> mx.test_utils.assert_almost_equal(mx.np.ones(2), mx.nd.ones(2))
    """
    x, y = array_of(a), array_of(b)
    rtol, atol = _near(x, y, rtol, atol)
    np.testing.assert_allclose(
        x, y, rtol=rtol, atol=atol, equal_nan=equal_nan, err_msg=f"{names[0]} and {names[1]}"
    )


def assert_exception(f: Callable[..., Any], exception_type, *args, **kwargs) -> None:
    """Raise an AssertionError unless ``f(*args, **kwargs)`` raises an exception of this type."""
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(f"{f!r} did not raise {exception_type}")


@contextlib.contextmanager
def environment(*args) -> Iterator[None]:
    """Return a context with environment variables set; None removes one.

    Parameters
    ----------
    *args: A name and a value, or a dictionary of names and values.

    Examples
    --------
    >>> import os
    >>> with mx.test_utils.environment("WENGERT_EXAMPLE", "1"):
    ...     os.environ["WENGERT_EXAMPLE"]
    '1'
    """
    with mock.patch.dict(os.environ):
        for name, value in (args[0] if len(args) == 1 else dict([args])).items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = str(value)
        yield


@contextlib.contextmanager
def discard_stderr() -> Iterator[None]:
    """Return a context that drops output to standard error."""
    with open(os.devnull, "w") as nothing, contextlib.redirect_stderr(nothing):
        yield


def default_context() -> Context:
    """Return the current context."""
    return current_context()


def rand_ndarray(shape, stype="default", dtype=None, **options) -> Any:
    """Return an array of random numbers between -1 and 1.

    Raises
    ------
    ValueError: If a sparse array is requested.
    """
    if stype != "default":
        raise ValueError(f"rand_ndarray(stype={stype!r}) is not offered here")
    numbers = np.random.uniform(-1, 1, shape).astype(dtype or np.float32)
    return made(numbers, NDArray)


def check_numeric_gradient(
    sym,
    location,
    aux_states=None,
    numeric_eps=1e-3,
    rtol=1e-2,
    atol: float | None = None,
    **options,
) -> None:
    """Compare gradients with finite differences of the function.

    Parameters
    ----------
    sym : callable. A function of arrays, instead of MXNet's symbol.
    location : list or dict of arrays. The arguments at which to differentiate.
    aux_states : Not offered.
    numeric_eps : float. The step of the differences.
    rtol, atol : float. The tolerances.

    Raises
    ------
    AssertionError: If the gradients differ by more than the tolerances.
    TypeError: If `sym` is not a function.
    """
    if not callable(sym):
        raise TypeError("check_numeric_gradient takes a function of arrays: there are no symbols")
    if aux_states is not None:
        raise ValueError("aux_states is not offered here")
    named = list(location) if isinstance(location, dict) else None
    values = list(location.values()) if isinstance(location, dict) else list(location)
    cls = next((type(v) for v in values if isinstance(v, NDArray)), NDArray)
    given = [made(np.array(array_of(value), np.float64), cls) for value in values]

    def called(*arrays) -> Any:
        return sym(*arrays) if named is None else sym(**dict(zip(named, arrays, strict=True)))

    for one in given:
        one.attach_grad()
    with autograd.record():
        result = called(*given)
    weights = np.random.RandomState(0).uniform(0.5, 1.5, result.shape)
    result.backward(made(weights.astype(result.dtype), type(result)))
    evaluate = evaluator(called, given, numeric_eps)
    for i, one in enumerate(given):
        (slopes,) = columns(evaluate, one, numeric_eps / 2)
        slope = (slopes[..., 0] @ weights.ravel()).reshape(one.shape)
        label = f"argument {i}" if named is None else named[i]
        names = (f"NUMERICAL_{label}", f"BACKWARD_{label}")
        assert_almost_equal(slope, one.grad, rtol, 1e-4 if atol is None else atol, names)


__all__ = public(globals(), "Context NDArray autograd current_context mx nd np use_np")
