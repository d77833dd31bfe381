"""Layer 8 · _dynamo: settings and functions of the front end of PyTorch's compiler."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows
from wengert.compiler.api import compile
from wengert.compiler.control import (
    CONFIG,
    allow_in_graph,
    assume_constant_result,
    disable,
    is_compiling,
    list_backends,
    reset,
    set_stance,
)
from wengert.compiler.runtime.modules import OptimizedModule
from wengert.tape.modes import untraced

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "explain",
    "graph_break",
    "is_compile_supported",
    "is_compiling",
    "is_dynamo_supported",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "optimize",
    "reset",
    "set_stance",
]
__path__: list[str] = []  # `_dynamo.utils` is a row of a table
__getattr__ = elsewhere(__name__)
TransformGetItemToIndex = contextlib.nullcontext
"""Does nothing: indices are tensors here without it."""

config = CONFIG
# for ``import torch._dynamo.config``
sys.modules[f"{__name__}.config"] = CONFIG  # type: ignore[assignment]  # is found like a module


def graph_break(msg: str = "") -> None:
    """Do nothing: no graph needs to be broken; with ``fullgraph=True`` raise, as in PyTorch.

    Examples
    --------
    >>> wg._dynamo.graph_break()
    """
    untraced(f"it calls graph_break(){': ' * bool(msg)}{msg}", "part")


def mark_dynamic(
    t: Any, index: Any, *, hint_override: Any = None, min: Any = None, max: Any = None
) -> None:
    """Do nothing: each shape has its own trace.

    Examples
    --------
    >>> wg._dynamo.mark_dynamic(wg.ones(2), 0)
    """


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Do nothing, like `mark_dynamic`.

    Examples
    --------
    >>> wg._dynamo.maybe_mark_dynamic(wg.ones(2), 0)
    """


def mark_static(t: Any, index: Any = None) -> None:
    """Do nothing: each shape has its own trace.

    Examples
    --------
    >>> wg._dynamo.mark_static(wg.ones(2))
    """


def mark_static_address(t: Any, guard: bool = False) -> None:
    """Do nothing: a trace reads the memory of its inputs in each run.

    Examples
    --------
    >>> wg._dynamo.mark_static_address(wg.ones(2))
    """


def optimize(backend: str = "auto", *, nopython: bool = False, **settings: Any) -> Any:
    """Return `wengert.compile` with these arguments, as a decorator.

    Examples
    --------
    >>> wg._dynamo.optimize("eager")(abs)(-1)
    1
    """
    return compile(backend=backend, fullgraph=nopython, **settings)


def is_compile_supported(device_type: str) -> bool:
    """Return whether functions are compiled for a device: only for the CPU.

    Examples
    --------
    >>> wg._dynamo.is_compile_supported("cuda")
    False
    """
    return device_type == "cpu"


def is_dynamo_supported() -> bool:
    """Return whether functions are compiled: always.

    Examples
    --------
    >>> wg._dynamo.is_dynamo_supported()
    True
    """
    return True


def explain(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `f` compiled, and returns a report instead of the result.

    Examples
    --------
    >>> wg._dynamo.explain(lambda x: x * 2)(wg.ones(2)).traces
    1
    """
    compiled: Any = compile(f)

    def explained(*args: Any, **kwargs: Any) -> Any:
        compiled(*args, **kwargs)
        return compiled.explain()

    return explained


__dir__ = shows(__all__)
