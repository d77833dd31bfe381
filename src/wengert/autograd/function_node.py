"""Layer 7 · autograd: the node of a call of a custom Function, which runs its `backward`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from wengert.autograd.context import FunctionCtx
from wengert.autograd.kept import Kept
from wengert.base import errors
from wengert.base.ports import PORTS
from wengert.interp.levels import levels_of
from wengert.tape.base import (
    FREED,
    LEAF,
    OWN,
    OutputEdge,
    SparseValue,
    TensorBase,
    new_tensor,
    version_of,
)
from wengert.tape.modes import MODE, changed, current_mode
from wengert.tape.node import Node, edge_of
from wengert.tape.record import T
from wengert.tape.saved import SavedTensor, sites_of
from wengert.tape.saving import RUNNING, Packed, unpacked
from wengert.tape.sites import line_of, warn
from wengert.tape.watch import CURRENT, shown
from wengert.tape.write_checks import check_writable

_READ: tuple[Any, ...] = (None,)
"""The mark of saved tensors that were read and may be read only once."""
_NONE: Mapping[int, Any] = MappingProxyType({})

OF_NODES = frozenset(
    {
        *("_input_metadata", "_raw_saved_tensors", "_register_hook_dict", "_sequence_nr"),
        *("_saved_tensors", "_set_sequence_nr", "asks_for", "metadata", "name", "next_functions"),
        *("register_hook", "register_prehook"),
    }
)
"""The attributes of the node that ctx exposes."""


def _unset(label: str, name: str) -> AttributeError:
    return AttributeError(
        f"'{label}' object has no attribute '{name}': nothing was set under that name"
    )


class FunctionNode(Node):
    """The node of a custom Function; each Function has its own subclass."""

    __slots__ = (
        *("needs_input_grad", "several", "_asked", "_attributes", "_constants", "_dirty", "_given"),
        *("_inputs_levels", "_inputs_meta", "_is_pure_view", "_kept", "_materialize"),
        *("_materialize_non_diff_grads", "_outputs_meta", "_positions", "_recorded", "_refused"),
        *("_saved", "_saved_for_forward", "_sparse", "_to_save", "_watched"),
    )
    gives_all: ClassVar[bool] = True
    function: ClassVar[type[Any]]
    needs_input_grad: tuple[bool, ...]
    several: bool  # type: ignore[misc]  # differs from call to call
    _refused: Mapping[int, Any]
    _sparse: Mapping[int, Any]
    _watched: tuple[set[str], set[str]] | None

    def __init__(self, needs: tuple[bool, ...]) -> None:
        self._ext = None
        self.edges = ()
        self.needs_input_grad = needs
        # the attributes set on ctx, apart from the node's own
        self._attributes: dict[str, Any] = {}
        self._to_save: tuple[Any, ...] = ()
        self._saved_for_forward: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._given: tuple[Any, ...] = ()
        self.several = self._recorded = self._is_pure_view = False
        self._materialize_non_diff_grads = True
        self._refused = self._sparse = _NONE
        self._watched = None
        self._constants: tuple[Any, ...] = ()
        self._materialize = True
        self._saved: tuple[Any, ...] | None = ()
        self._kept: Kept | None = None

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self.label} object at {id(self):#x}>"

    def __getattr__(self, name: str) -> Any:
        if name == "_saved_tensors":
            return self.saved_tensors
        if name in self._attributes:
            return self._attributes[name]
        raise _unset(self.label, name)

    def release(self) -> None:
        self._saved = self._kept = None
        self._sparse = _NONE

    def width(self) -> int:
        """Return the number of outputs, some of which may not be tensors."""
        return len(self._outputs_meta)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors saved for `backward` (see `FunctionCtx`)."""
        if self._saved is None:
            raise errors.backward_twice(self.label, line_of(self))
        if self._saved is _READ:
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True "
                "is set on the autograd.Function. Either access saved_tensors only once, or set "
                "clear_saved_tensors_on_access=False."
            )
        tensors = tuple(self._unpack(i, entry) for i, entry in enumerate(self._saved))
        for i, sparse in self._sparse.items():
            tensors = (*tensors[:i], sparse._with(tensors[i]), *tensors[i + 1 :])
        if self.function.clear_saved_tensors_on_access:
            self._saved = _READ
        return tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        if self._saved is None:
            raise errors.backward_twice(self.label, line_of(self))
        return tuple(SavedTensor.of(self, "tensors", i) for i in range(len(self._saved)))

    def kept(self, name: str) -> Any:
        """Return a saved value: an entry of `_unpack`, None, or a stand-in for a tensor."""
        if self._saved is None:
            return FREED
        return tuple(e[0] if e is not None and len(e) == 3 else e for e in self._saved)

    def keep(self, name: str, value: Any) -> None:
        """Replace the saved values by the stand-ins in `value`."""
        assert self._saved is not None
        entries = list(self._saved)
        for i, (held, entry) in enumerate(zip(value, entries, strict=True)):
            if isinstance(held, Packed) and len(entry) != 3:
                source, index = entry[:2]
                own = (index, None) if source is None else (None, edge_of(source))
                entries[i] = (held, *own)
        self._saved = tuple(entries)

    def __call__(self, *grads: Any) -> Any:
        """Raise, as in PyTorch."""
        raise TypeError(f"'{self.label}' object is not callable")

    def _unpack(self, position: int, entry: Any) -> Any:
        if entry is None:
            return None
        refusal = self._refused.get(position)
        if len(entry) == 3:
            saved, own, edge = entry
            if refusal is not None:
                own, edge = None, refusal
            return unpacked(self, saved, edge if own is None else self._edge(own))
        source, index, payload, cell, version = entry
        have = version_of(source) if source is not None else cell[0]
        if have != version:
            raise errors.modified_in_place(
                payload,
                "" if source is not None else f"output {index} of {self.label}",
                source._vc if source is not None else cell,
                version,
                self.label,
                f"saved_tensors[{position}]",
                *sites_of(self, source._vc if source is not None else cell),
            )
        if refusal is not None:
            return new_tensor(payload, refusal, source._vc)
        if source is not None:
            return source
        return new_tensor(payload, self._edge(index), cell)

    def _edge(self, index: int) -> Any:
        # also for a view that was written to: PyTorch's edge bypasses the new history of the base
        return OutputEdge(self, index) if self.several else self

    def asks_for(self, position: int) -> bool:
        """Return whether the current walk continues to the argument at `position`."""
        return (
            position in self._positions and self._asked[self._positions.index(position)] is not None
        )

    def closes_over(self) -> bool:
        """Return whether `backward` uses tensors that require a gradient but are not arguments."""
        return self.function.closes_over(self._attributes.get("owner"), self.edges)

    # -- backward ---------------------------------------------------------------------------------

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run `backward` on raw arrays, and return raw arrays."""
        grads = self._backward(self._cotangents(g, shown), edges)
        walk = CURRENT.get()
        for grad in grads if walk is not None else ():
            walk.lent.add(grad)
        return tuple(grad._payload if isinstance(grad, TensorBase) else grad for grad in grads)

    def step(self, g: Any, keep: bool, edges: tuple[Any, ...], raw: bool) -> tuple[Any, ...]:
        """Call `apply` or `apply_in`; also handle missing gradients."""
        return self.apply(g, keep, edges) if raw else self.apply_in(g, keep, edges)

    def apply_in(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Run `backward` on tensors, recorded."""
        parts, walk = g if self.several else [g], CURRENT.get()
        if (walk is None or walk.raw) and not any(isinstance(part, TensorBase) for part in parts):
            # values of a transform
            return self.apply(g, keep, edges)
        cotangents = self._cotangents(g, lambda part: part)
        if self._kept is None:
            return self._backward(cotangents, edges)
        return self._kept.backward(self, lambda: self._backward(cotangents, edges))

    def _cotangents(self, g: Any, wrap: Callable[[Any], Any]) -> list[Any]:
        parts = g if self.several else [g]
        return [
            T.zeros(shape=meta[0], dtype=meta[1])
            if part is None and self._materialize and meta is not None
            else None
            if part is None
            else wrap(part)
            for part, meta in zip(parts, self._outputs_meta, strict=True)
        ]

    def _mode(self, mode: Any, cotangents: list[Any]) -> Any:
        """Return the mode of the rule, without levels that the walk entered for other nodes."""
        entered = () if mode.sides is None else mode.sides.entered
        own = {*levels_of(*[getattr(g, "_payload", g) for g in cotangents])}
        own.update(level.number for level in self._inputs_levels)
        kept = tuple(x for x in mode.levels if x.number in own or x.number not in entered)
        return mode if len(kept) == len(mode.levels) else changed(mode, levels=kept)

    def _backward(self, cotangents: list[Any], edges: tuple[Any, ...]) -> tuple[Any, ...]:
        mode = current_mode()
        at_levels = mode is not None and bool(mode.levels)
        self._asked = edges

        def run() -> Any:
            ctx = Context(self) if self._watched is None else _WatchedContext(self)
            if self.function.boxed_grads_call:
                # the list itself, so that `backward` holds the only references to its items;
                # a copy where the cotangents are needed again
                return self.function.backward(ctx, list(cotangents) if at_levels else cotangents)
            return self.function.backward(ctx, *cotangents)

        token = RUNNING.set(self)
        if at_levels:
            MODE.set(self._mode(mode, cotangents))
        try:
            if self._kept is not None and any(one.size is None for one in self._inputs_levels):
                grads = self._kept.at_level(self, run)
            else:
                grads = run()
        finally:
            RUNNING.reset(token)
            if at_levels:
                MODE.set(mode)
        if not isinstance(grads, tuple):
            grads = (grads,)
        self._check_grads(grads)
        if at_levels:
            grads = PORTS.lowered(grads, cotangents, self._inputs_levels)
        wanted = zip(self._positions, self.edges, self._inputs_meta, strict=True)
        return tuple(
            None if grads[i] is None or edge is None else self._checked(grads[i], i, meta, edge)
            for i, edge, meta in wanted
        )

    def _check_grads(self, grads: Sequence[Any]) -> None:
        count = len(self.needs_input_grad)
        surplus = [grad for grad in grads[count:] if grad is not None]
        if len(grads) < count or surplus:
            raise RuntimeError(
                f"function {self.label} returned an incorrect number of gradients (expected "
                f"{count}, got {len(grads)}): {self.function.__name__}.backward must return one "
                "for each argument of forward, None where there is none"
            )
        name = self.function.__name__
        for i, grad in enumerate(grads[:count]):
            if grad is None:
                continue
            if i not in self._positions:
                raise RuntimeError(
                    f"function {self.label} returned a gradient different than None at position "
                    f"{i + 1}, but the corresponding forward input was not a Variable"
                )
            if not isinstance(grad, SparseValue | TensorBase):
                raise RuntimeError(
                    f"expected Variable or None (got {type(grad).__name__}): {name}.backward "
                    f"returned it as the gradient of argument {i}"
                )

    def _checked(self, grad: Any, position: int, meta: tuple[Any, ...], edge: Any) -> Any:
        """Return a gradient from `backward` in the shape and dtype of its input."""
        shape, dtype = meta
        name = self.function.__name__
        if isinstance(grad, SparseValue):
            # see NOTE [sparse gradients]
            stored: Any = grad
            if isinstance(edge, TensorBase) and (stored.shape, stored.dtype) == (shape, dtype):
                return stored
            grad = stored.to_dense()
        have = grad._payload
        if have.shape != shape:
            if not _reduces_to(have.shape, shape):
                raise RuntimeError(
                    f"Function {self.label} returned an invalid gradient at index {position} - got "
                    f"{list(have.shape)} but expected shape compatible with {list(shape)}"
                )
            warn(
                f"{name}.backward returned a gradient of shape {list(have.shape)} for argument "
                f"{position} of shape {list(shape)}; it was summed down to that shape. Sum it in "
                "backward if this is meant, and check the rule if not.",
            )
            grad = T.sum_to(grad, shape=shape)
        if have.dtype != dtype and not _has_grad_dtype(edge):
            if have.dtype.kind == "c" and dtype.kind == "f":
                return T.to_copy(T.real(grad), dtype=dtype)
            return T.to_copy(grad, dtype=dtype)
        return grad


class Context(FunctionCtx):
    """The `ctx` of one call of a Function's method, with the user's attributes.

    These are in a separate dictionary of the node, so they cannot collide with the node's own.
    """

    __slots__ = ("_node",)
    _node: FunctionNode

    def __init__(self, node: FunctionNode) -> None:
        self._node = node
        self.__dict__ = node._attributes

    def __repr__(self) -> str:
        return repr(self._node)

    def __getattr__(self, name: str) -> Any:
        if name in OF_NODES:
            return getattr(self._node, name)
        raise _unset(self._node.label, name)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors saved for `backward` (see `FunctionCtx`)."""
        return self._node.saved_tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Mark inputs that `forward` changes in place (see `FunctionCtx.mark_dirty`)."""
        super().mark_dirty(*tensors)
        node = self._node
        # raises before the first write, if forward calls this before it writes
        for tensor in tensors if node._recorded else ():
            if any(tensor is given for given in node._given):
                check_dirty(tensor)


def _of_the_node(name: str) -> Any:
    return property(
        lambda ctx: getattr(ctx._node, name), lambda ctx, value: setattr(ctx._node, name, value)
    )


for _name in (
    *("needs_input_grad", "_constants", "_dirty", "_is_pure_view", "_materialize"),
    *("_materialize_non_diff_grads", "_saved_for_forward", "_to_save"),
):
    setattr(Context, _name, _of_the_node(_name))


class _WatchedContext(Context):
    """A `ctx` that records which of certain attributes are read."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        attributes, read = object.__getattribute__(self, "_node")._watched
        if name == "__dict__":
            read |= attributes
        elif f"ctx.{name}" in attributes:
            read.add(f"ctx.{name}")
        return object.__getattribute__(self, name)


def _has_grad_dtype(edge: Any) -> bool:
    """Return whether `edge` leads to a leaf that has its own rule for casting gradients."""
    return (
        isinstance(edge, TensorBase) and edge._ext is not None and edge._ext.grad_dtype is not OWN
    )


def _reduces_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    lead = len(shape) - len(target)
    return lead >= 0 and all(n in (1, m) for n, m in zip(target, shape[lead:], strict=True))


def check_dirty(tensor: Any) -> None:
    """Refuse a tensor that a recorded Function must not write to."""
    if tensor._edge is LEAF and (tensor._ext is None or tensor._ext.base is None):
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation. Call the "
            "Function under no_grad(), or with a clone() of the leaf."
        )
    check_writable(tensor, recording=True)
