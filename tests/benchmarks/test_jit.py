"""Test that the jitted benchmark functions agree with uncompiled ones and with JAX."""

import sys
from pathlib import Path

import numpy as np
import pytest

from wengert.compat import jax as ours

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import jit


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", jit.CASES)
def test_a_compiled_call_gives_what_the_function_gives(name):
    with ours.disable_jit():
        wanted = jit.leaves(ours, jit.jitted(ours, name)())
    call = jit.jitted(ours, name)
    for _ in range(3):
        found = jit.leaves(ours, call())
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", jit.CASES)
def test_jax_gives_the_same(name):
    pytest.importorskip("jax")
    assert jit.contestants(name, "jax").keys() == {"wengert", "jax"}
