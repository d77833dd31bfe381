"""Test custom derivatives, functions, control flow, maps, assertions and printing."""

import functools
import io

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

InvalidArgument = tf.errors.InvalidArgumentError


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found.numpy()), wanted, rtol=1e-5)


@tf.custom_gradient
def tripled(x):
    """x squared, with three times x squared for a derivative."""

    def grad(upstream):
        return upstream * 3.0 * x * x

    return x * x, grad


def test_the_gradient_is_the_one_that_was_given():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tripled(x) * 2.0
    assert y.numpy() == 8.0
    close(tape.gradient(y, x), 24.0)


def test_second_derivatives_are_those_of_the_given_gradient():
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tripled(tripled(x))
        first = inner.gradient(y, x)
    close(first, 576.0)
    close(outer.gradient(first, x), 4032.0)


def test_values_that_the_function_computed_may_be_used_in_its_gradient():
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)
        return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    x = tf.constant([100.0, 0.0], tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = log1pexp(x)
        first = inner.gradient(y, x)
    close(first, [1.0, 0.5])
    close(outer.gradient(first, x)[1], 0.25)


def test_the_gradient_of_a_gradient_may_be_given_too():
    @tf.custom_gradient
    def op(x):
        @tf.custom_gradient
        def grad(upstream):
            return upstream * x * 2.0, lambda again: again * 10.0

        return x * x, grad

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = op(x) * x
        first = inner.gradient(y, x)
    close(first, 12.0)
    # by op itself 4, by the upstream x of its gradient 10
    close(outer.gradient(first, x), 14.0)


def test_several_arguments_and_results_in_any_structure():
    @tf.custom_gradient
    def both(a, b):
        def grad(da, db):
            return da + 10.0 * db, 100.0 * da + 1000.0 * db

        return {"product": a * b, "sum": a + b}, grad

    a, b = tf.Variable(2.0), tf.Variable(5.0)
    with tf.GradientTape() as tape:
        found = both(a, b)
        y = found["product"] + 2.0 * found["sum"]
    by_a, by_b = tape.gradient(y, [a, b])
    close(by_a, 21.0)
    close(by_b, 2100.0)


def test_variables_that_are_read_get_their_gradients_by_keyword():
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def linear(x):
        def grad(upstream, variables=None):
            assert variables[0] is w
            return upstream * w, [upstream * x * 100.0]

        return w * x, grad

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = linear(x)
    by_x, by_w = tape.gradient(y, [x, w])
    close(by_x, 3.0)
    close(by_w, 200.0)
    assert tape.watched_variables()[0] is w


def test_variables_without_the_keyword_are_refused():
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def linear(x):
        return w * x, lambda upstream: upstream

    text = "^@tf.custom_gradient grad_fn must accept keyword argument 'variables'"
    with pytest.raises(TypeError, match=text):
        linear(tf.constant(1.0))


def test_a_wrong_number_of_gradients_is_refused():
    @tf.custom_gradient
    def product(a, b):
        return a * b, lambda upstream: upstream

    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = product(x, x)
    text = "^custom_gradient function expected to return 2 gradients, but returned 1 instead"
    with pytest.raises(ValueError, match=text):
        tape.gradient(y, x)
    with pytest.raises(TypeError, match=r"must return a pair \(result, grad_fn\)"):
        tf.custom_gradient(lambda x: x)(x)


def test_where_no_tape_follows_an_argument_what_was_used_from_outside_counts():
    w = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x):
        return w * x, lambda upstream, variables: (upstream, [upstream * 7.0])

    w2 = tf.constant(2.0)
    with tf.GradientTape() as tape:
        y = scaled(w2)
    close(tape.gradient(y, w), 7.0)


def test_recompute_grad_keeps_nothing_and_has_all_derivatives():
    w, calls = tf.Variable(1.5), []

    @tf.recompute_grad
    def f(x):
        calls.append(x)
        return tf.sin(tf.sin(x) * w)

    x = tf.Variable(0.5)
    with tf.GradientTape() as outer:
        with tf.GradientTape(persistent=True) as inner:
            y = f(x)
        by_x, by_w = inner.gradient(y, [x, w])
    assert len(calls) == 2
    s, c = np.sin(0.5), np.cos(0.5)
    close(by_x, np.cos(s * 1.5) * 1.5 * c)
    close(by_w, np.cos(s * 1.5) * s)
    close(outer.gradient(by_x, x), -np.sin(s * 1.5) * (1.5 * c) ** 2 - np.cos(s * 1.5) * 1.5 * s)


def test_grad_pass_through_has_the_gradient_of_the_identity():
    x = tf.Variable([1.2, 1.7])
    with tf.GradientTape() as tape:
        y = tf.grad_pass_through(lambda x: tf.round(x) * 7.0)(x)
    close(y, [7.0, 14.0])
    close(tape.gradient(y, x), [1.0, 1.0])


def test_stop_gradient_gives_a_constant_of_the_same_value():
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        held = tf.stop_gradient(y)
        z = held * x
    close(tape.gradient(z, x), 9.0)
    close(tape.gradient(y, x), 6.0)
    assert tape.gradient(z, y) is None


def test_identity_is_another_tensor():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.identity(x)
        z = x * y
    close(tape.gradient(z, x), 6.0)
    close(tape.gradient(z, y), 3.0)


def graph_of(function):
    return tf.function(function).get_concrete_function(1).graph


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: tf.gradients(1, 2), RuntimeError, "^tf.gradients is not supported when eager"),
        (lambda: tf.hessians(1, 2), RuntimeError, "^tf.hessians is not supported"),
        (lambda: tf.no_gradient("Op"), NotImplementedError, "tf.stop_gradient"),
        (lambda: tf.RegisterGradient("Op"), NotImplementedError, "tf.custom_gradient"),
        (lambda: graph_of(abs), NotImplementedError, "no graphs"),
    ],
)
def test_what_belongs_to_graphs_is_refused(call, error, match):
    with pytest.raises(error, match=match):
        call()


# -- functions -------------------------------------------------------------------------------------


def test_functions_run_as_they_are():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)], jit_compile=True)
    def f(x):
        if tf.reduce_sum(x) > 0:
            return x * 2.0
        return -x

    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = f(x)
    close(tape.gradient(y, x), [2.0, 2.0])
    close(f([-1, -2]), [1.0, 2.0])
    assert f.python_function.__name__ == f.__name__ == "f"
    with pytest.raises(TypeError, match=r"^Binding inputs to tf.function failed"):
        f(tf.ones([2, 2]))
    with pytest.raises(TypeError, match="too many positional arguments"):
        f(x, x)


def test_functions_make_tensors_of_arrays_and_numbers():
    @tf.function
    def f(x, scale=2):
        assert isinstance(x, tf.Tensor)
        return {"x": x * scale, "n": 1, "none": None}

    found = f(np.ones(2, np.float32))
    close(found["x"], [2.0, 2.0])
    assert found["n"].dtype is tf.int32
    assert found["none"] is None


def test_methods_can_be_decorated():
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(3.0)

        @tf.function
        def __call__(self, x):
            return self.w * x

    model = Model()
    with tf.GradientTape() as tape:
        y = model(tf.constant(2.0))
    close(tape.gradient(y, model.w), 2.0)


def test_python_functions_are_recorded_and_numpy_functions_are_not():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.py_function(lambda a: a * a, [x], tf.float32)
        z = tf.numpy_function(lambda a: a * a, [x], tf.float32)
    close(tape.gradient(y, x), [2.0, 4.0])
    assert tape.gradient(z, x) is None
    assert tf.executing_eagerly()
    tf.config.run_functions_eagerly(True)
    assert tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(False)
    with tf.device("/CPU:0"), tf.control_dependencies([x]), tf.init_scope():
        assert tf.config.list_physical_devices("GPU") == []


# -- control flow ----------------------------------------------------------------------------------


def test_conditions_choose_one_branch():
    x = tf.Variable(-2.0)
    with tf.GradientTape() as tape:
        y = tf.cond(x > 0, lambda: x, lambda: x * x)
    close(tape.gradient(y, x), -4.0)
    assert tf.case([(x > 0, lambda: 1), (x < 0, lambda: 2)], default=lambda: 3) == 2
    assert tf.case([(x > 0, lambda: 1)], default=lambda: 3) == 3
    assert tf.switch_case(tf.constant(1), [lambda: "a", lambda: "b"]) == "b"
    assert tf.switch_case(tf.constant(7), {1: lambda: "a", 3: lambda: "b"}) == "b"
    assert tf.switch_case(7, [lambda: "a"], default=lambda: "c") == "c"
    with pytest.raises(TypeError, match="'true_fn' must be callable"):
        tf.cond(True, 1, 2)
    with pytest.raises(InvalidArgument, match="None of the conditions"):
        tf.case([(x > 0, lambda: 1)])


def test_loops_are_differentiated():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        i, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, tf.ones(2)))
    assert i.numpy() == 3
    close(tape.gradient(y, x), [3.0, 12.0])
    (last,) = tf.while_loop(lambda i: True, lambda i: [i + 1], [0], maximum_iterations=4)
    assert last.numpy() == 4
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        tf.while_loop(lambda i, j: True, lambda i, j: i, [0, 1])


@pytest.mark.parametrize(
    ("call", "value", "slope"),
    [
        (lambda x: tf.map_fn(lambda a: a * a, x), [1, 4, 9], [2, 4, 6]),
        (lambda x: tf.scan(lambda a, b: a * b, x), [1, 2, 6], [9, 4, 2]),
        (lambda x: tf.scan(lambda a, b: a + b, x, 10.0, reverse=True), [16, 15, 13], [1, 2, 3]),
        (lambda x: tf.foldl(lambda a, b: a - b, x), -4, [1, -1, -1]),
        (lambda x: tf.foldr(lambda a, b: a - b, x), 0, [-1, -1, 1]),
        (lambda x: tf.vectorized_map(lambda a: a * a, x), [1, 4, 9], [2, 4, 6]),
    ],
)
def test_maps_and_folds(call, value, slope):
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = call(x)
    close(y, value)
    close(tape.gradient(y, x), slope)


def test_maps_take_nested_structures():
    a, b = tf.constant([1.0, 2.0]), tf.constant([[3.0], [4.0]])
    for way in (tf.map_fn, tf.vectorized_map):
        found = way(lambda one: {"s": one[0] + one[1], "c": tf.constant(1.0)}, (a, b))
        close(found["s"], [[4.0], [6.0]])
        close(found["c"], [1.0, 1.0])


def test_a_tape_inside_of_a_vectorized_map_gives_gradients_of_each_element():
    w = tf.Variable([[1.0], [2.0]])
    xs = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def of_one(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.expand_dims(x, 0) @ w) ** 2)
        return tape.gradient(loss, w)

    wanted = [2 * np.outer(x, x @ w.numpy()) for x in xs.numpy()]
    close(tf.vectorized_map(of_one, xs), wanted)


def test_a_vectorized_map_that_decides_by_values_takes_elements_one_by_one():
    def size(x):
        return x if x > 0 else -x

    close(tf.vectorized_map(size, tf.constant([-1.0, 2.0])), [1.0, 2.0])
    with pytest.raises(RuntimeError):
        tf.vectorized_map(size, tf.constant([-1.0, 2.0]), fallback_to_while_loop=False)


def test_tensor_arrays_are_filled_by_loops():
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(3):
            array = array.write(i, x[i] * tf.cast(i, tf.float32))
        y = array.stack()
    close(tape.gradient(y, x), [0.0, 1.0, 2.0])
    assert array.size().numpy() == 3
    with pytest.raises(tf.errors.OutOfRangeError, match="not resizeable"):
        tf.TensorArray(tf.float32, size=1).write(1, 1.0)


# -- nested structures, assertions, printing -------------------------------------------------------


def test_nests_are_flattened_by_sorted_keys():
    structure = {"b": 1, "a": [2, (3, None)]}
    assert tf.nest.flatten(structure) == [2, 3, None, 1]
    assert tf.nest.pack_sequence_as(structure, [1, 2, 3, 4]) == {"b": 4, "a": [1, (2, 3)]}
    assert tf.nest.map_structure(lambda a, b: a + b, (1, [2]), (10, [20])) == (11, [22])
    with pytest.raises(ValueError, match=r"^The two structures don't have the same nested"):
        tf.nest.map_structure(max, [1, 2], [1])
    with pytest.raises(TypeError, match=r"^The two structures don't have the same nested"):
        tf.nest.assert_same_structure([1], (1,))
    tf.nest.assert_same_structure([1], (1,), check_types=False)
    with pytest.raises(ValueError, match=r"^Could not pack sequence. Structure had 4 atoms"):
        tf.nest.pack_sequence_as(structure, [1])


_X = tf.constant([1.0, 2.0, 3.0])
_HOLD = {
    "equal": lambda: tf.debugging.assert_equal(_X, [1.0, 2.0, 3.0]),
    "less": lambda: tf.debugging.assert_less(_X, 4.0),
    "near": lambda: tf.debugging.assert_near(_X, _X + 1e-7),
    "positive": lambda: tf.debugging.assert_positive(_X),
    "shapes": lambda: tf.debugging.assert_shapes([(_X, ("n",)), (tf.ones([3, 2]), ("n", 2))]),
    "rank": lambda: tf.debugging.assert_rank(_X, 1),
    "type": lambda: tf.debugging.assert_type(_X, tf.float32),
    "finite": lambda: tf.debugging.assert_all_finite(_X, "x"),
    "Assert": lambda: tf.debugging.Assert(True, [_X]),
}
_FAIL = {
    "equal": (
        lambda: tf.debugging.assert_equal(_X, [1.0, 2.0, 4.0], message="what"),
        InvalidArgument,
        r"^what\nCondition x == y did not hold.\nIndices of first 1 different values:\n\[\[2\]\]",
    ),
    "less": (lambda: tf.assert_less(_X, 2.0), InvalidArgument, "Condition x < y did not hold"),
    "near": (lambda: tf.debugging.assert_near(_X, _X + 1), InvalidArgument, "not equal to toler"),
    "positive": (
        lambda: tf.debugging.assert_positive(-_X),
        InvalidArgument,
        "Condition x > 0 did not hold element-wise",
    ),
    "shapes": (lambda: tf.debugging.assert_shapes([(_X, (2,))]), ValueError, "must have size 2"),
    "rank": (lambda: tf.debugging.assert_rank(_X, 2), ValueError, "must have rank 2.  Received"),
    "type": (lambda: tf.debugging.assert_type(_X, tf.int32), TypeError, "must be of type tf.int32"),
    "finite": (
        lambda: tf.debugging.check_numerics(_X / 0.0, "bad"),
        InvalidArgument,
        "^bad : Tensor had Inf values",
    ),
    "Assert": (lambda: tf.debugging.Assert(False, [_X]), InvalidArgument, "to be true. Summarized"),
}


@pytest.mark.parametrize("name", _HOLD)
def test_assertions_that_hold_say_nothing_and_others_raise(name):
    _HOLD[name]()
    call, error, match = _FAIL[name]
    with pytest.raises(error, match=match):
        call()


def test_print_shows_numbers_as_tensorflow_does():
    stream = io.StringIO()
    show = functools.partial(tf.print, output_stream=stream)
    show(_X, "a", tf.constant(3), {"k": tf.constant(True)}, [1, 2.5], None, sep="|")
    show(tf.constant([0.1, 1 / 3, 1e-8]), tf.range(10), tf.constant([[1, 2], [3, 4]]))
    show(tf.range(10), summarize=-1, end="!")
    assert stream.getvalue() == (
        "[1 2 3]|a|3|{'k': 1}|[1, 2.5]|None\n"
        "[0.1 0.333333343 1e-08] [0 1 2 ... 7 8 9] [[1 2]\n [3 4]]\n"
        "[0 1 2 3 4 5 6 7 8 9]!"
    )


def test_errors_have_tensorflows_classes_and_a_message():
    error = InvalidArgument(None, None, "what")
    assert isinstance(error, tf.errors.OpError)
    assert error.message == str(error) == "what"
    assert error.error_code == 3


def test_tangents_of_what_no_operation_computed_are_the_gradients_transpose():
    v = tf.Variable([2.0, 3.0])

    @tf.custom_gradient
    def product(x, y):
        def gradient(upstream, variables=None):
            return (7 * upstream, upstream * x), [upstream * x * 3]

        return x.numpy() * y.numpy() * v.numpy(), gradient

    x, y, ones = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), tf.ones(2)
    with tf.autodiff.ForwardAccumulator([x, y, v], [ones, ones * [1.0, 0.0], ones]) as found:
        z = product(x, y)
    assert found.jvp(z).numpy().tolist() == [7 + 1 + 3, 7 + 6]
    sine = tf.custom_gradient(lambda x: (np.sin(x.numpy()), lambda up: up * tf.cos(x)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, ones) as found:
            y = sine(x)
        slope = found.jvp(y)
    np.testing.assert_allclose(tape.gradient(slope, x), -np.sin([1.0, 2.0]), rtol=1e-6)
