"""Numbers at the ends of their range: infinities, NaN, and numbers below the normal ones."""

import math

import numpy as np
import pytest

import wengert as wg

INF, NAN = math.inf, math.nan
KINDS = [wg.float32, wg.float64]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("size", [4, 100, 5000])
@pytest.mark.parametrize("kind", KINDS)
def test_reciprocals_of_subnormal_numbers_are_quotients(kind, size):
    limits = wg.finfo(kind)
    least = float(np.finfo(str(kind).removeprefix("torch.")).smallest_subnormal)
    # the last of these are the least whose reciprocal is finite
    numbers = [least, -least, limits.tiny / 2, limits.tiny / 4 * 1.01, -limits.tiny / 3, 0.0, -0.0]
    x = wg.tensor((numbers * size)[:size], dtype=kind)
    one = wg.ones(size, dtype=kind)
    expected = (np.ones(size, x.numpy().dtype) / x.numpy()).tolist()
    forms = {
        "reciprocal": lambda x: x.reciprocal(),
        "division of a number": lambda x: 1 / x,
        "division": lambda x: one / x,
        "power": lambda x: x**-1,
        "in place": lambda x: x.clone().reciprocal_(),
    }
    for name, form in forms.items():
        assert form(x).tolist() == expected, name
        compiled = wg.compile(form, backend="numpy", options={"measure": False})
        assert compiled(x).tolist() == compiled(x).tolist() == expected, name
    assert math.isinf(expected[0]) and math.isfinite(expected[2])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_division_by_large_numbers_is_no_product_with_what_underflows():
    # 1 / 2e38 is below the normal numbers of single precision, and has lost digits
    x = wg.tensor([3e38, 1.7e38, -2e38])
    expected = (x.numpy() / np.float32(3e38)).tolist()
    for form in (lambda x: x / 3e38, lambda x: x / wg.full((3,), 3e38), lambda x: x.div(3e38)):
        assert form(x).tolist() == expected
        compiled = wg.compile(form, backend="numpy", options={"measure": False})
        assert compiled(x).tolist() == compiled(x).tolist() == expected


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([-INF, -INF], -INF),
        ([INF, 0.0], INF),
        ([INF, -INF], INF),
        ([INF, INF], INF),
        ([NAN, INF], NAN),
        ([-INF, 1.0], 1.0),
        ([1000.0, 1000.0], 1000.0 + math.log(2)),
        ([-1000.0, -1000.0], -1000.0 + math.log(2)),
        ([], -INF),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_logsumexp_of_infinities(values, expected, kind):
    x = wg.tensor(values, dtype=kind)
    forms = {
        "logsumexp": lambda x: x.logsumexp(0),
        "kept": lambda x: x.logsumexp(0, keepdim=True)[0],
        "rows": lambda x: x.expand(2, len(values)).logsumexp(1)[1],
        "all": lambda x: x.reshape(1, -1).logsumexp((0, 1)),
    }
    for name, form in forms.items():
        compiled = wg.compile(form, backend="numpy", options={"measure": False})
        for found in (form(x), compiled(x), compiled(x)):
            assert found.item() == pytest.approx(expected, nan_ok=True), name
    if len(values) == 2:
        a, b = x
        assert wg.logaddexp(a, b).item() == pytest.approx(expected, nan_ok=True)


EXTREMES = {
    "max": lambda x: x.max(),
    "min": lambda x: x.min(),
    "amax": lambda x: x.amax(0),
    "amin": lambda x: x.amin(0),
    "max along": lambda x: x.max(0).values,
    "min along": lambda x: x.min(0).values,
    "aminmax": lambda x: wg.aminmax(x).max,
    "median": lambda x: x.median(),
    "cummax": lambda x: x.cummax(0).values[-1],
    "cummin": lambda x: x.cummin(0).values[-1],
    "topk": lambda x: x.topk(1).values[0],
    "sort": lambda x: x.sort().values[-1],
    "maximum": lambda x: wg.maximum(x, x.flip(0))[0],
    "minimum": lambda x: wg.minimum(x.flip(0), x)[0],
    "norm of infinity": lambda x: wg.linalg.vector_norm(x, INF),
    "relu": lambda x: x.relu().sum(),
    "clamp": lambda x: x.clamp(0.0, 1.0).sum(),
    "clamp_min": lambda x: wg.clamp_min(x, 0.0).sum(),
    "clamp tensor": lambda x: x.clamp(max=wg.ones(x.shape, dtype=x.dtype)).sum(),
    "pool": lambda x: wg.nn.functional.max_pool1d(x[None], len(x)).sum(),
    "var": lambda x: x.var(),
    "logsumexp": lambda x: x.logsumexp(0),
    "softmax": lambda x: x.softmax(0)[0],
}


@pytest.mark.parametrize("size", [3, 40])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EXTREMES)
def test_nan_is_the_greatest_and_the_least(name, kind, size):
    form = EXTREMES[name]
    compiled = wg.compile(form, backend="numpy", options={"measure": False})
    for place in (0, size // 2, size - 1):
        x = wg.linspace(-1.0, 1.0, size, dtype=kind)
        x[place] = NAN
        if name in ("maximum", "minimum"):
            x = x[[place, *range(size)]]
        for found in (form(x), compiled(x), compiled(x)):
            assert math.isnan(found.item()), place


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_place_of_the_greatest_is_that_of_the_first_nan(place):
    x = wg.tensor([1.0, 2.0, 0.0, NAN])
    x[place] = NAN
    for name in ("argmax", "argmin"):
        assert getattr(x, name)().item() == place
        assert getattr(x, name)(0).item() == place
    assert x.max(0).indices.item() == x.min(0).indices.item() == place
    assert x.argsort()[-2:].tolist() == [place, 3]


def test_some_leave_nan_out():
    x, y = wg.tensor([1.0, NAN, NAN]), wg.tensor([NAN, 2.0, NAN])
    assert wg.fmax(x, y).tolist()[:2] == wg.fmin(x, y).tolist()[:2] == [1.0, 2.0]
    assert math.isnan(wg.fmax(x, y)[2].item()) and math.isnan(wg.fmin(x, y)[2].item())
    z = wg.tensor([3.0, NAN, 1.0, 2.0])
    assert z.nansum().item() == 6 and z.nanmean().item() == 2 and z.nanmedian().item() == 2
