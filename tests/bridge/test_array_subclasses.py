"""Test that subclasses of NumPy's array with their own operators are refused by name."""

import pickle
import warnings

import numpy as np
import pytest

import wengert as wg
import wengert.compat.autograd as hips
import wengert.compat.autograd.numpy as anp
import wengert.compat.jax.numpy as jnp
import wengert.compat.mxnet as mx
import wengert.compat.tensorflow as tf
import wengert.numpy as wnp

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    MATRIX = np.matrix([[1.0, 2.0], [3.0, 4.0]])
MASKED = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[True, False], [False, False]])


class Metres(np.ndarray):
    def __array_ufunc__(self, *args, **kwargs):
        raise AssertionError("not to be asked")


METRES = np.ones((2, 2)).view(Metres)
ENTRIES = {
    "tensor": wg.tensor,
    "as_tensor": wg.as_tensor,
    "from_numpy": wg.from_numpy,
    "product": lambda a: wg.ones(2, 2, requires_grad=True) * a,
    "matrix product": lambda a: wg.ones(2, 2, requires_grad=True) @ a,
    "NumPy's function": lambda a: np.multiply(wg.ones(2, 2, requires_grad=True), a),
    "where": lambda a: wg.where(wg.ones(2, 2) > 0, wg.ones(2, 2), a),
    "in place": lambda a: wg.ones(2, 2).mul_(a),
}
CONSTRUCTORS = {
    "wengert.numpy": wnp.array,
    "jax": jnp.asarray,
    "jax, in a list": lambda a: jnp.asarray([a, a]),
    "jax, a number": lambda a: jnp.ones(3).at[0].set(a[0, 0]),
    "jax.numpy.full": lambda a: jnp.full((2, 2), a),
    "jax.numpy.stack": lambda a: jnp.stack([np.ones((2, 2)), a]),
    "mxnet": mx.nd.array,
    "mxnet, in a list": lambda a: mx.nd.array([a, a]),
    "mxnet.np": mx.np.array,
    "tensorflow": tf.constant,
    "tensorflow, of a type": lambda a: tf.constant(a, tf.float32),
    "tensorflow, in a list": lambda a: tf.constant([a, a]),
    "tensorflow, a number": lambda a: tf.constant([1.0, a[0, 0]]),
    "tf.convert_to_tensor": tf.convert_to_tensor,
    "tf.Variable": tf.Variable,
    "tf.Variable.assign": lambda a: tf.Variable(np.ones((2, 2))).assign(a),
    "tf.reduce_sum": tf.reduce_sum,
    "tf.stack": lambda a: tf.stack([np.ones((2, 2)), a]),
    "tf product": lambda a: tf.ones((2, 2), tf.float64) * a,
    "tf reflected product": lambda a: a * tf.ones((2, 2), tf.float64),
    "autograd": anp.array,
    "autograd, by name": lambda a: anp.array(object=a),
    "autograd, in a list": lambda a: anp.array([a, a]),
    "autograd, inside": lambda a: hips.grad(lambda x: anp.sum(x * anp.array(a)))(np.ones((2, 2))),
    "autograd, with a box": lambda a: hips.grad(lambda x: anp.sum(anp.array([x, a])))(np.ones(())),
    "autograd.numpy.asarray": anp.asarray,
    "autograd.numpy.copy": anp.copy,
    "autograd.grad": lambda a: hips.grad(anp.sum)(a),
    "autograd.grad, in a list": lambda a: hips.grad(lambda x: anp.sum(x[0]))([a]),
    "autograd.make_jvp": lambda a: hips.make_jvp(anp.sum)(a)(np.ones((2, 2))),
    "copy_": lambda a: wg.zeros(2, 2).copy_(a),
    "setitem": lambda a: wg.zeros(2, 2).__setitem__(0, a[0]),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("array", [MATRIX, MASKED, METRES], ids=["matrix", "masked", "units"])
def test_arrays_with_operators_of_their_own_are_refused(entry, array):
    with pytest.raises(TypeError, match=f"but got .*{type(array).__name__}, whose operators"):
        ENTRIES[entry](array)


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_what_makes_an_array_takes_no_mask(name):
    with pytest.raises(TypeError, match="its mask would be lost"):
        CONSTRUCTORS[name](MASKED)


def test_a_matrix_may_be_made_an_array_in_so_many_words():
    assert wnp.array(MATRIX).tolist() == MATRIX.tolist()


def test_a_file_in_memory_is_an_array(tmp_path):
    mapped = np.memmap(tmp_path / "file", dtype="f4", mode="w+", shape=3)
    mapped[:] = 2.0
    x = wg.ones(3, requires_grad=True)
    (x * mapped).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0] and wg.tensor(mapped).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    "make",
    [wnp.array, wnp.asarray, wnp.reshape, wnp.atleast_2d, jnp.asarray, mx.np.array, tf.constant],
)
def test_tensors_have_the_byte_order_of_the_machine(make):
    swapped = np.array([1.0, 2.0]).astype(np.dtype(float).newbyteorder("S"))
    args = (swapped, (2, 1)) if make is wnp.reshape else (swapped,)
    made = make(*args)
    assert made._payload.dtype.isnative
    restored = pickle.loads(pickle.dumps(made))
    assert np.asarray(restored).ravel().tolist() == [1.0, 2.0]
    assert wnp.zeros(2, dtype=swapped.dtype).dtype.isnative
