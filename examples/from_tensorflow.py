"""A program for TensorFlow, run with another import, and rewritten in wengert's own style.

The original: variables, a tape that records a loss and its gradient, an inner tape for a penalty on
the slope, and updates by hand::

    import tensorflow as tf

    w = tf.Variable(tf.zeros((2, 1)))
    b = tf.Variable(0.0)

    for step in range(100):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                prediction = tf.tanh(tf.matmul(x, w) + b)
            slope = inner.gradient(prediction, x)
            loss = tf.reduce_mean((prediction - y) ** 2) + 0.01 * tf.reduce_mean(slope**2)
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.5 * dw)
        b.assign_sub(0.5 * db)

Under `wengert.compat.tensorflow` only the import line changes. In wengert's own style there is no
tape to open: operations on tensors that require a gradient are recorded, and ``create_graph=True``
replaces the outer tape.
"""

import numpy

import wengert as wg
import wengert.compat.tensorflow as tf


def data():
    """Return points, and on which side of a line each lies."""
    rng = numpy.random.default_rng(0)
    x = rng.normal(size=(100, 2)).astype("float32")
    return x, numpy.sign(x @ [[1.0], [-0.5]] + 0.2).astype("float32")


def as_in_tensorflow(x, y):
    """Run the original, with another import line."""
    x, y = tf.constant(x), tf.constant(y)
    w = tf.Variable(tf.zeros((2, 1)))
    b = tf.Variable(0.0)

    for _ in range(100):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                prediction = tf.tanh(tf.matmul(x, w) + b)
            slope = inner.gradient(prediction, x)
            loss = tf.reduce_mean((prediction - y) ** 2) + 0.01 * tf.reduce_mean(slope**2)
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.5 * dw)
        b.assign_sub(0.5 * db)
    return w.numpy(), b.numpy()


def as_in_wengert(x, y):
    """Run the rewritten program."""
    x, y = wg.from_numpy(x).requires_grad_(), wg.from_numpy(y)
    w = wg.zeros(2, 1, requires_grad=True)
    b = wg.tensor(0.0, requires_grad=True)

    for _ in range(100):
        prediction = wg.tanh(x @ w + b)
        (slope,) = wg.autograd.grad(prediction.sum(), x, create_graph=True)
        loss = ((prediction - y) ** 2).mean() + 0.01 * (slope**2).mean()
        grads = wg.autograd.grad(loss, (w, b))
        with wg.no_grad():
            for parameter, grad in zip((w, b), grads, strict=True):
                parameter -= 0.5 * grad
    return w.detach().numpy(), b.detach().numpy()


def main():
    theirs, ours = as_in_tensorflow(*data()), as_in_wengert(*data())
    print("as in TensorFlow: w", theirs[0].ravel().round(4), "b", round(float(theirs[1]), 4))
    print("as in wengert:    w", ours[0].ravel().round(4), "b", round(float(ours[1]), 4))
    same = all(numpy.allclose(a, b, atol=1e-4) for a, b in zip(theirs, ours, strict=True))
    print("the same:", same)


if __name__ == "__main__":
    main()
