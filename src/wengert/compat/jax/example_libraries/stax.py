"""Layer 9 · compat: layers as pairs of functions, as in ``jax.example_libraries.stax``.

A layer is ``init_fun(key, input_shape) -> (output_shape, params)`` and ``apply_fun(params, inputs,
**kwargs) -> outputs``; `serial` and `parallel` combine layers.

>>> from wengert.compat.jax.example_libraries import stax
>>> init, apply = stax.serial(stax.Dense(8), stax.Relu, stax.Dense(2), stax.LogSoftmax)
>>> shape, params = init(jax.random.PRNGKey(0), (-1, 4))
>>> shape, apply(params, jax.numpy.ones((3, 4))).shape
((-1, 2), (3, 2))
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax import lax_products, nn, sampling
from wengert.compat.jax.keys import split
from wengert.compat.jax.lax_reductions import reduce_window
from wengert.compat.jax.nn import initializers
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import defined

Layer = tuple[Callable[..., Any], Callable[..., Any]]
_WEIGHTS = initializers.glorot_normal()
_BIAS = initializers.normal()
_SMALL = initializers.normal(1e-6)


def Dense(out_dim: int, W_init=_WEIGHTS, b_init=_BIAS) -> Layer:
    """Build a dense layer: ``inputs @ W + b``."""

    def init_fun(rng, input_shape) -> Any:
        of_w, of_b = split(rng)
        w = W_init(of_w, (input_shape[-1], out_dim))
        return (*input_shape[:-1], out_dim), (w, b_init(of_b, (out_dim,)))

    def apply_fun(params, inputs, **kwargs) -> Any:
        w, b = params
        return jnp.dot(inputs, w) + b

    return init_fun, apply_fun


def _convolution(
    transposed: bool,
    dimension_numbers,
    out_chan: int,
    filter_shape,
    strides=None,
    padding="VALID",
    W_init=None,
    b_init=_SMALL,
) -> Layer:
    """Build a convolution layer with named axes, such as ``("NHWC", "HWIO", "NHWC")``."""
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    steps = strides or (1,) * len(filter_shape)
    of_weights = W_init or initializers.glorot_normal(rhs_spec.index("I"), rhs_spec.index("O"))

    def init_fun(rng, input_shape) -> Any:
        sizes = iter(filter_shape)
        kernel = [
            out_chan if c == "O" else input_shape[lhs_spec.index("C")] if c == "I" else next(sizes)
            for c in rhs_spec
        ]
        spatial = [c for c in lhs_spec if c not in "NC"]
        pads = padding if not isinstance(padding, str) else [padding] * len(spatial)
        ends = {"N": input_shape[lhs_spec.index("N")], "C": out_chan}
        for c, step, pad in zip(spatial, steps, pads, strict=True):
            given = input_shape[lhs_spec.index(c)], kernel[rhs_spec.index(c)], step, pad
            ends[c] = _spread(*given) if transposed else _reach(*given)
        output = tuple(ends[c] for c in out_spec)
        bias = [out_chan if c == "C" else 1 for c in out_spec]
        of_w, of_b = split(rng)
        return output, (of_weights(of_w, tuple(kernel)), b_init(of_b, tuple(bias)))

    def apply_fun(params, inputs, **kwargs) -> Any:
        w, b = params
        convolve = lax_products.conv_transpose if transposed else lax_products.conv_general_dilated
        return convolve(inputs, w, steps, padding, dimension_numbers=dimension_numbers) + b

    return init_fun, apply_fun


def _reach(size: int, window: int, step: int, padding) -> int:
    """Return the size of one dimension after windows slide over it."""
    if size == -1:
        return -1
    if padding == "SAME":
        return -(-size // step)
    before, after = (0, 0) if padding == "VALID" else padding
    return (size + before + after - window) // step + 1


def _spread(size: int, window: int, step: int, padding) -> int:
    """Return the size of one dimension of a transposed convolution."""
    if size == -1 or padding == "SAME":
        return size if size == -1 else size * step
    if padding == "VALID":
        return size * step + max(window - step, 0)
    return (size - 1) * step + sum(padding) - window + 2


GeneralConv = functools.partial(_convolution, False)
GeneralConvTranspose = functools.partial(_convolution, True)
Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
"""A convolution of images (N, H, W, C)."""
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))


def BatchNorm(
    axis=(0, 1, 2),
    epsilon=1e-5,
    center=True,
    scale=True,
    beta_init=initializers.zeros,
    gamma_init=initializers.ones,
) -> Layer:
    """Build a batch normalization layer with learned shift and scale."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)

    def init_fun(rng, input_shape) -> Any:
        shape = tuple(n for i, n in enumerate(input_shape) if i not in axes)
        of_beta, of_gamma = split(rng)
        beta = beta_init(of_beta, shape) if center else ()
        return input_shape, (beta, gamma_init(of_gamma, shape) if scale else ())

    def apply_fun(params, x, **kwargs) -> Any:
        beta, gamma = params
        wide = tuple(None if i in axes else slice(None) for i in range(x.ndim))
        z = nn.standardize(x, axes, epsilon=epsilon)
        z = gamma[wide] * z if scale else z
        return z + beta[wide] if center else z

    return init_fun, apply_fun


def _unlearned(shape_of: Callable[[Any], Any], apply: Callable[[Any], Any]) -> Layer:
    """Return a layer without parameters."""
    return lambda rng, shape: (shape_of(shape), ()), lambda params, x, **kwargs: apply(x)


def elementwise(fun: Callable[..., Any], **fun_kwargs) -> Layer:
    """Turn a function into a layer without parameters."""
    return _unlearned(lambda shape: shape, lambda x: fun(x, **fun_kwargs))


Tanh = elementwise(jnp.tanh)
Relu = elementwise(nn.relu)
Exp = elementwise(jnp.exp)
LogSoftmax = elementwise(nn.log_softmax, axis=-1)
Softmax = elementwise(nn.softmax, axis=-1)
Softplus = elementwise(nn.softplus)
Sigmoid = elementwise(nn.sigmoid)
Elu = elementwise(nn.elu)
LeakyRelu = elementwise(nn.leaky_relu)
Selu = elementwise(nn.selu)
Gelu = elementwise(nn.gelu)


def _pooling(combine: Callable[..., Any], start: float, mean: bool) -> Callable[..., Layer]:
    def layer(window_shape, strides=None, padding="VALID", spec: str | None = None) -> Layer:
        names = spec or "N" + "HWD"[: len(window_shape)] + "C"
        places = [i for i, c in enumerate(names) if c not in "NC"]
        steps = strides or (1,) * len(window_shape)

        def reached(input_shape) -> Any:
            sizes = list(input_shape)
            for place, n, step in zip(places, window_shape, steps, strict=True):
                sizes[place] = _reach(sizes[place], n, step, padding)
            return tuple(sizes)

        def pooled(x) -> Any:
            window, strides = (
                [dict(zip(places, sizes, strict=True)).get(i, 1) for i in range(x.ndim)]
                for sizes in (window_shape, steps)
            )
            return reduce_window(x, start, combine, window, strides, padding)

        return _unlearned(
            reached, lambda x: pooled(x) / pooled(jnp.ones_like(x)) if mean else pooled(x)
        )

    return layer


MaxPool = _pooling(jnp.maximum, -math.inf, False)
SumPool = _pooling(operator.add, 0.0, False)
AvgPool = _pooling(operator.add, 0.0, True)


Flatten = _unlearned(
    lambda shape: (shape[0], math.prod(shape[1:])), lambda x: jnp.reshape(x, (x.shape[0], -1))
)
"""A layer that flattens all axes but the first."""
Identity = elementwise(lambda x: x)


def FanOut(num: int) -> Layer:
    """Build a layer that copies its input several times, for `parallel`."""
    return _unlearned(lambda shape: [shape] * num, lambda x: [x] * num)


FanInSum = _unlearned(operator.itemgetter(0), lambda parts: functools.reduce(operator.add, parts))
"""A layer that sums its inputs."""


def FanInConcat(axis=-1) -> Layer:
    """Build a layer that concatenates its inputs along an axis."""

    def joined(shapes) -> Any:
        at = axis % len(shapes[0])
        return (*shapes[0][:at], sum(shape[at] for shape in shapes), *shapes[0][at + 1 :])

    return _unlearned(joined, lambda parts: jnp.concatenate(parts, axis))


def Dropout(rate: float, mode="train") -> Layer:
    """Build a dropout layer that keeps inputs with probability `rate`, as in JAX; needs a key."""
    if mode not in ("train", "test"):
        raise ValueError(f"mode of Dropout is 'train' or 'test', not {mode!r}")

    def apply_fun(params, inputs, rng=None, **kwargs) -> Any:
        if rng is None:
            raise refusal(ValueError, "Dropout layer requires")
        if mode != "train":
            return inputs
        keep = sampling.bernoulli(rng, rate, inputs.shape)
        return jnp.where(keep, inputs / rate, 0)

    return lambda rng, input_shape: (input_shape, ()), apply_fun


# -- composition of layers -------------------------------------------------------------------------


def serial(*layers: Layer) -> Layer:
    """Compose layers in sequence."""
    inits, applies = zip(*layers, strict=True) if layers else ((), ())

    def init_fun(rng, input_shape) -> Any:
        params = []
        for init in inits:
            rng, of_layer = split(rng)
            input_shape, param = init(of_layer, input_shape)
            params.append(param)
        return input_shape, params

    def apply_fun(params, inputs, rng=None, **kwargs) -> Any:
        keys = split(rng, len(layers)) if rng is not None else (None,) * len(layers)
        for apply, param, key in zip(applies, params, keys, strict=True):
            inputs = apply(param, inputs, rng=key, **kwargs)
        return inputs

    return init_fun, apply_fun


def parallel(*layers: Layer) -> Layer:
    """Run layers side by side, each on its own input."""
    inits, applies = zip(*layers, strict=True) if layers else ((), ())

    def init_fun(rng, input_shape: Sequence[Any]) -> Any:
        keys = split(rng, len(layers))
        made = [init(key, shape) for init, key, shape in zip(inits, keys, input_shape, strict=True)]
        return [shape for shape, _ in made], [params for _, params in made]

    def apply_fun(params, inputs, rng=None, **kwargs) -> Any:
        keys = split(rng, len(layers)) if rng is not None else (None,) * len(layers)
        return [
            apply(param, x, rng=key, **kwargs)
            for apply, param, x, key in zip(applies, params, inputs, keys, strict=True)
        ]

    return init_fun, apply_fun


def shape_dependent(make_layer: Callable[[Any], Layer]) -> Layer:
    """Build a layer whose construction waits for the shape of its input."""
    return (
        lambda rng, input_shape: make_layer(input_shape)[0](rng, input_shape),
        lambda params, x, **kwargs: make_layer(x.shape)[1](params, x, **kwargs),
    )


_LAYERS = (
    "AvgPool Conv Conv1DTranspose ConvTranspose Elu Exp FanInSum Flatten Gelu GeneralConv "
    "GeneralConvTranspose Identity LeakyRelu LogSoftmax MaxPool Relu Selu Sigmoid Softmax Softplus "
    "SumPool Tanh"
)
__all__ = [*defined(globals()), *_LAYERS.split()]
