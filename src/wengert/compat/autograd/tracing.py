"""Layer 9 · compat: reverse and forward mode for functions of one argument, which may be nested.

All differential operators are built on `make_vjp` and `make_jvp`. The argument of the function, a
number, an array, or a nested list, tuple, dict or dataclass of these, becomes boxes of the same
structure.

NOTE [complex gradients]
HIPS autograd does not conjugate: its `grad` of a real function of ``x + iy`` is ``u_x - i u_y``,
and so is `grad` here. The tape's convention is PyTorch's, ``u_x + i u_y``, so cotangents are
conjugated when they enter the tape and when they leave it. Tangents are the same in both.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.containers import field_names, flatten, paths
from wengert.compat.autograd.boxes import (
    TRACING,
    WALKING,
    Opaque,
    boxed,
    boxed_value,
    cannot,
    holds_box,
    is_opaque,
    isbox,
    leaf_of,
    released,
    unboxed,
)
from wengert.compat.autograd.nodes import conjugate
from wengert.compat.autograd.vspaces import vspace
from wengert.compat.autograd.words import refusal
from wengert.ops.expand import expand
from wengert.ops.like import zeros_like
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.levels import brought
from wengert.tape.modes import current_mode, enable_grad, is_recording
from wengert.tape.node import edge_of
from wengert.tape.operands import cast
from wengert.tape.record import T
from wengert.tape.sites import warn

INDEPENDENT = "Output seems independent of input."


def _entered(value) -> Any:
    """Return a new box for a value to differentiate with respect to."""
    if not isinstance(value, TensorBase):
        if isinstance(value, Opaque):
            raise refusal(NotImplementedError, "derivatives of higher")
        return leaf_of(value)
    tensor = value
    if tensor._payload.dtype.kind not in "fc":
        if tensor._edge is not None or tensor._payload.dtype.kind not in "biu":
            raise cannot(value, f" of dtype {tensor._payload.dtype}")
        tensor = cast(tensor, np.dtype(np.float64))
    mode = current_mode()
    if mode is not None and mode.levels:
        tensor = brought(tensor, mode.levels)
    if tensor._edge is None:
        return boxed(new_tensor(tensor._payload, LEAF, tensor._share_version()))
    return boxed(T.alias(tensor))


def _inputs(x) -> tuple[list[Any], Any, Any]:
    """Return the boxes of an argument, the value the function receives, and the rebuilding
    function.
    """
    cls = x.__class__
    if cls is np.ndarray or cls is float or isinstance(x, TensorBase):
        box = _entered(x)
        return [box], box, None
    if isinstance(x, list | tuple | dict) or field_names(x) is not None:
        leaves, rebuild = flatten(x)
        boxes: list[Any] = []
        try:
            for leaf in leaves:
                boxes.append(_entered(leaf))
        except TypeError as error:
            place = paths(x, "argument")[len(boxes)]
            raise TypeError(f"{error}. It is {place}") from None
        return boxes, rebuild([_seen(box) for box in boxes]), rebuild
    box = _entered(x)
    return [box], _seen(box), None


def _seen(box) -> Any:
    """Return the value that a function receives for a leaf."""
    return boxed_value(box) if is_opaque(box) else box


def call(fun: Callable[..., Any], value, boxes: list[Any]) -> Any:
    """Call ``fun(value)`` as a function being differentiated with respect to `boxes`."""
    token, walking = TRACING.set((TRACING.get(), boxes)), WALKING.set(False)
    try:
        if is_recording():
            return fun(value)
        with enable_grad():
            return fun(value)
    finally:
        TRACING.reset(token)
        WALKING.reset(walking)


def _traced_still(leaf) -> bool:
    """Return whether a leaf is an argument of a function being differentiated."""
    under_way = TRACING.get()
    while under_way is not None:
        under_way, boxes = under_way
        if any(leaf is box for box in boxes):
            return True
    return False


def leads_outside(outputs: list[Any], boxes: list[Any]) -> bool:
    """Return whether an outer derivative follows `outputs` of a trace that has ended.

    A leaf of a trace that has ended does not count: no derivative with respect to it can be
    requested.
    """
    if TRACING.get() is None:
        return False
    own = {id(box) for box in boxes}
    stack = [edge_of(out) for out in outputs]
    seen: set[int] = set()
    while stack:
        edge = stack.pop()
        node = edge.node if edge._seq == 0 else edge
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node._seq > 0:
            if id(node) not in own and _traced_still(node):
                return True
            continue
        stack += [following for following in node.edges if following is not None]
    return False


def warn_independent() -> None:
    """Warn that the result of a function does not depend on its argument."""
    warn(INDEPENDENT, UserWarning)


def walked(ends, boxes, seeds, retain: bool, graph: bool) -> list[Any]:
    """Return the gradients of `ends` with respect to `boxes`, with None where there is no path."""
    if not graph:
        return run_grad(ends, boxes, seeds, retain, graph)
    token = WALKING.set(True)
    try:
        return run_grad(ends, boxes, seeds, retain, graph)
    finally:
        WALKING.reset(token)


class Pullback:
    """The function ``vjp(g)`` that `make_vjp` returns."""

    __slots__ = ("_boxes", "_keep", "_outputs", "_rebuild", "_single")

    def __init__(self, boxes: list[Any], rebuild, output, keep: bool) -> None:
        self._boxes = boxes
        self._rebuild = rebuild
        self._single = isbox(output)
        self._outputs = [output] if self._single else flatten(output)[0]
        self._keep = keep

    def __call__(self, g) -> Any:
        """Return the cotangent of the argument for a cotangent of the result."""
        outputs = self._outputs
        seeds = [g] if self._single else flatten(g)[0]
        if len(seeds) != len(outputs):
            raise refusal(ValueError, "expected a cotangent", len(outputs), len(seeds))
        ends, given = [], []
        for out, seed in zip(outputs, seeds, strict=True):
            if isbox(out) and out._edge is not None:
                ends.append(out)
                given.append(_seed(seed, out))
        graph = is_recording() and (self._keep or any(s._edge is not None for s in given))
        return self.walk(ends, given, True, graph)

    def ones(self, retain: bool = False) -> Any:
        """Return the cotangent of the argument for a real result, one box, with cotangent ones."""
        (out,) = self._outputs
        if out._edge is None:
            return self.walk([], [], False, False)
        keep = self._keep and is_recording()
        payload = out._payload
        seed = None
        if payload.size != 1 or payload.ndim:
            seed = new_tensor(np.ones(payload.shape, payload.dtype))
        return self.walk([out], [seed], retain or keep, keep)

    def row(self, seed) -> Any:
        """Return the cotangent of an argument that is one array, as a tensor; so is the result."""
        (out,) = self._outputs
        boxes = self._boxes
        graph = is_recording() and (self._keep or seed._edge is not None)
        (grad,) = walked([out], boxes, [_seed(seed, out)], True, graph)
        if grad is None:
            warn_independent()
            return zeros_like(boxes[0])
        return conjugate(grad)

    def shape(self) -> tuple[int, ...]:
        """The shape of the argument, a single array."""
        return tuple(self._boxes[0]._payload.shape)

    def answer(self) -> Any:
        """The result, a single box."""
        return self._outputs[0]

    def walk(self, ends: list[Any], seeds: list[Any], retain: bool, graph: bool) -> Any:
        """Return the cotangents of the boxes, in the structure of the argument."""
        boxes = self._boxes
        found: list[Any] = [None] * len(boxes)
        if ends:
            found = walked(ends, boxes, seeds, retain, graph)
            if all(grad is None for grad in found):
                warn_independent()
        made = [_given(grad, box) for grad, box in zip(found, boxes, strict=True)]
        return made[0] if self._rebuild is None else self._rebuild(made)


def _given(grad, box) -> Any:
    if is_opaque(box):
        held = None if grad is None else grad._payload[()]
        return vspace(box._payload[()]).zeros() if held is None else held.value
    if grad is None:
        grad = zeros_like(box)
        grad = new_tensor(grad._payload)
    elif grad._payload.dtype.kind == "c":
        grad = T.conj(grad)
    return released(grad)


def _seed(g, out) -> Any:
    """Return a cotangent as a tensor of the dtype of a result."""
    kind = out._payload.dtype
    tensor = g if isinstance(g, TensorBase) else new_tensor(np.asarray(g))
    if tensor._payload.dtype is not kind:
        if tensor._payload.dtype.kind == "c" and kind.kind != "c":
            tensor = T.real(tensor)
        tensor = cast(tensor, kind)
    if tensor._payload.shape != out._payload.shape:
        tensor = expand(tensor, tuple(out._payload.shape))
    return conjugate(tensor)


def make_vjp(fun: Callable[..., Any], x) -> tuple[Any, Any]:
    """Return the function that multiplies by the transposed Jacobian of `fun` at `x`, and
    ``fun(x)``.

    Parameters
    ----------
    fun : callable. Takes one argument and returns an array, or a nested container of arrays.
    x : float, array, or nested containers of them. Where to differentiate.

    Returns
    -------
    vjp : callable. Takes a cotangent of the structure of the result and returns one of the
        structure of `x`. It may be called again.
    value: ``fun(x)``.

    Examples
    --------
    >>> from wengert.compat.autograd.core import make_vjp
    >>> vjp, value = make_vjp(lambda x: x**2, np.array([1.0, 2.0]))
    >>> value, vjp(np.array([1.0, 10.0]))
    (array([1., 4.]), array([ 2., 40.]))
    """
    vjp, output = traced(fun, x)
    return vjp, shown(output)


def traced(fun: Callable[..., Any], x) -> tuple[Pullback, Any]:
    """Like `make_vjp`, but return the boxes that `fun` returned instead of their values."""
    boxes, value, rebuild = _inputs(x)
    output = call(fun, value, boxes)
    if isbox(output):
        keep = output._edge is not None and leads_outside([output], boxes)
        if output._edge is None:
            warn_independent()
    else:
        ends = [leaf for leaf in flatten(output)[0] if isbox(leaf) and leaf._edge is not None]
        keep = bool(ends) and leads_outside(ends, boxes)
        if not ends:
            warn_independent()
    return Pullback(boxes, rebuild, output, keep), output if keep else detached(output)


def rows(vjp: Pullback) -> Any:
    """Return the Jacobian of one array with respect to another, row by row."""
    return _later().rows(vjp)


def detached(output) -> Any:
    """Return a result without the history that only its own transform had."""
    if isbox(output):
        return output if output._edge is None else new_tensor(output._payload)
    leaves, rebuild = flatten(output)
    return rebuild([detached(leaf) if isbox(leaf) else leaf for leaf in leaves])


def shown(output) -> Any:
    """Return a result as the caller sees it."""
    if isbox(output):
        return released(output) if output._edge is None else unboxed(output)
    if not holds_box(output):
        return output
    leaves, rebuild = flatten(output)
    return rebuild([shown(leaf) if isbox(leaf) else leaf for leaf in leaves])


def make_jvp(fun: Callable[..., Any], x) -> Callable[[Any], tuple[Any, Any]]:
    """Return a function that maps a tangent of `x` to ``fun(x)`` and its tangent, in forward mode.

    Parameters
    ----------
    fun : callable. Takes one argument and returns an array, or a nested container of arrays.
    x : float, array, or nested containers of them. Where to differentiate.

    Returns
    -------
    jvp : callable. Takes a tangent of the structure of `x`; it calls `fun` each time.

    Examples
    --------
    >>> from wengert.compat.autograd.core import make_jvp
    >>> make_jvp(np.sin, 0.0)(2.0)
    (np.float64(0.0), np.float64(2.0))
    """
    return _later().pushforward(fun, x)


def _later() -> Any:
    """Return the module that needs the transforms, imported on first use."""
    return importlib.import_module("wengert.compat.autograd.forward")
