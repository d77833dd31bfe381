"""Layer 7 · autograd: assembly of Jacobians, for `wengert.autograd.functional`.

By rows: a backward pass for each element of the outputs, or one for all of them. By columns: one
pass in forward mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.autograd.batches import gradients_of_batch, tangents_of_batch
from wengert.autograd.functional_checks import (
    NO_PATH,
    NO_PATH_FROM,
    called,
    filled,
    gradients,
    inputs_of,
    prepared,
    shown,
    unpacked,
)
from wengert.func.jacobians import units_of
from wengert.ops.create import zeros
from wengert.ops.join import stack
from wengert.tape.base import new_tensor
from wengert.tape.modes import is_grad_enabled


def refused(one: str, other: str) -> str:
    """Return the message for two arguments that exclude each other."""
    return (
        f"torch.autograd.functional.jacobian: `{one}` and `{other}` are not supported together. "
        "Leave out one of them."
    )


def _unit(like: Any, index: int) -> Any:
    """Return a tensor like `like` with 1 at `index` of its elements, and zero elsewhere."""
    vector = np.zeros(like.shape, like._payload.dtype)
    vector.flat[index] = 1
    return new_tensor(vector)


def _construct_standard_basis_for(
    tensors: Sequence[Any], tensor_numels: Sequence[int]
) -> tuple[Any, ...]:
    """Return the unit vectors of all elements of `tensors` as rows, split by tensor.

    Examples
    --------
    >>> wg.autograd.functional._construct_standard_basis_for((wg.ones(1), wg.ones(1)), (1, 1))
    (tensor([[1.],
            [0.]]), tensor([[0.],
            [1.]]))
    """
    total, parts, start = sum(tensor_numels), [], 0
    for tensor, count in zip(tensors, tensor_numels, strict=True):
        parts.append(new_tensor(np.eye(total, count, -start, tensor._payload.dtype)))
        start += count
    return tuple(parts)


def by_rows(
    outputs: tuple[Any, ...], at: tuple[Any, ...], create_graph: bool, strict: bool, vectorize: bool
) -> tuple[tuple[Any, ...], ...]:
    """Return the Jacobian of each output with respect to each input, in reverse mode."""
    if vectorize:
        blocks = _rows_at_once(outputs, at, create_graph)
    else:
        rows = [
            _rows(number, output, at, create_graph, strict) for number, output in enumerate(outputs)
        ]
        blocks = [
            [_stacked([row[j] for row in of_output], tensor) for of_output in rows]
            for j, tensor in enumerate(at)
        ]
    shaped = [
        [
            block.reshape((*output.shape, *tensor.shape))
            for block, output in zip(column, outputs, strict=True)
        ]
        for column, tensor in zip(blocks, at, strict=True)
    ]
    return tuple(shown(block, create_graph) for block in zip(*shaped, strict=True))


def _rows_at_once(
    outputs: tuple[Any, ...], at: tuple[Any, ...], create_graph: bool
) -> list[list[Any]]:
    """Return, for each input, the rows of each output, from one backward pass."""
    sizes = [output.numel() for output in outputs]
    smooth = [i for i, output in enumerate(outputs) if output.requires_grad and sizes[i]]
    found: list[Any] = [None] * len(at)
    if smooth:
        units = units_of(outputs)
        ends, seeds = [outputs[i] for i in smooth], [units[i] for i in smooth]
        found = gradients_of_batch(ends, at, seeds, create_graph, create_graph)
    total = sum(sizes)
    return [
        list(
            (zeros(total, *tensor.shape, dtype=tensor.dtype) if grad is None else grad).split(sizes)
        )
        for grad, tensor in zip(found, at, strict=True)
    ]


def _stacked(rows: list[Any], like: Any) -> Any:
    return stack(rows) if rows else zeros(0, *like.shape, dtype=like.dtype)


def _rows(
    number: int, output: Any, at: tuple[Any, ...], create_graph: bool, strict: bool
) -> list[tuple[Any, ...]]:
    """Return the gradients of each element of one output with respect to each input."""
    if not output.requires_grad:
        return [filled((None,) * len(at), at, False, False, NO_PATH)] * output.numel()
    if output.is_complex():
        raise RuntimeError(
            "grad can be implicitly created only for real scalar outputs but got "
            f"{output.dtype}: output {number} of the function. vectorize=True gives the gradients "
            "of its elements."
        )
    missing = NO_PATH_FROM.format(number=number)
    # like PyTorch's slices of the output: hooks of a leaf run if it leads to an input
    source = output.view_as(output) if output.is_leaf else output
    rows = []
    for index in range(output.numel()):
        row = gradients((source,), at, (_unit(output, index),), create_graph, keep=True)
        rows.append(filled(row, at, strict, create_graph, missing))
    return rows


def by_columns(
    func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool, vectorize: bool
) -> Any:
    """Return the Jacobian in forward mode, in the structure of the result of `jacobian`."""
    if create_graph:
        raise NotImplementedError(refused("create_graph=True", 'strategy="forward-mode"'))
    if strict:
        raise RuntimeError(refused("strict=True", 'strategy="forward-mode"'))
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only "
            "implemented for `vectorize=True`."
        )
    several_in, tensors = inputs_of(inputs, "jacobian")
    # columns keep their history if it leads to a tensor of the user
    at = prepared(tensors, is_grad_enabled(), track=False)

    def outputs_of(*arguments: Any) -> tuple[Any, tuple[Any, ...]]:
        several, outputs = called(func, arguments, "jacobian", strict)
        return several, outputs

    sizes = [tensor.numel() for tensor in at]
    if sum(sizes):
        several_out, slopes = tangents_of_batch(outputs_of, at, units_of(at))
    else:
        several_out, outputs = outputs_of(*at)
        slopes = tuple(zeros(0, *output.shape, dtype=output.dtype) for output in outputs)
    blocks = []
    for slope in slopes:
        shape = tuple(slope.shape[1:])
        parts = slope.movedim(0, -1).split(sizes, dim=-1)
        blocks.append(
            tuple(
                part.reshape((*shape, *tensor.shape))
                for part, tensor in zip(parts, at, strict=True)
            )
        )
    return unpacked(tuple(unpacked(block, several_in) for block in blocks), several_out)
