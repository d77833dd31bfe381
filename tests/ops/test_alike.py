"""Test arguments that must match: dtypes of parts and of `out`, comparisons, class weights."""

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
    x, y = wg.arange(6.0).reshape(2, 3), wg.ones(3, 2)
    assert x.__rmatmul__(y).tolist() == (y @ x).tolist()


def test_attention_in_half_precision_is_as_exact_as_its_result():
    rng = np.random.default_rng(0)
    q, k, v = (wg.from_numpy(9 * rng.standard_normal((4, 6, 8))).half() for _ in range(3))
    attend = wg.nn.functional.scaled_dot_product_attention
    made, exact = attend(q, k, v), attend(q.double(), k.double(), v.double())
    assert made.dtype is wg.float16
    assert (made.double() - exact).abs().max() <= 6e-4 * exact.abs().max()


F = wg.nn.functional
OF_NUMBERS = {
    "clamp": lambda x, c: wg.clamp(x, c),
    "clamp to two": lambda x, c: wg.clamp(x, -5, max=c),
    "hardshrink": F.hardshrink,
    "softshrink": F.softshrink,
    "threshold": lambda x, c: F.threshold(x, c, 1.0),
    "value": lambda x, c: F.threshold(x, 1.0, c),
    "hardtanh": lambda x, c: F.hardtanh(x, c, 5),
    "addcmul": lambda x, c: wg.addcmul(x, x, x, value=c),
    "addcdiv": lambda x, c: wg.addcdiv(x, x, x, value=c),
    "lerp": lambda x, c: wg.lerp(x, x + 1, c),
    "index_add": lambda x, c: wg.index_add(x, 0, wg.tensor([0]), x[:1], alpha=c),
    "addmv": lambda x, c: wg.addmv(x, wg.eye(2), x, alpha=c),
    "addmm": lambda x, c: wg.addmm(x[None], x[None, :1], x[None], beta=c),
}


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_a_real_tensor_takes_no_complex_number(name):
    function, x = OF_NUMBERS[name], wg.tensor([-1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="cannot be converted to type float without overflow"):
        function(x, 1 + 1j)
    real, plain = function(x, 2 + 0j), function(x, 2.0)
    assert real.dtype == wg.float32
    assert real.tolist() == plain.tolist()
    slopes = [wg.autograd.grad(y.sum(), x)[0].tolist() for y in (real, plain)]
    assert slopes[0] == slopes[1]


@pytest.mark.parametrize("name", sorted({*OF_NUMBERS} - {"clamp", "clamp to two"}))
def test_a_tensor_without_dimensions_is_a_number(name):
    function, x = OF_NUMBERS[name], wg.tensor([-1.0, 2.0])
    assert function(x, wg.tensor(2.0)).tolist() == function(x, 2.0).tolist()


@pytest.mark.parametrize("function", [wg.add, wg.sub])
def test_sums_of_real_tensors_have_a_real_factor(function):
    x = wg.tensor([-1.0, 2.0])
    with pytest.raises(RuntimeError, match="argument alpha must not be a complex number"):
        function(x, x, alpha=1j)
    assert function(x, x, alpha=wg.tensor(2.0)).tolist() == function(x, x, alpha=2).tolist()


@pytest.mark.parametrize("number", [wg.ones(1), wg.tensor(2.0, requires_grad=True)])
def test_other_tensors_are_no_numbers(number):
    with pytest.raises(TypeError, match="must be Number, not Tensor"):
        F.threshold(wg.ones(2), number, 1.0)
    with pytest.raises(TypeError, match="must be Number, not Tensor"):
        wg.addcmul(X, X, X, value=number)


def test_a_threshold_is_kept_as_the_number_that_it_was():
    x = wg.zeros(2, requires_grad=True)
    for number in (1, 1.0, False, 1 + 0j):
        kept = F.threshold(x, number, 1).grad_fn._saved_threshold
        assert (type(kept), kept) == (type(number), number)


NOT_BY_NUMBERS = {
    "leaky_relu": lambda c: F.leaky_relu(X, c),
    "elu": lambda c: F.elu(X, c),
    "celu": lambda c: F.celu(X, c),
    "softplus": lambda c: F.softplus(X, beta=c),
    "huber_loss": lambda c: F.huber_loss(X, X, delta=c),
    "smooth_l1_loss": lambda c: F.smooth_l1_loss(X, X, beta=c),
    "margin_ranking_loss": lambda c: F.margin_ranking_loss(X, X, X, margin=c),
    "cross_entropy": lambda c: F.cross_entropy(X, wg.tensor(0), label_smoothing=c * 0),
    "dropout": lambda c: F.dropout(X, c * 0),
    "alpha_dropout": lambda c: F.alpha_dropout(X, c * 0),
    "dropout1d": lambda c: F.dropout1d(wg.ones(1, 2, 3), c * 0),
    "group_norm": lambda c: F.group_norm(wg.ones(1, 2, 3), 2, eps=c),
    "norm": lambda c: wg.norm(X, c),
    "vector_norm": lambda c: wg.linalg.vector_norm(X, c),
    "dist": lambda c: wg.dist(X, X, c),
    "renorm": lambda c: wg.renorm(X[None], c, 0, 1.0),
    "renorm to": lambda c: wg.renorm(X[None], 2.0, 0, c),
    "full": lambda c: wg.full((2,), c),
    "full_like": lambda c: wg.full_like(X, c),
    "new_full": lambda c: X.new_full((2,), c),
    "arange": lambda c: wg.arange(0.0, c),
    "histc": lambda c: wg.histc(X, 3, c, 5),
    "bernoulli": lambda c: wg.bernoulli(X, c * 0.1),
    "uniform_": lambda c: wg.zeros(2).uniform_(0, c),
    "exponential_": lambda c: wg.zeros(2).exponential_(c),
}


@pytest.mark.parametrize("name", NOT_BY_NUMBERS)
def test_a_number_that_requires_a_gradient_is_not_taken_without_it(name):
    function = NOT_BY_NUMBERS[name]
    with pytest.raises(TypeError, match="must be Number, not"):
        function(wg.tensor(2.0, requires_grad=True))
    function(2.0)
    function(wg.tensor(2.0))


def test_a_norm_of_pooling_has_a_gradient_by_its_exponent():
    x, p = wg.tensor([[[1.0, 2.0, 3.0, 4.0]]]), wg.tensor(2.0, requires_grad=True)
    y = F.lp_pool1d(x, p, 2)
    (slope,) = wg.autograd.grad(y.sum(), p)
    step = 1e-3
    far = [F.lp_pool1d(x.double(), 2 + s, 2).sum().item() for s in (step, -step)]
    assert slope.item() == pytest.approx((far[0] - far[1]) / (2 * step), rel=1e-4)


@pytest.mark.parametrize(
    "name", sorted({*NOT_BY_NUMBERS} - {"bernoulli", "uniform_", "exponential_"})
)
def test_a_number_that_has_a_tangent_is_not_taken_without_it(name):
    function = NOT_BY_NUMBERS[name]
    with wg.autograd.forward_ad.dual_level():
        number = wg.autograd.forward_ad.make_dual(wg.tensor(2.0), wg.tensor(1.0))
        with pytest.raises(TypeError, match="must be Number, not"):
            function(number)
        function(float(number))
    with pytest.raises(TypeError, match="must be Number, not"):
        wg.func.jvp(function, (wg.tensor(2.0),), (wg.tensor(1.0),))


def test_the_operation_of_a_module_is_named():
    module = wg.nn.LeakyReLU(wg.nn.Parameter(wg.tensor(0.1)))
    with pytest.raises(
        TypeError, match=r"^leaky_relu\(\): argument 'negative_slope' must be Number"
    ):
        module(X)
