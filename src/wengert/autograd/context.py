"""Layer 7 · autograd: `FunctionCtx`, the `ctx` that a Function's `forward` and `backward` share."""

from __future__ import annotations

from typing import Any

from wengert.tape.base import SparseValue, TensorBase
from wengert.tape.sites import warn
from wengert.types import Tensor


class FunctionCtx:
    """The object through which `forward` passes values to `backward`.

    Attributes of any name may be set on it. Pass tensors that `backward` needs through
    `save_for_backward`, which checks that they were not changed in place and ties them to the
    graph for double backward. Other attributes are kept as they are.
    """

    needs_input_grad: tuple[bool, ...]
    """Whether each argument of `Function.apply` needs a gradient."""

    _materialize_non_diff_grads: bool
    """Whether outputs marked as non-differentiable get zeros, rather than None, as gradients."""

    _is_pure_view: bool
    """Whether the output is a plain view of the input's memory, as from a view operation.

    The history of a write through it is then that of a view, without `backward`.
    """

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors (inputs, outputs or others) or None for `backward`; call it only once.

        Of a sparse tensor the values are saved: a change of its indices is not noticed.

        Raises
        ------
        TypeError: If a value is neither a tensor nor None: set that as an attribute.
        """
        for i, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, SparseValue | TensorBase):
                raise TypeError(
                    "save_for_backward can only save variables, but argument "
                    f"{i} is of type {type(tensor).__name__}: set it as an attribute of ctx"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save tensors for ``jvp``, the rule of forward mode."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, TensorBase):
                raise TypeError(
                    f"save_for_forward can only save variables, not {type(tensor).__name__}"
                )
        self._saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Mark inputs that `forward` changed in place; they must be among its outputs."""
        _check_tensors(tensors, "mark_dirty can only accept variables, but argument")
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Mark outputs that have no gradient."""
        _check_tensors(
            tensors, "mark_non_differentiable only accepts variable arguments, but argument"
        )
        self._constants = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether `backward` gets zeros (the default) or None for unused outputs."""
        self._materialize = bool(value)

    @property
    def saved_variables(self) -> tuple[Tensor, ...]:
        """The old name of `saved_tensors`."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """The tensors saved for `backward`.

        Raises
        ------
        RuntimeError: If the graph has been freed, or a saved tensor was changed in place since.
        """
        raise RuntimeError("saved_tensors can only be accessed once forward() has returned")


def _check_tensors(values: tuple[Any, ...], message: str) -> None:
    for i, value in enumerate(values):
        if not isinstance(value, TensorBase):
            raise TypeError(f"{message} {i} is of type {type(value).__name__}")
