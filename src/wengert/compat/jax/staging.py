"""Layer 9 · compat: what JAX compiles, run as it is: `jit`, `checkpoint`, `eval_shape`, callbacks.

Nothing is traced or compiled here. `jit` keeps its contract towards callers: arguments become
arrays, static ones must be hashable, results are arrays; the function itself runs each time it is
called, on values.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.jax.array import Array, asarray
from wengert.compat.jax.classes import is_traced
from wengert.compat.jax.dtypes import canonical_dtype
from wengert.compat.jax.methods import ShapedArray
from wengert.compat.jax.tracing import argument, check_callable, name_of
from wengert.compat.jax.trees import tree_flatten, tree_leaves, tree_map
from wengert.utils import checkpoint as _checkpoint

__all__ = [
    "ShapeDtypeStruct",
    "checkpoint",
    "clear_caches",
    "closure_convert",
    "default_device",
    "default_matmul_precision",
    "disable_jit",
    "ensure_compile_time_eval",
    "eval_shape",
    "jit",
    "named_call",
    "named_scope",
    "pmap",
    "remat",
    "typeof",
]


def _names_of(static: Any) -> tuple[str, ...]:
    if static is None:
        return ()
    return (static,) if isinstance(static, str) else tuple(static)


def _numbers_of(static: Any) -> tuple[int, ...]:
    if static is None:
        return ()
    return (static,) if isinstance(static, int) else tuple(static)


class _Statics:
    """Which arguments of a function are static: by number or by name."""

    def __init__(self, fun: Callable[..., Any], numbers: Any, names: Any) -> None:
        self.numbers = set(_numbers_of(numbers))
        self.names = set(_names_of(names))
        try:
            parameters = list(inspect.signature(fun).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self.positional = [p.name for p in parameters if p.kind in kinds]
        takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
        known = {p.name for p in parameters}
        if parameters and not takes_any and self.names - known:
            raise ValueError(
                f"jitted function has invalid argnames {sorted(self.names - known)} in "
                f"static_argnames. Function does not take these args: it takes {sorted(known)}."
            )
        # each way to name an argument counts for both ways to pass it
        for number in list(self.numbers):
            if -len(self.positional) <= number < len(self.positional):
                self.names.add(self.positional[number])
        for name in list(self.names):
            if name in self.positional:
                self.numbers.add(self.positional.index(name))

    def __call__(self, count: int, number: int) -> bool:
        """Whether the argument of this number, of so many, is static."""
        return number in self.numbers or number - count in self.numbers


def _check_hashable(value: Any) -> None:
    try:
        hash(value)
    except TypeError as error:
        raise ValueError(
            "Non-hashable static arguments are not supported. An error occurred while trying to "
            f"hash an object of type {type(value)}, {value!r}. The error was:\n"
            f"TypeError: {error}\n"
        ) from None


def _dynamic(value: Any, name: str, fun: Any) -> Any:
    """An argument that is not static, with arrays for its leaves."""

    def leaf(part: Any) -> Any:
        try:
            return argument(part)
        except TypeError:
            raise TypeError(
                f"Error interpreting argument to {fun} as an abstract array. The problematic "
                f"value is of type {type(part)} and was passed to the function at path {name}.\n"
                "This typically means that a jit-wrapped function was called with a non-array "
                "argument, and this argument was not marked as static using the static_argnums or "
                "static_argnames parameters of jax.jit."
            ) from None

    return tree_map(leaf, value)


def jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: str | None = None,
    inline: bool = False,
    compiler_options: Any = None,
    in_shardings: Any = None,
    out_shardings: Any = None,
) -> Any:
    """The function itself, with JAX's contract for its arguments and results; also a decorator.

    Nothing is compiled: the function runs each time, and may decide by the values of its arguments.

    Parameters
    ----------
    fun : callable, optional. Takes and returns pytrees of arrays. Left out, a decorator is
        returned.
    static_argnums, static_argnames: Arguments that are handed on as they are, and must be hashable;
        the others become arrays.

    Returns
    -------
    callable: Its results are arrays.

    Raises
    ------
    TypeError: When called with, or returning, anything that is no array.
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
            jit, static_argnums=static_argnums, static_argnames=static_argnames
        )
    check_callable(fun)
    statics = _Statics(fun, static_argnums, static_argnames)

    @functools.wraps(fun)
    def jitted(*args: Any, **kwargs: Any) -> Any:
        given = []
        for i, arg in enumerate(args):
            if statics(len(args), i):
                _check_hashable(arg)
                given.append(arg)
            else:
                known = statics.positional
                given.append(_dynamic(arg, known[i] if i < len(known) else f"args[{i}]", fun))
        named = {}
        for key, arg in kwargs.items():
            if key in statics.names:
                _check_hashable(arg)
                named[key] = arg
            else:
                named[key] = _dynamic(arg, key, fun)
        return tree_map(functools.partial(_result, fun), fun(*given, **named))

    jitted.lower = functools.partial(_no_compilation, "lower")  # type: ignore[attr-defined]
    jitted.trace = functools.partial(_no_compilation, "trace")  # type: ignore[attr-defined]
    jitted.clear_cache = lambda: None  # type: ignore[attr-defined]
    jitted.eval_shape = functools.partial(eval_shape, fun)  # type: ignore[attr-defined]
    return jitted


def _result(fun: Any, value: Any) -> Any:
    try:
        return argument(value)
    except TypeError:
        raise TypeError(
            f"function {name_of(fun)} traced for jit returned a value of type {type(value)}, "
            "which is not a valid JAX type"
        ) from None


def _no_compilation(name: str, *args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(
        f"jax.jit(f).{name}(...) is not there: nothing is compiled; call the function itself"
    )


def pmap(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> NoReturn:
    """Refused: there is one device.

    Raises
    ------
    NotImplementedError: Always.
    """
    raise NotImplementedError(
        "jax.pmap needs several devices, and there is one: write jax.vmap, with the same in_axes, "
        "out_axes and axis_name"
    )


class ShapeDtypeStruct:
    """The shape and dtype of an array, without one.

    Parameters
    ----------
    shape : tuple of int. The sizes.
    dtype : dtype. The dtype.

    Examples
    --------
    >>> jax.ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("dtype", "shape", "sharding", "weak_type")

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        *,
        sharding: Any = None,
        weak_type: bool = False,
        **more: Any,
    ) -> None:
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be specified.")
        self.shape = tuple(int(size) for size in shape)
        self.dtype = canonical_dtype(dtype)
        self.sharding = sharding
        self.weak_type = weak_type

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{weak})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShapeDtypeStruct):
            return NotImplemented
        return (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes of what a function returns, found by calling it on zeros.

    Parameters
    ----------
    fun : callable. Takes and returns pytrees of arrays.
    *args, **kwargs: Pytrees of arrays, or of anything with a shape and a dtype.

    Examples
    --------
    >>> jax.eval_shape(lambda x: x.T, jax.ShapeDtypeStruct((2, 3), "float32"))
    ShapeDtypeStruct(shape=(3, 2), dtype=float32)
    """
    check_callable(fun)

    def zeros(leaf: Any) -> Any:
        if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
            return asarray(np.zeros(tuple(leaf.shape), canonical_dtype(leaf.dtype)))
        return asarray(leaf) * 0

    def shape(leaf: Any) -> ShapeDtypeStruct:
        array = argument(leaf)
        return ShapeDtypeStruct(array.shape, array.dtype, weak_type=array.weak_type)

    given, named = tree_map(zeros, (args, kwargs))
    return tree_map(shape, fun(*given, **named))


def typeof(x: Any) -> ShapedArray:
    """The shape and dtype of an array or a number."""
    found: ShapedArray = argument(x).aval
    return found


def checkpoint(
    fun: Callable[..., Any] | None = None,
    *,
    prevent_cse: bool = True,
    policy: Any = None,
    static_argnums: int | Sequence[int] = (),
    concrete: bool = False,
) -> Any:
    """A function whose intermediate values are not kept, but computed again by the backward pass.

    Parameters
    ----------
    fun : callable, optional. Takes and returns pytrees of arrays. Left out, a decorator is
        returned.
    policy: What may be kept; nothing is, whatever it says.

    Examples
    --------
    >>> jax.grad(jax.checkpoint(lambda x: x**2))(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    if fun is None:
        return functools.partial(checkpoint, policy=policy, static_argnums=static_argnums)
    check_callable(fun)

    @functools.wraps(fun)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        given, named = tree_map(_array_or_same, (args, kwargs))
        return _checkpoint.checkpoint(fun, *given, use_reentrant=False, **named)

    return checkpointed


remat = checkpoint


def _array_or_same(value: Any) -> Any:
    numbers = np.ndarray | np.generic | bool | int | float | complex
    return asarray(value) if isinstance(value, numbers) else value


def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
    """The function itself: names show in compiled programs only."""
    check_callable(fun)
    return fun


@contextlib.contextmanager
def named_scope(name: str) -> Iterator[None]:
    """A context that changes nothing: names show in compiled programs only."""
    if not isinstance(name, str):
        raise TypeError("named_scope name argument must be a string.")
    yield


@contextlib.contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """A context that changes nothing: everything is computed at once."""
    yield


@contextlib.contextmanager
def default_device(new_val: Any = None) -> Iterator[None]:
    """A context that changes nothing: there is one device."""
    yield


@contextlib.contextmanager
def default_matmul_precision(new_val: Any = None) -> Iterator[None]:
    """A context that changes nothing: products are computed in the dtype of the operands."""
    yield


@contextlib.contextmanager
def disable_jit(disable: bool = True) -> Iterator[None]:
    """A context that changes nothing: nothing is compiled."""
    yield


def clear_caches() -> None:
    """Nothing: there are no compiled programs."""


def closure_convert(fun: Callable[..., Any], *example_args: Any) -> tuple[Any, list[Any]]:
    """A function that takes as arguments what it used from outside and is differentiated by.

    Parameters
    ----------
    fun : callable. A function, whose closure may hold arrays that a transform follows.
    *example_args: Arguments for it.

    Returns
    -------
    converted : callable. Takes the arguments of `fun`, and then the arrays.
    consts : list of Array. The arrays.
    """
    check_callable(fun)
    found: list[Any] = []
    _collect(fun, found)

    def converted(*args: Any) -> Any:
        count = len(args) - len(found)
        new = {id(old): value for old, value in zip(found, args[count:], strict=True)}
        return _replaced(fun, new)(*args[:count])

    return converted, list(found)


def _collect(value: Any, found: list[Any]) -> None:
    """Add the arrays that a transform follows and that `value` holds."""
    for leaf in tree_leaves(value):
        if isinstance(leaf, Array):
            if is_traced(leaf) and all(leaf is not other for other in found):
                found.append(leaf)
        elif isinstance(leaf, functools.partial):
            _collect((leaf.func, leaf.args, leaf.keywords), found)
        elif isinstance(leaf, types.FunctionType):
            for cell in leaf.__closure__ or ():
                with contextlib.suppress(ValueError):  # a name that has no value yet
                    _collect(cell.cell_contents, found)


def _replaced(value: Any, new: dict[int, Any]) -> Any:
    """`value` with other arrays in place of some that it holds."""

    def leaf(part: Any) -> Any:
        if isinstance(part, Array):
            return new.get(id(part), part)
        if isinstance(part, functools.partial):
            func, args, kwargs = _replaced((part.func, part.args, part.keywords), new)
            return functools.partial(func, *args, **kwargs)
        if isinstance(part, types.FunctionType) and part.__closure__:
            cells = []
            for cell in part.__closure__:
                try:
                    cells.append(types.CellType(_replaced(cell.cell_contents, new)))
                except ValueError:
                    cells.append(cell)
            made = types.FunctionType(
                part.__code__, part.__globals__, part.__name__, part.__defaults__, tuple(cells)
            )
            made.__kwdefaults__ = part.__kwdefaults__
            return made
        return part

    leaves, structure = tree_flatten(value)
    return structure.unflatten([leaf(part) for part in leaves])


fill_sections(globals())
