"""Layer 9 · compat: products and convolutions of `jax.lax`."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import wengert.compat.jax.numpy as jnp
from wengert.compat.jax.array import made, promote
from wengert.compat.jax.checks import axis_in
from wengert.compat.jax.lax_arrays import pad
from wengert.compat.jax.lax_elementwise import same_dtypes
from wengert.compat.jax.lax_reductions import padtype_to_pads
from wengert.compat.jax.numpy.calling import widened
from wengert.compat.jax.tracing import argument
from wengert.compat.jax.words import refusal
from wengert.compat.kit.namespaces import functions_of
from wengert.tape.record import T
from wengert.tensor.numpy.counterparts import late


class Precision(enum.Enum):
    """The precision of products: always the dtype of the operands."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


def dot(
    lhs,
    rhs,
    *,
    dimension_numbers=None,
    precision=None,
    preferred_element_type=None,
    out_sharding=None,
) -> Any:
    """Multiply vectors and matrices; with `dimension_numbers`, like `dot_general`."""
    if dimension_numbers is not None:
        return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)
    a, b = same_dtypes("dot", lhs, rhs)
    if not (1 <= a.ndim <= 2 and 1 <= b.ndim <= 2 and a.shape[-1] == b.shape[0]):
        raise TypeError(f"Incompatible shapes for dot: got {a.shape} and {b.shape}.")
    return jnp.matmul(a, b, preferred_element_type=preferred_element_type)


def dot_general(
    lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, out_sharding=None
) -> Any:
    """Multiply arrays, contracting some dimensions.

    Parameters
    ----------
    dimension_numbers : ((lhs, rhs), (lhs, rhs)). The contracted dimensions, and the batch
        dimensions.

    Returns
    -------
    Array: Its dimensions are the batch dimensions, then the others of `lhs`, then those of `rhs`.
    """
    a, b = promote(argument(lhs), argument(rhs))
    (a_sum, b_sum), (a_batch, b_batch) = [
        tuple(tuple(axis_in(d, x.ndim) for d in dims) for dims, x in zip(pair, (a, b), strict=True))
        for pair in dimension_numbers
    ]
    sizes = tuple(a.shape[d] for d in a_sum), tuple(b.shape[d] for d in b_sum)
    if sizes[0] != sizes[1]:
        raise refusal(TypeError, "dot_general requires contracting", sizes[0], sizes[1])
    batch, other = tuple(a.shape[d] for d in a_batch), tuple(b.shape[d] for d in b_batch)
    if batch != other:
        raise refusal(TypeError, "dot_general requires lhs batch", batch, other)
    a_rest = [d for d in range(a.ndim) if d not in (*a_sum, *a_batch)]
    b_rest = [d for d in range(b.ndim) if d not in (*b_sum, *b_batch)]
    rows = math.prod(a.shape[d] for d in a_rest)
    columns = math.prod(b.shape[d] for d in b_rest)
    inner = math.prod(sizes[0])
    left = a.transpose((*a_batch, *a_rest, *a_sum)).reshape((*batch, rows, inner))
    right = b.transpose((*b_batch, *b_sum, *b_rest)).reshape((*batch, inner, columns))
    shape = (*batch, *(a.shape[d] for d in a_rest), *(b.shape[d] for d in b_rest))
    found = jnp.matmul(left, right, preferred_element_type=preferred_element_type)
    return found.reshape(shape)


def batch_matmul(lhs, rhs, precision=None) -> Any:
    """Multiply two batches of matrices."""
    a, b = same_dtypes("batch_matmul", lhs, rhs)
    return jnp.matmul(a, b)


def ragged_dot(lhs, rhs, group_sizes, precision=None, preferred_element_type=None) -> Any:
    """Multiply each row by the matrix of its group: groups of rows follow one another.

    Parameters
    ----------
    lhs : array_like, shape (m, k)
    rhs : array_like, shape (groups, k, n)
    group_sizes : array_like of int. The numbers of rows; rows that are beyond them give zeros.
    """
    a, b = same_dtypes("ragged_dot", lhs, rhs)
    places = jnp.arange(a.shape[0])[:, None]
    ends = jnp.cumsum(argument(group_sizes))
    inside = (places < ends) & (places >= ends - argument(group_sizes))
    given = a, b, inside.astype(a.dtype)
    return jnp.einsum("mk,gkn,mg->mn", *given, preferred_element_type=preferred_element_type)


# -- convolution -----------------------------------------------------------------------------------


class ConvDimensionNumbers(NamedTuple):
    """The positions of batch, channels and space in a convolution's operands and result."""

    lhs_spec: tuple[int, ...]
    rhs_spec: tuple[int, ...]
    out_spec: tuple[int, ...]


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers
) -> ConvDimensionNumbers:
    """Parse dimension numbers such as ``("NHWC", "HWIO", "NHWC")`` for a convolution."""
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    ndim = len(lhs_shape)
    if dimension_numbers is None:
        line = tuple(range(ndim))
        return ConvDimensionNumbers(line, line, line)
    if not isinstance(dimension_numbers, list | tuple) or len(dimension_numbers) != 3:
        raise refusal(TypeError, "convolution dimension_numbers must", dimension_numbers)
    lhs, rhs, out = dimension_numbers
    named = ((lhs, "NC"), (rhs, "OI"), (out, "NC"))
    for text, letters in named:
        if len(text) != ndim or not set(letters) <= set(text) or len(set(text)) != ndim:
            raise refusal(TypeError, "convolution dimension_numbers[i]", ndim, letters, text)
    space = [c for c in rhs if c not in "OI"]
    ordered = [tuple(text.index(c) for c in (*letters, *space)) for text, letters in named]
    return ConvDimensionNumbers(*ordered)


def conv_general_dilated(
    lhs,
    rhs,
    window_strides: Sequence[int],
    padding,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers=None,
    feature_group_count=1,
    batch_group_count=1,
    precision=None,
    preferred_element_type=None,
    out_sharding=None,
) -> Any:
    """Convolve over one, two or three dimensions.

    Parameters
    ----------
    lhs, rhs : Array. The input, by default of shape (batch, channels, ...), and the kernel, by
        default of shape (channels out, channels in, ...).
    window_strides : sequence of int. The steps between windows.
    padding : {"SAME", "VALID"} or sequence of (low, high). The number of zeros before and after
        each dimension.
    lhs_dilation, rhs_dilation : sequence of int, optional. The distances between the elements of
        the input and of the kernel.
    dimension_numbers : tuple of three str, optional. The order of the dimensions, such as
        ``("NHWC", "HWIO", "NHWC")``.
    feature_group_count : int. The number of groups of channels.
    """
    if batch_group_count != 1:
        raise refusal(NotImplementedError, "conv_general_dilated with")
    a, b = same_dtypes("conv_general_dilated", lhs, rhs)
    a, b = widened(preferred_element_type, "conv_general_dilated", a, b)
    numbers = conv_dimension_numbers(a.shape, b.shape, dimension_numbers)
    x, kernel = a.transpose(numbers.lhs_spec), b.transpose(numbers.rhs_spec)
    ndim = x.ndim - 2
    ones = (1,) * ndim
    strides = tuple(map(int, window_strides))
    if len(strides) != ndim or kernel.ndim != ndim + 2:
        raise refusal(TypeError, "conv_general_dilated: window_strides", strides, a, b)
    apart = ones if rhs_dilation is None else tuple(map(int, rhs_dilation))
    spread = ones if lhs_dilation is None else tuple(map(int, lhs_dilation))
    if x.shape[1] != kernel.shape[1] * feature_group_count:
        raise refusal(
            ValueError, "conv_general_dilated lhs", x.shape[1], kernel.shape[1], feature_group_count
        )
    if isinstance(padding, str):
        sizes = [(n - 1) * s + 1 if n else 0 for n, s in zip(x.shape[2:], spread, strict=True)]
        reach = [(k - 1) * d + 1 for k, d in zip(kernel.shape[2:], apart, strict=True)]
        padding = padtype_to_pads(sizes, reach, strides, padding)
    if spread != ones or any(low != high or low < 0 for low, high in padding):
        config = [(int(a), int(b), s - 1) for (a, b), s in zip(padding, spread, strict=True)]
        x = pad(x, np.zeros((), x.dtype), [(0, 0, 0), (0, 0, 0), *config])
        inner = (0,) * ndim
    else:
        inner = tuple(int(low) for low, _ in padding)
    result = _convolved(x, kernel, strides, inner, apart, feature_group_count)
    back = np.argsort(numbers.out_spec)
    found = made(T.permute(result, dims=tuple(map(int, back))))
    return found if preferred_element_type is None else found.astype(preferred_element_type)


def _convolved(
    x, kernel, strides: tuple[int, ...], inner: tuple[int, ...], apart: tuple[int, ...], groups: int
) -> Any:
    ndim = len(strides)
    if not 1 <= ndim <= 3:
        raise refusal(NotImplementedError, "convolutions are over one", ndim)
    if x.dtype.kind in "biu":
        x, kernel = x.astype(float), kernel.astype(float)
    return late(f"conv{ndim}d")(x, kernel, None, strides, inner, apart, groups)


def conv_general_dilated_patches(
    lhs,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers=None,
    precision=None,
    preferred_element_type=None,
) -> Any:
    """Return the windows of a convolution, each laid out along the channels."""
    x, window = argument(lhs), tuple(map(int, filter_shape))
    numbers = conv_dimension_numbers(x.shape, (1, 1, *window), dimension_numbers)
    size, channels = math.prod(window), x.shape[numbers.lhs_spec[1]]
    one = np.eye(size, dtype=x.dtype).reshape(size, 1, *window)
    kernel = np.tile(one, (channels, *(1,) * (1 + len(window))))
    kernel = kernel.transpose(np.argsort(numbers.rhs_spec))
    return conv_general_dilated(
        *(x, jnp.asarray(kernel), window_strides, padding, lhs_dilation, rhs_dilation),
        dimension_numbers=dimension_numbers,
        feature_group_count=channels,
        preferred_element_type=preferred_element_type,
    )


def conv_general_dilated_local(
    lhs,
    rhs,
    window_strides: Sequence[int],
    padding,
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers=None,
    precision=None,
) -> Any:
    """Convolve with a separate kernel at each position.

    In place of input channels, the kernel has the elements of a window over all channels; its
    spatial dimensions are the output positions.
    """
    x, kernel = argument(lhs), argument(rhs)
    numbers = conv_dimension_numbers(x.shape, kernel.shape, dimension_numbers)
    parts = conv_general_dilated_patches(
        x, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers
    )
    parts = parts.transpose(numbers.out_spec)
    kernel = kernel.transpose(numbers.rhs_spec)
    result = jnp.einsum("nc...,oc...->no...", parts, kernel)
    return result.transpose(tuple(map(int, np.argsort(numbers.out_spec))))


def conv(
    lhs, rhs, window_strides: Sequence[int], padding, precision=None, preferred_element_type=None
) -> Any:
    """Convolve (batch, channels, ...) with (channels out, channels in, ...).

    Examples
    --------
    >>> x = jax.numpy.arange(4.0).reshape(1, 1, 4)
    >>> jax.lax.conv(x, jax.numpy.ones((1, 1, 2)), (1,), "VALID")
    Array([[[1., 3., 5.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, preferred_element_type=preferred_element_type
    )


def conv_with_general_padding(
    lhs,
    rhs,
    window_strides: Sequence[int],
    padding,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision=None,
    preferred_element_type=None,
) -> Any:
    """Like `conv`, but with any padding and dilation."""
    return conv_general_dilated(
        *(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation),
        preferred_element_type=preferred_element_type,
    )


class FftType(enum.IntEnum):
    """The transforms of `fft`."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


def fft(x, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Any:
    """Return the discrete Fourier transform over the last axes, which have the given lengths."""
    kind = FftType[fft_type.upper()] if isinstance(fft_type, str) else FftType(fft_type)
    sizes, array = tuple(map(int, fft_lengths)), argument(x)
    half = sizes[-1] // 2 + 1 if kind is FftType.IRFFT else sizes[-1]
    if array.shape[array.ndim - len(sizes) :] != (*sizes[:-1], half):
        text = (
            f"{kind.name} input shape {array.shape} minor dimensions must be equal to fft_lengths"
        )
        raise ValueError(f"{text} {sizes}")
    return getattr(jnp.fft, f"{kind.name.lower()}n")(array, sizes, tuple(range(-len(sizes), 0)))


def conv_transpose(
    lhs,
    rhs,
    strides: Sequence[int],
    padding,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers=None,
    transpose_kernel=False,
    precision=None,
    preferred_element_type=None,
    use_consistent_padding=False,
) -> Any:
    """Compute a transposed convolution, by default of (batch, ..., channels) arrays.

    Parameters
    ----------
    lhs, rhs : Array. The input, and the kernel, by default of shape (..., channels in, channels
        out).
    strides : sequence of int. The upsampling factors.
    padding : {"SAME", "VALID"} or sequence of (low, high). The padding of the convolution that this
        one transposes, or of the upsampled array.
    use_consistent_padding : bool. Whether numbers, too, are the padding of the convolution that
        this one transposes.
    transpose_kernel : bool. Whether to flip the kernel and swap its channels.
    """
    a, b = argument(lhs), argument(rhs)
    ndim = a.ndim - 2
    if dimension_numbers is None:
        letters = "DHW"[3 - ndim :]
        dimension_numbers = (f"N{letters}C", f"{letters}IO", f"N{letters}C")
    numbers = conv_dimension_numbers(a.shape, b.shape, dimension_numbers)
    apart = (1,) * ndim if rhs_dilation is None else tuple(map(int, rhs_dilation))
    kernel = [b.shape[d] for d in numbers.rhs_spec[2:]]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, apart, strict=True)]
    given = [padding] * ndim if isinstance(padding, str) else [(int(a), int(b)) for a, b in padding]
    if use_consistent_padding or isinstance(padding, str):
        triples = zip(reach, strides, given, strict=True)
        given = [_transposed_pads(r, int(s), pad) for r, s, pad in triples]
    if transpose_kernel:
        b = jnp.flip(b, tuple(numbers.rhs_spec[2:]))
        b = jnp.swapaxes(b, numbers.rhs_spec[0], numbers.rhs_spec[1])
    return conv_general_dilated(
        *(a, b, (1,) * ndim, given, strides, apart, numbers),
        preferred_element_type=preferred_element_type,
    )


def _transposed_pads(reach: int, stride: int, padding) -> tuple[int, int]:
    if not isinstance(padding, str):
        return reach - 1 - padding[0], reach - 1 - padding[1]
    if padding.upper() == "SAME":
        total = reach + stride - 2
        before = reach - 1 if stride > reach - 1 else math.ceil(total / 2)
    elif padding.upper() == "VALID":
        total = reach + stride - 2 + max(reach - stride, 0)
        before = reach - 1
    else:
        raise ValueError(f"Padding mode must be `SAME` or `VALID`, got {padding}.")
    return before, total - before


NAMES: dict[str, Callable[..., Any]] = functions_of(globals())
