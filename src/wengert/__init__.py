"""wengert: PyTorch's autograd on NumPy arrays.

The package is the torch-style surface: ``import wengert as wg`` (or ``as torch``).
"""

import importlib as _importlib
import math as _math
import sys as _sys
import warnings as _warnings
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from wengert import autograd as autograd
from wengert import random as random
from wengert.base.device import device as device
from wengert.base.device import get_default_device as get_default_device
from wengert.base.device import set_default_device as set_default_device
from wengert.base.dtypes import DTYPES as _DTYPES
from wengert.base.dtypes import dtype as dtype
from wengert.base.dtypes import finfo as finfo
from wengert.base.dtypes import get_default_dtype as get_default_dtype
from wengert.base.dtypes import iinfo as iinfo
from wengert.base.dtypes import set_default_dtype as set_default_dtype
from wengert.base.extras import bfloat16 as _bfloat16
from wengert.base.layout import layout as layout
from wengert.base.layout import strided as strided
from wengert.base.memory_format import channels_last as channels_last
from wengert.base.memory_format import channels_last_3d as channels_last_3d
from wengert.base.memory_format import contiguous_format as contiguous_format
from wengert.base.memory_format import memory_format as memory_format
from wengert.base.memory_format import preserve_format as preserve_format
from wengert.base.size import Size as Size
from wengert.base.threads import get_num_threads as get_num_threads
from wengert.base.threads import set_num_threads as set_num_threads
from wengert.ops import return_types as return_types
from wengert.ops.affine import addmm as addmm
from wengert.ops.affine import addmv as addmv
from wengert.ops.affine import baddbmm as baddbmm
from wengert.ops.affine import inner as inner
from wengert.ops.affine import outer as outer
from wengert.ops.arrange import diag as diag
from wengert.ops.arrange import diag_embed as diag_embed
from wengert.ops.arrange import diagonal as diagonal
from wengert.ops.arrange import flip as flip
from wengert.ops.arrange import fliplr as fliplr
from wengert.ops.arrange import flipud as flipud
from wengert.ops.arrange import repeat_interleave as repeat_interleave
from wengert.ops.arrange import roll as roll
from wengert.ops.arrange import tile as tile
from wengert.ops.arrange import tril as tril
from wengert.ops.arrange import triu as triu
from wengert.ops.blend import addcdiv as addcdiv
from wengert.ops.blend import addcmul as addcmul
from wengert.ops.blend import lerp as lerp
from wengert.ops.choice import bernoulli as bernoulli
from wengert.ops.choice import multinomial as multinomial
from wengert.ops.choice import randint as randint
from wengert.ops.choice import randint_like as randint_like
from wengert.ops.choice import randperm as randperm
from wengert.ops.clone import clone as clone
from wengert.ops.compare import allclose as allclose
from wengert.ops.compare import equal as equal
from wengert.ops.compare import isclose as isclose
from wengert.ops.create import as_tensor as as_tensor
from wengert.ops.create import asarray as asarray
from wengert.ops.create import empty as empty
from wengert.ops.create import from_numpy as from_numpy
from wengert.ops.create import full as full
from wengert.ops.create import ones as ones
from wengert.ops.create import scalar_tensor as scalar_tensor
from wengert.ops.create import tensor as tensor
from wengert.ops.create import zeros as zeros
from wengert.ops.expand import broadcast_tensors as broadcast_tensors
from wengert.ops.expand import broadcast_to as broadcast_to
from wengert.ops.expand import meshgrid as meshgrid
from wengert.ops.extremes import amax as amax
from wengert.ops.extremes import amin as amin
from wengert.ops.extremes import aminmax as aminmax
from wengert.ops.extremes import argmax as argmax
from wengert.ops.extremes import argmin as argmin
from wengert.ops.extremes import max as max
from wengert.ops.extremes import min as min
from wengert.ops.gather import gather as gather
from wengert.ops.gather import index_add as index_add
from wengert.ops.gather import index_select as index_select
from wengert.ops.gather import scatter as scatter
from wengert.ops.gather import scatter_add as scatter_add
from wengert.ops.gather import take as take
from wengert.ops.gather import take_along_dim as take_along_dim
from wengert.ops.generator import Generator as Generator
from wengert.ops.generator import default_generator as default_generator
from wengert.ops.generator import fork_rng as fork_rng
from wengert.ops.generator import get_rng_state as get_rng_state
from wengert.ops.generator import initial_seed as initial_seed
from wengert.ops.generator import manual_seed as manual_seed
from wengert.ops.generator import seed as seed
from wengert.ops.generator import set_rng_state as set_rng_state
from wengert.ops.index import index_put as index_put
from wengert.ops.join import cat as cat
from wengert.ops.join import column_stack as column_stack
from wengert.ops.join import concat as concat
from wengert.ops.join import concatenate as concatenate
from wengert.ops.join import dstack as dstack
from wengert.ops.join import hstack as hstack
from wengert.ops.join import row_stack as row_stack
from wengert.ops.join import stack as stack
from wengert.ops.join import vstack as vstack
from wengert.ops.later import FUNCTIONS as _OPERATIONS
from wengert.ops.like import empty_like as empty_like
from wengert.ops.like import full_like as full_like
from wengert.ops.like import ones_like as ones_like
from wengert.ops.like import zeros_like as zeros_like
from wengert.ops.matmul import bmm as bmm
from wengert.ops.matmul import dot as dot
from wengert.ops.matmul import matmul as matmul
from wengert.ops.matmul import mm as mm
from wengert.ops.matmul import mv as mv
from wengert.ops.matmul import vdot as vdot
from wengert.ops.moments import std as std
from wengert.ops.moments import std_mean as std_mean
from wengert.ops.moments import var as var
from wengert.ops.moments import var_mean as var_mean
from wengert.ops.neural import log_softmax as log_softmax
from wengert.ops.neural import softmax as softmax
from wengert.ops.permute import adjoint as adjoint
from wengert.ops.permute import moveaxis as moveaxis
from wengert.ops.permute import movedim as movedim
from wengert.ops.permute import permute as permute
from wengert.ops.permute import swapaxes as swapaxes
from wengert.ops.permute import swapdims as swapdims
from wengert.ops.permute import t as t
from wengert.ops.permute import transpose as transpose
from wengert.ops.place import index_copy as index_copy
from wengert.ops.place import index_fill as index_fill
from wengert.ops.place import masked_scatter as masked_scatter
from wengert.ops.place import put as put
from wengert.ops.pointwise import abs as abs
from wengert.ops.pointwise import absolute as absolute
from wengert.ops.pointwise import acos as acos
from wengert.ops.pointwise import acosh as acosh
from wengert.ops.pointwise import add as add
from wengert.ops.pointwise import arccos as arccos
from wengert.ops.pointwise import arccosh as arccosh
from wengert.ops.pointwise import arcsin as arcsin
from wengert.ops.pointwise import arcsinh as arcsinh
from wengert.ops.pointwise import arctan as arctan
from wengert.ops.pointwise import arctan2 as arctan2
from wengert.ops.pointwise import arctanh as arctanh
from wengert.ops.pointwise import asin as asin
from wengert.ops.pointwise import asinh as asinh
from wengert.ops.pointwise import atan as atan
from wengert.ops.pointwise import atan2 as atan2
from wengert.ops.pointwise import atanh as atanh
from wengert.ops.pointwise import bitwise_and as bitwise_and
from wengert.ops.pointwise import bitwise_not as bitwise_not
from wengert.ops.pointwise import bitwise_or as bitwise_or
from wengert.ops.pointwise import bitwise_xor as bitwise_xor
from wengert.ops.pointwise import ceil as ceil
from wengert.ops.pointwise import conj as conj
from wengert.ops.pointwise import cos as cos
from wengert.ops.pointwise import cosh as cosh
from wengert.ops.pointwise import div as div
from wengert.ops.pointwise import divide as divide
from wengert.ops.pointwise import eq as eq
from wengert.ops.pointwise import erf as erf
from wengert.ops.pointwise import erfc as erfc
from wengert.ops.pointwise import exp as exp
from wengert.ops.pointwise import exp2 as exp2
from wengert.ops.pointwise import expm1 as expm1
from wengert.ops.pointwise import fix as fix
from wengert.ops.pointwise import floor as floor
from wengert.ops.pointwise import floor_divide as floor_divide
from wengert.ops.pointwise import fmod as fmod
from wengert.ops.pointwise import ge as ge
from wengert.ops.pointwise import greater as greater
from wengert.ops.pointwise import greater_equal as greater_equal
from wengert.ops.pointwise import gt as gt
from wengert.ops.pointwise import hypot as hypot
from wengert.ops.pointwise import imag as imag
from wengert.ops.pointwise import isfinite as isfinite
from wengert.ops.pointwise import isinf as isinf
from wengert.ops.pointwise import isnan as isnan
from wengert.ops.pointwise import le as le
from wengert.ops.pointwise import less as less
from wengert.ops.pointwise import less_equal as less_equal
from wengert.ops.pointwise import log as log
from wengert.ops.pointwise import log1p as log1p
from wengert.ops.pointwise import log2 as log2
from wengert.ops.pointwise import log10 as log10
from wengert.ops.pointwise import logical_and as logical_and
from wengert.ops.pointwise import logical_not as logical_not
from wengert.ops.pointwise import logical_or as logical_or
from wengert.ops.pointwise import logical_xor as logical_xor
from wengert.ops.pointwise import lt as lt
from wengert.ops.pointwise import maximum as maximum
from wengert.ops.pointwise import minimum as minimum
from wengert.ops.pointwise import mul as mul
from wengert.ops.pointwise import multiply as multiply
from wengert.ops.pointwise import ne as ne
from wengert.ops.pointwise import neg as neg
from wengert.ops.pointwise import negative as negative
from wengert.ops.pointwise import not_equal as not_equal
from wengert.ops.pointwise import pow as pow
from wengert.ops.pointwise import real as real
from wengert.ops.pointwise import reciprocal as reciprocal
from wengert.ops.pointwise import relu as relu
from wengert.ops.pointwise import remainder as remainder
from wengert.ops.pointwise import rsqrt as rsqrt
from wengert.ops.pointwise import rsub as rsub
from wengert.ops.pointwise import sgn as sgn
from wengert.ops.pointwise import sigmoid as sigmoid
from wengert.ops.pointwise import sign as sign
from wengert.ops.pointwise import sin as sin
from wengert.ops.pointwise import sinh as sinh
from wengert.ops.pointwise import sqrt as sqrt
from wengert.ops.pointwise import square as square
from wengert.ops.pointwise import sub as sub
from wengert.ops.pointwise import subtract as subtract
from wengert.ops.pointwise import tan as tan
from wengert.ops.pointwise import tanh as tanh
from wengert.ops.pointwise import true_divide as true_divide
from wengert.ops.pointwise import trunc as trunc
from wengert.ops.random import normal as normal
from wengert.ops.random import rand as rand
from wengert.ops.random import rand_like as rand_like
from wengert.ops.random import randn as randn
from wengert.ops.random import randn_like as randn_like
from wengert.ops.ranges import arange as arange
from wengert.ops.ranges import complex as complex
from wengert.ops.ranges import eye as eye
from wengert.ops.ranges import linspace as linspace
from wengert.ops.ranges import logspace as logspace
from wengert.ops.ranges import polar as polar
from wengert.ops.ranges import tril_indices as tril_indices
from wengert.ops.ranges import triu_indices as triu_indices
from wengert.ops.reduce import all as all
from wengert.ops.reduce import any as any
from wengert.ops.reduce import count_nonzero as count_nonzero
from wengert.ops.reduce import cumprod as cumprod
from wengert.ops.reduce import cumsum as cumsum
from wengert.ops.reduce import logsumexp as logsumexp
from wengert.ops.reduce import mean as mean
from wengert.ops.reduce import prod as prod
from wengert.ops.reduce import sum as sum
from wengert.ops.select import argwhere as argwhere
from wengert.ops.select import clamp as clamp
from wengert.ops.select import clamp_max as clamp_max
from wengert.ops.select import clamp_min as clamp_min
from wengert.ops.select import clip as clip
from wengert.ops.select import masked_fill as masked_fill
from wengert.ops.select import masked_select as masked_select
from wengert.ops.select import nonzero as nonzero
from wengert.ops.select import where as where
from wengert.ops.shape import flatten as flatten
from wengert.ops.shape import ravel as ravel
from wengert.ops.shape import reshape as reshape
from wengert.ops.shape import squeeze as squeeze
from wengert.ops.shape import unflatten as unflatten
from wengert.ops.shape import unsqueeze as unsqueeze
from wengert.ops.split import chunk as chunk
from wengert.ops.split import dsplit as dsplit
from wengert.ops.split import hsplit as hsplit
from wengert.ops.split import narrow as narrow
from wengert.ops.split import select as select
from wengert.ops.split import split as split
from wengert.ops.split import split_with_sizes as split_with_sizes
from wengert.ops.split import tensor_split as tensor_split
from wengert.ops.split import unbind as unbind
from wengert.ops.split import vsplit as vsplit
from wengert.ops.strided import as_strided as as_strided
from wengert.ops.strided import view_as_complex as view_as_complex
from wengert.ops.strided import view_as_real as view_as_real
from wengert.ops.typed import TYPED as _TYPED
from wengert.ops.typed import set_default_tensor_type as set_default_tensor_type
from wengert.ops.typed import typed as _typed
from wengert.tape.inference import inference_mode as inference_mode
from wengert.tape.inference import is_inference_mode_enabled as is_inference_mode_enabled
from wengert.tape.modes import enable_grad as enable_grad
from wengert.tape.modes import is_grad_enabled as is_grad_enabled
from wengert.tape.modes import no_grad as no_grad
from wengert.tape.modes import set_grad_enabled as set_grad_enabled
from wengert.tape.versions import is_inference as is_inference
from wengert.tensor import later as _later_methods  # noqa: F401  it gives the class its methods
from wengert.tensor.overrides import publish as _publish
from wengert.tensor.overrides import published as _published
from wengert.tensor.predicates import can_cast as can_cast
from wengert.tensor.predicates import get_device as get_device
from wengert.tensor.predicates import is_complex as is_complex
from wengert.tensor.predicates import is_floating_point as is_floating_point
from wengert.tensor.predicates import is_same_size as is_same_size
from wengert.tensor.predicates import is_signed as is_signed
from wengert.tensor.predicates import is_tensor as is_tensor
from wengert.tensor.predicates import numel as numel
from wengert.tensor.predicates import promote_types as promote_types
from wengert.tensor.predicates import result_type as result_type
from wengert.tensor.predicates import typename as typename
from wengert.tensor.printing import get_printoptions as get_printoptions
from wengert.tensor.printing import printoptions as printoptions
from wengert.tensor.printing import set_printoptions as set_printoptions
from wengert.tensor.tensor import Tensor as Tensor

__version__ = "0.1.0"

# Infinities and NaNs come without a warning, as in PyTorch. This concerns the library's own frames
# alone: NumPy warns in the user's code as before, and np.errstate(all="raise") still raises in the
# forward pass.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"wengert\.")

float16 = half = _DTYPES["float16"]
float32 = float = _DTYPES["float32"]
float64 = double = _DTYPES["float64"]
complex64 = cfloat = _DTYPES["complex64"]
complex128 = cdouble = _DTYPES["complex128"]
uint8 = _DTYPES["uint8"]
int8 = _DTYPES["int8"]
int16 = short = _DTYPES["int16"]
int32 = int = _DTYPES["int32"]
int64 = long = _DTYPES["int64"]
uint16 = _DTYPES["uint16"]
uint32 = _DTYPES["uint32"]
uint64 = _DTYPES["uint64"]
bool = _DTYPES["bool"]

inf = _math.inf
nan = _math.nan
pi = _math.pi
e = _math.e
newaxis = None

_LATER = frozenset(
    {
        "_C",
        "accelerator",
        "amp",
        "backends",
        "compat",
        "compiler",
        "cuda",
        "distributed",
        "fft",
        "func",
        "implicit",
        "integrate",
        "linalg",
        "nn",
        "numpy",
        "optim",
        "scipy",
        "sparse",
        "special",
        "testing",
        "utils",
        "version",
        "viz",
    }
)
_MIXED_PRECISION = (
    "GradScaler",
    "autocast",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
)
_SETTINGS = (
    "are_deterministic_algorithms_enabled",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "use_deterministic_algorithms",
)
_FROM_LATER = {
    **dict.fromkeys(_MIXED_PRECISION, "amp"),
    **dict.fromkeys(_SETTINGS, "base.settings"),
    "compile": "compiler",
    "is_storage": "tensor.storage",
    "load": "serialization",
    "vmap": "func",
    "save": "serialization",
    "is_anomaly_check_nan_enabled": "autograd.anomaly_mode",
    "is_anomaly_enabled": "autograd.anomaly_mode",
    "memory_report": "autograd.memory",
}

if _TYPE_CHECKING:
    from wengert import nn as nn
    from wengert import utils as utils
    from wengert.serialization import load as load
    from wengert.serialization import save as save


def __getattr__(name: str) -> _Any:
    """The parts that few programs use are imported when they are first named."""
    if name in _LATER:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _OPERATIONS:
        module = _importlib.import_module(f"{__name__}.ops.{_OPERATIONS[name]}")
        return globals().setdefault(name, _published(getattr(module, name), __name__, name))
    if name in _FROM_LATER:
        module = _importlib.import_module(f"{__name__}.{_FROM_LATER[name]}")
        return globals().setdefault(name, getattr(module, name))
    if name in ("bfloat16", *_TYPED):
        try:
            kind = _bfloat16() if name == "bfloat16" else _typed(name)
            return globals().setdefault(name, kind)
        except ImportError as error:
            raise AttributeError(str(error)) from error
    if name == "detach" or (name[-1:] == "_" and name[0] != "_"):
        found = _method_functions().get(name)
        if found is not None:
            return globals().setdefault(name, found)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _method_functions() -> dict[str, _Any]:
    """Methods that are functions, too: ``exp_(x)`` for ``x.exp_()``."""
    functions: dict[str, _Any] = _importlib.import_module(
        f"{__name__}.tensor.method_functions"
    ).FUNCTIONS
    return functions


def __dir__() -> list[str]:
    found = {*globals(), *_LATER, *_OPERATIONS, *_FROM_LATER, *_TYPED, *_method_functions()}
    # like `bfloat16` itself it needs a package that may not be there
    return sorted(found - {"BFloat16Tensor"})


_publish(_sys.modules[__name__], autograd)
