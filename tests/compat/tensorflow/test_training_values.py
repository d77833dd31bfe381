"""What `fit` and `evaluate` count, by hand and as TensorFlow 2.21 counts it."""

from __future__ import annotations

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

keras = tf.keras
X = np.float32([[1.0], [2.0], [4.0], [5.0]])


def line(outputs: int = 1, **options):
    layer = keras.layers.Dense(outputs, kernel_initializer="ones", **options)
    return keras.Sequential([keras.layers.Input((1,)), layer])


def test_targets_without_a_last_dimension_belong_to_columns_of_predictions():
    np.testing.assert_array_equal(keras.losses.mse([1.0, 2.0], [[1.0], [4.0]]), [0, 4])
    model = line()
    model.compile("sgd", "mse", metrics=["mae"], weighted_metrics=["mse"])
    found = model.evaluate(
        X, np.float32([0, 0, 0, 0]), sample_weight=np.float32([1, 0, 0, 1]), verbose=0,
        batch_size=3, return_dict=True,
    )  # fmt: skip
    # the mean of weighted losses; the plain mean of errors; the mean of those that count
    assert found == pytest.approx({"loss": 26 / 4, "mae": 3.0, "mse": 13.0})
    weighted = model.fit(X, np.float32([0, 0, 1, 1]), class_weight={1: 3.0}, verbose=0).history
    assert weighted["loss"] == pytest.approx([(1 + 4 + 3 * 9 + 3 * 16) / 4])


def test_what_layers_add_to_the_loss_counts_for_one_example():
    model = line(activity_regularizer="l1", kernel_regularizer=keras.regularizers.L2(0.5))
    model.compile("sgd", "mse")
    assert model.evaluate(X, X, verbose=0) == pytest.approx(0.01 * 12 / 4 + 0.5)
    model(X)
    np.testing.assert_allclose(model.losses, [0.03, 0.5], rtol=1e-6)  # weights come last


def test_a_model_of_several_outputs_has_a_loss_and_metrics_for_each():
    a = keras.Input((1,), name="a")
    one = keras.layers.Dense(1, kernel_initializer="ones", name="one")(a)
    two = keras.layers.Dense(2, kernel_initializer="zeros", name="two")(a)
    model = keras.Model(a, [one, two])
    zeros, ones = np.zeros((4, 1), np.float32), np.ones((4, 2), np.float32)
    wanted = {"loss": 11.5 + 0.5, "one_loss": 11.5, "two_loss": 1.0, "two_mae": 1.0}
    model.compile("sgd", ["mse", "mae"], loss_weights=[1.0, 0.5], metrics=[None, ["mae"]])
    assert model.evaluate(X, [zeros, ones], verbose=0, return_dict=True) == pytest.approx(wanted)
    model.compile(
        "sgd", {"one": "mse", "two": "mae"}, loss_weights={"two": 0.5}, metrics={"two": "mae"}
    )
    history = model.fit({"a": X}, {"one": zeros, "two": ones}, verbose=0).history
    assert list(history) == ["loss", "one_loss", "two_loss", "two_mae"]
    assert [value for (value,) in history.values()] == pytest.approx(list(wanted.values()))


def test_an_epoch_of_some_steps_begins_where_the_one_before_ended():
    data = tf.data.Dataset.from_tensor_slices((X, np.zeros((4, 1), np.float32))).batch(1)
    model = line()
    model.compile(keras.optimizers.SGD(0.0), "mse")
    found = model.fit(data.repeat(), epochs=3, steps_per_epoch=2, verbose=0).history["loss"]
    assert found == pytest.approx([2.5, 20.5, 2.5])
    found = model.fit(data, epochs=3, steps_per_epoch=4, verbose=0).history["loss"]
    assert found == pytest.approx([11.5] * 3)
