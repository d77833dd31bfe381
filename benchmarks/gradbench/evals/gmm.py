"""gmm: the logarithm of the posterior of a mixture of Gaussians, under a Wishart prior.

The inverse covariance of component k is QᵀQ, where the lower triangular Q has exp(q[k]) on its
diagonal and `low[k]` below it, column by column.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import wengert as wg

from ._types import Compile, Functions


def arguments(input: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("alpha", "mu", "q", "l", "x")
    arrays = (wg.tensor(input[name], dtype=wg.float64) for name in names)
    return (*arrays, input["gamma"], input["m"])


def objective(alpha: Any, mu: Any, q: Any, low: Any, x: Any, gamma: float, m: int) -> Any:
    n, d = x.shape
    column, row = wg.triu_indices(d, d, 1)
    factors = q.exp().diag_embed().index_put((None, row, column), low)

    whitened = (x - mu[:, None]) @ factors.mT
    log_volumes = q.sum(1)
    terms = alpha + log_volumes - whitened.square().sum(-1).T / 2
    likelihood = terms.logsumexp(1).sum() - n * alpha.logsumexp(0)

    freedom = d + m + 1
    scale = freedom * d * (math.log(gamma) - math.log(2) / 2)
    spread = wg.mvlgamma(wg.tensor(freedom / 2, dtype=wg.float64), d)
    prior = m * log_volumes.sum() - gamma**2 / 2 * factors.square().sum()
    return likelihood + prior - n * d / 2 * math.log(2 * math.pi) + len(alpha) * (scale - spread)


gradient = wg.func.grad(objective, argnums=(0, 1, 2, 3))


def functions(compile: Compile) -> Functions:
    return {"objective": compile(objective), "jacobian": compile(gradient)}


def answer(name: str, output: Any) -> Any:
    if name == "objective":
        return output
    return dict(zip(("alpha", "mu", "q", "l"), output, strict=True))
