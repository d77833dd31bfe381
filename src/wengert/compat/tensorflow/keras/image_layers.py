"""Layer 9 · compat: Keras's layers of images and sequences: convolutions and pooling."""

from __future__ import annotations

from typing import Any

from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import nn, operations
from wengert.compat.tensorflow.keras.layer import Layer
from wengert.compat.tensorflow.keras.settings import settings


def _several(value: Any, d: int) -> tuple[int, ...]:
    return (int(value),) * d if isinstance(value, int) else tuple(int(n) for n in value)


def _padding(value: str) -> str:
    if value.lower() not in ("valid", "same"):
        raise ValueError(f"`padding` must be one of 'valid', 'same'. Received: padding={value!r}")
    return value.upper()


def _check_last(data_format: Any) -> None:
    if data_format not in (None, "channels_last"):
        raise ValueError(f"data_format={data_format!r} is not offered here: channels come last")


@settings
class _Conv(Layer):
    """What the layers of convolutions have in common."""

    dimensions = 2

    filters: int
    kernel_size: Any
    strides: Any = 1
    padding: str = "valid"
    data_format: Any = None
    dilation_rate: Any = 1
    groups: int = 1
    activation: Any = None
    use_bias: bool = True
    kernel_initializer: Any = "glorot_uniform"
    bias_initializer: Any = "zeros"
    kernel_regularizer: Any = None
    bias_regularizer: Any = None
    activity_regularizer: Any = None
    kernel_constraint: Any = None
    bias_constraint: Any = None

    def _prepare(self) -> None:
        _check_last(self.data_format)
        d = self.dimensions
        self.filters = int(self.filters)
        self.kernel_size = _several(self.kernel_size, d)
        self.strides = _several(self.strides, d)
        self.padding = _padding(self.padding)
        self.dilation_rate = _several(self.dilation_rate, d)

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, channels // self.groups, self.filters)

    def build(self, input_shape: Any) -> None:
        self.kernel = self._weight("kernel", self._kernel_shape(input_shape[-1]))
        self.bias = self._weight("bias", (self.filters,)) if self.use_bias else None
        self.built = True

    def _convolved(self, inputs: Any) -> Any:
        return nn.convolution(
            inputs, self.kernel, self.strides, self.padding, None, self.dilation_rate
        )

    def call(self, inputs: Any) -> Any:
        if not inputs.dtype.is_floating:
            inputs = operations.cast(inputs, self.kernel.dtype)
        result = self._convolved(inputs)
        if self.bias is not None:
            result = operations.add(result, self.bias)
        return self.activation(result)


class Conv2D(_Conv):
    """The convolution of images with filters that are learnt.

    Examples
    --------
    >>> tf.keras.layers.Conv2D(8, 3, padding="same")(tf.ones([2, 5, 5, 1])).shape
    TensorShape([2, 5, 5, 8])
    """


class Conv1D(_Conv):
    """The convolution of sequences with filters that are learnt.

    Examples
    --------
    >>> tf.keras.layers.Conv1D(8, 3)(tf.ones([2, 5, 1])).shape
    TensorShape([2, 3, 8])
    """

    dimensions = 1


class Conv2DTranspose(_Conv):
    """What the gradient of a convolution does: images that become larger.

    Examples
    --------
    >>> tf.keras.layers.Conv2DTranspose(8, 3, 2, "same")(tf.ones([2, 5, 5, 1])).shape
    TensorShape([2, 10, 10, 8])
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        output_padding: Any = None,
        **kwargs: Any,
    ) -> None:
        if output_padding is not None:
            raise ValueError("output_padding is not offered here: leave it out")
        given = {"filters": filters, "kernel_size": kernel_size, "strides": strides}
        super().__init__(**given, padding=padding, **kwargs)

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, self.filters, channels)

    def _convolved(self, inputs: Any) -> Any:
        batch, height, width, _ = tuple(inputs.shape)
        sizes = []
        for size, k, s in zip((height, width), self.kernel_size, self.strides, strict=True):
            sizes.append(size * s if self.padding == "SAME" else size * s + max(k - s, 0))
        return nn.conv2d_transpose(
            inputs, self.kernel, [batch, *sizes, self.filters], self.strides, self.padding
        )


# -- pooling ---------------------------------------------------------------------------------------

_POOL = """{words} of the windows of {places}.

Examples
--------
>>> import wengert.compat.tensorflow as tf
>>> tf.keras.layers.{name}()(tf.ones({example})).shape
TensorShape({result})
"""


def _pooling(name: str, function: Any, d: int, words: str) -> Any:
    def __init__(
        self: Any,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: Any = None,
        **kwargs: Any,
    ) -> None:
        Layer.__init__(self, **kwargs)
        _check_last(data_format)
        self.pool_size = _several(pool_size, d)
        self.strides = self.pool_size if strides is None else _several(strides, d)
        self.padding = _padding(padding)

    def call(self: Any, inputs: Any) -> Any:
        return function(inputs, self.pool_size, self.strides, self.padding)

    call.__doc__ = "The result for `inputs`."
    doc = _POOL.format(
        words=words,
        places="images" if d == 2 else "sequences",
        name=name,
        example=[1, *[4] * d, 1],
        result=[1, *[2] * d, 1],
    )
    body = {"__init__": __init__, "call": call, "__doc__": doc, "__module__": __name__}
    return type(name, (Layer,), body)


MaxPooling2D = _pooling("MaxPooling2D", nn.max_pool2d, 2, "The greatest elements")
MaxPooling1D = _pooling("MaxPooling1D", nn.max_pool1d, 1, "The greatest elements")
AveragePooling2D = _pooling("AveragePooling2D", nn.avg_pool2d, 2, "The means")


def _global(name: str, function: Any, d: int, words: str) -> Any:
    def __init__(self: Any, data_format: Any = None, keepdims: bool = False, **kwargs: Any) -> None:
        Layer.__init__(self, **kwargs)
        _check_last(data_format)
        self.keepdims = keepdims

    def call(self: Any, inputs: Any) -> Any:
        return function(inputs, list(range(1, d + 1)), self.keepdims)

    call.__doc__ = "The result for `inputs`."
    doc = f"{words} of each channel."
    body = {"__init__": __init__, "call": call, "__doc__": doc, "__module__": __name__}
    return type(name, (Layer,), body)


GlobalAveragePooling2D = _global(
    "GlobalAveragePooling2D", operations.reduce_mean, 2, "The mean over each image"
)
GlobalAveragePooling1D = _global(
    "GlobalAveragePooling1D", operations.reduce_mean, 1, "The mean over each sequence"
)
GlobalMaxPooling2D = _global(
    "GlobalMaxPooling2D", operations.reduce_max, 2, "The greatest element of each image"
)


@settings
class ZeroPadding2D(Layer):
    """Rows and columns of zeros around images.

    Examples
    --------
    >>> tf.keras.layers.ZeroPadding2D(1)(tf.ones([1, 2, 2, 1])).shape
    TensorShape([1, 4, 4, 1])
    """

    padding: Any = (1, 1)
    data_format: Any = None

    def _prepare(self) -> None:
        _check_last(self.data_format)
        rows, columns = _several(self.padding, 2) if isinstance(self.padding, int) else self.padding
        self.padding = tuple((n, n) if isinstance(n, int) else tuple(n) for n in (rows, columns))

    def call(self, inputs: Any) -> Any:
        return operations.pad(inputs, [(0, 0), *self.padding, (0, 0)])


__all__ = defined(globals())
fill_sections(globals())
