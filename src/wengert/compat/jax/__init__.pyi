"""What `wengert.compat.jax` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from builtins import str as _str
from numpy.dtypes import VoidDType as _VoidDType
from types import SimpleNamespace as _SimpleNamespace
from typing import Any
from wengert.compat.jax import ad_checkpoint as ad_checkpoint, custom_batching as custom_batching, custom_derivatives as custom_derivatives, debug as debug, dlpack as dlpack, dtypes as dtypes, errors as errors, example_libraries as example_libraries, experimental as experimental, flatten_util as flatten_util, image as image, lax as lax, nn as nn, numpy as numpy, ops as ops, random as random, scipy as scipy, sharding as sharding, stages as stages, test_util as test_util, tree as tree, tree_util as tree_util, typing as typing
from wengert.compat.jax.ad_checkpoint import checkpoint as checkpoint, remat as remat
from wengert.compat.jax.batching import vmap as vmap
from wengert.compat.jax.callbacks import block_until_ready as block_until_ready, copy_to_host_async as copy_to_host_async, device_get as device_get, device_put as device_put, effects_barrier as effects_barrier, pure_callback as pure_callback
from wengert.compat.jax.cpu import Device as Device, default_backend as default_backend, device_count as device_count, devices as devices, local_device_count as local_device_count, local_devices as local_devices, process_count as host_count, process_count as process_count, process_index as host_id, process_index as process_index
from wengert.compat.jax.custom import custom_gradient as custom_gradient, custom_jvp as custom_jvp, custom_vjp as custom_vjp
from wengert.compat.jax.insides import Context as explain_cache_misses, Context as log_compiles, Context as no_tracing, Context as transfer_guard, Context as transfer_guard_device_to_device, Context as transfer_guard_device_to_host, Context as transfer_guard_host_to_device
from wengert.compat.jax.jitting import clear_caches as clear_caches, disable_jit as disable_jit, jit as jit, pmap as pmap
from wengert.compat.jax.listing import make_jaxpr as make_jaxpr
from wengert.compat.jax.references import Ref as Ref, freeze as freeze, new_ref as new_ref
from wengert.compat.jax.reverse import fwd_and_bwd as fwd_and_bwd, grad as grad, hessian as hessian, jacfwd as jacfwd, jacobian as jacobian, jacrev as jacrev, jvp as jvp, linear_transpose as linear_transpose, linearize as linearize, value_and_grad as value_and_grad, vjp as vjp
from wengert.compat.jax.settings import Config as _Config
from wengert.compat.jax.sharding import NamedSharding as NamedSharding, P as P, Shard as Shard, make_mesh as make_mesh, reshard as reshard, set_mesh as set_mesh, shard_map as shard_map, smap as smap
from wengert.compat.jax.staging import ShapeDtypeStruct as ShapeDtypeStruct, check_tracer_leaks as check_tracer_leaks, checking_leaks as checking_leaks, closure_convert as closure_convert, default_device as default_device, default_matmul_precision as default_matmul_precision, ensure_compile_time_eval as ensure_compile_time_eval, eval_shape as eval_shape, named_call as named_call, named_scope as named_scope, typeof as typeof
from wengert.compat.jax.typing import Array as Array

checkpoint_policies: _SimpleNamespace
config: _Config
def debug_infs(new_val: Any = True) -> Any: ...
def debug_nans(new_val: Any = True) -> Any: ...
def enable_x64(new_val: Any = True) -> Any: ...
float0: _VoidDType
def numpy_dtype_promotion(new_val: Any = True) -> Any: ...
def numpy_rank_promotion(new_val: Any = True) -> Any: ...
__version__: _str
