"""Layer 4 · tape: backward passes inside of backward passes, however deep.

NOTE [deep nesting]
A hook, or the `backward` of a custom Function, may begin a backward pass of its own, whose hooks
begin others. Python allows a thread so many calls inside of one another. So where half of them are
used up, the inner pass runs in a thread of its own, which the outer one waits for: as in PyTorch,
and nowhere else does the tape start a thread. A pass that begins itself without end is an error, as
a function is that calls itself so: each thread has memory for its stack.
"""

from __future__ import annotations

import contextvars
import sys
from _thread import allocate_lock, start_new_thread  # not `threading`, which takes long to import
from collections.abc import Callable
from typing import Any

_MOST = 250
"""So many threads may wait for one another: some 15,000 passes."""
_THREADS: contextvars.ContextVar[int] = contextvars.ContextVar("threads", default=0)


def is_deep() -> bool:
    """Whether this thread has used up half of the calls that may be inside of one another."""
    try:
        sys._getframe(sys.getrecursionlimit() // 2)
    except ValueError:
        return False
    return True


def elsewhere(function: Callable[..., Any], *args: Any) -> None:
    """Call `function` in a thread of its own, in this context, and wait until it has returned.

    Raises
    ------
    RecursionError: If too many threads wait for one another.
    """
    count = _THREADS.get()
    if count >= _MOST:
        raise RecursionError(
            f"backward passes began others, each inside of the one before, in {count} threads: a "
            "hook, or the backward of a Function, must not begin itself without end"
        )
    context = contextvars.copy_context()
    context.run(_THREADS.set, count + 1)
    errors: list[BaseException] = []
    done = allocate_lock()

    def call() -> None:
        try:
            context.run(function, *args)
        except BaseException as error:
            errors.append(error)
        finally:
            done.release()

    done.acquire()
    start_new_thread(call, ())
    with done:
        pass
    if errors:
        raise errors.pop()
