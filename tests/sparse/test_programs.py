"""Test that patterns of random programs, with views and in-place writes, hold all nonzeros."""

import random

import numpy as np
import pytest

import wengert as wg
from support.functions import functions
from support.programs import CHOICES, write
from wengert.sparse.passes import rows_of
from wengert.sparse.patterns import pattern_of

pytest.importorskip("scipy")
NO_HOOKS = ("backward", "grad(", "register", "retain", "remove", "hook")


def values_of(lines):
    """The tensors that a program makes; lines that are refused are left out."""
    names = {**functions(wg), "t": wg}
    for line in lines:
        if not any(word in line for word in NO_HOOKS):
            try:
                exec(line, names)
            except (RuntimeError, NameError, IndexError, TypeError, ValueError):
                continue
    found = [value for value in names.values() if isinstance(value, wg.Tensor)]
    return [value for value in found if can_be_read(value)]


def can_be_read(value):
    try:
        return value.requires_grad and value.is_leaf in (True, False)
    except RuntimeError:  # a view that a write has spoiled
        return False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(8))
def test_patterns_of_programs_hold_all_nonzeros(seed):
    rng = random.Random(seed)
    checked = 0
    for _ in range(20):
        leaves = [(rng.randrange(7), rng.randrange(6)) for _ in range(3)]
        steps = [[rng.randrange(1000) for _ in range(CHOICES + 2)] for _ in range(12)]
        lines = write(leaves, steps)
        values = values_of(lines)
        leaves = [value for value in values if value.is_leaf]
        for value in values:
            if value.is_leaf or value.dtype.is_complex or not 0 < value.numel() <= 40:
                continue
            product = rows_of([value], leaves)
            try:
                with np.errstate(all="ignore"):
                    jacobian = np.array([product(row) for row in np.eye(value.numel())])
            except RuntimeError:  # what was saved has been written to
                continue
            found = pattern_of([value], leaves).toarray()
            # a derivative that is NaN spoils the zeros of others
            missing = (jacobian != 0) & np.isfinite(jacobian) & ~found
            assert not missing.any(), "\n".join(lines)
            checked += 1
    assert checked > 30
