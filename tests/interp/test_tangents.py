"""Test the tangents of every record against finite differences and reverse mode."""

import numpy as np
import pytest

import wengert as wg
from support.samples import differentiable_args, samples, supports
from wengert.interp.dual import Dual, kind_of
from wengert.interp.levels import Level
from wengert.interp.tangents import TANGENTS
from wengert.prims.whole import TABLE
from wengert.tape.forward import transposed_twice
from wengert.tape.record import T

RECORDS = [name for name, prim in TABLE.items() if prim.is_differentiable and prim.cases]
DTYPES = (np.float64, np.complex128)
TRANSPOSED = """
    _dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad
    binomial cdist cdist_backward cholesky_inverse cofactor cofactor_backward ctc_loss ctc_posterior
    cumprod frexp grid_sample_backward grid_sample_slope grid_sampler_2d grid_sampler_3d
    gru_layer index_reduce inverse_gaps inverse_values linalg_cholesky linalg_cholesky_ex
    linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_lstsq linalg_lu_factor_ex
    linalg_lu_solve linalg_matrix_exp linalg_pinv linalg_qr linalg_slogdet linalg_svd
    linalg_svdvals linear_recurrence logcumsumexp lstm_layer lstsq_inverse pdist phase_free
    renorm rnn_layer scatter_others scatter_reduce shift solve_factor standardise_backward
    standardised_sum unused
"""
"""Records whose tangents come from transposing their reverse rules again."""


def flat(result):
    return list(result) if isinstance(result, tuple | list) else [result]


def direction(rng, array):
    values = rng.standard_normal(array.shape)
    if array.dtype.kind == "c":
        values = values + 1j * rng.standard_normal(array.shape)
    return np.asarray(values, array.dtype)


class Program:
    """One case of a record as a function of its differentiable arguments."""

    def __init__(self, prim, sample, seed=5, twice=False):
        self.prim = prim
        self.sample = sample
        self.at = differentiable_args(prim, sample.arrays, twice)
        rng = np.random.default_rng(seed)
        self.inputs = [sample.arrays[i] for i in self.at]
        self.directions = [direction(rng, array) for array in self.inputs]

    def __call__(self, *inputs):
        args = [wg.tensor(a) if isinstance(a, np.ndarray) else a for a in self.sample.arrays]
        for i, value in zip(self.at, inputs, strict=True):
            args[i] = value
        results = flat(getattr(T, self.prim.name)(*args, **self.sample.params))
        count = self.prim.differentiable
        results = results if count is None else results[:count]
        return tuple(r for r in results if r.dtype.is_floating_point or r.dtype.is_complex)

    def tensors(self, arrays):
        return tuple(wg.tensor(array) for array in arrays)

    def jvp(self):
        values, slopes = wg.func.jvp(self, self.tensors(self.inputs), self.tensors(self.directions))
        return [v.numpy() for v in values], [s.numpy() for s in slopes]

    def differences(self, step=1e-6):
        moved = [
            self(
                *[
                    wg.tensor(x + sign * step * d)
                    for x, d in zip(self.inputs, self.directions, strict=True)
                ]
            )
            for sign in (1, -1)
        ]
        return [(a.numpy() - b.numpy()) / (2 * step) for a, b in zip(*moved, strict=True)]


def programs(name, limit=None, twice=False):
    prim = TABLE[name]
    for dtype in DTYPES:
        if not supports(prim, dtype):
            continue
        for i, sample in enumerate(samples(prim, dtype, np.random.default_rng(1))):
            program = Program(prim, sample, twice=twice)
            if program.at and (limit is None or i < limit):
                yield program


def close(found, wanted, near, said):
    for a, b in zip(found, wanted, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype, said
        np.testing.assert_allclose(a, b, near, near, err_msg=said)


@pytest.mark.sampled(6)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RECORDS)
def test_tangents_are_differences(name):
    for program in programs(name):
        values, slopes = program.jvp()
        said = repr(program.sample)
        close(values, [v.numpy() for v in program(*program.tensors(program.inputs))], 1e-12, said)
        close(slopes, program.differences(), 2e-5, said)


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in RECORDS if kind_of(TABLE[n]) != "transposed"])
def test_tangents_are_those_of_the_transposed_rule(name):
    prim = TABLE[name]
    for program in programs(name, limit=3):
        arrays = program.sample.arrays
        if prim.variadic:
            continue
        tangents = [None] * len(arrays)
        for at, made in zip(program.at, program.directions, strict=True):
            tangents[at] = made
        result = prim.kernel(*arrays, **program.sample.params)
        result = tuple(result) if isinstance(result, list) else result
        found = transposed_twice(prim, arrays, tangents, result, program.sample.params)
        _, slopes = program.jvp()
        known = [
            np.zeros_like(slope) if t is None else np.asarray(t)
            for t, slope in zip(flat(found), slopes, strict=False)
        ]
        close(slopes[: len(known)], known, 1e-9, repr(program.sample))


class Slope:
    """The derivative of a program in a fixed direction, as a function of its arguments."""

    def __init__(self, program):
        self.program = program
        self.ways = program.tensors(program.directions)

    def __call__(self, *inputs):
        return wg.func.jvp(self.program, inputs, self.ways)[1]


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RECORDS)
def test_tangents_of_tangents_are_differences(name):
    for program in programs(name, limit=2, twice=True):
        slope = Slope(program)
        _, second = wg.func.jvp(
            slope, program.tensors(program.inputs), program.tensors(program.directions)
        )
        step = 1e-6
        moved = [
            slope(
                *[
                    wg.tensor(x + sign * step * d)
                    for x, d in zip(program.inputs, program.directions, strict=True)
                ]
            )
            for sign in (1, -1)
        ]
        wanted = [(a.numpy() - b.numpy()) / (2 * step) for a, b in zip(*moved, strict=True)]
        close([s.numpy() for s in second], wanted, 1e-4, repr(program.sample))


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RECORDS)
def test_tangents_of_gradients_are_gradients_of_tangents(name):
    """The Hessian is symmetric: ``v H w`` by `jvp` of `grad` and by `grad` of `jvp`."""
    for program in programs(name, limit=2, twice=True):
        if any(array.dtype.kind == "c" for array in program.inputs):
            continue
        numbers = tuple(range(len(program.inputs)))

        def total(*inputs, program=program):
            return sum((out * out).sum() for out in program(*inputs) if not out.dtype.is_complex)

        if not isinstance(total(*program.tensors(program.inputs)), wg.Tensor):
            continue
        inputs, ways = program.tensors(program.inputs), program.tensors(program.directions)
        _, one = wg.func.jvp(wg.func.grad(total, numbers), inputs, ways)
        other = wg.func.grad(lambda *x, f=total, v=ways: wg.func.jvp(f, x, v)[1], numbers)(*inputs)
        close([x.numpy() for x in one], [x.numpy() for x in other], 1e-7, repr(program.sample))


def test_the_transposed_ones_are_these():
    found = {n for n, prim in TABLE.items() if kind_of(prim) == "transposed"}
    assert found == set(TRANSPOSED.split())


def test_rules_are_of_differentiable_records():
    ruled = {prim for prim, rule in TANGENTS.items() if rule is not None}
    assert len(ruled) > 8 and all(prim.is_differentiable for prim in ruled)


@pytest.mark.parametrize("name", ["inverse_gaps", "inverse_values"])
def test_what_has_no_derivative_may_alone_have_a_tangent(name):
    prim = TABLE[name]
    sample = next(samples(prim, np.float64, np.random.default_rng(0)))
    without = [i for i, rule in enumerate(prim.rules) if rule is None]
    arrays = [i for i in without if sample.arrays[i].dtype.kind == "f"]
    args = [wg.tensor(array) for array in sample.arrays]
    with wg.autograd.forward_ad.dual_level():
        for i in arrays:
            args[i] = wg.autograd.forward_ad.make_dual(args[i], wg.ones_like(args[i]))
        out = flat(getattr(T, name)(*args, **sample.params))[0]
        tangent = wg.autograd.forward_ad.unpack_dual(out).tangent
    assert tangent is None or not tangent.any()


def test_numbers_that_have_no_device_are_on_the_cpu():
    # before NumPy 2.1 its scalars have none, and so have Python's
    assert Dual(1.5, 1.0, Level(1)).device == "cpu"
