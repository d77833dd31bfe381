"""Test linear systems, factorisations and products, beyond the record table."""

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import gradcheck, gradgradcheck
from wengert.base import extras
from wengert.kernels import batches, scipy
from wengert.kernels import factors as kernels
from wengert.kernels import linear_systems as system_kernels
from wengert.kernels.products import matrix_exp

# the older functions say which ones take their place
pytestmark = pytest.mark.filterwarnings("ignore:torch.* is deprecated in favor of")

RNG = np.random.default_rng(11)


def _real(*shape):
    return wg.tensor(RNG.standard_normal(shape), requires_grad=True)


def _complex(*shape):
    values = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)
    return wg.tensor(values, requires_grad=True)


@pytest.fixture
def without_scipy(monkeypatch):
    monkeypatch.setattr(scipy, "_linalg", lambda part: None)


# -- singular matrices ----------------------------------------------------------------------------

SINGULAR = {
    "solve": (lambda A: wg.linalg.solve(A, wg.ones(2)), "torch.linalg.solve: {}The solver failed"),
    "inv": (wg.linalg.inv, "linalg.inv: {}The diagonal element 1 is zero, the inversion could"),
    "inverse": (wg.inverse, "linalg.inv: {}The diagonal element 1 is zero, the inversion could"),
    "matrix_power": (lambda A: wg.matrix_power(A, -2), "linalg.inv: {}The diagonal element 1 is"),
    "cholesky": (wg.linalg.cholesky, "linalg.cholesky: {}The factorization could not be completed"),
    "old cholesky": (wg.cholesky, "cholesky: {}The factorization could not be completed because"),
    "cholesky_inverse": (wg.cholesky_inverse, "cholesky_inverse: {}The diagonal element 1 is zero"),
    "lu_factor": (wg.linalg.lu_factor, "torch.linalg.lu_factor: {}U[1,1] is zero and using it on"),
    "solve_ex": (
        lambda A: wg.linalg.solve_ex(A, wg.ones(2), check_errors=True),
        "torch.linalg.solve_ex: {}The solver failed because the input matrix is singular.",
    ),
    "inv_ex": (
        lambda A: wg.linalg.inv_ex(A, check_errors=True),
        "linalg.inv_ex: {}The diagonal element 1 is zero",
    ),
    "cholesky_ex": (
        lambda A: wg.linalg.cholesky_ex(A, check_errors=True),
        "linalg.cholesky_ex: {}The factorization could not be completed",
    ),
    "lu_factor_ex": (
        lambda A: wg.linalg.lu_factor_ex(A, check_errors=True),
        "torch.linalg.lu_factor_ex: {}U[1,1] is zero",
    ),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_singular_matrices_raise_and_name_the_batch_element(name):
    function, message = SINGULAR[name]
    with pytest.raises(wg.linalg.LinAlgError) as caught:
        function(wg.zeros(2, 2))
    assert str(caught.value).startswith(message.format(""))
    with pytest.raises(wg.linalg.LinAlgError) as caught:
        function(wg.stack([wg.eye(2), wg.eye(2), wg.zeros(2, 2)]))
    assert str(caught.value).startswith(message.format("(Batch element 2): "))


def test_the_error_is_a_runtime_error():
    assert issubclass(wg.linalg.LinAlgError, RuntimeError)


def test_ex_functions_return_where_a_matrix_is_singular():
    both = wg.stack([2 * wg.eye(2), wg.tensor([[1.0, 2.0], [2.0, 4.0]])])
    for results in (
        wg.linalg.inv_ex(both),
        wg.linalg.solve_ex(both, wg.eye(2)[None]),
        wg.linalg.solve_ex(both, wg.eye(2)[None], left=False),
    ):
        assert results.info.tolist() == [0, 2]
        assert results.info.dtype == wg.int32
        assert results[0][0].tolist() == [[0.5, 0.0], [0.0, 0.5]]
        assert not results[0][1].isfinite().all()
    assert wg.linalg.lu_factor_ex(both).info.tolist() == [0, 2]


def test_cholesky_ex_gives_the_first_minor_that_is_not_positive():
    A = wg.tensor([[4.0, 2.0, 1.0], [2.0, 1.0, 0.0], [1.0, 0.0, 3.0]])
    factor, info = wg.linalg.cholesky_ex(wg.stack([A, wg.eye(3), -wg.eye(3)]))
    assert info.tolist() == [2, 0, 1]
    assert factor[1].equal(wg.eye(3))
    assert float(factor[0, 0, 0]) == 2 and factor[0, 1:, 1].isnan().all()


# -- determinants ---------------------------------------------------------------------------------


def _minor(A, i, j):
    return (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(A, i, 0), j, 1))


@pytest.mark.parametrize(
    "A",
    [
        np.array([[1.0, 2.0], [2.0, 4.0]]),
        np.arange(9.0).reshape(3, 3),
        np.zeros((2, 2)),
        np.diag([1.0, 0.0, 0.0]),
        np.diag([2.0, 3.0, 0.0]),
        np.array([[0.0]]),
    ],
)
def test_the_gradient_of_det_is_right_for_singular_matrices(A):
    x = wg.tensor(A, requires_grad=True)
    (g,) = wg.autograd.grad(wg.det(x), x)
    n = len(A)
    expected = [[_minor(A, i, j) for j in range(n)] for i in range(n)]
    np.testing.assert_allclose(g.numpy(), expected, atol=1e-12)


def test_the_second_derivative_of_det_is_right_for_singular_matrices():
    for A in (np.zeros((2, 2)), np.diag([2.0, 3.0, 0.0]), np.arange(9.0).reshape(3, 3)):
        assert gradgradcheck(wg.det, wg.tensor(A, requires_grad=True))
    A = wg.tensor(np.diag([1.0 + 1j, 0.0, 2.0]), requires_grad=True)
    assert gradcheck(wg.det, A) and gradgradcheck(wg.det, A)


def test_a_third_derivative_of_det():
    x = wg.tensor(np.diag([2.0, 3.0, 5.0]), requires_grad=True)
    (first,) = wg.autograd.grad(wg.det(x), x, create_graph=True)
    (second,) = wg.autograd.grad(first[0, 0], x, create_graph=True)
    (third,) = wg.autograd.grad(second[1, 1], x)
    expected = np.zeros((3, 3))
    expected[2, 2] = 1
    np.testing.assert_allclose(third.numpy(), expected, atol=1e-12)


def test_an_overflowing_determinant_is_infinite_without_a_warning():
    assert wg.det(wg.eye(400, dtype=wg.float64) * 1e3) == np.inf


def test_logdet_of_singular_and_negative_determinants():
    assert wg.logdet(wg.zeros(2, 2)) == -np.inf
    assert wg.logdet(wg.tensor([[0.0, 1.0], [1.0, 0.0]])).isnan()
    turned = wg.logdet(wg.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=wg.complex128))
    assert turned.imag == pytest.approx(np.pi)


def test_a_singular_matrix_that_is_masked_has_no_part_in_the_gradient():
    x = wg.tensor(np.stack([2 * np.eye(2), np.zeros((2, 2))]), requires_grad=True)
    values = wg.linalg.slogdet(x).logabsdet
    wg.where(values.isfinite(), values, 0).sum().backward()
    assert x.grad.tolist() == [[[0.5, 0.0], [0.0, 0.5]], [[0.0, 0.0], [0.0, 0.0]]]


# -- derivatives with respect to what a record cannot draw ----------------------------------------


def test_cholesky_of_complex_matrices():
    def factor(A, upper):
        return wg.linalg.cholesky(A @ A.mH + 2 * wg.eye(3), upper=upper)

    for upper in (False, True):
        A = _complex(2, 3, 3)
        assert gradcheck(lambda A, upper=upper: factor(A, upper), A)
        assert gradgradcheck(lambda A, upper=upper: factor(A, upper), A)


def test_the_gradient_of_cholesky_is_hermitian():
    for A in (_real(3, 3), _complex(3, 3)):
        B = (A @ A.mH + wg.eye(3)).detach().requires_grad_()
        wg.linalg.cholesky(B).abs().sum().backward()
        assert wg.allclose(B.grad, B.grad.mH)


def test_cholesky_reads_one_triangle():
    A = wg.tensor([[4.0, np.nan], [2.0, 10.0]])
    assert wg.linalg.cholesky(A).tolist() == [[2.0, 0.0], [1.0, 3.0]]
    assert wg.linalg.cholesky(A.mT, upper=True).tolist() == [[2.0, 1.0], [0.0, 3.0]]


@pytest.mark.parametrize("upper", [False, True])
def test_solutions_with_cholesky_factors(upper):
    make = wg.triu if upper else wg.tril
    for draw in (_real, _complex):
        B, L = draw(2, 3, 2), draw(3, 3)

        def solved(B, L):
            return wg.cholesky_solve(B, make(L) + 2 * wg.eye(3), upper)

        assert gradcheck(solved, (B, L)) and gradgradcheck(solved, (B, L))
        factor = make(L) + 2 * wg.eye(3)
        A = factor.mH @ factor if upper else factor @ factor.mH
        assert wg.allclose(A @ wg.cholesky_solve(B, factor, upper), B + 0 * A[0, 0])
        assert wg.allclose(A @ wg.cholesky_inverse(factor, upper), wg.eye(3, dtype=A.dtype))


def test_a_triangle_that_is_not_read_has_no_gradient():
    B, L = _real(3, 2), _real(3, 3)
    for value in (
        wg.cholesky_solve(B, L),
        wg.cholesky_inverse(L),
        wg.linalg.solve_triangular(L, B, upper=False),
    ):
        (g,) = wg.autograd.grad(value.sum(), L)
        assert not g.triu(1).any() and g.count_nonzero() == 6


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
def test_least_squares_of_complex_matrices_and_low_rank(driver):
    for shape in ((4, 2), (2, 4)):
        A, B = _complex(*shape), _complex(shape[0], 2)
        assert gradcheck(lambda A, B: wg.linalg.lstsq(A, B, driver=driver).solution, (A, B))
    if driver != "gels":
        low = np.outer([1.0, 2.0, 3.0], [1.0, -1.0])
        found = wg.linalg.lstsq(wg.tensor(low), wg.ones(3, dtype=wg.float64), driver=driver)
        np.testing.assert_allclose(found.solution.numpy(), np.linalg.pinv(low) @ np.ones(3))
        assert int(found.rank) == 1


def test_what_lstsq_returns_beside_the_solution():
    A, B = _real(5, 2), _real(5, 3)
    found = wg.linalg.lstsq(A, B, driver="gelsd")
    apart = (A @ found.solution - B).pow(2).sum(0)
    assert wg.allclose(found.residuals, apart) and found.residuals.requires_grad
    assert wg.allclose(found.singular_values, wg.linalg.svdvals(A))
    assert wg.linalg.lstsq(A, B).residuals.shape == (0,)
    assert wg.linalg.lstsq(A, B, driver="gels").rank.shape == (0,)
    with pytest.raises(RuntimeError, match="parameter `driver` should be one of"):
        wg.linalg.lstsq(A, B, driver="qr")
    with pytest.raises(RuntimeError, match="The least squares solution could not be computed"):
        # exactly singular however it is rounded
        wg.linalg.lstsq(wg.tensor([[1.0, 0.0]] * 3), wg.ones(3, 1), driver="gels")


# -- factors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape", [(3, 3), (2, 4), (4, 2), (9, 3, 3), (2, 0, 2), (0, 3, 3), (30, 2)]
)
@pytest.mark.parametrize("draw", [_real, _complex])
def test_the_factors_multiply_to_the_matrix(shape, draw):
    A = draw(*shape)
    P, L, U = wg.linalg.lu(A)
    assert wg.allclose(P @ L @ U, A)
    # pivots are chosen by the sum of both parts
    assert (L.abs() <= 1.5).all() and L.triu(1).count_nonzero() == 0
    again = wg.lu_unpack(*wg.lu(A))
    assert all(a.equal(b) for a, b in zip(again, (P, L, U), strict=True))


def test_pivots_are_those_of_lapack():
    LU, pivots = wg.linalg.lu_factor(wg.tensor([[1.0, 2.0, 0.0], [4.0, 4.0, 1.0], [2.0, 9.0, 3.0]]))
    assert pivots.tolist() == [2, 3, 3] and pivots.dtype == wg.int32
    assert LU[1].tolist() == [0.5, 7.0, 2.5]


def test_every_way_to_eliminate_gives_the_same(without_scipy):
    # NumPy alone, one matrix and many, small and large
    for shape in ((4, 4), (200, 4, 4), (3, 20, 20), (200, 8, 8)):
        A, B = RNG.standard_normal(shape), RNG.standard_normal((*shape[:-1], 2))
        factors, pivots, info = kernels.lu(A)
        assert not info.any()
        one = A.reshape(-1, *shape[-2:])[0]
        assert np.array_equal(pivots.reshape(-1, shape[-1])[0], kernels._eliminated(one)[1])
        for adjoint in (False, True):
            x = kernels.lu_solve(factors, B, pivots, adjoint)
            np.testing.assert_allclose((A.swapaxes(-1, -2) if adjoint else A) @ x, B, atol=1e-7)
        T = np.tril(A) + 4 * np.eye(shape[-1])
        x = kernels.solve_triangular(T, B, False, True, False)
        np.testing.assert_allclose(T @ x, B, atol=1e-9)
        S = A @ A.swapaxes(-1, -2) + np.eye(shape[-1])
        inverse = kernels.cholesky_inverse(kernels.cholesky(S, False), False)
        np.testing.assert_allclose(
            S @ inverse, np.broadcast_to(np.eye(shape[-1]), shape), atol=1e-7
        )


def test_least_squares_without_scipy(without_scipy):
    A, B = RNG.standard_normal((4, 2)), RNG.standard_normal((4, 1))
    for driver in ("gels", "gelsy", "gelsd", "gelss"):
        x, rank, _ = system_kernels.lstsq(A, B, 1e-15, driver)
        np.testing.assert_allclose(x, np.linalg.pinv(A) @ B)
        assert rank == 2


def test_scipy_is_asked_for_only_where_it_is_used():
    assert extras.scipy_module("linalg.lapack", "lu") is not None
    assert batches.many(1000, 4) and not batches.many(10, 4) and not batches.many(1000, 50)


def test_a_zero_on_the_diagonal_of_a_triangle_is_divided_by(without_scipy):
    x = kernels.solve_triangular(
        np.array([[1.0, 1.0], [0.0, 0.0]]), np.ones((2, 1)), True, True, False
    )
    assert x[1, 0] == np.inf


def test_products_of_reflections_are_orthonormal():
    A, tau = _real(4, 3), _real(3)
    v = wg.linalg.householder_product(A, tau)
    columns = [wg.tril(A, -1)[:, i] + wg.eye(4, 3, dtype=A.dtype)[:, i] for i in range(3)]
    H = wg.eye(4, dtype=A.dtype)
    for column, factor in zip(columns, tau, strict=True):
        H = H @ (wg.eye(4, dtype=A.dtype) - factor * wg.outer(column, column))
    assert wg.allclose(v, H[:, :3])
    assert gradcheck(wg.linalg.householder_product, (_complex(3, 2), _complex(2)))
    assert wg.orgqr(A, tau).equal(v)


def test_factors_without_exchanges_are_refused():
    for function in (wg.linalg.lu, wg.linalg.lu_factor, wg.lu):
        with pytest.raises(RuntimeError, match="LU without pivoting is not implemented on the CPU"):
            function(wg.eye(2), pivot=False)


# -- exponentials ---------------------------------------------------------------------------------


def test_exponentials_of_every_size_together():
    sizes = np.array([0, 1e-9, 1e-3, 0.1, 0.5, 1, 3, 10, 40])[:, None, None]
    A = RNG.standard_normal((9, 3, 3)) * sizes
    for a, e in zip(A, matrix_exp(A), strict=True):
        values, vectors = np.linalg.eig(a)
        expected = (vectors * np.exp(values)) @ np.linalg.inv(vectors) if a.any() else np.eye(3)
        np.testing.assert_allclose(e, expected.real, 1e-9, 1e-12 * abs(expected).max())


def test_exponentials_in_single_precision_are_exact_to_rounding():
    A = (RNG.standard_normal((20, 5, 5)) * 3).astype(np.float32)
    exact = matrix_exp(A.astype(np.float64))
    error = abs(matrix_exp(A) - exact).max((1, 2)) / abs(exact).max((1, 2))
    assert error.max() < 1e-7


def test_the_exponential_of_what_is_not_finite_is_nan():
    A = wg.stack([wg.eye(2), wg.tensor([[np.nan, 0.0], [0.0, 1.0]])])
    found = wg.matrix_exp(A)
    assert found[0].isfinite().all() and found[1].isnan().all()


# -- products -------------------------------------------------------------------------------------


def test_powers_of_integers_and_of_the_inverse():
    assert wg.matrix_power(wg.tensor([[1, 1], [1, 0]]), 10).tolist() == [[89, 55], [55, 34]]
    A = wg.tensor([[2.0, 0.0], [0.0, 4.0]])
    assert wg.matrix_power(A, -3).tolist() == [[0.125, 0.0], [0.0, 0.015625]]
    assert wg.matrix_power(A, 0).equal(wg.eye(2))
    with pytest.raises(TypeError, match="must be int, not float"):
        wg.matrix_power(A, 1.5)


def test_multi_dot_multiplies_in_the_cheapest_order():
    from wengert.ops.matrix_functions import _best_splits

    # the example of the textbook
    splits = _best_splits([30, 35, 15, 5, 10, 20, 25])
    assert splits[0, 5] == 2 and splits[0, 2] == 0 and splits[3, 5] == 4


def test_addbmm_without_the_added_tensor_ignores_nan():
    nan = wg.full((3, 3), np.nan)
    assert wg.addbmm(nan, wg.ones(2, 3, 4), wg.ones(2, 4, 3), beta=0).equal(wg.full((3, 3), 8.0))
    assert wg.addr(nan, wg.ones(3), wg.ones(3), beta=0).equal(wg.ones(3, 3))


def test_what_is_added_to_an_outer_product_counts_for_the_dtype_whatever_its_shape():
    half = wg.ones(3, dtype=wg.float16)
    assert wg.addr(wg.tensor(0.5, dtype=wg.float64), half, half).dtype is wg.float64
    assert wg.addr(wg.tensor(1), half, half).dtype is wg.float16
    assert wg.addr(half[:1], half, half.double()).dtype is wg.float64


def test_in_place_forms_and_out():
    x = wg.zeros(2, 2)
    assert x.addr_(wg.ones(2), wg.ones(2), alpha=3) is x and x.tolist() == [[3.0, 3.0]] * 2
    assert x.addbmm_(wg.ones(1, 2, 1), wg.ones(1, 1, 2)).tolist() == [[4.0, 4.0]] * 2
    out = wg.empty(2, 2)
    assert wg.linalg.inv(2 * wg.eye(2), out=out) is out and out[0, 0] == 0.5
    LU, pivots = wg.empty(2, 2), wg.empty(2, dtype=wg.int32)
    wg.linalg.lu_factor(2 * wg.eye(2), out=(LU, pivots))
    assert LU.equal(2 * wg.eye(2)) and pivots.tolist() == [1, 2]


def test_vandermonde_matrices_at_zero():
    x = wg.tensor([0.0, 2.0], dtype=wg.float64, requires_grad=True)
    wg.linalg.vander(x, N=4).sum().backward()
    assert x.grad.tolist() == [1.0, 17.0]
    assert wg.vander(wg.tensor([2, 3]), 3).tolist() == [[4, 2, 1], [9, 3, 1]]
    assert wg.vander(wg.ones(2), 0).shape == (2, 0)


def test_named_results_print_with_their_names():
    text = repr(wg.linalg.slogdet(wg.eye(2)))
    assert text == "torch.return_types.linalg_slogdet(\nsign=tensor(1.),\nlogabsdet=tensor(0.))"


# -- einsum ---------------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk,kl", [(2, 3), (3, 4), (4, 2)]),
        ("...ij,...jk->...ik", [(2, 3, 4), (5, 1, 4, 2)]),
        ("bhid,bhjd->bhij", [(2, 2, 3, 4), (2, 2, 5, 4)]),
        ("bihd,bjhd->bhij", [(2, 3, 2, 4), (2, 5, 2, 4)]),
        ("ii", [(3, 3)]),
        ("iij->ji", [(2, 2, 3)]),
        ("ii,jj->ij", [(3, 3), (2, 2)]),
        ("ab,ab,ab->a", [(3, 2), (3, 2), (3, 2)]),
        ("ijkl,lm,kn,jp,iq->mnpq", [(2, 3, 2, 3), (3, 2), (2, 2), (3, 2), (2, 2)]),
        ("xij,yjk->ik", [(2, 2, 3), (4, 3, 2)]),
        (" i j , j -> i ", [(2, 3), (3,)]),
        ("Ij,i", [(2, 3), (4,)]),
        (",i->i", [(), (3,)]),
        ("i...,j...->...", [(2, 3), (4, 3)]),
        ("ij,jk->ik", [(2, 0), (0, 3)]),
    ],
)
@pytest.mark.parametrize("draw", [_real, _complex])
def test_einsum_is_numpys_with_two_derivatives(equation, shapes, draw):
    tensors = [draw(*shape) for shape in shapes]
    expected = np.einsum(equation.replace(" ", ""), *[t.detach().numpy() for t in tensors])
    np.testing.assert_allclose(wg.einsum(equation, *tensors).detach().numpy(), expected, atol=1e-12)
    assert gradcheck(lambda *ts: wg.einsum(equation, *ts), tensors)
    assert gradgradcheck(lambda *ts: wg.einsum(equation, *ts), tensors)


def test_einsum_broadcasts_sizes_of_one():
    x, y = _real(3, 1), _real(4, 2)
    assert wg.allclose(wg.einsum("ij,jk->ik", x, y), x * y.sum(0))
    assert wg.allclose(wg.einsum("i,i", _real(1) * 0 + 2, y[:, 0]), 2 * y[:, 0].sum())
    assert gradcheck(lambda x, y: wg.einsum("ij,jk->ik", x, y), (x, y))


def test_einsum_takes_lists_of_numbers_and_lists_of_operands():
    x = _real(2, 3)
    assert wg.einsum(x, [0, 1], x, [2, 1], [0, 2]).equal(x @ x.T)
    assert wg.einsum(x, [..., 1]).equal(x) and wg.einsum(x, [1, 0]).equal(x.T)
    assert wg.einsum("ij,kj", [x, x]).equal(x @ x.T)
    assert wg.einsum(x, [51, 0]).equal(x.T)


def test_einsum_of_one_operand_is_a_view():
    x = wg.zeros(2, 2)
    wg.einsum("ii->i", x)[0] = 5
    assert x[0, 0] == 5
    assert wg.einsum("ij->", wg.ones(2, 2, dtype=wg.bool)).dtype == wg.int64


def test_einsum_keeps_half_precision_and_sums_in_single():
    x = wg.full((1, 4096), 1.0, dtype=wg.float16)
    for equation in ("ij,ij->", "ij,ij->i", "ij,kj->ik"):
        found = wg.einsum(equation, x, x)
        assert found.dtype == wg.float16 and float(found.sum()) == 4096


ERRORS = [
    ("ij", (), ValueError, "einsum(): must specify the equation string and at least one operand"),
    ("ij,jk", ((2, 2),), RuntimeError, "einsum(): fewer operands were provided than specified"),
    ("ij", ((2, 2), (2, 2)), RuntimeError, "einsum(): more operands were provided than specified"),
    ("i1", ((2, 2),), RuntimeError, "einsum(): invalid subscript given at index 1 in the equation"),
    ("i.j", ((2, 2),), RuntimeError, "einsum(): found '.' for operand 0 that is not part of any"),
    ("...i...", ((2, 2),), RuntimeError, "einsum(): found '.' for operand 0 for which an ellipsis"),
    ("ij->ii", ((2, 2),), RuntimeError, "einsum(): output subscript i appears more than once"),
    ("ij->k", ((2, 2),), RuntimeError, "einsum(): output subscript k does not appear in the"),
    ("ijk", ((2, 2),), RuntimeError, "einsum(): the number of subscripts in the equation (3) does"),
    (
        "...ijk",
        ((2, 2),),
        RuntimeError,
        "einsum(): the number of subscripts in the equation (3) is",
    ),
    (
        "ii",
        ((2, 3),),
        RuntimeError,
        "einsum(): subscript i is repeated for operand 0 but the sizes",
    ),
    (
        "ij,jk",
        ((2, 3), (2, 3)),
        RuntimeError,
        "einsum(): subscript j has size 2 for operand 1 which",
    ),
    ("...,...", ((2,), (3,)), RuntimeError, "einsum(): dimension 0 covered by ellipsis in operand"),
]


@pytest.mark.parametrize(("equation", "shapes", "kind", "message"), ERRORS)
def test_wrong_equations(equation, shapes, kind, message):
    with pytest.raises(kind) as caught:
        wg.einsum(equation, *[wg.ones(*shape) for shape in shapes])
    assert str(caught.value).startswith(message)


def test_operands_of_two_dtypes_are_refused():
    x = wg.ones(2, 2)
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        wg.einsum("ij,jk", x, x.double())
    with pytest.raises(RuntimeError, match="both inputs should have same dtype"):
        wg.tensordot(x, x.double())
    with pytest.raises(RuntimeError, match="Expected A and B to have the same dtype, but found A"):
        wg.linalg.solve(x, x.double())
    with pytest.raises(ValueError, match="subscript in subscript list is not within the valid"):
        wg.einsum(x, [0, 52])


def test_einsum_contracts_the_cheapest_pair_first():
    from wengert.ops.einsum import _plan

    plan = _plan("ij,jk,k->i", ((100, 100), (100, 100), (100,)))
    assert [step[:2] for step in plan.contractions] == [(1, 2), (0, 1)]


def test_norms_take_the_name_axis():
    x = wg.tensor([[3.0, 0.0], [4.0, 1.0]])
    for norm in (wg.linalg.norm, wg.linalg.vector_norm):
        assert norm(x, axis=0).equal(norm(x, dim=0))
    wide = wg.stack([x, 2 * x], dim=1)
    assert wg.linalg.matrix_norm(wide, 1, axis=(0, 2)).equal(wg.tensor([7.0, 14.0]))


def test_a_factor_of_an_outer_product_is_true_only_for_truth_values():
    v = wg.tensor([1.0, 2.0])
    for name in ("beta", "alpha"):
        with pytest.raises(RuntimeError, match=f"Boolean {name} only"):
            wg.addr(wg.ones(2, 2), v, v, **{name: True})
    assert wg.addr(v.bool(), v.bool(), v.bool(), beta=False).all()


def test_a_sum_of_products_needs_an_operand():
    with pytest.raises(ValueError, match="at least one operand"):
        wg.einsum("", [])


def test_settings_of_sums_of_products_last_as_long_as_their_context():
    from wengert.backends import opt_einsum

    before = opt_einsum.enabled
    with opt_einsum.flags(enabled=True, strategy="greedy"):
        assert (opt_einsum.enabled, opt_einsum.strategy) == (True, "greedy")
    assert opt_einsum.enabled is before


def test_a_large_matrix_has_the_inverse_and_the_error_of_a_small_one():
    a = np.random.default_rng(0).standard_normal((40, 40))
    made = wg.linalg.inv(wg.tensor(a, dtype=wg.float64)).numpy()
    np.testing.assert_allclose(made @ a, np.eye(40), atol=1e-10)
    assert made.flags.c_contiguous
    with pytest.raises(RuntimeError, match="The diagonal element 2 is zero"):
        wg.linalg.inv(wg.ones(40, 40))
    assert wg.linalg.inv_ex(wg.ones(40, 40))[1] == 2


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda a: wg.cholesky(a), "torch.cholesky is deprecated in favor of torch.linalg.chol"),
        (lambda a: wg.lu(a), "torch.lu is deprecated in favor of torch.linalg.lu_factor"),
        (lambda a: wg.chain_matmul(a, a), "torch.chain_matmul is deprecated"),
        (lambda a: a.qr(), "torch.qr is deprecated in favor of torch.linalg.qr"),
    ],
)
def test_older_functions_say_which_ones_take_their_place(call, says):
    wg.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match=says):
            call(wg.eye(2))
    finally:
        wg.set_warn_always(False)


@pytest.mark.parametrize("name", ["eig", "lstsq", "matrix_rank", "solve", "symeig"])
def test_functions_that_pytorch_removed_raise(name):
    with pytest.raises(RuntimeError, match=r"since version 1\.9 and is now removed"):
        getattr(wg, name)(wg.eye(2), wg.eye(2))
