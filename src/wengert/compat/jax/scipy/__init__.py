"""Layer 9 · compat: SciPy's functions under JAX's names: ``jax.scipy``.

Its modules are imported on first use. Some special functions are SciPy's own and need SciPy to be
installed.
"""

from __future__ import annotations

from wengert.compat.kit.namespaces import closed as _closed

_NAMES = "fft integrate interpolate linalg ndimage optimize signal sparse special stats"


__getattr__ = _closed(globals(), _NAMES)


def __dir__() -> list[str]:
    return _NAMES.split()
