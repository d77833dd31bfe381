"""Layer 8 · nn: modules that learn the shapes of their parameters from their first input."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, ClassVar

from wengert.nn.modules.hooks import settle
from wengert.nn.parameter import is_lazy
from wengert.tape.modes import no_grad

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """A mixin for modules whose parameters get their shapes from the first call.

    List it before the ordinary module among the bases. A subclass makes parameters without a shape
    (`wengert.nn.UninitializedParameter`), and gives them one in `initialize_parameters`, which
    receives the arguments of the first call. Then the module changes its class to `cls_to_become`,
    if that is not None. Loading a `state_dict` also sets the shapes.

    Examples
    --------
    >>> from wengert.nn.modules.lazy import LazyModuleMixin
    >>> class Scale(LazyModuleMixin, nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.weight = nn.UninitializedParameter()
    ...
    ...     def initialize_parameters(self, x):
    ...         with wg.no_grad():
    ...             self.weight.materialize(x.shape[-1:])
    ...             self.weight.fill_(2.0)
    ...
    ...     def forward(self, x):
    ...         return x * self.weight
    >>> scale = Scale()
    >>> scale(wg.ones(3)).detach()
    tensor([2., 2., 2.])
    """

    cls_to_become: ClassVar[Any] = None
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _load_hook: Any
    _initialize_hook: Any
    _register_load_state_dict_pre_hook: Callable[..., Any]
    register_forward_pre_hook: Callable[..., Any]
    _get_name: Callable[[], str]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # registered by name, so that a copy of the module calls its own methods
        self._load_hook = self._register_load_state_dict_pre_hook(_before_loading, with_module=True)
        self._initialize_hook = self.register_forward_pre_hook(_before_first_call, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters shapes and values that fit the arguments of the first call.

        For subclasses to override.
        """
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Return whether a parameter or buffer of this module itself has no shape yet."""
        return any(
            is_lazy(held)
            for held in itertools.chain(self._parameters.values(), self._buffers.values())
        )

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        """Initialise `module` (this one) from the arguments of a call, and change its class."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        settle(module)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become


def _before_first_call(module: Any, args: Any, kwargs: Any) -> None:
    module._infer_parameters(module, args, kwargs)


def _before_loading(module: Any, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
    """Give parameters without a shape the shapes in the state to load."""
    for name, held in itertools.chain(module._parameters.items(), module._buffers.items()):
        value = state_dict.get(prefix + name)
        if is_lazy(held) and value is not None and not is_lazy(value):
            with no_grad():
                held.materialize(value.shape)
