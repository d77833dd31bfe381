"""Test that untrusted input is understood or refused, without side effects."""

import importlib.util
import io
import pathlib
import pickle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wengert as wg

_SPEC = importlib.util.spec_from_file_location(
    "fuzz_targets", pathlib.Path(__file__).with_name("targets.py")
)
targets = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(targets)

pytest.importorskip("safetensors")
MANY = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def damaged(draw, seeds):
    """A seed in which a few bytes are others, more or gone."""
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        length = draw(st.integers(0, 4))
        data[place : place + length] = draw(st.binary(max_size=4))
    return bytes(data)


@pytest.mark.parametrize("name", targets.TARGETS)
def test_what_is_damaged_is_refused_or_understood(name):
    @MANY
    @given(damaged(targets.SEEDS[name]) | st.binary(max_size=60))
    def run(data):
        targets.TARGETS[name](data)

    run()


@MANY
@given(st.text("abijAB.,-> ", max_size=16))
def test_an_equation_is_summed_as_numpy_sums_it_or_refused(equation):
    targets.einsum(equation.encode())


def test_a_pickle_is_refused_before_its_code_runs():
    class Evil:
        def __reduce__(self):
            return print, ("this ran",)

    targets._watching.append(True)
    try:
        with pytest.raises(pickle.UnpicklingError, match="may hold code"):
            wg.load(io.BytesIO(pickle.dumps(Evil())))
    finally:
        targets._watching.pop()


def test_code_that_a_file_ran_would_be_seen():
    targets._watching.append(True)
    try:
        with pytest.raises(AssertionError, match="led to compile"):
            eval("1 + 1")
    finally:
        targets._watching.pop()


def test_the_seeds_are_right_files():
    for seed in targets.SEEDS["load"]:
        assert wg.load(io.BytesIO(seed))["x"].shape == (2, 3)
