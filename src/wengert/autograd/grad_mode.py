"""Layer 7 · autograd: the recording modes, under PyTorch's module name."""

from wengert.tape.inference import inference_mode as inference_mode
from wengert.tape.modes import enable_grad as enable_grad
from wengert.tape.modes import is_multithreading_enabled as is_multithreading_enabled
from wengert.tape.modes import no_grad as no_grad
from wengert.tape.modes import set_grad_enabled as set_grad_enabled
from wengert.tape.modes import set_multithreading_enabled as set_multithreading_enabled
from wengert.tape.versions import preserve_version as _unsafe_preserve_version_counter
from wengert.tape.views import REPLAYS

__all__ = [
    "_force_original_view_tracking",
    "_unsafe_preserve_version_counter",
    "enable_grad",
    "inference_mode",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


def is_view_replay_enabled() -> bool:
    """Return the value last given to `_force_original_view_tracking`.

    Examples
    --------
    >>> wg.autograd.is_view_replay_enabled()
    False
    """
    return REPLAYS.get()


class _force_original_view_tracking:
    """Set how a write rebuilds the history of views: as a function, or as a context manager.

    True rebuilds the nodes of the operations that made the view; False makes one
    ``AsStridedBackward0``. The gradients are the same.
    """

    def __init__(self, mode: bool) -> None:
        self.prev = REPLAYS.get()
        self.mode = mode
        REPLAYS.set(mode)

    def __enter__(self) -> None:
        """Do nothing: the mode has been set by `__init__`."""

    def __exit__(self, *exc: object) -> None:
        REPLAYS.set(self.prev)

    def clone(self) -> "_force_original_view_tracking":
        return type(self)(self.mode)
