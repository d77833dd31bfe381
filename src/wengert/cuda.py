"""Layer 6 · tensor: what programs ask before they use a GPU: there is none here."""

__all__ = ["device_count", "is_available"]


def is_available() -> bool:
    """False: tensors are computed on the CPU.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.device("cuda" if wg.cuda.is_available() else "cpu")
    device(type='cpu')
    """
    return False


def device_count() -> int:
    """0: there are no GPUs to use.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.cuda.device_count()
    0
    """
    return 0
