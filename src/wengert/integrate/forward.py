"""Layer 8 · integrate: derivatives by equations that are integrated along with the solution.

NOTE [forward sensitivity]
The derivative S of the state by a number p that it depends on (an element of the initial state or
of a parameter) satisfies

    dS/dt = df/dy S + df/dp,

and starts with the derivative of the initial state. The solver's vector holds the state followed by
these columns, all under its error control.

Reference: Hairer, Nørsett, Wanner, "Solving Ordinary Differential Equations I", I.14.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.autograd.elements import each, followed
from wengert.autograd.function import Function
from wengert.autograd.local import leaf, products, rows
from wengert.autograd.once import Error
from wengert.implicit.vectors import Layout
from wengert.integrate.field import Field
from wengert.ops.create import as_tensor, zeros
from wengert.ops.join import cat
from wengert.ops.like import zeros_like
from wengert.tape.base import new_tensor
from wengert.tape.modes import enable_grad, is_grad_enabled
from wengert.tape.node import edge_of

_TWICE = (
    "trying to differentiate twice a solution whose derivatives were integrated forward "
    "(sensitivity='forward'): these are numbers without a history. Give sensitivity='discrete' or "
    "'adjoint' for second derivatives."
)


class Variations:
    """A field together with the derivatives of its solution.

    Attributes
    ----------
    size
        The number of columns: one for each element of the initial state and of parameters whose
        derivative is needed.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        self.initial = followed(field.state.initial)
        self.wanted = [t for t in field.wanted if t._edge is not None]
        self.layout = Layout([t._payload for t in self.wanted])
        self.size = self.layout.size + (field.state.size if self.initial else 0)

    def start(self, y: Any) -> Any:
        """Return the initial state and its columns."""
        n = self.field.state.size
        columns = np.zeros((self.size, n))
        if self.initial:
            columns[:n] = np.eye(n)
        return np.concatenate([y, columns.reshape(-1)])

    def slope(self, t: float, both: Any) -> Any:
        """Return the time derivative of the state and its columns."""
        n = self.field.state.size
        y, columns = both[:n], both[n:].reshape(self.size, n)
        state, value = self.field.recorded(t, y)
        by_rows = n <= 2 * self.size
        moved = (self._by_rows if by_rows else self._by_columns)(state, value, columns)
        return np.concatenate([value._payload, moved.reshape(-1)])

    def _by_rows(self, state: Any, value: Any, columns: Any) -> Any:
        """Compute by rows of the Jacobians, one backward pass each."""
        n = len(columns[0])
        units = np.eye(n, dtype=value._payload.dtype)
        by_state, *others = rows([value], [state, *self.wanted], [units])
        moved = np.zeros_like(columns) if by_state is None else columns @ by_state.T
        moved[self.size - self.layout.size :] += self.layout.matrix(others, n).T
        return moved

    def _by_columns(self, state: Any, value: Any, columns: Any) -> Any:
        """Compute by products with each column, by differentiating one recorded backward pass."""
        dummy = leaf(new_tensor(np.zeros_like(value._payload)))
        with enable_grad():
            pulled = products([value], [state, *self.wanted], [dummy], create_graph=True)
        moved = np.zeros_like(columns)
        offset = self.size - self.layout.size
        for i, column in enumerate(columns):
            unit = np.zeros(self.layout.size)
            if i >= offset:
                unit[i - offset] = 1.0
            seeds = [
                new_tensor(column.astype(state._payload.dtype)),
                *self.layout.tensors(unit),
            ]
            pairs = [(p, s) for p, s in zip(pulled, seeds, strict=True) if p is not None]
            (push,) = products([p for p, _ in pairs], [dummy], [s for _, s in pairs])
            if push is not None:
                moved[i] = push._payload
        return moved

    def jacobian(self, t: float, both: Any) -> Any:
        """Return the field's Jacobian for the state and each column, for Newton's method."""
        block = self.field.jacobian(t, both[: self.field.state.size])
        return np.kron(np.eye(1 + self.size), block)


class ForwardSolution(Function):
    """The states at some times, as a function of the initial state and the parameters."""

    # second derivatives are refused here, with advice on what to choose instead
    keeps_constants = True

    @staticmethod
    def forward(ctx: Any, variations: Variations, outputs: Any, *inputs: Any) -> Any:
        """Return the states; their derivatives are kept."""
        n = variations.field.state.size
        ctx.variations = variations
        ctx.columns = outputs[:, n:].reshape(len(outputs), variations.size, n)
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)
        return new_tensor(outputs[:, :n].astype(variations.field.state.dtype))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Multiply with the columns."""
        return None, None, *each(lambda grads: ForwardSolution._pulled(ctx, grads[0]), [grad])

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """Return the sum of the columns times tangents."""
        variations: Variations = ctx.variations
        initial, *others = tangents[2:]
        parts = [t for t, own in zip(others, variations.field.wanted, strict=True) if own._edge]
        followed = [initial, *parts] if variations.initial else parts
        sizes = [variations.field.state.size] * variations.initial + variations.layout.sizes
        weights = cat(
            [
                zeros(size, dtype=ctx.columns.dtype) if t is None else t.reshape(-1)
                for t, size in zip(followed, sizes, strict=True)
            ]
        )
        slope = (weights[:, None] * as_tensor(ctx.columns)).sum(1)
        edges = tuple(edge_of(t) for t in ctx.saved_tensors if t._edge is not None)
        if edges and is_grad_enabled():
            # the columns depend on the same values as the solution, too
            slope = slope + _final(zeros_like(slope), edges)
        return slope

    @staticmethod
    def _pulled(ctx: Any, grad: Any) -> list[Any]:
        initial, *others = ctx.saved_tensors
        variations: Variations = ctx.variations
        sums = np.einsum("tmn,tn->m", ctx.columns, grad._payload)
        results: list[Any] = [None] * (1 + len(others))
        if variations.initial:
            n = variations.field.state.size
            results[0] = new_tensor(sums[:n].astype(initial._payload.dtype))
            sums = sums[n:]
        parts = iter(variations.layout.tensors(sums))
        for i, tensor in enumerate(variations.field.wanted):
            if tensor._edge is not None:
                results[1 + i] = next(parts)
        if is_grad_enabled():
            results = [
                None if r is None else _final(r, (*ctx._node.edges, edge_of(grad))) for r in results
            ]
        return results


# by NumPy: cotangents of transforms take another way
ForwardSolution.backward.once = True  # type: ignore[attr-defined]  # a mark


def _final(tensor: Any, edges: tuple[Any, ...]) -> Any:
    """Return a derivative that raises when it is differentiated."""
    return new_tensor(tensor._payload, Error.before(edges, _TWICE))
