"""Layer 8 · nn: activations along a dimension."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from typing import Any

from wengert.nn import functional as F
from wengert.nn.modules.module import Module
from wengert.ops.neural import chosen_dim
from wengert.types import Tensor


class _AlongDim(Module):
    _shows = "dim="

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def _dim(self, name: str, input: Any) -> int:
        return chosen_dim(name, input, self.dim)


class Softmax(_AlongDim):
    """`functional.softmax` as a module.

    Parameters
    ----------
    %(probability_dim)s

    Warns
    -----
    UserWarning: When the module is called without a `dim`.

    Examples
    --------
    >>> wg.nn.Softmax(dim=0)(wg.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self._dim("softmax", input))


class LogSoftmax(_AlongDim):
    """`functional.log_softmax` as a module; arguments as for `Softmax`.

    Examples
    --------
    >>> wg.nn.LogSoftmax(dim=0)(wg.tensor([0.0, 1000.0]))
    tensor([-1000.,     0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self._dim("log_softmax", input))


class Softmin(_AlongDim):
    """`functional.softmin` as a module; arguments as for `Softmax`.

    Examples
    --------
    >>> wg.nn.Softmin(dim=0)(wg.tensor([0.0, 1000.0]))
    tensor([1., 0.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self._dim("softmin", input))


class Softmax2d(Module):
    """`functional.softmax` over the channels of an image, at each pixel.

    Examples
    --------
    >>> wg.nn.Softmax2d()(wg.zeros(2, 1, 3))[:, 0]
    tensor([[0.5000, 0.5000, 0.5000],
            [0.5000, 0.5000, 0.5000]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the softmax of an image, or of a batch of images."""
        if input.dim() not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead"
            )
        return F.softmax(input, -3)


class GLU(_AlongDim):
    """`functional.glu` as a module.

    Parameters
    ----------
    dim : int. The dimension to halve.

    Examples
    --------
    >>> wg.nn.GLU()(wg.tensor([2.0, 0.0]))
    tensor([1.])
    """

    dim: int

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim)

    def forward(self, input: Tensor) -> Tensor:
        """Return one half of the input times the sigmoid of the other."""
        return F.glu(input, self.dim)
