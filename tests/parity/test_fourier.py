"""Test Fourier transforms and windows: values, nodes and two orders of derivatives."""

import re

import numpy as np
import pytest

import wengert
from support.parity import assert_same, evaluated, forms

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

RNG = np.random.default_rng(9)


def draw(*shape):
    return RNG.standard_normal(shape)


ARRAYS = {
    "x": draw(3, 4),
    "z": draw(3, 5) + 1j * draw(3, 5),
    "b": draw(2, 3, 4),
    "s": draw(2, 20),
    "c": draw(20) + 1j * draw(20),
    "w": RNG.uniform(0.5, 1.5, 8),
    "S": draw(5, 11) + 1j * draw(5, 11),
    "n": np.arange(6),
    "h": draw(4).astype(np.float16),
}

LINES = " ".join(
    f"F.{name}({arguments});"
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    for arguments in (
        "x", "z", "x, 5", "z, 3", "x, n=6, dim=0", "x, norm='ortho'", "z, norm='forward'", "n",
        "x, 0", "x, dim=2", "x, norm='x'", "x[0, 0]", "h", "n, norm='backward'",
    )
)  # fmt: skip
SEVERAL = " ".join(
    f"F.{name}({arguments});"
    for name in (
        *("fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2"),
        *("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn"),
    )
    for arguments in (
        "x", "b", "z", "b, (2, 5)", "x, s=(4, 3), norm='ortho'", "b, dim=(0, 2)",
        "b, (3, -1), (2, 0), 'forward'", "x, dim=(0, 0)", "x, (2,), (0, 1)", "x, dim=0", "n, dim=0",
    )
)  # fmt: skip
OTHERS = """
F.fftfreq(5); F.fftfreq(4, 0.5); F.fftfreq(4, d=2.0, dtype=t.float64)
F.rfftfreq(5, 0.1); F.rfftfreq(6)
F.fftfreq(-1); F.fftfreq(4, dtype=t.int64); F.fftfreq(0)
F.fftshift(x); F.fftshift(x, 0); F.fftshift(b, (0, 2)); F.ifftshift(x); F.ifftshift(x, dim=-1)
F.fftshift(x, 5); F.fftshift(x[0, 0])
t.stft(s, 8, window=w, return_complex=True); t.stft(s, 8, 3, window=w, return_complex=True)
t.stft(s[0], 8, 3, 8, w, False, return_complex=True); t.stft(c, 8, window=w, return_complex=True)
t.stft(s, 8, window=w, normalized=True, onesided=False, return_complex=True)
t.stft(s, 10, win_length=8, window=w, pad_mode='constant', return_complex=True)
t.stft(s, 10, win_length=8, window=w, pad_mode='replicate', return_complex=True)
t.stft(s, 10, win_length=8, window=w, pad_mode='circular', return_complex=True)
t.stft(s, 10, 2, 8, w, center=False, align_to_window=True, return_complex=True)
s.stft(8, window=w, return_complex=True); t.stft(s, 8, window=w, return_complex=False)
t.stft(c, 8, window=w); t.stft(s, 8, window=w); t.stft(s, 30, window=w, return_complex=True)
t.stft(s, 8, 0, window=w, return_complex=True); t.stft(s, 8, pad_mode='x', return_complex=True)
t.stft(s, 8, window=w[:5], return_complex=True); t.stft(n, 4, return_complex=True)
t.istft(S, 8, window=w); t.istft(S, 8, 3, window=w, length=25); S.istft(8, window=w, center=False)
t.istft(S, 8, 4, window=w, normalized=True); t.istft(S, 8); t.istft(S, 8, window=w, length=60)
t.istft(S.real, 8); t.istft(S, 10, window=w); t.istft(S, 8, 9, window=w); t.istft(S[None, None], 8)
t.istft(S, 8, window=t.zeros(8)); t.istft(S[:, :0], 8, window=w)
t.hann_window(5); t.hann_window(6, False); t.hann_window(1); t.hann_window(0); t.hann_window(-1)
t.hamming_window(5); t.hamming_window(6, False, 0.6, 0.4); t.bartlett_window(5)
t.blackman_window(5, dtype=t.float64); t.blackman_window(6, periodic=False)
t.bartlett_window(6, False); t.kaiser_window(5); t.kaiser_window(6, False, 3.0)
t.hann_window(4, dtype=t.int64); t.hann_window(4.0); t.kaiser_window(4, requires_grad=True)
"""


@pytest.mark.parametrize("form", forms("\n".join((LINES, SEVERAL, OTHERS))))
@pytest.mark.filterwarnings("ignore")
def test_form(form):
    for dtype in ("float64", "float32"):
        if dtype == "float32" and re.search(r"\b[zcS]\b", form):
            continue
        ours, theirs = (evaluated(form, t, ARRAYS, dtype, F=t.fft) for t in (wengert, torch))
        single = dtype == "float32" or re.search(r"\bn\b", form)
        rtol = 1e-4 if single else 1e-9
        assert_same(ours, theirs, f"{form} ({dtype})", rtol, rtol)
