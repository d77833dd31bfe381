"""Test every public operation in many forms: values, dtypes, nodes, second derivatives."""

import numpy as np
import pytest

import wengert
from support.parity import assert_same, evaluated, forms

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

RNG = np.random.default_rng(7)
ARRAYS = {
    "x": RNG.standard_normal((3, 4)),
    "y": RNG.standard_normal(4),
    "k": RNG.standard_normal((3, 1)),
    "p": RNG.uniform(0.5, 2, (3, 4)),
    "q": RNG.uniform(0.5, 2, (3, 4)),
    "u": RNG.uniform(-0.9, 0.9, (3, 4)),
    "s": np.array(RNG.standard_normal()),
    "S": RNG.standard_normal((4, 4)),
    "M": RNG.standard_normal((4, 5)),
    "v": RNG.standard_normal(4),
    "w": RNG.standard_normal(3),
    "b": RNG.standard_normal((2, 3, 4)),
    "c": RNG.standard_normal((2, 4, 5)),
    "e": RNG.standard_normal((0, 4)),
    "m": RNG.random((3, 4)) > 0.5,
    "i": np.array([2, 0]),
    "j": RNG.integers(0, 3, (2, 4)),
    "n": RNG.integers(1, 9, (3, 4)),
    "l": np.array([1, 0, 3]),
}

FORMS = """
x + y; y + x; x + s; x + 2; 2 + x; x + 2.5; x + n; n + x; x + True; t.add(x, y); t.add(x, 2)
t.add(x, y, alpha=3); x.add(y, alpha=-0.5); x.add(2, alpha=3); t.add(input=x, other=y); x + k
x - y; x - 2; 2 - x; t.sub(x, y); t.sub(x, y, alpha=2); x.sub(2); t.subtract(x, y); t.rsub(x, y)
x * y; x * 2; 2 * x; x * s; t.mul(x, y); x.mul(3.0); t.multiply(x, y); x * x; x * n; x * m
x / p; x / 2; 2 / p; t.div(x, p); x.div(2); t.true_divide(x, p); n / n; n / 2; t.divide(x, p)
t.div(x, p, rounding_mode='floor'); t.div(x, p, rounding_mode='trunc')
t.div(x, p, rounding_mode=None)
n // 2; x // 2; n % 3; x % 2; t.remainder(x, 2); t.fmod(x, 2); t.remainder(x, p); t.fmod(x, p)
x // p; 7 // n; 7.5 % p; t.floor_divide(n, 2); t.floor_divide(x, p)
p ** q; x ** 2; x ** 3; p ** 0.5; p ** -1; p ** 0; x ** 1; 2 ** x; p ** s; p ** -0.5; x ** -2
t.pow(p, q); t.pow(p, 2.5); t.pow(2, x); x.pow(2); p.pow(exponent=3); 1.5 ** x; n ** 2; 2 ** n
-x; +x; abs(x); t.neg(x); t.negative(x); x.neg(); t.abs(x); t.absolute(x); x.abs()
t.exp(x); t.exp2(x); t.expm1(x); t.log(p); t.log2(p); t.log10(p); t.log1p(p); x.exp(); p.log()
t.sqrt(p); t.rsqrt(p); t.reciprocal(p); t.square(x); p.sqrt(); x.square(); p.reciprocal()
t.sin(x); t.cos(x); t.tan(u); t.asin(u); t.acos(u); t.atan(x); t.arcsin(u); t.arccos(u)
t.arctan(x)
t.sinh(x); t.cosh(x); t.tanh(x); t.asinh(x); t.acosh(p + 1); t.atanh(u); x.sin(); x.tanh()
x.cos()
t.atan2(x, p); t.arctan2(x, p); t.hypot(x, p); x.atan2(p)
t.sigmoid(x); x.sigmoid(); t.relu(x); x.relu(); t.erf(x); t.erfc(x); x.erf()
t.nn.functional.relu(x)
t.sign(x); t.sgn(x); t.floor(x); t.ceil(x); t.round(x); t.trunc(x); t.fix(x)
t.clamp(x, -0.5, 0.5); t.clamp(x, min=0); t.clamp(x, max=0.3); x.clamp(0, 1); x.clamp(min=k)
x.clamp(min=u, max=p); t.clip(x, -1, 1); x.clamp_min(0.1); x.clamp_max(0.1); t.clamp(x, max=k)
t.maximum(x, u); t.minimum(x, u); t.maximum(x, y); t.max(x, u)
t.min(x, u)
t.where(m, x, u); t.where(m, x, 0.0); t.where(m, 1.0, x); x.where(m, u); t.where(x > 0, x, y)
t.where(m, x, s); t.where(m, 2, 3); t.where(m)
x == u; x != u; x < u; x <= u; x > u; x >= u; x == 0; 0 < x; t.eq(x, u); t.ne(x, 0); x.lt(u)
x.ge(0)
t.gt(x, u); t.le(x, u); x.eq(x); n == n; n > 2; m & (x > 0); m | (x > 0); m ^ (x > 0); ~m
t.logical_and(m, x); t.logical_or(m, x); t.logical_not(x); t.logical_xor(m, x)
n & 3; n | 4; n ^ 1; ~n; t.bitwise_and(n, 3); t.bitwise_not(n)
t.isnan(x); t.isinf(x); t.isfinite(x); t.isclose(x, x); t.allclose(x, x); t.equal(x, x)
t.sum(x); x.sum(); x.sum(0); x.sum(1); x.sum(-1); x.sum((0, 1)); x.sum(dim=(0,), keepdim=True)
b.sum((0, 2)); b.sum(1, keepdim=True); x.sum(dtype=t.float32); s.sum(); s.sum(0); n.sum(); m.sum()
e.sum(); e.sum(0); e.sum(1); n.sum(0, dtype=t.float64); x.sum([0]); b.sum(dim=[0, -1])
t.mean(x); x.mean(0); x.mean(-1, keepdim=True); b.mean((0, 1)); x.mean(dim=(0, 1))
n.double().mean()
t.prod(x); x.prod(0); x.prod(1, keepdim=True); n.prod(); s.prod(); e.prod(0)
t.max(x); x.max(0); x.max(1, keepdim=True); x.max(dim=-1); t.min(x); x.min(0)
x.min(1, keepdim=True)
x.max(0).values; x.max(0).indices; x.max(0)[0]; x.min(dim=1).values; n.max(); s.max(); n.max(0)
t.amax(x); x.amax(0); x.amax((0, 1)); x.amax(1, keepdim=True); t.amin(x); x.amin(0)
b.amax((0, 2))
t.argmax(x); x.argmax(0); x.argmin(1); x.argmax(1, keepdim=True); x.argmin()
t.logsumexp(x, 0); x.logsumexp(1); x.logsumexp((0, 1)); x.logsumexp(0, keepdim=True)
s.logsumexp(0)
t.var(x); x.var(0); x.var(1, keepdim=True); x.var(unbiased=False); x.var(0, unbiased=False)
x.var(correction=0); x.var(0, correction=2); x.var((0, 1)); t.std(x); x.std(0)
x.std(1, correction=0)
x.std(unbiased=False); x.std(dim=(0, 1), keepdim=True); t.var_mean(x, 0); t.std_mean(x, 1)
t.norm(x); x.norm(); x.norm(2); x.norm(1); x.norm(p=3); x.norm(dim=0); x.norm(2, dim=1)
x.norm(float('inf')); x.norm(p=1, dim=(0, 1)); x.norm('fro'); x.norm(2, 0, True)
x.norm(dim=1, p=1)
x.norm(float('inf'), dim=0); p.norm(0.5); x.norm(-float('inf')); x.norm(0); s.norm()
t.all(m); t.any(m); m.all(0); m.any(1); m.all(1, keepdim=True); n.all(); x.any()
x.reshape(4, 3); x.reshape(-1); x.reshape((2, 6)); x.reshape(2, -1); x.t().reshape(12)
t.reshape(x, (12,))
x.view(12); x.view(-1, 2); x.view((4, 3)); x.flatten(); b.flatten(1); b.flatten(0, 1)
t.flatten(b, 1, 2)
x.transpose(0, 1); t.transpose(b, 0, -1); b.permute(2, 0, 1); t.permute(b, (1, 0, 2))
b.permute((0, 2, 1))
x.t(); t.t(x); x.T; b.mT; y.t(); s.t(); b.swapaxes(0, 1); t.swapdims(b, 1, 2); b.movedim(0, 2)
x.expand(2, 3, 4); y.expand(3, 4); k.expand(3, 4); k.expand(-1, 5); s.expand(2, 2); x.expand_as(b)
t.broadcast_to(y, (3, 4)); k.squeeze(); k.squeeze(1); k.squeeze(0); t.squeeze(k, -1)
k.squeeze((0, 1))
x.unsqueeze(0); x.unsqueeze(-1); t.unsqueeze(x, 1); x.ravel(); x.contiguous(); x.clone()
x.view_as(x)
x.unflatten(1, (2, 2)); x.reshape_as(x)
t.cat([x, u]); t.cat((x, u), 1); t.cat([x, u, p], dim=-1); t.cat([x, e]); t.concat([x, u])
t.cat([x, n])
t.stack([x, u]); t.stack((x, u), 1); t.stack([x, u], dim=-1); t.stack([s, s]); t.hstack([x, u])
t.vstack([x, u])
x.split(2); x.split(2, 1); x.split([1, 3], dim=1); t.split(x, 3, -1); x.chunk(2); x.chunk(3, 1)
t.chunk(x, 2, dim=1)
x.unbind(); x.unbind(1); t.unbind(x, 0); x.split(5); x.chunk(5, 1)
x[0]; x[-1]; x[0, 1]; x[1:]; x[:, 1]; x[:, 1:3]; x[::2]; x[..., 0]; x[None]; x[:, None]
x[0, None, 1]
x[:, :]; x[...]; x[1:1]; b[0]; b[:, 0]; b[..., 1]; b[0, :, 1:]; b[:, 1, 2]; x[0][1]; b[1, ..., 0]
s[...]; s[None]
x[i]; x[i, i]; x[:, i]; x[i, 1]; x[i, 1:]; b[:, i]; b[0, i]; b[i[1:], :, i[1:]]; x[[0, 2]]
x[[2, 2, 0]]
x[m]; x[x > 0]; x[m[:, 0]]; x[:, m[0]]; x[i.reshape(2, 1), i]; x[i, None]; x[-1, [0, 1]]
b[i[1], [0, 1], 2]
x[t.tensor(1)]; x[t.tensor([True, False, True])]; x[1:, [1, 1]]; b[:, :, [0, 0]]; x[True]
x[(0, 1)]
x.select(0, 1); x.select(-1, 2); x.narrow(1, 1, 2); x.index_select(0, i); x.index_select(1, i)
x.gather(0, j)
t.gather(x, 0, j); t.masked_select(x, m); x.masked_fill(m, 0.5)
x.masked_fill(m, s)
t.index_select(x, 1, i)
x @ M; x @ v; v @ v; x.T @ w; w @ x; b @ M; b @ c; b @ v; x @ c; v @ c; t.matmul(x, M)
x.matmul(M)
t.mm(x, M); x.mm(M); t.mv(x, v); x.mv(v); t.dot(v, y); v.dot(y); t.bmm(b, c); b.bmm(c)
t.outer(w, v)
t.addmm(t.ones(3, 5, dtype=x.dtype), x, M); t.inner(v, y); t.vdot(v, y)
x.double(); x.float(); x.half(); x.to(t.float32); x.to(t.float64); n.to(t.float32)
x.type(t.float32)
x.int(); x.long(); x.bool(); n.double(); x.to('cpu'); x.to('cpu', t.float32); x.to(n)
x.to(dtype=t.float16)
x.type_as(n); x.cpu(); n.float(); m.int(); m.float()
t.softmax(x, 0); x.softmax(1); x.softmax(-1); t.log_softmax(x, 1); x.log_softmax(0); b.softmax(1)
s.softmax(0)
t.nn.functional.softmax(x, dim=1); t.nn.functional.log_softmax(x, dim=-1)
x.softmax(0, dtype=t.float32)
t.nn.functional.cross_entropy(x, l); t.nn.functional.cross_entropy(x, l, reduction='none')
t.nn.functional.cross_entropy(x, l, reduction='sum')
t.nn.functional.cross_entropy(x, l, weight=p[0].detach())
t.nn.functional.cross_entropy(x, l, label_smoothing=0.1)
t.nn.functional.cross_entropy(x, l, ignore_index=0)
t.nn.functional.cross_entropy(x, p); t.nn.functional.cross_entropy(x[0], l[0])
t.nn.functional.cross_entropy(b, j % 3)
t.nn.functional.nll_loss(x, l); t.nn.functional.nll_loss(x, l, reduction='sum')
t.nn.functional.nll_loss(x, l, reduction='none')
t.nn.functional.nll_loss(x, l, weight=p[0].detach())
t.nn.functional.nll_loss(x, l, ignore_index=3)
t.nn.functional.mse_loss(x, u); t.nn.functional.mse_loss(x, u, reduction='sum')
t.nn.functional.mse_loss(x, u, reduction='none')
t.zeros_like(x); t.ones_like(n); t.full_like(x, 3); x.new_zeros(2, 3); x.new_tensor([1, 2])
x.new_ones((2,)); t.empty_like(x).shape
x.new_full((2,), 1.5); t.zeros_like(x, dtype=t.int64); x.detach(); x.data; x.requires_grad
x.is_leaf
x.cumsum(0); t.diag(v); t.tril(S); t.triu(S, 1); S.diagonal(); x.flip(0); x.roll(1, 0)
x.repeat(2, 1)
x.tolist(); s.item(); float(s); int(n[0, 0]); bool(m[0, 0]); len(x); x.shape; x.size(); x.size(0)
x.size(-1)
x.numel(); x.dim(); x.ndim; x.nelement(); x.dtype; x.is_floating_point(); n.is_floating_point()
x.is_complex()
x.stride(); x.T.stride(); x.is_contiguous(); x.T.is_contiguous(); x.element_size(); x.itemsize
x.nbytes
x.device; x.shape[0]; x.shape + (1,); x.size().numel(); list(x.shape)
x.storage_offset(); x[1:].storage_offset()
t.is_tensor(x); t.numel(x); t.is_floating_point(x)
1 in n; [float(r.sum()) for r in x]; x.__len__()
"""


# where we mean to differ, and how
DIFFERENT = {
    "7.5 % p": "PyTorch has no derivative of the remainder of a number",
    "t.div(x, p, rounding_mode=None)": "one node for all quotients, not one for each overload",
    "t.nn.functional.cross_entropy(x, p)": "one node for all quotients, not one for each overload",
    "x // 2": "PyTorch refuses to differentiate, we give the gradient zero, as of floor",
    "x // p": "PyTorch refuses to differentiate, we give the gradient zero, as of floor",
    "t.floor_divide(x, p)": "PyTorch refuses to differentiate, we give the gradient zero",
    "x.norm(0)": "PyTorch gives no gradient, we give the gradient zero",
}


@pytest.mark.parametrize("form", forms(FORMS))
def test_form(form):
    for dtype in ("float64", "float32"):
        ours, theirs = (evaluated(form, t, ARRAYS, dtype, node=True) for t in (wengert, torch))
        if form in DIFFERENT:
            with pytest.raises(AssertionError):
                assert_same(ours, theirs)
            return
        rtol = 1e-5 if "float32" in form else 1e-8
        assert_same(ours, theirs, f"{form} ({dtype})", rtol, 1e-4 * rtol)
