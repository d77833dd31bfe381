"""Test constructor arguments written as text (NOTE [arguments as text])."""

from __future__ import annotations

import inspect

import pytest

from wengert.compat import mxnet
from wengert.compat.kit.arguments import arguments, lines_of


class Above:
    def __init__(self, name=None, **kwargs):
        assert not kwargs, kwargs
        self.name = name


@arguments("_size, _bias=True")
class Sized(Above):
    ignored = ("fast",)

    def _prepare(self):
        self.area = self._size**2


@arguments("count, count/_step=2, _size=4")
class Moved(Sized):
    without = ("bias",)


@arguments("one, two=2")
class Alone:
    pass


def test_words_are_the_arguments_in_their_order():
    assert str(inspect.signature(Sized)) == "(size, bias=True, **kwargs)"
    assert str(inspect.signature(Moved)) == "(count, step=2, size=4, **kwargs)"
    one = Moved(7, 8)
    assert (one.count, one._step, one._size, one.area, one._bias) == (7, 8, 4, 16, True)


def test_each_class_prepares_what_it_was_given():
    one = Sized(3, name="a", fast=True)
    assert (one._size, one._bias, one.area, one.name) == (3, True, 9, "a")
    with pytest.raises(TypeError, match="missing a required argument"):
        Sized()
    with pytest.raises(AssertionError, match="slow"):
        Sized(1, slow=True)
    assert lines_of(Sized) == ["_size", "_bias"]
    assert str(inspect.signature(Alone)) == "(one, two=2)"
    with pytest.raises(TypeError, match="unexpected keyword argument 'three'"):
        Alone(1, three=3)


def test_layers_of_gluon_take_their_arguments_in_the_order_of_mxnet():
    nn = mxnet.gluon.nn
    assert "layout=NCHW" in repr(nn.GlobalAvgPool2D("NCHW"))
    with pytest.raises(TypeError, match="count_include_pad"):
        nn.MaxPool2D(2, 2, 0, "NCHW", False, count_include_pad=True)
    wide = nn.Conv2DTranspose(4, 3, 2, 1, 1, in_channels=2)  # output_padding stands fifth
    wide.initialize()
    assert wide(mxnet.nd.ones((1, 2, 5, 5))).shape == (1, 4, 10, 10)
    assert repr(mxnet.init.MSRAPrelu(slope=0.5)) == "MSRAPrelu(factor_type='avg', slope=0.5)"
