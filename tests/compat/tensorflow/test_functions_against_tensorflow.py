"""Test functions against TensorFlow: values, dtypes, gradients, error types, first words of errors.

Skipped where TensorFlow is not installed.
"""

import inspect
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

theirs = pytest.importorskip("tensorflow")

import wengert.compat.tensorflow as ours  # noqa: E402
from wengert.compat.tensorflow import operations  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # TensorFlow's own
TABLE = runpy.run_path(str(Path(__file__).with_name("table.py")))
ARRAYS, VALUES, GRADIENTS = TABLE["ARRAYS"], TABLE["VALUES"], TABLE["GRADIENTS"]


def shown(error):
    text = re.sub(r"^\{\{.*?\}\} ", "", str(error))
    return " ".join(re.sub(r"[`'\"\[\](),.]", " ", text).split()[:2]).lower()


def run(tf, code):
    try:
        return eval(code, {"tf": tf, "np": np, **ARRAYS}), None
    except Exception as error:
        return None, error


def parts(value):
    if value is None:
        return [None]
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in parts(item)]
    if hasattr(value, "dense_shape"):
        # a sum of rows, which TensorFlow does not carry out
        value = theirs.convert_to_tensor(value)
    if hasattr(value, "numpy"):
        return [(value.dtype.name, np.asarray(value.numpy()))]
    if hasattr(value, "as_list"):
        return [tuple(value.as_list())]
    return [repr(value)]


def assert_alike(code, ours_, theirs_):
    a, b = parts(ours_), parts(theirs_)
    assert len(a) == len(b), f"{code}: {ours_!r} and {theirs_!r}"
    for mine, other in zip(a, b, strict=True):
        if not isinstance(mine, tuple) or not isinstance(mine[-1], np.ndarray):
            assert mine == other, f"{code}: {mine!r}, not {other!r}"
            continue
        assert isinstance(other, tuple), f"{code}: {mine!r}, not {other!r}"
        assert mine[0] == other[0], f"{code}: dtype {mine[0]}, not {other[0]}"
        rough = mine[0] in ("float32", "complex64")
        np.testing.assert_allclose(
            mine[1],
            other[1],
            rtol=2e-4 if rough else 1e-6,
            atol=2e-5 if rough else 1e-9,
            err_msg=code,
        )


@pytest.mark.parametrize("code", VALUES)
def test_values_dtypes_and_errors_are_tensorflows(code):
    mine, error = run(ours, code)
    other, their_error = run(theirs, code)
    if their_error is not None:
        assert error is not None, f"{code}: {mine!r}, but {their_error!r}"
        assert type(error).__name__ == type(their_error).__name__, f"{error!r}, {their_error!r}"
        assert shown(error) == shown(their_error)
        return
    if error is not None:
        raise error
    assert_alike(code, mine, other)


def gradients(tf, code):
    expression, _, inputs = code.partition(" | ")
    values = [eval(text, {"np": np, **ARRAYS}) for text in inputs.split(" ")]
    values = [tf.constant(value) for value in values]
    with tf.GradientTape() as tape:
        for value in values:
            tape.watch(value)
        names = dict(zip("xy", values, strict=False))
        result = eval(expression, {"tf": tf, "np": np, **names})
    return result, tape.gradient(result, values)


@pytest.mark.parametrize("code", GRADIENTS)
def test_gradients_are_tensorflows(code):
    mine, other = gradients(ours, code), gradients(theirs, code)
    assert_alike(code, mine, other)


def names_of(function):
    return list(inspect.signature(function).parameters)


@pytest.mark.parametrize("place", ["", "math", "linalg", "nn", "random", "signal", "bitwise"])
def test_functions_and_their_arguments_have_tensorflows_names(place):
    mine = operations if not place else getattr(ours, place)
    other = theirs if not place else getattr(theirs, place)
    taken_as_keywords = {"meshgrid", "tensor_scatter_nd_update"}
    for name in mine.__all__:
        function, original = getattr(mine, name), getattr(other, name)
        if isinstance(function, type) or name in taken_as_keywords:
            continue
        expected = names_of(original)
        assert names_of(function)[: len(expected)] == expected, name
