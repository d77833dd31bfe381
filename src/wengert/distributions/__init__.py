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


class _Module(ModuleType):
    """A module under PyTorch's name, whose contents are imported on first use."""

    def __init__(self, name: str, file: str, names: str) -> None:
        super().__init__(f"{__package__}.{name}", f"The distribution of `{name}`.")
        self.__all__ = names.split()
        self.__file = file

    def __getattr__(self, name: str) -> Any:
        if name in self.__all__:
            return self.__dict__.setdefault(name, getattr(_file(self.__file), name))
        return elsewhere(self.__name__)(name)


for _name, (_home, _names) in _MODULES.items():
    _made = globals()[_name] = _Module(_name, _home, _names)
    sys.modules[_made.__name__] = _made

# all of them at once: programs look into the package's `__dict__`
for _name in _FILES:
    _file(_name)
for _name in __all__:
    globals()[_name] = getattr(_file(_WHERE[_name]), _name)


def __getattr__(name: str) -> Any:
    # files imported before the package are not its attributes
    if name in _FILES or name in _WHERE.values():
        return _file(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
