"""Layer 8 · compiler: the fast path of a call, as one generated Python function.

If the traces of an environment form a small tree, a call consists of three steps: check the
guards, call the executables from decision to decision, wrap the results. Code generated for one
environment does this in a fraction of the time of the general path (`Entry.run`), which remains the
reference for its behaviour, and is taken for other traces.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from wengert.compiler.ir.executable import RAISED
from wengert.compiler.ir.programs import Value
from wengert.compiler.objects.guards import compiled
from wengert.compiler.runtime.entry import Entry
from wengert.compiler.tracing.blocks import key_of
from wengert.compiler.tracing.exit import Exit
from wengert.compiler.tracing.memory import held_by
from wengert.compiler.tracing.node import attach
from wengert.compiler.tracing.reports import are_known
from wengert.tape.base import LEAF, TensorBase

MISS = object()
"""The result of a quick call whose conditions do not hold."""
_MOST = 24
"""The largest number of blocks to write out."""


def quick_call(entry: Entry) -> Callable[..., Any] | None:
    """Return the fast path through `entry`, or None if there is none."""
    if entry.layout is not None or not _in_order(entry) or not entry.verified:
        return None
    blocks = [*entry.tree.blocks()]
    if any(block.draws for block in blocks):
        # a call that misses runs again and would draw twice
        return None
    exits = [block.exit for block in blocks if block.exit is not None]
    environment = entry.environment
    recorded = any(e.outputs for e in exits)
    if not exits or any(e.effects or e.put for e in exits):
        return None
    if recorded and (entry.by_blocks or not environment.is_outermost):
        return None
    conditions = environment.lines()
    names = [f"p{i}" for i in range(len(environment.tensors))]
    names += [f"n{i}" for i in range(len(environment.arrays))]
    scope = {
        **environment.scope(),
        "MISS": MISS,
        "are_known": are_known,
        "RAISED": RAISED,
        "LEAF": LEAF,
        "new": TensorBase.__new__,
        "attach": attach,
        "held_by": held_by,
    }
    if not entry.by_blocks:
        # the blocks of a graph are built when needed, and linked code replaces most
        entry.tree.prepare()
    writer = _Writer(entry, names, scope)
    try:
        if entry.by_blocks:
            writer.linked(blocks)
        elif len(blocks) > _MOST:
            raise _Unwritten
        else:
            writer.block(entry.tree.root, {})
    except _Unwritten:
        return None
    given, lines = [*writer.given], writer.lines
    seen = [*given, *[names[i] for i in entry.strides if names[i] not in given]]
    lines = [
        # None may be a result
        *[line.replace("return None", "return MISS") for line in conditions],
        *[f"if not are_known({sorted(entry.streams)}): return MISS"] * bool(entry.streams),
        *[f"if not {name}.flags.c_contiguous: return MISS" for name in seen],
        *lines,
    ]
    source = "\n".join(
        [
            "def quick(args, kwargs):",
            "    try:",
            *[f"        {line}" for line in lines],
            # run the function itself, which raises or catches the error of a step
            "    except (AttributeError, LookupError, TypeError, *RAISED):",
            "        return MISS",
        ]
    )
    exec(compiled(source, "<wengert quick call>"), scope)
    return scope["quick"]


class _Unwritten(Exception):
    """Raised for something that only the general path handles."""


class _Writer:
    """Writes the blocks of a tree as statements.

    Attributes
    ----------
    lines: The statements.
    given: The inputs that programs take.
    """

    def __init__(self, entry: Entry, names: list[str], scope: dict[str, Any]) -> None:
        self.lines: list[str] = []
        self.given: dict[str, None] = {}
        self._entry = entry
        self._names = names
        self._scope = scope
        self._count = 0
        self._tensors = len(entry.environment.tensors)
        self._inputs = dict(zip(entry.tree.inputs, names, strict=True))

    def block(self, block: Any, known: dict[Value, str], margin: str = "") -> None:
        """Write a block and its successors; `known` maps values to their expressions.

        Raises
        ------
        _Unwritten: If only the general path handles it.
        """
        self._count += 1
        number = self._count
        if block.steps:
            own = [self._inputs[v] for v in block.inputs if v in self._inputs]
            self.given |= dict.fromkeys(own)
            args = ", ".join([self._read(v, known) for v in block.inputs])
            call = getattr(block.executable, "call", None)
            run, made = f"run{number}", f"r{number}"
            self._scope[run] = block.executable if call is None else call
            self.lines.append(f"{margin}{made} = {run}({args if call else f'[{args}]'})")
            if call:
                self.lines.append(f"{margin}if {made} is None: return MISS")
            known = {**known, **{v: f"{made}[{i}]" for i, v in enumerate(block.outputs)}}
        guard = block.guard
        if guard is None:
            self._exit(number, block.exit, known, margin)
            return
        if guard.kind != "bool" or guard.value not in known:
            raise _Unwritten
        for outcome, word in ((True, f"if {known[guard.value]}:"), (False, "else:")):
            self.lines.append(margin + word)
            following = block.children.get(key_of(outcome))
            if following is None:
                self.lines.append(f"{margin}    return MISS")
            else:
                self.block(following, known, f"{margin}    ")

    def linked(self, blocks: list[Any]) -> None:
        """Write the call of the function that the blocks of a graph are linked to."""
        # runs that record a history note which blocks they visit
        native = None if self._entry.records else self._entry.tree.native
        if native is None:
            raise _Unwritten
        self.given = dict.fromkeys(self._inputs.values())
        self._scope["run"] = native.run
        self.lines.append(f"ended = run([{', '.join(self._inputs.values())}])")
        self.lines.append("if ended is None or ended[1] is None: return MISS")
        for number, block in enumerate(blocks):
            if block.exit is None:
                continue
            self.lines.append(f"if ended[0] == {number}:")
            known = {value: f"ended[1][{i}]" for i, value in enumerate(native.results[number])}
            self._exit(number, block.exit, known, "    ")

    def _read(self, value: Value, known: dict[Value, str]) -> str:
        """Return the expression of an input of a program."""
        if value.constant is not None:
            # blocks that differ only in constants share a program
            name = f"k{len(self._scope)}"
            self._scope[name] = value.constant
            return name
        return self._inputs.get(value) or known[value]

    def _exit(self, number: int, exit: Exit, known: dict[Value, str], margin: str) -> None:
        plain = [
            leaf.kind in ("tensor", "constant", "given")
            and leaf.strides is None
            and (leaf.version is None or (leaf.version[0] is not None and leaf.version[2] >= 0))
            and (leaf.kind != "tensor" or leaf.what in known)
            for leaf in exit.leaves
        ]
        if not all(plain) or exit.repeats or exit.roots:
            raise _Unwritten
        made = [f"{number}_{i}" for i in range(len(exit.leaves))]
        lines = self._says(number, exit, {**self._inputs, **known}) if exit.said else []
        for name, leaf in zip(made, exit.leaves, strict=True):
            lines += _leaf(exit, name, leaf, made, known, self._names, self._scope)
        if exit.backward is not None:
            lines += self._history(number, exit, [f"l{name}" for name in made], known)
        result = _together(exit, [f"l{name}" for name in made], self._scope)
        self.lines += [margin + line for line in [*lines, f"return {result}"]]

    def _history(
        self, number: int, exit: Exit, leaves: list[str], known: dict[Value, str]
    ) -> list[str]:
        """Return the statements that record the call on the tape."""
        backward = exit.backward_of(known)
        assert backward is not None
        self._scope[f"call{number}"] = self._entry.call_to(exit, backward)
        sources = "".join(f"t{i}, " for i in backward.sources)
        outs, kept = ("".join(f"{leaves[i]}, " for i in n) for n in (exit.outputs, exit.kept))
        saved = ", ".join([self._read(value, known) for value in backward.saved])
        met = "".join(f"t{i}, " for i in range(self._tensors))
        reads = ", ".join(f"met[{i}]" for i in exit.reads)
        return [
            f"node = attach(call{number}, ({sources}), ({outs}), [{saved}], (args, kwargs)"
            f", ({kept}))",
            f"node.met = met = held_by(({met}))",
            f"node.reads = [{reads}]",
        ]

    def _says(self, number: int, exit: Exit, names: dict[Value, str]) -> list[str]:
        """Return the statement that prints; nothing after it may raise."""
        said = {
            v: f"s{number}_{i}" for i, v in enumerate(v for one in exit.said for v in one.values())
        }
        if any(value.constant is None and value not in names for value in said):
            raise _Unwritten
        self._scope[f"say{number}"] = exit.say
        self._scope |= {name: value for value, name in said.items()}
        values = [f"{name}: {names[v]}" for v, name in said.items() if v.constant is None]
        tensors = "".join(f"t{i}, " for i in range(self._tensors))
        return [f"say{number}({{{', '.join(values)}}}, ({tensors}), (args, kwargs))"]


def _in_order(entry: Entry) -> bool:
    """Return whether the traces hold for inputs in C order."""
    inputs = entry.tree.inputs
    return all(_strides(inputs[i]) == steps for i, steps in entry.strides.items())


def _strides(value: Value) -> tuple[int, ...]:
    """Return the strides of an array in C order."""
    steps = [value.dtype.itemsize]
    for size in value.shape[:0:-1]:
        steps.append(steps[-1] * size)
    return tuple(steps[::-1]) if value.shape else ()


def _leaf(
    exit: Exit,
    name: str,
    leaf: Any,
    made: list[str],
    known: dict[Value, str],
    names: list[str],
    scope: dict[str, Any],
) -> list[str]:
    """Return the lines that make a leaf of a result; `made` lists the names of all leaves."""
    own, constant = f"l{name}", f"c{name}"
    if leaf.kind == "constant":
        scope[constant] = leaf.what
        return [f"{own} = {constant}"]
    if leaf.kind == "given":
        place = names[leaf.what]
        return [f"{own} = {place if place[0] == 'n' else 't' + place[1:]}"]
    payload = f"{known[leaf.what]}[()]" if exit.is_scalar(leaf) else known[leaf.what]
    if leaf.chain:
        scope["asarray"] = np.asarray
    for k, (prim, params) in enumerate(leaf.chain):
        scope[f"v{name}_{k}"] = partial(prim.kernel, **params)
        payload = f"asarray(v{name}_{k}({payload}))"
    scope[constant] = leaf.cls
    lines = [
        f"{own} = new({constant})",
        f"{own}._payload = {payload}",
        f"{own}._edge = {'LEAF' if leaf.leaf else 'None'}",
        f"{own}._vc = {own}._ext = None",
    ]
    if leaf.version is not None:
        count, scope[f"w{name}"], first = leaf.version
        cell = f"[{count}, w{name}]" if made[first] == name else f"l{made[first]}._vc"
        lines.append(f"{own}._vc = {cell}")
    return lines


def _together(exit: Exit, made: list[str], scope: dict[str, Any]) -> str:
    """Return the expression of the result."""
    marks = [_Mark(name) for name in made]
    text = _written(exit.rebuild(marks), scope)
    if text is not None:
        return text
    # each exit has its own
    name = f"rebuild{len(scope)}"
    scope[name] = exit.rebuild
    return f"{name}([{', '.join(made)}])"


class _Mark:
    """The place of a leaf in a result."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def _written(shape: Any, scope: dict[str, Any]) -> str | None:
    """Return the expression of a nested container of leaves; None if a class is not builtin."""
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


def _is_named(kind: type) -> bool:
    """Return whether a class is a named tuple with the standard constructor."""
    make = getattr(getattr(kind, "_make", None), "__func__", None)
    return issubclass(kind, tuple) and getattr(make, "__code__", None) is _MAKE


_MAKE: Any = collections.namedtuple("_One", "field").__dict__["_make"].__func__.__code__
