"""Test public functions in their many forms against NumPy's values."""

import numpy as np
import pytest

import wengert as wg

RNG = np.random.default_rng(3)
ARRAYS = {
    "x": RNG.standard_normal((3, 4)),
    "y": RNG.standard_normal(4),
    "p": RNG.uniform(0.5, 2.0, (3, 4)),
    "u": RNG.uniform(-0.9, 0.9, (3, 4)),
    "b": RNG.standard_normal((2, 3, 4)),
    "s": np.array(1.5),
    "m": RNG.random((3, 4)) > 0.5,
    "n": RNG.integers(1, 9, (3, 4)),
    "i": np.array([2, 0]),
}

# the form, and the same in NumPy
FORMS = """
x + y                                     = x + y
wg.add(x, y, alpha=2)                     = x + 2 * y
wg.sub(x, y, alpha=2)                     = x - 2 * y
1 - x                                     = 1 - x
2 / p                                     = 2 / p
p ** x                                    = p ** x
2 ** x                                    = 2 ** x
x ** 2                                    = x ** 2
n // 2                                    = n // 2
x // p                                    = x // p
x % 2                                     = np.mod(x, 2)
wg.remainder(x, -2)                       = np.mod(x, -2)
wg.fmod(x, 2)                             = np.fmod(x, 2)
wg.div(x, p, rounding_mode="floor")       = np.floor(x / p)
wg.div(x, p, rounding_mode="trunc")       = np.trunc(x / p)
wg.exp(x)                                 = np.exp(x)
x.exp2()                                  = np.exp2(x)
x.expm1()                                 = np.expm1(x)
p.log()                                   = np.log(p)
p.log2()                                  = np.log2(p)
p.log10()                                 = np.log10(p)
p.log1p()                                 = np.log1p(p)
p.sqrt()                                  = np.sqrt(p)
p.rsqrt()                                 = 1 / np.sqrt(p)
p.reciprocal()                            = 1 / p
x.square()                                = x * x
x.sin()                                   = np.sin(x)
x.cos()                                   = np.cos(x)
u.tan()                                   = np.tan(u)
u.asin()                                  = np.arcsin(u)
u.acos()                                  = np.arccos(u)
x.atan()                                  = np.arctan(x)
x.sinh()                                  = np.sinh(x)
x.cosh()                                  = np.cosh(x)
x.tanh()                                  = np.tanh(x)
x.asinh()                                 = np.arcsinh(x)
(p + 1).acosh()                           = np.arccosh(p + 1)
u.atanh()                                 = np.arctanh(u)
wg.atan2(x, p)                            = np.arctan2(x, p)
wg.hypot(x, p)                            = np.hypot(x, p)
x.sigmoid()                               = 1 / (1 + np.exp(-x))
x.relu()                                  = np.maximum(x, 0)
x.abs()                                   = np.abs(x)
x.sign()                                  = np.sign(x)
x.floor()                                 = np.floor(x)
x.ceil()                                  = np.ceil(x)
x.round()                                 = np.round(x)
x.trunc()                                 = np.trunc(x)
x.clamp(-0.5, 0.5)                        = np.clip(x, -0.5, 0.5)
x.clamp(min=0)                            = np.maximum(x, 0)
x.clamp(max=0)                            = np.minimum(x, 0)
x.clamp(min=u, max=p)                     = np.minimum(np.maximum(x, u), p)
wg.maximum(x, u)                          = np.maximum(x, u)
wg.minimum(x, u)                          = np.minimum(x, u)
wg.where(m, x, u)                         = np.where(m, x, u)
wg.where(m, x, 0.0)                       = np.where(m, x, 0.0)
x > u                                     = x > u
x.le(0)                                   = x <= 0
m & ~m                                    = m & ~m
wg.isnan(x)                               = np.isnan(x)
x @ x.t()                                 = x @ x.T
x @ y                                     = x @ y
b @ y                                     = b @ y
b @ x.t()                                 = b @ x.T
wg.mm(x, x.t())                           = x @ x.T
wg.mv(x, y)                               = x @ y
wg.dot(y, y)                              = y @ y
x.sum()                                   = x.sum()
x.sum(0)                                  = x.sum(0)
x.sum(-1, keepdim=True)                   = x.sum(-1, keepdims=True)
b.sum((0, 2))                             = b.sum((0, 2))
n.sum()                                   = n.sum()
x.mean()                                  = x.mean()
x.mean(1)                                 = x.mean(1)
x.mean((0, 1), keepdim=True)              = x.mean((0, 1), keepdims=True)
x.prod()                                  = x.prod()
x.prod(1)                                 = x.prod(1)
x.max()                                   = x.max()
x.max(1)[0]                               = x.max(1)
x.max(1).indices                          = x.argmax(1)
x.min(0).values                           = x.min(0)
x.amax((0, 1))                            = x.max()
x.amin(1)                                 = x.min(1)
x.argmax()                                = x.argmax()
x.argmin(0)                               = x.argmin(0)
x.logsumexp(1)                            = np.log(np.exp(x).sum(1))
x.var()                                   = x.var(ddof=1)
x.var(0, unbiased=False)                  = x.var(0)
x.var(1, correction=2)                    = x.var(1, ddof=2)
x.std(1)                                  = x.std(1, ddof=1)
x.norm()                                  = np.linalg.norm(x)
x.norm(1)                                 = np.abs(x).sum()
x.norm(dim=1)                             = np.linalg.norm(x, axis=1)
x.norm(float("inf"))                      = np.abs(x).max()
x.norm(3, dim=0, keepdim=True)            = (np.abs(x) ** 3).sum(0, keepdims=True) ** (1 / 3)
x.reshape(4, 3)                           = x.reshape(4, 3)
x.reshape(-1)                             = x.reshape(-1)
x.reshape((2, -1))                        = x.reshape(2, -1)
x.view(2, 6)                              = x.reshape(2, 6)
x.t()                                     = x.T
b.transpose(0, 2)                         = b.transpose(2, 1, 0)
b.permute(2, 0, 1)                        = b.transpose(2, 0, 1)
b.flatten(1)                              = b.reshape(2, 12)
y.expand(3, 4)                            = np.broadcast_to(y, (3, 4))
x[:, :1].expand(-1, 4)                    = np.broadcast_to(x[:, :1], (3, 4))
x[:1].squeeze(0)                          = x[0]
x.unsqueeze(1)                            = x[:, None]
wg.cat([x, u], 1)                         = np.concatenate([x, u], 1)
wg.cat((x, n))                            = np.concatenate([x, n])
wg.stack([x, u], -1)                      = np.stack([x, u], -1)
x.split(3, 1)[0]                          = x[:, :3]
x.split([1, 2])[1]                        = x[1:]
x.chunk(2)[1]                             = x[2:]
x[1]                                      = x[1]
x[1:, ::2]                                = x[1:, ::2]
x[..., None, 0]                           = x[..., None, 0]
x[i]                                      = x[i]
x[:, i]                                   = x[:, i]
x[i, i]                                   = x[i, i]
x[m]                                      = x[m]
b[0, i, 1:]                               = b[0, i, 1:]
b[i[1], :, [0, 1]]                        = b[0][:, [0, 1]]
x.softmax(1)                              = np.exp(x) / np.exp(x).sum(1, keepdims=True)
x.log_softmax(0)                          = x - np.log(np.exp(x).sum(0))
wg.nn.functional.mse_loss(x, u)           = ((x - u) ** 2).mean()
wg.nn.functional.nll_loss(x, n[0, :3] % 4) = -x[[0, 1, 2], n[0, :3] % 4].mean()
x.double()                                = x
n.to(wg.float64)                          = n.astype(float)
x.long()                                  = x.astype(np.int64)
wg.zeros_like(n)                          = np.zeros_like(n)
wg.full_like(x, 2.5)                      = np.full_like(x, 2.5)
wg.arange(5)                              = np.arange(5)
wg.arange(1, 10, 3)                       = np.arange(1, 10, 3)
wg.arange(0.0, 1.0, 0.25).double()        = np.arange(0, 1, 0.25)
wg.linspace(0, 1, 5, dtype=wg.float64)    = np.linspace(0, 1, 5)
wg.eye(3, 2, dtype=wg.float64)            = np.eye(3, 2)
wg.full((2, 3), 7)                        = np.full((2, 3), 7)
wg.tensor([[1, 2], [3, 4]])               = np.array([[1, 2], [3, 4]])
wg.tensor(x.tolist(), dtype=wg.float64)   = x
"""


def forms():
    for line in FORMS.strip().splitlines():
        form, _, expected = line.partition("  = ") if "  = " in line else line.partition(" = ")
        yield form.strip(), expected.strip()


@pytest.mark.parametrize(("form", "expected"), list(forms()))
def test_value(form, expected):
    names = {
        name: wg.tensor(a.tolist(), dtype=getattr(wg, a.dtype.name)) for name, a in ARRAYS.items()
    }
    ours = eval(form, {"wg": wg, **names})
    theirs = np.asarray(eval(expected, {"np": np, **ARRAYS}))
    assert tuple(ours.shape) == theirs.shape
    assert str(ours.dtype).removeprefix("torch.") == theirs.dtype.name
    np.testing.assert_allclose(np.array(ours.tolist()).reshape(theirs.shape), theirs, 1e-12, 1e-12)


@pytest.mark.parametrize("value", [-1.0, wg.tensor(-1.0)], ids=["number", "tensor"])
def test_masked_fill_lies_in_order_whatever_its_input_does(value):
    x = wg.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
    filled = x.masked_fill(x > 4, value)
    assert filled.stride() == (6, 3, 1)
    assert filled.tolist() == wg.where(x > 4, -1.0, x).tolist()
    written = x.clone()
    assert written.masked_fill_(x > 4, value).stride() == x.stride()
    assert written.tolist() == filled.tolist()
