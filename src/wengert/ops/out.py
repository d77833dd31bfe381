"""Layer 5 · ops: the ``out=`` argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.base import errors
from wengert.base.dtypes import as_dtype, category
from wengert.base.errors import wrong_type
from wengert.base.layout import strided
from wengert.interp.dual import Dual
from wengert.interp.levels import Lifted, namespace_of
from wengert.ops.options import made, type_of
from wengert.prims.facet import Facet
from wengert.prims.record import Primitive
from wengert.prims.table import TABLE
from wengert.tape.base import TensorBase
from wengert.tape.inplace import bump, write
from wengert.tape.modes import current_mode, is_recording
from wengert.tape.sites import warn
from wengert.tape.views import refresh_views
from wengert.tape.write_checks import check_writable

_SERIES = ("arange", "linspace", "logspace", "range")
"""Functions that fill any `out` with the right number of elements, in its own shape."""


def _promotes(prim: Primitive) -> bool:
    several = len(prim.args) > 1 or bool(prim.variadic)
    return prim.promote == "float" or (prim.promote == "same" and several) or prim.predicate


CASTS: Facet[bool] = Facet("casts", _promotes)
"""Whether the result is converted to the dtype of ``out=``, where that loses nothing; other
operations refuse a tensor of another dtype. Operations that promote their arguments convert."""


def check_dtype(out: Any, result: Any) -> None:
    """Raise unless `out` has the dtype of `result`."""
    have, need = out._payload.dtype, result._payload.dtype
    if have != need:
        raise RuntimeError(
            f"Expected out tensor to have dtype {errors.c_name(need)}, but got "
            f"{errors.c_name(have)} instead"
        )


def asked(dtype: Any, out: Any) -> Any:
    """The dtype of what is created: that of `out`, if there is one."""
    if not isinstance(out, TensorBase):
        return dtype
    kind = out._payload.dtype
    if dtype is not None and type_of(dtype) != kind:
        raise RuntimeError(
            f"dtype {errors.long_name(type_of(dtype))} does not match dtype of out parameter "
            f"({errors.long_name(kind)})"
        )
    return as_dtype(kind)


def created(
    array: Any, device: Any, requires_grad: bool, out: Any, name: str, layout: Any = None
) -> Any:
    """Return a new tensor over `array`, or `out` with its values."""
    if isinstance(out, TensorBase):
        if layout is not None and layout is not strided:
            raise RuntimeError(
                f"layout {layout} does not match layout of out parameter (Strided): make a sparse "
                "tensor without out="
            )
        array = array.astype(out._payload.dtype, copy=False)
        if name in _SERIES and array.size == out._payload.size:
            array = array.reshape(out._payload.shape)
    elif out is None:
        return made(array, device, requires_grad, layout)
    return into(out, made(array), name)


def into(out: Any, result: Any, name: str, part: str = "result") -> Any:
    """Write `result` to the memory of `out`, and return `out`; without one, return `result`.

    Errors name it by `part`.

    Raises
    ------
    RuntimeError: If either belongs to the graph, since writing to ``out=`` is not recorded, or if
        `out` is of a dtype that the operation does not convert to.
    """
    if out is None:
        return result
    if not isinstance(out, TensorBase):
        raise wrong_type(name, "out", "Tensor", out)
    if isinstance(out._payload, Dual) or isinstance(result._payload, Dual):
        raise RuntimeError(
            f"Trying to use forward AD with {name} that does not support it because it is an out= "
            "function: call it without out, and copy_() the result"
        )
    if (result._edge is not None or out._edge is not None) and is_recording():
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    value = result._payload
    if name in TABLE and not CASTS[TABLE[name]]:
        check_dtype(out, result)
    if category(value.dtype) > category(out._payload.dtype):
        if name.startswith(("linalg_", "cholesky")):
            raise RuntimeError(
                f"{name.removeprefix('linalg_')}: Expected {part} to be safely castable from "
                f"{errors.long_name(value.dtype)} dtype, but got {part} with dtype "
                f"{errors.long_name(out._payload.dtype)}"
            )
        raise errors.cannot_cast(value.dtype, out._payload.dtype)
    check_writable(out, recording=False)
    mode = current_mode()
    if mode is not None and mode.mutation is not None:
        mode.mutation.before_write(out)
    lifted = isinstance(value, Lifted) or isinstance(out._payload, Lifted)
    if out._payload.shape != value.shape:
        if out._payload.size:
            had, need = list(out._payload.shape), list(value.shape)
            warn(
                f"The number of elements in the out tensor of shape {had} is {out._payload.size} "
                f"which does not match the computed number of elements {value.size}. The out "
                f"tensor will be resized to a tensor of shape {need}."
                if name in _SERIES
                else "An output with one or more elements was resized since it had shape "
                f"{had}, which does not match the required output shape {need}. This behavior is "
                "deprecated, and in a future PyTorch release outputs will not be resized unless "
                "they have zero elements.",
            )
        if lifted:
            F: Any = namespace_of(value, out._payload)
            out._payload = F.to_copy(value, dtype=out._payload.dtype)
        else:
            out._payload = np.empty(value.shape, out._payload.dtype)
    if lifted:
        return write(TABLE["assign"], out, (result,), {}, name)
    np.copyto(out._array(), value, casting="unsafe")
    bump(out, name)
    if out._ext is not None:
        refresh_views(out, None)
    return out


def into_several(out: Any, results: Any, name: str) -> Any:
    """Write several results into several tensors, if there are any."""
    if out is None:
        return results
    if not isinstance(out, tuple | list):
        raise wrong_type(name, "out", "tuple of Tensors", out)
    if len(out) != len(results):
        raise TypeError(
            f"{name}() expected a tuple of {len(results)} elements for the argument 'out', but got "
            f"{len(out)}"
        )
    parts = getattr(results, "__match_args__", ("result",) * len(results))
    made = [into(*row[:2], name, row[2]) for row in zip(out, results, parts, strict=True)]
    return type(results)(made)
