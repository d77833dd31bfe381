"""Test the fused path that writes and records at once: the same results and errors."""

import numpy as np
import pytest

import wengert as wg
from wengert.prims.whole import TABLE
from wengert.tape.record import T, record


def test_masks_and_places_are_written():
    x, mask = wg.zeros(3, 4), wg.tensor([[True] * 4, [False] * 4, [True, False] * 2])
    array = np.zeros((3, 4), np.float32)
    x[mask] = 2.0
    array[mask.numpy()] = 2
    x[wg.tensor([2, 0])] = 5
    array[[2, 0]] = 5
    x[0, wg.tensor([1, -1])] = 7
    array[0, [1, -1]] = 7
    x[wg.tensor([1, 1])] = wg.tensor([[1.0] * 4, [3.0] * 4])
    array[1] = 3
    assert np.array_equal(x.numpy(), array)
    assert x._version == 4


@pytest.mark.parametrize(
    ("index", "value", "error", "message"),
    [
        ([3], 1.0, IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
        ([True], 1.0, IndexError, "The shape of the mask"),
        ([True, True, False], [1.0, 2.0, 3.0], RuntimeError, "shape mismatch"),
    ],
)
def test_what_does_not_fit_is_refused_as_ever(index, value, error, message):
    x = wg.zeros(3)
    with pytest.raises(error, match=message):
        x[wg.tensor(index)] = wg.tensor(value) if isinstance(value, list) else value
    assert x._version == 0


def test_places_that_are_recorded():
    x = wg.ones(3, requires_grad=True)
    y = x * 2
    y[wg.tensor([0])] = 0.0
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 2.0, 2.0]


def test_a_saved_tensor_notices_a_write_through_a_mask():
    x, w = wg.ones(2), wg.ones(2, requires_grad=True)
    y = (x * w).sum()
    x[wg.tensor([True, False])] = 3.0
    with pytest.raises(RuntimeError, match="index_put_"):
        y.backward()


@pytest.mark.parametrize("dtype", [wg.int64, wg.int8, wg.uint8, wg.bool])
def test_integers_are_computed_as_they_are(dtype):
    x = wg.tensor([[0, 1], [1, 1]]).to(dtype)
    a = x.numpy()
    for found, expected in (
        (x == x, a == a),
        (x > 1 - x.long(), a > 1 - a.astype(np.int64)),
        (x.argmax(1), a.argmax(1)) if dtype is not wg.bool else (x, a),
        (x + x, a + a),
        (x.flip(0), a[::-1]),
        (x.any(1), a.any(1)),
        (x == x.float(), a == a),
    ):
        assert np.array_equal(found.numpy(), expected) and found.grad_fn is None


def test_conversions_are_recorded_between_floating_dtypes_alone():
    x = wg.ones(2, requires_grad=True)
    assert x.to(wg.int64).grad_fn is None and not x.to(wg.int64).requires_grad
    y = x.double()
    assert y.dtype == wg.float64 and type(y.grad_fn).__name__ == "ToCopyBackward0"
    y.sum().backward()
    assert x.grad.dtype == wg.float32


def test_complex_numbers_without_a_gradient_are_the_same_by_the_general_path():
    given = wg.tensor([[1 + 2j, -3.0], [0.5j, 2 - 1j]])
    for prim in map(
        TABLE.get, ("mul", "exp", "t", "add_scalar", "view_as_real", "lerp", "hardsigmoid")
    ):
        params = {"other": 2} if prim.of_number else {"weight": 0.5} if prim.name == "lerp" else {}
        for x in (given, given.clone().requires_grad_()):
            args = [x] * len(prim.args)
            try:
                expected = record(prim, tuple(args), params)
            except NotImplementedError as error:
                with pytest.raises(NotImplementedError, match=str(error)[:9]):
                    getattr(T, prim.name)(*args, **params)
                continue
            found = getattr(T, prim.name)(*args, **params)
            assert found.tolist() == expected.tolist() and found.dtype is expected.dtype
            assert type(found.grad_fn) is type(expected.grad_fn)
            assert found._base is expected._base


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool"])
def test_integers_and_numbers_are_the_same_by_the_general_path(dtype):
    x = wg.tensor([0, 1, 2, 100]).to(getattr(wg, dtype))

    def outcome(function, *args, **params):
        try:
            made = function(*args, **params)
        except (RuntimeError, NotImplementedError) as error:
            return str(error)
        return made.dtype, made.tolist()

    for prim in TABLE.values():
        compares = prim.infix and len(prim.args) == 2 and not prim.is_differentiable
        if not (compares or (prim.of_number and prim.promote != "float")):
            continue
        for number in (0, 1, 127, 128, -1, -128, -129, True, 2.0):
            given = ((x, number), {}) if compares else ((x,), {prim.params[0]: number})
            quick = outcome(getattr(T, prim.name), *given[0], **given[1])
            assert quick == outcome(record, prim, *given), (prim.name, number)


@pytest.mark.parametrize("kind", [wg.float16, wg.bfloat16, wg.bool, wg.float32, wg.int64])
def test_copies_convert_on_the_quick_path(kind):
    x = wg.zeros(3, dtype=kind)
    for given in (
        wg.tensor([1.5, 0.0, -2.7]),
        wg.tensor([True, False, True]),
        wg.tensor([3, 0, 5]),
    ):
        assert x.copy_(given).tolist() == given.to(kind).tolist()
    assert x._version == 3
    y = wg.ones(3, requires_grad=True)
    made = wg.zeros(3, dtype=kind).copy_(y)
    assert made.requires_grad == kind.is_floating_point


def test_a_zero_that_is_an_array_chooses_as_the_number_does():
    x = wg.randn(3000)
    for zero in (0.0, -0.0):
        for made in (wg.where(x > 0, x, zero), wg.where(x > 0, x, wg.tensor(zero))):
            expected = np.where(x.numpy() > 0, x.numpy(), np.float32(zero))
            assert made.numpy().tobytes() == expected.tobytes()
