"""Layer 9 · compat: Keras's variables, for layers, metrics and optimizers."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.eager import Tensor
from wengert.compat.tensorflow.functions.values import converted, is_floating, made, tensor_of
from wengert.compat.tensorflow.variable import Variable

CREATED: ContextVar[list[tuple[Any, Any]] | None] = ContextVar("wengert_created", default=None)
"""Where new weights are noted with their values, if anywhere."""
COMPUTED: ContextVar[np.dtype[Any] | None] = ContextVar("wengert_computed", default=None)
"""The dtype that weights are read in, if it is not their own (see NOTE [mixed precision])."""


class Weight(Variable):
    """The variable that `Layer.add_weight` creates, named and printed as in Keras.

    Examples
    --------
    >>> layer = tf.keras.layers.Dense(1, kernel_initializer="ones", name="last")
    >>> _ = layer(tf.ones([1, 2]))
    >>> layer.bias
    <Variable path=last/bias, shape=(1,), dtype=float32, value=[0.]>
    """

    def __init__(self, value, owner: str, name: str, **kwargs) -> None:
        super().__init__(value, name=name, **kwargs)
        self.overwrite_with_gradient = False
        self._label = name
        self._owner = owner
        created = CREATED.get()
        if created is not None:
            created.append((self, self.numpy()))

    @property
    def name(self) -> str:
        """The name within the layer."""
        return self._label

    @property
    def value(self) -> Any:
        """The value as a tensor; Keras's variables have it without a call."""
        return self._as_tensor()

    @property
    def path(self) -> str:
        """The names of the layer and of the weight."""
        return f"{self._owner}/{self._label}"

    @property
    def trainable(self) -> bool:
        """Whether optimizers train the variable and tapes watch it."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = bool(value)

    def _as_tensor(self) -> Any:
        tensor, kind = Variable._as_tensor(self), COMPUTED.get()
        if kind is None or not is_floating(tensor):
            return tensor
        return made(converted(tensor, kind))

    def assign(self, value, *args, **kwargs) -> Any:
        """Set the value; a tensor of floats is converted to the dtype of the variable."""
        if isinstance(value, Tensor) and value.dtype is not self.dtype and is_floating(value):
            value = made(converted(tensor_of(value), self.dtype.as_numpy_dtype))
        return super().assign(value, *args, **kwargs)

    def __repr__(self) -> str:
        return (
            f"<Variable path={self.path}, shape={self.shape}, dtype={self.dtype.name}, "
            f"value={self.numpy()}>"
        )


__all__ = defined(globals())
