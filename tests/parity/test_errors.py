"""Test that errors of invalid input have PyTorch's type and first words."""

import pytest

import wengert
from support.parity import Failure, assert_same, outcome

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

# each line raises in PyTorch
LINES = """
x + t.ones(5)
x * t.ones(2, 2)
x - t.ones(4, 3)
x / t.ones(7)
x ** t.ones(7)
t.maximum(x, t.ones(7))
x < t.ones(7)
t.where(x > 0, x, t.ones(7))
x + 'a'
x * None
x @ t.ones(5, 2)
t.mm(x, t.ones(5, 2))
t.mm(x, v)
t.mv(x, t.ones(7))
t.mv(v, v)
t.dot(v, t.ones(7))
t.dot(x, x)
t.bmm(x, x)
t.bmm(b, t.ones(2, 7, 5))
t.matmul(x, t.tensor(2.0))
x @ 2
x @ x.double().t()
t.mm(n, x)
x.view(5)
x.reshape(5)
x.view(-1, -1)
x.reshape(-1, 5)
x.t().view(12)
b.t()
x.transpose(0, 5)
x.permute(0)
x.permute(0, 0)
x.permute(0, 2)
x.expand(4, 4)
x.expand(3)
x.unsqueeze(5)
x.squeeze(5)
x.flatten(1, 0)
t.cat([])
t.cat([x, t.ones(5, 5)])
t.cat([x, v])
t.cat([x, x], dim=5)
t.stack([])
t.stack([x, v])
x.split([1, 1])
x.split(0)
x.split(-1)
x.chunk(0)
x.sum(5)
x.sum((0, 0))
x.mean(5)
n.mean()
x.max(5)
t.empty(0).max()
t.empty(0, 3).max(0)
t.empty(0).argmax()
t.empty(0).amax()
x.var(7)
x.logsumexp(4)
n.logsumexp(0) if False else x.softmax(9)
x.softmax()
x[5]
x[0, 0, 0]
x[0, 7]
x['a']
x[1.5]
x[t.tensor([5])]
x[t.tensor([1.5])]
x[t.ones(5, dtype=t.bool)]
x[::-1]
x.index_select(0, t.tensor([9]))
x.gather(0, t.tensor([[9]]))
x.gather(5, t.tensor([[0]]))
t.tensor([[1, 2], [3]])
t.tensor('a')
t.tensor([1, 'a'])
t.tensor(1, dtype=t.int64, requires_grad=True)
t.tensor([1, 2]).requires_grad_()
t.zeros(-1)
t.zeros('a')
t.ones(2, dtype='float99')
t.arange(0, 5, 0)
t.arange(0, 5, -1)
t.full((2,), 'a')
t.randint(5, 2, (3,))
t.eye(-1)
t.linspace(0, 1, -2)
x.item()
t.empty(0).item()
bool(x)
float(x)
int(x)
if_(x)
len(t.tensor(1.0))
iter(t.tensor(1.0))
hash_ok(x).nothing
x.nothing
x.backward()
s.backward()
(r * r).backward()
(r * r).sum().backward(t.ones(3))
(r * r).backward(t.ones(7))
(r * r).backward('a')
t.autograd.grad(r.sum(), x)
t.autograd.grad(x, r)
t.autograd.grad(r * r, r)
t.autograd.grad((r * r).sum(), s)
t.autograd.grad(r.sum(), [r, q])
t.autograd.grad((r * r).sum(), r, t.ones(5))
twice(t, r)
r.add_(1)
r.mul_(2)
r.zero_()
r[:1].add_(1)
index_write(r)
saved(t, r)
n.add_(1.5)
n.div_(2)
x.add_(t.ones(5, 3, 4))
v.add_(x)
x.copy_(t.ones(5))
assign(x, 9)
shape_write(t, x)
r.numpy()
(r * 2).numpy()
(r * 2).requires_grad_(False)
x.retain_grad()
x.register_hook(print)
t.clamp(x)
x.clamp('a')
t.nn.functional.cross_entropy(x, t.tensor([0, 1, 9]))
t.nn.functional.cross_entropy(x, t.tensor([0, 1]))
t.nn.functional.nll_loss(x, t.tensor([0.0, 1.0, 1.0]))
t.nn.functional.nll_loss(x, t.tensor([0, 1, 9]))
t.nn.functional.mse_loss(x, x, reduction='nonsense')
t.nn.functional.cross_entropy(x, t.tensor([0, 1, 1]), reduction='nonsense')
t.device('nonsense')
x.to('nonsense')
~x
x & x
x | 1
n ** -1
n % 0
n // 0
t.set_default_dtype(t.int64)
t.finfo(t.int64)
t.iinfo(t.float32)
t.add(x)
t.add()
x.sum(bad=1)
t.exp()
t.exp(2.0)
t.sum(3)
t.erf(None)
t.autograd.grad((r * r).sum(), [])
"""

HELPERS = """
def if_(x):
    if x:
        pass

def hash_ok(x):
    return {x: 1}[x]

def twice(t, r):
    y = (r * r).sum()
    y.backward()
    y.backward()

def index_write(r):
    r[0] = 5.0

def saved(t, r):
    y = r.exp()
    y.add_(1)
    y.sum().backward()

def assign(x, i):
    x[i] = 1.0

def shape_write(t, x):
    x[0] = t.ones(7)
"""


def run(line, t):
    scope = {
        "t": t,
        "x": t.arange(12.0).reshape(3, 4) - 5,
        "v": t.ones(4),
        "b": t.ones(2, 3, 4),
        "n": t.tensor([1, 2, 3]),
        "s": t.tensor(1.0),
        "r": t.tensor([1.0, 2.0, 3.0], requires_grad=True),
        "q": t.tensor([1.0, 2.0, 3.0], requires_grad=True),
    }
    exec(HELPERS, scope)
    return eval(line, scope)


@pytest.mark.parametrize("line", LINES.strip().splitlines())
def test_error(line):
    theirs = outcome(lambda t: run(line, t), torch)
    assert isinstance(theirs, Failure), f"PyTorch does not refuse {line}: {theirs}"
    ours = outcome(lambda t: run(line, t), wengert)
    # a call with wrong arguments fails in Python here, in PyTorch's parser there
    words = 0 if theirs.kind == "TypeError" and "argument" in theirs.text else 3
    assert_same(ours, theirs, line, words=words)
    assert ours.text, f"{line}: {ours!r} says nothing"
