"""Layer 8 · __future__: how modules are converted; only the default is supported."""

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
    """Return False: ``module.double()`` converts parameters in place."""
    return False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Accept False, the only supported value; True raises a `NotImplementedError`."""
    if value:
        raise NotImplementedError(
            "modules keep their parameters when they are converted: give an optimiser its "
            "parameters after that"
        )


get_swap_module_params_on_conversion = get_overwrite_module_params_on_conversion
set_swap_module_params_on_conversion = set_overwrite_module_params_on_conversion
