"""Test nested tapes, Jacobians, and derivatives of higher order."""

import numpy as np
import pytest

import wengert.compat.tensorflow as tf


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found.numpy()), wanted, rtol=1e-5)


def test_an_outer_tape_differentiates_the_gradient_of_an_inner_one():
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        first = inner.gradient(y, x)
    close(first, 12.0)
    close(outer.gradient(first, x), 12.0)


def test_four_tapes_give_the_fourth_derivative():
    x = tf.Variable(3.0)
    with tf.GradientTape() as a:
        with tf.GradientTape() as b:
            with tf.GradientTape() as c:
                with tf.GradientTape() as d:
                    y = x * x * x * x
                first = d.gradient(y, x)
            second = c.gradient(first, x)
        third = b.gradient(second, x)
    for found, wanted in zip(
        [first, second, third, a.gradient(third, x)], [108, 108, 72, 24], strict=True
    ):
        close(found, wanted)


def test_an_inner_tape_takes_what_it_does_not_watch_for_a_constant():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            y = x * x
            inner.watch(y)
            z = y * y * x
    by_x, by_y = inner.gradient(z, [x, y])
    assert by_x is None
    close(by_y, 54.0)
    by_x, by_y = outer.gradient(z, [x, y])
    close(by_x, 405.0)
    close(by_y, 54.0)


def test_an_inner_tape_that_watches_late_does_not_know_what_came_before():
    x, w = tf.constant(3.0), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            y = x * x
            inner.watch(w)
            z = y * w
            inner.watch(x)
    assert inner.gradient(z, x) is None
    assert inner.gradient(z, y) is None
    close(outer.gradient(z, x), 12.0)
    assert outer.gradient(z, w) is None


def test_tapes_side_by_side_watch_different_tensors():
    x, y = tf.constant(0.0), tf.constant(0.0)
    with tf.GradientTape() as first, tf.GradientTape() as second:
        first.watch(x)
        second.watch(y)
        z = tf.sin(x) + tf.sigmoid(y)
    close(first.gradient(z, x), 1.0)
    close(second.gradient(z, y), 0.25)


def test_tapes_one_after_another_can_be_chained_by_hand():
    x = tf.constant(3.0)
    with tf.GradientTape() as first:
        first.watch(x)
        y = x * x
    with tf.GradientTape() as second:
        second.watch(y)
        z = y * y
    slope = second.gradient(z, y)
    close(slope, 18.0)
    close(first.gradient(y, x, output_gradients=slope), 108.0)


def test_one_tensor_may_be_watched_by_tapes_that_outlive_each_other():
    x = tf.constant(3.0)
    tapes = []
    for power in (1, 2, 3):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x**power
        tapes.append((tape, y))
    for power, (tape, y) in enumerate(tapes, 1):
        close(tape.gradient(y, x), power * 3.0 ** (power - 1))
    assert tapes[0][0].gradient(tapes[1][1], x) is None


def test_an_inner_tape_may_be_asked_inside_of_its_block_and_the_outer_one_sees_it():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(x)
            y = x**3
            slope = inner.gradient(y, x)
        z = slope * x
    close(outer.gradient(z, x), 81.0)


def test_an_outer_tape_that_is_stopped_does_not_see_the_inner_gradient():
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        with outer.stop_recording():
            slope = inner.gradient(y, x)
        z = slope * x
    close(outer.gradient(z, x), 12.0)


def test_a_used_inner_tape_leaves_the_outer_one_what_it_needs():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            hidden = tf.exp(x)
            y = tf.reduce_sum(hidden * x)
        slope = inner.gradient(y, x)
        del inner, hidden
        z = y + tf.reduce_sum(slope * slope)
    e = np.exp([1.0, 2.0])
    d = e * [2, 3]
    close(outer.gradient(z, x), d + 2 * d * e * [3, 4])


def test_the_gradient_of_a_gradients_norm_reaches_the_weights_only_through_it():
    w, x = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0, -1.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape(watch_accessed_variables=False) as inner:
            inner.watch(x)
            y = tf.reduce_sum((x @ w) ** 2)
        slope = inner.gradient(y, x)
        size = tf.reduce_sum(slope**2)
    xn, wn = x.numpy(), w.numpy()
    g = 2 * xn @ wn @ wn.T
    wanted = 4 * (xn.T @ g @ wn + g.T @ xn @ wn)
    close(outer.gradient(size, w), wanted)


# -- Jacobians -------------------------------------------------------------------------------------


def test_a_jacobian_has_the_shape_of_the_target_and_then_of_the_source():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.stack([x * x, x * x[0]])
        s = x[0] * x[1]
    found = tape.jacobian(y, x)
    assert found.shape == (2, 3, 3)
    close(found[0], np.diag([2.0, 4.0, 6.0]))
    close(found[1], [[2, 0, 0], [2, 1, 0], [3, 0, 1]])
    close(tape.jacobian(s, x), [2.0, 1.0, 0.0])


def test_a_jacobian_by_rows_is_the_same_and_needs_a_persistent_tape():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.sin(x) * x[0]
    at_once = tape.jacobian(y, x)
    close(tape.jacobian(y, x, experimental_use_pfor=False, parallel_iterations=3), at_once.numpy())
    with tf.GradientTape() as tape:
        y = x * x
    with pytest.raises(RuntimeError, match=r"^GradientTape must be created with persistent=True"):
        tape.jacobian(y, x, experimental_use_pfor=False)
    close(tape.jacobian(y, x), np.diag([2.0, 4.0]))


def test_jacobians_by_nested_and_unconnected_sources():
    x, c = tf.Variable([1.0, 2.0]), tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    found = tape.jacobian(y, {"x": x, "c": [c]})
    close(found["x"], np.diag([2.0, 4.0]))
    assert found["c"] == [None]
    zeros = tape.jacobian(y, c, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    close(zeros, [0.0, 0.0])
    with pytest.raises(AttributeError, match="'list' object has no attribute 'shape'"):
        tape.jacobian([y], x)


def test_a_jacobian_of_a_gradient_is_the_hessian():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x[0] * x[1] * x[2]
        slope = inner.gradient(y, x)
    close(outer.jacobian(slope, x), [[0, 3, 2], [3, 0, 1], [2, 1, 0]])


def test_a_jacobian_can_be_differentiated():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
        trace = tf.reduce_sum(inner.jacobian(y, x))
    close(outer.gradient(trace, x), [6.0, 12.0])


def test_batch_jacobians_take_each_element_by_itself():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.stack([x[:, 0] * x[:, 1], x[:, 0], x[:, 1] ** 2], axis=1)
    found = tape.batch_jacobian(y, x)
    whole = tape.jacobian(y, x).numpy()
    assert found.shape == (3, 3, 2)
    close(found, np.stack([whole[i, :, i] for i in range(3)]))
    close(tape.batch_jacobian(y, x, experimental_use_pfor=False), found.numpy())


def test_batch_jacobians_of_constants_are_zeros_and_sizes_must_match():
    x = tf.ones([2, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    close(tape.batch_jacobian(tf.ones([2, 1]), x), np.zeros((2, 1, 2)))
    with pytest.raises(ValueError, match=r"^Need first dimension of target shape \(\(1, 2\)\)"):
        tape.batch_jacobian(y[:1], x)


def test_jacobians_of_empty_targets_are_empty():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = x[:0] * 2.0
    found = tape.jacobian(y, x)
    assert (found.shape, found.dtype) == ((0, 2), tf.float32)
    assert tape.gradient(y, x).numpy().tolist() == [0, 0]
