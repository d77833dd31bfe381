"""A fixture that resets MXNet's modes around each test."""

import pytest

from wengert.compat.mxnet.state import NUMPY, RECORDING, TRAINING


@pytest.fixture(autouse=True)
def modes():
    tokens = [
        (NUMPY, NUMPY.set((True, True, False))),
        (RECORDING, RECORDING.set(False)),
        (TRAINING, TRAINING.set(False)),
    ]
    yield
    for variable, token in tokens:
        variable.reset(token)
