"""Layer 8 · __future__: how conversions of modules are to be; here they are as by default."""

from __future__ import annotations

from wengert.base.names import shows

__all__ = [
    "get_overwrite_module_params_on_conversion",
    "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion",
    "set_swap_module_params_on_conversion",
]
__dir__ = shows(__all__)


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether ``module.double()`` makes new parameters: False, it converts those that are there."""
    return False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Take False, which is how it is; True raises a `NotImplementedError`."""
    if value:
        raise NotImplementedError(
            "modules keep their parameters when they are converted: give an optimiser its "
            "parameters after that"
        )


get_swap_module_params_on_conversion = get_overwrite_module_params_on_conversion
set_swap_module_params_on_conversion = set_overwrite_module_params_on_conversion
