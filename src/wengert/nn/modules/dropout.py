"""Layer 8 · nn: dropout of elements and channels."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from wengert.nn import functional as F
from wengert.nn.classes import classes_in
from wengert.nn.modules.module import Module
from wengert.ops.coerce import number
from wengert.types import Tensor

__all__ = classes_in(__name__)


class _DropoutNd(Module):
    _shows = "p= inplace="

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= number(p, type(self).__name__, "p") <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace


class Dropout(_DropoutNd):
    """`functional.dropout` while the module is in training.

    Parameters
    ----------
    p : float. The probability that an element becomes 0.
    inplace : bool. Whether to write the result to the input.

    %(raises_probability)s

    Examples
    --------
    >>> layer, _ = wg.nn.Dropout(0.3), wg.manual_seed(0)
    >>> layer(wg.ones(6))
    tensor([0.0000, 0.0000, 1.4286, 0.0000, 1.4286, 0.0000])
    >>> layer.eval()(wg.ones(6))
    tensor([1., 1., 1., 1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, in training with random elements set to 0."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """`functional.dropout1d`, of whole channels, in training; arguments as for `Dropout`.

    Examples
    --------
    >>> layer, _ = wg.nn.Dropout1d(), wg.manual_seed(0)
    >>> layer(wg.ones(3, 2))
    tensor([[0., 0.],
            [0., 0.],
            [2., 2.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """`functional.dropout2d`, of whole channels, in training; arguments as for `Dropout`.

    Examples
    --------
    >>> layer, _ = wg.nn.Dropout2d(), wg.manual_seed(0)
    >>> layer(wg.ones(1, 3, 1, 2)).flatten(2)
    tensor([[[0., 0.],
             [0., 0.],
             [2., 2.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """`functional.dropout3d`, of whole channels, in training; arguments as for `Dropout`.

    Examples
    --------
    >>> layer, _ = wg.nn.Dropout3d(), wg.manual_seed(0)
    >>> layer(wg.ones(1, 3, 1, 1, 2)).flatten(2)
    tensor([[[0., 0.],
             [0., 0.],
             [2., 2.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """`functional.alpha_dropout`, in training, keeps mean and variance; arguments as for `Dropout`.

    Unlike there, `inplace` has no effect, as in PyTorch.

    Examples
    --------
    >>> layer, _ = wg.nn.AlphaDropout(), wg.manual_seed(0)
    >>> layer(wg.zeros(3))
    tensor([-0.7792, -0.7792,  0.7792])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, in training with random elements set to the lower limit of `SELU`."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """`functional.feature_alpha_dropout`, in training; arguments as for `Dropout`.

    Unlike there, `inplace` has no effect, as in PyTorch.

    Examples
    --------
    >>> layer, _ = wg.nn.FeatureAlphaDropout(), wg.manual_seed(0)
    >>> layer(wg.zeros(1, 3, 2))
    tensor([[[-0.7792, -0.7792],
             [-0.7792, -0.7792],
             [ 0.7792,  0.7792]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the input, in training with random channels set to the lower limit of `SELU`."""
        return F.feature_alpha_dropout(input, self.p, self.training)
