"""Layer 9 · distributions: constraints: regions of parameters and of samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import wengert as wg
from wengert.base.names import defined, shows


class Constraint:
    """The region of the values of a variable.

    Attributes
    ----------
    is_discrete : bool. Whether it consists of single points.
    event_dim : int. The number of last dimensions that belong to one value.

    Examples
    --------
    >>> wg.distributions.constraints.positive.check(wg.tensor([-1.0, 2.0]))
    tensor([False,  True])
    """

    is_discrete: Any = False
    event_dim: Any = 0
    _bounds: ClassVar[tuple[str, ...]] = ()

    def check(self, value: Any) -> Any:
        """Return, for each event in `value`, whether it is in the region."""
        raise NotImplementedError

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={getattr(self, name)}" for name in self._bounds)
        return f"{type(self).__name__.removeprefix('_')}({bounds})"


class _Bounded(Constraint):
    """A constraint with bounds, named by its class."""

    lower_bound: Any
    upper_bound: Any

    def __init__(self, *bounds: Any, **named: Any) -> None:
        given = dict(zip(self._bounds, bounds, strict=False)) | named
        if len(bounds) > len(self._bounds) or given.keys() != set(self._bounds):
            raise TypeError(f"{type(self).__name__} takes {' and '.join(self._bounds)}")
        self.__dict__.update(given)


class _Dependent(Constraint):
    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented):
        self._known = {"is_discrete": is_discrete, "event_dim": event_dim}

    def _of_all(self, name: str) -> Any:
        if self._known[name] is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return self._known[name]

    @property
    def is_discrete(self) -> Any:
        return self._of_all("is_discrete")

    @property
    def event_dim(self) -> Any:
        return self._of_all("event_dim")

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented):
        new = {"is_discrete": is_discrete, "event_dim": event_dim}
        known = {n: self._known[n] if v is NotImplemented else v for n, v in new.items()}
        return _Dependent(**known)

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Return whether a constraint depends on other variables, so that it cannot be checked alone.

    Examples
    --------
    >>> regions = wg.distributions.constraints
    >>> regions.is_dependent(regions.dependent), regions.is_dependent(regions.real)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property whose value is a constraint; on the class it is a dependent constraint.

    Examples
    --------
    >>> wg.distributions.Uniform.support.event_dim
    0
    """

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        super().__init__(fn)
        self._known = {"is_discrete": is_discrete, "event_dim": event_dim}

    def __call__(self, fn: Callable[..., Any]) -> Any:  # type: ignore[override]  # a decorator
        return _DependentProperty(fn, **self._known)

    __repr__ = Constraint.__repr__


class _IndependentConstraint(Constraint):
    """The constraint `base_constraint` on each element of the last dimensions of a value."""

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value)
        if result.dim() < self.reinterpreted_batch_ndims:
            least = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {least} but got {value.dim()}")
        ndims = self.reinterpreted_batch_ndims
        return result.flatten(result.dim() - ndims).all(-1) if ndims else result

    def __repr__(self) -> str:
        name = type(self).__name__.removeprefix("_")
        return f"{name}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: `base_constraint`, for each component.

    Examples
    --------
    >>> positive = wg.distributions.constraints.positive
    >>> wg.distributions.constraints.MixtureSameFamilyConstraint(positive)
    MixtureSameFamilyConstraint(GreaterThan(lower_bound=0.0))
    """

    def __init__(self, base_constraint: Any) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(
                f"base_constraint must be a Constraint, got {type(base_constraint).__name__}"
            )
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        """Return, for each event, whether it is in the support of every component."""
        within = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return within.flatten(value.dim() - self.event_dim).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


# -- numbers ---------------------------------------------------------------------------------------


def _whole(value: Any) -> Any:
    return value % 1 == 0


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    """Numbers that are not NaN."""

    def check(self, value: Any) -> Any:
        return value == value


class _GreaterThan(_Bounded):
    _bounds = ("lower_bound",)

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


class _GreaterThanEq(_Bounded):
    _bounds = ("lower_bound",)

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


class _LessThan(_Bounded):
    _bounds = ("upper_bound",)

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(_Bounded):
    _bounds = ("lower_bound", "upper_bound")

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Bounded):
    _bounds = ("lower_bound", "upper_bound")

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _IntegerInterval(_Interval):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return _whole(value) & super().check(value)


class _IntegerLessThan(_Bounded):
    _bounds = ("upper_bound",)
    is_discrete = True

    def check(self, value: Any) -> Any:
        return _whole(value) & (value <= self.upper_bound)


class _IntegerGreaterThan(_GreaterThanEq):
    is_discrete = True

    def check(self, value: Any) -> Any:
        return _whole(value) & super().check(value)


# -- vectors and matrices --------------------------------------------------------------------------


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return _boolean.check(value).all(-1) & (value.sum(-1) == 1)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _OfMatrices(Constraint):
    event_dim = 2

    def _check_square(self, value: Any) -> Any:
        right = value.dim() >= 2 and value.shape[-1] == value.shape[-2]
        return wg.full(value.shape[:-2], right, dtype=wg.bool)


def _all_of(matrices: Any) -> Any:
    return matrices.flatten(-2).all(-1)


class _LowerTriangular(_OfMatrices):
    def check(self, value: Any) -> Any:
        return _all_of(value.tril() == value)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Any) -> Any:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    def check(self, value: Any) -> Any:
        tolerance = wg.finfo(value.dtype).eps * value.shape[-1] * 10
        norms = (value * value).sum(-1).sqrt()
        return super().check(value) & ((norms - 1).abs() < tolerance).all(-1)


class _Square(_OfMatrices):
    def check(self, value: Any) -> Any:
        return self._check_square(value)


class _Symmetric(_Square):
    def check(self, value: Any) -> Any:
        square = super().check(value)
        if value.shape[-1:] != value.shape[-2:-1]:
            return square
        return _all_of(wg.isclose(value, value.mT, atol=1e-6))


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        if value.shape[-1:] != value.shape[-2:-1]:
            return symmetric
        return symmetric & (wg.linalg.eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        if value.shape[-1:] != value.shape[-2:-1]:
            return symmetric
        return symmetric & (wg.linalg.cholesky_ex(value).info == 0)


# -- several constraints ---------------------------------------------------------------------------


class _Several(Constraint):
    """Constraints of parts of a value along `dim`."""

    def __init__(self, cseq: Sequence[Any], dim: int = 0) -> None:
        self.cseq = list(cseq)
        if not all(isinstance(one, Constraint) for one in self.cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.dim = dim

    @property
    def is_discrete(self) -> Any:
        return any(one.is_discrete for one in self.cseq)

    @property
    def event_dim(self) -> Any:
        return max(one.event_dim for one in self.cseq)

    def _check_dim(self, value: Any) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for value with {value.dim()} dimensions"
            )


class _Cat(_Several):
    def __init__(self, cseq: Any, dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})"
            )

    def check(self, value: Any) -> Any:
        self._check_dim(value)
        parts = value.split(self.lengths, self.dim)
        checks = [c.check(part) for c, part in zip(self.cseq, parts, strict=True)]
        return wg.cat(checks, self.dim)


class _Stack(_Several):
    @property
    def event_dim(self) -> Any:
        dim = super().event_dim
        return dim + (self.dim + dim < 0)

    def check(self, value: Any) -> Any:
        self._check_dim(value)
        parts = value.unbind(self.dim)
        checks = [c.check(part) for c, part in zip(self.cseq, parts, strict=True)]
        return wg.stack(checks, self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack


__all__ = defined(globals())
__dir__ = shows(__all__)
