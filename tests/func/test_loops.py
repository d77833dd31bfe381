"""Test that a function of a whole batch decides for each element, as a loop does, or refuses."""

import pytest

import wengert as wg
from wengert.func import vmap

NUMBERS = wg.tensor([[0, 1, 1], [2, 2, 2]])
VALUES = wg.tensor([[1.0, 2.0, 4.0], [4.0, 4.0, 5.0]])

SAME = {
    "the bounds of bins": lambda i, x: wg.histc(x, 3),
    "one value in all bins": lambda i, x: wg.histc(x * 0 + x[0], 2),
    "degrees of freedom": lambda i, x: wg.cov(
        wg.stack([x, x * x]), fweights=(i == 1).long() + i // 2
    ),
    "no degrees of freedom": lambda i, x: wg.cov(x, fweights=(x == 4).long()),
}
REFUSED = {
    "how many numbers": lambda i, x: wg.bincount(i, x),
    "how many classes": lambda i, x: wg.nn.functional.one_hot(i),
}


@pytest.mark.parametrize("function", SAME.values(), ids=SAME)
@pytest.mark.filterwarnings("ignore:cov")
def test_each_element_has_its_own(function):
    looped = [function(i, x) for i, x in zip(NUMBERS, VALUES, strict=True)]
    wg.testing.assert_close(vmap(function)(NUMBERS, VALUES), wg.stack(looped), equal_nan=True)


@pytest.mark.parametrize("function", REFUSED.values(), ids=REFUSED)
def test_what_depends_on_the_whole_batch_is_refused(function):
    with pytest.raises(RuntimeError, match=r"^vmap: .*differ from one element"):
        vmap(function)(NUMBERS, VALUES)


def test_indices_out_of_range_are_named_in_a_batch():
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        vmap(lambda x: x.index_fill(0, x.long(), 1.0))(wg.tensor([[0.0, 1.0], [1.0, 7.0]]))
