"""Test initial values: distributions, random streams, and errors."""

import math

import pytest

import wengert as wg
from wengert.nn import init


def test_values_are_filled_in_place_unrecorded_and_returned():
    w = wg.empty(2, 3, requires_grad=True)
    for fill in (
        *(init.ones_, init.zeros_, init.eye_, init.orthogonal_, init.uniform_, init.normal_),
        *(init.xavier_uniform_, init.xavier_normal_, init.kaiming_uniform_, init.kaiming_normal_),
        *(init.trunc_normal_, lambda t: init.constant_(t, 2), lambda t: init.sparse_(t, 0.5)),
    ):
        before = w._version
        assert fill(w) is w and w.is_leaf and w.requires_grad and w._version > before


def test_the_spread_is_what_the_fans_ask_for():
    wg.manual_seed(0)
    w = wg.empty(40, 50, 3)
    spreads = {
        init.xavier_uniform_: math.sqrt(2 / (3 * 90)),
        init.xavier_normal_: math.sqrt(2 / (3 * 90)),
        init.kaiming_uniform_: math.sqrt(2 / 150),
        init.kaiming_normal_: math.sqrt(2 / 150),
    }
    for fill, spread in spreads.items():
        assert fill(w).std().item() == pytest.approx(spread, rel=0.05)
    assert init.kaiming_normal_(w, mode="FAN_OUT").std().item() == pytest.approx(
        math.sqrt(2 / 120), rel=0.05
    )
    assert init.kaiming_uniform_(w).abs().max() <= math.sqrt(6 / 150)


@pytest.mark.parametrize(("a", "b"), [(-2.0, 2.0), (2.0, 4.0), (-0.1, 0.1)])
def test_what_is_cut_off_lies_inside(a, b):
    wg.manual_seed(0)
    w = init.trunc_normal_(wg.empty(500), 0.0, 1.0, a, b)
    assert a <= w.min() and w.max() <= b
    assert w.unique().numel() > 490


def test_a_cut_far_from_the_mean_is_warned_of():
    with pytest.warns(UserWarning, match="mean is more than 2 std from"):
        init.trunc_normal_(wg.empty(3), 0.0, 1.0, 3.0, 4.0)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 2)])
def test_rows_or_columns_are_orthonormal(shape):
    w = init.orthogonal_(wg.empty(*shape, dtype=wg.float64), gain=2.0).flatten(1)
    product = w @ w.mT if w.shape[0] <= w.shape[1] else w.mT @ w
    assert wg.allclose(product, 4 * wg.eye(len(product), dtype=wg.float64))


def test_a_part_of_each_column_is_zero():
    assert (init.sparse_(wg.empty(10, 4), 0.25) == 0).sum(0).tolist() == [3] * 4


def test_the_zeros_of_each_column_are_drawn_in_turn():
    wg.manual_seed(1)
    found = init.sparse_(wg.empty(6, 3), 0.5)
    wg.manual_seed(1)
    expected = wg.empty(6, 3).normal_(0, 0.01)
    for column in range(3):
        expected[wg.randperm(6)[:3], column] = 0
    assert wg.equal(found, expected) and init.sparse_(wg.empty(4, 0), 0.5).shape == (4, 0)


def test_a_weight_that_hands_channels_on_does_so_in_each_group():
    x = wg.randn(1, 4, 5)
    w = init.dirac_(wg.empty(6, 2, 3), groups=2)
    y = wg.nn.functional.conv1d(x, w, padding=1, groups=2)
    assert wg.equal(y[:, [0, 1, 3, 4]], x) and not y[:, [2, 5]].any()


def test_a_generator_of_its_own_leaves_the_common_one_alone():
    state = wg.get_rng_state()
    for fill in (init.uniform_, init.normal_, init.orthogonal_, init.kaiming_uniform_):
        a, b = (fill(wg.empty(3, 3), generator=wg.Generator().manual_seed(1)) for _ in range(2))
        assert wg.equal(a, b)
    assert wg.equal(wg.get_rng_state(), state)


@pytest.mark.parametrize(
    ("name", "param", "gain"),
    [
        ("linear", None, 1),
        ("conv_transpose3d", None, 1),
        ("tanh", None, 5 / 3),
        ("relu", None, math.sqrt(2)),
        ("selu", None, 0.75),
        ("leaky_relu", None, math.sqrt(2 / 1.0001)),
        ("leaky_relu", 1, 1),
    ],
)
def test_gains(name, param, gain):
    assert init.calculate_gain(name, param) == pytest.approx(gain)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda w: init.eye_(w[0]), "Only tensors with 2 dimensions are supported"),
        (lambda w: init.sparse_(w[0], 0.1), "Only tensors with 2 dimensions are supported"),
        (lambda w: init.dirac_(w), "Only tensors with 3, 4, or 5 dimensions are supported"),
        (lambda w: init.dirac_(w[None], 2), "dim 0 must be divisible by groups, but 1 is not by 2"),
        (lambda w: init.xavier_normal_(w[0]), "Fan in and fan out can not be computed"),
        (lambda w: init.orthogonal_(w[0]), "Only tensors with 2 or more dimensions"),
        (lambda w: init.kaiming_normal_(w, mode="fan"), "Mode fan not supported"),
        (lambda w: init.kaiming_normal_(w, nonlinearity="x"), "Unsupported nonlinearity x"),
        (lambda w: init.calculate_gain("leaky_relu", True), "negative_slope True not a valid"),
    ],
)
def test_what_is_refused_draws_and_writes_nothing(action, message):
    w, state = wg.ones(2, 2), wg.get_rng_state()
    with pytest.raises(ValueError, match=message):
        action(w)
    assert w.tolist() == [[1.0, 1.0]] * 2 and wg.equal(wg.get_rng_state(), state)


def test_nothing_is_drawn_for_no_elements():
    with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
        assert init.kaiming_uniform_(wg.empty(0, 3)).shape == (0, 3)
    assert init.orthogonal_(wg.empty(0, 3)).shape == (0, 3)


def test_the_old_names_work_and_say_the_new_ones():
    with pytest.warns(
        FutureWarning, match=r"`nn.init.constant` is now deprecated .* `nn.init.cons"
    ):
        assert init.constant(wg.empty(1), 3.0).item() == 3.0
    with pytest.raises(AttributeError, match="has no attribute 'ones'"):
        init.ones  # noqa: B018
