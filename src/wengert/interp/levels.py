"""Layer 3 · interp: levels of transforms, and the namespace that computes with given values.

NOTE [choice of F]
A namespace interprets every primitive: K computes on raw arrays, T records on the tape, B maps over
a batch and D propagates tangents. Each kind of value but the raw array carries its namespace
(``value._namespace``) and its level (``value._level``). A rule runs in the namespace of the
highest-levelled value among its cotangent *and everything saved*, since any of them may be the one
that a transform follows. At one level a tensor ranks above the payload that it wraps. Every
namespace accepts the values of every lower one.

NOTE [levels]
Each active `vmap` or `jvp` is a `Level`. They are numbered in the order in which they start, so an
inner one has a higher number, and numbers of ended ones are not reused: a backward pass visits the
levels in which a graph was recorded, from inside others. It works with `Lifted` values, payloads of
tensors: `Batched` in `wengert.interp.batched`, `Dual` in `wengert.interp.dual`. They wrap
*contents*: raw arrays, or values of lower levels. A value that does not depend on a level is not
wrapped at that level. There is one tape for all levels, and payloads never contain tensors: nodes
carry gradients into and out of a level (see `wengert.tape.levels`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from wengert.base.device import CPU, device
from wengert.base.memory_format import memory_format
from wengert.base.ports import PORTS
from wengert.interp.eager import K
from wengert.prims.namespace import Namespace
from wengert.prims.record import Primitive


def namespace_of(*values: Any) -> Any:
    """Return the namespace of the highest-levelled among `values` (see NOTE [choice of F])."""
    best = K
    height = -1
    for value in values:
        if value is None or value.__class__ is np.ndarray:
            continue
        own = getattr(value, "_namespace", None)
        if own is not None:
            rank = 2 * value._level + value._wraps
            if rank > height:
                best, height = own, rank
    return best


def memory_of(payload: Any) -> Any:
    """Return the array under a payload, also while tracing."""
    return payload.array if getattr(payload, "traced", False) else payload


class Interpreter(Namespace):
    """A namespace that computes every primitive by ``run(prim, args, params)``."""

    def __init__(self, run: Callable[..., Any]) -> None:
        def make(prim: Primitive) -> Callable[..., Any]:
            return lambda *args, **params: run(prim, args, params)

        super().__init__(make)


class Level:
    """One transform that is active.

    Attributes
    ----------
    number: Its number, in the order in which levels start.
    size: For `vmap` the size of the batch, otherwise None.
    randomness: How `vmap` treats random operations; "never" if it is not a user's `vmap`.
    dropped
        Whether it has ended and its tensors have lost their tangents, as in PyTorch: they remain
        usable, unlike those of other transforms.
    leaves: Weak references to outside tensors whose ``.grad`` got a tangent.
    written
        Tensors that belong to the level since a write: a weak reference, and the previous memory
        and edge.
    """

    __slots__ = ("dropped", "leaves", "number", "randomness", "size", "written")

    def __init__(self, number: int, size: int | None = None, randomness: str = "error") -> None:
        self.number = number
        self.size = size
        self.randomness = randomness
        self.dropped = False
        self.leaves: list[Any] = []
        self.written: list[tuple[Any, Any, Any]] = []

    def __repr__(self) -> str:
        return f"<level {self.number} of {'jvp' if self.size is None else 'vmap'}>"


class Lifted:
    """A payload of a transform: wrapped contents, interpreted at a level.

    It has the attributes of an array that the operations read; `shape` and similar ones are those
    that the function under the transform sees.
    """

    __slots__ = ("owner",)
    owner: Level

    def __init__(self, value: Any, owner: Level) -> None:
        raise NotImplementedError

    _wraps = False
    traced = False
    """Whether it is an array without a level: a value of a trace (see
    `wengert.compiler.tracing.sym`), or one of another device (`wengert.interp.devices`).
    """
    computes = False
    """Whether its namespace computes with it anywhere, not only under a transform or a trace."""
    array: Any
    # NumPy's operators and functions defer to values of transforms
    __array_ufunc__ = None
    shape: tuple[int, ...]

    @property
    def _level(self) -> int:
        """The number of the level."""
        return self.owner.number

    @property
    def dtype(self) -> Any:
        """The dtype of the elements.

        Every operation reads it, so this is where a value whose level has ended is refused.
        """
        below = next(iter(self.contents())).dtype
        if self.owner not in PORTS.levels():
            if self.owner.dropped:
                # equal, but not identical, to the dtype that the operations' fast paths check for
                return np.dtype(below, metadata={"dropped": True})
            what = "jvp" if self.owner.size is None else "vmap"
            raise RuntimeError(
                f"a value of a {what} that has ended was used outside of it (level "
                f"{self.owner.number}): return it from the function that {what} calls, and neither "
                "keep it elsewhere nor write it to a tensor of the outside"
            )
        return below

    def tensor(self) -> Any:
        """Return the tensor to hand out for this value; None for a new one."""
        return None

    def lie(self, order: memory_format) -> None:
        """Put the elements into a memory order, unless the transform defines its own."""

    @property
    def device(self) -> Any:
        """The device of the values: ``"cpu"``, or another one."""
        return next((part.device for part in self.contents() if is_elsewhere(part)), "cpu")

    def write(self, result: Any) -> None:
        """Write a result to the memory of a `traced` value."""
        raise NotImplementedError

    def shown(self) -> Any:
        """Return the array to print for a `traced` value."""
        raise NotImplementedError

    def written(self, tensor: Any, name: str) -> str | None:
        """Return the text of a tensor over a `traced` value, if it has its own."""
        return None

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for count in self.shape:
            size *= count
        return size

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def contents(self) -> Iterable[Any]:
        """Return the wrapped values."""
        raise NotImplementedError

    def constant(self) -> Any:
        """Return the values without the tangents of any transform."""
        raise NotImplementedError

    def placed(self) -> Any:
        """Return the same values in memory that can be written and shared."""
        return self

    def item(self) -> Any:
        """Return the value of a single element as a Python number, if it is concrete."""
        raise NotImplementedError

    @property
    def flags(self) -> Any:
        """NumPy's memory flags of the innermost array."""
        return next(iter(self.contents())).flags

    @property
    def strides(self) -> tuple[int, ...]:
        """The memory strides in bytes."""
        below: tuple[int, ...] = next(iter(self.contents())).strides
        return below[len(below) - self.ndim :]

    def astype(self, dtype: Any, order: str = "K", copy: bool = True) -> Any:
        """Convert the values to another dtype; no level sees their memory order."""
        F: Any = self._namespace
        return F.to_copy(self, dtype=np.dtype(dtype))

    def copy(self) -> Any:
        """Return a copy of the values."""
        F: Any = self._namespace
        return F.clone(self)

    def transpose(self, axes: Any) -> Any:
        """Permute the dimensions."""
        F: Any = self._namespace
        return F.permute(self, dims=tuple(axes))

    def reshape(self, *shape: Any) -> Any:
        """Return the values in another shape."""
        F: Any = self._namespace
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if -1 in sizes:
            known = 1
            for size in sizes:
                known *= size if size >= 0 else 1
            sizes = tuple(self.size // max(known, 1) if size < 0 else size for size in sizes)
        return F.unsafe_view(self, shape=tuple(sizes))

    _namespace: Any


def _infix(name: str, function: Any, reflected: bool = False) -> Callable[..., Any]:
    def method(self: Any, other: Any) -> Any:
        return self._infix(name, function, *((other, self) if reflected else (self, other)))

    return method


class Infix:
    """Python's operators, for rules: ``_infix(name, function, a, b)`` computes each of them."""

    __slots__ = ()
    _infix: Callable[..., Any]
    __add__, __radd__ = _infix("add", operator.add), _infix("add", operator.add, True)
    __sub__, __rsub__ = _infix("sub", operator.sub), _infix("sub", operator.sub, True)
    __mul__, __rmul__ = _infix("mul", operator.mul), _infix("mul", operator.mul, True)
    __truediv__ = _infix("div", operator.truediv)
    __rtruediv__ = _infix("div", operator.truediv, True)
    __pow__, __rpow__ = _infix("pow", operator.pow), _infix("pow", operator.pow, True)
    __lt__, __le__ = _infix("lt", operator.lt), _infix("le", operator.le)
    __gt__, __ge__ = _infix("gt", operator.gt), _infix("ge", operator.ge)
    __eq__, __ne__ = _infix("eq", operator.eq), _infix("ne", operator.ne)


class LiftedArray(Lifted):
    """An array without a level: a value of a trace, or an array of another device."""

    __slots__ = ()
    owner = Level(0)
    level = 0
    traced = True

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        return operator.index(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())


def levels_of(*payloads: Any) -> dict[int, Level]:
    """Return the levels that `payloads` belong to, by number."""
    found: dict[int, Level] = {}
    stack = [p for p in payloads if isinstance(p, Lifted)]
    while stack:
        value = stack.pop()
        if not value.traced:
            found[value.owner.number] = value.owner
        stack += [part for part in value.contents() if isinstance(part, Lifted)]
    return found


def batch_of(*payloads: Any) -> Level | None:
    """Return the innermost `vmap` that any of the payloads belongs to."""
    found = levels_of(*payloads)
    batches = [number for number, level in found.items() if level.size is not None]
    return found[max(batches)] if batches else None


def is_elsewhere(payload: Any) -> bool:
    """Return whether a payload is on another device than the CPU."""
    return isinstance(payload, Lifted) and payload.device != "cpu"


def device_of(payload: Any) -> device:
    """Return the device of a payload."""
    return payload.device if is_elsewhere(payload) else CPU


def is_plain(payload: Any) -> bool:
    """Return whether a payload is an array or a scalar of NumPy."""
    return isinstance(payload, np.ndarray | np.generic)
