"""Test the windows of ``torch.signal`` against SciPy's."""

import numpy as np
import pytest

import wengert as wg
from wengert.signal import windows

scipy = pytest.importorskip("scipy.signal.windows")

CASES = [
    ("bartlett", {}),
    ("blackman", {}),
    ("cosine", {}),
    ("exponential", {"tau": 2.5}),
    ("gaussian", {"std": 1.5}),
    ("general_cosine", {"a": [0.5, 0.3, 0.2]}),
    ("general_hamming", {"alpha": 0.6}),
    ("hamming", {}),
    ("hann", {}),
    ("kaiser", {"beta": 7.0}),
    ("nuttall", {}),
]


@pytest.mark.parametrize(("name", "more"), CASES)
@pytest.mark.parametrize("sym", [True, False])
def test_windows_are_scipys(name, more, sym):
    make = getattr(windows, name)
    for length in (0, 1, 2, 7, 8):
        want = getattr(scipy, name)(length, **more, sym=sym)
        found = make(length, sym=sym, dtype=wg.float64, **more)
        np.testing.assert_allclose(found.numpy(), want, atol=1e-12)
    assert make(3, **more).dtype is wg.float32
    assert make(3, requires_grad=True, **more).requires_grad


def test_what_makes_no_window_is_refused():
    with pytest.raises(ValueError, match="requires non-negative window length, got M=-1"):
        windows.hann(-1)
    with pytest.raises(ValueError, match="general_cosine expects float32 or float64 dtypes"):
        windows.hann(3, dtype=wg.int64)
    with pytest.raises(ValueError, match="Tau must be positive, got: 0 instead"):
        windows.exponential(3, tau=0)
    with pytest.raises(ValueError, match="Center must be None for symmetric windows"):
        windows.exponential(3, center=1)
    with pytest.raises(ValueError, match="Standard deviation must be positive"):
        windows.gaussian(3, std=-1)
    with pytest.raises(ValueError, match="beta must be non-negative"):
        windows.kaiser(3, beta=-1)
    with pytest.raises(ValueError, match="Coefficients cannot be empty"):
        windows.general_cosine(3, a=[])
