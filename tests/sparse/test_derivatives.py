"""Test colourings, and the compressed sparse Jacobians and Hessians."""

import numpy as np
import pytest

import wengert as wg

sparse = pytest.importorskip("scipy.sparse")


def banded(x):
    """Five diagonals."""
    y = (3 - 2 * x) * x
    y[1:] -= x[:-1].sin()
    y[:-1] -= 2 * x[1:]
    y[2:] += x[:-2] * x[2:]
    y[:-2] += x[2:] ** 2
    return y


def jacobian_of(f, x):
    return wg.autograd.functional.jacobian(f, wg.tensor(x)).numpy().reshape(-1, x.size)


def test_a_banded_jacobian_of_ten_thousand_takes_five_passes():
    x = np.linspace(-1, 1, 10_000)
    coloring = wg.sparse.color(wg.sparse.pattern(banded, x))
    assert coloring.passes <= 5
    assert coloring.pattern.nnz == 5 * x.size - 6
    matrix = wg.sparse.jacobian(banded, x, coloring, check=True)
    assert isinstance(matrix, sparse.csr_array)
    # the first and the last rows are those of a small one with the same values there
    for part in (slice(0, 50), slice(-50, None)):
        truth = jacobian_of(banded, x[part])
        inner = slice(0, 45) if part.start == 0 else slice(5, None)
        rows = matrix[part.start : part.stop].toarray()[:, part]
        assert np.allclose(rows[inner], truth[inner])


@pytest.mark.parametrize("mode", ["rows", "columns", "auto"])
def test_jacobians_are_those_by_dense_passes(mode):
    rng = np.random.default_rng(0)
    index = wg.tensor(rng.integers(0, 30, 60))
    functions = {
        "banded": banded,
        "tall": lambda x: x[index] * x[index.flip(0)],
        "wide": lambda x: x.view(5, 6).sum(0),
        "matrix": lambda x: (x.view(5, 6) ** 2).t(),
        "arrow": lambda x: wg.cat([x.sum().view(1), x[1:] * x[0]]),
        "number": lambda x: x[3:5].prod(),
        "empty": lambda x: x[:0],
        "constant": lambda x: x.detach() * 2,
    }
    for name, f in functions.items():
        x = rng.standard_normal(30)
        coloring = wg.sparse.color(wg.sparse.pattern(f, x), mode=mode)
        for at in (x, x + 1):
            matrix = wg.sparse.jacobian(f, at, coloring, check=True)
            assert np.allclose(matrix.toarray(), jacobian_of(f, at)), name


def test_the_number_of_passes_is_that_of_the_colors(monkeypatch):
    from wengert.sparse import passes

    calls = []
    run = passes.run_grad
    monkeypatch.setattr(passes, "run_grad", lambda *a: calls.append(1) or run(*a))
    x = np.ones(100)
    coloring = wg.sparse.color(wg.sparse.pattern(banded, x), mode="rows")
    wg.sparse.jacobian(banded, x, coloring)
    assert len(calls) == coloring.passes == 5


def test_colors_are_right():
    rng = np.random.default_rng(1)
    for _ in range(20):
        matrix = rng.random((15, 20)) < 0.15
        for mode, lines in (("rows", matrix), ("columns", matrix.T)):
            coloring = wg.sparse.color(matrix, mode=mode)
            assert coloring.colors.shape == (lines.shape[0],)
            for color in range(coloring.passes):
                assert lines[coloring.colors == color].sum(0).max(initial=0) <= 1
        auto = wg.sparse.color(matrix)
        assert auto.passes == min(
            wg.sparse.color(matrix, mode=mode).passes for mode in ("rows", "columns")
        )


def test_star_colors_are_right():
    rng = np.random.default_rng(2)
    for density in (0.1, 0.2, 0.4):
        for _ in range(15):
            half = rng.random((14, 14)) < density
            matrix = half | half.T
            coloring = wg.sparse.color(matrix, mode="star")
            c = coloring.colors
            around = [[j for j in np.flatnonzero(matrix[i]) if j != i] for i in range(14)]
            for a in range(14):
                for b in around[a]:
                    assert c[a] != c[b]
                    for d in around[b]:
                        for e in around[d]:
                            if len({a, b, d, e}) == 4:
                                assert len({c[a], c[b], c[d], c[e]}) > 2
            values = rng.standard_normal((14, 14)) * matrix
            values = values + values.T
            found = coloring.assembled(values @ coloring.seed(k) for k in range(coloring.passes))
            assert np.allclose(found.toarray(), values)


def test_an_arrow_takes_two_passes():
    # by rows or columns alone, as many as it has
    arrow = np.eye(50)
    arrow[0] = arrow[:, 0] = 1
    assert wg.sparse.color(arrow, mode="star").passes == 2
    assert wg.sparse.color(arrow).passes == 50


def test_hessians_are_those_by_dense_passes():
    rng = np.random.default_rng(0)
    pairs = wg.tensor(rng.integers(0, 30, (2, 40)))
    functions = {
        "rosenbrock": lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum(),
        "arrow": lambda x: (x * x[0]).exp().sum(),
        "pairs": lambda x: (x[pairs[0]] * x[pairs[1]] ** 2).sum(),
        "linear": lambda x: x.sum(),
        "separable": lambda x: x.cosh().sum(),
        "constant": lambda x: x.detach().sum(),
    }
    for name, f in functions.items():
        x = rng.standard_normal(30) / 2
        coloring = wg.sparse.color(wg.sparse.hessian_pattern(f, x), mode="star")
        for at in (x, x + 0.5):
            truth = wg.autograd.functional.hessian(f, wg.tensor(at)).numpy()
            matrix = wg.sparse.hessian(f, at, coloring, check=True)
            assert isinstance(matrix, sparse.csr_array)
            assert np.allclose(matrix.toarray(), truth), name
            assert np.allclose(wg.sparse.hessian(f, at).toarray(), truth), name


def test_a_pattern_that_is_too_small_is_found_out():
    def f(x):
        return x * 2 if x[0] > 0 else x * x.roll(1)

    coloring = wg.sparse.color(wg.sparse.pattern(f, np.ones(5)))
    wg.sparse.jacobian(f, np.full(5, 3.0), coloring, check=True)
    with pytest.raises(ValueError, match="does not have the pattern of the colouring"):
        wg.sparse.jacobian(f, -np.arange(1.0, 6.0), coloring, check=True)


def test_colorings_that_do_not_fit_are_refused():
    coloring = wg.sparse.color(np.eye(3), mode="star")
    with pytest.raises(ValueError, match=r"shape \(3, 3\), but the derivative has \(4, 4\)"):
        wg.sparse.jacobian(lambda x: x, np.ones(4), coloring)
    with pytest.raises(ValueError, match="for Hessians"):
        wg.sparse.jacobian(lambda x: x, np.ones(3), coloring)
    with pytest.raises(ValueError, match="not"):
        wg.sparse.color(np.triu(np.ones((3, 3))), mode="star")
    with pytest.raises(ValueError, match="mode must be one of"):
        wg.sparse.color(np.eye(3), mode="lines")
    with pytest.raises(ValueError, match="must return one number"):
        wg.sparse.hessian(lambda x: x, np.ones(3))


def test_patterns_may_be_given_as_any_matrix():
    expected = wg.sparse.color(np.eye(4)).passes
    for matrix in (sparse.eye(4, format="coo"), sparse.eye_array(4, format="csc"), np.eye(4) > 0):
        assert wg.sparse.color(matrix).passes == expected == 1


def test_results_have_the_dtype_of_the_function():
    assert wg.sparse.jacobian(lambda x: x**2, wg.ones(3)).dtype == np.float32
    assert wg.sparse.jacobian(lambda x, a: x**2 * a, np.arange(3), args=(2.0,)).dtype == np.float64
