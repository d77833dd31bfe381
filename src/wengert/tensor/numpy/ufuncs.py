"""Layer 6 · tensor: NumPy's ufuncs on tensors: their implementations and keywords.

A ufunc is found by its name. Its arguments become tensors of the dtypes that NumPy itself would
compute in; ``out=`` is written in place and recorded, if it is a tensor. The methods (``reduce``,
...) are in `wengert.tensor.numpy.ufunc_methods`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np

from wengert.base.arrays import column
from wengert.ops import pointwise, select
from wengert.prims.facet import NUMPY, OPERATOR
from wengert.prims.table import TABLE
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.inplace import write
from wengert.tape.modes import current_mode, is_recording
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tensor.numpy import boundary, products
from wengert.tensor.numpy.counterparts import (
    as_dtype,
    check_cast,
    common,
    is_weak,
    late,
    tensor,
    values,
    wrapped,
)

_STEPS = frozenset({"floor_divide", "spacing"})
"""Ufuncs with floating results but without a gradient."""


def _sign(x: Any) -> Any:
    return T.sgn(x) if x._payload.dtype.kind == "c" else T.sign(x)


def _detached(x: Any) -> Any:
    """Return `x` detached from the graph."""
    return new_tensor(x._payload)


def _modf(x: Any) -> tuple[Any, Any]:
    # the fraction of an infinity is 0; the difference would be NaN
    finite = select.where(T.isinf(x), 0.0, x)
    return finite - T.trunc(finite), T.trunc(x)


def _subtract(x: Any, y: Any) -> Any:
    """Return a difference; next to an array of numbers, NumPy treats ``True`` as 1."""
    if any(isinstance(v, TensorBase) and v._payload.dtype.kind != "b" for v in (x, y)):
        x, y = (int(v) if v is True or v is False else v for v in (x, y))
    return T.sub(x, y)


def _extreme(ours: Callable[..., Any], ahead: Any, keeps_nan: bool) -> Callable[..., Any]:
    """Build `maximum` and the like, where NumPy orders complex numbers by real parts first.

    Equal numbers share the derivative, which PyTorch's `fmax` and `fmin` give to the first.
    """

    def rule(x: Any, y: Any) -> Any:
        kinds = [v._payload.dtype.kind for v in (x, y) if isinstance(v, TensorBase)]
        if "c" not in kinds and (keeps_nan or "f" not in kinds):
            return ours(x, y)
        x, y = tensor(x), tensor(y)
        first = T.logical_or(call(ahead, x, y), T.isnan(x if keeps_nan else y))
        return select.where(T.eq(x, y), x / 2 + y / 2, select.where(first, x, y))

    return rule


def _ordering(prim: str) -> Callable[..., Any]:
    """Build `less` and the like, where NumPy orders complex numbers by real parts first."""
    ours = getattr(T, prim)

    def rule(x: Any, y: Any) -> Any:
        if all(tensor(v)._payload.dtype.kind != "c" for v in (x, y)):
            return ours(x, y)
        (a, b), (c, d) = ((T.real(v), T.imag(v)) for v in common(x, y))
        return select.where(T.eq(a, c), ours(b, d), ours(a, c))

    return rule


def _heaviside(x: Any, y: Any) -> Any:
    step = getattr(T, str(_primitive_of("heaviside")))
    # NaN stays, which is 0 for PyTorch
    return select.where(T.isnan(x), x, step(x, y))


_ORDERED = {
    np.fmax: (np.greater_equal, False),
    np.fmin: (np.less_equal, False),
    np.maximum: (np.greater_equal, True),
    np.minimum: (np.less_equal, True),
}
"""The comparison that prefers the first of two numbers, and whether NaN is preferred."""
_COMPARING = frozenset({np.greater, np.greater_equal, np.less, np.less_equal})
_COMPOSED = frozenset({np.float_power, np.fmax, np.fmin, np.heaviside})
"""Ufuncs of two arguments that are not what their primitive is."""
RULES: dict[str, Callable[..., Any]] = {
    "clip": lambda x, low, high: T.clamp_tensor(x, low, high),
    "divmod": lambda x, y: (T.floor_divide(_detached(x), _detached(y)), T.remainder(x, y)),
    np.heaviside.__name__: _heaviside,
    "frexp": lambda x: tuple(late("frexp")(x)),
    "matmul": products.matmul_of,
    "matvec": products.matvec,
    "modf": _modf,
    "positive": lambda x: x,
    "sign": _sign,
    "square": pointwise.square,
    "subtract": _subtract,
    "vecdot": products.vecdot,
    "vecmat": products.vecmat,
}
"""The implementation of each ufunc, by name; those above are added when first called."""


_PRIMITIVES: dict[str, str] = {}
"""The primitive of each ufunc, of those records that are loaded."""


def _primitive_of(name: str) -> str | None:
    """Return the primitive for NumPy's ufunc `name`."""
    for module in ("table", "whole"):
        if name not in _PRIMITIVES:
            importlib.import_module(f"wengert.prims.{module}")
            for prim, names in NUMPY.items():
                _PRIMITIVES.update(dict.fromkeys(names.split(), prim.name))
    return _PRIMITIVES.setdefault(name, "") or None


def rule_of(ufunc: Any) -> Callable[..., Any] | None:
    """Return the implementation of `ufunc`; None if there is none."""
    name = ufunc.__name__
    found = RULES.get(name) if _is_numpys(ufunc) else None
    if found is not None:
        return found
    if _is_numpys(ufunc):
        prim = _primitive_of(name)
        if prim is not None:
            found, order = getattr(T, prim), _ORDERED.get(ufunc)
            found = found if order is None else _extreme(found, *order)
            RULES[name] = found = _ordering(prim) if ufunc in _COMPARING else found
        return found
    if _is_scipys(ufunc):
        special = importlib.import_module("wengert.tensor.numpy.special")
        return special.rule_of(name)
    return None


def one_primitive(ufunc: Any) -> str | None:
    """Return the single primitive of a ufunc on floating arrays of one dtype, or None."""
    name = ufunc.__name__
    if ufunc.nin > 1 and (is_constant(ufunc) or ufunc in _COMPOSED):
        return None
    return _primitive_of(name) if _is_numpys(ufunc) else None


def _is_numpys(ufunc: Any) -> bool:
    name = ufunc.__name__
    return getattr(np, name, None) is ufunc or (name == "clip" and ufunc.nin == 3)


def _is_scipys(ufunc: Any) -> bool:
    # `scipy.special.zeta` is a function that calls a ufunc of a name that is not public
    modules = [sys.modules.get(name) for name in ("scipy.special", "scipy.special._ufuncs")]
    return any(getattr(module, ufunc.__name__, None) is ufunc for module in modules)


def label_of(ufunc: Any, method: str = "__call__") -> str:
    """Return the name of a ufunc for users."""
    home = "scipy.special" if _is_scipys(ufunc) and not _is_numpys(ufunc) else "numpy"
    prefix = f"{home}." if _is_numpys(ufunc) or _is_scipys(ufunc) else "the ufunc "
    return f"{prefix}{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")


def apply(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of ``__array_ufunc__`` for everything that is not one primitive."""
    inputs = tuple(map(column, inputs))
    if not all(map(_known, inputs)):
        return NotImplemented
    if method == "__call__":
        return call(ufunc, *inputs, **kwargs)
    methods = importlib.import_module("wengert.tensor.numpy.ufunc_methods")
    return getattr(methods, method)(ufunc, *inputs, **kwargs)


def _known(value: Any) -> bool:
    """Return whether the class of `value` leaves ufuncs to us."""
    if isinstance(value, TensorBase):
        return True
    own = getattr(type(value), "__array_ufunc__", np.ndarray.__array_ufunc__)
    return own is np.ndarray.__array_ufunc__


def call(
    ufunc: Any,
    *inputs: Any,
    out: Any = None,
    where: Any = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
    subok: bool = True,
    signature: Any = None,
    sig: Any = None,
    **of_gufuncs: Any,
) -> Any:
    """Compute ``ufunc(*inputs, ...)`` on tensors, with NumPy's keywords.

    `order` and `subok`, which concern the memory and class of arrays, have no effect.
    """
    if len(inputs) > ufunc.nin:
        inputs, out = inputs[: ufunc.nin], inputs[ufunc.nin :]
    targets = _targets(out, ufunc.nout)
    label = label_of(ufunc)
    given = inputs
    if targets is not None and is_recording():
        given = tuple(
            T.clone(v) if any(v is t for t in targets) and isinstance(v, TensorBase) else v
            for v in inputs
        )
    if where is not True:
        where = tensor(where)
        if where._payload.dtype.kind != "b":
            raise TypeError(
                f"Cannot cast array data from {where._payload.dtype!r} to dtype('bool') according "
                f"to the rule 'safe': where= of {label} must be a mask"
            )
    rule = rule_of(ufunc)
    if rule is None or (is_constant(ufunc) and all(map(_is_plain, given))):
        result = _by_values(ufunc, label, given, casting, dtype, signature or sig, of_gufuncs)
    else:
        made = resolved(ufunc, given, casting, dtype, signature or sig)
        if where is not True:
            # unselected elements are not computed
            made = [v if is_weak(v) else select.where(where, v, 1) for v in made]
        if all(map(_is_whole, made)):
            result = wrapped(ufunc(*values(made), **of_gufuncs))
        else:
            result = rule(*made, **of_gufuncs)
    if targets is None and where is True:
        return result
    results = result if isinstance(result, tuple) else (result,)
    if targets is None:
        targets = (None,) * len(results)
    finished = tuple(
        into(target, value, label, casting, where)
        for target, value in zip(targets, results, strict=True)
    )
    return finished if isinstance(result, tuple) else finished[0]


@cache
def _keeps_numbers(ufunc: Any) -> bool:
    """Return whether a ufunc has separate rules for Python numbers, which then stay numbers."""
    if ufunc.nin != 2 or ufunc.nout != 1 or ufunc.signature or not _is_numpys(ufunc):
        return False
    prim = TABLE.get(_primitive_of(ufunc.__name__) or "")
    if prim is None:
        return False
    return prim.scalar is not None or (bool(OPERATOR[prim]) and "dd->" in " ".join(ufunc.types))


@cache
def is_constant(ufunc: Any) -> bool:
    """Return whether the results of `ufunc` have no derivative."""
    if _is_numpys(ufunc):
        results = "".join(kinds.partition("->")[2] for kinds in ufunc.types)
        return ufunc.__name__ in _STEPS or set("efdgFDGmM").isdisjoint(results)
    if _is_scipys(ufunc):
        special = importlib.import_module("wengert.tensor.numpy.special")
        return ufunc.__name__ in special.CONSTANT
    return False


def _is_plain(value: Any) -> bool:
    """Return whether NumPy itself may compute on `value`, since nothing traces it."""
    if not isinstance(value, TensorBase):
        return True
    mode = current_mode()
    plain = isinstance(value._payload, np.ndarray | np.generic)
    return plain and (mode is None or not mode.dispatch)


def _is_whole(value: Any) -> bool:
    """Return whether `value` is plain and holds integers or booleans, which have no gradient."""
    if is_weak(value):
        return not isinstance(value, float | complex)
    return value._payload.dtype.kind in "biu" and _is_plain(value)


def _by_values(
    ufunc: Any,
    label: str,
    inputs: tuple[Any, ...],
    casting: str,
    dtype: Any,
    signature: Any,
    of_gufuncs: dict[str, Any],
) -> Any:
    """Return the result of NumPy on the values of tensors.

    Raises
    ------
    NotImplementedError: If that would lose a gradient.
    """
    if not is_constant(ufunc) and boundary.loses(inputs):
        raise boundary.function_lost(label, _cure(ufunc))
    if dtype is not None:
        of_gufuncs = {**of_gufuncs, "dtype": _numpy_dtype(dtype)}
    if signature is not None:
        of_gufuncs = {**of_gufuncs, "signature": signature}
    return wrapped(ufunc(*values(inputs), casting=casting, **of_gufuncs))


def _cure(ufunc: Any) -> str:
    kinds = importlib.import_module("wengert.tensor.numpy.kinds")
    if _is_scipys(ufunc):
        return kinds.REFUSED.get(f"special.{ufunc.__name__}", "")
    if not _is_numpys(ufunc):
        return (
            "Call the Python function that it was made from on the tensor, or np.stack([f(v) for "
            "v in t]); or write an autograd.Function."
        )
    return kinds.REFUSED.get(ufunc.__name__, "")


def _numpy_dtype(kind: Any) -> Any:
    return as_dtype(0, kind)._payload.dtype


def resolved(
    ufunc: Any,
    inputs: tuple[Any, ...],
    casting: str = "same_kind",
    dtype: Any = None,
    signature: Any = None,
) -> list[Any]:
    """Return the arguments as tensors of the dtypes that NumPy computes in."""
    made = [value if is_weak(value) else tensor(value) for value in inputs]
    kinds = [value._payload.dtype for value in made if isinstance(value, TensorBase)]
    if dtype is None and signature is None and len(kinds) == len(made):
        first = kinds[0]
        # a ufunc may have no loop for complex numbers or half precision
        quick = first.kind == "f" and first.itemsize > 2 and ufunc is not np.float_power
        if quick and all(kind is first for kind in kinds[1:]):
            return made
    asked = tuple(_kind_of(value) for value in made) + (None,) * ufunc.nout
    if dtype is not None:
        signature = (None,) * ufunc.nin + (_numpy_dtype(dtype),) * ufunc.nout
    full = _meeting(ufunc, asked, casting, signature)
    if full[0].kind == "O":
        raise TypeError(
            f"{label_of(ufunc)} has no form for "
            + ", ".join(str(getattr(k, "__name__", k)) for k in asked[: ufunc.nin])
        )
    weak = signature is None and len(kinds) > 0 and _keeps_numbers(ufunc)
    return [
        value if is_weak(value) and weak else as_dtype(value, kind)
        for value, kind in zip(made, full, strict=False)
    ]


@lru_cache(maxsize=1000)
def _meeting(ufunc: Any, asked: tuple[Any, ...], casting: str, signature: Any) -> Any:
    """Return the dtypes that a ufunc computes in; cached, since NumPy takes long to find them."""
    fixed = {} if signature is None else {"signature": signature}
    return ufunc.resolve_dtypes(asked, casting=casting, **fixed)


def _kind_of(value: Any) -> Any:
    if isinstance(value, TensorBase):
        return value._payload.dtype
    return np.dtype(bool) if isinstance(value, bool) else type(value)


# -- where= and out= -------------------------------------------------------------------------------


def _targets(out: Any, count: int) -> tuple[Any, ...] | None:
    if out is None:
        return None
    targets = out if isinstance(out, tuple) else (out,)
    if all(target is None for target in targets):
        return None
    targets = targets + (None,) * (count - len(targets))
    for target in targets:
        if target is not None and not isinstance(target, TensorBase | np.ndarray):
            raise TypeError("return arrays must be of ArrayType: out= takes a tensor or an array")
    return targets


def into(target: Any, value: Any, label: str, casting: str = "same_kind", where: Any = True) -> Any:
    """Write the result of a NumPy function to ``out=``, a tensor or an array, and return it.

    Parameters
    ----------
    where: The mask of elements to write, a tensor, or True. Without a target, the others are 0.

    Raises
    ------
    TypeError: If `casting` does not allow the target's dtype, or a gradient would be lost.
    ValueError: If the target is too small. Nothing is written then.
    """
    if target is None:
        return value if where is True else select.where(where, value, 0)
    plain = isinstance(target, np.ndarray)
    memory = target if plain else target._payload
    check_cast(f"output of {label}", value._payload.dtype, memory.dtype, casting)
    masks = () if where is True else (where._payload.shape,)
    shape = np.broadcast_shapes(value._payload.shape, memory.shape, *masks)
    if shape != memory.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {memory.shape} doesn't match the "
            f"broadcast shape {shape} of {label}"
        )
    if plain:
        if value._edge is not None:
            raise boundary.target_lost(label)
        mask = True if where is True else where._array()
        np.copyto(target, value._array(), casting="unsafe", where=mask)
        return target
    if where is not True:
        value = select.where(where, cast(value, memory.dtype), T.clone(target))
    return write(TABLE["assign"], target, (value,), {}, f"{label}(out=)")
