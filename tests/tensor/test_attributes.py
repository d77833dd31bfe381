"""Test that user attributes of tensors change nothing in autograd."""

from __future__ import annotations

import pytest

import wengert as wg

NAMES = (
    *("edge", "ext", "payload", "vc", "seq", "extra", "array", "level", "namespace", "wraps"),
    *("share_version", "node", "base", "hooks", "site", "kind", "owner", "value", "traced"),
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [None, 0, "text"])
def test_an_attribute_of_any_name_is_the_users(name, value):
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    for tensor in (x, y):
        setattr(tensor, name, value)
    y[0].mul_(2)
    (y.sin() * x).sum().backward()
    expected = wg.tensor([1.0, 2.0]) * wg.tensor([6.0, 3.0])
    slopes = expected.sin() + wg.tensor([1.0, 2.0]) * wg.tensor([6.0, 3.0]) * expected.cos()
    wg.testing.assert_close(x.grad, slopes)
    assert getattr(x, name) is value
    assert getattr(y, name) is value
    del x.__dict__[name]


def test_a_subclass_may_have_attributes_of_any_name():
    class Named(wg.Tensor):
        edge = seq = level = namespace = "mine"

        @property
        def payload(self):
            return "mine"

        def array(self):
            return "mine"

    x = wg.tensor([1.0, 2.0], requires_grad=True).as_subclass(Named)
    leaf = wg.nn.Parameter(wg.ones(2))
    y = (x * leaf).sum()
    y.backward()
    wg.testing.assert_close(leaf.grad, wg.tensor([1.0, 2.0]))
    assert (y.edge, y.payload, y.array(), y.namespace) == ("mine",) * 4
