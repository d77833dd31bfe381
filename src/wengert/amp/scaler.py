"""Layer 9 · amp: `GradScaler`, which keeps small gradients from vanishing in 16 bits."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from wengert.ops.create import tensor
from wengert.tape.base import TensorBase
from wengert.tape.sites import warn

T = TypeVar("T")


class OptState(Enum):
    """How far an optimizer has come since the last update of the scale."""

    READY, UNSCALED, STEPPED = range(3)


class _State:
    """The state of one optimizer since the last update of the scale."""

    __slots__ = ("infinite", "stage")

    def __init__(self) -> None:
        self.stage = OptState.READY
        self.infinite: bool | None = None


class GradScaler:
    """Multiply a loss by a scale, divide the gradients by it, and skip steps that overflow.

    The scale grows as long as gradients are finite, and shrinks when one is not.

    Parameters
    ----------
    device : str. ``"cpu"``. For other devices, which are not available, it warns and scales
        nothing.
    init_scale, growth_factor, backoff_factor : float. The initial scale, its factor after
        `growth_interval` finite steps in a row, and its factor after a step that overflowed.
    growth_interval : int. The number of finite steps after which the scale grows.
    enabled : bool. Whether to scale at all.

    Examples
    --------
    >>> w = wg.ones(2, requires_grad=True)
    >>> optimizer = wg.optim.SGD([w], lr=0.5)
    >>> scaler = wg.amp.GradScaler("cpu")
    >>> scaler.scale(w.sum()).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> w, scaler.get_scale()
    (tensor([0.5000, 0.5000], requires_grad=True), 65536.0)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device != "cpu":
            warn(
                f"torch.{device}.amp.GradScaler is enabled, but {device.upper()} is not available. "
                " Disabling.",
            )
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError(f"The growth factor must be > 1.0, but is {growth_factor}.")
            if backoff_factor >= 1.0:
                raise AssertionError(f"The backoff factor must be < 1.0, but is {backoff_factor}.")
        self._scale = float(init_scale)
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._steps = 0
        self._states: dict[int, _State] = {}

    def is_enabled(self) -> bool:
        """Return whether scaling is enabled.

        Examples
        --------
        >>> wg.amp.GradScaler("cpu", enabled=False).is_enabled()
        False
        """
        return self._enabled

    def scale(self, outputs: T) -> T:
        """Return `outputs`, a tensor or a nested iterable of tensors, multiplied by the scale.

        Raises
        ------
        ValueError: If it is neither.

        Examples
        --------
        >>> wg.amp.GradScaler("cpu", init_scale=8.0).scale(wg.tensor(0.5))
        tensor(4.)
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, TensorBase):
            return outputs * tensor(self._scale)
        if isinstance(outputs, Iterable):
            scaled = [self.scale(output) for output in outputs]
            kind: Any = type(outputs) if isinstance(outputs, list | tuple) else iter
            return kind(scaled)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, say, before clipping.

        Raises
        ------
        RuntimeError: If gradients were already unscaled, or the step taken, since the last
            `update`.
        ValueError: If a gradient is float16: keep parameters in float32.

        Examples
        --------
        >>> w, scaler = wg.ones(1, requires_grad=True), wg.amp.GradScaler("cpu", init_scale=8.0)
        >>> scaler.scale(3 * w).backward()
        >>> scaler.unscale_(wg.optim.SGD([w], lr=1.0))
        >>> w.grad
        tensor([3.])
        """
        if not self._enabled:
            return
        state = self._state_of(optimizer)
        if state.stage is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state.stage is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        gradients = [
            parameter.grad
            for group in optimizer.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        ]
        if any(gradient._payload.dtype == np.float16 for gradient in gradients):
            raise ValueError("Attempting to unscale FP16 gradients.")
        inverse = 1.0 / self._scale
        if gradients:
            state.infinite = False
        for gradient in gradients:
            values = gradient._array()
            if not np.isfinite(values).all():
                state.infinite = True
            gradient.detach().mul_(inverse)
        state.stage = OptState.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Call ``optimizer.step(*args)`` on unscaled gradients; skip it if one is not finite.

        Returns
        -------
        object: The result of the optimizer's step; None if it was skipped.

        Raises
        ------
        RuntimeError: If there was a step since the last `update`, or a closure is given.
        AssertionError: If no parameter has a gradient.

        Examples
        --------
        >>> w, scaler = wg.ones(1, requires_grad=True), wg.amp.GradScaler("cpu", init_scale=8.0)
        >>> scaler.scale(w / 2).backward()
        >>> scaler.step(wg.optim.SGD([w], lr=1.0))
        >>> w
        tensor([0.5000], requires_grad=True)
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        state = self._state_of(optimizer)
        if state.stage is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state.stage is OptState.READY:
            self.unscale_(optimizer)
        if state.infinite is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if state.infinite else optimizer.step(*args, **kwargs)
        state.stage = OptState.STEPPED
        return result

    def update(self, new_scale: Any = None) -> None:
        """Update the scale according to the steps since the last update.

        Parameters
        ----------
        new_scale : float or Tensor, optional. The scale to use from now on.

        Raises
        ------
        AssertionError: If there was no step since the last update.
        """
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            found = [s.infinite for s in self._states.values() if s.infinite is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(any(found))
        self._states.clear()

    def _adapt(self, infinite: bool) -> None:
        if infinite:
            self._scale = float(np.float32(self._scale * self._backoff_factor))
            self._steps = 0
            return
        self._steps += 1
        if self._steps == self._growth_interval:
            larger = self._scale * self._growth_factor
            if larger <= float(np.finfo(np.float32).max):
                self._scale = float(np.float32(larger))
            self._steps = 0

    def _state_of(self, optimizer: Any) -> _State:
        return self._states.setdefault(id(optimizer), _State())

    # -- settings ---------------------------------------------------------------------------------

    def get_scale(self) -> float:
        """Return the scale; 1 if scaling is disabled.

        Examples
        --------
        >>> wg.amp.GradScaler("cpu", init_scale=8.0).get_scale()
        8.0
        """
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """Return the factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the factor by which the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return the number of steps after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of steps after which the scale grows."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """Return the scale and the settings, for saving; empty if scaling is disabled.

        Examples
        --------
        >>> wg.amp.GradScaler("cpu", init_scale=8.0).state_dict()["scale"]
        8.0
        """
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._steps,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the scale and the settings from a `state_dict`.

        Raises
        ------
        RuntimeError: If it is empty because it was saved with scaling disabled.

        Examples
        --------
        >>> saved = wg.amp.GradScaler("cpu", init_scale=8.0).state_dict()
        >>> scaler = wg.amp.GradScaler("cpu")
        >>> scaler.load_state_dict(saved)
        >>> scaler.get_scale()
        8.0
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._scale = float(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._steps = state_dict["_growth_tracker"]
