"""Layer 9 · compat: calls of user-made primitives: arguments, results and rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from wengert.base.containers import flatten
from wengert.compat.autograd.boxes import boxed, cannot, carries, getval, isbox, plain
from wengert.compat.autograd.opaque import Box, Opaque, is_opaque, opaque_tensor
from wengert.compat.autograd.operators import unwritten
from wengert.compat.autograd.vspaces import vspace
from wengert.compat.autograd.wrap_util import get_name
from wengert.numpy.arrays import lasting
from wengert.ops.expand import expand
from wengert.ops.shape import reshape
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.operands import cast
from wengert.tape.record import T

primitive_vjps: dict[Any, Callable[..., Any]] = {}
"""For each primitive what makes, of ``(argnums, ans, args, kwargs)``, a function of a cotangent."""
primitive_jvps: dict[Any, Callable[..., Any]] = {}
"""For each primitive a function of ``(argnums, tangents, ans, args, kwargs)``."""


class Call:
    """One call of a primitive: its arguments, with places for what the tape holds."""

    __slots__ = (
        "argnums",
        "args",
        "fun",
        "kwargs",
        "parts",
        "rebuild_output",
        "simple",
        "tensors",
    )

    def __init__(self, fun, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.fun = fun
        self.args = list(args)
        self.kwargs = kwargs
        self.rebuild_output: Any = None
        argnums: list[int] = []
        # of an argument that is a container: its leaves, and what makes it again
        parts: list[Any] = []
        tensors: list[Any] = []
        for i, arg in enumerate(args):
            if isinstance(arg, TensorBase):
                if carries(arg):
                    argnums.append(i)
                    parts.append(None)
                    tensors.append(arg)
                else:
                    self.args[i] = getval(arg)
            elif isinstance(arg, Opaque):
                argnums.append(i)
                parts.append(None)
                tensors.append(arg._node)
            elif isinstance(arg, list | tuple | dict):
                leaves, again = flatten(arg)
                leaves = [leaf._node if isinstance(leaf, Opaque) else leaf for leaf in leaves]
                found = [leaf for leaf in leaves if isbox(leaf)]
                if any(map(carries, found)):
                    argnums.append(i)
                    parts.append((leaves, again))
                    tensors += found
                elif found:
                    self.args[i] = plain(arg)
        self.argnums = tuple(argnums)
        self.parts = parts
        self.simple = len(tensors) == len(argnums) and not any(parts)
        self.tensors = tensors
        if not all(map(unwritten, tensors)):
            # what may be written to later is copied (NOTE [written arrays])
            self.tensors = [boxed(tensor) for tensor in lasting(tuple(tensors))]

    def split(self, values: Iterable[Any]) -> list[Any]:
        """Values in the places of the tensors, as arguments at the positions `argnums`."""
        source = iter(values)
        made = []
        for part in self.parts:
            if part is None:
                made.append(next(source))
            else:
                leaves, again = part
                made.append(again([next(source) if isbox(leaf) else leaf for leaf in leaves]))
        return made

    def with_values(self, values: Iterable[Any]) -> list[Any]:
        """The arguments, with other values in the places of the tensors."""
        made = list(self.args)
        parts = values if self.simple else self.split(values)
        for i, value in zip(self.argnums, parts, strict=True):
            made[i] = value
        return made

    def compute(self, values: list[Any]) -> list[Any]:
        """The arrays that the primitive gives of values in the places of the tensors."""
        output = self.fun.fun(*self.with_values(values), **self.kwargs)
        own = output.__class__ is np.ndarray and output.base is None
        if own and output.dtype.kind == "f" and not any(output is value for value in values):
            return [output]
        if isinstance(output, list | tuple | dict):
            leaves, self.rebuild_output = flatten(output)
            return [_output(leaf) for leaf in leaves]
        return [_output(output)]

    def result(self, outputs: list[Any]) -> Any:
        """What the primitive gives, of the arrays in it."""
        return outputs[0] if self.rebuild_output is None else self.rebuild_output(outputs)

    def pullback(self, values: Sequence[Any], outputs: list[Any]) -> Callable[[Any], Any]:
        """The rule's function of the cotangent of the result."""
        answer = self.result(outputs)
        rule = primitive_vjps[self.fun]
        made: Callable[[Any], Any] = rule(
            self.argnums, answer, tuple(self.with_values(values)), self.kwargs
        )
        return made

    def gradients(self, found: Iterable[Any]) -> list[Any]:
        """The cotangents of the tensors, from those of the arguments that a rule gave."""
        given = list(found)
        if len(given) != len(self.argnums):
            raise ValueError(
                f"the VJP of {get_name(self.fun)} gave {len(given)} cotangents for the arguments "
                f"{self.argnums}"
            )
        if self.simple:
            triples = zip(given, self.tensors, self.argnums, strict=True)
            return [self._shaped(grad, tensor, i) for grad, tensor, i in triples]
        made: list[Any] = []
        tensors = iter(self.tensors)
        for i, grad, part in zip(self.argnums, given, self.parts, strict=True):
            if part is None:
                made.append(self._shaped(grad, next(tensors), i))
                continue
            leaves = part[0]
            grads = [None] * len(leaves) if grad is None else flatten(grad)[0]
            if len(grads) != len(leaves):
                grads = _rows(grad, self.args[i])
            if len(grads) != len(leaves):
                raise ValueError(
                    f"the VJP of {get_name(self.fun)} gave a cotangent of {len(grads)} arrays for "
                    f"argument {i}, which has {len(leaves)}"
                )
            pairs = zip(grads, leaves, strict=True)
            made += [self._shaped(g, next(tensors), i) for g, leaf in pairs if isbox(leaf)]
        return made

    def _shaped(self, grad, like, i: int) -> Any:
        """A cotangent in the shape and the dtype of an argument: an array, or a box of one."""
        shape, dtype = like.payload.shape, like.payload.dtype
        cls = grad.__class__
        known = (cls is np.ndarray or cls is np.float64) and grad.dtype is dtype
        if known and grad.shape == shape:
            return grad if dtype.kind != "c" else grad.conj()
        if grad is None:
            return None
        if is_opaque(like):
            return Held(grad)
        tensor = grad if isinstance(grad, TensorBase) else new_tensor(np.asarray(grad))
        have = tensor.payload.shape
        if have != shape and tensor.payload.size == 1:
            tensor = expand(reshape(tensor, ()), tuple(shape))
        elif have != shape:
            raise ValueError(
                f"the VJP of {get_name(self.fun)} gave a cotangent of shape {tuple(have)} for "
                f"argument {i}, of shape {tuple(shape)}: sum over the axes that were broadcast"
            )
        if tensor.payload.dtype.kind == "c" and dtype.kind != "c":
            tensor = T.real(tensor)
        tensor = conjugate(cast(tensor, dtype))
        return tensor if isbox(grad) else tensor.payload


def conjugate(tensor) -> Any:
    """The conjugate of a tensor, which is itself if it is real."""
    return T.conj(tensor) if tensor.payload.dtype.kind == "c" else tensor


class Held:
    """A cotangent of a value of one of the user's own types, on its way."""

    __slots__ = ("value",)

    def __init__(self, value) -> None:
        self.value = value

    def __add__(self, other) -> Any:
        return Held(vspace(self.value).add(self.value, other.value))


def _output(value) -> Any:
    if value.__class__ is np.ndarray or isinstance(
        value, float | complex | np.ndarray | np.generic
    ):
        # in memory of its own: what the primitive was given must not be written to
        array = np.array(value)
        if array.dtype.kind in "biufc":
            return array
    elif isinstance(value, TensorBase):
        return np.asarray(getval(value))
    elif type(value) in Box.type_mappings:
        return opaque_tensor(value, None).payload
    raise cannot(value, ": a primitive gives arrays, floats, and lists, tuples and dicts of them")


def _rows(grad, like) -> list[Any]:
    """The cotangents of the leaves of lists and tuples: what is given may be arrays of them."""
    if not isinstance(like, list | tuple):
        return [grad]
    given = list(grad) if isinstance(grad, list | tuple) or np.ndim(grad) else [grad]
    if len(given) != len(like):
        return given
    return [leaf for g, part in zip(given, like, strict=True) for leaf in _rows(g, part)]
