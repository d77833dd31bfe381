"""Layer 8 · sparse: the structure of convolutions and of pooling by means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from wengert.sparse.links import Link, along, listed, listed_back
from wengert.sparse.rules import Found, Shape, structural


def _windows(
    sizes: Sequence[int],
    result: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Any:
    """Return, for each position of the result, the positions in its window as a row; -1 outside."""
    several = len(sizes)
    places: Any = np.zeros((1,) * 2 * several, np.int64)
    outside: Any = False
    for d in range(several):
        taps = np.arange(kernel[d]) * dilation[d]
        at = np.arange(result[d])[:, None] * stride[d] - padding[d] + taps
        shape = [1] * 2 * several
        shape[d], shape[several + d] = at.shape
        at = at.reshape(shape)
        outside = outside | (at < 0) | (at >= sizes[d])
        places = places * sizes[d] + at
    return np.where(outside, -1, places).reshape(math.prod(result), math.prod(kernel))


def _in_windows(
    node: Any, shape: Shape, result: Shape, kernel: Shape, groups: int, weight: Any
) -> Any:
    """Return, for each element of a correlation's result, those of its window as a row; -1 for
    none.

    Parameters
    ----------
    shape, result: ``(count, channels, *sizes)`` of the input and of the result.
    weight: The weights if they are constant, whose zeros are skipped; else None.
    """
    several = len(kernel)
    dilation = getattr(node, "p_dilation", (1,) * several)
    sizes, out = shape[2:], result[2:]
    at = _windows(sizes, out, kernel, node.p_stride, node.p_padding, dilation)[None, :, None, :]
    # each plane of the result depends on all planes of its group
    count, channels = shape[0], shape[1] // groups
    planes = np.arange(count * shape[1]).reshape(count, groups, 1, channels)
    planes = np.broadcast_to(planes, (count, groups, result[1] // groups, channels))
    sources = planes.reshape(-1, 1, channels, 1) * math.prod(sizes) + at
    none = np.broadcast_to(at < 0, sources.shape)
    if weight is not None:
        zeros = np.asarray(weight._payload).reshape(1, result[1], 1, channels, -1) == 0
        wide = (count, result[1], *sources.shape[1:])
        none = none | np.broadcast_to(zeros, wide).reshape(sources.shape)
    return np.where(none, -1, sources).reshape(math.prod(result), -1)


def _ends(
    node: Any, shape: Shape, weight: Shape, result: Shape, turned: bool
) -> tuple[list[Link | None], list[Link | None]]:
    """Return the links of a correlation, or its transpose if `turned`, to input and weights."""
    saved = None if node.edges[1] is not None else node.s_weight
    first: list[Link | None] = [None]
    second: list[Link | None] = [None]
    if node.edges[0] is not None:
        ends = (result, shape) if turned else (shape, result)
        lists = _in_windows(node, *ends, weight[2:], node.p_groups, saved)
        first = [listed_back(lists, math.prod(result)) if turned else listed(lists)]
    if node.edges[1] is not None:
        if turned:
            second = [along(weight, result, range(len(weight)))]
        else:
            second = [along(weight, result, range(1, len(weight)), like=(1,))]
    return first, second


@structural
def _convolution(node: Any, shapes: list[Shape]) -> Found:
    (result,) = shapes
    shape, weight = tuple(node.input_shape), tuple(node.weight_shape)
    first, second = _ends(node, shape, weight, result, node.p_transposed)
    bias = result[1:2]
    found: Found = [(shape, first), (weight, second)]
    found.append((bias, [along(bias, result, (), like=(1,))]))
    return found[: len(node.edges)]


@structural
def _correlation(node: Any, shapes: list[Shape]) -> Found:
    weight = tuple(getattr(node, "weight_shape", None) or node.s_weight._payload.shape)
    shape = tuple(node.self_shape)
    turned = node.prim.name == "correlate_input"
    first, second = _ends(node, shape, weight, shapes[0], turned)
    return [(shape, first), (weight, second)]


@structural
def _mean_pool(node: Any, shapes: list[Shape]) -> Found:
    (result,) = shapes
    shape = tuple(node.self_shape)
    several = int(node.prim.name[-2])
    # planes by themselves: one channel of as many arrays
    planes = math.prod(shape[:-several])
    lists = _in_windows(
        node,
        (planes, 1, *shape[-several:]),
        (planes, 1, *result[-several:]),
        node.p_kernel_size,
        1,
        None,
    )
    return [(shape, [listed(lists)])]
