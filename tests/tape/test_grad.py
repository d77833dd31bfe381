"""Test `autograd.grad`: gradients as results."""

import pytest

import wengert as wg


def leaf(values, dtype=wg.float32):
    return wg.tensor(values, dtype=dtype, requires_grad=True)


# -- higher orders --------------------------------------------------------------------------------


def test_gradients_of_gradients():
    x = leaf(3.0, wg.float64)
    y = x**4
    expected = [4 * 27.0, 12 * 9.0, 24 * 3.0, 24.0, 0.0]
    for value in expected:
        (y,) = wg.autograd.grad(y, x, create_graph=True)
        assert y.item() == value
        if value == 24.0:
            break


def test_create_graph_records_the_gradient():
    x = leaf(3.0)
    (g,) = wg.autograd.grad(x * x, x, create_graph=True)
    assert g.requires_grad and g.grad_fn is not None
    (plain,) = wg.autograd.grad(x * x, x)
    assert not plain.requires_grad and plain.grad_fn is None


def test_backward_through_a_gradient_penalty():
    x = leaf([1.0, 2.0], wg.float64)
    w = leaf([0.5, -1.0], wg.float64)
    (g,) = wg.autograd.grad((w * x * x).sum(), x, create_graph=True)
    (g * g).sum().backward()
    # g = 2 w x, its square 4 w^2 x^2
    assert x.grad.tolist() == [8 * 0.25 * 1.0, 8 * 1.0 * 2.0]
    assert w.grad.tolist() == [8 * 0.5 * 1.0, 8 * -1.0 * 4.0]


def test_create_graph_keeps_the_first_graph():
    x = leaf(2.0)
    y = x * x * x
    (g,) = wg.autograd.grad(y, x, create_graph=True)
    y.backward(retain_graph=True)
    g.backward()
    assert x.grad.item() == 12.0 + 12.0


@pytest.mark.filterwarnings("ignore:Using backward")
def test_backward_with_create_graph_gives_gradients_with_history():
    x = leaf(2.0)
    (x * x * x).backward(create_graph=True)
    assert x.grad.requires_grad
    first, x.grad = x.grad, None
    first.backward()
    assert x.grad.item() == 12.0
    x.grad = None


def test_mixed_second_derivatives_agree():
    x, y = leaf(1.5, wg.float64), leaf(0.5, wg.float64)
    f = (x * y).sin() * x.exp()
    dx, dy = wg.autograd.grad(f, (x, y), create_graph=True)
    (dxdy,) = wg.autograd.grad(dx, y, retain_graph=True)
    (dydx,) = wg.autograd.grad(dy, x)
    assert dxdy.item() == pytest.approx(dydx.item(), rel=1e-14)


# -- grad -----------------------------------------------------------------------------------------


def test_grad_leaves_grad_alone():
    x, w = leaf(2.0), leaf(5.0)
    grads = wg.autograd.grad(x * w, [x, w])
    assert isinstance(grads, tuple)
    assert [g.item() for g in grads] == [5.0, 2.0]
    assert x.grad is None and w.grad is None


def test_grad_by_a_non_leaf():
    x = leaf(2.0)
    y = x * x
    z = y * y
    dy, dx = wg.autograd.grad(z, [y, x])
    assert dy.item() == 8.0
    assert dx.item() == 32.0


def test_grad_by_the_output_itself():
    x = leaf(2.0)
    y = x * 2
    assert wg.autograd.grad(y, y)[0].item() == 1.0
    assert wg.autograd.grad(x, x)[0].item() == 1.0


def test_grad_by_the_same_tensor_twice():
    x = leaf(2.0)
    assert [g.item() for g in wg.autograd.grad(x * x, [x, x])] == [4.0, 4.0]


def test_an_unused_input_is_an_error_unless_it_is_allowed():
    x, unused = leaf(2.0), leaf(3.0)
    y = x * x
    with pytest.raises(
        RuntimeError, match="The differentiated Tensor at index 1 appears to not have been used"
    ):
        wg.autograd.grad(y, [x, unused], retain_graph=True)
    dx, none = wg.autograd.grad(y, [x, unused], allow_unused=True, retain_graph=True)
    assert dx.item() == 4.0 and none is None
    dx, zero = wg.autograd.grad(y, [x, unused], materialize_grads=True)
    assert dx.item() == 4.0 and zero.item() == 0.0


def test_an_input_that_requires_no_gradient_is_an_error():
    x = leaf(2.0)
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require gr"):
        wg.autograd.grad(x * x, [wg.tensor(1.0)])


def test_an_output_without_history_is_an_error():
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does n"):
        wg.tensor(1.0).backward()
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does n"):
        wg.autograd.grad(wg.tensor(1.0), leaf(1.0))


def test_grad_with_vectors():
    x = leaf([1.0, 2.0])
    (g,) = wg.autograd.grad(x * x, x, wg.tensor([1.0, 10.0]))
    assert g.tolist() == [2.0, 40.0]
    (g,) = wg.autograd.grad(x * x, x, grad_outputs=(wg.tensor([1.0, 10.0]),))
    assert g.tolist() == [2.0, 40.0]


def test_batched_vectors():
    x = leaf([1.0, 2.0])
    (rows,) = wg.autograd.grad(x * x, x, wg.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_only_inputs_must_be_true():
    x = leaf(1.0)
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
        wg.autograd.grad(x * x, x, only_inputs=False)


def test_a_gradient_that_does_not_fit_into_an_older_one_is_refused():
    x = wg.ones(3, requires_grad=True)
    x.sum().backward()
    x.data = wg.ones(3, 1)
    version = x.grad._version
    with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast"):
        x.sum().backward()
    assert (x.grad.tolist(), x.grad._version) == ([1.0] * 3, version)
