"""Layer 8 · nn: hooks on calls of a module.

NOTE [calls of modules]
A call of a module without hooks checks one attribute, `_is_hooked`, which is the class's until
something is registered: a hook of one module sets it on the module, a hook of all modules on
`Module`. Tables of hooks are made when they are first needed. Their keys are the ids of handles,
which say how to call the hook (`flags_of`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from wengert.tape.handles import RemovableHandle, flags_of, register

TABLES_OF_CALLS = frozenset(
    {"_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"}
)
"""The tables of the hooks that a call of the module runs."""

_Table = OrderedDict[Any, Callable[..., Any]]

WITH_KWARGS = 1
ALWAYS = 2
NOT_FULL = 4
"""The flag of a backward hook of the older kind, on the node of the result."""

FLAGGED = {
    "_forward_pre_hooks_with_kwargs": ("_forward_pre_hooks", WITH_KWARGS),
    "_forward_hooks_with_kwargs": ("_forward_hooks", WITH_KWARGS),
    "_forward_hooks_always_called": ("_forward_hooks", ALWAYS),
}
"""The tables of the hooks with a flag, by PyTorch's names: of which table, and which flag."""


def renumbered(table: _Table) -> _Table:
    """Return a copy of a table of hooks with fresh handle numbers."""
    made: _Table = OrderedDict()
    for key, hook in table.items():
        register(made, hook, "hook", flags_of(key))
    return made


class Hooks:
    """The methods that register hooks of a module, and the tables of the hooks."""

    _forward_pre_hooks: _Table
    _forward_hooks: _Table
    _backward_pre_hooks: _Table
    _backward_hooks: _Table

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
        return registered(table, hook, "register_forward_pre_hook", flags, prepend)

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
        return registered(self._forward_hooks, hook, "register_forward_hook", flags, prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the backward pass reaches the module.

        `grad_output` is a tuple with the gradient of each output, None for outputs that are not
        tensors. A tuple that the hook returns replaces it.

        %(returns_handle)s
        """
        table = self._backward_pre_hooks
        return registered(table, hook, "register_full_backward_pre_hook", 0, prepend)

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
        check_kind(table, 0, "on a single Module")
        return registered(table, hook, "register_full_backward_hook", 0, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the last node of the module has run.

        `grad_input` holds the gradients of that node's inputs, not of the module's; for those use
        `register_full_backward_hook`.

        Raises
        ------
        RuntimeError: If the module has full backward hooks.
        """
        table = self._backward_hooks
        check_kind(table, NOT_FULL, "on a single Module")
        return registered(table, hook, "register_backward_hook", NOT_FULL)


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


def registered(
    table: _Table, hook: Any, what: str, flags: int = 0, prepend: bool = False
) -> RemovableHandle:
    """Add a hook to a table, at its end or at its beginning."""
    handle = register(table, hook, what, flags)
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


def check_kind(table: _Table, kind: int, where: str) -> None:
    """Refuse a backward hook of one kind beside those of the other."""
    if any(flags_of(key) != kind for key in table):
        raise RuntimeError(
            f"Cannot use both regular backward hooks and full backward hooks {where}. Please use "
            "only one of them."
        )
