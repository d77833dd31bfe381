"""Test extreme numbers: infinities, NaN, and subnormal numbers."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert.prims.whole import TABLE
from wengert.tape.record import T

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


def test_places_along_a_dimension_beside_an_empty_one():
    x = wg.zeros(5, 4, 0, requires_grad=True)
    pairs = {
        "cummax": lambda x: x.cummax(1),
        "cummin": lambda x: x.cummin(1),
        "sort": lambda x: x.sort(1),
        "topk": lambda x: x.topk(2, 1),
        "median": lambda x: x.median(1, keepdim=True),
        "nanmedian": lambda x: x.nanmedian(1, keepdim=True),
        "mode": lambda x: x.mode(1, keepdim=True),
        "kthvalue": lambda x: x.kthvalue(2, 1, keepdim=True),
    }
    counts = {"cummax": 4, "cummin": 4, "sort": 4, "topk": 2}
    for name, form in pairs.items():
        values, places = form(x)
        assert values.shape == places.shape == (5, counts.get(name, 1), 0), name
        assert (values.dtype, places.dtype) == (x.dtype, wg.int64), name
        (g,) = wg.autograd.grad(values.sum(), x)
        assert g.shape == x.shape
    heads = wg.zeros(2, 3, 0)
    assert wg.nn.functional.scaled_dot_product_attention(heads, heads, heads).shape == (2, 3, 0)


UNARY = [
    name
    for name, prim in TABLE.items()
    if prim.family == "elementwise" and len(prim.args) == 1 and "f" not in prim.refuses
]
NOT_NAN = ["fill_scalar", "grid_position", "imag", "nan_to_num", "zero"]


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("size", [(), (3,), (6000,)])
@pytest.mark.parametrize("name", UNARY)
def test_nan_goes_through_what_works_element_by_element(name, size):
    prim = TABLE[name]
    for params in [dict(case.params) for case in prim.cases] or [{}]:
        if name in NOT_NAN or 0 in params.values():
            continue
        for kind in KINDS:
            found = getattr(T, name)(wg.full(size, NAN, dtype=kind), **params)
            for result in found if isinstance(found, tuple) else (found,):
                if result.dtype.is_floating_point or result.dtype.is_complex:
                    assert result.isnan().all(), params


@pytest.mark.parametrize("kind", KINDS)
def test_activations_where_their_pieces_meet(kind):
    x = wg.tensor([-3.0, 0.0, 3.0, NAN], dtype=kind, requires_grad=True)
    slopes = {
        "hardswish": ([0.0, 0.5, 1.0, 1.0], [0.0, 1 / 3, 0.0, 0.0]),
        "elu": ([math.exp(-3), 1.0, 1.0, 1.0], [math.exp(-3), 0.0, 0.0, 0.0]),
        "celu": ([math.exp(-3), 1.0, 1.0, 1.0], [math.exp(-3), 0.0, 0.0, 0.0]),
    }
    for name, (first, second) in slopes.items():
        value = getattr(wg.nn.functional, name)(x)
        assert math.isnan(value[3].item())
        (g,) = wg.autograd.grad(value.sum(), x, create_graph=True)
        assert g.tolist() == pytest.approx(first), name
        (h,) = wg.autograd.grad(g.sum(), x)
        assert h.tolist() == pytest.approx(second), name


def test_margins_that_are_just_kept_have_no_gradient():
    x = wg.tensor([[0.0, 1.0, 2.0], [1.0, 1.0, 0.0]], requires_grad=True)
    F = wg.nn.functional
    for loss, target in (
        (F.multi_margin_loss, wg.tensor([1, 0])),
        (F.multilabel_margin_loss, wg.tensor([[1, -1, -1], [0, -1, -1]])),
    ):
        (g,) = wg.autograd.grad(loss(x, target, reduction="sum"), x)
        assert (3 * g).tolist() == [[0.0, -1.0, 1.0], [-1.0, 1.0, 0.0]]
    made = F.margin_ranking_loss(wg.tensor([1]), wg.tensor([3]), wg.tensor([1]), reduction="none")
    assert made.dtype is wg.float32 and made.tolist() == [2.0]


def test_integers_to_the_least_power():
    for kind in (wg.int64, wg.int32, wg.int8):
        least = wg.iinfo(kind).min
        base, exponent = wg.tensor([2, 1, -1], dtype=kind), wg.tensor([least] * 3, dtype=kind)
        assert (base**exponent).tolist() == [0, 1, 1]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_sinc_of_infinity():
    x = wg.tensor(INF, requires_grad=True)
    (g,) = wg.autograd.grad(wg.sinc(x), x)
    assert g == 0


def test_half_precision_normalises_in_single():
    pytest.importorskip("ml_dtypes")
    for kind, near in ((wg.float16, 2e-3), (wg.bfloat16, 2e-2)):
        x = wg.tensor([770.0, 741.0, 1e-4], dtype=kind, requires_grad=True)
        wide = x.detach().float().requires_grad_()
        weight = wg.tensor([1.0, -2.0, 0.5], dtype=kind)
        made = wg.nn.functional.rms_norm(x, (3,), weight)
        exact = wg.nn.functional.rms_norm(wide, (3,), weight.float())
        assert made.dtype is kind and wg.allclose(made.float(), exact, near, 1e-6)
        (g,) = wg.autograd.grad(made, x, weight)
        (expected,) = wg.autograd.grad(exact, wide, weight.float())
        assert g.dtype is kind and wg.allclose(g.float(), expected, near, 1e-6)
        # what keeps the quotient finite is of the precision that is computed in
        assert wg.nn.functional.rms_norm(x[2:], (1,)).item() == pytest.approx(0.278, rel=0.02)


def test_numbers_that_only_bfloat16_knows():
    pytest.importorskip("ml_dtypes")
    x = wg.tensor([INF, -INF, NAN, 1.0], dtype=wg.bfloat16)
    most = wg.finfo(wg.bfloat16).max
    assert x.nan_to_num().tolist() == [most, -most, 0.0, 1.0]
    one = wg.ones(1, dtype=wg.bfloat16)
    assert wg.nextafter(one, one + 1).tolist() == [1 + wg.finfo(wg.bfloat16).eps]
    assert wg.nn.functional.softshrink(one, 0.25).tolist() == [0.75]


def test_orders_of_memory_under_transforms():
    x = wg.rand(2, 3, 4, 5)
    for form in (
        lambda x: x.contiguous(memory_format=wg.channels_last),
        lambda x: x.to(memory_format=wg.channels_last),
    ):
        value, tangent = wg.func.jvp(form, (x,), (2 * x,))
        assert wg.equal(value, x) and wg.equal(tangent, 2 * x)
        assert wg.equal(wg.func.vmap(form)(x[None]), x[None])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_targets_to_ignore_may_have_any_scores(kind):
    rows = [[NAN, 1.0, 2.0], [0.1, 0.2, 0.3], [-INF, -INF, -INF]]
    target, kept = wg.tensor([-100, 1, -100]), wg.tensor([1])
    F = wg.nn.functional
    for form in (
        lambda x, y: F.cross_entropy(x, y),
        lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1),
        lambda x, y: F.cross_entropy(x, y, weight=wg.tensor([1.0, 2.0, 3.0], dtype=kind)),
        lambda x, y: F.nll_loss(x, y, reduction="sum"),
        lambda x, y: F.nll_loss(x, y, reduction="none").sum(),
        lambda x, y: wg.func.vmap(lambda x, y: F.nll_loss(x, y))(x[None], y[None]),
    ):
        x = wg.tensor(rows, dtype=kind, requires_grad=True)
        for call in (form, wg.compile(form, backend="numpy", options={"measure": False})):
            loss = call(x, target)
            assert loss.item() == pytest.approx(form(x[1:2], kept).item())
    (g,) = wg.autograd.grad(F.nll_loss(x, target, reduction="none"), x, wg.tensor([NAN, 1.0, INF]))
    assert g.tolist() == [[0.0] * 3, [0.0, -1.0, 0.0], [0.0] * 3]


def test_places_in_arrays_without_elements():
    empty = wg.zeros(5, 4, 0)
    index = wg.tensor([1, 1, 3])
    for how in ("prod", "mean", "amax", "amin"):
        made = empty.index_reduce(1, index, wg.zeros(5, 3, 0), how, include_self=False)
        assert made.shape == (5, 4, 0)
    table = wg.zeros(5, 0, requires_grad=True)
    F = wg.nn.functional
    for rows in (F.embedding(index, table), F.embedding_bag(index, table, wg.tensor([0]))):
        (g,) = wg.autograd.grad(rows.sum(), table)
        assert g.shape == (5, 0)


@pytest.mark.parametrize("size", [3, 200])
def test_the_number_of_coordinates_that_differ_is_nan_for_nan(size):
    a = wg.zeros(size, 2)
    a[1, 0] = 5.0
    assert wg.cdist(a, a, 0.0)[0, :2].tolist() == [0.0, 1.0]
    a[0, 1] = NAN
    made = wg.cdist(a, a, 0.0)
    assert made[0].isnan().all() and made[1, 2] == 1
    assert wg.nn.functional.pdist(a, 0.0)[: size - 1].isnan().all()


def test_probabilities_and_fillings_are_checked():
    F = wg.nn.functional
    half = wg.tensor([0.5, 0.5], requires_grad=True)
    for target in ([-2.0, 0.5], [0.5, 1.5], [NAN, 0.5]):
        with pytest.raises(RuntimeError, match="all elements of target should be between 0 and 1"):
            F.binary_cross_entropy(half, wg.tensor(target))
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        F.binary_cross_entropy(wg.tensor([1.5, 0.5]), half)
    x = wg.zeros(2, 2)
    with pytest.raises(RuntimeError, match="only supports a 0-dimensional value tensor"):
        x.masked_fill_(x == 0, wg.ones(1))
    assert wg.equal(x, wg.zeros(2, 2))


def test_means_of_integers_are_exact():
    F = wg.nn.functional
    x = wg.tensor([[2**62 + 1, 2**60 - 7, 5, -7, -1, 0, -3, -3, -3]])
    exact = [(2**62 + 2**60 - 1) // 3, -2, -3]
    assert F.avg_pool1d(x, 3).tolist() == [exact]
    assert F.avg_pool2d(-x[None], (1, 3), divisor_override=3).tolist() == [[[-exact[0], 2, 3]]]
    assert F.avg_pool2d(x[None, :, 3:6], (1, 3), divisor_override=-3).tolist() == [[[2]]]
