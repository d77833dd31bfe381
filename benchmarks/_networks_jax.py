"""The losses of `networks` as functions of parameters, for JAX.

The parameters have the names and layouts that the modules of `networks` give them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from _measure import optional

jax: Any = optional("jax")
Weights = Mapping[str, Any]


def linear(w: Weights, name: str, x: Any) -> Any:
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def conv(w: Weights, name: str, x: Any) -> Any:
    kernel = w[f"{name}.weight"]
    made = jax.lax.conv_general_dilated(
        x, kernel, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")
    )
    bias = w.get(f"{name}.bias")
    return made if bias is None else made + bias[:, None, None]


def pooled(x: Any) -> Any:
    window = (1, 1, 2, 2)
    return jax.lax.reduce_window(x, -jax.numpy.inf, jax.lax.max, window, window, "VALID")


def normed(w: Weights, name: str, x: Any, axes: Any, shape: Any) -> Any:
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    scaled = (x - mean) * jax.lax.rsqrt(var + 1e-5)
    return scaled * w[f"{name}.weight"].reshape(shape) + w[f"{name}.bias"].reshape(shape)


def batch_norm(w: Weights, name: str, x: Any) -> Any:
    return normed(w, name, x, (0, 2, 3), (1, -1, 1, 1))


def layer_norm(w: Weights, name: str, x: Any) -> Any:
    return normed(w, name, x, -1, (-1,))


def cross_entropy(scores: Any, y: Any) -> Any:
    logs = jax.nn.log_softmax(scores)
    return -jax.numpy.take_along_axis(logs, y[:, None], 1).mean()


def attended(q: Any, k: Any, v: Any, heads: int, mask: Any = None) -> Any:
    """Attention of parts of shape ``(batch, length, width)``."""
    count, length, width = q.shape

    def parted(x: Any) -> Any:
        return x.reshape(count, length, heads, width // heads).transpose(0, 2, 1, 3)

    scores = parted(q) @ parted(k).transpose(0, 1, 3, 2) * (width // heads) ** -0.5
    if mask is not None:
        scores = jax.numpy.where(mask, scores, -jax.numpy.inf)
    mixed = jax.nn.softmax(scores) @ parted(v)
    return mixed.transpose(0, 2, 1, 3).reshape(count, length, width)


def perceptron(w: Weights, x: Any, y: Any) -> Any:
    for k in (0, 2):
        x = jax.nn.relu(linear(w, str(k), x))
    return cross_entropy(linear(w, "4", x), y)


def convolutional(w: Weights, x: Any, y: Any) -> Any:
    for k in (0, 3):
        x = pooled(jax.nn.relu(conv(w, str(k), x)))
    return cross_entropy(linear(w, "7", x.reshape(len(x), -1)), y)


def residual(w: Weights, x: Any, y: Any) -> Any:
    x = jax.nn.relu(conv(w, "stem", x))
    for name in ("blocks.0", "blocks.1"):
        h = batch_norm(w, f"{name}.first_norm", conv(w, f"{name}.first", x))
        h = batch_norm(w, f"{name}.second_norm", conv(w, f"{name}.second", jax.nn.relu(h)))
        x = jax.nn.relu(x + h)
    return cross_entropy(linear(w, "head", x.mean((2, 3))), y)


def lstm(w: Weights, x: Any, y: Any) -> Any:
    inner, outer = w["cells.weight_ih_l0"].T, w["cells.weight_hh_l0"].T
    bias = w["cells.bias_ih_l0"] + w["cells.bias_hh_l0"]

    def cell(state: Any, item: Any) -> Any:
        h, c = state
        i, f, g, o = jax.numpy.split(item @ inner + h @ outer + bias, 4, 1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jax.numpy.tanh(g)
        return (jax.nn.sigmoid(o) * jax.numpy.tanh(c), c), None

    zeros = jax.numpy.zeros((len(x), len(outer)), x.dtype)
    (h, _), _ = jax.lax.scan(cell, (zeros, zeros), x.transpose(1, 0, 2))
    return ((linear(w, "head", h) - y) ** 2).mean()


def transformer(w: Weights, x: Any, y: Any) -> Any:
    for name in ("encoder.layers.0", "encoder.layers.1"):
        kernel, bias = w[f"{name}.self_attn.in_proj_weight"], w[f"{name}.self_attn.in_proj_bias"]
        q, k, v = jax.numpy.split(x @ kernel.T + bias, 3, -1)
        mixed = linear(w, f"{name}.self_attn.out_proj", attended(q, k, v, 4))
        x = layer_norm(w, f"{name}.norm1", x + mixed)
        h = linear(w, f"{name}.linear2", jax.nn.relu(linear(w, f"{name}.linear1", x)))
        x = layer_norm(w, f"{name}.norm2", x + h)
    return ((linear(w, "head", x.mean(1)) - y) ** 2).mean()


def gpt(w: Weights, text: Any) -> Any:
    ids, wanted = text[:, :-1], text[:, 1:]
    length = ids.shape[1]
    x = w["token.weight"][ids] + w["place.weight"]
    q, k, v = jax.numpy.split(linear(w, "block.qkv", layer_norm(w, "block.norm1", x)), 3, -1)
    mask = jax.numpy.tril(jax.numpy.ones((length, length), bool))
    x = x + linear(w, "block.out", attended(q, k, v, 4, mask))
    h = linear(w, "block.up", layer_norm(w, "block.norm2", x))
    x = x + linear(w, "block.down", jax.nn.gelu(h, approximate=False))
    scores = linear(w, "head", layer_norm(w, "norm", x))
    return cross_entropy(scores.reshape(-1, scores.shape[-1]), wanted.reshape(-1))


def physics(w: Weights, x: Any, t: Any) -> Any:
    def u(x: Any, t: Any) -> Any:
        h = jax.numpy.stack((x, t))
        for k in (0, 2):
            h = jax.numpy.tanh(linear(w, str(k), h))
        return linear(w, "4", h)[0]

    def missed(x: Any, t: Any) -> Any:
        return jax.grad(u, 1)(x, t) - 0.1 * jax.grad(jax.grad(u))(x, t)

    return (jax.vmap(missed)(x[:, 0], t[:, 0]) ** 2).mean()


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "perceptron": perceptron,
    "convolutional": convolutional,
    "residual": residual,
    "lstm": lstm,
    "transformer": transformer,
    "gpt": gpt,
    "physics": physics,
}
