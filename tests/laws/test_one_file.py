"""Test that adding an operation edits one file, by the documented steps on a copy of the tree."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

USE = """
import wengert as wg
from wengert import func

x = wg.tensor([0.0, 1.0], dtype=wg.float64, requires_grad=True)
y = x.detach()
slope = wg.autograd.grad(wg.sech(x).sum(), x)[0]
assert wg.autograd.gradcheck(wg.sech, (x,), check_forward_ad=True)
assert wg.autograd.gradgradcheck(wg.sech, (x,))

assert wg.allclose(wg.sech(x), 1 / wg.cosh(y))
assert x.sech().tolist() == y.clone().sech_().tolist() == wg.sech(y).tolist()
assert wg.sech(y, out=wg.empty(2, dtype=wg.float64)).tolist() == wg.sech(y).tolist()
assert "element by element" in wg.sech.__doc__ and "sech" in dir(wg)

assert wg.allclose(func.jvp(wg.sech, (y,), (wg.ones_like(y),))[1], slope)
assert wg.allclose(func.vmap(wg.sech)(y), wg.sech(y))
assert wg.sech(x).grad_fn.name() == "SechBackward0"
picture = wg.viz.dependency_graph(wg.sech, wg.tensor(1.0)).picture
assert any("tanh" in arrow.label for arrow in picture.arrows)

for backend in BACKENDS:
    compiled = wg.compile(lambda x: (wg.sech(x) * 2).sum(), backend=backend)
    for _ in range(2):
        found = compiled(x)
        assert wg.allclose(found, 2 * wg.sech(x).sum())
        assert wg.allclose(wg.autograd.grad(found, x)[0], 2 * slope)
    assert compiled.reason is None
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree, with what the page writes in the file that it names."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("src", "stubs", "tests/table", "tests/lib"):
        shutil.copytree(ROOT / name, folder / name)  # with the bytecode of what stays as it is
    for name in ("pyproject.toml", "tests/conftest.py"):
        shutil.copy(ROOT / name, folder / name)
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("## Adding an operation: one record")[2]
    (place,) = re.findall(r"belongs in `(.*?)`:", section)
    record = re.search("```python\n(.*?)```", section, re.DOTALL).group(1)
    assert record.startswith('elementwise(\n    "sech"')
    with (folder / place).open("a", encoding="utf-8") as file:
        file.write("\n\n" + record)
    return folder


def run(tree, *arguments):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(tree / part) for part in ("src", "tests/lib")),
        "WENGERT_NATIVE": "0",
    }
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_operation_is_there_for_its_users(tree):
    try:
        import llvmlite  # noqa: F401
    except ImportError:
        backends = ("numpy",)
    else:
        backends = ("numpy", "llvm")
    run(tree, "-c", USE.replace("BACKENDS", repr(backends)))


def test_type_checkers_know_it(tree):
    run(tree, "stubs/generate.py")
    package = (tree / "src/wengert/__init__.pyi").read_text(encoding="utf-8")
    assert "def sech(input: Tensor, *, out: Tensor | None = None) -> Tensor: ..." in package
    methods = (tree / "src/wengert/types.pyi").read_text(encoding="utf-8")
    assert "def sech(self, *, out: Tensor | None = None) -> Tensor: ..." in methods
    assert "def sech_(self) -> Tensor: ..." in methods


def test_the_table_of_operations_has_it(tree):
    # the table of this function, since that of all takes seconds
    code = (
        "import wengert as wg, wengert.cli.operations as page\n"
        "found = [row for row in page._functions(wg, dir(wg)).items() if 'sech' in row[1]]\n"
        "print(page._table('wengert', found, set()))"
    )
    assert "| `sech` |" in run(tree, "-c", code)


def test_its_tests_are_there(tree):
    said = run(tree, "-m", "pytest", "-q", "tests/table", "-k", "sech", "-p", "no:cacheprovider")
    assert int(re.search(r"(\d+) passed", said).group(1)) > 5
