"""Layer 9 · compat: ``tf.signal``: Fourier and cosine transforms, windows and frames.

>>> print(tf.signal.rfft([1.0, 0.0, 0.0]).numpy())
[1.+0.j 1.+0.j]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import wengert as wg
from wengert.compat.kit.rows import of_rows, shaped
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.words import public, refusal

_COMPLEX = ("complex64", "complex128")
_REAL = ("float", "double")
_FLOAT32 = np.dtype(np.float32)


def _checked(value, kinds: tuple[str, ...], d: int, attribute: str) -> Any:
    x = V.tensor_of(value)
    V.check(x, kinds, attribute)
    if x._payload.ndim < d:
        raise refusal(V.invalid, "Input must have", d, V.shown(x._payload.shape))
    return x


def _complex(path: str, op: str, d: str, function: Callable[..., Any], what: str) -> Any:
    @V.operation(op)
    def transform(input, name=None) -> Any:
        """The {what} over the last dimensions, as many as the name says (one, if none).

        Parameters
        ----------
        input : Tensor. The input, of a complex dtype.

        %(returns_differentiable)s

        Raises
        ------
        InvalidArgumentError: If the dtype is another one, or there are too few dimensions.

        Examples
        --------
        >>> tf.{path}(tf.ones({shape}, tf.complex64)).shape
        TensorShape({shape})
        """
        dims = tuple(range(-int(d), 0))
        return function(_checked(input, _COMPLEX, int(d), "Tcomplex"), dim=dims)

    return shaped(transform, path, what=what, shape=[4] * int(d))


def _real(path: str, op: str, d: str, function: Callable[..., Any], what: str) -> Any:
    kinds, attribute = (_REAL, "Treal") if op[0] == "R" else (_COMPLEX, "Tcomplex")

    @V.operation(op)
    def transform(input_tensor, fft_length=None, name=None) -> Any:
        """The {what} over the last dimensions, as many as the name says (one, if none).

        Parameters
        ----------
        input_tensor : Tensor. The input, of a {kind} dtype.
        fft_length : sequence of int, optional. The sizes of the real signal; shorter input is
            padded with zeros, and longer input is truncated.

        %(returns_differentiable)s

        Raises
        ------
        InvalidArgumentError: If the dtype is another one, or there are too few dimensions.

        Examples
        --------
        >>> tf.{path}(tf.ones({shape}, tf.{dtype})).shape
        TensorShape({result})
        """
        x = _checked(input_tensor, kinds, int(d), attribute)
        sizes = None if fft_length is None else V.integers(fft_length, "fft_length")
        return function(x, s=sizes, dim=tuple(range(-int(d), 0)))

    dtype, kind, size = ("float32", "real", 3) if op[0] == "R" else ("complex64", "complex", 6)
    shape, result = [4] * int(d), [4] * (int(d) - 1) + [size]
    said = {"dtype": dtype, "kind": kind, "shape": shape, "result": result}
    return shaped(transform, path, what=what, **said)


of_rows(
    globals(),
    _complex,
    """
    signal.fft | FFT | 1 | =wg.fft.fftn | Fourier transform
    signal.fft2d | FFT2D | 2 | =wg.fft.fftn | Fourier transform
    signal.fft3d | FFT3D | 3 | =wg.fft.fftn | Fourier transform
    signal.ifft | IFFT | 1 | =wg.fft.ifftn | inverse Fourier transform
    signal.ifft2d | IFFT2D | 2 | =wg.fft.ifftn | inverse Fourier transform
    signal.ifft3d | IFFT3D | 3 | =wg.fft.ifftn | inverse Fourier transform
    """,
)
of_rows(
    globals(),
    _real,
    """
    signal.rfft | RFFT | 1 | =wg.fft.rfftn | first half of the Fourier transform of real numbers
    signal.rfft2d | RFFT2D | 2 | =wg.fft.rfftn
        | first half of the Fourier transform of real numbers
    signal.rfft3d | RFFT3D | 3 | =wg.fft.rfftn
        | first half of the Fourier transform of real numbers
    signal.irfft | IRFFT | 1 | =wg.fft.irfftn | inverse of `rfft`
    signal.irfft2d | IRFFT2D | 2 | =wg.fft.irfftn | inverse of `rfft2d`
    signal.irfft3d | IRFFT3D | 3 | =wg.fft.irfftn | inverse of `rfft3d`
    """,
)


@V.operation("Roll")
def fftshift(x, axes=None, name=None) -> Any:
    """Shift the zero frequency to the middle.

    Examples
    --------
    >>> print(tf.signal.fftshift([0, 1, 2, -2, -1]).numpy())
    [-2 -1  0  1  2]
    """
    return wg.fft.fftshift(V.tensor_of(x), None if axes is None else V.integers(axes, "axes"))


@V.operation("Roll")
def ifftshift(x, axes=None, name=None) -> Any:
    """Undo `fftshift`.

    Examples
    --------
    >>> print(tf.signal.ifftshift([-2, -1, 0, 1, 2]).numpy())
    [ 0  1  2 -2 -1]
    """
    return wg.fft.ifftshift(V.tensor_of(x), None if axes is None else V.integers(axes, "axes"))


# -- cosine transforms -----------------------------------------------------------------------------


def _cosines(size: int, kind, norm, inverse: bool) -> Any:
    """Return the matrix of the cosine transform of type 2, or of its inverse, type 3."""
    places = np.arange(size)
    table = 2 * np.cos(np.pi * places[:, None] * (2 * places + 1) / (2 * size))
    if norm is None:
        if inverse:
            table = table.T.copy()
            table[:, 0] /= 2
        return wg.as_tensor(table.astype(kind))
    scale = np.full(size, np.sqrt(0.5 / size))
    scale[0] /= np.sqrt(2)
    table = scale[:, None] * table
    return wg.as_tensor((table.T if inverse else table).astype(kind))


def _transformed(op: str, input, type: int, n, axis: int, norm, inv: bool) -> Any:
    x = V.tensor_of(input)
    V.check(x, _REAL, op=op)
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if type not in (2, 3):
        raise ValueError(f"Types 2 and 3 are offered here, not {type}")
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    have = x._payload.shape[-1]
    size = have if n is None else int(n)
    if size < have:
        x = wg.narrow(x, -1, 0, size)
    elif size > have:
        x = wg.nn.functional.pad(x, (0, size - have))
    return wg.matmul(x, wg.transpose(_cosines(size, x._payload.dtype, norm, inv), 0, 1))


@V.operation("DCT")
def dct(input, type=2, n=None, axis=-1, norm: str | None = None, name=None) -> Any:
    """Return the discrete cosine transform of type 2 or 3 over the last dimension.

    Raises
    ------
    ValueError: If the type or the normalisation is not supported.

    Examples
    --------
    >>> print(tf.signal.dct([1.0, 1.0]).numpy().round(3))
    [4. 0.]
    """
    return _transformed("DCT", input, type, n, axis, norm, type == 3)


@V.operation("IDCT")
def idct(input, type=2, n=None, axis=-1, norm: str | None = None, name=None) -> Any:
    """Invert `dct`, up to a factor of ``2 n`` without ``norm="ortho"``.

    Examples
    --------
    >>> x = tf.signal.dct([1.0, 2.0], norm="ortho")
    >>> print(tf.signal.idct(x, norm="ortho").numpy().round(3))
    [1. 2.]
    """
    return _transformed("IDCT", input, type, n, axis, norm, type == 2)


# -- windows and frames ----------------------------------------------------------------------------


def _raised_cosine(length, periodic: bool, dtype, a: float, b: float) -> Any:
    (size,) = V.integers(length, "window_length")
    # in TensorFlow, windows of odd length are symmetric even if `periodic`
    count = max(size - 1 + (periodic and size % 2 == 0), 1)
    window = a - b * np.cos(2 * np.pi * np.arange(size) / count) if size > 1 else np.ones(1)
    return V.constant_of(window.astype(V.dtype_of(dtype, _FLOAT32)))


def hann_window(window_length, periodic=True, dtype=None, name=None) -> Any:
    """Return a Hann window.

    Examples
    --------
    >>> print(tf.signal.hann_window(4).numpy().round(3))
    [0.  0.5 1.  0.5]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(window_length, periodic=True, dtype=None, name=None) -> Any:
    """Return a Hamming window.

    Examples
    --------
    >>> print(tf.signal.hamming_window(4).numpy().round(3))
    [0.08 0.54 1.   0.54]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46)


@V.operation("Frame", signal=V.ANY)
def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None) -> Any:
    """Return overlapping frames of a signal along its last dimension.

    Parameters
    ----------
    signal : Tensor or tensor-like.
    frame_length, frame_step : int. The size of the frames, and the distance between their starts.
    pad_end : bool. Whether to pad frames that extend past the end with `pad_value`.
    pad_value : number. The value of the padding.
    axis : int. The last dimension.

    Returns
    -------
    Tensor: With two dimensions in place of the last; differentiable.

    Examples
    --------
    >>> print(tf.signal.frame([1, 2, 3, 4], 2, 1).numpy())
    [[1 2]
     [2 3]
     [3 4]]
    """
    if axis % signal._payload.ndim != signal._payload.ndim - 1:
        raise V.invalid(f"frames are made of the last dimension here, not of {axis}")
    (length,), (step,) = (
        V.integers(frame_length, "frame_length"),
        V.integers(frame_step, "frame_step"),
    )
    size = signal._payload.shape[-1]
    count = max(-(-size // step) if pad_end else (size - length) // step + 1, 0)
    beyond = (count - 1) * step + length - size
    if pad_end and beyond > 0:
        signal = wg.nn.functional.pad(signal, (0, beyond), value=pad_value)
    places = np.arange(count)[:, None] * step + np.arange(length)
    picked = wg.index_select(signal, -1, wg.as_tensor(places.reshape(-1)))
    return wg.reshape(picked, (*signal._payload.shape[:-1], count, length))


@V.operation("UnsortedSegmentSum", signal=V.ANY, frame_step=int)
def overlap_and_add(signal, frame_step, name=None) -> Any:
    """Add overlapping frames, `frame_step` apart; undoes `frame`.

    Examples
    --------
    >>> print(tf.signal.overlap_and_add([[1.0, 2.0], [3.0, 4.0]], 1).numpy())
    [1. 5. 4.]
    """
    *outer, count, length = signal._payload.shape
    size = (count - 1) * frame_step + length
    places = (np.arange(count)[:, None] * frame_step + np.arange(length)).reshape(-1)
    start = wg.as_tensor(np.zeros((*outer, size), signal._payload.dtype))
    flat = wg.reshape(signal, (*outer, count * length))
    return wg.index_add(start, len(outer), wg.as_tensor(places), flat)


@V.operation("RFFT")
def stft(
    signals,
    frame_length,
    frame_step,
    fft_length=None,
    window_fn=hann_window,
    pad_end=False,
    name=None,
) -> Any:
    """Return the short-time Fourier transform: the transforms of overlapping windowed frames.

    Examples
    --------
    >>> tf.signal.stft(tf.ones([16]), frame_length=8, frame_step=4).shape
    TensorShape([3, 5])
    """
    pieces = V.tensor_of(frame(signals, frame_length, frame_step, pad_end))
    (length,) = V.integers(frame_length, "frame_length")
    if fft_length is None:
        fft_length = 1 << (length - 1).bit_length()
    if window_fn is not None:
        pieces = wg.mul(pieces, V.tensor_of(window_fn(length, dtype=pieces._payload.dtype)))
    return wg.fft.rfft(pieces, V.integer(fft_length, "fft_length"))


__all__ = public(globals())
