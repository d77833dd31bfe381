"""Test arguments of former signatures, of NumPy's kinds, and of unusual places in memory."""

import copy
import warnings

import numpy as np
import pytest


def called(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both warn, PyTorch once for all
        return function(*args, **kwargs).flatten().tolist()


@pytest.mark.parametrize(
    ("name", "first", "factors"),
    [
        ("addmm", (2, 2), "m m"),
        ("addmv", (2,), "m v"),
        ("addr", (2, 2), "v v"),
        ("baddbmm", (1, 2, 2), "b b"),
        ("addbmm", (2, 2), "b b"),
    ],
)
def test_factors_may_come_before_the_tensors(t, name, first, factors):
    values = {"m": t.tensor([[1.0, 2.0], [3.0, 4.0]]), "v": t.tensor([5.0, 7.0])}
    values["b"] = values["m"][None]
    x, (a, b) = t.ones(first), (values[kind] for kind in factors.split())
    function = getattr(t, name)
    both, one = called(function, x, a, b, beta=2, alpha=3), called(function, x, a, b, beta=2)
    assert called(function, 2, x, 3, a, b) == both != one
    assert called(function, 2, x, a, b) == one
    assert called(getattr(x, name), 2, 3, a, b) == both
    assert called(getattr(x.clone(), f"{name}_"), 2, a, b) == one
    with pytest.raises(TypeError):
        function(x, a, b, a)


def test_the_factor_of_a_sum_may_come_before_its_tensors(t):
    x, y = t.ones(2), t.tensor([2.0, 3.0])
    assert called(t.add, x, 2, y) == called(x.clone().add_, 2, y) == [5.0, 7.0]
    assert called(t.addcmul, x, 2, y, y) == called(x.clone().addcmul_, 2, y, y) == [9.0, 19.0]
    assert called(x.addcdiv, 2, y, y) == [3.0, 3.0]


def test_dimensions_are_numbers_of_numpy(t):
    x = t.arange(6.0).reshape(2, 3)
    for kind in (np.int8, np.uint8, np.int64):
        assert x.mean(kind(1)).tolist() == [1.0, 4.0]
        assert x.amax(kind(0)).tolist() == [3.0, 4.0, 5.0]
        assert x.all(kind(1)).tolist() == [False, True]
        assert t.linalg.vector_norm(x, 1, kind(1)).tolist() == [3.0, 12.0]
    assert x.mean(()).item() == x.mean([]).item() == 2.5


def test_numbers_of_numpy_are_converted_when_they_are_assigned(t):
    for index in (t.tensor([0, 2]), t.tensor([True, False, True]), slice(0, 3, 2), [0, 2]):
        x = t.tensor([1, 2, 3])
        x[index] = np.float64(7.5)
        assert x.tolist() == [7, 2, 7]


def test_strides_of_empty_views(t):
    x = t.ones(2, 3, 4, 5)
    assert x[:, :, :, 1][:, 1:1].stride() == (60, 20, 5)
    assert t.ones(2, 0, 4).stride() == (4, 4, 1)
    assert x[:, 3:].data_ptr() == t.empty(0).data_ptr() == 0


def test_the_order_of_dimensions_in_memory(t):
    x = t.ones(2, 3, 4, 5)
    assert x.transpose(0, 1).dim_order() == (1, 0, 2, 3)
    assert x.to(memory_format=t.channels_last).dim_order() == (0, 2, 3, 1)


def test_arrays_between_elements_are_refused(t):
    steps = np.ndarray((2,), np.float64, bytearray(32), strides=(3,))
    with pytest.raises(ValueError, match="not a multiple of the element byte size"):
        t.from_numpy(steps)


def test_functions_of_elements(t):
    with pytest.raises(TypeError, match="must be real number, not str"):
        t.ones(2).apply_(lambda x: "2")
    with pytest.raises(RuntimeError, match="expanded size of the tensor"):
        t.ones(2, 1).map_(t.ones(3), lambda x, y: x)


def test_a_negative_device_is_refused(t):
    with pytest.raises(RuntimeError, match="must not be negative"):
        t.device(-1)


def test_an_assertion_on_a_tensor(t):
    t._assert_async(t.tensor([2]))
    for wrong, match in ((t.tensor([0]), "single nonzero"), (t.tensor([]), "no values")):
        with pytest.raises(RuntimeError, match=match):
            t._assert_async(wrong)


def test_the_names_of_operations_are_copied(t):
    copied = copy.deepcopy({"op": t.ops.aten.mm})["op"]
    x = t.arange(4.0).view(2, 2)
    assert t.equal(copied(x, x), x @ x)


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
def test_segments(t, reduce):
    data = [[1.0, 2.0], [3.0, -4.0], [5.0, 0.5], [5.0, 7.0]]
    x = t.tensor(data, dtype=t.float64, requires_grad=True)
    y = t.segment_reduce(x, reduce, lengths=t.tensor([1, 3, 0]), initial=2)
    of = {"sum": np.sum, "mean": np.sum, "prod": np.prod, "max": np.max, "min": np.min}[reduce]
    expected = np.stack([of([[2.0, 2.0], *data[:1]], 0), of([[2.0, 2.0], *data[1:]], 0)])
    if reduce == "mean":
        expected[1] /= 3
    assert np.allclose(y.detach().numpy(), [*expected, [2, 2]])
    assert t.autograd.gradcheck(
        lambda x: t.segment_reduce(x, reduce, offsets=t.tensor([0, 3, 4]), initial=9.0),
        (x + t.tensor([0.0, 0.1], dtype=t.float64)).detach().requires_grad_(),
    )
    rows = t.segment_reduce(x, reduce, lengths=t.tensor([[2], [1], [0], [2]]), axis=1, unsafe=True)
    assert rows[0].tolist() == [of(data[0]) / (2 if reduce == "mean" else 1)]
    with pytest.raises(RuntimeError, match="to sum to data"):
        t.segment_reduce(x, reduce, lengths=t.tensor([1, 2]))
    with pytest.raises(NotImplementedError):
        t.segment_reduce(x.int(), reduce, lengths=t.tensor([1, 3]))


def test_nan_in_a_segment_gets_the_gradient_of_its_extreme(t):
    x = t.tensor([1.0, float("nan"), 3.0, -0.0], requires_grad=True)
    y = t.segment_reduce(x, "max", lengths=t.tensor([3, 1]))
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0, 1.0]
    assert np.isnan(y[0].item())
    assert np.signbit(y[1].item())


def test_nan_in_a_segment_gets_the_product_of_the_others(t):
    x = t.tensor([1.0, float("nan"), 2.0], requires_grad=True)
    t.segment_reduce(x, "prod", lengths=t.tensor([3])).backward()
    assert x.grad[1] == 2


def test_no_tensor_of_a_list_is_written_to_before_a_leaf_is_refused(t):
    plain, leaf = t.ones(1), t.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        t._foreach_mul_([plain, leaf], 2)
    assert plain == 1


def test_a_tensor_is_copied_into_itself_although_its_elements_share_memory(t):
    x = t.ones(1).expand(3)
    assert x.copy_(x) is x
    assert x._version == 1
    with t.inference_mode():
        y = t.ones(1)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        y.copy_(y)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        x.copy_(t.ones(3))


def test_the_mean_of_an_empty_segment(t):
    y = t.segment_reduce(t.ones(2), "mean", lengths=t.tensor([0, 2]))
    assert np.isnan(y[0].item())
    assert y[1].item() == 1


def test_arrays_are_converted_as_tensors_are(t):
    array = np.array([-8.3, 300.7, 2.5])
    for made in (t.tensor, t.as_tensor, t.asarray, t.ones(1).new_tensor):
        assert made(array, dtype=t.uint8).tolist() == [248, 44, 2]
        assert called(made, np.array([1 + 2j]), dtype=t.float32) == [1.0]
    with pytest.raises(RuntimeError, match="without overflow"):
        t.tensor([300], dtype=t.uint8)


def test_the_bytes_of_a_buffer_are_elements(t):
    numbers = np.arange(1.0, 4.0, dtype=np.float32)
    for buffer in (bytearray(numbers.tobytes()), memoryview(numbers.copy())):
        shared = t.asarray(buffer)
        assert shared.dtype == t.float32
        assert shared.tolist() == [1.0, 2.0, 3.0]
        shared[0] = 7
        assert t.asarray(buffer, dtype=t.int32)[0].item() == 0x40E00000
        assert t.asarray(buffer, copy=True).data_ptr() != shared.data_ptr()
        assert t.asarray(buffer, copy=False).data_ptr() == shared.data_ptr()
    assert t.asarray(t.utils.dlpack.to_dlpack(t.ones(2))).tolist() == [1.0, 1.0]


def test_tensors_of_what_exports_its_memory(t):
    class Wrapper:
        def __init__(self, tensor):
            self.__dlpack__, self.__dlpack_device__ = tensor.__dlpack__, tensor.__dlpack_device__

    for made in (t.tensor, t.as_tensor, t.asarray):
        assert made(Wrapper(t.arange(3))).tolist() == [0, 1, 2]


def test_tensors_of_storages(t):
    x = t.arange(1.0, 4.0)
    for made in (t.tensor, t.as_tensor, t.asarray):
        assert made(x.untyped_storage(), dtype=t.float32).tolist() == [1.0, 2.0, 3.0]
    assert t.tensor(x.untyped_storage()[:8]).dtype == t.int64
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        typed = x.storage()
        assert t.DoubleStorage(np.int16(3)).size() == 3
    assert t.tensor(typed).tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(RuntimeError, match="Expected a Storage of type Double"):
        t.tensor(typed, dtype=t.float64)


def test_the_classes_of_storages_by_element_type(t):
    names = t.storage._dtype_to_storage_type_map()
    assert names[t.float32] == "FloatStorage"
    assert names[t.bfloat16] == "BFloat16Storage"


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_drawn_numbers_are_of_the_dtype_of_out(t, name):
    for kind in (t.float64, t.complex64):
        t.manual_seed(3)
        expected = getattr(t, name)(5, dtype=kind)
        t.manual_seed(3)
        assert getattr(t, name)(5, out=t.empty(5, dtype=kind)).equal(expected)
    assert t.empty(9).exponential_(lambd=1e9).max().item() < 1e-6


def test_shifts_by_what_is_no_number_are_left_to_it(t):
    class Other:
        def __rlshift__(self, tensor):
            return "shifted"

    assert (t.tensor([1]) << Other()) == "shifted"
    for name in ("lshift", "rshift", "ilshift", "irshift", "rlshift", "rrshift"):
        assert getattr(t.tensor([1]), f"__{name}__")(object()) is NotImplemented


def test_an_empty_view_as_complex(t):
    assert t.view_as_complex(t.ones(4, 2)[:0]).shape == (0,)
    assert t.view_as_complex(t.ones(3, 0, 2)).dtype == t.complex64


def test_out_of_functions_with_parameters(t):
    x, where = t.tensor([[1.0, 5.0], [3.0, 2.0]]), t.tensor([1])
    for name, args in {
        "argmax": (0,),
        "argmin": (1, True),
        "softmax": (0,),
        "log_softmax": (1,),
        "square": (),
        "renorm": (2, 0, 1.0),
        "index_copy": (0, where, t.zeros(1, 2)),
    }.items():
        function = getattr(t, name)
        expected = function(x, *args)
        out = t.empty_like(expected)
        assert function(x, *args, out=out) is out
        assert out.equal(expected)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        t.argmax(x, 0, out=t.zeros(2))


def test_bounds_are_compared_as_the_dtype_holds_them(t):
    x = t.tensor([0.3, -0.3, 0.5], dtype=t.bfloat16, requires_grad=True)
    y = t.nn.functional.hardshrink(x, 0.3)
    y.sum().backward()
    assert y.tolist() == [0.0, 0.0, 0.5]
    assert x.grad.tolist() == [0.0, 0.0, 1.0]


def test_complex_infinities_are_added(t):
    inf = float("inf")
    x, y = t.tensor([inf, -inf, inf, -inf], dtype=t.complex128), t.tensor([inf, -inf, -inf, 3 + 2j])
    assert t.logaddexp(x, y.to(t.complex128)).tolist() == [inf, -inf, inf, 3 + 2j]


OUT = """
neg floor abs sign round frac bitwise_not | x | exact
sin sigmoid exp reciprocal sqrt | x | casts
max min add mul sub maximum hypot fmod pow eq logical_and | x x | casts
mm tril triu where heaviside | x x | exact
"""


@pytest.mark.parametrize("row", OUT.strip().splitlines(), ids=lambda row: row.split()[0])
def test_out_is_of_the_dtype_of_the_result_unless_the_operation_promotes(t, row):
    names, args, rule = (part.split() for part in row.split("|"))
    for name in names:
        x = t.ones(2, 2, dtype=t.int32 if name.startswith("bit") else t.float32)
        given = [x for _ in args]
        if name in ("tril", "triu"):
            given = [x]
        if name == "where":
            given = [x > 0, x, x]
        function = getattr(t, name)
        right = function(*given)
        assert function(*given, out=t.empty_like(right)).equal(right)
        wide = t.full((2, 2), 9.0, dtype=t.float64)
        if rule == ["casts"]:
            assert function(*given, out=wide).equal(right.double())
        else:
            with pytest.raises(RuntimeError):
                function(*given, out=wide)
            assert (wide == 9).all()


BYTES = [0, 1, 2]


def test_numbers_are_filled_in_as_the_dtype_holds_them(t):
    x, at = t.tensor(BYTES, dtype=t.uint8), t.tensor([0])
    assert x.index_fill(0, at, -1).tolist() == [255, 1, 2]
    assert x.char().index_fill(0, at, 2.7).tolist() == [2, 1, 2]
    with pytest.raises(RuntimeError, match="without overflow"):
        x.index_fill(0, at, 300)


def test_a_tensor_of_a_storage_shares_its_memory(t):
    for make in (t.zeros(0).new, t.FloatTensor):
        x = t.ones(3)
        with warnings.catch_warnings(action="ignore"):
            make(x.storage())[0] = 5.0
        assert x.tolist() == [5.0, 1.0, 1.0]


REFUSED = """
t.zeros(()).index_add(0, t.tensor([0]), t.ones(1)) | source tensor shape must match self
t.zeros(4).tensor_split(t.tensor(1.1)) | to have dtype of long, but got Float
t.zeros(4).tensor_split(t.tensor([1.1])) | to have dtype of long, but got Float
t.zeros(4).tensor_split(t.tensor([[1]])) | to be a zero-dimensional or one-dimensional
t.zeros(4).vsplit(2) | torch.vsplit requires a tensor with at least 2 dimension, but got a
t.histc(t.ones(3, dtype=t.int32), 4, 3, 1) | torch.histc: max must be larger than min
t.histc(t.ones(3), 4, 1, float("inf")) | torch.histc: range of .1, inf. is not finite
t.histogram(t.tensor(1.0), t.tensor(1.0, dtype=t.float64)) | should have the same dtype
t.zeros(0).resize_(2**62, 4) | overflow
t.empty(2, 4, 2**58, dtype=t.float64) | Storage size calculation overflowed with sizes=
t.empty(0, 4, 2**61) | Stride calculation overflowed
t.empty_strided((8, 8), (2**61, 1)) | Storage size calculation overflowed
t.zeros(0).resize_(0, 4, 2**61) | Stride calculation overflowed
t.zeros(0).resize_(2**61, 2) | Storage size calculation overflowed with sizes=
t.all(t.ones(3), 0, out=t.ones(())) | all only supports bool tensor for result, got: Float
t.any(t.ones(3), out=t.ones((), dtype=t.int64)) | any only supports bool tensor for result
t.promote_types(t.float8_e5m2, t.float32) | Promotion for Float8 Types is not supported
t.arange(4).__setitem__(t.arange(4) > 1, t.ones(3)) | shape mismatch: value tensor of shape .3.
t.baddbmm(t.ones(1, 2, 2, dtype=t.int32), t.ones(1, 2, 2), t.ones(1, 2, 2)) | Input dtypes must be
t.linalg.vector_norm(t.ones(2), 1j) | Expected a non-complex scalar
t.linalg.eig(t.eye(2), out=(t.ones(2), t.eye(2) * 1j)) | Expected eigenvalues to be safely castab
t.linalg.eigvals(t.eye(2), out=t.ones(2, dtype=t.int32)) | but got eigenvalues with dtype Int
t.linalg.matrix_norm(t.eye(2), 1j) | Expected a non-complex scalar
t.linalg.lstsq(t.ones(1, 1, 1), t.ones(3, 1)) | should match other.size.-2
t.linalg.lstsq(t.ones(2, 3, 2), t.ones(1, 3)) | should match other.size.-2
t.linalg.lstsq(t.eye(2), t.tensor(1.0)) | other must have at least 1 dimension
t.linalg.lu_solve(t.eye(2), t.tensor([1, 5], dtype=t.int32), t.eye(2)) | all be smaller or equal
t.linalg.lu_solve(t.eye(2), t.tensor([0, 1], dtype=t.int32), t.eye(2)) | all be greater or equal
t.tensor([True]) - 1 | Subtraction, the `-` operator, with a bool tensor
1.5 - t.tensor([True]) | Subtraction, the `-` operator, with a bool tensor
t.tensor([True]).sub_(True) | Subtraction, the `-` operator, with two bool tensors
t.tensor([True]) - t.tensor([False]) | Subtraction, the `-` operator, with two bool tensors
t.tensor([True]) - t.tensor([1]) | Subtraction, the `-` operator, with a bool tensor
t.randperm(257, out=t.empty(0, dtype=t.uint8)) | cannot be converted to type uint8_t
t.randperm(2**11 + 2, dtype=t.half) | n cannot be greater than 2049 for Half type
t.ones(3, 4) + t.ones(2, 5) | The size of tensor a .4. must match .* b .5. at non-singleton .* 1
"""


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_what_does_not_fit_is_refused(t, line):
    call, _, words = line.partition(" | ")
    with pytest.raises(RuntimeError, match=words):
        eval(call, {"t": t})


def test_images_with_channels_last_stay_so_joined(t):
    x = t.randn(2, 3, 4, 5).to(memory_format=t.channels_last)
    for dim in range(4):
        joined = t.cat([x, x], dim)
        assert joined.is_contiguous(memory_format=t.channels_last)
        assert joined.equal(t.cat([x.contiguous(), x.contiguous()], dim))
    assert t.cat([x, x.contiguous()]).is_contiguous()


def test_a_series_says_that_it_resizes_its_out(t):
    out = t.empty(1, 3)
    with pytest.warns(UserWarning, match="The out tensor will be resized to a tensor of shape"):
        t.arange(4, out=out)
    assert out.tolist() == [0, 1, 2, 3]


def test_a_tensor_in_place_of_several_is_named_by_its_class_alone(t):
    with pytest.raises(TypeError, match="must be tuple of Tensors, not Tensor"):
        t.hstack(t.ones(2))


def test_a_scalar_of_numpy_has_no_memory_to_share(t):
    with pytest.raises(RuntimeError, match="alias NumPy scalars"):
        t.asarray(np.float64(0.5), copy=False)


NO_NUMBERS = """
t.ones(2, 2).topk(1, True) | invalid combination|must be int
t.ones(2, 2).sum(True) | invalid combination|must be int
t.ones(2, 2).softmax(True) | must be int
t.ones(2).flatten("a") | must be int, not str
t.ones(2).movedim("a", 0) | invalid combination|must be int, not str
t.use_deterministic_algorithms(1) | argument 'mode' .*must be bool, not int
t.use_deterministic_algorithms(True, warn_only=1) | argument 'warn_only' must be bool, not int
"""


@pytest.mark.parametrize("line", NO_NUMBERS.strip().splitlines())
def test_what_is_of_another_kind_is_refused(t, line):
    call, _, words = line.partition(" | ")
    with pytest.raises(TypeError, match=words):
        eval(call, {"t": t})


def test_a_place_in_an_empty_dimension_is_refused(t):
    with pytest.raises(IndexError, match="index is out of bounds for dimension with size 0"):
        t.empty(3, 0)[:, [0, 1]]


def test_results_go_to_given_tensors_where_nothing_is_recorded(t):
    x, out = t.tensor([-1.0, 0.25], requires_grad=True), t.empty(2)
    with t.no_grad():
        assert t.conj_physical(x, out=out) is out and out.equal(x)
        for function in (t.nn.functional.gelu, t.nn.functional.hardshrink):
            assert function(x, out=out) is out and out.equal(function(x))


def test_a_dtype_that_is_only_named_is_promoted_with_itself(t):
    assert t.promote_types(t.complex32, t.complex32) is t.complex32


def test_warnings_alone_may_be_asked_for_without_deterministic_algorithms(t):
    t.use_deterministic_algorithms(False, warn_only=True)
    try:
        assert t.is_deterministic_algorithms_warn_only_enabled()
    finally:
        t.use_deterministic_algorithms(False)


LOSSES = {
    "binary_cross_entropy_with_logits": lambda t, x, y: (x, y),
    "cosine_embedding_loss": lambda t, x, y: (x, y, t.tensor([1.0, -1.0])),
    "ctc_loss": lambda t, x, y: (
        t.stack([x, y]).log_softmax(-1), t.tensor([[1], [1]]), t.tensor([2, 2]), t.tensor([1, 1])
    ),
    "hinge_embedding_loss": lambda t, x, y: (x, t.ones(2, 2)),
    "kl_div": lambda t, x, y: (x, y),
    "margin_ranking_loss": lambda t, x, y: (x, y, t.ones(2, 2)),
    "poisson_nll_loss": lambda t, x, y: (x, y, True, False, 1e-8),
    "triplet_margin_loss": lambda t, x, y: (x, y, x + 1),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_the_main_namespace_take_a_number_for_their_reduction(t, name):
    loss, known = getattr(t, name), getattr(t.nn.functional, name)
    args = LOSSES[name](t, t.tensor([[0.5, 2.0], [1.0, 0.3]]), t.tensor([[0.25, 1.0], [0.5, 3.0]]))
    given = {"eps": args[4]} if name == "poisson_nll_loss" else {}
    others = args[:4] if given else args
    for number, word in {0: "none", 1: "mean", 2: "sum", 7: "none"}.items():
        expected = known(*others, reduction=word, **given)
        if name == "ctc_loss" and word == "mean":
            expected = known(*others, reduction="none").mean()
        assert t.allclose(loss(*args, reduction=number), expected)
    if not given:
        assert t.equal(loss(*args), loss(*args, reduction=0))
    with pytest.raises(TypeError, match="int"):
        loss(*args, reduction="mean")


def test_pooling_of_the_main_namespace_returns_places(t):
    values, places = t.adaptive_max_pool1d(t.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    assert values.tolist() == [[3.0, 2.0]] and places.tolist() == [[1, 2]]


@pytest.mark.parametrize("eps", [0.2, 0.5, 0.6, 0.9])
def test_logit_of_any_bounds(t, eps):
    x = t.tensor([-1.0, 0.0, 0.3, 0.5, 0.7, 1.0, 2.0])
    kept = [eps if v < eps else 1 - eps if v > 1 - eps else v for v in x.tolist()]
    assert t.allclose(t.logit(x, eps), t.logit(t.tensor(kept)))


@pytest.mark.parametrize(("reduce", "start"), [("max", 2.0), ("min", 2.0)])
def test_a_segment_that_ties_with_its_start_has_the_gradient(t, reduce, start):
    x = t.tensor([2.0, 1.0, 3.0, 2.0, 2.0], requires_grad=True)
    segments = {"lengths": t.tensor([1, 2, 2]), "initial": start}
    name = "segment_reduce" if hasattr(t, "segment_reduce") else "_segment_reduce"
    y = getattr(t, name)(x, reduce, axis=0, unsafe=False, **segments)
    (g,) = t.autograd.grad(y.sum(), x)
    middle = [0.0, 1.0] if reduce == "max" else [1.0, 0.0]
    assert g.tolist() == [1.0, *middle, 0.5, 0.5]


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("name", sorted(LOSSES.keys() - {"ctc_loss"}))
def test_losses_are_in_full_inside_an_autocast(t, name):
    x, y = t.tensor([[0.5, 2.0], [1.0, 0.3]]).half(), t.tensor([[0.25, 1.0], [0.5, 3.0]]).half()
    loss, args = getattr(t, name), LOSSES[name](t, x, y)
    with t.autocast("cpu", dtype=t.float16):
        made = loss(*args, reduction=0)
    assert made.dtype == t.float32
    whole = [one.float() if t.is_tensor(one) else one for one in args]
    assert t.allclose(made, loss(*whole, reduction=0))


def test_alpha_is_a_bool_only_among_bools(t):
    x = t.ones(1)
    for compute in (t.add, t.sub, t.rsub, t.Tensor.add_, t.Tensor.sub_):
        with pytest.raises(RuntimeError, match="Boolean alpha only supported for Boolean results"):
            compute(x, x, alpha=True)
        with pytest.raises(RuntimeError, match="alpha must not be a floating point number"):
            compute(x.long(), x.long(), alpha=1.0)


def test_bools_are_not_multiplied_and_added(t):
    flags = t.ones(1, dtype=t.bool)
    with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
        t.addcmul(flags, flags, flags)
