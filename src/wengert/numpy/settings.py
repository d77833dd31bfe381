"""Layer 9 · numpy: print options, under NumPy's names."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from wengert.tensor import printing

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    suppress: bool | None = None,
    **others: Any,
) -> None:
    """Set how arrays, and all tensors, are printed.

    Parameters
    ----------
    precision : int, optional. Digits after the decimal point (4).
    threshold : float, optional. Number of elements above which only the edges are shown (1000).
    edgeitems : int, optional. The number of elements shown at each edge then (3).
    linewidth : int, optional. Characters per line (80).
    suppress : bool, optional. Whether to never use scientific notation.

    Raises
    ------
    TypeError: If another option is given: arrays print as tensors do.

    Examples
    --------
    >>> with np.printoptions(precision=2):
    ...     np.array([np.pi])
    tensor([3.14], dtype=torch.float64)
    """
    if others:
        raise TypeError(
            f"set_printoptions() has no option {min(others)!r}: arrays print as tensors do, by "
            "precision, threshold, edgeitems, linewidth and suppress"
        )
    printing.set_printoptions(
        precision, threshold, edgeitems, linewidth, sci_mode=False if suppress else None
    )


def get_printoptions() -> dict[str, Any]:
    """Return the current options, as arguments for `set_printoptions`."""
    options = printing.get_printoptions()
    suppress = options.pop("sci_mode") is False
    return {**options, "suppress": suppress}


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[dict[str, Any]]:
    """Return a context with print options for the arrays printed in it."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield get_printoptions()
    finally:
        set_printoptions(**before)
