"""Layer 6 · tensor: shallow copies, deep copies and pickles of tensors, and subclass instances.

NOTE [memory in copies]
Tensors that share memory also share it in their copies, if one `copy.deepcopy` or one pickle copies
them together: the copies are views of one copy of the array that owns the memory. For
`copy.deepcopy` the owner is the key of that copy in the memo. A pickle recognises objects by
identity, so each owner has one `Memory` while it is being pickled. The whole memory is copied, so
pickle ``x[:2].clone()`` to save only two rows of a large tensor.
"""

from __future__ import annotations

import copy
import gc
import weakref
from typing import Any

import numpy as np

from wengert.base import errors
from wengert.base.dtypes import is_differentiable
from wengert.base.errors import wrong_type
from wengert.base.ports import PORTS
from wengert.interp.levels import Lifted
from wengert.kernels.strided import owner_of
from wengert.tape.base import LEAF, TensorBase, tensor_over
from wengert.tape.detachments import forget, without_tangents
from wengert.tape.inference import is_inference_mode_enabled
from wengert.tape.modes import enable_grad
from wengert.tape.node import Node, is_leaf_edge
from wengert.tape.record import T
from wengert.tape.sites import warn
from wengert.tape.versions import InferenceCell
from wengert.tape.views import MADE_UNRECORDED, placed_as, placed_in, root_of

_OWN = frozenset(("_edge", "_ext", "_payload", "_vc"))
_NO_SUBCLASS = (
    "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. "
    "Make sure your class inherits from Tensor."
)


# -- tensors of a class ----------------------------------------------------------------------------


def make(cls: Any, payload: Any, edge: Any = None, vc: Any = None) -> Any:
    """Make a tensor of class `cls` over a payload, bypassing the class's ``__new__``."""
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    if not issubclass(cls, PORTS.tensor):
        raise TypeError(_NO_SUBCLASS)
    tensor: Any = TensorBase.__new__(cls)
    tensor._payload = payload
    tensor._edge = edge
    tensor._vc = vc
    tensor._ext = None
    return tensor


def _check_memory(cls: Any) -> None:
    """Refuse tensors with memory of a class that computes itself, which it would not be asked."""
    if getattr(cls, "__torch_dispatch__", None) is not None:
        raise NotImplementedError(
            f"{cls.__name__}.__torch_dispatch__ is not called for tensors that have memory: make "
            "instances with Tensor._make_wrapper_subclass(cls, data.size(), dtype=data.dtype), and "
            "keep the data in an attribute"
        )


def of_class(tensor: Any, cls: type) -> Any:
    """Return a view of all of `tensor` that is an instance of `cls`."""
    _check_memory(cls)
    view = T.alias(tensor)
    made = make(cls, view._payload, view._edge, view._vc)
    ext = made._ext = view._ext
    # the base refers to its views weakly, and the plain view is about to be dropped
    known = None if ext.base is None or ext.base._ext is None else ext.base._ext.views
    if known is not None and ext.no_write != MADE_UNRECORDED:
        known.append(weakref.ref(made))
    return made


def make_leaf(cls: Any, data: Any, requires_grad: bool) -> Any:
    """Make a leaf of class `cls` over the memory of `data` (see `Tensor._make_subclass`)."""
    if not isinstance(data, TensorBase):
        raise wrong_type("_make_subclass", "data", "Tensor", data, 2)
    if requires_grad and not is_differentiable(data._payload.dtype):
        raise RuntimeError(
            "Only Tensors of floating point and complex dtype can require gradients, but this one "
            f"is {errors.describe(data._payload)}: convert it, for example with .float()"
        )
    edge, array = LEAF if requires_grad else None, data._array()
    if not isinstance(array, Lifted) or array.tensor() is None:
        _check_memory(cls)
        return placed_as(data, make(cls, without_tangents(data), edge, data._share_version()))
    own = tensor_over(array.constant())
    if type(own) is not cls:
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {cls.__name__} requires that detach() "
            f"returns an instance of the same type, but return type {type(own).__name__} was found "
            "instead."
        )
    own._edge = edge
    return own


def is_leaf(tensor: TensorBase) -> bool:
    """Return whether `tensor` has no history, without asking a subclass as the property does."""
    return is_leaf_edge(tensor._edge)


# -- attributes and hooks --------------------------------------------------------------------------


def attributes_of(tensor: Any) -> Any:
    """Return the attributes set on a tensor, in the form of `object.__getstate__`."""
    state: Any = object.__getstate__(tensor)
    named, slots = state if isinstance(state, tuple) else (state, {})
    slots = {name: value for name, value in slots.items() if name not in _OWN}
    return (named, slots) if slots else named or None


def set_attributes(tensor: Any, state: Any) -> None:
    """Set attributes in the form that `attributes_of` returns."""
    if state is None:
        return
    if hasattr(tensor, "__setstate__"):
        tensor.__setstate__(state)
        return
    named, slots = state if isinstance(state, tuple) else (state, None)
    vars(tensor).update(named or {})
    for name, value in (slots or {}).items():
        setattr(tensor, name, value)


def reduces_itself(cls: type) -> bool:
    """Return whether a subclass defines how it is pickled."""
    return cls.__reduce_ex__.__module__ != CopyProtocol.__reduce_ex__.__module__


def warn_of_hooks(tensor: Any) -> None:
    """Warn that the hooks of a leaf are not copied."""
    for hook in ((tensor._ext and tensor._ext.hooks) or {}).values():
        if not getattr(hook, "__torch_unserializable__", False):
            warn(
                f"backward hook {hook!r} on tensor will not be serialized. A copy or a file has no "
                "hooks: register them again on the copy.",
            )


# -- copies ----------------------------------------------------------------------------------------


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchange two tensors: their values, gradients, hooks, attributes and classes.

    All references to one of them then refer to the other. A graph that leads to one of them raises
    when it runs.

    Raises
    ------
    RuntimeError: If a weak reference or a view refers to one of them, or a graph has saved it.

    Examples
    --------
    >>> a, b = wg.zeros(2), wg.ones(3, requires_grad=True)
    >>> wg.utils.swap_tensors(a, b)
    >>> a, b
    (tensor([1., 1., 1.], requires_grad=True), tensor([0., 0.]))
    """
    slots: list[Any] = []
    forget(t1, t2)
    for name, tensor in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefcount(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
        ext = tensor._extra()
        held = (*(ext.views or ()), ext.accumulator)
        if any(one is not None and one() is not None for one in held):
            raise RuntimeError(f"Cannot swap {name} because a view or a node refers to it")
        state = attributes_of(tensor)
        slots.append(state[1] if isinstance(state, tuple) else {})
    if slots[0].keys() != slots[1].keys():
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    _leave_graphs(t1, t2)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    for name in ("_payload", "_edge", "_vc", "_ext", *slots[0]):
        first = getattr(t1, name)
        setattr(t1, name, getattr(t2, name))
        setattr(t2, name, first)
    named = dict(vars(t1)), dict(vars(t2))
    for tensor, attributes in ((t1, named[1]), (t2, named[0])):
        vars(tensor).clear()
        vars(tensor).update(attributes)
        if hasattr(tensor._payload, "own"):  # of a class that computes
            tensor._payload.own = tensor


def _leave_graphs(*tensors: Any) -> None:
    """Make nodes raise that would take another tensor for one of these, or refuse."""
    holders = gc.get_referrers(*tensors)
    if any(isinstance(holder, Node) for holder in holders):
        raise RuntimeError("Cannot swap t1 and t2 because a node of a graph has saved one of them")
    for node in gc.get_referrers(*[holder for holder in holders if type(holder) is tuple]):
        if isinstance(node, Node):
            node.register_prehook(_swapped)


def _swapped(grad_outputs: Any) -> None:
    raise RuntimeError(
        "Trying to execute AccumulateGrad node that was poisoned by swap_tensors: the graph leads "
        "to a tensor that has been swapped since. Run the forward pass again"
    )


def shallow_copy(tensor: Any) -> Any:
    """Return a tensor over the same memory (see `Tensor.__copy__`)."""
    if is_leaf(tensor):
        warn_of_hooks(tensor)
        twin = make(
            type(tensor),
            tensor._array(),
            LEAF if tensor._edge is not None else None,
            tensor._share_version(),
        )
    else:
        with enable_grad():
            twin = of_class(tensor, type(tensor))
    set_attributes(twin, tensor.__getstate__())
    return twin


def deep_copy(tensor: Any, memo: dict[int, Any], keep_grad: bool = True) -> Any:
    """Return a leaf over memory of its own (see `Tensor.__deepcopy__`)."""
    if not is_leaf(tensor):
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment. Use .detach().clone(), or .clone() to stay in the graph."
        )
    array = tensor._array()
    # a payload other than an array, as under a trace, raises if it cannot be one
    there = isinstance(array, Lifted) and array.computes
    array = array.copy() if there else copied_together(np.asarray(array), memo)
    if is_inference_mode_enabled():
        cell: Any = InferenceCell()
    else:
        cell = _cell(copy.deepcopy, tensor, memo) or [0, None]
        # PyTorch makes the memory of a tensor's copy by `set_`, of a parameter's by `clone`
        cell[:] = [int(keep_grad), None]
    twin = array.tensor() if there else None
    if twin is None:
        twin = make(type(tensor), array, None, cell)
    twin._edge = LEAF if tensor._edge is not None else None
    if not there and tensor._ext is not None and root_of(tensor) is not None:
        placed_in(owner_of(array), twin)
    memo[id(tensor)] = twin
    if keep_grad and tensor._ext is not None and tensor._ext.grad is not None:
        twin._extra().grad = copy.deepcopy(tensor._ext.grad, memo)
    set_attributes(twin, copy.deepcopy(tensor.__getstate__(), memo))
    return twin


def reduced(tensor: Any) -> tuple[Any, ...]:
    """Return the pickled form of a tensor (see `Tensor.__reduce_ex__`), without its graph."""
    warn_of_hooks(tensor)
    array = np.asarray(tensor._array())
    memory = Memory.of(owner_of(array))
    if memory is None:
        array = array.copy(order="C")
        memory = Memory(array)
    offset = array.ctypes.data - memory.flat.ctypes.data
    where = (array.dtype, array.shape, array.strides, offset)
    requires_grad = tensor._edge is not None
    # the class prints, and so pickles, with the name that the package is installed under
    kind = None if type(tensor) is PORTS.tensor else type(tensor)
    args = (kind, memory, where, requires_grad, _cell(_placeless, tensor))
    state = tensor.__getstate__()
    return (rebuild, args) if state is None else (rebuild, args, state)


def rebuild(
    cls: type | None, memory: Memory, where: tuple[Any, ...], requires_grad: bool, vc: Any
) -> Any:
    """Rebuild a pickled tensor, of `cls` or a plain one."""
    cls = PORTS.tensor if cls is None else cls
    made = make(cls, _laid_over(memory.flat, *where), LEAF if requires_grad else None, vc)
    return placed_in(memory.flat, made) if where[-1] else made


def _placeless(cell: list[Any]) -> list[Any]:
    """Return a version cell without the line of the last write, since code does not pickle."""
    cell[2:3] = [None] * len(cell[2:3])
    return cell


def _cell(copied: Any, tensor: Any, *memo: Any) -> Any:
    # a shared cell, so that a graph that saved one copy notices a write through another; inference
    # tensors become ordinary ones
    return None if isinstance(tensor._vc, InferenceCell | None) else copied(tensor._vc, *memo)


# -- memory ----------------------------------------------------------------------------------------


class Memory:
    """The memory of an array in a pickle: stored once for all tensors that share it."""

    __slots__ = ("__weakref__", "flat", "owner")

    def __init__(self, owner: Any, flat: Any = None) -> None:
        self.owner = owner
        self.flat = owner.reshape(-1) if flat is None else flat

    @staticmethod
    def of(owner: Any) -> Memory | None:
        """Return the unique object for the memory of `owner`; None if the memory has gaps."""
        memory = _MEMORIES.get(id(owner))
        if memory is None:
            flat = _in_memory_order(owner)
            if flat is None:
                return None
            # it keeps the owner alive, so the id stays unique
            memory = _MEMORIES.setdefault(id(owner), Memory(owner, flat))
        return memory

    def __reduce__(self) -> tuple[Any, ...]:
        return Memory, (self.flat,)


_MEMORIES: weakref.WeakValueDictionary[int, Memory] = weakref.WeakValueDictionary()


def _in_memory_order(owner: Any) -> Any:
    """Return an array's elements flat in memory order; None if there are gaps."""
    axes = sorted(range(owner.ndim), key=lambda axis: -owner.strides[axis])
    ordered = np.asarray(owner).transpose(axes)
    return ordered.reshape(-1) if ordered.flags.c_contiguous else None


def _laid_over(
    flat: Any, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> Any:
    return np.ndarray(shape, dtype, flat, offset, strides)


def copied_together(array: Any, memo: dict[int, Any]) -> Any:
    """Return a copy of `array` as a view of the copy of its owner's memory."""
    owner = owner_of(array)
    flat = None if owner is array else _in_memory_order(owner)
    if flat is None:
        return copy.deepcopy(array, memo)
    twin = _in_memory_order(copy.deepcopy(owner, memo))
    offset = array.ctypes.data - flat.ctypes.data
    return _laid_over(twin, array.dtype, array.shape, array.strides, offset)


# -- the methods -----------------------------------------------------------------------------------


class CopyProtocol:
    """Python's protocols for copying and pickling tensors, and conversion to subclasses."""

    __slots__ = ()

    def __copy__(self) -> Any:
        """Return a tensor over the same memory, with the same attributes.

        The copy of a leaf is a leaf without a gradient. The copy of any other tensor stays in the
        graph, as a view of it.
        """
        return shallow_copy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Return a leaf over memory of its own, with copies of the gradient and the attributes.

        Tensors that share memory also share it in a deep copy of their container.

        Raises
        ------
        RuntimeError: If the tensor is not a leaf.
        """
        return deep_copy(self, memo)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickle values, dtype, layout, attributes and `requires_grad`.

        The graph, the gradient and hooks are not pickled, so unpickling returns a leaf. Tensors
        that share memory also share it after unpickling, if they are in one pickle.
        """
        return reduced(self)

    def __getstate__(self) -> Any:
        """Return the attributes that the user or a subclass set."""
        return attributes_of(self)

    def as_subclass(self, cls: type) -> Any:
        """Return a differentiable view of the tensor as an instance of `cls`, a Tensor subclass.

        The class's ``__new__`` and ``__init__`` are not called.

        Raises
        ------
        TypeError: If `cls` is not a subclass of Tensor.
        """
        return of_class(self, cls)

    @staticmethod
    def _make_subclass(cls: type, data: Any, require_grad: bool = False) -> Any:
        """Make a leaf that is an instance of `cls`, over the memory of `data`."""
        return make_leaf(cls, data, require_grad)

    @staticmethod
    def _make_wrapper_subclass(cls: type, size: Any, *args: Any, **kwargs: Any) -> Any:
        """Make an instance of `cls` without memory, whose ``__torch_dispatch__`` computes."""
        return PORTS.wrapper(cls, size, *args, **kwargs)
