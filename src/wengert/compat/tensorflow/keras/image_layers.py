"""Layer 9 · compat: Keras's layers of images and sequences: convolutions and pooling."""

from __future__ import annotations

from typing import Any, ClassVar

from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import nn, operations
from wengert.compat.tensorflow.keras.layer import Layer
from wengert.compat.tensorflow.keras.settings import settings


def _several(value, d: int) -> tuple[int, ...]:
    return (int(value),) * d if isinstance(value, int) else tuple(int(n) for n in value)


def _padding(value: str) -> str:
    if value.lower() not in ("valid", "same"):
        raise ValueError(f"`padding` must be one of 'valid', 'same'. Received: padding={value!r}")
    return value.upper()


def _check_last(data_format) -> None:
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

    def build(self, input_shape) -> None:
        self.kernel = self._weight("kernel", self._kernel_shape(input_shape[-1]))
        self.bias = self._weight("bias", (self.filters,)) if self.use_bias else None
        self.built = True

    def _convolved(self, inputs) -> Any:
        return nn.convolution(
            inputs, self.kernel, self.strides, self.padding, None, self.dilation_rate
        )

    def call(self, inputs) -> Any:
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


class Conv3D(_Conv):
    """The convolution of volumes with filters that are learnt."""

    dimensions = 3


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
        kernel_size,
        strides=1,
        padding: str = "valid",
        output_padding=None,
        **kwargs,
    ) -> None:
        if output_padding is not None:
            raise ValueError("output_padding is not offered here: leave it out")
        given = {"filters": filters, "kernel_size": kernel_size, "strides": strides}
        super().__init__(**given, padding=padding, **kwargs)

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, self.filters, channels)

    def _convolved(self, inputs) -> Any:
        batch, height, width, _ = tuple(inputs.shape)
        sizes = []
        for size, k, s in zip((height, width), self.kernel_size, self.strides, strict=True):
            sizes.append(size * s if self.padding == "SAME" else size * s + max(k - s, 0))
        return nn.conv2d_transpose(
            inputs, self.kernel, [batch, *sizes, self.filters], self.strides, self.padding
        )


# -- pooling ---------------------------------------------------------------------------------------


@settings
class _Pooling(Layer):
    """What the layers have in common that pool windows."""

    dimensions: ClassVar[int]
    function: ClassVar[Any]
    pool_size: Any = 2
    strides: Any = None
    padding: str = "valid"
    data_format: Any = None

    def _prepare(self) -> None:
        _check_last(self.data_format)
        self.pool_size = _several(self.pool_size, self.dimensions)
        given = self.pool_size if self.strides is None else self.strides
        self.strides = _several(given, self.dimensions)
        self.padding = _padding(self.padding)

    def call(self, inputs) -> Any:
        return self.function(inputs, self.pool_size, self.strides, self.padding)


@settings
class _Global(Layer):
    """What the layers have in common that pool all of an example."""

    dimensions: ClassVar[int]
    function: ClassVar[Any]
    data_format: Any = None
    keepdims: bool = False

    def _prepare(self) -> None:
        _check_last(self.data_format)

    def call(self, inputs) -> Any:
        return self.function(inputs, list(range(1, self.dimensions + 1)), self.keepdims)


_POOL = """{words} of {of}.

Examples
--------
>>> import wengert.compat.tensorflow as tf
>>> tf.keras.layers.{name}()(tf.ones({example})).shape
TensorShape({result})
"""
_PLACES = {1: "sequences", 2: "images", 3: "volumes"}
_POOLED = {
    "Max": ("max", "The greatest elements", operations.reduce_max),
    "Average": ("avg", "The means", operations.reduce_mean),
}


def _pools(namespace: dict[str, Any], word: str, d: int) -> None:
    """The layers that pool, of a word and a number of dimensions, by their long and short names."""
    short, words, whole = _POOLED[word]
    example = [1, *[4] * d, 1]
    for base, before, function, of, result in (
        (_Pooling, "", getattr(nn, f"{short}_pool{d}d"), "the windows of", [1, *[2] * d, 1]),
        (_Global, "Global", whole, "each channel of", [1, 1]),
    ):
        name = f"{before}{word}Pooling{d}D"
        doc = _POOL.format(
            words=words, of=f"{of} {_PLACES[d]}", name=name, example=example, result=result
        )
        body = {"dimensions": d, "function": staticmethod(function), "__doc__": doc}
        kind = type(name, (base,), {**body, "__module__": __name__})
        namespace |= {name: kind, f"{before}{short.capitalize()}Pool{d}D": kind}


for _word in _POOLED:
    for _d in _PLACES:
        _pools(globals(), _word, _d)


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

    def call(self, inputs) -> Any:
        return operations.pad(inputs, [(0, 0), *self.padding, (0, 0)])


__all__ = defined(globals())
fill_sections(globals())
