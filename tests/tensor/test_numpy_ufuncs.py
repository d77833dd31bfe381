"""Test NumPy's ufuncs on tensors: keywords, methods, and result dtypes."""

import warnings

import numpy as np
import pytest

import wengert as wg
from support.alone import said

A = np.array([[1.0, -2.0, 0.5], [3.0, 4.0, -1.5]])
WEIGHTS = np.array([[0.3, -1.1, 0.7], [1.9, 0.4, -0.6]])


def leaf(values=A):
    return wg.tensor(values, requires_grad=True)


def gradients_agree(function, *arrays):
    """NumPy's value, and right derivatives of first and second order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = function(*arrays)
    tensors = [leaf(array) for array in arrays]
    result = function(*tensors)
    assert isinstance(result, wg.Tensor) and result.requires_grad
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-12)
    assert result.detach().numpy().dtype == expected.dtype
    assert wg.autograd.gradcheck(function, tensors)
    assert wg.autograd.gradgradcheck(function, tensors)


METHODS = {
    "add.reduce": lambda t: np.add.reduce(t),
    "add.reduce axis": lambda t: np.add.reduce(t, axis=1, keepdims=True),
    "add.reduce all": lambda t: np.add.reduce(t, axis=None, initial=2.0),
    "add.reduce where": lambda t: np.add.reduce(t, axis=1, where=A > 0),
    "multiply.reduce": lambda t: np.multiply.reduce(t, axis=1),
    "maximum.reduce": lambda t: np.maximum.reduce(t, axis=0),
    "minimum.reduce": lambda t: np.minimum.reduce(t, axis=(0, 1)),
    "logaddexp.reduce": lambda t: np.logaddexp.reduce(t, axis=1),
    "subtract.reduce": lambda t: np.subtract.reduce(t, axis=1),
    "hypot.reduce": lambda t: np.hypot.reduce(t, axis=1, keepdims=True),
    "fmax.reduce": lambda t: np.fmax.reduce(t, axis=1),
    "several axes": lambda t: np.logaddexp2.reduce(t, axis=(1, 0), initial=0.5, keepdims=True),
    "no axis": lambda t: np.hypot.reduce(t, axis=(), initial=1.5),
    "logaddexp.reduce no axis": lambda t: np.logaddexp.reduce(t, axis=()),
    "add.accumulate": lambda t: np.add.accumulate(t, axis=1),
    "multiply.accumulate": lambda t: np.multiply.accumulate(t),
    "maximum.accumulate": lambda t: np.maximum.accumulate(t, axis=1),
    "logaddexp.accumulate": lambda t: np.logaddexp.accumulate(t, axis=1),
    "subtract.accumulate": lambda t: np.subtract.accumulate(t, axis=1),
    "add.reduceat": lambda t: np.add.reduceat(t, [0, 2, 1], axis=1),
    "multiply.reduceat": lambda t: np.multiply.reduceat(t, [1, 0]),
    "multiply.outer": lambda t: np.multiply.outer(t[0], t),
    "subtract.outer": lambda t: np.subtract.outer(np.ones(2), t),
    "where": lambda t: (
        np.exp(t, where=A > 0, out=wg.zeros(2, 3, dtype=wg.float64))
        if isinstance(t, wg.Tensor)
        else np.exp(t, where=A > 0, out=np.zeros((2, 3)))
    ),
    "dtype": lambda t: np.multiply(t, 2, dtype=np.complex128).real,
    "matmul": lambda t: np.matmul(t, WEIGHTS.T),
    "ndarray @": lambda t: WEIGHTS.T @ t,
    "vecdot axis": lambda t: np.vecdot(t, WEIGHTS, axis=0),
    "clip": lambda t: np.clip(t, -1.0, WEIGHTS),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_differentiates(name):
    if "vecdot" in name and not hasattr(np, "vecdot"):
        pytest.skip("NumPy has no vecdot yet")
    gradients_agree(METHODS[name], A)


def test_out_is_written_and_recorded():
    t, out = leaf(), wg.zeros(2, 3, dtype=wg.float64)
    version = out._version
    assert np.multiply(t, WEIGHTS, out=out) is out
    assert out._version == version + 1
    out.sum().backward()
    assert np.array_equal(t.grad.numpy(), WEIGHTS)


def test_out_may_be_an_argument():
    def squared(t):
        x = t * 1
        np.multiply(x, x, out=x)
        np.exp(x, x)
        return np.add(x, t, out=x)

    t = leaf()
    assert wg.autograd.gradcheck(squared, t)
    assert np.allclose(squared(t).detach().numpy(), np.exp(A * A) + A)


def test_out_takes_what_same_kind_allows():
    t = leaf()
    out = wg.zeros(2, 3)
    np.add(t, 1, out=out)
    assert out.dtype is wg.float32 and out.requires_grad
    whole = wg.zeros(2, 3, dtype=wg.int64)
    with pytest.raises(TypeError, match=r"Cannot cast .*int64.*'same_kind'"):
        np.add(t, 1, out=whole)
    assert whole.tolist() == [[0] * 3] * 2 and whole._version == 0
    np.add(t, 1, out=whole, casting="unsafe")
    assert whole.tolist() == [[2, -1, 1], [4, 5, 0]]


def test_out_must_be_large_enough():
    out = wg.zeros(3, dtype=wg.float64)
    with pytest.raises(ValueError, match="non-broadcastable output operand"):
        np.add(leaf(), 1, out=out)
    assert out._version == 0
    large = wg.zeros(2, 2, 3, dtype=wg.float64)
    assert np.add(leaf(), 1, out=large).shape == (2, 2, 3)


def test_a_plain_array_as_out_would_lose_the_gradient():
    t, out = leaf(), np.zeros((2, 3))
    with pytest.raises(TypeError, match=r"plain NumPy array, losing the gradient\n  at test_numpy"):
        np.add(t, 1, out=out)
    assert not out.any()
    with wg.no_grad():
        assert np.add(t, 1, out=out) is out
    assert np.array_equal(out, A + 1)
    total = np.zeros((2, 3))
    total += t.detach()
    assert isinstance(total, np.ndarray)
    with pytest.raises(TypeError, match=r"a = a \+ t for a \+= t"):
        total += t


def test_a_leaf_as_out_is_refused_while_recording():
    t = leaf()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        np.add(t, 1, out=t)
    with wg.no_grad():
        np.add(t, 1, out=t)
    assert np.array_equal(t.detach().numpy(), A + 1)


def test_plain_arrays_may_be_written_into_a_tensor():
    out = wg.zeros(2, 3, dtype=wg.float64)
    assert np.add(A, 1, out=out) is out
    assert np.array_equal(out.numpy(), A + 1)


def test_where_chooses_what_is_computed():
    t = leaf(np.array([0.0, 4.0, -1.0]))
    out = wg.full((3,), 7.0, dtype=wg.float64)
    np.sqrt(t, out=out, where=t > 0)
    assert out.tolist() == [7.0, 2.0, 7.0]
    out.sum().backward()
    assert t.grad.tolist() == [0.0, 0.25, 0.0]
    assert np.sqrt(t, where=np.array([False, True, False])).tolist() == [0.0, 2.0, 0.0]
    with pytest.raises(TypeError, match="must be a mask"):
        np.sqrt(t, where=np.array([0.5, 1.0, 0.0]))


def test_two_results_and_two_targets():
    t = leaf()
    first, second = wg.zeros(2, 3, dtype=wg.float64), wg.zeros(2, 3, dtype=wg.float64)
    part, whole = np.modf(t, out=(first, second))
    assert part is first and whole is second
    part.sum().backward()
    assert t.grad.tolist() == [[1.0] * 3] * 2
    quotient, rest = np.divmod(t, 2.0)
    assert not quotient.requires_grad and rest.requires_grad
    assert np.modf(wg.tensor([np.inf, -np.inf]))[0].tolist() == [0.0, 0.0]


def test_at_adds_up_in_place():
    t = leaf(np.array([1.0, 2.0, 3.0]))
    x = wg.zeros(2, dtype=wg.float64)
    np.add.at(x, [0, 1, 0], t)
    np.subtract.at(x, np.array([1]), 5.0)
    assert x.tolist() == [4.0, -3.0]
    (x * wg.tensor([1.0, 10.0], dtype=wg.float64)).sum().backward()
    assert t.grad.tolist() == [1.0, 10.0, 1.0]


def test_at_takes_slices_and_masks():
    t = leaf(np.array([1.0, 2.0]))
    x = wg.zeros(2, 3, dtype=wg.float64)
    np.add.at(x, (slice(None), [0, 0]), t)
    np.add.at(x, np.array([[False, False, True]] * 2), 1.0)
    assert x.tolist() == [[3.0, 0.0, 1.0], [3.0, 0.0, 1.0]]


def test_at_of_others_is_refused_where_a_gradient_would_be_lost():
    x = wg.ones(3, dtype=wg.float64)
    np.multiply.at(x, [0, 0], 2.0)
    np.negative.at(x, [1])
    assert x.tolist() == [4.0, -1.0, 1.0] and x._version == 2
    with pytest.raises(NotImplementedError, match=r"write x\[i\] = f\(x\[i\], b\)"):
        np.multiply.at(x, [0], leaf(np.array(2.0)))
    assert x.tolist() == [4.0, -1.0, 1.0]
    with pytest.raises(TypeError, match="plain NumPy array"):
        np.add.at(np.zeros(3), [0], leaf(np.array(2.0)))


def test_integers_become_numpys_floats():
    whole = wg.arange(3)
    for ufunc in (np.sin, np.sqrt, np.exp, np.arctan, np.cbrt):
        assert ufunc(whole).dtype is wg.float64
    assert np.hypot(whole, wg.ones(3, dtype=wg.int32)).dtype is wg.float64
    assert np.logaddexp(wg.ones(3), 2.0).dtype is wg.float32


def test_what_operators_stand_for_promotes_as_tensors_do():
    t = wg.ones(3)
    for found, dtype, values in (
        (np.float64(2.0) * t, wg.float32, [2.0, 2.0, 2.0]),
        (np.arange(3) * t, wg.float32, [0.0, 1.0, 2.0]),
        (np.ones(3) * t, wg.float64, [1.0, 1.0, 1.0]),
    ):
        assert (found.dtype, found.tolist()) == (dtype, values)


def test_a_dtype_that_no_tensor_has_is_refused():
    with pytest.raises(TypeError, match=r"can't convert|dtype"):
        np.hypot(wg.ones(1), np.array(["a"]))


def test_reduce_says_what_is_wrong():
    t = wg.ones(2, 3)
    with pytest.raises(ValueError, match="not reorderable"):
        np.subtract.reduce(t, axis=(0, 1))
    with pytest.raises(np.exceptions.AxisError):
        np.add.reduce(t, axis=2)
    with pytest.raises(IndexError, match="out-of-bounds"):
        np.add.reduceat(t, [5])
    with pytest.raises(TypeError, match="cannot accumulate on a scalar"):
        np.add.accumulate(wg.tensor(1.0))


def test_another_librarys_class_is_asked():
    class Other:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return "theirs"

    assert np.hypot(wg.ones(2), Other()) == "theirs"


def test_nothing_is_imported_before_it_is_used():
    program = (
        "import sys, numpy as np, wengert as wg\n"
        "np.sin(wg.ones(2)) * np.ones(2)\n"
        "print([m for m in sys.modules if m.startswith('wengert.tensor.numpy.')])\n"
    )
    assert said(program).strip() == "['wengert.tensor.numpy.protocol']"


def test_lists_are_operands_as_they_are_numpys():
    t = leaf(WEIGHTS[0])
    for ufunc in (np.multiply, np.subtract, np.less):
        for call in (lambda x, u=ufunc: u(x, [1.0, 2.0, 0.5]), lambda x, u=ufunc: u((1, 2, 3), x)):
            np.testing.assert_array_equal(call(t).detach().numpy(), call(WEIGHTS[0]))
    assert np.add([t[0], 1.0, t[1]], t).requires_grad


STRANGE = [
    np.array([1.0, 2.0, 3.0], object), np.array(["a", "b", "c"]), np.zeros(3, [("a", float)]),
    np.array(["2020", "2021", "2022"], "M8[Y]"),
]  # fmt: skip


@pytest.mark.parametrize("array", STRANGE, ids=[str(a.dtype) for a in STRANGE])
def test_what_is_no_number_is_no_operand(array):
    t = leaf(WEIGHTS[0]).detach()
    calls = [np.multiply, lambda t, a: t + a, lambda t, a: a * t, lambda t, a: t < a, wg.mul]
    for call in [*calls, lambda t, a: t.__iadd__(a)]:
        with pytest.raises(TypeError):
            call(t, array)
    assert np.array_equal(t.numpy(), WEIGHTS[0])


def test_methods_give_numpys_dtypes():
    logical = [np.logical_and, np.logical_or, np.logical_xor]
    calls = [lambda t, u=u: u.accumulate(t, axis=1) for u in logical]
    calls += [lambda t, u=u: u.reduceat(t, [0, 2, 1], axis=1) for u in logical]
    calls += [lambda t: np.maximum.reduce(t, dtype=np.float32)]
    calls += [lambda t: np.add.reduce(100 * t, dtype=np.int8)]
    calls += [lambda t: np.cumprod(t, dtype=np.int32), lambda t: np.trace(t, dtype=np.int16)]
    calls += [lambda t, u=u: u.reduce(t, axis=0, initial=u is np.logical_or) for u in logical]
    whole = [lambda t: np.logaddexp.reduce(t), lambda t: np.float_power.reduceat(t, [0, 1])]
    pairs = [(call, A) for call in calls] + [(call, np.array([[2, 1], [3, 4]])) for call in whole]
    for call, given in pairs:
        found, expected = call(wg.tensor(given)), call(given)
        assert found.detach().numpy().dtype == expected.dtype
        np.testing.assert_array_equal(found.detach().numpy(), expected)


@pytest.mark.parametrize("name", ["fmax", "fmin", "maximum", "minimum"])
@pytest.mark.parametrize("dtype", [wg.float32, wg.float64])
def test_equal_operands_of_extremes_share_the_derivative(name, dtype):
    x = wg.tensor([1.0, 2.0, -1.0], dtype=dtype, requires_grad=True)
    y = wg.tensor([1.0, 0.0, -1.0], dtype=dtype, requires_grad=True)
    a, b = wg.autograd.grad(getattr(np, name)(x, y).sum(), (x, y))
    first = 1.0 if "max" in name else 0.0
    assert a.tolist() == [0.5, first, 0.5]
    assert b.tolist() == [0.5, 1 - first, 0.5]
    assert a.dtype is dtype


def test_the_extreme_of_a_number_and_nan_is_the_number():
    x = wg.tensor([np.nan, 1.0], requires_grad=True)
    found = np.fmax(x, 0.5)
    assert found.tolist() == [0.5, 1.0]
    assert found.dtype is wg.float32
    assert wg.autograd.grad(found.sum(), x)[0].tolist() == [0.0, 1.0]
    assert np.fmin(wg.tensor([3, 1]), 2).tolist() == [2, 1]


def test_the_step_at_nan_is_nan():
    found = np.heaviside(wg.tensor([np.nan, -1.0, 0.0, 2.0]), 0.5)
    assert np.array_equal(found, np.heaviside([np.nan, -1.0, 0.0, 2.0], 0.5), equal_nan=True)


UFUNCS = {u for u in vars(np).values() if isinstance(u, np.ufunc) and not u.signature}


@pytest.mark.parametrize("ufunc", sorted(UFUNCS, key=str), ids=lambda u: u.__name__)
@pytest.mark.parametrize("array", [np.array([True, False]), np.array([3, 2]), np.uint8([7, 1])])
def test_masks_and_integers_give_numpys_values(ufunc, array):
    if array.dtype == bool and ufunc in (np.remainder, np.power):
        pytest.skip("as in PyTorch, masks have no remainders and powers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = ufunc(*[array] * ufunc.nin)
        except TypeError:
            return
        found = ufunc(*[wg.tensor(array)] * ufunc.nin)
    for i in range(ufunc.nout):
        ours, theirs = (found[i], expected[i]) if ufunc.nout > 1 else (found, expected)
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-6)
