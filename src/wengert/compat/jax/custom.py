"""Layer 9 · compat: functions with custom derivatives, under JAX's names.

A rule runs only if a derivative follows an argument; otherwise the function itself is called, as in
JAX. Forward mode transposes the rule of a `custom_vjp`, which JAX refuses.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import wengert.func as func
from wengert.compat.jax.array import convert, made
from wengert.compat.jax.closures import Holder
from wengert.compat.jax.orders import below, choice, innermost, joined, parted
from wengert.compat.jax.tracing import (
    Leaves,
    Results,
    argument,
    check_callable,
    conjugated,
    is_inexact,
    name_of,
    nothing_like,
    short,
    wraps,
)
from wengert.compat.jax.trees import PyTreeDef, tree_flatten, tree_leaves, tree_map, tree_structure
from wengert.compat.jax.values import layers
from wengert.compat.jax.words import refusal
from wengert.func.custom import is_linear
from wengert.interp.dual import Dual
from wengert.interp.levels import Level
from wengert.ops.like import zeros_like
from wengert.tape.base import new_tensor
from wengert.tape.modes import is_recording


def is_followed(x) -> bool:
    """Return whether a derivative follows `x`, in either mode."""
    if x._edge is not None and is_recording():
        return True
    return any(isinstance(part, Dual) for part in layers(x._payload))


class SymbolicZero:
    """A tangent known to be zero, for rules with ``symbolic_zeros=True``.

    Attributes
    ----------
    aval: Its shape and dtype.
    """

    def __init__(self, aval) -> None:
        self.aval = aval

    def __getattr__(self, name: str) -> Any:
        return getattr(self.aval, name)

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval!r})"


@dataclasses.dataclass(frozen=True)
class CustomVJPPrimal:
    """A leaf of an argument, as a forward rule with ``symbolic_zeros=True`` receives it.

    Attributes
    ----------
    value: The array.
    perturbed : bool. Whether a derivative follows it.
    """

    value: Any
    perturbed: bool


def zero_from_primal(x, symbolic_zeros=False) -> Any:
    """Return the zero tangents of the arrays of a pytree."""

    def zero(leaf) -> Any:
        array = argument(leaf)
        return SymbolicZero(array.aval) if symbolic_zeros else zeros_like(array)

    return tree_map(zero, x)


def custom_vjp_primal_tree_values(tree) -> Any:
    """Return the values of a pytree of `CustomVJPPrimal`."""
    is_primal = lambda leaf: isinstance(leaf, CustomVJPPrimal)  # noqa: E731
    return tree_map(lambda leaf: leaf.value, tree, is_leaf=is_primal)


class _Type(str):
    """The shape and dtype of an array as text, printed without quotes in containers."""

    __slots__ = ()

    def __new__(cls, x) -> Any:
        return super().__new__(cls, x if isinstance(x, str) else short(x))

    def __repr__(self) -> str:
        return str(self)


class Rule(Holder):
    """Base class for functions with rules: it sorts the arguments of a call.

    The methods that define other kinds of rules are those of the function, if it has them.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:
        check_callable(fun)
        wrapper: Any = self
        functools.update_wrapper(wrapper, fun)
        self.fun = fun
        self.__name__ = name_of(fun)
        self._signature: Any = None
        with contextlib.suppress(TypeError, ValueError):
            self._signature = inspect.signature(fun)
        fixed = list(nondiff_argnums)
        if nondiff_argnames and self._signature is not None:
            names = list(self._signature.parameters)
            fixed += [names.index(name) for name in nondiff_argnames]
        self.nondiff_argnums = tuple(sorted(set(fixed)))

    _kind = "custom_gradient"

    def held(self) -> tuple[Any, ...]:
        """Return the attributes: the function, and its rules."""
        return tuple(self.__dict__.values())

    def holding(self, parts: Sequence[Any]) -> Any:
        """Return a function like this one with other attributes."""
        made = object.__new__(type(self))
        made.__dict__.update(zip(self.__dict__, parts, strict=True))
        return made

    def __getattr__(self, name: str) -> Any:
        if name in ("def_vmap", "defjvp", "defjvps", "defvjp"):
            return getattr(self.fun, name)
        raise AttributeError(f"{self._kind!r} object has no attribute {name!r}")

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments by position, with defaults for those left out."""
        if self._signature is None:
            if kwargs:
                raise TypeError(f"{self.__name__} takes its arguments by position")
            return args
        what = (
            f"The input arguments to the {self._kind}-decorated function {self.__name__} could not "
            "be resolved to positional-only arguments. Binding failed with the error:\n"
        )
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{what}{error}") from None
        bound.apply_defaults()
        named = {key: value for key, value in bound.kwargs.items() if key in kwargs}
        if named:
            raise refusal(TypeError, "{}The following keyword", what, ", ".join(named))
        return tuple(bound.args)

    def _parted(self, args: tuple[Any, ...]) -> tuple[list[Any], Leaves]:
        """Split the arguments into those without derivatives and the leaves of the others."""
        count = len(args)
        fixed = {n % count for n in self.nondiff_argnums} if count else set()
        moving = [arg for i, arg in enumerate(args) if i not in fixed]
        return [args[i] for i in sorted(fixed)], Leaves(moving)

    def _joined(self, args: tuple[Any, ...], moving) -> list[Any]:
        """Join the arguments with new values for those that have derivatives."""
        fixed = {n % len(args) for n in self.nondiff_argnums}
        new = iter(moving)
        return [arg if i in fixed else next(new) for i, arg in enumerate(args)]

    def _called(
        self, rule: Callable[..., Any], tensors: Sequence[Any], results: list[Results]
    ) -> Any:
        """Return the result of a recorded rule, in the structure that the function returned."""
        outputs = rule(*tensors)
        taken = results[0]
        found = dict(zip([*taken.places, *taken.tensor_places], outputs, strict=True))
        return taken.give([found[p] for p in taken.places], [found[p] for p in taken.tensor_places])


class custom_jvp(Rule):
    """Decorate a function to give it a forward-mode rule, which reverse mode transposes.

    Parameters
    ----------
    %(pytree_function)s
    nondiff_argnums : sequence of int. Positional arguments without a derivative; the rule gets them
        first.

    Examples
    --------
    >>> @jax.custom_jvp
    ... def f(x, y):
    ...     return x * y
    >>> @f.defjvp
    ... def f_jvp(primals, tangents):
    ...     (x, y), (x_dot, y_dot) = primals, tangents
    ...     return f(x, y), 10 * x_dot + y_dot
    >>> jax.grad(f)(2.0, 3.0)
    Array(10., dtype=float32, weak_type=True)
    """

    _kind = "custom_jvp"
    jvp: Callable[..., Any] | None = None
    transposed: Callable[[Any, Any], Any] | None = None
    """What reverse mode calls instead: ``transposed(arguments, cotangent)``."""
    symbolic = False
    computes = False
    """Whether the rule is known to return the value of the function itself."""

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros=False) -> Callable[..., Any]:
        """Set the rule: ``jvp(*nondiff, primals, tangents)`` returns output and tangent."""
        self.jvp, self.symbolic = jvp, symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set a rule for each argument: ``jvp(tangent, output, *primals)``, or None for zero."""
        if self.nondiff_argnums:
            raise TypeError("Can't use ``defjvps`` with ``nondiff_argnums``.")

        def jvp(primals, tangents) -> Any:
            output = self(*primals)
            slopes = [
                rule(tangent, output, *primals)
                for rule, tangent in zip(jvps, tangents, strict=True)
                if rule is not None
            ]
            if not slopes:
                leaves, structure = tree_flatten(output)
                return output, structure.unflatten([0 * argument(leaf) for leaf in leaves])
            total = slopes[0]
            for slope in slopes[1:]:
                total = total + slope
            return output, total

        self.defjvp(jvp)
        self.computes = True

    def __call__(self, *args, **kwargs) -> Any:
        """Compute the function."""
        jvp = self.jvp
        if jvp is None:
            raise refusal(AttributeError, "No JVP defined for custom_jvp", self)
        args = self._positional(args, kwargs)
        fixed, leaves = self._parted(args)
        if not any(map(is_followed, leaves.tensors)):
            return self.fun(*args)
        taken: list[Results] = []
        still = [self.symbolic and not is_followed(x) for x in leaves.arrays]

        def ruled(primals, tangents) -> Any:
            values = tuple(leaves.with_tensors(primals))
            given = zip(primals, tangents, strict=True)
            filled = [zeros_like(x) if t is None else t for x, t in given]
            directions = tuple(leaves.derivatives(filled))
            none = {place for place, t in zip(leaves.places, tangents, strict=True) if t is None}
            if any(still) or (none and self.symbolic):
                flat, structure = tree_flatten(directions)
                zero = [known or i in none for i, known in enumerate(still)]
                pairs = zip(flat, leaves.arrays, zero, strict=True)
                directions = structure.unflatten(
                    [SymbolicZero(x.aval) if zero else t for t, x, zero in pairs]
                )
            return self._pair(jvp(*fixed, values, directions))

        def checked(output, slope) -> tuple[list[Any], list[Any]]:
            self._check_output(output, taken[0])
            return self._slopes(output, slope)

        def rule(primals, tangents) -> Any:
            return checked(*ruled(primals, tangents))

        order = innermost(leaves.tensors)
        if isinstance(order, Level):
            pairs = [parted(x, order) for x in leaves.tensors]
            primals, tangents = zip(*pairs, strict=True)
            made = ruled(primals, tangents)
            values = leaves.with_tensors(list(map(_still, primals)))
            taken.append(Results())
            known = made[0] if self.computes else self.fun(*self._joined(args, values))
            taken[0].take(known, "Output")
            return self._at_level(order, *checked(*made), taken[0])

        def forward(*given) -> Any:
            # the function itself is never differentiated, also where the rule's residuals are
            _, moving = self._parted(given)
            linear = is_linear(moving.tensors)
            same = linear or self.computes
            values = moving.with_tensors([x if linear else _still(x) for x in moving.tensors])
            joined = self._joined(given, values)
            return self.fun(*joined) if same else plain(*joined)[0], given

        def plain(*given) -> Any:
            tensors = self._parted(given)[1].tensors
            return ruled(tensors, list(map(zeros_like, tensors)))

        reverse = self.transposed
        return _recorded(self, args, leaves, forward, reverse, True, rule, taken, plain)

    def _at_level(self, level: Level, outs, slopes, results: Results) -> Any:
        """Return an output of the level of a `jvp`, from what the rule computed below it."""
        count = len(results.places)
        joins = [joined(x, t, level) for x, t in zip(outs[:count], slopes, strict=False)]
        return results.give(joins, outs[count:])

    def _pair(self, made) -> Any:
        if not isinstance(made, list | tuple) or len(made) != 2:
            raise refusal(TypeError, "Custom JVP rule {}", name_of(self.jvp), self.__name__, made)
        return made

    def _check_output(self, output, results: Results) -> None:
        """Refuse the output of a rule that does not match the function's."""
        leaves, structure = tree_flatten(output)
        given, wanted = (list(map(_Type, map(argument, x))) for x in (leaves, results.leaves))
        if structure != results.structure:
            found, known = structure.unflatten(given), results.structure.unflatten(wanted)
            had, end = "container/pytree structure", "."
            kind, of = f"of the same {had}", had
        elif given != wanted:
            found, known = (_Type(", ".join(types)) for types in (given, wanted))
            kind, of, end = "with leaves of the same shape/dtype", "shapes/dtypes of", ""
        else:
            return
        names, known = (name_of(self.jvp), self.__name__), f"    {known!r}{end}"
        raise refusal(TypeError, "Custom JVP rule {0}", *names, kind, of, f"    {found!r}", known)

    def _slopes(self, output, slope) -> Any:
        """Return the outputs and tangents of a rule, as flat lists of tensors."""
        leaves, structure = tree_flatten(output)
        slopes, other = tree_flatten(slope)
        if structure != other:
            names = name_of(self.jvp), self.__name__
            raise refusal(TypeError, "Custom JVP rule {:s}", *names, structure, other)
        outputs = [argument(leaf) for leaf in leaves]
        order = sorted(range(len(outputs)), key=lambda i: not is_inexact(outputs[i]))
        made = []
        for i in order:
            x = outputs[i]
            if not is_inexact(x):
                made.append(zeros_like(x))
                continue
            t = zeros_like(x) if isinstance(slopes[i], SymbolicZero) else argument(slopes[i])
            if t._payload.shape != x._payload.shape or (
                t._payload.dtype != x._payload.dtype and not t.weak_type
            ):
                raise refusal(TypeError, "Custom JVP rule must produce", short(x), short(t))
            made.append(convert(t, x._payload.dtype))
        return [outputs[i] for i in order], made


def _still(x) -> Any:
    return made(x.detach(), x.weak_type)


def _apart(x) -> Any:
    return _still(argument(x))


class custom_vjp(Rule):
    """Decorate a function to give it a reverse-mode rule.

    Parameters
    ----------
    %(pytree_function)s
    nondiff_argnums : sequence of int. Positional arguments without a derivative; the rules get
        them.

    Examples
    --------
    >>> @jax.custom_vjp
    ... def clip_gradient(low, high, x):
    ...     return x
    >>> clip_gradient.defvjp(
    ...     lambda low, high, x: (x, (low, high)),
    ...     lambda kept, g: (None, None, jax.numpy.clip(g, *kept)),
    ... )
    >>> jax.grad(lambda x: 5 * clip_gradient(-1.0, 1.0, x))(2.0)
    Array(1., dtype=float32, weak_type=True)
    """

    _kind = "custom_vjp"
    fwd: Callable[..., Any] | None = None
    bwd: Callable[..., Any] | None = None
    symbolic = False

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros=False,
        optimize_remat=False,
    ) -> None:
        """Set the rule.

        Parameters
        ----------
        fwd : callable. Takes the arguments of the function, and returns ``(output, residuals)``.
        bwd : callable. ``bwd(*nondiff, residuals, cotangent)`` returns a tuple with a gradient for
            each other argument, None where it is zero.
        """
        self.fwd, self.bwd, self.symbolic = fwd, bwd, symbolic_zeros

    def __call__(self, *args, **kwargs) -> Any:
        """Compute the function."""
        fwd, bwd = self.fwd, self.bwd
        if fwd is None or bwd is None:
            raise refusal(AttributeError, "No VJP defined for custom_vjp", self)
        args = self._positional(args, kwargs)
        fixed, leaves = self._parted(args)
        followed = list(map(is_followed, leaves.arrays))
        if not any(followed[place] for place in leaves.places):
            return self.fun(*args)

        def forward(*given) -> Any:
            if self.symbolic:
                given = self._marked(given, followed)
            made = fwd(*given)
            if not isinstance(made, list | tuple) or len(made) != 2:
                raise refusal(TypeError, "Custom VJP fwd rule {}", name_of(fwd), self, made)
            return made

        def backward(residuals, cotangent) -> Any:
            return bwd(*fixed, residuals, cotangent)

        return _recorded(self, args, leaves, forward, backward, self.symbolic)

    def _marked(self, given: tuple[Any, ...], followed: list[bool]) -> tuple[Any, ...]:
        """Return the arguments of a call with a `CustomVJPPrimal` for each leaf."""
        fixed = {n % len(given) for n in self.nondiff_argnums}
        flags = iter(followed)
        return tuple(
            arg if i in fixed else tree_map(lambda x: CustomVJPPrimal(x, next(flags)), arg)
            for i, arg in enumerate(given)
        )


def _recorded(
    owner: Rule,
    args: tuple[Any, ...],
    leaves: Leaves,
    forward: Callable[..., Any],
    backward: Callable[[Any, Any], Any] | None,
    symbolic=False,
    rule: Callable[..., Any] | None = None,
    taken: list[Results] | None = None,
    plain: Callable[..., Any] | None = None,
) -> Any:
    """Call a function and record a reverse rule, which gets zero cotangents as such if asked; or a
    rule for forward mode, or both.

    Other derivatives around it see what `plain` returns first, or else `forward`: NOTE [custom
    rules in nested derivatives].
    """
    taken = [] if taken is None else taken
    order = innermost(leaves.tensors)
    number = None if isinstance(order, Level) else order

    def given(tensors: Sequence[Any]) -> list[Any]:
        return owner._joined(args, leaves.with_tensors(below(tensors, number)))

    known: list[Any] = []
    if number is not None and plain is not None:
        known.append(plain(*given(leaves.tensors))[0])

    def fwd(*tensors) -> Any:
        own = given(tensors)
        value, residuals = (tree_map(_apart, known[0]), own) if known else forward(*own)
        results = Results()
        outputs, others = results.take(value, "Output")
        taken[:] = [results]
        # JAX has no views: an argument that is returned is a value of its own
        same = [x._edge is None and any(x is t for t in tensors) for x in outputs]
        apart = [new_tensor(x._payload) if yes else x for x, yes in zip(outputs, same, strict=True)]
        return [*apart, *others], (residuals, results)

    def bwd(kept, cotangents) -> Any:
        residuals, results = kept
        lower = below(cotangents[: len(results.places)], number)
        found = [ct if ct is None else conjugated(ct) for ct in lower]

        def nothing(place: int) -> Any:
            leaf = results.leaves[place]
            return SymbolicZero(leaf.aval) if place in results.places else nothing_like(leaf)

        cotangent = results.derivatives(found, nothing)
        made = backward and backward(residuals, cotangent)
        return _gradients(made, leaves)

    def computed(*tensors) -> Any:
        return fwd(*tensors)[0]

    def pushed(primals, tangents) -> Any:
        return rule and rule(below(primals, number), below(tangents, number))

    inner: Any
    if backward is None:
        inner = func.custom_jvp(computed)
    else:
        inner = func.custom_vjp(computed)
        inner.defvjp(fwd, bwd, materialize_grads=not symbolic)
    inner.rule, inner.symbolic = rule and pushed, rule is not None
    made = owner._called(inner, leaves.tensors, taken)
    if number is None:
        return made
    output = known.pop() if known else forward(*given(leaves.tensors))[0]
    return tree_map(lambda own, x: choice(own, argument(x), number), made, output)


def _gradients(made, leaves: Leaves) -> tuple[Any, ...]:
    """Return the results of a reverse rule, checked, as gradients of the differentiable leaves."""
    pairs: list[Any] = []
    if isinstance(made, tuple | list):
        entries, prefix = tree_flatten(tuple(made), lambda leaf: leaf is None)
        with contextlib.suppress(ValueError):
            parts = prefix.flatten_up_to(leaves.structure.unflatten(leaves.arrays))
            pairs = list(zip(entries, map(tree_leaves, parts), strict=True))
    flat = [entry for entry, part in pairs for _ in part]
    if len(flat) != leaves.structure.num_leaves:
        raise _wrong_structure(made, leaves.structure)
    found: list[Any] = []
    for place in leaves.places:
        x, grad = leaves.arrays[place], flat[place]
        if grad is None:
            found.append(None)
            continue
        zero = isinstance(grad, SymbolicZero)
        g = grad.aval if zero else argument(grad)
        if tuple(g.shape) != tuple(x._payload.shape):
            more = " Consider just returning a None here instead of a SymbolicZero." * zero
            types = g.str_short() if zero else short(g), short(x)
            raise refusal(ValueError, "Custom VJP bwd rule must produce", place, *types, more)
        found.append(None if zero else conjugated(convert(g, x._payload.dtype)))
    return tuple(found)


def _wrong_structure(made, structure: PyTreeDef) -> Exception:
    return refusal(TypeError, "{} bwd rule must", "Custom VJP", tree_structure(made), structure)


def linear_call(
    fun: Callable[..., Any], fun_transpose: Callable[..., Any], residual_args, linear_args
) -> Any:
    """Call a linear function that has a transpose of its own.

    Parameters
    ----------
    fun : callable. ``fun(residual_args, linear_args)`` is linear in its second argument.
    fun_transpose : callable. ``fun_transpose(residual_args, cotangent)`` returns the cotangent of
        `linear_args`; its transpose is `fun`.
    residual_args, linear_args: Pytrees of arrays.

    Raises
    ------
    NotImplementedError: If a derivative follows `residual_args`.

    Examples
    --------
    >>> scaled = lambda x: jax.custom_derivatives.linear_call(
    ...     lambda r, x: x / r, lambda r, t: t / r, 4.0, x
    ... )
    >>> jax.grad(scaled)(2.0)
    Array(0.25, dtype=float32, weak_type=True)
    """
    if any(is_followed(argument(leaf)) for leaf in tree_leaves(residual_args)):
        raise refusal(NotImplementedError, "linear_call has no derivative")

    def backward(_, cotangent) -> Any:
        made = linear_call(fun_transpose, fun, residual_args, cotangent)
        shapes = tree_structure(made), tree_structure(linear_args)
        if shapes[0] != shapes[1]:
            raise refusal(TypeError, "transpose output pytree", shapes[0], shapes[1])
        return (made,)

    rule = custom_vjp(lambda given: fun(residual_args, given))
    rule.defvjp(lambda given: (fun(residual_args, given), None), backward)
    return rule(linear_args)


def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that returns its value and its vjp.

    Parameters
    ----------
    fun : callable. Returns ``(output, vjp)``, where ``vjp(cotangent)`` returns the gradient of the
        argument, or a tuple of gradients for several arguments.

    Examples
    --------
    >>> @jax.custom_gradient
    ... def f(x):
    ...     return x**2, lambda g: (g * x,)
    >>> f(3.0), jax.grad(f)(3.0)
    (9.0, Array(3., dtype=float32, weak_type=True))
    """
    owner = Rule(fun)

    @wraps(fun)
    def call(*args, **kwargs) -> Any:
        given = owner._positional(args, kwargs)
        leaves = Leaves(given)
        if not any(map(is_followed, leaves.tensors)):
            return fun(*given)[0]

        def backward(vjp, cotangent) -> Any:
            made = vjp(cotangent)
            flat, _ = tree_flatten(made, lambda leaf: leaf is None)
            count = leaves.structure.num_leaves
            if len(flat) != count:
                raise _wrong_structure(made, leaves.structure)
            return leaves.structure.unflatten(flat)

        return _recorded(owner, given, leaves, fun, backward)

    return call
