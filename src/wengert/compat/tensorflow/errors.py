"""Layer 9 · compat: the errors that TensorFlow's operations raise."""

from __future__ import annotations

from typing import Any

from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import of_rows


class OpError(Exception):
    """The error that an operation raises; base class of the others here.

    Attributes
    ----------
    message: The description of the error.
    node_def, op: None, because operations run eagerly.
    error_code: TensorFlow's number of the class.
    """

    error_code = 2

    def __init__(self, node_def=None, op=None, message="", *args, **kwargs) -> None:
        if message == "" and isinstance(node_def, str):
            node_def, message = None, node_def
        super().__init__(message)
        self.node_def = node_def
        self.op = op
        self.message = message
        self.experimental_payloads: dict[Any, Any] = {}
        self._operation = ""

    def __str__(self) -> str:
        return str(self.message)

    def _of(self, operation: str) -> OpError:
        """Add the operation that raised it to its message, unless it has one."""
        if not self._operation:
            self._operation = operation
            self.message = f"{self.message} [Op:{operation}] name: "
        return self


def _error(name: str, code: str, what: str) -> type[OpError]:
    return type(name, (OpError,), {"__doc__": what, "error_code": int(code)})


of_rows(
    globals(),
    _error,
    """
    CancelledError | 1 | An operation was cancelled.
    UnknownError | 2 | The error is unknown.
    InvalidArgumentError | 3 | An argument has an invalid dtype, shape or value.
    DeadlineExceededError | 4 | An operation exceeded its time limit.
    NotFoundError | 5 | A requested object does not exist.
    AlreadyExistsError | 6 | An object to create already exists.
    PermissionDeniedError | 7 | The caller lacks permission.
    ResourceExhaustedError | 8 | Memory is exhausted.
    FailedPreconditionError | 9 | The state does not allow the operation.
    AbortedError | 10 | An operation was aborted.
    OutOfRangeError | 11 | An iteration is past its end.
    UnimplementedError | 12 | An operation is not implemented.
    InternalError | 13 | An internal invariant of the library is broken.
    UnavailableError | 14 | A resource is temporarily unavailable.
    DataLossError | 15 | Data are lost or corrupt.
    UnauthenticatedError | 16 | The caller is not authenticated.
    """,
)
InvalidArgumentError: Any = globals()["InvalidArgumentError"]
AlreadyExistsError: Any = globals()["AlreadyExistsError"]
DataLossError: Any = globals()["DataLossError"]
NotFoundError: Any = globals()["NotFoundError"]
OutOfRangeError: Any = globals()["OutOfRangeError"]


def invalid(message: str, operation="", advice="") -> OpError:
    """Return an InvalidArgumentError in TensorFlow's words, with advice."""
    error: OpError = InvalidArgumentError(None, None, message)
    if operation:
        error._of(operation)
    error.message += advice
    return error


def mismatched(operation: str, place: int, wanted: str, came: str, advice="") -> OpError:
    """Return the error for an operand of another dtype than the others."""
    return invalid(
        f"cannot compute {operation} as input #{place}(zero-based) was expected to be a {wanted} "
        f"tensor but is a {came} tensor",
        operation,
        advice,
    )


__all__ = defined(globals(), without="invalid mismatched")
