"""Layer 9 · compat: the errors that TensorFlow's operations raise."""

from __future__ import annotations

from typing import Any

from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined


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
UnknownError: Any = _error("UnknownError", 2, "Something else went wrong.")
InvalidArgumentError: Any = _error(
    "InvalidArgumentError", 3, "An argument has a dtype, shape or value that does not fit."
)
DeadlineExceededError: Any = _error("DeadlineExceededError", 4, "It took too long.")
NotFoundError: Any = _error("NotFoundError", 5, "What was asked for is not there.")
AlreadyExistsError: Any = _error("AlreadyExistsError", 6, "What was to be made is there.")
PermissionDeniedError: Any = _error("PermissionDeniedError", 7, "The caller may not do that.")
ResourceExhaustedError: Any = _error("ResourceExhaustedError", 8, "Memory has run out.")
FailedPreconditionError: Any = _error(
    "FailedPreconditionError", 9, "The state does not allow the operation."
)
AbortedError: Any = _error("AbortedError", 10, "An operation was broken off.")
OutOfRangeError: Any = _error("OutOfRangeError", 11, "An iteration has come to its end.")
UnimplementedError: Any = _error("UnimplementedError", 12, "An operation does not offer that.")
InternalError: Any = _error("InternalError", 13, "The library itself is wrong.")
UnavailableError: Any = _error("UnavailableError", 14, "What is needed is not reachable now.")
DataLossError: Any = _error("DataLossError", 15, "Data are lost.")
UnauthenticatedError: Any = _error("UnauthenticatedError", 16, "The caller is not known.")


def invalid(message: str, operation: str = "", advice: str = "") -> Exception:
    """Return an InvalidArgumentError in TensorFlow's words, with advice."""
    text = f"{message} [Op:{operation}] name: " if operation else message
    error: Exception = InvalidArgumentError(None, None, text + advice)
    return error


__all__ = defined(globals())
fill_sections(globals())
