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
