"""Layer 9 · compat: the raw and typed keys of `jax.random`, and draws from them.

NOTE [keys]
A key is two words: an array of uint32 of shape (2,), or, from ``jax.random.key``, a `PRNGKeyArray`
without dimensions over such an array. Transforms see the latter as a container of its words, so
that `vmap` maps over keys. Draws have no derivative; under `vmap` over keys they are computed for
all keys at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from wengert.compat.jax import threefry
from wengert.compat.jax.array import Array, asarray, made
from wengert.compat.jax.classes import KINDS
from wengert.compat.jax.dtypes import default_dtype, prng_key
from wengert.compat.jax.methods import ShapedArray
from wengert.compat.jax.numpy.calling import check_arrays, plain, shape_of, sizes_of, static
from wengert.compat.jax.numpy.keyed import by_words
from wengert.compat.jax.samplers import BY_NUMBERS
from wengert.compat.jax.trees import OPAQUE, register
from wengert.compat.jax.words import refusal
from wengert.compat.kit.signatures import named
from wengert.interp.eager import K
from wengert.ops import expand, permute
from wengert.prims.families import constant
from wengert.prims.record import case
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T

_NAME = "threefry2x32"


class _KeyDtype:
    name = "key<fry>"
    type = prng_key
    itemsize = 8

    def zeros(self, shape) -> PRNGKeyArray:
        """Return keys of zeros."""
        return PRNGKeyArray(made(new_tensor(np.zeros((*shape, 2), np.uint32))))

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _KeyDtype)

    def __hash__(self) -> int:
        return hash(self.name)


_DTYPE = _KeyDtype()


class PRNGSpec:
    """The implementation behind keys: ``threefry2x32`` is the only one here."""

    def __repr__(self) -> str:
        return f"PRNGSpec({_NAME!r})"


class PRNGKeyArray:
    """An array of typed keys, as ``jax.random.key`` and `split` return it.

    Examples
    --------
    >>> key = jax.random.key(0)
    >>> key
    Array((), dtype=key<fry>) overlaying:
    [0 0]
    >>> first, second = jax.random.split(key)
    """

    __slots__ = ("words",)
    words: Any

    def __init__(self, words) -> None:
        self.words = words

    dtype = property(lambda self: _DTYPE, doc="``key<fry>``.")
    shape = property(lambda self: tuple(self.words.shape[:-1]), doc="The sizes of dimensions.")
    ndim = property(lambda self: self.words.ndim - 1, doc="The number of dimensions.")
    size = property(lambda self: self.words.size // 2, doc="The number of keys.")
    aval = property(lambda self: ShapedArray(self.shape, _DTYPE), doc="Its shape and dtype.")

    def __repr__(self) -> str:
        return f"Array({self.shape}, dtype={_DTYPE}) overlaying:\n{self.words}"

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d key array")
        return map(PRNGKeyArray, self.words)

    def __getitem__(self, index) -> Any:
        parts = index if isinstance(index, tuple) else (index,)
        if not any(part is Ellipsis for part in parts):
            parts = (*parts, Ellipsis)
        return PRNGKeyArray(self.words[(*parts, slice(None))])

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, PRNGKeyArray):
            return NotImplemented
        return (self.words == other.words).all(-1)

    def __ne__(self, other: object) -> Any:
        return ~(self == other) if isinstance(other, PRNGKeyArray) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype=None, copy: bool | None = None) -> Any:
        raise refusal(TypeError, "JAX array with PRNGKey")

    at = property(lambda self: _At(self), doc="``x.at[index]``, with `get` and `set`.")
    T = property(lambda self: self.transpose(), doc="The keys with their axes reversed.")

    def block_until_ready(self) -> PRNGKeyArray:
        """Return the keys, which are already computed."""
        return self

    def copy(self) -> PRNGKeyArray:
        """Return the same keys."""
        return PRNGKeyArray(self.words)


def _no_arithmetic(symbol: str) -> Callable[..., Any]:
    def operator(self, other) -> Any:
        raise refusal(TypeError, "{} does not accept", symbol, getattr(other, "dtype", type(other)))

    return operator


class _At:
    """The attribute ``keys.at``, and ``keys.at[index]``."""

    __slots__ = ("index", "keys")

    def __init__(self, keys, index=None) -> None:
        self.keys = keys
        self.index = index

    def __getitem__(self, index) -> _At:
        return _At(self.keys, index)

    def get(self, **options) -> PRNGKeyArray:
        """Return the keys there."""
        return by_words(lambda x: x.at[self.index].get(**options), self.keys)

    def set(self, values, **options) -> PRNGKeyArray:
        """Return the keys, with others there."""
        if not isinstance(values, PRNGKeyArray):
            raise refusal(TypeError, "{} does not accept", "scatter", type(values))
        return by_words(lambda x, y: x.at[self.index].set(y, **options), self.keys, values)


def _method(name: str) -> Callable[..., Any]:
    def method(self, *args, **kwargs) -> Any:
        return by_words(lambda x: getattr(x, name)(*args, **kwargs), self)

    return named(method, name, getattr(Array, name).__doc__)


KINDS.append(PRNGKeyArray)
for _name in ("flatten", "ravel", "repeat", "reshape", "squeeze", "swapaxes", "take", "transpose"):
    setattr(PRNGKeyArray, _name, _method(_name))
for _name in ("add", "sub", "mul", "xor"):
    setattr(PRNGKeyArray, f"__{_name}__", _no_arithmetic(_name))
    setattr(PRNGKeyArray, f"__r{_name}__", _no_arithmetic(_name))


# -- drawing ---------------------------------------------------------------------------------------


def aligned(info, in_dims, tensors) -> list[Any]:
    """Return the arguments of a function under `vmap` with the batch axis first."""
    moved = []
    for x, dim in zip(tensors, in_dims, strict=True):
        if dim is None:
            moved.append(expand.broadcast_to(x, (info.batch_size, *x._payload.shape)))
        else:
            moved.append(permute.movedim(x, dim, 0))
    return moved


class Sampler(NamedTuple):
    """A function that computes random numbers from arrays with the same leading dimensions.

    Samplers of the same function and keywords are equal, so that two traces of a function that
    draws compare equal.
    """

    function: Callable[..., Any]
    keywords: tuple[tuple[str, Any], ...]


def sampler(function: Callable[..., Any], **keywords) -> Sampler:
    """Build a sampler from a module-level function and keyword arguments that are not arrays."""
    return Sampler(function, tuple(keywords.items()))


def _in_steps(F, *arrays, function, keywords) -> Any:
    return NotImplemented if function in BY_NUMBERS else function(F, *arrays, **dict(keywords))


constant(
    "drawn_by",
    lambda *arrays, function, keywords: np.asarray(
        function(K, *map(np.asarray, arrays), **dict(keywords))
    ),
    args=("*tensors",),
    params=("function", "keywords"),
    promote=None,
    batching="leading",
    cases=(case((2,), (2,), function=lambda F, a, b: F.maximum(a, b), keywords=()),),
    doc="what a sampler makes of keys and parameters",
    decomposed=_in_steps,
)


def drawn(by: Sampler, *values) -> Any:
    """Return the result of a sampler for keys and parameters, as an `Array`.

    Parameters
    ----------
    *values: Arrays: the words of the keys, then the parameters.
    """
    given = [plain(asarray(value)) for value in values]
    return made(T.drawn_by(*given, **by._asdict()))


# -- keys ------------------------------------------------------------------------------------------


def words_of(name: str, key, several=False) -> Any:
    """Return the words of a key as an array.

    Raises
    ------
    TypeError: If it is not a key.
    ValueError: If it is an array of keys, unless `several` are allowed.
    """
    words = key.words if isinstance(key, PRNGKeyArray) else key
    if not isinstance(words, TensorBase | np.ndarray):
        raise refusal(TypeError, "JAX encountered invalid", key)
    words = asarray(words)
    if not words.ndim or words.shape[-1] != 2:
        raise TypeError(
            "JAX encountered invalid PRNG key data: expected key_data.shape to end with (2,); got "
            f"shape={words.shape} for impl={_NAME}"
        )
    if words.dtype != np.uint32:
        raise TypeError(
            "JAX encountered invalid PRNG key data: expected key_data.dtype = uint32; got "
            f"dtype={words.dtype}"
        )
    if words.ndim > 1 and not several:
        shape = key.shape if isinstance(key, PRNGKeyArray) else words.shape
        raise refusal(ValueError, "{} accepts a single key", name, tuple(shape))
    return words


def _check_impl(impl) -> None:
    if impl in (None, _NAME, "fry") or isinstance(impl, PRNGSpec | _KeyDtype):
        return
    if impl in ("rbg", "unsafe_rbg"):
        raise NotImplementedError(f"the PRNG implementation {impl!r}: only {_NAME!r} is there")
    raise ValueError(f'unrecognized PRNG implementation {impl!r}. Did you mean "{_NAME}"?')


def _seeded(name: str, seed) -> Any:
    if isinstance(seed, PRNGKeyArray):
        raise TypeError(f"{name} accepts a scalar seed, but was given a PRNG key.")
    if not isinstance(seed, int):
        check_arrays(name, seed)
    dtype = getattr(seed, "dtype", None)
    if isinstance(seed, float | complex) or (dtype is not None and dtype.kind not in "iu"):
        raise TypeError(f"PRNG key seed must be an integer; got {seed!r}")
    if dtype is not None and seed.ndim:
        raise refusal(TypeError, "{} accepts a scalar seed", name, seed)
    if dtype is None:
        wide = default_dtype("i").itemsize == 8
        bits = int(seed) & (0xFFFFFFFFFFFFFFFF if wide else 0xFFFFFFFF)
        return made(new_tensor(threefry.seeded(K, np.array(bits, np.uint64))))
    return drawn(sampler(threefry.seeded), seed)


def PRNGKey(seed, *, impl=None) -> Any:
    """Make a raw key, of two words, from a seed.

    Parameters
    ----------
    seed : int

    Returns
    -------
    Array: Of shape (2,) and dtype uint32.

    Examples
    --------
    >>> jax.random.PRNGKey(42)
    Array([ 0, 42], dtype=uint32)
    """
    _check_impl(impl)
    return _seeded("PRNGKey", seed)


def key(seed, *, impl=None, dtype=None) -> PRNGKeyArray:
    """Make a typed key from a seed (see `PRNGKeyArray`)."""
    if impl is not None and dtype is not None:
        raise ValueError("Cannot specify both `impl` and `dtype` arguments to jax.random.key")
    _check_impl(impl if dtype is None else dtype)
    return PRNGKeyArray(_seeded("key", seed))


def _as_given(words, key) -> Any:
    return PRNGKeyArray(words) if isinstance(key, PRNGKeyArray) else words


def split(key, num=2) -> Any:
    """Split a key into new keys; do not use the old one again.

    Parameters
    ----------
    key : Array or PRNGKeyArray
    num : int or tuple of int. The number of keys, or their shape.

    Examples
    --------
    >>> key, subkey = jax.random.split(jax.random.PRNGKey(0))
    >>> subkey
    Array([ 928981903, 3453687069], dtype=uint32)
    """
    words = words_of("split", key)
    shape = shape_of(num if isinstance(num, tuple | list) else static(num, "num of split"))
    return _as_given(drawn(sampler(threefry.split, shape=shape), words), key)


def fold_in(key, data) -> Any:
    """Derive a new key from a key and an integer.

    Examples
    --------
    >>> jax.random.fold_in(jax.random.PRNGKey(0), 1)
    Array([ 928981903, 3453687069], dtype=uint32)
    """
    words = words_of("fold_in", key)
    if sizes_of(data):
        raise refusal(TypeError, "fold_in accepts a scalar", sizes_of(data))
    if isinstance(data, int):
        data = np.uint32(data & 0xFFFFFFFF)
    return _as_given(drawn(sampler(threefry.fold_in), words, asarray(data, np.uint32)), key)


def key_data(keys) -> Array:
    """Return the words of keys."""
    return words_of("key_data", keys, several=True)


def wrap_key_data(key_bits_array, *, impl=None, dtype=None) -> PRNGKeyArray:
    """Make typed keys from their words."""
    _check_impl(impl if dtype is None else dtype)
    return PRNGKeyArray(words_of("wrap_key_data", key_bits_array, several=True))


def key_impl(keys) -> str:
    """Return the name of the key implementation."""
    words_of("key_impl", keys, several=True)
    return _NAME


def key_dtype(impl_spec=None) -> Any:
    """Return the dtype of typed keys."""
    _check_impl(impl_spec)
    return _DTYPE


def clone(key) -> Any:
    """Return the same key, for programs that reuse one on purpose."""
    words_of("clone", key, several=True)
    return key


register(PRNGKeyArray, lambda keys: ((keys.words,), None), lambda _, parts: PRNGKeyArray(*parts))

OPAQUE.add(PRNGKeyArray)
