"""Test that lower layers find what they need from higher layers."""

import typing

import pytest

from support.alone import said
from wengert.base.ports import OWNERS, PORTS, Ports, provides


def test_every_port_has_an_owner_and_a_type():
    assert set(OWNERS) == set(typing.get_type_hints(Ports))


def test_every_owner_fills_its_ports():
    code = """
import importlib
import wengert
from wengert.base.ports import OWNERS, PORTS
for owner in OWNERS.values():
    importlib.import_module(owner)
print([name for name in OWNERS if type(getattr(PORTS, name)).__name__ == "_Empty"])
"""
    assert said(code).strip() == "[]"


def test_a_port_has_one_owner():
    with pytest.raises(ValueError, match="filled twice"):
        provides("tensor")(int)
    assert PORTS.tensor.__name__ == "Tensor"
