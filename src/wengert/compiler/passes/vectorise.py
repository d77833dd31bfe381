"""Layer 8 · compiler: loops whose repetitions do not depend on each other, as operations on arrays.

NOTE [loops as arrays]
Where no repetition reads what another computed, except to add to it, all of them are one operation
each on arrays with one more dimension in front, and what is added up is a sum along it. That goes
for small values only, of which loops make poor use of vector instructions; large ones are best
worked on one after the other, while they are in the cache.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from wengert.compiler.ir.facets import COMBINES, MAPS
from wengert.compiler.ir.programs import Affine, Loop, Number, Program, Step, Value, uses
from wengert.compiler.passes.fission import is_product, is_sum, parted
from wengert.compiler.passes.simplify import simplify
from wengert.prims import records
from wengert.prims.facet import Facet
from wengert.prims.record import TABLE, Primitive

__all__ = ["vectorise"]

_SMALL = 1024
"""The size of values up to which repetitions are taken together."""
_TOGETHER = 1 << 20
"""The number of elements that the values of all repetitions may have together."""

Shape = tuple[int, ...]


class _NoWay(Exception):
    """A loop that has to stay one."""


def vectorise(program: Program) -> Program:
    """A program without those of its loops that are operations on arrays.

    Parameters
    ----------
    program: A program with loops, as `roll` makes it; it is not changed.

    Returns
    -------
    Program
        The same computation, where sums may be added up in another order; `program` itself if no
        loop has gone.
    """
    steps: list[Step | Loop] = []
    for step in program.steps:
        steps += _vectorised(step) if isinstance(step, Loop) else [step]
    if len(steps) == len(program.steps) and all(map(operator.is_, steps, program.steps)):
        return program
    return simplify(Program(program.inputs, steps, program.outputs, program.writes))


def _vectorised(loop: Loop) -> list[Step | Loop]:
    """The steps that compute what a loop does: the loop alone, if there is no better way."""
    try:
        return _Arrays(loop, _SMALL).steps
    except _NoWay:
        parts = parted(loop)
    if parts is None:
        return [loop]
    before, left, behind = parts
    try:
        return [
            *([] if before is None else _Arrays(before, _TOGETHER).steps),
            left,
            *([] if behind is None else _Arrays(behind, _TOGETHER).steps),
        ]
    except _NoWay:
        return [loop]


class _Arrays:
    """The operations on arrays that a loop is."""

    def __init__(self, loop: Loop, limit: int) -> None:
        self.count = loop.count
        self._limit = limit
        self.steps: list[Step | Loop] = []
        # what stands for a value of the body, and whether it has a dimension for the repetitions
        self.known: dict[Value, tuple[Value, bool]] = {}
        self._read: dict[Value, int] = {}
        self._makers: dict[Value, Step | Loop] = {}
        body = loop.body
        carried, rest = body.inputs[: len(loop.carried)], body.inputs[len(loop.carried) :]
        sums = self._sums(loop, carried)
        # the order does not matter: that in which most lies in memory
        self.back = 2 * sum(by < 0 for _, _, by in loop.sliced) > len(loop.sliced)
        for inner, (value, start, by) in zip(rest, loop.sliced, strict=False):
            self.known[inner] = self._rows(value, start, by), True
        for inner, value in zip(rest[len(loop.sliced) :], loop.fixed, strict=True):
            self.known[inner] = value, False
        # sums, and products of which nothing but the sum is read, are made at the end
        products = {term: self._product(term) for add, term in sums if add is not None}
        later = {id(add) for add, _ in sums} | {id(product) for product in products.values()}
        for step in body.steps:
            if id(step) not in later:
                self._step(step)
        for (add, term), first, out in zip(sums, loop.carried, loop.outs, strict=False):
            if add is None:
                last = {"dim": 0, "index": 0 if self.back else self.count - 1}
                self.steps.append(Step(TABLE["select"], (self._spread(term),), last, (out,)))
            else:
                total = self._total(term, products[term])
                self.steps.append(Step(add.prim, (first, total), {}, (out,), add.site))
        for inner, out in zip(body.outputs[len(carried) :], loop.outs[len(carried) :], strict=True):
            name, params = ("flip", {"dims": (0,)}) if self.back else ("alias", {})
            self.steps.append(Step(TABLE[name], (self._spread(inner),), params, (out,)))

    def _product(self, term: Value) -> Step | None:
        """The step that makes a term of a sum, if it is a product and nothing else reads it."""
        step = self._makers.get(term)
        if not isinstance(step, Step) or self._read[term] != 1 or not is_product(step):
            return None
        return step

    def _total(self, term: Value, product: Step | None) -> Value:
        """The sum of a term over all repetitions."""
        if product is None:
            rows = self._spread(term)
            return self._made("sum_dim", [rows], {"dim": (0,), "keepdim": False}, term)
        # of products, the sum is one product: over the repetitions, too
        first, second = product.args
        if first.shape[0] == 1 and product.prim.name == "mul":
            first, second = second, first
        depth = first.shape[1] * self.count
        columns = self._spread(first)
        shape = (self.count, first.shape[1], first.shape[0])
        like = Value(term.dtype, shape)
        columns = self._made("permute", [columns], {"dims": (0, 2, 1)}, like)
        like = Value(term.dtype, (depth, first.shape[0]))
        columns = self._made("view", [columns], {"shape": like.shape}, like)
        rows = self._spread(second)
        like = Value(term.dtype, (depth, second.shape[1]))
        rows = self._made("view", [rows], {"shape": like.shape}, like)
        like = Value(term.dtype, (first.shape[0], depth))
        return self._made("mm", [self._made("t", [columns], {}, like), rows], {}, term)

    def _sums(self, loop: Loop, carried: Sequence[Value]) -> list[tuple[Step | None, Value]]:
        """For each carried value the step that adds to it, and what this adds.

        Of what is not read there is no such step: the value is that of the last repetition.
        """
        body = loop.body
        read = self._read
        for step in body.steps:
            for value in uses(step):
                read[value] = read.get(value, 0) + 1
        for value in body.outputs:
            read[value] = read.get(value, 0) + 1
        makers = self._makers
        makers |= {out: step for step in body.steps for out in step.outs}
        found: list[tuple[Step | None, Value]] = []
        for inner, following in zip(carried, body.outputs, strict=False):
            if inner not in read:
                found.append((None, following))
                continue
            add = makers.get(following)
            if not is_sum(add, inner) or not read[inner] == read[following] == 1:
                raise _NoWay
            (term,) = [arg for arg in add.args if arg is not inner]
            found.append((add, term))
        return found

    # -- values ------------------------------------------------------------------------------------

    def _made(self, name: str, args: Sequence[Value], params: dict[str, Any], like: Value) -> Value:
        out = Value(like.dtype, like.shape)
        self.steps.append(Step(TABLE[name], args, params, (out,)))
        return out

    def _all(self, value: Value) -> Value:
        """A value of the dtype and shape of all repetitions of `value`."""
        if value.size > self._limit or value.size * self.count > _TOGETHER:
            raise _NoWay
        return Value(value.dtype, (self.count, *value.shape))

    def _rows(self, value: Value, start: int, step: int) -> Value:
        """What the repetitions read of a value, in their order."""
        like = self._all(Value(value.dtype, value.shape[1:]))
        last = start + step * (self.count - 1)
        low, high = min(start, last), max(start, last)
        params = {"dim": 0, "start": low, "end": high + 1, "step": abs(step)}
        made = self._made("slice", (value,), params, like)
        if (step < 0) == self.back:
            return made
        return self._made("flip", (made,), {"dims": (0,)}, like)

    def _spread(self, value: Value) -> Value:
        """A value of the body with a dimension for the repetitions, if it has none by itself."""
        outer, many = self.known.get(value, (value, False))
        if many:
            return outer
        like = self._all(value)
        return self._made("expand", (outer,), {"shape": like.shape}, like)

    def _ranked(self, value: Value, ndim: int) -> Value:
        """A value that broadcasts behind the dimension of the repetitions."""
        outer, many = self.known.get(value, (value, False))
        if not many or len(value.shape) == ndim:
            return outer
        shape = (self.count, *[1] * (ndim - len(value.shape)), *value.shape)
        return self._made("view", (outer,), {"shape": shape}, Value(outer.dtype, shape))

    # -- steps -------------------------------------------------------------------------------------

    def _step(self, step: Step | Loop) -> None:
        if isinstance(step, Loop) or len(step.outs) != 1 or not _is_plain(step):
            raise _NoWay
        (out,) = step.outs
        if not any(self.known.get(arg, (arg, False))[1] for arg in step.args):
            args = [self.known.get(arg, (arg, False))[0] for arg in step.args]
            self.known[out] = self._made(step.prim.name, args, step.params, out), False
            return
        like = self._all(out)
        name, params = step.prim.name, dict(step.params)
        if MAPS[step.prim]:
            args = [self._ranked(arg, len(out.shape)) for arg in step.args]
        elif (rule := REPEATED[step.prim]) is not None:
            args = [self._spread(arg) for arg in step.args]
            name, params = rule(params, like.shape)
            if name == "expand":
                args = [self._ranked(arg, len(out.shape)) for arg in step.args]
        elif name == "mm" and not self.known.get(step.args[1], (None, False))[1]:
            self.known[out] = self._rows_times(step, like), True
            return
        elif name == "mv" and not self.known.get(step.args[0], (None, False))[1]:
            matrix = self.known.get(step.args[0], (step.args[0], False))[0]
            turned = self._made("t", (matrix,), {}, Value(matrix.dtype, matrix.shape[::-1]))
            name, args = "mm", [self._spread(step.args[1]), turned]
        else:
            raise _NoWay
        self.known[out] = self._made(name, args, params, like), True

    def _rows_times(self, step: Step, like: Value) -> Value:
        """The product of matrices of all repetitions with one matrix."""
        first, second = step.args
        shape = (self.count * first.shape[0], first.shape[1])
        flat = Value(like.dtype, shape)
        rows = self._made("view", [self._spread(first)], {"shape": shape}, flat)
        matrix = self.known.get(second, (second, False))[0]
        flat = Value(like.dtype, (shape[0], second.shape[1]))
        made = self._made("mm", [rows, matrix], {}, flat)
        return self._made("view", [made], {"shape": like.shape}, like)


def _is_plain(step: Step) -> bool:
    return not any(isinstance(p, Value | Number | Affine | list) for p in step.params.values())


Changed = tuple[str, dict[str, Any]]


def _later(prim: Primitive, word: str) -> Callable[[dict[str, Any], Shape], Changed]:
    """The same with a parameter that counts dimensions, with one more in front."""

    def moved(params: dict[str, Any], shape: Shape) -> Changed:
        dim = params[word]
        later = tuple([d + 1 for d in dim]) if isinstance(dim, tuple) else dim + 1
        return prim.name, {**params, word: later}

    return moved


def _combining(prim: Primitive) -> Callable[[dict[str, Any], Shape], Changed] | None:
    return _later(prim, "dim") if COMBINES[prim] and "dim" in prim.params else None


REPEATED: Facet[Callable[[dict[str, Any], Shape], Changed] | None] = Facet("repeated", _combining)
"""How a step on one repetition is one on all: for its parameters and the shape of the result."""

for _prim in (records.select, records.slice, records.cat, records.stack):
    REPEATED.of(_prim)(_later(_prim, "dim"))
REPEATED.of(records.flip)(_later(records.flip, "dims"))


@REPEATED.of(records.view)
def _viewed(params: dict[str, Any], shape: Shape) -> Changed:
    return "view", {"shape": shape}


@REPEATED.of(records.expand)
def _expanded(params: dict[str, Any], shape: Shape) -> Changed:
    return "expand", {"shape": shape}


@REPEATED.of(records.t)
def _turned(params: dict[str, Any], shape: Shape) -> Changed:
    return "permute", {"dims": (0, 2, 1) if len(shape) == 3 else (0, 1)}


@REPEATED.of(records.permute)
def _permuted(params: dict[str, Any], shape: Shape) -> Changed:
    return "permute", {"dims": (0, *[d + 1 for d in params["dims"]])}
