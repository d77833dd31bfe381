/* Arithmetic on small arrays without NumPy's machinery for types, broadcasting and errors.

   Small arrays of float or double in C order, or one of them and a number: loops into a new array,
   or in place. Where the processor reports an invalid operation, a division by zero or an overflow,
   and in all other cases, NumPy computes: then its warnings and its callbacks are as ever. */

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

#define WG_LARGEST 2048 /* elements */
#define WG_DIMS 8
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

/* -- two operands ---------------------------------------------------------------------------- */

/* An array or a number that takes part in a loop over a result of more dimensions. */
typedef struct {
    const void* data;
    npy_intp steps[WG_DIMS]; /* in elements, 0 where it is repeated */
    double number;
    float rounded;
} WgOperand;

/* The dimensions over which loops run: neighbours in memory are one. */
typedef struct {
    int type, nd;
    npy_intp shape[WG_DIMS], size;
    WgOperand a, b;
    int depth;
    npy_intp counts[WG_DIMS];
} WgPair;

/* 1 for an array in C order, 0 for a number, -1 for what NumPy must handle. */
static inline int wg_form(PyObject* value, int type) {
    if (!PyArray_CheckExact(value)) return 0;
    PyArrayObject* array = (PyArrayObject*)value;
    if (PyArray_TYPE(array) != type || !PyArray_ISCARRAY_RO(array)) return -1;
    return PyArray_NDIM(array) > WG_DIMS ? -1 : 1;
}

static inline int wg_load(WgOperand* into, PyObject* value, int form, int type) {
    if (form) {
        into->data = PyArray_DATA((PyArrayObject*)value);
        return 1;
    }
    if (wg_kind(value) == type) {
        wg_number(value, type, &into->number);
    } else if (!wg_weak(value, type, &into->number)) {
        return 0;
    }
    into->rounded = (float)into->number;
    into->data = type == NPY_FLOAT ? (const void*)&into->rounded : (const void*)&into->number;
    return 1;
}

static inline void wg_steps(WgOperand* into, PyObject* value, int form, const WgPair* pair) {
    npy_intp step = 1;
    int own = form ? PyArray_NDIM((PyArrayObject*)value) : 0, lead = pair->nd - own;
    for (int i = pair->nd - 1; i >= 0; i--) {
        npy_intp n = i >= lead ? PyArray_DIM((PyArrayObject*)value, i - lead) : 1;
        into->steps[i] = n == 1 ? 0 : step;
        step *= n;
    }
}

/* Set up loops over two operands, at least one of which is an array; 0 if NumPy must compute. */
static int wg_pair(WgPair* pair, PyObject* left, PyObject* right) {
    PyObject* first = PyArray_CheckExact(left) ? left : right;
    if (!PyArray_CheckExact(first)) return 0;
    int type = pair->type = PyArray_TYPE((PyArrayObject*)first);
    if (type != NPY_FLOAT && type != NPY_DOUBLE) return 0;
    int m = wg_form(left, type), n = wg_form(right, type);
    if (m < 0 || n < 0) return 0;
    if (!wg_load(&pair->a, left, m, type) || !wg_load(&pair->b, right, n, type)) return 0;
    PyArrayObject *a = m ? (PyArrayObject*)left : NULL, *b = n ? (PyArrayObject*)right : NULL;
    int p = m ? PyArray_NDIM(a) : 0, q = n ? PyArray_NDIM(b) : 0, nd = p > q ? p : q;
    if (!nd) return 0;
    pair->nd = nd;
    pair->size = 1;
    int alike = 1;
    for (int i = 0; i < nd; i++) {
        npy_intp s = i < nd - p ? 1 : PyArray_DIM(a, i - nd + p);
        npy_intp t = i < nd - q ? 1 : PyArray_DIM(b, i - nd + q);
        if (s != t) {
            alike = 0;
            if (s == 1) s = t;
            else if (t != 1) return 0;
        }
        pair->shape[i] = s;
        pair->size *= s;
    }
    if (pair->size > WG_LARGEST) return 0;
    if (alike || !p || !q) {
        /* one run */
        pair->depth = 1;
        pair->counts[0] = pair->size;
        pair->a.steps[0] = alike || p;
        pair->b.steps[0] = alike || q;
        return 1;
    }
    wg_steps(&pair->a, left, m, pair);
    wg_steps(&pair->b, right, n, pair);
    int depth = 0;
    for (int i = 0; i < nd; i++) {
        npy_intp count = pair->shape[i], x = pair->a.steps[i], y = pair->b.steps[i];
        if (count == 1) continue;
        if (depth && pair->a.steps[depth - 1] == x * count && pair->b.steps[depth - 1] == y * count) {
            pair->counts[depth - 1] *= count;
            pair->a.steps[depth - 1] = x;
            pair->b.steps[depth - 1] = y;
            continue;
        }
        pair->counts[depth] = count;
        pair->a.steps[depth] = x;
        pair->b.steps[depth] = y;
        depth++;
    }
    if (!depth) {
        pair->counts[0] = 1;
        pair->a.steps[0] = pair->b.steps[0] = 0;
        depth = 1;
    }
    pair->depth = depth;
    return 1;
}

/* The innermost loop, where each operand is next in memory or one number. */
#define WG_RUN(T, R, EXPRESSION)                                                      \
    do {                                                                              \
        R* restrict r = (R*)out;                                                      \
        if (s && t) {                                                                 \
            for (npy_intp i = 0; i < n; i++) r[i] = EXPRESSION(u[i], v[i]);           \
        } else if (s) {                                                               \
            const T y = *v;                                                           \
            for (npy_intp i = 0; i < n; i++) r[i] = EXPRESSION(u[i], y);              \
        } else {                                                                      \
            const T x = *u;                                                           \
            for (npy_intp i = 0; i < n; i++) r[i] = EXPRESSION(x, t ? v[i] : *v);     \
        }                                                                             \
    } while (0)

#define WG_LOOPS(NAME, T, R, EXPRESSION)                                              \
    static void wg_loops_##NAME(const WgPair* pair, void* into, int level, npy_intp j, npy_intp k) { \
        /* `into` moves on by what is written: the result is in C order */            \
        R* out = *(R**)into;                                                          \
        npy_intp n = pair->counts[level], s = pair->a.steps[level], t = pair->b.steps[level]; \
        if (level < pair->depth - 1) {                                                \
            for (npy_intp i = 0; i < n; i++)                                          \
                wg_loops_##NAME(pair, into, level + 1, j + i * s, k + i * t);         \
            return;                                                                   \
        }                                                                             \
        const T *u = (const T*)pair->a.data + j, *v = (const T*)pair->b.data + k;     \
        WG_RUN(T, R, EXPRESSION);                                                     \
        *(R**)into = out + n;                                                         \
    }

#define WG_BOTH(NAME, RF, RD, EXPRESSION)                                             \
    WG_LOOPS(NAME##_f, float, RF, EXPRESSION)                                         \
    WG_LOOPS(NAME##_d, double, RD, EXPRESSION)                                        \
    static inline void wg_fill_##NAME(const WgPair* pair, void* out) {                \
        if (!pair->size) return;                                                      \
        if (pair->type == NPY_FLOAT) wg_loops_##NAME##_f(pair, &out, 0, 0, 0);        \
        else wg_loops_##NAME##_d(pair, &out, 0, 0, 0);                                \
    }

static inline PyArrayObject* wg_result(const WgPair* pair, int type) {
    return (PyArrayObject*)PyArray_SimpleNew(pair->nd, (npy_intp*)pair->shape, type);
}

/* ``left SYMBOL right``, and the same in place, where `left` holds the result. What NumPy would
   report, it computes. */
#define WG_add(x, y) (x) + (y)
#define WG_sub(x, y) (x) - (y)
#define WG_mul(x, y) (x) * (y)
#define WG_div(x, y) (x) / (y)
#define WG_BINARY(NAME, SYMBOL, FALLBACK, IN_PLACE)                                   \
    WG_BOTH(NAME, float, double, WG_##NAME)                                           \
    static inline PyObject* wg_try_##NAME(PyObject* left, PyObject* right) {                 \
        WgPair pair;                                                                  \
        if (!wg_pair(&pair, left, right)) {                                           \
            WG_NUMBERS(SYMBOL);                                                       \
            return NULL;                                                              \
        }                                                                             \
        PyArrayObject* result = wg_result(&pair, pair.type);                          \
        if (result == NULL) return NULL;                                              \
        feclearexcept(WG_REPORTED);                                                   \
        wg_fill_##NAME(&pair, PyArray_DATA(result));                                  \
        if (fetestexcept(WG_REPORTED)) {                                              \
            Py_DECREF(result);                                                        \
            return NULL;                                                              \
        }                                                                             \
        return (PyObject*)result;                                                     \
    }                                                                                 \
    static inline PyObject* wg_##NAME(PyObject* left, PyObject* right) {              \
        PyObject* result = wg_try_##NAME(left, right);                                \
        return result != NULL || PyErr_Occurred() ? result : FALLBACK(left, right);   \
    }                                                                                 \
    static inline PyObject* wg_i##NAME(PyObject* left, PyObject* right) {                    \
        WgPair pair;                                                                  \
        double memory[WG_LARGEST];                                                    \
        if (!PyArray_CheckExact(left) || !PyArray_ISWRITEABLE((PyArrayObject*)left) ||\
            !wg_pair(&pair, left, right) ||                                           \
            pair.size != PyArray_SIZE((PyArrayObject*)left) ||                        \
            pair.nd != PyArray_NDIM((PyArrayObject*)left))                            \
            return IN_PLACE(left, right);                                             \
        feclearexcept(WG_REPORTED);                                                   \
        wg_fill_##NAME(&pair, memory);                                                \
        if (fetestexcept(WG_REPORTED)) return IN_PLACE(left, right);                  \
        memcpy(PyArray_DATA((PyArrayObject*)left), memory,                            \
               pair.size * PyArray_ITEMSIZE((PyArrayObject*)left));                   \
        return Py_NewRef(left);                                                       \
    }

WG_BINARY(add, +, PyNumber_Add, PyNumber_InPlaceAdd)
WG_BINARY(sub, -, PyNumber_Subtract, PyNumber_InPlaceSubtract)
WG_BINARY(mul, *, PyNumber_Multiply, PyNumber_InPlaceMultiply)
WG_BINARY(div, /, PyNumber_TrueDivide, PyNumber_InPlaceTrueDivide)

/* Comparisons. */
#define WG_lt(x, y) (x) < (y)
#define WG_le(x, y) (x) <= (y)
#define WG_gt(x, y) (x) > (y)
#define WG_ge(x, y) (x) >= (y)
#define WG_COMPARISON(NAME, HOW)                                                      \
    WG_BOTH(NAME, npy_bool, npy_bool, WG_##NAME)                                      \
    static inline PyObject* wg_##NAME(PyObject* left, PyObject* right) {                     \
        WgPair pair;                                                                  \
        if (!wg_pair(&pair, left, right)) return PyObject_RichCompare(left, right, HOW); \
        PyArrayObject* result = wg_result(&pair, NPY_BOOL);                           \
        if (result != NULL) wg_fill_##NAME(&pair, PyArray_DATA(result));              \
        return (PyObject*)result;                                                     \
    }

WG_COMPARISON(lt, Py_LT)
WG_COMPARISON(le, Py_LE)
WG_COMPARISON(gt, Py_GT)
WG_COMPARISON(ge, Py_GE)

/* A function of NumPy's, on what there is no loop for. */
static inline PyObject* wg_numpy(const char* name, PyObject* first, PyObject* second, PyObject* third) {
    PyObject* numpy = PyImport_ImportModule("numpy");
    PyObject* function = numpy == NULL ? NULL : PyObject_GetAttrString(numpy, name);
    Py_XDECREF(numpy);
    PyObject* given[] = {first, second, third};
    PyObject* result =
        function == NULL ? NULL : PyObject_Vectorcall(function, given, 1 + !!second + !!third, NULL);
    Py_XDECREF(function);
    return result;
}

/* The larger or the smaller. NumPy chooses between NaN, and between zeros of both signs. */
#define WG_odd(x, y) !((x) < (y) || (x) > (y) || ((x) == (y) && !signbit(x) == !signbit(y)))
#define WG_maximum(x, y) (x) > (y) ? (x) : (y)
#define WG_minimum(x, y) (x) < (y) ? (x) : (y)
WG_BOTH(odd, npy_bool, npy_bool, WG_odd)
#define WG_EXTREME(NAME)                                                              \
    WG_BOTH(NAME, float, double, WG_##NAME)                                           \
    static inline PyObject* wg_##NAME(PyObject* left, PyObject* right) {                     \
        WgPair pair;                                                                  \
        npy_bool odd[WG_LARGEST];                                                     \
        if (!wg_pair(&pair, left, right)) return wg_numpy(#NAME, left, right, NULL);  \
        wg_fill_odd(&pair, odd);                                                      \
        if (memchr(odd, 1, pair.size)) return wg_numpy(#NAME, left, right, NULL);     \
        PyArrayObject* result = wg_result(&pair, pair.type);                          \
        if (result != NULL) wg_fill_##NAME(&pair, PyArray_DATA(result));              \
        return (PyObject*)result;                                                     \
    }

WG_EXTREME(maximum)
WG_EXTREME(minimum)

/* ``numpy.where(mask, left, right)``. */
#define WG_left(x, y) ((void)(y), (x))
#define WG_right(x, y) ((void)(x), (y))
WG_BOTH(left, float, double, WG_left)
WG_BOTH(right, float, double, WG_right)
static inline PyObject* wg_where(PyObject* mask, PyObject* left, PyObject* right) {
    WgPair pair;
    double memory[WG_LARGEST];
    PyArrayObject* chosen = (PyArrayObject*)mask;
    if (!PyArray_CheckExact(mask) || PyArray_TYPE(chosen) != NPY_BOOL ||
        !PyArray_ISCARRAY_RO(chosen) || !PyArray_CheckExact(left) || !PyArray_CheckExact(right) ||
        !wg_pair(&pair, left, right) || pair.nd != PyArray_NDIM(chosen) ||
        !PyArray_CompareLists(pair.shape, PyArray_DIMS(chosen), pair.nd))
        return wg_numpy("where", mask, left, right);
    PyArrayObject* result = wg_result(&pair, pair.type);
    if (result == NULL) return NULL;
    const npy_bool* c = (const npy_bool*)PyArray_DATA(chosen);
    wg_fill_right(&pair, PyArray_DATA(result));
    wg_fill_left(&pair, memory);
    if (pair.type == NPY_FLOAT) {
        float *r = (float*)PyArray_DATA(result), *x = (float*)memory;
        for (npy_intp i = 0; i < pair.size; i++) r[i] = c[i] ? x[i] : r[i];
    } else {
        double* r = (double*)PyArray_DATA(result);
        for (npy_intp i = 0; i < pair.size; i++) r[i] = c[i] ? memory[i] : r[i];
    }
    return (PyObject*)result;
}

#define WG_LOOP(T, EXPRESSION)                                                        \
    do {                                                                              \
        const T* restrict x = (const T*)PyArray_DATA(a);                              \
        T* restrict r = (T*)PyArray_DATA(result);                                     \
        for (npy_intp i = 0; i < n; i++) r[i] = (EXPRESSION);                         \
    } while (0)

/* A function of an array; what NumPy would report, or has no loop here, `FALLBACK` computes. */
#define WG_UNARY(NAME, OF_FLOAT, OF_DOUBLE, FALLBACK)                                 \
    static inline PyObject* wg_##NAME(PyObject* value) {                                     \
        if (!wg_ready(value)) return FALLBACK;                                        \
        PyArrayObject* a = (PyArrayObject*)value;                                     \
        int type = PyArray_TYPE(a);                                                   \
        npy_intp n = PyArray_SIZE(a);                                                 \
        PyArrayObject* result =                                                       \
            (PyArrayObject*)PyArray_SimpleNew(PyArray_NDIM(a), PyArray_DIMS(a), type); \
        if (result == NULL) return NULL;                                              \
        feclearexcept(WG_REPORTED);                                                   \
        if (type == NPY_FLOAT) WG_LOOP(float, OF_FLOAT(x[i]));                        \
        else WG_LOOP(double, OF_DOUBLE(x[i]));                                        \
        if (fetestexcept(WG_REPORTED)) {                                              \
            Py_DECREF(result);                                                        \
            return FALLBACK;                                                          \
        }                                                                             \
        return (PyObject*)result;                                                     \
    }

WG_UNARY(neg, -, -, PyNumber_Negative(value))
WG_UNARY(sqrt, sqrtf, sqrt, wg_numpy("sqrt", value, NULL, NULL))

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
static inline int wg_add_into(PyObject* into, PyObject* value) {
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
