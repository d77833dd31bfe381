"""Layer 9 · amp: decorators for the methods of a `Function` that is used under `autocast`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from wengert.amp.autocast import autocast, get_autocast_dtype, is_autocast_enabled
from wengert.base.dtypes import FLOATING, as_dtype, category, dtype
from wengert.tape.base import TensorBase
from wengert.tape.operands import cast


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None
) -> Any:
    """Decorate ``forward`` to remember for ``backward`` whether it ran under `autocast`.

    Parameters
    ----------
    fwd : callable, optional. The method; without it a decorator is returned.
    device_type : str. ``"cpu"``; for other devices nothing is ever cast.
    cast_inputs : dtype, optional. The dtype that floating arguments are converted to under
        `autocast`; the method then runs without it.

    Examples
    --------
    >>> class Twice(wg.autograd.Function):
    ...     @staticmethod
    ...     @wg.amp.custom_fwd(device_type="cpu", cast_inputs=wg.float32)
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...
    ...     @staticmethod
    ...     @wg.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         return 2 * grad
    >>> with wg.autocast("cpu", dtype=wg.float16):
    ...     Twice.apply(wg.ones(1, dtype=wg.float16)).dtype
    torch.float32
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    target = None if cast_inputs is None else as_dtype(cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        under = is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = under and target is None
        ctx._dtype = get_autocast_dtype(device_type) if ctx._fwd_used_autocast else None
        if not under or target is None:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_converted(args, target), **_converted(kwargs, target))

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate ``backward`` to run under `autocast` if ``forward`` did.

    Parameters
    ----------
    bwd : callable, optional. The method; without it a decorator is returned.
    device_type : str. ``"cpu"``; for other devices nothing is ever cast.

    Examples
    --------
    >>> class Square(wg.autograd.Function):
    ...     @staticmethod
    ...     @wg.amp.custom_fwd(device_type="cpu")
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...
    ...     @staticmethod
    ...     @wg.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * grad
    >>> x = wg.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        if not ctx._fwd_used_autocast and not is_autocast_enabled(device_type):
            return bwd(ctx, *args, **kwargs)
        with autocast(device_type, ctx._dtype, ctx._fwd_used_autocast):
            return bwd(ctx, *args, **kwargs)

    return decorated


def _converted(value: Any, target: dtype) -> Any:
    """Return `value` with its floating tensors, except float64, in another dtype."""
    if isinstance(value, TensorBase):
        have = value._payload.dtype
        if category(have) != FLOATING or have.char == "d":
            return value
        return cast(value, target.dtype)
    if isinstance(value, Mapping):
        return {name: _converted(item, target) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_converted(item, target) for item in value)
    return value
