"""Test scatter, slices and copies against PyTorch."""

import numpy as np
import pytest

import wengert
from support.parity import assert_same, evaluated, forms

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

RNG = np.random.default_rng(21)
ARRAYS = {
    "x": RNG.uniform(0.5, 2, (3, 4)),
    "y": RNG.uniform(0.5, 2, (4, 5)),
    "v": RNG.standard_normal(5),
    "w": RNG.standard_normal(7),
    # ties, within and with what is there
    "e": np.array([2.0, 2.0, 1.0, 3.0]),
    "f": np.array([2.0, 2.0, 5.0, 5.0, 5.0, 1.0]),
    "s": np.array(RNG.standard_normal()),
    "b": RNG.standard_normal((2, 3, 4)),
    "c": RNG.standard_normal((2, 2)) + 1j * RNG.standard_normal((2, 2)),
    "n": RNG.integers(-9, 9, (3, 4)),
    "m": RNG.random((3, 4)) > 0.5,
    "i": RNG.integers(0, 3, (4, 4)),
    "j": RNG.integers(0, 3, 4),
    "k": np.array([0, 0, 2, 2, 2, 1]),
    "l": np.array([4, 0, 4, 4, 0, 1, 1]),
    "o": np.array([1, 1, 0]),
}
FORMS = """
v.scatter_reduce(0, l, w, 'sum'); v.scatter_reduce(0, l, w, 'mean')
v.scatter_reduce(0, l, w, 'amax'); t.scatter_reduce(v, 0, l, w, 'prod')
v.detach().scatter_reduce(0, l, w, 'prod', include_self=False)
v.scatter_reduce(0, l, w, 'mean', include_self=False); v.scatter_reduce(-1, l[:3], w[:3], 'prod')
e.scatter_reduce(0, k, f, 'amax'); e.scatter_reduce(0, k, f, 'amin')
x.scatter_reduce(0, i, y[:, :4], 'sum'); x.scatter_reduce(0, i, y[:, :4], 'prod')
x.scatter_reduce(0, i, y[:, :4], 'amin')
x.scatter_reduce(1, i[:3, :2], y[:3, :2], 'mean', include_self=False)
n.scatter_reduce(0, i[:3], n, 'mean'); m.scatter_reduce(0, i, i > 0, 'amax')
n.scatter_reduce(0, i, i, 'prod'); s.scatter_reduce(0, o, w[:3], 'sum')
v.scatter_reduce(0, l, w, 'least'); v.scatter_reduce(0, l + 1, w, 'sum')
v.scatter_reduce(1, l, w, 'sum'); v.scatter_reduce(0, l, n[0], 'sum')
m.scatter_reduce(0, i, m[[0, 0, 0, 0]], 'mean')
v.clone().scatter_reduce_(0, l, w, 'amax', include_self=False)
x.index_reduce(0, j, y[:, :4], 'prod'); t.index_reduce(x, 0, j, y[:, :4], 'mean')
x.index_reduce(0, j, y, 'prod'); x.index_reduce(1, o, y[:3, :3], 'amax', include_self=False)
x.index_reduce(-1, o, x[:, 1:], 'amin'); n.index_reduce(0, j, n[[0, 1, 1, 0]], 'mean')
x.index_reduce(0, j + 9, y[:, :4], 'prod'); x.index_reduce(0, j, y[:, :4], 'sum')
x.index_reduce(0, i, y[:, :4], 'prod'); s.index_reduce(0, o[0], s, 'prod')
x.clone().index_reduce_(0, j, y[:, :4], 'amax'); m.index_reduce(0, j, m[[0, 1, 1, 0]], 'amax')
t.select_scatter(x, v[:4], 0, 1); x.select_scatter(s, 0, 1); x.select_scatter(w[:3], -1, -2)
x.slice_scatter(x[:2] * 2, 0, 1); t.slice_scatter(v, w[:2], 0, 1, -1, 2); x.slice_scatter(w, 0, 9)
x.diagonal_scatter(w[:3]); b.diagonal_scatter(x[:2], 0, 1, 2)
b.diagonal_scatter(b[:, 0, :2], -1, 1, 2); t.diagonal_scatter(b, b[:, :, 0].T, 2, 0, 2)
x.diagonal_scatter(w); s.select_scatter(s, 0, 0); t.index_fill(v, 0, o, 2.0)
v.masked_scatter(v > 0, w); v.put(l[:2], w[:2], accumulate=True); t.unsafe_split(x, 2)[1]
x.unsafe_chunk(3, 1)[2]; t.unsafe_split_with_sizes(x, [1, 2])[1]; t.slice_copy(v, 0, 1, -1, 2)
t.unbind_copy(x, 1)[2]; t.split_copy(x, 2)[0]; t.select_copy(x, 0, 7); t.unfold_copy(v, 0, 2, 2)
t.diagonal_copy(b, 1, 2, 0); t.expand_copy(v, (2, 5)); t.slice_copy(s); t.detach_copy(x.detach())
t.view_copy(x, (6, 2)); t.permute_copy(b, (2, 0, 1)); t.t_copy(x).is_contiguous()
t.view_as_real_copy(c); t.alias_copy(c); t.squeeze_copy(x[:1], 0); t.transpose_copy(b, 0, -1)
"""


@pytest.mark.parametrize("form", forms(FORMS))
def test_form(form):
    for dtype in ("float64", "float32"):
        results = (evaluated(form, t, ARRAYS, dtype) for t in (wengert, torch))
        rtol = 1e-4 if dtype == "float32" else 1e-8
        assert_same(*results, f"{form} ({dtype})", rtol, 1e-2 * rtol)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin"])
def test_the_two_ways_of_combining_are_the_same_for_whole_positions(reduce, include_self):
    x, y = wengert.from_numpy(ARRAYS["b"]), wengert.from_numpy(ARRAYS["b"][:, [0, 1, 2, 1]])
    x.requires_grad_()
    y.requires_grad_()
    index = wengert.tensor([2, 2, 0, 2])
    spread = index.reshape(1, 4, 1).expand(2, 4, 4)
    found = []
    for made in (
        x.index_reduce(1, index, y, reduce, include_self=include_self),
        x.scatter_reduce(1, spread, y, reduce, include_self=include_self),
    ):
        grads = wengert.autograd.grad((made * made).sum(), (x, y), create_graph=True)
        second = wengert.autograd.grad((grads[0].sum() + grads[1]).sum(), (x, y), allow_unused=True)
        found.append([made, *grads, *[g for g in second if g is not None]])
    assert len(found[0]) == len(found[1])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), 1e-9, 1e-12)
