"""Layer 7 · autograd: values that a Function's `forward` computes and keeps outside the graph.

NOTE [second derivatives through kept values]
`forward` is not recorded. Suppose `backward` uses a value that `forward` computed from its
arguments, and that is neither an argument nor an output. A recorded `backward` (``create_graph``)
then holds the value as a constant, and the second derivative is wrong. First-order passes only pay
for keeping the arguments alive. When `backward` is first recorded, `forward` runs again three
times: on the same arguments, and on slightly greater and slightly smaller ones. A value that
changes with both perturbations depends on the arguments. One that changes with at most one of them
is a step, such as a mask, which has no derivative. Each run draws the same random numbers, and
everything that `forward` wrote outside is restored. If `forward` cannot run again, all kept values
count as dependent.

During that `backward`, a dependent tensor is the result of a node that cannot be walked
(`_Refusal`). Arrays and numbers have no history: once `backward` has read one, its results refuse
to be differentiated with respect to the arguments, but not to other values such as the incoming
gradient.
"""

from __future__ import annotations

import random
import re
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from wengert.autograd.reach import State, arrays_of, is_leaf, may_hold, outside, walk
from wengert.base.dtypes import is_differentiable
from wengert.ops.generator import fork_rng
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.masked import apart
from wengert.tape.modes import no_grad
from wengert.tape.node import Node, edge_of, next_sequence
from wengert.tape.record import T

_ON_CTX = re.compile(r"ctx\.(?!saved_tensors)\w+")
"""An attribute of ctx."""

_STEPS = {2: 2e-2, 4: 1e-3, 8: 1e-4}
"""The size of the perturbation, by the number of bytes of a real number."""


class _Refusal(Node):
    """The node at which a derivative through a kept value would begin."""

    __slots__ = ("message", "passed")
    label: ClassVar[str] = "KeptByForward"
    # it is a constant in PyTorch, and drawn as one
    unseen: ClassVar[bool] = True
    message: str
    passed: int

    def __init__(self, node: Any, message: str, before: tuple[Any, ...] = ()) -> None:
        self.edges = (*before, *node.edges)
        self.passed = len(before)
        self.message = message
        self._seq = next_sequence()
        self._ext = None

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Pass `g` on along the first edges; raise if the walk continues along another edge."""
        if any(edge is not None for edge in edges[self.passed :]):
            raise RuntimeError(self.message)
        return (g,) * self.passed + (None,) * (len(edges) - self.passed)

    apply_in = apply


class Kept:
    """The values that a call of `forward` kept and that may depend on its arguments."""

    __slots__ = ("_arguments", "_found", "_needs")

    def __init__(self, arguments: tuple[Any, ...], needs: tuple[bool, ...]) -> None:
        # not tensors, which would make a cycle if forward wrote to them
        self._arguments = [a._payload if isinstance(a, TensorBase) else a for a in arguments]
        # None for arguments other than tensors
        self._needs = [
            need if isinstance(a, TensorBase) else None
            for a, need in zip(arguments, needs, strict=True)
        ]
        self._found: _Found | None = None

    @staticmethod
    def of(node: Any, arguments: tuple[Any, ...], outputs: Iterable[Any]) -> Kept | None:
        """Return the values to examine before `backward` is recorded; None if there are none."""
        function = node.function
        if function.keeps_constants or getattr(function.backward, "once", False):
            return None
        known = {id(value) for value in (*arguments, *outputs, *_literals(function))}
        for value in _on(node, node._to_save).values():
            if id(value) not in known:
                return Kept(arguments, node.needs_input_grad)
        if outside(function.backward, function):
            return Kept(arguments, node.needs_input_grad)
        return None

    def backward(self, node: Any, run: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Call `run`, the backward of `node`, so that wrong second derivatives raise."""
        if self._found is None:
            self._found = _search(node, self._arguments, self._needs)
        found = self._found
        if not found:
            return run()
        with found.refused(node) as read:
            grads = run()
        names = sorted(read | found.always)
        if not names:
            return grads
        message = _message(node, names)
        return tuple(
            None
            if grad is None
            else new_tensor(grad._payload, _Refusal(node, message, (edge_of(grad),)))
            for grad in grads
        )

    def at_level(self, node: Any, run: Callable[[], Any]) -> Any:
        """Call `run`, a `backward` of values with tangents.

        Raise if it reads a kept value, which would need a tangent, too.
        """
        if self._found is None:
            self._found = _search(node, self._arguments, self._needs)
        found = self._found
        if not found:
            return run()
        roots = {match[0] for _, path in found.tensors if (match := _ON_CTX.match(path))}
        outside = any(not _ON_CTX.match(path) for _, path in found.tensors)
        if found.saved or found.always or outside or node._watched is not None:
            raise RuntimeError(_message(node, found.names()))
        with found.refused(node, roots) as read:
            grads = run()
        if read:
            raise RuntimeError(_message(node, read))
        return grads


def _literals(function: Any) -> Iterator[Any]:
    for method in (function.forward, function.setup_context):
        if isinstance(method, types.FunctionType):
            yield from method.__code__.co_consts


def _on(node: Any, saved: tuple[Any, ...]) -> dict[str, Any]:
    """Return the user's values on the ctx of `node`, by the names that `backward` uses."""
    left = {f"ctx.{name}": value for name, value in node._attributes.items()}
    left.update((f"ctx.saved_tensors[{i}]", tensor) for i, tensor in enumerate(saved))
    return {name: value for name, value in left.items() if may_hold(value)}


def _message(node: Any, names: Iterable[str]) -> str:
    name = node.function.__name__
    return (
        f"second derivative of {name} goes through {', '.join(names)}, computed inside forward() "
        "and not returned: the graph of backward holds that as a constant, and the result would be "
        "wrong. Save what it is computed from by ctx.save_for_backward() and compute it in "
        "backward(), return it from forward() as an extra output, or decorate backward with "
        f"@once_differentiable. ({name}.keeps_constants = True gives PyTorch's result.)"
    )


# -- which values depend on the arguments --------------------------------------------------------


class _Found:
    """The values that depend on the arguments.

    Attributes
    ----------
    tensors: The tensors without a history, each with its name in messages.
    saved: The positions in ``ctx.saved_tensors``.
    attributes
        The attributes of ctx with other values: arrays, numbers, tensors with their own graphs.
    always: Values outside of ctx, which `backward` may or may not read.
    """

    def __init__(self) -> None:
        self.tensors: list[tuple[Any, str]] = []
        self.saved: set[int] = set()
        self.attributes: set[str] = set()
        self.always: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self.tensors or self.saved or self.attributes or self.always)

    def add(self, root: str, path: str, value: Any) -> None:
        """Record that `value`, reached by `path` from `root`, depends on the arguments."""
        if isinstance(value, TensorBase) and value._edge is None:
            self.tensors.append((value, path))
        elif root.startswith("ctx."):
            self.attributes.add(root)
        else:
            self.always.add(root)

    def names(self) -> list[str]:
        """Return their names in messages."""
        saved = {f"ctx.saved_tensors[{i}]" for i in self.saved}
        return sorted({name for _, name in self.tensors} | saved | self.attributes | self.always)

    @contextmanager
    def refused(self, node: Any, also: Iterable[str] = ()) -> Iterator[set[str]]:
        """Make the tensors refuse to be differentiated, and yield the attributes that were read.

        Only attributes with values other than tensors, and those in `also`, are tracked.
        """
        read: set[str] = set()
        for tensor, path in self.tensors:
            tensor._edge = _Refusal(node, _message(node, [path]))
        node._refused = {
            i: _Refusal(node, _message(node, [f"ctx.saved_tensors[{i}]"])) for i in self.saved
        }
        node._watched = self.attributes.union(also), read
        try:
            yield read
        finally:
            node._watched, node._refused = None, {}
            for tensor, _ in self.tensors:
                tensor._edge = None


def _search(node: Any, arguments: list[Any], needs: list[bool | None]) -> _Found:
    found = _Found()
    function = node.function
    held = [a for a, need in zip(arguments, needs, strict=True) if need is None]
    around = State(function.backward, function, held)
    try:
        more, less, same = (_run(node, arguments, needs, step, around) for step in (1.0, -1.0, 0.0))
    except Exception:
        # unknown: all values count as dependent
        for root, path, value in walk(_on(node, ())):
            if is_leaf(value):
                found.add(root, path, value)
        found.saved.update(i for i, entry in enumerate(node._saved) if _is_constant(entry))
        return found
    dependent = {path for path in same.values if _differ(path, more, less, same)}
    for root, path, value in walk(_on(node, ())):
        if path in dependent:
            found.add(root, path, value)
    found.saved.update(i for i in range(len(node._saved)) if f"ctx.saved_tensors[{i}]" in dependent)
    for path in dependent & same.outside.keys():
        # a list may have grown: the entry from the original call has the same values
        root, value, _ = same.outside[path]
        alike = [
            (own, at)
            for at, (of, own, _) in around.values.items()
            if of == root and _are_equal(arrays_of(own), arrays_of(value))
        ]
        for own, at in alike:
            found.add(root, at, own)
        if not alike:
            found.always.add(root)
    return found


class _Run:
    """The results of a run of `forward`: copies of kept values by path, and values outside."""

    def __init__(self, node: Any, known: set[int], around: State) -> None:
        self.values = {
            path: [array.copy() for array in arrays_of(value)]
            for _, path, value in walk(_on(node, node._to_save))
            if is_leaf(value) and id(value) not in known
        }
        self.outside = around.again().values
        self.values.update((path, copy) for path, (_, _, copy) in self.outside.items())


def _run(
    node: Any, arguments: list[Any], needs: list[bool | None], step: float, around: State
) -> _Run:
    """Run the `forward` of `node` on arguments perturbed by `step`."""
    function = node.function
    again = function._node_class(node.needs_input_grad)
    numbers, others = random.getstate(), np.random.get_state()
    try:
        with no_grad(), fork_rng(), apart():
            given = tuple(
                a if need is None else _moved(a, need, step)
                for a, need in zip(arguments, needs, strict=True)
            )
            made = function._call_forward(again, given)
            outputs = made if isinstance(made, tuple | list) else (made,)
            return _Run(again, {id(value) for value in (*given, *outputs)}, around)
    finally:
        random.setstate(numbers)
        np.random.set_state(others)
        around.put_back()


def _moved(payload: Any, need: bool, step: float) -> Any:
    """Return a tensor like the argument of `payload`, perturbed if it requires a gradient."""
    tensor = new_tensor(payload.copy())
    if not need or not is_differentiable(payload.dtype):
        return tensor
    if step:
        real = np.zeros((), payload.dtype).real.dtype
        by = _STEPS[real.itemsize]
        # by different amounts, so that a sum or a mean over all elements changes
        parts = np.random.Generator(np.random.PCG64(0)).uniform(by, 2 * by, payload.shape)
        size = T.add(T.abs(tensor), new_tensor(np.asarray(by, real)))
        tensor = T.add(tensor, T.mul(size, new_tensor((step * parts).astype(real))))
    tensor._edge = LEAF
    return tensor


def _differ(path: str, more: _Run, less: _Run, same: _Run) -> bool:
    """Return whether some element changes both for greater and for smaller arguments."""
    runs = [run.values.get(path, []) for run in (more, less, same)]
    if any(len(run) != len(runs[-1]) for run in runs):
        return True
    for a, b, c in zip(*runs, strict=True):
        if a.shape != c.shape or b.shape != c.shape or a.dtype != c.dtype:
            return True
        if (_changed(a, c) & _changed(b, c)).any():
            return True
    return False


def _changed(a: Any, b: Any) -> Any:
    return (a != b) & ((a == a) | (b == b))  # NaN is the same as NaN


def _are_equal(some: list[Any], others: list[Any]) -> bool:
    return len(some) == len(others) and all(
        a.shape == b.shape and a.dtype == b.dtype and not np.any(_changed(a, b))
        for a, b in zip(some, others, strict=True)
    )


def _is_constant(entry: Any) -> bool:
    """Return whether a saved entry has no history."""
    if entry is None:
        return False
    return entry[2] is None if len(entry) == 3 else entry[0] is not None and entry[0]._edge is None
