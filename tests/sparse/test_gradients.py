"""Test sparse gradients of embeddings and `gather`: engine, hooks and optimisers."""

import numpy as np
import pytest

import wengert as wg
from wengert import nn
from wengert.func import grad, vmap

TABLE = (wg.arange(12.0) / 7).reshape(4, 3)
ROWS = wg.tensor([[1, 3], [1, 0]])
WEIGHTS = wg.arange(12.0).reshape(2, 2, 3)


def table(kind=nn.Embedding, sparse=True, **options):
    return kind.from_pretrained(TABLE.clone(), freeze=False, sparse=sparse, **options)


def places(g):
    assert g.is_sparse
    return g._indices().tolist()


def twice(use, **options):
    """The gradients of a sparse table and of a dense one."""
    found = []
    for sparse in (True, False):
        made = table(sparse=sparse, **options)
        use(made).backward()
        found.append(made.weight.grad)
    return found


@pytest.mark.parametrize(
    "use",
    [
        lambda e: (e(ROWS) * WEIGHTS).sum(),
        lambda e: (e(ROWS) * WEIGHTS).sum() + e(wg.tensor([0, 0])).sum(),
        lambda e: e(wg.tensor([], dtype=wg.int64)).sum(),
    ],
    ids=["once", "twice", "empty"],
)
@pytest.mark.parametrize("padding_idx", [None, 1, -1])
def test_what_is_stored_is_the_dense_gradient(use, padding_idx):
    sparse, dense = twice(use, padding_idx=padding_idx)
    assert isinstance(sparse, wg.Tensor) and wg.is_tensor(sparse)
    assert wg.equal(sparse.to_dense(), dense)
    assert wg.equal(sparse.coalesce().to_dense(), dense)
    assert sparse.is_coalesced() == (sparse._nnz() < 2)
    assert (sparse.sparse_dim(), sparse.dense_dim()) == (1, 1)


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_bags(mode):
    found = []
    for sparse in (True, False):
        bag = table(nn.EmbeddingBag, sparse, mode=mode)
        made = bag(wg.tensor([0, 2, 1, 1, 3]), wg.tensor([0, 2]))
        (made * wg.arange(6.0).reshape(2, 3)).sum().backward()
        found.append(bag.weight.grad)
    assert places(found[0]) == [[0, 2, 1, 1, 3]]
    assert wg.allclose(found[0].to_dense(), found[1])
    with pytest.raises(ValueError, match="max mode does not support sparse"):
        table(nn.EmbeddingBag, mode="max")(ROWS)


def test_gather():
    x = wg.arange(6.0).reshape(2, 3).requires_grad_()
    y = x.gather(1, wg.tensor([[0, 0], [2, 1]]), sparse_grad=True)
    assert y.grad_fn.name() == "GatherBackward0"
    (y * y).sum().backward()
    assert places(x.grad) == [[0, 0, 1, 1], [0, 0, 2, 1]]
    assert x.grad._values().tolist() == [0, 0, 10, 8]


def test_sparse_and_dense_gradients_are_added_in_any_order():
    e, rows = table(), wg.tensor([2])
    e(rows).sum().backward()
    first = e.weight.grad
    e(rows).sum().backward()
    assert e.weight.grad is first and first.coalesce()._nnz() == 1
    e.weight.sum().backward()
    assert e.weight.grad.tolist() == [[1] * 3, [1] * 3, [3] * 3, [1] * 3]
    dense = e.weight.grad
    e(rows).sum().backward()
    assert e.weight.grad is dense and dense[2].tolist() == [4] * 3
    for use in (lambda e: e(ROWS).sum() + (e.weight * 2).sum(), lambda e: e(ROWS).sum() * 1):
        sparse, dense = twice(use)
        assert wg.equal(sparse.to_dense(), dense)


def test_a_gradient_owns_its_values():
    e = table()
    given = wg.ones(2, 2, 3)
    e(ROWS).backward(given)
    (g,) = wg.autograd.grad(e(ROWS), e.weight, given)
    given.zero_()
    assert e.weight.grad._values().sum() == 12 == g._values().sum()


def test_hooks_see_sparse_gradients_and_a_failing_one_puts_all_back():
    e, seen = table(), []
    e(ROWS).sum().backward()
    before = e.weight.grad.to_dense()
    handle = e.weight.register_hook(lambda g: seen.append(g.is_sparse) or g * 2)
    e(ROWS).sum().backward()
    assert seen == [True] and wg.equal(e.weight.grad.to_dense(), 3 * before)
    handle.remove()

    def fail(_):
        raise ZeroDivisionError

    e.weight.register_post_accumulate_grad_hook(fail)
    with pytest.raises(ZeroDivisionError):
        e(ROWS).sum().backward()
    assert wg.equal(e.weight.grad.to_dense(), 3 * before)


def test_recorded_gradients_are_sparse_and_differentiable():
    e, dense = table(), table(sparse=False)
    (g,) = wg.autograd.grad((e(ROWS) ** 3).sum(), e.weight, create_graph=True)
    assert g.is_sparse and g.requires_grad
    (wanted,) = wg.autograd.grad((dense(ROWS) ** 3).sum(), dense.weight, create_graph=True)
    (second,) = wg.autograd.grad((g.to_dense() ** 2).sum(), e.weight)
    (other,) = wg.autograd.grad((wanted**2).sum(), dense.weight)
    assert wg.allclose(second.to_dense(), other)


def test_what_is_no_leaf_and_what_is_mapped_gets_dense_gradients():
    w = TABLE.clone().requires_grad_()
    nn.functional.embedding(ROWS, w * 2, sparse=True).sum().backward()
    assert not w.grad.is_sparse and w.grad.sum() == 24

    def loss(w, rows):
        return (nn.functional.embedding(rows, w, sparse=True) ** 2).sum()

    plain = grad(lambda w: (w[ROWS] ** 2).sum())(w.detach())
    assert wg.allclose(grad(loss)(w.detach(), ROWS).to_dense(), plain)
    each = vmap(grad(loss), (None, 0))(w.detach(), ROWS)
    assert wg.allclose(each.sum(0), plain)


def test_compiled_functions_leave_sparse_gradients_alone():
    e = table()
    optimizer = wg.optim.SGD(e.parameters(), lr=0.1)

    @wg.compile
    def step(rows):
        optimizer.zero_grad()
        loss = (e(rows) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss

    with pytest.warns(UserWarning, match="it makes a sparse gradient"):
        found = [float(step(ROWS)) for _ in range(3)]
    assert e.weight.grad.is_sparse
    other = table(sparse=False)
    optimizer = wg.optim.SGD(other.parameters(), lr=0.1)
    for value in found:
        optimizer.zero_grad()
        loss = (other(ROWS) ** 2).sum()
        assert abs(float(loss) - value) < 1e-4
        loss.backward()
        optimizer.step()


# -- optimisers ------------------------------------------------------------------------------------

# made with PyTorch 2.13
TRAINED = {
    "SGD": (
        {"lr": 0.1, "momentum": 0.9, "nesterov": True},
        [0.0, 0.02585, 0.05171, 3.38452, 3.33164, 3.27877],
    ),
    "Adagrad": (
        {"lr": 0.1, "lr_decay": 0.1, "maximize": True},
        [0.0, 0.24286, 0.38571, 0.31339, 0.47411, 0.6456],
    ),
    "SparseAdam": (
        {"lr": 0.1, "betas": (0.5, 0.6), "maximize": True},
        [0.0, 0.24286, 0.38571, 0.29426, 0.47168, 0.6631],
    ),
}


@pytest.mark.parametrize("name", TRAINED)
def test_optimisers_move_what_is_stored(name):
    options, wanted = TRAINED[name]
    e = table()
    optimizer = getattr(wg.optim, name)(e.parameters(), **options)
    for k in range(4):
        optimizer.zero_grad()
        ((e(wg.tensor([k % 4, 1, 1])) - k) ** 2).sum().backward()
        optimizer.step()
    np.testing.assert_allclose(e.weight.detach().numpy().ravel()[:6], wanted, atol=6e-6)
    optimizer.zero_grad(set_to_none=False)
    assert e.weight.grad.is_sparse and e.weight.grad._nnz() == 0


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        ("SGD", {"weight_decay": 0.1}, "Use add.dense, sparse. instead"),
        ("Adagrad", {"weight_decay": 0.1}, "not compatible with sparse gradients"),
        ("AdamW", {}, "Adam does not support sparse gradients, please consider SparseAdam"),
        ("RMSprop", {}, "RMSprop does not support sparse gradients"),
        ("Muon", {}, "Muon does not support sparse gradients"),
    ],
)
def test_optimisers_refuse_what_pytorch_refuses(name, options, match):
    e = table()
    optimizer = getattr(wg.optim, name)(e.parameters(), lr=0.1, **options)
    e(ROWS).sum().backward()
    with pytest.raises(RuntimeError, match=match):
        optimizer.step()
    assert wg.equal(e.weight, TABLE)


def test_sparse_adam_refuses_dense_gradients():
    e = table(sparse=False)
    e(ROWS).sum().backward()
    with pytest.raises(RuntimeError, match="does not support dense gradients"):
        wg.optim.SparseAdam(e.parameters()).step()


def test_sparse_tensors_are_added_to_dense_ones_in_place():
    e = table()
    (g,) = wg.autograd.grad(e(ROWS).sum(), e.weight)
    whole = g.to_dense()
    d = wg.zeros(4, 3)
    held = d
    d.add_(g, alpha=2)
    d += g
    assert d is held and wg.equal(d, 3 * whole)
    d -= g
    assert d is held and wg.equal(wg.add(d, g), 3 * whole) and wg.equal(wg.sub(d, g), whole)
    with pytest.raises(RuntimeError, match="leaf"):
        e.weight.add_(g)


def test_reads_of_numbers_and_by_numbers_have_sparse_gradients():
    x = wg.tensor(2.0, requires_grad=True)
    x.gather(0, wg.tensor([0, 0]), sparse_grad=True).sum().backward()
    assert x.grad.is_sparse and x.grad.shape == () and x.grad.to_dense() == 2
    x = wg.arange(3.0, requires_grad=True)
    x.gather(0, wg.tensor(1), sparse_grad=True).backward()
    assert x.grad.to_dense().tolist() == [0.0, 1.0, 0.0]


def test_indices_may_be_given_as_whole_numbers_of_another_kind():
    assert wg.sparse_coo_tensor(wg.ones(1, 1), wg.ones(1)).to_dense().tolist() == [0.0, 1.0]


def test_a_sparse_gradient_does_not_follow_writes_to_the_indices():
    weight = wg.ones(9, 2, requires_grad=True)
    rows = wg.tensor([7, 1])
    wg.nn.functional.embedding(rows, weight, sparse=True).sum().backward()
    rows[0] = 8
    assert weight.grad._indices().tolist() == [[7, 1]]


def test_a_function_may_return_a_sparse_gradient():
    stored = wg.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (3,))

    class Read(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return stored * g[0]

    x = wg.ones(3, requires_grad=True)
    Read.apply(x).sum().backward()
    assert places(x.grad) == [[0, 2]] and x.grad.to_dense().tolist() == [1, 0, 2]
    (Read.apply(x).sum() + x.sum()).backward()
    assert x.grad.tolist() == [3, 1, 5]
    # in front of other operations it is dense, as it is under transforms
    x = wg.ones(3, requires_grad=True)
    Read.apply(2 * x).sum().backward()
    assert x.grad.tolist() == [2, 0, 4]
    assert grad(lambda x: Read.apply(x).sum())(wg.ones(3)).tolist() == [1, 0, 2]
    wrong = wg.ones(4, requires_grad=True)
    with pytest.raises(RuntimeError, match="invalid gradient at index 0"):
        Read.apply(wrong).sum().backward()
