"""Layer 9 · compat: the errors of the MXNet idiom: NOTE [words of errors]."""

from wengert.compat.kit.words import refusals

refusal = refusals("wengert.compat.mxnet")
