"""Layer 9 · compat: ``tf.keras.optimizers.schedules``: learning rates by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.compat.kit.arguments import arguments
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.configs import Configured
from wengert.compat.tensorflow.functions.values import constant_of, numbers_of
from wengert.compat.tensorflow.words import refusal


class LearningRateSchedule(Configured):
    """Base class for schedules, which map a step number to a learning rate."""

    def __call__(self, step) -> Any:
        """Return the learning rate."""
        raise refusal(NotImplementedError, "Learning rate schedule", type(self).__name__)


def _step(step) -> Any:
    return numbers_of(step).astype(np.float64)


def _rate(value) -> Any:
    return constant_of(np.asarray(value, np.float32))


@arguments("initial_learning_rate, decay_steps, decay_rate, staircase=False")
class _Decay(LearningRateSchedule):
    """Base class for schedules whose rate depends on the number of decays so far."""

    def _prepare(self: Any) -> None:
        if self.decay_steps <= 0:
            raise refusal(ValueError, "Argument `decay_steps` must", self.decay_steps)

    def _count(self, step) -> Any:
        share = _step(step) / self.decay_steps
        return np.floor(share) if self.staircase else share


@arguments("staircase/name='ExponentialDecay'")
class ExponentialDecay(_Decay):
    """``initial_learning_rate * decay_rate ** (step / decay_steps)``.

    Examples
    --------
    >>> rate = tf.keras.optimizers.schedules.ExponentialDecay(1.0, 10, 0.5)
    >>> float(rate(20))
    0.25
    """

    def __call__(self, step) -> Any:
        return _rate(self.initial_learning_rate * self.decay_rate ** self._count(step))


@arguments("staircase/name='InverseTimeDecay'")
class InverseTimeDecay(_Decay):
    """``initial_learning_rate / (1 + decay_rate * step / decay_steps)``.

    Examples
    --------
    >>> float(tf.keras.optimizers.schedules.InverseTimeDecay(1.0, 1, 1.0)(3))
    0.25
    """

    def __call__(self, step) -> Any:
        return _rate(self.initial_learning_rate / (1 + self.decay_rate * self._count(step)))


@arguments("boundaries, values, name='PiecewiseConstant'")
class PiecewiseConstantDecay(LearningRateSchedule):
    """A constant rate between boundaries.

    Examples
    --------
    >>> rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay([10], [1.0, 0.5])
    >>> float(rate(10)), float(rate(11))
    (1.0, 0.5)
    """

    def _prepare(self: Any) -> None:
        if len(self.boundaries) != len(self.values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. Received: "
                f"boundaries={self.boundaries} of length {len(self.boundaries)}, and values="
                f"{self.values} of length {len(self.values)}."
            )

    def __call__(self, step) -> Any:
        place = np.searchsorted([float(end) for end in self.boundaries], _step(step))
        return _rate(np.asarray(self.values)[place])


@arguments(
    "initial_learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, "
    "name='PolynomialDecay'"
)
class PolynomialDecay(LearningRateSchedule):
    """Decays from one rate to another over `decay_steps`, along a power.

    Examples
    --------
    >>> float(tf.keras.optimizers.schedules.PolynomialDecay(1.0, 10, 0.0)(5))
    0.5
    """

    def __call__(self, step) -> Any:
        at, steps = _step(step), float(self.decay_steps)
        if self.cycle:
            steps = steps * np.maximum(1.0, np.ceil(at / steps))
        else:
            at = np.minimum(at, steps)
        start, end = self.initial_learning_rate, self.end_learning_rate
        return _rate((start - end) * (1 - at / steps) ** self.power + end)


@arguments(
    "initial_learning_rate, decay_steps, alpha=0.0, name='CosineDecay', warmup_target=None, "
    "warmup_steps=0"
)
class CosineDecay(LearningRateSchedule):
    """Decays from one rate to `alpha` times it along half a cosine wave, with optional warmup.

    Parameters
    ----------
    initial_learning_rate : float. The rate at the first step.
    decay_steps : int. The number of steps of the decay.
    alpha : float. The final rate, as a fraction of the initial one.
    name : str. The name of the schedule.
    warmup_target : float, optional. The rate at the end of the warmup.
    warmup_steps : int. The number of steps of the warmup.

    Examples
    --------
    >>> float(tf.keras.optimizers.schedules.CosineDecay(1.0, 10)(5))
    0.5
    """

    def __call__(self, step) -> Any:
        at, start, top = _step(step), self.initial_learning_rate, self.warmup_target
        warm = 0 if top is None else self.warmup_steps
        top = start if top is None else top
        share = np.minimum(at - warm, self.decay_steps) / self.decay_steps
        wave = 0.5 * (1 + np.cos(np.pi * share))
        rate = top * ((1 - self.alpha) * wave + self.alpha)
        return _rate(np.where(at < warm, (top - start) * at / (warm or 1) + start, rate))


@arguments(
    "initial_learning_rate, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name='SGDRDecay'"
)
class CosineDecayRestarts(LearningRateSchedule):
    """Half cosine waves, each `t_mul` times as long and `m_mul` times as high as the last.

    Examples
    --------
    >>> rate = tf.keras.optimizers.schedules.CosineDecayRestarts(1.0, 10)
    >>> float(rate(5)), float(rate(10))
    (0.5, 1.0)
    """

    def __call__(self, step) -> Any:
        at = _step(step)
        length = np.full_like(at, self.first_decay_steps)
        height = np.ones_like(at)
        while (over := at >= length).any():
            at, length = at - over * length, np.where(over, length * self.t_mul, length)
            height = np.where(over, height * self.m_mul, height)
        wave = 0.5 * height * (1 + np.cos(np.pi * at / length))
        return _rate(self.initial_learning_rate * ((1 - self.alpha) * wave + self.alpha))


__all__ = defined(globals())
