# cython: language_level=3
cimport numpy as cnp
cnp.import_array()

cdef extern from "arrays.h":
    int wg_add_into(object into, object value) except -1

def add_into(have, more, /):
    wg_add_into(have, more)
    return have
