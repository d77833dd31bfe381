"""Layer 9 · compat: the distributions of several variables as formulas, for boxes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as _np

import wengert.compat.autograd.numpy as np
from wengert.compat.autograd.boxes import carries, isbox, plain
from wengert.compat.autograd.scipy import special
from wengert.compat.autograd.words import refusal

__all__ = ["FORMULAS"]

Formula = Callable[..., Any]


def _exp(logarithm: Formula) -> Formula:
    def density(*args, **kwargs) -> Any:
        return np.exp(logarithm(*args, **kwargs))

    return density


def _of_logpdf(logpdf: Formula) -> dict[str, Formula]:
    return {"logpdf": logpdf, "pdf": _exp(logpdf)}


def _dirichlet_logpdf(x, alpha) -> Any:
    norm = np.sum(special.gammaln(alpha)) - special.gammaln(np.sum(alpha))
    if np.shape(x)[0] + 1 == np.shape(alpha)[0]:
        x = np.concatenate([x, 1.0 - np.sum(x, axis=0, keepdims=True)])
    powers = np.transpose(special.xlogy(alpha - 1.0, np.transpose(x)))
    return np.sum(powers, axis=0) - norm


def _points(x, mean, cov) -> tuple[Any, Any, int]:
    """Return deviations from the mean, the covariance as a matrix, and the dimension."""
    ndims = (np.ndim(x), 0 if mean is None else np.ndim(mean))
    if np.ndim(cov):
        dim = np.shape(cov)[0]
    elif mean is not None and ndims[1]:
        dim = np.shape(mean)[0]
    else:
        dim = np.shape(x)[-1] if ndims[0] > 1 else 1
    if np.ndim(cov) == 0:
        cov = cov * _np.eye(dim)
    elif np.ndim(cov) == 1:
        cov = np.diag(cov)
    if dim == 1 and ndims[0] == 1:
        x = np.reshape(x, (-1, 1))
    elif ndims[0] == 0:
        x = np.reshape(x, (1,))
    return (x if mean is None else x - mean), cov, dim


def _normal_logpdf(x, mean=None, cov=1.0, allow_singular: bool = False) -> Any:
    away, cov, dim = _points(x, mean, cov)
    if allow_singular:
        return _singular(away, cov)
    solved = np.transpose(np.linalg.solve(cov, np.transpose(away)))
    squares = np.sum(away * solved, axis=-1)
    return -0.5 * (dim * _np.log(2 * _np.pi) + np.linalg.slogdet(cov)[1] + squares)


def _singular(away, cov) -> Any:
    if isbox(cov) and carries(cov):
        raise refusal(NotImplementedError, "The multivariate normal")
    values, vectors = _np.linalg.eigh(plain(cov))
    least = 1e6 * _np.finfo(values.dtype).eps * _np.max(_np.abs(values))
    kept = values > least
    roots = vectors[:, kept] / _np.sqrt(values[kept])
    # outside of the support the density is 0, and the slope is the formula's, as in HIPS autograd
    beside = _np.linalg.norm(_np.dot(plain(away), vectors[:, ~kept]), axis=-1) >= 1e3 * least
    squares = np.sum(np.dot(away, roots) ** 2, axis=-1)
    constant = kept.sum() * _np.log(2 * _np.pi) + _np.sum(_np.log(values[kept]))
    return -0.5 * (constant + squares) + _np.where(beside, -_np.inf, 0.0)


def _normal_entropy(mean=None, cov=1.0) -> Any:
    _, cov, dim = _points(0.0 if mean is None else mean, None, cov)
    return 0.5 * (dim * (_np.log(2 * _np.pi) + 1.0) + np.linalg.slogdet(cov)[1])


FORMULAS: dict[str, dict[str, Formula]] = {
    "dirichlet": _of_logpdf(_dirichlet_logpdf),
    "multivariate_normal": {**_of_logpdf(_normal_logpdf), "entropy": _normal_entropy},
}
"""The differentiable functions of each distribution, by SciPy's names."""
