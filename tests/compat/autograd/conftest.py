"""Fixtures that run contract tests with this front end and with autograd, if installed."""

import importlib

import pytest

OURS = "wengert.compat.autograd"


class Idiom:
    """The names of `autograd`, of its `numpy` as `np`, and its modules by their names."""

    def __init__(self, root):
        self.root = root
        self.ours = root == OURS
        self.np = self("numpy")
        self.npr = self("numpy.random")

    def __call__(self, module):
        return importlib.import_module(f"{self.root}.{module}")

    def __getattr__(self, name):
        return getattr(importlib.import_module(self.root), name)


@pytest.fixture(params=[OURS, "autograd"])
def ag(request):
    if request.param != OURS:
        pytest.importorskip("autograd")
    return Idiom(request.param)


@pytest.fixture
def ours():
    return Idiom(OURS)
