"""Test linear systems, factorisations and products, with two orders of derivatives."""

import numpy as np
import pytest

import wengert
from support.parity import assert_same, evaluated, forms

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

RNG = np.random.default_rng(9)


def draw(*shape):
    return RNG.standard_normal(shape)


def mixed(*shape):
    return draw(*shape) + 1j * draw(*shape)


ARRAYS = {
    "S": draw(3, 3) + 3 * np.eye(3),
    "Q": np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]),
    "C": mixed(3, 3) + 3 * np.eye(3),
    "B": draw(2, 3, 3) + 3 * np.eye(3),
    "A": draw(4, 2),
    "W": draw(2, 4),
    "R": draw(3, 2),
    "Z": mixed(3, 2),
    "v": draw(3),
    "w": draw(4),
    "x": draw(2, 3),
    "y": draw(2, 3),
    "b": draw(2, 3, 4),
    "c": draw(2, 4, 5),
    "s": np.array(0.7),
    "n": np.array([[1, 2], [3, 4]]),
    "m": np.array([[True, False], [True, True]]),
}

FORMS = """
L.solve(S, R); L.solve(S, v); L.solve(B, v); L.solve(B, x); L.solve(B, R); L.solve(S, x, left=False)
L.solve(C, Z); L.solve(A=S, B=R); L.solve(B[:, None], B); L.solve_ex(S, R); L.solve_ex(B, x)[1]
L.solve(S, W); L.solve(A, R); L.solve(n, n); L.solve(S, Z); L.solve(S * 0, v); L.solve(B * 0, v)
L.solve(v, v); L.solve(S, s); L.solve(S, v, left=False); L.solve_ex(S * 0, v, check_errors=True)
L.inv(S); L.inv(B); L.inv(C); S.inverse(); t.inverse(B); L.inv_ex(S).inverse; L.inv_ex(C)
L.inv(A); L.inv(n); L.inv(v); L.inv(S.half()); L.inv(S * 0); L.inv(B * 0); L.inv_ex(B[0] * 0).info
L.det(S); t.det(B); C.det(); L.det(S[:0, :0]); L.det(S - 3); L.det(A); L.det(n)
L.slogdet(S); t.slogdet(B).logabsdet; C.slogdet(); L.slogdet(-S.detach()).sign
L.slogdet(n); L.slogdet(C)[0]
t.logdet(S); B.logdet(); C.logdet(); t.logdet(-S); t.logdet(S.detach() * 0); t.logdet(A)
L.solve_triangular(S, R, upper=True); L.solve_triangular(S, R, upper=False)
L.solve_triangular(C, Z, upper=False, unitriangular=True); L.solve_triangular(B, R, upper=True)
L.solve_triangular(S, x, upper=True, left=False); L.solve_triangular(S, v, upper=True)
L.solve_triangular(A, R, upper=True); L.solve_triangular(S, W, upper=True)
t.triangular_solve(R, S); t.triangular_solve(R, S, False); R.triangular_solve(S, transpose=True)
t.triangular_solve(Z, C, transpose=True, unitriangular=True)[0]; t.triangular_solve(v, S)
t.triangular_solve(W, S)
L.tensorinv(B[:1].reshape(1, 3, 3), ind=2); L.tensorinv(S.reshape(3, 1, 3)); L.tensorinv(S, ind=1)
L.tensorinv(S, ind=0); L.tensorinv(W); L.tensorsolve(S.reshape(3, 3, 1), v)
L.tensorsolve(S.reshape(1, 3, 3), v.reshape(1, 3)); L.tensorsolve(W, v)
L.tensorsolve(S.reshape(3, 1, 3), v, dims=(1,))
L.cholesky(Q); L.cholesky(Q, upper=True); L.cholesky_ex(Q).L; t.cholesky(Q); Q.cholesky(True)
L.cholesky(B @ B.mT); L.cholesky(C @ C.mH); L.cholesky_ex(Q).info; L.cholesky(-Q); t.cholesky(-Q)
L.cholesky(B * 0); L.cholesky(A); L.cholesky(n); t.cholesky(n); L.cholesky_ex(-Q, check_errors=True)
L.cholesky(C @ C.mH, upper=True).abs()
t.cholesky_solve(R, L.cholesky(Q)); R.cholesky_solve(L.cholesky(Q, upper=True), True)
t.cholesky_solve(R, S.detach()); t.cholesky_solve(v, S); t.cholesky_solve(W, S)
t.cholesky_inverse(L.cholesky(Q)); L.cholesky(Q, upper=True).cholesky_inverse(True)
t.cholesky_inverse(L.cholesky(C @ C.mH)); t.cholesky_inverse(S * 0); t.cholesky_inverse(A)
L.lu(S); L.lu(A)[1]; L.lu(W)[2]; L.lu(C); L.lu(B); L.lu(S, pivot=False); L.lu(v); L.lu(n)
L.lu_factor(S); L.lu_factor(B)[1]; L.lu_factor(C)[0]; L.lu_factor_ex(A); L.lu_factor_ex(B)[2]
L.lu_factor(S * 0); L.lu_factor(B * 0); L.lu_factor_ex(S * 0, check_errors=True)
t.lu(S); S.lu(); t.lu(B, get_infos=True)[2]; S.lu(get_infos=True)[1]; t.lu(S, pivot=False)
t.lu_unpack(*L.lu_factor(S)); t.lu_unpack(*t.lu(A), unpack_pivots=False)[1]
t.lu_unpack(*L.lu_factor(W)).P; t.lu_unpack(S, v); t.lu_unpack(S, (v * 0).int())
L.lu_solve(*L.lu_factor(S), R); L.lu_solve(*L.lu_factor(S), x, left=False)
L.lu_solve(*L.lu_factor(C), Z, adjoint=True); L.lu_solve(*L.lu_factor(B), R)
L.lu_solve(*L.lu_factor(C), Z.mT, left=False, adjoint=True); t.lu_solve(R, *t.lu(S))
R.lu_solve(*t.lu(S)); L.lu_solve(S, v.detach(), R); L.lu_solve(S, (v * 0).int(), R)
L.lu_solve(S, v.int(), v)
L.lstsq(A, w).solution; L.lstsq(W, x[:, :2]).solution; L.lstsq(S, R)[0]; L.lstsq(B, R[None])[0]
L.lstsq(A, w.reshape(4, 1), driver='gelsd').residuals; L.lstsq(A, w, driver='gels')[0]
L.lstsq(A, w, driver='gelss').rank; L.lstsq(A.detach(), w.detach(), driver='gelsd')[3]
L.lstsq(A, R); L.lstsq(A, w, driver='x'); L.lstsq(v, v); L.lstsq(n, n)
L.householder_product(R, v[:2]); L.householder_product(Z, Z[0]); t.orgqr(A, w[:1])
L.householder_product(W, v); L.householder_product(R, v)
t.geqrf(A.detach()); t.geqrf(Z.detach()).tau; t.geqrf(v.detach()); t.ormqr(R, v[:2], R)
t.ormqr(R, v[:2], R.mT, False); R.ormqr(v[:2], R, transpose=True); t.ormqr(Z, Z[0], Z, True, True)
t.ormqr(R, v[:2], v); t.ormqr(R, v[:2], R.mT[:, :2]); t.ormqr(R, v[:2], R[None])
L.matrix_power(S, 3); L.matrix_power(B, 0); t.matrix_power(C, 5); S.matrix_power(-2)
S.matrix_power(1)
L.matrix_power(n, 3); L.matrix_power(S, 1.5); L.matrix_power(A, 2); L.matrix_power(S * 0, -1)
L.matrix_exp(S); t.matrix_exp(B * 0.1); C.matrix_exp(); t.matrix_exp(S * 0.001); L.matrix_exp(A)
L.matrix_exp(n); L.matrix_exp(S[:1, :1]); L.matrix_exp(S[:0, :0])
L.multi_dot([W, A, W]); L.multi_dot([w, A, W, w]); L.multi_dot([v, S]); L.multi_dot([S])
L.multi_dot([S, v, S]); L.multi_dot([S, A]); L.multi_dot(S); L.multi_dot([S, C])
L.multi_dot([B, S])
t.chain_matmul(W, A, W); t.chain_matmul(S); t.chain_matmul(v, S); t.chain_matmul()
L.vander(v); L.vander(x, N=5); L.vander(n); L.vander(v, N=1); L.vander(m); L.vander(s)
t.vander(v.detach()); t.vander(v.detach(), 2); t.vander(v.detach(), N=4, increasing=True)
t.vander(n[0]); t.vander(x)
t.vander(v, -1); t.vander(v, 0); t.vander(v, 1)
L.vecdot(x, y); L.vecdot(x, y, dim=0); L.vecdot(x, v); L.vecdot(v, v); L.vecdot(Z, Z)
L.vecdot(s, s)
L.vecdot(v, w); L.vecdot(n, n); L.vecdot(x, y, dim=2); L.vecdot(Z, R)
L.cross(x, y); L.cross(x, v[None]); t.cross(x, y); t.cross(v, v, 0); v.cross(v, dim=0)
t.cross(R, R)
L.cross(Z.mT, Z.mT); L.cross(x, v); L.cross(A, A); t.cross(A, A); L.cross(v, v, dim=1)
L.cross(m, m)
L.diagonal(S); L.diagonal(B, offset=1); L.diagonal(b, dim1=0, dim2=1); L.diagonal(v)
L.matmul(S, R); t.trace(S); S.trace(); t.trace(n); t.trace(A); t.trace(v); t.trace(m); C.trace()
t.addbmm(x[:, :0] @ t.ones(0, 5, dtype=x.dtype) @ t.ones(5, 5, dtype=x.dtype), b[:, :2], c)
t.addbmm(s, b, c, beta=0.5, alpha=2); S[:, :1].addbmm(b, c); t.addbmm(v, b, c); t.addbmm(s, b, b)
t.addbmm(s, b, c[:1]); t.addr(S, v, v); t.addr(v, v, v, beta=2, alpha=-1)
x[:, :1].addr(v[:2], v); t.addr(S, w, v); t.addr(S, x, v); t.addr(n, n[0], n[1], beta=0.5)
t.addr(m, m[0], m[1]); t.ger(v, w); v.ger(w)
t.kron(x, y); t.kron(s, v); t.kron(b, v); x.kron(n); t.kron(m, m); t.kron(Z, R)
t.tensordot(x, S, 1); t.tensordot(x, y, dims=0); t.tensordot(b, c, dims=([0, 2], [0, 1]))
t.tensordot(x, y, dims=([0], [0])); t.tensordot(x[:, :1], S, dims=1); t.tensordot(x, y)
t.tensordot(x, x, -1); t.tensordot(x, x, 3); t.tensordot(x, y, ([0], [0, 1])); t.tensordot(n, n)
t.tensordot(x, Z, 1); t.tensordot(Z, Z, 2); t.tensordot(S, S, ([0, 0], [0, 1]))
t.einsum('ij,jk->ik', x, S); t.einsum('ij,kj', x, y); t.einsum('bij,bjk->bik', b, c)
t.einsum('ii', S)
t.einsum('i,j,k->ijk', v, w, v); t.einsum('...ij,...jk', b, c); t.einsum('ij->ji', C)
t.einsum('bij,bjk->k', b, c); t.einsum('ij,ij,ij->j', x, y, x); t.einsum('ii->i', C)
t.einsum(x, [0, 1], S, [1, 2], [2, 0]); t.einsum(x, [0, 1]); t.einsum('ij,jk,kl', x, S, R)
t.einsum('b...,b...->...', b, b); t.einsum('ij,j->i', Z.mT, v * (1 + 0j)); t.einsum('ij,j', n, n[0])
t.einsum('ij,jk', x, y); t.einsum('ij', b); t.einsum('i%', x); t.einsum('ij->k', x)
t.einsum('i..j', x); t.einsum('ij,j', x); t.einsum('ij', x, y); t.einsum('ij', x, 3); t.einsum('ij')
t.einsum('ij,jk', x, C); t.einsum('ij,jk', m, m); t.einsum(x, [0, 99]); t.einsum(3, x); t.einsum()
"""


@pytest.mark.parametrize("form", forms(FORMS))
@pytest.mark.filterwarnings("ignore")
def test_form(form):
    ours, theirs = (evaluated(form, t, ARRAYS) for t in (wengert, torch))
    assert_same(ours, theirs, form, 1e-7, 1e-9)
