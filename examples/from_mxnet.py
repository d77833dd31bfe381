"""A program for MXNet, run with another import, and rewritten in wengert's own style.

The original, line by line::

    from mxnet import autograd, np, npx
    npx.set_np()

    w, b = np.random.normal(0, 0.01, (2, 1)), np.zeros(1)
    w.attach_grad()
    b.attach_grad()
    for epoch in range(3):
        for X, y in batches:
            with autograd.record():
                loss = (np.dot(X, w) + b - y) ** 2 / 2
            loss.backward()
            for param in (w, b):
                param[:] = param - 0.1 * param.grad / len(X)

Under `wengert.compat.mxnet` only the import line changes. In wengert's own style four things
change: `requires_grad_` marks leaves; everything is recorded, except updates under `no_grad`; the
program sums a loss of several elements; and it clears gradients after use, because they add up.
"""

import numpy

import wengert as wg
from wengert.compat.mxnet import autograd, np, npx


def data():
    """Return examples of a linear function with some noise, in batches of 10."""
    rng = numpy.random.default_rng(0)
    X = rng.normal(size=(200, 2)).astype("float32")
    y = (X @ [[2.0], [-3.4]] + 4.2 + rng.normal(0, 0.01, (200, 1))).astype("float32")
    return [(X[i : i + 10], y[i : i + 10]) for i in range(0, 200, 10)]


def as_in_mxnet(batches):
    """Run the original, with another import line."""
    npx.set_np()
    w, b = np.array([[0.01], [-0.01]]), np.zeros(1)
    w.attach_grad()
    b.attach_grad()
    for _ in range(3):
        for X, y in batches:
            X, y = np.array(X), np.array(y)
            with autograd.record():
                loss = (np.dot(X, w) + b - y) ** 2 / 2
            loss.backward()
            for param in (w, b):
                param[:] = param - 0.1 * param.grad / len(X)
    return w.asnumpy(), b.asnumpy()


def as_in_wengert(batches):
    """Run the rewritten program."""
    w = wg.tensor([[0.01], [-0.01]], requires_grad=True)
    b = wg.zeros(1, requires_grad=True)
    for _ in range(3):
        for X, y in batches:
            loss = (wg.from_numpy(X) @ w + b - wg.from_numpy(y)) ** 2 / 2
            loss.sum().backward()
            with wg.no_grad():
                for param in (w, b):
                    param -= 0.1 * param.grad / len(X)
                    param.grad = None
    return w.detach().numpy(), b.detach().numpy()


def main():
    batches = data()
    theirs, ours = as_in_mxnet(batches), as_in_wengert(batches)
    print("as in MXNet:  weights", theirs[0].ravel().round(4), "bias", theirs[1].round(4))
    print("as in wengert: weights", ours[0].ravel().round(4), "bias", ours[1].round(4))
    same = all(numpy.allclose(a, b, atol=1e-5) for a, b in zip(theirs, ours, strict=True))
    print("the same:", same)


if __name__ == "__main__":
    main()
