"""Typical lines of typed programs for TensorFlow, which type checkers must accept."""

from __future__ import annotations

import numpy as np

import wengert.compat.tensorflow as tf
from wengert.compat.tensorflow import keras
from wengert.compat.tensorflow.keras import layers


class Line(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(0.0)
        self.b = tf.Variable(tf.zeros([1]), name="b")

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return self.w * x + self.b


def train(model: Line, x: tf.Tensor, y: tf.Tensor) -> float:
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    slopes = tape.gradient(loss, [model.w, model.b])
    model.w.assign_sub(0.1 * slopes[0])
    model.b.assign_sub(0.1 * slopes[1])
    return float(loss) + float(tf.math.sqrt(tf.square(model.w)))


class Net(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.first = layers.Dense(4, activation="relu", kernel_initializer="he_normal")
        self.drop = layers.Dropout(0.5)
        self.last = layers.Dense(1)

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        outputs: tf.Tensor = self.last(self.drop(self.first(inputs)))
        return outputs


def fit(x: np.ndarray, y: np.ndarray) -> list[float]:
    model = keras.Sequential(
        [keras.Input((3,)), layers.Dense(2, name="inner"), layers.LayerNormalization()]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(0.01, clipnorm=1.0),
        loss=keras.losses.Huber(delta=0.5, reduction="sum"),
        metrics=[keras.metrics.MeanAbsoluteError(name="mae")],
    )
    stop = keras.callbacks.EarlyStopping(monitor="loss", patience=2)
    history = model.fit(x, y, epochs=2, verbose=0, callbacks=[stop])
    return list(history.history["loss"])


def pieces(x: tf.Tensor) -> tf.Tensor:
    first, second = tf.split(x, 2)
    values, _ = tf.math.top_k(x, k=1)
    joined = tf.concat([first, second], axis=0)[:, 0]
    y = joined + tf.cast(tf.shape(values)[0], tf.float32)
    return -y if bool(tf.reduce_all(y > 0)) else tf.where(y > 0, y, 2.0 / y)


def plain(x: tf.Tensor) -> tuple[float, int, list[int], str]:
    return float(tf.reduce_sum(x).numpy()), len(x), x.shape.as_list(), x.dtype.name
