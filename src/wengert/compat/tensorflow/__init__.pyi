"""What `wengert.compat.tensorflow` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from builtins import bool as _bool, int as _int, str as _str
from collections.abc import Sequence
from typing import Any
from wengert.compat.tensorflow.dtypes import DType as _DType
from wengert.compat.tensorflow.eager import Tensor as _Tensor

from wengert.compat.tensorflow.debugging import Assert as Assert
from wengert.compat.tensorflow.dtypes import DType as DType
from wengert.compat.tensorflow.tape import GradientTape as GradientTape
from wengert.compat.tensorflow.conversion import IndexedSlices as IndexedSlices
from wengert.compat.tensorflow.module import Module as Module
from wengert.compat.tensorflow.custom import no_gradient as NotDifferentiable
from wengert.compat.tensorflow.custom import RegisterGradient as RegisterGradient
from wengert.compat.tensorflow.sparse import SparseTensor as SparseTensor
from wengert.compat.tensorflow.eager import Tensor as Tensor
from wengert.compat.tensorflow.array import TensorArray as TensorArray
from wengert.compat.tensorflow.shapes import TensorShape as TensorShape
from wengert.compat.tensorflow.conversion import TensorSpec as TensorSpec
from wengert.compat.tensorflow.tape import UnconnectedGradients as UnconnectedGradients
from wengert.compat.tensorflow.variable import Variable as Variable
from wengert.compat.tensorflow.variable import VariableAggregation as VariableAggregation
from wengert.compat.tensorflow.variable import VariableSynchronization as VariableSynchronization
def abs(x: Any, name: _str | None = None) -> _Tensor: ...
def acos(x: Any, name: _str | None = None) -> _Tensor: ...
def acosh(x: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.functions.binary import add as add
from wengert.compat.tensorflow.functions.products import add_n as add_n
from wengert.compat.tensorflow.functions.ordering import argmax as argmax
from wengert.compat.tensorflow.functions.ordering import argmin as argmin
from wengert.compat.tensorflow.functions.ordering import argsort as argsort
from wengert.compat.tensorflow.dtypes import as_dtype as as_dtype
def asin(x: Any, name: _str | None = None) -> _Tensor: ...
def asinh(x: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.debugging import assert_equal as assert_equal
from wengert.compat.tensorflow.debugging import assert_greater as assert_greater
from wengert.compat.tensorflow.debugging import assert_less as assert_less
from wengert.compat.tensorflow.debugging import assert_rank as assert_rank
def atan(x: Any, name: _str | None = None) -> _Tensor: ...
def atan2(y: Any, x: Any, name: _str | None = None) -> _Tensor: ...
def atanh(x: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow import accumulator as autodiff
bfloat16: _DType
from wengert.compat.tensorflow.functions.creation import bitcast as bitcast
from wengert.compat.tensorflow import bitwise as bitwise
bool: _DType
from wengert.compat.tensorflow.functions.indexing import boolean_mask as boolean_mask
from wengert.compat.tensorflow.functions.shapes import broadcast_dynamic_shape as broadcast_dynamic_shape
from wengert.compat.tensorflow.functions.shapes import broadcast_static_shape as broadcast_static_shape
from wengert.compat.tensorflow.functions.shapes import broadcast_to as broadcast_to
from wengert.compat.tensorflow.control import case as case
from wengert.compat.tensorflow.functions.creation import cast as cast
from wengert.compat.tensorflow.functions.normalisation import clip_by_global_norm as clip_by_global_norm
from wengert.compat.tensorflow.functions.normalisation import clip_by_norm as clip_by_norm
from wengert.compat.tensorflow.functions.normalisation import clip_by_value as clip_by_value
from wengert.compat.tensorflow.functions.creation import complex as complex
complex128: _DType
complex64: _DType
from wengert.compat.tensorflow.functions.joining import concat as concat
from wengert.compat.tensorflow.control import cond as cond
from wengert.compat.tensorflow import config as config
from wengert.compat.tensorflow.conversion import constant as constant
from wengert.compat.tensorflow.initializers import Constant as constant_initializer
from wengert.compat.tensorflow.environment import control_dependencies as control_dependencies
from wengert.compat.tensorflow.conversion import convert_to_tensor as convert_to_tensor
def cos(x: Any, name: _str | None = None) -> _Tensor: ...
def cosh(x: Any, name: _str | None = None) -> _Tensor: ...
def cumsum(x: Any, axis: _int | Sequence[_int] | None = 0, exclusive: _bool = False, reverse: _bool = False, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.custom import custom_gradient as custom_gradient
from wengert.compat.tensorflow import data as data
from wengert.compat.tensorflow import debugging as debugging
from wengert.compat.tensorflow.environment import device as device
from wengert.compat.tensorflow import distribute as distribute
from wengert.compat.tensorflow.functions.binary import divide as divide
double: _DType
from wengert.compat.tensorflow import dtypes as dtypes
from wengert.compat.tensorflow.functions.segments import dynamic_partition as dynamic_partition
from wengert.compat.tensorflow.functions.segments import dynamic_stitch as dynamic_stitch
from wengert.compat.tensorflow.functions.matrices import eig as eig
from wengert.compat.tensorflow.functions.matrices import eigvals as eigvals
from wengert.compat.tensorflow.functions.products import einsum as einsum
from wengert.compat.tensorflow.functions.shapes import ensure_shape as ensure_shape
def equal(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow import errors as errors
from wengert.compat.tensorflow.function import executing_eagerly as executing_eagerly
def exp(x: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.functions.shapes import expand_dims as expand_dims
from wengert.compat.tensorflow.functions.creation import eye as eye
from wengert.compat.tensorflow.functions.creation import fill as fill
float16: _DType
float32: _DType
float64: _DType
def floor(x: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.control import foldl as foldl
from wengert.compat.tensorflow.control import foldr as foldr
from wengert.compat.tensorflow.function import function as function
from wengert.compat.tensorflow.functions.indexing import gather as gather
from wengert.compat.tensorflow.functions.indexing import gather_nd as gather_nd
from wengert.compat.tensorflow.environment import get_logger as get_logger
from wengert.compat.tensorflow.conversion import get_static_value as get_static_value
from wengert.compat.tensorflow.custom import grad_pass_through as grad_pass_through
from wengert.compat.tensorflow.custom import gradients as gradients
def greater(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
def greater_equal(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
half: _DType
from wengert.compat.tensorflow.custom import hessians as hessians
from wengert.compat.tensorflow.functions.ordering import histogram_fixed_width as histogram_fixed_width
from wengert.compat.tensorflow.conversion import identity as identity
from wengert.compat.tensorflow.functions.creation import identity_n as identity_n
from wengert.compat.tensorflow import image as image
from wengert.compat.tensorflow.environment import init_scope as init_scope
from wengert.compat.tensorflow import initializers as initializers
from wengert.compat.tensorflow.function import inside_function as inside_function
int16: _DType
int32: _DType
int64: _DType
int8: _DType
from wengert.compat.tensorflow.conversion import is_tensor as is_tensor
from wengert.compat.tensorflow import keras as keras
def less(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
def less_equal(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow import linalg as linalg
from wengert.compat.tensorflow.functions.creation import linspace as linspace
def logical_and(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.functions.pointwise import logical_not as logical_not
def logical_or(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.keras import losses as losses
from wengert.compat.tensorflow.control import map_fn as map_fn
from wengert.compat.tensorflow import math as math
from wengert.compat.tensorflow.functions.products import matmul as matmul
def maximum(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.functions.shapes import meshgrid as meshgrid
from wengert.compat.tensorflow.keras import metrics as metrics
def minimum(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
def multiply(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.environment import name_scope as name_scope
def negative(x: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow import nest as nest
newaxis: None
from wengert.compat.tensorflow import nn as nn
from wengert.compat.tensorflow.custom import no_gradient as no_gradient
from wengert.compat.tensorflow.functions.normalisation import norm as norm
def not_equal(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.function import numpy_function as numpy_function
from wengert.compat.tensorflow.functions.creation import one_hot as one_hot
from wengert.compat.tensorflow.functions.creation import ones as ones
from wengert.compat.tensorflow.initializers import Ones as ones_initializer
from wengert.compat.tensorflow.functions.creation import ones_like as ones_like
from wengert.compat.tensorflow.keras import optimizers as optimizers
from wengert.compat.tensorflow.functions.joining import pad as pad
def pow(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.printing import print as print
from wengert.compat.tensorflow.function import py_function as py_function
from wengert.compat.tensorflow import random as random
from wengert.compat.tensorflow.initializers import random_normal_initializer as random_normal_initializer
from wengert.compat.tensorflow.initializers import random_uniform_initializer as random_uniform_initializer
from wengert.compat.tensorflow.functions.creation import range as range
from wengert.compat.tensorflow.functions.creation import rank as rank
from wengert.compat.tensorflow.custom import recompute_grad as recompute_grad
def reduce_all(input_tensor: Any, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = False, name: _str | None = None) -> _Tensor: ...
def reduce_any(input_tensor: Any, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = False, name: _str | None = None) -> _Tensor: ...
def reduce_logsumexp(input_tensor: Any, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = False, name: _str | None = None) -> _Tensor: ...
def reduce_max(input_tensor: Any, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = False, name: _str | None = None) -> _Tensor: ...
def reduce_mean(input_tensor: Any, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = False, name: _str | None = None) -> _Tensor: ...
def reduce_min(input_tensor: Any, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = False, name: _str | None = None) -> _Tensor: ...
def reduce_prod(input_tensor: Any, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = False, name: _str | None = None) -> _Tensor: ...
def reduce_sum(input_tensor: Any, axis: _int | Sequence[_int] | None = None, keepdims: _bool | None = False, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.functions.joining import repeat as repeat
from wengert.compat.tensorflow.functions.shapes import reshape as reshape
from wengert.compat.tensorflow.functions.joining import reverse as reverse
from wengert.compat.tensorflow.functions.joining import reverse_sequence as reverse_sequence
from wengert.compat.tensorflow.functions.joining import roll as roll
def round(x: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.functions.creation import saturate_cast as saturate_cast
from wengert.compat.tensorflow import saved_model as saved_model
from wengert.compat.tensorflow.functions.binary import scalar_mul as scalar_mul
from wengert.compat.tensorflow.control import scan as scan
from wengert.compat.tensorflow.functions.segments import scatter_nd as scatter_nd
from wengert.compat.tensorflow.functions.ordering import searchsorted as searchsorted
from wengert.compat.tensorflow.functions.creation import sequence_mask as sequence_mask
from wengert.compat.tensorflow.functions.creation import shape as shape
from wengert.compat.tensorflow.functions.creation import shape_n as shape_n
def sigmoid(x: Any, name: _str | None = None) -> _Tensor: ...
def sign(x: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow import signal as signal
def sin(x: Any, name: _str | None = None) -> _Tensor: ...
def sinh(x: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.functions.creation import size as size
from wengert.compat.tensorflow.functions.indexing import slice as slice
from wengert.compat.tensorflow.functions.ordering import sort as sort
from wengert.compat.tensorflow import sparse as sparse
from wengert.compat.tensorflow.functions.joining import split as split
def sqrt(x: Any, name: _str | None = None) -> _Tensor: ...
def square(x: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.functions.shapes import squeeze as squeeze
from wengert.compat.tensorflow.functions.joining import stack as stack
from wengert.compat.tensorflow.conversion import stop_gradient as stop_gradient
from wengert.compat.tensorflow.functions.indexing import strided_slice as strided_slice
string: _DType
from wengert.compat.tensorflow import strings as strings
def subtract(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.control import switch_case as switch_case
def tan(x: Any, name: _str | None = None) -> _Tensor: ...
def tanh(x: Any, name: _str | None = None) -> _Tensor: ...
def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any, bad_indices_policy: _str = '', name: _str | None = None) -> _Tensor: ...
def tensor_scatter_nd_max(tensor: Any, indices: Any, updates: Any, bad_indices_policy: _str = '', name: _str | None = None) -> _Tensor: ...
def tensor_scatter_nd_min(tensor: Any, indices: Any, updates: Any, bad_indices_policy: _str = '', name: _str | None = None) -> _Tensor: ...
def tensor_scatter_nd_sub(tensor: Any, indices: Any, updates: Any, bad_indices_policy: _str = '', name: _str | None = None) -> _Tensor: ...
def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, bad_indices_policy: _str = '', name: _str | None = None) -> _Tensor: ...
from wengert.compat.tensorflow.functions.products import tensordot as tensordot
from wengert.compat.tensorflow.functions.joining import tile as tile
from wengert.compat.tensorflow import train as train
from wengert.compat.tensorflow.functions.shapes import transpose as transpose
from wengert.compat.tensorflow.functions.binary import truediv as truediv
def truncatediv(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
def truncatemod(x: Any, y: Any, name: _str | None = None) -> _Tensor: ...
uint16: _DType
uint32: _DType
uint64: _DType
uint8: _DType
from wengert.compat.tensorflow.functions.ordering import unique as unique
from wengert.compat.tensorflow.functions.ordering import unique_with_counts as unique_with_counts
from wengert.compat.tensorflow.functions.ordering import unravel_index as unravel_index
from wengert.compat.tensorflow.functions.joining import unstack as unstack
from wengert.compat.tensorflow.control import vectorized_map as vectorized_map
from wengert.compat.tensorflow.functions.indexing import where as where
from wengert.compat.tensorflow.control import while_loop as while_loop
from wengert.compat.tensorflow.functions.creation import zeros as zeros
from wengert.compat.tensorflow.initializers import Zeros as zeros_initializer
from wengert.compat.tensorflow.functions.creation import zeros_like as zeros_like
__version__: _str
