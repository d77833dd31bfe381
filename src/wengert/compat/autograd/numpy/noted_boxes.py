"""Layer 9 · compat: the operators and methods of values whose calls are noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wengert.compat.autograd.numpy as np
from wengert.compat.autograd.noted import NotedBox, getitem, noted_call
from wengert.compat.kit.operators import ALONE, ARITHMETIC

__all__ = ["INSTALLED"]

_BINARY = ("add", "floordiv", "matmul", "mod", "mul", "pow", "sub", "truediv")
_METHODS = """
    clip cumprod cumsum diagonal dot max mean min prod ravel repeat reshape squeeze std sum swapaxes
    take trace transpose var
    """


def _operator(name: str, reflected: bool) -> Callable[[Any, Any], Any]:
    function = getattr(np, name)

    def operator(self, other) -> Any:
        return function(other, self) if reflected else function(self, other)

    return operator


def _method(name: str) -> Callable[..., Any]:
    def method(self, *args, **kwargs) -> Any:
        if name in ("reshape", "transpose") and len(args) > 1:
            args = (args,)
        return getattr(np, name)(self, *args, **kwargs)

    return method


def _array_ufunc(self, ufunc, method: str, *inputs, **kwargs) -> Any:
    if method != "__call__":
        return noted_call(getattr(ufunc, method), inputs, kwargs)
    return noted_call(ufunc, inputs, kwargs)


def _array_function(self, function, types, args, kwargs) -> Any:
    return noted_call(function, args, kwargs)


def _iter(self) -> Any:
    return (self[i] for i in range(len(self)))


def _install() -> bool:
    special: dict[str, Any] = {
        "array_function": _array_function,
        "array_ufunc": _array_ufunc,
        "getitem": lambda self, index: noted_call(getitem, (self, index), {}),
        "iter": _iter,
    }
    for symbol in _BINARY:
        special[symbol] = special[f"i{symbol}"] = _operator(ARITHMETIC[symbol], False)
        special[f"r{symbol}"] = _operator(ARITHMETIC[symbol], True)
    special |= {symbol: _method(ALONE[symbol]) for symbol in ("abs", "neg")}
    for symbol, function in special.items():
        setattr(NotedBox, f"__{symbol}__", function)
    for name in _METHODS.split():
        setattr(NotedBox, name, _method(name))
    setattr(NotedBox, "flatten", _method("ravel"))  # noqa: B010  # as the others
    setattr(NotedBox, "T", property(_method("transpose")))  # noqa: B010  # as the others
    return True


INSTALLED = _install()
