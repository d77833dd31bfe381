"""Layer 8 · compiler: one traced run of a function, from its arguments to its results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from wengert.base.containers import flatten
from wengert.base.dtypes import is_differentiable
from wengert.compiler.decisions import Draw, Guard
from wengert.compiler.environment import Environment
from wengert.compiler.exit import Effect, Exit, Leaf, View
from wengert.compiler.graph import comes_back, derived
from wengert.compiler.ir import Value
from wengert.compiler.node import Backward
from wengert.compiler.payloads import is_of_transform, real_payload
from wengert.compiler.scalar import Scalar
from wengert.compiler.sym import Sym
from wengert.compiler.trace import Trace
from wengert.prims import whole
from wengert.tape import levels, lifted_writes
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.modes import MODE, changed, current_mode

__all__ = ["Captured", "capture"]

# what is traced may call any operation
REQUIRES = (levels, lifted_writes, whole)
_IMMUTABLE = (int, float, complex, bool, str, bytes, type(None), np.generic, np.dtype)


class Captured:
    """What came of a traced run.

    Attributes
    ----------
    result
        What the function returned, on real arrays; without a history if `again` is True.
    trace
        The trace.
    inputs
        The values of the environment's tensors and arrays.
    exit
        What the run left behind, or None if the trace is broken.
    """

    def __init__(self, environment: Environment, trace: Trace, inputs: list[Value]) -> None:
        self.environment = environment
        self.trace = trace
        self.inputs = inputs
        self.result: Any = None
        self.exit: Exit | None = None


def capture(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    environment: Environment,
    by_blocks: bool = False,
    drawn: Sequence[Any] = (),
) -> Captured:
    """Run `function` and note what it does.

    With `by_blocks` it is to join a graph: its blocks are differentiated one by one, whether it
    comes back to a state itself or not. Its first random numbers are those of `drawn`.

    Whatever the function raises is raised, and every tensor is left as it would be without tracing.
    """
    until = getattr(function, "until", capture.__code__)
    trace = Trace(getattr(function, "__code__", None), until, drawn)
    tensors = environment.tensors
    with _symbols(trace, environment) as inputs:
        trace.given = inputs
        trace.reached = tensors
        trace.surroundings = environment.surroundings()
        captured = Captured(environment, trace, [symbol.value for symbol in inputs])
        before = current_mode()
        grads = [None if t.ext is None else t.ext.grad for t in tensors]
        edges = [t.edge for t in tensors]
        versions = [0 if t.vc is None else t.vc[0] for t in tensors]
        MODE.set(changed(before, tracing=trace))
        try:
            result = function(*args, **kwargs)
            walked_back = trace.walked_back
            leaves, rebuild = flatten(result)
            effects, origins = _effects(trace, tensors, inputs, grads, versions)
            made = _leaves(trace, leaves, environment, inputs)
            computed = [leaf.kind == "tensor" for leaf in made]
            backward, outputs = _differentiated(trace, leaves, computed, environment)
            derivatives = None
            if trace.broken is None and not walked_back and comes_back(trace.items, by_blocks):
                spent = backward is not None and backward.spent
                if outputs and environment.tensors is not environment.met:
                    # a loop of tensors of a transform, whose blocks nobody differentiates
                    spent = True
                derivatives = None if spent else derived(trace, leaves, outputs, tensors)
            _settle(trace, environment, inputs)
            if any(t.edge is not edge for t, edge in zip(tensors, edges, strict=True)):
                trace.give_up("an operation in place changes the history of an argument")
        except BaseException:
            trace.unmask()
            raise
        finally:
            MODE.set(before)
            trace.finish()
        for item in trace.items:
            if isinstance(item, Guard) and item.state is not None:
                # the tensors of this call, with their history
                item.state.tensors.clear()
                item.state.edges.clear()
        captured.result = rebuild([_shown(leaf) for leaf in leaves])
        # which `rebuild` holds
        leaves[:] = [None] * len(leaves)
        if trace.broken is None and not trace.passing:
            captured.exit = Exit(made, rebuild, effects, backward, outputs, origins)
            captured.exit.derivatives = derivatives
        else:
            captured.exit = None
            trace.unmask()
    return captured


def _shown(leaf: Any) -> Any:
    """A leaf of the result with its real array."""
    if isinstance(leaf, TensorBase):
        leaf.payload = real_payload(leaf.payload)
    return leaf.number if type(leaf) is Scalar else leaf


@contextlib.contextmanager
def _symbols(trace: Trace, environment: Environment) -> Iterator[list[Sym]]:
    """Let the tensors of the environment hold symbols, and afterwards their memory again."""
    tensors = environment.tensors
    arrays = [tensor.array() for tensor in tensors]
    inputs = [trace.input(array) for array in arrays]
    inputs += [trace.input(array) for array in environment.arrays]
    try:
        for tensor, symbol in zip(tensors, inputs, strict=False):
            tensor.payload = symbol
        environment.swap()
        yield inputs
    finally:
        environment.restore()
        for tensor, array, symbol in zip(tensors, arrays, inputs, strict=False):
            tensor.payload = array if tensor.payload is symbol else real_payload(tensor.payload)
            if tensor.ext is not None and tensor.ext.grad is not None:
                grad = tensor.ext.grad
                grad.payload = real_payload(grad.payload)
                if isinstance(grad.payload, np.ndarray) and not grad.payload.flags.writeable:
                    # a constant of the trace, which later gradients are not to be added to
                    grad.payload = grad.payload.copy()


def _differentiated(
    trace: Trace, leaves: list[Any], computed: list[bool], environment: Environment
) -> tuple[Backward | None, list[int]]:
    """Trace the backward pass of what was computed, from cotangents of ones."""
    tensors = environment.tensors
    outputs = [
        i
        for i, leaf in enumerate(leaves)
        if computed[i] and leaf.edge is not None and leaf.edge is not LEAF
    ]
    places = [i for i, t in enumerate(tensors) if t.edge is not None]
    places = [i for i in places if is_differentiable(tensors[i].payload.dtype)]
    if not outputs or trace.broken is not None:
        return None, outputs
    if not places:
        trace.give_up("a result has a history that does not lead to an argument")
        return None, outputs
    if any(tensors[i].ext is not None and tensors[i].ext.hooks for i in places):
        trace.give_up("an argument has hooks on its gradient")
        return None, outputs
    start = len(trace.items)
    cotangents = []
    for i in outputs:
        payload = leaves[i].payload
        cotangents.append(trace.input(np.ones(payload.shape, payload.dtype)))

    def pull(sources: list[Any]) -> Sequence[Any]:
        seeds = [new_tensor(g) for g in cotangents]
        return run_grad([leaves[i] for i in outputs], sources, seeds, True, False)

    try:
        reached = environment.pulled(places, pull)
    except RuntimeError as error:
        # the graph can be walked no more: the function has done so itself, or has written to it
        del trace.items[start:]
        return Backward((), (), [None] * len(places), places, error), outputs
    steps = trace.items[start:]
    if any(isinstance(item, Guard | Draw) for item in steps):
        trace.give_up("the backward pass decides on values")
        return None, outputs
    del trace.items[start:]
    gradients = [trace.symbol(g).value for _, g in reached]
    backward = Backward(
        steps,  # type: ignore[arg-type]  # no guards among them
        [g.value for g in cotangents],
        gradients,
        [place for place, _ in reached],
    )
    return backward, outputs


def _settle(trace: Trace, environment: Environment, inputs: list[Sym]) -> None:
    """Make conditions of what NumPy may have read; end the trace where that cannot be."""
    for array, symbol in zip(environment.arrays, inputs[len(environment.tensors) :], strict=True):
        if symbol.storage.writes:
            trace.give_up("it writes to an array of NumPy")
        written = [s for s in inputs[: len(environment.tensors)] if s.storage.writes]
        if any(np.may_share_memory(array, s.array) for s in written):
            trace.give_up("it writes to a tensor that shares its memory with an array of NumPy")
    why = environment.settle(trace.taken)
    if why is not None:
        trace.give_up(why)


def _effects(
    trace: Trace, tensors: list[Any], symbols: Sequence[Any], grads: list[Any], versions: list[int]
) -> tuple[list[Effect], list[tuple[Value, Value]]]:
    """What the function did to the tensors of its environment."""
    effects: list[Effect] = []
    origins: list[tuple[Value, Value]] = []
    own = {id(grad) for grad in grads}
    for i, (tensor, symbol) in enumerate(zip(tensors, symbols, strict=False)):
        if tensor.payload is not symbol and id(tensor) in own:
            # gradients are added to in place, in the memory that is there
            trace.write(symbol, tensor.payload)
            tensor.payload = symbol
        if is_of_transform(tensor.payload):
            trace.give_up("it writes values of a transform to a tensor of the outside")
            continue
        if tensor.payload is not symbol:
            value = trace.symbol(tensor.payload).value
            effects.append(Effect("data", i, value))
        elif symbol.storage.writes:
            origin = symbol.storage.origin
            # writes by way of `.data` are not counted
            cell = tensor.vc or [versions[i], "an operation in place"]
            count = cell[0] - versions[i]
            effects.append(Effect("write", i, symbol.value, cell[1], count))
            if origin is not None:
                origins.append((symbol.value, origin))
        grad = None if tensor.ext is None else tensor.ext.grad
        if grad is grads[i]:
            continue
        if grad is None:
            effects.append(Effect("no grad", i))
        elif is_of_transform(grad.payload):
            trace.give_up("a gradient belongs to a transform that is under way")
        else:
            if grad.edge is not None:
                trace.give_up("a gradient that is left behind has a history")
            effects.append(Effect("grad", i, trace.symbol(grad.payload).value))
    return effects, origins


def _leaves(
    trace: Trace, leaves: list[Any], environment: Environment, inputs: list[Sym]
) -> list[Leaf]:
    """How each leaf of the result is made in later runs."""
    given = [*environment.tensors, *environment.arrays]
    places = {id(v): i for i, v in enumerate(given)}
    owners = {symbol.storage: i for i, symbol in enumerate(inputs)}
    made: list[Leaf] = []
    for leaf in leaves:
        place = places.get(id(leaf))
        if place is not None:
            made.append(Leaf("given", place))
        elif isinstance(leaf, TensorBase):
            payload = trace.symbol(leaf.payload)
            owner = owners.get(payload.storage)
            if owner is not None:
                recorded = leaf.edge is not None and leaf.edge is not LEAF
                made.append(Leaf("view", View(owner, payload.chain, recorded)))
            else:
                made.append(Leaf("tensor", payload.value, type(leaf), leaf.edge is LEAF))
        elif id(leaf) in trace.returned:
            symbol = trace.returned[id(leaf)][1]
            made.append(Leaf("number" if type(leaf) is float else "array", symbol.value))
        elif type(leaf) is Scalar:
            made.append(Leaf("number", leaf.symbol.value))
        elif isinstance(leaf, np.ndarray):
            made.append(Leaf("array", trace.symbol(leaf).value))
        else:
            known = any(leaf is kept for kept in environment.kept)
            if not isinstance(leaf, _IMMUTABLE) and not known:
                trace.give_up(f"a result is a new object ({type(leaf).__name__})")
            made.append(Leaf("constant", leaf))
    return made
