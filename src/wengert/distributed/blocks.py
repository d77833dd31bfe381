"""Layer 10 · distributed: Jacobians in blocks of rows, and functions mapped in chunks."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.base.containers import dims_of, flatten
from wengert.distributed.batches import Held, read_only, seen
from wengert.distributed.checks import check_count, check_function
from wengert.distributed.gradients import Shipped, tasks_of
from wengert.distributed.parameters import Carried, Nested
from wengert.distributed.partitions import partitions
from wengert.distributed.programs import Program, is_module, name_of
from wengert.distributed.schedulers import Cluster, Graph, Handle, Local, scheduler_of
from wengert.distributed.work import partition_key, run_on
from wengert.func.batch import mapped_leaves
from wengert.func.batch import vmap as vmap_here
from wengert.func.jacobians import jacobian as jacobian_here
from wengert.func.reverse import vjp
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.modes import no_grad


class _Blocks:
    """Runs a program on several blocks, by a scheduler.

    Parameters
    ----------
    function, scheduler, seed: As in `jacobian`.
    """

    def __init__(self, function: Callable[..., Any], scheduler: Any, seed: int) -> None:
        self.name = name_of(function)
        self.seed = seed
        self.scheduler = scheduler
        self._shipped = Shipped(function)

    def run(
        self,
        place: Local | Cluster,
        work: Callable[..., Any],
        what: str,
        params: Nested | Carried,
        blocks: Sequence[Any],
        *options: Any,
    ) -> list[Any]:
        """Run `work` on each block: on a handle, or on a value that its task carries."""
        program, sent = self._shipped.on(place, params), place.ship(Held(params.sent()))
        tasks = list(tasks_of(self.seed, 0, range(len(blocks))))
        held = Held(options)

        def build() -> tuple[Graph, Any]:
            graph: Graph = {}
            run = uuid.uuid4().hex
            first, values = program.argument(graph), sent.argument(graph)
            keys = []
            for block, task in zip(blocks, tasks, strict=True):
                key = partition_key(what, run, task.value.partition)
                data = block.argument(graph) if isinstance(block, Handle) else Held(block)
                graph[key] = (run_on, work, first, values, data, task, held)
                keys.append(key)
            return graph, keys

        parts = [block for block in blocks if isinstance(block, Handle)]
        return list(place.run(build, parts))


def _function_of(program: Program, sent: Any) -> tuple[Callable[..., Any], list[Any]]:
    """Return the function of a program as one of flat tensors, and these tensors."""
    function, _ = program.opened()
    arrays, rebuild = flatten(sent)

    def flat(*tensors: Any) -> Any:
        return function(rebuild(list(tensors)))

    return flat, [new_tensor(read_only(array)) for array in arrays]


def _outline(program: Program, sent: Any, block: Any, rows: Any, options: Held) -> Any:
    """Return the structure of a function's results, with the shape and dtype of each."""
    function, tensors = _function_of(program, sent)
    with no_grad():
        leaves, rebuild = flatten(function(*tensors))
    return rebuild([Held((leaf._payload.shape, leaf._payload.dtype)) for leaf in leaves])


def _rows(program: Program, sent: Any, span: range, rows: Any, options: Held) -> list[Any]:
    """Return some rows of the Jacobian of a function, as an array for each argument."""
    (outline,) = options.value
    function, tensors = _function_of(program, sent)
    _, pull = vjp(lambda *values: tuple(flatten(function(*values))[0]), *tensors)
    units, first = [], 0
    for leaf in flatten(outline)[0]:
        shape, dtype = leaf.value
        size = int(np.prod(shape))
        unit = np.zeros((len(span), size), dtype)
        inside = [row for row in span if first <= row < first + size]
        unit[[row - span.start for row in inside], [row - first for row in inside]] = 1
        units.append(new_tensor(unit.reshape(len(span), *shape)))
        first += size
    grads = vmap_here(lambda *unit: pull(tuple(unit)))(*units)
    return [grad._array() for grad in grads]


def _rows_of_data(program: Program, sent: Any, batch: Any, rows: int, options: Held) -> Any:
    """Return the Jacobian of a function on one partition, and the structure of its results.

    It is a list for each result, with an array for each argument; None without rows.
    """
    if rows == 0:
        return None
    function, _ = program.opened()
    data = seen(batch)
    arrays, rebuild = flatten(sent)
    tensors = [new_tensor(read_only(array)) for array in arrays]
    structure = None

    def flat(*values: Any) -> Any:
        nonlocal structure
        leaves, again = flatten(function(rebuild(list(values)), data))
        structure = again(list(range(len(leaves))))
        if any(isinstance(leaf, TensorBase) and leaf._payload.ndim == 0 for leaf in leaves):
            raise ValueError(
                f"{program.name}() must return results with a dimension 0, for the rows of the "
                "batch, but returned a number"
            )
        return tuple(leaves)

    made = jacobian_here(flat, tuple(range(len(tensors))))(*tensors)
    return structure, [[block._array() for block in blocks] for blocks in made]


def jacobian(
    func: Callable[..., Any], *, chunk_size: int = 128, scheduler: Any = None, seed: int = 0
) -> Callable[..., Any]:
    """Return a function that computes a Jacobian in blocks of rows, each a task.

    Parameters
    ----------
    func : callable. ``func(params)``; or ``func(params, batch)``, whose results have one row per
        row of the batch along dimension 0, such as residuals. Returns tensors in nested containers.
    chunk_size : int. Without data: the number of rows per task. Each task runs `func` once.
    scheduler, seed: As in `value_and_grad`.

    Returns
    -------
    callable: Takes ``(params, data=None)``. Without data its result is that of
        `wengert.func.jacrev`. With data each partition is a block, and blocks are concatenated
        along dimension 0: for each result, in the structure of the results, the Jacobians with
        respect to the parameters, in their structure and kinds.

    Raises
    ------
    TypeError, ValueError, PartitionError: As for `value_and_grad`.

    Examples
    --------
    >>> distributed.jacobian(lambda x: x**2, chunk_size=2)(np.arange(3.0))
    array([[0., 0., 0.],
           [0., 2., 0.],
           [0., 0., 4.]])
    >>> def residuals(params, batch):
    ...     x, y = batch
    ...     return params["a"] * x + params["b"] - y
    >>> data = [(np.arange(2.0), np.ones(2)), (np.full(1, 7.0), np.ones(1))]
    >>> found = distributed.jacobian(residuals)({"a": 1.0, "b": 0.0}, data)
    >>> found["a"], found["b"]
    (array([0., 1., 7.]), array([1., 1., 1.]))
    """
    check_function(func, "jacobian")
    check_count(chunk_size, 1, "jacobian(): chunk_size")
    blocks = _Blocks(func, None if scheduler is None else scheduler_of(scheduler), seed)

    def jacobian_of(params: Any, data: Any = None) -> Any:
        if is_module(params):
            raise TypeError(
                "jacobian(): params is a module: give a nested container of its parameters, and "
                "call it by wengert.func.functional_call in func"
            )
        known = Nested(params, f"jacobian({blocks.name})")
        return _by_data(blocks, known, data) if data is not None else _whole(blocks, known)

    def _whole(blocks: _Blocks, known: Nested) -> Any:
        place = scheduler_of(blocks.scheduler)
        (outline,) = blocks.run(place, _outline, "outline", known, [range(0)])
        specs, rebuild = flatten(outline)
        shapes = [spec.value[0] for spec in specs]
        total = sum(int(np.prod(shape)) for shape in shapes)
        spans = [range(i, min(i + chunk_size, total)) for i in range(0, total, chunk_size)]
        found = blocks.run(place, _rows, "rows", known, spans, outline) if spans else []
        made, first = [], 0
        for shape in shapes:
            count = int(np.prod(shape))
            columns = []
            for i, array in enumerate(known.arrays):
                whole = np.concatenate(
                    [np.zeros((0, *array.shape), array.dtype), *(rows[i] for rows in found)]
                )
                columns.append(whole[first : first + count].reshape((*shape, *array.shape)))
            made.append(known.like(columns))
            first += count
        return rebuild(made)

    return jacobian_of


def _by_data(blocks: _Blocks, known: Nested, data: Any) -> Any:
    placed = partitions(data, scheduler=blocks.scheduler)
    parts = list(placed.parts)
    found = blocks.run(placed.scheduler, _rows_of_data, "rows", known, parts) if parts else []
    full = [part for part in found if part is not None]
    if not full:
        raise ValueError(
            f"jacobian({blocks.name}): there are no rows in any of {len(parts)} partitions"
        )
    structure = full[0][0]
    made = [
        known.like([np.concatenate(column) for column in zip(*result, strict=True)])
        for result in zip(*(rows for _, rows in full), strict=True)
    ]
    return flatten(structure)[1](made)


def _chunk(program: Program, sent: Any, batch: Any, rows: int, options: Held) -> Any:
    """Map a function over one chunk of its arguments."""
    rebuild, dims, in_dims, out_dims, randomness = options.value
    function, _ = program.opened()
    pieces, shared = iter(batch), iter(sent)
    leaves = [next(shared if dim is None else pieces) for dim in dims]
    leaves = [new_tensor(x) if isinstance(x, np.ndarray) else x for x in leaves]
    made = vmap_here(function, in_dims, out_dims, randomness)(*_filled(rebuild, leaves))
    results, again = flatten(made)
    places = list(dims_of(out_dims, made, "vmap"))
    return again([Held((r._array(), place)) for r, place in zip(results, places, strict=True)])


def _filled(structure: Any, leaves: list[Any]) -> Any:
    return flatten(structure)[1](leaves)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int = 256,
    scheduler: Any = None,
    seed: int = 0,
) -> Callable[..., Any]:
    """Vectorize `func` over a dimension of its arguments, one chunk per task.

    Use it for parameter sweeps: `func` computes with one set of parameters, the arguments hold
    many.

    Parameters
    ----------
    func, in_dims, out_dims, randomness: As in `wengert.func.vmap`, which computes each chunk as one
        batch.
    chunk_size : int. The number of elements per task.
    scheduler, seed: As in `value_and_grad`.

    Returns
    -------
    callable: Takes arguments with the mapped dimension, tensors or arrays in nested containers, and
        returns tensors with it.

    Raises
    ------
    ValueError: If `in_dims` or `out_dims` does not match, or mapped dimensions differ in size.
    PartitionError: If `func` raises; the number is that of the chunk.

    Examples
    --------
    >>> def final(rate, x):  # how far ten steps of descent come
    ...     for _ in range(10):
    ...         x = x - rate * wg.func.grad(lambda x: (x**2).sum())(x)
    ...     return (x**2).sum()
    >>> rates = np.array([0.01, 0.1, 0.5, 1.0])
    >>> distributed.vmap(final, in_dims=(0, None), chunk_size=2)(rates, np.ones(2))
    tensor([1.3352, 0.0231, 0.0000, 2.0000], dtype=torch.float64)
    """
    check_function(func, "vmap")
    check_count(chunk_size, 1, "vmap(): chunk_size")
    blocks = _Blocks(func, None if scheduler is None else scheduler_of(scheduler), seed)
    name = f"distributed.vmap({blocks.name}"

    def mapped(*args: Any) -> Any:
        leaves, dims, size = mapped_leaves(args, in_dims, name)
        arrays = [leaf._array() if isinstance(leaf, TensorBase) else leaf for leaf in leaves]
        shared = [array for array, dim in zip(arrays, dims, strict=True) if dim is None]
        moving = [(array, dim) for array, dim in zip(arrays, dims, strict=True) if dim is not None]
        chunks = [
            [array[(slice(None),) * dim + (slice(i, i + chunk_size),)] for array, dim in moving]
            for i in range(0, max(size, 1), chunk_size)
        ]
        structure = flatten(args)[1](list(range(len(leaves))))
        options = (structure, dims, in_dims, out_dims, randomness)
        place = scheduler_of(blocks.scheduler)
        found = blocks.run(place, _chunk, "chunk", Carried(shared), chunks, *options)
        return _joined(found)

    return mapped


def _joined(chunks: list[Any]) -> Any:
    """Concatenate the results of all chunks along the mapped dimension."""
    rows = [[held.value for held in flatten(chunk)[0]] for chunk in chunks]
    made = []
    for column in zip(*rows, strict=True):
        place = column[0][1]
        arrays = [array for array, _ in column]
        made.append(new_tensor(arrays[0] if place is None else np.concatenate(arrays, axis=place)))
    return flatten(chunks[0])[1](made)
