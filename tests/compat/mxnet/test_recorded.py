"""Test statements against MXNet 1.9.1: values, dtypes, printed arrays.

Numbers may differ in their last digits: MXNet's exponential function is another one.
"""

import importlib.util
import pathlib
import re
import warnings

import pytest

import wengert.compat.mxnet as mx
from wengert.compat.mxnet import util
from wengert.compat.mxnet.gluon import block

_SPEC = importlib.util.spec_from_file_location(
    "mxnet_recorded", pathlib.Path(__file__).with_name("recorded.py")
)
recorded = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(recorded)
PROGRAMS = recorded.load()
SCIPY = importlib.util.find_spec("scipy") is not None
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]\d+)?")


def alike(have, want):
    if have is None or want is None:
        return have == want
    texts = [re.sub(r"\s+", "", NUMBER.sub("#", text)) for text in (have, want)]
    numbers = [[float(n) for n in NUMBER.findall(text)] for text in (have, want)]
    return texts[0] == texts[1] and numbers[0] == pytest.approx(numbers[1], rel=2e-5, abs=2e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_statements_show_what_they_show_in_mxnet(name, monkeypatch):
    monkeypatch.setattr(block, "_COUNTS", {})  # the numbers in the names of layers
    program = PROGRAMS[name]
    (util.set_np if program["numpy"] else util.reset_np)()
    text = "\n".join(statement for statement, _ in program["statements"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of fractions that are lost
        have = list(recorded.outcomes(mx, text))
    different = [
        f"{statement}\n  here: {shown}\n  MXNet: {want}"
        for (statement, shown), (_, want) in zip(have, program["statements"], strict=True)
        if not alike(shown, want) and (SCIPY or shown != "raises ImportError")
    ]
    assert not different, "\n".join(different)
