"""Layer 9 · optim: a line search for the strong Wolfe conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Point(NamedTuple):
    """A point on the line.

    Attributes
    ----------
    t: The step length, in units of the direction.
    value, grad: The value and the gradient of the function.
    slope: The derivative along the line.
    """

    t: Any
    value: Any
    grad: Any
    slope: Any


class _Conditions(NamedTuple):
    """The strong Wolfe conditions on a line that begins at `start`."""

    start: Point
    decrease: float
    curvature: float

    def too_high(self, point: Point) -> bool:
        start = self.start
        return bool(point.value > start.value + self.decrease * point.t * start.slope)

    def flat(self, point: Point) -> bool:
        return bool(abs(point.slope) <= -self.curvature * self.start.slope)


def strong_wolfe(
    at: Callable[[Any], Point],
    start: Point,
    t: Any,
    reach: Any,
    decrease: float = 1e-4,
    curvature: float = 0.9,
    tolerance_change: float = 1e-9,
    most: int = 25,
) -> tuple[Point, int]:
    """Find a point that satisfies the strong Wolfe conditions, as PyTorch's LBFGS does.

    Parameters
    ----------
    at: Evaluates the function at a step length.
    start: The point where the search starts.
    t: The first step length to try.
    reach: The largest element of the direction.
    decrease, curvature: The constants of the conditions.
    tolerance_change: The width below which a bracket is not searched further.
    most: The maximum number of points.

    Returns
    -------
    Point: The best one.
    int: The number of evaluations.
    """
    conditions = _Conditions(start._replace(t=0), decrease, curvature)
    bracket, count = _bracketed(at, conditions, t, most)
    if len(bracket) == 1:
        return bracket[0], count
    low, high = (0, 1) if bracket[0].value <= bracket[1].value else (1, 0)
    stalled = False
    while count <= most and not abs(bracket[1].t - bracket[0].t) * reach < tolerance_change:
        t, stalled = _inside(bracket, stalled)
        point = at(t)
        count += 1
        if conditions.too_high(point) or point.value >= bracket[low].value:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].value <= bracket[1].value else (1, 0)
            continue
        if conditions.flat(point):
            return point, count
        if point.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
    return bracket[low], count


def _bracketed(
    at: Callable[[Any], Point], conditions: _Conditions, t: Any, most: int
) -> tuple[list[Point], int]:
    """Extend the step until two points bracket a solution, or one is a solution.

    Return them, and the number of evaluations.
    """
    previous, point = conditions.start, at(t)
    count = 1
    while count <= most:
        if conditions.too_high(point) or (count > 2 and point.value >= previous.value):
            return [previous, point], count
        if conditions.flat(point):
            return [point], count
        if point.slope >= 0:
            return [previous, point], count
        beyond = point.t + 0.01 * (point.t - previous.t), point.t * 10
        t = cubic_between(previous, point, beyond)
        previous, point = point, at(t)
        count += 1
    return [conditions.start, point], count


def _inside(bracket: list[Point], stalled: bool) -> tuple[Any, bool]:
    """Return the next step length within the bracket, and whether it is close to an end."""
    near, far = min(p.t for p in bracket), max(p.t for p in bracket)
    t = cubic_between(bracket[0], bracket[1])
    margin = 0.1 * (far - near)
    if not min(far - t, t - near) < margin:
        return t, False
    # too close to an end twice in succession, or beyond it
    if stalled or t >= far or t <= near:
        return far - margin if abs(t - far) < abs(t - near) else near + margin, False
    return t, True


def cubic_between(a: Point, b: Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """Return the minimum, within bounds, of the cubic that interpolates two points and slopes."""
    left, right = (a, b) if a.t <= b.t else (b, a)
    lowest, highest = (left.t, right.t) if bounds is None else bounds
    mean = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t)
    square = mean**2 - a.slope * b.slope
    if not square >= 0:
        return (lowest + highest) / 2.0
    root = square**0.5
    bent, rest = right.slope - left.slope + 2 * root, right.slope + root - mean
    if bent == 0:
        # a straight line is lowest at an end
        return lowest if rest > 0 else highest
    part = rest / bent
    return min(max(right.t - (right.t - left.t) * part, lowest), highest)
