"""Test recurrent layers and cells: derivatives, transforms, programs, both implementations."""

import copy
import pickle

import numpy as np
import pytest

import wengert as wg
from wengert.kernels import recurrent as kernels
from wengert.prims.recurrent import gru_steps, lstm_steps, rnn_steps
from wengert.tape.record import T

KINDS = {
    "rnn": lambda **more: wg.nn.RNN(2, 3, dtype=wg.float64, **more),
    "relu": lambda **more: wg.nn.RNN(2, 3, nonlinearity="relu", dtype=wg.float64, **more),
    "gru": lambda **more: wg.nn.GRU(2, 3, dtype=wg.float64, **more),
    "lstm": lambda **more: wg.nn.LSTM(2, 3, dtype=wg.float64, **more),
    "projection": lambda **more: wg.nn.LSTM(2, 3, proj_size=2, dtype=wg.float64, **more),
}


@pytest.fixture(autouse=True)
def _seeded():
    wg.manual_seed(0)


def tensor(*shape, seed=0):
    return wg.tensor(np.random.default_rng(seed).standard_normal(shape))


def close(a, b, tight=1e-9):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), tight, tight)


def of_parameters(module, *inputs):
    """The module as a function of inputs and parameters, and these."""
    names = [name for name, _ in module.named_parameters()]
    values = [p.detach().clone().requires_grad_() for p in module.parameters()]
    leaves = [x.clone().requires_grad_() for x in inputs]

    def function(*given):
        own = dict(zip(names, given[len(inputs) :], strict=True))
        return wg.func.functional_call(module, own, given[: len(inputs)])[0]

    return function, (*leaves, *values)


# -- derivatives -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", [{}, {"bidirectional": True, "bias": False}])
def test_gradients_by_input_and_parameters_are_those_of_differences(kind, more):
    module = KINDS[kind](**more)
    assert wg.autograd.gradcheck(*of_parameters(module, tensor(3, 2, 2)), fast_mode=True)


@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_gradients_of_two_layers_are_those_of_differences(kind):
    module = KINDS[kind](num_layers=2, batch_first=True)
    assert wg.autograd.gradcheck(*of_parameters(module, tensor(1, 2, 2)), fast_mode=True)


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
def test_second_derivatives_are_those_of_differences(name):
    module = getattr(wg.nn, name)(1, 2, dtype=wg.float64)
    assert wg.autograd.gradgradcheck(*of_parameters(module, tensor(2, 1, 1)))


@pytest.mark.parametrize("name", ["RNNCell", "GRUCell", "LSTMCell"])
def test_gradients_of_cells_are_those_of_differences(name):
    cell = getattr(wg.nn, name)(2, 2, dtype=wg.float64)
    states = (tensor(2, 2, seed=1), tensor(2, 2, seed=2)) if name == "LSTMCell" else None

    def last(x, *parameters):
        own = dict(zip([n for n, _ in cell.named_parameters()], parameters, strict=True))
        made = wg.func.functional_call(cell, own, (x, states))
        return made[0] * made[1] if name == "LSTMCell" else made

    values = [tensor(2, 2), *cell.parameters()]
    assert wg.autograd.gradcheck(last, [v.detach().clone().requires_grad_() for v in values])


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_gradients_reach_the_first_states_of_packed_sequences(kind):
    module = KINDS[kind]()
    lengths = [3, 1]

    def function(x, h, c):
        packed = wg.nn.utils.rnn.pack_padded_sequence(x, lengths)
        output, hidden = module(packed, (h, c) if kind == "lstm" else h)
        total = sum(part.sum() for part in hidden) if kind == "lstm" else hidden.square().sum()
        return output.data.square().sum() + total + 0 * c.sum()

    given = [tensor(3, 2, 2), tensor(1, 2, 3, seed=1), tensor(1, 2, 3, seed=2)]
    assert wg.autograd.gradcheck(function, [x.requires_grad_() for x in given])


# -- one operation, or many ------------------------------------------------------------------------


def layer(name, seed, sizes):
    """What a layer takes: its input, its weight, and its states."""
    gates, states = {"lstm": (4, 2), "gru": (3, 1), "rnn": (1, 1)}[name]
    shapes = [(sum(sizes), 3 * gates), (3 * gates, 3)] + [(3 * gates,)] * (name == "gru")
    shapes += [(sizes[0], 3)] * states
    return [tensor(*shape, seed=seed + i).requires_grad_() for i, shape in enumerate(shapes)]


@pytest.mark.parametrize("name", ["lstm", "gru", "rnn"])
@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 2, 2, 1), (1,), (0, 0)])
@pytest.mark.parametrize("reverse", [False, True])
def test_the_fused_layer_is_what_its_steps_are(name, sizes, reverse):
    how = {"sizes": sizes, "reverse": reverse}
    if name == "rnn":
        how["nonlinearity"] = "relu"
    tensors = layer(name, 4, sizes)
    steps = {"lstm": lstm_steps, "gru": gru_steps, "rnn": rnn_steps}[name]
    states = getattr(kernels, f"{name}_states")(*[t.detach().numpy() for t in tensors], **how)
    record = getattr(T, f"{name}_layer")
    one, many = steps(T, *tensors, **how), record(*tensors, wg.tensor(states[-1]), **how)
    weights = [tensor(*out.shape, seed=20 + i) for i, out in enumerate(one)]
    grads = []
    for outs in (one, many):
        for a, b in zip(one, outs, strict=True):
            close(a, b)
        grads.append(wg.autograd.grad(outs, tensors, weights))
    for a, b in zip(*grads, strict=True):
        close(a, b)


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize("lengths", [[3, 3], [4, 2], [1]])
def test_a_layer_computes_the_same_without_gradients(kind, lengths):
    module = KINDS[kind](bidirectional=True)
    x = tensor(max(lengths), len(lengths), 2)
    packed = wg.nn.utils.rnn.pack_padded_sequence(x, lengths)
    output, hidden = module(packed)
    with wg.no_grad():
        bare, last = module(packed)
    assert wg.equal(bare.data, output.data)
    states = zip(hidden, last, strict=True) if kind == "lstm" else [(hidden, last)]
    assert all(wg.equal(a, b) for a, b in states)


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_a_layer_is_one_operation(kind):
    output, _ = KINDS[kind]()(tensor(5, 2, 2).requires_grad_())
    names = set()
    stack = [output.grad_fn]
    while stack:
        node = stack.pop()
        names.add(type(node).__name__)
        stack += [below for below, _ in node.next_functions if below is not None]
    assert f"{kind.capitalize()}LayerBackward0" in names
    assert not names & {"SigmoidBackward0", "TanhBackward0"}


def test_a_layer_in_half_precision_is_near_that_in_single_precision():
    module = wg.nn.LSTM(2, 3)
    x = tensor(4, 2, 2).float()
    single = module(x)[0]
    close(module.half()(x.half())[0].float(), single, 1e-2)


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_large_sums_of_gates_do_not_overflow(kind):
    module, x = KINDS[kind](), (1e6 * tensor(3, 2, 2)).requires_grad_()
    output, _ = module(x)
    output.sum().backward()
    assert (output.abs() <= 1).all()
    assert (x.grad.abs() < 1).all()  # saturated, up to what is left by a gate


# -- what goes in and comes out --------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_batch_first_is_the_same_turned(kind):
    module, x = KINDS[kind](num_layers=2), tensor(4, 2, 2)
    plain, hidden = module(x)
    module.batch_first = True
    turned, also = module(x.transpose(0, 1))
    close(plain, turned.transpose(0, 1))
    for a, b in zip(hidden, also, strict=True):
        close(a, b)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed_sequences_give_what_each_gives_alone(kind, bidirectional):
    module = KINDS[kind](bidirectional=bidirectional)
    sequences = [tensor(n, 2, seed=n) for n in (2, 4, 1)]
    packed = wg.nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False)
    output, hidden = module(packed)
    for i, (alone, part) in enumerate(
        zip(sequences, wg.nn.utils.rnn.unpack_sequence(output), strict=True)
    ):
        own, last = module(alone)
        close(part, own)
        pair = zip(hidden, last, strict=True) if isinstance(last, tuple) else [(hidden, last)]
        for all_of, one in pair:
            close(all_of[:, i], one)


def test_a_state_given_is_where_the_sequence_goes_on():
    module, x = KINDS["lstm"](num_layers=2), tensor(6, 2, 2)
    whole, last = module(x)
    first, between = module(x[:2])
    second, end = module(x[2:], between)
    close(whole, wg.cat([first, second]))
    for a, b in zip(last, end, strict=True):
        close(a, b)


@pytest.mark.parametrize("cell", ["RNN", "GRU", "LSTM"])
def test_a_layer_takes_the_steps_of_its_cell(cell):
    layer = getattr(wg.nn, cell)(2, 3, dtype=wg.float64)
    step = getattr(wg.nn, f"{cell}Cell")(2, 3, dtype=wg.float64)
    step.load_state_dict({k.removesuffix("_l0"): v for k, v in layer.state_dict().items()})
    state, made = None, []
    x = tensor(4, 2, 2)
    for row in x:
        state = step(row, state)
        made.append(state[0] if cell == "LSTM" else state)
    close(layer(x)[0], wg.stack(made))


def test_dropout_is_between_layers_and_during_training_only():
    module, x = wg.nn.GRU(2, 3, 2, dropout=0.5), tensor(4, 2, 2).float()
    assert not np.allclose(module(x)[0].detach(), module(x)[0].detach())
    module.eval()
    close(module(x)[0], module(x)[0], 0)


def test_a_failing_call_leaves_no_trace():
    module = KINDS["lstm"]()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    for wrong in (tensor(3, 2, 5), tensor(3, 2, 2).float(), tensor(0, 2, 2), tensor(2)):
        with pytest.raises((RuntimeError, ValueError)):
            module(wrong)
    with pytest.raises(RuntimeError, match="Expected hidden"):
        module(tensor(3, 2, 2), (tensor(1, 2, 3), tensor(1, 1, 3)))
    for name, value in module.state_dict().items():
        close(value, before[name], 0)
    assert module(tensor(3, 2, 2))[0].shape == (3, 2, 3)


@pytest.mark.parametrize(("sizes", "count"), [([3, 1], 5), ([2, 3], 5)])
def test_batch_sizes_that_do_not_fit_are_refused(sizes, count):
    packed = wg.nn.utils.rnn.PackedSequence(tensor(count, 2), wg.tensor(sizes))
    with pytest.raises(RuntimeError, match="batch sizes of a PackedSequence must never rise"):
        KINDS["gru"]()(packed)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_compute_the_same_and_share_nothing(copied):
    module, x = KINDS["lstm"](bidirectional=True), tensor(3, 2, 2)
    other = copied(module)
    close(module(x)[0], other(x)[0], 0)
    with wg.no_grad():
        other.weight_hh_l0.mul_(2)
    assert not np.allclose(module(x)[0].detach(), other(x)[0].detach())


def test_a_layer_converts_with_its_parameters():
    module = wg.nn.GRU(2, 3).double()
    assert module(tensor(3, 2, 2))[0].dtype == wg.float64
    assert [w.dtype for w in module.all_weights[0]] == [wg.float64] * 4


def test_writing_to_a_weight_between_forward_and_backward_is_noticed():
    module = KINDS["lstm"]()
    output, _ = module(tensor(3, 2, 2))
    with wg.no_grad():
        module.weight_hh_l0.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        output.sum().backward()


# -- modes, transforms, programs -------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_a_layer_works_in_every_mode(kind):
    module, x = KINDS[kind](), tensor(3, 2, 2).requires_grad_()
    output, _ = module(x)
    expected = wg.autograd.grad(output.sum(), x)[0]
    saved = []
    modes = (
        lambda: wg.autograd.set_detect_anomaly(True),
        lambda: wg.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t),
    )
    for mode in modes:
        with mode():
            again, _ = module(x)
            close(again, output)
            close(wg.autograd.grad(again.sum(), x)[0], expected)
    assert saved
    for mode in (wg.no_grad, wg.inference_mode):
        with mode():
            again, _ = module(x)
        assert not again.requires_grad
        close(again, output)


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_mapped_over_batches(kind):
    module, xs = KINDS[kind](), tensor(3, 4, 2, 2)
    mapped = wg.func.vmap(lambda x: module(x)[0])(xs)
    close(mapped, wg.stack([module(x)[0] for x in xs]))


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_gradients_of_each_sample_are_those_of_each_alone(kind):
    module, xs = KINDS[kind](), tensor(3, 4, 1, 2)
    parameters = dict(module.named_parameters())

    def loss(own, x):
        return wg.func.functional_call(module, own, (x,))[0].square().sum()

    each = wg.func.vmap(wg.func.grad(loss), (None, 0))(parameters, xs)
    alone = wg.autograd.grad(loss(parameters, xs[1]), list(parameters.values()))
    for name, grad in zip(parameters, alone, strict=True):
        close(each[name][1], grad)


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_tangents_of_a_layer_are_those_of_differences(kind):
    module, x, way, e = KINDS[kind](), tensor(3, 2, 2), tensor(3, 2, 2, seed=1), 1e-6
    _, tangent = wg.func.jvp(lambda x: module(x)[0], (x,), (way,))
    close(tangent, (module(x + e * way)[0] - module(x - e * way)[0]) / (2 * e), 1e-6)


@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_hessians_forward_over_reverse_are_those_of_reverse_over_reverse(kind):
    module = KINDS[kind]()

    def loss(x):
        return module(x)[0].square().sum()

    x = tensor(2, 1, 2)
    close(wg.func.hessian(loss)(x), wg.autograd.functional.hessian(loss, x))


@pytest.mark.parametrize("kind", ["rnn", "gru", "lstm"])
def test_batched_cotangents_give_what_each_gives(kind):
    module, x = KINDS[kind](), tensor(3, 2, 2).requires_grad_()
    output, _ = module(x)
    ways = tensor(2, *output.shape, seed=3)
    many = wg.autograd.grad(output, x, ways, is_grads_batched=True, retain_graph=True)[0]
    each = [wg.autograd.grad(output, x, way, retain_graph=True)[0] for way in ways]
    close(many, wg.stack(each))


def trained(module):
    def step(x):
        for parameter in module.parameters():
            parameter.grad = None
        loss = module(x)[0].square().sum()
        loss.backward()
        with wg.no_grad():
            for parameter in module.parameters():
                parameter.sub_(0.1 * parameter.grad)
        return loss.detach()

    return step


@pytest.mark.parametrize("name", ["GRU", "LSTM"])
def test_a_compiled_training_step_trains_alike(name):
    module = getattr(wg.nn, name)(2, 3, dtype=wg.float64)
    other = copy.deepcopy(module)
    strict = {"measure": False}
    compiled = wg.compile(trained(module), backend="numpy", options=strict)
    for i in range(3):
        close(compiled(tensor(4, 2, 2, seed=i)), trained(other)(tensor(4, 2, 2, seed=i)))
    for a, b in zip(module.parameters(), other.parameters(), strict=True):
        close(a, b)


def test_the_steps_of_a_compiled_layer_are_a_loop():
    module = wg.nn.LSTM(1, 1, dtype=wg.float64)
    lengths = []
    for steps in (20, 60):
        compiled = wg.compile(lambda x: module(x)[0], backend="numpy")
        with wg.no_grad():
            for seed in range(2):
                x = tensor(steps, 1, 1, seed=seed)
                close(compiled(x), module(x)[0])
            lengths.append(len(str(compiled.explain()).split("\n")))
    assert lengths[0] == lengths[1]


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_sequence_of_one_step_has_derivatives_of_second_order(kind, bidirectional):
    net = getattr(wg.nn, kind)(2, 3, bidirectional=bidirectional, dtype=wg.float64)
    x = wg.tensor([[[0.5, -0.25]]], dtype=wg.float64, requires_grad=True)
    assert wg.autograd.gradcheck(lambda x: net(x)[0], (x,))
    assert wg.autograd.gradgradcheck(lambda x: net(x)[0], (x,))


def test_the_parameters_are_listed_in_order_without_groups():
    layer = wg.nn.LSTM(2, 3, num_layers=2, bidirectional=True)
    assert [id(one) for one in layer._flat_weights] == [id(one) for one in layer.parameters()]
    with pytest.raises(RuntimeError, match="set the attributes"):
        layer._flat_weights = [one.detach() for one in layer._flat_weights]
