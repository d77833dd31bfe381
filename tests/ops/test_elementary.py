"""Test sign, rounding and related functions: edges, errors, dtypes, ``out=``, in place."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert.ops.elementary import round as round_to

INF, NAN = math.inf, math.nan


def leaf(*values):
    return wg.tensor(list(values), dtype=wg.float64, requires_grad=True)


def grad(function, *inputs):
    return [
        None if g is None else g.tolist()
        for g in wg.autograd.grad(function(*inputs).sum(), inputs, allow_unused=True)
    ]


def test_positive_is_the_tensor_itself():
    x = wg.tensor([1.0, -2.0])
    assert wg.positive(x) is x
    with pytest.raises(RuntimeError, match=r"^The `\+` operator, on a bool tensor"):
        wg.tensor([True]).positive()


def test_copysign_takes_the_sign_of_zeros_and_has_no_derivative_at_zero():
    x, y = leaf(2.0, 2.0, -3.0, 0.0), leaf(0.0, -0.0, -1.0, -1.0)
    assert wg.copysign(x, y).tolist() == [2.0, -2.0, -3.0, -0.0]
    assert math.copysign(1, wg.copysign(x, y)[3].item()) == -1
    assert grad(wg.copysign, x, y) == [[1.0, -1.0, 1.0, 0.0], [0.0] * 4]
    assert grad(lambda t: t.copysign(-0.0), x) == [[-1.0, -1.0, 1.0, 0.0]]
    with pytest.raises(TypeError, match="copysign\\(\\) received an invalid combination"):
        wg.copysign(2.0, x)


def test_the_sign_of_tiny_numbers_is_not_lost():
    x = leaf(1e-300, -1e-300)
    assert grad(lambda t: wg.copysign(t, -1), x) == [[-1.0, 1.0]]


def test_fmax_and_fmin_pass_over_nan_and_give_ties_to_the_first():
    x, y = leaf(0.0, 1.0, NAN, 2.0), leaf(0.0, 2.0, 1.0, NAN)
    assert wg.fmax(x, y).tolist() == [0.0, 2.0, 1.0, 2.0]
    assert wg.fmin(x, y).tolist() == [0.0, 1.0, 1.0, 2.0]
    assert grad(wg.fmax, x, y) == [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]]
    assert grad(wg.fmin, x, y) == [[1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]
    both = leaf(NAN), leaf(NAN)
    assert grad(wg.fmax, *both) == [[1.0], [0.0]]
    with pytest.raises(TypeError, match="argument 'other' \\(position 2\\) must be Tensor"):
        wg.fmax(x, 2)


def test_frexp_gives_parts_whose_mantissa_is_differentiable():
    x = leaf(8.0, -3.0, 0.0, INF)
    mantissa, exponent = parts = wg.frexp(x)
    assert parts.mantissa is mantissa and parts.exponent is exponent
    assert mantissa.tolist() == [0.5, -0.75, 0.0, INF]
    assert exponent.tolist()[:3] == [4, 2, 0] and exponent.dtype is wg.int32
    assert not exponent.requires_grad
    assert grad(lambda t: wg.frexp(t)[0], x) == [[0.0625, 0.25, 1.0, 1.0]]
    with pytest.raises(RuntimeError, match=r"^torch.frexp\(\) only supports floating-point"):
        wg.frexp(wg.tensor([1, 2]))


def test_frexp_writes_to_two_tensors():
    mantissa, exponent = wg.empty(2), wg.empty(2, dtype=wg.int32)
    wg.frexp(wg.tensor([4.0, 0.5]), out=(mantissa, exponent))
    assert mantissa.tolist() == [0.5, 0.5] and exponent.tolist() == [3, 0]
    with pytest.raises(RuntimeError, match="expects exponent to have int dtype but got"):
        wg.frexp(wg.tensor([4.0, 0.5]), out=(mantissa, mantissa))


def test_ldexp_and_its_derivatives():
    x, e = leaf(1.0, 3.0), leaf(2.0, -1.0)
    assert wg.ldexp(x, e).tolist() == [4.0, 1.5]
    by_x, by_e = grad(wg.ldexp, x, e)
    assert by_x == [4.0, 0.5]
    assert by_e == pytest.approx([4.0 * math.log(2), 1.5 * math.log(2)])


def test_nan_to_num_replaces_and_has_the_derivative_0_there():
    x = leaf(1.0, NAN, INF, -INF)
    most = np.finfo(np.float64).max
    assert wg.nan_to_num(x).tolist() == [1.0, 0.0, most, -most]
    assert wg.nan_to_num(x, 1, posinf=2, neginf=3).tolist() == [1.0, 1.0, 2.0, 3.0]
    assert grad(wg.nan_to_num, x) == [[1.0, 0.0, 0.0, 0.0]]
    assert wg.nan_to_num(wg.tensor([1, 2]), nan=3.0).tolist() == [1, 2]
    assert wg.nan_to_num(wg.tensor([complex(NAN, INF)]), posinf=5.0).tolist() == [5j]
    half = wg.tensor([INF, -INF], dtype=wg.float16)
    assert wg.nan_to_num(half).tolist() == [65504.0, -65504.0]
    assert wg.nan_to_num(half, posinf=1e6).tolist()[0] == INF
    pytest.importorskip("ml_dtypes")
    brain = wg.tensor([INF, NAN, -INF], dtype=wg.bfloat16)
    most = wg.finfo(wg.bfloat16).max
    assert wg.nan_to_num(brain).tolist() == brain.clone().nan_to_num_().tolist() == [most, 0, -most]
    assert wg.vmap(wg.nan_to_num)(brain).tolist() == [most, 0, -most]


def test_nan_to_num_refuses_what_it_cannot_do():
    with pytest.raises(TypeError, match="argument 'nan' \\(position 2\\) must be float, not str"):
        wg.nan_to_num(wg.tensor([1.0]), "0")
    z = wg.tensor([1j], requires_grad=True)
    with pytest.raises(RuntimeError, match="nan_to_num does not support automatic differ"):
        wg.nan_to_num(z)
    assert not wg.nan_to_num(z.detach()).requires_grad


def test_nan_to_num_in_place_keeps_the_history():
    x = leaf(1.0, NAN)
    y = x * 2
    assert y.nan_to_num_(7.0) is y
    assert y.tolist() == [2.0, 7.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 0.0]


@pytest.mark.parametrize("size", [9, 2000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nextafter_at_every_edge(size, dtype):
    tiny = np.finfo(dtype).smallest_subnormal
    a = np.array([1, 1, -1, 0, -0.0, 2, NAN, 1, INF, -INF, tiny, 3], dtype)
    b = np.array([2, 0, 0, -1, 1, 2, 1, NAN, 0, 0, 0, INF], dtype)
    a, b = np.resize(a, size), np.resize(b, size)
    found = wg.nextafter(wg.tensor(a), wg.tensor(b)).numpy()
    np.testing.assert_array_equal(found, np.nextafter(a, b))
    zeros = (a == b) | (found == 0)
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(np.nextafter(a, b)[zeros]))


def test_nextafter_is_the_identity_for_derivatives():
    x, y = leaf(1.0, 2.0), leaf(2.0, 2.0)
    assert grad(wg.nextafter, x, y) == [[1.0, 0.0], [0.0, 0.0]]


def test_heaviside_at_zero_and_its_derivative_by_values():
    x, v = leaf(-1.0, 0.0, 2.0, NAN), leaf(0.5)
    assert wg.heaviside(x, values=v).tolist() == [0.0, 0.5, 1.0, 0.0]
    assert grad(wg.heaviside, x, v) == [[0.0] * 4, [1.0]]
    with pytest.raises(RuntimeError, match="heaviside is not yet implemented for tensors with"):
        wg.heaviside(x, wg.tensor([1]))
    with pytest.raises(RuntimeError, match="heaviside is not yet implemented for complex"):
        wg.heaviside(wg.tensor([1j]), wg.tensor([1j]))


def test_predicates():
    x = wg.tensor([1.0, -0.0, INF, -INF, NAN])
    assert x.isposinf().tolist() == [False, False, True, False, False]
    assert x.isneginf().tolist() == [False, False, False, True, False]
    assert x.signbit().tolist()[:4] == [False, True, False, True]
    assert x.isreal().tolist() == [True] * 5
    assert wg.isreal(wg.tensor([1 + 0j, 1j])).tolist() == [True, False]
    assert wg.isposinf(wg.tensor([1, 2])).tolist() == [False, False]
    with pytest.raises(RuntimeError, match="isposinf does not support complex inputs"):
        wg.isposinf(wg.tensor([1j]))


def test_angles():
    x = leaf(180.0)
    assert wg.deg2rad(x).item() == math.pi
    assert grad(wg.rad2deg, x) == [[180 / math.pi]]
    assert wg.deg2rad(wg.tensor([180])).dtype is wg.float32
    with pytest.raises(RuntimeError, match="deg2rad is not supported for complex"):
        wg.deg2rad(wg.tensor([1j]))


def test_frac_keeps_the_sign_and_the_gradient():
    x = leaf(1.5, -1.25)
    assert wg.frac(x).tolist() == [0.5, -0.25]
    assert grad(wg.frac, x) == [[1.0, 1.0]]
    with pytest.raises(NotImplementedError, match="\"frac_cpu\" not implemented for 'Long'"):
        wg.frac(wg.tensor([1]))


def test_divisors_and_multiples():
    a, b = wg.tensor([0, -4, 6]), wg.tensor([0, 6, -9])
    assert wg.gcd(a, b).tolist() == [0, 2, 3]
    assert wg.lcm(a, b).tolist() == [0, 12, 18]
    assert a.clone().gcd_(b).tolist() == [0, 2, 3]
    assert wg.gcd(wg.tensor([4], dtype=wg.uint8), wg.tensor([6])).dtype is wg.int64
    with pytest.raises(NotImplementedError, match="\"gcd_cpu\" not implemented for 'Float'"):
        wg.gcd(a, wg.tensor([1.0]))


def test_shifts_past_the_width_of_the_dtype():
    x = wg.tensor([1, -1, 3, -128], dtype=wg.int8)
    by = wg.tensor([7, 8, 1, 9], dtype=wg.int8)
    assert wg.bitwise_left_shift(x, by).tolist() == [-128, 0, 6, 0]
    assert wg.bitwise_right_shift(x, by).tolist() == [0, -1, 1, -1]
    assert wg.bitwise_left_shift(wg.tensor([1, 2]), 2).tolist() == [4, 8]
    assert wg.bitwise_left_shift(2, wg.tensor([1, 2])).tolist() == [4, 8]
    with pytest.raises(NotImplementedError, match="\"lshift_cpu\" not implemented for 'Float'"):
        wg.bitwise_left_shift(wg.tensor([1]), 1.5)


def test_float_power_computes_in_double_precision():
    x = wg.tensor([2, 4])
    assert wg.float_power(x, -1).tolist() == [0.5, 0.25]
    assert wg.float_power(2, x).dtype is wg.float64
    assert wg.float_power(wg.tensor([2.0]), 2j).dtype is wg.complex128
    single = wg.tensor([2.0], requires_grad=True)
    wg.float_power(single, 3).backward()
    assert single.grad.tolist() == [12.0] and single.grad.dtype is wg.float32
    with pytest.raises(RuntimeError, match="the base given to float_power_ has dtype Float but"):
        wg.tensor([2.0]).float_power_(2)
    with pytest.raises(RuntimeError, match="the output given to float_power has dtype Float but"):
        wg.float_power(x, 2, out=wg.empty(2))
    assert wg.tensor([3.0], dtype=wg.float64).float_power_(2).tolist() == [9.0]


def test_round_to_decimals():
    x = wg.tensor([1.25, 1.35, -2.675], dtype=wg.float64)
    assert round_to(x, decimals=1).tolist() == [1.2, 1.4, -2.7]
    assert round_to(wg.tensor([1250.0, 1350.0]), decimals=-2).tolist() == [1200.0, 1400.0]
    assert round_to(wg.tensor([3, 4])).tolist() == [3, 4]
    assert grad(lambda t: round_to(t, decimals=1), leaf(1.26)) == [[0.0]]
    with pytest.raises(NotImplementedError, match="\"round_cpu\" not implemented for 'Long'"):
        round_to(wg.tensor([1250]), decimals=-2)


def test_fill_is_a_new_tensor():
    x, v = leaf(1.0, 2.0), wg.tensor(3.0, dtype=wg.float64, requires_grad=True)
    assert wg.fill(x, 5).tolist() == [5.0, 5.0] and x.tolist() == [1.0, 2.0]
    assert grad(wg.fill, x, v) == [[0.0, 0.0], 2.0]
    assert wg.fill(wg.tensor([1, 2]), 3.5).tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="fill_ only supports 0-dimension value tensor but"):
        wg.fill(x, wg.tensor([1.0]))


def test_out_is_written_and_leaves_no_graph():
    out = wg.empty(2)
    assert wg.deg2rad(wg.tensor([180.0, 90.0]), out=out) is out
    assert out.tolist() == pytest.approx([math.pi, math.pi / 2])
    with pytest.raises(RuntimeError, match=r"functions with out=\.\.\. arguments don't support"):
        wg.deg2rad(leaf(1.0), out=out)
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
        wg.deg2rad(wg.tensor([180.0]), out=wg.empty(1, dtype=wg.int64))


def test_powers_of_real_numbers_with_complex_exponents_have_derivatives():
    exponent = wg.tensor([0.5 + 1j, -1 - 0.25j], dtype=wg.complex128, requires_grad=True)
    base = wg.tensor([-1.0, -2.0], dtype=wg.float64, requires_grad=True)
    assert wg.autograd.gradcheck(wg.pow, (base.detach(), exponent))
    assert wg.autograd.gradcheck(lambda e: wg.pow(-2, e), (exponent,))


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_power_of_zero_falls_without_bound_below_the_exponent_zero():
    exponent = wg.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    wg.sum(0**exponent).backward()
    assert exponent.grad.tolist() == [-float("inf"), 0.0, 0.0]


@pytest.mark.parametrize("name", ["acos", "asin", "acosh", "asinh", "sqrt", "log", "log1p"])
@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("turn", [1, 1j])
def test_along_a_branch_cut_the_derivative_is_that_of_its_side(name, zero, turn):
    def at(along):
        return np.array([complex(a, zero) if turn == 1 else complex(zero, a) for a in along])

    along = np.array([-2.5, -1.3, 0.4, 1.3, 2.5])
    ours = getattr(wg, name)
    z = wg.tensor(at(along), requires_grad=True)
    (slope,) = wg.autograd.grad(ours(z).real.sum(), z)
    step = 1e-6
    ends = [ours(wg.tensor(at(along + h))).numpy() for h in (step, -step)]
    expected = (ends[0] - ends[1]) / (2 * step) / turn
    np.testing.assert_allclose(slope.numpy().conj(), expected, rtol=1e-6)
