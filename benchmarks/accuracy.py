"""The accuracy of elementary and special functions, and of their gradients, beside mpmath.

``python benchmarks/accuracy.py`` prints, for each function, the greatest error in units in the last
place over regions of arguments, and writes `docs/accuracy.md` with ``--write``. Where PyTorch is
installed its errors stand beside. ``--only gamma`` takes some functions, ``--regions`` shows each
region with the argument at which the error is greatest.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import _exact
import mpmath
import numpy as np
from mpmath import mp

import wengert as wg

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
PAGE = Path(__file__).parents[1] / "docs" / "accuracy.md"
TOLERABLE = 8.0
# arrays of this size take the kernels of large arrays; parts of this size those of small ones
MANY, FEW = 8192, 8


class Worst(NamedTuple):
    """The greatest error of a result in a region, and where it is."""

    error: float
    at: str


def spacing(exact: Any, info: Any) -> Any:
    """The distance of neighbouring numbers of a dtype, at an exact value."""
    _, exponent = mp.frexp(abs(exact))
    least = mp.mpf(float(info.smallest_subnormal))
    return max(mp.ldexp(1, int(exponent) - info.nmant - 1), least) if exact else least


def error(got: Any, exact: Any, info: Any) -> float:
    """The distance in units in the last place; infinities stand for what is beyond all numbers."""
    if isinstance(exact, mpmath.mpc):
        size = max(abs(exact.real), abs(exact.imag))
        parts = [(got.real, exact.real), (got.imag, exact.imag)]
    else:
        size, parts = abs(exact), [(got, exact)]
    largest = mp.mpf(float(info.max))
    if mp.isnan(size):
        return 0.0 if got != got else math.inf
    unit = spacing(min(size, largest), info)
    most = 0.0
    for g, e in parts:
        if g != g:
            return math.inf
        # an infinity is the number after the largest
        g = mp.mpf(float(g)) if abs(g) != math.inf else mp.sign(g) * (largest + unit)
        if abs(e) >= largest + unit / 2:
            e = mp.sign(e) * (largest + unit)
        most = max(most, float(abs(g - e) / unit))
    return most


def arguments(case: _exact.Case, region: tuple[Any, ...], dtype: np.dtype[Any]) -> list[np.ndarray]:
    """The arguments of a region, rounded to the dtype."""
    rng = np.random.default_rng(17)
    info = np.finfo(dtype)
    drawn = [make(rng, info) for make in region]
    size = min(map(len, drawn))
    wide = np.result_type(dtype, np.complex64) if case.is_complex else dtype
    return [array[:size].astype(wide) for array in drawn]


def references(case: _exact.Case, args: list[np.ndarray]) -> tuple[list[Any], list[list[Any]]]:
    """The exact values at the arguments, and the derivatives with respect to the last."""
    values: list[Any] = []
    slopes: list[list[Any]] = [[] for _ in case.slopes]
    for row in zip(*args, strict=True):
        if case.is_complex:
            exact = [mp.mpc(float(z.real), float(z.imag)) for z in row]
        else:
            exact = [mp.mpf(float(x)) for x in row]
        values.append(_tried(case.exact, *exact))
        for i, slope in enumerate(case.slopes):
            at = len(exact) - len(case.slopes) + i
            if slope is None:
                made = _tried(_exact.derivative, case.exact, at, tuple(exact))
            else:
                made = _tried(slope, *exact)
            slopes[i].append(mp.conj(made) if case.is_complex else made)
    return values, slopes


def _tried(function: Any, *args: Any) -> Any:
    try:
        return mp.mpc(made) if isinstance(made := function(*args), mpmath.mpc) else mp.mpf(made)
    except (ValueError, ZeroDivisionError, OverflowError, mpmath.libmp.NoConvergence):
        return None


def results(m: Any, case: _exact.Case, args: list[np.ndarray]) -> list[list[np.ndarray]]:
    """Values and gradients as a library computes them: of one large array, and of small ones."""
    size = len(args[0])
    found = []
    for parts in ([slice(None)], [slice(i, i + FEW) for i in range(0, size, FEW)]):
        made: list[list[np.ndarray]] = [[] for _ in range(1 + len(case.slopes))]
        for part in parts:
            chosen = [array[part] for array in args]
            if len(parts) == 1:
                chosen = [np.resize(array, MANY) for array in chosen]
            tensors = [m.tensor(array) for array in chosen]
            inputs = tensors[len(tensors) - len(case.slopes) :]
            for tensor in inputs:
                tensor.requires_grad_(True)
            try:
                value = case.call(m, *tensors)
            except (NotImplementedError, AttributeError, RuntimeError, TypeError):
                return []
            made[0].append(value.detach().numpy())
            try:
                grads = m.autograd.grad(value, inputs, m.ones_like(value))
            except (NotImplementedError, RuntimeError):
                grads = [None] * len(inputs)
            for row, grad in zip(made[1:], grads, strict=True):
                row.append(np.empty(0) if grad is None else grad.numpy())
        found.append([np.concatenate(row)[:size] for row in made])
    return found


def measured(
    m: Any, case: _exact.Case, args: list[np.ndarray], exact: list[list[Any]]
) -> list[Any]:
    """The worst error of the value and of each gradient."""
    info = np.finfo(args[0].dtype)
    worst: list[Any] = [None] * len(exact)
    for found in results(m, case, args):
        for i, (row, wanted) in enumerate(zip(found, exact, strict=True)):
            for j, (got, want) in enumerate(zip(row, wanted, strict=False)):
                if want is None:
                    continue
                off = error(got, want, info)
                if worst[i] is None or not off <= worst[i].error:
                    at = ", ".join(f"{array[j]!s}" for array in args)
                    worst[i] = Worst(off, at)
    return worst


def table(libraries: dict[str, Any], chosen: list[_exact.Case]) -> dict[Any, Any]:
    """For each function, dtype, region and part (value, gradients): each library's worst error."""
    found = {}
    for case in chosen:
        for dtype in (SINGLE, DOUBLE):
            for label, region in case.regions.items():
                args = arguments(case, region, dtype)
                values, slopes = references(case, args)
                exact = [values, *slopes]
                rows = [measured(m, case, args, exact) for m in libraries.values()]
                for part, row in enumerate(zip(*rows, strict=True)):
                    found[case.name, case.is_complex, dtype, label, part] = row
        if len(chosen) > 1:
            print(end=".", file=sys.stderr, flush=True)
    return found


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    if value == math.inf:
        return "∞"
    return f"{value:.1f}" if value < 100 else f"{value:.0f}" if value < 1e4 else f"{value:.0e}"


def _most(rows: list[Any], library: int) -> float | None:
    errors = [row[library].error for row in rows if row[library] is not None]
    return max(errors) if errors else None


def titled(name: str, is_complex: bool) -> str:
    """A function as the table names it."""
    return f"`{name}`" + (", complex" if is_complex else "")


def summary(found: dict[Any, Any], names: list[str]) -> list[str]:
    """The lines of the table: the greatest error over all regions, and both gradients."""
    heads = ["value, float32", "gradient, float32", "value, float64", "gradient, float64"]
    lines = ["| | " + " | ".join(heads) + " |", "|---" * (1 + len(heads)) + "|"]
    for name, is_complex in dict.fromkeys((key[0], key[1]) for key in found):
        cells = []
        for dtype in (SINGLE, DOUBLE):
            for gradient in (False, True):
                rows = [
                    row
                    for key, row in found.items()
                    if key[:3] == (name, is_complex, dtype) and (key[4] > 0) == gradient
                ]
                cells.append(" · ".join(_shown(_most(rows, k)) for k in range(len(names))))
        lines.append(f"| {titled(name, is_complex)} | " + " | ".join(cells) + " |")
    return lines


def behind(found: dict[Any, Any]) -> list[str]:
    """Where an error is above what is tolerable, and PyTorch's is not."""
    lines = []
    for (name, is_complex, dtype, label, part), row in found.items():
        ours, theirs = row[0], row[-1]
        if ours and theirs and not ours.error <= TOLERABLE and theirs.error <= TOLERABLE:
            kind = "complex " if is_complex else ""
            what = "value" if part == 0 else f"gradient {part}"
            lines.append(
                f"{name} ({kind}{dtype}, {label}), {what}: {_shown(ours.error)} at {ours.at}; "
                f"PyTorch {_shown(theirs.error)}"
            )
    return lines


def main() -> None:
    """Measure, print, and write the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a part of the functions' names")
    parser.add_argument("--regions", action="store_true", help="each region, with the argument")
    parser.add_argument("--write", action="store_true", help="write docs/accuracy.md")
    options = parser.parse_args()
    libraries: dict[str, Any] = {"wengert": wg}
    try:
        libraries["PyTorch"] = importlib.import_module("torch")
    except ImportError:
        print("PyTorch is not installed", file=sys.stderr)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    found = table(libraries, list(_exact.found(options.only)))
    if options.regions:
        for (name, is_complex, dtype, label, part), row in found.items():
            shown = [f"{_shown(w.error)} ({w.at})" if w else "-" for w in row]
            kind = "complex " if is_complex else ""
            print(f"{name:24} {kind}{dtype} {label:14} {part}", *shown, sep="  ")
    lines = summary(found, list(libraries))
    print("", *lines, "", *behind(found), sep="\n")
    if options.write:
        before, _, _ = PAGE.read_text().partition("| |")
        PAGE.write_text(before + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
