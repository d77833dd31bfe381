"""Test that bfloat16 with Python numbers stays bfloat16, as in PyTorch."""

import pytest

import wengert as wg
import wengert.nn.functional as F

pytest.importorskip("ml_dtypes")

FORMS = {
    "product": lambda x: x * 2.5,
    "reflected": lambda x: 2.5 - x,
    "quotient": lambda x: x / 3.0,
    "remainder": lambda x: x % 0.3,
    "clamp": lambda x: x.clamp(min=0.5),
    "leaky_relu": F.leaky_relu,
    "normalize": lambda x: F.normalize(x, dim=0),
    "softplus": F.softplus,
    "masked_fill": lambda x: x.masked_fill(x > 0, 2.5),
    "addcmul": lambda x: x.addcmul(x, x, value=0.5),
    "hardtanh": F.hardtanh,
    "threshold": lambda x: F.threshold(x, 0.1, 0.2),
    "atan2": lambda x: x.atan2(x + 1.0),
    "cosine_similarity": lambda x: F.cosine_similarity(x, x, 0),
    "dropout": F.dropout,
    "lerp": lambda x: x.lerp(x * 0, 0.25),
    "softmax": lambda x: x.softmax(0),
    "where": lambda x: wg.where(x > 0, x, 0.0),
}


@pytest.mark.parametrize("name", FORMS)
def test_gradients_that_are_asked_for_are_bfloat16(name):
    x = wg.tensor([0.1, 0.3, 0.6], dtype=wg.bfloat16, requires_grad=True)
    inner = 1.0 * x
    seen = []
    for watched in (False, True):
        if watched:
            x.register_hook(lambda g: seen.append(g.dtype))
        edge = wg.autograd.graph.get_gradient_edge(inner)
        for sources in ([x], [inner], [edge], [x, inner, x]):
            total = FORMS[name](inner).sum()
            for grad in wg.autograd.grad(total, sources, retain_graph=True):
                assert grad.dtype is wg.bfloat16
            for grad in wg.autograd.grad(total, sources, create_graph=True):
                assert grad.dtype is wg.bfloat16
                if grad.requires_grad:
                    for second in wg.autograd.grad(grad.sum() * 2.0, x, retain_graph=True):
                        assert second.dtype is wg.bfloat16
        inner.retain_grad()
        FORMS[name](inner).sum().backward(inputs=[inner], retain_graph=True)
        assert inner.grad.dtype is wg.bfloat16
    assert set(seen) == {wg.bfloat16}
    rows = x.detach().expand(2, 3)
    slope = wg.func.grad(lambda x: FORMS[name](x).sum())
    assert slope(rows[0]).dtype is wg.bfloat16
    assert wg.func.vmap(slope, randomness="same")(rows).dtype is wg.bfloat16


@pytest.mark.parametrize("name", FORMS)
def test_results_and_gradients_stay_bfloat16(name):
    x = wg.tensor([0.5, -1.0, 2.0]).bfloat16().requires_grad_()
    y = FORMS[name](x)
    assert str(y.dtype) == "torch.bfloat16"
    y.sum().backward()
    assert x.grad.dtype is x.dtype
    wide = x.detach().float().requires_grad_()
    if name != "dropout":
        expected = FORMS[name](wide)
        assert wg.allclose(y.detach().float(), expected.detach(), rtol=0.01)


@pytest.mark.parametrize("name", FORMS)
def test_results_of_transforms_are_bfloat16(name):
    x = wg.tensor([0.5, 0.1, 0.7], dtype=wg.bfloat16)
    along = wg.tensor([1.0, 0.5, -1.0], dtype=wg.bfloat16)
    form = FORMS[name]
    value, tangent = wg.func.jvp(form, (x,), (along,))
    assert (value.dtype, tangent.dtype) == (wg.bfloat16, wg.bfloat16)
    if name != "dropout":
        assert wg.equal(value, form(x))
        _, wide = wg.func.jvp(form, (x.float(),), (along.float(),))
        assert wg.allclose(tangent.float(), wide, rtol=0.02, atol=0.01)
    rows = wg.stack([x, along])
    batch = wg.func.vmap(form, randomness="same")(rows)
    assert batch.dtype is wg.bfloat16
    if name != "dropout":
        assert wg.equal(batch, wg.stack([form(x), form(along)]))
    slope = wg.func.grad(lambda x: form(x).sum())
    both = wg.func.jvp(slope, (x,), (along,))
    assert [t.dtype for t in both] == [wg.bfloat16] * 2
    pushed = wg.func.vmap(lambda x: wg.func.jvp(form, (x,), (along,))[1], randomness="same")
    assert pushed(rows).dtype is wg.bfloat16


def test_values_are_rounded_once():
    x = wg.tensor([0.5, -1.0, 2.0]).bfloat16()
    assert (x * 2.5).tolist() == [1.25, -2.5, 5.0]
    assert F.silu(x).tolist() == [0.310546875, -0.26953125, 1.7578125]
    assert (x + wg.tensor([1.0]).half()).dtype is wg.float32


def test_the_limits_of_bfloat16():
    limits = wg.finfo(wg.tensor(1.0).bfloat16().dtype)
    assert (limits.bits, limits.eps, limits.max) == (16, 0.0078125, 3.3895313892515355e38)
    assert limits.tiny == 2.0**-126 and limits.min == -limits.max


@pytest.mark.parametrize("kind", [wg.float16, wg.bfloat16])
@pytest.mark.parametrize("name", FORMS)
def test_values_and_slopes_are_those_of_single_precision_rounded_once(name, kind):
    if name in ("dropout", "normalize", "cosine_similarity", "atan2"):
        return  # random, or several operations
    x = wg.tensor([0.1, -0.3, 300.0, 6.0], dtype=kind, requires_grad=True)
    wide = x.detach().float().requires_grad_()
    made, exact = FORMS[name](x), FORMS[name](wide)
    assert wg.equal(made, exact.to(kind))
    weight = wg.tensor([1.0, -2.0, 0.5, 3.0], dtype=kind)
    if name in ("product", "leaky_relu", "clamp", "masked_fill", "hardtanh", "threshold", "where"):
        (g,) = wg.autograd.grad(made, x, weight)
        (expected,) = wg.autograd.grad(exact, wide, weight.float())
        assert g.dtype is kind and wg.equal(g, expected.to(kind))


@pytest.mark.parametrize("kind", [wg.float16, wg.bfloat16])
def test_rules_of_half_precision_neither_overflow_nor_cancel(kind):
    x = wg.tensor([300.0, 6.0, -4.0], dtype=kind, requires_grad=True)
    for form in (
        lambda x: F.gelu(x, approximate="tanh"),
        F.silu,
        F.mish,
        F.softplus,
        wg.atan,
    ):
        wide = x.detach().float().requires_grad_()
        (g,) = wg.autograd.grad(form(x).sum(), x)
        (expected,) = wg.autograd.grad(form(wide).sum(), wide)
        assert g.dtype is kind
        assert wg.allclose(g.float(), expected, 8 * wg.finfo(kind).eps, 1e-3)


@pytest.mark.parametrize("kind", [wg.float16, wg.bfloat16])
def test_the_rule_of_a_function_gets_a_cotangent_in_half_precision(kind):
    seen = []

    class Same(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            seen.append(g.dtype)
            return g

    x = wg.ones(3, dtype=kind, requires_grad=True)
    y = Same.apply(x)
    y.register_hook(lambda g: seen.append(g.dtype))
    (y * 2.5 / 3.0).sum().backward()
    assert seen == [kind, kind] and x.grad.dtype is kind
    x.grad = None
    z = Same.apply(x)
    wg.autograd.grad((z * 2.5).sin().sum(), x, create_graph=True)
    assert seen[2:] == [kind]


def test_operations_that_take_floating_dtypes_take_bfloat16():
    x = wg.tensor([[[[0.5, 1.0], [2.0, 0.25]]]], dtype=wg.bfloat16)
    pooled, places = F.max_pool2d(x, 2, return_indices=True)
    made = {
        "igamma": wg.igamma(x, x + 1),
        "igammac": wg.igammac(x, x + 1),
        "max_unpool2d": F.max_unpool2d(pooled, places, 2),
        "fractional_max_pool2d": F.fractional_max_pool2d(x, 1, output_size=1),
        "histc": wg.histc(x.flatten(), 4, 0.0, 2.0),
        "digamma": wg.digamma(x),
    }
    for name, result in made.items():
        assert result.dtype is wg.bfloat16, name
    assert made["max_unpool2d"].flatten().tolist() == [0.0, 0.0, 2.0, 0.0]
    assert made["histc"].tolist() == [1.0, 1.0, 1.0, 1.0]
    assert made["igamma"].flatten()[1].item() == pytest.approx(1 - 2.718281828**-2, rel=0.01)


def test_the_similarity_of_two_kinds_of_half_precision_is_in_single_precision():
    x = wg.tensor([3.0, 4.0])
    for a, b in ((wg.bfloat16, wg.float16), (wg.float16, wg.bfloat16), (wg.float16, wg.float32)):
        y = F.cosine_similarity(x.to(a), x.to(b), 0)
        assert y.dtype is wg.float32 and y.item() == pytest.approx(1)
    assert F.cosine_similarity(x.to(wg.float16), wg.tensor(2.0, dtype=wg.float64), 0).dtype == (
        wg.float64
    )


def test_limits_of_kinds_that_are_only_named():
    assert (wg.finfo(wg.float8_e4m3fn).max, wg.finfo(wg.float8_e5m2).tiny) == (448.0, 2.0**-14)


def test_infinities_are_found():
    x = wg.tensor([1.0, float("inf"), float("-inf")], dtype=wg.bfloat16)
    assert wg.isposinf(x).tolist() == [False, True, False]
    assert wg.isneginf(x).tolist() == [False, False, True]
