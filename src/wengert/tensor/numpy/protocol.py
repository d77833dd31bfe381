"""Layer 6 · tensor: the protocols by which NumPy dispatches its functions to tensors.

NOTE [protocols]
Ufuncs reach a tensor through ``__array_ufunc__``, most other functions through
``__array_function__``, also if the tensor is only one of several arguments. This module handles the
quick case: ufuncs that are one primitive. Ufuncs behind operators (``A * t`` is NumPy's multiply if
`A` is an array) promote dtypes as the tensors' operators do, and all other functions as NumPy does.
Everything else is in modules that are imported at the first such call (see
`wengert.tensor.numpy.dispatch`).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from sys import _getframe
from typing import Any

import numpy as np

from wengert.base.arrays import NUMBERS, column
from wengert.interp.levels import Lifted, is_elsewhere
from wengert.ops.coerce import has_tangent
from wengert.ops.matmul import matmul
from wengert.prims.facet import NUMPY, OPERATOR
from wengert.prims.families import is_step
from wengert.prims.table import TABLE
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.detachments import note
from wengert.tape.modes import is_grad_enabled
from wengert.tape.record import T, record

_UNARY: dict[Any, str] = {}
_BINARY: dict[Any, str] = {}
"""The primitives of ufuncs on floating-point numbers, and of ufuncs behind operators."""
for _prim, _names in NUMPY.items():
    _ufunc = getattr(np, _names.partition(" ")[0], None) if _names else None
    if _ufunc is not None and len(_prim.args) == 1 and _prim.family != "constant":
        _UNARY[_ufunc] = _prim.name
    elif _ufunc is not None and len(_prim.args) == 2 and OPERATOR[_prim] and not is_step(_prim):
        _BINARY[_ufunc] = _prim.name
_FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""The implementations of NumPy's functions that have been called on tensors."""


def _late(module: str) -> Any:
    return importlib.import_module(f"wengert.tensor.numpy.{module}")


def _real(number: complex, kind: str) -> float:
    if number.imag:
        raise RuntimeError(
            f"value cannot be converted to type {kind} without overflow: it is complex"
        )
    return number.real


class NumpyProtocol:
    """The protocols by which NumPy dispatches its functions to tensors."""

    __slots__ = ()
    __array_priority__ = 1000
    __pandas_priority__ = 5000  # above a DataFrame's: ``column * x`` is the tensor's operation

    _payload: Any
    _edge: Any
    _array: Callable[[], Any]
    _number: Callable[[], Any]

    def numpy(self, *, force: bool = False) -> Any:
        """Return the values as a NumPy array that shares the memory.

        Parameters
        ----------
        force : bool. Detach first, if necessary.

        Raises
        ------
        RuntimeError: If the tensor requires a gradient, which the array could not carry, while
            operations are recorded.

        Examples
        --------
        >>> wg.tensor([0.5, 8.0], requires_grad=True).detach().numpy()
        array([0.5, 8. ], dtype=float32)
        """
        if self._edge is not None and not force and is_grad_enabled():
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                "instead."
            )
        if self._edge is not None:
            note(".numpy()", self)
        payload = self._array()
        if isinstance(payload, Lifted):
            if payload.tensor() is not None:
                raise RuntimeError(
                    ".numpy() is not supported for tensor subclasses without memory: "
                    "np.asarray() makes an array of the values that the class computes"
                )
            # raises if an array cannot carry the state
            return np.asarray(payload.constant() if force else payload)
        return payload

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self._edge is not None:
            if is_grad_enabled():
                raise _late("boundary").array_lost()
            note("np.asarray()", self)
        array = self._array()
        if array.__class__ is not np.ndarray:
            # a value of a transform or a trace
            array = array.__array__()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError("a copy is needed to convert the dtype, and copy=False was given")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(
        self,
        *,
        stream: Any = -1,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export the memory for another library's ``from_dlpack(tensor)``; shared unless `copy`.

        Raises
        ------
        BufferError: If the tensor requires a gradient, or the protocol does not support its dtype.
        """
        return _late("dlpack").exported(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[Any, int]:
        """Return the device in the protocol's numbers: ``(1, 0)``, the CPU."""
        if is_elsewhere(self._payload):
            raise BufferError("a tensor on another device is not handed over: use x.cpu()")
        return _late("dlpack").DLDeviceType.kDLCPU, 0

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the array API namespace for tensors: `wengert.numpy`.

        Parameters
        ----------
        api_version : str, optional. The required version of the standard, such as ``"2024.12"``.

        Raises
        ------
        ValueError: If this version is not supported.
        """
        if self._edge is not None:
            _late("boundary").check_search(_getframe(1))
        known: Any = np.empty(0)
        known.__array_namespace__(api_version=api_version)  # raises for an unsupported version
        return importlib.import_module(
            "wengert.numpy"
        )  # it lies above: only its name is known here

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Return the tensor on a device, as `to` does: the tensor itself if it is there.

        Parameters
        ----------
        device : device or str. The device.
        stream : None. Streams are not used.

        Raises
        ------
        ValueError: If there is a stream.
        """
        if stream is not None:
            raise ValueError("no streams are used: leave stream out")
        return self.to(device)  # type: ignore[attr-defined]

    def __float__(self) -> float:
        if self._edge is not None:
            if is_grad_enabled():
                _late("boundary").check_number(self, _getframe(1))
            note("float()", self)
        elif has_tangent(self):
            _late("boundary").check_number(self, _getframe(1))
        number = self._number()
        try:
            return float(number)
        except TypeError:
            return float(_real(number, "double"))

    def __complex__(self) -> complex:
        if self._edge is not None:
            if is_grad_enabled():
                _late("boundary").check_number(self, _getframe(1))
            note("complex()", self)
        elif has_tangent(self):
            _late("boundary").check_number(self, _getframe(1))
        return complex(self._number())

    def __int__(self) -> int:
        if self._edge is not None:
            note("int()", self)
        number = self._number()
        try:
            return int(number)
        except TypeError:
            return int(_real(number, "int64_t"))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs:
            name = _BINARY.get(ufunc)
            if name is not None:
                return _operation(ufunc, name, *inputs)
            if self._payload.dtype.kind == "f":
                name = _UNARY.get(ufunc)
                if name is not None:
                    return getattr(T, name)(self)
            if ufunc is np.matmul:
                a, b = inputs
                if isinstance(a, _ARRAYS) and isinstance(b, _ARRAYS) and _kind(a) is _kind(b):
                    return matmul(a, b)
        return _late("ufuncs").apply(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if len(types) > 1 and not all(issubclass(t, _ARRAYS) for t in types):
            return NotImplemented
        ours = _FUNCTIONS.get(function)
        if ours is None:
            ours = _FUNCTIONS[function] = _late("dispatch").found(function)
        return ours(*args, **kwargs)


_ARRAYS = TensorBase | np.ndarray


def _operation(ufunc: Any, name: str, a: Any, b: Any) -> Any:
    """Compute a ufunc that is the implementation of an operator."""
    if a.__class__ is np.ndarray and a.dtype.char in NUMBERS:
        return getattr(T, name)(new_tensor(a), b)
    if b.__class__ is np.ndarray and b.dtype.char in NUMBERS:
        return getattr(T, name)(a, new_tensor(b))
    if isinstance(a, np.generic):
        # NumPy's scalars count as Python numbers, as they do in PyTorch
        reflected = getattr(b, f"__r{OPERATOR[TABLE[name]]}__", None)
        if reflected is not None:
            return reflected(a.item())
    if isinstance(a, TensorBase) and isinstance(b, TensorBase):
        return getattr(T, name)(a, b)
    if isinstance(a, list | tuple) or isinstance(b, list | tuple):
        return _late("ufuncs").apply(ufunc, "__call__", (a, b), {})
    return record(TABLE[name], (column(a), column(b)), {})


def _kind(value: Any) -> Any:
    return value._payload.dtype if isinstance(value, TensorBase) else value.dtype
