"""Layer 8 · nn: merging and splitting of dimensions."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from collections.abc import Sequence

from wengert.nn.modules.module import Module
from wengert.types import Tensor

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """`Tensor.flatten` as a module; by default it keeps the first dimension.

    Parameters
    ----------
    start_dim, end_dim : int. The first and the last of the dimensions to merge.

    Examples
    --------
    >>> wg.nn.Flatten()(wg.ones(2, 3, 4)).shape
    torch.Size([2, 12])
    """

    _shows = "start_dim= end_dim="

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with the dimensions merged."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    """`Tensor.unflatten` as a module.

    Parameters
    ----------
    dim : int. The dimension to split.
    unflattened_size : tuple of int. The sizes of the new dimensions.

    Raises
    ------
    TypeError: If the sizes are not a tuple of integers.

    Examples
    --------
    >>> wg.nn.Unflatten(1, (2, 3))(wg.ones(4, 6)).shape
    torch.Size([4, 2, 3])
    """

    _shows = "dim= unflattened_size="

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        if not isinstance(unflattened_size, tuple | list):
            raise TypeError(
                "unflattened_size must be a tuple of ints, but found type "
                f"{type(unflattened_size).__name__}"
            )
        for position, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {position}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """Return the input with the dimension split."""
        return input.unflatten(self.dim, self.unflattened_size)
