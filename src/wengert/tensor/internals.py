"""Layer 6 · tensor: autograd metadata under PyTorch's private and former names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.dtypes import dtype, from_numpy_dtype, is_differentiable
from wengert.base.errors import long_name, wrong_type
from wengert.base.patches import PATCHES
from wengert.base.ports import PORTS
from wengert.ops.strided import as_strided
from wengert.prims.table import TABLE
from wengert.tape import hooks
from wengert.tape.base import OWN, SparseValue, TensorBase
from wengert.tape.node import is_leaf_edge, target_of
from wengert.tape.record import record
from wengert.tape.sites import warn
from wengert.tape.views import Step, view_steps


def gradient_kind(tensor: Any) -> Any:
    """Return the NumPy dtype of the gradient of `tensor`, None for any."""
    kind = OWN if tensor._ext is None else tensor._ext.grad_dtype
    return tensor._payload.dtype if kind is OWN else kind


_PLACES = frozenset({"shape", "size", "stride", "storage_offset", "start", "end", "step", "index"})
"""Parameters of views that are sizes or positions, not dimensions."""


def _visited(value: Any, visit: Callable[[int], int]) -> Any:
    return tuple(map(visit, value)) if isinstance(value, tuple) else visit(value)


def _geometry(tensor: Any) -> tuple[Any, ...]:
    return tensor.shape, tensor.stride(), tensor.storage_offset()


def _tells(cls: type) -> bool:
    """Return whether the definitions of a class apply to all tensors."""
    return cls.__module__.startswith(("wengert.tensor.", "wengert.nn."))


def _found(cls: type, name: str) -> Any:
    """Return the definition of a name in a class or its bases."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), PATCHES.absent)


class TensorClass(type):
    """The metaclass that makes sparse tensors instances of `Tensor`."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or (
            isinstance(instance, SparseValue) and cls is PORTS.tensor
        )

    def __init__(cls, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if _tells(cls):
            PATCHES.classes.append(cls)

    def __setattr__(cls, name: str, value: Any) -> None:
        before = _found(cls, name)
        super().__setattr__(name, value)
        if _tells(cls):
            PATCHES.tell(cls, name, before, value)

    def __delattr__(cls, name: str) -> None:
        before = _found(cls, name)
        super().__delattr__(name)
        if _tells(cls):
            PATCHES.tell(cls, name, before, _found(cls, name))


class TensorInternals(metaclass=TensorClass):
    """Private and former names of a tensor's autograd metadata."""

    __slots__ = ()
    _edge: Any
    _ext: Any
    _extra: Any
    _payload: Any
    grad_fn: Any
    _base: Any

    @property
    def _grad_fn(self) -> Any:
        return self.grad_fn

    @_grad_fn.deleter
    def _grad_fn(self) -> None:
        raise RuntimeError("Deleting _grad_fn is not allowed: detach_() leaves the graph")

    @property
    def _backward_hooks(self) -> Any:
        """The hooks from `register_hook`: a leaf's own dictionary, a non-leaf's copy; or None.

        It may be set on a leaf. All hooks in it run, with any keys.
        """
        if is_leaf_edge(self._edge):
            return None if self._ext is None else self._ext.hooks
        node, index = target_of(self._edge)
        held = None if node._ext is None else node._ext.tensor_hooks
        return held and {key[-1]: hook for key, hook in held.items() if key[0] == index}

    @_backward_hooks.setter
    def _backward_hooks(self, value: Any) -> None:
        if not is_leaf_edge(self._edge):
            raise RuntimeError(
                "_backward_hooks can only be set on leaves: use register_hook() on a tensor that "
                "an operation made"
            )
        if value is not None and not isinstance(value, dict):
            raise TypeError(
                f"_backward_hooks must be a dict or None, not {type(value).__name__}: hooks are "
                "registered by register_hook()"
            )
        hooks.set_hooks(self, value)

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise RuntimeError("Deleting _backward_hooks is not allowed: set them to None")

    @property
    def grad_dtype(self) -> dtype | None:
        """The dtype of a leaf's gradient: the leaf's own, unless another is set.

        Gradients are converted to it; with None they keep the dtype that they arrive in. An
        existing gradient keeps its dtype, and later gradients are converted to that.

        Raises
        ------
        RuntimeError: If the tensor is not a leaf, or when set to a dtype other than that of an
            existing gradient.

        Examples
        --------
        >>> x = wg.ones(2, requires_grad=True)
        >>> x.grad_dtype = wg.float16
        >>> x.sum().backward()
        >>> x.grad
        tensor([1., 1.], dtype=torch.float16)
        """
        if not is_leaf_edge(self._edge):
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        kind = gradient_kind(self)
        return None if kind is None else from_numpy_dtype(kind)

    @grad_dtype.setter
    def grad_dtype(self, value: Any) -> None:
        if not is_leaf_edge(self._edge):
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        if value is not None and not isinstance(value, dtype):
            raise RuntimeError(
                f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}"
            )
        kind = None if value is None else value.numpy
        have = None if self._ext is None else self._ext.grad
        if kind is not None and have is not None and have._payload.dtype != kind:
            raise RuntimeError(
                f"Cannot set grad_dtype to '{long_name(kind)}' because there is already a gradient "
                f"with dtype '{long_name(have._payload.dtype).lower()}'. Set .grad to None first."
            )
        if kind is not None and not is_differentiable(kind):
            raise RuntimeError(
                f"grad_dtype must be floating point or complex, but got {long_name(kind)}"
            )
        hooks.set_grad_dtype(self, OWN if kind == self._payload.dtype else kind)

    def _view_func(
        self,
        new_base: Any,
        symint_visitor_fn: Callable[[int], int] | None = None,
        tensor_visitor_fn: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Return the view of `new_base` that corresponds to this tensor as a view of its base.

        Parameters
        ----------
        new_base : Tensor. With the sizes, strides and offset of the base.
        symint_visitor_fn : callable, optional. Called with the sizes and positions that the view
            was made with; returns the ones to use.
        tensor_visitor_fn : callable, optional. Not called: no view is made with tensors.

        Returns
        -------
        Tensor or None: None if this is not a view, or if `new_base` has another memory layout.
        """
        base = self._base
        if not isinstance(new_base, TensorBase):
            raise wrong_type("_view_func", "new_base", "Tensor", new_base, 1)
        if base is None or _geometry(base) != _geometry(new_base):
            return None
        return self._view_func_unsafe(new_base, symint_visitor_fn, tensor_visitor_fn)

    def _view_func_unsafe(
        self,
        new_base: Any,
        symint_visitor_fn: Callable[[int], int] | None = None,
        tensor_visitor_fn: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Like `_view_func`, but `new_base` may have any memory layout."""
        if self._base is None:
            return None
        view = new_base
        as_is = Step(TABLE["view"], {"shape": self._payload.shape}, ())
        for step in view_steps(self._ext.chain) or [as_is]:
            params = step.params
            if symint_visitor_fn is not None:
                params = {
                    name: _visited(value, symint_visitor_fn) if name in _PLACES else value
                    for name, value in params.items()
                }
            view = record(step.prim, (view,), params)
            view = view if step.output is None else view[step.output]
        return view

    def _rev_view_func_unsafe(self, mutated_view: Any) -> Any:
        """Return the base as a view of `mutated_view`, which replaces this view.

        None if this is not a view.
        """
        base = self._base
        if base is None:
            return None
        return as_strided(mutated_view, *_geometry(base))

    @property
    def volatile(self) -> bool:
        """Always False; from PyTorch before 0.4."""
        warn("volatile was removed (Variable.volatile is always False): use no_grad()")
        return False
