"""Layer 8 · compiler: peephole rules for reductions and matrix products."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from wengert.compiler.ir.programs import Value
from wengert.compiler.passes.builder import RULES, Builder
from wengert.prims import records

Values = tuple[Value, ...]
Params = Mapping[str, Any]
Shape = tuple[int, ...]

_rule = RULES.rule


def _is_number(out: Value, x: Value) -> bool:
    return x.dtype.kind in "fc" and out.dtype == x.dtype


# -- sums -----------------------------------------------------------------------------------------


def _from_zero(b: Builder, x: Value) -> Value:
    """Return the sum of one term: it starts from 0.0, so it is never -0.0."""
    return b.emit("add_scalar", (x,), {"other": 0.0}, x)


def _summed(b: Builder, x: Value, dim: Shape, out: Value) -> Value:
    """Emit a sum along dimensions, in the shape of `out`."""
    if not dim:
        return _from_zero(b, b.shaped(x, out.shape))
    like = Value(x.dtype, _without(x.shape, dim))
    total = b.emit("sum_dim", (x,), {"dim": dim, "keepdim": False}, like)
    return b.shaped(total, out.shape)


@_rule(
    records.sum_dim,
    on=(
        "number",
        records.zeros,
        records.expand,
        records.view,
        records.permute,
    ),
)
def _sum(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    (x,) = args
    dim = params["dim"]
    if not _is_number(out, x) or not x.size:
        return None
    if all(x.shape[d] == 1 for d in dim):
        return _from_zero(b, b.shaped(x, out.shape))
    number = b.uniform(x)
    count = math.prod([x.shape[d] for d in dim])
    if number is not None:
        total = b.constant(number)
        if not b.is_zero(x):
            total = b.emit("mul_scalar", (total,), {"other": float(count)}, total)
            return b.expanded(_from_zero(b, total), out.shape)
        return b.filled(0, out.dtype, out.shape)
    step = b.maker(x, "expand", "view", "permute")
    if step is None:
        return None
    name, source = step.prim.name, step.args[0]
    if name == "expand":
        return _sum_of_copies(b, x, source, dim, out)
    if len(dim) == len(x.shape) or name == "view":
        return _sum_in_another_shape(b, x, source, dim, out)
    order = step.params["dims"]
    # the remaining dimensions must be in order
    left = [order[d] for d in range(len(order)) if d not in dim]
    if left != sorted(left):
        return None
    return _summed(b, source, tuple(sorted([order[d] for d in dim])), out)


def _sum_of_copies(b: Builder, x: Value, source: Value, dim: Shape, out: Value) -> Value | None:
    """Rewrite the sum of an expanded value to a product with the count."""
    lead = len(x.shape) - len(source.shape)
    copied = [
        d for d in dim if x.shape[d] != 1 and (d < lead or source.shape[d - lead] != x.shape[d])
    ]
    if not copied:
        rest = tuple([d - lead for d in dim if d >= lead])
        kept = _without(x.shape, dim)
        total = _summed(b, source, rest, Value(x.dtype, _without(source.shape, rest)))
        return b.shaped(b.expanded(total, kept), out.shape)
    count = math.prod([x.shape[d] for d in copied])
    if lead:
        source = b.shaped(source, (1,) * lead + source.shape)
    own = tuple([1 if d in copied else n for d, n in enumerate(x.shape)])
    total = _summed(b, b.expanded(source, own), dim, out)
    return b.emit("mul_scalar", (total,), {"other": float(count)}, total)


def _without(shape: Shape, dim: Shape) -> Shape:
    return tuple([n for d, n in enumerate(shape) if d not in dim])


def _sum_in_another_shape(
    b: Builder, x: Value, source: Value, dim: Shape, out: Value
) -> Value | None:
    """Move a sum before a reshape, if it is over all elements or along common dimensions."""
    if len(dim) == len(x.shape) or math.prod([x.shape[d] for d in dim]) == x.size:
        return _summed(b, source, tuple(range(len(source.shape))), out)
    # dimensions of size 1 do not matter
    places = [d for d, n in enumerate(x.shape) if n != 1]
    own = [d for d, n in enumerate(source.shape) if n != 1]
    if [x.shape[d] for d in places] != [source.shape[d] for d in own]:
        return None
    at = dict(zip(places, own, strict=True))
    return _summed(b, source, tuple([at[d] for d in dim if d in at]), out)


@_rule(records.gather, on=(records.argmax, records.argmin, records.view))
def _found(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    """Rewrite an element gathered at its argmax or argmin to the extreme."""
    x, index = args
    dim = params["dim"]
    inner = b.maker(index, "view")
    step = b.maker(index if inner is None else inner.args[0], "argmax", "argmin")
    kept = (*x.shape[:dim], 1, *x.shape[dim + 1 :])
    if step is None or step.args[0] is not x or index.shape != kept or step.params["dim"] != dim:
        return None
    extreme = "amax" if step.prim.name == "argmax" else "amin"
    return b.emit(extreme, (x,), {"dim": (dim,), "keepdim": True}, out)


# -- matrix products -------------------------------------------------------------------------------


def _is_blas(out: Value, args: Values) -> bool:
    return out.dtype.char in "fdFD" and all(arg.dtype == out.dtype for arg in args)


def _turned(b: Builder, x: Value) -> Value:
    """Emit the transpose of matrices."""
    *batch, rows, columns = x.shape
    dims = (*range(len(batch)), len(batch) + 1, len(batch))
    return b.emit("permute", (x,), {"dims": dims}, Value(x.dtype, (*batch, columns, rows)))


def _product_of_turned(b: Builder, name: str, args: Values, out: Value) -> Value | None:
    """Rewrite the product of two transposed operands to the transpose of a product."""
    turns = [b.maker(arg, "permute") for arg in args]
    if not all(turn is not None and turn.params["dims"] in ((1, 0), (0, 2, 1)) for turn in turns):
        return None
    like = Value(out.dtype, (*out.shape[:-2], out.shape[-1], out.shape[-2]))
    return _turned(b, b.emit(name, [turn.args[0] for turn in turns[::-1] if turn], {}, like))


@_rule(records.mm)
def _mm(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    first, second = args
    if not _is_blas(out, args):
        return None
    (n, k), m = first.shape, second.shape[1]
    if k == 1:
        return _from_zero(b, b.emit("mul", args, {}, out))
    if m == 1:
        row = b.shaped(second, (k,))
        return b.shaped(b.emit("mv", (first, row), {}, Value(out.dtype, (n,))), out.shape)
    if n == 1:
        row = b.shaped(first, (k,))
        turned = _turned(b, second)
        return b.shaped(b.emit("mv", (turned, row), {}, Value(out.dtype, (m,))), out.shape)
    return _product_of_turned(b, name, args, out)


@_rule(records.bmm)
def _bmm(b: Builder, name: str, args: Values, params: Params, out: Value) -> Any:
    if not _is_blas(out, args):
        return None
    # under vmap, operands may have more or fewer batch dimensions
    if args[0].shape[-1] == 1:
        return b.emit("mul", args, {}, out)
    if any(n != 1 for n in out.shape[:-2]):
        return _product_of_turned(b, name, args, out)
    matrices = [b.shaped(arg, arg.shape[-2:]) for arg in args]
    return b.shaped(b.emit("mm", matrices, {}, Value(out.dtype, out.shape[-2:])), out.shape)
