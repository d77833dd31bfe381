"""Test the functions of recurrent layers, and which outputs are views."""

import itertools

import pytest

CASES = list(itertools.product((False, True), repeat=3))
MODES = {"lstm": ("LSTM", {}), "gru": ("GRU", {}), "rnn_tanh": ("RNN", {})}
MODES["rnn_relu"] = ("RNN", {"nonlinearity": "relu"})


def layers(t, mode, **options):
    kind, more = MODES[mode]
    net = getattr(t.nn, kind)(2, 3, 2, **more, **options)
    with t.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_((t.arange(p.numel()).reshape(p.shape) * 0.3 + i).sin())
    return net


def states(t, mode, both, batch):
    h = t.full((4 if both else 2, batch, 3), 0.1)
    return (h, h + 0.1) if mode == "lstm" else h


def flat(made):
    out, last = made
    return [out, *(last if isinstance(last, tuple) else (last,))]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("bias", "both", "first"), CASES)
def test_the_functions_compute_what_the_layers_do(t, mode, bias, both, first):
    net = layers(t, mode, bias=bias, bidirectional=both, batch_first=first)
    x = (t.arange(24.0).reshape(3, 4, 2) * 0.1).sin().requires_grad_()
    hx = states(t, mode, both, 3 if first else 4)
    made = getattr(t, mode)(x, hx, [*net.parameters()], bias, 2, 0.0, False, both, first)
    expected = flat(net(x, hx))
    assert len(made) == len(expected)
    for a, b in zip(made, expected, strict=True):
        t.testing.assert_close(a, b)
    (slope,) = t.autograd.grad(made[0].sum(), x)
    t.testing.assert_close(slope, t.autograd.grad(expected[0].sum(), x)[0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("both", [False, True])
def test_the_functions_take_packed_rows(t, mode, both):
    net = layers(t, mode, bidirectional=both)
    x = (t.arange(24.0).reshape(3, 4, 2) * 0.1).sin()
    packed = t.nn.utils.rnn.pack_padded_sequence(x, [3, 2, 2, 1])
    hx = states(t, mode, both, 4)
    args = [*net.parameters()], True, 2, 0.0, False, both
    made = getattr(t, mode)(packed.data, packed.batch_sizes, hx, *args)
    expected = net(packed, hx)
    for a, b in zip(made, [expected[0].data, *flat(expected)[1:]], strict=True):
        t.testing.assert_close(a, b)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("first", [False, True])
def test_the_output_is_a_view_only_of_an_lstm_with_the_batch_first(t, mode, first):
    net = layers(t, mode, batch_first=first)
    out = net(t.ones(3, 4, 2))[0]
    assert out._is_view() is (first and mode == "lstm")
    assert out.stride() == ((3, 9, 1) if first else (12, 3, 1))


def _in_parts(t, y):
    y[..., :1].mul_(2)
    y[..., 1:].mul_(2)
    return y


def _without_a_graph(t, y):
    with t.no_grad():
        y.mul_(3)
    return 2 * y


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("write", [lambda t, y: y.mul_(2), _in_parts, _without_a_graph])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_a_write_to_an_output_leaves_what_was_saved(t, mode, write, first, packed):
    net = layers(t, mode, bidirectional=True, batch_first=first).double()
    x = (t.arange(24.0, dtype=t.float64).reshape(3, 4, 2) * 0.1).sin().requires_grad_()
    pack, lengths = t.nn.utils.rnn.pack_padded_sequence, [4, 2, 1] if first else [3, 2, 2, 1]

    def slopes(which, change):
        out, last = net(pack(x, lengths, first) if packed else x)
        y = flat((out.data if packed else out, last))[which]
        return t.autograd.grad(change(t, y).sum(), [x, *net.parameters()])

    for which in range(3 if mode == "lstm" else 2):
        for a, b in zip(slopes(which, write), slopes(which, lambda t, y: 2 * y), strict=True):
            t.testing.assert_close(a, b)


@pytest.mark.parametrize("turns", range(5))
def test_a_turned_tensor_is_not_a_view_and_may_be_written_to(t, turns):
    x = t.arange(6.0).reshape(2, 3).requires_grad_()
    out = t.rot90(x, turns)
    assert not out._is_view() and out._base is None
    assert out.stride() == ((1, 3) if turns % 2 else (3, 1))
    out.mul_(3)
    (out * out).sum().backward()
    assert x.grad.tolist() == (18 * x).tolist()
