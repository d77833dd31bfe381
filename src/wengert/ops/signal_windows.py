"""Layer 5 · ops · transforms: window functions, which weight signals before a transform."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.errors import long_name, not_implemented
from wengert.base.export import export
from wengert.base.sections import named
from wengert.ops.coerce import integer
from wengert.ops.options import float_type, made


def _window(shape: Callable[..., Any]) -> Callable[..., Any]:
    """Make a window of `shape`, a function of positions in [0, 1] and then of coefficients."""
    name = shape.__name__

    def window(
        window_length: int,
        periodic: bool = True,
        *coefficients: Any,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: Any = None,
        requires_grad: bool = False,
        **named: Any,
    ) -> Any:
        length = integer(window_length, name, "window_length", 1)
        kind = float_type(dtype)
        if kind.kind in "biu":
            raise RuntimeError(
                f"{name} expects floating point dtypes, got: {long_name(kind)}. Windows are made "
                "of fractions"
            )
        if kind.kind == "c":
            raise not_implemented(name, kind, "make a real window")
        if length < 0:
            raise RuntimeError(
                f"{name} requires non-negative window_length, got window_length={length}"
            )
        at = np.arange(length) / max(length if periodic else length - 1, 1)
        values = shape(at, *coefficients, **named)
        # a window of one element is 1, whatever its shape
        return made(values.astype(kind) if length != 1 else np.ones(1, kind), device, requires_grad)

    own = inspect.signature(window)
    length, periodic, _, *options, _ = own.parameters.values()
    _, *names = inspect.signature(shape).parameters.values()
    window.__signature__ = own.replace(parameters=[length, periodic, *names, *options])  # type: ignore[attr-defined]
    window.__doc__ = shape.__doc__
    return named(window, name)


@export("wengert")
@_window
def hann_window(x: Any) -> Any:
    """Return the Hann window: sin(pi * x) ** 2 for x from 0 to 1.

    Parameters
    ----------
    window_length : int. The number of elements.
    periodic : bool. Whether the window is one period, as spectra want it: that is a symmetric
        window of one element more without its last.
    dtype : dtype, optional. A real floating dtype; the default one unless given.
    layout, pin_memory: Have no effect.
    device : device or str, optional. Only the CPU.
    requires_grad : bool. Whether gradients are wanted.

    Returns
    -------
    Tensor: Of shape (window_length,).

    Raises
    ------
    RuntimeError: If the length is negative, or the dtype is an integer dtype or bool.

    Examples
    --------
    >>> wg.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return np.sin(np.pi * x) ** 2


@export("wengert")
@_window
def hamming_window(x: Any, alpha: float = 0.54, beta: float = 0.46) -> Any:
    """Return the Hamming window; arguments as for `hann_window`.

    It is alpha - beta * cos(2 * pi * x) for x from 0 to 1.

    Parameters
    ----------
    alpha, beta : float. The mean, and how far the window goes from it.

    Examples
    --------
    >>> wg.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    return alpha - beta * np.cos(2 * np.pi * x)


@export("wengert")
@_window
def blackman_window(x: Any) -> Any:
    """Return the Blackman window; arguments as for `hann_window`.

    It is 0.42 - 0.5 * cos(2 * pi * x) + 0.08 * cos(4 * pi * x) for x from 0 to 1.

    Examples
    --------
    >>> wg.blackman_window(4)[1:]
    tensor([0.3400, 1.0000, 0.3400])
    """
    return 0.42 - 0.5 * np.cos(2 * np.pi * x) + 0.08 * np.cos(4 * np.pi * x)


@export("wengert")
@_window
def bartlett_window(x: Any) -> Any:
    """Return the Bartlett window, a triangle; arguments as for `hann_window`.

    Examples
    --------
    >>> wg.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return 1 - np.abs(2 * x - 1)


@export("wengert")
@_window
def kaiser_window(x: Any, beta: float = 12.0) -> Any:
    """Return the Kaiser window; arguments as for `hann_window`.

    It is i0(beta * sqrt(1 - (2 * x - 1) ** 2)) / i0(beta) for x from 0 to 1.

    Parameters
    ----------
    beta : float. How narrow it is.

    Examples
    --------
    >>> wg.kaiser_window(4, beta=2.0)
    tensor([0.4387, 0.8348, 1.0000, 0.8348])
    """
    # the argument of the root is not negative, except by rounding errors
    return np.i0(beta * np.sqrt(np.maximum(1 - (2 * x - 1) ** 2, 0))) / np.i0(beta)
