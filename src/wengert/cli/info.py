"""Layer 11 · cli: `wengert info` and `wengert ops`: versions and primitives."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from typing import Any

import numpy as np

import wengert as wg
from wengert.cli.formulas import formulas_of
from wengert.cli.request import BadRequest
from wengert.prims.whole import TABLE
from wengert.tape.compiled import IS_COMPILED

EXTRAS = ("scipy", "llvmlite", "safetensors", "ml_dtypes", "dask", "tqdm", "graphviz", "matplotlib")
PEERS = ("torch", "autograd", "mygrad", "jax")


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def info(as_json: bool = False) -> int:
    """Print the versions of wengert, of Python and of optional packages; returns 0."""
    versions: dict[str, Any] = {
        "wengert": wg.__version__,
        "primitives": len(TABLE),
        "build": "compiled" if IS_COMPILED else "Python",
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "numpy": np.__version__,
        **{name: _version(name) for name in (*EXTRAS, *PEERS)},
    }
    if as_json:
        print(json.dumps(versions))
        return 0
    rows = [
        ("wengert", f"{versions['wengert']}, {versions['primitives']} primitives"),
        ("build", versions["build"]),
        ("Python", f"{versions['python']} ({versions['system']})"),
        ("NumPy", versions["numpy"]),
        *((name, versions[name] or "not installed") for name in (*EXTRAS, *PEERS)),
    ]
    for name, value in rows:
        print(f"{name:11} {value}")
    return 0


def operations(part: str = "", as_json: bool = False) -> int:
    """Print the primitives with `part` in their names, what they save, and their derivatives.

    Returns 0.

    Raises
    ------
    BadRequest: If there are none.
    """
    found = [(name, prim) for name, prim in sorted(TABLE.items()) if part in name]
    if not found:
        raise BadRequest(f"no primitive has {part!r} in its name")
    objects: list[dict[str, Any]] = [
        {
            "primitive": name,
            "family": prim.family,
            "node": prim.node if prim.is_differentiable else None,
            "saves": list(prim.saved),
            "computes": prim.doc,
            "derivative": formulas_of(prim),
        }
        for name, prim in found
    ]
    if as_json:
        print(json.dumps(objects))
        return 0
    rows = [tuple(objects[0])]
    for row in objects:
        formulas = {arg: text or "..." for arg, text in row["derivative"].items()}
        shown = list(formulas.values()) if len(formulas) == 1 else map(": ".join, formulas.items())
        texts = {**row, "saves": ", ".join(row["saves"]), "derivative": "; ".join(shown)}
        rows.append(tuple(text or "-" for text in texts.values()))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells_of in rows:
        cells = (f"{cell:{width}}" for cell, width in zip(cells_of, widths, strict=True))
        print("  ".join(cells).rstrip())
    return 0
