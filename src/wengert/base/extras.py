"""Layer 0 · base: optional dependencies, which the user installs as extras."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np

from wengert.base.dtypes import dtype, from_numpy_dtype


@cache
def _module(name: str) -> Any:
    return importlib.import_module(name)


def bfloat16() -> dtype:
    """Return the bfloat16 dtype: 16 bits with the range of float32, which NumPy lacks.

    Raises
    ------
    ImportError: Unless the package ml_dtypes is installed.
    """
    try:
        extended = _module("ml_dtypes")
    except ImportError as error:
        raise ImportError(
            "bfloat16 needs the package ml_dtypes, which is not installed: pip install ml_dtypes"
        ) from error
    return from_numpy_dtype(np.dtype(extended.bfloat16))


def scipy_module(part: str, operation: str) -> Any:
    """Import the module ``scipy.<part>``, which `operation` needs.

    Raises
    ------
    ImportError: If SciPy is not installed; the message names the operation and the extra.
    """
    try:
        return _module(f"scipy.{part}")
    except ImportError as error:
        raise ImportError(
            f"{operation}() needs SciPy, which is not installed: pip install 'wengert[scipy]'"
        ) from error


def dask_module(name: str, operation: str) -> Any:
    """Import the module `name` of Dask, or of a package that comes with it, which `operation`
    needs.

    Raises
    ------
    ImportError: If Dask is not installed; the message names the operation and the extra.
    """
    try:
        return _module(name)
    except ImportError as error:
        raise ImportError(
            f"{operation} needs Dask ({name}), which is not installed: "
            "pip install 'wengert[distributed]'"
        ) from error


def tqdm() -> Any:
    """Return tqdm's progress bar for terminals and notebooks; None if tqdm is not installed."""
    try:
        return _module("tqdm.auto").tqdm
    except ImportError:
        return None
