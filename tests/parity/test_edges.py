"""Test calls with unusual sizes and kinds of arguments against PyTorch."""

import copy

import pytest

from support.parity import assert_same, outcome

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

CALLS = """
t.clamp(t.arange(4.0), 1, t.tensor(2.0))
t.clamp(t.arange(4), t.tensor(0.5), 2)
t.arange(4.0).clamp_(min=1, max=t.tensor(2))
t.clamp(t.arange(4.0), 1, t.ones(4))
t.clamp(t.arange(4.0), t.tensor(0.5, requires_grad=True), 2)
t.arange(4.0).clamp_(t.ones(4), 2)
t.addr(t.eye(3), t.ones(3), t.arange(3.0), alpha=t.tensor(2.0), beta=t.tensor(3))
t.eye(3).addr_(t.ones(3), t.arange(3.0), alpha=-t.tensor(2.0))
t.addr(t.eye(3), t.ones(3), t.arange(3.0), alpha=t.ones(1))
t.linalg.norm(t.arange(6.0).view(2, 3), axis=-1, keepdims=True)
t.linalg.vector_norm(t.arange(6.0).view(2, 3), axis=1, keepdims=True)
t.linalg.matrix_norm(t.arange(12.0).view(2, 3, 2), axis=(0, 1), keepdims=True)
t.linalg.vector_norm(t.ones(2, 3), dim=1, axis=1)
t.fft.fft(t.arange(6.0).view(2, 3), axis=0)
t.fft.rfft2(a=t.arange(6.0).view(2, 3), axis=(0, 1))
t.fft.fftshift(t.arange(6.0).view(2, 3), axis=1)
t.cross(t.ones(2, 3), t.arange(6.0).view(2, 3), axis=1)
t.linalg.cross(t.ones(3, 2), t.arange(6.0).view(3, 2), axis=0)
t.linalg.vecdot(t.ones(3, 2), t.arange(6.0).view(3, 2), axis=0)
t.tensor_split(t.arange(6.0).view(2, 3), 2, axis=1)
t.gradient(t.arange(6.0).view(2, 3), axis=1)
t.aminmax(t.arange(6.0).view(2, 3), axis=1, keepdims=True)
t.kthvalue(t.arange(6.0).view(2, 3), 2, keepdims=True)
t.mode(t.arange(6.0).view(2, 3), keepdims=True)
t.renorm(t.ones(2, 3), 2, axis=0, maxnorm=1.0)
t.narrow_copy(t.arange(6.0).view(2, 3), axis=1, start=0, length=2)
t.slice_scatter(t.ones(2, 3), t.zeros(2, 1), axis=1, start=0, end=1)
F.cosine_similarity(t.ones(2, 3), t.arange(6.0).view(2, 3), axis=0)
F.pairwise_distance(t.ones(2, 3), t.arange(6.0).view(2, 3), keepdims=True)
t.linalg.cross(t.tensor(1.0), t.tensor(1.0))
F.soft_margin_loss(t.ones(1, 1), t.ones(2, 3))
F.soft_margin_loss(t.ones(2, 3), t.ones(1, 3))
F.multilabel_soft_margin_loss(t.arange(3.0), t.ones(2, 3), reduction="none")
F.multilabel_soft_margin_loss(t.arange(6.0).reshape(2, 3), t.ones(3), reduction="none")
F.multilabel_soft_margin_loss(t.tensor(1.0), t.tensor(1.0))
F.kl_div(t.ones(0, 3), t.ones(0, 3), reduction="batchmean")
F.nll_loss(t.ones(0, 3), t.zeros(0, dtype=t.long), ignore_index=0, reduction="sum")
F.nll_loss(t.ones(0, 3), t.zeros(0, dtype=t.long), ignore_index=0)
F.cross_entropy(t.ones(0, 3), t.zeros(0, dtype=t.long), ignore_index=0, reduction="none")
F.ctc_loss(t.ones(0, 1, 3), t.tensor([[1]]), t.tensor([0]), t.tensor([1]))
F.ctc_loss(t.ones(2, 1, 1, 3), t.tensor([[1]]), t.tensor([2]), t.tensor([1]))
F.linear(t.ones(3), t.ones(3), t.ones(3))
F.linear(t.ones(2, 3), t.ones(3), t.tensor(1.0))
F.multi_margin_loss(t.tensor([0.1, 0.9]), t.tensor([1]), reduction="none")
F.multi_margin_loss(t.tensor([0.1, 0.9]), t.tensor(1), reduction="none")
F.fold(t.ones(1, 12, 12), (4, 5), (2, 2), dilation=8)
F.grad.conv1d_input((1, 1, 4), t.ones(1, 1, 2), t.ones(1, 1, 3))
t.nn.CrossMapLRN2d(4, alpha=0.1)(t.arange(32.0).reshape(1, 8, 2, 2))
repr(t.nn.CrossMapLRN2d(5, alpha=0.3, beta=0.5, k=2))
t.cdist(t.ones(2, 3).half(), t.ones(2, 3))
t.meshgrid(t.tensor(1.0), t.arange(2))
t.ones(2, 3).view(size=(3, -1))
[x.shape for x in t.ones(2, 3).split(split_size=1, dim=0)]
t.ones_like(t.ones(3, 2, 2).unsqueeze(-1).T).stride()
[x.stride() for x in t.ones(2, 3).nonzero(as_tuple=True)]
[x.stride() for x in t.where(t.tensor([[1.0], [0.0], [2.0]]))]
t.einsum("...i,...i->...", t.ones(3, 2, 4).mT, t.ones(3, 2, 4).mT).stride()
t.ones(3, 1).expand(2, 3, 1).nan_to_num().stride()
F.pdist(t.ones(1, 3).half()).shape
t.ones(3).add_(2, t.arange(3.0))
t.add(t.ones(3), 2, t.arange(3.0))
t.ones(3).sub(2, t.arange(3.0))
t.ones(3).sub_(0.5, t.arange(3.0))
t.ones(3).addcmul_(2, t.arange(3.0), t.arange(3.0))
t.addcmul(t.ones(3), 2, t.arange(3.0), t.arange(3.0))
t.ones(3).addcdiv(-0.1, t.arange(3.0), t.ones(3))
t.ones(3).addcdiv_(-0.1, t.arange(3.0), t.ones(3))
F.linear(t.ones(3), t.ones(3), t.tensor(1.0))
F.linear(t.ones(2, 2).long(), t.ones(4, 3), t.ones(4))
t.addmm(t.ones(4), t.ones(2, 2).long(), t.ones(3, 4))
F.batch_norm(t.ones(0, 6), t.ones(3), t.ones(3), t.ones(3), t.ones(3))
F.batch_norm(t.ones(0, 3), None, None, None, t.ones(3))
F.batch_norm(t.arange(6.0).reshape(2, 3).t(), None, None, training=True).stride()
F.batch_norm(t.arange(12.0).reshape(2, 3, 2).mT, t.zeros(2), t.ones(2)).stride()
F.batch_norm(t.randn(2, 4, 4, 2).permute(0, 3, 1, 2), None, None, training=True).stride()
F.layer_norm(t.ones(2, 3).long(), (3,), t.ones(3))
F.group_norm(t.ones(2, 3).short(), 1, t.ones(3))
F.group_norm(t.ones(2, 3).long(), 1)
t.ones(1, 3).broadcast_to(2, 3)
t.ones(1, 3, 1).squeeze(0, 2)
t.ones(1, 3, 1).squeeze_(-1, 1)
t.ones(2, 3).count_nonzero(0, 1)
t.ones(2, 3).hsplit(1, 2)
t.ones(4, 3).vsplit(1, 2)
t.ones(1, 1, 3).dsplit(1, 2)
t.ones(2, 2, 3, dtype=t.complex64).mT.angle().stride()
t.ones(2, 2, 3).mT.isreal().stride()
t.ones(2, 3).t().expand(2, 3, 2).sum_to_size(3, 2).stride()
setattr(t.ones(3, dtype=t.complex64), "real", t.ones(1, 3))
setattr(t.ones(3, dtype=t.complex64), "imag", 2.0)
F.linear(t.ones(3), t.ones(4, 3), t.ones(1, 4))
F.linear(t.ones(1, 2, 3), t.ones(4, 3), t.ones(1, 3))
F.linear(t.ones(2, 2, 3).mT.contiguous().mT, t.ones(4, 3), t.ones(5, 1, 1, 4))
F.linear(t.tensor(1.0), t.ones(4, 3))
t.cat([t.ones(3), t.ones(2, 3)], 1)
t.cat([t.ones(2, 3), t.ones(3)], 1)
t.cat([t.ones(2, 3), t.tensor(1.0)], 2)
F.linear(t.ones(2, 2, 3), t.ones(2, 3), t.arange(4.0).reshape(2, 2))
F.linear(t.ones(2, 2, 3), t.ones(2, 3), t.arange(4.0).reshape(4, 1))
F.linear(t.ones(2, 2, 3), t.ones(2, 3), t.arange(8.0).reshape(4, 2))
F.linear(t.ones(3, 2, 3), t.ones(1, 3), t.arange(6.0).reshape(3, 2, 1))
F.linear(t.ones(1, 2, 3), t.ones(2, 3), t.arange(4.0)[::2])
F.grid_sample(t.ones(1, 1, 3, 3), t.tensor([[[[t.nan, 0], [0, t.inf]]]]), align_corners=True)
F.grid_sample(t.ones(1, 1, 3, 3), t.tensor([[[[t.nan, 0], [1, 2]]]]), "bicubic", "border", True)
t.tensor(1.0)[0]
t.tensor(1.0)[::2]
t.tensor(1.0)[t.tensor([1, 0])]
t.tensor(1.0)[[0]]
t.ones(2, 3).__setitem__(t.ones(2, 3) > 0, t.ones(2, 3))
t.ones(2, 3).__setitem__(0, t.ones(2, 3))
t.ones(3).__setitem__(0, None)
t.ones(3).__setitem__(0, "a")
F.adaptive_max_pool1d(t.ones(0, 3), 2)
F.adaptive_max_pool1d(t.ones(1, 0, 3), 2)
F.adaptive_max_pool1d(t.ones(1, 2, 3), 0)
F.adaptive_max_pool1d(t.ones(1, 2, 3), 0, return_indices=True)
F.adaptive_max_pool2d(t.ones(1, 2, 3, 3), (0, 2))
F.adaptive_max_pool2d(t.ones(0, 2, 3), 2)
F.adaptive_max_pool3d(t.ones(0, 2, 2, 3), 2)
F.adaptive_avg_pool2d(t.ones(2, 3), 1)
F.adaptive_avg_pool2d(t.ones(1, 1, 2, 2, 3), 1)
F.adaptive_avg_pool2d(t.ones(2, 3), 2)
F.rms_norm(t.ones(2, 3), (3,), t.ones(3, dtype=t.float64)).dtype
F.layer_norm(t.ones(2, 3, dtype=t.bfloat16), (3,), t.ones(3)).dtype
t.ones(0).roll((1, 1), (0, 1))
t.ones(0).roll((1, 1), (0,))
F.embedding(t.zeros(0, 3, dtype=t.long), t.ones(0, 3), padding_idx=0)
t.zeros(0, 3).scatter_add_(0, t.zeros(0, 3).long(), t.ones((), requires_grad=True))
t.zeros(3).scatter_add(0, t.zeros(0, dtype=t.long), t.ones(2, 3, requires_grad=True).t())
copy.deepcopy(t.ones(2))._version, copy.deepcopy(t.nn.Parameter(t.ones(2)))._version
t.stft(t.tensor(1.0), 2, 1, window=t.ones(2), return_complex=True)
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_calls_at_the_edge_do_what_they_do_in_pytorch(call):
    ours, theirs = (
        outcome(lambda t: eval(call, {"t": t, "F": t.nn.functional, "copy": copy}), module)
        for module in (pytest.importorskip("wengert"), torch)
    )
    assert_same(ours, theirs, call, 1e-6)


def heard(t, walk):
    x, z = (t.ones(2, requires_grad=True) for _ in range(2))
    found = []
    x.register_hook(lambda g: found.append(g.tolist()))
    x.register_post_accumulate_grad_hook(lambda x: found.append("post"))
    walk(t, x, x * 2, z)
    return found, x.grad is None, z.grad is None


@pytest.mark.parametrize(
    "walk",
    [
        lambda t, x, y, z: t.autograd.backward(x, t.ones(2), inputs=[z]),
        lambda t, x, y, z: t.autograd.backward(y, t.ones(2), inputs=[z]),
        lambda t, x, y, z: t.autograd.backward([x, y], [t.ones(2)] * 2, inputs=[z]),
        lambda t, x, y, z: t.autograd.grad(x, z, t.ones(2), allow_unused=True),
    ],
    ids=["leaf", "node", "two", "grad"],
)
def test_hooks_of_a_single_output_run_whatever_is_asked_for(walk):
    assert heard(pytest.importorskip("wengert"), walk) == heard(torch, walk)


def test_hooks_of_an_output_that_is_a_leaf_run_where_a_jacobian_leads_to_it():
    def found(t):
        x, z = (t.ones(2, requires_grad=True) for _ in range(2))
        heard = []
        z.register_hook(lambda g: heard.append(g.tolist()))
        t.autograd.functional.jacobian(lambda u: z, x)
        t.autograd.functional.jacobian(lambda u: u * z, x)
        t.autograd.functional.vjp(lambda u: z, x, t.ones(2))
        return heard

    assert found(pytest.importorskip("wengert")) == found(torch)


@pytest.mark.parametrize(
    "call",
    [
        "t.ones(2, 2).nonzero(as_tuple=True)",
        "t.bernoulli(t.ones(2))",
        "t.bernoulli(t.ones(2), 0.5)",
        "t.multinomial(t.ones(2), 1)",
        "t.histogram(t.ones(2), 2)",
        "t.histogramdd(t.ones(2, 2), 2)[1]",
        "t.block_diag()",
        "t.linalg.lstsq(t.eye(2), t.ones(2, 1))",
        "t.get_rng_state()",
        "t.ones(2).new([1.0, 2.0])",
        "t.FloatTensor([1.0])",
    ],
)
def test_results_are_tensors_of_the_inference_mode_that_they_are_made_in(call):
    def found(t):
        with t.inference_mode():
            inside = eval(call)
        results = [x if isinstance(x, tuple) else (x,) for x in (inside, eval(call))]
        return [[x.is_inference() for x in result] for result in results]

    assert found(pytest.importorskip("wengert")) == found(torch)


@pytest.mark.parametrize(
    "ask",
    [
        lambda t, x, view: t.autograd.graph.get_gradient_edge(view),
        lambda t, x, view: t.autograd.graph.register_multi_grad_hook([x, view], print),
    ],
    ids=["edge", "hook"],
)
def test_a_view_that_was_made_without_recording_has_no_gradient_to_ask_for(ask):
    def found(t):
        x = t.ones(3, requires_grad=True)
        y = x * 2
        with t.no_grad():
            view = y.view_as(y)
        return ask(t, x, view)

    ours, theirs = (outcome(found, m) for m in (pytest.importorskip("wengert"), torch))
    assert_same(ours, theirs)


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("how", ["attribute", "method"])
def test_only_leaves_are_told_whether_they_require_a_gradient(how, value):
    def found(t):
        y = t.ones(2, requires_grad=True) * 2
        if how == "method":
            return y.requires_grad_(value)
        y.requires_grad = value
        return y

    ours, theirs = (outcome(found, m) for m in (pytest.importorskip("wengert"), torch))
    assert_same(ours, theirs, words=8)


def test_deep_copies_made_in_inference_mode_are_tensors_of_it():
    def found(t):
        x = t.ones(2, requires_grad=True)
        sources = x, t.nn.Parameter(x), t.nn.Linear(1, 1).weight
        with t.inference_mode():
            copies = [copy.deepcopy(source) for source in sources]
        again = [copy.deepcopy(source) for source in copies]
        return [(x.is_inference(), x.requires_grad) for x in (*copies, *again)]

    assert found(pytest.importorskip("wengert")) == found(torch)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_of_views_that_were_made_without_recording_are_leaves(copied):
    def found(t):
        x = t.ones(2, 3, requires_grad=True)
        with t.no_grad():
            views = x[0], *x.split(1), x.detach(), (x * 2)[0]
        results = []
        for view in views:
            twin = copied(view)
            if twin.requires_grad:
                (twin * 3).sum().backward()
            results.append((twin.is_leaf, twin.requires_grad, twin.grad))
        return results, x.grad

    ours, theirs = (outcome(found, m) for m in (pytest.importorskip("wengert"), torch))
    assert_same(ours, theirs)


@pytest.mark.parametrize(
    "line",
    [
        "F.hardtanh(x)",
        "F.hardtanh(x.clone(), inplace=True)",
        "F.relu6(x)",
        "F.hardshrink(x)",
        "F.softshrink(x)",
        "F.rrelu(x)",
        "F.hardsigmoid(x)",
        "F.hardswish(x)",
        "F.leaky_relu(x)",
        "F.elu(x)",
        "F.threshold(x, 0.1, 2.0)",
        "x.clamp(-1, 1)",
        "x.logit(0.1)",
        "x.reshape(2, 5).renorm(2, 0, 1.0)",
        "x[[0, 4, 5, 6]].reshape(2, 2).renorm(2, 0, 1.0)",
    ],
)
def test_slopes_at_nan_and_at_the_bounds_are_those_of_pytorch(line):
    def found(t):
        x = t.tensor([t.nan, t.inf, -t.inf, -1.0, 0.0, 1.0, 0.5, 6.0, 3.0, -3.0])
        x.requires_grad_()
        eval(line, {"t": t, "F": t.nn.functional, "x": x}).sum().backward()
        return x.grad

    ours, theirs = (outcome(found, m) for m in (pytest.importorskip("wengert"), torch))
    assert_same(ours, theirs, rtol=1e-6)


def test_gradients_that_are_recorded_lie_as_their_leaves():
    def found(t):
        x = t.ones(3, 2).t().requires_grad_()
        x.sum().backward(create_graph=True)
        return x.grad.stride()

    assert outcome(found, pytest.importorskip("wengert")) == outcome(found, torch)


@pytest.mark.parametrize(
    "body",
    [
        lambda t, x: t.autograd.graph.saved_tensors_hooks(1, 2).__enter__(),
        lambda t, x: _returning(t, 5).apply(x).sum().backward(),
    ],
    ids=["hooks", "gradient"],
)
def test_what_is_no_function_and_no_gradient_is_refused_in_pytorchs_words(body):
    ours, theirs = (
        outcome(lambda t: body(t, t.ones(2, requires_grad=True)), m)
        for m in (pytest.importorskip("wengert"), torch)
    )
    assert_same(ours, theirs)


def _returning(t, value):
    class Rule(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return value

    return Rule


@pytest.mark.parametrize(
    "call",
    [
        "t.func.vmap(lambda u: u * u.sum())(x)",
        "t.func.grad(lambda u: (u**3).sum())(x)",
        "t.func.vmap(t.func.grad(lambda u: u.sin()))(x)",
    ],
)
def test_histories_of_what_transforms_return_have_names_of_operations(call):
    ours, theirs = (
        eval(call, {"t": t, "x": t.ones(3, requires_grad=True)}).grad_fn.name()
        for t in (pytest.importorskip("wengert"), torch)
    )
    assert ours == theirs
