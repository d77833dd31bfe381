"""What `wengert.compat.tensorflow.initializers` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from typing import Any
from wengert.compat.tensorflow.configs import Configured as _Configured_

class Constant(Initializer):
    def __init__(self, value: Any = 0.0) -> None: ...
class GlorotNormal(VarianceScaling):
    def __init__(self, seed: Any = None) -> None: ...
class GlorotUniform(VarianceScaling):
    def __init__(self, seed: Any = None) -> None: ...
class HeNormal(VarianceScaling):
    def __init__(self, seed: Any = None) -> None: ...
class HeUniform(VarianceScaling):
    def __init__(self, seed: Any = None) -> None: ...
class Identity(Initializer):
    def __init__(self, gain: Any = 1.0) -> None: ...
class Initializer(_Configured_):
    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any: ...
class LecunNormal(VarianceScaling):
    def __init__(self, seed: Any = None) -> None: ...
class LecunUniform(VarianceScaling):
    def __init__(self, seed: Any = None) -> None: ...
class Ones(Initializer):
    pass
class Orthogonal(Initializer):
    def __init__(self, gain: Any = 1.0, seed: Any = None) -> None: ...
class RandomNormal(Initializer):
    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None) -> None: ...
class RandomUniform(Initializer):
    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: Any = None) -> None: ...
class TruncatedNormal(RandomNormal):
    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None) -> None: ...
class VarianceScaling(Initializer):
    def __init__(self, scale: Any = 1.0, mode: Any = 'fan_in', distribution: Any = 'truncated_normal', seed: Any = None) -> None: ...
class Zeros(Initializer):
    pass
constant = Constant
def deserialize(config: Any, custom_objects: Any = None) -> Any: ...
def get(identifier: Any) -> Any: ...
glorot_normal = GlorotNormal
glorot_uniform = GlorotUniform
he_normal = HeNormal
he_uniform = HeUniform
identity = Identity
lecun_normal = LecunNormal
lecun_uniform = LecunUniform
ones = Ones
orthogonal = Orthogonal
random_normal = RandomNormal
random_uniform = RandomUniform
def serialize(obj: Any) -> Any: ...
truncated_normal = TruncatedNormal
variance_scaling = VarianceScaling
zeros = Zeros
constant_initializer = Constant
ones_initializer = Ones
class random_normal_initializer(RandomNormal):
    def __init__(self, mean: Any = 0.0, stddev: Any = 0.05, seed: Any = None) -> None: ...
class random_uniform_initializer(RandomUniform):
    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: Any = None) -> None: ...
zeros_initializer = Zeros
