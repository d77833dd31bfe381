"""Test the executables of both backends against the meaning of a program."""

import sys
import threading
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from programs import Writer, programs, results

import wengert
from support.samples import samples
from wengert.compiler.backends import numpy as numpy_backend
from wengert.compiler.ir.programs import Affine, Loop, Number, Program, Step, Value
from wengert.prims.whole import TABLE

pytest.importorskip("llvmlite.binding")

from wengert.compiler.backends import llvm, parallelise
from wengert.compiler.backends.kinds import kind_of, with_values

BACKENDS = pytest.mark.parametrize("backend", [numpy_backend, llvm], ids=["numpy", "llvm"])
FLOAT = np.dtype(np.float64)
INT = np.dtype(np.int64)


def check(backend, program, arrays, tight=1e-11, fastmath=False):
    """Compare an executable's outputs with the program's meaning; the executable."""
    program.check()
    arrays = [np.array(array, order="C") for array in arrays]
    before = [array.copy() for array in arrays]
    wanted = results(program, arrays)
    executable = backend.build(program, threads=1, fastmath=fastmath)
    for _ in range(2):
        with np.errstate(all="ignore"):
            met = executable(arrays)
        assert len(met) == len(wanted)
        for x, y in zip(met, wanted, strict=True):
            assert isinstance(x, np.ndarray)
            assert (x.dtype, x.shape) == (y.dtype, y.shape)
            assert x.flags.c_contiguous and x.flags.writeable
            single = y.dtype == np.float32
            np.testing.assert_allclose(x, y, *((1e-4, 1e-5) if single else (tight, tight)))
        for k, x in enumerate(met):
            assert not any(np.may_share_memory(x, y) for y in (*met[:k], *arrays))
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)
    return executable


# -- random programs ------------------------------------------------------------------------------


@BACKENDS
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=programs(length=16))
def test_random_programs_compute_what_they_mean(backend, case):
    program, arrays = case
    check(backend, program, arrays, 1e-9)


# -- every record ---------------------------------------------------------------------------------


def drawn(prim, dtype, rng):
    """Steps on a record's samples, with their arrays."""
    try:
        found = list(samples(prim, dtype, rng))
    except (TypeError, ValueError):
        return
    for sample in found:
        try:
            made = prim.kernel(*sample.arrays, **sample.params)
        except (
            TypeError,
            ValueError,
            KeyError,
            OverflowError,
            RuntimeError,
            np.linalg.LinAlgError,
        ):
            continue
        made = made if prim.outputs != 1 else (made,)
        if not all(isinstance(array, np.ndarray | np.generic) for array in made):
            continue
        inputs = [Value(array.dtype, array.shape) for array in sample.arrays]
        outs = [Value(np.asarray(array).dtype, np.shape(array)) for array in made]
        yield Step(prim, inputs, sample.params, outs), sample.arrays


GROUPS = 24
NAMES = sorted(TABLE)


@BACKENDS
@pytest.mark.sampled(16)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_])
@pytest.mark.parametrize("group", range(GROUPS))
def test_every_record_computes_what_its_kernel_does(backend, dtype, group):
    rng = np.random.default_rng(group)
    steps, arrays = [], []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name in NAMES[group::GROUPS]:
            for step, given_ in drawn(TABLE[name], dtype, rng):
                if backend is numpy_backend or kind_of(with_values(step)) != "foreign":
                    steps.append(step)
                    arrays += given_
        inputs = [value for step in steps for value in step.args]
        outputs = [value for step in steps for value in step.outs]
        check(backend, Program(inputs, steps, outputs), arrays)


# -- outputs --------------------------------------------------------------------------------------


@BACKENDS
def test_outputs_may_be_inputs_constants_views_and_the_same_twice(backend):
    w = Writer(np.arange(6.0).reshape(2, 3))
    (x,) = w.inputs
    constant = w.value(np.arange(4.0))
    y = w.mul(x, x)
    outputs = (x, y, y, w.t(x), w.t(y), constant, constant, w.view(y, shape=(6,)), w.alias(x))
    check(backend, w.program(*outputs), w.arrays)


@BACKENDS
def test_values_without_elements_are_computed(backend):
    w = Writer(np.zeros((0, 3)), np.ones(3))
    x, y = w.inputs
    z = w.add(w.exp(x), y)
    outputs = (z, w.sum(z), w.sum_dim(z, dim=(0,), keepdim=False), w.cat(z, x, dim=0), w.prod(x))
    check(backend, w.program(*outputs), w.arrays)


@BACKENDS
def test_the_sum_of_minus_zeros_has_the_sign_that_numpy_gives_it(backend):
    w = Writer(np.full(3, -0.0), np.zeros(0))
    program = w.program(*(w.sum(x) for x in w.inputs))
    met = backend.build(program, threads=1, fastmath=False)(w.arrays)
    assert [np.signbit(x) for x in met] == [np.signbit(np.sum(x)) for x in w.arrays]


@BACKENDS
def test_long_sums_of_single_precision_are_as_accurate_as_those_of_numpy(backend):
    x = np.random.default_rng(7).random(3_000_000, np.float32)
    w = Writer(x)
    program = w.program(w.sum(w.inputs[0]), w.mul(w.inputs[0], w.inputs[0]))
    (total, _) = backend.build(program, threads=1, fastmath=False)(w.arrays)
    assert total == pytest.approx(np.sum(x, dtype=np.float64), rel=3e-7)


@BACKENDS
def test_extremes_and_comparisons_of_nan_are_those_of_numpy(backend):
    w = Writer(np.array([[1.0, np.nan, 3.0], [np.inf, -np.inf, -0.0]]))
    (x,) = w.inputs
    along = {"dim": (1,), "keepdim": False}
    check(
        backend,
        w.program(
            w.amax(x, **along),
            w.amin(x, **along),
            w.max(x),
            w.any(x, **along),
            w.all(x, **along),
            w.count_nonzero(x, dim=(1,)),
            w.maximum(x, w.flip(x, dims=(1,))),
            w.where(w.eq(x, x), x, w.zeros_like(x)),
        ),
        w.arrays,
    )


@BACKENDS
def test_integers_wrap_and_divide_as_in_numpy(backend):
    w = Writer(np.array([2**62, -(2**62), 7, -7]), np.array([3, 3, -2, -2]))
    x, y = w.inputs
    outputs = (w.add(x, x), w.mul(x, y), w.floor_divide(x, y), w.remainder(x, y), w.sum(x))
    check(backend, w.program(*outputs), w.arrays)


@BACKENDS
def test_a_number_read_off_a_value_is_a_parameter(backend):
    w = Writer(np.arange(4.0), np.array(2.5))
    x, n = w.inputs
    step = Step(TABLE["mul_scalar"], [x], {"other": Number(n)}, [Value(FLOAT, (4,))])
    program = Program(w.inputs, [step], step.outs)
    check(backend, program, w.arrays)


@BACKENDS
def test_an_index_out_of_range_raises_what_eager_code_raises(backend):
    w = Writer(np.arange(4.0), np.array([0, -4, 3]))
    x, index = w.inputs
    outs = [w.gather(w.exp(x), index, dim=0), Value(FLOAT, (3,))]
    w.steps.append(Step(TABLE["index"], [x], {"indices": (index,)}, outs[1:]))
    program = w.program(*outs)
    executable = check(backend, program, w.arrays)
    for wrong in (4, -5):
        with pytest.raises(IndexError, match="out of bounds"):
            executable([w.arrays[0], np.array([0, wrong, 1])])
    check(backend, program, w.arrays)


@BACKENDS
def test_steps_without_a_native_form_stand_between_those_with_one(backend):
    w = Writer(np.random.default_rng(0).uniform(1, 2, (4, 4)))
    (x,) = w.inputs
    y = w.exp(x)
    order = w.argsort(y, dim=1, descending=False)
    z = w.polar(y, w.gather(y, order, dim=1))
    program = w.program(w.real(z), order, w.sum(y), y)
    executable = check(backend, program, w.arrays)
    assert {"argsort", "polar", "real"} <= executable.describe().kernels.keys()


# -- outputs over inputs --------------------------------------------------------------------------


def over(w, outputs, writes):
    """What a program with `writes` returns, and whether it is the input itself."""
    program = Program(w.inputs, w.steps, outputs, writes)
    program.check()
    arrays = [array.copy() for array in w.arrays]
    wanted = results(program, arrays)
    met = llvm.build(program)(arrays)
    for x, y in zip(met, wanted, strict=True):
        np.testing.assert_allclose(x, y, 1e-12)
    return [any(x is array for array in arrays) for x in met]


def test_an_output_may_be_computed_over_an_input_that_is_read_there():
    w = Writer(np.arange(100.0).reshape(20, 5), np.ones(5))
    x, y = w.inputs
    new = w.sub(x, w.mul(x, y))
    assert over(w, [new, w.sum(new)], [(new, x)]) == [True, False]


def test_an_output_may_be_computed_over_an_input_that_was_read_before():
    w = Writer(np.arange(1.0, 101.0))
    (x,) = w.inputs
    new = w.div(w.exp(w.neg(x)), w.sum(x))
    assert over(w, [new], [(new, x)]) == [True]


@pytest.mark.parametrize(
    "how", ["elsewhere", "reshaped", "later", "as output", "in sums", "trouble"]
)
def test_an_input_that_is_still_needed_is_not_written_over(how):
    w = Writer(np.arange(1.0, 26.0).reshape(5, 5), np.ones((5, 5)), np.array([0, 3, 1]))
    x, y, index = w.inputs
    new = w.add(x, y)
    outputs = [new]
    if how == "elsewhere":
        new = outputs[0] = w.add(w.t(x), x)
    elif how == "reshaped":
        joined = w.view(w.view(x, shape=(25,)), shape=(5, 5))
        new = outputs[0] = w.add(w.t(joined), w.view(w.view(w.t(y), shape=(25,)), shape=(5, 5)))
    elif how == "later":
        outputs.append(w.mul(x, w.sum(new)))
    elif how == "as output":
        outputs.append(w.alias(x))
    elif how == "in sums":
        new = outputs[0] = w.sub(x, w.sum_dim(x, dim=(0,), keepdim=True))
        outputs.append(w.div(w.sum(new), x))
    else:
        outputs.append(w.sum(w.index_select(y, index, dim=0)))
    assert not any(over(w, outputs, [(new, x)]))


# -- loops ----------------------------------------------------------------------------------------


def recurrence(count, size=3):
    """h = tanh(W h + x[i]), from the last x to the first; the last h, all h, and sums of h."""
    body = Writer(np.zeros(size), np.zeros(size), np.zeros((size, size)))
    h, x, matrix = body.inputs
    new = body.tanh(body.add(body.mv(matrix, h), x))
    inner = body.program(new, new, body.sum(new))
    rng = np.random.default_rng(count)
    arrays = [rng.normal(size=s) for s in ((size,), (count, size), (size, size))]
    inputs = [Value(FLOAT, array.shape) for array in arrays]
    outs = [Value(FLOAT, shape) for shape in ((size,), (count, size), (count,))]
    slices = [(inputs[1], count - 1, -1)]
    return Loop(count, inner, inputs[:1], slices, inputs[2:], outs), inputs, arrays


@BACKENDS
@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("size", [3, 50])
def test_a_loop_carries_slices_and_stacks(backend, count, size):
    loop, inputs, arrays = recurrence(count, size)
    check(backend, Program(inputs, [loop], loop.outs), arrays)
    w = Writer()
    w.inputs, w.arrays = inputs, arrays
    w.steps = [loop]
    w._known.update({value: np.ones(value.shape) for value in (*inputs, *loop.outs)})
    total = w.add(w.sum(loop.outs[2]), w.sum(loop.outs[0]))
    check(backend, w.program(total, loop.outs[1]), arrays)


@BACKENDS
def test_carried_values_may_change_places(backend):
    body = Writer(np.zeros(40), np.zeros(40))
    a, b = body.inputs
    inner = body.program(b, body.add(a, b), a)
    first, second = Value(FLOAT, (40,)), Value(FLOAT, (40,))
    outs = [Value(FLOAT, shape) for shape in ((40,), (40,), (5, 40))]
    loop = Loop(5, inner, [first, second], [], [], outs)
    check(backend, Program([first, second], [loop], outs), [np.arange(40.0), np.ones(40)])


@BACKENDS
def test_parameters_of_a_body_may_count(backend):
    body = Writer(np.zeros(()), np.zeros((6, 2)))
    total, x = body.inputs
    part = Value(FLOAT, (2,))
    step = Step(TABLE["select"], [x], {"dim": 0, "index": Affine(5, -1)}, [part])
    body.steps.append(step)
    body._known[part] = np.zeros(2)
    inner = body.program(body.add(body.mul(total, body.sum(part)), body.sum(part)))
    start, rows, out = Value(FLOAT, ()), Value(FLOAT, (6, 2)), Value(FLOAT, ())
    loop = Loop(6, inner, [start], [], [rows], [out])
    program = Program([start, rows], [loop], [out])
    check(backend, program, [np.array(1.0), np.random.default_rng(0).normal(size=(6, 2))])


@BACKENDS
def test_a_loop_may_hold_loops_and_steps_without_a_native_form(backend):
    inner, inputs, arrays = recurrence(4)
    body = Writer(np.zeros(3), np.zeros((4, 3)), np.zeros((3, 3)))
    body.steps = [
        Loop(4, inner.body, body.inputs[:1], [(body.inputs[1], 3, -1)], body.inputs[2:], inner.outs)
    ]
    body._known.update({value: np.ones(value.shape) for value in inner.outs})
    order = body.argsort(inner.outs[0], dim=0, descending=True)
    program = body.program(body.gather(inner.outs[0], order, dim=0), inner.outs[2])
    outs = [Value(FLOAT, (3,)), Value(FLOAT, (2, 4))]
    loop = Loop(2, program, inputs[:1], [], inputs[1:], outs)
    check(backend, Program(inputs, [loop], outs), arrays)


# -- calls ----------------------------------------------------------------------------------------


def large(size=20_000):
    """A program with an arena: what sorts its loops apart is the sum over everything."""
    w = Writer(np.random.default_rng(1).normal(size=size))
    (x,) = w.inputs
    y = w.exp(x)
    z = w.div(y, w.sum(y))
    return w.program(z, w.sum(w.mul(z, y)))


@BACKENDS
def test_several_threads_may_run_one_executable(backend):
    program = large()
    executable = backend.build(program, threads=1, fastmath=False)
    rng = np.random.default_rng(2)
    given_ = [[rng.normal(size=20_000)] for _ in range(4)]
    wanted = [results(program, arrays) for arrays in given_]
    wrong = []

    def run(k):
        for _ in range(30):
            for x, y in zip(executable(given_[k]), wanted[k], strict=True):
                if not np.allclose(x, y, rtol=1e-10):
                    wrong.append(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_number_of_threads_changes_no_result(count):
    w = Writer(np.random.default_rng(5).normal(size=(900, 500)), np.ones(500))
    x, y = w.inputs
    z = w.exp(w.mul(w.sin(x), y))
    rows = w.sum_dim(z, dim=(1,), keepdim=True)
    index = w.value(np.arange(900)[::-1].copy())
    outputs = w.div(z, rows), w.index_select(w.cos(w.exp(x)), index, dim=0)
    program = w.program(*outputs)
    (alone,) = [llvm.build(program, threads=1)(w.arrays)]
    executable = llvm.build(program, threads=4)
    assert all(nest.parallel for nest in executable.describe().loops)
    before = wengert.get_num_threads()
    wengert.set_num_threads(count)
    try:
        shared = executable(w.arrays)
    finally:
        wengert.set_num_threads(before)
    for a, b in zip(alone, shared, strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_interrupt_of_a_shared_loop_is_raised(monkeypatch):
    w = Writer(np.random.default_rng(6).normal(size=200_000))
    executable = llvm.build(w.program(w.exp(w.sin(w.inputs[0]))), threads=2)

    def interrupted(work, size, step):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(parallelise, "share", interrupted)
        with pytest.raises(KeyboardInterrupt):
            executable(w.arrays)
    np.testing.assert_allclose(executable(w.arrays)[0], np.exp(np.sin(w.arrays[0])), 1e-13)


def test_native_code_lives_as_long_as_the_function_that_calls_it():
    program = large(100)
    call = llvm.build(program).call
    x = np.random.default_rng(3).normal(size=100)
    for y, z in zip(call(x), results(program, [x]), strict=True):
        np.testing.assert_allclose(y, z, 1e-12)


def test_calls_leave_no_references_behind():
    program = large(100)
    call = llvm.build(program).call
    x = np.zeros(100)
    call(x)
    before = sys.getrefcount(x), sys.getrefcount(np.ndarray), sys.getrefcount(x.dtype)
    for _ in range(100):
        call(x)
    after = sys.getrefcount(x), sys.getrefcount(np.ndarray), sys.getrefcount(x.dtype)
    assert max(abs(m - n) for m, n in zip(before, after, strict=True)) < 50
    assert sys.getrefcount(call(x)[0]) <= 2


def test_fastmath_computes_the_same_up_to_rounding():
    w = Writer(np.random.default_rng(4).uniform(1, 2, (30, 20)))
    (x,) = w.inputs
    program = w.program(w.sum(w.div(w.exp(x), w.sqrt(x))), w.amax(x, dim=(1,), keepdim=True))
    check(llvm, program, w.arrays, 1e-11, fastmath=True)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
def test_places_of_extremes_are_the_first_and_nan_prevails(name, dtype):
    x = np.random.default_rng(3).integers(0, 4, (4, 70)).astype(dtype)
    cases = [x]
    if x.dtype.kind == "f":
        cases.append(np.where(np.random.default_rng(4).random(x.shape) < 0.1, np.nan, x))
        cases += [np.full_like(x, end) for end in (np.nan, np.inf, -np.inf)]
    else:
        cases += [np.full_like(x, end) for end in (-128, 127)]
    for dim in (None, 0, 1):

        def places(x, dim=dim):
            return getattr(wengert, name)(x, dim) + 0

        compiled = wengert.compile(places, backend="llvm", options={"measure": False})
        for _ in range(2):
            for case in cases:
                found = compiled(wengert.tensor(case.astype(dtype)))
                np.testing.assert_array_equal(found.numpy(), places(wengert.tensor(case)).numpy())
        assert compiled.reason is None
