"""Test that compiled GradBench evaluations give the results of eager ones."""

from importlib import import_module

import numpy as np
import pytest
from benchmarks.gradbench import inputs

import wengert as wg

SIZES = {
    "hello": (),
    "gmm": (3, 4, 20),
    "ba": (2, 3, 5),
    "ht": (40, 6, True),
    "lstm": (2, 8),
    "kmeans": (4, 50, 3),
    "ode": (6, 4),
    "llsq": (16, 5),
    "lse": (30,),
    "det": (5,),
    "network": (4, 5, 3, 2),
    "rosenbrock": (7,),
    "nbody": (4,),
}
LOOPS = {"particle": (), "saddle": ()}
"""Those that run until a value says so, hundreds of times."""


def flat(value):
    if isinstance(value, tuple | list):
        return np.concatenate([flat(part) for part in value])
    return value.numpy().ravel()


def agree(name, phase, size):
    package = "further" if name in ("network", "rosenbrock", "nbody") else "evals"
    module = import_module(f"benchmarks.gradbench.{package}.{name}")
    args = module.arguments(getattr(inputs, name)(*size))
    function = getattr(module, phase)
    expected = flat(function(*args))
    compiled = wg.compile(function)
    # the first calls trace and try out what later ones run
    for _ in range(4):
        found = flat(compiled(*args))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("phase", ["objective", "gradient"])
@pytest.mark.parametrize("name", SIZES)
def test_a_compiled_eval_computes_what_it_computes_eagerly(name, phase):
    agree(name, phase, SIZES[name])


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["objective", "gradient"])
@pytest.mark.parametrize("name", LOOPS)
def test_a_compiled_eval_whose_loops_end_by_values_computes_the_same(name, phase):
    agree(name, phase, LOOPS[name])
