"""Layer 7 · autograd: one pass for many cotangents or many tangents.

Each is a `vmap` over the first dimension of its cotangents or tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.func.forward import joined
from wengert.func.inputs import Entered
from wengert.tape.backward import run_grad
from wengert.tape.levels import move

NEVER = "never"
"""The value for a pass that forbids random numbers, which would be ambiguous under `vmap`."""


def gradients_of_batch(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    vectors: Sequence[Any],
    keep: bool,
    create_graph: bool,
) -> list[Any]:
    """Return the gradients of `inputs` for a batch of vectors; None without a path.

    Parameters
    ----------
    vectors: A batch of cotangents for each output, with the batch dimension first; None for ones.
    """
    sizes = {tuple(v._payload.shape[:1]) for v in vectors if v is not None}
    if len(sizes) != 1 or () in sizes:
        raise RuntimeError(
            "is_grads_batched=True needs grad_outputs whose first dimensions are equal, but got "
            f"{[list(v._payload.shape) for v in vectors if v is not None]}"
        )
    ((size,),) = sizes
    for i, (output, vector) in enumerate(zip(outputs, vectors, strict=False)):
        shape = getattr(output, "_payload", output).shape
        if vector is not None and shape is not None and vector._payload.shape[1:] != shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
                "as the batch dimension. The sizes of the remaining dimensions are expected to "
                f"match the shape of corresponding output, but a mismatch was detected: "
                f"grad_output[{i}] has a shape of torch.Size({list(vector._payload.shape)}) and "
                f"output[{i}] has a shape of torch.Size({list(shape)})."
            )
    with Entered(size, NEVER) as level:
        seeds = [v if v is None else move("wrap", v, level) for v in vectors]
        grads = run_grad(outputs, inputs, seeds, keep, create_graph)
        return [g if g is None else move("unwrap", g, level) for g in grads]


def tangents_of_batch(
    func: Callable[..., Any], at: Sequence[Any], directions: Sequence[Any]
) -> tuple[Any, tuple[Any, ...]]:
    """Return the value of `func` at `at`, unbatched, and its tangents for a batch of directions.

    Parameters
    ----------
    func: A function that returns a value of any kind and a tuple of tensors.
    directions: A batch of tangents for each tensor of `at`, with the batch dimension first.

    Returns
    -------
    value: The first result of `func`.
    tangents: The tangents of its tensors, with the batch dimension first.
    """
    with Entered(directions[0]._payload.shape[0], NEVER) as batch, Entered() as level:
        duals = [
            joined(tensor, move("wrap", direction, batch), level)
            for tensor, direction in zip(at, directions, strict=True)
        ]
        value, outputs = func(*duals)
        slopes = [move("tangent_of", out, level) for out in outputs]
        return value, tuple(move("unwrap", slope, batch) for slope in slopes)
