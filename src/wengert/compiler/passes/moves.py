"""Layer 8 · compiler: peephole rules for views, slices and concatenations.

NOTE [canonical views]
Rewriting makes views canonical. All reshapes are `view`, and all transposes are `permute`; `expand`
comes after a chain of element-wise operations, not before it; `select` and `slice` read from the
operands of a concatenation, not from its result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wengert.compiler.ir.facets import REARRANGES, having, permutation
from wengert.compiler.ir.programs import Value
from wengert.compiler.passes.builder import RULES, Builder
from wengert.prims import records

Values = tuple[Value, ...]
Params = Mapping[str, Any]
Shape = tuple[int, ...]

_rule = RULES.rule

_RESHAPES, _ORDERS = (
    [prim for prim in having(REARRANGES) if REARRANGES[prim] == how] for how in ("shape", "order")
)


@_rule(
    *(*_RESHAPES, *_ORDERS, records.expand, records.select, records.slice),
    *(records.flip, records.diagonal, records.repeat),
    on=("number", records.zeros, records.expand),
)
def _of_one_number(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    number = b.uniform(args[0])
    if number is None or not out.size:
        return None
    return b.filled(number, out.dtype, out.shape)


@_rule(records.fill_scalar, records.zeros_like, records.zero_tangent, records.zero)
def _filling(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    number = params["value"] if params else 0
    return b.filled(number, out.dtype, out.shape) if number.__class__ in (int, float) else None


# -- shapes ---------------------------------------------------------------------------------------


@_rule(*_RESHAPES)
def _reshape(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    (x,) = args
    if x.shape == out.shape:
        return x
    inner = b.maker(x, "view")
    if inner is not None or name != "view":
        source = x if inner is None else inner.args[0]
        return b.shaped(source, out.shape)
    return None


@_rule(*_ORDERS)
def _order(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    (x,) = args
    dims = permutation(name, params, len(x.shape))
    inner = b.maker(x, "permute")
    if inner is not None:
        before = inner.params["dims"]
        return _permuted(b, inner.args[0], tuple([before[d] for d in dims]))
    moved = [d for d in dims if x.shape[d] != 1]
    if moved == sorted(moved):
        return b.shaped(x, out.shape)
    if name != "permute":
        return _permuted(b, x, dims)
    return _turned_product(b, x, dims, out) if b.once(x) else None


def _turned_product(b: Builder, x: Value, dims: Shape, out: Value) -> Value | None:
    """Rewrite the transpose of a product with a transposed operand, which cancels one."""
    product = b.maker(x, "mm", "bmm")
    if product is None or dims not in ((1, 0), (0, 2, 1)):
        return None
    turns = [b.maker(arg, "permute") for arg in product.args]
    if not any(turn is not None and turn.params["dims"] == dims for turn in turns):
        return None
    if any(len(arg.shape) != len(dims) for arg in product.args):
        # under vmap, an operand may have fewer batch dimensions
        return None
    turned = [_permuted(b, arg, dims) for arg in product.args[::-1]]
    return b.emit(product.prim.name, turned, {}, out)


def _permuted(b: Builder, x: Value, dims: Shape) -> Value:
    if dims == tuple(range(len(dims))):
        return x
    like = Value(x.dtype, tuple([x.shape[d] for d in dims]))
    return b.emit("permute", (x,), {"dims": dims}, like)


@_rule(records.expand)
def _expand(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    (x,) = args
    if x.shape == out.shape:
        return x
    inner = b.maker(x, "expand")
    if inner is not None:
        return b.expanded(inner.args[0], out.shape)
    inner = b.maker(x, "view")
    if inner is not None:
        # expansion adds leading dimensions of size 1 by itself
        source = inner.args[0]
        lead = len(x.shape) - len(source.shape)
        if lead > 0 and x.shape == (1,) * lead + source.shape:
            return b.expanded(source, out.shape)
    return None


# -- slices ----------------------------------------------------------------------------------------


def _part(b: Builder, x: Value, dim: int, start: int, end: int, step: int = 1) -> Value:
    """Emit a slice."""
    count = len(range(start, end, step))
    if count == x.shape[dim]:
        return x
    like = Value(x.dtype, (*x.shape[:dim], count, *x.shape[dim + 1 :]))
    params = {"dim": dim, "start": start, "end": end, "step": step}
    return b.emit("slice", (x,), params, like)


def _at(b: Builder, x: Value, dim: int, index: int) -> Value:
    """Emit a selection of one position."""
    like = Value(x.dtype, x.shape[:dim] + x.shape[dim + 1 :])
    return b.emit("select", (x,), {"dim": dim, "index": index}, like)


def _holder(step: Any, dim: int, start: int, end: int) -> tuple[Value, int] | None:
    """Return the operand of a `cat` that contains a range, and the range's start in it."""
    if step.params["dim"] != dim:
        return None
    before = 0
    for part in step.args:
        size = part.shape[dim]
        if start < before + size:
            return (part, start - before) if end <= before + size else None
        before += size
    return None


@_rule(records.select)
def _select(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    x = _before_writes(b, args[0], params)
    dim, index = params["dim"], params["index"]
    if index.__class__ is not int:
        return None
    if index < 0 or x is not args[0]:
        return _at(b, x, dim, index % x.shape[dim])
    inner = b.maker(x, "stack", "cat", "expand", "slice", "select_backward", "select_scatter")
    if inner is None:
        return b.shaped(x, out.shape) if x.shape[dim] == 1 else None
    kind, source = inner.prim.name, inner.args[0]
    if kind == "expand":
        lead = len(x.shape) - len(source.shape)
        if dim < lead:
            return b.expanded(source, out.shape)
        at = 0 if source.shape[dim - lead] == 1 else index
        return b.expanded(_at(b, source, dim - lead, at), out.shape)
    if inner.params["dim"] != dim:
        return None
    if kind == "stack":
        return inner.args[index]
    if kind == "cat":
        held = _holder(inner, dim, index, index + 1)
        return None if held is None else _at(b, held[0], dim, held[1])
    if kind == "slice":
        return _at(b, source, dim, inner.params["start"] + index * inner.params["step"])
    at = inner.params["index"]
    if at.__class__ is not int:
        return None
    if kind == "select_backward":
        return source if at == index else b.filled(0, out.dtype, out.shape)
    # the last write
    return inner.args[1] if at == index else None


_FAR = 64


def _before_writes(b: Builder, x: Value, params: Params) -> Value:
    """Return the value before writes that do not overlap a range that is read."""
    for _ in range(_FAR):
        step = b.maker(x, "select_scatter")
        if step is None or step.params["dim"] != params["dim"]:
            break
        at, index = step.params["index"], params["index"]
        if not at.__class__ is index.__class__ is int or at == index:
            break
        x = step.args[0]
    return x


@_rule(records.slice)
def _slice(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    (x,) = args
    dim, start, end, step = (params[n] for n in ("dim", "start", "end", "step"))
    if not (start.__class__ is end.__class__ is step.__class__ is int):
        return None
    if x.shape == out.shape:
        return x
    inner = b.maker(x, "slice", "cat", "stack", "expand")
    if inner is None or not out.size:
        return None
    kind, source = inner.prim.name, inner.args[0]
    if kind == "expand":
        lead = len(x.shape) - len(source.shape)
        if dim >= lead and source.shape[dim - lead] != 1:
            source = _part(b, source, dim - lead, start, end, step)
        return b.expanded(source, out.shape)
    if inner.params["dim"] != dim:
        return None
    if kind == "stack":
        parts = inner.args[start:end:step]
        return b.emit("stack", parts, {"dim": dim}, out)
    if kind == "cat":
        held = _holder(inner, dim, start, end)
        return held and _part(b, held[0], dim, held[1], held[1] + end - start, step)
    first, by = inner.params["start"], inner.params["step"]
    last = start + (out.shape[dim] - 1) * step
    return _part(b, source, dim, first + start * by, first + last * by + 1, by * step)


# -- concatenations --------------------------------------------------------------------------------

_SEGMENT = 4
"""The fewest parts of a segment, on average, for which a `stack` is split into segments."""


class _Segment:
    """Consecutive parts of one value, up or down; or unrelated parts (`source` is None)."""

    __slots__ = ("first", "last", "parts", "source")

    def __init__(self, source: Value | None, part: Value, at: int) -> None:
        self.source = source
        self.parts = [part]
        self.first = self.last = at

    def takes(self, source: Value | None, at: int) -> bool:
        """Return whether a part continues the segment, and append it."""
        if source is not self.source:
            return False
        if source is None:
            return True
        step = at - self.last
        return step in (1, -1) and (len(self.parts) == 1 or step == self._step())

    def _step(self) -> int:
        return 1 if self.last > self.first else -1

    def value(self, b: Builder, dim: int) -> Value:
        """Emit the segment as one value."""
        count, one = len(self.parts), self.parts[0]
        shape = (*one.shape[:dim], count, *one.shape[dim:])
        like = Value(one.dtype, shape)
        if self.source is None or count == 1:
            if count == 1:
                return b.shaped(one, shape)
            return b.put("stack", tuple(self.parts), {"dim": dim}, one.dtype, shape)
        low, high = sorted((self.first, self.last))
        found = _part(b, self.source, dim, low, high + 1)
        if self.first < self.last:
            return found
        return b.emit("flip", (found,), {"dims": (dim,)}, like)


def _segments(b: Builder, parts: Values, dim: int) -> list[_Segment]:
    segments: list[_Segment] = []
    for part in parts:
        step = b.maker(part, "select")
        at, source = -1, None
        if step is not None and step.params["dim"] == dim and step.params["index"].__class__ is int:
            at, source = step.params["index"], step.args[0]
        if segments and segments[-1].takes(source, at):
            segments[-1].parts.append(part)
            segments[-1].last = at
        else:
            segments.append(_Segment(source, part, at))
    return segments


@_rule(records.stack)
def _stack(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    dim = params["dim"]
    if any(arg.dtype != out.dtype for arg in args):
        return None
    if len(args) == 1:
        return b.shaped(args[0], out.shape)
    if all(arg is args[0] for arg in args):
        single = (*out.shape[:dim], 1, *out.shape[dim + 1 :])
        return b.expanded(b.shaped(args[0], single), out.shape)
    segments = _segments(b, args, dim)
    if len(segments) == 1:
        return None if segments[0].source is None else segments[0].value(b, dim)
    if len(segments) * _SEGMENT > len(args):
        return None
    parts = tuple([segment.value(b, dim) for segment in segments])
    return b.emit("cat", parts, {"dim": dim}, out)


@_rule(records.cat)
def _cat(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    dim = params["dim"]
    if any(arg.dtype != out.dtype for arg in args):
        return None
    parts = [arg for arg in args if arg.shape[dim]]
    if len(parts) == 1:
        return parts[0]
    for i, part in enumerate(parts):
        inner = b.maker(part, "cat")
        if inner is not None and inner.params["dim"] == dim and b.once(part):
            parts[i : i + 1] = inner.args
            return b.emit("cat", parts, params, out)
    return b.emit("cat", parts, params, out) if parts and len(parts) < len(args) else None
