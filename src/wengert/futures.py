"""Layer 0 · base: futures, under torch.futures' names."""

from __future__ import annotations

import concurrent.futures
import types
from collections.abc import Callable, Sequence
from typing import Any

from wengert.base.names import shows

__all__ = ["Future", "collect_all", "wait_all"]
__dir__ = shows(__all__)


class Future:
    """A result that is set later, and that other threads can wait for.

    Parameters
    ----------
    devices : optional. Has no effect.

    Examples
    --------
    >>> future = wg.futures.Future()
    >>> later = future.then(lambda done: done.value() + 1)
    >>> future.set_result(52)
    >>> later.wait()
    53
    """

    __class_getitem__: Any = classmethod(types.GenericAlias)

    def __init__(self, *, devices: Any = None) -> None:
        self._future: concurrent.futures.Future[Any] = concurrent.futures.Future()

    def done(self) -> bool:
        """Return whether there is a result, or an error."""
        return self._future.done()

    def wait(self) -> Any:
        """Wait for the result and return it; raise the error that was set."""
        return self._future.result()

    def value(self) -> Any:
        """Return the result, which must be set."""
        if not self.done():
            raise RuntimeError("the future has no value yet: call wait(), or ask done() first")
        return self._future.result()

    def set_result(self, result: Any) -> None:
        """Set the result, once."""
        if self.done():
            raise RuntimeError("Future can only be marked completed once")
        self._future.set_result(result)

    def set_exception(self, result: BaseException) -> None:
        """Set an error, which `wait` raises."""
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._future.set_exception(result)

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """Return a future of the result of `callback` on this future, when it is done."""
        made = Future()

        def go_on(_: Any) -> None:
            try:
                made.set_result(callback(self))
            except Exception as error:
                kind = type(error).__name__
                failed = RuntimeError(
                    f"Got the following error when running the callback: {kind}: {error}"
                )
                failed.__cause__ = error
                made.set_exception(failed)

        self._future.add_done_callback(go_on)
        return made

    def add_done_callback(self, callback: Callable[[Future], None]) -> None:
        """Call `callback` with this future when it is done."""
        self._future.add_done_callback(lambda _: callback(self))


def collect_all(futures: Sequence[Future]) -> Future:
    """Return a future of the list of all of `futures`, when all are done.

    Examples
    --------
    >>> both = [wg.futures.Future(), wg.futures.Future()]
    >>> every = wg.futures.collect_all(both)
    >>> for future in both:
    ...     future.set_result(1)
    >>> [future.value() for future in every.wait()]
    [1, 1]
    """
    made, waiting = Future(), list(futures)
    missing = {id(future) for future in waiting}

    def arrived(future: Future) -> None:
        missing.discard(id(future))
        if not missing and not made.done():
            made.set_result(waiting)

    for future in waiting:
        future.add_done_callback(arrived)
    if not waiting:
        made.set_result([])
    return made


def wait_all(futures: Sequence[Future]) -> list[Any]:
    """Wait for all of `futures` and return their results; raise the first error."""
    return [future.wait() for future in collect_all(futures).wait()]
