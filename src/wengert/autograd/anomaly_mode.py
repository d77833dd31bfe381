"""Layer 7 · autograd: anomaly detection: `detect_anomaly`."""

from __future__ import annotations

from wengert.base.names import defined
from wengert.tape.anomaly import Anomaly
from wengert.tape.modes import change_mode, full_mode
from wengert.tape.sites import warn


def is_anomaly_enabled() -> bool:
    """Return whether anomaly mode is on.

    Examples
    --------
    >>> wg.is_anomaly_enabled()
    False
    """
    return full_mode().anomaly is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Return whether anomaly mode checks values; True if it is off.

    Examples
    --------
    >>> with wg.autograd.set_detect_anomaly(True, check_nan=False):
    ...     wg.is_anomaly_check_nan_enabled()
    False
    """
    anomaly = full_mode().anomaly
    return anomaly is None or anomaly.check_nan


class set_detect_anomaly:
    """Switch anomaly mode on or off: as a function, or as a context manager.

    See `detect_anomaly` for its effects.

    Parameters
    ----------
    mode : bool. Whether to switch it on.
    check_nan : bool. Whether to check values, too.

    Examples
    --------
    >>> with wg.autograd.set_detect_anomaly(True):
    ...     wg.is_anomaly_enabled()
    True
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = full_mode().anomaly
        change_mode(anomaly=Anomaly(check_nan) if mode else None)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        change_mode(anomaly=self._before)


class detect_anomaly:
    """Find where values stop being finite, and which operation made a backward pass fail.

    * A warning names the first operation of the forward pass that makes a NaN or an infinity from
      finite arguments, with the element, the arguments there, and the source line.
    * The first NaN of a backward pass raises. The message names the node, the element, the values
      that it came from, the line that recorded the node, and earlier infinities.
    * An exception in a backward pass comes with a warning that shows where the node was recorded.

    The mode applies to the current thread and context. A pass takes up to about twice its usual
    time. PyTorch does the second and the third of these, without element and values, for all
    threads.

    Parameters
    ----------
    check_nan : bool. Whether to check values; if not, only the lines are recorded.

    Raises
    ------
    RuntimeError: In a backward pass, at the first NaN.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> x = wg.zeros(2, requires_grad=True)
    >>> with wg.autograd.detect_anomaly():
    ...     try:
    ...         (x.sqrt() * 0).sum().backward()
    ...     except RuntimeError as error:
    ...         print(str(error).splitlines()[0])
    Function 'SqrtBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self._before = full_mode().anomaly
        self.check_nan = check_nan
        warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
        )

    def __enter__(self) -> None:
        change_mode(anomaly=Anomaly(self.check_nan))

    def __exit__(self, *exc: object) -> None:
        change_mode(anomaly=self._before)


__all__ = defined(globals())
