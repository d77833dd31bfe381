"""Layer 9 · viz: line charts as SVG, for a loss curve without a plotting library."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from wengert.viz.curve_ticks import linear_ticks, log_ticks
from wengert.viz.saving import save
from wengert.viz.svg import counted
from wengert.viz.svg_style import DARK, LIGHT, SERIES_DARK, SERIES_LIGHT
from wengert.viz.svg_text import FONT, cut, escaped, number, text_width

_SIZE = 11.5
_HUGE = 1e300  # differences of larger values overflow
_DASHES = ("none", "6 3", "2 3")


def _numbers(values: Any, name: str) -> np.ndarray:
    """Convert a user's sequence of numbers to a one-dimensional array of floats."""
    if hasattr(values, "detach"):
        values = values.detach()
    try:
        if isinstance(values, list | tuple):
            values = [float(value) for value in values]
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"they have the dtype {array.dtype}")
    except (TypeError, ValueError) as error:
        raise TypeError(f"the values of {name} should be real numbers: {error}") from error
    if array.ndim != 1:
        raise ValueError(
            f"the values of {name} should have one dimension, but their shape is {array.shape}"
        )
    return array.astype(np.float64)


def _is_pair(values: Any) -> bool:
    return (
        isinstance(values, tuple)
        and len(values) == 2
        and all(np.ndim(getattr(one, "detach", lambda one=one: one)()) == 1 for one in values)
    )


def curve(
    series: Any,
    *,
    title: str = "",
    x: str = "",
    y: str = "",
    log: bool = False,
    log_x: bool = False,
    size: tuple[int, int] = (640, 380),
) -> Curve:
    """Draw values as lines over their indices, or over other values.

    Parameters
    ----------
    series: Numbers, drawn over 0, 1, 2, ...; or a pair of horizontal and vertical coordinates; or a
        mapping of names to either. The line has a gap where a value is NaN or infinite.
    title, x, y: The heading, and the labels of the axes.
    log: Whether the vertical axis is logarithmic. Values that are not positive then leave gaps.
    log_x: Whether the horizontal axis is logarithmic.
    size: Width and height.

    Returns
    -------
    Curve: A chart that shows itself in notebooks; its method `save` writes ``.svg`` or ``.png``.

    Raises
    ------
    TypeError, ValueError: If the values are not a one-dimensional sequence of real numbers, or the
        lengths of a pair differ.

    Examples
    --------
    >>> from wengert.viz.curve import curve
    >>> curve({"training": [2.3, 1.1, 0.6], "test": [2.4, 1.3, 0.9]}, title="Loss", x="epoch")
    Curve('Loss': 2 lines, 6 points)
    """
    given = series if isinstance(series, Mapping) else {"": series}
    lines = []
    for key, values in given.items():
        name = f"{key!r}" if key != "" else "the series"
        if _is_pair(values):
            along, up = _numbers(values[0], name), _numbers(values[1], name)
            if len(along) != len(up):
                raise ValueError(
                    f"the pair of {name} should have equal lengths, but they are {len(along)} and "
                    f"{len(up)}"
                )
        else:
            up = _numbers(values, name)
            along = np.arange(len(up), dtype=np.float64)
        lines.append((str(key), along, up))
    return Curve(lines, title, x, y, log, log_x, size)


class Curve:
    """A line chart; made by `curve`."""

    __slots__ = ("lines", "log", "log_x", "size", "title", "x", "y")

    def __init__(
        self,
        lines: list[tuple[str, np.ndarray, np.ndarray]],
        title: str,
        x: str,
        y: str,
        log: bool,
        log_x: bool,
        size: tuple[int, int],
    ):
        self.lines, self.title, self.x, self.y, self.size = lines, title, x, y, size
        self.log, self.log_x = log, log_x

    def svg(self, theme: str = "auto") -> str:
        """Return the chart as SVG, in a ``"light"`` or ``"dark"`` theme, or ``"auto"`` for both."""
        if theme not in ("auto", "light", "dark"):
            raise ValueError(f"theme should be 'auto', 'light' or 'dark', but got {theme!r}")
        return _drawn(self, theme)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the chart to a file, ``.svg`` or ``.png`` by its suffix.

        Returns
        -------
        Path: The file that was written: an SVG instead of a PNG, with a warning, where no converter
            is found.
        """
        return save(path, {".svg": self.svg}, lambda: self.svg("light"))

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        points = sum(len(up) for _, _, up in self.lines)
        return (
            f"Curve({self.title!r}: {counted(len(self.lines), 'line')}, {counted(points, 'point')})"
        )


def _shown(chart: Curve, up: np.ndarray, along: np.ndarray) -> np.ndarray:
    shown = (np.abs(up) < _HUGE) & (np.abs(along) < _HUGE)  # False for NaN
    if chart.log:
        shown &= up > 1 / _HUGE
    if chart.log_x:
        shown &= along > 1 / _HUGE
    return shown


def _span(parts: list[np.ndarray], log: bool) -> tuple[float, float]:
    values = np.concatenate([np.empty(0), *parts])
    if not values.size:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    if low == high:
        if log:
            return low / 2, high * 2
        room = abs(low) / 2 or 1.0
        return low - room, high + room
    return low, high


def _path(x: np.ndarray, y: np.ndarray, shown: np.ndarray, columns: int) -> tuple[str, str]:
    """Return a path with a gap wherever `shown` is False, and one of dots for isolated points."""
    lines, dots = [], []
    ends = np.flatnonzero(np.diff(np.concatenate(([0], shown.astype(np.int8), [0]))))
    for start, stop in ends.reshape(-1, 2):
        points = _thinned(x[start:stop], y[start:stop], columns)
        first, *others = [f"{number(px)} {number(py)}" for px, py in points]
        if others:
            lines.append(f"M{first}L{' '.join(others)}")
        else:
            dots.append(f"M{first}h0")
    return "".join(lines), "".join(dots)


def _thinned(x: np.ndarray, y: np.ndarray, columns: int) -> list[tuple[float, float]]:
    """Keep only the first, lowest, highest and last point of each column of pixels."""
    if len(x) > 4 * columns and np.all(np.diff(x) >= 0):
        keep: set[int] = set()
        column = np.floor(x).astype(np.int64)
        starts = np.concatenate(([0], np.flatnonzero(np.diff(column)) + 1, [len(x)]))
        for start, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            part = y[start:stop]
            keep |= {start, start + int(part.argmin()), start + int(part.argmax()), stop - 1}
        index = sorted(keep)
        x, y = x[index], y[index]
    return list(zip(x.tolist(), y.tolist(), strict=True))


def _rules(root: str, palette: dict[str, str], colours: tuple[str, ...]) -> str:
    rules = [
        f"{root} .paper {{ fill: {palette['paper']}; }}",
        f"{root} text {{ fill: {palette['quiet']}; font-size: {_SIZE}px; }}",
        f"{root} .heading {{ fill: {palette['ink']}; font-size: 16px; font-weight: 600; }}",
        f"{root} .grid {{ stroke: {palette['line']}; stroke-opacity: 0.28; }}",
        f"{root} .axis {{ stroke: {palette['line']}; }}",
        f"{root} .series {{ fill: none; stroke-width: 1.8; stroke-linejoin: round; "
        "stroke-linecap: round; }",
        f"{root} .dots {{ stroke-width: 6; }}",
    ]
    rules += [f"{root} .series{at} {{ stroke: {one}; }}" for at, one in enumerate(colours)]
    return "\n".join(rules)


@dataclass(slots=True)
class _Frame:
    """The rectangle that lines are drawn in, and the ranges of its axes.

    The ends of a logarithmic axis are logarithms.
    """

    left: float
    right: float
    top: float
    bottom: float
    start: float
    end: float
    floor: float
    ceiling: float

    def across(self, x: Any) -> Any:
        return self.left + (self.right - self.left) * (x - self.start) / (self.end - self.start)

    def upwards(self, y: Any) -> Any:
        share = (y - self.floor) / (self.ceiling - self.floor)
        return self.bottom - (self.bottom - self.top) * share


def _legend(chart: Curve, top: float) -> tuple[list[str], float]:
    """Draw the names of the lines in rows; return also the height at which they end."""
    names = [name for name, _, _ in chart.lines]
    if not any(names):
        return [], top
    parts, x = [], 24.0
    for at, name in enumerate(names):
        text = cut(name, 180, _SIZE)
        wide = 26 + 1.15 * text_width(text, _SIZE) + 18  # some systems have wider letters
        if x > 24 and x + wide > chart.size[0] - 24:
            x, top = 24.0, top + 18
        parts.append(
            f'<path class="series {_colour(at)}" stroke-dasharray="{_dash(at)}" '
            f'd="M{number(x)} {number(top - 4)}h18"/>'
            f'<text x="{number(x + 25)}" y="{number(top)}">{escaped(text)}</text>'
        )
        x += wide
    return parts, top + 20


def _axes(chart: Curve, shown: list[np.ndarray], top: float) -> tuple[list[str], _Frame]:
    """Draw the axes with round numbers, and return the frame of the lines."""
    width, height = chart.size
    low, high = _span(
        [up[keep] for (_, _, up), keep in zip(chart.lines, shown, strict=True)], chart.log
    )
    start, end = _span(
        [along[keep] for (_, along, _), keep in zip(chart.lines, shown, strict=True)], chart.log_x
    )
    if chart.log_x:
        ticks_across = [(math.log10(value), text) for value, text in log_ticks(start, end)]
        start, end = math.log10(start), math.log10(end)
    else:
        ticks_across = linear_ticks(start, end, 7)
    if chart.log:
        room = 0.04 * (math.log10(high) - math.log10(low))
        floor, ceiling = math.log10(low) - room, math.log10(high) + room
        ticks = [(math.log10(value), text) for value, text in log_ticks(10**floor, 10**ceiling)]
    else:
        room = 0.04 * (high - low)
        near_nought = 0 <= low < 0.1 * high  # then the line of 0 belongs in the chart
        floor, ceiling = (0.0 if near_nought else low - room), high + room
        ticks = linear_ticks(floor, ceiling, 6)
    left = 32.0 + max((text_width(text, _SIZE) for _, text in ticks), default=0.0)
    bottom = height - (48.0 if chart.x else 32.0)
    frame = _Frame(left, width - 24.0, top, bottom, start, end, floor, ceiling)
    parts = []
    for value, text in ticks:
        y = frame.upwards(value)
        parts.append(
            f'<path class="grid" d="M{number(left)} {number(y)}H{number(frame.right)}"/>'
            f'<text x="{number(left - 8)}" y="{number(y + 4)}" text-anchor="end">{text}</text>'
        )
    for value, text in ticks_across:
        x = number(frame.across(value))
        parts.append(
            f'<path class="axis" d="M{x} {number(bottom)}v4"/>'
            f'<text x="{x}" y="{number(bottom + 18)}" text-anchor="middle">{text}</text>'
        )
    parts.append(f'<path class="axis" d="M{number(left)} {number(bottom)}H{number(frame.right)}"/>')
    if chart.x:
        middle, text = number((left + frame.right) / 2), escaped(cut(chart.x, 400, _SIZE))
        parts.append(f'<text x="{middle}" y="{height - 12}" text-anchor="middle">{text}</text>')
    return parts, frame


def _drawn(chart: Curve, theme: str) -> str:
    width, height = chart.size
    parts = []
    top = 28.0
    if chart.title:
        heading = escaped(cut(chart.title, width - 48, 16, bold=True))
        parts.append(f'<text class="heading" x="24" y="38">{heading}</text>')
        top = 62.0
    shown = [_shown(chart, up, along) for _, along, up in chart.lines]
    legend, top = _legend(chart, top)
    if chart.y:
        legend.append(f'<text x="24" y="{number(top)}">{escaped(cut(chart.y, 400, _SIZE))}</text>')
        top += 14
    axes, frame = _axes(chart, shown, top)
    parts += [*legend, *axes]
    for at, ((_, along, up), keep) in enumerate(zip(chart.lines, shown, strict=True)):
        along, up = np.where(keep, along, 1.0), np.where(keep, up, 1.0)
        values = np.log10(up) if chart.log else up
        along = np.log10(along) if chart.log_x else along
        line, dots = _path(
            frame.across(along), frame.upwards(values), keep, int(frame.right - frame.left)
        )
        if line:
            parts.append(
                f'<path class="series {_colour(at)}" stroke-dasharray="{_dash(at)}" d="{line}"/>'
            )
        if dots:
            parts.append(f'<path class="series dots {_colour(at)}" d="{dots}"/>')
    body = "\n".join(parts)
    name = "wengert-" + sha256(body.encode("utf-8", "replace")).hexdigest()[:10]
    root = f"#{name}"
    rules = _rules(root, *((DARK, SERIES_DARK) if theme == "dark" else (LIGHT, SERIES_LIGHT)))
    if theme == "auto":
        dark = _rules(root, DARK, SERIES_DARK)
        rules += f"\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="wengert-curve" id="{name}" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc" font-family="{FONT}">\n'
        f'<title id="{name}-title">{escaped(chart.title or "Line chart")}</title>\n'
        f'<desc id="{name}-desc">{escaped(_described(chart, shown))}</desc>\n'
        f"<style>\n{rules}\n</style>\n"
        f'<rect class="paper" width="{width}" height="{height}" rx="8"/>\n{body}\n</svg>\n'
    )


def _colour(at: int) -> str:
    return f"series{at % len(SERIES_LIGHT)}"


def _dash(at: int) -> str:
    return _DASHES[at // len(SERIES_LIGHT) % len(_DASHES)]


def _described(chart: Curve, shown: list[np.ndarray]) -> str:
    """Describe the lines in words."""
    words = []
    for (name, along, up), keep in zip(chart.lines, shown, strict=True):
        subject = name or chart.y or "The line"
        if not keep.any():
            words.append(f"{subject}: no values to draw.")
            continue
        x, y = along[keep], up[keep]
        words.append(
            f"{subject}: from {y[0]:.4g} at {x[0]:.4g} to {y[-1]:.4g} at {x[-1]:.4g}, "
            f"lowest {y.min():.4g}, highest {y.max():.4g}."
        )
    return " ".join([f"A chart of {counted(len(chart.lines), 'line')}.", *words])
