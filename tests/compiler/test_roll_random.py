"""Test that rerolled loops with random bodies compute the same results."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import Writer, agree

from wengert.compiler.ir.programs import Loop
from wengert.compiler.passes.roll import roll
from wengert.compiler.passes.simplify import simplify

OPERATIONS = ("add", "sub", "mul", "tanh", "mv", "t", "scale", "number", "slice")


@st.composite
def bodies(draw):
    """What a repetition does: a list of operations on the values that it has."""
    size = draw(st.integers(2, 6))
    return [
        (draw(st.sampled_from(OPERATIONS)), draw(st.integers(0, 30)), draw(st.integers(0, 30)))
        for _ in range(size)
    ]


def repetition(w, body, vectors, matrix, i, slope):
    """One repetition on vectors of three elements; gives the values that it computed."""
    known = list(vectors)
    for name, first, second in body:
        x, y = known[first % len(known)], known[second % len(known)]
        if name in ("add", "sub", "mul"):
            made = getattr(w, name)(x, y)
        elif name == "mv":
            made = w.tanh(w.mv(matrix, x))
        elif name == "t":
            made = w.tanh(w.mv(w.t(matrix), w.add(x, y)))
        elif name == "scale":
            made = w.mul_scalar(x, other=0.5)
        elif name == "number":
            made = w.mul_scalar(x, other=0.5 + 0.1 * (first + slope * i) % 1)
        elif name == "slice":
            part = w.slice(x, dim=0, start=0, end=2, step=1)
            made = w.cat(part, w.slice(y, dim=0, start=1, end=2, step=1), dim=0)
        else:
            made = w.tanh(x)
        known.append(made)
    return known[len(vectors) :]


@st.composite
def loops(draw):
    """A loop, perhaps a second one over what the first computed, backwards or forwards."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(8, 14))
    w = Writer(
        0.3 * rng.standard_normal((3, 3)), rng.standard_normal((2 * count + 1, 3)), rng.random(3)
    )
    matrix, table, state = w.inputs
    before, back = state, draw(st.integers(1, 2))
    history = [state] * back
    rows = draw(st.sampled_from((1, -1, 2)))
    body, last = draw(bodies()), []
    lists = []
    for i in range(count):
        at = i * rows if rows > 0 else count - i
        row = w.select(table, dim=0, index=at)
        values = repetition(w, body, (history[-1], history[-back], row, before), matrix, i, rows)
        history.append(w.tanh(values[-1]))
        lists.append(values)
    outputs = [history[-1]]
    if draw(st.booleans()):
        following, carry = draw(bodies()), history[-1]
        order = range(count)[:: draw(st.sampled_from((1, -1)))]
        place = draw(st.integers(0, len(body) - 1))
        for i in order:
            last = repetition(
                w, following, (carry, lists[i][place], history[i], history[i + 1]), matrix, i, 1
            )
            carry = w.tanh(last[-1])
        outputs.append(carry)
    if draw(st.booleans()):
        outputs.append(w.stack(*[values[-1] for values in lists], dim=draw(st.integers(0, 1))))
    if draw(st.booleans()):
        outputs.append(lists[draw(st.integers(0, count - 1))][0])
    return w.program(*outputs), w.arrays


MATRIX_OPERATIONS = ("mm", "row", "column", "put", "add", "table", "across", "sum", "bmm")


def changed(w, operation, known, table, columns, i):
    """What one operation of a repetition makes of the matrices that are known."""
    name, first, k = operation
    y, z = known[first % len(known)], known[-1]
    if name == "mm":
        return w.mm(y, w.t(z))
    if name == "row":
        return w.add(z, w.select(y, dim=0, index=k))
    if name == "column":
        return w.add(z, w.unsqueeze(w.select(y, dim=1, index=k), dim=1))
    if name == "put":
        return w.select_scatter(z, w.select(y, dim=0, index=first), dim=k % 2, index=k)
    if name == "table":
        return w.mul(y, w.select(w.select(table, dim=0, index=i + 1), dim=0, index=k))
    if name == "across":
        return w.add(z, w.select(columns, dim=1, index=i + k))
    if name == "sum":
        return w.sub(z, w.sum_dim(y, dim=(k % 2,), keepdim=True))
    if name == "bmm":
        pair = w.bmm(w.stack(y, z, dim=0), w.stack(z, y, dim=0))
        return w.select(pair, dim=0, index=k % 2)
    return w.add(y, z)


@st.composite
def matrix_loops(draw):
    """A loop over matrices, parts of which are read behind it, and perhaps one that goes back."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(8, 13))
    w = Writer(
        0.3 * rng.standard_normal((3, 3)),
        rng.standard_normal((count + 1, 3, 3)),
        rng.standard_normal((3, count + 2)),
    )
    start, table, columns = w.inputs
    small = st.integers(0, 2)
    operation = st.tuples(st.sampled_from(MATRIX_OPERATIONS), small, small)
    operations = draw(st.lists(operation, min_size=2, max_size=6))
    x, total, rows, lists = start, None, [], []
    for i in range(count):
        known = [x, w.select(table, dim=0, index=i), start]
        for one in operations:
            known.append(w.tanh(changed(w, one, known, table, columns, i)))
        x = known[-1]
        term = w.sum_dim(x, dim=(0, 1), keepdim=False)
        total = term if total is None else w.add(total, term)
        lists.append(known)
        rows.append(w.select(x, dim=0, index=1))
    outputs = [total, x, *rows[:: draw(st.sampled_from((1, 3)))]]
    if draw(st.booleans()):
        g, place, slopes = start, draw(st.integers(2, 3)), None
        for i in reversed(range(count)):
            before = lists[i - 1][-1] if i else start
            g = w.tanh(w.add(w.mm(g, w.t(lists[i][place])), before))
            row = w.select(g, dim=0, index=0)
            slope = w.select_backward(row, shape=(count + 1, 3), dim=0, index=i)
            slopes = slope if slopes is None else w.add(slopes, slope)
        outputs += [g, slopes]
    return w.program(*outputs), w.arrays


@settings(max_examples=40, deadline=None)
@given(matrix_loops())
def test_rolled_loops_over_matrices_compute_what_they_did(drawn):
    program, arrays = drawn
    agree(program, roll(program, least=16), arrays, 1e-7)
    agree(program, roll(simplify(program), least=16), arrays, 1e-7)


@settings(max_examples=60, deadline=None)
@given(loops())
def test_rolled_programs_compute_what_they_did(drawn):
    program, arrays = drawn
    agree(program, roll(program, least=16), arrays, 1e-9)


@settings(max_examples=60, deadline=None)
@given(loops())
def test_simplified_and_rolled_programs_compute_what_they_did(drawn):
    program, arrays = drawn
    made = roll(simplify(program), least=16)
    agree(program, made, arrays, 1e-9)
    # and again on programs that hold loops
    agree(program, roll(simplify(made), least=16), arrays, 1e-9)


def test_random_loops_are_found():
    found = 0

    @settings(max_examples=40, deadline=None, database=None)
    @given(loops())
    def look(drawn):
        nonlocal found
        made = roll(simplify(drawn[0]), least=16)
        found += any(isinstance(step, Loop) for step in made.steps)

    look()
    assert found >= 8
