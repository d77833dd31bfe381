"""Test dataclasses and attrs classes as containers of parameters."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert import func
from wengert.base.containers import flatten, paths
from wengert.compat import autograd


@dataclasses.dataclass(frozen=True)
class Frozen:
    w: Any
    b: Any
    name: str = dataclasses.field(default="line", metadata={"static": True})

    def __post_init__(self):
        if isinstance(self.w, float):
            raise ValueError("a number is not a weight")


@dataclasses.dataclass(slots=True)
class Slotted:
    w: Any
    b: Any


def by_attrs():
    attrs = pytest.importorskip("attrs")
    return attrs.make_class("ByAttrs", ["w", "b"])


CLASSES = {"frozen": lambda: Frozen, "slotted": lambda: Slotted, "attrs": by_attrs}


@pytest.fixture(params=CLASSES)
def cls(request):
    return CLASSES[request.param]()


def loss(p):
    return ((p.w * wg.tensor([1.0, 2.0])).sum() + p.b) ** 2


def test_gradients_have_the_class(cls):
    p = cls(wg.tensor([0.5, 0.25]), wg.tensor(1.0))
    gradient = func.grad(loss)
    for transform in (gradient, wg.compile(gradient, fullgraph=True)):
        found = transform(p)
        assert type(found) is cls
        assert found.w.tolist() == [4.0, 8.0]
        assert found.b.item() == 4.0
    assert p.b.item() == 1.0
    _, tangent = func.jvp(loss, (p,), (p,))
    assert tangent.item() == 8.0
    rows = func.vmap(func.grad(loss))(cls(wg.ones(3, 2), wg.ones(3)))
    assert rows.w.shape == (3, 2)


def test_dimensions_of_vmap_have_the_class(cls):
    p = cls(wg.ones(2, 3), wg.tensor(1.0))
    rows = func.vmap(loss, in_dims=(cls(0, None),))
    with pytest.raises(RuntimeError, match="size of tensor"):
        rows(p)
    turned = func.vmap(loss, in_dims=(cls(1, None),))
    assert turned(p).tolist() == [16.0] * 3
    again = func.vmap(lambda w: cls(w, w.sum()), out_dims=cls(1, 0))(p.w)
    assert again.w.shape == (3, 2) and again.b.tolist() == [3.0, 3.0]


def test_solvers_of_scipy_take_them(cls):
    pytest.importorskip("scipy")
    solve = wg.scipy.minimize
    found = solve(lambda p: ((p.w - 1) ** 2).sum() + (p.b - 2) ** 2, cls(np.zeros(2), 0.0)).x
    assert type(found) is cls
    np.testing.assert_allclose([*np.asarray(found.w), float(found.b)], [1, 1, 2], atol=1e-6)


def test_constructors_do_not_run_and_static_fields_stay():
    leaves, rebuild = flatten({"p": Frozen(1, [2, 3], "curve")})
    assert leaves == [1, 2, 3]
    assert paths({"p": Frozen(1, [2, 3])}, "x") == ["x['p'].w", "x['p'].b[0]", "x['p'].b[1]"]
    made = rebuild([4.0, 5, 6])["p"]
    assert (made.w, made.b, made.name) == (4.0, [5, 6], "curve")
    leaves, rebuild = flatten(Frozen)
    assert leaves == [Frozen]


@pytest.mark.filterwarnings("ignore:.*is not compiled:UserWarning")
def test_a_compiled_function_sees_fields_that_are_no_tensors_and_writes_to_them():
    @dataclasses.dataclass
    class State:
        w: Any
        n: int

    def step(state):
        state.w = state.w * state.n
        return state.w.sum()

    compiled = wg.compile(step)
    for n in (2, 3, 2):
        state = State(wg.ones(2), n)
        assert compiled(state).item() == 2 * n
        assert state.w.tolist() == [n, n]


def test_gradients_by_the_fields_of_a_container(cls):
    params = cls(wg.ones(2, requires_grad=True), wg.ones(2, requires_grad=True))
    found = wg.autograd.grad((params.w * 3).sum() + params.b.sum(), params)
    assert type(found) is cls
    assert (found.w.tolist(), found.b.tolist()) == ([3.0, 3.0], [1.0, 1.0])


def test_optimisers_pictures_and_other_idioms_take_them(cls):
    p = cls(wg.tensor([0.5, 0.25], requires_grad=True), wg.tensor(1.0, requires_grad=True))
    loss(p).backward()
    for params in (p, [{"params": p}]):
        optimizer = wg.optim.SGD(params, lr=0.0625)
        assert list(map(id, optimizer.param_groups[0]["params"])) == [id(p.w), id(p.b)]
    optimizer.step()
    assert p.w.tolist() == [0.25, -0.25]
    names = {"w": p.w, "b": p.b}
    assert str(wg.viz.draw(loss(p), params=p)) == str(wg.viz.draw(loss(p), params=names))
    point = cls(np.array([0.5, 0.25]), np.array(1.0))
    hips = autograd.grad(lambda p: (p.w @ np.array([1.0, 2.0]) + p.b) ** 2)(point)
    assert type(hips) is cls
    assert hips.w.tolist() == [4.0, 8.0] and float(hips.b) == 4.0
    with pytest.raises(TypeError, match="jacobian takes"):
        autograd.jacobian(lambda p: p.w)(point)


def test_examples_are_collated_into_one_of_batches(cls):
    examples = [cls(np.full(2, float(i)), {"n": i}) for i in range(3)]
    batches = list(wg.utils.data.DataLoader(examples, batch_size=3))
    assert [type(batch) for batch in batches] == [cls]
    assert batches[0].w.tolist() == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    assert batches[0].b["n"].tolist() == [0, 1, 2]
    (alone, *_) = wg.utils.data.DataLoader(examples, batch_size=None)
    assert type(alone) is cls and wg.equal(alone.w, wg.zeros(2, dtype=wg.float64))
    assert isinstance(examples[0].w, np.ndarray)


def test_comparison_goes_by_field(cls):
    wg.testing.assert_close(cls(wg.ones(2), 1.0), cls(wg.ones(2) + 1e-7, 1.0))
    with pytest.raises(AssertionError, match=r"for item \[0\]\['w'\]"):
        wg.testing.assert_close([cls(wg.ones(2), 1.0)], [cls(wg.zeros(2), 1.0)])
    with pytest.raises(TypeError, match="No comparison pair"):
        wg.testing.assert_close(cls(1, 1), {"w": 1, "b": 1})
