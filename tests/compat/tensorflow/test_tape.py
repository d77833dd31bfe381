"""Test `GradientTape`: recording, gradients, and errors."""

import gc
import logging
import threading
import weakref

import numpy as np
import pytest

import wengert.compat.tensorflow as tf


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found.numpy()), wanted, rtol=1e-6)


def test_variables_are_watched_when_they_are_read():
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w * w)
    close(tape.gradient(y, w), [2.0, 4.0])
    (watched,) = tape.watched_variables()
    assert watched is w


def test_constants_are_not_watched_unless_the_tape_is_told():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        tape.watch(x)
        z = x * x
    assert tape.gradient(y, x) is None
    close(tape.gradient(z, x), 6.0)


def test_untrainable_variables_are_not_watched():
    w = tf.Variable(3.0, trainable=False)
    with tf.GradientTape(persistent=True) as tape:
        y = w * w
    assert tape.gradient(y, w) is None
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = w * w
    close(tape.gradient(y, w), 6.0)


def test_variables_are_not_watched_if_that_is_switched_off():
    w = tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = w * w
    assert tape.gradient(y, w) is None
    assert tape.watched_variables() == ()


def test_what_was_computed_before_the_tape_is_constant():
    w = tf.Variable(3.0)
    before = w * 2.0
    with tf.GradientTape(persistent=True) as tape:
        y = before * w
    close(tape.gradient(y, w), 6.0)
    assert tape.gradient(y, before) is None


def test_what_is_computed_after_the_tape_is_not_recorded():
    w = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = w * w
    z = y * w
    assert tape.gradient(z, w) is None
    assert z._edge is None


def test_an_operation_remembers_an_argument_that_is_watched_only_later():
    x, w = tf.constant(3.0), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(w)
        y = x * w
        unrecorded = x * x
        tape.watch(x)
    close(tape.gradient(y, x), 2.0)
    assert tape.gradient(unrecorded, x) is None


def test_an_argument_that_was_never_watched_has_no_gradient():
    x, w = tf.constant(3.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = x * w
    found = tape.gradient(y, [x, w])
    assert found[0] is None
    close(found[1], 3.0)


def test_watching_outside_of_the_block_has_no_effect():
    x, w = tf.constant(3.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = x * w
    tape.watch(x)
    assert tape.gradient(y, x) is None


def test_several_targets_and_elements_are_summed():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, x * 3.0
    close(tape.gradient(y, x), [2.0, 4.0])
    close(tape.gradient([y, z], x), [5.0, 7.0])
    close(tape.gradient({"y": y, "z": (z, z)}, x), [8.0, 10.0])


def test_sources_may_be_intermediate_results_and_each_other():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    by_x, by_y = tape.gradient(z, [x, y])
    close(by_x, 108.0)
    close(by_y, 18.0)
    close(tape.gradient([x, y], x), 7.0)


def test_a_target_that_is_the_source_has_the_gradient_one():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
    close(tape.gradient(x, x), 1.0)
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        pass
    close(tape.gradient(w, w), [1.0, 1.0])


def test_results_have_the_structure_of_the_sources():
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = a * b
    found = tape.gradient(y, {"first": a, "rest": [b, (a,)]})
    assert list(found) == ["first", "rest"]
    assert isinstance(found["rest"], list)
    assert isinstance(found["rest"][1], tuple)
    close(found["rest"][0], 2.0)
    close(found["rest"][1][0], 3.0)


def test_output_gradients_multiply_the_targets():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.stack([x, x * x])
    close(tape.gradient(y, x, output_gradients=tf.constant([1.0, 10.0])), 61.0)
    close(tape.gradient([y, x], x, output_gradients=[tf.constant([1.0, 10.0]), None]), 62.0)
    close(tape.gradient(x, x, output_gradients=2.0), 2.0)


def test_output_gradients_must_fit_their_targets():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tape.gradient(y, x, output_gradients=tf.ones(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot compute Mul"):
        tape.gradient(y, x, output_gradients=tf.ones(2, tf.float64))
    with pytest.raises(ValueError, match="output_gradients must have one element"):
        tape.gradient(y, x, output_gradients=[tf.ones(2), tf.ones(2)])


def test_unconnected_sources_give_none_or_zeros():
    x, y = tf.Variable([2.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        z = y**2
    assert tape.gradient(z, x) is None
    zeros = tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    close(zeros, [0.0, 0.0])
    close(tape.gradient(z, x, unconnected_gradients="zero"), [0.0, 0.0])
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nothing'"):
        tape.gradient(z, x, unconnected_gradients="nothing")


def test_a_tape_gives_one_gradient_unless_it_is_persistent():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match=r"^A non-persistent GradientTape can only be used to "):
        tape.gradient(y, x)
    with pytest.raises(RuntimeError, match=r"^A non-persistent GradientTape can only be used to "):
        tape.jacobian(y, x)
    assert tape.watched_variables()[0] is x


def test_bad_input_does_not_use_the_tape_up():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    with pytest.raises(TypeError, match="received None"):
        tape.gradient(None, x)
    with pytest.raises(TypeError, match="sources must be tensors or variables"):
        tape.gradient(y, 3.0)
    with pytest.raises(TypeError, match="targets must be tensors or variables"):
        tape.gradient(3.0, x)
    close(tape.gradient(y, x), 6.0)


def test_whole_numbers_have_no_gradient(monkeypatch):
    n, said = tf.constant(3), []
    monkeypatch.setattr(logging.getLogger("tensorflow"), "handle", said.append)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(n)
        y = tf.cast(n, tf.float32) * 2.0
    (warning,) = said
    assert warning.getMessage().startswith("The dtype of the watched tensor must be floating")
    assert tape.gradient(y, n) is None
    x = tf.Variable(2.5)
    with tf.GradientTape() as tape:
        y = tf.cast(tf.cast(x, tf.int32), tf.float32)
    assert tape.gradient(y, x) is None


def test_only_tensors_and_variables_can_be_watched():
    with tf.GradientTape() as tape:
        for wrong in (1.0, np.ones(2), "x", None, [tf.constant(1.0), 2.0]):
            with pytest.raises(ValueError, match=r"^Passed in object"):
                tape.watch(wrong)


def test_recording_can_be_interrupted():
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        a = x * x
        with tape.stop_recording():
            b = y * y
        c = a + b * x
    by_x, by_y = tape.gradient(c, [x, y])
    close(by_x, 13.0)
    assert by_y is None
    with pytest.raises(ValueError, match=r"Tape is not recording\."), tape.stop_recording():
        pass


def test_recording_goes_on_after_an_exception_in_an_interruption():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        with pytest.raises(ZeroDivisionError), tape.stop_recording():
            raise ZeroDivisionError
        y = x * x
    close(tape.gradient(y, x), 4.0)


def test_a_tape_that_is_reset_forgets_what_it_knew():
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        a = y * y
        tape.reset()
        z = x * x + a
    assert [v.name for v in tape.watched_variables()] == [x.name]
    by_x, by_y = tape.gradient(z, [x, y])
    close(by_x, 4.0)
    assert by_y is None


def test_a_tape_can_be_entered_again_but_not_twice():
    x = tf.constant(3.0)
    tape = tf.GradientTape()
    with tape:
        tape.watch(x)
        y = x * x
        with pytest.raises(ValueError, match="Tape is still recording"):
            tape.__enter__()
    unrecorded = y * y
    with tape:
        z = y * x + unrecorded
    close(tape.gradient(z, x), 27.0)


def test_a_gradient_inside_of_the_block_ends_the_recording():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        close(tape.gradient(y, x), 6.0)
        after = x * x
    assert after._edge is None


def test_a_persistent_tape_records_its_own_gradients_inside_of_the_block():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x**3
        first = tape.gradient(y, x)
        second = tape.gradient(first, x)
    close(first, 27.0)
    close(second, 18.0)
    close(tape.gradient(second, x), 6.0)
    del tape


def test_each_read_of_a_variable_counts_and_may_be_a_source():
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        first, second = v.read_value(), v.value()
        y = first * v * second
    by_v, by_first, by_second = tape.gradient(y, [v, first, second])
    close(by_v, 27.0)
    close(by_first, 9.0)
    close(by_second, 9.0)


def test_assignments_are_not_differentiated_and_reads_before_them_keep_their_values():
    a, b = tf.Variable(3.0), tf.Variable(0.0)
    with tf.GradientTape(persistent=True) as tape:
        b.assign_add(a)
        y = b**2
    assert tape.gradient(y, a) is None
    close(tape.gradient(y, b), 6.0)
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        v.assign_add(1.0)
        z = v * y
    close(tape.gradient(z, v), 16.0)


def test_values_that_go_through_numpy_lose_their_gradient_without_a_word():
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(np.mean(x**2, axis=0))
    assert tape.gradient(y, x) is None


def test_gradients_of_complex_numbers_are_conjugated():
    z = tf.Variable(tf.complex(1.0, 2.0))
    with tf.GradientTape(persistent=True) as tape:
        square, size = z * z, tf.abs(z)
    close(tape.gradient(square, z), 2 - 4j)
    close(tape.gradient(size, z), (1 + 2j) / 5**0.5)


def test_gradients_have_the_dtype_of_their_sources():
    for dtype in (tf.float16, tf.float32, tf.float64):
        x = tf.Variable(1.5, dtype=dtype)
        with tf.GradientTape() as tape:
            y = x * x
        slope = tape.gradient(y, x)
        assert (slope.dtype, float(slope)) == (dtype, 3.0)


def test_memory_is_let_go_of_with_the_tape_though_results_live_on():
    x = tf.constant(np.ones(100))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        hidden = x * x
        kept = weakref.ref(hidden._payload)
        y = hidden * hidden
        del hidden
    tape.gradient(y, x)
    assert kept() is not None
    del tape
    gc.collect()
    assert kept() is None
    close(y, np.ones(100))


def test_memory_is_let_go_of_when_a_tape_is_used_up():
    x = tf.constant(np.ones(100))
    with tf.GradientTape() as tape:
        tape.watch(x)
        hidden = x * x
        kept = weakref.ref(hidden._payload)
        y = hidden * hidden
        del hidden
    tape.gradient(y, x)
    assert kept() is None


def test_a_state_that_is_carried_from_tape_to_tape_does_not_carry_their_histories():
    w, state = tf.Variable(np.ones(100)), tf.constant(np.ones(100))
    states = []
    for _ in range(4):
        with tf.GradientTape() as tape:
            state = tf.tanh(state * w)
            loss = tf.reduce_sum(state)
        states.append(weakref.ref(state._payload))
        tape.gradient(loss, w)
    assert [ref() is None for ref in states] == [True, True, True, False]


def test_long_chains_are_walked_and_freed():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(20_000):
            y = -y
    close(tape.gradient(y, x), 1.0)


def test_threads_have_tapes_of_their_own():
    x, found = tf.Variable(3.0), []

    def work():
        y = x * x
        found.append(y._edge)

    with tf.GradientTape() as tape:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        y = x * x
    assert found == [None]
    close(tape.gradient(y, x), 6.0)


def test_watched_variables_are_in_order_of_creation():
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        b * a
    assert [one.numpy() for one in tape.watched_variables()] == [1, 2]


def test_strings_have_no_gradient():
    words, x = tf.constant("words"), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(words, words) is None
    slopes = tape.gradient([y, words], [x, words])
    assert slopes[0].numpy() == 6 and slopes[1] is None


def test_references_are_keys_of_weak_dictionaries():
    key = tf.constant(1.0).ref()
    held = weakref.WeakKeyDictionary({key: 2})
    assert held[key] == 2
