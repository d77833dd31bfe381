"""Test recurrent layers and packed sequences: parameters, values, gradients, errors."""

import numpy as np
import pytest
from pairs import array, both, compare, flat, same

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

LAYERS = (
    ("RNN", {}),
    ("RNN", {"nonlinearity": "relu", "num_layers": 2, "bias": False}),
    ("RNN", {"bidirectional": True, "batch_first": True}),
    ("GRU", {}),
    ("GRU", {"num_layers": 2, "bidirectional": True}),
    ("GRU", {"bias": False, "batch_first": True}),
    ("GRU", {"num_layers": 3, "dropout": 0.4}),
    ("LSTM", {}),
    ("LSTM", {"num_layers": 2, "bidirectional": True}),
    ("LSTM", {"bias": False, "batch_first": True}),
    ("LSTM", {"num_layers": 3, "dropout": 0.4}),
    ("LSTM", {"proj_size": 2}),
    ("LSTM", {"proj_size": 2, "num_layers": 2, "bidirectional": True, "bias": False}),
)
IDS = [f"{name}-{'-'.join(map(str, more)) or 'plain'}" for name, more in LAYERS]


def leaf(library, values):
    return library.tensor(values, requires_grad=True)


def states(library, module, batch):
    """First states of both kinds, as the layer takes them, and as a list."""
    count = module.num_layers * (2 if module.bidirectional else 1)
    sizes = [module.proj_size or module.hidden_size, module.hidden_size]
    rows = [(count, *batch, size) for size in sizes]
    leaves = [leaf(library, array(*shape, seed=i + 1)) for i, shape in enumerate(rows)]
    return (tuple(leaves), leaves) if module.mode == "LSTM" else (leaves[0], leaves[:1])


@pytest.mark.parametrize(("name", "more"), LAYERS, ids=IDS)
def test_a_layer_begins_with_the_same_parameters_and_prints_alike(name, more):
    theirs, ours = both(lambda library: getattr(library.nn, name)(3, 4, **more))
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for (key, a), b in zip(theirs.named_parameters(), ours.parameters(), strict=True):
        np.testing.assert_array_equal(b.detach().numpy(), a.detach().numpy(), key)


@pytest.mark.parametrize(("name", "more"), LAYERS, ids=IDS)
def test_a_layer_computes_the_same_on_a_batch(name, more):
    def run(library, module):
        x = leaf(library, array(2, 5, 3) if module.batch_first else array(5, 2, 3))
        hx, leaves = states(library, module, (2,))
        return module(x, hx), [x, *leaves]

    compare(lambda library: getattr(library.nn, name)(3, 4, **more), run)


@pytest.mark.parametrize(("name", "more"), LAYERS, ids=IDS)
def test_a_layer_computes_the_same_on_packed_sequences(name, more):
    def run(library, module):
        x = leaf(library, array(4, 3, 3))
        rnn = library.nn.utils.rnn
        packed = rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
        hx, leaves = states(library, module, (3,))
        output, hidden = module(packed, hx)
        padded, lengths = rnn.pad_packed_sequence(output, padding_value=0.5)
        return (padded, lengths, hidden), [x, *leaves]

    compare(lambda library: getattr(library.nn, name)(3, 4, **more), run)


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
def test_a_layer_takes_one_sequence_and_begins_with_zeros(name):
    def run(library, module):
        x = leaf(library, array(5, 3))
        return module(x), [x]

    compare(lambda library: getattr(library.nn, name)(3, 4, bidirectional=True), run)


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
def test_layers_agree_in_single_precision(name):
    theirs, ours = both(lambda library: getattr(library.nn, name)(3, 4))
    x = array(20, 2, 3).astype(np.float32)
    same([theirs(torch.tensor(x))[0]], [ours(wg.tensor(x))[0]], 1e-5)


CELLS = (
    ("RNNCell", {}),
    ("RNNCell", {"nonlinearity": "relu", "bias": False}),
    ("GRUCell", {}),
    ("GRUCell", {"bias": False}),
    ("LSTMCell", {}),
    ("LSTMCell", {"bias": False}),
)


@pytest.mark.parametrize(("name", "more"), CELLS)
@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("given", [True, False])
def test_a_cell_computes_the_same(name, more, batch, given):
    def run(library, module):
        x = leaf(library, array(*batch, 3))
        if not given:
            return module(x), [x]
        leaves = [leaf(library, array(*batch, 4, seed=i + 1)) for i in range(2)]
        if name == "LSTMCell":
            return module(x, tuple(leaves)), [x, *leaves]
        return module(x, leaves[0]), [x, leaves[0]]

    theirs, ours = both(lambda library: getattr(library.nn, name)(3, 4, **more))
    assert repr(ours) == repr(theirs)
    same(list(theirs.parameters()), list(ours.parameters()), 0)
    compare(lambda library: getattr(library.nn, name)(3, 4, **more), run)


def test_the_dropout_between_layers_draws_the_same_numbers():
    theirs, ours = both(
        lambda library: library.nn.LSTM(3, 4, 3, dropout=0.5, batch_first=True, bidirectional=True)
    )
    x = array(2, 3, 3).astype(np.float32)
    for library in (torch, wg):
        library.manual_seed(5)
    same([theirs(torch.tensor(x))[0]], [ours(wg.tensor(x))[0]], 1e-5)
    assert torch.rand(1).item() == wg.rand(1).item()


def test_a_checkpoint_of_pytorch_loads():
    theirs = torch.nn.LSTM(3, 4, 2, bidirectional=True)
    ours = wg.nn.LSTM(3, 4, 2, bidirectional=True)
    ours.load_state_dict({k: wg.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    x = array(5, 2, 3).astype(np.float32)
    same([theirs(torch.tensor(x))[0]], [ours(wg.tensor(x))[0]], 1e-5)


# -- errors ----------------------------------------------------------------------------------------


def layer(name, x, *hidden, **more):
    def call(library):
        z = [library.zeros(*shape) for shape in hidden]
        hx = None if not z else (tuple(z) if name == "LSTM" else z[0])
        return getattr(library.nn, name)(3, 4, **more)(library.zeros(*x), hx)

    return call


def packing(lengths, **more):
    return lambda library: library.nn.utils.rnn.pack_padded_sequence(
        library.zeros(4, 3, 2), lengths, **more
    )


def packed(x, sizes):
    return lambda library: library.nn.utils.rnn.PackedSequence(
        library.zeros(*x), library.tensor(sizes)
    )


WRONG = {
    "one dimension": layer("RNN", (3,)),
    "one dimension, GRU": layer("GRU", (3,)),
    "four dimensions": layer("LSTM", (1, 2, 2, 3)),
    "features": layer("LSTM", (2, 2, 4)),
    "no steps": layer("GRU", (0, 2, 3)),
    "a state with a batch": layer("RNN", (5, 3), (1, 2, 4)),
    "a state without": layer("GRU", (5, 2, 3), (1, 4)),
    "states with a batch": layer("LSTM", (5, 3), (1, 2, 4), (1, 2, 4)),
    "states without": layer("LSTM", (5, 2, 3), (1, 4), (1, 4)),
    "batch of the state": layer("RNN", (5, 2, 3), (1, 3, 4)),
    "layers of the state": layer("GRU", (5, 2, 3), (2, 2, 4)),
    "features of the cell state": layer("LSTM", (5, 2, 3), (1, 2, 4), (1, 2, 5)),
    "the hidden state of a projection": layer("LSTM", (5, 2, 3), (1, 2, 4), (1, 2, 4), proj_size=2),
    "one state for two": lambda library: library.nn.LSTM(3, 4)(
        library.zeros(5, 2, 3), (library.zeros(1, 2, 4),)
    ),
    "dtype": lambda library: library.nn.GRU(3, 4)(library.zeros(5, 2, 3).double()),
    "dtype of the state": lambda library: library.nn.GRU(3, 4)(
        library.zeros(5, 2, 3), library.zeros(1, 2, 4).double()
    ),
    "batch of a packed state": lambda library: library.nn.GRU(3, 4)(
        packed((5, 3), [3, 2])(library), library.zeros(1, 2, 4)
    ),
    "dropout": lambda library: library.nn.LSTM(3, 4, 2, dropout=1.5),
    "dropout of a bool": lambda library: library.nn.LSTM(3, 4, 2, dropout=True),
    "bias": lambda library: library.nn.LSTM(3, 4, bias=1),
    "batch_first": lambda library: library.nn.LSTM(3, 4, batch_first=1),
    "a fraction": lambda library: library.nn.LSTM(3.0, 4),
    "input_size": lambda library: library.nn.LSTM(0, 4),
    "hidden_size": lambda library: library.nn.LSTM(3, 0),
    "num_layers": lambda library: library.nn.LSTM(3, 4, 0),
    "a negative projection": lambda library: library.nn.LSTM(3, 4, proj_size=-1),
    "a wide projection": lambda library: library.nn.LSTM(3, 4, proj_size=4),
    "a projection of a GRU": lambda library: library.nn.GRU(3, 4, proj_size=1),
    "a projection of an RNN": lambda library: library.nn.RNN(3, 4, proj_size=1),
    "nonlinearity": lambda library: library.nn.RNN(3, 4, nonlinearity="gelu"),
    "mode": lambda library: library.nn.RNNBase("MUT", 3, 4),
    "nonlinearity of a cell": lambda library: library.nn.RNNCell(3, 4, nonlinearity="gelu")(
        library.zeros(2, 3)
    ),
    "features for a cell": lambda library: library.nn.RNNCell(3, 4)(library.zeros(2, 5)),
    "dimensions for a cell": lambda library: library.nn.GRUCell(3, 4)(library.zeros(1, 2, 3)),
    "dimensions of a cell's state": lambda library: library.nn.GRUCell(3, 4)(
        library.zeros(2, 3), library.zeros(1, 2, 4)
    ),
    "dimensions of an LSTM cell's state": lambda library: library.nn.LSTMCell(3, 4)(
        library.zeros(2, 3), (library.zeros(2, 4), library.zeros(1, 2, 4))
    ),
    "batch of a cell's state": lambda library: library.nn.LSTMCell(3, 4)(
        library.zeros(2, 3), (library.zeros(2, 4), library.zeros(3, 4))
    ),
    "features of a cell's state": lambda library: library.nn.GRUCell(3, 4)(
        library.zeros(2, 3), library.zeros(2, 5)
    ),
    "a tensor for two states": lambda library: library.lstm_cell(
        *[library.zeros(2, 2)] * 2, library.zeros(8, 2), library.zeros(8, 2)
    ),
    "number of lengths": packing([4, 2]),
    "unsorted lengths": packing([2, 4, 1]),
    "a length of 0": packing([4, 2, 0]),
    "lengths in rows": packing([[4, 2, 1]]),
    "nothing to pack": lambda library: library.nn.utils.rnn.pack_padded_sequence(
        library.zeros(0, 3), [1, 1, 1]
    ),
    "a sequence to pack": lambda library: library.nn.utils.rnn.pack_padded_sequence(
        library.zeros(4), [2]
    ),
    "total_length": lambda library: library.nn.utils.rnn.pad_packed_sequence(
        packed((5, 2), [3, 2])(library), total_length=1
    ),
    "no sequences": lambda library: library.nn.utils.rnn.pad_sequence([]),
    "a number for sequences": lambda library: library.nn.utils.rnn.pad_sequence(5),
    "a number among sequences": lambda library: library.nn.utils.rnn.pad_sequence(
        [library.zeros(2), 5]
    ),
    "sequences of different features": lambda library: library.nn.utils.rnn.pad_sequence(
        [library.zeros(2, 3), library.zeros(2, 4)]
    ),
    "side of the padding": lambda library: library.nn.utils.rnn.pad_sequence(
        [library.zeros(2)], padding_side="top"
    ),
    "lengths for unpad_sequence": lambda library: library.nn.utils.rnn.unpad_sequence(
        library.zeros(2, 3), library.tensor([2, 1])
    ),
    "no batch sizes": lambda library: library.nn.utils.rnn.PackedSequence(library.zeros(2)),
}


OWN_WORDS = {"one state for two", "lengths for unpad_sequence"}
"""Where PyTorch reports that indexing or zip failed."""


@pytest.mark.parametrize("what", WRONG)
def test_errors_are_of_the_same_class_and_begin_alike(what):
    raised = []
    for library in (torch, wg):
        with pytest.raises(Exception) as caught:
            WRONG[what](library)
        raised.append(caught.value)
    theirs, ours = raised
    assert isinstance(ours, type(theirs))
    if what not in OWN_WORDS:
        assert str(ours)[:25] == str(theirs)[:25]


def test_dropout_on_a_single_layer_warns():
    for library in (torch, wg):
        with pytest.warns(UserWarning, match="dropout option adds dropout after all but last"):
            library.nn.GRU(2, 3, dropout=0.5)


# -- sequences -------------------------------------------------------------------------------------

SEQUENCES = {
    "pad": lambda rnn, xs: rnn.pad_sequence(xs),
    "pad, batch first": lambda rnn, xs: rnn.pad_sequence(xs, True, -1.5),
    "pad, left": lambda rnn, xs: rnn.pad_sequence(xs, padding_side="left"),
    "pack": lambda rnn, xs: rnn.pack_sequence(xs, enforce_sorted=False),
    "pack, batch first": lambda rnn, xs: rnn.pack_padded_sequence(
        rnn.pad_sequence(xs, True), [2, 3, 1], True, False
    ),
    "pack and pad": lambda rnn, xs: rnn.pad_packed_sequence(
        rnn.pack_sequence(xs, enforce_sorted=False), True, 2.5, 4
    ),
    "pack and unpack": lambda rnn, xs: rnn.unpack_sequence(
        rnn.pack_sequence(xs, enforce_sorted=False)
    ),
}


@pytest.mark.parametrize("what", SEQUENCES)
@pytest.mark.parametrize("features", [(), (2,), (2, 1)])
def test_sequences_are_padded_and_packed_alike(what, features):
    found = []
    for library in (torch, wg):
        xs = [leaf(library, array(n, *features, seed=n)) for n in (2, 3, 1)]
        made = flat(SEQUENCES[what](library.nn.utils.rnn, xs))
        kept = [out for out in made if out.is_floating_point()]
        sum((out * library.tensor(array(*out.shape))).sum() for out in kept).backward()
        found.append(made + [x.grad for x in xs])
    same(*found)


def test_a_packed_sequence_prints_and_converts_alike():
    made = []
    for library in (torch, wg):
        xs = [library.tensor([0.0, 1.0]), library.tensor([0.0, 1.0, 2.0])]
        packed = library.nn.utils.rnn.pack_sequence(xs, enforce_sorted=False)
        shown = [repr(packed), packed.is_cuda, packed.is_pinned(), packed.to("cpu") is packed]
        for name in ("double", "float", "half", "long", "int", "short", "char", "byte", "cpu"):
            shown.append(repr(getattr(packed, name)()))
        made.append(shown)
    assert made[0] == made[1]
