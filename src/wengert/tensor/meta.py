"""Layer 6 · tensor: tensors on the device ``meta``, with a shape and a dtype but no values.

NOTE [tensors without values]
A meta tensor is an instance of a subclass that overrides every operation (NOTE [overriding]). The
operation runs on memory that was never written to, for which the system allocates no pages. So
shapes, dtypes, strides, errors and histories are the same as usual. The memory of a result is then
replaced by unwritten memory again. In-place writes are skipped, and reading a value raises.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Self

import numpy as np

from wengert.base.device import META, as_device, device, is_meta
from wengert.base.dtypes import get_default_dtype
from wengert.base.ports import PORTS, provides
from wengert.interp.levels import Lifted
from wengert.prims.table import TABLE
from wengert.tape.base import LEAF, TensorBase
from wengert.tensor import copying
from wengert.tensor.overrides import DisableTorchFunctionSubclass
from wengert.tensor.tensor import Tensor

_LARGE = 1 << 16
"""The largest size in bytes of results that are kept."""
_SHAPED = (
    "as_strided_ detach_ rename_ requires_grad_ resize_ resize_as_ set_ share_memory_ squeeze_ "
    "swapaxes_ swapdims_ t_ transpose_ unsqueeze_"
)
"""Methods that end in an underscore but do not write values."""
_READING = (
    "__array__ __bool__ __complex__ __contains__ __float__ __index__ __int__ allclose argwhere cpu "
    "equal is_nonzero item masked_select nonzero numpy tolist"
)
"""Functions that need values, in addition to operations whose result's shape depends on values."""
_MIXING = "__getitem__ __matmul__ cross einsum expand_as linear matmul reshape_as view_as"
"""Functions whose result is on the first argument's device, whatever the others are on, in addition
to products of matrices and operations that take indices."""
_HERE = os.path.join(os.path.dirname(__file__), "")
_RULES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "prims", "")
_RESHAPES, _VALUES = frozenset(_SHAPED.split()), frozenset(_READING.split())
_MIXES = frozenset(_MIXING.split())


class MetaTensor(Tensor):
    """A tensor with a shape and without values."""

    device: Any = property(lambda self: META)
    is_meta: Any = property(lambda self: True)
    is_cpu: Any = property(lambda self: False)
    _stays = True

    def __new__(cls, *data: Any, requires_grad: bool | None = None, **kwargs: Any) -> Any:
        """Make what the class of a meta tensor makes in PyTorch, ``Tensor`` or ``Parameter``."""
        if requires_grad is None:
            return Tensor(*data, **kwargs)
        return PORTS.parameter(*data, requires_grad=requires_grad, **kwargs)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run `func` for the metadata of its result."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in _VALUES or _is_sized_by_values(name, args, kwargs):
            raise _no_values(name)
        if name == "__setitem__" or (
            name.endswith("_") and name[0] != "_" and name not in _RESHAPES
        ):
            if isinstance(args[0], TensorBase) and not isinstance(args[0], MetaTensor):
                raise _no_values("to")  # they would be written to a tensor that has values
            return None if name == "__setitem__" else args[0]
        _check_devices(name, [*args, *kwargs.values()])
        if name == "__reversed__" or name == "__len__":
            return func(*args)
        with DisableTorchFunctionSubclass():
            target = _target(name, args, kwargs)
            if target is not None and target.type != "meta":
                if name == "to":
                    raise _no_values(name)
                return func(*args, **{**kwargs, "device": target})
            result = func(*args, **kwargs)
            # an argument that is returned keeps its values
            return meta(result) if any(result is arg for arg in args) else _emptied(result)

    def __repr__(self) -> str:
        with DisableTorchFunctionSubclass():
            needs = ", requires_grad=True" if self.requires_grad else ""
            kind = "" if self.dtype == get_default_dtype() else f", dtype={self.dtype}"
            text = f"tensor(..., device='meta', size={tuple(self.shape)}{kind}{needs})"
            return f"Parameter containing:\n{text}" if hasattr(self, "_is_param") else text

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        with DisableTorchFunctionSubclass():
            made = copying.make_leaf(MetaTensor, self.detach(), self.requires_grad)
            vars(made).update(vars(self))
        memo[id(self)] = made
        return made


def _check_devices(name: str, values: list[Any]) -> None:
    """Raise if a function mixes tensors with values, except for single ones, and without."""
    prim = TABLE.get(name)
    mixes = name in _MIXES or (
        prim is not None and (prim.fixed or prim.facets.get("sparsity") == "matrix_product")
    )
    if name in ("embedding", "to", "type_as") or (
        mixes and isinstance(values[0], str | MetaTensor)
    ):
        return
    parts = [p for v in values for p in (v if isinstance(v, tuple | list) else (v,))]
    given: list[Any] = [p for p in parts if isinstance(p, TensorBase) and (p.is_meta or p.ndim)]  # type: ignore[attr-defined]
    if any(part.is_meta != given[0].is_meta for part in given[1:]) and not _is_of_rule():
        first, other = ("meta", "cpu") if given[0].is_meta else ("cpu", "meta")
        raise RuntimeError(
            f"Tensor on device {other} is not on the expected device {first}! Move one of them "
            f"before {name}() is called"
        )


def _is_of_rule() -> bool:
    """Return whether a rule computes: the values that it saved know no device."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(_RULES)


def _is_sized_by_values(name: str, args: Any, kwargs: dict[str, Any]) -> bool:
    """Return whether the shape of the result depends on the values of a tensor."""
    prim = TABLE.get(name)
    if prim is not None and prim.facets.get("size") == "values":
        return True
    if name == "__getitem__":
        items = args[1] if isinstance(args[1], tuple) else (args[1],)
        return any(isinstance(i, MetaTensor) and i.dtype.name in ("bool", "uint8") for i in items)
    if name == "where":
        return len(args) + len(kwargs) == 1
    if name == "one_hot":
        return (args[1] if len(args) > 1 else kwargs.get("num_classes", -1)) == -1
    if name in ("repeat_interleave", "tensor_split"):
        given = [*args[1:], *kwargs.values()] if len(args) > 1 or kwargs else args
        return kwargs.get("output_size") is None and any(isinstance(g, MetaTensor) for g in given)
    return False


def _target(name: str, args: Any, kwargs: dict[str, Any]) -> device | None:
    """Return the requested device of the result, or None."""
    found = kwargs.get("device")
    if name == "to":
        named = [one for one in args[1:] if isinstance(one, device | str)]
        named = [one for one in named if str(one).partition(":")[0] in ("cpu", "cuda", "meta")]
        like = [one.device for one in args[1:] if isinstance(one, TensorBase)]  # type: ignore[attr-defined]
        found = next(iter([*named, *like]), found)
    if found is None or is_meta(found):
        return None if found is None else META
    return as_device(found)


def _no_values(name: str) -> Exception:
    if name in ("numpy", "__array__"):
        return TypeError(
            "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
            "to host memory first."
        )
    if name in ("cpu", "to", "tolist"):
        return NotImplementedError("Cannot copy out of meta tensor; no data!")
    shown = "item" if name[:2] == "__" else name
    return RuntimeError(f"Tensor.{shown}() cannot be called on meta tensors")


def _untouched(array: Any) -> Any:
    """Return zeros in the layout of an array, without the writes of `zeros_like`."""
    axes = sorted(range(array.ndim), key=lambda i: -array.strides[i])
    zeros = np.zeros([array.shape[i] for i in axes], array.dtype)
    return zeros.transpose([axes.index(i) for i in range(array.ndim)])


def _emptied(result: Any) -> Any:
    if isinstance(result, tuple | list):
        parts = [_emptied(one) for one in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    if type(result) is Tensor:
        result.__class__ = MetaTensor
        array = result._payload
        if isinstance(array, np.ndarray) and array.base is None and array.nbytes > _LARGE:
            result._payload = _untouched(array)
    return result


@provides("meta")
def meta(value: Any) -> Any:
    """Return a meta tensor like an array or a tensor."""
    if isinstance(value, MetaTensor):
        return value
    array = value._payload if isinstance(value, TensorBase) else value
    if isinstance(array, Lifted) and array.device == "cpu":  # of a transform, which knows no other
        return _emptied(value.detach())
    empty = (
        _untouched(array) if isinstance(array, np.ndarray) else np.zeros(array.shape, array.dtype)
    )
    needs = isinstance(value, TensorBase) and value._edge is not None
    return copying.make(MetaTensor, empty, LEAF if needs else None)
