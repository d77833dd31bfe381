"""Layer 9 · compat: ``tf.initializers`` and ``tf.keras.initializers``: initial weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.compat.kit.arguments import arguments
from wengert.compat.kit.namespaces import functions_of
from wengert.compat.kit.rows import of_rows
from wengert.compat.tensorflow.configs import Configured, getter, snake_case
from wengert.compat.tensorflow.functions import drawing
from wengert.compat.tensorflow.functions.drawing import SeedGenerator, default_seed, stateless
from wengert.compat.tensorflow.functions.values import constant_of, dtype_of, shape_of
from wengert.compat.tensorflow.words import public, refusal

_FLOAT32 = np.dtype(np.float32)
_TRUNCATION = 0.87962566103423978
"""The standard deviation of the standard normal distribution truncated at two."""


class Initializer(Configured):
    """Base class for initializers, which map a shape and a dtype to initial values."""

    def __call__(self, shape, dtype=None, **kwargs) -> Any:
        """Return the initial values."""
        raise NotImplementedError("Initializer subclasses must implement the `__call__()` method.")


@arguments("value=0.0")
class Constant(Initializer):
    """Initializes with a number, or with a given array.

    Examples
    --------
    >>> print(tf.keras.initializers.Constant(3.0)([2]).numpy())
    [3. 3.]
    """

    def __call__(self, shape, dtype=None, **kwargs) -> Any:
        sizes = shape_of(shape, "Fill")
        value = np.asarray(self.value).astype(dtype_of(dtype, _FLOAT32))
        if value.size == math.prod(sizes):
            return constant_of(value.reshape(sizes))
        return constant_of(np.broadcast_to(value, sizes).copy())


class Zeros(Initializer):
    """Initializes with zeros.

    Examples
    --------
    >>> print(tf.keras.initializers.Zeros()([2]).numpy())
    [0. 0.]
    """

    def __call__(self, shape, dtype=None, **kwargs) -> Any:
        return constant_of(np.zeros(shape_of(shape, "Fill"), dtype_of(dtype, _FLOAT32)))


class Ones(Initializer):
    """Initializes with ones.

    Examples
    --------
    >>> print(tf.keras.initializers.Ones()([2]).numpy())
    [1. 1.]
    """

    def __call__(self, shape, dtype=None, **kwargs) -> Any:
        return constant_of(np.ones(shape_of(shape, "Fill"), dtype_of(dtype, _FLOAT32)))


@arguments("gain=1.0")
class Identity(Initializer):
    """Initializes with a multiple of the identity matrix.

    Examples
    --------
    >>> print(tf.keras.initializers.Identity(2.0)([2, 2]).numpy())
    [[2. 0.]
     [0. 2.]]
    """

    def __call__(self, shape, dtype=None, **kwargs) -> Any:
        sizes = shape_of(shape, "Fill")
        if len(sizes) != 2:
            raise refusal(ValueError, "Identity matrix initializer", sizes, len(sizes))
        return constant_of(self.gain * np.eye(*sizes, dtype=dtype_of(dtype, _FLOAT32)))


class _Random(Initializer):
    """Base class for initializers that draw.

    As in Keras, one without a seed takes one from Python's module `random` when it is created, and
    draws the same numbers each time.
    """

    def __init__(self, seed=None) -> None:
        self.seed = seed
        self._begun = default_seed() if seed is None else seed

    def _stream(self) -> Any:
        if isinstance(self._begun, SeedGenerator):
            return self._begun.stream()
        return stateless([int(self._begun), 0])


@arguments("mean=0.0, stddev=0.05, seed=None")
class RandomNormal(_Random):
    """Initializes with normal random numbers."""

    def __call__(self, shape, dtype=None, **kwargs) -> Any:
        return drawing.normals(self._stream(), shape, self.mean, self.stddev, dtype)


class TruncatedNormal(RandomNormal):
    """Initializes with normal random numbers at most two standard deviations from the mean."""

    def __call__(self, shape, dtype=None, **kwargs) -> Any:
        stream = self._stream()
        return drawing.truncated_normals(stream, shape, self.mean, self.stddev, dtype)


@arguments("minval=-0.05, maxval=0.05, seed=None")
class RandomUniform(_Random):
    """Initializes with uniform random numbers."""

    def __call__(self, shape, dtype=None, **kwargs) -> Any:
        return drawing.uniforms(self._stream(), shape, self.minval, self.maxval, dtype)


@arguments("gain=1.0, seed=None")
class Orthogonal(_Random):
    """Initializes with a random orthogonal matrix; all dimensions but the last are merged."""

    def __call__(self, shape, dtype=None, **kwargs) -> Any:
        sizes = shape_of(shape, "Fill")
        if len(sizes) < 2:
            raise refusal(ValueError, "The tensor to", sizes, len(sizes))
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        drawn = self._stream().normal_of((max(rows, columns), min(rows, columns)), _FLOAT32)
        q, r = np.linalg.qr(drawn)
        q = q * np.sign(np.diagonal(r))
        q = q if rows >= columns else q.T
        return constant_of((self.gain * q.reshape(sizes)).astype(dtype_of(dtype, _FLOAT32)))


@arguments("scale=1.0, mode='fan_in', distribution='truncated_normal', seed=None")
class VarianceScaling(_Random):
    """Initializes with random numbers of variance `scale` divided by fan-in, fan-out or their mean.

    Parameters
    ----------
    scale : float. The positive numerator of the variance.
    mode : str. The divisor: ``"fan_in"``, ``"fan_out"`` or ``"fan_avg"``.
    distribution : str. The distribution: ``"truncated_normal"``, ``"untruncated_normal"`` or
        ``"uniform"``.
    seed : int, optional. The operation seed; see `tf.random.set_seed`.

    Raises
    ------
    ValueError: If `scale` is not positive, or `mode` or `distribution` is unknown.
    """

    def _prepare(self: Any) -> None:
        if self.scale <= 0:
            raise refusal(ValueError, "Argument `scale` must", self.scale)
        if self.mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Invalid `mode` argument: {self.mode}")
        if self.distribution == "normal":
            self.distribution = "truncated_normal"
        if self.distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(f"Invalid `distribution` argument: {self.distribution}")

    fans: tuple[int, int] | None = None
    """The fan-in and fan-out that a layer knows."""

    def __call__(self, shape, dtype=None, **kwargs) -> Any:
        fan_in, fan_out = self.fans or _fans(shape_of(shape, "Fill"))
        count = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        scale = self.scale / max(1.0, count)
        stream = self._stream()
        if self.distribution == "uniform":
            limit = math.sqrt(3 * scale)
            return drawing.uniforms(stream, shape, -limit, limit, dtype)
        if self.distribution == "untruncated_normal":
            return drawing.normals(stream, shape, 0.0, math.sqrt(scale), dtype)
        stddev = math.sqrt(scale) / _TRUNCATION
        return drawing.truncated_normals(stream, shape, 0.0, stddev, dtype)


def _fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the fan-in and fan-out of a weight of this shape."""
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


def _scaled(name: str, scale: str, mode: str, distribution: str) -> Any:
    """Return a subclass of `VarianceScaling` with fixed arguments."""
    kind = {"uniform": "Uniform", "truncated_normal": "Truncated normal"}[distribution]

    def _prepare(self: Any) -> None:
        self.scale, self.mode, self.distribution = float(scale), mode, distribution

    body = {
        "__doc__": f"{kind} random numbers: `VarianceScaling` with scale {scale} and mode "
        f"``{mode!r}``.",
        "_prepare": _prepare,
        "without": ("scale", "mode", "distribution"),
    }
    return arguments("seed=None")(type(name, (VarianceScaling,), body))


of_rows(
    globals(),
    _scaled,
    """
    GlorotUniform | 1.0 | fan_avg | uniform
    GlorotNormal | 1.0 | fan_avg | truncated_normal
    HeUniform | 2.0 | fan_in | uniform
    HeNormal | 2.0 | fan_in | truncated_normal
    LecunUniform | 1.0 | fan_in | uniform
    LecunNormal | 1.0 | fan_in | truncated_normal
    """,
)

for _name, _kind in functions_of(globals(), "Initializer").items():  # lower-case aliases
    if isinstance(_kind, type):
        globals()[snake_case(_name)] = _kind

# the initializers of TensorFlow's top-level package
constant_initializer, zeros_initializer, ones_initializer = Constant, Zeros, Ones


class _InTurn(_Random):
    """Base class for initializers that draw other numbers in each call, unless there is a seed."""

    def _stream(self) -> Any:
        return None if self.seed is None else super()._stream()


class random_normal_initializer(_InTurn, RandomNormal):
    """Initializes with normal random numbers: others in each call, unless there is a seed."""


class random_uniform_initializer(_InTurn, RandomUniform):
    """Initializes with uniform random numbers: others in each call, unless there is a seed."""


get = getter(
    "initializer",
    globals(),
    Initializer,
    {"normal": RandomNormal, "one": Ones, "uniform": RandomUniform, "zero": Zeros},
)


_ELSEWHERE = """
    constant_initializer ones_initializer random_normal_initializer random_uniform_initializer
    zeros_initializer
    """
__all__ = public(globals(), without=_ELSEWHERE)
