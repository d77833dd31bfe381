"""Functions written with NumPy and SciPy.

A NumPy or SciPy function gets into a differentiated program in one of two ways.

If wengert knows the function, call it on tensors: `fft_product` below is ordinary NumPy code, with
derivatives of any order.

If it does not (SciPy's `convolve2d` only sees arrays), wrap the call in a `Function` and state the
derivative. For a correlation with a kernel that is easy. The gradient with respect to the image is
the full convolution of the incoming gradient with the kernel; the gradient with respect to the
kernel is the correlation of the image with the incoming gradient. SciPy computes these as well, so
each is a `Function`, and the derivatives of each call the other. That gives derivatives of any
order.
"""

import numpy as np

import wengert as wg
from wengert.autograd import Function, gradcheck, gradgradcheck

try:
    from scipy.signal import convolve2d, correlate2d
except ImportError:  # SciPy is optional
    convolve2d = correlate2d = None


def fft_product(signal, kernel):
    """Return the circular convolution of two signals, by NumPy's Fourier transforms."""
    return np.fft.irfft(np.fft.rfft(signal) * np.fft.rfft(kernel), n=len(signal))


def by_scipy(function, *tensors, **options):
    """Call a SciPy function on the arrays of tensors; the result has no history."""
    return wg.from_numpy(function(*[t.detach().numpy() for t in tensors], **options))


class Correlate(Function):
    """The correlation of an image with a kernel, at the places where the kernel fits inside."""

    @staticmethod
    def forward(ctx, image, kernel):
        ctx.save_for_backward(image, kernel)
        return by_scipy(correlate2d, image, kernel, mode="valid")

    @staticmethod
    def backward(ctx, grad):
        image, kernel = ctx.saved_tensors
        return Spread.apply(grad, kernel), Correlate.apply(image, grad)


class Spread(Function):
    """The full convolution of a gradient with a kernel."""

    @staticmethod
    def forward(ctx, grad, kernel):
        ctx.save_for_backward(grad, kernel)
        return by_scipy(convolve2d, grad, kernel, mode="full")

    @staticmethod
    def backward(ctx, grad_of_image):
        grad, kernel = ctx.saved_tensors
        return Correlate.apply(grad_of_image, kernel), Correlate.apply(grad_of_image, grad)


def main():
    rng = np.random.default_rng(0)

    signal = wg.from_numpy(rng.normal(size=8)).requires_grad_()
    kernel = wg.from_numpy(rng.normal(size=8)).requires_grad_()
    print("NumPy's Fourier transforms, on tensors")
    print("  gradcheck:    ", gradcheck(fft_product, (signal, kernel)))
    print("  gradgradcheck:", gradgradcheck(fft_product, (signal, kernel)))
    (fft_product(signal, kernel) ** 2).sum().backward()
    print("  gradient of the kernel:", kernel.grad.numpy().round(3))

    if correlate2d is None:
        print("\nSciPy is not installed: pip install 'wengert[scipy]'")
        return
    image = wg.from_numpy(rng.normal(size=(5, 6))).requires_grad_()
    window = wg.from_numpy(rng.normal(size=(3, 2))).requires_grad_()
    print("\nSciPy's correlate2d and convolve2d, as Functions")
    print("  gradcheck:    ", gradcheck(Correlate.apply, (image, window)))
    print("  gradgradcheck:", gradgradcheck(Correlate.apply, (image, window)))
    result = Correlate.apply(image, window)
    (slope,) = wg.autograd.grad(result.tanh().sum(), window, create_graph=True)
    (slope**2).sum().backward()
    print("  the gradient of the image, of a gradient's size:")
    print("  " + str(image.grad.numpy().round(2)[:2]).replace("\n", "\n  "))


if __name__ == "__main__":
    main()
