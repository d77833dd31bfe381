"""Test functions of networks beyond the record table and PyTorch's samples."""

import math

import pytest

import wengert as wg

F = wg.nn.functional


def test_a_query_that_sees_no_key_gets_zeros_and_gives_no_nan():
    q = wg.randn(2, 4, dtype=wg.float64, requires_grad=True)
    k, v = wg.randn(3, 4, dtype=wg.float64), wg.randn(3, 5, dtype=wg.float64)
    mask = wg.tensor([[True, False, True], [False, False, False]])
    out = F.scaled_dot_product_attention(q, k, v, mask)
    out.sum().backward()
    assert out[1].tolist() == [0.0] * 5
    assert wg.isfinite(q.grad).all() and q.grad[1].tolist() == [0.0] * 4


def test_causal_attention_looks_back_only():
    q, k, v = (wg.randn(3, 2, dtype=wg.float64) for _ in range(3))
    whole = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    for i in range(3):
        alone = F.scaled_dot_product_attention(q[i : i + 1], k[: i + 1], v[: i + 1])
        assert wg.allclose(whole[i : i + 1], alone)


def test_heads_share_keys():
    q, k, v = wg.randn(4, 3, 2), wg.randn(2, 3, 2), wg.randn(2, 3, 2)
    made = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    apart = F.scaled_dot_product_attention(q, k[[0, 0, 1, 1]], v[[0, 0, 1, 1]])
    assert wg.equal(made, apart)


def test_a_row_of_padding_gets_no_gradient():
    table = wg.ones(3, 2, requires_grad=True)
    F.embedding(wg.tensor([0, 2, 2]), table, padding_idx=2).sum().backward()
    assert table.grad.tolist() == [[1, 1], [0, 0], [0, 0]]


def test_gradients_of_rows_that_occur_often_may_be_scaled():
    table = wg.ones(3, 1, requires_grad=True)
    F.embedding(wg.tensor([0, 2, 2, 2]), table, scale_grad_by_freq=True).sum().backward()
    assert table.grad.flatten().tolist() == pytest.approx([1.0, 0.0, 1.0])


def test_long_rows_are_shortened_in_place():
    table = wg.tensor([[3.0, 4.0], [30.0, 40.0]])
    F.embedding(wg.tensor([0]), table, max_norm=1.0)
    assert table[0].tolist() == pytest.approx([0.6, 0.8]) and table[1].tolist() == [30.0, 40.0]


def test_a_row_that_is_not_there_is_refused():
    with pytest.raises(IndexError, match="index out of range in self"):
        F.embedding(wg.tensor([3]), wg.ones(3, 2))
    with pytest.raises(RuntimeError, match="Expected tensor for argument #1 'indices'"):
        F.embedding(wg.tensor([0.0]), wg.ones(3, 2))


def test_an_empty_bag_gives_zeros():
    table = wg.tensor([[1.0, -1.0], [2.0, 5.0]])
    for mode in ("sum", "mean", "max"):
        bags = F.embedding_bag(wg.tensor([1, 0]), table, wg.tensor([0, 0]), mode=mode)
        assert bags[0].tolist() == [0.0, 0.0]


def test_bags_take_the_table_first_with_a_warning():
    rows, table = wg.tensor([1, 0]), wg.tensor([[1.0], [2.0]])
    with pytest.warns(UserWarning, match="Argument order of nn.functional.embedding_bag"):
        bags = F.embedding_bag(table, rows, wg.tensor([0]))
    assert wg.equal(bags, F.embedding_bag(rows, table, wg.tensor([0])))


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_a_last_offset_ends_the_last_bag(mode):
    table = wg.tensor([[0.0], [2.0], [4.0], [8.0]], requires_grad=True)
    rows, offsets = wg.tensor([0, 1, 2, 3]), wg.tensor([0, 2, 3])
    bags = F.embedding_bag(rows, table, offsets, include_last_offset=True, mode=mode)
    assert bags.flatten().tolist() == [1.0 if mode == "mean" else 2.0, 4.0]
    bags.sum().backward()
    assert table.grad[3].item() == 0.0
    # of these PyTorch's last bag goes on to the end
    for other, padding in ((table, 1), (table.double(), None)):
        bags = F.embedding_bag(
            rows, other, offsets, include_last_offset=True, mode=mode, padding_idx=padding
        )
        assert bags[1].item() == (6.0 if mode == "mean" else 12.0)


@pytest.mark.parametrize(
    ("rows", "offsets", "options", "words"),
    [
        ([0, 1], [1], {}, "offsets.0. has to be 0"),
        ([0, 1], [0, 3], {}, "offsets.-1. can not be greater"),
        ([0, 1], [0, 2, 1], {}, "offsets must not decrease"),
        ([0, 1], [0.0], {}, "Expected tensor for argument #1 'indices'"),
        ([0, 9], [0], {}, "Expected idx >= 0 && idx < num_embeddings"),
        ([0, 1], [0], {"padding_idx": 3}, "padding_idx must be within the number of embeddings"),
        ([0, 1], [0], {"mode": "sum", "per_sample_weights": wg.ones(2).double()}, "same type as"),
    ],
)
def test_bags_that_do_not_fit_are_refused(rows, offsets, options, words):
    with pytest.raises(RuntimeError, match=words):
        F.embedding_bag(wg.tensor(rows), wg.ones(3, 2), wg.tensor(offsets), **options)


def test_ctc_refuses_negative_lengths():
    p, labels = wg.zeros(2, 1, 2), wg.ones(1, 2, dtype=wg.int64)
    with pytest.raises(RuntimeError, match="target_lengths to have value at least 0"):
        F.ctc_loss(p, labels, [2], [-1])


def test_ctc_counts_every_alignment():
    # two steps of two classes, one label: label-label, blank-label and label-blank
    p = wg.tensor([[0.6, 0.4], [0.3, 0.7]], dtype=wg.float64)
    loss = F.ctc_loss(p.log(), wg.tensor([1]), [2], [1], reduction="sum")
    assert math.exp(-loss) == pytest.approx(0.4 * 0.7 + 0.6 * 0.7 + 0.4 * 0.3)


def test_ctc_of_too_few_steps_is_infinite_or_counts_as_zero():
    x = wg.zeros(1, 1, 3, dtype=wg.float64, requires_grad=True)
    args = (wg.tensor([[1, 2]]), [1], [2])
    assert F.ctc_loss(x.log_softmax(2), *args) == math.inf
    loss = F.ctc_loss(x.log_softmax(2), *args, zero_infinity=True)
    loss.backward()
    assert loss == 0 and x.grad.flatten().tolist() == [0.0, 0.0, 0.0]


def test_ctc_has_no_second_derivative_and_says_so():
    x = wg.zeros(2, 1, 3, dtype=wg.float64, requires_grad=True)
    loss = F.ctc_loss(x.log_softmax(2), wg.tensor([[1]]), [2], [1])
    (g,) = wg.autograd.grad(loss, x, create_graph=True)
    with pytest.raises(NotImplementedError, match="the derivative for '_ctc_loss_backward'"):
        g.sum().backward()


def test_an_infinite_variance_makes_an_infinite_loss():
    x, var = wg.ones(2), wg.tensor([1.0, math.inf])
    assert F.gaussian_nll_loss(x, x, var, reduction="none").tolist() == [0.0, math.inf]


def test_activations_at_their_edges():
    x = wg.tensor([-3.0, -0.5, 0.5, 3.0], requires_grad=True)
    slopes = {}
    for name, function in {
        "hardshrink": F.hardshrink,
        "softshrink": F.softshrink,
        "threshold": lambda x: F.threshold(x, 0.5, 0.0),
        "hardswish": F.hardswish,
    }.items():
        (g,) = wg.autograd.grad(function(x).sum(), x)
        slopes[name] = g.tolist()
    assert slopes["hardshrink"] == slopes["softshrink"] == [1.0, 0.0, 0.0, 1.0]
    assert slopes["threshold"] == [0.0, 0.0, 0.0, 1.0]
    assert slopes["hardswish"] == pytest.approx([0.0, 1 / 3, 2 / 3, 1.0])
    assert F.softshrink(x).signbit().tolist() == [True, True, False, False]


def test_a_hard_choice_has_the_gradient_of_the_soft_one():
    x = wg.zeros(5, requires_grad=True)
    choice = F.gumbel_softmax(x, hard=True)
    assert sorted(choice.tolist()) == pytest.approx([0, 0, 0, 0, 1], abs=1e-6)
    (choice * wg.arange(5.0)).sum().backward()
    assert x.grad.abs().sum() > 0


def test_whole_channels_are_dropped():
    wg.manual_seed(3)
    made = F.dropout2d(wg.ones(4, 8, 3, 3), 0.5)
    assert set(made.amax((2, 3)).flatten().tolist()) == {0.0, 2.0}
    assert wg.equal(made.amax((2, 3)), made.amin((2, 3)))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: F.glu(wg.ones(3)), RuntimeError, "Halving dimension must be even"),
        (lambda: F.prelu(wg.ones(2, 3), wg.ones(2)), RuntimeError, "Mismatch of parameter numbers"),
        (lambda: F.softshrink(wg.ones(2), -1), RuntimeError, "lambda must be"),
        (
            lambda: F.multi_margin_loss(wg.ones(2, 3), wg.tensor([0])),
            RuntimeError,
            "multi_margin_loss: target tensor should be 1-D",
        ),
        (
            lambda: F.triplet_margin_loss(wg.ones(2), wg.ones(2), wg.ones(1, 2)),
            RuntimeError,
            "The anchor, positive, and negative tensors are expected to have the same number",
        ),
        (
            lambda: F.gaussian_nll_loss(wg.ones(2), wg.ones(2), -wg.ones(2)),
            ValueError,
            "var has negative entry/entries",
        ),
        (
            lambda: F.scaled_dot_product_attention(wg.ones(2), wg.ones(2), wg.ones(2)),
            RuntimeError,
            "Expected query, key, and value to all be  at least 2 dimensional",
        ),
        (lambda: F.dropout1d(wg.ones(2)), RuntimeError, "dropout1d: Expected 2D or 3D input"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
