"""Modules of both libraries, made from the same seed, and compared by what they give."""

import numpy as np
import pytest

import wengert as wg

torch = pytest.importorskip("torch")


def both(make):
    """What `make` makes of either library, from the same seed."""
    made = []
    for library in (torch, wg):
        library.manual_seed(3)
        made.append(make(library))
    return made


def array(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def flat(result):
    if isinstance(result, tuple | list):
        return [value for part in result for value in flat(part)]
    return [] if result is None else [result]


def same(theirs, ours, tight=1e-10):
    assert len(theirs) == len(ours)
    for a, b in zip(theirs, ours, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert tuple(a.shape) == tuple(b.shape)
            np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), tight, tight)


def compare(make, run, begin=both):
    """Compare outputs, and gradients by everything, of a run of a module in float64."""
    found = []
    for library, module in zip((torch, wg), begin(make), strict=True):
        module.double()
        library.manual_seed(11)
        outputs, leaves = run(library, module)
        outputs = flat(outputs)
        kept = [out for out in outputs if out.is_floating_point()]
        weights = [array(*out.shape, seed=7 + i) for i, out in enumerate(kept)]
        sum((o * library.tensor(w)).sum() for o, w in zip(kept, weights, strict=True)).backward()
        grads = [p.grad for p in module.parameters()] + [x.grad for x in leaves]
        found.append((outputs, grads))
    for theirs, ours in zip(*found, strict=True):
        same(theirs, ours)
