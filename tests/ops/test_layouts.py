"""Test the memory layout of results and gradients, and memory formats by name."""

import numpy as np
import pytest

import wengert as wg

LAST = wg.channels_last


def test_what_works_element_by_element_lies_as_its_argument():
    x = wg.rand(3, 4, 5).transpose(0, 2)
    for y in (x.exp(), x.erf(), x + 1, wg.maximum(x, x), x.clone(), x.double(), wg.zeros_like(x)):
        assert y.stride() == x.stride()


def test_what_indices_pick_is_contiguous():
    x, at = wg.rand(2, 3, 4), wg.tensor([0, 1])
    picks = (at, (slice(None), at), (..., at), (slice(None), [True, False, True]))
    for pick in (*picks, (slice(1, None), at), (slice(None), at, at)):
        y = x[pick]
        assert y.is_contiguous()
        alike = (
            x.numpy()[tuple(np.asarray(p) if p is at else p for p in pick)]
            if (isinstance(pick, tuple))
            else x.numpy()[at.numpy()]
        )
        assert np.array_equal(y.view(-1).numpy(), alike.reshape(-1))


def test_products_of_a_vector_are_not_views():
    x, w = wg.ones(3, requires_grad=True), wg.ones(3, 2)
    for y in (x @ w, wg.nn.functional.linear(x, w.t()), w.t() @ x):
        assert y._base is None
        y.detach_()


@pytest.mark.parametrize("dtype", [wg.float16, wg.float32, wg.float64])
@pytest.mark.parametrize(("shape", "dim"), [((4,), 0), ((3, 4), 0), ((100, 1000), 1)])
def test_gradients_of_running_sums_are_contiguous(shape, dim, dtype):
    x = wg.ones(shape, dtype=dtype, requires_grad=True)
    (grad,) = wg.autograd.grad(x.cumsum(dim), x, wg.ones(shape, dtype=dtype))
    assert grad.is_contiguous()


@pytest.mark.parametrize("dtype", [wg.float16, wg.bfloat16, wg.float32])
def test_what_is_repeated_without_a_copy_is_laid_out_as_if_it_were_not(dtype):
    x = wg.ones(3, 3, dtype=dtype).expand(2, 3, 3)
    for y in (x + x, x <= 1, x.abs(), x.sin()):
        assert y.stride() == (9, 3, 1)


@pytest.mark.parametrize("name", ["flip", "sort", "argsort", "index_fill", "index_put"])
def test_what_changes_some_elements_lies_as_its_argument(name):
    x = wg.rand(3, 4).t()
    y = {
        "flip": lambda: x.flip(0),
        "sort": lambda: x.sort(0).values,
        "argsort": lambda: x.argsort(0),
        "index_fill": lambda: x.index_fill(0, wg.tensor([1]), 0.0),
        "index_put": lambda: x.index_put((wg.tensor([1]),), wg.tensor(0.0)),
    }[name]()
    assert y.stride() == x.stride() == (1, 4)


@pytest.mark.parametrize(
    "name", ["cumsum", "cumprod", "softmax", "log_softmax", "sum", "amax", "tril", "roll", "gather"]
)
def test_what_combines_elements_is_contiguous(name):
    x = wg.rand(2, 3, 4).transpose(0, 2)
    y = {
        "gather": lambda: x.gather(0, wg.zeros(x.shape, dtype=wg.int64)),
        "roll": lambda: x.roll(1, 0),
        "tril": lambda: x.tril(),
    }.get(name, lambda: getattr(x, name)(0))()
    assert y.is_contiguous()


def test_reshape_is_a_view_or_a_copy_as_in_pytorch():
    x = wg.arange(6.0).reshape(2, 3).t()
    y = x.cumsum(0)
    y.reshape(-1)[0] = 100.0
    assert y[0, 0].item() == 100.0
    z = x.flip(0)
    z.reshape(-1)[0] = 100.0
    assert z[0, 0].item() != 100.0


# -- gradients -------------------------------------------------------------------------------------


def test_gradients_lie_as_their_leaves():
    linear = wg.nn.Linear(3, 4)
    linear(wg.rand(5, 3)).pow(2).sum().backward()
    flat = wg.cat([p.grad.view(-1) for p in linear.parameters()])
    assert flat.shape == (16,)
    p = wg.rand(3, 4, requires_grad=True)
    (p.t() * wg.rand(4, 3)).sum().backward()
    assert p.grad.stride() == (4, 1)
    q = wg.rand(4, 3).t().requires_grad_()
    (q * wg.rand(3, 4)).sum().backward()
    assert q.grad.stride() == q.stride() == (1, 3)
    gaps = wg.rand(8, 3)[::2].requires_grad_()
    (gaps * wg.rand(3, 4).t()).sum().backward()
    assert gaps.grad.stride() == (3, 1)


def test_the_gradient_of_a_weight_is_not_computed_in_another_order_and_copied():
    x = wg.rand(5, 3)
    for weight in (wg.rand(3, 4), wg.rand(4, 3).t()):
        w = weight.requires_grad_()
        (g,) = wg.autograd.grad(x.mm(w).sum(), w)
        assert g.stride() == w.stride()
        (h,) = wg.autograd.grad(wg.addmm(wg.zeros(4), x, w).sum(), w)
        assert h.stride() == w.stride()
        assert g.tolist() == h.tolist() == x.t().mm(wg.ones(5, 4)).tolist()


# -- orders by name --------------------------------------------------------------------------------


def test_memory_formats_are_real():
    x = wg.arange(120.0).reshape(2, 3, 4, 5)
    strides = (60, 1, 15, 3)
    made = [
        x.to(memory_format=LAST),
        x.to(wg.float64, memory_format=LAST),
        x.contiguous(memory_format=LAST),
        x.clone(memory_format=LAST),
        x.double(memory_format=LAST),
        x.float(memory_format=LAST),
        wg.empty_like(x, memory_format=LAST),
        wg.randn_like(x, memory_format=LAST),
        wg.randint_like(x, 4, memory_format=LAST),
    ]
    for y in made:
        assert y.stride() == strides and y.is_contiguous(memory_format=LAST)
    assert wg.empty(2, 3, 4, 5, memory_format=LAST).stride() == strides
    for y in made[:6]:
        np.testing.assert_array_equal(y.numpy(), x.numpy())
    y = made[0]
    assert y.to(memory_format=LAST) is y and (y + 1).stride() == strides
    assert y.to(memory_format=wg.contiguous_format).stride() == x.stride()
    conv = wg.nn.Conv2d(3, 4, 3).to(memory_format=LAST)
    assert conv.weight.is_contiguous(memory_format=LAST)
    assert conv(x).is_contiguous(memory_format=LAST)


def test_a_memory_format_of_another_rank_is_refused():
    for make in (
        lambda: wg.empty(2, 3, memory_format=LAST),
        lambda: wg.ones(2, 3).to(memory_format=LAST),
        lambda: wg.zeros_like(wg.ones(2, 3), memory_format=LAST),
    ):
        with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last"):
            make()
    with pytest.raises(RuntimeError, match="unsupported memory format"):
        wg.empty(2, memory_format=wg.preserve_format)


def test_what_is_stacked_in_front_lies_in_the_order_of_its_dimensions():
    parts = [wg.arange(6.0).reshape(2, 3).T + i for i in range(3)]
    made = wg.stack(parts)
    assert made.stride() == (6, 2, 1)
    assert all(wg.equal(row, part) for row, part in zip(made, parts, strict=True))


def test_pooling_keeps_channels_last_where_pytorch_does():
    F = wg.nn.functional
    plane = wg.rand(2, 3, 4, 4).to(memory_format=wg.channels_last).requires_grad_()
    volume = wg.rand(2, 3, 4, 4, 4).to(memory_format=wg.channels_last_3d).requires_grad_()
    for x, pooled, kept in (
        (plane, F.max_pool2d(plane, 2), True),
        (plane, F.adaptive_max_pool2d(plane, 2), True),
        (volume, F.max_pool3d(volume, 2), True),
        (volume, F.avg_pool3d(volume, 2), False),
        (volume, F.adaptive_max_pool3d(volume, 2), False),
    ):
        assert pooled.is_contiguous() is not kept
        if kept:
            (slope,) = wg.autograd.grad(pooled.sum(), x)
            assert slope.stride() == x.stride()
