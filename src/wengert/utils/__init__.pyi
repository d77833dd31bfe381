"""What `wengert.utils` gives, for type checkers and editors.

Written by stubs/generate.py.
"""


from wengert.utils import benchmark as benchmark
from wengert.utils import checkpoint as checkpoint
from wengert.utils import collect_env as collect_env
from wengert.utils import data as data
from wengert.utils import dlpack as dlpack
from wengert.utils import hooks as hooks
from wengert.tape.tracebacks import set_full_tracebacks as set_full_tracebacks
from wengert.tensor.copying import swap_tensors as swap_tensors
__all__ = ['benchmark', 'checkpoint', 'collect_env', 'data', 'dlpack', 'hooks', 'set_full_tracebacks', 'swap_tensors']
