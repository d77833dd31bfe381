"""Test that sparse tensors print as PyTorch's, and have the same elements and gradients."""

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:Sparse", "ignore:.*beta state"),
]


def coo(lib, dtype="float32"):
    values = lib.tensor([3.0, 4.0, 5.0, 1.0], dtype=getattr(lib, dtype))
    return lib.sparse_coo_tensor(lib.tensor([[0, 1, 1, 0], [2, 0, 2, 2]]), values, (2, 3))


def csr(lib):
    return lib.sparse_csr_tensor(
        lib.tensor([0, 1, 2]), lib.tensor([0, 1]), lib.tensor([1.0, 2.0]), (2, 2)
    )


@pytest.mark.parametrize(
    "f",
    [
        coo,
        csr,
        lambda lib: coo(lib).coalesce(),
        lambda lib: coo(lib).to_sparse_csr(),
        lambda lib: coo(lib, "float64"),
        lambda lib: coo(lib, "int64"),
        lambda lib: coo(lib, "complex64"),
        lambda lib: lib.sparse_coo_tensor((2, 3)),
        lambda lib: lib.sparse_coo_tensor(lib.tensor([[0, 2]]), lib.ones(2, 3), (4, 3)),
        lambda lib: lib.sparse_coo_tensor(lib.arange(2000)[None], lib.ones(2000), (3000,)),
        lambda lib: lib.eye(3).to_sparse(),
        lambda lib: lib.eye(3).to_sparse_csr(),
        lambda lib: lib.ones(2, 2, 2).to_sparse(1),
        lambda lib: coo(lib).coalesce().requires_grad_(),
        lambda lib: coo(lib) * 2,
        lambda lib: coo(lib).t(),
        lambda lib: coo(lib)[0],
        lambda lib: coo(lib)[0, 2],
        lambda lib: lib.sparse.sum(coo(lib), 0),
        lambda lib: lib.sparse.sum(coo(lib), 1),
        lambda lib: lib.sparse.sum(coo(lib)),
        lambda lib: lib.sparse.softmax(coo(lib), 1),
        lambda lib: lib.sparse.softmax(coo(lib), 0),
        lambda lib: lib.sparse.log_softmax(coo(lib), 1),
        lambda lib: lib.sparse.mm(coo(lib), lib.ones(3, 2)),
        lambda lib: lib.sparse.mm(coo(lib), coo(lib).t()),
        lambda lib: coo(lib) @ lib.ones(3),
        lambda lib: lib.ones(2, 2) @ coo(lib),
        lambda lib: lib.ones(2, 3) + coo(lib),
        lambda lib: coo(lib) * lib.full((2, 3), 2.0),
        lambda lib: lib.sparse.addmm(lib.ones(2, 2), coo(lib), lib.ones(3, 2), beta=2.0, alpha=3.0),
        lambda lib: lib.ones(2, 3).sparse_mask(coo(lib).coalesce()),
        lambda lib: coo(lib).unsqueeze(0),
        lambda lib: coo(lib).sin(),
        lambda lib: csr(lib) * 2,
        lambda lib: csr(lib) @ lib.ones(2, 2),
        lambda lib: csr(lib).to_sparse(),
        lambda lib: csr(lib).t(),
        lambda lib: coo(lib).to_sparse_csc(),
        lambda lib: coo(lib).to_sparse_csc() @ lib.ones(3, 2),
        lambda lib: coo(lib).to_dense().to_sparse_bsr((2, 1)),
        lambda lib: coo(lib).to_dense().to_sparse_bsr((2, 3)).t() * 2,
        lambda lib: coo(lib).to_dense().to_sparse(layout=lib.sparse_bsc, blocksize=(1, 3)),
        lambda lib: coo(lib).to_dense().to_sparse_bsc((2, 1)).to_sparse(),
        lambda lib: lib.sparse_bsr_tensor([0, 1, 2], [0, 1], [[[1.0, 2.0]], [[3, 4]]]),
        lambda lib: lib.sparse_compressed_tensor(
            [0, 1, 2], [1, 0], [1.0, 2.0], (3, 2), layout=lib.sparse_csc, requires_grad=True
        ),
    ],
)
def test_they_print_the_same(f):
    assert repr(f(wg)) == repr(f(torch))


@pytest.mark.parametrize("layout", ["coo", "csr"])
@pytest.mark.parametrize(
    "f",
    [
        lambda lib, s, d: lib.sparse.mm(s, d).square().sum(),
        lambda lib, s, d: (s @ d[:, 0]).square().sum(),
        lambda lib, s, d: lib.sparse.sum(lib.sparse.softmax(s, 1) * 2, 0).to_dense() @ d[:, 1],
        lambda lib, s, d: ((s * s) + s).sum() if s.is_sparse else (s @ d).sum(),
    ],
)
def test_gradients_are_the_same(f, layout):
    found = []
    for lib in (torch, wg):
        values = lib.tensor([3.0, 4.0, 5.0], dtype=lib.float64, requires_grad=True)
        d = (lib.arange(6, dtype=lib.float64).reshape(3, 2) - 2).requires_grad_()
        if layout == "csr":
            s = lib.sparse_csr_tensor(lib.tensor([0, 1, 3]), lib.tensor([2, 0, 2]), values, (2, 3))
        else:
            s = lib.sparse_coo_tensor(lib.tensor([[0, 1, 1], [2, 0, 2]]), values, (2, 3))
        try:
            f(lib, s, d).backward()
        except (RuntimeError, NotImplementedError):
            if lib is torch:
                pytest.skip("PyTorch does not do this")
            raise
        found.append([values.grad.numpy(), None if d.grad is None else d.grad.numpy()])
    for ours, theirs in zip(*found, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


LAYOUTS = ["to_sparse", "to_sparse_csr", "to_sparse_csc"]
DENSE = [[0.0, 0.5, 0.0], [0.0, 0.0, 0.25], [0.125, 0.0, 0.0]]


def of_both(f, *args):
    """Return what `f` gives for PyTorch and here, sparse tensors as dense arrays."""
    found = [f(lib, *args) for lib in (torch, wg)]
    return [np.asarray(x.to_dense().detach()) for x in found]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("way", ["grad", "backward", "both sparse", "dense output"])
def test_sparse_tensors_are_outputs_inputs_and_cotangents_of_derivatives(layout, way):
    def f(lib):
        x = lib.tensor(DENSE, dtype=lib.float64, requires_grad=True)
        given = getattr(lib.tensor(DENSE, dtype=lib.float64) * 3, layout)()
        if way == "both sparse":
            leaf = getattr(x.detach(), layout)().requires_grad_()
            total = (leaf.to_dense() * lib.arange(9.0).reshape(3, 3)).sum()
            (made,) = lib.autograd.grad(total, leaf)
            assert made.layout == leaf.layout
            return made.to_dense() * (x.detach() != 0)
        if way == "grad":
            return lib.autograd.grad(getattr(x, layout)(), x, given)[0]
        output = x * 2 if way == "dense output" else getattr(x, layout)() * 2
        output.backward(given.to_sparse() if way == "dense output" else given)
        return x.grad

    np.testing.assert_array_equal(*of_both(f))


def test_elements_that_are_stored_twice_get_the_gradient_of_their_sum():
    def f(lib):
        values = lib.tensor([1.0, 2.0, 3.0], requires_grad=True)
        x = lib.sparse_coo_tensor(lib.tensor([[0, 0, 1]]), values, (2,))
        (x * 2).backward(lib.tensor([10.0, 20.0]).to_sparse())
        return values.grad

    np.testing.assert_array_equal(*of_both(f))


@pytest.mark.parametrize("layout", LAYOUTS[:2])
@pytest.mark.parametrize("name", ["sin_", "abs_", "neg_", "sqrt_", "mul_", "zero_", "t_"])
def test_methods_in_place_are_called_through_the_class(layout, name):
    def f(lib):
        x = getattr(lib.tensor(DENSE), layout)()
        assert getattr(lib.Tensor, name)(x, *([2.0] if name == "mul_" else [])) is x
        return x

    np.testing.assert_array_equal(
        *of_both(lambda lib: lib.Tensor.to_dense(getattr(lib.tensor(DENSE), layout)()))
    )
    if (layout, name) == ("to_sparse_csr", "t_"):
        # PyTorch does not do this
        assert f(wg).to_dense().tolist() == np.transpose(DENSE).tolist()
    else:
        np.testing.assert_array_equal(*of_both(f))


@pytest.mark.parametrize("dim", range(-3, 3))
def test_a_dimension_is_added_among_sparse_or_dense_ones(dim):
    def f(lib):
        return lib.sparse_coo_tensor([[0, 1]], lib.ones(2, 3), (2, 3)).unsqueeze(dim)

    assert f(wg).shape == tuple(f(torch).shape)
    assert f(wg).sparse_dim() == f(torch).sparse_dim()
    np.testing.assert_array_equal(*of_both(f))


def test_one_value_may_be_a_number_and_ranges_are_checked():
    def f(lib):
        return lib.sparse_coo_tensor([[0], [2]], 4.0, (1, 3))

    np.testing.assert_array_equal(*of_both(f))
    for lib in (torch, wg):
        with pytest.raises(RuntimeError, match="Invalid range to narrow"):
            f(lib).narrow_copy(1, 2, 2)
