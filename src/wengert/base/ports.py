"""Layer 0 · base: ports, through which a layer calls layers above it.

NOTE [ports]
A module imports only from its own layer and those below. If it needs a definition from a layer
above, it calls a port, which the defining module fills with `provides`. A port that is called
before that module is imported imports it, so rarely used parts cost nothing at import.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

V = TypeVar("V")

OWNERS = {
    "namespace": "wengert.tape.record",
    "tensor": "wengert.tensor.tensor",
    "shown": "wengert.tensor.printing",
    "formatted": "wengert.tensor.printing",
    "wrapper": "wengert.tensor.wrapped",
    "levels": "wengert.tape.modes",
    "made_on": "wengert.tape.modes",
    "full_mode": "wengert.tape.modes",
    "meta": "wengert.tensor.meta",
    "parameter": "wengert.nn.parameter",
    "batched": "wengert.interp.batched",
    "transposed": "wengert.tape.forward",
    "arrived": "wengert.tape.levels",
    "brought": "wengert.tape.levels",
    "raised": "wengert.tape.levels",
    "replaced": "wengert.tape.levels",
    "seeded": "wengert.tape.levels",
    "settled": "wengert.tape.levels",
    "sided": "wengert.tape.levels",
    "write": "wengert.tape.level_writes",
    "applied": "wengert.autograd.levels",
    "lowered": "wengert.autograd.levels",
    "sparse": "wengert.sparse.creation",
    "masked": "wengert.sparse.creation",
    "sparse_gradient": "wengert.sparse.creation",
    "shed": "wengert.autograd.levels",
    "fused": "wengert.compiler.runtime.fused",
    "converted": "wengert.compiler.runtime.conversion",
    "drawn": "wengert.compiler.runtime.drawing",
    "permuted": "wengert.compiler.runtime.drawing",
    "twisted": "wengert.compiler.runtime.drawing",
    "sent": "wengert.interp.devices",
    "parts": "wengert.compiler.decompose.all",
    "compiled_by": "wengert.fx.dispatched",
}
"""The module that fills each port."""


class Ports:
    """The values that layers above have provided.

    Attributes
    ----------
    namespace: T, the namespace that computes on tensors.
    tensor: The class of results.
    shown, formatted: The text of a tensor, and its text in a format.
    wrapper: Make an instance of a wrapper subclass (see `wengert.tensor.wrapped`).
    made_on, full_mode: Create tensors on another device; the mode that holds the default device.
    meta: A tensor without values, in place of one or of an array (see `wengert.tensor.meta`).
    parameter: The class of parameters.
    levels: The levels of transforms that are currently active.
    batched: The class of batches.
    transposed: The tangent of a primitive, by transposing its reverse rules.
    raised, write
        Record operations, and write in place, at active levels (see `wengert.tape.levels` and
        `wengert.tape.level_writes`).
    brought: A tensor as a value of all given levels.
    settled: A tensor after its level has dropped its tangents.
    seeded, sided, arrived, replaced
        Convert the cotangents of outputs at levels, choose the mode of a walk from there, and
        convert the cotangents that arrive and those that hooks replace (see NOTE [sides of a level]
        in `wengert.tape.levels`).
    applied, shed, lowered
        Apply custom Functions there, and convert their results and gradients (see
        `wengert.autograd.levels`).
    sparse, masked: A sparse tensor of a dense one's elements: the nonzero ones, or selected ones.
    sparse_gradient: A sparse tensor of indices and values, which are not checked.
    sent: A copy of an array on a device.
    parts: The decomposition of a primitive into simpler ones, or None.
    compiled_by: A function as what a program's own compiler makes of its graph.
    fused: A primitive on large arrays, by native code (see `wengert.compiler.runtime.fused`).
    converted: An array in another precision, by native code (see that module).
    drawn, permuted, twisted
        Random samples, a permutation, and raw words of the twister, by native code (see
        `wengert.compiler.runtime.drawing`).
    """

    namespace: Any
    tensor: type[Any]
    shown: Callable[..., str]
    formatted: Callable[[Any, str], str]
    wrapper: Callable[..., Any]
    levels: Callable[[], Iterable[Any]]
    made_on: Callable[[Any, bool], None]
    full_mode: Callable[[], Any]
    meta: Callable[[Any], Any]
    parameter: Callable[..., Any]
    batched: type[Any]
    transposed: Callable[..., Any]
    raised: Callable[..., list[Any]]
    write: Callable[..., Any]
    brought: Callable[..., Any]
    settled: Callable[..., Any]
    seeded: Callable[..., Any]
    sided: Callable[..., Any]
    arrived: Callable[..., Any]
    replaced: Callable[..., Any]
    applied: Callable[..., Any]
    shed: Callable[..., Any]
    lowered: Callable[..., tuple[Any, ...]]
    sparse: Callable[..., Any]
    masked: Callable[..., Any]
    sparse_gradient: Callable[..., Any]
    fused: Callable[..., Any]
    converted: Callable[..., Any]
    drawn: Callable[..., Any]
    permuted: Callable[..., Any]
    twisted: Callable[..., Any]
    sent: Callable[..., Any]
    parts: Callable[..., Any]
    compiled_by: Callable[..., Any]

    def __init__(self) -> None:
        for name in OWNERS:
            setattr(self, name, _Empty(name))


class _Empty:
    """The initial value of a port: importing its owner fills the port."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        importlib.import_module(OWNERS[self.name])
        filled = getattr(PORTS, self.name)
        if filled is self:
            raise RuntimeError(f"{OWNERS[self.name]} does not fill the port {self.name!r}")
        return filled(*args, **kwargs)


PORTS = Ports()


def filled(name: str) -> bool:
    """Return whether the module that fills the port `name` was imported."""
    return not isinstance(getattr(PORTS, name), _Empty)


def provides(name: str) -> Callable[[V], V]:
    """Return the decorator that fills the port `name`."""

    def fill(value: V) -> V:
        if filled(name):
            raise ValueError(f"the port {name!r} is filled twice")
        setattr(PORTS, name, value)
        return value

    return fill
