"""Layer 7 · autograd: dual tensors, for explicit forward mode.

``wengert.func.jvp`` differentiates a whole function and is easier to use. When a level ends, its
tensors lose their tangents, as in PyTorch. The tangent has the dtype of its primal.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from wengert.base.dtypes import is_differentiable
from wengert.base.names import defined, shows
from wengert.func.forward import cast_tangent, joined
from wengert.func.inputs import Entered
from wengert.interp.dual import has_tangent
from wengert.interp.levels import Level, Lifted
from wengert.kernels.strided import stored_as
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.given import note_tangent, shared_tangent, tangent_tensor
from wengert.tape.invalidated import Invalidated
from wengert.tape.level_writes import end
from wengert.tape.levels import move, settled
from wengert.tape.modes import enable_grad, full_mode, is_recording, set_fwd_grad_enabled
from wengert.tape.record import T
from wengert.tape.views import PART, link

_OPEN: ContextVar[Level | None] = ContextVar("wengert_dual_level", default=None)


class UnpackedDualTensor(NamedTuple):
    """The result of `unpack_dual`."""

    primal: Any
    """The value."""
    tangent: Any
    """Its derivative, or None."""


def enter_dual_level() -> int:
    """Enter a level of forward mode.

    Returns
    -------
    int: Its number, 0.

    Raises
    ------
    RuntimeError: If a level is already active.

    Examples
    --------
    >>> import wengert.autograd.forward_ad as fwd
    >>> level = fwd.enter_dual_level()
    >>> fwd.exit_dual_level(level=level)
    """
    if _OPEN.get() is not None:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment: end the level that is under "
            "way first, or take derivatives of derivatives with func.jvp, which nests"
        )
    entered = Entered()
    entered.__enter__()
    _OPEN.set(entered.level)
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Exit the innermost level.

    Parameters
    ----------
    level : int, optional. The number of the level, as a check.

    Raises
    ------
    RuntimeError: If no level is active, or `level` is the number of another.
    """
    last = _OPEN.get()
    if last is None:
        raise RuntimeError("Dual level must be a positive number: there is no level to exit.")
    if level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is "
            f"not supported: the last one is 0, but got {level}."
        )
    _OPEN.set(None)
    end(last)
    last.dropped = True


class dual_level(contextlib.ContextDecorator):
    """A level of forward mode, as a context or decorator.

    Examples
    --------
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
    """Return whether operations propagate tangents."""
    return full_mode().tangents


_set_fwd_grad_enabled = set_fwd_grad_enabled


def __getattr__(name: str) -> Any:
    if name == "_current_level":
        return -1 if _OPEN.get() is None else 0
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _chosen(level: int | None) -> Level | None:
    if level is not None and level < 0:
        return None
    if level:
        raise RuntimeError(f"there is no forward AD level {level}: the only one is 0")
    return _OPEN.get()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """Make a dual tensor: values computed from it carry their derivatives as tangents.

    Parameters
    ----------
    tensor : Tensor. The primal, floating or complex.
    tangent : Tensor. The tangent, of the same shape.
    level : int, optional. The level, always 0.

    Returns
    -------
    Tensor: A tensor with the shape, dtype and memory of `tensor`, differentiable with respect to
        both. If `tangent` has the memory layout of `tensor`, `unpack_dual` returns that very
        tensor, and writes to the result also write to it.

    Raises
    ------
    RuntimeError: If no level is active, the shapes differ, or one of the two already has a tangent
        at this level.
    ValueError: If one of the two is neither floating nor complex, or only the tangent is complex.

    Examples
    --------
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
        dtype = value._payload.dtype
        if not is_differentiable(dtype):
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {dtype}")
    if tangent._payload.dtype.kind == "c" and tensor._payload.dtype.kind != "c":
        raise ValueError(
            f"Expected tangent to be real, as its primal of {tensor.dtype} is, but got: "
            f"{tangent.dtype}"
        )
    if tuple(tensor._payload.shape) != tuple(tangent._payload.shape):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(tensor._payload.shape)} while "
            f"the given forward gradient is of size {list(tangent._payload.shape)}."
        )
    tensor, tangent = settled(tensor), settled(tangent)
    if has_tangent(tensor._payload, place):
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            "same level 0 is not supported."
        )
    if has_tangent(tangent._payload, place):
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level "
            "0 is not supported."
        )
    fitting = cast_tangent(tangent, tensor)
    if fitting._edge is not None and not is_recording():
        # only the primal is unrecorded; the tangent keeps its history
        with enable_grad():
            value = new_tensor(tensor._payload, None, tensor._share_version())
            dual = joined(value, fitting, place)
    else:
        dual = joined(tensor, fitting, place)
    if fitting._edge is not None or isinstance(fitting._payload, Lifted):
        note_tangent(dual, fitting)
    elif not isinstance(tensor._payload, Lifted):
        array, value = fitting._array(), tensor._array()
        like = stored_as(array, value)
        # not if they share memory, which a write would reach twice
        if like is not None and not np.may_share_memory(like, value):
            shared_tangent(dual, fitting if like is array else new_tensor(like))
    return dual


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """Return the primal and the tangent of a tensor.

    Parameters
    ----------
    tensor : Tensor. With or without a tangent.
    level : int, optional. At which level: 0.

    Returns
    -------
    UnpackedDualTensor: ``(primal, tangent)``, both differentiable. `tangent` is None if the tensor
        does not depend on a dual tensor, or if no level is active.

    Examples
    --------
    >>> import wengert.autograd.forward_ad as fwd
    >>> fwd.unpack_dual(wg.ones(2))
    UnpackedDualTensor(primal=tensor([1., 1.]), tangent=None)
    """
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"unpack_dual(): tensor must be a Tensor, not {type(tensor).__name__}")
    place = _chosen(level)
    tensor = settled(tensor)
    if place is None:
        return UnpackedDualTensor(tensor, None)
    # writes to the parts reach the tensor, so these must be memory
    tensor._array()
    primal = move("primal_of", tensor, place)
    tangent = tangent_tensor(tensor, place) if has_tangent(tensor._payload, place) else None
    if tangent is None:
        # a separate tensor, which gets no tangent when this one is written to
        if primal._edge is not None:
            aliased = primal if isinstance(primal._edge, Invalidated) else T.alias(primal)
            return UnpackedDualTensor(aliased, None)
        primal = new_tensor(primal._array(), None, primal._share_version())
    primal._extra().no_write = PART
    link(tensor, primal)
    return UnpackedDualTensor(primal, tangent)


__all__ = defined(globals())
__dir__ = shows(__all__)
