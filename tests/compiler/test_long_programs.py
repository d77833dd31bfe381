"""Test programs of many equal steps, which must not take long to compile."""

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("llvmlite")
native_products = pytest.importorskip("wengert.compiler.codegen.native.products")


def numbers(*shape, seed=0):
    return wg.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def test_many_small_products_are_written_out_without_a_look_for_blas(monkeypatch):
    def look(name):
        raise AssertionError(name)

    monkeypatch.setattr(native_products, "has_routine", look)
    a, b = numbers(100, 32, 16), numbers(100, 16, 32, seed=1)
    run = wg.compile(lambda a, b: (a @ b).sum(0), fullgraph=True, backend="llvm", threads=1)
    for _ in range(2):
        found = run(a, b)
    np.testing.assert_allclose(found.numpy(), (a @ b).sum(0).numpy(), rtol=1e-12, atol=1e-12)
