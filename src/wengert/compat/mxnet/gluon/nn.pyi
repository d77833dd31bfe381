"""What `wengert.compat.mxnet.gluon.nn` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from builtins import bool as _bool, float as _float, int as _int, str as _str, type as _type
from collections.abc import Callable, Sequence
from typing import Any

from wengert.compat.mxnet.gluon.basic_layers import Activation as Activation
from wengert.compat.mxnet.gluon.basic_layers import _Average as _AvgPool1D_
class AvgPool1D(_AvgPool1D_):
    def __init__(self, pool_size: _int | Sequence[_int] = 2, strides: _int | Sequence[_int] | None = None, padding: Any = 0, layout: Any = None, ceil_mode: _bool = False, count_include_pad: _bool = True, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import _Average as _AvgPool2D_
class AvgPool2D(_AvgPool2D_):
    def __init__(self, pool_size: _int | Sequence[_int] = 2, strides: _int | Sequence[_int] | None = None, padding: Any = 0, layout: Any = None, ceil_mode: _bool = False, count_include_pad: _bool = True, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import _Average as _AvgPool3D_
class AvgPool3D(_AvgPool3D_):
    def __init__(self, pool_size: _int | Sequence[_int] = 2, strides: _int | Sequence[_int] | None = None, padding: Any = 0, layout: Any = None, ceil_mode: _bool = False, count_include_pad: _bool = True, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import BatchNorm as _BatchNorm_
class BatchNorm(_BatchNorm_):
    def __init__(self, axis: Any = 1, momentum: _float = 0.9, epsilon: _float = 1e-05, center: _bool = True, scale: _bool = True, use_global_stats: _bool = False, beta_initializer: Any = 'zeros', gamma_initializer: Any = 'ones', running_mean_initializer: Any = 'zeros', running_variance_initializer: Any = 'ones', in_channels: Any = 0, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.block import Block as Block
from wengert.compat.mxnet.gluon.basic_layers import _Conv as _Conv1D_
class Conv1D(_Conv1D_):
    def __init__(self, channels: _int, kernel_size: _int | Sequence[_int], strides: _int | Sequence[_int] = 1, padding: Any = 0, dilation: Any = 1, groups: _int = 1, layout: Any = None, activation: _str | Callable[..., Any] | None = None, use_bias: _bool = True, weight_initializer: Any = None, bias_initializer: Any = 'zeros', in_channels: Any = 0, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import _Transposed as _Conv1DTranspose_
class Conv1DTranspose(_Conv1DTranspose_):
    def __init__(self, channels: _int, kernel_size: _int | Sequence[_int], strides: _int | Sequence[_int] = 1, padding: Any = 0, output_padding: Any = 0, dilation: Any = 1, groups: _int = 1, layout: Any = None, activation: _str | Callable[..., Any] | None = None, use_bias: _bool = True, weight_initializer: Any = None, bias_initializer: Any = 'zeros', in_channels: Any = 0, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import _Conv as _Conv2D_
class Conv2D(_Conv2D_):
    def __init__(self, channels: _int, kernel_size: _int | Sequence[_int], strides: _int | Sequence[_int] = 1, padding: Any = 0, dilation: Any = 1, groups: _int = 1, layout: Any = None, activation: _str | Callable[..., Any] | None = None, use_bias: _bool = True, weight_initializer: Any = None, bias_initializer: Any = 'zeros', in_channels: Any = 0, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import _Transposed as _Conv2DTranspose_
class Conv2DTranspose(_Conv2DTranspose_):
    def __init__(self, channels: _int, kernel_size: _int | Sequence[_int], strides: _int | Sequence[_int] = 1, padding: Any = 0, output_padding: Any = 0, dilation: Any = 1, groups: _int = 1, layout: Any = None, activation: _str | Callable[..., Any] | None = None, use_bias: _bool = True, weight_initializer: Any = None, bias_initializer: Any = 'zeros', in_channels: Any = 0, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import _Conv as _Conv3D_
class Conv3D(_Conv3D_):
    def __init__(self, channels: _int, kernel_size: _int | Sequence[_int], strides: _int | Sequence[_int] = 1, padding: Any = 0, dilation: Any = 1, groups: _int = 1, layout: Any = None, activation: _str | Callable[..., Any] | None = None, use_bias: _bool = True, weight_initializer: Any = None, bias_initializer: Any = 'zeros', in_channels: Any = 0, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import _Transposed as _Conv3DTranspose_
class Conv3DTranspose(_Conv3DTranspose_):
    def __init__(self, channels: _int, kernel_size: _int | Sequence[_int], strides: _int | Sequence[_int] = 1, padding: Any = 0, output_padding: Any = 0, dilation: Any = 1, groups: _int = 1, layout: Any = None, activation: _str | Callable[..., Any] | None = None, use_bias: _bool = True, weight_initializer: Any = None, bias_initializer: Any = 'zeros', in_channels: Any = 0, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import Dense as _Dense_
class Dense(_Dense_):
    def __init__(self, units: _int, activation: _str | Callable[..., Any] | None = None, use_bias: _bool = True, flatten: _bool = True, dtype: Any = 'float32', weight_initializer: Any = None, bias_initializer: Any = 'zeros', in_units: Any = 0, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import Dropout as _Dropout_
class Dropout(_Dropout_):
    def __init__(self, rate: _float, axes: Any = (), *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import ELU as _ELU_
class ELU(_ELU_):
    def __init__(self, alpha: Any = 1.0, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import Embedding as _Embedding_
class Embedding(_Embedding_):
    def __init__(self, input_dim: Any, output_dim: Any, dtype: Any = 'float32', weight_initializer: Any = None, sparse_grad: _bool = False, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import Flatten as Flatten
from wengert.compat.mxnet.gluon.basic_layers import GELU as GELU
GlobalAvgPool1D: _type
GlobalAvgPool2D: _type
GlobalAvgPool3D: _type
GlobalMaxPool1D: _type
GlobalMaxPool2D: _type
GlobalMaxPool3D: _type
from wengert.compat.mxnet.gluon.basic_layers import GroupNorm as _GroupNorm_
class GroupNorm(_GroupNorm_):
    def __init__(self, num_groups: Any = 1, epsilon: _float = 1e-05, center: _bool = True, scale: _bool = True, beta_initializer: Any = 'zeros', gamma_initializer: Any = 'ones', *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.block import HybridBlock as HybridBlock
from wengert.compat.mxnet.gluon.basic_layers import HybridLambda as HybridLambda
from wengert.compat.mxnet.gluon.basic_layers import HybridSequential as HybridSequential
from wengert.compat.mxnet.gluon.basic_layers import Identity as Identity
from wengert.compat.mxnet.gluon.basic_layers import InstanceNorm as _InstanceNorm_
class InstanceNorm(_InstanceNorm_):
    def __init__(self, scale: _bool = False, axis: Any = 1, epsilon: _float = 1e-05, center: _bool = True, beta_initializer: Any = 'zeros', gamma_initializer: Any = 'ones', in_channels: Any = 0, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import Lambda as Lambda
from wengert.compat.mxnet.gluon.basic_layers import LayerNorm as _LayerNorm_
class LayerNorm(_LayerNorm_):
    def __init__(self, axis: Any = -1, epsilon: _float = 1e-05, center: _bool = True, scale: _bool = True, beta_initializer: Any = 'zeros', gamma_initializer: Any = 'ones', in_channels: Any = 0, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import LeakyReLU as _LeakyReLU_
class LeakyReLU(_LeakyReLU_):
    def __init__(self, alpha: Any, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import _Pool as _MaxPool1D_
class MaxPool1D(_MaxPool1D_):
    def __init__(self, pool_size: _int | Sequence[_int] = 2, strides: _int | Sequence[_int] | None = None, padding: Any = 0, layout: Any = None, ceil_mode: _bool = False, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import _Pool as _MaxPool2D_
class MaxPool2D(_MaxPool2D_):
    def __init__(self, pool_size: _int | Sequence[_int] = 2, strides: _int | Sequence[_int] | None = None, padding: Any = 0, layout: Any = None, ceil_mode: _bool = False, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import _Pool as _MaxPool3D_
class MaxPool3D(_MaxPool3D_):
    def __init__(self, pool_size: _int | Sequence[_int] = 2, strides: _int | Sequence[_int] | None = None, padding: Any = 0, layout: Any = None, ceil_mode: _bool = False, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import PReLU as _PReLU_
class PReLU(_PReLU_):
    def __init__(self, alpha_initializer: Any = 'one', in_channels: Any = 1, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import ReflectionPad2D as _ReflectionPad2D_
class ReflectionPad2D(_ReflectionPad2D_):
    def __init__(self, padding: Any = 0, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import SELU as SELU
from wengert.compat.mxnet.gluon.basic_layers import Sequential as Sequential
from wengert.compat.mxnet.gluon.basic_layers import Swish as _Swish_
class Swish(_Swish_):
    def __init__(self, beta: Any = 1.0, *, prefix: Any = None, params: Any = None) -> None: ...
from wengert.compat.mxnet.gluon.basic_layers import SyncBatchNorm as SyncBatchNorm
