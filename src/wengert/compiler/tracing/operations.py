"""Layer 8 · compiler: S, the namespace of traced primitives.

Every primitive runs its kernel on the real arrays of its arguments, and adds a step to the trace
(see NOTE [values of a trace]). A trace may have thousands of steps, so there is a fast path for
nearly all of them: those whose arguments are symbols of one trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from wengert.compiler.decompose.all import DECOMPOSED
from wengert.compiler.ir.executable import RAISED
from wengert.compiler.ir.facets import SIZE
from wengert.compiler.ir.programs import Step, Value, mapped
from wengert.compiler.objects.guards import UNSEEN, error_state, shows_errors
from wengert.compiler.tracing.memory import is_turned, lying
from wengert.compiler.tracing.scalar import Scalar
from wengert.compiler.tracing.sym import Sym
from wengert.interp.eager import K
from wengert.prims.namespace import Namespace
from wengert.prims.record import Primitive
from wengert.tape.modes import current_mode
from wengert.tape.views import single_step


def real(value: Any, number: Callable[[Scalar], Any] = attrgetter("number")) -> Any:
    """Return the array or number that a value stands for in this run, also within tuples."""

    def each(part: Any) -> Any:
        if isinstance(part, Sym):
            return part.array
        return number(part) if isinstance(part, Scalar) else part

    return mapped(value, each)


def run(prim: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Compute a primitive on the real arrays, and add it to the trace."""
    trace = _trace_of((*args, *params.values()))
    if trace is None and not prim.args:
        # zeros that a rule creates: a step like any other, not an array from outside
        mode = current_mode()
        trace = None if mode is None else mode.tracing
        trace = trace if trace is not None and trace.active else None
    if trace is None:
        return getattr(K, prim.name)(*map(real, args), **{n: real(p) for n, p in params.items()})
    if any(type(arg) in _NUMBERS for arg in args):
        args = _weak(args)
    return _run(prim, DECOMPOSED[prim], trace, [*map(trace.symbol, args)], params)


def _run(
    prim: Primitive, rule: Any, trace: Any, symbols: Sequence[Any], params: dict[str, Any]
) -> Any:
    """Like `run`, for symbols of one trace."""
    if rule is not None:
        made = _decomposed(prim, rule, trace, symbols, params)
        if made is not NotImplemented:
            return made
    size = SIZE[prim]
    if size == "mask":
        trace.fix_shape(prim, symbols, params)
    elif size:
        trace.give_up(f"the size of the result of {prim.name}() depends on values")
    noted = params
    for param in params.values():
        # by type(): an object may fake its `__class__`
        if type(param) not in _PLAIN and not _is_plain(param):
            noted = {n: trace.param(p) for n, p in params.items()}
            # which memory a view shows is guarded: writes and results lead back through it
            number = Scalar.exact if prim.view else attrgetter("number")
            params = {n: real(p, number) for n, p in params.items()}
            break
    if prim.name == "view":
        # only some strides permit a view
        symbols[0].look()
    if prim.view:
        # make it an array: a NumPy scalar shares no memory with results made from it
        symbols[0].placed()
    if error_state() is not UNSEEN[0] and shows_errors():
        trace.give_up("floating-point errors raise, print or call something there")
    try:
        results = getattr(K, prim.name)(*[symbol.array for symbol in symbols], **params)
    except ValueError as error:
        # mismatched shapes fail in every run; other errors depend on values
        if isinstance(error, np.linalg.LinAlgError):
            trace.give_up(f"an error that {prim.name}() raised went no further")
        raise
    except RAISED:
        trace.give_up(f"an error that {prim.name}() raised went no further")
        raise
    site = trace.where or trace.here()
    values = [symbol.value for symbol in symbols]
    if prim.outputs == 1:
        value = Value(results.dtype, results.shape)
        trace.items.append(Step(prim, values, noted, (value,), site))
        if not prim.view:
            return Sym(results, trace, value)
        return _shown(prim, symbols[0], results, value, params, None)
    arrays = tuple(results)
    outs = [Value(array.dtype, array.shape) for array in arrays]
    trace.items.append(Step(prim, values, noted, outs, site))
    pairs = zip(arrays, outs, strict=True)
    if not prim.view:
        return tuple([Sym(array, trace, value) for array, value in pairs])
    return tuple(
        [
            _shown(prim, symbols[0], array, value, params, i)
            for i, (array, value) in enumerate(pairs)
        ]
    )


def _decomposed(
    prim: Primitive, rule: Any, trace: Any, symbols: Sequence[Any], params: dict[str, Any]
) -> Any:
    """Add the steps of a primitive's rule to the trace, if it takes these arguments."""
    outside = trace.where
    if outside is None:
        # the steps of a rule have the line of the whole operation
        trace.where = trace.here()
    try:
        made = rule(S, *symbols, **params)
    except Exception:
        # steps lack the operation's name: raise the error of its own kernel
        prim.kernel(*map(real, symbols), **{n: real(p) for n, p in params.items()})
        raise
    finally:
        trace.where = outside
    if made is not NotImplemented and any(is_turned(symbol.array) for symbol in symbols):
        return _laid_out(prim, symbols, params, made)
    return made


def _laid_out(prim: Primitive, symbols: Sequence[Any], params: dict[str, Any], made: Any) -> Any:
    """Return the results of a rule in the memory layout of the kernel's results."""
    arrays = [symbol.array for symbol in symbols]
    found = getattr(K, prim.name)(*arrays, **{n: real(p) for n, p in params.items()})

    def laid_out(symbol: Any, array: Any) -> Any:
        if any(symbol is given for given in symbols):
            return symbol
        if symbol.chain:
            if symbol.array.strides == array.strides:
                return symbol
            # a rule may end with a view of what it computed
            symbol = S.clone(symbol)
        symbol.array = lying(symbol.array, array.strides)
        return symbol

    if isinstance(made, tuple):
        return tuple(map(laid_out, made, found))
    return laid_out(made, found)


def _shown(
    prim: Primitive, source: Sym, array: Any, value: Value, params: dict[str, Any], i: int | None
) -> Sym:
    """Return the symbol of a result that may be a view."""
    if not _shares(array, source.array):
        return Sym(array, source.trace, value)
    step = single_step(prim, params, i, source.shape)
    chain = (*source.chain, (step.prim, step.params))
    return Sym(array, source.trace, value, source.storage, chain)


_PLAIN = frozenset(
    {
        *(int, float, complex, bool, str, type(None)),
        *(type(np.dtype(letter)) for letter in np.typecodes["All"]),
    }
)
"""The classes of parameters that cannot contain values of a trace."""


def _is_plain(param: Any) -> bool:
    """Return whether a parameter is a tuple of plain values: a shape, dimensions."""
    return param.__class__ is tuple and _PLAIN.issuperset(map(type, param))


_NUMBERS = frozenset({int, float, complex, bool, Scalar})


def _weak(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Convert the numbers among the arguments to the dtype that promotion with arrays gives."""
    dtypes = [arg.dtype for arg in args if hasattr(arg, "dtype")]
    made = []
    for arg in args:
        if type(arg) is Scalar:
            dtype = np.result_type(0.0, *dtypes)
            made.append(arg.symbol if dtype == np.float64 else S.to_copy(arg.symbol, dtype=dtype))
        elif type(arg) in _NUMBERS:
            made.append(np.asarray(arg, np.result_type(arg, *dtypes)))
        else:
            made.append(arg)
    return tuple(made)


def _shares(array: Any, source: Any) -> bool:
    return isinstance(array, np.ndarray) and (array.size == 0 or np.may_share_memory(array, source))


def _trace_of(values: Iterable[Any]) -> Any:
    for value in values:
        if isinstance(value, Sym | Scalar):
            if value.trace.active:
                return value.trace
        elif isinstance(value, tuple | list):
            found = _trace_of(value)
            if found is not None:
                return found
    return None


def _operation(prim: Primitive) -> Callable[..., Any]:
    rule = DECOMPOSED[prim]

    def call(*args: Any, **params: Any) -> Any:
        if args and args[0].__class__ is Sym:
            trace = args[0].trace
            for arg in args:
                if arg.__class__ is not Sym or arg.trace is not trace:
                    break
            else:
                if trace.active:
                    return _run(prim, rule, trace, args, params)
        return run(prim, args, params)

    return call


S: Any = Namespace(_operation)
"""Every primitive as a function of values of a trace, usually of symbols only."""

Sym._namespace = S
