"""Test derivatives through constant sparse matrices: `matmul`, `solve`, custom Functions."""

import numpy as np
import pytest

import wengert as wg

sparse = pytest.importorskip("scipy.sparse")
RNG = np.random.default_rng(0)
MATRIX = sparse.csr_array(RNG.standard_normal((5, 4)) * (RNG.random((5, 4)) < 0.5))
SQUARE = sparse.csr_array(RNG.random((4, 4)) * (RNG.random((4, 4)) < 0.5) + 3 * np.eye(4))


def leaf(*shape):
    return wg.tensor(RNG.standard_normal(shape), requires_grad=True)


@pytest.mark.parametrize("shape", [(4,), (4, 3), (4, 0)])
@pytest.mark.parametrize("name", ["matmul", "solve"])
def test_values_and_derivatives_are_those_of_dense_matrices(name, shape):
    matrix = MATRIX if name == "matmul" else SQUARE
    x = leaf(*shape)
    dense = matrix.toarray() if name == "matmul" else np.linalg.inv(matrix.toarray())
    function = getattr(wg.sparse, name)
    assert np.allclose(function(matrix, x).detach().numpy(), dense @ x.detach().numpy())
    assert wg.autograd.gradcheck(lambda x: function(matrix, x), (x,))
    assert wg.autograd.gradgradcheck(lambda x: function(matrix, x) ** 3, (x,))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dia"])
def test_all_formats_and_old_matrices_are_taken(kind):
    x = leaf(4)
    expected = MATRIX.toarray() @ x.detach().numpy()
    for matrix in (MATRIX.asformat(kind), sparse.csr_matrix(MATRIX).asformat(kind)):
        found = wg.sparse.matmul(matrix, x)
        found.sum().backward()
        assert np.allclose(found.detach().numpy(), expected)
    assert np.allclose(x.grad.numpy(), 2 * MATRIX.sum(axis=0))


def test_dtypes_are_kept():
    x = wg.ones(4, requires_grad=True)
    y = wg.sparse.matmul(MATRIX.astype(np.float32), x)
    y.sum().backward()
    assert y.dtype is x.grad.dtype is wg.float32
    z = wg.tensor([1j, 2.0, 0.0, 1.0], dtype=wg.complex128, requires_grad=True)
    matrix = MATRIX + 1j * MATRIX
    assert wg.autograd.gradcheck(lambda z: wg.sparse.matmul(matrix, z), (z,))


def test_patterns_are_those_of_the_matrix():
    for f in (
        lambda x: wg.sparse.matmul(MATRIX, x) ** 2,
        lambda x: wg.sparse.matmul(MATRIX, x.view(4, 1))[:, 0],
    ):
        found = wg.sparse.pattern(f, np.ones(4))
        assert np.array_equal(found.toarray(), MATRIX.toarray() != 0)
    assert wg.sparse.pattern(lambda x: wg.sparse.solve(SQUARE, x), np.ones(4)).toarray().all()


def test_a_large_linear_problem_stays_sparse():
    n = 5000
    matrix = sparse.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(n, n)).tocsr()
    x = np.linspace(0, 1, n)

    def f(x):
        return wg.sparse.matmul(matrix, x) + x.sin()

    found = wg.sparse.jacobian(f, x, check=True)
    assert abs(found - matrix - sparse.diags_array(np.cos(x))).max() < 1e-12
    assert wg.sparse.color(wg.sparse.pattern(f, x)).passes == 3


@pytest.mark.parametrize(("matrix", "name"), [(MATRIX, "matmul"), (SQUARE, "solve")])
def test_transforms_go_through(matrix, name):
    x, batch = leaf(4), leaf(6, 4)

    def f(x):
        return getattr(wg.sparse, name)(matrix, x)

    dense = wg.func.jacrev(f)(x).detach()
    truth = matrix.toarray() if name == "matmul" else np.linalg.inv(matrix.toarray())
    assert np.allclose(dense.numpy(), truth)
    value, slope = wg.func.jvp(f, (x.detach(),), (batch.detach()[0],))
    assert np.allclose(value.numpy(), truth @ x.detach().numpy())
    assert np.allclose(slope.numpy(), truth @ batch.detach().numpy()[0])
    rows = wg.func.vmap(f)(batch.detach())
    assert np.allclose(rows.numpy(), batch.detach().numpy() @ truth.T)


def test_what_does_not_fit_is_refused():
    x = leaf(3)
    with pytest.raises(ValueError, match=r"matmul: a matrix of shape \(5, 4\) does not go with"):
        wg.sparse.matmul(MATRIX, x)
    with pytest.raises(TypeError, match=r"expected a matrix of scipy\.sparse, but got ndarray"):
        wg.sparse.matmul(MATRIX.toarray(), x)
    with pytest.raises(ValueError, match="not square"):
        wg.sparse.solve(MATRIX, leaf(5))
    with pytest.raises(TypeError, match="complex values"):
        wg.sparse.solve(SQUARE, wg.ones(4, dtype=wg.complex128))
    with pytest.raises(RuntimeError, match="singular"):
        wg.sparse.solve(sparse.csr_array((2, 2)), wg.ones(2))


class Weighted(wg.autograd.Function):
    """The product of a matrix of given edges, kept as a sparse tensor on ctx, and a dense one."""

    @staticmethod
    def forward(ctx, edges, weights, layout, dense):
        matrix = wg.sparse_coo_tensor(edges, weights, (3, 3))
        matrix = matrix.to_sparse_csr() if layout is wg.sparse_csr else matrix
        ctx.save_for_backward(matrix, edges, None, dense)
        return matrix @ dense

    @staticmethod
    def backward(ctx, grad):
        matrix, edges, nothing, dense = ctx.saved_tensors
        assert matrix.shape == (3, 3) and nothing is None
        of_weights = (grad @ dense.t())[edges[0], edges[1]]
        return None, of_weights, None, matrix.to_dense().t() @ grad


@pytest.mark.parametrize("layout", [wg.sparse_coo, wg.sparse_csr])
def test_function_saves_sparse_tensor(layout):
    edges = wg.tensor([[0, 1, 2], [2, 0, 1]])
    weights = wg.tensor([2.0, 3.0, 5.0], requires_grad=True)
    dense = wg.arange(6.0).reshape(3, 2).requires_grad_()
    result = Weighted.apply(edges, weights, layout, dense)
    full = wg.zeros(3, 3).index_put(tuple(edges), weights)
    assert wg.equal(result, full @ dense)
    mine = wg.autograd.grad((result**2).sum(), (weights, dense))
    theirs = wg.autograd.grad(((full @ dense) ** 2).sum(), (weights, dense))
    for given, wanted in zip(mine, theirs, strict=True):
        assert wg.equal(given, wanted)
    with pytest.raises(RuntimeError, match="second time"):
        result.grad_fn.saved_tensors  # noqa: B018


def test_function_notices_changed_values_of_saved_sparse_tensor():
    weights = wg.tensor([2.0, 3.0], requires_grad=True)
    matrix = wg.sparse_coo_tensor(wg.tensor([[0, 1], [1, 0]]), wg.tensor([2.0, 3.0]), (2, 2))

    class Scaled(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(matrix)
            return matrix @ x

        @staticmethod
        def backward(ctx, grad):
            return ctx.saved_tensors[0].to_dense().t() @ grad

    result = Scaled.apply(weights)
    matrix._values().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()
