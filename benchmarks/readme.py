"""Write the table of figures in README.md: ``python benchmarks/readme.py README.md``.

Each row comes from another benchmark, run in a process of its own: times as multiples of PyTorch's
in the same run, the best one bold. What the table says in words stays as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from _measure import COMPILED, OURS, arguments

# isort: split
from _page import found_by

START, END = "<!-- figures: written by benchmarks/readme.py -->", "<!-- end of the figures -->"
COLUMNS = (OURS, COMPILED, "torch", "autograd", "mygrad")
JIT, EAGER = "jax (jit)", "jax (eager)"

# the beginning of a row, the benchmark, its case and phase, and which of JAX's columns
ROWS = (
    ("\N{MIDDLE DOT} numbers", "overhead", "product () float32", "both", EAGER),
    ("\N{MIDDLE DOT} 8 elements", "overhead", "product (8,) float32", "both", EAGER),
    ("\N{MIDDLE DOT} 1,000 elements", "overhead", "product (1000,) float32", "both", EAGER),
    ("\N{MIDDLE DOT} 8 elements", "overhead", "sin, mul, add (8,) float64", "both", EAGER),
    ("\N{MIDDLE DOT} 1,000 elements", "overhead", "sin, mul, add (1000,) float64", "both", EAGER),
    ("a chain of sin", "chain --size=1000000", "sin, mul, add (1,000,000)", "both", EAGER),
    ("an LSTM cell", "lstm", "batch 1, 100 steps, hidden size 64", "both", None),
    ("\N{MIDDLE DOT} 2 layers", "train", "2 layers, 64x1000x100x10", "step", JIT),
    ("\N{MIDDLE DOT} 11 layers", "train", "11 layers, 64x100x...x100x10", "step", JIT),
    ("import", "startup", "import, over NumPy's", "ms", "jax"),
    ("installed", "startup", "size on disk", "MB", "jax"),
)


@cache
def table_of(words: str, switches: tuple[str, ...]) -> dict[tuple[str, str], dict[str, float]]:
    """The medians of a benchmark by case, phase and contestant."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for made in found_by(words, switches):
        for row in made["rows"]:
            times = {name: of["median"] for name, of in row["contestants"].items()}
            found[row["case"], row["phase"]] = times
    return found


def cells(times: dict[str, float], jax: str | None, plain: bool) -> list[str]:
    """A row's figures: multiples of PyTorch's, or plain ones, the smallest bold."""
    names = [*COLUMNS, *([jax] if jax else [])]
    base = 1.0 if plain else times["torch"]
    values = {name: times[name] / base for name in names if name in times}
    best = min(values, key=lambda name: values[name])
    shown = {}
    for name, value in values.items():
        text = f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 2 else f"{value:.2f}"
        text = "1" if name == "torch" and not plain else text
        shown[name] = f"**{text}**" if name == best else text
    found = [shown.get(name, "\N{EN DASH}") for name in names]
    return found if jax else [*found, "\N{EN DASH}"]


def written(text: str, switches: Sequence[str]) -> str:
    """The page with its rows measured again, in their order."""
    before, _, rest = text.partition(START)
    old, _, after = rest.partition(END)
    lines = old.splitlines()
    place = 0
    for begin, words, case, phase, jax in ROWS:
        while not lines[place].startswith(f"| {begin}"):
            place += 1
        times = table_of(words, tuple(switches))[case, phase]
        figures = cells(times, jax, plain=words == "startup")
        lines[place] = " | ".join(["| " + lines[place].split("|")[1].strip(), *figures]) + " |"
        place += 1
    return before + START + "\n".join(lines) + "\n" + END + after


def options_of(parser: Any) -> None:
    parser.add_argument("page", help="the page to write into")


def main() -> None:
    options = arguments(__doc__, options_of)
    page = Path(options.page)
    text = page.read_text(encoding="utf-8")
    if START not in text or END not in text:
        sys.exit(f"{page} has not the marks {START!r} and {END!r}")
    page.write_text(written(text, options.switches), encoding="utf-8")


if __name__ == "__main__":
    main()
