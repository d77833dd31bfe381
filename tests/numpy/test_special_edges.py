"""Functions of ``scipy.special`` on tensors have SciPy's values, also outside of their domains."""

import inspect
import itertools
import warnings

import numpy as np
import pytest

import wengert as wg
import wengert.numpy as wnp
from wengert.tensor.numpy.special import RULES

special = pytest.importorskip("scipy.special")

NUMBERS = np.array(
    [-3.5, -2, -1, -0.3, -0.0, 0, 0.2, 0.5, 1, 2, 3, 7.7, 40, 1e3, np.inf, -np.inf, np.nan]
)
FEW = {3: NUMBERS[[0, 2, 3, 5, 6, 8, 9, 11, 16]], 4: NUMBERS[[0, 3, 5, 6, 8, 10]]}


def found(name):
    return inspect.unwrap(getattr(special, name, None))


# SciPy's own Mathieu functions end the process for some of these numbers, its parabolic cylinder
# functions run out of memory, and its spheroidal ones take minutes
SKIPPED = ("mathieu_", "pbdv", "pbvv", "pro_", "obl_")
UFUNCS = sorted(
    name for name in RULES if isinstance(found(name), np.ufunc) and not name.startswith(SKIPPED)
)


@pytest.mark.sampled(40)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("name", UFUNCS)
def test_values_at_the_edges_are_scipys(name, kind):
    function = found(name)
    if kind is not np.int64 and name.startswith("eval_hermite"):
        pytest.skip("SciPy takes integer degrees only")
    numbers = FEW.get(function.nin, NUMBERS)
    grid = np.array(list(itertools.product(numbers, repeat=function.nin))).T
    if kind is np.int64:
        grid = grid[:, np.all(np.isfinite(grid) & (grid == np.floor(grid)), axis=0)]
    if name == "expn":
        # negative orders, of which SciPy knows none, are those of the derivatives
        grid = grid[:, ~(grid[0] < 0)]
    arrays = [column.astype(kind) for column in grid]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = function(*arrays)
        ours = function(*map(wnp.asarray, arrays))
    for mine, theirs in zip(listed(ours), listed(expected), strict=True):
        assert np.asarray(mine).dtype == theirs.dtype
        near = 1e-8 if kind is not np.float32 else 2e-5
        np.testing.assert_allclose(np.asarray(mine), theirs, rtol=near, atol=near / 20)


def listed(result):
    return result if isinstance(result, tuple) else (result,)


def test_beyond_its_ends_a_share_is_constant():
    x = wnp.asarray([3.0, -3.0, 0.5]).requires_grad_()
    shape = wnp.asarray([0.5, 1.5, 1.5]).requires_grad_()
    wnp.special.tklmbda(x, shape).sum().backward()
    for found in (x.grad, shape.grad):
        assert found[:2].tolist() == [0.0, 0.0] and abs(found[2]) > 0.01


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["bdtr", "bdtrc", "nbdtr", "nbdtrc", "bdtri", "nbdtri"])
def test_counts_are_rounded_down_for_the_derivative_too(name):
    function = getattr(wnp.special, name)
    slopes = []
    for counts in ((1.0, 4.0), (1.7, 4.6)):
        p = wnp.asarray(0.3).requires_grad_()
        function(*counts, p).backward()
        slopes.append(p.grad.item())
    assert slopes[0] == slopes[1]


@pytest.mark.parametrize("name", ["bdtrik", "nbdtrik"])
def test_a_count_below_the_share_of_none_stays_0(name):
    given = [wnp.asarray(value).requires_grad_() for value in (0.3, 0.9, 0.7)]
    found = getattr(wnp.special, name)(*given)
    assert found.item() == 0.0
    assert [g.item() for g in wg.autograd.grad(found, given)] == [0.0, 0.0, 0.0]


@pytest.mark.filterwarnings("ignore:floating point number truncated")
def test_orders_of_exponential_integrals_are_cut_off_for_the_derivative_too():
    slopes = []
    for order in (0, 0.2):
        x = wnp.asarray(0.4).requires_grad_()
        wnp.special.expn(order, x).backward()
        slopes.append(x.grad.item())
    assert slopes[0] == slopes[1] == pytest.approx(-np.exp(-0.4) * (1 / 0.4 + 1 / 0.16))


@pytest.mark.filterwarnings("ignore:invalid value encountered in log")
def test_sums_of_exponentials_with_factors_of_any_sign():
    a, b = np.array([[1.0, 800.0], [2.0, 3.0]]), np.array([[-1.0, 0.0], [2.0, -3.0]])
    x, factors = (wnp.asarray(value).requires_grad_() for value in (a, b))
    found, sign = wnp.special.logsumexp(x, 1, factors, return_sign=True)
    theirs = special.logsumexp(a, 1, b, return_sign=True)
    np.testing.assert_allclose(found.detach().numpy(), theirs[0], rtol=1e-14)
    assert sign.tolist() == theirs[1].tolist() == [-1.0, -1.0]
    assert np.isnan(wnp.special.logsumexp(x, 1, factors).detach().numpy()).all()
    found.sum().backward()
    total = (b[1] * np.exp(a[1])).sum()
    np.testing.assert_allclose(x.grad.numpy()[1], b[1] * np.exp(a[1]) / total, rtol=1e-14)
    np.testing.assert_allclose(factors.grad.numpy()[1], np.exp(a[1]) / total, rtol=1e-14)
