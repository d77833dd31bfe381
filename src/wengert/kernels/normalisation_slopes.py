"""Layer 1 · kernels: slopes of normalisation, for arrays of three axes (see NOTE [three axes])."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.kernels.normalisation import (
    FEW,
    applied,
    are_few,
    are_near,
    degenerate,
    dots_of,
    few_of,
    lengthened,
    moments_of,
    parts_of,
    room,
    sums_and_dots,
    sums_of,
    three_axes,
    unbuffered,
)
from wengert.kernels.sums import column_sums, row_sums

Dims = tuple[int, ...]


def _centred(self: Any, known: Any, eps: float) -> tuple[Any, Any, Any]:
    """Return the values minus their means, unless near 0; the remaining means; the scales."""
    mean, var, scale = known if known.size else moments_of(self, eps)
    if are_near(mean, var):
        return self, mean, scale
    return self - mean[:, None], np.zeros_like(mean), scale


def _standard_of_few(self: Any, known: Any, eps: float) -> tuple[Any, Any]:
    mean, _, scale = known if known.size else moments_of(self, eps)
    result = self - mean[:, None]
    result *= scale[:, None]
    return result, scale


def _slope_of_few(self: Any, values: Any, known: Any, eps: float, factor: Any) -> Any:
    """Compute ``(self - mean(self) - y * mean(self * y)) * scale * factor``, y standardised."""
    if are_few(self, self.shape) and are_few(values, self.shape):
        result = few_of(self.shape).slope(self, values, eps)
        if factor is not None and (factor.ndim or factor != 1):
            result *= factor[:, None] if factor.ndim else factor
        return result
    count = self.shape[0] * self.shape[2]
    with degenerate(eps):
        standard, scale = _standard_of_few(values, known, eps)
        along, level = dots_of(self, standard), sums_of(self)
        along /= count
        level /= count
        standard *= along[:, None]
        result = np.subtract(self, standard, out=standard)
        result -= level[:, None]
        result *= (scale if factor is None else scale * factor)[:, None]
    return result


def _slopes(
    mean: Any, scale: Any, factor: Any, sums: Any, dots: Any, count: int
) -> tuple[Any, Any, Any]:
    """Return the coefficients of the slope of `standardise`: of values, of cotangent, constant.

    The slope is ``(g - mean(g) - y * mean(g * y)) * scale * factor`` for standardised values y.
    `sums` and `dots` are those of g, and of its products with the values.
    """
    steep = scale * factor
    along = mean * sums
    along -= dots
    along *= scale * scale
    along /= count
    level = sums / -count
    level -= mean * along
    return along * steep, steep, level * steep


def _joined(self: Any, values: Any, parts: tuple[Any, Any, Any], row: Any = None) -> Any:
    """Compute ``values * along + self * row * steep + level``, with columns of coefficients."""
    along, steep, level = [column[:, None] for column in parts]
    result = np.empty(self.shape, self.dtype)
    memory = np.empty(0, self.dtype)
    with unbuffered(self.shape):
        for part, of in parts_of(self.shape):
            g, out = self[part], result[part]
            memory, scaled = room(memory, g)
            if row is None:
                np.multiply(g, steep[of], out=scaled)
            else:
                applied(np.multiply, g, row, scaled, of)
                scaled *= steep[of]
            np.multiply(values[part], along[of], out=out)
            out += scaled
            out += level[of]
    return result


def standardise_backward(
    self: Any, input: Any, weight: Any, known: Any, dim: Dims, eps: float
) -> Any:
    """Apply the derivative of `standardise` at `input`, which is symmetric, to self * weight.

    The weights are those of the last dimensions, or of the second if `dim` is all but that.
    """
    if self.size == 0:
        return self.copy()
    axes = three_axes(input.shape, dim)
    g, count = self.reshape(axes), axes[0] * axes[2]
    inside = axes[0] == 1 and weight.ndim and dim[0] == input.ndim - len(dim)
    if g.size <= FEW:
        if inside:
            g, weight = g * weight.reshape(-1), None
        return _slope_of_few(g, input.reshape(axes), known, eps, weight).reshape(self.shape)
    with degenerate(eps):
        x, mean, scale = _centred(input.reshape(axes), known, eps)
        if inside:
            row, g = weight.reshape(-1), np.ascontiguousarray(g)
            parts = _slopes(mean, scale, 1, *_weighed(g, x, row), count)
            result = _joined(g, x, parts, lengthened(row, g.size))
        else:
            result = _joined(g, x, _slopes(mean, scale, weight, *sums_and_dots(g, x), count))
    return result.reshape(self.shape)


def _weighed(self: Any, values: Any, row: Any) -> tuple[Any, Any]:
    """Return the sums of the rows of self * weights, and of their products with the values."""
    sums, dots = self[0].dot(row), np.empty(self.shape[1], self.dtype)
    memory = np.empty(0, self.dtype)
    for part, of in parts_of(self.shape):
        g = self[part]
        memory, products = room(memory, g)
        np.multiply(g, values[part], out=products)
        np.dot(products[0], row, out=dots[of])
    return sums, dots


def group_norm_backward(
    self: Any, input: Any, weight: Any, known: Any, groups: int, eps: float
) -> Any:
    """Return the cotangent of the input of `group_norm`, from that of its result."""
    if self.size == 0:
        return self.copy()
    n, channels = self.shape[:2]
    rows, each, within = n * groups, channels // groups, math.prod(self.shape[2:])
    axes, grouped = (1, n * channels, within), (1, rows, each * within)
    g, x = self.reshape(axes), input.reshape(grouped)
    if g.size <= FEW:
        if weight.ndim:
            g, weight = g * np.concatenate([weight] * n)[:, None], None
        return _slope_of_few(g.reshape(grouped), x, known, eps, weight).reshape(self.shape)
    with degenerate(eps):
        x, mean, scale = _centred(x, known, eps)
        x = x.reshape(axes)
        both = [part.reshape(rows, each) for part in sums_and_dots(g, x)]
        weights = np.concatenate([weight] * n).reshape(rows, each) if weight.ndim else weight
        sums, dots = [np.add.reduce(part * weights, 1) for part in both]
        along, steep, level = _slopes(mean, scale, 1, sums, dots, each * within)
        steep = np.multiply(steep[:, None], weights).reshape(-1)
        if each > 1:
            along, level = along.repeat(each), level.repeat(each)
            steep = steep if weight.ndim else steep.repeat(each)
        return _joined(g, x, (along, steep, level)).reshape(self.shape)


def standardised_sum(self: Any, input: Any, known: Any, dim: Dims, eps: float, over: str) -> Any:
    """Return the sums of the products of self and the standardised input.

    They are `over` the dimensions of the moments ("within"), over all others ("across"), or over
    the last dimension of three if the moments are over the last two ("last").
    """
    axes = three_axes(input.shape, dim)
    if self.size == 0:
        sizes = {"across": input.shape[dim[0] :], "within": axes[1:2], "last": input.shape[:2]}
        return np.zeros(sizes[over], self.dtype)
    if are_few(self, axes) and are_few(input, axes):
        few = few_of(axes)
        products = few.matrix(self)
        products *= few.standard(input, eps)[0]
        if over == "within":
            return few.along(products)
        products = few.array(products)
        if over == "across":
            return column_sums(products[0]).reshape(input.shape[dim[0] :])
        return row_sums(products.reshape(self.shape))
    g, x = self.reshape(axes), input.reshape(axes)
    with degenerate(eps):
        if 4 * g.size <= FEW:
            x, scale = _standard_of_few(x, known, eps)
            if over == "within":
                return dots_of(g, x)
            x *= g
            if over == "across":
                return np.add.reduce(x[0]).reshape(input.shape[dim[0] :])
            return np.add.reduce(x.reshape(self.shape), 2)
        x, mean, scale = _centred(x, known, eps)
        if over == "across":
            return _across(g, x, mean, scale).reshape(input.shape[dim[0] :])
        if over == "within":
            sums, dots = sums_and_dots(g, x)
            return scale * (dots - mean * sums)
        shape = self.shape[:2]
        rows = 1, math.prod(shape), self.shape[2]
        sums, dots = [v.reshape(shape) for v in sums_and_dots(g.reshape(rows), x.reshape(rows))]
        return scale[:, None] * (dots - mean[:, None] * sums)


def _across(self: Any, input: Any, mean: Any, scale: Any) -> Any:
    """Return the sums over all rows of the products of self and the standardised input."""
    total = np.zeros(self.shape[2], self.dtype)
    memory = np.empty(0, self.dtype)
    shift = scale * mean
    for part, of in parts_of(self.shape):
        g, x = self[part][0], input[part][0]
        memory, product = room(memory, g)
        np.multiply(g, x, out=product)
        total += scale[of].dot(product)
        total -= shift[of].dot(g)
    return total
