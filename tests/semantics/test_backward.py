"""Test `backward` and `autograd.grad`: what they compute, keep, free and refuse."""

import pytest


def leaf(t, values, dtype=None):
    return t.tensor(values, dtype=dtype or t.float32, requires_grad=True)


# -- leaves and history ---------------------------------------------------------------------------


def test_a_new_tensor_is_a_leaf_without_history(t):
    x = t.tensor([1.0, 2.0])
    assert x.is_leaf
    assert not x.requires_grad
    assert x.grad is None
    assert x.grad_fn is None


def test_the_result_of_an_operation_on_a_leaf_that_requires_grad_has_history(t):
    x = leaf(t, [1.0, 2.0])
    y = x * 3
    assert x.is_leaf and x.requires_grad and x.grad_fn is None
    assert y.requires_grad and not y.is_leaf
    assert y.grad_fn.name() == "MulBackward0"


def test_a_result_without_history_is_a_leaf(t):
    y = t.tensor([1.0]) * 3
    assert y.is_leaf and not y.requires_grad and y.grad_fn is None


def test_history_begins_at_requires_grad_(t):
    x = t.tensor([1.0])
    before = x * 2
    assert x.requires_grad_() is x
    after = x * 2
    assert not before.requires_grad
    assert after.requires_grad
    x.requires_grad_(False)
    assert not x.requires_grad
    assert after.requires_grad


def test_requires_grad_may_be_assigned(t):
    x = t.tensor([1.0])
    x.requires_grad = True
    (x * 2).backward()
    assert x.grad.tolist() == [2.0]


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
def test_only_floating_and_complex_tensors_can_require_a_gradient(t, dtype):
    x = t.tensor([1, 0], dtype=getattr(t, dtype))
    with pytest.raises(RuntimeError, match=r"^[oO]nly Tensors of floating point"):
        x.requires_grad_()
    with pytest.raises(RuntimeError, match=r"^[oO]nly Tensors of floating point"):
        t.tensor([1, 0], dtype=getattr(t, dtype), requires_grad=True)
    assert not x.requires_grad


def test_comparisons_and_integer_results_have_no_history(t):
    x = leaf(t, [1.0, 2.0])
    for y in (x > 1, x == x, x.argmax(), x.long()):
        assert not y.requires_grad
        assert y.grad_fn is None


def test_requires_grad_of_a_non_leaf_cannot_be_switched_off(t):
    y = leaf(t, [1.0]) * 2
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf"):
        y.requires_grad = False


# -- backward -------------------------------------------------------------------------------------


def test_backward_of_a_scalar(t):
    x = leaf(t, 3.0)
    y = x * x + 2 * x
    assert y.backward() is None
    assert x.grad.item() == 8.0
    assert x.grad.dtype == t.float32
    assert not x.grad.requires_grad


def test_backward_of_a_tensor_with_one_element(t):
    x = leaf(t, [[3.0]])
    (x * x).backward()
    assert x.grad.tolist() == [[6.0]]


def test_gradients_accumulate_over_calls(t):
    x = leaf(t, [1.0, 2.0])
    for expected in ([2.0, 4.0], [4.0, 8.0], [6.0, 12.0]):
        (x * x).sum().backward()
        assert x.grad.tolist() == expected


def test_accumulation_is_in_place(t):
    x = leaf(t, [1.0, 2.0])
    x.sum().backward()
    grad = x.grad
    x.sum().backward()
    assert x.grad is grad
    assert grad.tolist() == [2.0, 2.0]


def test_a_gradient_may_be_reset_assigned_and_deleted(t):
    x = leaf(t, [1.0, 2.0])
    x.sum().backward()
    x.grad.zero_()
    (3 * x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    x.grad = t.tensor([10.0, 10.0])
    x.sum().backward()
    assert x.grad.tolist() == [11.0, 11.0]
    x.grad = None
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_gradient_must_fit_its_tensor(t):
    x = leaf(t, [1.0, 2.0])
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        x.grad = 1.0
    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        x.grad = t.tensor([1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype"):
        x.grad = t.tensor([1.0, 2.0], dtype=t.float64)
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x
    assert x.grad is None


def test_a_value_used_twice_sums_both_ways(t):
    x = leaf(t, 2.0)
    y = x * x
    z = y * x + y
    z.backward()
    assert x.grad.item() == 3 * 4.0 + 2 * 2.0


def test_a_diamond_of_many_paths_costs_no_more_than_its_nodes(t):
    x = leaf(t, 1.0, t.float64)
    y = x
    for _ in range(200):
        y = y + y
        y = y * 0.5
    y.backward()
    assert x.grad.item() == 1.0


def test_non_leaves_keep_no_gradient(t):
    x = leaf(t, 2.0)
    y = x * x
    z = y * 3
    z.backward()
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf"):
        assert y.grad is None


def test_retain_grad_keeps_the_gradient_of_a_non_leaf(t):
    x = leaf(t, 2.0)
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


def test_retain_grad_of_the_output_itself(t):
    x = leaf(t, 2.0)
    y = x * x
    y.retain_grad()
    y.backward()
    assert y.grad.item() == 1.0


def test_retain_grad_of_a_leaf_changes_nothing(t):
    x = leaf(t, 2.0)
    x.retain_grad()
    assert not x.retains_grad
    (x * x).backward()
    assert x.grad.item() == 4.0


def test_retain_grad_needs_a_gradient(t):
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=Fa"):
        t.tensor(1.0).retain_grad()


# -- the vector of the vector-Jacobian product ----------------------------------------------------


def test_a_vector_weighs_the_outputs(t):
    x = leaf(t, [1.0, 2.0, 3.0])
    (x * x).backward(t.tensor([1.0, 0.5, 0.0]))
    assert x.grad.tolist() == [2.0, 2.0, 0.0]
    x.grad = None
    (x * x).backward(gradient=t.ones(3))
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_backward_of_a_non_scalar_needs_a_vector(t):
    x = leaf(t, [1.0, 2.0])
    y = x * x
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar output"):
        y.backward()
    assert x.grad is None
    y.sum().backward()  # the graph is as it was
    assert x.grad.tolist() == [2.0, 4.0]


def test_the_vector_must_have_the_outputs_shape(t):
    x = leaf(t, [1.0, 2.0])
    y = x * x
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] has a shape of"):
        y.backward(t.ones(3))
    y.backward(t.ones(2))
    assert x.grad.tolist() == [2.0, 4.0]


def test_the_vector_must_be_a_tensor(t):
    y = leaf(t, [1.0, 2.0]) * 2
    with pytest.raises(TypeError):
        y.backward([1.0, 1.0])


def test_several_outputs_at_once(t):
    x, y = leaf(t, 2.0), leaf(t, 3.0)
    t.autograd.backward([x * y, x + y], [t.tensor(1.0), t.tensor(10.0)])
    assert x.grad.item() == 13.0
    assert y.grad.item() == 12.0


def test_as_many_vectors_as_outputs(t):
    x = leaf(t, 2.0)
    with pytest.raises(RuntimeError):
        t.autograd.grad([x * 2, x * 3], [x], [t.tensor(1.0)])


# -- a graph is walked once, unless it is kept ----------------------------------------------------


def test_a_second_backward_is_refused(t):
    x = leaf(t, 2.0)
    y = x * x
    y.backward()
    message = r"Trying to backward through the graph a second time"
    with pytest.raises(RuntimeError, match=message):
        y.backward()
    assert x.grad.item() == 4.0


def test_retain_graph_allows_another(t):
    x = leaf(t, 2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 12.0
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_linear_operations_save_nothing_and_may_be_walked_again(t):
    x = leaf(t, [1.0, 2.0])
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("part", [[0, 1, 0], [True, False, True]])
def test_an_index_is_freed_with_its_graph(t, part):
    x = leaf(t, [1.0, 2.0, 3.0])
    written = x.clone()
    written[t.tensor(part)] = 5.0
    for y in (x[part], x[t.tensor(part)], written, x[part].sin()):
        y.sum().backward(retain_graph=True)
        y.sum().backward()
        with pytest.raises(RuntimeError, match="graph a second time"):
            y.sum().backward()
    z = x[part]
    (g,) = t.autograd.grad((z * z).sum(), x, create_graph=True)
    g.sum().backward()
    with pytest.raises(RuntimeError, match="graph a second time"):
        t.autograd.grad(z.sum(), x, create_graph=True)


def test_two_losses_on_a_shared_part(t):
    x = leaf(t, 2.0)
    shared = x.exp()
    (shared * 2).backward(retain_graph=True)
    (shared * 3).backward()
    assert x.grad.item() == pytest.approx(5 * t.tensor(2.0).exp().item())


# -- inputs= --------------------------------------------------------------------------------------


def test_backward_into_chosen_inputs_only(t):
    x, w = leaf(t, 2.0), leaf(t, 3.0)
    (x * w).backward(inputs=[x])
    assert x.grad.item() == 3.0
    assert w.grad is None


def test_one_input_need_not_be_in_a_list(t):
    x, w = leaf(t, 2.0), leaf(t, 3.0)
    (x * w).backward(inputs=w)
    assert w.grad.item() == 2.0
    assert x.grad is None


def test_backward_into_a_non_leaf(t):
    x = leaf(t, 2.0)
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


def test_inputs_must_not_be_empty(t):
    x = leaf(t, 2.0)
    with pytest.raises(RuntimeError, match=r"`inputs` argument to `backward.*cannot be empty"):
        (x * x).backward(inputs=[])


# -- broadcasting, dtypes -------------------------------------------------------------------------


def test_gradients_have_their_leafs_shape(t):
    a, b, c = leaf(t, [[1.0], [2.0]]), leaf(t, [1.0, 2.0, 3.0]), leaf(t, 2.0)
    (a * b * c).sum().backward()
    assert a.grad.tolist() == [[12.0], [12.0]]
    assert b.grad.tolist() == [6.0, 6.0, 6.0]
    assert c.grad.item() == 18.0


def test_gradients_have_their_leafs_dtype(t):
    a = leaf(t, [1.0, 2.0], t.float64)
    b = leaf(t, [3.0, 4.0], t.float32)
    y = a * b
    assert y.dtype == t.float64
    y.sum().backward()
    assert a.grad.dtype == t.float64 and b.grad.dtype == t.float32
    assert b.grad.tolist() == [1.0, 2.0]


def test_the_vector_may_have_another_real_dtype(t):
    x = leaf(t, [1.0, 2.0])
    (x * x).backward(t.ones(2, dtype=t.float64))
    assert (x.grad.dtype, x.grad.tolist()) == (t.float32, [2.0, 4.0])


def test_complex_gradients_point_uphill(t):
    z = t.tensor([1 + 2j], dtype=t.complex128, requires_grad=True)
    (z * z.conj()).real.sum().backward()
    assert z.grad.tolist() == [2 + 4j]


def test_a_complex_output_needs_a_vector(t):
    z = t.tensor(1 + 2j, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for real scalar"):
        (z * z).backward()


# -- detach and data ------------------------------------------------------------------------------


def test_detach_stops_the_gradient_and_shares_memory(t):
    x = leaf(t, [1.0, 2.0])
    y = x * x
    d = y.detach()
    assert not d.requires_grad and d.grad_fn is None and d.is_leaf
    (d * x).sum().backward()
    assert x.grad.tolist() == [1.0, 4.0]
    with t.no_grad():
        d[0] = 100.0
    assert y[0].item() == 100.0


def test_detach_in_place(t):
    x = leaf(t, 2.0)
    y = x * x
    assert y.detach_() is y
    assert y.is_leaf and not y.requires_grad


def test_data_shares_memory_but_no_history(t):
    x = leaf(t, [1.0, 2.0])
    assert not x.data.requires_grad
    x.data[0] = 5.0
    assert x[0].item() == 5.0
    x.data = t.tensor([7.0, 8.0])
    assert x.tolist() == [7.0, 8.0]
    assert x.requires_grad


def test_exceptions_in_the_middle_leave_gradients_as_they_were(t):
    x = leaf(t, 2.0)
    y = x * x
    y.backward(retain_graph=True)
    z = y * 3

    def refuse(grad):
        raise ValueError("no")

    handle = y.register_hook(refuse)
    with pytest.raises(ValueError, match="no"):
        z.backward(retain_graph=True)
    assert x.grad.item() == 4.0
    assert t.is_grad_enabled()
    handle.remove()
    z.backward()
    assert x.grad.item() == 16.0


def test_a_leaf_that_has_left_the_graph_may_have_another_shape(t):
    x, y = (t.ones(2, 3, requires_grad=True) for _ in range(2))
    z = x.triu().sum() + y.sum()
    x.requires_grad_(False)
    x.unsqueeze_(-1)
    z.backward()
    assert (x.grad, y.grad.tolist()) == (None, [[1.0] * 3] * 2)


# -- higher orders --------------------------------------------------------------------------------


def test_gradients_of_gradients(t):
    x = leaf(t, 3.0, t.float64)
    y = x**4
    expected = [4 * 27.0, 12 * 9.0, 24 * 3.0, 24.0, 0.0]
    for value in expected:
        (y,) = t.autograd.grad(y, x, create_graph=True)
        assert y.item() == value
        if value == 24.0:
            break


def test_create_graph_records_the_gradient(t):
    x = leaf(t, 3.0)
    (g,) = t.autograd.grad(x * x, x, create_graph=True)
    assert g.requires_grad and g.grad_fn is not None
    (plain,) = t.autograd.grad(x * x, x)
    assert not plain.requires_grad and plain.grad_fn is None


def test_backward_through_a_gradient_penalty(t):
    x = leaf(t, [1.0, 2.0], t.float64)
    w = leaf(t, [0.5, -1.0], t.float64)
    (g,) = t.autograd.grad((w * x * x).sum(), x, create_graph=True)
    (g * g).sum().backward()
    # g = 2 w x, its square 4 w^2 x^2
    assert x.grad.tolist() == [8 * 0.25 * 1.0, 8 * 1.0 * 2.0]
    assert w.grad.tolist() == [8 * 0.5 * 1.0, 8 * -1.0 * 4.0]


def test_create_graph_keeps_the_first_graph(t):
    x = leaf(t, 2.0)
    y = x * x * x
    (g,) = t.autograd.grad(y, x, create_graph=True)
    y.backward(retain_graph=True)
    g.backward()
    assert x.grad.item() == 12.0 + 12.0


@pytest.mark.filterwarnings("ignore:Using backward")
def test_backward_with_create_graph_gives_gradients_with_history(t):
    x = leaf(t, 2.0)
    (x * x * x).backward(create_graph=True)
    assert x.grad.requires_grad
    first, x.grad = x.grad, None
    first.backward()
    assert x.grad.item() == 12.0
    x.grad = None


def test_mixed_second_derivatives_agree(t):
    x, y = leaf(t, 1.5, t.float64), leaf(t, 0.5, t.float64)
    f = (x * y).sin() * x.exp()
    dx, dy = t.autograd.grad(f, (x, y), create_graph=True)
    (dxdy,) = t.autograd.grad(dx, y, retain_graph=True)
    (dydx,) = t.autograd.grad(dy, x)
    assert dxdy.item() == pytest.approx(dydx.item(), rel=1e-14)


# -- grad -----------------------------------------------------------------------------------------


def test_grad_leaves_grad_alone(t):
    x, w = leaf(t, 2.0), leaf(t, 5.0)
    grads = t.autograd.grad(x * w, [x, w])
    assert isinstance(grads, tuple)
    assert [g.item() for g in grads] == [5.0, 2.0]
    assert x.grad is None and w.grad is None


def test_grad_by_a_non_leaf(t):
    x = leaf(t, 2.0)
    y = x * x
    z = y * y
    dy, dx = t.autograd.grad(z, [y, x])
    assert dy.item() == 8.0
    assert dx.item() == 32.0


def test_grad_by_the_output_itself(t):
    x = leaf(t, 2.0)
    y = x * 2
    assert t.autograd.grad(y, y)[0].item() == 1.0
    assert t.autograd.grad(x, x)[0].item() == 1.0


def test_grad_by_the_same_tensor_twice(t):
    x = leaf(t, 2.0)
    assert [g.item() for g in t.autograd.grad(x * x, [x, x])] == [4.0, 4.0]


def test_an_unused_input_is_an_error_unless_it_is_allowed(t):
    x, unused = leaf(t, 2.0), leaf(t, 3.0)
    y = x * x
    with pytest.raises(
        RuntimeError, match="The differentiated Tensor at index 1 appears to not have been used"
    ):
        t.autograd.grad(y, [x, unused], retain_graph=True)
    dx, none = t.autograd.grad(y, [x, unused], allow_unused=True, retain_graph=True)
    assert dx.item() == 4.0 and none is None
    dx, zero = t.autograd.grad(y, [x, unused], materialize_grads=True)
    assert dx.item() == 4.0 and zero.item() == 0.0


def test_an_input_that_requires_no_gradient_is_an_error(t):
    x = leaf(t, 2.0)
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require gr"):
        t.autograd.grad(x * x, [t.tensor(1.0)])


def test_an_output_without_history_is_an_error(t):
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does n"):
        t.tensor(1.0).backward()
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does n"):
        t.autograd.grad(t.tensor(1.0), leaf(t, 1.0))


def test_grad_with_vectors(t):
    x = leaf(t, [1.0, 2.0])
    (g,) = t.autograd.grad(x * x, x, t.tensor([1.0, 10.0]))
    assert g.tolist() == [2.0, 40.0]
    (g,) = t.autograd.grad(x * x, x, grad_outputs=(t.tensor([1.0, 10.0]),))
    assert g.tolist() == [2.0, 40.0]


def test_batched_vectors(t):
    x = leaf(t, [1.0, 2.0])
    (rows,) = t.autograd.grad(x * x, x, t.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_only_inputs_must_be_true(t):
    x = leaf(t, 1.0)
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
        t.autograd.grad(x * x, x, only_inputs=False)


def test_a_gradient_that_does_not_fit_into_an_older_one_is_refused(t):
    x = t.ones(3, requires_grad=True)
    x.sum().backward()
    x.data = t.ones(3, 1)
    version = x.grad._version
    with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast"):
        x.sum().backward()
    assert (x.grad.tolist(), x.grad._version) == ([1.0] * 3, version)
