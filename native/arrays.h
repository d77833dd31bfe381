/* Arithmetic on small arrays without NumPy's machinery for types, broadcasting and errors.

   Two arrays of one shape, of float or double, in C order and small: a loop into a new array. Where
   the processor reports an invalid operation, a division by zero or an overflow, and in all other
   cases, NumPy computes: then its warnings and its callbacks are as ever. */

#ifndef WENGERT_ARRAYS_H
#define WENGERT_ARRAYS_H

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <numpy/npy_math.h>

#define WG_LARGEST 2048
#define WG_EXACT 9007199254740992LL /* whole numbers up to here are doubles */
#define WG_REPORTED (FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW)

static inline int wg_ready(PyObject* value) {
    if (!PyArray_CheckExact(value)) return 0;
    PyArrayObject* array = (PyArrayObject*)value;
    int type = PyArray_TYPE(array);
    return (type == NPY_FLOAT || type == NPY_DOUBLE) && PyArray_ISCARRAY_RO(array) &&
           PyArray_NDIM(array) && PyArray_SIZE(array) <= WG_LARGEST;
}

static inline int wg_alike(PyArrayObject* a, PyArrayObject* b) {
    int nd = PyArray_NDIM(a);
    if (PyArray_TYPE(a) != PyArray_TYPE(b) || PyArray_NDIM(b) != nd) return 0;
    npy_intp *m = PyArray_DIMS(a), *n = PyArray_DIMS(b);
    for (int i = 0; i < nd; i++)
        if (m[i] != n[i]) return 0;
    return 1;
}

/* NPY_FLOAT or NPY_DOUBLE for an array or a scalar of that type, else -1. */
static inline int wg_kind(PyObject* value) {
    if (PyArray_CheckExact(value)) {
        int type = PyArray_TYPE((PyArrayObject*)value);
        if ((type == NPY_FLOAT || type == NPY_DOUBLE) && PyArray_ISNOTSWAPPED((PyArrayObject*)value))
            return type;
        return -1;
    }
    if (Py_IS_TYPE(value, &PyFloatArrType_Type)) return NPY_FLOAT;
    return Py_IS_TYPE(value, &PyDoubleArrType_Type) ? NPY_DOUBLE : -1;
}

/* The number of elements of an array, 0 for anything else. */
static inline npy_intp wg_size(PyObject* value) {
    return PyArray_CheckExact(value) ? PyArray_SIZE((PyArrayObject*)value) : 0;
}

#define WG_FINITE(T, FABS, MAXIMUM)                                                         \
    do {                                                                              \
        const T* x = (const T*)PyArray_DATA((PyArrayObject*)value);                   \
        int bad = 0;                                                                  \
        for (npy_intp i = 0; i < n; i++) bad |= !(FABS(x[i]) <= MAXIMUM);             \
        return !bad;                                                                  \
    } while (0)

/* Whether all elements are finite; -1 where NumPy must tell. */
static inline int wg_finite(PyObject* value) {
    int kind = wg_kind(value);
    if (kind < 0) return -1;
    if (!PyArray_CheckExact(value))
        return isfinite(kind == NPY_FLOAT ? PyArrayScalar_VAL(value, Float) : PyArrayScalar_VAL(value, Double));
    if (!PyArray_ISCARRAY_RO((PyArrayObject*)value)) return -1;
    npy_intp n = PyArray_SIZE((PyArrayObject*)value);
    if (kind == NPY_FLOAT) WG_FINITE(float, fabsf, FLT_MAX);
    WG_FINITE(double, fabs, DBL_MAX);
}

/* Whether two values that have a kind have one shape; a scalar has none. */
static inline int wg_same_shape(PyObject* left, PyObject* right) {
    int m = PyArray_CheckExact(left), n = PyArray_CheckExact(right);
    PyArrayObject *a = (PyArrayObject*)left, *b = (PyArrayObject*)right;
    int nd = m ? PyArray_NDIM(a) : 0;
    if (nd != (n ? PyArray_NDIM(b) : 0)) return 0;
    for (int i = 0; i < nd; i++)
        if (PyArray_DIM(a, i) != PyArray_DIM(b, i)) return 0;
    return 1;
}

#define WG_LOOP(T, EXPRESSION)                                                        \
    do {                                                                              \
        const T* restrict x = (const T*)PyArray_DATA(a);                              \
        T* restrict r = (T*)PyArray_DATA(result);                                     \
        for (npy_intp i = 0; i < n; i++) r[i] = (EXPRESSION);                         \
    } while (0)

/* The value of a scalar, or of an array without dimensions, of the given kind. */
static inline int wg_number(PyObject* value, int kind, double* number) {
    if (PyArray_CheckExact(value)) {
        PyArrayObject* array = (PyArrayObject*)value;
        if (PyArray_NDIM(array) || !PyArray_ISALIGNED(array)) return 0;
        void* data = PyArray_DATA(array);
        *number = kind == NPY_FLOAT ? *(float*)data : *(double*)data;
    } else {
        *number = kind == NPY_FLOAT ? PyArrayScalar_VAL(value, Float) : PyArrayScalar_VAL(value, Double);
    }
    return 1;
}

static inline PyObject* wg_scalar(int kind, double number) {
    PyObject* made;
    if (kind == NPY_FLOAT) {
        made = PyArrayScalar_New(Float);
        if (made != NULL) PyArrayScalar_ASSIGN(made, Float, (float)number);
    } else {
        made = PyArrayScalar_New(Double);
        if (made != NULL) PyArrayScalar_ASSIGN(made, Double, number);
    }
    return made;
}

/* The value of a Python number, as an array of the given type takes it up. */
static inline int wg_weak(PyObject* value, int type, double* number) {
    if (PyFloat_CheckExact(value)) {
        *number = PyFloat_AS_DOUBLE(value);
    } else if (PyLong_CheckExact(value)) {
        int overflow;
        long whole = PyLong_AsLongAndOverflow(value, &overflow);
        if (overflow || whole > WG_EXACT || whole < -WG_EXACT) return 0;
        *number = (double)whole;
    } else {
        return 0;
    }
    if (type == NPY_FLOAT) {
        if (!(*number <= FLT_MAX && *number >= -FLT_MAX)) return 0;
        *number = (float)*number;
    }
    return 1;
}

/* On numbers: the result, NULL with an error, or NULL without one if NumPy must compute. In double
   precision sums, products and quotients of floats are exact enough to be rounded once more. */
#define WG_NUMBERS(SYMBOL)                                                            \
    do {                                                                              \
        int kind = wg_kind(left);                                                     \
        double x, y;                                                                  \
        int known = kind >= 0 && wg_number(left, kind, &x);                           \
        if (known)                                                                    \
            known = wg_kind(right) == kind ? wg_number(right, kind, &y)               \
                                           : wg_weak(right, kind, &y);                \
        else if ((kind = wg_kind(right)) >= 0)                                        \
            known = wg_number(right, kind, &y) && wg_weak(left, kind, &x);            \
        if (known) {                                                                  \
            feclearexcept(WG_REPORTED);                                               \
            volatile double value = x SYMBOL y;                                       \
            if (kind == NPY_FLOAT) value = (float)value;                              \
            if (!fetestexcept(WG_REPORTED)) return wg_scalar(kind, value);            \
        }                                                                             \
    } while (0)

/* `result`, of an array and a Python number, in a loop over the array's elements `x[i]`. */
#define WG_WITH_NUMBER(ARRAY, NUMBER, EXPRESSION)                                     \
    do {                                                                              \
        a = (PyArrayObject*)ARRAY;                                                    \
        int type = PyArray_TYPE(a);                                                   \
        npy_intp n = PyArray_SIZE(a);                                                 \
        double number;                                                                \
        if (!wg_weak(NUMBER, type, &number)) return NULL;                             \
        result = (PyArrayObject*)PyArray_SimpleNew(PyArray_NDIM(a), PyArray_DIMS(a), type); \
        if (result == NULL) return NULL;                                              \
        feclearexcept(WG_REPORTED);                                                   \
        if (type == NPY_FLOAT) {                                                      \
            float y = (float)number;                                                  \
            WG_LOOP(float, EXPRESSION);                                               \
        } else {                                                                      \
            double y = number;                                                        \
            WG_LOOP(double, EXPRESSION);                                              \
        }                                                                             \
    } while (0)

/* NULL without an error: NumPy must compute. */
#define WG_BINARY(NAME, SYMBOL, FALLBACK)                                             \
    static PyObject* wg_try_##NAME(PyObject* left, PyObject* right) {                 \
        PyArrayObject *a, *result;                                                    \
        if (!wg_ready(left)) {                                                        \
            if (!wg_ready(right)) {                                                   \
                WG_NUMBERS(SYMBOL);                                                   \
                return NULL;                                                          \
            }                                                                         \
            WG_WITH_NUMBER(right, left, y SYMBOL x[i]);                               \
        } else if (!PyArray_CheckExact(right)) {                                      \
            WG_WITH_NUMBER(left, right, x[i] SYMBOL y);                               \
        } else {                                                                      \
            a = (PyArrayObject*)left;                                                 \
            PyArrayObject* b = (PyArrayObject*)right;                                 \
            if (!wg_ready(right) || !wg_alike(a, b)) return NULL;                     \
            int type = PyArray_TYPE(a);                                               \
            npy_intp n = PyArray_SIZE(a);                                             \
            result = (PyArrayObject*)PyArray_SimpleNew(PyArray_NDIM(a), PyArray_DIMS(a), type); \
            if (result == NULL) return NULL;                                          \
            feclearexcept(WG_REPORTED);                                               \
            if (type == NPY_FLOAT) {                                                  \
                const float* y = (const float*)PyArray_DATA(b);                       \
                WG_LOOP(float, x[i] SYMBOL y[i]);                                     \
            } else {                                                                  \
                const double* y = (const double*)PyArray_DATA(b);                     \
                WG_LOOP(double, x[i] SYMBOL y[i]);                                    \
            }                                                                         \
        }                                                                             \
        if (fetestexcept(WG_REPORTED)) {                                              \
            Py_DECREF(result);                                                        \
            return NULL;                                                              \
        }                                                                             \
        return (PyObject*)result;                                                     \
    }                                                                                 \
    static inline PyObject* wg_##NAME(PyObject* left, PyObject* right) {              \
        PyObject* result = wg_try_##NAME(left, right);                                \
        return result != NULL || PyErr_Occurred() ? result : FALLBACK(left, right);   \
    }

WG_BINARY(add, +, PyNumber_Add)
WG_BINARY(sub, -, PyNumber_Subtract)
WG_BINARY(mul, *, PyNumber_Multiply)
WG_BINARY(div, /, PyNumber_TrueDivide)

/* `-value`. */
static PyObject* wg_neg(PyObject* value) {
    if (!wg_ready(value)) return PyNumber_Negative(value);
    PyArrayObject* a = (PyArrayObject*)value;
    int type = PyArray_TYPE(a);
    npy_intp n = PyArray_SIZE(a);
    PyArrayObject* result =
        (PyArrayObject*)PyArray_SimpleNew(PyArray_NDIM(a), PyArray_DIMS(a), type);
    if (result == NULL) return NULL;
    if (type == NPY_FLOAT) {
        WG_LOOP(float, -x[i]);
    } else {
        WG_LOOP(double, -x[i]);
    }
    return (PyObject*)result;
}

/* Have NumPy do with an invalid operation what it has been told to. */
static int wg_report(void) {
    npy_intp one = 1;
    PyObject* infinite = PyArray_SimpleNew(1, &one, NPY_DOUBLE);
    if (infinite == NULL) return -1;
    *(double*)PyArray_DATA((PyArrayObject*)infinite) = NPY_INFINITY;
    PyObject* result = PyNumber_Subtract(infinite, infinite);
    Py_DECREF(infinite);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

/* `into += value`, where `into` is an array that nobody else holds. */
static int wg_add_into(PyObject* into, PyObject* value) {
    if (wg_ready(into) && PyArray_ISWRITEABLE((PyArrayObject*)into) && wg_ready(value) &&
        wg_alike((PyArrayObject*)into, (PyArrayObject*)value)) {
        PyArrayObject *a = (PyArrayObject*)into, *b = (PyArrayObject*)value;
        npy_intp n = PyArray_SIZE(a);
        feclearexcept(WG_REPORTED);
        if (PyArray_TYPE(a) == NPY_FLOAT) {
            float* x = (float*)PyArray_DATA(a);
            const float* y = (const float*)PyArray_DATA(b);
            for (npy_intp i = 0; i < n; i++) x[i] += y[i];
        } else {
            double* x = (double*)PyArray_DATA(a);
            const double* y = (const double*)PyArray_DATA(b);
            for (npy_intp i = 0; i < n; i++) x[i] += y[i];
        }
        return fetestexcept(FE_INVALID) ? wg_report() : 0;
    }
    PyObject* result = PyNumber_InPlaceAdd(into, value);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

#endif
