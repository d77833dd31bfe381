"""What `wengert.compat.tensorflow.keras.mixed_precision` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from wengert.compat.tensorflow.keras.optimizers import LossScaleOptimizer as LossScaleOptimizer
from wengert.compat.tensorflow.keras.policies import DTypePolicy as DTypePolicy, DTypePolicy as Policy, dtype_policy as dtype_policy, dtype_policy as global_policy, set_dtype_policy as set_dtype_policy, set_dtype_policy as set_global_policy


