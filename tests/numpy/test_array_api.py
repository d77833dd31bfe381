"""Test `wengert.numpy` as a namespace of the array API standard."""

import numpy
import pytest

import wengert as wg
import wengert.numpy as np
from support import array_api


def test_a_sample_of_the_standards_calls_gives_what_the_strict_library_gives():
    pytest.importorskip("array_api_strict")
    if np.__array_api_version__ < array_api.VERSION:
        pytest.skip("this NumPy follows an older version of the standard")
    count, differing = array_api.compared(every=23)
    assert count > 1000
    assert differing == []


EDGES = [0.0, -0.0, 1, -1, 0.5, 2.5, -2.5, 3, 1e30, numpy.inf, -numpy.inf, numpy.nan]
# of complex numbers: the inverse of zero is infinite, and NumPy orders them
OWN = {("reciprocal", "c"), ("maximum", "c"), ("minimum", "c")}


@pytest.mark.sampled(60)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", [*array_api.UNARY.split(), *array_api.BINARY.split()])
def test_special_values_are_numpys(name, dtype, recorded):
    if (name, dtype[0]) in OWN:
        pytest.skip("differs")
    kind = numpy.dtype(dtype)
    values = [complex(a, b) for a in EDGES for b in EDGES] if kind.kind == "c" else EDGES
    x = numpy.array(values, kind)
    given = [x] if name in array_api.UNARY.split() else [x[:, None], x[None]]
    try:
        expected = getattr(numpy, name)(*given)
    except TypeError:
        pytest.skip("not for this dtype")
    ours = [np.asarray(one).requires_grad_(recorded) for one in given]
    found = getattr(np, name)(*ours).detach().numpy()
    assert found.dtype == expected.dtype
    for one, other in ((found.real, expected.real), (found.imag, expected.imag)):
        numpy.testing.assert_allclose(one, other, rtol=4 * numpy.finfo(kind).eps, atol=0)
        zero = other == 0
        numpy.testing.assert_array_equal(numpy.signbit(one[zero]), numpy.signbit(other[zero]))


@pytest.mark.parametrize("make", [wg.tensor, np.array], ids=["tensor", "array"])
def test_tensors_know_their_namespace_and_functions_of_it_differentiate(make):
    x = make([1.0, 2.0]).requires_grad_()
    xp = x.__array_namespace__(api_version="2022.12")
    assert xp is np
    with pytest.raises(ValueError, match=r"2001\.12"):
        x.__array_namespace__(api_version="2001.12")
    xp.sum(xp.sort(xp.asarray(x), descending=True) * xp.asarray([1.0, 10.0])).backward()
    assert x.grad.tolist() == [10.0, 1.0]


def test_array_api_compat_finds_the_namespace():
    compat = pytest.importorskip("array_api_compat")
    x = np.ones(2)
    assert compat.is_array_api_obj(x) and compat.is_array_api_obj(wg.ones(2))
    assert compat.array_namespace(x, wg.ones(2), 1.0) is np
    assert compat.device(x) == wg.device("cpu")
    assert compat.to_device(x, "cpu") is x
    assert compat.size(x) == 2


def test_dtypes_are_listed_by_kind():
    info = np.__array_namespace_info__()
    assert list(info.dtypes(kind=("bool", "real floating"))) == ["bool", "float32", "float64"]
    assert all(isinstance(found, numpy.dtype) for found in info.dtypes(kind=("bool",)).values())
    assert len(info.dtypes()) == 13 and info.dtypes(kind=()) == {}
    with pytest.raises(ValueError, match="kind"):
        info.dtypes(kind="numbers")


def test_devices_are_the_cpu_alone():
    cpu = np.ones(1).device
    given = [np.zeros(2, device=cpu), np.full(2, 0.0, device=cpu), np.asarray([0.0], device=cpu)]
    given += [np.zeros_like(given[0], device=cpu), np.linspace(0, 1, 2, device=cpu)]
    assert all(x.device == cpu == np.__array_namespace_info__().default_device() for x in given)
    for call in (np.full, np.full_like):
        with pytest.raises((RuntimeError, ValueError), match=r"no GPU|not understood"):
            call(np.ones(2) if call is np.full_like else 2, 1.0, device="cuda")
    with pytest.raises(ValueError, match="no streams"):
        given[0].to_device("cpu", stream=1)


def test_sums_of_unsigned_integers_stay_unsigned():
    x = np.asarray([[200, 100]], dtype=np.uint8)
    for name in ("sum", "prod", "cumsum", "cumprod"):
        ours, theirs = getattr(np, name)(x, axis=1), getattr(numpy, name)(x.numpy(), axis=1)
        assert ours.dtype == theirs.dtype == np.uint64
        assert ours.tolist() == theirs.tolist()
    small = np.asarray([100, 100], dtype=np.int8)
    assert np.vecdot(small, small).dtype == np.int8
    assert int(np.vecdot(small, small)) == int(numpy.vecdot(small.numpy(), small.numpy()))


def test_reductions_of_a_number_along_its_one_axis():
    x = np.asarray(3.0).requires_grad_()
    (np.sum(x, axis=0) + np.max(x, axis=-1) * np.prod(x, axis=(0,))).backward()
    assert x.grad.item() == 7.0
    with pytest.raises(numpy.exceptions.AxisError):
        np.sum(x, axis=1)
    assert np.max(np.ones((0, 0)), axis=0).shape == (0,)


def test_conversion_without_a_copy_is_refused_where_one_is_needed():
    x = np.ones(2)
    assert np.asarray(x, dtype=np.float64, copy=False) is not None
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, dtype=np.float32, copy=False)
    wide = np.ones((2, 3)).requires_grad_()
    assert np.reshape(wide, (6,), copy=False).base is wide
    assert wide.reshape(6, copy=True).base is not wide
    for order in "CF":
        with pytest.raises(ValueError, match="copy"):
            np.reshape(wide.T if order == "C" else wide, (6,), order=order, copy=False)


@pytest.mark.parametrize("name", ["exp", "max", "std"])
def test_what_an_operation_gave_may_be_written_to(name):
    def loss(x):
        y = getattr(np, name)(x)
        y += 1
        part = y[...]
        part *= 2
        y[y > 100] = 0
        return np.sum(y * x)

    x = np.array([0.5, 1.0]).requires_grad_()
    expected = (2 * (getattr(np, name)(x) + 1) * x).sum()
    (second,) = wg.autograd.grad(expected, x, create_graph=True)
    (found,) = wg.autograd.grad(loss(x), x, create_graph=True)
    assert np.allclose(found, second)
    given = [wg.autograd.grad(np.sum(g), x)[0] for g in (found, second)]
    assert np.allclose(*given)


def test_a_write_to_what_another_operation_kept_is_still_an_error():
    x = np.array([0.5, 1.0]).requires_grad_()
    y = np.exp(x)
    z = y * x
    y += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_special_functions_of_the_namespace():
    special = pytest.importorskip("scipy.special")
    x = np.array([0.5, 1.5]).requires_grad_()
    for name in ("gammaln", "erf", "logsumexp"):
        ours = getattr(np.special, name)(x)
        assert type(ours) is np.ndarray
        assert numpy.allclose(ours.detach().numpy(), getattr(special, name)(x.detach().numpy()))
    np.special.gammaln(x).sum().backward()
    assert numpy.allclose(x.grad.numpy(), special.digamma([0.5, 1.5]))
    assert np.special.polygamma(2.0, x).tolist() == np.special.polygamma(2, x).tolist()
    orders = np.special.polygamma(np.array([0, 3]), x)
    assert orders.tolist() == pytest.approx(special.polygamma([0, 3], [0.5, 1.5]).tolist())
    x.grad = None
    orders.sum().backward()
    assert numpy.allclose(x.grad.numpy(), special.polygamma([1, 4], [0.5, 1.5]))
    assert "betainc" in dir(np.special)
    with pytest.raises(AttributeError, match="nctdtrinc"):
        np.special.nctdtrinc  # noqa: B018


@pytest.mark.parametrize(
    "copy", [np.copy, np.array, lambda x: x.copy(), lambda x: np.astype(x, x.dtype)]
)
def test_copies_are_written_to_after_they_were_computed_with(copy):
    x = np.array([3.0, 4.0]).requires_grad_()
    y = copy(x)
    y /= np.sqrt(np.sum(y * y))
    (found,) = wg.autograd.grad(y[0], x)
    assert np.allclose(found, [16 / 125, -12 / 125])


@pytest.mark.parametrize("name", ["vecdot", "linalg.vecdot"])
def test_vecdot_contracts_the_axis_of_each_array_and_nothing_stretches(name):
    ours, theirs = np, numpy
    for part in name.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    for left, right in [((1,), (3,)), ((0,), (1,)), ((), (3,))]:
        for call, make in ((theirs, numpy.ones), (ours, np.ones)):
            with pytest.raises(ValueError, match="core"):
                call(make(left), make(right))
    if name == "vecdot":
        x = np.arange(3.0).requires_grad_()
        found = ours(x, np.ones((3, 4)), axis=0)
        assert found.shape == (4,) and found.tolist() == [3.0] * 4
        found.sum().backward()
        assert x.grad.tolist() == [4.0] * 3


def test_functions_have_the_arguments_of_the_standard():
    strict = pytest.importorskip("array_api_strict")
    if numpy.lib.NumpyVersion(numpy.__version__) < "2.4.0":
        pytest.skip("functions written in C have no signature in this NumPy")
    assert array_api.signatures(np, strict) == ["clip: a_min is not min"]


@pytest.mark.parametrize("keepdims", [False, True])
def test_the_norm_along_no_axis_is_that_of_each_element(keepdims):
    if not hasattr(numpy.linalg, "vector_norm"):
        pytest.skip("this NumPy has no such function")
    x = np.asarray([[3.0, -4.0]]).requires_grad_()
    found = np.linalg.vector_norm(x, axis=(), keepdims=keepdims)
    theirs = numpy.linalg.vector_norm(x.detach().numpy(), axis=(), keepdims=keepdims)
    assert found.tolist() == theirs.tolist()
    found.sum().backward()
    assert x.grad.tolist() == [[1.0, -1.0]]


@pytest.mark.parametrize("order", [numpy.inf, -1, -2.5, 0, 3])
@pytest.mark.parametrize(
    ("shape", "axis"), [((0,), None), ((0, 3), 0), ((3, 0), (0, 1)), ((0, 3), 1)]
)
@pytest.mark.parametrize("name", ["norm", "vector_norm"])
def test_norms_of_no_elements(name, shape, axis, order):
    if name == "norm" and isinstance(axis, tuple):
        axis = None if len(shape) == 1 else 1
    x = np.ones(shape).requires_grad_()
    for keep in (False, True):
        found = getattr(np.linalg, name)(x, ord=order, axis=axis, keepdims=keep)
        none = numpy.sum(x.detach().numpy(), axis=axis, keepdims=keep)
        numpy.testing.assert_array_equal(found.detach(), none + (numpy.inf if order < 0 else 0))
        found.sum().backward()
    for smallest in (np, numpy):
        with pytest.raises((RuntimeError, ValueError)):
            smallest.linalg.norm(smallest.ones(0), -numpy.inf)


def test_products_of_truths_are_truths():
    x = np.asarray([[True, False], [True, True]])
    for name in ("vecdot", "linalg.vecdot"):
        ours, theirs = np, numpy
        for part in name.split("."):
            ours, theirs = getattr(ours, part), getattr(theirs, part)
        found, expected = ours(x, x[0]), theirs(x.numpy(), x[0].numpy())
        assert found.dtype == expected.dtype and found.tolist() == expected.tolist()


@pytest.mark.parametrize("name", array_api.DTYPES)
def test_dtypes_of_tensors_are_those_of_the_namespace(name):
    x = wg.zeros(2, dtype=getattr(wg, name))
    for other in array_api.DTYPES:
        assert (x.dtype == getattr(np, other)) == (getattr(np, other) == x.dtype) == (name == other)
        assert np.isdtype(x.dtype, getattr(np, other)) == (name == other)
        assert np.isdtype(getattr(np, name), ("bool", getattr(wg, other))) == (
            name in ("bool", other)
        )
    for kind in ("bool", "signed integer", "real floating", "complex floating", "numeric"):
        assert np.isdtype(x.dtype, kind) == numpy.isdtype(numpy.dtype(name), kind)
    assert {x.dtype: 1}[getattr(np, name)] == {getattr(np, name): 1}[x.dtype] == 1
    assert numpy.isdtype(x.dtype, "numeric") == (name != "bool")
    assert float != x.dtype != name and wg.float8_e5m2 != getattr(np, name)
    with pytest.raises(TypeError, match="must be a NumPy dtype"):
        np.isdtype("float32", "numeric")
