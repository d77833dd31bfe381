"""Test encoders and decoders with attention."""

import copy
import pickle

import numpy as np
import pytest

import wengert as wg

nn = wg.nn


@pytest.fixture(autouse=True)
def _seeded():
    wg.manual_seed(0)


def tensor(*shape, seed=0):
    return wg.tensor(np.random.default_rng(seed).standard_normal(shape))


def close(a, b, tight=1e-9):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), tight, tight)


def causal(size):
    return nn.Transformer.generate_square_subsequent_mask(size, dtype=wg.float64)


SMALL = {"dropout": 0.0, "dtype": wg.float64}


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("activation", ["gelu", wg.tanh])
def test_gradients_of_an_encoder_layer_are_those_of_differences(norm_first, activation):
    layer = nn.TransformerEncoderLayer(
        2, 1, 2, norm_first=norm_first, activation=activation, **SMALL
    )
    x = tensor(3, 1, 2).requires_grad_()
    assert wg.autograd.gradcheck(lambda x: layer(x, causal(3)), x, fast_mode=True)


def test_gradients_of_a_transformer_are_those_of_differences():
    model = nn.Transformer(2, 1, 1, 1, 2, activation=wg.tanh, **SMALL)
    names = [name for name, _ in model.named_parameters()]

    def function(src, tgt, *parameters):
        own = dict(zip(names, parameters, strict=True))
        return wg.func.functional_call(model, own, (src, tgt))

    leaves = [tensor(2, 1, 2), tensor(2, 1, 2, seed=1), *model.parameters()]
    leaves = [x.detach().clone().requires_grad_() for x in leaves]
    assert wg.autograd.gradcheck(function, leaves, fast_mode=True)


def test_second_derivatives_of_a_decoder_layer_are_those_of_differences():
    layer = nn.TransformerDecoderLayer(2, 1, 2, activation=wg.tanh, **SMALL)
    given = tensor(1, 1, 2).requires_grad_(), tensor(2, 1, 2, seed=1).requires_grad_()
    assert wg.autograd.gradgradcheck(layer, given, fast_mode=True)


def test_under_a_causal_mask_a_step_sees_nothing_later():
    layer, x = nn.TransformerEncoderLayer(4, 2, 8, **SMALL), tensor(4, 1, 4)
    x.requires_grad_()
    (grad,) = wg.autograd.grad(layer(x, src_mask=causal(4))[1].pow(3).sum(), x)
    assert (grad[2:] == 0).all()
    assert (grad[:2] != 0).any()


@pytest.mark.parametrize("mask", [causal(3), causal(3).bool()])
@pytest.mark.parametrize("promised", [None, True, False])
def test_what_is_said_of_a_causal_mask_changes_nothing(mask, promised):
    stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, **SMALL), 2)
    x = tensor(3, 2, 4)
    plain = x
    for layer in stack.layers:
        plain = layer(plain, src_mask=causal(3))
    close(stack(x, mask=mask, is_causal=promised), plain)
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, **SMALL), 1)
    close(
        decoder(x, x, tgt_mask=mask, tgt_is_causal=promised),
        decoder.layers[0](x, x, tgt_mask=causal(3)),
    )


def test_layers_of_a_stack_are_copies():
    layer = nn.TransformerDecoderLayer(4, 2, 8)
    stack = nn.TransformerDecoder(layer, 2)
    first, second = stack.layers
    assert len({id(layer), id(first), id(second)}) == 3
    for (name, a), b in zip(first.named_parameters(), second.parameters(), strict=True):
        assert a is not b, name
        close(a, b, 0)


def test_a_stack_applies_its_norm_last():
    layer = nn.TransformerEncoderLayer(4, 2, 8, **SMALL)
    norm = nn.LayerNorm(4, dtype=wg.float64)
    x = tensor(3, 2, 4)
    close(nn.TransformerEncoder(layer, 1, norm)(x), norm(nn.TransformerEncoder(layer, 1)(x)))


def test_an_encoder_and_a_decoder_may_be_given():
    encoder, decoder = nn.Identity(), nn.Identity()
    model = nn.Transformer(4, 2, custom_encoder=encoder, custom_decoder=decoder)
    assert model.encoder is encoder
    assert model.decoder is decoder


def test_dropout_stops_in_evaluation():
    model, x = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.5), tensor(3, 2, 4).float()
    assert not np.allclose(model(x).detach(), model(x).detach())
    model.eval()
    close(model(x), model(x), 0)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_compute_the_same(copied):
    model = nn.Transformer(4, 2, 1, 1, 8, **SMALL)
    src, tgt = tensor(3, 2, 4), tensor(2, 2, 4, seed=1)
    close(copied(model)(src, tgt), model(src, tgt), 0)


def test_a_state_dict_loads_into_another():
    one, other = (nn.Transformer(4, 2, 1, 1, 8, **SMALL) for _ in range(2))
    src, tgt = tensor(3, 2, 4), tensor(2, 2, 4, seed=1)
    assert not np.allclose(one(src, tgt).detach(), other(src, tgt).detach())
    other.load_state_dict(one.state_dict())
    close(one(src, tgt), other(src, tgt), 0)


def test_a_transformer_is_mapped_over_batches():
    model, tgt = nn.Transformer(4, 2, 1, 1, 8, **SMALL), tensor(2, 2, 4, seed=1)
    xs = tensor(3, 3, 2, 4)

    def call(src, mask):
        return model(src, tgt, tgt_mask=mask)

    masks = tensor(3, 2, 2, seed=2)
    mapped = wg.func.vmap(call)(xs, masks)
    close(mapped, wg.stack([call(x, m) for x, m in zip(xs, masks, strict=True)]))


def test_gradients_of_each_sample_are_those_of_each_alone():
    model, xs = nn.TransformerEncoderLayer(2, 1, 2, **SMALL), tensor(3, 2, 1, 2)
    parameters = dict(model.named_parameters())

    def loss(own, x):
        return wg.func.functional_call(model, own, (x,)).pow(3).sum()

    each = wg.func.vmap(wg.func.grad(loss), (None, 0))(parameters, xs)
    alone = wg.autograd.grad(loss(parameters, xs[1]), list(parameters.values()))
    for name, grad in zip(parameters, alone, strict=True):
        close(each[name][1], grad)


def test_a_compiled_transformer_computes_the_same():
    model = nn.Transformer(4, 2, 1, 1, 8, **SMALL)
    tgt, mask = tensor(2, 2, 4, seed=1), causal(2)
    compiled = wg.compile(model, backend="numpy", options={"measure": False})
    with wg.no_grad():
        for seed in range(3):
            src = tensor(3, 2, 4, seed=seed)
            close(compiled(src, tgt, tgt_mask=mask), model(src, tgt, tgt_mask=mask))


def test_sequences_that_do_not_fit_are_refused():
    model = nn.Transformer(4, 2, 1, 1, 8)
    with pytest.raises(RuntimeError, match="batch number of src and tgt must be equal, not 2 and"):
        model(wg.zeros(3, 2, 4), wg.zeros(3, 1, 4))
    with pytest.raises(RuntimeError, match="must be equal to d_model, which is 4, not 4 and 5"):
        model(wg.zeros(3, 2, 4), wg.zeros(3, 2, 5))
    with pytest.raises(RuntimeError, match="activation should be relu/gelu, not sine"):
        nn.TransformerEncoderLayer(4, 2, activation="sine")
