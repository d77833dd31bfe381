"""Layer 11 · cli: the page of all operations with their derivatives."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

import wengert as wg
from wengert.cli.formulas import formulas_of
from wengert.cli.observe import Observed, observe
from wengert.prims.record import Primitive
from wengert.prims.whole import TABLE
from wengert.utils.dispatch import operation_name

__all__ = ["chapter_of", "page"]

CHAPTER = re.compile(r"Layer \d+ · ops · (\w+):")
"""Matches the chapter in the docstring of a module, where its functions are listed."""
CORE = "pointwise"
"""The first chapter; the others are sorted by name."""
FURTHER = "further"
NOT_OPERATIONS = {"generator"}

INTRODUCTION = """\
# Operations

`wengert ops --markdown` writes this page from the table of records and from the examples in the
documentation, and a test compares them.

* **Forms**: *f* function, *m* method, *i* in place (`x.exp_()`), *o* takes `out=`.
* **Dtypes** that the operation takes: *b* bool, *i* integers, *f* floating, *c* complex; `*` needs
  SciPy (`wengert[scipy]`), `+` is quicker with SciPy.
* **Derivative**: the cotangent of each differentiable argument, given the cotangent `g` of the
  result. The formula is the rule of the record, run on symbols. `self`, `other`, ... are arguments
  and parameters, `result` is what the operation returned, and functions are those of this page or
  primitives. Formulas may fail at single points, such as kinks. The engine conjugates, except for
  records marked *conjugates*. If a rule is more than a formula, its module is named. A composite
  has the derivative of its parts, which are those that its example computes. Each derivative can be
  differentiated again, to any order; tests check the first two.
"""


def page() -> str:
    """Return the page as Markdown.

    Examples
    --------
    >>> from wengert.cli.operations import page
    >>> page().splitlines()[0]
    '# Operations'
    """
    namespaces = [
        ("wengert", wg, _functions(wg, dir(wg))),
        ("wengert.linalg", wg.linalg, _functions(wg.linalg, wg.linalg.__all__)),
        ("wengert.fft", wg.fft, _functions(wg.fft, wg.fft.__all__)),
        ("wengert.special", wg.special, _functions(wg.special, wg.special.__all__)),
        (
            "wengert.nn.functional",
            wg.nn.functional,
            _functions(wg.nn.functional, dir(wg.nn.functional)),
        ),
        (
            "Methods of tensors that are not functions",
            wg.Tensor,
            _functions(wg.Tensor, [n for n in dir(wg.Tensor) if not _is_function(n)]),
        ),
    ]
    shown: set[str] = set()
    parts, count, named = [], 0, 0
    for title, _, functions in namespaces:
        parts.append(f"\n## {title}\n")
        count += len(functions)
        named += sum(len(names) for names in functions.values())
        if title not in ("wengert", "wengert.nn.functional"):
            parts.append(_table(title, _by_name(functions), shown))
            continue
        for heading, members in _by_family(functions).items():
            parts.append(f"\n### {heading}\n")
            parts.append(_table(title, members, shown))
    parts.append(_rest(shown))
    total = f"\n{count} operations under {named} names, made of {len(TABLE)} primitives, of which "
    total += f"{sum(p.is_differentiable for p in TABLE.values())} have a derivative.\n"
    return INTRODUCTION + total + "".join(parts)


def _is_function(name: str) -> bool:
    if name == "bfloat16":
        return True  # like the other dtypes, though it exists only with `ml_dtypes`
    return hasattr(wg, name.removesuffix("_")) or hasattr(wg, name)


def _functions(place: Any, names: Iterable[str]) -> dict[Callable[..., Any], list[str]]:
    """Return the operations among `names` of `place`, each with all its names, its own first."""
    found: dict[Callable[..., Any], list[str]] = {}
    # all of them first, since a part that is loaded now may extend the functions of others
    values = {name: getattr(place, name) for name in sorted(names)}
    for name, value in values.items():
        module = getattr(value, "__module__", "") or ""
        family = module.removeprefix("wengert.ops.")
        if name.startswith("_") or family in (module, *NOT_OPERATIONS) or inspect.isclass(value):
            continue
        if callable(value):
            found.setdefault(inspect.unwrap(value), []).append(name)
    for function, known in found.items():
        known.sort(key=lambda name, own=function.__name__: (name != own, name))  # type: ignore[misc]
    return found


def _by_name(
    functions: dict[Callable[..., Any], list[str]],
) -> list[tuple[Callable[..., Any], list[str]]]:
    return sorted(functions.items(), key=lambda item: item[1][0])


def _by_family(
    functions: dict[Callable[..., Any], list[str]],
) -> dict[str, list[tuple[Callable[..., Any], list[str]]]]:
    found: dict[str, list[Any]] = {}
    for function, names in _by_name(functions):
        found.setdefault(chapter_of(function), []).append((function, names))
    in_order = sorted(found, key=lambda name: (name == FURTHER, name != CORE, name))
    return {name.capitalize(): found[name] for name in in_order}


def chapter_of(function: Callable[..., Any]) -> str:
    """Return the chapter in which an operation is listed.

    Examples
    --------
    >>> from wengert.cli.operations import chapter_of
    >>> chapter_of(wg.sum)
    'reductions'
    """
    # functions of the package are wrapped once there is a class with `__torch_function__`
    module = sys.modules[inspect.unwrap(function).__module__]
    stated = CHAPTER.match(module.__doc__ or "")
    return stated[1] if stated else FURTHER


def _table(
    namespace: str, members: list[tuple[Callable[..., Any], list[str]]], shown: set[str]
) -> str:
    lines = ["\n| operation | forms | dtypes | derivative |", "|---|---|---|---|"]
    for function, names in members:
        seen = observe(function, set(names) | {function.__name__})
        forms = _forms(namespace, names[0], function)
        title = ", ".join(f"`{name}`" for name in names)
        mark = {"needs": " `*`", "uses": " `+`"}.get(seen.scipy, "")
        lines.append(
            f"| {title} | {forms} | {seen.kinds or '-'}{mark} | {_derivative(seen, shown)} |"
        )
    return "\n".join(lines) + "\n"


def _forms(namespace: str, name: str, function: Callable[..., Any]) -> str:
    options = inspect.signature(function).parameters
    core, methods = namespace == "wengert", namespace.startswith("Methods")
    forms = "" if methods else "f"
    if methods or (core and callable(getattr(wg.Tensor, name, None))):
        forms += "m"
    if "inplace" in options or (core and hasattr(wg.Tensor, f"{name}_")):
        forms += "i"
    return forms + ("o" if "out" in options else "")


def _derivative(seen: Observed, shown: set[str]) -> str:
    """Return the text of the table cell for an operation's derivative."""
    found = {operation_name(prim): prim for prim in seen.primitives if prim.is_differentiable}
    if len(found) > 1:
        found.pop("to_copy", None)  # to a common dtype
    smooth = [TABLE.get(name, prim) for name, prim in found.items()]
    if not smooth:
        return "returns its argument" if seen.identity else "-"
    if len(smooth) == 1:
        shown.add(smooth[0].name)
        return _rules(smooth[0])
    names = ", ".join(f"`{prim.name}`" for prim in smooth)
    return f"composite of {names}"


def _rules(prim: Primitive) -> str:
    texts = []
    formulas = formulas_of(prim)
    of_complex = formulas if "c" in prim.refuses else formulas_of(prim, "c")
    for (arg, text), rule in zip(formulas.items(), filter(None, prim.rules), strict=True):
        where = f"by `{rule.call.__module__.removeprefix('wengert.')}`"
        shown = where if text is None else _code(text)
        if (other := of_complex[arg]) != text:
            shown += f", of complex numbers {where if other is None else _code(other)}"
        texts.append(shown if len(formulas) == 1 else f"*{arg}* {shown}")
    return "; ".join(texts) + (" (conjugates)" if prim.conj == "explicit" else "")


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _rest(shown: set[str]) -> str:
    """Return the primitives whose rules are in no table yet."""
    lines = [
        "\n## Primitives\n\nThese have derivatives too, and composites are made of them.\n",
        "| primitive | computes | derivative |",
        "|---|---|---|",
    ]
    for name, prim in sorted(TABLE.items()):
        if prim.is_differentiable and name not in shown:
            doc = re.sub(r"\|", "\\|", prim.doc)
            lines.append(f"| `{name}` | {doc} | {_rules(prim)} |")
    return "\n".join(lines) + "\n"
