"""Layer 8 · compiler: the shortest way through a call, as one generated Python function.

Where the traces of an environment are a single line without decisions, a call is: check the
conditions, call the executable, wrap the results. Written out for the environment at hand, that
costs a fraction of the general way (`Entry.run`), which stays the meaning of it all. Where they
decide, as much is written out as comes before the first decision.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from wengert.compiler.backends.executable import RAISED
from wengert.compiler.entry import Entry
from wengert.compiler.exit import Exit
from wengert.compiler.ir import Value
from wengert.compiler.prints import are_known
from wengert.compiler.tree import Missing
from wengert.tape.base import LEAF, TensorBase

__all__ = ["MISS", "quick_call"]

MISS = object()
"""What a quick call gives where it does not hold."""


def quick_call(entry: Entry) -> Callable[..., Any] | None:
    """The quick way through `entry`, if there is one."""
    if entry.layout is not None or not _in_order(entry) or not entry.verified:
        return None
    blocks = [*entry.tree.blocks()]
    if any(block.draws for block in blocks):
        # a call that comes to no end draws anew
        return None
    exits = [block.exit for block in blocks if block.exit is not None]
    if not exits or any(exit.effects or exit.backward is not None for exit in exits):
        return None
    straight = len(blocks) == 1 and bool(blocks[0].steps) and not entry.by_blocks
    environment = entry.environment
    conditions = environment.lines()
    names = [f"p{i}" for i in range(len(environment.tensors))]
    names += [f"n{i}" for i in range(len(environment.arrays))]
    scope = {
        **environment.scope(),
        "MISS": MISS,
        "are_known": are_known,
        "Missing": Missing,
        "RAISED": RAISED,
        "LEAF": LEAF,
        "new": TensorBase.__new__,
    }
    entry.tree.prepare()
    way = _straight(entry, blocks[0], names, scope) if straight else None
    given, lines = (names, _decided(entry, names, scope)) if way is None else way
    if not lines:
        return None
    seen = [*given, *[names[i] for i in entry.strides if names[i] not in given]]
    lines = [
        *conditions,
        *["if not are_known(): return MISS"] * entry.prints,
        *[f"if not {name}.flags.c_contiguous: return MISS" for name in seen],
        *lines,
    ]
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


def _straight(
    entry: Entry, block: Any, names: list[str], scope: dict[str, Any]
) -> tuple[list[str], list[str]] | None:
    """How results are made where there are no decisions, and the inputs that it takes."""
    exit = block.exit
    plain = [
        leaf.kind in ("tensor", "constant", "given")
        and leaf.strides is None
        and (leaf.version is None or (leaf.version[0] is not None and leaf.version[2] >= 0))
        for leaf in exit.leaves
    ]
    outputs = {value: f"r[{i}]" for i, value in enumerate(block.outputs)}
    if (
        not all(plain)
        or exit.repeats
        or exit.roots
        or any(leaf.kind == "tensor" and leaf.what not in outputs for leaf in exit.leaves)
    ):
        return None
    own = dict(zip(entry.tree.inputs, names, strict=True))
    said = {value: f"s{i}" for i, value in enumerate(v for one in exit.said for v in one.values())}
    if any(value.constant is None and value not in {**outputs, **own} for value in said):
        return None
    given = [own[value] for value in block.inputs]
    call = getattr(block.executable, "call", None)
    scope["run"] = block.executable if call is None else call
    lines = [f"r = run({', '.join(given)})" if call else f"r = run([{', '.join(given)}])"]
    if call:
        lines.append("if r is None: return MISS")
    if exit.said:
        count = len(entry.environment.tensors)
        lines.append(_says(exit, said, {**own, **outputs}, count, scope))
    made = []
    for i, leaf in enumerate(exit.leaves):
        made.append(f"l{i}")
        lines += _leaf(i, leaf, outputs, names, scope)
    lines.append(f"return {_together(exit, made, scope)}")
    return given, lines


def _decided(entry: Entry, names: list[str], scope: dict[str, Any]) -> list[str]:
    """How results are made where traces decide: as `Entry.run` does, for known conditions."""
    if entry.prints or (entry.by_blocks and entry.records):
        # what fails after it has printed must not run once more
        return []
    scope["run"] = entry.tree.run
    count = len(entry.environment.tensors)
    tensors, arrays = (
        ", ".join(part) for part in ([f"t{i}" for i in range(count)], [*names[count:]])
    )
    return [
        "try:",
        f"    exit, known = run([{', '.join(names)}])",
        "except Missing:",
        "    return MISS",
        f"tensors = [{tensors}]",
        f"return exit.complete(exit.finish(known, tensors, [{arrays}]), tensors)",
    ]


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
    scope[f"c{i}"] = leaf.cls
    lines = [
        f"l{i} = new(c{i})",
        f"l{i}.payload = {payload}",
        f"l{i}.edge = {'LEAF' if leaf.leaf else 'None'}",
        f"l{i}.vc = l{i}.ext = None",
    ]
    if leaf.version is not None:
        count, scope[f"w{i}"], first = leaf.version
        lines.append(f"l{i}.vc = " + (f"[{count}, w{i}]" if first == i else f"l{first}.vc"))
    return lines


def _together(exit: Exit, made: list[str], scope: dict[str, Any]) -> str:
    """The expression of the result."""
    marks = [_Mark(name) for name in made]
    text = _written(exit.rebuild(marks), scope)
    if text is not None:
        return text
    scope["rebuild"] = exit.rebuild
    return f"rebuild([{', '.join(made)}])"


class _Mark:
    """The place of a leaf in a result."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def _written(shape: Any, scope: dict[str, Any]) -> str | None:
    """The expression that makes a container of names, if it is of plain kinds."""
    kind = type(shape)
    if kind is _Mark:
        return str(shape.name)
    if shape is None:
        return "None"
    if kind is dict:
        parts = [_written(part, scope) for part in shape.values()]
        if None in parts or not all(type(key) in (str, int) for key in shape):
            return None
        pairs = [f"{key!r}: {part}" for key, part in zip(shape, parts, strict=True)]
        return f"{{{', '.join(pairs)}}}"
    if kind not in (tuple, list) and not _is_named(kind):
        return None
    parts = [_written(part, scope) for part in shape]
    if None in parts:
        return None
    listed = "".join(f"{part}, " for part in parts)
    if kind is list:
        return f"[{listed}]"
    if kind is tuple:
        return f"({listed})"
    name = f"tuple{len(scope)}"
    scope[name], scope["tuple_new"] = kind, tuple.__new__
    return f"tuple_new({name}, ({listed}))"


def _is_named(kind: Any) -> bool:
    """Whether a class is a named tuple, made as such are."""
    return (
        issubclass(kind, tuple)
        and getattr(getattr(kind, "_make", None), "__func__", None) is not None
        and kind._make.__func__.__code__ is _MAKE
    )


_MAKE = collections.namedtuple("_One", "field")._make.__func__.__code__
