"""Layer 1 · kernels: the likelihood of a sequence of labels, summed over its alignments.

NOTE [alignments]
Between the labels, and around them, there may be blanks: the states are blank, label, blank, ...,
blank. `alpha[t, s]` is the log-probability of all paths that are in state s at step t, `beta[t, s]`
that of all paths from there to the end; both include step t. See A. Graves et al., "Connectionist
Temporal Classification", ICML 2006, equations 6 to 16.
"""

from __future__ import annotations

from math import isfinite, isinf
from typing import Any

import numpy as np

from wengert.base.error_states import errstate

Lengths = tuple[int, ...]
_FEW = 128
"""The number of states up to which they are added one by one."""


def _states(targets: Any, blank: int) -> tuple[Any, Any]:
    """Return the label of each state, and whether a path may skip the blank before it."""
    n, s = targets.shape
    labels = np.full((n, 2 * s + 1), blank)
    labels[:, 1::2] = targets
    skips = np.zeros(labels.shape, bool)
    skips[:, 3::2] = targets[:, 1:] != targets[:, :-1]
    return labels, skips


# invalid: paths that do not exist
@errstate(divide="ignore", invalid="ignore")
def _forward(scores: Any, skips: Any) -> Any:
    """Return `alpha` for scores of shape (time, batch, states)."""
    steps, n, states = scores.shape
    alpha = np.full((steps, n, states + 2), -np.inf, scores.dtype)
    if steps:
        alpha[0, :, 2:4] = scores[0, :, :2]
    two_back = np.where(skips, 0, -np.inf).astype(scores.dtype)
    if n * states < _FEW:
        for t in range(1, steps):
            before = alpha[t - 1]
            ways = np.logaddexp(before[:, 2:], before[:, 1:-1])
            np.logaddexp(ways, before[:, :-2] + two_back, out=ways)
            np.add(ways, scores[t], out=alpha[t, :, 2:])
        return alpha[:, :, 2:]
    # exponentials and logarithms are vectorised, unlike `logaddexp`
    parts = np.empty((3, n, states), scores.dtype)
    least = np.finfo(scores.dtype).min / 4
    for t in range(1, steps):
        before = alpha[t - 1]
        parts[0], parts[1] = before[:, 2:], before[:, 1:-1]
        np.add(before[:, :-2], two_back, out=parts[2])
        top = np.maximum.reduce(parts)
        # without any path the maximum is -inf, which must not be subtracted
        np.maximum(top, least, out=top)
        np.subtract(parts, top, out=parts)
        ways = np.add.reduce(np.exp(parts, out=parts))
        np.log(ways, out=ways)
        ways += top
        np.add(ways, scores[t], out=alpha[t, :, 2:])
    return alpha[:, :, 2:]


def _ends(alpha: Any, input_lengths: Lengths, target_lengths: Lengths) -> Any:
    """Return the log-likelihood of each sequence."""
    made = np.empty(len(input_lengths), alpha.dtype)
    for i, (steps, labels) in enumerate(zip(input_lengths, target_lengths, strict=True)):
        if not steps:
            made[i] = -np.inf if labels else 0
            continue
        last = alpha[steps - 1, i]
        made[i] = np.logaddexp(last[2 * labels], last[2 * labels - 1]) if labels else last[0]
    return made


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int,
    zero_infinity: bool,
) -> Any:
    """Return the negative log-likelihood of each sequence of a batch."""
    labels, skips = _states(targets, blank)
    batch = np.arange(len(labels))[:, None]
    alpha = _forward(log_probs[:, batch, labels], skips)
    losses = -_ends(alpha, input_lengths, target_lengths)
    return np.where(np.isinf(losses), 0, losses).astype(losses.dtype) if zero_infinity else losses


@errstate(invalid="ignore")
def ctc_posterior(
    log_probs: Any,
    targets: Any,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int,
    zero_infinity: bool,
) -> Any:
    """Return the probability of each label at each time, given that the sequence is the target."""
    labels, skips = _states(targets, blank)
    time, n, classes = log_probs.shape
    scores = log_probs[:, np.arange(n)[:, None], labels]
    sizes = [*zip(input_lengths, [2 * count + 1 for count in target_lengths], strict=True)]
    # run the recursion backwards: reverse the states and the times of each sequence
    back, after = np.full((2, *scores.shape), -np.inf, scores.dtype)
    back_skips = np.zeros_like(skips)
    for i, (steps, states) in enumerate(sizes):
        back[:steps, i, :states] = scores[:steps, i, :states][::-1, ::-1]
        back_skips[i, 2:states] = skips[i, 2:states][::-1]
    # process both at once
    found = _forward(np.concatenate([scores, back], 1), np.concatenate([skips, back_skips]))
    ends = _ends(found, input_lengths, target_lengths)
    for i, (steps, states) in enumerate(sizes):
        after[:steps, i, :states] = found[:steps, n + i, :states][::-1, ::-1]
    after += found[:, :n]
    after -= scores
    after -= ends[:, None]
    ways = np.exp(after, out=after)
    # no path is in a state of probability 0
    np.copyto(ways, 0, where=ways != ways)
    for i, (end, (steps, states)) in enumerate(zip(ends, sizes, strict=True)):
        if not isfinite(end):
            ways[:steps, i, :states] = 0 if zero_infinity and isinf(end) else np.nan
    posterior = np.zeros(log_probs.shape, log_probs.dtype)
    places = np.arange(0, posterior.size, classes).reshape(time, n, 1) + labels
    np.add.at(posterior.reshape(-1), places.reshape(-1), ways.reshape(-1))
    return posterior
