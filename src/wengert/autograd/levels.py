"""Layer 7 · autograd: custom Functions under transforms.

NOTE [Functions under transforms]
A Function is an operation of its own at every level: `forward` is never differentiated through.
Under a `jvp` it is applied to values without their tangents, and the tangents of its results come
from its `jvp`, or, if it has none, from its `backward`, which is transposed (see NOTE [tangents] in
`wengert.interp.dual`). Its node gets cotangents as those of operations do, with what was saved of
arguments and results as it is at the level. Where that cannot be (it has no `backward`, or one that
is not differentiable), or its rules close over what requires a gradient, values and tangents leave
the level, are recorded below it, and come back. Under a `vmap` its own `vmap` takes the batch
apart, if it has one; otherwise its operations run on the batch, as ``generate_vmap_rule`` asks for.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import Any

from wengert.autograd.function_outputs import finish
from wengert.base.containers import flatten
from wengert.base.dtypes import is_differentiable
from wengert.interp.levels import Level, Transforms, levels_of
from wengert.ops.like import zeros_like
from wengert.ops.permute import movedim
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, TensorBase, new_tensor, version_of
from wengert.tape.levels import brought, leads_outside, move
from wengert.tape.modes import (
    MODE,
    changed,
    current_mode,
    enable_grad,
    is_recording,
    no_grad,
    set_grad_enabled,
)
from wengert.tape.node import edge_of
from wengert.tape.record import T
from wengert.tape.views import move_edge

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
    if level.size is not None:
        return _mapped(level, function, args)
    found = levels_of(*[a.payload for a in args if isinstance(a, TensorBase)])
    order = [found[number] for number in sorted(found)]
    needs = tuple(isinstance(a, TensorBase) and a.edge is not None for a in args)
    recorded = is_recording() and any(needs)
    raised = tuple(
        brought(arg, order) if recorded and need else arg
        for arg, need in zip(args, needs, strict=True)
    )
    if not recorded or not _has_backward(function):
        return _around(level, function, raised)
    edges = [edge_of(a) for a, need in zip(args, needs, strict=True) if need]
    closing = function.closes_over(args[0], edges)
    with no_grad():
        parts = [move("primal_of", a, level) if isinstance(a, TensorBase) else a for a in raised]
        tangents = _tangents(level, raised, False)
        with enable_grad():
            primals = [
                part if t is None else _recorded(part)
                for part, t in zip(parts, tangents, strict=True)
            ]
            made, node = function._applied(tuple(primals))
        with set_grad_enabled(closing):
            output, slopes = _with_tangents(level, function, primals, tangents, (made, node), args)
        several = isinstance(output, tuple)
        ends = output if several else (output,)
        if closing and _lead_outside(slopes, node):
            # cotangents reach what the rules close over by way of their values below the level
            if level.number in levels_of(*[v.payload for v in (*ends, *slopes) if v is not None]):
                raise NotImplementedError(
                    f"the rules of {function.__name__} close over a tensor with a tangent and over "
                    "one that requires a gradient: pass them as arguments"
                )
            with enable_grad():
                return _around(level, function, raised)
        outs = tuple(
            _joined(new_tensor(end.payload), slope, level)
            if isinstance(end, TensorBase) and is_differentiable(end.payload.dtype)
            else new_tensor(end.payload, None, end.share_version())
            if isinstance(end, TensorBase)
            else end
            for end, slope in zip(ends, slopes, strict=True)
        )
    known = _Known((*primals, *(made if several else (made,))), (*raised, *outs))
    final = function._node_class(needs)
    final.__dict__.update(node.__dict__)
    final.needs_input_grad = needs
    final.edges = tuple([edge_of(a) for a in raised if isinstance(a, TensorBase)])
    final._to_save = tuple(None if t is None else known.of(t) for t in node.saved_tensors)
    final._saved_for_forward = ()
    final._constants = tuple(map(known.of, node._constants))
    final._dirty = ()
    result = finish(final, raised, outs if several else outs[0], True)
    return _with_written(args, primals, made, result)


def _recorded(tensor: Any) -> Any:
    """`tensor` as the result of an operation, which may be written to."""
    alias = T.alias(new_tensor(tensor.payload, LEAF, tensor.share_version()))
    return new_tensor(alias.payload, alias.edge, alias.vc)


def _with_written(args: tuple[Any, ...], primals: list[Any], made: Any, result: Any) -> Any:
    """`result`, with arguments that `forward` wrote to in place of what stands for them."""
    if not isinstance(made, tuple):
        return _with_written(args, primals, (made,), (result,))[0]
    results = list(result)
    for i, out in enumerate(made):
        for arg, primal in zip(args, primals, strict=True):
            if out is primal and isinstance(out, TensorBase):
                _overwrite(arg, results[i])
                results[i] = arg
    return tuple(results)


def _lead_outside(slopes: Iterable[Any], node: Any) -> bool:
    """Whether tangents can be differentiated by more than the arguments of a Function."""
    own = [edge for edge in node.edges if edge is not None]
    leaves = []
    while own:
        edge = own.pop()
        if edge.seq > 0:
            leaves.append(edge)
        else:
            own += [e for e in (edge.node if edge.seq == 0 else edge).edges if e is not None]
    for leaf in leaves:
        leaf.extra().ended = True
    return leads_outside([slope for slope in slopes if slope is not None], ())


def _around(level: Level, function: Any, args: tuple[Any, ...]) -> Any:
    """The result of a Function by way of values below `level`, from which cotangents come back."""
    primals = [move("primal_of", a, level, True) if isinstance(a, TensorBase) else a for a in args]
    tangents = _tangents(level, args, True)
    output, slopes = _with_tangents(level, function, primals, tangents, None, args)
    several = isinstance(output, tuple)
    outputs = output if several else (output,)
    made = tuple(
        out if slope is None or not isinstance(out, TensorBase) else _joined(out, slope, level)
        for out, slope in zip(outputs, slopes, strict=True)
    )
    return _with_written(args, primals, output, made if several else made[0])


def _tangents(level: Level, args: tuple[Any, ...], local: bool) -> list[Any]:
    return [
        move("tangent_of", a, level, local)
        if isinstance(a, TensorBase) and level.number in levels_of(a.payload)
        else None
        for a in args
    ]


def _has_backward(function: Any) -> bool:
    """Whether a Function has a reverse rule that can be computed with values of transforms."""
    rule = next(
        (c.__dict__["backward"] for c in function.__mro__ if "backward" in c.__dict__), None
    )
    return _has_own(function, "backward") and not getattr(
        getattr(rule, "__func__", rule), "once", False
    )


def _joined(out: Any, slope: Any, level: Level) -> Any:
    if level.number not in levels_of(out.payload):
        out = move("constant", out, level, True)
    if slope is None:
        return out
    if level.number in levels_of(slope.payload):
        # the rule itself uses a tensor with a tangent
        slope = move("primal_of", slope, level, True)
    return T.add(out, move("infinitesimal", slope, level, True))


def _overwrite(tensor: Any, result: Any) -> None:
    """Let a tensor that `forward` wrote to be the result that stands for it."""
    if tensor.ext is not None and (tensor.ext.base is not None or tensor.ext.views):
        raise NotImplementedError(
            "a Function that writes to a view, or to a tensor with views, that carries a tangent: "
            "let it write to a clone()"
        )
    tensor.payload = result.payload
    move_edge(tensor, result.edge)


def _with_tangents(
    level: Level,
    function: Any,
    primals: list[Any],
    tangents: list[Any],
    applied: Any,
    args: tuple[Any, ...],
) -> tuple[Any, Any]:
    """The outputs of a Function, and their tangents.

    `applied` may be what `forward` gave and its node, if it has run.
    """
    if not _has_own(function, "jvp") and _has_own(function, "backward"):
        return _transposed(level, function, primals, tangents, applied)
    output, node = applied or function._applied(tuple(primals))
    made = outputs = output if isinstance(output, tuple) else (output,)
    if level_of(function, tuple(primals)) is not None:
        # that was for what forward saves: at the levels below the rules count as well
        output = _applied(function, tuple(primals))
        outputs = output if isinstance(output, tuple) else (output,)
    known = _Known((*primals, *made), (*primals, *outputs))
    tangents = [
        _given(primal, tangent, node, any(primal is out for out in made))
        for primal, tangent in zip(primals, tangents, strict=True)
    ]
    versions = [None if t is None else version_of(t) for t in tangents]
    slopes = function.jvp(_Context(node, known), *tangents)
    if not isinstance(slopes, tuple):
        slopes = (slopes,)
    if len(slopes) != len(outputs):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(outputs)} but got {len(slopes)}): {function.__name__}.jvp must return one "
            "tangent for each output of forward"
        )
    for i, (out, slope) in enumerate(zip(outputs, slopes, strict=True)):
        if slope is None:
            continue
        if not isinstance(slope, TensorBase):
            raise RuntimeError(
                f"expected Variable or None (got {type(slope).__name__}) for grad output {i}: "
                f"{function.__name__}.jvp must return tensors"
            )
        if tuple(slope.payload.shape) != tuple(out.payload.shape):
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the "
                "original Tensor, this is not supported. Tensor is of size "
                f"{list(out.payload.shape)} while the given forward gradient is of size "
                f"{list(slope.payload.shape)}: it is what {function.__name__}.jvp returned."
            )
        if not isinstance(out, TensorBase) or any(out is t for t in node._constants):
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {i}, but the corresponding "
                "forward output is not a differentiable Tensor. You should return None at that "
                "position instead."
            )
        _check_view(out, slope, primals, tangents, versions, args)
    return output, slopes


def _given(primal: Any, tangent: Any, node: Any, dirty: bool) -> Any:
    """What `jvp` gets as the tangent of an argument, which `forward` wrote to if it is `dirty`."""
    if not isinstance(primal, TensorBase) or not is_differentiable(primal.payload.dtype):
        return None
    if tangent is None:
        return zeros_like(primal).detach() if node._materialize else None
    # it may be written to, and others may have the same
    return T.clone(tangent) if dirty else tangent


def _check_view(
    out: Any,
    slope: Any,
    primals: list[Any],
    tangents: list[Any],
    versions: list[Any],
    args: tuple[Any, ...],
) -> None:
    """Refuse a tangent that does not lie in memory as its value does."""
    for primal, tangent, version in zip(primals, tangents, versions, strict=True):
        if out is primal and (slope is not tangent or version_of(slope) == version):
            raise RuntimeError(
                "An inplace custom Function is not modifying the forward mode gradients inplace. "
                "If the forward is modifying an input inplace, then the jvp function must modify "
                "the corresponding gradient inplace."
            )
    base = None if out.ext is None else out.ext.base
    for primal, tangent, arg in zip(primals, tangents, args, strict=True):
        if base is None or tangent is None or base not in _roots(primal):
            continue
        lies = None if slope.ext is None else slope.ext.base
        if lies is None:
            raise RuntimeError(
                "A custom Function's forward is returning a view (or an input as-is) but the jvp "
                "is not returning a view."
            )
        if lies not in _roots(tangent):
            which = "given" if arg.ext is None or arg.ext.base is None else "same base as the given"
            raise RuntimeError(
                "A custom Function is returning a view but the jvp is not returning a view of the "
                f"{which} grad input."
            )


def _roots(tensor: Any) -> _Same:
    """The tensor itself and its base."""
    return _Same((tensor, None if tensor.ext is None else tensor.ext.base))


class _Same(tuple[Any, ...]):
    """Objects, of which some may be the very one."""

    __slots__ = ()

    def __contains__(self, value: object) -> bool:
        return any(value is one for one in self)


class _Known:
    """What tensors of `forward` stand for: its arguments and its outputs."""

    def __init__(self, ones: Iterable[Any], others: Iterable[Any]) -> None:
        pairs = zip(ones, others, strict=True)
        self._pairs = [(one, other) for one, other in pairs if isinstance(one, TensorBase)]

    def of(self, tensor: Any) -> Any:
        """What `tensor` stands for, itself if that is not known."""
        for one, other in self._pairs:
            if one is tensor or one.payload is tensor.payload:
                return other
        return tensor


class _Context:
    """What `jvp` gets for ctx: the node's attributes, and its saved tensors tied to the graph."""

    def __init__(self, node: Any, known: _Known) -> None:
        self._node = node
        self._known = known

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved for `jvp`, or else for `backward`."""
        node = self._node
        saved = node._saved_for_forward
        if not saved:
            saved = node.saved_tensors if node._recorded else node._to_save
        return tuple(None if tensor is None else self._known.of(tensor) for tensor in saved)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def __delattr__(self, name: str) -> None:
        if name in vars(self):
            super().__delattr__(name)
        else:
            delattr(self._node, name)


def _transposed(
    level: Level, function: Any, primals: list[Any], tangents: list[Any], applied: Any
) -> tuple[Any, Any]:
    """The outputs, and their tangents by the transpose of `backward`, transposed."""
    mode = current_mode()
    with enable_grad():
        inside = [
            new_tensor(p.payload, LEAF, p.share_version())
            if t is not None and p.edge is None
            else T.alias(p)
            if t is not None and applied is None
            else p
            for p, t in zip(primals, tangents, strict=True)
        ]
        output = _applied(function, tuple(inside))
        if output is NotImplemented:
            output, _ = applied or function._applied(tuple(inside))
        ends = output if isinstance(output, tuple) else (output,)
        smooth = [i for i, end in enumerate(ends) if getattr(end, "edge", None) is not None]
        # with all levels of the call, since what is recorded must not mix elements of a batch
        have = levels_of(*[v.payload for v in (*primals, *tangents) if isinstance(v, TensorBase)])
        others = [have[number] for number in sorted(have) if number != level.number]
        zeros = [brought(zeros_like(ends[i]), others) for i in smooth]
        unknown = [new_tensor(zero.payload, LEAF) for zero in zeros]
        slopes: list[Any] = [None] * len(ends)
        wanted = [i for i, t in enumerate(tangents) if t is not None]
        if applied or not any(isinstance(p, TensorBase) and p.edge is not None for p in primals):
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
