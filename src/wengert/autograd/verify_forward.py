"""Layer 7 · autograd: `gradcheck` of forward mode, and of derivatives under `vmap`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.autograd.batches import gradients_of_batch, tangents_of_batch
from wengert.autograd.numeric import along, as_tuple, columns
from wengert.autograd.projected import differs, signs, times
from wengert.autograd.verify import Check, GradcheckError, one_number, parts_of
from wengert.base.dtypes import is_differentiable
from wengert.func.forward import joined
from wengert.func.inputs import Entered
from wengert.tape.backward import run_grad
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.levels import move

__all__ = ["ForwardCheck", "check_batched_backward", "check_batched_forward"]


class ForwardCheck(Check):
    """One run of `gradcheck` in forward mode."""

    def run(self, fast: bool, undefined: bool) -> None:
        """Check every Jacobian, raising at the first thing that is wrong."""
        parts = parts_of(as_tuple(self.func(*self.inputs)))
        evaluate = self.evaluate
        large = self.is_large(parts)
        for k, tensor in enumerate(self.watched):
            if (fast or large) and self._agrees(evaluate, parts, k):
                continue
            numerical = columns(evaluate, tensor, self.eps)
            analytical = columns(evaluate, tensor, self.eps, self._push(k))
            for part in parts:
                self._compare(
                    part,
                    k,
                    one_number(part.of(analytical[part.index]), tensor),
                    one_number(part.of(numerical[part.index]), tensor),
                )

    def _push(self, k: int) -> Callable[..., list[Any]]:
        """What gives the derivatives of all outputs along a direction, as `along` does."""

        def push(evaluate: Any, tensor: Any, direction: Any, eps: float) -> list[Any]:
            tangent = new_tensor(np.asarray(direction, tensor.payload.dtype))
            with Entered() as level:
                outputs = as_tuple(self.func(*self._with(k, joined(tensor, tangent, level))))
                return [
                    np.array(move("tangent_of", out, level).payload).reshape(-1)
                    if isinstance(out, TensorBase) and is_differentiable(out.payload.dtype)
                    else None
                    for out in outputs
                ]

        return push

    def _with(self, k: int, value: Any) -> list[Any]:
        arguments = list(self.inputs)
        arguments[self.positions[k]] = value
        return arguments

    def _agrees(self, evaluate: Any, parts: Sequence[Any], k: int) -> bool:
        """Whether derivatives along random directions show no difference."""
        tensor = self.watched[k]
        for _ in range(times):
            direction = signs(self.rng, tensor).reshape(tensor.payload.shape)
            numerical = along(evaluate, tensor, direction, self.eps)
            analytical = self._push(k)(evaluate, tensor, direction, self.eps)
            for part in parts:
                expected = part.of(numerical[part.index])
                found = part.of(analytical[part.index])
                if differs(found, expected, np.abs(expected).sum(), self.atol):
                    return False
        return True

    def _heading(self, part: Any, k: int) -> str:
        return (
            super()
            ._heading(part, k)
            .replace("Jacobian mismatch", "Jacobian computed with forward mode mismatch")
        )


def check_batched_backward(check: Check) -> None:
    """Compare backward passes with a batch of cotangents with one for each."""
    outputs = as_tuple(check.func(*check.inputs))
    for part in parts_of(outputs):
        shape, dtype = part.tensor.payload.shape, part.tensor.payload.dtype
        values = check.rng.standard_normal((2, *shape)).astype(dtype)
        batch = gradients_of_batch([part.tensor], check.watched, [new_tensor(values)], True, False)
        for row, value in enumerate(values):
            alone = run_grad(
                [part.tensor], check.watched, [new_tensor(np.asarray(value))], True, False
            )
            for k, (many, one) in enumerate(zip(batch, alone, strict=True)):
                of_row = None if many is None else many.payload[row]
                _expect_equal(check, of_row, one, part.position, k, "gradients")


def check_batched_forward(check: ForwardCheck) -> None:
    """Compare a forward pass with a batch of tangents with one for each."""
    for k, tensor in enumerate(check.watched):
        values = check.rng.standard_normal((2, *tensor.payload.shape)).astype(tensor.payload.dtype)

        def call(dual: Any, k: int = k) -> tuple[None, tuple[Any, ...]]:
            outputs = as_tuple(check.func(*check._with(k, dual)))
            return None, tuple(out for out in outputs if isinstance(out, TensorBase))

        _, slopes = tangents_of_batch(call, [tensor], [new_tensor(values)])
        for row, value in enumerate(values):
            _, alone = tangents_of_batch(call, [tensor], [new_tensor(value[None])])
            for i, (many, one) in enumerate(zip(slopes, alone, strict=True)):
                _expect_equal(check, many.payload[row], one[0], i, k, "forward derivatives")


def _expect_equal(check: Check, many: Any, one: Any, i: int, k: int, what: str) -> None:
    a = 0 if many is None else np.asarray(many)
    b = 0 if one is None else one.payload
    if not np.allclose(a, b, check.rtol, check.atol, equal_nan=True):
        raise GradcheckError(
            f"While testing batched {what}: under vmap those of output {i} by "
            f"{check._argument(k)} differ by {np.abs(a - b).max():.3g} from those without"
        )
