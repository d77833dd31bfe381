"""Layer 8 · nn: a loss with its own linear layer."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

import dataclasses
import math
from typing import Any

from wengert.base.dtypes import dtype
from wengert.nn import functional as F
from wengert.nn.modules.linear import Linear
from wengert.nn.modules.loss import _WeightedLoss
from wengert.types import Device


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """PyTorch's options for computing the loss in pieces; here it is computed at once.

    Parameters
    ----------
    allow_retain_graph : bool. Has no effect: the graph can be kept.
    batch_chunk_size : int, optional. Has no effect.
    chunking_method, acc_policy : str. Have no effect.
    acc_dtype : dtype, optional. Has no effect.

    Examples
    --------
    >>> wg.nn.LinearCrossEntropyOptions(batch_chunk_size=2).acc_policy
    'auto'
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: dtype | None = None


class LinearCrossEntropyLoss(_WeightedLoss):
    """`functional.linear_cross_entropy` with its own linear layer.

    Parameters
    ----------
    in_features, num_classes : int. The size of the last dimension of the input, and the number of
        classes.
    out_features : tuple of int. Further dimensions of the logits, after the classes.
    %(bias_and_dtype)s
    reduction, weight, ignore_index, label_smoothing, options: As for the function.

    Attributes
    ----------
    linear : Linear. The layer that computes the logits.

    Raises
    ------
    RuntimeError: If there is not one weight per class, or `label_smoothing` is not between 0 and
        1.

    Examples
    --------
    >>> loss = wg.nn.LinearCrossEntropyLoss(4, 3)
    >>> loss(wg.randn(5, 4), wg.tensor([0, 2, 1, 1, 0])).shape
    torch.Size([])
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Device = None,
        dtype: dtype | None = None,
        reduction: str = "mean",
        weight: Any = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: Any = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        size = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, size, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Any, target: Any) -> Any:
        """Return the loss of an input, given the classes or their probabilities."""
        sizes = (self.num_classes, *self.out_features)
        bias: Any = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*sizes, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(sizes),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
