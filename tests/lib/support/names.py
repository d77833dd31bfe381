"""PyTorch's public names: those available here, and the reasons for missing ones.

``python -m support.names`` writes the page docs/pytorch-names.md from `pytorch_names.txt`: modules
of PyTorch and the names in them.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import NamedTuple

from wengert.base.places import REFUSED
from wengert.base.refused import ROWS, rows_of

__all__ = ["Names", "found", "listed", "page"]

LIST = Path(__file__).with_name("pytorch_names.txt")


class Names(NamedTuple):
    """The names of a module of PyTorch."""

    here: list[str]
    """Those that can be used."""
    refused: dict[str, list[str]]
    """Those that can be imported, and say when they are used why they cannot; by the reason."""
    absent: list[str]
    """The others."""


def listed() -> dict[str, list[str]]:
    """The names that PyTorch lists, by module."""
    return {
        module: sorted({*names, *ROWS.get(module.removeprefix("torch."), ("", []))[1]})
        for module, names in rows_of(LIST.read_text(encoding="utf-8")).items()
    }


def found(module: str, names: list[str]) -> Names:
    """What there is of the names of a module."""
    path = module.removeprefix("torch").removeprefix(".")
    reasons = REFUSED.get(path, {})
    here: list[str] = []
    refused: dict[str, list[str]] = {}
    absent: list[str] = []
    try:
        place = importlib.import_module(f"wengert.{path}".rstrip("."))
    except ModuleNotFoundError:
        return Names([], {}, list(names))
    for name in names:
        try:
            value = getattr(place, name)
        except AttributeError:
            absent.append(name)
            continue
        except ImportError:
            value = None  # it needs a package that may not be there
        said = str(getattr(value, "__doc__", None) or "")
        reason = reasons.get(name)
        if reason is None and said.startswith("Not offered: "):
            reason = said.removeprefix("Not offered: ").partition("\n")[0]
        if reason is None:
            here.append(name)
        else:
            refused.setdefault(reason, []).append(name)
    return Names(here, refused, absent)


def _code(names: list[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


def page() -> str:
    """The page, in Markdown."""
    modules = {module: found(module, names) for module, names in listed().items()}
    whole = sum(map(len, listed().values()))
    here = sum(len(one.here) for one in modules.values())
    refused = sum(len(names) for one in modules.values() for names in one.refused.values())
    complete = [name for name, one in modules.items() if not one.refused and not one.absent]
    lines = [
        "# PyTorch's names",
        "",
        f"Of {whole} public names in {len(modules)} modules of PyTorch 2.13, {here} work here.",
        f"Another {refused} have no meaning on one machine with NumPy: they can be imported, and",
        "using one raises an error that says what to do instead. The other",
        f"{whole - here - refused} are missing.",
        "",
        "## Complete",
        "",
        "| module | names |",
        "|---|---|",
        *[f"| `{name}` | {len(modules[name].here)} |" for name in complete],
        "",
        "## In part",
        "",
        "| module | here | refused | not here |",
        "|---|---|---|---|",
    ]
    reasons: dict[str, list[str]] = {}
    for module, one in modules.items():
        if module in complete:
            continue
        count = sum(map(len, one.refused.values()))
        lines.append(f"| `{module}` | {len(one.here)} | {count or ''} | {_code(one.absent)} |")
        for reason, names in one.refused.items():
            reasons.setdefault(reason, []).append(f"| `{module}` | {_code(names)} | {reason} |")
    lines += ["", "## Refused, and why", "", "| module | names | why |", "|---|---|---|"]
    lines += [row for rows in reasons.values() for row in rows]
    lines += [
        "",
        "`PYTHONPATH=tests/lib python -m support.names > docs/pytorch-names.md` writes this page;",
        "a test compares.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(page())
