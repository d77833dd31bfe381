"""Layer 9 · compat: the methods of `NDArray` that are functions of ``mxnet.nd``.

Importing this module puts them on the class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.compat.mxnet import operators
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.ndarray.functions import function_of, reshape
from wengert.compat.mxnet.results import computed

__all__ = ["INSTALLED"]

_NAMES = """
    abs arccos arccosh arcsin arcsinh arctan arctanh argmax argmin argsort broadcast_axes
    broadcast_like broadcast_to cbrt ceil clip cos cosh degrees diag dot exp expand_dims expm1 fix
    flatten flip floor log log10 log1p log2 log_softmax max mean min nanprod nansum norm one_hot
    ones_like pick prod radians reciprocal relu repeat reshape_like rint round rsqrt sigmoid sign
    sin sinh slice slice_axis softmax softmin sort split sqrt square squeeze sum swapaxes take tan
    tanh tile topk trunc zeros_like
    """
INSTALLED = tuple(_NAMES.split())
"""Their names."""


def _method(name: str) -> Callable[..., Any]:
    def method(self, *args, **kwargs) -> Any:
        if type(self) is not NDArray:
            raise AttributeError(
                f"mxnet.numpy.ndarray object has no attribute {name}: write np.{name}(x), or "
                f"npx.{name}(x)"
            )
        function = function_of(name)
        assert function is not None
        return function(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As ``mxnet.nd.{name}``, of this array."
    return method


def _reshape(self, *shape, **kwargs) -> Any:
    """The array in another shape (see ``mxnet.nd.reshape`` for the codes 0 and below)."""
    if "shape" in kwargs:
        shape = kwargs.pop("shape")
    elif len(shape) == 1 and isinstance(shape[0], list | tuple):
        (shape,) = shape
    return computed(NDArray, reshape, (self, shape), {}, views=True)


def _transpose(self, *axes) -> Any:
    """The array with its axes in the order of `axes`, or reversed."""
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    function = function_of("transpose")
    assert function is not None
    return function(self, order)


operators.install(NDArray, {name: _method(name) for name in INSTALLED})
operators.install(NDArray, {"reshape": _reshape, "transpose": _transpose})
