"""Test `lobpcg`: some eigenvalues and eigenvectors of symmetric matrices."""

import numpy as np
import pytest

import wengert as wg


def _signed(values, vectors):
    _, place = vectors.abs().max(-2, keepdim=True)
    return values, vectors * vectors.gather(-2, place).sign()


def _matrix(*shape, seed=0):
    # eigenvalues well apart: gaps of 0.001 leave differences few digits of second derivatives
    turn, _ = np.linalg.qr(np.random.default_rng(seed).random(shape))
    return wg.tensor(turn * np.arange(1.0, shape[-1] + 1) @ np.swapaxes(turn, -1, -2) / 2)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("shape", [(6, 6), (2, 6, 6)])
def test_pairs_solve_the_equation_and_have_derivatives(shape, largest):
    A = _matrix(*shape).requires_grad_()
    values, vectors = wg.lobpcg(A, k=2, largest=largest)
    assert wg.allclose(A @ vectors, vectors * values.unsqueeze(-2))
    every = wg.linalg.eigvalsh(A)
    assert wg.allclose(values, every.flip(-1)[..., :2] if largest else every[..., :2])

    def pairs(A):
        return _signed(*wg.lobpcg(A, k=2, largest=largest))

    assert wg.autograd.gradcheck(pairs, A, check_batched_grad=False)
    assert wg.autograd.gradgradcheck(pairs, A, check_batched_grad=False, atol=1e-4)
    (values.sum() + vectors.sum()).backward()
    assert wg.allclose(A.grad, A.grad.mT)


def test_the_general_problem_has_two_matrices():
    A, B = _matrix(6, 6), _matrix(6, 6, seed=1).requires_grad_()
    values, vectors = wg.lobpcg(A, k=2, B=B)
    assert wg.allclose(A @ vectors, B @ vectors * values)
    assert wg.allclose(vectors.mT @ B @ vectors, wg.eye(2, dtype=wg.float64))
    assert wg.autograd.gradcheck(
        lambda B: wg.lobpcg(A, k=2, B=(B + B.mT) / 2)[0], B, check_batched_grad=False
    )


def test_the_number_of_pairs_is_that_of_the_first_guess():
    A = _matrix(6, 6)
    assert wg.lobpcg(A)[0].shape == (1,)
    assert wg.lobpcg(A, X=wg.eye(6, 3, dtype=wg.float64))[1].shape == (6, 3)
    with pytest.raises(ValueError, match="7 eigenpairs are wanted of a matrix of 6 rows"):
        wg.lobpcg(A, k=7)
