"""Layer 8 · nn: the choice of an attention kernel: there is one, so choices have no effect.

`nn.attention.bias` and others are rows of a table.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from wengert.base.elsewhere import elsewhere, refusal
from wengert.ops.arrange import tril
from wengert.ops.create import ones

__all__ = ["SDPBackend", "sdpa_kernel"]
__getattr__ = elsewhere(__name__)

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """PyTorch's attention kernels; all names denote the only kernel here."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(
    backends: SDPBackend | Iterable[SDPBackend], set_priority: bool = False
) -> Iterator[None]:
    """Return a context that accepts PyTorch's choice of attention kernels and changes nothing.

    Parameters
    ----------
    backends : SDPBackend or sequence of them. The kernels that may be used; has no effect.
    set_priority : bool. Has no effect.

    Examples
    --------
    >>> from wengert.nn.attention import SDPBackend, sdpa_kernel
    >>> q = wg.ones(1, 2, 3)
    >>> with sdpa_kernel(SDPBackend.MATH):
    ...     out = wg.nn.functional.scaled_dot_product_attention(q, q, q)
    >>> out.shape
    torch.Size([1, 2, 3])
    """
    chosen = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not all(isinstance(one, SDPBackend) for one in chosen):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of them")
    yield


class CausalVariant(enum.IntEnum):
    """The corner in which the diagonal of a causal mask begins."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


CausalBias = refusal(
    "nn.attention.bias", "CausalBias", "masks are tensors. Use causal_upper_left, which gives one"
)


def causal_upper_left(*size: int) -> Any:
    """Return a causal mask aligned at the upper left: query i sees keys 0 to i.

    Examples
    --------
    >>> wg.nn.attention.causal_upper_left(2, 3)
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    rows, columns = _sizes(size)
    return tril(ones(rows, columns)).bool()


def causal_lower_right(*size: int) -> Any:
    """Return a causal mask aligned at the lower right: the last query sees all keys.

    Each query before it sees one key less.

    Examples
    --------
    >>> wg.nn.attention.causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    rows, columns = _sizes(size)
    return tril(ones(rows, columns), diagonal=columns - rows).bool()


def _sizes(size: tuple[int, ...]) -> tuple[int, int]:
    if len(size) != 2:
        raise AssertionError("a causal mask has 2 sizes: of queries and of keys")
    return size[0], size[1]
