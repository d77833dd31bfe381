"""Layer 7 · autograd: derivatives that must not be differentiated again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

from wengert.base.dtypes import is_differentiable
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.modes import is_grad_enabled, no_grad
from wengert.tape.node import Node, edge_of, next_sequence


class Error(Node):
    """The node at which a derivative that must not be taken would begin."""

    __slots__ = ("message", "shown")
    label: ClassVar[str] = "Error"
    message: str
    shown: int

    @classmethod
    def before(cls, edges: tuple[Any, ...], message: str, shown: int | None = None) -> Error:
        """Return a node that raises when walked to `edges`; it shows the first `shown` of them."""
        node = cls.__new__(cls)
        node.edges = edges
        node._seq = next_sequence()
        node._ext = None
        node.message = message
        node.shown = len(edges) if shown is None else shown
        return node

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that it leads to, like `Node.next_functions`."""
        return super().next_functions[: self.shown]

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Raise the error."""
        raise RuntimeError(self.message)

    apply_in = apply


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `Function.backward` that cannot be differentiated itself.

    It runs without recording, and its results raise when they are differentiated.

    Examples
    --------
    >>> from wengert.autograd.function import once_differentiable
    >>> class Twice(wg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...
    ...     @staticmethod
    ...     @once_differentiable
    ...     def backward(ctx, grad_output):
    ...         return 2 * grad_output
    >>> x = wg.ones(2, requires_grad=True)
    >>> wg.autograd.grad(Twice.apply(x).sum(), x)
    (tensor([2., 2.]),)
    """

    @functools.wraps(backward)
    def wrapped(ctx: Any, *grads: Any) -> Any:
        recording, behind = is_grad_enabled(), []
        if recording:
            # before it runs, since it may empty the list of its arguments
            parts = grads[0] if ctx._node.function.boxed_grads_call else grads
            behind = [edge_of(g) for g in parts if g is not None]
        with no_grad():
            outputs = backward(ctx, *grads)
        if not recording:
            return outputs
        single = not isinstance(outputs, tuple)
        given = (outputs,) if single else outputs
        edges = dict(zip(ctx._node._positions, ctx._node.edges, strict=True))
        # one for each argument, as in PyTorch
        places = [edges.get(i) for i in range(len(given))]
        guarded = []
        for out in given:
            if isinstance(out, TensorBase) and is_differentiable(out._payload.dtype):
                message = (
                    "trying to differentiate twice a function that was marked with "
                    f"@once_differentiable ({ctx._node.label})"
                )
                node = Error.before((*places, *behind), message, len(places))
                out = new_tensor(out._payload, node)
            guarded.append(out)
        return guarded[0] if single else tuple(guarded)

    wrapped.once = True  # type: ignore[attr-defined]  # a mark, for `kept` and `levels`
    return wrapped
