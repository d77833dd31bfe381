"""Distributions as functions of the library that makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["CASES", "made", "parameters"]


def _matrix(rng: Any, n: int, batch: tuple[int, ...] = ()) -> Any:
    a = rng.normal(size=(*batch, n, n))
    return a @ np.swapaxes(a, -1, -2) + n * np.eye(n)


_POSITIVE = ("positive", (3,))
_REAL = ("real", (3,))
_UNIT = ("unit", (3,))
# name: class, parameters by what they are, further arguments
CASES: dict[str, tuple[str, dict[str, tuple[str, tuple[int, ...]]], dict[str, Any]]] = {
    "Bernoulli": ("Bernoulli", {"probs": _UNIT}, {}),
    "Bernoulli of logits": ("Bernoulli", {"logits": _REAL}, {}),
    "Beta": ("Beta", {"concentration1": _POSITIVE, "concentration0": _POSITIVE}, {}),
    "Binomial": ("Binomial", {"probs": _UNIT}, {"total_count": 7}),
    "Binomial of many": ("Binomial", {"logits": _REAL}, {"total_count": 1000}),
    "Categorical": ("Categorical", {"probs": ("positive", (2, 4))}, {}),
    "Categorical of logits": ("Categorical", {"logits": ("real", (4,))}, {}),
    "Cauchy": ("Cauchy", {"loc": _REAL, "scale": _POSITIVE}, {}),
    "Chi2": ("Chi2", {"df": _POSITIVE}, {}),
    "ContinuousBernoulli": ("ContinuousBernoulli", {"probs": _UNIT}, {}),
    "ContinuousBernoulli of logits": ("ContinuousBernoulli", {"logits": _REAL}, {}),
    "Dirichlet": ("Dirichlet", {"concentration": ("positive", (2, 3))}, {}),
    "Exponential": ("Exponential", {"rate": _POSITIVE}, {}),
    "FisherSnedecor": ("FisherSnedecor", {"df1": _POSITIVE, "df2": _POSITIVE}, {}),
    "Gamma": ("Gamma", {"concentration": _POSITIVE, "rate": _POSITIVE}, {}),
    "GeneralizedPareto": (
        "GeneralizedPareto",
        {"loc": _REAL, "scale": _POSITIVE, "concentration": ("unit", (3,))},
        {},
    ),
    "Geometric": ("Geometric", {"probs": _UNIT}, {}),
    "Geometric of logits": ("Geometric", {"logits": _REAL}, {}),
    "Gumbel": ("Gumbel", {"loc": _REAL, "scale": _POSITIVE}, {}),
    "HalfCauchy": ("HalfCauchy", {"scale": _POSITIVE}, {}),
    "HalfNormal": ("HalfNormal", {"scale": _POSITIVE}, {}),
    "InverseGamma": ("InverseGamma", {"concentration": _POSITIVE, "rate": _POSITIVE}, {}),
    "Kumaraswamy": ("Kumaraswamy", {"concentration1": _POSITIVE, "concentration0": _POSITIVE}, {}),
    "Laplace": ("Laplace", {"loc": _REAL, "scale": _POSITIVE}, {}),
    "LKJCholesky": ("LKJCholesky", {"concentration": ("positive", (2,))}, {"dim": 3}),
    "LogisticNormal": ("LogisticNormal", {"loc": ("real", (2, 3)), "scale": _POSITIVE}, {}),
    "LogNormal": ("LogNormal", {"loc": _REAL, "scale": _POSITIVE}, {}),
    "LowRankMultivariateNormal": (
        "LowRankMultivariateNormal",
        {"loc": ("real", (2, 4)), "cov_factor": ("real", (4, 2)), "cov_diag": ("positive", (4,))},
        {},
    ),
    "Multinomial": ("Multinomial", {"probs": ("positive", (2, 3))}, {"total_count": 5}),
    "MultivariateNormal": (
        "MultivariateNormal",
        {"loc": ("real", (2, 3)), "covariance_matrix": ("matrix", (3, 3))},
        {},
    ),
    "MultivariateNormal of a precision": (
        "MultivariateNormal",
        {"loc": ("real", (3,)), "precision_matrix": ("matrix", (2, 3, 3))},
        {},
    ),
    "MultivariateNormal of a factor": (
        "MultivariateNormal",
        {"loc": ("real", (3,)), "scale_tril": ("factor", (3, 3))},
        {},
    ),
    "NegativeBinomial": ("NegativeBinomial", {"probs": _UNIT}, {"total_count": 4}),
    "NegativeBinomial of logits": ("NegativeBinomial", {"logits": _REAL}, {"total_count": 4}),
    "Normal": ("Normal", {"loc": _REAL, "scale": _POSITIVE}, {}),
    "OneHotCategorical": ("OneHotCategorical", {"probs": ("positive", (2, 3))}, {}),
    "OneHotCategoricalStraightThrough": (
        "OneHotCategoricalStraightThrough",
        {"logits": ("real", (2, 3))},
        {},
    ),
    "Pareto": ("Pareto", {"scale": _POSITIVE, "alpha": _POSITIVE}, {}),
    "Poisson": ("Poisson", {"rate": ("positive", (3,))}, {}),
    "RelaxedBernoulli": ("RelaxedBernoulli", {"temperature": ("positive", ()), "probs": _UNIT}, {}),
    "RelaxedOneHotCategorical": (
        "RelaxedOneHotCategorical",
        {"temperature": ("positive", ()), "logits": ("real", (2, 3))},
        {},
    ),
    "StudentT": ("StudentT", {"df": ("large", (3,)), "loc": _REAL, "scale": _POSITIVE}, {}),
    "Uniform": ("Uniform", {"low": ("unit", (3,)), "high": ("large", (3,))}, {}),
    "VonMises": ("VonMises", {"loc": _REAL, "concentration": _POSITIVE}, {}),
    "Weibull": ("Weibull", {"scale": _POSITIVE, "concentration": _POSITIVE}, {}),
    "Wishart": ("Wishart", {"df": ("large", (2,)), "covariance_matrix": ("matrix", (2, 2))}, {}),
    "Wishart of a factor": ("Wishart", {"df": ("large", ()), "scale_tril": ("factor", (2, 2))}, {}),
}

_DRAW = {
    "positive": lambda rng, shape: rng.uniform(0.5, 3.0, shape),
    "large": lambda rng, shape: rng.uniform(4.5, 8.0, shape),
    "real": lambda rng, shape: rng.normal(size=shape),
    "unit": lambda rng, shape: rng.uniform(0.05, 0.45, shape),
    "matrix": lambda rng, shape: _matrix(rng, shape[-1], shape[:-2]),
    "factor": lambda rng, shape: np.linalg.cholesky(_matrix(rng, shape[-1], shape[:-2])),
}


def parameters(name: str, seed: int = 0) -> dict[str, Any]:
    """The parameters of a case as arrays."""
    rng = np.random.default_rng(seed)
    return {key: _DRAW[kind](rng, shape) for key, (kind, shape) in CASES[name][1].items()}


def made(torch: Any, name: str, values: dict[str, Any], dtype: str = "float64") -> Any:
    """The distribution of a case in a library, and its parameters, which require gradients."""
    kind = getattr(torch, dtype)
    leaves = {k: torch.tensor(v, dtype=kind, requires_grad=True) for k, v in values.items()}
    return getattr(torch.distributions, CASES[name][0])(**leaves, **CASES[name][2]), leaves
