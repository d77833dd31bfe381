"""Test Fourier transforms, windows and frames of signals, beyond the record table."""

import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import gradcheck, gradgradcheck

RNG = np.random.default_rng(32)
LINES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
HERMITIAN = ("hfft2", "hfftn", "ihfft2", "ihfftn")
NORMS = (None, "backward", "ortho", "forward")


def signal(*shape, dtype=np.float64):
    values = RNG.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * RNG.standard_normal(shape)
    return np.asarray(values, dtype)


def kinds(name):
    """The dtypes that a transform takes."""
    return ("float64",) if name.startswith(("rfft", "ihfft")) else ("float64", "complex128")


# -- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", LINES)
def test_along_one_dimension(name, norm):
    for dtype in kinds(name):
        x = signal(3, 6, dtype=dtype)
        for n, dim in ((None, -1), (5, 1), (8, 0), (1, 0), (2, -2)):
            ours = getattr(wg.fft, name)(wg.from_numpy(x), n, dim, norm).numpy()
            theirs = getattr(np.fft, name)(x, n, dim, norm)
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, 1e-12, 1e-12)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", SEVERAL)
def test_along_several_dimensions(name, norm):
    for dtype in kinds(name):
        x = signal(3, 4, 5, dtype=dtype)
        for s, dim in ((None, (0, 2)), ((2, 6), (1, 0)), ((5, 3), (-1, -2)), (None, (1, 2))):
            ours = getattr(wg.fft, name)(wg.from_numpy(x), s, dim, norm).numpy()
            theirs = getattr(np.fft, name)(x, s, dim, norm)
            np.testing.assert_allclose(ours, theirs, 1e-12, 1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_hermitian_transforms_are_real_ones_in_the_other_direction(norm):
    other = {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)
    x = wg.from_numpy(signal(3, 4, dtype=np.complex128))
    y = wg.from_numpy(signal(3, 4))
    for suffix in ("2", "n"):
        by_real = getattr(wg.fft, f"irfft{suffix}")(x.conj(), norm=other)
        assert wg.allclose(getattr(wg.fft, f"hfft{suffix}")(x, norm=norm), by_real)
        by_real = getattr(wg.fft, f"rfft{suffix}")(y, norm=other).conj()
        assert wg.allclose(getattr(wg.fft, f"ihfft{suffix}")(y, norm=norm), by_real)


def test_dimensions_that_are_not_named():
    x = wg.from_numpy(signal(2, 3, 4))
    assert wg.allclose(wg.fft.fftn(x), wg.fft.fftn(x, dim=(0, 1, 2)))
    assert wg.allclose(wg.fft.fftn(x, s=(5,)), wg.fft.fft(x, 5))
    assert wg.allclose(wg.fft.fftn(x, s=(-1, 5)), wg.fft.fftn(x, (3, 5), (1, 2)))
    assert wg.allclose(wg.fft.fft2(x), wg.fft.fftn(x, dim=(1, 2)))
    assert wg.equal(wg.fft.fftn(x, dim=()).real, x)
    assert wg.fft.fftn(wg.tensor(2.0)).item() == 2 + 0j


@pytest.mark.parametrize("size", [8, 6, 300])
def test_single_precision_stays_and_is_precise(size):
    # sizes for which NumPy is called in different ways
    x = signal(100, size)
    for name in ("fft", "ifft", "rfft", "irfft"):
        for norm in NORMS:
            given = wg.from_numpy(x.astype(np.float32))
            result = getattr(wg.fft, name)(given, norm=norm)
            expected = getattr(np.fft, name)(x, norm=norm)
            assert result.dtype == (wg.float32 if name == "irfft" else wg.complex64)
            error = np.linalg.norm(result.numpy() - expected) / np.linalg.norm(expected)
            assert error < 2e-7


def test_small_transforms_of_whole_numbers_are_exact():
    for n in (3, 5, 7, 8):
        assert wg.fft.fft(wg.ones(n))[0].item() == n
        assert wg.fft.rfft(wg.ones(2, n))[1, 0].item() == n


def test_integers_become_floating():
    x = wg.tensor([1, 2, 3])
    assert wg.fft.fft(x).dtype == wg.complex64
    assert wg.fft.irfft(x).dtype == wg.float32
    assert wg.fft.rfft(wg.tensor([True, False])).dtype == wg.complex64


def test_no_signal_at_all_has_no_spectrum():
    for name, given, shape, dtype in (
        ("fft", (0, 4), (0, 4), wg.complex64),
        ("rfft", (0, 4), (0, 3), wg.complex64),
        ("irfft", (0, 3), (0, 4), wg.float32),
    ):
        x = wg.zeros(given, requires_grad=True)
        found = getattr(wg.fft, name)(x)
        assert (found.shape, found.dtype) == (shape, dtype)
        (g,) = wg.autograd.grad(found.abs().sum(), x)
        assert (g.shape, g.dtype) == (given, wg.float32)


# -- derivatives ----------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", (*LINES, *SEVERAL, *HERMITIAN))
def test_derivatives_of_first_and_second_order(name):
    for dtype in kinds(name):
        x = wg.from_numpy(signal(3, 4, dtype=dtype)).requires_grad_()

        def function(x):
            if name in LINES:
                return getattr(wg.fft, name)(x, 5, 0, "ortho"), getattr(wg.fft, name)(x)
            return getattr(wg.fft, name)(x, (2, 5)), getattr(wg.fft, name)(x, norm="forward")

        assert gradcheck(function, (x,))
        assert gradgradcheck(function, (x,))


def test_a_gradient_keeps_dtype_and_shape():
    for dtype in (wg.float32, wg.complex64, wg.float64):
        x = wg.ones(2, 6, dtype=dtype, requires_grad=True)
        wg.fft.fft(x, 4).abs().sum().backward()
        assert x.grad.dtype == dtype
        assert x.grad.shape == x.shape
        assert not x.grad[:, 4:].any()


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda x: wg.fft.fft(x, 0), RuntimeError, r"Invalid number of data points \(0\) spec"),
        (lambda x: wg.fft.irfft(x[:, :1]), RuntimeError, r"Invalid number of data points \(0\)"),
        (lambda x: wg.fft.fft(x, dim=2), IndexError, "Dimension out of range"),
        (lambda x: wg.fft.fft(x[0, 0]), IndexError, "Dimension specified as -1 but tensor has no"),
        (lambda x: wg.fft.fft(x, norm="x"), RuntimeError, 'Invalid normalization mode: "x"'),
        (lambda x: wg.fft.fft(x, norm=1), TypeError, r"fft_fft\(\): argument 'norm' must be str"),
        (lambda x: wg.fft.fft(x, 2.5), TypeError, r"fft_fft\(\): argument 'n' must be int"),
        (lambda x: wg.fft.fft([1.0]), TypeError, r"fft_fft\(\): argument 'input' \(position 1\)"),
        (lambda x: wg.fft.rfft(x + 0j), RuntimeError, "rfft expects a real input tensor, but got"),
        (lambda x: wg.fft.rfft2(x + 0j), RuntimeError, "rfftn expects a real-valued input tensor"),
        (lambda x: wg.fft.ihfftn(x + 0j), RuntimeError, "Only supports floating-point dtypes, but"),
        (lambda x: wg.fft.fft(x.half()), RuntimeError, "Unsupported dtype Half"),
        (lambda x: wg.fft.fftn(x, dim=(0, 0)), RuntimeError, "FFT dims must be unique"),
        (lambda x: wg.fft.fftn(x, (2,), (0, 1)), RuntimeError, "When given, dim and shape argume"),
        (lambda x: wg.fft.fftn(x, (2, 2, 2)), RuntimeError, "Got shape with 3 values but input"),
        (lambda x: wg.fft.rfftn(x, dim=()), RuntimeError, "rfftn must transform at least one axis"),
        (lambda x: wg.fft.fft(x, out=wg.empty(0)), RuntimeError, "fft expects a complex output"),
        (lambda x: wg.fft.fftfreq(-1), RuntimeError, "Trying to create tensor with negative dim"),
        (lambda x: wg.fft.fftfreq(4, dtype=wg.int64), RuntimeError, "fftfreq requires a floating"),
        (lambda x: wg.fft.fftshift(x[0, 0]), RuntimeError, "`shifts` required"),
    ],
)
def test_bad_input(call, kind, words):
    with pytest.raises(kind, match=words):
        call(wg.ones(2, 3))


def test_results_are_written_to_out():
    x = wg.from_numpy(signal(4))
    out = wg.empty(4, dtype=wg.complex128)
    assert wg.fft.fft(x, out=out) is out
    assert wg.equal(out, wg.fft.fft(x))


# -- frequencies ----------------------------------------------------------------------------------


def test_frequencies_and_shifts_are_numpys():
    for n in (1, 4, 5):
        ours = wg.fft.fftfreq(n, 0.5, dtype=wg.float64)
        assert np.allclose(ours.numpy(), np.fft.fftfreq(n, 0.5))
        ours = wg.fft.rfftfreq(n, 0.5, dtype=wg.float64)
        assert np.allclose(ours.numpy(), np.fft.rfftfreq(n, 0.5))
    x = signal(4, 5)
    for dim in (None, 0, (0, 1), -1):
        for name in ("fftshift", "ifftshift"):
            ours = getattr(wg.fft, name)(wg.from_numpy(x), dim)
            assert np.array_equal(ours.numpy(), getattr(np.fft, name)(x, dim))
    assert wg.fft.fftfreq(4, requires_grad=True).is_leaf
    x = wg.from_numpy(x).requires_grad_()
    wg.fft.fftshift(x)[0].sum().backward()
    assert x.grad.sum(1).tolist() == [0, 0, 5, 0]


# -- windows --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("hann_window", np.hanning),
        ("hamming_window", np.hamming),
        ("blackman_window", np.blackman),
        ("bartlett_window", np.bartlett),
        ("kaiser_window", lambda n: np.kaiser(n, 12.0)),
    ],
)
def test_windows(name, theirs):
    window = getattr(wg, name)
    for n in (0, 1, 2, 5, 8):
        symmetric = window(n, periodic=False, dtype=wg.float64)
        assert np.allclose(symmetric.numpy(), theirs(n), atol=1e-15)
        if n > 1:
            assert np.allclose(window(n, dtype=wg.float64).numpy(), theirs(n + 1)[:-1], atol=1e-15)
    assert window(4).dtype == wg.float32
    assert window(4, requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match=f"^{name} requires non-negative window_length, got"):
        window(-1)
    with pytest.raises(RuntimeError, match=f"^{name} expects floating point dtypes, got: Long"):
        window(4, dtype=wg.int64)
    with pytest.raises(TypeError, match="argument 'window_length'"):
        window(4.0)


def test_coefficients_of_windows():
    assert wg.hamming_window(4, True, 0.5, 0.5).tolist() == [0.0, 0.5, 1.0, 0.5]
    assert wg.allclose(wg.kaiser_window(5, False, 0.0), wg.ones(5))


# -- signals in parts -----------------------------------------------------------------------------


def by_hand(x, n_fft, hop, window):
    parts = [x[i : i + n_fft] * window for i in range(0, len(x) - n_fft + 1, hop)]
    return np.array([np.fft.rfft(part) for part in parts]).T


def test_transforms_of_the_parts_of_a_signal():
    x, window = signal(20), np.hanning(6)
    spectrum = wg.stft(
        wg.from_numpy(x), 6, 3, window=wg.from_numpy(window), center=False, return_complex=True
    )
    assert np.allclose(spectrum.numpy(), by_hand(x, 6, 3, window))
    continued = np.pad(x, 3, mode="reflect")
    for mode, how in (("reflect", "reflect"), ("constant", "constant"), ("replicate", "edge")):
        continued = np.pad(x, 3, mode=how)
        spectrum = wg.stft(
            wg.from_numpy(x), 6, 2, window=wg.from_numpy(window), pad_mode=mode, return_complex=True
        )
        assert np.allclose(spectrum.numpy(), by_hand(continued, 6, 2, window))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize(("n_fft", "hop", "width"), [(8, 2, 8), (7, 3, 7), (8, 2, 5), (6, 1, 6)])
def test_the_way_there_and_back(dtype, normalized, n_fft, hop, width):
    x = wg.from_numpy(signal(2, 30, dtype=dtype))
    options = {"window": wg.hann_window(width, False, dtype=wg.float64) + 0.1}
    options.update(hop_length=hop, win_length=width, normalized=normalized)
    spectrum = wg.stft(x, n_fft, **options, return_complex=True)
    back = wg.istft(spectrum, n_fft, **options, length=30, return_complex=dtype == "complex128")
    assert wg.allclose(back, x)
    one = wg.istft(spectrum[0], n_fft, **options, return_complex=dtype == "complex128")
    assert wg.allclose(one, x[0, : one.shape[0]])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_by_signal_and_window(dtype):
    x = wg.from_numpy(signal(2, 12, dtype=dtype)).requires_grad_()
    window = wg.from_numpy(RNG.uniform(0.5, 1.5, 5)).requires_grad_()

    def there(x, window):
        return wg.stft(x, 6, 2, 5, window, return_complex=True)

    def back(spectrum, window):
        is_complex = dtype == "complex128"
        return wg.istft(spectrum, 6, 2, 5, window, length=12, return_complex=is_complex)

    assert gradcheck(there, (x, window))
    assert gradgradcheck(there, (x, window))
    spectrum = there(x, window).detach().requires_grad_()
    assert gradcheck(back, (spectrum, window))
    assert gradgradcheck(back, (spectrum, window))


def test_what_was_left_out_is_warned_of():
    x = wg.ones(20)
    with pytest.warns(UserWarning, match="^A window was not provided. A rectangular window will"):
        spectrum = wg.stft(x, 8, return_complex=True)
    with pytest.warns(UserWarning, match="^A window was not provided. A rectangular window will"):
        wg.istft(spectrum, 8)
    window = wg.ones(8)
    with pytest.warns(UserWarning, match="^stft with return_complex=False is deprecated"):
        pairs = wg.stft(x, 8, window=window, return_complex=False)
    assert wg.equal(wg.view_as_complex(pairs.contiguous()), spectrum)
    with pytest.warns(UserWarning, match="^The length of signal is shorter than the length"):
        longer = wg.istft(spectrum, 8, window=window, length=40)
    assert longer.shape == (40,)
    assert not longer[24:].any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wg.stft(x, 8, window=window, return_complex=True)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x, w: wg.stft(x, 8, window=w), "stft requires the return_complex parameter be giv"),
        (lambda x, w: wg.stft(x, 30, window=w, return_complex=True, center=False), r"n_fft < 20"),
        (lambda x, w: wg.stft(x, 8, 0, window=w, return_complex=True), "expected hop_length > 0"),
        (lambda x, w: wg.stft(x, 8, window=w[:4], return_complex=True), "expected a 1D window"),
        (lambda x, w: wg.stft(x, 8, window=w, win_length=9, return_complex=True), "win_length <="),
        (lambda x, w: wg.stft(x[None, None], 8, window=w, return_complex=True), "1D or 2D tensor"),
        (lambda x, w: wg.stft(x, 60, window=w, return_complex=True), "Padding size should be less"),
        (
            lambda x, w: wg.stft(x + 0j, 8, window=w, onesided=True, return_complex=True),
            "Cannot have onesided output if window or input is complex",
        ),
        (
            lambda x, w: wg.stft(x, 8, window=w, return_complex=True, align_to_window=True),
            "stft align_to_window should only be set when center = false",
        ),
        (lambda x, w: wg.istft(wg.ones(5, 4), 8, window=w), "istft requires a complex-valued inp"),
        (lambda x, w: wg.istft(wg.ones(6, 4) + 0j, 8, window=w), "expected the frequency dimens"),
        (lambda x, w: wg.istft(wg.ones(5, 4) + 0j, 8, 9, window=w), "0 < hop_length <= win_leng"),
        (lambda x, w: wg.istft(wg.ones(5, 4) + 0j, 8, window=0 * w), "window overlap add min: 1"),
        (lambda x, w: wg.istft(wg.ones(5, 0) + 0j, 8, window=w), "input tensor cannot be empty"),
    ],
)
def test_bad_signals(call, words):
    with pytest.raises(RuntimeError, match=words):
        call(wg.ones(20), wg.ones(8))
