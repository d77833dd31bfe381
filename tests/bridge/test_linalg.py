"""Test `wengert.scipy.linalg` against SciPy, and its derivatives by finite differences."""

import numpy as np
import pytest
import scipy.linalg as theirs

import wengert as wg
from wengert.scipy import linalg

r = np.random.default_rng(0)
A, B, v, w = r.normal(size=(3, 3)), r.normal(size=(3, 3)), r.normal(size=3), r.normal(size=4)
S, Q = A @ A.T + 3 * np.eye(3), B @ B.T + np.eye(3)
BANDS = np.array([[0.0, 0.3, 0.2], [2.0, 3.0, 4.0], [0.4, 0.1, 0.0]])

CASES = {
    "block_diag": (A, v, 3.0),
    "cholesky": (S,),
    "circulant": (v,),
    "companion": (w,),
    "convolution_matrix": (w, 3, "same"),
    "coshm": (A,),
    "cosm": (A,),
    "det": (A,),
    "eigh_tridiagonal": (v, w[:2], True),
    "eig_banded": (BANDS[:2], False, True),
    "eigvals_banded": (BANDS[1:], True),
    "eigvalsh_tridiagonal": (v, w[:2]),
    "eigvalsh": (S,),
    "expm": (A,),
    "expm_frechet": (A, B),
    "fiedler": (v,),
    "fractional_matrix_power": (S, 0.3),
    "hankel": (v, w),
    "inv": (A,),
    "khatri_rao": (A, B),
    "leslie": (w, v),
    "logm": (S,),
    "lstsq": (A[:, :2], v),
    "matmul_toeplitz": (v, w[:3]),
    "norm": (A,),
    "orthogonal_procrustes": (A, B),
    "pinv": (A[:, :2],),
    "pinvh": (S,),
    "polar": (A,),
    "sinhm": (A,),
    "sinm": (A,),
    "solve": (A, v),
    "solve_lyapunov": (A, B),
    "solve_banded": ((1, 1), BANDS, v),
    "solve_circulant": (v, w[:3]),
    "solve_continuous_are": (A, B[:, :2], S, Q[:2, :2]),
    "solve_continuous_lyapunov": (S, Q),
    "solve_discrete_are": (A / 3, B[:, :2], S, Q[:2, :2]),
    "solve_discrete_lyapunov": (A / 9, Q),
    "solve_sylvester": (A, S, B),
    "solve_toeplitz": (v + np.array([3, 0, 0]), v),
    "solve_triangular": (A, v),
    "solveh_banded": (BANDS[:2], v),
    "sqrtm": (S,),
    "svdvals": (A,),
    "tanhm": (A,),
    "tanm": (A,),
    "toeplitz": (v, w),
}


def parts(result):
    return list(result) if isinstance(result, tuple) else [result]


def symmetric(matrix):
    return (matrix + matrix.mT) / 2


def over_symmetric(name, arguments):
    """What a function of symmetric matrices gives for any."""
    if name == "cholesky":
        return (symmetric(arguments[0]),)
    if name.endswith("_are"):
        return (*arguments[:2], *map(symmetric, arguments[2:]))
    return arguments


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CASES)
def test_values_are_scipys_and_derivatives_those_of_differences(name):
    ours, arguments = getattr(linalg, name), CASES[name]
    for found, right in zip(
        parts(ours(*arguments)), parts(getattr(theirs, name)(*arguments)), strict=True
    ):
        np.testing.assert_allclose(np.asarray(found), right, rtol=1e-7, atol=1e-9)

    def smooth(*given):
        found = parts(ours(*over_symmetric(name, given)))
        return tuple(f for f in found if isinstance(f, wg.Tensor) and f.numel())

    given = [
        wg.tensor(a, requires_grad=True) if isinstance(a, np.ndarray) else a for a in arguments
    ]
    # LAPACK's last bit depends on where memory lies
    settings = {"nondet_tol": 1e-12, "fast_mode": True}
    assert wg.autograd.gradcheck(smooth, given, check_forward_ad=True, **settings)
    assert wg.autograd.gradgradcheck(smooth, given, **settings)


COMPLEX = A + 1j * B


@pytest.mark.parametrize("trans", [0, 1, 2])
def test_systems_of_transposed_matrices(trans):
    b = v + 0j
    right = theirs.lu_solve(theirs.lu_factor(COMPLEX), b, trans)
    np.testing.assert_allclose(linalg.lu_solve(linalg.lu_factor(COMPLEX), b, trans), right)
    right = theirs.solve_triangular(COMPLEX, b, trans, lower=True, unit_diagonal=True)
    found = linalg.solve_triangular(COMPLEX, b, trans, lower=True, unit_diagonal=True)
    np.testing.assert_allclose(found, right)


@pytest.mark.parametrize("lower", [False, True])
def test_only_the_triangle_in_question_is_read(lower):
    H = COMPLEX @ COMPLEX.conj().T + np.eye(3)
    half = np.tril(H) + 7 * np.triu(np.ones((3, 3)), 1) if lower else np.triu(H) - np.tri(3, k=-1)
    np.testing.assert_allclose(
        linalg.cho_solve(linalg.cho_factor(half, lower), v), theirs.solve(H, v)
    )
    np.testing.assert_allclose(linalg.solve(half, v, lower, assume_a="her"), theirs.solve(H, v))
    np.testing.assert_allclose(linalg.eigvalsh(half, lower=lower), theirs.eigvalsh(H))
    diagonals = (
        np.array([[9.0, 1j], [2.0, 3.0]]) if not lower else np.array([[2.0, 3.0], [-1j, 9.0]])
    )
    right = theirs.solveh_banded(diagonals, v[:2], lower=lower)
    np.testing.assert_allclose(linalg.solveh_banded(diagonals, v[:2], lower=lower), right)


def test_what_a_structure_leaves_out_has_no_derivative():
    bands = [("diagonal", 0), ("tridiagonal", 1)]
    for kind, width in bands:
        band = np.triu(np.tril(A, width), -width)
        x = wg.tensor(A, requires_grad=True)
        found = linalg.solve(x, v, assume_a=kind)
        np.testing.assert_allclose(found.detach(), theirs.solve(band, v))
        (slope,) = wg.autograd.grad(found.sum(), x)
        assert np.array_equal(slope != 0, band != 0)
    H = wg.tensor(COMPLEX, requires_grad=True)
    (slope,) = wg.autograd.grad(linalg.solve(H, v + 0j, assume_a="her").abs().sum(), H)
    assert np.array_equal(np.diag(slope).imag, np.zeros(3))
    with pytest.raises(ValueError, match="band is not a recognized matrix structure"):
        linalg.solve(A, v, assume_a="band")


def test_eigenvalues_of_pairs_and_parts_of_them():
    values, vectors = linalg.eigh(S, Q)
    np.testing.assert_allclose(S @ vectors.numpy(), Q @ vectors.numpy() * values.numpy())
    np.testing.assert_allclose(
        linalg.eigvalsh(S, Q, subset_by_index=(1, 2)), theirs.eigvalsh(S, Q)[1:]
    )
    with pytest.raises(NotImplementedError, match="type=1"):
        linalg.eigh(S, Q, type=2)


def test_under_transforms():
    batch = wg.tensor(np.stack([S, Q]))
    each = wg.stack([linalg.sqrtm(S), linalg.sqrtm(Q)])
    wg.testing.assert_close(wg.func.vmap(linalg.sqrtm)(batch), each)
    wg.testing.assert_close(
        wg.func.vmap(lambda a: linalg.solve_sylvester(a, S, B))(batch)[1],
        linalg.solve_sylvester(Q, S, B),
    )
    f = lambda a: linalg.logm(a).sum()  # noqa: E731
    hessian = wg.func.hessian(f)(batch[0])
    wg.testing.assert_close(hessian, wg.func.jacfwd(wg.func.jacfwd(f))(batch[0]))
    a = wg.tensor(S, requires_grad=True)
    wg.testing.assert_close(hessian, wg.autograd.functional.hessian(f, a))


def test_roots_of_matrices_with_negative_eigenvalues():
    """The square root jumps there, so the conjugate of a matrix has another root."""
    a = wg.tensor(A + A.T, requires_grad=True)
    assert np.linalg.eigvalsh(A + A.T)[0] < 0
    assert wg.autograd.gradcheck(linalg.sqrtm, (a,))
    assert wg.autograd.gradgradcheck(linalg.sqrtm, (a,), (wg.tensor(Q + 1j * B),))


def test_arrays_of_an_idiom_stay_such_and_precision_is_the_arguments():
    import wengert.numpy as np_

    assert type(linalg.solve(np_.asarray(A), v)) is np_.ndarray
    assert linalg.sqrtm(wg.tensor(S, dtype=wg.float32)).dtype == wg.float32
    assert linalg.toeplitz([1, 2]).dtype == wg.int64  # as in SciPy


def test_what_is_not_there_says_so():
    with pytest.raises(AttributeError, match=r"no attribute 'schur': SciPy's has no derivative"):
        linalg.schur  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'shur': it has block_diag"):
        linalg.shur  # noqa: B018
    with pytest.raises(ValueError, match="square"):
        linalg.sqrtm(v)
    with pytest.raises(TypeError, match="overwrite"):
        linalg.sqrtm(S, overwrite=True)
    np.testing.assert_allclose(linalg.inv(S, overwrite_a=True, check_finite=False), theirs.inv(S))
