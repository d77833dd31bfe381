"""Test `gradcheck` and `gradgradcheck`: their arguments, findings and messages."""

import time
import warnings

import numpy as np
import pytest

import wengert as wg
import wengert.autograd.forward_ad as fwd
from wengert.autograd import gradcheck, gradgradcheck
from wengert.autograd.gradcheck import GradcheckError


def leaf(*shape, dtype=wg.float64, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.5, 1.5, shape)
    if dtype.is_complex:
        values = values + 1j * rng.uniform(0.5, 1.5, shape)
    return wg.tensor(values.tolist(), dtype=dtype, requires_grad=True)


class Scaled(wg.autograd.Function):
    """The square, with a derivative that is wrong by a factor of its own for each element."""

    @staticmethod
    def forward(ctx, x, factors):
        ctx.save_for_backward(x)
        ctx.factors = factors
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x * ctx.factors, None


@pytest.mark.parametrize("fast", [False, True])
def test_right_derivatives_pass(fast):
    a, b = leaf(2, 3), leaf(3, seed=1)
    for function in (
        lambda a, b: a * b,
        lambda a, b: (a * b).sum(),
        lambda a, b: (a.sin(), b.exp(), a @ b),
        lambda a, b: [a / b],
        lambda a, b: a.t().matmul(a).logsumexp(0) + b,
    ):
        assert gradcheck(function, (a, b), fast_mode=fast) is True
        assert gradgradcheck(function, (a, b), fast_mode=fast) is True


@pytest.mark.parametrize("fast", [False, True])
def test_one_tensor_need_not_be_in_a_tuple(fast):
    assert gradcheck(lambda x: x * x, leaf(3), fast_mode=fast)
    assert gradcheck(lambda x, y: x * y, [leaf(3), leaf(3)], fast_mode=fast)
    assert gradgradcheck(lambda x: x * x, leaf(), fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,), (2, 1, 2)])
def test_any_shape(fast, shape):
    assert gradcheck(lambda x: x * x, leaf(*shape), fast_mode=fast)
    assert gradgradcheck(lambda x: x * x * x, leaf(*shape), fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_what_needs_no_gradient_is_passed_on(fast):
    def function(x, factor, constant, name, nothing):
        assert name == "name" and nothing is None
        return x * factor * constant

    inputs = (leaf(3), 2.5, wg.ones(3, dtype=wg.float64), "name", None)
    assert gradcheck(function, inputs, fast_mode=fast)
    assert gradgradcheck(function, inputs, fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_outputs_without_a_derivative_are_left_out(fast):
    x = leaf(3)
    assert gradcheck(lambda x: (x * x, x > 1, x.argmax()), x, fast_mode=fast)
    assert gradcheck(lambda x: (x > 1, x * x), x, fast_mode=fast)
    assert gradcheck(lambda x: (x.detach() * 1, x * x), x, fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_an_unused_input_has_the_gradient_zero(fast):
    assert gradcheck(lambda x, y: x * x, (leaf(3), leaf(2)), fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_a_function_that_leaves_the_graph_is_found_out(fast):
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, leaf(3), fast_mode=fast)
    assert gradcheck(lambda x: wg.ones(3, dtype=wg.float64), leaf(3), fast_mode=fast)


# -- complex numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        lambda z: z * z,
        lambda z: z.exp(),
        lambda z: z.abs(),
        lambda z: z.conj() * z,
        lambda z: z.real * z.imag,
        lambda z: (z, z.real, z * 2j),
        lambda z: z.sin() / z,
    ],
)
def test_complex_functions(function, fast):
    assert gradcheck(function, leaf(3, dtype=wg.complex128), fast_mode=fast)
    assert gradgradcheck(function, leaf(3, dtype=wg.complex128), fast_mode=fast)


def test_a_real_input_with_a_complex_output():
    assert gradcheck(lambda x: x * 2j, leaf(3))
    assert gradgradcheck(lambda x: (x * 1j).exp(), leaf(3))


class Holomorphic(wg.autograd.Function):
    """The square with a derivative that forgets to conjugate."""

    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return z * z

    @staticmethod
    def backward(ctx, grad):
        (z,) = ctx.saved_tensors
        return grad * 2 * z


@pytest.mark.parametrize("fast", [False, True])
def test_a_forgotten_conjugate_is_found(fast):
    message = "^While considering the imaginary part of complex outputs only, Jacobian mismatch"
    with pytest.raises(GradcheckError, match=message):
        gradcheck(Holomorphic.apply, leaf(3, dtype=wg.complex128), fast_mode=fast)


# -- what is wrong --------------------------------------------------------------------------------


@pytest.mark.parametrize("fast", [False, True])
def test_a_wrong_derivative_is_found(fast):
    with pytest.raises(
        GradcheckError, match=r"^Jacobian mismatch for output 0 with respect to inpu"
    ):
        gradcheck(lambda x: Scaled.apply(x, 2.0), leaf(3), fast_mode=fast)
    assert not gradcheck(
        lambda x: Scaled.apply(x, 2.0), leaf(3), fast_mode=fast, raise_exception=False
    )


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("shape", [(4, 5), (60, 70)])
def test_the_message_names_the_argument_the_element_and_both_numbers(fast, shape):
    if shape == (60, 70) and not fast:
        return
    factors = np.ones(shape)
    factors[3, 2] = 3.0
    factors = wg.tensor(factors.tolist(), dtype=wg.float64)
    x = leaf(*shape)

    def model(offset, weight):
        return Scaled.apply(weight, factors) + offset

    with pytest.raises(GradcheckError) as caught:
        gradcheck(model, (leaf(shape[1], seed=3), x), fast_mode=fast)
    text = str(caught.value)
    right = 2 * x[3, 2].item()
    assert text.startswith("Jacobian mismatch for output 0 with respect to input 1,\n")
    assert "output 0[3, 2] with respect to argument 1 ('weight')[3, 2]" in text
    assert f"analytical {3 * right:.8g}" in text
    assert f"numerical  {right:.6g}"[:-1] in text
    assert "relative 2" in text


def test_long_matrices_are_shortened():
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda x: Scaled.apply(x, 2.0), leaf(40))
    text = str(caught.value)
    assert "numerical:[[" in text and "analytical:[[" in text and "..." in text
    assert len(text) < 2000


def test_a_wrong_second_derivative_is_found():
    class Cube(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.slope = 3 * x.detach() ** 2
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            # right in value; half of the second derivative is lost
            return grad * 3 * x * x.detach()

    assert gradcheck(Cube.apply, leaf(3))
    with pytest.raises(
        GradcheckError, match="Jacobian mismatch for output 0 with respect to input"
    ):
        gradgradcheck(Cube.apply, leaf(3))
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradgradcheck(Cube.apply, leaf(3), fast_mode=True)


def nonlinear(rule):
    class Nonlinear(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return rule(grad)

    return Nonlinear.apply


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(
    "rule",
    [lambda g: g * 0 + 1, lambda g: g * g, lambda g: g.abs(), lambda g: g.clamp(max=1)],
    ids=["constant", "squared", "absolute", "clamped"],
)
def test_backward_must_be_linear(rule, fast):
    with pytest.raises(GradcheckError):
        gradcheck(nonlinear(rule), leaf(3), fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_backward_must_give_the_same_twice(fast):
    noise = np.random.default_rng(0)
    function = nonlinear(lambda g: g * (1 + 1e-9 * noise.standard_normal()))
    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(function, leaf(3), fast_mode=fast)
    assert gradcheck(function, leaf(3), fast_mode=fast, nondet_tol=1e-6)


def two_outputs(rule):
    class Both(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, one, two):
            return rule(one, two)

    return Both.apply


@pytest.mark.parametrize("fast", [False, True])
def test_an_undefined_gradient_is_zero(fast):
    def right(one, two):
        parts = [p for p in (one, None if two is None else two * 2) if p is not None]
        return sum(parts[1:], parts[0]) if parts else None

    def wrong(one, two):
        return right(one, two) if one is None or two is None else one * 5 + two * 2

    assert gradcheck(two_outputs(right), leaf(3), fast_mode=fast)
    with (
        pytest.warns(UserWarning, match="Backwards compatibility: New undefined gradient support"),
        pytest.raises(GradcheckError, match="undefined output grads"),
    ):
        gradcheck(two_outputs(wrong), leaf(3), fast_mode=fast)
    assert gradcheck(two_outputs(wrong), leaf(3), fast_mode=fast, check_undefined_grad=False)


@pytest.mark.filterwarnings("ignore:Backwards compatibility")
def test_one_output_without_a_gradient_is_tried_too():
    class Doubled(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    class Biased(Doubled):
        @staticmethod
        def backward(ctx, grad):
            return wg.ones(3, dtype=wg.float64) if grad is None else grad * 2

    with pytest.raises(GradcheckError, match="to handle undefined output grads") as raised:
        gradcheck(Doubled.apply, leaf(3))
    assert isinstance(raised.value.__cause__, TypeError)
    with pytest.raises(GradcheckError, match="Expected all input grads to be undefined or zero"):
        gradcheck(Biased.apply, leaf(3))
    assert gradcheck(Doubled.apply, leaf(3), check_undefined_grad=False)


# -- large inputs ---------------------------------------------------------------------------------


def large():
    return wg.tensor(np.linspace(-1, 1, 3600).reshape(60, 60), requires_grad=True)


class Counted:
    """A function and how often it was called."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, x):
        self.calls += 1
        return self.function(x)


@pytest.mark.parametrize("name", ["exp", "matmul", "sum", "complex", "two"])
def test_large_inputs_need_few_evaluations(name):
    function = Counted(
        {
            "exp": lambda x: x.exp(),
            "matmul": lambda x: (x @ x).sin(),
            "sum": lambda x: (x * x).sum(),
            "complex": lambda x: x.exp() * 1j,
            "two": lambda x: (x.sin(), x.cos().sum()),
        }[name]
    )
    assert gradcheck(function, large())
    assert function.calls < 40


def wrong_at(row, column, by):
    """A sine whose gradient is off by a little in one element."""

    class Sine(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            slope = x.cos()
            slope[row, column] += by
            return grad * slope

    return Sine.apply


@pytest.mark.parametrize("by", [0.5, 1e-2, 2e-3])
def test_one_wrong_element_of_many_is_found_and_named(by):
    where = r"output 0\[12, 7\] with respect to argument 0\[12, 7\]"
    with pytest.raises(GradcheckError, match=where):
        gradcheck(wrong_at(12, 7, by), large())


def test_what_is_within_the_tolerances_passes_for_large_inputs_too():
    # a relative error of 5e-4 everywhere, which projections see
    class Rough(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2.001

    x = wg.ones(24, 24, dtype=wg.float64, requires_grad=True)
    assert gradcheck(Rough.apply, x)


def test_exchanged_rows_of_a_large_jacobian_are_found():
    class Turned(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.flip(0)

        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(Turned.apply, wg.ones(30, 30, dtype=wg.float64, requires_grad=True))


# -- kinks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [lambda x: x.abs(), lambda x: wg.relu(x) - wg.relu(-x) / 2])
def test_a_kink_is_told_from_an_error(function):
    x = wg.tensor([0.5, 0.0], dtype=wg.float64, requires_grad=True)
    with pytest.raises(GradcheckError, match=r"not differentiable there: left slope") as raised:
        gradcheck(lambda x: function(x) + wg.relu(x) * 0.25, x)
    assert "argument 0 ('x')[1]" in str(raised.value)


def test_an_error_is_told_from_a_kink():
    with pytest.raises(GradcheckError, match="the rule is wrong here") as raised:
        gradcheck(wrong_at(1, 1, 0.5), wg.ones(2, 2, dtype=wg.float64, requires_grad=True))
    assert "not differentiable" not in str(raised.value)


def test_a_steep_bend_is_no_kink():
    # second derivative 2e4: one-sided differences differ by 2e-2, in proportion to the step
    x = wg.tensor([0.0], dtype=wg.float64, requires_grad=True)

    class Wrong(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return 1e4 * x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * (2e4 * ctx.saved_tensors[0] + 1)

    with pytest.raises(GradcheckError, match="the rule is wrong here"):
        gradcheck(Wrong.apply, x)


@pytest.mark.filterwarnings("ignore:Input #0")
def test_rounding_is_told_from_a_kink():
    with pytest.raises(GradcheckError, match="The input is float32, too coarse for steps of 1e-06"):
        gradcheck(lambda x: x * 2, wg.ones(3, requires_grad=True))


@pytest.mark.filterwarnings("ignore:Backwards compatibility")
def test_a_backward_that_fails_on_an_undefined_gradient():
    with pytest.raises((GradcheckError, TypeError)):
        gradcheck(two_outputs(lambda one, two: one + two * 2), leaf(3))


# -- arguments ------------------------------------------------------------------------------------


def test_low_precision_is_warned_about():
    x = leaf(3, dtype=wg.float32)
    with pytest.warns(
        UserWarning, match="Input #0 requires gradient and is not a double precision"
    ):
        gradcheck(lambda x: x * 2, x, eps=1e-2, atol=1e-2)


def test_double_precision_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradcheck(lambda x: x * 2, leaf(3))


def test_some_input_must_require_a_gradient():
    with pytest.raises(
        ValueError, match="gradcheck expects at least one input tensor to require gr"
    ):
        gradcheck(lambda x: x * 2, wg.ones(3, dtype=wg.float64))
    with pytest.raises(
        ValueError, match="gradcheck expects at least one input tensor to require gr"
    ):
        gradcheck(lambda x: x * 2, (1.0,), raise_exception=False)


def test_the_function_must_return_a_tensor():
    with pytest.raises(TypeError, match="returned float"):
        gradcheck(lambda x: x.sum().item(), leaf(3))
    assert gradcheck(lambda x: (x * x, 3, None), leaf(3))


@pytest.mark.parametrize("fast", [False, True])
def test_no_output_at_all_has_nothing_wrong(fast):
    assert gradcheck(lambda x: (), leaf(3), fast_mode=fast)


def test_expanded_inputs_are_refused():
    x = leaf(1).detach().expand(3).requires_grad_()
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(lambda x: x * x, x)


@pytest.mark.parametrize("fast", [False, True])
def test_forward_mode_and_batches_are_checked(fast):
    options = {"check_batched_grad": True, "check_forward_ad": True, "fast_mode": fast}
    assert gradcheck(lambda x: (x.sin() * x, x.prod()), leaf(3), **options)
    z = wg.tensor([1 + 2j, 0.5 - 1j], requires_grad=True, dtype=wg.complex128)
    assert gradcheck(lambda z: (z * z).abs() * z, z, check_batched_forward_grad=True, **options)
    assert gradgradcheck(lambda x: x**3, leaf(3), check_fwd_over_rev=True, fast_mode=fast)
    assert gradcheck(lambda x: x**3, leaf(3), check_forward_ad=True, check_backward_ad=False)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("dtypes", [(wg.float64,) * 2, (wg.complex128, wg.float64)])
def test_forward_mode_is_checked_in_a_dual_level(fast, dtypes):
    def wrong(x, y):
        if fwd._current_level >= 0:
            assert not (x.requires_grad or y.requires_grad)
            value, slope = fwd.unpack_dual(y)
            y = fwd.make_dual(value, slope * 1.1)
        return x + y, y

    inputs = tuple(wg.ones(2, dtype=dtype, requires_grad=True) for dtype in dtypes)
    assert gradcheck(wrong, inputs, fast_mode=fast)
    message = "Jacobian computed with forward mode mismatch for output 0 with respect to input 1"
    with pytest.raises(GradcheckError, match=message):
        gradcheck(wrong, inputs, check_forward_ad=True, fast_mode=fast)


@pytest.mark.parametrize(
    ("undefined", "batched", "both", "one"),
    [(False, False, 2, 1), (True, False, 6, 2), (True, True, 12, 5)],
)
def test_how_often_a_tangent_is_asked_for(undefined, batched, both, one):
    calls = []

    class Copies(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x.clone(), y.clone()

        @staticmethod
        def jvp(ctx, x, y):
            calls.append((x, y))
            return x, y

    options = {"check_undefined_grad": undefined, "check_batched_forward_grad": batched}
    for y, count in ((leaf(1), both), (leaf(1).detach(), one)):
        calls.clear()
        assert gradcheck(
            Copies.apply,
            (leaf(1), y),
            check_forward_ad=True,
            check_backward_ad=False,
            **options,
        )
        assert len(calls) == count


def test_an_undefined_tangent_is_zero():
    class Adds(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, g

        @staticmethod
        def jvp(ctx, x, y):
            # right for zeros, not for what is undefined
            return 3 * y if x is None else 3 * x if y is None else x + y

    inputs = (leaf(2), leaf(2))
    options = {"check_forward_ad": True, "check_backward_ad": False}
    assert gradcheck(Adds.apply, inputs, check_undefined_grad=False, **options)
    with pytest.raises(GradcheckError, match="Mismatch in tangent values for output with index: 0"):
        gradcheck(Adds.apply, inputs, **options)


def test_numbers_drawn_in_a_batch_are_refused_by_name():
    class Draws(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            wg.randn_like(g)
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            wg.randn_like(t)
            return t * 2

    message = "vmap: We do not yet support calling random operations inside of vmap"
    x = leaf(2)
    assert gradcheck(Draws.apply, x, check_forward_ad=True)
    with pytest.raises(GradcheckError, match=message):
        gradcheck(Draws.apply, x, check_forward_ad=True, check_batched_forward_grad=True)
    with pytest.raises(GradcheckError, match=message):
        gradcheck(Draws.apply, x, check_batched_grad=True)
    with pytest.raises(RuntimeError, match=message):
        wg.autograd.grad(Draws.apply(x), x, wg.eye(2, dtype=wg.float64), is_grads_batched=True)
    # where the user says vmap, its flag is the cure
    with pytest.raises(RuntimeError, match="vmap: called random operation while in randomness"):
        wg.func.vmap(lambda v: wg.randn_like(v))(x)


class WrongTangent(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].cos()

    @staticmethod
    def jvp(ctx, t):
        return t * ctx.saved_tensors[0].exp()


class WrongUnderVmap(WrongTangent):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return Turned.apply(g) * x.cos()


class Turned(wg.autograd.Function):
    @staticmethod
    def forward(g):
        return g * 1

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def vmap(info, in_dims, g):
        return -g, in_dims[0]


@pytest.mark.parametrize("fast", [False, True])
def test_a_wrong_tangent_is_found(fast):
    x = leaf(3)
    assert gradcheck(WrongTangent.apply, x, fast_mode=fast)
    with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch for"):
        gradcheck(WrongTangent.apply, x, check_forward_ad=True, fast_mode=fast)


def test_a_wrong_batch_is_found():
    assert gradcheck(WrongUnderVmap.apply, leaf(3))
    with pytest.raises(GradcheckError, match="While testing batched gradients"):
        gradcheck(WrongUnderVmap.apply, leaf(3), check_batched_grad=True)


def test_options_that_exclude_each_other():
    function, x = (lambda x: x * x), leaf(3)
    with pytest.raises(
        AssertionError, match="Expected at least one of check_forward_ad or check_b"
    ):
        gradcheck(function, x, check_backward_ad=False)
    with pytest.raises(AssertionError, match="Setting check_batched_forward_grad=True requires"):
        gradcheck(function, x, check_batched_forward_grad=True)
    with pytest.raises(AssertionError, match="Expected at least one of check_fwd_over_rev or"):
        gradgradcheck(function, x, check_rev_over_rev=False)


def test_outputs_must_keep_their_shape():
    def function(x):
        return x[x > 1]

    x = wg.tensor([1 + 1e-9, 2.0], dtype=wg.float64, requires_grad=True)
    with pytest.raises(
        AssertionError, match="Expected `func` to return outputs with the same shape"
    ):
        gradcheck(function, x)


def test_given_gradients_of_outputs():
    x = leaf(3)
    assert gradgradcheck(lambda x: x**3, x, leaf(3, seed=5))
    assert gradgradcheck(lambda x: (x**3, x**2), x, (leaf(3, seed=5), leaf(3, seed=6)))
    assert gradgradcheck(lambda x: x**3, x, wg.ones(3, dtype=wg.float64))


def test_strided_gradients_of_outputs():
    seen = []

    def function(x):
        y = x * x
        y.register_hook(lambda g: seen.append(g.is_contiguous()))
        return y

    assert gradgradcheck(function, leaf(3, 4), gen_non_contig_grad_outputs=True)
    assert not all(seen)


# -- manners --------------------------------------------------------------------------------------


@pytest.mark.parametrize("fast", [False, True])
def test_the_inputs_are_left_as_they_were(fast):
    x, y = leaf(3), leaf(3).detach().mul(1).requires_grad_()
    before, memory, version = x.tolist(), x.data_ptr(), x._version
    gradcheck(lambda x, y: x * y, (x, y), fast_mode=fast)
    gradgradcheck(lambda x, y: x * y, (x, y), fast_mode=fast)
    assert (x.tolist(), x.data_ptr(), x._version) == (before, memory, version)
    assert x.grad is None and x.is_leaf and x.requires_grad


@pytest.mark.parametrize("fail_at", [1, 2, 3, 5])
def test_also_when_the_function_raises(fail_at):
    x, calls = leaf(3), []
    before = x.tolist()

    def function(x):
        calls.append(1)
        if len(calls) == fail_at:
            raise KeyError("here")
        return x * x

    with pytest.raises(KeyError):
        gradcheck(function, x)
    assert x.tolist() == before


def test_the_function_may_close_over_its_inputs():
    x = leaf(3)
    assert gradcheck(lambda _: x * x, x)


def test_random_numbers_go_on_as_if_nothing_had_happened():
    wg.manual_seed(3)
    expected = wg.rand(4).tolist()
    wg.manual_seed(3)
    gradcheck(lambda x: x * x, leaf(3), fast_mode=True)
    assert wg.rand(4).tolist() == expected


def test_non_leaves_may_be_checked():
    x = leaf(3).clone()
    assert gradcheck(lambda x: x * x, x)
    assert gradgradcheck(lambda x: x * x * x, x)


def test_fast_mode_is_fast():
    x = leaf(60, 60)
    gradcheck(lambda x: x.tanh() * x, x, fast_mode=True)
    start = time.perf_counter()
    gradcheck(lambda x: x.tanh() * x, x, fast_mode=True)
    assert time.perf_counter() - start < 0.05


def test_sparse_inputs_are_checked_by_their_values():
    x = wg.eye(2, dtype=wg.float64).to_sparse().requires_grad_()
    assert gradcheck(lambda x: x.to_dense() ** 2, x, masked=True)
    assert gradcheck(lambda x: (x * 3, x.detach()), x, masked=True)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(lambda x: x.to_dense() * x.detach().to_dense(), x, masked=True)
