"""Test that all facts about an operation are in its record (NOTE [facets])."""

import ast
import re
from pathlib import Path

import support.samples  # noqa: F401  # every module that declares a facet
import wengert.amp.autocast
import wengert.compiler.codegen.scalars.forms
import wengert.compiler.decompose.rules
import wengert.compiler.ir.facets
import wengert.func
import wengert.numpy
import wengert.ops.scatter
import wengert.sparse
import wengert.tensor.numpy.ufuncs  # noqa: F401
from support.source import nodes_of
from wengert.prims import facet
from wengert.prims.whole import TABLE

PACKAGE = Path(__file__).parents[2] / "src" / "wengert"
OTHERS = (
    *(PACKAGE / "base" / "places.py", PACKAGE / "base" / "refused.py"),
    PACKAGE / "tensor" / "numpy" / "boundary.py",
)
"""Lists of PyTorch's and SciPy's names, which some primitives happen to have, too."""

NAMES = frozenset(TABLE)
WORDS = re.compile(r"[\"'](?=([\w\s]+)[\"'])|\b(\w+)=(?!=)")
"""Matches where texts of words begin, and keywords."""


def names_in(node):
    """The texts that a literal collection consists of, or has for keys."""
    if isinstance(node, ast.Set | ast.List | ast.Tuple):
        elements = node.elts
    elif isinstance(node, ast.Dict):
        elements = [key for key in node.keys if key is not None]
    elif isinstance(node, ast.Call):
        # ``TABLE.update(sin=..., cos=...)``
        return [keyword.arg for keyword in node.keywords]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        words = node.value.split()
        return words if len(words) > 2 and all(map(str.isidentifier, words)) else []
    else:
        return []
    return [e.value for e in elements if isinstance(e, ast.Constant)]


def tables(path):
    """The lines of a file with collections of three and more names of primitives."""
    text = path.read_text(encoding="utf-8")
    words = " ".join(map(" ".join, WORDS.findall(text)))
    if len(NAMES.intersection(words.split())) < 3:
        return  # to read it as Python takes ten times as long
    tree = ast.parse(text)
    public = {
        id(inner)
        for part in (tree, *(node for node in tree.body if isinstance(node, ast.ClassDef)))
        for node in part.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if getattr(target, "id", "") in ("__all__", "__slots__")
        for inner in nodes_of(node)
    }
    for node in nodes_of(tree):
        if id(node) not in public and len(NAMES.intersection(names_in(node))) > 2:
            yield node.lineno


def test_no_table_goes_by_names_of_operations():
    places = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.glob("*/**/*.py"))
        if path.relative_to(PACKAGE).parts[0] not in ("prims", "compat")
        if path not in OTHERS
        for line in tables(path)
    ]
    assert not places, "\n".join(places)


def test_records_state_facets_that_somebody_has_declared():
    for prim in TABLE.values():
        unknown = set(prim.facets) - set(facet.FACETS)
        assert not unknown, f"{prim.name} states {unknown}, of which no layer knows"
