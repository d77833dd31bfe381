"""Test `wengert.numpy.ndarray`: dtypes, indices, methods and attributes, with gradients."""

import copy
import itertools
import pickle
import warnings

import numpy
import pytest

import wengert as wg
import wengert.numpy as np
from wengert import func

KINDS = ("bool", "uint8", "int32", "int64", "float32", "float64", "complex64", "complex128")
OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "<": lambda a, b: a < b,
    "==": lambda a, b: a == b,
    "&": lambda a, b: a & b,
    "<<": lambda a, b: a << b,
    "@": lambda a, b: a @ b,
    "divmod": divmod,
}


def outcome(function, *args):
    """What a call gives, or the class of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except (TypeError, ValueError, OverflowError) as error:
            return type(error)


def agree(result, expected):
    if isinstance(expected, tuple | list):
        assert len(result) == len(expected)
        for part, value in zip(result, expected, strict=True):
            agree(part, value)
        return
    assert isinstance(result, np.ndarray), type(result)
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    numpy.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("symbol", OPERATORS)
def test_operators_promote_as_numpy_does(symbol):
    operator = OPERATORS[symbol]
    others = [numpy.arange(1, 4).astype(kind) for kind in KINDS]
    others += [2, 0.5, True, 1j, numpy.float32(2), numpy.int8(2), numpy.float64(0.5)]
    for kind, other in itertools.product(KINDS, others):
        array = numpy.arange(1, 4).astype(kind)
        ours = np.array(other) if isinstance(other, numpy.ndarray) else other
        for flipped in (False, True):
            pair = (other, array) if flipped else (array, other)
            mine = (ours, np.array(array)) if flipped else (np.array(array), ours)
            expected = outcome(operator, *pair)
            if isinstance(expected, type):
                continue
            scalar = isinstance(other, numpy.generic) or (kind == "bool" and numpy.ndim(other) == 0)
            if symbol == "**" and scalar:
                continue  # squares and roots, of dtypes that depend on NumPy's version
            result = outcome(operator, *mine)
            assert not isinstance(result, type), (kind, other, flipped, expected)
            agree(result, expected)


def test_fractions_of_whole_numbers_are_float64():
    assert (np.arange(3) / 2).dtype == np.float64
    assert (np.arange(3) * 0.1).tolist() == (numpy.arange(3) * 0.1).tolist()
    assert ((np.array([0.5, 2.0]) > 1) * 0.1).dtype == np.float64


INDICES = [
    0, -1, slice(None), slice(1, None), slice(None, None, -1), slice(2, 0, -1),
    slice(None, None, 2), None, Ellipsis, (0, 1), (slice(None), 0),
    (slice(None), slice(None, None, -1)),
    (slice(None, None, -1), slice(None, None, -2)), (Ellipsis, 0),
    (0, Ellipsis, slice(None, None, -1)),
    (None, 1), (1, None, slice(None, None, -1)), [0, 1], [1, 0, 1], ([0, 1], [1, 2]), (0, [0, 2]),
    ([0, 1], slice(None), 1), (slice(None), [0, 2], 1), (0, slice(None), [1, 0]),
    (slice(None, None, -1), [0, 1]), numpy.array([True, False]), (numpy.array([[0], [1]]), [0, 2]),
    (slice(None), numpy.array([True, False, True])), (numpy.array([0, 1], numpy.uint8),),
    (Ellipsis, [0, 1]), (numpy.int64(1), numpy.int64(0)), slice(5, 1), (slice(3, None), 0), [],
    (None, [0, 1], None, 0), (slice(None), slice(None), slice(-1, -3, -1)),
    (numpy.arange(24).reshape(2, 3, 4) % 5 == 0,), (1, 2, 3), (0, 1, [2]),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indices_are_numpys(index):
    values = numpy.arange(24.0).reshape(2, 3, 4) ** 1.5
    x = np.array(values).requires_grad_()
    result = x[index]
    agree(result, numpy.asarray(values[index]))
    weights = numpy.random.default_rng(0).standard_normal(numpy.shape(values[index]))
    expected = numpy.zeros_like(values)
    numpy.add.at(expected, index, weights)
    if result.size:
        np.sum(result * weights).backward()
        assert numpy.allclose(x.grad.numpy(), expected)


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_writes_are_numpys(index):
    values = numpy.arange(24.0).reshape(2, 3, 4)
    part = numpy.random.default_rng(0).standard_normal(numpy.shape(values[index]))
    leaf = np.array(part).requires_grad_()
    x = np.array(values)
    x[index] = leaf * 2
    values[index] = part * 2
    assert numpy.array_equal(x.detach().numpy(), values)
    x[index] = 7
    values[index] = 7
    assert numpy.array_equal(x.detach().numpy(), values)


def test_a_write_is_recorded():
    def program(t):
        x = np.zeros((2, 3))
        x[0] = t
        x[:, ::-1][1] = 5.0  # a copy: nothing happens
        x[1, [0, 2]] = t[:2] ** 2
        x[::-1, 1] += 1
        x *= 2
        return x

    t = np.array([1.0, 2.0, 3.0]).requires_grad_()
    assert program(t).tolist() == [[2.0, 6.0, 6.0], [2.0, 2.0, 8.0]]
    assert wg.autograd.gradcheck(program, t)


def test_out_of_range_is_refused():
    x = np.arange(3.0)
    for index in (3, (0, 0), ([5],), (slice(None, None, -1), [0])):
        with pytest.raises(IndexError):
            x[index]
        with pytest.raises(IndexError):
            x[index] = 1.0
    with pytest.raises(IndexError, match="integer"):
        x[[0.5]]


METHODS = {
    "all": lambda a: a.all(axis=1),
    "any": lambda a: a.any(),
    "argmax": lambda a: a.argmax(axis=0),
    "argsort": lambda a: a.argsort(axis=1),
    "astype": lambda a: a.astype("complex64"),
    "clip": lambda a: a.clip(-0.5, max=0.5),
    "compress": lambda a: a.compress([True, False], axis=0),
    "conj": lambda a: a.conj(),
    "copy": lambda a: a.copy(),
    "cumprod": lambda a: a.cumprod(axis=1),
    "cumsum": lambda a: a.cumsum(),
    "diagonal": lambda a: a.diagonal(1),
    "dot": lambda a: a.dot(a.T),
    "flatten": lambda a: a.flatten("F"),
    "max": lambda a: a.max(axis=0),
    "max of all": lambda a: a.max(),
    "mean": lambda a: a.mean(axis=(0, 1), keepdims=True),
    "min": lambda a: a.min(1),
    "nonzero": lambda a: a.nonzero(),
    "prod": lambda a: a.prod(),
    "ravel": lambda a: a.ravel(),
    "repeat": lambda a: a.repeat(2, axis=1),
    "reshape": lambda a: a.reshape(3, -1),
    "reshape tuple": lambda a: a.reshape((3, 2), order="F"),
    "round": lambda a: a.round(1),
    "searchsorted": lambda a: a.ravel().cumsum().searchsorted([0.5]),
    "squeeze": lambda a: a[None].squeeze(0),
    "std": lambda a: a.std(axis=1, ddof=1),
    "std of all": lambda a: a.std(),
    "sum": lambda a: a.sum(axis=0, keepdims=True),
    "swapaxes": lambda a: a.swapaxes(0, 1),
    "take": lambda a: a.take([0, 5]),
    "trace": lambda a: a.trace(),
    "transpose": lambda a: a.transpose(),
    "transpose axes": lambda a: a[None].transpose(2, 0, 1),
    "transpose tuple": lambda a: a[None].transpose((2, 0, 1)),
    "var": lambda a: a.var(axis=0),
    "T": lambda a: a[None].T,
    "real": lambda a: a.real,
    "imag": lambda a: (a + 1j).imag,
    "flat": lambda a: a.flat[1:4],
    "negative": lambda a: -a,
    "positive": lambda a: +a,
    "abs": abs,
    "rows": list,
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_numpys(name):
    values = numpy.random.default_rng(1).standard_normal((2, 3))
    expected = METHODS[name](values)
    if name == "flat" or isinstance(expected, tuple | list):
        expected = tuple(map(numpy.asarray, expected)) if name != "flat" else expected
        result = METHODS[name](np.array(values))
        agree(tuple(result) if isinstance(expected, tuple) else result, expected)
        return
    x = np.array(values).requires_grad_()
    result = METHODS[name](x)
    agree(result, numpy.asarray(expected))
    if result.requires_grad and result.dtype.kind == "f":
        assert wg.autograd.gradcheck(METHODS[name], x)


def test_attributes_are_numpys():
    x = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)
    assert (x.size, x.ndim, x.itemsize, x.nbytes, x.shape) == (4, 2, 4, 16, (2, 2))
    assert x.dtype == numpy.float32 and x.dtype.kind == "f"
    assert isinstance(x, wg.Tensor) and isinstance(x, np.ndarray)
    assert x.item(1, 0) == 3.0 and x.item(3) == 4.0
    assert x.tobytes() == numpy.array([1, 2, 3, 4], numpy.float32).tobytes()
    assert len(x) == 2 and 3.0 in x and repr(x).startswith("tensor([[1., 2.]")


def test_sorting_and_filling_happen_in_place():
    x = np.array([3.0, 1.0, 2.0])
    x.sort()
    assert x.tolist() == [1.0, 2.0, 3.0]
    x.fill(4)
    assert x.tolist() == [4.0] * 3
    leaf = np.array([3.0, 1.0]).requires_grad_()
    y = leaf * 1
    y.sort()
    np.sum(y * [1, 10]).backward()
    assert leaf.grad.tolist() == [10.0, 1.0]


def test_arrays_and_tensors_make_arrays():
    t = wg.ones(2, dtype=wg.float64, requires_grad=True)
    x = np.ones(2)
    for result in (x + t, t + x, np.sin(t), numpy.add(t, x), numpy.multiply(x, t), x @ t, t @ x):
        assert type(result) is np.ndarray and result.requires_grad
    assert type(numpy.add(numpy.ones(2), x)) is np.ndarray
    assert type(t) is wg.Tensor
    for same in (np.asarray(t), np.atleast_1d(t), np.broadcast_arrays(t, t)[0], np.positive(t)):
        assert type(same) is np.ndarray and type(t) is wg.Tensor
        assert same.requires_grad


def test_lists_are_operands():
    x = np.array([1.0, 2.0]).requires_grad_()
    assert (x * [2, 3]).tolist() == [2.0, 6.0]
    assert ((1, 2) - x).tolist() == [0.0, 0.0]
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(TypeError):
        x + None


def test_backward_gives_gradients():
    x = np.array([1.0, 2.0]).requires_grad_()
    np.sum(x**3).backward()
    assert x.grad.tolist() == [3.0, 12.0]
    (g,) = wg.autograd.grad(np.sum(np.exp(x)), x)
    assert numpy.allclose(g.detach().numpy(), numpy.exp([1.0, 2.0]))


def test_copies_are_arrays():
    x = np.array([1.0, 2.0])
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(other) is np.ndarray and other.tolist() == [1.0, 2.0]


def test_conversion_to_numpy_and_back():
    x = np.array([1.0, 2.0])
    assert type(numpy.asarray(x)) is numpy.ndarray
    assert type(x.numpy()) is numpy.ndarray
    with pytest.raises(TypeError, match="losing its gradient"):
        numpy.asarray(x.requires_grad_())


def test_the_constructor_is_not_for_users():
    with pytest.raises(TypeError, match=r"wengert\.numpy\.array"):
        np.ndarray((2, 3))


def test_casts_follow_the_rule():
    x = np.array([1.5, 2.5]).requires_grad_()
    assert not x.astype(int).requires_grad
    with pytest.raises(TypeError, match="according to the rule 'safe'"):
        x.astype("float32", casting="safe")
    assert x.astype(x.dtype, copy=False) is x
    assert x.astype(x.dtype) is not x


def test_an_index_of_a_batch_reads_an_array_of_the_outside():
    x = np.arange(5.0)
    read = func.vmap(lambda i: x[i])(np.array([[0, 1], [3, 2]]))
    assert np.array_equal(read, np.array([[0.0, 1.0], [3.0, 2.0]]))


def test_medians_of_infinities_and_variances_of_complex_numbers():
    x, z = numpy.array([1.0, numpy.inf, numpy.inf]), numpy.array([1j, 2.0, numpy.nan])
    assert np.median(np.asarray(x)).item() == numpy.inf
    assert np.nanmedian(np.asarray(x[1:])).item() == numpy.inf
    assert np.nanvar(np.asarray(z)).dtype == np.float64
    numpy.testing.assert_allclose(np.nanstd(np.asarray(z)), numpy.nanstd(z))


SEVERAL = {
    "list": lambda xp, y: list(y),
    "unpacking": lambda xp, y: (lambda first, second: (first, second))(*y),
    "split": lambda xp, y: xp.split(y, 2),
    "vsplit": lambda xp, y: xp.vsplit(y, 2),
}


@pytest.mark.parametrize("form", SEVERAL)
def test_one_of_several_views_may_be_written_to(form):
    def f(xp, w, y):
        first, second = SEVERAL[form](xp, y)
        first *= w[0]
        second[...] = first * second
        return y

    w = np.array([[1.0, 2.0], [3.0, 4.0]]).requires_grad_()
    plain = w.detach().numpy()
    assert f(np, w, w * 1).tolist() == f(numpy, plain, plain * 1).tolist()
    assert wg.autograd.gradcheck(lambda w: f(np, w, w * 1), (w,))
    zeros = np.zeros((2, 2))  # which has no history before the write
    for row in zeros:
        row += w[0]
    zeros.sum().backward()
    assert w.grad.tolist() == [[2.0, 2.0], [0.0, 0.0]]


NUMBERS = {
    "sum": lambda xp, x: x.sum(),
    "mean": lambda xp, x: xp.mean(x),
    "product": lambda xp, x: xp.dot(x, x),
    "element": lambda xp, x: x[1],
    "arithmetic": lambda xp, x: xp.sum(x) * 2 + 1,
    "zeros": lambda xp, x: xp.zeros(()),
    "array": lambda xp, x: xp.asarray(2.0),
    "view": lambda xp, x: (x * 1)[..., 0],
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_do_not_change_in_place(name):
    def f(xp, x):
        first = NUMBERS[name](xp, x)
        second = first
        second += x[0]
        second *= x[2]
        return first * x[1] + second

    x = np.array([1.5, 2.0, 4.0]).requires_grad_()
    assert f(np, x).item() == f(numpy, x.detach().numpy())
    assert wg.autograd.gradcheck(lambda x: f(np, x), (x,))
    forward = func.jacfwd(lambda x: f(np, x))(x.detach())
    assert wg.allclose(func.grad(lambda x: f(np, x))(x.detach()), forward)


def test_a_number_takes_the_dtype_of_what_is_done_to_it():
    total = np.asarray([1, 2]).sum()
    total /= 2
    assert total.item() == 1.5 and total.dtype == numpy.float64


def test_a_parameter_without_dimensions_is_written_in_place():
    w = (np.asarray([1.0, 2.0]).sum()).requires_grad_()
    same = w
    with wg.no_grad():
        w -= 1.0
    assert same is w and w.requires_grad and w.item() == 2.0


def test_views_as_other_dtypes():
    z = numpy.array([[1.0 + 2.0j, 3.0 - 1.0j]])
    for given, kind in ((z, float), (z.astype("c8"), "f4"), (z.real, complex), (z.real, float)):
        x = np.asarray(given.copy()).requires_grad_()
        seen = x.view(kind)
        assert numpy.array_equal(seen.detach().numpy(), numpy.ascontiguousarray(given).view(kind))
        (np.abs(seen) ** 2).sum().backward()
        numpy.testing.assert_allclose(x.grad.numpy(), 2 * given, rtol=1e-6)
    x = np.zeros(1, complex)
    x.view(float)[1] = 3.0
    assert x.tolist() == [3j]


def test_argsort_keeps_the_order_of_equal_elements():
    x = numpy.array([1.0, 0.0, 1.0, 0.0] * 20)
    for sort in (np.argsort, numpy.argsort):
        found = sort(np.asarray(x))
        assert numpy.array_equal(numpy.asarray(found), numpy.argsort(x, kind="stable"))


def _numpys(x):
    """A function of an array that has another meaning, or none, for tensors of PyTorch."""
    return x.std() * x[::-1][0] + (x / x.size).max(0)


X = numpy.array([1.0, 2.0, 4.0])
TRANSFORMS = {
    "grad": lambda f, x: func.grad(f)(x),
    "grad in a dict": lambda f, x: func.grad(lambda d: f(d["x"]))({"x": x})["x"],
    "grad_and_value": lambda f, x: func.grad_and_value(f)(x)[0],
    "vjp": lambda f, x: func.vjp(f, x)[1](np.asarray(1.0))[0],
    "jvp": lambda f, x: np.stack([func.jvp(f, (x,), (d,))[1] for d in np.eye(3)]),
    "jacrev": lambda f, x: func.jacrev(f)(x),
    "jacfwd": lambda f, x: func.jacfwd(f)(x),
    "vmap of grad": lambda f, x: func.vmap(func.grad(f))(x[None])[0],
    "vmap of columns": lambda f, x: func.vmap(func.grad(f), in_dims=1, out_dims=1)(x[:, None])[
        :, 0
    ],
    "grad of vmap": lambda f, x: func.grad(lambda x: func.vmap(f)(x[None]).sum())(x),
    "linearize": lambda f, x: np.stack([func.linearize(f, x)[1](d) for d in np.eye(3)]),
    "compiled": lambda f, x: wg.compile(func.grad(f))(x),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_pass_arrays_on_as_arrays(name):
    seen = []

    def f(x):
        seen.append(type(x))
        return _numpys(x)

    steps = numpy.eye(3) * 1e-6
    slopes = [(_numpys(X + d) - _numpys(X - d)) / 2e-6 for d in steps]
    found = TRANSFORMS[name](_numpys if name == "compiled" else f, np.asarray(X.copy()))
    assert type(found) is np.ndarray and set(seen) <= {np.ndarray}
    numpy.testing.assert_allclose(found.numpy(), slopes, rtol=1e-7)


def test_second_derivatives_of_numpys_functions():
    x = np.asarray(X.copy()).requires_grad_()
    hessian = func.hessian(_numpys)(x.detach())
    (slope,) = wg.autograd.grad(func.grad(_numpys)(x).sum(), x)
    assert type(hessian) is np.ndarray and wg.allclose(hessian.sum(0), slope)
    steps = numpy.eye(3) * 1e-5
    rows = [
        func.grad(_numpys)(np.asarray(X + d)) - func.grad(_numpys)(np.asarray(X - d)) for d in steps
    ]
    assert wg.allclose(hessian, np.stack(rows) / 2e-5, rtol=1e-6)


SOLVERS = {
    "minimize": lambda f, x: wg.scipy.minimize(lambda x: f(x) * f(x), x),
    "root": lambda f, x: wg.scipy.root(lambda x: x - f(x), x),
    "least_squares": lambda f, x: wg.scipy.least_squares(lambda d: d["x"] - f(d["x"]), {"x": x}),
    "solve_ivp": lambda f, x: wg.integrate.solve_ivp(lambda t, y: -f(y) * y, (0, 1), x),
    "odeint": lambda f, x: wg.integrate.odeint(lambda y, t: -f(y[0]) * y, x[None], [0.0, 1.0]),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_pass_arrays_on_as_arrays(name):
    pytest.importorskip("scipy")
    seen = set()

    def f(x):
        seen.add(type(x))
        return x.std() / x.size

    SOLVERS[name](f, np.asarray(X.copy()).requires_grad_(name in ("solve_ivp", "odeint")))
    assert seen == {np.ndarray}
