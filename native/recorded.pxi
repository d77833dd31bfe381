# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
# cython: binding=True, initializedcheck=False
"""Nodes, rule applications and recorders, compiled. Written by native/generate.py."""

cimport numpy as cnp
import numpy as np

from wengert.tape.base cimport NodeBase, TensorBase

from wengert.interp.eager import K
from wengert.prims.table import TABLE
from wengert.tape.base import FREED, LEAF
from wengert.tape.masked import INVALID, mark, unmasked
from wengert.tape.modes import MODE, NO_GRAD
from wengert.tape.node import check_result, check_saved, next_sequence
from wengert.tape.views import attach_view

cnp.import_array()

cdef extern from "arrays.h":
    int wg_kind(object value)
    bint wg_same_shape(object left, object right)
    object wg_add(object left, object right)
    object wg_sub(object left, object right)
    object wg_mul(object left, object right)
    object wg_div(object left, object right)

cdef extern from *:
    """
    /* An instance of a subclass in Python, made as its base in C is. */
    static CYTHON_INLINE PyObject* wg_new(PyObject* base, PyObject* cls, PyObject* empty) {
        return ((PyTypeObject*)base)->tp_new((PyTypeObject*)cls, empty, NULL);
    }
    static CYTHON_INLINE PyObject* wg_mode(PyObject* variable) {
        PyObject* value = NULL;
        if (PyContextVar_Get(variable, Py_None, &value) < 0) return NULL;
        return value;
    }
    """
    object wg_new(object base, object cls, object empty)
    object wg_mode(object variable)

cdef object _FREED = FREED
cdef object _LEAF = LEAF
cdef object _MODE = MODE
cdef object _NO_GRAD = NO_GRAD
cdef object _K = K
cdef object _ndarray = np.ndarray
cdef object _next = next_sequence
cdef object _sum_to = K.sum_to
cdef tuple _FREED_CELL = (-1, None)
cdef list _INVALID = INVALID

cdef inline object _version(TensorBase tensor):
    return 0 if tensor.vc is None else tensor.vc[0]

NODES = {}
RECORDERS = {}
RECORDS = {}
