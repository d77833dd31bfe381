"""Layer 9 · cuda: functions that programs call to find and use a GPU.

A GPU is available if CuPy is installed and finds one (NOTE [backends] in `wengert.base.backends`).
Functions that are safe to call anyway (seeds, memory figures, `empty_cache`) have no effect;
functions that need a GPU raise where there is none. Random numbers are drawn on the CPU and copied,
so `wengert.manual_seed` seeds those, too.
"""

from __future__ import annotations

import copy
import importlib
from typing import TYPE_CHECKING, Any, NoReturn

from wengert.base.backends import Backend, backend_of
from wengert.base.device import as_device
from wengert.base.elsewhere import elsewhere, refusal
from wengert.base.names import shows
from wengert.ops.typed import TYPED

__all__ = [
    "amp",
    "current_device",
    "device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "synchronize",
]
__dir__ = shows(__all__)

_TYPED = frozenset(TYPED)
_NO_GPU = "there is no GPU: tensors are computed on the CPU. Ask cuda.is_available() first"
OutOfMemoryError = CudaError = MemoryError
"""The error for exhausted GPU memory."""
default_generators: tuple[Any, ...] = ()
"""One for each GPU."""


if TYPE_CHECKING:
    from wengert.cuda import amp as amp
else:

    def __getattr__(name):
        """Import `amp` on first use; make stand-ins for names that need a GPU."""
        if name == "amp":
            return importlib.import_module("wengert.cuda.amp")
        if name == "_initialized":
            return is_initialized()
        if name in _NOTHING or name in _NEEDS_GPU:
            return globals().setdefault(name, _made(name))
        if name in _OF_GPU:
            return globals().setdefault(name, refusal("cuda", name, _NO_GPU))
        if name in _TYPED:
            return globals().setdefault(name, type(name, (_Absent,), {"__doc__": _Absent.__doc__}))
        return elsewhere(__name__)(name)


_NOTHING: dict[str, Any] = {
    **dict.fromkeys(
        (
            *("ipc_collect", "reset_accumulated_memory_stats", "reset_max_memory_allocated"),
            *("reset_max_memory_cached", "reset_peak_memory_stats", "seed", "seed_all"),
            *("set_per_process_memory_fraction", "set_sync_debug_mode"),
        ),
        None,
    ),
    **dict.fromkeys(("get_sync_debug_mode", "max_memory_cached", "memory_cached"), 0),
    **dict.fromkeys(("get_arch_list", "get_gencode_flags", "get_rng_state_all"), ()),
    "memory_stats": {},
    "set_rng_state_all": None,  # of the states of no device
    **dict.fromkeys(("is_current_stream_capturing", "is_tf32_supported"), False),
    **dict.fromkeys(("can_device_access_peer", "has_half", "has_magma"), False),
}
"""Functions that may be called without a GPU, and their results then."""
_NEEDS_GPU = frozenset(
    {
        *("current_blas_handle", "current_stream", "default_stream", "get_device_capability"),
        *("clock_rate", "cudart", "init", "get_rng_state", "initial_seed", "list_gpu_processes"),
        *("mem_get_info", "memory_snapshot", "memory_summary", "memory_usage"),
        *("power_draw", "set_device", "set_rng_state", "set_stream"),
        *("temperature", "utilization"),
    }
)
"""Functions that need a GPU."""
_OF_GPU = frozenset(
    {
        *("CUDAGraph", "Event", "ExternalStream", "MemPool", "Stream"),
        *("StreamContext", "device_of", "graph", "make_graphed_callables", "stream"),
    }
)
"""Classes and contexts that need a GPU."""


def _made(name: str) -> Any:
    """Make one of these functions."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if name in _NEEDS_GPU:
            _needs_gpu()
        value = _NOTHING[name]
        return list(value) if isinstance(value, tuple) else copy.copy(value)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        "Needs a GPU, of which there is none." if name in _NEEDS_GPU else "Has no effect: no GPU."
    )
    return function


class device:
    """A context that selects a GPU; None or -1 selects none.

    Examples
    --------
    >>> with wg.cuda.device(None):
    ...     x = wg.ones(1)
    """

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None else device

    def __enter__(self) -> None:
        if self.idx != -1:
            self._on = _backend().on(_index(self.idx))
            self._on.__enter__()

    def __exit__(self, *exc: object) -> None:
        """Restore the previous GPU."""
        if self.idx != -1:
            self._on.__exit__(None, None, None)


class _Absent:
    """A class of tensors on a GPU, which cannot be instantiated."""

    def __init__(self, *data: Any) -> None:
        raise TypeError(
            f"type torch.cuda.{type(self).__name__} not available. Torch not compiled with CUDA "
            f"enabled: use {type(self).__name__}, on the CPU."
        )


def is_available() -> bool:
    """Return whether tensors can be on a GPU: CuPy is installed and finds one.

    Examples
    --------
    >>> wg.device("cuda" if wg.cuda.is_available() else "cpu")
    device(type='cpu')
    """
    return backend_of("cuda") is not None


def device_count() -> int:
    """Return the number of GPUs.

    Examples
    --------
    >>> wg.cuda.device_count()
    0
    """
    backend = backend_of("cuda")
    return 0 if backend is None else backend.count()


def is_initialized() -> bool:
    """Return whether there is a GPU.

    Examples
    --------
    >>> wg.cuda.is_initialized()
    False
    """
    return is_available()


def is_bf16_supported() -> bool:
    """Return False: there is no GPU that could compute with bfloat16.

    Examples
    --------
    >>> wg.cuda.is_bf16_supported()
    False
    """
    return False


def manual_seed(seed: int) -> None:
    """Seed the GPU's random numbers; no effect without a GPU.

    Examples
    --------
    >>> wg.cuda.manual_seed(0)
    """
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the random numbers of all GPUs; no effect without a GPU.

    Examples
    --------
    >>> wg.cuda.manual_seed_all(0)
    """
    int(seed)


def empty_cache() -> None:
    """Free unused memory of the GPU; no effect without a GPU.

    Examples
    --------
    >>> wg.cuda.empty_cache()
    """


def memory_allocated(device: Any = None) -> int:
    """Return 0, the bytes of GPU memory in use by tensors.

    Examples
    --------
    >>> wg.cuda.memory_allocated()
    0
    """
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """Return 0, the peak of `memory_allocated`.

    Examples
    --------
    >>> wg.cuda.max_memory_allocated()
    0
    """
    return 0


def memory_reserved(device: Any = None) -> int:
    """Return 0, the bytes of GPU memory that are reserved.

    Examples
    --------
    >>> wg.cuda.memory_reserved()
    0
    """
    return 0


def max_memory_reserved(device: Any = None) -> int:
    """Return 0, the peak of `memory_reserved`.

    Examples
    --------
    >>> wg.cuda.max_memory_reserved()
    0
    """
    return 0


def _needs_gpu() -> NoReturn:
    raise AssertionError(
        "Torch not compiled with CUDA enabled: wengert computes on the CPU. Ask "
        "cuda.is_available() first."
    )


def _backend() -> Backend:
    found = backend_of("cuda")
    return _needs_gpu() if found is None else found


def _index(device: Any) -> int:
    """Return the number of a GPU; None is the current one."""
    backend = _backend()
    if device is None:
        return backend.current()
    return as_device(device).index or 0


def synchronize(device: Any = None) -> None:
    """Wait until a GPU has finished all work submitted to it.

    %(raises_cuda)s

    Examples
    --------
    >>> if wg.cuda.is_available():
    ...     wg.cuda.synchronize()
    """
    _backend().synchronize(_index(device))


def current_device() -> int:
    """Return the number of the current GPU.

    %(raises_cuda)s

    Examples
    --------
    >>> if wg.cuda.is_available():
    ...     wg.cuda.current_device()
    """
    return _backend().current()


def get_device_name(device: Any = None) -> str:
    """Return the name of a GPU.

    %(raises_cuda)s

    Examples
    --------
    >>> [wg.cuda.get_device_name(i) for i in range(wg.cuda.device_count())]
    []
    """
    return _backend().name(_index(device))


def get_device_properties(device: Any = None) -> Any:
    """Return the properties of a GPU; there are none here.

    %(raises_cuda)s

    Examples
    --------
    >>> [wg.cuda.get_device_properties(i) for i in range(wg.cuda.device_count())]
    []
    """
    _needs_gpu()
