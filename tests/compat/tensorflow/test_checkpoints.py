"""Test checkpoints: objects by attribute names, restored immediately or later."""

import numpy as np
import pytest

import wengert.compat.tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first = tf.keras.layers.Dense(2)

    def call(self, x):
        return self.first(x)


def parts():
    net, optimizer = Net(), tf.keras.optimizers.Adam(0.1)
    data = iter(tf.data.Dataset.range(20).map(lambda i: tf.cast(i, tf.float32)).repeat())
    checkpoint = tf.train.Checkpoint(
        step=tf.Variable(0), net=net, optimizer=optimizer, iterator=data
    )
    return net, optimizer, data, checkpoint


def trained(net, optimizer, data, checkpoint, steps):
    for _ in range(steps):
        x = next(data)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(net(tf.reshape(x, (1, 1)) / 10.0) ** 2) + 0.1 * tf.reduce_sum(
                net.first.kernel**2
            )
        weights = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        checkpoint.step.assign_add(1)
    return [w.numpy() for w in net.weights]


def test_training_goes_on_where_it_was_left(tmp_path):
    first = parts()
    trained(*first, 5)
    manager = tf.train.CheckpointManager(first[3], tmp_path, max_to_keep=2)
    assert manager.save() == str(tmp_path / "ckpt-1") == manager.latest_checkpoint
    wanted = trained(*first, 4)
    second = parts()
    again = tf.train.CheckpointManager(second[3], tmp_path, max_to_keep=2)
    # weights and the state of the optimizer are there when they are made
    second[3].restore(again.latest_checkpoint).expect_partial()
    found = trained(*second, 4)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
    assert int(second[3].step) == 9
    assert int(second[1].iterations) == 9
    for _ in range(3):
        again.save()
    assert [path[-6:] for path in again.checkpoints] == ["ckpt-3", "ckpt-4"]
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "checkpoint",
        "ckpt-3.index",
        "ckpt-4.index",
    ]
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-4")


def test_names_lead_to_values_wherever_the_walk_begins(tmp_path):
    net, _, _, checkpoint = parts()
    net(tf.ones([1, 1]))
    net.first.bias.assign([3.0, 4.0])
    path = checkpoint.save(tmp_path / "c")
    reader = tf.train.load_checkpoint(tmp_path)
    key = "net/first/bias/.ATTRIBUTES/VARIABLE_VALUE"
    assert reader.get_variable_to_shape_map()[key] == [2]
    np.testing.assert_array_equal(tf.train.load_variable(path, key), [3.0, 4.0])
    bias = tf.Variable([0.0, 0.0])
    layer = tf.train.Checkpoint(bias=bias)
    status = tf.train.Checkpoint(net=tf.train.Checkpoint(first=layer)).restore(path)
    np.testing.assert_array_equal(bias, [3.0, 4.0])
    status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint: .*kernel"):
        status.assert_consumed()
    kernel = tf.Variable(tf.zeros([1, 2]))
    layer.kernel = kernel
    np.testing.assert_array_equal(kernel, net.first.kernel)
    layer.other = tf.Variable(1.0)
    with pytest.raises(AssertionError, match="Found 1 Python objects"):
        status.assert_existing_objects_matched()


def test_modules_lists_and_dicts_are_walked(tmp_path):
    class Held(tf.Module):
        pass

    one = Held()
    one.w = tf.Variable([1.0, 2.0])
    one.held = {"a": [tf.Variable(3.0), 5], "same": one.w}
    path = tf.train.Checkpoint(one).write(tmp_path / "w")
    # what several names lead to is kept once
    assert len(tf.train.list_variables(path)) == 2
    two = Held()
    status = tf.train.Checkpoint(two).read(path)
    two.w = tf.Variable([0.0, 0.0])
    np.testing.assert_array_equal(two.w, [1.0, 2.0])
    two.held = {"a": [tf.Variable(0.0)], "same": two.w}
    assert float(two.held["a"][0]) == 3.0
    status.assert_consumed()


def test_lists_and_dicts_that_grow_after_restoring_get_their_values(tmp_path):
    kept = {"a": [tf.Variable(1.0), tf.Variable(2.0)], "b": tf.Variable(3.0)}
    path = tf.train.Checkpoint(held=kept, own=[tf.Variable(4.0), tf.Variable(5.0)]).save(
        tmp_path / "c"
    )
    first = tf.Variable(0.0)
    checkpoint = tf.train.Checkpoint(own=[first])
    status = checkpoint.restore(path)
    assert float(first) == 4.0
    first.assign(9.0)
    checkpoint.own.append(tf.Variable(0.0))
    assert [float(v) for v in checkpoint.own] == [9.0, 5.0]  # each is restored once
    checkpoint.held = {}
    checkpoint.held["b"] = tf.Variable(0.0)
    checkpoint.held["a"] = []
    checkpoint.held["a"] += [tf.Variable(0.0)]
    checkpoint.held["a"].insert(1, tf.Variable(0.0))
    assert [float(v) for v in checkpoint.held["a"]] == [1.0, 2.0]
    assert float(checkpoint.held["b"]) == 3.0
    status.assert_consumed()


def test_a_folder_by_another_name_keeps_what_was_just_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("./kept", "kept/", "kept"):
        v = tf.Variable(0.0)
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), folder, max_to_keep=2)
        for number in (1.0, 2.0, 3.0):
            v.assign(number)
            manager.save()
        v.assign(0.0)
        manager.checkpoint.restore(manager.latest_checkpoint)
        assert float(v) == 3.0
        assert len(manager.checkpoints) == 2
        assert tf.train.latest_checkpoint(folder) == manager.latest_checkpoint


def test_errors_of_checkpoints(tmp_path):
    v = tf.Variable([1.0, 2.0])
    path = tf.train.Checkpoint(v=v).write(tmp_path / "c")
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        tf.train.Checkpoint(v=v).restore(tmp_path / "none")
    with pytest.raises(ValueError, match="incompatible tensor with shape"):
        tf.train.Checkpoint(v=tf.Variable([1.0])).read(path)
    with pytest.raises(ValueError, match="trackable object"):
        tf.train.Checkpoint(v=3)
    with pytest.raises(ValueError, match="max_to_keep"):
        tf.train.CheckpointManager(tf.train.Checkpoint(v=v), tmp_path, 0)
    with pytest.raises(AssertionError, match="matched a checkpointed value"):
        tf.train.Checkpoint(u=v).read(path).assert_nontrivial_match()
    assert tf.train.latest_checkpoint(tmp_path) is None
    tf.train.Checkpoint(v=v).restore(None)
