"""Test convolutions, transposed ones and `unfold`: values, implementations, errors."""

import itertools
import math

import numpy as np
import pytest

import wengert as wg
from wengert.kernels import bands, columns, convolution, fold

F = wg.nn.functional
RNG = np.random.default_rng(4)


def by_definition(x, w, stride, padding, dilation, groups):
    """Every sum of products, one element of a window after the other."""
    dims = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in padding]])
    size = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(x.shape[2:], w.shape[2:], stride, dilation, strict=True)
    ]
    result = np.zeros((len(x), len(w), *size), x.dtype)
    planes, each = w.shape[1], len(w) // groups
    for o in range(len(w)):
        own = x[:, o // each * planes : (o // each + 1) * planes]
        for tap in np.ndindex(w.shape[2:]):
            places = [
                slice(t * d, t * d + (n - 1) * s + 1, s)
                for t, d, n, s in zip(tap, dilation, size, stride, strict=True)
            ]
            factor = w[(o, slice(None), *tap)].reshape(1, planes, *(1,) * dims)
            result[:, o] += (own[(..., *places)] * factor).sum(1)
    return result


# input, weight, stride, padding, dilation, groups
GEOMETRIES = [
    ((2, 3, 9), (4, 3, 3), (1,), (1,), (1,), 1),
    ((3, 4, 10), (4, 2, 4), (3,), (2,), (2,), 2),
    ((2, 3, 7, 6), (4, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((3, 2, 7, 6), (2, 2, 2, 3), (1, 1), (0, 0), (1, 1), 1),
    ((2, 4, 8, 9), (4, 1, 3, 3), (1, 1), (1, 1), (1, 1), 4),
    ((2, 4, 8, 9), (8, 1, 3, 2), (1, 1), (0, 2), (2, 3), 4),
    ((1, 6, 9, 7), (4, 3, 3, 3), (2, 3), (1, 2), (1, 1), 2),
    ((2, 5, 4, 6), (3, 5, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((2, 5, 4, 6), (3, 5, 1, 1), (2, 2), (1, 1), (1, 1), 1),
    ((3, 2, 11, 12), (2, 1, 5, 6), (1, 1), (2, 3), (1, 1), 2),
    ((1, 2, 12, 17), (1, 2, 7, 5), (1, 1), (0, 4), (1, 2), 1),
    ((2, 2, 40, 40), (3, 2, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((1, 3, 7, 6), (2, 3, 2, 3), (1, 1), (0, 0), (1, 1), 1),
    ((2, 3, 20, 21), (3, 3, 3, 3), (1, 1), (0, 0), (1, 1), 1),
    ((2, 3, 20, 21), (9, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    ((2, 2, 4, 5, 3), (3, 2, 2, 3, 2), (1, 1, 1), (1, 1, 1), (1, 1, 1), 1),
    ((2, 2, 5, 4, 6), (2, 1, 2, 2, 3), (2, 1, 2), (0, 1, 1), (1, 2, 1), 2),
]


def arguments(x, w, stride, padding, dilation, groups, dtype=np.float64):
    params = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    arrays = [RNG.standard_normal(shape) for shape in (x, w)]
    if dtype == np.complex128:
        arrays = [a + 1j * RNG.standard_normal(a.shape) for a in arrays]
    return *arrays, params


def conv(x):
    return getattr(F, f"conv{x.ndim - 2}d")


@pytest.fixture(params=["usual", "small blocks", "rows", "turned", "spread", "one tap each"])
def way(request, monkeypatch):
    """The ways to compute a convolution, between which sizes decide."""
    if request.param == "small blocks":
        monkeypatch.setattr(columns, "_BLOCK", 500)
        monkeypatch.setattr(bands, "_BLOCK", 500)
    elif request.param == "rows":
        monkeypatch.setattr(columns, "_MANY", 0)
    elif request.param == "turned":
        monkeypatch.setattr(convolution, "_is_worth_turning", lambda *_: True)
    elif request.param in ("spread", "one tap each"):
        monkeypatch.setattr(convolution, "_is_worth_turning", lambda *_: False)
        monkeypatch.setattr(fold, "_SMALL", 0 if request.param == "one tap each" else 1 << 30)
    for cached in (columns.grid_of, columns.parts_of):
        cached.cache_clear()
    yield
    for cached in (columns.grid_of, columns.parts_of):
        cached.cache_clear()


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_every_way_to_compute_gives_the_sums_by_definition(geometry, way):
    for dtype in (np.float64, np.complex128):
        x, w, params = arguments(*geometry, dtype=dtype)
        expected = by_definition(x, w, **params)
        found = conv(x)(wg.from_numpy(x), wg.from_numpy(w), **params)
        np.testing.assert_allclose(found.numpy(), expected, 1e-12, 1e-12)
        # <g, conv(x, w)> is linear in x and w: its derivatives, paired with them, are itself
        g = RNG.standard_normal(expected.shape).astype(dtype)
        size = {"size": x.shape[2:]}
        by_input = convolution.correlate_input(g, w, **params, **size)
        by_weight = convolution.correlate_weight(x, g, **params, size=w.shape[2:])
        whole = (g * expected).sum()
        np.testing.assert_allclose((by_input * x).sum(), whole, 1e-11)
        np.testing.assert_allclose((by_weight * w).sum(), whole, 1e-11)
        assert by_input.shape == x.shape
        assert by_weight.shape == w.shape
        # and along single elements
        for array, slope in ((x, by_input), (w, by_weight)):
            index = tuple(RNG.integers(0, n) for n in array.shape)
            array[index] += 1
            moved = (g * by_definition(x, w, **params)).sum()
            array[index] -= 1
            np.testing.assert_allclose(slope[index], moved - whole, 1e-9, 1e-9)


def test_the_weight_is_not_reversed_and_the_bias_is_added_to_its_channel():
    x = wg.tensor([[[1.0, 2.0, 4.0, 8.0]]])
    w = wg.tensor([[[1.0, -1.0]], [[0.0, 1.0]]])
    assert F.conv1d(x, w).tolist() == [[[-1.0, -2.0, -4.0], [2.0, 4.0, 8.0]]]
    assert wg.conv1d(x, w, wg.tensor([10.0, 0.0])).tolist() == [[[9.0, 8.0, 6.0], [2.0, 4.0, 8.0]]]


def test_the_transpose_adds_a_weight_for_each_element():
    x, w = wg.tensor([[[1.0, 2.0]]]), wg.tensor([[[1.0, 10.0, 100.0]]])
    assert F.conv_transpose1d(x, w).tolist() == [[[1.0, 12.0, 120.0, 200.0]]]
    assert F.conv_transpose1d(x, w, stride=2, output_padding=1, padding=1).tolist() == [
        [[10.0, 102.0, 20.0, 200.0]]
    ]
    # an output padding as large as the stride, which the dilation allows
    wide = F.conv_transpose1d(x, w, wg.tensor([0.5]), dilation=2, output_padding=1)
    assert wide.tolist() == [[[1.5, 2.5, 10.5, 20.5, 100.5, 200.5, 0.5]]]


def test_same_padding_puts_the_odd_zero_at_the_end():
    x, w = wg.tensor([[1.0, 2.0, 3.0]]), wg.ones(1, 1, 4)
    assert F.conv1d(x, w, padding="same").tolist() == [[6.0, 6.0, 5.0]]
    assert F.conv1d(x, wg.ones(1, 1, 3), padding="same").tolist() == [[3.0, 6.0, 5.0]]
    assert F.conv1d(x, wg.ones(1, 1, 3), padding="valid").tolist() == [[6.0]]
    image = wg.rand(2, 3, 5, 6, dtype=wg.float64)
    weight = wg.rand(4, 3, 2, 4, dtype=wg.float64)
    whole = F.conv2d(image, weight, padding=(1, 2), dilation=(1, 1))
    np.testing.assert_allclose(
        F.conv2d(image, weight, padding="same").numpy(), whole.numpy()[..., 1:, 1:]
    )


def test_an_input_without_a_batch_gives_a_result_without_one():
    x, w = wg.rand(3, 5, 6, requires_grad=True), wg.rand(2, 3, 3, 3)
    single, batch = F.conv2d(x, w), F.conv2d(x[None], w)
    assert single.shape == (2, 3, 4)
    assert single.tolist() == batch[0].tolist()
    single.sum().backward()
    assert x.grad.shape == x.shape
    assert F.conv_transpose2d(wg.rand(2, 3, 3), w).shape == (3, 5, 5)


def test_the_result_has_channels_last_if_the_input_or_the_weight_has():
    x = wg.rand(2, 5, 6, 3).permute(0, 3, 1, 2)
    for w in (wg.rand(4, 3, 3, 3), wg.rand(4, 3, 1, 1)):
        y = F.conv2d(x, w, padding=1)
        assert y.is_contiguous(memory_format=wg.channels_last) and not y.is_contiguous()
        plain = F.conv2d(x.contiguous(), w, padding=1)
        assert plain.is_contiguous()
        np.testing.assert_allclose(y.numpy(), plain.numpy(), 1e-5)
    w = wg.rand(4, 3, 3, 3).contiguous(memory_format=wg.channels_last)
    assert F.conv2d(x.contiguous(), w).is_contiguous(memory_format=wg.channels_last)


def test_the_result_is_contiguous_where_the_input_lies_in_another_order():
    x = wg.rand(6, 3, 5, 2).permute(3, 1, 2, 0)
    w = wg.rand(4, 3, 3, 3)
    y = F.conv2d(x, w)
    assert y.is_contiguous()
    np.testing.assert_allclose(y.numpy(), F.conv2d(x.contiguous(), w).numpy(), 1e-5)


def test_no_batch_at_all_gives_no_results_and_zero_gradients():
    x = wg.zeros(0, 3, 5, 5, requires_grad=True)
    w = wg.ones(4, 3, 3, 3, requires_grad=True)
    y = F.conv2d(x, w, padding=1)
    assert y.shape == (0, 4, 5, 5)
    y.sum().backward()
    assert x.grad.shape == x.shape
    assert not w.grad.any()
    # no channels: sums of nothing
    assert (
        F.conv1d(wg.zeros(2, 0, 5), wg.zeros(3, 0, 2), wg.ones(3)).tolist() == [[[1.0] * 4] * 3] * 2
    )


def test_half_precision_is_summed_in_single_precision():
    # in half precision, 2048 + 1 is 2048
    x, w = wg.ones(1, 1, 3000, dtype=wg.float16), wg.ones(1, 1, 3000, dtype=wg.float16)
    y = F.conv1d(x.requires_grad_(), w)
    assert y.dtype is wg.float16
    assert y.item() == 3000
    y.sum().backward()
    assert x.grad.dtype is wg.float16


def test_integers_are_convolved_and_wrap():
    x, w = wg.tensor([[[1, 2, 3]]]), wg.tensor([[[2, -1]]])
    assert F.conv1d(x, w).tolist() == [[[0, 1]]]
    small = wg.tensor([[[200, 100]]], dtype=wg.uint8)
    assert F.conv1d(small, wg.ones(1, 1, 2, dtype=wg.uint8)).item() == 300 - 256


@pytest.mark.parametrize("shape", [(1, 2, 12, 12), (1, 2, 40, 40)])
@pytest.mark.parametrize("kernel", [3, 5])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_not_finite_stays_in_the_windows_that_it_is_in(shape, kernel, padding):
    # both where runs go from row to row, and where rows of results are computed together
    for bad, groups in itertools.product((math.inf, math.nan), (1, 2)):
        x = RNG.standard_normal(shape)
        x[0, 0, 5, shape[3] - 1] = bad
        w = RNG.standard_normal((2, 2 // groups, kernel, kernel))
        y = F.conv2d(wg.from_numpy(x), wg.from_numpy(w), padding=padding, groups=groups).numpy()
        touched = by_definition(
            (~np.isfinite(x)).astype(float), np.ones_like(w), (1, 1), (padding,) * 2, (1, 1), groups
        )
        np.testing.assert_array_equal(np.isfinite(y), touched == 0)


def test_single_precision_is_as_exact_as_its_sums_allow():
    x, w = RNG.standard_normal((2, 64, 9, 9)), RNG.standard_normal((8, 64, 3, 3))
    params = {"stride": (1, 1), "padding": (1, 1), "dilation": (1, 1), "groups": 1}
    exact = by_definition(x.astype(np.float32).astype(float), w.astype(np.float32), **params)
    y = F.conv2d(wg.tensor(x, dtype=wg.float32), wg.tensor(w, dtype=wg.float32), padding=1)
    np.testing.assert_allclose(y.numpy(), exact, 0, 1e-4)


def test_the_columns_take_bounded_memory():
    shape = (64, 32, 100, 100)
    for kernel, exact in (((3, 3), False), ((5, 5), True)):
        grid = columns.Grid(shape, kernel, 8, (100, 100), (1, 1), (1, 1), (1, 1), 1, 4, exact)
        assert grid.length * 4 <= columns._BLOCK
    # a single row of windows may be larger than that
    one = columns.Grid((1, 512, 9, 999), (3, 3), 8, (9, 999), (1, 1), (1, 1), (1, 1), 1, 8, True)
    assert one.length == 512 * 9 * 999


def test_the_node_is_pytorchs():
    x, w, b = wg.rand(1, 2, 5, requires_grad=True), wg.rand(3, 2, 2), wg.rand(3)
    for y in (F.conv1d(x, w), F.conv1d(x, w, b), F.conv_transpose1d(x, w.transpose(0, 1))):
        assert y.grad_fn.name() == "ConvolutionBackward0"
        assert len(y.grad_fn.next_functions) == 3
    node = F.conv1d(x, w, b, stride=2).grad_fn
    assert node._saved_stride == (2,)
    assert node._saved_transposed is False
    assert node._saved_weight.shape == w.shape


def test_conv_tbc_has_time_first():
    x, w, b = wg.rand(6, 2, 3), wg.rand(2, 3, 4), wg.rand(4)
    y = F.conv1d(x.permute(1, 2, 0), w.permute(2, 1, 0), b, padding=1).permute(2, 0, 1)
    assert wg.conv_tbc(x, w, b, 1).tolist() == y.tolist()
    with pytest.raises(RuntimeError, match="Input dim 2 \\(input channels\\) is not == dim 1"):
        wg.conv_tbc(x, wg.rand(2, 2, 4), b)
    with pytest.raises(RuntimeError, match="Bias size must equal dim 2 in the weight"):
        wg.conv_tbc(x, w, wg.rand(3))


IMAGE, WEIGHT = wg.rand(1, 3, 8, 8), wg.rand(4, 3, 3, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: F.conv2d(IMAGE, wg.rand(4, 2, 3, 3)),
            "Given groups=1, weight of size \\[4, 2, 3, 3\\], expected input\\[1, 3, 8, 8\\] to "
            "have 2 channels, but got 3 channels instead",
        ),
        (lambda: F.conv2d(IMAGE[0, 0], WEIGHT), "Expected 3D \\(unbatched\\) or 4D \\(batched\\)"),
        (
            lambda: F.conv2d(IMAGE, wg.rand(4, 3, 9, 9)),
            "Calculated padded input size per channel: \\(8 x 8\\). Kernel size: \\(9 x 9\\)",
        ),
        (
            lambda: F.conv2d(IMAGE, WEIGHT, wg.rand(5)),
            "Given weight of size \\[4, 3, 3, 3\\], expected bias to be 1-dimensional with 4",
        ),
        (lambda: F.conv2d(IMAGE, WEIGHT.double()), "expected scalar type Float but found Double"),
        (
            lambda: F.conv2d(IMAGE, WEIGHT, wg.rand(4).double()),
            "Input type \\(float\\) and bias type \\(double\\) should be the same",
        ),
        (lambda: F.conv2d(IMAGE, WEIGHT, stride=0), "non-positive stride is not supported"),
        (lambda: F.conv2d(IMAGE, WEIGHT, padding=-1), "negative padding is not supported"),
        (lambda: F.conv2d(IMAGE, WEIGHT, dilation=0), "dilation should be greater than zero"),
        (lambda: F.conv2d(IMAGE, WEIGHT, groups=0), "non-positive groups is not supported"),
        (lambda: F.conv2d(IMAGE, WEIGHT, groups=3), "Given groups=3, expected weight to be div"),
        (
            lambda: F.conv2d(IMAGE, WEIGHT, stride=(1, 1, 1)),
            "expected stride to be a single integer value or a list of 2 values",
        ),
        (lambda: F.conv2d(IMAGE, WEIGHT, padding="even"), "Invalid padding string: 'even'"),
        (
            lambda: F.conv2d(IMAGE, WEIGHT, stride=2, padding="same"),
            "padding='same' is not supported for strided convolutions",
        ),
        (
            lambda: F.conv_transpose2d(IMAGE, wg.rand(3, 2, 3, 3), output_padding=1),
            "output padding must be smaller than either stride or dilation",
        ),
        (
            lambda: F.conv_transpose2d(IMAGE, wg.rand(3, 2, 3, 3), padding=5),
            "Given input size per channel: \\(8 x 8\\). Calculated output size per channel: "
            "\\(0 x 0\\). Output size is too small",
        ),
        (lambda: F.unfold(IMAGE, 9), "Given input with spatial size \\(8, 8\\), kernel_size="),
        (lambda: F.unfold(IMAGE, (3,)), "It is expected kernel_size equals to 2, but got size 1"),
        (lambda: F.fold(wg.rand(26, 36), 8, 3), "Expected size of input's dimension 1 to be div"),
        (lambda: F.fold(wg.rand(27, 35), 8, 3), "Given output_size=\\(8, 8\\), kernel_size="),
    ],
)
def test_a_refusal_says_what_does_not_fit(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.conv2d([1.0], WEIGHT), "got input of type list, but expected Tensor"),
        (lambda: F.conv2d(IMAGE, WEIGHT, stride=1.5), "got stride of type float"),
        (lambda: F.conv2d(IMAGE, WEIGHT, groups=None), "got groups of type NoneType"),
        (lambda: F.conv2d(IMAGE, WEIGHT, stride=(1, 1.5)), "failed to unpack the object at pos 2"),
        (lambda: F.conv_transpose2d(IMAGE, WEIGHT, padding="same"), "must be tuple of ints"),
        (lambda: F.unfold(IMAGE, "a"), "must be tuple of ints"),
    ],
)
def test_arguments_of_another_type_are_named(call, message):
    with pytest.raises(TypeError, match=message):
        call()


# -- columns --------------------------------------------------------------------------------------


def test_fold_adds_up_what_unfold_took_apart():
    x = wg.rand(2, 3, 6, 7, dtype=wg.float64)
    for kernel, more in (
        ((2, 3), {}),
        ((2, 3), {"stride": (2, 3)}),
        ((3, 2), {"dilation": (1, 2), "padding": (1, 2), "stride": (2, 1)}),
    ):
        blocks = F.unfold(x, kernel, **more)
        times = F.fold(F.unfold(wg.ones_like(x), kernel, **more), (6, 7), kernel, **more)
        np.testing.assert_allclose(
            F.fold(blocks, (6, 7), kernel, **more).numpy(), (times * x).numpy()
        )
        assert F.unfold(x[0], kernel, **more).tolist() == blocks[0].tolist()


def test_unfold_and_a_product_are_a_convolution():
    x, w = wg.rand(2, 3, 6, 7), wg.rand(4, 3, 3, 2)
    product = w.reshape(4, -1) @ F.unfold(x, (3, 2), padding=1, stride=(1, 2))
    expected = F.conv2d(x, w, padding=1, stride=(1, 2))
    np.testing.assert_allclose(product.reshape(expected.shape).numpy(), expected.numpy(), 1e-5)


def test_the_columns_of_bools_are_bools_and_those_of_integers_refused():
    x = wg.tensor([[[True, False, True]]])
    assert F.unfold(x, (1, 2)).tolist() == [[True, False], [False, True]]
    for call in (
        lambda: F.unfold(x.long(), (1, 2)),
        lambda: F.fold(wg.ones(2, 2).long(), (1, 3), (1, 2)),
    ):
        with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
            call()


@pytest.mark.parametrize(
    ("shape", "kernel", "params"),
    [
        ((3, 4, 7, 6), (3, 3), {"padding": 1}),
        ((2, 3, 9, 8), (2, 3), {"stride": (2, 1), "dilation": (1, 2)}),
        ((2, 5, 4, 4), (1, 1), {}),
        ((1, 2, 5, 6, 4), (2, 3, 1), {"padding": (0, 2, 1), "stride": (1, 2, 1)}),
        ((40, 16, 20, 20), (3, 3), {"padding": 1}),  # more than a block
        ((0, 3, 5, 5), (3, 3), {}),
    ],
)
def test_images_whose_channels_are_last_give_the_same_and_stay_so(shape, kernel, params):
    rng = np.random.default_rng(5)
    function = {2: F.conv2d, 3: F.conv3d}[len(kernel)]
    last = {2: wg.channels_last, 3: wg.channels_last_3d}[len(kernel)]
    image = wg.from_numpy(rng.standard_normal(shape))
    weight = wg.from_numpy(rng.standard_normal((6, shape[1], *kernel)))
    bias = wg.from_numpy(rng.standard_normal(6))
    found = []
    for layout in (wg.contiguous_format, last):
        given = [image.contiguous(memory_format=layout), weight, bias]
        leaves = [value.detach().requires_grad_() for value in given]
        result = function(*leaves, **params)
        slope = wg.autograd.grad(result, leaves, (result * result).detach())
        assert result.is_contiguous(memory_format=layout)
        assert slope[0].is_contiguous(memory_format=layout)
        found.append((result, *slope))
    for plain, turned in zip(*found, strict=True):
        np.testing.assert_allclose(
            turned.detach().numpy(), plain.detach().numpy(), rtol=1e-9, atol=1e-9
        )
