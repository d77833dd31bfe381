"""Layer 9 · compat: the names of autograd's own core: `make_vjp`, `make_jvp`, rules and spaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wengert.compat.autograd.boxes import getval as getval
from wengert.compat.autograd.boxes import isbox as isbox
from wengert.compat.autograd.internals import internals
from wengert.compat.autograd.primitives import def_linear as def_linear
from wengert.compat.autograd.primitives import defjvp as defjvp
from wengert.compat.autograd.primitives import defjvp_argnum as defjvp_argnum
from wengert.compat.autograd.primitives import defjvp_argnums as defjvp_argnums
from wengert.compat.autograd.primitives import defvjp as defvjp
from wengert.compat.autograd.primitives import defvjp_argnum as defvjp_argnum
from wengert.compat.autograd.primitives import defvjp_argnums as defvjp_argnums
from wengert.compat.autograd.primitives import primitive as primitive_
from wengert.compat.autograd.primitives import primitive_jvps as primitive_jvps
from wengert.compat.autograd.primitives import primitive_vjps as primitive_vjps
from wengert.compat.autograd.primitives import warn_deprecated
from wengert.compat.autograd.tracing import make_jvp as make_jvp
from wengert.compat.autograd.tracing import make_vjp as make_vjp
from wengert.compat.autograd.vspaces import VSpace as VSpace
from wengert.compat.autograd.vspaces import vspace as vspace

Maker = Callable[..., Any]


def _by_argument(name: str, primitive_fun, rule_of: Callable[[Maker, int], Maker]) -> Any:
    """Return a method ``name(maker, argnum)`` that defines the rules of arguments one by one."""
    makers: dict[int, Maker] = {}

    def method(maker: Maker, argnum=0) -> None:
        warn_deprecated(name)
        makers[argnum] = rule_of(maker, argnum)
        defvjp(primitive_fun, *makers.values(), argnums=tuple(makers))

    return method


def deprecated_defvjp(primitive_fun) -> Callable[..., None]:
    """Return the method ``defvjp(vjp, argnum)``, with old rules ``vjp(g, ans, vs, gvs, *args)``."""

    def rule_of(vjp: Maker, argnum: int) -> Maker:
        return lambda ans, *args, **kwargs: (
            lambda g: vjp(g, ans, vspace(args[argnum]), vspace(g), *args, **kwargs)
        )

    return _by_argument("defvjp", primitive_fun, rule_of)


def deprecated_defgrad(primitive_fun) -> Callable[..., None]:
    """Return the method ``defgrad(vjpmaker, argnum)`` for old programs."""
    return _by_argument("defgrad", primitive_fun, lambda maker, argnum: maker)


def deprecated_defvjp_is_zero(primitive_fun) -> Callable[..., None]:
    """Return the method ``defvjp_is_zero(argnums)`` for old programs."""
    zero: set[int] = set()

    def method(argnums: Sequence[int] = (0,)) -> None:
        warn_deprecated("defvjp_is_zero")
        zero.update(argnums)
        defvjp(primitive_fun, *[None] * len(zero), argnums=sorted(zero))

    return method


def primitive_with_deprecation_warnings(f_raw: Callable[..., Any]) -> Any:
    """Like `wengert.compat.autograd.extend.primitive`, but with the methods for old programs."""
    wrapped = primitive_(f_raw)
    wrapped.defvjp = deprecated_defvjp(wrapped)
    wrapped.defvjp_is_zero = deprecated_defvjp_is_zero(wrapped)
    wrapped.defgrad = deprecated_defgrad(wrapped)
    return wrapped


primitive = primitive_with_deprecation_warnings


__getattr__ = internals(
    globals(),
    "JVPNode SparseBox SparseObject VJPNode backward_pass sparse_add",
    "make_vjp or make_jvp",
)
