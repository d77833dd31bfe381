"""Layer 9 · compat: what all of Keras's optimizers have in common."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from wengert.base.sections import fill_sections
from wengert.compat.kit import updates
from wengert.compat.tensorflow.configs import Configured, serialize_keras_object
from wengert.compat.tensorflow.functions.values import numbers_of
from wengert.compat.tensorflow.keras.backend import name_for
from wengert.compat.tensorflow.keras.schedules import LearningRateSchedule
from wengert.compat.tensorflow.tape import GradientTape
from wengert.compat.tensorflow.variable import Variable
from wengert.compat.tensorflow.waiting import WAITING, resume
from wengert.tape.sites import warn

__all__ = ["Optimizer"]


class Optimizer(Configured):
    """What all optimizers have: a learning rate, a count of steps, clipping, decay of weights.

    Parameters
    ----------
    learning_rate : float or LearningRateSchedule. How far to go, at each step.
    weight_decay : float, optional. The share of the weights that is taken away at each step, times
        the learning rate.
    clipnorm, clipvalue, global_clipnorm : float, optional. What the norm of each gradient, its
        elements, or the norm of all together is limited to.
    name : str, optional. A name.

    Attributes
    ----------
    iterations: The number of steps so far, a variable.
    learning_rate: The rate, a variable; of a schedule, the rate of this step.

    Raises
    ------
    ValueError: If an argument is not offered.
    """

    kept: ClassVar[tuple[str, ...]] = ()
    """The names of the arrays that are kept for each weight."""

    def __init__(
        self,
        learning_rate=0.01,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str | None = None,
        **kwargs,
    ) -> None:
        _refuse(type(self).__name__, kwargs)
        self.name = name or name_for(type(self).__name__)
        self.weight_decay = weight_decay
        self.clipnorm = clipnorm
        self.clipvalue = clipvalue
        self.global_clipnorm = global_clipnorm
        self.iterations = Variable(np.int64(0), trainable=False, name="iteration")
        self._rate: Any = None
        self.learning_rate = learning_rate
        self._states: dict[int, dict[str, Any]] = {}
        self._known: list[Any] = []

    @property
    def learning_rate(self) -> Any:
        """The learning rate."""
        if isinstance(self._rate, Variable):
            return self._rate
        return self._rate(self.iterations)

    @learning_rate.setter
    def learning_rate(self, value) -> None:
        if isinstance(value, LearningRateSchedule) or (
            callable(value) and not isinstance(value, Variable)
        ):
            self._rate = value
        elif isinstance(self._rate, Variable):
            self._rate.assign(np.float32(numbers_of(value)))
        else:
            number = np.float32(numbers_of(value))
            self._rate = Variable(number, trainable=False, name="learning_rate")

    lr = learning_rate

    @property
    def variables(self) -> list[Any]:
        """The count of steps, the learning rate, and what is kept for each weight."""
        kept = [
            Variable(array, trainable=False, name=name)
            for weight in self._known
            for name, array in self._states[id(weight)].items()
        ]
        rate = [self._rate] if isinstance(self._rate, Variable) else []
        return [self.iterations, *rate, *kept]

    def build(self, variables) -> None:
        """Begin to keep what is needed for these weights."""
        for variable in variables:
            if id(variable) not in self._states:
                self._known.append(variable)
                self._states[id(variable)] = self._new(np.asarray(variable.numpy()))
        if WAITING:
            resume(self)

    def _new(self, value) -> dict[str, Any]:
        """What is kept for one weight."""
        return updates.kept(value, *self.kept)

    def _step(self, g, lr, state: dict[str, Any], t: int) -> Any:
        """What step `t` subtracts from a weight, given its gradient; `state` is changed."""
        raise NotImplementedError

    def apply_gradients(self, grads_and_vars, name=None, **kwargs) -> Any:
        """Take one step.

        Parameters
        ----------
        grads_and_vars : iterable of pairs. Gradients and weights; a weight whose gradient is None
            stays, with a warning.

        Returns
        -------
        Variable: The number of steps.

        Raises
        ------
        ValueError: If there are no gradients at all.
        """
        pairs = list(grads_and_vars)
        self.apply([g for g, _ in pairs], [v for _, v in pairs])
        return self.iterations

    def apply(self, grads, trainable_variables=None) -> None:
        """Take one step, given gradients and weights, or gradients of the weights of `build`."""
        weights = self._known if trainable_variables is None else list(trainable_variables)
        grads = list(grads)
        if len(grads) != len(weights):
            raise ValueError(
                f"{len(grads)} gradients for {len(weights)} variables: one for each is needed"
            )
        missing = [v.name for g, v in zip(grads, weights, strict=True) if g is None]
        if len(missing) == len(weights):
            raise ValueError(
                "No gradients provided for any variable. The loss does not depend on "
                f"{', '.join(missing) or 'them: there are none'}, or was computed outside of the "
                "tape"
            )
        if missing:
            warn(
                f"Gradients do not exist for variables {missing} when minimizing the loss. If "
                "using `model.compile()`, did you forget to provide a `loss` argument?",
            )
        self.build(weights)
        given = [
            (np.asarray(numbers_of(g)), v)
            for g, v in zip(grads, weights, strict=True)
            if g is not None
        ]
        arrays = self._clipped([g for g, _ in given])
        step = int(self.iterations.numpy()) + 1
        rate = float(np.asarray(numbers_of(self.learning_rate)))
        for g, (_, variable) in zip(arrays, given, strict=True):
            value = np.asarray(variable.numpy())
            kind = value.dtype.type
            if self.weight_decay and not self._excluded(variable):
                value = value - value * kind(self.weight_decay) * kind(rate)
            state = self._states[id(variable)]
            change = self._step(g.astype(value.dtype), kind(rate), state, step)
            variable.assign(np.asarray(value - change).astype(value.dtype))
            if variable.constraint is not None:
                variable.assign(variable.constraint(variable))
        self.iterations.assign_add(1)

    def minimize(self, loss, var_list, tape=None, **kwargs) -> None:
        """Compute the gradients of a loss, a function or a tensor with its tape, and take one step.

        Raises
        ------
        ValueError: If `loss` is a tensor, and there is no tape.
        """
        if not callable(loss) and tape is None:
            raise ValueError("`tape` is required when a `Tensor` loss is passed.")
        weights = var_list() if callable(var_list) else list(var_list)
        if callable(loss):
            with GradientTape() as tape:
                tape.watch(weights)
                loss = loss()
        self.apply(tape.gradient(loss, weights), weights)

    def exclude_from_weight_decay(self, var_list=None, var_names=None) -> None:
        """Leave these weights without decay."""
        self._without = {id(v) for v in var_list or ()}
        self._without_names = tuple(var_names or ())

    def _excluded(self, variable) -> bool:
        names = getattr(self, "_without_names", ())
        return id(variable) in getattr(self, "_without", ()) or any(
            name in variable.name for name in names
        )

    def _clipped(self, grads: list[Any]) -> list[Any]:
        if self.clipnorm is not None and self.clipnorm > 0:
            limit = self.clipnorm
            lengths = [np.sqrt(np.sum(g * g)) for g in grads]
            return [g * (limit / max(n, limit)) for g, n in zip(grads, lengths, strict=True)]
        if self.global_clipnorm is not None and self.global_clipnorm > 0:
            length = np.sqrt(sum(np.sum(g * g) for g in grads))
            return [g * (self.global_clipnorm / max(length, self.global_clipnorm)) for g in grads]
        if self.clipvalue is not None and self.clipvalue > 0:
            return [np.clip(g, -self.clipvalue, self.clipvalue) for g in grads]
        return grads

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        rate = self._rate
        return {
            "name": self.name,
            "weight_decay": self.weight_decay,
            "clipnorm": self.clipnorm,
            "global_clipnorm": self.global_clipnorm,
            "clipvalue": self.clipvalue,
            **super().get_config(),
            "learning_rate": (
                float(rate.numpy()) if isinstance(rate, Variable) else serialize_keras_object(rate)
            ),
        }

    def save_own_variables(self, store: dict[str, Any]) -> None:
        """Put the values of `variables` into a dictionary, under their numbers."""
        store.update({str(i): variable.numpy() for i, variable in enumerate(self.variables)})

    def load_own_variables(self, store: dict[str, Any]) -> None:
        """Take the values of `variables` from such a dictionary.

        Raises
        ------
        ValueError: If there are not as many.
        """
        values = [np.asarray(store[str(i)]) for i in range(len(store))]
        if len(values) != len(self.variables):
            raise ValueError(
                f"optimizer '{self.name}' has {len(self.variables)} variables, and {len(values)} "
                "came: build it for the same weights first"
            )
        self.iterations.assign(values.pop(0))
        if isinstance(self._rate, Variable):
            self._rate.assign(values.pop(0))
        for weight in self._known:
            state = self._states[id(weight)]
            for name in state:
                state[name] = values.pop(0).astype(state[name].dtype)


_IGNORED = ("use_ema", "ema_momentum", "ema_overwrite_frequency", "jit_compile")
_INACTIVE = (None, False, 0.99)


def _refuse(name: str, kwargs: dict[str, Any]) -> None:
    for key, value in kwargs.items():
        known = (*_IGNORED, "loss_scale_factor", "gradient_accumulation_steps")
        if key not in known:
            raise ValueError(f"Argument(s) not recognized: {key!r} (of {name})")
        if value not in _INACTIVE and key != "jit_compile":
            raise ValueError(f"{name}({key}={value!r}) is not offered here: leave it out")


fill_sections(globals())
