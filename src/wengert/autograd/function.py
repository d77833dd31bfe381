"""Layer 7 · autograd: `Function`, an operation with a derivative of the user's own."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from wengert.autograd.context import FunctionCtx as FunctionCtx
from wengert.autograd.once import once_differentiable as once_differentiable
from wengert.autograd.probe import Suspects
from wengert.base import errors
from wengert.base.dtypes import is_differentiable
from wengert.interp.levels import Transforms, levels_of
from wengert.tape.base import LEAF, OutputEdge, TensorBase, new_tensor, version_of
from wengert.tape.inplace import bump, write_through_view
from wengert.tape.modes import current_mode, is_recording, no_grad
from wengert.tape.node import USER_CODE, Node, edge_of, next_sequence, sites_of
from wengert.tape.record import T
from wengert.tape.saving import keeps_aside, stand_in, unpacked
from wengert.tape.spoiled import Spoiled
from wengert.tape.views import (
    MADE_IN_FUNCTION,
    MADE_UNRECORDED,
    attach_alias,
    move_edge,
    refresh_views,
)
from wengert.tape.write_checks import check_writable

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]


class FunctionNode(Node, FunctionCtx):
    """The node of a custom Function; each Function has a subclass of its own."""

    __slots__ = ()
    gives_all: ClassVar[bool] = True
    function: ClassVar[type[Function]]
    several: bool  # type: ignore[misc]  # differs from call to call

    def __init__(self, needs: tuple[bool, ...]) -> None:
        self.ext = None
        self.edges = ()
        self.versions = None
        self.needs_input_grad = needs
        self._to_save: tuple[Any, ...] = ()
        self._saved_for_forward: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._recorded = False
        self._constants: tuple[Any, ...] = ()
        self._materialize = True
        self._saved: tuple[Any, ...] | None = ()
        self._suspects: Suspects | None = None

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self.label} object at {id(self):#x}>"

    def __getattr__(self, name: str) -> Any:
        if name == "_saved_tensors":
            return self.saved_tensors
        raise AttributeError(
            f"'{self.label}' object has no attribute '{name}': nothing was set under that name"
        )

    def release(self) -> None:
        self._saved = None

    def width(self) -> int:
        return len(self._outputs_meta)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved for `backward` (see `FunctionCtx`)."""
        if self._saved is None:
            raise errors.backward_twice(self.label)
        return tuple(self._unpack(i, entry) for i, entry in enumerate(self._saved))

    def _unpack(self, position: int, entry: Any) -> Any:
        if entry is None:
            return None
        if len(entry) == 3:
            saved, own, edge = entry
            return unpacked(saved, edge if own is None else self._edge(own))
        source, index, payload, cell, version = entry
        have = version_of(source) if source is not None else cell[0]
        if have != version:
            raise errors.modified_in_place(
                payload,
                "" if source is not None else f"output {index} of {self.label}",
                source.vc if source is not None else cell,
                version,
                self.label,
                f"saved_tensors[{position}]",
                *sites_of(self, source.vc if source is not None else cell),
            )
        if source is not None:
            return source
        return new_tensor(payload, self._edge(index), cell)

    def _edge(self, index: int) -> Any:
        # of a view that was written to, too: PyTorch leads past what the base has become
        return OutputEdge(self, index) if self.several else self

    def mark_dirty(self, *tensors: Any) -> None:
        """Say which inputs `forward` changes in place (see `FunctionCtx.mark_dirty`)."""
        super().mark_dirty(*tensors)
        # refused before the first byte changes, if forward says so before it writes
        for tensor in tensors if self._recorded else ():
            _check_dirty(tensor)

    # -- backward ---------------------------------------------------------------------------------

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        grads = self._backward(self._cotangents(g, new_tensor), edges)
        return tuple(None if grad is None else grad.payload for grad in grads)

    def step(self, g: Any, keep: bool, edges: tuple[Any, ...], raw: bool) -> tuple[Any, ...]:
        return self.apply(g, keep, edges) if raw else self.apply_in(g, keep, edges)

    def apply_in(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        parts = g if self.several else [g]
        if not any(isinstance(part, TensorBase) for part in parts):
            # values of a transform
            return self.apply(g, keep, edges)
        if self._suspects is not None and self._saved is not None:
            self._suspects.warn(self.function, self)
        return self._backward(self._cotangents(g, lambda part: part), edges)

    def _cotangents(self, g: Any, wrap: Callable[[Any], Any]) -> list[Any]:
        parts = g if self.several else [g]
        return [
            T.zeros(shape=meta[0], dtype=meta[1])
            if part is None and self._materialize
            else None
            if part is None
            else wrap(part)
            for part, meta in zip(parts, self._outputs_meta, strict=True)
        ]

    def _backward(self, cotangents: list[Any], edges: tuple[Any, ...]) -> tuple[Any, ...]:
        grads = self.function.backward(self, *cotangents)
        if not isinstance(grads, tuple):
            grads = (grads,)
        self._check_count(grads)
        mode = current_mode()
        if mode is not None and mode.levels:
            grads = Transforms.lowered(grads, cotangents, self._inputs_levels)
        wanted = zip(self._positions, self.edges, self._inputs_meta, strict=True)
        return tuple(
            None if grads[i] is None or edge is None else self._checked(grads[i], i, meta)
            for i, edge, meta in wanted
        )

    def _check_count(self, grads: Sequence[Any]) -> None:
        count = len(self.needs_input_grad)
        surplus = [grad for grad in grads[count:] if grad is not None]
        if len(grads) < count or surplus:
            raise RuntimeError(
                f"function {self.label} returned an incorrect number of gradients (expected "
                f"{count}, got {len(grads)}): {self.function.__name__}.backward must return one "
                "for each argument of forward, None where there is none"
            )
        for i, grad in enumerate(grads[:count]):
            if grad is not None and i not in self._positions:
                raise RuntimeError(
                    f"function {self.label} returned a gradient different from None at position "
                    f"{i + 1}, but the corresponding forward input was not a Variable"
                )

    def _checked(self, grad: Any, position: int, meta: tuple[Any, ...]) -> Any:
        """A returned gradient in the shape and dtype of its input."""
        shape, dtype = meta
        name = self.function.__name__
        if not isinstance(grad, TensorBase):
            raise TypeError(
                f"function {self.label} returned an invalid gradient at index {position}: expected "
                f"a Tensor or None, but {name}.backward returned {type(grad).__name__}"
            )
        have = grad.payload
        if have.shape != shape:
            if not _reduces_to(have.shape, shape):
                raise RuntimeError(
                    f"Function {self.label} returned an invalid gradient at index {position} - got "
                    f"{list(have.shape)} but expected shape compatible with {list(shape)}"
                )
            warnings.warn(
                f"{name}.backward returned a gradient of shape {list(have.shape)} for argument "
                f"{position} of shape {list(shape)}; it was summed down to that shape. Sum it in "
                "backward if this is meant, and check the rule if not.",
                stacklevel=2,
            )
            grad = T.sum_to(grad, shape=shape)
        if have.dtype != dtype:
            if have.dtype.kind == "c" and dtype.kind == "f":
                return T.to_copy(T.real(grad), dtype=dtype)
            raise RuntimeError(
                f"Function {self.label} returned an invalid gradient at index {position} - got "
                f"dtype {have.dtype} but expected {dtype}: convert it in {name}.backward"
            )
        return grad


def _reduces_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    lead = len(shape) - len(target)
    return lead >= 0 and all(n in (1, m) for n, m in zip(target, shape[lead:], strict=True))


class Function:
    """An operation with its own derivative, to be subclassed.

    ``forward(ctx, *args)`` computes (nothing in it is recorded) and ``backward(ctx, *grads)``
    returns one gradient for each argument of `forward`, None where there is none. Alternatively
    ``forward(*args)`` without ctx goes with ``setup_context(ctx, inputs, output)``. Call it by
    ``apply``. Operations in `backward` are recorded under ``create_graph=True``, so second
    derivatives follow if `backward` is written with differentiable operations on inputs and
    outputs.

    Differences from PyTorch: a gradient of another dtype than its argument's raises instead of
    being cast; one of a larger shape that broadcasting would explain is summed down as in PyTorch,
    with a warning; and a warning tells when a second derivative would be wrong because `backward`
    uses a value that `forward` computed but did not return.

    Examples
    --------
    >>> import wengert as wg
    >>> class Square(wg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad_output):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * grad_output
    >>> x = wg.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """

    _node_class: ClassVar[type[FunctionNode]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self).__name__} should not be instantiated. Methods on autograd functions are "
            "all static, so you should invoke them on the class itself: "
            f"{type(self).__name__}.apply(...)",
            DeprecationWarning,
            stacklevel=2,
        )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "vjp" in cls.__dict__ and "backward" not in cls.__dict__:
            cls.backward = cls.vjp  # type: ignore[method-assign]  # two names of one method
        name = f"{cls.__name__}Backward"
        body = {"__slots__": (), "function": cls, "label": name, "__module__": cls.__module__}
        cls._node_class = type(name, (FunctionNode,), body)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs: a tensor, or a tuple; to be overridden."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what `backward` needs, where `forward` takes no ctx; to be overridden."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the arguments from those of the outputs; to be overridden."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grad_outputs: Any) -> Any:
        """Another name for `backward`."""
        raise NotImplementedError("define backward, or vjp in its place")

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangents of the outputs from those of the arguments, for forward mode."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    generate_vmap_rule = False
    """Accepted for PyTorch's sake: without a method `vmap`, operations run on the whole batch."""

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """The outputs for a whole batch, of ``info.batch_size``, and its dimensions in them."""
        raise NotImplementedError("define vmap, or leave it out")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` on `args` and record the call as one node.

        Arguments by name take the places that `forward` gives them.
        """
        if kwargs:
            context = (None,) if cls.setup_context is Function.setup_context else ()
            bound = inspect.signature(cls.forward).bind(*context, *args, **kwargs)
            args = bound.args[len(context) :]
        mode = current_mode()
        if mode is not None and mode.levels:
            made = Transforms.applied(cls, args)
            if made is not NotImplemented:
                return made
        return cls._applied(args)[0]

    @classmethod
    def _applied(cls, args: tuple[Any, ...]) -> tuple[Any, FunctionNode]:
        """The outputs, and the node that they are tied to if the call is recorded."""
        recording = is_recording()
        needs = tuple(isinstance(a, TensorBase) and a.edge is not None for a in args)
        recorded = recording and any(needs)
        for a in args if recorded else ():
            if isinstance(a, TensorBase) and isinstance(a.edge, Spoiled):
                raise RuntimeError(a.edge.message)
        node = cls._node_class(needs)
        node._recorded = recorded
        if recorded:
            # as they are before forward, which may write to what it is given
            node.edges = tuple([edge_of(a) for a in args if isinstance(a, TensorBase)])
        with no_grad():
            output = cls._call_forward(node, args)
        return _finish(node, args, output, recorded), node

    @classmethod
    def _call_forward(cls, node: FunctionNode, args: tuple[Any, ...]) -> Any:
        if cls.setup_context is Function.setup_context:
            return cls.forward(node, *args)
        output = cls.forward(*args)
        cls.setup_context(node, args, output)
        return output


class InplaceFunction(Function):
    """An old base class of Functions that may work in place; `Function` with `mark_dirty` does all.

    Instances keep ``inplace``, as in PyTorch; making one warns, as for `Function`.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def _finish(node: FunctionNode, args: tuple[Any, ...], output: Any, recorded: bool) -> Any:
    """Tie the outputs of `forward` to the node and save what it asked for."""
    positions = [i for i, arg in enumerate(args) if isinstance(arg, TensorBase)]
    tensors = [args[i] for i in positions]
    several = isinstance(output, tuple | list)
    outputs = list(output) if several else [output]
    name = node.function.__name__
    for dirty in node._dirty:
        if not any(dirty is out for out in outputs):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as "
                f"output: {name}.forward must return every tensor that it marks as dirty"
            )
        if recorded:
            _check_dirty(dirty)
            if len(outputs) > 1 and dirty.ext is not None and dirty.ext.base is not None:
                raise RuntimeError(
                    "If your Function modifies inplace an input that is a view of another Tensor, "
                    "your Function cannot return more than one Tensor. Clone the input, or split "
                    f"{name} into one Function that writes and one that gives the other outputs."
                )
        if recorded and not any(dirty is t for t in tensors):
            warnings.warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
                f"have been mutated should be passed to ctx.mark_dirty(): see {name}.forward.",
                stacklevel=3,
            )
    made: list[Any] = []
    for i, out in enumerate(outputs):
        if not isinstance(out, TensorBase):
            if not several and recorded:
                raise TypeError(
                    f"{name}.forward: expected to return a Tensor or a tuple of Tensors, but got "
                    f"{type(out).__name__}"
                )
            made.append(out)
            continue
        dirty = any(out is d for d in node._dirty)
        if dirty:
            bump(out, name)
            if out.ext is not None:
                refresh_views(out, None)
            if not recorded and out.edge is not None and any(out is t for t in tensors):
                # what is not recorded does not require a gradient
                out = new_tensor(out.array(), None, out.share_version())
        elif any(out is t for t in tensors):
            # an input handed back is another tensor over the same memory
            source = out
            outputs[i] = out = new_tensor(source.array(), None, source.share_version())
            constant = any(source is t for t in node._constants)
            if constant:
                node._constants = (*node._constants, out)
            if source.edge is None or (recorded and not constant):
                attach_alias(source, out)
        elif recorded and out.edge is not None and not _made_in_forward(out):
            outputs[i] = out = new_tensor(out.array(), None, out.share_version())
        made.append(out)
    if recorded:
        _attach(node, tensors, positions, made)
        _save(node, made)
        suspects = Suspects(node, args, made)
        node._suspects = suspects if suspects.names else None
    return tuple(made) if several else made[0]


def _check_dirty(tensor: Any) -> None:
    """Refuse a tensor that a Function may not write to while it is recorded."""
    if tensor.edge is LEAF and (tensor.ext is None or tensor.ext.base is None):
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation. Call the "
            "Function under no_grad(), or with a clone() of the leaf."
        )
    check_writable(tensor, recording=True)


def _made_in_forward(tensor: Any) -> bool:
    """Whether `tensor` is a view made while nothing was recorded, as in `forward`."""
    return tensor.ext is not None and tensor.ext.no_write == MADE_UNRECORDED


def _attach(node: Any, tensors: list[Any], positions: list[int], made: list[Any]) -> None:
    node.seq = next_sequence()
    node._positions = tuple(positions)
    node._inputs_meta = tuple((t.payload.shape, t.payload.dtype) for t in tensors)
    node._inputs_levels = levels_of(*[t.payload for t in tensors]).values()
    results = [out for out in made if isinstance(out, TensorBase)]
    node.several = len(results) != 1
    node._outputs_meta = tuple((out.payload.shape, out.payload.dtype) for out in results)
    constants = {id(t) for t in node._constants}
    for i, out in enumerate(results):
        if id(out) in constants or not is_differentiable(out.payload.dtype):
            if out.ext is not None and out.ext.base is not None:
                out.ext.no_write = MADE_IN_FUNCTION
            continue
        edge = OutputEdge(node, i) if node.several else node
        ext = out.ext
        viewed = ext is not None and ext.base is not None
        if ext is not None and _is_dirty(node, out):
            # as in PyTorch: the gradient was that of the value before
            ext.grad = None
        if viewed and _is_dirty(node, out):
            write_through_view(out, node, next(i for i, t in enumerate(tensors) if t is out))
            continue
        move_edge(out, edge)
        if ext is not None and ext.base is not None:
            # a view that forward made: writes through it would need the history of its base
            ext.no_write = MADE_IN_FUNCTION
        elif ext is not None:
            refresh_views(out, edge)
    USER_CODE.add(node)
    mode = current_mode()
    if mode is not None and mode.anomaly is not None:
        node.extra().site = mode.anomaly.site()


def _is_dirty(node: Any, tensor: Any) -> bool:
    return any(tensor is dirty for dirty in node._dirty)


def _save(node: Any, made: list[Any]) -> None:
    """Save outputs as payload and version cell, which makes no cycle, and others as they are."""
    entries: list[Any] = []
    results = [i for i, out in enumerate(made) if isinstance(out, TensorBase)]
    mode = current_mode()
    aside = keeps_aside(mode)
    for tensor in node._to_save:
        entry: Any = None
        if tensor is not None:
            own = next(
                (i for i, r in enumerate(results) if tensor is made[r] and tensor.edge is not None),
                None,
            )
            if aside:
                entry = (stand_in(mode, tensor), own, None if own is not None else edge_of(tensor))
            elif own is None:
                entry = (tensor, 0, tensor.payload, None, version_of(tensor))
            else:
                cell = tensor.share_version()
                entry = (None, own, tensor.payload, cell, cell[0])
        entries.append(entry)
    node._saved = tuple(entries)
    node._to_save = ()
