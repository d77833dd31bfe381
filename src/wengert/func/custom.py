"""Layer 7 · func: functions with custom derivatives: `custom_vjp` and `custom_jvp`."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

from wengert.autograd.closures import levels_named, names_recorded
from wengert.autograd.function import Function
from wengert.base.containers import aligned, flatten, paths
from wengert.base.dtypes import is_differentiable
from wengert.func.reverse import vjp
from wengert.interp.levels import levels_of
from wengert.ops.like import zeros_like
from wengert.tape.base import TensorBase, new_tensor, node_of
from wengert.tape.levels import brought, leads_outside
from wengert.tape.modes import enable_grad, full_mode, is_recording
from wengert.tape.node import edge_of

_LINEAR: ContextVar[tuple[Any, ...]] = ContextVar("linear", default=())
"""The tangents, as edges, with respect to which rules are currently being transposed."""


@contextlib.contextmanager
def _transposed_by(tangents: Sequence[Any]) -> Iterator[None]:
    token = _LINEAR.set((*_LINEAR.get(), *map(edge_of, tangents)))
    try:
        yield
    finally:
        _LINEAR.reset(token)


def is_linear(tensors: Sequence[Any]) -> bool:
    """Return whether one of these depends on a tangent with respect to which a rule is transposed.

    NOTE [functions of tangents]
    The rule of a linear function may apply it to the tangent: ``f(x), f(t)``. While the rule is
    transposed, the function is not differentiated with respect to `t`, which would call the rule
    again: its computation is linear, and is transposed itself.
    """
    wanted = _LINEAR.get()
    if not wanted:
        return False
    stack = [edge for edge in map(edge_of, tensors) if edge is not None]
    seen: set[int] = set()
    while stack:
        edge = stack.pop()
        if any(edge is one for one in wanted):
            return True
        node = node_of(edge)
        if id(node) not in seen and not isinstance(node, TensorBase):
            seen.add(id(node))
            stack += [one for one in node.edges if one is not None]
    return False


def _detached(tensor: Any) -> Any:
    """Return another tensor over the same memory, without history."""
    return new_tensor(tensor._payload, None, tensor._share_version())


def _led(tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Return tensors for a rule, of which those have a history that a derivative still follows."""
    recording = is_recording()
    return tuple(
        t if t is None or (recording and leads_outside((t,), ())) else _detached(t) for t in tensors
    )


def _beside(rules: tuple[Any, ...], call: _Call) -> list[Any]:
    """Return the arguments at the levels that the rules close over, so that these apply here."""
    levels = full_mode().levels
    found = levels_named(rules, levels) if levels else []
    # tangents of closed-over values come from the rule itself
    call.batches = [level for level in found if level.size is not None]
    if not call.batches:
        return call.tensors
    return [brought(tensor, call.batches) for tensor in call.tensors]


class _Call:
    """One call of a function with a rule: its flattened arguments and the rule's residuals."""

    def __init__(self, args: tuple[Any, ...], fixed: tuple[int, ...]) -> None:
        self.args = args
        self.fixed = fixed
        moving = tuple(arg for i, arg in enumerate(args) if i not in fixed)
        leaves, self.rebuild_moving = flatten(moving)
        self.leaves = leaves
        self.places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, TensorBase)]
        self.tensors = [leaves[i] for i in self.places]
        # whether the closed-over values may be differentiated, and the outputs that depend on them
        self.recorded = is_recording()
        self.closed: list[Any] = []
        self._count = 0
        self.structure: Callable[[list[Any]], Any] = tuple
        self.outline: Any = None
        self.kept: Any = None
        # the levels that the rules close over: the outputs belong to them, too
        self.batches: list[Any] = []

    def arguments(self, tensors: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments with other tensors in place of theirs."""
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        moving = iter(self.rebuild_moving(leaves))
        return tuple(arg if i in self.fixed else next(moving) for i, arg in enumerate(self.args))

    def taken(self, output: Any) -> list[Any]:
        """Return the leaves of the output, whose structure is kept."""
        leaves, self.structure = flatten(output)
        self.outline = self.structure([0] * len(leaves))
        return leaves

    def spread(self, leaf: Any) -> Any:
        """Return an output as a value of the levels that the rules close over."""
        return brought(leaf, self.batches) if isinstance(leaf, TensorBase) else leaf

    def close(self, leaves: list[Any]) -> None:
        """Record how the outputs depend on the function's closed-over values.

        Of several runs, at fewer and fewer levels, the last counts: the rule handles the others.
        """
        closed = [leaf if getattr(leaf, "_edge", None) is not None else None for leaf in leaves]
        count = len(levels_of(*[leaf._payload for leaf in leaves if isinstance(leaf, TensorBase)]))
        if not self.closed or count <= self._count:
            self.closed, self._count = closed, count

    def given(self, made: tuple[Any, ...]) -> Any:
        """Return the outputs in their structure, tied to the closed-over values."""
        return self.structure(
            [
                out
                if closed is None
                else _Tied.apply(out, closed, levels_of(closed._payload).keys(), *self.tensors)
                for out, closed in zip(made, self.closed or [None] * len(made), strict=True)
            ]
        )

    def flat(self, value: Any, what: str) -> list[Any]:
        """Flatten gradients or tangents that have the structure of the differentiable arguments."""
        parts = value if isinstance(value, tuple) else (value,)
        moving = tuple(arg for i, arg in enumerate(self.args) if i not in self.fixed)
        if len(parts) != len(moving):
            raise TypeError(
                f"{what} must return one gradient for each argument that is differentiated, None "
                f"where there is none: {len(moving)}, not {len(parts)}"
            )
        found: list[Any] = []
        for part, arg in zip(parts, moving, strict=True):
            leaves, _ = flatten(arg)
            given = [None] * len(leaves) if part is None else aligned(part, arg)
            if given is None:
                raise TypeError(
                    f"{what} returned a gradient of another structure than its argument: "
                    f"{paths(part, 'gradient')} for {paths(arg, 'argument')}"
                )
            found += given
        return [found[i] for i in self.places]


_NO_SECOND = (
    "the function of a custom_vjp or custom_jvp closes over a tensor that it is differentiated by. "
    "Its first derivative is known, but not how that follows from the arguments, which second "
    "derivatives would need.\n"
    "  Make the tensor an argument of the function, with a derivative in the rule."
)


class _Tied(Function):
    """A value with a second history: its dependence on other values.

    The other history starts at the values of the arguments, so that these do not get a gradient
    twice. So its derivatives do not depend on the arguments: reverse mode refuses to differentiate
    them, and where arguments have tangents, a pass inside their level is refused. A pass from
    outside gets the tangents' part from the rule, unless they come from the other history, too.
    """

    @staticmethod
    def forward(ctx: Any, value: Any, other: Any, of_other: Any, *args: Any) -> Any:
        ctx.save_for_backward(*args)
        ctx.of_other = of_other
        return _detached(value)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Give both histories the cotangent."""
        args = ctx.saved_tensors
        other = None
        if ctx.asks_for(1):
            sides = full_mode().sides
            outside = () if sides is None else sides.outside
            for number, level in levels_of(*[arg._payload for arg in args]).items():
                if level.size is None and (number not in outside or number in ctx.of_other):
                    raise RuntimeError(_NO_SECOND)
            other = _Last.apply(g, *args)
        return g, other, None, *(None for _ in args)

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *_: Any) -> Any:
        """Return the tangent of the value, which includes that of the other history."""
        return tangent


class _Last(Function):
    """A cotangent whose dependence on some arguments is not known."""

    @staticmethod
    def forward(ctx: Any, value: Any, *args: Any) -> Any:
        ctx.save_for_backward(*args)
        return _detached(value)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        """Pass on the gradients that do not go to the arguments, whose dependence is as unknown."""
        args = ctx.saved_tensors
        if any(ctx.asks_for(1 + i) for i in range(len(args))):
            raise RuntimeError(_NO_SECOND)
        return _Last.apply(g, *args), *(None for _ in args)

    @staticmethod
    def jvp(ctx: Any, tangent: Any, *_: Any) -> Any:
        """Return the tangent."""
        return tangent


class _Reverse(Function):
    """The Function that `custom_vjp` records."""

    generate_vmap_rule = True
    _carries_closures = True

    @staticmethod
    def forward(owner: Any, call: Any, *tensors: Any) -> Any:
        """Compute the outputs and the rule's residuals."""
        if not call.recorded:
            leaves = call.taken(owner._compute(call, call.arguments(tensors)))
            return tuple(map(call.spread, leaves))
        apart = tuple(map(_detached, tensors))
        with enable_grad():
            leaves = call.taken(owner._compute(call, call.arguments(apart)))
        leaves = [call.spread(leaf) for leaf in leaves]
        call.close(leaves)
        return tuple(_detached(leaf) if isinstance(leaf, TensorBase) else leaf for leaf in leaves)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep the call, and save its tensors."""
        ctx.owner, ctx.call, *tensors = inputs
        ctx.set_materialize_grads(ctx.owner.materialize)
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        call = ctx.call
        if is_recording() or levels_of(*[tensor._payload for tensor in ctx.saved_tensors]):
            # run the rule again, since derivatives also go through the residuals
            call = _Call(call.arguments(_led(ctx.saved_tensors)), call.fixed)
            ctx.owner._compute(call, call.args)
            cotangents = _led(cotangents)
        grads = ctx.owner._pulled(call, ctx.call.structure(list(cotangents)))
        return (None, None, *ctx.call.flat(grads, f"the reverse rule of {ctx.owner.name}"))

    @classmethod
    def closes_over(cls, owner: Any, edges: Sequence[Any]) -> bool:
        """Return whether the rule uses tensors from outside that require a gradient."""
        return names_recorded(owner._rules(), edges)


class _Forward(_Reverse):
    """The Function that `custom_jvp` records."""

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """Transpose the user's rule, for the outputs that have a cotangent."""
        call, owner, tensors = ctx.call, ctx.owner, _led(ctx.saved_tensors)
        given = tuple(g for g in cotangents if g is not None)
        if not given:
            return (None,) * (2 + len(tensors))

        def pushed(*tangents: Any) -> Any:
            with _transposed_by(tangents):
                made = owner._pushed(call, tensors, tangents)
            return tuple(t for t, g in zip(made, cotangents, strict=True) if g is not None)

        _, pull = vjp(pushed, *map(zeros_like, tensors))
        return (None, None, *pull(given, fill=False))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        tensors = ctx.saved_tensors
        directions = [
            zeros_like(x) if t is None and not ctx.owner.symbolic else t
            for x, t in zip(tensors, tangents[2:], strict=True)
        ]
        made = ctx.owner._pushed(ctx.call, tensors, directions)
        # an output without a derivative may get a tangent of zeros, which counts as none here
        return tuple([t if is_differentiable(t._payload.dtype) else None for t in made])


class _Both(_Reverse):
    """The Function of a rule for reverse mode and another for forward mode."""

    jvp = _Forward.jvp


def _pair(name: str, made: Any, second: str) -> tuple[Any, Any]:
    if not (isinstance(made, tuple) and len(made) == 2):
        raise TypeError(
            f"the forward rule of {name} must return a pair (output, {second}), not "
            f"{type(made).__name__}"
        )
    return made


class custom_vjp:
    """A function with a custom reverse-mode derivative; use it as a decorator.

    The rule is used at every order and under every transform, and its operations are recorded, so
    second derivatives are those of the rule. Forward mode transposes it.

    Parameters
    ----------
    func : callable. Takes and returns tensors or nested containers of them.
    nondiff_argnums : sequence of int. Positional arguments without a derivative; the rules get them
        first.

    Examples
    --------
    >>> @wg.func.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda kept, g: (g.clamp(-1, 1),))
    >>> wg.func.grad(lambda x: 5 * clipped(x))(wg.tensor(2.0))
    tensor(1.)
    """

    def __init__(self, func: Callable[..., Any], nondiff_argnums: Any = ()) -> None:
        functools.update_wrapper(self, func)
        self.func = func
        self.name = getattr(func, "__name__", "f")
        self.fixed = tuple(nondiff_argnums)
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None
        self.rule: Callable[..., Any] | None = None
        """A rule for forward mode, as that of `custom_jvp`, in place of the transposed one."""
        self.symbolic = False  # whether the forward rule takes None for a tangent of zeros
        self.materialize = True

    def defvjp(
        self, fwd: Callable[..., Any], bwd: Callable[..., Any], materialize_grads: bool = True
    ) -> None:
        """Define the rule.

        Parameters
        ----------
        fwd : callable. Takes what the function takes, and returns ``(output, kept)``.
        bwd : callable. ``bwd(*nondiff, kept, cotangent)`` returns a tuple with a gradient for each
            other argument, None where it is zero.
        materialize_grads : bool. Whether the rule gets zeros, not None, for outputs that the result
            does not depend on.
        """
        self.fwd, self.bwd, self.materialize = fwd, bwd, materialize_grads

    def _rules(self) -> tuple[Any, ...]:
        """Return the functions that define the derivatives."""
        return self.fwd, self.bwd

    def _compute(self, call: Any, args: tuple[Any, ...]) -> Any:
        """Return the output; the residuals are left in `call`."""
        assert self.fwd is not None
        made = self.fwd(*args)
        output, call.kept = _pair(self.name, made, "kept")
        return output

    def _pulled(self, call: Any, cotangents: Any) -> Any:
        """Return the gradients."""
        assert self.bwd is not None
        fixed = [call.args[i] for i in self.fixed]
        return self.bwd(*fixed, call.kept, cotangents)

    def __call__(self, *args: Any) -> Any:
        """Call the function."""
        if self.fwd is None or self.bwd is None:
            raise AttributeError(
                f"No VJP defined for custom_vjp function {self.name} using defvjp."
            )
        call = _Call(args, self.fixed)
        kind = _Reverse if self.rule is None else _Both
        made = kind.apply(self, call, *_beside(self._rules(), call))
        return call.given(made)

    def _pushed(self, call: Any, tensors: Any, tangents: Any) -> tuple[Any, ...]:
        """Return the tangents of the outputs, from those of the tensors among the arguments."""
        assert self.rule is not None
        args = call.arguments(tensors)
        directions = call.arguments(tangents)
        moving = [i for i in range(len(args)) if i not in self.fixed]
        made = self.rule(
            *[args[i] for i in self.fixed],
            tuple(args[i] for i in moving),
            tuple(directions[i] for i in moving),
        )
        leaves = aligned(_pair(self.name, made, "tangent")[1], call.outline)
        if leaves is None:
            raise TypeError(
                f"the forward rule of {self.name} must return a tangent of its output's structure"
            )
        return tuple(leaves)


class custom_jvp:
    """A function with a custom forward-mode derivative; use it as a decorator.

    Reverse mode transposes the rule, which must be linear in the tangents. As in `custom_vjp`, the
    rule is used at every order; `jax.custom_jvp` uses it in the innermost derivative only.

    Parameters
    ----------
    func : callable. Takes and returns tensors or nested containers of them.
    nondiff_argnums : sequence of int. Positional arguments without a derivative; the rule gets them
        first.

    Examples
    --------
    >>> @wg.func.custom_jvp
    ... def half_slope(x):
    ...     return x.sin()
    >>> @half_slope.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return half_slope(x), 0.5 * x.cos() * t
    >>> wg.func.grad(half_slope)(wg.tensor(0.0))
    tensor(0.5000)
    """

    def __init__(self, func: Callable[..., Any], nondiff_argnums: Any = ()) -> None:
        functools.update_wrapper(self, func)
        self.func = func
        self.name = getattr(func, "__name__", "f")
        self.fixed = tuple(nondiff_argnums)
        self.materialize = False
        self.rule: Callable[..., Any] | None = None
        self.symbolic = False  # whether the forward rule takes None for a tangent of zeros

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Define the rule: ``rule(*nondiff, primals, tangents)`` returns ``(output, tangent)``."""
        self.rule = rule
        return rule

    def _rules(self) -> tuple[Any, ...]:
        """Return the functions that define the derivatives."""
        return (self.rule,)

    def _compute(self, call: Any, args: tuple[Any, ...]) -> Any:
        """Return the output."""
        return self.func(*args)

    _pushed = custom_vjp._pushed

    def __call__(self, *args: Any) -> Any:
        """Call the function."""
        if self.rule is None:
            raise AttributeError(
                f"No JVP defined for custom_jvp function {self.name} using defjvp."
            )
        call = _Call(args, self.fixed)
        if is_linear(call.tensors):
            return self.func(*args)
        made = _Forward.apply(self, call, *_beside(self._rules(), call))
        return call.given(made)
