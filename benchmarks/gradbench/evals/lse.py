"""lse: the logarithm of a sum of exponentials, safe from overflow.

The eval asks for its parts, a maximum and a sum, in place of `wg.logsumexp`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import wengert as wg

from ._types import Compile, Functions


def arguments(input: Mapping[str, Any]) -> tuple[Any]:
    return (wg.tensor(input["x"], dtype=wg.float64),)


def objective(x: Any) -> Any:
    largest = x.max()
    return largest + (x - largest).exp().sum().log()


gradient = wg.func.grad(objective)


def functions(compile: Compile) -> Functions:
    return {"primal": compile(objective), "gradient": compile(gradient)}
