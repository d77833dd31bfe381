"""Layer 5 · ops · convolution: `unfold` and `fold`, between images and columns."""

# the arguments have PyTorch's names

from __future__ import annotations

import math
from typing import Any

from wengert.base.export import export
from wengert.kernels.columns import result_size
from wengert.ops.coerce import integers, operand
from wengert.prims import fold as _records  # noqa: F401  of the primitives
from wengert.tape.record import T

Shape = tuple[int, ...]


def _pair(value: Any, op: str, arg: str, position: int) -> Shape:
    given = value if isinstance(value, tuple | list) else (value, value)
    pair = integers(given, op, arg, position)
    if len(pair) != 2:
        raise RuntimeError(
            f"It is expected {arg} equals to 2, but got size {len(pair)}: give an int or two of "
            "them, for height and width"
        )
    return pair


def _check_window(kernel: Shape, dilation: Shape, padding: Shape, stride: Shape) -> None:
    for name, short, pair, least in (
        ("kernel size", "kernel", kernel, 1),
        ("dilation", "dilation", dilation, 1),
        ("padding", "pad", padding, 0),
        ("stride", "stride", stride, 1),
    ):
        if min(pair) < least:
            must = "greater than zero" if least else "non-negative"
            raise RuntimeError(
                f"{name} should be {must}, but got {short}_height: {pair[0]} {short}_width: "
                f"{pair[1]}"
            )


@export("nn.functional")
def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Return each block of images, sliding over them, as a column.

    Parameters
    ----------
    input : Tensor. Of shape (N, C, H, W) or (C, H, W).
    kernel_size : int or tuple of int. The height and width of a block.
    dilation : int or tuple of int. The distance between the elements of a block.
    padding : int or tuple of int. The number of zeros at both ends of each dimension.
    stride : int or tuple of int. The distance between blocks.

    Returns
    -------
    Tensor: Of shape (N, C * KH * KW, blocks), or without N. Differentiable, to any order; the
        transpose is `fold`.

    Raises
    ------
    RuntimeError: If the shape or a parameter does not fit.
    NotImplementedError: If the dtype is an integer type.

    Examples
    --------
    >>> x = wg.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])
    >>> wg.nn.functional.unfold(x, (2, 1))
    tensor([[1., 2., 3.],
            [4., 5., 6.]])
    """
    x = operand(input, "im2col")
    kernel = _pair(kernel_size, "im2col", "kernel_size", 2)
    gaps = _pair(dilation, "im2col", "dilation", 3)
    pads = _pair(padding, "im2col", "padding", 4)
    steps = _pair(stride, "im2col", "stride", 5)
    _check_window(kernel, gaps, pads, steps)
    shape = x._payload.shape
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    blocks = result_size(shape[-2:], kernel, steps, pads, gaps, False, (0, 0))
    if min(blocks) < 1:
        raise RuntimeError(
            f"Given input with spatial size {shape[-2:]}, kernel_size={kernel}, dilation={gaps}, "
            f"padding={pads}, calculated shape of the array of sliding blocks as {blocks}, but its "
            "components must be at least one."
        )
    return T.im2col(x, kernel_size=kernel, dilation=gaps, padding=pads, stride=steps)


@export("nn.functional")
def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """Add up columns at their blocks of an image: the transpose of `unfold`.

    Parameters
    ----------
    input : Tensor. Of shape (N, C * KH * KW, blocks) or (C * KH * KW, blocks).
    output_size : int or tuple of int. The height and width of the images.
    kernel_size, dilation, padding, stride : int or tuple of int. As they are for `unfold`.

    Returns
    -------
    Tensor: Of shape (N, C, H, W), or without N. Differentiable, to any order.

    Raises
    ------
    RuntimeError: If the shape or a parameter does not fit.
    NotImplementedError: If the dtype is an integer type.

    Examples
    --------
    >>> wg.nn.functional.fold(wg.ones(2, 2), (1, 3), (1, 2))
    tensor([[[1., 2., 1.]]])
    """
    x = operand(input, "col2im")
    size = _pair(output_size, "col2im", "output_size", 2)
    kernel = _pair(kernel_size, "col2im", "kernel_size", 3)
    gaps = _pair(dilation, "col2im", "dilation", 4)
    pads = _pair(padding, "col2im", "padding", 5)
    steps = _pair(stride, "col2im", "stride", 6)
    _check_window(kernel, gaps, pads, steps)
    shape = x._payload.shape
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(shape)}"
        )
    if shape[-2] % math.prod(kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={shape[-2]} and kernel_size={kernel}."
        )
    high, wide = result_size(size, kernel, steps, pads, gaps, False, (0, 0))
    given = (
        f"Given output_size={size}, kernel_size={kernel}, dilation={gaps}, padding={pads}, "
        f"stride={steps}, "
    )
    if high < 1 or wide < 1:
        raise RuntimeError(
            f"{given}calculated shape of the array of sliding blocks as ({high}, {wide}), which is "
            "too small (non-positive)"
        )
    if shape[-1] != high * wide:
        raise RuntimeError(
            f"{given}expected size of input's dimension 2 to match the calculated number "
            f"of sliding blocks {high} * {wide} = {high * wide}, but got input.size(2)={shape[-1]}."
        )
    return T.col2im(
        x, output_size=size, kernel_size=kernel, dilation=gaps, padding=pads, stride=steps
    )
