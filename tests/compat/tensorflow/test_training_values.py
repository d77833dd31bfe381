"""Test the values that `fit` and `evaluate` report, by hand and against TensorFlow 2.21."""

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
    weights = {"one": 1.0, "two": 0.5}
    model.compile("sgd", {"one": "mse", "two": "mae"}, weights, metrics={"two": "mae"})
    history = model.fit({"a": X}, {"one": zeros, "two": ones}, verbose=0).history
    assert list(history) == ["loss", "one_loss", "two_loss", "two_mae"]
    assert [value for (value,) in history.values()] == pytest.approx(list(wanted.values()))


def test_outputs_without_a_loss_are_not_reported():
    x = keras.Input((1,))
    outputs = [keras.layers.Dense(1, kernel_initializer="ones", name=n)(x) for n in "abc"]
    for losses, keys in (
        ([None, "mse", None], {"loss"}),
        (["mse", None, "mse"], {"loss", "a_loss", "c_loss"}),
    ):
        model = keras.Model(x, outputs)
        model.compile("sgd", losses)
        found = model.evaluate(X, [X, X, 2 * X], verbose=0, return_dict=True)
        assert set(found) == keys
    values = model.evaluate(X, [X, X, 2 * X], verbose=0)
    assert len(values) == len(model.metrics_names) == 3


def test_an_epoch_of_some_steps_begins_where_the_one_before_ended():
    data = tf.data.Dataset.from_tensor_slices((X, np.zeros((4, 1), np.float32))).batch(1)
    model = line()
    model.compile(keras.optimizers.SGD(0.0), "mse")
    found = model.fit(data.repeat(), epochs=3, steps_per_epoch=2, verbose=0).history["loss"]
    assert found == pytest.approx([2.5, 20.5, 2.5])
    found = model.fit(data, epochs=3, steps_per_epoch=4, verbose=0).history["loss"]
    assert found == pytest.approx([11.5] * 3)


Y = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
P = [[0.05, 0.95, 0.0], [0.1, 0.8, 0.1]]


@pytest.mark.parametrize(
    ("name", "arguments", "result", "weighted"),
    [
        ("AUC", {}, 0.8125, 0.6325),
        ("Precision", {}, 0.5, 0.3),
        ("Recall", {"thresholds": [0.05, 0.9]}, [1.0, 0.5], [1.0, 0.3]),
        ("Precision", {"top_k": 1, "class_id": 1}, 0.5, 0.3),
        ("TrueNegatives", {}, 3.0, 1.3),
        ("SensitivityAtSpecificity", {"specificity": 0.5}, 1.0, 0.3),
        ("PrecisionAtRecall", {"recall": 0.5}, 1.0, 0.41666666),
        ("Poisson", {}, 0.72564626, 0.8757323),
        ("LogCoshError", {}, 0.10967913, 0.15321758),
        ("F1Score", {}, [0.0, 0.66666657, 0.0], [0.0, 0.46153834, 0.0]),
        ("F1Score", {"average": "micro", "threshold": 0.5}, 0.49999994, 0.29999992),
        ("FBetaScore", {"beta": 2.0, "average": "weighted"}, 0.4166666, 0.2045454),
        (
            "IoU",
            {
                "num_classes": 3,
                "target_class_ids": [1, 2],
                "sparse_y_true": False,
                "sparse_y_pred": False,
            },
            0.25,
            0.15,
        ),
    ],
)
def test_metrics_count_as_those_of_tensorflow(name, arguments, result, weighted):
    # the numbers are those of TensorFlow 2.21
    metric = getattr(keras.metrics, name)(**arguments)
    metric.update_state(Y, P)
    np.testing.assert_allclose(metric.result(), result, rtol=1e-5)
    again = type(metric).from_config(metric.get_config())
    again.update_state(Y, P, sample_weight=[0.3, 0.7])
    np.testing.assert_allclose(again.result(), weighted, rtol=1e-5)
    again.reset_state()
    assert again.variables and not any(np.any(variable) for variable in again.variables)


def test_the_largest_predictions_are_the_first_of_equal_ones_and_above_the_threshold():
    two = keras.metrics.Precision(top_k=2)
    two.update_state([0, 0, 1, 1], [1, 1, 1, 1])
    assert float(two.result()) == 0
    above = keras.metrics.Precision(top_k=2, thresholds=0.5)
    above.update_state([1, 0, 0], [0.4, 0.9, 0.1])
    assert float(above.result()) == 0


def test_areas_and_overlaps():
    pr = keras.metrics.AUC(curve="PR")
    pr.update_state([0, 0, 1, 1], [0, 0.5, 0.3, 0.9])
    np.testing.assert_allclose(pr.result(), 0.7972973, rtol=1e-4)
    iou = keras.metrics.MeanIoU(num_classes=2)
    assert float(iou([0, 0, 1, 1], [0, 1, 0, 1])) == pytest.approx(1 / 3)
    second = keras.metrics.IoU(2, [1], ignore_class=0)
    assert float(second([0, 0, 1, 1], [0, 1, 0, 1])) == pytest.approx(1 / 2)
    assert float(keras.metrics.BinaryIoU()([0, 1], [0.4, 0.6])) == 1
    with pytest.raises(ValueError, match="Target class id 3 is out of range"):
        keras.metrics.IoU(2, [3])
    with pytest.raises(ValueError, match="expects 2D inputs"):
        keras.metrics.F1Score()([0, 1], [0.4, 0.6])
    assert [v.path for v in keras.metrics.Mean(name="m").variables] == ["m/total", "m/count"]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("Nadam", [0.6297535, -1.6160498, 2.6118612]), ("Lion", [0.4999999, -1.4999999, 2.5])],
)
def test_optimizers_step_as_those_of_tensorflow(name, wanted):
    # the numbers are those of TensorFlow 2.21
    rule = getattr(keras.optimizers, name)(0.1)
    weight = tf.Variable([1.0, -2.0, 3.0])
    for _ in range(5):
        rule.apply_gradients([(weight * tf.constant([2.0, 0.2, 4.0]), weight)])
    np.testing.assert_allclose(weight, wanted, rtol=1e-5)
    plain = keras.optimizers.SGD(0.1)
    plain.build([weight])
    assert len(plain.variables) == 2  # without momentum nothing is kept


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("Lamb(0.1)", [0.32424, -1.99352, 0.76165, 2.42851, 0.5445]),
        ("Adafactor(0.5)", [-2.19058, -2.80577, 0.81402, 1.44051, 0.23519]),
        (
            "Adafactor(0.5, relative_step=False, clip_threshold=0.5)",
            [-0.6725, -2.49196, 0.58503, 2.28115, 0.35156],
        ),
        ("Ftrl(0.1)", [-0.1214, -0.31189, 0.13071, 0.98768, 0.07522]),
        (
            "Ftrl(0.1, -0.3, 0.2, 0.2, 0.1, 0.05, 0.2)",
            [-0.10786, -0.01657, 0.0, 0.19186, 0.01869],
        ),
    ],
)
def test_optimizers_that_look_at_the_weight_step_as_those_of_tensorflow(call, wanted):
    # the numbers are those of TensorFlow 2.21
    rule = eval(call, vars(keras.optimizers))
    weight, bias = tf.Variable([[1.0, -2.0], [0.5, 3.0]]), tf.Variable([0.5])
    for g in ([[0.1, 0.2], [-0.3, 0.4]], [[1.0, -1.0], [0.0, 2.0]], [[0.5, 0.5], [0.5, -0.5]]):
        rule.apply_gradients([(tf.constant(g), weight), (tf.constant([g[0][1]]), bias)])
    np.testing.assert_allclose(np.append(weight, bias), wanted, atol=2e-5)
    again = type(rule).from_config(rule.get_config())
    assert again.get_config() == rule.get_config()


def test_a_step_of_training_gets_inputs_alone_as_they_are():
    class Model(keras.Model):
        def train_step(self, data):
            seen.append(data)
            return {"loss": 0.0}

    seen, model = [], Model()
    model.compile("sgd")
    model.fit(X, verbose=0)
    model.fit({"a": X}, verbose=0)
    model.fit([X, X], verbose=0)
    assert seen[0].shape == (4, 1)
    assert seen[1].keys() == {"a"}
    assert isinstance(seen[2], tuple)
    assert len(seen[2]) == 1


def test_a_mean_without_an_ignored_class_and_names_of_metrics():
    loss = tf.keras.losses.SparseCategoricalCrossentropy(ignore_class=2)
    shown = loss([0, 2], [[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]])
    assert np.allclose(shown, np.log(2))
    tf.keras.backend.clear_session()
    kinds = tf.keras.metrics
    names = [kind().name for kind in (kinds.AUC, kinds.AUC, kinds.Mean, kinds.Mean)]
    assert names == ["auc", "auc_1", "mean", "mean"]


def test_shapes_that_do_not_fit_and_limits_that_exclude_each_other_are_refused():
    with pytest.raises(ValueError, match="must have the same shape"):
        tf.keras.losses.BinaryCrossentropy()([[0.0], [1.0]], [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ValueError, match="Only one of"):
        tf.keras.optimizers.SGD(clipnorm=1.0, clipvalue=1.0)


def test_metrics_of_functions_leave_out_what_the_mask_hides():
    target, mask = np.array([[1, 0], [1, 0]]), tf.constant([[True, False], [True, True]])

    def predicted():
        found = tf.constant([[[0.1, 0.9], [0.2, 0.8]], [[0.7, 0.3], [0.6, 0.4]]])
        found._keras_mask = mask
        return found

    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    accuracy.update_state(target, predicted())
    assert float(accuracy.result()) == pytest.approx(2 / 3)
    accuracy.reset_state()
    accuracy.update_state(target, predicted(), sample_weight=np.array([[3.0, 1.0], [1.0, 2.0]]))
    assert float(accuracy.result()) == pytest.approx(5 / 6)
    own = tf.keras.metrics.MeanMetricWrapper(lambda y, p: tf.reduce_sum(p, -1) * 2.0)
    own.update_state(target, predicted())
    assert [float(variable) for variable in own.variables] == [3.0, 1.5]


def test_means_count_each_example_once():
    mean = tf.keras.metrics.Mean()
    mean.update_state(np.ones((2, 3)))
    mean.update_state(np.zeros((2, 1)))
    assert float(mean.result()) == 0.5
    weighted = tf.keras.metrics.MeanSquaredError()
    weighted.update_state(np.zeros((2, 2, 1)), [[[1.0], [3.0]], [[0.0], [2.0]]], [1.0, 3.0])
    assert float(weighted.result()) == pytest.approx((5 + 3 * 2) / 4)
    total = tf.keras.metrics.Sum()
    total.update_state(np.ones((2, 3)), [2.0, 1.0])
    assert [float(variable) for variable in total.variables] == [9.0]


def _linear(outputs=1):
    model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(outputs)])
    for weight in model.weights:
        weight.assign(np.linspace(-1.0, 1.0, weight.numpy().size).reshape(weight.numpy().shape))
    return model


def test_metrics_are_named_as_asked_and_once():
    model = _linear()

    def spread(y_true, y_pred):
        return tf.reduce_max(y_pred, -1) - tf.reduce_min(y_pred, -1)

    plain, weighted = ["AUC", "mse", spread, lambda y, p: p[:, 0]], ["mse", "mae"]
    model.compile("sgd", "mse", metrics=plain, weighted_metrics=weighted)
    x, y, weight = np.eye(2), np.array([[0.0], [1.0]]), np.array([3.0, 1.0])
    found = model.evaluate(x, y, sample_weight=weight, verbose=0, return_dict=True)
    assert sorted(found) == ["AUC", "lambda", "loss", "mae", "mse", "spread", "weighted_mse"]
    errors = (model.predict(x, verbose=0) - y)[:, 0] ** 2
    assert found["mse"] == pytest.approx(errors.mean(), rel=1e-6)
    assert found["weighted_mse"] == pytest.approx((errors * weight).sum() / 4, rel=1e-6)


def test_metrics_of_outputs_begin_with_their_names():
    entry = tf.keras.Input((2,))
    parts = {name: tf.keras.layers.Dense(1, name=name)(entry) for name in ("a", "b")}
    model = tf.keras.Model(entry, parts)
    given = {"a": np.ones((4, 1)), "b": np.zeros((4, 1))}
    metrics = {"a": ["mse"], "b": ["mse"]}
    for _ in range(2):
        model.compile("sgd", "mse", metrics=metrics, weighted_metrics=metrics)
        found = model.evaluate(np.ones((4, 2)), given, verbose=0, return_dict=True)
    names = [f"{o}_{m}" for o in "ab" for m in ("loss", "mse", "weighted_mse")]
    assert sorted(found) == sorted([*names, "loss"])
    with pytest.raises(ValueError, match="`loss_weights` must match the number of losses"):
        model.compile("sgd", "mse", loss_weights={"a": 0.3})
        model.evaluate(np.ones((4, 2)), given, verbose=0)


def test_best_classes_of_sequences():
    scores = np.array([[[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]]], np.float32)
    found = tf.keras.metrics.sparse_top_k_categorical_accuracy([[1, 2]], scores, k=2)
    assert found.numpy().tolist() == [[1.0, 0.0]]


def test_metrics_given_to_compile_are_one_metric_that_leaves_weights_out():
    class Weighed(keras.Model):
        def train_step(self, data):
            x, y, weight = data
            prediction = self(x, training=True)
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(self.compute_loss(x, y, prediction, weight))
                else:
                    metric.update_state(y, prediction, sample_weight=weight)
            return {metric.name: metric.result() for metric in self.metrics}

    inputs = keras.Input((1,))
    model = Weighed(inputs, keras.layers.Dense(1, kernel_initializer="ones")(inputs))
    model.compile("sgd", "mse", metrics=["mae"])
    assert model.metrics_names == ["loss", "compile_metrics"]
    found = model.fit(X, 0 * X, sample_weight=np.float32([1, 0, 0, 0]), verbose=0).history
    assert found == {"loss": [pytest.approx(1 / 4)], "mae": [pytest.approx(3.0)]}


def test_a_loss_that_only_layers_add_is_reported():
    model = line(activity_regularizer="l1")
    model.compile("sgd")
    assert model.fit(X, verbose=0).history == {"loss": [pytest.approx(0.01 * 12 / 4)]}


# the numbers are those of Keras 3
MEANS = {
    "SGD(0.1, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2)": [0.625, -1.625],
    "Adam(0.1, gradient_accumulation_steps=2)": [0.813898, -2.05058],
    "SGD(0.1, momentum=0.9, gradient_accumulation_steps=2, use_ema=True, "
    "ema_overwrite_frequency=1, ema_momentum=0.5)": [0.90125, -1.9975],
    "SGD(0.1, loss_scale_factor=4.0)": [0.875, -1.875],
    "RMSprop(schedules.ExponentialDecay(0.1, 1, 0.5), gradient_accumulation_steps=2)": [
        0.803052,
        -2.120424,
    ],
}


@pytest.mark.parametrize("call", MEANS)
def test_means_of_weights_and_of_gradients(call):
    optimizer = eval(call, vars(keras.optimizers) | {"schedules": keras.optimizers.schedules})
    weight = tf.Variable([1.0, -2.0])
    for i in range(5):
        optimizer.apply_gradients([(tf.constant([0.5 * i, 1.0 - i]), weight)])
    np.testing.assert_allclose(weight, MEANS[call], rtol=1e-5)
    again = type(optimizer).from_config(optimizer.get_config())
    assert again.get_config() == optimizer.get_config()


def test_fit_ends_with_the_means_of_the_weights():
    model = line()
    model.compile(keras.optimizers.SGD(0.01, use_ema=True, ema_momentum=0.5), "mse")
    seen = []
    keep = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: seen.append(model.get_weights()[0][0, 0])
    )
    model.fit(X, 0 * X, batch_size=2, shuffle=False, callbacks=[keep], verbose=0)
    assert model.get_weights()[0][0, 0] == pytest.approx(sum(seen) / 2)


@pytest.mark.parametrize(
    "wrong", [{"ema_momentum": 2.0, "use_ema": True}, {"gradient_accumulation_steps": 1}]
)
def test_means_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        keras.optimizers.SGD(**wrong)


LABELS = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 0], [1, 1, 0]])
SCORES = np.array([[0.2, 0.6, 0.3], [0.7, 0.1, 0.4], [0.8, 0.5, 0.9], [0.3, 0.45, 0.2]])


@pytest.mark.parametrize(
    ("settings", "area"),
    [
        ({"multi_label": True}, 0.761111),
        ({"multi_label": True, "label_weights": [1.0, 2.0, 3.0], "curve": "PR"}, 0.762169),
        ({"multi_label": True, "num_labels": 3, "summation_method": "majoring"}, 0.777778),
        ({"label_weights": [1.0, 2.0, 3.0]}, 0.755682),
    ],
)
def test_areas_of_several_labels(settings, area):
    metric = keras.metrics.AUC(num_thresholds=11, **settings)
    metric.update_state(LABELS, SCORES, np.array([1.0, 2.0, 0.5, 1.0]))
    assert float(metric.result()) == pytest.approx(area, rel=1e-5)


def test_variables_of_keras_have_their_value_without_a_call():
    class Largest(keras.metrics.Metric):
        def __init__(self):
            super().__init__(name="largest")
            self.most = self.add_variable((), "zeros", name="most")

        def update_state(self, y, prediction, sample_weight=None):
            classes = keras.ops.one_hot(y, 3)  # of labels as floats
            self.most.assign(
                keras.ops.maximum(self.most.value, keras.ops.max(classes * prediction))
            )

        def result(self):
            return self.most.value

    metric = Largest()
    metric.update_state(np.float32([2.0]), np.float32([[9.0, 8.0, 7.0]]))
    assert float(metric.result()) == 7.0


def test_schedules_take_several_steps_at_once():
    steps = np.array([0, 1, 3, 5, 20])
    schedules = keras.optimizers.schedules
    for schedule in (
        schedules.CosineDecay(1.0, 10, warmup_target=2.0, warmup_steps=4),
        schedules.CosineDecayRestarts(1.0, 2),
        schedules.ExponentialDecay(1.0, 2, 0.5, staircase=True),
        schedules.InverseTimeDecay(1.0, 2, 0.5),
        schedules.PiecewiseConstantDecay([1, 5], [3.0, 2.0, 1.0]),
        schedules.PolynomialDecay(1.0, 3, cycle=True),
    ):
        np.testing.assert_array_equal(schedule(steps), [float(schedule(step)) for step in steps])


def test_a_loss_that_is_given_as_a_metric_keeps_its_name():
    model = line()
    model.compile("sgd", "mse", metrics=[keras.losses.MeanSquaredError(name="squares")])
    found = model.evaluate(X, X, verbose=0, return_dict=True)
    assert found.keys() == {"loss", "squares"}


def test_metrics_of_predictions_that_are_no_numbers():
    # TensorFlow: a row with NaN has no largest ones; its largest one is the largest number
    kinds, nan = keras.metrics, np.nan
    predicted = [[nan, 0.5, 0.2], [0.1, 0.2, 0.7], [0.6, nan, 0.3]]
    assert float(kinds.CategoricalAccuracy()(np.eye(3), predicted)) == 0.0
    assert float(kinds.SparseCategoricalAccuracy()([1, 2, 0], predicted)) == 1.0
    third = pytest.approx(1 / 3)
    assert float(kinds.SparseTopKCategoricalAccuracy(k=2)([1, 2, 0], predicted)) == third
    assert float(kinds.TopKCategoricalAccuracy(k=3)(np.eye(3), predicted)) == third
    ranked = [[0.0, 1.0, 2.0]] * 3
    assert float(kinds.SparseTopKCategoricalAccuracy(k=2)([1, 7, -1], ranked)) == third


def test_thresholds_are_of_the_dtype_of_the_metric_and_even_ones_clip_predictions():
    # values of TensorFlow 2.21
    kinds = keras.metrics
    y, p = [0, 1, 0, 1, 1], [-2.0, -1.0, 0.3, 0.9, 7.0]
    assert float(kinds.AUC()(y, p)) == pytest.approx(0.75)
    assert float(kinds.AUC(curve="PR")(y, p)) == pytest.approx(0.87590218)
    assert float(kinds.AUC(thresholds=[0.5])(y, p)) == pytest.approx(0.83333337)
    assert float(kinds.AUC(thresholds=[0.3])(y, p)) == pytest.approx(1 / 3)
    assert float(kinds.SensitivityAtSpecificity(0.9)(y, p)) == pytest.approx(2 / 3)
    assert kinds.Precision(thresholds=[0.3, 0.9])(y, p).numpy().tolist() == [1.0, 1.0]
    recall = kinds.Recall(thresholds=[0.3, 0.9])(y, p)
    np.testing.assert_allclose(recall, [2 / 3, 1 / 3], rtol=1e-6)


def test_a_loss_of_one_number_is_not_divided_by_weights():
    dice = keras.losses.Dice(reduction="mean_with_sample_weight")
    assert float(dice([[1.0, 0.0]], [[0.5, 0.5]], sample_weight=0.5)) == 0.25


def test_the_coefficient_of_determination():
    y, p = np.arange(18.0).reshape(6, 3) % 7, np.arange(18.0).reshape(6, 3) % 5
    for more, wanted in (
        ({}, -0.86066246),
        ({"class_aggregation": None}, [-0.453416, 0.01428568, -2.142857]),
        ({"class_aggregation": "variance_weighted_average"}, -0.7290639),
        ({"num_regressors": 2}, -1.1087508),
    ):
        metric = keras.metrics.R2Score(**more)
        np.testing.assert_allclose(metric(y, p), wanted, rtol=2e-5)
    with pytest.warns(UserWarning, match="More independent predictors"):
        keras.metrics.R2Score(num_regressors=50)(y, p)
    weighted = keras.metrics.R2Score(
        class_aggregation="variance_weighted_average", num_regressors=1
    )
    weighted.update_state(
        [[1.0, 2.0], [4.0, 1.0], [3.0, 5.0]], [[2.0, 2.0], [4.0, 1.5], [4.0, 4.0]], [1.0, 2.0, 1.0]
    )
    assert float(weighted.result()) == pytest.approx(0.73880595)
    with pytest.raises(ValueError, match="expects 2D"):
        keras.metrics.R2Score()([1.0, 2.0], [1.0, 2.0])
    for wrong in ({"class_aggregation": "mean"}, {"num_regressors": -1}):
        with pytest.raises(ValueError, match="Invalid value for argument"):
            keras.metrics.R2Score(**wrong)


def test_a_layer_of_several_results_is_in_the_summary():
    class Two(keras.layers.Layer):
        def call(self, x):
            return x * 2, {"same": x}

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.two = Two()

        def call(self, x):
            return self.two(x)[0]

    model, lines = Model(), []
    model(np.ones([2, 4], np.float32))
    model.summary(line_length=140, print_fn=lines.append)
    assert "((None, 4), {same: (None, 4)})" in "".join(lines)
    inputs = keras.Input((4,))
    twice, rest = Two()(inputs)
    functional = keras.Model(inputs, {"both": twice + rest["same"]})
    assert functional(np.ones([2, 4], np.float32))["both"].numpy().tolist() == [[3.0] * 4] * 2


def test_a_layer_may_save_a_build_config_of_its_own(tmp_path):
    class Factor(keras.layers.Layer):
        def build(self, shape):
            self.factor = self.add_weight(shape=(), initializer="ones", name="factor")

        def call(self, x):
            return x * self.factor

        def get_build_config(self):
            return {"mine": 1}

    model = keras.Sequential([keras.Input((2,)), Factor()])
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras", custom_objects={"Factor": Factor})
    assert again(np.ones([1, 2], np.float32)).numpy().tolist() == [[1.0, 1.0]]


class _Heavy(keras.optimizers.Optimizer):
    """Momentum, in the manner of Keras's guides."""

    def __init__(self, learning_rate=0.1, share=0.5, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.share = share

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self.kept = [self.add_variable_from_reference(v, name="kept") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        kept = self.kept[self._get_variable_index(variable)]
        self.assign(kept, kept * self.share - learning_rate * gradient)
        self.assign_add(variable, kept)


def test_an_optimizer_of_ones_own_takes_its_steps():
    found = []
    for options in ({}, {"clipnorm": 0.1}, {"weight_decay": 0.1}):
        for made in (_Heavy, lambda **kw: keras.optimizers.SGD(0.1, momentum=0.5, **kw)):
            model = line()
            model.compile(made(**options), "mse")
            model.fit(X, 0 * X, epochs=3, batch_size=2, shuffle=False, verbose=0)
            found.append(model.get_weights()[0].ravel())
        np.testing.assert_allclose(found[-1], found[-2], rtol=1e-6)
    assert len({float(weight[0]) for weight in found[::2]}) == 3
    optimizer = _Heavy()
    optimizer.build(model.trainable_variables)
    assert len(optimizer.variables) == 4


def test_a_step_of_keras_may_be_changed():
    class Doubled(keras.optimizers.SGD):
        def update_step(self, gradient, variable, learning_rate):
            super().update_step(gradient * 2.0, variable, learning_rate)

    w = tf.Variable([1.0, 2.0])
    Doubled(0.1).apply([tf.constant([1.0, 0.5])], [w])
    np.testing.assert_allclose(w, [0.8, 1.9], rtol=1e-6)


def test_a_loss_that_a_model_computes_itself_is_evaluated():
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1, kernel_initializer="ones")

        def call(self, x):
            return self.dense(x)

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            return tf.reduce_mean(tf.abs(y_pred - y))

    model = Own()
    model.compile("sgd")
    assert model.evaluate(X, 0 * X, verbose=0) == pytest.approx(3.0)
