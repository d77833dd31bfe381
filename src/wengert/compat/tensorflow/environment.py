"""Layer 9 · compat: what programs say about devices and graphs: accepted, without effect."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

from wengert.base.sections import fill_sections

__all__ = ["control_dependencies", "device", "get_logger", "init_scope"]


class device(contextlib.ContextDecorator):
    """A context that names a device: everything is computed on the CPU.

    Examples
    --------
    >>> with tf.device("/CPU:0"):
    ...     x = tf.constant(1.0)
    """

    def __init__(self, device_name) -> None:
        self.device_name = device_name

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        return None


class control_dependencies(contextlib.ContextDecorator):
    """A context that orders operations: they run in the order of the program anyway.

    Parameters
    ----------
    control_inputs : list. Tensors, and functions, which are called.
    """

    def __init__(self, control_inputs) -> None:
        for value in control_inputs or ():
            if callable(value) and not hasattr(value, "dtype"):
                value()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        return None


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """A context outside of the graph that is built: there is none."""
    yield


def get_logger() -> logging.Logger:
    """Python's logger that warnings of tapes go to.

    Examples
    --------
    >>> tf.get_logger().name
    'tensorflow'
    """
    return logging.getLogger("tensorflow")


fill_sections(globals())
