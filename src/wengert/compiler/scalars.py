"""Layer 8 · compiler: the element-wise primitives that have a native form, and what they cost.

NOTE [dtypes of native elements]
Where a kernel computes follows from its result: in the dtype of the result, to which NumPy brings
every argument first, but for comparisons, which compute in the common dtype of their arguments, and
for what only asks whether elements are 0, which makes them bools. Python numbers among the
parameters take that dtype, as weak as they are in NumPy. Complex numbers and what has two bytes are
left to NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.code import Code, Operand, is_native
from wengert.compiler.ir import Affine, Number
from wengert.compiler.scalars_arithmetic import (
    ARITHMETIC,
    CHOICES,
    COMPARISONS,
    ROUNDING,
    WHOLE,
    power_scalar_accepts,
)
from wengert.compiler.scalars_functions import FUNCTIONS
from wengert.compiler.scalars_lane import Lane, cast

__all__ = ["SCALARS", "Scalar", "cost", "emit", "has_vectors", "supports"]

_BOOL = np.dtype(np.bool_)


class Scalar(NamedTuple):
    """The native form of an element-wise primitive.

    Attributes
    ----------
    rule
        ``rule(lane, *operands, **params)``, which emits instructions and returns the result.
    cost
        Rough cycles for one element, where several are computed at a time.
    kinds
        The kinds of the dtypes in which it computes.
    inside
        Where that dtype comes from: "result", "arguments" or "bool".
    conditions
        The positions of arguments that are conditions.
    params
        Whether it takes certain parameters in a kind of dtype.
    """

    rule: Callable[..., str]
    cost: int = 1
    kinds: str = "f"
    inside: str = "result"
    conditions: tuple[int, ...] = ()
    params: Callable[[Mapping[str, Any], str], bool] | None = None


_LOGIC: dict[str, Callable[..., str]] = {
    "logical_and": lambda m, a, b: m.mul(a, b),
    "logical_or": lambda m, a, b: m.add(a, b),
    "logical_xor": lambda m, a, b: m.exact("xor", a, b),
    "logical_not": lambda m, a: m.exact("xor", a, "true"),
}

# by table: in which kinds of dtypes, and at which cost; then what differs for one primitive
_KINDS = {
    **dict.fromkeys(ARITHMETIC, "fiu"),
    **dict.fromkeys(("add", "mul", "add_scalar", "mul_scalar", "sgn", "sign", "real"), "fiub"),
    **dict.fromkeys(("conj", "to_copy"), "fiub"),
    **dict.fromkeys(("div", "div_scalar", "addcdiv", "sqrt", "rsqrt", "reciprocal"), "f"),
    **dict.fromkeys(("deg2rad", "rad2deg", "copysign", "lerp", "lerp_tensor"), "f"),
    **dict.fromkeys(CHOICES, "fiub"),
    **dict.fromkeys(("relu", "clamp", "clamp_min", "clamp_max"), "fiu"),
    **dict.fromkeys(ROUNDING, "fiu"),
    **dict.fromkeys(("frac", "round_decimals"), "f"),
    **dict.fromkeys(WHOLE, "fiu"),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"), "iub"),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), "iu"),
}
_COSTS = {
    **dict.fromkeys(("div", "div_scalar", "addcdiv", "reciprocal", "sqrt"), 4),
    **dict.fromkeys(("rsqrt", "logit", "round_decimals"), 8),
    **dict.fromkeys(WHOLE, 20),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"), 1),
    **dict.fromkeys(FUNCTIONS, 12),
    **dict.fromkeys(("exp", "exp2", "log", "log2"), 8),
    **dict.fromkeys(("sinh", "tanh", "asinh", "acosh", "atanh", "pow", "tan", "rpow_scalar"), 20),
    **dict.fromkeys(("logaddexp", "logaddexp2"), 24),
    "lgamma": 80,
}
_CONDITIONS = {"where": (0,), "masked_fill": (1,), "masked_fill_tensor": (1,)}
_PARAMS = {"pow_scalar": power_scalar_accepts}


def _table() -> dict[str, Scalar]:
    table = {name: Scalar(rule, 1, "b", "bool") for name, rule in _LOGIC.items()}
    for name, rule in COMPARISONS.items():
        table[name] = Scalar(rule, 1, "fiub", "arguments")
    everything: tuple[dict[str, Callable[..., str]], ...]
    everything = (ARITHMETIC, CHOICES, ROUNDING, WHOLE, FUNCTIONS)
    for rules in everything:
        for name, rule in rules.items():
            table[name] = Scalar(
                rule,
                _COSTS.get(name, 1),
                _KINDS.get(name, "f"),
                conditions=_CONDITIONS.get(name, ()),
                params=_PARAMS.get(name),
            )
    return table


SCALARS: Mapping[str, Scalar] = _table()
"""Every native form by the name of its primitive."""


def _inside(scalar: Scalar, dtypes: Sequence[np.dtype[Any]], out: np.dtype[Any]) -> Any:
    """The dtype in which a primitive computes."""
    if scalar.inside == "result":
        return out
    return _BOOL if scalar.inside == "bool" else np.result_type(*dtypes)


def supports(
    name: str, dtypes: Sequence[np.dtype[Any]], out: np.dtype[Any], params: Mapping[str, Any]
) -> bool:
    """Whether a primitive has a native form.

    Parameters
    ----------
    name
        The primitive's name.
    dtypes, out
        The dtypes of the arguments and of the result.
    params
        The parameters; a `Number` or an `Operand` stands for one that is known when it runs.
    """
    scalar = SCALARS.get(name)
    if scalar is None or not all(map(is_native, (*dtypes, out))):
        return False
    dtype = _inside(scalar, dtypes, out)
    if not is_native(dtype) or dtype.kind not in scalar.kinds:
        return False
    if not all(map(_fits, params.values())):
        return False
    integers = len(dtypes) > 1 and all(each.kind in "iu" for each in dtypes)
    if integers and scalar.inside == "arguments" and dtype.kind == "f":
        # NumPy compares integers exactly, also where no dtype holds all of them
        return False
    return scalar.params is None or scalar.params(params, dtype.kind)


def _fits(param: Any) -> bool:
    """Whether a parameter is a real number, or what is not used as one."""
    if isinstance(param, Number):
        return is_native(param.value.dtype)
    return not isinstance(param, complex | np.ndarray | Affine)


def emit(
    code: Code,
    name: str,
    operands: Sequence[Operand],
    out: np.dtype[Any],
    params: Mapping[str, Any],
    count: int = 1,
) -> str:
    """Emit one element, or a vector of so many, of a primitive that `supports` takes.

    Parameters
    ----------
    code
        The function under construction.
    operands
        One element of each argument.
    out
        The dtype of the result.
    params
        The parameters, with an `Operand` for each `Number`.

    Returns
    -------
    str
        The element of the result, of the type of `out` in a register.
    """
    scalar = SCALARS[name]
    dtype = _inside(scalar, [operand.dtype for operand in operands], out)
    given = [
        cast(code, operand.name, operand.dtype, _BOOL if i in scalar.conditions else dtype, count)
        for i, operand in enumerate(operands)
    ]
    return scalar.rule(Lane(code, dtype, count=count), *given, **params)


# what is done in vectors of integers and bools, too
_OF_ALL = frozenset(
    (
        *("add", "sub", "mul", "rsub", "add_scalar", "sub_scalar", "rsub_scalar", "mul_scalar"),
        *("where", "masked_fill", "masked_fill_tensor", "maximum", "minimum", "to_copy", "conj"),
        *("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"),
    )
)


def has_vectors(name: str, dtypes: Sequence[np.dtype[Any]], out: np.dtype[Any]) -> bool:
    """Whether `emit` can do several elements of a primitive at a time."""
    if name in WHOLE:
        return False
    dtype = _inside(SCALARS[name], dtypes, out)
    return name in _OF_ALL or (dtype.kind == "f" and name not in ("signbit", "isreal"))


def cost(name: str, dtype: np.dtype[Any]) -> int:
    """Rough cycles for one element of a primitive, whose result has a dtype."""
    cycles = SCALARS[name].cost
    return max(1, cycles * 2 // 3) if dtype.itemsize < 8 else cycles
