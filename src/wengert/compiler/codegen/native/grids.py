"""Layer 8 · compiler: bilinear sampling of planes at the points of a grid, in native code.

A point that is not finite sets the error flag (NOTE [error flag] in `codegen.code`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.codegen.code import Array, Code
from wengert.compiler.codegen.native.forms import NATIVE, NativeForm, fill_zeros, outlined
from wengert.compiler.codegen.scalars.lane import Lane
from wengert.compiler.ir.programs import Step, open_ended
from wengert.prims import records

__all__: list[str] = []

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class _Axis(NamedTuple):
    """The position of a point along a dimension, between two elements.

    Attributes
    ----------
    places, within: The index of each, or 0 out of bounds, and whether it is in bounds.
    weights: The interpolation weight of each.
    scale: The derivative of the position by the grid's coordinate.
    """

    places: list[str]
    within: list[str]
    weights: list[str]
    scale: float


def _axis(lane: Lane, number: str, size: int, align_corners: bool) -> _Axis:
    code, kind = lane.code, lane.dtype.type
    scale = float(kind((size - align_corners) / 2))
    # bit for bit as in the kernel: slopes jump where a position crosses an element
    position = lane.add(lane.mul(number, lane.number(scale)), lane.number((size - 1) / 2))
    finite = lane.compare("lt", lane.size(position), lane.number(math.inf))
    code.fail_if(code.let(f"xor i1 {finite}, true"))
    floor = lane.intrinsic("floor", position)
    fraction = lane.sub(position, floor)
    clamped = lane.at_most(lane.at_least(floor, lane.number(-2)), lane.number(size))
    clamped = lane.select(finite, clamped, lane.number(0))
    first = code.let(f"fptosi {lane.type} {clamped} to i64")
    places, within = [], []
    for place in (first, code.added(first, "1")):
        within.append(code.let(f"icmp ult i64 {place}, {size}"))
        places.append(code.let(f"select i1 {within[-1]}, i64 {place}, i64 0"))
    return _Axis(places, within, [lane.sub(lane.number(1), fraction), fraction], scale)


def _axes(lane: Lane, grid: Array, point: str, sizes: Sequence[int], step: Step) -> list[_Axis]:
    """Return the axes of a point; the grid holds its coordinates in reverse order."""
    code = lane.code
    at = code.offset((2,), [point])
    return [
        _axis(
            lane,
            code.load(code.at(grid.pointer, grid.dtype, code.added(at, str(1 - d))), grid.dtype),
            size,
            step.params["align_corners"],
        )
        for d, size in enumerate(sizes)
    ]


def _corners(lane: Lane, axes: list[_Axis], width: int) -> list[tuple[str, str, str]]:
    """Return offset, whether it is in bounds, and weight of each of four elements."""
    code = lane.code
    above, beside = axes
    return [
        (
            code.added(code.offset((width,), [above.places[i]]), beside.places[j]),
            lane.both(above.within[i], beside.within[j]),
            lane.mul(above.weights[i], beside.weights[j]),
        )
        for i in (0, 1)
        for j in (0, 1)
    ]


def _emit(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    back, slope = step.prim is records.grid_sample_backward, len(step.args) == 3
    planes = step.outs[0] if back else step.args[1 if slope else 0]
    batch, channels, *sizes = planes.shape
    points = math.prod(step.args[-1].shape[1:3])
    size = math.prod(sizes)

    def write(inner: Code, arrays: list[Array]) -> None:
        out, grid = arrays[0], arrays[-1]
        # the array with an element per point, and the one with planes
        flat, whole = (arrays[1], out) if back else (arrays[1], arrays[2]) if slope else arrays[:2]
        lane, dtype = Lane(inner, out.dtype), out.dtype
        zero = lane.number(0)
        if back:
            fill_zeros(inner, out.pointer, batch * channels * size * dtype.itemsize)
        with inner.loop(batch) as n, inner.loop(points) as p:
            point = inner.added(inner.offset((points,), [n]), p)
            axes = _axes(lane, grid, point, sizes, step)
            corners = _corners(lane, axes, sizes[1])
            sums = [inner.cell(lane.type, zero) for _ in corners] if slope else []
            with inner.loop(channels) as c:
                plane = inner.added(inner.offset((channels,), [n]), c)
                at = inner.added(inner.offset((points,), [plane]), p)
                here = inner.at(flat.pointer, dtype, at)
                first, total = inner.offset((size,), [plane]), zero
                g = inner.load(here, dtype) if back or slope else ""
                for k, (place, known, weight) in enumerate(corners):
                    there = inner.at(whole.pointer, dtype, inner.added(first, place))
                    value = inner.load(there, dtype)
                    if back:
                        added = lane.select(known, lane.mul(g, weight), zero)
                        inner.store(lane.add(value, added), there, dtype)
                        continue
                    value = lane.select(known, value, zero)
                    if slope:
                        sums[k].set(lane.add(sums[k].get(), lane.mul(value, g)))
                    else:
                        total = lane.add(total, lane.mul(value, weight))
                if not back and not slope:
                    inner.store(total, here, dtype)
            if slope:
                found = _derivatives(lane, axes, [cell.get() for cell in sums])
                for d, each in enumerate(found):
                    at = inner.added(inner.offset((2,), [point]), str(1 - d))
                    inner.store(each, inner.at(out.pointer, dtype, at), dtype)

    outlined(code, step.prim.name, [*outs, *ins], write)


def _derivatives(lane: Lane, axes: list[_Axis], sums: list[str]) -> list[str]:
    """Return the derivatives along both dimensions, from the sums at the four elements."""
    found = []
    for d, pairs in enumerate((((0, 2), (1, 3)), ((0, 1), (2, 3)))):
        parts = [
            lane.mul(lane.sub(sums[far], sums[near]), weight)
            for (near, far), weight in zip(pairs, axes[1 - d].weights, strict=True)
        ]
        found.append(lane.mul(lane.add(*parts), lane.number(axes[d].scale)))
    return found


def _accepts(step: Step) -> bool:
    values, grid, params = [*step.args, *step.outs], step.args[-1], step.params
    return (
        (params["mode"], params["padding_mode"]) == ("bilinear", "zeros")
        and grid.shape[-1] == 2
        and all(value.dtype in _FLOATS and value.dtype == grid.dtype for value in values)
        and all(
            math.prod(value.shape) and not any(map(open_ended, value.shape)) for value in values
        )
    )


def _cost(step: Step) -> int:
    return 100 + 16 * max(math.prod(value.shape) for value in (*step.args, *step.outs))


_FORM: Any = NativeForm(_accepts, _emit, _cost)
NATIVE.of(records.grid_sampler_2d, records.grid_sample_backward, records.grid_sample_slope)(_FORM)
