"""Gradients over partitions: what Dask adds to a plain loop, in process and on workers.

The loss is that of a network of two layers. Three things are measured: what a partition costs
beside its arithmetic; how much of the machine's cores workers make use of; and what it costs to
carry parameters out and gradients back. Plain loops and schedulers take turns; figures are medians
of the wall clock.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any

from _measure import arguments, optional

# isort: split
import numpy as np

import wengert as wg
from wengert.distributed import partitions, value_and_grad

WIDTH = 64


def loss(params: Any, batch: Any) -> Any:
    hidden = wg.tanh(batch @ params["w"])
    return (hidden @ params["v"]).square().mean()


def parameters(width: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"w": rng.normal(size=(WIDTH, width)) / 8, "v": rng.normal(size=width) / width}


def plain(params: Any, batches: list[Any]) -> Any:
    """The same mean by a loop, with PyTorch's functions."""
    rows = sum(len(batch) for batch in batches)
    tensors = {name: wg.tensor(value, requires_grad=True) for name, value in params.items()}
    for batch in batches:
        (loss(tensors, wg.from_numpy(batch)) * (len(batch) / rows)).backward()
    return {name: tensor.grad for name, tensor in tensors.items()}


def medians(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The seconds of each run, which take turns."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            started = perf_counter()
            run()
            if turn:
                times[name].append(perf_counter() - started)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def batches_of(count: int, rows: int) -> list[Any]:
    rng = np.random.default_rng(1)
    return [rng.normal(size=(rows, WIDTH)) for _ in range(count)]


def compared(schedulers: dict[str, Any], count: int, rows: int, rounds: int) -> dict[str, float]:
    """Seconds for a pass over all partitions, by the loop and by each scheduler."""
    params, batches = parameters(WIDTH), batches_of(count, rows)
    runs: dict[str, Callable[[], Any]] = {"loop": lambda: plain(params, batches)}
    for name, scheduler in schedulers.items():
        data = partitions(batches, scheduler=scheduler)
        gradient = value_and_grad(loss, scheduler=scheduler)
        runs[name] = lambda gradient=gradient, data=data: gradient(params, data)
        found, right = runs[name]()[1], plain(params, batches)
        assert all(np.allclose(found[k], right[k], rtol=1e-10, atol=1e-14) for k in right)
    return medians(runs, rounds)


def carried(scheduler: Any, width: int, rounds: int) -> float:
    """Seconds for a pass that does nothing but carry parameters out and gradients back."""
    params = parameters(width)
    data = partitions([np.ones((1, WIDTH))] * 4, scheduler=scheduler)
    gradient = value_and_grad(lambda p, x: p["w"].sum() + p["v"].sum(), scheduler=scheduler)
    return medians({"pass": lambda: gradient(params, data)}, rounds)["pass"]


def measure_in_process(options: argparse.Namespace, table: list[dict[str, Any]]) -> None:
    for rows in (16, 1024, 16384):
        times = compared(
            {"synchronous": "synchronous", "threads": "threads"}, 16, rows, options.rounds
        )
        for name in ("synchronous", "threads"):
            table.append(_line(name, 16, rows, times[name], times["loop"]))


def measure_cluster(
    workers: int, options: argparse.Namespace, table: list[dict[str, Any]], sizes: list[Any]
) -> None:
    distributed = optional("distributed")
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(workers)
        name = f"{workers} worker{'s' * (workers > 1)}"
        for count, rows in ((16, 16), (256, 16), (16, 16384)):
            times = compared({name: client}, count, rows, options.rounds)
            table.append(_line(name, count, rows, times[name], times["loop"]))
        if workers == 2:
            for width in (128, 16384, 131072):
                size = 8 * (WIDTH * width + width)
                seconds = carried(client, width, min(options.rounds, 5))
                sizes.append({"bytes": size, "seconds": seconds})


def _line(name: str, count: int, rows: int, seconds: float, loop: float) -> dict[str, Any]:
    return {
        "scheduler": name,
        "partitions": count,
        "rows": rows,
        "loop_ms": loop * 1e3,
        "ms": seconds * 1e3,
        "over_loop": seconds / loop,
        "added_ms_per_partition": (seconds - loop) / count * 1e3,
    }


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers", default="1,2,4", metavar="N,N", help="clusters of so many workers; 0: none"
    )


def main() -> None:
    options = arguments(__doc__, options_of, (3, 9))
    if optional("distributed") is None:
        print("This needs Dask: pip install 'wengert[distributed]'")
        return
    table: list[dict[str, Any]] = []
    sizes: list[dict[str, Any]] = []
    measure_in_process(options, table)
    for workers in filter(None, map(int, options.workers.split(","))):
        measure_cluster(workers, options, table, sizes)
    if options.json:
        machine = {"python": platform.python_version(), "cores": os.cpu_count()}
        print(json.dumps({**machine, "passes": table, "carried": sizes}, indent=2))
        return
    print(f"\nA pass over partitions of {WIDTH} columns, on {os.cpu_count()} cores")
    print("scheduler     partitions   rows  loop, ms   pass, ms  pass/loop  added, ms/partition")
    for line in table:
        print(
            f"{line['scheduler']:12}  {line['partitions']:10}  {line['rows']:5}"
            f"  {line['loop_ms']:8.1f}  {line['ms']:9.1f}  {line['over_loop']:9.2f}"
            f"  {line['added_ms_per_partition']:19.2f}"
        )
    if sizes:
        print("\nParameters out and gradients back, 2 workers, 4 partitions")
    for size in sizes:
        print(f"{size['bytes'] / 1e6:8.2f} MB  {size['seconds'] * 1e3:9.1f} ms")


if __name__ == "__main__":
    main()
