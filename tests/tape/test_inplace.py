"""Test in-place operations: versions, the history they write, and errors."""

import numpy as np
import pytest

import wengert as wg

MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace"


def leaf(values, dtype=wg.float64):
    return wg.tensor(values, dtype=dtype, requires_grad=True)


# -- versions -------------------------------------------------------------------------------------


def test_every_write_counts():
    x = wg.tensor([1.0, 2.0])
    assert x._version == 0
    x.add_(1)
    assert x._version == 1
    x[0] = 5.0
    assert x._version == 2
    x *= 2
    assert x._version == 3
    x.zero_()
    assert x._version == 4


def test_views_and_detached_tensors_share_the_count():
    x = wg.tensor([1.0, 2.0, 3.0])
    view, cut = x[1:], x.detach()
    view.add_(1)
    assert x._version == view._version == cut._version == 1
    cut.mul_(2)
    assert x._version == view._version == cut._version == 2
    assert x.tolist() == [2.0, 6.0, 8.0]


def test_data_has_a_count_of_its_own():
    x = wg.tensor([1.0, 2.0])
    x.data.add_(1)
    assert x._version == 0
    assert x.tolist() == [2.0, 3.0]


def test_a_copy_has_a_count_of_its_own():
    x = wg.tensor([1.0, 2.0])
    y = x.clone()
    y.add_(1)
    assert x._version == 0


@pytest.mark.parametrize(
    ("function", "write"),
    [
        (lambda a: a.sin(), "argument"),
        (lambda a: a * a, "argument"),
        (lambda a: a.log(), "argument"),
        (lambda a: a.exp(), "result"),
        (lambda a: a.sqrt(), "result"),
        (lambda a: a.sigmoid(), "result"),
        (lambda a: a.tanh(), "result"),
    ],
)
def test_a_saved_value_that_was_written_to_is_found_out(function, write):
    x = leaf([0.5, 1.5])
    a = x * 1
    b = function(a)
    (a if write == "argument" else b).add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        b.sum().backward()
    assert x.grad is None


def test_what_is_not_saved_may_be_written_to():
    x = leaf([0.5, 1.5])
    a = x * 1
    b = a + 1
    a.mul_(3)
    (b + a).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_only_what_a_needed_gradient_uses_is_saved():
    x = leaf([0.5, 1.5])
    w = wg.tensor([2.0, 3.0], dtype=wg.float64)
    y = x.clone() * w  # the gradient of x needs w only
    copy = w.clone()
    w.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()
    a = x.clone()
    z = a * copy
    a.zero_()
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 3.0]


def test_the_message_names_both_versions():
    x = leaf([1.0, 2.0])
    a = x * 1
    b = a.sin()
    a.add_(1)
    a.add_(1)
    with pytest.raises(RuntimeError, match=r"is at version 2; expected version 0 instead"):
        b.sum().backward()


def test_a_write_through_a_view_is_found_out():
    x = leaf([1.0, 2.0, 3.0])
    a = x * 1
    b = a.sin()
    a[1:].mul_(2)
    with pytest.raises(RuntimeError, match=MODIFIED):
        b.sum().backward()


def test_a_write_through_a_detached_tensor_is_found_out():
    x = leaf([1.0, 2.0])
    y = x.exp()
    y.detach().zero_()
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


def test_a_write_to_a_saved_leaf_under_no_grad_is_found_out():
    w = leaf([1.0, 2.0])
    loss = (w * w).sum()
    with wg.no_grad():
        w -= 0.1
    with pytest.raises(RuntimeError, match=MODIFIED):
        loss.backward()


# -- history --------------------------------------------------------------------------------------


def test_in_place_operations_have_history():
    x = leaf([1.0, 2.0])
    y = x * 2
    y.mul_(x * 2)
    y.add_(x)
    y.exp_()
    assert y.grad_fn.name() == "ExpBackward0"
    y.sum().backward()
    expected = [
        (8 * v + 1) * wg.tensor(4 * v * v + v, dtype=wg.float64).exp().item() for v in (1, 2)
    ]
    assert x.grad.tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    "write",
    [
        lambda y, w: y.add_(w),
        lambda y, w: y.sub_(w),
        lambda y, w: y.mul_(w),
        lambda y, w: y.div_(w),
        lambda y, w: y.copy_(w),
        lambda y, w: y.__iadd__(w),
        lambda y, w: y.__isub__(w),
        lambda y, w: y.__imul__(w),
        lambda y, w: y.__itruediv__(w),
        lambda y, w: y.add_(w, alpha=3),
        lambda y, w: y.sub_(w, alpha=3),
        lambda y, w: y.pow_(w),
    ],
)
def test_both_operands_of_an_in_place_operation_get_a_gradient(write):
    x, w = leaf([1.5, 2.5]), leaf([2.0, 3.0])

    def f(x, w):
        y = x * 1
        write(y, w)
        return y

    def g(x, w):
        y = (x * 1).clone()
        return write(y, w)

    assert wg.autograd.gradcheck(f, (x, w))
    assert wg.autograd.gradgradcheck(f, (x, w))
    assert g(x, w).tolist() == f(x, w).tolist()


@pytest.mark.parametrize(
    "name",
    [
        *("exp_", "log_", "sqrt_", "rsqrt_", "sin_", "cos_", "tan_", "tanh_", "sinh_", "cosh_"),
        *("sigmoid_", "relu_", "abs_", "neg_", "reciprocal_"),
    ],
)
def test_in_place_unary_operations(name):
    x = leaf([0.5, 1.5])

    def f(x):
        y = x * 1
        result = getattr(y, name)()
        assert result is y
        return y

    assert wg.autograd.gradcheck(f, (x,))
    assert wg.autograd.gradgradcheck(f, (x,))
    assert f(x).tolist() == getattr(x, name.rstrip("_"))().tolist()


def test_assignment_to_elements_has_history():
    x, w = leaf([1.0, 2.0, 3.0]), leaf([10.0, 20.0])
    y = x * 2
    y[1:] = w * 3
    assert y.tolist() == [2.0, 30.0, 60.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 0.0]
    assert w.grad.tolist() == [3.0, 3.0]


def test_a_tensor_without_history_gets_one_by_assignment():
    y = wg.zeros(3, dtype=wg.float64)
    w = leaf(5.0)
    y[1] = w * 2
    assert y.requires_grad and not y.is_leaf
    y.sum().backward()
    assert w.grad.item() == 2.0


def test_zero_and_fill_cut_the_gradient():
    x = leaf([1.0, 2.0])
    y = x * 2
    y.zero_()
    y.add_(x)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    x.grad = None
    y = x * 2
    y.fill_(7.0)
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_the_value_is_that_of_the_operation():
    x = wg.tensor([1.0, 2.0])
    assert x.add_(1) is x
    assert x.mul_(wg.tensor([2.0, 3.0])).tolist() == [4.0, 9.0]
    x /= 2
    x -= 1
    x **= 2
    assert x.tolist() == [1.0, 12.25]


# -- refusals, before anything is written ---------------------------------------------------------


def test_a_leaf_that_requires_grad_cannot_be_written_to():
    x = leaf([1.0, 2.0])
    message = "a leaf Variable that requires grad is being used in an in-place operation"
    for write in (
        lambda: x.add_(1),
        lambda: x.mul_(2),
        lambda: x.zero_(),
        lambda: x.exp_(),
        lambda: x.copy_(wg.zeros(2)),
    ):
        with pytest.raises(RuntimeError, match=message):
            write()
    with pytest.raises(RuntimeError, match=r"a (view of a )?leaf Variable that requires"):
        x[0] = 5.0
    assert x.tolist() == [1.0, 2.0]
    assert x._version == 0


def test_under_no_grad_it_can():
    x = leaf([1.0, 2.0])
    with wg.no_grad():
        x.add_(1)
        x -= 0.5
        x[0] = 7.0
    assert x.tolist() == [7.0, 2.5]
    assert x.is_leaf and x.requires_grad


def test_a_view_of_a_leaf_cannot_be_written_to():
    x = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being"):
        x[:1].add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being"):
        x.view(2, 1).zero_()
    assert x.tolist() == [1.0, 2.0]


def test_the_result_must_fit_the_tensor():
    x = wg.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"output with shape \[2\] doesn't match the broadcast"):
        x.add_(wg.ones(3, 2))
    with pytest.raises(RuntimeError):
        x.add_(wg.ones(3))
    assert x.tolist() == [1.0, 2.0] and x._version == 0


def test_the_result_must_be_of_the_tensors_kind():
    n = wg.tensor([1, 2])
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        n.add_(1.5)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        n.div_(2)
    assert n.tolist() == [1, 2]
    x = wg.tensor([1.0, 2.0])
    x.add_(wg.tensor([1.0, 2.0], dtype=wg.float64))
    assert x.dtype == wg.float32


# -- views ----------------------------------------------------------------------------------------


def test_writing_to_a_base_shows_in_its_views_history():
    x = leaf([1.0, 2.0, 3.0])
    base = x * 1
    view = base[1:]
    base.mul_(2)
    assert view.tolist() == [4.0, 6.0]
    view.sum().backward()
    assert x.grad.tolist() == [0.0, 2.0, 2.0]


def test_writing_to_a_view_shows_in_its_bases_history():
    x = leaf([1.0, 2.0, 3.0])
    base = x * 1
    base[1:].mul_(3)
    assert type(base.grad_fn).__name__ == "CopySlices"
    base.sum().backward()
    assert x.grad.tolist() == [1.0, 3.0, 3.0]


def test_two_views_of_one_base():
    x = leaf([1.0, 2.0, 3.0])
    base = x * 1
    first, last = base[:2], base[1:]
    first.mul_(2)
    last.mul_(5)
    assert base.tolist() == [2.0, 20.0, 15.0]
    assert first.tolist() == [2.0, 20.0]
    (first.sum() + base.sum()).backward()
    assert x.grad.tolist() == [4.0, 20.0, 5.0]


def test_second_derivatives_through_writes_to_views():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])

    def f(x):
        y = x * x
        y[0].add_(y[1].clone() * x[0])
        y.t()[1].mul_(3)
        y[:, 1] = y[:, 0].clone() * x[1]
        y.view(4)[2:].sub_(x[0].exp())
        return y.sum()

    assert wg.autograd.gradcheck(f, (x,))
    assert wg.autograd.gradgradcheck(f, (x,))


def test_a_constant_written_in_place_ends_the_history():
    x = wg.tensor([1.0, 3.0], requires_grad=True)
    y = x * 1
    y.gt_(2.0)
    y.sum().backward()
    assert y.tolist() == [0.0, 1.0]
    assert x.grad.tolist() == [0.0, 0.0]


def test_what_is_rewritten_in_place_keeps_its_gradient():
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    assert y.cumsum_(0) is y
    assert y.unsqueeze_(0) is y
    (y * y).sum().backward()
    assert x.grad.tolist() == [[10.0, 16.0], [8.0, 12.0]]


def test_a_view_may_be_transposed_in_place():
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    v = y[0:1]
    v.squeeze_(0)
    v.mul_(3.0)
    y.t_()
    y[0] = 0.0
    (y * y).sum().backward()
    assert v.tolist() == [0.0, 6.0]
    assert x.grad.tolist() == [[0.0, 36.0], [0.0, 8.0]]


def test_a_write_that_reads_a_part_of_its_own_memory_is_refused():
    y = wg.arange(4.0)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        y[1:].copy_(y[:-1])
    assert y.tolist() == [0.0, 1.0, 2.0, 3.0] and y._version == 0
    y[:] = y[0]
    assert y.tolist() == [0.0] * 4


def test_a_write_that_reads_all_of_its_own_memory_in_order_is_none_of_them():
    y = wg.arange(3.0).reshape(1, 3)
    y.add_(y.ravel()[None])
    y[0] = y
    y[:, None][:, 0].mul_(y)
    assert y.tolist() == [[0.0, 4.0, 16.0]]


def test_a_tensor_times_itself_in_place_has_the_right_gradient():
    # PyTorch refuses the backward pass here
    x = leaf([1.0, 3.0])
    y = x * 1
    y.mul_(y)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 6.0]


# -- what is read and written at once -------------------------------------------------------------


def test_memory_that_is_read_in_another_order_is_refused():
    x = wg.arange(9.0).reshape(3, 3)
    for write in (
        lambda: x.add_(x.t()),
        lambda: x.mul_(x.mT),
        lambda: x.t().sub_(x),
        lambda: x[:2].add_(x[1:]),
        lambda: x[:2].add_(x[:1]),
        lambda: x.view(9)[:4].copy_(x.view(9)[1:5]),
    ):
        with pytest.raises(RuntimeError, match="some elements of the input tensor and the written"):
            write()
    assert x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]] and x._version == 0


def test_memory_that_is_read_where_it_is_written_is_none_to_refuse():
    x = wg.arange(4.0).reshape(2, 2)
    x.add_(x)
    x.add_(x.view(2, 2))
    x[0].add_(x[1])
    assert x.tolist() == [[8.0, 16.0], [8.0, 12.0]]
    x.t().add_(x.t())
    assert x.tolist() == [[16.0, 32.0], [16.0, 24.0]]


def test_copying_between_overlapping_strides_reads_what_was_there():
    array = np.arange(8.0)
    wg.from_numpy(array[::2]).copy_(wg.from_numpy(array[:4]))
    assert array.tolist() == [0.0, 1.0, 1.0, 3.0, 2.0, 5.0, 3.0, 7.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_write_to_a_view_is_gone_through_once(create_graph):
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    y[:1].exp_()
    wg.autograd.grad(y.sum(), x, retain_graph=False)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        wg.autograd.grad(y.sum(), x, create_graph=create_graph)


@pytest.mark.parametrize("dtype", [wg.float64, wg.complex128, wg.float16, wg.float32])
@pytest.mark.parametrize("create_graph", [False, True])
def test_what_was_saved_for_another_gradient_is_checked_too(dtype, create_graph):
    # only `factor` is needed for the gradient of x; PyTorch looks at all that the node holds
    x = wg.ones(3, dtype=dtype, requires_grad=True)
    factor = wg.ones((), dtype=dtype, requires_grad=True)
    doubled = x * 2
    out = (factor * doubled).sum().real
    doubled[0] = 3
    with pytest.raises(RuntimeError, match=MODIFIED):
        wg.autograd.grad(out, x, create_graph=create_graph)


def test_a_write_of_numbers_is_counted_seen_by_views_and_by_what_saved_the_old_ones():
    x = wg.arange(5.0)
    row = x[1:4]
    w = wg.ones(5, requires_grad=True)
    y = w * x
    x[2] = 7.5
    x[0:2] = x[3]
    x[-1] = wg.tensor(2.5)
    x += 1
    assert x.tolist() == [4.0, 4.0, 8.5, 4.0, 3.5] and row.tolist() == [4.0, 8.5, 4.0]
    assert x._version == row._version == 4
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    counts = wg.zeros(3, 3, dtype=wg.int32)
    counts[1, 2] += 2
    assert counts.tolist() == [[0, 0, 0], [0, 0, 2], [0, 0, 0]] and counts._version == 2


@pytest.mark.parametrize(
    "index, value, error",
    [
        (5, 1.0, IndexError),
        (slice(None, None, -1), 1.0, ValueError),
        (slice(0, 2), [1.0, 2.0, 3.0], RuntimeError),
        (0, 1e300, RuntimeError),
    ],
)
def test_a_write_that_does_not_fit_changes_nothing(index, value, error):
    x = wg.arange(5.0)
    with pytest.raises(error):
        x[index] = wg.tensor(value) if isinstance(value, list) else value
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:] = x[:-1]
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0] and x._version == 0


@pytest.mark.parametrize("size", [5, 20_000])
@pytest.mark.parametrize(
    ("name", "given"),
    [
        *[(name, ()) for name in ("relu", "exp", "sigmoid", "square", "reciprocal", "trunc")],
        *[("clamp", (-1.0, 0.5)), ("clamp_min", (0,)), ("clamp_max", (0.25,)), ("pow", (3,))],
    ],
)
def test_a_write_without_history_gives_the_bits_of_the_form_that_copies(name, given, size):
    x = wg.from_numpy(np.random.default_rng(0).standard_normal(size).astype(np.float32))
    wanted = getattr(x, name)(*given).numpy()
    memory = x.data_ptr()
    assert getattr(x, f"{name}_")(*given) is x
    assert (x._version, x.data_ptr()) == (1, memory)
    assert x.numpy().tobytes() == wanted.tobytes()


def test_sources_that_share_memory_with_the_target_are_read_before_they_are_written():
    x = wg.arange(6.0)
    assert x.addcmul_(x, x).tolist() == [0.0, 2.0, 6.0, 12.0, 20.0, 30.0]
    assert x.lerp_(x, 0.5).tolist() == [0.0, 2.0, 6.0, 12.0, 20.0, 30.0]


@pytest.mark.parametrize(
    "write",
    [
        lambda v: v.masked_fill_(wg.tensor([[True], [False]]), 1),
        lambda v: v.masked_fill_(wg.tensor([[True], [False]]), wg.tensor(1.0)),
        lambda v: v.index_fill_(0, wg.tensor([0]), 1),
        lambda v: v.index_put_((wg.tensor([0]),), wg.ones(3)),
    ],
)
def test_writing_a_part_of_repeated_memory_is_right_or_raises(write):
    def written(x):
        made = x * 1
        write(made.expand(2, 3))
        return made

    assert written(wg.zeros(3)).tolist() == [1.0] * 3
    compiled = wg.compile(written)
    with pytest.warns(UserWarning, match="not compiled"):
        assert compiled(wg.zeros(3)).tolist() == [1.0] * 3
    assert compiled(wg.zeros(3)).tolist() == [1.0] * 3
    for run in (wg.func.vmap(written), lambda x: written(x[0].requires_grad_())):
        with pytest.raises(RuntimeError, match="single memory location"):
            run(wg.zeros(2, 3))
