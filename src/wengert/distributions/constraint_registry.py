"""Layer 9 · distributions: registries of transforms to constrained regions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.distributions import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Maps constraints to transforms from unconstrained values.

    Examples
    --------
    >>> wg.distributions.transform_to(wg.distributions.constraints.simplex)
    SoftmaxTransform()
    """

    def __init__(self) -> None:
        self._registry: dict[type, Callable[..., Any]] = {}

    def register(self, constraint: Any, factory: Callable[..., Any] | None = None) -> Any:
        """Register the function that makes the transform for a class of constraints.

        Parameters
        ----------
        constraint : type or Constraint. The class, or an instance of it.
        factory : callable. Takes a constraint and returns a transform. Without it this is a
            decorator.

        Examples
        --------
        >>> class Even(wg.distributions.constraints.Constraint): ...
        >>> registry = wg.distributions.constraint_registry.ConstraintRegistry()
        >>> @registry.register(Even)
        ... def double(constraint):
        ...     return wg.distributions.transforms.AffineTransform(0, 2)
        >>> registry(Even())
        AffineTransform()
        """
        if factory is None:
            return lambda given: self.register(constraint, given)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, constraints.Constraint)):
            raise TypeError(
                "Expected constraint to be either a Constraint subclass or instance, but got "
                f"{constraint}"
            )
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


_constraint: Any
biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _interval(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    sigmoid = transforms.SigmoidTransform()
    if isinstance(low, int | float) and isinstance(high, int | float) and (low, high) == (0, 1):
        return sigmoid
    affine = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([sigmoid, affine])


def _beyond(bound: Any, sign: int) -> Any:
    affine = transforms.AffineTransform(bound, sign)
    return transforms.ComposeTransform([transforms.ExpTransform(), affine])


def _of_parts(registry: ConstraintRegistry, kind: Any, *names: str) -> Callable[..., Any]:
    def made(constraint: Any) -> Any:
        parts = [registry(one) for one in constraint.cseq]
        return kind(parts, *[getattr(constraint, name) for name in names])

    return made


def _independent(registry: ConstraintRegistry) -> Callable[..., Any]:
    return lambda c: transforms.IndependentTransform(
        registry(c.base_constraint), c.reinterpreted_batch_ndims
    )


for _registry in (biject_to, transform_to):
    for _constraint, _factory in (
        (constraints.real, lambda c: transforms.identity_transform),
        (constraints.independent, _independent(_registry)),
        (constraints.positive, lambda c: _beyond(c.lower_bound, 1)),
        (constraints.nonnegative, lambda c: _beyond(c.lower_bound, 1)),
        (constraints.less_than, lambda c: _beyond(c.upper_bound, -1)),
        (constraints.interval, _interval),
        (constraints.half_open_interval, _interval),
        (constraints.corr_cholesky, lambda c: transforms.CorrCholeskyTransform()),
        (
            constraints.cat,
            _of_parts(_registry, transforms.CatTransform, "dim", "lengths"),
        ),
        (constraints.stack, _of_parts(_registry, transforms.StackTransform, "dim")),
    ):
        _registry.register(_constraint, _factory)
biject_to.register(constraints.simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda c: transforms.LowerCholeskyTransform())
for _constraint in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_constraint, lambda c: transforms.PositiveDefiniteTransform())
