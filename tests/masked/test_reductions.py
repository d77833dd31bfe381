"""Test that masked reductions equal reductions of the remaining elements."""

import numpy as np
import pytest

import wengert as wg
from wengert import masked
from wengert.autograd import gradcheck, gradgradcheck

X = wg.tensor([[1.0, -2.0, 3.0, 0.5], [4.0, 5.0, -6.0, 2.0]], dtype=wg.float64)
MASK = wg.tensor([[True, False, True, True], [False, True, False, True]])
REDUCED = {
    "sum": np.sum,
    "prod": np.prod,
    "mean": np.mean,
    "amax": np.max,
    "amin": np.min,
    "var": lambda a: np.var(a, ddof=1),
    "std": lambda a: np.std(a, ddof=1),
    "norm": np.linalg.norm,
    "logsumexp": lambda a: np.log(np.exp(a).sum()),
}


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("hidden", [0.0, float("nan"), float("inf")])
def test_a_reduction_is_that_of_what_is_shown(name, hidden):
    x = X.masked_fill(~MASK, hidden)
    function, expected = getattr(masked, name), REDUCED[name]
    rows = [expected(a[m]) for a, m in zip(X.numpy(), MASK.numpy(), strict=True)]
    more = {"dim": 1} if name == "norm" else {}
    made = function(x, **more, mask=MASK) if more else function(x, 1, mask=MASK)
    np.testing.assert_allclose(made.numpy(), rows, rtol=1e-12)
    kept = function(x, dim=-1, keepdim=True, mask=MASK)
    np.testing.assert_allclose(kept.numpy(), np.reshape(rows, (2, 1)), rtol=1e-12)
    whole = function(x, dim=(0, 1), mask=MASK)
    np.testing.assert_allclose(whole.item(), expected(X.numpy()[MASK.numpy()]), rtol=1e-12)


@pytest.mark.parametrize("name", REDUCED)
def test_without_a_mask_everything_is_shown(name):
    made = getattr(masked, name)(X, dim=(0, 1))
    np.testing.assert_allclose(made.item(), REDUCED[name](X.numpy()), rtol=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, m: masked.sum(x, 1, mask=m),
        lambda x, m: masked.prod(x, 1, mask=m),
        lambda x, m: masked.mean(x, 0, mask=m),
        lambda x, m: masked.amax(x, 1, mask=m),
        lambda x, m: masked.var(x, 1, mask=m),
        lambda x, m: masked.std(x, 1, False, mask=m),
        lambda x, m: masked.norm(x, 3.0, 1, mask=m),
        lambda x, m: masked.logsumexp(x, 1, mask=m),
        lambda x, m: masked.softmax(x, 1, mask=m),
        lambda x, m: masked.log_softmax(x, 1, mask=m).masked_fill(~m, 0),
        lambda x, m: masked.softmin(x, 1, mask=m),
        lambda x, m: masked.cumsum(x, 1, mask=m),
        lambda x, m: masked.cumprod(x, 1, mask=m),
        lambda x, m: masked.normalize(x, 2.0, 1, mask=m),
        lambda x, m: masked.median(x, 1, mask=m),
    ],
)
def test_derivatives_are_right_and_zero_where_the_mask_hides(f):
    x = X.clone().requires_grad_()
    assert gradcheck(lambda x: f(x, MASK), (x,))
    assert gradgradcheck(lambda x: f(x, MASK), (x,))
    f(x, MASK).sum().backward()
    assert x.grad[~MASK].tolist() == [0, 0, 0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_shows_nothing_gives_what_pytorch_gives():
    none = wg.zeros(3, dtype=wg.bool)
    x = wg.tensor([1.0, 2.0, 3.0])
    for name, value in (("sum", 0), ("prod", 1), ("amax", -np.inf), ("amin", np.inf)):
        assert getattr(masked, name)(x, 0, mask=none).item() == value
    for name in ("mean", "var", "std", "median"):
        assert np.isnan(getattr(masked, name)(x, dim=0, mask=none).item())
    assert masked.amax(x.int(), 0, mask=none).item() == np.iinfo(np.int32).min
    with pytest.raises(ValueError, match="no fully masked out rows"):
        masked.median(x.int(), 0, mask=none)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match=r"mean\(\): Could not infer output dtype"):
        masked.mean(X.int(), 0, mask=MASK)
    with pytest.raises(RuntimeError, match="must match the existing size"):
        masked.sum(X, 0, mask=wg.ones(3))
    with pytest.raises(RuntimeError, match="appears multiple times"):
        masked.sum(X, (0, 0), mask=MASK)
    with pytest.raises(ValueError, match="Only one of unbiased and correction"):
        masked.var(X, 0, True, correction=1, mask=MASK)
    with pytest.raises(TypeError, match="must be Tensor"):
        masked.sum([1.0], 0)


def test_a_product_of_one_element_has_memory_of_its_own():
    x = wg.tensor(True)
    assert wg.masked.prod(x).dtype is wg.int64
    y = wg.tensor(2.0)
    wg.masked.prod(y).zero_()
    assert y.item() == 2


def test_the_variance_of_complex_numbers_keeps_their_dtype():
    x = wg.tensor([1 + 2j, 5.0, 3 - 2j])
    result = wg.masked.var(x, mask=wg.tensor([True, False, True]))
    assert result.dtype == wg.complex64
    assert wg.allclose(result, x[::2].var() + 0j)


def test_masked_tensors_can_be_named_and_say_what_to_use():
    from wengert.masked import MaskedTensor, masked_tensor

    assert not isinstance(wg.ones(2), MaskedTensor)
    with pytest.raises(NotImplementedError, match="Give `mask=` to the functions"):
        masked_tensor(wg.ones(2), wg.ones(2).bool())
