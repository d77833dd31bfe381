"""Layer 7 · autograd: one pass for many cotangents or many tangents.

Both are a `vmap`, over a dimension in front of what they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.base.sections import fill_sections
from wengert.func.forward import joined
from wengert.func.inputs import Entered
from wengert.tape.backward import run_grad
from wengert.tape.levels import move

NEVER = "never"
"""What such a pass does with random numbers: nobody can say what they should be."""


def gradients_of_batch(
    outputs: Sequence[Any],
    inputs: Sequence[Any],
    vectors: Sequence[Any],
    keep: bool,
    create_graph: bool,
) -> list[Any]:
    """The gradients of `outputs` by `inputs` for each vector of a batch, None without a path.

    Parameters
    ----------
    vectors: For each output cotangents with a dimension in front that counts them, of equal sizes;
        None for ones.
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
    """What `func` gives at `at`, as it would alone, and its tangents for each direction of a batch.

    Parameters
    ----------
    func: Returns a value of any kind and a tuple of tensors.
    directions: For each tensor of `at` tangents with a dimension in front that counts them.

    Returns
    -------
    value: What `func` returned first.
    tangents: Those of the tensors, with the dimension in front.
    """
    with Entered(directions[0]._payload.shape[0], NEVER) as batch, Entered() as level:
        duals = [
            joined(tensor, move("wrap", direction, batch), level)
            for tensor, direction in zip(at, directions, strict=True)
        ]
        value, outputs = func(*duals)
        slopes = [move("tangent_of", out, level) for out in outputs]
        return value, tuple(move("unwrap", slope, batch) for slope in slopes)


fill_sections(globals())
