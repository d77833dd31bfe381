"""Layer 8 · compiler: `wengert.compiler`: query, disable and configure compilation."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from wengert.tape.modes import current_mode

__all__ = [
    "COMPILED",
    "CONFIG",
    "FUSING",
    "STANCES",
    "allow_in_graph",
    "assume_constant_result",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
    "set_fused_kernels",
    "set_stance",
    "substitute_in_graph",
]

F = TypeVar("F", bound=Callable[..., Any])
COMPILED: weakref.WeakSet[Any] = weakref.WeakSet()
"""All compiled functions."""
STANCES: list[str] = []
"""The stance that `set_stance` has set, unless it is ``"default"``."""
_KNOWN = ("default", "eager_then_compile", "force_eager", "eager_on_recompile", "fail_on_recompile")


def is_compiling() -> bool:
    """Return whether the calling function is being traced by `compile`.

    Examples
    --------
    >>> wg.compiler.is_compiling()
    False
    """
    mode = current_mode()
    return mode is not None and mode.tracing is not None


def disable(fn: F | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return `fn` as a function that is never traced: compiled functions that call it run eagerly.

    Parameters
    ----------
    fn : callable, optional. The function; without it, a decorator is returned.
    recursive : bool. Accepted for compatibility with PyTorch; functions that `fn` calls are not
        traced either.
    reason : str, optional. The reason that `Compiled.explain` shows.

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
    """Forget all traces of all compiled functions; they are rebuilt when needed.

    Examples
    --------
    >>> wg.compiler.reset()
    """
    for compiled in list(COMPILED):
        compiled.forget()


class _Config:
    """Settings with PyTorch's names and defaults; most have no effect.

    ``recompile_limit`` is the default ``limit`` of functions that are compiled from then on. While
    ``disable`` is True, `compile` returns functions unchanged.
    """

    def __init__(self) -> None:
        off = (
            *("capture_dynamic_output_shape_ops", "capture_scalar_outputs", "compiled_autograd"),
            *("disable", "fail_on_recompile_limit_hit", "specialize_int", "suppress_errors"),
            *("specialize_float", "verbose", "skip_nnmodule_hook_guards"),
        )
        on = (
            *("assume_static_by_default", "automatic_dynamic_shapes", "guard_nn_modules"),
            *("inline_inbuilt_nn_modules", "optimize_ddp", "trace_numpy"),
        )
        limits = {"recompile_limit": 8, "accumulated_recompile_limit": 256}
        vars(self).update({**dict.fromkeys(off, False), **dict.fromkeys(on, True), **limits})

    def _known(self, name: str) -> str:
        name = name.replace("cache_size_limit", "recompile_limit")
        if name not in vars(self):
            raise AttributeError(f"wengert._dynamo.config.{name} does not exist")
        return name

    def __getattr__(self, name: str) -> Any:
        return vars(self)[self._known(name)]

    def __setattr__(self, name: str, value: Any) -> None:
        vars(self)[self._known(name)] = value

    @contextlib.contextmanager
    def patch(self, *names: Any, **settings: Any) -> Iterator[None]:
        """Change settings inside a ``with`` block, or during calls of a function.

        They are given by keyword, as a dictionary, or as a name and a value.
        """
        given = names[0] if len(names) == 1 else dict([names] if names else [])
        before = dict(vars(self))
        try:
            for name, value in {**given, **settings}.items():
                setattr(self, name, value)
            yield
        finally:
            vars(self).update(before)


CONFIG = _Config()
"""The settings of functions that are compiled from now on."""


class set_stance:  # PyTorch's name
    """Set how calls of compiled functions run, in all threads.

    It applies from now on, inside a ``with`` block, or, as a decorator, during calls of a function.

    Parameters
    ----------
    stance
        ``"default"`` and ``"eager_then_compile"``: calls are compiled; the first of a kind runs
        eagerly. ``"force_eager"``: all calls run eagerly. ``"eager_on_recompile"``: calls without a
        valid trace run eagerly. ``"fail_on_recompile"``: these raise a RuntimeError.
    skip_guard_eval_unsafe : bool. Accepted for compatibility with PyTorch: guards are always
        checked.
    force_backend : optional. Accepted for compatibility with PyTorch, without effect.

    Raises
    ------
    RuntimeError: If there is no such stance.

    Examples
    --------
    >>> double = wg.compile(lambda x: x * 2)
    >>> with wg.compiler.set_stance("force_eager"):
    ...     double(wg.ones(2))
    tensor([2., 2.])
    """

    def __init__(
        self,
        stance: str = "default",
        *,
        skip_guard_eval_unsafe: bool = False,
        force_backend: Any = None,
    ) -> None:
        if stance not in _KNOWN:
            raise RuntimeError(f"invalid torch.compile stance {stance!r}: know {list(_KNOWN)}")
        self.stance = stance
        self._before = self._set()

    def _set(self) -> list[str]:
        before = list(STANCES)
        STANCES[:] = [] if self.stance in _KNOWN[:2] else [self.stance]
        return before

    def __enter__(self) -> None:
        """Do nothing: the constructor has set the stance."""

    def __exit__(self, *error: object) -> None:
        """Restore the previous stance."""
        STANCES[:] = self._before

    def __call__(self, function: F) -> F:
        """Return `function` with the stance set during its calls."""
        STANCES[:] = self._before

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with set_stance(self.stance):
                return function(*args, **kwargs)

        return call  # type: ignore[return-value]  # with the same signature


FUSING = [True]
"""Whether eager operations may use native code: a list of one bool."""


def set_fused_kernels(enabled: bool) -> None:
    """Set whether eager operations on large arrays may use native code.

    With llvmlite installed, they do by default: activations, normalisations, losses, convolutions
    and others that NumPy computes in several passes run as one loop from some thousand elements on,
    and so do their derivatives. Results agree with NumPy's to rounding. The first use of each kind
    takes about 15 ms; the very first, which imports the compiler, about 0.3 s.

    Parameters
    ----------
    enabled : bool. False: NumPy computes. True has no effect where llvmlite is not installed.

    Examples
    --------
    >>> wg.compiler.set_fused_kernels(False)
    >>> wg.compiler.set_fused_kernels(True)
    """
    FUSING[0] = bool(enabled)


def cudagraph_mark_step_begin() -> None:
    """Do nothing: there are no CUDA graphs.

    Examples
    --------
    >>> wg.compiler.cudagraph_mark_step_begin()
    """


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Return the names that `compile` accepts as ``backend``.

    Parameters
    ----------
    exclude_tags : optional. With None, also those that compile nothing.

    Examples
    --------
    >>> wg.compiler.list_backends()
    ['auto', 'inductor', 'llvm', 'numpy']
    """
    return ["auto", "inductor", "llvm", "numpy", *([] if exclude_tags else ["aot_eager", "eager"])]


def allow_in_graph(fn: F) -> F:
    """Return `fn` unchanged: all of its operations on tensors are traced anyway.

    Examples
    --------
    >>> wg.compiler.allow_in_graph(abs)
    <built-in function abs>
    """
    return fn


def assume_constant_result(fn: F) -> F:
    """Return `fn` unchanged: its result is not assumed to be constant, but computed in each call.

    Examples
    --------
    >>> wg.compiler.assume_constant_result(abs)
    <built-in function abs>
    """
    return fn


def substitute_in_graph(original_fn: Any, **options: Any) -> Callable[[F], F]:
    """Return a decorator without effect: the function itself is traced, not a substitute.

    Examples
    --------
    >>> wg.compiler.substitute_in_graph(abs)(abs)
    <built-in function abs>
    """
    return lambda fn: fn


def is_dynamo_compiling() -> bool:
    """Return what `is_compiling` returns.

    Examples
    --------
    >>> wg.compiler.is_dynamo_compiling()
    False
    """
    return is_compiling()


def is_exporting() -> bool:
    """Return False: nothing is exported.

    Examples
    --------
    >>> wg.compiler.is_exporting()
    False
    """
    return False
