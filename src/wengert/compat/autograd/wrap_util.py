"""Layer 9 · compat: extension of operators on functions of one argument to several arguments."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, cast

from wengert.compat.autograd.noted import is_noted, noted_call
from wengert.compat.autograd.util import subvals
from wengert.compat.autograd.words import refusal

__all__ = ["get_doc", "get_name", "unary_to_nary", "wrap_nary_f", "wraps"]


def get_name(f) -> str:
    """Return the name of a function, or a description if it has none."""
    return str(getattr(f, "__name__", "[unknown name]"))


def get_doc(f) -> str:
    """Return the docstring of a function, or an empty string."""
    return str(getattr(f, "__doc__", "") or "")


def wraps(fun, namestr="{fun}", docstr="{doc}", **kwargs) -> Callable[[Any], Any]:
    """Give a function a name and a docstring built from those of `fun`."""

    def dress(f) -> Any:
        try:
            f.__name__ = namestr.format(fun=get_name(fun), **kwargs)
            f.__doc__ = docstr.format(fun=get_name(fun), doc=get_doc(fun), **kwargs)
        except AttributeError:
            pass  # some callables accept no name
        return f

    return dress


def wrap_nary_f(fun, op, argnum) -> Callable[[Any], Any]:
    """Name the result of an operator on `fun`: ``grad_of_f_wrt_argnum_0``."""
    return wraps(
        fun,
        "{op}_of_{fun}_wrt_argnum_{argnum}",
        "{op} of function {fun} with respect to argument number {argnum}.\n\n"
        "It takes the arguments of {fun}.",
        op=get_name(op),
        argnum=argnum,
    )


def _taken(args: tuple[Any, ...], number: int, op) -> Any:
    try:
        return args[number]
    except IndexError:
        raise refusal(IndexError, "tuple index out", get_name(op), number, len(args)) from None


def unary_to_nary(unary_operator: Callable[..., Any]) -> Callable[..., Any]:
    """Extend an operator on functions of one argument to functions of several.

    Parameters
    ----------
    unary_operator : callable. Takes a function of one argument, that argument, and perhaps more.

    Returns
    -------
    callable: Takes a function and `argnum`, the position of the argument to operate on, 0 by
        default, or a tuple or list of positions, whose arguments then count as one tuple. Returns a
        function with the same parameters as the given one.

    Examples
    --------
    >>> from wengert.compat.autograd.wrap_util import unary_to_nary
    >>> @unary_to_nary
    ... def twice(fun, x):
    ...     return fun(fun(x))
    >>> twice(lambda a, b: a + b, 1)(10, 1)
    21
    """

    @wraps(unary_operator)
    def nary_operator(
        fun: Callable[..., Any], argnum=0, *nary_op_args, **nary_op_kwargs
    ) -> Callable[..., Any]:
        if type(argnum) not in (int, tuple, list):
            raise refusal(AssertionError, "{!r}: argnum must", argnum)
        made = Operated(nary_operator, unary_operator, fun, argnum, nary_op_args, nary_op_kwargs)
        return cast("Callable[..., Any]", wrap_nary_f(fun, unary_operator, argnum)(made))

    nary_operator.__module__ = unary_operator.__module__
    nary_operator.__qualname__ = unary_operator.__qualname__
    return nary_operator


class Operated:
    """The result of an operator on a function; it can be pickled if the function can.

    Parameters
    ----------
    maker, operator: The operator on functions of several arguments, and the one on functions of
        one.
    fun, argnum, args, kwargs: The operands of the operator.
    """

    def __init__(self, maker, operator, fun, argnum, args, kwargs) -> None:
        self._operator, self._fun, self._argnum, self._args = operator, fun, argnum, args
        self._maker, self._kwargs = maker, kwargs

    def __call__(self, *args, **kwargs) -> Any:
        """Return the result of the operator at these arguments."""
        if is_noted(args):
            return noted_call(self, args, kwargs)
        fun, argnum, operator = self._fun, self._argnum, self._operator
        if type(argnum) is int:
            x = _taken(args, argnum, operator)
            if len(args) == 1 and not kwargs:
                return operator(fun, x, *self._args, **self._kwargs)

            def unary_f(x) -> Any:
                return fun(*subvals(args, [(argnum, x)]), **kwargs)

        else:
            x = tuple(_taken(args, number, operator) for number in argnum)

            def unary_f(x) -> Any:
                return fun(*subvals(args, zip(argnum, x, strict=True)), **kwargs)

        wraps(fun)(unary_f)
        return operator(unary_f, x, *self._args, **self._kwargs)

    def __get__(self, instance, owner=None) -> Any:
        """Bind to an instance, like a function: in a class body this is a method."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<function {get_name(self)}>"

    def __reduce__(self) -> Any:
        return _made_again, (self._maker, self._fun, self._argnum, self._args, self._kwargs)


def _made_again(maker, fun, argnum, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return maker(fun, argnum, *args, **kwargs)
