"""Layer 8 · utils: which modules are running."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self
from weakref import WeakKeyDictionary

from wengert.autograd.api import Variable
from wengert.autograd.graph import register_multi_grad_hook
from wengert.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from wengert.types import Tensor
from wengert.utils._pytree import tree_leaves

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """A context that knows which modules are running, forward or backward.

    Attributes
    ----------
    parents : set of str. Their names, such as ``"Sequential.0"``, and ``"Global"``.

    Examples
    --------
    >>> from wengert.utils.module_tracker import ModuleTracker
    >>> layer = wg.nn.Sequential(wg.nn.ReLU())
    >>> with ModuleTracker() as tracker:
    ...     _ = layer[0].register_forward_pre_hook(lambda *_: print(sorted(tracker.parents)))
    ...     _ = layer(wg.ones(1))
    ['Global', 'Sequential', 'Sequential.0']
    """

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._handles: list[Any] = []

    def __enter__(self) -> Self:
        self._handles = [
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after),
        ]
        return self

    def __exit__(self, *_: object) -> None:
        while self._handles:
            self._handles.pop().remove()

    def _named(self, module: Any) -> str:
        if module not in self._names:
            for path, inner in module.named_modules(prefix=type(module).__name__):
                self._names[inner] = path
        return self._names[module]

    def _before(self, module: Any, args: Any) -> None:
        name = self._named(module)
        self.parents.add(name)
        self._at_gradients(args, lambda _: self.parents.discard(name))

    def _after(self, module: Any, args: Any, output: Any) -> None:
        name = self._named(module)
        self.parents.discard(name)
        self._at_gradients(output, lambda _: self._enter(name))

    def _enter(self, name: str) -> None:
        if self.parents == {"Global"}:
            # a module whose inputs need no gradient runs to the end of the pass
            Variable._execution_engine.queue_callback(self._end)
        self.parents.add(name)

    def _end(self) -> None:
        self.parents = {"Global"}

    def _at_gradients(self, values: Any, hook: Callable[[Any], None]) -> None:
        leaves = [x for x in tree_leaves(values) if isinstance(x, Tensor) and x.requires_grad]
        if leaves:
            self._handles.append(register_multi_grad_hook(leaves, hook))
