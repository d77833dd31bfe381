"""Test TensorFlow's functions: dtypes, shapes, errors, gradients."""

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

Invalid = tf.errors.InvalidArgumentError


def gradient(function, *values):
    values = [tf.constant(value) for value in values]
    with tf.GradientTape() as tape:
        tape.watch(values)
        y = function(*values)
    found = tape.gradient(y, values)
    return [None if g is None else g.numpy().tolist() for g in found]


def test_python_numbers_are_float32_and_int32():
    assert tf.add(1, 2).dtype is tf.int32
    assert tf.add(1.0, 2).dtype is tf.float32
    assert tf.range(3).dtype is tf.int32
    assert tf.range(0, 1, 0.5).dtype is tf.float32
    assert tf.reduce_mean([1, 2, 4]).numpy() == 2
    assert tf.argmax([1, 2]).dtype is tf.int64
    assert tf.shape(tf.ones([2, 3])).dtype is tf.int32


def test_nothing_is_promoted():
    with pytest.raises(Invalid, match=r"cannot compute Mul as input #1\(zero-based\) was expected"):
        tf.multiply(tf.constant(1.0), tf.constant(1))
    with pytest.raises(Invalid, match=r"cannot compute ConcatV2"):
        tf.concat([tf.ones(2), tf.ones(2, tf.float64)], 0)
    with pytest.raises(TypeError, match=r"Cannot convert 2\.5 to EagerTensor of dtype int32"):
        tf.less(tf.constant(1), 2.5)
    with pytest.raises(TypeError, match="must have the same dtype"):
        tf.divide(tf.constant(1), tf.constant(2.0))


@pytest.mark.parametrize("name", ["sqrt", "exp", "sin", "sigmoid", "tanh"])
def test_functions_of_fractions_refuse_whole_numbers_and_say_how_to_convert(name):
    with pytest.raises(Invalid, match=r"Value for attr 'T' of int32 .*tf\.cast\(x, tf\.float32\)"):
        getattr(tf, name)(4)


def test_division_of_whole_numbers_gives_float64():
    assert tf.divide(1, 2).dtype is tf.float64
    assert tf.truediv(tf.constant(1, tf.int8), tf.constant(2, tf.int8)).dtype is tf.float32
    with pytest.raises(Invalid, match="Integer division by zero"):
        tf.math.floordiv(1, 0)


def test_powers_are_the_same_as_a_function_and_as_an_operator():
    for power in (tf.pow, lambda x, y: x**y):
        slopes = gradient(power, [-2.0, 0.0, 3.0], [2.0, 2.0, 2.0])
        assert slopes == [[-4.0, 0.0, 6.0], [0.0, 0.0, pytest.approx(9 * np.log(3))]]
        p = tf.constant([2.0, 2.0])
        with tf.autodiff.ForwardAccumulator(p, tf.ones(2)) as forward:
            y = power(tf.constant([-2.0, 0.0]), p)
        assert forward.jvp(y).numpy().tolist() == [0, 0]
        assert np.isnan(gradient(power, [-2.0, np.nan], [0.5, 2.0])).all()  # as the values
        with pytest.raises(Invalid, match="Integers to negative integer powers"):
            power(tf.constant([2, 3]), -1)


def test_zeta_has_no_gradient_in_its_first_argument():
    assert gradient(tf.math.zeta, [2.0], [1.0]) == [None, [pytest.approx(-2 * 1.2020569)]]


def test_polygamma_of_orders_that_there_are_not():
    assert np.isnan(tf.math.polygamma([1.5], [2.0]).numpy()).all()
    assert np.isnan(tf.math.polygamma(-1.0, [2.0]).numpy()).all()


def test_shapes_that_do_not_fit_are_named():
    with pytest.raises(Invalid, match=r"Incompatible shapes: \[2,3\] vs\. \[2\]"):
        tf.add(tf.ones([2, 3]), tf.ones([2]))
    with pytest.raises(Invalid, match=r"Matrix size-incompatible: In\[0\]: \[2,3\]"):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    with pytest.raises(Invalid, match="Input to reshape is a tensor with 6 values"):
        tf.reshape(tf.range(6), [4, 2])
    with pytest.raises(Invalid, match="Dimension 1 in both shapes must be equal"):
        tf.concat([tf.ones([2, 2]), tf.ones([3, 3])], 0)
    with pytest.raises(Invalid, match=r"indices\[0\] = 5 is not in \[0, 3\)"):
        tf.gather([1, 2, 3], [5])
    with pytest.raises(Invalid, match="Invalid reduction dimension"):
        tf.reduce_sum([1.0], axis=1)


def test_shapes_may_be_tensors_and_hold_tensors():
    plain = np.arange(24.0).reshape(4, 6)
    x = tf.constant(plain)
    for found, wanted in (
        (tf.reshape(x, tf.constant([6, 4])), plain.reshape(6, 4)),
        (tf.reshape(x, [tf.shape(x)[0], -1, 2]), plain.reshape(4, 3, 2)),
        (tf.zeros(tf.shape(x)), 0 * plain),
        (tf.zeros(x.shape), 0 * plain),
        (tf.reduce_sum(x, axis=tf.constant([0, 1])), plain.sum()),
    ):
        assert found.shape == wanted.shape and np.array_equal(found.numpy(), wanted)


def test_every_function_takes_a_name():
    assert tf.add(1, 2, name="sum").numpy() == 3
    assert tf.matmul([[1.0]], [[2.0]], name="product").numpy() == [[2.0]]
    assert tf.nn.relu([1.0], name="r").numpy() == [1.0]
    assert tf.linalg.det([[2.0]], name="d").numpy() == 2.0


def test_functions_take_variables_and_arrays():
    v = tf.Variable([1.0, 4.0])
    assert tf.sqrt(v).numpy().tolist() == [1.0, 2.0]
    assert tf.add(v, np.array([1.0, 1.0])).dtype is tf.float32
    assert tf.reduce_sum(np.ones(3)).dtype is tf.float64
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.concat([v, v], 0) ** 2)
    assert tape.gradient(y, v).numpy().tolist() == [4.0, 16.0]


def test_steps_give_no_gradient():
    for function in (tf.floor, tf.round, tf.math.ceil, tf.math.rint):
        assert gradient(function, 1.5) == [None]
    assert gradient(lambda x: tf.cast(x, tf.int32), 1.5) == [None]
    assert gradient(lambda x: tf.math.floordiv(x, 2.0), 1.5) == [None]
    assert gradient(tf.sign, 1.5) == [0.0]


def test_a_floor_division_rounds_the_quotient_before_it_cuts():
    # one tenth in single precision is a little more than that: ten of them do not fit
    assert tf.math.floordiv(1.0, 0.1).numpy() == 10.0 == (tf.constant(1.0) // 0.1).numpy()


def test_at_ties_the_gradient_goes_where_tensorflow_sends_it():
    assert gradient(tf.maximum, 1.5, 1.5) == [1.0, 0.0]
    assert gradient(tf.minimum, 1.5, 1.5) == [1.0, 0.0]
    assert gradient(tf.reduce_max, [1.5, 1.5]) == [[0.5, 0.5]]
    assert gradient(lambda x: tf.clip_by_value(x, 1.0, 2.0), [1.0, 2.0, 0.0]) == [[1.0, 1.0, 0.0]]
    assert gradient(tf.nn.relu, 0.0) == [0.0]


def test_what_would_be_nan_is_zero_where_the_name_says_so():
    assert tf.math.divide_no_nan(1.0, 0.0).numpy() == 0
    assert gradient(tf.math.divide_no_nan, 1.0, 0.0) == [0.0, 0.0]
    assert tf.math.multiply_no_nan(float("inf"), 0.0).numpy() == 0
    assert gradient(tf.math.multiply_no_nan, 3.0, 0.0) == [0.0, 3.0]
    assert gradient(tf.math.xlogy, 0.0, 0.0) == [0.0, 0.0]


def test_a_masked_branch_does_not_spoil_the_gradient():
    found = gradient(lambda x: tf.where(x > 0, tf.sqrt(x), 0.0), [0.0, 4.0])
    assert found == [[0.0, 0.25]]


def test_gather_and_scatter_are_each_others_derivative():
    assert gradient(lambda x: tf.gather(x, [0, 0, 1]) ** 2, [1.0, 2.0]) == [[4.0, 4.0]]
    assert gradient(lambda u: tf.scatter_nd([[0], [0]], u, [2]) ** 2, [1.0, 2.0]) == [[6.0, 6.0]]
    x = gradient(lambda x, u: tf.tensor_scatter_nd_update(x, [[1]], u) * 2, [1.0, 2.0], [5.0])
    assert x == [[2.0, 0.0], [2.0]]


def test_split_takes_numbers_and_sizes():
    assert [p.shape for p in tf.split(tf.ones([6, 2]), 3)] == [(2, 2)] * 3
    assert [p.shape for p in tf.split(tf.ones([6, 2]), [1, -1], axis=0)] == [(1, 2), (5, 2)]
    with pytest.raises(Invalid, match="Number of ways to split should evenly divide"):
        tf.split(tf.ones(5), 2)


def test_top_k_sort_and_unique_are_differentiable():
    assert gradient(lambda x: tf.math.top_k(x, 2).values, [1.0, 3.0, 2.0]) == [[0.0, 1.0, 1.0]]
    assert gradient(lambda x: tf.sort(x) * [1.0, 2.0], [5.0, 3.0]) == [[2.0, 1.0]]
    assert gradient(lambda x: tf.unique(x).y * 2, [5.0, 3.0, 5.0]) == [[2.0, 2.0, 0.0]]


def test_segments():
    assert tf.math.segment_sum([1.0, 2.0, 3.0], [0, 0, 2]).numpy().tolist() == [3.0, 0.0, 3.0]
    with pytest.raises(Invalid, match="segment ids are not increasing"):
        tf.math.segment_sum([1.0, 2.0], [1, 0])
    found = gradient(lambda x: tf.math.unsorted_segment_mean(x, [1, 0, 1], 2), [1.0, 2.0, 3.0])
    assert found == [[0.5, 1.0, 0.5]]


def test_complex_numbers_are_conjugated_as_in_tensorflow():
    z = 1.0 + 2.0j
    assert gradient(lambda z: z**2, z) == [2.0 - 4.0j]
    assert gradient(lambda z: tf.abs(z) ** 2, z)[0] == pytest.approx(2.0 + 4.0j)
    assert gradient(tf.math.real, z) == [1.0]
    with pytest.raises(TypeError, match="incorrect types"):
        tf.complex(1, 2)


def test_einsum_says_which_sizes_differ():
    with pytest.raises(Invalid, match="Expected dimension 3 at axis 0"):
        tf.einsum("ij,jk->ik", tf.ones([2, 3]), tf.ones([2, 3]))


def test_what_is_not_offered_says_so_by_name():
    with pytest.raises(AttributeError, match=r"does not offer tf\.math\.sobol_sample; use scipy"):
        tf.math.sobol_sample  # noqa: B018
    with pytest.raises(AttributeError, match=r"does not offer tf\.nn\.isotonic_regression"):
        tf.nn.isotonic_regression  # noqa: B018
    with pytest.raises(AttributeError, match=r"does not offer tf\.linalg\.LinearOperatorDiag"):
        tf.linalg.LinearOperatorDiag  # noqa: B018
    for module in (tf.random, tf.signal, tf.bitwise, tf.initializers, tf.data, tf.keras):
        with pytest.raises(AttributeError, match="does not offer"):
            module.nonsense  # noqa: B018


def test_functions_may_be_differentiated_twice():
    x = tf.constant([0.3, 0.7])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.nn.softplus(x) * tf.math.erf(x))
        slope = inner.gradient(y, x)
    second = outer.gradient(slope, x).numpy()
    h = 1e-3
    values = []
    for at in (x + h, x - h):
        with tf.GradientTape() as tape:
            tape.watch(at)
            y = tf.reduce_sum(tf.nn.softplus(at) * tf.math.erf(at))
        values.append(tape.gradient(y, at).numpy())
    assert second == pytest.approx((values[0] - values[1]) / (2 * h), rel=1e-2)


def test_windows_and_transforms_of_signals():
    x = np.sin(np.arange(16.0, dtype=np.float32))
    spectrum = tf.signal.rfft(x)
    np.testing.assert_allclose(spectrum.numpy(), np.fft.rfft(x), atol=1e-5)
    np.testing.assert_allclose(tf.signal.irfft(spectrum).numpy(), x, atol=1e-6)
    back = tf.signal.overlap_and_add(tf.signal.frame(x, 4, 4), 4)
    np.testing.assert_array_equal(back.numpy(), x)
    with pytest.raises(Invalid, match="Value for attr"):
        tf.signal.fft([1.0, 2.0])


def test_products_are_of_the_output_type():
    row, column = tf.constant([[100, 100]], tf.int8), tf.constant([[100], [100]], tf.uint8)
    assert tf.matmul(row, column, output_type=tf.int32).numpy().tolist() == [[20000]]


def test_the_squared_difference_of_complex_numbers_is_real():
    assert tf.math.squared_difference([1 + 2j], [3 - 1j]).numpy() == [13]
    (slope,) = gradient(lambda x: tf.math.real(tf.math.squared_difference(x, 3 - 1j)), 1 + 2j)
    assert slope == -4 + 6j


def test_running_logarithms_begin_with_that_of_zero():
    first = tf.math.cumulative_logsumexp([1.0, 2.0], exclusive=True).numpy()
    assert first.tolist() == [-np.inf, 1.0]


def test_bins_of_a_range_that_is_too_wide_for_the_type():
    count = tf.histogram_fixed_width
    assert count([-3e38, 3e38], [-3.2e38, 3.2e38], nbins=2).numpy().tolist() == [1, 1]
    assert count([-(2**62), 2**62], [-(2**63), 2**63 - 1], nbins=2).numpy().tolist() == [1, 1]


def test_average_losses_of_no_examples():
    average = tf.nn.compute_average_loss
    assert average(tf.zeros([0])).numpy() == average([1.0], global_batch_size=0).numpy() == 0
    with pytest.raises(Invalid, match="non-negative"):
        average([1.0], global_batch_size=-1)
    with pytest.raises(TypeError, match="integers"):
        average([1.0], global_batch_size=1.5)


def test_means_of_whole_numbers_by_unsorted_segments_have_fractions():
    found = tf.math.unsorted_segment_mean([1, 2, 4], [0, 0, 1], 2)
    assert found.dtype == tf.float64 and found.numpy().tolist() == [1.5, 4.0]
    small = tf.math.unsorted_segment_mean(tf.constant([1, 2, 4], tf.uint8), [0, 0, 1], 2)
    assert small.dtype == tf.float32
    assert tf.math.segment_mean([1, 2, 4], [0, 0, 1]).numpy().tolist() == [1, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32 is not in the list"):
        tf.math.unsorted_segment_sqrt_n([1, 2, 4], [0, 0, 1], 2)


@pytest.mark.parametrize("x", [3, [3, 3], np.array([3, 3]), np.float32(3)])
@pytest.mark.parametrize("y", [tf.constant([2.0, 4.0]), tf.constant([2, 4], tf.uint8)])
def test_division_takes_what_is_no_tensor_in_the_dtype_of_the_tensor(x, y):
    assert tf.divide(x, y).numpy().tolist() == [1.5, 0.75]
    assert tf.divide(x, tf.Variable(y)).dtype == tf.float32


def test_clipping_by_a_norm_keeps_nan_and_takes_no_negative_norm():
    assert np.isnan(tf.clip_by_norm([1.0, np.nan], 1.0).numpy()).all()
    assert tf.clip_by_norm([3.0, 4.0], -1.0).numpy().tolist() == [0, 0]


def test_counts_of_nothing():
    assert tf.math.bincount([]).shape == (0,)
    assert tf.math.bincount([], minlength=2).numpy().tolist() == [0, 0]
