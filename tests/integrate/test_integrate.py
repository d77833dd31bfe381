"""Test derivatives of solutions of differential equations by SciPy's solvers."""

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import grad, gradcheck, gradgradcheck
from wengert.base import extras
from wengert.integrate import odeint, solve_ivp

pytest.importorskip("scipy.integrate")

TIGHT = {"rtol": 1e-10, "atol": 1e-10}
# method and sensitivity, and whether the derivatives can be differentiated
WAYS = {
    ("RK45", "discrete"): True,
    ("RK23", "discrete"): True,
    ("RK45", "adjoint"): True,
    ("DOP853", "adjoint"): True,
    ("LSODA", "adjoint"): True,
    ("BDF", "adjoint"): True,
    ("Radau", "adjoint"): True,
    ("RK45", "forward"): False,
    ("LSODA", "forward"): False,
    ("Radau", "forward"): False,
}
ways = pytest.mark.parametrize(("method", "sensitivity"), WAYS)
exact = pytest.mark.parametrize(
    ("method", "sensitivity"), [("RK45", "discrete"), ("DOP853", "adjoint"), ("RK45", "forward")]
)


def double(value):
    return wg.tensor(np.asarray(value, dtype=float), requires_grad=True)


def numbers(tensor):
    return tensor.detach().numpy()


# -- closed forms --------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@ways
def test_logistic_growth_has_its_derivatives(method, sensitivity):
    def growth(y, t, r, k):
        return r * y * (1 - y / k)

    y0, r, k = double([0.2]), double(1.5), double(2.0)
    options = {"rtol": 1e-7, "atol": 1e-9} if method in ("RK23", "BDF") else TIGHT
    y = odeint(
        growth, y0, [0.0, 1.0, 2.0], (r, k), method=method, sensitivity=sensitivity, **options
    )
    found = grad(y[1:].sum(), (y0, r, k), create_graph=WAYS[method, sensitivity])
    t = np.array([1.0, 2.0])
    a, b, c = 0.2, 1.5, 2.0
    e = np.exp(b * t)
    below = c + a * (e - 1)
    expected = [
        (c * e / below - c * a * e * (e - 1) / below**2).sum(),
        (c * a * t * e / below - c * a * e * a * t * e / below**2).sum(),
        (a * e / below - c * a * e / below**2).sum(),
    ]
    for value, want in zip(found, expected, strict=True):
        assert value.sum().item() == pytest.approx(want, rel=1e-5)


@exact
def test_a_linear_equation_has_the_derivatives_of_the_matrix_exponential(method, sensitivity):
    rng = np.random.default_rng(0)
    A, y0 = double(rng.normal(size=(3, 3))), double(rng.normal(size=3))
    y = odeint(
        lambda y, t, A: A @ y, y0, [0.0, 0.7], (A,), method=method, sensitivity=sensitivity, **TIGHT
    )
    weights = wg.tensor([1.0, -2.0, 0.5], dtype=wg.float64)
    found = grad(y[1] @ weights, (A, y0))
    expected = grad(wg.matrix_exp(0.7 * A) @ y0 @ weights, (A, y0))
    for value, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(value.numpy(), want.numpy(), rtol=1e-7)


@pytest.mark.parametrize(("method", "sensitivity"), [("RK45", "discrete"), ("RK45", "adjoint")])
def test_an_oscillator_has_second_derivatives(method, sensitivity):
    def oscillator(y, t, w):
        return wg.stack([y[1], -w * w * y[0]])

    w = double(1.3)
    y = odeint(
        oscillator,
        wg.tensor([1.0, 0.0], dtype=wg.float64),
        [0.0, 2.0],
        (w,),
        method=method,
        sensitivity=sensitivity,
        **TIGHT,
    )
    (first,) = grad(y[1, 0], w, create_graph=True)
    (second,) = grad(first, w)
    assert y[1, 0].item() == pytest.approx(np.cos(2.6), rel=1e-8)
    assert first.item() == pytest.approx(-2 * np.sin(2.6), rel=1e-7)
    assert second.item() == pytest.approx(-4 * np.cos(2.6), rel=1e-6)


# -- finite differences --------------------------------------------------------------------------


def predators(y, t, p):
    return wg.stack([p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + y[0] * y[1] * t])


@pytest.mark.sampled(3)
@exact
def test_states_differentiate_by_all_that_they_depend_on(method, sensitivity):
    def solution(y0, t, p):
        return odeint(
            predators, y0, t, (p,), method=method, sensitivity=sensitivity, rtol=1e-8, atol=1e-8
        )

    inputs = double([1.0, 0.7]), double([0.1, 0.5, 1.3]), double([0.5, 1.0, 0.8])
    assert gradcheck(solution, inputs)
    if sensitivity == "discrete":
        assert gradgradcheck(solution, inputs, fast_mode=True)


@pytest.mark.sampled(3)
@exact
def test_tensors_closed_over_are_differentiated_by(method, sensitivity):
    # w comes in by the argument and by the closure
    def solution(y0, w):
        def f(y, t, a):
            return -a * y * w + wg.sin(t) * w

        return odeint(f, y0, [0, 1.0], (w * 2,), method=method, sensitivity=sensitivity, **TIGHT)

    inputs = double([0.4]), double(0.3)
    assert gradcheck(solution, inputs)
    if sensitivity != "forward":
        assert gradgradcheck(solution, inputs, fast_mode=True)


@pytest.mark.sampled(3)
@exact
def test_containers_shapes_and_falling_times(method, sensitivity):
    def f(t, y, c):
        return {"a": -c["k"] * y["a"] + y["b"].sum(), "b": c["W"] @ y["b"]}

    def solution(a, b, k, W):
        y = odeint(
            f,
            {"a": a, "b": b},
            [1.0, 0.4, 0.0],
            ({"k": k, "W": W},),
            tfirst=True,
            method=method,
            sensitivity=sensitivity,
            rtol=1e-8,
            atol=1e-8,
        )
        assert y["a"].shape == (3, 1, 1) and y["b"].shape == (3, 2)
        return y["a"], y["b"]

    inputs = double([[1.0]]), double([1.0, 2.0]), double(0.7), double([[0.1, 0.3], [-0.2, 0.2]])
    assert gradcheck(solution, inputs, fast_mode=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("method", "sensitivity"), [("RK45", "discrete"), ("RK45", "adjoint"), ("BDF", "adjoint")]
)
def test_complex_states(method, sensitivity):
    def solution(z, c):
        return odeint(
            lambda z, t, c: c * z * (z if method == "BDF" else z.conj()),
            z,
            [0, 1.0],
            (c,),
            method=method,
            sensitivity=sensitivity,
            rtol=1e-9,
            atol=1e-9,
        )

    z = wg.tensor([1 + 1j, 0.5j], dtype=wg.complex128, requires_grad=True)
    c = wg.tensor(0.3 + 0.2j, dtype=wg.complex128, requires_grad=True)
    assert gradcheck(solution, (z, c))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("method", "sensitivity"),
    [("Radau", "adjoint"), ("BDF", "adjoint"), ("LSODA", "adjoint"), ("LSODA", "forward")],
)
def test_a_stiff_equation(method, sensitivity):
    def kinetics(t, y, k):  # Robertson's
        a, b, c = y
        slow, fast = k[0] * a, k[1] * b * c
        return [fast - slow, slow - fast - k[2] * b * b, k[2] * b * b]

    k = double([0.04, 1e4, 3e7])
    y0 = wg.tensor([1.0, 0.0, 0.0], dtype=wg.float64)
    sol = solve_ivp(
        kinetics,
        (0, 40),
        y0,
        method=method,
        t_eval=[40.0],
        args=(k,),
        rtol=1e-6,
        atol=1e-11,
        sensitivity=sensitivity,
    )
    assert sol.njev > 0
    (found,) = grad(sol.y[0, 0], k)
    # from central differences of solutions with rtol=1e-8, atol=1e-12
    expected = [-4.2475588, 1.37308080e-05, -2.28835509e-09]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4)


@pytest.mark.parametrize("sensitivity", ["adjoint", "forward"])
@pytest.mark.parametrize("method", ["RK45", "Radau"])
def test_a_state_of_many_elements(method, sensitivity):
    # ten species that turn into one another, whose sum stays
    n = 10
    rates = np.arange(1.0, n)

    def chain(y, t, k):
        flow = k * wg.from_numpy(rates) * y[:-1]
        return wg.cat([flow.new_zeros(1), flow]) - wg.cat([flow, flow.new_zeros(1)])

    y0, k = double(np.eye(n)[0]), double(0.5)
    y = odeint(
        chain, y0, [0, 1.0], (k,), method=method, sensitivity=sensitivity, rtol=1e-8, atol=1e-10
    )[1]
    by_rate, by_state = grad(y[2], (k, y0))
    A = np.diag(rates, -1)[:, :n] - np.diag(np.r_[rates, 0.0])
    flow = wg.matrix_exp(k * wg.from_numpy(A))
    (want,) = grad(flow[2, 0], k, retain_graph=True)
    assert by_rate.item() == pytest.approx(want.item(), rel=1e-5)
    np.testing.assert_allclose(by_state.numpy(), flow[2].detach().numpy(), atol=1e-6)


# -- times and events ----------------------------------------------------------------------------


def ball(t, y, g):
    return [y[1], -g]


def ground(t, y, g):
    return y[0]


ground.terminal = True
ground.direction = -1


def apex(t, y, g):
    return y[1]


def test_derivatives_of_any_order_by_the_time():
    t = double([0.0, 0.5])
    y = odeint(lambda y, t: -2 * y, double([1.0]), t, **TIGHT)
    value = y[1, 0]
    for order in range(4):
        (slope,) = grad(value, t, create_graph=True)
        value = slope[1]
        assert value.item() == pytest.approx((-2) ** (order + 1) * np.exp(-1), rel=1e-6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("method", "sensitivity"),
    [("RK45", "discrete"), ("RK45", "forward"), ("LSODA", "adjoint"), ("RK45", "adjoint")],
)
def test_events_have_derivatives(method, sensitivity):
    def fall(y0, g):
        sol = solve_ivp(
            ball,
            (0.0, 10.0),
            y0,
            method=method,
            events=[ground, apex],
            args=(g,),
            rtol=1e-9,
            atol=1e-9,
            sensitivity=sensitivity,
        )
        assert sol.status == 1 and sol.message.startswith("A termination event")
        return *sol.t_events, *sol.y_events, sol.t[-1], sol.y[:, -1]

    inputs = double([1.0, 2.0]), double(9.0)
    t_ground, t_apex, *_ = fall(*inputs)
    assert t_apex.item() == pytest.approx(2 / 9)
    assert t_ground.item() == pytest.approx((2 + 22**0.5) / 9)
    assert gradcheck(fall, inputs)
    if sensitivity == "discrete":
        assert gradgradcheck(fall, inputs, fast_mode=True)


def test_an_event_that_does_not_happen_is_empty():
    y0 = double([1.0, 2.0])
    sol = solve_ivp(ball, (0.0, 0.1), y0, events=ground, args=(9.0,))
    assert sol.t_events[0].shape == (0,) and sol.y_events[0].shape == (0, 2)
    assert sol.status == 0


def test_the_ends_and_the_times_asked_for_may_be_tensors():
    y0, t0, t1, at = double([1.0, 2.0]), double(0.1), double(0.9), double([0.4, 0.6])
    assert gradcheck(lambda y, t1: solve_ivp(ball, (0.1, t1), y, args=(9.0,)).y[:, -1], (y0, t1))
    assert gradcheck(
        lambda y, t0, at: solve_ivp(ball, (t0, 0.9), y, t_eval=at, args=(9.0,)).y, (y0, t0, at)
    )
    (slope,) = grad(solve_ivp(ball, (0.1, 0.9), y0, t_eval=at, args=(9.0,)).t.sum(), at)
    assert slope.tolist() == [1, 1]


# -- agreement with SciPy ------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"])
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("times", [None, [0.0, 0.3, 1.9, 2.0]])
def test_values_are_scipys(method, recorded, times):
    from scipy.integrate import solve_ivp as theirs

    want = theirs(lambda t, y: [y[1], -y[0] * t], (0, 2), [1.0, 0.5], method=method, t_eval=times)
    y0 = wg.tensor([1.0, 0.5], dtype=wg.float64, requires_grad=recorded)
    # with forward sensitivities the steps are those of the longer vector
    way = "adjoint" if method not in ("RK45", "RK23") else "auto"
    have = solve_ivp(
        lambda t, y: [y[1], -y[0] * t], (0, 2), y0, method=method, t_eval=times, sensitivity=way
    )
    assert have.y.requires_grad == recorded
    # implicit methods get the Jacobian here, which SciPy estimates
    tolerance = 1e-12 if method in ("RK45", "RK23", "DOP853") else 1e-3
    if tolerance == 1e-12 or times is not None:
        np.testing.assert_allclose(numbers(have.y), want.y, rtol=tolerance)
        np.testing.assert_allclose(numbers(have.t), want.t, rtol=tolerance)
    assert have.success and have.message == want.message


def test_the_gradient_is_that_of_the_steps():
    # with tolerances as loose as these, the steps are far from the solution
    def last(y0):
        options = {"method": "RK23", "first_step": 1.5, "max_step": 1.5, "rtol": 1, "atol": 1}
        return solve_ivp(lambda t, y: -y * y * t, (0, 3), y0, **options).y

    y0 = double([1.0])
    assert gradcheck(lambda y0: last(y0)[:, -1], (y0,))
    assert abs(last(y0)[0, -1].item() - 1 / 5.5) > 1e-3


# -- what is chosen ------------------------------------------------------------------------------


def test_the_sensitivity_is_chosen_by_method_and_sizes():
    def used(n=2, m=1, **options):
        y0 = wg.ones(n, dtype=wg.float64)
        p = double(np.ones(m))
        return solve_ivp(
            lambda t, y, p: -y * p.sum(), (0, 0.1), y0, args=(p,), **options
        ).sensitivity

    assert used() == used(method="RK23") == "discrete"
    assert used(method="DOP853") == "forward"
    assert used(method="LSODA", m=9) == "adjoint"
    assert used(n=10_001) == "forward"
    assert used(n=10_001, m=9) == "adjoint"
    assert used(sensitivity="adjoint") == "adjoint"
    with wg.no_grad():
        assert used() == "none"


def test_the_graph_says_how_derivatives_are_found():
    for way in ("discrete", "adjoint", "forward"):
        y = odeint(lambda y, t: -y, double([1.0]), [0, 1.0], sensitivity=way)
        assert y.grad_fn.name() == f"{way.capitalize()}SolutionBackward"


def test_states_with_a_zero_gradient_cost_nothing_on_the_way_back():
    calls = []

    def f(y, t):
        calls.append(1)
        return -y

    y0 = double([1.0])
    y = odeint(f, y0, np.linspace(0, 1, 50), sensitivity="adjoint", rtol=1e-4)
    calls.clear()
    grad(y[-1].sum(), y0, retain_graph=True)
    few = len(calls)
    calls.clear()
    grad(y.sum(), y0)
    assert few < 100 < len(calls)


def test_a_gradient_can_be_asked_for_again():
    y0 = double([1.0, 2.0])
    for way in ("discrete", "adjoint", "forward"):
        y = odeint(lambda y, t: -y * y, y0, [0, 1.0], sensitivity=way)
        first = grad(y.sum(), y0, retain_graph=True)[0]
        np.testing.assert_array_equal(grad(y.sum(), y0)[0].numpy(), first.numpy())


def test_float32_stays_float32():
    y0 = wg.tensor([1.0, 2.0], requires_grad=True)
    y = odeint(lambda y, t: -y * wg.exp(-t), y0, wg.tensor([0.0, 1.0]))
    y[1].sum().backward()
    assert y.dtype == y0.grad.dtype == wg.float32
    assert y0.grad[0].item() == pytest.approx(np.exp(np.exp(-1) - 1), rel=1e-3)


def test_numbers_and_lists_are_states_too():
    a = double(-1.0)
    y = odeint(lambda y, t, a: a * y, 2.0, [0, 1], (a,))
    assert y.shape == (2,) and y.dtype == wg.float64
    assert grad(y[1], a)[0].item() == pytest.approx(2 * np.exp(-1), rel=1e-6)
    assert solve_ivp(lambda t, y: -y, (0, 1), [1, 2]).y.shape[0] == 2


def test_one_time_is_the_initial_state():
    y0 = double([1.0, 2.0])
    y = odeint(lambda y, t: -y, y0, [3.0])
    assert y.shape == (1, 2)
    assert grad(y.sum(), y0)[0].tolist() == [1, 1]


@pytest.mark.parametrize("way", ["discrete", "adjoint", "forward"])
def test_a_right_hand_side_without_dependence_has_no_derivative(way):
    y0 = double([1.0, 2.0])
    y = odeint(lambda y, t: wg.ones(2, dtype=wg.float64), y0, [0.0, 1.0], sensitivity=way)
    assert grad(y[1].sum(), y0)[0].tolist() == [1, 1]


# -- what is refused -----------------------------------------------------------------------------


def test_forward_sensitivities_are_not_differentiated_twice():
    y0 = double([1.0])
    y = odeint(lambda y, t: -y * y, y0, [0, 1.0], sensitivity="forward")
    (first,) = grad(y[1].sum(), y0, create_graph=True)
    with pytest.raises(RuntimeError, match=r"trying to differentiate twice .*'discrete' or"):
        grad(first.sum(), y0)


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (
            ValueError,
            r"structure and shape of y0, \[2\], but returned \[1\]",
            {"f": lambda y, t: y[:1]},
        ),
        (TypeError, "returned complex numbers for a real state", {"f": lambda y, t: y * 1j}),
        (ValueError, "strictly increasing or decreasing", {"t": [0, 1, 1]}),
        (ValueError, "must hold at least the time of y0", {"t": []}),
        (TypeError, "t must be real", {"t": [0, 1j]}),
        (ValueError, "method must be one of 'RK45', .* is 'Euler'", {"method": "Euler"}),
        (ValueError, "sensitivity must be one of", {"sensitivity": "exact"}),
        (
            ValueError,
            "differentiates the steps of 'RK23' or 'RK45', not of 'DOP853'",
            {"method": "DOP853", "sensitivity": "discrete"},
        ),
        (TypeError, "unexpected keyword argument 'hmax'", {"hmax": 1.0}),
        (TypeError, "y0 must hold floating-point numbers .* int64", {"y0": wg.tensor([1, 2])}),
        (RuntimeError, "odeint failed after t=0", {"f": lambda y, t: y * y, "t": [0, 10.0]}),
    ],
)
def test_mistakes_are_explained(error, message, call):
    call = {"f": lambda y, t: -y, "y0": double([1.0, 2.0]), "t": [0, 1.0], **call}
    f, y0, t = (call.pop(name) for name in ("f", "y0", "t"))
    with pytest.raises(error, match=message):
        odeint(f, y0, t, **call)


def test_an_unsuccessful_integration_gives_what_was_reached():
    sol = solve_ivp(lambda t, y: y * y, (0, 10), double([1.0]))
    assert not sol.success and sol.status == -1 and sol.t[-1] < 1.01
    assert grad(sol.y[0, 1], sol.y, allow_unused=True) is not None


def test_states_of_solve_ivp_have_one_dimension():
    with pytest.raises(ValueError, match=r"one-dimensional, but has shapes \[\[1, 1\]\]"):
        solve_ivp(lambda t, y: -y, (0, 1), wg.ones(1, 1))


def test_complex_states_have_no_forward_sensitivities():
    with pytest.raises(ValueError, match="takes real states only"):
        odeint(lambda y, t: -y, wg.ones(1) * 1j, [0, 1.0], sensitivity="forward")


@pytest.mark.parametrize("way", ["discrete", "adjoint", "forward"])
def test_a_gradient_that_is_no_number_stays_visible(way):
    y0, rate = double([1.0]), double(0.5)
    y = odeint(lambda y, t, rate: -rate * y, y0, [0, 1.0], (rate,), sensitivity=way)
    for gradient in grad(y[1].sum() * float("nan"), (y0, rate)):
        assert gradient.isnan().all()


def test_without_scipy_the_error_says_what_to_install(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(extras, "_module", missing)
    with pytest.raises(ImportError, match=r"needs SciPy, .* pip install 'wengert\[scipy\]'"):
        odeint(lambda y, t: -y, wg.ones(1), [0, 1.0])
