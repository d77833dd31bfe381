"""A program for HIPS autograd, run with another import, and rewritten in wengert's own style.

The original: logistic regression, with the gradient of the loss as a function, and products with
its Hessian for a step of Newton's method by conjugate gradients::

    import autograd.numpy as np
    from autograd import grad, hessian_vector_product

    def loss(weights):
        scores = np.dot(inputs, weights)
        return np.mean(np.logaddexp(0, -targets * scores)) + 0.01 * np.sum(weights**2)

    gradient = grad(loss)
    product = hessian_vector_product(loss)

    for step in range(6):
        weights = weights - solve(lambda v: product(weights, v), gradient(weights))

Under `wengert.compat.autograd` only the import lines change. In wengert's own style, NumPy itself
computes on tensors. `wengert.func` has `grad`, and `linearize`, which returns a function's value
and a function that multiplies vectors by its Jacobian; the Jacobian of the gradient is the Hessian.
"""

import numpy

import wengert as wg
import wengert.compat.autograd.numpy as np
from wengert.compat.autograd import grad, hessian_vector_product


def data():
    """Return points in three dimensions, and labels 1 and -1."""
    rng = numpy.random.default_rng(0)
    inputs = rng.normal(size=(200, 3))
    noise = rng.normal(0, 0.5, 200)
    return inputs, numpy.sign(inputs @ [1.0, -2.0, 0.5] + noise)


def solve(product, b, steps=10):
    """Return the x with product(x) = b, by conjugate gradients."""
    x, r = 0 * b, b
    p, size = r, numpy.dot(r, r)
    for _ in range(steps):
        if size < 1e-20:
            break
        q = product(p)
        alpha = size / numpy.dot(p, q)
        x, r = x + alpha * p, r - alpha * q
        size, before = numpy.dot(r, r), size
        p = r + size / before * p
    return x


def as_in_autograd(inputs, targets):
    """Run the original, with other import lines."""

    def loss(weights):
        scores = np.dot(inputs, weights)
        return np.mean(np.logaddexp(0, -targets * scores)) + 0.01 * np.sum(weights**2)

    gradient = grad(loss)
    product = hessian_vector_product(loss)

    weights = numpy.zeros(3)
    for _ in range(6):
        current = weights
        weights = weights - solve(lambda v, at=current: product(at, v), gradient(weights))
    return numpy.asarray(weights), gradient(weights)


def as_in_wengert(inputs, targets):
    """Run the rewritten program."""

    def loss(weights):
        scores = numpy.dot(inputs, weights)
        return numpy.mean(numpy.logaddexp(0, -targets * scores)) + 0.01 * numpy.sum(weights**2)

    gradient = wg.func.grad(loss)
    weights = wg.zeros(3, dtype=wg.float64)
    for _ in range(6):
        slope, product = wg.func.linearize(gradient, weights)
        weights = weights - solve(product, slope)
    return weights.numpy(), gradient(weights).numpy()


def main():
    theirs, ours = as_in_autograd(*data()), as_in_wengert(*data())
    for name, (weights, slope) in (("autograd:", theirs), ("wengert: ", ours)):
        size = numpy.abs(slope).max()
        print(f"as in {name} weights", weights.round(6), f"with a gradient of {size:.1e}")
    print("the same:", numpy.allclose(theirs[0], ours[0]))


if __name__ == "__main__":
    main()
