"""Test that vectorised native loops match eager code for every trip count."""

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("llvmlite")

SIZES = (1, 3, 4, 5, 8, 15, 18, 33)


def compiled(function):
    options = {"measure": False}
    return wg.compile(function, fullgraph=True, backend="llvm", threads=1, options=options)


def same(function, *arrays, tolerance=1e-13):
    expected = function(*map(wg.from_numpy, arrays))
    run = compiled(function)
    run(*map(wg.from_numpy, arrays))
    found = run(*map(wg.from_numpy, arrays))
    expected, found = (x if isinstance(x, tuple) else (x,) for x in (expected, found))
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=tolerance, atol=tolerance)
    return run


def numbers(*shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


FUNCTIONS = {
    "elements": lambda x: (x * 2 + 1, x.exp(), x.sigmoid().tanh()),
    "sums": lambda x: (x.sum(), x.square().sum() + x.max() - x.min(), (x + 2).prod()),
    "decisions": lambda x: (x.where(x > 0, -x), (x > 2).any(), (x > -9).all(), x.relu()),
    "mixed": lambda x: ((x > 0).to(wg.float64) + x.float().double(), (x * 8).long() + 1),
    "functions": lambda x: (x.atan2(x + 3), (x.abs() + 0.5).pow(x), x.abs().lgamma(), x.sin()),
    "counts": lambda x: (x > 0).sum(),
    "joined": lambda x: wg.cat((x[:1] * 2, x, x[1:].neg())) * 3,
    "padded": lambda x: wg.nn.functional.pad(x, (2, 3)).exp().sum() + x[-1],
    "turned": lambda x: x.flip(0) + x.roll(1, 0),
    "strided": lambda x: wg.stack((x, x * 2, x * 3), 1).square() + x[:, None],
    "rows": lambda x: (x[:, None] * x).softmax(0),
    "columns": lambda x: (x[:, None] * x).softmax(1),
    "between": lambda x: (x[:, None] - x).square().sum(1) + (x[:, None] - x).exp().sum(0),
    "running": lambda x: ((x[:, None] * x).cumsum(0), (x[:, None] + x).cumsum(1)),
    "positions": lambda x: (x.argmax(), (x[:, None] * x).argmin(1), (x[:, None] * x).argmax(0)),
    "gathered": lambda x: x[wg.arange(len(x) - 1, -1, -1) // 2] * x,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_loops_of_any_length_compute_what_eager_code_does(name):
    for n in SIZES:
        same(FUNCTIONS[name], numbers(n, seed=n))


def test_loops_of_single_precision_compute_what_eager_code_does():
    for n in SIZES:
        x = numbers(n, dtype=np.float32, seed=n)
        same(lambda x: (x.exp() * 2, x.sum(), (x[:, None] * x).amax(0)), x, tolerance=1e-5)


def test_loops_of_integers_and_bools_compute_what_eager_code_does():
    for n in SIZES:
        x = np.random.default_rng(n).integers(-5, 6, n)
        same(lambda x: (x * 3 - 1, x.sum(), x.max(), abs(x), x // 2, (x > 0) & (x < 3), -x), x)
        same(lambda x: (x.logical_not(), x & ~x, x.sum(), x.any(), x.to(wg.float32)), x > 0)


@pytest.mark.parametrize("inner", [1, 2, 3, 4])
def test_short_inner_loops_are_written_out(inner):
    x, y = numbers(21, inner), numbers(inner, inner, seed=1)

    def function(x, y):
        turned = (x[:, :, None] * y).sum(1)
        return turned.exp() / turned.exp().sum(1, keepdim=True), turned.square().sum(0)

    same(function, x, y)


def test_a_loop_is_cut_where_elements_come_from_elsewhere():
    def gradient(x):
        def rosenbrock(x):
            return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

        return wg.func.grad(rosenbrock)(x)

    for n in (2, 3, 5, 30):
        same(gradient, numbers(n))
    text = same(gradient, numbers(5000)).llvm()
    # nothing is decided for each element
    assert " phi double" not in text
    assert "x double> " in text


def test_a_loop_with_many_cuts_has_its_long_pieces_in_vectors():
    def gradient(x):
        def smooth(x):
            n = len(x) - 4
            shifted = [x[k : n + k] * x[2 : n + 2] * (k + 1.0) for k in range(5)]
            return sum((part**2).sum() for part in shifted)

        return wg.func.grad(smooth)(x)

    for n in (5, 6, 7, 12, 30, 61):
        same(gradient, numbers(n))
    assert "store <" in same(gradient, numbers(5000)).llvm()


def test_writes_over_an_argument_read_it_before():
    def step(x, y):
        x.mul_(2).add_(y)
        return x.sum()

    run = compiled(step)
    for n in SIZES:
        x, y = numbers(n), numbers(n, seed=1)
        for _ in range(3):
            given = wg.from_numpy(x.copy())
            total = run(given, wg.from_numpy(y))
            np.testing.assert_allclose(given.numpy(), x * 2 + y, rtol=1e-15)
            np.testing.assert_allclose(total.item(), (x * 2 + y).sum(), rtol=1e-12)
        run = compiled(step)


def over_inputs(run):
    """How many results the native code of a compiled function computes over its inputs."""
    (_, entry), *others = run.entries
    assert not others
    return sum(len(f.buffers.over) for f in entry.tree.root.executable._functions)


def looked_up_before(x, rows, table):
    found = table[rows]
    x.mul_(2).add_(found)
    return x.sum()


def looked_up_behind(x, rows, table):
    x.mul_(2).add_(1)
    total = x.sum()
    return total + table[rows.flip(0)].exp().sum()


def looked_up_in_between(x, rows, table):
    x.mul_(2)
    table.mul_(table[rows].sum() + x.sum())
    return x.sum()


@pytest.mark.parametrize(
    ("function", "over"),
    [(looked_up_before, {1}), (looked_up_behind, {0, 1}), (looked_up_in_between, {0, 1, 2})],
)
def test_where_indices_may_be_wrong_arguments_are_written_to_when_they_are_known(function, over):
    run = compiled(function)
    for n in (3, 40, 500):
        for wrong in (None, None, None, n, -n - 1, None):
            given = numbers(n), np.arange(n)[::-1].copy(), numbers(n, seed=1)
            if wrong is not None:
                given[1][n // 2] = wrong
            ours = [wg.from_numpy(a.copy()) for a in given]
            theirs = [wg.from_numpy(a.copy()) for a in given]
            if wrong is None:
                np.testing.assert_allclose(run(*ours).item(), function(*theirs).item(), 1e-12)
            else:
                for f, tensors in ((run, ours), (function, theirs)):
                    with pytest.raises(IndexError):
                        f(*tensors)
            for one, other in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12)
        assert over_inputs(run) in over
        run = compiled(function)


def test_places_of_extremes_are_found_row_by_row():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 50, (1100, 130)).astype(float)
    x[3, 7] = x[3, 90] = x[4, -1] = x[5, 0] = np.nan
    x[6], x[7] = np.inf, -np.inf

    def places(x):
        y = x * x.sign()
        return y.argmin(1), y.argmax(1, keepdim=True), (-y).argmin(-1), y.argmax(0), y.argmin()

    for given in (x, x.astype(np.float32), rng.integers(0, 9, (1100, 130))):
        text = str(same(places, given).explain())
        assert "x 130: " in text
        assert "by NumPy" not in text


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places_of_extremes_are_the_first_ones_along_any_dimension(name):
    x = np.random.default_rng(3).integers(0, 4, (5, 1, 7))
    for dtype in (np.float32, np.int32, np.uint8):
        for dim in (None, 0, 1, 2):

            def places(x, dim=dim):
                return getattr(x, name)(dim), getattr(x, name)(dim, keepdim=True)

            same(places, x.astype(dtype))
    same(lambda x: getattr(x, name)(), np.array(2.0))


def test_positions_are_counted_in_vectors():
    def chosen(i, x):
        there = i[:, None] == wg.arange(x.shape[1])
        return wg.where(there, x, -x), (there * wg.arange(x.shape[1]).flip(0)).sum(1)

    for n in (3, 8, 17, 40):
        x = numbers(9, n)
        same(chosen, np.arange(9) % n, x)
        same(lambda x: (x.cumsum(0) > 0).int().argmax(0), x)


def test_the_first_of_equal_extremes_is_found_and_nan_before_all():
    def places(x):
        return x.argmax(1), x.argmin(1)

    for n in (2, 5, 8, 13, 16, 19, 40, 100):
        x = np.random.default_rng(n).integers(0, 3, (6, n)).astype(float)
        x[3, n // 2] = x[3, -1] = x[4, 0] = np.nan
        same(places, x)
