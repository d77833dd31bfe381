"""Programs with loops of random bodies compute the same when they are rolled."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import Writer, agree

from wengert.compiler.ir import Loop
from wengert.compiler.passes import roll, simplify

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
