"""Layer 8 · utils: tools around a graph, under torch.utils' names."""

from wengert.base.elsewhere import later
from wengert.base.names import shows
from wengert.tape.tracebacks import set_full_tracebacks
from wengert.tensor.copying import swap_tensors
from wengert.utils import checkpoint

__all__ = [
    "benchmark",
    "checkpoint",
    "collect_env",
    "data",
    "dlpack",
    "hooks",
    "set_full_tracebacks",
    "swap_tensors",
]
__dir__ = shows(__all__)

__getattr__ = later(
    __name__,
    {},
    ("_pytree", "benchmark", "collect_env", "data", "deterministic", "dlpack", "hooks"),
)
