"""Layer 8 · compiler: what functions may ask of the compiler, and forbid it."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from wengert.base.sections import fill_sections
from wengert.tape.modes import current_mode

__all__ = [
    "COMPILED",
    "allow_in_graph",
    "assume_constant_result",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "reset",
    "set_stance",
    "substitute_in_graph",
]

F = TypeVar("F", bound=Callable[..., Any])
COMPILED: weakref.WeakSet[Any] = weakref.WeakSet()
"""All functions that are compiled."""


def is_compiling() -> bool:
    """Whether the function that asks is being traced by `compile`.

    Examples
    --------
    >>> wg.compiler.is_compiling()
    False
    """
    mode = current_mode()
    return mode is not None and mode.tracing is not None


def disable(fn: F | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """`fn` as a function that is never traced: compiled functions that call it run as they are.

    Parameters
    ----------
    fn : callable, optional. The function; without it, a decorator is returned.
    recursive : bool. Accepted for PyTorch's sake; what `fn` calls is not traced either.
    reason : str, optional. Why, for `Compiled.explain`.

    Examples
    --------
    >>> @wg.compiler.disable
    ... def report(x):
    ...     print(x.sum().item())
    >>> report(wg.ones(3))
    3.0
    """
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        mode = current_mode()
        if mode is not None and mode.tracing is not None:
            why = f": {reason}" if reason else ""
            name = getattr(fn, "__name__", "a function")
            mode.tracing.give_up(f"{name}() is not to be compiled{why}")
        return fn(*args, **kwargs)

    return call


def reset() -> None:
    """Forget all traces of all compiled functions; they are made anew when needed.

    Examples
    --------
    >>> wg.compiler.reset()
    """
    for compiled in list(COMPILED):
        compiled.forget()


is_dynamo_compiling = is_compiling


def is_exporting() -> bool:
    """False: functions are not exported.

    Examples
    --------
    >>> [wg.compiler.is_exporting(), wg.compiler.is_dynamo_compiling()]
    [False, False]
    """
    return False


def allow_in_graph(fn: F) -> F:
    """`fn` itself: what it computes is traced."""
    return fn


def assume_constant_result(fn: F) -> F:
    """`fn` itself: its result is looked at in each call."""
    return fn


def substitute_in_graph(original_fn: Any, **options: Any) -> Callable[[F], F]:
    """The decorator of what would be traced in place of a function; that is traced itself."""
    return lambda fn: fn


def cudagraph_mark_step_begin() -> None:
    """Has no effect: there is no GPU whose memory would be used again."""


class set_stance:
    """How compiled functions are run from now on, or in a context, or in a decorated function.

    They adapt to their arguments by themselves, so what PyTorch can be told has no effect, but for
    what would run them as they are, which is refused.

    Parameters
    ----------
    stance : {"default", "eager_on_recompile", "aot_eager_then_compile", "eager_then_compile"}
    skip_guard_eval_unsafe : bool. Has no effect.
    force_backend : optional. Has no effect.

    Raises
    ------
    NotImplementedError: For "force_eager" and "fail_on_recompile".
    RuntimeError: For what is no stance.

    Examples
    --------
    >>> with wg.compiler.set_stance("default"):
    ...     pass
    """

    _KNOWN = ("default", "eager_on_recompile", "aot_eager_then_compile", "eager_then_compile")
    _REFUSED = ("force_eager", "fail_on_recompile")

    def __init__(
        self,
        stance: str = "default",
        *,
        skip_guard_eval_unsafe: bool = False,
        force_backend: Any = None,
    ) -> None:
        if stance in self._REFUSED:
            raise NotImplementedError(
                f"set_stance({stance!r}) is not offered: call the function itself, without compile"
            )
        if stance not in self._KNOWN:
            raise RuntimeError(f"invalid torch.compile stance {stance!r}")

    def __enter__(self) -> None:
        """Nothing changes."""

    def __exit__(self, *exc: object) -> None:
        """Nothing has changed."""

    def __call__(self, fn: F) -> F:
        return fn


fill_sections(globals())
