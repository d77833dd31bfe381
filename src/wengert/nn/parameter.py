"""Layer 8 · nn: `Parameter` and `Buffer`, the tensors that modules collect."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Self

from wengert.base.errors import kind_of
from wengert.base.ports import provides
from wengert.tensor import copying
from wengert.tensor.internals import TensorClass
from wengert.tensor.overrides import disabled_torch_function
from wengert.tensor.printing import tensor_repr
from wengert.types import Tensor

__all__ = ["Buffer", "Parameter", "is_lazy"]

_IN_LAZY = frozenset({"UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin"})


if TYPE_CHECKING:
    from wengert.nn.lazy import UninitializedBuffer as UninitializedBuffer
    from wengert.nn.lazy import UninitializedParameter as UninitializedParameter
    from wengert.nn.lazy import UninitializedTensorMixin as UninitializedTensorMixin
else:

    def __getattr__(name):
        if name in _IN_LAZY:
            return getattr(importlib.import_module("wengert.nn.lazy"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def is_lazy(param: Any) -> bool:
    """Return whether `param` is a parameter or buffer whose shape is not known yet."""
    return getattr(param, "_is_uninitialised", False) is True


class _ParameterMeta(TensorClass):
    """Makes ``isinstance(x, Parameter)`` true also for parameters of another subclass."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is not Parameter or not isinstance(instance, Tensor):
            return super().__instancecheck__(instance)
        return super().__instancecheck__(instance) or getattr(instance, "_is_param", False) is True


@provides("parameter")
class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that is a parameter of a model: a leaf that requires a gradient.

    It shares the memory of the tensor that it is made from, but not its graph. Operations on it
    return plain tensors. An instance of a subclass of `Tensor` keeps its class and is marked as a
    parameter.

    Parameters
    ----------
    data : Tensor, optional. Of any shape; default: an empty tensor.
    requires_grad : bool. Whether the gradient is recorded.

    Raises
    ------
    TypeError: If `data` is not a tensor.
    RuntimeError: If a gradient is requested for a tensor of integers or booleans.

    Examples
    --------
    >>> w = wg.nn.Parameter(wg.ones(2))
    >>> w
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    >>> type(2 * w) is wg.Tensor
    True
    """

    __torch_function__ = staticmethod(disabled_torch_function)

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Self:
        """Make a parameter over the memory of `data`."""
        data = _tensor_for("Parameter", data)
        if type(data) is Tensor or isinstance(data, Parameter):
            return copying.make_leaf(cls, data, requires_grad)
        made = copying.make_leaf(type(data), data, requires_grad)
        made._is_param = True
        return made

    def __repr__(self: Any) -> str:  # type: ignore[override]  # nobody passes its contents
        return "Parameter containing:\n" + tensor_repr(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Return a parameter over new memory, without a gradient."""
        return copying.deep_copy(self, memo, keep_grad=False)


def _tensor_for(name: str, data: Any) -> Tensor:
    if not isinstance(data, Tensor | None):
        raise TypeError(
            f"{name}(): data must be a Tensor, not {kind_of(data)}: make one with "
            "wengert.tensor(data)"
        )
    return Tensor() if data is None else data


class _BufferClass(TensorClass):
    """Makes ``isinstance(x, Buffer)`` true for tensors that `Buffer` has marked."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False) is True


class Buffer(Tensor, metaclass=_BufferClass):
    """A tensor that a module registers as a buffer when it is assigned to an attribute.

    A buffer is part of the state of a model, but is not a parameter. It shares the memory of the
    tensor that it is made from, but not its graph, and has the same class.

    Parameters
    ----------
    data : Tensor, optional. Of any shape; default: an empty tensor.
    persistent : bool. Whether it is part of the module's `state_dict`.

    Raises
    ------
    TypeError: If `data` is not a tensor.

    Examples
    --------
    >>> module = wg.nn.Module()
    >>> module.mean = wg.nn.Buffer(wg.zeros(2))
    >>> dict(module.named_buffers())
    {'mean': tensor([0., 0.])}
    """

    persistent: bool
    __torch_function__ = staticmethod(disabled_torch_function)

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Self:
        """Make a buffer over the memory of `data`."""
        data = _tensor_for("Buffer", data)
        kind = Tensor if isinstance(data, Parameter) else type(data)
        made = copying.make_leaf(kind, data, data.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made
