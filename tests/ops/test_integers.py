"""Test integers: sums in a requested dtype, powers, bounds, and overflow."""

import numpy as np
import pytest

import wengert as wg


def ints(*values, dtype="int8"):
    return wg.tensor(list(values), dtype=getattr(wg, dtype))


@pytest.mark.parametrize("name", ["sum", "prod", "nansum"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
def test_a_reduction_has_the_dtype_that_is_asked_for(name, dtype):
    x = ints(100, 3, dtype=dtype)
    expected = np.array(103 if name != "prod" else 300).astype(dtype)
    for dim in (None, 0):
        made = getattr(wg, name)(x, dim, dtype=getattr(wg, dtype))
        assert (made.dtype, made.item()) == (getattr(wg, dtype), expected.item())


@pytest.mark.parametrize(("name", "expected"), [("cumsum", [100, -56]), ("cumprod", [100, 16])])
def test_a_running_reduction_has_the_dtype_that_is_asked_for(name, expected):
    made = getattr(wg, name)(ints(100, 100), 0, dtype=wg.int8)
    assert (made.dtype, made.tolist()) == (wg.int8, expected)


def test_bools_run_only_in_another_dtype():
    x = wg.tensor([True, True])
    assert x.cumsum(0).tolist() == [1, 2]
    with pytest.raises(NotImplementedError, match=r'"cumsum_out_cpu" not implemented for .Bool.: '):
        x.cumsum(0, dtype=wg.bool)


def test_sums_of_bytes_are_of_int64():
    x = wg.full((3, 3), 200, dtype=wg.uint8)
    for made, value in ((x.trace(), 600), (wg.einsum("ij->", x), 1800), (x[0].sum(), 600)):
        assert made.dtype is wg.int64 and made.item() == value
    assert wg.einsum("ij,k->i", x, x[0]).sum().dtype is wg.int64


def test_a_contraction_over_one_element_keeps_the_dtype():
    x, y = wg.full((1, 2), 2, dtype=wg.uint8), wg.full((2, 3), 3, dtype=wg.uint8)
    found = wg.tensordot(x, y, dims=([0], [0]))
    assert found.dtype is wg.uint8 and found.tolist() == [[12] * 3] * 2


def test_a_negative_power_of_an_integer_is_cut_off():
    base, exponent = wg.tensor([1, -1, -1, 3, 0]), wg.tensor([-1, -2, -3, -1, -1])
    assert (base**exponent).tolist() == [1, 1, -1, 0, 0]
    assert (2 ** wg.tensor([-1, 3])).tolist() == [0, 8]
    assert wg.tensor([2, 1]).pow_(wg.tensor([-2, -2])).tolist() == [0, 1]


def test_a_wider_integer_is_not_narrowed_before_it_is_used_in_place():
    x = ints(1, 9, dtype="uint8")
    assert x.clone().clamp_(wg.tensor([-7, 3], dtype=wg.int32)).tolist() == [1, 9]
    assert x.clone().clamp_(max=wg.tensor([300, 3], dtype=wg.int32)).tolist() == [1, 3]
    assert x.clone().remainder_(wg.tensor([300, 300])).tolist() == [1, 9]
    assert x.clone().add_(wg.tensor([300, 300])).tolist() == [45, 53]


def test_a_wider_integer_does_not_enlarge_what_it_is_written_to():
    with pytest.raises(RuntimeError, match="output with shape"):
        ints(1).add_(wg.tensor([300, 300]))


@pytest.mark.parametrize("name", ["add", "sub", "rsub"])
def test_a_negative_factor_wraps_round_for_bytes(name):
    x = ints(1, dtype="uint8")
    plain = {"add": 254, "sub": 4, "rsub": 4}[name]
    assert getattr(wg, name)(x, x, alpha=-3).tolist() == [plain]
    with pytest.raises(RuntimeError, match="hold 300"):
        getattr(wg, name)(x, x, alpha=300)


def test_index_add_takes_a_negative_factor_for_bytes():
    x = ints(5, 5, dtype="uint8")
    assert x.index_add(0, wg.tensor([1]), ints(2, dtype="uint8"), alpha=-1).tolist() == [5, 3]


@pytest.mark.parametrize(
    ("dtype", "expected"), [("int8", [0, -4, -8]), ("int32", [0, -4, -8]), ("int64", [0, -4])]
)
def test_only_in_int64_whole_bounds_tell_how_long_a_range_is(dtype, expected):
    made = wg.arange(0.0, -8.000001, -4.0, dtype=getattr(wg, dtype))
    assert (made.dtype, made.tolist()) == (getattr(wg, dtype), expected)


@pytest.mark.parametrize("filling", [1j, 1e30, float("nan")])
@pytest.mark.parametrize("as_tensor", [False, True])
@pytest.mark.parametrize("name", ["masked_fill", "masked_fill_"])
def test_integers_are_not_filled_with_what_they_cannot_hold(filling, as_tensor, name):
    x = wg.tensor([1, 2])
    value = wg.tensor(filling) if as_tensor else filling
    with pytest.raises(RuntimeError, match="value cannot be converted to type int64"):
        getattr(x, name)(wg.tensor([True, False]), value)
    assert x.tolist() == [1, 2]


def test_bytes_are_filled_with_negative_numbers_modulo_256():
    assert ints(1, dtype="uint8").masked_fill(wg.tensor(True), -1).tolist() == [255]


def test_trapezoids_of_small_integers_do_not_overflow():
    x = ints(100, 100, 100)
    assert wg.trapezoid(x).item() == 200
    assert wg.cumulative_trapezoid(x, ints(0, 100, -100)).tolist() == [10000, -10000]


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d"])
def test_integers_may_pass_a_dropout_that_does_nothing(name):
    x, function = wg.ones(2, 3, 3, dtype=wg.int64), getattr(wg.nn.functional, name)
    assert function(x, 0.5, False).tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        function(x, 0.5, True)


@pytest.mark.parametrize(
    ("call", "dtype", "values"),
    [
        (lambda x: wg.nn.functional.threshold(x, 1, 7.9), "int32", [7, 2, 3]),
        (lambda x: wg.threshold(x, 1.5, -2.5), "int8", [-2, 2, 3]),
        (wg.repeat_interleave, "int32", [0, 1, 1, 2, 2, 2]),
        (lambda x: wg.cumulative_trapezoid(x.half(), x), "float16", [1.5, 4.0]),
        (lambda x: wg.cumulative_trapezoid(x, x), "float32", [1.5, 4.0]),
    ],
)
def test_numbers_beside_integers_do_not_decide_the_dtype(call, dtype, values):
    made = call(ints(1, 2, 3, dtype=dtype if "int" in dtype else "int64"))
    assert (made.dtype, made.tolist()) == (getattr(wg, dtype), values)
