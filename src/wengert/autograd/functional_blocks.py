"""Layer 7 · autograd: how `wengert.autograd.functional` puts a Jacobian together.

Forward mode is the transpose of reverse mode here: the gradient of ``sum(u * output)`` by the
inputs is linear in ``u``, so its own vector-Jacobian product by ``u`` is the product of the
function's Jacobian with a vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.autograd.functional_checks import (
    NO_PATH,
    NO_PATH_FROM,
    called,
    filled,
    gradients,
    leads_elsewhere,
    prepared_inputs,
    shown,
    unpacked,
)
from wengert.ops.create import zeros
from wengert.ops.join import stack
from wengert.ops.like import zeros_like
from wengert.tape.base import new_tensor
from wengert.tape.modes import enable_grad, is_grad_enabled

__all__ = ["by_columns", "by_rows", "refused"]


def refused(one: str, other: str) -> str:
    """The message that refuses two arguments together."""
    return (
        f"torch.autograd.functional.jacobian: `{one}` and `{other}` are not supported together. "
        "Leave out one of them."
    )


def _unit(like: Any, index: int) -> Any:
    """A tensor like `like` with one at `index` of its elements, and zero elsewhere."""
    vector = np.zeros(like.shape, like.payload.dtype)
    vector.flat[index] = 1
    return new_tensor(vector)


def by_rows(
    outputs: tuple[Any, ...],
    at: tuple[Any, ...],
    create_graph: bool,
    strict: bool,
    vectorize: bool,
) -> tuple[tuple[Any, ...], ...]:
    """The Jacobian of each output by each input, in reverse mode."""
    rows = [
        _rows(number, output, at, create_graph, strict, vectorize)
        for number, output in enumerate(outputs)
    ]
    blocks = []
    for j, tensor in enumerate(at):
        parts = [[row[j] for row in of_output] for of_output in rows]
        if vectorize:
            # in one, as PyTorch has it: all of them can be differentiated as soon as one can
            whole = _stacked([part for of_output in parts for part in of_output], tensor)
            stacks = whole.split([output.numel() for output in outputs])
        else:
            stacks = [_stacked(of_output, tensor) for of_output in parts]
        blocks.append(
            [
                block.view((*output.shape, *tensor.shape))
                for block, output in zip(stacks, outputs, strict=True)
            ]
        )
    return tuple(shown(block, create_graph) for block in zip(*blocks, strict=True))


def _stacked(rows: list[Any], like: Any) -> Any:
    return stack(rows) if rows else zeros(0, *like.shape, dtype=like.dtype)


def _rows(
    number: int,
    output: Any,
    at: tuple[Any, ...],
    create_graph: bool,
    strict: bool,
    vectorize: bool,
) -> list[tuple[Any, ...]]:
    """The gradients of each element of one output by each input."""
    if not output.requires_grad:
        return [filled((None,) * len(at), at, False, False, NO_PATH)] * output.numel()
    if output.is_complex() and not vectorize:
        raise RuntimeError(
            "grad can be implicitly created only for real scalar outputs but got "
            f"{output.dtype}: output {number} of the function. vectorize=True gives the gradients "
            "of its elements."
        )
    missing = NO_PATH_FROM.format(number=number)
    rows = []
    for index in range(output.numel()):
        row = gradients((output,), at, (_unit(output, index),), create_graph, keep=True)
        rows.append(filled(row, at, strict, create_graph, missing))
    return rows


def by_columns(
    func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool, vectorize: bool
) -> Any:
    """The Jacobian in forward mode, in the structure that `jacobian` gives it."""
    if create_graph:
        raise NotImplementedError(refused("create_graph=True", 'strategy="forward-mode"'))
    if strict:
        raise RuntimeError(refused("strict=True", 'strategy="forward-mode"'))
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only "
            "implemented for `vectorize=True`."
        )
    recording = is_grad_enabled()
    with enable_grad():
        several_in, at = prepared_inputs(inputs, "jacobian", recording)
        several_out, outputs = called(func, at, "jacobian", strict)
        # columns keep their history where it leads to something of the user's
        u = {
            i: zeros_like(output, requires_grad=True)
            for i, output in enumerate(outputs)
            if output.requires_grad
        }
        own = [*u.values(), *(tensor for tensor in at if tensor.is_leaf)]
        keep = recording and leads_elsewhere(outputs, own)
        transposed = gradients([outputs[i] for i in u], at, [*u.values()], create_graph=True)
        blocks = []
        for gradient, tensor in zip(transposed, at, strict=True):
            columns = [
                dict(
                    zip(u, gradients((gradient,), [*u.values()], (unit,), keep, True), strict=True)
                )
                for unit in (_unit(tensor, index) for index in range(tensor.numel()))
            ]
            block = [
                _beside([column.get(i) for column in columns], output, tensor)
                for i, output in enumerate(outputs)
            ]
            blocks.append(
                [
                    part if keep and leads_elsewhere((part,), own) else part.detach()
                    for part in block
                ]
            )
    return unpacked(
        tuple(unpacked(block, several_in) for block in zip(*blocks, strict=True)), several_out
    )


def _beside(columns: list[Any], output: Any, tensor: Any) -> Any:
    """One output's Jacobian by one input, from its columns."""
    shape = (*output.shape, *tensor.shape)
    if all(column is None for column in columns):
        return zeros(shape, dtype=output.dtype)
    parts = [zeros_like(output) if column is None else column for column in columns]
    return stack(parts, dim=-1).reshape(shape)
