"""Layer 8 · masked: reductions of those elements that a mask shows, under torch.masked's names."""

from __future__ import annotations

from wengert.base.names import shows
from wengert.masked.reductions import amax as amax
from wengert.masked.reductions import amin as amin
from wengert.masked.reductions import argmax as argmax
from wengert.masked.reductions import argmin as argmin
from wengert.masked.reductions import cumprod as cumprod
from wengert.masked.reductions import cumsum as cumsum
from wengert.masked.reductions import log_softmax as log_softmax
from wengert.masked.reductions import logaddexp as logaddexp
from wengert.masked.reductions import logsumexp as logsumexp
from wengert.masked.reductions import mean as mean
from wengert.masked.reductions import median as median
from wengert.masked.reductions import norm as norm
from wengert.masked.reductions import normalize as normalize
from wengert.masked.reductions import prod as prod
from wengert.masked.reductions import softmax as softmax
from wengert.masked.reductions import softmin as softmin
from wengert.masked.reductions import std as std
from wengert.masked.reductions import sum as sum
from wengert.masked.reductions import var as var

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]
__dir__ = shows(__all__)
