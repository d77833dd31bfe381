"""Test what in-place operations save, read and refuse; semantics has their derivatives."""

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


INDEX = wg.tensor([2, 0, 2])
BY_POSITION = {
    "index_add_": lambda x, v: x.index_add_(0, INDEX, v),
    "scatter_": lambda x, v: x.scatter_(0, INDEX[:2], v[:2]),
    "scatter_add_": lambda x, v: x.scatter_add_(0, INDEX, v),
    "index_copy_": lambda x, v: x.index_copy_(0, INDEX[:2], v[:2]),
    "masked_fill_": lambda x, v: x.masked_fill_(v > 1, 7),
    "masked_scatter_": lambda x, v: x.masked_scatter_(wg.tensor([True, False, True]), v),
    "put_": lambda x, v: x.put_(INDEX[:2], v[:2]),
    "mul_": lambda x, v: x.mul_(v[1]),
}


@pytest.mark.parametrize("name", BY_POSITION)
@pytest.mark.parametrize("dtype", [wg.float32, wg.float64, wg.int64, wg.int32])
def test_unrecorded_writes_by_position_match_recorded_ones(name, dtype):
    write = BY_POSITION[name]
    values = wg.tensor([1, 2, 3], dtype=dtype)
    quick, slow = (wg.tensor([4, 5, 6], dtype=dtype) for _ in range(2))
    view = quick[:]
    assert write(quick, values) is quick
    assert quick._version == view._version == 1
    # float16 has no quick path, nor have strided tensors
    strided = wg.zeros(6, dtype=dtype)[::2].copy_(slow)
    assert write(strided, values).tolist() == quick.tolist() == view.tolist()
    if dtype.is_floating_point:
        leaf = slow.clone().requires_grad_()
        recorded = write(leaf * 1, values)
        assert recorded.tolist() == quick.tolist()
        assert recorded.requires_grad
        weight = values.clone().requires_grad_()
        if name != "masked_fill_":
            assert write(slow, weight).requires_grad


@pytest.mark.parametrize("name", ["index_add_", "scatter_", "scatter_add_", "put_"])
def test_writes_by_position_refuse_values_of_their_own_memory(name):
    x = wg.tensor([4.0, 5.0, 6.0])
    with pytest.raises(RuntimeError, match="single memory location"):
        BY_POSITION[name](x, x)
    assert x.tolist() == [4.0, 5.0, 6.0]
    same = wg.tensor([2, 0, 1])
    with pytest.raises(RuntimeError, match="single memory location"):
        same.scatter_(0, same, wg.tensor([7, 8, 9]))


def test_what_a_number_of_the_tensor_itself_is_written_by():
    x = wg.tensor([2.0, 3.0])
    with pytest.raises(RuntimeError, match="single memory location"):
        x.mul_(x[1])
    assert x.fill_(x[0]).tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="broadcast"):
        wg.tensor(1.0).mul_(x)


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


# -- views ----------------------------------------------------------------------------------------


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
