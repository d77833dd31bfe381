"""Test that native code for eager operations matches their kernels (NOTE [fused kernels])."""

import threading

import numpy as np
import pytest

import wengert as wg
from wengert.base.ports import PORTS
from wengert.compiler.codegen.scalars.forms import SCALARS
from wengert.compiler.ir.facets import having
from wengert.compiler.runtime import fused
from wengert.interp.eager import FUSED, LARGE, K
from wengert.prims.table import TABLE

pytest.importorskip("llvmlite")
parallelise = pytest.importorskip("wengert.compiler.backends.parallelise")

F = wg.nn.functional
WHOLE = {prim for prim in having(SCALARS) if "f" not in SCALARS[prim].kinds}
ELEMENTS = sorted(p.name for p in TABLE.values() if FUSED[p] == "elements" and p not in WHOLE)
SINGLE = {"erfinv", "logit", "normal_hazard", "special_log_ndtr"}
SINGLE |= {prim.name for prim in having(SCALARS) if SCALARS[prim].bits == 32}
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e30, 88.8, -104.0, 0.5, 1.0, -1.0])


@pytest.fixture
def used(monkeypatch):
    """The names of what native code has computed."""
    names = []
    real = fused.fused

    def noted(function, how, args, params):
        made = real(function, how, args, params)
        if made is not None:
            names.append(getattr(function, "name", "rule"))
        return made

    monkeypatch.setattr(PORTS, "fused", noted)
    return names


def large(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", ELEMENTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_elements_are_those_of_the_kernel(name, dtype, used):
    prim = TABLE[name]
    params = dict(prim.cases[0].params) if prim.params else {}
    if dtype == np.float64 and name in SINGLE:
        pytest.skip("float64 is the kernel's")
    rng = np.random.default_rng(1)
    # in the domain of all
    arrays = [rng.uniform(0.05, 0.95, LARGE + 100).astype(dtype) for _ in prim.args]
    before = [array.copy() for array in arrays]
    found, wanted = getattr(K, name)(*arrays, **params), prim.kernel(*arrays, **params)
    assert used == [name]
    assert found.dtype == wanted.dtype
    rtol = 2e-6 if dtype == np.float32 else 2e-14
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)
        assert not np.shares_memory(array, found)
    # among special values, those of the kernel to the bit of their sign
    for i, array in enumerate(arrays):
        array[: len(SPECIAL)] = array[-len(SPECIAL) :] = np.roll(SPECIAL, i)
    with np.errstate(all="ignore"):
        found, wanted = getattr(K, name)(*arrays, **params), prim.kernel(*arrays, **params)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


def whole():
    """Calls of what is computed as a whole, forward and backward, by name."""
    weight, bias = (wg.tensor(large(16), requires_grad=True) for _ in range(2))
    filters = wg.tensor(large(8, 16, 3, 3), requires_grad=True)
    index = wg.tensor(np.arange(300) % 7)
    places = wg.tensor(np.random.default_rng(3).integers(0, 20, (5, 16, 20, 15)))
    grid, planes = wg.tensor(large(5, 9, 30, 2)), wg.tensor(large(5, 8, 16, 16))
    return {
        "softmax": lambda x: F.softmax(x, 1),
        "log_softmax": lambda x: F.log_softmax(x, -1),
        "logsumexp": lambda x: wg.logsumexp(x, 1),
        "layer_norm": lambda x: F.layer_norm(x.transpose(1, 3).contiguous(), (16,), weight, bias),
        "batch_norm": lambda x: F.batch_norm(x, None, None, weight, bias, training=True),
        "group_norm": lambda x: F.group_norm(x, 4, weight, bias),
        "conv2d": lambda x: F.conv2d(x, filters, stride=2, padding=1),
        "conv_transpose2d": lambda x: F.conv_transpose2d(x, filters.transpose(0, 1).contiguous()),
        "var": lambda x: x.var((2, 3)),
        "std": lambda x: x.std(1),
        "prod": lambda x: (x * 0.1 + 1).prod(3),
        "cumprod": lambda x: (x * 0.1 + 1).cumprod(3),
        "grid_sample": lambda x: F.grid_sample(x, grid, align_corners=False),
        "grid_sample by its grid": lambda x: F.grid_sample(
            planes, x.reshape(5, 40, 60, 2), align_corners=True
        ),
        "cumsum": lambda x: x.cumsum(3).cumsum(1),
        "cummax": lambda x: x.cummax(2).values * x.cummin(3).values,
        "smooth_l1_loss": lambda x: F.smooth_l1_loss(x, x.detach() * 0.5),
        "huber_loss": lambda x: F.huber_loss(x, x.detach() * 0.5, reduction="sum"),
        "mse_loss": lambda x: F.mse_loss(x, x.detach() * 0.5),
        "index_add": lambda x: x.reshape(300, -1).index_add(0, index, x.reshape(300, -1)),
        "gather": lambda x: x.gather(2, places),
        "scatter": lambda x: x.scatter(2, places, x * 2),
        "scatter of a number": lambda x: x.scatter(2, places, 1.5),
        "scatter_add": lambda x: x.scatter_add(2, places, x * 2),
        "sort": lambda x: x.sort(2).values * x.topk(20, 2).values,
        "prelu": lambda x: F.prelu(x, weight),
        "embedding": lambda x: F.embedding(index, x.reshape(300, -1)),
    }


def gradients(function, data):
    x = wg.tensor(data, requires_grad=True)
    y = function(x)
    weights = wg.tensor(large(*y.shape, dtype=data.dtype, seed=2))
    return y.detach().numpy(), *(g.numpy() for g in wg.autograd.grad((y * weights).sum(), (x,)))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", sorted(whole()))
def test_what_is_computed_as_a_whole_agrees_with_the_kernels(name, used):
    function, data = whole()[name], large(5, 16, 20, 15)
    found = gradients(function, data)
    assert used
    wg.compiler.set_fused_kernels(False)
    try:
        wanted = gradients(function, data)
    finally:
        wg.compiler.set_fused_kernels(True)
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype and a.strides == b.strides
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * max(1, np.abs(b).max()))


@pytest.mark.parametrize("name", ["expm1", "gelu", "log_softmax", "sigmoid", "softmax", "tan"])
def test_derivatives_of_large_arrays_are_native_with_and_without_compiled_nodes(name, used):
    x, weights = wg.tensor(large(100, 100), requires_grad=True), wg.tensor(large(100, 100, seed=1))
    function = getattr(F, name, None) or getattr(wg, name)
    y = function(x, dim=1) if "softmax" in name else function(x)
    used.clear()
    (found,) = wg.autograd.grad(y, x, weights, retain_graph=True)
    assert used == ["rule"]
    wg.compiler.set_fused_kernels(False)
    try:
        (wanted,) = wg.autograd.grad(y, x, weights)
    finally:
        wg.compiler.set_fused_kernels(True)
    assert used == ["rule"]
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-5)


def test_what_does_not_lie_row_by_row_or_is_small_is_the_kernels(used):
    x = wg.tensor(large(200, 200))
    for given in (x.t(), x[:, ::2], x[:10]):
        F.gelu(given)
    assert used == []
    F.gelu(x)
    assert used == ["gelu"]


@pytest.mark.parametrize("shape", [(1,), (200,), (200, 1), (1, 200)])
def test_arguments_that_broadcast_to_the_first_are_repeated(shape, used):
    x, w = large(200, 200), large(*shape, seed=1)
    found = K.prelu(x, w)
    np.testing.assert_array_equal(found, K.prelu(x, np.broadcast_to(w, x.shape).copy()))
    assert used == ["prelu", "prelu"]
    wanted = K.prelu(w, x)
    np.testing.assert_array_equal(wanted, TABLE["prelu"].kernel(w, x))
    with pytest.raises(ValueError, match="broadcast"):
        K.prelu(x, large(199))
    assert used == ["prelu", "prelu"]


def test_equal_arguments_have_equal_results_whatever_the_shape(used):
    data = large(3 * LARGE + 17)
    whole = F.gelu(wg.tensor(data))
    again = F.gelu(wg.tensor(data.reshape(1, -1)))
    assert wg.equal(whole, again[0])
    assert used == ["gelu", "gelu"]


@pytest.mark.parametrize("at", [0, 5 * LARGE + 3, -1])
def test_an_element_that_is_not_finite_leaves_all_to_the_kernel(at, used):
    data = large(20 * LARGE + 17)
    data[at] = np.inf
    found = F.silu(wg.tensor(data)).numpy()
    np.testing.assert_array_equal(found, TABLE["silu"].kernel(data))
    assert used == []


def test_threads_change_no_bit(used):
    data = wg.tensor(large(20 * LARGE + 17))
    before = wg.get_num_threads()
    found = []
    try:
        for count in (1, 2, 3):
            wg.set_num_threads(count)
            found.append(F.gelu(data))
    finally:
        wg.set_num_threads(before)
    assert wg.equal(found[0], found[1]) and wg.equal(found[0], found[2])
    assert used == ["gelu"] * 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_remainders_are_exact_whatever_the_quotient(dtype, used):
    rng = np.random.default_rng(3)
    a, b = (
        (rng.standard_normal(LARGE) * 10.0 ** rng.integers(-20, 20, LARGE)).astype(dtype)
        for _ in range(2)
    )
    a[:9], b[:9] = (
        [0.5, -0.5, 7, -7, 1e30, 3, -0.0, 0.3, 1e-40],
        [3, 3, -2, 2, 0.1, 1e30, 3, 0.1, 3],
    )
    for name, wanted in (("remainder", np.remainder(a, b)), ("fmod", np.fmod(a, b))):
        found = getattr(K, name)(a, b)
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))
    assert used == ["remainder", "fmod"]


@pytest.mark.parametrize("name", ["argcummax", "argcummin"])
@pytest.mark.parametrize("dim", [0, 1])
def test_positions_of_running_extremes_are_those_of_the_kernel(name, dim, used):
    rng = np.random.default_rng(4)
    data = np.round(rng.standard_normal((103, 101)), 1).astype(np.float32)
    data[rng.random(data.shape) < 0.01] = np.nan
    data[rng.random(data.shape) < 0.01] = np.inf
    found, wanted = getattr(K, name)(data, dim=dim), TABLE[name].kernel(data, dim=dim)
    assert used == [name]
    np.testing.assert_array_equal(found, wanted)


def test_running_sums_are_in_double_precision(used):
    data = large(2, 3 * LARGE)
    wanted = np.cumsum(data, 1, np.float64).astype(np.float32)
    np.testing.assert_array_equal(wg.tensor(data).cumsum(1).numpy(), wanted)
    assert used == ["cumsum"]


def test_second_derivatives_and_vmap_go_through_it(used):
    x = wg.tensor(large(2, LARGE, dtype=np.float64), requires_grad=True)
    (g,) = wg.autograd.grad(F.softplus(x).sum(), x, create_graph=True)
    (gg,) = wg.autograd.grad(g.sum(), x)
    s = wg.sigmoid(x)
    np.testing.assert_allclose(gg.numpy(), (s * (1 - s)).detach().numpy(), rtol=1e-12)
    rows = wg.func.vmap(F.softplus)(x.detach())
    np.testing.assert_allclose(rows.numpy(), F.softplus(x).detach().numpy(), rtol=1e-14)
    assert used


def test_an_index_out_of_range_raises_what_the_kernel_raises():
    table = wg.tensor(large(300, 100), requires_grad=True)
    with pytest.raises(RuntimeError, match="out of bounds"):
        table.index_add(0, wg.tensor([300] * 300), table.detach())


@pytest.mark.parametrize("name", ["gather", "scatter", "scatter_add"])
def test_native_code_that_has_served_leaves_an_index_out_of_range_to_the_kernel(name, used):
    table = large(200, 100)
    given = () if name == "gather" else (table,)
    index = np.random.default_rng(1).integers(-200 if name == "gather" else 0, 200, (200, 100))
    found = getattr(K, name)(table, index, *given, dim=0)
    np.testing.assert_array_equal(found, TABLE[name].kernel(table, index, *given, dim=0))
    assert used == [name]
    index[5, 7] = 200
    for _ in range(2):
        with pytest.raises(IndexError, match="out of bounds"):
            getattr(K, name)(table, index, *given, dim=0)


def test_the_logarithm_of_gamma_has_the_digits_of_single_precision(used):
    special = pytest.importorskip("scipy.special")
    steps = np.float32(10.0) ** np.linspace(-7, 35, LARGE, dtype=np.float32)
    near = np.geomspace(1e-7, 0.5, LARGE)
    for x in (steps, np.linspace(-40.3, 40, 5 * LARGE), 1 + near, 2 - near, -2.457024738 + near):
        x = x.astype(np.float32)
        found, wanted = K.lgamma(x), special.gammaln(x.astype(np.float64))
        apart = np.abs(found - wanted) / np.spacing(np.abs(wanted).astype(np.float32))
        assert apart.max() < 1
    assert used == ["lgamma"] * 5
    whole = np.tile(np.float32([1, 2, 0.5]), LARGE)
    assert not K.lgamma(whole)[[0, 1]].any()


def test_threads_make_one_function_together():
    data = [large(LARGE + i, seed=i) for i in range(4)]
    wanted = [F.silu(wg.tensor(array)).numpy() for array in data]
    fused._MADE.clear()
    fused._KINDS.clear()
    results = [None] * 4

    def work(i):
        results[i] = F.silu(wg.tensor(data[i])).numpy()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for found, array in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(found, array)


def test_kinds_without_end_are_left_to_the_kernel(used, monkeypatch):
    monkeypatch.setattr(fused, "_MOST", 2)
    fused._MADE.clear()
    fused._KINDS.clear()
    for width in (100, 101, 102, 100):
        F.softmax(wg.tensor(large(100, width)), 1)
    assert used == ["softmax"] * 3


def test_warnings_are_numpys_in_every_call(used):
    x = wg.from_numpy(np.full(LARGE + 5, -1, np.float32))
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            wg.log1p(x)
    assert used == []
    wg.log1p(-x)
    assert used == ["log1p"]


def test_convolutions_of_images_of_many_sizes_are_those_of_the_kernel(used):
    weight, bias = large(16, 1, 3, 3, seed=1), large(16, seed=2)
    convolution = TABLE["convolution"]
    params = {"stride": (1, 1), "padding": (1, 1), "dilation": (1, 1), "transposed": False}
    params |= {"output_padding": (0, 0), "groups": 1}
    for count, side in ((355, 8), (355, 10), (300, 12), (310, 14), (200, 9)):
        given = large(count, 1, side, side, seed=side), weight, bias
        found = K.convolution(*given, **params)
        np.testing.assert_allclose(
            found, convolution.kernel(*given, **params), rtol=2e-5, atol=2e-5
        )
    assert "convolution" in used


@pytest.mark.parametrize(
    "function",
    [
        lambda x: wg.softmax(x, 1),
        lambda x: F.layer_norm(x, x.shape[1:]),
        lambda x: (wg.softmax(x, 0) * x.cumsum(1)).sum(1),
        wg.compile(lambda x: x.exp() * x.sin() + x.tanh(), threads=2),
    ],
    ids=["softmax", "layer_norm", "columns", "compiled"],
)
def test_no_bit_depends_on_the_number_of_threads(function, monkeypatch):
    shared = []
    real = parallelise.share
    monkeypatch.setattr(parallelise, "share", lambda *args: (shared.append(args), real(*args)))
    data, before = large(701, 997, seed=4), wg.get_num_threads()
    found = []
    try:
        # compiled for one, used by several
        for count in (1, 2, 3, 7, 1):
            wg.set_num_threads(count)
            if count == 2:
                shared.clear()
            x = wg.tensor(data, requires_grad=True)
            y = function(x)
            found.append((y.detach(), *wg.autograd.grad(y, x, y.detach())))
    finally:
        wg.set_num_threads(before)
    assert shared
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            assert wg.equal(one, other)
