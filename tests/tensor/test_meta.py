"""Test tensors on the device ``meta``: shapes, dtypes and histories without values."""

import copy
import io
import os
from pathlib import Path

import pytest

import wengert as wg
from wengert import nn


def test_operations_give_shapes():
    x = wg.ones(3, 4).to("meta")
    assert x.device == wg.device("meta") and x.is_meta and not x.is_cpu
    assert (x @ x.t()).shape == (3, 3) and x.t().stride() == (1, 4)
    assert wg.cat([x, x]).is_meta and x.view(-1).is_meta and x.sum().shape == ()
    assert x.to(wg.float64).dtype is wg.float64 and x.to(wg.float64).is_meta
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes"):
        x @ x


STATUS = Path("/proc/self/statm")


@pytest.mark.skipif(not STATUS.exists(), reason="the system does not say what a process takes")
def test_large_ones_take_no_memory_of_note():
    def taken():
        return int(STATUS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    before = taken()
    x = wg.empty(20_000, 20_000, device="meta")
    assert x.numel() == 4 * 10**8 and x[:5].add(1).shape == (5, 20_000)
    assert taken() - before < x.numel()


def test_they_lie_as_what_they_are_like():
    x = wg.ones(300, 2, 400).permute(2, 0, 1)
    assert x.to("meta").stride() == x.stride() == (1, 800, 400)


@pytest.mark.parametrize(
    ("read", "error", "text"),
    [
        (lambda x: x.item(), RuntimeError, "cannot be called on meta tensors"),
        (lambda x: bool(x), RuntimeError, "cannot be called on meta tensors"),
        (lambda x: x.nonzero(), RuntimeError, "cannot be called on meta tensors"),
        (lambda x: x.unique(), RuntimeError, "cannot be called on meta tensors"),
        (lambda x: x.masked_select(x > 0), RuntimeError, "cannot be called on meta"),
        (lambda x: x.expand(3)[x.expand(3) > 0], RuntimeError, "cannot be called on meta tensors"),
        (lambda x: wg.where(x > 0), RuntimeError, "cannot be called on meta tensors"),
        (lambda x: wg.nn.functional.one_hot(x.long()), RuntimeError, "cannot be called on meta"),
        (lambda x: x.expand(2).repeat_interleave(x.long().expand(2)), RuntimeError, "cannot be"),
        (lambda x: x.cpu(), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
        (lambda x: x.to("cpu"), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
        (lambda x: x.numpy(), TypeError, "can't convert meta device type tensor"),
    ],
)
def test_values_cannot_be_read(read, error, text):
    with pytest.raises(error, match=text):
        read(wg.ones((), device="meta"))


def test_modules_are_made_on_it_and_brought_to_memory():
    wg.manual_seed(0)
    expected = wg.rand(1)
    wg.manual_seed(0)
    with wg.device("meta"):
        model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
        assert wg.arange(3).is_meta and wg.tensor([1.0]).is_meta
    assert wg.equal(wg.rand(1), expected)  # initial values are not drawn
    assert all(p.is_meta for p in (*model.parameters(), *model.buffers()))
    assert isinstance(copy.deepcopy(model)[0].weight, nn.Parameter)
    out = model(wg.empty(5, 3, device="meta"))
    assert out.shape == (5, 2) and out.is_meta and out.requires_grad
    state = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).state_dict()
    model.load_state_dict(state, assign=True)
    assert wg.equal(model[0].weight, state["0.weight"])
    with wg.device("meta"):
        model = nn.Linear(3, 2)
    model.to_empty(device="cpu")
    assert type(model.weight) is nn.Parameter and not model.weight.is_meta
    assert model.to("meta").weight.is_meta and not wg.ones(1).is_meta


def test_gradients_are_on_it():
    x = wg.ones(2, 3, device="meta", requires_grad=True)
    (x * 2).sum().backward()
    assert (x.grad.device.type, x.grad.shape, x.grad.dtype) == ("meta", (2, 3), wg.float32)


@pytest.mark.parametrize(
    ("run", "shape"),
    [
        (lambda f, m, x: f.vmap(wg.sin)(m), (2, 3)),
        (lambda f, m, x: f.vmap(lambda a: a.sum() + 1)(m), (2,)),
        (lambda f, m, x: f.vmap(f.vmap(lambda a: 2 * a))(m), (2, 3)),
        (lambda f, m, x: f.vmap(f.grad(lambda a: a.sin().sum()))(m), (2, 3)),
        (lambda f, m, x: f.vmap(lambda a: a.to("meta"))(x), (2, 3)),
        (lambda f, m, x: f.vmap(lambda a: wg.zeros_like(a, device="meta"))(x), (2, 3)),
        (lambda f, m, x: f.vmap(lambda a: wg.empty(4, device="meta"))(x), (2, 4)),
        (lambda f, m, x: f.jvp(lambda a: a.to("meta"), (x,), (x,))[0], (2, 3)),
        (lambda f, m, x: f.jvp(wg.sin, (m,), (m,))[1], (2, 3)),
        (lambda f, m, x: f.vjp(wg.sin, m)[1](m)[0], (2, 3)),
        (lambda f, m, x: f.linearize(wg.sin, m)[1](m), (2, 3)),
        (lambda f, m, x: f.jacrev(wg.sin)(m), (2, 3, 2, 3)),
        (lambda f, m, x: f.jacfwd(wg.sin)(m), (2, 3, 2, 3)),
        (lambda f, m, x: f.hessian(lambda a: a.sin().sum())(m), (2, 3, 2, 3)),
        (lambda f, m, x: wg.autograd.functional.vjp(wg.sin, m, m)[1], (2, 3)),
    ],
)
def test_transforms_keep_shapes_and_stay_on_it(run, shape):
    x = wg.ones(2, 3)
    found = run(wg.func, x.to("meta"), x)
    assert found.is_meta and found.shape == shape


def test_tangents_are_on_it():
    forward, m = wg.autograd.forward_ad, wg.ones(2, 3, device="meta")
    with forward.dual_level():
        value, tangent = forward.unpack_dual(forward.make_dual(m, m).sin())
    assert value.is_meta and tangent.is_meta


def test_it_may_be_the_default():
    wg.set_default_device("meta")
    try:
        assert wg.ones(1).is_meta and wg.get_default_device() == wg.device("meta")
    finally:
        wg.set_default_device("cpu")
    assert not wg.ones(1).is_meta


def test_how_it_prints():
    x = wg.empty(2, 3, dtype=wg.int64, device="meta")
    assert repr(x) == "tensor(..., device='meta', size=(2, 3), dtype=torch.int64)"
    assert "Parameter containing:\ntensor(..., device='meta', size=(2, 3), requires_grad=True)" in (
        repr(nn.Linear(3, 2, device="meta").weight)
    )


def test_nothing_is_written_to_a_tensor_that_has_values():
    x, without = wg.ones(2), wg.ones(2, device="meta")
    writes = (
        lambda: x.copy_(without),
        lambda: x.add_(without),
        lambda: x.__setitem__(0, without[0]),
    )
    for write in writes:
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
            write()
    assert without.copy_(x) is without and without.add_(1) is without
    layer = nn.Linear(2, 2)
    with pytest.raises(RuntimeError, match=r'While copying the parameter named "weight".*no data'):
        layer.load_state_dict(nn.Linear(2, 2, device="meta").state_dict())


def test_it_is_saved_without_values():
    x = wg.empty(2, 3, device="meta").t()
    weight = nn.Parameter(wg.empty(2, dtype=wg.float64, device="meta"), requires_grad=False)
    file = io.BytesIO()
    wg.save({"x": [x, x], "w": weight, "y": wg.ones(1), "r": x.detach().requires_grad_()}, file)
    file.seek(0)
    made = wg.load(file)
    assert made["x"][0] is made["x"][1] and made["x"][0].is_meta and made["x"][0].stride() == (1, 3)
    assert isinstance(made["w"], nn.Parameter) and repr(made["w"]) == repr(weight)
    assert made["y"].tolist() == [1.0] and made["r"].requires_grad


@pytest.mark.parametrize(
    "call",
    [
        lambda m, c: m + c,
        lambda m, c: c * m,
        lambda m, c: wg.cat([c, m]),
        lambda m, c: wg.nn.functional.mse_loss(m, c),
        lambda m, c: wg.where(c > 0, m, m),
        lambda m, c: wg.nn.Linear(2, 2, device="meta")(c),
    ],
)
def test_tensors_with_and_without_values_do_not_mix(call):
    with pytest.raises(RuntimeError, match="is not on the expected device"):
        call(wg.ones(2, 2, device="meta"), wg.ones(2, 2))


def test_single_values_and_indices_mix_with_tensors_without_values():
    m, c = wg.ones(2, 2, device="meta"), wg.ones(2, 2)
    for result in (m + wg.tensor(1.0), wg.tensor(1.0) + m, m[wg.tensor([0])], m @ c, m.copy_(c)):
        assert result.is_meta
    # the argument keeps its values
    assert c.type_as(m).is_meta
    assert c.sum() == 4


def test_a_recorded_backward_pass_keeps_shapes():
    x = wg.ones(2, 3, device="meta", requires_grad=True)
    (g,) = wg.autograd.grad(x.sin().mul(x).sum(), x, create_graph=True)
    (h,) = wg.autograd.grad(g.sum(), x)
    assert (g.shape, h.shape, h.is_meta) == ((2, 3), (2, 3), True)
