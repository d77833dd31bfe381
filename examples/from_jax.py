"""A program for JAX, run with another import, and rewritten in wengert's own style.

The original: a small network with its parameters in a list of dictionaries, the gradient of the
loss as a function, and a compiled update that builds new parameters::

    import jax
    import jax.numpy as jnp

    def predict(params, x):
        for layer in params[:-1]:
            x = jnp.tanh(jnp.dot(x, layer["w"]) + layer["b"])
        return jnp.dot(x, params[-1]["w"]) + params[-1]["b"]

    def loss(params, x, y):
        return jnp.mean((predict(params, x) - y) ** 2)

    @jax.jit
    def update(params, x, y):
        grads = jax.grad(loss)(params, x, y)
        return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)

    per_example = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(params, x, y)

Under `wengert.compat.jax` only the import lines change. In wengert's own style, `wengert.func` has
the same transforms under the same names, and `update` changes the parameters in place.
"""

import numpy

import wengert as wg
import wengert.compat.jax as jax
import wengert.compat.jax.numpy as jnp


def data():
    """Return points of a sine, and initial parameters, as NumPy arrays."""
    rng = numpy.random.default_rng(0)
    x = numpy.linspace(-2, 2, 64, dtype=numpy.float32)[:, None]
    start = [
        {"w": rng.normal(0, 0.8, (n, m)).astype("float32"), "b": numpy.zeros(m, "float32")}
        for n, m in ((1, 16), (16, 1))
    ]
    return x, numpy.sin(2 * x), start


def as_in_jax(x, y, start):
    """Run the original, with other import lines."""

    def predict(params, x):
        for layer in params[:-1]:
            x = jnp.tanh(jnp.dot(x, layer["w"]) + layer["b"])
        return jnp.dot(x, params[-1]["w"]) + params[-1]["b"]

    def loss(params, x, y):
        return jnp.mean((predict(params, x) - y) ** 2)

    @jax.jit
    def update(params, x, y):
        grads = jax.grad(loss)(params, x, y)
        return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)

    params = jax.tree_util.tree_map(jnp.asarray, start)
    x, y = jnp.asarray(x), jnp.asarray(y)
    for _ in range(200):
        params = update(params, x, y)
    per_example = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(params, x, y)
    return float(loss(params, x, y)), numpy.asarray(per_example[0]["w"])


def as_in_wengert(x, y, start):
    """Run the rewritten program."""

    def loss(params, x, y):
        for layer in params[:-1]:
            x = wg.tanh(x @ layer["w"] + layer["b"])
        return ((x @ params[-1]["w"] + params[-1]["b"] - y) ** 2).mean()

    params = [{name: wg.tensor(value) for name, value in layer.items()} for layer in start]
    x, y = wg.from_numpy(x), wg.from_numpy(y)
    for _ in range(200):
        for layer, grads in zip(params, wg.func.grad(loss)(params, x, y), strict=True):
            for name in layer:
                layer[name] -= 0.1 * grads[name]
    per_example = wg.func.vmap(wg.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)
    return loss(params, x, y).item(), per_example[0]["w"].numpy()


def main():
    theirs, ours = as_in_jax(*data()), as_in_wengert(*data())
    print(f"as in JAX:     loss {theirs[0]:.5f}, gradients of examples {theirs[1].shape}")
    print(f"as in wengert: loss {ours[0]:.5f}, gradients of examples {ours[1].shape}")
    same = numpy.isclose(theirs[0], ours[0], rtol=1e-3)
    same = same and numpy.allclose(theirs[1], ours[1], atol=1e-3)
    print("the same:", bool(same))


if __name__ == "__main__":
    main()
