"""Layer 5 · ops · convolution: convolution and its transpose over one, two or three dimensions."""

# the arguments have PyTorch's names

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.errors import kind_of
from wengert.base.export import export
from wengert.base.sections import named
from wengert.base.shapes import whole
from wengert.ops.convolution_arguments import check_dtypes, checked, ints
from wengert.ops.padding import constant_pad_nd
from wengert.prims import convolution as _records  # noqa: F401  of the primitives
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.record import T

Shape = tuple[int, ...]


def _tensor(value: Any, op: str, arg: str) -> Any:
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return new_tensor(value)
    raise TypeError(
        f"{op}() received an invalid combination of arguments - got {arg} of type "
        f"{kind_of(value)}, but expected Tensor"
    )


def _group_count(value: Any, op: str) -> int:
    try:
        return whole(value)
    except TypeError:
        raise TypeError(
            f"{op}() received an invalid combination of arguments - got groups of type "
            f"{type(value).__name__}, but expected an int"
        ) from None


def _convolve(
    op: str,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
    output_padding: Any = 0,
) -> Any:
    x, w = _tensor(input, op, "input"), _tensor(weight, op, "weight")
    b = None if bias is None else _tensor(bias, op, "bias")
    transposed = "transpose" in op
    if isinstance(padding, str):
        if transposed:
            raise TypeError(f"{op}(): argument 'padding' must be tuple of ints, not str")
    elif type(padding) is not int:
        padding = ints(padding, op, "padding")
    if type(groups) is not int:
        groups = _group_count(groups, op)
    a, k = x._payload, w._payload
    if (a.dtype.kind == "c") != (k.dtype.kind == "c"):
        check_dtypes(a, k, None)
    unbatched = a.ndim == int(op[-2]) + 1
    (steps, pads, gaps, more), ends = checked(
        op,
        (1, *a.shape) if unbatched else a.shape,
        k.shape,
        None if b is None else b._payload.shape,
        ints(stride, op, "stride"),
        padding,
        ints(dilation, op, "dilation"),
        ints(output_padding, op, "output_padding"),
        groups,
    )
    check_dtypes(a, k, None if b is None else b._payload)
    if unbatched:
        x = T.unsqueeze(x, dim=0)
    if any(ends):
        # the last dimension comes first
        x = constant_pad_nd(x, [n for end in reversed(ends) for n in (0, end)])
    sizes = {"stride": steps, "padding": pads, "dilation": gaps, "output_padding": more}
    if b is None:
        result = T.convolution_without_bias(x, w, transposed=transposed, groups=groups, **sizes)
    else:
        result = T.convolution(x, w, b, transposed=transposed, groups=groups, **sizes)
    return T.squeeze_dim(result, dim=0) if unbatched else result


# -- functions ------------------------------------------------------------------------------------

_SHAPES = (
    ("(N, C, L) or (C, L)", "(O, C / groups, K)", "(C, O / groups, K)"),
    ("(N, C, H, W) or (C, H, W)", "(O, C / groups, KH, KW)", "(C, O / groups, KH, KW)"),
    (
        "(N, C, D, H, W) or (C, D, H, W)",
        "(O, C / groups, KD, KH, KW)",
        "(C, O / groups, KD, KH, KW)",
    ),
)


def _documented(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    d = int(name[-2])
    shape, weight, transposed = _SHAPES[d - 1]
    return named(
        function,
        name,
        d=d,
        shape=shape,
        weight=weight,
        transposed=transposed,
        lead="1, " * (d + 1),
        stride="2" if d == 1 else f"({'1, ' * (d - 1)}2)",
    )


def _conv(d: int) -> Callable[..., Any]:
    name = f"conv{d}d"

    def function(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        """Convolve the input with a weight: sum their products over each window of the input.

        This is the cross-correlation of signal processing: the weight is not reversed.

        Parameters
        ----------
        input : Tensor. Of shape {shape}: C channels.
        weight : Tensor. Of shape {weight} and the input's dtype: O kernels.
        %(added_bias)s
        padding : int, tuple of int, "valid" or "same". How many zeros to add at both ends of each
            dimension; "valid" is none, and with "same" the result has the input's size.
        dilation : int or tuple of int. How far apart the elements of a window are.
        %(convolved_groups)s

        Returns
        -------
        Tensor: With O channels; in each dimension ``(size + 2 * padding - dilation * (kernel - 1) -
            1) // stride + 1`` elements. Differentiable with respect to all tensors, to any order.

        %(raises_convolved)s

        Examples
        --------
        >>> x = wg.tensor([1.0, 2.0, 4.0, 8.0]).reshape({lead}4)
        >>> w = wg.tensor([1.0, -1.0]).reshape({lead}2)
        >>> wg.nn.functional.{name}(x, w).flatten()
        tensor([-1., -2., -4.])
        """
        return _convolve(name, input, weight, bias, stride, padding, dilation, groups)

    return _documented(function, name)


def _conv_transpose(d: int) -> Callable[..., Any]:
    name = f"conv_transpose{d}d"

    def function(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Any:
        """Return the transpose of `conv{d}d`: each element adds a multiple of the weight.

        It is the gradient of `conv{d}d` with respect to its input, and undoes its change of size.

        Parameters
        ----------
        input : Tensor. Of shape {shape}: C channels.
        weight : Tensor. Of shape {transposed} and the input's dtype: C kernels.
        %(added_bias)s
        padding : int or tuple of int. How many elements to take away at both ends of each dimension
            of the result.
        output_padding : int or tuple of int. How many elements to add at the end of each dimension,
            less than `stride` or `dilation`: `conv{d}d` makes one size of several, and this says
            which of them to make.
        %(convolved_groups)s
        dilation : int or tuple of int. How far apart the elements of a window are.

        Returns
        -------
        Tensor: With O channels; in each dimension ``(size - 1) * stride - 2 * padding + dilation *
            (kernel - 1) + output_padding + 1`` elements. Differentiable with respect to all
            tensors, to any order.

        %(raises_convolved)s

        Examples
        --------
        >>> x = wg.tensor([1.0, 2.0]).reshape({lead}2)
        >>> w = wg.tensor([1.0, -1.0]).reshape({lead}2)
        >>> wg.nn.functional.{name}(x, w, stride={stride}).flatten()
        tensor([ 1., -1.,  2., -2.])
        """
        return _convolve(
            name, input, weight, bias, stride, padding, dilation, groups, output_padding
        )

    return _documented(function, name)


conv1d, conv2d, conv3d = _conv(1), _conv(2), _conv(3)
conv_transpose1d, conv_transpose2d = _conv_transpose(1), _conv_transpose(2)
conv_transpose3d = _conv_transpose(3)
export("wengert", "nn.functional")(
    conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d
)


@export("wengert")
def convolution(
    input: Any,
    weight: Any,
    bias: Any | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    """Return `conv1d`, `conv2d` or `conv3d`, by the dimensions of the weight, or the transpose.

    Parameters
    ----------
    input, weight : Tensor. As for these functions.
    bias : Tensor, optional. One number per channel of the result, or None.
    stride, padding, dilation, output_padding : tuple of int. One number for each dimension.
    transposed : bool. Whether it is `conv_transpose1d` and so on.

    Examples
    --------
    >>> x = wg.tensor([[[1.0, 2.0, 4.0, 8.0]]])
    >>> wg.convolution(x, wg.tensor([[[1.0, -1.0]]]), None, [1], [0], [1], False, [0], 1)
    tensor([[[-1., -2., -4.]]])
    """
    d = min(max(_tensor(weight, "convolution", "weight")._payload.ndim - 2, 1), 3)
    sizes = stride, padding, dilation, groups
    if transposed:
        return _convolve(f"conv_transpose{d}d", input, weight, bias, *sizes, output_padding)
    return _convolve(f"conv{d}d", input, weight, bias, *sizes)


@export("wengert", "nn.functional")
def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """`conv1d` of sequences whose dimensions are time, batch and channels.

    Parameters
    ----------
    input : Tensor. Of shape (T, N, C).
    weight : Tensor. Of shape (K, C, O) and the input's dtype.
    bias : Tensor. Of shape (O,).
    pad : int. The number of zeros at both ends of time.

    Returns
    -------
    Tensor: Of shape (T + 2 * pad - K + 1, N, O). Differentiable with respect to all tensors, to any
        order.

    %(raises_shape_or_dtype)s

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0, 4.0, 8.0]).reshape(4, 1, 1)
    >>> w = wg.tensor([1.0, -1.0]).reshape(2, 1, 1)
    >>> wg.conv_tbc(x, w, wg.zeros(1)).flatten()
    tensor([-1., -2., -4.])
    """
    x, w = _tensor(input, "conv_tbc", "self"), _tensor(weight, "conv_tbc", "weight")
    b = _tensor(bias, "conv_tbc", "bias")
    for name, value, dims in (("Input", x, 3), ("Weight", w, 3), ("Bias", b, 1)):
        if value._payload.ndim != dims:
            shapes = f"it has shape {list(value._payload.shape)}"
            raise RuntimeError(f"{name} must have {dims} dims: {shapes}")
    shape = w._payload.shape
    if x._payload.shape[2] != shape[1]:
        raise RuntimeError(
            "Input dim 2 (input channels) is not == dim 1 in the weight tensor: they are "
            f"{x._payload.shape[2]} and {shape[1]}"
        )
    if b._payload.shape[0] != shape[2]:
        raise RuntimeError(
            "Bias size must equal dim 2 in the weight tensor (output channels): they are "
            f"{b._payload.shape[0]} and {shape[2]}"
        )
    x, w = T.permute(x, dims=(1, 2, 0)), T.permute(w, dims=(2, 1, 0))
    return T.permute(conv1d(x, w, b, 1, pad), dims=(2, 0, 1))
