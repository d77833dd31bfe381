"""The package's files: what the laws ask about each, read and walked once for all of them."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[3]
PACKAGE = REPOSITORY / "src" / "wengert"
FILES = {
    ".".join(("wengert", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


class Import(NamedTuple):
    """A module or a name of the library that a statement imports, wherever it stands."""

    name: str
    source: str
    """The module that the statement names, or "" where it is ``import name``."""
    line: int
    inside: bool
    """Whether it stands in a function."""
    runs: bool
    """Whether more than type checkers see it."""


class Facts(NamedTuple):
    """What the laws ask about a file."""

    text: str
    docstring: str
    imports: list[Import]
    attributes: dict[str, int]
    """The last line of each attribute, as written, that a law asks about."""
    strings: list[str]
    """The lines of all strings that are statements, which docstrings are."""
    bare: list[tuple[str, str]]
    """The public methods without a docstring, each with its public class at the top."""


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _imported(module: str, node: ast.Import | ast.ImportFrom) -> list[tuple[str, str, str]]:
    """The library's modules, or names in them, that a statement imports, and its own words."""
    if isinstance(node, ast.Import):
        return [(alias.name, "", alias.name) for alias in node.names]
    base = node.module or ""
    if node.level:
        package = module if FILES[module].name == "__init__.py" else module.rpartition(".")[0]
        parts = package.split(".")
        base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
    names = [(f"{base}.{alias.name}", alias.name) for alias in node.names]
    return [(full if full in FILES else base, base, own) for full, own in names]


def nodes_of(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes below one, as `ast.walk` does in three times the time."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        for field in vars(node).values():
            if isinstance(field, ast.AST):
                stack.append(field)
            elif field.__class__ is list:
                stack += [part for part in field if isinstance(part, ast.AST)]


@functools.cache
def facts_of(module: str) -> Facts:
    """Read the file of a module."""
    text = FILES[module].read_text(encoding="utf-8")
    tree = ast.parse(text)
    imports, attributes, strings, stack = [], {}, [], [(tree, False, True)]
    while stack:
        node, inside, runs = stack.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, source, own in _imported(module, node):
                if name.split(".")[0] == "wengert":
                    found = Import(name, source and f"{source}.{own}", node.lineno, inside, runs)
                    imports.append(found)
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                strings += [line.strip() for line in node.value.value.splitlines()]
            continue
        inside = inside or isinstance(node, FUNCTIONS)
        runs = runs and not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            stack += [(child, inside, runs) for child in getattr(node, part, ())]
    if re.search(r"\.(tracing|warn)\b", text):
        for node in nodes_of(tree):
            if isinstance(node, ast.Attribute) and node.attr in {"tracing", "warn"}:
                name = ast.unparse(node)
                attributes[name] = max(node.lineno, attributes.get(name, 0))
    bare = [
        (kind.name, member.name)
        for kind in tree.body
        if isinstance(kind, ast.ClassDef) and not kind.name.startswith("_")
        for member in kind.body
        if isinstance(member, ast.FunctionDef) and not member.name.startswith("_")
        if not ast.get_docstring(member)
    ]
    docstring = ast.get_docstring(tree) or ""
    return Facts(text, docstring, imports, attributes, strings, bare)
