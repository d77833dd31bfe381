"""Layer 8 · compiler: keys of steps and programs, equal for equal computations.

NOTE [equal steps]
Two steps are equal if they have the same primitive, the same operands, and parameters that are
equal and of the same type: 1, 1.0 and True differ, since dtypes depend on them; 0.0 and -0.0
differ; NaN equals itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wengert.compiler.ir.programs import Loop, Number, Program, Value, Varying, VaryingFloat

_PLAIN = frozenset({int, str, type(None)})


def param_key(param: Any) -> Any:
    """Return a hashable key that is equal for equal parameters."""
    kind = param.__class__
    if kind in _PLAIN:
        return param
    if kind is tuple or kind is list:
        # shapes and dimensions
        for part in param:
            if part.__class__ is not int:
                param = tuple([param_key(part) for part in param])
                break
        return param if kind is tuple else (kind, *param)
    if kind is Varying or kind is VaryingFloat:
        # native code has marked it since, which changes nothing
        return param_key(int(param) if kind is Varying else float(param))
    if kind is bool or kind is float or kind is complex:
        # the text distinguishes signed zeros
        return kind, repr(param)
    if kind is Number:
        return kind, param.value
    if isinstance(param, np.generic):
        return kind, param.dtype.str, param.tobytes()
    try:
        hash(param)
    except TypeError:
        return kind, id(param)
    return kind, param


def params_key(params: Mapping[str, Any]) -> Any:
    """Return a key for all parameters of a step, whatever their order."""
    if len(params) == 1:
        (param,) = params.values()
        return param if param.__class__ in _PLAIN else param_key(param)
    return tuple(
        [
            params[name] if params[name].__class__ in _PLAIN else param_key(params[name])
            for name in sorted(params)
        ]
    )


def constant_key(array: Any) -> Any:
    """Return a key for a constant."""
    return array.dtype.str, array.shape, array.tobytes()


def named_key(param: Any, name: Callable[[Value], Any]) -> Any:
    """Return a key for a parameter that may contain values, which `name` identifies."""
    kind = param.__class__
    if kind is Value:
        return kind, name(param)
    if kind is Number:
        return kind, name(param.value)
    if isinstance(param, tuple | list):
        return tuple([named_key(part, name) for part in param])
    return param_key(param)


def program_key(program: Program) -> Any:
    """Return a key that is equal for equal programs."""
    names: dict[Value, Any] = {value: i for i, value in enumerate(program.inputs)}

    def name(value: Value) -> Any:
        if value.constant is not None:
            return constant_key(value.constant)
        return names.setdefault(value, len(names))

    lines: list[Any] = [tuple([(v.dtype.str, v.shape) for v in program.inputs])]
    for step in program.steps:
        outs = tuple([(name(out), out.dtype.str, out.shape) for out in step.outs])
        if isinstance(step, Loop):
            sliced = tuple([(name(v), start, by) for v, start, by in step.sliced])
            read = tuple(map(name, (*step.carried, *step.fixed)))
            lines.append((step.count, read, sliced, outs, program_key(step.body)))
        else:
            params = tuple([(n, named_key(step.params[n], name)) for n in sorted(step.params)])
            lines.append((step.prim.name, tuple(map(name, step.args)), params, outs))
    lines.append(tuple(map(name, program.outputs)))
    lines.append(tuple([(name(made), name(over)) for made, over in program.writes]))
    return tuple(lines)
