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


@pytest.mark.sampled(3)
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


DIMENSIONS = {
    "sum": lambda x, i: x.sum(i),
    "unbind": lambda x, i: x.unbind(i)[0],
    "sort": lambda x, i: x.sort(i).values,
    "softmax": lambda x, i: x.softmax(i),
    "max": lambda x, i: x.max(i).indices,
    "cat": lambda x, i: wg.cat([x, x], i),
    "unsqueeze": lambda x, i: x.unsqueeze(i),
    "flip": lambda x, i: x.flip(i),
    "movedim": lambda x, i: x.movedim(0, i),
    "fft": lambda x, i: wg.fft.fft(x, dim=i).real,
    "pool": lambda x, i: wg.nn.functional.max_pool1d(x, i + 1),
    "stride": lambda x, i: wg.nn.functional.avg_pool1d(x, 2, stride=i + 1),
    "convolution": lambda x, i: wg.nn.functional.conv1d(x[None], x[None, :, :2], padding=i),
    "sizes": lambda x, i: x.new_zeros(i + 1) + x.sum(),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("use", DIMENSIONS.values(), ids=DIMENSIONS)
def test_dimensions_follow_numbers(use):
    def world():
        held = types.SimpleNamespace(n=0)

        def function(x):
            held.n += 1
            return use(x, held.n % 2)

        def calls():
            for number in (0, 1, 0, 2, 1):
                held.n = number
                yield (wg.arange(12, dtype=wg.float64).reshape(3, 4).sin(),)

        return function, calls, ()

    compare(world, "numpy")
