"""Test numbers that overflow an integer dtype, and results cast to ``out=``."""

import pytest

import wengert as wg


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda u: u + 1000, [233, 176]),
        (lambda u: 1000 - u, [231, 32]),
        (lambda u: u * -1, [255, 56]),
        (lambda u: u % 300, [1, 24]),
        (lambda u: u.clone().add_(1000), [233, 176]),
        (lambda u: u.to(wg.int8) - 200, [57, 0]),
        (lambda u: u + 2**40, [1, 200]),
    ],
)
def test_arithmetic_wraps_them_round(call, expected):
    found = call(wg.tensor([1, 200], dtype=wg.uint8))
    assert found.tolist() == expected and found.dtype in (wg.uint8, wg.int8)


@pytest.mark.parametrize(
    "call", [lambda u: u.pow(300), lambda u: u.fill_(300), lambda u: wg.full_like(u, 300)]
)
def test_what_is_no_arithmetic_refuses_them(call):
    with pytest.raises(RuntimeError, match="converted to type uint8_t without overflow"):
        call(wg.tensor([1], dtype=wg.uint8))


def test_arithmetic_of_two_numbers_gives_a_tensor():
    assert wg.add(True, True).dtype is wg.bool and wg.mul(3, 5).item() == 15
    assert wg.floor_divide(7, -2).equal(wg.tensor(-4))
    assert wg.div(-7, 2, rounding_mode="trunc").equal(wg.tensor(-3))
    assert wg.div(7.0, 2, rounding_mode="floor").equal(wg.tensor(3.0))
    assert wg.div(5, 2).tolist() == 2.5 and wg.sub(5, 2).dtype is wg.int64
    with pytest.raises(TypeError, match="must be Tensor"):
        wg.pow(2, 3)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda u: wg.where(u > 9, -1, u), [1, 255]),
        (lambda u: wg.where(u > 9, u, -1), [255, 200]),
        (lambda u: u.clamp(min=-1), [255, 255]),
        (lambda u: u.clamp(-3, -1), [253, 253]),
        (lambda u: wg.clamp_max(u, -56), [1, 200]),
        (lambda u: u.scatter(0, wg.tensor([1]), -1), [1, 255]),
        (lambda u: wg.searchsorted(u, wg.tensor(-1, dtype=wg.uint8)), 2),
        (lambda u: wg.searchsorted(u, -1), 2),
    ],
)
def test_negative_numbers_beside_bytes_are_wrapped_round(call, expected):
    assert call(wg.tensor([1, 200], dtype=wg.uint8)).tolist() == expected
    assert wg.where(wg.tensor(True), -1e9, wg.ones((), dtype=wg.half)).item() == -float("inf")


def test_factors_of_a_sum_are_of_its_dtype():
    true = wg.tensor([True, False])
    made = wg.add(true, true, alpha=-1)
    assert made.dtype is wg.bool and made.tolist() == [True, False]
    assert wg.add(true, 3, alpha=2).tolist() == [7, 6]
    assert wg.add(wg.tensor([1]), 2.5, alpha=2.5).item() == 7.25
    assert wg.sub(2, 2, alpha=2).item() == -2


@pytest.mark.parametrize("name", ["diag", "tril", "triu"])
def test_triangles_and_diagonals_go_to_out(name):
    x = wg.arange(4.0).reshape(2, 2)
    out = wg.empty(0)
    assert getattr(wg, name)(x, out=out) is out
    assert wg.equal(out, getattr(wg, name)(x))


def test_what_asks_for_the_impossible_is_told_so():
    x = wg.ones(2, 2)
    with pytest.raises(TypeError, match="does not support deleting items"):
        del x[0]
    with pytest.raises(TypeError, match="missing 1 required"):
        x.flip()
    with pytest.raises(RuntimeError, match="scalar type Long"):
        wg.nonzero(x, out=wg.empty(0))
    with pytest.raises(RuntimeError, match="should be Long but got Bool"):
        wg.take_along_dim(x, x > 0, 0)
