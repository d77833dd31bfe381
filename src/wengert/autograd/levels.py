"""Layer 7 · autograd: custom Functions under transforms.

NOTE [Functions under transforms]
A Function is a single operation at every level: `forward` is never differentiated through. Under a
`jvp` it is applied to primals without tangents. The tangents of its results come from its `jvp`, or
else from transposing its `backward` (see NOTE [tangents] in `wengert.interp.dual`). Its node
receives cotangents like other nodes, and saves arguments and results as values of the level. If
that is impossible (there is no `backward`, or it is not differentiable), or if its rules close over
a tensor that requires a gradient, primals and tangents leave the level, are recorded below it, and
come back. Tangents of values that `forward` closes over are dropped, as in PyTorch. Some Functions
of the library keep them, and add them to the tangents from the rules. Under a `vmap`, the
Function's own `vmap` handles the batch, if it has one; otherwise its operations run on the whole
batch, as with ``generate_vmap_rule``.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from wengert.autograd.function_node import Context
from wengert.autograd.function_outputs import at_edge, finish
from wengert.autograd.slopes import check_view
from wengert.autograd.written import shows, with_written, written
from wengert.base.containers import dims_of, flatten
from wengert.base.dtypes import is_differentiable
from wengert.base.errors import describe
from wengert.base.ports import provides
from wengert.interp.levels import Level, is_plain, levels_of
from wengert.ops.like import zeros_like
from wengert.ops.permute import movedim
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, TensorBase, new_tensor, version_of
from wengert.tape.given import joined_with, note_tangent, noted_tangent, tangent_tensor
from wengert.tape.levels import brought, leads_outside, move
from wengert.tape.modes import (
    enable_grad,
    is_recording,
    no_grad,
    outside_of,
    set_grad_enabled,
)
from wengert.tape.node import edge_of
from wengert.tape.record import T

VmapInfo = namedtuple("VmapInfo", ["batch_size", "randomness"])


def level_of(function: Any, args: tuple[Any, ...]) -> Level | None:
    """Return the level at which a Function's call needs its own rules, if any."""
    found: dict[int, Level] = {}
    for arg in args:
        if isinstance(arg, TensorBase):
            found.update(levels_of(arg._payload))
    for number in sorted(found, reverse=True):
        level = found[number]
        if level.size is None or _has_own(function, "vmap"):
            return level
    return None


def _has_own(function: Any, name: str) -> bool:
    return any(name in cls.__dict__ for cls in function.__mro__[:-2])


def applied_at(level: Level, function: Any, args: tuple[Any, ...]) -> Any:
    """Return the result of a Function whose arguments belong to `level`."""
    if level.size is not None:
        return _mapped(level, function, args)
    found = levels_of(*[a._payload for a in args if isinstance(a, TensorBase)])
    order = [found[number] for number in sorted(found)]
    needs = tuple(isinstance(a, TensorBase) and a._edge is not None for a in args)
    recorded = is_recording() and any(needs)
    raised = tuple(
        brought(arg, order) if recorded and need else arg
        for arg, need in zip(args, needs, strict=True)
    )
    if not recorded or not _has_backward(function):
        return _around(level, function, raised)
    return _recorded_at(level, function, args, raised, needs)


def _recorded_at(
    level: Level,
    function: Any,
    args: tuple[Any, ...],
    raised: tuple[Any, ...],
    needs: tuple[bool, ...],
) -> Any:
    """Return the result of a Function as one operation, recorded at `level`.

    `raised` are the arguments brought to all levels of the call; `needs` says which of them require
    a gradient.
    """
    edges = [edge_of(a) for a, need in zip(args, needs, strict=True) if need]
    closing = function.closes_over(args[0], edges)
    with no_grad():
        tangents = _tangents(level, raised, False)
        parts = [move("primal_of", a, level) if isinstance(a, TensorBase) else a for a in raised]
        with enable_grad():
            primals = [
                part if t is None else _recorded(part)
                for part, t in zip(parts, tangents, strict=True)
            ]
            made, node = function._applied(tuple(primals))
        with set_grad_enabled(closing):
            output, slopes, _, _ = _with_tangents(
                level, function, primals, tangents, (made, node), args
            )
        several = isinstance(output, tuple)
        if closing and _lead_outside(slopes, node):
            # cotangents reach closed-over tensors through the values below the level
            values = [v for v in (*_as_tuple(output), *slopes) if v is not None]
            if level.number in levels_of(*[v._payload for v in values]):
                raise NotImplementedError(
                    f"the rules of {function.__name__} close over a tensor with a tangent and over "
                    "one that requires a gradient: pass them as arguments"
                )
            with enable_grad():
                return _around(level, function, raised)
        output, slopes = _divided(level, output, slopes, made)
        outs = tuple(map(partial(_at_level, level), _as_tuple(output), slopes))
    known = _Known((*primals, *_as_tuple(made)), (*raised, *outs))
    final = _node_at_level(node, known, needs, raised)
    result = finish(final, raised, outs if several else outs[0], True)
    for out, slope in zip(_as_tuple(result), slopes, strict=True):
        # a view of a tangent without a history has no history
        base = None if slope is None or slope._ext is None else slope._ext.base
        if base is not None and base._edge is None and any(base is t for t in tangents):
            note_tangent(out, slope)
    return with_written(args, written(primals, made), result, slopes, level)


def _as_tuple(output: Any) -> tuple[Any, ...]:
    """Return what `forward` returned as a tuple, also if it is a single value."""
    return output if isinstance(output, tuple) else (output,)


def _at_level(level: Level, end: Any, slope: Any) -> Any:
    """Return an output of `forward` as a tensor without a history, joined with its tangent."""
    if not isinstance(end, TensorBase):
        return end
    if is_differentiable(end._payload.dtype):
        return _joined(new_tensor(end._payload), slope, level)
    return new_tensor(end._payload, None, end._share_version())


def _node_at_level(node: Any, known: _Known, needs: tuple[bool, ...], args: tuple[Any, ...]) -> Any:
    """Return a node as `node`, whose tensors are those of the level."""
    final = node.function._node_class(needs)
    final._attributes.update(node._attributes)
    final.needs_input_grad = needs
    final.edges = tuple([edge_of(a) for a in args if isinstance(a, TensorBase)])
    final._to_save = tuple(None if t is None else known.of(t) for t in node.saved_tensors)
    final._saved_for_forward = ()
    final._constants = tuple(map(known.of, node._constants))
    final._dirty = ()
    return final


def _recorded(tensor: Any) -> Any:
    """Return `tensor` as the result of an operation, which may be written to."""
    alias = T.alias(new_tensor(tensor._payload, LEAF, tensor._share_version()))
    return new_tensor(alias._payload, alias._edge, alias._vc)


def _lead_outside(slopes: Iterable[Any], node: Any) -> bool:
    """Return whether tangents depend on more than the arguments of a Function."""
    own = [edge for edge in node.edges if edge is not None]
    leaves = []
    while own:
        edge = own.pop()
        if edge._seq > 0:
            leaves.append(edge)
        else:
            own += [e for e in (edge.node if edge._seq == 0 else edge).edges if e is not None]
    for leaf in leaves:
        leaf._extra().ended = True
    return leads_outside([slope for slope in slopes if slope is not None], ())


def _around(level: Level, function: Any, args: tuple[Any, ...]) -> Any:
    """Return the result of a Function computed below `level`, through recorded crossings."""
    # first the tangents: one that shares memory makes the argument an array, which the primal shows
    tangents = _tangents(level, args, True)
    primals = [move("primal_of", a, level, True) if isinstance(a, TensorBase) else a for a in args]
    given = _with_tangents(level, function, primals, tangents, None, args)
    output, slopes, dirty, made = given
    output, slopes = _divided(level, output, slopes, made)
    outs = tuple(
        out
        if slope is None or not isinstance(out, TensorBase)
        else joined_with(out, slope, level)
        if _are_plain(out, slope)
        else _joined(out, slope, level)
        for out, slope in zip(_as_tuple(output), slopes, strict=True)
    )
    result = outs if isinstance(output, tuple) else outs[0]
    return with_written(args, dirty, result, slopes, level)


def _are_plain(out: Any, slope: Any) -> bool:
    """Return whether neither is recorded, nor belongs to a transform."""
    return out._edge is slope._edge is None and is_plain(out._payload) and is_plain(slope._payload)


def _tangents(level: Level, args: tuple[Any, ...], local: bool) -> list[Any]:
    return [
        _tangent(a, level, local)
        if isinstance(a, TensorBase) and level.number in levels_of(a._payload)
        else None
        for a in args
    ]


def _tangent(tensor: Any, level: Level, local: bool) -> Any:
    if tensor._edge is None:
        return tangent_tensor(tensor, level)
    tangent = None if local else noted_tangent(tensor)
    # one with a history has that of unpack_dual(), which leaves the level
    if tangent is not None and tangent._edge is None:
        return tangent
    return move("tangent_of", tensor, level, local)


def _has_backward(function: Any) -> bool:
    """Return whether a Function has a reverse rule that works on values of transforms."""
    rule = next(
        (c.__dict__["backward"] for c in function.__mro__ if "backward" in c.__dict__), None
    )
    return _has_own(function, "backward") and not getattr(
        getattr(rule, "__func__", rule), "once", False
    )


def _joined(out: Any, slope: Any, level: Level) -> Any:
    if level.number not in levels_of(out._payload):
        out = move("constant", out, level, True)
    if slope is None:
        return out
    return T.add(out, move("infinitesimal", slope, level, True))


def _with_tangents(
    level: Level,
    function: Any,
    primals: list[Any],
    tangents: list[Any],
    applied: Any,
    args: tuple[Any, ...],
) -> tuple[Any, Any, list[tuple[int, int]], Any]:
    """Return the outputs, their tangents, the arguments written to, and `forward`'s own result.

    `applied` is the result of `forward` and its node if it has already run.
    """
    if not _has_own(function, "jvp") and _has_own(function, "backward"):
        return _transposed(level, function, primals, tangents, applied)
    output, node = applied or function._applied(tuple(primals))
    made = outputs = _as_tuple(output)
    if level_of(function, tuple(primals)) is not None:
        # that run was for the saved values: at the levels below, the rules apply as well
        output = _applied(function, tuple(primals))
        outputs = _as_tuple(output)
    known = _Known((*primals, *made), (*primals, *outputs))
    tangents = [
        _given(primal, tangent, node, arg, any(primal is out for out in made))
        for primal, tangent, arg in zip(primals, tangents, args, strict=True)
    ]
    versions = [None if t is None else version_of(t) for t in tangents]
    slopes = function.jvp(_JvpContext(node, known), *tangents)
    if not isinstance(slopes, tuple):
        slopes = (slopes,)
    if len(slopes) != len(outputs):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(outputs)} but got {len(slopes)}): {function.__name__}.jvp must return one "
            "tangent for each output of forward"
        )
    for i, (out, slope) in enumerate(zip(outputs, slopes, strict=True)):
        if slope is not None:
            _check_slope(node, i, out, slope)
            if isinstance(out, TensorBase):
                check_view(out, slope, primals, tangents, versions, args)
    return output, slopes, written(primals, output), made


def _check_slope(node: Any, i: int, out: Any, slope: Any) -> None:
    """Raise unless `slope`, which `jvp` returned, can be the tangent of output `i`."""
    name = node.function.__name__
    if not isinstance(slope, TensorBase):
        raise RuntimeError(
            f"expected Variable or None (got {type(slope).__name__}) for grad output {i}: "
            f"{name}.jvp must return tensors"
        )
    if not isinstance(out, TensorBase):
        return
    if not is_differentiable(out._payload.dtype) or any(out is t for t in node._constants):
        raise RuntimeError(
            f"Function's jvp returned a gradient at position {i}, but the corresponding "
            "forward output is not a differentiable Tensor. You should return None at that "
            "position instead."
        )
    if tuple(slope._payload.shape) != tuple(out._payload.shape):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the "
            "original Tensor, this is not supported. Tensor is of size "
            f"{list(out._payload.shape)} while the given forward gradient is of size "
            f"{list(slope._payload.shape)}: it is what {name}.jvp returned."
        )
    if not is_differentiable(slope._payload.dtype):
        raise RuntimeError(
            "Expected both tensor and its forward grad to be floating point or complex, but "
            f"{name}.jvp returned {describe(slope._payload)} for output {i}"
        )


def _divided(level: Level, output: Any, slopes: Any, made: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the outputs without tangents at `level`, and the tangents.

    `slopes` are the tangents from the rules, which are constant at the level. The tangents of
    values that `forward` closes over are in `made`, its own result.
    """
    outs, whole = [], []
    for out, slope, own in zip(_as_tuple(output), slopes, _as_tuple(made), strict=True):
        if isinstance(out, TensorBase) and level.number in levels_of(out._payload):
            out = move("primal_of", out, level, True)
        if slope is not None and level.number in levels_of(slope._payload):
            slope = move("primal_of", slope, level, True)
        if isinstance(own, TensorBase) and level.number in levels_of(own._payload):
            of_closures = move("tangent_of", new_tensor(own._payload), level, True)
            slope = of_closures if slope is None else T.add(slope, of_closures)
        outs.append(out)
        whole.append(slope)
    return tuple(outs) if isinstance(output, tuple) else outs[0], tuple(whole)


def _given(primal: Any, tangent: Any, node: Any, arg: Any, dirty: bool) -> Any:
    """Return the tangent that `jvp` gets for an argument; `forward` wrote to it if `dirty`."""
    if not isinstance(primal, TensorBase) or not is_differentiable(primal._payload.dtype):
        return None
    if tangent is None:
        return zeros_like(primal).detach() if node._materialize else None
    # it may be written to, and other tensors may share it
    return T.clone(tangent) if dirty and not shows(arg, tangent) else tangent


class _Known:
    """A map from `forward`'s arguments and outputs to the corresponding tensors at the level."""

    def __init__(self, ones: Iterable[Any], others: Iterable[Any]) -> None:
        pairs = zip(ones, others, strict=True)
        self._pairs = [(one, other) for one, other in pairs if isinstance(one, TensorBase)]

    def of(self, tensor: Any) -> Any:
        """Return the tensor that corresponds to `tensor`, or itself if unknown."""
        for one, other in self._pairs:
            if one is tensor or one._payload is tensor._payload:
                return other
        return tensor


class _JvpContext(Context):
    """The `ctx` of `jvp`, whose saved tensors are tied to the graph."""

    __slots__ = ("_known",)

    def __init__(self, node: Any, known: _Known) -> None:
        super().__init__(node)
        self._known = known

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors saved for `jvp` by `save_for_forward`."""
        saved = self._node._saved_for_forward
        return tuple(None if tensor is None else self._known.of(tensor) for tensor in saved)


def _transposed(
    level: Level, function: Any, primals: list[Any], tangents: list[Any], applied: Any
) -> tuple[Any, Any, list[tuple[int, int]], Any]:
    """Return the outputs, with tangents from the transpose of `backward`."""
    outer = is_recording()
    with enable_grad():
        # the edges before forward, which may write to the arguments
        if applied is None:
            own, inside = map(list, zip(*map(_inside, primals, tangents), strict=True))
            before = [edge_of(a) if isinstance(a, TensorBase) else None for a in inside]
        else:
            own = inside = primals
            edges = iter(applied[1].edges)
            before = [next(edges) if isinstance(a, TensorBase) else None for a in inside]
        output, made = _output_inside(function, tuple(inside), applied)
        dirty = written(inside, output)
        ends = _as_tuple(output)
        smooth = [i for i, end in enumerate(ends) if getattr(end, "_edge", None) is not None]
        if applied or not any(isinstance(p, TensorBase) and p._edge is not None for p in primals):
            # recorded for the tangents only
            plain = tuple(
                new_tensor(end._payload, None, end._share_version()) if i in smooth else end
                for i, end in enumerate(ends)
            )
            output = plain if isinstance(output, tuple) else plain[0]
        slopes: list[Any] = [None] * len(ends)
        wanted = [i for i, t in enumerate(tangents) if t is not None]
        if smooth and wanted:
            # with all levels of the call, since the recording must not mix elements of a batch
            values = [v._payload for v in (*primals, *tangents) if isinstance(v, TensorBase)]
            have = levels_of(*values)
            others = [have[number] for number in sorted(have) if number != level.number]
            found = _pushed_forward(
                [ends[i] for i in smooth],
                [at_edge(before[i], inside[i]) for i in wanted],
                [tangents[i] for i in wanted],
                [own[i] for i in wanted],
                others,
                outer,
            )
            for i, slope in zip(smooth, found, strict=True):
                slopes[i] = slope
    return output, slopes, dirty, made


def _output_inside(function: Any, inside: tuple[Any, ...], applied: Any) -> tuple[Any, Any]:
    """Return the recorded output of a Function, and the result of its own `forward`."""
    output = _applied(function, inside)
    if output is NotImplemented:
        output, _ = applied or function._applied(inside)
        return output, output
    if applied is not None:
        return output, applied[0]
    return output, function._applied(inside)[0] if function._carries_closures else output


def _pushed_forward(
    ends: list[Any],
    targets: list[Any],
    tangents: list[Any],
    leaves: list[Any],
    others: list[Level],
    outer: bool,
) -> Sequence[Any]:
    """Return the tangents of `ends`, by the transpose of the reverse pass to `targets`.

    The reverse pass is linear in its cotangents. So it runs on unknown ones, and a second reverse
    pass, from the gradients to these unknowns, maps the tangents of `targets` to those of `ends`.
    """
    unknown = [new_tensor(brought(zeros_like(end), others)._payload, LEAF) for end in ends]
    grads = run_grad(ends, targets, unknown, True, True)
    pairs = [
        (grad, tangent)
        for grad, tangent in zip(grads, tangents, strict=True)
        if grad is not None and grad._edge is not None
    ]
    if not pairs:
        return [None] * len(ends)
    sources, seeds = zip(*pairs, strict=True)
    found = run_grad(sources, unknown, seeds, True, outer)
    if outer and not leads_outside(found, [*unknown, *leaves]):
        return [None if slope is None else new_tensor(slope._payload) for slope in found]
    return found


def _inside(primal: Any, tangent: Any) -> tuple[Any, Any]:
    """Return the leaf to differentiate by, and the argument of `forward`, which may write to it."""
    if tangent is None:
        return primal, primal
    if primal._edge is not None:
        alias = T.alias(primal)
        return alias, alias
    leaf = new_tensor(primal._payload, LEAF, primal._share_version())
    alias = T.alias(leaf)
    return leaf, new_tensor(alias._payload, alias._edge, alias._vc)


@provides("lowered")
def lowered(grads: Any, cotangents: list[Any], levels: Iterable[Level]) -> tuple[Any, ...]:
    """Return a `backward`'s results without levels that neither cotangents nor inputs belong to.

    Such levels come from transforms within `backward`; the results are constant there.
    """
    known = levels_of(*[g._payload for g in cotangents if g is not None])
    known.update((level.number, level) for level in levels)
    made = []
    for grad in grads:
        extra = levels_of(grad._payload) if isinstance(grad, TensorBase) else {}
        for number in sorted(extra.keys() - known.keys(), reverse=True):
            level = extra[number]
            if level.size is None:
                grad = move("primal_of", grad, level, True)
            else:
                grad = T.select(move("unwrap", grad, level, True), dim=0, index=0)
        made.append(grad)
    return tuple(made)


def _mapped(level: Level, function: Any, args: tuple[Any, ...]) -> Any:
    """Return the result of the Function's own `vmap`."""
    if function.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it has both "
            "generate_vmap_rule=True and an overridden vmap staticmethod. Please set "
            "generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            "ambiguity."
        )
    leaves, like_args = flatten(args)
    batched = [isinstance(x, TensorBase) and level.number in levels_of(x._payload) for x in leaves]
    dims = like_args([0 if one else None for one in batched])
    pairs = zip(leaves, batched, strict=True)
    whole = like_args([move("unwrap", x, level, True) if one else x for x, one in pairs])
    randomness = "error" if level.randomness == "never" else level.randomness
    with outside_of(level):
        made = function.vmap(VmapInfo(level.size, randomness), dims, *whole)
    if not (isinstance(made, tuple) and len(made) == 2):
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with "
            "pytree structure compatible with the output. Got "
            f"{f'{len(made)} returns' if isinstance(made, tuple) else f'a {type(made)}'} instead"
        )
    output, out_dims = made
    leaves, rebuild = flatten(output)
    try:
        places = list(dims_of(out_dims, output, f"{function.__name__}.vmap", "out"))
    except ValueError as error:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) "
            f"tuple. {error}"
        ) from error
    return rebuild(
        [
            out if dim is None else move("wrap", movedim(out, dim, 0) if dim else out, level, True)
            for out, dim in zip(leaves, places, strict=True)
        ]
    )


@provides("applied")
def _applied(function: Any, args: tuple[Any, ...]) -> Any:
    """Return the result of a Function, or NotImplemented where its operations suffice."""
    level = level_of(function, args)
    return NotImplemented if level is None else applied_at(level, function, args)


@provides("shed")
def shed(output: Any, args: tuple[Any, ...], known: dict[int, Level]) -> Any:
    """Return `forward`'s output without tangents at levels that its arguments do not have."""

    def alone(out: Any) -> Any:
        extra = levels_of(out._payload) if isinstance(out, TensorBase) else {}
        for number in sorted(extra.keys() - known.keys(), reverse=True):
            if extra[number].size is None:
                if any(out is arg for arg in args):
                    raise NotImplementedError(
                        "the forward of a custom Function wrote a value with a tangent, which it "
                        "was not given, to one of its arguments: pass that value as an argument"
                    )
                out = move("primal_of", out, extra[number], True)
        return out

    return tuple(map(alone, output)) if isinstance(output, tuple | list) else alone(output)
