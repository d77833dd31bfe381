"""The gradient of each example of a batch, without a loop over the examples.

A backward pass from the loss of a batch gives the sum of the gradients of its examples. Sometimes
you want each of them: to clip outliers, as private training does, or to see how much they disagree.
`grad` turns the loss of one example into its gradient, and `vmap` maps that over a batch. Each
operation runs once, for all examples.
"""

import numpy as np

import wengert as wg
from wengert.func import grad, vmap


def loss(parameters, x, y):
    """Return the loss of a small network on one example, with features `x` and class `y`."""
    hidden = wg.tanh(parameters["W1"] @ x + parameters["b1"])
    score = parameters["w2"] @ hidden
    return wg.nn.functional.softplus(score) - y * score


def main():
    rng = np.random.default_rng(0)
    sizes = {"W1": (8, 3), "b1": (8,), "w2": (8,)}
    parameters = {name: wg.from_numpy(rng.normal(size=size)) for name, size in sizes.items()}
    inputs = wg.from_numpy(rng.normal(size=(16, 3)))
    labels = wg.from_numpy((rng.random(16) < 0.5).astype(float))

    # all examples share the parameters; the other arguments have one row for each
    each = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, inputs, labels)
    print("gradients for", len(inputs), "examples:")
    for name, gradient in each.items():
        print(f"  {name}: {tuple(gradient.shape)}")

    looped = [grad(loss)(parameters, x, y) for x, y in zip(inputs, labels, strict=True)]
    agree = all(
        wg.allclose(each[name], wg.stack([one[name] for one in looped])) for name in parameters
    )
    print("the same as in a loop:", agree)

    total = grad(lambda p: vmap(loss, in_dims=(None, 0, 0))(p, inputs, labels).sum())(parameters)
    print("their sum is the batch's:", wg.allclose(each["W1"].sum(0), total["W1"]))

    norms = sum((g.reshape(16, -1) ** 2).sum(1) for g in each.values()).sqrt()
    print("their sizes, from", round(norms.min().item(), 3), "to", round(norms.max().item(), 3))
    scale = (1.0 / norms).clamp(max=1.0)
    clipped = {name: wg.tensordot(scale, g, dims=1) / 16 for name, g in each.items()}
    print("a mean of clipped gradients:", clipped["w2"].numpy().round(3))


if __name__ == "__main__":
    main()
