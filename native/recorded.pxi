# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
# cython: binding=True, initializedcheck=False
"""Nodes, rule applications and recorders, compiled. Written by native/generate.py."""

cimport numpy as cnp
import numpy as np

from wengert.tape.base cimport NodeBase, TensorBase
from wengert.tape.views cimport attach_view, attach_views

from wengert.interp.eager import K
from wengert.prims.table import TABLE
from wengert.tape import base, masked, modes, node as nodes, rules

cnp.import_array()

cdef extern from "arrays.h":
    int wg_kind(object value)
    bint wg_same_shape(object left, object right)
    object wg_add(object left, object right)
    object wg_sub(object left, object right)
    object wg_mul(object left, object right)
    object wg_div(object left, object right)
    object wg_neg(object value)

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

# under the names that they have in Python
cdef object F = K
cdef object FREED = base.FREED
cdef object LEAF = base.LEAF
cdef object MODE = modes.MODE
cdef object NO_GRAD = modes.NO_GRAD
cdef object F32 = np.dtype(np.float32)
cdef object F64 = np.dtype(np.float64)
cdef tuple SAME = (F32, F64)
cdef object ndarray = np.ndarray
cdef object next_sequence = nodes.next_sequence
cdef object check_result = nodes.check_result
cdef object check_saved = nodes.check_saved
cdef object apply_rules = rules.apply_rules
cdef object mark = masked.mark
cdef object unmasked = masked.unmasked
cdef object sum_to = K.sum_to
cdef tuple FREED_CELL = (-1, None)
cdef list INVALID = masked.INVALID

cdef inline object _mode():
    return wg_mode(MODE)

cdef inline object version_of(TensorBase tensor):
    return 0 if tensor.vc is None else tensor.vc[0]

NODES = {}
RECORDERS = {}
RECORDS = {}
