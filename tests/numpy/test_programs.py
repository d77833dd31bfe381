"""Test derivatives of NumPy programs that fill arrays, write in place, and use NumPy's keywords.

Each program takes the namespace, and runs with NumPy's own for the expected values.
"""

import numpy
import pytest

import wengert as wg
import wengert.numpy as np
from support.alone import said
from wengert import func


def filled(np, x):
    """Element by element, each from the last."""
    y = np.zeros(5)
    y[0] = x[0]
    for i in range(1, 5):
        y[i] = np.sin(y[i - 1]) * x[1] + y[i - 1] ** 2
    return y


def euler(np, x):
    """A differential equation, row by row."""
    states = np.zeros((6, 2))
    states[0] = [1.0, 0.5]
    for i in range(5):
        v = states[i]
        states[i + 1] = v + 0.1 * np.array([v[1] * x[0], -v[0] * x[1]])
    return states


def recurrent(np, x):
    """The state before the first is the last row, which is 0 as yet."""
    weights = x.reshape(2, 2)
    states = np.zeros((4, 2))
    for i in range(4):
        states[i] = np.tanh(np.ones(2) @ weights + states[i - 1] @ weights)
    return states


def matrix(np, x):
    """A matrix, element by element, as in a finite difference scheme."""
    a = np.zeros((3, 3))
    for i in range(3):
        a[i, i] = 2.0 + x[i]
        if i:
            a[i, i - 1] = a[i - 1, i] = -x[i] * x[i - 1]
    return np.linalg.solve(a, np.ones(3))


def gauss(np, x):
    """Elimination in place, through rows that are views."""
    a = np.eye(3) * 3
    a += x.reshape(3, 3)
    for i in range(3):
        row = a[i]
        row /= row[i]
        for j in range(i + 1, 3):
            a[j] -= a[j, i] * row
    return a


def relaxed(np, x):
    """Sweeps over a grid that is read and written to."""
    grid = np.zeros((4, 4))
    grid[0] = x
    for _ in range(3):
        grid[1:-1, 1:-1] = (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]) / 4
    return grid


def scaled(np, x):
    """Whole arrays in place."""
    y = x.copy()
    y *= 2.0
    y += x
    y -= np.mean(y)
    y /= np.sqrt(np.sum(y**2))
    y **= 2
    return y


def scattered(np, x):
    y = np.zeros(3)
    np.add.at(y, [0, 2, 0], x)
    y[[1, 2]] += x[:2]
    y[y > 0.5] *= 3.0
    return y


def kept(np, x):
    """Keywords."""
    total = np.sum(x, axis=0, keepdims=True, dtype=np.float64, initial=1.0)
    y = np.empty_like(x)
    np.multiply(x, total, out=y)
    np.exp(y, out=y, where=y < 1.0)
    return np.concatenate([y, y.mean(keepdims=True), np.atleast_1d(y.std(ddof=1))])


def swapped(np, x):
    """What has been read by itself is a number, which later writes do not change."""
    y = x * 1.0
    first = y[0]
    y[0] = y[1]
    y[1] = first
    return y * np.arange(1.0, len(x) + 1)


def viewed(np, x):
    """What has been read as a row is a view, which they do change."""
    y = np.zeros((2, 2))
    row = y[1]
    y[1, 0] = x[0]
    row[1] = x[1]
    y[:, 0] += 1.0
    return y, row * 2


def iterated(np, x):
    y = np.zeros(3)
    for i, v in enumerate(x):
        y[i] = v * (y[i - 1] + 1)
    return y, sum(v**2 for v in y)


PROGRAMS = {
    filled: 2, euler: 2, recurrent: 4, matrix: 3, gauss: 9, relaxed: 4, scaled: 4, scattered: 3,
    kept: 4, swapped: 3, viewed: 2, iterated: 3,
}  # fmt: skip


def leaves(result):
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_program_runs_as_it_is(program):
    values = numpy.random.default_rng(3).uniform(0.2, 0.9, PROGRAMS[program])
    x = np.array(values).requires_grad_()
    for result, expected in zip(
        leaves(program(np, x)), leaves(program(numpy, values)), strict=True
    ):
        assert type(result) is np.ndarray and result.dtype == numpy.float64
        numpy.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-12)
    assert wg.autograd.gradcheck(lambda t: tuple(leaves(program(np, t))), x)
    assert wg.autograd.gradgradcheck(lambda t: tuple(leaves(program(np, t))), x)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_program_has_a_tangent(program):
    func = pytest.importorskip("wengert.func")
    values = numpy.random.default_rng(3).uniform(0.2, 0.9, PROGRAMS[program])
    step = 1e-6

    def first(np, x):
        return leaves(program(np, np.asarray(x)))[0]

    x = np.array(values)
    value, tangent = func.jvp(lambda t: first(np, t), (x,), (np.ones_like(x),))
    numpy.testing.assert_allclose(value.detach().numpy(), first(numpy, values))
    numeric = (first(numpy, values + step) - first(numpy, values - step)) / (2 * step)
    numpy.testing.assert_allclose(tangent.detach().numpy(), numeric, atol=1e-5)


@pytest.mark.parametrize(
    "program", [p for p in PROGRAMS if p is not scattered], ids=lambda p: p.__name__
)
def test_a_program_runs_on_a_batch(program):
    func = pytest.importorskip("wengert.func")
    values = numpy.random.default_rng(3).uniform(0.2, 0.9, (3, PROGRAMS[program]))
    result = func.vmap(lambda t: leaves(program(np, np.asarray(t)))[0])(np.array(values))
    expected = numpy.stack([leaves(program(numpy, row))[0] for row in values])
    numpy.testing.assert_allclose(result.detach().numpy(), expected)


FOLLOWED = {
    "argmax": lambda np, t: np.argmax(t),
    "argmin": lambda np, t: np.argmin(t, axis=0, keepdims=True),
    "argsort": lambda np, t: np.argsort(t),
    "argsort of all": lambda np, t: np.argsort(t, axis=None),
    "empty_like": lambda np, t: np.empty_like(t) * 0.0 + t,
    "ones_like": lambda np, t: np.ones_like(t, dtype=np.float32),
    "searchsorted": lambda np, t: np.searchsorted(np.array([-1.0, 0.0, 1.0]), t),
    "shape": lambda np, t: np.zeros(np.shape(t)) + t,
    "size": lambda np, t: t * np.size(t) + np.ndim(t),
    "zeros_like": lambda np, t: np.zeros_like(t, shape=2) + t[:2],
    "isnan": lambda np, t: np.isnan(t),
    "floor_divide": lambda np, t: t // 0.3,
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_has_no_gradient_is_there_for_transforms(name):
    func = pytest.importorskip("wengert.func")
    values = numpy.random.default_rng(0).standard_normal((2, 3))
    expected = numpy.stack([FOLLOWED[name](numpy, row) for row in values])
    batch = func.vmap(lambda t: FOLLOWED[name](np, np.asarray(t)))(np.array(values))
    numpy.testing.assert_array_equal(batch.detach().numpy(), expected)
    x = np.array(values[0])
    first, _ = func.jvp(lambda t: FOLLOWED[name](np, np.asarray(t)), (x,), (x,))
    numpy.testing.assert_array_equal(first.detach().numpy(), expected[0])


def test_what_is_written_to_is_copied_only_where_a_gradient_is_followed():
    y = np.zeros((2, 2))
    y[0] = 1.0
    assert (y[0] * 2).grad_fn is None
    x = np.array(2.0).requires_grad_()
    y[0] = x
    product = y[0] * x
    y[0] = 0.0
    product.sum().backward()
    assert x.grad.item() == pytest.approx(8.0)


def test_a_leaf_is_not_copied():
    x = np.ones(3).requires_grad_()
    with wg.no_grad():
        x -= 0.1
    y = x * x
    assert all(node is x or "Accumulate" in str(node) for node, _ in y.grad_fn.next_functions)
    with wg.no_grad():
        x -= 0.1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_leaf_is_not_written_to_while_recording():
    x = np.ones(3).requires_grad_()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x += 1
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        x[0] = 1


def test_in_place_operators_cast_as_numpy_does():
    whole = np.arange(3)
    with pytest.raises(TypeError, match="same_kind"):
        whole += 0.5
    assert whole.tolist() == [0, 1, 2]
    whole //= 2
    assert whole.dtype == numpy.int64 and whole.tolist() == [0, 0, 1]
    small = np.ones(2, dtype=np.float32)
    small += np.ones(2)
    assert small.dtype == numpy.float32 and small.tolist() == [2.0, 2.0]
    square = np.eye(2) * 2
    square @= square
    assert square.tolist() == [[4.0, 0.0], [0.0, 4.0]]
    with pytest.raises(ValueError):
        small += np.ones(3)


def test_errors_are_numpys():
    a, b = np.ones(3), np.ones(4)
    for wrong in (
        lambda: a + b,
        lambda: a @ b,
        lambda: np.add(a, b),
        lambda: np.maximum(a, b),
        lambda: np.dot(a, b),
        lambda: np.concatenate([np.ones((2, 2)), a]),
        lambda: np.stack([a, b]),
        lambda: np.where(a > 0, a, b),
        lambda: np.linalg.solve(np.eye(2), a),
        lambda: np.einsum("i,i->", a, b),
        lambda: np.mean(a, axis=1),
        lambda: a.sum(axis=3),
        lambda: np.split(a, 2),
        lambda: a.item(),
        lambda: np.reshape(a, (2, 2)),
        lambda: a.reshape(2, 2),
        lambda: np.broadcast_to(a, (2, 2)),
        lambda: bool(a),
        lambda: bool(np.zeros(0)),
    ):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(np.zeros((2, 2)))
    with pytest.raises(TypeError):
        np.left_shift(a, 1)


def test_out_is_what_is_returned():
    x = np.array([1.0, 4.0]).requires_grad_()
    for call in (
        lambda out: np.sqrt(x, out),
        lambda out: np.sqrt(x, out=out),
        lambda out: np.cumsum(x, out=out),
        lambda out: x.cumsum(out=out),
        lambda out: np.add.accumulate(x, out=out),
        lambda out: np.take(x, [0, 1], out=out),
    ):
        out = np.zeros(2)
        assert call(out) is out
        assert out.requires_grad and type(out) is np.ndarray
    out = np.zeros(())
    assert x.mean(out=out) is out and out.item() == 2.5
    with pytest.raises(TypeError, match="same_kind"):
        np.sqrt(x, out=np.zeros(2, dtype=int))


def test_numbers_among_arrays_serve_as_numbers():
    x = np.array([1.0, 3.0, 2.0])
    assert ["a", "b", "c"][np.argmax(x)] == "b" and list(range(np.argmax(x))) == [0]
    assert f"{x[0]:.2f}" == "1.00" and f"{x[1] / 8:>6.3f}" == " 0.375"
    assert round(x[1]) == 3 and round(x[1] / 7, 2).item() == 0.43
    assert np.zeros(np.argmax(x)).shape == (1,) and x[np.array(1)].item() == 3.0
    with pytest.raises(TypeError, match="unsupported format string"):
        format(x, ".2f")


def test_ufuncs_tell_of_themselves():
    assert isinstance(np.add, np.ufunc) and np.add.nargs == 3 and "dd->d" in np.add.types
    assert not hasattr(np.add, "nothing")


def test_methods_of_tensors_give_arrays():
    x = np.array([[0.5, 0.2], [0.1, 0.4]]).requires_grad_()
    for result in (x.exp(), x.norm(), x.detach(), x.clone(), x.abs(), x.tril(), x.mT, x.data):
        assert type(result) is np.ndarray
    assert x.requires_grad_() is x
    np.sum(x).backward()
    assert type(x.grad) is np.ndarray
    x.grad = None
    assert x.grad is None


def test_what_arrays_have_not_is_explained():
    x = np.ones(2)
    for name, cure in (("byteswap", "detach"), ("resize", "np.resize"), ("ctypes", "numpy()")):
        with pytest.raises(AttributeError, match=f"NumPy's arrays have it, but .*{cure}"):
            getattr(x, name)
    name = "nothing"
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
        getattr(x, name)


def test_every_public_attribute_of_numpys_arrays_is_there_or_said_to_be_absent():
    x = np.ones((2, 2))
    for name in dir(numpy.ndarray):
        if not name.startswith("_") and not hasattr(x, name):
            with pytest.raises(AttributeError, match="NumPy's arrays have it"):
                getattr(x, name)


def test_attributes_may_be_assigned_to():
    z = np.zeros(2, dtype=complex)
    z.real = [1.0, 2.0]
    z.imag = 3.0
    assert z.tolist() == [1 + 3j, 2 + 3j]
    y = np.zeros((2, 2))
    y.flat = [1.0, 2.0]
    assert y.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    y.real = 0.0
    assert not y.any()
    with pytest.raises(TypeError):
        y.imag = 1.0


def test_views_know_their_base():
    x = np.arange(6.0).reshape(2, 3)
    assert x[0].base is x.base and x.base is not None
    assert x.T.strides == (8, 24) and x.flags.c_contiguous
    assert x.view(np.int64).dtype == numpy.int64 and x.view().base is x.base


def test_arrays_are_written_to_files(tmp_path):
    x = np.arange(3.0)
    x.tofile(tmp_path / "x.bin")
    assert np.fromfile(tmp_path / "x.bin").tolist() == [0.0, 1.0, 2.0]
    x.dump(tmp_path / "x.pkl")
    assert np.load(tmp_path / "x.pkl", allow_pickle=True).tolist() == [0.0, 1.0, 2.0]
    np.save(tmp_path / "x.npy", x)
    assert np.load(tmp_path / "x.npy").tolist() == [0.0, 1.0, 2.0]


def test_printing_has_numpys_options():
    x = np.array([numpy.pi, 1e-9])
    with np.printoptions(precision=2, suppress=True):
        assert repr(x) == "tensor([3.14, 0.00], dtype=torch.float64)"
    assert np.get_printoptions()["precision"] == 4
    with pytest.raises(TypeError, match="no option 'floatmode'"):
        np.set_printoptions(floatmode="fixed")


def test_creation_from_a_gradient_is_followed_or_refused():
    t = np.array(2.0).requires_grad_()
    assert np.full(2, t).requires_grad and np.linspace(0, t, 3).requires_grad
    with pytest.raises(NotImplementedError, match=r"start \+ step \* np\.arange"):
        np.arange(0, t, 0.5)


def test_importing_the_package_does_not_import_it():
    program = "import sys, wengert; print('wengert.numpy' in sys.modules, wengert.numpy.pi)"
    assert said(program).split() == ["False", str(numpy.pi)]


def test_arrays_stay_what_they_are_beside_overriding_subclasses():
    class Override(wg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})

    x = np.arange(3)
    assert type(x / 2) is np.ndarray and (x / 2).dtype == numpy.float64
    assert type(x == 1) is np.ndarray and (x * [1, 1, 1]).tolist() == [0, 1, 2]
    assert type(np.ones(3) + Override(wg.ones(3).double())) is Override


WITH_DECISIONS = {
    "average": lambda x: np.average(x * x, weights=x),
    "interp": lambda x: np.interp(x, np.array([1.0, 2.0, 5.0]), np.array([1.0, 4.0, 9.0])),
    "interp, period": lambda x: np.interp(x, np.array([0.2, 2.0, 1.0]), np.sin(x), period=3.0),
    "unwrap": lambda x: np.unwrap(x * 3.0),
    "lstsq": lambda x: np.linalg.lstsq(np.stack([x, x**2], 1), np.ones(3))[0],
}


@pytest.mark.parametrize("name", WITH_DECISIONS)
def test_functions_that_decide_by_values_carry_tangents(name):
    f = WITH_DECISIONS[name]
    x, v = np.array([1.2, 1.9, 4.5]), np.array([1.0, -0.5, 0.3])
    _, tangent = func.jvp(f, (x,), (v,))
    expected = (f(x + 1e-6 * v) - f(x - 1e-6 * v)) / 2e-6
    assert np.allclose(tangent, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", [name for name in WITH_DECISIONS if name != "lstsq"])
def test_functions_that_decide_by_values_work_in_batches(name):
    f = WITH_DECISIONS[name]
    batch = np.array([[1.2, 1.9, 4.5], [0.1, 2.5, 2.6]])
    assert np.allclose(func.vmap(f)(batch), np.stack([f(x) for x in batch]), rtol=1e-12)


ANGLES = [0, 3, 7, 12, 1]


@pytest.mark.parametrize("period", [5, 6, 6.0, 2 * numpy.pi])
def test_unwrap_keeps_integers_where_the_period_is_one(period):
    found = numpy.asarray(np.unwrap(np.array(ANGLES), period=period))
    expected = numpy.unwrap(ANGLES, period=period)
    assert found.dtype == expected.dtype
    assert numpy.allclose(found, expected)


def test_a_jump_of_interpolated_values_has_no_slope():
    xs, x = np.array([0.0, 1.0, 2.0, 2.0]), np.array([1.5, 2.0, 3.0])
    found = np.interp(x, xs, np.array([0.0, 3.0, 4.0, 5.0]))
    assert np.isfinite(found).all() and found[0] == 3.5


@pytest.mark.parametrize("name", ["polyder", "polyint"])
def test_orders_of_derivatives_of_polynomials_are_not_negative(name):
    with pytest.raises(ValueError, match="must be positive"):
        getattr(np, name)(np.array([1.0, 2.0]), -1)
