"""Layer 9 · compat: the errors of the HIPS idiom: NOTE [words of errors]."""

from wengert.compat.kit.words import refusals

refusal = refusals("wengert.compat.autograd")
