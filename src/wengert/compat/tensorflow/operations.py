"""Layer 9 · compat: the functions of TensorFlow's package itself, ``tf.add`` and so on."""

from __future__ import annotations

from wengert.compat.tensorflow.functions.binary import (
    add as add,
)
from wengert.compat.tensorflow.functions.binary import (
    atan2 as atan2,
)
from wengert.compat.tensorflow.functions.binary import (
    divide as divide,
)
from wengert.compat.tensorflow.functions.binary import (
    maximum as maximum,
)
from wengert.compat.tensorflow.functions.binary import (
    minimum as minimum,
)
from wengert.compat.tensorflow.functions.binary import (
    multiply as multiply,
)
from wengert.compat.tensorflow.functions.binary import (
    pow as pow,
)
from wengert.compat.tensorflow.functions.binary import (
    scalar_mul as scalar_mul,
)
from wengert.compat.tensorflow.functions.binary import (
    subtract as subtract,
)
from wengert.compat.tensorflow.functions.binary import (
    truediv as truediv,
)
from wengert.compat.tensorflow.functions.binary import (
    truncatediv as truncatediv,
)
from wengert.compat.tensorflow.functions.binary import (
    truncatemod as truncatemod,
)
from wengert.compat.tensorflow.functions.casting import (
    bitcast as bitcast,
)
from wengert.compat.tensorflow.functions.casting import (
    cast as cast,
)
from wengert.compat.tensorflow.functions.casting import (
    complex as complex,
)
from wengert.compat.tensorflow.functions.casting import (
    saturate_cast as saturate_cast,
)
from wengert.compat.tensorflow.functions.comparisons import (
    equal as equal,
)
from wengert.compat.tensorflow.functions.comparisons import (
    greater as greater,
)
from wengert.compat.tensorflow.functions.comparisons import (
    greater_equal as greater_equal,
)
from wengert.compat.tensorflow.functions.comparisons import (
    less as less,
)
from wengert.compat.tensorflow.functions.comparisons import (
    less_equal as less_equal,
)
from wengert.compat.tensorflow.functions.comparisons import (
    logical_and as logical_and,
)
from wengert.compat.tensorflow.functions.comparisons import (
    logical_or as logical_or,
)
from wengert.compat.tensorflow.functions.comparisons import (
    not_equal as not_equal,
)
from wengert.compat.tensorflow.functions.counting import (
    histogram_fixed_width as histogram_fixed_width,
)
from wengert.compat.tensorflow.functions.creation import (
    eye as eye,
)
from wengert.compat.tensorflow.functions.creation import (
    fill as fill,
)
from wengert.compat.tensorflow.functions.creation import (
    identity_n as identity_n,
)
from wengert.compat.tensorflow.functions.creation import (
    linspace as linspace,
)
from wengert.compat.tensorflow.functions.creation import (
    one_hot as one_hot,
)
from wengert.compat.tensorflow.functions.creation import (
    ones as ones,
)
from wengert.compat.tensorflow.functions.creation import (
    ones_like as ones_like,
)
from wengert.compat.tensorflow.functions.creation import (
    range as range,
)
from wengert.compat.tensorflow.functions.creation import (
    rank as rank,
)
from wengert.compat.tensorflow.functions.creation import (
    sequence_mask as sequence_mask,
)
from wengert.compat.tensorflow.functions.creation import (
    shape as shape,
)
from wengert.compat.tensorflow.functions.creation import (
    shape_n as shape_n,
)
from wengert.compat.tensorflow.functions.creation import (
    size as size,
)
from wengert.compat.tensorflow.functions.creation import (
    zeros as zeros,
)
from wengert.compat.tensorflow.functions.creation import (
    zeros_like as zeros_like,
)
from wengert.compat.tensorflow.functions.decompositions import (
    eig as eig,
)
from wengert.compat.tensorflow.functions.decompositions import (
    eigvals as eigvals,
)
from wengert.compat.tensorflow.functions.indexing import (
    boolean_mask as boolean_mask,
)
from wengert.compat.tensorflow.functions.indexing import (
    gather as gather,
)
from wengert.compat.tensorflow.functions.indexing import (
    gather_nd as gather_nd,
)
from wengert.compat.tensorflow.functions.indexing import (
    slice as slice,
)
from wengert.compat.tensorflow.functions.indexing import (
    strided_slice as strided_slice,
)
from wengert.compat.tensorflow.functions.indexing import (
    where as where,
)
from wengert.compat.tensorflow.functions.joining import (
    concat as concat,
)
from wengert.compat.tensorflow.functions.joining import (
    pad as pad,
)
from wengert.compat.tensorflow.functions.joining import (
    repeat as repeat,
)
from wengert.compat.tensorflow.functions.joining import (
    reverse as reverse,
)
from wengert.compat.tensorflow.functions.joining import (
    reverse_sequence as reverse_sequence,
)
from wengert.compat.tensorflow.functions.joining import (
    roll as roll,
)
from wengert.compat.tensorflow.functions.joining import (
    split as split,
)
from wengert.compat.tensorflow.functions.joining import (
    stack as stack,
)
from wengert.compat.tensorflow.functions.joining import (
    tile as tile,
)
from wengert.compat.tensorflow.functions.joining import (
    unstack as unstack,
)
from wengert.compat.tensorflow.functions.norms import (
    clip_by_global_norm as clip_by_global_norm,
)
from wengert.compat.tensorflow.functions.norms import (
    clip_by_norm as clip_by_norm,
)
from wengert.compat.tensorflow.functions.norms import (
    clip_by_value as clip_by_value,
)
from wengert.compat.tensorflow.functions.norms import (
    norm as norm,
)
from wengert.compat.tensorflow.functions.ordering import (
    argmax as argmax,
)
from wengert.compat.tensorflow.functions.ordering import (
    argmin as argmin,
)
from wengert.compat.tensorflow.functions.ordering import (
    argsort as argsort,
)
from wengert.compat.tensorflow.functions.ordering import (
    searchsorted as searchsorted,
)
from wengert.compat.tensorflow.functions.ordering import (
    sort as sort,
)
from wengert.compat.tensorflow.functions.ordering import (
    unique as unique,
)
from wengert.compat.tensorflow.functions.ordering import (
    unique_with_counts as unique_with_counts,
)
from wengert.compat.tensorflow.functions.ordering import (
    unravel_index as unravel_index,
)
from wengert.compat.tensorflow.functions.pointwise import (
    abs as abs,
)
from wengert.compat.tensorflow.functions.pointwise import (
    acos as acos,
)
from wengert.compat.tensorflow.functions.pointwise import (
    acosh as acosh,
)
from wengert.compat.tensorflow.functions.pointwise import (
    asin as asin,
)
from wengert.compat.tensorflow.functions.pointwise import (
    asinh as asinh,
)
from wengert.compat.tensorflow.functions.pointwise import (
    atan as atan,
)
from wengert.compat.tensorflow.functions.pointwise import (
    atanh as atanh,
)
from wengert.compat.tensorflow.functions.pointwise import (
    cos as cos,
)
from wengert.compat.tensorflow.functions.pointwise import (
    cosh as cosh,
)
from wengert.compat.tensorflow.functions.pointwise import (
    exp as exp,
)
from wengert.compat.tensorflow.functions.pointwise import (
    floor as floor,
)
from wengert.compat.tensorflow.functions.pointwise import (
    logical_not as logical_not,
)
from wengert.compat.tensorflow.functions.pointwise import (
    negative as negative,
)
from wengert.compat.tensorflow.functions.pointwise import (
    round as round,
)
from wengert.compat.tensorflow.functions.pointwise import (
    sigmoid as sigmoid,
)
from wengert.compat.tensorflow.functions.pointwise import (
    sign as sign,
)
from wengert.compat.tensorflow.functions.pointwise import (
    sin as sin,
)
from wengert.compat.tensorflow.functions.pointwise import (
    sinh as sinh,
)
from wengert.compat.tensorflow.functions.pointwise import (
    sqrt as sqrt,
)
from wengert.compat.tensorflow.functions.pointwise import (
    square as square,
)
from wengert.compat.tensorflow.functions.pointwise import (
    tan as tan,
)
from wengert.compat.tensorflow.functions.pointwise import (
    tanh as tanh,
)
from wengert.compat.tensorflow.functions.products import (
    add_n as add_n,
)
from wengert.compat.tensorflow.functions.products import (
    einsum as einsum,
)
from wengert.compat.tensorflow.functions.products import (
    matmul as matmul,
)
from wengert.compat.tensorflow.functions.products import (
    tensordot as tensordot,
)
from wengert.compat.tensorflow.functions.reductions import (
    cumsum as cumsum,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_all as reduce_all,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_any as reduce_any,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_logsumexp as reduce_logsumexp,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_max as reduce_max,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_mean as reduce_mean,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_min as reduce_min,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_prod as reduce_prod,
)
from wengert.compat.tensorflow.functions.reductions import (
    reduce_sum as reduce_sum,
)
from wengert.compat.tensorflow.functions.scattering import (
    dynamic_partition as dynamic_partition,
)
from wengert.compat.tensorflow.functions.scattering import (
    dynamic_stitch as dynamic_stitch,
)
from wengert.compat.tensorflow.functions.scattering import (
    scatter_nd as scatter_nd,
)
from wengert.compat.tensorflow.functions.scattering import (
    tensor_scatter_nd_add as tensor_scatter_nd_add,
)
from wengert.compat.tensorflow.functions.scattering import (
    tensor_scatter_nd_max as tensor_scatter_nd_max,
)
from wengert.compat.tensorflow.functions.scattering import (
    tensor_scatter_nd_min as tensor_scatter_nd_min,
)
from wengert.compat.tensorflow.functions.scattering import (
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
)
from wengert.compat.tensorflow.functions.scattering import (
    tensor_scatter_nd_update as tensor_scatter_nd_update,
)
from wengert.compat.tensorflow.functions.shapes import (
    broadcast_dynamic_shape as broadcast_dynamic_shape,
)
from wengert.compat.tensorflow.functions.shapes import (
    broadcast_static_shape as broadcast_static_shape,
)
from wengert.compat.tensorflow.functions.shapes import (
    broadcast_to as broadcast_to,
)
from wengert.compat.tensorflow.functions.shapes import (
    ensure_shape as ensure_shape,
)
from wengert.compat.tensorflow.functions.shapes import (
    expand_dims as expand_dims,
)
from wengert.compat.tensorflow.functions.shapes import (
    meshgrid as meshgrid,
)
from wengert.compat.tensorflow.functions.shapes import (
    reshape as reshape,
)
from wengert.compat.tensorflow.functions.shapes import (
    squeeze as squeeze,
)
from wengert.compat.tensorflow.functions.shapes import (
    transpose as transpose,
)
from wengert.compat.tensorflow.initializers import constant_initializer as constant_initializer
from wengert.compat.tensorflow.initializers import ones_initializer as ones_initializer
from wengert.compat.tensorflow.initializers import (
    random_normal_initializer as random_normal_initializer,
)
from wengert.compat.tensorflow.initializers import (
    random_uniform_initializer as random_uniform_initializer,
)
from wengert.compat.tensorflow.initializers import zeros_initializer as zeros_initializer

__all__ = sorted(name for name in globals() if name[0] != "_" and name != "annotations")
