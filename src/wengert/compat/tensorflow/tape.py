"""Layer 9 · compat: `GradientTape`: TensorFlow's tapes over this library's single graph.

NOTE [tapes over one graph] in `wengert.compat.tensorflow.recording` defines which nodes a tape has
recorded.
"""

from __future__ import annotations

import contextlib
import enum
import logging
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert.base.dtypes import is_differentiable
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import nest, recording
from wengert.compat.tensorflow.dtypes import cxx_name
from wengert.compat.tensorflow.eager import StringTensor
from wengert.compat.tensorflow.errors import invalid, mismatched
from wengert.compat.tensorflow.tensor import converted, made, tensor_of
from wengert.compat.tensorflow.words import refusal
from wengert.func.batch import vmap
from wengert.ops.shape import reshape
from wengert.tape.backward import run_grad
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T


class UnconnectedGradients(enum.Enum):
    """The gradient for a source that the target does not depend on."""

    NONE = "none"
    """None."""
    ZERO = "zero"
    """Zeros."""


def unconnected(value) -> UnconnectedGradients:
    """Convert a member or its string to a member."""
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise refusal(ValueError, "Unknown value for", value) from None


def is_variable(value) -> bool:
    """Return whether a value is a variable, which has to be read."""
    return hasattr(value, "_as_tensor")


class End:
    """A target or a source of a gradient: its edge, and the values for their shape and dtype."""

    __slots__ = ("_edge", "_payload", "value")

    def __init__(self, value, what: str) -> None:
        self.value = value
        if is_variable(value):
            self._edge = value.handle
            self._payload = value._cell.value
        elif isinstance(value, TensorBase):
            if what == "sources" and not isinstance(value, StringTensor):
                recording.source_of(value)
            self._edge = value._edge
            self._payload = value._payload
        else:
            raise refusal(TypeError, "{} must be", what, value, type(value).__name__)

    def tensor(self) -> Any:
        """Return a tensor of this library that represents the end to the engine."""
        return new_tensor(self._payload, self._edge)


def edges_of_both(targets: list[Any], ends: list[Any]) -> set[Any]:
    """Return the edges that are both targets and sources: their gradient is 1 for any tape."""
    sources = {id(end.value) for end in ends}
    return {target._edge for target in targets if id(target.value) in sources and target._edge}


def known_targets(
    record: recording.Record,
    targets: list[Any],
    same: set[Any] = frozenset(),  # type: ignore[assignment]
) -> tuple[list[int], set[Any]]:
    """Return the indices of the targets that a tape knows, and the nodes that lead to them."""
    edges = [target._edge for target in targets if target._edge is not None]
    through = record.recorded(edges)
    return _reached(record, targets, through, same), through


def _reached(
    record: recording.Record, ends: list[Any], through: set[Any], same: set[Any]
) -> list[int]:
    """Return the indices of what a tape watches, or has computed by the nodes `through`."""

    def known(edge) -> bool:
        return recording.node_of(edge) in through or record.watches(edge) or edge in same

    held = [i for i, end in enumerate(ends) if end._edge is not None]
    return [i for i in held if is_differentiable(ends[i]._payload.dtype) and known(ends[i]._edge)]


def seeds_of(targets: list[Any], given) -> list[Any]:
    """Return the cotangents of the targets."""
    if given is None:
        return [_ones(target) for target in targets]
    values = nest.flatten(given)
    if len(values) != len(targets):
        raise refusal(ValueError, "output_gradients must have", len(targets), len(values))
    seeds = []
    for i, (target, value) in enumerate(zip(targets, values, strict=True)):
        if value is None:
            seeds.append(_ones(target))
            continue
        known = isinstance(value, TensorBase | np.ndarray) or is_variable(value)
        kind = np.dtype(target._payload.dtype)
        seed = tensor_of(value if known else converted(value, kind))
        if seed._payload.dtype != kind:
            advice = f"\noutput_gradients[{i}] must have the dtype of its target: write tf.cast."
            came = cxx_name(np.dtype(seed._payload.dtype))
            raise mismatched("Mul", 1, came, cxx_name(kind), advice)
        shape = tuple(target._payload.shape)
        if tuple(seed._payload.shape) != shape:
            try:
                fits = np.broadcast_shapes(tuple(seed._payload.shape), shape) == shape
            except ValueError:
                fits = False
            if not fits:
                raise invalid(
                    f"Incompatible shapes: output_gradients[{i}] has shape "
                    f"{list(seed._payload.shape)}, and its target {list(shape)}",
                    "Mul",
                )
            seed = T.expand(seed, shape=shape)
        seeds.append(seed)
    return seeds


def _ones(target) -> Any:
    shape, kind = tuple(target._payload.shape), target._payload.dtype
    return new_tensor(np.ones(shape, kind) if shape else np.dtype(kind).type(1))


def zeros_of(end, before: tuple[int, ...], after=0) -> Any:
    """Return zeros shaped like `end`, with the dimensions `before` inserted at axis `after`."""
    size = tuple(end._payload.shape)
    shape = (*size[:after], *before, *size[after:])
    return made(new_tensor(np.zeros(shape, end._payload.dtype)))


_LOG = logging.getLogger("tensorflow")
_TOLD: set[str] = set()
"""Warnings that have been issued; each is issued once."""
_ONCE = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
)


class GradientTape:
    """Records operations, to compute gradients from them.

    The tape records the operations inside its ``with`` block that depend on watched tensors:
    trainable variables that are read there, and the arguments of `watch`.

    Parameters
    ----------
    persistent : bool. Whether `gradient` may be called more than once.
    watch_accessed_variables : bool. Whether trainable variables are watched when they are read.

    Examples
    --------
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    def __init__(self, persistent=False, watch_accessed_variables=True) -> None:
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._record: recording.Record | None = None
        self._recording = False
        self._watched_variables: tuple[Any, ...] = ()

    def __enter__(self) -> GradientTape:
        self._push()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._recording:
            self._pop()

    def __del__(self) -> None:
        record = getattr(self, "_record", None)
        if record is not None:
            record.close()

    def _push(self) -> None:
        if self._recording:
            raise refusal(ValueError, "Tape is still")
        if self._record is None:
            self._record = recording.Record(self._watch_accessed_variables)
        recording.activate(self._record)
        self._recording = True

    def _pop(self) -> None:
        if not self._recording or self._record is None:
            raise ValueError("Tape is not recording.")
        recording.deactivate(self._record)
        self._recording = False

    # -- what is recorded -------------------------------------------------------------------------

    def watch(self, tensor) -> None:
        """Watch a tensor or variable from now on.

        Parameters
        ----------
        tensor : Tensor, Variable, or nested lists, tuples or dicts of them. The tensors to watch,
            of a floating or complex dtype; others cause a warning and have no gradient.

        Raises
        ------
        ValueError: If one of them is not a tensor or variable.
        """
        for value in nest.flatten(tensor):
            if not (is_variable(value) or isinstance(value, TensorBase)):
                raise refusal(ValueError, "Passed in object", value, type(value).__name__)
            if not (value.dtype.is_floating or value.dtype.is_complex) and "watch" not in _TOLD:
                _TOLD.add("watch")
                _LOG.warning(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    value.dtype,
                )
            record, context = self._record, recording.active()
            if record is None or context is None or not context.tapes:
                continue
            if is_variable(value):
                record.watch(value.handle)
                record.variables.setdefault(id(value.handle), value)
            else:
                record.watch(recording.source_of(value))

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Return a context in which the tape does not record.

        Raises
        ------
        ValueError: If the tape is not recording.
        """
        self._pop()
        try:
            yield
        finally:
            self._push()

    def reset(self) -> None:
        """Forget everything watched and recorded, and continue recording."""
        self._pop()
        if self._record is not None:
            self._record.close()
        self._record = None
        self._push()

    def watched_variables(self) -> tuple[Any, ...]:
        """Return the watched variables, in order of creation."""
        if self._record is not None:
            watched = self._record.variables.values()
            self._watched_variables = tuple(sorted(watched, key=lambda one: one._cell.number))
        return self._watched_variables

    # -- gradients --------------------------------------------------------------------------------

    def _ready(self) -> recording.Record:
        if self._record is None:
            raise RuntimeError(_ONCE + ": make it with persistent=True to ask again")
        return self._record

    def _used(self) -> None:
        """Mark a tape that is not persistent as used."""
        if not self._persistent and self._record is not None:
            self.watched_variables()
            self._record.close()
            self._record = None

    def gradient(
        self,
        target,
        sources,
        output_gradients=None,
        unconnected_gradients=UnconnectedGradients.NONE,
    ) -> Any:
        """Return the gradient of `target` with respect to each of `sources`.

        Parameters
        ----------
        target : Tensor, Variable, or nested lists, tuples or dicts of them. The values to
            differentiate; several tensors or elements are summed.
        sources : Tensor, Variable, or nested lists, tuples or dicts of them. The values to
            differentiate with respect to: watched tensors, or tensors computed from them.
        output_gradients : optional. The cotangent of each target, of its shape; default: ones.
        unconnected_gradients : UnconnectedGradients. The gradient to return for sources that
            `target` does not depend on.

        Returns
        -------
        Tensor, or structure of Tensor or None: The gradients, in the structure of `sources`.

        Raises
        ------
        RuntimeError: If the tape is not persistent and has already been used.
        TypeError: If targets or sources are not tensors or variables.
        ValueError: If `unconnected_gradients` is unknown.
        """
        self._ready()
        missing = unconnected(unconnected_gradients)
        if target is None:
            raise refusal(TypeError, "Argument `target` should")
        ends = [End(value, "sources") for value in nest.flatten(sources)]
        targets = [End(value, "targets") for value in nest.flatten(target)]
        seeds = seeds_of(targets, output_gradients)
        if self._recording:
            self._inside()
        found = [made(grad) for grad in self._walked(targets, ends, seeds)]
        self._used()
        if missing is UnconnectedGradients.ZERO:
            found = [
                zeros_of(end, ()) if g is None else g for end, g in zip(ends, found, strict=True)
            ]
        return nest.pack_sequence_as(sources, found)

    def _inside(self) -> None:
        """Handle a gradient requested inside the tape's block: stop recording, or warn."""
        if not self._persistent:
            self._pop()
        elif "inside" not in _TOLD:
            _TOLD.add("inside")
            _LOG.warning(
                "Calling GradientTape.gradient on a persistent tape inside its context is "
                "significantly less efficient than calling it outside the context (it causes the "
                "gradient ops to be recorded on the tape, leading to increased CPU and memory "
                "usage). Only call GradientTape.gradient inside the context if you actually want "
                "to trace the gradient in order to compute higher order derivatives."
            )

    def _walked(self, targets: list[Any], ends: list[Any], seeds: list[Any]) -> list[Any]:
        """Return the gradients with respect to `ends`, or None for each that has none."""
        record = self._ready()
        found: list[Any] = [None] * len(ends)
        same = edges_of_both(targets, ends)
        known, through = known_targets(record, targets, same)
        asked = _reached(record, ends, through, same)
        if not known or not asked:
            return found
        context = recording.active()
        graph = context is not None and bool(context.tapes or context.everything)
        lifts = None if context is None else context.lifts
        parts: list[tuple[list[int], frozenset[int]]]
        if lifts is None:
            parts = [(known, frozenset())]
        else:
            # cotangents of dual values differ in kind from those of tangents
            carrying = [
                i
                for i in known
                if lifts.follows(targets[i].value, targets[i]._payload)
                or lifts.follows(seeds[i], seeds[i]._payload)
            ]
            rest = [i for i in known if i not in carrying]
            parts = [(carrying, lifts.inside(True)), (rest, lifts.inside(False))]
        for chosen, inside in parts:
            if not chosen:
                continue
            token = recording.INSIDE.set(inside)
            try:
                grads = run_grad(
                    [targets[i].tensor() for i in chosen],
                    [ends[i].tensor() for i in asked],
                    [seeds[i] for i in chosen],
                    self._persistent or graph or len(parts) > 1 or not record.alone(),
                    graph,
                    through,
                )
            finally:
                recording.INSIDE.reset(token)
            for i, grad in zip(asked, grads, strict=True):
                if grad is not None:
                    found[i] = grad if found[i] is None else T.add(found[i], grad)
        return found

    # -- Jacobians --------------------------------------------------------------------------------

    def jacobian(
        self,
        target,
        sources,
        unconnected_gradients=UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor=True,
    ) -> Any:
        """Return the Jacobian of `target` with respect to each of `sources`.

        All rows are computed in one batched backward pass.

        Parameters
        ----------
        target : Tensor. The tensor to differentiate.
        sources : Tensor, Variable, or nested lists, tuples or dicts of them. The values to
            differentiate with respect to.
        unconnected_gradients : UnconnectedGradients. The Jacobian to return for sources that
            `target` does not depend on.
        parallel_iterations: Accepted, without effect.
        experimental_use_pfor : bool. If False, take one backward pass per row.

        Returns
        -------
        Tensor, or structure of Tensor or None: The Jacobians, in the structure of `sources`; the
            shape of each is that of `target`, then that of its source.

        Raises
        ------
        RuntimeError: If the tape is not persistent and has already been used, or several passes are
            needed.
        """
        self._ready()
        missing = unconnected(unconnected_gradients)
        if nest.is_nested(target):
            raise refusal(AttributeError, "{!r} object has", type(target).__name__)
        ends = [End(value, "sources") for value in nest.flatten(sources)]
        end = End(target, "target")
        shape = tuple(end._payload.shape)
        count = math.prod(shape)
        basis = np.eye(count, dtype=end._payload.dtype).reshape(count, *shape)
        found = self._rows("jacobian", end, ends, basis, experimental_use_pfor)
        for i, (rows, source) in enumerate(zip(found, ends, strict=True)):
            if rows is not None:
                size = (*shape, *source._payload.shape)
                found[i] = made(reshape(tensor_of(rows), size))
            elif missing is UnconnectedGradients.ZERO:
                found[i] = zeros_of(source, shape)
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(
        self,
        target,
        source,
        unconnected_gradients=UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor=True,
    ) -> Any:
        """Return the Jacobian of ``target[i]`` with respect to ``source[i]``, for a batch.

        ``target[i]`` must depend on ``source[i]`` only.

        Parameters
        ----------
        target, source : Tensor. Batches of one size, along the first dimension.
        unconnected_gradients, parallel_iterations, experimental_use_pfor: See `jacobian`; an
            unconnected Jacobian is zeros.

        Returns
        -------
        Tensor: The Jacobians; their shape is that of `target`, then that of ``source[0]``.

        Raises
        ------
        ValueError: If the batch sizes differ, or there are no dimensions but the batch.
        RuntimeError: See `jacobian`.
        """
        self._ready()
        unconnected(unconnected_gradients)
        for value in (target, source):
            if nest.is_nested(value):
                raise AttributeError(f"{type(value).__name__!r} object has no attribute 'shape'")
        by, end = End(source, "sources"), End(target, "target")
        shape, size = tuple(end._payload.shape), tuple(by._payload.shape)
        for sizes in (shape, size):
            if len(sizes) < 2:
                raise ValueError(f"Shape {sizes} must have rank at least 2")
        if shape[0] != size[0]:
            raise refusal(ValueError, "Need first dimension", shape, size)
        rest = shape[1:]
        count = math.prod(rest)
        basis = np.eye(count, dtype=end._payload.dtype).reshape(count, 1, *rest)
        basis = np.ascontiguousarray(np.broadcast_to(basis, (count, *shape)))
        (rows,) = self._rows("batch_jacobian", end, [by], basis, experimental_use_pfor)
        if rows is None:
            return zeros_of(by, rest, after=1)
        order = (1, 0, *range(2, len(size) + 1))
        rows = T.permute(tensor_of(rows), dims=order)
        return made(reshape(rows, (*shape, *size[1:])))

    def _rows(self, name: str, end, ends: list[Any], basis, at_once: bool) -> list[Any]:
        """Return the gradients of `end` with respect to each source, one per row of `basis`."""
        if not at_once and not self._persistent:
            raise refusal(RuntimeError, "GradientTape must be", name)
        if self._recording:
            self._inside()
        connected = [False] * len(ends)

        def pulled(seed) -> tuple[Any, ...]:
            found = self._walked([end], ends, [seed])
            for i, grad in enumerate(found):
                connected[i] = connected[i] or grad is not None
            return tuple(
                new_tensor(np.zeros((), np.float32)) if grad is None else grad for grad in found
            )

        persistent, self._persistent = self._persistent, True
        try:
            if not len(basis):
                rows: Any = [
                    new_tensor(np.zeros((0, *one._payload.shape), one._payload.dtype))
                    for one in ends
                ]
                known, _ = known_targets(self._ready(), [end])
                connected = [bool(known)] * len(ends)
            elif at_once:
                rows = vmap(pulled)(new_tensor(basis))
            else:
                each = [pulled(new_tensor(seed)) for seed in basis]
                rows = [T.stack(*column, dim=0) for column in zip(*each, strict=True)]
        finally:
            self._persistent = persistent
        self._used()
        return [made(row) if found else None for row, found in zip(rows, connected, strict=True)]


__all__ = defined(globals())
