"""Layer 8 · integrate: the right-hand side of a differential equation, for solver and tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.autograd.elements import followed, refuse_lifted, without_tangent
from wengert.autograd.local import closed_over, leaf, products, rows
from wengert.base.containers import aligned, flatten
from wengert.base.dtypes import is_differentiable
from wengert.ops.create import as_tensor
from wengert.ops.join import cat, stack
from wengert.tape.base import alike, new_tensor
from wengert.tape.modes import enable_grad, is_recording, no_grad
from wengert.tape.record import T
from wengert.tensor.tensor import Tensor


class State:
    """The structure of a state, which the solver sees as one vector.

    Parameters
    ----------
    value: The initial state: a tensor, an array, numbers, or containers of them.
    name : str. Its name in errors.
    flat : bool. Whether only one-dimensional states are accepted.
    """

    def __init__(self, value: Any, name: str, flat: bool = False) -> None:
        if isinstance(value, list) and not any(_is_array(item) for item in value):
            value = as_tensor(np.asarray(value, dtype=np.result_type(np.float64, *value)))
        elif isinstance(value, int | float | complex):
            value = as_tensor(np.asarray(value, dtype=np.result_type(np.float64, value)))
        leaves, self.rebuild = flatten(value)
        self.like = self.rebuild([0] * len(leaves))
        parts = [item if isinstance(item, Tensor) else as_tensor(item) for item in leaves]
        dtypes = {part._payload.dtype for part in parts}
        if len(dtypes) != 1 or not is_differentiable(next(iter(dtypes))):
            raise TypeError(
                f"{name} must hold floating-point numbers of one dtype, but has "
                f"{', '.join(sorted(map(str, dtypes))) or 'nothing'}"
            )
        if flat and (len(parts) != 1 or parts[0].ndim != 1):
            raise ValueError(
                f"{name} must be one-dimensional, but has shapes "
                f"{[list(part.shape) for part in parts]}: odeint takes states of any shape"
            )
        self.name = name
        self.parts = parts
        self.shapes = [tuple(part.shape) for part in parts]
        self.sizes = [part.numel() for part in parts]
        self.size = sum(self.sizes)
        (self.dtype,) = dtypes
        self.real = np.empty(0, self.dtype).real.dtype
        self.flat = len(parts) == 1 and parts[0].ndim == 1
        self.single = len(leaves) == 1 and leaves[0] is value
        self.initial = self._joined(parts)

    def _joined(self, parts: list[Any]) -> Any:
        if self.flat:
            return parts[0]
        flat = [part.reshape(-1) for part in parts]
        return flat[0] if len(flat) == 1 else cat(flat)

    def split(self, vector: Any, lead: tuple[int, ...] = ()) -> Any:
        """Split a tensor ``(*lead, size)`` into the argument of the user's function."""
        if self.flat:
            return _in_class(vector, self.parts[0])
        parts = [vector] if len(self.sizes) == 1 else vector.split(self.sizes, dim=-1)
        triples = zip(parts, self.shapes, self.parts, strict=True)
        return self.rebuild(
            [_in_class(p.reshape((*lead, *shape)), like) for p, shape, like in triples]
        )

    def join(self, value: Any, name: str) -> Any:
        """Concatenate the result of the user's function into one vector.

        Raises
        ------
        ValueError: If its shapes are not those of the state.
        """
        if self.single and isinstance(value, list | tuple):
            # a list of numbers, as in programs for SciPy
            value = stack([v if isinstance(v, Tensor) else as_tensor(v) for v in value])
        leaves = aligned(value, self.like)
        found = flatten(value)[0] if leaves is None else leaves
        parts = [item if isinstance(item, Tensor) else as_tensor(item) for item in found]
        shapes = [tuple(part.shape) for part in parts]
        if leaves is None or shapes != self.shapes:
            raise ValueError(
                f"{name} must return a value of the structure and shape of {self.name}, "
                f"{self._shown(self.shapes)}, but returned {self._shown(shapes)}"
            )
        return self._joined(parts)

    @staticmethod
    def _shown(shapes: Sequence[tuple[int, ...]]) -> str:
        return " and ".join(str(list(shape)) for shape in shapes) or "nothing"


def _in_class(part: Any, like: Any) -> Any:
    return alike(T.alias(part), like) if like._stays else part


def _is_array(item: Any) -> bool:
    return isinstance(item, Tensor | np.ndarray | list | tuple | dict)


class Field:
    """dy/dt as a function of the time, the state as a vector, and parameters.

    Parameters
    ----------
    function : callable. Takes a time, a state in the user's structure, and the parameters.
    name : str. What errors call it.
    state : State
    args: The parameters; the tensors among them may be differentiated.
    time : float. The time at which to look for tensors that the function closes over.

    Attributes
    ----------
    parameters, closures: The tensors among the parameters, and those closed over that require a
        gradient.
    """

    def __init__(
        self, function: Callable[..., Any], name: str, state: State, args: Any, time: float
    ) -> None:
        self.function = function
        self.name = name
        self.state = state
        self._leaves, self._rebuild = flatten(args)
        self._places = [i for i, item in enumerate(self._leaves) if isinstance(item, Tensor)]
        self.parameters = [self._leaves[i] for i in self._places]
        # without history, as inside solvers
        self.plain = [leaf(without_tangent(t), False) for t in self.parameters]
        self.own = [leaf(p, followed(t)) for p, t in zip(self.plain, self.parameters, strict=True)]
        self.closures: list[Any] = []
        self.complex = state.dtype.kind == "c"
        self.work = np.dtype(np.complex128 if self.complex else np.float64)
        if is_recording():
            y, value = self.recorded(time, without_tangent(state.initial)._array())
            refuse_lifted([value], name)
            self.closures = closed_over([value], [y, *self.own])

    @property
    def inputs(self) -> list[Any]:
        """Everything that the solution depends on: the initial state, parameters, and closures."""
        return [self.state.initial, *self.parameters, *self.closures]

    @property
    def wanted(self) -> list[Any]:
        """The tensors that recorded evaluations use for the parameters and closures."""
        return [*self.own, *self.closures]

    def arguments(self, parameters: list[Any]) -> Any:
        """Return the arguments of the user's function, with these tensors as its parameters."""
        leaves = list(self._leaves)
        for place, tensor in zip(self._places, parameters, strict=True):
            leaves[place] = tensor
        return self._rebuild(leaves)

    def __call__(self, t: Any, y: Any, parameters: list[Any]) -> Any:
        """Compute dy/dt as a vector, recorded if the mode says so."""
        value = self.function(t, self.state.split(y), *self.arguments(parameters))
        result = self.state.join(value, self.name)
        if result.is_complex() and not self.complex:
            raise TypeError(
                f"{self.name} returned complex numbers for a real state: make "
                f"{self.state.name} complex"
            )
        return result

    def time(self, t: float) -> Any:
        """Return a time in the form that the user's function gets."""
        return new_tensor(self.state.real.type(t))

    def vector(self, y: Any) -> Any:
        """Copy a solver's state to an array of the user's dtype."""
        return np.array(y, dtype=self.state.dtype)

    def numeric(self, t: float, y: Any) -> Any:
        """Return dy/dt as an array."""
        with no_grad():
            value = self(self.time(t), new_tensor(self.vector(y)), self.plain)
        return value._payload

    def recorded(self, t: float, y: Any) -> tuple[Any, Any]:
        """Return the state as a leaf, and dy/dt with its history from there and from `wanted`."""
        with enable_grad():
            state = leaf(new_tensor(self.vector(y)))
            return state, self(self.time(t), state, self.own)

    def pulled(self, value: Any, inputs: list[Any], vector: Any) -> list[Any]:
        """Return a vector's products with the Jacobians of a recorded evaluation; None is zero."""
        seed = new_tensor(np.asarray(vector, dtype=value._payload.dtype))
        return [None if g is None else g._payload for g in products([value], inputs, [seed])]

    def jacobian(self, t: float, y: Any) -> Any:
        """Return the state's Jacobian as a matrix: real, or that of a holomorphic function."""
        state, value = self.recorded(t, y)
        (found,) = rows([value], [state], [np.eye(self.state.size, dtype=value._payload.dtype)])
        if found is None:
            return np.zeros((self.state.size, self.state.size), self.work)
        return np.conjugate(found).astype(self.work)


def gradient_of(array: Any, like: Any) -> Any:
    """Return a gradient as a tensor of the dtype of `like`; None stays None."""
    if array is None:
        return None
    if like._payload.dtype.kind != "c":
        array = np.real(array)
    return new_tensor(np.array(array, dtype=like._payload.dtype))
