"""Test attention and transformers against PyTorch: parameters, values, gradients, errors."""

import functools
import math

import numpy as np
import pairs
import pytest
from pairs import array, both, flat, same

import wengert as wg

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:enable_nested_tensor")]


def alike(make):
    """Modules of both libraries, from the same seed: they print alike and begin alike."""
    theirs, ours = both(make)
    assert repr(ours) == repr(theirs)
    for (name, a), (own, b) in zip(theirs.named_parameters(), ours.named_parameters(), strict=True):
        assert own == name
        np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), 1e-6, err_msg=name)
    # what differs by rounding, drawn in single precision, is made equal
    wg.nn.utils.vector_to_parameters(
        wg.tensor(torch.nn.utils.parameters_to_vector(theirs.parameters()).detach().numpy()),
        ours.parameters(),
    )
    return theirs.double(), ours.double()


compare = functools.partial(pairs.compare, begin=alike)


def causal(library, steps):
    made = library.nn.Transformer.generate_square_subsequent_mask(steps)
    return made.double()


L, S, N, E = 3, 5, 2, 4

# masks of attention: none hides all keys from a query
MASKS = {
    "none": lambda _: {},
    "bools": lambda library: {"attn_mask": library.tensor(array(L, S) > 0.9)},
    "floats": lambda library: {"attn_mask": library.tensor(array(L, S))},
    "for each head": lambda library: {"attn_mask": library.tensor(array(N * 2, L, S))},
    "padding": lambda library: {
        "key_padding_mask": library.tensor([[False] * 4 + [True], [False] * 2 + [True] * 3])
    },
    "padding and mask": lambda library: {
        "key_padding_mask": library.tensor(array(N, S)),
        "attn_mask": library.tensor(array(L, S)),
    },
    "all weights": lambda _: {"average_attn_weights": False},
    "causal": lambda library: {
        "attn_mask": library.tensor(np.triu(np.full((L, S), -math.inf), 1)),
        "is_causal": True,
    },
}
KINDS = {
    "plain": {},
    "no bias": {"bias": False},
    "rows appended": {"add_bias_kv": True, "add_zero_attn": True},
    "other features": {"kdim": 3, "vdim": 6},
    "batch first": {"batch_first": True},
    "dropout": {"dropout": 0.3},
}


def attend(mask, weights, batched=True):
    def run(library, module):
        sizes = ((L, E), (S, module.kdim), (S, module.vdim))
        leaves = []
        for i, (steps, features) in enumerate(sizes):
            shape = (N, steps, features) if module.batch_first else (steps, N, features)
            shape = shape if batched else (steps, features)
            leaves.append(library.tensor(array(*shape, seed=i), requires_grad=True))
        return module(*leaves, need_weights=weights, **MASKS[mask](library)), leaves

    return run


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mask", ["none", "padding and mask"])
@pytest.mark.parametrize("weights", [True, False])
def test_attention_computes_the_same_with_each_argument(kind, mask, weights):
    compare(
        lambda library: library.nn.MultiheadAttention(E, 2, **KINDS[kind]), attend(mask, weights)
    )


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("weights", [True, False])
def test_attention_computes_the_same_under_each_mask(mask, weights):
    compare(lambda library: library.nn.MultiheadAttention(E, 2), attend(mask, weights))


@pytest.mark.parametrize("mask", ["none", "bools"])
def test_attention_takes_one_sequence(mask):
    compare(lambda library: library.nn.MultiheadAttention(E, 2), attend(mask, True, False))


@pytest.mark.parametrize("keys", ["same", "memory"])
def test_attention_shares_projections_of_the_same_tensor(keys):
    def run(library, module):
        x = library.tensor(array(L, N, E), requires_grad=True)
        y = x if keys == "same" else library.tensor(array(S, N, E, seed=1), requires_grad=True)
        return module(x, y, y), [x, y]

    compare(lambda library: library.nn.MultiheadAttention(E, 2), run)


def test_a_query_that_sees_no_key_gets_what_pytorch_gives_it():
    theirs, ours = alike(lambda library: library.nn.MultiheadAttention(E, 2))
    mask = np.array([[True] * 3, [False] * 3, [False, True, False]])
    for weights in (True, False):
        found = [
            flat(
                module(
                    *[library.tensor(array(3, 1, E))] * 3,
                    attn_mask=library.tensor(mask),
                    need_weights=weights,
                )
            )
            for library, module in ((torch, theirs), (wg, ours))
        ]
        same(*found)


def test_keys_and_values_may_be_given_for_the_projections():
    found = []
    for library in (torch, wg):
        q, w = library.tensor(array(L, N, E)), library.tensor(array(3 * E, E, seed=1))
        out, bias = library.tensor(array(E, E, seed=2)), library.tensor(array(E, seed=3))
        k, v = (library.tensor(array(N * 2, 6, 2, seed=i)) for i in (4, 5))
        arguments = (q, q, q, E, 2, w, None, None, None, False, 0.0, out, bias)
        call = library.nn.functional.multi_head_attention_forward
        found.append(flat(call(*arguments, static_k=k, static_v=v)))
    same(*found)


# -- transformers ----------------------------------------------------------------------------------

LAYERS = {
    "plain": {},
    "gelu": {"activation": "gelu", "norm_first": True},
    "a function": {"activation": "tanh", "bias": False},
    "batch first": {"batch_first": True, "dropout": 0.3, "layer_norm_eps": 1e-3},
}


def settings(library, kind):
    more = {"dropout": 0.0, **LAYERS[kind]}
    if more.get("activation") == "tanh":
        more["activation"] = library.tanh
    return more


def sequences(library, batch_first, batched=True):
    made = []
    for steps in (S, L):
        shape = (N, steps, E) if batch_first else (steps, N, E)
        shape = shape if batched else (steps, E)
        made.append(library.tensor(array(*shape, seed=steps), requires_grad=True))
    return made


PADDING = [[False] * S, [False] * 3 + [True] * 2]


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("masked", [False, True])
def test_an_encoder_layer_computes_the_same(kind, masked):
    def run(library, module):
        x, _ = sequences(library, kind == "batch first")
        masks = {}
        if masked:
            hidden = library.isneginf(causal(library, S))
            masks = {"src_mask": hidden, "src_key_padding_mask": library.tensor(PADDING)}
        return module(x, **masks), [x]

    compare(
        lambda library: library.nn.TransformerEncoderLayer(E, 2, 8, **settings(library, kind)), run
    )


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("masked", [False, True])
def test_a_decoder_layer_computes_the_same(kind, masked):
    def run(library, module):
        memory, x = sequences(library, kind == "batch first")
        masks = {}
        if masked:
            masks = {"tgt_mask": causal(library, L), "tgt_is_causal": True}
            masks["memory_mask"] = library.tensor(array(L, S))
            masks["memory_key_padding_mask"] = library.tensor(array(N, S))
        return module(x, memory, **masks), [x, memory]

    compare(
        lambda library: library.nn.TransformerDecoderLayer(E, 2, 8, **settings(library, kind)), run
    )


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("batched", [True, False])
def test_a_transformer_computes_the_same(kind, batched):
    def run(library, module):
        x, y = sequences(library, kind == "batch first", batched)
        masks = {"src_mask": causal(library, S), "tgt_mask": causal(library, L)}
        return module(x, y, **masks), [x, y]

    compare(
        lambda library: library.nn.Transformer(E, 2, 2, 1, 8, **settings(library, kind)),
        run,
    )


def test_a_stack_normalises_its_result_and_detects_causal_masks():
    def make(library):
        layer = library.nn.TransformerEncoderLayer(E, 2, 8, dropout=0.2)
        return library.nn.TransformerEncoder(layer, 2, library.nn.LayerNorm(E))

    def run(library, module):
        x, _ = sequences(library, False)
        return module(x, mask=causal(library, S)), [x]

    compare(make, run)


def test_evaluation_drops_nothing():
    theirs, ours = alike(lambda library: library.nn.TransformerEncoderLayer(E, 2, 8))
    found = []
    for library, module in ((torch, theirs), (wg, ours)):
        x, _ = sequences(library, False)
        found.append([module.eval()(x)])
    same(*found)


def test_masks_are_made_alike():
    for of in ({}, {"dtype": "float64"}):
        made = []
        for library in (torch, wg):
            dtype = {name: getattr(library, value) for name, value in of.items()}
            made.append(repr(library.nn.Transformer.generate_square_subsequent_mask(3, **dtype)))
        assert made[0] == made[1]


# -- errors ----------------------------------------------------------------------------------------


def attention(*shapes, settings=None, bools=(), **masks):
    """A call with zeros of these shapes; `bools` are the masks that are of bools."""

    def call(library):
        given = {}
        for name, shape in masks.items():
            given[name] = shape
            if isinstance(shape, tuple):
                given[name] = library.zeros(*shape) > 0 if name in bools else library.zeros(*shape)
        module = library.nn.MultiheadAttention(E, 2, **(settings or {}))
        return module(*[library.zeros(*shape) for shape in shapes], **given)

    return call


def forward(**changed):
    def call(library):
        z = library.zeros
        given = {
            "query": z(L, N, E),
            "key": z(S, N, E),
            "value": z(S, N, E),
            "embed_dim_to_check": E,
            "num_heads": 2,
            "in_proj_weight": z(3 * E, E),
            "in_proj_bias": None,
            "bias_k": None,
            "bias_v": None,
            "add_zero_attn": False,
            "dropout_p": 0.0,
            "out_proj_weight": z(E, E),
            "out_proj_bias": None,
        }
        for name, value in changed.items():
            given[name] = z(*value) if isinstance(value, tuple) else value
        return library.nn.functional.multi_head_attention_forward(**given)

    return call


QUERY, KEY = (L, N, E), (S, N, E)
APART = {"use_separate_proj_weight": True}
WRONG = {
    "a key without a batch": attention(QUERY, (S, E), (S, E)),
    "a key with a batch": attention((L, E), KEY, (S, E)),
    "a query of one dimension": attention((E,), KEY, KEY),
    "values for other keys": attention(QUERY, KEY, (6, N, E)),
    "features": attention((L, N, 5), (S, N, 5), (S, N, 5)),
    "batches": attention(QUERY, (S, 3, E), (S, 3, E)),
    "a mask turned": attention(QUERY, KEY, KEY, attn_mask=(S, L)),
    "a mask for each of the batch": attention(QUERY, KEY, KEY, attn_mask=(N, L, S)),
    "a mask for heads, without a batch": attention((L, E), (S, E), (S, E), attn_mask=(4, L, S)),
    "a mask of one dimension": attention(QUERY, KEY, KEY, attn_mask=(S,)),
    "padding turned": attention(QUERY, KEY, KEY, key_padding_mask=(S, N)),
    "padding of other keys": attention(QUERY, KEY, KEY, key_padding_mask=(N, 4)),
    "padding without a batch": attention(QUERY, KEY, KEY, key_padding_mask=(S,)),
    "padding with a batch": attention((L, E), (S, E), (S, E), key_padding_mask=(N, S)),
    "a mask of integers": lambda library: library.nn.MultiheadAttention(E, 2)(
        *[library.zeros(L, N, E)] * 3, attn_mask=library.zeros(L, L).long()
    ),
    "is_causal without a mask": attention(QUERY, KEY, KEY, is_causal=True),
    "heads": lambda library: library.nn.MultiheadAttention(5, 2),
    "no features": lambda library: library.nn.MultiheadAttention(0, 2),
    "no heads": lambda library: library.nn.MultiheadAttention(4, 0),
    "steps of keys and values": attention(
        QUERY, (S, N, 3), (6, N, 5), settings={"kdim": 3, "vdim": 5}
    ),
    "features of keys": attention(QUERY, KEY, (S, N, 5), settings={"kdim": 3, "vdim": 5}),
    "features of values": attention(QUERY, (S, N, 3), KEY, settings={"kdim": 3, "vdim": 5}),
    "embed_dim_to_check": forward(embed_dim_to_check=5),
    "num_heads": forward(num_heads=3),
    "bias_k alone": forward(bias_k=(1, 1, E)),
    "bias_v alone": forward(bias_v=(1, 1, E)),
    "rows of static_k": forward(static_k=(3, 7, 2)),
    "features of static_k": forward(static_k=(4, 7, 3)),
    "rows of static_v": forward(static_v=(3, 7, 2)),
    "features of static_v": forward(static_v=(4, 7, 3)),
    "a bias of static_k": forward(bias_k=(1, 1, E), bias_v=(1, 1, E), static_k=(4, 7, 2)),
    "a bias of static_v": forward(bias_k=(1, 1, E), bias_v=(1, 1, E), static_v=(4, 7, 2)),
    "no weight": forward(in_proj_weight=None),
    "no weight of the query": forward(**APART),
    "no weight of the key": forward(**APART, q_proj_weight=(E, E)),
    "no weight of the value": forward(**APART, q_proj_weight=(E, E), k_proj_weight=(E, E)),
    "shape of a bias": forward(
        **APART,
        q_proj_weight=(E, E),
        k_proj_weight=(E, E),
        v_proj_weight=(E, E),
        in_proj_bias=(13,),
    ),
    "batches of a transformer": lambda library: library.nn.Transformer(E, 2, 1, 1, 8)(
        library.zeros(3, 2, E), library.zeros(5, 3, E)
    ),
    "features of a transformer": lambda library: library.nn.Transformer(E, 2, 1, 1, 8)(
        library.zeros(3, 2, 5), library.zeros(5, 2, 5)
    ),
    "activation": lambda library: library.nn.TransformerEncoderLayer(E, 2, 8, activation="tanh"),
}


@pytest.mark.parametrize("what", WRONG)
def test_errors_are_of_the_same_class_and_begin_alike(what):
    raised = []
    for library in (torch, wg):
        with pytest.raises(Exception) as caught:
            WRONG[what](library)
        raised.append(caught.value)
    theirs, ours = raised
    assert type(ours) is type(theirs)
    assert str(ours)[:40] == str(theirs)[:40]


def test_masks_of_two_kinds_warn():
    for library in (torch, wg):
        x = library.zeros(L, N, E)
        with pytest.warns(UserWarning, match="Support for mismatched key_padding_mask and attn_m"):
            library.nn.MultiheadAttention(E, 2)(
                x, x, x, library.zeros(N, L) > 0, attn_mask=library.zeros(L, L)
            )
