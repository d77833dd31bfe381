"""lstm: the loss of a recurrent network whose weight matrices are diagonal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wengert as wg

from ._types import Compile, Functions


def arguments(input: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("main_params", "extra_params", "state", "sequence")
    return tuple(wg.tensor(input[name], dtype=wg.float64) for name in names)


def objective(main_params: Any, extra_params: Any, state: Any, sequence: Any) -> Any:
    width = sequence.shape[1]
    layers = [rows.unbind() for rows in main_params.reshape(-1, 8, width)]
    in_weight, out_weight, out_bias = extra_params
    hidden, cell = [*state[0::2]], [*state[1::2]]
    outputs = []
    for x in sequence[:-1] * in_weight:
        for i, (wf, wi, wo, wc, bf, bi, bo, bc) in enumerate(layers):
            keep = (x * wf + bf).sigmoid()
            enter = (hidden[i] * wi + bi).sigmoid()
            leave = (x * wo + bo).sigmoid()
            change = (hidden[i] * wc + bc).tanh()
            cell[i] = cell[i] * keep + enter * change
            x = hidden[i] = leave * cell[i].tanh()
        outputs.append(x)
    predicted = wg.stack(outputs) * out_weight + out_bias
    # the eval adds 2 below the logarithm
    normalised = predicted - (predicted.exp().sum(1, keepdim=True) + 2).log()
    return -(sequence[1:] * normalised).mean()


gradient = wg.func.grad(objective, argnums=(0, 1))


def functions(compile: Compile) -> Functions:
    return {"objective": compile(objective), "jacobian": compile(gradient)}


def answer(name: str, output: Any) -> Any:
    return output if name == "objective" else wg.cat([part.ravel() for part in output])
