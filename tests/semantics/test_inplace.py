"""Test in-place operations: values, versions, histories, gradients, and errors."""

import numpy as np
import pytest


def base(t):
    x = t.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=t.float64, requires_grad=True)
    return x, x * 1


# each writes to `b` and depends on it and on `w`, of shape (3,)
WRITES = {
    "add_": lambda t, b, w: b.add_(w),
    "add_ with alpha": lambda t, b, w: b.add_(w, alpha=3),
    "sub_": lambda t, b, w: b.sub_(w, alpha=0.5),
    "mul_": lambda t, b, w: b.mul_(w),
    "div_": lambda t, b, w: b.div_(w),
    "+=": lambda t, b, w: b.__iadd__(w),
    "*=": lambda t, b, w: b.__imul__(w),
    "pow_": lambda t, b, w: b.pow_(2),
    "exp_": lambda t, b, w: b.mul_(0.1).exp_(),
    "sigmoid_": lambda t, b, w: b.sigmoid_(),
    "clamp_": lambda t, b, w: b.clamp_(2.5, 5.5),
    "copy_": lambda t, b, w: b.copy_(w),
    "fill_": lambda t, b, w: b.fill_(w[0]),
    "zero_": lambda t, b, w: b.zero_(),
    "masked_fill_": lambda t, b, w: b.masked_fill_(b.detach() > 3.5, 7.0),
    "masked_fill_ with a tensor": lambda t, b, w: b.masked_fill_(b.detach() > 3.5, w[1]),
    "index_put_": lambda t, b, w: b.index_put_((t.tensor([1]),), w),
    "index_put_ accumulating": lambda t, b, w: b.index_put_(
        (t.tensor([0, 0]),), w, accumulate=True
    ),
    "b[i]": lambda t, b, w: b.__setitem__(1, w),
    "b[:, i]": lambda t, b, w: b.__setitem__((slice(None), 1), w[0]),
    "b[..., i:]": lambda t, b, w: b.__setitem__((..., slice(1, None)), w[1:]),
    "b[None]": lambda t, b, w: b.__setitem__(None, w),
    "b[::2]": lambda t, b, w: b.__setitem__(slice(None, None, 2), w),
    "b[-1]": lambda t, b, w: b.__setitem__(-1, w * 2),
    "b[mask]": lambda t, b, w: b.__setitem__(b.detach() > 4.5, w[2]),
    "b[mask] of rows": lambda t, b, w: b.__setitem__(t.tensor([False, True]), w),
    "b[indices]": lambda t, b, w: b.__setitem__(t.tensor([1, 0]), w),
    "b[rows, columns]": lambda t, b, w: b.__setitem__((t.tensor([0, 1]), t.tensor([2, 0])), w[:2]),
    "b[list]": lambda t, b, w: b.__setitem__(([0, 1], slice(1, 3)), w[1:]),
    "b[i] += ": lambda t, b, w: b.__setitem__(0, b[0] + w),
    "b[empty]": lambda t, b, w: b.__setitem__(slice(2, 2), w),
    "a number": lambda t, b, w: b.__setitem__((0, 0), 9.0),
}


def with_fresh_values(t, write):
    x = t.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=t.float64, requires_grad=True)
    w = t.tensor([0.5, 1.5, 2.0], dtype=t.float64, requires_grad=True)

    def f(x, w):
        b = x * 1
        write(t, b, w)
        return b

    return x, w, f


@pytest.mark.parametrize("name", WRITES)
def test_first_and_second_derivatives_through_a_write(t, name):
    x, w, f = with_fresh_values(t, WRITES[name])
    assert t.autograd.gradcheck(f, (x, w))
    assert t.autograd.gradgradcheck(f, (x, w))


@pytest.mark.parametrize("name", WRITES)
def test_a_write_raises_the_version_and_keeps_the_tensor(t, name):
    x, w, _ = with_fresh_values(t, WRITES[name])
    b = x * 1
    memory, before = b.data_ptr(), b._version
    WRITES[name](t, b, w)
    assert b.data_ptr() == memory and b._version > before
    assert b.requires_grad and not b._is_view()


@pytest.mark.parametrize("name", WRITES)
def test_a_write_is_noticed_by_what_saved_the_tensor(t, name):
    x, w, _ = with_fresh_values(t, WRITES[name])
    b = x * 1
    y = (b * b).sum()
    WRITES[name](t, b, w)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.backward()
    assert x.grad is None


@pytest.mark.parametrize("name", WRITES)
def test_a_leaf_refuses_writes_that_are_recorded(t, name):
    x, w, _ = with_fresh_values(t, WRITES[name])
    values = x.tolist()
    with pytest.raises(RuntimeError, match=r"a .*leaf Variable that requires grad is being used"):
        WRITES[name](t, x, w)
    if name != "exp_":
        assert x.tolist() == values and x._version == 0
    with t.no_grad():
        WRITES[name](t, x, w)
    assert x.is_leaf and x._version > 0


# -- histories -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("write", "node"),
    [
        (lambda t, b: b.add_(1), "AddBackward0"),
        (lambda t, b: b.mul_(2), "MulBackward0"),
        (lambda t, b: b.exp_(), "ExpBackward0"),
        (lambda t, b: b.zero_(), "ZeroBackward0"),
        (lambda t, b: b.fill_(2), "FillBackward2"),
        (lambda t, b: b.fill_(t.tensor(2.0)), "FillBackward3"),
        (lambda t, b: b.copy_(t.zeros(3)), "CopyBackwards"),
        (lambda t, b: b.masked_fill_(b.detach() > 1, 0), "MaskedFillBackward0"),
        (lambda t, b: b.__setitem__(slice(None), 2.0), "FillBackward3"),
        (lambda t, b: b.__setitem__(0, 2.0), "CopySlices"),
        (lambda t, b: b.__setitem__([0], 2.0), "IndexPutBackward0"),
    ],
)
def test_the_history_is_that_of_the_write(t, write, node):
    _, b = base(t)
    write(t, b)
    assert b.grad_fn.name().split("::")[-1] == node


def test_what_was_overwritten_gets_no_gradient(t):
    x, b = base(t)
    b[0] = 5.0
    b.sum().backward()
    assert x.grad.tolist() == [[0.0] * 3, [1.0] * 3]


def test_a_write_makes_what_needed_no_gradient_need_one(t):
    x, _ = base(t)
    buffer = t.zeros(2, 3, dtype=t.float64)
    for i in range(2):
        buffer[i] = x[i] * (i + 1)
    buffer.sum().backward()
    assert x.grad.tolist() == [[1.0] * 3, [2.0] * 3]


def test_a_loop_of_writes(t):
    x = t.tensor(2.0, dtype=t.float64, requires_grad=True)
    y = t.zeros(5, dtype=t.float64)
    y[0] = x
    for i in range(1, 5):
        # a clone, since the product saves what it multiplies
        y[i] = y[i - 1].clone() * x
    y.sum().backward()
    assert x.grad.item() == sum(i * 2.0 ** (i - 1) for i in range(1, 6))


def test_values_that_no_rule_needs_may_be_overwritten(t):
    x, b = base(t)
    y = b + 1
    b.zero_()
    y.sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2


def test_a_saved_result_may_not_be_overwritten(t):
    _, b = base(t)
    y = b.sigmoid()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.sum().backward()


# -- memory shared behind the graph's back ---------------------------------------------------------


def test_a_write_to_detached_memory_is_noticed(t):
    _, b = base(t)
    y = (b * b).sum()
    b.detach().mul_(2)
    assert b._version == 1
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.backward()


def test_a_write_to_data_is_not_noticed(t):
    x, b = base(t)
    y = (b * b).sum()
    b.data.mul_(2)
    assert b._version == 0 and b.data._version == 0
    y.backward()
    assert x.grad.tolist() == [[4.0, 8.0, 12.0], [16.0, 20.0, 24.0]]


def test_setting_data_keeps_the_history(t):
    _, b = base(t)
    node = b.grad_fn
    b.data = t.zeros(2, 3, dtype=t.float64)
    assert b.grad_fn is node and b.sum() == 0


def test_detaching_in_place(t):
    x, b = base(t)
    assert b.detach_() is b
    assert b.is_leaf and not b.requires_grad
    b.mul_(2)
    assert x.grad is None


def test_detaching_a_view_in_place_is_refused(t):
    _, b = base(t)
    with pytest.raises(RuntimeError, match=r"Can't detach views in-place\. Use detach"):
        b[0].detach_()


def test_memory_of_numpy_is_shared(t):
    array = np.zeros(3)
    b = t.from_numpy(array)
    b.add_(1)
    assert array.tolist() == [1.0] * 3 and b._version == 1
    x = t.tensor(2.0, dtype=t.float64, requires_grad=True)
    b[1] = x
    b.sum().backward()
    assert array[1] == 2.0 and x.grad.item() == 1.0


# -- out= ------------------------------------------------------------------------------------------


def test_out_takes_the_result_and_its_shape(t):
    out = t.empty(0, dtype=t.float64)
    a = t.ones(3, dtype=t.float64)
    assert t.add(a, a, out=out) is out and out.tolist() == [2.0] * 3
    memory = out.data_ptr()
    t.mul(a, 5, out=out)
    assert out.data_ptr() == memory and out.tolist() == [5.0] * 3


def test_out_of_another_shape_is_resized_with_a_warning(t):
    out = t.zeros(2)
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        t.add(t.ones(3), 1, out=out)
    assert out.tolist() == [2.0] * 3


def test_out_and_gradients_do_not_go_together(t):
    x, _ = base(t)
    with pytest.raises(RuntimeError, match=r"functions with out=... arguments don't support auto"):
        t.exp(x, out=t.empty(2, 3, dtype=t.float64))
    with pytest.raises(RuntimeError, match=r"functions with out=... arguments don't support auto"):
        t.exp(x.detach(), out=x)
    with t.no_grad():
        t.exp(x.detach(), out=x)
    assert x.is_leaf


def test_out_of_a_narrower_kind_is_refused(t):
    out = t.zeros(3, dtype=t.int64)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        t.add(t.ones(3), 1, out=out)
    assert out.tolist() == [0] * 3


# -- refused writes change nothing -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("write", "error", "words"),
    [
        (lambda t, b: b.add_(t.ones(4)), RuntimeError, "The size of tensor a"),
        (lambda t, b: b.add_(t.ones(2, 2, 3)), RuntimeError, "output with shape"),
        (lambda t, b: b.copy_(t.ones(4)), RuntimeError, "The size of tensor a"),
        (lambda t, b: b.__setitem__(0, t.ones(4)), RuntimeError, "The expanded size|The size of"),
        (
            lambda t, b: b.__setitem__(5, 1.0),
            IndexError,
            "index 5 is out of bounds for dimension 0",
        ),
        (lambda t, b: b.fill_(t.ones(2)), RuntimeError, "fill_ only supports 0-dimension value"),
        (lambda t, b: b.index_put_((t.tensor([7]),), t.ones(3)), IndexError, "index 7 is out of"),
        (
            lambda t, b: b.index_put_((t.tensor([0]),), t.ones(3, dtype=t.float16)),
            RuntimeError,
            "Index put requires the source and destination dtypes match",
        ),
        (
            lambda t, b: b.add_(1j),
            RuntimeError,
            "result type Complex.* can't|value cannot",
        ),
        (lambda t, b: b.clamp_(), RuntimeError, "torch.clamp: At least one of 'min' or 'max' must"),
    ],
)
def test_a_refused_write_changes_nothing(t, write, error, words):
    x = t.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    b = x * 1
    node, values = b.grad_fn, b.tolist()
    with pytest.raises(error, match=words):
        write(t, b)
    assert b.tolist() == values and b._version == 0 and b.grad_fn is node
    b.sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2


def test_integers_take_no_fractions(t):
    b = t.tensor([1, 2])
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        b.add_(0.5)
    b.div_(2, rounding_mode="floor")
    assert b.tolist() == [0, 1]


def test_booleans_and_complex_numbers(t):
    m = t.tensor([True, False])
    m[1] = True
    m.logical_not_()
    assert m.tolist() == [False, False]
    z = t.tensor([1 + 1j, 2], dtype=t.complex128, requires_grad=True)
    y = z * 1
    y[0] = y[1] * 1j
    (y * y.conj()).sum().real.backward()
    assert z.grad.tolist() == [0j, 8 + 0j]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    "write, factors",
    [
        (lambda t, y: y.real.mul_(2), (2, 1)),
        (lambda t, y: y.imag.mul_(2), (1, 2)),
        (lambda t, y: t.view_as_real(y).mul_(2), (2, 2)),
        (lambda t, y: t.view_as_real(y)[..., 1].mul_(3), (1, 3)),
        (lambda t, y: t.view_as_complex(t.view_as_real(y)).mul_(2), (2, 2)),
        (lambda t, y: y.t().real.zero_(), (0, 1)),
    ],
)
def test_writes_to_parts_of_complex_numbers(t, write, factors, create_graph):
    z = t.tensor([[1 + 2j, 3 - 1j]], dtype=t.complex128, requires_grad=True)
    y = z * 1
    write(t, y)
    (g,) = t.autograd.grad((y.real + 5 * y.imag).sum(), z, create_graph=create_graph)
    assert g.tolist() == [[factors[0] + 5j * factors[1]] * 2]


@pytest.mark.parametrize("create_graph", [False, True])
def test_writes_to_real_numbers_as_complex_ones(t, create_graph):
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=t.float64, requires_grad=True)
    y = x * 1
    t.view_as_complex(y)[0].mul_(2j)
    weights = t.tensor([[1.0, 10.0], [100.0, 1000.0]], dtype=t.float64)
    (g,) = t.autograd.grad((y * weights).sum(), x, create_graph=create_graph)
    assert g.tolist() == [[20.0, -2.0], [100.0, 1000.0]]


def test_parts_of_complex_numbers_are_assigned(t):
    z = t.tensor([1 + 2j, 3 - 1j], dtype=t.complex128)
    x = t.tensor([5.0, 7.0], dtype=t.float64, requires_grad=True)
    z.real = x * 2
    z.imag = t.tensor(4.0)
    assert z.tolist() == [10 + 4j, 14 + 4j]
    z.real.sum().backward()
    assert x.grad.tolist() == [2, 2]
    y = t.zeros(2)
    y.real = 3.0 * t.ones(2)
    assert y.tolist() == [3, 3]
    with pytest.raises(RuntimeError):
        y.imag = t.ones(2)
    with pytest.raises(RuntimeError):
        z.real = t.ones(3)


def test_writes_to_parts_of_real_numbers_seen_as_complex_ones(t):
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=t.float64, requires_grad=True)
    y = x * 1
    t.view_as_complex(y).imag.mul_(3)
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [[1.0, 3.0], [1.0, 3.0]]


def test_a_tensor_written_over_itself(t):
    _, b = base(t)
    b.copy_(b)
    b.add_(b.detach())
    assert b.tolist() == [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]


def test_partly_overlapping_memory_is_refused(t):
    b = t.arange(6.0)
    with pytest.raises(RuntimeError, match="unsupported operation: some elements of the input"):
        b[1:].add_(b[:-1])
    assert b.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


# -- parts of complex numbers ---------------------------------------------------------------------


def test_parts_of_complex_numbers_may_be_assigned(t):
    z = t.tensor([1 + 2j, 3 + 0j])
    z.imag = t.tensor([5.0, 6.0])
    assert z.tolist() == [1 + 5j, 3 + 6j]
    z.real = 7
    assert z.tolist() == [7 + 5j, 7 + 6j]
    x = t.tensor([1.0, 2.0])
    x.real = t.tensor([3.0, 4.0])
    assert x.tolist() == [3.0, 4.0]
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex"):
        x.imag = 1


def test_an_assigned_part_is_recorded(t):
    z = t.tensor([3 + 1j, 4 + 1j], requires_grad=True)
    part = t.tensor([4.0, 3.0], requires_grad=True)
    y = z * 1
    y.imag = part
    y.abs().sum().backward()
    assert part.grad.tolist() == pytest.approx([0.8, 0.6])
    assert z.grad.tolist() == pytest.approx([0.6, 0.8])
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        z.real = 0


def test_the_gradient_of_a_write_through_a_view_is_such_a_write(t):
    x = t.ones(1, 3, requires_grad=True)
    y = (x + 1).view_as(x)
    y = t.sigmoid(t.nn.functional.threshold(y, 0.0, 0.0, True))
    (g,) = t.autograd.grad(y, x, t.ones(1, 3), create_graph=True)
    assert g.grad_fn.name() == "torch::autograd::CopySlices"
    assert g.grad_fn.next_functions[1][0].name() == "ThresholdBackwardBackward0"
    (second,) = t.autograd.grad(g.sum(), x)
    s = t.sigmoid(t.tensor(2.0))
    assert second.tolist() == [pytest.approx([(s * (1 - s) * (1 - 2 * s)).item()] * 3)]


def test_the_derivative_of_threshold_is_none_at_it_and_passes_nan(t):
    x = t.tensor([0.5, 1.0, 2.0, float("nan"), float("inf")], requires_grad=True)
    for limit, want in ((1.0, [0, 0, 1, 1, 1]), (float("inf"), [0, 0, 0, 1, 0])):
        (g,) = t.autograd.grad(t.nn.functional.threshold(x, limit, 7.0).sum(), x)
        assert g.tolist() == want


@pytest.mark.parametrize("shape", [(), (1,)])
def test_what_is_written_by_data_is_what_was_saved(t, shape):
    x = t.full(shape, 0.5, dtype=t.float64, requires_grad=True)
    y = x.tanh()
    y.data.mul_(0.5)
    y.sum().backward()
    assert x.grad.item() == pytest.approx(1 - (0.5 * np.tanh(0.5)) ** 2)
