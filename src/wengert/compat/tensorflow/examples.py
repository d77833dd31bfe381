"""Layer 9 · compat: ``tf.train.Example``: named lists of numbers or strings, as one string.

>>> value = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
>>> example = tf.train.Example(features=tf.train.Features(feature={"n": value}))
>>> tf.train.Example.FromString(example.SerializeToString()) == example
True
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from wengert.compat.tensorflow.wire import field, fields, packed, varint
from wengert.compat.tensorflow.words import public


class _Message:
    """Base class of messages that are equal if their strings are."""

    def __eq__(self, other) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        held = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({held})"

    def SerializeToString(self) -> bytes:
        """Return the message as bytes."""
        raise NotImplementedError

    def ParseFromString(self, serialized: bytes) -> int:
        """Read the message from bytes, and return their number."""
        vars(self).update(vars(self.FromString(serialized)))
        return len(serialized)

    @classmethod
    def FromString(cls, serialized: bytes) -> Any:
        """Return the message that bytes hold."""
        raise NotImplementedError


class _List(_Message):
    def __init__(self, value=()) -> None:
        self.value = list(map(self._converted, np.ravel(np.asarray(value, self._kind)).tolist()))

    _kind: ClassVar[Any]
    _converted: ClassVar[Any]


class BytesList(_List):
    """A list of strings."""

    _kind = object

    @staticmethod
    def _converted(value) -> bytes:
        if not isinstance(value, bytes):
            raise TypeError(f"bad argument type for built-in operation: {value!r} is not bytes")
        return value

    def SerializeToString(self) -> bytes:
        return b"".join(field(1, one) for one in self.value)

    @classmethod
    def FromString(cls, serialized: bytes) -> Any:
        return cls([one for _, one in fields(serialized)])


class FloatList(_List):
    """A list of floats of 32 bits."""

    _kind, _converted = np.float32, float

    def SerializeToString(self) -> bytes:
        return field(1, np.asarray(self.value, "<f4").tobytes()) if self.value else b""

    @classmethod
    def FromString(cls, serialized: bytes) -> Any:
        return cls(np.frombuffer(b"".join(one for _, one in fields(serialized)), "<f4"))


class Int64List(_List):
    """A list of whole numbers."""

    _kind, _converted = np.int64, int

    def SerializeToString(self) -> bytes:
        return field(1, b"".join(map(varint, self.value))) if self.value else b""

    @classmethod
    def FromString(cls, serialized: bytes) -> Any:
        return cls([number for _, one in fields(serialized) for number in packed(one)])


_KINDS: dict[str, Any] = {
    "bytes_list": BytesList,
    "float_list": FloatList,
    "int64_list": Int64List,
}


class Feature(_Message):
    """One of the three lists."""

    def __init__(self, bytes_list=None, float_list=None, int64_list=None) -> None:
        given = (bytes_list, float_list, int64_list)
        self._one = next((name for name, one in zip(_KINDS, given, strict=True) if one), None)
        for (name, kind), one in zip(_KINDS.items(), given, strict=True):
            setattr(self, name, kind() if one is None else one)

    def WhichOneof(self, group: str) -> str | None:
        """Return the name of the list, or None."""
        return self._one

    def SerializeToString(self) -> bytes:
        if self._one is None:
            return b""
        return field([*_KINDS].index(self._one) + 1, getattr(self, self._one).SerializeToString())

    @classmethod
    def FromString(cls, serialized: bytes) -> Any:
        names = [*_KINDS]
        lists = {names[n - 1]: _KINDS[names[n - 1]].FromString(x) for n, x in fields(serialized)}
        return cls(**lists)


class Features(_Message):
    """Features by name."""

    def __init__(self, feature: dict[str, Feature] | None = None) -> None:
        self.feature = dict(feature or {})

    def SerializeToString(self) -> bytes:
        pairs = ((key.encode(), one.SerializeToString()) for key, one in self.feature.items())
        return b"".join(field(1, field(1, key) + field(2, one)) for key, one in sorted(pairs))

    @classmethod
    def FromString(cls, serialized: bytes) -> Any:
        pairs = (dict(fields(one)) for _, one in fields(serialized))
        return cls({p.get(1, b"").decode(): Feature.FromString(p.get(2, b"")) for p in pairs})


class Example(_Message):
    """The features of one example."""

    def __init__(self, features: Features | None = None) -> None:
        self.features = Features() if features is None else features

    def SerializeToString(self) -> bytes:
        return field(1, self.features.SerializeToString())

    @classmethod
    def FromString(cls, serialized: bytes) -> Any:
        return cls(Features.FromString(b"".join(one for _, one in fields(serialized))))


__all__ = public(globals())
