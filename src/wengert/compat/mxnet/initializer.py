"""Layer 9 · compat: ``mxnet.init``: initializers of parameters.

>>> from wengert.compat.mxnet import init
>>> init.create("zeros")
Zero()
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.compat.kit.arguments import Given, arguments, lines_of
from wengert.compat.kit.namespaces import functions_of
from wengert.compat.mxnet.base import public, refusal
from wengert.compat.mxnet.sampling import STREAM


class InitDesc(str):
    """The name of a parameter, with attributes."""

    attrs: dict[str, Any]

    def __new__(cls, name: str, attrs=None, global_init=None) -> Any:
        """A name with attributes."""
        made = super().__new__(cls, name)
        made.attrs = attrs or {}
        return made


def register(cls) -> Any:
    """Register a class so that `create` finds it by its lower-case name; a decorator."""
    _REGISTRY[cls.__name__.lower()] = cls
    return cls


class Initializer(Given):
    """Fills the arrays of parameters; a subclass defines ``_init_weight(name, arr)``.

    Examples
    --------
    >>> from wengert.compat.mxnet import init, np
    >>> class Twos(init.Initializer):
    ...     def _init_weight(self, name, arr):
    ...         arr[:] = 2
    >>> x = np.zeros(2)
    >>> Twos()("dense0_weight", x)
    >>> x
    array([2., 2.])
    """

    def __init__(self, **kwargs) -> None:
        self._kwargs = kwargs

    def __repr__(self) -> str:
        held = {line: getattr(self, line) for line in lines_of(type(self))} | self._kwargs
        given = ", ".join(f"{name}={value!r}" for name, value in held.items())
        return f"{type(self).__name__}({given})"

    def __call__(self, desc: str, arr) -> None:
        """Fill `arr` by a rule that the end of its name selects."""
        name = str(desc)
        if name.endswith(("bias", "beta", "running_mean", "moving_mean")):
            self._init_zero(desc, arr)
        elif name.endswith(("gamma", "running_var", "moving_var")):
            self._init_one(desc, arr)
        else:
            self._init_weight(desc, arr)

    def _init_zero(self, name: str, arr) -> None:
        arr[:] = 0.0

    def _init_one(self, name: str, arr) -> None:
        arr[:] = 1.0

    def _init_weight(self, name: str, arr) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define _init_weight(name, arr)")


class Zero(Initializer):
    """Zeros."""

    def _init_weight(self, name: str, arr) -> None:
        arr[:] = 0.0


class One(Initializer):
    """Ones."""

    def _init_weight(self, name: str, arr) -> None:
        arr[:] = 1.0


@arguments("value=0.0")
class Constant(Initializer):
    """One value, or the values of an array.

    Parameters
    ----------
    value : float or array_like
    """

    def _init_weight(self, name: str, arr) -> None:
        arr[:] = self.value


@arguments("scale=0.07")
class Uniform(Initializer):
    """Uniform between ``-scale`` and `scale`.

    Parameters
    ----------
    scale : float
    """

    def _init_weight(self, name: str, arr) -> None:
        arr[:] = _drawn("uniform", -self.scale, self.scale, arr.shape)


@arguments("sigma=0.01")
class Normal(Initializer):
    """Normal with mean 0.

    Parameters
    ----------
    sigma : float. The standard deviation.
    """

    def _init_weight(self, name: str, arr) -> None:
        arr[:] = _drawn("normal", 0.0, self.sigma, arr.shape)


@arguments("rnd_type='uniform', factor_type='avg', magnitude=3")
class Xavier(Initializer):
    """Random numbers whose scale preserves the variance of signals (Glorot and Bengio 2010).

    Parameters
    ----------
    rnd_type : {'uniform', 'gaussian'}
    factor_type : {'avg', 'in', 'out'}. The divisor of the variance: the number of inputs, of
        outputs, or their mean.
    magnitude : float
    """

    def _init_weight(self, name: str, arr) -> None:
        shape = arr.shape
        if len(shape) < 2:
            raise refusal(ValueError, "Xavier initializer cannot", name)
        window = math.prod(shape[2:])
        fan_in, fan_out = shape[1] * window, shape[0] * window
        factors = {"avg": (fan_in + fan_out) / 2.0, "in": fan_in, "out": fan_out}
        if self.factor_type not in factors:
            raise ValueError("Incorrect factor type: it is 'avg', 'in' or 'out'")
        scale = math.sqrt(self.magnitude / factors[self.factor_type])
        if self.rnd_type == "uniform":
            arr[:] = _drawn("uniform", -scale, scale, shape)
        elif self.rnd_type == "gaussian":
            arr[:] = _drawn("normal", 0.0, scale, shape)
        else:
            raise ValueError("Unknown random type: it is 'uniform' or 'gaussian'")


@arguments("factor_type='avg', slope=0.25")
class MSRAPrelu(Xavier):
    """Xavier for rectifiers whose slope below 0 is `slope` (He and others 2015)."""

    without = ("rnd_type", "magnitude")

    def _prepare(self: Any) -> None:
        self.rnd_type, self.magnitude = "gaussian", 2.0 / (1 + self.slope**2)


@arguments("scale=1.414, rand_type='uniform'")
class Orthogonal(Initializer):
    """A matrix of orthogonal rows or columns (Saxe and others 2013)."""

    def _init_weight(self, name: str, arr) -> None:
        rows, columns = arr.shape[0], math.prod(arr.shape[1:])
        bounds = (-1.0, 1.0) if self.rand_type == "uniform" else (0.0, 1.0)
        kind = "uniform" if self.rand_type == "uniform" else "normal"
        u, _, v = np.linalg.svd(_drawn(kind, *bounds, (rows, columns)), full_matrices=False)
        chosen = u if u.shape == (rows, columns) else v
        arr[:] = (self.scale * chosen).reshape(arr.shape)


def _drawn(name: str, a: float, b: float, shape) -> Any:
    return np.asarray(getattr(STREAM, name)(a, b, shape)._payload)


_REGISTRY = {
    name.lower(): kind
    for name, kind in functions_of(globals(), "InitDesc Initializer register").items()
}
_REGISTRY |= {"zeros": Zero, "ones": One, "gaussian": Normal}


def create(init, **kwargs) -> Any:
    """Return the initializer with a given name, or the given initializer.

    Raises
    ------
    ValueError: If there is no initializer of this name.
    """
    if not isinstance(init, str):
        return init
    if init.lower() not in _REGISTRY:
        known = ", ".join(sorted(_REGISTRY))
        raise ValueError(f"Cannot find initializer {init}: there are {known}")
    return _REGISTRY[init.lower()](**kwargs)


__all__ = public(globals())
