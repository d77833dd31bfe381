"""Test type promotion: a number is weaker than a 0-d tensor, which is weaker than any other."""

import pytest

import wengert as wg

RESULTS = """
float32[1] float64[1] float64
float32[1] float64[]  float32
float32[]  float64[]  float64
float32[1] int64[1]   float32
int32[1]   int64[1]   int64
int32[1]   int64[]    int32
int32[1]   float64[]  float64
uint8[1]   int8[1]    int16
bool[1]    uint8[1]   uint8
bool[1]    bool[1]    bool
float16[1] float32[]  float16
float16[1] float32[1] float32
float64[1] complex64[1] complex128
float32[1] complex128[] complex64
int64[1]   complex64[]  complex64
"""
NUMBERS = """
float64[1] 2     float64
float32[1] 2.5   float32
int64[1]   2     int64
int64[1]   2.5   float32
int32[]    2     int32
uint8[1]   2     uint8
bool[1]    2     int64
bool[1]    True  bool
bool[]     2.5   float32
float64[1] 2j    complex128
float32[1] 2j    complex64
int64[1]   2j    complex64
"""


def tensor(text):
    name, _, dims = text.partition("[")
    return wg.ones((1,) if dims.startswith("1") else (), dtype=getattr(wg, name))


@pytest.mark.parametrize("line", RESULTS.strip().splitlines())
def test_two_tensors(line):
    a, b, expected = line.split()
    for left, right in ((a, b), (b, a)):
        assert str((tensor(left) + tensor(right)).dtype) == f"torch.{expected}"
        assert str((tensor(left) * tensor(right)).dtype) == f"torch.{expected}"


@pytest.mark.parametrize("line", NUMBERS.strip().splitlines())
def test_a_tensor_and_a_number(line):
    text, number, expected = line.split()
    assert str((tensor(text) + eval(number)).dtype) == f"torch.{expected}"
    assert str((eval(number) * tensor(text)).dtype) == f"torch.{expected}"


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64"])
def test_division_and_transcendental_functions_float(dtype):
    x = wg.ones(2, dtype=getattr(wg, dtype))
    assert (x / 2).dtype is wg.float32
    for result in (x / x, x.exp(), x.sqrt(), x.sin(), x.sigmoid(), x.log()):
        assert result.dtype is wg.float32


def test_sums_of_integers_are_wide():
    for dtype in (wg.bool, wg.uint8, wg.int32):
        ones = wg.ones(300, dtype=dtype)
        assert (ones.sum().dtype, ones.sum().item()) == (wg.int64, 300)
        assert (ones.prod().dtype, ones.prod().item()) == (wg.int64, 1)


def test_python_numbers_become_the_default():
    assert wg.tensor(1.0).dtype is wg.float32
    assert wg.tensor([1, 2]).dtype is wg.int64
    assert wg.tensor([1, 2.5]).dtype is wg.float32
    assert wg.tensor(True).dtype is wg.bool
    assert wg.tensor(1j).dtype is wg.complex64
    before = wg.get_default_dtype()
    wg.set_default_dtype(wg.float64)
    try:
        assert wg.tensor(1.0).dtype is wg.float64
        assert wg.ones(2).dtype is wg.float64
        assert (wg.tensor([1]) / 2).dtype is wg.float64
    finally:
        wg.set_default_dtype(before)


def test_a_gradient_passes_through_promotion():
    a = wg.tensor([1.0], dtype=wg.float32, requires_grad=True)
    b = wg.tensor([2.0], dtype=wg.float64, requires_grad=True)
    (a * b).sum().backward()
    assert a.grad.dtype is wg.float32 and b.grad.dtype is wg.float64
    assert a.grad.tolist() == [2.0] and b.grad.tolist() == [1.0]


def test_bfloat16_is_there_with_its_package():
    pytest.importorskip("ml_dtypes")
    x = wg.tensor([1.5, 2.25], dtype=wg.bfloat16, requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.dtype == wg.bfloat16
    assert x.grad.tolist() == [3.0, 4.5]
    assert (x + wg.ones(2)).dtype == wg.float32
    assert wg.ones(2).bfloat16().double().dtype == wg.float64


def test_what_numpy_has_no_type_for_is_refused():
    with pytest.raises(NotImplementedError, match="chalf"):
        wg.ones(2).chalf()


def test_dense_is_what_every_tensor_is():
    x = wg.ones(2, requires_grad=True)
    assert x.to_dense() is x
    y = x.to_dense(wg.float64)
    assert y.dtype is wg.float64
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_requires_grad_is_not_deleted():
    x = wg.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Deleting requires_grad"):
        del x.requires_grad
    assert x.requires_grad
