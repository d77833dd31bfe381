"""Test masked reductions against PyTorch's."""

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

DIMS = ["sum", "mean", "prod", "amax", "amin", "logsumexp", "var", "std"]
ALONG = ["softmax", "log_softmax", "softmin", "cumsum", "cumprod", "argmax", "argmin", "median"]


def given(lib, dtype="float64"):
    x = lib.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0], [7.0, 8.0, 9.0]])
    mask = lib.tensor([[True, False, True], [False, True, False], [False, False, False]])
    return x.to(getattr(lib, dtype)), mask


def same(f, dtype="float64"):
    theirs = f(torch.masked, *given(torch, dtype))
    ours = f(wg.masked, *given(wg, dtype))
    assert (tuple(ours.shape), str(ours.dtype)) == (tuple(theirs.shape), str(theirs.dtype))
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize("name", DIMS)
@pytest.mark.parametrize("dim", [None, 0, 1, -1, (0, 1), ()])
@pytest.mark.parametrize("keepdim", [False, True])
def test_reductions(name, dim, keepdim, dtype):
    if dtype == "int32" and name in ("mean", "logsumexp"):
        pytest.skip("refused, or a whole number in PyTorch")
    same(lambda m, x, mask: getattr(m, name)(x, dim, keepdim=keepdim, mask=mask), dtype)


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_along_a_dimension(name, dim):
    same(lambda m, x, mask: getattr(m, name)(x, dim, mask=mask))
    same(lambda m, x, mask: getattr(m, name)(x, dim, mask=mask[0]))


# of a finite negative order PyTorch counts what is hidden as 0, and so is the norm
@pytest.mark.parametrize("order", [2.0, 1.0, 0.0, 3.0, float("inf"), float("-inf")])
def test_norms(order):
    same(lambda m, x, mask: m.norm(x, order, 1, mask=mask))
    same(lambda m, x, mask: m.normalize(x, order, 1, mask=mask.new_tensor([True] * 3)))


def test_sums_of_exponentials_of_two_tensors():
    same(lambda m, x, mask: m.logaddexp(x, x + 1, input_mask=mask, other_mask=~mask))


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr"])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_reductions_of_sparse_tensors_keep_the_layout(name, layout):
    def f(m, x, mask):
        sparse = getattr(x, layout)()
        found = getattr(m, name)(sparse, 1, keepdim=True, mask=mask)
        assert found.layout is sparse.layout
        some = m._output_mask(getattr(m, name), x, 1, keepdim=True, mask=mask)
        return found.to_dense() * some

    same(f)


@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_masks():
    same(lambda m, x, mask: m.amax(x, 1, mask=mask.to_sparse()))
