"""A function written in C++, called through ctypes, with first and second derivatives.

The function is softplus, ln(1 + exp(x)). Its first and second derivatives are written in C++ as
well. (A real program would call code that is hard to write in NumPy.) The example compiles a shared
library in a temporary folder, and calls it through ctypes on the memory of arrays.

wengert cannot see into C++. So the derivative is a `Function` of its own, which has a derivative as
well, and the example compares both with finite differences: a wrong sign in the C++ code would show
at once.
"""

import ctypes
import os
import shutil
import subprocess
import tempfile

import numpy as np

import wengert as wg
from wengert.autograd import Function, gradcheck, gradgradcheck
from wengert.autograd.function import once_differentiable

SOURCE = r"""
#include <cmath>
#include <cstddef>

static double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

extern "C" {

void softplus(const double* x, double* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        y[i] = std::fmax(x[i], 0.0) + std::log1p(std::exp(-std::fabs(x[i])));
}

void softplus_slope(const double* grad, const double* x, double* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = grad[i] * sigmoid(x[i]);
}

void softplus_curve(const double* grad, const double* x, double* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const double s = sigmoid(x[i]);
        out[i] = grad[i] * s * (1.0 - s);
    }
}

}
"""


def compiler():
    """The system's C++ compiler, or None."""
    named = os.environ.get("CXX", "")
    return next(filter(None, map(shutil.which, (named, "c++", "g++", "clang++"))), None)


def build(folder):
    """Compile the source in `folder`, and load the library.

    The argument types accept contiguous float64 arrays only; ctypes checks them.
    """
    source, library = os.path.join(folder, "softplus.cpp"), os.path.join(folder, "softplus.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(SOURCE)
    command = [compiler(), "-O2", "-shared", "-fPIC", "-o", library, source]
    subprocess.run(command, check=True)
    functions = ctypes.CDLL(library)
    given = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")
    for name, arrays in (("softplus", 2), ("softplus_slope", 3), ("softplus_curve", 3)):
        getattr(functions, name).argtypes = [given] * arrays + [ctypes.c_size_t]
        getattr(functions, name).restype = None
    return functions


def call(function, *tensors):
    """Call a C++ function on tensors, and return a new tensor."""
    arrays = [np.asarray(t.detach().numpy(), np.float64, order="C") for t in tensors]
    result = np.empty_like(arrays[-1])
    function(*arrays, result, result.size)
    return wg.from_numpy(result)


def softplus_of(functions):
    """Return the differentiable function that calls the compiled ones."""

    class Softplus(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return call(functions.softplus, x)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return SoftplusBackward.apply(grad, x)

    class SoftplusBackward(Function):
        @staticmethod
        def forward(ctx, grad, x):
            ctx.save_for_backward(grad, x)
            return call(functions.softplus_slope, grad, x)

        @staticmethod
        @once_differentiable  # there is no third derivative in C++: asking for it raises
        def backward(ctx, grad_of_grad):
            grad, x = ctx.saved_tensors
            return (
                call(functions.softplus_slope, grad_of_grad, x),
                call(functions.softplus_curve, grad_of_grad * grad, x),
            )

    return Softplus.apply


def main():
    if compiler() is None:
        print("No C++ compiler was found (c++, g++, clang++, or CXX): nothing to show.")
        return
    with tempfile.TemporaryDirectory() as folder:
        softplus = softplus_of(build(folder))
        x = wg.tensor([-2.0, 0.0, 0.5, 30.0], dtype=wg.float64, requires_grad=True)
        y = softplus(x)
        y.sum().backward()
        print(f"compiled with {compiler()}")
        print("value:   ", y.detach().numpy().round(6))
        print("NumPy's: ", np.logaddexp(0, x.detach().numpy()).round(6))
        print("gradient:", x.grad.numpy().round(6))
        print("gradcheck:    ", gradcheck(softplus, x))
        print("gradgradcheck:", gradgradcheck(softplus, x))


if __name__ == "__main__":
    main()
