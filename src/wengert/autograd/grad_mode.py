"""Layer 7 · autograd: the recording modes, under the name that PyTorch has them."""

from contextvars import ContextVar

from wengert.tape.inference import inference_mode as inference_mode
from wengert.tape.modes import enable_grad as enable_grad
from wengert.tape.modes import is_multithreading_enabled as is_multithreading_enabled
from wengert.tape.modes import no_grad as no_grad
from wengert.tape.modes import set_grad_enabled as set_grad_enabled
from wengert.tape.modes import set_multithreading_enabled as set_multithreading_enabled
from wengert.tape.versions import preserve_version as _unsafe_preserve_version_counter

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

_REPLAYS: ContextVar[bool] = ContextVar("wengert_view_replay", default=False)


def is_view_replay_enabled() -> bool:
    """What `_force_original_view_tracking` was last told.

    It changes nothing here: views always know the operations that made them.

    Examples
    --------
    >>> import wengert as wg
    >>> wg.autograd.is_view_replay_enabled()
    False
    """
    return _REPLAYS.get()


class _force_original_view_tracking:
    """Accepted, at once or as a context, and reported by `is_view_replay_enabled`.

    PyTorch asks whether views are made anew by the operations that made them; here they always are.
    """

    def __init__(self, mode: bool) -> None:
        self.prev = _REPLAYS.get()
        self.mode = mode
        _REPLAYS.set(mode)

    def __enter__(self) -> None:
        """The mode is set already."""

    def __exit__(self, *exc: object) -> None:
        _REPLAYS.set(self.prev)

    def clone(self) -> "_force_original_view_tracking":
        """Another one that does the same."""
        return type(self)(self.mode)
