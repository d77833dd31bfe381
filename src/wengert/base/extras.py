"""Layer 0 · base: libraries that are there only if the user has installed an extra."""

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
    """The type of 16 bits with the range of float32, which NumPy has not.

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
    """The module ``scipy.<part>``, which `operation` needs.

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
    """The module `name`, of Dask or of what comes with it, which `operation` needs.

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
    """The progress bar of tqdm for terminals and notebooks; None if tqdm is not installed."""
    try:
        return _module("tqdm.auto").tqdm
    except ImportError:
        return None
