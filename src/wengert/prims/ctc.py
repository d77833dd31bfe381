"""Layer 2 · prims: connectionist temporal classification."""

from __future__ import annotations

from typing import Any

from wengert.kernels import ctc as kernels
from wengert.prims.families import general


def _slope(F: Any, g: Any, log_probs: Any, targets: Any, **params: Any) -> Any:
    posterior = F.ctc_posterior(log_probs, targets, **params)
    return -F.view(g, shape=(1, len(params["target_lengths"]), 1)) * posterior


def _refused(F: Any, g: Any) -> Any:
    raise NotImplementedError(
        "the derivative for '_ctc_loss_backward' is not implemented: ctc_loss() has no second "
        "derivative"
    )


general(
    "ctc_loss",
    kernels.ctc_loss,
    vjp=(_slope, None),
    doc="minus the logarithm of the likelihood of sequences of labels",
    autocast="float32",
)
general(
    "ctc_posterior",
    kernels.ctc_posterior,
    vjp=(_refused, None),
    doc="the probabilities of labels over time, given sequences of them",
)
