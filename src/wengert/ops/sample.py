"""Layer 5 · ops: random arrays in the layout of others, with checked parameters.

Each function takes a `template`, an array of which only shape, dtype and strides matter, and
returns a new array like it, which the in-place methods (``uniform_``, ``normal_``, ...) write.
Numbers are in the order of the template's memory, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.dtypes import FLOATING, as_dtype, category
from wengert.base.export import export
from wengert.kernels import random as kernels
from wengert.ops.coerce import integer
from wengert.ops.generator import stream_of
from wengert.ops.options import number
from wengert.tape.sites import warn

_INT64, _INT64_END = np.dtype(np.int64), 1 << 63


def laid_out(template: Any, flat: Any) -> Any:
    """Return `flat` in the shape of `template`, in its memory order."""
    if template.flags.c_contiguous:
        return flat.reshape(template.shape)
    order = _order(template)
    inverse = sorted(range(template.ndim), key=order.__getitem__)
    return flat.reshape([template.shape[d] for d in order]).transpose(inverse)


def _order(template: Any) -> list[int]:
    return sorted(range(template.ndim), key=lambda d: -abs(template.strides[d]))


def _draw(
    function: str, generator: Any, draw: Callable[..., Any], template: Any, *params: Any
) -> Any:
    flat = draw(stream_of(function, generator), template.size, template.dtype, *params)
    return laid_out(template, flat)


def _real_parts(template: Any) -> Any:
    """View a complex template as a real one with a last dimension of 2."""
    return np.empty((*template.shape, 2), f"f{template.dtype.itemsize // 2}")


def _check_floating(template: Any, kernel: str) -> None:
    if category(template.dtype) < FLOATING:
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{as_dtype(template.dtype)!r}': the tensor needs a "
            "floating dtype"
        )


@export("Tensor_ drawn")
def draw_uniform(
    template: Any, from_: float = 0.0, to: float = 1.0, *, generator: Any = None
) -> Any:
    """Draw uniform numbers from [from_, to)."""
    _check_floating(template, "check_uniform_bounds")
    if not from_ <= to:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={from_:g} > to={to:g}"
        )
    if not to - from_ < 6e4:  # for half precision, too
        with np.errstate(over="ignore"):
            finite = np.isfinite(template.dtype.type(to - from_))
        if not finite:
            raise RuntimeError(
                "uniform_ expects to-from <= std::numeric_limits<...>::max(), but found "
                f"to={to:g} and from={from_:g}, whose difference is too large for {template.dtype}"
            )
    if template.dtype.kind == "c":
        parts = draw_uniform(_real_parts(template), from_, to, generator=generator)
        return parts.view(template.dtype)[..., 0]
    return _draw("uniform_", generator, kernels.uniform, template, float(from_), float(to))


def check_std(function: str, std: Any) -> None:
    """Raise unless `std` is a standard deviation."""
    if not std >= 0:
        raise RuntimeError(f"{function} expects std >= 0.0, but found std {std:g}")


@export("Tensor_ drawn")
def draw_normal(
    template: Any, mean: float = 0.0, std: float = 1.0, *, generator: Any = None
) -> Any:
    """Draw normal numbers."""
    check_std("normal", std)
    _check_floating(template, "normal_kernel_cpu")
    if template.dtype.kind == "c":
        parts = draw_normal(_real_parts(template), 0.0, std * 0.5**0.5, generator=generator)
        return parts.view(template.dtype)[..., 0] + template.dtype.type(mean)
    draw = kernels.normal if template.flags.c_contiguous else kernels.normal_serial
    return _draw("normal_", generator, draw, template, float(mean), float(std))


def span_of(low: int, high: int, kind: np.dtype[Any]) -> tuple[int, int]:
    """The first integer in [low, high) and their number, if there are any and the type holds them.

    A floating type that rounds the bounds draws from a few integers less, with a warning.
    """
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    if kind == _INT64 and low >= -_INT64_END and high <= _INT64_END:
        return low, high - low
    if kind.kind == "c":
        raise RuntimeError(
            "check_random_bounds handles only integral, floating-point and boolean types, not "
            f"{as_dtype(kind)!r}"
        )
    bounds = (("from", low), ("to - 1", high - 1))
    if kind.kind in "biu":
        least, most = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
        for name, value in bounds:
            if not least <= value <= most:
                raise RuntimeError(f"{name} is out of bounds for {as_dtype(kind)!r}: {value}")
        return low, high - low
    digits = kernels.digits_of(kind)
    if max(-low, high - 1) <= 1 << digits:
        return low, high - low
    for name, value in bounds:
        if abs(value) > 1 << digits:
            warn(
                f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision "
                f"limitations {as_dtype(kind)!r} can support discrete uniform distribution only "
                "within this range.",
                UserWarning,
            )
    # a bound that would be rounded to outside moves inwards by the dtype's spacing there
    rounded = _rounded(low + 1, kind)
    if rounded < low:
        low = rounded + (1 << (abs(low + 1).bit_length() - digits))
    rounded = _rounded(high - 1, kind)
    if rounded >= high:
        high = rounded - (1 << (abs(high - 1).bit_length() - digits))
    return low, high - low


def _rounded(value: int, kind: np.dtype[Any]) -> int:
    with np.errstate(over="ignore"):
        nearest = float(np.asarray(value).astype(kind))
    return int(nearest) if np.isfinite(nearest) else value


@export("Tensor_ drawn")
def draw_random(template: Any, from_: Any = None, to: Any = ..., *, generator: Any = None) -> Any:
    """Draw integers from [from_, to), [0, to) for one number, or all positive ones."""
    if to is ...:
        if from_ is None:
            return _draw("random_", generator, kernels.full_range, template)
        from_, to = 0, from_
    kind = template.dtype
    bottom = integer(0 if from_ is None else from_, "random_", "from")
    top = kernels.largest_of(kind) + 1 if to is None else integer(to, "random_", "to")
    return _draw("random_", generator, kernels.integers, template, *span_of(bottom, top, kind))


@export("Tensor_ drawn each")
def draw_bernoulli(template: Any, p: Any = 0.5, *, generator: Any = None) -> Any:
    """Draw ones with probability `p`, a number or a tensor that broadcasts, and zeros otherwise."""
    if not isinstance(p, np.ndarray):
        p = number(p)
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        return _draw("bernoulli_", generator, kernels.bernoulli, template, float(p))
    if category(p.dtype) != FLOATING:
        p = p.astype(np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise RuntimeError("bernoulli_ expects p to be in [0, 1], but got p outside of it")
    if p.shape != template.shape:  # a batch under `vmap`
        template = np.empty(p.shape, template.dtype)
    flat = np.ascontiguousarray(p.transpose(_order(template))).reshape(-1)
    return _draw("bernoulli_", generator, kernels.bernoulli, template, flat)


@export("Tensor_ drawn")
def draw_exponential(template: Any, lambd: float = 1.0, *, generator: Any = None) -> Any:
    """Draw exponential numbers of the rate `lambd`."""
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    _check_continuous(template, "Exponential")
    return _draw("exponential_", generator, kernels.exponential, template, float(lambd))


@export("Tensor_ drawn")
def draw_cauchy(
    template: Any, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None
) -> Any:
    """Draw numbers from the Cauchy distribution."""
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    _check_continuous(template, "Cauchy")
    return _draw("cauchy_", generator, kernels.cauchy, template, float(median), float(sigma))


@export("Tensor_ drawn")
def draw_log_normal(
    template: Any, mean: float = 1.0, std: float = 2.0, *, generator: Any = None
) -> Any:
    """Draw numbers whose logarithm is normal."""
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    _check_continuous(template, "LogNormal")
    return _draw("log_normal_", generator, kernels.log_normal, template, float(mean), float(std))


@export("Tensor_ drawn")
def draw_geometric(template: Any, p: float, *, generator: Any = None) -> Any:
    """Draw the number of trials up to the first success."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if template.dtype.kind == "b":
        raise NotImplementedError("\"geometric_cpu\" not implemented for 'Bool'")
    return _draw("geometric_", generator, kernels.geometric, template, float(p))


def _check_continuous(template: Any, name: str) -> None:
    if category(template.dtype) != FLOATING:
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {as_dtype(template.dtype)!r}"
        )
