"""Layer 9 · serialization: the globals that a checkpoint may name, and how its tensors are built.

NOTE [tensors of checkpoints]
A file names ``torch._utils._rebuild_tensor_v2`` and its like, with a storage, an offset, sizes and
strides. Here they make arrays over the memory of the storage, which NumPy checks; tensors of one
storage share a version cell. Names that do not exist here are refused.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

import numpy as np

from wengert.base.device import device, is_meta
from wengert.base.dtypes import DTYPES, dtype
from wengert.base.extras import bfloat16
from wengert.base.layout import sparse_coo, strided
from wengert.base.size import Size
from wengert.nn.parameter import Parameter
from wengert.ops.strided import empty_strided
from wengert.serialization.allowed import allowed
from wengert.serialization.machine import checked_key
from wengert.sparse.creation import sparse_compressed_tensor, sparse_coo_tensor
from wengert.sparse.tensors import COMPRESSED
from wengert.tape.base import LEAF
from wengert.tape.sites import warn
from wengert.tape.views import placed_in
from wengert.tensor.copying import make, set_attributes
from wengert.tensor.storage import (
    STORAGES,
    Storage,
    TypedStorage,
    UntypedStorage,
    storage_class,
    storage_over,
)
from wengert.tensor.tensor import Tensor

_UTILS = "torch._utils."
_REFUSED_MODULES = ("sys", "os", "posix", "nt")
_FOREIGN = {
    "Q": "it is quantised, and there are no such tensors here",
    "F": "it is of an element type that does not exist here",
}


class _Foreign:
    """Stands for a PyTorch name that does not exist here, until it is used."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason

    def refusal(self) -> TypeError:
        return TypeError(f"cannot load a tensor of {self.name}: {self.reason}")


def _checked_size(sizes: Any) -> tuple[int, ...]:
    if not isinstance(sizes, tuple) or not all(type(n) is int and n >= 0 for n in sizes):
        raise ValueError("sizes and strides are tuples of integers that are not negative")
    return sizes


def _laid(storage: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, kind: Any) -> Any:
    if isinstance(kind, _Foreign):
        raise kind.refusal()
    if not isinstance(storage, Storage) or not isinstance(kind, np.dtype):
        raise ValueError("a tensor is made over a storage")
    size, (start, *_) = _checked_size(size), _checked_size((offset,))
    steps = tuple(step * kind.itemsize for step in _checked_size(stride))
    # NumPy checks that the whole array lies inside
    memory = storage._values.view(np.uint8)
    array: Any = (
        np.ndarray(size, kind)
        if 0 in size
        else np.ndarray(size, kind, memory, start * kind.itemsize, steps)
    )
    made = make(Tensor, array, LEAF if requires_grad else None, storage._cell)
    return placed_in(memory, made) if start else made


def _rebuild_tensor(storage: Any, offset: Any, size: Any, stride: Any) -> Any:
    if not isinstance(storage, TypedStorage):
        raise ValueError("a tensor is made over a storage with an element type")
    return _laid(storage, offset, size, stride, False, storage._kind)


def _rebuild_tensor_v2(
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    hooks: Any,
    metadata: Any = None,
) -> Any:
    kind = storage._kind if isinstance(storage, TypedStorage) else None
    made = _laid(storage, offset, size, stride, requires_grad, kind)
    return _with_bits(made, metadata)


def _rebuild_tensor_v3(
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    hooks: Any,
    kind: Any,
    metadata: Any = None,
) -> Any:
    kind = kind.dtype if isinstance(kind, dtype) else kind
    return _with_bits(_laid(storage, offset, size, stride, requires_grad, kind), metadata)


def _with_bits(tensor: Any, metadata: Any) -> Any:
    """Apply the conjugate and negative bits that PyTorch stores with a tensor."""
    for name, done in (metadata or {}).items():
        if name not in ("conj", "neg") or done is not True:
            raise ValueError(f"tensors do not have a bit {name!r}")
        array = _spread(tensor)
        # a modified tensor has its own memory
        changed = np.conjugate(array) if name == "conj" else np.negative(array)
        tensor = make(Tensor, np.asarray(changed), tensor._edge)
    return tensor


def _spread(tensor: Any) -> Any:
    """Return the array of a tensor that is about to be copied, which must not outgrow the file."""
    array = tensor._payload
    if array.size and array.nbytes > array.base.nbytes:
        raise ValueError("a tensor that is copied has more elements than its storage")
    return array


def _rebuild_meta(kind: Any, size: Any, stride: Any, requires_grad: Any) -> Any:
    size, stride = _checked_size(size), _checked_size(stride)
    made = empty_strided(size, stride, dtype=kind, device="meta")
    return made.requires_grad_(requires_grad)


def _rebuild_parameter(data: Any, requires_grad: Any, hooks: Any) -> Any:
    if isinstance(data, Tensor) and is_meta(data.device):
        return Parameter(data, requires_grad)  # type: ignore[arg-type]  # stubs have their own Tensor
    if type(data) is not Tensor:
        raise ValueError("a parameter is made of a tensor")
    return make(Parameter, data._payload, LEAF if requires_grad else None, data._share_version())


def _rebuild_parameter_with_state(data: Any, requires_grad: Any, hooks: Any, state: Any) -> Any:
    return _with_attributes(_rebuild_parameter(data, requires_grad, hooks), state)


def _rebuild_from_type(function: Any, kind: Any, arguments: Any, state: Any) -> Any:
    """Rebuild a tensor with attributes; of a subclass if that is allowed."""
    if not any(function is one for one in FUNCTIONS.values()) or type(arguments) is not tuple:
        raise UnpicklingError("Weights only load failed. Only tensors are rebuilt with attributes")
    made = function(*arguments)
    # a class that the file may not name has not been found
    if not isinstance(made, Tensor) or not isinstance(kind, type) or not issubclass(kind, Tensor):
        raise UnpicklingError(
            f"Weights only load failed. Tensors are instances of Tensor's subclasses, not of {kind}"
        )
    if kind is Tensor or kind is Parameter:
        return _with_attributes(made, state)
    if type(made) is not kind:
        made = make(kind, made._payload, made._edge, made._vc)
    set_attributes(made, state)
    return made


def _rebuild_wrapper(
    kind: Any,
    element: Any,
    size: Any,
    stride: Any,
    offset: Any,
    layout: Any,
    place: Any,
    requires_grad: Any,
) -> Any:
    """Rebuild a tensor without memory, of a class that computes."""
    size, stride = _checked_size(size), _checked_size(stride)
    return Tensor._make_wrapper_subclass(
        kind, size, stride, dtype=element, requires_grad=requires_grad
    )


def _with_attributes(tensor: Any, state: Any) -> Any:
    for name, value in (state or {}).items():
        _check_attribute(tensor, name)
        setattr(tensor, name, value)
    return tensor


def _check_attribute(target: Any, name: Any) -> None:
    """Refuse attributes that would hide those of the class, so a file cannot change behaviour."""
    if type(name) is not str or hasattr(type(target), name):
        raise UnpicklingError(
            f"Weights only load failed. {name!r} cannot be set on a {type(target).__qualname__}"
        )


_LAYOUTS = {repr(one): one for one in (strided, sparse_coo, *COMPRESSED)}


def _layout(name: Any) -> Any:
    if type(name) is not str or name not in _LAYOUTS:
        raise TypeError(f"cannot load a tensor of layout {name}: there is none here")
    return _LAYOUTS[name]


def _rebuild_sparse(layout: Any, data: Any) -> Any:
    """Rebuild a sparse tensor from its components, which its constructor checks."""
    if layout is not sparse_coo and layout not in COMPRESSED:
        raise ValueError("a sparse tensor has a sparse layout")
    count = 2 if layout is sparse_coo else 3
    parts, (size, *coalesced) = data[:count], data[count:]
    if any(type(part) is not Tensor for part in parts):
        raise ValueError("a sparse tensor is made of tensors")
    for indices in parts[:-1]:
        _spread(indices)
    shape = _checked_size(tuple(size))
    if count == 3:
        starts, inner, values = parts
        return sparse_compressed_tensor(starts, inner, values, shape, layout=layout)
    known = bool(coalesced) and coalesced[0] is True
    indices, values = parts
    return sparse_coo_tensor(indices, values, shape, is_coalesced=known)


def _encoded(text: Any, encoding: Any) -> bytes:
    if type(encoding) is not str or encoding not in ("latin1", "latin-1"):
        raise ValueError("bytes are written in latin1")
    return bytes(text, "latin-1")


def _bytearray(content: Any = b"") -> bytearray:
    if type(content) is not bytes:
        raise ValueError("a bytearray is made of bytes")  # a number would allocate memory
    return bytearray(content)


def _set(content: Any = ()) -> set[Any]:
    return {checked_key(one) for one in content}


def _ordered(pairs: Any = ()) -> OrderedDict[Any, Any]:
    return OrderedDict((checked_key(key), value) for key, value in pairs)


def _counter(counts: Any = None) -> Counter[Any]:
    return Counter({checked_key(key): number for key, number in (counts or {}).items()})


def _size(sizes: Any = ()) -> Size:
    return Size(_checked_size(tuple(sizes)))


def _device(kind: Any, index: Any = None) -> device:
    """Return the CPU for any device."""
    if type(kind) is not str or type(index) not in (int, type(None)):
        raise ValueError("a device is named by text and a number")
    return device("cpu") if kind != "cpu" else device(kind, index)


def _foreign(*arguments: Any) -> Any:
    raise TypeError("cannot load a quantised tensor: " + _FOREIGN["Q"])


FUNCTIONS: dict[str, Callable[..., Any]] = {
    _UTILS + "_rebuild_tensor": _rebuild_tensor,
    _UTILS + "_rebuild_tensor_v2": _rebuild_tensor_v2,
    _UTILS + "_rebuild_tensor_v3": _rebuild_tensor_v3,
    _UTILS + "_rebuild_meta_tensor_no_storage": _rebuild_meta,
    _UTILS + "_rebuild_parameter": _rebuild_parameter,
    _UTILS + "_rebuild_parameter_with_state": _rebuild_parameter_with_state,
    _UTILS + "_rebuild_sparse_tensor": _rebuild_sparse,
    _UTILS + "_rebuild_wrapper_subclass": _rebuild_wrapper,
    _UTILS + "_rebuild_qtensor": _foreign,
}
_VALUES: dict[str, Any] = {
    **FUNCTIONS,
    "torch._tensor._rebuild_from_type_v2": _rebuild_from_type,
    "torch.serialization._get_layout": _layout,
    "torch.Tensor": Tensor,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.Size": Size,
    "torch.device": device,
    "torch.storage.UntypedStorage": UntypedStorage,
    "torch.storage.TypedStorage": TypedStorage,
    "_codecs.encode": _encoded,
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "builtins.bytearray": bytearray,
    "builtins.set": set,
    "builtins.complex": complex,
}
_CALLS: dict[Any, Callable[..., Any]] = {
    **dict(zip(FUNCTIONS.values(), FUNCTIONS.values(), strict=True)),
    _rebuild_from_type: _rebuild_from_type,
    _layout: _layout,
    _encoded: _encoded,
    Size: _size,
    device: _device,
    OrderedDict: _ordered,
    Counter: _counter,
    bytearray: _bytearray,
    set: _set,
    complex: complex,
}


_OF_TENSORS = (*FUNCTIONS.values(), _rebuild_from_type)


def _skipped(*arguments: Any) -> None:
    """Stands for an object that is not built."""


def _ordered_state(target: Any, state: Any) -> None:
    """Store the module versions of a `state_dict`."""
    for name, value in dict(state).items():
        _check_attribute(target, name)
        setattr(target, name, value)


def _user_state(target: Any, state: Any) -> None:
    """Set the state of an object as the standard library does."""
    if hasattr(target, "__setstate__"):
        target.__setstate__(state)
        return
    named, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if named:
        vars(target).update(named)
    for name, value in (slots or {}).items():
        setattr(target, name, value)


class Checkpoint:
    """The names and storages of one file.

    Parameters
    ----------
    read: Returns the bytes of a storage by its key, as an array of uint8; the second argument is
        their expected number.
    swapped: Whether elements have the opposite byte order.
    dry: Whether to only read storages, without building tensors or the user's objects.
    """

    def __init__(
        self, read: Callable[[str, int], Any], swapped: bool = False, dry: bool = False
    ) -> None:
        self._dry = dry
        self._read = read
        self._swapped = swapped
        self._storages: dict[Any, Any] = {}
        self._users = allowed()
        self._own = {id(one): one for one in self._users.values()}

    def find(self, path: str) -> Any:
        """Return the object at a path."""
        found = _VALUES.get(path)
        if found is not None:
            return found
        module, _, name = path.rpartition(".")
        if module in _REFUSED_MODULES:
            raise UnpicklingError(
                f"Weights only load failed. Trying to load unsupported GLOBAL {path} whose module "
                f"{module} is blocked."
            )
        if path in self._users:
            return self._users[path]
        if module in ("torch", "torch.cuda"):
            known = _of_torch(name)
            if known is not None:
                return known
        shown = path.removeprefix("builtins.")
        raise UnpicklingError(
            f"Weights only load failed. Unsupported global: GLOBAL {shown} was not an allowed "
            f"global by default. Please use `torch.serialization.add_safe_globals([{shown}])` or "
            f"the `torch.serialization.safe_globals([{shown}])` context manager to allowlist this "
            "global if you trust this class/function. Re-running `torch.load` with `weights_only` "
            "set to `False` will likely succeed, but it can result in arbitrary code execution. Do "
            "it only if you got the file from a trusted source."
        )

    def call(self, value: Any) -> Callable[..., Any] | None:
        """Return the function to call for `value`."""
        own = self._own.get(id(value))
        if self._dry and (own is not None or any(value is one for one in _OF_TENSORS)):
            return _skipped
        if own is not None:
            return own
        return _CALLS.get(value) if callable(value) else None

    def new(self, kind: Any) -> Callable[..., Any] | None:
        """Return the constructor of a class."""
        own = self._own.get(id(kind))
        if self._dry and own is not None:
            return _skipped
        if isinstance(own, type):
            return lambda *arguments: own.__new__(own, *arguments)
        return _CALLS[kind] if kind is OrderedDict or kind is set else None

    def build(self, kind: type) -> Callable[[Any, Any], Any] | None:
        """Return the function that sets an object's state."""
        if kind is OrderedDict:
            return _ordered_state
        if self._dry and kind is type(None):
            return _skipped
        return _user_state if id(kind) in self._own else None

    def storage(self, key: Any) -> Any:
        """Return the storage that a persistent id names."""
        if type(key) is not tuple or len(key) < 5 or _text(key[0]) != "storage":
            raise UnpicklingError(
                "Weights only load failed. Only persistent_load of storage is allowed"
            )
        kind, name, _, length, *views = key[1:]
        name = _text(name)
        if isinstance(kind, _Foreign):
            raise kind.refusal()
        if type(length) is not int or length < 0 or len(views) > 1:
            raise ValueError("a storage has a number of elements")
        if name not in self._storages:
            self._storages[name] = self._read_storage(kind, name, length)
        storage = self._storages[name]
        return storage if not views or views[0] is None else self._part(storage, *views[0])

    def _part(self, storage: Any, name: Any, offset: int, size: int) -> Any:
        """Return a storage that is part of another one, in files of the older form."""
        name = _text(name)
        if (name, "part") not in self._storages:
            start, count = _checked_size((offset, size))
            if start + count > len(storage):
                raise ValueError("a part of a storage reaches beyond it")
            values = storage._values[start : start + count]
            part = object.__new__(type(storage))
            part._lie_over(values, storage._cell)
            self._storages[name, "part"] = part
        return self._storages[name, "part"]

    def _read_storage(self, kind: Any, name: str, length: int) -> Any:
        brain = False
        numpy: np.dtype[Any]
        if kind is UntypedStorage:
            numpy = np.dtype(np.uint8)
        else:
            try:
                numpy = kind.dtype.dtype
            except ImportError:
                brain, numpy = True, np.dtype(np.uint16)
        memory = self._read(name, length * numpy.itemsize)
        if memory.nbytes != length * numpy.itemsize:
            raise ValueError(f"storage {name!r} does not have the size that it should have")
        if self._swapped and numpy.itemsize > 1:
            part = numpy.itemsize // 2 if numpy.kind == "c" else numpy.itemsize
            memory = memory.view(f"u{part}").byteswap().view(np.uint8)
        if brain:
            # see NOTE [bfloat16 in files]
            warn(
                "The file holds bfloat16 tensors, which need the package ml_dtypes (pip install "
                "'wengert[bfloat16]'): they become float32, with the same values.",
            )
            numpy = np.dtype(np.float32)
            memory = (memory.view(np.uint16).astype(np.uint32) << 16).view(np.uint8)
        return storage_over(memory, None if kind is UntypedStorage else numpy, [0, None])


def is_known(path: str) -> bool:
    """Return whether a PyTorch path is an element type, a storage, or rebuilds tensors."""
    module, _, name = path.rpartition(".")
    return path in _VALUES or (module in ("torch", "torch.cuda") and _of_torch(name) is not None)


def _of_torch(name: str) -> Any:
    """Return an element type, or a class of storages, by its name in PyTorch."""
    if name in STORAGES:
        return storage_class(name)
    if name in DTYPES:
        return DTYPES[name]
    if name == "bfloat16":
        try:
            return bfloat16()
        except ImportError as error:
            return _Foreign("torch.bfloat16", str(error))
    if name == "strided":
        return strided
    if name.startswith(("QInt", "QUInt", "qint", "quint", "per_tensor", "per_channel")):
        return _Foreign(f"torch.{name}", _FOREIGN["Q"])
    if name.startswith(("float", "complex", "bits", "int", "uint")) or name.endswith("Storage"):
        return _Foreign(f"torch.{name}", _FOREIGN["F"])
    return None


def _text(value: Any) -> str:
    """Decode text that Python 2 wrote as bytes."""
    text = value.decode("ascii") if type(value) is bytes else value
    if type(text) is not str:
        raise ValueError("a storage is named by text")
    return text
