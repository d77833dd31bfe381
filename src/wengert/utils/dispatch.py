"""Layer 8 · utils: contexts between the recording of operations and their kernels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wengert.base import errors
from wengert.prims.record import Primitive
from wengert.tape.base import TensorBase
from wengert.tape.modes import MODE, Mode, change_mode, full_mode
from wengert.tape.record import run
from wengert.tape.sites import Site, site_here, traceback_of


def operation_name(prim: Primitive) -> str:
    """Return the name of an operation for users, which its forms with a number share."""
    return prim.name.removesuffix("_scalar")


class Dispatch:
    """A context whose `run` computes the operations of its thread.

    When contexts are nested, the innermost runs first, and its `compute` calls the next. In-place
    writes and the kernels of a first-order backward pass bypass them.
    """

    mixes = False
    """Whether mixed dtypes are made equal where a function would refuse them."""

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
