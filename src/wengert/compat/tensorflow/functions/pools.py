"""Layer 9 · compat: TensorFlow's pooling, whose channels come last."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as wg
from wengert.base.sections import fill_sections
from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import shaped
from wengert.compat.tensorflow.functions import values as V
from wengert.compat.tensorflow.functions import windows
from wengert.compat.tensorflow.functions.templates import rows

_F = wg.nn.functional
_MAX = {1: _F.max_pool1d, 2: _F.max_pool2d, 3: _F.max_pool3d}
_AVERAGE = {1: _F.avg_pool1d, 2: _F.avg_pool2d, 3: _F.avg_pool3d}


def _pooled(
    op: str, d: int | None, input, ksize, strides, padding, data_format, dilations=None
) -> Any:
    x = V.tensor_of(input)
    V.check(op, x, V.FLOATING)
    if d is None:
        d = x.payload.ndim - 2
    if d not in _MAX or x.payload.ndim != d + 2:
        raise V.invalid(op, f"input must be {3 if d is None else d + 2}-dimensional")
    channels_first = windows.is_channels_first(op, data_format)
    window = windows.per_dimension(op, ksize, d, channels_first, "ksize")
    steps = windows.per_dimension(op, strides, d, channels_first, "strides")
    spread = windows.per_dimension(op, dilations, d, channels_first, "dilations")
    x = windows.first(x, channels_first)
    sizes = x.payload.shape[2:]
    extent = tuple((k - 1) * s + 1 for k, s in zip(window, spread, strict=True))
    pairs = windows.padding_of(op, padding, sizes, extent, steps, channels_first)
    if op.startswith("MaxPool"):
        least = float(np.finfo(x.payload.dtype).min)
        result = _MAX[d](windows.padded(x, pairs, least), window, steps, 0, spread)
    else:
        if any(s != 1 for s in spread):
            raise V.invalid(op, "averages over windows with gaps are not offered here")
        result = _AVERAGE[d](windows.padded(x, pairs), window, steps, 0)
        if any(map(any, pairs)):
            # what was added does not count
            ones = windows.padded(wg.as_tensor(np.ones((1, 1, *sizes), x.payload.dtype)), pairs)
            result = wg.div(result, _AVERAGE[d](ones, window, steps, 0))
    return windows.last(result, channels_first)


def _pooling(path: str, op: str, d: str, what: str, places: str) -> Any:
    """The function `path`, which pools windows of `d` dimensions, or of as many as there are."""

    @V.operation(op)
    def pooling(input, ksize, strides, padding, data_format=None, name=None) -> Any:
        """{what} of the windows of {places}.

        Parameters
        ----------
        input : Tensor. With the channels last, or after the batch.
        ksize : int or sequence of int. The size of the windows.
        strides : int or sequence of int. How far they move at each step.
        padding : str. ``"VALID"``: none; ``"SAME"``: so that each element is in a window. What is
            added does not count.
        data_format : str, optional. With the ``C`` last, or after the ``N``.

        Returns
        -------
        Tensor: Differentiable.

        Raises
        ------
        InvalidArgumentError: If shapes do not fit, or an argument is not known.

        Examples
        --------
        >>> tf.{path}(tf.ones({example}), 2, 2, "SAME").shape
        TensorShape({result})
        """
        return _pooled(op, int(d) or None, input, ksize, strides, padding, data_format)

    sizes = {key: [1, *[n] * (int(d) or 2), 1] for key, n in (("example", 3), ("result", 2))}
    return shaped(pooling, path, what=what, places=places, **sizes)


rows(
    globals(),
    _pooling,
    """
    nn.max_pool | MaxPool | 0 | The greatest elements | sequences, images or volumes
    nn.max_pool1d | MaxPool | 1 | The greatest elements | sequences
    nn.max_pool2d | MaxPool | 2 | The greatest elements | images
    nn.max_pool3d | MaxPool3D | 3 | The greatest elements | volumes
    nn.avg_pool | AvgPool | 0 | The means | sequences, images or volumes
    nn.avg_pool1d | AvgPool | 1 | The means | sequences
    nn.avg_pool2d | AvgPool | 2 | The means | images
    nn.avg_pool3d | AvgPool3D | 3 | The means | volumes
    """,
)


@V.operation("Pool")
def pool(
    input,
    window_shape,
    pooling_type: str,
    strides=None,
    padding="VALID",
    data_format=None,
    dilations=None,
    name=None,
) -> Any:
    """The greatest elements (``"MAX"``) or the means (``"AVG"``) of windows.

    Raises
    ------
    ValueError: If the type is another.

    Examples
    --------
    >>> tf.nn.pool(tf.ones([1, 4, 1]), [2], "AVG").shape
    TensorShape([1, 3, 1])
    """
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"pooling_type must be 'MAX' or 'AVG', not {pooling_type!r}")
    op = "MaxPool" if pooling_type == "MAX" else "AvgPool"
    return _pooled(op, None, input, window_shape, strides, padding, data_format, dilations)


__all__ = defined(globals())
fill_sections(globals())
