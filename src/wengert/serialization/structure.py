"""Layer 9 · serialization: nested state as JSON with named tensors, and back.

NOTE [the form of a state]
Strings, integers, finite floats, booleans, None and lists stand for themselves. Anything else is an
object with one entry, whose key says what it is: ``{"tensor": name}``, ``{"tuple": [...]}``,
``{"dict": [[key, value], ...]}``. It never names code: only the kinds listed in `_MAKERS` can be
loaded.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from wengert.base.device import device
from wengert.base.dtypes import as_dtype, dtype
from wengert.base.size import Size
from wengert.tape.base import TensorBase

_ITSELF = frozenset({str, int, bool, type(None)})
_SEQUENCES: dict[type, str] = {tuple: "tuple", Size: "size"}
_MAPPINGS: dict[type, str] = {dict: "dict", OrderedDict: "ordered"}
_RESERVED = "__metadata__"
"""The name that no tensor in a safetensors file can have."""


class Encoder:
    """Encodes a state as JSON, and names its tensors.

    Attributes
    ----------
    tensors: The tensors by name, in order of traversal.
    same: Names of repeated tensors, with the name of the first occurrence.
    """

    def __init__(self, accept: Callable[[Any, str], None]) -> None:
        """Set `accept`, which gets a tensor and its place, and raises if it cannot be saved."""
        self.tensors: dict[str, Any] = {}
        self.same: dict[str, str] = {}
        self._accept = accept
        self._names: dict[int, str] = {}
        self._open: set[int] = set()

    def encode(self, state: Any) -> Any:
        """Encode `state`."""
        # other readers should find every tensor of a dictionary under its key
        every = type(state) in _MAPPINGS and all(
            type(key) is str and isinstance(value, TensorBase) for key, value in state.items()
        )
        return self._encode(state, "state", (), every)

    def _encode(self, value: Any, place: str, keys: tuple[Any, ...], every: bool = False) -> Any:
        kind = type(value)
        if kind in _ITSELF:
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is complex:
            return {"complex": [repr(value.real), repr(value.imag)]}
        if isinstance(value, TensorBase):
            return {"tensor": self._name(value, place, keys, every)}
        if kind is dtype:
            return {"dtype": value.name}
        if kind is device:
            return {"device": str(value)}
        if kind is not list and kind not in _SEQUENCES and kind not in _MAPPINGS:
            raise TypeError(
                f"cannot save {place}, which is a {kind.__module__}.{kind.__qualname__}: a state "
                "is made of tensors, numbers, strings, None, dtypes, sizes, lists, tuples and "
                "dictionaries" + (". Save its state_dict()" if hasattr(value, "state_dict") else "")
            )
        if id(value) in self._open:
            raise ValueError(f"cannot save {place}, which contains itself")
        self._open.add(id(value))
        if kind in _MAPPINGS:
            pairs = [
                [
                    self._key(key, place),
                    self._encode(held, f"{place}[{key!r}]", (*keys, key), every),
                ]
                for key, held in value.items()
            ]
            form: Any = {_MAPPINGS[kind]: pairs}
        else:
            parts = [
                self._encode(held, f"{place}[{i}]", (*keys, i)) for i, held in enumerate(value)
            ]
            form = parts if kind is list else {_SEQUENCES[kind]: parts}
        self._open.remove(id(value))
        return form

    def _key(self, key: Any, place: str) -> Any:
        plain = key if type(key) is tuple else (key,)
        if any(type(part) not in _ITSELF and type(part) is not float for part in plain):
            raise TypeError(
                f"cannot save {place}: its key {key!r} is of type {type(key).__qualname__}, but "
                "keys are strings, numbers, None, or tuples of these"
            )
        return self._encode(key, place, ())

    def _name(self, tensor: Any, place: str, keys: tuple[Any, ...], again: bool) -> str:
        known = self._names.get(id(tensor))
        if known is not None and not again:
            return known
        self._accept(tensor, place)
        # an unpaired surrogate cannot be written to a file
        name = ".".join(map(str, keys)).encode("utf-8", "replace").decode() if keys else "tensor"
        stem, number = name, 1
        while name in self.tensors or name == _RESERVED:
            number += 1
            name = f"{stem}#{number}"
        self.tensors[name] = tensor
        if known is not None:
            self.same[name] = known
        return self._names.setdefault(id(tensor), name) if known is None else name


_MAKERS: dict[str, Callable[[Any], Any]] = {
    "tuple": tuple,
    "size": Size,
    "dict": dict,
    "ordered": OrderedDict,
    "float": float,
    "complex": lambda parts: complex(*map(float, parts)),
    "dtype": as_dtype,
    "device": device,
}


def decoded(form: Any, tensors: dict[str, Any]) -> Any:
    """Decode the state in `form`; any error means that `form` is invalid."""
    if isinstance(form, list):
        return [decoded(part, tensors) for part in form]
    if not isinstance(form, dict):
        return form
    ((kind, content),) = form.items()
    if kind == "tensor":
        return tensors[content]
    return _MAKERS[kind](decoded(content, tensors))
