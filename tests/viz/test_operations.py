"""Test that every operation is drawn in every mode, with the right tangents."""

import warnings

import numpy as np
import pytest

import wengert.prims.whole  # noqa: F401  it registers the records that are imported late
from support.checks import _leaves
from support.samples import samples, supports
from wengert.prims.table import TABLE
from wengert.tape.record import T
from wengert.viz import draw, tree
from wengert.viz.collect import Graph
from wengert.viz.sweep import reverse_sweep, tangents_of

ALL = "value,shape,grad,saved,local,bytes"


def results(prim, dtype, most):
    """The leaves and the outputs of some samples of an operation that have a derivative."""
    if not supports(prim, dtype):
        return
    for sample, _ in zip(
        samples(prim, dtype, np.random.default_rng(20)), range(most), strict=False
    ):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            leaves = _leaves(prim, sample)
            try:
                out = getattr(T, prim.name)(*leaves, **sample.params)
            except (RuntimeError, ImportError, np.linalg.LinAlgError):
                continue
        outs = [o for o in (out if isinstance(out, tuple) else (out,)) if o._edge is not None]
        if outs:
            yield leaves, outs


def random_like(rng, payload):
    values = rng.standard_normal(payload.shape)
    if payload.dtype.kind == "c":
        values = values + 1j * rng.standard_normal(payload.shape)
    return values.astype(payload.dtype)


def check(prim, dtype, most):
    for leaves, outs in results(prim, dtype, most):
        names = {f"x{i}": leaf for i, leaf in enumerate(leaves) if leaf._edge is not None}
        for mode in ("backward", "double", "forward"):
            notes = draw(outs, names, show=ALL, mode=mode).picture.notes
            if mode == "double":
                # some have no second derivative, and the picture says so
                notes = [note for note in notes if "is not implemented" not in note]
            assert not [note for note in notes if " are shown" in note or "could not" in note]
        assert str(tree(outs, names)).startswith("y")
        # the transpose of the transpose: <u, J v> = <J^T u, v>
        graph, rng = Graph(outs), np.random.default_rng(1)
        u = [random_like(rng, out._payload) for out in outs]
        v = {graph.number[x]: random_like(rng, x._payload) for x in leaves if x in graph.number}
        swept = reverse_sweep(graph, u)
        metas = {key: (np.shape(g), g.dtype) for key, g in swept.adjoints.items()}
        found = tangents_of(graph, v, metas)
        pairs = zip(u, graph.roots, strict=True)
        left = sum(np.vdot(g, found.get(root, 0 * g)).real for g, root in pairs)
        right = sum(np.vdot(t, swept.adjoints.get((i, 0), 0 * t)).real for i, t in v.items())
        np.testing.assert_allclose(left, right, rtol=1e-6, atol=1e-9)


EVERYDAY = ("add", "mul", "div", "pow_scalar", "exp", "abs", "mm", "sum", "cat", "index", "unbind")
DIFFERENTIABLE = sorted(name for name, prim in TABLE.items() if prim.is_differentiable)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("name", EVERYDAY)
def test_everyday_operations(name, dtype):
    check(TABLE[name], dtype, 4)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_every_operation(name, dtype):
    check(TABLE[name], dtype, 4)
