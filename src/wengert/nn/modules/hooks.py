"""Layer 8 · nn: hooks on calls of modules, and the calls that run them.

NOTE [calls of modules]
A call of a module without hooks checks one attribute, `_is_hooked`, which is the class's until
something is registered: a hook of one module sets it on the module, a hook of all modules on
`Calls`. Tables of hooks are made when they are first needed. The keys of a table are
``(flags, number)``: how to call the hook, and the id of its handle.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar

from wengert.base.sections import fill_sections
from wengert.nn.modules.backward_hooks import BackwardHook, hook_outputs_node
from wengert.tape.handles import RemovableHandle, register
from wengert.tape.sites import warn

TABLES_OF_CALLS = frozenset(
    {"_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"}
)
"""The tables of the hooks that a call of the module runs."""

_Table = OrderedDict[Any, Callable[..., Any]]

WITH_KWARGS = 1
ALWAYS = 2
NOT_FULL = 4
"""The flag of a backward hook of the older kind, on the node of the result."""

_FORWARD_PRE: _Table = OrderedDict()
_FORWARD: _Table = OrderedDict()
_BACKWARD_PRE: _Table = OrderedDict()
_BACKWARD: _Table = OrderedDict()
_ALL = (_FORWARD_PRE, _FORWARD, _BACKWARD_PRE, _BACKWARD)


def renumbered(table: _Table) -> _Table:
    """Return a copy of a table of hooks with fresh handle numbers."""
    made: _Table = OrderedDict()
    for (flags, _), hook in table.items():
        register(made, hook, "hook", flags)
    return made


P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class _Forward(Protocol[P, R]):
    """An object with a `forward` method, whose arguments and result are those of a call."""

    @property
    def forward(self) -> Callable[P, R]: ...


class Calls:
    """The methods that register hooks of a module, and the call that runs them."""

    _is_hooked: Any = False
    _compiled_call_impl: Any = None
    _forward_pre_hooks: _Table
    _forward_hooks: _Table
    _backward_pre_hooks: _Table
    _backward_hooks: _Table
    forward: Callable[..., Any]

    def __call__(self: _Forward[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the result of `forward`, running hooks before and after it."""
        if not self._is_hooked:  # type: ignore[attr-defined]
            return self.forward(*args, **kwargs)
        if self._compiled_call_impl is not None:  # type: ignore[attr-defined]
            return self._compiled_call_impl(*args, **kwargs)  # type: ignore[attr-defined]
        return _call_with_hooks(self, args, kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        if not self._is_hooked:
            return self.forward(*args, **kwargs)
        return _call_with_hooks(self, args, kwargs)

    # -- registering -------------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before each `forward`.

        If it returns something other than None, that replaces the positional arguments; a single
        value becomes a tuple.

        Parameters
        ----------
        hook : callable. With `with_kwargs`: ``hook(module, args, kwargs)``, which returns None or
            a new ``(args, kwargs)``.
        prepend : bool. Whether to run the hook before those registered so far, rather than after.
        with_kwargs : bool. Whether the hook receives the keyword arguments.

        %(returns_handle)s

        Examples
        --------
        %(a_double)s
        >>> double = Double()
        >>> handle = double.register_forward_pre_hook(lambda module, args: args[0] + 1)
        >>> double(wg.tensor(1.0))
        tensor(4.)
        >>> handle.remove()
        >>> double(wg.tensor(1.0))
        tensor(2.)
        """
        flags = WITH_KWARGS * with_kwargs
        table = self._forward_pre_hooks
        return _registered(table, hook, "register_forward_pre_hook", flags, prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after each `forward`.

        If it returns something other than None, that replaces the output.

        Parameters
        ----------
        hook : callable. With `with_kwargs`: ``hook(module, args, kwargs, output)``.
        prepend : bool. Whether to run the hook before those registered so far, rather than after.
        with_kwargs : bool. Whether the hook receives the keyword arguments.
        always_call : bool. Whether to run the hook even if `forward` raised, with None as output.

        %(returns_handle)s
        """
        flags = WITH_KWARGS * with_kwargs | ALWAYS * always_call
        return _registered(self._forward_hooks, hook, "register_forward_hook", flags, prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the backward pass reaches the module.

        `grad_output` is a tuple with the gradient of each output, None for outputs that are not
        tensors. A tuple that the hook returns replaces it.

        %(returns_handle)s
        """
        table = self._backward_pre_hooks
        return _registered(table, hook, "register_full_backward_pre_hook", 0, prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` once the gradients of inputs are known.

        Both are tuples, with None for values that are not tensors; `grad_input` has one entry per
        positional argument. A tuple that the hook returns replaces `grad_input`.

        %(returns_handle)s

        Raises
        ------
        RuntimeError: If the module has backward hooks of the older kind.

        Examples
        --------
        %(a_double)s
        >>> double = Double()
        >>> handle = double.register_full_backward_hook(lambda m, grads, _: (grads[0] * 10,))
        >>> x = wg.ones(2, requires_grad=True)
        >>> double(x).sum().backward()
        >>> x.grad
        tensor([20., 20.])
        """
        table = self._backward_hooks
        _check_kind(table, 0, "on a single Module")
        return _registered(table, hook, "register_full_backward_hook", 0, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the last node of the module has run.

        `grad_input` holds the gradients of that node's inputs, not of the module's; for those use
        `register_full_backward_hook`.

        Raises
        ------
        RuntimeError: If the module has full backward hooks.
        """
        table = self._backward_hooks
        _check_kind(table, NOT_FULL, "on a single Module")
        return _registered(table, hook, "register_backward_hook", NOT_FULL)


def weight_hook(module: Any, kind: type[Any], name: str) -> Any:
    """Return the key of the hook of the given kind that computes a weight, or None."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            return key
    return None


def undo_weight_hook(module: Any, kind: type[Any], name: str, what: str) -> None:
    """Remove the hook that computes a weight, and make the weight a parameter again."""
    key = weight_hook(module, kind, name)
    if key is None:
        raise ValueError(f"{what} of '{name}' not found in {module}")
    hook: Any = module._forward_pre_hooks.pop(key)
    hook.remove(module)
    settle(module)


def settle(module: Any) -> None:
    """Restore the fast path of a module's calls if it has no hook left."""
    held = module.__dict__
    tables = [name for name in TABLES_OF_CALLS if name in held]
    if module._compiled_call_impl is None and not any(held[name] for name in tables):
        for name in ("_is_hooked", *tables):
            held.pop(name, None)


def _hooks(module: Any, name: str, common: _Table) -> list[tuple[Any, Any]]:
    own = module.__dict__.get(name)
    return [*common.items(), *own.items()] if own else [*common.items()]


def _call_with_hooks(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    after = _hooks(module, "_forward_hooks", _FORWARD)
    called: set[Any] = set()
    result = None
    try:
        for (flags, _), hook in _hooks(module, "_forward_pre_hooks", _FORWARD_PRE):
            args, kwargs = _before(module, hook, flags, args, kwargs)
        both = _hooks(module, "_backward_hooks", _BACKWARD)
        full = [hook for (flags, _), hook in both if not flags & NOT_FULL]
        older = [hook for (flags, _), hook in both if flags & NOT_FULL]
        earlier = [hook for _, hook in _hooks(module, "_backward_pre_hooks", _BACKWARD_PRE)]
        backward = None
        if full or earlier:
            backward = BackwardHook(module, full, earlier)
            args = backward.setup_input_hook(args)
        result = module.forward(*args, **kwargs)
        for key, hook in after:
            called.add(key)
            made = _after(module, hook, key[0], args, kwargs, result)
            if made is not None:
                result = made
        if backward is not None:
            result = backward.setup_output_hook(result)
        if older:
            hook_outputs_node(module, older, args, result)
        return result
    except Exception:
        for key, hook in after:
            if key[0] & ALWAYS and key not in called:
                result = _silenced(module, hook, key[0], args, kwargs, result)
        raise


def _before(
    module: Any, hook: Any, flags: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Run a hook before `forward`, and return the arguments as it leaves them."""
    if flags & WITH_KWARGS:
        made = hook(module, args, kwargs)
        if made is None:
            return args, kwargs
        if not (isinstance(made, tuple) and len(made) == 2):
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
                f"{made}."
            )
        return made
    made = hook(module, args)
    if made is None:
        return args, kwargs
    return made if isinstance(made, tuple) else (made,), kwargs


def _after(module: Any, hook: Any, flags: int, args: Any, kwargs: Any, result: Any) -> Any:
    if flags & WITH_KWARGS:
        return hook(module, args, kwargs, result)
    return hook(module, args, result)


def _silenced(module: Any, hook: Any, flags: int, args: Any, kwargs: Any, result: Any) -> Any:
    """Run a hook after an error in `forward`; an error in the hook itself becomes a warning."""
    try:
        made = _after(module, hook, flags, args, kwargs, result)
    except Exception as error:
        warn(
            "module forward hook with ``always_call=True`` raised an exception that was silenced "
            f"as another error was raised in forward: {error}",
        )
        return result
    return result if made is None else made


def _registered(
    table: _Table, hook: Any, what: str, flags: int = 0, prepend: bool = False
) -> RemovableHandle:
    handle = register(table, hook, what, flags)
    if prepend:
        table.move_to_end((flags, handle.id), last=False)
    return handle


def _check_kind(table: _Table, kind: int, where: str) -> None:
    if any(flags != kind for flags, _ in table):
        raise RuntimeError(
            f"Cannot use both regular backward hooks and full backward hooks {where}. Please use "
            "only one of them."
        )


# -- hooks of all modules --------------------------------------------------------------------------


def _everywhere(table: _Table, hook: Any, what: str, flags: int = 0) -> RemovableHandle:
    handle = register(table, hook, what, flags)
    Calls._is_hooked = _Watch()
    return handle


class _Watch:
    """The descriptor that `Calls._is_hooked` is while global hooks may exist: true while any does.

    A module's own attribute hides it, so only calls of modules without hooks evaluate it.
    """

    def __bool__(self) -> bool:
        if any(_ALL):
            return True
        Calls._is_hooked = False
        return False


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the `forward` of every module.

    See `Module.register_forward_pre_hook`. Hooks of all modules run before a module's own.
    """
    return _everywhere(_FORWARD_PRE, hook, "register_module_forward_pre_hook")


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the `forward` of every module.

    See `Module.register_forward_hook`. Hooks of all modules run before a module's own.

    Examples
    --------
    %(a_double)s
    >>> seen = []
    >>> with wg.nn.modules.module.register_module_forward_hook(lambda m, a, out: seen.append(m)):
    ...     _ = Double()(wg.ones(1))
    >>> seen
    [Double()]
    """
    flags = WITH_KWARGS * with_kwargs | ALWAYS * always_call
    return _everywhere(_FORWARD, hook, "register_module_forward_hook", flags)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the backward pass reaches any module."""
    return _everywhere(_BACKWARD_PRE, hook, "register_module_full_backward_pre_hook")


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` for every module (see `Module`)."""
    _check_kind(_BACKWARD, 0, "as a global Module hook")
    return _everywhere(_BACKWARD, hook, "register_module_full_backward_hook")


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` with the last node of every module.

    See `Module.register_backward_hook`.
    """
    _check_kind(_BACKWARD, NOT_FULL, "as a global Module hook")
    return _everywhere(_BACKWARD, hook, "register_module_backward_hook", NOT_FULL)


fill_sections(globals())
