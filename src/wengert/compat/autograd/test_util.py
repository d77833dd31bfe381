"""Layer 9 · compat: checks of derivatives against finite differences, in random directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from wengert.compat.autograd.tracing import make_jvp, make_vjp
from wengert.compat.autograd.vspaces import vspace
from wengert.compat.autograd.words import refusal
from wengert.compat.autograd.wrap_util import get_name, unary_to_nary
from wengert.compat.kit.namespaces import defined

EPS = 1e-6
TOL = 1e-6
RTOL = 1e-6


def scalar_close(a, b) -> bool:
    """Return whether two numbers are closer than 1e-6, absolutely or relatively.

    Examples
    --------
    >>> from wengert.compat.autograd.test_util import scalar_close
    >>> scalar_close(1.0, 1.0 + 1e-7), scalar_close(1.0, 1.1)
    (True, False)
    """
    return bool(abs(a - b) < TOL or abs(a - b) / abs(a + b) < RTOL)


def make_numerical_jvp(f: Callable[[Any], Any], x) -> Callable[[Any], Any]:
    """Return a function for the derivative of `f` at `x` in a direction, by central differences."""
    given, found = vspace(x), vspace(f(x))

    def jvp(v) -> Any:
        after = f(given.add(x, given.scalar_mul(v, EPS / 2)))
        before = f(given.add(x, given.scalar_mul(v, -EPS / 2)))
        return found.scalar_mul(found.add(after, found.scalar_mul(before, -1.0)), 1.0 / EPS)

    return jvp


def check_vjp(f: Callable[[Any], Any], x) -> None:
    """Check the reverse mode of a function of one argument in a random direction.

    Raises
    ------
    AssertionError: If it differs from finite differences.
    """
    vjp, y = make_vjp(f, x)
    given, found = vspace(x), vspace(y)
    x_v, y_v = given.randn(), found.randn()
    back = given.covector(vjp(found.covector(y_v)))
    if vspace(back) != given:
        raise refusal(
            AssertionError, "Derivative (VJP) check of {}", get_name(f), x, vspace(back), given
        )
    exact = given.inner_prod(x_v, back)
    numeric = found.inner_prod(y_v, make_numerical_jvp(f, x)(x_v))
    if not scalar_close(numeric, exact):
        raise refusal(
            AssertionError, "Derivative (VJP) check of {0}", get_name(f), x, exact, numeric
        )


def check_jvp(f: Callable[[Any], Any], x) -> None:
    """Check the forward mode of a function of one argument in a random direction.

    Raises
    ------
    AssertionError: If it differs from finite differences.
    """
    direction = vspace(x).randn()
    check_equivalent(make_jvp(f, x)(direction)[1], make_numerical_jvp(f, x)(direction))


def check_equivalent(x, y) -> None:
    """Check that two values have the same structure and are equal in a random direction.

    Raises
    ------
    AssertionError: If they are not.
    """
    first, second = vspace(x), vspace(y)
    if first != second:
        raise AssertionError(f"VSpace mismatch:\nx: {first}\ny: {second}")
    direction = first.randn()
    if not scalar_close(first.inner_prod(x, direction), first.inner_prod(y, direction)):
        raise AssertionError(f"Value mismatch:\nx: {x}\ny: {y}")


@unary_to_nary
def check_grads(f: Callable[[Any], Any], x, modes: Sequence[str] = ("fwd", "rev"), order=2) -> None:
    """Return a function that checks the derivatives of `f`, in the given modes, up to an order.

    Examples
    --------
    >>> from wengert.compat.autograd.test_util import check_grads
    >>> check_grads(lambda x, y: np.sin(x) * y, (0, 1), order=2)(np.ones(2), 3.0)

    Raises
    ------
    AssertionError: If a derivative differs from finite differences, or for an unknown mode.
    """
    for mode in modes:
        if mode not in ("fwd", "rev"):
            raise AssertionError(f"{mode!r}: the modes are 'fwd' and 'rev'")
    if "fwd" in modes:
        check_jvp(f, x)
        if order > 1:
            v = vspace(x).randn()
            _again(f"jvp_{get_name(f)}", lambda x, v: make_jvp(f, x)(v)[1], modes, order)(x, v)
    if "rev" in modes:
        check_vjp(f, x)
        if order > 1:
            v = vspace(f(x)).randn()
            _again(f"vjp_{get_name(f)}", lambda x, v: make_vjp(f, x)[0](v), modes, order)(x, v)


def _again(
    name: str, derivative: Callable[..., Any], modes: Sequence[str], order: int
) -> Callable[..., Any]:
    derivative.__name__ = name
    return check_grads(derivative, (0, 1), modes, order=order - 1)


def combo_check(fun: Callable[..., Any], *args, **kwargs) -> Callable[..., None]:
    """Like `check_grads`, with every combination of the values given for each argument.

    Examples
    --------
    >>> import numpy as onp
    >>> from wengert.compat.autograd.test_util import combo_check
    >>> combo_check(np.sum, (0,), order=1)([onp.ones((2, 3))], axis=[None, 0, 1])
    """

    def check(*values, **options) -> None:
        pairs = [[(key, option) for option in each] for key, each in options.items()]
        for given in product(*values):
            for named in product(*pairs):
                check_grads(fun, *args, **kwargs)(*given, **dict(named))

    return check


__all__ = defined(globals())
