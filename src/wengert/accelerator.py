"""Layer 0 · base: what programs ask of an accelerator, whichever it may be: there is none."""

from __future__ import annotations

from wengert.base.device import device
from wengert.base.names import shows
from wengert.base.sections import fill_sections

__all__ = ["current_accelerator", "device_count", "is_available"]
__dir__ = shows(__all__)


def is_available() -> bool:
    """False: tensors are computed on the CPU.

    Examples
    --------
    >>> wg.accelerator.is_available()
    False
    """
    return False


def current_accelerator(check_available: bool = False) -> device | None:
    """None: there is no accelerator.

    Parameters
    ----------
    check_available : bool. Has no effect.

    Examples
    --------
    >>> accelerator = wg.accelerator.current_accelerator()
    >>> wg.device("cpu" if accelerator is None else accelerator)
    device(type='cpu')
    """
    return None


def device_count() -> int:
    """0: there is no accelerator.

    Examples
    --------
    >>> wg.accelerator.device_count()
    0
    """
    return 0


fill_sections(globals())
