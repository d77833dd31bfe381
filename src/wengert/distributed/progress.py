"""Layer 10 · distributed: a progress bar of text."""

from __future__ import annotations

import sys
from time import monotonic
from typing import Any

from wengert.base.sections import fill_sections

__all__ = ["Progress"]

_WIDTH = 24
_LINES = 10
_INTERVAL = 0.1


class Progress:
    """A bar that redraws itself in a terminal; elsewhere, a line now and then.

    Parameters
    ----------
    total: How many steps there are at most.
    stream: Where to write: a text file; True for the standard error; False for nowhere.
    """

    def __init__(self, total: int, stream: Any) -> None:
        self.total = total
        self.stream = sys.stderr if stream is True else stream or None
        self._live = self.stream is not None and bool(getattr(self.stream, "isatty", bool)())
        self._every = max(1, total // _LINES)
        self._shown = -_INTERVAL
        self._text = ""

    def show(self, done: int, text: str) -> None:
        """Say that `done` of the steps are done."""
        if self.stream is None:
            return
        count = f"{done:{len(str(self.total))}d}/{self.total}"
        if not self._live:
            if done == 1 or done % self._every == 0:
                print(f"step {count}  {text}", file=self.stream, flush=True)
            return
        self._text = f"\r[{'#' * (_WIDTH * done // self.total):.<{_WIDTH}}] step {count}  {text}"
        if monotonic() - self._shown >= _INTERVAL:
            self._shown = monotonic()
            print(self._text, end="", file=self.stream, flush=True)

    def end(self, reason: str) -> None:
        """Say why there are no more steps."""
        if self.stream is not None:
            # the last step may have come too soon after the one before to be shown
            print(f"{self._text}  {reason}" if self._live else reason, file=self.stream, flush=True)


fill_sections(globals())
