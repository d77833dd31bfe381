"""Layer 8 · scipy: a function of nested parameters with its derivatives, as SciPy calls it.

SciPy requests the value, the gradient and second derivatives at a point by separate calls. `fun` is
called once for each point: its recorded graph serves all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wengert.scipy.derivatives import (
    by_columns,
    by_rows,
    flat,
    gradients,
    is_finite,
    is_recorded,
    no_path,
    recorded_gradients,
    second_product,
    square,
)
from wengert.scipy.nesting import Nesting, leaves_of
from wengert.sparse.coloring import Coloring, color
from wengert.sparse.passes import compressed, square_of
from wengert.sparse.patterns import hessian_pattern_of, pattern_of
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.modes import current_mode, enable_grad, no_grad
from wengert.tape.sites import warn

Array = np.ndarray[Any, Any]


class _Recorded:
    """The common base of scalar and vector functions."""

    def __init__(
        self,
        fun: Callable[..., Any],
        nesting: Nesting,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
        label: str = "fun",
        recorded: bool = True,
    ) -> None:
        self.fun = fun
        self.nesting = nesting
        self.args = args
        self.kwargs = dict(kwargs or {})
        self.label = label
        self.recorded = recorded
        self.first = True
        self.leaves: list[Any] = []
        self._points: dict[bytes, _Point] = {}

    def _call(self, x: Any) -> Any:
        nested, self.leaves = self.nesting.tensors(x)
        if not self.recorded:
            with no_grad():
                return self.fun(nested, *self.args, **self.kwargs)
        if current_mode() is None:
            return self.fun(nested, *self.args, **self.kwargs)
        with enable_grad():
            return self.fun(nested, *self.args, **self.kwargs)

    def _check_dtype(self, dtype: Any) -> None:
        if dtype.kind == "c":
            raise TypeError(
                f"{self.label} returned complex values: SciPy's solvers need real ones. Take the "
                "absolute value, or real and imaginary parts apart"
            )
        if self.first and dtype.kind == "f" and dtype.itemsize < 8:
            warn(
                f"{self.label} returned {dtype} values, though its parameters are float64: solvers "
                "stop early, or not at all, on the rounding errors of short floats. Constants made "
                "by wengert.tensor() are float32: give dtype=wengert.float64",
            )

    def _missing(self, found: list[Any]) -> None:
        """Warn once about parameters that the result does not depend on."""
        names = [
            place.name
            for place, g in zip(self.nesting.places, found, strict=True)
            if g is None and place.stop > place.start
        ]
        if names and len(names) < len(found):
            warn(
                f"{self.label} does not depend on {', '.join(names)}, as far as its graph tells: "
                "the derivatives are taken as zero. Were values taken out of the graph on the way, "
                "by .numpy(), .item() or .detach()?",
            )

    def _names(self) -> list[str]:
        return [place.name for place in self.nesting.places]


class _Point:
    """The recorded values of a scalar function at one point."""

    __slots__ = ("gradient", "leaves", "output", "slopes", "value")

    def __init__(self, output: Any, leaves: list[Any], value: float, gradient: Array) -> None:
        self.output = output
        self.leaves = leaves
        self.value = value
        self.gradient = gradient
        self.slopes: list[Any] | None = None


class Scalar(_Recorded):
    """A function that returns one number.

    If second derivatives may be requested (`keep`), the graphs of the last two points are kept:
    methods return to the previous point after a rejected step.
    """

    keep = False
    coloring: Coloring | None = None

    def value(self, x: Any) -> float:
        """Return the value alone, without recording: for methods without derivatives."""
        nested, _ = self.nesting.tensors(x)
        with no_grad():
            result = self.fun(nested, *self.args, **self.kwargs)
        value = result._payload if isinstance(result, TensorBase) else np.asarray(result)
        self._check_scalar(value)
        self.first = False
        return float(value.item())

    def value_and_gradient(self, x: Any) -> tuple[float, Array]:
        """Return the value as a number and the gradient as a new vector."""
        if self.keep:
            point = self._point(x)
            return point.value, point.gradient.copy()
        return self._evaluated(x)[1:]

    def _evaluated(self, x: Any) -> tuple[Any, float, Array]:
        output = self._call(x)
        if not isinstance(output, TensorBase) or not is_recorded(output):
            kind = "a tensor" if isinstance(output, TensorBase) else type(output).__name__
            raise no_path(self.label, kind, self._names())
        payload = output._payload
        if payload.size != 1 or payload.dtype != np.float64:
            self._check_scalar(payload)
        value = float(payload.item())
        found = gradients(output, self.leaves, None, self.keep)
        gradient = flat(found, self.leaves)
        if self.first:
            self._check_first(value, found, x)
        if not is_finite(gradient) and np.isfinite(value):
            raise self._bad_gradient(value, gradient, x)
        return output, value, gradient

    def _point(self, x: Any) -> _Point:
        points = self._points
        key = np.asarray(x, np.float64).tobytes()
        if key in points:
            points[key] = point = points.pop(key)
            return point
        output, value, gradient = self._evaluated(x)
        points[key] = point = _Point(output, self.leaves, value, gradient)
        if len(points) > 2:
            del points[next(iter(points))]
        return point

    def hessp(self, x: Any, p: Any) -> Array:
        """Return the product of the Hessian with a vector."""
        point = self._second(x)
        return second_product(point.slopes or (), point.leaves, np.asarray(p).reshape(-1))

    def hessian(self, x: Any) -> Array:
        """Return the Hessian."""
        point = self._second(x)
        return square(point.slopes or (), point.leaves, self.nesting.size)

    def sparse_hessian(self, x: Any) -> Any:
        """Return the Hessian as a sparse array with its pattern at the first point."""
        point = self._second(x)
        slopes = point.slopes or ()
        if self.coloring is None:
            self.coloring = color(hessian_pattern_of(slopes, point.leaves), mode="star")
        return square_of(slopes, point.leaves, self.coloring)

    def _second(self, x: Any) -> _Point:
        self.keep = True
        point = self._point(x)
        if point.slopes is None:
            point.slopes = recorded_gradients([point.output], point.leaves, [None])
        return point

    def _check_scalar(self, value: Any) -> None:
        if value.size != 1:
            raise ValueError(
                f"The user-provided objective function must return a scalar value: {self.label} "
                f"returned the shape {tuple(value.shape)}. To minimise a sum of squares of "
                "residuals, return its sum(), or use least_squares"
            )
        self._check_dtype(value.dtype)

    def _check_first(self, value: float, found: list[Any], x: Any) -> None:
        if not np.isfinite(value):
            at = [self.nesting.holding(int(i)) for i in np.flatnonzero(~np.isfinite(x))]
            where = f", where {', '.join(at)} is not finite" if at else ""
            raise FloatingPointError(
                f"{self.label} is {value} at x0{where}: start where it is finite"
            )
        self._missing(found)
        self.first = False

    def _bad_gradient(self, value: float, gradient: Array, x: Any) -> FloatingPointError:
        bad = np.flatnonzero(~np.isfinite(gradient))
        index = int(bad[0])
        more = f", and {bad.size - 1} more elements" if bad.size > 1 else ""
        return FloatingPointError(
            f"the gradient of {self.label} by {self.nesting.holding(index)} is {gradient[index]}"
            f"{more}, where its value is {float(np.asarray(x).flat[index])!r} and {self.label} is "
            f"{value}. wengert.autograd.detect_anomaly() shows the operation"
        )


class Vector(_Recorded):
    """A function that returns arrays of any shapes, which SciPy sees as one vector.

    Parameters
    ----------
    mode: How to compute Jacobians: by ``"rows"`` or by ``"columns"``; None chooses the cheaper way.
    """

    outputs: list[Any]
    mode: str | None = None
    size = 0
    at: bytes | None = None
    coloring: Coloring | None = None

    def value(self, x: Any) -> Array:
        """Return the value as a new vector, and keep its graph for `jacobian`."""
        self.at = None
        result = self._call(x)
        outputs: list[Any] = []
        names = []
        for name, item in leaves_of(result, f"the result of {self.label}"):
            tensor = item if isinstance(item, TensorBase) else new_tensor(np.asarray(item))
            names.append(name)
            outputs.append(tensor)
            if tensor._payload.dtype.kind not in "fiub":
                self._check_dtype(tensor._payload.dtype)
                raise TypeError(f"{name} must be an array of numbers; got {type(item).__name__}")
            self._check_dtype(tensor._payload.dtype)
        if self.recorded and self.nesting.size and not any(map(is_recorded, outputs)):
            raise no_path(self.label, "values", self._names())
        self.outputs = outputs
        pieces = [np.asarray(output._payload, np.float64).reshape(-1) for output in outputs]
        value = np.concatenate(pieces) if pieces else np.zeros(0)
        if self.first:
            if self.recorded and not np.isfinite(value).all():
                bad = int(np.flatnonzero(~np.isfinite(value))[0])
                raise FloatingPointError(
                    f"{self.label} is {value[bad]} at x0, in element {bad} of its result: start "
                    "where it is finite"
                )
            self.first = False
        self.size = value.size
        self.at = np.asarray(x, np.float64).tobytes()
        return value

    def jacobian(self, x: Any) -> Array:
        """Return the Jacobian, dense."""
        self._open(x)
        rows = self.mode == "rows"
        if self.mode is None:
            # columns need a recorded backward pass, which costs about as much as two more
            rows = self.size <= self.nesting.size + 2
        jacobian = (by_rows if rows else by_columns)(self.outputs, self.leaves)
        if not np.isfinite(jacobian).all():
            row, column = (int(i[0]) for i in np.nonzero(~np.isfinite(jacobian)))
            raise FloatingPointError(
                f"the derivative of element {row} of {self.label} by "
                f"{self.nesting.holding(column)} is {jacobian[row, column]}, where its value is "
                f"{float(np.asarray(x).flat[column])!r}"
            )
        return jacobian

    def sparse_jacobian(self, x: Any) -> Any:
        """Return the Jacobian as a sparse array with its pattern at the first point."""
        self._open(x)
        if self.coloring is None:
            self.coloring = color(pattern_of(self.outputs, self.leaves))
        return compressed(self.outputs, self.leaves, self.coloring)

    def hessian(self, x: Any, v: Any) -> Array:
        """Return the Hessian of the sum of the elements weighted by `v`."""
        self._open(x)
        outputs, seeds = [], []
        start = 0
        for output in self.outputs:
            payload = output._payload
            if is_recorded(output):
                outputs.append(output)
                seed = np.asarray(v[start : start + payload.size], payload.dtype)
                seeds.append(new_tensor(seed.reshape(payload.shape)))
            start += payload.size
        slopes = recorded_gradients(outputs, self.leaves, seeds)
        return square(slopes, self.leaves, self.nesting.size)

    def _open(self, x: Any) -> None:
        if self.at is None or self.at != np.asarray(x, np.float64).tobytes():
            self.value(x)
