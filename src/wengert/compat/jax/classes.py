"""Layer 9 · compat: the classes of JAX's arrays: immutable tensors.

NOTE [arrays of wengert.compat.jax]
An `Array` is a `Tensor` to the tape. Its interface differs: dtypes are promoted by JAX's rules
(NOTE [JAX's dtypes]), arrays are immutable, indices never raise, methods are NumPy's. Results of
operations are plain tensors whose class is changed in place by `made`. A *weakly* typed array,
computed from Python numbers alone, has a class of its own: `WeakArray`.

Memory is never written to after an array has been made over it. So arrays may share memory, and
only ``x.at[...]`` copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from wengert.compat.jax.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
)
from wengert.compat.jax.indexing import read
from wengert.compat.jax.settings import WATCHED, check_finite
from wengert.compat.jax.values import differs, innermost, is_lifted
from wengert.compat.jax.words import refusal
from wengert.ops.permute import reversed_dims
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.modes import is_recording
from wengert.tape.record import T
from wengert.tensor.copying import of_class
from wengert.tensor.overrides import disabled_torch_function
from wengert.tensor.tensor import Tensor

_IMMUTABLE = (
    "JAX arrays are immutable and do not support in-place item assignment. Instead of x[idx] = y, "
    "use x = x.at[idx].set(y) or another .at[] method, such as x.at[idx].add(y)."
)
_NAMES = (
    "all amax amin any argmax argmin argsort clip cumprod cumsum diagonal max mean min prod ptp "
    "ravel repeat reshape round squeeze std sum swapaxes take trace transpose var"
)
_METHODS = frozenset(_NAMES.split())
"""NumPy functions that call the method of the same name."""
_SEEN = frozenset({"ndim", "shape", "size"})
"""NumPy functions that read no values, and so work under every transform."""


_ASKED: dict[type[Exception], str] = {
    ConcretizationTypeError: "Abstract tracer value encountered where concrete value is expected: "
    "the value was asked for",
    TracerBoolConversionError: "Attempted boolean conversion of traced array: the truth was asked",
}


class Array(Tensor):
    """A JAX array: immutable, of JAX's dtypes, differentiable with `grad` and the other transforms.

    Arrays are made by ``jnp.array``, ``jnp.zeros``, ... and by operations on arrays.

    Examples
    --------
    >>> x = jax.numpy.arange(3.0)
    >>> x.at[1].set(10)
    Array([ 0., 10.,  2.], dtype=float32)
    >>> x / 2, jax.numpy.arange(2) * 2.0
    (Array([0. , 0.5, 1. ], dtype=float32), Array([0., 2.], dtype=float32, weak_type=True))
    """

    __slots__ = ()
    __torch_function__ = disabled_torch_function  # type: ignore[assignment]
    __array_priority__ = 100
    T = property(reversed_dims)
    weak_type = False
    """Whether the dtype yields to others in promotion, as Python numbers do."""

    def __new__(cls, *data, **kwargs) -> Any:
        """Refused: functions create arrays."""
        raise TypeError("arrays are made by jnp.array, jnp.zeros, ..., not by jax.Array(...)")

    def __repr__(self) -> str:
        return array_repr(self)

    def __str__(self) -> str:
        return str(_shown(self)) if not is_lifted(self._payload) else array_repr(self)

    def __format__(self, spec: str) -> str:
        value = _shown(self)
        return format(value if value.ndim else value[()], spec)

    def __hash__(self) -> int:
        if self._edge is LEAF:
            return object.__hash__(self)  # the engine identifies leaves by it
        raise TypeError("unhashable type: 'Array'")

    # -- NumPy's protocols ------------------------------------------------------------------------

    def __array__(self, dtype=None, copy: bool | None = None) -> Any:
        self._check_known("np.asarray(x)")
        value = _shown(self)
        if copy or (dtype is not None and np.dtype(dtype) != value.dtype):
            return np.array(value, dtype)
        value = value.view()
        value.flags.writeable = False
        return value

    def __array_ufunc__(self, ufunc, method: str, *inputs, **kwargs) -> Any:
        if method == "__call__" and not kwargs and ufunc in OPERATORS:
            a, b = inputs
            if not isinstance(a, Array):
                return OPERATORS[ufunc](a, b)
        given = [np.asarray(x) if isinstance(x, Array) else x for x in inputs]
        return getattr(ufunc, method)(*given, **kwargs)

    def __array_function__(
        self, function, types, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        name = function.__name__
        if name in _SEEN and len(args) == 1 and not kwargs:
            return getattr(args[0], name)
        if name in _METHODS and args and isinstance(args[0], Array):
            return getattr(args[0], name.removeprefix("a") if name in ("amax", "amin") else name)(
                *args[1:], **kwargs
            )
        return function(*_plain(args), **_plain(kwargs))

    def __jax_array__(self) -> Any:
        return self

    # -- elements ---------------------------------------------------------------------------------

    def __getitem__(self, index) -> Any:
        """Return the elements that an index selects; out-of-bounds indices are clamped."""
        result = read(self, index)
        result.__class__ = self.__class__
        return result

    def __setitem__(self, index, value) -> NoReturn:
        """Refused: arrays are immutable."""
        raise TypeError(_IMMUTABLE)

    def __delitem__(self, index) -> NoReturn:
        """Refused: arrays are immutable."""
        raise TypeError("JAX arrays are immutable: write jnp.delete(x, index)")

    def __iter__(self) -> Iterator[Any]:
        if not self._payload.ndim:
            raise TypeError("iteration over a 0-d array")
        cls = self.__class__
        return (_of(part, cls) for part in T.unbind(self, dim=0))

    def __reversed__(self) -> Iterator[Any]:
        return iter(list(self)[::-1])

    def __len__(self) -> int:
        if not self._payload.ndim:
            raise TypeError("len() of unsized object")
        return int(self._payload.shape[0])

    def __contains__(self, value) -> bool:
        return bool(innermost(self == value).any())

    # -- numbers ----------------------------------------------------------------------------------

    def _check_known(self, what: str) -> None:
        """Raise if a transform follows the array, since its value must be known."""
        if is_traced(self):
            raise refusal(TracerArrayConversionError, "The numpy.ndarray conversion", what)

    def _single(self, error: type[Exception] = ConcretizationTypeError) -> Any:
        if differs(self._payload):
            raise refusal(error, "{} of an array that differs", _ASKED[error])
        return innermost(self)

    def __bool__(self) -> bool:
        value = self._single(TracerBoolConversionError)
        if value.size > 1:
            raise refusal(ValueError, "The truth value of an array")
        if not value.size:
            raise refusal(ValueError, "The truth value of an empty")
        return bool(value)

    def _number(self) -> Any:
        if self._payload.ndim:
            raise refusal(TypeError, "Only scalar arrays can", self)
        return self._single().item()

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def __index__(self) -> int:
        if differs(self._payload):
            raise refusal(TracerIntegerConversionError, "The __index__() method")
        if self._payload.ndim or self._payload.dtype.kind not in "iu":
            raise TypeError("Only integer scalar arrays can be converted to a scalar index.")
        return int(innermost(self))

    def item(self, *args) -> Any:
        """Return the value of a one-element array, or of one element, as a Python number."""
        value = self._single()
        if not args and value.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return np.asarray(value).item(*args) if args else value.item()

    def tolist(self) -> Any:
        """Return the values as nested lists of Python numbers, or a number for a 0-d array."""
        return self._single().tolist()

    def __round__(self, ndigits: int | None = None) -> Any:
        array: Any = self
        rounded = array.round(ndigits or 0)
        return rounded if ndigits is not None else rounded.astype(int)


class WeakArray(Array):
    """A weakly typed array, computed from Python numbers alone (see `Array`)."""

    __slots__ = ()
    weak_type = True


KINDS: list[type] = [Array]
"""The classes of ``jax.Array``; that of random keys is added when its module is imported."""


class _AnyArray(type):
    def __instancecheck__(cls, x) -> bool:
        return isinstance(x, tuple(KINDS))

    def __subclasscheck__(cls, kind: type) -> bool:
        return kind is cls or issubclass(kind, tuple(KINDS))

    def __call__(cls, *args, **kwargs) -> Any:
        return Array(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        return getattr(Array, name)

    def __dir__(cls) -> list[str]:
        return dir(Array)


class AnyArray(metaclass=_AnyArray):
    """``jax.Array``: arrays and random keys, for ``isinstance`` and annotations."""


AnyArray.__name__ = AnyArray.__qualname__ = "Array"


def _of(result, cls: type) -> Any:
    result.__class__ = cls
    return result


OPERATORS: dict[Any, Callable[[Any, Any], Any]] = {}
"""The operators by NumPy ufunc; filled by `wengert.compat.jax.operators`."""


# -- values ----------------------------------------------------------------------------------------


def _shown(x) -> Any:
    """Return the values of `x` as an array; for a batch, those of the whole batch."""
    return np.asarray(innermost(x))


def _plain(value) -> Any:
    """Replace arrays by NumPy arrays in `value`, in containers too."""
    if isinstance(value, Array):
        return np.asarray(value)
    if isinstance(value, list | tuple):
        return type(value)([_plain(part) for part in value])
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value


def is_traced(x) -> bool:
    """Return whether a transform currently follows `x`."""
    if not isinstance(x, TensorBase):
        return False
    return is_lifted(x._payload) or (x._edge is not None and is_recording())


def array_repr(x) -> str:
    """Return the representation of an array: ``Array([0., 1.], dtype=float32)``."""
    value = _shown(x)
    ending = f"dtype={value.dtype.name}{', weak_type=True' if x.weak_type else ''})"
    payload = x._payload
    if differs(payload):
        ending = f"a batch, each of shape {tuple(payload.shape)}, {ending}"
    width = int(np.get_printoptions()["linewidth"])
    if value.dtype.kind == "V":
        value = value.astype(np.float32)
    if value.size:
        text = np.array2string(value, prefix="Array(", suffix=",", separator=", ")
    else:
        text = f"[], shape={value.shape}"
    last = len(text) - text.rfind("\n") + 1
    gap = " " if last + len(ending) + 1 <= width else " " * len("Array(")  # on one line, as in JAX
    return f"Array({text},{gap}{ending}"


def made(result, weak: bool = False) -> Any:
    """Return the result of an operation with arrays in place of tensors, in tuples and lists too.

    The class of a new tensor is changed in place.

    Parameters
    ----------
    result: A tensor, or a tuple or list of tensors.
    weak: Whether the arrays are weakly typed: whether all arguments were (see `promote`).

    Returns
    -------
    Array: Or a tuple or list of them; anything else is returned as it is.

    Examples
    --------
    >>> from wengert.compat.jax.array import made
    >>> made(wg.zeros(2))
    Array([0., 0.], dtype=float32)
    """
    cls = result.__class__
    wanted = WeakArray if weak else Array
    if cls is Tensor:
        if WATCHED:
            check_finite(result, "the result of an operation")
        result.__class__ = wanted
        return result
    if isinstance(result, Array):
        return result if cls is wanted else of_kind(result, wanted)
    if cls is tuple or cls is list:
        return cls([made(part, weak) for part in result])
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return cls(*[made(part, weak) for part in result])
    return result


def of_kind(x, cls: type) -> Any:
    """Return the same array as another class, with the same history."""
    if x._edge is LEAF:
        return of_class(x, cls)
    same = new_tensor(x._payload, x._edge, x._share_version())
    same.__class__ = cls
    return same
