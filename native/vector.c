/* Functions of large arrays of double, computed with the processor's vector instructions.

   Where the processor has no AVX-512, NumPy computes these number by number. Each function here is
   one loop without branches, which compilers turn into vector instructions, over blocks of a fixed
   length: so an element's value does not depend on its place. The last block is filled up with
   zeros. A block with anything out of the ordinary (not finite, or beyond what the reduction of
   arguments is made for) is left to the C library, so that infinities, NaN, and what NumPy reports
   of them, are as ever.

   Arguments are reduced as by Cody and Waite ("Software manual for the elementary functions",
   1980), with the rounding error of the reduced argument kept; what remains is a Taylor polynomial.
   Results are accurate to two units in the last place, those of exp and log to one. */

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <fenv.h>
#include <math.h>
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>
#include <stdint.h>
#include <string.h>

#define BLOCK 64

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

INLINE int64_t bits_of(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE double of_bits(int64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define SIGN INT64_MIN
/* added to a number it leaves the nearest integer, in the low bits as well */
#define TO_INTEGER 0x1.8p52

/* Negative if one of the numbers is larger than the bound, or NaN; compared as integers, since to
   compare NaN would be reported. */
INLINE int64_t beyond(const double *x, double bound) {
    int64_t limit = bits_of(bound), found = 0;
    for (int i = 0; i < BLOCK; i++) found |= limit - (bits_of(x[i]) & ~SIGN);
    return found;
}

/* -- sine and cosine ----------------------------------------------------------------------------- */

#define ANGLE 1e5
#define ONE_OVER_PI 0x1.45f306dc9c883p-2
#define PI_1 0x1.921fb54440000p+1
#define PI_2 0x1.68c234c4c0000p-38
#define PI_3 0x1.98a2e03707345p-76

/* sin(x + shift * pi), with a shift of 0 or 1/2: the sine of what is left of multiples of pi. */
INLINE double sine(double x, double shift) {
    double shifted = x * ONE_OVER_PI + shift + TO_INTEGER;
    double multiple = shifted - TO_INTEGER - shift;
    double high = x - multiple * PI_1;
    double part = multiple * PI_2;
    double r = high - part;
    double lost = part - (high - r) + multiple * PI_3;
    double s = r * r;
    double p = -1.0 / 51090942171709440000.0;
    p = p * s + 1.0 / 121645100408832000.0;
    p = p * s - 1.0 / 355687428096000.0;
    p = p * s + 1.0 / 1307674368000.0;
    p = p * s - 1.0 / 6227020800.0;
    p = p * s + 1.0 / 39916800.0;
    p = p * s - 1.0 / 362880.0;
    p = p * s + 1.0 / 5040.0;
    p = p * s - 1.0 / 120.0;
    p = p * s + 1.0 / 6.0;
    /* in this order -0 stays -0 */
    double value = r - (r * s * p + lost * (1.0 - 0.5 * s));
    /* the sine changes its sign with every multiple of pi */
    return of_bits(bits_of(value) ^ (int64_t)((uint64_t)bits_of(shifted) << 63));
}

INLINE int sin_block(const double *__restrict x, double *__restrict y) {
    if (beyond(x, ANGLE) < 0) return 0;
    for (int i = 0; i < BLOCK; i++) y[i] = sine(x[i], 0.0);
    return 1;
}

INLINE int cos_block(const double *__restrict x, double *__restrict y) {
    if (beyond(x, ANGLE) < 0) return 0;
    for (int i = 0; i < BLOCK; i++) y[i] = sine(x[i], 0.5);
    return 1;
}

/* -- exponentials -------------------------------------------------------------------------------- */

/* below, results are normal numbers */
#define EXPONENT 708.0
#define ONE_OVER_LN2 0x1.71547652b82fep+0
#define LN2_1 0x1.62e42fefa3800p-1
#define LN2_2 0x1.ef35793c76730p-45

/* exp(x) = (1 + m) * 2^k: gives m, and k in the low bits of a number. */
INLINE double exponential(double x, double *power) {
    *power = x * ONE_OVER_LN2 + TO_INTEGER;
    double k = *power - TO_INTEGER;
    double high = x - k * LN2_1;
    double low = k * LN2_2;
    double r = high - low;
    double rest = high - r - low;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    return r + (r * r * p + rest);
}

/* 2^k, with k in the low bits of `power`. */
INLINE double power_of_two(double power) {
    return of_bits((int64_t)(((uint64_t)bits_of(power) + 1023) << 52));
}

INLINE int exp_block(const double *__restrict x, double *__restrict y) {
    if (beyond(x, EXPONENT) < 0) return 0;
    for (int i = 0; i < BLOCK; i++) {
        double power, m = exponential(x[i], &power);
        double scale = power_of_two(power);
        y[i] = scale + scale * m;
    }
    return 1;
}

INLINE int tanh_block(const double *__restrict x, double *__restrict y) {
    if (beyond(x, 1e300) < 0) return 0;
    for (int i = 0; i < BLOCK; i++) {
        /* beyond 22 it is 1 */
        double size = of_bits(bits_of(x[i]) & ~SIGN);
        size = size < 22.0 ? size : 22.0;
        double power, m = exponential(2.0 * size, &power);
        double scale = power_of_two(power);
        double grown = scale * m + (scale - 1.0);
        double value = grown / (grown + 2.0);
        y[i] = of_bits(bits_of(value) | (bits_of(x[i]) & SIGN));
    }
    return 1;
}

/* -- logarithm ----------------------------------------------------------------------------------- */

/* Negative if one of the numbers is not positive, normal and finite. */
INLINE int64_t not_positive(const double *x) {
    int64_t least = bits_of(0x1p-1022), most = bits_of(0x1.fffffffffffffp+1023), found = 0;
    for (int i = 0; i < BLOCK; i++) {
        int64_t bits = bits_of(x[i]);
        found |= bits | ((bits & ~SIGN) - least) | (most - (bits & ~SIGN));
    }
    return found;
}

INLINE int log_block(const double *__restrict x, double *__restrict y) {
    if (not_positive(x) < 0) return 0;
    for (int i = 0; i < BLOCK; i++) {
        /* x = (1 + f) * 2^k, with 1 + f from sqrt(1/2) to sqrt(2) */
        int64_t bits = bits_of(x[i]);
        int64_t above = bits - bits_of(0x1.6a09e667f3bcdp-1);
        int64_t whole = (int64_t)((uint64_t)above + ((uint64_t)1023 << 52)) & ((int64_t)0xfff << 52);
        /* the exponent, biased, as a number */
        double k = of_bits(bits_of(0x1p52) | (int64_t)((uint64_t)whole >> 52)) - 0x1p52 - 1023.0;
        double f = of_bits(bits - whole + ((int64_t)1023 << 52)) - 1.0;
        double s = f / (2.0 + f);
        double z = s * s;
        double p = 2.0 / 21.0;
        p = p * z + 2.0 / 19.0;
        p = p * z + 2.0 / 17.0;
        p = p * z + 2.0 / 15.0;
        p = p * z + 2.0 / 13.0;
        p = p * z + 2.0 / 11.0;
        p = p * z + 2.0 / 9.0;
        p = p * z + 2.0 / 7.0;
        p = p * z + 2.0 / 5.0;
        p = p * z + 2.0 / 3.0;
        p = p * z;
        /* log(1 + f) = 2 s + s p = f - s (f - p), and half of f * f is what f lacks most of */
        double half = 0.5 * f * f;
        y[i] = k * LN2_1 + (f - (half - (s * (half + p) + k * LN2_2)));
    }
    return 1;
}

/* -- as functions of NumPy ----------------------------------------------------------------------- */

typedef int (*Block)(const double *__restrict, double *__restrict);

typedef struct {
    Block block;
    double (*one)(double);
} Function;

#define NAMED(suffix, target)                                                                      \
    target static int sin_##suffix(const double *__restrict x, double *__restrict y) {                 \
        return sin_block(x, y);                                                                    \
    }                                                                                              \
    target static int cos_##suffix(const double *__restrict x, double *__restrict y) {                 \
        return cos_block(x, y);                                                                    \
    }                                                                                              \
    target static int exp_##suffix(const double *__restrict x, double *__restrict y) {                 \
        return exp_block(x, y);                                                                    \
    }                                                                                              \
    target static int log_##suffix(const double *__restrict x, double *__restrict y) {                 \
        return log_block(x, y);                                                                    \
    }                                                                                              \
    target static int tanh_##suffix(const double *__restrict x, double *__restrict y) {                \
        return tanh_block(x, y);                                                                   \
    }
#define LISTED(suffix) sin_##suffix, cos_##suffix, exp_##suffix, log_##suffix, tanh_##suffix

/* Each loop as the compiler makes it for every processor, and for those with vectors of four and
   fused products. */
NAMED(plain, )
static const Block plain[] = {LISTED(plain)};
#if defined(__GNUC__) && defined(__x86_64__)
NAMED(wide, __attribute__((target("avx2,fma"))))
static const Block wide[] = {LISTED(wide)};
#endif

static const Block *versions(void) {
#if defined(__GNUC__) && defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return wide;
#endif
    return plain;
}

static Function functions[] = {{NULL, sin}, {NULL, cos}, {NULL, exp}, {NULL, log}, {NULL, tanh}};
static const char *const names[] = {"sin", "cos", "exp", "log", "tanh"};
static void *data[] = {&functions[0], &functions[1], &functions[2], &functions[3], &functions[4]};

/* One block; what the processor reports counts only where the C library computes. */
static void one_block(
    const Function *function, const double *x, double *y, npy_intp length, int *reported
) {
    if (function->block(x, y)) return;
    feclearexcept(FE_ALL_EXCEPT);
    for (npy_intp i = 0; i < length; i++) y[i] = function->one(x[i]);
    *reported |= fetestexcept(FE_ALL_EXCEPT);
}

/* Whether two stretches of memory have nothing in common. */
static int apart(const char *in, const char *out, npy_intp count) {
    npy_intp size = count * (npy_intp)sizeof(double);
    return in + size <= out || out + size <= in;
}

static void loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data) {
    npy_intp count = dimensions[0], from = steps[0], to = steps[1], done = 0;
    const char *in = args[0];
    char *out = args[1];
    int reported = fetestexcept(FE_ALL_EXCEPT);
    /* as they lie, if they are dense */
    if (from == sizeof(double) && to == sizeof(double) && apart(in, out, count))
        for (; done + BLOCK <= count; done += BLOCK)
            one_block(data, (const double *)in + done, (double *)out + done, BLOCK, &reported);
    while (done < count) {
        double x[BLOCK], y[BLOCK];
        npy_intp length = count - done < BLOCK ? count - done : BLOCK;
        for (npy_intp i = 0; i < length; i++) memcpy(&x[i], in + (done + i) * from, sizeof *x);
        /* 1 is ordinary everywhere */
        for (npy_intp i = length; i < BLOCK; i++) x[i] = 1.0;
        one_block(data, x, y, length, &reported);
        for (npy_intp i = 0; i < length; i++) memcpy(out + (done + i) * to, &y[i], sizeof *y);
        done += length;
    }
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(reported);
}

static PyUFuncGenericFunction loops[] = {&loop};
static const char types[] = {NPY_DOUBLE, NPY_DOUBLE};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "vector", "Functions of large arrays of double.", -1, NULL,
    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_vector(void) {
    import_array();
    import_ufunc();
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        functions[i].block = versions()[i];
        PyObject *made = PyUFunc_FromFuncAndData(
            loops, &data[i], types, 1, 1, 1, PyUFunc_None, names[i], "", 0);
        if (made == NULL || PyModule_AddObject(module, names[i], made) < 0) {
            Py_XDECREF(made);
            Py_DECREF(module);
            return NULL;
        }
    }
    return module;
}
