"""Test programs in the style of TensorFlow's tutorials on automatic differentiation."""

import numpy as np
import pytest

import wengert.compat.tensorflow as tf


def close(found, wanted, rtol=1e-5):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=1e-6)


def test_gradients_of_an_affine_map_by_a_list_and_by_a_dict():
    w = tf.Variable([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], name="w")
    b = tf.Variable(tf.zeros(2, dtype=tf.float32), name="b")
    x = [[1.0, 2.0, 3.0]]
    with tf.GradientTape(persistent=True) as tape:
        y = x @ w + b
        loss = tf.reduce_mean(y**2)
    dw, db = tape.gradient(loss, [w, b])
    assert dw.shape == w.shape
    close(db, [2.2, 2.8])
    close(dw, np.outer([1, 2, 3], [2.2, 2.8]))
    close(tape.gradient(loss, {"w": w, "b": b})["b"], [2.2, 2.8])


def test_only_variables_that_are_trainable_and_are_variables_get_gradients():
    x0 = tf.Variable(3.0, name="x0")
    x1 = tf.Variable(3.0, name="x1", trainable=False)
    x2 = tf.Variable(2.0, name="x2") + 1.0
    x3 = tf.constant(3.0, name="x3")
    with tf.GradientTape() as tape:
        y = x0**2 + x1**2 + x2**2
    found = tape.gradient(y, [x0, x1, x2, x3])
    close(found[0], 6.0)
    assert found[1:] == [None, None, None]
    assert [v.name for v in tape.watched_variables()] == ["x0:0"]


def test_a_branch_that_is_not_taken_has_no_gradient():
    x, a, b = tf.constant(1.0), tf.Variable(2.0), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = a * 1.0 if x > 0.0 else b**2
    by_a, by_b = tape.gradient(y, [a, b])
    close(by_a, 1.0)
    assert by_b is None
    assert tape.gradient(y, x) is None


def test_a_variable_that_was_replaced_by_a_tensor_is_not_watched_any_more():
    x, found = tf.Variable(2.0), []
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = x + 1
        found.append((type(x).__name__, tape.gradient(y, x)))
        x = x + 1
    assert found[0][0] == "ResourceVariable"
    close(found[0][1], 1.0)
    assert found[1] == ("EagerTensor", None)


def test_a_loop_that_depends_on_values():
    def f(a):
        b = a * 2
        while tf.norm(b) < 1000:
            b = b * 2
        return b if tf.reduce_sum(b) > 0 else 100 * b

    a = tf.Variable(tf.random.normal(shape=()))
    with tf.GradientTape() as tape:
        d = f(a)
    close(tape.gradient(d, a), d / a)


def test_vectors_matrices_and_detached_parts():
    x = tf.Variable(tf.range(4, dtype=tf.float32))
    with tf.GradientTape() as tape:
        y = 2 * tf.tensordot(x, x, axes=1)
    assert y.numpy() == 28.0
    assert (tape.gradient(y, x) == 4 * x).numpy().all()
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        u = tf.stop_gradient(y)
        z = u * x
    assert (tape.gradient(z, x) == u).numpy().all()
    assert (tape.gradient(y, x) == 2 * x).numpy().all()


def test_a_linear_model_is_trained():
    true_w, true_b = tf.constant([[2.0], [-3.4]]), 4.2
    features = tf.reshape(tf.sin(tf.range(80, dtype=tf.float32) ** 2), [40, 2])
    labels = features @ true_w + true_b

    class Linear(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(tf.zeros((2, 1)))
            self.b = tf.Variable(0.0)

        @tf.function
        def __call__(self, x):
            return x @ self.w + self.b

    model = Linear()
    for _ in range(40):
        for i in range(0, 40, 10):
            x, y = features[i : i + 10], labels[i : i + 10]
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(x) - y))
            grads = tape.gradient(loss, model.trainable_variables)
            for g, v in zip(grads, model.trainable_variables, strict=True):
                v.assign_sub(0.3 * g)
    close(model.w.numpy(), true_w.numpy(), 1e-3)
    close(model.b.numpy(), true_b, 1e-3)


def test_a_classifier_is_trained():
    points = tf.constant([[-2.0, 0.5], [-1.0, -1.0], [1.5, 0.3], [2.0, -0.7]])
    labels = tf.constant([0, 0, 1, 1])
    w, b = tf.Variable(tf.zeros([2, 2])), tf.Variable(tf.zeros([2]))
    for _ in range(50):
        with tf.GradientTape() as tape:
            logits = tf.matmul(points, w) + b
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(losses)
        for g, v in zip(tape.gradient(loss, [w, b]), [w, b], strict=True):
            v.assign_sub(g)
    assert loss.numpy() < 0.05
    assert tf.argmax(points @ w + b, axis=1).numpy().tolist() == [0, 0, 1, 1]


def test_a_recurrent_net_carries_its_state_from_batch_to_batch():
    wx, wh = tf.Variable(tf.ones((2, 3)) * 0.1), tf.Variable(tf.eye(3))
    state, norms = tf.zeros((4, 3)), []
    for _ in range(2):
        outputs = []
        with tf.GradientTape(persistent=True) as tape:
            for x in tf.ones((5, 4, 2)):
                state = tf.tanh(tf.matmul(x, wx) + tf.matmul(state, wh))
                outputs.append(state)
            loss = tf.reduce_mean(tf.concat(outputs, axis=0))
        grads = [
            tf.convert_to_tensor(g) if isinstance(g, tf.IndexedSlices) else g
            for g in tape.gradient(loss, [wx, wh])
        ]
        norm = tf.math.sqrt(sum(tf.reduce_sum(g**2) for g in grads))
        norms.append(norm.numpy())
        if tf.greater(norm, 0.1):
            grads = [g * 0.1 / norm for g in grads]
        for p, g in zip([wx, wh], grads, strict=True):
            p.assign_sub(g)
    close(norms, _recurrent_norms(), 1e-4)


def _recurrent_norms():
    """The same with derivatives by finite differences."""
    wx, wh, state, norms = np.full((2, 3), 0.1), np.eye(3), np.zeros((4, 3)), []

    def run(wx, wh, state):
        outputs = []
        for x in np.ones((5, 4, 2)):
            state = np.tanh(x @ wx + state @ wh)
            outputs.append(state)
        return np.concatenate(outputs).mean(), state

    for _ in range(2):
        grads = []
        for p in (wx, wh):
            g = np.zeros_like(p)
            for i in np.ndindex(p.shape):
                keep = p[i]
                p[i] = keep + 1e-6
                high = run(wx, wh, state)[0]
                p[i] = keep - 1e-6
                g[i] = (high - run(wx, wh, state)[0]) / 2e-6
                p[i] = keep
            grads.append(g)
        norm = np.sqrt(sum((g**2).sum() for g in grads))
        norms.append(norm)
        state = run(wx, wh, state)[1]
        for p, g in zip((wx, wh), grads, strict=True):
            p -= g * min(1.0, 0.1 / norm)
    return norms


def test_the_input_gradient_is_penalised():
    x = tf.reshape(tf.linspace(-1.0, 1.0, 10), [5, 2])
    w = tf.Variable([[0.5, -0.2], [0.1, 0.7]])

    def penalty():
        with tf.GradientTape(watch_accessed_variables=False) as inner:
            inner.watch(x)
            out = tf.reduce_sum(tf.tanh(x @ w) ** 2)
        return tf.norm(inner.gradient(out, x))

    with tf.GradientTape() as outer:
        size = penalty()
    found = outer.gradient(size, w).numpy()
    eps = 1e-2
    for i in np.ndindex(2, 2):
        step = np.zeros((2, 2), np.float32)
        step[i] = eps
        w.assign_add(step)
        high = penalty()
        w.assign_sub(2 * step)
        low = penalty()
        w.assign_add(step)
        close(found[i], (high - low).numpy() / (2 * eps), 5e-3)


def test_newtons_method_with_a_hessian_of_a_layers_weights():
    x = tf.reshape(tf.linspace(-1.0, 1.0, 12), [4, 3])
    y = tf.constant([[1.0], [0.0], [1.0], [2.0]])
    w = tf.Variable(tf.zeros([3, 1]))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.reduce_mean((x @ w - y) ** 2) + 0.1 * tf.reduce_sum(w**2)
        g = inner.gradient(loss, w)
    h = outer.jacobian(g, w)
    assert h.shape == [3, 1, 3, 1]
    count = tf.reduce_prod(w.shape)
    step = tf.linalg.solve(tf.reshape(h, [count, count]), tf.reshape(g, [count, 1]))
    w.assign_sub(tf.reshape(step, w.shape))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - y) ** 2) + 0.1 * tf.reduce_sum(w**2)
    close(tape.gradient(loss, w), np.zeros((3, 1)))


def test_batch_jacobians_agree_with_jacobians():
    x = tf.reshape(tf.linspace(-2.0, 2.0, 12), [4, 3])
    w = tf.constant(np.linspace(-1, 1, 6).reshape(3, 2), tf.float32)
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = tf.nn.elu(x @ w)
    whole = tape.jacobian(y, x)
    assert whole.shape == [4, 2, 4, 3]
    assert tf.reduce_max(abs(tape.batch_jacobian(y, x) - tf.reduce_sum(whole, axis=2))) < 1e-6
    assert tf.einsum("bxby->bxy", whole).shape == [4, 2, 3]


def test_clipped_gradients_inside_of_a_function():
    @tf.custom_gradient
    def clipped(y):
        def backward(dy):
            return tf.clip_by_norm(dy, 0.5)

        return y, backward

    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        output = clipped(v * v)
    close(tape.gradient(output, v), 2.0)


def test_a_differential_equation_is_fitted_by_second_derivatives():
    """The weights of the residual of u'' = -u have gradients, through two inner tapes."""
    w = tf.Variable([0.9, 0.2], dtype=tf.float64)
    x = tf.constant(np.linspace(0, 1, 7))

    def residual():
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                u = tf.sin(w[0] * x) + w[1] * x**2
            slope = inner.gradient(u, x)
        return outer.gradient(slope, x) + u

    for _ in range(300):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(residual() ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
    assert loss.numpy() < 1e-4


def test_a_step_of_training_is_differentiated():
    """Meta-learning: the loss after one step of descent, by the start and by the step's size."""
    start, rate = tf.Variable(3.0), tf.Variable(0.1)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = start**4
        after = start - rate * inner.gradient(loss, start)
        final = after**2
    by_start, by_rate = outer.gradient(final, [start, rate])
    w = 3 - 0.1 * 4 * 27
    close(by_start, 2 * w * (1 - 0.1 * 12 * 9))
    close(by_rate, 2 * w * -4 * 27)


def test_implicit_functions_by_custom_gradients():
    @tf.custom_gradient
    def cube_root(y):
        x = tf.ones_like(y)
        for _ in range(30):
            x = x - (x**3 - y) / (3.0 * x**2)

        def grad(upstream):
            return upstream / (3.0 * cube_root(y) ** 2)

        return x, grad

    y = tf.Variable([8.0, 27.0], dtype=tf.float64)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            x = cube_root(y)
        first = inner.gradient(x, y)
    close(x, [2.0, 3.0])
    close(first, [1 / 12, 1 / 27])
    close(outer.gradient(first, y), -2 / 9 * np.array([8.0, 27.0]) ** (-5 / 3))


def test_hessian_vector_products_in_three_ways():
    x = tf.constant([1.0, 2.0, 3.0])
    v = tf.constant([0.5, -1.0, 2.0])

    def f(x):
        return tf.reduce_prod(x) + tf.reduce_sum(tf.exp(-x))

    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        back_over_back = tf.reduce_sum(inner.gradient(y, x) * v)
    first = outer.gradient(back_over_back, x)
    with tf.autodiff.ForwardAccumulator(x, v) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        slope = tape.gradient(y, x)
    second = acc.jvp(slope)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, v) as acc:
            y = f(x)
        along = acc.jvp(y)
    third = tape.gradient(along, x)
    h = np.array([[np.exp(-1), 3, 2], [3, np.exp(-2), 1], [2, 1, np.exp(-3)]])
    for found in (first, second, third):
        close(found, h @ v.numpy())


@pytest.mark.parametrize("persistent", [False, True])
def test_gradients_for_each_example_of_a_batch(persistent):
    w = tf.Variable([1.0, -1.0])
    xs, ys = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([0.5, -0.5])

    def of_one(example):
        x, y = example
        with tf.GradientTape(persistent=persistent) as tape:
            loss = (tf.tensordot(x, w, 1) - y) ** 2
        return tape.gradient(loss, w)

    wanted = [2 * (x @ w.numpy() - y) * x for x, y in zip(xs.numpy(), ys.numpy(), strict=True)]
    close(tf.vectorized_map(of_one, (xs, ys)), wanted)
    close(tf.map_fn(of_one, (xs, ys), fn_output_signature=tf.float32), wanted)
    with tf.GradientTape(persistent=True) as tape:
        losses = (tf.linalg.matvec(xs, w) - ys) ** 2
    close(tape.jacobian(losses, w), wanted)
