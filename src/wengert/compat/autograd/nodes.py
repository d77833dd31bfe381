"""Layer 9 · compat: the nodes of user-made primitives.

NOTE [user-made primitives]
A call of a primitive is one node of the tape. A backward pass calls the rules of the node: on
NumPy's own arrays, or on boxes if the pass is itself recorded or belongs to a transform. So rules
written with `wengert.compat.autograd.numpy` are differentiable to any order. Forward mode uses the
rules of `defjvp`, or else transposes those of `defvjp`. Arguments inside lists, tuples and dicts
are followed, too; keyword arguments are constants.

In the default mode the node is a `PrimitiveNode`, which costs little. Under transforms, and under
hooks for saved tensors, it is the node of a custom Function, which supports both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from wengert.autograd.elements import each, in_batch
from wengert.autograd.function import Function
from wengert.base import errors
from wengert.base.containers import flatten
from wengert.compat.autograd.boxes import (
    WALKING,
    ArrayBox,
    Box,
    Opaque,
    boxed,
    boxed_value,
    cannot,
    carries,
    getval,
    is_opaque,
    isbox,
    opaque_tensor,
    plain,
)
from wengert.compat.autograd.noted import is_noted, noted_call
from wengert.compat.autograd.operators import unwritten
from wengert.compat.autograd.vspaces import vspace
from wengert.compat.autograd.words import refusal
from wengert.compat.autograd.wrap_util import get_name
from wengert.interp.levels import Lifted, batch_of
from wengert.numpy.arrays import lasting
from wengert.ops.expand import expand
from wengert.ops.shape import reshape
from wengert.tape.base import OutputEdge, TensorBase, new_tensor, version_of
from wengert.tape.modes import current_mode, is_recording
from wengert.tape.node import Node, edge_of, next_sequence
from wengert.tape.operands import cast
from wengert.tape.record import T


def _for_rule(payload) -> Any:
    """Return the value that a rule sees: NumPy's own, or a box of a transform."""
    cls = payload.__class__
    if cls is np.ndarray:
        return payload if payload.ndim else payload[()]
    if cls is Held:
        return payload.value
    return boxed(new_tensor(payload)) if isinstance(payload, Lifted) else payload


class PrimitiveNode(Node):
    """The node of a call of a primitive, in the default mode."""

    __slots__ = ("call", "metas", "outputs", "saved", "several", "vjp")
    gives_all: ClassVar[bool] = True
    label: ClassVar[str] = "PrimitiveBackward"

    def __init__(self, call: Call, arrays: list[Any]) -> None:
        self._ext = None
        self.vjp: Any = None
        self.call = call
        self.metas = [(array.shape, array.dtype) for array in arrays]
        self.several = len(arrays) != 1  # type: ignore[misc]  # differs from call to call
        self.edges = tuple([edge_of(tensor) for tensor in call.tensors])
        self._seq = next_sequence()
        self.saved: Any = [(t, version_of(t)) for t in call.tensors]
        self.outputs: Any = None

    def name(self) -> str:
        """The primitive's name."""
        return f"{get_name(self.call.fun)}Backward"

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"

    def width(self) -> int:
        return len(self.metas)

    def release(self) -> None:
        self.saved = self.outputs = self.vjp = None

    def _saved(self) -> list[Any]:
        if self.saved is None:
            raise errors.backward_twice(self.name())
        made = []
        for i, (tensor, version) in enumerate(self.saved):
            cell = tensor._vc
            if cell is not None and cell[0] != version:
                raise errors.modified_in_place(
                    tensor._payload, "", cell, version, self.name(), f"argument {i}"
                )
            made.append(tensor)
        return made

    def apply(self, g, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        parts = g if self.several else (g,)
        followed = g.__class__ is not np.ndarray and any(isinstance(p, Lifted) for p in parts)
        if followed and batch_of(*parts) is not None:
            tensors = [part if part is None else new_tensor(part) for part in parts]
            found = self._by_rows(tensors, keep)
            return tuple(None if grad is None else grad._payload for grad in found)
        call = self.call
        vjp = None if followed else self.vjp
        if vjp is None:
            values = [_for_rule(tensor._payload) for tensor in self._saved()]
            outputs = [_for_rule(payload) for payload, _ in self.outputs]
            vjp = call.pullback(values, outputs)
            if keep and not followed:
                # as in HIPS autograd, the rule's maker runs once
                self.vjp = vjp
        given: list[Any] = []
        for part, (shape, dtype) in zip(parts, self.metas, strict=True):
            if part is None:
                part = self._zeros(len(given), shape, dtype)
            given.append(_for_rule(part.conj() if dtype.kind == "c" else part))
        grads = call.gradients(vjp(call.result(given)))
        if not keep:
            self.release()
        return tuple([grad._payload if isinstance(grad, TensorBase) else grad for grad in grads])

    def apply_in(self, g, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Like `apply`, but for tensors or values of a transform, which may be recorded."""
        parts = g if self.several else (g,)
        if not any(isinstance(part, TensorBase) for part in parts):
            # values of a transform
            return self.apply(g, keep, edges)
        batched = in_batch([part for part in parts if part is not None])
        made = self._by_rows(parts, True) if batched else self._recorded(parts)
        if not keep:
            self.release()
        return tuple(made)

    def _zeros(self, i: int, shape: tuple[int, ...], dtype) -> Any:
        if dtype.kind != "O":
            return np.zeros(shape, dtype)
        return Held(vspace(self.outputs[i][0][()]).zeros())

    def _recorded(self, parts: Sequence[Any]) -> list[Any]:
        walking = WALKING.set(False)
        try:
            return self._by_rule(parts)
        finally:
            WALKING.reset(walking)

    def _by_rule(self, parts: Sequence[Any]) -> list[Any]:
        call = self.call
        if any(map(is_opaque, call.tensors)) or any(dtype.kind == "O" for _, dtype in self.metas):
            raise _no_more("derivatives of higher order")
        vjp = call.pullback([boxed(tensor) for tensor in self._saved()], self._outputs())
        given = [
            new_tensor(np.zeros(*meta)) if part is None else conjugate(part)
            for part, meta in zip(parts, self.metas, strict=True)
        ]
        found = call.gradients(vjp(call.result([boxed(part) for part in given])))
        return [g if g is None or isbox(g) else new_tensor(np.asarray(g)) for g in found]

    def _outputs(self) -> list[Any]:
        """The results of the primitive, tied to this node."""
        if self.outputs is None:
            raise errors.backward_twice(self.name())
        several = self.several
        return [
            boxed(new_tensor(payload, OutputEdge(self, i) if several else self, cell))
            for i, (payload, cell) in enumerate(self.outputs)
        ]

    def _by_rows(self, parts: Sequence[Any], keep: bool) -> list[Any]:
        """Return the gradients for a batch of cotangents, by one call of the rule for each."""

        def row(given: list[Any]) -> list[Any]:
            if is_recording():
                return self._recorded(given)
            raw = [part if part is None else part._payload for part in given]
            found = self.apply(raw if self.several else raw[0], True, self.edges)
            return [g if g is None else new_tensor(g) for g in found]

        made = each(row, parts)
        if not keep:
            self.release()
        return made


class _Applied(Function):
    """The Function behind all primitives: its arguments are the `Call` and then the tensors."""

    @staticmethod
    def forward(ctx, call: Call, *tensors) -> Any:
        made = tuple(new_tensor(a) for a in call.compute([getval(t) for t in tensors]))
        ctx.call = call
        ctx.save_for_backward(*tensors, *made)
        ctx.save_for_forward(*tensors, *made)
        return made if len(made) != 1 else made[0]

    @staticmethod
    def backward(ctx, *grads) -> Any:
        call = ctx.call
        saved = ctx.saved_tensors
        number = len(saved) - len(grads)
        recording = is_recording()
        values = [boxed(t) if recording else _for_rule(t._payload) for t in saved]
        vjp = call.pullback(values[:number], values[number:])
        given = [conjugate(grad) for grad in grads]
        given = [boxed(g) if recording else _for_rule(g._payload) for g in given]
        found = call.gradients(vjp(call.result(given)))
        made = [g if g is None or isbox(g) else new_tensor(np.asarray(g)) for g in found]
        return (None, *made)


class _AppliedBothWays(_Applied):
    """Like `_Applied`, but for primitives with a forward-mode rule."""

    @staticmethod
    def jvp(ctx, _, *tangents) -> Any:
        call = ctx.call
        values = [boxed(tensor) for tensor in ctx.saved_tensors]
        number = len(tangents)
        outputs = values[number:]
        pairs = zip(tangents, values, strict=False)
        given = call.split([_zeros(v) if t is None else boxed(t) for t, v in pairs])
        followed = call.split([t is not None for t in tangents])
        chosen = [k for k, part in enumerate(followed) if any(flatten(part)[0])]
        slope = primitive_jvps[call.fun](
            tuple(call.argnums[k] for k in chosen),
            [given[k] for k in chosen],
            call.result(outputs),
            tuple(call.with_values(values[:number])),
            call.kwargs,
        )
        slopes = [slope] if call.rebuild_output is None else flatten(slope)[0]
        made = tuple(_tangent(part, out) for part, out in zip(slopes, outputs, strict=True))
        return made if len(made) != 1 else made[0]


def _zeros(value) -> Any:
    return np.zeros(value._payload.shape, value._payload.dtype)


def _tangent(given, out) -> Any:
    tangent = given if isinstance(given, TensorBase) else new_tensor(np.asarray(given))
    tangent = cast(tangent, out._payload.dtype)
    if tangent._payload.shape != out._payload.shape:
        tangent = expand(tangent, tuple(out._payload.shape))
    return tangent


def _no_more(what: str) -> NotImplementedError:
    return NotImplementedError(
        f"there are no {what} by values of types of one's own: only reverse mode, of first order"
    )


def applied(fun, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of a primitive when some of its arguments are boxes."""
    if is_noted(args):
        return noted_call(fun, args, kwargs)
    call = Call(fun, args, kwargs)
    tensors = call.tensors
    if not tensors:
        return fun.fun(*call.args, **kwargs)
    if fun not in primitive_vjps:
        _check_rules(call)
    if current_mode() is None:
        arrays = call.compute([getval(tensor) for tensor in tensors])
        node = PrimitiveNode(call, arrays)
        made = []
        node.outputs = outputs = []
        for i, array in enumerate(arrays):
            edge: Any = None
            kind = array.dtype.kind
            if kind in "fcO":
                edge = OutputEdge(node, i) if node.several else node
            payload = array if array.ndim or kind == "O" else array[()]
            cell: list[Any] = [0, None]
            outputs.append((payload, cell))
            out = new_tensor(payload, edge, cell)
            out.__class__ = ArrayBox
            made.append(boxed_value(out) if kind == "O" else out)
        return call.result(made)
    if any(map(is_opaque, tensors)):
        raise _no_more("derivatives in forward mode")
    kind = _AppliedBothWays if fun in primitive_jvps else _Applied
    output = kind.apply(call, *tensors)
    return call.result([boxed(out) for out in (output if isinstance(output, tuple) else [output])])


def _check_rules(call: Call) -> None:
    """Raise for a call of a primitive that has no rule."""
    if call.fun in primitive_jvps and not any(t._edge is not None for t in call.tensors):
        return
    name = get_name(call.fun)
    raise refusal(NotImplementedError, "VJP of {0} wrt", name, call.argnums)


# -- calls of user-made primitives: arguments, results and rules -----------------------------------

primitive_vjps: dict[Any, Callable[..., Any]] = {}
"""The maker of each primitive's vjp: maps ``(argnums, ans, args, kwargs)`` to a function of a
cotangent.
"""
primitive_jvps: dict[Any, Callable[..., Any]] = {}
"""Each primitive's jvp: a function of ``(argnums, tangents, ans, args, kwargs)``."""


class Call:
    """One call of a primitive: its arguments, with slots for those on the tape."""

    __slots__ = ("argnums", "args", "fun", "kwargs", "parts", "rebuild_output", "simple", "tensors")

    def __init__(self, fun, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.fun = fun
        self.args = list(args)
        self.kwargs = kwargs
        self.rebuild_output: Any = None
        argnums: list[int] = []
        # for a container argument: its leaves, and the function that rebuilds it
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
            # arrays that may be written to later are copied (NOTE [written arrays])
            self.tensors = [boxed(tensor) for tensor in lasting(tuple(tensors))]

    def split(self, values: Iterable[Any]) -> list[Any]:
        """Return the values for the tensors as arguments at the positions `argnums`."""
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
        """Return the arguments with other values in place of the tensors."""
        made = list(self.args)
        parts = values if self.simple else self.split(values)
        for i, value in zip(self.argnums, parts, strict=True):
            made[i] = value
        return made

    def compute(self, values: list[Any]) -> list[Any]:
        """Compute the primitive on values in place of the tensors, and return its output arrays."""
        output = self.fun.fun(*self.with_values(values), **self.kwargs)
        own = output.__class__ is np.ndarray and output.base is None
        if own and output.dtype.kind == "f" and not any(output is value for value in values):
            return [output]
        if isinstance(output, list | tuple | dict):
            leaves, self.rebuild_output = flatten(output)
            return [_output(leaf) for leaf in leaves]
        return [_output(output)]

    def result(self, outputs: list[Any]) -> Any:
        """Return the result of the primitive, rebuilt from its output arrays."""
        return outputs[0] if self.rebuild_output is None else self.rebuild_output(outputs)

    def pullback(self, values: Sequence[Any], outputs: list[Any]) -> Callable[[Any], Any]:
        """Return the rule's function of the output's cotangent."""
        answer = self.result(outputs)
        rule = primitive_vjps[self.fun]
        return rule(self.argnums, answer, tuple(self.with_values(values)), self.kwargs)

    def gradients(self, found: Iterable[Any]) -> list[Any]:
        """Return the cotangents of the tensors, from those of the arguments that a rule gave."""
        given = list(found)
        if len(given) != len(self.argnums):
            raise refusal(ValueError, "the VJP of {}", get_name(self.fun), len(given), self.argnums)
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
                sizes = len(grads), len(leaves)
                raise refusal(ValueError, "the VJP of {0}", get_name(self.fun), i, *sizes)
            pairs = zip(grads, leaves, strict=True)
            made += [self._shaped(g, next(tensors), i) for g, leaf in pairs if isbox(leaf)]
        return made

    def _shaped(self, grad, like, i: int) -> Any:
        """Return a cotangent in the shape and dtype of an argument: an array, or a box of one."""
        shape, dtype = like._payload.shape, like._payload.dtype
        cls = grad.__class__
        known = (cls is np.ndarray or cls is np.float64) and grad.dtype is dtype
        if known and grad.shape == shape:
            return grad if dtype.kind != "c" else grad.conj()
        if grad is None:
            return None
        if is_opaque(like):
            return Held(grad)
        tensor = grad if isinstance(grad, TensorBase) else new_tensor(np.asarray(grad))
        have = tensor._payload.shape
        if have != shape and tensor._payload.size == 1:
            tensor = expand(reshape(tensor, ()), tuple(shape))
        elif have != shape:
            name = get_name(self.fun)
            raise refusal(ValueError, "the VJP of {:s}", name, tuple(have), i, tuple(shape))
        if tensor._payload.dtype.kind == "c" and dtype.kind != "c":
            tensor = T.real(tensor)
        tensor = conjugate(cast(tensor, dtype))
        return tensor if isbox(grad) else tensor._payload


def conjugate(tensor) -> Any:
    """Return the conjugate of a tensor, which is the tensor itself if it is real."""
    return T.conj(tensor) if tensor._payload.dtype.kind == "c" else tensor


class Held:
    """The cotangent of a value of one of the user's own types, on its way through the tape."""

    __slots__ = ("value",)

    def __init__(self, value) -> None:
        self.value = value

    def __add__(self, other) -> Any:
        return Held(vspace(self.value).add(self.value, other.value))


def _output(value) -> Any:
    if value.__class__ is np.ndarray or isinstance(
        value, float | complex | np.ndarray | np.generic
    ):
        # a copy, since the primitive's arguments must not be written to
        array = np.array(value)
        if array.dtype.kind in "biufc":
            return array
    elif isinstance(value, TensorBase):
        return np.asarray(getval(value))
    elif type(value) in Box.type_mappings:
        return opaque_tensor(value, None)._payload
    raise cannot(value, ": a primitive gives arrays, floats, and lists, tuples and dicts of them")


def _rows(grad, like) -> list[Any]:
    """Return the cotangents of the leaves of lists and tuples, which may be given as arrays of
    them.
    """
    if not isinstance(like, list | tuple):
        return [grad]
    given = list(grad) if isinstance(grad, list | tuple) or np.ndim(grad) else [grad]
    if len(given) != len(like):
        return given
    return [leaf for g, part in zip(given, like, strict=True) for leaf in _rows(g, part)]
