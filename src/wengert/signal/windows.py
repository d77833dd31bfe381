"""Layer 8 · signal: window functions; symmetric by default, unlike `wengert.hann_window`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from wengert.base.layout import strided
from wengert.base.names import defined, shows
from wengert.ops.options import float_type, made


def _window(
    shape: Callable[[Any, int], Any],
    M: int,
    sym: bool,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    name: str = "general_cosine",
) -> Any:
    """Evaluate the function `shape` at 0 to M - 1; its second argument is the end of the window."""
    kind = float_type(dtype)
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout not in (None, strided):
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if kind not in (np.float32, np.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    values = shape(np.arange(M), M - 1 if sym else M) if M > 1 else np.ones(M)
    return made(np.asarray(values, kind), device, requires_grad)


def _cosines(weights: Iterable[float]) -> Callable[[Any, int], Any]:
    def shape(k: Any, end: int) -> Any:
        angle = 2 * np.pi * k / end
        return sum((-1) ** i * a * np.cos(i * angle) for i, a in enumerate(weights))

    return shape


def _positive(what: str, value: float) -> None:
    if value <= 0:
        raise ValueError(f"{what} must be positive, got: {value} instead.")


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, **options: Any) -> Any:
    """Return a sum of cosines with weights of alternating signs.

    Parameters
    ----------
    M : int. The number of elements.
    a : iterable of float. The weights.
    sym : bool. Whether the window is symmetric; else it is one period of a periodic one.
    options : ``dtype``, ``layout``, ``device`` and ``requires_grad``, as for `wengert.ones`.

    Raises
    ------
    ValueError: If `M` is negative, or there are no weights.

    Examples
    --------
    >>> import wengert.signal
    >>> wg.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    weights = list(a)
    if not weights:
        raise ValueError("Coefficients cannot be empty")
    return _window(_cosines(weights), M, sym, **options)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Any:
    """Return ``alpha - (1 - alpha) * cos(2 * pi * x)``; see `general_cosine`."""
    return general_cosine(M, a=[alpha, 1 - alpha], sym=sym, **options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Return the Hamming window; see `general_cosine`."""
    return general_hamming(M, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Return the Hann window; see `general_cosine`."""
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Return the Blackman window; see `general_cosine`."""
    return _window(_cosines([0.42, 0.5, 0.08]), M, sym, **options, name="blackman")


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Return Nuttall's window with minimum sidelobes; see `general_cosine`."""
    weights = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return general_cosine(M, a=weights, sym=sym, **options)


def cosine(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Return half a period of the sine; see `general_cosine`."""

    def shape(k: Any, end: int) -> Any:
        return np.sin(np.pi * (k + 0.5) / (end + 1))

    return _window(shape, M, sym, **options, name="cosine")


def bartlett(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Return a triangle from 0 to 1 to 0; see `general_cosine`."""

    def shape(k: Any, end: int) -> Any:
        return 1 - np.abs(2 * k / end - 1)

    return _window(shape, M, sym, **options, name="bartlett")


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    **options: Any,
) -> Any:
    """Return ``exp(-abs(k - center) / tau)``; see `general_cosine`.

    Raises
    ------
    ValueError: If `tau` is not positive, or a symmetric window has a center of its own.
    """
    _positive("Tau", tau)
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def shape(k: Any, end: int) -> Any:
        return np.exp(-np.abs(k - (end / 2 if center is None else center)) / tau)

    return _window(shape, M, sym, **options, name="exponential")


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Any) -> Any:
    """Return a Gaussian whose standard deviation is given in elements; see `general_cosine`.

    Raises
    ------
    ValueError: If `std` is not positive.
    """
    _positive("Standard deviation", std)

    def shape(k: Any, end: int) -> Any:
        return np.exp(-(((k - end / 2) / std) ** 2) / 2)

    return _window(shape, M, sym, **options, name="gaussian")


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Any) -> Any:
    """Return the Kaiser window with shape parameter `beta`; see `general_cosine`.

    Raises
    ------
    ValueError: If `beta` is negative.
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def shape(k: Any, end: int) -> Any:
        inside = np.maximum(1 - (2 * k / end - 1) ** 2, 0)
        return np.i0(beta * np.sqrt(inside)) / np.i0(beta)

    return _window(shape, M, sym, **options, name="kaiser")


__all__ = defined(globals())
__dir__ = shows(__all__)
