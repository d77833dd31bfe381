"""Layer 9 · compat: the comparisons of ``mxnet.test_utils``."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.sections import fill_sections

__all__ = ["almost_equal", "assert_almost_equal", "same"]


def _plain(value: Any) -> Any:
    return value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)


def same(a: Any, b: Any) -> bool:
    """Whether all elements are equal."""
    return bool(np.array_equal(_plain(a), _plain(b)))


def almost_equal(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    """Whether all elements are near each other."""
    return bool(np.allclose(_plain(a), _plain(b), rtol=rtol, atol=atol))


def assert_almost_equal(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-6) -> None:
    """Raise an AssertionError that shows the largest difference, if elements are not near.

    Examples
    --------
    >>> mx.test_utils.assert_almost_equal(mx.np.ones(2), mx.nd.ones(2))
    """
    np.testing.assert_allclose(_plain(a), _plain(b), rtol=rtol, atol=atol)


fill_sections(globals())
