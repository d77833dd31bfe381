"""Layer 0 · base: what programs ask of an accelerator, whichever it may be: there is none."""

from __future__ import annotations

from wengert.base.device import device

__all__ = ["current_accelerator", "device_count", "is_available"]


def is_available() -> bool:
    """False: tensors are computed on the CPU.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.accelerator.is_available()
    False
    """
    return False


def current_accelerator(check_available: bool = False) -> device | None:
    """None: there is no accelerator.

    Parameters
    ----------
    check_available : bool
        Has no effect.

    Examples
    --------
    >>> import wengert as wg
    >>> accelerator = wg.accelerator.current_accelerator()
    >>> wg.device("cpu" if accelerator is None else accelerator)
    device(type='cpu')
    """
    return None


def device_count() -> int:
    """0: there is no accelerator.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.accelerator.device_count()
    0
    """
    return 0
