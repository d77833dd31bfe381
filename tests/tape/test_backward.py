"""Test `backward`: what it computes, keeps, frees and refuses."""

import pytest

import wengert as wg


def leaf(values, dtype=wg.float32):
    return wg.tensor(values, dtype=dtype, requires_grad=True)


# -- leaves and history ---------------------------------------------------------------------------


def test_a_new_tensor_is_a_leaf_without_history():
    x = wg.tensor([1.0, 2.0])
    assert x.is_leaf
    assert not x.requires_grad
    assert x.grad is None
    assert x.grad_fn is None


def test_the_result_of_an_operation_on_a_leaf_that_requires_grad_has_history():
    x = leaf([1.0, 2.0])
    y = x * 3
    assert x.is_leaf and x.requires_grad and x.grad_fn is None
    assert y.requires_grad and not y.is_leaf
    assert y.grad_fn.name() == "MulBackward0"


def test_a_result_without_history_is_a_leaf():
    y = wg.tensor([1.0]) * 3
    assert y.is_leaf and not y.requires_grad and y.grad_fn is None


def test_history_begins_at_requires_grad_():
    x = wg.tensor([1.0])
    before = x * 2
    assert x.requires_grad_() is x
    after = x * 2
    assert not before.requires_grad
    assert after.requires_grad
    x.requires_grad_(False)
    assert not x.requires_grad
    assert after.requires_grad


def test_requires_grad_may_be_assigned():
    x = wg.tensor([1.0])
    x.requires_grad = True
    assert (x * 2).requires_grad


@pytest.mark.parametrize("dtype", [wg.int64, wg.int32, wg.uint8, wg.bool])
def test_only_floating_and_complex_tensors_can_require_a_gradient(dtype):
    x = wg.tensor([1, 0], dtype=dtype)
    with pytest.raises(RuntimeError, match=r"^[oO]nly Tensors of floating point"):
        x.requires_grad_()
    with pytest.raises(RuntimeError, match=r"^[oO]nly Tensors of floating point"):
        wg.tensor([1, 0], dtype=dtype, requires_grad=True)
    assert not x.requires_grad


def test_comparisons_and_integer_results_have_no_history():
    x = leaf([1.0, 2.0])
    for y in (x > 1, x == x, x.argmax(), x.long()):
        assert not y.requires_grad
        assert y.grad_fn is None


def test_requires_grad_of_a_non_leaf_cannot_be_switched_off():
    y = leaf([1.0]) * 2
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf"):
        y.requires_grad = False


# -- backward -------------------------------------------------------------------------------------


def test_backward_of_a_scalar():
    x = leaf(3.0)
    y = x * x + 2 * x
    assert y.backward() is None
    assert x.grad.item() == 8.0
    assert x.grad.dtype == wg.float32
    assert not x.grad.requires_grad


def test_backward_of_a_tensor_with_one_element():
    x = leaf([[3.0]])
    (x * x).backward()
    assert x.grad.tolist() == [[6.0]]


def test_gradients_accumulate_over_calls():
    x = leaf([1.0, 2.0])
    for expected in ([2.0, 4.0], [4.0, 8.0], [6.0, 12.0]):
        (x * x).sum().backward()
        assert x.grad.tolist() == expected


def test_accumulation_is_in_place():
    x = leaf([1.0, 2.0])
    x.sum().backward()
    grad = x.grad
    x.sum().backward()
    assert x.grad is grad
    assert grad.tolist() == [2.0, 2.0]


def test_a_gradient_may_be_reset_assigned_and_deleted():
    x = leaf([1.0, 2.0])
    x.sum().backward()
    x.grad.zero_()
    (3 * x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    x.grad = wg.tensor([10.0, 10.0])
    x.sum().backward()
    assert x.grad.tolist() == [11.0, 11.0]
    x.grad = None
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_gradient_must_fit_its_tensor():
    x = leaf([1.0, 2.0])
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        x.grad = 1.0
    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        x.grad = wg.tensor([1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype"):
        x.grad = wg.tensor([1.0, 2.0], dtype=wg.float64)
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x
    assert x.grad is None


def test_a_value_used_twice_sums_both_ways():
    x = leaf(2.0)
    y = x * x
    z = y * x + y
    z.backward()
    assert x.grad.item() == 3 * 4.0 + 2 * 2.0


def test_a_diamond_of_many_paths_costs_no_more_than_its_nodes():
    x = leaf(1.0, wg.float64)
    y = x
    for _ in range(200):
        y = y + y
        y = y * 0.5
    y.backward()
    assert x.grad.item() == 1.0


def test_non_leaves_keep_no_gradient():
    x = leaf(2.0)
    y = x * x
    z = y * 3
    z.backward()
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf"):
        assert y.grad is None


def test_retain_grad_keeps_the_gradient_of_a_non_leaf():
    x = leaf(2.0)
    y = x * x
    assert not y.retains_grad
    y.retain_grad()
    assert y.retains_grad
    z = y * 3
    z.backward(retain_graph=True)
    assert y.grad.item() == 3.0
    z.backward()
    assert y.grad.item() == 6.0
    assert x.grad.item() == 24.0


def test_retain_grad_of_the_output_itself():
    x = leaf(2.0)
    y = x * x
    y.retain_grad()
    y.backward()
    assert y.grad.item() == 1.0


def test_retain_grad_of_a_leaf_changes_nothing():
    x = leaf(2.0)
    x.retain_grad()
    assert not x.retains_grad
    (x * x).backward()
    assert x.grad.item() == 4.0


def test_retain_grad_needs_a_gradient():
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=Fa"):
        wg.tensor(1.0).retain_grad()


# -- the vector of the vector-Jacobian product ----------------------------------------------------


def test_a_vector_weighs_the_outputs():
    x = leaf([1.0, 2.0, 3.0])
    (x * x).backward(wg.tensor([1.0, 0.5, 0.0]))
    assert x.grad.tolist() == [2.0, 2.0, 0.0]
    x.grad = None
    (x * x).backward(gradient=wg.ones(3))
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_backward_of_a_non_scalar_needs_a_vector():
    x = leaf([1.0, 2.0])
    y = x * x
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar output"):
        y.backward()
    assert x.grad is None
    y.sum().backward()  # the graph is as it was
    assert x.grad.tolist() == [2.0, 4.0]


def test_the_vector_must_have_the_outputs_shape():
    x = leaf([1.0, 2.0])
    y = x * x
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] has a shape of"):
        y.backward(wg.ones(3))
    y.backward(wg.ones(2))
    assert x.grad.tolist() == [2.0, 4.0]


def test_the_vector_must_be_a_tensor():
    y = leaf([1.0, 2.0]) * 2
    with pytest.raises(TypeError):
        y.backward([1.0, 1.0])


def test_several_outputs_at_once():
    x, y = leaf(2.0), leaf(3.0)
    wg.autograd.backward([x * y, x + y], [wg.tensor(1.0), wg.tensor(10.0)])
    assert x.grad.item() == 13.0
    assert y.grad.item() == 12.0


def test_as_many_vectors_as_outputs():
    x = leaf(2.0)
    with pytest.raises(RuntimeError):
        wg.autograd.grad([x * 2, x * 3], [x], [wg.tensor(1.0)])


# -- a graph is walked once, unless it is kept ----------------------------------------------------


def test_a_second_backward_is_refused():
    x = leaf(2.0)
    y = x * x
    y.backward()
    message = r"Trying to backward through the graph a second time"
    with pytest.raises(RuntimeError, match=message):
        y.backward()
    assert x.grad.item() == 4.0


def test_retain_graph_allows_another():
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 12.0
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_linear_operations_save_nothing_and_may_be_walked_again():
    x = leaf([1.0, 2.0])
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("part", [[0, 1, 0], [True, False, True]])
def test_an_index_is_freed_with_its_graph(part):
    x = leaf([1.0, 2.0, 3.0])
    written = x.clone()
    written[wg.tensor(part)] = 5.0
    for y in (x[part], x[wg.tensor(part)], written, x[part].sin()):
        y.sum().backward(retain_graph=True)
        y.sum().backward()
        with pytest.raises(RuntimeError, match="graph a second time"):
            y.sum().backward()
    z = x[part]
    (g,) = wg.autograd.grad((z * z).sum(), x, create_graph=True)
    g.sum().backward()
    with pytest.raises(RuntimeError, match="graph a second time"):
        wg.autograd.grad(z.sum(), x, create_graph=True)


def test_two_losses_on_a_shared_part():
    x = leaf(2.0)
    shared = x.exp()
    (shared * 2).backward(retain_graph=True)
    (shared * 3).backward()
    assert x.grad.item() == pytest.approx(5 * wg.tensor(2.0).exp().item())


# -- inputs= --------------------------------------------------------------------------------------


def test_backward_into_chosen_inputs_only():
    x, w = leaf(2.0), leaf(3.0)
    (x * w).backward(inputs=[x])
    assert x.grad.item() == 3.0
    assert w.grad is None


def test_one_input_need_not_be_in_a_list():
    x, w = leaf(2.0), leaf(3.0)
    (x * w).backward(inputs=w)
    assert w.grad.item() == 2.0
    assert x.grad is None


def test_backward_into_a_non_leaf():
    x = leaf(2.0)
    y = x * x
    (y * 3).backward(inputs=[y])
    with pytest.warns(UserWarning, match="not a leaf") if not y.retains_grad else _nothing():
        assert y.grad.item() == 3.0
    assert x.grad is None


class _nothing:
    def __enter__(self):
        pass

    def __exit__(self, *exc):
        pass


def test_inputs_must_not_be_empty():
    x = leaf(2.0)
    with pytest.raises(RuntimeError, match=r"`inputs` argument to `backward.*cannot be empty"):
        (x * x).backward(inputs=[])


# -- broadcasting, dtypes -------------------------------------------------------------------------


def test_gradients_have_their_leafs_shape():
    a, b, c = leaf([[1.0], [2.0]]), leaf([1.0, 2.0, 3.0]), leaf(2.0)
    (a * b * c).sum().backward()
    assert a.grad.tolist() == [[12.0], [12.0]]
    assert b.grad.tolist() == [6.0, 6.0, 6.0]
    assert c.grad.item() == 18.0


def test_gradients_have_their_leafs_dtype():
    a = leaf([1.0, 2.0], wg.float64)
    b = leaf([3.0, 4.0], wg.float32)
    y = a * b
    assert y.dtype == wg.float64
    y.sum().backward()
    assert a.grad.dtype == wg.float64 and b.grad.dtype == wg.float32
    assert b.grad.tolist() == [1.0, 2.0]


def test_the_vector_may_have_another_real_dtype():
    x = leaf([1.0, 2.0])
    (x * x).backward(wg.ones(2, dtype=wg.float64))
    assert x.grad.dtype == wg.float32


def test_complex_gradients_point_uphill():
    z = wg.tensor([1 + 2j], dtype=wg.complex128, requires_grad=True)
    (z * z.conj()).real.sum().backward()
    assert z.grad.tolist() == [2 + 4j]


def test_a_complex_output_needs_a_vector():
    z = wg.tensor(1 + 2j, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for real scalar"):
        (z * z).backward()


# -- detach and data ------------------------------------------------------------------------------


def test_detach_stops_the_gradient_and_shares_memory():
    x = leaf([1.0, 2.0])
    y = x * x
    d = y.detach()
    assert not d.requires_grad and d.grad_fn is None and d.is_leaf
    (d * x).sum().backward()
    assert x.grad.tolist() == [1.0, 4.0]
    with wg.no_grad():
        d[0] = 100.0
    assert y[0].item() == 100.0


def test_detach_in_place():
    x = leaf(2.0)
    y = x * x
    assert y.detach_() is y
    assert y.is_leaf and not y.requires_grad


def test_data_shares_memory_but_no_history():
    x = leaf([1.0, 2.0])
    assert not x.data.requires_grad
    x.data[0] = 5.0
    assert x[0].item() == 5.0
    x.data = wg.tensor([7.0, 8.0])
    assert x.tolist() == [7.0, 8.0]
    assert x.requires_grad


def test_exceptions_in_the_middle_leave_gradients_as_they_were():
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    z = y * 3

    def refuse(grad):
        raise ValueError("no")

    handle = y.register_hook(refuse)
    with pytest.raises(ValueError, match="no"):
        z.backward(retain_graph=True)
    assert x.grad.item() == 4.0
    assert wg.is_grad_enabled()
    handle.remove()
    z.backward()
    assert x.grad.item() == 16.0


def test_a_leaf_that_has_left_the_graph_may_have_another_shape():
    x, y = (wg.ones(2, 3, requires_grad=True) for _ in range(2))
    z = x.triu().sum() + y.sum()
    x.requires_grad_(False)
    x.unsqueeze_(-1)
    z.backward()
    assert (x.grad, y.grad.shape) == (None, (2, 3))
