"""Fixtures that run each test on wengert and, if installed, on PyTorch.

A test takes the module as `t` and asserts what both must do, so that every claim of equality is
checked on both sides.
"""

import pytest

import wengert


@pytest.fixture(params=["wengert", pytest.param("torch", marks=pytest.mark.torch)])
def t(request):
    """The module under test."""
    if request.param == "wengert":
        return wengert
    return pytest.importorskip("torch")
