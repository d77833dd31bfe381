"""Test programs in legacy idioms and in mixed precision against PyTorch."""

import re

import numpy as np
import pytest

import wengert

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

LINES = """
t.FloatTensor([1, 2]), t.LongTensor([1.5, 2]), t.BoolTensor([0, 2]), t.ByteTensor([-1, 255])
t.Tensor([1, 2]), t.Tensor((2, 3)), t.Tensor(2, 3).shape, t.Tensor(t.Size([2])).shape, t.Tensor()
t.FloatTensor, t.FloatTensor.dtype, t.FloatTensor.__name__, t.FloatTensor.is_cuda
isinstance(t.ones(1), t.FloatTensor), isinstance(t.ones(1), t.LongTensor)
t.ones(2).type(t.LongTensor), t.ones(2).type("torch.DoubleTensor"), t.ones(2).type()
t.tensor([1, 2]).new([1.5, 2]), t.tensor([1, 2]).new(3).shape, t.tensor([1.0]).new()
t.Tensor(2.5)
t.Tensor(True)
t.Tensor("ab")
t.Tensor(2.0, 3)
t.FloatTensor([[1], [2, 3]])
t.IntTensor([2**40])
t.ones(2).type("torch.FooTensor")
t.set_default_tensor_type("torch.IntTensor")
t.zeros(3).scatter_(0, t.tensor(1), value=1), t.arange(3).gather(0, t.tensor(2))
t.cat([t.ones(1), t.zeros(1)], axis=0), t.stack([t.ones(1)] * 2, axis=1), t.ones(2).cumsum(axis=0)
t.ones(2).storage(), t.ones(2, dtype=t.int16).untyped_storage(), t.ones(2, 3).T.storage().tolist()
t.get_default_device(), t.ones(1).layout, t.ones(1).get_device(), t.typename(t.ones(1))
t.backends.cudnn.enabled, t.backends.cudnn.benchmark, t.backends.mps.is_available()
t.cuda.is_available(), t.cuda.device_count(), t.cuda.memory_allocated(), t.cuda.manual_seed(1)
t.accelerator.is_available(), t.accelerator.current_accelerator(), t.version.cuda
t.amp.GradScaler("cpu", enabled=False).get_scale(), t.amp.GradScaler("cpu").state_dict()
list(t.nn.DataParallel(t.nn.Linear(1, 1)).state_dict())
t.nn.functional.cosine_similarity(t.ones(1, 2).half(), t.ones(1, 2).half())
""".strip().splitlines()


def printed(line, library):
    try:
        return re.sub(r"0x[0-9a-f]+", "0x", repr(eval(line, {"t": library})))
    except Exception as error:
        return type(error).__name__


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", LINES)
def test_old_idioms_print_what_pytorch_prints(line):
    assert printed(line, wengert) == printed(line, torch)


CASTS = {
    "mm": "x @ x.T",
    "vector": "x @ x[0]",
    "bmm": "t.bmm(b, b.mT)",
    "addmm": "t.addmm(t.ones(2, 2), x, x.T)",
    "einsum": "t.einsum('ij,kj->ik', x, x)",
    "linear": "F.linear(x, x, t.ones(2))",
    "conv": "F.conv2d(c, t.ones(3, 2, 3, 3))",
    "mixed": "x @ low.T",
    "float64": "x.double() @ x.double().T",
    "exp": "x.exp()",
    "exp low": "low.exp()",
    "add": "x + low",
    "cat": "t.cat([x, low])",
    "softmax": "low.softmax(1)",
    "relu": "low.relu()",
    "layer norm": "F.layer_norm(low, (4,))",
    "mse": "F.mse_loss(low, low)",
    "cross entropy": "F.cross_entropy(low, t.tensor([0, 1]))",
    "bce": "F.binary_cross_entropy_with_logits(low, x.sigmoid())",
    "huber": "F.huber_loss(low, low)",
    "prod": "low.prod()",
    "sum": "low.sum()",
    "attention": "t.nn.MultiheadAttention(4, 2)(b, b, b)[0]",
}


@pytest.mark.parametrize("name", CASTS)
def test_autocast_computes_in_pytorchs_dtypes(name):
    found = []
    for library in (torch, wengert):
        library.manual_seed(0)
        names = {
            "t": library,
            "F": library.nn.functional,
            "x": library.rand(2, 4),
            "b": library.rand(2, 3, 4),
            "c": library.rand(1, 2, 6, 6),
        }
        names["low"] = names["x"].half()
        with library.autocast("cpu", dtype=library.float16):
            result = eval(CASTS[name], names)
        found.append((str(result.dtype), result.detach().double().numpy()))
    (ours, values), (theirs, expected) = found[1], found[0]
    assert ours == theirs
    np.testing.assert_allclose(values, expected, rtol=5e-3, atol=5e-3)


def test_a_training_loop_in_mixed_precision_takes_pytorchs_steps():
    losses = []
    for library in (torch, wengert):
        library.manual_seed(0)
        net = library.nn.Sequential(
            library.nn.Linear(3, 8), library.nn.ReLU(), library.nn.Linear(8, 1)
        )
        optimizer = library.optim.SGD(net.parameters(), lr=0.1)
        scaler = library.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)
        x = library.randn(16, 3)
        y = x.sum(1, keepdim=True)
        kept = []
        for step in range(12):
            with library.autocast("cpu", dtype=library.float16):
                loss = library.nn.functional.mse_loss(net(x), y)
            scaler.scale(loss * (float("inf") if step == 5 else 1)).backward()
            scaler.unscale_(optimizer)
            library.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            kept.append((loss.item(), scaler.get_scale()))
        losses.append(np.array(kept))
    np.testing.assert_allclose(losses[1][:, 0], losses[0][:, 0], rtol=1e-2)
    np.testing.assert_array_equal(losses[1][:, 1], losses[0][:, 1])


def test_what_is_part_of_a_graph_is_saved_as_pytorch_does(tmp_path):
    found = []
    for library in (torch, wengert):
        loss = (library.ones(2, requires_grad=True) * 2).sum()
        library.save({"epoch": 3, "loss": loss}, tmp_path / library.__name__)
        found.append(repr(library.load(tmp_path / library.__name__)))
    assert found[0] == found[1]
