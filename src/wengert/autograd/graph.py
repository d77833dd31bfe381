"""Layer 7 · autograd: tools for the recorded graph, under torch.autograd.graph's names.

The types of nodes and edges, hooks for saved tensors, and hooks for several gradients together.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from wengert.autograd.function_node import Context
from wengert.base import errors
from wengert.base.names import shows
from wengert.tape.base import OutputEdge, TensorBase, new_tensor
from wengert.tape.handles import RemovableHandle
from wengert.tape.hooks import register_hook
from wengert.tape.inplace import bump
from wengert.tape.modes import Switch, change_mode, full_mode
from wengert.tape.node import GradientEdge as GradientEdge
from wengert.tape.node import Node as _Node
from wengert.tape.node import Unrecorded, edge_of, public_target
from wengert.tape.saved import SavedTensor as SavedTensor
from wengert.tape.saving import Mutation
from wengert.tape.watch import CURRENT

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
__dir__ = shows(__all__)


class _NodeMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (_Node, Context))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, (_Node, Context))


class Node(metaclass=_NodeMeta):
    """One operation of the graph: the type of ``tensor.grad_fn``, for `isinstance`.

    As in PyTorch, no class inherits from it.

    Examples
    --------
    >>> y = wg.ones(2, requires_grad=True).exp()
    >>> isinstance(y.grad_fn, wg.autograd.graph.Node)
    True
    """

    def __new__(cls) -> Any:
        """Raise: only operations make nodes."""
        raise TypeError("Node is a virtual class: operations make nodes")


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """Return the edge along which the gradient of `tensor` arrives.

    Pass it to `backward` and `grad` in place of the tensor. It keeps the graph alive, but not the
    values of the tensor.

    Parameters
    ----------
    tensor : Tensor. A tensor that requires a gradient, leaf or not.

    Raises
    ------
    RuntimeError: If the tensor does not require a gradient.

    Examples
    --------
    >>> x = wg.ones(2, requires_grad=True)
    >>> y = x * 3
    >>> edge = wg.autograd.graph.get_gradient_edge(y)
    >>> wg.autograd.grad((y * y).sum(), edge)
    (tensor([6., 6.]),)
    """
    if tensor._edge is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    _check_recorded(tensor)
    edge = GradientEdge(*public_target(edge_of(tensor)))
    edge.shape, edge.np_dtype = tensor._payload.shape, tensor._payload.dtype
    return edge


def _check_recorded(tensor: Any) -> None:
    """Refuse a view that was made without recording, since no gradient arrives at it."""
    if tensor._edge.__class__ is Unrecorded:
        raise AssertionError(
            "Expected gradient function to be set: the view was made while nothing was recorded, "
            "so no gradient comes to it; make it where operations are recorded"
        )


def increment_version(tensor: Any) -> None:
    """Tell the graph that the memory of tensors was written to without its knowledge.

    A backward pass that needs the old values then raises instead of using the new ones. Call it
    after code that writes to the memory through NumPy or C.

    Parameters
    ----------
    tensor : Tensor or iterable of Tensor. The tensors that were written to.

    Examples
    --------
    >>> x = wg.zeros(2)
    >>> x.numpy()[0] = 1.0
    >>> wg.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    if not isinstance(tensor, Iterable):
        raise RuntimeError(
            "increment_version expect a Iterable[Tensor] as input, or a Tensor, not "
            f"{type(tensor).__name__}"
        )
    tensors: Iterable[Any] = (tensor,) if isinstance(tensor, TensorBase) else tuple(tensor)
    for item in tensors:
        if not isinstance(item, TensorBase):
            raise RuntimeError(
                "increment_version expects each element of the iterable to be a tensor, not "
                f"{type(item).__name__}"
            )
    for item in tensors:
        bump(item, "a write outside the library")


# -- saved tensors ---------------------------------------------------------------------------------


class saved_tensors_hooks:
    """Pack tensors that operations save for the backward pass, and unpack them when needed.

    ``pack_hook(tensor)`` runs, without recording, whenever an operation or a custom Function saves
    a tensor; the graph keeps its result. ``unpack_hook(packed)`` runs whenever the backward pass,
    or an access like ``grad_fn._saved_self``, needs the tensor. It must return a tensor of the
    original shape; another dtype is converted. Of nested contexts, only the inner one applies.
    Writes to the original are no longer detected: the hooks are responsible for the values.

    Raises
    ------
    RuntimeError: If such hooks are disabled (`disable_saved_tensors_hooks`), if `pack_hook` writes
        to its argument, or at the backward pass if `unpack_hook` returns another shape.
    TypeError: If the hooks are not functions; at the backward pass, if `unpack_hook` does not
        return a tensor.

    Examples
    --------
    Save at half precision:

    >>> x = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> with wg.autograd.graph.saved_tensors_hooks(lambda t: t.half(), lambda p: p.float()):
    ...     y = (x * x).sum()
    %(backward_pass)s
    tensor([2., 4., 6.])
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        given: tuple[Any, Any] = (self.pack_hook, self.unpack_hook)
        if not all(map(callable, given)):
            kinds = [type(hook).__name__ for hook in given]
            raise TypeError(
                "_push_saved_tensors_default_hooks(): incompatible function arguments. Hooks of "
                f"saved tensors are two functions, not {' and '.join(kinds)}."
            )
        mode = full_mode()
        if mode.refusal is not None:
            raise RuntimeError(mode.refusal)
        change_mode(hooks=(*mode.hooks, (self.pack_hook, self.unpack_hook)))

    def __exit__(self, *exc: object) -> None:
        change_mode(hooks=full_mode().hooks[:-1])


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors in main memory, where all tensors are, or with `directory` on disk.

    Parameters
    ----------
    pin_memory : bool. Accepted for compatibility; there is no other device to copy to.
    device_type : str. Accepted for compatibility.
    directory : path, optional. Write saved tensors to files there, read them back when they are
        needed, and delete the files when the graph is freed; not in PyTorch.

    Examples
    --------
    >>> x = wg.ones(2, requires_grad=True)
    >>> with wg.autograd.graph.save_on_cpu():
    ...     y = (x * x).sum()
    %(backward_pass)s
    tensor([2., 2.])
    """

    def __init__(
        self, pin_memory: bool = False, device_type: str = "cuda", *, directory: Any = None
    ) -> None:
        if directory is None:
            super().__init__(lambda tensor: tensor.detach(), lambda packed: packed)
        else:
            os.makedirs(directory, exist_ok=True)
            super().__init__(lambda tensor: _Stored(tensor, directory), _Stored.read)


class _Stored:
    """A tensor in a file that exists as long as this object."""

    _numbers = itertools.count()

    def __init__(self, tensor: Any, directory: Any) -> None:
        name = f"saved-{os.getpid()}-{next(self._numbers)}.npy"
        self.path = os.path.join(directory, name)
        np.save(self.path, tensor._payload)
        weakref.finalize(self, _remove, self.path)

    def read(self) -> Any:
        """Read the tensor from its file."""
        return new_tensor(np.load(self.path, allow_pickle=False))


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)


class disable_saved_tensors_hooks(Switch):
    """Refuse `saved_tensors_hooks`, for code that does not work with them.

    Parameters
    ----------
    error_message : str. The message of the RuntimeError that entering such a context raises.

    Examples
    --------
    >>> with wg.autograd.graph.disable_saved_tensors_hooks("not in here"):
    ...     with wg.autograd.graph.save_on_cpu():
    ...         pass
    Traceback (most recent call last):
    RuntimeError: not in here
    """

    field = "refusal"

    def __init__(self, error_message: str) -> None:
        if not isinstance(error_message, str):
            raise TypeError(
                "_saved_tensors_hooks_disable(): incompatible function arguments. The message of "
                f"the error is a string, not {type(error_message).__name__}."
            )
        super().__init__(error_message)

    def __enter__(self) -> None:
        if full_mode().hooks:
            raise RuntimeError(self._value)
        super().__enter__()


class allow_mutation_on_saved_tensors:
    """Allow in-place writes to tensors that were saved for the backward pass.

    Just before a write, saved values in that memory are copied aside, so the backward pass uses the
    values from the forward pass. Tensors saved outside the context, and writes outside it, are
    checked as usual. Differences from PyTorch: the backward pass may also run after the context,
    and writes through any view are covered.

    Raises
    ------
    RuntimeError: If such contexts are nested, or if saved-tensor hooks are disabled.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> with wg.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x.clone()
    ...     z = (y * y).sum()
    ...     _ = y.zero_()
    ...     z.backward()
    >>> x.grad
    tensor([2., 4.])
    """

    def __enter__(self) -> Mutation:
        mode = full_mode()
        if mode.mutation is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        if mode.refusal is not None:
            raise RuntimeError(mode.refusal)
        mutation = Mutation()
        # outer hooks do not apply inside
        self._hooks = mode.hooks
        change_mode(mutation=mutation, hooks=())
        return mutation

    def __exit__(self, *exc: object) -> None:
        mutation = full_mode().mutation
        change_mode(mutation=None, hooks=self._hooks)
        if mutation is not None:
            mutation.clear()


# -- several gradients ---------------------------------------------------------------------------


class _MultiHandle(RemovableHandle):
    """The handle of a hook for several tensors, with one hook for each tensor."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Remove the hook from all tensors."""
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Any], fn: Callable[[Any], None], *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` in each backward pass when the gradients of several tensors are ready.

    Parameters
    ----------
    tensors : sequence of Tensor. Tensors that require a gradient, leaves or not.
    fn : callable. With ``mode="all"``, called once with a list of the gradients, as soon as the
        last one is computed; None stands for a tensor that the pass does not reach. With
        ``mode="any"``, called once with the first gradient that is computed. It must not change its
        argument.
    mode : {"all", "any"}

    Returns
    -------
    %(removable)s

    Raises
    ------
    ValueError: If `mode` is neither of the two.
    RuntimeError: If a tensor does not require a gradient.

    Examples
    --------
    >>> x, y = (wg.ones(1, requires_grad=True) for _ in range(2))
    >>> handle = wg.autograd.graph.register_multi_grad_hook((x, y), print)
    >>> (2 * x + 3 * y).sum().backward()
    [tensor([2.]), tensor([3.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if not callable(fn):
        raise TypeError(f"register_multi_grad_hook(): fn must be callable, not {type(fn).__name__}")
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, TensorBase):
            raise TypeError(
                f"register_multi_grad_hook(): tensors[{i}] must be a Tensor, not "
                f"{type(tensor).__name__}"
            )
        if tensor._edge is None and mode == "all":
            raise errors.NoHistory(
                "cannot register a hook on a tensor that doesn't require gradient: "
                f"tensors[{i}], {errors.describe(tensor._payload)}"
            )
        if mode == "all":
            _check_recorded(tensor)
    if mode == "any":
        return _MultiHandle(_register_any(tensors, fn))
    return _MultiHandle(_register_all(tensors, fn))


def _register_any(tensors: Sequence[Any], fn: Callable[[Any], None]) -> list[RemovableHandle]:
    done: weakref.WeakSet[Any] = weakref.WeakSet()

    def hook(grad: Any) -> None:
        walk = CURRENT.get()
        if walk not in done:
            done.add(walk)
            fn(grad)

    return [register_hook(tensor, hook) for tensor in tensors if tensor._edge is not None]


def _target(tensor: Any) -> Any:
    edge = edge_of(tensor)
    return edge.node if isinstance(edge, OutputEdge) else edge


def _register_all(tensors: Sequence[Any], fn: Callable[[Any], None]) -> list[RemovableHandle]:
    arrived: weakref.WeakKeyDictionary[Any, dict[int, Any]] = weakref.WeakKeyDictionary()
    targets = [_target(tensor) for tensor in tensors]

    def finish(walk: Any) -> None:
        grads = arrived.pop(walk, None)
        if grads is not None:
            fn([grads.get(i) for i in range(len(targets))])

    def hook_for(index: int) -> Callable[[Any], None]:
        def hook(grad: Any) -> None:
            walk = CURRENT.get()
            assert walk is not None
            if walk not in arrived:
                arrived[walk] = {}
                # the path to one of the others may end in a compiled call
                walk.queue(partial(finish, walk))
            arrived[walk][index] = grad
            if len(arrived[walk]) == sum(map(walk.executes, targets)):
                finish(walk)

        return hook

    return [register_hook(tensor, hook_for(i)) for i, tensor in enumerate(tensors)]
