"""Layer 9 · distributions: the Kullback-Leibler divergence, by pairs of classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import wengert as wg
from wengert.base.patches import PATCHES, is_own
from wengert.distributions.composed import Independent, TransformedDistribution
from wengert.distributions.discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    ContinuousBernoulli,
    Geometric,
    OneHotCategorical,
    Poisson,
)
from wengert.distributions.distribution import ExponentialFamily
from wengert.distributions.gammas import Beta, Dirichlet, Exponential, Gamma
from wengert.distributions.location import Cauchy, Gumbel, HalfNormal, Laplace, Normal, Uniform
from wengert.distributions.multivariate import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    log_diagonal,
)
from wengert.distributions.number_transforms import sum_rightmost
from wengert.distributions.powers import Pareto
from wengert.distributions.utils import euler_constant
from wengert.tape.modes import untraced
from wengert.tape.sites import warn

__all__ = ["kl_divergence", "register_kl"]

Rule = Callable[[Any, Any], Any]
_KL_REGISTRY: dict[tuple[type, type], Rule] = {}
_FOUND: dict[tuple[type, type], Rule | None] = {}
_p: Any
_q: Any


def register_kl(type_p: type, type_q: type) -> Callable[[Rule], Rule]:
    """Register a function for the divergence of two classes of distributions; a decorator.

    Parameters
    ----------
    type_p, type_q : type. Classes of distributions; the function also applies to subclasses without
        a nearer one.

    Raises
    ------
    TypeError: If these are not classes of distributions.

    Examples
    --------
    >>> D = wg.distributions
    >>> class Point(D.Normal): ...
    >>> @D.register_kl(Point, D.Normal)
    ... def divergence(p, q):
    ...     return -q.log_prob(p.loc)
    >>> D.kl_divergence(Point(0.0, 1.0), D.Normal(0.0, 1.0))
    tensor(0.9189)
    """
    given: tuple[tuple[Any, str], ...] = ((type_p, "type_p"), (type_q, "type_q"))
    for kind, which in given:
        # other packages' distributions need not be subclasses of ours
        if not isinstance(kind, type):
            raise TypeError(f"Expected {which} to be a Distribution subclass but got {kind}")

    def register(rule: Rule) -> Rule:
        _KL_REGISTRY[type_p, type_q] = rule
        PATCHES.registered(rule)
        _FOUND.clear()
        return rule

    return register


def _rule_for(type_p: type, type_q: type) -> Rule | None:
    """Return the nearest rule by the first class or by the second; warn if they differ."""
    known = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not known:
        return None

    def near(kinds: tuple[type, type]) -> tuple[int, int]:
        return type_p.__mro__.index(kinds[0]), type_q.__mro__.index(kinds[1])

    left = min(known, key=near)
    right = min(known, key=lambda kinds: near(kinds)[::-1])
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        given = f"{type_p.__name__}, {type_q.__name__}"
        nearest = f"{left[0].__name__}, {right[1].__name__}"
        warn(
            f"Ambiguous kl_divergence({given}). Please register_kl({nearest})",
            RuntimeWarning,
        )
    return _KL_REGISTRY[left]


def kl_divergence(p: Any, q: Any) -> Any:
    """Compute the Kullback-Leibler divergence of `p` from `q`, the mean under `p` of ln(p / q).

    Parameters
    ----------
    p, q : Distribution. Their batches broadcast.

    Returns
    -------
    Tensor: Of the batch's shape; differentiable with respect to the parameters.

    Raises
    ------
    NotImplementedError: If no formula is registered for these classes.

    Examples
    --------
    >>> p, q = wg.distributions.Normal(0.0, 1.0), wg.distributions.Normal(1.3, 1.0)
    >>> wg.distributions.kl_divergence(p, q)
    tensor(0.8450)
    """
    kinds = (type(p), type(q))
    if kinds not in _FOUND:
        _FOUND[kinds] = _rule_for(*kinds)
    rule = _FOUND[kinds]
    if rule is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {kinds[0].__name__} and q type "
            f"{kinds[1].__name__}"
        )
    if not is_own(rule):
        untraced("a rule of kl_divergence() that a user registered")
    return rule(p, q)


# -- distributions of one kind ---------------------------------------------------------------------


def _xlogx(x: Any) -> Any:
    return wg.special.xlogy(x, x)


@register_kl(Bernoulli, Bernoulli)
def _of_bits(p: Any, q: Any) -> Any:
    softplus = wg.nn.functional.softplus
    ones = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    ones = wg.where(q.probs == 0, math.inf, ones)
    ones = wg.where(p.probs == 0, 0.0, ones)
    zeros = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    zeros = wg.where(q.probs == 1, math.inf, zeros)
    return ones + wg.where(p.probs == 1, 0.0, zeros)


@register_kl(Binomial, Binomial)
def _of_binomials(p: Any, q: Any) -> Any:
    found = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p())
    found = found - p.total_count * (-q.probs).log1p()
    # more trials reach values that the other cannot; for fewer there is no formula
    if not bool((p.total_count >= q.total_count).all()):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    return wg.where(p.total_count > q.total_count, math.inf, found)


@register_kl(Categorical, Categorical)
def _of_categories(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms = wg.where((q.probs == 0).expand_as(terms), math.inf, terms)
    return wg.where((p.probs == 0).expand_as(terms), 0.0, terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _of_one_hot(p: Any, q: Any) -> Any:
    return _of_categories(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _of_continuous_bits(p: Any, q: Any) -> Any:
    found = p.mean * (p.logits - q.logits) + p._log_constant() + wg.log1p(-p.probs)
    return found - q._log_constant() - wg.log1p(-q.probs)


@register_kl(Poisson, Poisson)
def _of_poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Geometric, Geometric)
def _of_geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - wg.log1p(-q.probs) / p.probs - q.logits


@register_kl(Beta, Beta)
def _of_beta(p: Any, q: Any) -> Any:
    return _of_dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Dirichlet, Dirichlet)
def _of_dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    found = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return found + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _of_exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gamma, Gamma)
def _of_gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    found = b * (p.rate / q.rate).log() + wg.lgamma(b) - wg.lgamma(a)
    return found + (a - b) * wg.digamma(a) + (q.rate - p.rate) * (a / p.rate)


@register_kl(Gumbel, Gumbel)
def _of_gumbel(p: Any, q: Any) -> Any:
    ratio, p_loc, q_loc = p.scale / q.scale, p.loc / q.scale, q.loc / q.scale
    away = q_loc - p_loc
    found = -ratio.log() - away + ratio * euler_constant
    return found + wg.exp(away + (1 + ratio).lgamma()) - (1 + euler_constant)


@register_kl(Normal, Normal)
def _of_normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _of_half_normal(p: Any, q: Any) -> Any:
    return _of_normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _of_laplace(p: Any, q: Any) -> Any:
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * wg.exp(-away / p.scale) - 1


@register_kl(Cauchy, Cauchy)
def _of_cauchy(p: Any, q: Any) -> Any:
    squares = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return squares.log() - (4 * p.scale * q.scale).log()


@register_kl(Pareto, Pareto)
def _of_pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return wg.where(p.support.lower_bound < q.support.lower_bound, math.inf, found)


@register_kl(Uniform, Uniform)
def _of_uniform(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return wg.where((q.low > p.low) | (q.high < p.high), math.inf, found)


# -- normal vectors --------------------------------------------------------------------------------


def _factor(d: Any) -> Any:
    """Return a matrix F with covariance F Fᵀ."""
    if isinstance(d, MultivariateNormal):
        return d._unbroadcasted_scale_tril
    root = d._unbroadcasted_cov_diag.sqrt().diag_embed()
    factor = d._unbroadcasted_cov_factor
    batch = wg.broadcast_shapes(tuple(root.shape[:-2]), tuple(factor.shape[:-2]))
    parts = [part.expand((*batch, *part.shape[-2:])) for part in (factor, root)]
    return wg.cat(parts, dim=-1)


def _log_determinant(d: Any) -> Any:
    if isinstance(d, MultivariateNormal):
        return 2 * log_diagonal(d._unbroadcasted_scale_tril)
    return d._log_determinant()


def _squares(d: Any, matrices: Any) -> Any:
    """Return the trace of Fᵀ Σ⁻¹ F, with the covariance Σ of `d`."""
    if isinstance(d, MultivariateNormal):
        factor, other, diagonal = d._unbroadcasted_scale_tril, matrices, None
    else:
        diagonal = d._unbroadcasted_cov_diag.unsqueeze(-1)
        factor = d._capacitance_tril
        other = (d._unbroadcasted_cov_factor / diagonal).mT @ matrices
    solved = wg.linalg.solve_triangular(factor, other, upper=False).pow(2).sum((-2, -1))
    return solved if diagonal is None else (matrices.pow(2) / diagonal).sum((-2, -1)) - solved


def _of_vectors(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between {type(p).__name__} and {type(q).__name__} with different event "
            "shapes cannot be computed"
        )
    found = _log_determinant(q) - _log_determinant(p) + _squares(q, _factor(p))
    return 0.5 * (found + _squares(q, (q.loc - p.loc).unsqueeze(-1)) - p.event_shape[0])


for _p in (MultivariateNormal, LowRankMultivariateNormal):
    for _q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_p, _q)(_of_vectors)


# -- families --------------------------------------------------------------------------------------


@register_kl(ExponentialFamily, ExponentialFamily)
def _of_family(p: Any, q: Any) -> Any:
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed "
            "using Bregman divergences"
        )
    natural, normalizer, slopes = p._at_natural()
    found = q._log_normalizer(*q._natural_params) - normalizer
    for of_p, of_q, slope in zip(natural, q._natural_params, slopes, strict=True):
        # each of several parameters has its own dimensions
        found = found - sum_rightmost((of_q - of_p) * slope, of_p.dim() - len(p.batch_shape))
    return found


@register_kl(TransformedDistribution, TransformedDistribution)
def _of_transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("the transforms differ")
    extra = len(p.event_shape) - len(p.base_dist.event_shape)
    found = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(found, extra) if extra > 0 else found


@register_kl(Independent, Independent)
def _of_independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("the numbers of event dimensions differ")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# -- distributions of two kinds --------------------------------------------------------------------


def _reaches_beyond(p: Any, q: Any) -> Any:
    """Return infinity: samples of `p` may lie where `q` has no density."""
    return wg.full_like(p.mean, math.inf)


_BOUNDED = (Beta, ContinuousBernoulli)
_POSITIVE = (Exponential, Gamma)
for _p, _wider in (
    *((kind, (Pareto,)) for kind in _BOUNDED),
    *((kind, (Uniform, Pareto, *_BOUNDED)) for kind in _POSITIVE),
    *((kind, (Uniform, Pareto, *_BOUNDED, *_POSITIVE)) for kind in (Gumbel, Laplace, Normal)),
    (Pareto, (Uniform, *_BOUNDED)),
    (Poisson, (Bernoulli, Binomial)),
):
    for _q in _wider:
        register_kl(_p, _q)(_reaches_beyond)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p: Any, q: Any) -> Any:
    return -p.entropy() - p.mean * q.logits - wg.log1p(-q.probs) - q._log_constant()


def _finite(found: Any) -> Any:
    """Return infinity without a gradient where moments of `p` are infinite."""
    return wg.where(found.detach() < math.inf, found, math.inf)


def _to_exponential(p: Any, q: Any) -> Any:
    return _finite(-p.entropy() - q.rate.log() + q.rate * p.mean)


def _to_normal(p: Any, q: Any) -> Any:
    spread = (p.variance + (p.mean - q.loc).pow(2)) / q.scale.pow(2)
    return _finite(-p.entropy() + 0.5 * (2 * math.pi * q.scale.pow(2)).log() + 0.5 * spread)


def _to_gamma(p: Any, q: Any, mean_of_log: Any) -> Any:
    found = q.concentration.lgamma() - q.concentration * q.rate.log() - p.entropy()
    return _finite(found - (q.concentration - 1) * mean_of_log + q.rate * p.mean)


for _p in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform):
    register_kl(_p, Normal)(_to_normal)
for _p in (Beta, ContinuousBernoulli, Gamma, Pareto, Uniform):
    register_kl(_p, Exponential)(_to_exponential)


@register_kl(Beta, Gamma)
def _beta_gamma(p: Any, q: Any) -> Any:
    total = (p.concentration1 + p.concentration0).digamma()
    return _to_gamma(p, q, p.concentration1.digamma() - total)


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    return _to_gamma(p, q, -p.rate.log() - euler_constant)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Any, q: Any) -> Any:
    return _to_gamma(p, q, p.scale.log() + p.alpha.reciprocal())


def _within(found: Any, inside: Any) -> Any:
    return wg.where(inside, found, math.inf)


def _mean_of_log(p: Any) -> Any:
    """Return the mean of ln x under a uniform distribution of positive numbers."""
    width = p.high - p.low
    return (_xlogx(p.high) - _xlogx(p.low) - width) / width


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Any:
    return _within(_to_gamma(p, q, _mean_of_log(p)), p.low >= q.support.lower_bound)


for _p in (Beta, ContinuousBernoulli):

    @register_kl(_p, Uniform)
    def _bounded_uniform(p: Any, q: Any) -> Any:
        found = -p.entropy() + (q.high - q.low).log()
        lower, upper = p.support.lower_bound, p.support.upper_bound
        return _within(found, (q.low <= lower) & (q.high >= upper))


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Any:
    return _within(_to_exponential(p, q), p.low >= q.support.lower_bound)


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    width, a, b = p.high - p.low, q.concentration1, q.concentration0
    constant = a.lgamma() + b.lgamma() - (a + b).lgamma()
    # the means of ln x and of ln(1 - x)
    of_log = _mean_of_log(p)
    of_rest = (_xlogx(1 - p.low) - _xlogx(1 - p.high) - width) / width
    found = constant - width.log() - (a - 1) * of_log - (b - 1) * of_rest
    return _within(found, (p.high <= q.support.upper_bound) & (p.low >= q.support.lower_bound))


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Any, q: Any) -> Any:
    found = -p.entropy() - p.mean * q.logits - wg.log1p(-q.probs) - q._log_constant()
    return _within(found, (p.high < q.support.upper_bound) & (p.low >= q.support.lower_bound))


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Any:
    found = (q.alpha + 1) * _mean_of_log(p) - p.entropy()
    found = found - (q.alpha * q.scale.pow(q.alpha)).log()
    return _within(found, p.low >= q.support.lower_bound)


def _to_gumbel(p: Any, q: Any, mean: Any, mean_of_exp: Any) -> Any:
    """Return the divergence from `q`, given the means of x / scale and of exp(-x / scale)."""
    loc = q.loc / q.scale
    return -p.entropy() + q.scale.log() + mean - loc + wg.exp(loc) * mean_of_exp


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Any, q: Any) -> Any:
    rate = p.rate * q.scale
    return _to_gumbel(p, q, 1 / rate, rate / (rate + 1))


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Any, q: Any) -> Any:
    rate = p.rate * q.scale
    return _to_gumbel(p, q, p.concentration / rate, (1 + 1 / rate).pow(-p.concentration))


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Any, q: Any) -> Any:
    mean, ratio = p.loc / q.scale, (p.scale / q.scale).pow(2)
    return _to_gumbel(p, q, mean, wg.exp(-mean + 0.5 * ratio))


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Any, q: Any) -> Any:
    low, high = p.low / q.scale, p.high / q.scale
    return _to_gumbel(p, q, 0.5 * (low + high), (wg.exp(-low) - wg.exp(-high)) / (high - low))


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    away = p.loc - q.loc
    scaled = away / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * wg.exp(-0.5 * scaled.pow(2))
    distance = distance + away * wg.erf(math.sqrt(0.5) * scaled)
    return -p.entropy() + (2 * q.scale).log() + distance / q.scale
