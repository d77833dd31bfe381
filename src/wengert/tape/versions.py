"""Layer 4 · tape: version cells of inference tensors, which count no writes.

NOTE [inference tensors]
A tensor made in inference mode has an `InferenceCell` as its version cell, shared with its views.
Reading the cell raises. So saving an inference tensor for a backward pass raises, without a test in
other operations.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, SupportsIndex

from wengert.tape.base import TensorBase


class InferenceCell(list[Any]):
    """The version cell of tensors made in inference mode; not empty if ``.data`` made it.

    As in PyTorch, a tensor from ``.data`` may also be written to outside of inference mode.
    """

    __slots__ = ()

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
            "inference mode in computation tracked by autograd. To work around this, make a clone "
            "to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
            "`torch.inference_mode()`."
        )


def is_inference(tensor: TensorBase) -> bool:
    """Return whether `tensor` was made in inference mode.

    Examples
    --------
    >>> with wg.inference_mode():
    ...     x = wg.ones(2)
    >>> wg.is_inference(x), wg.is_inference(x.clone())
    (True, False)
    """
    return tensor._vc.__class__ is InferenceCell


def refuse_inference_write() -> RuntimeError:
    """Return the error for a write to an inference tensor outside of inference mode."""
    return RuntimeError(
        "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a "
        "clone to get a normal tensor before doing inplace update."
    )


@contextlib.contextmanager
def preserve_version(tensors: TensorBase | tuple[TensorBase, ...]) -> Iterator[None]:
    """Do not count writes to `tensors` within the context; the caller takes responsibility.

    Examples
    --------
    >>> x = wg.ones(2)
    >>> with wg.autograd._unsafe_preserve_version_counter(x):
    ...     _ = x.add_(1)
    >>> x._version
    0
    """
    kept = (tensors,) if isinstance(tensors, TensorBase) else tensors
    before = [tensor._share_version()[0] for tensor in kept]
    try:
        yield
    finally:
        for tensor, count in zip(kept, before, strict=True):
            tensor._share_version()[0] = count
