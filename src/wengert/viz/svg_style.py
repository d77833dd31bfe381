"""Layer 9 · viz: colours and styles of pictures, in a light and a dark theme."""

from __future__ import annotations

# in the order of the legend
BOX_WORDS = {
    "leaf": "leaf",
    "operation": "operation",
    "value": "intermediate value",
    "saved": "saved value",
    "result": "result",
    "group": "several, drawn as one",
}
ARROW_WORDS = {"saved": "kept for the backward pass", "view": "shares memory with"}

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1c2530",
    "quiet": "#5b6775",
    "line": "#8592a0",
    "leaf": "#e2eefc #4a84c4",
    "operation": "#f5f7f9 #a4afbb",
    "value": "#ffffff #bcc5cf",
    "saved": "#fdf2da #c48f2f",
    "result": "#e0f3e3 #45945a",
    "group": "#eee9fa #8670c6",
}
DARK = {
    "paper": "#14181d",
    "ink": "#e7ebf0",
    "quiet": "#9aa7b4",
    "line": "#71808f",
    "leaf": "#17304c #5c9adf",
    "operation": "#232a32 #5e6b78",
    "value": "#1a2027 #4b5763",
    "saved": "#392d13 #c7953e",
    "result": "#16381f #56a968",
    "group": "#2b2547 #937ed6",
}
# lines of a chart: blue, orange, green, purple, red, teal; distinct for the colour-blind, too
SERIES_LIGHT = ("#2f6fb7", "#d9822b", "#3c9a5f", "#7b5fc0", "#c8453f", "#2a9aa3")
SERIES_DARK = ("#6aa9ee", "#e9a254", "#63c087", "#a48ce6", "#e8736d", "#56c0c9")


def _shapes(root: str) -> str:
    """Return the styles that do not depend on the colour scheme."""
    return f"""
{root} .line {{ fill: none; stroke-width: 1.3; }}
{root} .arrow.saved .line {{ stroke-dasharray: 5 3; }}
{root} .arrow.view .line {{ stroke-dasharray: 1.5 3; }}
{root} .form {{ stroke-width: 1.2; }}
{root} .box.result .form {{ stroke-width: 1.8; }}
{root} .box.saved .form {{ stroke-dasharray: 4 2.5; }}
{root} text {{ font-size: 11.5px; }}
{root} .heading {{ font-size: 16px; font-weight: 600; }}
{root} .head {{ font-size: 13px; font-weight: 600; }}
{root} .label text, {root} .count text {{ font-size: 11px; }}
{root} .box text, {root} .label text {{ text-anchor: middle; }}
"""


def _colours(root: str, palette: dict[str, str]) -> str:
    rules = [
        f"{root} .paper {{ fill: {palette['paper']}; }}",
        f"{root} .label rect {{ fill: {palette['paper']}; fill-opacity: 0.92; }}",
        f"{root} text {{ fill: {palette['ink']}; }}",
        f"{root} .minor, {root} .label text {{ fill: {palette['quiet']}; }}",
        f"{root} .line {{ stroke: {palette['line']}; }}",
        f"{root} .tip {{ fill: {palette['line']}; }}",
        f"{root} .count rect {{ fill: {palette['quiet']}; }}",
        f"{root} .count text {{ fill: {palette['paper']}; }}",
    ]
    for kind in BOX_WORDS:
        fill, stroke = palette[kind].split()
        rules.append(f"{root} .box.{kind} .form {{ fill: {fill}; stroke: {stroke}; }}")
    return "\n".join(rules)


def both_rules(root: str, theme: str = "auto", switch: bool = False) -> str:
    """Return the style sheet of a picture whose outermost element matches `root`.

    Parameters
    ----------
    theme: ``"light"``, ``"dark"``, or ``"auto"`` for the preference of the reader's system.
    switch: Whether an attribute ``data-theme`` of the document overrides the theme.
    """
    if theme == "dark":
        return _shapes(root) + _colours(root, DARK)
    rules = _shapes(root) + _colours(root, LIGHT)
    if theme == "auto":
        dark = f':root:not([data-theme="light"]) {root}' if switch else root
        rules += f"\n@media (prefers-color-scheme: dark) {{\n{_colours(dark, DARK)}\n}}"
        if switch:
            rules += "\n" + _colours(f':root[data-theme="dark"] {root}', DARK)
    return rules
