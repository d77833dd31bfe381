"""Layer 10 · distributed: the error of a partition, which can be sent between processes."""

from __future__ import annotations

import pickle
import traceback
from typing import Any

from wengert.tape.tracebacks import folded_text


class PartitionError(RuntimeError):
    """A function raised on a partition of the data, or the partition could not be loaded.

    The original error is its ``__cause__``, even if it was raised in another process; if it cannot
    be pickled, a RuntimeError with its text takes its place.

    Attributes
    ----------
    partition : int. The number of the partition, from 0.
    rows : int or None. The number of its rows, if that was known by then.
    worker : str or None. The address of the worker; None in this process.
    remote_traceback : str. The traceback in the process that raised, as text with all frames.
    """

    def __init__(
        self,
        message: str,
        partition: int,
        rows: int | None = None,
        worker: str | None = None,
        remote_traceback: str = "",
    ) -> None:
        super().__init__(message)
        self.partition = partition
        self.rows = rows
        self.worker = worker
        self.remote_traceback = remote_traceback

    @classmethod
    def of(
        cls,
        error: BaseException,
        what: str,
        partition: int,
        rows: int | None,
        worker: str | None,
        advice: str,
    ) -> PartitionError:
        """Return the error that says where `error` was raised, chained to it.

        Parameters
        ----------
        error: The original error.
        what: The function that raised it: ``"the loss 'f'"``.
        partition, rows, worker: As the attributes.
        advice: What the user can do.
        """
        text = "".join(traceback.format_exception(error)) if worker is not None else ""
        size = "" if rows is None else f" ({rows:,} {'row' if rows == 1 else 'rows'})"
        place = "" if worker is None else f", on the worker {worker}"
        lines = [f"partition {partition}{size}: {what} raised {_said(error)}"]
        lines[0] += place
        if text:
            lines += [
                "  the traceback there:",
                *(f"    {line}" for line in folded_text(error).splitlines()),
            ]
        lines.append(f"  {advice}")
        made = cls("\n".join(lines), partition, rows, worker, text)
        # an exception's cause may be pickled separately, and fail
        made.__cause__ = error if worker is None else _portable(error)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        values = (self.args[0], self.partition, self.rows, self.worker, self.remote_traceback)
        return _received, (values, self.__cause__)


def _received(values: tuple[Any, ...], cause: BaseException | None) -> PartitionError:
    error = PartitionError(*values)
    error.__cause__ = cause
    return error


def _portable(error: BaseException) -> BaseException:
    """Return `error`, or a replacement if it cannot be pickled and unpickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except BaseException:
        # an error whose class takes other arguments than its text, or that holds unpicklable values
        return RuntimeError(_said(error))
    return error


def _said(error: BaseException) -> str:
    try:
        return f"{type(error).__qualname__}: {error}"
    except BaseException:  # an exit would end the worker
        return f"{type(error).__qualname__}, whose text cannot be made"
