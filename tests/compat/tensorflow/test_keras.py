"""Test tf.keras: layers, losses, metrics, optimizers, and training loops."""

import inspect

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

keras = tf.keras


def close(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


@pytest.fixture(autouse=True)
def _names_from_the_start():
    keras.backend.clear_session()
    tf.random.set_seed(0)


# -- layers ----------------------------------------------------------------------------------------


def test_a_layer_makes_its_weights_when_it_is_first_called():
    layer = keras.layers.Dense(3)
    assert layer.weights == [] and not layer.built
    assert layer(tf.ones([2, 4])).shape == (2, 3)
    assert [tuple(w.shape) for w in layer.trainable_weights] == [(4, 3), (3,)]
    assert layer.name == "dense" and keras.layers.Dense(1).name == "dense_1"
    with pytest.raises(ValueError, match="incompatible with the layer"):
        layer(tf.ones([2, 5]))
    with pytest.raises(ValueError, match="expected min_ndim=2, found ndim=1"):
        layer(tf.ones([4]))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_pooling_has_short_names_and_all_dimensions(d):
    layers, x = keras.layers, tf.reshape(tf.range(4.0**d), (1, *[4] * d, 1))
    short, long = getattr(layers, f"MaxPool{d}D"), getattr(layers, f"MaxPooling{d}D")
    assert short is long and long.__name__ == f"MaxPooling{d}D"
    last = 4**d - 1
    assert long(3)(x).numpy().ravel() == [sum(2 * 4**i for i in range(d))]
    assert getattr(layers, f"AvgPool{d}D")(4)(x).numpy().ravel() == [last / 2]
    assert getattr(layers, f"GlobalMaxPool{d}D")()(x).numpy().tolist() == [[last]]
    again = long.from_config(long(2, padding="same").get_config())
    assert again.get_config()["pool_size"] == (2,) * d and again.padding == "same"


def test_merging_layers_are_functions_too():
    a, b = tf.constant([[1.0]]), tf.constant([[3.0]])
    assert keras.layers.concatenate([a, b], axis=-1).numpy().tolist() == [[1.0, 3.0]]
    assert keras.layers.add([a, b]).numpy() == 4 and keras.layers.minimum([a, b]).numpy() == 1


def test_classes_show_their_own_arguments_and_not_those_of_what_makes_them():
    shown = {
        keras.layers.Add: ["activity_regularizer", "trainable", "dtype", "autocast", "name"],
        keras.layers.Layer: ["activity_regularizer", "trainable", "dtype", "autocast", "name"],
        keras.initializers.Zeros: [],
        keras.constraints.NonNeg: [],
        keras.losses.MeanSquaredError: ["reduction", "name"],
    }
    for kind, names in shown.items():
        found = [name for name in inspect.signature(kind).parameters if name != "kwargs"]
        assert found[: len(names) or None] == names


def test_arguments_are_named_in_signatures_and_configurations():
    with pytest.raises(TypeError, match="units"):
        keras.layers.Dense()
    with pytest.raises(ValueError, match="Unrecognized keyword"):
        keras.layers.Dense(1, unitz=2)
    layer = keras.layers.Embedding(3, 2, input_length=4, embeddings_constraint="non_neg")
    assert isinstance(layer.embeddings_constraint, keras.constraints.NonNeg)
    assert keras.layers.Embedding.from_config(layer.get_config()).output_dim == 2
    assert list(inspect.signature(keras.optimizers.AdamW).parameters)[:2] == [
        "learning_rate", "weight_decay"]  # fmt: skip
    assert keras.optimizers.AdamW(weight_decay=0.5).weight_decay == 0.5


def test_layers_and_variables_are_found_among_attributes():
    class Block(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = [keras.layers.Dense(2), {"a": keras.layers.Dense(3)}]
            self.scale = tf.Variable(2.0)
            self.count = tf.Variable(0, trainable=False)

        def call(self, x):
            return self.inner[1]["a"](self.inner[0](x)) * self.scale

    block = Block()
    block(tf.ones([1, 4]))
    assert len(block.trainable_variables) == 5
    assert len(block.non_trainable_variables) == 1
    block.inner[0].trainable = False
    assert len(block.trainable_variables) == 3
    assert block.count_params() == 10 + 9 + 2


def test_add_weight_takes_names_shapes_and_regularizers():
    class Scale(keras.layers.Layer):
        def build(self, input_shape):
            self.w = self.add_weight(
                name="w", shape=[int(input_shape[-1])], initializer="ones", regularizer="l2"
            )

        def call(self, x):
            self.add_loss(tf.reduce_sum(x))
            return x * self.w

    layer = Scale()
    layer(tf.ones([1, 2]))
    assert [float(loss) for loss in layer.losses] == pytest.approx([2.0, 0.02])
    layer(tf.ones([1, 2]))
    assert len(layer.losses) == 2


def test_whether_it_trains_is_handed_down():
    seen = []

    class Probe(keras.layers.Layer):
        def call(self, x, training=None):
            seen.append(training)
            return x

    model = keras.Sequential([Probe(), keras.Sequential([Probe()])])
    model(tf.ones([1, 1]), training=True)
    model(tf.ones([1, 1]))
    assert seen == [True, True, None, None]  # as Keras hands it down: nothing was said


def test_dropout_acts_while_training_only():
    layer = keras.layers.Dropout(0.5)
    x = tf.ones([1000])
    assert (layer(x).numpy() == 1).all()
    assert (layer(x, training=True).numpy() == 0).any()


def test_batch_normalization_keeps_running_means():
    layer = keras.layers.BatchNormalization(momentum=0.5)
    x = tf.constant([[1.0], [3.0]])
    np.testing.assert_allclose(layer(x, training=True).numpy().ravel(), [-1, 1], atol=1e-3)
    assert layer.moving_mean.numpy() == 1.0 and layer.moving_variance.numpy() == 1.0
    assert len(layer.trainable_weights) == 2 and len(layer.non_trainable_weights) == 2
    np.testing.assert_allclose(layer(x).numpy().ravel(), [0.0, 2.0], atol=1e-2)


def test_weights_can_be_read_and_set():
    a, b = keras.layers.Dense(2), keras.layers.Dense(2)
    a(tf.ones([1, 3])), b(tf.ones([1, 3]))
    b.set_weights(a.get_weights())
    assert a(tf.ones([1, 3])).numpy().tolist() == b(tf.ones([1, 3])).numpy().tolist()
    before = b.get_weights()
    with pytest.raises(ValueError, match="not compatible with provided weight shape"):
        b.set_weights([np.zeros((3, 2)), np.zeros(5)])
    assert (b.get_weights()[0] == before[0]).all()


def test_functional_models():
    inputs = keras.Input(shape=(4,))
    a = keras.layers.Dense(3, activation="relu")(inputs)
    both = keras.layers.Concatenate()([a, inputs])
    model = keras.Model(inputs, [keras.layers.Dense(1)(both), a])
    y, hidden = model(tf.ones([2, 4]))
    assert y.shape == (2, 1) and hidden.shape == (2, 3)
    assert both.shape == (None, 7) and len(model.trainable_variables) == 4
    assert (a + a).shape == (None, 3)
    with pytest.raises(ValueError, match="not connected"):
        keras.Model(keras.Input(shape=(4,)), a)


def test_sequential_models_build_at_once_where_the_shape_is_known():
    model = keras.Sequential([keras.Input(shape=(28, 28)), keras.layers.Flatten()])
    model.add(keras.layers.Dense(10))
    assert model.output_shape == (None, 10) and model.count_params() == 7850
    older = keras.Sequential([keras.layers.Dense(2, input_shape=(3,))])
    assert len(older.weights) == 2


# -- losses and metrics ----------------------------------------------------------------------------


def test_losses_reduce_as_they_are_told():
    y, p = [[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 0.0]]
    assert keras.losses.MeanSquaredError()(y, p).numpy() == 0.5
    assert keras.losses.MeanSquaredError(reduction="sum")(y, p).numpy() == 1.0
    assert keras.losses.MeanSquaredError(reduction="none")(y, p).numpy().tolist() == [0.5, 0.5]
    assert keras.losses.MeanSquaredError()(y, p, sample_weight=[2.0, 0.0]).numpy() == 0.5
    with pytest.raises(ValueError, match="Invalid value for argument `reduction`"):
        keras.losses.MeanSquaredError(reduction="half")


def test_losses_from_logits_and_from_probabilities_agree():
    logits = tf.constant([[1.0, 2.0, -1.0], [0.5, -0.5, 3.0]])
    p = tf.nn.softmax(logits)
    a = keras.losses.SparseCategoricalCrossentropy(from_logits=True)([1, 0], logits)
    b = keras.losses.SparseCategoricalCrossentropy()([1, 0], p)
    c = keras.losses.CategoricalCrossentropy()(tf.one_hot([1, 0], 3), p)
    np.testing.assert_allclose([b.numpy(), c.numpy()], a.numpy(), rtol=1e-5)


def test_metrics_count_over_batches():
    m = keras.metrics.SparseCategoricalAccuracy()
    m.update_state([1, 0], [[0.1, 0.9], [0.2, 0.8]])
    m.update_state([1], [[0.4, 0.6]])
    assert m.result().numpy() == pytest.approx(2 / 3)
    m.reset_state()
    assert m.result().numpy() == 0.0
    assert keras.metrics.Mean()([1.0, 3.0]).numpy() == 2.0


# -- optimizers ------------------------------------------------------------------------------------


def test_steps_are_kerass():
    def run(optimizer, steps=3):
        w = tf.Variable([1.0, -2.0])
        for _ in range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(w**2)
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        assert optimizer.iterations.numpy() == steps
        return w.numpy()

    # computed with Keras 3
    np.testing.assert_allclose(run(keras.optimizers.SGD(0.1)), [0.512, -1.024], rtol=1e-5)
    np.testing.assert_allclose(
        run(keras.optimizers.SGD(0.1, momentum=0.9)), [0.062, -0.124], rtol=1e-4
    )
    adam = run(keras.optimizers.Adam(0.1))
    np.testing.assert_allclose(adam, [0.7015, -1.7008], rtol=1e-3)


def test_missing_gradients_are_told():
    optimizer = keras.optimizers.SGD(0.1)
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.apply_gradients([(None, v)])
    with pytest.warns(UserWarning, match="Gradients do not exist for variables"):
        optimizer.apply_gradients([(None, v), (tf.constant(1.0), w)])
    assert v.numpy() == 1.0 and w.numpy() == pytest.approx(0.9)


def test_learning_rates_may_be_set_and_scheduled():
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.learning_rate = 0.5
    assert float(optimizer.learning_rate.numpy()) == 0.5
    schedule = keras.optimizers.schedules.PiecewiseConstantDecay([0, 1], [1.0, 0.5, 0.25])
    optimizer = keras.optimizers.SGD(schedule)
    w = tf.Variable(0.0)
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant(1.0), w)])
    assert w.numpy() == -1.75


def test_clipping_and_unknown_arguments():
    w = tf.Variable([0.0, 0.0])
    keras.optimizers.SGD(1.0, clipnorm=1.0).apply_gradients([(tf.constant([3.0, 4.0]), w)])
    np.testing.assert_allclose(w.numpy(), [-0.6, -0.8], rtol=1e-6)
    with pytest.raises(ValueError, match="not recognized"):
        keras.optimizers.SGD(0.1, bogus=1)


def test_minimize_takes_a_function():
    x = tf.Variable(3.0)
    optimizer = keras.optimizers.SGD(0.25)
    for _ in range(10):
        optimizer.minimize(lambda: (x - 1.0) ** 2, [x])
    assert x.numpy() == pytest.approx(1.0, abs=5e-3)


# -- programs --------------------------------------------------------------------------------------


def points():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2)).astype(np.float32)
    return x, (x[:, 0] * x[:, 1] > 0).astype(np.int64)


def test_a_loop_written_out_learns():
    x, y = points()
    model = keras.Sequential([keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(2)])
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.Adam(0.02)
    accuracy = keras.metrics.SparseCategoricalAccuracy()
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(200).batch(50)

    @tf.function
    def train_step(inputs, targets):
        with tf.GradientTape() as tape:
            predictions = model(inputs, training=True)
            loss = loss_fn(targets, predictions)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        accuracy(targets, predictions)
        return loss

    for _ in range(40):
        accuracy.reset_state()
        for inputs, targets in dataset:
            train_step(inputs, targets)
    assert accuracy.result().numpy() > 0.9


def test_fit_evaluate_and_predict(capsys):
    x, y = points()
    model = keras.Sequential([keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(2)])
    model.compile(
        optimizer=keras.optimizers.Adam(0.02),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    history = model.fit(x, y, epochs=30, batch_size=50, validation_split=0.2, verbose=0)
    assert capsys.readouterr().out == ""
    assert set(history.history) == {"loss", "accuracy", "val_loss", "val_accuracy"}
    assert history.history["loss"][-1] < history.history["loss"][0]
    loss, accuracy = model.evaluate(x, y, verbose=0)
    assert accuracy > 0.8 and model.predict(x).shape == (200, 2)
    assert model.evaluate(x, y, return_dict=True, verbose=0)["loss"] == pytest.approx(loss)
    model.fit(x, y, epochs=1)
    assert "Epoch 1/1" in capsys.readouterr().out


def test_train_step_may_be_replaced():
    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)
            self.mean = keras.metrics.Mean(name="mine")

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(y=y, y_pred=self(x, training=True))
            slopes = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply(slopes, self.trainable_variables)
            self.mean.update_state(loss)
            return {"mine": self.mean.result()}

    model = Model()
    model.compile(optimizer="sgd", loss="mse")
    history = model.fit(tf.ones([8, 2]), tf.zeros([8, 1]), epochs=4, verbose=0)
    assert list(history.history) == ["mine"]
    assert history.history["mine"][-1] < history.history["mine"][0]


def test_a_convolutional_network_learns_two_patterns():
    rng = np.random.default_rng(0)
    x = rng.normal(scale=0.3, size=(40, 8, 8, 1)).astype(np.float32)
    x[:20, :, 3:5] += 1
    x[20:, 3:5] += 1
    y = np.repeat([0, 1], 20)
    model = keras.Sequential(
        [
            keras.layers.Conv2D(4, 3, activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(2),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
    model.fit(x, y, epochs=15, verbose=0)
    assert model.evaluate(x, y, verbose=0)[1] > 0.95


def test_focal_losses_weigh_by_the_probability_of_the_other_classes():
    y = tf.constant([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    p = tf.constant([[0.2, 0.7, 0.1], [0.3, 0.6, 0.1]])
    two, more = keras.losses.binary_focal_crossentropy, keras.losses.categorical_focal_crossentropy
    known = keras.losses.binary_crossentropy(y, p), keras.losses.categorical_crossentropy(y, p)
    close(two(y, p, gamma=0.0), known[0])
    close(more(y, p, alpha=1.0, gamma=0.0), known[1])
    close(more(y, p, alpha=[2.0, 3.0, 5.0], gamma=2.0), known[1] * [2 * 0.8**2, 3 * 0.4**2])
    right = np.where(y.numpy() > 0, p.numpy(), 1 - p.numpy())
    weight = np.where(y.numpy() > 0, 0.25, 0.75)
    balanced = (weight * (1 - right) ** 2 * -np.log(right)).mean(-1)
    close(two(y, p, apply_class_balancing=True), balanced)
    logits = tf.math.log(p / (1 - p))
    close(
        keras.losses.BinaryFocalCrossentropy(from_logits=True)(y, logits), two(y, p).numpy().mean()
    )
    assert keras.losses.get("categorical_focal_crossentropy") is more


def test_losses_of_overlaps():
    y, p = tf.constant([[1.0, 0.0], [1.0, 1.0]]), tf.constant([[0.5, 0.25], [1.0, 0.75]])
    close(keras.losses.Dice()(y, p), 1 - 2 * 2.25 / 5.5)
    close(keras.losses.Tversky()(y, p), keras.losses.dice(y, p))
    close(
        keras.losses.tversky(y, p, alpha=0.2, beta=2.0), 1 - 2.25 / (2.25 + 0.2 * 0.75 + 2 * 0.25)
    )
    close(keras.losses.Dice(axis=1, reduction="none")(y, p), [1 - 1 / 1.75, 1 - 3.5 / 3.75])
    loss = keras.losses.Tversky(alpha=0.3)
    assert keras.losses.Tversky.from_config(loss.get_config()).alpha == 0.3


def test_regularizers_are_part_of_the_loss():
    model = keras.Sequential(
        [
            keras.layers.Dense(
                1, kernel_initializer="ones", kernel_regularizer=keras.regularizers.L2(0.5)
            )
        ]
    )
    model.compile(optimizer="sgd", loss="mse")
    found = model.evaluate(tf.zeros([4, 2]), tf.zeros([4, 1]), verbose=0)
    assert found == pytest.approx(1.0)


def test_second_derivatives_go_through_layers():
    layer = keras.layers.Dense(1, activation="tanh")
    x = tf.constant([[0.3, -0.4]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = layer(x)
        slope = inner.gradient(y, x)
        penalty = tf.reduce_sum(slope**2)
    found = outer.gradient(penalty, layer.trainable_variables)
    w, b = (v.numpy() for v in layer.trainable_variables)
    t = np.tanh(x.numpy() @ w + b)
    expected = -4 * t * (1 - t**2) ** 2 * (w**2).sum()
    np.testing.assert_allclose(found[1].numpy(), expected.ravel(), rtol=1e-4)


def test_what_is_not_offered_says_so():
    with pytest.raises(AttributeError, match=r"tf\.keras\.datasets; use arrays of your own"):
        keras.datasets  # noqa: B018
    with pytest.raises(AttributeError, match=r"tf\.keras\.layers\.HashedCrossing"):
        keras.layers.HashedCrossing  # noqa: B018
    model = keras.Sequential([keras.layers.Dense(1)])
    with pytest.raises(ValueError, match="You must call `compile"):
        model.fit(np.ones((2, 1)), np.ones((2, 1)))
    with pytest.raises(NotImplementedError, match=r"model\.save"):
        model.export("x")


def test_a_frozen_model_is_fitted_with_a_warning():
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.trainable = False
    model.compile("sgd", "mse")
    before = model.get_weights()[0]
    with pytest.warns(UserWarning, match="not have any trainable weights"):
        model.fit(np.ones((2, 2)), np.ones((2, 1)), verbose=0)
    assert (model.get_weights()[0] == before).all()


def test_weights_beside_a_mask_are_matched_and_have_gradients():
    targets, logits = [0, 2, 1, 1], tf.reshape(tf.sin(tf.range(12.0)), (4, 3))
    for skipped in (None, -1):
        loss = tf.keras.losses.SparseCategoricalCrossentropy(True, ignore_class=skipped)
        flat = tf.constant([1.0, 2.0, 0.5, 3.0])
        found = []
        for weight in (flat, flat[:, tf.newaxis]):
            with tf.GradientTape() as tape:
                tape.watch(weight)
                value = loss(targets, logits, sample_weight=weight)
            slope = tape.gradient(value, weight)
            found.append([value.numpy(), *tf.reshape(slope, [-1]).numpy()])
        assert found[0] == pytest.approx(found[1])
    # the share of what is masked and of what is ignored is taken once, from both together
    logits._keras_mask = tf.constant([True, True, False, True])
    each = tf.keras.losses.SparseCategoricalCrossentropy(True, reduction="none")
    plain = each(targets, tf.identity(logits)).numpy()
    both = tf.keras.losses.SparseCategoricalCrossentropy(True, ignore_class=0)
    assert float(both(targets, logits)) == pytest.approx((plain[1] + plain[3]) / 2)


def test_the_mean_by_weights_that_are_all_zero_is_zero():
    loss = tf.keras.losses.MeanSquaredError(reduction="mean_with_sample_weight")
    assert loss([[1.0], [2.0]], [[0.0], [0.0]], sample_weight=[0.0, 0.0]).numpy() == 0


def test_a_function_as_a_loss_matches_columns_of_weights():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", lambda y, p: tf.reduce_mean((y - p) ** 2, axis=-1))
    x, y = np.array([[1.0], [3.0]]), np.zeros((2, 1))
    weight = np.array([[1.0], [0.5]])
    assert model.evaluate(x, y, sample_weight=weight, verbose=0) == pytest.approx(2.75)


@pytest.mark.parametrize("name", ["Flatten", "GlobalMaxPooling2D", "MaxPooling2D", "Resizing"])
def test_channels_come_last(name):
    options = {"height": 2, "width": 2} if name == "Resizing" else {}
    with pytest.raises(ValueError, match="data_format is 'channels_last' here"):
        getattr(tf.keras.layers, name)(data_format="channels_first", **options)


def test_the_cosine_of_no_direction_has_keras_slope():
    p = tf.zeros([1, 2])
    with tf.GradientTape() as tape:
        tape.watch(p)
        loss = tf.keras.losses.cosine_similarity([[3.0, 4.0]], p)
    assert tape.gradient(loss, p).numpy()[0] == pytest.approx([-6e6, -8e6])


def test_the_lowest_threshold_of_ratios_at_a_bound_is_zero_itself():
    metric = tf.keras.metrics.PrecisionAtRecall(0.9)
    assert float(metric([0, 0, 1, 1], [0.0, 0.0, 0.0, 1.0])) == 0
