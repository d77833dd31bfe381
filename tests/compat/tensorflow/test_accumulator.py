"""Test `ForwardAccumulator`: forward mode, nested, around tapes and inside them."""

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

Accumulator = tf.autodiff.ForwardAccumulator
X = np.array([1.0, 2.0, 3.0], np.float32)
V = np.array([1.0, 0.0, 2.0], np.float32)


def pair():
    return tf.constant(X), tf.constant(V)


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found.numpy()), wanted, rtol=1e-5)


def test_operations_carry_tangents_that_can_be_asked_for_later():
    x, v = pair()
    with Accumulator(x, v) as acc:
        y = x**3
        other = tf.constant(1.0) * 2.0
    close(acc.jvp(y), 3 * X**2 * V)
    close(acc.jvp(x), V)
    assert acc.jvp(other) is None
    close(acc.jvp(other, unconnected_gradients=tf.UnconnectedGradients.ZERO), 0.0)
    found = acc.jvp({"y": y, "rest": [other]})
    close(found["y"], 3 * X**2 * V)
    assert found["rest"] == [None]


def test_what_is_computed_outside_has_no_tangent_and_values_are_ordinary():
    x, v = pair()
    with Accumulator(x, v) as acc:
        y = x * x
        assert repr(y) == repr(tf.constant(X * X))
        assert float(y[0]) == 1.0
    assert acc.jvp(y * 1.0) is None
    close(y + 1.0, X * X + 1)


def test_an_accumulator_goes_on_when_it_is_entered_again():
    x, v = pair()
    acc = Accumulator(x, v)
    with acc:
        y = x * x
        with pytest.raises(ValueError, match=r"^Accumulator is already recording\."):
            acc.__enter__()
    with acc:
        z = y * x
    close(acc.jvp(z), 3 * X**2 * V)


def test_variables_may_be_primals():
    w, u = tf.Variable(2.0), tf.Variable(3.0)
    with Accumulator([w], [tf.constant(1.0)]) as acc:
        y = w * w * u
        w.assign(5.0)
        z = w * u
    close(acc.jvp(y), 12.0)
    close(acc.jvp(z), 3.0)
    with Accumulator({"w": w, "u": u}, {"w": 1.0, "u": 10.0}) as acc:
        y = w * u
    close(acc.jvp(y), 53.0)


def test_accumulators_nest_for_second_derivatives():
    x, v = pair()
    with Accumulator(x, v) as outer, Accumulator(x, v) as inner:
        y = x**3
        slope = inner.jvp(y)
    close(slope, 3 * X**2 * V)
    close(outer.jvp(y), 3 * X**2 * V)
    close(outer.jvp(slope), 6 * X * V * V)


def test_forward_over_reverse_gives_hessian_vector_products():
    x, v = pair()
    with Accumulator(x, v) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x**3) * x[0]
        slope = tape.gradient(y, x)
    close(slope, 3 * X**2 + np.array([36.0, 0, 0]))
    close(acc.jvp(slope), 6 * X * V + 3 * X**2 * V[0] + np.array([(3 * X**2) @ V, 0, 0]))


def test_forward_over_reverse_by_variables_that_are_no_primals():
    w, u = tf.Variable(2.0), tf.Variable(3.0)
    with Accumulator(w, tf.constant(1.0)) as acc:
        with tf.GradientTape() as tape:
            y = w * w * u * u
        by_w, by_u = tape.gradient(y, [w, u])
    close(by_w, 36.0)
    close(by_u, 24.0)
    close(acc.jvp(by_w), 18.0)
    close(acc.jvp(by_u), 24.0)


def test_reverse_over_forward():
    x, v = pair()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        with Accumulator(x, v) as acc:
            y = x**3
    slope = acc.jvp(y)
    close(tape.gradient(slope, x), 6 * X * V)
    close(tape.gradient(y, x), 3 * X**2)


def test_a_gradient_asked_for_inside_has_a_tangent_wherever_the_tape_began():
    x, v = pair()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        p = x * x
        with Accumulator(p, v) as acc:
            y = p * p
            slope = tape.gradient(y, x)
    close(slope, 4 * X**3)
    close(acc.jvp(slope), 4 * X * V)


def test_a_gradient_asked_for_outside_has_no_tangent():
    x, v = pair()
    with Accumulator(x, v) as acc, tf.GradientTape() as tape:
        tape.watch(x)
        y = x**3
    slope = tape.gradient(y, x)
    close(slope, 3 * X**2)
    assert acc.jvp(slope) is None


def test_third_derivatives_by_any_order_of_tapes_and_accumulators():
    x, v = pair()
    with tf.GradientTape() as outer:
        outer.watch(x)
        with Accumulator(x, v) as acc:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x**4
            slope = inner.gradient(y, x)
        bent = acc.jvp(slope)
    close(bent, 12 * X**2 * V)
    close(outer.gradient(bent, x), 24 * X * V)
    with Accumulator(x, v) as acc:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x**4
            slope = inner.gradient(y, x)
        bent = outer.gradient(slope, x)
    close(bent, 12 * X**2)
    close(acc.jvp(bent), 24 * X * V)
    with Accumulator(x, v) as first, Accumulator(x, v) as second:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**4
        slope = inner.gradient(y, x)
        bent = second.jvp(slope)
    close(first.jvp(bent), 24 * X * V * V)


def test_intermediate_results_are_sources_also_while_an_accumulator_is_active():
    x, u = tf.constant(3.0), tf.constant(1.0)
    for primal in (u, x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            with Accumulator(primal, tf.constant(1.0)) as acc:
                y = x * 2.0
                z = y * y
                inside = tape.gradient(z, [x, y])
        outside = tape.gradient(z, [x, y])
        for by_x, by_y in (inside, outside):
            close(by_x, 24.0)
            close(by_y, 12.0)
        assert (acc.jvp(inside[1]) is None) == (primal is u)


def test_tapes_that_watch_one_after_the_other_while_an_accumulator_is_active():
    x, w = tf.constant(3.0), tf.constant(2.0)
    with Accumulator(x, tf.constant(1.0)), tf.GradientTape(persistent=True) as first:
        first.watch(x)
        y = x * x
        with tf.GradientTape(persistent=True) as second:
            second.watch(x)
            z = x * w
            second.watch(w)
    close(first.gradient(y, x), 6.0)
    close(second.gradient(z, x), 2.0)
    close(second.gradient(z, w), 3.0)
    assert first.gradient(z, w) is None


def test_the_gradient_of_a_tangent_may_be_asked_for_inside():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        with Accumulator(x, tf.constant(1.0)) as acc:
            y = x**3
            slope = acc.jvp(y)
            bent = tape.gradient(slope, x)
            both = tape.gradient([y, slope], x)
    close(bent, 18.0)
    close(both, 45.0)


def test_stop_gradient_stops_tangents():
    x, v = pair()
    with Accumulator(x, v) as acc:
        held = tf.stop_gradient(x * x)
        y = held * x
    assert acc.jvp(held) is None
    close(acc.jvp(y), X * X * V)


def test_custom_gradients_count_backwards_only():
    @tf.custom_gradient
    def tripled(x):
        return x * x, lambda upstream: upstream * 3.0 * x * x

    x = tf.constant(2.0)
    with Accumulator(x, tf.constant(1.0)) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tripled(x) * x
        slope = tape.gradient(y, x)
    close(acc.jvp(y), 12.0)
    close(slope, 28.0)
    close(acc.jvp(slope), 40.0)


def test_functions_beside_arithmetic_carry_tangents():
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    x = tf.constant([[1.0, -1.0]])
    with Accumulator(w, tf.ones([2, 2])) as acc:
        y = tf.nn.softmax(tf.tanh(x @ w))
    eps = 1e-3
    low, high = (
        tf.nn.softmax(tf.tanh(x @ (w + step * tf.ones([2, 2])))).numpy() for step in (-eps, eps)
    )
    np.testing.assert_allclose(acc.jvp(y).numpy(), (high - low) / (2 * eps), atol=1e-3)


def test_wrong_primals_and_tangents_are_refused():
    x, v = pair()
    with pytest.raises(ValueError, match="twice"):
        Accumulator([x, x], [v, v])
    with pytest.raises(ValueError, match="Expected a tangent of the shape of its primal"):
        Accumulator(x, tf.constant(1.0))
    with pytest.raises(ValueError, match="must be tensors or variables"):
        Accumulator(1.0, 1.0)
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        Accumulator([x], v)
    with pytest.raises(ValueError, match=r"^Called jvp\(\) without first tracing anything"):
        Accumulator(x, v).jvp(x)


def test_modes_are_restored_after_an_exception():
    x, v = pair()
    with pytest.raises(ZeroDivisionError), Accumulator(x, v):
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), tf.GradientTape():
        raise ZeroDivisionError
    y = x * x
    assert y._edge is None
    close(y, X * X)
