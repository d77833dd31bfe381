"""Layer 9 · distributions: transforms: functions with an inverse and a known determinant."""

from wengert.base.names import shows
from wengert.distributions import number_transforms as _numbers
from wengert.distributions import shaped_transforms as _shaped
from wengert.distributions.number_transforms import *  # noqa: F403  see `__all__`
from wengert.distributions.number_transforms import _clipped_sigmoid as _clipped_sigmoid
from wengert.distributions.number_transforms import _InverseTransform as _InverseTransform
from wengert.distributions.shaped_transforms import *  # noqa: F403  see `__all__`

__all__ = sorted({*_numbers.__all__, *_shaped.__all__} - {"sum_rightmost"})
__dir__ = shows(__all__)
