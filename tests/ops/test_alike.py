"""What must be alike: dtypes of parts and of `out`, comparisons, weights of classes."""

import numpy as np
import pytest

import wengert as wg

X, D, H = wg.ones(3), wg.ones(3, dtype=wg.float64), wg.ones(3, dtype=wg.float16)


@pytest.mark.parametrize("name", ["isclose", "allclose"])
def test_what_is_compared_has_one_dtype_and_shapes_that_broadcast(name):
    function = getattr(wg, name)
    with pytest.raises(RuntimeError, match="Float did not match Double"):
        function(X, D)
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match"):
        function(X, wg.ones(2))
    with pytest.raises(TypeError, match=r"argument 'other' \(position 2\) must be Tensor, not int"):
        function(X, 2)


@pytest.mark.parametrize(("name", "second"), [("complex", "imag"), ("polar", "angle")])
def test_the_parts_of_a_complex_tensor_are_alike(name, second):
    function = getattr(wg, name)
    with pytest.raises(RuntimeError, match="scalar type Float but got scalar type Double for sec"):
        function(X, D)
    with pytest.raises(RuntimeError, match="Expected both inputs to be Half, Float or Double"):
        function(X, X.long())
    with pytest.raises(NotImplementedError, match="NumPy has no such"):
        function(H, H)
    with pytest.raises(TypeError, match=rf"argument '{second}' \(position 2\) must be Tensor"):
        function(X, 2)
    with pytest.raises(RuntimeError, match="type ComplexFloat but got scalar type ComplexDouble"):
        function(X, X, out=wg.empty(3, dtype=wg.complex128))


@pytest.mark.parametrize("name", ["amin", "amax"])
def test_extremes_are_written_in_their_own_dtype(name):
    with pytest.raises(RuntimeError, match="Expected the dtype for input and out to match"):
        getattr(wg, name)(X, 0, out=wg.empty((), dtype=wg.float64))


def test_both_extremes_are_written_at_once():
    low, high = wg.empty(()), wg.empty(())
    made = wg.aminmax(wg.tensor([3.0, 1.0]), dim=0, out=(low, high))
    assert (low.item(), high.item()) == (1, 3)
    assert made.min is low
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got doub"):
        wg.aminmax(X, dim=0, out=(low, wg.empty((), dtype=wg.float64)))


def test_vectors_of_different_dtypes_and_sizes_differ_in_dtype_first():
    with pytest.raises(RuntimeError, match="dot : expected both vectors to have same dtype"):
        wg.dot(X, wg.ones(2, dtype=wg.float64))


def test_the_classes_that_are_weighed_are_those_of_the_scores():
    with pytest.raises(RuntimeError, match=r"inconsistent weight size, expected 4 but got \[5\]"):
        wg.nn.functional.multi_margin_loss(wg.ones(5, 4), wg.ones(5), weight=wg.ones(5))


@pytest.mark.parametrize("lambd", [-1, float("inf"), float("nan")])
def test_the_bound_of_softshrink_is_a_number_of_the_dtype(lambd):
    with pytest.raises(RuntimeError, match=r"lambda must be in range \[0, 3.40282e\+38\]"):
        wg.nn.functional.softshrink(X, lambd)


@pytest.mark.parametrize(
    ("replacement", "weights", "message"),
    [
        (False, [0.5, -1.0], "probability tensor contains either"),
        (True, [0.5, -1.0], "invalid multinomial distribution .encountering probability entry < 0"),
        (True, [0.5, float("inf")], "entry = infinity or NaN"),
    ],
)
def test_weights_to_draw_with_are_numbers_that_are_not_negative(replacement, weights, message):
    with pytest.raises(RuntimeError, match=message):
        wg.multinomial(wg.tensor(weights), 1, replacement)


def test_what_is_drawn_is_written_as_int64():
    with pytest.raises(RuntimeError, match="multinomial expects Long tensor out, got: Float"):
        wg.multinomial(X, 2, out=wg.empty(2))


def test_a_reversed_product_may_be_called_by_name():
    x, y = wg.ones(2, 3), wg.ones(3, 2)
    assert x.__rmatmul__(y).shape == (3, 3)


def test_attention_in_half_precision_is_as_exact_as_its_result():
    rng = np.random.default_rng(0)
    q, k, v = (wg.from_numpy(9 * rng.standard_normal((4, 6, 8))).half() for _ in range(3))
    attend = wg.nn.functional.scaled_dot_product_attention
    made, exact = attend(q, k, v), attend(q.double(), k.double(), v.double())
    assert made.dtype is wg.float16
    assert (made.double() - exact).abs().max() <= 6e-4 * exact.abs().max()
