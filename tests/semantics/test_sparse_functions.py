"""Test functions and further methods of sparse tensors."""

from __future__ import annotations

import pytest


@pytest.fixture
def x(t):
    places, values = t.tensor([[0, 1, 1], [2, 0, 2]]), t.tensor([3.0, 4.0, 5.0])
    return t.sparse_coo_tensor(places, values, (2, 3), check_invariants=True)


FUNCTIONS = {
    "mul": (lambda t, x: t.mul(x, 2), lambda t, d: d * 2),
    "div": (lambda t, x: t.div(x, 2), lambda t, d: d / 2),
    "mul of both": (lambda t, x: t.mul(x, x), lambda t, d: d * d),
    "abs": (lambda t, x: t.abs(-x), lambda t, d: d.abs()),
    "sqrt": (lambda t, x: t.sqrt(x), lambda t, d: d.sqrt()),
    "pow": (lambda t, x: t.pow(x, 2) + x**2 - x.square(), lambda t, d: d**2),
    "cat": (lambda t, x: t.cat([x, x], 1), lambda t, d: t.cat([d, d], 1)),
    "stack": (lambda t, x: t.stack([x, x]), lambda t, d: t.stack([d, d])),
    "rows": (lambda t, x: t.index_select(x, 0, t.tensor([1])), lambda t, d: d[1:]),
    "select": (lambda t, x: x.select(1, 2), lambda t, d: d[:, 2]),
    "permute": (lambda t, x: x.permute(1, 0), lambda t, d: d.t()),
    "transposed": (lambda t, x: t.stack([x, x]).mT, lambda t, d: t.stack([d, d]).mT),
    "zeros": (lambda t, x: t.zeros_like(x), lambda t, d: d * 0),
    "mask": (lambda t, x: x.sparse_mask(x.coalesce()), lambda t, d: d),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_sparse_tensors(t, x, name):
    of_sparse, of_dense = FUNCTIONS[name]
    assert of_sparse(t, x).to_dense().equal(of_dense(t, x.to_dense()))


def test_products_and_sums(t, x):
    ones, dense = t.ones(3, 2), x.to_dense()
    assert t.dsmm(x, ones).equal(dense @ ones)
    assert t.addmm(t.ones(2, 2), x, ones).equal(t.addmm(t.ones(2, 2), dense, ones))
    assert t.sum(x) == 12 and t.sum(x, 0).to_dense().equal(dense.sum(0))
    assert t.norm(x) == dense.norm()


def test_what_is_known_without_values(t, x):
    assert x.ndimension() == 2 and x.nelement() == 6 and x.is_same_size(x)
    assert x.type().endswith("sparse.FloatTensor")
    assert x.new_zeros(2).to_dense().equal(t.zeros(2))
    module = t.nn.Module()
    module.register_buffer("graph", x)
    assert module.to(t.float64).graph.dtype == t.float64
