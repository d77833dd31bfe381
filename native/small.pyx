# cython: language_level=3
"""The loops of ``arrays.h``, compiled once for all modules of kernels."""
cimport numpy as cnp

cnp.import_array()

cdef extern from "arrays.h":
    object c_add "wg_add"(object left, object right)
    object c_sub "wg_sub"(object left, object right)
    object c_mul "wg_mul"(object left, object right)
    object c_div "wg_div"(object left, object right)
    object c_lt "wg_lt"(object left, object right)
    object c_le "wg_le"(object left, object right)
    object c_gt "wg_gt"(object left, object right)
    object c_ge "wg_ge"(object left, object right)
    object c_maximum "wg_maximum"(object left, object right)
    object c_minimum "wg_minimum"(object left, object right)
    object c_iadd "wg_iadd"(object left, object right)
    object c_isub "wg_isub"(object left, object right)
    object c_imul "wg_imul"(object left, object right)
    object c_idiv "wg_idiv"(object left, object right)
    object c_neg "wg_neg"(object value)
    object c_sqrt "wg_sqrt"(object value)
    object c_where "wg_where"(object mask, object left, object right)

cdef object wg_add(object left, object right):
    return c_add(left, right)

cdef object wg_sub(object left, object right):
    return c_sub(left, right)

cdef object wg_mul(object left, object right):
    return c_mul(left, right)

cdef object wg_div(object left, object right):
    return c_div(left, right)

cdef object wg_lt(object left, object right):
    return c_lt(left, right)

cdef object wg_le(object left, object right):
    return c_le(left, right)

cdef object wg_gt(object left, object right):
    return c_gt(left, right)

cdef object wg_ge(object left, object right):
    return c_ge(left, right)

cdef object wg_maximum(object left, object right):
    return c_maximum(left, right)

cdef object wg_minimum(object left, object right):
    return c_minimum(left, right)

cdef object wg_iadd(object left, object right):
    return c_iadd(left, right)

cdef object wg_isub(object left, object right):
    return c_isub(left, right)

cdef object wg_imul(object left, object right):
    return c_imul(left, right)

cdef object wg_idiv(object left, object right):
    return c_idiv(left, right)

cdef object wg_neg(object value):
    return c_neg(value)

cdef object wg_sqrt(object value):
    return c_sqrt(value)

cdef object wg_where(object mask, object left, object right):
    return c_where(mask, left, right)
