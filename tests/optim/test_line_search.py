"""Test the line search of LBFGS: its trial points, its result, and its counts."""

import numpy as np
import pytest

from wengert.optim.line_search import Point, strong_wolfe

START = Point(0.0, 0.0, None, -1.0)


def searched(*met, first=1.0, reach=1.0, **options):
    """The distances that are tried where `met` are the values and slopes found there."""
    tried = []

    def at(t):
        tried.append(t)
        # what is found last is found from then on
        found = met[min(len(tried), len(met)) - 1]
        return found(t) if callable(found) else Point(t, found[0], None, found[1])

    best, count = strong_wolfe(at, START, first, reach, **options)
    assert count == len(tried)
    return tried, best


def lowest(a, b):
    """Where the cubic with these values and slopes at two places has its minimum."""
    rows = [[t**3, t**2, t, 1] for t in (a[0], b[0])]
    rows += [[3 * t**2, 2 * t, 1, 0] for t in (a[0], b[0])]
    cubic = np.linalg.solve(rows, [a[1], b[1], a[2], b[2]])
    slopes = np.polyder(np.poly1d(cubic))
    (found,) = [root.real for root in slopes.roots if slopes.deriv()(root.real) > 0]
    return found


def test_a_first_distance_that_is_good_is_the_only_one():
    tried, best = searched((-1.0, 0.1))
    assert tried == [1.0] and best.t == 1.0


def test_between_two_points_the_lowest_of_their_cubic_is_tried():
    tried, best = searched((0.5, 2.0), (-1.0, 0.0))
    assert tried == [1.0, pytest.approx(lowest((0, 0, -1), (1, 0.5, 2.0)))]
    assert best.t == tried[1]


def test_as_long_as_it_falls_the_search_goes_further_but_no_more_than_ten_times():
    # a straight line has no minimum
    tried, best = searched((-1.0, -1.0), (-11.0, 0.0))
    assert tried == [1.0, 10.0] and best.t == 10.0
    # this cubic has its minimum before the second point, and this one none
    tried, _ = searched((-0.1, -1.0), (-1.0, 0.0))
    assert tried[1] == pytest.approx(1.01)
    tried, _ = searched((-0.8, -1.0), (-1.0, 0.0))
    assert tried[1] == pytest.approx((1.01 + 10) / 2)


def steep(t, near=0.0):
    """A point at `t` so high that the cubic from `near` is lowest in the first tenth."""
    return Point(t, 1e5, None, 3e5 / (t - near))


def test_a_distance_near_the_end_is_tried_once_and_then_moved_inside():
    tried, _ = searched(*[steep] * 5, (-1.0, 0.0), tolerance_change=0.0)
    for i in range(1, 6):
        last = steep(tried[i - 1])
        free = lowest((0, 0, -1), (last.t, last.value, last.slope))
        assert 0 < free < 0.1 * last.t
        assert tried[i] == pytest.approx(free if i % 2 else 0.1 * last.t)


def test_a_distance_well_inside_lets_the_next_one_near_the_end_pass():
    # near the end, well inside, near the end again
    tried, _ = searched(steep, (0.0, 1.0), steep, (-1.0, 0.0))
    first, third = steep(tried[0]), steep(tried[2])
    assert tried[1] == pytest.approx(lowest((0, 0, -1), (1.0, first.value, first.slope)))
    assert tried[2] == pytest.approx(tried[1] / 2)
    assert tried[3] == pytest.approx(lowest((0, 0, -1), (third.t, third.value, third.slope)))
    assert tried[3] < 0.1 * tried[2]


def test_the_margin_is_a_tenth_of_the_bracket_wherever_that_lies():
    # the bracket begins at 1
    def high(t):
        return steep(t, near=1.0)

    tried, _ = searched((-1.0, -1.0), high, high, (-3.0, 0.0))
    second = high(10.0)
    assert tried[1] == second.t
    free = lowest((1.0, -1.0, -1.0), (second.t, second.value, second.slope))
    assert tried[2] == pytest.approx(free) and free < 1.9
    assert tried[3] == pytest.approx(1.0 + 0.1 * (tried[2] - 1.0))


def test_of_a_small_bracket_the_lower_end_is_given():
    tried, best = searched((-0.5, 10.0), reach=1e-12)
    assert tried == [1.0] and best.t == 1.0
    tried, best = searched((0.5, 10.0), reach=1e-12)
    assert tried == [1.0] and best.t == 0


def test_the_lower_end_is_kept_where_what_lies_between_is_higher():
    # the second point is higher than the right end, which stays the best
    tried, best = searched((-0.5, 10.0), (-0.4, -10.0), (-0.45, -10.0), most=3)
    assert best.t == 1.0 and len(tried) == 4


@pytest.mark.parametrize("most", (1, 2, 5))
def test_the_search_ends_after_so_many_evaluations(most):
    # always lower and steeper: a search that goes on and on
    tried = []

    def at(t):
        tried.append(t)
        return Point(t, -t, None, -1.0)

    best, count = strong_wolfe(at, START, 1.0, 1.0, most=most)
    assert count == len(tried) == most + 1
    assert best.t == tried[-1]


def test_a_search_that_always_overshoots_ends_after_so_many_evaluations():
    tried, best = searched((1.0, 1.0), most=4, tolerance_change=0.0)
    assert len(tried) == 5 and best.t == 0
