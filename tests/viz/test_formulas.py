"""Test that each formula in a picture has the value beside it."""

import re

import numpy as np
import pytest

import wengert as wg
from support.samples import differentiable_args, samples, supports
from wengert.interp.eager import K
from wengert.prims.whole import TABLE
from wengert.tape.record import T
from wengert.viz import dependency_graph

DIAGONAL = [p for p in TABLE.values() if p.family == "elementwise" and p.is_differentiable]
CASES = [
    pytest.param(prim, dtype, id=f"{prim.name}-{dtype}")
    for prim in DIAGONAL
    for dtype in ("float64", "complex128")
    # it is of vectors
    if supports(prim, dtype) and prim.name != "grid_position"
]


class Kernels:
    def __getattr__(self, name):
        return lambda *args, **params: getattr(K, name)(*map(number, args), **params)


def number(value):
    made = np.asarray(value)[()]
    return made if made.dtype.kind in "bc" else np.float64(made)


def value(text):
    return complex(text.replace(" ", ""))


def elements(prim, dtype):
    """One element of the arguments, for each choice of parameters."""
    known = set()
    for sample in samples(prim, np.dtype(dtype), np.random.default_rng(0)):
        if repr(sample.params) not in known and all(array.size for array in sample.arrays):
            known.add(repr(sample.params))
            yield sample, [np.asarray(array).flat[-1].item() for array in sample.arrays]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("prim", "dtype"), CASES)
def test_a_formula_has_the_value_beside_it(prim, dtype):
    real = dtype == "float64"
    for sample, numbers in elements(prim, dtype):
        traced = differentiable_args(prim, sample.arrays)
        constants = {i: wg.tensor(n) for i, n in enumerate(numbers) if i not in traced}

        def function(*given, sample=sample, constants=constants):
            rest = iter(given)
            args = [constants.get(i, None) for i in range(len(sample.arrays))]
            args = [next(rest) if arg is None else arg for arg in args]
            return getattr(T, prim.name)(*args, **sample.params)

        given = [wg.tensor(numbers[i], dtype=getattr(wg, dtype)) for i in traced]
        with np.errstate(all="ignore"):
            made = dependency_graph(function, *given).picture
        values = {box.title.split(" = ")[0]: value(box.details["value"]) for box in made.boxes}
        # given[0] is a name that a picture makes
        scope = {re.sub(r"\W", "_", name): v.real if real else v for name, v in values.items()}
        for arrow in made.arrows:
            formula, equals, shown = arrow.label.rpartition(" = ")
            if equals:
                for name in values:
                    formula = formula.replace(name, re.sub(r"\W", "_", name))
                text = re.sub(r"([A-Za-z_]\w*)\(", r"F.\1(", formula)
                constant = {"F": Kernels(), "pi": np.pi, "inf": np.inf, "nan": np.nan}
                with np.errstate(all="ignore"):
                    found = eval(text, constant | {k: number(v) for k, v in scope.items()})
                # what is shown has five digits, and so have the values that the formula is of
                np.testing.assert_allclose(found, value(shown), rtol=2e-3, atol=2e-3)
