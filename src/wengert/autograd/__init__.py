"""Layer 7 · autograd: `backward`, `grad`, `Function`, `gradcheck`, under PyTorch's names."""

import importlib as _importlib
import sys as _sys
from typing import Any as _Any

from wengert.autograd.api import Variable as Variable
from wengert.autograd.api import backward as backward
from wengert.autograd.api import grad as grad
from wengert.autograd.gradcheck import gradcheck as gradcheck
from wengert.autograd.gradcheck import gradgradcheck as gradgradcheck
from wengert.base.elsewhere import elsewhere as _elsewhere
from wengert.tape.inference import inference_mode as inference_mode
from wengert.tape.modes import enable_grad as enable_grad
from wengert.tape.modes import is_multithreading_enabled as is_multithreading_enabled
from wengert.tape.modes import no_grad as no_grad
from wengert.tape.modes import set_grad_enabled as set_grad_enabled
from wengert.tape.modes import set_multithreading_enabled as set_multithreading_enabled

# imported on first access, since few programs need them
_LAZY = {
    "Explanation": "reasons",
    "Function": "function",
    "SavedTensor": "graph",
    "_calculate_shape": "api",
    "_functions": "_functions",
    "_is_checkpoint_valid": "api",
    "_force_original_view_tracking": "grad_mode",
    "anomaly_mode": "anomaly_mode",
    "detect_anomaly": "anomaly_mode",
    "_unsafe_preserve_version_counter": "grad_mode",
    "explain": "explanation",
    "forward_ad": "forward_ad",
    "function": "function",
    "functional": "functional",
    "grad_mode": "grad_mode",
    "graph": "graph",
    "is_view_replay_enabled": "grad_mode",
    "set_detect_anomaly": "anomaly_mode",
}


def __getattr__(name: str) -> _Any:
    if name == "torch":
        # a name that leaks into PyTorch's module, and that programs use
        return _sys.modules["wengert"]
    if name not in _LAZY:
        return _elsewhere(__name__)(name)
    module = _importlib.import_module(f"wengert.autograd.{_LAZY[name]}")
    value = module if _LAZY[name] == name else getattr(module, name)
    globals()[name] = value
    return value


# for users: without modules, and without the names that `__getattr__` adds later
_SHOWN = frozenset(
    name
    for name, value in globals().items()
    if not (name in _LAZY or isinstance(value, type(_sys)) or name.startswith("_"))
) | {"function", *(name for name in _LAZY if not name.startswith("_"))}


def __dir__() -> list[str]:
    return sorted(_SHOWN)
