"""Layer 9 · distributions: probability distributions, under the names of `torch.distributions`.

Modules with PyTorch's names (``distributions.normal.Normal``) are created when this one is
imported; the classes are in fewer files.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows

# the modules of PyTorch's names, each with its file here and its public names
_MODULES = {
    "bernoulli": ("discrete", "Bernoulli"),
    "beta": ("gammas", "Beta"),
    "binomial": ("discrete", "Binomial"),
    "categorical": ("discrete", "Categorical"),
    "cauchy": ("location", "Cauchy"),
    "chi2": ("gammas", "Chi2"),
    "continuous_bernoulli": ("discrete", "ContinuousBernoulli"),
    "dirichlet": ("gammas", "Dirichlet"),
    "exp_family": ("distribution", "ExponentialFamily"),
    "exponential": ("gammas", "Exponential"),
    "fishersnedecor": ("gammas", "FisherSnedecor"),
    "gamma": ("gammas", "Gamma"),
    "generalized_pareto": ("powers", "GeneralizedPareto"),
    "geometric": ("discrete", "Geometric"),
    "gumbel": ("location", "Gumbel"),
    "half_cauchy": ("location", "HalfCauchy"),
    "half_normal": ("location", "HalfNormal"),
    "independent": ("composed", "Independent"),
    "inverse_gamma": ("powers", "InverseGamma"),
    "kumaraswamy": ("powers", "Kumaraswamy"),
    "laplace": ("location", "Laplace"),
    "lkj_cholesky": ("multivariate", "LKJCholesky"),
    "log_normal": ("location", "LogNormal"),
    "logistic_normal": ("multivariate", "LogisticNormal"),
    "lowrank_multivariate_normal": ("multivariate", "LowRankMultivariateNormal"),
    "mixture_same_family": ("mixture", "MixtureSameFamily"),
    "multinomial": ("discrete", "Multinomial"),
    "multivariate_normal": ("multivariate", "MultivariateNormal"),
    "negative_binomial": ("discrete", "NegativeBinomial"),
    "normal": ("location", "Normal"),
    "one_hot_categorical": ("discrete", "OneHotCategorical OneHotCategoricalStraightThrough"),
    "pareto": ("powers", "Pareto"),
    "poisson": ("discrete", "Poisson"),
    "relaxed_bernoulli": ("relaxed", "LogitRelaxedBernoulli RelaxedBernoulli"),
    "relaxed_categorical": ("relaxed", "ExpRelaxedCategorical RelaxedOneHotCategorical"),
    "studentT": ("location", "StudentT"),
    "transformed_distribution": ("composed", "TransformedDistribution"),
    "uniform": ("location", "Uniform"),
    "von_mises": ("location", "VonMises"),
    "weibull": ("powers", "Weibull"),
    "wishart": ("multivariate", "Wishart"),
}
# modules that are files here, with the names that are also public in the package
_FILES = {
    "constraint_registry": "biject_to transform_to",
    "constraints": "",
    "distribution": "Distribution",
    "kl": "kl_divergence register_kl",
    "transforms": (
        "AbsTransform AffineTransform ComposeTransform CumulativeDistributionTransform "
        "ExpTransform IndependentTransform PowerTransform SigmoidTransform SoftplusTransform "
        "TanhTransform Transform identity_transform CatTransform CorrCholeskyTransform "
        "LowerCholeskyTransform PositiveDefiniteTransform ReshapeTransform SoftmaxTransform "
        "StackTransform StickBreakingTransform"
    ),
    "utils": "",
}
_INNER = {"LogitRelaxedBernoulli", "ExpRelaxedCategorical"}
_WHERE = {
    **{name: file for file, names in _MODULES.values() for name in names.split()},
    **{name: file for file, names in _FILES.items() for name in names.split()},
}
__all__ = sorted(_WHERE.keys() - _INNER)
__dir__ = shows([*__all__, *_MODULES, *_FILES])


def _file(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")


# all of them at once: programs look into the package's `__dict__`
for _name in _FILES:
    _file(_name)
for _name in __all__:
    globals()[_name] = getattr(_file(_WHERE[_name]), _name)
for _name, (_home, _names) in _MODULES.items():
    _made = globals()[_name] = ModuleType(f"{__name__}.{_name}", f"The distribution of `{_name}`.")
    _made.__all__, _made.__getattr__ = _names.split(), elsewhere(_made.__name__)  # type: ignore[attr-defined, method-assign]
    vars(_made).update({name: getattr(_file(_home), name) for name in _names.split()})
    sys.modules[_made.__name__] = _made


def __getattr__(name: str) -> Any:
    # files imported before the package are not its attributes
    if name in _FILES or name in _WHERE.values():
        return _file(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
