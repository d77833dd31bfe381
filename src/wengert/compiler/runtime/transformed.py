"""Layer 8 · compiler: calls of compiled functions under transforms.

NOTE [calls under transforms]
Under `vmap` or forward mode, tensors hold payloads that wrap arrays: batches, and primals with
their tangents. A call is a function of these arrays, and this function is compiled: during tracing,
every array inside a payload is a symbol, and the interpreters of the levels record their operations
on it. Guards check how the payloads are nested and to which active levels they belong; the levels
themselves come from each call.

On the tape, the tensors leave their levels, the call is one node outside of all levels, and its
results enter the levels again. So the gradient of a compiled function under `vmap` is the compiled
gradient, and its cotangents are arrays. The cotangent of a tangent matters even if the tangent is
zero (NOTE [cotangents of duals]): here, tensors with a history have all their tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert.base.containers import flatten
from wengert.base.dtypes import is_differentiable
from wengert.base.ports import PORTS
from wengert.compiler.ir.decisions import Draw, Reason
from wengert.compiler.runtime.entry import Call, Entry, pulled_back
from wengert.compiler.tracing.blocks import Missing
from wengert.compiler.tracing.capture import Captured, capture
from wengert.compiler.tracing.environment import Environment
from wengert.compiler.tracing.exit import Exit, Leaf
from wengert.compiler.tracing.lowering import filled, lowered, raised, split, whole
from wengert.compiler.tracing.memory import Memory
from wengert.compiler.tracing.node import Backward
from wengert.compiler.tracing.payloads import Form, contents_of, is_of_transform, real_payload
from wengert.compiler.tracing.sym import Sym
from wengert.interp.batched import Batched
from wengert.interp.dual import Dual
from wengert.interp.levels import Level
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.modes import MODE, Mode, changed, current_mode
from wengert.tape.node import next_sequence
from wengert.tape.record import T


def kinds_of(mode: Mode) -> tuple[str, ...] | None:
    """Return the kinds of the active levels; None if the mode has anything but levels."""
    if mode.special is not None or mode.hooks or mode.dispatch or mode.tracing is not None:
        return None
    if mode.mutation is not None or mode.refusal is not None or not mode.tangents:
        return None
    return tuple(["jvp" if level.size is None else "vmap" for level in mode.levels])


# -- the environment of a call ---------------------------------------------------------------------


def _held(tensor: Any) -> Any:
    """Return the payload of a tensor as an array, or the payload of a transform."""
    held = tensor._array()
    if getattr(held, "traced", False):
        raise AttributeError("a tensor that another thread traces")
    return held


class TransformedEnvironment(Environment):
    """The environment of a call under transforms.

    Its `tensors` stand for arrays: a tensor of a transform has one for each array inside.
    """

    is_outermost = False
    skips = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.levels = tuple(PORTS.levels())
        super().__init__(*args, **kwargs)
        self._scope |= {
            "under_way": PORTS.levels,
            "Batched": Batched,
            "Dual": Dual,
            "asarray": _as_array,
            "memory": _held,
        }
        self.tensors = []
        self.owners: list[tuple[int, int]] = []
        self._before: list[tuple[int, Any, Any, list[tuple[int, Sym]]]] = []
        self.wrote = False
        for i, tensor in enumerate(self.met):
            payload = tensor._payload
            if not is_of_transform(payload):
                self.tensors.append(tensor)
                self.owners.append((i, 0))
            elif self.refusal is None:
                self._stand_ins(i, tensor)

    def _stand_ins(self, i: int, tensor: Any) -> None:
        edge = (
            LEAF if tensor._edge is not None and is_differentiable(tensor._payload.dtype) else None
        )
        if edge is not None and tensor._ext is not None and tensor._ext.hooks:
            self._refuse("an argument of a transform has hooks on its gradient")
        # writes through aliases get memory of their own where they do in eager code
        tensor._array()
        for k, content in enumerate(contents_of(whole(tensor))):
            self.tensors.append(new_tensor(content, edge))
            self.owners.append((i, k))

    def lines(self) -> list[str]:
        """Return the conditions (see `Environment.lines`)."""
        return ["levels = under_way()", *super().lines()]

    def _payload(self, payload: Any, name: str) -> None:
        if not is_of_transform(payload) or payload.owner not in self.levels:
            # a batch has the shape of an element, and a value with a tangent that of the value
            self._require(f"{name}.__class__ is not Batched and {name}.__class__ is not Dual")
            super()._payload(payload, name)
            return
        place = self.levels.index(payload.owner)
        kind = "Batched" if isinstance(payload, Batched) else "Dual"
        self._require(f"{name}.__class__ is {kind} and {name}.owner is levels[{place}]")
        for part in ("value",) if kind == "Batched" else ("primal", "tangent"):
            content = getattr(payload, part)
            if content is None:
                self._require(f"{name}.{part} is None")
                continue
            inner = f"{name}_{part}"
            self._line(f"{inner} = {name}.{part}")
            if not is_of_transform(content):
                self._line(f"if {inner}.__class__ is not ndarray: {inner} = asarray({inner})")
                content = np.asarray(content)
            self._payload(content, inner)

    def close(self) -> None:
        """Drop the tensors and arrays (see `Environment.close`)."""
        super().close()
        self._before = []

    def is_writable(self, leaf: Leaf) -> bool:
        """Return whether a leaf is a view of an array inside a tensor of a transform."""
        if leaf.kind not in ("given", "window", "shared", "view"):
            return False
        place: int = leaf.what if leaf.kind == "given" else leaf.what.place
        return place < len(self.owners) and is_of_transform(
            self.met[self.owners[place][0]]._payload
        )

    def swap(self) -> None:
        """Make tensors of transforms hold the symbols of their stand-ins."""
        symbols: dict[int, list[tuple[int, Sym]]] = {}
        for k, ((i, _), stand_in) in enumerate(zip(self.owners, self.tensors, strict=True)):
            symbols.setdefault(i, []).append((k, stand_in._payload))
        for i, tensor in enumerate(self.met):
            payload = tensor._payload
            if is_of_transform(payload):
                tensor._payload = filled(whole(tensor), [symbol for _, symbol in symbols[i]])
                self._before.append((i, payload, tensor._edge, symbols[i]))

    def restore(self) -> None:
        """Restore the payloads of tensors of transforms, with any writes to them."""
        for i, before, edge, symbols in self._before:
            tensor = self.met[i]
            written = [k for k, symbol in symbols if symbol.storage.writes]
            payload = real_payload(tensor._payload)
            arrays = [symbol.array for _, symbol in symbols]
            kept = list(map(id, contents_of(payload))) == list(map(id, arrays))
            if written or not kept or tensor._edge is not edge:
                self.wrote = True
            tensor._payload = before if kept else payload
        self._before = []

    def pulled(
        self, places: Sequence[int], pull: Callable[[list[Any]], Sequence[Any]]
    ) -> list[tuple[int, Any]]:
        """Return the payloads of gradients by index (see `Environment.pulled`)."""
        wanted = sorted({self.owners[k][0] for k in places})
        found = dict(zip(wanted, pull([self.met[i] for i in wanted]), strict=True))
        parts = {i: split(g, self.met[i], self.levels) for i, g in found.items() if g is not None}
        made = []
        for k in places:
            i, part = self.owners[k]
            if i in parts and parts[i][part] is not None:
                made.append((k, parts[i][part]._payload))
        return made


def _as_array(content: Any) -> Any:
    return content if is_of_transform(content) else np.asarray(content)


class Results:
    """The structure of a function's results over tensors outside of all levels.

    It is the `rebuild` of an exit, and returns these tensors unchanged.
    """

    def __init__(
        self,
        leaves: list[tuple[str, Any, Any]],
        rebuild: Callable[[list[Any]], Any],
    ) -> None:
        self._leaves = leaves
        self._rebuild = rebuild

    def __call__(self, flat: list[Any]) -> list[Any]:
        return flat

    def raised(self, flat: list[Any], met: Sequence[Any], levels: Sequence[Level]) -> Any:
        """Return the results at the levels of a call."""
        parts = iter(flat)
        leaves: list[Any] = []
        for kind, what, cls in self._leaves:
            if kind in ("given", "again"):
                leaves.append((met if kind == "given" else leaves)[what])
                continue
            leaf = next(parts) if kind == "plain" else raised(what, parts, levels)
            if kind == "lifted" and leaf.__class__ is not cls:
                leaf.__class__ = cls
            leaves.append(leaf)
        return self._rebuild(leaves)

    def lifted(self) -> Iterator[bool]:
        """Yield, for each tensor of the flat list, whether it is part of a tensor of a level."""
        for kind, what, _ in self._leaves:
            if kind not in ("given", "again"):
                yield from [kind == "lifted"] * _count(what if kind == "lifted" else None)


def _count(form: Form | None) -> int:
    return 1 if form is None else sum(map(_count, form.parts))


class Lowered:
    """A function with its results as tensors outside of all levels, in a list.

    Attributes
    ----------
    original, results: The result of the last call, and its structure over the list.
    """

    def __init__(self, function: Callable[..., Any], met: Sequence[Any]) -> None:
        self.function = function
        self._met = met
        self.original: Any = None
        self.results: Results | None = None

    @property
    def __code__(self) -> Any:
        return self.function.__code__

    def __call__(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Call the function, and return its tensors outside of all levels."""
        result = self.function(*args, **kwargs)
        mode = current_mode()
        assert mode is not None
        leaves, rebuild = flatten(result)
        trace = mode.tracing
        made: list[tuple[str, Any, Any]] = []
        flat: list[Any] = []
        for leaf in leaves:
            payload = leaf._payload if isinstance(leaf, TensorBase) else None
            if not is_of_transform(payload):
                made.append(("plain", None, None))
                flat.append(leaf)
                continue
            known = (("given", self._met), ("again", leaves[: len(made)]))
            found = [(k, i) for k, ts in known for i, one in enumerate(ts) if one is leaf]
            if found:
                made.append((*found[0], None))
                continue
            if trace is not None and leaf._edge is LEAF:
                trace.give_up("a result is a new leaf of a transform")
            parts: list[Any] = []
            form = lowered(leaf, mode.levels, parts)
            made.append(("lifted", form, type(leaf)))
            # in eager code, writes never reach memory that a tangent shares
            flat += [
                T.clone(part) if tangent and getattr(part._payload, "of_input", False) else part
                for part, tangent in zip(parts, _tangents(form), strict=True)
            ]
        # `rebuild` keeps the list alive: drop its tensors
        leaves[:] = [None] * len(leaves)
        self.original = result
        self.results = Results(made, rebuild)
        return flat

    until = __call__.__code__
    """The code at which the state of the function ends (see NOTE [states])."""


def _tangents(form: Form | None, within: bool = False) -> Iterator[bool]:
    """Yield, for each part of a form, whether it is a tangent."""
    if form is None:
        yield within
        return
    for k, part in enumerate(form.parts):
        yield from _tangents(part, within or (k == 1 and not form.batch))


def capture_transformed(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    environment: TransformedEnvironment,
    by_blocks: bool,
    missing: Missing | None,
) -> Captured:
    """Trace `function` at the active levels (see `capture`)."""
    below = Lowered(function, environment.met)
    captured = capture(below, args, kwargs, environment, by_blocks, missing)
    results, exit = below.results, captured.exit
    assert results is not None
    leaves, _ = flatten(below.original)
    if exit is not None:
        why = None
        if environment.wrote:
            why = "it writes to a tensor of a transform"
        elif exit.said:
            why = "it prints"
        elif any(
            (inside and leaf.kind != "tensor") or environment.is_writable(leaf)
            for leaf, inside in zip(exit.leaves[: exit.count], results.lifted(), strict=True)
        ):
            why = "a result shares memory with an argument of a transform"
        elif exit.roots:
            # writes to one would not reach the history, the version or the tangent of another
            why = "its results share memory"
        elif exit.backward is not None and (exit.effects or _draws(captured)):
            # second derivatives, which transforms may need, run the function again
            what = "writes to tensors" if exit.effects else "draws random numbers"
            why = f"it {what} and is differentiated from outside"
        if why is not None:
            captured.exit = None
            captured.trace.broken = Reason(why, None)
            captured.trace.unmask()
        else:
            exit.rebuild = results
    for leaf in leaves:
        if isinstance(leaf, TensorBase):
            leaf._payload = real_payload(leaf._payload)
    captured.result = below.original
    return captured


def _draws(captured: Captured) -> bool:
    return any(isinstance(item, Draw) for item in captured.trace.items)


class TransformedCall(Call):
    """The state shared by the nodes of a call under transforms."""

    entry: TransformedEntry

    def pull_again(
        self,
        given: Any,
        met: list[Memory],
        saved: Any,
        inputs: list[Any],
        cotangents: Sequence[Any],
        create_graph: bool = True,
    ) -> Any:
        """Return gradients of `inputs` (see `Call.pull_again`)."""
        args, kwargs, levels, places = given
        owners = [self.entry.owners[place] for place in places]
        wanted = sorted({i for i, _ in owners})
        before = current_mode()
        known = {level.number: level for level in (*PORTS.levels(), *levels)}
        try:
            MODE.set(changed(before, levels=levels))
            start = next_sequence()
            outputs = self.again((args, kwargs), met, saved)
            MODE.set(changed(before, levels=tuple(known[n] for n in sorted(known))))
            sources = [met[i].tensor for i in wanted]
            found = pulled_back(outputs, sources, cotangents, start, create_graph)
            parts = {
                i: split(g, met[i].tensor, levels)
                for i, g in zip(wanted, found, strict=True)
                if g is not None
            }
        finally:
            MODE.set(before)
        return [parts[i][k] if i in parts else None for i, k in owners]

    def leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Run the function and return the tensors outside of all levels in its result."""
        found = self.entry.match(args, kwargs)
        assert found is not None
        tensors = found[0]
        payloads = [tensor._payload for tensor in tensors]
        try:
            # give the tensors the payloads that they had during tracing
            for tensor in tensors:
                tensor._payload = whole(tensor)
            return Lowered(self.entry.function, tensors)(*args, **kwargs)
        finally:
            for tensor, payload in zip(tensors, payloads, strict=True):
                tensor._payload = payload


class TransformedEntry(Entry):
    """The traces of one environment under transforms."""

    environment: TransformedEnvironment

    @property
    def owners(self) -> list[tuple[int, int]]:
        """For each array of the environment, its tensor and its index in that tensor."""
        return self.environment.owners

    def weigh(self, captured: Captured) -> None:
        """Skip the estimate: under transforms, compiled code always pays."""

    def run(
        self, tensors: list[Any], arrays: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run the function at the active levels, and return its result."""
        if self.left is not None:
            return self.function(*args, **kwargs)
        exit, known = self.tree.run(self.contents(tensors, arrays))
        return self.finished(exit, known, tensors, arrays, (args, kwargs), tensors)

    def memory(self, tensors: list[Any], arrays: list[Any]) -> tuple[list[Any], list[Any]]:
        """Return the memory of the inputs, and version cells (see `Entry.memory`)."""
        held: list[Any] = []
        cells: list[Any] = []
        for tensor in tensors:
            if is_of_transform(tensor._array()):
                parts = [np.asarray(part) for part in contents_of(whole(tensor))]
                held += parts
                cells += [None] * len(parts)
            else:
                held.append(tensor._array())
                cells.append(tensor._vc)
        return [*held, *arrays], cells

    def finished(
        self,
        exit: Exit,
        known: Any,
        tensors: list[Any],
        arrays: list[Any],
        given: Any,
        met: Any,
        memory: list[Any] | None = None,
    ) -> Any:
        """Return the results of a run that ended at `exit` (see `Entry.finished`)."""
        levels = tuple(PORTS.levels())
        sources = () if exit.backward is None else exit.backward.sources
        wanted = {self.owners[place][0] for place in sources}
        flat: list[Any] = []
        for i, tensor in enumerate(tensors):
            if i in wanted:
                lowered(tensor, levels, flat)
            elif is_of_transform(tensor._payload):
                flat += [None for _ in contents_of(whole(tensor))]
            else:
                flat.append(tensor)
        if sources:
            given = (*given, levels, sources)
        made = super().finished(exit, known, flat, arrays, given, met)
        results: Any = exit.rebuild
        return results.raised(made, tensors, levels)

    def call_of(self, exit: Exit, backward: Backward | None) -> Call:
        return TransformedCall(self, exit, backward=backward)
