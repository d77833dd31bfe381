"""Layer 8 · nn: parameters and buffers whose shape is not known yet.

NOTE [tensors without a shape]
The payload of such a tensor is an array that has a dtype but raises when asked for its shape. So
any computation with it raises, and no operation needs to know about this case.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from wengert.base.device import check_device
from wengert.base.dtypes import as_dtype, get_default_dtype
from wengert.nn.parameter import Parameter
from wengert.ops.create import empty
from wengert.tape.base import LEAF
from wengert.tensor import copying
from wengert.tensor.overrides import disabled_torch_function
from wengert.tensor.tensor import Tensor


class _Shapeless(np.ndarray[Any, Any]):
    """An array without a shape."""

    @property  # type: ignore[misc]
    def shape(self) -> Any:
        """Raise an error."""
        raise _error()

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        raise _error()

    def __array_function__(self, *args: Any, **kwargs: Any) -> Any:
        raise _error()


def _error() -> ValueError:
    return ValueError(
        "Attempted to use an uninitialized parameter or buffer, whose shape is not known yet. "
        "Modules with such parameters (LazyLinear, LazyConv2d, ...) must be called once, with "
        "input of the right shape, before anything else is done with their parameters."
    )


class UninitializedTensorMixin:
    """The common base of parameters and buffers whose shape is not known yet."""

    _is_uninitialised = True
    cls_to_become: ClassVar[type]
    data: Any
    dtype: Any
    requires_grad: bool

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give the tensor a shape and uninitialised memory, which makes it an ordinary tensor.

        Parameters
        ----------
        shape : tuple of int. The shape.
        device, dtype : optional. The new device and dtype; default: unchanged.
        """
        self.data = empty(shape, device=device, dtype=self.dtype if dtype is None else dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """Raise an error: the shape is not known yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    def copy_(self, source: Any, non_blocking: bool = False) -> Any:
        """Do nothing if `source` has no shape either; otherwise raise an error."""
        if not isinstance(source, UninitializedTensorMixin):
            raise _error()
        return self

    def share_memory_(self) -> Any:
        """Raise an error: there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = memo[id(self)] = self._again()
        return made

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.requires_grad, self.dtype, vars(self).copy())

    def _again(self) -> Any:
        return _rebuilt(type(self), self.requires_grad, self.dtype, vars(self).copy())


def _made(cls: type, requires_grad: bool, device: Any, dtype: Any) -> Any:
    check_device(device)
    kind = (get_default_dtype() if dtype is None else as_dtype(dtype)).dtype
    return copying.make(cls, np.empty(0, kind).view(_Shapeless), LEAF if requires_grad else None)


def _rebuilt(cls: type, requires_grad: bool, dtype: Any, attributes: dict[str, Any]) -> Any:
    made = _made(cls, requires_grad, None, dtype)
    vars(made).update(attributes)
    return made


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]  # its text takes no contents
    """A parameter whose shape is not known yet; `materialize` gives it one.

    Parameters
    ----------
    requires_grad : bool. Whether the gradient is recorded.
    device, dtype : optional. The device and dtype.

    Examples
    --------
    >>> weight = wg.nn.UninitializedParameter()
    >>> weight
    <UninitializedParameter>
    >>> weight.materialize((2, 3))
    >>> type(weight), weight.shape
    (<class 'wengert.nn.parameter.Parameter'>, torch.Size([2, 3]))
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        """Make a parameter without a shape."""
        return _made(cls, requires_grad, device, dtype)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet; `materialize` gives it one.

    Parameters
    ----------
    requires_grad : bool. Whether the gradient is recorded.
    device, dtype : optional. The device and dtype.
    persistent : bool. Whether it is part of the module's `state_dict`.

    Examples
    --------
    >>> mean = wg.nn.LazyBatchNorm1d().running_mean
    >>> type(mean).__name__
    'UninitializedBuffer'
    """

    cls_to_become = Tensor
    persistent: bool
    _is_buffer: bool
    __torch_function__ = staticmethod(disabled_torch_function)

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> Any:
        """Make a buffer without a shape."""
        made = _made(cls, requires_grad, device, dtype)
        made.persistent = persistent
        made._is_buffer = True
        return made
