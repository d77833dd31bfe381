"""What `wengert.utils` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from wengert.tape.tracebacks import set_full_tracebacks as set_full_tracebacks
from wengert.tensor.copying import swap_tensors as swap_tensors
from wengert.utils import benchmark as benchmark, checkpoint as checkpoint, collect_env as collect_env, data as data, dlpack as dlpack, hooks as hooks

__all__ = ['benchmark', 'checkpoint', 'collect_env', 'data', 'dlpack', 'hooks', 'set_full_tracebacks', 'swap_tensors']
