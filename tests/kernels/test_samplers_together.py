"""Test that vectorised samples equal those drawn one by one."""

import gc
import sys

import numpy as np
import pytest

from wengert.kernels import random, samplers
from wengert.kernels.random import Stream, normal_serial, units

DOUBLE = np.dtype(np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("draw", "values"),
    [
        (samplers.poisson, (0.3,)),
        (samplers.poisson, (9.99,)),
        (samplers.poisson, (10.0,)),
        (samplers.poisson, (1e4,)),
        (samplers.binomial, (10.0, 0.3)),
        (samplers.binomial, (7.5, 0.9)),
        (samplers.binomial, (100.0, 0.3)),
        (samplers.binomial, (1000.0, 0.7)),
        # some of its proposals take no uniform number, which others do
        (samplers.gamma, (1.0,)),
        (samplers.gamma, (20.0,)),
    ],
    ids=lambda value: getattr(value, "__name__", None) or "-".join(map(str, value)),
)
def test_numbers_and_the_rest_of_the_stream_are_the_same(monkeypatch, draw, values, dtype):
    found = []
    for most in (samplers._MANY, 1 << 30):
        monkeypatch.setattr(samplers, "_MANY", most)
        for ahead in (0, 1):
            stream = Stream(7)
            normal_serial(stream, ahead, DOUBLE)
            for count in (33, 1500):
                made = draw(stream, *[np.full(count, value, dtype) for value in values])
                found.append(made.tolist())
            found.append([stream.ahead, *units(stream, 3, DOUBLE)])
    half = len(found) // 2
    assert found[:half] == found[half:]


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
