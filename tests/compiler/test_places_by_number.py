"""Test views and writes whose place in memory depends on a number that changes between calls."""

import types

import pytest
from worlds import compare

import wengert as wg

PLACES = {
    "an element": lambda x, i: x[i],
    "a part": lambda x, i: x.narrow(0, i, 1),
    "one of several": lambda x, i: x.unbind()[i],
    "a slice": lambda x, i: x[i:],
    "an element of a view": lambda x, i: x.view(1, 3).t()[i],
    "a turned one": lambda x, i: x.view(3, 1).transpose(0, i % 2),
}
USES = {
    "result": lambda x, part, shown: part,
    "left behind": lambda x, part, shown: shown.append(part.detach()) or x * 1,
    "written": lambda x, part, shown: part.add_(1) + x.sum(),
    "written twice": lambda x, part, shown: part.mul_(2).sub_(1).sum() + x,
}


@pytest.mark.parametrize("numbers", [(0, 1, 0, 2, 1), (1, 0, 2, 2, 0)])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_places_follow_numbers(place, use, numbers):
    def world():
        held, shown = types.SimpleNamespace(n=0), []
        buffer = wg.zeros(3, dtype=wg.float64)

        def function(x):
            del shown[:]
            part = place(buffer.add_(x), held.n % 3)
            held.n += 1
            return use(buffer, part, shown)

        def calls():
            for turn, number in enumerate(numbers):
                held.n = number
                yield (wg.arange(3, dtype=wg.float64) + turn,)

        return function, calls, [buffer, shown]

    compare(world, "numpy")
