"""What values make a function raise: compiled, it raises the same, in the first call and later."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from random_memory import FAILS
from random_runs import space

import wengert as wg

BACKENDS = ["numpy", "llvm"] if importlib.util.find_spec("llvmlite") else ["numpy"]


def check(bad: Any) -> float:
    if bad:
        raise ValueError("bad")
    return 1.0


def told(function: Any, x: Any) -> str:
    try:
        result = function(x)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return str(result)


@pytest.mark.filterwarnings("ignore:.*is not compiled")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("first", ["raises", "passes"])
@pytest.mark.parametrize("used", [True])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("line", FAILS)
def test_values_raise_as_uncompiled(line: str, backend: str, used: bool, first: str) -> None:
    made = space()
    made["check"] = check
    text = f"def f(a):\n    found = {line.format(c=1)}\n    return {'found, ' * used}a * 2\n"
    exec(text, made)
    compiled = wg.compile(made["f"], backend=backend, options={"measure": False})
    bad, good = wg.full((3,), 2.0), wg.full((3,), 0.25)
    calls = [bad, good, bad, good] if first == "raises" else [good, good, bad, good]
    wg.manual_seed(0)
    expected = [told(made["f"], x) for x in calls]
    wg.manual_seed(0)
    assert [told(compiled, x) for x in calls] == expected
