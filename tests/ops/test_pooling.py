"""Test pooling against windows searched one by one: edges, ties, NaNs, dtypes, errors."""

import itertools
import math

import numpy as np
import pytest

import wengert as wg
from wengert.ops import adaptive_pooling, pooling, unpooling

RNG = np.random.default_rng(5)


def by_windows(x, kernel, stride, padding, dilation, ceil, reduce):
    """A pooling of one plane, window by window."""
    counts = []
    for n, k, s, p, d in zip(x.shape, kernel, stride, padding, dilation, strict=True):
        room = n + 2 * p - d * (k - 1) - 1
        count = (math.ceil(room / s) if ceil else room // s) + 1
        counts.append(count - (ceil and (count - 1) * s >= n + p))
    result = np.empty(counts)
    for window in np.ndindex(*counts):
        inside = [
            [at for at in (w * s - p + j * d for j in range(k)) if 0 <= at < n]
            for w, n, k, s, p, d in zip(
                window, x.shape, kernel, stride, padding, dilation, strict=True
            )
        ]
        result[window] = reduce([x[at] for at in itertools.product(*inside)])
    return result


CASES = [
    ((7,), (2,), (2,), (0,), (1,), False),
    ((7,), (3,), (2,), (1,), (1,), True),
    ((9,), (2,), (1,), (1,), (3,), False),
    ((5, 6), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((5, 6), (3, 2), (2, 1), (1, 1), (1, 2), True),
    ((40, 31), (5, 40 - 9), (3, 1), (2, 0), (1, 1), False),
    ((4, 5, 3), (2, 3, 2), (1, 2, 2), (1, 1, 0), (1, 1, 1), True),
]


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_max_pooling_is_the_maximum_of_each_window(case, many):
    shape, kernel, stride, padding, dilation, ceil = case
    # many planes take other ways through the kernels than few
    x = RNG.standard_normal((500 if many else 1, 1, *shape))
    function = getattr(pooling, f"max_pool{len(shape)}d")
    arguments = (kernel, stride, padding, dilation, ceil)
    values, places = function(wg.from_numpy(x), *arguments, return_indices=True)
    plain = function(wg.from_numpy(x), *arguments)
    for plane in (0, -1):
        expected = by_windows(x[plane, 0], kernel, stride, padding, dilation, ceil, max)
        np.testing.assert_array_equal(values.numpy()[plane, 0], expected)
        np.testing.assert_array_equal(plain.numpy()[plane, 0], expected)
        found = x[plane, 0].reshape(-1)[places.numpy()[plane, 0]]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("case", [c for c in CASES if set(c[4]) == {1}], ids=str)
def test_mean_pooling_without_padding_counts_only_what_is_there(case):
    shape, kernel, stride, padding, dilation, ceil = case
    x = RNG.standard_normal((2, 3, *shape))
    function = getattr(pooling, f"avg_pool{len(shape)}d")
    result = function(
        wg.from_numpy(x), kernel, stride, padding, ceil, count_include_pad=False
    ).numpy()
    expected = by_windows(x[1, 2], kernel, stride, padding, dilation, ceil, np.mean)
    np.testing.assert_allclose(result[1, 2], expected, 1e-12)


def test_the_gradient_of_equal_elements_goes_to_the_first():
    for planes in (1, 3000):
        x = wg.zeros(planes, 1, 4, 4, requires_grad=True)
        pooling.max_pool2d(x, 2).sum().backward()
        first = np.zeros((4, 4))
        first[::2, ::2] = 1
        np.testing.assert_array_equal(x.grad.numpy()[-1, 0], first)


def test_a_nan_is_the_largest_element_and_the_last_of_them_counts():
    for planes in (1, 4000):
        x = np.zeros((planes, 1, 3, 3))
        x[:, :, 0, 1] = x[:, :, 1, 0] = np.nan
        values, places = pooling.max_pool2d_with_indices(wg.from_numpy(x), 2, 1)
        assert np.isnan(values.numpy()[-1, 0]).tolist() == [[True, True], [True, False]]
        assert places.numpy()[-1, 0, 0].tolist() == [3, 1]


def test_where_all_is_minus_infinity_the_place_is_the_first_of_the_window():
    x = wg.full((1, 1, 3, 3), -math.inf)
    _, places = pooling.max_pool2d_with_indices(x, 2, 2, 1)
    assert places.flatten().tolist() == [0, 1, 3, 4]


def test_an_infinite_gradient_stays_where_it_belongs():
    x = wg.tensor([[[1.0, 2.0, 3.0, 0.0]]], requires_grad=True)
    pooling.max_pool1d(x, 2).backward(wg.tensor([[[math.inf, 1.0]]]))
    assert x.grad.flatten().tolist() == [0.0, math.inf, 1.0, 0.0]


def test_a_mean_with_an_infinity_leaves_the_other_windows_alone():
    for planes in (1, 4000):
        x = wg.ones(planes, 1, 1, 4)
        x[:, 0, 0, 0] = math.inf
        assert pooling.avg_pool2d(x, (1, 2))[-1].flatten().tolist() == [math.inf, 1.0]
        sizes = adaptive_pooling.adaptive_avg_pool2d(x, (1, 3))
        assert sizes[-1].flatten().tolist() == [math.inf, 1.0, 1.0]


def test_means_of_int64_are_rounded_towards_zero():
    x = wg.tensor([[[-3, 0, 3, 4]]])
    result = pooling.avg_pool1d(x, 2)
    assert (result.dtype, result.flatten().tolist()) == (wg.int64, [-1, 3])


def test_max_pooling_keeps_the_dtype():
    for dtype in (wg.uint8, wg.int32, wg.int64, wg.float16, wg.float32):
        x = wg.tensor([[[3, 1], [2, 4]]], dtype=dtype)
        assert pooling.max_pool2d(x, 2).dtype == dtype
        padded = pooling.max_pool2d(x, 2, 2, 1)
        assert padded.flatten().tolist() == [3, 1, 2, 4]


def test_float16_means_are_summed_in_float32():
    x = wg.full((1, 1, 4096), 0.1, dtype=wg.float16)
    for pooled in (
        pooling.avg_pool1d(x, 4096),
        adaptive_pooling.adaptive_avg_pool1d(x, 1),
    ):
        assert pooled.dtype == wg.float16
        assert pooled.item() == x[0, 0, 0].item()


def test_divisor_override_and_count_include_pad():
    x = wg.ones(1, 1, 3, 3)
    assert pooling.avg_pool2d(x, 2, divisor_override=8).item() == 0.5
    counted = pooling.avg_pool2d(x, 2, 2, 1)
    assert counted.flatten().tolist() == [0.25, 0.5, 0.5, 1.0]
    with pytest.raises(RuntimeError, match="divisor must be not zero"):
        pooling.avg_pool2d(x, 2, divisor_override=0)


def test_the_derivative_of_the_norm_of_nothing_is_zero():
    x = wg.zeros(1, 1, 4, requires_grad=True)
    pooling.lp_pool1d(x, 2, 2).sum().backward()
    assert x.grad.flatten().tolist() == [0.0] * 4
    one = wg.zeros(1, 1, 4, requires_grad=True)
    pooling.lp_pool1d(one, 1, 2).sum().backward()
    assert one.grad.flatten().tolist() == [1.0] * 4


def test_norms_of_windows():
    x = RNG.uniform(0.5, 2, (2, 3, 6, 5))
    for p in (1, 2, 3, 0.5):
        result = pooling.lp_pool2d(wg.from_numpy(x), p, (2, 3), 1).numpy()
        expected = by_windows(x[0, 1] ** p, (2, 3), (1, 1), (0, 0), (1, 1), False, sum)
        np.testing.assert_allclose(result[0, 1], expected ** (1 / p), 1e-12)


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
def test_adaptive_bins_begin_and_end_where_pytorchs_do(many):
    x = RNG.standard_normal((2000 if many else 1, 1, 7, 5))
    for sizes in ((3, 2), (7, 5), (1, 1), (10, 3), (None, 2), 4):
        wide = sizes if isinstance(sizes, tuple) else (sizes,) * 2
        rows, columns = (n if m is None else m for n, m in zip((7, 5), wide, strict=True))
        mean, largest = np.empty((2, rows, columns))
        for i, j in np.ndindex(rows, columns):
            part = x[-1, 0][
                i * 7 // rows : -(-(i + 1) * 7 // rows),
                j * 5 // columns : -(-(j + 1) * 5 // columns),
            ]
            mean[i, j], largest[i, j] = part.mean(), part.max()
        t = wg.from_numpy(x)
        found = adaptive_pooling.adaptive_avg_pool2d(t, sizes).numpy()[-1, 0]
        np.testing.assert_allclose(found, mean, 1e-12, 1e-12)
        values, places = adaptive_pooling.adaptive_max_pool2d(t, sizes, return_indices=True)
        np.testing.assert_array_equal(values.numpy()[-1, 0], largest)
        np.testing.assert_array_equal(x[-1, 0].reshape(-1)[places.numpy()[-1, 0]], largest)


def test_no_bins_and_no_batch():
    x = wg.ones(2, 3, 4, 4, requires_grad=True)
    for found, shape in (
        (adaptive_pooling.adaptive_avg_pool2d(x, 0), (2, 3, 0, 0)),
        (adaptive_pooling.adaptive_max_pool2d(x[:0], 3), (0, 3, 3, 3)),
        (pooling.max_pool2d(x[:0], 2), (0, 3, 2, 2)),
        (pooling.avg_pool2d(x[:0], 2), (0, 3, 2, 2)),
    ):
        assert found.shape == shape
        (g,) = wg.autograd.grad(found.sum(), x)
        assert wg.equal(g, wg.zeros_like(x))


def test_unbatched_input():
    x = wg.from_numpy(RNG.standard_normal((3, 4, 4)))
    for function in (
        lambda t: pooling.max_pool2d(t, 2),
        lambda t: pooling.avg_pool2d(t, 3, 1, 1),
        lambda t: pooling.lp_pool2d(t, 2, 2),
        lambda t: adaptive_pooling.adaptive_avg_pool2d(t, 3),
        lambda t: adaptive_pooling.adaptive_max_pool2d(t, 3),
    ):
        assert wg.equal(function(x), function(x[None])[0])


def test_unpooling_puts_elements_back():
    x = wg.from_numpy(RNG.standard_normal((2, 3, 6, 4)))
    values, places = pooling.max_pool2d(x, 2, return_indices=True)
    back = unpooling.max_unpool2d(values, places, 2)
    assert back.shape == x.shape
    assert wg.equal(pooling.max_pool2d(back.relu(), 2), values.relu())
    wider = unpooling.max_unpool2d(values, places, 2, output_size=(2, 3, 7, 5))
    assert wider.shape == (2, 3, 7, 5)


@pytest.mark.parametrize("dims", (1, 2, 3))
def test_what_is_unpooled_lies_where_it_was(dims):
    x = wg.from_numpy(RNG.standard_normal((2, 3, *(6, 4, 2)[:dims])))
    values, places = getattr(pooling, f"max_pool{dims}d")(x, 2, return_indices=True)
    back = getattr(unpooling, f"max_unpool{dims}d")(values, places, 2)
    flat = back.flatten(2)
    assert wg.equal(flat.gather(2, places.flatten(2)), values.flatten(2))
    assert flat.count_nonzero() == values.numel()


def test_fractional_windows_are_drawn_as_pytorchs_are():
    wg.manual_seed(0)
    x = wg.arange(49.0).reshape(1, 7, 7)
    first = unpooling.fractional_max_pool2d(x, 2, output_size=4)
    wg.manual_seed(0)
    again = unpooling.fractional_max_pool2d(x, 2, output_ratio=(0.6, 0.6))
    assert wg.equal(first, again)
    samples = wg.zeros(1, 1, 2)
    exact = unpooling.fractional_max_pool2d(x, 2, 3, _random_samples=samples)
    assert exact[0].tolist() == [[8.0, 10.0, 13.0], [22.0, 24.0, 27.0], [43.0, 45.0, 48.0]]


def test_response_normalisation_by_its_formula():
    x = RNG.standard_normal((2, 5, 3))
    for size in (1, 2, 3, 4):
        squares = np.pad(x**2, ((0, 0), (size // 2, (size - 1) // 2), (0, 0)))
        mean = sum(squares[:, i : i + 5] for i in range(size)) / size
        expected = x / (1.5 + 0.3 * mean) ** 0.7
        result = pooling.local_response_norm(wg.from_numpy(x), size, 0.3, 0.7, 1.5)
        np.testing.assert_allclose(result.numpy(), expected, 1e-12)


ONES = wg.ones(2, 3, 8, 8)
WRONG = [
    (lambda: pooling.max_pool2d(ONES, 0), "stride should not be zero"),
    (lambda: pooling.max_pool2d(ONES, 2, 0), "stride should not be zero"),
    (lambda: pooling.max_pool2d(ONES, -1), "kernel size should be greater than zero, but got kH"),
    (lambda: pooling.max_pool2d(ONES, 2, padding=2), "pad should be at most half of effective"),
    (lambda: pooling.max_pool2d(ONES, 2, padding=-1), "pad must be non-negative, but got pad: -1"),
    (lambda: pooling.max_pool2d(ONES, 2, dilation=0), "dilation should be greater than zero"),
    (lambda: pooling.max_pool2d(ONES, 20), r"Given input size: \(3x8x8\). Calculated output size"),
    (lambda: pooling.max_pool2d(ONES, (2, 2, 2)), "max_pool2d: kernel_size must either be a"),
    (lambda: pooling.max_pool2d(ONES, 2, (1, 2, 3)), "max_pool2d: stride must either be omitted"),
    (lambda: pooling.max_pool2d(ONES[0, 0], 2), "non-empty 3D or 4D"),
    (lambda: pooling.max_pool2d(ONES[:, :0], 2), "Expected 3D or 4D"),
    (lambda: pooling.max_pool1d(ONES, 2), "max_pool1d: Expected 2D or 3D"),
    (lambda: pooling.max_pool1d(ONES[0], 20), r"max_pool1d\(\) Invalid computed output size: 0"),
    (lambda: pooling.max_pool1d(ONES[0], 2, padding=2), r"max_pool1d\(\) padding should be at"),
    (lambda: pooling.max_pool3d(ONES[0, 0], 2), "non-empty 4D or 5D"),
    (lambda: pooling.avg_pool1d(ONES, 2), "Expected 2 to 3 dimensions, but got 4-dimensional"),
    (lambda: pooling.avg_pool3d(ONES, 9), "input image .T: 3 H: 8 W: 8. smaller than kernel size"),
    (lambda: pooling.local_response_norm(ONES, 0), "kernel size should be greater than zero"),
    (
        lambda: adaptive_pooling.adaptive_avg_pool2d(ONES, (1, 2, 3)),
        "adaptive_avg_pool2d: output_size must be 2",
    ),
    (
        lambda: adaptive_pooling.adaptive_avg_pool2d(ONES, -1),
        "adaptive_avg_pool2d: elements of output_size must be greater",
    ),
    (
        lambda: adaptive_pooling.adaptive_max_pool2d(ONES, -1),
        "Trying to create tensor with negative dimension -1",
    ),
    (
        lambda: unpooling.max_unpool2d(ONES, wg.full((2, 3, 8, 8), 999), 2),
        "Found an invalid max index: 999",
    ),
    (
        lambda: unpooling.max_unpool2d(ONES, wg.zeros(2, 3, 8, 8), 2),
        "elements in indices should be type int64",
    ),
    (
        lambda: unpooling.max_unpool2d(ONES, wg.zeros(2, 3, 8, 7, dtype=wg.int64), 2),
        "Expected shape of indices to be same as",
    ),
    (
        lambda: unpooling.fractional_max_pool2d(ONES, 2, 9),
        r"fractional_max_pool2d\(\): pool height 2 too large",
    ),
]


@pytest.mark.parametrize("call, words", WRONG, ids=[words[:30] for _, words in WRONG])
def test_wrong_arguments(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()


def test_wrong_types():
    with pytest.raises(TypeError, match=r"max_pool2d.*'kernel_size' .position 2. must be tuple"):
        pooling.max_pool2d(ONES, 2.5)
    pooling.max_pool2d(ONES, 2)
    with pytest.raises(TypeError, match="must be tuple of ints"):
        pooling.max_pool2d(ONES, 2.0)
    with pytest.raises(NotImplementedError, match=r"max_pool2d.*not implemented for 'Bool'"):
        pooling.max_pool2d(ONES.bool(), 2)
    with pytest.raises(NotImplementedError, match=r"avg_pool2d.*not implemented for 'Int'"):
        pooling.avg_pool2d(ONES.int(), 2)
    with pytest.raises(NotImplementedError, match=r"adaptive_avg_pool2d.*not implemented for 'L"):
        adaptive_pooling.adaptive_avg_pool2d(ONES.long(), 3)
    with pytest.raises(IndexError, match="Dimension out of range"):
        pooling.avg_pool2d(ONES[0, 0], 2)
    with pytest.raises(ValueError, match="Expected 3D or higher dimensionality"):
        pooling.local_response_norm(ONES[0, 0], 2)
    with pytest.raises(ValueError, match="fractional_max_pool2d requires specifying either"):
        unpooling.fractional_max_pool2d(ONES, 2)
    with pytest.raises(ValueError, match="invalid output_size"):
        unpooling.max_unpool2d(ONES, wg.zeros(2, 3, 8, 8, dtype=wg.int64), 2, output_size=(18, 17))


@pytest.mark.parametrize("length", [4, 50, 100])
def test_long_windows_side_by_side(length):
    x = RNG.standard_normal((2, 3, 200)).astype(np.float32)
    x[0, 1, 7] = np.nan
    rows = x.astype(np.float64).reshape(2, 3, -1, length)
    leaf = wg.from_numpy(x).requires_grad_()
    mean = wg.nn.functional.avg_pool1d(leaf, length)
    np.testing.assert_allclose(mean.detach().numpy(), rows.mean(-1), rtol=1e-5, atol=1e-6)
    largest = wg.nn.functional.max_pool1d(leaf, length)
    np.testing.assert_array_equal(largest.detach().numpy(), rows.max(-1).astype(np.float32))
    mean.sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), np.full(x.shape, 1 / length), rtol=1e-6)
