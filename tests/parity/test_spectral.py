"""Test decompositions, norms and distances: values and two orders of derivatives.

Vectors are compared by what does not depend on their signs and phases.
"""

import functools

import numpy as np
import pytest

import wengert
from support.parity import assert_same, derivatives, evaluated, forms

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

RNG = np.random.default_rng(8)


def draw(*shape):
    return RNG.standard_normal(shape)


ARRAYS = {
    "S": draw(4, 4),
    "A": draw(5, 3),
    "W": draw(3, 5),
    "B": draw(2, 3, 3),
    "C": draw(3, 3) + 1j * draw(3, 3),
    "D": draw(4, 2) + 1j * draw(4, 2),
    "x": draw(6, 3),
    "y": draw(4, 3),
    "b": draw(2, 4, 3),
    "z": draw(3, 4) + 1j * draw(3, 4),
    "f": np.array([[0.5, -2.0], [0.25, -0.75]]),
    "n": np.array([[1, 2], [3, 4]]),
}

FORMS = """
L.eigh(S + S.mT)[0]; L.eigh(S + S.mT)[1].abs(); L.eigh(C + C.mH)[1].abs(); L.eigvalsh(C + C.mH)
L.eigvalsh(S); L.eigvalsh(S, 'U'); L.eigh(B + B.mT).eigenvectors.abs()
L.eigvalsh(UPLO='u', input=S)
L.eig(C)[1].abs(); L.eig(B)[1].abs().sum(-1); L.eigvals(C).abs(); L.eigvals(B).abs().sum(-1)
L.svd(A, False).U.abs(); L.svd(W, full_matrices=False).Vh.abs(); L.svd(D, False)[0].abs()
L.svd(A).S; L.svd(B).U.abs(); L.svdvals(A); L.svdvals(D); L.svdvals(B); L.svd(A).U.shape
t.svd(A).U.abs(); t.svd(D).V.abs(); t.svd(A, some=False)[2].shape; A.svd()[1]
t.svd(A, compute_uv=False).V
L.qr(A).Q.abs(); L.qr(W).R.abs(); L.qr(D).R.abs(); L.qr(B, 'complete').Q.abs(); L.qr(A, 'r').R.abs()
L.qr(A, mode='complete').Q.shape
L.pinv(A); L.pinv(W); L.pinv(D); L.pinv(B); L.pinv(A, rtol=0.5); L.pinv(A, atol=1.0, rtol=0.1)
L.pinv(A, 0.3); L.pinv(S, hermitian=True); t.pinverse(A); A.pinverse()
L.pinv(A[:, :1] @ A[:, :1].mT)
L.matrix_rank(A); L.matrix_rank(B, atol=1.0); L.matrix_rank(S, hermitian=True)
L.matrix_rank(A, 1.5)
L.matrix_norm(A); L.matrix_norm(A, 1); L.matrix_norm(A, -1); L.matrix_norm(A, float('inf'))
L.matrix_norm(A, -float('inf')); L.matrix_norm(A, 2); L.matrix_norm(B, -2); L.matrix_norm(D, 'nuc')
L.matrix_norm(B, 2, (0, 2)); L.matrix_norm(B, 'nuc', (2, 0), keepdim=True); L.matrix_norm(D, 1)
L.norm(A); L.norm(A, 2); L.norm(A, 'nuc'); L.norm(A, 1, 0); L.norm(A, 3, dim=1, keepdim=True)
L.norm(B); L.norm(B, 'fro', (0, 1)); L.norm(A, dtype=t.float64); L.norm(D, 2, (0, 1))
L.cond(S); L.cond(A); L.cond(A, -2); L.cond(B, 2); L.cond(S.detach() * 0, 1)
L.cond(S.detach(), 'nuc')
t.norm(A, 'nuc'); t.norm(B, 'nuc', (0, 1)); A.norm('fro', (0, 1)); t.norm(A, 3, 1); A.norm(p=1)
t.dist(x, x + 1); t.dist(x, y[0], 3); x.dist(y[:1], 1); t.dist(x, y[0], float('inf'))
t.renorm(x, 2, 0, 1.0); t.renorm(x, 1, 1, 2.0); x.renorm(3, -1, 1.5); t.renorm(z, 2, 0, 1.0)
t.renorm(x, 2, 0, 100); t.renorm(x, float('inf'), 0, 0.5)
t.angle(z); z.angle(); t.angle(f); t.angle(n); z.conj_physical(); t.conj_physical(f)
z.resolve_conj(); f.resolve_neg(); t.is_conj(f); f.is_conj()
L.eigh(A); L.eigvals(W.detach()); L.eig(A[0]); L.eigh(n); L.svd(A[0]); L.svd(n); L.qr(n)
L.qr(A, 'x')
L.eigvalsh(A); L.pinv(n); L.pinv(A[0]); L.matrix_rank(n); L.matrix_norm(A, 3); L.norm(B, 2)
L.matrix_norm(A, 1, (0, 0)); L.cond(A, 1); L.cond(S, 'x'); L.eigh(S, 'X'); L.matrix_norm(n)
t.norm(A, 'nuc', 0); t.dist(n, n); t.renorm(x, 0, 0, 1.0); L.qr(A, 'r').R.sum().backward()
L.eigh(C + C.mH)[1].real.sum().backward(); L.svd(D, False)[0].real.sum().backward()
L.eig(S)[1].real.sum().backward(); L.qr(A, 'complete').Q.sum().backward()
"""
# PyTorch has no second derivative of these
FIRST_ORDER = """
t.cdist(x, y); t.cdist(x, y, 1); t.cdist(x, y, 3); t.cdist(x, y, 0.5); t.cdist(x, y, float('inf'))
t.cdist(x, y, 0); t.cdist(b, y); t.cdist(b, b); t.cdist(x, x); t.cdist(x, x, 1.5)
t.cdist(x, y, compute_mode='use_mm_for_euclid_dist')
t.cdist(x, y, compute_mode='donot_use_mm_for_euclid_dist')
t.pdist(x); t.pdist(x, 1); t.pdist(x, 2.5); t.pdist(x, float('inf')); t.pdist(x, 0)
t.pdist(t.cat((x, x[:2]))); t.cdist(x, y[:, :2]); t.cdist(x, y, -1); t.pdist(x[0]); t.cdist(z, z)
"""


@pytest.mark.parametrize("form", forms(FORMS))
@pytest.mark.filterwarnings("ignore")
def test_form(form):
    ours, theirs = (evaluated(form, t, ARRAYS) for t in (wengert, torch))
    assert_same(ours, theirs, form, 1e-7, 1e-9)


@pytest.mark.parametrize("form", forms(FIRST_ORDER))
def test_form_of_first_order(form):
    derive = functools.partial(derivatives, orders=["first"])
    ours, theirs = (evaluated(form, t, ARRAYS, derive=derive) for t in (wengert, torch))
    assert_same(ours, theirs, form, 1e-8, 1e-10)
