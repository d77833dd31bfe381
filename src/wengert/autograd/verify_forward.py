"""Layer 7 · autograd: `gradcheck` of forward mode, and of derivatives under `vmap`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from wengert.autograd.batches import NEVER, gradients_of_batch
from wengert.autograd.forward_ad import dual_level, make_dual, unpack_dual
from wengert.autograd.numeric import along, as_tuple, columns
from wengert.autograd.projected import differs, signs, times
from wengert.autograd.verify import Check, GradcheckError, one_number, parts_of, requires_grad
from wengert.base.dtypes import is_differentiable
from wengert.func.inputs import Entered
from wengert.ops.like import zeros_like
from wengert.tape.backward import run_grad
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.levels import move


class ForwardCheck(Check):
    """One run of `gradcheck` in forward mode."""

    def run(self, fast: bool, undefined: bool) -> None:
        """Check every Jacobian, and raise at the first failure."""
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
        if undefined:
            self._expect_undefined_is_zero()

    def _push(self, k: int) -> Callable[..., list[Any]]:
        """Return a function, like `along`, for the derivatives of all outputs along a direction."""

        def push(evaluate: Any, tensor: Any, direction: Any, eps: float) -> list[Any]:
            tangent = new_tensor(np.asarray(direction, tensor._payload.dtype))
            return [
                None if slope is None else np.array(slope._payload).reshape(-1)
                for slope in self.tangents(k, tangent, True)
            ]

        return push

    def tangents(self, k: int, tangent: Any, zeros: bool) -> list[Any]:
        """Return the derivative of each output along `tangent` of input `k`; None without one.

        The other inputs have tangents of zeros, or, without `zeros`, no tangents.
        """
        with dual_level():
            duals = self._detached()
            for i, position in enumerate(self.positions):
                if i == k or zeros:
                    value = duals[position]
                    duals[position] = make_dual(value, tangent if i == k else zeros_like(value))
            return _tangents(self.func(*duals))

    def _detached(self) -> list[Any]:
        """Return the inputs without a history, as forward mode gets them."""
        return [value.detach() if requires_grad(value) else value for value in self.inputs]

    def _expect_undefined_is_zero(self) -> None:
        """Check that an input without a tangent counts as one with a zero tangent."""
        inputs = self._detached()
        with dual_level():
            duals = list(inputs)
            for position in self.positions:
                direction = signs(self.rng, inputs[position]).reshape(inputs[position].shape)
                direction = direction.astype(inputs[position]._payload.dtype)
                duals[position] = make_dual(inputs[position], new_tensor(direction))
            for k, position in enumerate(self.positions):
                alone = inputs[position]
                zero = make_dual(alone, zeros_like(alone))
                defined, undefined = (
                    _tangents(self.func(*duals[:position], value, *duals[position + 1 :]))
                    for value in (zero, alone)
                )
                for i, (a, b) in enumerate(zip(defined, undefined, strict=True)):
                    if a is not None and not self._close(a._payload, b._payload):
                        raise GradcheckError(
                            f"Mismatch in tangent values for output with index: {i}: it changes "
                            f"when the tangent of {self._argument(k)} is undefined, not zeros"
                        )

    def _close(self, a: Any, b: Any) -> bool:
        return np.allclose(a, b, self.rtol, self.atol, equal_nan=True)

    def _agrees(self, evaluate: Any, parts: Sequence[Any], k: int) -> bool:
        """Return whether the derivatives along random directions agree."""
        tensor = self.watched[k]
        for _ in range(times):
            direction = signs(self.rng, tensor).reshape(tensor._payload.shape)
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


def _tangents(result: Any) -> list[Any]:
    """Return the tangents of a function's outputs; None for outputs that cannot have one."""
    found = []
    for out in as_tuple(result):
        slope = None
        if isinstance(out, TensorBase) and is_differentiable(out._payload.dtype):
            primal, slope = unpack_dual(out)
            slope = zeros_like(primal) if slope is None else slope
        found.append(slope)
    return found


@contextmanager
def _computing_batches(option: str) -> Iterator[None]:
    """Add to an error that it comes from a pass under `vmap`, requested by `option`."""
    try:
        yield
    except RuntimeError as error:
        raise GradcheckError(
            f"While computing batched gradients, got: {error}\n  gradcheck or gradgradcheck failed "
            f"while testing batched gradient computation, under vmap: {option}=False leaves it out"
        ) from error


def check_batched_backward(check: Check) -> None:
    """Compare backward passes with a batch of cotangents with one for each."""
    outputs = as_tuple(check.func(*check.inputs))
    for part in parts_of(outputs):
        shape, dtype = part.tensor._payload.shape, part.tensor._payload.dtype
        values = check.rng.standard_normal((2, *shape)).astype(dtype)
        with _computing_batches("check_batched_grad"):
            batch = gradients_of_batch(
                [part.tensor], check.watched, [new_tensor(values)], True, False
            )
        for row, value in enumerate(values):
            alone = run_grad(
                [part.tensor], check.watched, [new_tensor(np.asarray(value))], True, False
            )
            for k, (many, one) in enumerate(zip(batch, alone, strict=True)):
                of_row = None if many is None else np.asarray(many._payload)[row]
                _expect_equal(check, of_row, one, part.position, k, "gradients")


def check_batched_forward(check: ForwardCheck) -> None:
    """Compare a forward pass with a batch of tangents with one for each."""
    for k, tensor in enumerate(check.watched):
        values = check.rng.standard_normal((2, *tensor._payload.shape)).astype(
            tensor._payload.dtype
        )
        alone = [check.tangents(k, new_tensor(np.asarray(value)), False) for value in values]
        with _computing_batches("check_batched_forward_grad"), Entered(2, NEVER) as level:
            tangent = move("wrap", new_tensor(values), level)
            found = check.tangents(k, tangent, False)
            many = [None if s is None else move("unwrap", s, level)._payload for s in found]
        for row, slopes in enumerate(alone):
            for i, (batch, one) in enumerate(zip(many, slopes, strict=True)):
                of_row = None if batch is None else batch[row]
                _expect_equal(check, of_row, one, i, k, "forward derivatives")


def _expect_equal(check: Check, many: Any, one: Any, i: int, k: int, what: str) -> None:
    a = 0 if many is None else np.asarray(many)
    b = 0 if one is None else np.asarray(one._payload)
    if not np.allclose(a, b, check.rtol, check.atol, equal_nan=True):
        raise GradcheckError(
            f"While testing batched {what}: under vmap those of output {i} for "
            f"{check._argument(k)} differ by {np.abs(a - b).max():.3g} from those without"
        )
