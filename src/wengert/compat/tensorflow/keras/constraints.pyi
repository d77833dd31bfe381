"""What `wengert.compat.tensorflow.keras.constraints` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from builtins import float as _float
from typing import Any
from wengert.compat.tensorflow.configs import Configured as _Configured_

class Constraint(_Configured_):
    def __call__(self, w: Any) -> Any: ...
class MaxNorm(Constraint):
    def __init__(self, max_value: Any = 2, axis: Any = 0) -> None: ...
class MinMaxNorm(Constraint):
    def __init__(self, min_value: Any = 0.0, max_value: Any = 1.0, rate: _float = 1.0, axis: Any = 0) -> None: ...
class NonNeg(Constraint):
    pass
class UnitNorm(Constraint):
    def __init__(self, axis: Any = 0) -> None: ...
def deserialize(config: Any, custom_objects: Any = None) -> Any: ...
def get(identifier: Any) -> Any: ...
max_norm = MaxNorm
min_max_norm = MinMaxNorm
non_neg = NonNeg
def serialize(obj: Any) -> Any: ...
unit_norm = UnitNorm
