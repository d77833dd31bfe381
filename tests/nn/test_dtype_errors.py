"""Test layers whose input has another dtype than their parameters."""

import pytest

import wengert as wg
from wengert import nn

CALLS = {
    "linear": lambda: nn.Linear(3, 2)(wg.ones(4, 3, dtype=wg.float64)),
    "linear, of integers": lambda: nn.Linear(3, 2)(wg.ones(4, 3, dtype=wg.int64)),
    "attention": lambda: nn.MultiheadAttention(4, 2)(*[wg.ones(2, 4, dtype=wg.float64)] * 3),
    "addmm": lambda: wg.addmm(wg.ones(2), wg.ones(4, 3, dtype=wg.float64), wg.ones(3, 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_products_with_something_added_name_both_dtypes(name):
    found = "Long" if "integers" in name else "Double"
    words = f"mat1 and mat2 must have the same dtype, but got {found} and Float"
    with pytest.raises(RuntimeError, match=words):
        CALLS[name]()
