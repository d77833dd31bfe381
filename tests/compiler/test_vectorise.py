"""Loops whose repetitions do not depend on each other become operations on whole arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from programs import Writer, agree
from test_roll_random import loops, matrix_loops

from wengert.compiler.ir.programs import Loop, Step
from wengert.compiler.passes import roll, simplify, vectorise

RNG = np.random.default_rng(60)
COUNT = 20


def loops_of(program):
    return [step for step in program.steps if isinstance(step, Loop)]


def without_loops(build, *arrays, left=0):
    """What a loop ``build(writer, *inputs)`` becomes, which must compute the same."""
    w = Writer(*arrays)
    made = build(w, *w.inputs)
    program = w.program(*(made if isinstance(made, tuple) else (made,)))
    rolled = roll(simplify(program), least=16)
    assert loops_of(rolled)
    found = vectorise(rolled)
    agree(program, found, w.arrays, 1e-9)
    assert len(loops_of(found)) == left
    return found


@settings(max_examples=50, deadline=None)
@given(loops())
def test_random_loops_compute_what_they_did(drawn):
    program, arrays = drawn
    agree(program, vectorise(roll(simplify(program), least=16)), arrays, 1e-7)


@settings(max_examples=40, deadline=None)
@given(matrix_loops())
def test_random_loops_over_matrices_compute_what_they_did(drawn):
    program, arrays = drawn
    agree(program, vectorise(roll(simplify(program), least=16)), arrays, 1e-7)


def test_a_sum_over_elements_is_a_sum_of_an_array():
    def build(w, x):
        total = w.select(x, dim=0, index=0)
        for i in range(1, COUNT):
            at = w.select(x, dim=0, index=i)
            total = w.add(total, w.mul(w.sin(at), at))
        return total

    made = without_loops(build, RNG.standard_normal(COUNT))
    assert sorted(step.prim.name for step in made.steps) == [
        *("add", "mul", "select", "sin", "slice", "sum_dim")
    ]


@pytest.mark.parametrize("step", (1, -1, 2))
def test_rows_are_read_in_the_order_of_the_loop(step):
    def build(w, x):
        rows = [w.select(x, dim=0, index=i) for i in range(2 * COUNT)[::step][:COUNT]]
        return w.stack(*[w.exp(w.neg(row)) for row in rows], dim=0)

    without_loops(build, RNG.standard_normal((2 * COUNT, 3)))


PRODUCTS = {
    "matrix": lambda w, row, m: w.mv(m, row),
    "sum": lambda w, row, m: w.sum_dim(w.mul(row, m), dim=(1,), keepdim=False),
    "part": lambda w, row, m: w.mul(w.select(w.tanh(row), dim=0, index=1), row),
    "range": lambda w, row, m: w.slice(w.exp(row), dim=0, start=1, end=3, step=1),
    "join": lambda w, row, m: w.cat(w.exp(row), w.select(m, dim=0, index=0), dim=0),
    "rows": lambda w, row, m: w.stack(w.exp(row), w.neg(row), dim=1),
    "column": lambda w, row, m: w.mul(w.view(w.exp(row), shape=(3, 1)), m),
    "turned": lambda w, row, m: w.t(w.mul(w.exp(row), m)),
    "copies": lambda w, row, m: w.sub(w.expand(w.exp(row), shape=(2, 3)), w.exp(w.exp(row))),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_operations_on_one_repetition_are_operations_on_all(name):
    def build(w, x, m):
        made = [w.tanh(PRODUCTS[name](w, w.select(x, dim=0, index=i), m)) for i in range(COUNT)]
        return w.stack(*made, dim=0), made[-1]

    without_loops(build, RNG.standard_normal((COUNT, 3)), RNG.standard_normal((3, 3)))


def test_a_recurrence_stays_a_loop():
    def build(w, x):
        h = w.select(x, dim=0, index=0)
        for i in range(COUNT):
            h = w.tanh(w.add(h, w.select(x, dim=0, index=i)))
        return h

    without_loops(build, RNG.standard_normal((COUNT, 3)), left=1)


def test_loops_over_large_values_stay():
    def build(w, x):
        made = [w.exp(w.sin(w.select(x, dim=0, index=i))) for i in range(COUNT)]
        return w.stack(*made, dim=0)

    without_loops(build, RNG.standard_normal((COUNT, 2000)), left=1)


def test_a_program_without_such_loops_comes_back_as_it_is():
    w = Writer(np.ones(3))
    program = w.program(w.exp(w.inputs[0]))
    assert vectorise(program) is program


# -- what is moved out of loops that stay ---------------------------------------------------------


def recurrence(w, x, m, u):
    h = w.select(x, dim=0, index=0)
    states = [h]
    for i in range(COUNT):
        row = w.select(x, dim=0, index=i)
        h = w.tanh(w.add(w.mv(m, h), w.mv(u, row)))
        states.append(h)
    return states


def test_products_that_nothing_carried_enters_are_computed_before_the_loop():
    def build(w, x, m, u):
        return recurrence(w, x, m, u)[-1]

    arrays = [RNG.standard_normal(shape) for shape in ((COUNT, 3), (3, 3), (3, 3))]
    made = without_loops(build, *arrays, left=1)
    (loop,) = loops_of(made)
    assert [step.prim.name for step in loop.body.steps].count("mv") == 1
    assert [step.prim.name for step in made.steps if isinstance(step, Step)].count("mm") == 1


def backward(w, x, m, u, batch):
    """The derivative of a recurrence: sums of outer products, or of products of matrices."""
    states = recurrence(w, x, m, u)
    g = states[-1]
    by_m = by_u = None
    slopes = []
    for i in reversed(range(COUNT)):
        row = w.select(x, dim=0, index=i)
        d = w.mul(g, w.exp(w.neg(states[i + 1])))
        if batch:
            pair, rows = w.stack(d, g, dim=0), w.stack(row, d, dim=0)
            term, other = w.mm(w.t(pair), rows), w.mm(w.t(rows), pair)
        else:
            column, line = w.unsqueeze(d, dim=1), w.unsqueeze(row, dim=0)
            term, other = w.mul(column, line), w.mul(w.unsqueeze(g, dim=0), column)
        by_u = term if by_u is None else w.add(by_u, term)
        by_m = other if by_m is None else w.sub(by_m, other)
        slopes.append(w.mv(w.t(u), d))
        g = w.mv(w.t(m), w.tanh(d))
    return by_m, by_u, g, w.stack(*slopes, dim=0)


@pytest.mark.parametrize("batch", (False, True))
def test_sums_of_products_are_one_product_behind_the_loop(batch):
    def build(w, x, m, u):
        return backward(w, x, m, u, batch)

    arrays = [0.5 * RNG.standard_normal(shape) for shape in ((COUNT, 3), (3, 3), (3, 3))]
    made = without_loops(build, *arrays, left=2)
    behind = loops_of(made)[1]
    assert len(behind.carried) == 1
    assert [step.prim.name for step in behind.body.steps].count("mv") == 1
    assert "add" not in [step.prim.name for step in behind.body.steps]


def test_a_loop_without_products_is_not_taken_apart():
    def build(w, x):
        h = total = w.select(x, dim=0, index=0)
        for i in range(COUNT):
            h = w.tanh(w.add(h, w.exp(w.select(x, dim=0, index=i))))
            total = w.add(total, w.mul(h, h))
        return h, total

    made = without_loops(build, RNG.standard_normal((COUNT, 3)), left=1)
    (loop,) = loops_of(made)
    assert len(loop.carried) == 2
