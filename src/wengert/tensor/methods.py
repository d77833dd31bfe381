"""Layer 6 · tensor: the methods that are operations: the public functions, whose first parameter is
the tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.ops import cast as _cast
from wengert.ops import permute as _permute
from wengert.ops import pointwise as _pointwise
from wengert.tensor import assign, regions


class TensorMethods:
    """The operations as methods; each is documented at the function of the same name."""

    __slots__ = ()
    _payload: Any

    if TYPE_CHECKING:
        # the methods that `wengert.tensor.lazy` installs
        def __getattr__(self, name: str) -> Any: ...

    vars().update(_pointwise.FUNCTIONS)
    vars().update(assign.made_in_place())
    add = _pointwise.add
    conj = _pointwise.conj
    div = _pointwise.div
    divide = _pointwise.divide
    pow = _pointwise.pow
    square = _pointwise.square
    sub = _pointwise.sub
    subtract = _pointwise.subtract
    true_divide = _pointwise.true_divide

    bfloat16 = _cast.to_bfloat16
    chalf = _cast.to_chalf

    where = assign.where
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

    T = property(_permute.transposed)
    mT = property(_permute.mT)
    mH = property(_permute.mH)
    H = property(_permute.H)
    real = property(
        _pointwise.real,
        assign.writing(_pointwise.real),
        doc="The real part; a real tensor itself. What is assigned is written into it.",
    )
    imag = property(
        _pointwise.imag,
        assign.writing(_pointwise.imag),
        doc="The imaginary part of a complex tensor. What is assigned is written into it.",
    )

    __setitem__: Any = assign.setitem
    __delitem__: Any = assign.delitem

    add_ = assign.add_
    sub_ = assign.sub_
    subtract_ = assign.sub_
    pow_ = assign.pow_
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
    resize_ = regions.resize_
    resize_as_ = regions.resize_as_
    set_ = regions.set_

    abs_ = assign.abs_
    absolute_ = assign.abs_
