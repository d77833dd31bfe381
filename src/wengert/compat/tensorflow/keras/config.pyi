"""What `wengert.compat.tensorflow.keras.config` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from wengert.compat.tensorflow.keras.globals import backend as backend, epsilon as epsilon, floatx as floatx, image_data_format as image_data_format, set_epsilon as set_epsilon, set_floatx as set_floatx
from wengert.compat.tensorflow.keras.policies import dtype_policy as dtype_policy, set_dtype_policy as set_dtype_policy


