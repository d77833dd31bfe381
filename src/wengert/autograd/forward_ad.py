"""Layer 7 · autograd: forward mode by hand: tensors that carry their tangents.

``wengert.func.jvp`` does the same for a whole function and is the easier one to use. When a level
ends its tensors lose their tangents, as in PyTorch. Differences from PyTorch: levels may be nested,
the tangent has the dtype of its primal, and ``backward`` keeps the tangents of gradients.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import Any, NamedTuple

from wengert.base.dtypes import is_differentiable
from wengert.func.forward import cast_tangent, joined
from wengert.func.inputs import Entered
from wengert.interp.dual import ENABLED, Dual
from wengert.interp.levels import Level, Lifted
from wengert.tape.base import TensorBase
from wengert.tape.levels import move, settled
from wengert.tape.lifted_writes import end

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_GIVEN = "_given_tangent"
"""The attribute of a dual tensor that holds its payload, and the tangent as it was given."""
_OPEN: ContextVar[tuple[Level, ...]] = ContextVar("wengert_dual_levels", default=())


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` gives."""

    primal: Any
    """The value."""
    tangent: Any
    """Its derivative, or None."""


def enter_dual_level() -> int:
    """Begin a level of forward mode.

    Returns
    -------
    int
        Its number: 0 for the outermost.

    Examples
    --------
    >>> import wengert.autograd.forward_ad as fwd
    >>> level = fwd.enter_dual_level()
    >>> fwd.exit_dual_level(level=level)
    """
    entered = Entered()
    entered.__enter__()
    levels = _OPEN.get()
    _OPEN.set((*levels, entered.level))
    return len(levels)


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level that was begun last.

    Parameters
    ----------
    level : int, optional
        Its number, for certainty.

    Raises
    ------
    RuntimeError
        If none was begun, or `level` is the number of another.
    """
    levels = _OPEN.get()
    if not levels:
        raise RuntimeError("Dual level must be a positive number: there is no level to exit.")
    if level is not None and level != len(levels) - 1:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is "
            f"not supported: the last one is {len(levels) - 1}, but got {level}."
        )
    *before, last = levels
    _OPEN.set(tuple(before))
    end(last)
    last.dropped = True


class dual_level(contextlib.ContextDecorator):
    """A level of forward mode, as a context or decorator.

    Examples
    --------
    >>> import wengert as wg
    >>> import wengert.autograd.forward_ad as fwd
    >>> with fwd.dual_level():
    ...     x = fwd.make_dual(wg.tensor(3.0), wg.tensor(1.0))
    ...     fwd.unpack_dual(x * x)
    UnpackedDualTensor(primal=tensor(9.), tangent=tensor(6.))
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def _is_fwd_grad_enabled() -> bool:
    """Whether operations carry tangents along."""
    return ENABLED.get()


class _set_fwd_grad_enabled(contextlib.ContextDecorator):
    """Whether operations carry tangents along, in a context."""

    def __init__(self, mode: bool) -> None:
        self._mode = mode
        self._before: list[Any] = []

    def __enter__(self) -> None:
        self._before.append(ENABLED.set(self._mode))

    def __exit__(self, *exc: object) -> None:
        ENABLED.reset(self._before.pop())


def __getattr__(name: str) -> Any:
    if name == "_current_level":
        return len(_OPEN.get()) - 1
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _chosen(level: int | None) -> Level | None:
    levels = _OPEN.get()
    if level is None:
        return levels[-1] if levels else None
    if level < 0:
        return None
    if level >= len(levels):
        raise RuntimeError(
            f"there is no forward AD level {level}: the levels under way are {len(levels)}, "
            "counted from 0"
        )
    return levels[level]


def _has_tangent(payload: Any, level: Level) -> bool:
    if not isinstance(payload, Lifted):
        return False
    if isinstance(payload, Dual) and payload.owner is level:
        return payload.tangent is not None
    return any(_has_tangent(part, level) for part in payload.contents())


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """A tensor that carries a tangent: what is computed from it carries its derivative.

    Parameters
    ----------
    tensor : Tensor
        The value, floating or complex.
    tangent : Tensor
        Its derivative, of its shape.
    level : int, optional
        At which level; default: the innermost.

    Returns
    -------
    Tensor
        Of the shape, dtype and memory of `tensor`; differentiable by both.

    Raises
    ------
    RuntimeError
        If no level is under way, the shapes differ, or one of the two has a tangent at this level.
    ValueError
        If one of the two is neither floating nor complex, or only the tangent is complex.

    Examples
    --------
    >>> import wengert as wg
    >>> import wengert.autograd.forward_ad as fwd
    >>> with fwd.dual_level():
    ...     x = fwd.make_dual(wg.tensor([1.0, 2.0]), wg.tensor([1.0, 0.0]))
    ...     fwd.unpack_dual(x.prod()).tangent
    tensor(2.)
    """
    place = _chosen(level)
    if place is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for value, what in ((tensor, "primal"), (tangent, "tangent")):
        if not isinstance(value, TensorBase):
            raise TypeError(f"make_dual(): {what} must be a Tensor, not {type(value).__name__}")
        dtype = value.payload.dtype
        if not is_differentiable(dtype):
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {dtype}")
    if tangent.payload.dtype.kind == "c" and tensor.payload.dtype.kind != "c":
        raise ValueError(
            f"Expected tangent to be real, as its primal of {tensor.dtype} is, but got: "
            f"{tangent.dtype}"
        )
    if tuple(tensor.payload.shape) != tuple(tangent.payload.shape):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(tensor.payload.shape)} while "
            f"the given forward gradient is of size {list(tangent.payload.shape)}."
        )
    number = _OPEN.get().index(place)
    tensor, tangent = settled(tensor), settled(tangent)
    if _has_tangent(tensor.payload, place):
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            f"same level {number} is not supported."
        )
    if _has_tangent(tangent.payload, place):
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level "
            f"{number} is not supported."
        )
    fitting = cast_tangent(tangent, tensor)
    dual = joined(tensor, fitting, place)
    if fitting is tangent:
        vars(dual)[_GIVEN] = (dual.payload, tangent)
    return dual


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The value of a tensor and its tangent.

    Parameters
    ----------
    tensor : Tensor
        With or without a tangent.
    level : int, optional
        At which level; default: the innermost.

    Returns
    -------
    UnpackedDualTensor
        ``(primal, tangent)``, both differentiable; `tangent` is None for what does not depend on a
        tensor of `make_dual`, and where no level is under way.

    Examples
    --------
    >>> import wengert as wg
    >>> import wengert.autograd.forward_ad as fwd
    >>> fwd.unpack_dual(wg.ones(2))
    UnpackedDualTensor(primal=tensor([1., 1.]), tangent=None)
    """
    place = _chosen(level)
    own, tensor = tensor, settled(tensor)
    if place is None or not _has_tangent(tensor.payload, place):
        return UnpackedDualTensor(
            tensor if place is None else move("primal_of", tensor, place), None
        )
    payload, given = vars(tensor).get(_GIVEN, (None, None))
    if own is tensor and payload is tensor.payload and payload.owner is place:
        tangent = given
    else:
        tangent = move("tangent_of", tensor, place)
    return UnpackedDualTensor(move("primal_of", tensor, place), tangent)
