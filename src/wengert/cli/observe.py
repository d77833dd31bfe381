"""Layer 11 · cli: what a public function computes, observed while its documented example runs."""

from __future__ import annotations

import ast
import doctest
import functools
import importlib
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import wengert as wg
from wengert.base import extras
from wengert.prims.record import Primitive
from wengert.tape.modes import Mode
from wengert.utils.dispatch import Dispatch

KINDS = {"b": wg.bool, "i": wg.int64, "f": wg.float64, "c": wg.complex128}


class Observed:
    """The observations of one function.

    Attributes
    ----------
    primitives: The primitives that it computes, in order.
    kinds: The kinds of dtypes that it takes, of ``"bifc"``.
    scipy: ``"needs"`` if it raises without SciPy, ``"uses"`` if it has other ways, or ``""``.
    identity: Whether it returns its argument as it is.
    """

    def __init__(self) -> None:
        self.primitives: list[Primitive] = []
        self.kinds = ""
        self.scipy = ""
        self.identity = False


class _Primitives(Dispatch):
    """Records which primitives are computed."""

    def __init__(self) -> None:
        self.seen: dict[str, Primitive] = {}

    def __enter__(self) -> _Primitives:
        super().__enter__()
        return self

    def run(self, mode: Mode, prim: Primitive, tensors: list[Any], params: Any, outs: Any) -> Any:
        self.seen.setdefault(prim.name, prim)
        return self.compute(mode, prim, tensors, params, outs)


class _Calls(ast.NodeTransformer):
    """Rewrites calls of functions or methods with one of the names to go through ``__watch__``."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> Any:
        """Turn ``f(x)`` into ``__watch__(f, x)``."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in self.names:
            watch = ast.Name("__watch__", ast.Load())
            return ast.Call(watch, [node.func, *node.args], node.keywords)
        return node


def observe(function: Callable[..., Any], names: set[str]) -> Observed:
    """Run the example in a function's documentation, and record what its calls compute.

    Parameters
    ----------
    function: A public function.
    names: The names that it has.
    """
    found = Observed()

    def watch(callee: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        with _Primitives() as log:
            result = callee(*args, **kwargs)
            given = inspect.signature(callee).bind(*args, **kwargs)
            if "training" in given.signature.parameters:
                given.arguments["training"] = True
                result = callee(*given.args, **given.kwargs)
        known = {prim.name for prim in found.primitives}
        found.primitives += [prim for name, prim in log.seen.items() if name not in known]
        found.kinds = found.kinds or _kinds(callee, args, kwargs)
        found.scipy = found.scipy or _scipy(callee, args, kwargs)
        found.identity |= any(result is x for x in (*args, getattr(callee, "__self__", None)))
        return result

    examples = doctest.DocTestParser().get_examples(inspect.getdoc(function) or "")
    _run(examples, _Calls(names), {"__watch__": watch})
    if not found.primitives and not found.kinds:
        # an operator call does not name the function
        with _Primitives() as log:
            _run(examples, ast.NodeTransformer(), {})
        found.primitives += log.seen.values()
    return found


def _run(
    examples: list[doctest.Example], transform: ast.NodeTransformer, scope: dict[str, Any]
) -> None:
    for example in examples:
        tree = ast.fix_missing_locations(transform.visit(ast.parse(example.source)))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                exec(compile(tree, "<example>", "exec"), scope)
            except Exception:
                if example.exc_msg is None:
                    raise


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, wg.Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _tensors(item)


def _converted(value: Any, kind: str, every: bool) -> Any:
    """Return `value` with its floating and complex tensors, or `every` one, of another kind."""
    if isinstance(value, wg.Tensor):
        moved = every or value.dtype.is_floating_point or value.dtype.is_complex
        return value.detach().to(KINDS[kind]) if moved else value
    if isinstance(value, list):
        return [_converted(item, kind, every) for item in value]
    if isinstance(value, tuple):
        return tuple(_converted(item, kind, every) for item in value)
    return value


def _succeeds(callee: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    try:
        callee(*args, **kwargs)
    except (TypeError, RuntimeError, NotImplementedError, ValueError, IndexError):
        return False
    return True


def _kinds(callee: Callable[..., Any], args: Any, kwargs: Any) -> str:
    """Return the kinds of dtypes that a call accepts in place of those of its tensors."""
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, wg.Tensor):
        callee, args = callee.__func__, (owner, *args)  # type: ignore[attr-defined]
    tensors = list(_tensors([*args, *kwargs.values()]))
    if not tensors:
        return ""
    every = not any(t.dtype.is_floating_point or t.dtype.is_complex for t in tensors)
    kwargs = {name: value for name, value in kwargs.items() if name != "out"}
    return "".join(
        kind
        for kind in KINDS
        if _succeeds(
            callee,
            _converted(args, kind, every),
            {name: _converted(value, kind, every) for name, value in kwargs.items()},
        )
    )


def _forget() -> None:
    """Make the kernels check again whether SciPy is installed."""
    for name, module in list(sys.modules.items()):
        if name.startswith("wengert.kernels."):
            for value in vars(module).values():
                if isinstance(value, functools._lru_cache_wrapper):
                    code = getattr(value.__wrapped__, "__code__", None)
                    if code is not None and "scipy_module" in code.co_names:
                        value.cache_clear()


def _scipy(callee: Callable[..., Any], args: Any, kwargs: Any) -> str:
    """Observe a call while SciPy is missing."""
    asked = []

    @functools.wraps(extras._module)
    def without(name: str) -> Any:
        if not name.startswith("scipy"):
            return importlib.import_module(name)
        asked.append(name)
        raise ImportError(f"No module named {name!r}")

    before = extras._module
    extras._module = without  # type: ignore[assignment]
    _forget()
    try:
        callee(*args, **kwargs)
    except ImportError:
        return "needs"
    except (TypeError, RuntimeError, ValueError):
        return ""
    finally:
        extras._module = before
        _forget()
    return "uses" if asked else ""
