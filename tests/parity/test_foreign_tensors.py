"""Test PyTorch's tensors and functions in place of wengert's, and the reverse."""

import pytest

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def subclassed():
    class Marked(wg.Tensor):
        pass

    return wg.ones(2).as_subclass(Marked)


OURS = {
    "tensor": lambda: wg.ones(2),
    "parameter": lambda: wg.nn.Parameter(wg.ones(2)),
    "subclass": subclassed,
}
THEIR_FUNCTIONS = {
    "relu": lambda x: torch.relu(x),
    "logsigmoid": lambda x: torch.nn.functional.logsigmoid(x),
    "functional": lambda x: torch.nn.functional.relu(x),
    "method": lambda x: torch.ones(2).add(x),
    "operator": lambda x: torch.ones(2) + x,
    "reflected operator": lambda x: x + torch.ones(2),
    "layer": lambda x: torch.nn.Linear(2, 2)(x),
}


@pytest.mark.filterwarnings("ignore:Defining your `__torch_function__`")
@pytest.mark.parametrize("call", THEIR_FUNCTIONS.values(), ids=THEIR_FUNCTIONS)
@pytest.mark.parametrize("make", OURS.values(), ids=OURS)
def test_functions_of_pytorch_refuse_our_tensors(make, call):
    with pytest.raises(TypeError, match=r"__torch_function__|unsupported operand"):
        call(make())


@pytest.mark.parametrize(
    "call",
    [
        lambda x: wg.nn.Linear(2, 2)(x),
        lambda x: wg.nn.Conv1d(1, 1, 1)(x),
        lambda x: wg.cat([x, x]),
        lambda x: wg.nn.Parameter(x),
        lambda x: wg.optim.SGD([x], lr=0.1),
        lambda x: wg.mm(wg.ones(2, 2), x),
    ],
)
def test_errors_tell_tensors_of_pytorch_from_ours(call):
    with pytest.raises(TypeError, match=r"torch\.Tensor"):
        call(torch.ones(2))
