"""Test layers against PyTorch: initial values, text, results, gradients, buffers, errors."""

import pytest

import wengert
from support.layers import LAYERS, MISUSED, calls
from support.parity import assert_same, outcome

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

CALLS, MISUSES = calls(LAYERS), calls(MISUSED)
# PyTorch's derivative has 1/6 in single precision
TOLERANCES = {"Hardsigmoid() <- x(3, 4)": 1e-7}


def state(layer):
    return {name: value.detach() for name, value in layer.state_dict().items()}


def flat(value):
    return [t for item in value for t in flat(item)] if isinstance(value, tuple) else [value]


def used(layer, module):
    """What a layer is and gives, in training and in evaluation."""
    module.manual_seed(3)
    made = layer.make(module)
    args, leaves = layer.arguments(module)
    found = {"text": repr(made)}
    if layer.line.startswith("Lazy"):
        made(*args)
    found["parameters"] = [(name, param.tolist()) for name, param in made.named_parameters()]
    module.manual_seed(4)
    output = made(*args)
    found |= {"output": output, "text then": repr(made), "state": state(made)}
    outputs = [t for t in flat(output) if t.requires_grad]
    if outputs:
        leaves += made.parameters()
        weights = [module.linspace(1, 2, t.numel(), dtype=t.dtype).view(t.shape) for t in outputs]
        grads = module.autograd.grad(outputs, leaves, weights, allow_unused=True)
        found["gradients"] = [None if g is None else g.detach() for g in grads]
    found["evaluated"] = made.eval()(*args)
    return found


@pytest.mark.parametrize("line", CALLS)
def test_a_layer_does_what_pytorchs_does(line):
    ours, theirs = (
        outcome(lambda module: used(CALLS[line], module), module) for module in (wengert, torch)
    )
    if isinstance(theirs, dict):
        # from the same seed come the same parameters, to the last bit
        assert ours.pop("parameters") == theirs.pop("parameters")
    assert_same(ours, theirs, line, rtol=TOLERANCES.get(line, 1e-8), atol=1e-10)


@pytest.mark.parametrize("line", MISUSES)
def test_a_misuse_is_refused_in_pytorchs_first_words(line):
    def misuse(module):
        made = MISUSES[line].make(module)
        return made(*MISUSES[line].arguments(module)[0])

    assert_same(*(outcome(misuse, module) for module in (wengert, torch)), line)
