"""Test that native code draws the numbers of Python loops (NOTE [native draws])."""

from collections import Counter

import numpy as np
import pytest

import wengert as wg
from wengert.base.ports import PORTS
from wengert.compiler.runtime import drawing
from wengert.kernels import random, samplers

pytest.importorskip("llvmlite")

N = samplers._NATIVE


def parameters(dtype):
    rng = np.random.default_rng(0)
    mixed = rng.uniform(0.05, 20, N).astype(dtype)
    prob = rng.uniform(0, 1, N).astype(dtype)
    counts = np.floor(rng.uniform(0, 90, N)).astype(dtype)
    prob[:4], counts[2:6] = [0, 1, 0.5, 1e-4], [0, 1, 2, 1000]
    odd = mixed.copy()
    odd[:4] = [0, np.inf, np.nan, 1e-30]
    return {
        "gamma": (samplers.gamma, (odd,)),
        "gamma of one shape": (samplers.gamma, (np.full(N, 0.3, dtype),)),
        "poisson": (samplers.poisson, (np.where(mixed < 1, 0, mixed),)),
        "binomial": (samplers.binomial, (counts, prob)),
        "binomial of one": (samplers.binomial, (np.full(N, 80, dtype), np.full(N, 0.7, dtype))),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(parameters(np.float64)))
def test_numbers_and_the_stream_behind_them_are_those_of_the_loops(name, dtype, monkeypatch):
    sampler, arrays = parameters(dtype)[name]
    found = []
    for native in (True, False):
        stream = random.Stream(7)
        random.normal_serial(stream, 3, np.dtype(np.float64))
        if not native:
            monkeypatch.setattr(PORTS, "drawn", lambda *_: None)
        found.append((sampler(stream, *arrays), stream.pack()))
    (one, after), (other, there) = found
    assert one.dtype == other.dtype
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(after, there)


def test_few_numbers_are_drawn_natively_once_many_were(monkeypatch):
    monkeypatch.setattr(samplers, "_COUNTS", Counter())
    native, drawn = [], PORTS.drawn
    monkeypatch.setattr(PORTS, "drawn", lambda *given: native.append(given) or drawn(*given))
    wg.poisson(wg.ones(N - 1))
    assert not native
    wg.poisson(wg.ones(1))
    wg.poisson(wg.ones(1))
    assert len(native) == 2


def test_without_sources_the_loops_draw(monkeypatch):
    def missing(thing):
        raise OSError("could not get source code")

    monkeypatch.setattr("inspect.getsource", missing)
    drawing._machine.cache_clear()
    stream = random.Stream(7)
    assert drawing.drawn(samplers.gamma, stream, (np.ones(N),)) is None
    assert samplers.gamma(stream, np.full(N, 0.3)).shape == (N,)


def test_a_long_order_is_that_of_the_blocks(monkeypatch):
    n, found = random._LONG_ORDER + 17, []
    for native in (True, False):
        stream = random.Stream(3)
        if not native:
            monkeypatch.setattr(PORTS, "permuted", lambda *_: None)
        found.append((random.permutation(stream, n), stream.pack()))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_twister_that_is_used_again_knows_nothing_of_its_past():
    wanted = wg.rand(5, generator=wg.Generator().manual_seed(1)).tolist()
    for seed in range(12):
        g = wg.Generator().manual_seed(seed)
        wg.randn(3, dtype=wg.float64, generator=g)
    assert wg.rand(5, generator=wg.Generator().manual_seed(1)).tolist() == wanted
    first, second = (wg.Generator().manual_seed(1) for _ in range(2))
    wg.rand(7, generator=second)
    assert wg.rand(5, generator=first).tolist() == wanted
