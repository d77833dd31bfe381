"""Layer 9 · compat: `tf.keras.layers.InputSpec`: what a layer says about its inputs."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from wengert.compat.kit.arguments import arguments
from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow import nest
from wengert.compat.tensorflow.configs import Configured
from wengert.compat.tensorflow.words import refusal


@arguments(
    "dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None, "
    "allow_last_axis_squeeze=False, name=None, optional=False"
)
class InputSpec(Configured):
    """The rank, the sizes and the dtype that a layer needs of an input.

    Parameters
    ----------
    dtype : str, optional. The dtype.
    shape : tuple, optional. The sizes; None is any size.
    ndim, min_ndim, max_ndim : int, optional. The number of dimensions, and its bounds.
    axes : dict, optional. The sizes of some dimensions.
    allow_last_axis_squeeze : bool. Whether a last dimension of size 1 may be missing.
    name : str, optional. The key of the input, if inputs are a dict.
    optional : bool. Whether the input may be None.

    Examples
    --------
    >>> tf.keras.layers.InputSpec(min_ndim=2, axes={-1: 3})
    InputSpec(min_ndim=2, axes={-1: 3})
    """

    def _prepare(self: Any) -> None:
        self.axes = {int(axis): size for axis, size in (self.axes or {}).items()}
        self.ndim = self.ndim if self.shape is None else len(self.shape)

    def __repr__(self) -> str:
        names = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        held = [f"{name}={getattr(self, name)}" for name in names if getattr(self, name)]
        return f"InputSpec({', '.join(held)})"

    def unmet(self, x) -> Iterator[str]:
        """Yield what an input should be, and is not."""
        shape, kind = tuple(x.shape), getattr(x.dtype, "name", x.dtype)
        count, end = len(shape), f"Full shape received: {shape}"
        if self.ndim not in (None, count) and not self.allow_last_axis_squeeze:
            yield f"ndim={self.ndim}, found ndim={count}. {end}"
        if self.max_ndim is not None and count > self.max_ndim:
            yield f"max_ndim={self.max_ndim}, found ndim={count}"
        if self.min_ndim is not None and count < self.min_ndim:
            yield f"min_ndim={self.min_ndim}, found ndim={count}. {end}"
        if self.dtype not in (None, kind):
            yield f"dtype={self.dtype}, found dtype={kind}"
        for axis, size in self.axes.items():
            if size not in (None, shape[axis]):
                yield (
                    f"axis {axis} of input shape to have value {size}, but received input with "
                    f"shape {shape}"
                )
        if any(n not in (None, m) for n, m in zip(self.shape or (), shape, strict=False)):
            yield f"shape={self.shape}, found shape={shape}"


def check(specs, inputs, layer: str) -> None:
    """Raise an error if the inputs of a layer do not have what its specs say."""
    specs = nest.flatten(specs)
    if isinstance(inputs, dict) and all(spec.name in inputs for spec in specs):
        inputs = [inputs[spec.name] for spec in specs]
    parts = nest.flatten(inputs)
    if len(parts) != len(specs):
        raise refusal(ValueError, 'Layer "{}" expects', layer, len(specs), len(parts))
    for place, (x, spec) in enumerate(zip(parts, specs, strict=True)):
        for wanted in () if spec is None or (x is None and spec.optional) else spec.unmet(x):
            raise refusal(ValueError, "Input {} with", place, spec.name, layer, wanted)


@functools.cache
def of_rank(**given: int) -> InputSpec:
    """Return the spec of a rank, and of a number of channels."""
    return InputSpec(axes={-1: given.pop("channels", None)}, **given)


__all__ = defined(globals())
