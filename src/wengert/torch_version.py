"""Layer 0 · base: version strings that compare as versions, like ``torch.__version__``."""

from __future__ import annotations

import re
from typing import Any

from wengert.base.names import shows

__all__ = ["TorchVersion"]
__dir__ = shows(__all__)

_FORM = re.compile(
    r"v?(?P<release>\d+(?:\.\d+)*)[-_.]?(?P<before>(?:a|b|c|rc|alpha|beta|pre|dev)[-_.]?\d*)?"
    r"[^+]*(?:\+(?P<local>.*))?",
    re.IGNORECASE,
)


class TorchVersion(str):
    """A version as text, which compares by its numbers with versions, their texts, and tuples.

    Other texts compare as text.

    Examples
    --------
    >>> version = wg.torch_version.TorchVersion("2.13.0+wengert.0.1.0")
    >>> version >= "2.9", version > (2, 13, 0), str(version) > "2.9"
    (True, True, False)
    """

    __slots__ = ()
    __hash__ = str.__hash__

    def __lt__(self, other: Any) -> bool:
        mine, its = _compared(self, other)
        return mine < its

    def __le__(self, other: Any) -> bool:
        mine, its = _compared(self, other)
        return mine <= its

    def __gt__(self, other: Any) -> bool:
        mine, its = _compared(self, other)
        return mine > its

    def __ge__(self, other: Any) -> bool:
        mine, its = _compared(self, other)
        return mine >= its

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str | tuple | list):
            return False
        mine, its = _compared(self, other)
        return bool(mine == its)

    def __ne__(self, other: object) -> bool:
        return not self == other


def _compared(version: str, other: Any) -> tuple[Any, Any]:
    """Return the key for comparing a version with another."""
    text = other if isinstance(other, str) else ".".join(map(str, other))
    mine, its = _FORM.fullmatch(version), _FORM.fullmatch(text)
    if mine is None or its is None:
        return str(version), str(text)
    return _key(mine), _key(its)


def _key(found: re.Match[str]) -> tuple[Any, ...]:
    """Return the sort key: numbers, then pre-releases below releases, then local versions."""
    numbers = [int(number) for number in found["release"].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers, not found["before"], found["before"] or "", found["local"] or ""
