"""Test invariants of every source file, on its syntax tree."""

import ast
import functools
import re
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "src" / "wengert"
FILES = {
    ".".join(("wengert", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
HEADING = re.compile(r"Layer (\d+) · (\w+)(?: · \w+)?: \S")
PARTS = sorted({".".join(module.split(".")[:2]) for module in FILES})
# the public surface itself, and what `python -m wengert` runs
UNLAYERED = {"wengert", "wengert.__main__"}


@functools.cache
def tree_of(module):
    return ast.parse(FILES[module].read_text(encoding="utf-8"))


def modules_of(part):
    return [module for module in FILES if module == part or module.startswith(f"{part}.")]


def imports_of(module, tree):
    """The library's modules that `tree` imports, wherever the statement stands."""
    package = module if FILES[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
            names = [name if name in FILES else base for name in names]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "wengert":
                yield name, node


@functools.cache
def layer_of(module):
    return int(HEADING.match(ast.get_docstring(tree_of(module)) or "").group(1))


@pytest.mark.parametrize("part", PARTS)
def test_a_file_says_its_layer_and_what_it_is(part):
    for module in modules_of(part):
        docstring = ast.get_docstring(tree_of(module))
        assert docstring, f"{module} has no docstring"
        if module in UNLAYERED:
            continue
        heading = HEADING.match(docstring)
        assert heading, f"{module}: the docstring must start 'Layer N · package: ...'"
        package = module.split(".")[1]
        if FILES[module].parent == PACKAGE:
            continue  # a module of the surface: it names the layer that its contents come from
        assert heading.group(2) == package, module
        assert int(heading.group(1)) == layer_of(f"wengert.{package}"), module


@pytest.mark.parametrize("part", PARTS)
def test_imports_point_downwards(part):
    for module in modules_of(part):
        if module in UNLAYERED:
            continue
        for name, node in imports_of(module, tree_of(module)):
            if name in UNLAYERED:
                continue  # whether this makes a circle is tested below
            place = f"{module}:{node.lineno}"
            assert name in FILES, f"{place} imports {name}, which does not exist"
            assert layer_of(name) <= layer_of(module), f"{place} imports {name} upwards"


COMPILER = (
    *("control", "ir", "objects", "codegen", "decompose", "passes", "backends", "tracing"),
    "runtime",
)
"""The parts of the compiler, from the lowest to the highest."""


def test_parts_of_the_compiler_import_those_below():
    places = {name: i for i, name in enumerate((*COMPILER, "api"))}
    for module in modules_of("wengert.compiler"):
        if module == "wengert.compiler":
            continue
        part = module.split(".")[2]
        for name, node in imports_of(module, tree_of(module)):
            if name.startswith("wengert.compiler."):
                other = name.split(".")[2]
                place = f"{module}:{node.lineno}"
                assert places[other] <= places[part], f"{place} imports {name} upwards"


@pytest.mark.parametrize("part", PARTS)
def test_imports_stand_at_the_top(part):
    for module in modules_of(part):
        for function in ast.walk(tree_of(module)):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                inside = [name for name, _ in imports_of(module, function)]
                assert not inside, f"{module}:{function.lineno} imports {inside} inside a function"


@pytest.mark.parametrize("part", PARTS)
def test_a_module_keeps_its_names_with_an_underscore(part):
    # modules of the lower layers have no `__all__`: the underscore says what is their own
    for module in modules_of(part):
        if module.count(".") < 2 or layer_of(module) > 6:
            continue
        for node in ast.walk(tree_of(module)):
            source = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if source.startswith("wengert"):
                names = [alias.name for alias in node.names if re.match("_[^_]", alias.name)]
                taken = [name for name in names if f"{source}.{name}" not in FILES]
                assert not taken, f"{module}:{node.lineno} imports {taken} of {source}"


def as_run(tree):
    """`tree` without the imports at its top that only type checkers see."""
    seen = [
        n for n in tree.body if not (isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test))
    ]
    return ast.Module(seen, [])


def test_imports_make_no_circle():
    graph = {m: {name for name, _ in imports_of(m, as_run(tree_of(m)))} - {m} for m in FILES}
    state = {}

    def visit(module, path):
        state[module] = "open"
        for name in graph[module]:
            if state.get(name) == "open":
                circle = [*path[path.index(name) :], name] if name in path else [*path, name]
                pytest.fail(f"circular imports: {' -> '.join(circle)}")
            if name not in state:
                visit(name, [*path, name])
        state[module] = "done"

    for module in FILES:
        if module not in state:
            visit(module, [module])


def test_what_traces_is_known_to_the_tape_and_the_compiler():
    # all others say where values come from, and what they do: `traced` and `untraced`
    for module in FILES:
        if module.startswith(("wengert.tape.", "wengert.compiler.")):
            continue
        for node in ast.walk(tree_of(module)):
            asks = isinstance(node, ast.Attribute) and node.attr == "tracing"
            assert not asks, f"{module}:{node.lineno} asks what traces"


@pytest.mark.parametrize("part", PARTS)
def test_a_file_has_at_most_800_lines(part):
    for module in modules_of(part):
        count = len(FILES[module].read_text(encoding="utf-8").splitlines())
        assert count <= 800, f"{module} has {count} lines: split it"


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_left_to_do(part):
    for module in modules_of(part):
        text = FILES[module].read_text(encoding="utf-8")
        found = re.findall(r"\b(?:[T]ODO|[F]IXME|[X]XX|[H]ACK)\b", text)
        assert not found, f"{module}: {found}"


def test_changes_that_tests_notice_can_still_be_made():
    known = tomllib.loads((REPOSITORY / "tests/mutation/known.toml").read_text(encoding="utf-8"))
    for change in known["change"]:
        text = (PACKAGE / change["file"]).read_text(encoding="utf-8")
        assert change["before"] in text, f"{change['what']}: {change['file']} is another now"


def public_texts():
    for folder in ("src", "tests", "benchmarks", "examples", "docs", ".ci"):
        for path in sorted((REPOSITORY / folder).rglob("*")):
            if path.suffix in {".py", ".md", ".txt", ".toml", ".ipynb", ""} and path.is_file():
                yield path
    yield from sorted(REPOSITORY.glob("*.md"))
    yield from (p for p in (REPOSITORY / "Makefile", REPOSITORY / "pyproject.toml") if p.exists())


def test_the_text_speaks_to_its_readers_only():
    # how the work was organised is no concern of a reader
    pattern = re.compile(r"\b[i]ssue \d|\b[s]ession\b|\.\./[s]hared|/[w]ork/", re.IGNORECASE)
    for path in public_texts():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert not pattern.search(line), f"{path}:{number}: {line.strip()}"


@pytest.mark.parametrize("part", PARTS)
def test_warnings_find_the_users_line_and_count_no_frames(part):
    counted = [
        f"{module}:{node.lineno}"
        for module in modules_of(part)
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.Attribute)
        and node.attr == "warn"
        and ast.unparse(node) == "warnings.warn"
    ]
    assert not counted, f"wengert.tape.sites.warn, in place of warnings.warn: {counted}"
