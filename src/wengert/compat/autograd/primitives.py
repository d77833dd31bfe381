"""Layer 9 · compat: functions with custom derivatives: `primitive` and its rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from wengert.compat.autograd.boxes import Opaque, getval, holds_box, plain
from wengert.compat.autograd.nodes import applied, primitive_jvps, primitive_vjps
from wengert.compat.autograd.util import subval
from wengert.compat.autograd.vspaces import vspace
from wengert.compat.autograd.words import refusal
from wengert.compat.autograd.wrap_util import get_name, wraps
from wengert.tape.base import TensorBase
from wengert.tape.sites import warn

_NOT_TRACED: set[Any] = set()
_NESTED = (list, tuple, dict)
_BOXES = (TensorBase, Opaque)


def primitive(f_raw: Callable[..., Any]) -> Any:
    """Make the derivative of a function definable by `defvjp` and `defjvp`.

    Parameters
    ----------
    f_raw : callable. Computes on NumPy's own arrays and numbers, in any way; it never sees a box.
        It returns an array, a number, or a nested container of them.

    Returns
    -------
    callable: Takes boxes as well. Called with boxes and without a rule, it raises
        NotImplementedError.

    Examples
    --------
    >>> import numpy
    >>> import wengert.compat.autograd.numpy as np
    >>> from wengert.compat.autograd import grad
    >>> from wengert.compat.autograd.extend import defvjp, primitive
    >>> @primitive
    ... def cube(x):
    ...     return numpy.power(x, 3)
    >>> defvjp(cube, lambda ans, x: lambda g: g * 3 * x**2)
    >>> grad(cube)(2.0), grad(grad(cube))(2.0)
    (np.float64(12.0), np.float64(12.0))
    """

    @wraps(f_raw)
    def f_wrapped(*args, **kwargs) -> Any:
        for arg in args:
            if isinstance(arg, _BOXES) or (isinstance(arg, _NESTED) and holds_box(arg)):
                if f_wrapped in _NOT_TRACED:
                    return f_raw(*plain(args), **kwargs)
                return applied(f_wrapped, args, kwargs)
        return f_raw(*args, **kwargs)

    f_wrapped.fun = f_raw
    f_wrapped._is_autograd_primitive = True
    return f_wrapped


def notrace_primitive(f_raw: Callable[..., Any]) -> Any:
    """Wrap a function to see the values of boxes; no derivative flows through it."""

    @wraps(f_raw)
    def f_wrapped(*args, **kwargs) -> Any:
        return f_raw(*map(getval, args), **kwargs)

    f_wrapped.fun = f_raw
    f_wrapped._is_primitive = True
    return f_wrapped


def register_notrace(trace_type, primitive_fun) -> None:
    """Mark a primitive as not differentiable; it returns NumPy's own values."""
    _NOT_TRACED.add(primitive_fun)


# -- rules -----------------------------------------------------------------------------------------


def defvjp_argnums(fun, vjpmaker: Callable[..., Any]) -> None:
    """Define the VJPs of a primitive for all its arguments together.

    Parameters
    ----------
    fun : primitive
    vjpmaker : callable. ``vjpmaker(argnums, ans, args, kwargs)`` returns a function of the
        cotangent of the result, which returns cotangents of the arguments at the positions
        `argnums`.
    """
    primitive_vjps[fun] = vjpmaker
    overrule = getattr(fun, "overrule", None)
    if overrule is not None:
        overrule(lambda args, kwargs: applied(fun, args, kwargs))


def defvjp_argnum(fun, vjpmaker: Callable[..., Any]) -> None:
    """Define the VJPs of a primitive for any one argument: ``vjpmaker(argnum, ans, args, kwargs)``.

    Parameters
    ----------
    fun : primitive
    vjpmaker : callable. Returns a function of the cotangent of the result.
    """

    def by_all(argnums: tuple[int, ...], *more) -> Callable[[Any], Any]:
        vjps = [vjpmaker(argnum, *more) for argnum in argnums]
        return lambda g: [vjp(g) for vjp in vjps]

    defvjp_argnums(fun, by_all)


def defvjp(fun, *vjpmakers, argnums: Iterable[int] | None = None) -> None:
    """Define the VJPs of a primitive, one for each argument.

    Parameters
    ----------
    fun : primitive
    *vjpmakers : callable or None. ``vjpmaker(ans, *args, **kwargs)`` gets the result and the
        arguments, and returns a function of the cotangent of the result. None means that the
        derivative is zero.
    argnums : sequence of int, optional. The arguments that these are for; the first ones by
        default.
    """
    makers = dict(zip(count() if argnums is None else argnums, vjpmakers, strict=False))
    for maker in vjpmakers:
        if maker is not None and not callable(maker):
            raise TypeError(f"Bad VJP '{maker}' for '{get_name(fun)}': expected a function or None")

    def by_all(argnums: tuple[int, ...], ans, args, kwargs) -> Callable[[Any], Any]:
        if len(argnums) == 1:
            maker = makers.get(argnums[0])
            if maker is not None:
                vjp = maker(ans, *args, **kwargs)
                return lambda g: (vjp(g),)
        missing = tuple(argnum for argnum in argnums if argnum not in makers)
        if missing:
            raise NotImplementedError(f"VJP of {get_name(fun)} wrt argnums {missing} not defined")
        vjps = [
            None if makers[argnum] is None else makers[argnum](ans, *args, **kwargs)
            for argnum in argnums
        ]
        return lambda g: [None if vjp is None else vjp(g) for vjp in vjps]

    defvjp_argnums(fun, by_all)


def _sum(gs: Iterable[Any]) -> Any:
    total: Any = None
    for g in gs:
        total = g if total is None else vspace(g).add(total, g)
    return total


def defjvp_argnums(fun, jvpmaker: Callable[..., Any]) -> None:
    """Define the JVP of a primitive: ``jvpmaker(argnums, tangents, ans, args, kwargs)``."""
    primitive_jvps[fun] = jvpmaker


def defjvp_argnum(fun, jvpmaker: Callable[..., Any]) -> None:
    """Define the JVP of a primitive for any argument: ``jvpmaker(argnum, g, ans, args, kw)``."""

    def by_all(argnums, gs, ans, args, kwargs) -> Any:
        pairs = zip(argnums, gs, strict=True)
        return _sum(jvpmaker(argnum, g, ans, args, kwargs) for argnum, g in pairs)

    defjvp_argnums(fun, by_all)


def defjvp(fun, *jvpfuns, argnums: Iterable[int] | None = None) -> None:
    """Define the JVPs of a primitive, one for each argument.

    Parameters
    ----------
    fun : primitive
    *jvpfuns : callable, "same" or None. ``jvpfun(g, ans, *args, **kwargs)`` returns the tangent of
        the result for the tangent `g` of the argument. ``"same"`` means that the primitive is
        linear in the argument, None that the derivative is zero.
    argnums : sequence of int, optional. The arguments that these are for; the first ones by
        default.
    """
    rules = dict(zip(count() if argnums is None else argnums, jvpfuns, strict=False))
    for rule in jvpfuns:
        if not (rule is None or rule == "same" or callable(rule)):
            raise refusal(TypeError, "Bad JVP '{}'", rule, get_name(fun))

    def one(argnum: int, g, ans, args, kwargs) -> Any:
        if argnum not in rules:
            raise NotImplementedError(f"JVP of {get_name(fun)} wrt argnums {argnum} not defined")
        rule = rules[argnum]
        if rule is None:
            return vspace(ans).zeros()
        if rule == "same":
            return fun(*subval(args, argnum, g), **kwargs)
        return rule(g, ans, *args, **kwargs)

    defjvp_argnum(fun, one)


def def_linear(fun) -> None:
    """Declare a primitive linear in each of its arguments, for forward mode."""

    def rule(argnum: int, g, ans, args, kwargs) -> Any:
        return fun(*subval(args, argnum, g), **kwargs)

    defjvp_argnum(fun, rule)


# -- former names ----------------------------------------------------------------------------------


def warn_deprecated(name: str) -> None:
    """Warn that functions now define rules, not methods of primitives."""
    warn(
        f"The {name} method is deprecated. Write autograd.extend.defvjp(fun, ...), of functions "
        "(ans, *args) that return functions of the cotangent"
    )
