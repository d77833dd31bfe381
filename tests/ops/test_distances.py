"""Test matrix norms and distances between points, beyond the record table."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import gradcheck, gradgradcheck

RNG = np.random.default_rng(33)
INF = math.inf
ORDERS = ("fro", "nuc", INF, -INF, 1, -1, 2, -2)
POWERS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, INF)


def array(*shape, dtype=np.float64):
    values = RNG.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * RNG.standard_normal(shape)
    return wg.from_numpy(np.asarray(values, dtype))


# -- norms of matrices ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("order", ORDERS)
def test_norms_of_matrices_are_numpys(order, dtype):
    a = array(2, 3, 4, dtype=dtype)
    for dim in ((-2, -1), (0, 2), (2, 0), [1, 0]):
        for keepdim in (False, True):
            expected = np.linalg.norm(a.numpy(), order, tuple(dim), keepdim)
            for function in (wg.linalg.matrix_norm, wg.linalg.norm):
                result = function(a, order, dim, keepdim)
                assert result.dtype == wg.float64
                assert result.shape == expected.shape
                assert np.allclose(result.numpy(), expected)
    assert gradcheck(lambda x: wg.linalg.matrix_norm(x, order), (a.requires_grad_(),))
    assert gradgradcheck(lambda x: wg.linalg.matrix_norm(x, order), (a,))


@pytest.mark.parametrize("order", ORDERS)
def test_norms_of_zero_have_a_gradient(order):
    a = wg.zeros(3, 2, dtype=wg.float64, requires_grad=True)
    wg.linalg.matrix_norm(a, order).backward()
    assert wg.linalg.matrix_norm(a.grad, 2) <= 1  # as of a subgradient


def test_equal_columns_share_the_gradient():
    a = wg.ones(2, 2, requires_grad=True)
    wg.linalg.matrix_norm(a, 1).backward()
    assert a.grad.tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_norms_of_nothing_are_zero():
    for order in ORDERS:
        for shape in ((0, 3), (3, 0), (0, 0)):
            assert wg.linalg.matrix_norm(wg.ones(shape), order).item() == 0


def test_what_linalg_norm_stands_for():
    a = array(3, 4)
    norm = wg.linalg.norm
    assert wg.allclose(norm(a), wg.linalg.matrix_norm(a))
    assert wg.allclose(norm(array(2, 2, 2) * 0 + 1), wg.tensor(8.0, dtype=wg.float64).sqrt())
    assert wg.allclose(norm(a, 2), wg.linalg.svdvals(a)[0])
    assert wg.allclose(norm(a, 2, 1), wg.linalg.vector_norm(a, 2, 1))
    assert wg.allclose(norm(a[0], 3), wg.linalg.vector_norm(a[0], 3))
    assert norm(wg.ones(2), dtype=wg.float64).dtype == wg.float64
    assert wg.linalg.matrix_norm(wg.ones(2, 2, dtype=wg.float16), 2).dtype == wg.float16


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda L, a: L.matrix_norm(a[0]), "linalg.matrix_norm: The input tensor A must have at"),
        (lambda L, a: L.matrix_norm(a, 3), "linalg.matrix_norm: Order 3 not supported"),
        (lambda L, a: L.matrix_norm(a, "x"), "linalg.matrix_norm: Order x not supported"),
        (lambda L, a: L.matrix_norm(a, 1, (0, 0)), "linalg.matrix_norm: dims must be different"),
        (lambda L, a: L.matrix_norm(a, 1, (0, 1, 1)), "linalg.matrix_norm: dim must be a 2-tuple"),
        (lambda L, a: L.matrix_norm(a.int()), "linalg.matrix_norm: Expected a floating point or"),
        (lambda L, a: L.matrix_norm(a, dtype=wg.int64), "linalg.matrix_norm: dtype should be flo"),
        (lambda L, a: L.matrix_norm(a, dtype=wg.complex64), "dtype should be real for real inputs"),
        (lambda L, a: L.norm(a[None], 2), "linalg.norm: If dim is not specified but ord is, the"),
        (lambda L, a: L.norm(a[None], 2, (0, 1, 2)), "linalg.norm: If dim is specified, it must"),
        (lambda L, a: L.norm(a, "fro", 0), "linalg.matrix_norm: dim must be a 2-tuple. Got 0"),
        (lambda L, a: L.cond(a[0]), "linalg.cond: The input tensor must have at least 2 dimens"),
        (lambda L, a: L.cond(a, 1), r"linalg.cond\(ord=1\): A must be batches of square matric"),
        (lambda L, a: L.cond(a, 3), "linalg.cond got an invalid norm type: 3"),
    ],
)
def test_bad_norms(call, words):
    with pytest.raises(RuntimeError, match=f"^{words}" if "dtype should" not in words else words):
        call(wg.linalg, wg.ones(2, 3))


@pytest.mark.parametrize("p", [None, *ORDERS])
def test_condition_numbers_are_numpys(p):
    a = array(2, 3, 3)
    assert np.allclose(wg.linalg.cond(a, p).numpy(), np.linalg.cond(a.numpy(), p))
    assert gradcheck(lambda x: wg.linalg.cond(x, p), (a.requires_grad_(),))
    assert wg.linalg.cond(wg.ones(2, 0, 0), p).tolist() == [0.0, 0.0]


def test_the_condition_of_a_singular_matrix_is_infinite():
    a = wg.stack([wg.eye(2), wg.ones(2, 2)]).requires_grad_()
    number = wg.linalg.cond(a, 1)
    assert number.tolist() == [1.0, INF]
    (g,) = wg.autograd.grad(number[0], a)
    assert g.isfinite().all()


# -- norms outside of linalg ----------------------------------------------------------------------


def test_norms_by_their_older_name():
    a = array(3, 4)
    assert wg.allclose(wg.norm(a, "nuc"), wg.linalg.svdvals(a).sum())
    assert wg.norm(a, "nuc", (0, 1), keepdim=True).shape == (1, 1)
    assert wg.allclose(wg.norm(a, 2, (0, 1)), wg.linalg.vector_norm(a))
    for call in (
        lambda: wg.norm(a, "nuc", 0),
        lambda: wg.norm(a[None], "nuc"),
        lambda: wg.norm(a[None], "fro", (0, 1, 2)),
    ):
        with pytest.raises(RuntimeError, match=r"^linalg.matrix_norm: dim must be a 2-tuple"):
            call()
    with pytest.raises(RuntimeError, match=r"^linalg.matrix_norm: Order x not supported"):
        wg.norm(a, "x")


def test_the_distance_of_two_tensors():
    a, b = array(3, 4), array(4)
    for p in (0, 1, 2, 3, INF):
        assert wg.allclose(wg.dist(a, b, p), wg.linalg.vector_norm(a - b, p))
    a.requires_grad_()
    wg.dist(a, a.detach()).backward()
    assert not a.grad.any()
    with pytest.raises(RuntimeError, match=r"^norm\(\): input dtype should be either floating"):
        wg.dist(wg.tensor([1]), wg.tensor([2]))


# -- distances of points --------------------------------------------------------------------------


def brute_force(x, y, p):
    return np.linalg.norm(x[..., :, None, :] - y[..., None, :, :], p, -1)


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 2), (4, 2)),
        ((2, 3, 5), (2, 1, 5)),
        ((2, 1, 3, 5), (3, 2, 5)),
        ((300, 3), (200, 3)),
        ((40, 3, 70), (40, 2, 70)),
        ((1, 9000), (2, 9000)),
        ((0, 3), (2, 3)),
    ],
)
def test_distances_of_points(left, right, p):
    x, y = array(*left), array(*right)
    expected = brute_force(x.numpy(), y.numpy(), p)
    for mode in ("donot_use_mm_for_euclid_dist", "use_mm_for_euclid_dist"):
        assert np.allclose(wg.cdist(x, y, p, mode).numpy(), expected)


@pytest.mark.parametrize("p", POWERS)
def test_gradients_of_many_distances(p):
    x, y = array(60, 4).requires_grad_(), array(50, 4).requires_grad_()
    weights = array(60, 50)
    result = wg.cdist(x, y, p, "donot_use_mm_for_euclid_dist")
    found = wg.autograd.grad((result * weights).sum(), (x, y))
    apart = wg.linalg.vector_norm(x.unsqueeze(1) - y, p, 2)
    expected = wg.autograd.grad((apart * weights).sum(), (x, y))
    for ours, theirs in zip(found, expected, strict=True):
        assert wg.allclose(ours, theirs)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, INF])
def test_points_that_coincide_have_the_gradient_zero_in_every_order(p):
    x = wg.tensor([[1.0, 2.0], [1.0, 2.0], [1.0, 5.0]], dtype=wg.float64, requires_grad=True)
    for function in (lambda x: wg.cdist(x, x, p), lambda x: wg.pdist(x, p)):
        (g,) = wg.autograd.grad(function(x).sum(), x, create_graph=True)
        (h,) = wg.autograd.grad((g * g).sum(), x)
        assert g.isfinite().all()
        assert h.isfinite().all()
    (g,) = wg.autograd.grad(wg.pdist(x[:2], p).sum(), x)
    assert not g.any()


def test_digits_are_kept_where_no_product_is_used():
    x = wg.tensor([[1000.0, 0.0], [1000.001, 0.0]])
    apart = (x[1, 0] - x[0, 0]).item()
    assert wg.cdist(x, x)[0, 1].item() == pytest.approx(apart, rel=1e-6)
    assert wg.cdist(x, x)[0, 0].item() == 0
    assert wg.pdist(x).item() == pytest.approx(apart, rel=1e-6)


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("shape", [(5, 3), (100, 4), (1, 3), (0, 3), (3, 0)])
def test_distances_within_one_list(shape, p):
    x = array(*shape)
    above = np.triu_indices(shape[0], 1)
    assert np.allclose(wg.pdist(x, p).numpy(), brute_force(x.numpy(), x.numpy(), p)[above])
    x.requires_grad_()
    weights = array(len(above[0]))
    (g,) = wg.autograd.grad((wg.pdist(x, p) * weights).sum(), x)
    apart = wg.cdist(x, x, p, "donot_use_mm_for_euclid_dist")[above]
    (h,) = wg.autograd.grad((apart * weights).sum(), x)
    assert wg.allclose(g, h)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda x: wg.cdist(x, x[:, :2]), RuntimeError, "X1 and X2 must have the same number of"),
        (lambda x: wg.cdist(x[0], x), RuntimeError, "cdist only supports at least 2D tensors, X1"),
        (lambda x: wg.cdist(x, x.double()), RuntimeError, "expected scalar type Float but found"),
        (lambda x: wg.cdist(x.int(), x), RuntimeError, "cdist only supports floating-point dtypes"),
        (lambda x: wg.cdist(x, x, -1), RuntimeError, "cdist only supports non-negative p values"),
        (lambda x: wg.cdist(x, x, compute_mode="x"), ValueError, "x is not a valid value for comp"),
        (
            lambda x: wg.cdist(x.half(), x.half()),
            NotImplementedError,
            '"cdist" not implemented for',
        ),
        (lambda x: wg.pdist(x[0]), RuntimeError, "pdist only supports 2D tensors, got: 1D"),
        (lambda x: wg.pdist(x.int()), RuntimeError, "pdist only supports floating-point dtypes"),
        (lambda x: wg.pdist(x, -1), RuntimeError, "pdist only supports non-negative p values"),
        (lambda x: wg.renorm(x, 0, 0, 1), RuntimeError, "renorm: non-positive-norm not supported"),
        (lambda x: wg.renorm(x, 2, 0, -1), RuntimeError, "renorm: expected maxnorm to be >= 0 but"),
        (lambda x: wg.renorm(x[0], 2, 0, 1), RuntimeError, "renorm: input needs at least 2 dimens"),
        (lambda x: wg.renorm(x, 1j, 0, 1), RuntimeError, "renorm: p must be real-valued"),
        (lambda x: wg.renorm(x, 2, 5, 1), IndexError, "Dimension out of range"),
    ],
)
def test_bad_points(call, kind, words):
    with pytest.raises(kind, match=f"^{words}"):
        call(wg.ones(2, 3))


# -- lengths --------------------------------------------------------------------------------------


def test_parts_that_are_too_long_are_scaled_down():
    x = wg.tensor([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    assert wg.allclose(x.renorm(2, 0, 1.0), wg.tensor([[0.6, 0.8], [0.3, 0.4], [0.0, 0.0]]))
    assert wg.allclose(x.renorm(INF, 1, 1.5)[0], wg.tensor([1.5, 1.5]))
    y = x.clone()
    assert y.renorm_(2, 0, 1.0) is y
    assert wg.allclose(y, x.renorm(2, 0, 1.0))
    x.requires_grad_()
    wg.renorm(x, 2, 0, 1.0).sum().backward()
    assert x.grad.isfinite().all()
    assert x.grad[1:].tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("largest", [complex(1, -INF), complex(INF, -1), complex(3e38, 3e38)])
def test_complex_numbers_without_bound_have_a_norm_without_bound(largest):
    x = wg.tensor([largest, 1.0, largest], dtype=wg.complex64)
    assert x.norm().item() == wg.dist(x, wg.zeros(3)).item() == INF
    for rows in (x[None], wg.stack([x, x])):
        assert wg.linalg.vector_norm(rows, dim=-1).isinf().all()
        assert wg.linalg.vector_norm(rows.T.contiguous().T, dim=-1).isinf().all()
