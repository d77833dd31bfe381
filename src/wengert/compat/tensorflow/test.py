"""Layer 9 · compat: ``tf.test``: assertions about tensors, and questions about devices."""

from __future__ import annotations

import unittest
from typing import Any

import numpy as np

from wengert.compat.tensorflow import nest
from wengert.compat.tensorflow.conversion import convert_to_tensor, is_tensor
from wengert.compat.tensorflow.words import public


class TestCase(unittest.TestCase):
    """A test case of `unittest` whose assertions take tensors.

    Examples
    --------
    >>> tf.test.TestCase().assertAllClose(tf.constant([1.0, 2.0]), [1.0, 2.0 + 1e-7])
    """

    def evaluate(self, tensors) -> Any:
        """Return the values of tensors in a container, as arrays."""
        return nest.map_structure(lambda x: x.numpy() if is_tensor(x) else x, tensors)

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None) -> None:
        """Fail unless arrays, or containers of them, agree up to a tolerance."""
        self._agree(np.testing.assert_allclose, a, b, msg, rtol=rtol, atol=atol)

    def assertAllEqual(self, a, b, msg=None) -> None:
        """Fail unless arrays, or containers of them, are equal."""
        self._agree(np.testing.assert_array_equal, a, b, msg)

    def assertShapeEqual(self, input_a, input_b, msg=None) -> None:
        """Fail unless two arrays have one shape."""
        self.assertTupleEqual(np.shape(input_a), np.shape(input_b), msg)

    def assertNear(self, f1, f2, err, msg=None) -> None:
        """Fail unless two numbers differ by at most `err`."""
        self.assertTrue(abs(f1 - f2) <= err, msg or f"{f1!r} != {f2!r} +/- {err!r}")

    def _agree(self, check, a, b, msg, **tolerance) -> None:
        if isinstance(a, dict):
            self.assertEqual(sorted(a), sorted(b), msg)
            a, b = ([x[key] for key in sorted(a)] for x in (a, b))
            for one, other in zip(a, b, strict=True):
                self._agree(check, one, other, msg, **tolerance)
        else:
            one, other = (np.asarray(convert_to_tensor(x).numpy()) for x in (a, b))
            self.assertEqual(one.shape, other.shape, msg)
            check(one, other, err_msg=msg or "", **tolerance)


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None) -> bool:
    """Return False: there is one CPU."""
    return False


def gpu_device_name() -> str:
    """Return an empty name: there is no GPU."""
    return ""


def is_built_with_cuda() -> bool:
    """Return False."""
    return False


is_built_with_gpu_support = is_built_with_rocm = is_built_with_xla = is_built_with_cuda


def main(argv=None) -> None:
    """Run the tests of the main module."""
    unittest.main(argv=argv)


__all__ = public(globals())
