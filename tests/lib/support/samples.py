"""Sample inputs of every operation, generated from its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.prims.facet import Facet
from wengert.prims.record import Case, Primitive

__all__ = ["DOMAINS", "Sample", "differentiable_args", "domain_of", "draw", "samples", "supports"]

Generator = np.random.Generator


def _real(rng: Generator, shape: tuple[int, ...]) -> Any:
    return rng.standard_normal(shape)


def _positive(rng: Generator, shape: tuple[int, ...]) -> Any:
    return rng.uniform(0.5, 2.0, shape)


def _nonzero(rng: Generator, shape: tuple[int, ...]) -> Any:
    return rng.uniform(0.3, 2.0, shape) * rng.choice([-1.0, 1.0], shape)


def _unit(rng: Generator, shape: tuple[int, ...]) -> Any:
    return rng.uniform(-0.9, 0.9, shape)


def _above_one(rng: Generator, shape: tuple[int, ...]) -> Any:
    return rng.uniform(1.3, 3.0, shape)


def _fractional(rng: Generator, shape: tuple[int, ...]) -> Any:
    return rng.integers(-3, 4, shape) + rng.uniform(0.2, 0.8, shape)


def _whole(rng: Generator, shape: tuple[int, ...]) -> Any:
    return rng.integers(1, 5, shape) * rng.choice([-1.0, 1.0], shape)


DOMAINS: dict[str, Callable[[Generator, tuple[int, ...]], Any]] = {
    "real": _real,
    "positive": _positive,
    "nonzero": _nonzero,
    "unit": _unit,
    "above one": _above_one,
    "fractional": _fractional,
    "whole": _whole,
    "complex": _real,
}
"""How to draw float64 values: ``draw(rng, shape)`` by the name that records give in ``domain``.

``"fractional"`` keeps away from integers, ``"whole"`` gives integers other than 0 (stored as
floats), ``"complex"`` is for operations that real numbers do not have.
"""

LACKS: Facet[str] = Facet("lacks", lambda prim: "")
"""What an operation is not there for, where its record does not refuse it: ``"complex"`` numbers,
which NumPy computes extremes of by an order that has no derivative, or ``"half"`` precision, which
LAPACK does not have. It is stated, and not seen from whether a kernel raises: an error may also
mean that a kernel is broken."""


class Sample:
    """Arguments of a primitive: ``prim.kernel(*arrays, **params)``."""

    __slots__ = ("arrays", "case", "params")

    def __init__(self, arrays: list[Any], params: dict[str, Any], case: Case) -> None:
        self.arrays = arrays
        self.params = params
        self.case = case

    def __repr__(self) -> str:
        shapes = ", ".join(f"{a.dtype}{list(a.shape)}" for a in self.arrays)
        return f"sample({shapes}, {self.params})"


def domain_of(prim: Primitive, position: int) -> str:
    """The domain of the array argument at `position`."""
    if isinstance(prim.domain, str):
        return prim.domain
    return prim.domain[0 if prim.variadic else position]


def draw(domain: str, shape: tuple[int, ...], dtype: Any, rng: Generator) -> Any:
    """An array of `shape` and `dtype` with values in `domain`; 0-d ones are arrays too."""
    dtype = np.dtype(dtype)
    values = np.asarray(DOMAINS[domain](rng, shape))
    if dtype.kind == "c":
        # near the real domain: on the same side of every branch cut
        values = values + 0.3j * rng.standard_normal(shape)
    return np.asarray(values, dtype)


def samples(prim: Primitive, dtype: Any, rng: Generator) -> Iterator[Sample]:
    """Every case of `prim` with its floating arguments drawn in `dtype`."""
    for case in prim.cases:
        arrays = []
        for position, spec in enumerate(case.shapes):
            if callable(spec):
                array = np.asarray(spec(rng))
                arrays.append(array.astype(dtype) if array.dtype.kind in "fc" else array)
            else:
                arrays.append(draw(domain_of(prim, position), spec, dtype, rng))
        yield Sample(arrays, case.params, case)


ONCE = {
    *("igamma", "igammac", "scipy_betainc", "scipy_betaincc", "scipy_betaincinv"),
    *("scipy_betainccinv", "scipy_gammaincinv", "scipy_gammainccinv"),
}
"""Records with second derivatives by the last argument only."""


def differentiable_args(prim: Primitive, arrays: list[Any], twice: bool = False) -> list[int]:
    """The positions of the arguments that have a derivative, or a second one (`twice`)."""
    if twice and prim.name in ONCE:
        return [len(arrays) - 1]
    rules = prim.rules * len(arrays) if prim.variadic else prim.rules
    return [
        i
        for i, array in enumerate(arrays)
        if rules[i] is not None
        and rules[i].call.__name__ != "missing"  # of `no_derivative`
        and array.dtype.kind in "fc"
    ]


def supports(prim: Primitive, dtype: Any) -> bool:
    """Whether the operation exists for a floating or complex `dtype`.

    This goes by what records say. The kernel is not asked: where it no longer
    takes a dtype, its error is to be seen.
    """
    kind = np.dtype(dtype).kind
    if kind == "c" and "complex" in LACKS[prim]:
        return False
    if np.dtype(dtype) == np.float16 and "half" in LACKS[prim]:
        return False
    if kind != "c" and "complex" in (
        prim.domain if isinstance(prim.domain, tuple) else (prim.domain,)
    ):
        return False
    sample = next(samples(prim, dtype, np.random.default_rng(0)), None)
    return sample is not None and not any(
        array.dtype.kind in prim.refuses for array in sample.arrays
    )
