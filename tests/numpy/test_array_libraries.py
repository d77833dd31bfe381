"""Test SciPy and other libraries that follow the array API standard."""

import os
import pathlib
import subprocess
import sys

import pytest


def python(*arguments):
    path = os.pathsep.join(p for p in sys.path if p)
    environment = {**os.environ, "PYTHONPATH": path, "SCIPY_ARRAY_API": "1"}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False
    )


def ran(*arguments):
    return python("-W", "ignore", "-m", "support.array_libraries", *arguments)


@pytest.mark.slow
def test_what_other_libraries_compute_has_right_gradients():
    pytest.importorskip("scipy", minversion="1.17")
    found = ran()
    *wrong, last = found.stdout.splitlines() or [found.stderr]
    assert last.endswith("0 differ"), "\n".join([*wrong, last])
    assert int(last.split()[0]) >= 500


def test_the_page_of_functions_is_what_the_calls_and_the_errors_say():
    scipy = pytest.importorskip("scipy", minversion="1.17")
    if not scipy.__version__.startswith("1.17."):
        pytest.skip("the page is about SciPy 1.17: later ones take more arrays")
    page = pathlib.Path(__file__).parents[2] / "docs" / "arrays-functions.md"
    message = "run python -m support.array_libraries --page > docs/arrays-functions.md"
    assert ran("--page").stdout == page.read_text(encoding="utf-8"), message


SEARCH = """
import sys, wengert as wg, wengert.numpy as xp
from scipy.optimize.elementwise import find_root
a = xp.asarray(4.0)
for needs in (False, True):
    a.requires_grad_(needs)
    found = find_root(lambda z, a: z * z - a, (xp.asarray(0.0), xp.asarray(5.0)), args=(a,))
    print(float(found.x))
    print("found", file=sys.stderr)
"""


def test_a_search_says_that_gradients_do_not_pass_in_full():
    pytest.importorskip("scipy", minversion="1.17")
    found = python("-c", SEARCH)
    assert list(map(float, found.stdout.split())) == pytest.approx([2.0, 2.0])
    without, with_gradient, _ = found.stderr.split("found\n")
    assert "differentiates the last steps of a search only" not in without
    assert "differentiates the last steps of a search only" in with_gradient


COMPILED = """
import wengert.compat
wengert.compat.install("torch")
import einops, torch
import einops.layers.torch as layers
pattern, layer, scale = "a b -> b a", layers.Rearrange("a b -> b a"), 2.0
def scaled(x, axes):
    return x.sum(axes) * scale
programs = [
    lambda x: einops.rearrange(x, pattern) * 2,
    lambda x: layer(x) * 2,
    lambda x: einops.reduce(x, "a b -> a", scaled),
    lambda x: einops.einsum(x, einops.repeat(x, "a b -> a b c", c=2), "a b, a b c -> c"),
]
compiled = [torch.compile(program, fullgraph=True) for program in programs]
x = torch.arange(6.0).reshape(2, 3)
for pattern in ("a b -> b a", "a b -> (a b)"):
    for original in (einops.rearrange, lambda x, pattern: x + 1):
        einops.rearrange, before = original, einops.rearrange
        for program, quick in zip(programs, compiled):
            for _ in range(3):
                a, b = (x.clone().requires_grad_() for _ in range(2))
                pairs = (program, a), (quick, b)
                grads = [f(v).square().sum().backward() or v.grad for f, v in pairs]
                assert torch.equal(quick(x), program(x)) and torch.equal(*grads)
        einops.rearrange = before
    layer, scale = layers.Rearrange("a b -> (a b)"), 3.0
print("equal")
"""


def test_einops_compiles_and_follows_what_its_callers_change():
    pytest.importorskip("einops")
    found = python("-c", COMPILED)
    assert found.stdout == "equal\n", found.stderr
