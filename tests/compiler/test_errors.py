"""Test that errors of unused results are raised as in uncompiled code."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest

import wengert as wg
from support.samples import samples
from wengert.compiler.ir.programs import Step, Value
from wengert.compiler.ir.raising import is_within
from wengert.prims.record import Primitive
from wengert.prims.whole import TABLE


def remainder(x, i, m):
    wg.remainder(i, i - 1)
    return x * 2


def fmod(x, i, m):
    wg.fmod(i, i - 1)
    return x * 2


def gather(x, i, m):
    wg.gather(x, 0, i)
    return x * 2


def index(x, i, m):
    x[i]
    return x * 2


def index_select(x, i, m):
    x.index_select(0, i).exp()
    x.mul_(2)
    return x + 1


def inverse(x, i, m):
    wg.linalg.inv(m)
    return x * 2


def cholesky(x, i, m):
    wg.linalg.cholesky(m).sum()
    return x * 2


@pytest.mark.filterwarnings("ignore:.* is not compiled:UserWarning")
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_errors_that_the_function_catches(backend):
    def function(x):
        y = x * 2
        try:
            y = y * wg.fmod(wg.tensor([1, 2]), (y.sum() > 1).long())
        except RuntimeError:
            y = y * 3
        return y

    compiled = wg.compile(function, backend=backend, options={"measure": False})
    for k in (1.0, 1.0, 1.0, -1.0, 1.0, -2.0):
        x = wg.tensor([k, k])
        assert compiled(x).tolist() == function(x).tolist()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize(
    "function", [remainder, fmod, gather, index, index_select, inverse, cholesky]
)
def test_errors_of_what_nobody_reads(function, backend):
    compiled = wg.compile(function, backend=backend, options={"measure": False})
    good, bad = wg.tensor([2, 0]), wg.tensor([1, 7])
    whole, singular = wg.eye(2), wg.tensor([[1.0, 2.0], [2.0, 4.0 - 8.0 * (function is cholesky)]])
    if function is inverse:
        singular = wg.tensor([[1.0, 2.0], [2.0, 4.0]])
    for _ in range(3):
        assert compiled(wg.ones(3), good, whole).shape == (3,)
    for _ in range(2):
        x = wg.ones(3)
        with pytest.raises((RuntimeError, IndexError, ValueError, ZeroDivisionError)) as wanted:
            function(wg.ones(3), bad, singular)
        with pytest.raises(wanted.type):
            compiled(x, bad, singular)
        assert x.tolist() == [1.0] * 3
    assert compiled.reason is None


def part_of_an_index(x, i, d):
    return x[i][0]


def part_of_a_quotient(x, i, d):
    return (i // d)[0] * x


def part_of_a_remainder(x, i, d):
    return (i % d).flip(0)[1:] * x


def quotient_in_nothing(x, i, d):
    return (i // d).sum() * 0 * x


def part_of_gathered(x, i, d):
    return wg.gather(x, 0, i)[:1]


def half_that_is_not_chosen(x, i, d):
    return wg.where(wg.ones(2, dtype=wg.bool), x[:2], x[i])


def other_part_of_a_stack(x, i, d):
    return wg.stack([x[:2], x[i]])[0]


def overwritten(x, i, d):
    return x[i].zero_()


def between_writes(x, i, d):
    x.mul_(2)
    i // d
    x.add_(1)
    return x + 1


def before_a_decision(x, i, d):
    x[i]
    if x.sum() > 0:
        x.mul_(3)
    return x * 2


def taken(x, i, d):
    return wg.take(x, i)[0]


def scattered(x, i, d):
    return wg.zeros(4).scatter(0, i, x[:2])[0] * x


def embedded(x, i, d):
    return wg.nn.functional.embedding(i, x.reshape(4, 1))[0]


def one_hot(x, i, d):
    return wg.nn.functional.one_hot(i, 3)[0] * 2


def nll_loss(x, i, d):
    rows = x.reshape(1, 4).expand(2, 4)
    return wg.nn.functional.nll_loss(rows, i, reduction="none")[0]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize(
    "function",
    [
        *(part_of_an_index, part_of_a_quotient, part_of_a_remainder, quotient_in_nothing),
        *(part_of_gathered, half_that_is_not_chosen, other_part_of_a_stack, overwritten),
        *(between_writes, before_a_decision, taken, scattered, embedded, one_hot, nll_loss),
    ],
)
def test_errors_of_what_is_read_in_part(function, backend):
    compiled = wg.compile(function, backend=backend, options={"measure": False})
    for _ in range(3):
        compiled(wg.arange(4.0), wg.tensor([2, 1]), wg.tensor([1, 2]))
    mine, own = wg.arange(4.0), wg.arange(4.0)
    bad = wg.tensor([2, 9]), wg.tensor([1, 0])
    with pytest.raises((RuntimeError, IndexError)) as wanted:
        function(own, *bad)
    with pytest.raises(wanted.type) as met:
        compiled(mine, *bad)
    assert str(met.value) == str(wanted.value)
    assert mine.tolist() == own.tolist()
    assert compiled.reason is None


def test_what_a_record_does_not_say_counts_as_raising():
    bare = Primitive.__new__(Primitive)
    with pytest.raises(ValueError, match="registered twice"):
        bare.__init__("add", np.add, family="general", args=("self", "other"))
    assert bare.raises is True


EXTREMES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, 5e-324, -1.0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n, p in TABLE.items() if p.raises is False])
def test_what_is_said_to_raise_nothing(name):
    prim, rng = TABLE[name], np.random.default_rng(0)
    for sample in samples(prim, np.float64, rng):
        names = prim.args * (len(sample.arrays) if prim.variadic else 1)
        arrays = []
        for arg, array in zip(names, sample.arrays, strict=True):
            if array.dtype.kind == "f":
                array = rng.choice(EXTREMES, array.shape)
            elif array.dtype.kind in "iu" and arg not in prim.fixed:
                ends = np.iinfo(array.dtype)
                array = rng.choice(np.array([ends.min, 0, ends.max], array.dtype), array.shape)
            arrays.append(np.asarray(array))
        prim.kernel(*arrays, **sample.params)


def test_elements_that_a_search_has_found_are_left_out_where_nobody_reads_them():
    def smallest(x):
        return wg.func.jvp(lambda x: x.min(1).values, (x,), (wg.ones_like(x),))[0]

    compiled = wg.compile(smallest, options={"measure": False})
    for _ in range(3):
        compiled(wg.randn(4, 3))
    assert compiled.entries
    assert "gather" not in compiled.program


@pytest.mark.parametrize(
    ("search", "columns", "dim", "within"),
    [
        ("argmin", 3, 1, True),
        ("argmax", 4, 1, True),
        ("argmax", 2, 1, False),
        ("argmin", 3, 0, False),
        ("sign", 3, 1, False),
    ],
)
def test_indices_are_in_range_that_were_searched_for_along_no_more(search, columns, dim, within):
    kind = np.dtype(np.int64)
    searched, source = Value(kind, (2, 3)), Value(kind, (2, columns))
    index, seen, out = Value(kind, (2,)), Value(kind, (2, 1)), Value(kind, (2, 1))
    params = {"dim": 1, "keepdim": False} if search != "sign" else {}
    makers = {
        index: Step(TABLE[search], [searched], params, [index]),
        seen: Step(TABLE["view"], [index], {"shape": (2, 1)}, [seen]),
    }
    step = Step(TABLE["gather"], [source, seen], {"dim": dim}, [out])
    assert is_within(step, makers) is within
    assert not is_within(Step(TABLE["gather"], [source, out], {"dim": dim}, [seen]), makers)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_ranks_outside_of_the_range_raise_in_later_calls_too(backend):
    compiled = wg.compile(lambda x, q: x.quantile(q), backend=backend, options={"measure": False})
    x = wg.arange(3.0)
    for _ in range(3):
        assert compiled(x, wg.tensor(0.5)) == 1
        for q in (-0.1, 1.2, float("nan")):
            with pytest.raises(RuntimeError, match=r"q values must be in the range \[0, 1\]"):
                compiled(x, wg.tensor(q))
    assert compiled(x, wg.tensor(0.25)) == 0.5


def resized(x):
    x = x * 2
    return x.resize_(2, 2) + 1


@pytest.mark.parametrize("function", [resized, lambda x: (x.storage_offset(), x.is_shared())])
def test_what_cannot_be_traced_runs_as_it_is(function):
    f = wg.compile(function, backend="numpy", options={"quiet": True})
    for _ in range(2):
        assert repr(f(wg.ones(4))) == repr(function(wg.ones(4)))
    assert f.reason is not None


def test_errors_of_the_function_are_raised_after_what_it_has_done():
    lines = []

    def function(x):
        lines.append(len(lines))
        raise ValueError("always")

    f = wg.compile(function, backend="numpy", options={"quiet": True})
    for _ in range(3):
        with pytest.raises(ValueError, match="always"):
            f(wg.ones(2))
    assert lines == [0, 1, 2]


def test_errors_after_what_ends_a_trace_are_raised_at_once():
    printed = []

    class Stream:
        write = staticmethod(printed.append)

    def function(x):
        print(x.shape[0], file=Stream)
        raise ValueError("always")

    f = wg.compile(function, backend="numpy", options={"quiet": True})
    with pytest.raises(ValueError, match="always"):
        f(wg.ones(2))
    assert printed == ["2", "\n"]


def logarithm(x):
    return x.log()


@np.errstate(divide="raise")
def logarithm_that_raises(x):
    return x.log()


def counted_logarithm(x, counts=None):
    with np.errstate(divide="call", call=lambda *told: counts.append(told)):
        return x.log()


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_floating_point_errors_show_where_numpy_is_told_to_show_them(backend):
    counts = []
    raising, quiet = partial(np.errstate, divide="raise"), partial(np.errstate, divide="ignore")
    count = partial(counted_logarithm, counts=counts)
    options = {"measure": False, "quiet": True}
    fast, inside, counted = (
        wg.compile(f, backend=backend, options=options)
        for f in (logarithm, logarithm_that_raises, count)
    )
    for value in (1.0, 1.0, 0.0, 1.0, 0.0):
        x = wg.full((3,), value)
        wrong = value == 0
        for f, setting in ((fast, raising), (inside, quiet), (lambda x: wg.vmap(fast)(x), raising)):
            with setting(), pytest.raises(FloatingPointError) if wrong else nullcontext():
                f(x)
        with quiet():
            assert fast(x).tolist() == [-np.inf if wrong else 0] * 3
        counted(x)
    assert fast.reason is None and fast.entries
    assert len(counts) == 2


def test_messages_about_parameters_of_distributions_show_their_values():
    def density(scale):
        return wg.distributions.Normal(0.0, scale).log_prob(wg.tensor(1.0))

    compiled = wg.compile(density, backend="numpy", options={"measure": False, "quiet": True})
    said = []
    for function in (density, compiled):
        for scale in (1.0, -1.0):
            try:
                function(wg.tensor(scale))
            except ValueError as error:
                said.append(str(error))
    assert said[0] == said[1]
    assert "scale: -1.0" in said[0]


@pytest.mark.parametrize("fullgraph", [False, True])
def test_errors_have_the_context_and_the_cause_that_they_have_uncompiled(fullgraph):
    def plain(x):
        raise ValueError(float(x.sum()))

    def chained(x):
        try:
            raise KeyError("first")
        except KeyError as error:
            raise ValueError("second") from error

    def sometimes(x):
        if x.sum() > 1:
            raise ValueError("large")
        return x

    for function in (plain, chained, sometimes):
        options = {"measure": False, "quiet": True}
        compiled = wg.compile(function, backend="numpy", fullgraph=fullgraph, options=options)
        for value in (0.0, 0.0, 5.0, 5.0):
            shown = []
            for f in (function, compiled):
                try:
                    f(wg.tensor([value]))
                except ValueError as error:
                    about = error.__cause__, error.__context__, error.__suppress_context__
                    shown.append([repr(part) for part in about])
                else:
                    shown.append([])
            assert shown[0] == shown[1]
