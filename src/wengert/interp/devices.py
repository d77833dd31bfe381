"""Layer 3 · interp: arrays of other devices, and the namespace that computes with them there.

NOTE [arrays of devices]
A tensor on another device has a `DeviceArray` as its payload: a backend's array (NOTE [backends] in
`wengert.base.backends`) with its device. Its namespace runs the same kernels as K, which reach the
backend's own functions by NumPy's protocols. So everything above the kernels works as under a
transform without a level: rules, views, writes, forward mode and batches need not know about it.
The checks are here: that all arrays are on one device, and that the backend has the functions that
a kernel calls. A NumPy array without dimensions counts as a number; indices, and arrays that a
kernel makes from shapes alone, are sent; nothing else is converted.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from wengert.base.backends import backend_of
from wengert.base.device import CPU, as_device, different_devices
from wengert.base.device import device as Device
from wengert.base.memory_format import in_format, memory_format
from wengert.base.ports import PORTS, provides
from wengert.interp.levels import Interpreter, Lifted, LiftedArray
from wengert.prims import records
from wengert.prims.facet import Facet
from wengert.prims.record import Primitive

_LACKING = (TypeError, AttributeError, NotImplementedError)


_ASKED = frozenset({np.ndim, np.shape, np.size})
_MAKERS: frozenset[Any] = frozenset({np.arange, np.asarray, np.empty, np.full, np.ones, np.zeros})
BETWEEN: Facet[str] = Facet("between", lambda prim: "")
"""How an operation spans devices: it ``"sends"`` its argument, or ``"copies"`` from any."""
BETWEEN.of(records.to_device)("sends")
BETWEEN.of(records.assign)("copies")


class Computing(LiftedArray):
    """A payload over an array, with which its namespace computes anywhere."""

    __slots__ = ("array",)
    of_input = True
    computes = True
    array: Any

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]  # follows from the array
        """The shape."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> Any:
        """The dtype: equal, but not identical, to the one that fast paths check for."""
        return _equal_copy(self.array.dtype)

    @property
    def flags(self) -> Any:
        return self.array.flags

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(self.array.strides)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the elements."""
        return int(self.array.nbytes)

    def contents(self) -> Iterable[Any]:
        """Return nothing: no contents belong to a transform."""
        return ()


class DeviceArray(NDArrayOperatorsMixin, Computing):
    """An array of a backend, on its device (see NOTE [arrays of devices])."""

    __slots__ = ("device",)
    device: Device

    def __init__(self, array: Any, device: Device) -> None:
        self.array = array
        self.device = device

    @property
    def _namespace(self) -> Any:
        """The namespace that computes on the device."""
        return _namespace(self.device)

    @property
    def flags(self) -> Any:
        return _Flags(self.array.flags)

    def constant(self) -> Any:
        """Return the array itself: there are no tangents."""
        return self

    def lie(self, order: memory_format) -> None:
        if self.array.ndim:
            self.array = in_format(self.array, order)

    def write(self, result: Any) -> None:
        """Write an array, or a number, to this memory."""
        with _backend(self.device).on(self.device.index or 0):
            np.copyto(self.array, _within(self.device, result), casting="same_kind")

    def fetched(self) -> np.ndarray[Any, Any]:
        """Return a copy in NumPy."""
        return _backend(self.device).fetch(self.array)

    def shown(self) -> np.ndarray[Any, Any]:
        """Return the array to print."""
        return self.fetched()

    def __repr__(self) -> str:
        return f"DeviceArray({self.fetched()!r}, {str(self.device)!r})"

    # -- values, which are copied to the CPU -------------------------------------------------------

    def item(self) -> Any:
        """Return the only element, as a Python number."""
        return self.fetched().item()

    @property
    def flat(self) -> Any:
        """The values one by one, in NumPy."""
        return self.fetched().flat

    def tolist(self) -> Any:
        """Return the values as nested Python lists."""
        return self.fetched().tolist()

    def any(self) -> bool:
        """Return whether any element is true."""
        return bool(self.array.any())

    def all(self) -> bool:
        """Return whether every element is true."""
        return bool(self.array.all())

    def min(self, axis: Any = None) -> Any:
        """Return the smallest element, or the smallest along `axis`."""
        return _around(self.array.min(axis=axis), self.device)

    def max(self, axis: Any = None) -> Any:
        """Return the largest element, or the largest along `axis`."""
        return _around(self.array.max(axis=axis), self.device)

    def __bool__(self) -> bool:
        return bool(self.item())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy "
            "the tensor to host memory first."
        )

    def __array_ufunc__(  # type: ignore[override]  # other values of transforms have none
        self, ufunc: Any, method: str, *args: Any, **kwargs: Any
    ) -> Any:
        if any(isinstance(value, Lifted) and not isinstance(value, DeviceArray) for value in args):
            # values of transforms have their own operators
            return NotImplemented
        if kwargs.get("out"):
            # memory of NumPy
            raise different_devices(self.device, CPU)
        given = [_within(self.device, value) for value in args]
        with _backend(self.device).on(self.device.index or 0):
            return _around(getattr(ufunc, method)(*given, **kwargs), self.device)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in _ASKED:
            return func(self.array, *args[1:], **kwargs)
        if func in _MAKERS:  # with ``like=self``
            with _backend(self.device).on(self.device.index or 0):
                made = func(*_within(self.device, args), like=self.array, **kwargs)
            return _around(made, self.device)
        if func is np.copyto and args[0] is self:
            return self.write(args[1])
        if func in (np.may_share_memory, np.shares_memory):
            both = [getattr(value, "array", None) for value in args[:2]]
            return None not in both and func(*both)
        # some compare unequal to anything that is not an array
        self.__array__()
        return NotImplemented

    def __getitem__(self, index: Any) -> Any:
        parts = index if isinstance(index, tuple) else (index,)
        found = tuple([_within(self.device, part, sent=True) for part in parts])
        return _around(self.array[found], self.device)

    @property
    def real(self) -> Any:
        """The real part."""
        return self._namespace.real(self) if self.dtype.kind == "c" else self

    __hash__ = object.__hash__


class _Flags:
    """NumPy's flags of an array; a backend may have fewer."""

    writeable = True
    owndata = False

    def __init__(self, flags: Any) -> None:
        self.c_contiguous = bool(flags.c_contiguous)
        self.f_contiguous = bool(flags.f_contiguous)


@functools.cache
def _equal_copy(dtype: np.dtype[Any]) -> np.dtype[Any]:
    # see `Computing.dtype`
    return dtype.newbyteorder("=") if dtype.kind in "fc" else dtype


def _backend(place: Device) -> Any:
    return backend_of(place.type)


def _around(found: Any, place: Device) -> Any:
    """Wrap a kernel's result as a payload."""
    if isinstance(found, np.ndarray | np.generic):
        # made from shapes and numbers alone
        found = _backend(place).send(np.asarray(found), place.index or 0)
    return DeviceArray(found, place) if isinstance(found, _backend(place).kind) else found


def _within(place: Device, value: Any, sent: bool = False) -> Any:
    """Unwrap an argument for the backend; NumPy arrays are `sent`, or on another device."""
    if value.__class__ is DeviceArray:
        if value.device != place:
            raise different_devices(value.device, place)
        return value.array
    if isinstance(value, np.ndarray | np.generic):
        if value.ndim and not sent:
            raise different_devices(place, CPU)
        return _backend(place).send(np.asarray(value), place.index or 0)
    if isinstance(value, tuple | list):
        return type(value)(_within(place, part, True) for part in value)
    return value


def _check_indices(prim: Primitive, arrays: list[Any], params: dict[str, Any]) -> None:
    """Raise for indices that are out of bounds, which GPU libraries wrap around."""
    shape: tuple[int, ...] = params.get("shape", arrays[0].shape) if arrays else ()
    dim: Any = params.get("dim")
    pairs: list[tuple[Any, int]] = []
    if "shape" not in params:
        at = 0
        for index in params.get("indices") or ():
            masks = index is not None and index.dtype.kind == "b"
            if index is not None and not masks:
                pairs.append((index, shape[at]))
            at += index.ndim if masks else 1
    for name, array in zip(prim.args[1:], arrays[1:], strict=False):
        if name == "index" and name in prim.fixed:
            whole = dim is None or not shape
            pairs.append((array, math.prod(shape) if whole else shape[dim]))
        elif name == "indices" and prim.args[0] == "weight":
            pairs.append((array, shape[0]))
        elif name == "target" and name in prim.fixed:
            pairs.append((array[array != params["ignore_index"]], shape[:2][-1]))
    for index, size in pairs:
        if index.size and (index.min() < -size or index.max() >= size):
            raise IndexError(
                f"index {index.max()} or {index.min()} is out of bounds for dimension with size "
                f"{size}"
            )


def _run(place: Device, prim: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Compute a primitive on a device, by its kernel or else by simpler primitives."""
    between = BETWEEN[prim]
    if between == "sends":
        (array,) = args
        return sent(array, **params)
    arrays = [_within(place, value, between == "copies") for value in args]
    named = {name: _within(place, value, True) for name, value in params.items()}
    _check_indices(prim, arrays, named)
    try:
        with _backend(place).on(place.index):
            found = prim.kernel(*arrays, **named)
        parts = found if isinstance(found, tuple | list) else (found,)
        if arrays and any(isinstance(part, np.ndarray | np.generic) for part in parts):
            raise NotImplementedError("its kernel is the CPU's")
    except _LACKING as error:
        rule = PORTS.parts(prim)
        if rule is not None:
            around = [_around(array, place) for array in arrays]
            simpler = rule(_namespace(place), *around, **params)
            if simpler is not NotImplemented:
                return simpler
        raise NotImplementedError(
            f"{prim.name}() is not available for tensors on '{place}' ({error}). Compute it on the "
            f"CPU, x.cpu(), and send the result back by .to('{place}')."
        ) from error
    made = tuple([_around(part, place) for part in parts])
    return made if parts is found else made[0]


@functools.cache
def _namespace(place: Device) -> Interpreter:
    return Interpreter(functools.partial(_run, place))


@provides("sent")
def sent(payload: Any, device: Any) -> Any:
    """Copy an array, of NumPy or of a device, to a device."""
    place = as_device(device)
    if isinstance(payload, DeviceArray):
        if payload.device == place:
            return payload.copy()
        payload = payload.fetched()
    if place.type == "cpu":
        return payload
    return DeviceArray(_backend(place).send(np.asarray(payload), place.index or 0), place)
