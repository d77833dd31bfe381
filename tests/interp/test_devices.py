"""Test arrays of another library under ``device="cuda"``, with a stand-in as strict as CuPy."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import wengert as wg
import wengert.numpy as xp
from support.device_arrays import Array, devices
from support.samples import samples
from wengert.base.device import as_device
from wengert.interp.devices import DeviceArray, sent
from wengert.interp.eager import K
from wengert.prims.table import TABLE


@pytest.fixture(autouse=True)
def _devices():
    with devices():
        yield


def _on(x):
    assert isinstance(x._payload, DeviceArray), x
    assert isinstance(x._payload.array, Array)
    return x.cpu()


def test_creation_and_transfer():
    x = wg.tensor([1.0, 2.0], device="cuda")
    assert repr(x) == "tensor([1., 2.], device='cuda:0')"
    assert (x.device, x.is_cuda, x.is_cpu, x.get_device()) == (wg.device("cuda:0"), True, False, 0)
    assert x.cpu().device == wg.device("cpu") and x.to("cuda") is x and x.cpu() is not x
    assert x.to(1).device == wg.device("cuda", 1)
    assert wg.zeros_like(x).is_cuda and x.new_ones(3).is_cuda and wg.ones(2).to(x).is_cuda
    for made in (wg.zeros(2, device="cuda"), wg.arange(2.0, device="cuda"), wg.rand_like(x)):
        assert _on(made).shape == (2,)
    wg.manual_seed(0)
    here = wg.randn(3)
    wg.manual_seed(0)
    np.testing.assert_array_equal(_on(wg.randn(3, device="cuda")).numpy(), here.numpy())
    assert wg.as_tensor(np.ones(2), device="cuda").dtype == wg.float64
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        wg.ones(1, device="cuda:2")


def test_gradients_flow_between_devices():
    a = wg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b = a.cuda()
    assert b.grad_fn.name() == "ToCopyBackward0"
    (b.exp() * b).sum().backward()
    assert a.grad.is_cpu
    np.testing.assert_allclose(a.grad.numpy(), np.exp([1, 2, 3]) * np.array([2, 3, 4]), rtol=1e-6)
    w = b.detach().requires_grad_()
    (first,) = wg.autograd.grad((w**3).sum(), w, create_graph=True)
    (second,) = wg.autograd.grad(first.sum(), w)
    np.testing.assert_allclose(_on(second).numpy(), [6, 12, 18])


def test_mixed_devices_are_refused():
    x, y = wg.ones(3, device="cuda"), wg.ones(3)
    words = "Expected all tensors to be on the same device, but found at least two devices, cuda:"
    for call in (
        lambda: x + y,
        lambda: y * x,
        lambda: wg.cat([x, y]),
        lambda: y @ x,
        lambda: x.add_(y),
        lambda: wg.where(x > 0, x, y),
        lambda: x + wg.ones(3, device="cuda:1"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()
    with pytest.raises(RuntimeError, match="same device"):
        y.add_(x)
    assert _on(x + wg.tensor(2.0)).tolist() == [3, 3, 3]
    with pytest.raises(TypeError, match=r"can't convert cuda:0 device type tensor to numpy"):
        x.numpy()
    with pytest.raises(TypeError, match="can't convert cuda:0"):
        np.asarray(x)
    with pytest.raises(RuntimeError, match="assign a gradient of device type 'cpu'"):
        x.requires_grad_().grad = y
    with pytest.raises(RuntimeError, match="same device"):
        (x * 2).backward(y)


def test_views_and_writes():
    x = wg.arange(6.0, device="cuda").reshape(2, 3)
    row, column = x[0], x.t()[2]
    row.mul_(10)
    x[:, 2] = 7.0
    x[1, 0] = wg.tensor(-1.0)
    column.add_(1)
    assert _on(x).tolist() == [[0, 10, 8], [-1, 4, 8]]
    assert row.data.tolist() == [0, 10, 8]
    x[wg.tensor([0, 1]), wg.tensor([1, 0], device="cuda")] = 5
    assert _on(x[x == 5]).tolist() == [5, 5]
    x.copy_(wg.ones(3))
    wg.zeros(2, 3).copy_(x)
    assert x.sum().item() == 6
    leaf = wg.ones(2, device="cuda", requires_grad=True)
    y = leaf * 1
    y[0] = leaf[1] * 3
    y.sum().backward()
    assert _on(leaf.grad).tolist() == [0, 4]
    saved = leaf.exp()
    saved.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()
    outside = wg.tensor([0, 3], device="cuda")
    for call in (
        lambda: x[outside],
        lambda: x.take(outside + 5),
        lambda: x.gather(1, outside[None]),
        lambda: x.index_add(1, outside, x[:, :2]),
        lambda: wg.nn.functional.embedding(outside, x),
        lambda: wg.nn.functional.cross_entropy(x, outside),
    ):
        with pytest.raises((IndexError, RuntimeError), match=r"out of (bounds|range)"):
            call()


def test_derivatives_are_checked_there():
    class Wrong(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            assert x.is_cuda
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    x = wg.tensor([1.5, 2.0], dtype=wg.float64, device="cuda", requires_grad=True)
    assert wg.autograd.gradcheck(lambda x: x.sin() * x, (x,), check_forward_ad=True)
    assert wg.autograd.gradgradcheck(lambda x: x.sin() * x, (x,), wg.ones_like(x))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        wg.autograd.gradcheck(Wrong.apply, x)


def test_transforms_and_copies():
    x = wg.tensor([1.0, 2.0], device="cuda")
    np.testing.assert_allclose(_on(wg.func.vmap(wg.func.grad(wg.sin))(x)).numpy(), np.cos([1, 2]))
    primal, tangent = wg.func.jvp(wg.exp, (x,), (wg.ones_like(x),))
    np.testing.assert_allclose(_on(tangent).numpy(), _on(primal).numpy())
    assert _on(copy.deepcopy(x)).tolist() == [1, 2]
    assert wg.equal(x, x.clone()) and not wg.equal(x, x + 1) and wg.allclose(x, x + 1e-9)
    with pytest.raises(RuntimeError, match="same device"):
        wg.equal(x, x.cpu())
    with pytest.raises(TypeError, match="can't convert cuda:0"):
        np.array_equal(x._payload, x._payload)
    np.testing.assert_allclose(_on(wg.func.jacrev(wg.sin)(x)).numpy(), np.diag(np.cos([1, 2])))
    rows = wg.func.vmap(lambda row: row.clone().add_(row))(wg.eye(2, device="cuda"))
    assert _on(rows).tolist() == [[2, 0], [0, 2]]
    _, written = wg.func.jvp(lambda x: x.clone().mul_(x), (x,), (wg.ones_like(x),))
    assert _on(written).tolist() == [2, 4]
    with wg.autograd.forward_ad.dual_level():
        dual = wg.autograd.forward_ad.make_dual(x, wg.ones_like(x)).clone()
        dual[0] = dual[1] * 3
        assert _on(wg.autograd.forward_ad.unpack_dual(dual).tangent).tolist() == [3, 1]
    q = wg.eye(3, device="cuda")[None]
    seen = wg.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)
    assert _on(seen)[0, 0].tolist() == [1, 0, 0]
    assert _on(wg.bernoulli(q)).tolist() == _on(q).tolist()
    with pytest.raises(TypeError, match="cpu"):
        pickle.dumps(x)
    with pytest.raises(BufferError, match="another device"):
        x.__dlpack_device__()
    f = wg.compile(lambda x: x * 2)
    with pytest.warns(UserWarning, match="an argument is on another device"):
        f(x)
    assert [_on(f(x * n)).tolist() for n in (1, 3)] == [[2, 4], [6, 12]]


@pytest.mark.parametrize("optimiser", [wg.optim.SGD, wg.optim.Adam], ids=["SGD", "Adam"])
def test_a_network_is_trained_as_on_the_cpu(optimiser):
    def trained(device):
        wg.manual_seed(0)
        net = wg.nn.Sequential(
            wg.nn.Linear(4, 8), wg.nn.LayerNorm(8), wg.nn.ReLU(), wg.nn.Dropout(0.1),
            wg.nn.Linear(8, 3),
        ).to(device)  # fmt: skip
        opt = optimiser(net.parameters(), 0.05)
        x = wg.randn(16, 4).to(device)
        target = (wg.arange(16) % 3).to(device)
        for _ in range(4):
            opt.zero_grad()
            loss = wg.nn.functional.cross_entropy(net(x), target)
            loss.backward()
            opt.step()
        return net, loss

    net, loss = trained("cuda")
    other, known = trained("cpu")
    assert all(p.is_cuda and p.grad.is_cuda for p in net.parameters())
    np.testing.assert_allclose(loss.item(), known.item(), rtol=1e-5)
    for p, q in zip(net.cpu().parameters(), other.parameters(), strict=True):
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-4, atol=1e-5)


def test_convolutions_pooling_and_recurrent_layers_compute_there():
    def run(device):
        wg.manual_seed(0)
        image, text = wg.randn(2, 2, 9, 9).to(device), wg.randn(4, 2, 3).to(device)
        net = wg.nn.Sequential(
            wg.nn.Conv2d(2, 4, 3, stride=2, padding=1, groups=2), wg.nn.MaxPool2d(2, 1),
            wg.nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1),
            wg.nn.AvgPool2d(3, 2, padding=1),
        ).to(device)  # fmt: skip
        kinds = [kind(3, 5, bidirectional=True).to(device) for kind in (wg.nn.LSTM, wg.nn.GRU)]
        loss = net(image).square().mean() + sum(kind(text)[0].square().sum() for kind in kinds)
        loss.backward()
        grads = [p.grad for part in (net, *kinds) for p in part.parameters()]
        assert all(str(g.device.type) == device for g in grads)
        holed = image.masked_fill(image > 1, float("nan"))
        places = wg.nn.functional.max_pool2d(holed, 3, 2, return_indices=True)[1]
        return [x.detach().cpu() for x in (loss, places, *grads)]

    for one, other in zip(run("cuda"), run("cpu"), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-5)


CLASSES = [0, 2, 1, 0]
PROGRAMS = {
    "cross_entropy": lambda F, x, c: F.cross_entropy(x, c, label_smoothing=0.1),
    "multi_margin": lambda F, x, c: F.multi_margin_loss(x, c),
    "multilabel_margin": lambda F, x, c: F.multilabel_margin_loss(x, wg.stack([c] * 3, 1)),
    "embedding_bag": lambda F, x, c: F.embedding_bag(c, x, wg.tensor([0, 1], device=x.device)),
    "embedding_bag of rows": lambda F, x, c: F.embedding_bag(c.view(2, 2), x, mode="max"),
    "alpha_dropout": lambda F, x, c: F.alpha_dropout(x, training=True),
    "rrelu": lambda F, x, c: F.rrelu(x, training=True),
    "gumbel_softmax": lambda F, x, c: F.gumbel_softmax(x),
    "fractional_max_pool2d": lambda F, x, c: F.fractional_max_pool2d(x[None], 2, 2),
    "quantile": lambda F, x, c: x.quantile(wg.tensor([0.2, 0.6], device=x.device), dim=1),
    "nanquantile": lambda F, x, c: x.nanquantile(0.3),
    "matrix_exp": lambda F, x, c: wg.linalg.matrix_exp(x @ x.T),
    "an index beside a number": lambda F, x, c: (x * 1)[c, 1],
    "rows of a transpose": lambda F, x, c: x.T[:, c],
    "index_add_": lambda F, x, c: wg.zeros_like(x).index_add_(0, c, x),
    "scatter_": lambda F, x, c: (x * 1).scatter_(1, c[:, None], 9.0),
    "multinomial": lambda F, x, c: x.exp().multinomial(1) * x,
    "normal": lambda F, x, c: wg.normal(x.detach(), 2.0) * x,
    "bincount": lambda F, x, c: c.bincount(x[:, 0].detach()).sum() * x,
    "combinations": lambda F, x, c: wg.combinations(x[0]),
    "cond": lambda F, x, c: wg.linalg.cond(x[:3] + 9 * wg.eye(3, device=x.device), 1),
    "gaussian_nll": lambda F, x, c: F.gaussian_nll_loss(x, x[0].expand(4, 3), 2.0),
    "GRU": lambda F, x, c: wg.nn.GRU(3, 2, bias=False).to(x.device)(x)[0],
    "histogram": lambda F, x, c: wg.histogram(x, 3, weight=x)[0] * x[0],
    "histogram of edges": lambda F, x, c: x.histogram(x.detach().view(-1).sort()[0])[1][0] * x,
    "householder_product": lambda F, x, c: wg.linalg.householder_product(x, x[0]),
    "matrix_power": lambda F, x, c: wg.linalg.matrix_power(x[:3], 0),
    "matrix_rank": lambda F, x, c: wg.linalg.matrix_rank(x) * x,
    "one_hot": lambda F, x, c: F.one_hot(c) * x,
    "pca_lowrank": lambda F, x, c: wg.pca_lowrank(x, 3)[1],
    "repeat_interleave": lambda F, x, c: x.repeat_interleave(c, 0),
    "scatter a number": lambda F, x, c: x.scatter(0, c[:3, None], 2.0, reduce="add"),
    "segment_reduce": lambda F, x, c: wg.segment_reduce(
        x, "max", lengths=c.clamp(max=2) + (c == 1), initial=0.0
    ),
    "vander": lambda F, x, c: wg.vander(x[0]),
    "poisson": lambda F, x, c: wg.poisson(x.exp()).detach() * x,
    **{
        name: lambda F, x, c, make=make: make(wg.distributions, x.exp()).rsample()
        for name, make in {
            "Normal": lambda D, r: D.Normal(r, r),
            "Uniform": lambda D, r: D.Uniform(-r, r),
            "MultivariateNormal": lambda D, r: D.MultivariateNormal(r, wg.diag_embed(r)),
            "RelaxedBernoulli": lambda D, r: D.RelaxedBernoulli(r[0, 0], logits=r),
        }.items()
    },
    **{
        name: lambda F, x, c, make=make: make(wg.distributions, x.exp()).sample() * x
        for name, make in {
            "Gamma": lambda D, r: D.Gamma(r, r),
            "Beta": lambda D, r: D.Beta(r, r),
            "Dirichlet": lambda D, r: D.Dirichlet(r),
            "StudentT": lambda D, r: D.StudentT(r),
            "Categorical": lambda D, r: D.Categorical(r.repeat(3, 1, 1).permute(1, 2, 0)),
            "Binomial": lambda D, r: D.Binomial(4, logits=r),
        }.items()
    },
}


def test_arrays_of_the_standard_are_sent():
    x = xp.asarray([1.0, 2.0]).requires_grad_()
    there = x.to_device("cuda")
    assert isinstance(there, xp.ndarray) and there.device == wg.device("cuda:0")
    assert there.to_device("cuda") is there and x.to_device("cpu") is x
    for made in (xp.asarray(x, device="cuda"), xp.array([1.0, 2.0], device="cuda")):
        assert isinstance(made, xp.ndarray) and _on(made).tolist() == [1, 2]
    for back in (there.to_device("cpu"), xp.asarray(there, device="cpu")):
        assert isinstance(back, xp.ndarray) and isinstance(back._payload, np.ndarray)
    xp.sum(there * there).backward()
    assert x.grad.tolist() == [2, 4]


def _packed(nn, x):
    layer = nn.LSTM(3, 2).to(x.device)
    packed = nn.utils.rnn.pack_padded_sequence(x[:, None].repeat(1, 2, 1), [2, 4], False, False)
    return nn.utils.rnn.pad_packed_sequence(layer(packed)[0])[0]


LAYERS = {
    "LazyLinear": lambda nn, x: nn.LazyLinear(2).to(x.device)(x),
    "LazyConv1d": lambda nn, x: nn.LazyConv1d(2, 2).to(x.device)(x[None]),
    "LazyBatchNorm1d": lambda nn, x: nn.LazyBatchNorm1d().to(x.device)(x),
    "sparse_": lambda nn, x: nn.init.sparse_(wg.empty(3, 4, device=x.device), 0.5) @ x,
    "packed sequences": _packed,
    **{
        way: lambda nn, x, way=way: nn.utils.parametrizations.orthogonal(
            nn.Linear(3, 2).to(x.device), orthogonal_map=way
        )(x)
        for way in ("matrix_exp", "cayley", "householder")
    },
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_computes_there_as_here(name):
    found = []
    for device in ("cuda", "cpu"):
        wg.manual_seed(0)
        x = wg.randn(4, 3).to(device).requires_grad_()
        y = LAYERS[name](wg.nn, x)
        y.square().sum().backward()
        found.append([y.detach(), x.grad])
    there, here = found
    wg.testing.assert_close(there, [part.cuda() for part in here], rtol=1e-4, atol=1e-5)
    with pytest.raises(AssertionError, match="'device' do not match: cuda:0 != cpu"):
        wg.testing.assert_close(there, here, rtol=1e-4, atol=1e-5)
    wg.testing.assert_close(there, here, rtol=1e-4, atol=1e-5, check_device=False)


def test_what_has_no_form_there_says_so():
    x = wg.ones(4, 4, device="cuda")
    with pytest.raises(NotImplementedError, match=r"another device: use linalg\.qr"):
        wg.geqrf(x)
    with pytest.raises(RuntimeError, match="not supported for tensors on 'cuda:0'"):
        x.resize_(2, 2)
    with pytest.raises(NotImplementedError, match="on 'cuda:0' has no storage"):
        x.untyped_storage()
    assert x.share_memory_() is x and x.is_shared()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_computes_there_as_here(name):
    def run(device):
        wg.manual_seed(0)
        x = wg.randn(4, 3).to(device).requires_grad_()
        y = PROGRAMS[name](wg.nn.functional, x, wg.tensor(CLASSES, device=device))
        (y * y).sum().backward()
        assert y.device.type == x.grad.device.type == device
        return [y.detach().cpu().numpy(), x.grad.cpu().numpy()]

    for one, other in zip(run("cuda"), run("cpu"), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [n for n in wg.optim.__all__ if n[0].isupper()])
def test_an_optimiser_steps_there_as_here(name):
    kind = getattr(wg.optim, name)
    if name in ("Optimizer", "SparseAdam"):
        pytest.skip("takes no dense gradients")

    def run(device):
        wg.manual_seed(0)
        layer = wg.nn.Linear(4, 3, bias=False).to(device)
        optimiser = kind(layer.parameters(), lr=0.01)
        for _ in range(2):
            optimiser.zero_grad()
            layer(wg.ones(2, 4, device=device)).square().sum().backward()
            optimiser.step(*([lambda: layer.weight.sum()] if name == "LBFGS" else []))
        return layer.weight.detach().cpu().numpy()

    np.testing.assert_allclose(run("cuda"), run("cpu"), rtol=1e-4, atol=1e-6)


_PLACE = "cuda:0"
REFUSED = frozenset(Path(__file__).with_name("refused_on_devices.txt").read_text().split())
"""The primitives for which CuPy has no function, or whose kernel needs NumPy's memory."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", sorted(set(TABLE) - {"to_device"}))
def test_a_primitive_computes_there_or_refuses(name):
    prim = TABLE[name]
    domains = prim.domain if isinstance(prim.domain, tuple) else (prim.domain,)
    dtype = np.complex128 if "complex" in domains else np.float64
    F = sent(np.zeros(1), as_device(_PLACE))._namespace
    for sample in samples(prim, dtype, np.random.default_rng(0)):
        expected = getattr(K, name)(*sample.arrays, **sample.params)
        arrays = [sent(array, _PLACE) for array in sample.arrays]
        try:
            found = getattr(F, name)(*arrays, **sample.params)
        except NotImplementedError as error:
            assert "is not available for tensors on 'cuda:0'" in str(error)
            assert name in REFUSED
            continue
        parts = (
            zip(expected, found, strict=True) if isinstance(found, tuple) else [(expected, found)]
        )
        for one, other in parts:
            np.testing.assert_allclose(other.fetched(), one, rtol=1e-6, atol=1e-12)
            assert other.dtype == one.dtype
