"""Layer 9 · compat: the targets and sources of a gradient, as the engine takes them."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from wengert.base.dtypes import is_differentiable
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import nest
from wengert.compat.tensorflow.dtypes import cxx_name
from wengert.compat.tensorflow.errors import invalid
from wengert.compat.tensorflow.recording import Record, node_of, source_of
from wengert.compat.tensorflow.tensor import converted, made, tensor_of
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T


class UnconnectedGradients(enum.Enum):
    """What the gradient by something is that the target does not depend on."""

    NONE = "none"
    """None."""
    ZERO = "zero"
    """Zeros."""


def unconnected(value) -> UnconnectedGradients:
    """The choice that `value` names, as a member or as its word."""
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {value!r}. Expected "
            "tf.UnconnectedGradients.NONE or tf.UnconnectedGradients.ZERO"
        ) from None


def is_variable(value) -> bool:
    """Whether a value is a variable, which is read as a tensor."""
    return hasattr(value, "_as_tensor")


class End:
    """A target or a source of a gradient: its edge, and the values for their shape and dtype."""

    __slots__ = ("edge", "payload", "value")

    def __init__(self, value, what: str) -> None:
        self.value = value
        if is_variable(value):
            self.edge = value.handle
            self.payload = value._cell.value
        elif isinstance(value, TensorBase):
            if what == "sources":
                source_of(value)
            self.edge = value.edge
            self.payload = value.payload
        else:
            raise TypeError(
                f"{what} must be tensors or variables (or lists, tuples or dicts of them), but "
                f"there is {value!r}, of type {type(value).__name__}"
            )

    def tensor(self) -> Any:
        """A tensor of this library's that the engine can take for it."""
        return new_tensor(self.payload, self.edge)


def edges_of_both(targets: list[Any], ends: list[Any]) -> set[Any]:
    """The edges of those that are targets and sources: their gradient is 1 on any tape."""
    sources = {id(end.value) for end in ends}
    return {target.edge for target in targets if id(target.value) in sources and target.edge}


def known_targets(
    record: Record,
    targets: list[Any],
    same: set[Any] = frozenset(),  # type: ignore[assignment]
) -> tuple[list[int], set[Any]]:
    """Which of the targets a tape knows, and the nodes that it recorded on the way to them."""
    edges = [target.edge for target in targets if target.edge is not None]
    through = record.recorded(edges)
    known = [
        i
        for i, target in enumerate(targets)
        if target.edge is not None
        and is_differentiable(target.payload.dtype)
        and (node_of(target.edge) in through or record.watches(target.edge) or target.edge in same)
    ]
    return known, through


def seeds_of(targets: list[Any], given) -> list[Any]:
    """The cotangents of the targets."""
    if given is None:
        return [_ones(target) for target in targets]
    values = nest.flatten(given)
    if len(values) != len(targets):
        raise ValueError(
            f"output_gradients must have one element for each target: there are {len(targets)} "
            f"targets and {len(values)} output_gradients"
        )
    seeds = []
    for i, (target, value) in enumerate(zip(targets, values, strict=True)):
        if value is None:
            seeds.append(_ones(target))
            continue
        known = isinstance(value, TensorBase | np.ndarray) or is_variable(value)
        kind = np.dtype(target.payload.dtype)
        seed = tensor_of(value if known else converted(value, kind))
        if seed.payload.dtype != kind:
            raise invalid(
                f"cannot compute Mul as input #1(zero-based) was expected to be a "
                f"{cxx_name(np.dtype(seed.payload.dtype))} tensor but is a {cxx_name(kind)} tensor",
                "Mul",
                f"\noutput_gradients[{i}] must have the dtype of its target: write tf.cast.",
            )
        shape = tuple(target.payload.shape)
        if tuple(seed.payload.shape) != shape:
            try:
                fits = np.broadcast_shapes(tuple(seed.payload.shape), shape) == shape
            except ValueError:
                fits = False
            if not fits:
                raise invalid(
                    f"Incompatible shapes: output_gradients[{i}] has shape "
                    f"{list(seed.payload.shape)}, and its target {list(shape)}",
                    "Mul",
                )
            seed = T.expand(seed, shape=shape)
        seeds.append(seed)
    return seeds


def _ones(target) -> Any:
    shape, kind = tuple(target.payload.shape), target.payload.dtype
    return new_tensor(np.ones(shape, kind) if shape else np.dtype(kind).type(1))


def zeros_of(end, before: tuple[int, ...], after: int = 0) -> Any:
    """Zeros like `end`, with dimensions `before` its own, from number `after` on."""
    size = tuple(end.payload.shape)
    shape = (*size[:after], *before, *size[after:])
    return made(new_tensor(np.zeros(shape, end.payload.dtype)))


__all__ = defined(globals())
