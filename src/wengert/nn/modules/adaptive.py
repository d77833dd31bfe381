"""Layer 8 · nn: a softmax over many classes, most of which are rare."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from wengert.base.dtypes import dtype
from wengert.nn import functional as F
from wengert.nn.modules.container import ModuleList, Sequential
from wengert.nn.modules.linear import Linear
from wengert.nn.modules.module import Module
from wengert.ops.join import cat
from wengert.ops.select import where
from wengert.types import Device, Tensor

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """The result of calling `AdaptiveLogSoftmaxWithLoss`."""

    output: Tensor
    """The log-probability of the target of each sample."""
    loss: Tensor
    """The negative mean of `output`."""


def _check_cutoffs(cutoffs: list[int], n_classes: int) -> None:
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0, but it is empty")
    integers = all(int(cutoff) == cutoff for cutoff in cutoffs)
    ascending = all(a < b for a, b in zip([0, *cutoffs], [*cutoffs, n_classes], strict=True))
    if not (integers and ascending):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
            f"order, where each value is between 1 and n_classes-1, {n_classes - 1}, but got "
            f"{cutoffs}"
        )


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-probability of classes sorted by frequency, with the rare ones in clusters.

    Parameters
    ----------
    in_features : int. The size of the last dimension of the input.
    n_classes : int. The number of classes.
    cutoffs : sequence of int. The first class of each cluster; classes below the first cutoff are
        always computed.
    div_value : float. The factor by which the inner size shrinks from cluster to cluster.
    head_bias : bool. Whether the frequent classes have a bias.
    %(of_the_parameters)s

    Raises
    ------
    ValueError: If the cutoffs do not ascend between 0 and the number of classes.

    References
    ----------
    E. Grave et al., "Efficient softmax approximation for GPUs", ICML 2017.

    Examples
    --------
    >>> layer = wg.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[4, 10])
    >>> output, loss = layer(wg.randn(3, 16), wg.tensor([0, 7, 19]))
    >>> output.shape, loss.shape
    (torch.Size([3]), torch.Size([]))
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        _check_cutoffs(cutoffs, n_classes)
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        made: Any = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            inner = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, inner, bias=False, **made),
                    Linear(inner, size, bias=False, **made),
                )
            )

    def reset_parameters(self) -> None:
        """Draw the parameters again."""
        self.head.reset_parameters()
        for cluster in self.tail:
            for layer in cast("Sequential", cluster):
                cast("Linear", layer).reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """Return the log-probabilities of the targets, and their negative mean.

        Parameters
        ----------
        input_ : Tensor. Of shape (N, in_features) or (in_features,).
        target_ : Tensor. The classes, of shape (N,) or ().

        Raises
        ------
        RuntimeError: If the shapes do not fit, or a target is not a class.
        """
        _check_shapes(input_, target_)
        batched = target_.dim() > 0
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        if target.numel() and not bool(((target >= 0) & (target < self.n_classes)).all()):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        column, parts = target, []
        for i, cluster in enumerate(self.tail):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            within = (target >= low) & (target < high)
            rows = within.nonzero().flatten()
            if not rows.numel():
                continue
            column = where(within, self.shortlist_size + i, column)
            scores = F.log_softmax(cluster(input.index_select(0, rows)), dim=1)
            labels = (target.index_select(0, rows) - low).unsqueeze(1)
            parts.append((rows, scores.gather(1, labels).squeeze(1)))
        heads = F.log_softmax(self.head(input), dim=1)
        output = heads.gather(1, column.unsqueeze(1)).squeeze(1)
        for rows, part in parts:
            output = output.index_add(0, rows, part)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _get_full_log_prob(self, input: Any, head_output: Any) -> Any:
        heads = F.log_softmax(head_output, dim=1)
        parts = [heads[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            scores = F.log_softmax(cluster(input), dim=1)
            parts.append(scores + heads[:, self.shortlist_size + i].unsqueeze(1))
        return cat(parts, dim=1)

    def log_prob(self, input: Any) -> Any:
        """Return the log-probabilities of all classes, of shape (N, n_classes).

        Parameters
        ----------
        input : Tensor. Of shape (N, in_features).
        """
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """Return the most probable class of each sample, of shape (N,).

        Parameters
        ----------
        input : Tensor. Of shape (N, in_features).
        """
        head_output = self.head(input)
        output = head_output.argmax(dim=1)
        open_ = output >= self.shortlist_size
        if not bool(open_.any()):
            return output
        # look into a cluster only where it is more probable than the frequent classes
        rows = open_.nonzero().flatten()
        full = self._get_full_log_prob(
            input.index_select(0, rows), head_output.index_select(0, rows)
        )
        return output.index_copy(0, rows, full.argmax(dim=1))


def _check_shapes(input: Any, target: Any) -> None:
    shape = tuple(input.shape)
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dim() == 0:
        if input.dim() != 1:
            raise RuntimeError(
                f"0D target tensor expects 1D input tensors, but found inputs with size {shape}"
            )
        return
    if input.shape[0] != target.shape[0]:
        raise RuntimeError(
            "Input and target should have the same size in the batch dimension, but have "
            f"{input.shape[0]} and {target.shape[0]}."
        )
    if input.dim() != 2:
        raise RuntimeError(
            f"1D target tensor expects 2D input tensors, but found inputs with size {shape}"
        )
