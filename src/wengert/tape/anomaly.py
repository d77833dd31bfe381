"""Layer 4 · tape: anomaly detection: where values first stop being finite.

NOTE [anomalies]
In anomaly mode every operation takes the general path to `Anomaly.record`, which computes it as
usual and notes the program's position on its node. The forward pass only warns, once: infinities
and NaNs may be intended, and may be masked out later. A backward pass raises on the first NaN, as
in PyTorch, and the message traces it back to the first value that was not finite.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.prims.record import Primitive
from wengert.tape.base import LEAF, OutputEdge, TensorBase
from wengert.tape.finite import are_finite
from wengert.tape.modes import MODE, Mode
from wengert.tape.node import Node
from wengert.tape.record import T
from wengert.tape.saving import Packed
from wengert.tape.sites import (
    Frames,
    Site,
    line_of,
    shown,
    site_here,
    site_of,
    traceback_of,
    warn_at,
)
from wengert.tape.sums import is_finite


class Anomaly:
    """The state of anomaly mode.

    Parameters
    ----------
    check_nan: Whether to check values; if not, only the sites of operations are noted.
    """

    def __init__(self, check_nan: bool) -> None:
        self.check_nan = check_nan
        self.looking = check_nan
        """Whether to check results of the forward pass: true until the first hit."""
        self.frames = Frames()
        self._first = ""
        self._infinite = ""
        self.running: Node | None = None

    def site(self) -> Site:
        """Return the program's position, and the node that a backward pass is running, if any."""
        node = self.running
        if node is None:
            return site_here()
        return site_here((node.name(), site_of(node)))

    # -- forward ----------------------------------------------------------------------------------

    def note(
        self, node: Any, prim: Primitive, args: tuple[Any, ...], params: dict[str, Any], out: Any
    ) -> None:
        """Note the program's position on a new node, and check the result."""
        if self.running is not None:
            node.site = self.site()
            return
        node.site = self.frames.take(), None
        if self.looking and not is_finite(out._payload):
            self._judge_result(prim, args, params, out._payload)

    def look(
        self, prim: Primitive, args: tuple[Any, ...], params: dict[str, Any], out: Any
    ) -> None:
        """Check a result of the forward pass that has no node, until the first hit."""
        if self.looking and self.running is None and not is_finite(out._payload):
            self._judge_result(prim, args, params, out._payload)

    def record(
        self, mode: Mode, prim: Primitive, args: tuple[Any, ...], params: dict[str, Any]
    ) -> Any:
        """Compute and record `prim` by the general path, note the site, and check the results."""
        MODE.set(mode.inner)
        try:
            results = getattr(T, prim.name)(*args, **params)
        finally:
            MODE.set(mode)
        outs = results if results.__class__ is tuple else (results,)
        edge = outs[0]._edge
        if edge is not None and edge is not LEAF:
            node = edge.node if edge.__class__ is OutputEdge else edge
            if site_of(node) is None:
                node.site = self.site()
        for out in outs:
            self.look(prim, args, params, out)
        return results

    def _judge_result(self, prim: Primitive, args: Any, params: Any, payload: Any) -> None:
        """Warn about the first result that is not finite."""
        values = [a._payload if isinstance(a, TensorBase) else a for a in args]
        numbers = float | complex | int if prim.of_number else float | complex
        values += [value for value in params.values() if isinstance(value, numbers)]
        bad = np.isnan(payload)
        if any(_has(np.isnan, value) for value in values) or not bad.any():
            # infinite because an argument was: not a new anomaly
            if any(not are_finite(value) for value in values):
                return
            bad = ~np.isfinite(payload)
        index = _first_index(bad)
        site = self.site()
        there = ", ".join(_value_at(value, bad.shape, index) for value in values)
        name = prim.name.removesuffix("_scalar")
        self.looking = False
        self._first = (
            f"the first value of the forward pass that is not finite: {name} gave "
            f"{np.asarray(payload)[index]} at element {index}, from {there or 'its arguments'}\n"
            f"  {shown(site)}"
        )
        warn_at(site, f"Anomaly detection found {self._first}")

    # -- backward ---------------------------------------------------------------------------------

    def judge(self, node: Any, i: int, payload: Any, g: Any) -> None:
        """Raise for a NaN in gradient `i` of `node`; remember the first infinity."""
        bad = np.isnan(payload)
        parts = g if node.several else (g,)
        arrays = [getattr(part, "_payload", part) for part in parts if part is not None]
        if not bad.any():
            if not self._infinite and all(map(are_finite, arrays)):
                self._infinite = (
                    "the first gradient that is infinite: "
                    f"{_where(node, i, payload, arrays, np.isinf(payload))}"
                )
            return
        self.tell(node)
        earlier = "".join(f"\n  before: {text}" for text in (self._first, self._infinite) if text)
        raise RuntimeError(
            f"Function '{node.name()}' returned nan values in its {i}th output.\n"
            f"  {_where(node, i, payload, arrays, bad)}{earlier}"
        )

    def watch(self, raw: bool) -> AnomalyWatch:
        """Return the watcher of one backward pass, on raw arrays or on tensors."""
        return AnomalyWatch(self, raw)

    @contextlib.contextmanager
    def walk(self) -> Iterator[None]:
        """Enclose a backward pass; at its end, warn about infinities that led to no NaN."""
        above = self.running, self._infinite
        self.running, self._infinite = None, ""
        try:
            yield
            if self._infinite:
                warn_at(site_here(), f"Anomaly detection found {self._infinite}")
        finally:
            self.running, self._infinite = above

    def tell(self, node: Any) -> None:
        """Report where the node was recorded, in PyTorch's words."""
        site = site_of(node)
        if site is None:
            text = (
                "No forward pass information available. Enable detect anomaly during forward pass "
                "for more information."
            )
        else:
            text = f"Traceback of forward call that caused the error:\n{traceback_of(site)}"
        here = site_here()
        _say(here, f"Error detected in {node.name()}. {text}")
        cause = None if site is None else site[1]
        while cause is not None:
            name, site = cause
            text = (
                "No forward pass information available."
                if site is None
                else "Traceback of forward call that induced the previous calculation:\n"
                + traceback_of(site)
            )
            _say(here, f"\n\nPrevious calculation was induced by {name}. {text}")
            cause = None if site is None else site[1]


class AnomalyWatch:
    """Watches a walk for anomalies, if nothing else observes the walk."""

    def __init__(self, anomaly: Anomaly, raw: bool) -> None:
        self.anomaly = anomaly
        self.raw = raw
        self.met: list[Any] = []

    def begin(self, pending: dict[Any, Any]) -> None:
        """Do nothing before the first node."""

    def step(self, node: Any, g: Any, keep: bool, edges: Any) -> Any:
        """Run `node` backwards and check its gradients."""
        if edges is None:
            return None
        self.met.append(node)
        anomaly = self.anomaly
        anomaly.running = node
        raw = self.raw
        try:
            if g.__class__ is np.ndarray and raw:
                grads = node.apply(g, keep, edges)
            else:
                grads = node.step(g, keep, edges, raw)
        except Exception:
            anomaly.tell(node)
            raise
        if anomaly.check_nan:
            for i, grad in enumerate(grads):
                if grad is not None:
                    payload = grad if raw else grad._payload
                    if not is_finite(payload):
                        anomaly.judge(node, i, payload, g)
        return grads

    def finished(self, node: Any, pending: dict[Any, Any]) -> None:
        """Do nothing after a node."""


def _say(site: Site, message: str) -> None:
    """Warn while an error propagates; if warnings are errors, write to stderr instead."""
    try:
        warn_at(site, message)
    except Warning as warning:
        print(f"{type(warning).__name__}: {warning}", file=sys.stderr)


def _has(test: Any, value: Any) -> bool:
    """Return whether `test` holds for any element of a floating or complex value."""
    if value is None or isinstance(value, str | tuple):
        return False
    array = np.asarray(value)
    return array.dtype.kind in "fc" and bool(np.any(test(array)))


def _first_index(bad: Any) -> tuple[int, ...]:
    return (
        tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape)) if bad.ndim else ()
    )


def _value_at(value: Any, shape: tuple[int, ...], index: tuple[int, ...]) -> str:
    array = np.asarray(value)
    try:
        return str(np.broadcast_to(array, shape)[index])
    except ValueError:
        return f"{array.dtype} {list(array.shape)}"


def _where(node: Any, i: int, payload: Any, arrays: list[Any], bad: Any) -> str:
    """Describe the first element of a gradient that `bad` marks."""
    index = _first_index(np.asarray(bad))
    known = [f"gradient {np.asarray(payload)[index]} for argument {i}"]
    if len(arrays) == 1:
        known.append(f"incoming gradient {_value_at(arrays[0], payload.shape, index)}")
    prim = getattr(node, "prim", None)
    for name in () if prim is None else (*prim.saved_args, "result"):
        saved = getattr(node, name if name == "result" else f"s_{name}", None)
        if isinstance(saved, Packed):
            # its unpack hook has run, and may not be repeatable
            continue
        saved = getattr(saved, "_payload", saved)
        if saved is not None and np.shape(saved) == payload.shape:
            known.append(f"{name} {np.asarray(saved)[index]}")
    line = line_of(node)
    return f"{node.name()}, element {index}: {', '.join(known)}" + (f"\n  {line}" if line else "")
