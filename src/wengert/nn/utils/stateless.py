"""Layer 8 · nn: the older name of `wengert.func.functional_call`."""

from __future__ import annotations

from typing import Any

from wengert.func.functional_call import functional_call as call
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
    """Call a module with other parameters and buffers: `wengert.func.functional_call`, warning."""
    warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0. Please use "
        "`wengert.func.functional_call` instead, which takes the same arguments.",
        FutureWarning,
    )
    return call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )
