"""What `wengert.compat.jax.random` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from typing import Any

from wengert.compat.jax.keys import PRNGKey as PRNGKey
from wengert.compat.jax.distributions import ball as ball
from wengert.compat.jax.sampling import bernoulli as bernoulli
from wengert.compat.jax.distributions import beta as beta
from wengert.compat.jax.distributions import binomial as binomial
from wengert.compat.jax.sampling import bits as bits
from wengert.compat.jax.distributions import categorical as categorical
from wengert.compat.jax.sampling import cauchy as cauchy
from wengert.compat.jax.distributions import chisquare as chisquare
from wengert.compat.jax.distributions import choice as choice
from wengert.compat.jax.keys import clone as clone
from wengert.compat.jax.distributions import dirichlet as dirichlet
from wengert.compat.jax.distributions import double_sided_maxwell as double_sided_maxwell
from wengert.compat.jax.sampling import exponential as exponential
from wengert.compat.jax.distributions import f as f
from wengert.compat.jax.keys import fold_in as fold_in
from wengert.compat.jax.distributions import gamma as gamma
from wengert.compat.jax.distributions import generalized_normal as generalized_normal
from wengert.compat.jax.distributions import geometric as geometric
from wengert.compat.jax.sampling import gumbel as gumbel
from wengert.compat.jax.keys import key as key
from wengert.compat.jax.keys import key_data as key_data
from wengert.compat.jax.keys import key_dtype as key_dtype
from wengert.compat.jax.keys import key_impl as key_impl
from wengert.compat.jax.sampling import laplace as laplace
from wengert.compat.jax.distributions import loggamma as loggamma
from wengert.compat.jax.sampling import logistic as logistic
from wengert.compat.jax.distributions import lognormal as lognormal
from wengert.compat.jax.distributions import maxwell as maxwell
from wengert.compat.jax.distributions import multinomial as multinomial
from wengert.compat.jax.sampling import multivariate_normal as multivariate_normal
from wengert.compat.jax.sampling import normal as normal
from wengert.compat.jax.sampling import orthogonal as orthogonal
from wengert.compat.jax.distributions import pareto as pareto
from wengert.compat.jax.distributions import permutation as permutation
from wengert.compat.jax.distributions import poisson as poisson
from wengert.compat.jax.sampling import rademacher as rademacher
from wengert.compat.jax.sampling import randint as randint
from wengert.compat.jax.distributions import rayleigh as rayleigh
from wengert.compat.jax.keys import split as split
from wengert.compat.jax.distributions import t as t
from wengert.compat.jax.distributions import triangular as triangular
from wengert.compat.jax.sampling import truncated_normal as truncated_normal
from wengert.compat.jax.sampling import uniform as uniform
from wengert.compat.jax.distributions import wald as wald
from wengert.compat.jax.distributions import weibull_min as weibull_min
from wengert.compat.jax.keys import wrap_key_data as wrap_key_data
