"""Test `autocast`: the dtypes of operations, and nested contexts."""

import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.nn import functional as F

half, C64 = wg.float16, wg.complex64


def under(function, **options):
    with wg.autocast("cpu", **{"dtype": half, **options}):
        return function()


def tensors():
    wg.manual_seed(0)
    return wg.randn(2, 4), wg.randn(2, 3, 4), wg.randn(1, 2, 6, 6)


@pytest.mark.parametrize(
    ("name", "product"),
    [
        ("matrices", lambda x, b, c: x @ x.T),
        ("vector", lambda x, b, c: x @ x[0]),
        ("batches", lambda x, b, c: b @ b.mT),
        ("bmm", lambda x, b, c: wg.bmm(b, b.mT)),
        ("addmm", lambda x, b, c: wg.addmm(wg.ones(2, 2), x, x.T)),
        ("einsum", lambda x, b, c: wg.einsum("ij,kj->ik", x, x)),
        ("linear", lambda x, b, c: F.linear(x, x, wg.ones(2))),
        ("conv2d", lambda x, b, c: F.conv2d(c, wg.ones(3, 2, 3, 3))),
        ("transposed", lambda x, b, c: F.conv_transpose2d(c, wg.ones(2, 3, 3, 3))),
        ("mixed", lambda x, b, c: x @ x.T.half()),
        ("mixed einsum", lambda x, b, c: wg.einsum("ij,kj->ik", x.half(), x)),
        ("mixed sum", lambda x, b, c: wg.baddbmm(b.half()[..., :1], b, b.mT)),
        ("mixed conv", lambda x, b, c: F.conv2d(c.half(), wg.ones(3, 2, 3, 3), wg.ones(3))),
    ],
)
def test_products_are_computed_in_the_lower_dtype(name, product):
    result = under(lambda: product(*tensors()))
    assert result.dtype is half
    assert result.numel() > 0
    if "mixed" not in name:  # which are refused elsewhere
        wg.testing.assert_close(result.float(), product(*tensors()), rtol=0.02, atol=0.05)


@pytest.mark.parametrize(
    ("name", "function", "dtype"),
    [
        ("sum of float32", lambda x: x + x, wg.float32),
        ("exponential of float32", lambda x: x.exp(), wg.float32),
        ("exponential of float16", lambda x: x.half().exp(), half),
        ("sum of both", lambda x: x + x.half(), wg.float32),
        ("layer norm", lambda x: F.layer_norm(x.half(), (4,)), half),
        ("mse", lambda x: F.mse_loss(x.half(), x.half()), wg.float32),
        ("cross entropy", lambda x: F.cross_entropy(x.half(), wg.tensor([0, 1])), wg.float32),
        ("weighted", lambda x: F.cross_entropy(x.half(), x.long() * 0 + 0.5, x[0]), wg.float32),
        ("margins", lambda x: F.multi_margin_loss(x.half(), wg.tensor([0, 1])), wg.float32),
        ("log_softmax", lambda x: F.log_softmax(x.half(), -1), half),
        ("product of elements", lambda x: x.half().prod(), wg.float32),
        ("product of a row", lambda x: x.half().prod(1), wg.float32),
        ("trace", lambda x: x.half().trace(), wg.float32),
        ("quantile", lambda x: x.half().quantile(0.5), wg.float32),
        ("cdist", lambda x: wg.cdist(x.half(), x), wg.float32),
        ("fft", lambda x: wg.fft.rfft(x.half()), wg.complex64),
        ("stft", lambda x: wg.stft(x[0].half(), 4, window=x[0], return_complex=True), C64),
        ("solve", lambda x: wg.linalg.solve(wg.eye(2).half(), x), wg.float32),
        ("lstsq", lambda x: wg.linalg.lstsq(x.T.half(), x[0]).solution, wg.float32),
        ("svdvals", lambda x: wg.linalg.svdvals(x.half()), wg.float32),
        ("pinv", lambda x: wg.linalg.pinv(x.half()), wg.float32),
        ("polar", lambda x: wg.polar(x.half().abs(), x), C64),
        ("ctc", lambda x: F.ctc_loss(x.half(), wg.tensor([1]), (2,), (1,)), wg.float32),
        ("reflection", lambda x: F.pad(x.half(), (1, 1), "reflect"), wg.float32),
        ("circle", lambda x: F.pad(x.half(), (1, 1), "circular"), half),
        ("pooling", lambda x: F.max_pool3d(x.half().view(1, 2, 2, 2), 2), wg.float32),
        ("float64", lambda x: x.double() @ x.double().T, wg.float64),
        ("integers", lambda x: x.long() @ x.long().T, wg.int64),
    ],
)
def test_what_is_no_product_computes_in_the_dtypes_that_come(name, function, dtype):
    x = tensors()[0]
    assert under(lambda: function(x)).dtype is dtype


def test_float64_is_left_alone_so_it_mixes_with_nothing():
    x = wg.ones(2, 2)
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        under(lambda: x @ x.double())
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        x @ x.half()


def test_layers_follow_one_another_and_gradients_have_the_dtypes_of_the_parameters():
    wg.manual_seed(0)
    net = wg.nn.Sequential(
        wg.nn.Conv2d(1, 2, 3), wg.nn.ReLU(), wg.nn.Flatten(), wg.nn.Linear(8, 4), wg.nn.Linear(4, 3)
    )
    x = wg.randn(2, 1, 4, 4)
    exact = net(x)
    out = under(lambda: net(x))
    assert out.dtype is half
    np.testing.assert_allclose(out.detach().float().numpy(), exact.detach().numpy(), atol=2e-3)
    F.cross_entropy(out.float(), wg.tensor([0, 2])).backward()
    assert {p.grad.dtype for p in net.parameters()} == {wg.float32}


@pytest.mark.parametrize("kind", [wg.nn.LSTM, wg.nn.GRU, wg.nn.RNN])
def test_recurrent_layers_follow_others(kind):
    wg.manual_seed(0)
    first, layer = wg.nn.Linear(4, 4), kind(4, 3)
    x = wg.randn(2, 1, 4)
    exact = layer(first(x))[0].detach()
    out = under(lambda: layer(first(x))[0])
    np.testing.assert_allclose(out.detach().float().numpy(), exact.numpy(), atol=2e-3)
    out.float().sum().backward()
    assert {p.grad.dtype for p in (*first.parameters(), *layer.parameters())} == {wg.float32}


def test_contexts_nest_and_leave_no_trace():
    x = wg.ones(2, 2)
    with wg.autocast("cpu", dtype=half):
        with wg.autocast("cpu", enabled=False):
            assert (x @ x).dtype is wg.float32
            assert not wg.is_autocast_enabled("cpu")
        assert (x @ x).dtype is half
        assert wg.is_autocast_enabled("cpu")
        assert wg.is_autocast_cpu_enabled()
        assert not wg.is_autocast_enabled()
        assert wg.get_autocast_dtype("cpu") is wg.get_autocast_cpu_dtype() is half
    assert (x @ x).dtype is wg.float32
    with wg.autocast("cpu", dtype=half), wg.autocast("cpu"):
        assert (x @ x).dtype is half
    context = wg.autocast("cpu", dtype=half)
    with pytest.raises(ZeroDivisionError), context, context:
        raise ZeroDivisionError
    assert not wg.is_autocast_enabled("cpu")


def test_a_function_is_decorated():
    @wg.autocast("cpu", dtype=half)
    def product(x):
        return x @ x

    assert product.__name__ == "product"
    assert product(wg.ones(2, 2)).dtype is half


def test_parameters_are_cast_once_while_nothing_writes_them():
    w = wg.ones(2, 2, requires_grad=True)
    x = wg.ones(2, 2)
    with wg.autocast("cpu", dtype=half):
        first, second = x @ w, x @ w
        assert first.grad_fn.next_functions[1][0] is second.grad_fn.next_functions[1][0]
        with wg.no_grad():
            assert not (x @ w).requires_grad
            w.mul_(3)
        assert (x @ w).tolist() == [[6.0, 6.0], [6.0, 6.0]]
    with wg.autocast("cpu", dtype=half, cache_enabled=False):
        first, second = x @ w, x @ w
        assert first.grad_fn.next_functions[1][0] is not second.grad_fn.next_functions[1][0]


def test_under_transforms_too():
    x = wg.randn(3, 2)
    with wg.autocast("cpu", dtype=half):
        batched = wg.vmap(lambda row: row @ row)(x)
        gradient = wg.func.grad(lambda v: (v @ v).float())(x[0])
    assert batched.dtype is half
    assert gradient.dtype is wg.float32
    np.testing.assert_allclose(gradient.numpy(), 2 * x[0].numpy(), rtol=2e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device_type": "cuda"}, "CUDA is not available. Disabling"),
        ({"device_type": "cpu", "dtype": wg.float32}, "the target dtype is not supported"),
    ],
)
def test_what_cannot_be_done_is_switched_off_with_a_warning(options, message):
    with pytest.warns(UserWarning, match=message):
        context = wg.autocast(**options)
    with context:
        assert (wg.ones(1, 1) @ wg.ones(1, 1)).dtype is wg.float32


def test_without_a_gpu_nothing_warns_of_what_is_switched_off():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with wg.autocast("cuda", enabled=False), wg.cuda.amp.autocast(enabled=False):
            assert (wg.ones(1, 1) @ wg.ones(1, 1)).dtype is wg.float32


def test_the_old_names_for_a_cpu_take_no_device():
    with wg.cpu.amp.autocast(True, half):
        assert (wg.ones(1, 1) @ wg.ones(1, 1)).dtype is half
    with wg.cpu.amp.autocast(enabled=False):
        assert (wg.ones(1, 1) @ wg.ones(1, 1)).dtype is wg.float32
    assert wg.cpu.amp.GradScaler(4.0).get_scale() == 4.0


def test_a_device_that_is_unknown_is_an_error():
    with pytest.raises(RuntimeError, match="unsupported autocast device_type 'foo'"):
        wg.autocast("foo")
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        wg.autocast(True)


class Square(wg.autograd.Function):
    seen = None

    @staticmethod
    @wg.amp.custom_fwd(device_type="cpu")
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x @ x

    @staticmethod
    @wg.amp.custom_bwd(device_type="cpu")
    def backward(ctx, grad):
        under = wg.is_autocast_enabled("cpu")
        Square.seen = wg.get_autocast_dtype("cpu") if under else None
        (x,) = ctx.saved_tensors
        return (grad @ x.T + x.T @ grad).float()


@pytest.mark.parametrize("enabled", [True, False])
def test_the_backward_of_a_function_runs_as_its_forward_did(enabled):
    x = wg.ones(1, 1, requires_grad=True)
    under(lambda: Square.apply(x), enabled=enabled).float().sum().backward()
    assert Square.seen is (half if enabled else None)
    assert x.grad.item() == 2


def test_a_function_may_ask_for_its_arguments_dtype():
    class Kept(wg.autograd.Function):
        @staticmethod
        @wg.amp.custom_fwd(device_type="cpu", cast_inputs=wg.float32)
        def forward(ctx, x, parts):
            return x @ x + parts["bias"]

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    x = wg.ones(1, 1, dtype=half)
    assert under(lambda: Kept.apply(x, {"bias": x})).dtype is wg.float32
    assert Kept.apply(x, {"bias": x}).dtype is half


def test_attention_and_lstms_are_computed_in_the_lower_dtype():
    q, mask = wg.ones(2, 3, 4), wg.zeros(3, 3)
    attention, lstm = F.scaled_dot_product_attention, wg.nn.LSTM(4, 5, 2)
    packed = wg.nn.utils.rnn.pack_sequence([q[0], q[1, :2]])

    def dtypes():
        found = [attention(q, q, q).dtype, attention(q.half(), q, q, mask).dtype]
        out, states = lstm(q)
        found += [value.dtype for value in (out, *states)]
        return found, lstm(packed)[0].data.dtype, attention(q.double(), *[q.double()] * 2).dtype

    assert under(dtypes) == ([half] * 5, wg.float32, wg.float64)
    under(lambda: lstm(q))[0].float().sum().backward()
    assert {p.grad.dtype for p in lstm.parameters()} == {wg.float32}
