"""Test streams of random numbers."""

import gc
import sys

import numpy as np
import pytest

from wengert.kernels import random


def test_a_stream_that_goes_when_python_ends_says_nothing(monkeypatch):
    said = []
    stream = random.Stream(0)
    # as the interpreter does with the names of modules
    monkeypatch.setattr(random, "_SPARE", None)
    monkeypatch.setattr(random, "_MOST_SPARE", None)
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    del stream
    gc.collect()
    assert not said


@pytest.mark.parametrize("native", [True, False])
def test_numbers_and_states_are_the_same_natively(native, monkeypatch):
    drawing = pytest.importorskip("wengert.compiler.runtime.drawing")
    pytest.importorskip("llvmlite")
    asked = []
    monkeypatch.setattr(random, "filled", lambda name: native)
    real = drawing.twisted
    monkeypatch.setattr(random.PORTS, "twisted", lambda *args: (asked.append(args), real(*args))[1])
    stream, twister = random.Stream(7), np.random.RandomState(np.random.MT19937(0))
    twister.seed(7)
    raw = twister._bit_generator.random_raw
    for count in (5000, 3, 4096, 623, 9999):
        np.testing.assert_array_equal(stream.words(count), raw(count))
    high, low = raw(10_000).reshape(-1, 2).T
    np.testing.assert_array_equal(stream.wide(5000), high << np.uint64(32) | low)
    unit = (raw(5000) & 0xFFFFFF).astype(np.float32) * np.float32(2**-24)
    np.testing.assert_array_equal(random.units(stream, 5000, np.dtype(np.float32)), unit)
    np.testing.assert_array_equal(
        random.integers(stream, 5000, np.dtype(np.int64), -3, 10), raw(5000) % 10 - 3.0
    )
    again = random.Stream(0)
    again.unpack(stream.pack())
    np.testing.assert_array_equal(again.words(5000), stream.words(5000))
    assert bool(asked) == native
