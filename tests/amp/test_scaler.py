"""Test `GradScaler`: the scale, skipped steps, and its state."""

import pytest

import wengert as wg


def made(**options):
    w = wg.ones(2, requires_grad=True)
    scaler = wg.amp.GradScaler("cpu", **{"init_scale": 4.0, "growth_interval": 2, **options})
    return w, wg.optim.SGD([w], lr=0.5), scaler


def test_gradients_are_scaled_and_steps_are_not():
    w, optimizer, scaler = made()
    scaler.scale(w.sum()).backward()
    assert w.grad.tolist() == [4.0, 4.0]
    scaler.unscale_(optimizer)
    assert w.grad.tolist() == [1.0, 1.0]
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.5, 0.5]


def test_several_losses_are_scaled_in_their_containers():
    scaler = made()[2]
    one, (two, three) = scaler.scale([wg.ones(()), (wg.ones(()), wg.ones(()))])
    assert [one.item(), two.item(), three.item()] == [4.0, 4.0, 4.0]
    with pytest.raises(ValueError, match="must be a Tensor or an iterable of Tensors"):
        scaler.scale(1.0)


def test_the_scale_grows_while_gradients_are_finite_and_shrinks_when_one_is_not():
    w, optimizer, scaler = made()
    scales = []
    w.data.fill_(8.0)
    for factor in (1.0, 1.0, float("inf"), 1.0, float("nan")):
        before = w.tolist()
        scaler.scale((w * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        assert (w.tolist() == before) is (factor != 1.0)
        scales.append(scaler.get_scale())
    assert scales == [4.0, 8.0, 4.0, 4.0, 2.0]


def test_steps_out_of_order_are_errors_and_change_nothing():
    w, optimizer, scaler = made()
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
        scaler.update()
    with pytest.raises(AssertionError, match="No inf checks were recorded for this optimizer"):
        scaler.step(optimizer)
    scaler.update(4.0)
    scaler.scale(w.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="unscale_\\(\\) has already been called"):
        scaler.unscale_(optimizer)
    assert w.grad.tolist() == [1.0, 1.0]
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="step\\(\\) has already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="called after step"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="Closure use is not currently supported"):
        scaler.step(optimizer, closure=lambda: None)
    assert w.tolist() == [0.5, 0.5]


def test_gradients_of_16_bits_cannot_be_unscaled():
    w = wg.ones(2, dtype=wg.float16, requires_grad=True)
    optimizer, scaler = wg.optim.SGD([w], lr=1.0), made()[2]
    scaler.scale(w.sum()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(optimizer)


def test_the_state_is_taken_over():
    w, optimizer, scaler = made()
    scaler.scale(w.sum()).backward()
    scaler.step(optimizer)
    scaler.update(16.0)
    other = made()[2]
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    assert other.get_scale() == 16.0
    with pytest.raises(RuntimeError, match="The source state dict is empty"):
        other.load_state_dict({})


def test_switched_off_it_does_nothing():
    w, optimizer, scaler = made(enabled=False)
    loss = w.sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.5, 0.5]
    assert (scaler.get_scale(), scaler.state_dict(), scaler.is_enabled()) == (1.0, {}, False)


def test_without_a_gpu_it_switches_itself_off():
    with pytest.warns(UserWarning, match="CUDA is not available"):
        assert not wg.amp.GradScaler().is_enabled()
    with pytest.warns(UserWarning, match="CUDA is not available"):
        assert not wg.cuda.amp.GradScaler().is_enabled()


def test_factors_that_make_no_sense_are_errors():
    with pytest.raises(AssertionError, match="growth factor must be > 1"):
        made(growth_factor=1.0)
    with pytest.raises(AssertionError, match="backoff factor must be < 1"):
        made(backoff_factor=1.0)
