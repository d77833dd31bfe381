"""Layer 9 · compat: where windows lie: the strides, formats and paddings of TensorFlow's images.

Images are turned so that channels come first, and the results back; what ``"SAME"`` pads is
computed here, since it may be one more after than before.
"""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.functions.values import integers, invalid


def first(x, channels_first: bool) -> Any:
    """`x` with its channels after the batch."""
    return x if channels_first else wg.movedim(x, -1, 1)


def last(x, channels_first: bool) -> Any:
    """What `first` was given."""
    return x if channels_first else wg.movedim(x, 1, -1)


def per_dimension(op: str, value, d: int, channels_first: bool, what: str) -> tuple[int, ...]:
    """One number for each of `d` dimensions, of one for all, or of a list with batch and channels.

    Raises
    ------
    InvalidArgumentError: If there are not as many.
    """
    if value is None:
        return (1,) * d
    numbers = integers(value, what)
    if len(numbers) == 1:
        return numbers * d
    if len(numbers) == d + 2:
        inner = numbers[2:] if channels_first else numbers[1:-1]
        if sum(numbers) - sum(inner) != 2:
            raise invalid(
                op,
                f"Current implementation does not yet support {what} in the batch and depth "
                f"dimensions: {list(numbers)}",
            )
        return inner
    if len(numbers) != d:
        raise invalid(op, f"{what} must be one number, {d} or {d + 2}, not {len(numbers)}")
    return numbers


def padding_of(
    op: str,
    padding,
    sizes: tuple[int, ...],
    window: tuple[int, ...],
    strides: tuple[int, ...],
    channels_first: bool,
) -> list[tuple[int, int]]:
    """How much to add before and after, along each dimension; windows count their dilation.

    Raises
    ------
    InvalidArgumentError: If `padding` is not known.
    """
    if isinstance(padding, list | tuple):
        pairs = [(int(before), int(after)) for before, after in padding]
        if len(pairs) == len(sizes) + 2:
            pairs = pairs[2:] if channels_first else pairs[1:-1]
        return pairs
    kind = padding.upper() if isinstance(padding, str) else padding
    if kind == "VALID":
        return [(0, 0)] * len(sizes)
    if kind != "SAME":
        raise invalid(
            op,
            f"Value for attr 'padding' of \"{padding}\" is not in the list of allowed values: "
            '"SAME", "VALID", "EXPLICIT"',
        )
    pairs = []
    for size, extent, stride in zip(sizes, window, strides, strict=True):
        total = max((-(-size // stride) - 1) * stride + extent - size, 0)
        pairs.append((total // 2, total - total // 2))
    return pairs


def padded(x, pairs: list[tuple[int, int]], value: float = 0.0) -> Any:
    """`x`, channels first, with elements added along its last dimensions."""
    if not any(map(any, pairs)):
        return x
    return wg.nn.functional.pad(x, [n for pair in reversed(pairs) for n in pair], value=value)


def is_channels_first(op: str, data_format) -> bool:
    """Whether a format has the channels right after the batch."""
    if data_format is None or data_format in ("NWC", "NHWC", "NDHWC"):
        return False
    if data_format in ("NCW", "NCHW", "NCDHW"):
        return True
    raise invalid(op, f"Value for attr 'data_format' of \"{data_format}\" is not known")


def extent_of(kernel: tuple[int, ...], dilations: tuple[int, ...]) -> tuple[int, ...]:
    """The size of windows whose elements are some way apart."""
    return tuple((k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True))


__all__ = defined(globals())
fill_sections(globals())
