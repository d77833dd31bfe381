"""Layer 9 · compat: `make_jaxpr`: the operations that a function computes, written as JAX does.

It lists the operations of wengert, under its names, in the order in which the function runs on the
example: only taken branches appear, and loops are unrolled.
"""

from __future__ import annotations

import functools
import itertools
import operator
import string
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import wengert.func as func
from wengert.base.ports import PORTS
from wengert.compat.jax import tracing
from wengert.compat.jax.array import of_kind
from wengert.compat.jax.classes import is_traced
from wengert.compat.jax.closures import Apart, Closure
from wengert.compat.jax.methods import ShapedArray
from wengert.compat.jax.staging import ShapeDtypeStruct, example
from wengert.compat.jax.trees import tree_leaves, tree_map
from wengert.compat.jax.words import refusal
from wengert.interp.levels import Lifted
from wengert.prims.record import Primitive
from wengert.tape.modes import Mode
from wengert.utils.dispatch import Dispatch, operation_name

_SHORT = {"f": "f", "c": "c", "i": "i", "u": "u"}
_UNSEEN = frozenset({"alias", "clone"})
"""Operations that return the same values."""


def _names() -> Iterator[str]:
    for length in itertools.count(1):
        for letters in itertools.product(string.ascii_lowercase, repeat=length):
            yield "".join(letters)


def _typed(payload) -> str:
    dtype = payload.dtype
    kind = _SHORT.get(dtype.kind)
    short = dtype.name if kind is None else f"{kind}{8 * dtype.itemsize}"
    return f"{short}[{','.join(map(str, payload.shape))}]"


class _Writer(Dispatch):
    """Writes down the operations of a computation and their operands."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: list[str] = []
        self.values: list[Any] = []
        self._names = _names()
        self._known: dict[int, str] = {}
        self._kept: list[Any] = []  # keeps the ids of these payloads unique
        self._outside: frozenset[Any] = frozenset()

    def __enter__(self) -> _Writer:
        self._outside = frozenset(PORTS.levels())
        super().__enter__()
        return self

    def name(self, payload) -> str:
        """Return a name for a new value, with its type."""
        name = self._known[id(payload)] = next(self._names)
        self._kept.append(payload)
        return f"{name}:{_typed(payload)}"

    def read(self, payload) -> str:
        """Return the name of an operand."""
        known = self._known.get(id(payload))
        if known is not None:
            return known
        if not payload.ndim and isinstance(payload, np.ndarray | np.generic):
            return f"{payload.item()!r}:{_typed(payload)}"
        if isinstance(payload, Lifted) and payload.owner not in self._outside:
            # a transform inside the function made it: what it is made of may come from outside
            first, *_ = [self.read(one) for one in payload.contents()]
            return first
        self.constants.append(self.name(payload))
        self.values.append(payload)
        return self._known[id(payload)]

    def run(self, mode: Mode, prim: Primitive, tensors: list[Any], params, outs) -> Any:
        operands = [self.read(tensor._payload) for tensor in tensors]
        result = self.compute(mode, prim, tensors, params, outs)
        results = result if isinstance(result, tuple) else (result,)
        if prim.name in _UNSEEN and len(operands) == 1:
            self._known[id(results[0]._array())] = operands[0]
            self._kept.append(results[0]._payload)
            return result
        shown = []
        for key, value in params.items():
            if prim.name.endswith("_scalar") and isinstance(value, bool | int | float | complex):
                operands.append(repr(value))
            else:
                shown.append(f"{key}={_brief(value)}")
        options = f"[{' '.join(shown)}]" if shown else ""
        given = " ".join(self.name(out._array()) for out in results)
        self.lines.append(
            f"{given} = {operation_name(prim)}{options} {' '.join(operands)}".rstrip()
        )
        return result


def _brief(value) -> str:
    text = (tracing.name_of(value) if callable(value) else repr(value)).replace("\n", "")
    return text if len(text) <= 40 else f"{text[:37]}..."


class Listing(Apart):
    """The operations of a function, printed like JAX's jaxprs.

    Attributes
    ----------
    in_avals, out_avals: The shapes and dtypes of the arguments and results.
    consts: The arrays that the function closes over, each as often as it is there.
    """

    def __init__(
        self,
        write: Callable[[], tuple[list[str], list[str], _Writer]],
        in_avals: list[ShapedArray],
        out_avals: list[ShapedArray],
        closure: Closure,
        again: Callable[..., Any],
    ) -> None:
        self.in_avals, self.out_avals = in_avals, out_avals
        self.consts: list[Any] = [*closure.leaves, *closure.hidden()]
        self._closure, self._again, self._write = closure, again, write

    @functools.cached_property
    def _written(self) -> tuple[list[str], list[str], _Writer]:
        return self._write()

    @property
    def eqns(self) -> list[str]:
        """The operations, as strings; the function is called again to write them."""
        return list(self._written[2].lines)

    @property
    def jaxpr(self) -> Listing:
        """The listing itself."""
        return self

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"a jaxpr has no attribute {name!r}: nothing is traced, and its operations are text"
        )

    def run(self, consts: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
        """Return the leaves of the function's result for other constants and arguments."""
        pairs = list(zip(self.consts, consts, strict=True))
        count = len(self._closure.leaves)
        if not all(old is new or _is_same(old, new) for old, new in pairs[count:]):
            raise refusal(NotImplementedError, "other constants")
        return tree_leaves(self._again([new for _, new in pairs[:count]], leaves))

    def __repr__(self) -> str:
        inputs, outputs, writer = self._written
        head = f"{{ lambda {' '.join(writer.constants)}; {' '.join(inputs)}. let"
        ending = f"in ({', '.join(outputs)}{',' if len(outputs) == 1 else ''})"
        line = f"{head} {'; '.join(self.eqns)} {ending} }}"
        if len(line) <= 80:
            return line
        return "\n".join([head, *(f"    {line}" for line in self.eqns), f"  {ending} }}"])


def _is_same(old, new) -> bool:
    """Return whether an array without derivatives has the same values as another."""
    array = tracing.argument(new)
    known = not is_traced(old) and not is_traced(array)
    return known and np.array_equal(old, array, equal_nan=True)


ClosedJaxpr = Jaxpr = Listing


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env=None,
    return_shape=False,
    **options,
) -> Callable[..., Any]:
    """Return a function that lists the operations of `fun`.

    It lists the operations of wengert, under its names, as they run on these arguments: nothing is
    traced.

    Parameters
    ----------
    %(pytree_function)s
    static_argnums : int or sequence of int. Arguments that are passed on unchanged.
    return_shape : bool. Whether to return the shapes and dtypes of the result, too.

    Examples
    --------
    >>> jax.make_jaxpr(lambda x: jax.numpy.sin(x) * 2.0)(1.0)
    { lambda ; a:f32[]. let b:f32[] = sin a; c:f32[] = mul b 2.0 in (c,) }
    """
    tracing.check_callable(fun)
    statics = {static_argnums} if isinstance(static_argnums, int) else set(static_argnums)

    @tracing.wraps(fun)
    def listed(*args, **kwargs) -> Any:
        moving = [i for i in range(len(args)) if i not in statics]
        whole = [fun, *(args[i] for i in range(len(args)) if i in statics)]
        closure = Closure(whole, bound=False)
        leaves = tracing.Leaves(tree_map(_example, [*(args[i] for i in moving), kwargs]))
        results = tracing.Results()

        def with_fixed(fixed: list[Any], values: list[Any]) -> list[Any]:
            given = iter(fixed), iter(values)
            return [next(given[i not in statics]) for i in range(len(args))]

        def write() -> tuple[list[str], list[str], _Writer]:
            writer, texts = _Writer(), list[list[str]]()

            def call(*tensors) -> Any:
                *values, named = leaves.with_tensors(tensors)
                arrays = list(leaves.arrays)
                for place, tensor in zip(leaves.places, tensors, strict=True):
                    arrays[place] = tensor
                # of other arrays, so that derivatives are computed here
                same = {id(x): of_kind(x, x.__class__) for x in closure.leaves}
                fresh, *fixed = closure.rebuilt([same[id(x)] for x in closure.leaves])
                given = with_fixed(fixed, values)
                texts.append([writer.name(x._array()) for x in arrays])
                taken = tracing.Results()
                with writer:
                    output = tracing.staged(fresh)(*given, **named)
                outputs, others = taken.take(output, "Output")
                texts.append([writer.read(x._payload) for x in taken.leaves])
                return [*outputs, *others]

            if leaves.tensors:
                func.vjp(call, *leaves.tensors)  # so that inner gradients are listed, too
            else:
                call()
            return texts[0], texts[1], writer

        def again(consts: Sequence[Any], flat: Sequence[Any]) -> Any:
            *values, named = leaves.structure.unflatten(flat)
            same = all(map(operator.is_, consts, closure.leaves))
            function, *fixed = whole if same else closure.rebuilt(consts)
            return function(*with_fixed(fixed, values), **named)

        *values, named = leaves.structure.unflatten(leaves.arrays)
        results.take(tracing.staged(fun)(*with_fixed(whole[1:], values), **named), "Output")
        avals = [x.aval for x in results.leaves]
        listing = Listing(write, [x.aval for x in leaves.arrays], avals, closure, again)
        if not return_shape:
            return listing
        shapes = [ShapeDtypeStruct(x.shape, x.dtype, weak_type=x.weak_type) for x in avals]
        return listing, results.structure.unflatten(shapes)

    listed.__name__ = f"make_jaxpr({tracing.name_of(fun)})"
    listed.__module__ = "jax"
    return listed


def _example(leaf) -> Any:
    return example(leaf) if isinstance(leaf, ShapeDtypeStruct) else leaf
