"""Layer 8 · nn: clipping of gradients."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any, TypeAlias

from wengert import linalg
from wengert.base.names import defined
from wengert.ops.create import tensor
from wengert.ops.join import stack
from wengert.ops.select import clamp
from wengert.tape.modes import no_grad
from wengert.tape.sites import warn
from wengert.types import Tensor

Tensors: TypeAlias = Tensor | Iterable[Tensor]


def _listed(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(parameters: Iterable[Any]) -> list[Any]:
    return [param.grad for param in parameters if param.grad is not None]


@no_grad()
def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Return the norm of several tensors, as if they were one vector.

    Parameters
    ----------
    tensors : Tensor or iterable of Tensor. The tensors.
    %(clipped_norm)s

    Returns
    -------
    Tensor: A number.

    Raises
    ------
    RuntimeError: With `error_if_nonfinite`, if the norm is not finite.

    Examples
    --------
    >>> wg.nn.utils.get_total_norm([wg.tensor([3.0]), wg.tensor([0.0, 4.0])])
    tensor(5.)
    """
    tensors = _listed(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return tensor(0.0)
    norms = [linalg.vector_norm(each, norm_type) for each in tensors]
    wide = [norm.dtype for norm in norms if norm.dtype != norms[0].dtype]
    total = linalg.vector_norm(_stacked(norms) if wide else stack(norms), norm_type)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            f"so it cannot be clipped: it is {total.item()}. To disable this error and scale the "
            "gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def _stacked(norms: list[Any]) -> Tensor:
    """Return norms of several dtypes, stacked in their common dtype."""
    wide = sum(norms).dtype
    return stack([norm.to(wide) for norm in norms])


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients in place so that a total norm of `total_norm` becomes at most `max_norm`.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor. The tensors whose ``.grad`` is scaled.
    max_norm : float. The largest norm that is allowed.
    total_norm : Tensor. The norm of the gradients before scaling.
    foreach : bool, optional. Has no effect.

    Examples
    --------
    >>> w = wg.tensor([3.0, 4.0], requires_grad=True)
    >>> w.square().sum().backward()
    >>> norm = wg.nn.utils.get_total_norm([w.grad])
    >>> wg.nn.utils.clip_grads_with_norm_(w, 5.0, norm)
    >>> w.grad
    tensor([3.0000, 4.0000])
    """
    factor = clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
    for grad in _gradients(_listed(parameters)):
        grad.mul_(factor)


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale gradients in place so that their total norm is at most `max_norm`.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor. The tensors whose ``.grad`` is scaled.
    max_norm : float. The largest norm that is allowed.
    %(clipped_norm)s

    Returns
    -------
    Tensor: The norm of the gradients before scaling.

    Raises
    ------
    RuntimeError: With `error_if_nonfinite`, if the norm is not finite.

    Examples
    --------
    >>> w = wg.tensor([3.0, 4.0], requires_grad=True)
    >>> (w**2).sum().backward()
    >>> wg.nn.utils.clip_grad_norm_([w], max_norm=1.0)
    tensor(10.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    listed = _listed(parameters)
    if isinstance(parameters, types.GeneratorType) and not listed:
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    total = get_total_norm(_gradients(listed), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, max_norm, total)
    return total


def clip_grad_norm(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Warn, and call `clip_grad_norm_`, whose old name this is."""
    warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@no_grad()
def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp each element of gradients to ``[-clip_value, clip_value]``, in place.

    Parameters
    ----------
    parameters : Tensor or iterable of Tensor. The tensors whose ``.grad`` is clamped.
    clip_value : float. The largest absolute value that is allowed.
    foreach : bool, optional. Has no effect.

    Examples
    --------
    >>> w = wg.tensor([3.0, 0.1], requires_grad=True)
    >>> (w**2).sum().backward()
    >>> wg.nn.utils.clip_grad_value_(w, 1.0)
    >>> w.grad
    tensor([1.0000, 0.2000])
    """
    bound = float(clip_value)
    for grad in _gradients(_listed(parameters)):
        grad.clamp_(min=-bound, max=bound)


__all__ = defined(globals())
