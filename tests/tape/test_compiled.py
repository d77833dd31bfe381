"""Test the compiled modules: that they are in use where requested, and their own risks."""

import os
import subprocess
import sys

import numpy as np
import pytest

import wengert as wg
from wengert.base import native
from wengert.prims.table import TABLE
from wengert.tape import compiled
from wengert.tape.specialise import node_class


def run(code, **environment):
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}
    )
    return done.stdout.strip(), done.stderr


def test_the_environment_chooses():
    code = "from wengert.tape.compiled import IS_COMPILED; print(IS_COMPILED)"
    assert run(code, WENGERT_NATIVE="0")[0] == "False"
    out, err = run(code, WENGERT_NATIVE="1")
    assert out == "True" or "are not there or older than their source" in err


@pytest.mark.parametrize("changed", ["native/build.py", "src/wengert/tape/a.pxd", "none"])
def test_modules_that_are_older_than_their_source_are_left_alone(tmp_path, monkeypatch, changed):
    compiled, package = "src/wengert/native/tape/a.so", tmp_path / "src/wengert/tape"
    for name in ("native/build.py", "src/wengert/tape/a.pxd", "src/wengert/prims/b.py", compiled):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1, 3 if name == changed else 2 if name == compiled else 1))
    path = [str(package)]
    monkeypatch.setattr(native, "_WANTED", None)
    native.prefer_compiled(path)
    assert len(path) == (2 if changed == "none" else 1)
    monkeypatch.setattr(native, "_WANTED", "1")
    if changed != "none":
        with pytest.raises(ImportError, match=r"older than their source: run native/build\.py"):
            native.prefer_compiled(path)


def test_modules_of_an_installed_package_are_taken(tmp_path, monkeypatch):
    (tmp_path / "wengert/native/tape").mkdir(parents=True)
    path = [str(tmp_path / "wengert/tape")]
    monkeypatch.setattr(native, "_WANTED", None)
    native.prefer_compiled(path)
    assert path[0] == str(tmp_path / "wengert/native/tape")


def test_what_is_asked_for_is_in_use():
    wanted = os.environ.get("WENGERT_NATIVE")
    assert wanted is None or (wanted == "1") == compiled.IS_COMPILED


def test_code_from_another_record_is_not_used():
    prim = TABLE["mul"]
    assert compiled.signature_of(prim) != compiled.signature_of(TABLE["add"])
    if compiled.IS_COMPILED:
        assert compiled.compiled_node(prim, ()) is not None
        assert compiled.compiled_node(TABLE["roll"], ()) is None


def test_nodes_are_what_users_know():
    x = wg.ones(3, requires_grad=True)
    node = (x * x).grad_fn
    assert isinstance(node, wg.autograd.graph.Node) and type(node) is node_class(TABLE["mul"])
    assert type(node).__name__ == "MulBackward0" and node.name() == "MulBackward0"
    assert node._saved_self is x
    with pytest.raises(AttributeError):
        node.no_such_attribute  # noqa: B018


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("symbol", ["+", "-", "*", "/"])
def test_arithmetic_is_numpys_to_the_bit(symbol, dtype):
    rng = np.random.default_rng(0)
    for shape in [(), (1,), (7,), (3, 5), (2, 0), (40, 100)]:
        a, b = (rng.normal(size=shape).astype(dtype) for _ in range(2))
        for right in (b, 0.1, -3.0):
            x = wg.tensor(right) if isinstance(right, np.ndarray) else right
            made = eval(f"a {symbol} x", {"a": wg.tensor(a), "x": x}).numpy()
            expected = eval(f"a {symbol} b", {"a": a, "b": right})
            assert made.dtype == dtype and made.shape == shape
            assert np.array_equal(made, expected)


def test_layouts_that_are_not_plain_compute_the_same():
    a, b = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(4, 3)
    for x, y in [(a.T, b), (a[::2], a[:2]), (a[:, ::-1].T, b), (a[0], a), (a, a[:, :1])]:
        u, v = wg.from_numpy(np.ascontiguousarray(x)), wg.from_numpy(np.ascontiguousarray(y))
        assert np.array_equal((u * v).numpy(), x * y)
    u = wg.tensor(a).t()
    assert np.array_equal((u * u + u).numpy(), a.T * a.T + a.T)


@pytest.mark.parametrize(
    ("left", "right", "symbol"),
    [([1e38], [1e38], "*"), ([1.0], [0.0], "/"), ([np.inf], [np.inf], "-"), ([3e38], [3e38], "+")],
)
def test_what_overflows_or_is_invalid_is_ieees(left, right, symbol):
    a, b = np.array(left, np.float32), np.array(right, np.float32)
    with np.errstate(all="ignore"):
        expected = eval(f"a {symbol} b", {"a": a, "b": b})
        made = eval(f"a {symbol} b", {"a": wg.tensor(a), "b": wg.tensor(b)}).numpy()
    assert np.array_equal(made, expected, equal_nan=True)


def test_a_zero_cotangent_still_meets_no_infinite_derivative():
    x = wg.tensor([0.0, 4.0], requires_grad=True)
    wg.where(x > 0, x.sqrt(), 0.0).sum().backward()
    assert x.grad.tolist() == [0.0, 0.25]
    y = wg.tensor([0.0, 2.0], requires_grad=True)
    with np.errstate(divide="ignore"):
        wg.where(y > 0, 1 / y, 0.0).sum().backward()
    assert y.grad.tolist() == [0.0, -0.25]
