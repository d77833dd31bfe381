"""Test attention and positional layers, with TensorFlow 2.21's numbers."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

L = tf.keras.layers


def waves(*shape):
    return np.cos(np.arange(np.prod(shape)) * 0.37).reshape(shape).astype(np.float32)


def fill(layer):
    start = 0
    for weight in layer.weights:
        size = int(np.prod(weight.shape))
        numbers = np.sin(np.arange(start, start + size) * 0.7) * 0.5
        weight.assign(numbers.reshape(weight.shape).astype(np.float32))
        start += size


def summed(value):
    array = np.asarray(value, np.float64)
    return float((array * np.cos(np.arange(array.size)).reshape(array.shape)).sum())


PAIR = [waves(2, 4), waves(2, 4) * 2]
LAYERS = {
    "conv1c": (lambda: L.Conv1D(3, 3, padding="causal", dilation_rate=2), [waves(2, 6, 2)]),
    "convT": (lambda: L.Conv2DTranspose(3, 3, strides=2, padding="same"), [waves(1, 3, 4, 2)]),
    "conv1T": (lambda: L.Conv1DTranspose(3, 3, strides=2), [waves(1, 4, 2)]),
    "dw": (lambda: L.DepthwiseConv2D(3, depth_multiplier=2), [waves(1, 5, 5, 2)]),
    "sep": (lambda: L.SeparableConv2D(3, 3), [waves(1, 5, 5, 2)]),
    "gn": (lambda: L.GroupNormalization(2), [waves(2, 3, 4)]),
    "un": (L.UnitNormalization, [waves(2, 4)]),
    "rep": (lambda: L.RepeatVector(3), [waves(2, 4)]),
    "prelu": (L.PReLU, [waves(2, 4)]),
    "dot": (lambda: L.Dot(axes=1), PAIR),
    "dotn": (lambda: L.Dot(axes=(2, 1), normalize=True), [waves(2, 3, 4), waves(2, 4, 3) * 2]),
    "zp1": (lambda: L.ZeroPadding1D(2), [waves(1, 3, 1)]),
    "crop": (lambda: L.Cropping2D(1), [waves(1, 4, 4, 1)]),
    "up": (lambda: L.UpSampling2D(2), [waves(1, 3, 3, 1)]),
    "upb": (lambda: L.UpSampling2D(2, interpolation="bilinear"), [waves(1, 3, 3, 1)]),
    "up1": (lambda: L.UpSampling1D(2), [waves(1, 3, 1)]),
    "att": (L.Attention, [waves(2, 3, 4), waves(2, 5, 4)]),
    "addatt": (L.AdditiveAttention, [waves(2, 3, 4), waves(2, 5, 4)]),
}
WANTED = {
    "conv1c": [-1.06251, 3.10310, -0.79841, 0.73391],
    "convT": [11.42265, 1.29100, 15.70223, 0.04982],
    "conv1T": [3.41437, 0.72248, 2.17101, 1.02921],
    "dw": [-0.80161, -3.63907, -0.60988, 1.94906],
    "sep": [-0.92958, 2.30536, -0.05200, -0.74007, 1.02921],
    "gn": [1.24414, 4.15681, -0.13430, 1.23107],
    "un": [-0.78675, 1.76849],
    "rep": [0.18350, -0.08635],
    "prelu": [0.10862, 3.59793, 0.83499],
    "dot": [6.49433, 0.04280, 0.02140],
    "dotn": [-0.09171, 2.05991, -0.09994],
    "zp1": [-1.82184, -0.67903],
    "crop": [0.64616, 2.01228],
    "up": [3.17641, 2.54837],
    "upb": [2.92797, 2.46821],
    "up1": [-0.04390, 0.93453],
    "att": [2.25919, 3.15969, -0.51929],
    "addatt": [-0.37319, 0.22732, 1.05080, 0.52399],
}


@pytest.mark.parametrize("name", LAYERS)
def test_results_and_gradients_are_those_of_tensorflow(name):
    make, arrays = LAYERS[name]
    first = make()
    layer = type(first).from_config(first.get_config())
    given = [tf.constant(array) for array in arrays]
    argument = given if len(given) > 1 else given[0]
    layer(argument)
    fill(layer)
    with tf.GradientTape() as tape:
        tape.watch(given)
        result = layer(argument)
        places = tf.reshape(tf.range(tf.size(result), dtype=tf.float32), result.shape)
        loss = tf.reduce_sum(result * tf.cos(places))
    found = [result, *tape.gradient(loss, [*given, *layer.trainable_variables])]
    np.testing.assert_allclose([summed(one) for one in found], WANTED[name], rtol=1e-3, atol=2e-4)


def test_attention_of_several_heads(tmp_path):
    layer = L.MultiHeadAttention(2, 3)
    query, value = tf.constant(waves(2, 3, 4)), tf.constant(waves(2, 5, 4))
    layer(query, value)
    fill(layer)
    found = layer(query, value, return_attention_scores=True)
    np.testing.assert_allclose([summed(one) for one in found], [-0.27067, 0.14533], atol=2e-4)
    causal = layer(query, query, use_causal_mask=True)
    np.testing.assert_allclose(summed(causal), -0.22398, atol=2e-4)
    mask = tf.constant([[True, True, False, False, False]] * 2)
    short = layer(query, value[:, :2])
    np.testing.assert_allclose(layer(query, value, value_mask=mask), short, atol=1e-6)
    a, b = tf.keras.Input((3, 4)), tf.keras.Input((5, 4))
    model = tf.keras.Model([a, b], layer(a, b))
    model.save(tmp_path / "model.keras")
    again = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again([query, value]), model([query, value]))


def test_what_is_left_out_at_random():
    whole = np.asarray(L.SpatialDropout1D(0.5)(tf.ones([2, 50, 40]), training=True))
    assert set(whole.ravel().tolist()) == {0.0, 2.0} and (whole == whole[:, :1]).all()
    noisy = np.asarray(L.GaussianDropout(0.2)(tf.ones([4000]), training=True))
    assert abs(noisy.mean() - 1) < 0.05 and abs(noisy.std() - 0.5) < 0.05
    layer = L.ActivityRegularization(l2=0.5)
    layer(tf.constant([[1.0], [3.0]]))
    assert [float(loss) for loss in layer.losses] == [2.5]


@pytest.mark.parametrize("kind", ["BatchNormalization", "LayerNormalization", "GroupNormalization"])
def test_layers_that_normalise_take_regularizers_and_constraints_of_both_weights(kind):
    more = {"groups": 1} if kind == "GroupNormalization" else {}
    layer = getattr(tf.keras.layers, kind)(
        gamma_regularizer="l2", beta_constraint="non_neg", gamma_constraint="unit_norm", **more
    )
    layer(tf.ones([2, 4]))
    # 0.01 for each of four ones
    np.testing.assert_allclose(float(layer.losses[0]), 0.04, rtol=1e-6)
    assert layer.beta.constraint is not None
    assert type(layer).from_config(layer.get_config()).gamma_constraint is not None
    names = list(inspect.signature(getattr(tf.keras.layers, kind)).parameters)
    if kind == "BatchNormalization":
        assert names[:3] == ["axis", "momentum", "epsilon"]
        assert names[7:9] == ["moving_mean_initializer", "moving_variance_initializer"]


def test_masks_leave_steps_out_and_end_where_keras_ends_them():
    layers = tf.keras.layers
    x = tf.constant([[1, 2, 0], [3, 0, 0]])
    seen = layers.Embedding(5, 2, mask_zero=True)(x)
    values = seen.numpy()
    mean = layers.GlobalAveragePooling1D()(seen)
    assert np.allclose(mean, [values[0, :2].mean(0), values[1, 0]], atol=1e-6)
    norm = layers.BatchNormalization()
    norm(seen, training=True)
    shown = np.concatenate([values[0, :2], values[1, :1]]).mean(0)
    assert np.allclose(norm.moving_mean, 0.01 * shown, atol=1e-6)
    chances = layers.Softmax()(tf.zeros((1, 3)), mask=tf.constant([[True, False, True]]))
    assert np.allclose(chances, [[0.5, 0, 0.5]])
    assert layers.Dense(2)(seen)._keras_mask is not None

    class Double(layers.Layer):
        def call(self, inputs):
            return inputs * 2

    with pytest.warns(UserWarning, match="does not support masking"):
        doubled = Double()(seen)
    assert getattr(doubled, "_keras_mask", None) is None
    assert not Double().supports_masking and layers.Dropout(0.5).supports_masking


def test_calls_that_do_not_say_whether_they_train_leave_it_to_the_layer():
    class Told(L.Layer):
        def call(self, x, training=None):
            return x if training is None else x * (2.0 if training else 3.0)

    class Training(L.Layer):
        def __init__(self):
            super().__init__()
            self.inner = Told()

        def call(self, x, training=True):
            return self.inner(x)

    one = np.ones((1, 1), np.float32)
    model = tf.keras.Sequential([Told()])
    for layer, said, unsaid in ((Told(), 3.0, 1.0), (Training(), 3.0, 2.0), (model, 3.0, 1.0)):
        assert layer(one).numpy().item() == unsaid
        assert layer(one, training=False).numpy().item() == said
    assert model.predict(one, verbose=0) == 3.0


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (L.DepthwiseConv1D(3, 2, "same", 2), L.DepthwiseConv2D((1, 3), 2, "same", 2)),
        (L.SeparableConv1D(3, 3), L.SeparableConv2D(3, (1, 3))),
    ],
)
def test_sequences_are_convolved_by_channels_as_images_of_one_row(one, two):
    x = np.random.default_rng(0).normal(size=(2, 9, 4)).astype(np.float32)
    one(x), two(x[:, None])
    one.set_weights(
        [w.reshape(v.shape) for w, v in zip(two.get_weights(), one.weights, strict=True)]
    )
    np.testing.assert_allclose(one(x), two(x[:, None])[:, 0], rtol=1e-5, atol=1e-6)


def test_transposed_convolutions_of_volumes():
    layer = L.Conv3DTranspose(1, 2, strides=2, kernel_initializer="ones")
    x = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2, 1)
    expected = x.repeat(2, 1).repeat(2, 2).repeat(2, 3)
    np.testing.assert_allclose(layer(x), expected)


def test_attention_begins_with_the_numbers_of_keras_and_takes_masks_away():
    tf.keras.utils.set_random_seed(1)
    table, layer = L.Embedding(9, 4, mask_zero=True), L.MultiHeadAttention(num_heads=2, key_dim=8)
    x = table(tf.constant([[1, 2, 0]]))
    mask = x._keras_mask
    found = layer(query=x, value=x)
    np.testing.assert_array_equal(found._keras_mask, mask)
    assert x._keras_mask is None
    tf.keras.utils.set_random_seed(1)
    layer = L.MultiHeadAttention(num_heads=2, key_dim=8)
    layer(tf.ones((2, 3, 4)), tf.ones((2, 3, 4)))
    starts = [weight.numpy().ravel()[:2] for weight in layer.weights[::2]]
    wanted = [[0.0999713, -0.1069957], [0.0026768, -0.1144758], [-0.0145149, -0.5399765]]
    np.testing.assert_allclose(starts, [*wanted, [-0.3436008, -0.3776591]], rtol=1e-5)


@pytest.mark.parametrize(
    ("idle", "drawing"),
    [
        (lambda: L.Dropout(0.0), lambda: L.Dropout(0.5)),
        (lambda: L.GaussianNoise(0.0), lambda: L.GaussianNoise(0.5)),
        (lambda: L.Attention(), lambda: L.Attention(dropout=0.5)),
    ],
)
def test_layers_that_never_draw_take_no_seed(idle, drawing):
    def started(*others):
        tf.keras.utils.set_random_seed(2)
        for other in others:
            other()
        layer = L.Dense(2)
        layer(tf.ones((1, 3)))
        return layer.kernel.numpy().tolist()

    assert started(idle) == started() != started(drawing)


def test_cells_of_simple_recurrence_draw_their_seed_first():
    tf.keras.utils.set_random_seed(1)  # the numbers are those of Keras 3
    layer = L.SimpleRNN(2)
    layer(tf.ones((1, 2, 2)))
    np.testing.assert_allclose(
        layer.weights[0], [[0.2235427, -0.2392498], [0.7618786, 0.1553721]], rtol=1e-5
    )


@pytest.mark.parametrize(
    ("layer", "starts"),
    [
        (lambda: L.DepthwiseConv1D(2), [[-0.482, 0.724894]]),
        (lambda: L.SeparableConv1D(2, 2), [[-0.482, 0.724894], [0.223543, -0.23925]]),
    ],
)
def test_convolutions_by_channels_begin_with_the_numbers_of_keras(layer, starts):
    tf.keras.utils.set_random_seed(1)
    made = layer()
    made(tf.ones((1, 4, 2)))
    found = [weight.numpy().ravel()[:2] for weight in made.weights[:-1]]
    np.testing.assert_allclose(found, starts, rtol=1e-5)


@pytest.mark.parametrize(
    "make, shape, words",
    [
        (lambda: L.Dense(2), (3,), "expected min_ndim=2, found ndim=1"),
        (lambda: L.Conv2D(2, 1), (1, 4, 4), "expected min_ndim=4, found ndim=3"),
        (lambda: L.MaxPooling1D(), (1, 4), "expected ndim=3, found ndim=2"),
        (lambda: L.GlobalMaxPooling2D(), (1, 4, 4), "expected ndim=4, found ndim=3"),
        (lambda: L.ZeroPadding2D(), (1, 4, 4), "expected ndim=4, found ndim=3"),
        (lambda: L.LSTM(2), (4,), "expected ndim=3, found ndim=1"),
        (lambda: L.GRU(2), (1, 4), "expected ndim=3, found ndim=2"),
        (lambda: L.ConvLSTM1D(2, 1), (1, 4, 4), "expected ndim=4, found ndim=3"),
    ],
)
def test_layers_refuse_inputs_of_another_rank(make, shape, words):
    with pytest.raises(ValueError, match=f"^Input 0 with name 'None' of layer .*{words}"):
        make()(tf.ones(shape))


def test_layers_refuse_another_number_of_channels_once_they_are_built():
    for layer, shape in ((L.Dense(2), (1, 3)), (L.DepthwiseConv1D(1), (1, 4, 3))):
        layer(tf.ones(shape))
        with pytest.raises(ValueError, match="expected axis -1 of input shape to have value 3"):
            layer(tf.ones((*shape[:-1], 4)))


@pytest.mark.parametrize(
    "spec, words",
    [
        ({"max_ndim": 1}, "max_ndim=1, found ndim=2"),
        ({"dtype": "int32"}, "dtype=int32, found dtype=float32"),
        ({"shape": (None, 4)}, r"shape=\(None, 4\), found shape=\(2, 3\)"),
        ({"ndim": 3}, "ndim=3, found ndim=2. Full shape received"),
    ],
)
def test_a_layer_of_a_program_says_what_inputs_it_takes(spec, words):
    class Same(L.Layer):
        def __init__(self):
            super().__init__()
            self.input_spec = L.InputSpec(**spec)

        def call(self, inputs):
            return inputs

    with pytest.raises(ValueError, match=f"expected {words}"):
        Same()(tf.ones((2, 3)))


def test_specs_of_several_inputs_go_by_place_or_by_key():
    class Sum(L.Layer):
        def call(self, inputs):
            return sum(tf.nest.flatten(inputs))

    layer = Sum()
    layer.input_spec = [L.InputSpec(ndim=1, name="a"), L.InputSpec(min_ndim=1, name="b")]
    assert layer({"b": tf.ones((2, 2)), "a": tf.ones(2)}).shape == (2, 2)
    with pytest.raises(ValueError, match=r"^Input 0 with name 'a'"):
        layer([tf.ones((2, 2)), tf.ones(2)])
    with pytest.raises(ValueError, match=r"expects 2 input\(s\), but it received 1"):
        layer([tf.ones(2)])
    assert L.InputSpec.from_config(L.InputSpec(shape=(None, 2)).get_config()).ndim == 2


def test_batch_normalization_keeps_the_shape_that_it_was_built_for():
    layer = L.BatchNormalization()
    layer(tf.ones([2, 1]))
    with pytest.raises(ValueError, match="axis -1 of input shape to have value 1"):
        layer(tf.ones([2, 3]))  # the weights of one channel would broadcast
    with pytest.raises(ValueError, match="expected ndim=2, found ndim=3"):
        layer(tf.ones([2, 3, 1]))
