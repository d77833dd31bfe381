"""Layer 9 · compat: TensorFlow's convolutions and pooling, with the channels last.

Arguments are transposed to put the channels first, and results are transposed back. The padding of
``"SAME"`` is computed here, because it may be one element larger after than before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.base.dtypes import limits
from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import shaped
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions.templates import rows
from wengert.compat.tensorflow.functions.values import integers, invalid
from wengert.compat.tensorflow.words import refusal

_F = wg.nn.functional
_MAX = {1: _F.max_pool1d, 2: _F.max_pool2d, 3: _F.max_pool3d}
_AVERAGE = {1: _F.avg_pool1d, 2: _F.avg_pool2d, 3: _F.avg_pool3d}


def _pooled(
    op: str, d: int | None, input, ksize, strides, padding, data_format, dilations=None
) -> Any:
    x = V.tensor_of(input)
    V.check(x, V.FLOATING)
    if d is None:
        d = x._payload.ndim - 2
    if d not in _MAX or x._payload.ndim != d + 2:
        raise V.invalid(f"input must be {3 if d is None else d + 2}-dimensional")
    channels_first = is_channels_first(data_format)
    window = per_dimension(ksize, d, channels_first, "ksize")
    steps = per_dimension(strides, d, channels_first, "strides")
    spread = per_dimension(dilations, d, channels_first, "dilations")
    x = first(x, channels_first)
    sizes = x._payload.shape[2:]
    pairs = padding_of(padding, sizes, extent_of(window, spread), steps, channels_first)
    if op.startswith("MaxPool"):
        least = float(limits(x._payload.dtype).min)
        result = _MAX[d](padded(x, pairs, least), window, steps, 0, spread)
    else:
        if any(s != 1 for s in spread):
            raise V.invalid("averages over windows with gaps are not offered here")
        result = _AVERAGE[d](padded(x, pairs), window, steps, 0)
        if any(map(any, pairs)):
            # padding does not count
            ones = padded(wg.as_tensor(np.ones((1, 1, *sizes), x._payload.dtype)), pairs)
            result = wg.div(result, _AVERAGE[d](ones, window, steps, 0))
    return last(result, channels_first)


def _pooling(path: str, op: str, d: str, what: str, places: str) -> Any:
    """Make the function `path`, which pools windows of `d`, or of all spatial dimensions."""

    @V.operation(op)
    def pooling(input, ksize, strides, padding, data_format=None, name=None) -> Any:
        """{what} of the windows of {places}.

        Parameters
        ----------
        input : Tensor. The input, with the channels last or after the batch.
        ksize : int or sequence of int. The size of the windows.
        strides : int or sequence of int. The strides of the windows.
        padding : str. ``"VALID"``: no padding; ``"SAME"``: as much as puts each element into a
            window. Padding does not count.
        data_format : str, optional. The position of the channels: ``C`` last, or after ``N``.

        %(returns_differentiable)s

        Raises
        ------
        InvalidArgumentError: If shapes do not match, or an argument is unknown.

        Examples
        --------
        >>> tf.{path}(tf.ones({example}), 2, 2, "SAME").shape
        TensorShape({result})
        """
        return _pooled(op, int(d) or None, input, ksize, strides, padding, data_format)

    sizes = {key: [1, *[n] * (int(d) or 2), 1] for key, n in (("example", 3), ("result", 2))}
    return shaped(pooling, path, what=what, places=places, **sizes)


rows(
    globals(),
    _pooling,
    """
    nn.max_pool | MaxPool | 0 | The greatest elements | sequences, images or volumes
    nn.max_pool1d | MaxPool | 1 | The greatest elements | sequences
    nn.max_pool2d | MaxPool | 2 | The greatest elements | images
    nn.max_pool3d | MaxPool3D | 3 | The greatest elements | volumes
    nn.avg_pool | AvgPool | 0 | The means | sequences, images or volumes
    nn.avg_pool1d | AvgPool | 1 | The means | sequences
    nn.avg_pool2d | AvgPool | 2 | The means | images
    nn.avg_pool3d | AvgPool3D | 3 | The means | volumes
    """,
)


@V.operation("Pool")
def pool(
    input,
    window_shape,
    pooling_type: str,
    strides=None,
    padding="VALID",
    data_format=None,
    dilations=None,
    name=None,
) -> Any:
    """Return the maximum (``"MAX"``) or the mean (``"AVG"``) of windows.

    Raises
    ------
    ValueError: If the pooling type is unknown.

    Examples
    --------
    >>> tf.nn.pool(tf.ones([1, 4, 1]), [2], "AVG").shape
    TensorShape([1, 3, 1])
    """
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"pooling_type must be 'MAX' or 'AVG', not {pooling_type!r}")
    op = "MaxPool" if pooling_type == "MAX" else "AvgPool"
    return _pooled(op, None, input, window_shape, strides, padding, data_format, dilations)


def first(x, channels_first: bool) -> Any:
    """Return `x` with its channels moved after the batch."""
    return x if channels_first else wg.movedim(x, -1, 1)


def last(x, channels_first: bool) -> Any:
    """Move the channels back to the last axis; undoes `first`."""
    return x if channels_first else wg.movedim(x, 1, -1)


def per_dimension(value, d: int, channels_first: bool, what: str) -> tuple[int, ...]:
    """Return one number per spatial dimension, from one for all or a list with batch and channels.

    Raises
    ------
    InvalidArgumentError: If the list has another length.
    """
    if value is None:
        return (1,) * d
    numbers = integers(value, what)
    if len(numbers) == 1:
        return numbers * d
    if len(numbers) == d + 2:
        inner = numbers[2:] if channels_first else numbers[1:-1]
        if sum(numbers) - sum(inner) != 2:
            raise refusal(invalid, "Current implementation does", what, list(numbers))
        return inner
    if len(numbers) != d:
        raise invalid(f"{what} must be one number, {d} or {d + 2}, not {len(numbers)}")
    return numbers


def padding_of(
    padding,
    sizes: tuple[int, ...],
    window: tuple[int, ...],
    strides: tuple[int, ...],
    channels_first: bool,
) -> list[tuple[int, int]]:
    """Return the padding before and after each dimension, with dilated windows.

    Raises
    ------
    InvalidArgumentError: If `padding` is unknown.
    """
    if isinstance(padding, list | tuple):
        pairs = [(int(before), int(after)) for before, after in padding]
        if len(pairs) == len(sizes) + 2:
            pairs = pairs[2:] if channels_first else pairs[1:-1]
        return pairs
    kind = padding.upper() if isinstance(padding, str) else padding
    if kind == "VALID":
        return [(0, 0)] * len(sizes)
    if kind != "SAME":
        raise refusal(invalid, "Value for attr 'padding'", padding)
    pairs = []
    for size, extent, stride in zip(sizes, window, strides, strict=True):
        total = max((-(-size // stride) - 1) * stride + extent - size, 0)
        pairs.append((total // 2, total - total // 2))
    return pairs


def padded(x, pairs: list[tuple[int, int]], value=0.0) -> Any:
    """Pad `x`, with channels first, along its last dimensions."""
    if not any(map(any, pairs)):
        return x
    return wg.nn.functional.pad(x, [n for pair in reversed(pairs) for n in pair], value=value)


def is_channels_first(data_format) -> bool:
    """Return whether a format has the channels right after the batch."""
    if data_format is None or data_format in ("NWC", "NHWC", "NDHWC"):
        return False
    if data_format in ("NCW", "NCHW", "NCDHW"):
        return True
    raise invalid(f"Value for attr 'data_format' of \"{data_format}\" is not known")


def extent_of(kernel: tuple[int, ...], dilations: tuple[int, ...]) -> tuple[int, ...]:
    """Return the extent of dilated windows."""
    return tuple((k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True))


@V.operation("Dilation2D", "input", "filters")
def dilation2d(input, filters, strides, padding, data_format, dilations, name=None) -> Any:
    """Return the greatest sums of the elements of windows with those of a filter.

    Parameters
    ----------
    input : Tensor. Images, of shape ``(batch, height, width, channels)``.
    filters : Tensor. For each channel a filter, of shape ``(height, width, channels)``.
    strides, padding, data_format, dilations: Those of `conv2d`.

    Examples
    --------
    >>> x, filters = tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1])
    >>> ones = [1, 1, 1, 1]
    >>> tf.nn.dilation2d(x, filters, ones, "VALID", "NHWC", ones).shape
    TensorShape([1, 2, 2, 1])
    """
    x = first(input, is_channels_first(data_format))
    kernel = tuple(filters.shape[:2])
    steps, spread = (
        per_dimension(n, 2, is_channels_first(data_format), what)
        for n, what in ((strides, "strides"), (dilations, "dilations"))
    )
    sizes, extent = x.shape[2:], extent_of(kernel, spread)
    pairs = padding_of(padding, sizes, extent, steps, False)
    wide = padded(x, pairs, float(limits(x._payload.dtype).min))
    windows = wg.nn.functional.unfold(wide, kernel, spread, 0, steps)
    across = [
        (size + sum(pair) - n) // step + 1
        for size, pair, n, step in zip(sizes, pairs, extent, steps, strict=True)
    ]
    parts = wg.reshape(windows, (*x.shape[:2], kernel[0] * kernel[1], *across))
    sums = wg.add(parts, wg.reshape(wg.permute(filters, (2, 0, 1)), (x.shape[1], -1, 1, 1)))
    return last(wg.amax(sums, 2), is_channels_first(data_format))


def erosion2d(value, filters, strides, padding, data_format, dilations, name=None) -> Any:
    """Return the least differences of the elements of windows and those of a filter.

    Examples
    --------
    >>> x, filters = tf.fill([1, 3, 3, 1], 5.0), tf.ones([2, 2, 1])
    >>> found = tf.nn.erosion2d(x, filters, [1] * 4, "VALID", "NHWC", [1] * 4)
    >>> print(found[0, 0].numpy().ravel())
    [4. 4.]
    """
    turned = V.made(wg.flip(V.tensor_of(filters), (0, 1)))
    return -dilation2d(
        -V.made(V.tensor_of(value)), turned, strides, padding, data_format, dilations
    )


_CONV = {1: wg.conv1d, 2: wg.conv2d, 3: wg.conv3d}
_TRANSPOSED = {1: wg.conv_transpose1d, 2: wg.conv_transpose2d, 3: wg.conv_transpose3d}


def _read(op: str, d: int, input, filters, strides, data_format, dilations) -> tuple[Any, ...]:
    """Return the input with channels first, the filters, the format, strides and dilations."""
    x, w = V.aligned(op, input, filters)
    V.check(x, V.FLOATING)
    channels_first = is_channels_first(data_format)
    for value, name in ((x, "input"), (w, "filter")):
        if value._payload.ndim != d + 2:
            raise V.invalid(
                f"convolution {name} must be {d + 2}-dimensional: {V.shown(value._payload.shape)}"
            )
    steps = per_dimension(strides, d, channels_first, "strides")
    spread = per_dimension(dilations, d, channels_first, "dilations")
    return first(x, channels_first), w, channels_first, steps, spread


def _convolved(
    op: str, d: int, input, filters, strides, padding, data_format, dilations, depthwise=False
) -> Any:
    x, w, channels_first, steps, spread = _read(
        op, d, input, filters, strides, data_format, dilations
    )
    depth, sizes = x._payload.shape[1], x._payload.shape[2:]
    kernel, (taken, made_) = w._payload.shape[:d], w._payload.shape[d:]
    if depthwise:
        if taken != depth:
            raise V.invalid(f"input and filter must have the same depth: {depth} vs {taken}")
        w = wg.reshape(wg.permute(w, (d, d + 1, *range(d))), (taken * made_, 1, *kernel))
        groups = depth
    else:
        if not taken or depth % taken:
            raise refusal(V.invalid, "input depth must", depth, taken)
        w = wg.permute(w, (d + 1, d, *range(d)))
        groups = depth // taken
    extent = extent_of(kernel, spread)
    pairs = padding_of(padding, sizes, extent, steps, channels_first)
    for size, wide, (before, after) in zip(sizes, extent, pairs, strict=True):
        if size + before + after < wide:
            raise refusal(
                V.invalid, "Computed output size", size + before + after - wide + 1, size, wide
            )
    if all(before == after for before, after in pairs):
        result = _CONV[d](x, w, None, steps, tuple(before for before, _ in pairs), spread, groups)
    else:
        result = _CONV[d](padded(x, pairs), w, None, steps, 0, spread, groups)
    return last(result, channels_first)


def _convolution(path: str, op: str, d: int) -> Any:
    """Make the function `path`, which convolves over `d` dimensions."""

    @V.operation(op)
    def convolution(
        input, filters, strides, padding, data_format=None, dilations=None, name=None
    ) -> Any:
        """Convolve {what} with filters, which are not flipped.

        Parameters
        ----------
        input : Tensor. The input, of shape ``(batch, {inner}, channels)``, or with the channels
            after the batch.
        filters : Tensor. The filters, of shape ``({inner}, channels in, channels out)``.
        {2} : int or sequence of int. The stride of the filters.
        padding : str. ``"VALID"``: no padding; ``"SAME"``: as much as makes a stride of 1 keep the
            size; or pairs of numbers.
        data_format : str, optional. The position of the channels: ``C`` last, or after ``N``.
        dilations : int or sequence of int, optional. The distance between elements of the filters.

        Returns
        -------
        Tensor: Differentiable in both arguments.

        Raises
        ------
        InvalidArgumentError: If shapes or dtypes do not match, or an argument is unknown.

        Examples
        --------
        >>> tf.{path}(tf.ones({example}), tf.ones({window}), 1, "SAME").shape
        TensorShape({example})
        """
        return _convolved(op, d, input, filters, strides, padding, data_format, dilations)

    what, inner = _PLACES[d]
    example, window = [1, *[4] * d, 1], [*[3] * d, 1, 1]
    return shaped(convolution, path, what=what, inner=inner, example=example, window=window)


_PLACES = {
    1: ("sequences", "width"),
    2: ("images", "height, width"),
    3: ("volumes", "depth, height, width"),
}
conv1d = _convolution(
    "nn.conv1d(input, filters, stride, padding, data_format='NWC', dilations=None, name=None)",
    "Conv2D",
    1,
)
conv2d = _convolution(
    "nn.conv2d(input, filters, strides, padding, data_format='NHWC', dilations=None, name=None)",
    "Conv2D",
    2,
)
conv3d = _convolution(
    "nn.conv3d(input, filters, strides, padding, data_format='NDHWC', dilations=None, name=None)",
    "Conv3D",
    3,
)


@V.operation("Convolution", "input", "filters")
def convolution(
    input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None
) -> Any:
    """Convolve sequences, images or volumes, depending on the shape of the filters.

    Examples
    --------
    >>> tf.nn.convolution(tf.ones([1, 5, 1]), tf.ones([3, 1, 2])).shape
    TensorShape([1, 3, 2])
    """
    d = filters._payload.ndim - 2
    if d not in _CONV:
        raise V.invalid(f"filters must have 3 to 5 dimensions, not {d + 2}")
    return _convolved("Convolution", d, input, filters, strides, padding, data_format, dilations)


@V.operation("DepthwiseConv2dNative")
def depthwise_conv2d(
    input, filter, strides, padding, data_format=None, dilations=None, name=None
) -> Any:
    """Convolve each channel of images with its own filters (see `conv2d`).

    Examples
    --------
    >>> x, filters = tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 2, 3])
    >>> tf.nn.depthwise_conv2d(x, filters, [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 6])
    """
    return _convolved(
        "DepthwiseConv2dNative", 2, input, filter, strides, padding, data_format, dilations, True
    )


@V.operation("Conv2D")
def separable_conv2d(
    input,
    depthwise_filter,
    pointwise_filter,
    strides,
    padding,
    data_format=None,
    dilations=None,
    name=None,
) -> Any:
    """Apply `depthwise_conv2d`, and then `conv2d` with 1x1 filters.

    Examples
    --------
    >>> x, depth, point = tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 2, 3]), tf.ones([1, 1, 6, 4])
    >>> tf.nn.separable_conv2d(x, depth, point, [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 4])
    """
    middle = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(middle, pointwise_filter, 1, "VALID", data_format or "NHWC")


def atrous_conv2d(value, filters, rate, padding, name=None) -> Any:
    """Apply `conv2d` with filters dilated by `rate`.

    Examples
    --------
    >>> tf.nn.atrous_conv2d(tf.ones([1, 5, 5, 1]), tf.ones([3, 3, 1, 2]), 2, "VALID").shape
    TensorShape([1, 1, 1, 2])
    """
    return conv2d(value, filters, 1, padding, dilations=rate)


# -- transposed ------------------------------------------------------------------------------------


def _transposed(
    op: str, d: int, input, filters, output_shape, strides, padding, data_format, dilations
) -> Any:
    x, w, channels_first, steps, spread = _read(
        op, d, input, filters, strides, data_format, dilations
    )
    wanted = V.shape_of(output_shape)
    sizes = wanted[2:] if channels_first else wanted[1:-1]
    if len(wanted) == d:
        sizes = wanted
    if w._payload.shape[-1] != x._payload.shape[1]:
        raise refusal(V.invalid, "input channels does", x._payload.shape[1], w._payload.shape[-1])
    extent = extent_of(w._payload.shape[:d], spread)
    pairs = padding_of(padding, sizes, extent, steps, channels_first)
    here = x._payload.shape[2:]
    for i, (size, wide, step, (before, after)) in enumerate(
        zip(sizes, extent, steps, pairs, strict=True)
    ):
        expected = (size + before + after - wide) // step + 1
        if expected != here[i]:
            raise refusal(
                V.invalid, "Size of out_backprop", here[i], expected, i, size, wide, here[i], step
            )
    result: Any = _TRANSPOSED[d](
        x, wg.permute(w, (d + 1, d, *range(d))), None, steps, 0, 0, 1, spread
    )
    for i, (size, (before, _)) in enumerate(zip(sizes, pairs, strict=True)):
        have = result._payload.shape[i + 2]
        if have < before + size:
            result = padded(result, [(0, before + size - have if j == i else 0) for j in range(d)])
        result = wg.narrow(result, i + 2, before, size)
    return last(result, channels_first)


def _transposed_convolution(path: str, op: str, d: int, data_format: str) -> Any:
    """Make the function `path`, a transposed convolution over `d` dimensions."""

    @V.operation(op)
    def transposed(
        input,
        filters,
        output_shape,
        strides,
        padding="SAME",
        data_format=data_format,
        dilations=None,
        name=None,
    ) -> Any:
        """Transpose `{before}`: map cotangents of its result to {what}.

        Parameters
        ----------
        input : Tensor. The input, of shape ``(batch, {inner}, channels in)``.
        filters : Tensor. The filters, of shape ``({inner}, channels out, channels in)``.
        output_shape : sequence of int. The shape of the result.
        strides, padding, data_format, dilations: The arguments of the `{before}` to transpose.

        Returns
        -------
        Tensor: Differentiable in both arguments.

        Raises
        ------
        InvalidArgumentError: If the shapes do not match.

        Examples
        --------
        >>> x, filters = tf.ones({small}), tf.ones({window})
        >>> tf.{path}(x, filters, {large}, strides=2).shape
        TensorShape({large})
        """
        return _transposed(
            op, d, input, filters, output_shape, strides, padding, data_format, dilations
        )

    what, inner = _PLACES[d]
    sizes = {"small": [1, *[2] * d, 1], "window": [*[3] * d, 1, 1], "large": [1, *[4] * d, 1]}
    return shaped(transposed, path, what=what, inner=inner, before=f"conv{d}d", **sizes)


conv1d_transpose = _transposed_convolution("nn.conv1d_transpose", "Conv2DBackpropInput", 1, "NWC")
conv2d_transpose = _transposed_convolution("nn.conv2d_transpose", "Conv2DBackpropInput", 2, "NHWC")
conv3d_transpose = _transposed_convolution(
    "nn.conv3d_transpose", "Conv3DBackpropInputV2", 3, "NDHWC"
)
_SHARED = "extent_of first is_channels_first last padded padding_of per_dimension"
__all__ = defined(globals(), without=_SHARED)
