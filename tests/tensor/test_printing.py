"""Test the printed form of tensors."""

import pytest

import wengert as wg

TEXTS = {
    "wg.tensor(5.0)": "tensor(5.)",
    "wg.tensor(5)": "tensor(5)",
    "wg.tensor(True)": "tensor(True)",
    "wg.tensor([])": "tensor([])",
    "wg.tensor([1, -2, 30])": "tensor([ 1, -2, 30])",
    "wg.tensor([1.0, 2.5])": "tensor([1.0000, 2.5000])",
    "wg.tensor([1.0, 2.0])": "tensor([1., 2.])",
    "wg.tensor([True, False])": "tensor([ True, False])",
    "wg.tensor([1e10, 1.0])": "tensor([1.0000e+10, 1.0000e+00])",
    "wg.tensor([float('nan'), float('inf'), 1.0])": "tensor([nan, inf, 1.])",
    "wg.tensor([[1.0, 2.0], [3.0, 4.0]])": "tensor([[1., 2.],\n        [3., 4.]])",
    "wg.tensor([1.0], dtype=wg.float64)": "tensor([1.], dtype=torch.float64)",
    "wg.tensor([1], dtype=wg.int32)": "tensor([1], dtype=torch.int32)",
    "wg.tensor([1 + 2j])": "tensor([1.+2.j])",
    "wg.tensor([1.0], requires_grad=True)": "tensor([1.], requires_grad=True)",
    "wg.tensor([1.0], requires_grad=True).exp()": "tensor([2.7183], grad_fn=<ExpBackward0>)",
    "wg.empty(0, 3)": "tensor([], size=(0, 3))",
    "wg.arange(2000)": "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])",
    "wg.ones(2, 3).shape": "torch.Size([2, 3])",
    "wg.float32": "torch.float32",
    "wg.ones(1).device": "device(type='cpu')",
}


@pytest.mark.parametrize("code", TEXTS)
def test_repr(code):
    assert repr(eval(code, {"wg": wg})) == TEXTS[code]


def test_str_and_format():
    x = wg.tensor(3.14159)
    assert str(x) == "tensor(3.1416)"
    assert f"{x}" == str(x.item())
    assert f"{x:.2f}" == "3.14"
    assert f"{wg.ones(2)}" == "tensor([1., 1.])"


def test_long_lines_are_broken():
    text = repr(wg.arange(30.0))
    assert text.splitlines()[1].startswith("        ")
    assert max(map(len, text.splitlines())) <= 80


def test_printing_records_nothing_and_changes_nothing():
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    node = y.grad_fn
    repr(y)
    assert y.grad_fn is node and y._version == 0
