"""Test NumPy's functions on tensors: all are classified, and derivatives are right."""

import itertools
import warnings

import numpy as np
import pytest

import wengert as wg
from support.numpy_samples import SAMPLES
from support.numpy_ufunc_samples import ONCE, SPECIAL, UFUNCS
from wengert.tensor.numpy.dispatch import kind_of
from wengert.tensor.numpy.kinds import APART, CONSTANT, REFUSED

special = pytest.importorskip("scipy.special")
HOMES = {"": np, "linalg.": np.linalg, "fft.": np.fft}


def public(home):
    for name in dir(home):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # names that are on their way out
            value = getattr(home, name)
        if not name.startswith("_") and callable(value) and not isinstance(value, type):
            yield name, value


NAMES = [
    prefix + (value.__name__ if isinstance(value, np.ufunc) else name)
    for prefix, home in HOMES.items()
    for name, value in public(home)
    if not isinstance(value, np.vectorize)
]
SCIPY = sorted({v.__name__ for _, v in public(special) if isinstance(v, np.ufunc)})
EVERY = sorted({*NAMES, *(f"special.{name}" for name in SCIPY)})


def function_of(name):
    home, _, own = name.rpartition(".")
    return getattr({**HOMES, "special.": special}[home + "." if home else ""], own)


def exists(name):
    try:
        function_of(name)
    except AttributeError:
        return False
    return True


def leaves(result):
    if isinstance(result, list | tuple):
        return [leaf for part in result for leaf in leaves(part)]
    return [result]


def test_every_function_of_numpy_and_ufunc_of_scipy_is_of_one_kind():
    assert [name for name in EVERY if kind_of(name) is None] == []
    assert len(EVERY) > 600


def test_no_function_is_of_two_kinds():
    rules = {name for name in (*NAMES, *SAMPLES) if kind_of(name) == "rule"}
    for first, second in (
        (rules, CONSTANT), (rules, REFUSED), (rules, APART),
        (CONSTANT, REFUSED), (CONSTANT, APART), (set(REFUSED), APART),
    ):  # fmt: skip
        assert not set(first) & set(second)


def test_every_rule_has_samples():
    writes = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}
    rules = {name for name in EVERY if kind_of(name) == "rule"}
    known = {*SAMPLES, *UFUNCS, *(f"special.{own}" for own in (*SPECIAL, *ONCE)), *NEVER}
    assert rules - writes - known == set()


CALLS = [
    pytest.param(name, call, id=f"{name}({call})"[:80])
    for table, prefix in ((SAMPLES, ""), (UFUNCS, ""), (SPECIAL, "special."), (ONCE, "special."))
    for name, calls in ((prefix + own, calls) for own, calls in table.items())
    if exists(name)
    for call in calls
]
# what a rule of NumPy's older versions computes otherwise
STEPS = {"all", "any"}


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("name", "call"), CALLS)
def test_a_rule_gives_numpys_values_and_right_derivatives(name, call):
    function = function_of(name)
    arrays = call.arrays()
    if not arrays:
        pytest.skip("no tensor among the arguments")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = leaves(call.run(function, arrays))
    tensors = [wg.tensor(array, requires_grad=True) for array in arrays]
    results = leaves(call.run(function, tensors))
    assert len(results) == len(expected)
    for result, value in zip(results, expected, strict=True):
        if isinstance(result, int):
            assert result == value
            continue
        assert isinstance(result, wg.Tensor)
        assert result.detach().numpy().dtype == value.dtype
        np.testing.assert_allclose(result.detach().numpy(), value, rtol=1e-9, atol=1e-11)

    def differentiable(*tensors):
        return tuple(
            leaf
            for leaf in leaves(call.run(function, list(tensors)))
            if isinstance(leaf, wg.Tensor) and leaf.requires_grad
        )

    if not differentiable(*tensors):
        assert name in STEPS or name == "histogram_bin_edges"
        return
    assert wg.autograd.gradcheck(differentiable, tuple(tensors))
    if name.removeprefix("special.") not in ONCE:
        assert wg.autograd.gradgradcheck(differentiable, tuple(tensors))


NEVER = {
    "special.elliprd": lambda f, t: f(t, t, t),
    "special.pro_cv": lambda f, t: f(1, 2, t),
    "special.obl_cv": lambda f, t: f(1, 2, t),
}


@pytest.mark.parametrize("name", NEVER)
def test_a_value_without_a_known_derivative_refuses_to_have_one(name):
    t = wg.tensor([0.3, 0.5], dtype=wg.float64)
    function = function_of(name)
    np.testing.assert_allclose(NEVER[name](function, t).numpy(), NEVER[name](function, t.numpy()))
    with pytest.raises(NotImplementedError):
        NEVER[name](function, t.requires_grad_()).sum().backward()


REFUSING = {
    "histogram2d": lambda f, t: f(t, t),
    "histogramdd": lambda f, t: f(t),
    "savetxt": lambda f, t: f("x.txt", t),
    "save": lambda f, t: f("x.npy", t),
    "savez": lambda f, t: f("x.npz", t),
    "savez_compressed": lambda f, t: f("x.npz", t),
    "special.elliprj": lambda f, t: f(t, t, t, t),
    "special.chndtridf": lambda f, t: f(2.0, t, 0.5),
    "special.zetac": lambda f, t: f(t),
}


@pytest.mark.parametrize("name", REFUSING)
def test_a_refused_function_says_what_to_write(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    t = wg.tensor([0.3, 0.5], dtype=wg.float64, requires_grad=True)
    with pytest.raises(NotImplementedError) as caught:
        REFUSING[name](function_of(name), t)
    text = str(caught.value)
    assert text.startswith(f"there is no derivative rule for {'scipy.' * ('special' in name)}")
    assert REFUSED[name] in text
    assert "test_numpy_functions.py:" in text
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [n for n in REFUSING if not n.startswith("save")])
def test_without_a_gradient_it_computes_on_the_values(name):
    values = np.array([0.3, 0.5])
    call = REFUSING[name]
    results = leaves(call(function_of(name), wg.tensor(values)))
    expected = leaves(call(function_of(name), values))
    for result, value in zip(results, expected, strict=True):
        assert isinstance(result, wg.Tensor)
        np.testing.assert_allclose(result.numpy(), value)


def test_a_user_defined_ufunc_is_refused():
    t = wg.tensor([1.0], requires_grad=True)
    with pytest.raises(NotImplementedError, match="Call the Python function"):
        np.frompyfunc(lambda v: v + 1, 1, 1)(t)


CONSTANTS = {
    "allclose": lambda np, t: np.allclose(t, t),
    "argmax": lambda np, t: np.argmax(t),
    "argmin": lambda np, t: np.argmin(t, axis=0),
    "argpartition": lambda np, t: np.argpartition(t, 1),
    "argsort": lambda np, t: np.argsort(t),
    "argwhere": lambda np, t: np.argwhere(t),
    "array2string": lambda np, t: np.array2string(t),
    "array_equal": lambda np, t: np.array_equal(t, t),
    "array_repr": lambda np, t: np.array_repr(t),
    "count_nonzero": lambda np, t: np.count_nonzero(t),
    "digitize": lambda np, t: np.digitize(t, [0.0, 1.0]),
    "isclose": lambda np, t: np.isclose(t, 0.3),
    "isin": lambda np, t: np.isin(t, [0.3]),
    "iscomplexobj": lambda np, t: np.iscomplexobj(t),
    "lexsort": lambda np, t: np.lexsort((t, t)),
    "ndim": lambda np, t: np.ndim(t),
    "nonzero": lambda np, t: np.nonzero(t),
    "result_type": lambda np, t: np.result_type(t, np.float32),
    "searchsorted": lambda np, t: np.searchsorted(t, 0.4),
    "shape": lambda np, t: np.shape(t),
    "size": lambda np, t: np.size(t),
    "zeros_like": lambda np, t: np.zeros_like(t),
    "ones_like": lambda np, t: np.ones_like(t, dtype=np.float32),
    "linalg.matrix_rank": lambda np, t: np.linalg.matrix_rank(np.outer(t, t)),
    "floor_divide": lambda np, t: np.floor_divide(t, 0.2),
    "greater": lambda np, t: np.greater(t, 0.4),
    "signbit": lambda np, t: np.signbit(t),
    "spacing": lambda np, t: np.spacing(t),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_function_computes_on_the_values(name):
    assert kind_of(name) == "constant"
    values = np.array([0.3, 0.5])
    t = wg.tensor(values, requires_grad=True)
    results = leaves(CONSTANTS[name](np, t))
    for result, value in zip(results, leaves(CONSTANTS[name](np, values)), strict=True):
        if isinstance(result, wg.Tensor):
            assert not result.requires_grad
            result = result.numpy()
        assert np.array_equal(result, value)


def test_the_raw_factors_are_those_of_a_plain_array():
    a = np.arange(12.0).reshape(2, 3, 2) ** 2
    for made, expected in zip(
        np.linalg.qr(wg.tensor(a), "raw"), np.linalg.qr(a, "raw"), strict=True
    ):
        assert isinstance(made, wg.Tensor)
        np.testing.assert_allclose(made.numpy(), expected)


def test_out_is_written_and_recorded():
    t = wg.tensor([1.0, 2.0], dtype=wg.float64, requires_grad=True)
    for call in (
        lambda out: np.cumsum(t, out=out),
        lambda out: np.clip(t, 0, 1.5, out),
        lambda out: np.concatenate([t[:1], t[1:]], out=out),
        lambda out: np.mean(np.stack([t, t]), axis=0, out=out),
    ):
        out = wg.zeros(2, dtype=wg.float64)
        assert call(out) is out
        assert out.requires_grad
    with pytest.raises(TypeError, match="plain NumPy array"):
        np.sum(np.stack([t, t]), axis=0, out=np.zeros(2))


def test_clipping_in_place_keeps_what_the_graph_needs():
    leaf = wg.tensor([-2.0, 0.5, 3.0], dtype=wg.float64, requires_grad=True)
    x = leaf * 2
    np.clip(x, -1, 1.5, out=x)
    x.sum().backward()
    assert leaf.grad.tolist() == [0.0, 2.0, 0.0]


def test_arrays_and_tensors_meet_in_numpys_common_dtype():
    t = wg.ones(2, dtype=wg.float32)
    for found, dtype, values in (
        (np.stack([t, np.ones(2)]), wg.float64, [[1.0, 1.0], [1.0, 1.0]]),
        (np.dot(np.arange(2), t), wg.float64, 1.0),
        (np.where(t > 0, t, 2.5), wg.float32, [1.0, 1.0]),
        (np.mean(wg.arange(3)), wg.float64, 1.0),
        (np.sqrt(wg.arange(2)), wg.float64, [0.0, 1.0]),
    ):
        assert (found.dtype, found.tolist()) == (dtype, values)


def test_numpys_errors_stay():
    t = wg.ones(2, 2, dtype=wg.float64)
    with pytest.raises(np.exceptions.AxisError):
        np.sum(t, axis=2)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(wg.ones(2, 3))
    with pytest.raises(ValueError, match="zero-size array"):
        np.max(wg.ones(0))


def test_another_librarys_class_is_asked():
    class Other:
        def __array_function__(self, function, types, args, kwargs):
            return "theirs"

    assert np.concatenate([wg.ones(2), Other()]) == "theirs"


def test_histograms_hold_what_is_at_their_ends():
    a, weights = np.array([0.3, -0.7, 1.9]), np.array([1.0, 2.0, 3.0])
    for bins in (3, 7, 10):
        found = np.histogram(a, bins, weights=wg.tensor(weights, requires_grad=True))[0]
        assert np.array_equal(found.detach().numpy(), np.histogram(a, bins, weights=weights)[0])
        counts, edges = np.histogram(wg.tensor(a), bins)
        assert np.array_equal(counts.numpy(), np.histogram(a, bins)[0])
        assert edges[-1].item() == 1.9


TABLE = np.eye(2)
HOLES = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, 6.0]])
SMALL = np.array([[3, 1], [2, 7]], np.int32)
ON = np.array([[True, False], [True, True]])
SAME_AS_NUMPY = (
    (np.max, (ON,), {"initial": 0}), (np.min, (SMALL,), {"initial": 2.5, "axis": 0}),
    (np.max, (SMALL,), {"initial": -1, "where": ON, "axis": 1}),
    (np.sum, (SMALL,), {"initial": 0.5}),
    (np.prod, (ON,), {"initial": 2.5}), (np.nanvar, (HOLES,), {"ddof": 2, "axis": 0}),
    (np.nanstd, (HOLES,), {"correction": 3, "axis": 1}),
    (np.median, (SMALL,), {"axis": (), "keepdims": True}),

    (np.quantile, (SMALL, [0.2, 0.8]), {"axis": (), "keepdims": True}),
    (np.quantile, (SMALL, [0.2, 0.8]), {"method": "lower", "axis": 0}),
    (np.percentile, (ON, 30), {"method": "nearest"}),
    (np.diff, (SMALL,), {"n": 0, "prepend": 1}),
    (np.insert, (SMALL, [0, 1], [7.5, 8]), {"axis": 1}),
    (np.insert, (ON, 1, 5), {"axis": None}),
    (np.ediff1d, (SMALL.astype("i1"),), {"to_end": [1, 2], "to_begin": 0}),
    (np.setdiff1d, (SMALL, np.array([1.0, 9.5])), {}), (np.angle, (SMALL,), {"deg": True}),
    (np.vander, (np.array([20, 30], np.uint8), 3), {}),
    (np.polymul, (np.array([0, 0, 2]), np.array([0, 1, 3])), {}),
    (np.polymul, (np.array([0, 0]), np.array([0, 1, 3])), {}),
    (np.take, (SMALL, ON), {"axis": 1}), (np.take, (np.array(3.0), [0, 0]), {"axis": -1}),
    (np.cumsum, (np.array(3),), {"axis": 0}), (np.repeat, (np.array(3.0), 2), {"axis": 0}),
    (np.cov, (HOLES[:1].astype("f4"),), {}), (np.cov, (TABLE, ON), {"dtype": "f4"}),
    (np.corrcoef, (SMALL,), {"dtype": "f4"}), (np.corrcoef, (SMALL.astype("f4"),), {}),
    (np.hstack, ([SMALL],), {"dtype": "f4", "casting": "unsafe"}),
    (np.vstack, ([TABLE],), {"dtype": "i8", "casting": "unsafe"}),
    (np.add, (TABLE, 0.7), {"dtype": "i8", "casting": "unsafe"}),
    (np.fmod, (2.5, SMALL * 0.6), {"dtype": "i8", "casting": "unsafe"}),
    (np.multiply, (TABLE.astype("f4"), 0.1), {"dtype": "f8"}),
    (np.multiply, (TABLE, 0.1), {"signature": "ff->f", "casting": "same_kind"}),
)  # fmt: skip


def tensors(value):
    if isinstance(value, list):
        return [tensors(part) for part in value]
    return wg.tensor(value) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(("function", "args", "named"), SAME_AS_NUMPY)
def test_rare_arguments_give_numpys_values_and_dtypes(function, args, named):
    given = [tensors(a) for a in args]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's averages of nothing
        expected = function(*args, **named)
        result = function(*given, **named).numpy()
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=1e-12, strict=True)


def test_a_list_is_averaged_into_a_tensor():
    out = wg.zeros(3, dtype=wg.float64)
    np.nanmean([wg.tensor([1.0, np.nan, 3.0]), wg.tensor([2.0, 5.0, 6.0])], axis=0, out=out)
    assert out.tolist() == [1.5, 5.0, 4.5]


REFUSED_ARGUMENTS = (
    (lambda: np.mean(wg.tensor(SMALL), dtype="i8"), TypeError, "floating point or complex"),
    (lambda: np.nanmean(wg.tensor(SMALL), dtype="i8"), TypeError, "floating point or complex"),
    (lambda: np.var(wg.tensor(TABLE + 1j), dtype="f8"), TypeError, "floating point or complex"),
    (lambda: np.vander(wg.tensor(TABLE)), ValueError, "one-dimensional"),
    (lambda: np.polymul(wg.tensor(TABLE), wg.tensor(TABLE)), ValueError, "1d only"),
    (lambda: np.roots(wg.tensor(TABLE)), ValueError, "1d only"),
    (lambda: np.concatenate([wg.tensor(TABLE)], dtype="i8"), TypeError, "rule 'same_kind'"),
    (lambda: np.stack([wg.tensor(TABLE)], dtype="f4", casting="no"), TypeError, "rule 'no'"),
    (lambda: np.ediff1d(wg.tensor(SMALL), to_end=wg.tensor([0.5])), TypeError, "`to_end`"),
    (lambda: wg.tensor(SMALL) * np.ones(2, np.longdouble), TypeError, "numpy.(float|longdouble)"),
    (lambda: np.ones(2, np.clongdouble) + wg.tensor(TABLE), TypeError, "numpy.c(omplex|longd)"),
)


@pytest.mark.parametrize(("call", "error", "words"), REFUSED_ARGUMENTS)
def test_arguments_without_a_right_result_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.expand_dims(x, (0, 0)),
        lambda x: np.rot90(x, 1, (0, 0)),
        lambda x: np.rot90(x, 1, (1, -1)),
        lambda x: np.flip(x, (0, 0)),
        lambda x: np.squeeze(x[None], (0, 0)),
        lambda x: np.sum(x, (0, -2)),
    ],
)
def test_an_axis_that_is_given_twice_is_refused(call):
    for values in (np.ones((2, 2)), wg.ones(2, 2, dtype=wg.float64)):
        with pytest.raises(ValueError):
            call(values)


def test_what_pads_has_a_derivative():
    value = wg.tensor(2.0, requires_grad=True)
    np.pad(wg.ones(2, 2), ((1, 0), (0, 2)), constant_values=value).sum().backward()
    assert value.grad == 8
    with pytest.raises(TypeError, match="losing its gradient"):
        np.pad(wg.ones(2), (1, 1), constant_values=wg.ones(1, 2, requires_grad=True))


def test_polynomials_of_single_precision_are_fitted_in_double_as_in_numpy():
    x, y = np.arange(4, dtype=np.float32), np.array([1, 3, 7, 13], np.float32)
    found = np.polyfit(wg.from_numpy(x), wg.from_numpy(y), 2)
    assert found.dtype == wg.float64
    np.testing.assert_allclose(found, np.polyfit(x, y, 2), atol=1e-12)


def test_products_over_several_axes_overflow_no_sooner_than_numpys():
    # the upper half alone would be infinite, and the lower half is 0
    values = np.arange(720.0, dtype=np.float32).reshape(2, 3, 4, 5, 6) / np.float32(359.5)
    assert np.prod(values, axis=(0, 1, 2, 3, 4)) == 0
    assert np.prod(wg.tensor(values), axis=(0, 1, 2, 3, 4)) == 0
    for dtype, axis, keepdims in itertools.product(
        ("?", "i1", "u2", "f4"), ((0, 2), (-1, 0), (), 1, None), (False, True)
    ):
        a = np.arange(1, 25).reshape(2, 3, 4).astype(dtype)
        expected = np.prod(a, axis=axis, keepdims=keepdims)
        made = np.prod(wg.tensor(a), axis=axis, keepdims=keepdims).numpy()
        np.testing.assert_array_equal(made, expected, strict=True)
    x = wg.rand(2, 3, 4, dtype=wg.float64, requires_grad=True)
    assert wg.autograd.gradcheck(lambda x: np.prod(x, axis=(0, 2)), x)
    assert wg.autograd.gradgradcheck(lambda x: np.prod(x, axis=(0, 2), keepdims=True), x)


def test_numpys_names_order_and_contract_dimensions():
    x, y = wg.rand(2, 3, 4), wg.rand(4, 3, 5)
    axes = ((1, 2), (1, 0))
    assert wg.equal(wg.tensordot(x, y, axes=axes), wg.tensordot(x, y, dims=axes))
    assert wg.equal(wg.transpose(x, (2, 0, 1)), x.permute(2, 0, 1))
    with pytest.raises(TypeError, match="argument 'dim1' must be int"):
        wg.transpose(x, 0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        wg.tensordot(x, y, axis=axes)


def test_opt_einsum_takes_tensors_without_a_backend():
    opt_einsum = pytest.importorskip("opt_einsum")
    x = wg.rand(3, 4, dtype=wg.float64, requires_grad=True)
    y = wg.rand(3, 5, dtype=wg.float64)
    for text, operands in (
        ("ab,cb->ac", (x, x)),
        ("ab,ab->", (x, x)),
        ("ab,cb,cd->da", (x, x, y)),
        ("ab->ba", (x,)),
        ("a,b->ba", (x[:, 0], y[0])),
    ):
        made = opt_einsum.contract(text, *operands)
        np.testing.assert_allclose(
            made.detach().numpy(), np.einsum(text, *[o.detach().numpy() for o in operands])
        )
        assert made.requires_grad
    assert wg.autograd.gradcheck(lambda x: opt_einsum.contract("ab,cb,cd->da", x, x, y), x)
