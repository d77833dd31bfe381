"""Test arguments that are computed from each other: gradients accumulate once."""

import warnings

import pytest

import wengert as wg

BACKENDS = ("numpy", "llvm")


def options(backend):
    return {"backend": backend, "options": {"measure": False}}


def leaf(*values):
    return wg.tensor(values, dtype=wg.float64, requires_grad=True)


CALLS = {
    "a view of what requires a gradient": lambda f, a: f(a[:1], a.detach()[1:]),
    "a view, and its base": lambda f, a: f(a[0], a),
    "two views": lambda f, a: f(a[:1], a[1:]),
    "overlapping views": lambda f, a: f(a[:2], a[1:]),
    "a leaf, and what was computed from it": lambda f, a: f(a, a * 1),
    "what was computed, and its leaf": lambda f, a: f(a.exp(), a),
    "a chain": lambda f, a: (lambda b: f(b, b * a))(a * 3),
    "two results of one operation": lambda f, a: (lambda b: f(b[0], b[1]))(a.view(3, 1).unbind()),
    "twice the same": lambda f, a: (lambda b: f(b, b))(a * 2),
    "one that is not used": lambda f, a: f(a, a.detach()) + f(a * 2, a.detach() * 1),
}
FUNCTIONS = {
    "product": lambda x, y: (x * y).sum(),
    "one": lambda x, y: (x * x).sum() + y.detach().sum(),
    "several": lambda x, y: ((x * y).sum(), (x.exp() + y).sum())[1],
    "decision": lambda x, y: (x * y).sum() if x.sum() > 0 else (x - y).sum(),
}


def loop(x, y):
    while x.sum() < 50:
        x = x * 2 + y.sum()
    return (x * y).sum()


FUNCTIONS["loop"] = loop


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("call", CALLS)
def test_gradients(call, function, backend):
    f = FUNCTIONS[function]
    compiled = wg.compile(f, **options(backend))
    for _ in range(3):
        a, b = leaf(0.5, 1.5, 2.0), leaf(0.5, 1.5, 2.0)
        CALLS[call](f, a).backward()
        CALLS[call](compiled, b).backward()
        assert wg.allclose(a.grad, b.grad)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", ["product", "several", "decision"])
@pytest.mark.parametrize("call", CALLS)
def test_second_gradients(call, function, backend):
    def second(f, a):
        (g,) = wg.autograd.grad(CALLS[call](f, a), a, create_graph=True)
        return wg.autograd.grad((g * a).square().sum(), a)[0]

    f = FUNCTIONS[function]
    compiled = wg.compile(f, **options(backend))
    for _ in range(3):
        expected = second(f, leaf(0.5, 1.5, 2.0))
        assert wg.allclose(expected, second(compiled, leaf(0.5, 1.5, 2.0)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("call", CALLS)
def test_under_transforms(call, backend):
    f = FUNCTIONS["product"]
    compiled = wg.compile(f, **options(backend))
    x, v = leaf(0.5, 1.5, 2.0).detach(), leaf(1.0, -2.0, 3.0).detach()
    for _ in range(3):
        for transform in (
            lambda g: wg.func.grad(g)(x),
            lambda g: wg.func.vmap(wg.func.grad(g))(wg.stack([x, v])),
            lambda g: wg.func.jvp(wg.func.grad(g), (x,), (v,))[1],
            lambda g: wg.func.grad(lambda y: wg.func.grad(g)(y).square().sum())(x),
        ):
            expected = transform(lambda a: CALLS[call](f, a))
            assert wg.allclose(expected, transform(lambda a: CALLS[call](compiled, a)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_tensors_of_one_history(backend):
    class Mine(wg.Tensor):
        pass

    compiled = wg.compile(lambda x, y: (x * y).sum(), **options(backend))
    for _ in range(3):
        a = leaf(2.0, 3.0)
        b = a * 2
        compiled(b, b.as_subclass(Mine)).backward()
        assert wg.allclose(a.grad, 8 * a.detach())


@pytest.mark.parametrize("backend", BACKENDS)
def test_loops_of_what_was_computed(backend):
    def double(x, y):
        for _ in range(3):
            x = x * 2 if x.sum() > 3 else x * y
        while x.sum() < 100:
            x = x * 2
        return x.sum() * y.sum()

    compiled = wg.compile(double, **options(backend))
    for k in (1.0, 1.0, 2.0, 0.1):
        for values in (lambda a: a, lambda a: a * 1, lambda a: a[:2], lambda a: a.exp()):
            grads = []
            for f in (double, compiled):
                a, c = leaf(0.5, 1.5, 2.0), leaf(1.0, 2.0)
                f(values(a)[:2] * k, c * 2).backward()
                grads.append((a.grad, c.grad))
            for eager, got in zip(*grads, strict=True):
                assert wg.allclose(eager, got)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_closed_over_tensor_that_an_argument_was_computed_from(backend):
    w = leaf(2.0, 3.0)
    compiled = wg.compile(lambda h: (h * w).sum(), **options(backend))
    for _ in range(3):
        w.grad = None
        compiled(w.exp()).backward()
        got, w.grad = w.grad, None
        (w.exp() * w).sum().backward()
        assert wg.allclose(got, w.grad)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_pass_inside_that_goes_on_to_what_was_recorded_before(backend):
    w = leaf(2.0, 3.0)

    def asked(h):
        return wg.autograd.grad((h * h).sum(), w, retain_graph=True)[0] * 1

    def walked(h):
        (h * h).sum().backward(retain_graph=True)
        return w.grad * 1

    for function in (asked, walked):
        compiled = wg.compile(function, **options(backend))
        for k in (1.0, 1.0, 2.0, 3.0):
            seen = []
            for f in (function, compiled):
                w.grad = None
                seen += [f(w * k), w.grad]
            assert wg.equal(seen[0], seen[2])
            assert seen[1] is seen[3] is None or wg.equal(seen[1], seen[3])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_notices_a_pass_notices_one(backend):
    compiled = wg.compile(lambda h: (h * h).sum(), **options(backend))
    for _ in range(3):
        w, log = leaf(1.0, 2.0), []
        h = w * 2
        h.retain_grad()
        h.register_hook(lambda g, log=log: log.append(g.sum().item()))
        compiled(h).backward()
        assert h.grad.tolist() == [4.0, 8.0]
        assert w.grad.tolist() == [8.0, 16.0]
        assert log == [12.0]


def written_by(x, y):
    return {
        "scatter_": lambda: x.scatter_(0, wg.tensor([[0, 1, 2]]), y),
        "index_add_": lambda: x.index_add_(0, wg.tensor([0, 2]), y[:2]),
        "index_copy_": lambda: x.index_copy_(0, wg.tensor([1]), y[:1]),
        "put_": lambda: x.put_(wg.tensor([0, 4]), y[0, :2]),
        "positions": lambda: x.__setitem__(wg.tensor([0, 0]), y[:2]),
        "rows": lambda: x.__setitem__(slice(1, None), y[:-1]),
        "add_": lambda: x.add_(y),
        "set_": lambda: x.set_(y),
    }


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("leaf", [False, True])
@pytest.mark.parametrize("name", list(written_by(None, None)))
def test_writes_of_what_shares_the_memory_raise_compiled_or_not(name, leaf, backend):
    def write(x, y):
        written_by(x, y)[name]()
        return x * 1

    def said(function, make):
        x = wg.arange(9.0).reshape(3, 3).requires_grad_(leaf)
        try:
            return function(x, make(x)).tolist()
        except (RuntimeError, NotImplementedError) as error:
            return str(error)

    compiled = wg.compile(write, backend=backend, options={"measure": False})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = (wg.clone, wg.Tensor.detach, wg.t, lambda x: x.detach()[:], lambda x: x, wg.clone)
        for make in kinds:
            expected = said(write, make)
            assert said(compiled, make) == expected
            assert not leaf or "leaf Variable that requires grad" in expected
