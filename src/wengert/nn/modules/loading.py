"""Layer 8 · nn: loading of state as a transaction, all or nothing.

NOTE [loading as a whole]
Errors in a state are known only after all of it has been checked. So writes to modules that load in
the ordinary way are deferred until then. A class that overrides `_load_from_state_dict`, or a hook
that runs after loading, may read what has been written; where there are any, tensors are written
immediately, and their old values are kept until no error can occur any more.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any

from wengert.__future__ import get_swap_module_params_on_conversion
from wengert.base.device import is_meta
from wengert.tape.modes import no_grad
from wengert.tensor.copying import swap_tensors

_CURRENT: ContextVar[Transaction | None] = ContextVar("loading", default=None)


class Transaction:
    """The writes of one `load_state_dict`, which are undone unless they are committed.

    Parameters
    ----------
    waits: Whether the writes of a module may be deferred.
    """

    def __init__(self, waits: Callable[[Any], bool]) -> None:
        self._waits = waits
        self._later: list[Callable[[], Any]] = []
        self._undo: list[Callable[[], Any]] = []
        self._token: Token[Transaction | None] | None = None

    def __enter__(self) -> Transaction:
        self._token = _CURRENT.set(self)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._token is not None:
            _CURRENT.reset(self._token)
        with no_grad():
            while self._undo:
                self._undo.pop()()

    def commit(self) -> None:
        """Perform the deferred writes, and keep those already made."""
        with no_grad():
            for write in self._later:
                write()
        self._undo.clear()

    @staticmethod
    def copy(module: Any, held: Any, value: Any) -> None:
        """Copy the values of `value` into `held`, which `module` holds."""
        if is_meta(value.device) and not is_meta(held.device):
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        now = _CURRENT.get()
        if now is not None and now._waits(module):
            now._later.append(lambda: held.copy_(value))
            return
        with no_grad():
            if now is not None:
                old = held.detach().clone()
                now._undo.append(lambda: held.copy_(old))
            held.copy_(value)

    @staticmethod
    def assign(module: Any, name: str, value: Any) -> None:
        """Make `module` hold `value` under `name`."""
        now, old = _CURRENT.get(), getattr(module, name)
        # the writes, and the functions that undo them
        steps = (lambda: setattr(module, name, value)), (lambda: setattr(module, name, old))
        if get_swap_module_params_on_conversion():
            steps = ((lambda: swap_tensors(old, value)),) * 2
        steps[0]()
        if now is not None:
            now._undo.append(steps[1])
