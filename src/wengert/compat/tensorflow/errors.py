"""Layer 9 · compat: the errors that TensorFlow's operations raise."""

from __future__ import annotations

from typing import Any

from wengert.compat.kit.namespaces import completed


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

    def __str__(self) -> str:
        return str(self.message)


def _error(name: str, code: int, what: str) -> type[OpError]:
    body = {"__doc__": what, "error_code": code, "__module__": __name__}
    return type(name, (OpError,), body)


CancelledError: Any = _error("CancelledError", 1, "An operation was cancelled.")
UnknownError: Any = _error("UnknownError", 2, "The error is unknown.")
InvalidArgumentError: Any = _error(
    "InvalidArgumentError", 3, "An argument has an invalid dtype, shape or value."
)
DeadlineExceededError: Any = _error(
    "DeadlineExceededError", 4, "An operation exceeded its time limit."
)
NotFoundError: Any = _error("NotFoundError", 5, "A requested object does not exist.")
AlreadyExistsError: Any = _error("AlreadyExistsError", 6, "An object to create already exists.")
PermissionDeniedError: Any = _error("PermissionDeniedError", 7, "The caller lacks permission.")
ResourceExhaustedError: Any = _error("ResourceExhaustedError", 8, "Memory is exhausted.")
FailedPreconditionError: Any = _error(
    "FailedPreconditionError", 9, "The state does not allow the operation."
)
AbortedError: Any = _error("AbortedError", 10, "An operation was aborted.")
OutOfRangeError: Any = _error("OutOfRangeError", 11, "An iteration is past its end.")
UnimplementedError: Any = _error("UnimplementedError", 12, "An operation is not implemented.")
InternalError: Any = _error("InternalError", 13, "An internal invariant of the library is broken.")
UnavailableError: Any = _error("UnavailableError", 14, "A resource is temporarily unavailable.")
DataLossError: Any = _error("DataLossError", 15, "Data are lost or corrupt.")
UnauthenticatedError: Any = _error("UnauthenticatedError", 16, "The caller is not authenticated.")


def invalid(message: str, operation: str = "", advice: str = "") -> Exception:
    """Return an InvalidArgumentError in TensorFlow's words, with advice."""
    text = f"{message} [Op:{operation}] name: " if operation else message
    error: Exception = InvalidArgumentError(None, None, text + advice)
    return error


__all__ = completed(globals())
