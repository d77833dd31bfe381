"""Layer 8 · utils: contexts between the recording of operations and their kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from wengert.base import errors
from wengert.ops.aten import dispatched
from wengert.prims.record import Primitive
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.inplace import write
from wengert.tape.modes import MODE, Mode, change_mode, changed, full_mode
from wengert.tape.record import T, run
from wengert.tape.sites import Site, site_here, traceback_of
from wengert.tensor.creations import watch_creations


def operation_name(prim: Primitive) -> str:
    """Return the name of an operation for users, which its forms with a number share."""
    return prim.name.removesuffix("_scalar")


class Dispatch:
    """A context whose `run` computes the operations of its thread.

    When contexts are nested, the innermost runs first, and its `compute` calls the next. In-place
    writes are passed to `write`.
    """

    mixes = False
    """Whether mixed dtypes are made equal where a function would refuse them."""
    sees_rules = False
    """Whether it sees the operations of a first-order backward pass, too."""

    def __enter__(self) -> Dispatch:
        change_mode(dispatch=(*full_mode().dispatch, self))
        return self

    def __exit__(self, *exc: Any) -> None:
        change_mode(dispatch=full_mode().dispatch[:-1])

    def fresh(self) -> Dispatch:
        """Return a context that does the same and has cached nothing yet."""
        return self

    def run(self, mode: Mode, prim: Primitive, tensors: list[Any], params: Any, outs: Any) -> Any:
        """Return the result of an operation, given the arguments of `wengert.tape.record.run`."""
        raise NotImplementedError

    def compute(
        self, mode: Mode, prim: Primitive, tensors: list[Any], params: Any, outs: Any
    ) -> Any:
        """Return the result without this context, or with `outs` instead of computing it."""
        MODE.set(mode.below)
        try:
            return run(prim, tensors, params, outs)
        finally:
            MODE.set(mode)

    def write(
        self, mode: Mode, prim: Primitive, tensor: Any, others: Any, params: Any, name: str
    ) -> Any:
        """Compute an in-place operation, given the arguments of `wengert.tape.inplace.write`."""
        MODE.set(mode.below)
        try:
            return write(prim, tensor, others, params, name)
        finally:
            MODE.set(mode)


class TorchDispatchMode(Dispatch):
    """A context whose ``__torch_dispatch__`` sees the operations of its thread, below the graph.

    Unlike `overrides.TorchFunctionMode` it sees what functions compute, also in backward passes:
    the operations of ``wengert ops``, with PyTorch's names where these exist, and in-place writes.
    It sees functions that make tensors, but not assignments by index.

    A subclass decides what an operation returns: ``func(*args, **kwargs)``, or other tensors, which
    get the history. Operations that it calls itself are only seen by the enclosing contexts, and
    not recorded.

    Examples
    --------
    >>> class Names(wg.utils.dispatch.TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **(kwargs or {}))
    >>> x = wg.ones(2, requires_grad=True)
    >>> with Names():
    ...     _ = wg.autograd.grad(x.sin().sum(), x)
    sin.default
    sum.default
    expand.default
    cos.default
    mul.Tensor
    """

    sees_rules = True

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Return False: no context belongs to a compiler."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Handle the operation ``func(*args, **kwargs)``."""
        raise NotImplementedError

    def __enter__(self) -> TorchDispatchMode:
        if getattr(self.__torch_dispatch__, "__self__", self) is not self:
            raise RuntimeError(
                "Defining your mode's `__torch_dispatch__` as a classmethod is not supported, "
                "please make it a plain method"
            )
        watch_creations()
        super().__enter__()
        return self

    def _handled(
        self, mode: Mode, name: str, args: tuple[Any, ...], params: Any, compute: Any
    ) -> tuple[Any, Any]:
        """Return what the handler makes of an operation, and what `compute` has, if it was called.

        `compute` gives the operation on the arguments themselves; on others it is a function of
        the namespace.
        """
        own: list[Any] = []

        def call(*given: Any, **options: Any) -> Any:
            if len(given) != len(args) or any(a is not b for a, b in zip(given, args, strict=True)):
                return getattr(T, name)(*given, **options)
            inside = MODE.get()
            MODE.set(mode.below)
            try:
                own[:] = [compute(**options)]
            finally:
                MODE.set(inside)
            return own[0]

        kinds = dict.fromkeys(type(arg) for arg in args if hasattr(arg, "__torch_dispatch__"))
        MODE.set(changed(mode.below, grad=False))
        try:
            handler = self.__torch_dispatch__
            found = dispatched(handler, name, call, tuple(kinds), args, dict(params))
            found = call(*args, **params) if found is NotImplemented else found
        finally:
            MODE.set(mode)
        return found, own[0] if own else None

    def run(self, mode: Mode, prim: Primitive, tensors: list[Any], params: Any, outs: Any) -> Any:
        """Let the handler compute an operation; its results get the history."""
        if outs is not None:
            return self.compute(mode, prim, tensors, params, outs)

        def compute(**options: Any) -> Any:
            return run(prim, tensors, options)

        found, own = self._handled(mode, operation_name(prim), tuple(tensors), params, compute)
        several = prim.outputs != 1
        same = zip(found, own, strict=False) if several and found and own else ((found, own),)
        if all(a is b for a, b in same):
            return own
        recording = mode.records and any(tensor._edge is not None for tensor in tensors)
        if not recording or not prim.is_differentiable:
            return found
        parts = found if several else (found,)
        if prim.view or not all(isinstance(part, TensorBase) for part in parts):
            raise NotImplementedError(
                f"__torch_dispatch__ returned other values for {prim.name}, which has a history: "
                "return tensors, and for views what func() returns"
            )
        outs = [new_tensor(part._payload, None, part._share_version()) for part in parts]
        return self.compute(mode, prim, tensors, params, outs)

    def write(
        self, mode: Mode, prim: Primitive, tensor: Any, others: Any, params: Any, name: str
    ) -> Any:
        """Let the handler compute an in-place operation."""

        def compute(**options: Any) -> Any:
            return write(prim, tensor, others, options, name)

        self._handled(mode, name, (tensor, *others), params, compute)
        return tensor


def active() -> list[Any]:
    """Return the active `TorchDispatchMode`s, the innermost last."""
    return [one for one in full_mode().dispatch if isinstance(one, TorchDispatchMode)]


def innermost() -> Any:
    """Return the innermost active `TorchDispatchMode`, or None."""
    return next(reversed(active()), None)


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Return whether a `TorchDispatchMode` is active, also of those that call themselves internal.

    Parameters
    ----------
    include_infra_modes : bool. Whether these count.
    """
    return any(include_infra_modes or not one.is_infra_mode() for one in active())


def all_same_mode(modes: Iterable[Any]) -> bool:
    """Return whether all of `modes` are one object."""
    known = list(modes)
    return all(one is known[0] for one in known)


@contextmanager
def no_dispatch() -> Iterator[None]:
    """A context without those around it that see or change operations."""
    before = full_mode()
    change_mode(dispatch=())
    try:
        yield
    finally:
        change_mode(dispatch=before.dispatch)


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """Return the result of a ``__torch_dispatch__``: the tensor itself for an in-place write."""
    return args[0] if func.endswith("_") else out


def fresh_casts(contexts: Iterable[Any]) -> tuple[Any, ...]:
    """Return fresh copies of the casting contexts among `contexts`, for a recomputation."""
    return tuple(context.fresh() for context in contexts if context.mixes)


class OperationLog(Dispatch):
    """Logs which operations are computed, and where the program calls them."""

    def __init__(self) -> None:
        self._entries: list[tuple[str, Site]] = []

    def __enter__(self) -> Dispatch:
        self._entries.clear()
        return super().__enter__()

    def run(self, mode: Mode, prim: Primitive, tensors: list[Any], params: Any, outs: Any) -> Any:
        arguments = [errors.describe(tensor._payload) for tensor in tensors]
        arguments += [f"{name}={_brief(value)}" for name, value in params.items()]
        site = site_here()
        # before it is recorded, which may end a recomputation
        self._entries.append((f"{operation_name(prim)}({', '.join(arguments)})", site))
        return self.compute(mode, prim, tensors, params, outs)

    def operations(self) -> str:
        """Return the operations, one per line."""
        return "\n".join(f"  {text}" for text, _ in self._entries)

    def traces(self) -> str:
        """Return the operations, each with the lines of the program that led there."""
        total = len(self._entries)
        return "\n".join(
            f"{text}   ({i} of {total})\n{traceback_of(site)}"
            for i, (text, site) in enumerate(self._entries, 1)
        )


def _brief(value: Any) -> str:
    if isinstance(value, TensorBase):
        return errors.describe(value._payload)
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
