"""Test running statistics under transforms: batched values do not leak out of them."""

import pytest

import wengert as wg
from wengert import nn
from wengert.func import functional_call, jvp, stack_module_state, vmap


def test_batch_norm_in_training_refuses_a_batched_input_and_keeps_its_statistics():
    layer, x = nn.BatchNorm1d(3), wg.randn(2, 4, 3)
    with pytest.raises(RuntimeError, match=r"^Batch norm got a batched tensor as input while"):
        vmap(layer)(x)
    assert wg.equal(layer.running_mean, wg.zeros(3))
    assert wg.equal(layer.running_var, wg.ones(3))
    assert layer.num_batches_tracked.item() == 0
    assert layer(x[0]).shape == (4, 3)


def test_batch_norm_may_be_mapped_with_its_statistics():
    layers, x = [nn.BatchNorm1d(3) for _ in range(2)], wg.randn(4, 3)
    params, buffers = stack_module_state(layers)

    def one(params, buffers):
        result = functional_call(layers[0], (params, buffers), (x,))
        return result, buffers["running_mean"]

    results, means = vmap(one)(params, buffers)
    expected = layers[1](x)
    assert wg.allclose(results[1], expected, atol=1e-6)
    assert wg.allclose(means[1], layers[1].running_mean)


def test_batch_norm_without_statistics_takes_a_batched_input():
    layer, x = nn.BatchNorm1d(3, track_running_stats=False), wg.randn(2, 4, 3)
    assert wg.allclose(vmap(layer)(x)[1], layer(x[1]), atol=1e-6)


def test_fixed_statistics_have_no_tangent():
    layer, x = nn.BatchNorm1d(3).eval(), wg.randn(4, 3)

    def of(mean):
        return functional_call(layer, {"running_mean": mean}, (x,))

    with pytest.raises(RuntimeError, match="not differentiable wrt running_mean and running_var"):
        jvp(of, (wg.zeros(3),), (wg.ones(3),))


@pytest.mark.parametrize("kind", [nn.utils.parametrizations.spectral_norm, nn.utils.spectral_norm])
def test_spectral_norm_in_training_refuses_weights_of_a_transform(kind):
    layer, x = kind(nn.Linear(3, 3)), wg.randn(4, 3)
    names = [name for name, _ in layer.named_parameters() if "weight" in name]
    weight = dict(layer.named_parameters())[names[0]].detach()
    before = [buffer.clone() for buffer in layer.buffers()]

    def call(weight):
        return functional_call(layer, {names[0]: weight}, (x,))

    for transformed in (
        lambda: vmap(call)(wg.stack([weight, 2 * weight])),
        lambda: jvp(call, (weight,), (wg.ones_like(weight),)),
    ):
        with pytest.raises(RuntimeError, match=r"^spectral_norm got a weight of a transform"):
            transformed()
        assert all(map(wg.equal, layer.buffers(), before))
    layer.eval()
    results = vmap(call)(wg.stack([weight, 2 * weight]))
    assert wg.allclose(results[0], results[1], atol=1e-6)
