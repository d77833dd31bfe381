"""Layer 8 · nn: the deprecated name of `wengert.func.functional_call`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from wengert.func.functional_call import functional_call as _functional_call
from wengert.func.functional_call import with_state
from wengert.tape.sites import warn

__all__ = ["functional_call"]


def functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Warn, and call `wengert.func.functional_call`."""
    warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0. Please use "
        "`wengert.func.functional_call` instead, which takes the same arguments.",
        FutureWarning,
    )
    return _functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def swap_tensor(module: Any, name: str, tensor: Any) -> Any:
    """Replace a parameter, buffer or attribute by a tensor; return the former."""
    for held in (module._parameters, module._buffers, vars(module)):
        if name in held:
            before, held[name] = held[name], tensor
            return before
    raise AttributeError(f"{module._get_name()} has no attribute `{name}`")


def _reparametrize_module(
    module: Any,
    parameters_and_buffers: dict[str, Any],
    tie_weights: bool = False,
    *,
    strict: bool = False,
    stack_weights: bool = False,
) -> AbstractContextManager[None]:
    """Return a context in which a module has other parameters and buffers."""
    return with_state(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict)
