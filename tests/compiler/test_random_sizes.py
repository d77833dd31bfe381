"""Test random expressions of the grammar compiled and uncompiled, at sizes that vary.

The commit draws some; ``WENGERT_PROGRAMS=2000`` runs that many, from the seed ``WENGERT_SEED`` on.
"""

from __future__ import annotations

import collections
import importlib.util
import os
import random

import pytest
from random_grammar import LINES, STEPS
from random_runs import FIRST, check

BACKENDS = ["numpy", "llvm"] if importlib.util.find_spec("llvmlite") else ["numpy"]
COUNT = int(os.environ.get("WENGERT_PROGRAMS", "0"))
LEFT_OUT = ("prints", "decisions", "random numbers", "errors", "modules", "containers")
EXPRESSIONS = [
    line
    for name, lines in {"lines": LINES, **STEPS}.items()
    if name not in LEFT_OUT
    for line in lines
    if "\n" not in line and "{" not in line and "out" not in line
]
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 31, 33)


def drawn(seed: int) -> str:
    """Source of a program: one or two expressions, called with matrices of several sizes."""
    rng = random.Random(seed)
    lines = rng.sample(EXPRESSIONS, rng.choice((1, 1, 2)))
    width = rng.choice(SIZES[:10])
    shapes = [(rng.choice(SIZES), width) for _ in range(6)]
    if rng.random() < 0.4:
        shapes = [(n, rng.choice(SIZES[:4])) for n, _ in shapes]
    dtype = rng.choice(["np.float64", "np.float64", "np.float32"])
    return (
        f"DTYPE, OUTSIDE, AFTER = wg.float64, {rng.choice(['none', 'grad'])!r}, 'none'\n"
        f"def world():\n    def f(a, b, i, j, m, z, s):\n        return [{', '.join(lines)}]\n"
        f"    def calls():\n        for turn, (n, k) in enumerate({shapes}):\n"
        f"            make = Maker(turn)\n            a, b = [make(n, k, dtype={dtype}), "
        f"make(k, n, dtype={dtype}).T][turn % 4 == 3], make(n, k, dtype={dtype})\n"
        "            m, z = make.truth(n, k), make.complex(n, k)\n"
        "            yield a, b, make.whole(n), make.whole(n), m, z, 1.5\n"
        "    return f, calls, []\n"
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_random_expressions_at_many_sizes_are_as_uncompiled(backend: str) -> None:
    found: collections.Counter[str] = collections.Counter()
    for seed in range(FIRST, FIRST + (COUNT or 25)):
        text = drawn(seed)
        verdict = check(text, backend)
        found[verdict.what] += 1
        assert verdict.what != "disagree", f"seed {seed}: {verdict.why}\n{text}"
    assert found["agree"] > 0.4 * found.total(), found


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("line", ["a @ a.mT", "F.max_pool2d(a[None, None], 2, padding=1)"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_forms_of_native_code_at_many_sizes(line: str, backend: str, turned: bool) -> None:
    # numbers that vary were not passed to the function that read them
    for width in (1, 7, 12, 33):
        shapes = [(n, width)[:: -1 if turned else 1] for n in (8, 12, 3, 16, 31)]
        text = (
            "DTYPE, OUTSIDE = wg.float64, 'grad'\ndef world():\n    def calls():\n"
            f"        for turn, shape in enumerate({shapes}):\n"
            f"            yield (Maker(turn)(*shape),)\n    return lambda a: {line}, calls, []\n"
        )
        verdict = check(text, backend)
        assert verdict.what == "agree", verdict.why
