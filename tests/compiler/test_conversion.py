"""Test that native conversions between single and half precision have the bits of NumPy's."""

import numpy as np
import pytest

import wengert as wg
from wengert.base.ports import PORTS
from wengert.compiler.runtime import conversion
from wengert.kernels import create

pytest.importorskip("llvmlite")
EVERY = np.arange(1 << 16, dtype=np.uint16)
SINGLE = np.dtype(np.float32)


def short(name):
    return np.dtype(np.float16 if name == "float16" else pytest.importorskip("ml_dtypes").bfloat16)


def bits(array):
    return np.where(array == array, array.view(f"u{array.itemsize}"), 0)


def same(found, wanted):
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_array_equal(found != found, wanted != wanted)
    np.testing.assert_array_equal(bits(found), bits(wanted))


@np.errstate(all="ignore")
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_every_number_of_two_bytes_and_its_neighbours(name):
    dtype = short(name)
    narrow = EVERY.view(dtype)
    wide = conversion.converted(narrow, SINGLE)
    same(wide, narrow.astype(SINGLE))
    # around the middles between two numbers, where the last bits decide
    steps = np.array([-1, 0, 1, 0xFFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001])
    near = (wide.view(np.uint32)[:, None] + steps).astype(np.uint32).view(SINGLE)
    same(conversion.converted(near, dtype), near.astype(dtype))


@np.errstate(all="ignore")
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 5000])
def test_random_bits_of_any_number(name, size):
    dtype = short(name)
    words = np.random.default_rng(size).integers(0, 1 << 32, size, dtype=np.uint32)
    same(conversion.converted(words.view(SINGLE), dtype), words.view(SINGLE).astype(dtype))


def test_casts_and_copies_use_it_once_native_code_is_loaded(monkeypatch):
    used = []
    real = conversion.converted
    monkeypatch.setattr(PORTS, "converted", lambda *args: (used.append(1), real(*args))[1])
    monkeypatch.setattr(create, "_CONVERTED", [create._MANY])
    x = wg.from_numpy(np.random.default_rng(0).standard_normal((100, 100)).astype(np.float32))
    with np.errstate(over="ignore"):
        wanted = x.numpy().astype(np.float16)
    half = x.half()
    same(half.numpy(), wanted)
    same(half.float().numpy(), wanted.astype(np.float32))
    same(wg.zeros(100, 100, dtype=wg.float16).copy_(x).numpy(), wanted)
    assert len(used) == 3
    same(x.t().half().numpy(), wanted.T)
    assert x[:50, :50].half().dtype == wg.float16
    assert len(used) == 3
