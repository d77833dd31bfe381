"""Layer 9 · compat: Keras's dense, activation, normalisation, convolution and pooling layers."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import told
from wengert.compat.tensorflow import nn, operations
from wengert.compat.tensorflow.eager import bytes_of, is_text
from wengert.compat.tensorflow.functions.values import constant_of, numbers_of
from wengert.compat.tensorflow.keras import activations, composed
from wengert.compat.tensorflow.keras.globals import epsilon
from wengert.compat.tensorflow.keras.layer import Layer
from wengert.compat.tensorflow.keras.settings import settings
from wengert.compat.tensorflow.keras.specs import InputSpec, of_rank
from wengert.compat.tensorflow.keras.weights import COMPUTED
from wengert.compat.tensorflow.words import refusal


def expand(layer, names: str) -> None:
    """Expand the sizes that these attributes hold to one per dimension."""
    for name in names.split():
        value = getattr(layer, name)
        if value is not None:
            wide = [value] * layer.dimensions if isinstance(value, int) else value
            setattr(layer, name, tuple(int(n) for n in wide))


def conv_padding(value: str, known: tuple[str, ...] = ("valid", "same")) -> str:
    """Return the padding mode after checking it."""
    if value.lower() not in known:
        names = ", ".join(map(repr, known))
        raise ValueError(f"`padding` must be one of {names}. Received: padding={value!r}")
    return value.lower()


def batches_of(data) -> list[Any]:
    """Return what a layer adapts to as arrays: an array, or those of a dataset or an iterable."""
    if hasattr(data, "as_numpy_iterator"):
        data = list(data.as_numpy_iterator())
    elif hasattr(data, "shape") or (
        isinstance(data, list | tuple) and not any(hasattr(one, "shape") for one in data)
    ):
        return [_array(data)]
    found = [_array(one[0] if isinstance(one, tuple) else one) for one in data]
    if not found:
        raise ValueError("adapt() received an empty iterable (no batches).")
    rows = found[0].ndim < 2 and len({one.shape for one in found}) == 1
    return [np.stack(found)] if rows else found


def _array(data) -> Any:
    return bytes_of(data) if is_text(data) else numbers_of(data)


@settings("activation=None, use_bias=True, {kernel bias activity = glorot_uniform zeros}")
class Weighted(Layer):
    """Base class for layers whose result is a product with a kernel, plus a bias."""

    dimensions: ClassVar[int] = 0
    _channels: int | None = None

    def _needed(self) -> Any:
        return of_rank(min_ndim=self.dimensions + 2, channels=self._channels)

    def _shapes(self, channels: int) -> tuple[tuple[int, ...], int]:
        """Return the shape of the kernel, and the number of biases."""
        raise NotImplementedError

    def _product(self, inputs) -> Any:
        raise NotImplementedError

    def build(self, input_shape) -> None:
        self._channels = input_shape[-1]
        shape, count = self._shapes(self._channels)
        self.kernel = self._weight("kernel", shape)
        self.bias = self._weight("bias", (count,)) if self.use_bias else None

    def call(self, inputs) -> Any:
        if not inputs.dtype.is_floating:
            inputs = operations.cast(inputs, self.compute_dtype)
        result = self._product(inputs)
        if self.bias is not None:
            result = operations.add(result, self.bias)
        return self.activation(result)


@settings(
    "filters, kernel_size, strides=1, padding='valid', data_format=None, dilation_rate=1, groups=1"
)
class _Conv(Weighted):
    """Base class for convolution layers."""

    dimensions = 2
    paddings: ClassVar[tuple[str, ...]] = ("valid", "same")

    def _prepare(self: Any) -> None:
        if self.groups < 1 or self.filters % self.groups:
            raise refusal(ValueError, "The number of", self.groups, self.filters)
        expand(self, "kernel_size strides dilation_rate")
        self.padding = conv_padding(self.padding, self.paddings)
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise refusal(ValueError, "`strides > 1`", self.strides, self.dilation_rate)

    def _shapes(self, channels: int) -> tuple[tuple[int, ...], int]:
        return (*self.kernel_size, channels // self.groups, self.filters), self.filters

    def _product(self, inputs) -> Any:
        return nn.convolution(
            inputs, self.kernel, self.strides, self.padding, None, self.dilation_rate
        )


class Conv2D(_Conv):
    """Convolution of images with trained filters.

    Examples
    --------
    >>> tf.keras.layers.Conv2D(8, 3, padding="same")(tf.ones([2, 5, 5, 1])).shape
    TensorShape([2, 5, 5, 8])
    """


class Conv1D(_Conv):
    """Convolution of sequences with trained filters.

    With ``padding="causal"`` a result does not depend on later steps.

    Examples
    --------
    >>> tf.keras.layers.Conv1D(8, 3)(tf.ones([2, 5, 1])).shape
    TensorShape([2, 3, 8])
    """

    dimensions = 1
    paddings = ("valid", "same", "causal")

    def _product(self, inputs) -> Any:
        if self.padding != "causal":
            return super()._product(inputs)
        before = (self.kernel_size[0] - 1) * self.dilation_rate[0]
        padded = operations.pad(inputs, [(0, 0), (before, 0), (0, 0)])
        return nn.convolution(padded, self.kernel, self.strides, "VALID", None, self.dilation_rate)


class Conv3D(_Conv):
    """Convolution of volumes with trained filters."""

    dimensions = 3


@settings("padding/output_padding=None")
class Conv2DTranspose(_Conv):
    """Transposed convolution of images, which makes them larger.

    Examples
    --------
    >>> tf.keras.layers.Conv2DTranspose(8, 3, 2, "same")(tf.ones([2, 5, 5, 1])).shape
    TensorShape([2, 10, 10, 8])
    """

    without = ("groups",)

    def _prepare(self: Any) -> None:
        super()._prepare()
        expand(self, "output_padding")

    def _shapes(self, channels: int) -> tuple[tuple[int, ...], int]:
        return (*self.kernel_size, self.filters, channels), self.filters

    def _product(self, inputs) -> Any:
        return composed.conv_transpose(
            inputs, self.kernel, self.strides, self.padding, self.output_padding, None,
            self.dilation_rate,
        )  # fmt: skip


class Conv1DTranspose(Conv2DTranspose):
    """Transposed convolution of sequences, which makes them longer.

    Examples
    --------
    >>> tf.keras.layers.Conv1DTranspose(8, 3, 2)(tf.ones([2, 5, 1])).shape
    TensorShape([2, 11, 8])
    """

    dimensions = 1


class Conv3DTranspose(Conv2DTranspose):
    """Transposed convolution of volumes, which makes them larger."""

    dimensions = 3


class Spatial(Layer):
    """Base class for layers whose input has `dimensions` between the batch and the channels."""

    dimensions: ClassVar[int]

    def _needed(self) -> Any:
        return of_rank(ndim=self.dimensions + 2)


# -- pooling ---------------------------------------------------------------------------------------


@settings("pool_size=2, strides=None, padding='valid', data_format=None")
class _Pooling(Spatial):
    """{words} of {of}.

    Examples
    --------
    >>> tf.keras.layers.{name}()(tf.ones({example})).shape
    TensorShape({pooled})
    """

    function: ClassVar[Any]

    def _prepare(self: Any) -> None:
        self.strides = self.pool_size if self.strides is None else self.strides
        expand(self, "pool_size strides")
        self.padding = conv_padding(self.padding)

    def call(self, inputs) -> Any:
        return self.function(inputs, self.pool_size, self.strides, self.padding)


@settings("data_format=None, keepdims=False")
class _Global(Spatial):
    """Base class for layers that pool a whole example."""

    function: ClassVar[Any]

    def call(self, inputs) -> Any:
        return self.function(inputs, list(range(1, self.dimensions + 1)), self.keepdims)


def _seen_mean(self, inputs, mask=None) -> Any:
    """Return the means over the steps that `mask` shows."""
    if mask is None:
        return operations.reduce_mean(inputs, [1], self.keepdims)
    seen = operations.expand_dims(operations.cast(mask, "bool"), 2)
    total = operations.reduce_sum(operations.where(seen, inputs, 0.0), [1], self.keepdims)
    count = operations.reduce_sum(operations.cast(seen, inputs.dtype), [1], self.keepdims)
    return operations.divide(total, count)


_PLACES = {1: "sequences", 2: "images", 3: "volumes"}
_POOLED = {
    "Max": ("max", "The greatest elements", operations.reduce_max),
    "Average": ("avg", "The means", operations.reduce_mean),
}


def _pools(namespace: dict[str, Any], word: str, d: int) -> None:
    """Define the pooling layers of a kind in `d` dimensions, by long and short names."""
    short, words, whole = _POOLED[word]
    example = [1, *[4] * d, 1]
    for base, before, function, of, result in (
        (_Pooling, "", getattr(nn, f"{short}_pool{d}d"), "the windows of", [1, *[2] * d, 1]),
        (_Global, "Global", whole, "each channel of", [1, 1]),
    ):
        name = f"{before}{word}Pooling{d}D"
        doc = told(
            _Pooling,
            words=words,
            of=f"{of} {_PLACES[d]}",
            name=name,
            example=example,
            pooled=result,
        )
        body = {"dimensions": d, "function": staticmethod(function), "__doc__": doc}
        kind = type(name, (base,), {**body, "__module__": __name__})
        namespace |= {name: kind, f"{before}{short.capitalize()}Pool{d}D": kind}


for _word in _POOLED:
    for _d in _PLACES:
        _pools(globals(), _word, _d)
_Pooling.__doc__ = None
_mean_of_steps: Any = globals()["GlobalAveragePooling1D"]
_mean_of_steps.call, _mean_of_steps.compute_mask = _seen_mean, lambda self, inputs, mask=None: None


def in_float32(call) -> Any:
    """Decorate a method to compute in float32 if its input is of 16 bits."""

    @functools.wraps(call)
    def widened(self, inputs, *args, **kwargs) -> Any:
        if inputs.dtype.size > 2:
            return call(self, inputs, *args, **kwargs)
        token = COMPUTED.set(None)
        try:
            result = call(self, operations.cast(inputs, "float32"), *args, **kwargs)
        finally:
            COMPUTED.reset(token)
        return operations.cast(result, inputs.dtype)

    return widened


@settings("axis=-1, epsilon=1e-3, center=True, scale=True, {beta gamma = zeros ones}")
class Normalizing(Layer):
    """Base class for layers that normalize to mean 0 and variance 1."""

    _supports_masking = True

    def _axes(self, ndim: int) -> list[int]:
        axes = self.axis if isinstance(self.axis, list | tuple) else [self.axis]
        return sorted(axis % ndim for axis in axes)

    def build(self, input_shape) -> None:
        """Create the weights."""
        size = tuple(input_shape[axis] for axis in self._axes(len(input_shape)))
        self.gamma = self._weight("gamma", size) if self.scale else None
        self.beta = self._weight("beta", size) if self.center else None

    def _scaled(self, inputs, mean, variance) -> Any:
        """Normalize with means and variances that are shaped like the weights or like `inputs`."""
        axes = self._axes(len(inputs.shape))
        shape = [n if axis in axes else 1 for axis, n in enumerate(inputs.shape)]
        mean, variance, beta, gamma = (
            part
            if part is None or len(part.shape) == len(shape)
            else operations.reshape(part, shape)
            for part in (mean, variance, self.beta, self.gamma)
        )
        return nn.batch_normalization(inputs, mean, variance, beta, gamma, self.epsilon)


@settings(
    "axis/momentum=0.99, gamma_initializer/moving_mean_initializer='zeros', "
    "moving_mean_initializer/moving_variance_initializer='ones'"
)
class BatchNormalization(Normalizing):
    """Batch normalization: normalizes each channel, then scales and shifts it by weights.

    In training the layer uses the mean and variance of the batch, and updates their running means;
    in inference it uses the running means.

    Parameters
    ----------
    axis : int. The dimension of the channels; the last by default.
    momentum : float. The decay rate of the running means.
    epsilon : float. A small number that avoids division by 0.
    center, scale : bool. Whether to train a shift ``beta`` and a scale ``gamma``.
    **kwargs: Initializers of the weights, and the arguments of `Layer`.

    Examples
    --------
    >>> layer = tf.keras.layers.BatchNormalization()
    >>> print(layer(tf.constant([[1.0], [3.0]]), training=True).numpy().round(2).ravel())
    [-1.  1.]
    """

    ignored = ("synchronized",)

    def build(self, input_shape) -> None:
        """Create the weights and the running means."""
        super().build(input_shape)
        size = (input_shape[self.axis],)
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: size[0]})
        self.moving_mean = self._weight("moving_mean", size, trainable=False)
        self.moving_variance = self._weight("moving_variance", size, trainable=False)

    @in_float32
    def call(self, inputs, training=False, mask=None) -> Any:
        if not training or not self.trainable:
            return self._scaled(inputs, self.moving_mean, self.moving_variance)
        ndim = len(inputs.shape)
        axes = [axis for axis in range(ndim) if axis != self.axis % ndim]
        if mask is None:
            mean, variance = nn.moments(inputs, axes)
        else:
            mean, variance = _seen_moments(inputs, axes, mask)
        for kept, new in ((self.moving_mean, mean), (self.moving_variance, variance)):
            old = np.asarray(kept.numpy())
            share = old.dtype.type(self.momentum)
            kept.assign(old * share + np.asarray(numbers_of(new)) * (1 - share))
        return self._scaled(inputs, mean, variance)


def _seen_moments(inputs, axes: list[int], mask) -> tuple[Any, Any]:
    """Return means and variances of the elements that `mask` shows."""
    seen = operations.expand_dims(operations.cast(mask, "bool"), -1)
    seen = operations.broadcast_to(seen, inputs.shape)
    count = operations.reduce_sum(operations.cast(seen, inputs.dtype), axes, True) + epsilon()
    mean = operations.reduce_sum(operations.where(seen, inputs, 0.0), axes, True) / count
    spread = operations.where(seen, operations.square(inputs - mean), 0.0)
    variance = operations.reduce_sum(spread, axes, True) / count
    return operations.squeeze(mean, axes), operations.squeeze(variance, axes)


class LayerNormalization(Normalizing):
    """Layer normalization: normalizes each example, then scales and shifts it by weights.

    Examples
    --------
    >>> layer = tf.keras.layers.LayerNormalization()
    >>> print(layer(tf.constant([[1.0, 3.0]])).numpy().round(2))
    [[-1.  1.]]
    """

    @in_float32
    def call(self, inputs) -> Any:
        axes = self._axes(len(inputs.shape))
        return self._scaled(inputs, *nn.moments(inputs, axes, keepdims=True))


@settings("axis=-1, mean=None, variance=None, invert=False")
class Normalization(Layer):
    """Computes ``(inputs - mean) / sqrt(variance)``, with values given or found by `adapt`.

    Examples
    --------
    >>> layer = tf.keras.layers.Normalization()
    >>> layer.adapt([[1.0], [3.0]])
    >>> print(layer(tf.constant([[5.0]])).numpy())
    [[3.]]
    """

    def _prepare(self: Any) -> None:
        if (self.mean is None) is not (self.variance is None):
            raise refusal(ValueError, "When setting values", self.mean, self.variance)
        if self.mean is not None:
            self._set(np.asarray(self.mean), np.asarray(self.variance))

    def _set(self, mean, variance) -> None:
        self.mean, self.variance = (constant_of(v.astype(self._kind)) for v in (mean, variance))

    def _axes(self, ndim: int) -> list[int]:
        """Return the dimensions that have own means, in order."""
        given = [] if self.axis is None else np.atleast_1d(self.axis).tolist()
        if any(not -ndim <= axis < ndim for axis in given):
            raise refusal(ValueError, "All `axis` values", ndim, self.axis)
        return sorted(axis % ndim for axis in given)

    def build(self, input_shape) -> None:
        """Spread the given means and variances over the dimensions that have own ones."""
        kept = self._axes(len(input_shape))
        sizes = [n if axis in kept else 1 for axis, n in enumerate(input_shape)]
        if self.mean is None or self.mean.ndim == len(sizes):
            return
        spread = []
        for value in (self.mean.numpy(), self.variance.numpy()):
            shape = [1] * len(sizes)
            for axis, size in zip(reversed(kept), reversed(value.shape), strict=False):
                shape[axis] = size
            spread.append(np.broadcast_to(value.reshape(shape), sizes))
        self._set(*spread)

    def adapt(self, data) -> None:
        """Set the mean and the variance to those of examples: an array, a dataset, or arrays."""
        values = np.concatenate(batches_of(data))
        axes = tuple(set(range(values.ndim)) - set(self._axes(values.ndim)))
        wide = values.astype(np.float64)
        self._set(wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True))

    def call(self, inputs) -> Any:
        if self.mean is None or self.variance is None:
            raise refusal(ValueError, "You must call `.build(input_shape)`")
        width = np.maximum(np.sqrt(self.variance), self._kind.type(1e-7))
        x = operations.cast(inputs, str(self._kind))
        if self.invert:
            x = operations.add(operations.multiply(x, width), self.mean)
        else:
            x = operations.divide(operations.subtract(x, self.mean), width)
        return operations.cast(x, self.compute_dtype)


@settings("units")
class Dense(Weighted):
    """``activation(inputs @ kernel + bias)``, over the last dimension.

    Parameters
    ----------
    units : int. The size of the result's last dimension.
    activation : str or callable, optional. A function, or its name in `tf.keras.activations`.
    use_bias : bool. Whether there is a bias.
    kernel_initializer, bias_initializer : Initializer or str. The initializers of the weights.
    kernel_regularizer, bias_regularizer : Regularizer or str, optional. The penalties on the
        weights.
    kernel_constraint, bias_constraint : callable, optional. The projections of the weights after
        each step.
    **kwargs: The arguments of `Layer`.

    Raises
    ------
    ValueError: If `units` is not positive.

    Examples
    --------
    >>> tf.keras.layers.Dense(3)(tf.ones([2, 4])).shape
    TensorShape([2, 3])
    """

    def _shapes(self, channels: int) -> tuple[tuple[int, ...], int]:
        return (channels, self.units), self.units

    def _product(self, inputs) -> Any:
        return operations.tensordot(inputs, self.kernel, 1)


@settings("activation")
class Activation(Layer):
    """An activation as a layer (see `tf.keras.activations`).

    Examples
    --------
    >>> print(tf.keras.layers.Activation("relu")([-1.0, 2.0]).numpy())
    [0. 2.]
    """

    def call(self, inputs) -> Any:
        return self.activation(inputs)


@settings("max_value=None, negative_slope=0.0, threshold=0.0")
class ReLU(Layer):
    """The layer of `tf.keras.activations.relu`.

    Examples
    --------
    >>> print(tf.keras.layers.ReLU(max_value=1.0)([-1.0, 2.0]).numpy())
    [0. 1.]
    """

    def call(self, inputs) -> Any:
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(Layer):
    """x where positive, else `negative_slope` times x.

    Examples
    --------
    >>> print(tf.keras.layers.LeakyReLU(0.5)([-1.0, 2.0]).numpy())
    [-0.5  2. ]
    """

    def __init__(self, negative_slope=0.3, **kwargs) -> None:
        negative_slope = kwargs.pop("alpha", negative_slope)
        super().__init__(**kwargs)
        self.negative_slope = negative_slope

    def call(self, inputs) -> Any:
        return nn.leaky_relu(inputs, self.negative_slope)


@settings("alpha=1.0")
class ELU(Layer):
    """x where positive, else ``alpha * (exp(x) - 1)``."""

    def call(self, inputs) -> Any:
        return activations.elu(inputs, self.alpha)


@settings("axis=-1")
class Softmax(Layer):
    """The layer of `tf.nn.softmax`.

    Examples
    --------
    >>> print(tf.keras.layers.Softmax()([0.0, 0.0]).numpy())
    [0.5 0.5]
    """

    def call(self, inputs, mask=None) -> Any:
        if mask is None:
            return nn.softmax(inputs, self.axis)
        kept = operations.cast(mask, "bool")
        least = -3e4 if inputs.dtype.size == 2 else -1e9
        return operations.where(
            kept, nn.softmax(operations.where(kept, inputs, least), self.axis), 0.0
        )


class Identity(Layer):
    """Returns its input."""

    def call(self, inputs) -> Any:
        return inputs


class Lambda(Layer):
    """A function as a layer.

    Examples
    --------
    >>> print(tf.keras.layers.Lambda(lambda x: x * 2)([1.0, 2.0]).numpy())
    [2. 4.]
    """

    def __init__(self, function, arguments=None, **kwargs) -> None:
        kwargs.pop("output_shape", None)
        super().__init__(**kwargs)
        self.function = function
        self.arguments = arguments or {}

    def call(self, inputs) -> Any:
        return self.function(inputs, **self.arguments)


__all__ = defined(globals())
