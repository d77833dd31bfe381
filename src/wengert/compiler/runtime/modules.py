"""Layer 8 · compiler: what `compile` makes of a module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.nn.modules.module import Module
from wengert.nn.modules.registration import TABLES


class OptimizedModule(Module):
    """A module whose calls run compiled; ``_orig_mod`` is the module that was compiled.

    It has the attributes of the module, and those of a compiled function (see `Compiled`).
    """

    training: Any = property(
        lambda self: self._orig_mod.training,
        lambda self, value: setattr(self._orig_mod, "training", value),
    )

    def __init__(self, module: Module, call: Callable[..., Any]) -> None:
        super().__init__()
        self._modules["_orig_mod"] = module
        self.__dict__["forward"] = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the compiled call; hooks of all modules run for the module inside alone."""
        if "_is_hooked" in self.__dict__:
            return super().__call__(*args, **kwargs)
        return self.forward(*args, **kwargs)

    def __reduce__(self) -> Any:
        call = self.forward
        if call is self._orig_mod:
            return OptimizedModule, (call, call)
        return call.__reduce__()  # compiles a copy

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod" or name in TABLES:
            return super().__getattr__(name)
        reports = name[:2] != "__" and hasattr(type(self.__dict__.get("forward")), name)
        return getattr(self.forward if reports else self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_orig_mod" or name in self.__dict__ or hasattr(type(self), name):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dir(self._orig_mod)]

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)
