"""Functions of other libraries on arrays of `wengert.numpy`: values, and gradients by differences.

    SCIPY_ARRAY_API=1 PYTHONPATH=src:tests/lib python -m support.array_libraries [WORD ...]
    SCIPY_ARRAY_API=1 PYTHONPATH=src:tests/lib python -m support.array_libraries --page

Each call is evaluated on NumPy's arrays and on ours; what it gives must agree, and the gradient of
its weighted sum with central differences of NumPy's. What has no derivative must only agree, and
what SciPy converts must raise and say what to write. All that SciPy's table of the standard lists
must be among the calls. Libraries that are not installed are left out. ``--page`` prints
``docs/arrays-functions.md``.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import warnings
from typing import Any

import numpy

import wengert as wg
import wengert.numpy as ours
from support.array_calls import CALLS, CONSTANT, CONVERTED, OMITTED


def calls(texts: str = CALLS) -> list[tuple[str, str]]:
    found = []
    for line in filter(None, map(str.strip, texts.splitlines())):
        module, _, texts = line.partition(": ")
        home = module if module.partition(".")[0] in OTHERS else f"scipy.{module}"
        found += [(home, text.strip()) for text in texts.split(" | ")]
    return found


OTHERS = ("sklearn", "einops", "opt_einsum", "xarray", "pint")
GIVEN = {
    "x": numpy.array([[1.1, 0.3, 2.0], [0.4, 1.7, 0.9], [2.2, 0.6, 1.4], [0.8, 1.9, 0.2]]),
    "v": numpy.array([1.3, 0.7, 2.1, 0.4]),
    "w": numpy.array([0.35, 0.62, 0.21, 0.8]),
    "s": numpy.array(0.6),
    "n": numpy.array(4),
    "z": numpy.array([[0.0, 1.0, 0.5, 2.0], [2.0, 3.0, 0.7, 2.0], [4.0, 5.0, 1.9, 4.0]]),
}


def differentiated() -> dict[str, Any]:
    """What is given, as leaves that require gradients."""
    given = {name: ours.asarray(value.copy()) for name, value in GIVEN.items()}
    return {n: v.requires_grad_() if v.dtype.name == "float64" else v for n, v in given.items()}


def evaluated(home: str, text: str, xp: Any, given: dict[str, Any]) -> Any:
    names = {**vars(importlib.import_module(home)), "xp": xp, **given}
    return eval(text, names)


def weighted(value: Any) -> Any:
    """A sum in which each element has another weight."""
    xp = ours if isinstance(value, wg.Tensor) else numpy
    weights = numpy.cos(numpy.arange(value.size) + 1.0).reshape(value.shape)
    weights = xp.asarray(weights)
    if value.dtype.name.startswith("complex"):
        return xp.sum(xp.real(value) * weights) + 0.7 * xp.sum(xp.imag(value) * weights)
    return xp.sum(value * weights)


def difference(home: str, text: str) -> str:
    """What is wrong with a call, or nothing."""
    leaves = differentiated()
    theirs = evaluated(home, text, numpy, GIVEN)
    found = evaluated(home, text, ours, leaves)
    if not isinstance(found, wg.Tensor) or not found.requires_grad:
        return f"gives {type(found).__name__} without a gradient"
    if not numpy.allclose(found.detach().numpy(), theirs, rtol=1e-8, atol=1e-10):
        return f"gives {found.detach().numpy()} for {theirs}"
    names = [name for name, leaf in leaves.items() if leaf.requires_grad]
    sought = [leaves[name] for name in names]
    grads = wg.autograd.grad(weighted(found), sought, allow_unused=True)
    for name, grad in zip(names, grads, strict=True):
        value = GIVEN[name]
        for place in numpy.ndindex(value.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = value.copy()
                moved[place] += step
                given = {**GIVEN, name: moved}
                ends.append(float(weighted(numpy.asarray(evaluated(home, text, numpy, given)))))
            slope, ours_ = (ends[0] - ends[1]) / 2e-6, 0.0 if grad is None else float(grad[place])
            if abs(slope - ours_) > 1e-4 * (1 + abs(slope)):
                return f"has the slope {ours_} by {name}{list(place)}, not {slope}"
    return ""


def disagreement(home: str, text: str) -> str:
    """What is wrong with a call whose result has no derivative, or nothing."""
    theirs = evaluated(home, text, numpy, GIVEN)
    found = evaluated(home, text, ours, differentiated())
    if isinstance(found, wg.Tensor):
        if found.requires_grad:
            return "gives a gradient"
        found = found.numpy()
    same = found == theirs if isinstance(theirs, str) else numpy.allclose(found, theirs)
    return "" if same else f"gives {found} for {theirs}"


def told(home: str, text: str) -> str:
    """What is wrong with the error of a call that SciPy computes with NumPy alone, or nothing."""
    return "" if cure(home, text) else "does not say what to write"


def compared(words: tuple[str, ...] = ()) -> tuple[int, list[str]]:
    """How many calls there were, and what is wrong with which."""
    count, wrong = 0, [f"{name} is not among the calls" for name in unlisted()]
    for texts, check in ((CALLS, difference), (CONSTANT, disagreement), (CONVERTED, told)):
        for home, text in calls(texts):
            if importlib.util.find_spec(home.partition(".")[0]) is None:
                continue
            if words and not any(word in f"{home}: {text}" for word in words):
                continue
            count += 1
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = check(home, text)
            except Exception as error:
                found = f"raises {type(error).__name__}: {error}".splitlines()[0][:150]
            if found:
                wrong.append(f"{home}: {text} {found}")
    return count, wrong


def unlisted() -> list[str]:
    """The functions that SciPy declares portable, and no call names."""
    if importlib.util.find_spec("scipy") is None:
        return []
    texts = [text for part in (CALLS, CONSTANT, CONVERTED) for text in calls(part)]
    for home in {home for home, _ in texts if home.startswith("scipy.")}:
        importlib.import_module(home)
    table = getattr(sys.modules["scipy._lib._array_api"], "xp_capabilities_table", {})
    found = []
    for function, known in table.items():
        package = function.__module__.split(".")[1]
        name = getattr(function, "__qualname__", function.__name__)
        inner = name.rpartition(".")[2]
        if known["np_only"] or known["out_of_scope"] or inner.startswith("_") or name in OMITTED:
            continue
        named = re.compile(rf"\b{inner}\(")
        if not any(
            home.startswith(f"scipy.{package}") and named.search(text) for home, text in texts
        ):
            found.append(f"scipy.{package}: {name}")
    return found


def cure(home: str, text: str) -> str:
    """What the error of a call says to write instead; the empty string if it does not say."""
    error: BaseException | None = None
    try:
        evaluated(home, text, ours, differentiated())
    except Exception as raised:
        error = raised
    while error is not None:
        if found := re.search(r"Write (.+?),? for scipy's|Write (an \S+) around", str(error)):
            return found.group(1) or found.group(2)
        error = error.__cause__ or error.__context__
    return ""


PAGE = """
# Functions of other libraries

Made by `python -m support.array_libraries --page`. `x` is a matrix, `v` and `w` are vectors, `s` is
a number, all arrays of `wengert.numpy`; [arrays](arrays.md) says how to use them.

## Computed with gradients

The values of each call agree with those on NumPy's arrays, and the gradients of all arrays with
finite differences.

| module | calls |
|---|---|
"""
REST = """
## Computed by SciPy with NumPy alone

For a tensor that requires a gradient these raise an error, which says what to write instead.
For the rest, an `autograd.Function` says what the derivative is, or `x.detach()` that none is
wanted.

| module | write | for |
|---|---|---|
"""
MIDDLE = """
## Computed without gradients

These results have no derivative: ranks, counts, orders, and functions of numbers alone.

| module | calls |
|---|---|
"""
LAST = """
## Portable for SciPy, but not here

"""


def grouped(rows: list[tuple[str, str]]) -> list[str]:
    by_module: dict[str, list[str]] = {}
    for home, text in rows:
        by_module.setdefault(home, []).append(f"`{text}`".replace("|", "\\|"))
    return [f"| {home} | {', '.join(texts)} |" for home, texts in by_module.items()]


def page() -> str:
    works, constant = (
        grouped([(f"`{home}`", text) for home, text in calls(texts)]) for texts in (CALLS, CONSTANT)
    )
    cures = [(f"`{home}` | {quoted(cure(home, text))}", text) for home, text in calls(CONVERTED)]
    rest = [f"* `{name}`: {why}." for name, why in OMITTED.items()]
    parts = [PAGE.strip(), *works, MIDDLE.rstrip(), *constant, REST.rstrip(), *grouped(cures)]
    return "\n".join([*parts, LAST.rstrip(), "", *rest, ""])


def quoted(text: str) -> str:
    return text if text.startswith("an ") else f"`{text}`"


def main() -> None:
    if sys.argv[1:] == ["--page"]:
        print(page(), end="")
        return
    if importlib.util.find_spec("sklearn") is not None:
        importlib.import_module("sklearn").set_config(array_api_dispatch=True)
    count, wrong = compared(tuple(sys.argv[1:]))
    print("\n".join([*wrong, f"{count} calls, {len(wrong)} differ"]))


if __name__ == "__main__":
    main()
