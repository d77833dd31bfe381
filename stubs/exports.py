"""Writes the index of the functions that are imported when they are first named.

    python stubs/exports.py            write it
    python stubs/exports.py --check    exit with 1 if it is not what would be written

It reads the marks of `wengert.base.export.export` from the source, without running it.
"""

from __future__ import annotations

import argparse
import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

OPERATIONS = Path(__file__).parents[1] / "src" / "wengert" / "ops"
INDEX = OPERATIONS / "exports.txt"


def marks(module: Path) -> Iterator[tuple[str, str]]:
    """The names of a module that are exported, each with a surface."""
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            calls, names = node.decorator_list, [node.name]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            calls, names = [node.value.func], [ast.unparse(name) for name in node.value.args]
        else:
            continue
        for call in calls:
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "export":
                for surface in call.args:
                    yield from ((name, ast.literal_eval(surface)) for name in names)


def index() -> str:
    """The text of the index: in each line surfaces, a module, and names of it that they have."""
    surfaces: dict[tuple[str, str], list[str]] = defaultdict(list)
    homes: dict[tuple[str, str], str] = {}
    for module in sorted(OPERATIONS.glob("*.py")):
        for name, surface in marks(module):
            home = homes.setdefault((surface, name), module.stem)
            if home != module.stem:
                raise ValueError(f"{name} of {surface!r} is written twice: {home}, {module.stem}")
            surfaces[module.stem, name].append(surface)
    found: dict[tuple[str, ...], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (stem, name), several in surfaces.items():
        found[tuple(sorted(several))][stem].append(name)
    lines = [
        f"{', '.join(several)} | {stem} | {' '.join(sorted(names))}"
        for several, modules in sorted(found.items())
        for stem, names in modules.items()
    ]
    return "\n".join([*lines, ""])


def main() -> int:
    """Write the index, or look whether it is up to date."""
    parser = argparse.ArgumentParser(description="Write the index of lazy exports.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if stale")
    check = parser.parse_args().check
    text = index()
    if INDEX.exists() and INDEX.read_text(encoding="utf-8") == text:
        return 0
    print(f"{INDEX.name}{' is not up to date' if check else ''}")
    if not check:
        INDEX.write_text(text, encoding="utf-8")
    return int(check)


if __name__ == "__main__":
    raise SystemExit(main())
