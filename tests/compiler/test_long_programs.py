"""Test rewritten programs that would take LLVM long: the results are the same."""

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("llvmlite")
wrapper = pytest.importorskip("wengert.compiler.backends.wrapper")
native_products = pytest.importorskip("wengert.compiler.codegen.native.products")


def compiled(function):
    options = {"measure": False}
    return wg.compile(function, fullgraph=True, backend="llvm", threads=1, options=options)


def flat(value):
    parts = value if isinstance(value, tuple) else (value,)
    return [part.detach().numpy() for part in parts]


def same(function, *args):
    run = compiled(function)
    run(*args)
    for found, expected in zip(flat(run(*args)), flat(function(*args)), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    return run


@pytest.fixture
def long(monkeypatch):
    """All programs are taken for long ones."""
    monkeypatch.setattr(wrapper, "_MUCH", 0)


def numbers(*shape, seed=0):
    return wg.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def recurrent(x):
    hidden = x
    rows = []
    for _ in range(100):
        hidden = (hidden * 0.5 + x.sum()).tanh()
        rows.append(hidden)
    return wg.stack(rows), hidden


FUNCTIONS = {
    "elements": lambda x: (x * 2 + 1, x.exp(), x.sigmoid().tanh()),
    "sums": lambda x: (x.sum(), x.square().sum() * x, (x - x.mean()).square().sum()),
    "reread": lambda x: (x / x.square().sum().sqrt()).flip(0) * x.sum(),
    "joined": lambda x: wg.cat((x[:1] * 2, x, x[1:].neg())) * x.sum(),
    "matrices": lambda x: (x[:, None] * x).softmax(0) @ (x[:, None] + x),
    "batches": lambda x: wg.stack((x[:, None] * x, x[:, None] - x)) @ wg.stack([x.outer(x)] * 2),
    "gathered": lambda x: x[wg.arange(len(x) - 1, -1, -1) // 2] * x,
    "scattered": lambda x: wg.zeros(9, dtype=wg.float64).index_put((wg.arange(len(x)),), x),
    "loops": recurrent,
    "derivatives": wg.func.grad(lambda x: (x.tanh().outer(x.sin())).logsumexp(0).sum()),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_long_program_computes_what_eager_code_does(name, long):
    same(FUNCTIONS[name], numbers(7))


def test_an_index_out_of_range_raises_in_a_long_program(long):
    run = compiled(lambda x, at, big: (x[at] * 2 + 1, x.sum(), (big @ big).sum()))
    x, big = numbers(7), numbers(40, 40)
    for _ in range(2):
        run(x, wg.tensor([1, -7, 6]), big)
    with pytest.raises(IndexError, match="out of bounds"):
        run(x, wg.tensor([1, 7, 6]), big)
    assert run(x, wg.tensor([0]), big)[0].item() == x[0].item() * 2 + 1


def test_a_division_by_zero_is_met_in_a_long_program(long):
    run = compiled(lambda x, y, big: (x // y, (x * 3) % (y + 1), (big @ big).sum()))
    x, big = wg.arange(6), numbers(40, 40)
    for _ in range(2):
        run(x, wg.ones(6, dtype=wg.int64), big)
    with pytest.raises((RuntimeError, ZeroDivisionError)):
        run(x, wg.zeros(6, dtype=wg.int64), big)


def test_the_same_scatter_is_one_function_however_often_it_is_used():
    places = wg.tensor([0, 2, 5])

    def several(x):
        made = [wg.zeros(7, dtype=wg.float64).index_put((places,), x[:3] * k) for k in range(5)]
        return wg.stack(made)

    text = same(several, numbers(7)).llvm()
    assert text.count("@index_put.") > text.count("define internal i8 @index_put.") == 1


def test_many_small_products_are_written_out_without_a_look_for_blas(monkeypatch):
    def look(name):
        raise AssertionError(name)

    monkeypatch.setattr(native_products, "has_routine", look)
    a, b = numbers(100, 32, 16), numbers(100, 16, 32, seed=1)
    same(lambda a, b: (a @ b).sum(0), a, b)
