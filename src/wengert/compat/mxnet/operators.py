"""Layer 9 · compat: installs operators and methods on MXNet's array classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert import numpy as wnp
from wengert.compat.kit.operators import ALONE, ARITHMETIC, COMPARISONS, PRIMITIVES
from wengert.compat.kit.signatures import named
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import MXNetError, converted, refusal, reraise
from wengert.compat.mxnet.results import EXTREMES, adopt, computed, operand
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T
from wengert.tape.sites import warn
from wengert.tensor.numpy.counterparts import is_weak
from wengert.tensor.tensor import Tensor

__all__ = ["install", "install_methods", "modulus", "whole_number"]


def modulus(a, b, **kwargs) -> Any:
    """Return the remainder, which of a division by 0 is 0."""
    zero = (b._payload if isinstance(b, TensorBase) else np.asarray(b)) == 0
    if not zero.any():
        return wnp.remainder(a, b, **kwargs)
    others = 1 if zero.all() else wnp.where(zero, 1, b)
    return wnp.where(zero, 0, wnp.remainder(a, others, **kwargs))


_QUICK = frozenset({"add", "sub", "mul", "truediv", "pow"})
"""Operators whose operands of one floating dtype go to a primitive."""


def whole_number(array, number) -> Any:
    """Truncate `number` as an operand of an integer array, as MXNet does."""
    if number.__class__ is not float or array._payload.dtype.kind not in "iu":
        return number
    if number != int(number):
        warn(refusal(str, "an array of", array._payload.dtype, number, int(number)))
    return int(number)


def _understood(other) -> bool:
    return isinstance(other, TensorBase | np.ndarray | np.generic | list) or is_weak(other)


def _alike(kind, other) -> bool:
    """Return whether the tensor's own operator applies to floats of dtype `kind` and `other`."""
    cls = other.__class__
    if cls is float or cls is int:
        return True
    return isinstance(other, TensorBase) and other._payload.dtype is kind


def _winner(array, other) -> type:
    """Return the class of a result: that of ``mxnet.np`` if an operand has it."""
    mine: type = array.__class__
    if mine is NDArray and isinstance(other, NDArray):
        return type(other)
    return mine


def _quick(name: str, a, b) -> Any:
    try:
        return getattr(Tensor, name)(operand(a), operand(b))
    except RuntimeError as error:
        shapes = [list(x._payload.shape) for x in (a, b) if isinstance(x, TensorBase)]
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            raise refusal(MXNetError, "Check failed: l", shapes[0], shapes[1]) from None
        raise converted(error) from error


def _arithmetic(symbol: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    numpys, prim = ARITHMETIC[symbol], PRIMITIVES[symbol] if symbol in _QUICK else None
    name = f"__{symbol}__"

    def general(self, other, turned: bool) -> Any:
        if not _understood(other) or (symbol == "matmul" and is_weak(other)):
            return NotImplemented
        if symbol != "truediv" or type(self) is NDArray:
            other = whole_number(self, other)
        args = (other, self) if turned else (self, other)
        below = modulus if symbol == "mod" else getattr(wnp, numpys)
        result = computed(_winner(self, other), below, args, {})
        kind = self._payload.dtype
        whole = symbol == "truediv" and kind.kind in "iu" and type(result) is NDArray
        return result.astype(kind) if whole else result  # legacy arrays keep whole numbers

    def forward(self, other) -> Any:
        kind = self._payload.dtype
        if prim is not None and kind.kind == "f" and _alike(kind, other):
            return adopt(_quick(name, self, other), _winner(self, other))
        return general(self, other, False)

    def backward(self, other) -> Any:
        kind = self._payload.dtype
        if prim is not None and kind.kind == "f" and other.__class__ in (float, int):
            # not PyTorch's operator, which multiplies by the reciprocal
            result = getattr(T, prim)(new_tensor(kind.type(other)), operand(self))
            return adopt(result, self.__class__)
        return general(self, other, True)

    return named(forward, name), named(backward, f"__r{symbol}__")


def _in_place(symbol: str) -> Callable[..., Any]:
    name = f"__i{symbol}__"

    def operator(self, other) -> Any:
        if not _understood(other):
            return NotImplemented
        other = whole_number(self, other)
        try:
            getattr(wnp.ndarray, name)(operand(self, writes=True), operand(other))
        except (RuntimeError, ValueError) as error:
            reraise(error)
        return self

    return named(operator, name)


def _comparison(symbol: str) -> Callable[..., Any]:
    numpys = COMPARISONS[symbol]

    def operator(self, other) -> Any:
        if not _understood(other):
            return NotImplemented
        cls = _winner(self, other)
        args = (self, whole_number(self, other))
        result = computed(cls, getattr(wnp, numpys), args, {})
        # legacy arrays have no booleans, only 1 and 0
        return result.astype(self._payload.dtype) if cls is NDArray else result

    return named(operator, f"__{symbol}__")


def _unary(name: str, numpys: str) -> Callable[..., Any]:
    def operator(self) -> Any:
        return computed(self.__class__, getattr(wnp, numpys), (self,), {})

    return named(operator, name)


def _install_operators() -> None:
    for symbol in ARITHMETIC:
        if symbol in ("divmod", "lshift", "rshift"):
            continue
        forward, backward = _arithmetic(symbol)
        setattr(NDArray, f"__{symbol}__", forward)
        setattr(NDArray, f"__r{symbol}__", backward)
        setattr(NDArray, f"__i{symbol}__", _in_place(symbol))
    for symbol in COMPARISONS:
        setattr(NDArray, f"__{symbol}__", _comparison(symbol))
    for name, numpys in ALONE.items():
        setattr(NDArray, f"__{name}__", _unary(f"__{name}__", numpys))


# -- methods of the arrays below -------------------------------------------------------------------

_TENSORS = """
    data_ptr element_size get_device is_leaf ndimension register_hook requires_grad_ retain_grad
    register_post_accumulate_grad_hook tobytes tofile dump dumps
    """
_LEFT = frozenset(vars(NDArray)) | frozenset(_TENSORS.split())
_PROPERTIES = ("H", "T", "flat", "imag", "mH", "mT", "real")
_WRITERS = frozenset({"fill", "partition", "put", "sort"})


def _method(name: str) -> Callable[..., Any]:
    below = EXTREMES.get(name, getattr(wnp.ndarray, name))

    def method(self, *args, **kwargs) -> Any:
        return computed(self.__class__, below, (self, *args), kwargs)

    def writer(self, *args, **kwargs) -> None:
        getattr(wnp.ndarray, name)(operand(self, writes=True), *map(operand, args), **kwargs)

    made = writer if name in _WRITERS else method
    return named(made, name, f"As `wengert.numpy.ndarray.{name}`, of an array of MXNet's.")


def _property(name: str) -> property:
    below = getattr(wnp.ndarray, name)

    def get(self) -> Any:
        """Return the property of `wengert.numpy.ndarray`, with MXNet's recording."""
        return computed(self.__class__, below.fget, (self,), {})

    return property(get)


def _hidden(self) -> Any:
    """Hide PyTorch's in-place methods; the class's ``__getattr__`` reports them as missing."""
    raise AttributeError


def install_methods(cls: type) -> None:
    """Install the methods of ``wengert.numpy``'s arrays on a class, with MXNet's recording."""
    for name in dir(wnp.ndarray):
        if name.startswith("_") or name in _LEFT or hasattr(TensorBase, name):
            continue
        if name in _PROPERTIES:
            setattr(cls, name, _property(name))
        elif name.endswith("_"):
            setattr(cls, name, property(_hidden))
        elif callable(getattr(wnp.ndarray, name)):
            setattr(cls, name, _method(name))


def delegated(namespace: str, names: str, find: Callable[[str], Any]) -> dict[str, Any]:
    """Return the methods of arrays that are functions of a namespace, which `find` finds."""

    def method_of(name: str) -> Callable[..., Any]:
        def method(self, *args, **kwargs) -> Any:
            if namespace == "nd" and type(self) is not NDArray:
                raise refusal(AttributeError, "mxnet.numpy.ndarray object has", name, name, name)
            return find(name)(self, *args, **kwargs)

        return named(method, name, f"As ``mxnet.{namespace}.{name}``, of this array.")

    def transpose(self, *axes) -> Any:
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return find("transpose")(self, order or None)

    permuted = named(transpose, "transpose", "Permute the axes by `axes`, or reverse them.")
    return {name: method_of(name) for name in names.split()} | {"transpose": permuted}


def install(cls: type, methods: dict[str, Callable[..., Any]]) -> None:
    """Install functions of an array on a class as methods."""
    for name, function in methods.items():
        setattr(cls, name, function)


_install_operators()
install_methods(NDArray)
