"""Layer 5 · ops · pooling: pooling into a given number of bins of nearly equal size.

Bin i of m over n elements begins at floor(i n / m) and ends before ceil((i + 1) n / m).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from wengert.base.errors import not_implemented
from wengert.base.export import export
from wengert.base.sections import named
from wengert.ops.coerce import operand
from wengert.ops.reduce import mean
from wengert.ops.windows import several, words_of
from wengert.prims import pooling as pooling
from wengert.prims import resample as resample
from wengert.tape.record import T

Shape = tuple[int, ...]


@lru_cache(maxsize=512)
def _sizes(name: str, shape: Shape, output_size: int | tuple[int | None, ...]) -> Shape:
    """Return the number of bins of each dimension, checked."""
    dims = int(name[-2])
    means = name.startswith("adaptive_avg")
    counts = (output_size,) * dims if isinstance(output_size, int) else output_size
    if counts is output_size and dims > 1 and len(shape) <= len(counts):
        raise ValueError(f"Input dimension should be at least {len(counts) + 1}")
    if dims == 1:
        _check_vector(name, shape, counts)
    if dims > 1 and len(counts) != dims:
        if means:
            raise RuntimeError(f"{name}: output_size must be {dims}, but it has {len(counts)}")
        raise RuntimeError(
            f"{name}(): internal error: output_size.size() must be {dims}, but it is {len(counts)}"
        )
    if dims > 1 and len(shape) not in (dims + 1, dims + 2):
        colon = "" if means else ":"
        raise RuntimeError(
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got{colon} {list(shape)}"
        )
    # the first dimension is unchecked: it may be a batch or channels
    for dim in range(len(shape) - dims if means else 1, len(shape)):
        if shape[dim] == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {list(shape)} with dimension {dim} being empty"
            )
    own = shape[len(shape) - dims :]
    sizes = tuple([n if m is None else m for n, m in zip(own, counts, strict=True)])
    if min(sizes) < 0:
        if means:
            got = ", ".join(map(str, sizes if dims > 1 else (1, *sizes)))
            raise RuntimeError(
                f"adaptive_avg_pool{max(dims, 2)}d: elements of output_size must be greater than "
                f"or equal to 0 but received {{{got}}}"
            )
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(sizes)}: "
            f"{[*shape[: len(shape) - dims], *sizes]}"
        )
    return sizes


def _check_vector(name: str, shape: Shape, sizes: tuple[int | None, ...]) -> None:
    if len(shape) not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 "
            f"'self' (while checking arguments for {name})"
        )
    if len(sizes) != 1:
        raise RuntimeError(
            f"{name}() argument 'output_size' should contain one int (got {len(sizes)})"
        )


def _prepared(name: str, input: Any, output_size: Any) -> tuple[Any, Shape]:
    x = operand(input, name)
    if type(output_size) is not int:
        if isinstance(output_size, tuple | list):
            output_size = tuple(
                [n if n is None else several(n, name, "output_size", 2)[0] for n in output_size]
            )
        elif output_size is None:
            output_size = (None,) * int(name[-2])
        else:
            output_size = several(output_size, name, "output_size", 2)
    sizes = _sizes(name, x._payload.shape, output_size)
    if x._payload.dtype.kind in "iu":
        d = name[-2:]
        words = f"{name[:-2]}{'3d_cpu' if d == '3d' else '2d'}"
        raise not_implemented(words, x._payload.dtype, "convert the input to a floating dtype")
    return x, sizes


def _avg_pool(d: int) -> Callable[..., Any]:
    name = f"adaptive_avg_pool{d}d"
    scales = (None,) * d

    def function(input: Any, output_size: Any) -> Any:
        """Divide the last {dims} into bins, and return the mean of each.

        Parameters
        ----------
        input : Tensor. Of shape {shapes}, floating.
        %(bins)s

        %(returns_means)s

        %(raises_bins)s

        Examples
        --------
        >>> x = wg.tensor([1.0, 3.0, 2.0, 0.0, 5.0]).reshape({shape})
        >>> wg.nn.functional.{name}(x, {kernel}).flatten()
        tensor([2.0000, 2.3333])
        """
        own = operand(input, name)
        ndim = own._payload.ndim
        if output_size in (1, (1,) * d, [1] * d) and (ndim in (2, 3) if d == 1 else ndim >= d):
            # a single mean is another operation in PyTorch, which needs no channel dimension
            return mean(own, tuple(range(ndim - d, ndim)), True)
        x, sizes = _prepared(name, input, output_size)
        return getattr(T, name)(x, output_size=sizes, align_corners=False, scales=scales)

    return named(function, name, **words_of(d, 5))


def _max_pool(d: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    name = f"adaptive_max_pool{d}d"

    def with_indices(input: Any, output_size: Any, return_indices: bool = False) -> tuple[Any, Any]:
        """`{of}` with ``return_indices=True``: the elements and their places.

        Examples
        --------
        >>> x = wg.tensor([1.0, 3.0, 2.0, 0.0, 5.0]).reshape({shape})
        >>> wg.nn.functional.{name}(x, {kernel})[1].flatten()
        tensor([1, 4])
        """
        x, sizes = _prepared(name, input, output_size)
        indices = T.adaptive_max_pool_indices(x, output_size=sizes)
        return getattr(T, f"{name}_with_indices")(x, indices, dims=d), indices

    def function(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        """Divide the last {dims} into bins, and return the largest element of each.

        Parameters
        ----------
        input : Tensor. Of shape {shapes}, floating.
        %(bins)s
        return_indices : bool. Whether to also return where the elements were.

        %(returns_largest)s

        %(raises_bins)s

        Examples
        --------
        >>> x = wg.tensor([1.0, 3.0, 2.0, 0.0, 5.0]).reshape({shape})
        >>> wg.nn.functional.{name}(x, {kernel}).flatten()
        tensor([3., 5.])
        """
        if return_indices:
            return with_indices(input, output_size)
        x, sizes = _prepared(name, input, output_size)
        return getattr(T, name)(x, output_size=sizes)

    named(with_indices, f"{name}_with_indices", of=name, **words_of(d, 5))
    return named(function, name, **words_of(d, 5)), with_indices


adaptive_avg_pool1d = _avg_pool(1)
adaptive_avg_pool2d = _avg_pool(2)
adaptive_avg_pool3d = _avg_pool(3)
adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _max_pool(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _max_pool(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _max_pool(3)
export("wengert", "nn.functional")(adaptive_avg_pool1d)
export("nn.functional")(
    adaptive_max_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
)
