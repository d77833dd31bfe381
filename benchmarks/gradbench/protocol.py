"""GradBench's protocol: messages by lines of JSON, and a response to each.

The suite starts us with ``start``, names an eval by ``define``, and asks for the values of its
functions by ``evaluate``; what it makes of them it tells by ``analysis``.
"""

from __future__ import annotations

import json
import pkgutil
import traceback
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from time import perf_counter_ns
from types import ModuleType
from typing import Any

import numpy as np

import wengert as wg

from . import evals
from .evals._types import Compile, Functions

__all__ = ["EVALS", "compiler", "respond", "serve"]

EVALS = tuple(m.name for m in pkgutil.iter_modules(evals.__path__) if not m.name.startswith("_"))


def compiler() -> Compile:
    """`wg.compile`; where there is none, what leaves a function as it is."""
    return getattr(wg, "compile", lambda function: function)


class _Module:
    """An eval that has been defined, and its functions."""

    def __init__(self, name: str, compile: Compile) -> None:
        if name not in EVALS:
            raise LookupError(f"there is no module {name!r}, only {', '.join(EVALS)}")
        self.module: ModuleType = import_module(f"{evals.__name__}.{name}")
        self.functions: Functions = self.module.functions(compile)

    def evaluate(self, name: str, input: Any) -> dict[str, Any]:
        """Run a function as often, and as long, as the input asks for."""
        if name not in self.functions:
            raise LookupError(f"there is no function {name!r}, only {', '.join(self.functions)}")
        runs, seconds = 1, 0.0
        if isinstance(input, Mapping):
            runs, seconds = input.get("min_runs", runs), input.get("min_seconds", seconds)
        function, arguments = self.functions[name], self.module.arguments(input)
        times: list[int] = []
        while not times or len(times) < runs or sum(times) < seconds * 1e9:
            start = perf_counter_ns()
            output = function(*arguments)
            times.append(perf_counter_ns() - start)
        answer = getattr(self.module, "answer", None)
        return {
            "output": _plain(output if answer is None else answer(name, output)),
            "timings": [{"name": "evaluate", "nanoseconds": time} for time in times],
        }


def _plain(value: Any) -> Any:
    """Numbers, lists and dictionaries in place of tensors, arrays and tuples."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.tolist() if isinstance(value, wg.Tensor | np.ndarray) else value


def respond(
    message: Mapping[str, Any], defined: dict[str, _Module], compile: Compile
) -> dict[str, Any]:
    """The response to one message. A module that it defines is added to `defined`."""
    response: dict[str, Any] = {"id": message["id"]}
    try:
        match message["kind"]:
            case "start":
                response["tool"] = "wengert"
            case "define":
                defined[message["module"]] = _Module(message["module"], compile)
                response["success"] = True
            case "evaluate":
                if message["module"] not in defined:
                    raise LookupError(f"module {message['module']!r} has not been defined")
                module = defined[message["module"]]
                response |= module.evaluate(message["function"], message["input"])
                response["success"] = True
    except Exception as error:  # whatever it is, the suite is to be told
        response["success"] = False
        response["error"] = "".join(traceback.format_exception(error))
    return response


def serve(lines: Iterable[str], compile: Compile) -> Iterator[str]:
    """The response to each message, until the messages end or one says so."""
    defined: dict[str, _Module] = {}
    for line in lines:
        message = json.loads(line)
        yield json.dumps(respond(message, defined, compile))
        if message["kind"] == "end":
            return
