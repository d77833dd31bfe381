"""Test that views in compiled functions behave as in eager ones."""

import itertools

import pytest

import wengert as wg


class Shown(wg.autograd.Function):
    """Gives a view of its input."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g


def unrecorded(base):
    with wg.no_grad():
        return base[1:3]


def unrecorded_write(base, view):
    with wg.no_grad():
        base.mul_(2)


VIEWS = {
    "unbind": lambda base: base.unbind(0)[-1],
    "split": lambda base: base.split(2)[0],
    "chunk": lambda base: base.chunk(2)[1],
    "no_grad": unrecorded,
    "slice": lambda base: base[1:3],
    "Function": Shown.apply,
    "detach": lambda base: base.detach(),
}
WRITES = {
    "an element": lambda base, view: base.__setitem__(0, 0.25),
    "base": lambda base, view: base.mul_(2),
    "view": lambda base, view: view.mul_(2),
    "recorded": lambda base, view: base.add_(base.sum()),
    "unrecorded": unrecorded_write,
}
USES = {
    "sum": lambda base, view: view.sum(),
    "sin": lambda base, view: view.sin(),
    "both": lambda base, view: base.sum() + view.sum(),
    "compare": lambda base, view: view > 0,
    "double": lambda base, view: view.double() * 1,
    "view": lambda base, view: view.view(-1),
    "add_": lambda base, view: view.add_(1),
    "item": lambda base, view: view.sum().item(),
    "detach": lambda base, view: view.detach() * 2,
    "complex": lambda base, view: wg.complex(view, view),
}


def seen(function):
    """What a function gives, with its gradient, or the beginning of its error."""
    x = wg.tensor([0.1, 0.2, 0.3, 0.4], dtype=wg.float64, requires_grad=True)
    try:
        result = function(x)
        if not isinstance(result, wg.Tensor) or not result.requires_grad:
            return [getattr(result, "tolist", lambda: result)()]
        real = result.real if result.is_complex() else result
        return [result.tolist(), wg.autograd.grad(real.sum(), x)[0].tolist()]
    except RuntimeError as error:
        return str(error)[:60]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize(("made", "written"), list(itertools.product(VIEWS, WRITES)))
def test_a_view_that_lost_its_history_is_refused(made, written, backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    for use in USES.values():

        def function(x, use=use):
            base = x.sin()
            view = VIEWS[made](base)
            WRITES[written](base, view)
            return use(base, view)

        expected = seen(function)
        found = seen(wg.compile(function, backend=backend))
        assert str(found) == str(expected)


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize(
    "taken",
    [
        lambda x, at: x[at],
        lambda x, at: x.t()[at],
        lambda x, at: x[:, at],
        lambda x, at: x[at, at],
        lambda x, at: x[x.argmax() // 3],
        lambda x, at: x[at, 1:],
    ],
)
@pytest.mark.filterwarnings("ignore:.*is not compiled")
def test_a_tensor_of_one_integer_as_index_makes_a_view(taken, backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    outside = wg.tensor(1)
    for at_of in (lambda at: at, lambda at: outside, lambda at: wg.tensor(2)):
        compiled = wg.compile(lambda x, at, of=at_of: taken(x, of(at)), backend=backend)
        for k in (0, 1, 1, 2):
            found, expected = (wg.arange(9.0).reshape(3, 3) for _ in range(2))
            here = compiled(found, wg.tensor(k))
            there = taken(expected, at_of(wg.tensor(k)))
            assert here.stride() == there.stride()
            here.add_(100)
            there.add_(100)
            assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.filterwarnings("ignore:.*is not compiled")
def test_bytes_as_elements_of_another_kind_are_the_same_memory(backend):
    def written(x):
        bits = x.view(wg.int64)
        halves = (x * 2).view(wg.float32)
        bits[0] = 0
        return bits, halves, x * 1

    compiled = wg.compile(written, backend=backend)
    for k in range(3):
        found, expected = (wg.arange(1.0, 4.0, dtype=wg.float64) + k for _ in range(2))
        here, there = compiled(found), written(expected)
        here[0][1] = there[0][1] = 0
        assert [t.tolist() for t in (*here, found)] == [t.tolist() for t in (*there, expected)]
    assert "view(dtype)" in compiled.reason.what


def test_bytes_have_no_elements_of_another_kind_under_a_transform():
    with pytest.raises(RuntimeError, match=r"view\(dtype\) is not supported under a transform"):
        wg.func.vmap(lambda x: x.view(wg.int32))(wg.ones(2, 3))


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.filterwarnings("ignore:.*is not compiled")
def test_the_diagonal_of_a_view_that_got_other_memory_lies_there(backend):
    def filled(a, b):
        a.data = b.clone()
        a.fill_diagonal_(5)
        return b.t(), a * 1

    compiled = wg.compile(filled, backend=backend)
    for _ in range(3):
        found, expected = (wg.arange(12.0).reshape(4, 3) for _ in range(2))
        here, there = compiled(found[1:], found[:3]), filled(expected[1:], expected[:3])
        assert [t.tolist() for t in (*here, found)] == [t.tolist() for t in (*there, expected)]


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.filterwarnings("ignore:.*is not compiled")
def test_a_view_has_the_history_that_a_write_to_its_base_gave_it(backend):
    def written(x):
        part = x.flatten().requires_grad_().expand(2, 1)
        x.view(-1)[0] = -1
        return part

    compiled = wg.compile(written, backend=backend)
    for _ in range(3):
        here, there = compiled(wg.tensor(3.0)), written(wg.tensor(3.0))
        assert (here.requires_grad, here.is_leaf) == (there.requires_grad, there.is_leaf)
        assert here.tolist() == there.tolist()
