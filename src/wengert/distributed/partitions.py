"""Layer 10 · distributed: data in partitions, from arrays, loaders and Dask collections."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.base.containers import flatten
from wengert.base.extras import dask_module
from wengert.distributed.checks import check_count
from wengert.distributed.schedulers import Cluster, Handle, Lazy, Local, scheduler_of


class Partitions:
    """Data in partitions, held where they will be processed (see `partitions`).

    Parameters
    ----------
    parts: The handles of the partitions.
    scheduler: Where they are.
    """

    def __init__(self, parts: Sequence[Handle], scheduler: Any) -> None:
        self.parts = tuple(parts)
        self.scheduler = scheduler

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        return f"Partitions({len(self)}, in {self.scheduler!r})"

    def __getitem__(self, chosen: slice | Sequence[int]) -> Partitions:
        """Select partitions, by a slice or by their numbers; they stay where they are."""
        if isinstance(chosen, slice):
            return Partitions(self.parts[chosen], self.scheduler)
        if isinstance(chosen, int):
            chosen = [chosen]
        return Partitions([self.parts[i] for i in chosen], self.scheduler)


def partitions(
    data: Any, *, rows: int | None = None, scheduler: Any = None, persist: bool = True
) -> Partitions:
    """Split data into partitions, placed where they will be processed.

    Functions of this package that take data call it themselves; call it if the same data are used
    more than once, so that they are sent or loaded only once.

    Parameters
    ----------
    data: A list of partitions, each an array, a tuple or dict of arrays, or a ``dask.delayed``
        object (or a future) that loads one; a Dask array, whose chunks along dimension 0 are the
        partitions; a tuple or dict of Dask arrays with equal numbers of rows and equal chunks; a
        Dask DataFrame, whose partitions are passed as pandas tables. With `rows` also an array, or
        a tuple or dict of arrays, to split.
    rows : int, optional. The number of rows of arrays, or of Dask arrays, per partition.
    scheduler : optional. Where to run. ``"synchronous"`` and ``"threads"``: in this process. A
        ``distributed.Client``, a cluster (``distributed.LocalCluster``), or the address of a
        scheduler (``"tcp://host:8786"``): on its workers. By default the open Client of this
        program, as for Dask's own collections, or else ``"synchronous"``.
    persist : bool. Load partitions now, and keep them: in this process, or on the workers that
        loaded them. If false, they are loaded at each use, and memory is needed only for those in
        use.

    Returns
    -------
    Partitions: The data for the functions of this package; ``[i:j]`` selects some partitions.

    Raises
    ------
    TypeError: If `data` is none of these.
    ValueError: If parts of `data` cannot be split in the same way.
    PartitionError: If a partition cannot be loaded in this process. On workers, loading continues
        after this function returns, and functions that use the partition raise.

    Examples
    --------
    >>> from wengert.distributed import partitions
    >>> partitions([np.ones(3), np.ones(2)])
    Partitions(2, in this process)
    >>> partitions((np.ones((10, 4)), np.ones(10)), rows=4)
    Partitions(3, in this process)
    """
    if isinstance(data, Partitions):
        return data if scheduler is None else _at(data, scheduler_of(scheduler))
    place = scheduler_of(scheduler)
    if rows is not None:
        check_count(rows, 1, "partitions(): rows")
    delayed, batches = _divided(data, rows)
    if delayed is None:
        return Partitions(place.hold(batches), place)
    return Partitions(place.load(delayed) if persist else Lazy.of(delayed), place)


def _at(data: Partitions, place: Local | Cluster) -> Partitions:
    """Return the same partitions for another scheduler, if possible."""
    has = data.scheduler
    if isinstance(place, Local) and isinstance(has, Local):
        return data if place.threads == has.threads else Partitions(data.parts, place)
    if getattr(place, "client", 0) is not getattr(has, "client", 1):
        raise ValueError(
            f"the partitions are in {has!r}, but scheduler= names {place!r}: leave it out, or make "
            "them there"
        )
    return data


def _divided(data: Any, rows: int | None) -> tuple[list[Any] | None, list[Any]]:
    """Return the partitions: either Dask objects that load them, or the values themselves."""
    if isinstance(data, list):
        if not any(map(_is_dask, data)):
            return None, data
        for each in data:
            if _is_dask(each) and hasattr(each, "dask") and not _is_delayed(each):
                raise TypeError(
                    f"partitions(): got a list of Dask objects of type {type(each).__name__}, each "
                    "of which has partitions of its own: give one of them, or a tuple of them that "
                    "are divided alike"
                )
        return [each if _is_delayed(each) else _delayed(each) for each in data], []
    if _is_dask(data) and hasattr(data, "npartitions") and not hasattr(data, "chunks"):
        return list(data.to_delayed()), []
    leaves, rebuild = flatten(data)
    if not leaves or not all(hasattr(leaf, "shape") and not _is_delayed(leaf) for leaf in leaves):
        raise TypeError(
            "partitions(): data must be a list of partitions, a Dask array or DataFrame, or a "
            f"tuple or dict of arrays, but got {type(data).__name__}"
        )
    if any(_is_dask(leaf) for leaf in leaves):
        blocks = _chunks(leaves, rows)
        parts = list(zip(*blocks, strict=True))
        if isinstance(data, tuple | dict):
            return [_delayed(rebuild(list(part))) for part in parts], []
        return [part[0] for part in parts], []
    if rows is None:
        raise TypeError(
            "partitions(): an array, or a tuple or dict of arrays, is one set of data: say by "
            "rows= how many rows make a partition, or give a list of partitions"
        )
    arrays = [leaf if isinstance(leaf, np.ndarray) else np.asarray(leaf) for leaf in leaves]
    lengths = [array.shape[0] if array.ndim else None for array in arrays]
    if len(set(lengths)) != 1 or None in lengths:
        raise ValueError(f"partitions(): arrays must have as many rows, but have {lengths}")
    starts = range(0, arrays[0].shape[0], rows)
    return None, [rebuild([array[i : i + rows] for array in arrays]) for i in starts]


def _chunks(leaves: list[Any], rows: int | None) -> list[list[Any]]:
    """Return the chunks of Dask arrays along dimension 0, all split like the first array."""
    array_module = dask_module("dask.array", "partitions()")
    arrays = [
        leaf if _is_dask(leaf) else array_module.from_array(np.asarray(leaf)) for leaf in leaves
    ]
    if any(array.ndim == 0 for array in arrays):
        raise ValueError("partitions(): a Dask array without dimensions has no rows to divide")
    first = next(array for leaf, array in zip(leaves, arrays, strict=True) if _is_dask(leaf))
    cuts = rows or first.chunks[0]
    made = []
    for array in arrays:
        known = not any(np.isnan(size) for size in array.chunks[0])
        if known and not any(np.isnan(size) for size in first.chunks[0]):
            if array.shape[0] != first.shape[0]:
                raise ValueError(
                    "partitions(): Dask arrays must have as many rows, but have "
                    f"{[each.shape[0] for each in arrays]}"
                )
            array = array.rechunk({0: cuts, **dict.fromkeys(range(1, array.ndim), -1)})
        elif rows is not None or array.numblocks[0] != first.numblocks[0]:
            raise ValueError(
                "partitions(): Dask arrays of unknown chunk sizes cannot be divided again: call "
                "their compute_chunk_sizes() first"
            )
        made.append(list(array.to_delayed().ravel()))
    return made


def _is_dask(value: Any) -> bool:
    """Return whether `value` is a Dask object, or holds one."""
    dask = sys.modules.get("dask")
    return dask is not None and any(
        dask.is_dask_collection(leaf) or _is_future(leaf) for leaf in flatten(value)[0]
    )


def _is_future(value: Any) -> bool:
    module = sys.modules.get("distributed.client")
    return module is not None and isinstance(value, module.Future)


def _is_delayed(value: Any) -> bool:
    # an object of this type claims to have every attribute
    module = sys.modules.get("dask.delayed")
    return module is not None and isinstance(value, module.Delayed)


def _delayed(value: Any) -> Any:
    """Return a Delayed of a value that may hold Delayed objects."""
    return dask_module("dask", "partitions()").delayed(value)
