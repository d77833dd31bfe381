"""Test that NumPy scalars, subclasses of numbers and one-element tensors act as numbers."""

import enum

import numpy as np
import pytest

import wengert as wg
from wengert.nn import functional as F

x = wg.tensor([0.5, 1.5, 2.0])
m = wg.tensor([[0.5, 1.0, 2.0], [1.5, 3.0, 0.5], [2.0, 0.5, 1.0]])
at = wg.tensor([0])


class Rate(float):
    pass


class Choice(enum.IntEnum):
    TWO = 2


NUMBERS = {
    "add": lambda k: x.add(x, alpha=k),
    "addcmul": lambda k: wg.addcmul(x, x, x, value=k),
    "addmm": lambda k: wg.addmm(m, m, m, beta=k, alpha=k),
    "cdist": lambda k: wg.cdist(m, m, k),
    "celu": lambda k: F.celu(-x, k),
    "clamp": lambda k: x.clamp(max=k / 2),
    "cosine_similarity": lambda k: F.cosine_similarity(m, -m, eps=k),
    "dist": lambda k: wg.dist(x, -x, k),
    "div": lambda k: k / x,
    "elu": lambda k: F.elu(-x, k),
    "eq": lambda k: x == k,
    "full": lambda k: wg.full((2,), k, dtype=wg.float32),
    "full_like": lambda k: wg.full_like(x, k),
    "gradient": lambda k: wg.gradient(x, spacing=k),
    "gradient along a dimension": lambda k: (
        None if isinstance(k, wg.Tensor) else wg.gradient(x, spacing=[k])
    ),
    "huber_loss": lambda k: F.huber_loss(x, -x, delta=k),
    "index_fill": lambda k: x.index_fill(0, at, k),
    "isclose": lambda k: x.isclose(-x, rtol=k),
    "layer_norm": lambda k: F.layer_norm(m, (3,), eps=k),
    "leaky_relu": lambda k: F.leaky_relu(-x, k),
    "lerp": lambda k: wg.lerp(x, -x, k),
    "logit": lambda k: wg.logit(x / 2, k / 8),
    "masked_fill": lambda k: x.masked_fill(x > 1, k),
    "mul": lambda k: x * k,
    "nan_to_num": lambda k: (x * float("inf")).nan_to_num(k, k, k),
    "normalize": lambda k: F.normalize(m, k, 0),
    "pad": lambda k: F.pad(x, (1, 1), value=k),
    "pdist": lambda k: F.pdist(m, k),
    "pow": lambda k: x**k,
    "quantile": lambda k: x.quantile(k / 4),
    "renorm": lambda k: wg.renorm(m, k, 0, k / 4),
    "rtol": lambda k: wg.linalg.pinv(m, rtol=k / 1e6),
    "scaled_dot_product_attention": lambda k: F.scaled_dot_product_attention(
        m[None], m[None], m[None], scale=k
    ),
    "scatter": lambda k: x.scatter(0, at, k) if not isinstance(k, wg.Tensor) else None,
    "softplus": lambda k: F.softplus(x, k),
    "std": lambda k: x.std(correction=k),
    "threshold": lambda k: F.threshold(x, k / 2, k),
    "trapezoid": lambda k: wg.trapezoid(x, dx=k),
    "vector_norm": lambda k: wg.linalg.vector_norm(x, k),
    "where": lambda k: wg.where(x > 1, x, k),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(
    "number",
    [np.float64(2), np.float32(2), np.int64(2), wg.tensor(2.0), Rate(2), Choice.TWO],
    ids=lambda k: str(type(k)),
)
def test_numbers_of_every_kind_are_the_same_number(name, number):
    def parts(result):
        return result if isinstance(result, tuple | list) else [result]

    found = NUMBERS[name](number)
    if found is not None:
        for one, other in zip(parts(found), parts(NUMBERS[name](2.0)), strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)


def test_rows_are_shortened_to_a_number_of_any_kind():
    def shortened(most):
        return F.embedding(wg.tensor([0, 1]), m.clone(), max_norm=most, norm_type=most)

    for number in (np.float64(2), np.float32(2), wg.tensor(2.0)):
        assert shortened(number).tolist() == shortened(2.0).tolist()


def test_subclasses_of_integers_are_integers():
    counts = wg.tensor([1, 2, 3], dtype=wg.int32)
    for result in (counts * Choice.TWO, Choice.TWO - counts, counts.clone().mul_(Choice.TWO)):
        assert result.dtype == wg.int32
    assert wg.tensor(Choice.TWO).dtype == wg.tensor([Choice.TWO, 1]).dtype == wg.int64
