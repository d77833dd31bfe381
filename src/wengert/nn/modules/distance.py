"""Layer 8 · nn: distances and similarities of vectors."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from wengert.nn import functional as F
from wengert.nn.modules.module import Module
from wengert.types import Tensor

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """`functional.pairwise_distance` as a module.

    Parameters
    ----------
    p : float. The norm.
    eps : float. Added to the differences.
    keepdim : bool. Whether to keep the last dimension, with size 1.

    Examples
    --------
    >>> wg.nn.PairwiseDistance()(wg.zeros(1, 2), wg.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the distances of vectors along the last dimension."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """`functional.cosine_similarity` as a module.

    Parameters
    ----------
    dim : int. The dimension of the vectors.
    eps : float. The lower bound of the product of norms.

    Examples
    --------
    >>> wg.nn.CosineSimilarity()(wg.tensor([[1.0, 0.0]]), wg.tensor([[3.0, 4.0]]))
    tensor([0.6000])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the cosines of the angles between vectors."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
