"""Test that arguments that are bools take nothing else: a number may be meant for a neighbour."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import wengert as wg
from wengert.nn import functional as F

X = wg.tensor([[2.0, 1.0], [1.0, 3.0]])
CALLS = {
    "sum": lambda flag: X.sum(0, flag),
    "mean": lambda flag: X.mean(0, flag),
    "amax": lambda flag: X.amax(0, flag),
    "argmax": lambda flag: X.argmax(0, flag),
    "max": lambda flag: X.max(0, flag),
    "any": lambda flag: X.any(0, flag),
    "std": lambda flag: X.std(0, keepdim=flag),
    "median": lambda flag: X.median(0, flag),
    "quantile": lambda flag: X.quantile(0.5, 0, flag),
    "logsumexp": lambda flag: X.logsumexp(0, flag),
    "sort": lambda flag: X.sort(0, flag),
    "topk": lambda flag: X.topk(1, 0, flag),
    "index_put": lambda flag: X.index_put((wg.tensor([0]),), X[0], flag),
    "scatter_reduce": lambda flag: X.scatter_reduce(
        0, wg.zeros(1, 2, dtype=wg.int64), X, "sum", include_self=flag
    ),
    "unique": lambda flag: X.unique(return_counts=flag),
    "nonzero": lambda flag: X.nonzero(as_tuple=flag),
    "multinomial": lambda flag: X.multinomial(1, flag),
    "bucketize": lambda flag: wg.bucketize(X, X[0].sort().values, right=flag),
    "cholesky": lambda flag: wg.linalg.cholesky(X, upper=flag),
    "svd": lambda flag: wg.linalg.svd(X, flag),
    "lu_factor": lambda flag: wg.linalg.lu_factor(X, pivot=True if flag is False else flag),
    "zeros": lambda flag: wg.zeros(2, requires_grad=flag),
    "dropout": lambda flag: F.dropout(X, 0.5, flag),
    "kl_div": lambda flag: F.kl_div(X, X, reduction="sum", log_target=flag),
    "max_pool1d": lambda flag: F.max_pool1d(X, 2, ceil_mode=flag),
    "attention": lambda flag: F.scaled_dot_product_attention(X, X, X, is_causal=flag),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_flags_are_bools(call):
    for flag in (True, False, np.True_):
        call(flag)
    for wrong in (1, 0, None, "yes", 0.5, [True]):
        with pytest.raises(TypeError, match=r"^\w+\(\): argument '\w+' must be bool, not "):
            call(wrong)


COUNTS = {
    "cat": lambda n: wg.cat([X, X], n),
    "select": lambda n: X.select(0, n),
    "unsqueeze": lambda n: X.unsqueeze(n),
    "transpose": lambda n: X.transpose(0, n),
    "chunk": lambda n: X.chunk(n),
    "topk": lambda n: X.topk(n),
    "roll": lambda n: X.roll(n, 0),
    "flip": lambda n: X.flip(n),
    "repeat": lambda n: X.repeat(n, 1),
    "reshape": lambda n: X.reshape(n, -1),
    "fft": lambda n: wg.fft.fft(X, dim=n),
    "triu": lambda n: X.triu(n),
    "triu_indices": lambda n: wg.triu_indices(n, 2),
    "multinomial": lambda n: X.multinomial(n),
    "polygamma": lambda n: wg.polygamma(n, X),
    "round": lambda n: X.round(decimals=n),
    "hann_window": lambda n: wg.hann_window(n),
    "fftfreq": lambda n: wg.fft.fftfreq(n),
    "max_pool1d": lambda n: F.max_pool1d(X, n),
    "conv1d": lambda n: F.conv1d(X[None], X[:, :, None], stride=n),
    "group_norm": lambda n: F.group_norm(X, n),
    "empty_strided": lambda n: wg.empty_strided((2,), (n,)),
}


@pytest.mark.parametrize("call", COUNTS.values(), ids=COUNTS)
def test_numbers_of_things_are_neither_bools_nor_fractions(call):
    for number in (1, np.int64(1)):
        call(number)
    for wrong in (True, 1.5, 1.0, None, "1"):
        with pytest.raises(TypeError):
            call(wrong)


WRONG = {
    "a kept dimension of two tensors": lambda: wg.max(X, X, True),
    "a kept dimension of none": lambda: wg.min(X, keepdim=True),
    "a kept dimension of a median": lambda: X.median(keepdim=True),
    "another size": lambda: X.repeat_interleave(2, 0, output_size=5),
    "another size of several": lambda: X.repeat_interleave(wg.tensor([1, 2]), 0, output_size=2),
    "no tolerance": lambda: wg.isclose(X, X, atol=float("nan")),
    "no norm": lambda: wg.renorm(X, float("nan"), 0, 1.0),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_what_would_have_no_effect_is_refused(call):
    with pytest.raises((TypeError, RuntimeError)):
        call()


NUMBERS = {
    "hardshrink": lambda n: F.hardshrink(X, n),
    "threshold": lambda n: F.threshold(X, n, 1.0),
    "threshold's value": lambda n: F.threshold(X, 0.0, n),
    "leaky_relu": lambda n: F.leaky_relu(X, n),
    "elu": lambda n: F.elu(X, n),
    "celu": lambda n: F.celu(X, n),
    "softplus": lambda n: F.softplus(X, n),
    "add": lambda n: wg.add(X, X, alpha=n),
    "addmm": lambda n: wg.addmm(X, X, X, alpha=n),
    "addcmul": lambda n: wg.addcmul(X, X, X, value=n),
    "layer_norm": lambda n: F.layer_norm(X, (2,), eps=n),
    "huber_loss": lambda n: F.huber_loss(X, X, delta=n),
    "margin_ranking_loss": lambda n: F.margin_ranking_loss(X, X, X, margin=n),
}


@pytest.mark.parametrize("call", NUMBERS.values(), ids=NUMBERS)
def test_numbers_are_numbers(call):
    for number in (1.0, 1, np.float32(1.0), wg.tensor(1.0)):
        call(number)
    for wrong in (None, "1", [1.0], (1.0, 2.0), b"1", Fraction(1, 2), Decimal("0.5"), {}):
        with pytest.raises(TypeError):
            call(wrong)
