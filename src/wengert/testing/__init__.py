"""Layer 9 · testing: `assert_close`, tests that follow from the records, and comparison with
PyTorch."""

from __future__ import annotations

from wengert.testing.close import assert_close

__all__ = ["assert_close"]
