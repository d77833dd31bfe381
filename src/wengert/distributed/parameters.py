"""Layer 10 · distributed: transport of parameters to the workers, and of gradients back.

Parameters are nested containers, or a module. Only their arrays travel in each step; a module's
structure travels with the function, once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert.base.containers import flatten, paths
from wengert.base.dtypes import is_differentiable
from wengert.distributed.batches import read_only
from wengert.distributed.programs import Program, is_module
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.modes import no_grad


class _Module(NamedTuple):
    """The parts of a module that change between steps."""

    values: list[Any]
    requires: list[bool]
    buffers: list[Any]
    training: list[bool]


class Nested:
    """Parameters in lists, tuples and dicts.

    Parameters
    ----------
    params: Tensors, arrays and numbers, nested.
    owner: The function that takes them, for messages.

    Raises
    ------
    TypeError: If a leaf has another type.
    RuntimeError: If one has a dtype without derivatives.
    """

    def __init__(self, params: Any, owner: str) -> None:
        self.leaves, self.rebuild = flatten(params)
        self.arrays = []
        for i, leaf in enumerate(self.leaves):
            if isinstance(leaf, TensorBase):
                array = leaf._array()
            elif isinstance(leaf, np.ndarray | np.generic | int | float | complex):
                array = np.asarray(leaf)
            else:
                raise TypeError(
                    f"{owner}: {paths(params, 'params')[i]} is of type {type(leaf).__name__}: "
                    "parameters are tensors, arrays and numbers, in lists, tuples and dicts, or a "
                    "module; bring in anything else by a closure"
                )
            if not is_differentiable(array.dtype):
                raise RuntimeError(
                    f"{owner}: only Tensors of floating point and complex dtype can require "
                    f"gradients, but {paths(params, 'params')[i]} has dtype {array.dtype}: convert "
                    "it, or bring it in by a closure"
                )
            self.arrays.append(array)

    def sent(self) -> Any:
        """Return the values to send to the workers."""
        return self.rebuild(self.arrays)

    def program(self, function: Callable[..., Any], before: Program | None) -> Program:
        """Return the program for the workers: `before`, if they have it."""
        return before or Program(function)

    def gradients(self, found: list[Any]) -> Any:
        """Return the gradients in the nesting of the parameters; zeros for unused ones."""
        return self.like(
            [
                np.zeros(array.shape, array.dtype) if grad is None else grad
                for array, grad in zip(self.arrays, found, strict=True)
            ]
        )

    def like(self, arrays: list[Any]) -> Any:
        """Return arrays in the nesting and the kinds of the parameters."""
        return self.rebuild(
            [
                new_tensor(array) if isinstance(leaf, TensorBase) else array[()]
                for leaf, array in zip(self.leaves, arrays, strict=True)
            ]
        )

    def wanted(self) -> list[Any]:
        """Return the arrays to differentiate by."""
        return self.arrays

    def flat(self, gradients: Any) -> list[Any]:
        """Return the gradients in the order of the parameters."""
        return flatten(gradients)[0]

    def accept(self, buffers: list[Any]) -> None:
        """Do nothing: there are no buffers."""

    def tensors(self) -> list[Any]:
        """Return the tensors among the parameters, with None for other values."""
        return [leaf if isinstance(leaf, TensorBase) else None for leaf in self.leaves]


class Carried:
    """Arguments that all calls of a function share, and that are not differentiated.

    Parameters
    ----------
    values: Any objects.
    """

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def sent(self) -> Any:
        """Return the values to send to the workers."""
        return self.values

    def program(self, function: Callable[..., Any], before: Program | None) -> Program:
        """Return the program for the workers: `before`, if they have it."""
        return before or Program(function)


class OfModule:
    """The parameters of a module; those that do not require a gradient are sent, but not
    differentiated.

    Parameters
    ----------
    module: The module.
    owner: The function that takes it, for messages.
    """

    def __init__(self, module: Any, owner: str) -> None:
        self.module = module
        named = list(module.named_parameters())
        self.named = [(name, tensor) for name, tensor in named if tensor.requires_grad]
        self.all = [tensor for _, tensor in named]
        self.buffers = list(module.buffers())
        if not self.named:
            raise ValueError(
                f"{owner}: no parameter of the {type(module).__name__} requires a gradient"
            )

    def sent(self) -> Any:
        """Return the values to send to the workers."""
        return _Module(
            [tensor._array() for tensor in self.all],
            [tensor.requires_grad for tensor in self.all],
            [tensor._array() for tensor in self.buffers],
            [part.training for part in self.module.modules()],
        )

    def program(self, function: Callable[..., Any], before: Program | None) -> Program:
        """Return the program for the workers: `before`, if the module's structure is unchanged."""
        if before is not None and before.structure == self._structure():
            return before
        made = Program(function, self.module)
        made.structure = self._structure()
        return made

    def _structure(self) -> Any:
        shapes = [tuple(tensor.shape) for tensor in (*self.all, *self.buffers)]
        return id(self.module), [type(part) for part in self.module.modules()], shapes

    def gradients(self, found: list[Any]) -> Any:
        """Return the gradients under their parameters' names; None for unused parameters."""
        return {
            name: None if grad is None else new_tensor(grad)
            for (name, _), grad in zip(self.named, found, strict=True)
        }

    def wanted(self) -> list[Any]:
        """Return the arrays to differentiate by."""
        return [tensor._array() for _, tensor in self.named]

    def flat(self, gradients: Any) -> list[Any]:
        """Return the gradients in the order of the parameters."""
        return list(gradients.values())

    def accept(self, buffers: list[Any]) -> None:
        """Write the buffers from the workers' passes into the module."""
        with no_grad():
            for buffer, value in zip(self.buffers, buffers, strict=False):
                buffer.copy_(new_tensor(value))

    def tensors(self) -> list[Any]:
        """Return the parameters, in the order of their gradients."""
        return [tensor for _, tensor in self.named]


def parameters_of(params: Any, owner: str) -> Nested | OfModule:
    """Wrap the parameters that a function was given."""
    return OfModule(params, owner) if is_module(params) else Nested(params, owner)


class Opened(NamedTuple):
    """A function with the parameters of a step, in a worker's thread.

    Attributes
    ----------
    call: Takes a batch.
    leaves: The tensors to differentiate by.
    buffers: The module's buffers, if it may write to them.
    """

    call: Callable[[Any], Any]
    leaves: list[Any]
    buffers: list[Any]


def opened(program: Program, sent: Any) -> Opened:
    """Return the function of a program, ready to be called with the parameters that were sent."""
    function, module = program.opened()
    if module is None:
        arrays, rebuild = flatten(sent)
        leaves = [new_tensor(read_only(array), LEAF) for array in arrays]
        # a new list for each call, since the function may modify containers
        return Opened(lambda *batch: function(rebuild(leaves), *batch), leaves, [])
    tensors = list(module.parameters())
    for tensor, value, requires in zip(tensors, sent.values, sent.requires, strict=True):
        tensor.requires_grad_(requires)
        tensor.data = new_tensor(read_only(value))
    buffers = list(module.buffers())
    for buffer, value in zip(buffers, sent.buffers, strict=True):
        buffer.data = new_tensor(value.copy())
    for part, training in zip(module.modules(), sent.training, strict=True):
        part.training = training
    wanted = [t for t, requires in zip(tensors, sent.requires, strict=True) if requires]
    return Opened(
        lambda *batch: function(module, *batch), wanted, buffers if any(sent.training) else []
    )
