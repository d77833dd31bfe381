"""Layer 11 · cli: `wengert graph`, a picture of what a user's function records."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from typing import Any

import wengert as wg
from wengert import viz
from wengert.cli.request import BadRequest
from wengert.cli.target import described, inputs_of, load
from wengert.viz.draw import words_of


def _names(function: Any, count: int) -> list[str]:
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    return [names[i] if i < len(names) else f"input{i}" for i in range(count)]


def graph(
    target: str,
    shapes: Sequence[tuple[int, ...]],
    dtype: str,
    output: str | None = None,
    *,
    file: str | None = None,
    seed: int = 0,
    mode: str = "backward",
    show: str = "shape",
    depth: int | None = None,
    as_json: bool = False,
) -> int:
    """Run a function, and draw the graph that it recorded.

    Parameters
    ----------
    target: ``module:function``; the function takes tensors and returns one or several.
    shapes, dtype, file, seed: The inputs (see `wengert.cli.target.inputs_of`).
    output: The file to write: ``.svg``, ``.html``, ``.dot``, or ``.png`` where a converter exists.
        If None, the graph is printed as a tree.
    mode, show, depth: What is drawn (see `wengert.viz.draw`).
    as_json: Whether to print one JSON object that says what was written instead of a sentence.

    Returns
    -------
    int: 0.

    Raises
    ------
    BadRequest: If there is no such function, no inputs for it, nothing recorded, or the kind of
        file is unknown.

    Examples
    --------
    >>> from wengert.cli.graph import graph
    >>> graph("wengert:sin", [(3,)], "float32")
    y (3,)
    sin (3,)  of leaf input (3,)
    0
    """
    try:
        words_of(show, "graph")
    except ValueError as error:
        raise BadRequest(str(error)) from error
    function = load(target)
    inputs = inputs_of(function, shapes, dtype, seed, file, double=False)
    result = function(*inputs)
    results = [y for y in result if isinstance(y, wg.Tensor)] if _several(result) else [result]
    if not any(isinstance(y, wg.Tensor) and y.requires_grad for y in results):
        raise BadRequest(
            f"{target} recorded no graph: its result does not require a gradient. Does an input "
            "require one? Is no_grad() or detach() in the way?"
        )
    pairs = zip(_names(function, len(inputs)), inputs, strict=True)
    params = {name: x for name, x in pairs if isinstance(x, wg.Tensor) and x.requires_grad}
    drawn: Any = results if len(results) > 1 else results[0]
    if output is None:
        if as_json:
            raise BadRequest("--json says what was written: name a file with -o")
        print(viz.tree(drawn, params=params, depth=depth))
        return 0
    try:
        picture = viz.draw(drawn, params=params, mode=mode, show=show, depth=depth, title=target)
        written = picture.save(output)
    except (ValueError, OSError) as error:
        raise BadRequest(str(error)) from error
    if as_json:
        report = {"target": target, "inputs": described(inputs), "written": str(written)}
        print(json.dumps(report))
    else:
        print(f"wrote {written}")
    return 0


def _several(result: Any) -> bool:
    return isinstance(result, Sequence) and not isinstance(result, wg.Tensor)
