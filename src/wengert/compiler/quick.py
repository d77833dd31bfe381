"""Layer 8 · compiler: the shortest way through a call, as one generated Python function.

Where the traces of an environment are a single line without decisions, a call is: check the
conditions, call the executable, wrap the results. Written out for the environment at hand, that
costs a fraction of the general way (`Entry.run`), which stays the meaning of it all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from wengert.base.ports import PORTS
from wengert.compiler.backends.executable import RAISED
from wengert.compiler.entry import Entry
from wengert.compiler.exit import Exit
from wengert.compiler.ir import Value
from wengert.compiler.prints import are_known
from wengert.tape.base import LEAF, TensorBase

__all__ = ["MISS", "quick_call"]

MISS = object()
"""What a quick call gives where it does not hold."""


def quick_call(entry: Entry) -> Callable[..., Any] | None:
    """The quick way through `entry`, if there is one."""
    block = entry.tree.root
    if (
        block is None
        or block.exit is None
        or block.guard is not None
        or block.draws
        or not block.steps
        or entry.layout is not None
        or not _in_order(entry)
        or not entry.verified
    ):
        return None
    entry.tree.prepare()
    exit = block.exit
    plain = [
        leaf.kind in ("tensor", "constant", "given")
        and leaf.strides is None
        and (leaf.version is None or (leaf.version[0] is not None and leaf.version[2] >= 0))
        for leaf in exit.leaves
    ]
    if exit.effects or exit.backward is not None or not all(plain) or exit.repeats or exit.roots:
        return None
    outputs = {value: f"r[{i}]" for i, value in enumerate(block.outputs)}
    if any(leaf.kind == "tensor" and leaf.what not in outputs for leaf in exit.leaves):
        return None
    said = {value: f"s{i}" for i, value in enumerate(v for one in exit.said for v in one.values())}
    known = {*outputs, *entry.tree.inputs}
    if any(value.constant is None and value not in known for value in said):
        return None
    environment = entry.environment
    names = [f"p{i}" for i in range(len(environment.tensors))]
    names += [f"n{i}" for i in range(len(environment.arrays))]
    own = dict(zip(entry.tree.inputs, names, strict=True))
    given = [own[value] for value in block.inputs]
    lines = environment.lines()
    if exit.said:
        lines.append(f"if not are_known({sorted(exit.streams)}): return MISS")
    seen = [*given, *[names[i] for i in entry.strides if names[i] not in given]]
    lines += [f"if not {name}.flags.c_contiguous: return MISS" for name in seen]
    scope = {
        **environment.scope(),
        "MISS": MISS,
        "are_known": are_known,
        "RAISED": RAISED,
        "LEAF": LEAF,
        "new": TensorBase.__new__,
        "Tensor": PORTS.tensor,
        "rebuild": exit.rebuild,
    }
    call = getattr(block.executable, "call", None)
    scope["run"] = block.executable if call is None else call
    lines.append(f"r = run({', '.join(given)})" if call else f"r = run([{', '.join(given)}])")
    if call:
        lines.append("if r is None: return MISS")
    if exit.said:
        lines.append(_says(exit, said, {**own, **outputs}, len(environment.tensors), scope))
    made = []
    for i, leaf in enumerate(exit.leaves):
        made.append(f"l{i}")
        lines += _leaf(i, leaf, outputs, names, scope)
    lines.append(f"return {_together(exit, made)}")
    source = "\n".join(
        [
            "def quick(args, kwargs):",
            "    try:",
            *[f"        {line.replace('return None', 'return MISS')}" for line in lines],
            # what a step raises the function itself raises, or catches
            "    except (AttributeError, LookupError, TypeError, *RAISED):",
            "        return MISS",
        ]
    )
    exec(compile(source, "<wengert quick call>", "exec"), scope)
    return scope["quick"]


def _says(
    exit: Exit, said: dict[Value, str], names: dict[Value, str], count: int, scope: dict[str, Any]
) -> str:
    """The statement that prints."""
    scope["say"] = exit.say
    scope |= {name: value for value, name in said.items()}
    values = [f"{name}: {names[v]}" for v, name in said.items() if v.constant is None]
    tensors = "".join(f"t{i}, " for i in range(count))
    return f"say({{{', '.join(values)}}}, ({tensors}), (args, kwargs))"


def _in_order(entry: Entry) -> bool:
    """Whether the traces hold for inputs in C order, or for all."""
    inputs = entry.tree.inputs
    return all(_strides(inputs[i]) == steps for i, steps in entry.strides.items())


def _strides(value: Value) -> tuple[int, ...]:
    """The strides of an array in C order."""
    steps = [value.dtype.itemsize]
    for size in value.shape[:0:-1]:
        steps.append(steps[-1] * size)
    return tuple(steps[::-1]) if value.shape else ()


def _leaf(i: int, leaf: Any, outputs: Any, names: list[str], scope: dict[str, Any]) -> list[str]:
    if leaf.kind == "constant":
        scope[f"c{i}"] = leaf.what
        return [f"l{i} = c{i}"]
    if leaf.kind == "given":
        name = names[leaf.what]
        return [f"l{i} = {name if name[0] == 'n' else 't' + name[1:]}"]
    payload = outputs[leaf.what]
    if leaf.chain:
        scope["asarray"] = np.asarray
    for k, (prim, params) in enumerate(leaf.chain):
        scope[f"v{i}_{k}"] = partial(prim.kernel, **params)
        payload = f"asarray(v{i}_{k}({payload}))"
    lines = [
        f"l{i} = new(Tensor)",
        f"l{i}.payload = {payload}",
        f"l{i}.edge = {'LEAF' if leaf.leaf else 'None'}",
        f"l{i}.vc = l{i}.ext = None",
    ]
    if leaf.version is not None:
        count, scope[f"w{i}"], first = leaf.version
        lines.append(f"l{i}.vc = " + (f"[{count}, w{i}]" if first == i else f"l{first}.vc"))
    if leaf.cls is not PORTS.tensor:
        scope[f"c{i}"] = leaf.cls
        lines.append(f"l{i}.__class__ = c{i}")
    return lines


def _together(exit: Exit, made: list[str]) -> str:
    """The expression of the result."""
    mark = object()
    shape = exit.rebuild([mark] * len(made))
    if shape is mark:
        return made[0]
    if type(shape) is tuple and len(shape) == len(made) and all(part is mark for part in shape):
        return f"({', '.join(made)},)"
    return f"rebuild([{', '.join(made)}])"
