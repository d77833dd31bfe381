"""Layer 9 · compat: SciPy's functions under JAX's names: ``jax.scipy``.

Its modules are imported when they are first named. Some special functions are SciPy's own, which
must be installed for them.
"""

from __future__ import annotations

from wengert.compat.kit.namespaces import closed as _closed

_NAMES = "fft integrate interpolate linalg ndimage optimize signal sparse special stats"
_ABSENT = {
    "cluster": "write scipy.cluster on np.asarray(x)",
    "spatial": "write jax.numpy",
}


__getattr__ = _closed(globals(), "jax.scipy", _ABSENT, _NAMES)


def __dir__() -> list[str]:
    return _NAMES.split()
