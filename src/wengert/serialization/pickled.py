"""Layer 9 · serialization: objects as pickles that PyTorch reads with ``weights_only=True``.

NOTE [written pickles]
The pickle names PyTorch's functions and classes, which the standard library's pickler cannot do
where PyTorch is not installed. So the instructions are written here; they are those that the
machine of `wengert.serialization.machine` reads. There are two passes: one to find out which
tensors share memory, and one that writes them with the resulting storages.
"""

from __future__ import annotations

import copyreg
import importlib
import struct
import types
from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import PicklingError
from typing import Any

import numpy as np

from wengert.base.device import device, is_meta
from wengert.base.dtypes import dtype, from_numpy_dtype
from wengert.base.layout import layout, strided
from wengert.base.size import Size
from wengert.kernels.strided import owner_of
from wengert.nn.parameter import Parameter, is_lazy
from wengert.serialization.allowed import allowed
from wengert.serialization.rebuilt import FUNCTIONS as FUNCTIONS_BY_PATH
from wengert.serialization.safe import check_savable
from wengert.serialization.sharing import sharing
from wengert.sparse.tensors import CompressedTensor, SparseTensor
from wengert.tape.base import TensorBase
from wengert.tape.compiled import FUNCTIONS
from wengert.tensor.copying import reduces_itself
from wengert.tensor.storage import Storage, TypedStorage, UntypedStorage, flat_memory
from wengert.tensor.tensor import Tensor
from wengert.tensor.wrapped import Wrapped


class Pickler:
    """Writes one object.

    Attributes
    ----------
    storages: The bytes of the storages that the pickle names, by their keys from 0 on.
    """

    def __init__(self) -> None:
        self.storages: list[Any] = []
        self._out = bytearray()
        self._memo: dict[Any, int] = {}
        known = {**FUNCTIONS_BY_PATH, **allowed()}
        self._users = {id(value): path for path, value in known.items()}
        self._met: dict[int, Any] = {}
        self._places: dict[int, tuple[int, Any, int, tuple[int, ...]]] = {}
        self._kept: list[Any] = []
        self._reduced: dict[int, Any] = {}
        self._looking = True

    def dumped(self, obj: Any) -> bytes:
        """Return the pickle of `obj`."""
        self._value(obj, "state")
        self._looking = False
        self._place()
        self._out, self._memo = bytearray(b"\x80\x02"), {}
        self._value(obj, "state")
        return bytes(self._out + b".")

    # -- values ------------------------------------------------------------------------------------

    def _value(self, value: Any, place: str) -> None:
        written = _PLAIN.get(type(value))
        if written is not None:
            self._out += written(value)
            return
        known = self._memo.get(id(value))
        if known is not None:
            self._out += b"j" + struct.pack("<I", known)
            return
        kind: Any = type(value)
        made = _CALLS.get(kind)
        if made is not None:
            path, arguments = made
            self._call(path, arguments(value), place)
            if kind not in _UNSHARED:
                self._remember(value)
            return
        write = _WRITERS.get(kind)
        if write is None and isinstance(value, TensorBase):
            write = Pickler._tensor
        if write is None and isinstance(value, Storage):
            write = Pickler._storage
        if write is None:
            write = Pickler._object
        write(self, value, place)

    def _remember(self, value: Any) -> None:
        """Memoize the top of the stack under `value`."""
        number = self._memo[id(value)] = len(self._memo)
        self._kept.append(value)  # so that no other object gets its id
        self._out += b"r" + struct.pack("<I", number)

    def _name(self, path: str) -> None:
        """Push a class or function on the stack."""
        known = self._memo.get(path)
        if known is not None:
            self._out += b"j" + struct.pack("<I", known)
            return
        self._out += f"c{path.replace(' ', chr(10))}\n".encode()
        number = self._memo[path] = len(self._memo)
        self._out += b"r" + struct.pack("<I", number)

    def _tuple(self, parts: Any, place: str) -> None:
        self._out += b"("
        for i, part in enumerate(parts):
            self._value(part, f"{place}[{i}]")
        self._out += b"t"

    def _call(self, path: str, arguments: Any, place: str) -> None:
        self._name(path)
        self._tuple(arguments, place)
        self._out += b"R"

    def _write_tuple(self, value: Any, place: str) -> None:
        self._tuple(value, place)
        self._remember(value)

    def _write_list(self, value: Any, place: str) -> None:
        self._out += b"]"
        self._remember(value)
        self._out += b"("
        for i, part in enumerate(value):
            self._value(part, f"{place}[{i}]")
        self._out += b"e"

    def _write_dict(self, value: Any, place: str) -> None:
        if type(value) is dict:
            self._out += b"}"
        else:
            self._call("collections OrderedDict", (), place)
        self._remember(value)
        self._out += b"("
        for key, part in value.items():
            self._value(key, place)
            self._value(part, f"{place}[{key!r}]")
        self._out += b"u"
        if type(value) is OrderedDict and vars(value):
            # the module versions in a state_dict()
            self._value(vars(value), f"vars({place})")
            self._out += b"b"

    # -- tensors -----------------------------------------------------------------------------------

    def _tensor(self, tensor: Any, place: str) -> None:
        kind = type(tensor)
        if is_meta(tensor.device) and not vars(tensor).keys() - {"_is_param"}:
            self._without_values(tensor, place)
            return
        plain = kind is Tensor or kind is Parameter
        if is_lazy(tensor):
            raise TypeError(
                f"cannot save {place}, which is a {kind.__qualname__}: it has no shape yet, until "
                "the module is first called"
            )
        if not plain and reduces_itself(kind):
            self._object(tensor, place)
            return
        computes = isinstance(tensor._payload, Wrapped)
        if not computes:
            check_savable(tensor, place)
        attributes = vars(tensor) if plain else tensor.__getstate__()
        if self._looking:
            if not computes:
                self._met[id(tensor)] = tensor
            self._memo[id(tensor)] = len(self._memo)
            self._value(attributes, f"vars({place})")
            return
        requires = tensor._edge is not None
        if kind is Parameter:
            self._name("torch._utils _rebuild_parameter" + "_with_state" * bool(attributes))
            self._out += b"("
            self._strided(tensor, False, place)
            self._out += b"R" + _PLAIN[bool](requires)
            self._call("collections OrderedDict", (), place)
        elif attributes or not plain:
            self._name("torch._tensor _rebuild_from_type_v2")
            self._out += b"("
            write = self._wrapped if computes else self._strided
            write(tensor, requires, place, kind)
        else:
            self._strided(tensor, requires, place)
        if attributes or not plain:
            self._value(attributes, f"vars({place})")
        self._out += b"R" if kind is Tensor and not attributes else b"tR"
        self._remember(tensor)

    def _wrapped(self, tensor: Any, requires_grad: bool, place: str, cls: type) -> None:
        """Write how a tensor without memory is rebuilt, whose attributes hold its values."""
        array = tensor._payload.array
        self._name("torch._utils _rebuild_wrapper_subclass")
        self._value(cls, place)
        steps = tuple(step // array.itemsize for step in array.strides)
        kind = from_numpy_dtype(array.dtype)
        parts = cls, kind, tuple(array.shape), steps, 0, strided, device("cpu"), requires_grad
        self._tuple(parts, place)

    def _strided(
        self, tensor: Any, requires_grad: bool, place: str, cls: type | None = None
    ) -> None:
        """Write the function that rebuilds a tensor, its class if asked for, and its arguments."""
        key, kind, offset, strides = self._places[id(tensor)]
        own = from_numpy_dtype(tensor._payload.dtype)
        self._name(f"torch._utils _rebuild_tensor_v{2 if kind == own else 3}")
        if cls is Tensor:
            self._name("torch Tensor")
        elif cls is not None:
            self._value(cls, place)
        self._out += b"("
        self._persistent(key, kind)
        for part in (offset, tuple(map(int, tensor._payload.shape)), strides, requires_grad):
            self._value(part, place)
        self._call("collections OrderedDict", (), place)
        if kind != own:
            self._value(own, place)
        self._out += b"t"

    def _without_values(self, tensor: Any, place: str) -> None:
        """Write a tensor, or a parameter, on the device ``"meta"``."""
        if self._looking:
            self._memo[id(tensor)] = len(self._memo)
            return
        array, requires = tensor._payload, tensor._edge is not None
        is_parameter = "_is_param" in vars(tensor)
        steps = tuple(step // array.itemsize for step in array.strides)
        parts = from_numpy_dtype(array.dtype), tuple(array.shape), steps
        if is_parameter:
            self._name("torch._utils _rebuild_parameter")
            self._out += b"("
        made = (*parts, requires and not is_parameter)
        self._call("torch._utils _rebuild_meta_tensor_no_storage", made, place)
        if is_parameter:
            self._out += _PLAIN[bool](requires)
            self._call("collections OrderedDict", (), place)
            self._out += b"tR"
        self._remember(tensor)

    def _storage(self, storage: Any, place: str) -> None:
        if self._looking:
            self._met[id(storage)] = storage
        else:
            key, kind, offset, _ = self._places[id(storage)]
            if (kind is None and isinstance(storage, TypedStorage)) or offset:
                raise RuntimeError(
                    "Cannot save multiple tensors or storages that view the same data as different "
                    f"types: {place} shares memory with others"
                )
            self._persistent(key, kind)

    def _persistent(self, key: int, kind: Any) -> None:
        """Write the persistent id of a storage of elements of `kind`; of bytes if that is None."""
        itemsize = 1 if kind is None else kind.itemsize
        name = _storage_name(kind)
        self._out += b"(" + _text("storage")
        self._name(f"torch {name}" if name else "torch.storage UntypedStorage")
        length = len(self.storages[key]) // itemsize
        self._out += _text(str(key)) + _text("cpu") + _integer(length) + b"tQ"

    def _place(self) -> None:
        """Arrange the tensors and storages of the first pass in storages."""
        arrays = {
            key: one._values if isinstance(one, Storage) else _forward(one._array())
            for key, one in self._met.items()
        }
        bare = {key for key, one in self._met.items() if type(one) is UntypedStorage}
        for start, end, keys in sharing(arrays):
            kinds = {arrays[key].dtype for key in keys}
            kind = from_numpy_dtype(next(iter(kinds))) if len(kinds) == 1 else None
            if _storage_name(kind) is None or bare.intersection(keys):
                kind = None
            owner = owner_of(arrays[keys[0]])
            if len(kinds) > 1:
                # an offset that is aligned for one type need not be for another
                low = np.lib.array_utils.byte_bounds(owner)[0]
                start -= (start - low) % max(one.itemsize for one in kinds)
            self.storages.append(_bytes_between(owner, start, end))
            for key in keys:
                array = arrays[key]
                offset, odd = divmod(array.ctypes.data - start, array.itemsize)
                if odd:
                    raise RuntimeError(
                        "Cannot save multiple tensors or storages that view the same data as "
                        "different types, of which one begins in the middle of another's element"
                    )
                steps = tuple(step // array.itemsize for step in array.strides)
                self._places[key] = len(self.storages) - 1, kind, offset, steps
        for key, array in arrays.items():
            if not array.size:
                kind = from_numpy_dtype(array.dtype)
                self.storages.append(np.empty(0, np.uint8))
                steps = tuple(step // array.itemsize for step in array.strides)
                kind = kind if _storage_name(kind) and key not in bare else None
                self._places[key] = len(self.storages) - 1, kind, 0, steps

    # -- other objects -----------------------------------------------------------------------------

    def _object(self, value: Any, place: str) -> None:
        """Write an object of any class, as `pickle` would.

        It can be read only if the user allows its class, or by a reader that trusts the file.
        """
        path = self._users.get(id(value))
        if path is None and isinstance(value, (type, types.BuiltinFunctionType, *FUNCTIONS)):
            path = _path_of(value, place)
        if path is not None:
            self._name(path[::-1].replace(".", " ", 1)[::-1])
            return
        # once for both passes: it may make new tensors
        if id(value) not in self._reduced:
            self._reduced[id(value)] = _reduced(value, place)
        reduced = self._reduced[id(value)]
        if isinstance(reduced, str):
            self._name(f"{type(value).__module__} {reduced}")
            return
        function, arguments, state, items, pairs = reduced
        if getattr(function, "__name__", "") == "__newobj__":
            self._value(arguments[0], place)
            self._tuple(arguments[1:], place)
            self._out += b"\x81"
        else:
            self._value(function, place)
            self._tuple(arguments, place)
            self._out += b"R"
        self._remember(value)
        if items:
            self._out += b"("
            for i, part in enumerate(items):
                self._value(part, f"{place}[{i}]")
            self._out += b"e"
        if pairs:
            self._out += b"("
            for key, part in pairs:
                self._value(key, place)
                self._value(part, f"{place}[{key!r}]")
            self._out += b"u"
        if state is not None:
            self._value(state, f"{place}.__dict__")
            self._out += b"b"


def _path_of(value: Any, place: str) -> str:
    """Return the path under which a class or function is found again."""
    module, name = getattr(value, "__module__", None) or "builtins", value.__qualname__
    try:
        found: Any = importlib.import_module(module)
    except ImportError:
        found = None
    if "." not in name and getattr(found, name, None) is value:
        return f"{module}.{name}"
    raise PicklingError(
        f"Can't pickle {value!r}: it's not found as {module}.{name}, and {place} names it"
    )


def _reduced(value: Any, place: str) -> Any:
    """Return the parts from which `pickle` would rebuild an object, or the name of a global."""
    reduce = copyreg.dispatch_table.get(type(value))
    try:
        found = value.__reduce_ex__(2) if reduce is None else reduce(value)
    except TypeError as error:
        raise TypeError(f"cannot save {place}: {error}") from error
    if isinstance(found, str):
        return found
    function, arguments, state, items, pairs, setter = (*found, *[None] * 4)[:6]
    if setter is not None:
        raise TypeError(f"cannot save {place}: {type(value).__qualname__} sets its own state")
    return function, arguments, state, list(items or ()), list(pairs or ())


def _storage_name(kind: Any) -> str | None:
    if kind is None:
        return None
    try:
        return TypedStorage(dtype=kind).pickle_storage_type()
    except KeyError:
        return None


def _forward(array: Any) -> Any:
    """Return `array`, or a copy: files have only positive strides of whole elements."""
    if any(step < 0 or step % array.itemsize for step in array.strides):
        return array.copy()
    return array


def _bytes_between(owner: Any, start: int, end: int) -> Any:
    memory = flat_memory(owner, np.dtype(np.uint8))
    low = memory.ctypes.data
    return memory[start - low : end - low]


def _text(value: str) -> bytes:
    raw = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(raw)) + raw


def _integer(value: int) -> bytes:
    if -(2**31) <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    if len(raw) > 255:
        raise OverflowError(f"cannot save an integer of {len(raw)} bytes")
    return b"\x8a" + bytes([len(raw)]) + raw


_PLAIN: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda value: b"N",
    bool: lambda value: b"\x88" if value else b"\x89",
    int: _integer,
    float: lambda value: b"G" + struct.pack(">d", value),
    str: _text,
}
_CALLS: dict[type, tuple[str, Callable[[Any], tuple[Any, ...]]]] = {
    Counter: ("collections Counter", lambda value: (dict(value),)),
    set: ("__builtin__ set", lambda value: (list(value),)),
    bytes: ("_codecs encode", lambda value: (value.decode("latin-1"), "latin1")),
    bytearray: ("__builtin__ bytearray", lambda value: (bytes(value),)),
    complex: ("__builtin__ complex", lambda value: (value.real, value.imag)),
    Size: ("torch Size", lambda value: (tuple(value),)),
    device: (
        "torch device",
        lambda value: (value.type,) if value.index is None else (value.type, value.index),
    ),
    layout: ("torch.serialization _get_layout", lambda value: (repr(value),)),
    SparseTensor: (
        "torch._utils _rebuild_sparse_tensor",
        lambda value: (
            value.layout,
            (value._indices(), value._values(), value.shape, value.is_coalesced()),
        ),
    ),
    CompressedTensor: (
        "torch._utils _rebuild_sparse_tensor",
        lambda value: (value.layout, (value._starts, value._inner, value.values(), value.shape)),
    ),
}
"""How values are rebuilt: a function, and its arguments for a value."""
_UNSHARED = frozenset({bytes, complex, Size, device, layout})
"""Types whose values are written again each time."""
_WRITERS: dict[type, Callable[[Pickler, Any, str], None]] = {
    tuple: Pickler._write_tuple,
    list: Pickler._write_list,
    dict: Pickler._write_dict,
    OrderedDict: Pickler._write_dict,
    dtype: lambda self, value, place: self._name(f"torch {value.name}"),
}
