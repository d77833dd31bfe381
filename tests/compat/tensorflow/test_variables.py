"""Test `Variable` and `Module`: state, names, assignment, and errors."""

import copy
import pickle

import numpy as np
import pytest

import wengert.compat.tensorflow as tf

InvalidArgument = tf.errors.InvalidArgumentError


def test_variables_print_as_tensorflows():
    assert repr(tf.Variable(3.0)) == "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=3.0>"
    v = tf.Variable([1, 2], name="x")
    text = "<tf.Variable 'x:0' shape=(2,) dtype=int32, numpy=array([1, 2], dtype=int32)>"
    assert repr(v) == str(v) == text
    assert repr(tf.Variable(tf.zeros([2, 1]))).endswith(
        "numpy=\narray([[0.],\n       [0.]], dtype=float32)>"
    )


def test_initial_values_may_be_anything_that_becomes_a_tensor():
    assert tf.Variable(lambda: tf.ones([2])).numpy().tolist() == [1.0, 1.0]
    assert tf.Variable(1, dtype=tf.float32).dtype is tf.float32
    first = tf.Variable([1.0, 2.0])
    second = tf.Variable(first)
    first.assign([5.0, 6.0])
    assert second.numpy().tolist() == [1.0, 2.0]
    array = np.array([1.0, 2.0])
    third = tf.Variable(array)
    array[0] = 9.0
    assert third.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"^The `initial_value` arg to `tf.Variable` must be"):
        tf.Variable()
    with pytest.raises(ValueError, match=r"^initial_value: Tensor conversion requested dtype"):
        tf.Variable(tf.constant(1.0), dtype=tf.float64)


def test_attributes():
    v = tf.Variable([1.0], trainable=False, name="v", constraint=abs)
    assert (v.name, v.trainable, v.constraint) == ("v:0", False, abs)
    assert v.dtype is tf.float32
    assert v.shape == v.get_shape() == (1,)
    assert v.ndim == 1
    assert v.device.endswith("CPU:0")
    assert v.synchronization is tf.VariableSynchronization.AUTO
    assert v.aggregation is tf.VariableAggregation.NONE
    assert bool(v.is_initialized())
    assert type(v).__name__ == "ResourceVariable"
    assert isinstance(v.assign([2.0]), tf.Variable)


def test_assignments_return_a_handle_of_the_same_variable():
    v = tf.Variable([1.0, 2.0])
    handle = v.assign_add([1.0, 1.0])
    text = "<tf.Variable 'UnreadVariable' shape=(2,) dtype=float32, numpy=array([2., 3.], "
    assert repr(handle).startswith(text)
    handle.assign_sub([2.0, 2.0])
    assert v.numpy().tolist() == [0.0, 1.0]
    assert v.assign([1, 2], read_value=False) is None
    assert v.assign(np.array([1.5, 2.0])).numpy().tolist() == [1.5, 2.0]


def test_a_gradient_by_a_handle_is_one_by_the_variable():
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v.assign_add(1.0) * v
    assert tape.gradient(y, v).numpy() == 8.0


def test_tensors_that_were_read_keep_their_values():
    v = tf.Variable([1.0, 2.0])
    read, array = v.read_value(), v.numpy()
    v.assign([5.0, 6.0])
    v[0].assign(7.0)
    assert read.numpy().tolist() == array.tolist() == [1.0, 2.0]
    assert v.numpy().tolist() == [7.0, 6.0]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda v: v.assign([1.0, 2.0, 3.0]), ValueError, "^Cannot assign value to variable ' "),
        (lambda v: v.assign(tf.ones(2, tf.float64)), ValueError, "^Tensor conversion requested"),
        (lambda v: v.assign_add(1.0), InvalidArgument, r"^Cannot update variable with shape \[2\]"),
        (lambda v: v.assign_sub(tf.ones(2, tf.int32)), ValueError, "^Tensor conversion requested"),
        (lambda v: v.__iadd__(1.0), RuntimeError, r"^`variable \+= value` with `tf.Variable`s"),
        (lambda v: v.__setitem__(0, 1.0), AttributeError, "has no attribute '__setitem__'"),
        (lambda v: hash(v), TypeError, "^Variable is unhashable. Instead, use variable.ref"),
        (lambda v: len(v), TypeError, "has no len"),
        (lambda v: v.initial_value, RuntimeError, "not supported when eager execution"),
        (lambda v: v.scatter_add([1.0]), TypeError, "^sparse_delta is not IndexedSlices"),
    ],
)
def test_refusals_leave_the_value_alone(call, error, match):
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(error, match=match):
        call(v)
    assert v.numpy().tolist() == [1.0, 2.0]


def test_a_shape_that_is_not_known_lets_values_of_any_shape_in():
    v = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))
    assert "shape=<unknown>" in repr(v)
    v.assign([[1.0]])
    assert v.numpy().tolist() == [[1.0]]
    with pytest.raises(ValueError, match="are incompatible"):
        tf.Variable([1.0], shape=[None, None])


def test_operators_and_functions_take_variables():
    v = tf.Variable([1.0, 4.0])
    assert (v + 1.0).numpy().tolist() == [2.0, 5.0]
    assert (2.0 / v).numpy().tolist() == [2.0, 0.5]
    assert (v * v == [1.0, 16.0]).numpy().all()
    assert tf.sqrt(v).numpy().tolist() == [1.0, 2.0]
    assert np.sqrt(v).tolist() == [1.0, 2.0]
    assert [part.numpy() for part in v] == [1.0, 4.0]
    assert v[1].numpy() == 4.0
    assert float(tf.Variable(2.5)) == 2.5
    assert (-v).numpy().tolist() == [-1.0, -4.0]
    assert isinstance(v + v, tf.Tensor)


def test_scatters():
    v = tf.Variable([1.0, 2.0, 3.0])
    v.scatter_add(tf.IndexedSlices([10.0, 10.0], [0, 0]))
    assert v.numpy().tolist() == [21.0, 2.0, 3.0]
    v.scatter_update(tf.IndexedSlices([5.0], [2]))
    v.scatter_nd_add([[1]], [1.0])
    v.scatter_max(tf.IndexedSlices([4.0], [1]))
    assert v.numpy().tolist() == [21.0, 4.0, 5.0]
    assert v.sparse_read([2, 0]).numpy().tolist() == [5.0, 21.0]
    assert v.gather_nd([[1], [1]]).numpy().tolist() == [4.0, 4.0]
    w = tf.Variable(tf.zeros([2, 2]))
    w.batch_scatter_update(tf.IndexedSlices([[1.0], [2.0]], [[0], [1]]))
    assert w.numpy().tolist() == [[1.0, 0.0], [0.0, 2.0]]


def test_copies_are_variables_of_their_own():
    v = tf.Variable([1.0], name="v", trainable=False)
    for other in (copy.copy(v), copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        assert repr(other) == repr(v)
        assert other.trainable is False
        other.assign([2.0])
        assert v.numpy().tolist() == [1.0]
    assert v.ref() == v.ref()
    assert {v.ref(): 1}[v.ref()] == 1


def test_name_scopes_stand_before_names():
    with tf.name_scope("outer"), tf.name_scope("inner") as scope:
        v = tf.Variable(1.0, name="w")
    assert scope == "outer/inner/"
    assert v.name == "outer/inner/w:0"
    assert tf.Variable(1.0).name == "Variable:0"
    with pytest.raises(ValueError, match="not a valid scope name"):
        tf.name_scope("a b")


class Dense(tf.Module):
    def __init__(self, width, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.ones([2, width]), name="w")
        self.b = tf.Variable(tf.zeros([width]), name="b", trainable=False)

    def __call__(self, x):
        return x @ self.w + self.b


class TwoLayers(tf.Module):
    def __init__(self):
        super().__init__()
        with self.name_scope:
            self.layers = [Dense(2), {"last": Dense(1, name="last")}]
        self.again = self.layers[0]

    def __call__(self, x):
        return self.layers[1]["last"](self.layers[0](x))


def test_modules_know_their_variables_in_the_order_of_attributes():
    model = TwoLayers()
    assert model.name == "two_layers"
    names = [v.name for v in model.variables]
    assert names == ["two_layers/b:0", "two_layers/w:0", "two_layers/b:0", "two_layers/w:0"]
    assert len(model.trainable_variables) == 2
    assert len(model.non_trainable_variables) == 2
    assert [m.name for m in model.submodules] == ["dense", "last"]
    with pytest.raises(ValueError, match="is not a valid module name"):
        tf.Module(name="a b")


def test_gradients_by_the_variables_of_a_module():
    model = TwoLayers()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(tf.constant([[1.0, 2.0]])))
    first, last = tape.gradient(loss, model.trainable_variables)
    assert first.numpy().tolist() == [[1.0, 1.0], [2.0, 2.0]]
    assert last.numpy().tolist() == [[3.0], [3.0]]


def test_methods_may_run_in_the_scope_of_their_module():
    class Lazy(tf.Module):
        @tf.Module.with_name_scope
        def build(self):
            self.w = tf.Variable(1.0, name="w")

    module = Lazy(name="lazy")
    module.build()
    assert module.w.name == "lazy/w:0"
