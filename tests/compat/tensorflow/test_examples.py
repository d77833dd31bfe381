"""Run the doctests of decorated functions, which doctest does not find."""

import doctest

import pytest

import wengert.compat.tensorflow as tf
from wengert.compat.tensorflow import operations

MODULES = {
    "tf": operations,
    "math": tf.math,
    "linalg": tf.linalg,
    "nn": tf.nn,
    "random": tf.random,
    "signal": tf.signal,
    "bitwise": tf.bitwise,
    "keras.losses": tf.keras.losses,
    "keras.metrics": tf.keras.metrics,
    "keras.activations": tf.keras.activations,
    "keras.layers": tf.keras.layers,
    "keras.optimizers": tf.keras.optimizers,
    "keras.optimizers.schedules": tf.keras.optimizers.schedules,
    "data": tf.data,
}
CASES = {
    f"{place}.{name}": getattr(module, name)
    for place, module in MODULES.items()
    for name in module.__all__
    if callable(getattr(module, name))
}


# what only SciPy computes
WITH_SCIPY = {"digamma", "igamma", "igammac", "lbeta", "lgamma", "zeta"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_the_examples_are_right(name):
    if name.rpartition(".")[2] in WITH_SCIPY:
        pytest.importorskip("scipy")
    failures = []
    finder = doctest.DocTestFinder(recurse=isinstance(CASES[name], type))
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    module = None if not isinstance(CASES[name], type) else False
    for test in finder.find(CASES[name], name, module=module, globs={}):
        runner.run(test, out=failures.append)
    assert runner.failures == 0, "".join(failures)


def test_every_function_says_what_it_does():
    ours = {name: value for name, value in CASES.items() if not name.startswith("keras")}
    assert [name for name, function in ours.items() if not function.__doc__] == []
    assert len(ours) > 300
