"""Layer 9 · compat: ``mxnet.operator``: custom operators that are registered by name.

They are implemented by `autograd.Function`, which is shorter to use directly.

>>> import numpy
>>> class Sine(mx.operator.CustomOp):
...     def forward(self, is_train, req, in_data, out_data, aux):
...         self.assign(out_data[0], req[0], mx.nd.array(numpy.sin(in_data[0].asnumpy())))
...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
...         self.assign(in_grad[0], req[0], out_grad[0] * mx.nd.cos(in_data[0]))
>>> @mx.operator.register("my_sine")
... class SineProp(mx.operator.CustomOpProp):
...     def create_operator(self, ctx, shapes, dtypes):
...         return Sine()
>>> x = mx.nd.array([0, 1])
>>> x.attach_grad()
>>> with mx.autograd.record():
...     y = mx.nd.Custom(x, op_type="my_sine")
>>> y.backward()
>>> x.grad.asnumpy()
array([1.        , 0.5403023], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.autograd.function import once_differentiable
from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.autograd import Function, Recorded, is_training
from wengert.compat.mxnet.base import MXNetError
from wengert.compat.mxnet.context import cpu
from wengert.compat.mxnet.numpy.creation import made

_REGISTRY: dict[str, Any] = {}


class CustomOp:
    """A custom operator and its derivative, which write into preallocated arrays."""

    def forward(self, is_train: bool, req, in_data, out_data, aux) -> None:
        """Compute the results, and `assign` them; a subclass defines it."""
        raise NotImplementedError

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux) -> None:
        """Compute the gradients of the arguments, and `assign` them."""
        raise NotImplementedError

    def assign(self, dst, req: str, src) -> None:
        """Write `src` to `dst`, add it, or skip it, according to `req`."""
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            dst[:] += src


class CustomOpProp:
    """The properties of a custom operator: argument names, result shapes.

    Parameters
    ----------
    need_top_grad : bool. Whether `CustomOp.backward` uses the cotangents of the results.
    """

    def __init__(self, need_top_grad=True) -> None:
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> list[str]:
        """Return the names of the arguments."""
        return ["data"]

    def list_outputs(self) -> list[str]:
        """Return the names of the results."""
        return ["output"]

    def list_auxiliary_states(self) -> list[str]:
        """Return the names of the auxiliary arrays."""
        return []

    def infer_shape(self, in_shape) -> Any:
        """Return the shapes of arguments, results, and auxiliary arrays."""
        return in_shape, [in_shape[0]] * len(self.list_outputs()), []

    def infer_type(self, in_type) -> Any:
        """Return the dtypes of arguments, results, and auxiliary arrays."""
        return in_type, [in_type[0]] * len(self.list_outputs()), []

    def create_operator(self, ctx, in_shapes, in_dtypes) -> CustomOp:
        """Return the operator; a subclass defines it."""
        raise NotImplementedError


def register(reg_name: str) -> Callable[[Any], Any]:
    """Register a `CustomOpProp` under a name; a decorator."""

    def keep(prop_cls) -> Any:
        if not issubclass(prop_cls, CustomOpProp):
            raise TypeError(f"register: {prop_cls.__name__} must be a subclass of CustomOpProp")
        _REGISTRY[reg_name] = prop_cls
        return prop_cls

    return keep


class _Registered(Function):
    """The call of a registered operator."""

    def __init__(self, prop: CustomOpProp) -> None:
        self._prop = prop

    def _new(self, shapes, dtypes) -> list[Any]:
        return [
            made(np.zeros(shape, dtype), self._class)
            for shape, dtype in zip(shapes, dtypes, strict=True)
        ]

    def forward(self, *in_data) -> Any:
        prop = self._prop
        shapes = [list(x.shape) for x in in_data]
        dtypes = [x.dtype for x in in_data]
        _, out_shapes, *aux = prop.infer_shape(shapes)
        _, out_types, *aux_types = prop.infer_type(dtypes)
        self._aux = self._new(aux[0] if aux else [], aux_types[0] if aux_types else [])
        out_data = self._new(out_shapes, out_types)
        self._op = prop.create_operator(cpu(), shapes, dtypes)
        req = ["write"] * len(out_data)
        self._op.forward(is_training(), req, list(in_data), out_data, self._aux)
        self.save_for_backward(*in_data, *out_data)
        return out_data[0] if len(out_data) == 1 else tuple(out_data)

    def backward(self, *out_grad) -> Any:
        saved = self.saved_tensors
        in_data, out_data = list(saved[: self._count]), list(saved[self._count :])
        in_grad = self._new([x.shape for x in in_data], [x.dtype for x in in_data])
        req = ["write"] * len(in_grad)
        self._op.backward(req, list(out_grad), in_data, out_data, in_grad, self._aux)
        return tuple(in_grad)


class _Once(Recorded):
    """The node of an operator, whose `backward` may use NumPy and is not differentiable."""

    backward = staticmethod(once_differentiable(Recorded.backward))


_Registered._recorder = _Once


def Custom(*data, op_type: str, name: str | None = None, **kwargs) -> Any:
    """Call the operator that was registered as `op_type`.

    Parameters
    ----------
    *data : NDArray. The arguments, which may also be given by name.
    op_type : str
    **kwargs: Arguments of the `CustomOpProp`, which receives them as strings.

    Raises
    ------
    MXNetError: If there is no such operator, or too few arguments.
    """
    if op_type not in _REGISTRY:
        known = ", ".join(sorted(_REGISTRY)) or "none"
        raise MXNetError(f"Cannot find custom operator {op_type}: registered are {known}")
    arrays = {key: value for key, value in kwargs.items() if isinstance(value, NDArray)}
    options = {key: str(value) for key, value in kwargs.items() if key not in arrays}
    prop = _REGISTRY[op_type](**options)
    names = prop.list_arguments()
    given = [*data, *(arrays[key] for key in names[len(data) :] if key in arrays)]
    if len(given) != len(names):
        raise MXNetError(f"{op_type} has the arguments {names}, and {len(given)} were given")
    return _Registered(prop)(*given)


__all__ = defined(globals())
