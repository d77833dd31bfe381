"""Where the time goes: one operation by its parts, and beside every library that is installed.

Chains of products and of matrix products, from numbers to 100,000 elements: forwards alone,
forward, backward, and second derivatives. ``--page docs/performance.md`` writes the figures of that
page, with those of the other benchmarks, and its plot; ``--plot FILE`` the plot alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from _measure import OURS, Row, arguments, as_object, clock, measure, report, rows

# isort: split
import numpy as np
from _builds import BUILDS
from _charts import bars
from _costs import costs
from _page import TITLES, Page, found_by, parts_table
from _parts import KERNELS, Account, accounts_of, operands
from _styles import Passes, passes_of

curve = BUILDS[OURS].load("wengert.viz.curve").curve

SIZES = {
    "product": ((), (8,), (1000,), (100_000,)),
    "matmul": ((3, 3), (32, 32), (316, 316)),
}
UNIT = "\N{MICRO SIGN}s per operation"
DTYPES = (np.float32, np.float64)
PLOTTED = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
LARGE = 10_000
"""From so many elements on chains are shorter, and measured in fewer rounds."""
ROUND = 2e-3
"""Seconds that a contestant runs for before the next has its turn, at least."""


def length_of(size: int) -> int:
    """How many operations a chain has; the largest still fits into memory many times."""
    return 50 if size < LARGE else 20 if size < 10 * LARGE else 10


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--page", metavar="FILE", help="put the figures into this page")
    parser.add_argument("--plot", metavar="FILE", help="save the plot, .svg or .png")
    parser.add_argument(
        "--programs",
        default="lstm,train,networks",
        metavar="NAMES",
        help="benchmarks, with switches, whose figures the page has, too",
    )
    parser.add_argument(
        "--largest", type=int, default=PLOTTED[-1], metavar="N", help="no arrays of more elements"
    )


def chain_of(kernel: str, ops: int) -> Callable[..., Any]:
    operation = KERNELS[kernel].forward

    def chain(F: Any, x: Any, w: Any) -> Any:
        y = x
        for _ in range(ops):
            y = operation(y, w)
        return y

    return chain


def contestant(passes: Passes, ops: int) -> Callable[[], Mapping[str, float]]:
    """Seconds per operation: forward without and with recording, backward, both, double."""

    def timed(call: Callable[[], Any], repeats: int) -> float:
        start = clock()
        for _ in range(repeats):
            call()
        return (clock() - start) / repeats

    def often(call: Callable[[], Any]) -> int:
        call()
        return max(1, int(ROUND / max(timed(call, 1), 1e-9)))

    step, alone, double, is_split = passes
    repeats = [often(call) if call is not None else 0 for call in (step, alone, double)]

    def run() -> dict[str, float]:
        found = {}
        alone()
        found["alone"] = timed(alone, repeats[1]) / ops
        if step is not None:
            step()
            pairs = [step()[:2] for _ in range(repeats[0])]
            there, back = (sum(of) / repeats[0] / ops for of in zip(*pairs, strict=True))
            if is_split:
                found["recorded"], found["backward"] = there, back
            found["both"] = there + back
        if double is not None:
            double()
            found["double"] = timed(double, repeats[2]) / ops
        return found

    return run


def libraries(shape: tuple[int, ...], kernel: str, dtype: Any, options: Any) -> list[Row]:
    """The rows of one chain, of all libraries."""
    x, w, g = operands(kernel, shape, dtype)
    size = np.size(x)
    ops = length_of(size)
    case = f"{kernel} {shape} {np.dtype(dtype)}"
    # candle's tensors have no operator @
    without = () if kernel == "product" else ("candle",)
    found = passes_of(case, chain_of(kernel, ops), [x, w], g, peers=options.peers, without=without)
    runs = {name: contestant(passes, ops) for name, passes in found.items()}
    rounds = options.rounds if size < LARGE else max(1, options.rounds // 3)
    return rows(case, measure(runs, rounds))


def accounts(options: Any) -> list[Account]:
    """Of each kernel, dtype and size, by build."""
    found = []
    for kernel, shapes in SIZES.items():
        for dtype in DTYPES:
            for shape in shapes:
                size = int(np.prod(shape))
                if size <= options.largest:
                    rounds = 3 * options.rounds if size < LARGE else max(1, options.rounds // 3)
                    repeats = 3 if size < LARGE else 1
                    found += accounts_of(kernel, shape, dtype, length_of(size), repeats, rounds)
    return found


def plot_of(options: Any) -> Any:
    """The chart of a product, forward and backward, over the size."""
    series: dict[str, tuple[list[float], list[float]]] = {}
    for size in PLOTTED:
        if size > options.largest:
            continue
        shape = () if size == 1 else (size,)
        row = next(r for r in libraries(shape, "product", np.float64, options) if r.phase == "both")
        for name, times in row.times.items():
            along, up = series.setdefault(TITLES[name], ([], []))
            along.append(size)
            up.append(1e6 * statistics.median(times))
    return curve(
        series,
        title="A product, forward and backward",
        x="elements (float64)",
        y=UNIT,
        log=True,
        log_x=True,
        size=(480, 400),
    )


def own_charts(folder: Path, options: Any) -> None:
    """The charts of other pages: what directions cost, and first calls of compiled functions."""
    cost, calls = found_by("directions", options.switches)
    times = {row["case"]: row["contestants"][OURS]["median"] for row in cost["rows"]}
    alone = times["the function"]
    bars(
        folder / "directions.svg",
        "Cost of a derivative; the function = 1",
        {"": {name: value / alone for name, value in times.items()}},
        most=40,
    )
    series: dict[str, tuple[list[float], list[float]]] = {}
    for row in calls["rows"]:
        for name, found in row["contestants"].items():
            along, up = series.setdefault(TITLES[name] if name != OURS else "compiled", ([], []))
            along.append(int(row["phase"]))
            up.append(found["median"])
    curve(
        series,
        title="A training step, call by call",
        x="call",
        y="ms",
        log=True,
        size=(420, 320),
    ).save(folder / "compile.svg")


def main() -> None:
    options = arguments(__doc__, options_of)
    page = Page(Path(options.page)) if options.page else None
    if options.plot and page is None:
        print(f"saved {plot_of(options).save(options.plot)}")
        return
    parts = accounts(options)
    lines = [
        row
        for kernel, shapes in SIZES.items()
        for dtype in DTYPES
        for shape in shapes
        if np.prod(shape) <= options.largest
        for row in libraries(shape, kernel, dtype, options)
    ]
    small = costs(options.rounds, options.peers)
    title = "One operation beside other libraries"
    if page is not None:
        chart = plot_of(options).save(options.plot or page.path.with_suffix(".svg"))
        page.write(lines, parts, small, chart, options)
        own_charts(page.path.parent / "charts", options)
    elif options.json:
        found = as_object(title, UNIT, 1e6, lines)
        found["parts"] = [account._asdict() for account in parts]
        found["costs"] = as_object("What costs what", "\N{MICRO SIGN}s", 1e6, small)
        print(json.dumps(found, indent=2))
    else:
        print(parts_table(parts))
        report(title, UNIT, 1e6, lines, False)
        report("What costs what", "\N{MICRO SIGN}s", 1e6, small, False)


if __name__ == "__main__":
    main()
