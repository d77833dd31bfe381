"""Layer 7 · autograd: custom Functions under transforms.

NOTE [Functions under transforms]
A Function is an operation of its own at every level: `forward` is never differentiated through.
Under a `jvp` it is applied to values without their tangents, and the tangents of its results come
from its `jvp`, or, if it has none, from its `backward`, which is transposed (see NOTE [tangents] in
`wengert.interp.dual`). Under a `vmap` its own `vmap` takes the batch apart, if it has one;
otherwise its operations run on the batch, as ``generate_vmap_rule`` asks for.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import Any

from wengert.base.containers import flatten
from wengert.interp.levels import Level, Transforms, levels_of
from wengert.ops.like import zeros_like
from wengert.ops.permute import movedim
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.levels import brought, leads_outside, move
from wengert.tape.modes import MODE, changed, current_mode, enable_grad
from wengert.tape.record import T

__all__ = ["applied_at", "level_of", "lowered"]

VmapInfo = namedtuple("VmapInfo", ["batch_size", "randomness"])


def level_of(function: Any, args: tuple[Any, ...]) -> Level | None:
    """The level at which the call of a Function needs more than its operations."""
    found: dict[int, Level] = {}
    for arg in args:
        if isinstance(arg, TensorBase):
            found.update(levels_of(arg.payload))
    for number in sorted(found, reverse=True):
        level = found[number]
        if level.size is None or _has_own(function, "vmap"):
            return level
    return None


def _has_own(function: Any, name: str) -> bool:
    return any(name in cls.__dict__ for cls in function.__mro__[:-2])


def applied_at(level: Level, function: Any, args: tuple[Any, ...]) -> Any:
    """The result of a Function whose arguments belong to `level`."""
    mode = current_mode()
    assert mode is not None
    if level.size is not None:
        return _mapped(level, function, args)
    # a cotangent reaches what is recorded by way of the level (see NOTE [sides of a level])
    args = tuple(
        brought(a, (level,)) if isinstance(a, TensorBase) and a.edge is not None else a
        for a in args
    )
    primals = [move("primal_of", a, level, True) if isinstance(a, TensorBase) else a for a in args]
    # computed with the tape of its own, so that the tangents can ask its node
    tangents = [
        move("tangent_of", a, level, True)
        if isinstance(a, TensorBase) and level.number in levels_of(a.payload)
        else None
        for a in args
    ]
    output, slopes = _with_tangents(level, function, primals, tangents)
    several = isinstance(output, tuple)
    outputs = output if several else (output,)
    made = tuple(
        out if slope is None or not isinstance(out, TensorBase) else _joined(out, slope, level)
        for out, slope in zip(outputs, slopes, strict=True)
    )
    return made if several else made[0]


def _joined(out: Any, slope: Any, level: Level) -> Any:
    return T.add(move("constant", out, level, True), move("infinitesimal", slope, level, True))


def _with_tangents(
    level: Level, function: Any, primals: list[Any], tangents: list[Any]
) -> tuple[Any, Any]:
    if not _has_own(function, "jvp"):
        return _transposed(level, function, primals, tangents)
    output, node = function._applied(tuple(primals))
    made = outputs = output if isinstance(output, tuple) else (output,)
    if level_of(function, tuple(primals)) is not None:
        # that was for what forward saves: at the levels below the rules count as well
        output = _applied(function, tuple(primals))
        outputs = output if isinstance(output, tuple) else (output,)
    known = zip((*primals, *made), (*primals, *outputs), strict=True)
    slopes = function.jvp(_Context(node, known), *tangents)
    if not isinstance(slopes, tuple):
        slopes = (slopes,)
    if len(slopes) != len(outputs):
        raise RuntimeError(
            f"{function.__name__}.jvp must return one tangent for each output of forward: "
            f"{len(outputs)}, not {len(slopes)}"
        )
    for out, slope in zip(outputs, slopes, strict=True):
        if slope is not None and tuple(slope.payload.shape) != tuple(out.payload.shape):
            raise RuntimeError(
                f"{function.__name__}.jvp returned a tangent of shape "
                f"{list(slope.payload.shape)} for an output of shape {list(out.payload.shape)}"
            )
    return output, slopes


class _Context:
    """What `jvp` gets for ctx: the node's attributes, and its saved tensors tied to the graph."""

    def __init__(self, node: Any, known: Iterable[tuple[Any, Any]]) -> None:
        self._node = node
        # arguments and outputs of forward, with what they stand for
        self._known = [(one, other) for one, other in known if isinstance(one, TensorBase)]

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved for `jvp`, or else for `backward`."""
        node = self._node
        saved = node._saved_for_forward
        if not saved:
            saved = node.saved_tensors if node._recorded else node._to_save
        return tuple(self._tied(tensor) for tensor in saved)

    def _tied(self, tensor: Any) -> Any:
        if tensor is None:
            return None
        for one, other in self._known:
            if one.payload is tensor.payload:
                return other
        return tensor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def __delattr__(self, name: str) -> None:
        if name in vars(self):
            super().__delattr__(name)
        else:
            delattr(self._node, name)


def _transposed(
    level: Level, function: Any, primals: list[Any], tangents: list[Any]
) -> tuple[Any, Any]:
    """The outputs, and their tangents by the transpose of `backward`, transposed."""
    mode = current_mode()
    with enable_grad():
        inside = [
            new_tensor(p.payload, LEAF, p.share_version())
            if t is not None and p.edge is None
            else T.alias(p)
            if t is not None
            else p
            for p, t in zip(primals, tangents, strict=True)
        ]
        output = _applied(function, tuple(inside))
        if output is NotImplemented:
            output, _ = function._applied(tuple(inside))
        ends = output if isinstance(output, tuple) else (output,)
        smooth = [i for i, end in enumerate(ends) if getattr(end, "edge", None) is not None]
        # with all levels of the call, since what is recorded must not mix elements of a batch
        have = levels_of(*[v.payload for v in (*primals, *tangents) if isinstance(v, TensorBase)])
        others = [have[number] for number in sorted(have) if number != level.number]
        zeros = [brought(zeros_like(ends[i]), others) for i in smooth]
        unknown = [new_tensor(zero.payload, LEAF) for zero in zeros]
        slopes: list[Any] = [None] * len(ends)
        wanted = [i for i, t in enumerate(tangents) if t is not None]
        if not any(isinstance(p, TensorBase) and p.edge is not None for p in primals):
            # recorded for the tangents only
            ends = tuple(
                new_tensor(e.payload, None, e.share_version()) if i in smooth else e
                for i, e in enumerate(ends)
            )
            recorded, output = output, ends if isinstance(output, tuple) else ends[0]
            ends = recorded if isinstance(recorded, tuple) else (recorded,)
        if not smooth or not wanted:
            return output, slopes
        grads = run_grad(
            [ends[i] for i in smooth], [inside[i] for i in wanted], unknown, True, True
        )
        pairs = [
            (grad, tangents[i])
            for i, grad in zip(wanted, grads, strict=True)
            if grad is not None and grad.edge is not None
        ]
        if pairs:
            outer = mode is None or mode.records
            sources, seeds = zip(*pairs, strict=True)
            found = run_grad(sources, unknown, seeds, True, outer)
            own = [*unknown, *(inside[i] for i in wanted)]
            if outer and not leads_outside(found, own):
                found = [f if f is None else new_tensor(f.payload) for f in found]
            for i, slope in zip(smooth, found, strict=True):
                slopes[i] = slope
    return output, slopes


def lowered(grads: Any, cotangents: list[Any], levels: Iterable[Level]) -> tuple[Any, ...]:
    """What a `backward` returned, without levels that neither cotangents nor inputs belong to.

    It gets them if it uses transforms itself; it is constant there.
    """
    known = levels_of(*[g.payload for g in cotangents if g is not None])
    known.update((level.number, level) for level in levels)
    made = []
    for grad in grads:
        extra = levels_of(grad.payload) if isinstance(grad, TensorBase) else {}
        for number in sorted(extra.keys() - known.keys(), reverse=True):
            level = extra[number]
            if level.size is None:
                grad = move("primal_of", grad, level, True)
            else:
                grad = T.select(move("unwrap", grad, level, True), dim=0, index=0)
        made.append(grad)
    return tuple(made)


def _mapped(level: Level, function: Any, args: tuple[Any, ...]) -> Any:
    """The result of the Function's own `vmap`."""
    dims, whole = [], []
    for arg in args:
        batched = isinstance(arg, TensorBase) and level.number in levels_of(arg.payload)
        dims.append(0 if batched else None)
        whole.append(move("unwrap", arg, level, True) if batched else arg)
    before = current_mode()
    below = tuple(one for one in before.levels if one is not level) if before else ()
    MODE.set(changed(before, levels=below))
    try:
        made = function.vmap(VmapInfo(level.size, level.randomness), tuple(dims), *whole)
    finally:
        MODE.set(before)
    if not (isinstance(made, tuple) and len(made) == 2):
        raise RuntimeError(
            f"{function.__name__}.vmap must return a pair (output, out_dims), not "
            f"{type(made).__name__}"
        )
    output, out_dims = made
    leaves, rebuild = flatten(output)
    places = list(out_dims) if isinstance(out_dims, tuple | list) else [out_dims] * len(leaves)
    return rebuild(
        [
            out if dim is None else move("wrap", movedim(out, dim, 0) if dim else out, level, True)
            for out, dim in zip(leaves, places, strict=True)
        ]
    )


def _applied(function: Any, args: tuple[Any, ...]) -> Any:
    """The result of a Function, NotImplemented where its operations do by themselves."""
    level = level_of(function, args)
    return NotImplemented if level is None else applied_at(level, function, args)


Transforms.applied = staticmethod(_applied)
Transforms.lowered = staticmethod(lowered)
