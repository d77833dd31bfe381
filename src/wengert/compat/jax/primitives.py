"""Layer 9 · compat: user-defined operations: an implementation and rules for transforms.

NOTE [JAX's primitives]
A `Primitive` is a function with tables of rules. Binding it to values calls the implementation if
no transform follows them, the batching rule under `vmap`, and the jvp rule under a derivative.
Reverse mode transposes the jvp rule. A primitive that is linear in the only followed argument is
transposed by its own transposition rule; so are the primitives in a jvp rule, in the arguments that
depend on tangents. If derivatives of higher order follow others too, their part is a second term,
whose value is zero.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.compat.jax.array import Array, asarray
from wengert.compat.jax.classes import AnyArray, is_traced
from wengert.compat.jax.custom import SymbolicZero, custom_jvp, is_followed
from wengert.compat.jax.custom_batching import custom_vmap
from wengert.compat.jax.dtypes import float0
from wengert.compat.jax.lax_elementwise import stop_gradient
from wengert.compat.jax.listing import Listing
from wengert.compat.jax.methods import ShapedArray
from wengert.compat.jax.staging import typeof
from wengert.compat.jax.tracing import STAGED, argument, for_shapes
from wengert.compat.jax.tree_util import register_pytree_node
from wengert.compat.jax.trees import tree_map
from wengert.compat.jax.values import layers
from wengert.func.custom import is_linear
from wengert.func.inputs import replaced
from wengert.interp.dual import Dual
from wengert.interp.levels import Lifted
from wengert.tape.base import TensorBase
from wengert.tape.modes import current_mode, is_recording

primitive_jvps: dict[Any, Callable[..., Any]] = {}
primitive_transposes: dict[Any, Callable[..., Any]] = {}
primitive_batchers: dict[Any, Callable[..., Any]] = {}
axis_primitive_batchers: dict[Any, Callable[..., Any]] = {}
fancy_primitive_batchers: dict[Any, Callable[..., Any]] = {}
custom_partial_eval_rules: dict[Any, Any] = {}
not_mapped = None
AbstractValue = ShapedArray
_INSIDE = ContextVar("inside", default=False)
"""Whether a jvp rule runs, where a followed argument is a tangent."""


# -- queries about values --------------------------------------------------------------------------


class _Traced(type):
    def __instancecheck__(cls, x) -> bool:
        if not isinstance(x, Array):
            return isinstance(x, AnyArray) and STAGED.get()
        return STAGED.get() or _is_followed(x)


def _is_followed(x) -> bool:
    return isinstance(x, Array) and (isinstance(x._payload, Lifted) or is_traced(x))


class Tracer(metaclass=_Traced):
    """The class of arrays with values unknown to JAX, for `isinstance`.

    These are the arrays that a transform follows, and all arrays within a jitted function or the
    body of a loop of `jax.lax`.
    """


def is_concrete(x) -> bool:
    """Return whether a value is known: true except for batches of `vmap`."""
    return not isinstance(x, Tracer)


def concrete_or_error(typ, val, context="") -> Any:
    """Return a value as a Python number, or unchanged; refuse batches of `vmap`."""
    return val if typ is None else typ(val)


def valid_jaxtype(x) -> bool:
    """Return whether a value is an array or a number."""
    numbers = TensorBase | np.ndarray | np.generic | bool | int | float | complex
    return isinstance(x, numbers) or hasattr(x, "__jax_array__")


get_aval = typeof


def mapped_aval(size: int, axis: int | None, aval: ShapedArray) -> ShapedArray:
    """Return the aval of an element of a batch whose axis is at `axis`."""
    if axis is None:
        return aval
    sizes = aval.shape[:axis] + aval.shape[axis + 1 :]
    return ShapedArray(sizes, aval.dtype, aval.weak_type)


def unmapped_aval(size: int, axis: int | None, aval: ShapedArray) -> ShapedArray:
    """Return the aval of a batch of elements of this shape, with its axis at `axis`."""
    if axis is None:
        return aval
    sizes = (*aval.shape[:axis], size, *aval.shape[axis:])
    return ShapedArray(sizes, aval.dtype, aval.weak_type)


def trace_state_clean() -> bool:
    """Return whether neither `vmap` nor forward mode is active."""
    mode = current_mode()
    return not STAGED.get() and (mode is None or not mode.levels)


def get_opaque_trace_state(convention=None) -> Any:
    """Return a token for the active transforms; here all tokens are equal."""
    return "wengert"


class _Trace:
    """The active forward mode."""

    @property
    def main(self) -> Any:
        """The trace itself."""
        return self


_TRACE = _Trace()
Array._trace = _TRACE


def find_top_trace(xs) -> Any:
    """Return the trace whose ``main`` libraries compare with ``x._trace.main``."""
    return _TRACE


class _Dual(type):
    def __instancecheck__(cls, x) -> bool:
        return isinstance(x, Array) and any(isinstance(part, Dual) for part in layers(x._payload))


class JVPTracer(metaclass=_Dual):
    """The class of arrays that forward mode follows, for `isinstance`."""


def eval_jaxpr(jaxpr: Listing, consts, *args) -> list[Any]:
    """Evaluate a function recorded by `make_jaxpr` on other arguments; return its flat results."""
    return jaxpr.run(consts, args)


def jaxpr_as_fun(closed: Listing) -> Callable[..., list[Any]]:
    """Return the function, on leaves, of a listing of `make_jaxpr`."""
    return lambda *args: closed.run(closed.consts, args)


def fun_signature(fun: Callable[..., Any]) -> inspect.Signature | None:
    """Return the signature of a function, or None."""
    try:
        return inspect.signature(fun)
    except (ValueError, TypeError):
        return None


def safe_map(fun: Callable[..., Any], *sequences) -> list[Any]:
    """Map a function over sequences of equal length, and return a list."""
    return [fun(*values) for values in zip(*sequences, strict=True)]


# -- symbolic zeros and undefined primals ----------------------------------------------------------


class Zero(SymbolicZero):
    """A tangent or cotangent known to be zero."""

    @staticmethod
    def from_primal_value(value) -> Zero:
        """Return the zero tangent of a value."""
        return Zero(get_aval(value))


def instantiate_zeros(tangent) -> Any:
    """Return a tangent as an array, with zeros for a `Zero`."""
    if not isinstance(tangent, SymbolicZero):
        return tangent
    shape, dtype = tangent.aval.shape, tangent.aval.dtype
    if dtype.kind not in "fc":
        return np.zeros(shape, float0)
    return asarray(np.zeros(shape, dtype))


class UndefinedPrimal:
    """The placeholder for the argument in which a transposition rule transposes.

    Attributes
    ----------
    aval: Its shape and dtype.
    """

    def __init__(self, aval) -> None:
        self.aval = aval


def _is_node(kind: Any) -> None:
    register_pytree_node(kind, lambda one: ((), one.aval), lambda aval, _: kind(aval))


_is_node(Zero)
_is_node(UndefinedPrimal)


def _is_zero(x) -> bool:
    return isinstance(x, SymbolicZero)


def _zero(x) -> Any:
    return Zero(x.aval) if _is_zero(x) else x


def is_undefined_primal(x) -> bool:
    """Return whether this is the argument in which a transposition rule transposes."""
    return isinstance(x, UndefinedPrimal)


class aval_property(property):
    """A property of avals, which nothing reads here."""


class _Effects:
    def add_type(self, effect) -> None:
        """Do nothing: effects happen immediately."""


control_flow_allowed_effects = _Effects()


# -- primitives ------------------------------------------------------------------------------------


class Primitive:
    """A named operation with rules for derivatives and batches (see NOTE [JAX's primitives]).

    Parameters
    ----------
    name : str. The name.

    Examples
    --------
    >>> double = jax.extend.core.Primitive("double")
    >>> _ = double.def_impl(lambda x: 2 * x)
    >>> double.bind(3)
    6
    """

    multiple_results = False
    impl: Callable[..., Any] | None = None

    def __init__(self, name: str) -> None:
        self.name = name

    def def_impl(self, impl: Callable[..., Any]) -> Callable[..., Any]:
        """Set the implementation."""
        self.impl = impl
        return impl

    def def_abstract_eval(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Accept a shape rule, which no trace needs here."""
        return rule

    def_effectful_abstract_eval = def_abstract_eval

    def bind(self, *args, **params) -> Any:
        """Apply the operation.

        Raises
        ------
        NotImplementedError: If it has no implementation, or lacks the rule that a transform needs.
        """
        if not any(map(_is_followed, args)):
            return self._computed(params, args)
        followed = [isinstance(x, Array) and is_followed(x) for x in args]
        if not any(followed):
            return self._batched(params, args)
        places = [i for i, yes in enumerate(followed) if yes]
        rule = primitive_jvps.get(self)
        linear: list[int] = []
        if self in primitive_transposes and (rule is None or _INSIDE.get()):
            recorded = [i for i in places if is_recording() and args[i]._edge is not None]
            linear = recorded if rule is None else [i for i in recorded if is_linear([args[i]])]
            rule = rule or self._linear(places[0])
        if rule is None:
            raise NotImplementedError(f"Differentiation rule for '{self.name}' not implemented")
        compute = lambda *values: self._batched(params, values)  # noqa: E731
        # tangents with respect to which a rule is transposed are examples: checks of them may fail
        call = custom_jvp(for_shapes(compute) if linear and _INSIDE.get() else compute)
        call.defjvp(_with_zeros(rule, params), symbolic_zeros=True)
        call.computes = True
        if not linear:
            return call(*args)
        call.transposed = self._transposed(params, linear)
        made = call(*args)
        if len(linear) == len(recorded):
            return made
        others = replaced(args, linear, [stop_gradient(args[i]) for i in linear])
        return tree_map(_with_slope, made, self.bind(*others, **params))

    def _computed(self, params: dict[str, Any], args: tuple[Any, ...]) -> Any:
        if self.impl is None:
            raise NotImplementedError(f"Evaluation rule for '{self.name}' not implemented")
        return self.impl(*args, **params)

    def _batched(self, params: dict[str, Any], args: tuple[Any, ...]) -> Any:
        mapped = custom_vmap(lambda *values: self._computed(params, values))

        @mapped.def_vmap
        def rule(size: int, in_batched: list[bool], *values) -> Any:
            dims = tuple(0 if inside else None for inside in in_batched)
            if not any(in_batched):
                out = self.bind(*values, **params)
                return out, tree_map(lambda _: False, out)
            if self in primitive_batchers:
                out, ends = primitive_batchers[self](values, dims, **params)
            elif self in axis_primitive_batchers:
                out, ends = axis_primitive_batchers[self](size, None, None, values, dims, **params)
            elif self in fancy_primitive_batchers:
                out, ends = fancy_primitive_batchers[self](None, values, dims, **params)
            else:
                raise NotImplementedError(f"Batching rule for '{self.name}' not implemented")
            if not self.multiple_results:
                return _in_front(out, ends), ends is not None
            ends = tuple(ends) if isinstance(ends, list | tuple) else (ends,) * len(out)
            moved = [_in_front(x, end) for x, end in zip(out, ends, strict=True)]
            return moved, [end is not None for end in ends]

        return mapped(*args)

    def _linear(self, place: int) -> Callable[..., Any]:
        def rule(primals, tangents, **params) -> Any:
            given = list(primals)
            given[place] = tangents[place]
            return self.bind(*primals, **params), self.bind(*given, **params)

        return rule

    def _transposed(self, params: dict[str, Any], places: list[int]) -> Callable[..., Any]:
        def backward(args: tuple[Any, ...], cotangent) -> Any:
            cotangent = tree_map(_zero, cotangent, is_leaf=_is_zero)
            found: list[Any] = [None] * len(args)
            for place in places:
                given = replaced(args, [place], [UndefinedPrimal(get_aval(args[place]))])
                g = _inside(primitive_transposes[self], cotangent, *given, **params)[place]
                found[place] = None if isinstance(g, SymbolicZero) else g
            return tuple(found)

        return backward

    def __repr__(self) -> str:
        return self.name


@custom_jvp
def _with_slope(x, y) -> Any:
    """Return `x`, whose derivative is the sum of theirs."""
    return x


_with_slope.defjvp(lambda values, tangents: (values[0], tangents[0] + tangents[1]))


class HiPrimitive(Primitive):
    """An operation whose methods are its rules; only `impl` is used here."""


class _Function(Primitive):
    """The operation behind a function of `jax.lax`."""

    def bind(self, *args, **params) -> Any:
        """Call the function, which has all rules."""
        return self._computed(params, args)


def of_function(name: str, function: Callable[..., Any]) -> Primitive:
    """Return the operation behind a function of `jax.lax`."""
    made = _Function(name)
    made.def_impl(function)
    return made


def _inside(rule: Callable[..., Any], *args, **params) -> Any:
    token = _INSIDE.set(True)
    try:
        return rule(*args, **params)
    finally:
        _INSIDE.reset(token)


def _in_front(x, axis: int | None) -> Any:
    return x if not axis else argument(x).swapaxes(0, axis) if axis == 1 else _moved(x, axis)


def _moved(x, axis: int) -> Any:
    array = argument(x)
    return array.transpose(axis, *(i for i in range(array.ndim) if i != axis))


def _with_zeros(rule: Callable[..., Any], params: dict[str, Any]) -> Callable[..., Any]:
    """Convert a jvp rule to one for `custom_jvp`, translating zeros in both directions."""

    def jvp(primals, tangents) -> Any:
        given = tuple(
            Zero(t.aval)
            if isinstance(t, SymbolicZero)
            else Zero(get_aval(p))
            if getattr(t, "dtype", None) == float0
            else t
            for p, t in zip(primals, tangents, strict=True)
        )
        out, slopes = _inside(rule, tuple(primals), given, **params)
        return tree_map(lambda x: x, out), tree_map(
            instantiate_zeros, _like(slopes, out), is_leaf=_is_zero
        )

    return jvp


def _like(slopes, out) -> Any:
    return type(out)(slopes) if type(out) in (list, tuple) else slopes


def defjvp(primitive: Primitive, *rules) -> None:
    """Set a jvp rule for each argument: ``rule(tangent, *primals)``, or None for zero."""

    def jvp(primals, tangents, **params) -> Any:
        parts = [
            rule(t, *primals, **params)
            for rule, t in zip(rules, tangents, strict=True)
            if rule is not None and not isinstance(t, SymbolicZero)
        ]
        out = primitive.bind(*primals, **params)
        return out, sum(parts[1:], parts[0]) if parts else Zero(get_aval(out))

    primitive_jvps[primitive] = jvp


def deflinear2(primitive: Primitive, rule: Callable[..., Any]) -> None:
    """Set the transposition rule of an operation that is linear in all of its arguments."""
    primitive_transposes[primitive] = rule

    def jvp(primals, tangents, **params) -> Any:
        given = [instantiate_zeros(t) for t in tangents]
        return primitive.bind(*primals, **params), primitive.bind(*given, **params)

    primitive_jvps[primitive] = jvp


def deflinear(primitive: Primitive, rule: Callable[..., Any]) -> None:
    """Like `deflinear2`, but with a rule that takes only the cotangent."""
    deflinear2(primitive, lambda cotangent, *_, **params: rule(cotangent, **params))


def defvectorized(primitive: Primitive) -> None:
    """Declare that the operation computes a batch as it computes a single element."""

    def rule(values, dims, **params) -> Any:
        return primitive.bind(*values, **params), dims[0]

    primitive_batchers[primitive] = rule


def defbroadcasting(primitive: Primitive) -> None:
    """Declare that the operation is elementwise and broadcasts."""

    def rule(values, dims, **params) -> Any:
        rank = max(np.ndim(x) - (d is not None) for x, d in zip(values, dims, strict=True))
        given = [
            x if d is None else x.reshape(x.shape[:1] + (1,) * (rank + 1 - x.ndim) + x.shape[1:])
            for x, d in zip(values, dims, strict=True)
        ]
        return primitive.bind(*given, **params), 0

    primitive_batchers[primitive] = rule
