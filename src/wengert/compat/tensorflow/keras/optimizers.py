"""Layer 9 · compat: ``tf.keras.optimizers``: optimizers with Keras's defaults.

>>> x = tf.Variable(2.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> optimizer = tf.keras.optimizers.SGD(learning_rate=0.25)
>>> _ = optimizer.apply_gradients([(tape.gradient(y, x), x)])
>>> print(x.numpy())
1.0
"""

# ruff: noqa: F401  some names are for users

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from wengert.compat.kit import updates
from wengert.compat.kit.arguments import lines_of
from wengert.compat.tensorflow import initializers
from wengert.compat.tensorflow.archive import WAITING, resume
from wengert.compat.tensorflow.configs import Configured, getter, serialize_keras_object
from wengert.compat.tensorflow.functions.values import constant_of, numbers_of
from wengert.compat.tensorflow.keras import schedules
from wengert.compat.tensorflow.keras.globals import name_for
from wengert.compat.tensorflow.keras.schedules import LearningRateSchedule
from wengert.compat.tensorflow.keras.settings import settings
from wengert.compat.tensorflow.keras.weights import Weight
from wengert.compat.tensorflow.tape import GradientTape
from wengert.compat.tensorflow.variable import Variable
from wengert.compat.tensorflow.words import public, refusal
from wengert.tape.sites import warn


class _Strict(Configured):
    def __init__(self, **kwargs) -> None:
        for key in kwargs:
            raise ValueError(f"Argument(s) not recognized: {key!r} (of {type(self).__name__})")


@settings(
    "_learning_rate=0.01, weight_decay=None, clipnorm=None, clipvalue=None, global_clipnorm=None, "
    "use_ema=False, ema_momentum=0.99, ema_overwrite_frequency=None, loss_scale_factor=None, "
    "gradient_accumulation_steps=None, name=None"
)
class Optimizer(_Strict):
    """Base class for optimizers: learning rate, step count, clipping and weight decay.

    Parameters
    ----------
    learning_rate : float or LearningRateSchedule. The learning rate.
    weight_decay : float, optional. The decoupled weight decay, which is multiplied by the learning
        rate.
    clipnorm, clipvalue, global_clipnorm : float, optional. Upper bounds of the norm of each
        gradient, of its elements, and of the global norm.
    use_ema, ema_momentum : bool, float. Whether to keep running means of the weights; their decay.
    ema_overwrite_frequency : int, optional. The number of steps after which the weights become
        their means; by default at the end of `fit`.
    loss_scale_factor : float, optional. A number by which gradients are divided.
    gradient_accumulation_steps : int, optional. The number of calls whose mean gradient is used.
    name : str, optional. The name of the optimizer.

    Attributes
    ----------
    iterations: The number of steps so far, a variable.
    learning_rate: The learning rate, a variable; for a schedule, the rate of the current step.

    Raises
    ------
    ValueError: If an argument is not supported.
    """

    ignored = ("jit_compile",)
    kept: ClassVar[tuple[str, ...]] = ()
    """The names of the state arrays of each weight."""
    asked: ClassVar[dict[str, str]] = {}
    """The optional state arrays, each with the name of the argument that enables it."""

    _rate: Any = None
    built = False
    _turn = 1
    """The number of the step that is being taken."""

    def _prepare(self: Any) -> None:
        self.name = self.name or name_for(type(self).__name__)
        limits = (self.clipnorm, self.clipvalue, self.global_clipnorm)
        if sum(limit is not None for limit in limits) > 1:
            raise refusal(ValueError, "Only one of `clipnorm`,", *limits)
        self._calls = Weight(np.int64(0), self.name, "iteration", trainable=False)
        self.learning_rate = self._learning_rate
        self._states: dict[int, dict[str, Any]] = {}
        self._known: list[Any] = []
        self._added: list[Any] = []

    @property
    def iterations(self) -> Any:
        """The number of steps so far; of gradients that are accumulated, they are one step."""
        steps = self.gradient_accumulation_steps
        return self._calls // steps if steps else self._calls

    @property
    def learning_rate(self) -> Any:
        """The learning rate."""
        if isinstance(self._rate, Variable):
            return self._rate
        return self._rate(self._calls)

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
            self._rate = Weight(number, self.name, "learning_rate", trainable=False)

    lr = learning_rate

    @property
    def variables(self) -> list[Any]:
        """The step count, the learning rate, and the state of each weight."""
        kept = [
            Weight(
                array,
                self.name,
                f"{getattr(v, 'path', v.name).replace('/', '_').replace(':', '_')}_{name}",
                trainable=False,
            )
            for v in self._known
            for name, array in self._states[id(v)].items()
        ]
        rate = [self._rate] if isinstance(self._rate, Variable) else []
        return [self._calls, *rate, *kept, *self._added]

    def build(self, variables) -> None:
        """Create the state for these weights."""
        for variable in variables:
            if id(variable) not in self._states:
                self._known.append(variable)
                value = np.asarray(variable.numpy())
                extra = {"average": self.use_ema}
                extra["gradient_accumulator"] = self.gradient_accumulation_steps
                more = updates.kept(value, *(name for name, held in extra.items() if held))
                self._states[id(variable)] = more | self._new(value)
        self.built = True
        if WAITING:
            resume(self)

    def _new(self, value) -> dict[str, Any]:
        """Return the initial state for one weight."""
        held = (n for n in self.kept if n not in self.asked or getattr(self, self.asked[n]))
        return updates.kept(value, *held)

    def _step(self, g, w, lr, state: dict[str, Any], t: int) -> Any:
        """Update `state` by the gradient `g` of a weight of value `w`, and return the amount that
        step `t` subtracts.
        """
        raise NotImplementedError

    def apply_gradients(self, grads_and_vars, name=None, **kwargs) -> Any:
        """Take one step.

        Parameters
        ----------
        grads_and_vars : iterable of pairs. Gradients and weights; a weight whose gradient is None
            is skipped with a warning.

        Returns
        -------
        Variable: The number of steps so far.

        Raises
        ------
        ValueError: If all gradients are None.
        """
        pairs = list(grads_and_vars)
        self.apply([g for g, _ in pairs], [v for _, v in pairs])
        return self.iterations

    def apply(self, grads, trainable_variables=None) -> None:
        """Take one step from gradients and weights; by default the weights of `build`."""
        weights = self._known if trainable_variables is None else list(trainable_variables)
        grads = list(grads)
        if len(grads) != len(weights):
            raise refusal(ValueError, "{} gradients for", len(grads), len(weights))
        missing = [v.name for g, v in zip(grads, weights, strict=True) if g is None]
        if len(missing) == len(weights):
            raise refusal(
                ValueError, "No gradients provided", ", ".join(missing) or "them: there are none"
            )
        if missing:
            warn(refusal(str, "Gradients do not", missing))
        self.build(weights)
        given = []
        for g, variable in zip(grads, weights, strict=True):
            if getattr(variable, "overwrite_with_gradient", False) and g is not None:
                variable.assign(g)
            elif g is not None:
                given.append((np.asarray(numbers_of(g)), variable))
        if self._due(given):
            self._update(given)
        if self.use_ema and given:
            self._average()
        for _, variable in given:
            if variable.constraint is not None:
                variable.assign(variable.constraint(variable))
        self._calls.assign_add(1)

    def scale_loss(self, loss) -> Any:
        """Return the loss times `loss_scale_factor`, by which `apply` divides gradients."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def _due(self, given: list[Any]) -> bool:
        """Scale and accumulate gradients, in place; return whether it is time for a step."""
        scale, steps = self.loss_scale_factor, self.gradient_accumulation_steps
        if scale is not None:
            given[:] = [(g / g.dtype.type(scale), v) for g, v in given]
        if not steps:
            return True
        name = "gradient_accumulator"
        states = [self._states[id(v)] for _, v in given]
        sums = [g + state[name] for (g, _), state in zip(given, states, strict=True)]
        due = (int(self._calls.numpy()) + 1) % steps == 0
        for total, state in zip(sums, states, strict=True):
            state[name] = total
        if due:
            given[:] = [(g / g.dtype.type(steps), v) for g, (_, v) in zip(sums, given, strict=True)]
            for state in self._states.values():
                state[name] = np.zeros_like(state[name])
        return due

    def _average(self) -> None:
        """Update the running means of the weights, which may replace them."""
        taken = int(numbers_of(self.iterations))
        every = self.ema_overwrite_frequency
        for variable in self._known:
            value, state = np.asarray(variable.numpy()), self._states[id(variable)]
            share = value.dtype.type(self.ema_momentum if taken else 0)
            state["average"] = share * state["average"] + (1 - share) * value
        if every and (taken + 1) % every == 0:
            self.finalize_variable_values(self._known)

    def finalize_variable_values(self, var_list) -> None:
        """Replace weights by their running means, if there are any."""
        for variable in var_list if self.use_ema else ():
            variable.assign(self._states[id(variable)]["average"])

    def _update(self, given: list[Any]) -> None:
        """Change weights by their gradients."""
        self._turn = int(numbers_of(self.iterations)) + 1
        number = float(np.asarray(numbers_of(self.learning_rate)))
        rate: Any = number
        arrays: list[Any] = self._clipped([g for g, _ in given])
        if type(self).update_step is not Optimizer.update_step:
            # a method of the program gets tensors
            arrays, rate = [constant_of(g) for g in arrays], constant_of(np.float32(number))
        for g, (_, variable) in zip(arrays, given, strict=True):
            if self.weight_decay and not self._excluded(variable):
                value = np.asarray(variable.numpy())
                kind = value.dtype.type
                variable.assign(value - value * kind(self.weight_decay) * kind(number))
            self.update_step(g, variable, rate)

    def update_step(self, gradient, variable, learning_rate) -> None:
        """Change one weight by its gradient; optimizers of one's own override this.

        They may keep variables that `add_variable_from_reference` makes in `build`.
        """
        value = np.asarray(variable.numpy())
        g = gradient if isinstance(gradient, np.ndarray) else np.asarray(numbers_of(gradient))
        lr = value.dtype.type(float(learning_rate))
        state = self._states[id(variable)]
        change = self._step(g.astype(value.dtype), value, lr, state, self._turn)
        variable.assign(np.asarray(value - change).astype(value.dtype))

    def add_variable_from_reference(
        self, reference_variable, name: str | None = None, initializer="zeros"
    ) -> Any:
        """Create a variable of the optimizer, of the shape and dtype of another."""
        like = reference_variable
        return self.add_variable(like.shape, initializer, like.dtype, name=name)

    def add_variable(
        self, shape, initializer="zeros", dtype=None, aggregation=None, name: str | None = None
    ) -> Any:
        """Create a variable of the optimizer."""
        value = initializers.get(initializer)(shape, dtype or "float32")
        self._added.append(Weight(value, self.name, name or "variable", trainable=False))
        return self._added[-1]

    def _get_variable_index(self, variable) -> int:
        return next(place for place, one in enumerate(self._known) if one is variable)

    def assign(self, variable, value) -> None:
        """Set a variable."""
        variable.assign(value)

    def assign_add(self, variable, value) -> None:
        """Add a value to a variable."""
        variable.assign_add(value)

    def assign_sub(self, variable, value) -> None:
        """Subtract a value from a variable."""
        variable.assign_sub(value)

    def minimize(self, loss, var_list, tape=None, **kwargs) -> None:
        """Compute the gradients of a loss, a function or a tensor with its tape, and take one step.

        Raises
        ------
        ValueError: If `loss` is a tensor and no tape is given.
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
        """Exclude these weights from weight decay."""
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
        """Return the arguments that create an equal optimizer."""
        rate: Any = self._rate
        if isinstance(rate, Variable):
            rate = float(rate.numpy())
        held = {name: getattr(self, name) for name in _ARGUMENTS[1:]}
        return held | super().get_config() | {"learning_rate": serialize_keras_object(rate)}

    def save_own_variables(self, store: dict[str, Any]) -> None:
        """Store the values of `variables` in a dictionary, under their indices."""
        store.update({str(i): variable.numpy() for i, variable in enumerate(self.variables)})

    def load_own_variables(self, store: dict[str, Any]) -> None:
        """Load the values of `variables` from a dictionary.

        Raises
        ------
        ValueError: If the number of values differs.
        """
        values = [np.asarray(store[str(i)]) for i in range(len(store))]
        if len(values) != len(self.variables):
            raise refusal(
                ValueError, "optimizer '{}' has", self.name, len(self.variables), len(values)
            )
        self._calls.assign(values.pop(0))
        if isinstance(self._rate, Variable):
            self._rate.assign(values.pop(0))
        for weight in self._known:
            state = self._states[id(weight)]
            for name in state:
                state[name] = values.pop(0).astype(state[name].dtype)


_ARGUMENTS = lines_of(Optimizer)


@settings("learning_rate=0.01, momentum=0.0, nesterov=False")
class SGD(Optimizer):
    """Gradient descent: ``w -= learning_rate * g``, with optional (Nesterov) momentum.

    Examples
    --------
    >>> w = tf.Variable([1.0, 2.0])
    >>> _ = tf.keras.optimizers.SGD(0.5).apply_gradients([(tf.constant([1.0, 1.0]), w)])
    >>> print(w.numpy())
    [0.5 1.5]
    """

    def _prepare(self: Any) -> None:
        super()._prepare()
        if not 0 <= self.momentum <= 1:
            raise ValueError("`momentum` must be a float between [0, 1].")

    kept, asked = ("momentum",), {"momentum": "momentum"}

    def _step(self, g, w, lr, state: dict[str, Any], t: int) -> Any:
        return updates.momentum(g, state, lr, self.momentum, self.nesterov)


@settings("learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False")
class Adam(Optimizer):
    """Adam: momentum, divided by the root of a running mean of squared gradients.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.Adam(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(3))
    0.9
    """

    kept, asked = ("momentum", "velocity", "velocity_hat"), {"velocity_hat": "amsgrad"}

    def _step(self, g, w, lr, state: dict[str, Any], t: int) -> Any:
        kind = g.dtype.type
        one, two = kind(self.beta_1) ** kind(t), kind(self.beta_2) ** kind(t)
        rate = lr * np.sqrt(1 - two) / (1 - one)
        return updates.adam(g, state, rate, self.beta_1, self.beta_2, self.epsilon, self.amsgrad)


@settings(
    "learning_rate=0.001, weight_decay=0.004, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False"
)
class AdamW(Adam):
    """Adam with weight decay, 0.004 by default.

    Examples
    --------
    >>> tf.keras.optimizers.AdamW().weight_decay
    0.004
    """

    def _prepare(self: Any) -> None:
        super()._prepare()
        if self.weight_decay is None:
            raise ValueError("Argument `weight_decay` must be a float. Received: weight_decay=None")


@settings("learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-7, centered=False")
class RMSprop(Optimizer):
    """RMSprop: gradients divided by the root of a running mean of their squares.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.RMSprop(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(3))
    0.684
    """

    kept = ("velocity", "momentum", "average_gradient")
    asked: ClassVar[dict[str, str]] = {"momentum": "momentum", "average_gradient": "centered"}

    def _step(self, g, w, lr, state: dict[str, Any], t: int) -> Any:
        return updates.rmsprop(g, state, lr, self.rho, self.epsilon, self.momentum, self.centered)


@settings("learning_rate=0.001, initial_accumulator_value=0.1, epsilon=1e-7")
class Adagrad(Optimizer):
    """Adagrad: gradients divided by the root of the sum of their squares so far.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.Adagrad(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(3))
    0.9
    """

    def _new(self, value) -> dict[str, Any]:
        return updates.kept(value, "accumulator", value=self.initial_accumulator_value)

    def _step(self, g, w, lr, state: dict[str, Any], t: int) -> Any:
        return updates.adagrad(g, state, lr, self.epsilon)


@settings("learning_rate=0.001, rho=0.95, epsilon=1e-7")
class Adadelta(Optimizer):
    """Adadelta: steps scaled by running sizes of gradients and steps.

    Examples
    --------
    >>> tf.keras.optimizers.Adadelta().rho
    0.95
    """

    kept = ("accumulated_grad", "accumulated_delta_var")

    def _step(self, g, w, lr, state: dict[str, Any], t: int) -> Any:
        return lr * updates.adadelta(g, state, self.rho, self.epsilon)


@settings("learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7")
class Adamax(Optimizer):
    """Adamax: `Adam` with the infinity norm of the gradients.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.Adamax(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(3))
    0.9
    """

    kept = ("momentum", "norm")

    def _step(self, g, w, lr, state: dict[str, Any], t: int) -> Any:
        kind = g.dtype.type
        rate = lr / (1 - kind(self.beta_1) ** kind(t))
        return updates.adamax(g, state, rate, self.beta_1, self.beta_2, self.epsilon)


@settings("learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7")
class Nadam(Optimizer):
    """Nadam: `Adam` with Nesterov momentum.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.Nadam(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(2))
    0.89
    """

    kept = ("momentum", "velocity")
    _schedule = (0, 1.0)
    """A number of steps, and the product of their momentum factors."""

    def _step(self, g, w, lr, state: dict[str, Any], t: int) -> Any:
        kind, b1, b2 = g.dtype.type, self.beta_1, self.beta_2
        seen, product = self._schedule if self._schedule[0] <= t else (0, 1.0)
        shares = {n: b1 * (1 - 0.5 * 0.96**n) for n in range(seen + 1, t + 2)}
        for n in range(seen + 1, t + 1):
            product *= shares[n]
        self._schedule = t, product
        now, after = kind(b1 * (1 - 0.5 * 0.96**t)), kind(shares[t + 1])
        m, v = updates.moments(g, state, b1, b2)
        whole = kind(product)
        ahead = after * m / (1 - whole * after) + (1 - now) * g / (1 - whole)
        return ahead * lr / (np.sqrt(v / (1 - kind(b2) ** kind(t))) + kind(self.epsilon))


@settings("learning_rate=0.001, beta_1=0.9, beta_2=0.99")
class Lion(Optimizer):
    """Lion: steps of the learning rate in the sign of a running mean of gradients.

    Examples
    --------
    >>> w = tf.Variable(1.0)
    >>> _ = tf.keras.optimizers.Lion(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(2))
    0.9
    """

    kept = ("momentum",)

    def _prepare(self: Any) -> None:
        super()._prepare()
        if not 0 < self.beta_1 <= 1:
            raise refusal(ValueError, "Argument `beta_1` must", self.beta_1)

    def _step(self, g, w, lr, state: dict[str, Any], t: int) -> Any:
        one, two = g.dtype.type(self.beta_1), g.dtype.type(self.beta_2)
        m = state["momentum"]
        state["momentum"] = m * two + g * (1 - two)
        return lr * np.sign(m * one + g * (1 - one))


@settings("learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7")
class Lamb(Optimizer):
    """Lamb: the steps of `Adam`, scaled to the norm of each weight.

    Examples
    --------
    >>> w = tf.Variable(2.0)
    >>> _ = tf.keras.optimizers.Lamb(0.1).apply_gradients([(tf.constant(5.0), w)])
    >>> print(w.numpy().round(2))
    1.8
    """

    kept = ("momentum", "velocity")

    def _step(self, g, w, lr, state: dict[str, Any], t: int) -> Any:
        kind = g.dtype.type
        m, v = updates.moments(g, state, self.beta_1, self.beta_2)
        one, two = (1 - kind(beta) ** kind(t) for beta in (self.beta_1, self.beta_2))
        step = m / one / (np.sqrt(v / two) + kind(self.epsilon))
        return lr * updates.as_long(step, w)


@settings(
    "learning_rate=0.001, beta_2_decay=-0.8, epsilon_1=1e-30, epsilon_2=1e-3, clip_threshold=1.0, "
    "relative_step=True"
)
class Adafactor(Optimizer):
    """Adafactor: running means of squared gradients, of matrices only those of rows and columns.

    Parameters
    ----------
    beta_2_decay : float. The power of the step count by which the means forget.
    epsilon_1, epsilon_2 : float. Lower bounds of squared gradients, and of the size of weights.
    clip_threshold : float. The greatest root of the mean square of a step.
    relative_step : bool. Whether the learning rate is bounded by ``1 / sqrt(step)``.

    Examples
    --------
    >>> w = tf.Variable([[2.0]])
    >>> _ = tf.keras.optimizers.Adafactor(0.5).apply_gradients([(tf.constant([[5.0]]), w)])
    >>> print(w.numpy())
    [[1.]]
    """

    def _new(self, value) -> dict[str, Any]:
        axes = {"r": -1, "c": -2} if value.ndim > 1 else {}
        kept = {name: np.zeros_like(value.mean(axis)) for name, axis in axes.items()}
        return kept | updates.kept(value, "velocity")

    def _step(self, g, w, lr, state: dict[str, Any], t: int) -> Any:
        kind = g.dtype.type
        share = 1 - kind(t) ** kind(self.beta_2_decay)
        squares, means = np.square(g) + kind(self.epsilon_1), {}
        for name, axis in (("r", -1), ("c", -2)) if g.ndim > 1 else (("velocity", ()),):
            means[name] = share * state[name] + (1 - share) * squares.mean(axis)
        if g.ndim > 1:
            r, c = means["r"], means["c"]
            means["velocity"] = (r / r.mean(-1, keepdims=True))[..., None] * c[..., None, :]
        state |= means
        size, least = (lambda x: np.sqrt(np.mean(np.square(x)))), kind(self.epsilon_2)
        step = g / np.sqrt(state["velocity"])
        step = step / np.maximum(kind(1), size(step) / kind(self.clip_threshold))
        return np.maximum(least, size(w)) * np.minimum(lr, 1 / np.sqrt(kind(t))) * step


@settings(
    "learning_rate=0.001, learning_rate_power=-0.5, initial_accumulator_value=0.1, "
    "l1_regularization_strength=0.0, l2_regularization_strength=0.0, "
    "l2_shrinkage_regularization_strength=0.0, beta=0.0"
)
class Ftrl(Optimizer):
    """Follow the regularized leader: weights that small sums of gradients leave at 0.

    Examples
    --------
    >>> w = tf.Variable([1.0, 1.0])
    >>> optimizer = tf.keras.optimizers.Ftrl(0.1, l1_regularization_strength=15.0)
    >>> _ = optimizer.apply_gradients([(tf.constant([9.0, 1.0]), w)])
    >>> print(w.numpy().round(2))
    [0.7 0. ]
    """

    def _new(self, value) -> dict[str, Any]:
        start = updates.kept(value, "accumulator", value=self.initial_accumulator_value)
        return start | updates.kept(value, "linear")

    def _step(self, g, w, lr, state: dict[str, Any], t: int) -> Any:
        most, ridge = self.l1_regularization_strength, 2 * self.l2_regularization_strength
        power, more = -self.learning_rate_power, 2 * self.l2_shrinkage_regularization_strength * w
        return w - updates.ftrl(g, w, state, lr, most, self.beta, ridge, power, more)


class LossScaleOptimizer(Optimizer):
    """Takes steps from the gradients of a loss times a number that depends on them.

    Parameters
    ----------
    inner_optimizer : Optimizer. The optimizer that takes the steps.
    initial_scale : float. The number at the start.
    dynamic_growth_steps : int. The number of steps after which it doubles, if all gradients were
        finite. Otherwise it halves, and no step is taken.

    Examples
    --------
    >>> optimizer = tf.keras.optimizers.LossScaleOptimizer(tf.keras.optimizers.SGD(), 4.0)
    >>> float(optimizer.scale_loss(tf.constant(0.5)))
    2.0
    """

    def __init__(
        self,
        inner_optimizer,
        initial_scale=2.0**15,
        dynamic_growth_steps=2000,
        name: str | None = None,
        **kwargs,
    ) -> None:
        super().__init__(0.0, name=name, **kwargs)
        self.inner_optimizer = inner_optimizer
        self.initial_scale, self.dynamic_growth_steps = initial_scale, dynamic_growth_steps
        self.step_counter = Weight(np.int32(0), self.name, "step_counter", trainable=False)
        scale = np.float32(initial_scale)
        self.dynamic_scale = Weight(scale, self.name, "dynamic_scale", trainable=False)

    def build(self, variables) -> None:
        """Create the state of the inner optimizer."""
        self.inner_optimizer.build(variables)

    @property
    def variables(self) -> list[Any]:
        """The step counter, the scale, and the state of the inner optimizer."""
        return [self.step_counter, self.dynamic_scale, *self.inner_optimizer.variables]

    def apply(self, grads, trainable_variables=None) -> None:
        """Divide gradients by the scale and take a step, if all are finite."""
        scale = self.dynamic_scale.numpy()
        arrays = [None if g is None else np.asarray(numbers_of(g)) for g in grads]
        if not all(g is None or np.isfinite(g).all() for g in arrays):
            self.step_counter.assign(0)
            self.dynamic_scale.assign(scale * np.float32(0.5))
            return
        divided = [None if g is None else g / g.dtype.type(scale) for g in arrays]
        self.inner_optimizer.apply(divided, trainable_variables)
        grown = int(self.step_counter.numpy()) == self.dynamic_growth_steps - 1
        self.step_counter.assign(0 if grown else self.step_counter.numpy() + np.int32(1))
        self.dynamic_scale.assign(scale * np.float32(2.0) if grown else scale)

    def scale_loss(self, loss) -> Any:
        """Return the loss times the scale."""
        return loss * self.dynamic_scale

    @property
    def iterations(self) -> Any:
        """The number of steps that the inner optimizer has taken."""
        return self.inner_optimizer.iterations

    @property
    def learning_rate(self) -> Any:
        """The learning rate of the inner optimizer."""
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value) -> None:
        if "inner_optimizer" in vars(self):
            self.inner_optimizer.learning_rate = value

    def finalize_variable_values(self, var_list) -> None:
        """Replace weights by their running means, if the inner optimizer has them."""
        self.inner_optimizer.finalize_variable_values(var_list)


get = getter("optimizer", globals(), Optimizer)


__all__ = public(globals(), "Optimizer schedules")
