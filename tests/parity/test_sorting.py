"""Test sorting, order statistics, cumulative operations and statistics: forms, edges, errors."""

import re

import numpy as np
import pytest

import wengert
from support.parity import Failure, assert_same, derivatives, forms, outcome, tensors

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

RNG = np.random.default_rng(11)
NAN, INF = np.nan, np.inf
ARRAYS = {
    "x": RNG.standard_normal((3, 5)),
    "y": RNG.standard_normal(5),
    "b": RNG.standard_normal((2, 3, 4)),
    "s": np.array(RNG.standard_normal()),
    "e": RNG.standard_normal((0, 4)),
    "d": np.array([2.0, 1.0, 2.0, 1.0, 3.0, 2.0]),
    "h": np.array([1.0, NAN, -1.0, NAN, 2.0]),
    "H": np.array([[1.0, NAN, 2.0, 0.0], [NAN, NAN, NAN, NAN], [3.0, 1.0, 2.0, 5.0]]),
    "f": np.array([0.0, -INF, 1.0, -3.0]),
    "q": np.array([0.1, 0.5, 0.85]),
    "p": np.sort(RNG.uniform(0, 5, 5)),
    "n": RNG.integers(-4, 4, (3, 5)),
    "i": np.array([3, 0, 3, 1]),
    "m": RNG.random((3, 4)) > 0.5,
    "z": np.sort(RNG.standard_normal((3, 4)), -1),
    "c": RNG.standard_normal((2, 4)) + 1j * RNG.standard_normal((2, 4)),
}

FORMS = """
t.sort(x); x.sort(0); x.sort(descending=True); t.sort(x, 1, True); x.sort(dim=0, stable=True)
h.sort(); h.sort(descending=True); s.sort(); e.sort(); e.sort(0); n.sort(); m.sort(); t.msort(x)
d.sort(stable=True); d.sort(stable=True, descending=True); x.sort(axis=0); d.msort()
t.argsort(x); x.argsort(0, True); d.argsort(stable=True); d.argsort(stable=True, descending=True)
t.topk(x, 2); x.topk(2, 0); x.topk(3, largest=False); s.topk(1); h.topk(2); h.topk(2, largest=False)
x.topk(0); x.topk(5); e.topk(1, 1)
t.kthvalue(x, 2); x.kthvalue(1, 0); x.kthvalue(3, 1, True); s.kthvalue(1); h.kthvalue(1)
t.median(x); x.median(0); x.median(1, True); s.median(); s.median(0); h.median(); h.median(0)
d.median(); d.median(0); n.median(); n.median(1); H.median(1); e.median(); e.median(1); b.median(1)
t.nanmedian(h); h.nanmedian(0); H[::2].nanmedian(1); H.nanmedian(0, keepdim=True); H.nanmedian()
d.nanmedian(); n.nanmedian(0)
t.mode(n); n.mode(0); d.mode(); h.mode(); m.mode(); s.mode(); n.mode(1, True); H[:1].mode(0)
t.quantile(x, 0.3); x.quantile(0.5, 0); x.quantile(0, 1); x.quantile(1.0, 1, keepdim=True)
t.quantile(x, q); t.quantile(x, q, 0); t.quantile(x, q, 1, True); s.quantile(0.5); h.quantile(0.5)
t.quantile(x, q, interpolation='lower'); t.quantile(d, q, interpolation='higher')
t.quantile(d, q, interpolation='midpoint'); t.quantile(d, q, interpolation='nearest')
H.quantile(0.5, 1); t.quantile(H, q, 1); t.quantile(b, q, 1); t.quantile(b, q[0], 1, True)
t.nanquantile(h, q); h.nanquantile(0.25); t.nanquantile(H, q, 1); H.nanquantile(0.5, 0, True)
t.nanquantile(h, q, interpolation='nearest'); t.nanquantile(H, q, 1, interpolation='midpoint')
t.cummax(x, 0); x.cummax(-1); t.cummin(x, 1); d.cummax(0); d.cummin(0); h.cummax(0); h.cummin(0)
n.cummax(0); m.cummax(0); s.cummax(0); e.cummin(1); b.cummax(dim=1)
t.logcumsumexp(x, 0); x.logcumsumexp(-1); s.logcumsumexp(0); e.logcumsumexp(1); (-f).logcumsumexp(0)
f.logcumsumexp(0); c.logcumsumexp(1); c.logcumsumexp(0); t.logcumsumexp(x * 40, 1)
x.cumsum(0); x.cumprod(1); (x * m[:, :1]).cumprod(0); c.cumprod(1); n.cumsum(1)
t.unique(n); n.unique(return_inverse=True, return_counts=True); n.unique(dim=0); n.unique(dim=1)
n.unique(True, True, dim=1); t.unique(h.detach(), return_counts=True)
n.unique_consecutive(); n.unique_consecutive(True, True); n.unique_consecutive(dim=1)
t.searchsorted(p, x); t.searchsorted(p, x, right=True); t.searchsorted(z, x[:, :2])
t.searchsorted(p, x, side='right', out_int32=True); t.searchsorted(p, 1.5); t.searchsorted(p, s)
t.searchsorted(y, x, sorter=y.argsort()); t.searchsorted(i.sort().values, n); t.searchsorted(p, h)
t.bucketize(x, p); t.bucketize(n, p, right=True); t.bucketize(2, i.sort().values)
t.histc(x, 4); x.histc(3, -1, 1); t.histc(d.detach(), bins=2, min=1, max=3); e.histc(3)
t.histogram(x.detach(), 4).hist; t.histogram(x.detach(), 3, range=(-1.0, 1.0)).bin_edges
t.histogram(x.detach(), p.detach()); t.histogram(y.detach(), 3, weight=p.detach(), density=True)
t.histogramdd(z.detach(), 2).hist; t.histogramdd(z[:, :2].detach(), [2, 3]).bin_edges
t.bincount(i); i.bincount(minlength=6); t.bincount(i, i); t.bincount(i, q.detach()[i % 3])
t.isin(n, i); t.isin(n, 2); t.isin(2, i); t.isin(n, i, invert=True); t.isin(h.detach(), h.detach())
t.trapezoid(x); t.trapezoid(x, dim=0); t.trapezoid(x, dx=0.5); t.trapezoid(x, p); t.trapz(y, p)
t.trapezoid(b, x[:, :4]); t.trapezoid(n); t.trapz(x, dx=2); t.trapezoid(x, x, dim=0); t.trapz(y[:0])
t.cumulative_trapezoid(x); t.cumulative_trapezoid(x, p); t.cumulative_trapezoid(x, dx=3, dim=0)
t.cumulative_trapezoid(x, x, dim=0); t.cumulative_trapezoid(n)
t.diff(x); x.diff(dim=0); x.diff(2); t.diff(x, prepend=x[:, :1]); t.diff(x, append=x, n=2); m.diff()
x.diff(9); t.diff(x, n=0); n.diff(dim=0); t.diff(c)
t.gradient(x); t.gradient(x, dim=1); t.gradient(x, spacing=2.0); t.gradient(x, spacing=[2.0, 0.5])
t.gradient(x, spacing=(p,), dim=1); t.gradient(x, spacing=(q, p), edge_order=2); t.gradient(n)
t.gradient(x, dim=(1, 0), edge_order=2); t.gradient(y, spacing=(p,), edge_order=2); t.gradient(s)
t.gradient(c, spacing=0.5, dim=1)
t.nansum(h); H.nansum(1); H.nansum((0, 1)); H.nansum(0, True); n.nansum(); m.nansum(1)
t.nansum(h, dtype=t.float32)
t.nanmean(h); H.nanmean(0); H.nanmean(1, True); x.nanmean((0, 1)); h.nanmean(dtype=t.float32)
t.cov(x); x.cov(correction=0); y.cov(); t.cov(c); t.cov(n); t.cov(x, aweights=p)
t.cov(y, fweights=i[:1].expand(5)); t.cov(x, fweights=n[0].abs() + 1, aweights=p, correction=2)
t.corrcoef(x); y.corrcoef(); t.corrcoef(c); t.corrcoef(n)
t.combinations(y); t.combinations(y, 3); t.combinations(i, 2, True); t.combinations(y, 1)
t.combinations(y, 0); t.combinations(y[:3], 4, with_replacement=True); t.combinations(y, 9)
t.cartesian_prod(y, p); t.cartesian_prod(y); t.cartesian_prod(i, i, i)
t.nonzero_static(m, size=3); n.nonzero_static(size=20, fill_value=7)
x.sum_to_size(5); x.sum_to_size(3, 1); x.sum_to_size((1, 5)); n.sum_to_size(1); x.sum_to_size(3, 5)
"""

# where PyTorch's gradient is NaN and ours is not, and so the values alone are compared
VALUES_ONLY = {
    "f.logcumsumexp(0)": "the gradient of an element of minus infinity is 0",
    "(-f).logcumsumexp(0)": "the gradient of the first infinity is finite",
    "H.nanmean(1, True)": "the gradient of a NaN is 0 even where all are NaN",
}

ERRORS = """
t.sort([1.0]); t.sort(x, 5); t.sort(c); t.argsort(c); t.sort(s, 1)
t.topk(x, 9); t.topk(x, -1); t.topk(x, 1.0); t.topk(c, 1); t.topk(m, 1); t.topk(x, 1, 7)
t.kthvalue(x, 0); t.kthvalue(x, 9); t.kthvalue(e, 1, 0); t.kthvalue(c, 1); t.kthvalue(m, 1)
t.kthvalue(s, 2); t.median(e, 0); t.median(c); t.median(m); t.median(x, 4); t.mode(e, 0); t.mode(c)
t.quantile(e, 0.5); t.quantile(n, 0.5); t.quantile(x, q.float()); t.quantile(x, 2.0)
t.quantile(x, q + 1); t.quantile(x, x); t.quantile(x, 0.5, interpolation='cubic')
t.quantile(c, 0.5)
t.quantile(x, 0.5, 4); t.nanquantile(x, -1.0)
t.cummax(c, 0); t.cummax(x, 3); t.logcumsumexp(n, 0); t.logcumsumexp(m, 0); t.logcumsumexp(x, 3)
t.unique(c); t.unique(s, dim=0); t.unique(e, dim=1); t.unique(x, dim=2); t.unique_consecutive(c)
t.searchsorted(s, x); t.searchsorted(z, 2.0); t.searchsorted(z, x[:2])
t.searchsorted(p, x, side='a')
t.searchsorted(p, x, side='left', right=True); t.searchsorted(p, x, sorter=i)
t.searchsorted(p, x, sorter=p); t.searchsorted(p, x, sorter=i.new_full((5,), 7))
t.searchsorted(m, m)
t.searchsorted(c, c); t.searchsorted(p, x, out=i.int()); t.bucketize(x, x)
t.histc(n); t.histc(x, 0); t.histc(x, 3, 2, 1); t.histc(x, 3, 0, float('inf'))
t.histogram(n, 3); t.histogram(x, p.float()); t.histogram(x, 3, range=(3.0, 1.0)); t.histogram(x, 0)
t.histogram(x, 3, weight=y); t.histogram(x, x); t.histogram(x, p[:1]); t.histogram(x, p[:0])
t.histogram(x, 3, range=(1.0,)); t.histogram(x, 3, weight=n); t.histogram(h, 3); t.histogram(c, 3)
t.histogramdd(y, [2]); t.histogramdd(x, [2]); t.histogramdd(z, 2, range=[0.0, 1.0])
t.histogramdd(z, 2, weight=y); t.histogramdd(n, 2)
t.bincount(n); t.bincount(i - 3); t.bincount(p); t.bincount(i, p); t.bincount(i, minlength=-1)
t.bincount(m); t.isin(m, m); t.isin(c, c); t.isin(2, 2)
t.trapezoid(x, y[:2]); t.trapezoid(s); t.trapezoid(m); t.trapezoid(x, p, dx=2)
t.trapezoid(x, m[:, :1])
t.cumulative_trapezoid(m); t.trapezoid(x, x.new_ones(2, 3, 7))
t.diff(s); t.diff(x, -1); t.diff(x, prepend=y); t.diff(x, append=x[:2]); t.diff(x, 1, 4)
t.gradient(y[:1]); t.gradient(x, edge_order=3); t.gradient(x, edge_order=2, dim=0, spacing=(p, p))
t.gradient(x, spacing=(1, 2, 3)); t.gradient(x, spacing=[1.0, 2.0], dim=1)
t.gradient(x, dim=(0, 0))
t.gradient(x, dim=5); t.gradient(y, spacing=(s,)); t.gradient(n.to(t.uint8)); t.gradient([1.0, 2.0])
t.gradient(y, spacing=p); t.gradient(y[:2], edge_order=2)
t.nansum(c); t.nanmean(n); t.nanmean(c); t.nansum(x, 4)
t.cov(b); t.cov(m); t.cov(y, fweights=p); t.cov(y, fweights=i); t.cov(y, aweights=i)
t.cov(y, aweights=p[:2]); t.cov(y, aweights=-p); t.cov(y, aweights=p * 0); t.cov(y, aweights=x)
t.cov(y, fweights=n); t.cov(y, fweights=i.new_full((5,), -1)); t.corrcoef(b)
t.cov(y, correction=1.0)
t.combinations(x); t.combinations(y, -1); t.combinations(s); t.cartesian_prod(); t.cartesian_prod(x)
t.cartesian_prod(y, i); t.cartesian_prod([y, p]); t.nonzero_static(x, size=-1)
x.sum_to_size(2); x.sum_to_size(2, 3, 5); x.sum_to_size(-1)
"""


def inputs(line, t):
    return tensors(t, {k: a for k, a in ARRAYS.items() if re.search(rf"\b{k}\b", line)})


def run(line, t, scope):
    return eval(line, {"t": t, **scope})


@pytest.mark.parametrize("line", forms(FORMS))
def test_form(line):
    made = {}
    for t in (torch, wengert):
        scope = inputs(line, t)
        value = outcome(lambda t, scope=scope: run(line, t, scope), t)
        assert not isinstance(value, Failure), f"{line}: {value!r}"
        made[t] = value, {} if line in VALUES_ONLY else derivatives(t, scope, value)
    assert_same(*[made[t][0] for t in (wengert, torch)], line)
    assert_same(*[made[t][1] for t in (wengert, torch)], f"the derivatives of {line}", atol=1e-9)


def test_all_differences_are_among_the_forms():
    assert set(VALUES_ONLY) <= set(forms(FORMS))


@pytest.mark.parametrize("line", forms(ERRORS))
def test_error(line):
    theirs = outcome(lambda t: run(line, t, inputs(line, t)), torch)
    assert isinstance(theirs, Failure), f"PyTorch does not refuse {line}: {theirs}"
    ours = outcome(lambda t: run(line, t, inputs(line, t)), wengert)
    # a call with wrong arguments fails in Python here, in PyTorch's parser there
    words = 0 if theirs.kind == "TypeError" else 4
    assert_same(ours, theirs, line, words=words)
    assert ours.text, f"{line}: {ours!r} says nothing"
