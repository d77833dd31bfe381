"""Test that operations on sparse tensors equal those on dense ones."""

import copy
import pickle

import numpy as np
import pytest

import wengert as wg
from wengert import sparse
from wengert.autograd import gradcheck, gradgradcheck

INDEX = [[0, 1, 1, 0, 1], [2, 0, 2, 2, 0]]
VALUES = [3.0, 4.0, 5.0, 1.0, -0.5]


def given(coalesced=False, csr=False, values=VALUES):
    x = wg.sparse_coo_tensor(INDEX, wg.tensor(values, dtype=wg.float64), (2, 3))
    x = x.coalesce() if coalesced else x
    return x.to_sparse_csr() if csr else x


ZERO_STAYS = ["abs", "asinh", "atan", "ceil", "erf", "erfinv", "expm1", "floor", "log1p", "neg"]
ZERO_STAYS += ["relu", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"]
ALL = {
    "coo": given(),
    "coalesced": given(True),
    "csr": given(csr=True),
    "csc": given().to_sparse_csc(),
    "bsr": given().to_sparse_bsr((2, 1)),
    "bsc": given().to_sparse_bsc((1, 3)),
}
KINDS = pytest.mark.parametrize("x", ALL.values(), ids=ALL)


def dense(x):
    return x.to_dense() if isinstance(x, sparse.SparseTensor | sparse.CompressedTensor) else x


def check(made, wanted):
    np.testing.assert_allclose(dense(made).numpy(), wanted.numpy(), rtol=1e-12)


@KINDS
def test_elements_that_occur_several_times_are_summed(x):
    assert x.to_dense().tolist() == [[0, 0, 4], [3.5, 0, 5]]
    assert x.tolist() == x.to_dense().tolist()
    assert (x.shape, x.ndim, len(x), x.numel(), x.dtype) == ((2, 3), 2, 2, 6, wg.float64)
    check(x.to_sparse_coo().coalesce(), x.to_dense())
    check(x.to_sparse_csr(), x.to_dense())


D = wg.arange(12.0, dtype=wg.float64).reshape(3, 4) / 5 - 1
ROW = wg.tensor([[1.0, 2.0, 3.0]], dtype=wg.float64)
SAME = wg.arange(6.0, dtype=wg.float64).reshape(2, 3) + 1


@KINDS
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x @ D,
        lambda x: x @ D[:, 0],
        lambda x: D.t() @ x.t() if x.layout is wg.sparse_coo else D.t() @ x.to_dense().t(),
        lambda x: D[:2, 0] @ x,
        lambda x: sparse.mm(x, D) if x.layout is not wg.strided else wg.mm(x, D),
        lambda x: x * 2,
        lambda x: 2 * x,
        lambda x: x / 2,
        lambda x: -x,
        lambda x: x * wg.tensor(3.0, dtype=wg.float64),
        lambda x: x * SAME,
        lambda x: SAME * x,
        lambda x: x * ROW,
        lambda x: SAME + x,
        lambda x: SAME - x,
        lambda x: x + x,
        lambda x: x - 0.5 * x,
        lambda x: x * x,
        lambda x: x.sum(),
        lambda x: x.sum(0),
        lambda x: x.sum(-1),
        lambda x: x.sum(-1, keepdim=True),
        lambda x: x.sum((0, 1), keepdim=True),
        lambda x: x.norm(),
        lambda x: x.cdouble(),
        lambda x: x.type(wg.float32),
        lambda x: wg.isnan(x),
        lambda x: wg.signbit(x),
        lambda x: wg.conj_physical(x),
        lambda x: wg.nn.functional.relu(x),
        lambda x: wg.nn.functional.relu(x * 1, inplace=True),
        lambda x: wg.nn.functional.linear(x, SAME),
        lambda x: wg.nn.functional.linear(x, SAME, SAME[0, :2]),
        lambda x: wg.zeros_like(x, layout=wg.strided),
        lambda x: (
            wg.empty_like(x, dtype=wg.float32) if x.layout is not wg.strided else x.float() * 0
        ),
        lambda x: x.detach(),
        lambda x: x.clone(),
        lambda x: x.to(wg.float64),
        lambda x: x.index_select(0, wg.tensor([1, 0, 1])),
        lambda x: x.index_select(1, wg.tensor([2, 2])),
    ],
)
def test_what_is_computed_is_what_the_dense_one_gives(x, f):
    check(f(x), f(x.to_dense()))


@KINDS
@pytest.mark.parametrize("name", ZERO_STAYS)
def test_functions_of_the_elements(x, name):
    if name in ("asin", "erfinv", "atanh", "log1p"):
        x = x / 10
    x = x.abs() if name == "sqrt" else x
    made, wanted = getattr(x, name)(), getattr(x.to_dense(), name)()
    assert (
        dense(made).tolist() == pytest.approx(np.asarray(wanted.numpy()), nan_ok=True)
        or (dense(made).numpy() == wanted.numpy()).all()
    )


def test_products_of_sparse_matrices_are_sparse():
    rng = np.random.default_rng(0)
    for shape, other in [((4, 5), (5, 3)), ((1, 1), (1, 1)), ((3, 2), (2, 0)), ((0, 2), (2, 3))]:
        a, b = (rng.normal(size=s) * (rng.uniform(size=s) < 0.5) for s in (shape, other))
        x, y = wg.from_numpy(a), wg.from_numpy(b)
        made = sparse.mm(x.to_sparse(), y.to_sparse())
        assert made.is_coalesced()
        np.testing.assert_allclose(made.to_dense().numpy(), a @ b, atol=1e-12)
        np.testing.assert_allclose((x @ y.to_sparse()).numpy(), a @ b, atol=1e-12)
        np.testing.assert_allclose((x.to_sparse() @ y).numpy(), a @ b, atol=1e-12)
        if b.size:
            rows = sparse.mm(x.to_sparse_csr(), y.to_sparse_csr())
            assert rows.layout is wg.sparse_csr
            np.testing.assert_allclose(rows.to_dense().numpy(), a @ b, atol=1e-12)


def test_sums_along_sparse_and_dense_dimensions():
    x = wg.arange(24.0).reshape(2, 3, 4) - 9
    s = x.to_sparse(2)
    assert (s.sparse_dim(), s.dense_dim(), s.values().shape) == (2, 1, (6, 4))
    for dim in (0, 1, 2, (0, 1), (0, 2), (1, 2), (0, 1, 2), -1, None):
        made, wanted = sparse.sum(s, dim), x.sum(dim)
        assert wg.equal(dense(made), wanted), dim
    assert sparse.sum(s, dtype=wg.float64).dtype is wg.float64
    with pytest.raises(RuntimeError, match="dim appears multiple times"):
        sparse.sum(s, (0, 0))


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_softmax_is_over_what_is_stored(dim):
    x = wg.tensor([[[1.0, 2.0], [0.0, 0.0]], [[-1.0, 50.0], [4.0, -900.0]]], dtype=wg.float64)
    for count in (2, 3):
        s = x.to_sparse(count)
        stored = (s * 0 + s._with(wg.ones_like(s.values()))).to_dense() != 0
        masked = x.masked_fill(~stored, -float("inf"))
        for ours, theirs in ((sparse.softmax, wg.softmax), (sparse.log_softmax, wg.log_softmax)):
            made = ours(s, dim).to_dense()
            wanted = theirs(masked, dim).masked_fill(~stored, 0)
            np.testing.assert_allclose(made.numpy(), wanted.numpy(), atol=1e-12)


# -- derivatives -----------------------------------------------------------------------------------


def of_values(f):
    def function(values, *others):
        x = wg.sparse_coo_tensor(INDEX, values, (2, 3))
        made = f(x, *others)
        return (
            made.to_dense()
            if hasattr(made, "to_sparse_coo") and made.layout is not wg.strided
            else made
        )

    return function


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "f",
    [
        lambda x, d: x @ d,
        lambda x, d: x.to_sparse_csr() @ d,
        lambda x, d: d.t() @ x.t(),
        lambda x, d: sparse.mm(x, (d * 1).to_sparse()),
        lambda x, d: sparse.softmax(x, 1) @ d,
        lambda x, d: sparse.log_softmax(x, 0) @ d,
        lambda x, d: x * d[:, 0] * x,
        lambda x, d: (x * x + x).sum(0),
        lambda x, d: sparse.addmm(wg.ones(2, 4, dtype=wg.float64), x, d, beta=2.0, alpha=3.0),
        lambda x, d: d[:2, :3] + x.sin(),
        lambda x, d: sparse.cat([x, x * 2]) @ d,
        lambda x, d: sparse.stack([x, x])[1] @ d,
        lambda x, d: x[0].to_dense() * d[:, 0],
    ],
)
def test_derivatives_are_right_to_second_order(f):
    values = wg.tensor(VALUES, dtype=wg.float64, requires_grad=True)
    d = (D + 0.03).clone().requires_grad_()
    assert gradcheck(of_values(f), (values, d))
    assert gradgradcheck(of_values(f), (values, d))


def test_values_are_a_leaf_where_that_is_asked_for():
    v = wg.tensor([3.0, 4.0])
    x = wg.sparse_coo_tensor([[0, 1], [2, 0]], v, (2, 3), requires_grad=True)
    assert x.requires_grad
    assert x.is_leaf
    assert not v.requires_grad
    (x @ wg.ones(3, 2)).sum().backward()
    assert x.grad.to_dense().tolist() == [[0, 0, 2], [2, 0, 0]]
    x.grad = None
    assert x.grad is None


def test_of_a_dense_tensor_the_gradient_is_where_elements_are_stored():
    x = wg.eye(2, requires_grad=True)
    (x.to_sparse() @ wg.ones(2, 2)).sum().backward()
    assert x.grad.tolist() == [[2, 0], [0, 2]]
    y = wg.ones(2, 3, requires_grad=True)
    mask = wg.sparse_coo_tensor([[0, 1], [2, 0]], [1.0, 1.0], (2, 3))
    y.sparse_mask(mask).sum().backward()
    assert y.grad.tolist() == [[0, 0, 1], [1, 0, 0]]


def test_a_graph_convolution_learns():
    wg.manual_seed(0)
    edges = wg.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]])
    adjacency = wg.sparse_coo_tensor(edges, wg.ones(5), (4, 4))
    adjacency = (adjacency + adjacency.t()).coalesce()
    features, target = wg.randn(4, 3), wg.randn(4, 2)
    linear = wg.nn.Linear(3, 2)
    optimizer = wg.optim.Adam(linear.parameters(), lr=0.1)
    losses = []
    for _ in range(50):
        optimizer.zero_grad()
        loss = (sparse.mm(adjacency, linear(features)) - target).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 5


# -- the rest --------------------------------------------------------------------------------------


def test_empty_tensors_are_tensors():
    x = wg.sparse_coo_tensor((2, 3))
    assert x.to_dense().tolist() == [[0, 0, 0], [0, 0, 0]]
    assert (x._nnz(), x.is_coalesced()) == (0, True)
    y = wg.sparse_coo_tensor(wg.zeros(2, 0, dtype=wg.int64), wg.ones(0), (2, 3))
    assert (y @ wg.ones(3, 2)).tolist() == [[0, 0], [0, 0]]
    assert y.sum().item() == 0
    assert sparse.softmax(y, 1)._nnz() == 0
    assert y.to_sparse_csr().crow_indices().tolist() == [0, 0, 0]
    assert wg.zeros(0, 3).to_sparse().to_dense().shape == (0, 3)
    assert wg.tensor(5.0).to_sparse().to_dense().item() == 5


def test_new_makes_a_tensor_of_places_and_values_or_an_empty_one():
    x = given()
    made = x.new(x._indices(), x._values() * 2, x.size())
    check(made, x.to_dense() * 2)
    assert made.is_sparse
    assert x.new(wg.tensor([[1]]), wg.tensor([2.0])).shape == (2,)
    assert x.new(3, 2).shape == (3, 2) and x.new(3, 2).dtype == wg.float64
    assert x.new().shape == (0,)


def test_functions_that_make_tensors_take_a_sparse_layout():
    dense = wg.ones(2, 3)
    for made in (
        wg.zeros(2, 3, layout=wg.sparse_coo),
        wg.empty(2, 3, layout=wg.sparse_coo),
        wg.zeros_like(dense, layout=wg.sparse_coo),
        wg.empty_like(dense, layout=wg.sparse_csr),
        dense.new_zeros(2, 3, layout=wg.sparse_csr),
    ):
        assert made.layout is not wg.strided and made._nnz() == 0
        assert wg.equal(dense + made, dense)
    assert wg.zeros(2, layout=wg.strided).layout is wg.strided
    assert wg.zeros(2, 2, layout=wg.sparse_coo, requires_grad=True).is_leaf


def test_one_element_is_coalesced_and_indices_count_from_the_end():
    one = wg.sparse_coo_tensor([[1], [0]], [3.0], (2, 2))
    assert one.is_coalesced() and one.values().tolist() == [3.0]
    assert one.index_select(0, wg.tensor([-1, 0])).to_dense().tolist() == [[3.0, 0.0], [0.0, 0.0]]
    with pytest.raises(IndexError, match="out of range"):
        one.index_select(0, wg.tensor([-3]))
    assert one.permute(dims=(1, 0)).to_dense().tolist() == [[0.0, 3.0], [0.0, 0.0]]
    two = wg.tensor(2.0).to_sparse()
    assert (one * two).values().tolist() == (two * one).values().tolist() == [6.0]


def test_the_gradient_has_each_element_once():
    for uses in (lambda x: x.sum(), lambda x: (x * x).sum(), lambda x: (x @ D).sum()):
        several, once = given(), given().coalesce()
        for x in (several.requires_grad_(), once.requires_grad_()):
            uses(x).backward()
        assert several._nnz() > once._nnz()
        check(several.grad, once.grad.to_dense())
        several.grad = several.grad
        check(several.grad, once.grad.to_dense())


def test_what_is_times_zero_does_not_count():
    x, wanted = given(), given().to_dense() @ D
    check(wg.addmm(wg.full((2, 4), wg.nan, dtype=wg.float64), x, D, beta=0), wanted)
    check(wg.mul(SAME, x), SAME * x.to_dense())
    assert [row.tolist() for row in x.to_sparse_csr()] == x.to_dense().tolist()


def test_the_dtype_of_a_number_stays():
    for dtype in (wg.int32, wg.uint8, wg.bool):
        number = wg.tensor(1, dtype=dtype)
        assert number.to_sparse().to_dense().dtype is dtype
        assert wg.sparse_coo_tensor((), dtype=dtype).to_dense().dtype is dtype


def test_writing_in_place_keeps_the_dtype_and_the_shape():
    whole = wg.sparse_coo_tensor([[0, 1]], wg.tensor([1, 2]), (2,))
    for write in (lambda: whole.mul_(2.5), whole.coalesce().sin_):
        with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
            write()
    with pytest.raises(RuntimeError, match="same size"):
        wg.tensor(2.0).to_sparse().mul_(whole)
    assert whole.to_dense().tolist() == [1, 2]
    x = wg.sparse_coo_tensor([[0, 1]], wg.tensor([4.0, 9.0]), (3,)).coalesce()
    assert x.sqrt_() is x and x.to_dense().tolist() == [2.0, 3.0, 0.0]


def test_sparse_tensors_are_not_compared():
    x = wg.eye(2).to_sparse()
    for compare in (lambda: x == x, lambda: x == 1, lambda: x != wg.eye(2)):
        with pytest.raises(NotImplementedError, match="to_dense"):
            compare()
    assert x is not None and x != None and x in [x]  # noqa: E711


def test_copies_and_pickles_are_the_same():
    for x in (given(), given(True), given(csr=True)):
        for made in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
            assert repr(made) == repr(x)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: wg.sparse_coo_tensor(INDEX, VALUES, (2, 2)), RuntimeError, "for dim 1, size is 2"),
        (lambda: wg.sparse_coo_tensor([[-1]], [1.0], (2,)), RuntimeError, "negative index -1 for"),
        (lambda: wg.sparse_coo_tensor([[0]], [1.0, 2.0], (2,)), RuntimeError, "must have same nnz"),
        (lambda: wg.sparse_coo_tensor([0], [1.0], (2,)), RuntimeError, "must be sparse_dim x nnz"),
        (lambda: wg.sparse_coo_tensor([[0.5j]], [1.0], (2,)), TypeError, "must be integers"),
        (lambda: wg.sparse_coo_tensor([[0]], [1.0], (2, 3)), RuntimeError, "number of dimensions"),
        (lambda: wg.sparse_coo_tensor([[0]], [[1.0]], (2, 3)), RuntimeError, "incorrect size"),
        (
            lambda: wg.sparse_coo_tensor([[1, 0]], [1.0, 2.0], is_coalesced=True),
            RuntimeError,
            "cannot set is_coalesced to true",
        ),
        (lambda: wg.sparse_csr_tensor([0, 2, 1], [0], [1.0]), RuntimeError, "crow_indices must"),
        (lambda: wg.sparse_csr_tensor([0, 1], [2], [1.0], (1, 2)), RuntimeError, "between 0 and 1"),
        (lambda: wg.sparse_csr_tensor([0, 2], [1, 0], [1.0, 2.0]), RuntimeError, "in order within"),
        (lambda: wg.sparse_csr_tensor([0, 1], [0], [1.0], (2, 2)), RuntimeError, "nrows . 1 = 3"),
        (lambda: given().indices(), RuntimeError, "Cannot get indices on an uncoalesced tensor"),
        (lambda: given().values(), RuntimeError, "Cannot get values on an uncoalesced tensor"),
        (lambda: given() + 1, RuntimeError, r"add\(sparse, dense\) is not supported"),
        (lambda: given() + SAME, RuntimeError, r"add\(sparse, dense\) is not supported"),
        (lambda: given() + given().t(), RuntimeError, "to have same size"),
        (lambda: ROW + given(), RuntimeError, "to have same size"),
        (lambda: given() @ SAME, RuntimeError, r"cannot be multiplied \(2x3 and 2x3\)"),
        (lambda: SAME @ given(), RuntimeError, r"cannot be multiplied \(2x3 and 2x3\)"),
        (lambda: given().exp(), NotImplementedError, "'exp', or it is not supported of sparse"),
        (lambda: given()[0:1], NotImplementedError, "indexed by integers"),
        (lambda: given()[2], IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        (lambda: given().numpy(), TypeError, "can't convert Sparse layout tensor to numpy"),
        (lambda: np.asarray(given()), TypeError, "can't convert Sparse layout tensor to numpy"),
        (lambda: np.ones((2, 3)) * given(), TypeError, "unsupported operand"),
        (lambda: given().data, AttributeError, "'data', or it is not supported"),
        (lambda: bool(given()), RuntimeError, "Boolean value of Tensor with more than one value"),
        (lambda: wg.exp(given()), AttributeError, "no 'exp', or it is not supported of sparse"),
        (lambda: sparse.mm(given(), D, reduce="amax"), NotImplementedError, "reduce='amax'"),
        (lambda: D.to_sparse(layout=wg.sparse_bsr), RuntimeError, "SparseBsr without blocksize"),
        (lambda: D.to_sparse(blocksize=(1, 1)), RuntimeError, "Sparse with blocksize argument"),
        (lambda: D.to_sparse_bsr(2), RuntimeError, r"\(3,4\) must be divisible by given blocksize"),
        (lambda: D.to_sparse_bsr((0, 1)), RuntimeError, r"blocksize needs to be positive, but got"),
        (lambda: D.to_sparse_bsc("ab"), TypeError, "argument 'blocksize' .* must be tuple of ints"),
        (lambda: D.to_sparse_csc().crow_indices(), RuntimeError, "layout but got SparseCsc"),
        (lambda: D.to_sparse_csr().row_indices(), RuntimeError, "expected sparse column compre"),
        (lambda: wg.ones(2, 2, 2).to_sparse_csr(), RuntimeError, "a matrix is stored by rows"),
        (
            lambda: wg.sparse_compressed_tensor([0, 1], [0], [1.0], layout=wg.sparse_coo),
            RuntimeError,
            "compressed tensor layout but got Sparse",
        ),
        (lambda: wg.sparse_bsr_tensor([0, 1], [0], [1.0]), RuntimeError, "must have 3 dimensions"),
        (lambda: wg.sparse_csc_tensor([0, 1], [2], [1.0], (2, 1)), RuntimeError, "between 0 and 1"),
    ],
)
def test_what_is_out_of_reach_is_refused_with_its_reason(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_function_takes_sparse_tensors_under_each_of_its_names():
    x = wg.tensor([[2.0, 0.0], [0.0, -3.0]])
    s = x.to_sparse()
    for name in ("absolute", "negative", "arctan", "fix"):
        assert dense(getattr(wg, name)(s)).tolist() == getattr(wg, name)(x).tolist(), name
    assert dense(wg.multiply(s, s)).tolist() == (x * x).tolist()


def test_the_functions_of_products_take_sparse_tensors():
    for x in (given(), given(csr=True)):
        wanted = x.to_dense() @ D
        for made in (wg.mm(x, D), wg.matmul(x, D), wg.spmm(x, D), x.mm(D)):
            check(made, wanted)
        check(wg.mv(x, D[:, 0]), wanted[:, 0])
        check(wg.matmul(D.t(), x.to_sparse_coo().t()), wanted.t())
        check(wg.mm(D.t(), x.to_sparse_coo().t()), wanted.t())


def test_transforms_go_through_values_and_dense_operands():
    def f(values):
        x = wg.sparse_coo_tensor(INDEX, values, (2, 3))
        return (sparse.softmax(x, 1) @ D).square().sum() + (x @ D).square().sum()

    values = wg.tensor(VALUES, dtype=wg.float64)
    leaf = values.clone().requires_grad_()
    f(leaf).backward()
    assert wg.allclose(wg.func.grad(f)(values), leaf.grad)
    tangent = wg.arange(5.0, dtype=wg.float64)
    _, slope = wg.func.jvp(f, (values,), (tangent,))
    assert wg.allclose(slope, (leaf.grad * tangent).sum())
    several = wg.stack([values, 2 * values])
    assert wg.allclose(wg.vmap(f)(several), wg.stack([f(one) for one in several]))
    x = given()
    dense = wg.stack([D, D + 1])
    assert wg.allclose(wg.vmap(lambda d: x @ d)(dense), wg.stack([x @ one for one in dense]))
    with pytest.raises(RuntimeError, match="vmap"):
        wg.vmap(lambda d: d.to_sparse().to_dense())(dense)


def test_compiled_functions_compute_the_same():
    f = wg.compile(lambda values: sparse.mm(wg.sparse_coo_tensor(INDEX, values, (2, 3)), D))
    values = wg.tensor(VALUES, dtype=wg.float64)
    for k in (1, 2, 3):
        wanted = given(values=[k * v for v in VALUES]) @ D
        assert wg.allclose(f(k * values), wanted)
    g = wg.compile(lambda x: x.to_sparse().to_dense() * 2)
    with pytest.warns(UserWarning, match="it reads where the elements of a sparse tensor are"):
        g(wg.eye(3))
    assert wg.equal(g(wg.ones(3, 3)), wg.full((3, 3), 2.0))


def test_results_are_written_to_out():
    x = given()
    out = wg.zeros_like(x @ D)
    assert wg.matmul(x, D, out=out) is out
    assert wg.equal(out, x @ D)
    assert wg.equal(wg.addmm(wg.ones_like(out), x, D, out=x @ D), out + 1)
    kept = x.clone()
    assert wg.add(x, x, out=kept) is kept
    assert wg.equal(kept.to_dense(), 2 * x.to_dense())


@pytest.mark.parametrize("dtype", [wg.int32, wg.int64])
def test_row_offsets_and_row_indices_are_made_of_each_other(dtype):
    x, narrow = given().coalesce(), dtype == wg.int32
    rows, columns = x.indices()
    starts = wg._convert_indices_from_coo_to_csr(rows, x.shape[0], out_int32=narrow)
    assert starts.dtype == dtype
    assert starts.tolist() == x.to_sparse_csr().crow_indices().tolist()
    back = wg._convert_indices_from_csr_to_coo(starts, columns, out_int32=narrow)
    assert back.dtype == dtype
    assert back.tolist() == x.indices().tolist()
    turned = wg._convert_indices_from_csr_to_coo(starts, columns, transpose=True)
    assert turned.tolist() == x.indices().flip(0).tolist()


def test_batches_of_sparse_matrices_multiply_dense_ones():
    blocks = wg.tensor([[[1.0, 0.0], [0.0, 2.0]], [[0.0, 0.0], [3.0, 0.0]]], dtype=wg.float64)
    y = wg.arange(8.0, dtype=wg.float64).reshape(2, 2, 2).requires_grad_()
    x = blocks.to_sparse().coalesce()
    for made in (wg.bmm(x, y), x.bmm(y)):
        assert made.tolist() == (blocks @ y).tolist()
    values = x.values().requires_grad_()
    assert wg.autograd.gradcheck(
        lambda values, y: wg.bmm(wg.sparse_coo_tensor(x.indices(), values, (2, 2, 2)), y),
        (values, y),
    )
    for other in (y[0], y[:1], y[:, :1]):
        with pytest.raises(RuntimeError, match="batches of sparse and of dense matrices"):
            wg.bmm(x, other)


def test_diagonals_of_a_sparse_matrix():
    rows = wg.arange(1.0, 9, dtype=wg.float64).reshape(2, 4).requires_grad_()
    scipy_sparse = pytest.importorskip("scipy.sparse")
    for shape in ((3, 4), (4, 4), (5, 2)):
        made = sparse.spdiags(rows, wg.tensor([-1, 2]), shape)
        wanted = scipy_sparse.spdiags(rows.detach().numpy(), [-1, 2], *shape).toarray()
        assert made.to_dense().tolist() == wanted.tolist()
        csr = sparse.spdiags(rows[0], wg.tensor(0), shape, wg.sparse_csr)
        assert csr.layout is wg.sparse_csr
        assert csr.to_dense()[1].tolist()[:2] == [0, 2]
    sparse.spdiags(rows, wg.tensor([-1, 2]), (3, 3)).sum().backward()
    assert rows.grad.tolist() == [[1, 1, 0, 0], [0, 0, 1, 0]]
    with pytest.raises(RuntimeError, match="duplicate"):
        sparse.spdiags(rows, wg.tensor([1, 1]), (3, 3))
    with pytest.raises(RuntimeError, match="Number of diagonals"):
        sparse.spdiags(rows, wg.tensor([1]), (3, 3))


def test_quotients_slices_and_copies():
    x = given()
    held = x.to_dense()
    assert dense(x.div(2, rounding_mode="floor")).tolist() == (held // 2).tolist()
    assert dense(wg.div(x, 2, rounding_mode="trunc")).tolist() == (held / 2).trunc().tolist()
    assert dense(x.narrow_copy(1, 1, 2)).tolist() == held[:, 1:].tolist()
    assert dense(x.clone().copy_(x * 2)).tolist() == (held * 2).tolist()
    assert dense(x.H).tolist() == held.T.tolist()
    assert not dense(wg.isposinf(x)).any()
    with pytest.raises(RuntimeError, match="between dense and sparse"):
        x.clone().copy_(held)


def test_a_layout_is_taken_or_refused():
    x = given()
    assert x.to_sparse(layout=wg.sparse_csr).layout is wg.sparse_csr
    assert given(csr=True).to_sparse().layout is wg.sparse_coo
    for make in (x.to_sparse, given(csr=True).to_sparse, x.to_dense().to_sparse):
        assert make(layout=wg.sparse_csc).layout is wg.sparse_csc
        with pytest.raises(NotImplementedError, match="jagged is not supported"):
            make(layout=wg.jagged)
    with pytest.raises(NotImplementedError, match="jagged is not supported"):
        sparse.spdiags(wg.ones(1, 2), wg.tensor([0]), (2, 2), wg.jagged)


@KINDS
def test_layouts_are_converted_into_each_other(x):
    held = x.to_dense()
    for layout in (wg.sparse_coo, wg.sparse_csr, wg.sparse_csc, wg.sparse_bsr, wg.sparse_bsc):
        size = (2, 3) if layout in (wg.sparse_bsr, wg.sparse_bsc) else None
        made = x.to_sparse(layout=layout, blocksize=size)
        assert made.layout is layout
        check(made, held)
        check(made.t(), held.t())
        values = made._values_.detach().requires_grad_()
        assert wg.autograd.gradcheck(
            lambda v, made=made: made._with(v).t().to_sparse_csc().to_sparse_bsr((3, 1)).to_dense(),
            (values,),
        )


def test_sums_of_small_integers_do_not_wrap():
    x = wg.tensor([[200, 100], [0, 3]], dtype=wg.uint8).to_sparse()
    assert dense(x.sum(1)).tolist() == dense(wg.sum(x, 1)).tolist() == [300, 3]
    assert dense(x // 2).tolist() == [[100, 50], [0, 1]]
