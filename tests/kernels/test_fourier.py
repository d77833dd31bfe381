"""Test Fourier transforms of large arrays, by SciPy or by NumPy."""

import numpy as np
import pytest

from wengert.kernels import fourier


@pytest.mark.parametrize("by_scipy", [True, False])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_large_transforms_are_those_in_double_precision(norm, by_scipy, monkeypatch):
    if by_scipy:
        pytest.importorskip("scipy")
    else:
        monkeypatch.setattr(fourier, "_quicker", lambda: np.fft)
    values = np.random.default_rng(0).standard_normal((300, 90)).astype(np.float32)
    spectrum = fourier.fft_r2c(values, (0, 1), norm, True, True, False)
    exact = np.fft.rfftn(values.astype(np.float64), norm=norm)
    assert spectrum.dtype == np.complex64
    np.testing.assert_allclose(spectrum, exact, rtol=0, atol=2e-6 * abs(exact).max())
    back = fourier.fft_c2r(spectrum, (0, 1), norm, False, 90, False)
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, values, rtol=0, atol=1e-5)
    turned = fourier.fft_c2c(spectrum.T, (0,), norm, False)
    wanted = np.fft.ifft(exact.T, axis=0, norm=norm)
    assert turned.dtype == np.complex64
    np.testing.assert_allclose(turned, wanted, rtol=0, atol=2e-6 * abs(wanted).max())
