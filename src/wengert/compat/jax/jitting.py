"""Layer 9 · compat: `jit`: functions that are compiled when they are called.

NOTE [jit]
`jit` is `wengert.compile` with JAX's contract: a call is traced by running it once, each decision
of the function becomes a guard, and a function that cannot be compiled runs uncompiled, without a
warning. In addition, leaves of arguments become arrays before the call, so that a number is not a
guard; static arguments must be hashable, and are compared by value; the function gets new
containers; and results are arrays. Settings that change operations without being traced select a
program (`_programs`), or make the function run uncompiled.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from wengert.compat.jax.array import Array, WeakArray, asarray
from wengert.compat.jax.batching import vmap
from wengert.compat.jax.closures import Holder
from wengert.compat.jax.references import Ref
from wengert.compat.jax.settings import WATCHED, debug_infs, debug_nans, enable_x64, without_jit
from wengert.compat.jax.stages import Lowered, Traced
from wengert.compat.jax.staging import eval_shape
from wengert.compat.jax.tracing import (
    argument,
    check_callable,
    name_of,
    result_of,
    staged,
    wraps,
)
from wengert.compat.jax.trees import tree_flatten, tree_map
from wengert.compat.jax.words import refusal
from wengert.compiler import reset
from wengert.compiler.api import compile
from wengert.func.inputs import replaced
from wengert.tape.modes import NO_GRAD, current_mode

_LIMIT = 64
"""The largest number of argument signatures, and of paths through a function, to compile."""
_ARRAYS = frozenset({Array, WeakArray})
_NUMBERS = frozenset({bool, int, float, complex})
_SEQUENCES = frozenset({tuple, list})


def _as_tuple(given) -> tuple[Any, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, int | str) else tuple(given)


class _Chosen:
    """Arguments of a function, chosen by number or by name: the static or the donated ones.

    Parameters
    ----------
    kind : str. The word for them in the names of the parameters of `jit`.
    """

    is_fixed = True

    def __init__(self, fun: Callable[..., Any], numbers, names, kind: str) -> None:
        self.asked = numbers, names
        self.numbers = set(_as_tuple(numbers))
        self.names = set(_as_tuple(names))
        try:
            parameters = list(inspect.signature(fun).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        by_kind: dict[Any, list[str]] = {p.kind: [] for p in parameters}
        for p in parameters:
            by_kind[p.kind].append(p.name)
        only = by_kind.get(inspect.Parameter.POSITIONAL_ONLY, [])
        both = by_kind.get(inspect.Parameter.POSITIONAL_OR_KEYWORD, [])
        self.positional = only + both
        known = {*both, *by_kind.get(inspect.Parameter.KEYWORD_ONLY, [])}
        bad = self.names - known
        if inspect.Parameter.VAR_KEYWORD in by_kind:
            bad &= {p.name for p in parameters}
        if parameters and bad:
            raise refusal(
                ValueError, "jitted function has invalid", sorted(bad), kind, sorted(known)
            )
        count = len(self.positional)
        beyond = {n for n in self.numbers if not -count <= n < count}
        if parameters and beyond and inspect.Parameter.VAR_POSITIONAL not in by_kind:
            raise refusal(ValueError, "jitted function has {}_arg", kind, (*self.numbers,), count)
        if numbers is not None and names is not None:
            return
        # an argument chosen in one way is chosen however it is passed
        for number in list(self.numbers - beyond):
            self.names.add(self.positional[number])
        for name in list(self.names.intersection(self.positional)):
            self.numbers.add(self.positional.index(name))

    def has(self, number: int, count: int) -> bool:
        """Return whether the argument at this position, out of `count`, is static."""
        return bool(self.numbers) and (number in self.numbers or number - count in self.numbers)

    def converted(
        self, fun, args: tuple[Any, ...], kwargs: dict[str, Any], fresh: bool
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Convert the leaves of dynamic arguments to arrays, in new containers if `fresh`."""
        given = []
        for i, arg in enumerate(args):
            if self.has(i, len(args)):
                _check_hashable(arg)
                given.append(arg)
            else:
                known = self.positional
                name = known[i] if i < len(known) else f"args[{i}]"
                given.append(_dynamic(arg, name, fun, fresh))
        named = {}
        for key, arg in kwargs.items():
            if key in self.names:
                _check_hashable(arg)
                named[key] = arg
            else:
                named[key] = _dynamic(arg, key, fun, fresh)
        return tuple(given), named


def _check_hashable(value) -> None:
    kind = value.__class__
    try:
        hash(value)
        if kind.__module__ != "builtins" and kind.__eq__ is not object.__eq__:
            try:
                bool(value == value)
            except Exception as error:
                raise refusal(ValueError, "static arguments should", kind, error) from None
    except TypeError as error:
        raise refusal(ValueError, "Non-hashable static arguments", value, error) from None


def _dynamic(value, name: str, fun, fresh: bool) -> Any:
    """Return a dynamic argument with its leaves as arrays."""
    kind = value.__class__
    if kind in _ARRAYS:
        return value
    if kind in _NUMBERS:
        return asarray(value)
    if not fresh and _is_ready(value):
        return value

    def leaf(part) -> Any:
        try:
            return part if isinstance(part, Ref) else argument(part)
        except TypeError:
            raise refusal(TypeError, "Error interpreting argument", fun, part, name) from None

    return tree_map(leaf, value)


def _is_ready(value) -> bool:
    """Return whether the leaves of an argument are already arrays, in plain containers."""
    kind = value.__class__
    if kind in _ARRAYS:
        return True
    if kind is dict:
        if len(value) > 1 and not _are_sorted([*value]):
            return False
        return all(map(_is_ready, value.values()))
    if kind in _SEQUENCES or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
        return all(map(_is_ready, value))
    return value is None


def _are_sorted(keys: list[Any]) -> bool:
    try:
        return keys == sorted(keys)
    except TypeError:
        return False


class _Whole(NamedTuple):
    """A result with registered containers, flattened."""

    leaves: list[Any]
    structure: Any


class Jitted(Holder):
    """A function that is compiled when it is called (see `jit`).

    It has the signature, name and documentation of the function; ``__wrapped__`` is the function
    itself.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_donated",
        "_function",
        "_plain",
        "_programs",
        "_statics",
    )

    def __init__(self, fun: Callable[..., Any], numbers, names, given=None, named=None) -> None:
        self._function = fun
        self._statics = statics = _Chosen(fun, numbers, names, "static")
        self._donated = _Chosen(fun, given, named, "donate")
        functools.update_wrapper(self, fun)
        self.__wrapped__ = fun

        @staged
        def plain(*args, **kwargs) -> Any:
            given, named = statics.converted(fun, args, kwargs, True)
            return _results(fun, fun(*given, **named))

        plain.__name__ = name_of(fun)
        self._plain = plain
        quiet = {"quiet": True}
        self._programs: tuple[Any, Any] = tuple(
            [compile(plain, limit=_LIMIT, options=quiet) for _ in range(2)]
        )  # type: ignore[assignment]  # with numbers of at most 32 bits, and without

    def __call__(self, /, *args, **kwargs) -> Any:
        """Call the function, and return its results as arrays."""
        statics = self._statics
        if kwargs or statics.numbers or not _ARRAYS.issuperset(map(type, args)):
            args, kwargs = statics.converted(self._function, args, kwargs, False)
        mode = current_mode()
        if (
            (mode is not None and mode is not NO_GRAD)
            or without_jit.value
            or (WATCHED and (debug_nans.value or debug_infs.value))
        ):
            return _put_together(self._plain(*args, **kwargs))
        return _put_together(self._programs[enable_x64.value](*args, **kwargs))

    def __get__(self, instance, owner=None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<jitted {name_of(self._function)}>"

    def __reduce__(self) -> Any:
        return Jitted, (self._function, *self._statics.asked, *self._donated.asked)

    def held(self) -> tuple[Any, ...]:
        """Return the function."""
        return (self._function,)

    def holding(self, parts: Sequence[Any]) -> Any:
        """Return another function, jitted in the same way."""
        return Jitted(parts[0], *self._statics.asked, *self._donated.asked)

    def trace(self, /, *args, **kwargs) -> Traced:
        """Trace the function for arguments of these shapes (see `wengert.compat.jax.stages`).

        Examples
        --------
        >>> jax.jit(lambda x: x * 2.0).trace(jax.ShapeDtypeStruct((3,), "float32")).jaxpr
        { lambda ; a:f32[3]. let b:f32[3] = mul a 2.0 in (b,) }
        """
        statics = self._statics
        places = [i for i in range(len(args)) if not statics.has(i, len(args))]
        fixed = {key: value for key, value in kwargs.items() if key in statics.names}

        def with_statics(function) -> Callable[..., Any]:
            def call(moving: list[Any], named: dict[str, Any]) -> Any:
                given = replaced(args, places, moving)
                return function(*given, **named, **fixed)

            return call

        named = {key: value for key, value in kwargs.items() if key not in fixed}
        function, moving = with_statics(self._function), [args[i] for i in places]
        return Traced(function, with_statics(self), name_of(self._function), moving, named)

    def lower(self, /, *args, **kwargs) -> Lowered:
        """Return ``trace(*args).lower()``."""
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args, **kwargs) -> Any:
        """Return the shapes and dtypes of the result (see `jax.eval_shape`)."""
        return eval_shape(self._function, *args, **kwargs)

    def clear_cache(self) -> None:
        """Forget the compiled programs."""
        for program in self._programs:
            program.forget()


def jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused=False,
    device=None,
    backend: str | None = None,
    inline=False,
    compiler_options=None,
    in_shardings=None,
    out_shardings=None,
) -> Any:
    """Compile a function when it is called; also a decorator.

    The function may branch on the values of its arguments. What cannot be compiled runs uncompiled
    (see `wengert.compile`).

    Parameters
    ----------
    fun : callable, optional. Takes and returns pytrees of arrays. If omitted, return a decorator.
    static_argnums, static_argnames: Arguments that are passed on unchanged, and must be hashable;
        all others become arrays.
    donate_argnums, donate_argnames: Checked, but arrays are kept: memory is freed when the last
        reference to them ends.

    Returns
    -------
    Jitted: A callable that returns arrays.

    Raises
    ------
    TypeError: When called with, or returning, anything that is not an array.
    ValueError: When called with static arguments that cannot be hashed.

    Examples
    --------
    >>> @jax.jit
    ... def f(x):
    ...     return 2 * x
    >>> f(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    if fun is None:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
        )
    check_callable(fun)
    for kind, static, donated in (
        ("argnums", static_argnums, donate_argnums),
        ("argnames", static_argnames, donate_argnames),
    ):
        if not {*_as_tuple(static)}.isdisjoint(_as_tuple(donated)):
            raise refusal(ValueError, "static_{0} and donate_{0}", kind, static, donated)
    return Jitted(fun, static_argnums, static_argnames, donate_argnums, donate_argnames)


def pmap(
    fun: Callable[..., Any],
    axis_name=None,
    *,
    in_axes=0,
    out_axes=0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices=None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> Any:
    """Compile a function and map it over the devices: there is one, so the axis has size 1.

    Parameters
    ----------
    %(pytree_function)s
    axis_name, in_axes, out_axes: As for `jax.vmap`.
    static_broadcasted_argnums : int or sequence of int. Arguments that are passed on unchanged.

    Raises
    ------
    ValueError: If the axis is longer; use `jax.vmap`.

    Examples
    --------
    >>> jax.pmap(lambda x: x / jax.lax.psum(x, "i"), "i")(jax.numpy.ones((1, 2)))
    Array([[1., 1.]], dtype=float32)
    """
    check_callable(fun)
    statics = _as_tuple(static_broadcasted_argnums)

    @wraps(fun)
    def over_devices(*args, **kwargs) -> Any:
        if max(statics, default=-1) >= len(args):
            raise refusal(
                ValueError, "pmapped function has", statics, len(args), "s"[: len(args) != 1]
            )

        @wraps(fun)
        def of_parts(*parts, **named) -> Any:
            part = iter(parts)
            return fun(*[x if i in statics else next(part) for i, x in enumerate(args)], **named)

        rest = [i for i in range(len(args)) if i not in statics]
        axes = tuple(in_axes[i] for i in rest) if isinstance(in_axes, tuple) else in_axes
        mapped = vmap(of_parts, axes, out_axes, axis_name, 1)
        return mapped(*[args[i] for i in rest], **kwargs)

    return Jitted(over_devices, statics, None)


def _results(fun, value) -> Any:
    """Return the results of a function as arrays, flattened where containers are registered."""
    leaves, structure = tree_flatten(value)
    made = [result_of(leaf, fun, "jit") for leaf in leaves]
    return structure.unflatten(made) if structure.is_plain else _Whole(made, structure)


def _put_together(result) -> Any:
    return result.structure.unflatten(result.leaves) if result.__class__ is _Whole else result


def disable_jit(disable=True) -> Any:
    """Return a context in which functions run uncompiled."""
    return without_jit(disable)


def clear_caches() -> None:
    """Forget all compiled programs."""
    reset()
