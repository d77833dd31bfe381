"""Test derivatives of TensorFlow's functions: forward mode, second order, finite differences.

What they are in TensorFlow is compared in `test_functions_against_tensorflow`.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

pytest.importorskip("scipy")  # some of the functions need it

TABLE = runpy.run_path(str(Path(__file__).with_name("table.py")))
# steps, integers and ties have no derivative that differences could find
NOT_SMOOTH = ("floor", "ceil", "round", "rint", "int32", "sign", "[1.,1.", "[1.,2.] [1.,3.]")
AT_EDGES = ("[-1.,0.,2.", "[0.]", "[0.,2.]", "[0.,5.,3.]", "[-1.] [2.]", "[1.,2.] [0.,2.]", "qr(")
# TensorFlow reads one triangle, and spreads the gradient over both
TRIANGLES = ("cholesky(", "logdet(")
CALLS = [
    call
    for call in TABLE["GRADIENTS"]
    if " Z" not in call
    and not call.startswith("tf.complex(")
    and not any(word in call for word in (*NOT_SMOOTH, *AT_EDGES, *TRIANGLES))
]


def inputs_of(call):
    expression, _, inputs = call.partition(" | ")
    values = [eval(text, {"np": np, **TABLE["ARRAYS"]}) for text in inputs.split(" ")]
    return expression, [tf.constant(np.asarray(value, np.float64)) for value in values]


def function_of(expression):
    def function(*values):
        names = dict(zip("xy", values, strict=False))
        result = eval(expression, {"tf": tf, "np": np, **names})
        if isinstance(result, (list, tuple)):
            return tf.add_n([tf.reduce_sum(part) for part in result])
        weights = np.cos(np.arange(tf.size(result).numpy())).reshape(tuple(result.shape))
        return tf.reduce_sum(result * weights)

    return function


def float64(expression):
    for name in ("ones((3, 2))", "range(6.)", "range(3.)"):
        expression = expression.replace(f"tf.{name}", f"tf.cast(tf.{name}, tf.float64)")
    return expression


@pytest.mark.sampled(4)
@pytest.mark.parametrize("call", CALLS)
def test_both_modes_and_differences_agree(call):
    expression, values = inputs_of(call)
    function = function_of(float64(expression))
    try:
        function(*values)
    except (tf.errors.InvalidArgumentError, TypeError):
        pytest.skip("the expression is float32")
    rng = np.random.default_rng(0)
    steps = [tf.constant(np.asarray(rng.normal(size=tuple(v.shape)))) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(values)
        y = function(*values)
    gradients = tape.gradient(y, values, unconnected_gradients="zero")
    reverse = sum(float(tf.reduce_sum(g * s)) for g, s in zip(gradients, steps, strict=True))
    with tf.autodiff.ForwardAccumulator(values, steps) as accumulator:
        y = function(*values)
    forward = accumulator.jvp(y, tf.UnconnectedGradients.ZERO)
    assert float(forward) == pytest.approx(reverse, rel=1e-6, abs=1e-8)
    h = 1e-6
    ahead = function(*(v + h * s for v, s in zip(values, steps, strict=True)))
    behind = function(*(v - h * s for v, s in zip(values, steps, strict=True)))
    difference = float(ahead - behind) / (2 * h)
    assert reverse == pytest.approx(difference, rel=1e-4, abs=1e-5)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("call", CALLS)
def test_the_second_derivative_agrees_with_differences_of_the_first(call):
    expression, values = inputs_of(call)
    function = function_of(float64(expression))
    try:
        function(*values)
    except (tf.errors.InvalidArgumentError, TypeError):
        pytest.skip("the expression is float32")
    rng = np.random.default_rng(1)
    steps = [np.asarray(rng.normal(size=tuple(v.shape))) for v in values]

    def slope(*at):
        with tf.GradientTape() as tape:
            tape.watch(at)
            y = function(*at)
        found = tape.gradient(y, at, unconnected_gradients="zero")
        return tf.add_n([tf.reduce_sum(g * s) for g, s in zip(found, steps, strict=True)])

    with tf.GradientTape() as tape:
        tape.watch(values)
        y = slope(*values)
    second = tape.gradient(y, values, unconnected_gradients="zero")
    curvature = sum(float(tf.reduce_sum(g * s)) for g, s in zip(second, steps, strict=True))
    h = 1e-5
    ahead = slope(*(v + h * s for v, s in zip(values, steps, strict=True)))
    behind = slope(*(v - h * s for v, s in zip(values, steps, strict=True)))
    difference = float(ahead - behind) / (2 * h)
    assert curvature == pytest.approx(difference, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("modulus", [tf.math.floormod, lambda x, y: x % y])
def test_the_slope_of_a_remainder_is_the_quotient_that_tensorflow_rounds_and_cuts(modulus):
    # as TensorFlow 2.21 gives it: 6 / 0.1 is 60 in float32, though 0.1 fits 59 times
    x, y = tf.constant([6.0, -0.3, 1.4, 2.0]), tf.constant([0.1, 0.2, 0.7, float("inf")])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = modulus(x, y)
    by_x, by_y = tape.gradient(z, [x, y])
    assert z.numpy().tolist() == np.mod(x.numpy(), y.numpy()).tolist()
    assert by_x.numpy().tolist() == [1, 1, 1, 1]
    assert by_y.numpy().tolist() == [-60, 2, -2, 0]


def test_a_quotient_of_a_function_that_numbers_divided_has_a_second_derivative():
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.linalg.normalize(x)[0][0]
        slope = inner.gradient(y, x)[0]
    np.testing.assert_allclose(outer.gradient(slope, x), [-0.04608, 0.00256], rtol=1e-5)


IMAGE = np.random.RandomState(0).uniform(0.2, 0.8, (2, 3, 3))
AMOUNTS = {
    "brightness": lambda a: tf.image.adjust_brightness(IMAGE, a),
    "contrast": lambda a: tf.image.adjust_contrast(IMAGE, a),
    "gamma": lambda a: tf.image.adjust_gamma(IMAGE, a),
    "gain": lambda a: tf.image.adjust_gamma(IMAGE, 1.0, a),
    "hue": lambda a: tf.image.adjust_hue(IMAGE, a),
    "saturation": lambda a: tf.image.adjust_saturation(IMAGE, a),
}


@pytest.mark.parametrize("amount", AMOUNTS)
def test_amounts_of_changes_to_images_are_differentiable(amount):
    def function(a):
        y = AMOUNTS[amount](a)
        return tf.reduce_sum(y * np.cos(np.arange(18.0)).reshape(y.shape))

    a = tf.Variable(0.4, dtype=tf.float64)
    with tf.GradientTape() as tape:
        y = function(a)
    slope = (function(tf.constant(0.4 + 1e-6, tf.float64)) - function(a)) / 1e-6
    assert tape.gradient(y, a).numpy() == pytest.approx(slope.numpy(), rel=1e-4)


def test_numbers_that_cannot_be_tensors_refuse_them():
    with pytest.raises(TypeError, match="Expected float for argument 'alpha'"):
        tf.nn.leaky_relu([-1.0, 2.0], alpha=tf.Variable(0.1))


def test_gamma_samples_are_differentiable_in_both_parameters():
    # of a gamma distribution of mean a / b
    a, b = tf.Variable([3.0, 5.0]), tf.Variable(2.0)
    tf.random.set_seed(1)
    with tf.GradientTape() as tape:
        x = tf.random.gamma([4000], a, b)
        mean = tf.reduce_mean(x)
    slopes = tape.gradient(mean, [a, b])
    np.testing.assert_allclose(slopes[0], [0.25, 0.25], rtol=0.05)
    assert slopes[1].numpy() == pytest.approx(-1.0, rel=0.05)
