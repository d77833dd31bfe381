"""Layer 9 · numpy: random arrays, drawn as ``numpy.random`` draws them.

The streams are NumPy's: after `seed`, or from `default_rng` with a seed, the numbers are those of
``numpy.random``. The module has its own state. If the parameters of a location-scale distribution
(`normal`, `uniform`, ...) require a gradient, the sample is differentiable with respect to them.

Examples
--------
>>> rng = np.random.default_rng(0)
>>> rng.normal(size=2).shape
torch.Size([2])
>>> scale = np.array(2.0).requires_grad_()
>>> rng.normal(1.0, scale, size=3).requires_grad
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.numpy.arrays import array_of, made
from wengert.tape.base import TensorBase
from wengert.tensor.numpy import boundary as numpy_boundary
from wengert.tensor.numpy.counterparts import tensor, values, wrapped

__all__ = ["Generator", "RandomState", "default_rng", "get_state", "seed", "set_state"]

_STANDARD: dict[str, tuple[Any, Any]] = {
    # the defaults of the parameters, and the map from a draw with the defaults to other parameters
    "normal": ((0.0, 1.0), lambda z, loc, scale: loc + scale * z),
    "uniform": ((0.0, 1.0), lambda z, low, high: low + (high - low) * z),
    "exponential": ((1.0,), lambda z, scale: scale * z),
    "laplace": ((0.0, 1.0), lambda z, loc, scale: loc + scale * z),
    "logistic": ((0.0, 1.0), lambda z, loc, scale: loc + scale * z),
    "gumbel": ((0.0, 1.0), lambda z, loc, scale: loc + scale * z),
    "rayleigh": ((1.0,), lambda z, scale: scale * z),
    "lognormal": ((0.0, 1.0), lambda z, mean, sigma: np.exp(mean + sigma * np.log(z))),
}
_PARAMETERS = {
    "uniform": ("low", "high"),
    "exponential": ("scale",),
    "rayleigh": ("scale",),
    "lognormal": ("mean", "sigma"),
}


_CHOICE = "What is drawn does not depend smoothly on p: pass p.detach()."


class _Source:
    """Draws arrays with one of NumPy's generators."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        method = getattr(self._source, name)
        return _drawing(name, method) if callable(method) else method

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(self._source)})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._source!r})"

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """Return the integers below `x` in random order, or the permuted rows of an array."""
        if not isinstance(x, TensorBase):
            return made(wrapped(self._source.permutation(x)))
        order = self._source.permutation(x._payload.shape[axis])
        return made(np.take(array_of(x), order, axis=axis))

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle the rows of an array in place; recorded."""
        if not isinstance(x, TensorBase):
            self._source.shuffle(x)
            return
        order = self._source.permutation(x._payload.shape[axis])
        array = array_of(x)
        array[...] = np.take(array, order, axis=axis)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, **more: Any
    ) -> Any:
        """Draw elements of `a`, or integers below it; differentiable in the elements."""
        count = a._payload.shape[more.get("axis", 0)] if isinstance(a, TensorBase) else a
        if np.ndim(count) == 0 and isinstance(a, TensorBase) and not a._payload.ndim:
            count = int(a._payload)
        if isinstance(a, list | tuple | str) and np.asarray(a).dtype.kind not in "biufc":
            return self._source.choice(a, size, replace, values(p), **more)
        if numpy_boundary.loses(p):
            raise numpy_boundary.function_lost("numpy.random.choice", _CHOICE)
        places = self._source.choice(count, size, replace, values(p), **more)
        if not isinstance(a, TensorBase) or not a._payload.ndim:
            return made(wrapped(np.asarray(places)))
        return made(np.take(array_of(a), places, axis=more.get("axis", 0)))


class Generator(_Source):
    """Like `numpy.random.Generator`, but with arrays of this package.

    Parameters
    ----------
    bit_generator: One of NumPy's bit generators (`PCG64`, ...), or a NumPy generator.

    Examples
    --------
    >>> np.random.Generator(np.random.PCG64(1)).integers(10, size=3).tolist()
    [4, 5, 7]
    """

    def __init__(self, bit_generator: Any) -> None:
        own = isinstance(bit_generator, np.random.Generator)
        super().__init__(bit_generator if own else np.random.Generator(bit_generator))

    def spawn(self, n_children: int) -> list[Generator]:
        """Return generators of streams that are independent of this one and of each other."""
        return [Generator(child) for child in self._source.spawn(n_children)]


class RandomState(_Source):
    """Like `numpy.random.RandomState`, but with arrays of this package.

    Parameters
    ----------
    seed : int, optional. As in NumPy.
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(np.random.RandomState(seed))

    def seed(self, seed: Any = None) -> None:
        """Restart the stream, as `numpy.random.seed` does."""
        self._source.seed(seed)

    def get_state(self, legacy: bool = True) -> Any:
        """Return the state of the stream."""
        return self._source.get_state(legacy)

    def set_state(self, state: Any) -> None:
        """Restore a state from `get_state`."""
        self._source.set_state(state)


def _drawing(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def draw(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is not None:
            array_of(out)[...] = draw(*args, **{"size": tuple(out.shape), **kwargs})
            return out
        if numpy_boundary.loses([args, kwargs]):
            if name not in _STANDARD:
                raise numpy_boundary.function_lost(
                    f"numpy.random.{name}",
                    "Draw from a standard distribution and compute with the parameters.",
                )
            return _stretched(name, method, *args, **kwargs)
        drawn = method(*values(args), **values(kwargs))
        if isinstance(drawn, bool | int | float):
            drawn = np.asarray(drawn)
        return made(wrapped(drawn))

    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = f"Draw an array with NumPy's `{name}` (see `numpy.random.Generator.{name}`)."
    return draw


def _stretched(name: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Shift and scale a draw from the standard distribution by tensors."""
    defaults, stretch = _STANDARD[name]
    names = _PARAMETERS.get(name, ("loc", "scale"))
    given = dict(zip((*names, "size"), args, strict=False)) | kwargs
    parameters = [tensor(given.get(n, d)) for n, d in zip(names, defaults, strict=True)]
    size = given.get("size")
    if size is None:
        size = np.broadcast_shapes(*[p._payload.shape for p in parameters])
    return made(stretch(tensor(np.asarray(method(*defaults, size=size))), *parameters))


def default_rng(seed: Any = None) -> Generator:
    """Make a generator of random arrays, like `numpy.random.default_rng`.

    Examples
    --------
    >>> import numpy
    >>> float(np.random.default_rng(3).random()) == numpy.random.default_rng(3).random()
    True
    """
    if isinstance(seed, Generator):
        return seed
    return Generator(np.random.default_rng(values(seed)))


_STATE = RandomState()
seed, get_state, set_state = _STATE.seed, _STATE.get_state, _STATE.set_state


_SAME = frozenset({"BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"})
_SAME |= {"SeedSequence"}
_OLD = {"ranf": "random_sample", "sample": "random_sample"}
_OF_THE_STATE = "the state of this module is in a RandomState: write np.random.Generator(...)"
_ABSENT = {
    "bit_generator": "NumPy's bit generators are here: PCG64, ...",
    "get_bit_generator": _OF_THE_STATE,
    "mtrand": "it is NumPy's own",
    "set_bit_generator": _OF_THE_STATE,
    "test": "it is NumPy's own",
}


def __getattr__(name: str) -> Any:
    """Return a function of ``numpy.random``: a method of this module's state."""
    if name in _SAME:
        return getattr(np.random, name)
    name = _OLD.get(name, name)
    if not name.startswith("_") and hasattr(np.random, name) and hasattr(_STATE._source, name):
        return globals().setdefault(name, getattr(_STATE, name))
    why = f": NumPy has it, but {_ABSENT[name]}" if name in _ABSENT else ""
    raise AttributeError(f"module 'wengert.numpy.random' has no attribute {name!r}{why}")


def __dir__() -> list[str]:
    drawn = {name for name in dir(_STATE._source) if hasattr(np.random, name)}
    return sorted(n for n in {*__all__, *_SAME, *drawn} if not n.startswith("_"))
