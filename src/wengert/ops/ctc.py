"""Layer 5 · ops · losses: connectionist temporal classification."""

# the arguments have PyTorch's names

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.errors import long_name
from wengert.base.export import export
from wengert.interp.levels import is_elsewhere
from wengert.ops.checks import flag
from wengert.ops.coerce import operand, wide
from wengert.ops.losses import reduction_of
from wengert.ops.options import placed
from wengert.ops.reduce import mean, sum
from wengert.ops.shape import squeeze
from wengert.prims import ctc as ctc
from wengert.tape.base import TensorBase
from wengert.tape.record import T


def _lengths(values: Any, name: str) -> tuple[int, ...]:
    if isinstance(values, TensorBase):
        if values._payload.dtype.kind not in "iu":
            raise RuntimeError(f"{name} must be integral, but has dtype {values._payload.dtype}")
        values = values._payload.reshape(-1).tolist()
    return tuple([int(n) for n in values])


@export("nn.functional")
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """Return the negative log-likelihood of labels, over all their alignments in time.

    Parameters
    ----------
    log_probs : Tensor. Logarithms of probabilities, of shape (time, n, classes) or (time, classes).
    targets : Tensor. The labels: of shape (n, s), or all one after the other; never `blank`.
    input_lengths, target_lengths : Tensor or sequence of int. How many steps and how many labels
        each of the n sequences has.
    blank : int. The class that stands for no label.
    reduction : {"mean", "sum", "none"}. How to reduce the losses; for the mean each is
        divided by its number of labels.
    zero_infinity : bool. Whether a sequence that is too short for its labels counts as 0, with
        gradient 0.

    Returns
    -------
    Tensor: The loss; differentiable with respect to `log_probs`, once. PyTorch's gradient with
        respect to `log_probs` has the probabilities added, which makes no difference behind
        ``log_softmax``; this one is the derivative for any `log_probs`.

    Raises
    ------
    ValueError: For another reduction.
    RuntimeError: If shapes, lengths, dtypes or labels do not fit.

    References
    ----------
    A. Graves, S. Fernández, F. Gomez and J. Schmidhuber, "Connectionist Temporal Classification:
    Labelling Unsegmented Sequence Data with Recurrent Neural Networks", ICML 2006.

    Examples
    --------
    >>> steps = wg.log_softmax(wg.zeros(3, 1, 2), 2)
    >>> wg.nn.functional.ctc_loss(steps, wg.tensor([[1]]), [3], [1])
    tensor(0.2877)
    """
    how = reduction_of(reduction)
    x = wide(log_probs, "ctc_loss", "log_probs")
    y = operand(targets, "ctc_loss", "targets", 2)
    steps, counts = (
        _lengths(input_lengths, "input_lengths"),
        _lengths(target_lengths, "target_lengths"),
    )
    if x._payload.dtype.kind != "f":
        raise RuntimeError(
            f"\"ctc_loss_cpu\" not implemented for '{long_name(x._payload.dtype)}': log_probs must "
            "be of a floating dtype"
        )
    if y._payload.dtype.kind not in "iu":
        raise RuntimeError(f"targets must be of an integer dtype, but got {y._payload.dtype}")
    single = x._payload.ndim == 2
    rows = T.unsqueeze(x, dim=1) if single else x
    if rows._payload.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {x._payload.ndim}-dimensional tensor for "
            "argument #1 'log_probs' (while checking arguments for ctc_loss)"
        )
    time, n, classes = rows._payload.shape
    if not rows._payload.size:
        raise RuntimeError(
            f"log_probs tensor must not be empty, but its shape is {list(rows._payload.shape)}"
        )
    if not 0 <= blank < classes:
        raise RuntimeError(
            f"blank must be in label range: from 0 to {classes - 1}, but got {blank}"
        )
    if len(steps) != n:
        raise RuntimeError(f"input_lengths must be of size batch_size: {n}, not {len(steps)}")
    if len(counts) != n:
        raise RuntimeError(f"target_lengths must be of size batch_size: {n}, not {len(counts)}")
    for i, length in enumerate(steps):
        if not 0 <= length <= time:
            raise RuntimeError(
                f"Expected input_lengths to have value at most {time}, but got value {length} "
                f"(while checking arguments for ctc_loss, sequence {i})"
            )
    if min(counts, default=0) < 0:
        raise RuntimeError(
            f"Expected target_lengths to have value at least 0, but got value {min(counts)} (while "
            "checking arguments for ctc_loss)"
        )
    labels = y._payload.fetched() if is_elsewhere(y._payload) else y._payload
    labels = _padded(labels, counts, n, single)
    inside = np.arange(labels.shape[1]) < np.array(counts, int).reshape(-1, 1)
    labels = np.where(inside, labels, 0)
    if labels.size and not 0 <= labels.min() <= labels.max() < classes:
        raise RuntimeError(f"targets must be labels from 0 to {classes - 1}")
    losses = T.ctc_loss(
        rows,
        placed(rows, labels),
        input_lengths=steps,
        target_lengths=counts,
        blank=blank,
        zero_infinity=flag(zero_infinity, "zero_infinity"),
    )
    if how == "mean":
        return mean(losses / np.maximum(counts, 1).astype(x._payload.dtype))
    if how == "sum":
        return sum(losses)
    return squeeze(losses, 0) if single else losses


def _padded(values: Any, counts: tuple[int, ...], n: int, single: bool) -> Any:
    """Return the labels as rows, at least as long as the longest."""
    if values.ndim == 2 or (single and values.ndim == 1):
        rows = values.reshape(n, -1)
        if max(counts, default=0) > rows.shape[1]:
            raise RuntimeError(
                f"Expected tensor to have size at least {max(counts)} at dimension 1, but got size "
                f"{rows.shape[1]} for argument #2 'targets' (while checking arguments for "
                "ctc_loss)"
            )
        return rows
    if values.size != int(np.sum(counts)):
        raise RuntimeError(
            f"Expected {int(np.sum(counts))} targets, the sum of target_lengths, but got "
            f"{values.size}"
        )
    rows = np.zeros((n, max(counts, default=0)), values.dtype)
    rows[np.arange(rows.shape[1]) < np.array(counts, int)[:, None]] = values.reshape(-1)
    return rows
