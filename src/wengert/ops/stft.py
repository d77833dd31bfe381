"""Layer 5 · ops · transforms: Fourier transforms of windowed parts of a signal."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.errors import long_name
from wengert.base.export import export
from wengert.ops.checks import flag
from wengert.ops.coerce import integer, operand, wide
from wengert.ops.options import placed
from wengert.ops.padding import pad
from wengert.prims import fourier as fourier
from wengert.tape.record import T
from wengert.tape.sites import warn

_NO_WINDOW = (
    "A window was not provided. A rectangular window will be applied,which is known to cause "
    "spectral leakage. Other windows such as torch.hann_window or torch.hamming_window are "
    "recommended to reduce spectral leakage.To suppress this warning and use a rectangular window, "
    "explicitly set `window=torch.ones(n_fft, device=<device>)`."
)
_NO_WINDOW_BACK = (
    "A window was not provided. A rectangular window will be applied.Please provide the same "
    "window used by stft to make the inversion lossless.To suppress this warning and use a "
    "rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
)


def _kind(x: Any) -> str:
    return f"torch.{long_name(x._payload.dtype)}Tensor"


class _Call:
    """A call as errors show it."""

    def __init__(self, name: str, x: Any, **arguments: Any) -> None:
        self._given = name, x, arguments

    def __str__(self) -> str:
        name, x, arguments = self._given
        window = arguments["window"]
        if window is not None:
            arguments["window"] = f"{_kind(window)}{{{list(window._payload.shape)}}}"
        given = ", ".join(
            f"{key}={int(value) if isinstance(value, bool) else value}"
            for key, value in arguments.items()
        )
        # the form of types in some of PyTorch's errors
        kind = f"CPU{long_name(x._payload.dtype)}Type" if name == "istft" else _kind(x)
        return f"{name}({kind}{list(x._payload.shape)}, {given})"


def _centred(window: Any, win_length: int, n_fft: int, signal: Any) -> Any:
    """Pad a window with zeros on both sides, if it is shorter than the parts of the signal."""
    if win_length == n_fft:
        return window
    if window is None:
        window = placed(signal, np.ones(win_length, np.float32))
    left = (n_fft - win_length) // 2
    return T.slice_backward(
        window, shape=(n_fft,), dim=0, start=left, end=left + win_length, step=1
    )


def _continued(x: Any, width: int, mode: str) -> Any:
    """Return the signal with `width` more elements on both sides."""
    ndim = x._payload.ndim
    for _ in range(3 - ndim):
        x = T.unsqueeze(x, dim=0)
    x = pad(x, (width, width), mode)
    for _ in range(3 - ndim):
        x = T.squeeze_dim(x, dim=0)
    return x


@export("wengert", "Tensor")
def stft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """Return the Fourier transforms of overlapping parts of a signal.

    Parameters
    ----------
    input : Tensor. The signal, of shape (L,), or several of shape (B, L); floating or complex.
    n_fft : int. The length of each part.
    hop_length : int, optional. The distance from one part to the next; ``n_fft // 4`` by default.
    win_length : int, optional. The length of the window; `n_fft` by default. A shorter one has
        zeros on both sides.
    window : Tensor, optional. The factors of each part; ones by default, with a warning.
    center : bool. Whether part t has its middle at ``t * hop_length``: then the signal is continued
        on both sides.
    pad_mode : {"reflect", "constant", "replicate", "circular"}. How to continue it.
    normalized : bool. Whether to divide by the root of `n_fft`.
    onesided : bool, optional. Whether to return half of each spectrum; by default if signal and
        window are real.
    return_complex : bool. Must be given for real signals. False returns pairs of real numbers along
        a further dimension, with a warning.
    align_to_window : bool, optional. If not `center`: whether the first part begins where its
        window does.

    Returns
    -------
    Tensor: Complex, of shape (N, T) or (B, N, T): N frequencies of T parts. Differentiable with
        respect to the signal and the window, to any order.

    Raises
    ------
    RuntimeError: If the lengths do not fit, or `return_complex` is missing.

    Warns
    -----
    UserWarning: If there is no window, or `return_complex` is False.

    Examples
    --------
    >>> x = wg.arange(8.0)
    >>> wg.stft(x, 4, window=wg.hann_window(4), return_complex=True).shape
    torch.Size([3, 9])
    """
    x = wide(input, "stft")
    n_fft = integer(n_fft, "stft", "n_fft")
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        x = _continued(x, n_fft // 2, pad_mode)
    hop = n_fft // 4 if hop_length is None else integer(hop_length, "stft", "hop_length")
    width = n_fft if win_length is None else integer(win_length, "stft", "win_length")
    if window is not None:
        window = operand(window, "stft", "window", 5)
    else:
        warn(_NO_WINDOW)
    is_complex = x._payload.dtype.kind == "c" or (
        window is not None and window._payload.dtype.kind == "c"
    )
    call = _Call(
        "stft",
        x,
        n_fft=n_fft,
        hop_length=hop,
        win_length=width,
        window=window,
        normalized=normalized,
        onesided=onesided,
        return_complex=return_complex,
        align_to_window=align_to_window,
    )
    if return_complex is None:
        if not is_complex:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will "
                "further require that return_complex=True in a future PyTorch release."
            )
        return_complex = True
    if not return_complex:
        warn(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will "
            "return complex tensors for all inputs, and return_complex=False will raise an error."
            "\nNote: you can still call torch.view_as_real on the complex output to recover the "
            "old return format.",
        )
    _check_signal(x, window, call, n_fft, hop, width)
    one = x._payload.ndim == 1
    if one:
        x = T.unsqueeze(x, dim=0)
    if align_to_window and width < n_fft:
        left = (n_fft - width) // 2
        shape = (x._payload.shape[0], x._payload.shape[1] + n_fft - width)
        end = left + x._payload.shape[1]
        x = T.slice_backward(x, shape=shape, dim=1, start=left, end=end, step=1)
    parts = T.signal_parts(x, size=n_fft, step=hop)
    window = _centred(window, width, n_fft, x)
    if window is not None:
        parts = T.mul(parts, window)
    if onesided is None:
        onesided = not is_complex
    norm = "ortho" if normalized else "backward"
    if parts._payload.dtype.itemsize < (8 if is_complex else 4):
        raise RuntimeError(f"Unsupported dtype {long_name(x._payload.dtype)}: convert to float32")
    if is_complex:
        if onesided:
            raise RuntimeError(
                "Cannot have onesided output if window or input is complex: say onesided=False"
            )
        result = T.fft_c2c(parts, dim=(2,), norm=norm, forward=True)
    else:
        result = T.fft_r2c(
            parts,
            dim=(2,),
            norm=norm,
            forward=True,
            onesided=flag(onesided, "onesided"),
            doubled=False,
        )
    result = T.transpose(result, dim0=1, dim1=2)
    if one:
        result = T.squeeze_dim(result, dim=0)
    return result if return_complex else T.view_as_real(result)


def _check_signal(x: Any, window: Any, call: _Call, n_fft: int, hop: int, width: int) -> None:
    array = x._payload
    if array.dtype.kind in "biu":
        raise RuntimeError(f"{call} : expected a tensor of floating point or complex values")
    if array.ndim not in (1, 2):
        raise RuntimeError(f"{call} : expected a 1D or 2D tensor")
    size = array.shape[-1]
    if not 0 < n_fft <= size:
        raise RuntimeError(f"{call} : expected 0 < n_fft < {size}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"{call} : expected hop_length > 0, but got hop_length={hop}")
    if not 0 < width <= n_fft:
        raise RuntimeError(f"{call} : expected 0 < win_length <= n_fft, but got win_length={width}")
    if window is not None and window._payload.shape != (width,):
        raise RuntimeError(
            f"{call} : expected a 1D window tensor of size equal to win_length={width}, but got "
            f"window with size {list(window._payload.shape)}"
        )


@export("wengert", "Tensor")
def istft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """Return the signal whose `stft` is closest to the given one.

    Parameters
    ----------
    input : Tensor. The result of `stft`: complex, of shape (N, T) or (B, N, T).
    n_fft, hop_length, win_length, window, center, normalized, onesided: What `stft` was called
        with.
    length : int, optional. The number of elements of the signal.
    return_complex : bool. Whether the signal is complex.

    Returns
    -------
    Tensor: Of shape (L,) or (B, L). Differentiable with respect to the input and the window, to any
        order.

    Raises
    ------
    RuntimeError: If the shape does not fit, or if the windows leave an element of the signal out.

    Warns
    -----
    UserWarning: If there is no window, or if zeros are added for `length`.

    Examples
    --------
    >>> w = wg.hann_window(4)
    >>> spectrum = wg.stft(wg.arange(8.0), 4, window=w, return_complex=True)
    >>> wg.allclose(wg.istft(spectrum, 4, window=w), wg.arange(8.0), atol=1e-5)
    True
    """
    x = operand(input, "istft")
    n_fft = integer(n_fft, "istft", "n_fft")
    hop = n_fft // 4 if hop_length is None else integer(hop_length, "istft", "hop_length")
    width = n_fft if win_length is None else integer(win_length, "istft", "win_length")
    if window is not None:
        window = operand(window, "istft", "window", 5)
    else:
        warn(_NO_WINDOW_BACK)
    call = _Call(
        "istft",
        x,
        n_fft=n_fft,
        hop_length=hop,
        win_length=width,
        window=window,
        center=center,
        normalized=normalized,
        onesided=onesided,
        length=length,
        return_complex=return_complex,
    )
    onesided = _check_spectrum(x, window, call, n_fft, hop, width, onesided)
    window_is_complex = window is not None and window._payload.dtype.kind == "c"
    if return_complex and onesided:
        raise RuntimeError(
            "Cannot have onesided output if window or input is complex: a complex signal has "
            "spectra of n_fft frequencies"
        )
    if window_is_complex and not return_complex:
        raise RuntimeError(
            "Complex windows are incompatible with return_complex=False: say return_complex=True"
        )
    one = x._payload.ndim == 2
    if one:
        x = T.unsqueeze(x, dim=0)
    x = T.transpose(x, dim0=1, dim1=2)
    norm = "ortho" if normalized else "backward"
    if return_complex:
        parts = T.fft_c2c(x, dim=(2,), norm=norm, forward=False)
    else:
        if not onesided:
            x = T.slice(x, dim=2, start=0, end=n_fft // 2 + 1, step=1)
        parts = T.fft_c2r(x, dim=(2,), norm=norm, forward=False, last_dim_size=n_fft, halved=False)
    result = _overlapped(parts, _centred(window, width, n_fft, x), hop, center, length, call)
    return T.squeeze_dim(result, dim=0) if one else result


def _check_spectrum(
    x: Any, window: Any, call: _Call, n_fft: int, hop: int, width: int, onesided: Any
) -> bool:
    array = x._payload
    if array.dtype.kind != "c":
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True: for pairs of real numbers there is view_as_complex()"
        )
    if not array.size:
        raise RuntimeError(f"{call} : input tensor cannot be empty.")
    if array.ndim not in (2, 3):
        raise RuntimeError(
            f"{call} : expected a tensor with 3 or 4 dimensions, but got {array.ndim + 1} (pairs "
            "of real numbers counted as a dimension)"
        )
    count = array.shape[-2]
    onesided = count != n_fft if onesided is None else flag(onesided, "onesided")
    expected = ("n_fft / 2 + 1", n_fft // 2 + 1) if onesided else ("n_fft", n_fft)
    if count != expected[1]:
        raise RuntimeError(
            f"{call} : expected the frequency dimension (3rd to the last) of the input tensor to "
            f"match {expected[0]} when onesided={onesided}, but got {count}"
        )
    if not 0 < hop <= width:
        raise RuntimeError(
            f"{call} : expected 0 < hop_length <= win_length, but got {hop} and {width}"
        )
    if not 0 < width <= n_fft:
        raise RuntimeError(
            f"{call} : expected 0 < win_length <= n_fft, but got {width} and {n_fft}"
        )
    if window is not None and window._payload.shape != (width,):
        raise RuntimeError(
            f"{call} : Invalid window shape. window has to be 1D and length of `win_length`, but "
            f"it is {list(window._payload.shape)}"
        )
    return onesided


def _overlapped(parts: Any, window: Any, hop: int, center: bool, length: Any, call: _Call) -> Any:
    """Add up windowed parts of a signal, and divide by the sum of the squared windows."""
    batch, count, n_fft = parts._payload.shape
    whole = n_fft + hop * (count - 1)
    if window is None:
        window = placed(parts, np.ones(n_fft, np.empty(0, parts._payload.dtype).real.dtype))
    parts = T.mul(parts, window)
    squares = T.expand(T.mul(window, window), shape=(1, count, n_fft))

    start = n_fft // 2 if center else 0
    if length is not None:
        end = start + integer(length, "istft", "length")
    else:
        end = whole - n_fft // 2 if center else whole
    if end <= start:
        raise RuntimeError(f"{call} : expected a signal of at least one element")

    def joined(x: Any) -> Any:
        total = T.overlap_add(x, step=hop)
        return T.slice(total, dim=1, start=start, end=min(end, whole), step=1)

    total, weight = joined(parts), joined(squares)
    heights = T.abs(weight)._payload
    if heights.size and heights.min() <= 1e-11:
        raise RuntimeError(
            f"{call} window overlap add min: 1: somewhere all windows are 0, so that the signal is "
            "not determined there. Give a smaller hop_length, or center=True."
        )
    result = T.div(total, weight)
    if end > whole:
        warn(
            "The length of signal is shorter than the length parameter. Result is being padded "
            "with zeros in the tail. Please check your center and hop_length settings.",
        )
        result = T.slice_backward(
            result, shape=(batch, end - start), dim=1, start=0, end=whole - start, step=1
        )
    return result
