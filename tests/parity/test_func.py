"""Test transforms against torch.func: values, shapes and dtypes."""

import itertools

import numpy as np
import pytest

import wengert
from support.parity import outcome
from support.transforms import POINT, programs, transforms

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 3))
A = RNG.normal(size=(3, 3))
THEIRS = transforms(torch)
# two forward passes through a custom Function lose a term in PyTorch: tests/func has differences
NAMES = ["polynomial", "waves", "written", "network", "ordered", "inner", "watched"]
PAIRS = [
    pair
    for pair in itertools.product(THEIRS, THEIRS)
    if not ("linearize" in pair or set(pair) <= {"chunks", "vmap"})
]


def leaves(value):
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def agree(body):
    """Compare what ``body(module, tensor)`` gives on either side."""
    found = []
    for module in (wengert, torch):
        value = body(module, module.tensor)
        found.append([leaf.detach().numpy() for leaf in leaves(value)])
    mine, theirs = found
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_pairs(number):
    outer, inner = PAIRS[number]
    name = NAMES[number % len(NAMES)]

    def body(m, tensor):
        of = transforms(m)
        return of[outer](of[inner](programs(m)[name]))(tensor(POINT))

    agree(body)


@pytest.mark.parametrize("transform", THEIRS)
def test_single_transforms_of_custom_functions(transform):
    agree(lambda m, tensor: transforms(m)[transform](programs(m)["functions"])(tensor(POINT)))


def f(v):
    return (v.sin() * v).sum() * v[0]


def tall(m):
    return lambda v: m.stack([v[0] * v[1], v[1].exp(), v[2] * v.sum(), v.prod()])


FORMS = {
    "aux": lambda m, t: m.func.grad(lambda v: (f(v), (v * 2,)), has_aux=True)(t(X[0])),
    "argnums": lambda m, t: m.func.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(
        t(X[0]), t(X[1])
    ),
    "tree": lambda m, t: m.func.grad(lambda p: (p["w"] @ p["b"]).sum())({"w": t(A), "b": t(X[0])}),
    "vjp": lambda m, t: m.func.vjp(tall(m), t(X[0]))[1](t(np.arange(4.0))),
    "jvp": lambda m, t: m.func.jvp(tall(m), (t(X[0]),), (t(X[1]),)),
    "jacrev of containers": lambda m, t: m.func.jacrev(
        lambda a, b: (a @ b, {"k": a.sum() * b}), argnums=(0, 1)
    )(t(A), t(X[0])),
    "jacfwd of containers": lambda m, t: m.func.jacfwd(
        lambda a, b: (a @ b, {"k": a.sum() * b}), argnums=(0, 1)
    )(t(A), t(X[0])),
    "hessian by two": lambda m, t: m.func.hessian(lambda a, b: (a * b).sin().sum(), argnums=(0, 1))(
        t(X[0]), t(X[1])
    ),
    "in_dims": lambda m, t: m.func.vmap(
        m.func.grad(lambda w, x: (w @ x).tanh().sum()), in_dims=(None, 0)
    )(t(A), t(X)),
    "out_dims": lambda m, t: m.func.vmap(lambda x: (x * 2, x.sum()), out_dims=(1, 0))(t(X)),
    "in_dims 1": lambda m, t: m.func.vmap(lambda x: x.cumsum(0), in_dims=1, out_dims=1)(t(X)),
    "chunks": lambda m, t: m.func.vmap(lambda x: x.sin().sum(), chunk_size=3)(t(X)),
    "three times": lambda m, t: m.func.grad(
        m.func.grad(m.func.grad(lambda x: x.sin() * x**3))
    )(t(0.7)),
    "five": lambda m, t: m.func.vmap(
        m.func.grad(
            lambda x: m.func.vmap(
                m.func.grad(lambda y: m.func.jvp(lambda z: (z * x * y).sin().sum(), (y,), (x,))[1])
            )(t(X)).sum()
        )
    )(t(X)),
    "perturbations": lambda m, t: m.func.grad(
        lambda x: x * m.func.grad(lambda y: x + y)(t(1.0))
    )(t(1.0)),
    "inverse": lambda m, t: m.func.vmap(
        m.func.hessian(lambda x: m.linalg.inv(t(A) + m.outer(x, x)).sum())
    )(t(X)),
    "eigenvalues": lambda m, t: m.func.hessian(
        lambda x: m.linalg.eigvalsh(t(A + A.T) + m.outer(x, x))[0]
    )(t(X[0])),
    "extremes": lambda m, t: m.func.jacfwd(
        lambda x: m.stack([x.max(), x.max(0)[0], x.amax(), x.min(), x.norm(), x.var(), x.std()])
    )(t(X[0])),
    "where": lambda m, t: m.func.vmap(
        m.func.grad(lambda x: m.where(x > 0, x, x.exp()).sum())
    )(t(X)),
    "einsum": lambda m, t: m.func.vmap(
        m.func.hessian(lambda x: m.einsum("i,ij,j->", x, t(A), x))
    )(t(X)),
    "index": lambda m, t: m.func.vmap(lambda x, i: x[i])(t(X), t([0, 2, 1, 0])),
    "indices": lambda m, t: m.func.vmap(
        lambda x, i: (x[i], x.index_select(0, i), m.gather(x, 0, i)), in_dims=(None, 0)
    )(t(X[0]), t([[0, 2], [1, 0], [1, 1], [2, 0]])),
    "cross_entropy": lambda m, t: m.func.vmap(
        m.func.grad(lambda x, k: m.nn.functional.cross_entropy(x, k))
    )(t(X), t([0, 2, 1, 0])),
    "layer_norm": lambda m, t: m.func.vmap(
        m.func.grad(lambda x: m.nn.functional.layer_norm(x, (3,)).prod())
    )(t(X)),
    "conv1d": lambda m, t: m.func.vmap(
        m.func.grad(
            lambda w, x: m.nn.functional.conv1d(x[None, None], w[None, None]).pow(2).sum()
        )
    )(t(X[:, :2]), t(X)),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    agree(FORMS[name])


ERRORS = {
    "a vector": lambda m: m.func.grad(lambda x: x)(m.ones(2)),
    "a number": lambda m: m.func.grad(lambda x: 1.0)(m.ones(2)),
    "argnums": lambda m: m.func.grad(f, argnums=1)(m.ones(2)),
    "argnums twice": lambda m: m.func.grad(f, argnums=(0, 0))(m.ones(2)),
    "no aux": lambda m: m.func.grad(f, has_aux=True)(m.ones(2)),
    "in_dims": lambda m: m.func.vmap(f, in_dims=(0, 0))(m.ones(2, 2)),
    "in_dims None": lambda m: m.func.vmap(f, in_dims=None)(m.ones(2, 2)),
    "in_dims beyond": lambda m: m.func.vmap(f, in_dims=2)(m.ones(2, 2)),
    "sizes": lambda m: m.func.vmap(m.add)(m.ones(2), m.ones(3)),
    "no inputs": lambda m: m.func.vmap(f)(),
    "control flow": lambda m: m.func.vmap(lambda x: x if x > 0 else -x)(m.ones(2)),
    "item": lambda m: m.func.vmap(lambda x: x * x.item())(m.ones(2)),
    "out_dims None": lambda m: m.func.vmap(m.sin, out_dims=None)(m.ones(2)),
    "no tensor": lambda m: m.func.vmap(lambda x: 1)(m.ones(2)),
    "primals": lambda m: m.func.jvp(f, m.ones(2), m.ones(2)),
    "tangents": lambda m: m.func.jvp(f, (m.ones(2),), (m.ones(2), m.ones(2))),
    "out_dims": lambda m: m.func.vmap(f, out_dims=(0, 0))(m.ones(2, 2)),
    "out_dims of no kind": lambda m: m.func.vmap(f, out_dims="a")(m.ones(2, 2)),
    "a tangent's size": lambda m: m.func.jvp(f, (m.ones(2),), (m.ones(3),)),
    "integers": lambda m: m.func.grad(f)(m.ones(2, dtype=m.int64)),
    "a mask": lambda m: m.func.vmap(lambda x: x[x > 0])(m.eye(2)),
    "a row without zeros": lambda m: m.func.vmap(m.nonzero)(m.tensor([[0.0, 1], [1, 1]])),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_the_same(name):
    mine, theirs = outcome(ERRORS[name], wengert), outcome(ERRORS[name], torch)
    assert theirs.kind in mine.kinds, (mine, theirs)
    assert mine.words(8) == theirs.words(8)


OF_NONE = """
t.sort(x)[1]
t.cummax(x, 0)[0]
x.mode()[1]
t.median(x)
x.topk(2)[0]
x.kthvalue(1)[0]
t.linalg.inv(x)
t.linalg.cholesky(x)
t.linalg.svd(x)[0]
F.max_pool1d(x, 2)
F.layer_norm(x, (3,))
F.embedding(i, t.ones(4, 2))
F.one_hot(i, 4)
t.ones(5).gather(0, i[0])
t.zeros(5).scatter_add(0, i[0], t.ones(3))
t.ones(5).index_select(0, i[0])
t.func.grad(lambda x: x.sort()[0].sum())(x)
t.func.jvp(lambda x: x.sort()[0], (x,), (x,))[1]
"""


def facts(t, call, count):
    x, i = t.ones(count, 3, 3), t.ones(count, 3, 3, dtype=t.long)
    made = t.vmap(lambda x, i: eval(call, {"t": t, "F": t.nn.functional, "x": x, "i": i}))(x, i)
    return tuple(made.shape), str(made.dtype)


@pytest.mark.parametrize("call", OF_NONE.strip().splitlines())
def test_a_batch_without_elements_gives_one(call):
    assert facts(wengert, call, 0) == facts(torch, call, 0)


@pytest.mark.parametrize(
    "call",
    [
        "F.batch_norm(x[None], None, None, training=True)",
        "F.group_norm(x, 1)",
        "t.ones(5).take(i)",
        "t.quantile(x, 0.5)",
        "F.conv1d(x, t.ones(2, 3, 1))",
    ],
)
def test_a_batch_without_elements_has_the_shape_of_others(call):
    (rows, *rest), dtype = facts(wengert, call, 2)
    assert facts(wengert, call, 0) == ((0, *rest), dtype) and rows == 2


def test_a_batch_without_elements_does_not_tell_sizes_that_values_decide():
    for function in (wengert.unique, wengert.nonzero, lambda x: wengert.bincount(x.long()[0])):
        with pytest.raises(RuntimeError, match="a batch without elements says nothing"):
            wengert.vmap(function)(wengert.ones(0, 3, 3))
