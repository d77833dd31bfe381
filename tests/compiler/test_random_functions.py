"""Test random functions compiled and uncompiled: values, and derivatives inside and outside.

Hypothesis draws a few, of simple lines, and makes small what fails. More, of all that users write,
come from seeds (see `random_programs`), of which the commit draws the first:
``WENGERT_PROGRAMS=10000`` runs that many, in chunks that processes share, from the seed
``WENGERT_SEED`` on. What fails is printed as source.
"""

from __future__ import annotations

import collections
import importlib.util
import os
import warnings
from typing import Any

import numpy as np
import pytest
from random_grammar import LINES
from random_programs import check, draw, smaller, space
from random_runs import FIRST

import wengert as wg

STRICT = {"measure": False}
COUNT = os.environ.get("WENGERT_PROGRAMS")
CHUNK = 20
BACKENDS = ["numpy", "llvm"] if importlib.util.find_spec("llvmlite") else ["numpy"]
CHUNKS = [
    (backend, seed)
    for backend in BACKENDS
    for seed in range(FIRST, FIRST + int(COUNT or (2 * CHUNK if backend == "numpy" else 1)), CHUNK)
]
SHAPES = [(), (3,), (2, 3), (3, 1), (1, 3), (2, 2, 3), (0, 3)]
FORMS = {line: eval(f"lambda a, b: {line}", space()) for line in LINES}


@pytest.mark.parametrize(("backend", "first"), CHUNKS)
def test_random_programs_do_what_they_do_uncompiled(backend: str, first: int) -> None:
    count = CHUNK if COUNT or backend == "numpy" else CHUNK // 4
    found: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + count):
        program = draw(seed)
        verdict = check(program.text, backend)
        found[verdict.what] += 1
        if verdict.what == "disagree":
            least = smaller(program, lambda text: check(text, backend).what == "disagree")
            why = check(least.text, backend).why
            pytest.fail(f"compiled by {backend} {why}\n\n{least.text}\nof\n\n{program.text}")
    # the others run as they are, or are not to be compared
    assert found["agree"] > 0.6 * count or count < CHUNK, found


def test_a_failing_program_is_made_small() -> None:
    seeds = (seed for seed in range(1000) if "softmax" in draw(seed).text)
    program = draw(next(seeds))
    least = smaller(program, lambda text: "softmax" in text)
    assert draw(program.seed) == program
    assert len(least.text) < len(program.text)
    assert sum("softmax" in step.text for step in least.steps) == len(least.steps) == 1


def test_programs_that_differ_are_told_apart() -> None:
    text = """
DTYPE, OUTSIDE = wg.float64, "grad"
def world():
    runs = []
    def f(x0):
        return x0 * (1 + 1e-7 * wg.compiler.is_compiling())
    def calls():
        for seed in range(3):
            yield (Maker(seed)(3),)
    return f, calls, []
"""
    assert check(text, "numpy").what == "disagree"
    assert check(text.replace("1e-7", "1e-14"), "numpy").what == "agree"


def body(steps: Any, *inputs: Any) -> Any:
    """The last value that steps lead to, those left out that the shapes at hand do not allow."""
    values = list(inputs)
    for code, *picks in steps:
        a, b = (values[-1 - pick % min(len(values), 4)] for pick in picks)
        try:
            made = FORMS[code](a, b)
        except (RuntimeError, IndexError, ValueError, TypeError):
            continue
        if made.numel() < 300:
            values.append(made)
    return values[-1]


def inside(steps: Any) -> Any:
    """The value and its gradients, as one function."""

    def function(*inputs: Any) -> Any:
        out = body(steps, *inputs)
        if not out.requires_grad:
            return out
        total = (out * out.detach().cos()).sum()
        return out.detach(), wg.autograd.grad(total, inputs, allow_unused=True)

    return function


def facts(result: Any) -> list[Any]:
    if result is None:
        return [None]
    if isinstance(result, tuple):
        return [fact for part in result for fact in facts(part)]
    return [(result.dtype, result.requires_grad, result.detach().numpy().copy())]


def outcome(function: Any, inputs: Any, outside: bool) -> list[Any]:
    result = function(*inputs)
    found = facts(result)
    if outside and isinstance(result, wg.Tensor) and result.requires_grad:
        weight = result.detach().cos()
        found += facts(wg.autograd.grad((result * weight).sum(), inputs, allow_unused=True))
    return found


def agree(one: list[Any], other: list[Any]) -> None:
    assert len(one) == len(other)
    for ours, theirs in zip(one, other, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert ours[:2] == theirs[:2]
            assert ours[2].shape == theirs[2].shape
            np.testing.assert_allclose(ours[2], theirs[2], 1e-9, 1e-11)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", BACKENDS)
def test_random_functions_compute_what_they_compute_uncompiled(backend: str) -> None:
    hypothesis = pytest.importorskip("hypothesis")
    st = hypothesis.strategies
    step = st.tuples(st.sampled_from(LINES), st.integers(0, 9), st.integers(0, 9))
    reasons: list[Any] = []

    @hypothesis.seed(FIRST)
    @hypothesis.settings(
        max_examples=40 if backend == "numpy" else 6,
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(
        shapes=st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3),
        steps=st.lists(step, min_size=1, max_size=8),
        seed=st.integers(0, 3),
        within=st.booleans(),
    )
    def check_one(shapes: Any, steps: Any, seed: int, within: bool) -> None:
        rng = np.random.default_rng(seed)
        function = inside(steps) if within else lambda *inputs: body(steps, *inputs)
        compiled = wg.compile(function, backend=backend, options=STRICT)
        for _ in range(3):
            arrays = [rng.standard_normal(shape) for shape in shapes]
            inputs = [wg.tensor(a, requires_grad=True) for a in arrays]
            expected = outcome(function, inputs, not within)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = outcome(compiled, inputs, not within)
            agree(found, expected)
        reasons.append(compiled.reason)

    check_one()
    # some raise on the way what reads values for its message
    assert sum(reason is None for reason in reasons) > 0.8 * len(reasons)
