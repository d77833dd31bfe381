"""Layer 8 · __config__: the build configuration, as text."""

from __future__ import annotations

import numpy as np

from wengert import version
from wengert.base.names import shows
from wengert.base.threads import get_num_threads

__all__ = ["parallel_info", "show"]
__dir__ = shows(__all__)


def show() -> str:
    """Return the versions and the linear algebra libraries in use, one per line.

    Examples
    --------
    >>> print(wg.__config__.show())  # doctest: +ELLIPSIS
    wengert built with:
      - wengert ..., which follows PyTorch ...
      - NumPy ...
      - BLAS: ...
    """
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return (
        f"wengert built with:\n  - wengert {version.wengert}, which follows PyTorch "
        f"{version.__version__.partition('+')[0]}\n  - NumPy {np.__version__}\n"
        f"  - BLAS: {blas.get('name')} {blas.get('version')}\n"
    )


def parallel_info() -> str:
    """Return the number of threads that share the work, as text.

    Examples
    --------
    >>> wg.__config__.parallel_info().splitlines()[1]  # doctest: +ELLIPSIS
    '\\twg.get_num_threads() : ...'
    """
    return f"wengert parallel info:\n\twg.get_num_threads() : {get_num_threads()}\n"


def _cxx_flags() -> str:
    return ""
