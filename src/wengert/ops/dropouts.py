"""Layer 5 · ops · random: dropout of channels, and dropout that keeps mean and variance.

The masks are drawn from the default generator, in PyTorch's order.
"""

# the functions and arguments have PyTorch's names

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.export import export
from wengert.base.sections import named
from wengert.ops.checks import flag
from wengert.ops.coerce import number, operand
from wengert.ops.dropout import check_droppable
from wengert.ops.options import placed
from wengert.ops.randomness import drawn
from wengert.ops.sample import draw_bernoulli
from wengert.ops.shape import squeeze
from wengert.prims.table import TABLE
from wengert.tape.inplace import write
from wengert.tape.record import T
from wengert.tape.sites import warn

# the limit of SELU at minus infinity, the value of dropped elements: see G. Klambauer et al.,
# "Self-Normalizing Neural Networks", 2017, section "New Dropout Technique"
_ALPHA = 1.7580993408473766


def dropped(name: str, input: Any, p: float, train: bool, channels: bool, inplace: bool) -> Any:
    """The common part: a factor for each element, or for each channel, and with it a shift."""
    p = number(p, name, "p")
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    x = operand(input, name)
    payload = x._payload
    if p == 0 or not flag(train, "training") or payload.size == 0:
        return x
    check_droppable(payload.dtype, name)
    if channels and payload.ndim < 2:
        raise RuntimeError(
            "Feature dropout requires at least 2 dimensions in the input: batch and channels, but "
            f"the input has {payload.ndim}"
        )
    shape = (*payload.shape[:2], *[1] * (payload.ndim - 2)) if channels else payload.shape
    kept = np.zeros(shape, payload.dtype)
    if p < 1:
        kept = drawn(lambda: draw_bernoulli(np.empty(shape, payload.dtype), 1 - p))
    if not name.endswith("alpha_dropout"):
        factor, shift = (kept / (1 - p) if p < 1 else kept), None
    else:
        a = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p)) if p < 1 else 0.0
        moved = ((kept - 1) * (_ALPHA * a) + _ALPHA * a * p).astype(payload.dtype)
        shift = placed(x, moved)
        factor = kept * a
    noise = placed(x, factor.astype(payload.dtype, copy=False))
    if inplace:
        made = write(TABLE["mul"], x, (noise,), {}, f"{name}_")
        return made if shift is None else write(TABLE["add"], x, (shift,), {}, f"{name}_")
    made = T.mul(x, noise)
    return made if shift is None else T.add(made, shift)


def _rows(name: str, dims: tuple[int, int]) -> Any:
    def function(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        """Set whole channels to 0 at random, and scale the others accordingly.

        Parameters
        ----------
        input : Tensor. Of a floating dtype and shape (n, c, ...), of {least} (without n) or {most}
            dimensions.
        p : float. The probability of each channel to become 0.
        %(at_all)s
        inplace : bool. Whether to write the result into the input.

        %(returns_result)s

        %(raises_probability)s

        Examples
        --------
        >>> x = wg.ones({shape})
        >>> wg.nn.functional.{name}(x, 0.5, training=False).mean()
        tensor(1.)
        """
        x = operand(input, name)
        ndim = x._payload.ndim
        p = number(p, name, "p")
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        if ndim not in dims:
            if name == "dropout1d":
                raise RuntimeError(
                    f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input."
                )
            warn(
                f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result "
                f"in an error in a future release. Expected {dims[0]}-D or {dims[1]}-D.",
            )
        elif ndim == 3 and name == "dropout2d":
            warn(
                "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D "
                "dropout behavior is desired: use dropout1d for it.",
            )
        # two-dimensional dropout takes three dimensions for (n, c, l), as PyTorch does
        alone = ndim == dims[0] and name != "dropout2d"
        rows = T.unsqueeze(x, dim=0) if alone else x
        made = dropped(name, rows, p, training, True, inplace)
        if inplace:
            return x
        return squeeze(made, 0) if alone else made

    least, most = dims
    return named(function, name, least=least, most=most, shape=", ".join(["2"] * most))


dropout1d = _rows("dropout1d", (2, 3))
dropout2d = _rows("dropout2d", (3, 4))
dropout3d = _rows("dropout3d", (4, 5))
export("nn.functional")(dropout1d, dropout2d, dropout3d)


@export("nn.functional")
def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Set random elements to the lower limit of SELU, preserving mean and variance.

    Parameters
    ----------
    input : Tensor. Of a floating dtype.
    p : float. The probability of each element to be dropped.
    %(at_all)s

    %(returns_result, raises_probability)s

    Examples
    --------
    >>> wg.nn.functional.alpha_dropout(wg.ones(2), 0.5)
    tensor([1., 1.])
    """
    return dropped("alpha_dropout", input, p, training, False, inplace)


@export("nn.functional")
def feature_alpha_dropout(
    input: Any, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    """Apply `alpha_dropout` to whole channels; arguments as for `alpha_dropout`.

    Examples
    --------
    >>> wg.nn.functional.feature_alpha_dropout(wg.ones(1, 2), 0.5)
    tensor([[1., 1.]])
    """
    return dropped("feature_alpha_dropout", input, p, training, True, inplace)
