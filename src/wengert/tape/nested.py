"""Layer 4 · tape: backward passes nested in backward passes, to any depth.

NOTE [deep nesting]
A hook, or the `backward` of a custom Function, may start a backward pass of its own, whose hooks
start others. Python limits the depth of calls in a thread. So when half of that limit is used, the
inner pass runs in a new thread while the outer one waits, as in PyTorch; the tape starts threads
nowhere else. Unbounded nesting raises an error, like unbounded recursion, since each thread needs
memory for its stack.
"""

from __future__ import annotations

import contextvars
import sys
from _thread import allocate_lock, start_new_thread  # not `threading`, which is slow to import
from collections.abc import Callable
from typing import Any

_MOST = 250
"""The limit of threads that wait for one another: about 15,000 passes."""
_THREADS: contextvars.ContextVar[int] = contextvars.ContextVar("threads", default=0)


def is_deep() -> bool:
    """Return whether this thread has used half of its recursion limit."""
    try:
        sys._getframe(sys.getrecursionlimit() // 2)
    except ValueError:
        return False
    return True


def elsewhere(function: Callable[..., Any], *args: Any) -> None:
    """Call `function` in a new thread with this context, and wait until it returns.

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
