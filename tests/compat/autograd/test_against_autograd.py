"""Test a table of calls against autograd: values, gradients, result types."""

import importlib
import warnings

import numpy
import pytest

import wengert.compat.autograd as ours

autograd = pytest.importorskip("autograd")

V = numpy.array([0.3, 1.7, -0.6])
P = numpy.array([0.3, 1.7, 0.6])
M = numpy.array([[2.0, 0.3], [0.4, 1.0]])
S = numpy.array([[2.0, 0.5], [0.5, 1.0]])

ONE = """
abs absolute arccosh arcsin arcsinh arctan arctanh atleast_1d atleast_2d atleast_3d conj
conjugate cos cosh cumsum deg2rad degrees diag diff exp exp2 expm1 fabs fliplr flipud
imag log log10 log1p log2 max mean min nan_to_num negative prod rad2deg radians ravel real
real_if_close reciprocal sin sinc sinh sort sqrt square squeeze std sum tan tanh transpose var
"""
TWO = """
add arctan2 append divide dot fmax fmin hypot inner kron logaddexp logaddexp2 maximum
minimum mod multiply outer power remainder subtract tensordot true_divide
"""
MATRIX = "cholesky det inv pinv slogdet norm"
CALLS = {
    "clip": lambda np, x: np.clip(x, -0.5, 0.5),
    "reshape": lambda np, x: np.reshape(x, (3, 1)),
    "where": lambda np, x: np.where(x > 0, x, x**2),
    "tile": lambda np, x: np.tile(x, (2, 2)),
    "repeat": lambda np, x: np.repeat(x, 2),
    "roll": lambda np, x: np.roll(x, 1),
    "rot90": lambda np, x: np.rot90(np.outer(x, x)),
    "einsum": lambda np, x: np.einsum("i,j->ij", x, x),
    "matmul": lambda np, x: np.matmul(np.outer(x, x), x),
    "split": lambda np, x: np.split(x, 3)[1],
    "moveaxis": lambda np, x: np.moveaxis(np.outer(x, x), 0, 1),
    "swapaxes": lambda np, x: np.swapaxes(np.outer(x, x), 0, 1),
    "expand_dims": lambda np, x: np.expand_dims(x, 0),
    "concatenate": lambda np, x: np.concatenate((x, 2 * x)),
    "stack": lambda np, x: np.stack([x, x**2]),
    "column_stack": lambda np, x: np.column_stack([x, x**2]),
    "hstack": lambda np, x: np.hstack([x, x**2]),
    "pad": lambda np, x: np.pad(x, 1, "constant"),
    "trace": lambda np, x: np.trace(np.outer(x, x)),
    "tril": lambda np, x: np.tril(np.outer(x, x)),
    "cross": lambda np, x: np.cross(x, np.array([1.0, 2.0, 3.0])),
    "partition": lambda np, x: np.partition(x, 1),
    "select": lambda np, x: np.select([x > 1, x > 0], [x, x**2]),
    "index": lambda np, x: x[[0, 0, 2]] * x[::-1] + x[x > 0].sum() + x[None, 1:].sum(),
    "norm": lambda np, x: np.linalg.norm(x),
    "solve": lambda np, x: np.linalg.solve(S, x[:2]),
    "fft": lambda np, x: np.real(np.fft.ifft(np.abs(np.fft.fft(x)) * np.fft.fft(x))),
    "rfft": lambda np, x: np.abs(np.fft.rfft(np.append(x, x))),
    "fftshift": lambda np, x: np.fft.fftshift(x),
    "mean of axis": lambda np, x: np.mean(np.outer(x, x), axis=1, keepdims=True),
    "max of axis": lambda np, x: np.max(np.outer(x, P), axis=0),
    "var of axis": lambda np, x: np.var(np.outer(x, x), axis=0, ddof=1),
    "astype": lambda np, x: x.astype(numpy.float32) * 2,
    "methods": lambda np, x: x.reshape(3, 1).T.flatten().cumsum().clip(-1, 1) + x.mean() + x.std(),
    "operators": lambda np, x: -x + abs(x) * 2 / (1 + x**2) - 2.0**x + (3 - x) % 2,
}
OF_MATRICES = {
    "eigh": lambda np, A: np.linalg.eigh(A)[0],
    "eigh vectors": lambda np, A: np.abs(np.linalg.eigh(A)[1]),
    "eig": lambda np, A: np.sort(np.real(np.linalg.eig(A)[0])),
    "svd": lambda np, A: np.linalg.svd(A, full_matrices=False)[1],
    "solve": lambda np, A: np.linalg.solve(A, A.T),
    "inv of many": lambda np, A: np.linalg.inv(np.stack([A, A + 1])),
    "matrix_power": lambda np, A: np.dot(A, np.dot(A, A)),
    "norm by rows": lambda np, A: np.linalg.norm(A, axis=1),
}


def kinds(value):
    if isinstance(value, list | tuple):
        return [kinds(part) for part in value]
    return type(value).__name__, numpy.shape(value), numpy.asarray(value).dtype.name


def compare(f, *args):
    """Values, Jacobians with respect to each argument, and types, of ours and the original's."""

    found = []
    for root in (autograd, ours):
        np = importlib.import_module(f"{root.__name__}.numpy")
        made = [f(np, *args)]
        assert type(made[0]).__module__ == "numpy"
        for i in range(len(args)):
            made.append(root.jacobian(lambda *a, np=np: f(np, *a), i)(*args))
        found.append(made)
    for a, b in zip(*found, strict=True):
        assert kinds(a) == kinds(b)
        numpy.testing.assert_allclose(b, a, rtol=2e-6, atol=1e-9)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", ONE.split())
def test_functions_of_one_array(name):
    x = {"arccosh": 1.0 + P, "arcsin": P / 2, "arctanh": P / 2, "fliplr": M}.get(name, P)
    if name in ("conj", "conjugate", "imag", "real", "abs", "max", "min", "sort", "sum"):
        x = V
    compare(lambda np, x: getattr(np, name)(x), x)


@pytest.mark.parametrize("name", TWO.split())
def test_functions_of_two_arrays(name):
    axes = (1,) if name == "tensordot" else ()
    compare(lambda np, a, b: getattr(np, name)(a, b, *axes), P, P[::-1] + 0.1)


@pytest.mark.parametrize("name", MATRIX.split())
def test_functions_of_matrices(name):
    def f(np, A):
        made = getattr(np.linalg, name)(A)
        return made[1] if name == "slogdet" else made

    compare(f, S)


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    compare(CALLS[name], V if name not in ("fft", "rfft") else P)


@pytest.mark.parametrize("name", OF_MATRICES)
def test_calls_of_matrices(name):
    compare(OF_MATRICES[name], S if "eig" in name else M)
