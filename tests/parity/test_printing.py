"""Test the printed form of tensors."""

import pytest

import wengert
from support.parity import outcome

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

LINES = """
t.tensor(5.0)
t.tensor(5)
t.tensor(True)
t.tensor([True, False])
t.tensor([])
t.tensor([[]])
t.empty(0, 3)
t.tensor([1, 2, 3])
t.tensor([1.0, 2.5, 3.25])
t.tensor([1.0, 2.0])
t.tensor([1e10, 1.0])
t.tensor([1e-10, 1.0])
t.tensor([1e5, 1.5])
t.tensor([123456789.0])
t.tensor([0.1, 0.22, 0.333])
t.tensor([1e-5])
t.tensor([99999.0, 1.0])
t.tensor([100000.0, 1.5])
t.tensor([float('nan'), 1.0])
t.tensor([float('inf'), 1.0])
t.tensor([float('-inf'), 1.5])
t.tensor(float('nan'))
t.tensor(-0.0)
t.tensor([-1.0, 1.0])
t.tensor([0.0, -0.0])
t.tensor([-100, 20, 3])
t.tensor([[1.0, -2.0], [3.5, 4.0]])
t.tensor(3.14159265358979)
t.tensor(3.14159265358979, dtype=t.float64)
t.tensor([1.0], dtype=t.float64)
t.tensor([1.0], dtype=t.float16)
t.tensor([1], dtype=t.int32)
t.tensor([1], dtype=t.uint8)
t.tensor(1, dtype=t.int16)
t.tensor([1 + 2j])
t.tensor([1 + 2j, -0.5 - 1.25j])
t.tensor(1 + 2j)
t.tensor([1 + 2j], dtype=t.complex128)
t.arange(1000)
t.arange(1001)
t.arange(1001.0)
t.arange(2000.0).reshape(20, 100)
t.arange(30.0)
t.arange(100)
t.arange(24.0).reshape(2, 3, 4)
t.arange(24).reshape(2, 3, 4)
t.arange(10000.0).reshape(10, 10, 100)
t.zeros(2, 3)
t.ones(5, 1)
t.eye(3)
t.full((2, 2), 1e8)
t.full((2, 2), 1234.5678)
t.linspace(0, 1, 7)
t.linspace(-1000, 1000, 9)
t.tensor([1.0], requires_grad=True)
t.tensor(1.0, requires_grad=True)
t.tensor([1.0], requires_grad=True, dtype=t.float64)
t.tensor([1.0], requires_grad=True) * 2
t.tensor([1.0], requires_grad=True).double() * 2
t.tensor(4.0, requires_grad=True).log()
(t.tensor([1.0, 2.0], requires_grad=True) ** 2).sum()
t.tensor([[1.0, 2.0]], requires_grad=True).expand(3, 2) * 1
t.ones(40, requires_grad=True) * 1.5
t.ones(30, requires_grad=True).exp()
t.ones(2, 2, requires_grad=True)[0]
t.ones(4, requires_grad=True).split(2)
t.ones(2, requires_grad=True).max(0)
t.arange(6.0).max(0)
t.ones(2, 3).max(0)
[t.tensor(1.0), t.tensor([2])]
t.ones(3).shape
t.Size([1, 2])
t.Size([])
t.float32
t.int64
t.complex64
t.bool
t.device('cpu')
t.ones(2).device
t.finfo(t.float32)
t.iinfo(t.int8)
t.tensor([1.0, 2.0]).numpy()
t.tensor([0.1, 1e-8])
t.tensor([1e-3, 1e3])
t.tensor([1e-4, 1e4])
t.tensor([1.00001, 1.0])
t.tensor([12345.678])
t.tensor([1234567.8, 1.0])
t.tensor([[1e-8, 1e8], [1, 2]])
t.tensor([1000000, 1])
t.tensor([16777216.0, 1.0])
t.tensor([0.5] * 3)
t.tensor([1.0, float('nan'), float('inf'), -2.5])
t.tensor(1e-7)
t.tensor(123456.0)
t.tensor(1e20)
t.tensor([1e38, 1.0])
t.tensor([65504.0], dtype=t.float16)
"""


@pytest.mark.parametrize("line", LINES.strip().splitlines())
@pytest.mark.parametrize("text", [repr, str, format], ids=["repr", "str", "format"])
def test_text(line, text):
    theirs = outcome(lambda t: text(eval(line, {"t": t})), torch)
    ours = outcome(lambda t: text(eval(line, {"t": t})), wengert)
    assert ours == theirs


def test_print_options():
    lines = ["t.tensor([1 / 3, 2.0])", "t.arange(2000)", "t.tensor([1e-5, 1.0])"]
    options = [
        {"precision": 2},
        {"threshold": 5},
        {"edgeitems": 1, "threshold": 5},
        {"sci_mode": True},
        {"sci_mode": False},
        {"linewidth": 40},
        {"profile": "short"},
        {"profile": "full"},
    ]
    for option in options:
        found = []
        for t in (wengert, torch):
            try:
                t.set_printoptions(**option)
                found.append([repr(eval(line, {"t": t})) for line in lines])
            finally:
                t.set_printoptions(profile="default", sci_mode=None)
        assert found[0] == found[1], option
