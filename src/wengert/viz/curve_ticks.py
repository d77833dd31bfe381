"""Layer 9 · viz: round numbers along an axis."""

from __future__ import annotations

import math

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def linear_ticks(low: float, high: float, about: int = 5) -> list[tuple[float, str]]:
    """Return round numbers from `low` to `high` and how to write them.

    Examples
    --------
    >>> [text for _, text in linear_ticks(0.0, 0.93)]
    ['0.0', '0.2', '0.4', '0.6', '0.8']
    """
    if high <= low:
        return [(low, f"{low:g}")]
    rough = (high - low) / about
    power = math.floor(math.log10(rough))
    step = next(
        (one * 10.0**power for one in (1, 2, 2.5, 5) if one * 10.0**power >= 0.999 * rough),
        10.0 ** (power + 1),
    )
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [number * step for number in range(first, last + 1)]
    decimals = max(0, -math.floor(math.log10(step)) + (step / 10.0**power == 2.5))
    largest = max(abs(low), abs(high))
    if largest >= 1e6 or decimals > 6:
        digits = max(1, math.ceil(math.log10(largest / step)) + 1)
        texts = [f"{value:.{digits}g}" for value in values]
    else:
        texts = [f"{value:.{decimals}f}" for value in values]
    # a minus sign as wide as a digit, and none before zero
    plain = [text if float(text) else text.lstrip("-") for text in texts]
    return [
        (value, text.replace("-", "\N{MINUS SIGN}"))
        for value, text in zip(values, plain, strict=True)
    ]


def log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return powers of ten from `low` to `high`, with 2 and 5 times these where they are few.

    Examples
    --------
    >>> [text for _, text in log_ticks(1e-6, 1e-4)]
    ['10⁻⁶', '10⁻⁵', '0.0001']
    """
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    every = max(1, round((last - first) / 6))
    values: list[float] = []
    for factors in ((1,), (1, 2, 5)):
        if len(values) < 3:
            every_power = range(first, last + 1, every)
            several = [factor * 10.0**power for power in every_power for factor in factors]
            values = [value for value in several if 0.9999 * low <= value <= 1.0001 * high]
    if len(values) < 2 and high > 1.0001 * low:
        return [tick for tick in linear_ticks(low, high) if tick[0] > 0]
    return [(value, _power(value)) for value in values]


def _power(value: float) -> str:
    power = math.floor(math.log10(value) + 1e-9)
    factor = round(value / 10.0**power)
    if -4 <= power <= 4:
        return f"{value:.{max(0, -power)}f}"
    raised = f"10{str(power).translate(_RAISED)}"
    return raised if factor == 1 else f"{factor}·{raised}"
