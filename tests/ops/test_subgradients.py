"""Test derivatives at kinks, ties, jumps, zeros and infinities."""

import math

import pytest

import wengert as wg

INF, NAN = math.inf, math.nan

CASES = [
    # kinks
    (lambda x: x.relu(), [-1.0, 0.0, 1.0], [0.0, 0.0, 1.0]),
    (lambda x: x.abs(), [-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]),
    (lambda x: x.clamp(min=0.0), [-1.0, 0.0, 1.0], [0.0, 1.0, 1.0]),
    (lambda x: x.clamp(max=0.0), [-1.0, 0.0, 1.0], [1.0, 1.0, 0.0]),
    (lambda x: x.clamp(-1.0, 1.0), [-2.0, -1.0, 0.0, 1.0, 2.0], [0.0, 1.0, 1.0, 1.0, 0.0]),
    (
        wg.nn.functional.hardsigmoid,
        [-3.5, -3.0, -2.5, 2.5, 3.0, 3.5],
        [0.0, 0.0, 1 / 6, 1 / 6, 0.0, 0.0],
    ),
    # jumps
    (lambda x: x.sign(), [-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]),
    (lambda x: x.floor(), [-1.0, 0.5, 1.0], [0.0, 0.0, 0.0]),
    (lambda x: x.round(), [-1.0, 0.5, 1.0], [0.0, 0.0, 0.0]),
    # ties
    (lambda x: wg.maximum(x, wg.zeros(3)), [-1.0, 0.0, 1.0], [0.0, 0.5, 1.0]),
    (lambda x: wg.minimum(wg.zeros(3), x), [-1.0, 0.0, 1.0], [1.0, 0.5, 0.0]),
    (lambda x: x.max(), [1.0, 3.0, 3.0], [0.0, 0.5, 0.5]),
    (lambda x: x.min(), [1.0, 1.0, 3.0], [0.5, 0.5, 0.0]),
    (lambda x: wg.clamp_min(x, 0.0), [-1.0, 0.0, 1.0], [0.0, 1.0, 1.0]),
    (lambda x: wg.clamp_max(x, 0.0), [-1.0, 0.0, 1.0], [1.0, 1.0, 0.0]),
    (lambda x: x.clamp(min=wg.zeros(3)), [-1.0, 0.0, 1.0], [0.0, 1.0, 1.0]),
    (lambda x: x.clamp(max=wg.zeros(3)), [-1.0, 0.0, 1.0], [1.0, 1.0, 0.0]),
    (lambda x: wg.zeros(3).clamp(min=x), [-1.0, 0.0, 1.0], [0.0, 0.0, 1.0]),
    (lambda x: wg.zeros(3).clamp(max=x), [-1.0, 0.0, 1.0], [1.0, 0.0, 0.0]),
    (lambda x: wg.zeros(3).clamp(x, wg.ones(3)), [-1.0, 0.0, 0.5], [0.0, 0.0, 1.0]),
    (lambda x: wg.ones(3).clamp(wg.zeros(3), x), [0.5, 1.0, 2.0], [1.0, 0.0, 0.0]),
    (lambda x: x.clamp(wg.zeros(4), wg.ones(4)), [-1.0, 0.0, 1.0, 2.0], [0.0, 1.0, 1.0, 0.0]),
    (lambda x: wg.fmax(x, wg.zeros(3)), [-1.0, 0.0, 1.0], [0.0, 1.0, 1.0]),
    (lambda x: wg.fmin(x, wg.zeros(3)), [-1.0, 0.0, 1.0], [1.0, 1.0, 0.0]),
    (lambda x: wg.fmax(wg.zeros(3), x), [-1.0, 0.0, 1.0], [0.0, 0.0, 1.0]),
    (lambda x: x.amax(0), [1.0, 3.0, 3.0], [0.0, 0.5, 0.5]),
    (lambda x: x.max(0).values, [1.0, 3.0, 3.0], [0.0, 1.0, 0.0]),
    (lambda x: x.min(0).values, [1.0, 1.0, 3.0], [1.0, 0.0, 0.0]),
    # zeros
    (lambda x: x.sqrt(), [0.0, 4.0], [INF, 0.25]),
    (lambda x: x.log(), [0.0, 4.0], [INF, 0.25]),
    (lambda x: x.norm(), [0.0, 0.0], [0.0, 0.0]),
    (lambda x: x.norm(dim=0), [0.0, 0.0], [0.0, 0.0]),
    (lambda x: x**2, [0.0, -1.0], [0.0, -2.0]),
    (lambda x: x**0, [0.0, 2.0], [0.0, 0.0]),
    (lambda x: x**1, [0.0, 2.0], [1.0, 1.0]),
    (lambda x: x ** wg.tensor([0.0, 2.0]), [0.0, 0.0], [0.0, 0.0]),
    (lambda x: wg.tensor([0.0, 0.0]) ** x, [0.0, 2.0], [0.0, 0.0]),
    (lambda x: 0.0**x, [0.0, 2.0], [0.0, 0.0]),
    (lambda x: x.prod(), [0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
    (lambda x: x.prod(), [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]),
    (lambda x: x.prod(0), [0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
    # infinities
    (lambda x: x.logsumexp(0), [-INF, 0.0, 0.0], [0.0, 0.5, 0.5]),
    (lambda x: x.logsumexp(0), [-INF, -INF], [NAN, NAN]),
    (lambda x: x.logsumexp(0), [INF, 0.0], [NAN, 0.0]),
    (lambda x: x.logsumexp(0), [INF, -INF], [NAN, 0.0]),
    (lambda x: x.softmax(0)[1], [-INF, 0.0], [0.0, 0.0]),
    (lambda x: x.sigmoid(), [-1000.0, 1000.0], [0.0, 0.0]),
    (lambda x: x.tanh(), [-1000.0, 1000.0], [0.0, 0.0]),
    (lambda x: wg.where(x > 0, x, 0.0), [-INF, NAN, 1.0], [0.0, 0.0, 1.0]),
    (lambda x: x.log_softmax(0)[0], [1000.0, 0.0], [0.0, 0.0]),
    # NaN, which the greatest and the least are where there is any
    (lambda x: x.max(), [1.0, NAN, 3.0, NAN], [0.0, 0.5, 0.0, 0.5]),
    (lambda x: x.min(), [1.0, NAN, 3.0, NAN], [0.0, 0.5, 0.0, 0.5]),
    (lambda x: x.max(0).values, [1.0, NAN, 3.0, NAN], [0.0, 1.0, 0.0, 0.0]),
    (lambda x: x.min(0).values, [1.0, NAN, 3.0, NAN], [0.0, 1.0, 0.0, 0.0]),
    (lambda x: x.amax(0), [1.0, NAN], [NAN, NAN]),
    (lambda x: wg.maximum(x, wg.tensor([1.0, NAN, NAN])), [NAN, 1.0, NAN], [1.0, 1.0, 1.0]),
    (lambda x: wg.minimum(wg.tensor([1.0, NAN, NAN]), x), [NAN, 1.0, NAN], [1.0, 1.0, 1.0]),
    (lambda x: wg.fmax(x, wg.tensor([1.0, NAN, NAN])), [NAN, 1.0, NAN], [0.0, 1.0, 1.0]),
    (lambda x: wg.fmin(wg.tensor([1.0, NAN, NAN]), x), [NAN, 1.0, NAN], [0.0, 1.0, 0.0]),
    (lambda x: x.clamp(0.0, 1.0), [NAN, 0.5], [0.0, 1.0]),
    (lambda x: x.clamp(min=wg.tensor([0.0, NAN])), [NAN, 0.5], [0.0, 0.0]),
    (lambda x: x.relu(), [NAN, 1.0, -1.0], [1.0, 1.0, 0.0]),
]


# tangents of the elements add up, so that one that is not finite spoils the others
FINITE = [case for case in CASES if all(map(math.isfinite, case[2]))]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("function", "at", "expected"), CASES)
def test_subgradient(function, at, expected):
    x = wg.tensor(at, requires_grad=True)
    function(x).sum().backward()
    assert x.grad.tolist() == pytest.approx(expected, nan_ok=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("function", "at", "expected"), FINITE)
def test_forward_mode_agrees(function, at, expected):
    x = wg.tensor(at, dtype=wg.float64)
    (slopes,) = wg.func.jacfwd(lambda x: function(x).sum().reshape(1))(x)
    assert slopes.tolist() == pytest.approx(expected, nan_ok=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("function", "at", "expected"), CASES)
def test_compiled_code_agrees(function, at, expected):
    compiled = wg.compile(function, backend="numpy", options={"measure": False})
    for _ in range(2):
        x = wg.tensor(at, requires_grad=True)
        compiled(x).sum().backward()
        assert x.grad.tolist() == pytest.approx(expected, nan_ok=True)


def test_both_sides_of_a_tie_share():
    a, b = wg.tensor([1.0], requires_grad=True), wg.tensor([1.0], requires_grad=True)
    wg.maximum(a, b).sum().backward()
    assert a.grad.tolist() == b.grad.tolist() == [0.5]
