"""Layer 9 · numpy: functions that make arrays from numbers, lists and strings.

They have NumPy's arguments and defaults, including dtypes: floats are float64, integers int64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.arrays import unmasked
from wengert.base.device import check_device
from wengert.base.dtypes import as_dtype as checked
from wengert.numpy.arrays import array_of, copied, fillable, made, ndarray
from wengert.ops import foreign, shape
from wengert.ops.clone import clone
from wengert.tape.base import TensorBase
from wengert.tensor.numpy import boundary as numpy_boundary
from wengert.tensor.numpy.counterparts import as_dtype, holds_tensor, tensor, values, wrapped
from wengert.tensor.numpy.dispatch import signature_of


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: Any = None,
    device: Any = None,
) -> Any:
    """Make an array from numbers, arrays, tensors, or nested lists of them.

    Parameters
    ----------
    object : array_like. Lists may contain tensors, to which the gradient flows.
    dtype : dtype, optional. Default: NumPy's choice, float64 for Python floats.
    copy : bool, optional. Whether to copy the data; the copy of a tensor is recorded.
    ndmin : int. The minimum number of dimensions; leading ones of size 1 are added.

    Returns
    -------
    ndarray: Differentiable.

    Examples
    --------
    >>> x = np.array(2.0).requires_grad_()
    >>> np.array([[x, 1], [x**2, 0]])
    tensor([[2., 1.],
            [4., 0.]], dtype=torch.float64, grad_fn=<StackBackward0>)
    """
    if device is not None:
        return array(object, dtype, copy=copy, ndmin=ndmin).to(device)
    if isinstance(object, TensorBase):
        made_ = as_dtype(object, dtype)
        if copy is False and made_ is not object:
            raise ValueError("a copy is needed to convert the dtype, and copy=False was given")
        if copy and made_ is object:
            return _at_least(copied(made(clone(made_))), ndmin)
        made_ = array_of(made_)
    elif holds_tensor(object):
        made_ = as_dtype(tensor(object), dtype)
    else:
        kind = None if dtype is None else checked(dtype).dtype
        made_ = tensor(np.array(unmasked(object), kind, copy=copy))
    return made(_at_least(made_, ndmin))


def _at_least(made_: Any, ndim: int) -> Any:
    while made_.ndim < ndim:
        made_ = shape.unsqueeze(made_, 0)
    return made_


def asarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Any = None,
) -> Any:
    """Convert to an array without a copy if possible; return an array unchanged.

    Examples
    --------
    >>> x = np.ones(2)
    >>> np.asarray(x) is x
    True
    """
    if isinstance(a, ndarray) and dtype is None and not copy:
        return a if device is None else a.to(device)
    return array(a, dtype, copy=copy, device=device)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """Convert to an array like `asarray`; raise if an element is not finite.

    Raises
    ------
    ValueError: If there is an infinity or NaN.

    Examples
    --------
    >>> np.asarray_chkfinite([1.0, 2.0])
    tensor([1., 2.], dtype=torch.float64)
    """
    made_ = asarray(a, dtype)
    if made_._payload.dtype.kind in "fc" and not np.isfinite(made_._payload).all():
        raise ValueError("array must not contain infs or NaNs")
    return made_


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """Convert to an array like `asarray`, whose memory meets the requirements.

    Examples
    --------
    >>> np.require([1, 2], float, "C")
    tensor([1., 2.], dtype=torch.float64)
    """
    return asarray(a, dtype)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """Make an array that shares the memory of another library's array, by DLPack.

    Examples
    --------
    >>> import numpy
    >>> np.from_dlpack(numpy.ones(2))
    tensor([1., 1.], dtype=torch.float64)
    """
    return asarray(foreign.from_dlpack(x, device=device, copy=copy))


class vectorize:
    """A function of numbers that is called on each element of arrays (see `numpy.vectorize`).

    Parameters
    ----------
    pyfunc : callable. Called with 0-d arrays, which may have gradients.
    excluded : set, optional. Positions and names of arguments that are passed on unchanged.

    Examples
    --------
    >>> @np.vectorize
    ... def f(a, b):
    ...     return a if a > b else b * 2
    >>> f(np.array([1.0, 5.0]), 2.0)
    tensor([4., 5.], dtype=torch.float64)
    """

    def __init__(
        self,
        pyfunc: Callable[..., Any],
        otypes: Any = None,
        doc: str | None = None,
        excluded: Any = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        if signature is not None:
            raise NotImplementedError(
                "wengert.numpy.vectorize with signature=: write a loop and np.stack"
            )
        self.pyfunc = pyfunc
        self.excluded = set(excluded or ())
        self.__doc__ = doc or pyfunc.__doc__
        self.__name__ = getattr(pyfunc, "__name__", "vectorize")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function on each element of the broadcast arguments."""
        names = [*range(len(args)), *kwargs]
        given = [*args, *kwargs.values()]
        over = [i for i, name in enumerate(names) if name not in self.excluded]
        arrays = [array_of(given[i]) for i in over]
        shape_ = np.broadcast_shapes(*[a._payload.shape for a in arrays])
        wide = [a if a._payload.shape == shape_ else np.broadcast_to(a, shape_) for a in arrays]
        results = []
        for place in np.ndindex(*shape_):
            for i, a in zip(over, wide, strict=True):
                given[i] = a[place]
            plain, named = given[: len(args)], dict(zip(kwargs, given[len(args) :], strict=True))
            results.append(self.pyfunc(*plain, **named))
        if not results:
            raise ValueError("cannot call `vectorize` on size 0 inputs")
        if isinstance(results[0], tuple):
            return tuple(array(list(part)).reshape(shape_) for part in zip(*results, strict=True))
        return array(results).reshape(shape_)


_FILLED = frozenset({"empty", "ones", "zeros"})
_CURES = {
    "arange": "Write start + step * np.arange(n).",
    "eye": "Write np.eye(n) * x.",
}


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, **more: Any) -> Any:
    """Turn a function of numbers into one of arrays; the results are numbers here, not objects.

    Examples
    --------
    >>> np.frompyfunc(lambda a, b: a * b, 2, 1)(np.array([1.0, 2.0]), 3.0)
    tensor([3., 6.], dtype=torch.float64)
    """
    return vectorize(func)


def _plain(name: str) -> Callable[..., Any]:
    """Return NumPy's function of this name, with its arrays converted to ours."""
    function = getattr(np, name)

    def make(*args: Any, **kwargs: Any) -> Any:
        if numpy_boundary.loses([args, kwargs]):
            raise numpy_boundary.function_lost(f"numpy.{name}", _CURES.get(name, ""))
        result = made(wrapped(function(*values(args), **values(kwargs))))
        return fillable(result, name) if name in _FILLED else result

    make.__name__ = make.__qualname__ = name
    make.__signature__ = signature_of(function, make)  # type: ignore[attr-defined]
    make.__doc__ = f"Return NumPy's `{name}` as a `wengert.numpy.ndarray` (see `numpy.{name}`)."
    return make


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any
) -> Any:
    """Make an array by calling a function on arrays of coordinates.

    Examples
    --------
    >>> np.fromfunction(lambda i, j: 10 * i + j, (2, 2))
    tensor([[ 0.,  1.],
            [10., 11.]], dtype=torch.float64)
    """
    coordinates = _plain("indices")(shape, dtype=dtype)
    return function(*coordinates, **kwargs)


def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """Make an array of one value; it may be a tensor, to which the gradient flows.

    Examples
    --------
    >>> np.full(2, 7)
    tensor([7, 7])
    """
    check_device(device)
    value = as_dtype(fill_value, dtype)
    sizes = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    return fillable(made(clone(np.broadcast_to(value, sizes))), "full")


_PLAIN = (
    "arange bartlett blackman diag_indices empty eye frombuffer fromfile fromiter fromstring "
    "fromregex genfromtxt hamming hanning identity indices kaiser load loadtxt mask_indices ones "
    "tri "
    "tril_indices triu_indices zeros"
)
CREATORS: dict[str, Callable[..., Any]] = {
    **{name: _plain(name) for name in _PLAIN.split()},
    "array": array,
    "asarray": asarray,
    "asanyarray": asarray,
    "ascontiguousarray": asarray,
    "asarray_chkfinite": asarray_chkfinite,
    "asfortranarray": asarray,
    "from_dlpack": from_dlpack,
    "fromfunction": fromfunction,
    "full": full,
    "frompyfunc": frompyfunc,
    "require": require,
    "vectorize": vectorize,
}


class _Grid:
    """``mgrid`` and ``ogrid``: coordinate grids from slices."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__doc__ = f"Coordinate grids from slices, like `numpy.{name}`: ``{name}[0:3, 0:2]``."

    def __getitem__(self, key: Any) -> Any:
        return made(wrapped(getattr(np, self.name)[values(key)]))


class _Joined:
    """``r_`` and ``c_``: arrays, numbers and slices concatenated along an axis."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__doc__ = f"Concatenation by indexing, like `numpy.{name}`: ``{name}[x, 0, 1:4]``."

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if not holds_tensor(list(parts)):
            return made(wrapped(getattr(np, self.name)[key]))
        if any(isinstance(part, str) for part in parts):
            raise NotImplementedError(
                f"{self.name}[...] of arrays with a text: write np.concatenate or np.stack"
            )
        parts = tuple(
            tensor(np.r_[part]) if isinstance(part, slice) else tensor(part) for part in parts
        )
        if self.name == "c_":
            return made(np.column_stack(parts))
        return made(np.concatenate([np.atleast_1d(part) for part in parts]))


CREATORS |= {name: _Grid(name) for name in ("mgrid", "ogrid")}  # type: ignore[misc]
CREATORS |= {name: _Joined(name) for name in ("r_", "c_")}  # type: ignore[misc]
