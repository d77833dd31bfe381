"""Mutation tests: change the source, and expect a test to fail.

``python tests/mutation --count 200 --seed 0`` draws changes from the modules below, makes each in
a copy of the tree, and runs the tests of its module. Changes that no test detects are printed: add
a test, or list the change in ``survivors.md`` with the reason why it has no effect.
``python tests/mutation known`` makes the changes in ``known.toml``, each of which once went
undetected.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from mutants import Mutant, mutants

from wengert.prims.whole import TABLE

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))

from support.checks import CHECKS  # noqa: E402

PACKAGE = ROOT / "src" / "wengert"

ANOMALIES = ["tests/tape/test_anomaly.py", "tests/semantics/test_anomaly.py"]
WRITES = [
    *("tests/semantics/test_views.py", "tests/tape/test_inplace.py"),
    *("tests/semantics/test_inplace.py", "tests/semantics/test_strided.py"),
    *("tests/semantics/test_function_views.py", "tests/func/test_inside.py"),
]
HOOKS = [
    *("tests/tape/test_hooks.py", "tests/semantics/test_hooks.py"),
    *("tests/semantics/test_node_hooks.py", "tests/semantics/test_saved_tensors_hooks.py"),
    *("tests/semantics/test_multi_grad_hooks.py", "tests/tape/test_ownership.py"),
]
MODES = [
    *("tests/tape/test_modes.py", "tests/semantics/test_modes.py", "tests/tape/test_threads.py"),
    *("tests/semantics/test_inference_mode.py", "tests/tape/test_exceptions.py"),
]
WALKS = [
    *(
        "tests/semantics/test_backward.py",
        "tests/semantics/test_gradient_edges.py",
    ),
    *("tests/tape/test_masked.py", "tests/tape/test_exceptions.py", "tests/tape/test_reach.py"),
    *("tests/semantics/test_gradient_edges.py", "tests/semantics/test_hooks.py"),
    *("tests/tape/test_inplace.py", "tests/autograd/test_forward_ad.py"),
]
LEVELS = [
    *("tests/interp/test_tangents.py", "tests/interp/test_nested.py", "tests/func/test_inside.py"),
    *("tests/func/test_transforms.py", "tests/autograd/test_forward_ad.py"),
]
ROLLING = ["tests/compiler/test_roll.py", "tests/compiler/test_roll_random.py"]
TESTS: list[tuple[str, list[str]]] = [
    ("prims/", ["tests/ops/test_subgradients.py", "tests/ops/test_values.py"]),
    *((f"tape/{name}.py", ANOMALIES) for name in ("anomaly", "sites")),
    *((f"tape/{n}.py", WRITES) for n in ("views", "invalidated", "write_checks", "inplace")),
    *((f"tape/{name}.py", WRITES) for name in ("level_writes", "versions")),
    *((f"tape/{name}.py", HOOKS) for name in ("hooks", "handles", "saving")),
    ("tape/detachments.py", ["tests/autograd/test_explain.py"]),
    ("tape/ordering.py", ["tests/semantics/test_engine.py", "tests/semantics/test_node_hooks.py"]),
    *((f"tape/{name}.py", MODES) for name in ("modes", "inference", "watch")),
    *((f"tape/{name}.py", LEVELS) for name in ("levels", "forward")),
    ("tape/", WALKS),
    ("interp/batched", ["tests/interp/test_batching_rules.py", "tests/func/test_inside.py"]),
    ("interp/batch", ["tests/interp/test_batching_rules.py"]),
    ("interp/", [*LEVELS, "tests/func/test_nesting.py"]),
    *((f"compiler/passes/{n}", ROLLING) for n in ("roll", "loop", "repeats", "unrolled")),
    (
        "compiler/passes/",
        [
            *("tests/compiler/test_passes.py", "tests/compiler/test_fusion.py"),
            "tests/compiler/test_random_mends.py",
        ],
    ),
    ("optim/", ["tests/optim"]),
]
"""The tests that run for a module, those first that are most likely to notice."""
QUICK = [check for check in CHECKS if check != "complex_second_order"]
LIMIT = 600
"""Seconds after which a change counts as noticed: it loops."""


class Tree:
    """A copy of the source and its tests, where one file at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sound: set[str] = set()
        self._unsound: list[str] = []
        ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.html")
        for name in ("src", "tests", "benchmarks", "pyproject.toml"):
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=ignored)
            else:
                shutil.copy(source, folder / name)

    def noticed_by(self, path: str, changed: str, tests: list[str]) -> tuple[bool, str]:
        """Whether tests fail on a changed file that do not fail on it as it is, and which."""
        source = self.read(path)
        while True:
            self.write(path, changed)
            try:
                failed, by = self._fails(tests)
            finally:
                self.write(path, source)
            if not failed or "::" not in by or by in self._sound:
                return failed, by
            if not self._fails([by])[0]:
                self._sound.add(by)
                return True, by
            print(f"{by} fails anyway, and is left out", flush=True)
            self._unsound.append(by)

    def _fails(self, tests: list[str]) -> tuple[bool, str]:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(self.folder / part) for part in ("src", "tests/lib")),
            "WENGERT_NATIVE": "0",
            "WENGERT_SAMPLE": "all",
        }
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += [f"--deselect={name}" for name in self._unsound]
        try:
            done = subprocess.run(
                [*command, "-m", "not slow", "-o", "addopts=--import-mode=importlib", *tests],
                cwd=self.folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return True, "a timeout"
        if done.returncode == 5:
            raise RuntimeError(f"there are no tests in {' '.join(tests)}")
        found = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
        return done.returncode != 0, found[0] if found else "the import"

    def read(self, path: str) -> str:
        return (self.folder / "src" / "wengert" / path).read_text()

    def write(self, path: str, text: str) -> None:
        file = self.folder / "src" / "wengert" / path
        file.write_text(text)
        # what was compiled within the same second would pass for this
        Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)


def tests_of(path: str, source: str, mutant: Mutant) -> list[str]:
    """The tests that should notice a change in a module."""
    tests = next(tests for start, tests in TESTS if path.startswith(start))
    if path.startswith("interp/batching_"):
        # of the rules of a hundred primitives those that the line is part of
        names = records_of(source, mutant.line)
        return [*tests, "-k", " or ".join(names)] if names else tests
    if not path.startswith("prims/"):
        return tests
    same = f"tests/ops/test_{Path(path).stem}.py"
    names = records_of(source, mutant.line)
    checks = [f"tests/table/test_records.py::test_record[{n}-{c}]" for n in names for c in QUICK]
    return [*checks, *tests, *([same] if (ROOT / same).exists() else [])]


def records_of(source: str, line: int) -> list[str]:
    """The records that hang on a line of their module."""
    body = ast.parse(source).body
    words, wanted = set(), [node for node in body if node.lineno <= line <= (node.end_lineno or 0)]
    # tables say `name=rule`
    tables = [p for node in body for p in ast.walk(node) if isinstance(p, ast.keyword)]
    for node in wanted:
        parts = list(ast.walk(node))
        words |= {p.value for p in parts if isinstance(p, ast.Constant) and type(p.value) is str}
        words |= {
            table.arg
            for table in tables
            if table.lineno <= line <= (table.end_lineno or 0)
            or (
                isinstance(node, ast.FunctionDef)
                and any(
                    isinstance(p, ast.Name) and p.id == node.name for p in ast.walk(table.value)
                )
            )
        }
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            # those that name the function
            wanted += [
                other
                for other in body
                if other not in wanted
                and any(isinstance(p, ast.Name) and p.id == node.name for p in ast.walk(other))
            ]
    # some modules put a prefix before the names that they write down
    found = [n for n in TABLE if n in words or n.split("_", 1)[-1] in words]
    return [name for name in found if not name.startswith("ctc_")][:12]


def drawn(count: int, seed: int, only: str) -> list[tuple[str, Mutant]]:
    """Changes of all modules: each folder has its share, and each line one change at most."""
    rng = random.Random(seed)
    folders = ["prims", "tape", "interp", "compiler/passes", "optim"]
    pools = []
    for folder in folders:
        pool = [
            (str(path.relative_to(PACKAGE)), mutant)
            for path in sorted((PACKAGE / folder).glob("*.py"))
            for mutant in mutants(path.read_text())
        ]
        rng.shuffle(pool)
        pools.append([entry for entry in pool if entry[0].startswith(only)])
    found: list[tuple[str, Mutant]] = []
    taken: set[tuple[str, int]] = set()
    while len(found) < count and any(pools):
        for pool in pools:
            while pool:
                path, mutant = pool.pop()
                if (path, mutant.line) not in taken:
                    taken.add((path, mutant.line))
                    found.append((path, mutant))
                    break
    return found[:count]


def tell(path: str, mutant: Mutant, numbered: bool = True) -> str:
    """A change as people read it: without its number a line is known by what it says."""
    before, after = " ".join(mutant.before.split()), " ".join(mutant.after.split())
    line = (PACKAGE / path).read_text().splitlines()[mutant.line - 1].strip()
    number = f":{mutant.line}" if numbered else ""
    return f"{path}{number} {mutant.kind}: `{before}` -> `{after}` in `{line}`"


def run_drawn(tree: Tree, changes: list[tuple[str, Mutant]]) -> int:
    """Make changes one after another; how many went unnoticed."""
    survivors: list[str] = []
    text = (Path(__file__).parent / "survivors.md").read_text()
    listed = set(text.splitlines())
    for number, (path, mutant) in enumerate(changes):
        source = tree.read(path)
        began = time.monotonic()
        tests = tests_of(path, source, mutant)
        noticed, by = tree.noticed_by(path, mutant.applied(source), tests)
        seconds = time.monotonic() - began
        what = f"noticed by {by}" if noticed else "SURVIVED"
        print(f"{number} {seconds:.0f}s {tell(path, mutant)}: {what}", flush=True)
        if not noticed and f"* {tell(path, mutant, False)}" not in listed:
            survivors.append(tell(path, mutant))
    print(f"{len(survivors)} of {len(changes)} went unnoticed and are not listed:")
    print("\n".join(survivors))
    return len(survivors)


def run_known(tree: Tree, only: str) -> int:
    """Make the changes that once went unnoticed; how many do again."""
    with (Path(__file__).parent / "known.toml").open("rb") as file:
        known = tomllib.load(file)["change"]
    unnoticed = 0
    for change in known:
        path = change["file"]
        if not path.startswith(only):
            continue
        source = tree.read(path)
        changed = source.replace(change["before"], change["after"], 1)
        noticed, by = tree.noticed_by(path, changed, change["tests"])
        print(f"{change['what']}: {by if noticed else 'SURVIVED'}", flush=True)
        unnoticed += not noticed
    return unnoticed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=["drawn", "known"], default="drawn")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="how many to leave out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="what the paths of modules begin with")
    parser.add_argument("--list", action="store_true", help="say what would be changed")
    given = parser.parse_args()
    if given.list:
        for path, mutant in drawn(given.count, given.seed, given.only)[given.first :]:
            print(tell(path, mutant))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree(Path(folder))
        if given.what == "known":
            return run_known(tree, given.only)
        return run_drawn(tree, drawn(given.count, given.seed, given.only)[given.first :])


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
