"""Test that `testing.make_tensor` and `gradgradcheck` draw PyTorch's numbers."""

import itertools
import warnings

import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
DTYPES = [
    *("uint8", "int8", "int16", "int32", "int64", "bool"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
]
SHAPES = [(3,), (2, 3), ((2, 2),), ((),), (20,)]
CHOICES = [
    {},
    {"low": 2, "high": 5},
    {"low": -1, "high": 1.5},
    {"high": 300},
    {"low": 5, "high": 1},
    {"low": float("nan")},
    {"low": 1, "high": 1},
    {"low": 2**1025, "high": 2**1026},
    {"low": -float("inf"), "high": float("inf")},
    {"noncontiguous": True},
    {"exclude_zero": True},
    {"requires_grad": True},
]


def told(lib, dtype, shape, choice):
    """What a call makes, and where it leaves the generator; or its error."""
    lib.manual_seed(3)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = lib.testing.make_tensor(
                *shape, dtype=getattr(lib, dtype), device="cpu", **choice
            )
    except ValueError as error:
        return str(error).replace("wengert.", "torch.")[:40]
    return repr(made).replace("torch.", ""), made.stride(), lib.rand(1).item()


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_are_those_of_pytorch(dtype):
    for shape, choice in itertools.product(SHAPES, CHOICES):
        assert told(wg, dtype, shape, choice) == told(torch, dtype, shape, choice), (shape, choice)


def test_gradgradcheck_draws_as_in_pytorch():
    after = []
    for lib in (wg, torch):
        lib.manual_seed(0)
        x = lib.tensor([1.0, 2.0], dtype=lib.float64, requires_grad=True)
        assert lib.autograd.gradgradcheck(lib.exp, (x,))
        after.append(lib.rand(1).item())
    assert after[0] == after[1]
