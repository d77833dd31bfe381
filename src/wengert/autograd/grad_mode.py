"""Layer 7 · autograd: the recording modes, under the name that PyTorch has them."""

from wengert.tape.inference import inference_mode as inference_mode
from wengert.tape.modes import enable_grad as enable_grad
from wengert.tape.modes import is_multithreading_enabled as is_multithreading_enabled
from wengert.tape.modes import no_grad as no_grad
from wengert.tape.modes import set_grad_enabled as set_grad_enabled
from wengert.tape.modes import set_multithreading_enabled as set_multithreading_enabled
from wengert.tape.versions import preserve_version as _unsafe_preserve_version_counter

__all__ = [
    "_unsafe_preserve_version_counter",
    "enable_grad",
    "inference_mode",
    "is_multithreading_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
