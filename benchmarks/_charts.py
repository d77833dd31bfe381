"""Bars as SVG, light or dark as the reader's system asks, legible on a phone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from _builds import BUILDS
from _measure import OURS

__all__ = ["bars", "stacks"]

_STYLE = BUILDS[OURS].load("wengert.viz.svg_style")
_WIDTH, _NAMES, _BAR = 420, 132, 16
_PLACE = _WIDTH - _NAMES - 84
"""How wide the longest bar is."""


def bars(
    path: Path,
    title: str,
    groups: Mapping[str, Mapping[str, float]],
    most: float | None = None,
    unit: str = "",
) -> None:
    """Draw a bar for each series of each group; those longer than `most` are cut, and say so."""
    series = list(dict.fromkeys(name for group in groups.values() for name in group))
    longest = max(value for group in groups.values() for value in group.values())
    most = min(longest, most or longest)
    lone = len(groups) == 1
    parts: list[str] = []
    y = _head(parts, title, [] if lone else series)
    for name, group in groups.items():
        if not lone:
            parts.append(f'<text class="group" x="16" y="{y + 12}">{escape(name)}</text>')
            y += 18
        for which, value in group.items():
            width = _PLACE * min(value, most) / most
            kind = series.index(which) if not lone else 0 if which.startswith("wengert") else 5
            shown = _shown(value) + unit + (" (cut)" if value > most else "")
            label = f'<text x="{_NAMES - 8}" y="{y + 12}" text-anchor="end">{escape(which)}</text>'
            parts += [
                label,
                f'<rect class="s{kind}" x="{_NAMES}" y="{y}" width="{max(width, 1):.1f}" '
                f'height="{_BAR - 2}" rx="2"/>',
                f'<text x="{_NAMES + max(width, 1) + 5:.1f}" y="{y + 12}">{shown}</text>',
            ]
            y += _BAR + 2
        y += 8
    _save(path, title, parts, y)


def stacks(path: Path, title: str, rows: Mapping[str, Mapping[str, float]], unit: str) -> None:
    """Draw a bar for each row, made of parts in the colours of their names."""
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    longest = max(sum(row.values()) for row in rows.values())
    parts: list[str] = []
    y = _head(parts, title, names)
    for which, row in rows.items():
        parts.append(f'<text class="group" x="16" y="{y + 12}">{escape(which)}</text>')
        y += 18
        x = 16.0
        for name, value in row.items():
            width = (_WIDTH - 90) * value / longest
            if width > 0:
                parts.append(
                    f'<rect class="s{names.index(name)}" x="{x:.1f}" y="{y}" width="{width:.1f}" '
                    f'height="{_BAR}"><title>{escape(name)}: {_shown(value)}{unit}</title></rect>'
                )
            x += width
        total = _shown(sum(row.values()))
        parts.append(f'<text x="{x + 5:.1f}" y="{y + 13}">{total}{unit}</text>')
        y += _BAR + 12
    _save(path, title, parts, y)


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _head(parts: list[str], title: str, series: Sequence[str]) -> int:
    parts.append(f'<text class="heading" x="16" y="26">{escape(title)}</text>')
    x, y = 16, 46
    for place, name in enumerate(series):
        wide = 28 + 8 * len(name)
        if x > 16 and x + wide > _WIDTH:
            x, y = 16, y + 18
        parts += [
            f'<rect class="s{place}" x="{x}" y="{y - 9}" width="12" height="10" rx="2"/>',
            f'<text x="{x + 17}" y="{y}">{escape(name)}</text>',
        ]
        x += wide
    return y + 14 if series else 40


def _rules(palette: Mapping[str, str], colours: Sequence[str]) -> str:
    lines = [
        f"text {{ font: 12px sans-serif; fill: {palette['quiet']}; }}",
        f".group {{ font-weight: 600; fill: {palette['ink']}; }}",
        f".heading {{ font-size: 14px; font-weight: 600; fill: {palette['ink']}; }}",
        f".paper {{ fill: {palette['paper']}; }}",
        *(f".s{i} {{ fill: {colour}; }}" for i, colour in enumerate(colours)),
        f".s{len(colours)} {{ fill: {palette['line']}; }}",
    ]
    return "\n".join(lines)


def _save(path: Path, title: str, parts: Sequence[str], height: float) -> None:
    light = _rules(_STYLE.LIGHT, _STYLE.SERIES_LIGHT)
    dark = _rules(_STYLE.DARK, _STYLE.SERIES_DARK)
    name = "chart-" + re.sub(r"\W+", "-", path.stem)
    style = f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}"
    style = re.sub(r"^(?=[.t])", f"#{name} ", style, flags=re.MULTILINE)
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" id="{name}" {size} role="img">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}\n</style>\n"
        f'<rect class="paper" width="{_WIDTH}" height="{height}" rx="8"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n",
        encoding="utf-8",
    )
