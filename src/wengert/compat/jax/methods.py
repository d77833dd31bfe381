"""Layer 9 · compat: the methods and attributes of JAX's arrays. Importing this adds them.

Methods that are functions of `wengert.compat.jax.numpy` are looked up there on first use.
Attributes of tensors that JAX's arrays lack are hidden.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from wengert.compat.jax.array import Array, convert, made, of_kind
from wengert.compat.jax.checks import resized
from wengert.compat.jax.cpu import CPU
from wengert.compat.jax.dtypes import float0, is_of_keys, requested_dtype
from wengert.compat.jax.sharding import SingleDeviceSharding
from wengert.compat.jax.words import refusal
from wengert.compat.kit.words import cures
from wengert.interp.levels import batch_of
from wengert.ops.shape import reshape as _reshape
from wengert.tape.levels import move
from wengert.tape.record import T
from wengert.tensor.tensor import Tensor

_NAMESPACE = "wengert.compat.jax.numpy"
_FUNCTIONS = (
    "all any argmax argmin argpartition argsort choose clip conj conjugate cumprod cumsum "
    "diagonal dot max mean min nonzero prod ptp repeat round searchsorted sort squeeze std sum "
    "swapaxes take trace var"
)
"""Methods that call the function of the same name with the array as the first argument."""


class Sized:
    """A value with a shape, and so with numbers of dimensions and elements."""

    __slots__ = ()

    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]


class ShapedArray(Sized):
    """The shape and dtype of an array, as ``x.aval`` returns them."""

    __slots__ = ("dtype", "shape", "weak_type")

    sharding = None

    def __init__(self, shape: tuple[int, ...], dtype, weak_type=False, **more) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype if is_of_keys(dtype) else np.dtype(dtype)
        self.weak_type = weak_type

    def to_tangent_aval(self) -> ShapedArray:
        """Return the shape and dtype of a tangent."""
        return self if self.dtype.kind in "fc" else ShapedArray(self.shape, float0)

    def str_short(self) -> str:
        """Return a short string such as ``float32[2,3]``."""
        weak = "~" if self.weak_type else ""
        return f"{weak}{self.dtype.name}[{','.join(map(str, self.shape))}]"

    __str__ = str_short

    def __repr__(self) -> str:
        short = f"{self.dtype.name}[{','.join(map(str, self.shape))}]"
        return f"ShapedArray({short}{', weak_type=True' if self.weak_type else ''})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShapedArray):
            return NotImplemented
        mine = self.shape, self.dtype, self.weak_type
        return mine == (other.shape, other.dtype, other.weak_type)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.weak_type))


def _numpy() -> Any:
    return importlib.import_module(_NAMESPACE)


def _same_kind(result, x) -> Any:
    result.__class__ = x.__class__
    return result


class ArrayMethods:
    """The attributes and methods to put on the class."""

    _payload: Any
    _edge: Any
    weak_type: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        return tuple(self._payload.shape)

    @property
    def dtype(self) -> Any:
        """NumPy's dtype of the elements."""
        return self._payload.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self._payload.ndim)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self._payload.shape)

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return int(self._payload.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.itemsize * self.size

    @property
    def T(self) -> Any:
        """The array with its axes reversed."""
        return self.transpose()

    @property
    def mT(self) -> Any:
        """The array with its last two axes swapped."""
        if self.ndim < 2:
            raise ValueError(f"x.mT requires x to have at least 2 dimensions; got ndim={self.ndim}")
        return _same_kind(T.transpose(self, dim0=self.ndim - 2, dim1=self.ndim - 1), self)

    @property
    def real(self) -> Any:
        """The real part."""
        return _numpy().real(self)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return _numpy().imag(self)

    @property
    def flat(self) -> Any:
        """The elements in one dimension, as an iterator."""
        return iter(self.ravel())

    @property
    def aval(self) -> ShapedArray:
        """The shape and dtype."""
        return ShapedArray(self.shape, self.dtype, self.weak_type)

    device = CPU
    """The device, of which there is one."""
    sharding = SingleDeviceSharding()
    is_fully_addressable = is_fully_replicated = True
    committed = False

    def devices(self) -> set[Any]:
        """Return the devices of the array: the CPU alone."""
        return {CPU}

    def block_until_ready(self) -> Any:
        """Return the array itself, which is already computed."""
        return self

    def copy_to_host_async(self) -> None:
        """Do nothing: the array is already on the host."""

    def is_ready(self) -> bool:
        """Return whether the array has been computed: always true."""
        return True

    def is_deleted(self) -> bool:
        """Return whether the memory was freed: always false."""
        return False

    def delete(self) -> None:
        """Do nothing: memory is freed when the array is no longer used."""

    def unsafe_buffer_pointer(self) -> int:
        """Return the address of the memory."""
        return int(np.asarray(self).ctypes.data)

    def to_device(self, device, *, stream=None) -> Any:
        """Return the array itself: there is one device."""
        return self

    def copy(self) -> Any:
        """Return a copy that owns its memory."""
        return _same_kind(T.clone(self), self)

    def astype(self, dtype, copy=False, device=None) -> Any:
        """Convert to another dtype; differentiable between floating and complex ones."""
        wanted = self._payload.dtype if dtype is None else requested_dtype(dtype, "astype")
        if self._payload.dtype == wanted:
            return of_kind(self, Array)
        if wanted.kind == "b":
            return made(T.ne(self, 0))  # which sees imaginary parts
        return made(convert(self, wanted))

    def view(self, dtype=None, type: None = None) -> Any:
        """Reinterpret the bytes as another dtype (see `jax.lax.bitcast_convert_type`)."""
        if dtype is None:
            return self
        array: Any = self
        wanted, x = requested_dtype(dtype, "view"), Tensor.detach(array)
        if wanted.itemsize != self.dtype.itemsize and not self.ndim:
            raise ValueError(f"x.view({wanted.name}) of another item size needs a dimension")
        level = batch_of(x._payload)
        if level is None:
            return _numpy().asarray(np.array(np.asarray(x), order="C").view(wanted))
        return made(move("wrap", made(move("unwrap", x, level, True)).view(wanted), level, True))

    def reshape(self, *args, order="C", **more) -> Any:
        """Reshape the array, to sizes given one by one or as a tuple; -1 is inferred."""
        given = args[0] if len(args) == 1 and not hasattr(args[0], "__index__") else args
        if isinstance(given, list | tuple) or (len(args) != 1):
            sizes = tuple(int(size.__index__()) for size in given)
        else:
            sizes = (int(args[0]),)
        if order != "C":
            return _numpy().reshape(self, sizes, order=order)
        return _same_kind(_reshape(self, resized(self, sizes)), self)

    def ravel(self, order="C", **more) -> Any:
        """Flatten the array."""
        return ArrayMethods.reshape(self, -1, order=order)

    flatten = ravel

    def transpose(self, *axes) -> Any:
        """Permute the axes: reverse them, or use the given order."""
        order: Any = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        if order is None or not axes:
            order = range(self.ndim)[::-1]
        order = [int(axis) + self.ndim * (axis < 0) for axis in order]
        if sorted(order) != list(range(self.ndim)):
            raise refusal(ValueError, "transpose permutation isn't", tuple(order), self)
        return _same_kind(T.permute(self, dims=tuple(order)), self)

    def compress(self, condition, axis: int | None = None, **more) -> Any:
        """Return the slices along an axis that a condition selects."""
        return _numpy().compress(condition, self, axis=axis, **more)

    def tobytes(self, order="C") -> bytes:
        """Return the elements as bytes."""
        return np.asarray(self).tobytes(order)


class _Later:
    """A placeholder on the class for a function of `jax.numpy`, which replaces it on first use."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance, owner) -> Any:
        function = getattr(_numpy(), self.name)
        setattr(Array, self.name, function)
        return function if instance is None else function.__get__(instance, owner)


class _Absent:
    """A descriptor that hides an attribute of tensors that JAX's arrays do not have."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance, owner) -> Any:
        raise AttributeError(_absence(self.name), name=self.name, obj=instance)


def _absence(name: str) -> str:
    cure = cures("wengert.compat.jax").get(f"Array.{name}")
    if cure is None and not name.startswith("_") and hasattr(Tensor, name):
        in_place = name.endswith("_")
        cure = "arrays are immutable: write x.at[...]" if in_place else f"write jnp.{name}(x)"
    why = "" if cure is None else f": {cure}"
    return f"'Array' object has no attribute {name!r}{why}"


def _no_attribute(self, name: str) -> Any:
    raise AttributeError(_absence(name), name=name, obj=self)


_OWN = (
    "T all any argmax argmin argpartition argsort array at cls detach edge ext extra is_inference "
    "is_leaf item level namespace payload requires_grad seq share_version tolist vc weak_type wraps"
)
"""The attributes to keep: those of JAX's arrays, and those that the tape needs."""


def _install() -> None:
    for name, value in vars(ArrayMethods).items():
        if not name.startswith("_"):
            setattr(Array, name, value)
    for name in _FUNCTIONS.split():
        setattr(Array, name, _Later(name))
    shown = {*_OWN.split(), *_FUNCTIONS.split(), *vars(ArrayMethods)}
    for name in dir(Tensor):
        if not name.startswith("_") and name not in shown:
            setattr(Array, name, _Absent(name))
    Array.__getattr__ = _no_attribute  # type: ignore[method-assign]
    Array.__dir__ = lambda self: sorted(_DIR)  # type: ignore[method-assign]


_install()
_DIR = {
    *(name for name in vars(ArrayMethods) if not name.startswith("_")),
    *_FUNCTIONS.split(),
    *(name for name in vars(Array) if name.startswith("__")),
    "at",
    "item",
    "tolist",
    "weak_type",
}
