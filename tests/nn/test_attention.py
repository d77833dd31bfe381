"""Test multi-head attention: masks, derivatives, transforms, programs."""

import copy
import math

import numpy as np
import pytest

import wengert as wg

F = wg.nn.functional


@pytest.fixture(autouse=True)
def _seeded():
    wg.manual_seed(0)


def tensor(*shape, seed=0):
    return wg.tensor(np.random.default_rng(seed).standard_normal(shape))


def close(a, b, tight=1e-9):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), tight, tight)


def attention(**more):
    return wg.nn.MultiheadAttention(4, 2, dtype=wg.float64, **more)


@pytest.mark.parametrize(
    "more",
    [{}, {"kdim": 3, "vdim": 2, "bias": False}, {"add_bias_kv": True, "add_zero_attn": True}],
)
@pytest.mark.parametrize("need_weights", [True, False])
def test_gradients_are_those_of_differences(more, need_weights):
    module = attention(**more)
    inputs = tensor(2, 1, 4), tensor(3, 1, module.kdim), tensor(3, 1, module.vdim)
    names = [name for name, _ in module.named_parameters()]

    def function(q, k, v, mask, *parameters):
        own = dict(zip(names, parameters, strict=True))
        given = {"attn_mask": mask, "need_weights": need_weights}
        result, weights = wg.func.functional_call(module, own, (q, k, v), given)
        return (result, weights) if need_weights else result

    leaves = [*inputs, tensor(2, 3), *module.parameters()]
    leaves = [x.detach().clone().requires_grad_() for x in leaves]
    assert wg.autograd.gradcheck(function, leaves, fast_mode=True)


def test_second_derivatives_are_those_of_differences():
    module = wg.nn.MultiheadAttention(2, 1, dtype=wg.float64)
    x = tensor(2, 1, 2).requires_grad_()
    assert wg.autograd.gradgradcheck(lambda x: module(x, x, x)[0], x)


def test_heads_are_attention_between_projections():
    module, x = attention(), tensor(3, 2, 4)
    q, k, v = F.linear(x, module.in_proj_weight, module.in_proj_bias).chunk(3, -1)
    heads = [
        F.scaled_dot_product_attention(*[t[..., at].transpose(0, 1) for t in (q, k, v)])
        for at in (slice(0, 2), slice(2, 4))
    ]
    close(module(x, x, x)[0], module.out_proj(wg.cat(heads, -1).transpose(0, 1)))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_hidden_keys_have_no_influence(need_weights, kind):
    module, q = attention(), tensor(3, 2, 4)
    k = tensor(5, 2, 4, seed=1)
    hidden = wg.tensor([[False] * 4 + [True]] * 2)
    if kind == "float":
        hidden = wg.zeros(2, 5, dtype=wg.float64).masked_fill(hidden, -math.inf)
    whole, _ = module(q, k, k, key_padding_mask=hidden, need_weights=need_weights)
    without, _ = module(q, k[:4], k[:4])
    close(whole, without)


def test_weights_are_means_over_heads_and_add_up_to_1():
    module, x = attention(), tensor(3, 2, 4)
    _, mean = module(x, x, x)
    _, each = module(x, x, x, average_attn_weights=False)
    assert mean.shape == (2, 3, 3)
    assert each.shape == (2, 2, 3, 3)
    close(mean, each.mean(1))
    close(mean.sum(-1), wg.ones(2, 3, dtype=wg.float64))


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_promise_that_a_mask_is_causal_changes_nothing(need_weights):
    module, x = attention(), tensor(3, 2, 4)
    mask = wg.nn.Transformer.generate_square_subsequent_mask(3, dtype=wg.float64)
    given = {"attn_mask": mask, "need_weights": need_weights}
    close(module(x, x, x, **given)[0], module(x, x, x, is_causal=True, **given)[0])


def test_rows_that_are_appended_can_be_looked_at():
    module, x = attention(add_bias_kv=True, add_zero_attn=True), tensor(3, 2, 4)
    hidden = wg.ones(3, 3, dtype=wg.bool)
    result, weights = module(x, x, x, attn_mask=hidden)
    assert weights.shape == (2, 3, 5)
    assert (weights[..., :3] == 0).all()
    assert np.isfinite(result.detach().numpy()).all()


@pytest.mark.parametrize("same", [True, False])
def test_batch_first_is_the_same_turned(same):
    module, x = attention(), tensor(3, 2, 4)
    y = x if same else tensor(3, 2, 4, seed=1)
    plain, weights = module(x, y, y)
    module.batch_first = True
    q = x.transpose(0, 1)
    k = q if same else y.transpose(0, 1)
    turned, also = module(q, k, k)
    close(plain, turned.transpose(0, 1))
    close(weights, also)


def test_a_failing_call_draws_nothing():
    module, x = attention(dropout=0.5), tensor(3, 2, 4)
    wg.manual_seed(1)
    with pytest.raises(RuntimeError, match="shape of the 2D attn_mask"):
        module(x, x, x, attn_mask=wg.zeros(2, 3))
    first = wg.rand(1)
    wg.manual_seed(1)
    close(first, wg.rand(1), 0)


def test_attention_is_mapped_over_batches_and_masks():
    module, xs, masks = attention(), tensor(3, 2, 1, 4), tensor(3, 2, 2, seed=1)
    for need_weights in (True, False):

        def call(x, mask, need_weights=need_weights):
            return module(x, x, x, attn_mask=mask, need_weights=need_weights)[0]

        mapped = wg.func.vmap(call)(xs, masks)
        close(mapped, wg.stack([call(x, m) for x, m in zip(xs, masks, strict=True)]))


def test_tangents_are_those_of_differences():
    module, x, way, e = attention(), tensor(2, 1, 4), tensor(2, 1, 4, seed=1), 1e-6
    _, tangent = wg.func.jvp(lambda x: module(x, x, x)[0], (x,), (way,))
    ahead, behind = (module(y, y, y)[0] for y in (x + e * way, x - e * way))
    close(tangent, (ahead - behind) / (2 * e), 1e-6)


def test_a_compiled_training_step_trains_alike():
    module = attention()
    other = copy.deepcopy(module)

    def trained(module):
        def step(x):
            for parameter in module.parameters():
                parameter.grad = None
            loss = module(x, x, x)[0].square().sum()
            loss.backward()
            with wg.no_grad():
                for parameter in module.parameters():
                    parameter.sub_(0.1 * parameter.grad)
            return loss.detach()

        return step

    compiled = wg.compile(trained(module), backend="numpy", options={"measure": False})
    for seed in range(3):
        x = tensor(3, 2, 4, seed=seed)
        close(compiled(x), trained(other)(x))
    for a, b in zip(module.parameters(), other.parameters(), strict=True):
        close(a, b)
