"""Layer 8 · nn: padding of inputs."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from typing import ClassVar

from wengert.nn import functional as F
from wengert.nn.classes import classes_in
from wengert.nn.modules.making import Sizes, repeated
from wengert.nn.modules.module import Module
from wengert.types import Tensor

__all__ = classes_in(__name__)


class _Pad(Module):
    """`functional.pad` of the last dimensions by fixed numbers of elements."""

    _shows = "padding"

    _dims: ClassVar[int]
    """The number of padded dimensions."""
    _mode: ClassVar[str]
    """The mode of `functional.pad`."""

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        self.padding = repeated(padding, 2 * self._dims)

    def forward(self, input: Tensor) -> Tensor:
        """Return the padded input."""
        return F.pad(input, self.padding, self._mode)


# -- by elements of the input ---------------------------------------------------------------------


class _ReflectionPadNd(_Pad):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Pad the last dimension by reflection.

    Parameters
    ----------
    padding : int or tuple of int. The number of elements on all sides, or two numbers per
        dimension, the last dimension first.

    Examples
    --------
    >>> wg.nn.ReflectionPad1d((2, 1))(wg.arange(4.0).view(1, 4))
    tensor([[2., 1., 0., 1., 2., 3., 2.]])
    """

    _dims = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pad the last two dimensions by reflection; arguments as for `ReflectionPad1d`.

    Examples
    --------
    >>> wg.nn.ReflectionPad2d((1, 0, 1, 0))(wg.arange(4.0).view(1, 2, 2))
    tensor([[[3., 2., 3.],
             [1., 0., 1.],
             [3., 2., 3.]]])
    """

    _dims = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pad the last three dimensions by reflection; arguments as for `ReflectionPad1d`.

    Examples
    --------
    >>> wg.nn.ReflectionPad3d(1)(wg.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    _dims = 3


class _ReplicationPadNd(_Pad):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Pad the last dimension by the outermost elements; arguments as for `ReflectionPad1d`.

    Examples
    --------
    >>> wg.nn.ReplicationPad1d((2, 1))(wg.arange(4.0).view(1, 4))
    tensor([[0., 0., 0., 1., 2., 3., 3.]])
    """

    _dims = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pad the last two dimensions by the outermost elements; arguments as for `ReflectionPad1d`.

    Examples
    --------
    >>> wg.nn.ReplicationPad2d((1, 0, 1, 0))(wg.arange(4.0).view(1, 2, 2))
    tensor([[[0., 0., 1.],
             [0., 0., 1.],
             [2., 2., 3.]]])
    """

    _dims = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pad the last three dimensions by the outermost elements; arguments as for `ReflectionPad1d`.

    Examples
    --------
    >>> wg.nn.ReplicationPad3d(1)(wg.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    _dims = 3


class _CircularPadNd(_Pad):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        least = self._dims + 1
        if input.dim() not in (least, least + 1):
            raise ValueError(f"expected {least}D or {least + 1}D input (got {input.dim()}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """Pad the last dimension circularly; arguments as for `ReflectionPad1d`.

    Examples
    --------
    >>> wg.nn.CircularPad1d((2, 1))(wg.arange(4.0).view(1, 4))
    tensor([[2., 3., 0., 1., 2., 3., 0.]])
    """

    _dims = 1


class CircularPad2d(_CircularPadNd):
    """Pad the last two dimensions circularly; arguments as for `ReflectionPad1d`.

    Examples
    --------
    >>> wg.nn.CircularPad2d((1, 0, 1, 0))(wg.arange(4.0).view(1, 2, 2))
    tensor([[[3., 2., 3.],
             [1., 0., 1.],
             [3., 2., 3.]]])
    """

    _dims = 2


class CircularPad3d(_CircularPadNd):
    """Pad the last three dimensions circularly; arguments as for `ReflectionPad1d`.

    Examples
    --------
    >>> wg.nn.CircularPad3d(1)(wg.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    _dims = 3


# -- by a value -----------------------------------------------------------------------------------


class _ConstantPadNd(_Pad):
    _shows = "padding= value="

    _mode = "constant"

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode, self.value)


class ConstantPad1d(_ConstantPadNd):
    """Pad the last dimension with a value.

    Parameters
    ----------
    padding : int or tuple of int. The number of elements on all sides, or two numbers per
        dimension, the last dimension first.
    value : float. The value of the padding.

    Examples
    --------
    >>> wg.nn.ConstantPad1d((2, 1), 9.0)(wg.arange(3.0).view(1, 3))
    tensor([[9., 9., 0., 1., 2., 9.]])
    """

    _dims = 1


class ConstantPad2d(_ConstantPadNd):
    """Pad the last two dimensions with a value; arguments as for `ConstantPad1d`.

    Examples
    --------
    >>> wg.nn.ConstantPad2d((1, 0, 1, 0), 9.0)(wg.zeros(1, 2, 2))
    tensor([[[9., 9., 9.],
             [9., 0., 0.],
             [9., 0., 0.]]])
    """

    _dims = 2


class ConstantPad3d(_ConstantPadNd):
    """Pad the last three dimensions with a value; arguments as for `ConstantPad1d`.

    Examples
    --------
    >>> wg.nn.ConstantPad3d(1, 9.0)(wg.zeros(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    _dims = 3


class _ZeroPad(_ConstantPadNd):
    _shows = "padding"

    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Pad the last dimension with zeros; arguments as for `ReflectionPad1d`.

    Examples
    --------
    >>> wg.nn.ZeroPad1d((2, 1))(wg.ones(1, 2))
    tensor([[0., 0., 1., 1., 0.]])
    """


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Pad the last two dimensions with zeros; arguments as for `ReflectionPad1d`.

    Examples
    --------
    >>> wg.nn.ZeroPad2d((1, 0, 1, 0))(wg.ones(1, 2, 2))
    tensor([[[0., 0., 0.],
             [0., 1., 1.],
             [0., 1., 1.]]])
    """


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Pad the last three dimensions with zeros; arguments as for `ReflectionPad1d`.

    Examples
    --------
    >>> wg.nn.ZeroPad3d(1)(wg.ones(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """
