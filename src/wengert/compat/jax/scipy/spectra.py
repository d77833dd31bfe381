"""Layer 9 · compat: the spectra of windows of signals, of ``jax.scipy.signal``."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.base.extras import scipy_module
from wengert.compat.jax.numpy.calling import as_operands
from wengert.compat.jax.scipy.signal import detrend as _detrended
from wengert.compat.jax.typing import Array
from wengert.compat.kit.namespaces import defined
from wengert.tape.sites import warn

_EXTENSIONS: dict[Any, dict[str, str]] = {
    "even": {"mode": "reflect"},
    "odd": {"mode": "reflect", "reflect_type": "odd"},
    "constant": {"mode": "edge"},
    "zeros": {"mode": "constant"},
    None: {},
}


class _Windows(NamedTuple):
    """The window, its length, the step from one to the next, and the length of transforms."""

    values: np.ndarray[Any, Any]
    length: int
    step: int
    nfft: int


def _windows(taken: tuple[Any, ...], most: int, dtype) -> _Windows:
    window, nperseg, noverlap, nfft = taken
    if isinstance(window, str | tuple):
        length = 256 if nperseg is None else int(nperseg)
        if length > most:
            if nperseg is not None:
                text = f"nperseg = {length} is greater than input_length={most}, using nperseg="
                warn(f"{text}{most}")
            length = most
        values = scipy_module("signal", "jax.scipy.signal").get_window(window, length)
    else:
        values = np.asarray(window)
        length = len(values)
        if nperseg is not None and nperseg != length:
            raise ValueError("value specified for nperseg is different from length of window")
    if length < 1:
        raise ValueError("nperseg must be a positive integer")
    nfft = length if nfft is None else int(nfft)
    if nfft < length:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    shared = length // 2 if noverlap is None else int(noverlap)
    if shared >= length:
        raise ValueError("noverlap must be less than nperseg.")
    return _Windows(values.astype(np.zeros(0, dtype).real.dtype), length, length - shared, nfft)


def _transformed(x, windows: _Windows, detrend, onesided: bool) -> Array:
    starts = np.arange(0, x.shape[-1] - windows.length + 1, windows.step)
    parts = x[..., starts[:, None] + np.arange(windows.length)]
    if callable(detrend):
        parts = detrend(parts)
    elif detrend:
        parts = _detrended(parts, -1, detrend)
    there = jnp.fft.rfft if onesided else jnp.fft.fft
    return there(parts * windows.values, windows.nfft)


def _spectra(
    signals, fs, window, detrend, onesided, scaling: str, axis: int, boundary=None, padded=False
) -> Any:
    """Return frequencies, times, and the transforms (..., time, frequency) of one or two signals.

    Parameters
    ----------
    window: The window, nperseg, noverlap, and nfft.
    """
    given = [jnp.moveaxis(x, axis, -1) for x in as_operands("spectra", *signals, inexact=True)]
    if len({x.ndim for x in given}) > 1:
        raise ValueError(f"the signals must have as many dimensions: {[x.ndim for x in given]}")
    longest = max(x.shape[-1] for x in given)
    of = _windows(window, longest, given[0].dtype)
    if boundary not in _EXTENSIONS:
        raise ValueError(f"Unknown boundary option '{boundary}', must be one of: {[*_EXTENSIONS]}")
    ends = of.length // 2 if boundary else 0
    for place, x in enumerate(given):
        around = [(0, 0)] * (x.ndim - 1)
        x = jnp.pad(x, [*around, (0, longest - x.shape[-1])])
        if boundary:
            x = jnp.pad(x, [*around, (ends, ends)], **_EXTENSIONS[boundary])
        if padded:
            more = -(x.shape[-1] - of.length) % of.step % of.length
            x = jnp.pad(x, [*around, (0, more)])
        given[place] = x
    onesided = onesided and all(x.dtype.kind != "c" for x in given)
    found = [_transformed(x, of, detrend, onesided) for x in given]
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"Unknown scaling: '{scaling}'")
    of_one = of.values**2 if scaling == "density" else of.values
    scale = 1 / (fs * of_one.sum() if scaling == "density" else of_one.sum() ** 2)
    times = (np.arange(found[0].shape[-2]) * of.step + (not boundary) * of.length / 2) / fs
    frequencies = (np.fft.rfftfreq if onesided else np.fft.fftfreq)(of.nfft, 1 / fs)
    return jnp.asarray(frequencies), jnp.asarray(times), found, scale, onesided and of.nfft


def csd(
    x,
    y,
    fs=1.0,
    window="hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend="constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Return the cross power spectral density of two signals, by Welch's method.

    See `scipy.signal.csd`.
    """
    if average not in ("mean", "median"):
        raise ValueError(f'average must be "median" or "mean", got {average}')
    signals = (x,) if y is None or y is x else (x, y)
    taken = (window, nperseg, noverlap, nfft)
    frequencies, _, found, scale, length = _spectra(
        signals, fs, taken, detrend, return_onesided, scaling, axis
    )
    power = jnp.conj(found[0]) * found[-1] * scale
    if length:  # each but the first, and the one in the middle, stands for two
        twice = np.full(power.shape[-1], 2.0, power.real.dtype)
        twice[0] = 1
        twice[length // 2 :] -= length % 2 == 0
        power = power * twice
    if average == "mean":
        power = power.mean(-2)
    else:
        places = 2 * np.arange(1, (power.shape[-2] - 1) // 2 + 1)
        bias = 1 + np.sum(1 / (places + 1) - 1 / places)
        power = (jnp.median(power.real, -2) + 1j * jnp.median(power.imag, -2)) / bias
    return frequencies, jnp.moveaxis(power, -1, axis)


def welch(x, *args, **options) -> tuple[Array, Array]:
    """Return the power spectral density of a signal (see `csd`)."""
    frequencies, power = csd(x, None, *args, **options)
    return frequencies, power.real


_parameters = inspect.signature(csd).parameters.values()
welch.__signature__ = inspect.Signature([p for p in _parameters if p.name != "y"])  # type: ignore[attr-defined]


def stft(
    x,
    fs=1.0,
    window="hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend=False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """Return frequencies, times, and the transforms of windows of a signal.

    See `scipy.signal.stft`.
    """
    taken = (window, nperseg, noverlap, nfft)
    frequencies, times, (found,), scale, _ = _spectra(
        (x,), fs, taken, detrend, return_onesided, "spectrum", axis, boundary, padded
    )
    place = axis - 1 if axis < 0 else axis
    return frequencies, times, jnp.moveaxis(found * np.sqrt(scale), -1, place)


def istft(
    Zxx,
    fs=1.0,
    window="hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """Return times, and the signal with the given transforms of windows (see `stft`)."""
    (z,) = as_operands("istft", Zxx, inexact=True)
    if z.ndim < 2:
        raise ValueError("Input stft must be at least 2d!")
    at, across = time_axis % z.ndim, freq_axis % z.ndim
    if at == across:
        raise ValueError("Must specify differing time and frequency axes!")
    z = jnp.moveaxis(z, (at, across), (-2, -1))
    count = 2 * (z.shape[-1] - 1) if input_onesided else z.shape[-1]
    if nperseg is None and isinstance(window, str | tuple):
        nperseg = count
    if nfft is None:
        nfft = count + (input_onesided and nperseg == count + 1)
    of = _windows((window, nperseg, noverlap, nfft), nfft, z.dtype)
    back = jnp.fft.irfft if input_onesided else jnp.fft.ifft
    parts = back(z, of.nfft)[..., : of.length] * (of.values * of.values.sum())
    places = np.arange(z.shape[-2])[:, None] * of.step + np.arange(of.length)
    shape = (*parts.shape[:-2], places[-1, -1] + 1)
    x = jnp.zeros(shape, parts.dtype).at[..., places].add(parts)
    weights = np.bincount(places.reshape(-1), np.tile(of.values**2, len(places)))
    x = x / np.where(weights > 1e-10, weights, 1).astype(of.values.dtype)
    if boundary and of.length > 1:
        x = x[..., of.length // 2 : -(of.length // 2)]
    times = jnp.asarray(np.arange(x.shape[-1]) / fs)
    return times, jnp.moveaxis(x, -1, at - (across < at))


__all__ = defined(globals())
