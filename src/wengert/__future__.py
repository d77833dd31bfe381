"""Layer 8 · __future__: how modules are converted, and how they load what they are assigned."""

from __future__ import annotations

from wengert.base.names import defined, shows
from wengert.base.patches import Setting

_SWAPS = Setting(False)


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


def get_swap_module_params_on_conversion() -> bool:
    """Return whether every parameter stays the same object (see the setter)."""
    return bool(_SWAPS.value)


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Set whether parameters of subclasses, and those assigned in loading, stay the same objects.

    Others always do. With True they are exchanged with the new ones (`wengert.utils.swap_tensors`)
    rather than replaced by them.
    """
    _SWAPS.set(value)


__all__ = defined(globals())
__dir__ = shows(__all__)
