"""Layer 9 · compat: ``autograd.scipy.signal``: `convolve`, along chosen axes.

>>> from wengert.compat.autograd.scipy.signal import convolve
>>> convolve(np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0]), mode="valid")
array([12., 23.])
>>> grad(lambda b: convolve(np.array([1.0, 2.0, 3.0]), b)[1])(np.ones(2))
array([2., 1.])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import wengert.compat.autograd.numpy as np
from wengert.compat.autograd.boxes import boxed, isbox
from wengert.compat.autograd.words import refusal
from wengert.compat.kit.namespaces import defined
from wengert.numpy.arrays import array_of
from wengert.ops.strided import unfold


def convolve(
    A,
    B,
    axes: Sequence[Sequence[int]] | None = None,
    dot_axes: Sequence[Sequence[int]] = ((), ()),
    mode="full",
) -> Any:
    """Convolve `A` and `B` along some axes, and take inner products along others.

    Parameters
    ----------
    A, B : array
    axes : pair of sequences of int, optional. The axes of `A` and of `B` to convolve along;
        default: all.
    dot_axes : pair of sequences of int. The axes of `A` and of `B` to multiply along and to sum
        over.
    mode : {"full", "valid", "same"}. How much of the result to compute; ``"same"`` returns the size
        of `A`.

    Returns
    -------
    array: Its axes are the remaining axes of `A`, then those of `B`, then the convolved ones.

    Raises
    ------
    AssertionError: For another mode.
    ValueError: For ``"valid"``, if neither array is the larger one along all axes.
    """
    if mode not in ("valid", "full", "same"):
        raise AssertionError(f"Mode {mode} undefined, it can be one of 'valid', 'full', and 'same'")
    A, B = (x if isbox(x) else np.asarray(x) for x in (A, B))
    if axes is None:
        axes = [list(range(np.ndim(A))), list(range(np.ndim(B)))]
    pairs = list(zip(*axes, strict=True))
    shapes = np.shape(A), np.shape(B)
    if mode == "valid" and any(shapes[0][i] < shapes[1][j] for i, j in pairs):
        if any(shapes[0][i] > shapes[1][j] for i, j in pairs):
            raise refusal(ValueError, "One array must")
        made = convolve(B, A, axes[::-1], dot_axes[::-1], mode)
        b_rest = np.ndim(B) - len(axes[1]) - len(dot_axes[1])
        a_rest = np.ndim(A) - len(axes[0]) - len(dot_axes[0])
        order = [*range(b_rest, b_rest + a_rest), *range(b_rest)]
        return np.transpose(made, (*order, *range(len(order), np.ndim(made))))
    widths = [(0, 0)] * np.ndim(A)
    for i, j in pairs:
        reach = shapes[1][j] - 1
        if mode == "full":
            widths[i] = (reach, reach)
        elif mode == "same":
            widths[i] = (reach - reach // 2, reach // 2)
    windows = A if mode == "valid" else np.pad(A, widths, mode="constant")
    for i, j in pairs:
        # the elements of a window become the last dimension
        windows = boxed(unfold(array_of(windows), i, shapes[1][j], 1))
    flipped = tuple(
        slice(None, None, -1) if j in axes[1] else slice(None) for j in range(np.ndim(B))
    )
    ndim = np.ndim(A)
    letters = list(range(ndim, ndim + np.ndim(B)))
    for number, (_, j) in enumerate(pairs):
        letters[j] = ndim + np.ndim(B) + number
    of_windows = [*range(ndim), *(letters[j] for _, j in pairs)]
    for i, j in zip(*dot_axes, strict=True):
        letters[j] = i
    a_left = [i for i in range(ndim) if i not in axes[0] and i not in dot_axes[0]]
    b_left = [letters[j] for j in range(np.ndim(B)) if j not in axes[1] and j not in dot_axes[1]]
    result = [*a_left, *b_left, *axes[0]]
    made = np.einsum(windows, of_windows, B[flipped], letters, result)
    if isbox(A) or isbox(B):
        return boxed(made)
    return made._value if isbox(made) else made


__all__ = defined(globals())
