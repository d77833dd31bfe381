"""Test Keras's callbacks in order, and saved models, with TensorFlow 2.21's numbers."""

import io
import json
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest

import wengert.compat.tensorflow as tf
from wengert.compat.tensorflow import archive

keras = tf.keras


def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(20, 3)).astype("f"), rng.normal(size=(20, 1)).astype("f")


def model_of(**compiled):
    inputs = keras.Input((3,))
    hidden = keras.layers.Dense(4, activation="tanh", kernel_initializer="ones")(inputs)
    last = keras.layers.Dense(1, kernel_initializer=keras.initializers.Constant(0.1))
    model = keras.Model(inputs, last(hidden))
    model.compile(**{"optimizer": keras.optimizers.Adam(0.1), "loss": "mse", **compiled})
    return model


class Noted(keras.callbacks.Callback):
    def __init__(self):
        self.seen = []

    def __getattribute__(self, name):
        if not name.startswith("on_"):
            return super().__getattribute__(name)
        return lambda *args: self.seen.append((name[3:], args[:-1], sorted(args[-1])))


def test_callbacks_are_called_in_the_order_of_keras():
    x, y = data()
    noted = Noted()
    model = model_of(metrics=["mae"])
    model.fit(x, y, batch_size=10, epochs=1, verbose=0, validation_split=0.2, callbacks=[noted])
    model.predict(x, batch_size=16, verbose=0, callbacks=noted)
    kept = ["loss", "mae"]
    assert noted.seen == [
        ("train_begin", (), []),
        ("epoch_begin", (0,), []),
        ("train_batch_begin", (0,), []),
        ("train_batch_end", (0,), kept),
        ("train_batch_begin", (1,), []),
        ("train_batch_end", (1,), kept),
        ("test_begin", (), []),
        ("test_batch_begin", (0,), []),
        ("test_batch_end", (0,), kept),
        ("test_end", (), kept),
        ("epoch_end", (0,), [*kept, "val_loss", "val_mae"]),
        ("train_end", (), [*kept, "val_loss", "val_mae"]),
        ("predict_begin", (), []),
        ("predict_batch_begin", (0,), []),
        ("predict_batch_end", (0,), ["outputs"]),
        ("predict_batch_begin", (1,), []),
        ("predict_batch_end", (1,), ["outputs"]),
        ("predict_end", (), []),
    ]


def test_a_fit_with_callbacks_gives_the_numbers_of_keras(tmp_path):
    x, y = data()
    model = model_of(metrics=["mae"])
    history = model.fit(
        x,
        y,
        batch_size=8,
        epochs=6,
        shuffle=False,
        verbose=0,
        validation_split=0.2,
        callbacks=[
            keras.callbacks.EarlyStopping(patience=1, restore_best_weights=True),
            keras.callbacks.ReduceLROnPlateau(patience=0, min_delta=0.01),
            keras.callbacks.CSVLogger(tmp_path / "log.csv"),
            keras.callbacks.ModelCheckpoint(tmp_path / "m-{epoch}.keras", save_best_only=True),
        ],
    )
    assert model.history is history
    assert history.epoch == [0, 1, 2, 3]
    np.testing.assert_allclose(history.history["loss"], [1.181, 1.067, 0.999, 0.975], atol=6e-4)
    np.testing.assert_allclose(history.history["val_mae"], [1.463, 1.394, 1.32, 1.352], atol=6e-4)
    np.testing.assert_allclose(history.history["learning_rate"], [0.1] * 4, rtol=1e-6)
    np.testing.assert_allclose(model.optimizer.learning_rate.numpy(), 0.01, rtol=1e-6)
    np.testing.assert_allclose(model.predict(x[:2], verbose=0), [[0.203], [-0.225]], atol=6e-4)
    lines = (tmp_path / "log.csv").read_text().splitlines()
    assert lines[0] == "epoch,learning_rate,loss,mae,val_loss,val_mae"
    assert len(lines) == 5
    assert not (tmp_path / "m-4.keras").exists()
    # a model that is loaded goes on where it was, the state of its optimizer included
    again = keras.models.load_model(tmp_path / "m-1.keras")
    assert int(again.optimizer.iterations.numpy()) == 2
    again.fit(x, y, epochs=1, verbose=0, shuffle=False)
    np.testing.assert_allclose(again.predict(x[:2], verbose=0), [[0.3841], [-0.0559]], atol=6e-5)


def test_schedules_lambdas_and_what_is_no_number():
    x, y = data()
    model = model_of(optimizer="sgd")
    rates = []
    model.fit(
        x,
        y,
        epochs=3,
        verbose=0,
        callbacks=[
            keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5),
            keras.callbacks.LambdaCallback(
                on_epoch_end=lambda epoch, logs: rates.append(logs["learning_rate"])
            ),
        ],
    )
    np.testing.assert_allclose(rates, [0.005, 0.0025, 0.00125], rtol=1e-6)
    bad = y.copy()
    bad[0] = np.nan
    history = model.fit(x, bad, epochs=5, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN()])
    assert len(history.epoch) == 1
    with pytest.raises(RuntimeError, match="NaN or Inf loss encountered at batch 0"):
        model.fit(x, bad, verbose=0, callbacks=keras.callbacks.TerminateOnNaN(raise_error=True))
    with pytest.raises(NotImplementedError, match="CSVLogger"):
        keras.callbacks.TensorBoard("logs")
    with pytest.raises(ValueError, match="isn't able to automatically determine"):
        model.fit(x, y, verbose=0, callbacks=[keras.callbacks.EarlyStopping("mystery")])
    with pytest.warns(UserWarning, match="which is not available"):
        model.fit(x, y, verbose=0, callbacks=[keras.callbacks.EarlyStopping("val_loss")])


def test_class_weights_count_as_sample_weights():
    x, y = data()
    labels = (y > 0).astype(int)
    one, two = (
        model_of(
            loss=keras.losses.BinaryCrossentropy(from_logits=True),
            optimizer=keras.optimizers.SGD(1.0),
        )
        for _ in range(2)
    )
    one.fit(x, labels, verbose=0, shuffle=False, class_weight={0: 1.0, 1: 3.0})
    weights = np.where(labels[:, 0] == 1, 3.0, 1.0)
    two.fit(x, labels, verbose=0, shuffle=False, sample_weight=weights)
    for a, b in zip(one.get_weights(), two.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert np.abs(one.get_weights()[0] - 1).max() > 1e-3


@keras.saving.register_keras_serializable("tests")
class Scaled(keras.Model):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.inner = keras.layers.Dense(units, kernel_regularizer=keras.regularizers.L2(0.25))
        self.norm = keras.layers.BatchNormalization()

    def call(self, inputs, training=False):
        return self.norm(self.inner(inputs), training=training) * 2.0


def test_a_model_of_a_class_of_the_program_is_loaded_by_its_name(tmp_path):
    x, _ = data()
    model = Scaled(4)
    model.compile(keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)))
    with pytest.raises(ValueError, match="not yet been built"):
        model.save(tmp_path / "m.keras")
    model(x, training=True)
    model.save(tmp_path / "m.keras")
    same = keras.models.load_model(tmp_path / "m.keras")
    assert type(same) is Scaled
    np.testing.assert_array_equal(same(x).numpy(), model(x).numpy())
    assert float(same.losses[0]) == float(model.losses[0])
    assert float(same.optimizer.learning_rate) == pytest.approx(0.1)
    with pytest.raises(ValueError, match="overwrite=False"):
        model.save(tmp_path / "m.keras", overwrite=False)
    with pytest.raises(ValueError, match=r"must end in `\.keras`"):
        model.save(tmp_path / "m")


def test_several_inputs_shared_layers_and_structures_survive_json():
    a, b = keras.Input((2,), name="a"), keras.Input((2,), name="b")
    shared = keras.layers.Dense(3)
    both = keras.layers.Concatenate()([shared(a), shared(b)])
    model = keras.Model([a, b], {"sum": keras.layers.Dense(1)(both), "all": both})
    text = model.to_json()
    same = keras.models.model_from_json(text)
    same.set_weights(model.get_weights())
    values = [np.ones((2, 2), "f"), np.full((2, 2), 3, "f")]
    first, second = model(values), same(values)
    assert first.keys() == second.keys() == {"sum", "all"}
    np.testing.assert_array_equal(first["sum"], second["sum"])
    assert len(same.weights) == 4
    assert json.loads(text)["class_name"] == "Model"


def test_weights_alone_and_files_of_others(tmp_path):
    x, _ = data()
    model, other = model_of(), model_of()
    model.set_weights([w + 1 for w in model.get_weights()])
    model.save_weights(tmp_path / "w.weights.h5")
    other.load_weights(tmp_path / "w.weights.h5")
    np.testing.assert_array_equal(other(x), model(x))
    with pytest.raises(ValueError, match="weights alone"):
        keras.models.load_model(tmp_path / "w.weights.h5")
    fresh = keras.Sequential([keras.layers.Dense(4)])
    with pytest.raises(ValueError, match="has no weights yet"):
        fresh.load_weights(tmp_path / "w.weights.h5")
    wide = keras.Sequential([keras.Input((3,)), keras.layers.Dense(5), keras.layers.Dense(1)])
    with pytest.raises(ValueError, match="not compatible"):
        wide.load_weights(tmp_path / "w.weights.h5")
    with pytest.warns(UserWarning, match="was not loaded"):
        wide.load_weights(tmp_path / "w.weights.h5", skip_mismatch=True)
    (tmp_path / "h.keras").write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(ValueError, match="HDF5"):
        keras.models.load_model(tmp_path / "h.keras")
    (tmp_path / "d.keras").write_bytes((tmp_path / "w.weights.h5").read_bytes()[:100])
    with pytest.raises(ValueError, match="damaged"):
        keras.models.load_model(tmp_path / "d.keras")


def _header(shape):
    content = io.BytesIO()
    head = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(content, head)
    return content.getvalue()


HEAD = json.dumps({"format": archive._FORMAT, "arrays": ["a"], "state": {}})


@pytest.mark.parametrize(
    ("head", "array", "words"),
    [
        (HEAD, _header((10**12,)), "too small"),
        (HEAD, _header((2,)) + bytes(8), "too small"),
        (HEAD, _header((-1,)), "never written"),
        (HEAD, _header((1,)).replace(b"'<f8'", b"'|O' ") + bytes(8), "never written"),
        (HEAD, b"not an array", "magic"),
        ("[]", b"", "indices"),
        ("{", b"", "property name"),
        ("[" * 100_000, b"", "recursion"),
        ('{"format": "x"}', b"", "state"),
    ],
)
def test_damaged_files_ask_for_no_memory(head, array, words, tmp_path):
    with zipfile.ZipFile(tmp_path / "x", "w") as target:
        target.writestr("state.json", head)
        target.writestr("arrays/0.npy", array)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=f"is damaged, or no file of this library: .*{words}"):
            archive.read_archive(tmp_path / "x")
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()


def test_files_that_would_grow_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x", "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("state.json", HEAD + " " * 10**6)
    with pytest.raises(ValueError, match="records are compressed, or larger than the file"):
        archive.read_archive(tmp_path / "x")


def test_what_cannot_be_read_back_is_not_written():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Lambda(lambda x: x)])
    with pytest.raises(TypeError, match="no code is written"):
        model.to_json()
    unknown = {"class_name": "Nowhere", "config": {}, "module": None, "registered_name": None}
    with pytest.raises(TypeError, match="Could not locate"):
        keras.saving.deserialize_keras_object(unknown)
    # names lead to classes of Keras alone
    for module in ("os", "keras.saving", "wengert", "keras.layers.os"):
        with pytest.raises(TypeError, match="Could not locate"):
            keras.saving.deserialize_keras_object({**unknown, "module": module})


@pytest.mark.parametrize(
    "made",
    [
        lambda: keras.layers.Dense(2, "relu", kernel_constraint="non_neg"),
        lambda: keras.layers.Conv2D(2, 3, padding="same", name="c"),
        lambda: keras.layers.BatchNormalization(momentum=0.5),
        lambda: keras.layers.Dropout(0.25, trainable=False),
        lambda: keras.layers.Embedding(3, 2, embeddings_regularizer=keras.regularizers.L1(0.5)),
        lambda: keras.optimizers.RMSprop(0.5, rho=0.25, clipnorm=1.0),
        lambda: keras.losses.Huber(2.0, reduction="sum"),
        lambda: keras.metrics.TopKCategoricalAccuracy(3),
        lambda: keras.constraints.MaxNorm(3.0, axis=(0, 1)),
        lambda: keras.initializers.RandomUniform(-1.0, 1.0, seed=3),
    ],
)
def test_a_configuration_makes_an_equal_object(made):
    first = made()
    config = json.loads(json.dumps(keras.saving.serialize_keras_object(first)))
    second = keras.saving.deserialize_keras_object(config)
    assert type(second) is type(first)
    assert json.dumps(second.get_config()) == json.dumps(first.get_config())


def test_constraints_hold_after_each_step():
    layer = keras.layers.Dense(1, kernel_constraint="max_norm", kernel_initializer="ones")
    model = keras.Sequential([keras.Input((2,)), layer])
    model.compile(keras.optimizers.SGD(100.0), "mse")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(np.ones((4, 2)), np.zeros((4, 1)), verbose=0)
    np.testing.assert_allclose(np.linalg.norm(layer.kernel.numpy()), 2.0, rtol=1e-5)


def test_a_model_is_fitted_to_batches_that_are_computed_one_by_one():
    class Rows(keras.utils.Sequence):
        ended = 0

        def __len__(self):
            return 3

        def __getitem__(self, index):
            return np.full((2, 1), index + 1.0, np.float32), np.ones((2, 1), np.float32)

        def on_epoch_end(self):
            self.ended += 1

    rows = Rows()
    model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile(keras.optimizers.SGD(0.0), "mse")
    history = model.fit(rows, epochs=2, verbose=0, shuffle=False).history["loss"]
    assert history == pytest.approx([(0 + 1 + 4) / 3] * 2)
    assert rows.ended == 2
    assert model.evaluate(rows, verbose=0) == pytest.approx(5 / 3)
    assert keras.utils.unpack_x_y_sample_weight(rows[0])[2] is None


@pytest.mark.parametrize(
    ("module", "one", "key"),
    [
        ("layers", keras.layers.Dense(3, activation="relu"), "units"),
        ("losses", keras.losses.Huber(2.0), "delta"),
        ("optimizers", keras.optimizers.Ftrl(0.5), "learning_rate"),
        ("metrics", keras.metrics.AUC(7), "num_thresholds"),
        ("initializers", keras.initializers.Constant(4.0), "value"),
        ("regularizers", keras.regularizers.L1(0.25), "l1"),
        ("constraints", keras.constraints.MaxNorm(3.0), "max_value"),
    ],
)
def test_each_module_describes_its_objects_and_makes_them_again(module, one, key):
    home = getattr(keras, module)
    described = json.loads(json.dumps(home.serialize(one)))
    again = home.deserialize(described)
    assert type(again) is type(one)
    assert again.get_config()[key] == one.get_config()[key]
    assert {"serialize", "deserialize"} <= {*dir(home)}


def test_descriptions_of_functions_and_of_own_classes():
    assert keras.activations.serialize(keras.activations.relu) == "relu"
    assert keras.activations.deserialize("relu") is keras.activations.relu
    assert keras.losses.deserialize("mse") is keras.losses.mse

    class Own(keras.layers.Layer):
        pass

    described = keras.layers.serialize(Own(name="one"))
    assert keras.layers.deserialize(described, custom_objects={"Own": Own}).name == "one"
    with pytest.raises(TypeError, match="Could not locate"):
        keras.layers.deserialize(described)


@pytest.mark.parametrize(("monitor", "grows"), [("mse", False), ("val_accuracy", True)])
def test_callbacks_find_the_direction_of_metrics_given_to_compile(monitor, grows):
    model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mse", "accuracy"])
    x = np.ones((4, 1), np.float32)
    stop = keras.callbacks.EarlyStopping(monitor=monitor, patience=1)
    model.fit(x, x, validation_data=(x, x), epochs=1, callbacks=[stop], verbose=0)
    assert stop._grows() is grows
