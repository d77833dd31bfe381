"""Layer 9 · compat: TensorFlow's convolutions, whose channels come last."""

from __future__ import annotations

from typing import Any

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import shaped
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions import windows

_CONV = {1: wg.conv1d, 2: wg.conv2d, 3: wg.conv3d}
_TRANSPOSED = {1: wg.conv_transpose1d, 2: wg.conv_transpose2d, 3: wg.conv_transpose3d}


def _convolved(
    op: str,
    d: int,
    input,
    filters,
    strides,
    padding,
    data_format,
    dilations,
    depthwise: bool = False,
) -> Any:
    x, w = V.aligned(op, input, filters)
    V.check(op, x, V.FLOATING)
    channels_first = windows.is_channels_first(op, data_format)
    for value, name in ((x, "input"), (w, "filter")):
        if value.payload.ndim != d + 2:
            raise V.invalid(
                op,
                f"convolution {name} must be {d + 2}-dimensional: {V.shown(value.payload.shape)}",
            )
    steps = windows.per_dimension(op, strides, d, channels_first, "strides")
    spread = windows.per_dimension(op, dilations, d, channels_first, "dilations")
    x = windows.first(x, channels_first)
    depth, sizes = x.payload.shape[1], x.payload.shape[2:]
    kernel, (taken, made_) = w.payload.shape[:d], w.payload.shape[d:]
    if depthwise:
        if taken != depth:
            raise V.invalid(op, f"input and filter must have the same depth: {depth} vs {taken}")
        w = wg.reshape(wg.permute(w, (d, d + 1, *range(d))), (taken * made_, 1, *kernel))
        groups = depth
    else:
        if not taken or depth % taken:
            raise V.invalid(
                op, f"input depth must be evenly divisible by filter depth: {depth} vs {taken}"
            )
        w = wg.permute(w, (d + 1, d, *range(d)))
        groups = depth // taken
    extent = windows.extent_of(kernel, spread)
    pairs = windows.padding_of(op, padding, sizes, extent, steps, channels_first)
    for size, wide, (before, after) in zip(sizes, extent, pairs, strict=True):
        if size + before + after < wide:
            raise V.invalid(
                op,
                f"Computed output size would be negative: {size + before + after - wide + 1} "
                f"[input_size: {size}, effective_filter_size: {wide}]",
            )
    if all(before == after for before, after in pairs):
        result = _CONV[d](x, w, None, steps, tuple(before for before, _ in pairs), spread, groups)
    else:
        result = _CONV[d](windows.padded(x, pairs), w, None, steps, 0, spread, groups)
    return windows.last(result, channels_first)


def _convolution(path: str, op: str, d: int) -> Any:
    """The function `path`, which convolves `d` dimensions."""

    @V.operation(op)
    def convolution(
        input, filters, strides, padding, data_format=None, dilations=None, name=None
    ) -> Any:
        """The convolution of {what} with filters (as everywhere, without turning these round).

        Parameters
        ----------
        input : Tensor. Of shape ``(batch, {inner}, channels)``, or with the channels after the
            batch.
        filters : Tensor. Of shape ``({inner}, channels in, channels out)``.
        {2} : int or sequence of int. How far the filters move at each step.
        padding : str. ``"VALID"``: none; ``"SAME"``: so that a stride of 1 keeps the size; or pairs
            of numbers.
        data_format : str, optional. With the ``C`` last, or after the ``N``.
        dilations : int or sequence of int, optional. How far apart the elements of the filters are.

        Returns
        -------
        Tensor: Differentiable in both.

        Raises
        ------
        InvalidArgumentError: If shapes or dtypes do not fit, or an argument is not known.

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


@V.operation("Convolution")
def convolution(
    input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None
) -> Any:
    """The convolution of sequences, images or volumes, as the shape of the filters says.

    Examples
    --------
    >>> tf.nn.convolution(tf.ones([1, 5, 1]), tf.ones([3, 1, 2])).shape
    TensorShape([1, 3, 2])
    """
    x, w = V.aligned("Convolution", input, filters)
    d = w.payload.ndim - 2
    if d not in _CONV:
        raise V.invalid("Convolution", f"filters must have 3 to 5 dimensions, not {d + 2}")
    return _convolved("Convolution", d, x, w, strides, padding, data_format, dilations)


@V.operation("DepthwiseConv2dNative")
def depthwise_conv2d(
    input, filter, strides, padding, data_format=None, dilations=None, name=None
) -> Any:
    """The convolution of each channel of images with filters of its own; as `conv2d`.

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
    """`depthwise_conv2d`, and then `conv2d` with filters of one element.

    Examples
    --------
    >>> x, depth, point = tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 2, 3]), tf.ones([1, 1, 6, 4])
    >>> tf.nn.separable_conv2d(x, depth, point, [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 4])
    """
    middle = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(middle, pointwise_filter, 1, "VALID", data_format or "NHWC")


def atrous_conv2d(value, filters, rate, padding, name=None) -> Any:
    """`conv2d` with filters whose elements are `rate` apart.

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
    x, w = V.aligned(op, input, filters)
    V.check(op, x, V.FLOATING)
    channels_first = windows.is_channels_first(op, data_format)
    steps = windows.per_dimension(op, strides, d, channels_first, "strides")
    spread = windows.per_dimension(op, dilations, d, channels_first, "dilations")
    wanted = V.shape_of(op, output_shape)
    sizes = wanted[2:] if channels_first else wanted[1:-1]
    if len(wanted) == d:
        sizes = wanted
    x = windows.first(x, channels_first)
    if w.payload.shape[-1] != x.payload.shape[1]:
        raise V.invalid(
            op,
            "input channels does not match filter's input channels, "
            f"{x.payload.shape[1]} != {w.payload.shape[-1]}",
        )
    extent = windows.extent_of(w.payload.shape[:d], spread)
    pairs = windows.padding_of(op, padding, sizes, extent, steps, channels_first)
    here = x.payload.shape[2:]
    for i, (size, wide, step, (before, after)) in enumerate(
        zip(sizes, extent, steps, pairs, strict=True)
    ):
        expected = (size + before + after - wide) // step + 1
        if expected != here[i]:
            raise V.invalid(
                op,
                f"Size of out_backprop doesn't match computed: actual = {here[i]}, computed = "
                f"{expected} spatial_dim: {i} input: {size} filter: {wide} output: {here[i]} "
                f"stride: {step}",
            )
    result: Any = _TRANSPOSED[d](
        x, wg.permute(w, (d + 1, d, *range(d))), None, steps, 0, 0, 1, spread
    )
    for i, (size, (before, _)) in enumerate(zip(sizes, pairs, strict=True)):
        have = result.payload.shape[i + 2]
        if have < before + size:
            result = windows.padded(
                result, [(0, before + size - have if j == i else 0) for j in range(d)]
            )
        result = wg.narrow(result, i + 2, before, size)
    return windows.last(result, channels_first)


def _transposed_convolution(path: str, op: str, d: int, data_format: str) -> Any:
    """The function `path`, which is what gradients of convolutions of `d` dimensions are."""

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
        """What `{before}` does to gradients: {what} of which it would make `input`.

        Parameters
        ----------
        input : Tensor. Of shape ``(batch, {inner}, channels in)``.
        filters : Tensor. Of shape ``({inner}, channels out, channels in)``.
        output_shape : sequence of int. The shape of the result.
        strides, padding, data_format, dilations: Those of the `{before}` that goes the other way.

        Returns
        -------
        Tensor: Differentiable in both.

        Raises
        ------
        InvalidArgumentError: If the shapes do not fit.

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
__all__ = defined(globals())
fill_sections(globals())
