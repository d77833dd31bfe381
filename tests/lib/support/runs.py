"""Run a program with one library, and collect its observable effects.

A line that raises is part of the program: the exception is recorded, and the next line runs.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from support.exclusions import passes
from support.functions import functions
from support.parity import assert_same

__all__ = ["Run", "assert_agree", "run"]

NAMES = {"ZeroBackward0": "FillBackward0", "ReshapeAliasBackward0": "ViewBackward0"}
"""PyTorch's names of nodes that have no name of their own here."""


@functools.lru_cache(maxsize=4096)
def _compiled(line: str) -> Any:
    return compile(line, "<program>", "exec")


class Run:
    """What can be seen of one run: facts, which are equal or not, and numbers, which are close."""

    def __init__(self) -> None:
        self.facts: list[str] = []
        self.numbers: list[tuple[str, list[float]]] = []
        self.quiet = False
        self.tensors: set[str] = set()
        self.empty = False
        self.deaf = False
        self.apart: dict[str, list[Any]] | None = None

    def note(self, label: str, tensor: Any) -> None:
        """Note a tensor or None."""
        if self.quiet:
            return
        if tensor is None:
            self.facts.append(f"{label}: None")
            return
        history = tensor.requires_grad and (not self.empty or label in self.tensors)
        self.facts.append(f"{label}: {tensor.dtype} {tuple(tensor.shape)} {history}")
        self.numbers.append((label, tensor.detach().reshape(-1).tolist()))

    def hear(self, label: str, tensor: Any) -> None:
        """Note what a hook was given, if that is to be compared."""
        if self.deaf:
            return
        if self.apart is None or self.quiet:
            self.note(label, tensor)
            return
        facts, numbers = len(self.facts), len(self.numbers)
        self.note(label, tensor)
        heard = self.apart.setdefault(label, [])
        heard.append((self.facts[facts:], self.numbers[numbers:]))
        del self.facts[facts:], self.numbers[numbers:]

    def told(self) -> None:
        """Note what each hook was given, hook by hook, where that was kept apart."""
        for _, heard in sorted((self.apart or {}).items()):
            for facts, numbers in heard:
                self.facts += facts
                self.numbers += numbers
        self.apart = None

    # -- hooks of programs ------------------------------------------------------------------------

    def watch(self, name: str, factor: float | None = None) -> Callable[[Any], Any]:
        """A hook of a tensor."""

        def hook(g: Any) -> Any:
            self.hear(name, g)
            return None if factor is None else g * factor

        return hook

    def watch_node(self, name: str, factor: float | None = None) -> Callable[..., Any]:
        """A hook of a node, before or after it has run."""

        def hook(*groups: Any) -> Any:
            # the gradients that go on differ in detail where a node has several edges
            for i, g in enumerate(groups[-1]):
                self.hear(f"{name}[{i}]", g)
            if factor is None:
                return None
            return tuple(None if g is None else g * factor for g in groups[0])

        return hook

    def watch_leaf(self, name: str) -> Callable[[Any], None]:
        """A hook that runs after accumulation."""
        return lambda leaf: self.hear(name, leaf.grad)

    def watch_all(self, name: str) -> Callable[[Any], None]:
        """A hook of several tensors."""

        def hook(grads: Any) -> None:
            for g in grads:
                self.hear(name, g)

        return hook

    # -- what there is at the end -----------------------------------------------------------------

    def failed(self, where: str, error: BaseException) -> None:
        """Note an exception by its built-in type."""
        kind = next(cls for cls in type(error).__mro__ if cls.__module__ == "builtins")
        if kind is AssertionError:
            # PyTorch asserts what it does not say otherwise
            kind = RuntimeError
        self.facts.append(f"{where} raises {kind.__name__}")

    def state(self, tensors: dict[str, Any], passed: bool) -> dict[str, Any]:
        """Note what can be asked of the tensors; those of which everything can.

        `passed`: whether something was written past the graph, after which views have other nodes.
        """
        sound = {}
        self.tensors.update(tensors)
        names = {id(tensor): name for name, tensor in tensors.items()}
        for name, x in tensors.items():
            base = names.get(id(x._base), "other") if x._is_view() else None
            try:
                # PyTorch makes the history of a view again when it is asked for, which may raise
                node = x.grad_fn and NAMES.get(x.grad_fn.name(), x.grad_fn.name())
                if node is not None and passed and x._is_view():
                    node = "of a view"
                history = f"leaf={x.is_leaf} grad_fn={node}/{x.output_nr}"
            except Exception as error:
                self.failed(f"history of {name}", error)
                continue
            self.facts.append(
                f"{name} {history} version={x._version} base={base} retains={x.retains_grad}"
            )
            self.note(name, x)
            self.note(f"{name}.grad", x.grad)
            sound[name] = x
        return sound

    def derivatives(self, module: Any, tensors: dict[str, Any], inner: bool) -> None:
        """Note first and second derivatives of all by the leaves, and by all others if `inner`."""
        grad = module.autograd.grad
        found = {n: x for n, x in tensors.items() if x.requires_grad}
        leaves = {n: x for n, x in found.items() if x.is_leaf}
        if not leaves:
            return
        try:
            terms = [(x * (0.3 + 0.2 * i)).sin().sum() for i, x in enumerate(found.values())]
            wanted = found if inner else leaves
            first = grad(sum(terms), list(wanted.values()), create_graph=True, allow_unused=True)
        except Exception as error:
            self.failed("first derivative", error)
            self.partly(module, found, leaves)
            return
        for name, g in zip(wanted, first, strict=True):
            self.note(f"first[{name}]", g)
        self.quiet = True
        second: Sequence[Any] = [None] * len(leaves)
        curved = [g.sin().sum() for g in first if g is not None and g.requires_grad]
        try:
            if curved and leaves:
                second = grad(
                    sum(curved), list(leaves.values()), allow_unused=True, retain_graph=True
                )
        except Exception as error:
            self.failed("second derivative", error)
        self.quiet = False
        # whether a second derivative is zero or unknown is a matter of the rule
        for (name, x), g in zip(leaves.items(), second, strict=True):
            self.numbers.append(
                (f"second[{name}]", (0 * x if g is None else g).reshape(-1).tolist())
            )
        try:
            sum(terms).backward()
        except Exception as error:
            self.failed("backward", error)
            return
        for name, x in tensors.items():
            self.note(f"{name}.grad after backward", x.grad)

    def partly(self, module: Any, found: dict[str, Any], leaves: dict[str, Any]) -> None:
        """Note the derivatives of each tensor by itself."""
        for name, x in found.items():
            try:
                grads = module.autograd.grad(
                    x.sin().sum(), list(leaves.values()), allow_unused=True, retain_graph=True
                )
            except Exception as error:
                self.failed(f"derivative of {name}", error)
                continue
            for leaf, g in zip(leaves, grads, strict=True):
                self.note(f"d{name}/d{leaf}", g)


WRITES = re.compile(r"\.\w+_\(|_\.apply|\] = |\S [-+*/]= ")
"""What a line looks like that writes to a tensor."""


def run(lines: Sequence[str], module: Any) -> Run:
    """Run a program with `module` as ``t``; what is seen of it and of its derivatives."""
    seen = Run()
    passed = seen.deaf = any(map(passes, lines))
    seen.empty = any("t.zeros((0" in line for line in lines)
    # views get new nodes when their base is written to, in PyTorch not before they are used next:
    # nodes of different branches may then have their turns in another order
    if any(WRITES.search(line) for line in lines):
        seen.apart = {}
    names: dict[str, Any] = {"t": module, **functions(module)}
    names.update(
        watch=seen.watch,
        watch_node=seen.watch_node,
        watch_leaf=seen.watch_leaf,
        watch_all=seen.watch_all,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, line in enumerate(lines):
            try:
                exec(_compiled(line), names)
            except Exception as error:
                seen.failed(f"line {i}", error)
                if "backward(" in line or "autograd.grad(" in line:
                    # PyTorch leaves gradients half added up and what it walked over freed
                    for value in names.values():
                        if isinstance(value, module.Tensor):
                            value.grad = None
                if line.endswith("backward()") or "_.apply(" in line:
                    # nor does it give back what it freed, or what a Function wrote before it
                    return seen
        tensors = {n: x for n, x in names.items() if isinstance(x, module.Tensor)}
        # whether a tensor's hook or `grad` comes first depends, in PyTorch, on what else is asked
        replaced = any("hook(watch(" in line and ", 2)" in line for line in lines)
        # whether a result that was saved in place through a view counts as that view is open
        made = any("create_graph" in line for line in lines)
        # a write past the graph makes PyTorch give a view a new node, beside the one used before
        inner = not (replaced or made or passed)
        seen.derivatives(module, seen.state(tensors, passed), inner)
        seen.told()
    return seen


def assert_agree(ours: Run, theirs: Run, lines: Sequence[str]) -> None:
    """Raise unless two runs of a program agree; numbers that have left all bounds do not count."""
    if ours.facts == theirs.facts and [n for n, _ in ours.numbers] == [
        n for n, _ in theirs.numbers
    ]:
        met, want = (
            np.array([x for _, part in run.numbers for x in part], float) for run in (ours, theirs)
        )
        if met.shape == want.shape:
            loose = any("float32" in line for line in lines)
            rtol, atol = (1e-3, 1e-4) if loose else (1e-6, 1e-8)
            if not (np.abs(want) < (1e3 if loose else 1e6)).all():
                return
            if (np.abs(met - want) <= atol + rtol * np.abs(want)).all():
                return
    text = "\n" + "\n".join(lines) + "\n"
    assert_same(ours.facts, theirs.facts, text)
    assert_same(ours.numbers, theirs.numbers, text, 1e-6, 1e-8)
    raise AssertionError(text)
