# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Reductions of small arrays, without NumPy's machinery for types, iterators and errors.

A small array of float or double in C order is reduced along adjacent dimensions by a loop
into a new array. In all other cases, and if a sum is not finite, NumPy computes, so its
warnings are unchanged.
"""
cimport numpy as cnp
import numpy as np

from wengert.kernels.extremes import largest as _largest, smallest as _smallest

cnp.import_array()

cdef extern from *:
    """
    #define WG_FEW 1024
    #define WG_PARTS 8

    /* Sums in double precision, by parts, as NumPy adds what is next in memory. */
    #define WG_SUMS(T)                                                                   \\
        for (npy_intp i = 0; i < outer; i++)                                             \\
            for (npy_intp j = 0; j < inner; j++) {                                       \\
                const T* x = (const T*)data + i * n * inner + j;                         \\
                double parts[WG_PARTS] = {0};                                            \\
                for (npy_intp k = 0; k < n; k++) parts[k % WG_PARTS] += x[k * inner];    \\
                double sum = ((parts[0] + parts[1]) + (parts[2] + parts[3])) +           \\
                             ((parts[4] + parts[5]) + (parts[6] + parts[7]));            \\
                T rounded = (T)sum;                                                      \\
                if (!(rounded - rounded == 0)) return 0;                                 \\
                ((T*)result)[i * inner + j] = rounded;                                   \\
            }

    /* A NaN is what is chosen. */
    #define WG_EXTREMES(T, BETTER)                                                       \\
        for (npy_intp i = 0; i < outer; i++)                                             \\
            for (npy_intp j = 0; j < inner; j++) {                                       \\
                const T* x = (const T*)data + i * n * inner + j;                         \\
                T best = x[0];                                                           \\
                for (npy_intp k = 1; k < n; k++) {                                       \\
                    T one = x[k * inner];                                                \\
                    if (one BETTER best || one != one) best = one;                       \\
                }                                                                        \\
                ((T*)result)[i * inner + j] = best;                                      \\
            }

    /* 1, or 0 where NumPy must compute. */
    static int wg_reduce(int how, int single, const void* data, void* result, npy_intp outer,
                         npy_intp n, npy_intp inner) {
        if (how == 0) {
            if (single) { WG_SUMS(float) } else { WG_SUMS(double) }
        } else if (how == 1) {
            if (single) { WG_EXTREMES(float, >) } else { WG_EXTREMES(double, >) }
        } else {
            if (single) { WG_EXTREMES(float, <) } else { WG_EXTREMES(double, <) }
        }
        return 1;
    }

    /* NULL without an error: NumPy must compute. */
    static PyObject* wg_reduced(PyObject* value, PyObject* axis, int keep, int how) {
        if (!PyArray_CheckExact(value)) return NULL;
        PyArrayObject* array = (PyArrayObject*)value;
        int type = PyArray_TYPE(array), nd = PyArray_NDIM(array);
        npy_intp size = PyArray_SIZE(array);
        if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISCARRAY_RO(array) || !nd ||
            !size || size > WG_FEW)
            return NULL;
        long first = 0, last = nd - 1;
        if (PyTuple_CheckExact(axis)) {
            Py_ssize_t count = PyTuple_GET_SIZE(axis);
            if (!count) return NULL;
            for (Py_ssize_t i = 0; i < count; i++) {
                PyObject* item = PyTuple_GET_ITEM(axis, i);
                if (!PyLong_CheckExact(item)) return NULL;
                long at = PyLong_AsLong(item);
                if (at == -1 && PyErr_Occurred()) { PyErr_Clear(); return NULL; }
                if (i == 0) first = at;
                else if (at != last + 1) return NULL;
                last = at;
            }
        } else if (PyLong_CheckExact(axis)) {
            first = PyLong_AsLong(axis);
            if (first == -1 && PyErr_Occurred()) { PyErr_Clear(); return NULL; }
            if (first < 0) first += nd;
            last = first;
        } else if (axis != Py_None) {
            return NULL;
        }
        if (first < 0 || last >= nd) return NULL;
        npy_intp outer = 1, n = 1, inner = 1, shape[NPY_MAXDIMS];
        int left = 0;
        for (int i = 0; i < nd; i++) {
            npy_intp length = PyArray_DIM(array, i);
            if (i < first) outer *= length;
            else if (i <= last) n *= length;
            else inner *= length;
            if (i < first || i > last) shape[left++] = length;
            else if (keep) shape[left++] = 1;
        }
        if (!left) {
            double number;
            float rounded;
            void* into = type == NPY_FLOAT ? (void*)&rounded : (void*)&number;
            if (!wg_reduce(how, type == NPY_FLOAT, PyArray_DATA(array), into, 1, n, 1)) return NULL;
            return PyArray_Scalar(into, PyArray_DESCR(array), NULL);
        }
        PyArrayObject* result = (PyArrayObject*)PyArray_SimpleNew(left, shape, type);
        if (result == NULL) return NULL;
        if (!wg_reduce(how, type == NPY_FLOAT, PyArray_DATA(array), PyArray_DATA(result), outer, n,
                       inner)) {
            Py_DECREF(result);
            return NULL;
        }
        return (PyObject*)result;
    }
    static PyObject* wg_reduced_or_none(PyObject* value, PyObject* axis, int keep, int how) {
        PyObject* result = wg_reduced(value, axis, keep, how);
        if (result == NULL && !PyErr_Occurred()) Py_RETURN_NONE;
        return result;
    }
    """
    object wg_reduced_or_none(object value, object axis, bint keep, int how)

cdef object _add = np.add.reduce


def add(array, axis=0, dtype=None, out=None, keepdims=False):
    if dtype is None and out is None:
        found = wg_reduced_or_none(array, axis, keepdims, 0)
        if found is not None:
            return found
    return _add(array, axis, dtype, out, keepdims)


def largest(array, axis=0, keepdims=False, **initial):
    found = None if initial else wg_reduced_or_none(array, axis, keepdims, 1)
    return _largest(array, axis, keepdims, **initial) if found is None else found


def smallest(array, axis=0, keepdims=False, **initial):
    found = None if initial else wg_reduced_or_none(array, axis, keepdims, 2)
    return _smallest(array, axis, keepdims, **initial) if found is None else found
