"""Attention whose scores and mask are functions of the position."""

import math

import pytest

import wengert as wg
from wengert.nn.attention.flex_attention import (
    AuxRequest,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    or_masks,
)


def causal(b, h, q, kv):
    return q >= kv


def tensors():
    wg.manual_seed(0)
    return [wg.randn(2, h, n, 3, dtype=wg.float64) for h, n in ((4, 3), (2, 5), (2, 5))]


def test_scores_and_masks_are_applied_position_by_position_with_derivatives():
    q, k, v = (one.requires_grad_() for one in tensors())
    bias = wg.randn(4, 3, 5, dtype=wg.float64, requires_grad=True)
    start = wg.tensor([0, 2])
    mask = create_block_mask(lambda b, h, q, kv: q + start[b] > kv, 2, None, 3, 5, BLOCK_SIZE=2)

    result = flex_attention(
        q,
        k,
        v,
        score_mod=lambda s, b, h, i, j: s * (h + 1) + bias[h, i, j],
        block_mask=mask,
        enable_gqa=True,
    )

    wide = [wg.repeat_interleave(one, 2, dim=1) for one in (k, v)]
    scores = q @ wide[0].mT / math.sqrt(3) * wg.arange(1, 5)[:, None, None] + bias
    rows = wg.arange(3)[:, None] + start[:, None, None, None]
    hidden = rows <= wg.arange(5)
    # the first query of the first batch sees no key
    weights = scores.masked_fill(hidden & (hidden.sum(-1, keepdim=True) < 5), -math.inf).softmax(-1)
    expected = weights.masked_fill(hidden, 0.0) @ wide[1]
    assert (result[0, :, 0] == 0).all()
    assert wg.allclose(result, expected)
    inputs = (q, k, v, bias)
    derivatives = (wg.autograd.grad(one.square().sum(), inputs) for one in (result, expected))
    for ours, right in zip(*derivatives, strict=True):
        assert wg.allclose(ours, right)


def test_the_blocks_describe_the_mask():
    mask = create_block_mask(causal, 1, 1, 5, 7, BLOCK_SIZE=(2, 3))
    assert mask.shape == (1, 1, 5, 7)
    assert mask.to_dense()[0, 0].tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 0]]
    assert mask.full_kv_num_blocks.tolist() == [[[0, 1, 0]]]
    assert mask.kv_indices[0, 0, 2].tolist() == [0, 1, 2]
    assert mask.q_num_blocks.tolist() == [[[2, 2, 0]]]
    assert mask._adjust(2, 7).to_dense()[0, 0].tolist() == [[1, 0, 0]]
    assert "██" in str(mask)


def test_masks_combine():
    def same(b, h, q, kv):
        return q == kv

    assert create_mask(and_masks(causal, same), 1, 1, 3, 3)[0, 0].equal(wg.eye(3).bool())
    assert create_mask(or_masks(causal, same), 1, 1, 3, 3).sum() == 6
    hides = create_mask(lambda s, b, h, q, kv: wg.where(q < kv, -math.inf, s), 1, 1, 2, 2)
    assert hides.tolist() == [[[[True, False], [True, True]]]]


def test_the_sums_of_exponentials_and_the_maxima_are_returned_on_request():
    q, k, v = tensors()
    _, aux = flex_attention(
        q, k, v, enable_gqa=True, return_aux=AuxRequest(lse=True, max_scores=True)
    )
    scores = q @ k.repeat_interleave(2, dim=1).mT / math.sqrt(3)
    assert wg.allclose(aux.lse, scores.logsumexp(-1))
    assert wg.allclose(aux.max_scores, scores.amax(-1))


def test_what_does_not_fit_is_refused():
    q, k, v = tensors()
    mask = create_block_mask(causal, 2, 1, 3, 5)
    for error, options, words in (
        (ValueError, {}, "same number of heads"),
        (ValueError, {"enable_gqa": True, "block_mask": mask._adjust(3, 4)}, "was created for"),
        (RuntimeError, {"enable_gqa": True, "block_mask": mask[0]}, "sliced BlockMask"),
    ):
        with pytest.raises(error, match=words):
            flex_attention(q, k, v, **options)
    with pytest.raises(AssertionError, match="requires a mask_mod"):
        create_block_mask(lambda s, b, h, q, kv: s, 1, 1, 2, 2)
