"""Layer 8 · compiler: convolution and its derivatives in native code.

NOTE [windows in place]
Each image is copied once, to a box padded with the zeros that its windows reach. With a stride, the
box has a plane for each remainder modulo the stride, where elements a stride apart are adjacent. A
tap thus reads the elements of adjacent results from adjacent addresses, at a constant offset, and
no im2col matrix is stored. A tile of results, several planes by several vectors of positions, stays
in registers during the loop over all taps; each tap loads a vector from the box for each vector of
the tile, and one weight for each of its planes. The gradient of the weights keeps the sums of
several planes and several taps in registers, and loops over positions.

NOTE [geometry in a table]
Sizes, offsets and strides are numbers that the code reads (`Varying`), so that convolutions whose
results fill vectors in the same way share machine code, and with them gradients of inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from operator import gt
from typing import Any, NamedTuple

import numpy as np

from wengert.compiler.codegen.code import (
    Array,
    Cell,
    Code,
    llvm_type,
    strides_of,
)
from wengert.compiler.codegen.native.forms import NATIVE, NativeForm, fill_zeros, nest, outlined
from wengert.compiler.codegen.scalars.lane import Lane
from wengert.compiler.codegen.vectors import register_bytes
from wengert.compiler.ir.programs import Step, Varying
from wengert.kernels.convolution import phases_of
from wengert.prims import records

Shape = tuple[int, ...]
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_INT64 = np.dtype(np.int64)
# vectors, or taps, per tile
_TILE_VECTORS = 3
# the largest box in bytes; each call of a convolution has its own
_MAX_BOX_BYTES = 1 << 22
# bytes of the L1 cache for the planes of a tile, and of the L2 cache for the images of a box
_L1_BYTES, _L2_BYTES = 24 << 10, 1 << 18
# from so many multiplications on, im2col and BLAS win where vectors would be mostly empty, where
# so many planes meet, or, from fewer on, where windows do not overlap
_LARGE_WORK, _LITTLE_WORK, _MOST_PLANES = 1 << 21, 1 << 18, 256
# where so many planes meet at so few places, BLAS sums the gradient of weights quicker
_MANY_PLANES, _FEW_PLACES = 64, 256


def _read(numbers: Sequence[int]) -> Shape:
    """Make code read numbers, except 1 (NOTE [geometry in a table])."""
    return tuple([1 if number == 1 else Varying(number) for number in numbers])


class _Copy(NamedTuple):
    """A strided copy into a plane of a box: offsets, extents, and strides in the source."""

    source: int
    target: int
    counts: Shape
    steps: Shape


class _Box:
    """The layout of windows in the copies of images (see NOTE [windows in place]).

    Parameters
    ----------
    planes: The number of planes in a group.
    sizes, kernel, size: The spatial sizes of the images, of a window, and of the results.

    Attributes
    ----------
    size: The spatial sizes of the results, merged to one where windows have one element.
    pitches: The strides between the windows of adjacent results, along each dimension.
    plane: The number of elements of a plane in the box.
    taps: The offset of each element of a window from its first.
    copies: The copies that fill a plane of the box, which is 0 elsewhere.
    """

    def __init__(
        self,
        planes: int,
        sizes: Shape,
        kernel: Shape,
        size: Shape,
        stride: Shape,
        padding: Shape,
        dilation: Shape,
    ) -> None:
        if set(kernel) == set(stride) == {1} and not any(padding) and sizes == size:
            sizes = size = (math.prod(size),)
            kernel, stride, padding, dilation = (1,), (1,), (0,), (1,)
        self.planes, self.size = planes, size
        each = list(zip(kernel, stride, dilation, strict=True))
        shifts = [[k * gap // step for k in range(n)] for n, step, gap in each]
        phases = [sorted({k * gap % step for k in range(n)}) for n, step, gap in each]
        extents = [n + max(shift) for n, shift in zip(size, shifts, strict=True)]
        self.pitches = strides_of(extents)
        phase_size = math.prod(extents)
        grid = strides_of([len(found) for found in phases])
        self.plane = phase_size * math.prod(map(len, phases))
        self.taps = []
        for tap in product(*map(range, kernel)):
            at = 0
            for d, (k, (_, step, gap)) in enumerate(zip(tap, each, strict=True)):
                phase = phases[d].index(k * gap % step)
                at += phase * grid[d] * phase_size + shifts[d][k] * self.pitches[d]
            self.taps.append(at)
        steps = strides_of(sizes)
        self.copies = []
        for number, offsets in enumerate(product(*phases)):
            source, target, counts = 0, number * phase_size, []
            for d, phase in enumerate(offsets):
                # position i of the box holds element i * stride + phase - padding
                first = max(0, -((phase - padding[d]) // stride[d]))
                last = min(extents[d], (sizes[d] - 1 - phase + padding[d]) // stride[d] + 1)
                source += (first * stride[d] + phase - padding[d]) * steps[d]
                target += first * self.pitches[d]
                counts.append(last - first)
            if min(counts) > 0:
                strides = tuple([s * step for s, step in zip(steps, stride, strict=True)])
                start = Varying(source), Varying(target)
                self.copies.append(_Copy(*start, tuple(counts), strides))

    def fill(self, code: Code, image: Array, box: Array, plane: int) -> None:
        """Copy the planes of an image, of `plane` elements each, to the box."""
        width = image.dtype.itemsize
        for source, target, counts, steps in self.copies:
            rows = [(self.planes, *counts[:-1]), (plane, *steps[:-1])]
            pitches = (self.plane, *self.pitches[:-1])
            start = (str(source), str(target))
            with nest(code, rows[0], rows[1], pitches, start=start) as (given, to):
                given = code.at(image.pointer, image.dtype, given)
                to = code.at(box.pointer, box.dtype, to)
                if steps[-1] == 1:
                    code.copy(to, given, counts[-1] * width)
                    continue
                with code.loop(counts[-1]) as i:
                    at = code.at(given, image.dtype, code.offset((steps[-1],), [i]))
                    code.store(code.load(at, image.dtype), code.at(to, box.dtype, i), box.dtype)


# -- tiles ----------------------------------------------------------------------------------------


class _Piece(NamedTuple):
    """The results in one vector: line, start, width of the vector, and elements used."""

    line: int
    start: int
    width: int
    used: int


def _lanes(dtype: np.dtype[Any]) -> int:
    return register_bytes() // dtype.itemsize


def _tile_planes() -> int:
    """Return the planes of a tile, whose sums must fit in registers (32 with AVX-512)."""
    return 8 if register_bytes() == 64 else 4


def _pieces(length: int, lanes: int) -> list[_Piece]:
    """Split a line into vectors, the last of which may be narrower, or partly used."""
    pieces = []
    for start in range(0, length, lanes):
        used = int(min(lanes, length - start))
        pieces.append(_Piece(0, start, 1 << (used - 1).bit_length(), used))
    return pieces


def _tiles(code: Code, lines: int, pieces: list[_Piece]) -> Iterator[tuple[str, str, list[_Piece]]]:
    """Loop over the tiles of some lines; yield each one's first line, start and pieces."""
    if len(pieces) < _TILE_VECTORS:
        lines_per_tile = _TILE_VECTORS // len(pieces)
        for first, stop, count in _runs(lines, lines_per_tile):
            tile = [piece._replace(line=k) for k in range(count) for piece in pieces]
            with code.loop(stop, str(first), step=count) as line:
                yield line, "0", tile
        return
    whole = [piece for piece in pieces if piece.used == pieces[0].width]
    lanes, end = pieces[0].width, len(whole) - len(whole) % _TILE_VECTORS
    with code.loop(lines) as line:
        if end:
            with code.loop(end * lanes, step=_TILE_VECTORS * lanes) as start:
                yield line, start, pieces[:_TILE_VECTORS]
        if end < len(pieces):
            yield line, "0", pieces[end:]


def _runs(count: int, width: int) -> list[tuple[int, int, int]]:
    """Split a count into full groups and the remainder: start, end and width of each run."""
    end = count - count % width
    runs = [(0, end, width)] if end else []
    return [*runs, (end, count, int(count - end))] if end < count else runs


# -- the convolution ------------------------------------------------------------------------------


class _Weights(NamedTuple):
    """The strides of groups, result planes and planes, and the offset of each tap."""

    group: int
    result: int
    plane: int
    taps: Sequence[int]


class _Job:
    """Sums of products of windows and weights: a convolution, or one phase of it.

    Attributes
    ----------
    each: The number of result planes in a group.
    size: The number of windows along each dimension.
    start, steps: The offset of the first result, and the strides, in a result plane.
    """

    def __init__(
        self, given: Shape, groups: int, each: int, size: Shape, kernel: Shape, weights: _Weights
    ) -> None:
        self.input_shape, self.groups, self.each = given, groups, each
        self.kernel, self.weights = kernel, weights
        self.planes, self.plane = given[1] // groups, math.prod(given[2:])
        self.taps = self.planes * Varying(len(weights.taps))
        self.places = math.prod(size)
        self.start, self.steps = 0, strides_of(size)

    def with_windows(self, size: Shape, stride: Shape, padding: Shape, dilation: Shape) -> _Job:
        """Set the number and the layout of windows."""
        given, kernel = self.input_shape[2:], self.kernel
        self.size = size
        self.box = _Box(self.planes, given, kernel, size, stride, padding, dilation)
        return self

    def strided(self, places: Sequence[slice], size: Shape) -> _Job:
        """Make the results a strided subset of the result planes."""
        own = strides_of(size)
        pairs = list(zip(own, places, strict=True))
        self.start = sum(step * place.start for step, place in pairs)
        self.steps = tuple([step * place.step for step, place in pairs])
        return self

    def is_strided(self) -> bool:
        """Return whether the results are strided."""
        return math.prod(self.box.size) < self.places

    def box_elements(self, dtype: np.dtype[Any]) -> int:
        """Return the elements of the box, with padding for vectors that read past its end."""
        return self.planes * self.box.plane + _lanes(dtype)

    def work(self) -> int:
        """Return the number of multiplications."""
        return self.input_shape[0] * self.groups * self.each * self.taps * math.prod(self.box.size)


def _jobs(step: Step) -> list[_Job]:
    params = step.params
    given, weight = (_read(value.shape) for value in step.args[:2])
    (groups,), size = _read([params["groups"]]), _read(step.outs[0].shape[2:])
    kernel = weight[2:]
    window = {name: params[name] for name in ("stride", "padding", "dilation")}
    taps = math.prod(kernel)
    if not (step.prim is records.correlate_input or params.get("transposed")):
        each, planes = weight[0] // groups, weight[1]
        weights = _Weights(each * planes * taps, planes * taps, taps, range(taps))
        return [_Job(given, groups, each, size, kernel, weights).with_windows(size, **window)]
    each, planes = weight[1], weight[0] // groups
    jobs = []
    for (_, *places), (_, *chosen), seen in phases_of(size, kernel, *window.values()):
        parts = [range(n)[part] for n, part in zip(kernel, chosen, strict=True)]
        own = [int(np.ravel_multi_index(tap, kernel)) for tap in product(*parts)]
        weights = _Weights(planes * each * taps, taps, each * taps, own)
        job = _Job(given, groups, each, size, tuple(map(len, parts)), weights)
        seen = {**seen, "size": _read(seen["size"])}
        jobs.append(job.with_windows(**seen).strided(places, size))
    return jobs


def _have_one_float_dtype(step: Step) -> bool:
    """Return whether all values have one dtype of floats, and none is empty."""
    values, dtype = (*step.args, *step.outs), step.outs[0].dtype
    return dtype in _FLOATS and all(value.dtype == dtype and value.size for value in values)


def _accepts(step: Step) -> bool:
    if not _have_one_float_dtype(step):
        return False
    dtype = step.outs[0].dtype
    jobs = _jobs(step)
    if len(step.args) == 3 and _has_gaps(jobs):
        return False
    work = sum(job.work() for job in jobs)
    return all(
        job.box_elements(dtype) * dtype.itemsize <= _MAX_BOX_BYTES
        and _is_profitable(step, step.args[1].shape, work, job.box.size)
        for job in jobs
    )


def _has_gaps(jobs: Sequence[_Job]) -> bool:
    """Return whether some results have no taps."""
    return sum(math.prod(job.box.size) for job in jobs) < (jobs[0].places if jobs else 1)


def _is_profitable(step: Step, weight: Shape, work: int, size: Shape) -> bool:
    """Return whether native code is quicker than im2col and BLAS, and worth its compilation."""
    if work >= _LITTLE_WORK and not any(map(gt, weight[2:], step.params["stride"])):
        return False  # im2col copies each element once
    lanes = _lanes(step.outs[0].dtype)
    filled = 2 * size[-1] >= -(-size[-1] // lanes) * lanes
    return work < _LARGE_WORK or (filled and min(weight[:2]) < _MOST_PLANES)


def _cost(step: Step) -> int:
    return 1000 + sum(job.work() for job in _jobs(step)) * step.outs[0].dtype.itemsize // 64


def _tap_table(code: Code, box: _Box) -> Array:
    """Emit the table of offsets in the box: of each tap of each plane from the first."""
    (count,), taps = _read([len(box.taps)]), code.numbers(box.taps)
    found = Array(code.workspace(8 * box.planes * count), _INT64, (box.planes * count,), (1,))
    with code.loop(box.planes) as c, code.loop(count) as k:
        tap = code.load(code.at(taps, _INT64, k), _INT64)
        at = code.added(tap, code.offset((box.plane,), [c]))
        to = code.at(found.pointer, _INT64, code.offset((count, 1), [c, k]))
        code.store(at, to, _INT64)
    return found


def _for_blocks(each: int, write: Callable[[int, int, int], None]) -> None:
    for first, stop, count in _runs(each, _tile_planes()):
        write(first, stop, count)


def _pack_weights(code: Code, job: _Job, weight: Array) -> Array:
    """Emit a packed copy of the weights: by blocks of result planes, tap by tap."""
    dtype, size = weight.dtype, job.groups * job.each * job.taps
    packed = Array(code.workspace(size * dtype.itemsize), dtype, (size,), (1,))
    own, window = job.weights, Varying(len(job.weights.taps))
    taps = code.numbers(own.taps)

    def write(first: int, stop: int, count: int) -> None:
        shape = (job.groups, (stop - first) // count, job.planes)
        given = (own.group, count * own.result, own.plane)
        to = (job.each * job.taps, count * job.taps, window * count)
        start = (str(first * own.result), str(first * job.taps))
        with nest(code, shape, given, to, start=start) as (source, target), code.loop(window) as k:
            source = code.added(source, code.load(code.at(taps, _INT64, k), _INT64))
            target = code.added(target, code.offset((count,), [k]))
            for r in range(count):
                at = code.added(source, code.offset((own.result,), [str(r)]))
                value = code.load(code.at(weight.pointer, dtype, at), dtype)
                code.store(value, code.at(packed.pointer, dtype, code.added(target, str(r))), dtype)

    _for_blocks(job.each, write)
    return packed


def _emit(code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    jobs, (out,) = _jobs(step), outs
    if _has_gaps(jobs):
        fill_zeros(code, out.pointer, step.outs[0].size * out.dtype.itemsize)
    # the jobs run in order, in the same workspace
    per_job = zip(*[_workspace_sizes(job, out.dtype) for job in jobs], strict=True)
    sizes = [max(each) for each in per_job]
    memory = [Array(code.workspace(n), np.dtype(np.uint8), (n,), (1,)) for n in sizes]
    for job in jobs:
        _emit_job(code, job, ins, out, memory)


def _workspace_sizes(job: _Job, dtype: np.dtype[Any]) -> list[int]:
    """Return the bytes of the box, of the table of taps, of packed weights, and of a block."""
    width = dtype.itemsize
    sizes = [
        job.box_elements(dtype) * width,
        8 * job.taps,
        job.groups * job.each * job.taps * width,
    ]
    # strided results are contiguous at first, in a block of their own
    return [*sizes, _tile_planes() * math.prod(job.size) * width] if job.is_strided() else sizes


def _emit_job(
    code: Code, job: _Job, ins: Sequence[Array], out: Array, memory: Sequence[Array]
) -> None:
    dtype = out.dtype

    def write(inner: Code, arrays: list[Array]) -> None:
        target, image, weight, *more = arrays
        bias, buffers = more[: len(ins) - 2], more[len(ins) - 2 :]
        workspaces = iter(buffers)
        inner.workspace = lambda _: next(workspaces).pointer
        box = image._replace(pointer=inner.workspace(0))
        fill_zeros(inner, box.pointer, job.box_elements(dtype) * dtype.itemsize)
        table, packed = _tap_table(inner, job.box), _pack_weights(inner, job, weight)
        blocks = [scratch._replace(dtype=dtype) for scratch in workspaces]
        with inner.loop(job.input_shape[0]) as n, inner.loop(job.groups) as g:
            planes = job.planes * job.plane
            at = inner.offset((job.groups * planes, planes), [n, g])
            own = image._replace(pointer=inner.at(image.pointer, dtype, at))
            job.box.fill(inner, own, box, job.plane)
            result_offset = inner.offset(
                (job.groups * job.each * job.places, job.each * job.places), [n, g]
            )
            start = inner.offset((job.each,), [g])

            def block(first: int, stop: int, count: int) -> None:
                with inner.loop(stop, str(first), step=count) as o:
                    at = inner.offset((job.taps, job.each * job.taps), [o, g])
                    weights = packed._replace(pointer=inner.at(packed.pointer, dtype, at))
                    here = inner.added(result_offset, inner.offset((job.places,), [o]))
                    result = target._replace(pointer=inner.at(target.pointer, dtype, here))
                    added = inner.added(start, o)
                    heads = [inner.at(b.pointer, dtype, added) for b in bias]
                    for scratch in blocks:
                        _emit_results(inner, job, box, table, weights, scratch, heads, count)
                        _scatter(inner, job, scratch, result, count)
                    if not blocks:
                        _emit_results(inner, job, box, table, weights, result, heads, count)

            _for_blocks(job.each, block)

    outlined(code, "convolution", [out, *ins, *memory], write)


def _scatter(code: Code, job: _Job, given: Array, out: Array, count: int) -> None:
    """Scatter the results of `count` planes to their strided positions."""
    own, to = strides_of((count, *job.size)), (job.places, *job.steps)
    with nest(code, (count, *job.size), own, to, start=("0", str(job.start))) as (source, target):
        value = code.load(code.at(given.pointer, given.dtype, source), given.dtype)
        code.store(value, code.at(out.pointer, out.dtype, target), out.dtype)


def _emit_results(
    code: Code,
    job: _Job,
    box: Array,
    table: Array,
    weights: Array,
    out: Array,
    bias: Sequence[str],
    count: int,
) -> None:
    """Emit the results of `count` planes for one image."""
    size, pitches = job.box.size, job.box.pitches
    lines, length = (1, *size)[-2:]
    steps, own = (0, *pitches)[-2:], (length, 1)
    outer = size[:-2]
    places = math.prod(size)
    with nest(code, outer, pitches[:-2], strides_of(size)[: len(outer)]) as (at, to):
        for line, start, pieces in _tiles(code, lines, _pieces(length, _lanes(box.dtype))):
            head = code.added(at, code.offset(steps, [line, start]))
            target = code.added(to, code.offset(own, [line, start]))
            tile = _Tile(code, box.dtype, pieces, count)
            tile.begin(bias)
            tile.walk(job.taps, code.at(box.pointer, box.dtype, head), table, weights, steps[0])
            tile.end(code.at(out.pointer, out.dtype, target), places, length)


class _Tile:
    """Accumulators of some result planes, for some pieces of lines."""

    def __init__(
        self, code: Code, dtype: np.dtype[Any], pieces: Sequence[_Piece], count: int
    ) -> None:
        self.code, self.dtype, self.pieces = code, dtype, pieces
        self.vectors = [Lane(code, dtype, count=piece.width) for piece in pieces]
        self.sums = [[code.cell(vector.type) for vector in self.vectors] for _ in range(count)]

    def begin(self, bias: Sequence[str]) -> None:
        """Initialise the sums: 0, or the bias of each plane."""
        code = self.code
        for r, cells in enumerate(self.sums):
            number = "0.0"
            for head in bias:
                number = code.load(code.at(head, self.dtype, r), self.dtype)
            for vector, cell in zip(self.vectors, cells, strict=True):
                cell.set(vector.spread(number))

    def walk(self, steps: int, head: str, table: Array, weights: Array, pitch: int) -> None:
        """Accumulate over all taps."""
        code, dtype = self.code, self.dtype
        starts = [code.plain(piece.line * pitch + piece.start) for piece in self.pieces]
        with code.loop(steps) as t:
            tap = code.load(code.at(table.pointer, _INT64, t), _INT64)
            here = code.at(head, dtype, tap)
            given = [
                vector.load(code.at(here, dtype, start))
                for vector, start in zip(self.vectors, starts, strict=True)
            ]
            own = code.at(weights.pointer, dtype, code.offset((len(self.sums),), [t]))
            for r, cells in enumerate(self.sums):
                factor = code.load(code.at(own, dtype, r), dtype)
                for vector, part, cell in zip(self.vectors, given, cells, strict=True):
                    cell.set(vector.fma(vector.spread(factor), part, cell.get()))

    def end(self, target: str, places: int, length: int) -> None:
        """Store the sums."""
        code = self.code
        for r, cells in enumerate(self.sums):
            for vector, piece, cell in zip(self.vectors, self.pieces, cells, strict=True):
                to = code.at(target, self.dtype, r * places + piece.line * length + piece.start)
                vector.store_some(cell.get(), to, piece.used)


# -- the gradient of the weights ----------------------------------------------------------------


class _WeightGradient:
    """Sums of products of the results' cotangents and windows."""

    def __init__(self, step: Step) -> None:
        params = step.params
        given, other = (value.shape for value in step.args)
        self.dtype = step.outs[0].dtype
        self.count, self.groups = given[0], params["groups"]
        self.each, planes = other[1] // self.groups, given[1] // self.groups
        self.plane, self.places = math.prod(given[2:]), math.prod(other[2:])
        window = (params["stride"], params["padding"], params["dilation"])
        self.box = _Box(planes, given[2:], params["size"], other[2:], *window)
        self.steps = planes * len(self.box.taps)
        width = self.dtype.itemsize
        # as many images at a time as keep a tile's planes in cache
        images = _L1_BYTES // (_tile_planes() * self.places * width)
        images = min(images, _L2_BYTES // (planes * self.box.plane * width), self.count)
        self.images = max(1, images)
        self.box_elements = self.images * planes * self.box.plane + _lanes(self.dtype)

    def work(self) -> int:
        """Return the number of multiplications."""
        return self.count * self.groups * self.each * self.steps * self.places


def _accepts_weight_gradient(step: Step) -> bool:
    if not _have_one_float_dtype(step):
        return False
    dtype = step.outs[0].dtype
    job = _WeightGradient(step)
    if min(job.each, job.box.planes) >= _MANY_PLANES and job.places <= _FEW_PLACES:
        return False
    return job.box_elements * dtype.itemsize <= _MAX_BOX_BYTES and _is_profitable(
        step, step.outs[0].shape, job.work(), job.box.size
    )


def _weight_gradient_cost(step: Step) -> int:
    return 1000 + _WeightGradient(step).work() * step.outs[0].dtype.itemsize // 64


def _emit_weight_gradient(
    code: Code, step: Step, ins: Sequence[Array], outs: Sequence[Array]
) -> None:
    job = _WeightGradient(step)
    dtype, planes = job.dtype, job.box.planes
    box_buffer = Array(
        code.workspace(job.box_elements * dtype.itemsize), dtype, (job.box_elements,), (1,)
    )
    size = job.steps * 8
    table_buffer = Array(code.workspace(size), np.dtype(np.uint8), (size,), (1,))

    def write(inner: Code, arrays: list[Array]) -> None:
        box, memory, out, image, other = arrays
        inner.workspace = lambda _: memory.pointer
        fill_zeros(inner, box.pointer, job.box_elements * dtype.itemsize)
        fill_zeros(inner, out.pointer, job.groups * job.each * job.steps * dtype.itemsize)
        table = _tap_table(inner, job.box)
        with inner.loop(job.count, step=job.images) as n, inner.loop(job.groups) as g:
            after = inner.let(f"add nsw i64 {n}, {job.images}")
            before_end = inner.let(f"icmp slt i64 {after}, {job.count}")
            stop = inner.let(f"select i1 {before_end}, i64 {after}, i64 {job.count}")
            images = inner.let(f"sub nsw i64 {stop}, {n}")
            at = inner.offset((job.groups * planes * job.plane, planes * job.plane), [n, g])
            start = inner.at(image.pointer, dtype, at)
            with inner.loop(images) as i:
                at = inner.offset((job.groups * planes * job.plane,), [i])
                to = inner.offset((planes * job.box.plane,), [i])
                own = image._replace(pointer=inner.at(start, dtype, at))
                target = box._replace(pointer=inner.at(box.pointer, dtype, to))
                job.box.fill(inner, own, target, job.plane)
            whole, part = job.groups * job.each * job.places, job.each * job.places
            given = inner.at(other.pointer, dtype, inner.offset((whole, part), [n, g]))
            to = inner.offset((job.each * job.steps,), [g])
            result = inner.at(out.pointer, dtype, to)

            def block(first: int, stop: int, count: int) -> None:
                for begin, end, taps in _runs(job.steps, _TILE_VECTORS):
                    with (
                        inner.loop(stop, str(first), step=count) as o,
                        inner.loop(end, str(begin), step=taps) as t,
                    ):
                        heads = inner.at(given, dtype, inner.offset((job.places,), [o]))
                        offsets = [
                            inner.load(
                                inner.at(table.pointer, _INT64, inner.added(t, str(k))), _INT64
                            )
                            for k in range(taps)
                        ]
                        windows = [inner.at(box.pointer, dtype, tap) for tap in offsets]
                        to = inner.at(result, dtype, inner.offset((job.steps, 1), [o, t]))
                        _accumulate(inner, job, images, heads, windows, to, count)

            _for_blocks(job.each, block)

    outlined(code, step.prim.name, [box_buffer, table_buffer, *outs, *ins], write)


def _accumulate(
    code: Code,
    job: _WeightGradient,
    images: str,
    head: str,
    windows: Sequence[str],
    target: str,
    count: int,
) -> None:
    """Accumulate what some images add to the slopes of some taps of `count` planes."""
    dtype, kind, box = job.dtype, llvm_type(job.dtype), job.box
    pieces = _pieces(box.size[-1], _lanes(dtype))
    whole = [piece for piece in pieces if piece.used == pieces[0].width]
    # full pieces form a loop, and share accumulators with a last piece of their width
    parts = [(0, whole[0].width * len(whole), whole[0])] if whole else []
    parts += [(piece.start, piece.start + 1, piece) for piece in pieces[len(whole) :]]
    widths = dict.fromkeys([piece.width for _, _, piece in parts])
    totals: dict[int, list[list[Cell]]] = {}
    for width in widths:
        vector = Lane(code, dtype, count=width)
        zeros = "zeroinitializer"
        totals[width] = [[code.cell(vector.type, zeros) for _ in windows] for _ in range(count)]
    own = strides_of(box.size)[:-1]
    with code.loop(images) as i:
        of_image = job.groups * job.each * job.places
        start = (code.offset((box.planes * box.plane,), [i]), code.offset((of_image,), [i]))
        with nest(code, box.size[:-1], box.pitches[:-1], own, start=start) as (at, given):
            for first, end, piece in parts:
                vector = Lane(code, dtype, count=piece.width)
                with code.loop(end, str(first), step=piece.width) as x:
                    here, place = code.added(at, x), code.added(given, x)
                    window_vectors = [
                        vector.keep(vector.load(code.at(pointer, dtype, here)), piece.used)
                        for pointer in windows
                    ]
                    for r in range(count):
                        to = code.at(code.at(head, dtype, place), dtype, r * job.places)
                        factor = vector.load_some(to, piece.used)
                        for window, cell in zip(
                            window_vectors, totals[piece.width][r], strict=True
                        ):
                            cell.set(vector.fma(factor, window, cell.get()))
    for r in range(count):
        for k in range(len(windows)):
            to = code.at(target, dtype, r * job.steps + k)
            total = code.load(to, dtype)
            for width in widths:
                vector = Lane(code, dtype, count=width)
                cell = totals[width][r][k]
                found = vector.reduced("add", cell.get())
                total = code.let(f"fadd {kind} {total}, {found}")
            code.store(total, to, dtype)


NATIVE.of(
    *(records.convolution, records.convolution_without_bias, records.correlate),
    records.correlate_input,
)(NativeForm(_accepts, _emit, _cost))
NATIVE.of(records.correlate_weight)(
    NativeForm(_accepts_weight_gradient, _emit_weight_gradient, _weight_gradient_cost)
)
