"""Test every record of the table compiled and uncompiled: values and gradients."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np
import pytest

import wengert as wg
from support.checks import BORROWING
from support.samples import differentiable_args, draw, samples, supports
from wengert.compiler.ir.facets import SIZE
from wengert.prims.whole import TABLE
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, new_tensor
from wengert.tape.node import is_leaf_edge
from wengert.tape.record import run

STRICT = {"measure": False}
LLVM = importlib.util.find_spec("llvmlite") is not None


def function_of(prim: Any, sample: Any) -> Any:
    """The primitive and its gradients for random weights, as a function of its arguments."""
    rng = np.random.default_rng(3)
    like = prim.kernel(*sample.arrays, **sample.params)
    weights = [
        new_tensor(draw("real", a.shape, a.dtype, rng))
        for a in (like if isinstance(like, tuple) else [like])
        if np.asarray(a).dtype.kind in "fc"
    ]

    def function(*tensors: Any) -> Any:
        found = run(prim, list(tensors), sample.params)
        outputs = list(found) if isinstance(found, tuple) else [found]
        inputs = [t for t in tensors if t._edge is not None]
        traced = [out for out in outputs if not is_leaf_edge(out._edge)]
        if not inputs or not traced:
            return outputs
        grads = run_grad(traced, inputs, weights[: len(traced)], False, False)
        return [out.detach() for out in outputs], grads

    return function


def check(name: str, backend: str, dtype: Any, most: int | None = None) -> None:
    prim = TABLE[name]
    if not supports(prim, dtype):
        return
    for i, sample in enumerate(samples(prim, dtype, np.random.default_rng(20))):
        if most is not None and i >= most:
            return
        traced = differentiable_args(prim, sample.arrays)
        tensors = [
            new_tensor(np.array(a), LEAF if k in traced else None)
            for k, a in enumerate(sample.arrays)
        ]
        function = function_of(prim, sample)
        expected = flat(function(*tensors))
        compiled = wg.compile(function, backend=backend, options=STRICT)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".* is not compiled, but runs as it is")
            for _ in range(3):
                found = flat(compiled(*tensors))
        # a program has one size for each result; memory that a rule borrows has no owner here
        if name not in BORROWING:
            assert (compiled.reason is None) == (SIZE[prim] != "values"), str(compiled.reason)
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            assert (ours is None) == (theirs is None)
            if ours is None:
                continue
            one, other = np.asarray(ours._payload), np.asarray(theirs._payload)
            assert one.shape == other.shape, f"{sample!r}"
            assert one.dtype == other.dtype, f"{sample!r}"
            tight = 200 * np.finfo(dtype).eps
            np.testing.assert_allclose(one, other, tight, tight, err_msg=f"{sample!r}")


def flat(result: Any) -> list[Any]:
    if isinstance(result, list | tuple):
        return [leaf for part in result for leaf in flat(part)]
    return [result]


@pytest.mark.sampled(16)
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("name", TABLE)
def test_records_agree_by_numpy(name: str) -> None:
    check(name, "numpy", np.float64)


@pytest.mark.sampled(8)
@pytest.mark.skipif(not LLVM, reason="needs llvmlite")
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("name", list(TABLE)[::4])
def test_records_agree_natively(name: str) -> None:
    check(name, "llvm", np.float64, most=1)


@pytest.mark.slow
@pytest.mark.skipif(not LLVM, reason="needs llvmlite")
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", TABLE)
def test_all_samples_of_records_agree_natively(name: str, dtype: Any) -> None:
    check(name, "llvm", dtype)
