"""Test strided views: values, writes through them, and their derivatives."""

import copy
import io
import pickle

import pytest

STRIDED = {
    "apart": lambda x: x.as_strided((2, 2), (3, 1)),
    "offset": lambda x: x.as_strided((2,), (2,), 1),
    "transposed": lambda x: x.as_strided((3, 2), (1, 3)),
    "overlapping": lambda x: x.as_strided((3, 3), (1, 1)),
    "repeated": lambda x: x.as_strided((2, 3), (0, 2)),
    "scalar": lambda x: x.as_strided((), (), 4),
    "empty": lambda x: x.as_strided((0, 2), (1, 1)),
    "of a view": lambda x: x[1].as_strided((2,), (2,)),
    "beside a view": lambda x: x[1].as_strided((4,), (1,), 0),
    "around a view": lambda x: x[:, 1].as_strided((2, 3), (3, 1), 0),
    "of columns": lambda x: x.t().as_strided((4,), (1,), 1),
    "of every second": lambda x: x.view(6)[::2].as_strided((2,), (3,), 1),
    "of windows": lambda x: x.view(6).unfold(0, 3, 1).as_strided((2, 2), (2, 1)),
    "of repeated rows": lambda x: x[:1].expand(4, 3).as_strided((3,), (1,)),
    "of itself": lambda x: x.as_strided((5,), (1,)).as_strided((2, 2), (1, 2), 1),
    "windows": lambda x: x.unfold(1, 2, 1),
    "windows apart": lambda x: x.unfold(1, 1, 2),
    "windows of windows": lambda x: x.view(6).unfold(0, 4, 1).unfold(1, 2, 1),
    "windows of nothing": lambda x: x.unfold(0, 0, 1),
    "windows of a scalar": lambda x: x[0, 0].unfold(0, 1, 1),
}
OUTSIDE = {"around a view", "beside a view", "of every second"}
"""What reaches beyond its source: there PyTorch loses the gradient."""
UNWRITABLE = {"repeated", "windows", "overlapping", "windows of windows", "windows of nothing"}
KINDS = sorted(STRIDED)


def base(t):
    x = t.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=t.float64, requires_grad=True)
    return x, x * 1


def weights(t, like):
    return t.arange(1.0, like.numel() + 1, dtype=t.float64).reshape(like.shape)


# -- what they show --------------------------------------------------------------------------------

SHOWN = {
    "apart": [[1.0, 2.0], [4.0, 5.0]],
    "offset": [2.0, 4.0],
    "transposed": [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]],
    "overlapping": [[1.0, 2.0, 3.0], [2.0, 3.0, 4.0], [3.0, 4.0, 5.0]],
    "repeated": [[1.0, 3.0, 5.0], [1.0, 3.0, 5.0]],
    "scalar": 5.0,
    "empty": [],
    "of a view": [4.0, 6.0],
    "beside a view": [1.0, 2.0, 3.0, 4.0],
    "around a view": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
    "of columns": [2.0, 3.0, 4.0, 5.0],
    "of every second": [2.0, 5.0],
    "of windows": [[1.0, 2.0], [3.0, 4.0]],
    "of repeated rows": [1.0, 2.0, 3.0],
    "of itself": [[2.0, 4.0], [3.0, 5.0]],
    "windows": [[[1.0, 2.0], [2.0, 3.0]], [[4.0, 5.0], [5.0, 6.0]]],
    "windows apart": [[[1.0], [3.0]], [[4.0], [6.0]]],
    "windows of nothing": [[[], [], []], [[], [], []], [[], [], []]],
    "windows of a scalar": [1.0],
}


@pytest.mark.parametrize("kind", sorted(SHOWN))
def test_the_elements_that_are_shown(t, kind):
    _, b = base(t)
    assert STRIDED[kind](b).tolist() == SHOWN[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_view_by_strides_knows_its_base(t, kind):
    _, b = base(t)
    v = STRIDED[kind](b)
    assert v._is_view() and v._base is b and v.requires_grad
    name = "UnfoldBackward0" if kind.startswith("windows") else "AsStridedBackward0"
    assert v.grad_fn.name() == name


@pytest.mark.parametrize("kind", KINDS)
def test_memory_and_version_are_shared(t, kind):
    b = t.zeros(2, 3, dtype=t.float64)
    v = STRIDED[kind](b)
    b.add_(1)
    assert (v == 1).all() and v._version == b._version == 1


def test_strides_and_offset_are_those_asked_for(t):
    x = t.arange(10.0)
    v = x.as_strided((2, 3), (4, 2), 1)
    assert v.stride() == (4, 2) and v.storage_offset() == 1 and v.shape == (2, 3)
    assert x[3:].storage_offset() == 3 and x[3:].as_strided((1,), (1,)).storage_offset() == 3
    assert x[3:].as_strided((1,), (1,), 0).tolist() == [0.0]


DETACHED = {
    "detach": lambda t, x: x[1].detach(),
    "data": lambda t, x: x[1].data,
    "bytes": lambda t, x: x[1].view(t.int32).view(t.float32),
    "of a detached one": lambda t, x: x[1:].detach()[0],
    "twice": lambda t, x: x[1].detach().detach().data,
    "parameter": lambda t, x: t.nn.Parameter(x[1], requires_grad=False),
    "set": lambda t, x: t.empty(0).set_(x.untyped_storage(), 5, (5,), (1,)),
    "set as a tensor": lambda t, x: t.empty(0).set_(x[1]),
    "set in a tensor": lambda t, x: t.empty(0).set_(x[0], 5, (5,), (1,)),
}


@pytest.mark.parametrize("kind", DETACHED)
def test_a_detached_view_begins_where_the_view_does(t, kind):
    x = t.arange(20.0).view(4, 5)
    v = DETACHED[kind](t, x)
    assert v.storage_offset() == 5 and v[2:].storage_offset() == 7
    assert v.as_strided((2,), (1,)).tolist() == [5.0, 6.0]
    assert v.as_strided((2,), (1,), 0).tolist() == [0.0, 1.0]
    assert v[2:].as_strided((2,), (12,), 1).tolist() == [1.0, 13.0]
    with pytest.raises(RuntimeError, match=r"out of bounds|setStorage"):
        v.as_strided((2,), (1,), 19)
    v.as_strided((1,), (1,), 3).fill_(-1.0)
    assert x[0, 3] == -1


def saved(t, tensors):
    file = io.BytesIO()
    t.save(tensors, file)
    file.seek(0)
    return t.load(file)


COPIED = {
    "deep copy": lambda t, tensors: copy.deepcopy(tensors),
    "pickle": lambda t, tensors: pickle.loads(pickle.dumps(tensors)),
    "file": saved,
}


@pytest.mark.parametrize("kind", COPIED)
def test_a_copy_of_a_view_begins_where_the_view_does(t, kind):
    x = t.arange(20.0).view(4, 5)
    _, v = COPIED[kind](t, (x, x[1]))
    assert v.storage_offset() == 5 and v[2:].storage_offset() == 7
    assert v.as_strided((2,), (1,), 0).tolist() == [0.0, 1.0]
    assert v.as_strided((2,), (1,)).tolist() == [5.0, 6.0]


def test_a_detached_view_of_another_type_begins_at_its_own_elements(t):
    x = t.arange(20.0, dtype=t.float64).view(4, 5)
    v = x[1].view(t.int32)
    assert v.storage_offset() == 10
    assert v.as_strided((2,), (1,), 2).view(t.float64).tolist() == [1.0]
    assert t.from_numpy(x.numpy()[1:])[1].detach().storage_offset() == 5


def test_offsets_of_a_leaf_that_is_a_detached_view(t):
    d = t.arange(20.0).view(4, 5)[1].detach().requires_grad_()
    (g,) = t.autograd.grad(d.as_strided((2,), (2,), 6).sum(), d)
    assert g.tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]


def test_the_function_and_the_method_agree(t):
    x = t.arange(6.0)
    assert t.as_strided(x, (2,), (2,), 1).equal(x.as_strided((2,), (2,), 1))
    assert t.as_strided(x, size=[2], stride=[2], storage_offset=1).tolist() == [1.0, 3.0]


# -- derivatives -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(set(KINDS) - OUTSIDE - {"empty"}))
def test_first_and_second_derivatives(t, kind):
    x, b = base(t)
    v = STRIDED[kind](b)
    w = weights(t, v)
    (g,) = t.autograd.grad((v**3 * w).sum(), x, create_graph=True)
    (h,) = t.autograd.grad((g * weights(t, g)).sum(), x)
    shown = STRIDED[kind](t.arange(6).reshape(2, 3).clone()).reshape(-1).tolist()
    times = [0.0] * 6
    for place, weight in zip(shown, w.reshape(-1).tolist(), strict=True):
        times[place] += weight
    values = x.detach().reshape(-1).tolist()
    assert g.reshape(-1).tolist() == [3 * v**2 * n for v, n in zip(values, times, strict=True)]
    expected = [6 * v * n * (i + 1) for i, (v, n) in enumerate(zip(values, times, strict=True))]
    assert h.reshape(-1).tolist() == expected


def test_nothing_by_strides(t):
    x, b = base(t)
    (g,) = t.autograd.grad((STRIDED["empty"](b) ** 3).sum(), x)
    assert g.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


def test_a_leaf_by_strides(t):
    x = t.arange(6.0, requires_grad=True)
    x.as_strided((2, 2), (1, 1), 1).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 2.0, 1.0, 0.0, 0.0]


def test_the_gradient_of_memory_that_the_input_shows_several_times(t):
    # elements that are one place of memory share what arrives there equally
    x = t.arange(3.0, requires_grad=True)
    e = x.expand(2, 3)
    (g,) = t.autograd.grad(e.as_strided((2,), (1,), 1).sum(), e)
    assert g.tolist() == [[0.0, 0.5, 0.5], [0.0, 0.5, 0.5]]


def test_gradients_reach_memory_in_another_order(t):
    x = t.arange(6.0, requires_grad=True)
    b = (x * 1).view(2, 3).t().clone(memory_format=t.preserve_format)
    v = b.as_strided((4,), (1,), 1)
    (v * t.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 0.0]


def test_complex_numbers_by_strides(t):
    x = t.tensor([1 + 2j, 3 - 1j, 2j], requires_grad=True)
    v = (x * 1j).as_strided((2, 2), (1, 1))
    (v * v.conj()).real.sum().backward()
    assert x.grad.tolist() == [2 + 4j, 12 - 4j, 4j]


# -- writes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(set(KINDS) - UNWRITABLE))
def test_a_write_through_strides_is_in_the_history_of_the_base(t, kind):
    x, b = base(t)
    v = STRIDED[kind](b)
    shown = STRIDED[kind](t.arange(6).reshape(2, 3).clone()).reshape(-1).tolist()
    v.mul_(3)
    assert b._version == v._version == 1
    assert b.grad_fn.name().endswith("CopySlices")
    assert v.grad_fn.name() == "AsStridedBackward0"
    w = weights(t, b)
    (g,) = t.autograd.grad((b**2 * w).sum(), x, create_graph=True)
    factor = [9.0 if i in shown else 1.0 for i in range(6)]
    values = x.detach().reshape(-1).tolist()
    expected = [2 * v * f * (i + 1) for i, (v, f) in enumerate(zip(values, factor, strict=True))]
    assert g.reshape(-1).tolist() == expected
    (h,) = t.autograd.grad(g.sum(), x)
    assert h.reshape(-1).tolist() == [2 * f * (i + 1) for i, f in enumerate(factor)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_view_by_strides_follows_a_write_to_its_base(t, kind):
    x, b = base(t)
    v = STRIDED[kind](b)
    b.mul_(2)
    w = weights(t, v)
    assert v.grad_fn.name() == "AsStridedBackward0"
    (g,) = t.autograd.grad((v**2 * w).sum(), x)
    shown = STRIDED[kind](t.arange(6).reshape(2, 3).clone()).reshape(-1).tolist()
    times = [0.0] * 6
    for place, weight in zip(shown, w.reshape(-1).tolist(), strict=True):
        times[place] += weight
    values = x.detach().reshape(-1).tolist()
    assert g.reshape(-1).tolist() == [8 * v * n for v, n in zip(values, times, strict=True)]


def test_a_write_beside_a_view_reaches_its_siblings(t):
    x, b = base(t)
    row, other = b[0], b[1]
    other.as_strided((3,), (1,), 0).mul_(10)
    assert row.tolist() == [10.0, 20.0, 30.0]
    (g,) = t.autograd.grad(row.sum(), x)
    assert g.tolist() == [[10.0, 10.0, 10.0], [0.0, 0.0, 0.0]]


def test_a_write_between_two_views_by_strides(t):
    x, b = base(t)
    first, second = b.as_strided((3,), (2,)), b.as_strided((3,), (1,), 2)
    first.mul_(2)
    second.mul_(3)
    assert b.tolist() == [[2.0, 2.0, 18.0], [12.0, 30.0, 6.0]]
    (g,) = t.autograd.grad(first.sum() + second.sum(), x)
    assert g.tolist() == [[2.0, 0.0, 12.0], [3.0, 12.0, 0.0]]


def test_a_view_of_a_leaf_by_strides_refuses_recorded_writes(t):
    x = t.zeros(4, requires_grad=True)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x.as_strided((2,), (1,)).add_(1)
    with t.no_grad():
        x.as_strided((2,), (2,)).add_(1)
    assert x.tolist() == [1.0, 0.0, 1.0, 0.0]


def test_repeated_elements_refuse_writes(t):
    x = t.zeros(4)
    with pytest.raises(RuntimeError, match="unsupported operation: more than one element"):
        x.as_strided((2, 2), (0, 1)).add_(1)
    assert x._version == 0


def test_setting_strides_in_place(t):
    x = t.arange(6.0, requires_grad=True)
    b = x * 1
    assert b.as_strided_((2, 2), (3, 1), 1) is b
    assert b.tolist() == [[1.0, 2.0], [4.0, 5.0]]
    assert b.grad_fn.name().startswith("AsStridedBackward")
    (g,) = t.autograd.grad((b**2).sum(), x)
    assert g.tolist() == [0.0, 2.0, 4.0, 0.0, 8.0, 10.0]


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "error", "words"),
    [
        (((7,), (1,)), RuntimeError, r"setStorage: sizes \[7\]"),
        (((2,), (6,)), RuntimeError, r"setStorage: sizes \[2\]"),
        (((2,), (1,), 5), RuntimeError, r"setStorage: sizes \[2\]"),
        (((2, 2), (1,)), RuntimeError, "mismatch in length of strides and shape"),
        (((2,), (-1,)), RuntimeError, "as_strided: Negative strides are not supported"),
        (((2,), (1,), -1), RuntimeError, "Tensor: invalid storage offset -1"),
        ((2, (1,)), TypeError, r"as_strided\(\): argument 'size'"),
    ],
)
def test_geometries_that_are_refused(t, args, error, words):
    with pytest.raises(error, match=words):
        t.arange(6.0).as_strided(*args)


@pytest.mark.parametrize(
    ("args", "error", "words"),
    [
        ((2, 1, 1), IndexError, "Dimension out of range"),
        ((0, 3, 1), RuntimeError, "maximum size for tensor at dimension 0 is 2 but size is 3"),
        ((0, -1, 1), RuntimeError, "size is -1 but must be >= 0"),
        ((0, 1, 0), RuntimeError, "step is 0 but must be > 0"),
    ],
)
def test_windows_that_are_refused(t, args, error, words):
    with pytest.raises(error, match=words):
        t.zeros(2, 3).unfold(*args)


# -- other element types ---------------------------------------------------------------------------


def test_bits_as_another_type_of_the_same_size(t):
    x = t.tensor([1.0, -2.0])
    v = x.view(t.int32)
    assert v.tolist() == [1065353216, -1073741824] and v.dtype == t.int32
    v.zero_()
    assert x.tolist() == [0.0, 0.0] and x._version == v._version == 1


def test_bits_as_narrower_and_wider_types(t):
    x = t.tensor([[1, 2], [3, 4]], dtype=t.int32)
    assert x.view(t.int16).tolist() == [[1, 0, 2, 0], [3, 0, 4, 0]]
    assert x.view(t.int64).tolist() == [[8589934593], [17179869187]]
    assert x.view(t.int32).tolist() == x.tolist()


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda t: t.zeros(3), "float64", r"self.size\(-1\) must be divisible by 2 to view"),
        (lambda t: t.tensor(1.0), "float64", r"self.dim\(\) cannot be 0 to view"),
        (lambda t: t.zeros(2, 3).t(), "int16", r"self.stride\(-1\) must be 1 to view"),
        (lambda t: t.zeros(2, 3)[:, :2], "int64", r"self.stride\(0\) must be divisible by 2"),
    ],
)
def test_views_as_other_types_that_are_refused(t, make, kind, words):
    with pytest.raises(RuntimeError, match=words):
        make(t).view(getattr(t, kind))


def test_integers_of_the_bits_have_no_gradient(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    bits = x.view(t.int32)
    assert (bits.tolist(), bits.requires_grad) == ([0x3F800000, 0x40000000], False)


def test_complex_numbers_as_pairs_and_back(t):
    x = t.tensor([1 + 2j, 3 - 1j], dtype=t.complex128, requires_grad=True)
    b = x * 1
    pairs = t.view_as_real(b)
    assert pairs.tolist() == [[1.0, 2.0], [3.0, -1.0]] and pairs._base is b
    assert pairs.grad_fn.name() == "ViewAsRealBackward0"
    again = t.view_as_complex(pairs)
    assert again.grad_fn.name() == "ViewAsComplexBackward0" and again._base is b
    (g,) = t.autograd.grad((again * again.conj()).real.sum(), x, create_graph=True)
    assert g.tolist() == [2 + 4j, 6 - 2j]
    (h,) = t.autograd.grad((g * g.conj()).real.sum(), x)
    assert h.tolist() == [8 + 16j, 24 - 8j]


def test_a_write_through_pairs_reaches_the_complex_numbers(t):
    x = t.tensor([1 + 2j, 3 - 1j], dtype=t.complex128, requires_grad=True)
    b = x * 1
    t.view_as_real(b)[:, 0].mul_(10)
    assert b.tolist() == [10 + 2j, 30 - 1j]
    (g,) = t.autograd.grad((b * b.conj()).real.sum(), x)
    assert g.tolist() == [200 + 4j, 600 - 2j]


@pytest.mark.parametrize(
    ("name", "make", "words"),
    [
        ("view_as_real", lambda t: t.zeros(2), "view_as_real is only supported for complex"),
        ("view_as_complex", lambda t: t.zeros(3), "Tensor must have a last dimension of size 2"),
        ("view_as_complex", lambda t: t.tensor(1.0), "Input tensor must have one or more"),
        ("view_as_complex", lambda t: t.zeros(2, 3).t()[:, :2], "Tensor must have a last dim"),
        (
            "view_as_complex",
            lambda t: t.zeros(2, dtype=t.int64),
            "view_as_complex is only supported for half, float and double",
        ),
    ],
)
def test_pairs_that_are_refused(t, name, make, words):
    with pytest.raises(RuntimeError, match=words):
        getattr(t, name)(make(t))


def test_strides_beyond_a_part_of_real_numbers_seen_as_complex_ones(t):
    y = t.view_as_complex(t.arange(8.0, dtype=t.float64).view(4, 2))
    for part in (y[1:], y[2]):
        found = part.as_strided((3,), (1,), 0)
        assert found.dtype == t.complex128
        assert found.tolist() == [1j, 2 + 3j, 4 + 5j]
    found[1:].zero_()
    assert y.tolist() == [1j, 0, 0, 6 + 7j]
