"""Test eigenvalues, singular values, QR and pseudoinverses, beyond the record table."""

import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import gradcheck, gradgradcheck
from wengert.tape.record import T

RNG = np.random.default_rng(31)
EIGH, EIG, SVD = "linalg_eigh_backward", "linalg_eig_backward", "svd_backward"
LinAlgError = wg.linalg.LinAlgError


def matrix(*shape, dtype=np.float64, grad=True):
    values = RNG.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * RNG.standard_normal(shape)
    tensor = wg.from_numpy(np.asarray(values, dtype))
    return tensor.requires_grad_() if grad else tensor


def rotated(values, dtype=np.float64):
    """A Hermitian matrix with the given eigenvalues."""
    n = len(values)
    q, _ = np.linalg.qr(matrix(n, n, dtype=dtype, grad=False).numpy())
    return wg.from_numpy((q * np.asarray(values)) @ q.conj().T).requires_grad_()


# -- values ---------------------------------------------------------------------------------------

DTYPES = ("float32", "float64", "complex64", "complex128")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3), (0, 0), (0, 2, 2), (1, 1)])
def test_eigenvectors_solve_their_equation(dtype, shape):
    a = matrix(*shape, dtype=dtype, grad=False)
    tight = 1e-4 if dtype in ("float32", "complex64") else 1e-12
    w, v = wg.linalg.eig(a)
    assert w.dtype == v.dtype == a.dtype.to_complex()
    assert wg.allclose(a.to(v.dtype) @ v, v * w[..., None, :], tight, tight)
    assert wg.allclose(wg.linalg.eigvals(a).abs().sum(-1), w.abs().sum(-1), tight, tight)
    s = a + a.mH
    w, v = wg.linalg.eigh(s)
    assert w.dtype == a.dtype.to_real()
    assert wg.allclose(s @ v, v * w[..., None, :], tight, tight)
    assert wg.allclose(wg.linalg.eigvalsh(s), w, tight, tight)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 4), (2, 5, 3), (3, 5), (0, 3), (3, 0)])
def test_factors_give_the_matrix_back(dtype, shape):
    a = matrix(*shape, dtype=dtype, grad=False)
    tight = 1e-4 if dtype in ("float32", "complex64") else 1e-12
    for full in (False, True):
        U, S, Vh = wg.linalg.svd(a, full_matrices=full)
        k = min(shape[-2:])
        assert U.shape[-1] == (shape[-2] if full else k)
        assert Vh.shape[-2] == (shape[-1] if full else k)
        assert S.dtype == a.dtype.to_real()
        assert wg.allclose(U[..., :k] * S[..., None, :] @ Vh[..., :k, :], a, tight, tight)
    for mode in ("reduced", "complete"):
        Q, R = wg.linalg.qr(a, mode)
        assert wg.allclose(Q @ R, a, tight, tight)
        assert wg.equal(R, R.triu())
    Q, R = wg.linalg.qr(a, "r")
    assert Q.numel() == 0
    assert wg.allclose(R, wg.linalg.qr(a).R, tight, tight)
    assert wg.allclose(wg.linalg.svdvals(a), S, tight, tight)
    P = wg.linalg.pinv(a)
    assert wg.allclose(a @ P @ a, a, tight, tight)
    assert wg.allclose(P, wg.pinverse(a), tight, tight)


def test_one_triangle_is_read():
    a = matrix(3, 3, grad=False)
    for triangle in "LU":
        expected = np.linalg.eigvalsh(a.numpy(), triangle)
        for given in (triangle, triangle.lower()):
            assert np.allclose(wg.linalg.eigvalsh(a, given).numpy(), expected)
            assert np.allclose(wg.linalg.eigh(a, UPLO=given)[0].numpy(), expected)
    with pytest.raises(RuntimeError, match=r"^Expected UPLO argument to be 'L' or 'U'"):
        wg.linalg.eigh(a, "X")


def test_results_have_names():
    a = matrix(3, 3, grad=False)
    assert wg.linalg.eigh(a).eigenvalues.shape == (3,)
    assert wg.linalg.eig(a).eigenvectors.shape == (3, 3)
    assert wg.linalg.svd(a).Vh.shape == (3, 3)
    assert wg.linalg.qr(a).R.shape == (3, 3)
    assert repr(wg.linalg.svd(a)).startswith("torch.return_types.linalg_svd(\nU=tensor(")
    U, S, V = wg.svd(a[:, :2])
    assert wg.allclose(U * S @ V.mH, a[:, :2])
    assert [x.shape for x in wg.svd(a[:, :2], compute_uv=False)] == [(3, 3), (2,), (2, 2)]
    with warnings.catch_warnings(action="ignore"):  # it is deprecated
        assert wg.qr(a[:, :2], some=False).Q.shape == (3, 3)


def test_results_are_written_to_out():
    a = matrix(3, 3, grad=False)
    out = wg.empty(3, dtype=wg.float64), wg.empty(3, 3, dtype=wg.float64)
    values, vectors = wg.linalg.eigh(a, out=out)
    assert values is out[0]
    assert vectors is out[1]
    assert wg.equal(values, wg.linalg.eigh(a)[0])
    with pytest.raises(TypeError, match="must be tuple of Tensors"):
        wg.linalg.eigh(a, out=out[0])
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        wg.linalg.svdvals(matrix(3, 3), out=wg.empty(3, dtype=wg.float64))


def test_matrices_that_are_not_finite():
    bad = wg.full((2, 2), float("nan"))
    with pytest.raises(LinAlgError, match=r"^torch.linalg.eig: input tensor should not contain"):
        wg.linalg.eig(bad)
    with pytest.raises(LinAlgError, match=r"because the input matrix contained non-finite values"):
        wg.linalg.svd(bad)
    assert issubclass(LinAlgError, RuntimeError)
    assert wg.linalg.eigvalsh(bad).isnan().all()


# -- derivatives ----------------------------------------------------------------------------------


def weights(t):
    rng = np.random.default_rng(t.numel())
    return wg.from_numpy(rng.standard_normal(t.shape))


def of_eigh(a):
    w, v = wg.linalg.eigh(a + a.mH)
    return (v.abs() * weights(v)).sum() + w.sin().sum() + ((v * w.exp()[..., None, :]) @ v.mH).abs()


def of_eig(a):
    w, v = wg.linalg.eig(a)
    return (v.abs() * weights(v)).sum() + w.abs().sum() + (w * w).real.sum()


def of_svd(a):
    U, S, Vh = wg.linalg.svd(a, full_matrices=False)
    return (U.abs() * weights(U)).sum() + (Vh.abs() * weights(Vh)).sum() + S.sin().sum()


def of_svd_products(a):
    U, S, Vh = wg.linalg.svd(a, full_matrices=False)
    return ((U * S.sin()[..., None, :]) @ Vh).abs()


def of_full_svd(a):
    U, S, Vh = wg.linalg.svd(a)
    k = S.shape[-1]
    return ((U[..., :k] * S.sin()[..., None, :]) @ Vh[..., :k, :]).abs()


def of_qr(a):
    Q, R = wg.linalg.qr(a)
    return (Q.abs() * weights(Q)).sum() + (R.abs() * weights(R)).sum()


def of_pinv(a):
    return wg.linalg.pinv(a).abs()


def of_low_rank(a):
    # of a rank that no disturbance changes
    return wg.linalg.pinv(a[..., :2] @ a[..., :2].mH, rtol=1e-10).abs()


SQUARE = [(3, 3), (2, 2, 2), (1, 1)]
OBLONG = [(3, 3), (4, 2), (2, 4), (2, 3, 2)]
DERIVATIVES = [
    *((f, shape) for f in (of_eigh, of_eig) for shape in SQUARE),
    *((f, s) for f in (of_svd, of_svd_products, of_full_svd, of_qr, of_pinv) for s in OBLONG),
    (of_low_rank, (3, 3)),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("function", "shape"), DERIVATIVES)
def test_derivatives_of_first_and_second_order(function, shape, dtype):
    a = matrix(*shape, dtype=dtype)
    assert gradcheck(function, (a,))
    assert gradgradcheck(function, (a,))


def test_the_gradient_of_a_hermitian_pseudoinverse():
    def function(a):
        return wg.linalg.pinv(a + a.mH, hermitian=True).abs()

    for dtype in ("float64", "complex128"):
        assert gradcheck(function, (matrix(3, 3, dtype=dtype),))


def test_gradients_keep_single_precision():
    for name in ("eigvalsh", "svdvals", "eigvals", "pinv"):
        # well conditioned, whichever tests ran before
        values = np.random.default_rng(2).standard_normal((6, 6)) + 4 * np.eye(6)
        found = []
        for dtype in (np.float32, np.float64):
            a = wg.from_numpy(values.astype(dtype)).requires_grad_()
            getattr(wg.linalg, name)(a).abs().sum().backward()
            assert a.grad.dtype == a.dtype
            found.append(a.grad.double())
        assert wg.allclose(*found, rtol=1e-3, atol=1e-3)


def test_a_quick_way_and_a_slow_one_to_the_gradient_of_values():
    # with something to record the decomposition is kept, without it is made again
    a = matrix(3, 3)
    for name, ready in (("eigvalsh", "linalg_eigvalsh"), ("svdvals", "linalg_svdvals")):
        value = getattr(wg.linalg, name)(a)
        (quick,) = wg.autograd.grad(value.sum(), a)
        params = {"UPLO": "L"} if name == "eigvalsh" else {}
        (slow,) = wg.autograd.grad(getattr(T, ready)(a, **params).sum(), a)
        assert value.grad_fn.name() in ("LinalgEighBackward0", "LinalgSvdBackward0")
        assert wg.allclose(quick, slow)


# -- what has no derivative -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "loss"),
    [
        (EIGH, lambda a: wg.linalg.eigh(a + a.mH)[1].real.sum()),
        (EIG, lambda a: wg.linalg.eig(a)[1].real.sum()),
        (SVD, lambda a: wg.linalg.svd(a, full_matrices=False)[0].real.sum()),
    ],
)
def test_a_loss_that_depends_on_a_phase_raises(what, loss):
    a = matrix(3, 3, dtype=np.complex128)
    words = "eigenvectors" if "eig" in what else "singular vectors"
    expected = f"^{what}: The {words} in the complex case are specified up to multiplication by"
    with pytest.raises(RuntimeError, match=expected):
        loss(a).backward()
    assert a.grad is None


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_repeated_eigenvalues_have_a_gradient_and_their_vectors_none(dtype):
    a = rotated([1.0, 1.0, 3.0], dtype)
    for values in (wg.linalg.eigvalsh(a), wg.linalg.eigh(a)[0]):
        (g,) = wg.autograd.grad(values.sum(), a)
        assert wg.allclose(g, wg.eye(3, dtype=g.dtype), atol=1e-12)
    v = wg.linalg.eigh(a)[1]
    with pytest.raises(LinAlgError, match=rf"^{EIGH}: the eigenvalues 0 and 1 are the same to"):
        v.abs().sum().backward()
    # the vector of the single eigenvalue is well-defined
    v = wg.linalg.eigh(a)[1]
    (g,) = wg.autograd.grad(v[:, 2].abs().sum(), a)
    assert g.isfinite().all()


def test_repeated_singular_values_have_a_gradient_and_their_vectors_none():
    a = wg.eye(3, dtype=wg.float64).requires_grad_()
    (g,) = wg.autograd.grad(wg.linalg.svdvals(a).sum(), a)
    assert wg.allclose(g, wg.eye(3, dtype=wg.float64))
    U = wg.linalg.svd(a).U
    with pytest.raises(LinAlgError, match=rf"^{SVD}: the singular values 0 and 1 are the same"):
        (U[:, 0] * weights(U[:, 0])).sum().backward()
    with pytest.raises(LinAlgError, match=rf"^{EIG}: the eigenvalues 0 and 1 are the same"):
        wg.linalg.eig(a)[1].abs().sum().backward()


def test_the_error_names_the_matrix_of_a_batch():
    good = rotated([1.0, 2.0]).detach()
    a = wg.stack([good, wg.eye(2, dtype=wg.float64)]).requires_grad_()
    with pytest.raises(LinAlgError, match=r"0 and 1 of matrix \[1\] are the same"):
        wg.linalg.eigh(a)[1].abs().sum().backward()
    # nobody asks for the vectors of that matrix
    v = wg.linalg.eigh(a)[1]
    (g,) = wg.autograd.grad((v[0].abs() * weights(v[0])).sum(), a)
    assert g.isfinite().all()
    assert not g[1].any()


def test_eigenvalues_that_differ_by_rounding_errors_count_as_the_same():
    tiny = 4 * np.finfo(np.float64).eps
    a = wg.diag(wg.tensor([1.0, 1.0 + tiny, 2.0], dtype=wg.float64)).requires_grad_()
    with pytest.raises(LinAlgError, match="are the same to rounding errors"):
        wg.linalg.eigh(a)[1].sum().backward()
    # small ones need not be: what counts is their distance relative to themselves
    a = wg.diag(wg.tensor([1e-20, 3e-20, 2.0], dtype=wg.float64)).requires_grad_()
    w, v = wg.linalg.eigh(a)
    ((v * w) @ v.mT * wg.ones(3, 3)).sum().backward()
    assert wg.allclose(a.grad, wg.ones(3, 3, dtype=wg.float64))


def test_a_singular_value_of_zero():
    a = wg.zeros(3, 2, dtype=wg.float64)
    a[0, 0] = 2.0
    a.requires_grad_()
    U, S, _ = wg.linalg.svd(a, full_matrices=False)
    (g,) = wg.autograd.grad(U[1:, 0].sum() + S[0], a)
    assert g.isfinite().all()
    U = wg.linalg.svd(a, full_matrices=False).U
    with pytest.raises(LinAlgError, match=rf"^{SVD}: the singular value 1 is 0"):
        U[:, 1].sum().backward()


@pytest.mark.parametrize("shape", [(4, 2), (2, 4)])
def test_vectors_that_full_matrices_adds_have_no_gradient(shape):
    a = matrix(*shape)
    U, _, Vh = wg.linalg.svd(a)
    added = U[:, 2:] if shape[0] > shape[1] else Vh[2:]
    with pytest.raises(RuntimeError, match="may be any orthonormal basis"):
        (added * weights(added)).sum().backward()


def test_a_matrix_without_enough_eigenvectors():
    a = wg.tensor([[1.0, 1.0], [0.0, 1.0]], dtype=wg.float64, requires_grad=True)
    with pytest.raises(LinAlgError, match=rf"^{EIG}: the matrix has fewer eigenvectors than"):
        wg.linalg.eigvals(a).real.sum().backward()


def test_orthogonal_factors_without_a_derivative():
    a = matrix(4, 2)
    Q, R = wg.linalg.qr(a, "complete")
    with pytest.raises(RuntimeError, match=r"^The QR decomposition is not differentiable"):
        (Q.sum() + R.sum()).backward()
    with pytest.raises(RuntimeError, match=r"^The derivative of linalg.qr depends on Q, which is"):
        wg.linalg.qr(a, "r").R.sum().backward()
    dependent = wg.tensor([[0.0, 1.0], [0.0, 2.0]], dtype=wg.float64, requires_grad=True)
    with pytest.raises(LinAlgError, match="linearly dependent"):
        wg.linalg.qr(dependent).Q.sum().backward()


# -- ranks and pseudoinverses ---------------------------------------------------------------------


def test_what_counts_as_zero():
    a = wg.diag(wg.tensor([4.0, 1.0, 0.01], dtype=wg.float64))
    rank = wg.linalg.matrix_rank
    assert rank(a).item() == 3
    assert rank(a, atol=0.1).item() == 2
    assert rank(a, rtol=0.5).item() == 1
    assert rank(a, atol=2.0, rtol=0.5).item() == 1
    assert rank(a, 0.1).item() == rank(a, tol=0.1).item() == rank(a, 0.1, True).item() == 2
    assert rank(-a, atol=0.1, hermitian=True).item() == 2
    assert rank(a, atol=wg.tensor([0.001, 0.1, 2.0])).tolist() == [3, 2, 1]
    assert rank(wg.zeros(2, 3, 0)).tolist() == [0, 0]
    assert rank(a).dtype == wg.int64
    pinv = wg.linalg.pinv
    assert pinv(a, atol=0.1).diagonal().tolist() == [0.25, 1.0, 0.0]
    assert pinv(a, 0.5).diagonal().tolist() == [0.25, 0.0, 0.0]
    assert pinv(a, rcond=0.5).diagonal().tolist() == [0.25, 0.0, 0.0]
    assert pinv(-a, atol=0.1, hermitian=True).diagonal().tolist() == [-0.25, -1.0, 0.0]
    several = pinv(a, rtol=wg.tensor([0.0, 0.5]))
    assert several.shape == (2, 3, 3)
    with pytest.raises(TypeError, match="not both"):
        pinv(a, 0.5, rtol=0.5)


def test_the_gradient_of_a_pseudoinverse_with_several_tolerances():
    a = matrix(3, 3)
    assert gradcheck(lambda x: wg.linalg.pinv(x, rtol=wg.tensor([1e-10, 1e-12])), (a,))


# -- random projections ---------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(8, 5), (5, 8), (2, 6, 6)])
def test_random_projections_find_a_low_rank(shape):
    left, right = matrix(*shape[:-1], 2, grad=False), matrix(*shape[:-2], 2, shape[-1], grad=False)
    a = left @ right
    U, S, V = wg.svd_lowrank(a, q=3)
    assert wg.allclose(U * S[..., None, :] @ V.mT, a)
    mean = a.mean(-2, keepdim=True)
    U, S, V = wg.pca_lowrank(a, q=3)
    assert wg.allclose(U * S[..., None, :] @ V.mT, a - mean)
    U, S, V = wg.svd_lowrank(a, q=3, M=mean)
    assert wg.allclose(U * S[..., None, :] @ V.mT, a - mean)
    with pytest.raises(ValueError, match="must be non-negative integer and not greater than"):
        wg.pca_lowrank(a, q=9)


def test_no_singular_value_is_less_than_zero():
    zero = wg.tensor([[0.0, -0.0], [-0.0, -0.0]], requires_grad=True)
    for x in (zero, -zero, zero.detach(), wg.diag(wg.tensor([1.0, -0.0])).requires_grad_()):
        values = wg.linalg.svdvals(x)
        assert not wg.signbit(values).any() and not wg.signbit(wg.linalg.svd(x).S).any()
        assert not wg.linalg.cond(x) < 0


@pytest.mark.parametrize("shape", [(8, 5), (5, 8)])
def test_random_projections_of_a_sparse_matrix(shape):
    a = wg.zeros(*shape, dtype=wg.complex128)
    a[1, 2], a[3, 0] = 2j, 1 - 1j
    for layout in (a.to_sparse(), a.to_sparse_csr()):
        U, S, V = wg.svd_lowrank(layout, q=3)
        assert wg.allclose(U * S @ V.mH, a)
        U, S, V = wg.pca_lowrank(layout, q=4)
        assert wg.allclose(U * S @ V.mH, a - a.mean(0))
        U, S, V = wg.pca_lowrank(layout, q=4, center=False)
        assert wg.allclose(U * S @ V.mH, a)
