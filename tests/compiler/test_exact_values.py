"""Test that signs of zero, infinities, NaN, and layouts under transforms are as uncompiled."""

from __future__ import annotations

import importlib.util
import warnings
from typing import Any

import numpy as np
import pytest

import wengert as wg
from support.samples import samples
from wengert.compiler.decompose.rules import DECOMPOSED
from wengert.func import vmap
from wengert.nn import functional as F
from wengert.prims.table import TABLE
from wengert.tape.record import T

BACKENDS = ["numpy", "llvm"] if importlib.util.find_spec("llvmlite") else ["numpy"]
EDGES = {
    "added to nothing": lambda x: wg.zeros_like(x) + x,
    "nothing added": lambda x: x + wg.zeros_like(x),
    "taken from nothing": lambda x: wg.zeros_like(x) - x,
    "sum": lambda x: x.sum(),
    "sum of what is negated": lambda x: (-x).sum(),
    "sum of one row": lambda x: x.reshape(1, -1).sum(0),
    "sum of copies": lambda x: x.expand(3, *x.shape).sum(0),
    "sum of a number": lambda x: wg.full((3,), -0.0, dtype=x.dtype).sum() * x,
    "mean": lambda x: x.mean(),
    "column by row": lambda x: x.reshape(-1, 1) @ x.reshape(1, -1),
    "matrix by a number": lambda x: wg.mv(x.reshape(-1, 1), x.reshape(-1)[:1]),
    "clamp from below": lambda x: x.clamp(min=0),
    "clamp from above": lambda x: x.clamp(max=0),
    "clamp to nothing": lambda x: x.clamp(0, 0),
    "relu": lambda x: x.relu(),
    "relu6": lambda x: F.relu6(x),
    "elu": lambda x: F.elu(x),
    "hardtanh": lambda x: F.hardtanh(x, 0, 1),
    "smaller than nothing": lambda x: wg.minimum(x, wg.zeros_like(x)),
    "larger than nothing": lambda x: wg.maximum(wg.zeros_like(x), x),
    "power of a tensor": lambda x: x ** wg.tensor(0.5, dtype=x.dtype),
    "power of one in a row": lambda x: x.reshape(-1, 1) ** wg.tensor([[0.5]], dtype=x.dtype),
    "power of a number": lambda x: x**0.5,
}
INPUTS = (
    *([-1.0, 0.0, -0.0, 1.0, -2.5], [-0.0, -0.0, -0.0], -0.0, [-np.inf, np.inf, -0.0]),
    *(-np.inf, [-np.inf], [-3.0, 3.0, 0.0], [np.nan, -0.0], [-0.0] * 20, [1.0, 2.0] * 9),
)


def bits(tensor: Any) -> Any:
    array = tensor.detach().numpy()
    return array.dtype, array.shape, np.nan_to_num(array, nan=9e9).tolist(), np.signbit(array)


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", EDGES)
def test_edges_of_numbers_are_as_uncompiled(name: str, backend: str) -> None:
    function = EDGES[name]
    f: Any = wg.compile(function, backend=backend, options={"measure": False}, fullgraph=True)
    for numbers in INPUTS:
        x = wg.tensor(numbers, dtype=wg.float64)
        *found, signs = bits(f(x))
        *expected, kept = bits(function(x))
        assert found == expected
        # the sign of a NaN has no meaning
        assert (signs == kept)[~np.isnan(function(x).numpy())].all()


def test_a_square_root_as_a_power_is_one_only_for_numbers() -> None:
    for lowest in (wg.tensor(-np.inf), wg.tensor([-np.inf] * 9)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert (lowest ** wg.tensor(0.5)).min() == np.inf
            assert (lowest**0.5).isnan().all()


LAYOUTS = (
    *(lambda x: x * 2, lambda x: x + x[0], lambda x: x.movedim(0, -1) * 1, lambda x: (-x)[..., 1:]),
    lambda x: x.sum(-1),
    lambda x: (x + 1).expand(2, *x.shape),
    lambda x: wg.stack([x, x * 2]).movedim(0, -1),
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("place", range(len(LAYOUTS)))
def test_results_of_transforms_lie_in_memory_as_uncompiled(
    place: int, dim: int, backend: str
) -> None:
    function = LAYOUTS[place]
    f: Any = wg.compile(function, backend=backend, options={"measure": False})
    whole = wg.arange(24.0)
    for x in (
        *(whole[:12].view(4, 3), whole[:12].view(3, 4).T, whole.view(8, 3)[::2]),
        *(whole.view(4, 6)[:, ::2], whole[:3].expand(4, 3), whole[:12].view(4, 3)),
    ):
        made, expected = vmap(f, in_dims=dim)(x), vmap(function, in_dims=dim)(x)
        assert made.stride() == expected.stride()
        assert made.tolist() == expected.tolist()


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore:.*is not compiled")
@pytest.mark.parametrize("prim", [p for p in TABLE.values() if DECOMPOSED[p]], ids=str)
def test_results_of_rules_lie_in_memory_as_those_of_kernels(prim: Any) -> None:
    def applied(*tensors: Any) -> Any:
        made = getattr(T, prim.name)(*tensors, **params)
        return made if isinstance(made, tuple) else (made,)

    for sample in samples(prim, np.float64, np.random.default_rng(0)):
        params = sample.params
        turned = [array.copy("F") for array in sample.arrays]
        try:
            expected = applied(*map(wg.from_numpy, turned))
        except (RuntimeError, ImportError):  # what the record refuses
            continue
        made = wg.compile(applied, options={"measure": False})(*map(wg.from_numpy, turned))
        assert [one.stride() for one in made] == [one.stride() for one in expected]
