"""Errors of results that nobody reads are raised as they are uncompiled."""

from __future__ import annotations

import pytest

import wengert as wg


def remainder(x, i, m):
    wg.remainder(i, i - 1)
    return x * 2


def fmod(x, i, m):
    wg.fmod(i, i - 1)
    return x * 2


def gather(x, i, m):
    wg.gather(x, 0, i)
    return x * 2


def index(x, i, m):
    x[i]
    return x * 2


def index_select(x, i, m):
    x.index_select(0, i).exp()
    x.mul_(2)
    return x + 1


def inverse(x, i, m):
    wg.linalg.inv(m)
    return x * 2


def cholesky(x, i, m):
    wg.linalg.cholesky(m).sum()
    return x * 2


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize(
    "function", [remainder, fmod, gather, index, index_select, inverse, cholesky]
)
def test_errors_of_what_nobody_reads(function, backend):
    compiled = wg.compile(function, backend=backend, options={"measure": False})
    good, bad = wg.tensor([2, 0]), wg.tensor([1, 7])
    whole, singular = wg.eye(2), wg.tensor([[1.0, 2.0], [2.0, 4.0 - 8.0 * (function is cholesky)]])
    if function is inverse:
        singular = wg.tensor([[1.0, 2.0], [2.0, 4.0]])
    for _ in range(3):
        assert compiled(wg.ones(3), good, whole).shape == (3,)
    for _ in range(2):
        x = wg.ones(3)
        with pytest.raises((RuntimeError, IndexError, ValueError, ZeroDivisionError)) as wanted:
            function(wg.ones(3), bad, singular)
        with pytest.raises(wanted.type):
            compiled(x, bad, singular)
        assert x.tolist() == [1.0] * 3
    assert compiled.reason is None
