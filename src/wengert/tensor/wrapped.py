"""Layer 6 · tensor: subclasses without memory, whose ``__torch_dispatch__`` computes.

NOTE [wrapper subclasses]
A tensor of such a class has a `Wrapped` payload: a shape, a dtype and strides, and the tensor
itself, whose attributes hold the values. Its namespace passes each primitive to the class, with
tensors for the payloads. So the class stands below the tape: histories, rules and transforms need
not know about it. The results are the tensors that the class returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base.device import as_device
from wengert.base.dtypes import as_dtype, default_float, is_differentiable
from wengert.base.ports import provides
from wengert.interp.devices import Computing
from wengert.interp.levels import Infix, Interpreter, Lifted, namespace_of
from wengert.ops.aten import dispatched
from wengert.prims.record import Primitive
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.inplace import write
from wengert.tape.operands import is_number
from wengert.tape.record import T
from wengert.tensor import copying
from wengert.tensor.creations import watch_creations


class Wrapped(Infix, Computing):
    """The payload of a tensor whose class computes (see NOTE [wrapper subclasses])."""

    __slots__ = ("own",)

    def __init__(self, array: Any, own: Any) -> None:
        self.array = array
        self.own = own

    @property
    def _namespace(self) -> Any:
        return _NAMESPACE

    def constant(self) -> Any:
        """Return the payload of what the class makes of ``detach``."""
        return _sent("detach", [self], {}, lambda x: x.detach())

    def tensor(self) -> Any:
        """Return the tensor itself."""
        return self.own

    def write(self, result: Any) -> None:
        """Let the class copy a result into its tensor."""
        _sent("copy_", [self, result], {}, lambda x, y: x.copy_(y))

    def overwrite(self, prim: Primitive, payloads: Any, params: Any, name: str) -> None:
        """Let the class compute an in-place operation."""

        def run(tensor: Any, *others: Any, **options: Any) -> Any:
            return write(prim, tensor, others, options, name)

        _asked(name, payloads, params, run)

    def item(self) -> Any:
        """Return the only element, as the class computes it."""
        return _asked("_local_scalar_dense", [self], {}, lambda x: x.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def any(self) -> bool:
        """Return whether any element is true."""
        every = tuple(range(self.ndim))
        return bool(_NAMESPACE.any(self, dim=every, keepdim=False).item())

    def all(self) -> bool:
        """Return whether every element is true."""
        every = tuple(range(self.ndim))
        return bool(_NAMESPACE.all(self, dim=every, keepdim=False).item())

    def tolist(self) -> Any:
        """Return the values as nested Python lists."""
        return self.__array__().tolist()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        flat = self.reshape(-1)
        values = [_NAMESPACE.select(flat, dim=0, index=i).item() for i in range(self.size)]
        return np.array(values, dtype or self.array.dtype).reshape(self.shape)

    def _refuse(self, what: str) -> Any:
        raise TypeError(
            f"{what} of {type(self.own).__name__} is not available: it has no memory, and its "
            "__torch_dispatch__ computes"
        )

    def __array_function__(self, function: Any, *call: Any) -> Any:
        return self._refuse(f"numpy.{function.__name__}")

    def _infix(self, name: str, function: Any, a: Any, b: Any) -> Any:
        if any(isinstance(value, Lifted) and not value.traced for value in (a, b)):
            # values of transforms have their own operators
            return NotImplemented
        return getattr(_NAMESPACE, name)(a, b)

    def __and__(self, other: Any) -> Any:
        return _NAMESPACE.bitwise_and(self, other)

    def __or__(self, other: Any) -> Any:
        return _NAMESPACE.bitwise_or(self, other)

    def __invert__(self) -> Any:
        return _NAMESPACE.bitwise_not(self)

    def __neg__(self) -> Any:
        return _NAMESPACE.neg(self)

    __hash__ = object.__hash__

    def shown(self) -> Any:
        """Return zeros: a class prints its own values."""
        return self.array

    def written(self, tensor: Any, name: str) -> str | None:
        """Return the text of a tensor whose class does not define how it prints."""
        return f"{name}(size={tuple(self.shape)}, dtype={tensor.dtype})"


@provides("wrapper")
def make_wrapper_subclass(
    cls: Any,
    size: Any,
    strides: Any = None,
    storage_offset: Any = None,
    memory_format: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = "cpu",
    pin_memory: bool = False,
    requires_grad: bool = False,
    dispatch_sizes_strides_policy: Any = None,
    **others: Any,
) -> Any:
    """Make a tensor of `cls` without memory (see `Tensor._make_wrapper_subclass`)."""
    if getattr(cls, "__torch_dispatch__", None) is None:
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
    place = as_device(device or "cpu")
    if place.type != "cpu" or others:
        raise NotImplementedError(
            f"a wrapper subclass on '{place}', or with {sorted(others)}, is not offered: it has a "
            "size, strides and a dtype on the CPU"
        )
    watch_creations()
    kind = default_float() if dtype is None else as_dtype(dtype).dtype
    if requires_grad and not is_differentiable(kind):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return _made(cls, _untouched(tuple(size), strides, kind), LEAF if requires_grad else None)


def _untouched(shape: tuple[int, ...], strides: Any, kind: Any) -> Any:
    """Return zeros of a shape in the order of strides, which cost no memory until they are read."""
    order = list(range(len(shape)))
    if strides is not None:
        order.sort(key=lambda d: -strides[d])
    zeros = np.zeros([shape[d] for d in order], kind)
    return zeros.transpose([order.index(d) for d in range(len(shape))])


def _made(cls: Any, array: Any, edge: Any = None) -> Any:
    made = copying.make(cls, None, edge)
    made._payload = Wrapped(array, made)
    return made


def twin(tensor: Any) -> Any:
    """Return a tensor with the same values and attributes, and no history."""
    made = _made(type(tensor), tensor._payload.array)
    copying.set_attributes(made, copying.attributes_of(tensor))
    return made


# -- primitives ------------------------------------------------------------------------------------


def _tensor(payload: Any) -> Any:
    """Return the tensor of a payload, also of those in a tuple; numbers and options stay."""
    if isinstance(payload, tuple):
        return tuple(map(_tensor, payload))
    if isinstance(payload, Wrapped):
        return payload.own
    return new_tensor(payload) if isinstance(payload, np.ndarray | np.generic) else payload


def _asked(name: str, payloads: Any, params: dict[str, Any], run: Any) -> Any:
    """Return what the classes of the payloads make of an operation."""
    args = tuple(map(_tensor, payloads))
    named = {key: _tensor(value) for key, value in params.items()}
    flat = [one for value in (*args, *named.values()) for one in _leaves(value)]
    owners = [one for one in flat if isinstance(getattr(one, "_payload", None), Wrapped)]
    kinds: Any = tuple(dict.fromkeys(map(type, owners)))
    for cls in sorted(kinds, key=lambda cls: -len(cls.__mro__)):
        found = dispatched(cls.__torch_dispatch__, name, run, kinds, args, named)
        if found is not NotImplemented:
            return found
    raise TypeError(
        f"no implementation found for '{name}' on types that implement __torch_dispatch__: "
        f"{[cls.__name__ for cls in kinds]}"
    )


def _leaves(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _sent(name: str, payloads: Any, params: dict[str, Any], run: Any) -> Any:
    """Return the payloads of what the classes make of an operation."""
    found = _asked(name, payloads, params, run)
    if isinstance(found, tuple | list):
        return tuple([_payload(one, payloads) for one in found])
    return _payload(found, payloads)


def _payload(found: Any, given: Any) -> Any:
    """Return the payload of a result, with a tensor that belongs to nobody else."""
    if not isinstance(found, TensorBase):
        if not is_number(found):
            raise TypeError(
                "__torch_dispatch__ must return tensors for the results of an operation, not "
                f"{type(found).__name__}"
            )
        return np.asarray(found)
    payload = found._payload
    if not isinstance(payload, Wrapped):
        if found._edge is not None:
            raise NotImplementedError(
                "__torch_dispatch__ returned a plain tensor with a history, which would be lost: "
                "return it wrapped, or detached"
            )
        return payload
    if found._edge is not None or any(payload is one for one in given):
        return twin(found)._payload
    return payload


def _run(prim: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    def run(*args: Any, **kwargs: Any) -> Any:
        return getattr(T, prim.name)(*args, **kwargs)

    if not any(isinstance(arg, Wrapped) for arg in args):
        # a class may have returned plain tensors
        return getattr(namespace_of(*args), prim.name)(*args, **params)
    return _sent(prim.name.removesuffix("_scalar"), args, params, run)


_NAMESPACE = Interpreter(_run)
