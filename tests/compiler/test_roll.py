"""Test that traced Python loops, and their backward passes, are rerolled into loops."""

import numpy as np
import pytest
from programs import Writer, agree

import wengert as wg
from wengert.compiler.ir.programs import Affine, Loop, Program, Step
from wengert.compiler.passes.looping import FEWEST, Shape
from wengert.compiler.passes.repeats import Region
from wengert.compiler.passes.roll import roll
from wengert.compiler.passes.simplify import simplify
from wengert.compiler.passes.unrolled import Unrolled
from wengert.compiler.tracing.trace import Trace
from wengert.tape.base import LEAF, new_tensor
from wengert.tape.modes import MODE, changed, current_mode

RNG = np.random.default_rng(40)


def traced(function, *arrays, grad=True):
    """What a function of tensors computes, and the gradients of all of them, as a program."""
    trace = Trace(function.__code__)
    symbols = [trace.input(np.array(array)) for array in arrays]
    tensors = [new_tensor(symbol, LEAF if grad else None) for symbol in symbols]
    before = current_mode()
    MODE.set(changed(before, tracing=trace))
    try:
        outputs = [function(*tensors)]
        if grad:
            outputs += wg.autograd.grad(outputs[0], tensors)
    finally:
        MODE.set(before)
        trace.finish()
    assert trace.broken is None
    steps = [item for item in trace.items if isinstance(item, Step)]
    program = Program([s.value for s in symbols], steps, [o._payload.value for o in outputs])
    program.check()
    return program


def loops_of(program):
    """All loops of a program, outer ones first."""
    found = []
    for step in program.steps:
        if isinstance(step, Loop):
            found += [step, *loops_of(step.body)]
    return found


def size_of(program):
    """The number of steps, those of bodies included."""
    inner = [size_of(step.body) for step in program.steps if isinstance(step, Loop)]
    return len(program.steps) + sum(inner)


def recurrence(count):
    def function(w, u, x, h):
        for i in range(count):
            h = wg.tanh(w @ h + u @ x[i])
        return (h * h).sum()

    arrays = [
        RNG.standard_normal((5, 5)) * 0.3,
        RNG.standard_normal((5, 3)),
        RNG.standard_normal((count, 3)),
        np.zeros(5),
    ]
    return function, arrays


def bodies(count):
    def function(p, v):
        for _ in range(count):
            apart = p[:, None, :] - p[None, :, :]
            square = (apart * apart).sum(-1) + 0.1
            force = -(apart / (square**1.5)[:, :, None]).sum(1)
            v = v + 0.01 * force
            p = p + 0.01 * v
        return (p * p).sum()

    return function, [RNG.standard_normal((4, 3)), RNG.standard_normal((4, 3))]


def memory(count):
    """An LSTM."""

    def function(x, w, u, b, h, c):
        loss = 0.0
        for t in range(count):
            i, f, g, o = (w @ x[t] + u @ h + b).chunk(4)
            c = wg.sigmoid(f) * c + wg.sigmoid(i) * wg.tanh(g)
            h = wg.sigmoid(o) * wg.tanh(c)
            loss = loss + (h * h).sum()
        return loss

    m = 4
    shapes = ((count, 3), (4 * m, 3), (4 * m, m), (4 * m,), (m,), (m,))
    return function, [0.5 * RNG.standard_normal(shape) for shape in shapes]


def terms(count):
    def function(x):
        total = x[0]
        for i in range(1, count):
            total = total + wg.sin(x[i]) * x[i - 1]
        return total

    return function, [RNG.standard_normal(count)]


CASES = {"recurrence": (recurrence, 75), "bodies": (bodies, 25), "memory": (memory, 20)}
CASES["terms"] = (terms, 300)


def case_of(name, more=0):
    """A program of a case, repeated a little more often, with what it is called with."""
    make, count = CASES[name]
    function, arrays = make(count + more)
    return traced(function, *arrays), arrays


@pytest.mark.parametrize("name", CASES)
def test_a_loop_and_its_backward_pass_are_rolled_and_compute_the_same(name):
    program, arrays = case_of(name)
    made = roll(simplify(program))
    agree(program, made, arrays, 1e-9)
    assert len(loops_of(made)) >= 2
    assert size_of(made) < len(program.steps) / 5


@pytest.mark.parametrize("name", CASES)
def test_the_size_of_a_rolled_program_does_not_depend_on_the_number_of_repetitions(name):
    sizes = []
    for more in (0, 30):
        sizes.append(size_of(roll(simplify(case_of(name, more)[0]))))
    assert sizes[0] == sizes[1]


def test_a_thousand_steps_of_a_recurrence_are_two_loops():
    function, arrays = recurrence(1000)
    program = traced(function, *arrays)
    made = roll(simplify(program))
    agree(program, made, arrays, 1e-8)
    assert [loop.count for loop in loops_of(made)] == [1000, 998]
    forward, backward = loops_of(made)
    assert [(start, step) for _, start, step in forward.sliced] == [(0, 1)]
    assert {step for _, _, step in backward.sliced} == {-1}


def test_a_sum_of_a_thousand_terms_is_a_loop():
    function, arrays = terms(1000)
    program = traced(function, *arrays, grad=False)
    made = roll(simplify(program))
    agree(program, made, arrays, 1e-9)
    assert len(loops_of(made)) == 1
    assert size_of(made) < 20


def test_a_program_without_repetition_comes_back_as_it_is():
    w = Writer(np.ones(3))
    x = w.inputs[0]
    for name in ("sin", "cos", "tanh", "exp", "neg", "sqrt", "log1p", "abs", "sin", "exp") * 30:
        x = getattr(w, name)(x) if len(w.steps) % 7 else w.add(x, w.inputs[0])
    program = w.program(x)
    assert roll(program, least=len(program.steps) + 1) is program
    short = Writer(np.ones(3))
    program = short.program(short.tanh(short.exp(short.inputs[0])))
    assert roll(program) is program


def test_loops_within_loops_are_rolled():
    def function(w, x):
        total = x.sum()
        for _ in range(12):
            h = x
            for _ in range(12):
                h = wg.tanh(w @ h) + x
            total = total + h.sum() * total
            x = h * 0.5
        return total

    arrays = [0.2 * RNG.standard_normal((3, 3)), RNG.standard_normal(3)]
    program = traced(function, *arrays, grad=False)
    made = roll(simplify(program), least=30)
    agree(program, made, arrays, 1e-9)
    depth = [loop for loop in loops_of(made) if loops_of(loop.body)]
    assert depth
    assert size_of(made) < 40


def test_numbers_that_change_from_repetition_to_repetition_are_read_from_a_table():
    w = Writer(np.ones(3))
    x = w.inputs[0]
    for i in range(30):
        x = w.tanh(w.add_scalar(w.mul_scalar(x, other=0.5 + 0.1 * i), other=0.25))
    program = w.program(x)
    made = roll(program, least=40)
    agree(program, made, w.arrays)
    (loop,) = loops_of(made)
    assert loop.count == 30
    assert [value.shape for value, _, _ in loop.sliced] == [(30,)]


def test_positions_that_follow_from_the_repetition_are_affine():
    w = Writer(RNG.standard_normal((3, 64)))
    x = w.inputs[0]
    total = w.sum_dim(x, dim=(1,), keepdim=False)
    for i in range(30):
        part = w.slice(x, dim=1, start=2 * i, end=2 * i + 3, step=1)
        total = w.tanh(w.add(total, w.sum_dim(part, dim=(1,), keepdim=False)))
    program = w.program(total)
    made = roll(program, least=40)
    agree(program, made, w.arrays)
    (loop,) = loops_of(made)
    (step,) = [step for step in loop.body.steps if step.prim.name == "slice"]
    assert step.params["start"] == Affine(0, 2)
    assert step.params["end"] == Affine(3, 2)


def test_values_of_all_repetitions_that_are_read_behind_the_loop_are_stacked():
    w = Writer(np.ones(3))
    x = w.inputs[0]
    found = []
    for _ in range(40):
        x = w.tanh(w.mul_scalar(w.exp(x), other=0.5))
        found.append(x)
    program = w.program(w.stack(*found, dim=0), found[7], x)
    made = roll(program, least=40)
    agree(program, made, w.arrays)
    assert size_of(made) <= 8


def test_parts_of_what_a_repetition_computes_may_be_read_behind_the_loop():
    w = Writer(np.ones((2, 3)))
    x = w.inputs[0]
    parts = []
    for _ in range(40):
        x = w.tanh(w.mul_scalar(w.exp(x), other=0.5))
        parts.append(w.select(x, dim=0, index=1))
    program = w.program(w.exp(parts[3]), w.exp(parts[30]), parts[-1])
    made = roll(program, least=40)
    agree(program, made, w.arrays)
    assert len(loops_of(made)) == 1


def test_steps_that_look_like_layers_at_the_end_of_a_program_are_no_loop():
    w = Writer(*[RNG.standard_normal(300) for _ in range(9)])
    x = w.inputs[0]
    for i in range(9):
        x = w.tanh(w.add(x, w.inputs[(i * i) % 9]))
    program = w.program(x)
    assert roll(program, least=8) is not None
    agree(program, roll(program, least=8), w.arrays)


def test_what_was_computed_two_repetitions_ago_is_carried():
    w = Writer(np.array(0.5), np.array(0.25))
    before, now = w.inputs
    for _ in range(50):
        before, now = now, w.tanh(w.add(now, w.mul_scalar(before, other=0.5)))
    program = w.program(now)
    made = roll(program, least=40)
    agree(program, made, w.arrays)
    (loop,) = loops_of(made)
    assert len(loop.carried) == 2


def test_repetitions_that_do_not_fit_stay_before_and_after_the_loop():
    w = Writer(np.ones(3))
    x = y = w.inputs[0]
    for i in range(40):
        x = w.tanh(w.add(x, y if i in (0, 1, 39) else w.inputs[0]))
        y = w.tanh(w.mul(x, w.inputs[0]))
    program = w.program(x, y)
    made = roll(program, least=40)
    agree(program, made, w.arrays)
    (loop,) = loops_of(made)
    assert 36 <= loop.count < 40


@pytest.mark.parametrize("odd", (10, 40))
def test_of_two_rows_of_repetitions_the_longer_one_is_the_loop(odd):
    w = Writer(np.ones(3), RNG.standard_normal(3))
    x = w.inputs[0]
    for i in range(50):
        x = w.tanh(w.add(x, w.inputs[int(i == odd)]))
    program = w.program(x)
    made = roll(program, least=8)
    agree(program, made, w.arrays)
    assert max(loop.count for loop in loops_of(made)) in (39, 40)


@pytest.mark.parametrize("order", (1, -1))
def test_the_input_of_a_loop_may_be_read_with_what_the_loop_stacks(order):
    w = Writer(np.ones(3), np.full(3, 0.5))
    x, total = w.inputs
    met = [x]
    for _ in range(40):
        met.append(w.tanh(w.add(met[-1], w.inputs[1])))
    for x in met[::order]:
        total = w.add(w.mul_scalar(total, other=0.5), w.exp(x))
    program = w.program(total)
    made = roll(program, least=8)
    agree(program, made, w.arrays)
    assert [loop.count for loop in loops_of(made)] == [40, 41]


def test_large_values_that_nothing_has_in_common_are_not_copied_for_a_loop():
    weights = [RNG.standard_normal((40, 40)) for _ in range(60)]
    w = Writer(np.ones(40), *weights)
    x = w.inputs[0]
    for weight in w.inputs[1:]:
        x = w.tanh(w.mv(weight, x))
    program = w.program(x)
    assert not loops_of(roll(program, least=40))


def test_steps_on_values_of_other_shapes_are_no_repetition():
    w = Writer(*[RNG.standard_normal(i + 1) for i in range(20)])
    total = None
    for x in w.inputs:
        part = w.sum_dim(w.exp(x), dim=(0,), keepdim=False)
        total = part if total is None else w.add(total, part)
    program = w.program(total)
    made = roll(program, least=8)
    assert not loops_of(made)
    agree(program, made, w.arrays)


def test_steps_that_read_more_values_each_time_are_no_repetition():
    w = Writer(*[RNG.standard_normal(2) for _ in range(20)])
    x = w.inputs[0]
    for i in range(1, 20):
        x = w.slice(w.cat(x, *w.inputs[:i], dim=0), dim=0, start=0, end=2, step=1)
    program = w.program(x)
    made = roll(program, least=8)
    assert not loops_of(made)
    agree(program, made, w.arrays)


def test_a_few_repetitions_are_no_loop():
    w = Writer(np.ones(3))
    x = w.inputs[0]
    for _ in range(FEWEST + 2):
        x = w.tanh(x)
    flat = Unrolled(w.program(x))
    assert not Shape(flat, Region(1, 1, FEWEST)).is_loop(1)
    assert Shape(flat, Region(0, 1, FEWEST + 2)).is_loop(1)
