"""Test the simplification passes: what they remove, what they keep, and equal results."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from programs import Writer, agree, programs

from wengert.compiler.ir.programs import Program, Step, Value
from wengert.compiler.passes.simplify import simplify
from wengert.prims.whole import TABLE

RNG = np.random.default_rng(50)
AWKWARD = np.array([0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan, 1e300, 1e-320])


def names(program):
    return [step.prim.name for step in program.steps]


def simplified(build, *arrays):
    """What is left of ``build(writer, *inputs)``, which must compute the same."""
    w = Writer(*arrays)
    made = build(w, *w.inputs)
    program = w.program(*(made if isinstance(made, tuple) else (made,)))
    found = simplify(program)
    agree(program, found, w.arrays)
    return found


@settings(max_examples=150, deadline=None)
@given(programs())
def test_random_programs_compute_what_they_did(drawn):
    program, arrays = drawn
    made = simplify(program)
    agree(program, made, arrays, 1e-9)
    assert len(simplify(made).steps) <= len(made.steps)


@pytest.mark.parametrize(("number", "left"), [(0.0, ["strong_zero"]), (2.0, []), (math.nan, [])])
def test_only_a_cotangent_that_may_be_zero_hides_nan(number, left):
    def build(w, x):
        return w.strong_zero(x, np.full(9, number))

    assert [name for name in names(simplified(build, AWKWARD)) if name == "strong_zero"] == left


# -- what is there once ---------------------------------------------------------------------------


def test_what_nothing_depends_on_is_left_out():
    def build(w, x):
        w.sin(x)
        return w.cos(x)

    assert names(simplified(build, np.ones(3))) == ["cos"]


def test_equal_steps_are_there_once_whatever_the_order_of_their_arguments():
    def build(w, x, y):
        return w.sub(w.mul(w.exp(x), y), w.sin(w.mul(y, w.exp(x))))

    assert sorted(names(simplified(build, np.ones(3), np.ones(3)))) == ["exp", "mul", "sin", "sub"]


def test_parameters_are_compared_with_their_types_and_signs():
    def build(w, x):
        x = w.to_copy(x, dtype=np.dtype(np.int64))
        made = [w.mul_scalar(x, other=o) for o in (2, 2.0)]
        made += [w.add_scalar(x, other=o) for o in (0.0, -0.0)]
        return tuple(made)

    made = simplified(build, np.ones(3))
    assert names(made).count("mul_scalar") == 2
    assert names(made).count("add_scalar") == 2
    assert names(simplified(lambda w, x: w.add(*[w.hypot(x, math.nan)] * 2), np.ones(3))) == [
        "hypot",
        "add",
    ]


def test_what_is_known_is_computed_when_the_program_is_made():
    def build(w, x):
        return w.add(x, w.exp(w.mul(np.arange(3.0), np.array(2.0))))

    made = simplified(build, np.ones(3))
    assert names(made) == ["add"]


def test_large_constants_are_not_made_when_the_program_is():
    def build(w, x):
        return w.add(x, w.exp(w.expand(np.array(2.0), shape=(2000,))))

    made = simplified(build, np.ones(2000))
    assert names(made) == ["add_scalar"]


def test_what_raises_is_left_to_the_run():
    w = Writer(np.ones(3))
    bad = Value(np.dtype(np.float64), (2, 2))
    singular = Value(bad.dtype, bad.shape, np.zeros((2, 2)))
    step = Step(TABLE["linalg_cholesky"], (singular,), {"upper": False}, (bad,))
    made = simplify(Program(w.inputs, [step], [bad]))
    assert names(made) == ["linalg_cholesky"]


# -- arithmetic -----------------------------------------------------------------------------------

NOTHING_LEFT = {
    "copies": lambda w, x: w.contiguous(w.alias(w.clone(x))),
    "cast to its own dtype": lambda w, x: w.to_copy(x, dtype=np.dtype(np.float64)),
    "views": lambda w, x: w.view(w.unsqueeze(w.view(x, shape=(3, 3)), dim=0), shape=(9,)),
    "choice of one": lambda w, x: w.where(w.gt(x, 0.0), x, x),
    "choice that is known": lambda w, x: w.where(np.ones(9, bool), x, w.neg(x)),
    "nothing subtracted": lambda w, x: w.sub(x, w.zeros(shape=(9,), dtype=x.dtype)),
    "all parts": lambda w, x: w.stack(*[w.select(x, dim=0, index=i) for i in range(9)], dim=0),
}


@pytest.mark.parametrize("name", NOTHING_LEFT)
def test_identities_leave_nothing(name):
    made = simplified(NOTHING_LEFT[name], np.where(np.isnan(AWKWARD), 2.0, AWKWARD))
    assert names(made) == []
    assert made.outputs == made.inputs


LEFT = {
    "times 0": (lambda w, x: w.mul_scalar(x, other=0.0), ["mul_scalar"]),
    "plus 0": (lambda w, x: w.add_scalar(x, other=0.0), ["add_scalar"]),
    "from itself": (lambda w, x: w.sub(x, x), ["sub"]),
    "by itself": (lambda w, x: w.div(x, x), ["div"]),
    "whether it is a number": (lambda w, x: w.eq(x, x), ["eq"]),
    "over 3": (lambda w, x: w.div_scalar(x, other=3.0), ["div_scalar"]),
    "power 1.5": (lambda w, x: w.pow_scalar(x, exponent=1.5), ["pow_scalar"]),
    "times 2 times 3": (
        lambda w, x: w.mul_scalar(w.mul_scalar(x, other=0.1), other=0.3),
        ["mul_scalar", "mul_scalar"],
    ),
    "to integers and back": (
        lambda w, x: w.to_copy(
            w.to_copy(w.where(w.isfinite(x), x, np.array(1.0)), dtype=np.dtype(np.float32)),
            dtype=np.dtype(np.float64),
        ),
        ["isfinite", "where", "to_copy", "to_copy"],
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_holds_for_most_numbers_only_is_left_alone(name):
    build, left = LEFT[name]
    assert names(simplified(build, AWKWARD)) == left


# -- shapes, sums, products -----------------------------------------------------------------------

X = RNG.standard_normal((3, 4))
MOVED = {
    "two transposes": (lambda w, x: w.exp(w.t(w.t(x))), ["exp"]),
    "two permutations": (
        lambda w, x: w.permute(
            w.permute(w.view(x, shape=(3, 2, 2)), dims=(2, 0, 1)), dims=(0, 2, 1)
        ),
        ["view", "permute"],
    ),
    "sum of a transpose": (lambda w, x: w.sum_dim(w.t(x), dim=(0,), keepdim=False), ["sum_dim"]),
    "sum of all": (
        lambda w, x: w.sum_dim(w.view(x, shape=(2, 6)), dim=(0, 1), keepdim=False),
        ["sum_dim"],
    ),
    "sum along a dimension of size 1 before copies": (
        lambda w, x: w.sum_dim(
            w.expand(w.slice(x, dim=0, start=0, end=1, step=1), shape=(1, 5, 4)),
            dim=(0, 2),
            keepdim=False,
        ),
        ["slice", "sum_dim", "expand"],
    ),
    "sum along a dimension of size 1 of copies, and another": (
        lambda w, x: w.sum_dim(
            w.expand(w.view(x, shape=(3, 1, 4)), shape=(1, 3, 5, 4)), dim=(0, 1), keepdim=False
        ),
        ["sum_dim", "expand"],
    ),
    "sum of copies": (
        lambda w, x: w.sum_dim(w.expand(x, shape=(5, 3, 4)), dim=(0,), keepdim=False),
        ["add_scalar", "mul_scalar"],
    ),
    "copies are made last": (
        lambda w, x: w.exp(w.neg(w.expand(w.view(x, shape=(3, 1, 4)), shape=(3, 2, 4)))),
        ["view", "neg", "exp", "expand"],
    ),
    "no copies beside what is larger": (
        lambda w, x: w.mul(w.expand(w.slice(x, dim=0, start=0, end=1, step=1), shape=(3, 4)), x),
        ["slice", "mul"],
    ),
    "transposes of a product": (lambda w, x: w.mm(w.t(x), w.t(w.t(x))), ["permute", "mm"]),
    "product of a column and a row": (
        lambda w, x: w.mm(
            w.slice(x, dim=1, start=0, end=1, step=1), w.slice(x, dim=0, start=0, end=1, step=1)
        ),
        ["slice", "slice", "mul", "add_scalar"],
    ),
    "product with a column": (
        lambda w, x: w.mm(x, w.view(w.slice(x, dim=0, start=1, end=2, step=1), shape=(4, 1))),
        ["slice", "view", "mv", "view"],
    ),
    "part of a stack": (
        lambda w, x: w.select(w.stack(x, w.exp(x), dim=0), dim=0, index=1),
        ["exp"],
    ),
    "part of a join": (
        lambda w, x: w.slice(w.cat(x, w.exp(x), dim=1), dim=1, start=5, end=7, step=1),
        ["exp", "slice"],
    ),
    "part of a part": (
        lambda w, x: w.select(w.slice(x, dim=1, start=1, end=4, step=2), dim=1, index=1),
        ["select"],
    ),
    "part of copies of a copy": (
        lambda w, x: w.expand(w.view(x, shape=(1, 1, 3, 4)), shape=(2, 5, 3, 4)),
        ["expand"],
    ),
    "one of the copies": (
        lambda w, x: w.exp(w.select(w.expand(x, shape=(5, 3, 4)), dim=0, index=3)),
        ["exp"],
    ),
    "a row of all copies": (
        lambda w, x: w.select(w.expand(x, shape=(5, 3, 4)), dim=1, index=2),
        ["select", "expand"],
    ),
    "rows of all copies": (
        lambda w, x: w.slice(w.expand(x, shape=(5, 3, 4)), dim=1, start=0, end=2, step=1),
        ["slice", "expand"],
    ),
    "some of the copies": (
        lambda w, x: w.slice(w.expand(x, shape=(5, 3, 4)), dim=0, start=1, end=3, step=1),
        ["expand"],
    ),
    "parts in reverse": (
        lambda w, x: w.stack(*[w.select(x, dim=0, index=i) for i in (2, 1, 0)], dim=0),
        ["flip"],
    ),
}


@pytest.mark.parametrize("name", MOVED)
def test_elements_are_moved_no_more_than_they_must(name):
    build, left = MOVED[name]
    assert names(simplified(build, X)) == left


def test_the_transpose_of_a_product_is_the_product_of_transposes():
    def build(w, x, y):
        return w.t(w.mm(w.t(x), y))

    assert names(simplified(build, np.ones((3, 4)), np.ones((3, 5)))) == ["permute", "mm"]


def test_the_transpose_of_a_product_of_no_transposes_stays():
    def build(w, x, y):
        return w.t(w.mm(x, y)), w.permute(
            w.bmm(w.stack(x, x, dim=0), w.stack(y, y, dim=0)), dims=(0, 2, 1)
        )

    made = names(simplified(build, np.ones((3, 4)), np.ones((4, 5))))
    assert [name for name in made if name in ("mm", "bmm", "permute")] == [
        *("mm", "permute", "bmm", "permute")
    ]


def test_a_product_of_transposes_is_the_transpose_of_a_product():
    def build(w, x, y):
        return w.mm(w.t(x), w.t(y))

    made = simplified(build, RNG.standard_normal((4, 3)), RNG.standard_normal((2, 4)))
    assert names(made) == ["mm", "permute"]


@pytest.mark.parametrize("first", (True, False))
def test_a_product_with_one_transpose_stays(first):
    def build(w, x, y):
        return w.mm(w.t(x), y) if first else w.mm(y, w.t(x))

    made = simplified(build, RNG.standard_normal((4, 4)), RNG.standard_normal((4, 4)))
    assert names(made) == ["permute", "mm"]


def test_joins_of_joins_are_one():
    def build(w, x):
        return w.cat(w.cat(x, w.exp(x), dim=0), w.cat(w.sin(x), x, dim=0), dim=0)

    assert names(simplified(build, X)) == ["exp", "sin", "cat"]


def test_the_derivative_of_a_sum_of_exponentials_uses_them_again():
    def build(w, x):
        top = w.amax(x, dim=(1,), keepdim=True)
        below = w.sub(x, top)
        rest = w.sub(below, w.log(w.sum_dim(w.exp(below), dim=(1,), keepdim=True)))
        return rest, w.exp(rest)

    assert names(simplified(build, X)).count("exp") == 1
    awkward = np.array([[0.0, -math.inf, 1e300], [-math.inf] * 3, [math.nan, 0.0, 1.0]])
    assert names(simplified(build, awkward)).count("exp") == 1


def test_what_is_at_the_place_of_the_least_is_the_least():
    def build(w, x):
        place = w.argmin(x, dim=1, keepdim=False)
        return w.gather(x, w.unsqueeze(place, dim=1), dim=1)

    assert names(simplified(build, X)) == ["amin"]
    assert names(simplified(build, np.where(X > 1, math.nan, X))) == ["amin"]


def test_a_join_that_is_given_out_is_read_by_the_next():
    def build(w, x, y):
        inner = w.cat(x, y, dim=0)
        return inner, w.cat(inner, x, dim=0)

    made = simplified(build, np.ones(3), np.ones(2))
    assert [(step.prim.name, len(step.args)) for step in made.steps] == [("cat", 2), ("cat", 2)]


# -- sums of parts, and writes --------------------------------------------------------------------


@pytest.mark.parametrize("order", (1, -1))
def test_the_sum_of_the_derivatives_of_all_positions_is_a_stack(order):
    def build(w, x):
        total = None
        for i in range(20)[::order]:
            part = w.exp(w.select(x, dim=0, index=i))
            back = w.select_backward(part, shape=(20, 3), dim=0, index=i)
            total = back if total is None else w.add(total, back)
        return total

    made = simplified(build, RNG.standard_normal((20, 3)))
    assert "add" not in names(made)
    assert "select_backward" not in names(made)
    assert names(made).count("stack") == 1


@pytest.mark.parametrize("order", (1, -1))
def test_parts_are_gathered_on_both_sides_of_other_terms(order):
    def build(w, x, y):
        a, b = (
            w.select_backward(w.select(x, dim=0, index=i), shape=(2, 3), dim=0, index=i)
            for i in range(2)
        )
        return w.add(*(w.add(*(a, y)[::order]), b)[::order])

    made = simplified(build, RNG.standard_normal((2, 3)), RNG.standard_normal((2, 3)))
    assert names(made).count("add") == 1
    assert "select_backward" not in names(made)


def test_parts_of_parts_are_stacks_of_stacks():
    def build(w, x):
        total = None
        for i in range(4):
            for j in range(5):
                part = w.exp(w.select(w.select(x, dim=0, index=i), dim=0, index=j))
                back = w.select_backward(part, shape=(5,), dim=0, index=j)
                back = w.select_backward(back, shape=(4, 5), dim=0, index=i)
                total = back if total is None else w.add(total, back)
        return total

    made = simplified(build, RNG.standard_normal((4, 5)))
    assert "add" not in names(made)
    assert names(made).count("stack") == 5


def test_parts_that_occur_twice_are_added_and_gaps_are_zeros():
    def build(w, x):
        terms = [
            w.select_backward(w.select(x, dim=0, index=i), shape=(9,), dim=0, index=i)
            for i in (3, 5, 3, 4)
        ]
        part = w.slice(x, dim=0, start=7, end=9, step=1)
        terms.append(w.slice_backward(part, shape=(9,), dim=0, start=7, end=9, step=1))
        total = terms[0]
        for term in terms[1:]:
            total = w.add(total, term)
        return w.mul(total, x)

    made = simplified(build, RNG.standard_normal(9))
    assert names(made).count("add") == 1
    assert names(made).count("cat") == 1
    assert "select_backward" not in names(made)


def test_parts_that_overlap_stay_sums():
    def build(w, x):
        a = w.slice_backward(
            w.slice(x, dim=0, start=1, end=9, step=1), shape=(9,), dim=0, start=1, end=9, step=1
        )
        b = w.slice_backward(
            w.slice(x, dim=0, start=0, end=8, step=1), shape=(9,), dim=0, start=0, end=8, step=1
        )
        return w.add(a, b)

    assert names(simplified(build, RNG.standard_normal(9))).count("add") == 1


def test_positions_that_are_written_and_read_again_are_a_stack():
    def build(w, x):
        whole = w.zeros(shape=(30,), dtype=x.dtype)
        whole = w.select_scatter(whole, w.select(x, dim=0, index=0), dim=0, index=0)
        for i in range(1, 30):
            before = w.select(whole, dim=0, index=i - 1)
            whole = w.select_scatter(whole, w.tanh(before), dim=0, index=i)
        return whole

    made = simplified(build, RNG.standard_normal(30))
    assert "select_scatter" not in names(made)
    assert names(made).count("stack") == 1
    assert names(made).count("select") == 1


def test_a_thousand_writes_do_not_recurse():
    def build(w, x):
        whole = w.zeros(shape=(1000,), dtype=x.dtype)
        for i in range(1000):
            whole = w.select_scatter(whole, w.exp(x), dim=0, index=i)
        return w.select(whole, dim=0, index=0), whole

    made = simplified(build, np.array(1.0))
    assert len(made.steps) < 10


# -- what a pass leaves as it is ------------------------------------------------------------------


def test_the_program_that_is_simplified_is_not_changed():
    w = Writer(np.ones(3))
    made = w.add(w.mul_scalar(w.inputs[0], other=1), w.zeros(shape=(3,), dtype=np.dtype(float)))
    program = w.program(made)
    before = str(program)
    simplify(program)
    assert str(program) == before


def test_writes_follow_their_outputs():
    w = Writer(np.ones(3), np.ones(3))
    x, y = w.inputs
    made, same = w.clone(w.exp(x)), w.alias(y)
    program = Program(w.inputs, w.steps, [made, same], [(made, x), (same, y)])
    found = simplify(program)
    assert found.writes == ((found.outputs[0], x),)
    assert found.outputs[1] is y
