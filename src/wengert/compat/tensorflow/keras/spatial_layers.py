"""Layer 9 · compat: Keras's spatial layers: padding, upsampling, depthwise convolutions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import told
from wengert.compat.tensorflow import image, initializers, nn, operations
from wengert.compat.tensorflow.keras import composed, regularizers
from wengert.compat.tensorflow.keras import core_layers as core
from wengert.compat.tensorflow.keras.layer import Layer, Seeded
from wengert.compat.tensorflow.keras.settings import settings
from wengert.compat.tensorflow.words import refusal

# -- margins and magnification ---------------------------------------------------------------------


@settings("data_format=None")
class _Margins(core.Spatial):
    """{words}.

    Examples
    --------
    >>> tf.keras.layers.{kind}()(tf.ones({given})).shape
    TensorShape({wide})
    """

    def _pairs(self, name: str, value) -> tuple[tuple[int, int], ...]:
        """Return the two margins of each spatial dimension."""
        d = self.dimensions
        alone = isinstance(value, int) or (d == 1 and np.ndim(value) == 1)
        sides = [value] * d if alone else list(value)
        pairs = [(n, n) if isinstance(n, int) else tuple(n) for n in sides]
        if len(pairs) != d or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
            raise refusal(ValueError, "`{}` should have", name, d, name, value)
        return tuple((int(a), int(b)) for a, b in pairs)


@settings("padding=1")
class _Padding(_Margins):
    def _prepare(self: Any) -> None:
        self.padding = self._pairs("padding", self.padding)

    def call(self, inputs) -> Any:
        return operations.pad(inputs, [(0, 0), *self.padding, (0, 0)])


@settings("cropping=1")
class _Cropping(_Margins):
    def _prepare(self: Any) -> None:
        self.cropping = self._pairs("cropping", self.cropping)

    def call(self, inputs) -> Any:
        sizes = tuple(inputs.shape)[1:-1]
        spans = [slice(a, n - b) for n, (a, b) in zip(sizes, self.cropping, strict=True)]
        if any(span.start >= span.stop for span in spans):
            raise refusal(ValueError, "Values in `cropping`", tuple(inputs.shape), self.cropping)
        return inputs[(slice(None), *spans)]


@settings("size=2")
class _UpSampling(_Margins):
    interpolation: ClassVar[str] = "nearest"

    def _prepare(self: Any) -> None:
        core.expand(self, "size")

    def call(self, inputs) -> Any:
        if self.interpolation == "bilinear":
            sizes = tuple(inputs.shape)[1:3]
            return image.resize(inputs, [n * k for n, k in zip(sizes, self.size, strict=True)])
        for axis, times in enumerate(self.size, 1):
            inputs = operations.repeat(inputs, times, axis)
        return inputs


_FAMILIES = {
    "ZeroPadding": (_Padding, "Zeros around {}", 4),
    "Cropping": (_Cropping, "The inner part of {}", 1),
    "UpSampling": (_UpSampling, "{}, each place repeated", 6),
}
_PLACES = {1: "sequences", 2: "images", 3: "volumes"}
for _name, (_base, _words, _size) in _FAMILIES.items():
    for _d, _what in _PLACES.items():
        _kind = f"{_name}{_d}D"
        _rows = 3 if _name != "ZeroPadding" else 2
        _shapes = {"given": [1, *[_rows] * _d, 1], "wide": [1, *[_size] * _d, 1]}
        _doc = told(_Margins, words=_words.format(_what).capitalize(), kind=_kind, **_shapes)
        _body = {"dimensions": _d, "__doc__": _doc, "__module__": __name__}
        globals()[_kind] = type(_kind, (_base,), _body)
_Margins.__doc__ = None


@settings("data_format/interpolation='nearest'")
class UpSampling2D(_UpSampling):
    """Upscales images by integer factors.

    Parameters
    ----------
    size : int or pair of int. The factors.
    interpolation : {"nearest", "bilinear"}. The interpolation method.

    Examples
    --------
    >>> tf.keras.layers.UpSampling2D(2, interpolation="bilinear")(tf.ones([1, 3, 3, 1])).shape
    TensorShape([1, 6, 6, 1])
    """

    dimensions = 2

    def _prepare(self: Any) -> None:
        super()._prepare()
        if self.interpolation not in ("nearest", "bilinear"):
            raise ValueError(f"interpolation={self.interpolation!r} is not offered here")


@settings("n")
class RepeatVector(Layer):
    """Repeats rows `n` times along a new second dimension.

    Examples
    --------
    >>> tf.keras.layers.RepeatVector(3)(tf.ones([2, 4])).shape
    TensorShape([2, 3, 4])
    """

    def call(self, inputs) -> Any:
        return operations.repeat(operations.expand_dims(inputs, 1), self.n, 1)


# -- convolutions by channels ----------------------------------------------------------------------


@settings(
    "kernel_size, strides=1, padding='valid', depth_multiplier=1, data_format=None, "
    "dilation_rate=1, activation=None, use_bias=True, {depthwise bias activity = glorot_uniform "
    "zeros}"
)
class _ByChannels(core.Weighted):
    """Base class for depthwise convolutions."""

    without = ("kernel_initializer=None", "kernel_regularizer", "kernel_constraint")

    dimensions: ClassVar[int] = 2

    def _prepare(self: Any) -> None:
        core.expand(self, "kernel_size strides dilation_rate")
        self.padding = core.conv_padding(self.padding)


class DepthwiseConv2D(_ByChannels):
    """Convolution of each channel of images with its own filters.

    Examples
    --------
    >>> tf.keras.layers.DepthwiseConv2D(3)(tf.ones([1, 5, 5, 2])).shape
    TensorShape([1, 3, 3, 2])
    """

    def build(self, input_shape) -> None:
        """Create the weights."""
        self._channels = wide = input_shape[-1]
        many = self.depth_multiplier
        self.kernel = self._weight("kernel", (*self.kernel_size, wide, many), "depthwise")
        self.bias = self._weight("bias", (wide * many,)) if self.use_bias else None

    def _product(self, inputs) -> Any:
        return composed.depthwise_conv(
            inputs, self.kernel, self.strides, self.padding, None, self.dilation_rate
        )


class DepthwiseConv1D(DepthwiseConv2D):
    """Convolution of each channel of sequences with its own filters.

    Examples
    --------
    >>> tf.keras.layers.DepthwiseConv1D(3)(tf.ones([1, 5, 2])).shape
    TensorShape([1, 3, 2])
    """

    dimensions = 1


@settings(
    "filters, kernel_size, strides=1, padding='valid', data_format=None, dilation_rate=1, "
    "depth_multiplier=1, activation=None, use_bias=True, {depthwise pointwise bias activity = "
    "glorot_uniform glorot_uniform zeros}"
)
class SeparableConv2D(_ByChannels):
    """A depthwise convolution, then a pointwise one.

    Examples
    --------
    >>> tf.keras.layers.SeparableConv2D(4, 3)(tf.ones([1, 5, 5, 2])).shape
    TensorShape([1, 3, 3, 4])
    """

    def build(self, input_shape) -> None:
        """Create the weights."""
        self._channels = wide = input_shape[-1]
        many = self.depth_multiplier
        shape = (*self.kernel_size, wide, many)
        self.depthwise_kernel = self._weight("depthwise_kernel", shape, "depthwise")
        self.pointwise_kernel = self._weight(
            "pointwise_kernel", (*[1] * self.dimensions, wide * many, self.filters), "pointwise"
        )
        self.bias = self._weight("bias", (self.filters,)) if self.use_bias else None

    def _product(self, inputs) -> Any:
        return composed.separable_conv(
            inputs, self.depthwise_kernel, self.pointwise_kernel, self.strides, self.padding, None,
            self.dilation_rate,
        )  # fmt: skip


class SeparableConv1D(SeparableConv2D):
    """A depthwise convolution of sequences, then a pointwise one.

    Examples
    --------
    >>> tf.keras.layers.SeparableConv1D(4, 3)(tf.ones([1, 5, 3])).shape
    TensorShape([1, 3, 4])
    """

    dimensions = 1


# -- normalisation and noise -----------------------------------------------------------------------


@settings("groups=32")
class GroupNormalization(core.Normalizing):
    """Normalizes groups of channels to mean 0 and variance 1, per example.

    Examples
    --------
    >>> layer = tf.keras.layers.GroupNormalization(2)
    >>> print(layer(tf.constant([[1.0, 3.0, 5.0, 9.0]])).numpy().round(2))
    [[-1.  1. -1.  1.]]
    """

    def _count(self, size: int) -> int:
        """Return the number of groups: of one channel each if it is -1."""
        return size if self.groups == -1 else int(self.groups)

    def build(self, input_shape) -> None:
        """Create the weights."""
        size = input_shape[self.axis]
        if self.axis not in (-1, len(input_shape) - 1) or size % self._count(size):
            raise refusal(ValueError, "the last dimension", self.groups, size)
        super().build(input_shape)

    @core.in_float32
    def call(self, inputs) -> Any:
        shape = tuple(inputs.shape)
        groups = self._count(shape[-1])
        parts = operations.reshape(inputs, (*shape[:-1], groups, shape[-1] // groups))
        axes = [axis for axis in range(1, len(shape) + 1) if axis != len(shape) - 1]
        mean, variance = nn.moments(parts, axes, keepdims=True)
        plain = nn.batch_normalization(parts, mean, variance, None, None, self.epsilon)
        result = operations.reshape(plain, shape)
        result = result if self.gamma is None else result * self.gamma
        return result if self.beta is None else result + self.beta


@settings("axis=-1, epsilon=1e-6")
class RMSNormalization(Layer):
    """Divides by the root of the mean square, and multiplies by trained weights.

    Examples
    --------
    >>> print(tf.keras.layers.RMSNormalization()(tf.constant([[6.0, 8.0]])).numpy().round(2))
    [[0.85 1.13]]
    """

    def build(self, input_shape) -> None:
        """Create the weights."""
        sizes = np.asarray(input_shape)[np.atleast_1d(self.axis)]
        self.scale = self.add_weight(shape=tuple(sizes.tolist()), initializer="ones", name="scale")

    @core.in_float32
    def call(self, inputs) -> Any:
        return composed.rms_normalization(inputs, self.scale, self.axis, self.epsilon)


@settings("axis=-1")
class UnitNormalization(Layer):
    """Scales rows to length 1.

    Examples
    --------
    >>> print(tf.keras.layers.UnitNormalization()(tf.constant([[3.0, 4.0]])).numpy())
    [[0.6 0.8]]
    """

    def call(self, inputs) -> Any:
        return nn.l2_normalize(inputs, self.axis)


@settings("rate, seed=None")
class GaussianDropout(Seeded):
    """Multiplies by random factors of mean 1 in training.

    Examples
    --------
    >>> print(tf.keras.layers.GaussianDropout(0.5)(tf.constant([1.0])).numpy())
    [1.]
    """

    chance = "rate"

    def call(self, inputs, training=False) -> Any:
        if not training or not self.rate:
            return inputs
        spread = float(np.sqrt(self.rate / (1 - self.rate)))
        draw = self._normal(inputs, 1.0, spread)
        return operations.multiply(inputs, draw)


@settings("rate, seed=None")
class _SpatialDropout(Seeded):
    """Whole channels of {what} left out at random, while training.

    Examples
    --------
    >>> tf.keras.layers.{kind}(0.5)(tf.ones({kept})).shape
    TensorShape({kept})
    """

    chance = "rate"

    def call(self, inputs, training=False) -> Any:
        if not training or not self.rate:
            return inputs
        batch, *places, channels = tuple(inputs.shape)
        return self._dropped(inputs, self.rate, [batch, *[1] * len(places), channels])


for _d, _what in _PLACES.items():
    _kind = f"SpatialDropout{_d}D"
    _doc = told(_SpatialDropout, what=_what, kind=_kind, kept=[1, *[2] * _d, 3])
    globals()[_kind] = type(_kind, (_SpatialDropout,), {"__doc__": _doc, "__module__": __name__})
_SpatialDropout.__doc__ = None


@settings("rate, noise_shape=None, seed=None")
class AlphaDropout(Seeded):
    """Sets elements at random to the least value of `selu`, while training.

    What is left is scaled and shifted, so that mean and variance stay.

    Examples
    --------
    >>> print(tf.keras.layers.AlphaDropout(0.5)(tf.constant([1.0])).numpy())
    [1.]
    """

    chance = "rate"

    def call(self, inputs, training=False) -> Any:
        if not training or not self.rate:
            return inputs
        shape = tuple(inputs.shape)
        given = self.noise_shape or (None,) * len(shape)
        sizes = tuple(n if own is None else own for own, n in zip(given, shape, strict=True))
        numbers = self.seed_generator.stream().uniform_of(sizes, np.dtype(np.float32))
        kept, least = numbers >= self.rate, -1.6732632423543772 * 1.0507009873554805
        scale = ((1 - self.rate) * (1 + self.rate * least**2)) ** -0.5
        chosen = operations.where(kept, inputs, operations.cast(least, inputs.dtype))
        return chosen * scale - scale * least * self.rate


@settings("layer")
class Wrapper(Layer):
    """Base class for layers that hold another layer."""

    def build(self, input_shape=None) -> None:
        """Build the inner layer."""
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True


@settings("layer/power_iterations=1")
class SpectralNormalization(Wrapper):
    """Divides the kernel of a layer by its greatest singular value, while training.

    Examples
    --------
    >>> layer = tf.keras.layers.SpectralNormalization(tf.keras.layers.Dense(2))
    >>> layer(tf.ones([1, 3])).shape
    TensorShape([1, 2])
    """

    def build(self, input_shape=None) -> None:
        """Build the inner layer, and create an estimate of a singular vector."""
        super().build(input_shape)
        self.vector_u = self.add_weight(
            shape=(1, self._held().shape[-1]),
            initializer=initializers.TruncatedNormal(stddev=0.02),
            trainable=False,
            name="vector_u",
        )

    def _held(self) -> Any:
        return self.layer.kernel if hasattr(self.layer, "kernel") else self.layer.embeddings

    def call(self, inputs, training=False) -> Any:
        kernel = self._held()
        if training and np.any(kernel.numpy()):
            rows = np.asarray(kernel.numpy()).reshape(-1, kernel.shape[-1])
            u = np.asarray(self.vector_u.numpy())
            for _ in range(self.power_iterations):
                v, u = (part / np.linalg.norm(part) for part in (u @ rows.T, u @ rows.T @ rows))
            self.vector_u.assign(u)
            kernel.assign(kernel.numpy() / (v @ rows @ u.T))
        return self.layer(inputs)


def _adaptive(kind: str, d: int) -> Any:
    def call(self, inputs) -> Any:
        """The {words} of as many windows of {what} as the result has positions.

        Examples
        --------
        >>> tf.keras.layers.{name}(2)(tf.ones({shape})).shape
        TensorShape({pooled})
        """
        return getattr(composed, f"adaptive_{kind.lower()}_pool")(
            inputs, self.output_size, self.data_format
        )

    name, words = f"Adaptive{kind}Pooling{d}D", "means" if kind == "Average" else "maxima"
    shapes = {"shape": [1, *[5] * d, 1], "pooled": [1, *[2] * d, 1]}
    doc = told(call, words=words, what=_PLACES[d], name=name, **shapes)
    call.__doc__ = None
    body = {"call": call, "__doc__": doc, "__module__": __name__}
    return settings("output_size, data_format=None")(type(name, (Layer,), body))


for _d in _PLACES:
    for _kind in ("Average", "Max"):
        _made = _adaptive(_kind, _d)
        globals()[_made.__name__] = _made


class ActivityRegularization(Layer):
    """Returns its input, and adds a penalty on it to the loss.

    Parameters
    ----------
    l1, l2 : float. The factors of the sum of absolute values and of the sum of squares.
    """

    def __init__(self, l1=0.0, l2=0.0, **kwargs) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1, l2), **kwargs)
        self.l1, self.l2 = l1, l2

    def call(self, inputs) -> Any:
        return inputs


@settings("{alpha = zeros}, shared_axes=None")
class PReLU(Layer):
    """x where positive, else trained slopes times x.

    Parameters
    ----------
    shared_axes : list of int, optional. The dimensions along which slopes are shared.
    """

    def build(self, input_shape) -> None:
        """Create the weight."""
        shared = np.atleast_1d(self.shared_axes) if self.shared_axes is not None else ()
        sizes = [1 if i in shared else n for i, n in enumerate(input_shape)][1:]
        self.alpha = self._weight("alpha", sizes)

    def call(self, inputs) -> Any:
        return nn.relu(inputs) - self.alpha * nn.relu(-inputs)


__all__ = defined(globals())
