"""Layer 9 · compat: control flow of ``mxnet.nd.contrib``, which runs as Python.

>>> from wengert.compat.mxnet import nd
>>> sums, last = nd.contrib.foreach(lambda x, s: (x + s, x + s), nd.arange(4), nd.array([0]))
>>> sums.asnumpy()[:, 0]
array([0., 1., 3., 6.], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import public
from wengert.compat.mxnet.ndarray.functions import function_of


def _stacked(steps: list[Any]) -> Any:
    stack = function_of("stack")
    assert stack is not None
    if isinstance(steps[0], NDArray):
        return stack(*steps)
    return [stack(*parts) for parts in zip(*steps, strict=True)]


def foreach(body: Callable[..., Any], data, init_states, name="foreach") -> Any:
    """Call ``body(row, states)`` for each row of `data`; return stacked outputs and last states."""
    states, outputs = init_states, []
    rows = data if isinstance(data, NDArray) else zip(*data, strict=True)
    for row in rows:
        output, states = body(row if isinstance(row, NDArray) else list(row), states)
        outputs.append(output)
    return _stacked(outputs), states


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., Any],
    loop_vars,
    max_iterations: int | None = None,
    name="while_loop",
) -> Any:
    """Call ``func(*loop_vars)`` while ``cond(*loop_vars)`` holds; return outputs and variables."""
    variables = [loop_vars] if isinstance(loop_vars, NDArray) else list(loop_vars)
    outputs: list[Any] = []
    while (max_iterations is None or len(outputs) < max_iterations) and bool(cond(*variables)):
        output, now = func(*variables)
        variables = [now] if isinstance(now, NDArray) else list(now)
        outputs.append([output] if isinstance(output, NDArray) else output)
    return (_stacked(outputs) if outputs and outputs[0] else []), variables


def cond(pred, then_func: Callable[[], Any], else_func: Callable[[], Any], **name: str) -> Any:
    """Return ``then_func()`` if `pred` is not 0, else ``else_func()``."""
    return then_func() if bool(pred) else else_func()


_OWN = """
    AdaptiveAvgPooling2D CTCLoss arange_like boolean_mask ctc_loss isfinite isinf isnan
    """
globals().update({name: function_of(name) for name in _OWN.split()})
__all__ = public(globals(), _OWN)
