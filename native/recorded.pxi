# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
# cython: binding=True, initializedcheck=False
"""Nodes, rule applications and recorders, compiled. Written by native/generate.py."""

cimport numpy as cnp
import numpy as np

from wengert.tape.base cimport NodeBase, TensorBase
from wengert.tape.sequence cimport numbered
from wengert.tape.views cimport attach_view, attach_views

from wengert.interp.eager import K
from wengert.tape import base, masked, modes, rules, saved, sites

cnp.import_array()

cdef extern from "arrays.h":
    int wg_kind(object value)
    bint wg_same_shape(object left, object right)
    Py_ssize_t wg_size(object value)
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
    /* Whether the user's frame is outside of one that runs `code`: 1, 0, or -1 with an error. */
    static CYTHON_INLINE int wg_leads(PyObject* leads, PyCodeObject* code) {
    #ifndef Py_GIL_DISABLED
        /* the file of the last one that does not, as a rule the next one, too */
        static PyObject* last = NULL;
        if (code->co_filename == last) return 0;
    #endif
        PyObject* leading = PyDict_GetItemWithError(leads, code->co_filename);
        if (leading == NULL && !PyErr_Occurred()) {
            /* not met before: True and False outlive this */
            leading = PyObject_GetItem(leads, code->co_filename);
            Py_XDECREF(leading);
        }
        if (leading == NULL) return -1;
    #ifndef Py_GIL_DISABLED
        if (leading != Py_True) Py_XSETREF(last, Py_NewRef(code->co_filename));
    #endif
        return leading == Py_True;
    }
    /* The code of the user's innermost frame, and where it is: see NOTE [sites]. The interpreter
       need not make a frame object to be asked, where its structures are known. */
    #if PY_VERSION_HEX < 0x030D0000
    #ifndef Py_BUILD_CORE
    #define Py_BUILD_CORE 1
    #endif
    #include "internal/pycore_frame.h"
    static PyObject* wg_place(PyObject* leads, long long* at) {
        _PyInterpreterFrame* frame = PyThreadState_Get()->cframe->current_frame;
        *at = 0;
        for (; frame != NULL; frame = frame->previous) {
            if (_PyFrame_IsIncomplete(frame)) continue;
            int leading = wg_leads(leads, frame->f_code);
            if (leading < 0) return NULL;
            if (leading) continue;
            *at = _PyInterpreterFrame_LASTI(frame) * (long long)sizeof(_Py_CODEUNIT);
            return Py_NewRef((PyObject*)frame->f_code);
        }
        Py_RETURN_NONE;
    }
    #else
    static PyObject* wg_place(PyObject* leads, long long* at) {
        PyFrameObject* frame = PyEval_GetFrame();
        Py_XINCREF(frame);
        *at = 0;
        while (frame != NULL) {
            PyCodeObject* code = PyFrame_GetCode(frame);
            int leading = wg_leads(leads, code);
            if (leading == 0) {
                *at = PyFrame_GetLasti(frame);
                Py_DECREF(frame);
                return (PyObject*)code;
            }
            Py_DECREF(code);
            Py_SETREF(frame, leading < 0 ? NULL : PyFrame_GetBack(frame));
            if (leading < 0) return NULL;
        }
        Py_RETURN_NONE;
    }
    #endif
    """
    object wg_new(object base, object cls, object empty)
    object wg_mode(object variable)
    object wg_place(object leads, long long* at)

# under the names that they have in Python
cdef object F = K
cdef object FREED = base.FREED
cdef object LEAF = base.LEAF
cdef object version_then = base.version_then
cdef object MODE = modes.MODE
cdef object NO_GRAD = modes.NO_GRAD
cdef object F32 = np.dtype(np.float32)
cdef object F64 = np.dtype(np.float64)
cdef tuple SAME = (F32, F64)
cdef object PLAIN = frozenset({np.ndarray, np.float32, np.float64})
cdef object ndarray = np.ndarray
cdef object check_result = saved.check_result
cdef object check_saved = saved.check_saved
cdef object apply_rules = rules.apply_rules
cdef object mark = masked.mark
cdef object unmasked = masked.unmasked
cdef object sum_to = K.sum_to
cdef object LEADS = sites.LEADS
cdef tuple FREED_CELL = (-1, None)
cdef list INVALID = masked.INVALID

cdef inline object _mode():
    return wg_mode(MODE)

cdef inline object version_of(TensorBase tensor):
    return 0 if tensor._vc is None else tensor._vc[0]

NODES = {}
HOLDERS = {}
RECORDERS = {}
RECORDS = {}
