"""Typical mistakes, one per line: a type checker must report every line with a comment."""

import wengert as torch
import wengert.compat.jax.numpy as jnp
import wengert.compat.tensorflow as tf
import wengert.nn.functional as F
from wengert import Tensor, nn, optim
from wengert.compat.mxnet import gluon, nd
from wengert.compat.tensorflow import keras
from wengert.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear("3", 4)  # a size in quotes
        self.norm = nn.LayerNorm(4, epsilon=1e-6)  # it is called eps
        self.drop = nn.DropOut(0.5)  # a name in other capitals

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.first(x), in_place=True)  # it is called inplace
        return self.norm(x, 1)  # an argument too many


def train(model: Net, x: Tensor, y: Tensor) -> float:
    optimizer = optim.SGD(model, lr=0.1)  # a module, not its parameters
    optimizer = optim.Adam(model.parameters(), learning_rate=0.1)  # it is called lr
    other = optim.SGD(model.parameters(), lr="0.1")  # a rate in quotes
    optimizer.zero_grads()  # it is called zero_grad
    loss: Tensor = nn.CrossEntropyLoss(reduction=1)(model(x), y)  # a reduction by number
    loss = F.mse_loss(model(x))  # nothing to compare with
    loss.backwards()  # it is called backward
    other.step(loss)  # a loss, not a closure
    x.grad.zero_()  # there may be no gradient
    torch.sinn(x)  # a name with a letter too many
    torch.zeros(2, "3")  # a size in quotes
    torch.ones(2, dtype="float32")  # a dtype in quotes
    x.sum(dimm=0)  # an argument that there is not
    x.sum(dim="rows")  # a dimension by name
    x.reshape("2, 3")  # sizes in quotes
    x.view(2.0, 3.0)  # sizes that are fractions
    values: Tensor = x.max(dim=0)  # a pair, not a tensor
    first, second, third = x.max(dim=0)  # a pair, not three
    torch.cat(x, y, dim=0)  # tensors that are not in a list
    x.size(0).sum()  # an int has no sum
    x + "1"  # a tensor and a string
    x["first"]  # no index
    torch.nn.functional.softmax(x, axis=1)  # it is called dim
    DataLoader(TensorDataset(x, y), batchsize=2)  # it is called batch_size
    model.paramters()  # a letter too few
    model("text")  # a string where a tensor goes
    print(torch.linalg.svd(x).V)  # it is Vh
    with torch.no_grad:  # not called
        pass
    name: str = x.shape  # a size is not a string
    print(values, first, second, third, name)
    return loss  # a tensor, not a number


def arrays() -> None:
    x = jnp.ones((2, 3), dtype=jnp.float32)
    jnp.mean(x, dim=1)  # it is called axis
    jnp.sum("x")  # a string where an array goes
    x.sum(keepdim=True)  # it is called keepdims
    print(x.sizes)  # a letter too many
    x[0] = 1.0  # arrays are immutable
    jnp.sin(x, x)  # an argument too many
    shape: str = x.shape  # a tuple is not a string
    print(shape)


def tapes() -> None:
    x = tf.ones((2, 3), dtype=tf.float32)
    tf.reduce_mean(x, dim=1)  # it is called axis
    tf.math.cumsum(x, reversed=True)  # it is called reverse
    x.sum()  # tensors have no such method
    print(x.sizes)  # a letter too many
    x[0] = 1.0  # tensors are immutable
    x + "1"  # a tensor and a string
    shape: str = x.shape  # a shape is not a string
    v = tf.Variable(1.0, trainabel=True)  # two letters in the wrong order
    v.asign(2.0)  # a letter too few
    with tf.GradientTape(persistant=True) as tape:  # an a for an e
        y = v * v
    tape.gradients(y, v)  # it is called gradient
    print(shape)


def models() -> None:
    keras.layers.Dense(3, activaton="relu")  # a letter too few
    keras.layers.Dense("3")  # a size in quotes
    keras.layers.DropOut(0.5)  # a name in other capitals
    keras.optimizers.Adam(lr=0.1)  # it is called learning_rate
    keras.losses.Huber(epsilon=0.1)  # it is called delta
    m = keras.Sequential([])
    m.compile(optimiser="sgd")  # a letter for another
    m.fit(1, 2, epoch=2)  # it is called epochs
    gluon.nn.Dense(3, activaton="relu")  # a letter too few
    gluon.loss.L3Loss()  # there is no such loss
    nd.sum(nd.ones(2), dim=0)  # it is called axis
