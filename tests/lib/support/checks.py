"""Checks of one record that must hold for every operation of the table.

Each check takes a record and raises if it finds an error; `CHECKS` names them all. The tests run
every check on every record, and authors of records can do so, too::

    from support.checks import check_record
    check_record("sin")
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from support.samples import Sample, differentiable_args, draw, samples, supports
from wengert.autograd.forward_ad import dual_level, make_dual, unpack_dual
from wengert.autograd.gradcheck import gradcheck, gradgradcheck
from wengert.prims.record import TABLE, Primitive
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, OutputEdge, new_tensor
from wengert.tape.modes import no_grad
from wengert.tape.node import is_leaf_edge
from wengert.tape.record import T, run
from wengert.tape.rules import apply_rules

__all__ = ["BORROWING", "CHECKS", "check_record"]

Check = Callable[[Primitive], None]


def check_record(name: str) -> None:
    """Run every check on the record `name`.

    Raises
    ------
    AssertionError
        If something does not hold; the message says what, and for which sample.

    Examples
    --------
    >>> from support.checks import check_record
    >>> check_record("sin")
    """
    for check in CHECKS.values():
        check(TABLE[name])


# -- running a sample -----------------------------------------------------------------------------


def _samples(prim: Primitive, dtype: Any = np.float64) -> Iterator[Sample]:
    if supports(prim, dtype):
        yield from samples(prim, dtype, np.random.default_rng(20))


def _leaves(
    prim: Primitive, sample: Sample, arrays: list[Any] | None = None, twice: bool = False
) -> list[Any]:
    """The sample's arrays as tensors; those with a (second) derivative require a gradient."""
    traced = differentiable_args(prim, sample.arrays, twice)
    arrays = sample.arrays if arrays is None else arrays
    return [new_tensor(a, LEAF if i in traced else None) for i, a in enumerate(arrays)]


def _outputs(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]


def _traced(outputs: list[Any]) -> list[Any]:
    # a view made while nothing is recorded may require a gradient, and has no history
    return [out for out in outputs if not is_leaf_edge(out._edge)]


def _cotangents(outputs: list[Any]) -> list[Any]:
    rng = np.random.default_rng(21)
    return [new_tensor(draw("real", o._payload.shape, o._payload.dtype, rng)) for o in outputs]


def _gradients(leaves: list[Any], outputs: list[Any], graph: bool = False) -> list[Any]:
    """The gradients of `leaves` for random weights of `outputs`: payloads, None where unused."""
    inputs = [leaf for leaf in leaves if leaf._edge is not None]
    grads = run_grad(outputs, inputs, _cotangents(outputs), True, graph)
    return [None if g is None else g._payload for g in grads]


def _same(a: list[Any], b: list[Any], what: str, exact: bool = True) -> None:
    assert len(a) == len(b), f"{what}: {len(a)} values against {len(b)}"
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        assert (x is None) == (y is None), f"{what}, value {i}: {x} against {y}"
        if x is None:
            continue
        where = f"{what}, value {i}"
        assert x.shape == y.shape, f"{where}: shape {x.shape} against {y.shape}"
        assert x.dtype == y.dtype, f"{where}: dtype {x.dtype} against {y.dtype}"
        if exact or x.dtype.kind not in "fc":
            np.testing.assert_array_equal(x, y, where)
        else:
            tight = 50 * np.finfo(x.dtype).eps
            np.testing.assert_allclose(x, y, tight, tight, err_msg=where)


def _payloads(tensors: list[Any]) -> list[Any]:
    return [tensor._payload for tensor in tensors]


# -- derivatives ----------------------------------------------------------------------------------


def _function(prim: Primitive, sample: Sample, twice: bool) -> tuple[Any, list[Any]]:
    """The primitive as a function of those arguments that have a derivative, and these."""
    tensors = _leaves(prim, sample, twice=twice)
    traced = differentiable_args(prim, sample.arrays, twice)

    def function(*values: Any) -> Any:
        arguments = list(tensors)
        for i, value in zip(traced, values, strict=True):
            arguments[i] = value
        return run(prim, arguments, sample.params)

    return function, [tensors[i] for i in traced]


def _derivatives(prim: Primitive, dtype: Any, check: Callable[..., bool]) -> None:
    if not prim.is_differentiable:
        return
    for sample in _samples(prim, dtype):
        function, inputs = _function(prim, sample, check is not gradcheck)
        if not inputs:
            continue
        try:
            check(function, tuple(inputs))
        except RuntimeError as error:
            raise AssertionError(f"{prim.name} {sample!r}: {error}") from error


def first_order(prim: Primitive) -> None:
    """The rules against finite differences, in float64."""
    _derivatives(prim, np.float64, gradcheck)


def second_order(prim: Primitive) -> None:
    """The rules applied to recording tensors, against finite differences, in float64."""
    _derivatives(prim, np.float64, gradgradcheck)


def complex_first_order(prim: Primitive) -> None:
    """The rules against finite differences in both directions of the complex plane."""
    _derivatives(prim, np.complex128, gradcheck)


def complex_second_order(prim: Primitive) -> None:
    """The rules applied to recording tensors, with complex values."""
    _derivatives(prim, np.complex128, gradgradcheck)


def forward_over_reverse(prim: Primitive) -> None:
    """The tangents of gradients, where everything has one, against second reverse derivatives."""
    if not prim.is_differentiable:
        return
    for dtype in (np.float64, np.complex128):
        for sample in _samples(prim, dtype):
            function, inputs = _function(prim, sample, True)
            if inputs:
                _tangents_of_gradients(function, inputs, f"{prim.name} {sample!r}")


def _tangents_of_gradients(function: Any, inputs: list[Any], what: str) -> None:
    rng = np.random.default_rng(22)

    def drawn(tensors: list[Any], edge: Any = None) -> list[Any]:
        return [
            new_tensor(draw("real", t._payload.shape, t._payload.dtype, rng), edge) for t in tensors
        ]

    outputs = [out for out in _outputs(function(*inputs)) if out._edge is not None]
    outputs = _traced(outputs)
    if not outputs:
        return
    seeds = drawn(outputs, LEAF)
    plain = run_grad(outputs, inputs, seeds, True, True)
    there = [i for i, grad in enumerate(plain) if grad is not None]
    weights = drawn([plain[i] for i in there])
    points, directions = [*inputs, *seeds], drawn([*inputs, *seeds])
    traced = [(plain[i], w) for i, w in zip(there, weights, strict=True) if plain[i]._edge]
    slopes: list[Any] = [None] * len(points)
    if traced:
        slopes = run_grad([g for g, _ in traced], points, [w for _, w in traced], True, False)
    expected = sum(_inner(s, d) for s, d in zip(slopes, directions, strict=True) if s is not None)
    size = sum(
        _inner(T.abs(s), T.abs(d)) for s, d in zip(slopes, directions, strict=True) if s is not None
    )
    with dual_level():
        duals = [make_dual(t, d) for t, d in zip(points, directions, strict=True)]
        count = len(inputs)
        outputs = [out for out in _outputs(function(*duals[:count])) if out._edge is not None]
        found = run_grad(_traced(outputs), inputs, duals[count:], False, False)
        pairs: list[Any] = [None if g is None else unpack_dual(g) for g in found]
    _same(
        [None if p is None else p.primal._payload for p in pairs],
        [None if g is None else g._payload for g in plain],
        what,
        exact=False,
    )
    total = sum(
        _inner(w, pairs[i].tangent)
        for i, w in zip(there, weights, strict=True)
        if pairs[i].tangent is not None
    )
    assert np.allclose(total, expected, 1e-7, 1e-9 * (1 + size), equal_nan=True), (
        f"{what}: the gradients' tangents give {total}, second derivatives {expected}"
    )


def _inner(a: Any, b: Any) -> Any:
    return np.vdot(a._payload, b._payload).real


def complex_step(prim: Primitive) -> None:
    """The rules against the derivative along an imaginary step, which is exact.

    It applies to operations that are holomorphic, which are those whose rules leave conjugation to
    the engine.
    """
    if not prim.is_differentiable or prim.conj != "engine" or not supports(prim, np.complex128):
        return
    step = 1e-30
    for sample in _samples(prim):
        leaves = _leaves(prim, sample)
        traced = differentiable_args(prim, sample.arrays)
        outputs = _traced(_outputs(run(prim, leaves, sample.params)))
        if not outputs or any(out._payload.dtype.kind == "c" for out in outputs):
            continue
        rng = np.random.default_rng(22)
        arrays: list[Any] = list(sample.arrays)
        directions = {i: rng.standard_normal(arrays[i].shape) for i in traced}
        for i, u in directions.items():
            arrays[i] = np.asarray(arrays[i] + 1j * step * u)
        shifted = _outputs(prim.kernel(*arrays, **sample.params))
        if shifted[0].dtype.kind != "c":
            continue
        moved = sum(
            np.sum(weight._payload * np.imag(after)) / step
            for weight, after in zip(_cotangents(outputs), shifted, strict=False)
        )
        pulled = sum(
            np.sum(g * directions[i])
            for i, g in zip(traced, _gradients(leaves, outputs), strict=True)
            if g is not None
        )
        np.testing.assert_allclose(pulled, moved, 1e-10, 1e-12, err_msg=f"{prim.name} {sample!r}")


# -- one rule, several ways to run it -------------------------------------------------------------


def raw_as_recorded(prim: Primitive) -> None:
    """Backward on raw arrays gives what backward on recording tensors gives."""
    for dtype in (np.float64, np.float32, np.complex128):
        for sample in _samples(prim, dtype):
            leaves = _leaves(prim, sample)
            outputs = _traced(_outputs(run(prim, leaves, sample.params)))
            if outputs:
                raw, recorded = _gradients(leaves, outputs), _gradients(leaves, outputs, True)
                _same(raw, recorded, f"{prim.name} {sample!r}: K against T", exact=False)


def generated_as_general(prim: Primitive) -> None:
    """The recorder and `apply` written out for the record do what the general path does."""
    for dtype in (np.float64, np.float32, np.complex128):
        for sample in _samples(prim, dtype):
            leaves = _leaves(prim, sample)
            general = _outputs(run(prim, leaves, sample.params))
            quick = _outputs(getattr(T, prim.name)(*leaves, **sample.params))
            what = f"{prim.name} {sample!r}: generated against general"
            _same(_payloads(quick), _payloads(general), what, exact=False)
            for a, b in zip(quick, general, strict=True):
                assert type(a._edge) is type(b._edge), f"{what}: {a._edge} against {b._edge}"
            traced = _traced(quick)
            if not traced:
                continue
            node, other = _node(traced[0]), _node(_traced(general)[0])
            assert node.name() == other.name() == prim.node, what
            assert node.next_functions == other.next_functions, what
            kept = _cotangents(traced)
            raw: Any = tuple(t._payload for t in kept) if node.several else kept[0]._payload
            by_general = apply_rules(other, raw, True, other.edges)
            by_quick = node.apply(raw, True, node.edges)
            _same(list(by_quick), list(by_general), what, exact=False)
            with no_grad():
                silent = _outputs(getattr(T, prim.name)(*leaves, **sample.params))
            assert not _traced(silent), f"{what}: recorded under no_grad"
            _same(_payloads(silent), _payloads(quick), what)


def _node(tensor: Any) -> Any:
    return tensor._edge.node if isinstance(tensor._edge, OutputEdge) else tensor._edge


def partial_needs(prim: Primitive) -> None:
    """An argument's gradient does not depend on whether the others ask for theirs."""
    for sample in _samples(prim):
        leaves = _leaves(prim, sample)
        outputs = _traced(_outputs(run(prim, leaves, sample.params)))
        traced = differentiable_args(prim, sample.arrays)
        if not outputs or len(traced) < 2:
            continue
        together = _gradients(leaves, outputs)
        for i, expected in zip(traced, together, strict=True):
            alone = [new_tensor(a, LEAF if j == i else None) for j, a in enumerate(sample.arrays)]
            results = _traced(_outputs(getattr(T, prim.name)(*alone, **sample.params)))
            what = f"{prim.name} {sample!r}: the gradient of argument {i} alone"
            _same(_gradients(alone, results), [expected], what)


# -- dtypes, layouts, sizes -----------------------------------------------------------------------


def dtypes(prim: Primitive) -> None:
    """Results keep the arguments' precision; gradients have their arguments' dtype and shape."""
    for dtype in (np.float16, np.float32, np.float64, np.complex64, np.complex128):
        for sample in _samples(prim, dtype):
            leaves = _leaves(prim, sample)
            with np.errstate(all="ignore"):
                outputs = _outputs(getattr(T, prim.name)(*leaves, **sample.params))
            what = f"{prim.name} {sample!r}"
            for out in outputs:
                kind = out._payload.dtype.kind
                if kind in "fc" and prim.args and "dtype" not in sample.params:
                    precision = np.finfo(out._payload.dtype).dtype
                    # there are no complex numbers of half precision
                    wanted = np.float32 if kind == "c" and dtype == np.float16 else dtype
                    assert precision == np.finfo(wanted).dtype, f"{what}: gave {out._payload.dtype}"
            traced = _traced(outputs)
            if not traced:
                continue
            inputs = [leaf for leaf in leaves if leaf._edge is not None]
            for leaf, g in zip(inputs, _gradients(leaves, traced), strict=True):
                if g is not None:
                    met, want = (g.dtype, g.shape), (leaf._payload.dtype, leaf._payload.shape)
                    assert met == want, f"{what}: a gradient is {met}, its argument {want}"


def _layouts(array: Any) -> Iterator[tuple[str, Any]]:
    """The same values in other layouts of memory."""
    if array.ndim:
        wide = np.repeat(array, 2, axis=-1)
        yield "every second element", wide[..., ::2]
        yield "reversed", np.ascontiguousarray(array[::-1])[::-1]
        yield "column by column", np.asfortranarray(array)
    still = array.copy()
    still.flags.writeable = False
    yield "read-only", still


def layouts(prim: Primitive) -> None:
    """Strides, signs of strides and read-only memory make no difference; inputs are not changed."""
    for sample in _samples(prim):
        before = [a.copy() for a in sample.arrays]
        leaves = _leaves(prim, sample)
        outputs = _outputs(getattr(T, prim.name)(*leaves, **sample.params))
        values = [np.array(out._payload) for out in outputs]
        traced = _traced(outputs)
        grads = _gradients(leaves, traced) if traced else []
        _same(sample.arrays, before, f"{prim.name} {sample!r}: the inputs, afterwards")
        _same(_payloads(outputs), values, f"{prim.name} {sample!r}: the results, after backward")
        others = zip(*[list(_layouts(a)) for a in sample.arrays if a.ndim], strict=True)
        for variant in others:
            names, arrays = {name for name, _ in variant}, iter([a for _, a in variant])
            moved = [next(arrays) if a.ndim else a for a in sample.arrays]
            leaves = _leaves(prim, sample, moved)
            outputs = _outputs(getattr(T, prim.name)(*leaves, **sample.params))
            what = f"{prim.name} {sample!r}, {names}"
            _same([np.array(out._payload) for out in outputs], values, what, exact=False)
            traced = _traced(outputs)
            _same(_gradients(leaves, traced) if traced else [], grads, what, exact=False)


def scalars(prim: Primitive) -> None:
    """A tensor without dimensions may wrap a 0-d array or a NumPy scalar."""
    for sample in _samples(prim):
        if not sample.arrays or any(a.ndim for a in sample.arrays):
            continue
        found = []
        for arrays in (sample.arrays, [a[()] for a in sample.arrays]):
            leaves = _leaves(prim, sample, arrays)
            outputs = _outputs(getattr(T, prim.name)(*leaves, **sample.params))
            traced = _traced(outputs)
            found.append(
                [np.asarray(out._payload) for out in outputs]
                + [np.asarray(g) for g in (_gradients(leaves, traced) if traced else [])]
                + [np.asarray(g) for g in (_gradients(leaves, traced, True) if traced else [])]
            )
        _same(found[1], found[0], f"{prim.name} {sample!r}: scalar against 0-d array", exact=False)


def subgradients(prim: Primitive) -> None:
    """Where an operation has a kink or a jump, its derivative is a number."""
    special = {"nonzero": 0.0, "fractional": 1.0}
    if not prim.is_differentiable or not isinstance(prim.domain, str):
        return
    point = special.get(prim.domain)
    for sample in _samples(prim) if point is not None else ():
        arrays = [np.full_like(a, point) if a.dtype.kind == "f" else a for a in sample.arrays]
        leaves = _leaves(prim, sample, arrays)
        outputs = _traced(_outputs(getattr(T, prim.name)(*leaves, **sample.params)))
        for g in _gradients(leaves, outputs) if outputs else []:
            assert g is None or np.isfinite(g).all(), f"{prim.name} at {point}: derivative {g}"


def _check_shown(node: Any) -> None:
    for name in dir(node):
        if name.startswith(("_saved_", "_raw_saved_")):
            getattr(node, name)


def saved_names(prim: Primitive) -> None:
    """What a node saved shows as ``_saved_<name>`` and is gone after a backward that frees it.

    What was not needed for the arguments that require a gradient shows as None.
    """
    if prim.variadic:
        return
    for sample in _samples(prim):
        for i in differentiable_args(prim, sample.arrays):
            alone = [new_tensor(a, LEAF if k == i else None) for k, a in enumerate(sample.arrays)]
            for out in _traced(_outputs(getattr(T, prim.name)(*alone, **sample.params))):
                _check_shown(_node(out))
        leaves = _leaves(prim, sample)
        traced = _traced(_outputs(getattr(T, prim.name)(*leaves, **sample.params)))
        if not traced:
            continue
        node = _node(traced[0])
        for name in prim.saved:
            if name in prim.shows or name in prim.shows.values():
                continue
            if name in prim.args or name == "result" or name in prim.params:
                shown = getattr(node, f"_saved_{name}")
                if name in prim.params:
                    expected = copy.copy(sample.params[name])
                    assert type(shown) is type(expected), f"{prim.name}._saved_{name}: {shown}"
        grads = _cotangents(traced)
        inputs = [leaf for leaf in leaves if leaf._edge is not None]
        run_grad(traced, inputs, grads, False, False)
        if any(name in prim.args or name == "result" for name in prim.saved):
            try:
                run_grad(traced, inputs, grads, False, False)
            except RuntimeError as error:
                assert str(error).startswith("Trying to backward through the graph a second time")
            else:
                raise AssertionError(f"{prim.name}: a second backward found what it should not")
        return


def has_cases(prim: Primitive) -> None:
    """A record says how to sample it; float64 or complex128 samples run."""
    assert prim.cases, f"{prim.name} has no cases: add case(...) to its record"
    assert prim.doc, f"{prim.name} has no doc: say in one line what it computes"
    for sample in samples(prim, np.float64, np.random.default_rng(0)):
        assert prim.variadic or len(sample.arrays) == len(prim.args), f"{prim.name}: {sample!r}"
        assert set(sample.params) == set(prim.params), f"{prim.name}: {sample!r} lacks parameters"
    if "f" not in prim.refuses:
        assert supports(prim, np.float64) or supports(prim, np.complex128), f"{prim.name}: none run"


BORROWING = frozenset(
    {
        *("constant_in", "corner_backward", "imag", "phase_free", "real", "signal_parts"),
        *("to_device", "squeeze_dim_", "unsafe_view", "unused"),
    }
)
"""Records that are not views and may give an argument back: what rules use, ``real``, which of real
tensors is the tensor itself, and ``to_device``, of what is there already. Whoever calls one of the
others from public functions owns the memory of what it returns."""


def memory(prim: Primitive) -> None:
    """The result of what is not a view shares no memory with an argument: it can be written to."""
    if prim.view or prim.name in BORROWING:
        return
    for dtype in (np.float64, np.complex128):
        for sample in _samples(prim, dtype):
            with no_grad():
                outputs = _outputs(getattr(T, prim.name)(*_leaves(prim, sample), **sample.params))
            for out in outputs:
                for array in sample.arrays:
                    shares = np.may_share_memory(out._payload, array)
                    assert not shares or not array.size, f"{prim.name}: {sample} shares memory"


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        has_cases,
        first_order,
        second_order,
        complex_first_order,
        complex_second_order,
        forward_over_reverse,
        complex_step,
        raw_as_recorded,
        generated_as_general,
        partial_needs,
        dtypes,
        layouts,
        memory,
        scalars,
        subgradients,
        saved_names,
    )
}
"""Every check by name."""
