"""What `wengert.compat.jax` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from builtins import str as _str
from numpy.dtypes import VoidDType as _VoidDType
from types import SimpleNamespace as _SimpleNamespace
from typing import Any
from wengert.compat.jax.settings import Config as _Config

from wengert.compat.jax.typing import Array as Array
from wengert.compat.jax.cpu import Device as Device
from wengert.compat.jax.sharding import NamedSharding as NamedSharding
from wengert.compat.jax.sharding import P as P
from wengert.compat.jax.references import Ref as Ref
from wengert.compat.jax.staging import ShapeDtypeStruct as ShapeDtypeStruct
from wengert.compat.jax.sharding import Shard as Shard
from wengert.compat.jax import ad_checkpoint as ad_checkpoint
from wengert.compat.jax.callbacks import block_until_ready as block_until_ready
from wengert.compat.jax.staging import check_tracer_leaks as check_tracer_leaks
from wengert.compat.jax.staging import checking_leaks as checking_leaks
from wengert.compat.jax.ad_checkpoint import checkpoint as checkpoint
checkpoint_policies: _SimpleNamespace
from wengert.compat.jax.jitting import clear_caches as clear_caches
from wengert.compat.jax.staging import closure_convert as closure_convert
config: _Config
from wengert.compat.jax.callbacks import copy_to_host_async as copy_to_host_async
from wengert.compat.jax import custom_batching as custom_batching
from wengert.compat.jax import custom_derivatives as custom_derivatives
from wengert.compat.jax.custom import custom_gradient as custom_gradient
from wengert.compat.jax.custom import custom_jvp as custom_jvp
from wengert.compat.jax.custom import custom_vjp as custom_vjp
from wengert.compat.jax import debug as debug
def debug_infs(new_val: Any = True) -> Any: ...
def debug_nans(new_val: Any = True) -> Any: ...
from wengert.compat.jax.cpu import default_backend as default_backend
from wengert.compat.jax.staging import default_device as default_device
from wengert.compat.jax.staging import default_matmul_precision as default_matmul_precision
from wengert.compat.jax.cpu import device_count as device_count
from wengert.compat.jax.callbacks import device_get as device_get
from wengert.compat.jax.callbacks import device_put as device_put
from wengert.compat.jax.cpu import devices as devices
from wengert.compat.jax.jitting import disable_jit as disable_jit
from wengert.compat.jax import dlpack as dlpack
from wengert.compat.jax import dtypes as dtypes
from wengert.compat.jax.callbacks import effects_barrier as effects_barrier
def enable_x64(new_val: Any = True) -> Any: ...
from wengert.compat.jax.staging import ensure_compile_time_eval as ensure_compile_time_eval
from wengert.compat.jax import errors as errors
from wengert.compat.jax.staging import eval_shape as eval_shape
from wengert.compat.jax import example_libraries as example_libraries
from wengert.compat.jax import experimental as experimental
from wengert.compat.jax import flatten_util as flatten_util
float0: _VoidDType
from wengert.compat.jax.references import freeze as freeze
from wengert.compat.jax.reverse import fwd_and_bwd as fwd_and_bwd
from wengert.compat.jax.reverse import grad as grad
from wengert.compat.jax.reverse import hessian as hessian
from wengert.compat.jax import image as image
from wengert.compat.jax.reverse import jacfwd as jacfwd
from wengert.compat.jax.reverse import jacobian as jacobian
from wengert.compat.jax.reverse import jacrev as jacrev
from wengert.compat.jax.jitting import jit as jit
from wengert.compat.jax.reverse import jvp as jvp
from wengert.compat.jax import lax as lax
from wengert.compat.jax.reverse import linear_transpose as linear_transpose
from wengert.compat.jax.reverse import linearize as linearize
from wengert.compat.jax.cpu import local_device_count as local_device_count
from wengert.compat.jax.cpu import local_devices as local_devices
from wengert.compat.jax.listing import make_jaxpr as make_jaxpr
from wengert.compat.jax.sharding import make_mesh as make_mesh
from wengert.compat.jax.staging import named_call as named_call
from wengert.compat.jax.staging import named_scope as named_scope
from wengert.compat.jax.references import new_ref as new_ref
from wengert.compat.jax import nn as nn
from wengert.compat.jax import numpy as numpy
def numpy_dtype_promotion(new_val: Any = True) -> Any: ...
def numpy_rank_promotion(new_val: Any = True) -> Any: ...
from wengert.compat.jax import ops as ops
from wengert.compat.jax.jitting import pmap as pmap
from wengert.compat.jax.cpu import process_count as process_count
from wengert.compat.jax.cpu import process_index as process_index
from wengert.compat.jax.callbacks import pure_callback as pure_callback
from wengert.compat.jax import random as random
from wengert.compat.jax.ad_checkpoint import remat as remat
from wengert.compat.jax.sharding import reshard as reshard
from wengert.compat.jax import scipy as scipy
from wengert.compat.jax.sharding import set_mesh as set_mesh
from wengert.compat.jax.sharding import shard_map as shard_map
from wengert.compat.jax import sharding as sharding
from wengert.compat.jax.sharding import smap as smap
from wengert.compat.jax import stages as stages
from wengert.compat.jax import test_util as test_util
from wengert.compat.jax import tree as tree
from wengert.compat.jax import tree_util as tree_util
from wengert.compat.jax.staging import typeof as typeof
from wengert.compat.jax import typing as typing
from wengert.compat.jax.reverse import value_and_grad as value_and_grad
from wengert.compat.jax.reverse import vjp as vjp
from wengert.compat.jax.batching import vmap as vmap
__version__: _str
