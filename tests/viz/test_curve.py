"""Test line charts: lines, round ticks, gaps, and files."""

import itertools
import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import wengert as wg
from wengert.viz.curve import curve
from wengert.viz.curve_ticks import linear_ticks, log_ticks

SPACE = "{http://www.w3.org/2000/svg}"


def parsed(chart):
    return ElementTree.fromstring(chart.svg())


def paths(chart, word="series"):
    """The outlines of the lines, without their samples in the legend."""
    found = []
    for node in parsed(chart).iter(f"{SPACE}path"):
        if word in node.get("class").split() and not re.fullmatch(r"M\S+ \S+h18", node.get("d")):
            found.append(node.get("d"))
    return found


def points(path):
    return [tuple(map(float, pair.split())) for pair in re.findall(r"[-\d.]+ [-\d.]+", path)]


def texts(chart):
    return [node.text for node in parsed(chart).iter(f"{SPACE}text")]


def test_values_are_drawn_over_their_numbers():
    (path,) = paths(curve([1.0, 3.0, 2.0]))
    (x0, y0), (x1, y1), (x2, y2) = points(path)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.11)
    assert y1 < y2 < y0  # upwards on the page is less
    assert (y0 - y2) == pytest.approx((y0 - y1) / 2, abs=0.11)


def test_a_pair_is_drawn_over_its_first_half():
    (path,) = paths(curve(([0.0, 1.0, 4.0], [0.0, 0.0, 0.0])))
    x0, x1, x2 = (x for x, _ in points(path))
    assert (x2 - x0) == pytest.approx(4 * (x1 - x0), abs=0.2)


def test_several_lines_have_names_and_one_scale():
    chart = curve({"a": [0.0, 1.0], "b": ([0.0, 2.0], [0.0, 1.0])})
    first, second = paths(chart)
    assert points(first)[1][0] < points(second)[1][0]
    assert points(first)[1][1] == points(second)[1][1]
    assert texts(chart)[:2] == ["a", "b"]


def test_a_tuple_of_two_numbers_is_not_a_pair_of_series():
    assert repr(curve((1.0, 2.0))) == "Curve('': 1 line, 2 points)"


def test_tensors_are_drawn_even_while_they_are_recorded():
    x = wg.linspace(0, 1, 5, requires_grad=True)
    y = x.sin()
    plain = curve((x.detach(), y.detach()))
    assert points(paths(curve((x, y)))[0]) == points(paths(plain)[0])
    losses = [wg.tensor(1.0, requires_grad=True) * scale for scale in (3, 2)]
    assert len(points(paths(curve(losses))[0])) == 2


@pytest.mark.parametrize("hole", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_leaves_a_gap(hole):
    (path,) = paths(curve([1.0, 2.0, hole, 3.0, 4.0]))
    assert path.count("M") == 2
    assert len(points(path)) == 4


def test_a_point_that_stands_alone_is_a_dot():
    line, dots = paths(curve([math.nan, 1.0, math.nan, 2.0, 3.0]))
    assert line.count("M") == 1
    assert re.fullmatch(r"M\S+ \S+h0", dots)
    assert paths(curve([1.0]), "dots")


def test_a_logarithmic_scale_gives_every_power_the_same_room():
    chart = curve([1.0, 10.0, 100.0, 0.0, -1.0], log=True)
    (path,) = paths(chart)
    (_, y0), (_, y1), (_, y2) = points(path)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.11)
    assert {"1", "10", "100"} <= set(texts(chart))


def test_a_logarithmic_scale_to_the_right_gives_every_power_the_same_room():
    chart = curve(([1.0, 100.0, 10_000.0, 0.0, -1.0], [1.0, 3.0, 2.0, 2.0, 2.0]), log_x=True)
    (path,) = paths(chart)
    (x0, y0), (x1, y1), (x2, y2) = points(path)  # what is not positive has no place
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.11)
    assert y0 - y2 == pytest.approx((y0 - y1) / 2, abs=0.11)
    assert {"1", "100", "10000"} <= set(texts(chart))


def test_nought_is_in_the_chart_where_it_is_near():
    assert "0" in [text.rstrip("0.") or "0" for text in texts(curve([2.3, 1.0, 0.05]))]
    assert min(float(text) for text in texts(curve([102.0, 101.0]))[:3]) > 100


def test_lines_stay_inside_the_frame():
    pair = (np.linspace(2.0, 900.0, 50), np.linspace(3.0, 5.0, 50))
    for log, log_x in itertools.product((False, True), repeat=2):
        chart = curve(pair, log=log, log_x=log_x, title="t", x="x", y="y")
        for x, y in points(paths(chart)[0]):
            assert 24 <= x <= 640 - 23
            assert 62 <= y <= 380 - 47


def test_many_points_are_thinned_without_losing_the_highest():
    values = np.zeros(200_000)
    values[123_456] = 1.0
    (path,) = paths(curve(values))
    found = points(path)
    assert len(found) < 3000
    assert len({y for _, y in found}) == 2


def test_title_and_axes_are_named_and_escaped():
    chart = curve({"<b>": [1, 2]}, title="a & b", x="<x>", y='"y"')
    assert {"a & b", "<x>", '"y"', "<b>"} <= set(texts(chart))
    assert chart.svg() == chart._repr_svg_()


def test_the_chart_is_described_in_words():
    chart = curve({"loss": [2.5, math.nan, 0.5], "none": [math.nan]}, title="Loss")
    assert parsed(chart).find(f"{SPACE}desc").text == (
        "A chart of 2 lines. loss: from 2.5 at 0 to 0.5 at 2, lowest 0.5, highest 2.5. "
        "none: no values to draw."
    )


@pytest.mark.parametrize(
    "values",
    [[], [math.nan], {}, [5, 5, 5], [0], [-3, -3], [1e299, -1e299], [1.7e308, 1], [5e-324, 1]],
)
@pytest.mark.parametrize("log", [False, True])
def test_unusual_values_make_a_chart_too(values, log):
    text = curve(values, log=log).svg()
    ElementTree.fromstring(text)
    assert "nan" not in text
    assert "inf" not in text.replace("infinite", "")


def test_light_and_dark():
    chart = curve([1, 2])
    assert "@media (prefers-color-scheme: dark)" in chart.svg()
    assert "@media" not in chart.svg("light") + chart.svg("dark")
    with pytest.raises(ValueError, match="theme should be"):
        chart.svg("blue")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (["a", "b"], TypeError, "the values of the series should be real numbers"),
        (np.array([1j]), TypeError, "should be real numbers: they have the dtype complex128"),
        ({"a": np.zeros((2, 2))}, ValueError, r"values of 'a' .* their shape is \(2, 2\)"),
        (([1.0], [1.0, 2.0]), ValueError, "equal lengths, but they are 1 and 2"),
        (3.0, ValueError, r"one dimension, but their shape is \(\)"),
    ],
)
def test_what_cannot_be_drawn_is_refused(values, error, message):
    with pytest.raises(error, match=message):
        curve(values)


def test_charts_are_saved_by_suffix(tmp_path):
    chart = curve([1, 2], title="t")
    assert chart.save(tmp_path / "c.svg").read_text(encoding="utf-8") == chart.svg()
    with pytest.raises(ValueError, match=r"one of \.svg, \.png"):
        chart.save(tmp_path / "c.html")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (0, 10, ["0", "2", "4", "6", "8", "10"]),
        (-1, 1, ["\u22121.0", "\u22120.5", "0.0", "0.5", "1.0"]),
        (0, 1200, ["0", "250", "500", "750", "1000"]),
        (1e-5, 5e-5, ["0.00001", "0.00002", "0.00003", "0.00004", "0.00005"]),
        (2e9, 4e9, ["2e+09", "2.5e+09", "3e+09", "3.5e+09", "4e+09"]),
        (7, 7, ["7"]),
    ],
)
def test_ticks_are_round_numbers(low, high, expected):
    assert [text for _, text in linear_ticks(low, high)] == expected


def test_ticks_lie_in_the_interval_and_are_evenly_spaced():
    for low, high in ((0.013, 0.97), (-17.2, 231.0), (1e-9, 3e-9), (99.0, 101.0)):
        values = [value for value, _ in linear_ticks(low, high)]
        assert 3 <= len(values) <= 9
        assert low - 1e-9 * abs(low) <= values[0]
        assert values[-1] <= high + 1e-9 * abs(high)
        assert np.diff(values) == pytest.approx(values[1] - values[0])


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1, 1000, ["1", "10", "100", "1000"]),
        (1, 10, ["1", "2", "5", "10"]),
        (1e-12, 1, ["10⁻¹²", "10⁻¹⁰", "10⁻⁸", "10⁻⁶", "0.0001", "0.01", "1"]),
        (2.1, 2.9, ["2.2", "2.4", "2.6", "2.8"]),
    ],
)
def test_ticks_of_a_logarithmic_scale(low, high, expected):
    assert [text for _, text in log_ticks(low, high)] == expected
