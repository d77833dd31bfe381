"""Layer 8 · compiler: which element-wise primitives have a scalar form, and its cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wengert.compiler.codegen.code import Code, Operand, is_native
from wengert.compiler.codegen.scalars import arithmetic as scalars_arithmetic  # noqa: F401
from wengert.compiler.codegen.scalars.forms import SCALARS, Scalar
from wengert.compiler.codegen.scalars.lane import Lane, cast
from wengert.compiler.ir.programs import Affine, Number
from wengert.prims.record import Primitive

_BOOL = np.dtype(np.bool_)


def _compute_dtype(scalar: Scalar, dtypes: Sequence[np.dtype[Any]], out: np.dtype[Any]) -> Any:
    """Return the dtype in which a primitive computes."""
    if scalar.inside == "result":
        return out
    return _BOOL if scalar.inside == "bool" else np.result_type(*dtypes)


def supports(
    prim: Primitive,
    dtypes: Sequence[np.dtype[Any]],
    out: np.dtype[Any],
    params: Mapping[str, Any],
) -> bool:
    """Return whether a primitive has a scalar form.

    Parameters
    ----------
    prim: The primitive.
    dtypes, out: The dtypes of the arguments and of the result.
    params: The parameters; a `Number` or an `Operand` stands for one known only at run time.
    """
    scalar = SCALARS[prim]
    if scalar is None or not all(map(is_native, (*dtypes, out))):
        return False
    dtype = _compute_dtype(scalar, dtypes, out)
    if not is_native(dtype) or dtype.kind not in scalar.kinds:
        return False
    if scalar.bits not in (None, 8 * dtype.itemsize):
        return False
    if not all(map(_is_supported_param, params.values())):
        return False
    integers = len(dtypes) > 1 and all(each.kind in "iu" for each in dtypes)
    if integers and scalar.inside == "arguments" and dtype.kind == "f":
        # NumPy compares integers exactly, even if no integer dtype holds both
        return False
    return scalar.params is None or scalar.params(params, dtype.kind)


def _is_supported_param(param: Any) -> bool:
    """Return whether a parameter is a real number, or is not used as a number."""
    if isinstance(param, Number):
        return is_native(param.value.dtype)
    return not isinstance(param, complex | np.ndarray | Affine)


def emit(
    code: Code,
    prim: Primitive,
    operands: Sequence[Operand],
    out: np.dtype[Any],
    params: Mapping[str, Any],
    count: int = 1,
) -> str:
    """Emit one element, or a vector of `count`, of a primitive that `supports` accepts.

    Parameters
    ----------
    code: The function under construction.
    operands: One element of each argument.
    out: The dtype of the result.
    params: The parameters, with an `Operand` for each `Number`.

    Returns
    -------
    str: The element of the result, of the register type of `out`.
    """
    scalar = _scalar_form(prim)
    dtype = _compute_dtype(scalar, [operand.dtype for operand in operands], out)
    given = [
        cast(code, operand.name, operand.dtype, _BOOL if arg in prim.fixed else dtype, count)
        for arg, operand in zip(prim.args, operands, strict=True)
    ]
    return scalar.rule(Lane(code, dtype, count=count), *given, **params)


def has_vectors(prim: Primitive, dtypes: Sequence[np.dtype[Any]], out: np.dtype[Any]) -> bool:
    """Return whether `emit` can vectorise a primitive."""
    scalar = _scalar_form(prim)
    return _compute_dtype(scalar, dtypes, out).kind in scalar.vectors


def cost(prim: Primitive, dtype: np.dtype[Any]) -> int:
    """Return the rough cycles per element of a primitive, for the dtype of its result."""
    cycles = _scalar_form(prim).cost
    return max(1, cycles * 2 // 3) if dtype.itemsize < 8 else cycles


def _scalar_form(prim: Primitive) -> Scalar:
    form = SCALARS[prim]
    assert form is not None
    return form
