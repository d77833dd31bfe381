"""Streams of random numbers."""

import gc
import sys

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
