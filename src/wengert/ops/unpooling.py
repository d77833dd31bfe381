"""Layer 5 · ops · pooling: the inverse of max pooling, and max pooling of random windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.dtypes import FLOATING, category, from_numpy_dtype
from wengert.base.errors import not_implemented
from wengert.base.export import export
from wengert.base.sections import named
from wengert.ops.coerce import dtype_name, operand
from wengert.ops.random import rand
from wengert.ops.windows import each, several, words_of
from wengert.prims import pooling as pooling
from wengert.tape.record import T

Shape = tuple[int, ...]

# -- the inverse ----------------------------------------------------------------------------------


def _unpooled_size(own: Shape, kernel: Shape, stride: Shape, padding: Shape, given: Any) -> Shape:
    dims = len(kernel)
    usual = tuple(
        [
            (n - 1) * step + k - 2 * pad
            for n, k, step, pad in zip(own, kernel, stride, padding, strict=True)
        ]
    )
    if given is None:
        return usual
    sizes = several(given, f"max_unpool{dims}d", "output_size", 6)
    if len(sizes) == dims + 2:
        sizes = sizes[2:]
    if len(sizes) != dims:
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it "
            f"has a length of '{len(sizes)}'"
        )
    for d, (n, size, step) in enumerate(zip(sizes, usual, stride, strict=True)):
        if not size - step < n < size + step:
            raise ValueError(
                f'invalid output_size "{sizes}" (dim {d} must be between {size - step} and '
                f"{size + step})"
            )
    return sizes


def _check_unpool(x: Any, places: Any, sizes: Shape, stride: Shape) -> None:
    """Refuse arguments that do not fit, in PyTorch's order."""
    dims = len(sizes)
    shape = x.shape
    wide = max(dims, 2)
    if len(shape) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Input to max_unpooling{wide}d should be a {wide + 1}d or {wide + 2}d Tensor, but got "
            f"a tensor with {len(shape)} dimensions."
        )
    if places.dtype != np.int64:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {dtype_name(places)}"
        )
    if places.shape != shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(shape)}) but got indices tensor with shape: {list(places.shape)}"
        )
    for dim in range(len(shape) - dims - 1, len(shape)):
        if shape[dim] == 0:
            raise RuntimeError(
                f"max_unpooling{wide}d_forward_out_cpu(): Expected input to have non-zero size for "
                f"non-batch dimensions, but got {list(shape)} with dimension {dim} being empty."
            )
    if min(stride) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(stride)}")
    if category(x.dtype) != FLOATING:
        raise not_implemented(
            f"max_unpool{wide}d", x.dtype, "convert the input to a floating dtype"
        )
    count = math.prod(sizes)
    if min(sizes) < 0:
        raise ValueError(
            "max_unpooling: output_size must contain non-negative spatial dimensions, but it is "
            f"{list(sizes)}"
        )
    if places.size and not (places.min() >= 0 and places.max() < count):
        wrong = places[(places < 0) | (places >= count)].flat[0]
        raise RuntimeError(
            f"Found an invalid max index: {wrong} (output volumes are of size "
            f"{'x'.join(map(str, sizes))})"
        )


def _max_unpool(d: int) -> Callable[..., Any]:
    name = f"max_unpool{d}d"

    def function(
        input: Any,
        indices: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Any:
        """Put the results of a max pooling back in their places, among zeros: a partial inverse.

        Parameters
        ----------
        input : Tensor. Of shape {shapes}, floating.
        indices : Tensor. The places, int64, of the input's shape, as ``max_pool{d}d(...,
            return_indices=True)`` returns them. If several elements have the same place, the last
            stays.
        kernel_size, stride, padding : int or tuple of int. Those of the pooling.
        output_size : tuple of int, optional. The sizes of the pooled dimensions, or the whole
            shape, where the arguments above leave a choice.

        Returns
        -------
        Tensor: Differentiable with respect to `input`, to any order.

        Raises
        ------
        ValueError: If `output_size` does not go with the pooling.
        RuntimeError: If shapes or dtypes do not fit, or a place is outside of the result.

        Examples
        --------
        >>> x = wg.tensor([1.0, 3.0, 2.0, 0.0]).reshape({shape})
        >>> values, places = wg.nn.functional.max_pool{d}d(x, {kernel}, return_indices=True)
        >>> wg.nn.functional.max_unpool{d}d(values, places, {kernel}).flatten()
        tensor([0., 3., 2., 0.])
        """
        x, where = operand(input, name), operand(indices, name, "indices", 2)
        kernel = each(kernel_size, d, name, "kernel_size", 3)
        steps = kernel if stride is None else each(stride, d, name, "stride", 4)
        pads = each(padding, d, name, "padding", 5)
        shape = x._payload.shape
        if len(shape) < d:
            _check_unpool(x._payload, where._payload, (0,) * d, steps)
        sizes = _unpooled_size(shape[len(shape) - d :], kernel, steps, pads, output_size)
        _check_unpool(x._payload, where._payload, sizes, steps)
        return getattr(T, name)(x, where, shape=sizes)

    return named(function, name, **words_of(d))


max_unpool1d = _max_unpool(1)
max_unpool2d = _max_unpool(2)
max_unpool3d = _max_unpool(3)

# -- windows at random places ---------------------------------------------------------------------


_HOW = {2: "tuple of Ints", 3: "tuple of three Ints"}


def _sizes_of(name: str, d: int, x: Any, output_size: Any, output_ratio: Any) -> Shape:
    if output_size is not None:
        return _all(name, d, "output_size", output_size)
    if output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    ratios = output_ratio if isinstance(output_ratio, tuple | list) else (output_ratio,) * d
    if len(ratios) != d:
        raise ValueError(f"{name} requires output_ratio to either be a single Int or {_HOW[d]}.")
    own = x._payload.shape[-d:]
    return tuple([int(n * ratio) for n, ratio in zip(own, ratios, strict=True)])


def _all(name: str, d: int, arg: str, value: Any) -> Shape:
    sizes = several(value, name, arg, 2)
    if len(sizes) != d and isinstance(value, tuple | list):
        raise RuntimeError(
            f"{name}: {arg} must either be a single Int or {_HOW[d]}, but it has {len(sizes)}"
        )
    return sizes if len(sizes) == d else sizes * d


def _check_fractional(name: str, shape: Shape, kernel: Shape, sizes: Shape) -> None:
    d = len(kernel)
    if len(shape) <= d:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [-{len(shape)}, "
            f"{len(shape) - 1}], but got -{d + 1}): {name}() takes tensors of {d + 1} or {d + 2} "
            "dimensions"
        )
    words = f"{name}{'_out' * (d == 3)}()"
    if len(shape) > d + 2:
        raise RuntimeError(f"{words}: Expected {d + 1}D or {d + 2}D tensor, but got: {list(shape)}")
    for dim in range(len(shape) - d - 1, len(shape)):
        if shape[dim] == 0:
            raise RuntimeError(
                f"{words}: Expected input to have non-zero size for non-batch dimensions, but got"
                f"{list(shape)} with dimension {dim} being empty."
            )
    for what, n, k, m in zip(
        ("time", "height", "width")[-d:], shape[len(shape) - d :], kernel, sizes, strict=True
    ):
        # PyTorch requires one position more in three dimensions
        if m + k - 1 + (d == 3) > n:
            raise RuntimeError(
                f"{words}: pool {what} {k} too large relative to input {what} {n}: {m} windows "
                "of this size need more places"
            )


def _check_samples(x: Any, samples: Any, planes: tuple[int, int], d: int) -> None:
    if samples.dtype != x.dtype:
        raise RuntimeError(
            "Expect _random_samples to have the same dtype as input: "
            f"{dtype_name(samples)} is not {dtype_name(x)}"
        )
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions got {samples.ndim}")
    if samples.shape[0] < planes[0]:
        raise RuntimeError(
            "Expect _random_samples.size(0) no less then input batch size, but they are "
            f"{samples.shape[0]} and {planes[0]}."
        )
    if samples.shape[1] != planes[1]:
        raise RuntimeError(
            "Expect _random_samples.size(1) equals to input channel size, but they are "
            f"{samples.shape[1]} and {planes[1]}."
        )
    if samples.shape[2] != d:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {d}; got {samples.shape[2]}.")


def _fractional(d: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    name = f"fractional_max_pool{d}d"

    def with_indices(
        input: Any,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> tuple[Any, Any]:
        """`{of}` with ``return_indices=True``: the elements and their places.

        Examples
        --------
        >>> x = wg.arange({last}).reshape({shape})
        >>> values, places = wg.nn.functional.{name}(x, 2, {count})
        >>> wg.equal(values.long(), places)
        True
        """
        x = operand(input, name)
        sizes = _sizes_of(name, d, x, output_size, output_ratio)
        kernel = _all(name, d, "kernel_size", kernel_size)
        array = x._payload
        if category(array.dtype) != FLOATING:
            raise not_implemented(name, array.dtype, "convert the input to a floating dtype")
        _check_fractional(name, array.shape, kernel, sizes)
        batch = 1 if array.ndim == d + 1 else array.shape[0]
        channels = array.shape[-d - 1]
        if _random_samples is None:
            kind = from_numpy_dtype(array.dtype)
            _random_samples = rand(batch, channels, d, dtype=kind, device=x.device)
        samples = operand(_random_samples, name, "_random_samples", 5)
        _check_samples(array, samples._payload, (batch, channels), d)
        if samples._payload.shape[0] > batch:
            samples = T.slice(samples, dim=0, start=0, end=batch, step=1)
        places = T.fractional_max_pool_indices(x, samples, kernel_size=kernel, output_size=sizes)
        return getattr(T, f"{name}_with_indices")(x, places, dims=d), places

    def function(
        input: Any,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> Any:
        """Return the largest element of each of a given number of windows at random places.

        Parameters
        ----------
        input : Tensor. Of shape {shapes}, floating.
        kernel_size : int or tuple of int. The size of the windows.
        output_size : int or tuple of int, optional. The number of windows along each dimension.
        output_ratio : tuple of float, optional. This number as a part of the input's size; either
            this or `output_size`.
        return_indices : bool. Whether to also return where the elements were.

        Returns
        -------
        Tensor, or tuple of two Tensors: The largest elements, and the int64 places counted through
            the pooled dimensions. The former are differentiable, to any order.

        Raises
        ------
        ValueError: If neither `output_size` nor `output_ratio` is given.
        RuntimeError: If the shapes do not fit.

        References
        ----------
        B. Graham, Fractional max-pooling, arXiv:1412.6071 (2014).

        Examples
        --------
        >>> x = wg.arange({last}).reshape({shape})
        >>> wg.nn.functional.fractional_max_pool{d}d(x, 2, {count}).shape
        {result}
        """
        both = with_indices(
            input, kernel_size, output_size, output_ratio, _random_samples=_random_samples
        )
        return both if return_indices else both[0]

    last, shape, count, result = (
        ("25.0", "1, 5, 5", "2", "torch.Size([1, 2, 2])"),
        ("27.0", "1, 3, 3, 3", "1", "torch.Size([1, 1, 1, 1])"),
    )[d - 2]
    words = {**words_of(d), "shape": shape, "count": count, "last": last, "result": result}
    named(with_indices, f"{name}_with_indices", of=name, **words)
    return named(function, name, **words), with_indices


fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional(3)
export("nn.functional")(
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
)
