"""Layer 8 · compiler: the verifier, which tests run between any two passes.

With the variable ``WENGERT_VERIFY`` set, every program is verified before the first pass and after
each. Values must be defined once, before their uses. Steps must have the dtypes and shapes that
their kernels compute. A pass must keep inputs and outputs. An output that overwrites an input must
have its dtype and shape, and that input must not be an output itself. The effects of a trace must
write to the storage of inputs, once each, values that are known.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from wengert.compiler.ir.decisions import Draw, Guard
from wengert.compiler.ir.executable import RAISED
from wengert.compiler.ir.facets import SIZE
from wengert.compiler.ir.programs import (
    Affine,
    Loop,
    Number,
    Program,
    Step,
    Value,
    is_counted,
    mapped,
    types_of,
    uses,
)

_SMALL = 4096
"""Kernels are run to check types on arguments of at most this many elements in all."""


class VerificationError(AssertionError):
    """Raised if a pass returns a malformed program."""


def is_on() -> bool:
    """Return whether programs are verified between passes."""
    return bool(os.environ.get("WENGERT_VERIFY"))


def checked(name: str, run: Callable[[Program], Program], program: Program) -> Program:
    """Run a pass on a program, and verify the result if that is enabled.

    Raises
    ------
    VerificationError: Which names the pass.
    """
    made = run(program)
    if is_on():
        verify(made, name)
        _same_interface(program, made, name)
    return made


def verify(program: Program, after: str) -> None:
    """Raise unless a program is well formed.

    Parameters
    ----------
    after: The name of the pass that made it, for the message.
    """
    try:
        program.check()
        _check(program, repeated=False)
    except ValueError as error:
        raise VerificationError(f"after the pass {after!r}: {error}\n{program}") from error


def _same_interface(before: Program, made: Program, name: str) -> None:
    if before.inputs != made.inputs:
        raise VerificationError(f"the pass {name!r} has changed the inputs\n{made}")
    mine, theirs = map(types_of, (made.outputs, before.outputs))
    if mine != theirs:
        raise VerificationError(
            f"the pass {name!r} has changed the outputs from {theirs} to {mine}\n{made}"
        )
    own = {value for _, value in before.writes}
    if not own.issuperset(value for _, value in made.writes):
        raise VerificationError(f"the pass {name!r} writes over an input of its own\n{made}")


def _check(program: Program, repeated: bool) -> None:
    for value in program.inputs:
        if value.constant is not None:
            raise ValueError("an input is a constant")
    for i, step in enumerate(program.steps):
        for value in uses(step):
            held = value.constant
            if held is not None and (held.dtype, held.shape) != (value.dtype, value.shape):
                raise ValueError(f"step {i} reads a constant of another dtype or shape")
        if isinstance(step, Loop):
            _check(step.body, repeated=True)
            continue
        counts = step.prim.outputs
        if counts is not None and len(step.outs) != counts:
            raise ValueError(f"step {i} ({step.prim.name}) has {len(step.outs)} results")
        if not repeated and is_counted(step):
            raise ValueError(
                f"step {i} ({step.prim.name}) reads the counter of a loop outside of one"
            )
        _check_types(i, step)
    _check_writes(program)


def _check_types(i: int, step: Step) -> None:
    """Raise unless the kernel computes results of the step's dtypes and shapes."""
    size = sum(value.size for value in (*uses(step), *step.outs))
    if size > _SMALL or SIZE[step.prim]:
        return
    params = {n: mapped(p, _blank) for n, p in step.params.items()}
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = step.prim.kernel(*map(_blank, step.args), **params)
    except RAISED:
        # because of the values
        return
    found = (results,) if step.prim.outputs == 1 else tuple(results)
    types = [(np.asarray(array).dtype, np.shape(array)) for array in found]
    if types != types_of(step.outs):
        raise ValueError(
            f"step {i} ({step.prim.name}) computes {types}, but declares {types_of(step.outs)}"
        )


def _blank(value: Any) -> Any:
    if isinstance(value, Affine):
        return value.start
    if isinstance(value, Number):
        return _blank(value.value).item()
    if not isinstance(value, Value):
        return value
    if value.constant is not None:
        return value.constant
    fill = 0 if value.dtype.kind in "biu" else 0.5
    return np.full(value.shape, fill, value.dtype)


def _check_writes(program: Program) -> None:
    taken: set[Value] = set()
    for made, over in program.writes:
        if over not in program.inputs or made not in program.outputs:
            raise ValueError(
                "what is written over an input is not an output, or it is not an input"
            )
        if types_of([made]) != types_of([over]):
            raise ValueError("what is written over an input has another dtype or shape")
        if over in program.outputs:
            raise ValueError("an input is written over, and handed out")
        if over in taken:
            raise ValueError("an input is written over twice")
        taken.add(over)


def verify_trace(inputs: Sequence[Value], items: Iterable[Any], exit: Any) -> None:
    """Raise unless a trace is well formed: its steps, and the effects at its end."""
    known = set(inputs)
    try:
        for i, item in enumerate(items):
            if isinstance(item, Draw):
                known.add(item.value)
                continue
            read = [item.value] if isinstance(item, Guard) else uses(item)
            if any(value.constant is None and value not in known for value in read):
                raise ValueError(f"item {i} reads what nothing has computed")
            if isinstance(item, Step):
                known.update(item.outs)
        if exit.backward is not None:
            Program(exit.backward.program().inputs, exit.backward.steps, ()).check()
        if any(value.constant is None and value not in known for value in exit.needs()):
            raise ValueError("the exit needs what nothing has computed")
        _check_effects(exit)
    except ValueError as error:
        raise VerificationError(f"a trace: {error}") from error


def _check_effects(exit: Any) -> None:
    seen: set[tuple[str, int]] = set()
    for effect in exit.effects:
        if (effect.kind, effect.place) in seen:
            raise ValueError(f"two effects {effect.kind!r} on one place")
        seen.add((effect.kind, effect.place))
        if effect.kind == "write" and effect.value is None:
            raise ValueError("a write of nothing")
        if effect.kind in ("data", "grad") and not 0 <= effect.leaf < len(exit.leaves):
            raise ValueError("an effect leaves behind what is not a leaf")
    versions = [place for kind, place in seen if kind == "version"]
    if any(effect.writes < 1 for effect in exit.effects if effect.place in versions):
        raise ValueError("a version that does not grow")
    for made, over in exit.origins:
        if over not in exit.given:
            raise ValueError("a storage's first version is not an input")
        if types_of([made]) != types_of([over]):
            raise ValueError("a storage's versions differ in dtype or shape")
