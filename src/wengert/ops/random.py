"""Layer 5 · ops · random: random tensors, whose numbers are PyTorch's (NOTE [random streams])."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.dtypes import as_dtype, is_differentiable
from wengert.base.export import export
from wengert.base.shapes import broadcast
from wengert.kernels import random as kernels
from wengert.ops.expand import spread
from wengert.ops.generator import stream_of
from wengert.ops.like import memory_like
from wengert.ops.options import beside, check_strided, float_type, made, shape_of, sized
from wengert.ops.out import asked, into
from wengert.ops.randomness import drawn
from wengert.ops.sample import check_std, draw_normal, draw_uniform
from wengert.ops.select import in_history
from wengert.ops.whole_batches import drawn_of, holds
from wengert.tape.base import TensorBase


@export("wengert")
def rand(
    *shape: Any,
    size: Any = None,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: Any = None,
) -> Any:
    """Draw random numbers, uniform in [0, 1).

    Parameters
    ----------
    %(sizes, where_to_draw)s
    dtype : dtype, optional. A floating or complex dtype; the default floating dtype unless given.
    %(ignored_layout, device, requires_grad, returns_leaf)s

    Raises
    ------
    NotImplementedError: If `dtype` is an integer type or bool.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.rand(3)
    tensor([0.4963, 0.7682, 0.0885])
    """
    if layout is not None:
        check_strided(layout, "rand")
    shape = shape_of("rand", shape, size)
    kind = float_type(dtype if out is None else asked(dtype, out))
    _check_floating(kind, "check_uniform_bounds")
    stream = stream_of("rand", generator)
    array = drawn(lambda: _filled(kernels.uniform, stream, shape, kind))
    return made(array, device, requires_grad) if out is None else into(out, made(array), "rand")


@export("wengert")
def randn(
    *shape: Any,
    size: Any = None,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: Any = None,
) -> Any:
    """Return random numbers, normal with mean 0 and variance 1; arguments as for `rand`.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.randn(3)
    tensor([ 1.5410, -0.2934, -2.1788])
    """
    if layout is not None:
        check_strided(layout, "randn")
    shape = shape_of("randn", shape, size)
    kind = float_type(dtype if out is None else asked(dtype, out))
    _check_floating(kind, "normal_kernel_cpu")
    stream = stream_of("randn", generator)
    array = drawn(lambda: _filled(kernels.normal, stream, shape, kind))
    return made(array, device, requires_grad) if out is None else into(out, made(array), "randn")


def _check_floating(kind: np.dtype[Any], kernel: str) -> None:
    if not is_differentiable(kind):
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{as_dtype(kind)!r}': give a floating dtype"
        )


def _filled(
    draw: Callable[..., Any], stream: kernels.Stream, shape: tuple[int, ...], kind: np.dtype[Any]
) -> Any:
    """Return standard uniform or normal numbers in a new array."""
    count = math.prod(shape)
    if kind.kind != "c":
        return draw(stream, count, kind).reshape(shape)
    # a complex number is two real ones; those of a normal one share its variance
    parts = draw(stream, 2 * count, np.dtype(f"f{kind.itemsize // 2}"))
    if draw is kernels.normal:
        parts *= parts.dtype.type(math.sqrt(0.5))
    return parts.view(kind).reshape(shape)


@export("wengert")
def rand_like(
    input: Any,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """Return random numbers, uniform in [0, 1), of a tensor's shape and dtype.

    Parameters
    ----------
    input : Tensor. The tensor whose shape and dtype to use; not recorded.
    %(where_to_draw, other_dtype, device, requires_grad, returns_leaf, raises_integers)s

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.rand_like(wg.ones(2))
    tensor([0.4963, 0.7682])
    """
    if layout is not None:
        check_strided(layout, "rand_like")
    template = memory_like("rand_like", input, dtype, memory_format)
    return made(
        drawn(lambda: draw_uniform(template, generator=generator)),
        beside(device, input),
        requires_grad,
    )


@export("wengert")
def randn_like(
    input: Any,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Any:
    """Return standard normal numbers of a tensor's shape and dtype; arguments as for `rand_like`.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.randn_like(wg.ones(2))
    tensor([ 1.5410, -0.2934])
    """
    if layout is not None:
        check_strided(layout, "randn_like")
    template = memory_like("randn_like", input, dtype, memory_format)
    return made(
        drawn(lambda: draw_normal(template, generator=generator)),
        beside(device, input),
        requires_grad,
    )


@export("wengert")
def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: Any = None,
) -> Any:
    """Draw random numbers, normal with these means and standard deviations.

    No gradient flows to `mean` and `std`; if it should, write ``mean + std * randn(...)``.

    Parameters
    ----------
    mean, std : float or Tensor. Tensors have one element for each result and broadcast; with two
        numbers `size` is needed.
    size : sequence of int, optional. The shape, where both are numbers.
    generator, out, dtype, layout, device, requires_grad, pin_memory: As for `rand`.

    Returns
    -------
    Tensor: Of the dtype of the tensors, whose gradients are 0.

    Raises
    ------
    RuntimeError: If a standard deviation is negative, or the shapes do not broadcast.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.normal(2.0, 3.0, size=(3,))
    tensor([ 6.6230,  1.1197, -4.5364])
    >>> wg.normal(wg.tensor([0.0, 100.0]), 1.0).shape
    torch.Size([2])
    """
    if layout is not None:
        check_strided(layout, "normal")
    given: list[Any] = [value for value in (mean, std) if isinstance(value, TensorBase)]
    stream = stream_of("normal", generator)
    if not given:
        if size is None:
            raise TypeError(
                "normal() received an invalid combination of arguments: with two numbers it needs "
                "size=, the shape of the result"
            )
        check_std("normal", std)
        kind = float_type(dtype)
        _check_floating(kind, "normal_kernel_cpu")
        template = np.empty(sized("normal", size, 3), kind)
        array = drawn(lambda: draw_normal(template, mean, std, generator=generator))
        return (
            made(array, device, requires_grad) if out is None else into(out, made(array), "normal")
        )
    kind = given[0]._payload.dtype
    _check_floating(kind, "normal_kernel_cpu")
    if isinstance(std, TensorBase):
        if not holds(given[-1].detach() >= 0):
            raise RuntimeError("normal expects all elements of std >= 0.0")
    else:
        check_std("normal", std)
    shape = broadcast(*[value._payload.shape for value in given])

    def draw(*arrays: Any) -> Any:
        values = iter(arrays)
        at, width = (
            next(values) if isinstance(x, TensorBase) else kind.type(x) for x in (mean, std)
        )
        array = kernels.normal(stream, arrays[0].size, kind).reshape(arrays[0].shape)
        return np.asarray(array * width + at).astype(kind, copy=False)

    array = drawn_of(draw, *[spread(value.detach(), shape)._payload for value in given])
    if out is not None:
        return into(out, made(array), "normal")
    return in_history(made(array, device, requires_grad), *given)
