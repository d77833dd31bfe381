"""Layer 8 · implicit: the solution of an equation as an operation on the tape.

NOTE [the implicit function theorem]
Where F(z, a) = 0 and the Jacobian J of F by z is regular, z is a function of a, and

    dz/da = -J⁻¹ dF/da,

however z was found. The backward pass solves ``Jᵀu = g`` and returns the product of -u with dF/da.
The solution of that linear system is an operation, too, whose own rule needs two products with
derivatives of F and another linear system. All are taken at the solution *as an output of the
operation*, so that a second derivative goes through it as often as it has to.
"""

from __future__ import annotations

from typing import Any

from wengert.autograd.elements import each
from wengert.autograd.function import Function
from wengert.autograd.local import Gates, leaf, products
from wengert.implicit.equation import Equation
from wengert.interp.levels import levels_of
from wengert.ops.join import stack
from wengert.tape.base import new_tensor
from wengert.tape.modes import enable_grad, is_grad_enabled


class ImplicitSolution(Function):
    """The solution of an equation, as a function of its parameters."""

    @staticmethod
    def forward(ctx: Any, equation: Equation, *inputs: Any) -> Any:
        """Return the solution that was found, unchanged."""
        outputs = tuple(new_tensor(array) for array in equation.solution)
        ctx.equation = equation
        ctx.save_for_backward(*outputs, *inputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """See NOTE [the implicit function theorem]."""
        return None, *each(lambda grads: ImplicitSolution._pulled(ctx, grads), grads)

    @staticmethod
    def _pulled(ctx: Any, grads: list[Any]) -> list[Any]:
        equation: Equation = ctx.equation
        saved = ctx.saved_tensors
        count = len(equation.solution)
        if not is_grad_enabled() and not levels_of(*[t._payload for t in (*saved, *grads)]):
            us = LinearSolution.apply(equation, True, *saved, *grads)
            return equation.pull_parameters([-u for u in us])
        solution, inputs = saved[:count], saved[count:]
        recording = is_grad_enabled()
        us = LinearSolution.apply(equation, True, *saved, *grads)
        with enable_grad():
            gates = Gates()
            own = inputs[: len(equation.parameters)]
            parameters = gates.before(own)
            if not recording:
                # values of transforms, which the equation's own graph does not hold
                parameters = [
                    leaf(p, n._edge is not None) for p, n in zip(parameters, own, strict=True)
                ]
            values = equation.residual(gates.before(solution), parameters)
            targets = [*parameters, *equation.closures]
            results = products(values, targets, [-u for u in us], create_graph=recording)
        gates.open()
        return results


class LinearSolution(Function):
    """The u with ``J u = b`` or ``Jᵀu = b``, for the Jacobian J at the solution of an equation.

    Its rule is that of the scalar ``<left, J right>``, to which both systems reduce.
    """

    @staticmethod
    def forward(ctx: Any, equation: Equation, transpose: bool, *tensors: Any) -> Any:
        """Solve numerically; `tensors` are the solution, the parameters, closures, and b."""
        known = len(equation.solution) + len(equation.parameters) + len(equation.closures)
        us = tuple(equation.solved(list(tensors[known:]), transpose))
        ctx.equation = equation
        ctx.transpose = transpose
        ctx.save_for_backward(*us, *tensors[:known])
        ctx.count = len(us)
        return us

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """Solve one system after another."""
        equation, transpose, *tensors = args
        rows = []
        for index in range(info.batch_size):
            parts = [
                t if dim is None else t.select(dim, index)
                for t, dim in zip(tensors, in_dims[2:], strict=True)
            ]
            rows.append(LinearSolution.apply(equation, transpose, *parts))
        outputs = tuple(stack(column) for column in zip(*rows, strict=True))
        return outputs, (0,) * len(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients of the solution, the parameters, closures, and b."""
        return None, None, *each(lambda grads: LinearSolution._pulled(ctx, grads), grads)

    @staticmethod
    def _pulled(ctx: Any, grads: list[Any]) -> list[Any]:
        equation: Equation = ctx.equation
        saved = ctx.saved_tensors
        us, known = list(saved[: ctx.count]), saved[ctx.count :]
        recording = is_grad_enabled()
        ws = list(LinearSolution.apply(equation, not ctx.transpose, *known, *grads))
        left, right = (us, ws) if ctx.transpose else (ws, us)
        count = len(equation.solution)
        with enable_grad():
            gates = Gates()
            behind = gates.before(known[: count + len(equation.parameters)])
            # products with values without history need an edge, too
            unknowns = [leaf(t) if t._edge is None else t for t in behind[:count]]
            values = equation.residual(unknowns, behind[count:])
            pulled = products(values, unknowns, gates.before(left), create_graph=True)
            pairs = [(p, r) for p, r in zip(pulled, right, strict=True) if p is not None]
        targets = [*unknowns, *behind[count:], *equation.closures]
        results = products(
            [p for p, _ in pairs], targets, [-r for _, r in pairs], create_graph=recording
        )
        gates.open()
        return [*results, *ws]
