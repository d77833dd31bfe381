"""Test the batching rule of every record: a batch equals a loop over its elements."""

import contextlib
import itertools

import numpy as np
import pytest

from support.samples import samples, supports
from wengert.interp import batching_rules
from wengert.interp.batched import RULES, B, Batched
from wengert.interp.eager import K
from wengert.interp.levels import Level
from wengert.prims.whole import TABLE
from wengert.tape.modes import MODE, change_mode, current_mode

SIZE = 3
RECORDS = [name for name, prim in TABLE.items() if prim.args and prim.cases]
DTYPES = (np.float64, np.complex128, np.int64)
VALUE_DEPENDENT = """
    masked_select masked_select_backward masked_scatter_backward nonzero unique unique_consecutive
    unique_consecutive_values unique_rows unique_values
"""
"""Records whose results' shapes depend on values, or whose arguments' shapes do."""
DIVIDES = frozenset({"nll_loss_backward"})
"""Records whose kernels divide, which is never done with integers."""
FALLBACKS = """
    as_strided as_strided_backward as_strided_scatter bincount block_diag block_diag_backward
    channel_sums ctc_loss ctc_posterior group_norm_backward gru_backward gru_layer histc histogram
    isin lstm_backward lstm_layer nonzero nonzero_static rnn_backward rnn_layer unique
    unique_consecutive unique_consecutive_values unique_rows unique_values
"""
"""Records that run once for each element of a batch; two of them, `channel_sums` and
`group_norm_backward`, are what rules use on arrays, and no batch comes to them."""


def flat(result):
    return list(result) if isinstance(result, tuple) else [result]


def subsets(arrays):
    """Which arguments are batched: every way for up to three, some of the ways for more."""
    count = len(arrays)
    if count <= 3:
        return [mask for mask in itertools.product((False, True), repeat=count) if any(mask)]
    alone = [tuple(i == k for i in range(count)) for k in range(count)]
    return [(True,) * count, *alone, *[tuple(not own for own in mask) for mask in alone]]


def stacked(arrays):
    return np.stack(arrays) if len({array.shape for array in arrays}) == 1 else None


def drawn(prim, dtype):
    """Groups of samples of one case, one for each element of the batch."""
    sets = [list(samples(prim, dtype, np.random.default_rng(i + 1))) for i in range(SIZE)]
    return zip(*sets, strict=True)


def is_taken(prim, dtype):
    """Whether the kernel sees this dtype: integers may become floating-point before it does."""
    try:
        if not supports(prim, dtype):
            return False
        if np.dtype(dtype).kind in "fc":
            return True
        found = list(samples(prim, dtype, np.random.default_rng(0)))
        if (
            prim.promote == "float"
            or prim.name in DIVIDES
            or not any(not callable(spec) for sample in found for spec in sample.case.shapes)
        ):
            return False
        results = [r for s in found for r in flat(getattr(K, prim.name)(*s.arrays, **s.params))]
    except (ValueError, TypeError, KeyError, ArithmeticError, RuntimeError):
        return False
    return all(result.dtype.kind in "biu" for result in results)


def wanted(prim, rows, params):
    """What a loop gives; None where the operation refuses some element."""
    try:
        results = [flat(getattr(K, prim.name)(*row, **params)) for row in rows]
    except (TypeError, ValueError, RuntimeError):
        return None
    return [[np.asarray(part) for part in parts] for parts in zip(*results, strict=True)]


@contextlib.contextmanager
def active(level):
    """Compute within a level, as under `vmap`."""
    before = current_mode()
    change_mode(levels=(level,))
    try:
        yield
    finally:
        MODE.set(before)


def agrees(prim, rows, params, mask):
    """Compare one batch with a loop; whether there was anything to compare."""
    columns = [stacked(column) for column in zip(*rows, strict=True)]
    if any(batched and columns[i] is None for i, batched in enumerate(mask)):
        return False
    first = rows[0]
    rows = [[r[i] if batched else first[i] for i, batched in enumerate(mask)] for r in rows]
    want = wanted(prim, rows, params)
    if want is None or any(len({part.shape for part in parts}) > 1 for parts in want):
        return False
    whole = [np.stack(parts) for parts in want]
    level = Level(1, SIZE)
    args = [Batched(columns[i], level) if batched else first[i] for i, batched in enumerate(mask)]
    with active(level):
        got = flat(getattr(B, prim.name)(*args, **params))
    assert len(got) == len(whole)
    for part, expected in zip(got, whole, strict=True):
        found = np.asarray(part.value)
        said = f"{mask} {params}: {found.dtype} {found.shape}"
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype), said
        near = 1e-9 if expected.dtype.kind in "fc" else 0
        np.testing.assert_allclose(found, expected, near, near, err_msg=said)
    return True


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RECORDS)
def test_a_batch_gives_what_a_loop_gives(name):
    prim = TABLE[name]
    count = 0
    for dtype in DTYPES:
        if not is_taken(prim, dtype):
            continue
        for group in drawn(prim, dtype):
            rows = [sample.arrays for sample in group]
            for mask in subsets(rows[0]):
                count += agrees(prim, rows, group[0].params, mask)
    assert count or name in VALUE_DEPENDENT.split()


def test_the_fallbacks_are_these():
    assert batching_rules.fallbacks() == sorted(FALLBACKS.split())


def test_a_record_has_one_rule():
    with pytest.raises(ValueError, match="mm has the facet batching_rule twice"):
        RULES.of(TABLE["mm"])(RULES[TABLE["mv"]])
