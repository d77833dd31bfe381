"""Layer 0 · base: progress bars for the library's own long computations."""

from __future__ import annotations

import sys
import warnings
from time import monotonic
from typing import Any, Self

from wengert.base.extras import tqdm

_WIDTH = 24
_LINES = 10
_INTERVAL = 0.1


def _is_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", bool)()
    return hasattr(shell, "kernel")


class Progress:
    """A bar in terminals and notebooks; elsewhere, a line now and then.

    The bar is tqdm's where that is installed. Without it, terminals have a bar of text.

    Parameters
    ----------
    total: The maximum number of steps; 0 if it is not known.
    stream: Where to write: a text file; True for the standard error; False for nowhere.
    unit: The name of a step; of bytes, tqdm shows kibibytes and mebibytes.
    """

    def __init__(self, total: int, stream: Any, unit: str = "step") -> None:
        self.total = total
        self.unit = unit
        self.stream = sys.stderr if stream is True else stream or None
        self._live = self.stream is not None and bool(getattr(self.stream, "isatty", bool)())
        self._next = 1
        self._shown = -_INTERVAL
        self._text = ""
        self._bar: Any = None
        if self._live or (self.stream in (sys.stderr, sys.stdout) and _is_notebook()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # tqdm warns where ipywidgets is missing
                make = tqdm()
                named: dict[str, Any] = {"unit": unit}
                if unit == "byte":
                    named = {"unit": "B", "unit_scale": True, "unit_divisor": 1024}
                self._bar = make and make(total=total or None, file=self.stream, **named)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind:  # the traceback begins on a line of its own
            self.end(f"ended: {kind.__name__}")

    def show(self, done: int, text: str = "") -> None:
        """Show that `done` of the steps are done."""
        if self.stream is None:
            return
        if self._bar is not None:
            self._text = text
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(done - self._bar.n)
            return
        count = f"{self.unit} {done:{len(str(self.total))}d}"
        if self.total:
            count += f"/{self.total}"
        if not self._live:
            if done >= self._next or done == self.total:
                every = max(1, self.total // _LINES or done)
                self._next = done - done % every + every
                print(f"{count}  {text}".rstrip(), file=self.stream, flush=True)
            return
        filled = _WIDTH * done // max(1, self.total)
        self._text = f"\r[{'#' * filled:.<{_WIDTH}}] {count}  {text}"
        if monotonic() - self._shown >= _INTERVAL:
            self._shown = monotonic()
            print(self._text, end="", file=self.stream, flush=True)

    def end(self, reason: str = "") -> None:
        """Finish, and show the reason for stopping, if any."""
        if self._bar is not None:
            self._bar.set_postfix_str(", ".join(filter(None, (self._text, reason))))
            self._bar.close()
        elif self._live:
            # the last step may have come too soon after the one before to be shown
            print("  ".join(filter(None, (self._text, reason))), file=self.stream, flush=True)
        elif self.stream is not None and reason:
            print(reason, file=self.stream, flush=True)
