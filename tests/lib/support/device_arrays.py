"""An array library for tests that behaves like CuPy towards NumPy, on NumPy's memory.

Its functions are those that CuPy has (`cupy_names.txt`), with their parameters. They take arrays of
their own library and numbers alone, on one device; nothing becomes an array of NumPy by itself.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np

from wengert.base.backends import BACKENDS

__all__ = ["Array", "StandIn", "devices"]

_TEXT = Path(__file__).with_name("cupy_names.txt").read_text()
_LINES = [line.split() for line in _TEXT.splitlines()][1:]
_ROWS = {(line[0], line[1]): line[2:] for line in _LINES if line[0] != "ndarray"}
_METHODS = frozenset(_LINES[-1][1:])
_UFUNCS = frozenset(name for (_, name), rest in _ROWS.items() if rest == ["ufunc"])
_CALLABLE = frozenset(name for module, name in _ROWS if module in ("numpy", "special"))
_OF_UFUNCS = {
    "reduce": {"add", "multiply"},
    "accumulate": {"add", "multiply"},
    "reduceat": {"add"},
    "at": {"add", "subtract", "maximum", "minimum"},
    "outer": _UFUNCS,
}
_CALLED = frozenset({"out", "dtype", "casting"})
_COMPARE = frozenset(["greater", "greater_equal", "less", "less_equal", "equal", "not_equal"])


class Array:
    """An array of the library."""

    __slots__ = ("index", "inner")
    __array_priority__ = 100

    def __init__(self, inner, index):
        self.inner = np.asarray(inner)
        self.index = index

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed: use .get()")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        name = ufunc.__name__
        out = kwargs.get("out", ())
        if len(out) > 1:
            raise ValueError("The 'out' parameter must have exactly one array value")
        if name not in _CALLABLE:
            return NotImplemented
        if method != "__call__" and name not in _OF_UFUNCS[method]:
            raise NotImplementedError(f"`{name}.{method}` is not supported yet")
        allowed = _CALLED if method == "__call__" else {"out", "dtype", "axis", "keepdims"}
        if kwargs.keys() - allowed:
            raise TypeError(f"Wrong arguments {kwargs.keys() - allowed}")
        if name in _COMPARE:
            inputs = [x.item() if isinstance(x, np.ndarray) and not x.ndim else x for x in inputs]
        place = method == "at"
        given = [self._taken(x, i == 1 and place) for i, x in enumerate(inputs)]
        if out:
            kwargs["out"] = (self._taken(out[0]),)
        with np.errstate(all="ignore"):
            made = getattr(ufunc, method)(*given, **kwargs)
        return out[0] if out else self._given(made)

    def __array_function__(self, func, types, args, kwargs):
        row = _ROWS.get((func.__module__, func.__name__))
        if row is None or not all(issubclass(t, Array | np.ndarray) for t in types):
            return NotImplemented
        names = {name.lstrip("*") for name in row}
        if "*" not in names and not any(name[0] == "*" for name in row):
            unknown = kwargs.keys() - names
            if unknown or len(args) > len(row):
                raise TypeError(f"{func.__name__}() got an unexpected argument {unknown or args}")
        # cupy.asarray(a) and cupy.array(a) send arrays of NumPy
        sends = func.__name__ in ("array", "asarray")
        args = [self._taken(value, sends) for value in args]
        kwargs = {name: self._taken(value) for name, value in kwargs.items()}
        return self._given(func(*args, **kwargs))

    def _taken(self, value, index=False):
        if isinstance(value, Array):
            if value.index != self.index:
                raise ValueError(f"Array device must be the current: {value.index}, {self.index}")
            return value.inner
        if isinstance(value, np.ndarray) and not index:
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        if isinstance(value, tuple | list):
            return type(value)(self._taken(part, index) for part in value)
        return value

    def _given(self, made):
        if isinstance(made, np.ndarray | np.generic):
            return Array(made, self.index)
        if isinstance(made, tuple | list):
            parts = [self._given(part) for part in made]
            return type(made)(*parts) if hasattr(made, "_fields") else type(made)(parts)
        return made

    @property
    def real(self):
        return self._given(self.inner.real)

    @real.setter
    def real(self, value):
        self.inner.real = self._taken(value)

    @property
    def imag(self):
        return self._given(self.inner.imag)

    @imag.setter
    def imag(self, value):
        self.inner.imag = self._taken(value)

    def diagonal(self, *args):
        found = self.inner.diagonal(*args)
        found.flags.writeable = True
        return self._given(found)

    def __getattr__(self, name):
        if name not in _METHODS:
            raise AttributeError(f"'Array' object has no attribute {name!r}")
        found = getattr(self.inner, name)
        if name == "flags":
            return _Flags(found)
        if name in ("item", "tolist", "tobytes"):
            return found
        if callable(found):
            return lambda *a, **k: self._given(
                found(*map(self._taken, a), **{n: self._taken(v) for n, v in k.items()})
            )
        return self._given(found)

    def _wrapped(self, index):
        """An index of NumPy's, with arrays that are out of bounds wrapped round, as CuPy does."""
        parts = self._taken(index, True)
        parts = list(parts) if isinstance(parts, tuple) else [parts]
        at = 0
        for i, part in enumerate(parts):
            if part is Ellipsis:
                break
            if isinstance(part, np.ndarray) and part.dtype.kind in "iu" and at < self.inner.ndim:
                parts[i] = part % max(self.inner.shape[at], 1)
            masks = isinstance(part, np.ndarray) and part.dtype.kind == "b"
            at += part.ndim if masks else part is not None
        return tuple(parts)

    def __getitem__(self, index):
        return self._given(self.inner[self._wrapped(index)])

    def __setitem__(self, index, value):
        self.inner[self._wrapped(index)] = self._taken(value)

    def __len__(self):
        return len(self.inner)

    def __iter__(self):
        return (self[i] for i in range(len(self.inner)))

    def __bool__(self):
        return bool(self.inner)

    def __int__(self):
        return int(self.inner)

    def __index__(self):
        return self.inner.__index__()

    def __float__(self):
        return float(self.inner)

    __hash__ = None


class _Flags:
    def __init__(self, flags):
        self.c_contiguous, self.f_contiguous = flags.c_contiguous, flags.f_contiguous
        self.owndata = flags.owndata


def _install():
    for cls in np.lib.mixins.NDArrayOperatorsMixin.__mro__[:1]:
        for name, method in vars(cls).items():
            if name.startswith("__") and callable(method) and name != "__class__":
                setattr(Array, name, method)


_install()


class StandIn:
    """The library as a backend, with two devices."""

    kind = Array

    def count(self):
        return 2

    def current(self):
        return 0

    def on(self, index):
        return contextlib.nullcontext()

    def send(self, array, index):
        return Array(np.array(array, order="K"), index)

    def fetch(self, array):
        return array.inner.copy(order="K")

    def name(self, index):
        return f"stand-in {index}"

    def synchronize(self, index):
        pass


@contextlib.contextmanager
def devices():
    """A context in which ``"cuda"`` is this library."""
    before = BACKENDS.get("cuda", BACKENDS)
    BACKENDS["cuda"] = StandIn()
    try:
        yield
    finally:
        BACKENDS.pop("cuda")
        if before is not BACKENDS:
            BACKENDS["cuda"] = before
