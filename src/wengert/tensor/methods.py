"""Layer 6 · tensor: the methods that are operations: the public functions, whose first parameter is
the tensor."""

from __future__ import annotations

from typing import Any

from wengert.ops import (
    affine as _affine,
)
from wengert.ops import (
    arrange as _arrange,
)
from wengert.ops import (
    blend as _blend,
)
from wengert.ops import (
    cast as _cast,
)
from wengert.ops import (
    choice as _choice,
)
from wengert.ops import (
    clone as _clone,
)
from wengert.ops import (
    compare as _compare,
)
from wengert.ops import (
    expand as _expand,
)
from wengert.ops import (
    extremes as _extremes,
)
from wengert.ops import (
    gather as _gather,
)
from wengert.ops import (
    index as _index,
)
from wengert.ops import (
    like as _like,
)
from wengert.ops import (
    matmul as _matmul,
)
from wengert.ops import (
    moments as _moments,
)
from wengert.ops import (
    neural as _neural,
)
from wengert.ops import (
    permute as _permute,
)
from wengert.ops import (
    place as _place,
)
from wengert.ops import (
    pointwise as _pointwise,
)
from wengert.ops import (
    reduce as _reduce,
)
from wengert.ops import (
    sample as _sample,
)
from wengert.ops import (
    select as _select,
)
from wengert.ops import (
    shape as _shape,
)
from wengert.ops import (
    split as _split,
)
from wengert.ops import (
    strided as _strided,
)
from wengert.ops import (
    typed as _typed,
)
from wengert.tensor import assign, rewrite

__all__ = ["TensorMethods"]


class TensorMethods:
    """The operations as methods; each is documented as the function of its name."""

    __slots__ = ()
    payload: Any

    abs = _pointwise.abs
    absolute = _pointwise.absolute
    negative = _pointwise.negative
    neg = _pointwise.neg
    acos = _pointwise.acos
    acosh = _pointwise.acosh
    add = _pointwise.add
    asin = _pointwise.asin
    asinh = _pointwise.asinh
    atan = _pointwise.atan
    atan2 = _pointwise.atan2
    atanh = _pointwise.atanh
    arccos = _pointwise.arccos
    arccosh = _pointwise.arccosh
    arcsin = _pointwise.arcsin
    arcsinh = _pointwise.arcsinh
    arctan = _pointwise.arctan
    arctan2 = _pointwise.arctan2
    arctanh = _pointwise.arctanh
    bitwise_and = _pointwise.bitwise_and
    bitwise_not = _pointwise.bitwise_not
    bitwise_or = _pointwise.bitwise_or
    bitwise_xor = _pointwise.bitwise_xor
    ceil = _pointwise.ceil
    cos = _pointwise.cos
    cosh = _pointwise.cosh
    conj = _pointwise.conj
    div = _pointwise.div
    divide = _pointwise.divide
    eq = _pointwise.eq
    erf = _pointwise.erf
    erfc = _pointwise.erfc
    exp = _pointwise.exp
    exp2 = _pointwise.exp2
    expm1 = _pointwise.expm1
    fix = _pointwise.fix
    floor = _pointwise.floor
    floor_divide = _pointwise.floor_divide
    fmod = _pointwise.fmod
    ge = _pointwise.ge
    greater = _pointwise.greater
    greater_equal = _pointwise.greater_equal
    gt = _pointwise.gt
    hypot = _pointwise.hypot
    isfinite = _pointwise.isfinite
    isinf = _pointwise.isinf
    isnan = _pointwise.isnan
    le = _pointwise.le
    less = _pointwise.less
    less_equal = _pointwise.less_equal
    log = _pointwise.log
    log10 = _pointwise.log10
    log1p = _pointwise.log1p
    log2 = _pointwise.log2
    logical_and = _pointwise.logical_and
    logical_not = _pointwise.logical_not
    logical_or = _pointwise.logical_or
    logical_xor = _pointwise.logical_xor
    lt = _pointwise.lt
    maximum = _pointwise.maximum
    minimum = _pointwise.minimum
    mul = _pointwise.mul
    multiply = _pointwise.multiply
    ne = _pointwise.ne
    not_equal = _pointwise.not_equal
    pow = _pointwise.pow
    reciprocal = _pointwise.reciprocal
    relu = _pointwise.relu
    remainder = _pointwise.remainder
    rsqrt = _pointwise.rsqrt
    sgn = _pointwise.sgn
    sigmoid = _pointwise.sigmoid
    sign = _pointwise.sign
    sin = _pointwise.sin
    sinh = _pointwise.sinh
    sqrt = _pointwise.sqrt
    square = _pointwise.square
    sub = _pointwise.sub
    subtract = _pointwise.subtract
    tan = _pointwise.tan
    tanh = _pointwise.tanh
    true_divide = _pointwise.true_divide
    trunc = _pointwise.trunc

    sum = _reduce.sum
    mean = _reduce.mean
    prod = _reduce.prod
    any = _reduce.any
    all = _reduce.all
    count_nonzero = _reduce.count_nonzero
    logsumexp = _reduce.logsumexp
    cumsum = _reduce.cumsum
    cumprod = _reduce.cumprod

    var = _moments.var
    std = _moments.std

    max = _extremes.max
    min = _extremes.min
    amax = _extremes.amax
    amin = _extremes.amin
    aminmax = _extremes.aminmax
    argmax = _extremes.argmax
    argmin = _extremes.argmin

    softmax = _neural.softmax
    log_softmax = _neural.log_softmax

    reshape = _shape.reshape
    view = _shape.view
    view_as = _shape.view_as
    reshape_as = _shape.reshape_as
    flatten = _shape.flatten
    unflatten = _shape.unflatten
    ravel = _shape.ravel
    contiguous = _shape.contiguous
    squeeze = _shape.squeeze
    unsqueeze = _shape.unsqueeze

    expand = _expand.expand
    expand_as = _expand.expand_as
    broadcast_to = _expand.broadcast_to

    transpose = _permute.transpose
    swapaxes = _permute.swapaxes
    swapdims = _permute.swapdims
    t = _permute.t
    permute = _permute.permute
    movedim = _permute.movedim
    moveaxis = _permute.moveaxis
    adjoint = _permute.adjoint

    flip = _arrange.flip
    fliplr = _arrange.fliplr
    flipud = _arrange.flipud
    roll = _arrange.roll
    repeat = _arrange.repeat
    tile = _arrange.tile
    repeat_interleave = _arrange.repeat_interleave
    tril = _arrange.tril
    triu = _arrange.triu
    diagonal = _arrange.diagonal
    diag_embed = _arrange.diag_embed
    diag = _arrange.diag

    as_strided = _strided.as_strided
    unfold = _strided.unfold

    select = _split.select
    narrow = _split.narrow
    unbind = _split.unbind
    split = _split.split
    split_with_sizes = _split.split_with_sizes
    chunk = _split.chunk
    tensor_split = _split.tensor_split
    hsplit = _split.hsplit
    vsplit = _split.vsplit
    dsplit = _split.dsplit

    index_put = _index.index_put

    clamp = _select.clamp
    clip = _select.clip
    clamp_min = _select.clamp_min
    clamp_max = _select.clamp_max
    masked_fill = _select.masked_fill
    masked_select = _select.masked_select
    nonzero = _select.nonzero
    argwhere = _select.argwhere

    index_select = _gather.index_select
    gather = _gather.gather
    take_along_dim = _gather.take_along_dim
    take = _gather.take
    scatter = _gather.scatter
    scatter_add = _gather.scatter_add
    index_add = _gather.index_add

    index_fill = _place.index_fill
    index_copy = _place.index_copy
    masked_scatter = _place.masked_scatter
    put = _place.put

    addcmul = _blend.addcmul
    addcdiv = _blend.addcdiv
    lerp = _blend.lerp

    mm = _matmul.mm
    mv = _matmul.mv
    dot = _matmul.dot
    vdot = _matmul.vdot
    bmm = _matmul.bmm
    matmul = _matmul.matmul

    addmm = _affine.addmm
    addmv = _affine.addmv
    baddbmm = _affine.baddbmm
    outer = _affine.outer
    inner = _affine.inner

    clone = _clone.clone

    allclose = _compare.allclose
    equal = _compare.equal
    isclose = _compare.isclose

    bernoulli = _choice.bernoulli
    multinomial = _choice.multinomial

    new_zeros = _like.new_zeros
    new_ones = _like.new_ones
    new = _typed.new
    new_empty = _like.new_empty
    new_full = _like.new_full

    to = _cast.to
    cpu = _cast.cpu
    cuda = _cast.cuda
    type_as = _cast.type_as
    bfloat16 = _cast.to_bfloat16
    chalf = _cast.to_chalf
    to_dense = _cast.to_dense
    to_sparse = _cast.to_sparse

    where = assign.where
    new_tensor = _like.new_tensor_from
    type = _cast.type_of
    float = _cast.CASTS["float"]
    double = _cast.CASTS["double"]
    half = _cast.CASTS["half"]
    int = _cast.CASTS["int"]
    long = _cast.CASTS["long"]
    short = _cast.CASTS["short"]
    char = _cast.CASTS["char"]
    byte = _cast.CASTS["byte"]
    bool = _cast.CASTS["bool"]
    cfloat = _cast.CASTS["cfloat"]
    cdouble = _cast.CASTS["cdouble"]

    T = property(_permute.reversed_dims, doc="The tensor with its dimensions in reverse order.")
    mT = property(_permute.mT, doc="The tensor with its last two dimensions swapped.")
    mH = property(_permute.mH, doc="The conjugate of `mT`.")
    H = property(_permute.H, doc="The conjugate transpose of a matrix.")
    real = property(_pointwise.real, doc="The real part; a real tensor itself.")
    imag = property(_pointwise.imag, doc="The imaginary part of a complex tensor.")

    __setitem__: Any = assign.setitem

    add_ = assign.add_
    sub_ = assign.sub_
    subtract_ = assign.sub_
    multiply_ = assign.in_place("mul")
    div_ = assign.div_
    divide_ = assign.div_
    true_divide_ = assign.div_
    square_ = assign.square_
    clamp_ = assign.clamp_
    clip_ = assign.clamp_
    clamp_min_ = assign.clamp_min_
    clamp_max_ = assign.clamp_max_
    copy_ = assign.copy_
    fill_ = assign.fill_
    zero_ = assign.zero_
    masked_fill_ = assign.masked_fill_
    index_put_ = assign.index_put_
    fill_diagonal_ = assign.fill_diagonal_
    resize_ = assign.resize_
    addcmul_ = rewrite.written(_blend.addcmul, _blend.FORMS["addcmul"])
    addcdiv_ = rewrite.written(_blend.addcdiv, _blend.FORMS["addcdiv"])
    lerp_ = rewrite.written(_blend.lerp, _blend.FORMS["lerp"])
    index_fill_ = rewrite.written(_place.index_fill, _place.FORMS["index_fill"])
    index_copy_ = rewrite.written(_place.index_copy, _place.FORMS["index_copy"])
    masked_scatter_ = rewrite.written(_place.masked_scatter, _place.FORMS["masked_scatter"])
    put_ = rewrite.written(_place.put, _place.FORMS["put"])
    cumsum_ = rewrite.computed(_reduce.cumsum)
    cumprod_ = rewrite.computed(_reduce.cumprod)
    tril_ = rewrite.computed(_arrange.tril)
    triu_ = rewrite.computed(_arrange.triu)
    index_add_ = rewrite.computed(_gather.index_add, apart=True)
    scatter_ = rewrite.computed(_gather.scatter, apart=True)
    scatter_add_ = rewrite.computed(_gather.scatter_add, apart=True)
    addmm_ = rewrite.computed(_affine.addmm)
    addmv_ = rewrite.computed(_affine.addmv)
    baddbmm_ = rewrite.computed(_affine.baddbmm)
    as_strided_ = rewrite.reshaped(_strided.as_strided)
    squeeze_ = rewrite.reshaped(_shape.squeeze)
    unsqueeze_ = rewrite.reshaped(_shape.unsqueeze)
    transpose_ = rewrite.reshaped(_permute.transpose)
    swapaxes_ = rewrite.reshaped(_permute.swapaxes)
    swapdims_ = rewrite.reshaped(_permute.swapdims)
    t_ = rewrite.reshaped(_permute.t)
    uniform_ = assign.random_in_place("uniform_", _sample.draw_uniform)
    normal_ = assign.random_in_place("normal_", _sample.draw_normal)
    random_ = assign.random_in_place("random_", _sample.draw_integers)
    bernoulli_ = assign.random_in_place("bernoulli_", _sample.draw_bernoulli)
    exponential_ = assign.random_in_place("exponential_", _sample.draw_exponential)
    cauchy_ = assign.random_in_place("cauchy_", _sample.draw_cauchy)
    log_normal_ = assign.random_in_place("log_normal_", _sample.draw_log_normal)
    geometric_ = assign.random_in_place("geometric_", _sample.draw_geometric)

    __iadd__ = assign.operator_in_place("add")
    __isub__ = assign.operator_in_place("sub")
    __imul__ = assign.operator_in_place("mul")
    __itruediv__ = assign.operator_in_place("div")
    __ipow__ = assign.operator_in_place("pow")
    __imod__ = assign.operator_in_place("remainder")
    __ifloordiv__ = assign.operator_in_place("floor_divide")
    __iand__ = assign.operator_in_place("bitwise_and")
    __ior__ = assign.operator_in_place("bitwise_or")
    __ixor__ = assign.operator_in_place("bitwise_xor")

    abs_ = assign.abs_
    acos_ = assign.in_place("acos")
    acosh_ = assign.in_place("acosh")
    asin_ = assign.in_place("asin")
    asinh_ = assign.in_place("asinh")
    atan_ = assign.in_place("atan")
    atan2_ = assign.in_place("atan2")
    atanh_ = assign.in_place("atanh")
    bitwise_and_ = assign.in_place("bitwise_and")
    bitwise_not_ = assign.in_place("bitwise_not")
    bitwise_or_ = assign.in_place("bitwise_or")
    bitwise_xor_ = assign.in_place("bitwise_xor")
    ceil_ = assign.in_place("ceil")
    cos_ = assign.in_place("cos")
    cosh_ = assign.in_place("cosh")
    eq_ = assign.in_place("eq")
    erf_ = assign.in_place("erf")
    erfc_ = assign.in_place("erfc")
    exp_ = assign.in_place("exp")
    exp2_ = assign.in_place("exp2")
    expm1_ = assign.in_place("expm1")
    floor_ = assign.in_place("floor")
    floor_divide_ = assign.in_place("floor_divide")
    fmod_ = assign.in_place("fmod")
    ge_ = assign.in_place("ge")
    gt_ = assign.in_place("gt")
    hypot_ = assign.in_place("hypot")
    le_ = assign.in_place("le")
    log_ = assign.in_place("log")
    log10_ = assign.in_place("log10")
    log1p_ = assign.in_place("log1p")
    log2_ = assign.in_place("log2")
    logical_and_ = assign.in_place("logical_and")
    logical_not_ = assign.in_place("logical_not")
    logical_or_ = assign.in_place("logical_or")
    logical_xor_ = assign.in_place("logical_xor")
    lt_ = assign.in_place("lt")
    mul_ = assign.in_place("mul")
    ne_ = assign.in_place("ne")
    neg_ = assign.in_place("neg")
    pow_ = assign.in_place("pow")
    reciprocal_ = assign.in_place("reciprocal")
    relu_ = assign.in_place("relu")
    remainder_ = assign.in_place("remainder")
    rsqrt_ = assign.in_place("rsqrt")
    sgn_ = assign.in_place("sgn")
    sigmoid_ = assign.in_place("sigmoid")
    sign_ = assign.in_place("sign")
    sin_ = assign.in_place("sin")
    sinh_ = assign.in_place("sinh")
    sqrt_ = assign.in_place("sqrt")
    tan_ = assign.in_place("tan")
    tanh_ = assign.in_place("tanh")
    trunc_ = assign.in_place("trunc")
    absolute_ = assign.abs_
    arccos_ = assign.in_place("acos")
    arccosh_ = assign.in_place("acosh")
    arcsin_ = assign.in_place("asin")
    arcsinh_ = assign.in_place("asinh")
    arctan_ = assign.in_place("atan")
    arctan2_ = assign.in_place("atan2")
    arctanh_ = assign.in_place("atanh")
    fix_ = assign.in_place("trunc")
    greater_ = assign.in_place("gt")
    greater_equal_ = assign.in_place("ge")
    less_ = assign.in_place("lt")
    less_equal_ = assign.in_place("le")
    negative_ = assign.in_place("neg")
    not_equal_ = assign.in_place("ne")
