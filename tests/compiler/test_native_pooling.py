"""Test native forms of pooling against the kernels that they replace."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from support.native_forms import step_of, whole
from wengert.compiler.codegen.native import pooling as native_pooling
from wengert.prims.whole import TABLE

f2, f4, f8 = np.dtype("f2"), np.dtype("f4"), np.dtype("f8")


def drawn(*shape, seed=0, dtype=f8):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def native(name, *arrays, **params):
    return whole(*step_of(name, arrays, params))


def agrees(name, *arrays, **params):
    found = native(name, *arrays, **params)
    assert found is not None
    result, failed = found
    assert not failed
    np.testing.assert_array_equal(result, TABLE[name].kernel(*arrays, **params), strict=True)


def window(kernel, stride=None, dilation=None, ceil_mode=False, padding=None):
    return {
        "kernel_size": kernel,
        "stride": kernel if stride is None else stride,
        "padding": (0,) * len(kernel) if padding is None else padding,
        "dilation": (1,) * len(kernel) if dilation is None else dilation,
        "ceil_mode": ceil_mode,
    }


def both_agree(x, **params):
    agrees(f"max_pool{len(params['kernel_size'])}d", x, **params)
    agrees("max_pool_indices", x, **params)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [f4, f8])
@pytest.mark.parametrize("length", [2, 3, 8, 15, 28, 33, 64, 67])
def test_lines_of_all_lengths(length, dtype):
    both_agree(drawn(2, 3, 5, length, dtype=dtype), **window((2, 2)))
    both_agree(drawn(2, 3, 5, length, dtype=dtype), **window((3, 1), (1, 1)))


def test_windows_of_all_kinds():
    x = drawn(2, 2, 9, 41)
    both_agree(x, **window((3, 3), (2, 2)))
    both_agree(x, **window((2, 3), (3, 3)))
    both_agree(x, **window((2, 3), (1, 4), (3, 5)))
    both_agree(x, **window((1, 1), (2, 3)))
    both_agree(np.ascontiguousarray(x[..., :7]), **window((9, 7)))
    both_agree(drawn(3, 23), **window((4,)))
    both_agree(drawn(2, 5, 6, 13), **window((2, 3, 2)))
    # of as many elements as in ceil mode fill whole windows
    both_agree(drawn(1, 4, 8), **window((2, 2), ceil_mode=True))


def test_of_equal_elements_the_first_and_of_nans_the_last():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (2, 2, 8, 34)).astype(f4)
    both_agree(x, **window((2, 2)))
    both_agree(x, **window((3, 3), (1, 1)))
    x[rng.random(x.shape) < 0.2] = np.nan
    x[rng.random(x.shape) < 0.2] = -np.inf
    both_agree(x, **window((2, 2)))
    both_agree(x, **window((3, 3), (1, 2)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [f4, f8])
@pytest.mark.parametrize("length", [3, 6, 13, 16, 31, 40])
def test_windows_that_reach_over_the_edges(length, dtype):
    x = drawn(2, 3, 7, length, dtype=dtype)
    both_agree(x, **window((3, 3), (2, 2), padding=(1, 1)))
    both_agree(x, **window((3, 3), (2, 2), padding=(1, 1), ceil_mode=True))
    both_agree(x, **window((2, 2), ceil_mode=True))
    both_agree(x, **window((4, 3), (1, 3), padding=(2, 0), ceil_mode=True))
    both_agree(x, **window((5,), (4,), padding=(2,)))
    both_agree(x, **window((2, 3, 2), (1, 2, 1), padding=(1, 1, 0)))
    # nothing is larger than what lies beyond the edges
    x[...] = -np.inf
    both_agree(x, **window((3, 3), (2, 2), padding=(1, 1)))
    x[..., ::3] = np.nan
    both_agree(x, **window((3, 3), (2, 2), padding=(1, 1)))
    both_agree(x, **window((3, 2), (1, 2), padding=(1, 1), ceil_mode=True))


def test_what_is_left_to_the_kernels():
    x = drawn(1, 2, 7, 19)
    for params in (
        # over the edges
        window((3, 3), (2, 2), (2, 1), padding=(1, 1)),
        window((2, 2), (2, native_pooling._MAX_STRIDE + 1)),
        window((5, 13), (1, 1)),
    ):
        assert native("max_pool2d", x, **params) is None
        assert native("max_pool_indices", x, **params) is None
    assert native("max_pool2d", x.astype(f2), **window((2, 2))) is None
    assert native("max_pool2d", x[:0], **window((2, 2))) is None
