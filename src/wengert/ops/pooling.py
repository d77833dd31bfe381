"""Layer 5 · ops · pooling: max, mean and norm pooling; response normalisation.

Each function has forms for one, two and three pooled dimensions, the last ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from wengert.base.errors import not_implemented
from wengert.base.export import export
from wengert.base.sections import named
from wengert.ops.checks import flag
from wengert.ops.coerce import integer, operand
from wengert.ops.windows import several, window, words_of
from wengert.prims import pooling as pooling
from wengert.tape.base import TensorBase
from wengert.tape.record import T

# -- the largest elements -------------------------------------------------------------------------


def _max_pool(d: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    name = f"max_pool{d}d"

    def checked(input: Any, *given: Any) -> tuple[Any, dict[str, Any]]:
        x = operand(input, name)
        kernel, steps, pads, gaps = window(name, x._payload.shape, *given)
        sizes = {"kernel_size": kernel, "stride": steps, "padding": pads, "dilation": gaps}
        return x, {**sizes, "ceil_mode": bool(given[-1])}

    def with_indices(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> tuple[Any, Any]:
        """`{of}` with ``return_indices=True``: the elements and their places.

        Examples
        --------
        >>> x = wg.tensor([1.0, 3.0, 2.0, 0.0]).reshape({shape})
        >>> wg.nn.functional.{name}(x, {kernel})[1].flatten()
        tensor([1, 2])
        """
        x, params = checked(input, kernel_size, stride, padding, dilation, ceil_mode)
        indices = T.max_pool_indices(x, **params)
        if max(params["dilation"]) > min(x._payload.shape[-d:]):
            # windows with such gaps may be empty, and then minus infinity is the largest element
            return getattr(T, name)(x, **params), indices
        return getattr(T, f"{name}_with_indices")(x, indices, dims=d), indices

    def function(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """Return the largest element of each window of the last {dims}.

        Parameters
        ----------
        input : Tensor. Of shape {shapes}, real.
        %(spread_windows)s
        padding : int or tuple of int. How many places to add on both sides, which no element is in;
            at most half a window.
        dilation : int or tuple of int. How far apart the elements of a window are.
        ceil_mode : bool. Whether windows may reach over the end.
        return_indices : bool. Whether to also return where the elements were, for `max_unpool{d}d`.

        %(returns_largest)s

        %(raises_unfit_windows)s

        Examples
        --------
        >>> x = wg.tensor([1.0, 3.0, 2.0, 0.0]).reshape({shape})
        >>> wg.nn.functional.max_pool{d}d(x, {kernel}).flatten()
        tensor([3., 2.])
        """
        if return_indices:
            return with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        x, params = checked(input, kernel_size, stride, padding, dilation, ceil_mode)
        return getattr(T, name)(x, **params)

    named(with_indices, f"{name}_with_indices", of=name, **words_of(d))
    return named(function, name, **words_of(d)), with_indices


max_pool1d, max_pool1d_with_indices = _max_pool(1)
max_pool2d, max_pool2d_with_indices = _max_pool(2)
max_pool3d, max_pool3d_with_indices = _max_pool(3)

# -- means ----------------------------------------------------------------------------------------


def _mean(
    d: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: Any,
    count_include_pad: Any,
    divisor_override: Any,
) -> Any:
    name = f"avg_pool{d}d"
    x = operand(input, name)
    kernel, steps, pads, _ = window(
        name, x._payload.shape, kernel_size, stride, padding, 1, ceil_mode
    )
    if divisor_override is not None:
        (divisor_override,) = several(divisor_override, name, "divisor_override", 7)
        if not divisor_override:
            raise RuntimeError("divisor must be not zero: divisor_override is 0")
    if x._payload.dtype.kind in "iu" and x._payload.dtype.itemsize < 8:
        kernel_name = "avg_pool3d_out_frame" if d == 3 else "avg_pool2d"
        raise not_implemented(
            kernel_name, x._payload.dtype, "convert the input to a floating dtype or to int64"
        )
    return getattr(T, name)(
        x,
        kernel_size=kernel,
        stride=steps,
        padding=pads,
        ceil_mode=flag(ceil_mode, "ceil_mode"),
        count_include_pad=flag(count_include_pad, "count_include_pad"),
        divisor_override=divisor_override,
    )


def _avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """Return the mean of each window of the last {dims}.

    Parameters
    ----------
    input : Tensor. Of shape {shapes}, floating or int64.
    %(mean_windows)s

    %(returns_means)s

    %(raises_mean_windows)s

    Examples
    --------
    >>> x = wg.tensor([1.0, 3.0, 2.0, 0.0]).reshape({shape})
    >>> wg.nn.functional.avg_pool{d}d(x, {kernel}).flatten()
    tensor([2., 1.])
    """
    return _mean(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def _avg_pool(d: int) -> Callable[..., Any]:
    def function(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        """Return the mean of each window of the last {dims}.

        Parameters
        ----------
        input : Tensor. Of shape {shapes}, floating or int64.
        %(mean_windows)s
        divisor_override : int, optional. What to divide the sums by, instead of the number of
            elements.

        %(returns_means)s

        %(raises_mean_windows)s

        Examples
        --------
        >>> x = wg.tensor([1.0, 3.0, 2.0, 0.0]).reshape({shape})
        >>> wg.nn.functional.avg_pool{d}d(x, {kernel}).flatten()
        tensor([2., 1.])
        """
        given = kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        return _mean(d, input, *given)

    return named(function, f"avg_pool{d}d", **words_of(d))


avg_pool2d, avg_pool3d = _avg_pool(2), _avg_pool(3)
avg_pool1d = named(_avg_pool1d, "avg_pool1d", **words_of(1))

# -- norms ----------------------------------------------------------------------------------------


def _lp_pool(d: int, greatest: Callable[..., Any]) -> Callable[..., Any]:
    name = f"lp_pool{d}d"

    def function(
        input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Any:
        """Return ``sum(x ** p) ** (1 / p)`` of each window of the last {dims}.

        The powers are those of the elements, not of their absolute values.

        Parameters
        ----------
        input : Tensor. Of shape {shapes}, floating.
        norm_type : number. The exponent p. Infinity gives the greatest absolute value.
        %(spread_windows)s
        ceil_mode : bool. Whether windows may reach over the end; the sum of such a window is scaled
            up to a whole one's.

        Returns
        -------
        Tensor: The norms; differentiable, to any order. Where all elements of a window are 0 and p
            is above 1 the derivative is taken as 0.

        Raises
        ------
        RuntimeError: If the input has another number of dimensions, or the window does not fit.
        ZeroDivisionError: If `norm_type` is 0.

        Examples
        --------
        >>> x = wg.tensor([3.0, 4.0, 0.0, 2.0]).reshape({shape})
        >>> wg.nn.functional.lp_pool{d}d(x, 2, {kernel}).flatten()
        tensor([5., 2.])
        """
        x = operand(input, name)
        if type(norm_type) is float and math.isinf(norm_type):
            sizes = T.abs(x)
            if norm_type > 0:
                return greatest(sizes, kernel_size, stride, ceil_mode=ceil_mode)
            return T.neg(greatest(T.neg(sizes), kernel_size, stride, ceil_mode=ceil_mode))
        kernel, steps, pads, _ = window(
            f"avg_pool{d}d", x._payload.shape, kernel_size, stride, 0, 1, ceil_mode
        )
        sums = getattr(T, f"avg_pool{d}d")(
            T.mul(x, x) if _is_number(norm_type, 2) else T.pow(x, norm_type),
            kernel_size=kernel,
            stride=steps,
            padding=pads,
            ceil_mode=flag(ceil_mode, "ceil_mode"),
            count_include_pad=True,
            divisor_override=None if ceil_mode else 1,
        )
        if ceil_mode:
            sums = T.mul(sums, math.prod(kernel))
        return _root(sums, norm_type)

    return named(function, name, **words_of(d))


def _is_number(value: Any, number: int) -> bool:
    """Return whether `value` is a given number, not a tensor, which might get a gradient."""
    return not isinstance(value, TensorBase) and value == number


def _root(sums: Any, p: Any) -> Any:
    power = 1.0 / p
    if _is_number(p, 1):
        return sums
    if p < 1:
        return T.pow(sums, power)
    # the slope of the root is infinite at 0: take the root of 1 there, and mask it
    none = T.eq(sums, 0)
    kept = T.masked_fill(sums, none, value=1)
    root = T.sqrt(kept) if _is_number(p, 2) else T.pow(kept, power)
    return T.masked_fill(root, none, value=0)


lp_pool1d = _lp_pool(1, max_pool1d)
lp_pool2d = _lp_pool(2, max_pool2d)
lp_pool3d = _lp_pool(3, max_pool3d)
export("wengert", "nn.functional")(
    max_pool1d, max_pool1d_with_indices, max_pool2d, max_pool3d, avg_pool1d
)
export("nn.functional")(
    max_pool2d_with_indices,
    max_pool3d_with_indices,
    avg_pool2d,
    avg_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
)

# -- over channels --------------------------------------------------------------------------------


@export("nn.functional")
def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Return elements divided by the mean square of their neighbours in other channels, to a power.

    The divisor is ``(k + alpha * mean) ** beta``, where `mean` is that of `size` channels around
    the element's own; missing channels count as 0.

    Parameters
    ----------
    input : Tensor. Of shape (N, C, ...), of three dimensions or more.
    size : int. The number of neighbouring channels, its own included.
    alpha, beta, k : float. See above.

    Returns
    -------
    Tensor: Of the input's shape; differentiable, to any order.

    Raises
    ------
    ValueError: If the input has fewer than three dimensions.
    RuntimeError: If `size` is not positive.

    Examples
    --------
    >>> x = wg.ones(1, 3, 1)
    >>> wg.nn.functional.local_response_norm(x, 3, alpha=3.0, beta=1.0).flatten()
    tensor([0.3333, 0.2500, 0.3333])
    """
    x = operand(input, "local_response_norm")
    shape = x._payload.shape
    if len(shape) < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          input (got "
            f"{len(shape)} dimensions)"
        )
    if x._payload.size == 0:
        return x
    size = integer(size, "local_response_norm", "size")
    if size <= 0:
        raise RuntimeError(
            f"kernel size should be greater than zero, but got {'kT: ' * (len(shape) > 3)}{size}: "
            "local_response_norm() takes a positive size"
        )
    rest = math.prod(shape[2:])
    squares = T.mul(x, x)
    means = T.avg_pool2d(
        T.unsafe_view(squares, shape=(shape[0], shape[1], rest)),
        kernel_size=(size, 1),
        stride=(1, 1),
        padding=(size // 2, 0),
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=size,
    )
    if size % 2 == 0:
        # one window too many, since more channels count before an element than after it
        means = T.slice(means, dim=1, start=0, end=shape[1], step=1)
    divisor = T.pow(T.add(T.mul(T.unsafe_view(means, shape=shape), alpha), k), beta)
    return T.div(x, divisor)
