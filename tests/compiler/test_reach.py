"""Test names and attributes that functions look up: guarded on each call, or denied."""

from __future__ import annotations

import builtins
import os
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as wg

STEPS = {
    "a built-in function is shadowed": (
        "def f(x): return x * len((1, 2))\n"
        "def step(k): globals().update(len=lambda t: 7) if k == 1 else globals().pop('len', 0)\n"
    ),
    "a number among the built-in names": (
        "import builtins\nbuiltins.a_built_in_number = 2.0\n"
        "def f(x): return x * a_built_in_number\n"
        "def step(k): builtins.a_built_in_number = float(k)\n"
    ),
    "a module imported within": (
        "def f(x):\n import a_module\n return x * a_module.c\ndef step(k): M.c += 1\n"
    ),
    "a name imported within": (
        "def f(x):\n from a_module import c\n return x * c\ndef step(k): M.c += 1\n"
    ),
    **{
        f"an attribute that a module gets, asked for by {how}": (
            f"import functools\nimport operator\nbox = [M, getattr]\ndef f(x): return x * {use}\n"
            "def step(k): M.late = float(k) + 2\n"
        )
        for how, use in {
            "getattr": "getattr(M, 'late', 0.5)",
            "hasattr": "(1.0 if hasattr(M, 'late') else 2.0)",
            "a name that is made": "getattr(M, ''.join(['la', 'te']), 0.5)",
            "hasattr with such a name": "(1.0 if hasattr(M, ''.join(['la', 'te'])) else 2.0)",
            "vars": "vars(M).get('late', 0.5)",
            "its dictionary": "M.__dict__.get('late', 0.5)",
            "dir": "len(dir(M))",
            "in": "(1.0 if 'late' in vars(M) else 2.0)",
            "way of a list": "getattr(box[0], 'late', 0.5)",
            "another name of getattr": "box[1](M, chr(108) + 'ate', 0.5)",
        }.items()
    },
    "what a module makes of names that it has not": (
        "held = [1.0]\nM.__getattr__ = lambda name: held[0]\ndef f(x): return x * M.late\n"
        "def step(k): held[0] = float(k)\n"
    ),
    "what a module in a list makes of names": (
        "held = [1.0]\nM.__getattr__ = lambda name: held[0]\nbox = [M]\n"
        "def f(x): return x * box[0].late\ndef step(k): held[0] = float(k)\n"
    ),
    "a module by its name": (
        "import importlib\ndef f(x): return x * importlib.import_module('a_module').c\n"
        "def step(k): M.c += 1\n"
    ),
    "a module of sys": (
        "import sys\ndef f(x): return x * sys.modules['a_module'].c\ndef step(k): M.c += 1\n"
    ),
    "a module's attribute by its name": (
        "def f(x): return x * getattr(M, 'c')\ndef step(k): M.c += 1\n"
    ),
    "a global that is set": "def f(x):\n global g\n g = x * 2\n return x + 1\ndef step(k): pass\n",
    "a global that comes later": (
        "def f(x):\n try: return x * later\n except NameError: return x\n"
        "def step(k): globals().update(later=5.0) if k == 1 else None\n"
    ),
    "the environment": (
        "import os\ndef f(x): return x * float(os.environ.get('A_SCALE', '1'))\n"
        "def step(k): os.environ['A_SCALE'] = str(k + 2)\n"
    ),
    "an attribute of a tensor that comes later": (
        "t = T()\ndef f(x): return x * getattr(t, 'scale', 1.0)\ndef step(k): t.scale = float(k)\n"
    ),
    "an attribute of a class that comes later": (
        "class A: pass\na = A()\ndef f(x): return x * getattr(a, 'k', 1.0)\n"
        "def step(k): setattr(A if k < 3 else a, 'k', float(k))\n"
    ),
    "other bases": (
        "class B: k = 1.0\nclass C: k = 2.0\nclass A(B): pass\na = A()\n"
        "def f(x): return x * a.k\ndef step(k): A.__bases__ = (C,)\n"
    ),
    "another method": (
        "class A:\n def s(self): return 1.0\na = A()\ndef f(x): return x * a.s()\n"
        "def step(k): setattr(A if k < 3 else a, 's', lambda *_: float(k))\n"
    ),
    "globals of a function": (
        "def f(x): return x * f.__globals__['c']\nc = 1.0\ndef step(k): globals().update(c=k)\n"
    ),
    "globals of a frame": (
        "import sys\nc = 1.0\ndef f(x): return x * sys._getframe().f_globals['c']\n"
        "def step(k): globals().update(c=k)\n"
    ),
    "subclasses": (
        "class A: pass\nkept = []\ndef f(x): return x * len(A.__subclasses__())\n"
        "def step(k): kept.append(type('B', (A,), {}))\n"
    ),
    "the documentation of a function": (
        "def h(): '1'\ndef f(x): return x * float(h.__doc__)\ndef step(k): h.__doc__ = str(k)\n"
    ),
    "the name of a function": (
        "def h(): pass\ndef f(x): return x * len(h.__name__)\ndef step(k): h.__name__ = 'a' * k\n"
    ),
    **{
        f"the {what} behind {maker}": (
            f"import functools\nh = {maker}(lambda x: x * x)\n"
            f"def f(x): return x * {read}\ndef step(k): h.{change}\n"
        )
        for maker in ("functools.lru_cache", "wg.compile", "wg.func.grad", "wg.func.vmap")
        for what, read, change in (
            ("name", "len(h.__name__)", "__name__ = 'a' * k"),
            ("documentation", "len(h.__doc__ or '')", "__doc__ = 'a' * k"),
            ("function", "h.__wrapped__(2.0)", "__wrapped__ = lambda x: x * k"),
            ("attribute", "getattr(h, 'more', 1.0)", "more = k"),
        )
    },
    "the documentation of a class": (
        "class A: '1'\ndef f(x): return x * float(A.__doc__)\ndef step(k): A.__doc__ = str(k)\n"
    ),
    "annotations": (
        "class A: x: int = 1\ndef f(x): return x * len(A.__annotations__)\n"
        "def step(k): A.__annotations__[str(k)] = int\n"
    ),
    "the limit of recursion": (
        "import sys\ndef f(x): return x * sys.getrecursionlimit()\n"
        "def step(k): sys.setrecursionlimit(2000 + k)\n"
    ),
    "errors of NumPy": (
        "A = np.array([0.0])\ndef f(x):\n try: return x * float((1 / A)[0] > 1)\n"
        " except FloatingPointError: return x * 7\n"
        "def step(k): np.seterr(divide='raise' if k % 2 else 'ignore')\n"
    ),
    "the default dtype": (
        "def f(x): return x * wg.get_default_dtype().itemsize\n"
        "def step(k): wg.set_default_dtype(wg.float64 if k % 2 else wg.float32)\n"
    ),
    "the number of threads": (
        "def f(x): return x * wg.get_num_threads()\ndef step(k): wg.set_num_threads(k % 2 + 1)\n"
    ),
    "a seed": "def f(x):\n wg.manual_seed(3)\n return x * wg.rand(2)\ndef step(k): wg.rand(1)\n",
    "a generator": (
        "g = wg.Generator().manual_seed(1)\ndef f(x): return x * wg.rand(2, generator=g)\n"
        "def step(k): k == 2 and g.manual_seed(1)\n"
    ),
    "a generator that is seeded within": (
        "g = wg.Generator().manual_seed(1)\n"
        "def f(x):\n g.manual_seed(5)\n return x * wg.rand(2, generator=g)\ndef step(k): pass\n"
    ),
    "the seed of a generator": (
        "g = wg.Generator().manual_seed(1)\ndef f(x): return x * g.initial_seed()\n"
        "def step(k): g.manual_seed(k)\n"
    ),
    "a function that reduce() calls": (
        "import functools\ndef f(x):\n c = [0]\n def g(a, b):\n  c[0] += 1\n"
        "  return a + b * c[0]\n return functools.reduce(g, [x, x, x])\ndef step(k): pass\n"
    ),
    "a function that map() calls": (
        "def f(x):\n def larger(v): return bool(x.sum() > v)\n"
        " return x * any(map(larger, [5.0, 5.0, 5.0]))\ndef step(k): pass\n"
    ),
    "a function that sorted() calls": (
        "def f(x):\n n = [0]\n def key(i):\n  n[0] += 1\n  return float(x[i])\n"
        " return x[sorted(range(2), key=key)[0]] * n[0]\ndef step(k): pass\n"
    ),
}


def given(k: float = 1) -> Any:
    return wg.tensor([1.0 + k, 4.0 - k], dtype=wg.float64)


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    """What programs change is as it was."""
    dtype, threads, limit = wg.get_default_dtype(), wg.get_num_threads(), sys.getrecursionlimit()
    environ, errors = dict(os.environ), np.geterr()
    yield
    wg.set_default_dtype(dtype)
    wg.set_num_threads(threads)
    sys.setrecursionlimit(limit)
    vars(builtins).pop("a_built_in_number", None)
    os.environ.clear()
    os.environ.update(environ)
    np.seterr(**errors)


def told(source: str, backend: str | None) -> list[str]:
    """What a program gives, with a step between calls."""
    np.seterr(divide="ignore")
    os.environ.pop("A_SCALE", None)
    sys.setrecursionlimit(2000)
    wg.set_default_dtype(wg.float32)
    wg.set_num_threads(1)
    wg.manual_seed(0)
    module = types.ModuleType("a_module")
    module.c = 1.0  # type: ignore[attr-defined]
    sys.modules["a_module"] = module
    space: dict[str, Any] = {"__name__": "a_program", "wg": wg, "np": np, "M": module, "T": given}
    exec(source, space)
    used = space["f"]
    if backend is not None:
        used = wg.compile(used, backend=backend, options={"measure": False})
    found = []
    for k in range(5):
        found.append(str(used(given(k))))
        space["step"](k)
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("name", STEPS)
def test_what_is_looked_up_is_seen(name: str, backend: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert told(STEPS[name], backend) == told(STEPS[name], None)


@pytest.mark.parametrize(
    ("use", "why"),
    [
        ("len(textwrap.dedent('  a'))", None),
        ("len(html.escape('<'))", None),
        ("textwrap.dedent('  a').count('a') * len(box)", None),
        ("os.path.exists('/')", "os"),
        ("len(glob.glob('/*'))", "os"),
    ],
)
def test_functions_of_the_standard_library_in_python_are_walked(use: str, why: str | None) -> None:
    space: dict[str, Any] = {"box": [1]}
    exec(f"import glob, html, os, textwrap\ndef f(x): return x * {use}", space)
    compiled = wg.compile(space["f"], backend="numpy", options={"measure": False, "quiet": True})
    for _ in range(2):
        assert str(compiled(given())) == str(space["f"](given()))
        space["box"].append(1)
    found = compiled.explain().reason
    assert (found is None) if why is None else f"the module {why}," in str(found)


def test_names_that_a_module_cannot_have_are_not_asked_of_it() -> None:
    def f(x: Any) -> Any:
        # NumPy warns of the name `str`, and no attribute has an empty one
        kinds = [m for m in (wg.return_types, np) if getattr(m, "", None)]
        return x * 2 + len(kinds) if len(kinds) < 5 else x.str

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = wg.compile(f, backend="numpy", options={"measure": False})
        assert compiled(wg.ones(2)).tolist() == [2, 2]
