"""Test that compiled functions check their own gradients for NaN once any occurs."""

import numpy as np
import pytest

import wengert as wg
from wengert.compiler.tracing import speculation
from wengert.tape.masked import nan_in

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch):
    monkeypatch.setattr(speculation, "_LEAST", 1)


def slope(x):
    y = wg.where(x > 0, x.sqrt() * x.cos(), 0 * x)
    return wg.autograd.grad((y * y.exp() * x.sin() * 2).sum(), x)[0]


# what becomes of NaN in a gradient, if it were there, does not show in the result
USES = {
    "handed out": lambda x: slope(x),
    "compared": lambda x: wg.where(slope(x) > 0, 1.0, -1.0),
    "sorted": lambda x: slope(x).sort()[1],
    "without NaN": lambda x: slope(x).nan_to_num(7.0),
    "largest place": lambda x: slope(x).argmax(),
    "as integers": lambda x: slope(x).long(),
    "clamped": lambda x: wg.fmax(slope(x), wg.tensor(-5.0)),
    "power": lambda x: slope(x) ** 0,
    "part": lambda x: slope(x)[1:] * 2,
    "sum": lambda x: slope(x).sum() + x,
    "decided": lambda x: x * 2 if slope(x).sum() < 100 else x * 3,
    "number": lambda x: x * slope(x).sum().item(),
    "twice": lambda x: slope(slope(x).detach().requires_grad_() + 1),
    "descent": lambda x: descent(x),
    "written": lambda x: written(x),
    "second order": lambda x: curvature(x),
}


def descent(x):
    point = x.detach()
    for _ in range(3):
        point = (point - 0.01 * slope(point.requires_grad_())).detach()
    return point


def written(x):
    point, step = x.detach().clone(), slope(x)
    with wg.no_grad():
        point.sub_(step)
    return point


def curvature(x):
    y = wg.where(x > 0, x.sqrt() * x.sin(), 0 * x)
    (g,) = wg.autograd.grad((y * y).sum(), x, create_graph=True)
    return wg.autograd.grad((g * g.relu()).sum(), x)[0]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("name", USES)
def test_results_are_those_of_the_function_whenever_nan_comes(name, backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    starts = [(1.0, 2.0, 0.5), (0.0, 2.0, 0.5), (1.0, -1.0, 0.0), (0.3, 0.2, 0.1)]
    for order in (starts, starts[1:] + starts[:1]):
        compiled = wg.compile(USES[name], backend=backend, options={"measure": False})
        for start in order:
            found = []
            for function in (USES[name], compiled, compiled):
                x = wg.tensor(start, dtype=wg.float64, requires_grad=True)
                found.append(function(x).detach().numpy())
            np.testing.assert_allclose(found[1], found[0], rtol=1e-12, err_msg=f"{start}")
            np.testing.assert_array_equal(found[2], found[1], err_msg=f"{start}")


def test_nothing_is_searched_until_there_is_nan(monkeypatch):
    looked = []

    def noted(array):
        looked.append(nan_in(array))
        return looked[-1]

    monkeypatch.setattr(speculation, "nan_in", noted)
    compiled = wg.compile(slope, backend="numpy", options={"measure": False})
    compiled(wg.tensor([1.0, 1.0], requires_grad=True))
    for start, found in ((1.0, [False]), (2.0, [False]), (0.0, [True]), (1.0, [])):
        looked.clear()
        compiled(wg.tensor([start, 1.0], requires_grad=True))
        assert looked == found


def test_a_program_that_searches_little_is_run_as_it_is(monkeypatch):
    monkeypatch.setattr(speculation, "_LEAST", 100)
    monkeypatch.setattr(speculation, "nan_in", None)
    compiled = wg.compile(slope, backend="numpy", options={"measure": False})
    for start in (1.0, 0.0):
        x = wg.tensor([start, 1.0], requires_grad=True)
        assert compiled(x).allclose(slope(x), equal_nan=True)
