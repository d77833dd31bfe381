"""Test invariants of every source file, by its syntax tree."""

import ast
import functools
import os
import re
import subprocess
import sys
import tomllib

import pytest

from support.source import FILES, PACKAGE, REPOSITORY, facts_of

HEADING = re.compile(r"Layer (\d+) · (\w+)(?: · \w+)?: \S")
# the public surface itself, and what `python -m wengert` runs
UNLAYERED = {"wengert", "wengert.__main__"}


@functools.cache
def layer_of(module):
    return int(HEADING.match(facts_of(module).docstring).group(1))


def test_a_file_says_its_layer_and_what_it_is():
    for module in FILES:
        docstring = facts_of(module).docstring
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


def test_imports_point_downwards():
    for module in FILES.keys() - UNLAYERED:
        for name, _, line, *_ in facts_of(module).imports:
            if name in UNLAYERED:
                continue  # whether this makes a circle is tested below
            place = f"{module}:{line}"
            assert name in FILES, f"{place} imports {name}, which does not exist"
            assert layer_of(name) <= layer_of(module), f"{place} imports {name} upwards"


COMPILER = (
    *("control", "ir", "objects", "codegen", "decompose", "passes", "backends", "tracing"),
    "runtime",
)
"""The parts of the compiler, from the lowest to the highest."""


def test_parts_of_the_compiler_import_those_below():
    places = {name: i for i, name in enumerate((*COMPILER, "api"))}
    for module in FILES:
        if module.startswith("wengert.compiler."):
            part = module.split(".")[2]
            for name, _, line, *_ in facts_of(module).imports:
                if name.startswith("wengert.compiler."):
                    other, place = name.split(".")[2], f"{module}:{line}"
                    assert places[other] <= places[part], f"{place} imports {name} upwards"


def test_imports_stand_at_the_top():
    for module in FILES:
        found = [(one.line, one.name) for one in facts_of(module).imports if one.inside]
        assert not found, f"{module} imports {found} inside of functions"


def test_a_module_keeps_its_names_with_an_underscore():
    # modules that users do not import have no `__all__`: the underscore says what is their own
    for module in FILES:
        if module.count(".") > 1 and (layer_of(module) <= 6 or ".compiler." in module):
            for _, source, line, *_ in facts_of(module).imports:
                private = re.search(r"\._[^_.][^.]*$", source) and source not in FILES
                assert not private, f"{module}:{line} imports {source}"


def test_imports_make_no_circle():
    graph = {m: {one.name for one in facts_of(m).imports if one.runs} - {m} for m in FILES}
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
        if not module.startswith(("wengert.tape.", "wengert.compiler.")):
            for name, line in facts_of(module).attributes.items():
                assert not name.endswith(".tracing"), f"{module}:{line} asks what traces"


def test_a_file_has_at_most_800_lines():
    for module in FILES:
        count = len(facts_of(module).text.splitlines())
        assert count <= 800, f"{module} has {count} lines: split it"


def test_nothing_is_left_to_do():
    for module in FILES:
        found = re.findall(r"\b(?:[T]ODO|[F]IXME|[X]XX|[H]ACK)\b", facts_of(module).text)
        assert not found, f"{module}: {found}"


def test_changes_that_tests_notice_can_still_be_made():
    known = tomllib.loads((REPOSITORY / "tests/mutation/known.toml").read_text(encoding="utf-8"))
    for change in known["change"]:
        text = (PACKAGE / change["file"]).read_text(encoding="utf-8")
        assert change["before"] in text, f"{change['what']}: {change['file']} is another now"
        changed = text.replace(change["before"], change["after"], 1)
        assert code_of(changed) != code_of(text), f"{change['what']}: only words change"


def code_of(text):
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(None)  # a docstring
    return ast.dump(tree)


def test_mutation_tests_run_without_pytests_path():
    command = [sys.executable, str(REPOSITORY / "tests/mutation"), "--help"]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


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
        text = path.read_text(encoding="utf-8")
        found = pattern.search(text)
        assert not found, f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {found.group()}"


def test_warnings_find_the_users_line_and_count_no_frames():
    counted = {m: facts_of(m).attributes.get("warnings.warn") for m in FILES}
    counted = {module: line for module, line in counted.items() if line}
    assert not counted, f"wengert.tape.sites.warn, instead of warnings.warn: {counted}"
